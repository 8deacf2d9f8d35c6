//! The peak memory of a process of `select`: the promise of `info`, the truth, and refusals.

#![cfg(target_os = "linux")]

use std::fmt::Write as _;
use std::sync::OnceLock;
use std::time::Duration;
use std::{fs, thread};

use serde_json::Value;

use crate::support::{Folder, TRAIN, list, long, number, text};
use crate::zipf::Zipf;

/// Largest factor between promise and truth, in either direction.
const CEILING: f64 = 1.25;

/// Bytes by which a promise may exceed the truth: small data reuse freed memory.
const SLACK: f64 = 8e6;

/// The promise of `info` for a selection.
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

/// A folder with `drawn.svm`, which all tests share.
fn drawn() -> Folder {
    static DRAWN: OnceLock<String> = OnceLock::new();
    let zipf = Zipf {
        rows: 1500,
        queries: 230,
        columns: 46_000,
        nonzeros: 510_000,
        shared: 85,
        seed: 3,
    };
    let folder = Folder::new();
    folder.write("drawn.svm", DRAWN.get_or_init(|| text(&zipf)));
    folder
}

#[test]
fn strategies_take_what_was_promised() {
    let folder = drawn();
    let selections = [
        // A lambda so tiny that it needs one factor a query.
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
    // Only the selection itself finds this.
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

/// The matrix alone would take more. Only folds that choose lambda need it.
#[test]
fn a_selection_with_a_lambda_holds_no_matrix_of_all_columns() {
    let folder = Folder::new();
    let select = "select @parses -k 2 --max-memory 5MiB";
    folder.run(&format!("{select} --lambda 16"));
    folder.fails(select, 1);
}

const MIB: u64 = 1 << 20;

/// The most memory of a process so far, in bytes, while it runs.
fn high_water(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let mut lines = status.lines();
    let peak = lines.find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = peak.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes << 10)
}

/// Whether a run succeeds, and the peak memory of its process in bytes.
fn taken(folder: &Folder, line: &str) -> (bool, u64) {
    let child = folder.spawn(line);
    let process = child.id();
    let run = thread::spawn(|| child.wait_with_output().unwrap());
    let mut bytes = 0;
    while !run.is_finished() {
        bytes = high_water(process).map_or(bytes, |peak| bytes.max(peak));
        thread::sleep(Duration::from_micros(200));
    }
    let output = run.join().unwrap();
    let log = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        assert_eq!(output.status.code(), Some(1), "{line}: {log}");
        let clear = [
            "are allowed; ",
            "bytes of memory, found",
            "a file of at most",
        ];
        assert!(clear.iter().any(|part| log.contains(part)), "{line}: {log}");
    }
    (output.status.success(), bytes)
}

/// Runs `lines` with each limit in MiB. Each run succeeds or refuses. In both cases it takes at most a quarter more
/// than the limit, besides 8 MiB for code and thread buffers. A program with more code may take that, too. Some
/// runs succeed.
fn limits_hold(folder: &Folder, lines: &[&str], limits: &[u64]) {
    folder.write("little.svm", TRAIN);
    // A short run may end between two looks.
    let runs = (0..5).map(|_| taken(folder, "info little.svm").1);
    let least = runs.max().unwrap();
    let besides = (8 * MIB).max(least + 2 * MIB);
    let mut done = 0;
    for (line, &limit) in lines
        .iter()
        .flat_map(|line| limits.iter().map(move |limit| (line, limit)))
    {
        let line = format!("{line} --max-memory {limit}MiB");
        let (ended_well, bytes) = taken(folder, &line);
        println!("{line}: {} MiB, {ended_well}", bytes / MIB);
        let most = limit * MIB * 5 / 4 + besides;
        assert!(bytes <= most, "{line}: {bytes} bytes of {most}");
        done += usize::from(ended_well);
    }
    assert!(done > lines.len() / 2, "{done} of {} commands", lines.len());
}

/// A pseudo-random number from 0 on.
fn noise(place: u64) -> u64 {
    let mixed = place.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33
}

/// Rows, two a query, with their values other than 0.
fn rows(rows: u64, columns: u64, value: impl Fn(u64) -> u64) -> String {
    let mut text = String::new();
    for row in 0..rows {
        let _ = write!(text, "{} qid:{}", noise(row) % 3, row / 2);
        for column in 1..=columns {
            let value = value(noise(row * columns + column));
            if value > 0 {
                let _ = write!(text, " {column}:{value}");
            }
        }
        text.push('\n');
    }
    text
}

