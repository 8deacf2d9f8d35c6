//! What the command suspects, and that it suspects nothing of sound data.

use std::fmt::Write as _;

use crate::support::Folder;

/// A table of twelve queries of four rows, sorted by grade within them, and a column `name` of `number` of
/// each row; `label` is the name of the labels.
fn table(name: &str, number: impl Fn(usize) -> f64) -> String {
    let mut text = format!("{name},query,grade,a,b\n");
    for row in 0..48 {
        let (query, grade) = (row / 4, 3 - row % 4);
        let (a, b) = ((row * 7) % 5, (row * 11) % 13);
        let number = number(row);
        writeln!(text, "{number},q{query},{grade},{a},{b}.5").unwrap();
    }
    text
}

/// The number of a row.
type Number = fn(usize) -> f64;

const TABLE: &str = "--label grade --query query -k 1 --lambda 1";

#[test]
fn row_numbers_are_told_by_any_name_in_any_order() {
    let folder = Folder::empty();
    let orders: [Number; 5] = [
        |row| row as f64,
        |row| 1.0 + row as f64,
        |row| 47.0 - row as f64,
        |row| ((row * 29 + 5) % 48) as f64,
        |row| (row as f64 - 23.5) / 13.9,
    ];
    for name in ["index", "X", "level_0", "row_id", "features"] {
        for order in orders {
            folder.write("t.csv", table(name, order));
            let told = format!("warning: column {name:?} counts the rows");
            let (_, errors) = folder.run(&format!("select t.csv {TABLE}"));
            assert!(errors.starts_with(&told), "{errors}");
            let remedy = format!("leave it out, of a table by --ignore {name:?}\n");
            assert!(errors.contains(&remedy), "{errors}");
        }
    }
    // Names that pandas gives to an index are refused.
    folder.write("t.csv", table("Unnamed: 0.1", |row| row as f64));
    folder.refused(&format!(
        "select t.csv {TABLE} => found \"Unnamed: 0.1\", an index (leave it out by --ignore"
    ));
    folder.write("t.csv", table("features", |row| row as f64));
    folder.warns(&format!(
        "train t.csv {} => column \"features\"",
        "--label grade --query query --lambda 1"
    ));
    folder.warns("info t.csv --label grade --query query => column \"features\" counts");
    let (_, errors) = folder.run(&format!("select t.csv {TABLE} --ignore features"));
    assert_eq!(errors, "");
    // Identifiers with gaps, as the index of a part of a table has.
    folder.write(
        "t.csv",
        table("doc", |row| (row * 29 % 48 + row * 29 % 48 / 5) as f64),
    );
    folder.warns(&format!(
        "select t.csv {TABLE} => column \"doc\" has another whole number in each row"
    ));
    // Files without names.
    let rows = (0..20).map(|row| format!("{} qid:{} 1:{} 7:{row}\n", row % 3, row / 4, row % 5));
    folder.write("t.svm", rows.collect::<String>());
    folder.warns("select t.svm -k 1 --lambda 1 => column 7 counts the rows");
}

#[test]
fn identifiers_and_places_are_told_by_column() {
    let folder = Folder::empty();
    let places = "counts the rows of each query, and these are in the order of their labels";
    let identifiers = "has another whole number in each row";
    let suspects: [(&str, Number, &str); 4] = [
        ("rank", |row| (row % 4) as f64, places),
        ("rank", |row| (4 - row % 4) as f64, places),
        (
            "seen",
            |row| 1.6e9 + ((row * 29 % 48).pow(2) * 100_003) as f64,
            identifiers,
        ),
        (
            "docId",
            |row| ((row * 29 % 48).pow(2) * 7) as f64,
            identifiers,
        ),
    ];
    for (name, number, told) in suspects {
        folder.write("t.csv", table(name, number));
        folder.warns(&format!("select t.csv {TABLE} => column {name:?} {told}"));
        folder.warns(&format!("select t.csv {TABLE} => --ignore {name:?}"));
        let (_, errors) = folder.run(&format!("select t.csv {TABLE} --ignore {name}"));
        assert_eq!(errors, "");
    }
    folder.write(
        "t.csv",
        table("length", |row| ((row * 29 % 48).pow(2) * 7) as f64),
    );
    assert_eq!(folder.run(&format!("select t.csv {TABLE}")).1, "");
}

#[test]
fn warnings_are_in_documents() {
    let folder = Folder::empty();
    folder.write("t.csv", table("index", |row| row as f64));
    let document = folder.json(&format!("select t.csv {TABLE} --json"));
    let warnings = document["warnings"].as_array().unwrap();
    assert_eq!(warnings.len(), 1);
    assert!(
        warnings[0]
            .as_str()
            .unwrap()
            .starts_with("column \"index\" counts")
    );
    let quiet = folder.json(&format!("select t.csv {TABLE} --json -q"));
    assert_eq!(quiet["warnings"], document["warnings"]);
    let sound = folder.json(&format!("select t.csv {TABLE} --ignore index --json"));
    assert_eq!(sound["warnings"], serde_json::json!([]));
}

