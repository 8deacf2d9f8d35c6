//! The commands of README and of the pages, run in order as a reader types them, and their shown output.
//!
//! A page shows whole lines in order. `...` alone on a line stands for omitted lines, and within a line for
//! columns. Numbers before a unit of time or memory may differ, and so may the padding of columns. Nothing else may
//! differ.

#![cfg(unix)]

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::iter;
use std::os::unix::fs::symlink;
use std::path::Path;

use crate::build::link_grammar::link_grammar;
use crate::support::Folder;

/// Ten strategies over all parses take as long as all other commands of the pages. Only continuous integration runs
/// them.
const LONG: &str = "rankrls compare corpora/link-parses/";

/// A part of a page: a file, which `$ cat NAME` shows, or a command with its output.
enum Part<'a> {
    File(&'a str, Vec<&'a str>),
    Command(String, Vec<&'a str>),
}

/// The files and commands of a page. Output follows a command behind `$`.
fn parts(page: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut lines = page.lines().peekable();
    while let Some(line) = lines.next() {
        let Some(typed) = line.strip_prefix("    ") else {
            continue;
        };
        let prompt = typed.strip_prefix("$ ");
        let mut command = prompt.unwrap_or(typed).to_owned();
        while command.ends_with('\\') {
            command.pop();
            command += lines.next().unwrap_or_default().trim();
        }
        let below = if prompt.is_some() {
            output_below(&mut lines)
        } else {
            Vec::new()
        };
        if let Some(file) = prompt.and_then(|line| line.strip_prefix("cat ")) {
            parts.push(Part::File(file, below));
            continue;
        }
        let programs = ["rankrls ", "cargo run --release -- "];
        if let Some(rest) = programs.iter().find_map(|name| command.strip_prefix(name)) {
            parts.push(Part::Command(format!("rankrls {rest}"), below));
        }
    }
    parts
}

/// The lines of a block up to its end or the next command. Empty lines between them belong to it.
fn output_below<'a>(lines: &mut iter::Peekable<std::str::Lines<'a>>) -> Vec<&'a str> {
    let mut below = Vec::new();
    loop {
        let mut ahead = lines.clone();
        let empty = iter::from_fn(|| ahead.next_if(|line| line.is_empty())).count();
        let line = ahead.next().and_then(|line| line.strip_prefix("    "));
        let Some(line) = line.filter(|line| !line.starts_with("$ ")) else {
            return below;
        };
        below.extend(iter::repeat_n("", empty));
        below.push(line);
        *lines = ahead;
    }
}

/// The words of a line, without numbers before a unit of time or memory.
fn words(line: &str) -> Vec<&str> {
    let mut words: Vec<&str> = line.split_whitespace().collect();
    for place in 1..words.len() {
        let unit = words[place].trim_end_matches([',', ';']);
        let is_unit = ["s", "B", "KiB", "MiB", "GiB"].contains(&unit);
        if is_unit && words[place - 1].parse::<f64>().is_ok() {
            words[place - 1] = "#";
        }
    }
    words
}

/// Whether a page shows the given words or lines: all of them, in order. `is_gap` marks omissions.
fn shows<S, L>(
    shown: &[S],
    lines: &[L],
    is_gap: &dyn Fn(&S) -> bool,
    is_same: &dyn Fn(&S, &L) -> bool,
) -> bool {
    match (shown.split_first(), lines.split_first()) {
        (None, first) => first.is_none(),
        (Some((gap, rest)), _) if is_gap(gap) => {
            (1..=lines.len()).any(|out| shows(rest, &lines[out..], is_gap, is_same))
        }
        (Some(_), None) => false,
        (Some((own, rest)), Some((line, below))) => {
            is_same(own, line) && shows(rest, below, is_gap, is_same)
        }
    }
}

fn is_line(shown: &str, line: &str) -> bool {
    let is_gap = |word: &&str| *word == "...";
    shows(&words(shown), &words(line), &is_gap, &|a, b| a == b)
}

