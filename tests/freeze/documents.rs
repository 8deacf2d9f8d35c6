//! What programs read: `--json`.

use crate::folder::{freeze, hold};
use crate::tables::folds;

#[test]
fn select() {
    freeze(
        "json-select",
        &[
            "select train.svm -k 3 --lambda 2 --names names.txt --json",
            "select train.svm -k 2 --lambda 2 --strategy sampled --candidates 5 --seed 3 --json",
            "select train.svm -k 2 --lambda 2 --strategy lowmem --criterion map --convention letor \
             --query-weight size --json",
            "select train.svm -k 2 --lambda 2 --test test.svm --metrics cindex,p@3 --json",
            "select train.svm -k 99 --lambda 2 --strategy random --json -q",
            "select @parses -k 3 --lambda 16 --strategy bounded --threads 1 --json",
            "select train.svm -k 3 --lambda 2 --dry-run --max-memory 1GiB --json",
            "select train.svm -k 3 --lambda 2 --dry-run --max-memory 1GiB --candidates 2 --json",
        ],
    );
}

#[test]
fn models() {
    freeze(
        "json-models",
        &[
            "inspect models/bounded.json --json",
            "inspect models/sampled.json --json",
            "inspect models/ndcg.json --json",
            "inspect models/zero-based.json --json",
            "inspect models/train-given.json --json",
            "evaluate test.svm --model models/bounded.json --json",
            "evaluate test.svm --model models/bounded.json --convention letor --per-query --json",
            "evaluate @parses-test --model models/parses.json --metrics cindex,ndcg@5 --json",
        ],
    );
}

#[test]
fn train_and_tune() {
    freeze(
        "json-train",
        &[
            "train train.svm --lambda 2 --json",
            "train train.svm --lambda 1,4 --holdout folds:3 --json",
            "train train.svm --lambda 2 --solver cg --query-weight pairs --json -q",
            "train train.svm --lambda 2 --features models/bounded.json --json",
        ],
    );
    freeze(
        "json-tune",
        &[
            "tune train.svm -k 2 --lambdas 1,4 --names names.txt --json",
            "tune train.svm -k 2 --lambdas 1,4 --folds 3 --measure cindex --rule one-se \
             --test test.svm --metrics cindex --json",
            "tune train.svm -k 2 --lambdas 4 --validation test.svm --table table.json --json",
            "cat table.json",
        ],
    );
}

#[test]
fn compare() {
    freeze(
        "json-compare",
        &[
            "compare train.svm -k 2 --lambda 2 --strategies dense,lowmem,random --seeds 2 \
             --test test.svm --metrics cindex --json",
            "compare @parses -k 1 --lambda 16 --strategies dense,lowmem --max-memory 16MiB --json",
        ],
    );
}

#[test]
fn letor() {
    let lines = ["letor data -k 2 --lambdas 1,4 --json"];
    hold("json-letor", &folds().runs(&lines));
}

#[test]
fn corpora() {
    freeze(
        "json-corpus",
        &[
            "corpus info train.svm --max-memory 1GiB --names names.txt --json",
            "corpus info @parses --max-memory 1GiB --json",
            "corpus check corpora/link-parses-manifest.json --json",
            "corpus generate --rows 40 --test-rows 20 -o c.svm --test-output t.svm --json",
            "corpus build build/gold.conllu --candidates build/nbest.conllu -o d --json",
            "corpus build build/many.conllu --link-grammar --link-parser build/parser -o e --json",
        ],
    );
}
