//! Why the rows of a query are in their order.

use serde_json::Value;

use crate::support::{Folder, gz};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.stdout("select train.svm -k 3 --lambda 0.5 --names names.txt -o model.json");
    folder
}

/// Sum of the contributions of a row.
fn sum(row: &Value) -> f64 {
    let parts = row["contributions"].as_array().unwrap().iter();
    parts
        .map(|part| part["contribution"].as_f64().unwrap())
        .sum()
}

#[test]
fn rows_come_in_the_order_of_their_scores() {
    let folder = folder();
    let scores = folder.stdout("predict model.json train.svm");
    let scores: Vec<f64> = scores.lines().map(|score| score.parse().unwrap()).collect();
    let document = folder.json("explain model.json train.svm --query c --json");
    assert_eq!(document["schema"], "rankrls.explanation/1");
    assert_eq!(document["rows_of_query"], 3);
    let rows = document["rows"].as_array().unwrap();
    assert!(document["versus"].is_null() && rows[0].get("text").is_none());
    let mean = scores[5..].iter().sum::<f64>() / 3.0;
    assert!((document["reference"].as_f64().unwrap() - mean).abs() < 1e-15);
    let mut before = f64::INFINITY;
    for (row, rank) in rows.iter().zip(1..) {
        let number = usize::try_from(row["row"].as_u64().unwrap()).unwrap();
        let score = row["score"].as_f64().unwrap();
        assert_eq!(
            (row["rank"].as_u64(), score),
            (Some(rank), scores[number - 1])
        );
        assert!(score <= before);
        before = score;
        assert!((sum(row) - (score - mean)).abs() < 1e-14);
        let name = &row["contributions"][0]["name"];
        assert!(name.is_string(), "{name}");
    }
    let text = folder.stdout("explain model.json train.svm --query c");
    assert!(
        text.starts_with("Query c of train.svm, against the mean score of its 3 rows"),
        "{text}"
    );
    assert!(text.contains("\nnumber 3: row "), "{text}");
}

