//! The files of names and texts beside data.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rankrls_files::Compression;

/// The ending of files of names.
const NAMES: &str = ".names.txt";

/// The path without `.gz` or `.zst`, in capitals or not.
pub(crate) fn plain(path: &Path) -> PathBuf {
    match Compression::of(path) {
        Some(_) => path.with_extension(""),
        None => path.to_owned(),
    }
}

/// The common beginning of the paths of all files of the data at `path`. It lacks `.gz` or `.zst`, and the ending
/// before it.
fn prefix(path: &Path) -> PathBuf {
    plain(path).with_extension("")
}

/// `prefix` followed by an `ending`.
fn with_ending(prefix: &Path, ending: &str) -> PathBuf {
    let mut path = OsString::from(prefix);
    path.push(ending);
    path.into()
}

/// The file for the names of the data at `path`.
pub fn names_file(path: &Path) -> PathBuf {
    with_ending(&prefix(path), NAMES)
}

/// The file with the names of the columns beside the data at `path`, if there is one. It is `NAME.names.txt` for
/// the data `NAME` and `NAME-test`, perhaps compressed, or `names.txt.zst` in a corpus of parses.
pub fn names_beside(path: &Path) -> Option<PathBuf> {
    let own = prefix(path);
    let whole = own.to_str().and_then(|own| own.strip_suffix("-test"));
    let prefixes = [Some(own.as_path()), whole.map(Path::new)];
    let endings = ["", ".gz", ".zst"].map(|suffix| format!("{NAMES}{suffix}"));
    let mut paths = (prefixes.into_iter().flatten())
        .flat_map(|prefix| endings.iter().map(|ending| with_ending(prefix, ending)));
    let found = paths.find(|path| path.exists());
    found.or_else(|| of_corpus(path, ["names.txt.zst"; 2]))
}

/// The file beside the data at `path` with a text for each row, if the data are a corpus of parses.
pub fn texts_beside(path: &Path) -> Option<PathBuf> {
    of_corpus(path, ["texts.txt.zst", "test-texts.txt.zst"])
}

/// The file that belongs to the training or test data of a corpus of parses. These have the same names in all
/// corpora.
fn of_corpus(path: &Path, [train, test]: [&str; 2]) -> Option<PathBuf> {
    let name = match path.file_name()?.to_str()? {
        "train.svm.zst" => train,
        "test.svm.zst" => test,
        _ => return None,
    };
    Some(path.with_file_name(name)).filter(|file| file.is_file())
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
            "b.names.txt.zst",
            "c-test.names.txt",
            "c.names.txt",
            "names.txt.zst",
            "test-texts.txt.zst",
        ] {
            std::fs::write(at(name), "").unwrap();
        }
        for (data, names) in [
            ("a.svm", Some("a.names.txt")),
            ("a-test.svm.gz", Some("a.names.txt")),
            ("b.svm.zst", Some("b.names.txt.zst")),
            ("b-test.svm", Some("b.names.txt.zst")),
            ("c-test.svm", Some("c-test.names.txt")),
            ("train.svm.zst", Some("names.txt.zst")),
            ("test.svm.zst", Some("names.txt.zst")),
            ("train.svm", None),
            ("d.svm", None),
        ] {
            assert_eq!(names_beside(&at(data)), names.map(at), "{data}");
        }
        let texts = Some(at("test-texts.txt.zst"));
        assert_eq!(texts_beside(&at("test.svm.zst")), texts);
        assert_eq!(texts_beside(&at("train.svm.zst")), None);
    }

    #[test]
    fn the_prefix_is_what_stands_before_the_endings() {
        for (path, expected) in [
            ("a/train.svm", "a/train"),
            ("train.svm.zst", "train"),
            ("train.svm.GZ", "train"),
            ("x.y.csv", "x.y"),
            ("train", "train"),
            ("a.b/train.gz", "a.b/train"),
        ] {
            assert_eq!(prefix(Path::new(path)), Path::new(expected), "{path}");
        }
    }
}
