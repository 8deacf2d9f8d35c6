//! From sentences and candidates to labels, and to what is written.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};
use rayon::prelude::*;

use super::manifest::{Reason, Skipped};
use super::options::{BuildError, BuildOptions, Share, Values};
use super::source::{Found, Pool, Treebank};

use super::columns::{Columns, Counts};
use super::{label, templates};
use crate::bag::{Bag, ONE};
use crate::treebank::hidden::is_hidden;

/// Sentences described at a time; nothing depends on it.
const BATCH: usize = 64;

/// The state of a sentence.
#[derive(Debug)]
pub(super) enum Judged {
    Used { labels: Vec<i32>, test: bool },
    Unused(Skipped),
}

/// A corpus in the making.
pub(super) struct Building<'o> {
    pub(super) gold: Treebank,
    pub(super) pool: Pool,
    pub(super) judged: Vec<Judged>,
    pub(super) options: &'o BuildOptions,
}

impl<'o> Building<'o> {
    /// Labels the candidates.
    pub(super) fn judge(
        gold: Treebank,
        pool: Pool,
        options: &'o BuildOptions,
    ) -> Result<Self, BuildError> {
        let mut building = Self {
            gold,
            pool,
            judged: Vec::new(),
            options,
        };
        let judged: Result<_, BuildError> = (0..building.gold.sentences.len())
            .into_par_iter()
            .map(|number| building.judge_one(number))
            .collect();
        building.judged = judged?;
        Ok(building)
    }

    pub(super) fn found(&self, number: usize) -> Result<Found, BuildError> {
        let sentence = &self.gold.sentences[number];
        self.pool.of(number, sentence, self.options.candidates)
    }

    fn judge_one(&self, number: usize) -> Result<Judged, BuildError> {
        let sentence = &self.gold.sentences[number];
        let unused = |reason, place: Option<(String, u64)>, detail| {
            let of_sentence = || (self.gold.source.file.clone(), sentence.line());
            let (file, line) = place.unwrap_or_else(of_sentence);
            Ok(Judged::Unused(Skipped {
                file,
                line,
                id: sentence.id().map(str::to_owned),
                reason,
                detail,
            }))
        };
        if is_hidden(sentence) {
            let detail = "all its words are _".to_owned();
            return unused(Reason::Textless, None, detail);
        }
        let parses = match self.found(number)? {
            Found::Parses(parses) => parses,
            Found::None(reason, place, detail) => return unused(reason, place, detail),
        };
        let (test, foreign) = (false, self.options.columns.is_some());
        if !sentence.has_tree() {
            let labels = vec![0; parses.len()];
            return Ok(Judged::Used { labels, test });
        }
        if parses.len() < 2 && !foreign {
            return unused(Reason::Single, None, String::new());
        }
        let labels = label::f1(
            sentence,
            &parses,
            self.options.labels,
            self.options.punctuation,
        );
        let tied = labels.windows(2).all(|pair| pair[0] == pair[1]);
        if tied && !foreign {
            return unused(Reason::Tied, None, String::new());
        }
        Ok(Judged::Used { labels, test })
    }

    /// Decides which of the sentences that can be used are held out.
    pub(super) fn split(&mut self) {
        if self.options.columns.is_some() {
            return;
        }
        let sentences = self.gold.sentences.iter();
        let mut used: Vec<_> = (self.judged.iter_mut().zip(sentences))
            .filter_map(|(judged, sentence)| match judged {
                Judged::Used { test, .. } => Some((test, sentence.text())),
                Judged::Unused(_) => None,
            })
            .collect();
        let texts: Vec<&str> = used.iter().map(|(_, text)| *text).collect();
        let drawn = held_out(&texts, self.options.test_share, self.options.seed);
        for ((test, _), is_held_out) in used.iter_mut().zip(drawn) {
            **test = is_held_out;
        }
    }

    /// Numbers of the sentences on one side of the split.
    pub(super) fn side(&self, side: bool) -> Vec<usize> {
        let wanted = |judged: &Judged| matches!(judged, Judged::Used { test, .. } if *test == side);
        let judged = self.judged.iter().enumerate();
        judged
            .filter(|(_, judged)| wanted(judged))
            .map(|(number, _)| number)
            .collect()
    }

    /// Describes sentences, in their order: the features of the candidates, and a line of text for
    /// each of them.
    pub(super) fn describe(
        &self,
        numbers: &[usize],
        mut take: impl FnMut(usize, &Bag, &str) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        for batch in numbers.chunks(BATCH) {
            let described: Result<Vec<_>, BuildError> = (batch.par_iter())
                .map(|&number| self.described(number))
                .collect();
            for (&number, (bag, texts)) in batch.iter().zip(&described?) {
                take(number, bag, texts)?;
            }
        }
        Ok(())
    }

    fn described(&self, number: usize) -> Result<(Bag, String), BuildError> {
        let (mut bag, mut texts) = (Bag::default(), String::new());
        if let Found::Parses(parses) = self.found(number)? {
            for parse in &parses {
                // Writing to a string cannot fail.
                let _ = writeln!(texts, "{parse}");
                self.options.templates.describe(parse, &mut bag);
                let words = i32::try_from(parse.words.len()).unwrap_or(i32::MAX);
                bag.revalue_last_row(|name, units| self.value(name, units, words));
            }
        }
        Ok((bag, texts))
    }

    /// The value of a feature that a parse of so many words has `units` of.
    fn value(&self, name: &str, units: i32, words: i32) -> i32 {
        if name.starts_with(templates::COST) {
            return units;
        }
        match self.options.values {
            Values::Count => units,
            Values::Binary => ONE,
            Values::Share => (units + words / 2) / words.max(1),
        }
    }

    /// The columns that are there from the beginning: all, if rare features are left out.
    pub(super) fn columns(&self, train: &[usize]) -> Result<Columns, BuildError> {
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

// Which sentences are trained on, and which are held out.

/// Which of the sentences with these texts are held out: their share, drawn by the seed. Sentences
/// with one text stay together, lest what is tested on be trained on.
pub(super) fn held_out(texts: &[&str], share: Share, seed: u64) -> Vec<bool> {
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, text) in texts.iter().enumerate() {
        members.entry(text).or_default().push(number);
    }
    // The order of the texts is that of their first sentences.
    let mut groups: Vec<Vec<usize>> = members.into_values().collect();
    groups.sort_unstable();
    // The arithmetic is of integers, and kept here: no release of a library of random numbers changes a corpus.
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut generator = ChaCha8Rng::from_seed(key);
    for last in (1..groups.len()).rev() {
        let other = (u128::from(generator.next_u64()) * (last as u128 + 1)) >> 64;
        groups.swap(last, usize::try_from(other).expect("a position in memory"));
    }
    let mut left = share.of(texts.len());
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
        let half = held_out(&texts, "0.5".parse().unwrap(), 1);
        assert_eq!(half.iter().filter(|&&test| test).count(), 50);
        assert!(half.chunks(2).all(|pair| pair[0] == pair[1]));
        assert_eq!(half, held_out(&texts, "0.5".parse().unwrap(), 1));
        assert_ne!(half, held_out(&texts, "0.5".parse().unwrap(), 2));
        let none = held_out(&texts, "0".parse().unwrap(), 1);
        assert!(none.iter().all(|&test| !test));
    }
}
