use std::fs;

use crate::support::{Folder, NAMES, TRAIN, gz, list};

/// `TRAIN` without header and comments.
fn canonical() -> String {
    let rows = TRAIN.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| format!("{}\n", line.split(" #").next().unwrap());
    rows.map(row).collect()
}

#[test]
fn data_and_their_names_come_back() {
    let folder = Folder::new();
    for to in ["svm", "svm.gz", "svm.zst"] {
        folder.run(&format!("convert train.svm -o a.{to} --names names.txt"));
        assert_eq!(folder.read("a.names.txt"), NAMES);
        let (text, _) = folder.run(&format!("convert a.{to} -o - --names a.names.txt"));
        assert_eq!(text, canonical(), "{to}");
        fs::remove_file(folder.path("a.names.txt")).unwrap();
    }
    assert_eq!(folder.piped("convert - -o -", gz(TRAIN)), canonical());
}

#[test]
fn the_embedded_corpus_has_names() {
    let folder = Folder::new();
    let hash = |data: &str| folder.json(&format!("info {data} --json"))["hash"].clone();
    // Test data have their own columns, not all columns of the training data.
    for (data, columns) in [("@parses", 19_424), ("@parses-test", 19_419)] {
        let (text, errors) = folder.run(&format!("convert {data} -o a.svm"));
        assert_eq!((text.as_str(), errors.as_str()), ("", ""));
        assert_eq!(folder.read("a.names.txt").lines().count(), columns);
        assert_eq!(hash("a.svm"), hash(data));
    }
}

#[test]
fn a_table_becomes_text_with_names() {
    let folder = Folder::new();
    folder.write(
        "t.csv",
        "query,x,grade,\"a, b\",last\nq,0.5,2,0,0\nr,0,1,3,0\n",
    );
    folder.run("convert t.csv -o t.svm --label grade --query query");
    assert_eq!(folder.read("t.svm"), "2 qid:q 1:0.5 3:0\n1 qid:r 2:3\n");
    assert_eq!(folder.read("t.names.txt"), "x\na, b\nlast\n");
}

/// Names beside a table are not its own: they are those of older text.
#[test]
fn a_table_that_has_changed_is_written_with_its_new_names() {
    let folder = Folder::empty();
    let read = "--label grade --query query";
    for titles in ["a,b,c", "c,a,b", "d,e,f"] {
        folder.write(
            "t.csv",
            format!("grade,query,{titles}\n1,q,1,2,3\n0,q,3,1,2\n1,r,1,4,3\n0,r,5,1,2\n"),
        );
        folder.run(&format!("select t.csv {read} -k 1 --lambda 1 -q -o m.json"));
        folder.run(&format!("convert t.csv {read} -o t.svm"));
        assert_eq!(folder.read("t.names.txt"), titles.replace(',', "\n") + "\n");
        folder.run("convert t.csv --model m.json -o t.svm");
        assert_eq!(folder.read("t.names.txt").lines().count(), 1);
    }
}

#[test]
fn indices_count_as_asked() {
    let folder = Folder::new();
    folder.write("zero.svm", "1 0:1 2:0.5\n");
    let text = folder.stdout("convert zero.svm --zero-based -o -");
    assert_eq!(text, "1 1:1 3:0.5\n");
}

#[test]
fn rows_of_a_query_are_brought_together() {
    let folder = Folder::new();
    folder.write("mixed.svm", "1 qid:b 1:1\n2 qid:a 1:2\n3 qid:b 1:3\n");
    folder.warns("convert mixed.svm -o a.svm => query \"b\" comes back on line 3");
    assert_eq!(
        folder.read("a.svm"),
        "1 qid:b 1:1\n3 qid:b 1:3\n2 qid:a 1:2\n"
    );
}

#[test]
fn what_cannot_be_written_is_refused() {
    let folder = Folder::new();
    let before = folder.list();
    for case in [
        "train.svm -o absent/a.svm => cannot write to absent/a.svm",
        "absent.svm -o a.svm => absent.svm: expected a readable file",
    ] {
        folder.refused(&format!("convert {case}"));
    }
    assert_eq!(folder.list(), before);
}

#[test]
fn identifiers_that_are_no_tokens_come_back() {
    let folder = Folder::new();
    folder.write(
        "t.csv",
        "query,grade,x\na#,1,2\na#,0,1\nFrage 0,1,2\nFrage 0,0,1\n",
    );
    folder.run("convert t.csv -o a.svm --label grade --query query");
    folder.run("select a.svm -k 1 --lambda 1 -o m.json");
    let document = folder.json("explain m.json a.svm a# --json");
    assert_eq!(document["query"], "a#");
}