fn is_output(shown: &[&str], lines: &[&str]) -> bool {
    let is_gap = |line: &&str| line.trim() == "...";
    shows(shown, lines, &is_gap, &|shown, line| is_line(shown, line))
}

/// Data of others or of the reader, and files made of them. No command of a page can read them here.
const ELSEWHERE: [&str; 8] = [
    "train.svm",
    "large.svm",
    "train.csv",
    "test.csv",
    "en_gum-ud-",
    "en_ewt-ud-",
    "ewt/",
    "lightgbm.txt",
];

/// The missing files that a command reads.
fn missing<'a>(folder: &Folder, command: &'a str) -> Vec<&'a str> {
    let words: Vec<&str> = command.split_whitespace().collect();
    let options = ["-o", "--plot", "--csv", "--table", "--holdout-scores"];
    let written = |place: usize| place > 0 && options.contains(&words[place - 1]);
    let letters = |end: &OsStr| end.to_string_lossy().starts_with(char::is_alphabetic);
    let is_file = |word: &str| Path::new(word).extension().is_some_and(letters);
    let is_missing = |place: &usize| {
        let word = words[*place];
        is_file(word) && !written(*place) && !folder.path(word).exists()
    };
    (0..words.len())
        .filter(is_missing)
        .map(|place| words[place])
        .collect()
}

/// The sentence in the text of a page.
const NEW: &str = "This doctor met the teacher of Susan and the painter near the river .";

/// Follows a page in a new folder. Returns the number of commands run, and the failures.
fn follow(page: &str, text: &str, parser: bool) -> (usize, Vec<String>) {
    let (folder, mut followed, mut failed) = (Folder::empty(), 0, Vec::new());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    symlink(root.join("corpora"), folder.path("corpora")).unwrap();
    let rows = (1..).zip(NEW.split(' '));
    let rows = rows.map(|(number, word)| format!("{number}\t{word}{}\n", "\t_".repeat(8)));
    let rows: String = rows.collect();
    folder.write("new.conllu", format!("# sent_id = new\n{rows}\n"));
    for part in parts(text) {
        let (command, shown) = match part {
            Part::File(name, lines) => {
                folder.write(name, lines.join("\n") + "\n");
                continue;
            }
            Part::Command(command, _) if command.contains("--link-grammar") && !parser => continue,
            Part::Command(command, shown) => (command, shown),
        };
        if command.starts_with(LONG) && env::var_os("RANKRLS_LONG").is_none() {
            println!("NOT RUN without RANKRLS_LONG, {page}: {command}");
            continue;
        }
        let absent = missing(&folder, &command);
        let known = |name: &&str| ELSEWHERE.iter().any(|each| name.starts_with(each));
        if absent.iter().any(known) || !parser && !absent.is_empty() {
            println!("NOT RUN, {page}: {command}");
            continue;
        }
        if let Some(fault) = fault(&folder, &command, &shown) {
            failed.push(format!("{page}: {command}\n{fault}"));
        }
        followed += 1;
    }
    (followed, failed)
}

/// The fault of a page's command or of its output, if there is one.
fn fault(folder: &Folder, command: &str, shown: &[&str]) -> Option<String> {
    let output = folder.shell(&format!("({command}) 2>&1"));
    let printed = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<&str> = printed.lines().collect();
    if !output.status.success() {
        return Some(format!("{}: {printed}", output.status));
    }
    let found = shown.is_empty() || is_output(shown, &lines);
    (!found).then(|| format!("prints\n{printed}\nand is shown with\n{}", shown.join("\n")))
}

/// README and all pages, by name.
fn pages() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let docs = fs::read_dir(root.join("docs")).unwrap();
    let docs = docs.map(|entry| entry.unwrap().path());
    let docs = docs.filter(|path| path.extension().is_some_and(|end| end == "md"));
    let mut paths: Vec<_> = docs.chain([root.join("README.md")]).collect();
    paths.sort();
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let read = |path: &Path| fs::read_to_string(path).unwrap();
    paths.iter().map(|path| (name(path), read(path))).collect()
}

