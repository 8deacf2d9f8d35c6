//! What people read.

use crate::folder::{Folder, freeze, hold};

const LINK: &str = "corpora/link-parses.svm.zst";

#[test]
fn select_on_parses() {
    let mut lines = Vec::new();
    for strategy in [
        "auto",
        "dense",
        "lowmem",
        "bounded",
        "sampled",
        "sampled --candidates 20 --seed 3",
        "backfit",
        "univariate",
        "residual",
        "random",
        "random --seed 2",
        "lowmem --candidates 30",
        "lowmem --criterion ndcg@5 --convention letor",
        "dense --criterion cindex",
        "bounded --query-weight pairs",
        "bounded --query-weight size",
        "bounded --test @parses-test",
        "bounded --test @parses-test --metrics cindex,p@2,ndcg@3 --convention letor",
    ] {
        lines.push(format!(
            "select @parses -k 4 --lambda 16 --max-memory 1GiB --strategy {strategy}"
        ));
    }
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    freeze("table-select-parses", &lines);
}

#[test]
fn select_on_link_parses() {
    let names = "--names corpora/link-parses-names.txt.zst";
    let test = "--test corpora/link-parses-test.svm.zst --metrics cindex,ndcg@5";
    let select = format!("select {LINK} --lambda 16 --max-memory 1GiB");
    freeze(
        "table-select-link",
        &[
            &format!("{select} {names} -k 10 {test} -o model.json"),
            "inspect model.json",
            "cat model.json",
            &format!("{select} -k 10 --dry-run"),
            &format!("{select} -k 12 {names} --extend model.json").replace(" --lambda 16", ""),
            "predict model.json corpora/link-parses-test.svm.zst -o scores.txt",
            "evaluate corpora/link-parses-test.svm.zst --model model.json",
            "evaluate corpora/link-parses-test.svm.zst --scores scores.txt --metrics cindex",
        ],
    );
}

#[test]
fn select_in_other_ways() {
    freeze(
        "table-select-ways",
        &[
            "select train.svm -k 3 --lambda 0.5",
            "select train.svm -k 3 --lambda 0.5 --names names.txt --test test.svm",
            "select train.svm -k 99 --lambda 0.5 -q",
            "select train.svm -k 99 --lambda 1 --strategy backfit",
            "select train.svm -k 2 --lambda 1 --strategy dense --seed 3",
            "select train.svm -k 2 --lambda 1 --zero-based",
            "select - -k 2 --lambda 1 < train.svm",
            "select formats/train.npz -k 2 --lambda 1",
            "select formats/train.features -k 2 --lambda 1",
            "select train.svm -k 3 --lambda 1 --strategy lowmem -v",
            "select train.svm -k 3 --lambda 1 --strategy bounded -v",
            "select train.svm -k 2 --lambda 1e-3 --checkpoint run.ck -o model.json",
            "select train.svm -k 2 --lambda 1e-3 --checkpoint run.ck --resume",
            "cat run.ck",
            "select train.svm -k 3 --lambda 1 --dry-run --max-memory 1GiB",
            "select train.svm -k 3 --lambda 1 --dry-run --max-memory 1GiB --candidates 2",
            "select train.svm -k 3 --lambda 1 --dry-run --max-memory 2KiB",
        ],
    );
}

#[test]
fn predict_evaluate_and_inspect() {
    freeze(
        "table-models",
        &[
            "predict models/bounded.json test.svm",
            "predict models/bounded.json test.svm -o scores.txt",
            "evaluate test.svm --model models/bounded.json",
            "evaluate test.svm --model models/bounded.json --convention letor",
            "evaluate test.svm --model models/bounded.json --per-query",
            "evaluate test.svm --scores scores.txt --per-query --convention letor",
            "evaluate test.svm --scores - --metrics cindex < scores.txt",
            "evaluate @parses-test --model models/parses.json",
            "evaluate @parses-test --model models/parses.json --convention letor",
            "inspect models/bounded.json",
            "inspect models/bounded.json --members --top 2",
            "inspect models/train-all.json",
            "inspect models/train-all.json --top 3",
            "inspect models/parses.json",
        ],
    );
}

#[test]
fn filter() {
    freeze(
        "table-fs-ed",
        &[
            "select train.svm -k 4 --lambda 2 --strategy fs-ed --names names.txt",
            "select train.svm -k 4 --lambda 2 --strategy fs-ed --fs-ed-scale --validation test.svm",
            "inspect models/bounded.json --data train.svm --densities 3 --plot three.svg",
            "inspect models/bounded.json --data train.svm --densities 3 --json",
            "cat three.svg",
        ],
    );
}

