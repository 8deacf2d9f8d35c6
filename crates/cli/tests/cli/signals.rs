#![cfg(unix)]

use std::fs::File;
use std::io::{Read, Write as _};
use std::process::{Child, Command, Output, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, openpt, ptsname, unlockpt};
use serde_json::Value;

use crate::support::{Folder, generated, list};

/// A program whose standard error is a terminal.
pub(crate) struct OnTerminal {
    pub(crate) child: Child,
    terminal: File,
}

impl OnTerminal {
    pub(crate) fn spawn(folder: &Folder, arguments: &str) -> Self {
        let terminal = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        unlockpt(&terminal).unwrap();
        let name = ptsname(&terminal, Vec::new()).unwrap().into_string();
        let other_side = File::options().write(true).open(name.unwrap()).unwrap();
        let mut command = folder.command(arguments);
        command.env("TERM", "xterm").env("NO_COLOR", "1");
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        Self {
            child: command.stderr(other_side).spawn().unwrap(),
            terminal: terminal.into(),
        }
    }

    /// Waits until the terminal shows `text`. The rest is read so that nothing waits.
    pub(crate) fn wait_for(&self, text: &str) -> JoinHandle<String> {
        let mut terminal = self.terminal.try_clone().unwrap();
        let mut shown = Vec::new();
        let mut some = [0; 4096];
        while !String::from_utf8_lossy(&shown).contains(text) {
            let read = terminal.read(&mut some).unwrap_or(0);
            let so_far = String::from_utf8_lossy(&shown);
            assert!(read > 0, "no {text} in {so_far}");
            shown.extend(&some[..read]);
        }
        thread::spawn(move || {
            let mut rest = Vec::new();
            // A terminal that nobody writes to any more ends with an error.
            let _ended = terminal.read_to_end(&mut rest);
            plain(&String::from_utf8(rest).unwrap())
        })
    }
}

/// The lines that are left on a terminal, without its orders to go back and to clear a line.
fn plain(shown: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    for line in shown.split_inclusive('\n') {
        let last = line.trim_end().rsplit("\x1b[2K").next().unwrap_or(line);
        lines.push(last.replace('\r', ""));
    }
    lines.join("\n") + "\n"
}

pub(crate) fn signal(child: &Child, name: &str) {
    let status = Command::new("kill")
        .args([name, &child.id().to_string()])
        .status();
    assert!(status.unwrap().success());
}

/// Signals a run once its terminal shows `line`: its output, and the lines that the terminal shows then.
pub(crate) fn signalled(
    folder: &Folder,
    arguments: &str,
    line: &str,
    name: &str,
) -> (Output, String) {
    let program = OnTerminal::spawn(folder, arguments);
    let rest = program.wait_for(line);
    let mut child = program.child;
    // Its standard input stays open.
    let input = child.stdin.take();
    signal(&child, name);
    let output = child.wait_with_output().unwrap();
    drop(input);
    (output, rest.join().unwrap())
}

/// The same by Ctrl-C, with its exit code.
pub(crate) fn interrupt(folder: &Folder, arguments: &str, line: &str) -> (Vec<u8>, String) {
    let (output, rest) = signalled(folder, arguments, line, "-INT");
    assert_eq!(output.status.code(), Some(130), "{arguments}: {rest}");
    (output.stdout, rest)
}

fn interrupted(name: &str, code: i32) {
    let folder = Folder::new();
    // A step takes much longer than the answer to a signal.
    folder.write("big.svm", generated(2_000, 4_000));
    folder.write("model.json", "old");
    let arguments = "select big.svm -k 1500 --lambda 1 --strategy lowmem --criterion map --json \
                     -o model.json";
    let (output, rest) = signalled(&folder, arguments, "LQO error", name);
    assert_eq!(output.status.code(), Some(code));
    assert!(rest.contains("warning: interrupted after "));
    let answer = "finishing the steps at work, Ctrl-C again to stop at once\n";
    let told = rest.find(answer).expect(&rest);
    assert!(told < rest.find("interrupted after").unwrap());
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(document["ending"], "interrupted");
    let steps = list(&document["steps"]).len();
    assert!((1..1500).contains(&steps), "{steps}");
    let kept = format!(
        "interrupted after {steps} of 1500 features, which are in the report; model.json.part has {steps}, and \
         --resume goes on\n"
    );
    assert!(rest.contains(&kept), "{rest}");
    assert_eq!(folder.read("model.json"), "old");
    let model = folder.json("inspect model.json.part --json");
    assert_eq!(list(&model["steps"]).len(), steps);
    assert_eq!(model["steps"][0]["weight"], document["weights"][0]);
}

