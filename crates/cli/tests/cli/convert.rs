use std::fs;

use crate::support::{Folder, NAMES, TRAIN, gz, list};

/// `TRAIN` without header and comments.
fn canonical() -> String {
    let rows = TRAIN.lines().filter(|line| !line.starts_with('#'));
    let row = |line: &str| format!("{}\n", line.split(" #").next().unwrap());
    rows.map(row).collect()
}

/// Formats by their endings.
const ENDINGS: &[&str] = &["svm", "svm.gz", "features", "features.zst", "npz"];

#[test]
fn any_format_leads_to_any_other_and_back() {
    let folder = Folder::new();
    for from in ENDINGS {
        folder.run(&format!("convert train.svm -o a.{from} --names names.txt"));
        assert_eq!(folder.read("a.names.txt"), NAMES);
        for to in ENDINGS {
            folder.run(&format!("convert a.{from} -o b.{to} --names a.names.txt"));
            let (text, _) = folder.run(&format!("convert b.{to} -o -"));
            assert_eq!(text, canonical(), "{from} to {to}");
            assert_eq!(folder.read("b.names.txt"), NAMES);
            fs::remove_file(folder.path("b.names.txt")).unwrap();
        }
    }
}

#[test]
fn names_come_with_matrices() {
    let folder = Folder::new();
    folder.run("convert train.svm -o a.npz --names names.txt");
    let document = folder.json("select a.npz -k 1 --lambda 1 --json");
    assert_eq!(document["steps"][0]["feature"], 0);
    assert_eq!(document["steps"][0]["name"], "word:a");
    folder.write("other.txt", "1\n2\n3\n4\n5\n6\n7\n");
    let document = folder.json("select a.npz -k 1 --lambda 1 --json --names other.txt");
    assert_eq!(document["steps"][0]["name"], "1");
    // Test data has the columns of the training data, and no use for names.
    folder.run("select train.svm -k 2 --lambda 1 -o model.json");
    folder.write("a.names.txt", "too few\n");
    folder.run("predict model.json a.npz");
    folder.refused("select a.npz -k 1 --lambda 1 => a.names.txt: expected at least 7 names");
}

#[test]
fn the_embedded_corpus_has_names() {
    let folder = Folder::new();
    let (text, errors) = folder.run("convert @parses -o parses.npz --layout csc");
    assert_eq!((text.as_str(), errors.as_str()), ("", ""));
    assert_eq!(folder.read("parses.names.txt").lines().count(), 19_424);
    let hash = |data: &str| folder.json(&format!("info {data} --json"))["hash"].clone();
    assert_eq!(hash("parses.npz"), hash("@parses"));
    // The columns that it has, not all those of the training data.
    let (text, errors) = folder.run("convert @parses-test -o test.npz");
    assert_eq!((text.as_str(), errors.as_str()), ("", ""));
    assert_eq!(hash("test.npz"), hash("@parses-test"));
}

#[test]
fn indices_count_as_asked() {
    let folder = Folder::new();
    folder.write("zero.svm", "1 0:1 2:0.5\n");
    let convert = |arguments: &str| folder.stdout(&format!("convert {arguments}"));
    assert_eq!(convert("zero.svm -o - --zero-based"), "1 1:1 3:0.5\n");
    convert("zero.svm -o x.features --zero-based");
    assert_eq!(folder.read("x.features"), "0:1 2:0.5\n");
    assert_eq!(folder.read("x.labels"), "1\n");
    assert!(!folder.path("x.qids").exists());
}

#[test]
fn formats_can_be_named() {
    let folder = Folder::new();
    folder.run("convert train.svm -o matrix --to npz");
    folder.run("convert matrix -o text.npz --format npz --to svmlight");
    assert_eq!(folder.read("text.npz"), canonical());
    folder.run("convert train.svm -o triplet --to rlscore");
    folder.run("convert triplet -o again.svm");
    assert_eq!(folder.read("again.svm"), canonical());
    assert_eq!(folder.piped("convert - -o -", gz(TRAIN)), canonical());
}

#[test]
fn rows_of_a_query_are_brought_together() {
    let folder = Folder::new();
    folder.write("mixed.svm", "1 qid:b 1:1\n2 qid:a 1:2\n3 qid:b 1:3\n");
    folder.refused("convert mixed.svm -o a.npz => mixed.svm:3:3");
    assert!(!folder.path("a.npz").exists());
    folder.run("convert mixed.svm -o a.npz --regroup");
    let text = folder.stdout("convert a.npz -o -");
    assert_eq!(text, "1 qid:b 1:1\n3 qid:b 1:3\n2 qid:a 1:2\n");
}

#[test]
fn what_cannot_be_written_is_refused() {
    let folder = Folder::new();
    let before = folder.list();
    for case in [
        "train.svm -o absent/a.npz => cannot write to absent/a.npz",
        "absent.npz -o a.svm => absent.npz: expected a readable file",
    ] {
        folder.refused(&format!("convert {case}"));
    }
    assert_eq!(folder.list(), before);
    folder.write("a.qids.npy", "of other data");
    folder.write("nameless.svm", "1 1:1\n");
    folder.refused("convert nameless.svm -o a.npz => a.qids.npy would be read as part");
    folder.write("a#.svm", "1 1:1\n");
    folder.write("b.features", "0:1\n");
    folder.write("b.labels", "1\n");
    folder.write("b.qids", "a#\n");
    folder.run("convert b.features -o c.npz");
    folder.refused("convert c.npz -o c.svm => the query identifier \"a#\" is no token");
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
    for output in ["few.svm.zst", "few.features", "few.npz"] {
        folder.run(&format!("convert @parses --model model.json -o {output}"));
        let found = steps(&format!("{output} --names few.names.txt -k 8"));
        assert_eq!(found, expected, "{output}");
    }
    // Test data gets the same columns, used or not.
    folder.run("convert @parses-test --model model.json -o test.npz");
    let info = folder.json("info test.npz --json");
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
fn mistakes_with_models_are_told() {
    let folder = Folder::new();
    folder.run("select train.svm -k 1 --lambda 1 -o model.json");
    for case in [
        "train.svm --model absent.json -o a.svm => absent.json",
        "train.svm --model train.svm -o a.svm => train.svm",
        "absent.svm --model model.json -o a.svm => absent.svm",
        "train.svm --model model.json -o absent/a.svm => cannot write to",
    ] {
        folder.refused(&format!("convert {case}"));
    }
}

#[test]
fn other_rankers_get_grades_and_their_queries() {
    let folder = Folder::new();
    folder.run("select @parses -k 5 --lambda 16 -o model.json");
    let project = "convert @parses --model model.json";
    folder.run(&format!("{project} -o x.svm --for xgboost"));
    folder.run(&format!("{project} -o l.svm --for lightgbm"));
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
    for output in ["a.npz", "a.svm.zst", "-", "a.features"] {
        folder.fails(&format!("{project} -o {output} --for xgboost"), 2);
    }
    folder.fails(&format!("{project} -o a.svm --for ranklib"), 2);
}