#[test]
fn pages_can_be_followed() {
    let (parser, mut followed, mut failed) = (link_grammar(), 0, Vec::new());
    for (page, text) in pages() {
        let (ran, wrong) = follow(&page, &text, parser);
        followed += ran;
        failed.extend(wrong);
    }
    let all = failed.join("\n\n");
    assert!(
        failed.is_empty(),
        "{} commands or listings\n{all}",
        failed.len()
    );
    assert!(followed > 40, "{followed}");
}

/// The script of a page is a job of every night: a step that fails, or a worse model, changes nothing.
#[test]
fn a_model_goes_live_at_night_if_it_is_whole_and_good() {
    let page =
        fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/how-do-i.md"));
    let page = page.unwrap();
    let (_, job) = page.split_once("### A job for every night\n").unwrap();
    let script = job
        .split("```sh\n")
        .nth(1)
        .unwrap()
        .split("```")
        .next()
        .unwrap();
    let folder = Folder::empty();
    if !folder.shell("jq --version").status.success() {
        println!("NOT TESTED: the job of every night, without jq");
        return;
    }
    folder.write("night.sh", script);
    folder.run("convert @documents -o all.svm");
    folder.run("convert @documents-test -o kept.svm");
    let (all, kept) = (folder.read("all.svm"), folder.read("kept.svm"));
    let night = |train: &str, kept: &str| {
        folder.write("train.svm", train);
        folder.write("kept.svm", kept);
        let code = folder.shell(". ./night.sh").status.code().unwrap();
        (code, fs::read(folder.path("live.json")).unwrap_or_default())
    };
    assert_eq!(night("", &kept), (1, Vec::new()));
    let (code, live) = night(&all, &kept);
    assert!(code == 0 && !live.is_empty());
    assert_eq!(
        night(&all, &kept),
        (0, live.clone()),
        "the same model again"
    );
    let grades = (0..).zip(all.lines());
    let nonsense = grades.map(|(row, line)| match line.split_once(' ') {
        Some((_, rest)) if !line.starts_with('#') => format!("{} {rest}\n", row * 7 % 3),
        _ => format!("{line}\n"),
    });
    let nonsense: String = nonsense.collect();
    // Work of a killed night is no hindrance.
    for train in [&all[..3000], "", &nonsense] {
        folder.write("tonight.json.part", "{}");
        assert_eq!(night(train, &kept), (1, live.clone()));
    }
    assert_eq!(
        night(&all, "1 qid:1 1:1"),
        (1, live.clone()),
        "one query judges nothing"
    );
    assert_eq!(night(&all, ""), (1, live.clone()));
    let half: String = all.split_inclusive('\n').take(500).collect();
    let (code, other) = night(&half, &half);
    assert!(code == 0 && other != live);
    assert!(!folder.path("tonight.json").exists());
}

#[test]
fn a_listing_is_compared_whole_and_in_order() {
    let printed = [
        "read in 0.01 s, 3 MiB",
        "",
        "step  name",
        "   1  a b",
        "   2  c",
        "end",
    ];
    for (shown, same) in [
        (&printed[..], true),
        (
            &["read in 9 s, 70 MiB", "...", "step name", "...", "end"],
            true,
        ),
        (&["...", "step  name", "   1  a ...", "..."], true),
        (&["...", "   2  c", "end"], true),
        // Lines that are missing, incomplete, in another order, or omitted without a mark.
        (&["...", "step  name", "   1  a c", "..."], false),
        (&["...", "step  name", "   1  a", "..."], false),
        (&["...", "   2  c", "   1  a b", "..."], false),
        (&["...", "step  name", "   2  c", "..."], false),
        (&["step  name", "..."], false),
        (&["...", "   2  c"], false),
        (&["...", "end", "..."], false),
        (&["...", "   2  c ...", "end"], false),
        (&["...", "   1 ... b", "..."], true),
        (&["...", "   1 ... a b", "..."], false),
        (&["read in 0.01 s, 4 GiB", "..."], false),
        (&["read in 0.01 t, 3 MiB", "..."], false),
    ] {
        let found = is_output(shown, &printed);
        assert_eq!(found, same, "{shown:?}");
    }
}
