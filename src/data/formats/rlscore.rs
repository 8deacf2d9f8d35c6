//! RLScore's triplets of files.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::ReadError;
use super::input::Source;
use super::lines::numbers;
use super::piece::Lines;
use super::query_lines::{self, QueryLines, check_lines};
use super::rows::{self, Rows, tokens};
use super::text::Text;
use super::{DataFiles, Facts, FilePart, Loaded, ReadOptions, Reader};
use crate::data::sidecar::{SUFFIXES, find, plain, with_ending};
use crate::data::{Dataset, IndexBase};
use rankrls_files::push_number;

pub(super) const FACTS: Facts = Facts {
    name: "rlscore",
    title: "RLScore's triplets",
    files: "NAME.features, .labels, .qids",
    ending: |path| split(path).is_some(),
    reader: Reader::Files {
        read,
        expected: "RLScore's files .features, .labels and .qids",
        remedy: "give the path of the .features file",
    },
    parts: &[
        (FilePart::Labels, ".labels"),
        (FilePart::Queries, ".qids"),
        (FilePart::Entries, ".features"),
    ],
    prefix,
    compressed: true,
    names_beside: false,
    write: Some(write),
};

fn read(path: &Path, options: &ReadOptions) -> Result<Loaded, ReadError> {
    let (prefix, suffix) = prefix(path);
    let open = |ending| {
        let found = find(&prefix, ending, suffix);
        let file = found.unwrap_or_else(|| with_ending(&prefix, ending, suffix));
        Source::open(&file, options.memory.left())
    };
    let grammar = options.grammar(Lines::Pairs, IndexBase::Zero);
    let mut text = Text::read(open(".features")?, options, grammar)?;
    let labels = open(".labels")?;
    let name = labels.name.clone();
    text.labels = numbers(labels, options.memory.holding(text.memory), "label")?;
    check_lines(&text, &name, text.labels.len())?;
    // Labels may be moved.
    text.memory += 2 * size_of_val(&text.labels[..]) as u64;
    if find(&prefix, ".qids", suffix).is_some() {
        query_lines::give(&mut text, open(".qids")?, QueryLines::Ids, options)?;
    }
    options.build(text, IndexBase::Zero)
}

fn prefix(path: &Path) -> (PathBuf, &'static str) {
    split(path).unwrap_or((path.to_owned(), ""))
}

/// The text before `.features` and the suffix of compression after it.
fn split(path: &Path) -> Option<(PathBuf, &'static str)> {
    let file = plain(path);
    let extension = path.extension().filter(|_| file != path);
    let suffix = |suffix: &&str| extension.is_some_and(|extension| suffix[1..] == *extension);
    let suffix = SUFFIXES[1..].iter().copied().find(suffix).unwrap_or("");
    (file.extension()? == "features").then(|| (file.with_extension(""), suffix))
}

