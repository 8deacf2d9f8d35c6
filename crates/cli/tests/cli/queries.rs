//! Data without queries, and with few.

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
        "tune one.svm -k 2 --holdout folds:2",
        "tune one.svm -k 2 --validation train.svm",
        "compare one.svm -k 2 --lambda 1",
    ] {
        let error = folder.fails(command, 1);
        for part in [
            "leave-query-out is undefined",
            "one query",
            "--rows-per-query",
            "--query-file",
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
        assert!(errors.contains("--rows-per-query"), "{errors}");
    }
    folder.refused("train one.svm --lambda 1 --holdout lqo => leave-query-out is undefined");
    folder.stdout("predict primal.json test.svm");
    folder.refused("train one.svm --lambda 1,2 -o best.json => which lambda is best");
}

#[test]
fn few_queries_are_warned_of() {
    let folder = Folder::new();
    for command in [
        "select train.svm -k 2 --lambda 1",
        "train train.svm --lambda 1",
        "tune train.svm -k 2",
        "compare train.svm -k 2 --lambda 1 --strategy dense,lowmem",
    ] {
        let output = folder.command(command).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        let few = errors.contains("there are only 3 queries");
        assert!(output.status.success() && few, "{command}: {errors}");
    }
    let mut many = folder.command("select @parses -k 2 --lambda 1");
    assert!(many.output().unwrap().stderr.is_empty());
}

#[test]
fn queries_come_from_a_file_or_by_size() {
    let folder = Folder::new();
    folder.write("one.svm", without_queries());
    folder.write("train.txt", "a\na\na\nb\nb\nc\nc\nc\n");
    folder.write("test.txt", "x\nx\ny\ny\ny\n");
    let bare = crate::support::TEST
        .replace(" qid:x", "")
        .replace(" qid:y", "");
    folder.write("bare.svm", bare);
    let steps = |data: &str| {
        let command = format!("select {data} -k 3 --lambda 1 --json");
        let document = folder.json(&command);
        (document["steps"].clone(), document["data"].clone())
    };
    let expected = steps("train.svm --test test.svm");
    for data in [
        "one.svm --query-file train.txt --test test.svm",
        "one.svm --query-file train.txt --test bare.svm --query-file test.txt",
    ] {
        assert_eq!(steps(data), expected, "{data}");
    }
    folder.run("convert one.svm -o with.svm --query-file train.txt");
    assert_eq!(steps("with.svm --test test.svm").1, expected.1);
    let info = folder.json("info one.svm --rows-per-query 2 --json");
    assert_eq!(info["data"]["queries"], 4);
    assert_eq!(info["query_sizes"]["largest"], 2);
    folder.run("compare one.svm --query-file train.txt --test bare.svm --query-file test.txt -k 1 --lambda 1 --strategy dense");
    folder.run(
        "tune one.svm -k 1 --query-file train.txt --validation bare.svm --query-file test.txt",
    );
    folder.run("train one.svm --lambda 1 --rows-per-query 4 -o model.json");
    folder.run("evaluate bare.svm --model model.json --query-file test.txt --metrics cindex");
}

#[test]
fn sizes_of_queries_are_read_as_other_programs_write_them() {
    let folder = Folder::new();
    folder.write("one.svm", without_queries());
    folder.write("one.svm.query", "3\n2\n3\n");
    // A file written for LightGBM is read again.
    folder.run("select train.svm -k 2 --lambda 1 -o model.json");
    folder.run("convert train.svm --model model.json --to lightgbm -o few.txt");
    let info = folder.json("info few.txt --zero-based --query-file few.txt.query --json");
    assert_eq!(info["data"]["queries"], 3);
    let (_, errors) = folder.run("train one.svm --lambda 1");
    assert!(
        errors
            .contains("if one.svm.query has the sizes of queries, pass --query-file one.svm.query"),
        "{errors}"
    );
    folder.refused(
        "evaluate one.svm --model model.json => if one.svm.query has the sizes of queries",
    );
}

