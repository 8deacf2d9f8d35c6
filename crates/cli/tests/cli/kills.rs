//! Processes killed at random moments. They leave nothing half-written, and a resumed run ends with the bytes of an
//! unbroken one.
//!
//! A usual run kills one selection over a finished model. `RANKRLS_LONG` kills every job, and is the factor of
//! kills.

#![cfg(unix)]

use std::fs;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use crate::build::link_grammar::{link_grammar, shipped_sentences};
use crate::build::{FILES, rows};
use crate::signals::signal;
use crate::support::{Folder, generated, long};

/// Whether every job is killed.
fn every_job() -> bool {
    let set = std::env::var_os("RANKRLS_LONG").is_some();
    if !set {
        eprintln!("NOT TESTED: RANKRLS_LONG is not set");
    }
    set
}

/// A command that resumes after a kill.
struct Job {
    folder: Folder,
    arguments: String,
    /// Files that it writes.
    outputs: &'static [&'static str],
    /// Files that it resumes from. They are removed before a new start.
    traces: &'static [&'static str],
}

impl Job {
    fn command(&self) -> Command {
        let mut command = self.folder.command(&self.arguments);
        command.stdin(Stdio::null()).stdout(Stdio::null());
        command.stderr(Stdio::null());
        command
    }

    fn read(&self) -> Vec<Option<Vec<u8>>> {
        let read = |name: &&str| fs::read(self.folder.path(name)).ok();
        self.outputs.iter().map(read).collect()
    }

    fn remove(&self, names: &[&str]) {
        for path in names.iter().map(|name| self.folder.path(name)) {
            let _ = fs::remove_file(&path).or_else(|_| fs::remove_dir_all(&path));
        }
    }

    /// Runs to the end, with nothing to resume from.
    fn unbroken(&self) -> (Vec<Option<Vec<u8>>>, Duration) {
        let begin = Instant::now();
        let status = self.command().status().unwrap();
        assert!(status.success(), "{}", self.arguments);
        let (found, time) = (self.read(), begin.elapsed());
        assert!(found.iter().all(Option::is_some), "{:?}", self.outputs);
        self.remove(self.outputs);
        self.remove(self.traces);
        (found, time)
    }

    /// Runs for `life`, or to its end. Returns whether it was killed, or ended by a signal.
    fn is_ended_after(&self, life: Duration, killed: bool) -> bool {
        let mut child = self.command().spawn().unwrap();
        std::thread::sleep(life);
        if killed {
            // Killing an ended process does nothing.
            child.kill().unwrap();
        } else if child.try_wait().unwrap().is_none() {
            signal(&child, "-TERM");
        }
        let status = child.wait().unwrap();
        assert!(matches!(status.code(), None | Some(0 | 143)), "{status}");
        !status.success()
    }

    /// Kills and resumes until the kills are done, and then the job.
    fn survive(&self, kills: usize, seed: u64) {
        let (expected, time) = self.unbroken();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let (mut killed, mut finished) = (0, 0);
        while killed < kills || finished == 0 {
            let share: f64 = random.random_range(0.0..1.1);
            if self.is_ended_after(time.mul_f64(share), random.random()) {
                killed += 1;
                for (found, expected) in self.read().iter().zip(&expected) {
                    let whole = found == expected || found.is_none();
                    assert!(
                        whole,
                        "half a file after {killed} kills: {}",
                        self.arguments
                    );
                }
            } else {
                finished += 1;
                assert!(
                    self.read() == expected,
                    "another result: {}",
                    self.arguments
                );
                self.remove(self.outputs);
                self.remove(self.traces);
            }
        }
        println!("{killed} kills, {finished} runs ended: {}", self.arguments);
    }
}

/// A treebank of sentences of two words and a mark, and two parses of each.
fn treebank(folder: &Folder, sentences: usize) {
    let (mut gold, mut candidates) = (String::new(), String::new());
    for number in 0..sentences {
        let (first, second) = (format!("w{}", number % 50), format!("v{number}"));
        let parse = |last| {
            let words = [(&*first, "X", 2), (&*second, "X", 0), ("end", "X", last)];
            rows(&format!("s{number}"), &words)
        };
        gold += &parse(2);
        candidates += &(parse(2) + &parse(1));
    }
    folder.write("gold.conllu", gold);
    folder.write("nbest.conllu", candidates);
}

