use clap::Args as _;
use rankrls::GreedyRankRls;

use crate::support::{Folder, TRAIN, generated, gz, list, number, zst};

#[test]
fn input_may_be_compressed_or_standard_input() {
    let folder = Folder::new();
    folder.write("train.gz", gz(TRAIN));
    folder.write("train.bin", zst(TRAIN));
    let steps = |data: &str, input: Vec<u8>| {
        let arguments = format!("select {data} -k 3 --lambda 1 --json -o model.json");
        let document = folder.piped(&arguments, input);
        let document: serde_json::Value = serde_json::from_str(&document).unwrap();
        (document["steps"].clone(), folder.read("model.json"))
    };
    let plain = steps("train.svm", Vec::new());
    assert_eq!(steps("train.gz", Vec::new()), plain);
    assert_eq!(steps("train.bin", Vec::new()), plain);
    assert_eq!(steps("-", TRAIN.into()), plain);
    assert_eq!(steps("-", gz(TRAIN)), plain);
}

#[test]
fn indices_are_those_of_the_file() {
    let folder = Folder::new();
    let select = "-k 1 --lambda 1 --json";
    let one = folder.json(&format!("select train.svm {select}"));
    let zero = folder.json(&format!("select train.svm --zero-based {select}"));
    assert_eq!(one["steps"][0]["feature"], zero["steps"][0]["feature"]);
    assert_eq!(one["data"]["columns"], 7);
    assert_eq!(zero["data"]["columns"], 8);
}

#[test]
fn fewer_candidates_than_asked_for_are_a_warning() {
    let folder = Folder::new();
    let (text, errors) = folder.run("select train.svm -k 99 --lambda 1 --json");
    assert_eq!(
        errors,
        "warning: selected 4 features, not 99: the data has 4 column classes to select from\n"
    );
    let document: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(document["ending"], "exhausted");
    let (_, errors) = folder.run("select train.svm -k 99 --lambda 1 -q");
    assert!(errors.is_empty());
}

#[test]
fn what_has_no_effect_is_a_warning() {
    let folder = Folder::new();
    let select = "select train.svm -k 1 --lambda 1";
    for seed in ["--strategy dense --seed 3", "--seed 1"] {
        folder.warns(&format!("{select} {seed} => --seed has no effect"));
    }
    assert_eq!(folder.run(select).1, "");
    folder.write("many.txt", "a\nb\nc\nd\ne\nf\ng\nh\n");
    folder.warns("select train.svm -k 1 --lambda 1 --names many.txt => 8 names for 7 columns");
}

/// Training data as test data are reported by every command. Other data are not.
#[test]
fn training_data_as_test_data_are_told_of() {
    let folder = Folder::new();
    let all = generated(60, 30);
    folder.write("many.svm", &all);
    folder.write("other.svm", generated(64, 30));
    let one_less = |token: &str| match token.split_once(':') {
        Some((index, value)) if index != "qid" => {
            format!("{}:{value}", index.parse::<u32>().unwrap() - 1)
        }
        _ => token.to_owned(),
    };
    let from_zero = all.lines().map(|line| {
        let tokens: Vec<String> = line.split(' ').map(one_less).collect();
        tokens.join(" ") + "\n"
    });
    folder.write("zero.svm", from_zero.collect::<String>());
    let told = "the test data are the training data";
    let count = |arguments: &str| folder.run(arguments).1.matches(told).count();
    folder.run("select many.svm -k 2 --lambda 1 -o model.json");
    for evaluated in ["many.svm", "zero.svm --zero-based"] {
        let evaluate = format!("evaluate {evaluated} --model model.json");
        assert_eq!(count(&evaluate), 1, "{evaluated}");
    }
    for (command, test) in [
        ("select many.svm -k 2 --lambda 1", "--test"),
        ("select many.svm -k 2", "--test"),
        ("tune many.svm -k 2 --lambda 1", "--test"),
        ("tune many.svm -k 2 --lambda 1", "--validation"),
        (
            "compare many.svm -k 2 --lambda 1 --strategy dense",
            "--test",
        ),
    ] {
        for (data, times) in [("many.svm", 1), ("other.svm", 0)] {
            let arguments = format!("{command} {test} {data}");
            assert_eq!(count(&arguments), times, "{arguments}");
        }
    }
    assert_eq!(count("evaluate other.svm --model model.json"), 0);
}

