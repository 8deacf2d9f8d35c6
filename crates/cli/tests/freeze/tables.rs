//! What people read: the two pages of help that they read first, and the tables.

use crate::folder::{Folder, freeze, hold};

#[test]
fn help() {
    freeze("help", &["--help", "select --help"]);
}

#[test]
fn select() {
    let data = "select train.svm --lambda 0.5";
    freeze(
        "table-select",
        &[
            &format!("{data} -k 3 --names names.txt --test test.svm --metrics map,cindex"),
            &format!("{data} -k 3 --dry-run --max-memory 1GiB"),
            &format!("{data} -k 2 --strategy bounded -v"),
            &format!("{data} -k 2 --checkpoint run.ck -o model.json -q"),
            &format!("{data} -k 2 --checkpoint run.ck --resume"),
            "select @parses -k 3 --lambda 16 --max-memory 1GiB",
        ],
    );
}

#[test]
fn evaluate_inspect_and_explain() {
    freeze(
        "table-models",
        &[
            "evaluate test.svm --model models/bounded.json",
            "evaluate test.svm --model models/bounded.json --convention letor --per-query \
             --metrics map,ndcg@5,cindex",
            "inspect models/bounded.json --members --top 2",
            "explain models/bounded.json test.svm --query s101 --top 2",
            "explain models/bounded.json test.svm --query s101 --versus 2",
        ],
    );
}

/// Data with little in it, and what is said of that.
#[test]
fn poor_data() {
    let folder = Folder::new();
    folder.write("flat.svm", "0 qid:a 1:1\n0 qid:a\n1 qid:b\n0 qid:b\n");
    folder.write("scores.txt", "1\n0\n1\n0\n");
    folder.write("same.svm", "1 qid:a 1:1\n1 qid:a 1:1\n");
    folder.write(
        "near.svm",
        "1 qid:1 1:1 2:1.00000001\n0 qid:1\n0.5 qid:1 1:0.5 2:0.5\n\
         1 qid:2 1:2 2:2\n0 qid:2 2:0.00000001\n0.25 qid:2 1:1 2:1\n",
    );
    let lines = [
        "evaluate flat.svm --scores scores.txt --per-query --metrics map,cindex",
        "corpus info same.svm --max-memory 1GiB",
        "select near.svm -k 2 --lambda 1e-9",
    ];
    // Of the figures no digit is left: only the warning lasts.
    let lost = folder.run("train near.svm --lambda 1e-14");
    let (_, warning) = lost.split_once("--- stderr").unwrap();
    let text = folder.runs(&lines);
    hold("table-poor-data", &format!("{text}\n# training{warning}"));
}

#[test]
fn train() {
    freeze(
        "table-train",
        &[
            "train train.svm --lambda 1,4 --names names.txt -o model.json",
            "inspect model.json --top 3",
            "train train.svm --lambda 1,2 --solver cg --holdout folds:2 --query-weight pairs",
            "train train.svm --lambda 1 --features models/bounded.json --holdout none -q",
        ],
    );
}

#[test]
fn tune() {
    freeze(
        "table-tune",
        &[
            "tune train.svm -k 3 --lambdas 2^-1..2^5:2 --folds 4 --names names.txt --test test.svm --metrics cindex",
            "tune train.svm -k 2 --lambdas 1e6,1e9 --min-improvement 0.05 --patience 2 \
             --table table.csv -v --threads 1",
            "cat table.csv",
        ],
    );
}

#[test]
fn compare() {
    freeze(
        "table-compare",
        &[
            "compare train.svm -k 3 --lambda 2 --strategies bounded,sampled:5 --seeds 2 \
           --test test.svm --metrics cindex",
        ],
    );
}

/// Rows of the fixture as a fold.
pub(crate) fn folds() -> Folder {
    let folder = Folder::new();
    let text = folder.read("train.svm");
    let rows: Vec<&str> = text.lines().collect();
    for (name, range) in [("train", 0..48), ("vali", 48..72), ("test", 72..96)] {
        let text = rows[range].join("\n") + "\n";
        folder.write(&format!("data/Fold1/{name}.txt"), text);
    }
    folder
}

#[test]
fn letor() {
    let lines = ["letor data -k 3 --lambdas 2^-1..2^3:2"];
    hold("table-letor", &folds().runs(&lines));
}

#[test]
fn corpora_are_built() {
    let build = "corpus build build/gold.conllu --candidates build/nbest.conllu";
    freeze(
        "table-corpus-build",
        &[
            &format!("{build} --compression none --templates words,pairs -o c"),
            "cat c.svm",
            "cat c-test.svm",
            "cat c-texts.txt",
            "cat c-names.txt",
            "corpus check c-manifest.json",
            &format!("{build} --test-share 0 --compression none -o d"),
            "cat d-names.txt",
        ],
    );
}
