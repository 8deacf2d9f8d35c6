use crate::support::{Folder, keys};

#[test]
fn the_document_has_the_keys_of_the_schema() {
    let folder = Folder::new();
    let document = folder.json("select train.svm -k 3 --lambda 16 --names names.txt --json");
    for key in [
        "schema",
        "strategy",
        "lambda",
        "data",
        "steps",
        "weights",
        "load_seconds",
        "select_seconds",
        "peak_rss_bytes",
        "ending",
        "seed",
        "candidates",
        "criterion",
        "query_weight",
    ] {
        assert!(keys(&document).contains(&key), "{key}");
    }
    assert_eq!(document["schema"], "rankrls.selection/1");
    assert_eq!(document["lambda"], 16.0);
    assert_eq!(document["ending"], "complete");
    for (key, size) in [
        ("rows", 8),
        ("queries", 3),
        ("columns", 7),
        ("nonzeros", 21),
        ("constant_columns", 2),
        ("empty_columns", 1),
        ("column_classes", 4),
    ] {
        assert_eq!(document["data"][key], size, "{key}");
    }
    assert!(document["load_seconds"].as_f64().unwrap() >= 0.0);
    assert!(document["select_seconds"].as_f64().unwrap() >= 0.0);
    let steps = document["steps"].as_array().unwrap();
    assert_eq!(document["weights"].as_array().unwrap().len(), steps.len());
    for (number, step) in steps.iter().enumerate() {
        assert_eq!(step["step"], number + 1);
        let feature = usize::try_from(step["feature"].as_u64().unwrap()).unwrap();
        let names = [
            "word:a",
            "word b",
            "",
            "bigram:a_b",
            "constant",
            "empty",
            "last",
        ];
        assert_eq!(step["name"], names[feature - 1]);
        assert_eq!(step["identical_columns"], u32::from(feature == 1));
        assert!(step["lqo_error"].as_f64().unwrap() > 0.0);
        assert!((0.0..=1.0).contains(&step["lqo_cindex"].as_f64().unwrap()));
        assert!(step["evaluated"].as_u64().unwrap() > 0);
        assert!(step.get("test").is_none());
    }
}

#[test]
fn what_is_undefined_is_null() {
    let folder = Folder::new();
    folder.write(
        "flat.svm",
        "1 qid:1 1:1\n1 qid:1\n2 qid:2 1:1\n2 qid:2 2:1\n",
    );
    let document = folder.json("select flat.svm -k 1 --lambda 1 --json");
    assert!(document["steps"][0]["lqo_cindex"].is_null());
    assert!(document["steps"][0]["name"].is_null());
    assert!(document["seed"].is_null() && document["candidates"].is_null());
}