/// The seed draws folds that choose lambda, folds of a teacher that does not fit otherwise, and candidates.
#[test]
fn a_seed_that_draws_is_not_said_to_have_no_effect() {
    let folder = Folder::new();
    folder.write("many.svm", generated(120, 30));
    folder.write("other.svm", generated(60, 30));
    folder.write("scores.txt", "1\n".repeat(60));
    folder.write("others.txt", "2\n".repeat(60));
    let distil = "--strategy distil --max-memory 340KiB";
    for arguments in [
        "select many.svm -k 2",
        &format!("select many.svm -k 2 {distil}"),
        "select many.svm -k 2 --lambda 1 --strategy sampled",
        "tune many.svm -k 2 --lambda 1 --holdout folds:3",
        "tune many.svm -k 2 --lambda 1 --validation other.svm --strategy sampled,dense",
        &format!("tune many.svm -k 2 --lambda 1 --validation other.svm {distil}"),
        "train many.svm --lambda 1,2 --objective global --solver cg",
        "train many.svm --lambda 1 --kernel gaussian:1 --basis 20",
        "compare many.svm -k 2 --strategy dense",
        "evaluate other.svm --scores scores.txt --scores others.txt",
    ] {
        let (_, errors) = folder.run(&format!("{arguments} --seed 2"));
        assert!(!errors.contains("no effect"), "{arguments}: {errors}");
    }
    let document = folder.json(&format!("select many.svm -k 2 {distil} --json"));
    assert_eq!(document["teacher"]["solver"], "cg");
}

#[test]
fn random_subsets_follow_the_seed() {
    let folder = Folder::new();
    folder.write("big.svm", generated(200, 300));
    let select = "select big.svm -k 8 --lambda 1 --json";
    let seven = folder.json(&format!("{select} --strategy sampled --sample 5 --seed 7"));
    assert_eq!(seven["seed"], 7);
    assert_eq!(seven["sample"], 5);
    assert_eq!(seven["steps"][3]["evaluated"], 5);
    let lowmem = folder.json(&format!("{select} --strategy lowmem --sample 5 --seed 7"));
    assert_eq!(lowmem["steps"], seven["steps"]);
    let usual = folder.json(&format!("{select} --strategy sampled"));
    assert_eq!((&usual["seed"], &usual["sample"]), (&1.into(), &59.into()));
}

/// Columns 1 and 4 of the data are equal.
#[test]
fn columns_that_have_to_be_in_come_first() {
    let folder = Folder::new();
    let select = "select train.svm --names names.txt -k 3";
    let names = |document: &serde_json::Value| -> Vec<String> {
        let steps = list(&document["steps"]).iter();
        steps
            .map(|step| step["name"].as_str().unwrap().to_owned())
            .collect()
    };
    let one = folder.json(&format!("{select} --lambda 1 --include last,4 --json"));
    assert_eq!(names(&one)[..2], ["last", "bigram:a_b"]);
    assert_eq!(one["include"], serde_json::json!([7, 4]));
    assert_eq!(one["steps"][1]["identical_columns"], 1);
    let two = folder.json(&format!("{select} --lambda 1 --include 7,word:a --json"));
    assert_eq!(one["weights"], two["weights"]);
    // Folds that choose lambda, and the folds of tune, begin with them, too.
    let text = folder.stdout(&format!("{select} --include last,bigram:a_b"));
    assert!(text.contains("include 7,4"), "{text}");
    let tune = "tune train.svm --names names.txt -k 3 --holdout folds:3 --include last,4 --json";
    let tuned = &folder.json(tune)["selection"];
    assert_eq!(names(tuned)[..2], ["last", "bigram:a_b"]);
    assert_eq!(tuned["include"], one["include"]);
    folder.write(
        "t.csv",
        "y,q,\"a, b\",c\n1,1,2,1\n0,1,1,3\n2,2,0,1\n0,2,5,2\n",
    );
    let table = "select t.csv --label y --query q -k 1 --lambda 1 --json --include";
    let quoted = folder.command(table).arg("\"a, b\"").output().unwrap();
    let quoted: serde_json::Value = serde_json::from_slice(&quoted.stdout).unwrap();
    assert_eq!(names(&quoted), ["a, b"]);
    assert_eq!(quoted["steps"], folder.json(&format!("{table} 1"))["steps"]);
}

