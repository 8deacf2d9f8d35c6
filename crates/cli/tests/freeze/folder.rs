//! Folders in which the program runs, and the records of its runs.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Output;

use crate::steady::{shape, steady};
pub(crate) use crate::support::Folder;

impl Folder {
    /// A folder with the fixtures and `corpora`.
    pub(crate) fn new() -> Self {
        let folder = Self::empty();
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let fixtures = root.join("crates/cli/tests/freeze/fixtures");
        copy(&fixtures, folder.0.path());
        symlink(root.join("corpora"), folder.path("corpora")).unwrap();
        folder
    }

    pub(crate) fn output(&self, line: &str) -> Output {
        let (arguments, input) = line.split_once(" < ").unwrap_or((line, ""));
        let mut command = self.command(arguments);
        command
            // The memory of threads counts, and help is wrapped to the width.
            .env("RAYON_NUM_THREADS", "2")
            .env("COLUMNS", "80")
            .env_remove("CLICOLOR_FORCE")
            .env_remove("NO_COLOR");
        if !input.is_empty() {
            command.stdin(fs::File::open(self.path(input)).unwrap());
        }
        command.output().unwrap()
    }

    /// The record of a line of a shell: the command, its exit code, and its outputs. A document is shown by its
    /// keys and their types. `< FILE` at the end is standard input.
    pub(crate) fn run(&self, line: &str) -> String {
        let output = self.output(line);
        let code = output.status.code().unwrap();
        let mut text = format!("$ rankrls {line}\nexit: {code}\n");
        let printed = String::from_utf8(output.stdout).unwrap();
        if let Ok(document) = serde_json::from_str(&printed) {
            return text + &shape(&document, 0);
        }
        for (name, shown) in [
            ("stdout", printed),
            ("stderr", String::from_utf8(output.stderr).unwrap()),
        ] {
            if !shown.is_empty() {
                let shown = steady(&shown);
                writeln!(text, "--- {name}\n{}", shown.trim_end_matches('\n')).unwrap();
            }
        }
        text
    }

    /// Runs the commands of a snapshot again.
    pub(crate) fn again(&self, name: &str) -> String {
        let snapshot = format!("tests/freeze/snapshots/{name}.snap");
        let snapshot = fs::read_to_string(snapshot).unwrap();
        let lines = snapshot.lines();
        let lines = lines.filter_map(|line| line.strip_prefix("$ rankrls "));
        let shown: Vec<String> = lines.map(|line| self.run(line)).collect();
        shown.join("\n")
    }
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Compares text with the snapshot `name` in `snapshots/`.
pub(crate) fn hold(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.set_snapshot_path("snapshots");
    settings.bind(|| insta::assert_snapshot!(name, text));
}

/// Runs the commands of a snapshot in a new folder, and compares.
pub(crate) fn freeze(name: &str) {
    hold(name, &Folder::new().again(name));
}