#[test]
fn a_row_is_held_against_another() {
    let folder = folder();
    let versus = folder.json("explain model.json train.svm --query a --row 3 --versus 1 --json");
    let rows = versus["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["row"]), (1, &3.into()));
    assert_eq!(versus["versus"]["row"], 1);
    let difference =
        rows[0]["score"].as_f64().unwrap() - versus["versus"]["score"].as_f64().unwrap();
    assert!((sum(&rows[0]) - difference).abs() < 1e-14);
    assert_eq!(rows[0]["difference"].as_f64().unwrap(), difference);
    // The first of all others.
    let first = folder.json("explain model.json train.svm --query a --versus 1 --json");
    assert_eq!(first["rows"].as_array().unwrap().len(), 1);
    assert_eq!(first["rows"][0]["rank"], 2);
    let text = folder.stdout("explain model.json train.svm --query a --row 3 --versus 1 --top 1");
    assert!(
        text.contains("against row 1, which is number 1 with score"),
        "{text}"
    );
}

#[test]
fn rows_that_were_moved_have_their_numbers_in_the_file() {
    let folder = folder();
    folder.write(
        "split.svm",
        "1 qid:a 1:1\n0 qid:b 2:1\n0 qid:a 3:1\n1 qid:b 1:1\n",
    );
    let explain = "explain model.json split.svm --regroup --query";
    let document = folder.json(&format!("{explain} b --json"));
    let mut rows: Vec<u64> = document["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["row"].as_u64().unwrap())
        .collect();
    rows.sort_unstable();
    assert_eq!(rows, [2, 4]);
    let error = folder.fails(&format!("{explain} b --row 3"), 1);
    assert!(
        error.contains("row 3 is of query a: expected a row of query b, which has 2, 4"),
        "{error}"
    );
}

#[test]
fn the_column_of_queries_is_named_as_elsewhere() {
    let folder = folder();
    folder.write(
        "table.csv",
        "2,4,topic,grade\n1,0,17,1\n0,1,17,0\n1,1,18,0\n0,0,18,1\n",
    );
    let read = "table.csv --label grade --query topic";
    folder.stdout(&format!("select {read} -k 1 --lambda 1 -o named.json"));
    let document = folder.json(&format!("explain named.json {read} 18 --json"));
    assert_eq!(document["query"], "18");
    let error = folder.fails(&format!("explain named.json {read} 19"), 1);
    assert!(
        error.contains("called \"19\"; the first are 17, 18"),
        "{error}"
    );
    // Alone it names the query, in tables, too: the model knows the column.
    let one = "explain named.json table.csv --json";
    let alone = folder.json(&format!("{one} --query 17"));
    assert_eq!(alone["rows_of_query"], 2);
    assert_eq!(alone, folder.json(&format!("{one} 17")));
}

#[test]
fn rows_of_the_same_score_are_marked() {
    let folder = folder();
    folder.write(
        "tied.svm",
        "1 qid:a 1:1\n0 qid:a 6:1\n1 qid:a 1:1\n1 qid:a 1:2\n",
    );
    folder.stdout("select train.svm -k 1 --lambda 0.5 -o one.json");
    let document = folder.json("explain one.json tied.svm a --json");
    let rows = document["rows"].as_array().unwrap();
    let tied: Vec<u64> = rows
        .iter()
        .map(|row| row["tied"].as_u64().unwrap())
        .collect();
    for (row, tied) in rows.iter().zip(&tied) {
        let same = rows.iter().filter(|other| other["score"] == row["score"]);
        assert_eq!(same.count() as u64, tied + 1);
    }
    assert!(tied.contains(&1), "{document}");
    let text = folder.stdout("explain one.json tied.svm a");
    assert_eq!(
        text.matches(", tied with 1 other: row ").count(),
        2,
        "{text}"
    );
    let text = folder.stdout("explain one.json tied.svm a --versus 3");
    assert!(text.contains(", tied with 1 other with score "), "{text}");
}

#[test]
fn mistakes_are_refused() {
    let folder = folder();
    folder.write("one.svm", "1 1:1\n0 2:1\n");
    folder.write("huge.svm", "1 qid:a 1:1.7e308\n0 qid:a 1:-1.7e308\n");
    folder.write("other.svm", "1 qid:a 5:1\n0 qid:a 6:1\n");
    folder.stdout("train train.svm --lambda 1 --kernel gaussian --gamma 0.1 -o kernel.json");
    for (arguments, code, says) in [
        (
            "explain model.json train.svm --query d",
            1,
            "train.svm: none of the 3 queries is called \"d\"; the first are a, b, c",
        ),
        (
            "explain model.json huge.svm --query a --versus 2",
            1,
            "no finite number",
        ),
        (
            "explain model.json one.svm --query 2",
            1,
            "expected a number from 1 to 1 as the query, found \"2\"",
        ),
        (
            "explain model.json train.svm --query a --versus 4",
            1,
            "row 4 is of query b: expected a row of query a, which has 1 to 3",
        ),
        (
            "explain model.json train.svm --query a --row 9",
            1,
            "row 9 is none of the 8 rows",
        ),
        (
            "explain model.json train.svm --query a --row 0",
            2,
            "from 1 on",
        ),
        (
            "explain model.json train.svm --query a --row 2 --versus 2",
            2,
            "name the same row",
        ),
        (
            "explain model.json other.svm --query a",
            1,
            "no row of the data has an entry in any of the 3 features of the model",
        ),
        (
            "explain kernel.json train.svm --query a",
            1,
            "a kernel model has no features to explain an order by",
        ),
        ("explain model.json train.svm", 2, "<QUERY>"),
        (
            "explain model.json train.svm --query a --texts names.txt",
            1,
            "names.txt: expected 8 lines, one for each row of train.svm, found ",
        ),
    ] {
        let error = folder.fails(arguments, code);
        assert!(error.contains(says), "{arguments}: {error}");
    }
    assert!(
        folder
            .stdout("explain model.json one.svm --query 1")
            .contains("number 2")
    );
}

#[test]
fn texts_stand_beside_the_rows() {
    let folder = folder();
    let texts = [1, 2, 3, 4, 5, 6, 7, 8].map(|row| format!("text {row}\n"));
    folder.write("texts.txt.gz", gz(&texts.concat()));
    let explain = "explain model.json train.svm --query c --texts texts.txt.gz";
    let text = folder.stdout(explain);
    for row in 6..9 {
        let (_, below) = text.split_once(&format!(": row {row}, ")).unwrap();
        let line = below.lines().nth(1).unwrap();
        assert_eq!(line, format!("text: text {row}"));
    }
    let text = folder.stdout(&format!("{explain} --versus 7"));
    assert!(text.contains("\nagainst number "), "{text}");
    assert_eq!(text.matches("\ntext: ").count(), 2, "{text}");
    let document = folder.json(&format!("{explain} --versus 7 --json"));
    assert_eq!(document["versus"]["text"], "text 7");
    // Rows that were moved keep their texts.
    folder.write(
        "split.svm",
        "1 qid:a 1:1\n0 qid:b 2:1\n0 qid:a 3:1\n1 qid:b 1:1\n",
    );
    folder.write("four.txt", "one\ntwo\nthree\n<four>\x07");
    let explain = "explain model.json split.svm --regroup --query b --texts four.txt";
    let text = folder.stdout(explain);
    assert!(text.contains("text: <four>\\u{7}\n"), "{text}");
    for row in folder.json(&format!("{explain} --json"))["rows"]
        .as_array()
        .unwrap()
    {
        let expected = if row["row"] == 2 { "two" } else { "<four>\x07" };
        assert_eq!(row["text"], expected);
    }
    folder.write("four.txt", b"one\ntwo\n\xff\nfour\n");
    let error = folder.fails(explain, 1);
    assert!(
        error.contains("four.txt:3:1: expected text in UTF-8"),
        "{error}"
    );
}
