//! What `info` promises of the peak memory of a process of `select`, what it takes, and what is refused.

#![cfg(target_os = "linux")]

use serde_json::Value;

use crate::support::{Folder, list, long, number, text};
use crate::zipf::Zipf;

/// A promise is broken by more than this factor, up or down.
const CEILING: f64 = 1.25;

/// Bytes by which more may be promised than taken: freed memory that is taken again, of small data.
const SLACK: f64 = 8e6;

/// What `info` says of the memory of a selection.
fn promised(folder: &Folder, select: &str) -> Value {
    let info = select.replacen("select", "info", 1);
    folder.json(&format!("{info} --json"))["memory"].take()
}

/// Runs each of `strategies`, or all.
fn promises_hold(folder: &Folder, select: &str, strategies: &[&str]) {
    let plan = promised(folder, select);
    for row in list(&plan["strategies"]) {
        let strategy = row["strategy"].as_str().unwrap();
        if !strategies.is_empty() && !strategies.contains(&strategy) {
            continue;
        }
        let run = folder.json(&format!("{select} --strategy {strategy} --json"));
        let promised = number(&row["peak_bytes"]);
        let used = number(&run["peak_rss_bytes"]);
        println!(
            "{strategy:10} {used:12} of {promised:12} bytes: {:.2}",
            used / promised
        );
        assert!(
            used <= CEILING * promised && promised <= CEILING * used + SLACK,
            "{strategy}: {used} of {promised} bytes"
        );
    }
}

fn drawn() -> Folder {
    let folder = Folder::new();
    let zipf = Zipf {
        rows: 1500,
        queries: 230,
        columns: 46_000,
        nonzeros: 510_000,
        shared: 85,
        seed: 3,
    };
    folder.write("drawn.svm", text(&zipf));
    folder
}

#[test]
fn strategies_take_what_was_promised() {
    let folder = drawn();
    let selections = [
        // So tiny that one factor a query is needed.
        "select drawn.svm -k 5 --lambda 1e-7",
        "select drawn.svm -k 5 --lambda 4",
        "select drawn.svm -k 20 --lambda 4 --threads 1",
    ];
    for select in &selections[..long(1).min(selections.len())] {
        promises_hold(&folder, select, &[]);
    }
}

#[test]
fn the_sums_of_many_queries_are_promised() {
    let folder = Folder::new();
    let zipf = Zipf {
        rows: 18_000,
        queries: 9000,
        columns: 500,
        nonzeros: 60_000,
        shared: 0,
        seed: 3,
    };
    folder.write("drawn.svm", text(&zipf));
    let select = "select drawn.svm -k 1 --lambda 4";
    promises_hold(&folder, select, &["univariate", "bounded"]);
}

/// Bytes of each strategy, and of one factor a query.
fn stated(folder: &Folder, select: &str) -> (Vec<u64>, u64) {
    let plan = promised(folder, select);
    let rows = list(&plan["strategies"]).iter();
    let bytes = rows.map(|row| row["bytes"].as_u64().unwrap());
    (bytes.collect(), plan["factors_bytes"].as_u64().unwrap())
}

#[test]
fn factors_that_few_runs_need_are_stated_apart() {
    let folder = drawn();
    let (usual, factors) = stated(&folder, "select drawn.svm -k 400 --lambda 4");
    assert!(factors > 140_000_000, "{factors}");
    let tiny = stated(&folder, "select drawn.svm -k 400 --lambda 1e-7");
    assert_eq!(tiny, (usual, factors));
    let select = "select drawn.svm -k 400 --max-memory 80MB";
    promises_hold(&folder, &format!("{select} --lambda 0.1"), &["random"]);
    folder.refused(&format!(
        "{select} --lambda 1e-7 --strategy random => without one factor a query"
    ));
}

#[test]
fn a_run_that_is_refused_leaves_nothing() {
    let folder = drawn();
    let before = folder.list();
    let select = "select drawn.svm -k 5 --max-memory 100MB -o model.json --resume";
    folder.refused(&format!(
        "{select} --lambda 4 --strategy dense => strategy dense needs"
    ));
    // Only seen when the selection begins.
    folder.fails(&format!("{select} --lambda 1e-300 --strategy random"), 1);
    assert_eq!(folder.list(), before);
}

#[test]
fn more_features_than_there_are_take_no_more_memory() {
    let folder = Folder::new();
    let classes = stated(&folder, "select train.svm -k 100 --lambda 1");
    let most = format!("select train.svm -k {} --lambda 1", usize::MAX);
    assert_eq!(stated(&folder, &most), classes);
    folder.warns(&format!("{most} => column classes to select from"));
}

/// The matrix alone would take more. Folds that choose lambda need it.
#[test]
fn a_selection_with_a_lambda_holds_no_matrix_of_all_columns() {
    let folder = Folder::new();
    let select = "select @parses -k 2 --max-memory 4MiB";
    folder.run(&format!("{select} --lambda 16"));
    folder.fails(select, 1);
}

/// A process takes some megabytes besides: its code, buffers of threads, and memory that was freed.
#[test]
fn what_is_accepted_takes_no_more_than_was_allowed() {
    let folder = drawn();
    let (mut accepted, mut refused) = (0, 0);
    for megabytes in [12, 16, 24, 32, 48, 64, 96] {
        for select in ["select drawn.svm -k 2", "select drawn.svm -k 2 --lambda 4"] {
            let line = format!("{select} --max-memory {megabytes}MB --json -q");
            let output = folder.command(&line).output().unwrap();
            if !output.status.success() {
                assert_eq!(output.status.code(), Some(1), "{line}");
                refused += 1;
                continue;
            }
            accepted += 1;
            let run: Value = serde_json::from_slice(&output.stdout).unwrap();
            let (used, limit) = (number(&run["peak_rss_bytes"]), f64::from(megabytes) * 1e6);
            println!("{line}: {:.1} MB", used / 1e6);
            assert!(used < CEILING * limit + 32e6, "{line}: {used}");
        }
    }
    assert!(accepted > 1 && refused > 1, "{accepted} {refused}");
}

#[test]
fn classes_and_folds_are_refused_before_they_take_memory() {
    let folder = drawn();
    let memory = promised(&folder, "select drawn.svm -k 2 --lambda 4");
    let bytes = |field: &str| memory[field].as_u64().unwrap();
    let data = bytes("data_bytes") + bytes("entries_bytes");
    let within = bytes("reading_bytes").max(data) + bytes("candidate_bytes") / 4;
    for arguments in ["info drawn.svm", "tune drawn.svm -k 1 --lambdas 4"] {
        folder.refused(&format!(
            "{arguments} --max-memory {within} => the classes of columns need"
        ));
    }
    let within = data + 2 * bytes("candidate_bytes") + 6_000_000;
    folder.refused(&format!(
        "select drawn.svm -k 1 --max-memory {within} => give one with --lambda: 3 folds need"
    ));
    folder.run(&format!(
        "select drawn.svm -k 1 --lambda 4 --max-memory {within}"
    ));
}
