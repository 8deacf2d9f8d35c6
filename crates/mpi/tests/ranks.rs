//! The program under `mpirun`: any number of ranks gives the same bytes, killed ranks are named, and all ranks give
//! one message.
//!
//! A test kills five jobs, or `RANKRLS_LONG` times as many.

use std::fmt::Write as _;
use std::fs;
use std::io::pipe;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread::{sleep, spawn};
use std::time::{Duration, Instant};

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rankrls::data::DataHash;
use rankrls::data::read::ReadOptions;
use rankrls::greedy::job::{select_among, unwatched};
use rankrls::{GreedyRankRls, Lambda, Model, Scale, StrategyKind};
use serde_json::Value;
use tempfile::TempDir;

#[path = "../../../tests/support/long.rs"]
mod long;

use long::long;

/// `mpirun` in `folder` with these arguments.
fn mpirun(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new("mpirun");
    command
        .current_dir(folder)
        // Allow more ranks than cores, and root, as in a container.
        .args(["--oversubscribe", "--allow-run-as-root"])
        .args(arguments)
        .env("RAYON_NUM_THREADS", "1")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// Most time until a job ends that has lost a rank.
const PATIENCE: Duration = Duration::from_secs(20);

const PROGRAM: &str = env!("CARGO_BIN_EXE_rankrls-mpi");

/// The program on `count` ranks.
fn ranks(folder: &Path, count: usize, arguments: &str) -> Command {
    let count = count.to_string();
    let mut command = mpirun(folder, &["-n", &count, PROGRAM]);
    command.args(arguments.split_whitespace());
    command
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Queries of ten rows, with a dozen of `columns` columns in each.
fn data(rows: usize, columns: u32) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut text = String::new();
    for row in 0..rows {
        write!(text, "{} qid:{}", random.random_range(0..5), row / 10).unwrap();
        let mut indices: Vec<u32> = (0..12).map(|_| random.random_range(1..=columns)).collect();
        indices.sort_unstable();
        indices.dedup();
        for index in indices {
            write!(text, " {index}:{}", random.random_range(1..4)).unwrap();
        }
        text.push('\n');
    }
    fs::write(folder.path().join("data.svm"), text).unwrap();
    folder
}

/// The content of `file` after a run.
fn written(folder: &Path, count: usize, arguments: &str, file: &str) -> Vec<u8> {
    let output = ranks(folder, count, arguments).output().unwrap();
    assert!(
        output.status.success(),
        "{arguments} on {count} ranks: {}",
        stderr(&output)
    );
    let path = folder.join(file);
    let bytes = fs::read(&path).unwrap();
    fs::remove_file(path).unwrap();
    bytes
}

#[test]
fn models_are_the_same_on_any_number_of_ranks() {
    let folder = data(300, 400);
    let strategies = "bounded dense lowmem sampled backfit univariate residual random fs-ed";
    for (number, strategy) in strategies.split_whitespace().enumerate() {
        let arguments =
            format!("select data.svm -k 12 --lambda 1 --strategy {strategy} -o model.json");
        let alone = written(folder.path(), 1, &arguments, "model.json");
        let counts: &[usize] = if number == 0 { &[2, 3, 4, 7] } else { &[3] };
        for &count in counts {
            let found = written(folder.path(), count, &arguments, "model.json");
            assert!(found == alone, "{strategy} on {count} ranks");
        }
    }
}

/// Ranks and a single process select the same.
#[test]
fn models_are_those_of_one_process() {
    let folder = data(300, 400);
    let path = folder.path();
    let text = fs::read_to_string(path.join("data.svm")).unwrap();
    // Scores near the labels, like a teacher's.
    let scores: Vec<f64> = (text.lines().zip(0..))
        .map(|(line, row)| line[..1].parse::<f64>().unwrap() + f64::from(row * 7 % 5) / 10.0)
        .collect();
    let lines: Vec<String> = scores.iter().map(f64::to_string).collect();
    fs::write(path.join("scores.txt"), lines.join("\n")).unwrap();
    let data = ReadOptions::new()
        .read(&path.join("data.svm"))
        .unwrap()
        .dataset;
    let options = |strategy| GreedyRankRls {
        strategy,
        ..GreedyRankRls::new(12, Lambda::new(1.0).unwrap())
    };
    let scaled = GreedyRankRls {
        scale: Some(Scale::Sd),
        ..options(StrategyKind::Bounded)
    };
    let taught = data.clone().with_teacher(scores).unwrap();
    for (arguments, data, options) in [
        ("--strategy bounded", &data, options(StrategyKind::Bounded)),
        ("--strategy bounded --scale sd", &data, scaled),
        (
            "--strategy distil --teacher scores.txt",
            &taught,
            options(StrategyKind::Distil),
        ),
    ] {
        let candidates = options.candidates(data).unwrap();
        let selection = select_among(&candidates, data, &options, &[], &mut unwatched).unwrap();
        let mut expected = Vec::new();
        let model =
            Model::from_selection(&selection, data, &candidates.summary(), DataHash::of(data));
        model.write_to(&mut expected).unwrap();
        let arguments = format!("select data.svm -k 12 --lambda 1 {arguments} -o model.json");
        for count in [1, 2, 4] {
            let found = written(path, count, &arguments, "model.json");
            assert!(found == expected, "{arguments} on {count} ranks");
        }
    }
}

#[test]
fn reports_are_printed_once() {
    let folder = data(100, 60);
    let arguments = "select data.svm -k 3 --lambda 1 --test data.svm";
    let printed = |count, more: &str| {
        let arguments = format!("{arguments} {more}");
        let output = ranks(folder.path(), count, &arguments).output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    let [alone, all] = [1, 3].map(|count| {
        let report: Value = serde_json::from_str(&printed(count, "--json")).unwrap();
        assert_eq!(report["schema"], "rankrls.selection/1");
        report
    });
    for key in ["strategy", "lambda", "data", "weights"] {
        assert_eq!(all[key], alone[key], "{key}");
    }
    for (found, expected) in all["steps"]
        .as_array()
        .unwrap()
        .iter()
        .zip(alone["steps"].as_array().unwrap())
    {
        for key in ["feature", "lqo_error", "lqo_cindex", "test"] {
            assert_eq!(found[key], expected[key], "{key}");
        }
    }
    assert_eq!(printed(2, ""), printed(1, ""));
    let table = printed(1, "");
    let title = table.lines().find(|line| line.starts_with("step\t"));
    let begin = "step\tfeature\tweight\tLQO error\tLQO cindex\ttest ";
    assert!(
        title.is_some_and(|title| title.starts_with(begin)),
        "{table}"
    );
}

/// The reader of its output is gone before it begins.
#[test]
fn a_closed_pipe_ends_it_quietly() {
    let folder = data(40, 20);
    for arguments in [
        "--help",
        "--version",
        "select data.svm -k 3 --lambda 1",
        "select data.svm -k 3 --lambda 1 --json",
    ] {
        let (reader, writer) = pipe().unwrap();
        drop(reader);
        let output = Command::new(PROGRAM)
            .current_dir(folder.path())
            .args(arguments.split_whitespace())
            .stdout(writer)
            .output()
            .unwrap();
        assert!(output.status.success(), "{arguments}: {}", stderr(&output));
        assert!(!stderr(&output).contains("panicked"), "{arguments}");
    }
}

/// Ranks read data as they are. Where only the command has an option, a line below the message says so.
#[test]
fn remedies_name_the_program_that_has_the_option() {
    let folder = data(20, 20);
    fs::write(folder.path().join("t.csv"), "a,b\n1,1\n0,1\n").unwrap();
    fs::write(folder.path().join("zero.svm"), "1 qid:1 0:1\n0 qid:1 1:1\n").unwrap();
    fs::write(folder.path().join("one.svm"), "1 1:1\n0 2:1\n").unwrap();
    for (file, option) in [
        ("t.csv", "--label"),
        ("zero.svm", "--zero-based"),
        ("one.svm", "--query-file"),
    ] {
        let arguments = format!("select {file} -k 1 --lambda 1");
        let told = stderr(&ranks(folder.path(), 1, &arguments).output().unwrap());
        let named = |line: &str| line.contains(option) && line.contains("an option of rankrls,");
        assert!(told.lines().any(named), "{file}: {told}");
    }
}

/// The messages of the ranks, without `mpirun`'s own.
fn errors(output: &Output) -> Vec<String> {
    assert!(!output.status.success());
    let text = stderr(output);
    let lines = text.lines().filter(|line| line.contains("error:"));
    lines.map(str::to_owned).collect()
}

#[test]
fn mistakes_of_all_ranks_are_told_once() {
    let folder = data(20, 20);
    for (arguments, told) in [
        ("select none.svm -k 3 --lambda 1", "error: none.svm"),
        ("select data.svm -k 0 --lambda 1", "error: k is 0"),
        (
            "select data.svm -k 3",
            "error: the following required arguments",
        ),
        (
            "train data.svm --lambda 1",
            "error: unrecognized subcommand",
        ),
        (
            "select data.svm -k 3 --choose-by map --lambda 1",
            "error: --choose-by has nothing to choose",
        ),
        (
            "select data.svm -k 3 --strategy distil --lambda 1",
            "error: ranks do not train a teacher: expected its scores for the rows as --teacher,",
        ),
        (
            "select data.svm -k 3 --lambda 1 --max-memory 100",
            "error: ",
        ),
        (
            "select data.svm -k 3 --lambda 1 -o none/model.json",
            "rank 0: error: cannot write",
        ),
        (
            "select data.svm -k 3 --lambda 1 --test none.svm",
            "rank 0: error: none.svm",
        ),
        (
            "select data.svm -k 3 --lambda 1 -o ./data.svm",
            "error: --output and DATA name the same file",
        ),
    ] {
        let output = ranks(folder.path(), 3, arguments).output().unwrap();
        let errors = errors(&output);
        assert_eq!(errors.len(), 1, "{arguments}: {}", stderr(&output));
        assert!(errors[0].starts_with(told), "{arguments}: {}", errors[0]);
    }
}

#[test]
fn a_rank_that_differs_is_named() {
    let folder = data(20, 20);
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    let changed = fs::read_to_string(folder.path().join("data.svm")).unwrap();
    fs::write(other.join("data.svm"), changed.replacen(":1", ":2", 1)).unwrap();
    let select = |k| format!("select data.svm -k {k} --lambda 1");
    let other = other.to_str().unwrap();
    for (second, folder_of_second, told) in [
        (
            select(4),
            ".",
            "rank 1: error: this rank has another version or other options than rank 0",
        ),
        (
            select(3),
            other,
            "rank 1: error: this rank has other data than rank 0",
        ),
        (select(3), "/", "rank 1: error: data.svm"),
    ] {
        let first = select(3);
        let mut command = mpirun(folder.path(), &["-n", "1", PROGRAM]);
        command.args(first.split(' '));
        command.args([":", "-n", "1", "--wdir", folder_of_second, PROGRAM]);
        let output = command.args(second.split(' ')).output().unwrap();
        let errors = errors(&output);
        assert_eq!(errors.len(), 1, "{}", stderr(&output));
        assert!(errors[0].starts_with(told), "{}", errors[0]);
    }
}

/// The processes of a running job, by rank.
fn processes(parent: u32, count: usize) -> Vec<Option<u32>> {
    let mut found = vec![None; count];
    let children = fs::read_to_string(format!("/proc/{parent}/task/{parent}/children"));
    let children = children.unwrap_or_default();
    for child in children
        .split_whitespace()
        .filter_map(|pid| pid.parse().ok())
    {
        let environment = fs::read(format!("/proc/{child}/environ")).unwrap_or_default();
        let mut variables = environment.split(|&byte| byte == 0);
        let rank = variables.find_map(|variable| variable.strip_prefix(b"OMPI_COMM_WORLD_RANK="));
        let rank = rank.and_then(|rank| std::str::from_utf8(rank).ok()?.parse::<usize>().ok());
        if let Some(place) = rank.and_then(|rank| found.get_mut(rank)) {
            *place = Some(child);
        }
    }
    found
}

fn kill(process: u32) {
    let kill = Command::new("kill")
        .args(["-9", &process.to_string()])
        .output();
    assert!(kill.is_ok());
}

fn lives(process: u32) -> bool {
    let state = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let state = state.rsplit_once(") ");
    state.is_some_and(|(_, state)| !state.starts_with(['Z', 'X']))
}

/// The output of a job of these `ranks`, and whether the ranks had ended while `mpirun` still ran. Open MPI 4.1
/// sometimes waits forever for its own lock after a rank was killed.
fn ended(job: Child, ranks: Vec<u32>) -> (Output, bool) {
    let mpirun = job.id();
    let (over, waited) = channel::<()>();
    let watch = spawn(move || {
        let late = waited.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout);
        let living: Vec<u32> = ranks.into_iter().filter(|&rank| lives(rank)).collect();
        if late {
            kill(mpirun);
            assert!(
                living.is_empty(),
                "ranks that go on without one: {living:?}"
            );
        }
        late
    });
    let output = job.wait_with_output().unwrap();
    drop(over);
    (output, watch.join().unwrap())
}

/// If a rank dies at any moment, the job ends soon and names it, and its files are whole.
#[test]
fn killed_ranks_are_named() {
    let kills = long(5);
    let folder = data(1500, 6000);
    let arguments = "select data.svm -k 60 --lambda 1 --strategy bounded -o model.json";
    let path = folder.path();
    let begin = Instant::now();
    let expected = written(path, 2, arguments, "model.json");
    let whole = begin.elapsed();
    let mut random = ChaCha8Rng::seed_from_u64(7);
    let (mut killed, mut finished, mut hung, mut longest) = (0, 0, 0, Duration::ZERO);
    while killed < kills || finished == 0 {
        let count = random.random_range(2..=4);
        let child = ranks(path, count, arguments).spawn().unwrap();
        let deadline = Instant::now() + Duration::from_secs(60);
        let mut victims = processes(child.id(), count);
        while victims.iter().any(Option::is_none) && Instant::now() < deadline {
            sleep(Duration::from_millis(5));
            victims = processes(child.id(), count);
        }
        sleep(whole.mul_f64(random.random_range(0.0..0.9)));
        let rank = random.random_range(0..count);
        let victims: Vec<u32> = victims.into_iter().flatten().collect();
        assert_eq!(victims.len(), count, "all ranks have started");
        let alive = lives(victims[rank]);
        let died = Instant::now();
        kill(victims[rank]);
        let (output, late) = ended(child, victims);
        let took = died.elapsed();
        if output.status.success() {
            finished += 1;
            assert!(
                fs::read(path.join("model.json")).unwrap() == expected,
                "another result"
            );
            fs::remove_file(path.join("model.json")).unwrap();
            continue;
        }
        assert!(alive, "{}", stderr(&output));
        killed += 1;
        if late {
            hung += 1;
            continue;
        }
        longest = longest.max(took);
        assert!(took < PATIENCE, "ended after {took:?}");
        let named = format!("process rank {rank} ");
        assert!(
            stderr(&output).contains(&named),
            "rank {rank}: {}",
            stderr(&output)
        );
        // Rank 0 may have written the model before it was killed.
        if let Ok(model) = fs::read(path.join("model.json")) {
            assert!(model == expected, "half a file, or another result");
        }
    }
    println!(
        "{killed} kills, {finished} runs ended, mpirun hung in {hung}, else at most {longest:?} until it ended"
    );
    assert!(4 * hung < killed, "{hung} jobs of {killed} never ended");
}
