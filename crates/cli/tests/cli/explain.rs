//! Why the rows of a query are in their order.

use crate::support::{Folder, gz, list};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.stdout("select train.svm -k 3 --lambda 0.5 --names names.txt -o model.json");
    folder
}

#[test]
fn rows_that_were_moved_have_their_numbers_in_the_file() {
    let folder = folder();
    folder.write(
        "split.svm",
        "1 qid:a 1:1\n0 qid:b 2:1\n0 qid:a 3:1\n1 qid:b 1:1\n",
    );
    let explain = "explain model.json split.svm";
    let document = folder.json(&format!("{explain} b --json"));
    let mut rows: Vec<u64> = document["rows"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["row"].as_u64().unwrap())
        .collect();
    rows.sort_unstable();
    assert_eq!(rows, [2, 4]);
    folder.refused(&format!(
        "{explain} b --row 3 => row 3 is not of query b, which has 2, 4"
    ));
}

#[test]
fn the_column_of_queries_is_named_as_elsewhere() {
    let folder = folder();
    folder.write(
        "table.csv",
        "second,fourth,topic,grade\n1,0,17,1\n0,1,17,0\n1,1,18,0\n0,0,18,1\n",
    );
    let read = "table.csv --label grade --query topic";
    folder.stdout(&format!("select {read} -k 1 --lambda 1 -o named.json"));
    let document = folder.json(&format!("explain named.json {read} 18 --json"));
    assert_eq!(document["query"], "18");
    folder.refused(&format!(
        "explain named.json {read} 19 => called \"19\"; the first are 17, 18"
    ));
    // The model knows the column.
    let alone = folder.json("explain named.json table.csv 17 --json");
    assert_eq!(alone["rows_of_query"], 2);
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
    let tied = list(&document["rows"])
        .iter()
        .map(|row| row["tied"].as_u64().unwrap());
    assert_eq!(tied.collect::<Vec<_>>(), [0, 1, 1, 0]);
    let text = folder.stdout("explain one.json tied.svm a");
    assert_eq!(
        text.matches(", tied with 1 other: row ").count(),
        2,
        "{text}"
    );
    folder.prints("explain one.json tied.svm a --versus 3 => , tied with 1 other with score ");
}

#[test]
fn mistakes_are_refused() {
    let folder = folder();
    folder.write("one.svm", "1 1:1\n0 2:1\n");
    folder.write("huge.svm", "1 qid:a 1:1e150\n0 qid:a 1:-1e150\n");
    let mut huge = folder.document("model.json");
    huge["steps"][0]["weight"] = serde_json::json!(1e300);
    folder.write("huge.json", huge.to_string());
    folder.stdout("train train.svm --lambda 1 --kernel gaussian:0.1 -o kernel.json");
    folder.refused("explain huge.json huge.svm  a --versus 2 => no finite number");
    folder.refused("explain kernel.json train.svm  a => a kernel model has no features");
    assert!(
        folder
            .stdout("explain model.json one.svm  1")
            .contains("number 2")
    );
}

#[test]
fn texts_stand_beside_the_rows() {
    let folder = folder();
    let texts = [1, 2, 3, 4, 5, 6, 7, 8].map(|row| format!("text {row}\n"));
    folder.write("texts.txt.gz", gz(&texts.concat()));
    let explain = "explain model.json train.svm  c --texts texts.txt.gz";
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
    // Moved rows keep their texts.
    folder.write(
        "split.svm",
        "1 qid:a 1:1\n0 qid:b 2:1\n0 qid:a 3:1\n1 qid:b 1:1\n",
    );
    folder.write("four.txt", "one\ntwo\nthree\n<four>\x07");
    let explain = "explain model.json split.svm  b --texts four.txt";
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
    folder.refused(&format!(
        "{explain} => four.txt:3:1: expected text in UTF-8"
    ));
}

fn groups(svg: &str, class: &str) -> usize {
    roxmltree::Document::parse(svg).unwrap();
    svg.matches(&format!("<g class=\"{class}\">")).count()
}

/// Counts the occurrences of a text in a picture.
fn says(svg: &str, text: &str) -> usize {
    let svg = roxmltree::Document::parse(svg).unwrap();
    let texts = svg.descendants().filter(|node| node.has_tag_name("text"));
    texts.filter(|node| node.text() == Some(text)).count()
}

#[test]
fn rows_to_compare_with_have_names() {
    let folder = folder();
    let explain = "explain model.json train.svm c --json";
    let versus = |name: &str| folder.json(&format!("{explain} --versus {name}"))["versus"].clone();
    assert_eq!(versus("first"), versus("6"));
    let labels = folder.json(explain);
    let labels = list(&labels["rows"]).iter();
    let labels = labels.map(|row| row["label"].as_f64().unwrap());
    let best = labels.fold(f64::MIN, f64::max);
    assert_eq!(versus("best")["label"].as_f64(), Some(best));
    folder.misused(&format!("{explain} --versus last => --versus"));
    folder.misused(&format!("{explain} --row 6 --versus first => the same row"));
    folder.write("equal.svm", "1 qid:a 1:1\n1 qid:a 2:1\n");
    folder.refused("explain model.json equal.svm a --versus best => found equal ones");
}

