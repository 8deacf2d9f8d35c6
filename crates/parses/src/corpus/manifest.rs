//! The manifest: the outcome of the sentences, and the files written.

use std::collections::BTreeMap;
use std::fmt;
use std::path::{Component, Path, PathBuf};

use rankrls_files::error::Fault;
use rankrls_files::{ReadError, escaped, read_regular};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::options::BuildOptions;

/// Why a sentence has no rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is not what the format asks for.
    Malformed,
    /// Its words were left out of the treebank.
    Textless,
    /// The parser found nothing, or ended.
    Failed,
    /// The parser ran out of time.
    TimedOut,
    /// The parser said something that cannot be understood.
    Unreadable,
    /// The words of a candidate are not those of the sentence.
    Misaligned,
    /// The file of candidates has none for it.
    Missing,
    /// Candidates of a sentence that the treebank does not have.
    Unknown,
    /// There is one candidate only.
    Single,
    /// All candidates have the same label.
    Tied,
}

impl Reason {
    /// The reason in words.
    pub fn text(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Textless => "without their text",
            Self::Failed => "not parsed",
            Self::TimedOut => "timed out",
            Self::Unreadable => "with an answer that is not understood",
            Self::Misaligned => "words that do not match",
            Self::Missing => "without candidates",
            Self::Unknown => "candidates of no sentence",
            Self::Single => "with one candidate",
            Self::Tied => "with equal labels",
        }
    }
}

/// A sentence, or parses of one, that was left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The file, without its folders.
    pub file: String,
    /// Where it begins, or where the fault is.
    pub line: u64,
    /// Its identifier, if it has one.
    pub id: Option<String>,
    /// Why.
    pub reason: Reason,
    /// Why, in words.
    pub detail: String,
}

/// Place, reason and detail on one line, as they may go to a terminal.
impl fmt::Display for Skipped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, line, reason) = (escaped(&self.file), self.line, self.reason.text());
        write!(formatter, "{file}:{line}: left out, {reason}")?;
        match &*self.detail {
            "" => Ok(()),
            detail => write!(formatter, ": {}", escaped(detail)),
        }
    }
}

/// The outcome of the sentences of the treebank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sentences {
    /// Sentences in the treebank.
    pub read: usize,
    /// Sentences without rows, by reason.
    #[serde(flatten)]
    unused: BTreeMap<Reason, usize>,
    /// Sentences trained on.
    pub train: usize,
    /// Sentences held out.
    pub test: usize,
}

impl Sentences {
    /// So many sentences that were read, of which some are trained on and others held out.
    pub(super) fn new(read: usize, [train, test]: [usize; 2]) -> Self {
        let reasons = [
            Reason::Malformed,
            Reason::Textless,
            Reason::Failed,
            Reason::TimedOut,
            Reason::Unreadable,
            Reason::Misaligned,
            Reason::Missing,
            Reason::Single,
            Reason::Tied,
        ];
        Self {
            read,
            unused: reasons.map(|reason| (reason, 0)).into(),
            train,
            test,
        }
    }

    /// How many were left out, and why, where there are any.
    pub fn left_out(&self) -> impl Iterator<Item = (usize, Reason)> {
        let counts = self.unused.iter().map(|(&reason, &count)| (count, reason));
        counts.filter(|&(count, _)| count > 0)
    }

    pub(super) fn count(&mut self, reason: Reason, sentences: usize) {
        *self.unused.entry(reason).or_default() += sentences;
    }
}

/// How labels spread.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Least label.
    pub least: f64,
    /// Mean over rows.
    pub mean: f64,
    /// Largest label.
    pub largest: f64,
    /// Mean over queries of the largest label less the least.
    pub mean_range: f64,
    /// Mean over queries of the label of the first candidate, the parser's choice.
    pub mean_first: f64,
    /// Mean over queries of the largest label: what the best ranking would reach.
    pub mean_best: f64,
}

