//! Why the rows of a query are in their order.

use std::fmt::Write as _;

use serde_json::Value;

use crate::support::Folder;

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
    assert!(document["versus"].is_null() && document.get("sentence").is_none());
    let rows = document["rows"].as_array().unwrap();
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
    let page = "explain model.json train.svm --query a --html why.html";
    folder.stdout(page);
    let page = folder.read("why.html");
    assert!(
        page.contains("<h1>Query a of train.svm</h1>") && page.contains("word:a"),
        "{page}"
    );
    assert!(page.contains("<svg "));
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
fn mistakes_are_refused() {
    let folder = folder();
    folder.write("one.svm", "1 1:1\n0 2:1\n");
    folder.write("other.svm", "1 qid:a 5:1\n0 qid:a 6:1\n");
    folder.stdout("train train.svm --lambda 1 --kernel gaussian --gamma 0.1 -o kernel.json");
    for (arguments, code, says) in [
        (
            "explain model.json train.svm --query d",
            1,
            "train.svm: none of the 3 queries is called \"d\"; near it are a, b, c",
        ),
        (
            "explain model.json one.svm --query 2",
            1,
            "expected a number from 1 to 1 as --query, found \"2\"",
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
        ("explain model.json train.svm", 2, "--query <ID>"),
        (
            "explain model.json train.svm --query a --corpus names.txt",
            1,
            "expected a manifest",
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

/// A sentence in CoNLL-U whose last word hangs on the word with a number.
fn sentence(id: usize, head: u32) -> String {
    let words = [("Dogs", 2), ("eat", 0), ("pizza", 2), ("daily", head)];
    let mut text = format!("# sent_id = s{id}\n");
    for (number, (form, head)) in (1..).zip(words) {
        writeln!(text, "{number}\t{form}{id}\t_\tX\t_\t_\t{head}\tdep\t_\t_").unwrap();
    }
    text + "\n"
}

#[test]
fn sentences_and_parses_stand_beside_the_rows() {
    let folder = Folder::new();
    let all = |heads: &[u32]| -> String {
        (1..9)
            .flat_map(|id| heads.iter().map(move |&head| sentence(id, head)))
            .collect()
    };
    folder.write("gold.conllu", all(&[2]));
    folder.write("nbest.conllu", all(&[2, 3]));
    folder.stdout("corpus build gold.conllu --candidates nbest.conllu -o c --compression none --test-share 0.5");
    folder.stdout("select c.svm --names c-names.txt -k 2 --lambda 1 -o model.json");
    let test = folder.read("c-test.svm");
    let (_, id) = test.lines().nth(1).unwrap().split_once("qid:").unwrap();
    let id = id.split(' ').next().unwrap();
    let number = &id[1..];
    let document = folder.json(&format!(
        "explain model.json c-test.svm --query {id} --json"
    ));
    let sentence = format!("Dogs{number} eat{number} pizza{number} daily{number}");
    assert_eq!(document["sentence"], sentence);
    let arc = |head: &str| format!("{head}{number} -dep-> daily{number}");
    assert!(
        document["dependencies"]
            .as_str()
            .unwrap()
            .ends_with(&arc("eat"))
    );
    for row in document["rows"].as_array().unwrap() {
        // Rows of a sentence are its candidates in their order.
        let head = if row["row"] == 1 { "eat" } else { "pizza" };
        assert!(
            row["parse"].as_str().unwrap().ends_with(&arc(head)),
            "{row}"
        );
    }
    let text = folder.stdout(&format!(
        "explain model.json c-test.svm --query {id} --versus 2"
    ));
    assert!(
        text.contains(&format!("\nsentence: {sentence}\ntreebank: ")),
        "{text}"
    );
    assert!(
        text.contains("\nagainst number 2: row 2") && text.contains("\nparse: "),
        "{text}"
    );
    // Arcs of new sentences, by the manifest that is named.
    folder.stdout("corpus build gold.conllu --candidates nbest.conllu -o n --columns c-names.txt --arcs --compression none");
    let named = "explain model.json n.svm --query s3 --corpus n-manifest.json --json";
    let document = folder.json(named);
    assert!(
        document["rows"][0]["parse"]
            .as_str()
            .unwrap()
            .contains("Dogs3")
    );
    let error = folder.fails(&named.replace("n-manifest", "c-manifest"), 1);
    assert!(
        error.contains("the corpus has no data file called n.svm"),
        "{error}"
    );
    // A treebank that has changed is named; the one beside the data is left out with a warning.
    folder.write("gold.conllu", all(&[3]));
    let error = folder.fails(named, 1);
    assert!(
        error.contains("expected the text that the corpus was built of"),
        "{error}"
    );
    let explain = format!("explain model.json c-test.svm --query {id}");
    let (text, warning) = folder.run(&explain);
    assert!(
        !text.contains("sentence") && warning.contains("the sentences are left out"),
        "{warning}"
    );
}
