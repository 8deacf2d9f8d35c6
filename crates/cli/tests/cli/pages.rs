//! The commands of README and of the pages, as a reader would type them one after the other.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use crate::support::{Folder, long};

/// What stands after the name of the program in blocks of a page.
fn commands(page: &str) -> impl Iterator<Item = &str> {
    let blocks = page.lines().filter_map(|line| line.strip_prefix("    "));
    let typed = blocks.map(|line| line.strip_prefix("$ ").unwrap_or(line));
    let run = typed.filter_map(|line| {
        let program = ["rankrls ", "cargo run --release -- "];
        program.iter().find_map(|name| line.strip_prefix(name))
    });
    run.map(|line| line.split([']', '|', '#']).next().unwrap_or(line))
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
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    for (page, least) in [
        ("README.md", 6),
        ("docs/tutorial.md", 4),
        ("docs/other-rankers.md", 5),
        ("docs/evidence.md", 1),
        ("docs/rankrls.md", 1),
        ("docs/paper.md", 1),
        ("docs/from-scikit-learn.md", 1),
        ("docs/how-do-i.md", 27),
    ] {
        if page.ends_with("tutorial.md") && parser.is_err() {
            eprintln!("NOT TESTED: {page}, as link-parser is not installed");
            continue;
        }
        let folder = Folder::new();
        for name in ["train.svm", "test.svm", "names.txt"] {
            fs::remove_file(folder.path(name)).unwrap();
        }
        fs::create_dir(folder.path("target")).unwrap();
        std::os::unix::fs::symlink(root.join("corpora"), folder.path("corpora")).unwrap();
        let text = fs::read_to_string(root.join(page)).unwrap();
        let mut followed = 0;
        for command in commands(&text) {
            if is_for(&folder, command) {
                println!("{page}: rankrls {command}");
                folder.run(command);
                followed += 1;
            }
        }
        assert!(followed >= least, "{page}: {followed}");
    }
}