#[test]
fn the_model_is_selected_again() {
    let folder = Folder::new();
    let steps = |arguments: &str| {
        let document = folder.json(&format!("select {arguments} --lambda 16 --json"));
        let steps = list(&document["steps"]);
        let names = steps.iter().map(|step| step["name"].clone());
        let errors = steps.iter().map(|step| step["lqo_error"].clone());
        (names.collect::<Vec<_>>(), errors.collect::<Vec<_>>())
    };
    let expected = steps("@parses -k 8 -o model.json");
    for output in ["few.svm", "few.svm.zst"] {
        folder.run(&format!("convert @parses --model model.json -o {output}"));
        let found = steps(&format!("{output} --names few.names.txt -k 8"));
        assert_eq!(found, expected, "{output}");
    }
    // Test data gets the same columns, used or not.
    folder.run("convert @parses-test --model model.json -o test.svm");
    let info = folder.json("info test.svm --json");
    assert_eq!(info["data"]["columns"], 8);
}

#[test]
fn unknown_columns_are_dropped_and_counted() {
    let folder = Folder::new();
    folder.run("select train.svm -k 4 --lambda 1 -o model.json");
    let (text, errors) = folder.run("convert test.svm --model model.json -o -");
    assert_eq!(
        errors,
        "warning: dropped 3 non-zeros in 2 columns unknown to the model\n"
    );
    assert_eq!(text.lines().count(), 5);
    assert!(text.lines().all(|line| line.contains(" qid:")));
}

#[test]
fn other_rankers_get_grades_and_their_queries() {
    let folder = Folder::new();
    folder.run("select @parses -k 5 --lambda 16 -o model.json");
    let project = "convert @parses --model model.json";
    folder.run(&format!("{project} -o x.svm --to xgboost"));
    folder.run(&format!("{project} -o l.svm --to lightgbm"));
    let sizes = folder.read("l.svm.query");
    let sizes = sizes.lines().map(|size| size.parse::<usize>().unwrap());
    let queries = (1..).zip(sizes).flat_map(|(query, size)| vec![query; size]);
    let queries: Vec<u32> = queries.collect();
    let (x, l) = (folder.read("x.svm"), folder.read("l.svm"));
    assert_eq!(
        (x.lines().count(), l.lines().count()),
        (queries.len(), queries.len())
    );
    for ((x, l), query) in x.lines().zip(l.lines()).zip(queries) {
        assert_eq!(x.replacen(&format!(" qid:{query}"), "", 1), l);
        let grade: f64 = l.split(' ').next().unwrap().parse().unwrap();
        assert!(grade.fract() == 0.0 && (0.0..=30.0).contains(&grade));
    }
    assert!(!folder.path("x.svm.query").exists());
    for output in ["a.svm.zst", "-"] {
        folder.fails(&format!("{project} -o {output} --to xgboost"), 2);
    }
    folder.fails(&format!("{project} -o a.svm --to ranklib"), 2);
}

/// Names of older data beside the output would be taken for names of the new data.
#[test]
fn data_without_names_do_not_get_those_of_others() {
    let folder = Folder::new();
    for stale in ["a.names.txt", "a.names.txt.zst", "a.names.txt.gz"] {
        folder.run("convert train.svm --names names.txt -o a.svm");
        fs::rename(folder.path("a.names.txt"), folder.path(stale)).unwrap();
        let before = folder.read("a.svm");
        for output in ["a.svm", "a.svm.gz", "a"] {
            folder.refused(&format!(
                "convert test.svm -o {output} => {stale}: expected no file, as the data have no names"
            ));
        }
        assert_eq!(folder.read("a.svm"), before);
        folder.run(&format!("convert train.svm --names {stale} -o a.svm"));
        folder.run("convert test.svm -o b.svm");
        fs::remove_file(folder.path(stale)).unwrap();
        let _ = fs::remove_file(folder.path("a.names.txt"));
    }
    // Test data share the names of training data, as in a corpus. Other data do not.
    folder.run("convert train.svm --names names.txt -o a.svm");
    folder.run("convert test.svm -o a-test.svm");
    folder.write("names.txt.zst", "x");
    folder.refused("convert test.svm -o test.svm.zst => names.txt.zst: expected no file");
}
