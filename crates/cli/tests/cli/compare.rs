use crate::support::{Folder, list, number};

const SMALL: &str = "compare train.svm -k 3 --lambda 0.5";

#[test]
fn all_strategies_are_compared() {
    let folder = Folder::new();
    let command = format!("{SMALL} --test test.svm --metrics cindex,map --json");
    let document = folder.json(&command);
    assert_eq!(document["data"]["rows"], 8);
    let entries = list(&document["strategies"]);
    assert_eq!(entries.len(), 9);
    for entry in entries {
        let name = entry["strategy"].as_str().unwrap();
        if name == "distil" {
            let error = entry["error"].as_str().unwrap();
            assert!(error.contains("3 queries: expected at least 10"), "{error}");
            assert!(entry["overlap"].is_null() && list(&entry["steps"]).is_empty());
            continue;
        }
        assert!(entry["error"].is_null(), "{entry}");
        let exact = ["dense", "lowmem", "bounded"].contains(&name);
        assert_eq!(entry["exact"], exact, "{name}");
        assert_eq!(list(&entry["steps"]).len(), 3, "{name}");
        for step in list(&entry["steps"]) {
            assert!(step["test"]["cindex"].is_number(), "{name}");
        }
        let overlap = number(&entry["overlap"]);
        assert!((0.0..=1.0).contains(&overlap) && (!exact || overlap == 1.0));
        assert!(number(&entry["select_seconds"]) > 0.0);
        assert!(entry["memory_bytes"].as_u64().unwrap() > 0, "{name}");
    }
    assert_eq!(document["reference"], "dense");
    let text = folder.stdout(SMALL);
    assert!(text.contains("distil did not run: "), "{text}");
    assert!(
        text.contains("exact") && text.contains("evaluated"),
        "{text}"
    );
}

/// Means and errors are those of `evaluate`, and so are differences.
#[test]
fn test_measures_have_errors_and_differences() {
    let folder = Folder::new();
    let data = "@sentences -k 3 --lambda 1/16u";
    let document = folder.json(&format!(
        "compare {data} --strategy bounded,univariate,random --test @sentences-test --seed 4 --metrics cindex,mrr --json"
    ));
    assert_eq!(document["paired_with"], "bounded");
    for strategy in ["bounded", "univariate", "random"] {
        let seed = if strategy == "random" { "--seed 4" } else { "" };
        folder.run(&format!(
            "select {data} --strategy {strategy} {seed} -o {strategy}.json"
        ));
    }
    let models = "--model bounded.json --model univariate.json --model random.json";
    let judged = folder.json(&format!(
        "evaluate @sentences-test {models} --metrics cindex,mrr --seed 4 --json"
    ));
    let entries = list(&document["strategies"]);
    for (place, (entry, ranking)) in entries.iter().zip(list(&judged["rankings"])).enumerate() {
        let last = list(&entry["steps"]).last().unwrap();
        for measure in ["cindex", "mrr"] {
            assert_eq!(
                last["test"][measure], ranking["metrics"][measure],
                "{measure}"
            );
            let errors = [&last["standard_errors"], &ranking["standard_errors"]];
            assert_eq!(errors[0][measure], errors[1][measure], "{measure}");
            let paired = &entry["paired"];
            if place == 0 {
                assert!(paired.is_null());
                continue;
            }
            // There the earlier ranking comes first.
            let pair = &judged["comparisons"][place - 1]["metrics"][measure];
            let found = number(&paired[measure]["difference"]);
            assert_eq!(found, -number(&pair["difference"]));
            for key in ["standard_error", "p", "queries", "ties"] {
                assert_eq!(paired[measure][key], pair[key], "{measure} {key}");
            }
        }
    }
    let text = folder.stdout(&format!(
        "compare {data} --strategy bounded,random --test @sentences-test --metrics cindex"
    ));
    let title = text
        .lines()
        .find(|line| line.starts_with("strategy"))
        .unwrap();
    let title: Vec<&str> = title.split_whitespace().collect();
    assert_eq!(
        title[6..13],
        [
            "cindex", "test", "cindex", "s.e.", "diff.", "s.e.", "overlap"
        ]
    );
    assert!(
        text.contains("the test measure less that of bounded"),
        "{text}"
    );
}

/// The first that ran is what the others are compared with.
#[test]
fn differences_are_to_the_first_that_ran() {
    let folder = Folder::new();
    let command = "compare train.svm -k 2 --lambda 0.5 --test test.svm --metrics cindex";
    let document = folder.json(&format!(
        "{command} --strategy distil,residual,dense --json"
    ));
    assert_eq!(document["paired_with"], "residual");
    let [distil, residual, dense] = [0, 1, 2].map(|place| &document["strategies"][place]["paired"]);
    assert!(distil.is_null() && residual.is_null() && dense.is_object());
    let document = folder.json("compare train.svm -k 2 --lambda 0.5 --strategy residual --json");
    assert!(document["paired_with"].is_null());
    let text = folder.stdout(SMALL);
    assert!(
        text.contains("too good where a\nstrategy searches by them: --test DATA"),
        "{text}"
    );
    assert!(!text.contains("diff."), "{text}");
}

