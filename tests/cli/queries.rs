//! Data without queries, and with few.

use predicates::prelude::*;

use crate::support::{Folder, TRAIN};

/// The training data without query identifiers.
fn without_queries() -> String {
    TRAIN
        .lines()
        .map(|line| match line.split_once(" qid:") {
            Some((label, rest)) => format!("{label}{}\n", &rest[1..]),
            None => format!("{line}\n"),
        })
        .collect()
}

#[test]
fn leave_query_out_of_one_query_is_refused_with_what_to_do() {
    let folder = Folder::new();
    folder.write("one.svm", without_queries());
    for command in [
        "select one.svm -k 2 --lambda 1",
        "select one.svm -k 2 --lambda 1 --strategy random",
        "select one.svm -k 2 --lambda 1 --criterion ndcg@10 --json",
        "tune one.svm -k 2",
        "tune one.svm -k 2 --folds 2",
        "tune one.svm -k 2 --validation train.svm",
        "compare one.svm -k 2 --lambda 1",
    ] {
        let error = folder.fails(command, 1);
        for part in [
            "leave-query-out is undefined",
            "one query",
            "--query-size",
            "--queries FILE",
            "query_id=",
        ] {
            assert!(error.contains(part), "{command}: {error}");
        }
    }
}

#[test]
fn training_on_one_query_has_no_hold_out() {
    let folder = Folder::new();
    folder.write("one.svm", without_queries());
    for solver in ["dual", "primal", "cg"] {
        let (text, errors) = folder.run(&format!(
            "train one.svm --lambda 1 --solver {solver} -o {solver}.json --json"
        ));
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        for values in [&document, &document["lambdas"][0]] {
            assert!(values["lqo_error"].is_null(), "{values}");
            assert!(values["lqo_cindex"].is_null(), "{values}");
        }
        assert!(errors.contains("no hold-out"), "{errors}");
        assert!(errors.contains("--query-size"), "{errors}");
    }
    let error = folder.fails("train one.svm --lambda 1 --holdout lqo", 1);
    assert!(error.contains("leave-query-out is undefined"), "{error}");
    folder.stdout("predict primal.json test.svm");
    let error = folder.fails("train one.svm --lambda 1,2 -o best.json", 1);
    assert!(error.contains("which lambda is best"), "{error}");
}

#[test]
fn few_queries_are_warned_of() {
    let folder = Folder::new();
    for command in [
        "select train.svm -k 2 --lambda 1",
        "train train.svm --lambda 1",
        "tune train.svm -k 2",
        "compare train.svm -k 2 --lambda 1 --strategies dense,lowmem",
    ] {
        let few = predicate::str::contains("there are only 3 queries");
        folder.command(command).assert().success().stderr(few);
    }
    let mut many = folder.command("select @parses -k 2 --lambda 1");
    many.assert().success().stderr("");
}
