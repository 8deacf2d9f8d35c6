//! What programs read: `--json`, once a schema, of two steps.

use crate::folder::{Folder, freeze, hold};
use crate::tables::folds;

#[test]
fn select_inspect_and_evaluate() {
    freeze(
        "json-select",
        &[
            "select train.svm -k 2 --lambda 2 --strategy sampled --candidates 5 --seed 3 \
             --names names.txt --test test.svm --metrics cindex,p@3 -o model.json --json",
            "inspect model.json --json",
            "evaluate test.svm --model model.json --metrics cindex,ndcg@5 --per-query --json",
            "select train.svm -k 2 --lambda 2 --dry-run --max-memory 1GiB --json",
        ],
    );
}

#[test]
fn train() {
    freeze(
        "json-train",
        &["train train.svm --lambda 1,4 --solver cg --holdout folds:3 --json"],
    );
}

#[test]
fn tune() {
    freeze(
        "json-tune",
        &[
            "tune train.svm -k 2 --lambdas 1,4 --folds 3 --measure cindex --rule one-se \
             --test test.svm --metrics cindex --json",
        ],
    );
}

#[test]
fn compare() {
    freeze(
        "json-compare",
        &[
            "compare train.svm -k 2 --lambda 2 --strategies dense,random --test test.svm \
             --metrics cindex --json",
        ],
    );
}

#[test]
fn explain() {
    freeze(
        "json-explain",
        &["explain models/bounded.json test.svm --query s101 --row 3 --versus 2 --json"],
    );
}

#[test]
fn letor() {
    let lines = ["letor data/Fold1 -k 2 --lambdas 1,4 --json"];
    hold("json-letor", &folds().runs(&lines));
}

#[test]
fn corpora() {
    let folder = Folder::new();
    folder.write(
        "pair.svm",
        "1 qid:a 1:1\n0 qid:a 2:1\n1 qid:b 1:1\n0 qid:b\n",
    );
    let lines = [
        "corpus build build/gold.conllu --link-grammar --link-parser build/parser -o c --json",
        "corpus check corpora/link-parses-manifest.json --json",
        "corpus info pair.svm --max-memory 1GiB --json",
    ];
    hold("json-corpus", &folder.runs(&lines));
}
