//! Selection towards a teacher, by the program.

use crate::support::Folder;

fn steps(document: &serde_json::Value) -> usize {
    document["steps"].as_array().unwrap().len()
}

#[test]
fn distil_tells_of_its_teacher_and_that_its_errors_are_biased() {
    let folder = Folder::new();
    let select = "select @parses -k 5 --lambda 16 --strategy distil --labels sqrt-sd";
    let text = folder.stdout(&format!("{select} -o model.json"));
    assert!(
        text.contains("blend 0.2, weights by cross-fitted"),
        "{text}"
    );
    assert!(
        text.contains("teacher: RankRLS on all columns by dual, lambda "),
        "{text}"
    );
    assert!(
        text.contains("the LQO columns of distil are biased"),
        "{text}"
    );
    let document = folder.json(&format!("{select} --json"));
    assert_eq!(steps(&document), 5);
    assert_eq!(document["target"]["labels"], "sqrt-sd");
    let unit = document["data"]["unit"].as_f64().unwrap();
    let tried = [0.015_625, 0.0625, 0.25, 1.0, 4.0].map(|share| share * unit);
    assert_eq!(
        document["target"]["teacher_lambda"],
        serde_json::json!(tried)
    );
    assert!(document["teacher"]["cindex"].as_f64().unwrap() > 0.6);
    let inspected = folder.stdout("inspect model.json");
    assert!(inspected.contains("labels sqrt-sd"), "{inspected}");
    assert!(inspected.contains("biased"), "{inspected}");
    let compare = "compare @parses -k 2 --lambda 16 --strategies";
    let compared = folder.stdout(&format!("{compare} univariate,distil"));
    assert!(
        compared.contains("the LQO columns of distil are biased"),
        "{compared}"
    );
    let compared = folder.stdout(&format!("{compare} univariate"));
    assert!(!compared.contains("biased"), "{compared}");
}

#[test]
fn a_distilled_selection_goes_on_from_a_model_and_from_a_checkpoint() {
    let folder = Folder::new();
    let select = "select @parses --strategy distil --lambda 16";
    folder.run(&format!("{select} -k 9 -o whole.json"));
    folder.run(&format!("{select} -k 4 -o half.json"));
    folder.run("select @parses -k 9 --extend half.json -o more.json");
    assert_eq!(folder.read("more.json"), folder.read("whole.json"));
    folder.run(&format!("{select} -k 9 --checkpoint c -o first.json"));
    folder.run(&format!(
        "{select} -k 9 --checkpoint c --resume -o again.json"
    ));
    assert_eq!(folder.read("again.json"), folder.read("whole.json"));
    let other = format!("{select} -k 9 --checkpoint c --resume --blend 0.5");
    let error = folder.fails(&other, 1);
    assert!(
        error.contains("target.blend was not given and is 0.5 now"),
        "{error}"
    );
}

#[test]
fn scores_of_a_file_teach() {
    let folder = Folder::new();
    folder.run("train @parses --lambda 64 -o all.json");
    folder.run("predict all.json @parses -o scores.txt");
    let select = "select @parses -k 3 --lambda 16 --strategy distil --teacher scores.txt";
    let document = folder.json(&format!("{select} --json"));
    assert!(document["teacher"]["solver"].is_null());
    let scores = folder.read("scores.txt");
    let (first, rest) = scores.split_once('\n').unwrap();
    let turn = |score: &str| format!("{}\n", -score.parse::<f64>().unwrap());
    let turned: Vec<String> = scores.lines().map(turn).collect();
    let turned = turned.concat();
    let equal: String = scores.lines().map(|_| "1\n").collect();
    for (text, says) in [
        (rest.to_owned(), "one for each row of the data, found"),
        (format!("nan\n{rest}"), "scores.txt:1"),
        (equal, "constant in every query"),
        (turned, "do not rise with the labels"),
        (format!("{first}x\n{rest}"), "scores.txt:1"),
    ] {
        folder.write("scores.txt", text);
        let error = folder.fails(&format!("{select} -o model.json"), 1);
        assert!(error.contains(says), "{error}");
        assert!(!folder.list().contains(&"model.json".to_owned()));
    }
}

#[test]
fn options_without_effect_are_refused() {
    let folder = Folder::new();
    for (options, says) in [
        ("--blend 0.5", "--blend goes with --strategy distil"),
        ("--teacher-lambda 4", "there is nothing to teach"),
        (
            "--teacher x --strategy bounded",
            "there is nothing to teach",
        ),
        (
            "--strategy distil --teacher x --teacher-lambda 4",
            "brings its scores",
        ),
        ("--strategy distil --blend 1.5", "from 0 to 1"),
        ("--strategy distil --teacher-lambda 4,0", "teacher-lambda"),
    ] {
        let arguments = format!("select train.svm -k 2 --lambda 1 {options}");
        let output = folder.command(&arguments).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{error}");
        assert!(error.contains(says), "{error}");
    }
    let error = folder.fails("select train.svm -k 2 --lambda 1 --strategy distil", 1);
    assert!(error.contains("3 queries: expected at least 10"), "{error}");
}

#[test]
fn the_strategy_is_chosen_with_the_model() {
    let folder = Folder::new();
    let tune = "tune @parses -k 4 --lambdas 4,16 --measure cindex";
    let both = folder.json(&format!("{tune} --strategies bounded,distil --json"));
    assert_eq!(both["options"]["evidence"]["kind"], "folds");
    let rows = both["table"].as_array().unwrap();
    assert_eq!(rows.len(), 16);
    let best = |strategy: &str| {
        let alone = folder.json(&format!("{tune} --strategy {strategy} --folds 5 --json"));
        alone["chosen"]["value"].as_f64().unwrap()
    };
    let values = ["bounded", "distil"].map(best);
    let expected = values[0].max(values[1]);
    assert_eq!(both["chosen"]["value"].as_f64(), Some(expected));
    for (options, says) in [
        ("--strategies bounded,best", "best"),
        (
            "--strategies bounded --strategy dense",
            "cannot be used with",
        ),
        ("--strategies dense,distil --candidates 3", "random subset"),
    ] {
        let error = folder.fails(&format!("{tune} {options}"), 2);
        assert!(error.contains(says), "{error}");
    }
}

#[test]
fn distil_is_tuned_by_folds_and_compared() {
    let folder = Folder::new();
    let tune = "tune @parses -k 4 --strategy distil --lambdas 4,16 --measure cindex";
    let document = folder.json(&format!("{tune} --json"));
    assert_eq!(document["options"]["evidence"]["kind"], "folds");
    let error = folder.fails(&format!("{tune} --evidence lqo"), 1);
    assert!(error.contains("biased"), "{error}");
    let compare = "compare @parses -k 3 --lambda 16 --strategies distil,bounded --labels unit";
    let document = folder.json(&format!(
        "{compare} --refit cross-fitted --blend 0.3 --json"
    ));
    let entries = document["strategies"].as_array().unwrap();
    assert!(entries.iter().all(|entry| entry["error"].is_null()));
}
