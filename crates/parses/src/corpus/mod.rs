//! Corpora of real parses: sentences with gold dependencies and candidate parses become queries
//! and rows.
//!
//! A sentence is a query, and a candidate parse is a row. The label is the [F1](label) of its arcs against the gold
//! tree. [Templates](TABLE) make features of the candidate alone. Candidates come from the [Link Grammar
//! parser](crate::linkgrammar), from its printed output, or from [n-best CoNLL-U](crate::treebank::conllu).
//!
//! **The result** is a folder with the [`FILES`]. `train.svm.zst` is the training data. `test.svm.zst` is held out,
//! over the columns of training. `texts.txt.zst` and `test-texts.txt.zst` have the parse of each row.
//! `names.txt.zst` and `manifest.json` ([`Manifest`]) complete it. The folder appears at once and replaces an older
//! corpus. The same sources, options and parser give the same bytes with any number of threads, unless a sentence
//! runs out of time.
//!
//! **Held-out data** are whole documents if comments `# newdoc` of the treebank begin several, else sentences
//! ([`Split`]). No text of a sentence is on both sides.
//!
//! **Unfinished runs.** The file `NAME.part` keeps each parsed sentence. A run that was stopped resumes from it,
//! and ends with the result of a whole run.
//!
//! **New sentences.** With [`BuildOptions::columns`], the rows of a treebank, with or without trees, are written as
//! `test.svm.zst` over the columns of another corpus. A model of that corpus can rank them.
//!
//! Unusable sentences are left out and counted. [`Manifest::skipped`] names them with file and line, except those
//! with one candidate, with equal labels or with a text to train on.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::Error;
use crate::linkgrammar::{Options, Version};

mod answers;
mod building;
mod candidates;
mod columns;
mod folder;
pub mod label;
mod manifest;
mod names;
mod observer;
mod options;
mod parse;
mod rows;
mod source;
mod split;
mod templates;

use answers::Answers;
use building::Building;
use candidates::Pool;
use folder::CorpusFolder;
use source::Treebank;

pub use folder::FILES;
pub use manifest::{
    Documents, FileHash, Manifest, Reason, Sentences, Skipped, Spread, WrittenData,
};
pub use observer::BuildObserver;
pub use options::{BuildOptions, Heads, Split};
pub use templates::{TABLE, Template, Templates};

/// The source of candidates.
#[derive(Debug, Clone)]
pub enum Candidates {
    /// The Link Grammar parser.
    LinkGrammar {
        /// Most linkages of a sentence, cheapest first: from 2 to 1000.
        linkages: usize,
        /// Seconds of processor time for a sentence.
        time_limit: u64,
        /// Whether to resume a stopped run.
        resume: bool,
    },
    /// A file of CoNLL-U with several parses a sentence, or of the Link Grammar parser's output. All parses are
    /// used.
    File(PathBuf),
}

/// Builds a corpus of the sentences in the CoNLL-U file `treebank` in a `folder`. The parser takes most of the
/// time: it runs once a thread of the current rayon pool. Memory holds the treebank, the file of candidates and the
/// names of the columns.
pub fn build(
    treebank: &Path,
    candidates: &Candidates,
    folder: &Path,
    options: &BuildOptions,
    observer: &dyn BuildObserver,
) -> Result<Manifest, Error> {
    options.check()?;
    let parsed = matches!(candidates, Candidates::LinkGrammar { .. });
    check_labels(parsed, options)?;
    // Find out before the work whether the folder can be written.
    drop(CorpusFolder::begin(folder)?);
    let gold = Treebank::read(treebank, options)?;
    gold.check_documents(options)?;
    let (pool, sources) = pool(&gold, candidates, folder, options, observer)?;
    check_labels(pool.is_link_grammar(), options)?;
    let building = Building::judge(gold, pool, options)?;
    let written = CorpusFolder::begin(folder)?;
    let manifest = building.write(&written, sources, observer)?;
    written.appear()?;
    if let Pool::Asked(answers) = building.pool {
        answers.remove()?;
    }
    Ok(manifest)
}

/// Refuses to compare relations of different kinds.
fn check_labels(is_link_grammar: bool, options: &BuildOptions) -> Result<(), Error> {
    if options.relations && is_link_grammar {
        let text = "--relations: expected candidates with the relations of the treebank, found relations of Link Grammar";
        return Err(Error::Options(text.to_owned()));
    }
    Ok(())
}

/// Has the sentences parsed, or reads their parses.
fn pool(
    gold: &Treebank,
    candidates: &Candidates,
    folder: &Path,
    options: &BuildOptions,
    observer: &dyn BuildObserver,
) -> Result<(Pool, Value), Error> {
    let mut sources = json!({
        "treebank": gold.source,
        "candidates": null,
        "parser": null,
        "columns": null,
    });
    let pool = match *candidates {
        Candidates::File(ref path) => {
            Answers::check_none(folder)?;
            let (pool, file) = Pool::read(path, gold, options)?;
            sources["candidates"] = file;
            pool
        }
        Candidates::LinkGrammar {
            linkages,
            time_limit,
            resume,
        } => {
            let how = Options::new("link-parser", linkages.clamp(2, 1000), time_limit);
            let version = Version::of(&how)?;
            let sentences = gold.sentences.len();
            let run = json!({
                "schema": answers::SCHEMA,
                "treebank": gold.source.blake3,
                "sentences": sentences,
                "parser": version.parser,
                "dictionary": version.dictionary,
                "linkages": how.linkages,
                "time_limit": time_limit,
            });
            sources["parser"] = json!({
                "version": version.parser,
                "dictionary": version.dictionary,
                "linkages": how.linkages,
                "time_limit": time_limit,
            });
            let mut answers = Answers::open(folder, &run, sentences, resume)?;
            answers.parse(&gold.sentences, &how, observer)?;
            Pool::Asked(answers)
        }
    };
    Ok((pool, sources))
}
