//! Corpora of real parses: sentences with gold dependencies and candidate parses become queries
//! and rows.
//!
//! A sentence is a query, a candidate parse a row; the label is the [F1](label) of its arcs
//! against the gold tree. Features come from the candidate alone, by [templates](TABLE). Candidates
//! come from the [Link Grammar parser](crate::linkgrammar) or from a file of [n-best CoNLL-U](crate::treebank::conllu).
//!
//! **What is written.** `PREFIX.svm.zst` to train on, `PREFIX-test.svm.zst` held out, over the
//! columns of training, `PREFIX-texts.txt.zst` and `PREFIX-test-texts.txt.zst` with the parse of
//! each row, `PREFIX-names.txt.zst`, and `PREFIX-manifest.json` ([`Manifest`]); each file appears
//! whole or not at all, the manifest last. The same sources, options and parser give the same bytes
//! at any number of threads, as long as no sentence runs out of time.
//!
//! **Unfinished runs.** What the parser finds goes to `PREFIX.journal` at once, sentence by sentence.
//! A run that was ended goes on from there; what it ends with is what a whole run would have.
//!
//! **New sentences.** With [`BuildOptions::columns`] the rows of a treebank, with or without trees,
//! are written over the columns of another corpus, for a model of that to rank: `PREFIX.svm.zst`,
//! `PREFIX-texts.txt.zst` and the manifest.
//!
//! Sentences that cannot be used are left out, counted, and, but for those with one candidate or
//! equal labels, named with file and line in [`Manifest::skipped`].

use std::path::{Path, PathBuf};

use crate::linkgrammar::{self, LinkParser};

mod building;
mod columns;
mod journal;
pub mod label;
mod manifest;
mod names;
mod options;
mod parse;
mod source;
mod templates;
mod writing;

use building::Building;
use journal::{Key, Parses};
use source::{FileCandidates, Pool, Treebank};
use writing::FileNames;

pub use manifest::{
    CandidateFile, FileHash, Files, Listing, Manifest, ManifestError, Parser, Reason, Sentences,
    Skipped, Sources, Spread, WrittenData,
};
#[cfg(feature = "clap")]
pub use options::variant;
pub use options::{
    BuildError, BuildOptions, Compression, Heads, InvalidShare, LabelKind, Malformed, Punctuation,
    Share, Values,
};
pub use templates::{TABLE, Template, Templates, UnknownTemplate};

/// Where candidates come from.
#[derive(Debug, Clone)]
pub enum Candidates {
    /// The Link Grammar parser. [`BuildOptions::candidates`] goes before its number of linkages.
    LinkGrammar {
        /// How to parse.
        options: linkgrammar::Options,
        /// Whether to go on with the journal of a run that was ended.
        resume: bool,
        /// Whether to keep the journal, so that other features can be had without parsing again.
        keep_journal: bool,
    },
    /// A file of CoNLL-U, several parses a sentence.
    File(PathBuf),
}

/// Told how far a corpus is.
pub trait BuildObserver: Sync {
    /// So many sentences of so many are parsed.
    fn parsed(&self, _done: usize, _of: usize) {}

    /// So many sentences of so many are written.
    fn written(&self, _done: usize, _of: usize) {}
}

impl BuildObserver for () {}

/// The files that [`build`] writes where its other arguments are these.
pub fn files(candidates: &Candidates, prefix: &Path, options: &BuildOptions) -> Vec<PathBuf> {
    let parsed = matches!(candidates, Candidates::LinkGrammar { .. });
    FileNames::new(prefix, options.compression).all(parsed, options.columns.is_some())
}

/// Builds a corpus of the sentences in the CoNLL-U file `treebank`; the files' names begin with
/// `prefix`. Time is the parser's for the most part: it runs once a thread of the current rayon
/// pool. Memory is that of the treebank, of the file of candidates and of the names of the columns.
pub fn build(
    treebank: &Path,
    candidates: &Candidates,
    prefix: &Path,
    options: &BuildOptions,
    observer: &dyn BuildObserver,
) -> Result<Manifest, BuildError> {
    options.validate()?;
    if options.labels == LabelKind::Labelled && matches!(candidates, Candidates::LinkGrammar { .. })
    {
        return Err(BuildError::Relations);
    }
    let gold = Treebank::read(treebank, options)?;
    let names = FileNames::new(prefix, options.compression);
    let (pool, sources, keep) = pool(&gold, candidates, &names, options, observer)?;
    let mut building = Building::judge(gold, pool, options)?;
    building.split();
    let manifest = building.write(&names, sources, observer)?;
    if let Pool::Journal(parses) = building.pool {
        parses.end(keep)?;
    }
    Ok(manifest)
}

/// Has the sentences parsed, or reads their parses; whether a journal is to be kept.
fn pool(
    gold: &Treebank,
    candidates: &Candidates,
    names: &FileNames,
    options: &BuildOptions,
    observer: &dyn BuildObserver,
) -> Result<(Pool, Sources, bool), BuildError> {
    let mut sources = Sources {
        treebank: gold.source.clone(),
        candidates: None,
        parser: None,
        columns: None,
    };
    match candidates {
        Candidates::File(path) => {
            let file = FileCandidates::read(path, gold, options)?;
            sources.candidates = Some(CandidateFile {
                hash: file.source.clone(),
                format: "conllu",
            });
            Ok((Pool::File(file), sources, false))
        }
        Candidates::LinkGrammar {
            options: how,
            resume,
            keep_journal,
        } => {
            let how = linkgrammar::Options {
                linkages: options.candidates,
                limit: how.limit.max(options.candidates),
                ..how.clone()
            };
            let parser = LinkParser::start(&how)?;
            let version = parser.version();
            let key = Key {
                schema: journal::SCHEMA,
                treebank: gold.source.blake3.clone(),
                sentences: gold.sentences.len(),
                parser: version.parser.clone(),
                dictionary: version.dictionary.clone(),
                linkages: how.linkages,
                limit: how.limit,
                time_limit: how.time_limit.as_secs(),
            };
            sources.parser = Some(Parser {
                version: key.parser.clone(),
                dictionary: key.dictionary.clone(),
                limit: key.limit,
                time_limit: key.time_limit,
                processor_time: linkgrammar::PROCESSOR_TIME,
            });
            let mut parses = Parses::open(&names.journal, &key, *resume)?;
            journal::parse(&gold.sentences, parser, &how, &mut parses, observer)?;
            Ok((Pool::Journal(parses), sources, *keep_journal))
        }
    }
}
