//! Tables with a header.

use std::fmt::Write as _;
use std::fs;

use crate::support::{Folder, NAMES, TEST, TRAIN, gz, list};

const NAMED: &str = "--label grade --query topic";

/// svmlight data as a table of the columns 1 to 7, in the order of `columns`.
fn table(svmlight: &str, columns: &[usize], separator: &str) -> String {
    let names: Vec<&str> = NAMES.lines().collect();
    let name = |&column: &usize| {
        if column == 3 {
            "third"
        } else {
            names[column - 1]
        }
    };
    let titles: Vec<&str> = columns.iter().map(name).collect();
    let mut text = format!(
        "grade{separator}{}{separator}topic\n",
        titles.join(separator)
    );
    for line in svmlight.lines().filter(|line| !line.starts_with('#')) {
        let mut tokens = line.split(" #").next().unwrap().split(' ');
        let (label, query) = (tokens.next().unwrap(), tokens.next().unwrap());
        let values: Vec<(&str, &str)> = tokens.map(|pair| pair.split_once(':').unwrap()).collect();
        text.push_str(label);
        for column in columns.iter().map(ToString::to_string) {
            let value = values.iter().find(|(index, _)| *index == column);
            write!(
                text,
                "{separator}{}",
                value.map_or("0", |(_, value)| *value)
            )
            .unwrap();
        }
        writeln!(text, "{separator}{}", query.strip_prefix("qid:").unwrap()).unwrap();
    }
    text
}

/// A folder with `train.csv`, `train.tsv`, `test.csv`, and their names.
fn folder() -> Folder {
    let folder = Folder::new();
    let all = [1, 2, 3, 4, 5, 6, 7];
    folder.write("train.csv", table(TRAIN, &all, ","));
    folder.write("train.tsv.gz", gz(&table(TRAIN, &all, "\t")));
    folder.write("test.csv", table(TEST, &[7, 5, 6, 3, 4, 1, 2], ","));
    folder.write("named.txt", NAMES.replace("\n\n", "\nthird\n"));
    folder
}

#[test]
fn a_table_names_its_own_columns_once() {
    let folder = Folder::new();
    folder.write(
        "t.csv",
        "label,qid,a,b\n1,x,1,2\n0,x,2,1\n1,y,0,2\n0,y,1,3\n",
    );
    folder.write(
        "t.svm",
        "1 qid:x 1:1 2:2\n0 qid:x 1:2 2:1\n1 qid:y 2:2\n0 qid:y 1:1 2:3\n",
    );
    folder.write("own.txt", "a\nb\n");
    let table = "t.csv --label label --query qid";
    folder.stdout(&format!("select {table} -k 2 --lambda 1 -o table.json"));
    for run in [
        format!("select {table} -k 1 --lambda 1 --names own.txt"),
        format!("tune {table} -k 1 --names own.txt"),
        format!("train {table} --lambda 1 --names own.txt"),
        format!("info {table} --names own.txt"),
        format!("convert {table} -o - --names own.txt"),
        "predict table.json t.csv --names own.txt".to_owned(),
        "evaluate t.csv --model table.json --names own.txt".to_owned(),
    ] {
        folder.misused(&format!(
            "{run} => found the table t.csv, which names its own"
        ));
    }
    for (names, found) in [
        ("a\na\n", "\"a\" for two features"),
        (
            "a\n\n",
            "a feature without one in the model or the training data",
        ),
        (
            "a\nlabel\n",
            "\"label\" for a feature and for labels or queries",
        ),
        (
            "qid\na\n",
            "\"qid\" for a feature and for labels or queries",
        ),
    ] {
        folder.write("names.txt", names);
        let select = "select t.svm --names names.txt -k 2 --lambda 1";
        folder.stdout(&format!("{select} -o model.json"));
        folder.refused(&format!(
            "evaluate {table} --model model.json => found {found}"
        ));
        folder.refused(&format!("{select} -q --test {table} => found {found}"));
    }
    folder.stdout("select t.svm -k 2 --lambda 1 -o model.json");
    folder.refused("predict model.json t.csv => expected names of all features");
}

