//! From sentences and candidates to labels and files.

use std::fmt::Write as _;

use rayon::prelude::*;

use super::candidates::Pool;
use super::columns::{Columns, Counts};
use super::label;
use super::manifest::{Reason, Skipped};
use super::options::BuildOptions;
use super::parse::Parse;
use super::source::Treebank;
use crate::Error;
use crate::bag::Bag;
use crate::treebank::hidden::is_hidden;

/// Sentences described at once. The result does not depend on it.
const BATCH: usize = 64;

/// A usable sentence.
#[derive(Debug)]
pub(super) struct Used {
    /// Its position in the treebank.
    pub(super) number: usize,
    /// The label of each candidate.
    pub(super) labels: Vec<i32>,
    /// Number of candidates whose arcs equal an earlier candidate's.
    pub(super) alike: usize,
}

/// A corpus in the making.
pub(super) struct Building<'o> {
    pub(super) gold: Treebank,
    pub(super) pool: Pool,
    pub(super) options: &'o BuildOptions,
    pub(super) used: Vec<Used>,
    pub(super) unused: Vec<Skipped>,
}

impl<'o> Building<'o> {
    /// Labels the candidates.
    pub(super) fn judge(
        gold: Treebank,
        pool: Pool,
        options: &'o BuildOptions,
    ) -> Result<Self, Error> {
        let mut building = Self {
            gold,
            pool,
            options,
            used: Vec::new(),
            unused: Vec::new(),
        };
        let judged: Result<Vec<_>, Error> = (0..building.gold.sentences.len())
            .into_par_iter()
            .map(|number| building.judge_one(number))
            .collect();
        for (number, judged) in judged?.into_iter().enumerate() {
            match judged {
                Ok((labels, alike)) => building.used.push(Used {
                    number,
                    labels,
                    alike,
                }),
                Err(skipped) => building.unused.push(skipped),
            }
        }
        Ok(building)
    }

    fn found(&self, number: usize) -> Result<Result<Vec<Parse>, Skipped>, Error> {
        self.pool.of(number, &self.gold)
    }

    fn judge_one(&self, number: usize) -> Result<Result<(Vec<i32>, usize), Skipped>, Error> {
        let sentence = &self.gold.sentences[number];
        let unused = |reason, detail| Ok(Err(self.gold.unused(number, reason, detail)));
        if is_hidden(sentence) {
            return unused(Reason::Textless, "all its words are _");
        }
        let parses = match self.found(number)? {
            Ok(parses) => parses,
            Err(skipped) => return Ok(Err(skipped)),
        };
        if !sentence.has_tree() {
            return Ok(Ok((vec![0; parses.len()], 0)));
        }
        let (labels, alike) = label::f1(sentence, &parses, self.options.relations);
        // Over the columns of another corpus, all sentences are ranked.
        let foreign = self.options.columns.is_some();
        if parses.len() < 2 && !foreign {
            return unused(Reason::Single, "");
        }
        if labels.windows(2).all(|pair| pair[0] == pair[1]) && !foreign {
            return unused(Reason::Tied, "");
        }
        Ok(Ok((labels, alike)))
    }

    /// Describes sentences in their order: the candidates' features, and a line of text for each candidate.
    pub(super) fn describe(
        &self,
        sentences: &[&Used],
        mut take: impl FnMut(&Used, &Bag, &str) -> Result<(), Error>,
    ) -> Result<(), Error> {
        for batch in sentences.chunks(BATCH) {
            let described: Result<Vec<_>, Error> = (batch.par_iter())
                .map(|used| self.described(used.number))
                .collect();
            for (used, (bag, texts)) in batch.iter().zip(&described?) {
                take(used, bag, texts)?;
            }
        }
        Ok(())
    }

    fn described(&self, number: usize) -> Result<(Bag, String), Error> {
        let (mut bag, mut texts) = (Bag::default(), String::new());
        for parse in self.found(number)?.iter().flatten() {
            // Writing to a string cannot fail.
            let _ = writeln!(texts, "{parse}");
            self.options.templates.describe(parse, &mut bag);
        }
        Ok((bag, texts))
    }

    /// The columns at the beginning: all, if rare features are left out, else none yet.
    pub(super) fn columns(&self, train: &[&Used]) -> Result<Columns, Error> {
        if self.options.min_count == 1 {
            return Ok(Columns::open());
        }
        let mut counts = Counts::default();
        self.describe(train, |_, bag, _| {
            counts.add(bag);
            Ok(())
        })?;
        Ok(counts.columns(self.options.min_count))
    }
}
