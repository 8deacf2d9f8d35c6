//! Which sentences are trained on, and which are held out.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use rand::rngs::ChaCha8Rng;
use rand::{Rng, SeedableRng};

use super::building::{Building, Used};
use super::manifest::Documents;
use super::options::{Split, part_of};
use super::source::SENTENCES;
use crate::Error;

/// The two sides of a corpus.
#[derive(Debug, Default)]
pub(super) struct Sides<'b> {
    /// The sentences to train on, or all over the columns of another corpus.
    pub(super) train: Vec<&'b Used>,
    /// Those held out.
    pub(super) test: Vec<&'b Used>,
    /// Sentences of documents that are held out which are on no side: their texts are trained on.
    pub(super) repeated: usize,
    /// The documents, where these are held out whole.
    pub(super) documents: Option<Documents>,
    /// Whether the treebank tells documents, and only one has sentences that can be used.
    pub(super) one_document: bool,
}

impl Sides<'_> {
    /// The split for a manifest: documents if they are held out whole, or sentences if they were `asked` for.
    pub(super) fn split_of(&self, asked: Option<Split>) -> Option<Split> {
        let sentences = asked.filter(|split| *split == Split::Sentences);
        self.documents.map(|_| Split::Documents).or(sentences)
    }
}

impl Building<'_> {
    /// The sides. Nothing is held out over the columns of another corpus. Refuses documents where there is one.
    pub(super) fn split(&self) -> Result<Sides<'_>, Error> {
        let (share, split) = (self.options.test_share, self.options.split);
        if !self.options.holds_out() {
            return Ok(Sides {
                train: self.used.iter().collect(),
                ..Sides::default()
            });
        }
        let documents = self.used.iter().map(|used| self.document(used));
        let documents: Vec<Option<usize>> = documents.collect();
        if split != Some(Split::Sentences) && documents.windows(2).any(|pair| pair[0] != pair[1]) {
            return Ok(self.by_document(&documents));
        }
        if split == Some(Split::Documents) {
            let text = "no documents to hold out: all sentences that can be used are of one";
            return Err(Error::Failed(format!("{text}; {SENTENCES}")));
        }
        let texts: Vec<&str> = self.used.iter().map(|used| self.text(used)).collect();
        let (train, test) = self.sides(&held_out(&texts, share, self.options.seed));
        Ok(Sides {
            one_document: split.is_none()
                && !test.is_empty()
                && documents.first().is_some_and(Option::is_some),
            train,
            test,
            ..Sides::default()
        })
    }

    fn document(&self, used: &Used) -> Option<usize> {
        self.gold.sentences[used.number].document()
    }

    fn text(&self, used: &Used) -> &str {
        self.gold.sentences[used.number].text()
    }

    /// Those that are trained on, and those held out.
    fn sides(&self, held_out: &[bool]) -> (Vec<&Used>, Vec<&Used>) {
        let mut held_out = held_out.iter();
        self.used
            .iter()
            .partition(|_| held_out.next() == Some(&false))
    }

    /// Holds out whole `documents`: one document a sentence. A held-out sentence whose text is trained on would be
    /// known, and is on no side.
    fn by_document(&self, documents: &[Option<usize>]) -> Sides<'_> {
        let (share, seed) = (self.options.test_share, self.options.seed);
        let mut out = held_out(documents, share, seed);
        if part_of(share, documents.len()) > 0 && !out.contains(&true) {
            // All are larger than the share.
            let smallest = smallest(documents);
            for (out, document) in out.iter_mut().zip(documents) {
                *out = *document == smallest;
            }
        }
        let (train, mut test) = self.sides(&out);
        let (texts, all) = (train.iter().map(|used| self.text(used)), test.len());
        let texts: HashSet<&str> = texts.collect();
        test.retain(|used| !texts.contains(self.text(used)));
        let count = |side: &[&Used]| {
            let documents = side.iter().map(|used| self.document(used));
            documents.collect::<BTreeSet<_>>().len()
        };
        let documents = Documents {
            train: count(&train),
            test: count(&test),
        };
        Sides {
            repeated: all - test.len(),
            train,
            test,
            documents: Some(documents),
            one_document: false,
        }
    }
}

/// The positions of each key, in the order of their first ones.
fn groups<K: Ord>(keys: &[K]) -> Vec<Vec<usize>> {
    let mut members: BTreeMap<&K, Vec<usize>> = BTreeMap::new();
    for (number, key) in keys.iter().enumerate() {
        members.entry(key).or_default().push(number);
    }
    let mut groups: Vec<Vec<usize>> = members.into_values().collect();
    groups.sort_unstable();
    groups
}

/// The key that stands in the fewest places, the first of those that tie.
fn smallest<K: Ord + Copy + Default>(keys: &[K]) -> K {
    let groups = groups(keys);
    let group = groups.iter().min_by_key(|group| group.len());
    group.map_or_else(K::default, |group| keys[group[0]])
}

/// Which of the sentences with these keys, texts or documents, are held out: their share, drawn by the seed. Sentences
/// with one key stay together, lest what is tested on be trained on.
fn held_out<K: Ord>(keys: &[K], share: f64, seed: u64) -> Vec<bool> {
    let mut groups = groups(keys);
    // The arithmetic is of integers, and kept here: no release of a library of random numbers changes a corpus.
    let mut key = [0; 32];
    key[..8].copy_from_slice(&seed.to_le_bytes());
    let mut generator = ChaCha8Rng::from_seed(key);
    for last in (1..groups.len()).rev() {
        let other = (u128::from(generator.next_u64()) * (last as u128 + 1)) >> 64;
        groups.swap(last, usize::try_from(other).expect("a position in memory"));
    }
    let mut left = part_of(share, keys.len());
    let mut held_out = vec![false; keys.len()];
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
        // Keys count by who has them, not by what they are.
        let documents: Vec<Option<usize>> = (0..100).map(|n| Some(n / 2)).collect();
        assert_eq!(half, held_out(&documents, 0.5, 1));
    }

    #[test]
    fn the_smallest_comes_first_among_equals() {
        assert_eq!(smallest(&[3, 1, 3, 2, 2, 1, 2]), 3);
        assert_eq!(smallest(&[3, 1, 3, 2]), 1);
    }
}