/// Every command that takes data and needs no model.
const COMMANDS: [&str; 8] = [
    "train DATA --lambda 1 -o model.json",
    "tune DATA -k 1 --lambda 1 --holdout lqo",
    "select DATA -k 1 --lambda 1",
    "select DATA -k 1",
    "compare DATA -k 1 --lambda 1 --strategy random",
    "convert DATA -o copy.svm",
    "info DATA -k 1",
    "evaluate DATA --file-order",
];

fn commands(data: &str) -> Vec<String> {
    COMMANDS.map(|line| line.replace("DATA", data)).into()
}

#[test]
fn limits_hold_for_few_rows_of_many_columns() {
    let folder = Folder::new();
    let some = |chance| if chance % 10 < 3 { chance % 1000 } else { 0 };
    folder.write("wide.svm", rows(8, 300_000, some));
    let lines = commands("wide.svm");
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    limits_hold(&folder, &lines, &[12, 60]);
    folder.run("train wide.svm --lambda 1 -o model.json -q");
    let lines = [
        "predict model.json wide.svm -o scores.txt",
        "evaluate wide.svm --model model.json",
    ];
    limits_hold(&folder, &lines, &[24, 160]);

    // Each column of a class has a weight, so few classes make large models.
    folder.write("alike.svm", rows(6, 300_000, |chance| chance % 3));
    let line = "train alike.svm --lambda 1 -o model.json";
    limits_hold(&folder, &[line], &[30, 40, 50, 60, 70, 80]);
}

#[test]
fn limits_hold_for_many_rows_of_few_columns() {
    let folder = Folder::new();
    folder.write("long.svm", rows(150_000, 2, |chance| chance % 1000));
    let lines = commands("long.svm");
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    limits_hold(&folder, &lines, &[20, 70]);
    folder.run("train long.svm --lambda 1 -o model.json -q");
    let lines = [
        "predict model.json long.svm -o scores.txt",
        "evaluate long.svm --model model.json --csv queries.csv",
    ];
    limits_hold(&folder, &lines, &[12, 100]);
}

#[test]
fn limits_hold_for_a_line_that_is_longer_than_all_others() {
    let folder = Folder::new();
    let mut text = rows(4, 3, |chance| chance % 1000);
    text.push_str("1 qid:2");
    (4..900_000).for_each(|column| {
        let _ = write!(text, " {column}:1");
    });
    text.push_str("\n0 qid:2 1:2\n");
    folder.write("line.svm", text);
    let lines = commands("line.svm");
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    limits_hold(&folder, &lines, &[16, 120]);
}

#[test]
fn limits_hold_for_a_table_of_many_columns() {
    let folder = Folder::new();
    let mut table = String::from("label,query");
    (0..40_000).for_each(|column| {
        let _ = write!(table, ",name_{column}");
    });
    for row in 0..8 {
        let _ = write!(table, "\n{},{}", row % 3, row / 2);
        (0..40_000).for_each(|column| {
            let _ = write!(table, ",{}", noise(row * 40_000 + column) % 7);
        });
    }
    folder.write("wide.csv", table);
    let read = "wide.csv --label label --query query";
    let lines = [
        format!("train {read} --lambda 1"),
        format!("select {read} -k 1 --lambda 1"),
        format!("info {read}"),
    ];
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    limits_hold(&folder, &lines, &[10, 48]);
}

#[test]
fn what_is_accepted_takes_no_more_than_was_allowed() {
    let folder = drawn();
    let lines = ["select drawn.svm -k 2", "select drawn.svm -k 2 --lambda 4"];
    limits_hold(&folder, &lines, &[12, 32, 96]);
}

#[test]
fn classes_and_folds_are_refused_before_they_take_memory() {
    let folder = drawn();
    let memory = promised(&folder, "select drawn.svm -k 2 --lambda 4");
    let bytes = |field: &str| memory[field].as_u64().unwrap();
    let data = bytes("data_bytes") + bytes("entries_bytes");
    let within = bytes("reading_bytes").max(data) + bytes("candidate_bytes") / 4;
    for arguments in ["info drawn.svm", "tune drawn.svm -k 1 --lambda 4"] {
        folder.refused(&format!(
            "{arguments} --max-memory {within} => the classes of columns need"
        ));
    }
    let within = data + 2 * bytes("candidate_bytes") + 6_000_000;
    // Folds without memory choose nothing.
    let (text, _) = folder.run(&format!("select drawn.svm -k 1 --max-memory {within}"));
    let told = "nothing was chosen by folds: the ";
    assert!(text.contains(told), "{text}");
    folder.run(&format!(
        "select drawn.svm -k 1 --lambda 4 --max-memory {within}"
    ));
}