#[test]
fn an_interrupt_saves_what_there_is() {
    interrupted("-INT", 130);
}

#[test]
fn a_request_to_end_saves_what_there_is() {
    interrupted("-TERM", 143);
}

/// A lost terminal ends the run, unless the tests run without a terminal, under nohup.
#[test]
fn a_lost_terminal_saves_what_there_is() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.unwrap().trim(), 16).unwrap();
    if ignored & 1 == 0 {
        interrupted("-HUP", 129);
    }
}

/// No more threads than a machine can use, however their number is given.
#[test]
fn threads_are_a_few_a_core() {
    let folder = Folder::new();
    folder.misused("info train.svm --threads 60000 => --threads is 60000: expected at most ");
    for name in ["RAYON_NUM_THREADS", "RAYON_RS_NUM_CPUS"] {
        let output = folder
            .command("info train.svm")
            .env(name, "60000")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(2));
        let errors = String::from_utf8(output.stderr).unwrap();
        assert!(
            errors.starts_with(&format!("error: {name} is 60000: expected at most ")),
            "{errors}"
        );
    }
}

#[test]
fn an_interrupt_chooses_among_what_there_is() {
    let folder = Folder::new();
    folder.write("big.svm", generated(1500, 3000));
    let arguments = "tune big.svm -k 1500 --strategy lowmem --holdout lqo --json -o model.json";
    let (output, rest) = interrupt(&folder, arguments, ", lambda ");
    assert!(
        rest.contains("warning: interrupted: the choice is among "),
        "{rest}"
    );
    assert!(rest.contains(" models; other steps are lost\n"), "{rest}");
    let document: Value = serde_json::from_slice(&output).unwrap();
    assert_eq!(document["interrupted"], true);
    let k = document["chosen"]["k"].as_u64().unwrap();
    assert!((1..1500).contains(&k), "{k}");
    let model = folder.json("inspect model.json --json");
    assert_eq!(list(&model["steps"]).len() as u64, k);
    // What a run has ended with stays.
    folder.write("model.json", "older");
    let (_, rest) = interrupt(
        &folder,
        &format!("{arguments} --table new.csv"),
        ", lambda ",
    );
    let told =
        "interrupted: model.json is there already and stays, and files beside it were not written";
    assert!(rest.contains(told), "{rest}");
    assert_eq!(folder.read("model.json"), "older");
    assert!(!folder.path("new.csv").exists());
}

/// No later strategy begins, and the present folds are lost.
#[test]
fn an_interrupt_ends_all_strategies() {
    let folder = Folder::new();
    folder.write("big.svm", generated(1500, 3000));
    let arguments = "tune big.svm -k 1500 --strategy lowmem,distil,dense --holdout folds:2 \
                     --choose-by cindex --lambda 1,4";
    let (output, rest) = interrupt(&folder, arguments, ", lambda ");
    assert!(output.is_empty());
    let kept = "warning: interrupted before there was anything to choose from: nothing was saved\n";
    assert!(rest.contains(kept), "{rest}");
}

#[test]
fn before_there_is_anything_to_save_an_interrupt_ends_at_once() {
    let folder = Folder::new();
    let before = folder.list();
    for command in [
        "select - -k 1 --lambda 1 -o model.json",
        "tune - -k 1 -o model.json",
        "train - -o model.json",
        "compare - -k 1 --strategy dense,lowmem",
        "evaluate - --scores names.txt",
    ] {
        // It would wait forever for its standard input.
        let (output, rest) = interrupt(&folder, command, "reading");
        assert!(output.is_empty(), "{command}");
        assert!(
            rest.ends_with("warning: interrupted: nothing was saved\n"),
            "{command}: {rest}"
        );
        assert_eq!(folder.list(), before, "{command}");
    }
}

