//! What became of the sentences, and what was written: the manifest.

use std::path::Path;

use serde::Serialize;

use super::options::{BuildOptions, Labels, Malformed, Punctuation, Share, Values};

/// Why a sentence has no rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// It is not what the format asks for.
    Malformed,
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

/// What became of the sentences of the treebank.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Sentences {
    /// Sentences in the treebank.
    pub read: usize,
    /// Of these, malformed ones.
    pub malformed: usize,
    /// Of these, sentences that the parser found nothing for, or at which it ended.
    pub failed: usize,
    /// Of these, sentences that the parser had no time for.
    pub timed_out: usize,
    /// Of these, sentences about which the parser said something that cannot be understood.
    pub unreadable: usize,
    /// Of these, sentences with a candidate of other words.
    pub misaligned: usize,
    /// Of these, sentences that the file of candidates does not have.
    pub missing: usize,
    /// Of these, sentences with one candidate.
    pub single: usize,
    /// Of these, sentences whose candidates all have the same label.
    pub tied: usize,
    /// Of these, sentences trained on.
    pub train: usize,
    /// Of these, sentences held out.
    pub test: usize,
}

impl Sentences {
    /// How many were left out, and why, where there are any.
    pub fn left_out(&self) -> impl Iterator<Item = (usize, Reason)> {
        let counts = [
            (self.malformed, Reason::Malformed),
            (self.failed, Reason::Failed),
            (self.timed_out, Reason::TimedOut),
            (self.unreadable, Reason::Unreadable),
            (self.misaligned, Reason::Misaligned),
            (self.missing, Reason::Missing),
            (self.single, Reason::Single),
            (self.tied, Reason::Tied),
        ];
        counts.into_iter().filter(|&(count, _)| count > 0)
    }

    pub(super) fn count(&mut self, reason: Reason) {
        *match reason {
            Reason::Malformed => &mut self.malformed,
            Reason::Failed => &mut self.failed,
            Reason::TimedOut => &mut self.timed_out,
            Reason::Unreadable => &mut self.unreadable,
            Reason::Misaligned => &mut self.misaligned,
            Reason::Missing => &mut self.missing,
            Reason::Single => &mut self.single,
            Reason::Tied => &mut self.tied,
            Reason::Unknown => return,
        } += 1;
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
pub struct Part {
    /// Candidates.
    pub rows: usize,
    /// Sentences.
    pub queries: usize,
    /// Columns: those of training, also for held-out data.
    pub columns: usize,
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

/// A file with its hash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileHash {
    /// Its name, without folders.
    pub file: String,
    /// BLAKE3 of its text, before compression.
    pub blake3: String,
}

/// The files that were written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Files {
    /// Rows to train on, unless the columns are those of another corpus.
    pub train: Option<FileHash>,
    /// Rows held out, if any are, or all rows over the columns of another corpus.
    pub test: Option<FileHash>,
    /// Names of the columns, unless they are those of another corpus.
    pub names: Option<FileHash>,
    /// Arcs of the candidates, if they were asked for.
    pub arcs: Option<FileHash>,
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
    /// Its format.
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

/// The options that the files depend on.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Options {
    templates: Vec<&'static str>,
    min_count: u32,
    values: Values,
    label: Labels,
    punctuation: Punctuation,
    test_share: Share,
    seed: u64,
    candidates: usize,
    malformed: Malformed,
}

impl Options {
    pub(super) fn of(options: &BuildOptions) -> Self {
        Self {
            templates: options.templates.names().to_vec(),
            min_count: options.min_count,
            values: options.values,
            label: options.labels,
            punctuation: options.punctuation,
            test_share: options.test_share,
            seed: options.seed,
            candidates: options.candidates,
            malformed: options.malformed,
        }
    }
}

/// All that is to be known of a corpus that was built: the JSON document of the schema
/// `rankrls.corpus/1` that is written beside it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Manifest {
    /// `rankrls.corpus/1`.
    pub schema: &'static str,
    /// Version of this crate.
    pub version: &'static str,
    /// `corpus build`.
    pub command: &'static str,
    /// What was asked for.
    pub options: Options,
    /// Where it came from.
    pub sources: Sources,
    /// What became of the sentences.
    pub sentences: Sentences,
    /// Rows to train on, unless the columns are those of another corpus.
    pub train: Option<Part>,
    /// Rows held out, if any are, or all rows over the columns of another corpus.
    pub test: Option<Part>,
    /// The files.
    pub files: Files,
    /// What was left out, but for sentences with one candidate or equal labels: those are counted.
    pub skipped: Vec<Skipped>,
}

/// The name of a file without its folders, which are nobody's business.
pub(super) fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}
