//! Corpora of real parses: sentences with gold dependencies and candidate parses become queries
//! and rows.
//!
//! A sentence is a query, a candidate parse a row; the label is the [F1](label) of its arcs
//! against the gold tree. Features come from the candidate alone, by [templates](TABLE). Candidates
//! come from the [Link Grammar parser](crate::linkgrammar), or from a file of
//! [n-best CoNLL-U](crate::treebank::conllu) or of what that parser printed.
//!
//! **What is written** is a folder with the [`FILES`]: `train.svm.zst` to train on, `test.svm.zst` held out,
//! over the columns of training, `texts.txt.zst` and `test-texts.txt.zst` with the parse of each row,
//! `names.txt.zst`, and `manifest.json` ([`Manifest`]). It appears at once, in the place of an older corpus.
//! The same sources, options and parser give the same bytes at any number of threads, as long as no
//! sentence runs out of time.
//!
//! **What is held out.** Whole documents, where comments `# newdoc` of the treebank tell several, else sentences:
//! [`Split`]. No text of a sentence is on both sides.
//!
//! **Unfinished runs.** The file `NAME.part` keeps each sentence that the parser is done with. A run that was ended
//! goes on from there, and ends with what a whole run would have.
//!
//! **New sentences.** With [`BuildOptions::columns`] the rows of a treebank, with or without trees,
//! are written over the columns of another corpus, for a model of that to rank, as `test.svm.zst`.
//!
//! Sentences that cannot be used are left out, counted, and, but for those with one candidate or
//! equal labels, named with file and line in [`Manifest::skipped`].

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

/// Where candidates come from.
#[derive(Debug, Clone)]
pub enum Candidates {
    /// The Link Grammar parser.
    LinkGrammar {
        /// Most linkages of a sentence, the cheapest ones: from 2 to 1000.
        linkages: usize,
        /// Seconds for a sentence.
        time_limit: u64,
        /// Whether to go on with a run that was ended.
        resume: bool,
    },
    /// A file of CoNLL-U, several parses a sentence, or of what the Link Grammar parser printed: all are used.
    File(PathBuf),
}

/// Builds a corpus of the sentences in the CoNLL-U file `treebank` in a `folder`. Time is the parser's
/// for the most part: it runs once a thread of the current rayon pool. Memory is that of the treebank, of the file of candidates and of the names of the columns.
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
    // It is found out before the work whether the folder can be written.
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

/// Refuses to compare relations of two kinds.
fn check_labels(is_link_grammar: bool, options: &BuildOptions) -> Result<(), Error> {
    if options.relations && is_link_grammar {
        let text = "--relations: expected candidates with the relations of the treebank, found those of Link Grammar";
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