#[test]
fn a_run_with_columns_that_have_to_be_in_goes_on() {
    let folder = Folder::new();
    folder.write("big.svm", generated(160, 20));
    for options in [
        "--lambda 1 --strategy bounded",
        "--lambda 1/16u --strategy distil",
    ] {
        let select = format!("select big.svm {options} --include 5,9,2");
        folder.run(&format!("{select} -k 6 -o whole.json"));
        folder.run(&format!("{select} -k 3 -o model.json"));
        folder.run(&format!("{select} -k 6 -o model.json --resume"));
        assert_eq!(
            folder.read("model.json"),
            folder.read("whole.json"),
            "{options}"
        );
        let other = select.replace("5,9,2", "5,9");
        let told = "include was [5,9,2] and is [5,9] now";
        folder.refused(&format!("{other} -k 6 -o model.json --resume => {told}"));
    }
    // The choice of folds for fewer features stays.
    let select = "select big.svm --include 5,9,2";
    folder.run(&format!("{select} -k 3 -o model.json"));
    let chosen = folder.json("inspect model.json --json");
    folder.run(&format!("{select} -k 6 -o model.json --resume"));
    let grown = folder.json("inspect model.json --json");
    assert_eq!(grown["lambda"], chosen["lambda"]);
    assert_eq!(grown["strategy"], chosen["strategy"]);
}

#[test]
fn memory_that_is_not_there_is_refused_with_what_fits() {
    let folder = Folder::new();
    folder.write("big.svm", generated(400, 2000));
    let plan = folder.json("info big.svm -k 5 --lambda 1 --json --threads 1");
    let total = |name: &str| {
        let rows = list(&plan["memory"]["strategies"]);
        let row = rows.iter().find(|row| row["strategy"] == name).unwrap();
        row["total_bytes"].as_u64().unwrap()
    };
    let needed = total("dense");
    let select = "select big.svm -k 5 --lambda 1 --threads 1 --max-memory";
    folder.run(&format!("{select} {needed} --strategy dense"));
    let arguments = format!("{select} {}", needed - 1);
    let error = folder.fails(&format!("{arguments} --strategy dense -o m.json"), 1);
    let text = format!("strategy dense needs {needed} bytes");
    assert!(error.contains(&text), "{error}");
    assert!(
        error.contains("these fit: ") && error.contains("lowmem"),
        "{error}"
    );
    assert!(!folder.list().contains(&"m.json".to_owned()));
    let document = folder.json(&format!("{arguments} --json"));
    assert_ne!(document["strategy"], "dense");
}

#[test]
fn an_unwritable_model_is_refused_before_the_work() {
    let folder = Folder::new();
    // The data are missing, too, but that would be found later.
    for path in ["absent/model.json", "."] {
        let select = format!("select absent.svm -k 1 --lambda 1 -o {path}");
        folder.refused(&format!("{select} => cannot write to {path}\n  because: "));
    }
}

#[test]
fn a_failed_run_leaves_the_old_model() {
    let folder = Folder::new();
    folder.write("model.json", "old");
    folder.write("big.svm", generated(60, 200));
    let before = folder.list();
    for data in ["absent.svm", "big.svm"] {
        let select = format!("select {data} -k 200 --lambda 1e-300 -o model.json");
        folder.fails(&select, 1);
        assert_eq!(folder.read("model.json"), "old");
        assert_eq!(folder.list(), before);
    }
}

#[test]
fn the_default_measures_of_test_data_fit_80_columns() {
    let text = Folder::new().stdout("select train.svm -k 2 --lambda 1 --test test.svm");
    let place = text.rfind("step ").unwrap();
    let lines: Vec<&str> = text[place..].lines().take(4).collect();
    let firsts = lines
        .iter()
        .filter_map(|line| line.split_whitespace().next());
    assert_eq!(firsts.collect::<Vec<_>>(), ["step", "1", "2", "s.e."]);
    assert!(
        lines.iter().all(|line| line.chars().count() <= 80),
        "{text}"
    );
}

#[test]
fn test_data_is_measured_after_every_step() {
    let folder = Folder::new();
    let measures = "--metrics map,cindex --convention letor --json";
    let select = "select train.svm --lambda 1 --scale sd";
    let document = folder.json(&format!("{select} -k 2 --test test.svm {measures}"));
    assert_eq!(document["test"]["dropped_columns"], 2);
    assert_eq!(document["test"]["convention"], "letor");
    for k in [1, 2] {
        folder.run(&format!("{select} -k {k} -o model.json"));
        let model = folder.json(&format!("evaluate test.svm --model model.json {measures}"));
        assert_eq!(document["steps"][k - 1]["test"], model["metrics"]);
    }
}