#[test]
fn queries_that_do_not_fit_are_refused() {
    let folder = Folder::new();
    folder.write("one.svm", without_queries());
    folder.write("sizes.txt", "3\n4\n");
    folder.write("back.txt", "a\na\nb\nb\na\nc\nc\nc\n");
    for case in [
        "one.svm --query-file sizes.txt => sizes.txt: expected 8 lines, one for each row of one.svm, or sizes of queries that add up to 8, found 2 lines, which add up to 7",
        "one.svm --query-file absent.txt => absent.txt: expected a readable file",
        "one.svm --rows-per-query 3 => one.svm: expected queries of 3 rows each, found 8 rows, the last 2 no full query",
        "train.svm --rows-per-query 2 => train.svm: expected data without query identifiers",
        "train.svm --query-file back.txt => train.svm: expected data without query identifiers",
    ] {
        folder.refused(&format!("info {case}"));
    }
    let info = folder.json("info one.svm --query-file back.txt --json");
    assert_eq!(info["data"]["queries"], 3);
    folder.warns("info one.svm --query-file back.txt => query \"a\" comes back on line 5");
    folder.fails("info one.svm --query-file -", 2);
}

#[test]
fn names_of_a_zero_based_file_are_asked_about() {
    let folder = Folder::new();
    // Column 0 is empty, so the file can be read either way.
    folder.write(
        "zero.svm",
        "1 qid:1 1:1\n0 qid:1 2:1\n1 qid:2 1:1 2:2\n0 qid:2\n",
    );
    folder.write("zero.txt", "empty\nfirst\nsecond\n");
    let select = "select zero.svm --names zero.txt -k 1 --lambda 1 --json";
    let (text, errors) = folder.run(select);
    assert!(
        errors.contains("there are 3 names for 2 columns"),
        "{errors}"
    );
    assert!(errors.contains("pass --zero-based"), "{errors}");
    assert!(text.contains("\"name\": \"empty\""), "{text}");
    let (text, errors) = folder.run(&format!("{select} --zero-based"));
    assert_eq!(errors, "");
    assert!(text.contains("\"name\": \"first\""), "{text}");
}

/// All data are read from 0, and test data that count from 1 have one column more.
#[test]
fn test_data_that_count_from_1_are_told_where_they_show_it() {
    let folder = Folder::new();
    folder.write(
        "zero.svm",
        "1 qid:1 0:1 1:1\n0 qid:1 2:1\n1 qid:2 0:2\n0 qid:2 1:1 2:1\n",
    );
    folder.write(
        "one.svm",
        "1 qid:3 1:1 2:1\n0 qid:3 3:1\n1 qid:4 1:2\n0 qid:4 2:1 3:4\n",
    );
    let told = "dropped 2 non-zeros in 1 column unknown to the training data, and no row has the index 0: \
                --zero-based is of all data";
    let select = "select zero.svm -k 1 --lambda 1 --zero-based";
    folder.warns(&format!("{select} --test one.svm => {told}"));
    folder.warns(&format!(
        "compare zero.svm -k 1 --lambda 1 --strategy dense --zero-based --test one.svm => {told}"
    ));
    // As it says.
    folder.run("convert zero.svm --zero-based -o from-one.svm");
    let counted = "select from-one.svm -k 1 --lambda 1";
    assert_eq!(folder.run(&format!("{counted} --test one.svm")).1, "");
    let scores = |command: &str, data: &str| {
        folder.run(&format!("{command} -o model.json"));
        folder.scores(&format!("predict model.json {data}"))
    };
    let expected = scores(select, "zero.svm --zero-based");
    assert_eq!(scores(counted, "from-one.svm"), expected);
    // Columns that the training data lack are nothing else, where a row has the index 0.
    folder.write("more.svm", "1 qid:1 0:1 3:1\n0 qid:1 1:1\n");
    let (_, errors) = folder.run(&format!("{select} --test more.svm"));
    assert!(
        errors.contains("dropped 1 non-zero in 1 column"),
        "{errors}"
    );
    assert!(!errors.contains("--zero-based"), "{errors}");
    assert_eq!(
        folder
            .run(&format!("{select} --test zero.svm"))
            .1
            .matches("index 0")
            .count(),
        0
    );
}

#[test]
fn measures_of_data_without_queries_are_refused() {
    let folder = Folder::new();
    folder.write("one.svm", without_queries());
    folder.run("select train.svm -k 2 --lambda 1 -o model.json");
    for command in [
        "evaluate one.svm --model model.json",
        "select train.svm -k 2 --lambda 1 --test one.svm",
    ] {
        let error = folder.fails(command, 1);
        for part in ["--query", "--query-file", "pass --rows-per-query 8"] {
            assert!(error.contains(part), "{command}: {error}");
        }
    }
    folder.run("evaluate one.svm --model model.json --rows-per-query 8 --metrics cindex");
    // A model of one query orders all rows.
    folder.run("train one.svm --lambda 1 --objective global -o one.json");
    folder.run("evaluate one.svm --model one.json --metrics cindex");
}