fn job(arguments: &str, outputs: &'static [&'static str], traces: &'static [&'static str]) -> Job {
    let folder = Folder::empty();
    folder.write("data.svm", generated(800, 1600));
    job_in(folder, arguments, outputs, traces)
}

fn job_in(
    folder: Folder,
    arguments: &str,
    outputs: &'static [&'static str],
    traces: &'static [&'static str],
) -> Job {
    Job {
        folder,
        arguments: arguments.to_owned(),
        outputs,
        traces,
    }
}

#[test]
fn selections_survive() {
    if !every_job() {
        return;
    }
    for (number, strategy) in ["dense", "bounded", "sampled --seed 3"].iter().enumerate() {
        let arguments = format!(
            "select data.svm -k 30 --lambda 1 --strategy {strategy} -o model.json --resume"
        );
        let job = job(&arguments, &["model.json"], &["model.json.part"]);
        job.survive(long(2), number as u64);
    }
}

/// At any moment there is the old model or the new one, and beside it nothing, or a model to resume from.
#[test]
fn a_finished_model_is_never_replaced_by_an_unfinished_one() {
    let folder = Folder::empty();
    folder.write("data.svm", generated(400, 1000));
    let select = "select data.svm -k 50 --lambda 1 --strategy dense -q -o";
    let run = |arguments: &str| {
        let mut command = folder.command(arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        command
    };
    folder.run("select data.svm -k 5 --lambda 2 -o old.json");
    let begin = Instant::now();
    folder.run(&format!("{select} new.json"));
    let time = begin.elapsed();
    let (old, new) = (folder.read("old.json"), folder.read("new.json"));
    let part = folder.path("model.json.part");
    let mut random = ChaCha8Rng::seed_from_u64(5);
    let (mut killed, mut with_work) = (0, 0);
    while killed < long(10) || with_work < 3 {
        folder.write("model.json", &old);
        let mut child = run(&format!("{select} model.json")).spawn().unwrap();
        // Every other kill comes as soon as there is work.
        while killed % 2 == 0 && !part.exists() && child.try_wait().unwrap().is_none() {
            std::thread::yield_now();
        }
        std::thread::sleep(time.mul_f64(random.random_range(0.0..0.9)));
        child.kill().unwrap();
        let done = child.wait().unwrap().success();
        let found = folder.read("model.json");
        assert!(found == new || !done && found == old);
        assert!(!done || !part.exists());
        killed += usize::from(!done);
        if part.exists() {
            with_work += 1;
            let model = folder.json("inspect model.json.part --json -q");
            let taken = model["steps"].as_array().unwrap().len();
            assert_eq!(model["unfinished"]["taken"], taken);
            folder.run(&format!("{select} model.json --resume"));
            assert_eq!(folder.read("model.json"), new);
            assert!(!part.exists());
        }
        for name in folder.list() {
            if name.starts_with(".rankrls-") {
                fs::remove_file(folder.path(&name)).unwrap();
            }
        }
        assert_eq!(
            folder.list(),
            ["data.svm", "model.json", "new.json", "old.json"]
        );
    }
}

/// At any moment there is the old corpus or the new one, whole, or none if there was none.
#[test]
fn corpora_appear_at_once() {
    if !every_job() {
        return;
    }
    let folder = Folder::empty();
    treebank(&folder, 300);
    let corpus = || {
        let read = |name: &&str| fs::read(folder.path(name)).unwrap();
        let there = folder.path("c").exists();
        there.then(|| FILES.iter().map(read).collect::<Vec<_>>())
    };
    let build = |seed: u64| {
        let line = format!("build gold.conllu --candidates nbest.conllu --seed {seed} -o c -q");
        let mut command = folder.command(&line);
        command.stdin(Stdio::null()).stderr(Stdio::null());
        command
    };
    let begin = Instant::now();
    let whole = [0, 1].map(|seed| {
        assert!(build(seed).status().unwrap().success());
        corpus()
    });
    let time = begin.elapsed() / 2;
    let mut random = ChaCha8Rng::seed_from_u64(20);
    let mut killed = 0;
    while killed < long(36) {
        if random.random_ratio(1, 3) {
            let _ = fs::remove_dir_all(folder.path("c"));
        }
        let (before, seed) = (corpus(), killed % 2);
        let mut child = build(seed as u64).spawn().unwrap();
        std::thread::sleep(time.mul_f64(random.random_range(0.0..1.1)));
        let by = ["-KILL", "-INT", "-TERM"][killed % 3];
        signal(&child, by);
        let done = child.wait().unwrap().success();
        let found = corpus();
        assert!(found == whole[seed] || !done && found == before, "{by}");
        for name in folder.list() {
            // A kill may leave an unnamed folder.
            let is_left = !done && by == "-KILL" && name.starts_with(".rankrls-");
            if is_left {
                fs::remove_dir_all(folder.path(&name)).unwrap();
            }
            let known = ["c", "gold.conllu", "nbest.conllu"].contains(&&*name);
            assert!(is_left || known, "{by}: {name}");
        }
        killed += usize::from(!done);
    }
}

/// A signal, unlike a kill, leaves no folder without a name either.
#[test]
fn a_signal_leaves_nothing_of_a_build() {
    let folder = Folder::empty();
    treebank(&folder, 600);
    let build = "build gold.conllu --candidates nbest.conllu -q -o c";
    let begin = Instant::now();
    folder.run(build);
    let time = begin.elapsed();
    let mut ended = 0;
    for eighths in 1..8 {
        fs::remove_dir_all(folder.path("c")).unwrap_or_default();
        let mut child = folder.spawn(build);
        std::thread::sleep(time * eighths / 8);
        if child.try_wait().unwrap().is_none() {
            signal(&child, "-TERM");
        }
        let code = child.wait().unwrap().code();
        assert!(matches!(code, Some(0 | 143)), "{code:?}");
        let left = folder.list();
        let whole = ["c", "gold.conllu", "nbest.conllu"];
        assert_eq!(left, whole[usize::from(code == Some(143))..], "{code:?}");
        ended += usize::from(code == Some(143));
    }
    assert!(ended > 0, "all builds were done before their signals");
}

#[test]
fn builds_by_link_grammar_survive() {
    if !every_job() || !link_grammar() {
        return;
    }
    let folder = Folder::empty();
    let arguments = "build t.conllu --link-grammar --linkages 8 --resume -o c";
    let job = job_in(folder, arguments, &FILES, &["c", "c.part"]);
    job.folder.write("t.conllu", shipped_sentences(20));
    job.survive(long(1), 21);
}

#[test]
fn conversions_survive() {
    if !every_job() {
        return;
    }
    let folder = Folder::empty();
    folder.write("data.svm", generated(8000, 1600));
    let arguments = "convert data.svm -o out.svm";
    let outputs = &["out.svm"];
    job_in(folder, arguments, outputs, &[]).survive(long(5), 30);
}

/// After a kill there are files of the run before or of this one, and never both. Some may be missing.
#[test]
fn files_of_a_data_set_are_never_of_two_runs() {
    let folder = Folder::empty();
    folder.write("data.svm", generated(2000, 1600));
    let names: Vec<String> = (1..=1600)
        .map(|column| format!("column {column}\n"))
        .collect();
    folder.write("data.names.txt", names.concat());
    let outputs = ["out.svm", "out.names.txt", "out.svm.query"];
    let read = || outputs.map(|name| fs::read_to_string(folder.path(name)).ok());
    let mut command = folder.command("convert data.svm --to lightgbm -o out.svm -q");
    let begin = Instant::now();
    assert!(command.status().unwrap().success());
    let (new, time) = (read(), begin.elapsed());
    assert!(new.iter().all(Option::is_some));
    let mut random = ChaCha8Rng::seed_from_u64(40);
    let mut killed = 0;
    while killed < long(20) {
        for name in outputs {
            folder.write(name, "old");
        }
        let mut child = command.spawn().unwrap();
        std::thread::sleep(time.mul_f64(random.random_range(0.0..1.1)));
        child.kill().unwrap();
        let done = child.wait().unwrap().success();
        killed += usize::from(!done);
        let found = read();
        let is_old = found.iter().flatten().all(|text| text == "old");
        let is_new = found
            .iter()
            .zip(&new)
            .all(|(found, new)| found.is_none() || found == new);
        assert!(
            found == new || !done && (is_old || is_new),
            "{killed}: {found:?}"
        );
    }
}
