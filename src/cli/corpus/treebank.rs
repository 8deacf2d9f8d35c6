//! `rankrls corpus treebank`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use rankrls_parses::language::english::{TreebankOptions, treebank};
use rankrls_parses::treebank::conllu;

use super::generate::refused;
use crate::cli::output::{OutputFile, print};

/// Draw a treebank of English sentences whose dependencies are known
///
/// Sentences of real words, in CoNLL-U: prepositional phrases, coordinations and relative clauses
/// attach in several ways, and which words go together is the same in all sentences of a seed.
/// `corpus build` has them parsed. The same options give the same bytes, on every machine. The file
/// is compressed by its ending, .gz or .zst.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls corpus treebank -o sentences.conllu
  rankrls corpus treebank --sentences 1000 --min-length 6 --seed 7 -o sentences.conllu.zst")]
pub(crate) struct TreebankArgs {
    /// Write the treebank to this file; without it, or with -, to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    options: TreebankOptions,
}

pub(crate) fn run(args: &TreebankArgs) -> Result<()> {
    args.options.validate().map_err(refused)?;
    let path = args
        .output
        .as_deref()
        .filter(|path| path.as_os_str() != "-");
    let file = path.map(OutputFile::create).transpose()?;
    let sentences = treebank(&args.options).map_err(refused)?;
    match file {
        Some(file) => file.write(|output| conllu::write(&sentences, output)),
        None => print(|output| conllu::write(&sentences, output)),
    }
}
