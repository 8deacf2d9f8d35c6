//! Files that the build of `fixtures/README.md` wrote: they load, mean what they meant, and are
//! written again, all that come from selections to the same bytes.

use std::fs;

use crate::folder::{Folder, freeze, hold};

const SELECT: &str = "select train.svm --names names.txt -k 5 --lambda 2";

/// Names of models, and the commands that they were written by.
fn models() -> Vec<(&'static str, String)> {
    let select = |more: &str| format!("{SELECT} {more}");
    vec![
        ("dense", select("--strategy dense")),
        ("lowmem", select("--strategy lowmem")),
        ("bounded", select("--strategy bounded")),
        ("backfit", select("--strategy backfit")),
        ("univariate", select("--strategy univariate")),
        ("residual", select("--strategy residual")),
        (
            "sampled",
            select("--strategy sampled --candidates 10 --seed 3"),
        ),
        ("random", select("--strategy random --seed 4")),
        (
            "ndcg",
            select("--criterion ndcg@5 --convention letor --query-weight pairs"),
        ),
        ("size", select("--query-weight size")),
        (
            "zero-based",
            "select train.svm --zero-based -k 4 --lambda 0.5".to_owned(),
        ),
        ("parses", "select @parses -k 5 --lambda 16".to_owned()),
        (
            "train-all",
            "train train.svm --names names.txt --lambda 1,4,16".to_owned(),
        ),
        (
            "train-given",
            "train train.svm --lambda 2 --features models/bounded.json".to_owned(),
        ),
        (
            "train-cg",
            "train train.svm --lambda 3 --solver cg".to_owned(),
        ),
        (
            "tune-lqo",
            "tune train.svm --names names.txt -k 6 --lambdas 2^0..2^4:2 --rule one-se".to_owned(),
        ),
    ]
}

#[test]
fn all_models_are_tested() {
    let folder = Folder::new();
    let mut names: Vec<String> = models()
        .iter()
        .map(|(name, _)| format!("{name}.json"))
        .collect();
    names.sort();
    let listed = folder.run("ls models");
    assert_eq!(listed.lines().skip(1).collect::<Vec<_>>(), names);
}

#[test]
fn models_load_and_score_as_they_did() {
    let folder = Folder::new();
    let mut shown = Vec::new();
    for (name, _) in models() {
        shown.push(folder.run(&format!("inspect models/{name}.json")));
        let json = folder.run(&format!("inspect models/{name}.json --json"));
        assert!(
            json.contains("exit: 0") && json.contains("rankrls.model/1"),
            "{name}"
        );
        if name == "parses" {
            continue;
        }
        folder.run(&format!("predict models/{name}.json test.svm -o found.txt"));
        let expected = folder.text(&format!("scores/{name}.txt"));
        assert_eq!(folder.text("found.txt"), expected, "{name}");
        fs::remove_file(folder.path("found.txt")).unwrap();
    }
    hold("kept-models", &shown.join("\n"));
}

#[test]
fn models_are_written_again() {
    let folder = Folder::new();
    for (name, command) in models() {
        let shown = folder.run(&format!("{command} -o found.json"));
        assert!(shown.contains("exit: 0"), "{shown}");
        let expected = folder.text(&format!("models/{name}.json"));
        let found = folder.text("found.json");
        if name.starts_with("train") {
            assert_alike(&found, &expected);
        } else {
            assert_eq!(found, expected, "{name}: {command}");
        }
        fs::remove_file(folder.path("found.json")).unwrap();
    }
}

/// Training may round otherwise on another processor.
fn assert_alike(found: &str, expected: &str) {
    assert_eq!(found.lines().count(), expected.lines().count());
    for (found, expected) in found.lines().zip(expected.lines()) {
        let split = |line: &str| {
            let (begin, rest) = line.split_once("\"weight\":")?;
            let end = rest.find([',', '}']).unwrap_or(rest.len());
            let weight: f64 = rest[..end].trim().parse().unwrap();
            Some((begin.to_owned(), weight, rest[end..].to_owned()))
        };
        match (split(found), split(expected)) {
            (Some(found), Some(expected)) => {
                assert_eq!((&found.0, &found.2), (&expected.0, &expected.2));
                let difference = (found.1 - expected.1).abs();
                assert!(difference <= 1e-7 * expected.1.abs().max(1e-3));
            }
            _ => assert_eq!(found, expected),
        }
    }
}