fn write(
    part: FilePart,
    dataset: &Dataset<'_>,
    _: &DataFiles,
    writer: &mut dyn Write,
) -> io::Result<()> {
    let mut lines = rows::Lines::new(&mut *writer);
    match part {
        FilePart::Labels => {
            for &label in dataset.labels() {
                push_number(&mut lines.text, label);
                lines.end()?;
            }
        }
        FilePart::Queries => {
            let ids = tokens(dataset.queries(), &[' ', '\t', '\r', '\n'])?;
            for (id, rows) in ids.iter().zip(dataset.queries().ranges()) {
                for _ in rows {
                    lines.text.extend_from_slice(id.as_bytes());
                    lines.end()?;
                }
            }
        }
        _ => {
            let rows = Rows::new(dataset, IndexBase::Zero)?.with_width()?;
            return rows.write(writer, |_, _| {});
        }
    }
    lines.finish()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tempfile::TempDir;

    use super::super::compressed::{gz, zst};
    use super::super::{Format, Place};
    use super::*;

    /// A folder with these files.
    fn folder(files: &[(&str, &[u8])]) -> TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        folder
    }

    const FEATURES: &[u8] = b"0:1.0 2:0.25\n\n1:2\n\n";
    const LABELS: &[u8] = b"1.0\n0.5\n-1\n0\n";
    const QIDS: &[u8] = b"10\n1001\n1001\n7\n";

    fn read_in(folder: &TempDir, name: &str) -> Result<Loaded, ReadError> {
        ReadOptions::new().read(&folder.path().join(name))
    }

    fn check(loaded: &Loaded) {
        let data = &loaded.dataset;
        assert_eq!((data.rows(), data.width(), data.nonzeros()), (4, 3, 3));
        assert_eq!(data.labels(), [1.0, 0.5, -1.0, 0.0]);
        assert_eq!(data.column(1).rows, [2]);
        assert_eq!(data.index_base(), IndexBase::Zero);
        assert_eq!(data.queries().offsets(), [0, 1, 3, 4]);
        assert_eq!(data.queries().id(1), Some("1001"));
    }

    #[test]
    fn three_files_are_one_data_set() {
        let (zst, gz) = (zst(FEATURES), gz(QIDS));
        let plain = [
            ("x.features", FEATURES),
            ("x.labels", LABELS),
            ("x.qids", QIDS),
        ];
        let compressed = [
            ("x.features.zst", &zst[..]),
            ("x.labels", LABELS),
            ("x.qids.gz", &gz),
        ];
        // Carriage returns, marks, missing line ends, and blank lines at the end of lists are legal.
        let crlf = [
            ("x.features", &b"0:1.0\t2:0.25 \r\n\r\n1:2\r\n\r\n"[..]),
            ("x.labels", b"\xef\xbb\xbf1.0\r\n0.5\r\n-1\r\n0\r\n \n"),
            (
                "x.qids",
                b"\xef\xbb\xbf 10\r\r\n1001 \r\r\n1001\r\r\n7\r\r\n\r\r\n",
            ),
        ];
        for files in [plain, compressed, crlf] {
            let folder = folder(&files);
            check(&read_in(&folder, files[0].0).unwrap());
            check(&read_in(&folder, "x").unwrap());
            let explicit = ReadOptions::new().format(Format::Rlscore);
            check(&explicit.read(&folder.path().join("x")).unwrap());
        }
    }

    #[test]
    fn each_file_refuses_what_does_not_belong() {
        for (ending, text, line, column, expected) in [
            (
                ".features",
                &b"4294967295:1\n"[..],
                1,
                1,
                "an index of at most",
            ),
            (".labels", b"1\n\n1\n1\n", 2, 1, "a label"),
            (".labels", b"1 2\n", 1, 3, "one label a line"),
            (".labels", b"1\n inf\n", 2, 2, "a finite label"),
            (".qids", b"1\n\n1\n1\n", 2, 1, "a query identifier"),
        ] {
            let name = format!("x{ending}");
            let files = [
                ("x.features", FEATURES),
                ("x.labels", LABELS),
                ("x.qids", QIDS),
            ];
            let folder = folder(&[&files[..], &[(&*name, text)]].concat());
            let error = read_in(&folder, "x").unwrap_err();
            assert!(error.expected().starts_with(expected), "{error}");
            assert_eq!(error.place(), Some(Place { line, column }), "{error}");
            assert!(error.name().ends_with(&name));
        }
        let folder = folder(&[("x.features", FEATURES), ("x.labels", LABELS)]);
        assert_eq!(read_in(&folder, "x").unwrap().dataset.queries().len(), 1);
    }

    #[test]
    fn the_name_tells_the_format() {
        for name in ["x.features", "a.b/x.y.features.gz", "x.features.zst"] {
            assert_eq!(Format::Auto.written(Path::new(name)), Format::Rlscore);
        }
        for name in ["-", "x", "x.svm", "x.features.svm", "features", "x.gz"] {
            assert_eq!(Format::Auto.written(Path::new(name)), Format::Svmlight);
        }
    }
}
