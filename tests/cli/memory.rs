//! What `select --dry-run` promises of the peak memory of a process, and what it takes.

#![cfg(all(target_os = "linux", feature = "cli"))]

use crate::support::{Folder, text};
use crate::zipf::Zipf;

/// A promise is broken by more than this factor.
const CEILING: f64 = 1.25;

fn promises_hold(folder: &Folder, select: &str) {
    let plan = folder.json(&format!("{select} --dry-run --json"));
    for row in plan["strategies"].as_array().unwrap() {
        let strategy = row["strategy"].as_str().unwrap();
        let run = folder.json(&format!("{select} --strategy {strategy} --json"));
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
    for select in [
        "select drawn.svm -k 5 --lambda 4",
        // So tiny that one factor a query is needed.
        "select drawn.svm -k 5 --lambda 1e-7",
        "select drawn.svm -k 20 --lambda 4 --threads 1",
    ] {
        promises_hold(&folder, select);
    }
}
