use serde_json::{Value, json};

use crate::support::{Folder, keys, list};

/// The mean squared norm of a centred row of the training data.
const UNIT: f64 = 1.128_333_333_333_333_4;

#[test]
fn figures_are_those_of_the_data() {
    let folder = Folder::new();
    let info = folder.json("corpus info train.svm --names names.txt --json");
    assert_eq!(info["schema"], "rankrls.corpus-info/1");
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
    // Column 5 is in query a alone, and constant there.
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

/// Without what a process has taken, which is another time something else.
fn lasting(mut value: serde_json::Value) -> serde_json::Value {
    for row in value.as_array_mut().into_iter().flatten() {
        row.as_object_mut().unwrap().remove("peak_bytes");
    }
    value
}

#[test]
fn memory_is_that_of_the_plan() {
    let folder = Folder::new();
    let info = folder.json("corpus info @parses -k 20 --lambda 16 --max-memory 8MiB --json");
    // Without a lambda a selection keeps the data, as this command does.
    let plan = folder.json("select @parses -k 20 --max-memory 8MiB --dry-run --json");
    let memory = &info["memory"];
    assert_eq!(
        (&memory["k"], &memory["lambda"]),
        (&json!(20), &json!(16.0))
    );
    for key in keys(memory) {
        if key != "k" && key != "lambda" {
            assert_eq!(
                lasting(memory[key].clone()),
                lasting(plan[key].clone()),
                "{key}"
            );
        }
    }
    assert_eq!(list(&memory["strategies"]).len(), 10);
    assert_eq!(folder.json("corpus info @parses --json")["memory"]["k"], 50);
}

#[test]
fn data_with_nothing_in_them_are_described() {
    let folder = Folder::new();
    folder.write("flat.svm", "1 qid:a 1:1\n1 qid:a 1:1\n");
    let info = folder.json("corpus info flat.svm --json");
    assert_eq!(info["labels"]["constant_queries"], 1);
    assert_eq!(info["memory"]["auto"], Value::Null);
    folder.refused("select flat.svm -k 1 --lambda 1 --dry-run => constant");
    folder.write("bare.svm", "1\n");
    let info = folder.json("corpus info bare.svm --json");
    assert_eq!(info["density"], Value::Null);
    assert_eq!(info["column_nonzeros"], Value::Null);
    folder.prints("corpus info bare.svm => density -");
}
