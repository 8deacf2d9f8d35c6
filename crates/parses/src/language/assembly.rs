//! Putting sentences together, in their order.

use rayon::prelude::*;

use super::candidates::{Candidates, Outcome};
use super::columns::Rows;
use super::lexicon::Lexicon;
use super::{Corpus, CorpusError, CorpusOptions, Progress, Report, Sentence};
use crate::bag::{all_same, real};
use crate::interner::Interner;
use rankrls_files::Strings;

/// Sentences drawn at a time, or fewer where they may have many rows; a corpus does not depend
/// on it.
const BATCH: usize = 256;

/// Rows drawn at a time at the most.
const BATCH_ROWS: usize = 5000;

/// Sentences drawn in vain before the options are given up.
const PATIENCE: u64 = 500_000;

/// A training corpus: features that its held-out rows may have, sentences they may not.
#[derive(Debug, Default)]
pub(super) struct Training {
    names: Interner,
    sentences: Interner,
    /// The sentence that comes next.
    next: u64,
}

/// A corpus in the making.
#[derive(Debug, Default)]
pub(super) struct Assembly<'a> {
    training: Option<&'a Training>,
    names: Interner,
    sentence_texts: Interner,
    rows: Rows,
    labels: Vec<f64>,
    sizes: Vec<usize>,
    ids: Strings,
    sentences: Vec<Sentence>,
    report: Report,
    /// Distinct columns once there were half as many rows as asked for.
    columns_half_way: usize,
}

impl<'a> Assembly<'a> {
    /// A held-out corpus, whose sentences follow those of training.
    pub(super) fn held_out(training: &'a Training) -> Self {
        Self {
            training: Some(training),
            ..Self::default()
        }
    }

    /// Draws sentences until there are `rows` rows.
    pub(super) fn fill(
        &mut self,
        options: &CorpusOptions,
        lexicon: &Lexicon,
        rows: usize,
        progress: Progress<'_>,
    ) -> Result<(), CorpusError> {
        let batch = (BATCH_ROWS / options.max_parses).clamp(1, BATCH) as u64;
        let mut number = self.training.map_or(1, |training| training.next);
        let mut last_used = number;
        while self.rows.len() < rows {
            let outcomes: Vec<_> = (number..number + batch)
                .into_par_iter()
                .map(|number| Candidates::draw(options, lexicon, number))
                .collect();
            for outcome in outcomes {
                if self.rows.len() < rows && self.take(outcome, rows) {
                    last_used = number;
                }
            }
            number += batch;
            if number - last_used > PATIENCE {
                return Err(CorpusError::Exhausted {
                    sentences: PATIENCE,
                });
            }
            progress(self.rows.len());
        }
        Ok(())
    }

    /// Takes what came of the next sentence; whether it became a query.
    fn take(&mut self, outcome: Outcome, target: usize) -> bool {
        self.report.drawn += 1;
        let unused = match outcome {
            Outcome::WrongLength => &mut self.report.wrong_length,
            Outcome::Unambiguous => &mut self.report.unambiguous,
            Outcome::Tied => &mut self.report.tied,
            Outcome::Query(query) => match (self.room(&query, target), self.repeats(&query)) {
                (_, true) => &mut self.report.repeated,
                (None, _) => &mut self.report.unfitting,
                (Some(size), _) => {
                    self.add(&query, size, target);
                    return true;
                }
            },
        };
        *unused += 1;
        false
    }

    /// How many of the candidates to take, lest a single row be left over for the next query.
    fn room(&self, query: &Candidates, target: usize) -> Option<usize> {
        let left = target - self.rows.len();
        let size = query.labels.len().min(left);
        let size = if left - size == 1 { size - 1 } else { size };
        (size >= 2 && !all_same(&query.labels[..size])).then_some(size)
    }

    /// Whether a held-out sentence is one of training.
    fn repeats(&self, query: &Candidates) -> bool {
        self.training
            .is_some_and(|training| training.sentences.find(&query.text).is_some())
    }

    fn add(&mut self, query: &Candidates, size: usize, target: usize) {
        let numbers = self.number_features(query, size);
        for row in 0..size {
            for &(feature, units) in query.features.row(row) {
                match numbers[feature as usize] {
                    Some(column) => self.rows.push(column, units),
                    None => self.report.unseen_entries += 1,
                }
            }
            self.rows.end_row();
        }
        if 2 * self.rows.len() >= target && self.columns_half_way == 0 {
            self.columns_half_way = self.names.len();
        }
        self.labels
            .extend(query.labels[..size].iter().map(|&label| real(label)));
        self.sizes.push(size);
        self.ids.push(&query.number.to_string());
        self.sentence_texts.number(&query.text);
        let own_rank = query.own_rank().filter(|&rank| rank < size);
        self.report.with_own_tree += usize::from(own_rank.is_some());
        self.sentences.push(Sentence {
            number: query.number,
            tree: query.tree.clone(),
            parses: query.parses,
            own_rank,
        });
    }

    /// The column of each feature in the first `size` rows of a query; a held-out corpus has
    /// none for features that training does not have.
    fn number_features(&mut self, query: &Candidates, size: usize) -> Vec<Option<u32>> {
        let rows = 0..size;
        // Features are numbered as they come, so those of the first rows have the least numbers.
        let last = rows.flat_map(|row| query.features.row(row)).max();
        let features = 0..last.map_or(0, |&(feature, _)| feature + 1);
        features
            .map(|feature| {
                let name = query.features.name(feature);
                match self.training {
                    None => Some(self.names.number(name)),
                    Some(training) => training.names.find(name).or_else(|| {
                        self.names.number(name);
                        None
                    }),
                }
            })
            .collect()
    }

    /// Rows, and distinct columns at half of them and at all: how the columns grow.
    pub(super) fn growth(&self) -> (usize, usize) {
        (self.columns_half_way, self.names.len())
    }

    /// The corpus, and what a held-out one must know of it.
    pub(super) fn finish(mut self, vocabulary: usize) -> (Corpus, Training) {
        let names = match self.training {
            None => self.names.strings(),
            Some(training) => training.names.strings(),
        };
        let names = names.clone();
        self.report.unseen_features = self.training.map_or(0, |_| self.names.len());
        self.report.queries = self.sizes.len();
        self.report.rows = self.rows.len();
        self.report.columns = names.len();
        self.report.nonzeros = self.rows.nonzeros();
        self.report.vocabulary = vocabulary;
        let columns = self.rows.into_columns(names.len());
        let corpus = Corpus {
            indptr: columns.indptr,
            rows: columns.rows,
            values: columns.values,
            labels: self.labels,
            sizes: self.sizes,
            ids: self.ids,
            names,
            sentences: self.sentences,
            report: self.report,
        };
        let training = Training {
            names: self.names,
            next: 1 + corpus.report.drawn,
            sentences: self.sentence_texts,
        };
        (corpus, training)
    }
}
