//! A parser that cuts at blanks, and links each word to the one before, or all words to the first.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::{EATERS, FILES, content_heads, counts, rows, sentence};
use crate::signals::signal;
use crate::support::{Folder, list};

const PARSER: &str = r#"#!/bin/sh
echo 'Info: Dictionary version 1.0, x' >&2
echo 'Info: Library version simple-1. Enter' >&2
while IFS= read -r line; do
    case "$line" in
    !limit=*) echo "limit set to ${line#*=}" ;;
    x) echo '[0]' ;;
    *hang*) sleep 1000 ;;
    *garble*) echo 'cost vector = (BETTER=1)'; echo '[0]' ;;
    *crash*) exit 1 ;;
    *)
        [ -e "$SLOW" ] && sleep 0.1
        set -f; set -- $line
        words='[(LEFT-WALL)'; chain='[[0 1 0 (Wd)]'; star=$chain; n=0
        for word; do
            n=$((n + 1)); words="$words($word)"
            [ $n -gt 1 ] && chain="$chain[$((n - 1)) $n 0 (A)]" && star="$star[1 $n 0 (B)]"
        done
        for links in "$chain" "$star"; do
            echo '	Linkage 1, cost vector = (UNUSED=0 DIS= 0.50 LEN=3)'
            echo '    LEFT-WALL 0.000 Wd+'; echo; echo "$words(RIGHT-WALL)]"; echo "$links]"; echo '[0]'
        done ;;
    esac
done
"#;

/// A folder with a treebank of forty sentences, and a parser that is a script.
fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("link-parser", PARSER);
    let executable = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.path("link-parser"), executable).unwrap();
    let mut gold = String::new();
    for number in 0..40 {
        let word = format!("w{number}");
        gold += &rows(&format!("s{number}"), &sentence(&word, 2));
    }
    folder.write("gold.conllu", gold);
    folder
}

const BUILD: &str = "build gold.conllu --link-grammar";

const PARSES: &str = "cut.part";

fn files(folder: &Folder, name: &str) -> [Vec<u8>; 6] {
    FILES.map(|file| fs::read(folder.path(&file.replacen('c', name, 1))).unwrap())
}

