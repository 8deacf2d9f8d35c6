//! What can go wrong when a corpus is built.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::linkgrammar::LinkGrammarError;
use crate::treebank::TreebankError;

/// Why there is no corpus.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An option outside its range.
    #[error("{option}: expected {expected}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// What it may be.
        expected: String,
    },
    /// A file of sentences that cannot be read, or a sentence that is malformed.
    #[error(transparent)]
    Treebank(#[from] TreebankError),
    /// Two sentences of the treebank have one identifier, so that candidates cannot be told apart.
    #[error(
        "{file}:{line}:1: expected a sent_id of its own, found {id:?} again, that of the sentence on line {first}"
    )]
    RepeatedId {
        /// The treebank.
        file: String,
        /// Where the second one begins.
        line: u64,
        /// The identifier.
        id: String,
        /// Where the first one begins.
        first: u64,
    },
    /// Candidates of a sentence come in two places.
    #[error(
        "{file}:{line}:1: expected the parses of a sentence next to each other, found more of {id:?}, which began on line {first}"
    )]
    SplitCandidates {
        /// The file of candidates.
        file: String,
        /// Where they come again.
        line: u64,
        /// The sentence's identifier.
        id: String,
        /// Where the first ones are.
        first: u64,
    },
    /// Groups of parses without identifiers are not as many as sentences.
    #[error(
        "{file}: expected parses of {expected} sentences, as many as the treebank has, found {found} (give each group a comment \"# sent_id = …\")"
    )]
    Groups {
        /// The file of candidates.
        file: String,
        /// Sentences of the treebank.
        expected: usize,
        /// Groups in the file.
        found: usize,
    },
    /// Relations of two kinds cannot be compared.
    #[error(
        "labelled arcs need candidates with the relations of the treebank: those of {0} are others; compare unlabelled arcs"
    )]
    Relations(&'static str),
    /// The names of columns cannot be read.
    #[error(transparent)]
    Names(#[from] rankrls_files::ReadError),
    /// Two columns have one name.
    #[error("{file}: expected different names, found {name:?} twice")]
    RepeatedName {
        /// The file of names.
        file: String,
        /// The name.
        name: String,
    },
    /// The parser does not work.
    #[error(transparent)]
    LinkGrammar(#[from] LinkGrammarError),
    /// The parser fails at a large share of the sentences: something is wrong with it as a whole.
    #[error(
        "the parser failed at {failed} of the {tried} sentences tried, more than a third; at the last of them: {last}"
    )]
    Parser {
        /// Sentences at which it ended, or with an answer that cannot be understood.
        failed: usize,
        /// Sentences that it was given.
        tried: usize,
        /// What was wrong with the last of them.
        last: String,
    },
    /// Parses of a run that did not end.
    #[error(
        "{} has the parses of a run that did not end: go on with it (--resume), or delete it", .0.display()
    )]
    Unfinished(PathBuf),
    /// A journal that another run wrote.
    #[error("{} is the journal of a run with another {what}: {found}, where this one has {expected} (give another output, or delete it)", path.display())]
    OtherRun {
        /// The journal.
        path: PathBuf,
        /// What differs.
        what: &'static str,
        /// What this run has.
        expected: String,
        /// What the journal has.
        found: String,
    },
    /// A file that is no journal.
    #[error("{}: expected a journal of parses, found something else", .0.display())]
    NoJournal(PathBuf),
    /// A file that cannot be written or read back.
    #[error("cannot write {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Nothing is left to rank.
    #[error("no sentence can be used to train on: {0}")]
    Nothing(String),
    /// The observer asked to end.
    #[error("interrupted")]
    Interrupted,
}

impl BuildError {
    /// A failure at `path`.
    pub(super) fn write(path: &std::path::Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Write {
            path: path.to_owned(),
            source,
        }
    }
}
