//! Real data, in the folder that `RANKRLS_CORPORA` names.

use std::path::PathBuf;

use crate::support::{Folder, list};

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
        let steps = list(&document["steps"]);
        let features = steps.iter().map(|step| step["feature"].as_u64().unwrap());
        assert_eq!(features.collect::<Vec<_>>(), FEATURES, "{strategy}");
        assert_eq!(document["data"]["column_classes"], 1083);
    }
}
