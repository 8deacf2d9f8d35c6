//! What `select --dry-run` promises of the peak memory of a process, and what it takes.

#![cfg(all(target_os = "linux", feature = "cli"))]

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// A promise is broken by more than this factor.
const CEILING: f64 = 1.25;

fn json(folder: &Path, arguments: &str) -> Value {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("rankrls"))
        .current_dir(folder)
        .args(arguments.split_whitespace())
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments}: {errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

fn promises_hold(folder: &Path, select: &str) {
    let plan = json(folder, &format!("{select} --dry-run --json"));
    for row in plan["strategies"].as_array().unwrap() {
        let strategy = row["strategy"].as_str().unwrap();
        // Grades in place of labels, on the same columns.
        let select = if strategy == "fs-ed" {
            select.replace("corpus.svm", "graded.svm")
        } else {
            select.to_owned()
        };
        let run = json(folder, &format!("{select} --strategy {strategy} --json"));
        let promised = row["peak_bytes"].as_f64().unwrap();
        let used = run["peak_rss_bytes"].as_f64().unwrap();
        println!(
            "{strategy:10} {used:12} of {promised:12} bytes: {:.2}",
            used / promised
        );
        assert!(
            used <= CEILING * promised,
            "{strategy}: {used} of {promised} bytes"
        );
    }
}

#[test]
fn no_strategy_takes_more_than_was_promised() {
    let folder = tempfile::tempdir().unwrap();
    json(
        folder.path(),
        "corpus generate --rows 1500 -o corpus.svm --seed 3 --json",
    );
    let corpus = std::fs::read_to_string(folder.path().join("corpus.svm")).unwrap();
    let graded = corpus.lines().map(|line| match line.split_once(' ') {
        Some((label, rest)) if !line.starts_with('#') => {
            let label: f64 = label.parse().unwrap();
            format!("{} {rest}\n", (4.0 * label).round().max(0.0))
        }
        _ => format!("{line}\n"),
    });
    let graded: String = graded.collect();
    std::fs::write(folder.path().join("graded.svm"), graded).unwrap();
    for select in [
        "select corpus.svm -k 5 --lambda 4",
        // So tiny that one factor a query is needed.
        "select corpus.svm -k 5 --lambda 1e-7",
        "select corpus.svm -k 20 --lambda 4 --threads 1",
    ] {
        promises_hold(folder.path(), select);
    }
}
