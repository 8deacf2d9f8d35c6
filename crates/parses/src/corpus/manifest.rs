//! The manifest: the outcome of the sentences, and the files written.

use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use rankrls_files::escaped;
use serde::Serialize;
use serde_json::Value;

use super::options::BuildOptions;

/// Why a sentence has no rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is malformed.
    Malformed,
    /// The treebank hides its words.
    Textless,
    /// The parser found no linkage, or ended.
    Failed,
    /// The parser ran out of time.
    TimedOut,
    /// The parser's output is unreadable.
    Unreadable,
    /// A candidate's words differ from the sentence's.
    Misaligned,
    /// The file of candidates has no parse of it.
    Missing,
    /// The treebank lacks the sentence of these candidates.
    Unknown,
    /// It has a single candidate.
    Single,
    /// All candidates have the same label.
    Tied,
    /// It is of a document that is held out, and a sentence with the same text is trained on.
    Repeated,
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
            Self::Misaligned => "with words that do not match",
            Self::Missing => "without candidates",
            Self::Unknown => "candidates of no sentence",
            Self::Single => "with one candidate",
            Self::Tied => "with equal labels",
            Self::Repeated => "of documents held out, with texts to train on",
        }
    }
}

/// A sentence left out, or parses of one left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Skipped {
    /// The file, without its folders.
    pub file: String,
    /// The line where it begins, or of the fault.
    pub line: u64,
    /// Its identifier, if it has one.
    pub id: Option<String>,
    /// The reason.
    pub reason: Reason,
    /// The reason in detail.
    pub detail: String,
}

/// Place, reason and detail on one line, safe for a terminal.
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

/// The outcome of the treebank's sentences.
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
    /// The outcome of `read` sentences, of which some are trained on and others held out.
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

    /// The number of sentences left out for each reason that occurs.
    pub fn left_out(&self) -> impl Iterator<Item = (usize, Reason)> {
        let counts = self.unused.iter().map(|(&reason, &count)| (count, reason));
        counts.filter(|&(count, _)| count > 0)
    }

    pub(super) fn count(&mut self, reason: Reason, sentences: usize) {
        *self.unused.entry(reason).or_default() += sentences;
    }
}

/// The numbers of documents on the two sides of a split. No document is on both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Documents {
    /// Documents trained on.
    pub train: usize,
    /// Documents held out.
    pub test: usize,
}

/// The spread of the labels.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Spread {
    /// Least label.
    pub least: f64,
    /// Mean over rows.
    pub mean: f64,
    /// Largest label.
    pub largest: f64,
    /// Mean over queries of the difference between largest and least label.
    pub mean_range: f64,
    /// Mean over queries of the first candidate's label: the parser's choice.
    pub mean_first: f64,
    /// Mean over queries of the largest label: the result of the best ranking.
    pub mean_best: f64,
    /// Share of the queries whose first candidate has exactly the treebank's arcs.
    pub exact_first: f64,
    /// Share of the queries with any such candidate.
    pub exact_best: f64,
}

/// A data set that was written.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct WrittenData {
    /// Candidates.
    pub rows: usize,
    /// Sentences.
    pub queries: usize,
    /// Columns of the training data, which held-out data share.
    pub columns: usize,
    /// Columns in which candidates of a sentence differ. Other columns cannot rank.
    pub varying_columns: usize,
    /// Candidates whose counted arcs equal an earlier candidate's. They differ only in punctuation, relations or
    /// roots.
    pub alike: usize,
    /// Entries.
    pub nonzeros: u64,
    /// Features without a column: rare ones in training data, and in held-out data those unknown to training.
    pub unseen_features: usize,
    /// Entries left out with these features.
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

/// A file and its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileHash {
    /// Its name, without folders.
    pub file: String,
    /// BLAKE3 of its text, before compression.
    pub blake3: String,
}

impl FileHash {
    /// The hash of the file at `path` with this text.
    pub(super) fn of(path: &Path, text: &[u8]) -> Self {
        let mut hasher = blake3::Hasher::new();
        Self::hashed(path, hasher.update(text))
    }

    /// The hash of the file at `path` from its hashed text.
    pub(super) fn hashed(path: &Path, hasher: &blake3::Hasher) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str());
        Self {
            file: name.to_string_lossy().into_owned(),
            blake3: hasher.finalize().to_hex().to_string(),
        }
    }
}

/// The description of a built corpus: the JSON document of the schema `rankrls.corpus/2` in its folder.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Manifest {
    /// `rankrls.corpus/2`.
    pub schema: &'static str,
    /// Version of this crate.
    pub version: &'static str,
    /// `build`.
    pub command: &'static str,
    /// The options of the build.
    pub options: BuildOptions,
    /// The sources: files with their hashes, and the parser with its versions.
    pub sources: Value,
    /// The outcome of the sentences.
    pub sentences: Sentences,
    /// The documents, where these are held out whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub documents: Option<Documents>,
    /// Whether sentences are held out because all usable ones belong to one document.
    #[serde(skip)]
    pub one_document: bool,
    /// Only for candidates of Link Grammar: the treebank's words, as read, that depend on a noun by the relation
    /// `case`. Universal Dependencies have many, and treebanks with adpositions as heads have none.
    #[serde(skip)]
    pub adpositions: usize,
    /// Whether candidates have scores that are equal within each sentence.
    #[serde(skip)]
    pub scores_tie: bool,
    /// The training rows. None with the columns of another corpus.
    pub train: Option<WrittenData>,
    /// The held-out rows, if any, or all rows over the columns of another corpus.
    pub test: Option<WrittenData>,
    /// The BLAKE3 hash of every other file, as `b3sum` prints it.
    pub files: BTreeMap<&'static str, String>,
    /// The sentences left out. Sentences with one candidate, with equal labels or with a text to train on are only
    /// counted.
    pub skipped: Vec<Skipped>,
}

/// The schema of manifests.
pub(super) const SCHEMA: &str = "rankrls.corpus/2";