/// Without a strategy of its own a longer run may take another one.
#[test]
fn models_of_earlier_builds_grow() {
    for (name, command) in models() {
        if !command.contains("--strategy") {
            continue;
        }
        let folder = Folder::new();
        let grow = "select train.svm --names names.txt -k 8";
        let grown = folder.run(&format!("{grow} --extend models/{name}.json -o grown.json"));
        assert!(grown.contains("going on after 5 of 8"), "{grown}");
        folder.run(&format!(
            "{} -o whole.json",
            command.replace("-k 5", "-k 8")
        ));
        let whole = folder.text("whole.json");
        assert_eq!(folder.text("grown.json"), whole, "{name}");
    }
}

/// Names of checkpoints of runs that were killed, and the commands.
const CHECKPOINTS: &[(&str, &str)] = &[
    (
        "select-auto",
        "select train.svm --names names.txt -k 16 --lambda 2",
    ),
    (
        "select-bounded",
        "select train.svm --names names.txt -k 16 --lambda 2 --strategy bounded",
    ),
    (
        "select-lowmem",
        "select train.svm --names names.txt -k 16 --lambda 2 --strategy lowmem",
    ),
    (
        "select-sampled",
        "select train.svm --names names.txt -k 16 --lambda 2 --strategy sampled --candidates 10 \
         --seed 3",
    ),
    (
        "select-ndcg",
        "select train.svm -k 16 --lambda 2 --criterion ndcg@5 --convention letor --query-weight \
         size",
    ),
    (
        "tune-lqo",
        "tune train.svm --names names.txt -k 6 --lambdas 2^0..2^4:2 --table found.csv",
    ),
    (
        "tune-folds",
        "tune train.svm --names names.txt -k 6 --lambdas 2^0..2^4:2 --folds 3 --measure cindex \
         --rule one-se --strategy bounded --table found.csv",
    ),
];

/// The expected files were written by runs of the same build that nothing cut.
#[test]
fn runs_that_were_killed_go_on_to_the_same_bytes() {
    let mut shown = Vec::new();
    for (name, command) in CHECKPOINTS {
        let folder = Folder::new();
        for goes_on in [true, false] {
            let checkpoint = if goes_on { name } else { &"none" };
            let text = folder.run(&format!(
                "{command} -o found.json --checkpoint checkpoints/{checkpoint}.checkpoint --resume"
            ));
            assert!(text.contains("exit: 0"), "{text}");
            assert_eq!(text.contains("going on after"), goes_on, "{text}");
            let expected = folder.text(&format!("checkpoints/{name}.json"));
            assert_eq!(folder.text("found.json"), expected, "{name}: {goes_on}");
            if command.starts_with("tune") {
                let expected = folder.text(&format!("checkpoints/{name}.csv"));
                assert_eq!(folder.text("found.csv"), expected, "{name}: {goes_on}");
            }
            if goes_on {
                shown.push(text);
            }
        }
        // What was resumed left a checkpoint of the whole run.
        let text = folder.run(&format!(
            "{command} --checkpoint checkpoints/{name}.checkpoint --resume"
        ));
        assert!(text.contains("going on after"), "{text}");
    }
    hold("kept-checkpoints", &shown.join("\n"));
}

/// The journal of a build that was killed.
#[test]
fn a_build_that_was_killed_goes_on() {
    let folder = Folder::new();
    let whole = "corpus build build/many.conllu --link-grammar --link-parser build/parser \
        --test-share 0.25 --compression none --templates words,labels,connectors,costs";
    let refused = folder.run(&format!("{whole} -o build/many"));
    let resumed = folder.run(&format!("{whole} -o build/many --resume -v"));
    assert!(resumed.contains("exit: 0"), "{resumed}");
    for file in [".svm", "-test.svm", "-names.txt"] {
        let rows = |prefix: &str| {
            let text = folder.text(&format!("build/{prefix}{file}"));
            let rows = text.lines().filter(|line| !line.starts_with("# "));
            rows.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(rows("many"), rows("whole"), "{file}");
    }
    let old = folder.run("corpus check build/whole-manifest.json");
    hold("kept-journal", &[refused, resumed, old].join("\n"));
}

#[test]
fn data_of_earlier_builds_are_read() {
    let folder = Folder::new();
    let rows = folder.text("train.svm");
    for name in ["formats/train.npz", "formats/train.features"] {
        folder.run(&format!("corpus convert {name} found.svm"));
        assert_eq!(folder.text("found.svm"), rows, "{name}");
    }
    freeze(
        "kept-data",
        &[
            "select formats/train.npz -k 2 --lambda 2",
            "predict models/bounded.json formats/train.npz -o found.txt",
            "evaluate formats/train.npz --scores found.txt",
        ],
    );
}
