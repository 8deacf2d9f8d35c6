//! Real data, in the folder that `RANKRLS_CORPORA` names.

use std::path::PathBuf;

use crate::support::Folder;

/// A folder of the corpora, or none and a word about it.
fn corpus(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("RANKRLS_CORPORA");
    if folder.is_none() {
        eprintln!("NOT TESTED on {name}: RANKRLS_CORPORA does not name the folder of corpora");
    }
    folder.map(|folder| PathBuf::from(folder).canonicalize().unwrap().join(name))
}

/// RLScore's `GreedyNFoldRLS` (the paper's authors' implementation, leave-query-out, bias 0), run
/// on query-centred representatives of the column classes, selects these features with lambda 16;
/// an independent implementation of algorithm 1 agrees to 1e-9. Indices count from 0.
#[test]
fn rlscore_selects_the_same_parse_features() {
    const FEATURES: [u64; 10] = [
        115_242, 53_488, 89_970, 142_236, 23_271, 139_230, 59_383, 88_317, 24_638, 48_016,
    ];
    let Some(corpus) = corpus("rlscore-parse") else {
        return;
    };
    let (folder, data) = (Folder::new(), corpus.join("train.features"));
    for strategy in ["auto", "dense", "lowmem"] {
        let document = folder.json(&format!(
            "select {} --format rlscore --lambda 16 -k 10 --json --strategy {strategy}",
            data.display()
        ));
        let steps = document["steps"].as_array().unwrap();
        let features = steps.iter().map(|step| step["feature"].as_u64().unwrap());
        assert_eq!(features.collect::<Vec<_>>(), FEATURES, "{strategy}");
        assert_eq!(document["data"]["column_classes"], 1083);
    }
}

/// RLScore's `QueryRankRLS` with `holdout` for every query, trained on `train` and tested on `test`;
/// its concordance index is the mean over queries whose labels differ.
#[test]
fn rlscore_trains_the_same_parse_model() {
    let Some(corpus) = corpus("rlscore-parse") else {
        return;
    };
    let folder = Folder::new();
    let (train, test) = (corpus.join("train"), corpus.join("test"));
    let training = format!("train --lambda 1 {} -o m.json --json", train.display());
    let cindex = folder.json(&training)["lqo_cindex"].as_f64().unwrap();
    assert!((cindex - 0.803_155).abs() < 5e-7, "{cindex}");
    let evaluation = format!("evaluate {} --model m.json --json", test.display());
    let cindex = folder.json(&evaluation)["metrics"]["cindex"]
        .as_f64()
        .unwrap();
    assert!((cindex - 0.664_762).abs() < 5e-7, "{cindex}");
}

/// Tables 2 and 7 to 10 of the Greedy RankRLS paper, fold 3 of MQ2008: lambda and k chosen on the
/// validation fold by MAP; an independent implementation of algorithm 1 reproduces the figures.
#[test]
fn letor_figures_are_those_of_the_paper() {
    let Some(corpus) = corpus("letor-mq2008-fold3") else {
        return;
    };
    let folder = Folder::new();
    let train = corpus.join("train.txt.zst");
    let test = corpus.join("test.txt.zst");
    let selection = folder.json(&format!(
        "select {} --lambda 8 -k 7 -o model.json --json",
        train.display()
    ));
    let steps = selection["steps"].as_array().unwrap();
    let features: Vec<_> = steps.iter().map(|step| step["feature"].as_u64()).collect();
    assert_eq!(features, [39, 29, 25, 23, 46, 37, 19].map(Some));

    let document = folder.json(&format!(
        "evaluate {} --model model.json --convention letor --json",
        test.display()
    ));
    for (name, value) in [
        ("map", 0.4582),
        ("p@10", 0.2363),
        ("mean-ndcg", 0.4787),
        ("ndcg@10", 0.2558),
    ] {
        let found = document["metrics"][name].as_f64().unwrap();
        assert!((found - value).abs() <= 0.5e-4, "{name}: {found}");
    }
}

#[test]
fn names_of_parse_features_are_shown() {
    let Some(corpus) = corpus("ewt-parse") else {
        return;
    };
    let folder = Folder::new();
    let (train, names) = (
        corpus.join("train_2000.svm.zst"),
        corpus.join("features_2000.txt.zst"),
    );
    let document = folder.json(&format!(
        "select {} --names {} --lambda 16 -k 2 --json --strategy lowmem",
        train.display(),
        names.display()
    ));
    for step in document["steps"].as_array().unwrap() {
        assert!(!step["name"].as_str().unwrap().is_empty());
    }
}
