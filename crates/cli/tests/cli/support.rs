//! A folder of files, and the program that reads them.

use std::fs;
use std::io::Write as _;
use std::process::{Child, Command, Output, Stdio};

use rankrls::data::write_svmlight;
use serde_json::Value;

pub(crate) use crate::folder::Folder;
pub(crate) use crate::long::long;
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

impl Folder {
    /// With `train.svm`, `test.svm` and `names.txt`.
    pub(crate) fn new() -> Self {
        let folder = Self::empty();
        folder.write("train.svm", TRAIN);
        folder.write("test.svm", TEST);
        folder.write("names.txt", NAMES);
        folder
    }

    /// The text of a file compressed by zstd.
    pub(crate) fn unpacked(&self, name: &str) -> String {
        let bytes = fs::read(self.path(name)).unwrap();
        String::from_utf8(zstd::decode_all(&bytes[..]).unwrap()).unwrap()
    }

    /// Names of the files in the folder.
    pub(crate) fn list(&self) -> Vec<String> {
        self.list_of("")
    }

    /// Names of the files in a subfolder.
    pub(crate) fn list_of(&self, name: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(name)).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort_unstable();
        names
    }

    /// Runs a line of a shell, in which `rankrls` is the program and any failure in a pipe counts.
    #[cfg(unix)]
    pub(crate) fn shell(&self, line: &str) -> Output {
        let program = self.command("");
        let line = format!("set -o pipefail; rankrls() {{ \"$0\" \"$@\"; }}; {line}");
        let mut bash = Command::new("bash");
        bash.current_dir(self.path(""))
            .env("HOME", self.path(""))
            .args(["-c", &line])
            .arg(program.get_program());
        bash.output().unwrap()
    }

    /// Starts the program with pipes.
    pub(crate) fn spawn(&self, arguments: &str) -> Child {
        let mut command = self.command(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Standard output of a successful run with `input` on standard input.
    pub(crate) fn piped(&self, arguments: &str, input: impl AsRef<[u8]>) -> String {
        let mut child = self.spawn(arguments);
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_ref()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{arguments}: {errors}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Standard output and standard error of a successful run. Omits the warning of few queries, which concerns
    /// most data here.
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

    /// The document in a file.
    pub(crate) fn document(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).unwrap()
    }

    /// The one document on standard output.
    pub(crate) fn json(&self, arguments: &str) -> Value {
        serde_json::from_str(&self.stdout(arguments)).unwrap()
    }

    /// `case` is arguments, an arrow, and a part of a successful run's output.
    #[track_caller]
    pub(crate) fn prints(&self, case: &str) {
        let (arguments, part) = arrow(case);
        let text = self.stdout(arguments);
        assert!(text.contains(part), "{case}: {text}");
    }

    /// Like [`Self::prints`], but on standard error.
    #[track_caller]
    pub(crate) fn warns(&self, case: &str) {
        let (arguments, part) = arrow(case);
        let (_, errors) = self.run(arguments);
        assert!(errors.contains(part), "{case}: {errors}");
    }

    /// `case` is arguments, an arrow, and a part of the error of a run that ends with 1.
    #[track_caller]
    pub(crate) fn refused(&self, case: &str) {
        let (arguments, part) = arrow(case);
        let errors = self.fails(arguments, 1);
        assert!(errors.contains(part), "{case}: {errors}");
    }

    /// Like [`Self::refused`], for a mistake in the arguments: 2.
    #[track_caller]
    pub(crate) fn misused(&self, case: &str) {
        let (arguments, part) = arrow(case);
        let errors = self.fails(arguments, 2);
        assert!(errors.contains(part), "{case}: {errors}");
    }

    /// The numbers that a run prints, one a line.
    pub(crate) fn scores(&self, arguments: &str) -> Vec<f64> {
        let text = self.stdout(arguments);
        text.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// Standard error of a run that ends with `code` and prints nothing.
    pub(crate) fn fails(&self, arguments: &str, code: i32) -> String {
        let output = self.command(arguments).output().unwrap();
        let errors = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(code), "{arguments}: {errors}");
        assert!(output.stdout.is_empty(), "{arguments}");
        // Warnings about the input may come first.
        let told = |line: &&str| line.starts_with("warning: ");
        let first = errors.lines().find(|line| !told(line));
        let refused = first.is_some_and(|line| line.starts_with("error: "));
        assert!(refused && !errors.contains("panicked"), "{errors}");
        errors
    }
}

/// The parts before and after an arrow.
fn arrow(case: &str) -> (&str, &str) {
    case.split_once("=> ").expect(case)
}

pub(crate) fn gz(text: &str) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(text.as_bytes()).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn zst(text: &str) -> Vec<u8> {
    zstd::encode_all(text.as_bytes(), 1).unwrap()
}

#[track_caller]
pub(crate) fn list(value: &Value) -> &[Value] {
    value.as_array().unwrap_or_else(|| panic!("{value}"))
}

#[track_caller]
pub(crate) fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value}"))
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
