//! The commands of README and of the pages, as a reader would type them one after the other, and what pages show of
//! their output.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::support::{Folder, long};

/// What a block of a page has: a file, which `$ cat NAME` shows, or a command with its output, if there is any.
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
        let mut below = Vec::new();
        let shown = |line: &&str| line.starts_with("    ") && !line.starts_with("    $ ");
        while prompt.is_some() && lines.peek().is_some_and(shown) {
            below.extend(lines.next().map(|line| &line[4..]));
        }
        if let Some(file) = prompt.and_then(|line| line.strip_prefix("cat ")) {
            parts.push(Part::File(file, below));
            continue;
        }
        let programs = ["rankrls ", "cargo run --release -- "];
        if let Some(rest) = programs.iter().find_map(|name| command.strip_prefix(name)) {
            let end = rest.find([']', '|', '#']).unwrap_or(rest.len());
            // Another program prints what stands below a pipe.
            let below = if rest.contains('|') {
                Vec::new()
            } else {
                below
            };
            parts.push(Part::Command(rest[..end].to_owned(), below));
        }
    }
    parts
}

/// Whether it reads files that are there: those of the repository, or of the commands before.
fn is_for(folder: &Folder, command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let options = ["-o", "--plot", "--csv", "--holdout-scores"];
    let written = |place: usize| place > 0 && options.contains(&words[place - 1]);
    let letters = |end: &OsStr| end.to_string_lossy().starts_with(char::is_alphabetic);
    let is_file = |word: &str| Path::new(word).extension().is_some_and(letters);
    (0..words.len())
        .all(|place| !is_file(words[place]) || written(place) || folder.path(words[place]).exists())
}

/// Whether a line of the output has the words of this one, in this order: a page may leave words and columns out.
fn has(output: &str, shown: &str) -> bool {
    output.lines().any(|line| {
        let mut words = line.split_whitespace();
        let mut shown = shown.split_whitespace();
        shown.all(|own| own.ends_with("...") || words.any(|word| word == own))
    })
}

/// Follows a page in a folder of its own; the number of its commands that were run.
fn follow(page: &str, text: &str, only_own_files: bool) -> usize {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let (folder, mut followed) = (Folder::empty(), 0);
    fs::create_dir(folder.path("target")).unwrap();
    if !only_own_files {
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.join("corpora"), folder.path("corpora")).unwrap();
    }
    for part in parts(text) {
        match part {
            Part::File(name, lines) => folder.write(name, &(lines.join("\n") + "\n")),
            Part::Command(command, _) if only_own_files && command.contains('@') => {}
            Part::Command(command, shown) if is_for(&folder, &command) => {
                println!("{page}: rankrls {command}");
                let (output, errors) = folder.run(&command);
                for line in shown {
                    let found = has(&output, line) || has(&errors, line);
                    assert!(found, "{page}: {command}\n{line}\nis not in\n{output}");
                }
                followed += 1;
            }
            Part::Command(command, _) => println!("NOT RUN, {page}: rankrls {command}"),
        }
    }
    followed
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
fn pages_print_what_they_show_of_their_own_files() {
    let followed: usize = pages()
        .iter()
        .map(|(page, text)| follow(page, text, true))
        .sum();
    assert!(followed > 0);
}

#[test]
#[cfg(unix)]
fn pages_can_be_followed() {
    if long(1) == 1 {
        eprintln!("NOT TESTED: the commands of the pages, which take minutes: RANKRLS_LONG=10");
        return;
    }
    let parser = std::process::Command::new("link-parser")
        .arg("--version")
        .output();
    let mut followed = 0;
    for (page, text) in pages() {
        if text.contains("--link-grammar") && parser.is_err() {
            eprintln!("NOT TESTED: {page}, as link-parser is not installed");
            continue;
        }
        followed += follow(&page, &text, false);
    }
    assert!(followed > 40, "{followed}");
}