fn start(folder: &Folder, prefix: &str) -> Child {
    let arguments = format!("{BUILD} --threads 2 -q -o {prefix}");
    let mut command = folder.command(&arguments);
    command.env("SLOW", folder.path("link-parser"));
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

/// Waits until some sentences have answers.
fn wait_for_answers(folder: &Folder) {
    let begin = Instant::now();
    let long = || fs::metadata(folder.path(PARSES)).is_ok_and(|file| file.len() > 2000);
    while !long() {
        assert!(begin.elapsed() < Duration::from_secs(60), "no answers");
        sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_run_that_was_killed_ends_as_a_whole_one() {
    let folder = folder();
    folder.run(&format!("{BUILD} -o whole"));
    let mut child = start(&folder, "cut");
    wait_for_answers(&folder);
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!folder.path("cut").exists());
    folder.write("n.conllu", rows("s0", &sentence("w0", 2)));
    let parsed = folder.read(PARSES).lines().count() - 1;
    folder.refused(&format!(
        "{BUILD} -o cut => {PARSES}: expected no unfinished work, found {parsed} parsed sentences (go on with --resume, or delete it)"
    ));
    folder.refused(&format!(
        "build gold.conllu --candidates n.conllu -o cut => {PARSES}: expected no unfinished work, found {parsed} sentences parsed by --link-grammar ("
    ));
    folder.refused(&format!("{BUILD} --linkages 5 --resume -o cut => {PARSES}:1:1: expected the work of a run with linkages 5, found linkages 20"));
    let torn = fs::read(folder.path(PARSES)).unwrap();
    folder.write(PARSES, &torn[..torn.len() - 3]);
    folder.run(&format!("{BUILD} --resume -o cut"));
    assert_eq!(files(&folder, "cut"), files(&folder, "whole"));
    assert!(!folder.path("cut.part").exists());
}

#[test]
fn prepositions_below_their_nouns_are_told_once() {
    let folder = folder();
    let told = "8 prepositions of the treebank depend on nouns";
    let warned = |arguments: &str| {
        let (_, errors) = folder.run(&format!("{BUILD} {arguments} -o c"));
        errors.matches("warning: ").count() == 1 && errors.contains(told)
    };
    assert!(!warned(""), "no preposition depends on a noun");
    let gold = EATERS.map(|who| content_heads(who, 2)).concat();
    folder.write("gold.conllu", gold);
    assert!(warned(""));
    assert!(warned("--templates labels,costs"));
    assert!(!warned("--heads content"));
    assert!(!warned("--heads function"));
}

#[test]
fn an_interrupt_keeps_the_parses() {
    let folder = folder();
    let gold = folder.read("gold.conllu");
    folder.write(
        "gold.conllu",
        gold.replace("# sent_id = s2", "# newdoc\n# sent_id = s2"),
    );
    folder.run(&format!("{BUILD} -o whole"));
    let child = start(&folder, "cut");
    wait_for_answers(&folder);
    signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(!folder.path("cut").exists());
    folder.run(&format!("{BUILD} --resume -o cut"));
    assert_eq!(files(&folder, "cut"), files(&folder, "whole"));
    assert!(folder.document("cut/manifest.json")["documents"].is_object());
}

#[test]
fn damaged_answers_are_refused_with_their_place() {
    let folder = folder();
    folder.run(&format!("{BUILD} -o whole"));
    let mut child = start(&folder, "cut");
    wait_for_answers(&folder);
    child.kill().unwrap();
    child.wait().unwrap();
    let answers = folder.read(PARSES);
    let first: usize = answers.lines().take(1).map(|line| line.len() + 1).sum();
    let mut damaged = answers.clone().into_bytes();
    damaged[first] = b'x';
    folder.write(PARSES, &damaged);
    let resume = format!("{BUILD} --resume -o cut");
    folder.refused(&format!(
        "{resume} => {PARSES}:2:1: expected the outcome of one of 40 sentences, found "
    ));
    assert_eq!(fs::read(folder.path(PARSES)).unwrap(), damaged);
    folder.write(PARSES, &answers[..first]);
    folder.run(&resume);
    assert_eq!(files(&folder, "cut"), files(&folder, "whole"));
}

#[test]
fn a_second_process_does_not_write_the_same_corpus() {
    let folder = folder();
    let mut child = start(&folder, "cut");
    wait_for_answers(&folder);
    for resume in ["", "--resume"] {
        folder.refused(&format!(
            "{BUILD} {resume} -o cut => cut.part: expected a file that no other process writes"
        ));
    }
    assert!(child.wait().unwrap().success());
    folder.run(&format!("{BUILD} -o whole"));
    assert_eq!(files(&folder, "cut"), files(&folder, "whole"));
}

/// Builds with the parser `body` until `end` ends the run. Checks that every process of the parser ends, and
/// returns the messages of the run.
fn ends_with_its_parser(body: &str, end: impl FnOnce(&Child)) -> String {
    let folder = folder();
    let pids = folder.path("pids");
    let body = format!("#!/bin/sh\necho $$ >> pids\n{body}");
    let body = body.replace("pids", &pids.display().to_string());
    folder.write("link-parser", &body);
    let child = start(&folder, "c");
    let begin = Instant::now();
    while fs::read_to_string(&pids).map_or(0, |text| text.lines().count()) < 2 {
        assert!(begin.elapsed() < Duration::from_secs(60), "no parser");
        sleep(Duration::from_millis(10));
    }
    end(&child);
    let output = child.wait_with_output().unwrap();
    assert!(
        matches!(output.status.code(), Some(1 | 130 | 143)),
        "{output:?}"
    );
    // The system may remove a killed process later.
    let begin = Instant::now();
    for process in folder.read("pids").lines() {
        loop {
            let state = std::process::Command::new("ps")
                .args(["-o", "stat=", "-p", process])
                .output();
            let state = String::from_utf8(state.unwrap().stdout).unwrap();
            if state.is_empty() || state.starts_with('Z') {
                break;
            }
            let late = begin.elapsed() > Duration::from_secs(10);
            assert!(!late, "{body}: {process} is {state}");
            sleep(Duration::from_millis(10));
        }
    }
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn parsers_and_their_children_end_with_the_run() {
    let child = "sleep 1000 >&- 2>&- & echo $! >> pids\n";
    for (name, rest) in [("-INT", "sleep 1000"), ("-TERM", "exec yes >&2")] {
        ends_with_its_parser(&format!("{child}{rest}"), |run| signal(run, name));
    }
    let error = ends_with_its_parser(&format!("{child}exit 1"), |_| {});
    assert!(
        error.contains("expected the versions of a Link Grammar parser"),
        "{error}"
    );
}

#[test]
fn sentences_that_the_parser_fails_on_are_reported() {
    let folder = folder();
    let gold = folder.read("gold.conllu");
    // A restarted parser has more time for its first sentence, so the hanging sentence comes first.
    folder.write(
        "gold.conllu",
        gold.replace("w5\t", "hang\t").replace("w25\t", "crash\t"),
    );
    let (_, errors) = folder.run(&format!("{BUILD} --time-limit 1 -o c"));
    assert!(
        errors.contains("gold.conllu:201: left out, not parsed: the parser ended"),
        "{errors}"
    );
    assert!(
        errors.contains("gold.conllu:41: left out, timed out"),
        "{errors}"
    );
    assert!(
        errors.contains("40 read, 19 to train on, 19 held out"),
        "{errors}"
    );
    let manifest = folder.document("c/manifest.json");
    assert_eq!(
        (counts(&manifest, "failed"), counts(&manifest, "timed_out")),
        (1, 1)
    );
    assert_eq!(manifest["sources"]["parser"]["version"], "simple-1");
}

#[test]
fn no_answer_about_one_sentence_ends_a_build() {
    let folder = folder();
    let gold = folder.read("gold.conllu").replace("w3\t", "garble\t");
    folder.write("gold.conllu", gold);
    let manifest = folder.json(&format!("{BUILD} -o c --json"));
    assert_eq!(counts(&manifest, "unreadable"), 1);
    assert_eq!(counts(&manifest, "train") + counts(&manifest, "test"), 39);
    let skipped = list(&manifest["skipped"]);
    assert_eq!(skipped.len(), 1);
    let keys = ["file", "line", "id", "reason"].map(|key| skipped[0][key].to_string());
    let expected = ["\"gold.conllu\"", "25", "\"s3\"", "\"unreadable\""];
    assert_eq!(keys, expected);
    let detail = skipped[0]["detail"].as_str().unwrap();
    assert!(
        detail.contains("expected the costs of a linkage"),
        "{detail}"
    );
}