#[test]
fn an_interrupt_ends_a_teacher_and_the_training_of_all_features() {
    let folder = Folder::new();
    folder.write("big.svm", generated(3000, 6000));
    let select = "select big.svm -k 9 --strategy distil";
    for (command, line, left) in [
        (select.to_owned(), "0/9 steps", "nothing was saved"),
        (
            "train big.svm --lambda 1 --solver dual".to_owned(),
            "training",
            "nothing was saved",
        ),
    ] {
        let (output, rest) = interrupt(&folder, &command, line);
        assert!(output.is_empty(), "{command}");
        let told = format!("warning: interrupted: {left}\n");
        assert!(rest.ends_with(&told), "{command}: {rest}");
    }
}

/// The second interrupt comes in a step, or while the model is saved.
#[test]
fn two_interrupts_leave_whole_files() {
    let folder = Folder::new();
    folder.write("big.svm", generated(1500, 3000));
    folder.write("model.json", "old");
    let arguments = "select big.svm -k 1500 --lambda 1 --strategy lowmem -o model.json";
    let program = OnTerminal::spawn(&folder, arguments);
    let rest = program.wait_for("LQO error");
    let child = program.child;
    signal(&child, "-INT");
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    rest.join().unwrap();
    assert_eq!(folder.read("model.json"), "old");
    let model = folder.document("model.json.part");
    assert_eq!(model["unfinished"]["taken"], list(&model["steps"]).len());
}

/// Commands, and what the terminal shows once they are at work; those that read `-` get rows without an end.
const AT_WORK: [(&str, &str); 11] = [
    (
        "select big.svm -k 1500 --lambda 1 --strategy lowmem",
        "LQO error",
    ),
    ("select big.svm -k 50", "steps"),
    ("tune big.svm -k 50", "steps"),
    (
        "tune big.svm -k 1500 --lambda 1,4 --strategy lowmem",
        ", lambda ",
    ),
    (
        "compare big.svm -k 1500 --lambda 1 --strategy lowmem",
        "LQO error",
    ),
    ("train big.svm --lambda 1 --solver dual", "training"),
    ("info - -k 5", "reading"),
    ("predict model.json -", "reading"),
    ("explain model.json - q", "reading"),
    ("evaluate - --file-order", "reading"),
    ("convert - -o copy.svm", "reading"),
];

/// How long a command works on after Ctrl-C.
fn time_to_end(folder: &Folder, arguments: &str, line: &str) -> Duration {
    let mut program = OnTerminal::spawn(folder, arguments);
    let mut input = program.child.stdin.take().unwrap();
    let rows = b"1 qid:q 1:1\n0 qid:q 2:1\n";
    let fed = thread::spawn(move || while input.write_all(rows).is_ok() {});
    let rest = program.wait_for(line);
    thread::sleep(Duration::from_millis(100));
    let begin = Instant::now();
    signal(&program.child, "-INT");
    let status = program.child.wait().unwrap();
    let time = begin.elapsed();
    let rest = rest.join().unwrap();
    assert_eq!(status.code(), Some(130), "{arguments}: {rest}");
    fed.join().unwrap();
    time
}

/// The shortest of three times, as other processes may hold one up.
#[test]
fn an_interrupt_ends_every_command_within_a_second() {
    let folder = Folder::new();
    folder.write("big.svm", generated(3_000, 6_000));
    folder.run("select train.svm -k 2 --lambda 1 -o model.json");
    for (arguments, line) in AT_WORK {
        let times = [(); 3].map(|()| time_to_end(&folder, arguments, line));
        println!("{times:?}: {arguments}");
        let ended = times.iter().any(|time| *time < Duration::from_secs(1));
        assert!(ended, "{arguments}: {times:?}");
    }
}
