//! Whether the files of a corpus are still those that were written.

use std::path::{Component, Path, PathBuf};

use serde::Deserialize;
use thiserror::Error;

use super::report::FileHash;
use rankrls_files::{ReadError, hash_text, read_whole};

/// The schema of manifests.
const SCHEMA: &str = "rankrls.corpus/1";

/// Most bytes that are taken for a manifest.
const LARGEST: u64 = 1 << 28;

/// The files that a manifest lists. They are looked for beside it under the names they were
/// written with: a name with folders in it is refused, so that no manifest leads elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listing {
    files: Vec<(&'static str, FileHash)>,
}

/// A manifest that was refused.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ManifestError {
    /// The file cannot be read or decompressed.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The text is no manifest.
    #[error("{path}:{line}:{column}: expected a manifest of `rankrls corpus build` in JSON, found: {message}", path = path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// Column, counted from 1; 0 before the first one.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// A value that no manifest has.
    #[error("{path}: {field}: expected {expected}, found {found}", path = path.display())]
    Value {
        /// The file.
        path: PathBuf,
        /// Where: `files.train.file`.
        field: String,
        /// What would be legal there.
        expected: &'static str,
        /// What is there, quoted.
        found: String,
    },
}

/// What has become of a file.
#[derive(Debug)]
pub enum Verdict {
    /// It has the text that was written.
    Intact,
    /// It has another text, whose BLAKE3 hash this is.
    Changed(String),
    /// It cannot be read.
    Unreadable(ReadError),
}

/// A file of a manifest and what has become of it.
#[derive(Debug)]
pub struct Checked<'a> {
    /// What the file is for: `train`, `test`, `names` or `arcs`.
    pub role: &'static str,
    /// What the manifest says.
    pub listed: &'a FileHash,
    /// What is there.
    pub verdict: Verdict,
}

/// What is read of a manifest. Others may have more in it.
#[derive(Deserialize)]
struct Document {
    schema: String,
    files: Files,
}

#[derive(Deserialize)]
struct Files {
    train: Option<Entry>,
    test: Option<Entry>,
    names: Option<Entry>,
    arcs: Option<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    file: String,
    blake3: String,
}

impl Listing {
    /// Reads the manifest at `path`.
    ///
    /// # Errors
    /// [`ManifestError`] for a file that cannot be read or is no manifest.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        Self::parse(&read_whole(path, LARGEST)?, path)
    }

    /// The same from the text of a manifest, which messages call `path`.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn parse(text: &[u8], path: &Path) -> Result<Self, ManifestError> {
        let document: Document =
            serde_json::from_slice(text).map_err(|error| ManifestError::Json {
                path: path.to_owned(),
                line: error.line(),
                column: error.column(),
                message: error.to_string(),
            })?;
        let value = |field: String, expected, found: &str| ManifestError::Value {
            path: path.to_owned(),
            field,
            expected,
            found: format!("{:?}", found.chars().take(80).collect::<String>()),
        };
        if document.schema != SCHEMA {
            return Err(value("schema".to_owned(), SCHEMA, &document.schema));
        }
        let Files {
            train,
            test,
            names,
            arcs,
        } = document.files;
        let entries = [
            ("train", train),
            ("test", test),
            ("names", names),
            ("arcs", arcs),
        ];
        let mut files = Vec::new();
        for (role, entry) in entries {
            let Some(Entry { file, blake3 }) = entry else {
                continue;
            };
            if !is_plain(&file) {
                let expected = "the name of a file beside the manifest, without folders";
                return Err(value(format!("files.{role}.file"), expected, &file));
            }
            if blake3.len() != 64 || !blake3.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                let expected = "a BLAKE3 hash of 64 hexadecimal digits";
                return Err(value(format!("files.{role}.blake3"), expected, &blake3));
            }
            files.push((role, FileHash { file, blake3 }));
        }
        Ok(Self { files })
    }

    /// What the files are for, and their hashes.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &FileHash)> {
        self.files.iter().map(|(role, file)| (*role, file))
    }

    /// Hashes the files in `folder`, that of the manifest. Takes time in proportion to their text
    /// and little memory.
    pub fn check(&self, folder: &Path) -> Vec<Checked<'_>> {
        let verdict = |listed: &FileHash| match hash_text(&folder.join(&listed.file)) {
            Err(error) => Verdict::Unreadable(error),
            Ok(hash) if hash.eq_ignore_ascii_case(&listed.blake3) => Verdict::Intact,
            Ok(hash) => Verdict::Changed(hash),
        };
        self.files()
            .map(|(role, listed)| Checked {
                role,
                listed,
                verdict: verdict(listed),
            })
            .collect()
    }
}

/// Whether a name is that of a file in a folder, on any system.
fn is_plain(name: &str) -> bool {
    let mut components = Path::new(name).components();
    let one = matches!(components.next(), Some(Component::Normal(part)) if part == name);
    one && components.next().is_none() && !name.contains(['/', '\\', ':', '\0'])
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn manifest(file: &str, hash: &str) -> String {
        let entry = serde_json::json!({"file": file, "blake3": hash});
        serde_json::json!({
            "schema": SCHEMA,
            "more": [1],
            "files": {"train": entry, "test": null, "names": null, "arcs": null},
        })
        .to_string()
    }

    fn parse(text: &str) -> Result<Listing, ManifestError> {
        Listing::parse(text.as_bytes(), Path::new("m.json"))
    }

    #[test]
    fn files_are_told_from_changed_and_missing_ones() {
        let folder = tempfile::tempdir().unwrap();
        let text = b"1 qid:a 1:1\n";
        let hash = blake3::hash(text).to_hex();
        let verdict = || {
            let listing = parse(&manifest("x.svm", &hash)).unwrap();
            listing.check(folder.path()).remove(0).verdict
        };
        assert!(matches!(verdict(), Verdict::Unreadable(_)));
        fs::write(folder.path().join("x.svm"), text).unwrap();
        assert!(matches!(verdict(), Verdict::Intact));
        let compressed = zstd::encode_all(&text[..], 3).unwrap();
        fs::write(folder.path().join("x.svm"), compressed).unwrap();
        assert!(matches!(verdict(), Verdict::Intact));
        fs::write(folder.path().join("x.svm"), b"1 qid:a 1:2\n").unwrap();
        assert!(matches!(verdict(), Verdict::Changed(_)));
    }

    #[test]
    fn no_name_leads_out_of_the_folder() {
        let hash = "0".repeat(64);
        for name in [
            "",
            ".",
            "..",
            "/etc/passwd",
            "../x",
            "a/b",
            "a\\b",
            "./x",
            "x/",
            "C:x",
            "x\0",
        ] {
            let error = parse(&manifest(name, &hash)).unwrap_err();
            assert!(error.to_string().contains("files.train.file"), "{error}");
        }
        assert!(parse(&manifest("..x", &hash)).is_ok());
    }

    #[test]
    fn other_documents_are_refused() {
        let hash = "0".repeat(64);
        for (text, message) in [
            (String::new(), "m.json:1:0: expected a manifest"),
            ("{}".to_owned(), "m.json:1:2: expected a manifest"),
            (manifest("x", "12"), "files.train.blake3"),
            (
                manifest("x", &hash).replace("corpus/1", "corpus/2"),
                "schema",
            ),
        ] {
            let error = parse(&text).unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
    }
}