#[test]
fn a_table_is_the_data_that_it_shows() {
    let folder = folder();
    let select = |data: &str| {
        let document = folder.json(&format!(
            "select {data} -k 4 --lambda 1 --json -o model.json"
        ));
        (document["steps"].clone(), document["weights"].clone())
    };
    let expected = select("train.svm --names named.txt --test test.svm");
    for data in ["train.csv", "train.tsv.gz"] {
        assert_eq!(
            select(&format!("{data} {NAMED} --test test.csv")),
            expected,
            "{data}"
        );
    }
    let hash = |arguments: &str| folder.json(&format!("info {arguments} --json"))["hash"].clone();
    assert_eq!(hash(&format!("train.csv {NAMED}")), hash("train.svm"));
    folder.run(&format!("convert train.csv {NAMED} -o out.svm"));
    assert_eq!(hash("out.svm"), hash("train.svm"));
    assert_eq!(folder.read("out.names.txt"), folder.read("named.txt"));
    folder.run(&format!(
        "compare train.csv {NAMED} --test test.csv -k 1 --lambda 1 --strategy dense"
    ));
    folder.run(&format!(
        "tune train.csv {NAMED} -k 2 --validation test.csv"
    ));
    folder.run(&format!("train train.csv {NAMED} --lambda 1"));
    folder.misused(&format!(
        "convert train.csv {NAMED} -o out.csv => cannot write out.csv: tables are only read"
    ));
}

#[test]
fn columns_are_matched_by_name_wherever_they_stand() {
    let folder = folder();
    folder.run("select train.svm --names named.txt -k 3 --lambda 1 -o model.json");
    let expected = folder.stdout("predict model.json test.svm -q");
    assert_eq!(folder.stdout("predict model.json test.csv"), expected);
    let cut = |text: &str| -> String {
        let rest = text
            .lines()
            .map(|line| line.split_once(',').unwrap().1.to_owned() + "\n");
        rest.collect()
    };
    // Scores need no labels.
    folder.write("bare.csv", cut(&folder.read("test.csv")));
    assert_eq!(folder.stdout("predict model.json bare.csv"), expected);
    let bare = folder.read("bare.csv");
    let piped = folder.piped("predict model.json - --format csv", bare);
    assert_eq!(piped, expected);
    let evaluate = |data: &str| {
        folder.json(&format!("evaluate {data} --model model.json --json -q"))["metrics"].clone()
    };
    assert_eq!(evaluate(&format!("test.csv {NAMED}")), evaluate("test.svm"));
    folder.run(&format!(
        "convert test.csv {NAMED} --model model.json -o few.svm"
    ));
    assert_eq!(evaluate(&format!("test.csv {NAMED}")), evaluate("test.svm"));
    folder.refused("evaluate bare.csv --model model.json => by --label)");
    folder.write("short.csv", "grade,word b\n1,2\n");
    folder.refused("predict model.json short.csv => expected a column \"word:a\"");
    folder.run("select train.svm -k 1 --lambda 1 -o nameless.json");
    folder.refused("predict nameless.json test.csv => expected names of all features");
}

#[test]
fn a_table_elsewhere_and_files_of_other_kinds_have_a_remedy() {
    let folder = folder();
    folder.write("table.txt", folder.read("train.csv"));
    folder.write("semicolons.csv", folder.read("train.csv").replace(',', ";"));
    folder.write(
        "sep.csv",
        format!("sep=;\r\n{}", folder.read("train.csv").replace(',', ";")),
    );
    folder.write(
        "lfs.csv",
        "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n",
    );
    folder.write(
        "junk.csv.gz",
        [gz(&folder.read("train.csv")), b"no gzip data".to_vec()].concat(),
    );
    let hash = |data: &str| folder.json(&format!("info {data} {NAMED} --json"))["hash"].clone();
    for data in ["sep.csv", "table.txt --format csv"] {
        assert_eq!(hash(data), hash("train.csv"), "{data}");
    }
    folder.misused(&format!(
        "info table.txt {NAMED} => if it is a table, say so by --format"
    ));
    for (data, message) in [
        (
            "semicolons.csv",
            "expected a column \"grade\" of labels, found",
        ),
        (
            "lfs.csv",
            "found a pointer of Git LFS in place of the file (fetch the file by git lfs pull)",
        ),
        (
            "junk.csv.gz",
            "expected intact gzip data, found invalid gzip header",
        ),
    ] {
        folder.refused(&format!("info {data} {NAMED} => {message}"));
        folder.refused(&format!("info {data} {NAMED} --missing mean => {message}"));
    }
}

#[test]
fn the_kind_of_a_file_comes_before_options_without_effect() {
    let folder = Folder::new();
    let wide: Vec<u8> = "\u{feff}query,grade"
        .encode_utf16()
        .flat_map(u16::to_le_bytes)
        .collect();
    for (name, bytes, kind) in [
        ("a.parquet", &b"PAR1\x15\x04\0\xff"[..], "Parquet data"),
        ("a.txt", &wide, "UTF-16 text"),
    ] {
        folder.write(name, bytes);
        let kind = format!(
            "{name}: expected text in UTF-8, plain or compressed by gzip or zstd, found {kind}"
        );
        for options in [NAMED, "--label x", "--query x", "--ignore x"] {
            folder.refused(&format!("info {name} {options} => {kind}"));
        }
        fs::copy(folder.path(name), folder.path("a.csv")).unwrap();
        folder.refused("info a.csv --zero-based => a.csv: expected text in UTF-8");
    }
}

