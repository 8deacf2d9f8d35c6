//! Files, and the program that reads them.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;

use assert_cmd::Command;
use assert_cmd::cargo::cargo_bin_cmd;
use rankrls::data::write_svmlight;
use serde_json::Value;
use tempfile::TempDir;

use crate::zipf::Zipf;

/// Columns 1 and 4 are equal, 5 is constant in every query, 6 is empty.
pub(crate) const TRAIN: &str = "\
# the header
2 qid:a 1:1 2:0.3 4:1 5:1 # first
1 qid:a 2:1 3:0.5 5:1
0 qid:a 3:1 5:1
1 qid:b 1:1 2:2 4:1 7:1
0 qid:b 2:1
2 qid:c 1:1 3:2 4:1
1 qid:c 2:0.5 3:1
0 qid:c 3:1.5 7:2
";

pub(crate) const TEST: &str = "\
1 qid:x 1:1 9:1
0 qid:x 2:1 9:1 12:1
0 qid:y 3:1
2 qid:y 1:2 3:1
1 qid:y 7:1
";

pub(crate) const NAMES: &str = "word:a\nword b\n\nbigram:a_b\nconstant\nempty\nlast\n";

/// So many of what takes long, or `RANKRLS_LONG` times as many.
pub(crate) fn long(count: usize) -> usize {
    let times = std::env::var("RANKRLS_LONG").ok();
    count
        * times.map_or(1, |text| {
            text.parse().expect("a whole number in RANKRLS_LONG")
        })
}

/// A folder with files, in which the program runs.
pub(crate) struct Folder(TempDir);

impl Folder {
    /// With `train.svm`, `test.svm` and `names.txt`.
    pub(crate) fn new() -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        folder.write("train.svm", TRAIN);
        folder.write("test.svm", TEST);
        folder.write("names.txt", NAMES);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// Names of the files in it.
    pub(crate) fn list(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort_unstable();
        names
    }

    /// The program with arguments separated by blanks.
    pub(crate) fn command(&self, arguments: &str) -> Command {
        let mut command = cargo_bin_cmd!("rankrls");
        command.current_dir(self.0.path());
        command.args(arguments.split_whitespace());
        command
    }

    /// Standard output and standard error of a run that succeeds. The data here have few queries:
    /// the warning of them is left out.
    pub(crate) fn run(&self, arguments: &str) -> (String, String) {
        let output = self.command(arguments).output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let errors = text(output.stderr);
        assert!(output.status.success(), "{arguments}: {errors}");
        let few = |line: &&str| line.starts_with("warning: there are only ");
        let errors = errors.split_inclusive('\n').filter(|line| !few(line));
        (text(output.stdout), errors.collect())
    }

    pub(crate) fn stdout(&self, arguments: &str) -> String {
        self.run(arguments).0
    }

    /// The one document on standard output.
    pub(crate) fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.stdout(arguments)).unwrap()
    }

    /// Standard error of a run that ends with `code` and prints nothing.
    pub(crate) fn fails(&self, arguments: &str, code: i32) -> String {
        let output = self.command(arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments}: {errors}");
        assert!(output.stdout.is_empty(), "{arguments}");
        assert!(errors.starts_with("error: "), "{errors}");
        assert!(!errors.contains("panicked"), "{errors}");
        errors
    }
}

pub(crate) fn gz(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zst(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 1).unwrap()
}

/// Keys of a JSON object, sorted.
pub(crate) fn keys(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

/// Queries of ten rows, each with a dozen of `columns` columns.
pub(crate) fn generated(rows: usize, columns: u32) -> String {
    text(&Zipf {
        rows,
        queries: rows / 10,
        columns,
        nonzeros: 12 * rows,
        shared: 0,
        seed: 1,
    })
}

/// Drawn data as svmlight text.
pub(crate) fn text(zipf: &Zipf) -> String {
    let mut text = Vec::new();
    write_svmlight(&zipf.dataset(), &mut text).unwrap();
    String::from_utf8(text).unwrap()
}
