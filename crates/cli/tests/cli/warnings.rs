//! Warnings of the command, and sound data without warnings.

use std::fmt::Write as _;

use crate::support::Folder;

/// A table of twelve queries of four rows, sorted by grade within them. The column `name` has `number` of each row.
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

const TABLE: &str = "--label grade --query query -k 1 --lambda 1";

#[test]
fn row_numbers_are_told_by_every_command_that_learns() {
    let folder = Folder::empty();
    let read = "--label grade --query query";
    folder.write("t.csv", table("features", |row| row as f64));
    let (_, errors) = folder.run(&format!("select t.csv {TABLE}"));
    assert!(
        errors.starts_with("warning: column \"features\" counts the rows"),
        "{errors}"
    );
    let remedy = "leave it out, of a table by --ignore=\"features\"\n";
    assert!(errors.contains(remedy), "{errors}");
    for run in [
        "select t.csv -k 1",
        "tune t.csv -k 1",
        "train t.csv --lambda 1",
        "info t.csv",
    ] {
        folder.warns(&format!("{run} {read} => column \"features\" counts"));
    }
    let (_, errors) = folder.run(&format!("select t.csv {TABLE} --ignore=features"));
    assert_eq!(errors, "");
    // Files without names.
    let rows = (0..20).map(|row| format!("{} qid:{} 1:{} 7:{row}\n", row % 3, row / 4, row % 5));
    folder.write("t.svm", rows.collect::<String>());
    folder.warns("select t.svm -k 1 --lambda 1 => column 7 counts the rows");
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
    folder.warns(
        "select t.svm -k 1 --lambda 1 --criterion ndcg@10 => if they are counts, take ndcg@10:linear",
    );
    folder.warns("train t.svm --lambda 1,4 --choose-by ndcg@3 => take ndcg@3:linear");
    assert_eq!(folder.run(&format!("{evaluate} --metrics map")).1, "");
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
fn units_that_differ_a_lot_are_told_where_nothing_scales() {
    let folder = Folder::empty();
    let rows = |size: f64| -> String {
        let row = |row: usize| {
            let (grade, query, a) = (row * 5 % 7 % 4, row / 4, row * 11 % 13);
            format!(
                "{grade} qid:{query} 1:{a} 2:{:e} 3:{}\n",
                size * (row * 3 % 11) as f64,
                row % 2
            )
        };
        (0..40).map(row).collect()
    };
    let told = "warning: deviations within queries differ by a factor of";
    folder.write("t.svm", rows(1e9));
    for run in [
        "select t.svm -k 1 --lambda 1",
        "select t.svm -k 1 --scale none",
        "tune t.svm -k 1 --lambda 1",
        "compare t.svm -k 1 --lambda 1",
        "train t.svm --lambda 1",
    ] {
        folder.warns(&format!("{run} => {told}"));
        let (run, _) = run.split_once(" --scale").unwrap_or((run, ""));
        let (_, errors) = folder.run(&format!("{run} --scale sd"));
        assert!(!errors.contains("deviations"), "{run}: {errors}");
    }
    // Folds have compared scales.
    for run in ["select t.svm -k 1", "tune t.svm -k 1"] {
        let (_, errors) = folder.run(run);
        assert!(!errors.contains("deviations"), "{run}: {errors}");
    }
    folder.warns(&format!("info t.svm => {told}"));
    folder.write("t.svm", rows(1e4));
    assert_eq!(folder.run("info t.svm").1, "");
}

#[test]
fn pairs_of_two_queries_and_against_the_labels_are_told() {
    let folder = Folder::new();
    let train = "train train.svm --lambda 1 --objective pairs --pairs p.txt";
    // Rows 1 to 3 are one query, 4 and 5 another, 6 to 8 the last.
    for (pairs, told) in [
        (
            "1 2\n# x\n\n3 4\n",
            "1 of 2 preferences join rows of two queries, the first on line 4",
        ),
        (
            "2 1\n3 1\n1 2\n",
            "2 of 3 preferences prefer the row with the smaller label, the first on line 1",
        ),
    ] {
        folder.write("p.txt", pairs);
        folder.warns(&format!("{train} => {told}"));
    }
    for sound in ["1 2\n2 3\n4 5\n", "2 1\n1 3\n6 8 0.5 2\n"] {
        folder.write("p.txt", sound);
        assert_eq!(folder.run(train).1, "", "{sound}");
    }
    folder.write("p.txt", "1 2\n# x\n3  3 2\n");
    folder.refused(&format!(
        "{train} => p.txt:3:4: expected another row than 3, found \"3\""
    ));
}

#[test]
fn magnitudes_that_may_be_weights_are_told() {
    let folder = Folder::new();
    let train = "train train.svm --lambda 1 --objective pairs --pairs p.txt";
    let told = "p.txt: numbers in the third column are magnitudes";
    for pairs in ["1 2 0.5\n2 3 1.25\n", "1\t2\t3\n2\t3\n", "1 2 0.5 1\n2 3\n"] {
        folder.write("p.txt", pairs);
        folder.warns(&format!("{train} => {told}"));
    }
    for sound in [
        "1 2\n2 3\n",
        "1 2 1\n2 3 1\n",
        "1 2 1 0.5\n2 3 1 2\n",
        "1 2 2 0.5\n",
    ] {
        folder.write("p.txt", sound);
        assert_eq!(folder.run(train).1, "", "{sound}");
    }
}

/// A column with much larger values leaves the other columns no lambda of a grid.
#[test]
fn columns_beside_which_others_hardly_count_are_named_at_the_edge() {
    let folder = Folder::empty();
    let salary = |row: usize| 200_000.0 + ((row * 29 + row / 7 * 13) % 48 / 2 * 7919) as f64;
    folder.write("t.csv", table("salary", salary));
    let read = "--label grade --query query";
    let told = "of the grid";
    for command in [
        format!("train t.csv {read} --lambda 1e6,1e8"),
        format!("tune t.csv {read} -k 2 --lambda 1e6,1e8"),
    ] {
        let (_, errors) = folder.run(&command);
        let edges = errors.lines().filter(|line| line.contains(told));
        let named = |line: &&str| {
            line.contains("; beside column \"salary\", whose values are far larger, other columns hardly count: --scale=sd makes them alike")
        };
        let (named, unnamed): (Vec<&str>, _) = edges.partition(named);
        assert!(
            unnamed.is_empty() && !named.is_empty(),
            "{command}: {errors}"
        );
        let (_, errors) = folder.run(&format!("{command} --scale sd"));
        assert!(!errors.contains("beside column"), "{command}: {errors}");
    }
    let (_, errors) = folder.run(&format!("train t.csv {read} --lambda 1,4 --ignore salary"));
    assert!(
        errors.contains(told) && !errors.contains("beside"),
        "{errors}"
    );
}

/// Columns in different units cause one warning, and none about the lambda at an edge, not even a teacher's.
#[test]
fn units_are_the_one_cause_that_is_told() {
    let folder = Folder::empty();
    let rows = |large: f64| -> String {
        let row = |row: usize| {
            let [a, b, c, label] = [7, 11, 13, 5].map(|step| (row * row * step + row) % 17);
            format!(
                "{} qid:{} 1:{a} 2:{} 3:{c}\n",
                label % 3,
                row / 6,
                large * (b + 1) as f64
            )
        };
        (0..240).map(row).collect()
    };
    folder.write("units.svm", rows(1e8));
    for command in [
        "select units.svm --strategy distil -k 2",
        "tune units.svm --strategy distil -k 2",
        "train units.svm",
    ] {
        let (_, errors) = folder.run(&format!("{command} --scale none"));
        let told: Vec<&str> = errors
            .lines()
            .filter(|line| line.contains("warning: "))
            .collect();
        assert_eq!(told.len(), 1, "{command}: {errors}");
        let units = "warning: deviations within queries differ by a factor of 1e8";
        assert!(told[0].starts_with(units), "{command}: {errors}");
        assert_eq!(
            folder
                .run(&format!("{command} --scale sd"))
                .1
                .matches("units")
                .count(),
            0
        );
    }
    // A large column in usual units is the cause at the edge.
    folder.write("units.svm", rows(1e4));
    let (_, errors) = folder.run("select units.svm --strategy distil --scale none -k 2 --lambda 1");
    assert!(!errors.contains("another may teach better"), "{errors}");
}

#[test]
fn names_of_columns_and_identifiers_that_became_one_are_told() {
    let folder = Folder::new();
    folder.write("names.txt", "a\nb\na\nd\ne\nf\ng\n");
    folder.warns("info train.svm --names names.txt => columns 1 and 3 are both called \"a\"");
    folder.write(
        "t.csv",
        "sep=;\ngrade;query;x\n1;1,23457E+11;2\n0;1,23457E+11;1\n",
    );
    folder.warns("info t.csv --label grade --query query => \"1,23457E+11\" on line 3 is a number");
    folder.write("t.svm", "1 qid:1e3 1:1\n0 qid:1e3 2:1\n0 qid:2.0\n");
    assert_eq!(folder.run("info t.svm").1, "");
}

#[test]
fn data_of_one_query_need_queries_and_no_lambda() {
    let folder = Folder::empty();
    folder.write("t.csv", table("c", |row| (row % 7) as f64));
    let one = "--label grade --ignore query -k 1";
    for lambda in ["", "--lambda 1"] {
        let errors = folder.fails(&format!("select t.csv {one} {lambda}"), 1);
        assert!(errors.contains("the data are one query"), "{errors}");
        assert!(errors.contains("for tables by --query"), "{errors}");
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

/// A table with columns of shops and libraries, and these labels.
fn shop(seed: usize, labels: &[&str]) -> String {
    let mut text = "query,grade,price,bytes,sales_rank,h_index,year,age_days,clicks,rating,brand_id,position,zip,share\n"
        .to_owned();
    let rows = 96;
    let drawn =
        |row: usize, step: usize| (row * row * step + row * (seed + 7) + step * seed) % 1009;
    for row in 0..rows {
        let [a, b, c, d, e] = [31, 57, 83, 101, 131].map(|step| drawn(row, step));
        let rank = 1 + (row * 35 + seed) % rows;
        let cells = [
            format!("q{}", row / 8),
            labels[(a + b) % labels.len()].to_owned(),
            format!("{}.{:02}", 5 + a * 3, b % 100),
            (1000 + a * b * 5).to_string(),
            rank.to_string(),
            (c % 60).to_string(),
            (1950 + d % 75).to_string(),
            (e * 9).to_string(),
            (b % 40).to_string(),
            ["-1", "0", "1"][c % 3].to_owned(),
            (100_000 + d % 23).to_string(),
            (1 + row % 8).to_string(),
            (10_000 + a * 83).to_string(),
            format!("0.{:03}", e % 1000),
        ];
        text += &(cells.join(",") + "\n");
    }
    text
}

/// Prices, sizes, ranks, years, ages, counts, ratings from -1 to 1, places and repeating identifiers are features.
#[test]
fn sound_tables_get_no_warning() {
    let folder = Folder::empty();
    let read = "--label grade --query query";
    for seed in 0..6 {
        let labels: [&[&str]; 4] = [
            &["0", "1", "2", "3", "4"],
            &["-1", "0", "1"],
            &["0", "0", "1"],
            &["1", "2", "3", "4", "5"],
        ];
        for (number, label) in labels.into_iter().enumerate() {
            folder.write("t.csv", shop(seed, label));
            assert_eq!(folder.run(&format!("info t.csv {read}")).1, "");
            if seed > 0 {
                continue;
            }
            folder.write("test.csv", shop(40, label));
            for command in [
                format!("select t.csv {read} -k 3 --lambda 1 --scale sd -o m.json"),
                format!("train t.csv {read} --lambda 1 --scale sd"),
                "evaluate test.csv --model m.json --metrics cindex".to_owned(),
                "predict m.json test.csv".to_owned(),
                format!("convert t.csv {read} -o t.svm"),
                "info t.svm --names t.names.txt".to_owned(),
            ] {
                assert_eq!(
                    folder.run(&command).1,
                    "",
                    "{command}, seed {seed}, labels {number}"
                );
            }
        }
    }
}