/// A folder with `holes.csv`, the training data with missing values and a column that is not a feature.
/// `holes-test.csv` is like it.
fn folder_with_holes() -> Folder {
    let folder = folder();
    for (file, holes, values) in [
        ("train.csv", "holes.csv", [",0.3,", ",2,"]),
        ("test.csv", "holes-test.csv", [",0.5,", ",1,"]),
    ] {
        let mut rows = String::new();
        for (number, line) in folder.read(file).lines().enumerate() {
            let word = [",NA,", ",,", ",nan,"][number % 3];
            let line = values
                .iter()
                .fold(line.to_owned(), |line, value| line.replacen(value, word, 1));
            let note = if number == 0 {
                "note"
            } else {
                "\"red, or blue\""
            };
            writeln!(rows, "{line},{note}").unwrap();
        }
        assert!(
            [",NA,", ",,", ",nan,"]
                .iter()
                .any(|word| rows.contains(word))
        );
        folder.write(holes, rows);
    }
    folder
}

const READ: &str = "--label grade --query topic --ignore note --missing mean";

#[test]
fn a_model_remembers_what_it_was_trained_on() {
    let folder = folder_with_holes();
    for train in [
        "select holes.csv -k 5 --lambda 1",
        "train holes.csv --lambda 1",
        "tune holes.csv -k 5",
    ] {
        folder.run(&format!("{train} {READ} -o model.json"));
        let model = folder.json("inspect model.json --json");
        let expected = serde_json::json!({
            "label": "grade", "query": "topic", "missing": "mean", "ignore": ["note"]
        });
        assert_eq!(model["table"], expected);
        let evaluate = |flags: &str| {
            let data = "evaluate holes-test.csv --model model.json --json";
            folder.json(&format!("{data} {flags}"))
        };
        let expected = evaluate("--label grade --query topic --missing mean");
        assert_eq!(expected["queries"], 2);
        for flags in ["", "--label grade", "--query topic", "--missing mean"] {
            assert_eq!(evaluate(flags), expected, "{flags}");
        }
        let scores = folder.stdout("predict model.json holes-test.csv");
        let given = "predict model.json holes-test.csv --query topic --missing mean";
        assert_eq!(folder.stdout(given), scores);
        let explained = folder.json("explain model.json holes-test.csv x --json");
        assert_eq!(explained["rows_of_query"], 2);
        let mut rows = list(&explained["rows"]).iter();
        assert!(rows.any(|row| row["label"] != 0.0), "{explained}");
    }
    let error = folder.fails("predict model.json holes-test.csv --missing 3.5", 2);
    let expected = "--missing 3.5: the model was trained with --missing mean";
    assert!(error.contains(expected), "{error}");
    // Means are taken within queries.
    let bare = folder.read("holes-test.csv").replacen("topic", "theme", 1);
    folder.write("bare.csv", bare);
    let error = folder.fails("predict model.json bare.csv", 1);
    let expected = "expected a column \"topic\" of queries";
    assert!(error.contains(expected), "{error}");
    folder.run("predict model.json bare.csv --query theme");
    folder.run("predict model.json bare.csv --rows-per-query 5");
}

#[test]
fn models_of_other_labels_are_not_held_against_each_other() {
    let folder = folder();
    let other = folder.read("train.csv").replacen("grade", "rating", 1);
    folder.write("other.csv", other);
    folder.run(&format!("train train.csv {NAMED} --lambda 1 -o a.json"));
    folder.run("train other.csv --label rating --query topic --lambda 1 -o b.json");
    let both = "evaluate test.csv --model a.json --model b.json";
    folder.misused(&format!("{both} => by --label and --query"));
    folder.run(&format!("{both} --label grade"));
}

#[test]
fn means_are_the_same_by_every_way() {
    let folder = folder_with_holes();
    let select = |data: &str| folder.json(&format!("select {data} -k 5 --lambda 1 --json"));
    let whole = select(&format!("holes.csv {READ}"));
    folder.run(&format!("convert holes.csv {READ} -o filled.svm"));
    assert_eq!(select("filled.svm")["weights"], whole["weights"]);
}