/// A device that takes no bytes.
#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_saved_is_printed() {
    let folder = Folder::new();
    let mut command = folder.command("select train.svm -k 2 --lambda 1 -q -o /dev/full");
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let errors = String::from_utf8(output.stderr).unwrap();
    let error = "error: cannot write to /dev/full\n  because: ";
    assert!(errors.starts_with(error), "{errors}");
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(table.contains("LQO error"), "{table}");
}

#[test]
fn what_is_undefined_is_null() {
    let folder = Folder::new();
    folder.write(
        "flat.svm",
        "1 qid:1 1:1\n1 qid:1\n2 qid:2 1:1\n2 qid:2 2:1\n",
    );
    let document = folder.json("select flat.svm -k 1 --lambda 1 --json");
    assert!(document["steps"][0]["lqo_cindex"].is_null());
    assert!(document["steps"][0]["name"].is_null());
    assert!(document["seed"].is_null() && document["sample"].is_null());
    let by_cindex = "select flat.svm -k 1 --lambda 1 --criterion cindex";
    folder.refused(&format!("{by_cindex} => undefined for every query"));
}

#[test]
fn what_is_not_given_is_chosen_and_says_how() {
    let folder = Folder::new();
    folder.write("data.svm", generated(300, 40));
    let report = folder.json("select data.svm -k 3 --json -o model.json");
    let (choice, text) = (&report["choice"], folder.stdout("select data.svm -k 3"));
    let model: serde_json::Value = serde_json::from_str(&folder.read("model.json")).unwrap();
    assert_eq!(&model["choice"], choice);
    assert!(
        text.contains("chosen by 3 folds of 30 queries (concordance index at 3 features):"),
        "{text}"
    );
    for (axis, names) in [
        ("scale", &["none", "sd", "max"][..]),
        ("label_scale", &["raw", "sqrt-sd"]),
        ("strategy", &["exact", "distil"]),
    ] {
        let tried = list(&choice[axis]).iter();
        let found: Vec<_> = tried.map(|tried| tried["name"].as_str().unwrap()).collect();
        assert_eq!(found, names);
    }
    // The same selection as with everything given.
    let chosen = |axis: &str| {
        let mut best = &choice[axis][0];
        for tried in list(&choice[axis]) {
            if number(&tried["value"]) > number(&best["value"]) + 1e-9 {
                best = tried;
            }
        }
        best["name"].as_str().unwrap().replace("exact", "auto")
    };
    let options = format!(
        "--lambda {} --scale {} --label-scale {} --strategy {}",
        chosen("lambda"),
        chosen("scale"),
        chosen("label_scale"),
        chosen("strategy")
    );
    let given = folder.json(&format!("select data.svm -k 3 {options} --json"));
    assert_eq!(given["steps"], report["steps"]);
    assert_eq!(given["lambda"], report["lambda"]);
    assert!(given.get("choice").is_none());
    // Given values are kept.
    let kept = "select data.svm -k 3 --scale sd --strategy lowmem --choose-by ndcg@2 --json";
    let kept = folder.json(kept);
    assert!(kept["choice"].get("scale").is_none() && kept["choice"].get("strategy").is_none());
    assert_eq!(
        (&kept["scale"], &kept["strategy"]),
        (&"sd".into(), &"lowmem".into())
    );
    assert_eq!(kept["choice"]["measure"], "ndcg@2");
    folder.misused("select data.svm -k 3 --lambda 1 --choose-by map => nothing to choose");
}

#[test]
fn few_queries_choose_nothing_and_say_so() {
    let folder = Folder::new();
    let two = "1 qid:1 1:1\n0 qid:1 2:1\n1 qid:2 1:1\n0 qid:2 2:1\n";
    // A third query has no pair to order.
    folder.write("two.svm", format!("{two}1 qid:3 1:1\n1 qid:3 2:1\n"));
    let report = folder.json("select two.svm -k 1 --json");
    let given = folder.json("select two.svm -k 1 --lambda 1/16u --json");
    assert_eq!(report["steps"], given["steps"]);
    let reason = "fewer than three queries have rows of different labels";
    assert_eq!(report["choice"]["reason"], reason);
    let text = folder.stdout("select two.svm -k 1");
    assert!(
        text.contains(&format!("nothing was chosen by folds: {reason}")),
        "{text}"
    );
}

#[test]
fn a_setting_that_cannot_be_tried_is_named() {
    let folder = Folder::new();
    // A teacher needs ten queries.
    folder.write("few.svm", generated(80, 40));
    let text = folder.stdout("select few.svm -k 2");
    assert!(text.contains("distil was left out: "), "{text}");
}