/// A data set that was written.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct WrittenData {
    /// Candidates.
    pub rows: usize,
    /// Sentences.
    pub queries: usize,
    /// Columns: those of training, also for held-out data.
    pub columns: usize,
    /// Columns in which candidates of a sentence differ: no other column can rank.
    pub varying_columns: usize,
    /// Entries.
    pub nonzeros: u64,
    /// Features that have no column: rare ones in training data, and in held-out data those that
    /// training does not have.
    pub unseen_features: usize,
    /// Entries that were left out with them.
    pub unseen_entries: u64,
    /// The labels.
    pub labels: Spread,
}

impl WrittenData {
    /// Whether at least nine in ten columns are constant within every sentence.
    pub fn is_poor(&self) -> bool {
        self.columns >= 10 * self.varying_columns
    }
}

/// A file with its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileHash {
    /// Its name, without folders.
    pub file: String,
    /// BLAKE3 of its text, before compression.
    pub blake3: String,
}

impl FileHash {
    /// The hash of the file at `path`, whose text was read.
    pub(super) fn of(path: &Path, text: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        Self::hashed(path, hasher.update(text))
    }

    /// The hash of the file at `path`, whose text was hashed.
    pub(super) fn hashed(path: &Path, hasher: &blake3::Hasher) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str());
        Self {
            file: name.to_string_lossy().into_owned(),
            blake3: hasher.finalize().to_hex().to_string(),
        }
    }
}

/// The files that were written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Files {
    /// Rows to train on, unless the columns are those of another corpus.
    pub train: Option<FileHash>,
    /// Rows held out, if any are, or all rows over the columns of another corpus.
    pub test: Option<FileHash>,
    /// The parse of each row to train on, one a line.
    pub texts: Option<FileHash>,
    /// The parse of each row of `test`.
    pub test_texts: Option<FileHash>,
    /// Names of the columns, unless they are those of another corpus.
    pub names: Option<FileHash>,
}

/// The parser that made the candidates.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Parser {
    /// Version of the parser.
    pub version: String,
    /// Version of the dictionary.
    pub dictionary: String,
    /// Most linkages that it looked at.
    pub limit: usize,
    /// Seconds that it had for a sentence.
    pub time_limit: u64,
    /// Whether they were of processor time, and not of the clock.
    pub processor_time: bool,
}

/// Candidates that came from a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CandidateFile {
    /// The file.
    #[serde(flatten)]
    pub hash: FileHash,
    /// Its format, `conllu`.
    pub format: &'static str,
}

/// Where everything came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Sources {
    /// The sentences.
    pub treebank: FileHash,
    /// Their candidates, if they came from a file.
    pub candidates: Option<CandidateFile>,
    /// Their parser, if they did not.
    pub parser: Option<Parser>,
    /// The names of the columns, if they are those of another corpus.
    pub columns: Option<FileHash>,
}

/// All that is to be known of a corpus that was built: the JSON document of the schema
/// `rankrls.corpus/1` that is written beside it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Manifest {
    /// `rankrls.corpus/1`.
    pub schema: &'static str,
    /// Version of this crate.
    pub version: &'static str,
    /// `build`.
    pub command: &'static str,
    /// The options of the build.
    pub options: BuildOptions,
    /// Where it came from.
    pub sources: Sources,
    /// The outcome of the sentences.
    pub sentences: Sentences,
    /// Words of the treebank, as it was read, that depend on a noun by the relation `case`: many in
    /// Universal Dependencies, none where adpositions are heads.
    #[serde(skip)]
    pub adpositions: usize,
    /// Rows to train on, unless the columns are those of another corpus.
    pub train: Option<WrittenData>,
    /// Rows held out, if any are, or all rows over the columns of another corpus.
    pub test: Option<WrittenData>,
    /// The files.
    pub files: Files,
    /// The sentences left out, but for sentences with one candidate or equal labels: those are counted.
    pub skipped: Vec<Skipped>,
}

