//! The file of names beside data.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The ending of files of names.
const NAMES: &str = ".names.txt";

/// The path without `.gz` or `.zst`.
pub(crate) fn plain(path: &Path) -> PathBuf {
    let compressed = ["gz", "zst"].map(Some);
    let extension = path.extension().and_then(|extension| extension.to_str());
    if compressed.contains(&extension) {
        path.with_extension("")
    } else {
        path.to_owned()
    }
}

/// The part of their paths that the files which go with the data at `path` share: the path without `.gz` or
/// `.zst` and without the ending before it.
fn prefix(path: &Path) -> PathBuf {
    plain(path).with_extension("")
}

/// `prefix` followed by an `ending`.
fn with_ending(prefix: &Path, ending: &str) -> PathBuf {
    let mut path = OsString::from(prefix);
    path.push(ending);
    path.into()
}

/// The file to which the names of the data at `path` are written.
pub fn names_file(path: &Path) -> PathBuf {
    with_ending(&prefix(path), NAMES)
}

/// The file beside the data at `path` that has the names of their columns, if there is one:
/// `NAME.names.txt`, or as corpora of parses have it `NAME-names.txt`, of the data `NAME` and of
/// `NAME-test`, perhaps compressed.
pub fn names_beside(path: &Path) -> Option<PathBuf> {
    let own = prefix(path);
    let whole = own.to_str().and_then(|own| own.strip_suffix("-test"));
    for prefix in [Some(own.as_path()), whole.map(Path::new)]
        .into_iter()
        .flatten()
    {
        for names in [NAMES, "-names.txt"] {
            let endings = ["", ".gz", ".zst"].map(|suffix| format!("{names}{suffix}"));
            let mut paths = endings.iter().map(|ending| with_ending(prefix, ending));
            if let Some(found) = paths.find(|path| path.exists()) {
                return Some(found);
            }
        }
    }
    None
}

/// Whether `path` ends in `.extension`, in capitals or not.
pub(crate) fn has_extension(path: &Path, extension: &str) -> bool {
    path.extension()
        .is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stand_beside_data() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in [
            "a.names.txt",
            "b-names.txt.zst",
            "c-test.names.txt",
            "c-names.txt",
        ] {
            std::fs::write(at(name), "").unwrap();
        }
        for (data, names) in [
            ("a.svm", Some("a.names.txt")),
            ("a-test.svm.gz", Some("a.names.txt")),
            ("b.svm.zst", Some("b-names.txt.zst")),
            ("b-test.svm", Some("b-names.txt.zst")),
            ("c-test.svm", Some("c-test.names.txt")),
            ("d.svm", None),
        ] {
            assert_eq!(names_beside(&at(data)), names.map(at), "{data}");
        }
    }

    #[test]
    fn the_prefix_is_what_stands_before_the_endings() {
        for (path, expected) in [
            ("a/train.svm", "a/train"),
            ("train.svm.zst", "train"),
            ("x.y.csv", "x.y"),
            ("train", "train"),
            ("a.b/train.gz", "a.b/train"),
        ] {
            assert_eq!(prefix(Path::new(path)), Path::new(expected), "{path}");
        }
    }
}