#[test]
fn parses_are_drawn_with_the_features_that_decide() {
    let folder = folder();
    folder.write("two.svm", "0 qid:a 1:1 2:1\n1 qid:a 1:2 3:1\n");
    folder.write(
        "trees.txt",
        "eat -s-> they; * -r-> eat; eat -o-> a&lt;b; a&lt;b -m-> with; with -o-> 漢字\n\
         eat -s-> they; * -r-> eat; eat -o-> a&lt;b; eat -m-> with; with -o-> 漢字\n",
    );
    let explain = "explain model.json two.svm a --versus first";
    let drawn = |texts: &str| {
        let (text, errors) = folder.run(&format!("{explain} --texts {texts} --plot a.svg"));
        assert_eq!(text, folder.stdout(&format!("{explain} --texts {texts}")));
        (folder.read("a.svg"), errors)
    };
    let (svg, errors) = drawn("trees.txt");
    assert_eq!((groups(&svg, "rk-arc"), errors.as_str()), (10, ""));
    for word in ["they", "eat", "a&lt;b", "with", "漢字"] {
        assert_eq!(says(&svg, word), 2, "{word}");
    }
    // The picture labels differing arcs.
    assert_eq!((says(&svg, "m"), says(&svg, "s")), (2, 0));
    let parts = folder.json(&format!("{explain} --json"));
    let parts = list(&parts["rows"][0]["contributions"]).len();
    assert_eq!(groups(&svg, "rk-bar"), parts);
    // Without trees, there are bars and other texts.
    folder.write("plain.txt", "a document\nanother one\n");
    let (svg, errors) = drawn("plain.txt");
    assert_eq!((groups(&svg, "rk-arc"), errors.as_str()), (0, ""));
    assert_eq!(says(&svg, "another one"), 1);
    folder.write("unsure.txt", "* -r-> a; b -m-> a\n* -r-> a; b -m-> a\n");
    let (svg, errors) = drawn("unsure.txt");
    assert_eq!((groups(&svg, "rk-arc"), groups(&svg, "rk-bar")), (0, parts));
    assert!(errors.contains("no trees: the text of row 1 does not say where its word b is"));
    folder.run("explain model.json two.svm a --plot a.svg");
    assert!(folder.read("a.svg").contains("the mean"));
}

#[test]
fn the_picture_of_readme_is_drawn_by_the_program() {
    let (folder, root) = (Folder::new(), concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    let data = |name: &str| format!("{root}/studies/data/picture{name}");
    let (model, rows, texts) = (data("-model.json"), data(".svm"), data("-texts.txt"));
    folder.run(&format!(
        "explain {model} {rows} letter --versus first --texts {texts} --plot picture.svg"
    ));
    let kept = std::fs::read_to_string(format!("{root}/docs/figures/picture.svg")).unwrap();
    assert_eq!(folder.read("picture.svg"), kept);
}

#[test]
fn a_large_query_has_its_first_rows_unless_more_are_asked_for() {
    let folder = folder();
    let row = |row: u32| format!("{} qid:a 1:{} 3:1\n", row % 3, row % 7 + 1);
    let rows: Vec<String> = (0..40).map(row).collect();
    folder.write("large.svm", rows.concat());
    let explain = "explain model.json large.svm a";
    let (text, first) = (
        folder.stdout(explain),
        folder.json(&format!("{explain} --json")),
    );
    assert_eq!(text.matches("\nnumber ").count(), 10, "{text}");
    assert!(
        text.ends_with("\n30 more rows: --rows 40 has all\n"),
        "{text}"
    );
    let all = folder.json(&format!("{explain} --rows 99 --json"));
    assert_eq!(
        (list(&first["rows"]).len(), list(&all["rows"]).len()),
        (10, 40)
    );
    assert_eq!(list(&first["rows"]), &list(&all["rows"])[..10]);
    let all = folder.stdout(&format!("{explain} --rows 40"));
    assert!(all.starts_with(text.split("\n30 more rows").next().unwrap()));
    folder.misused(&format!(
        "{explain} --rows 3 --row 4 => cannot be used with"
    ));
}

#[test]
fn rows_are_explained_within_the_limit_of_memory() {
    let folder = Folder::empty();
    let row = |row: usize| format!("{} qid:{} 1:{}\n", row % 3, row / 60_000, row % 7);
    folder.write("t.svm", (0..60_010).map(row).collect::<String>());
    folder.run("select t.svm -k 1 --lambda 1 -q -o m.json");
    let explain = "explain m.json t.svm 0 --max-memory 24MiB --rows";
    folder.refused(&format!("{explain} 60000 => ask for fewer by --rows"));
    folder.run(&format!("{explain} 100"));
}
