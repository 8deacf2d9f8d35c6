use serde_json::{Value, json};

use crate::support::{Folder, list};

/// The mean squared norm of a centred row of the training data.
const UNIT: f64 = 1.128_333_333_333_333_4;

#[test]
fn figures_are_those_of_the_data() {
    let folder = Folder::new();
    let info = folder.json("info train.svm --names names.txt --json");
    assert_eq!(info["schema"], "rankrls.info/1");
    assert_eq!(
        info["data"],
        json!({
            "rows": 8, "queries": 3, "columns": 7, "nonzeros": 21, "empty_columns": 1,
            "constant_columns": 2, "column_classes": 4, "unit": UNIT
        })
    );
    assert_eq!(info["density"], 21.0 / 56.0);
    assert_eq!(
        info["query_sizes"],
        json!({"least": 2, "median": 3.0, "mean": 8.0 / 3.0, "largest": 3})
    );
    assert_eq!(info["row_nonzeros"]["largest"], 4);
    assert_eq!(info["column_nonzeros"]["least"], 2);
    let labels = &info["labels"];
    assert_eq!(
        (&labels["least"], &labels["largest"]),
        (&json!(0.0), &json!(2.0))
    );
    assert_eq!(
        (&labels["mean"], &labels["distinct"]),
        (&json!(0.875), &json!(3))
    );
    assert_eq!(labels["constant_queries"], 0);
    assert_eq!(labels["range_in_query"]["least"], 1.0);
    assert_eq!(labels["distinct_in_query"]["median"], 3.0);
    // Column 5 occurs only in query a, and is constant there.
    assert_eq!(info["single_query_columns"], 1);
    assert_eq!(info["single_query_classes"], 0);
    let longest = &info["longest_columns"];
    assert_eq!(
        longest[0],
        json!({"feature": 2, "name": "word b", "nonzeros": 5})
    );
    assert_eq!(longest.as_array().unwrap().len(), 6);
    folder.run("select train.svm -k 1 --lambda 1 -o model.json");
    let model = folder.document("model.json");
    assert_eq!(info["hash"], model["data"]["hash"]);
}

#[test]
fn memory_is_stated_for_each_strategy() {
    let folder = Folder::new();
    let before = folder.list();
    let info = "info train.svm -k 3 --lambda 1";
    let memory = folder.json(&format!("{info} --json"))["memory"].take();
    assert_eq!((&memory["k"], &memory["lambda"]), (&json!(3), &json!(1.0)));
    // 21 entries in six columns, of seven.
    assert_eq!(memory["entries_bytes"], 12 * 21 + 12 * 6);
    assert_eq!(list(&memory["strategies"]).len(), 10);
    for row in list(&memory["strategies"]) {
        let [bytes, total] = ["bytes", "total_bytes"].map(|key| row[key].as_u64().unwrap());
        assert!(row["fits"] == true && total > bytes, "{row}");
    }
    folder.prints(&format!("{info} => strategy auto is"));
    let memory = folder.json(&format!("{info} --json --max-memory 2KiB"))["memory"].take();
    assert!(memory["auto"].is_null(), "{memory}");
    folder.prints(&format!(
        "{info} --max-memory 2KiB => no exact strategy fits: strategy auto is refused"
    ));
    assert_eq!(folder.list(), before);
    assert_eq!(folder.json("info @parses --json")["memory"]["k"], 50);
}

#[test]
fn data_with_nothing_in_them_are_described() {
    let folder = Folder::new();
    folder.write("flat.svm", "1 qid:a 1:1\n1 qid:a 1:1\n");
    let info = folder.json("info flat.svm --json");
    assert_eq!(info["labels"]["constant_queries"], 1);
    assert_eq!(info["memory"]["auto"], Value::Null);
    folder.write("bare.svm", "1\n");
    let info = folder.json("info bare.svm --json");
    assert_eq!(info["density"], Value::Null);
    assert_eq!(info["column_nonzeros"], Value::Null);
    folder.prints("info bare.svm => density -");
}