#[test]
fn explain() {
    freeze(
        "table-explain",
        &[
            "explain models/bounded.json test.svm --query s101 --top 2",
            "explain models/bounded.json test.svm --query s101 --versus 2",
            "explain models/bounded.json test.svm --query s101 --row 3 --versus 2 --json",
            "select corpora/link-parses.svm.zst --names corpora/link-parses-names.txt.zst -k 8 \
             --lambda 16 -o link.json",
            "explain link.json corpora/link-parses-test.svm.zst --query s1 --versus 2 --top 4",
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
    folder.write("bare.svm", "1\n");
    folder.write("plain.svm", "1 1:1\n0 2:1\n2 1:2 # a comment\n");
    folder.write(
        "split.svm",
        "1 qid:a 1:1\n0 qid:b 2:1\n0 qid:a\n1 qid:b 1:1\n",
    );
    folder.write(
        "near.svm",
        "1 qid:1 1:1 2:1.00000001\n0 qid:1\n0.5 qid:1 1:0.5 2:0.5\n\
         1 qid:2 1:2 2:2\n0 qid:2 2:0.00000001\n0.25 qid:2 1:1 2:1\n",
    );
    let lines = [
        "evaluate flat.svm --scores scores.txt --per-query",
        "evaluate flat.svm --scores scores.txt --per-query --convention letor",
        "evaluate flat.svm --scores scores.txt --metrics cindex,p@1 --per-query --json",
        "corpus info same.svm --max-memory 1GiB",
        "corpus info bare.svm --max-memory 1GiB",
        "select plain.svm -k 1 --lambda 1",
        "select split.svm -k 1 --lambda 1 --regroup",
        "evaluate split.svm --scores scores.txt --regroup --metrics mrr --per-query",
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
            "train @parses --lambda 16 --max-memory 1GiB",
            "train @parses --lambda 1,4,2^4..2^8:2 --max-memory 1GiB -o model.json",
            "inspect model.json --top 5",
            "evaluate @parses-test --model model.json --metrics cindex,map",
            "train train.svm --lambda 1,2 --solver primal --holdout folds:3 --seed 5",
            "train train.svm --lambda 1,2 --solver dual --query-weight pairs",
            "train train.svm --lambda 1 --solver cg",
            "train train.svm --lambda 1,2 --solver cg --holdout folds:2",
            "train train.svm --lambda 1 --features models/bounded.json --names names.txt",
            "train train.svm --lambda 1 --holdout none -q",
        ],
    );
}

#[test]
fn tune() {
    freeze(
        "table-tune",
        &[
            "tune @parses -k 5 --lambdas 2^2..2^6:2 --max-memory 1GiB",
            "tune @parses -k 5 --lambdas 4,16 --folds 3 --measure cindex --rule one-se \
             --test @parses-test --metrics cindex --max-memory 1GiB",
            "tune train.svm -k 6 --folds 4 --names names.txt -o model.json --table table.csv",
            "cat table.csv",
            "cat model.json",
            "tune train.svm -k 6 --lambdas 1,4 --min-improvement 0.05 --patience 2",
            "tune train.svm -k 4 --lambdas 1,4 --validation test.svm --measure ndcg@5 \
             --convention letor",
            "tune train.svm -k 3 --lambdas 1 --strategy sampled --candidates 5 --seed 2",
            "tune train.svm -k 2 --lambdas 1e6,1e9 --seed 3",
            "tune train.svm -k 2 --lambdas 1,2 -v --threads 1",
        ],
    );
}

#[test]
fn compare() {
    freeze(
        "table-compare",
        &[
            "compare @parses -k 4 --lambda 16 --max-memory 1GiB --test @parses-test \
             --metrics cindex,map",
            "compare train.svm -k 3 --lambda 2 --strategies bounded,sampled:5,random --seeds 2",
            "compare train.svm -k 3 --lambda 2 --strategies dense,lowmem",
            "compare @parses -k 2 --lambda 16 --strategies dense,bounded --max-memory 16MiB",
        ],
    );
    let folder = Folder::new();
    folder.run("compare train.svm -k 2 --lambda 2 --test test.svm --metrics map --csv paths.csv");
    let table = folder.text("paths.csv");
    hold("table-compare-csv", table.lines().next().unwrap());
}

/// Rows of the fixture as two folds.
pub(crate) fn folds() -> Folder {
    let folder = Folder::new();
    let text = folder.text("train.svm");
    let rows: Vec<&str> = text.lines().collect();
    let part = |begin: usize, end: usize| rows[begin..end].join("\n") + "\n";
    for (name, text) in [
        ("Fold1/train.txt", part(0, 48)),
        ("Fold1/vali.txt", part(48, 72)),
        ("Fold1/test.txt", part(72, 96)),
        ("Fold2/train.txt", part(48, 96)),
        ("Fold2/vali.txt", part(0, 24)),
        ("Fold2/test.txt", part(24, 48)),
    ] {
        folder.write(&format!("data/{name}"), text);
    }
    folder
}

#[test]
fn letor() {
    let lines = [
        "letor data -k 4 --lambdas 2^-1..2^3:2",
        "letor data/Fold1 -k 3 --strategy lowmem --lambdas 1,4 --query-weight pairs",
        "letor data/Fold1 -k 2 --lambdas 1 -v --threads 1",
    ];
    hold("table-letor", &folds().runs(&lines));
}

#[test]
fn corpus_info_and_check() {
    freeze(
        "table-corpus-info",
        &[
            "corpus info @parses --max-memory 1GiB",
            "corpus info @parses-test --max-memory 1GiB",
            "corpus info corpora/link-parses.svm.zst --max-memory 1GiB \
             --names corpora/link-parses-names.txt.zst -k 20 --lambda 16",
            "corpus info train.svm --max-memory 1GiB --names names.txt",
            "corpus check corpora/link-parses-manifest.json",
        ],
    );
}

#[test]
fn corpora_are_generated() {
    freeze(
        "table-corpus-generate",
        &[
            "corpus generate --rows 6 --vocabulary 100 --min-length 4 --max-length 6 --seed 3",
            "corpus generate --rows 500 --seed 7 -o c.svm.zst --names n.txt.zst --sentences s.txt",
            "corpus info c.svm.zst --max-memory 1GiB --names n.txt.zst",
            "corpus generate --rows 60 --test-rows 30 -o c.svm --test-output t.svm --names n.txt",
            "corpus generate --rows 30 --columns 3000 -o c.svm",
            "corpus generate --rows 300 --columns 10000 -o c.svm",
            "corpus treebank --sentences 2 --seed 4",
            "corpus treebank --sentences 20 -o t.conllu",
        ],
    );
}

#[test]
fn corpora_are_converted() {
    let folder = Folder::new();
    let text = folder.runs(&[
        "corpus convert train.svm a.npz --names names.txt",
        "corpus convert train.svm b.npz --layout csc",
        "corpus convert train.svm c.features.zst",
        "corpus convert train.svm d.gz",
        "corpus convert test.svm e.features",
        "cat e.features",
        "cat e.labels",
        "cat e.qids",
        "corpus convert test.svm - --zero-based-output",
        "corpus convert formats/train.npz f.svm --names names.txt",
        "corpus project test.svm --model models/bounded.json -o -",
        "corpus project test.svm --model models/bounded.json -o g.svm",
        "cat g.names.txt",
        "corpus project test.svm --model models/bounded.json -o - --keep-numbers",
        "corpus project test.svm --model models/bounded.json -o h.npz",
        "ls .",
    ]);
    hold("table-corpus-convert", &text);
    // Every format holds the same rows.
    let rows = folder.run("corpus convert train.svm -");
    for name in ["a.npz", "b.npz", "c", "d.gz", "f.svm", "formats/train"] {
        let found = folder.run(&format!("corpus convert {name} -"));
        let lines = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(lines(&found), lines(&rows), "{name}");
    }
}

#[test]
fn corpora_are_built() {
    let build = "corpus build build/gold.conllu --candidates";
    freeze(
        "table-corpus-build",
        &[
            &format!("{build} build/nbest.conllu --compression none --templates words,pairs -o c"),
            "cat c.svm",
            "cat c-test.svm",
            "cat c-names.txt",
            "cat c-manifest.json",
            "corpus check c-manifest.json",
            &format!("{build} build/nbest.conllu --test-share 0 --label labelled -o e"),
            "corpus build build/gold.conllu --candidates build/nbest.conllu --columns c-names.txt \
             --arcs --compression none -o f",
            "cat f.svm",
            "cat f-arcs.txt",
            "corpus build build/many.conllu --link-grammar --link-parser build/parser -o g",
            "ls .",
        ],
    );
}

/// All templates, by the names that they give.
#[test]
fn features_have_names() {
    let folder = Folder::new();
    let build = "corpus build build/gold.conllu --candidates build/nbest.conllu --test-share 0";
    folder.run(&format!("{build} --compression none -o c"));
    hold("table-corpus-names", &folder.text("c-names.txt"));
}
