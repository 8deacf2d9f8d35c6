//! Help, as it is 80 columns wide.

use std::fmt::Write as _;

use crate::folder::{Folder, freeze, hold};

const COMMANDS: &[&str] = &[
    "",
    "select",
    "train",
    "tune",
    "compare",
    "predict",
    "evaluate",
    "inspect",
    "letor",
    "shard",
    "corpus",
    "corpus build",
    "corpus check",
    "corpus generate",
    "corpus info",
    "corpus convert",
    "corpus project",
    "corpus treebank",
    "completions",
    "man",
];

#[test]
fn every_command_has_help() {
    let folder = Folder::new();
    for command in COMMANDS {
        let line = format!("{command} --help").trim_start().to_owned();
        let name = format!("help-{}", command.replace(' ', "-"));
        hold(name.trim_end_matches('-'), &folder.run(&line));
    }
}

#[test]
fn help_is_short_too() {
    freeze(
        "help-short",
        &["-h", "select -h", "corpus -h", "corpus build -h"],
    );
}

/// Pages and scripts say what help says: here are their names, and one of them.
#[test]
fn pages_and_scripts_are_made() {
    freeze(
        "help-pages",
        &["--version", "help corpus", "man", "man pages", "ls pages"],
    );
    let folder = Folder::new();
    let mut text = String::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = folder.run(&format!("completions {shell}"));
        let begin: Vec<&str> = script.lines().take(8).collect();
        write!(text, "{}\n...\n\n", begin.join("\n")).unwrap();
    }
    hold("help-scripts", &text);
}