/// `distil` scales labels by itself where no scale is given.
#[test]
fn errors_stand_together_in_the_same_units_alone() {
    let folder = Folder::new();
    let compare = "compare @sentences -k 2 --lambda 1/16u";
    let error = |options: &str, strategy: &str| {
        let text = folder.stdout(&format!("{compare} {options}"));
        let title = text
            .lines()
            .find(|line| line.starts_with("strategy"))
            .unwrap();
        let row = text
            .lines()
            .find(|line| line.starts_with(strategy))
            .unwrap();
        // Right-aligned: the last digit stands below the title's last letter.
        let end = title.find("LQO error").unwrap() + "LQO error".len();
        let cell = row[..end].rsplit(' ').next().unwrap().to_owned();
        let told = format!("\n{strategy} learns labels on the scale ");
        assert_eq!(text.contains(&told), cell == "-", "{text}");
        cell
    };
    assert_eq!(error("--strategy bounded,distil", "distil"), "-");
    assert_ne!(error("--strategy bounded,distil", "bounded"), "-");
    assert_eq!(error("--strategy distil,bounded", "bounded"), "-");
    for labels in ["raw", "sqrt-sd"] {
        let options = format!("--strategy bounded,distil --label-scale {labels}");
        assert_ne!(error(&options, "distil"), "-");
    }
    let document = folder.json(&format!("{compare} --strategy bounded,distil --json"));
    let scales = list(&document["strategies"]).iter();
    let scales: Vec<_> = scales.map(|entry| &entry["label_scale"]).collect();
    assert_eq!(scales, ["raw", "sqrt-sd"]);
}

/// Reports have the figures of `select`.
#[test]
fn figures_are_those_of_select() {
    let folder = Folder::new();
    folder.write(
        "zero.svm",
        "1 qid:1 0:1 2:1\n0 qid:1 1:1\n1 qid:2 0:2\n0 qid:2 1:0.5 2:1\n",
    );
    let options = "zero.svm -k 2 --lambda 0.25 --zero-based";
    let document = folder.json(&format!(
        "compare {options} --strategy backfit,sampled:2 --seed 4 --json"
    ));
    assert!(document["reference"].is_null());
    for (entry, strategy) in list(&document["strategies"]).iter().zip([
        "--strategy backfit",
        "--strategy sampled --sample 2 --seed 4",
    ]) {
        let selection = folder.json(&format!("select {options} {strategy} --json"));
        assert!(entry["overlap"].is_null());
        for (step, selected) in list(&entry["steps"]).iter().zip(list(&selection["steps"])) {
            for key in ["feature", "lqo_error", "lqo_cindex", "evaluated"] {
                assert_eq!(step[key], selected[key], "{strategy}: {key}");
            }
        }
    }
    assert_eq!(document["strategies"][1]["strategy"], "sampled:2");
}

#[test]
fn a_strategy_that_does_not_fit_is_a_row() {
    let folder = Folder::new();
    let command = "compare @parses -k 2 --lambda 16 --strategy dense,bounded --max-memory 16MiB";
    let document = folder.json(&format!("{command} --json"));
    let dense = &document["strategies"][0];
    let error = dense["error"].as_str().unwrap();
    assert!(error.contains("strategy dense needs "), "{error}");
    assert_eq!(document["reference"], "bounded");
    folder.prints(&format!(
        "{command} => dense did not run: strategy dense needs"
    ));
}

#[test]
fn fewer_candidates_than_asked_for_are_a_warning() {
    let folder = Folder::new();
    folder.warns(
        "compare train.svm -k 50 --lambda 1 --strategy bounded,lowmem \
         => bounded, lowmem: selected 4 features, not 50",
    );
}

/// A strategy that has ended is kept.
#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_there_is() {
    let folder = Folder::new();
    folder.write("big.svm", crate::support::generated(1000, 2000));
    let compare = "compare big.svm -k 600 --lambda 1 --strategy random,lowmem,bounded --json";
    let (output, rest) = crate::signals::interrupt(&folder, compare, "lowmem ");
    assert!(rest.contains("interrupted after 1 strategy"), "{rest}");
    let document: serde_json::Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(document["interrupted"], true);
    let errors = list(&document["strategies"])
        .iter()
        .map(|entry| &entry["error"]);
    let errors: Vec<_> = errors.map(serde_json::Value::as_str).collect();
    assert_eq!(errors, [None, Some("interrupted"), Some("interrupted")]);
}

#[test]
fn names_of_strategies_are_checked() {
    let folder = Folder::new();
    for (strategies, says) in [
        ("sampled:0", "from 1 on after the colon"),
        ("sampled:x", "found \"x\""),
    ] {
        folder.misused(&format!("{SMALL} --strategy {strategies} => {says}"));
    }
}