#[test]
fn the_order_of_rows_changes_no_choice() {
    let folder = Folder::new();
    let text = generated(240, 40);
    folder.write("data.svm", &text);
    // Queries from last to first, with scattered rows.
    let lines: Vec<&str> = text.lines().rev().collect();
    let every_other = |from: usize| lines.iter().skip(from).step_by(2).copied();
    let moved: Vec<&str> = every_other(0).chain(every_other(1)).collect();
    folder.write("moved.svm", moved.join("\n") + "\n");
    for (command, numbers) in [
        ("select DATA -k 3 --json", &["/lambda"][..]),
        (
            "select DATA -k 3 --strategy distil --json",
            &["/lambda", "/teacher/lambda"],
        ),
        (
            "tune DATA -k 3 --holdout folds:3 --json",
            &["/chosen/lambda", "/chosen/value"],
        ),
        (
            "train DATA --lambda 1,4,16 --holdout folds:4 --json",
            &["/lambda", "/holdout/squared"],
        ),
    ] {
        let of = |data: &str| folder.json(&command.replace("DATA", data));
        let (expected, found) = (of("data.svm"), of("moved.svm"));
        for path in numbers {
            let [expected, found] =
                [&expected, &found].map(|all| number(all.pointer(path).unwrap()));
            let off = (found - expected).abs();
            assert!(
                off <= 1e-9 * expected,
                "{command}: {path}: {found} for {expected}"
            );
        }
        let features = |document: &serde_json::Value| -> Vec<serde_json::Value> {
            let steps = ["/steps", "/selection/steps"].map(|path| document.pointer(path));
            let steps = steps.into_iter().flatten().flat_map(list);
            steps.map(|step| step["feature"].clone()).collect()
        };
        assert_eq!(features(&found), features(&expected), "{command}");
    }
}

/// A setting's option with another value than its default, and its name in JSON.
fn given(setting: &clap::Arg) -> (String, String) {
    let option = setting.get_long().unwrap();
    let usual = setting.get_default_values().first();
    let values = setting.get_possible_values();
    let named = values.iter().map(|value| value.get_name().to_owned());
    let value = named
        .into_iter()
        .find(|name| usual.is_none_or(|usual| usual != name.as_str()));
    let value = value.unwrap_or_else(|| "2".to_owned());
    (format!("--{option} {value}"), option.replace('-', "_"))
}

#[test]
fn every_setting_reaches_reports_models_and_the_refusals_of_resume() {
    let folder = Folder::new();
    let settings = GreedyRankRls::augment_args(clap::Command::new("settings"));
    let mut reached = 0;
    for setting in settings.get_arguments() {
        let (option, name) = match setting.get_id().as_str() {
            // Strategies are tried below, and the judge matters only if lambda is chosen.
            "strategy" | "choose_by" => continue,
            // A measure is not one of a few values.
            "criterion" => ("--criterion map".to_owned(), "criterion".to_owned()),
            // Some columns do not vary.
            "include" => ("--include 867".to_owned(), "include".to_owned()),
            "scale" => ("--scale sd".to_owned(), "scale".to_owned()),
            _ => given(setting),
        };
        // Some settings matter only with a teacher, or with a draw.
        let others = [
            "",
            "--strategy distil",
            "--strategy sampled",
            "--refit cross-fitted",
        ];
        let document = others.iter().find_map(|other| {
            let without = format!("select @parses -k 2 --lambda 1 {other} -q -o model.json");
            let select = format!("{without} {option} --json");
            let output = folder.command(&select).output().unwrap();
            let found: Option<serde_json::Value> = serde_json::from_slice(&output.stdout).ok();
            let written = found.filter(|found| found.to_string().contains(&format!("\"{name}\":")));
            written.map(|found| (found, without))
        });
        let (document, without) = document.unwrap_or_else(|| panic!("{option} is not in JSON"));
        let differs = format!("{} was ", name.replace('_', " "));
        folder.refused(&format!("{without} --resume => {differs}"));
        let place = |document: &serde_json::Value| {
            let own = document.get(&name).cloned();
            own.unwrap_or_else(|| panic!("{option}: {document}"))
        };
        let model = folder.json("inspect model.json --json");
        assert_eq!(place(&model["settings"]), place(&document), "{option}");
        let text = folder.stdout("inspect model.json");
        assert!(text.contains(&name.replace('_', " ")), "{option}: {text}");
        reached += 1;
    }
    assert!(reached > 7, "{reached}");
}