#[test]
fn grades_that_are_counts_are_told() {
    let folder = Folder::empty();
    let rows = [2000, 5, 0, 1500, 0, 3, 40, 3, 0].iter().enumerate();
    let rows = rows.map(|(row, label)| format!("{label} qid:{} 1:{row} 2:{}\n", row / 3, row % 2));
    folder.write("t.svm", rows.collect::<String>());
    folder.write("scores.txt", "2\n1\n0\n1\n0\n2\n3\n1\n2\n");
    let evaluate = "evaluate t.svm --scores scores.txt";
    let told = "labels go up to 2000, and their gain in ndcg@10 is 2^label - 1";
    folder.warns(&format!("{evaluate} => {told}"));
    folder.warns(&format!(
        "{evaluate} --metrics ndcg@10 => if they are counts, take --gain linear"
    ));
    folder.warns(&format!(
        "{evaluate} --metrics err => gain in err is 2^label - 1"
    ));
    folder.warns(
        "select t.svm -k 1 --lambda 1 --criterion ndcg@10 => judge by map, p@K, mrr, cindex",
    );
    folder.warns("train t.svm --lambda 1,4 --choose-by ndcg@3 => judge by map");
    for sound in ["--metrics ndcg@10 --gain linear", "--metrics map,cindex"] {
        assert_eq!(folder.run(&format!("{evaluate} {sound}")).1, "");
    }
}

#[test]
fn folds_that_cut_queries_are_told() {
    let folder = Folder::empty();
    let rows =
        (0..24).map(|row| format!("{} qid:{} 1:{} 2:{}\n", row % 3, row / 4, row % 5, row % 7));
    folder.write("t.svm", rows.collect::<String>());
    let folds = |fold: fn(usize) -> usize| {
        let lines: Vec<String> = (0..24).map(|row| fold(row).to_string()).collect();
        lines.join("\n")
    };
    folder.write("cut.txt", folds(|row| row / 6));
    folder.write("whole.txt", folds(|row| row / 8));
    let train = "train t.svm --lambda 1 --holdout";
    folder.warns(&format!(
        "{train} folds:cut.txt => the folds cut 2 queries, the first of them \"1\""
    ));
    assert_eq!(folder.run(&format!("{train} folds:whole.txt")).1, "");
}

#[test]
fn a_first_row_for_a_header_is_told() {
    let folder = Folder::empty();
    let rows = (0..12).map(|row| format!("{},{},0.{row},1.{}\n", row % 3, row / 3, row * 5 % 7));
    let rows: String = rows.collect();
    folder.write("t.csv", format!("2,7,0.25,1.5\n{rows}"));
    folder
        .warns("select t.csv --label 2 --query 7 -k 1 --lambda 1 => Then write a header before it");
    // As pandas names the columns of an array.
    folder.write("t.csv", format!("0,1,2,3\n{rows}"));
    assert_eq!(
        folder
            .run("select t.csv --label 0 --query 1 -k 1 --lambda 1")
            .1,
        ""
    );
}

#[test]
fn sizes_for_ids_are_told() {
    let folder = Folder::empty();
    let sizes = [3, 5, 4, 6, 2, 7];
    let rows = sizes
        .iter()
        .flat_map(|&size| (0..size).map(move |row| (size, row)));
    let rows =
        rows.map(|(size, row)| format!("{} qid:{size} 1:{} 2:{}\n", row % 3, row * 3 % 5, row % 2));
    folder.write("t.svm", rows.collect::<String>());
    folder.warns("select t.svm -k 1 --lambda 1 => are these the sizes of queries?");
}

#[test]
fn data_of_one_query_need_queries_and_no_lambda() {
    let folder = Folder::empty();
    folder.write("t.csv", table("c", |row| (row % 7) as f64));
    let one = "--label grade --ignore query -k 1";
    for lambda in ["", "--lambda 1"] {
        let errors = folder.fails(&format!("select t.csv {one} {lambda}"), 1);
        assert!(errors.contains("the data are one query"), "{errors}");
        assert!(errors.contains("for tables by --query COLUMN"), "{errors}");
        assert!(!errors.contains("give one with --lambda"), "{errors}");
    }
    let rows = (0..6).map(|row| format!("{row} qid:{row} 1:{}\n", row * 3 % 7));
    folder.write("t.svm", rows.collect::<String>());
    folder.refused("select t.svm -k 1 --lambda 1 => each of the 6 queries has a single row");
    folder.refused("train t.svm --lambda 1 => each of the 6 queries has a single row");
}

#[test]
fn sound_data_get_no_warning() {
    let folder = Folder::empty();
    for run in [
        "select @parses -k 3 --lambda 16 --test @parses-test",
        "train @parses --lambda 16",
        "info @parses",
    ] {
        assert_eq!(folder.run(run).1, "", "{run}");
    }
    let Some(corpora) = std::env::var_os("RANKRLS_CORPORA") else {
        eprintln!("NOT TESTED: RANKRLS_CORPORA names no folder");
        return;
    };
    let corpora = std::path::Path::new(&corpora);
    for data in [
        "letor-mq2008-fold3/train.txt.zst",
        "letor-mq2008-fold3/test.txt.zst",
        "ewt-parse/train_2000.svm.zst",
    ] {
        let path = corpora.join(data);
        let run = format!("info {}", path.display());
        assert_eq!(folder.run(&run).1, "", "{run}");
    }
}
