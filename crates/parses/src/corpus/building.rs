//! From sentences and candidates to labels and files.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;

use super::candidates::Pool;
use super::columns::{Columns, Counts};
use super::label;
use super::manifest::{Reason, Skipped};
use super::options::{BuildOptions, part_of};
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
    used: Vec<Used>,
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

    /// The training sentences and the held-out ones. Over the columns of another corpus, none is held out.
    pub(super) fn split(&self) -> (Vec<&Used>, Vec<&Used>) {
        if self.options.columns.is_some() {
            return (self.used.iter().collect(), Vec::new());
        }
        let text = |used: &Used| self.gold.sentences[used.number].text();
        let texts: Vec<&str> = self.used.iter().map(text).collect();
        let held_out = held_out(&texts, self.options.test_share, self.options.seed);
        let mut held_out = held_out.into_iter();
        self.used
            .iter()
            .partition(|_| held_out.next() == Some(false))
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

// Held-out sentences.

/// Marks the held-out sentences: a share of them, drawn by the seed. Sentences with the same text stay together, so
/// that no test sentence is trained on.
fn held_out(texts: &[&str], share: f64, seed: u64) -> Vec<bool> {
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, text) in texts.iter().enumerate() {
        members.entry(text).or_default().push(number);
    }
    // Texts in the order of their first sentences.
    let mut groups: Vec<Vec<usize>> = members.into_values().collect();
    groups.sort_unstable();
    // The draw uses integers and our own code, so no release of a random number library changes a corpus.
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut generator = ChaCha8Rng::from_seed(key);
    for last in (1..groups.len()).rev() {
        let other = (u128::from(generator.next_u64()) * (last as u128 + 1)) >> 64;
        groups.swap(last, usize::try_from(other).expect("a position in memory"));
    }
    let mut left = part_of(share, texts.len());
    let mut held_out = vec![false; texts.len()];
    for group in groups {
        if group.len() <= left {
            left -= group.len();
            for member in group {
                held_out[member] = true;
            }
        }
    }
    held_out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_held_out_and_equal_texts_stay_together() {
        let texts: Vec<String> = (0..100).map(|n| format!("sentence {}", n / 2)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let half = held_out(&texts, 0.5, 1);
        assert_eq!(half.iter().filter(|&&test| test).count(), 50);
        assert!(half.chunks(2).all(|pair| pair[0] == pair[1]));
        assert_eq!(half, held_out(&texts, 0.5, 1));
        assert_ne!(half, held_out(&texts, 0.5, 2));
        let none = held_out(&texts, 0.0, 1);
        assert!(none.iter().all(|&test| !test));
    }
}