/// The schema of manifests.
pub(super) const SCHEMA: &str = "rankrls.corpus/1";

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
    /// The file cannot be read or decompressed, or has a value that no manifest has.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The text is no manifest.
    #[error("{path}:{line}:{column}: expected a manifest of `rankrls build` in JSON, found: {message}", path = escaped(&path.display().to_string()))]
    Json {
        /// The file.
        path: PathBuf,
        /// Line, counted from 1.
        line: usize,
        /// Column, counted from 1; 0 before the first one.
        column: usize,
        /// The fault there.
        message: String,
    },
}

/// The fields that are read of a manifest. Others may have more in it.
#[derive(Deserialize)]
struct Document {
    schema: String,
    files: Files,
}

impl Listing {
    /// Reads the manifest at `path`.
    pub fn read(path: &Path) -> Result<Self, ManifestError> {
        Self::parse(&read_regular(path, LARGEST)?, path)
    }

    /// Reads the text of a manifest, which messages call `path`.
    pub fn parse(text: &[u8], path: &Path) -> Result<Self, ManifestError> {
        let document: Document =
            serde_json::from_slice(text).map_err(|error| ManifestError::Json {
                path: path.to_owned(),
                line: error.line(),
                column: error.column(),
                message: error.to_string(),
            })?;
        let refused = |field: &str, expected, found: &str| {
            let found = format!("{:?}", found.chars().take(80).collect::<String>());
            let fault = Fault::new(expected, found).in_field(field);
            Err(fault.of(&path.display().to_string()).into())
        };
        if document.schema != SCHEMA {
            return refused("schema", SCHEMA, &document.schema);
        }
        let files = document.files;
        let entries = [
            ("train", files.train),
            ("test", files.test),
            ("texts", files.texts),
            ("test_texts", files.test_texts),
            ("names", files.names),
        ];
        let present = entries.into_iter();
        let listed: Vec<(&str, FileHash)> = present
            .filter_map(|(role, file)| Some((role, file?)))
            .collect();
        for (role, FileHash { file, blake3 }) in &listed {
            if !is_plain(file) {
                let expected = "the name of a file beside the manifest, without folders";
                return refused(&format!("files.{role}.file"), expected, file);
            }
            if blake3.len() != 64 || !blake3.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                let expected = "a BLAKE3 hash of 64 hexadecimal digits";
                return refused(&format!("files.{role}.blake3"), expected, blake3);
            }
        }
        Ok(Self { files: listed })
    }

    /// The manifest beside the rows at `path`, and the files that it lists, if these rows are one of
    /// them.
    pub fn around(path: &Path) -> Option<Vec<PathBuf>> {
        let name = path.file_name()?.to_str()?;
        let (stem, _) = name.rsplit_once(".svm")?;
        let prefixes = [Some(stem), stem.strip_suffix("-test")];
        prefixes.into_iter().flatten().find_map(|prefix| {
            let manifest = path.with_file_name(format!("{prefix}-manifest.json"));
            // Another kind of file may have no end.
            let listing = manifest.is_file().then(|| Self::read(&manifest).ok())??;
            let names: Vec<&str> = listing.files().map(|(_, file)| &*file.file).collect();
            let files = names.iter().map(|name| path.with_file_name(name));
            let own = names.contains(&name);
            own.then(|| files.chain([manifest]).collect())
        })
    }

    /// The roles of the files, and their hashes.
    pub fn files(&self) -> impl Iterator<Item = (&'static str, &FileHash)> {
        self.files.iter().map(|(role, file)| (*role, file))
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
    use super::*;

    fn manifest(file: &str, hash: &str) -> String {
        let entry = serde_json::json!({"file": file, "blake3": hash});
        serde_json::json!({
            "schema": SCHEMA,
            "more": [1],
            "files": {"train": entry, "test": null, "names": null},
        })
        .to_string()
    }

    fn parse(text: &str) -> Result<Listing, ManifestError> {
        Listing::parse(text.as_bytes(), Path::new("m.json"))
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
