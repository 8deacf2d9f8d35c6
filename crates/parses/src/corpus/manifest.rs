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
    /// A candidate has other words than the sentence.
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
            Self::Misaligned => "with words that do not match",
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
    /// Share of the queries whose first candidate has all arcs of the treebank and no others.
    pub exact_first: f64,
    /// Share of the queries with such a candidate.
    pub exact_best: f64,
}

/// A data set that was written.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct WrittenData {
    /// Candidates.
    pub rows: usize,
    /// Sentences.
    pub queries: usize,
    /// Columns of the training data. Held-out data have the same.
    pub columns: usize,
    /// Columns in which candidates of a sentence differ: no other column can rank.
    pub varying_columns: usize,
    /// Candidates whose arcs that count are those of an earlier candidate of the sentence: they differ in
    /// punctuation, relations or roots alone.
    pub alike: usize,
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

/// A file that was read, with its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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

/// All that is to be known of a corpus that was built: the JSON document of the schema
/// `rankrls.corpus/2` in its folder.
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
    /// Where it came from: files with their hashes, and the parser with its versions.
    pub sources: Value,
    /// The outcome of the sentences.
    pub sentences: Sentences,
    /// Where candidates are Link Grammar's, the words of the treebank, as it was read, that depend on a
    /// noun by the relation `case`: many in Universal Dependencies, none where adpositions are heads.
    #[serde(skip)]
    pub adpositions: usize,
    /// Whether candidates have scores, which are equal in each sentence.
    #[serde(skip)]
    pub scores_tie: bool,
    /// Rows to train on; none with the columns of another corpus.
    pub train: Option<WrittenData>,
    /// Rows held out, if any are, or all rows over the columns of another corpus.
    pub test: Option<WrittenData>,
    /// The BLAKE3 hash of each file but this one, as `b3sum` prints it.
    pub files: BTreeMap<&'static str, String>,
    /// The sentences left out. Sentences with one candidate or equal labels are only counted.
    pub skipped: Vec<Skipped>,
}

/// The schema of manifests.
pub(super) const SCHEMA: &str = "rankrls.corpus/2";
