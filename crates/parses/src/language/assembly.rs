//! Putting sentences together, in their order.

use rankrls_files::Strings;
use rayon::prelude::*;

use super::candidates::{Candidates, Outcome};
use super::lexicon::Lexicon;
use super::options::MAX_VOCABULARY;
use super::{Corpus, CorpusError, CorpusOptions, Progress, Report, Row, Sentence, Take};
use crate::bag::Interner;
use crate::bag::{all_same, real};

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
#[derive(Default)]
pub(super) struct Assembly<'a> {
    training: Option<&'a Training>,
    names: Interner,
    sentence_texts: Interner,
    rows: Rows<'a>,
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

    /// A corpus whose rows go to `take` as they come.
    pub(super) fn streaming(take: Take<'a>) -> Self {
        Self {
            rows: Rows {
                take: Some(take),
                ..Rows::default()
            },
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
            if self.rows.stopped {
                return Err(CorpusError::Stopped);
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
        let id = query.number.to_string();
        for row in 0..size {
            for &(feature, units) in query.features.row(row) {
                match numbers[feature as usize] {
                    Some(column) => self.rows.push(column, units),
                    None => self.report.unseen_entries += 1,
                }
            }
            self.rows.end_row(&id, real(query.labels[row]));
        }
        if 2 * self.rows.len() >= target && self.columns_half_way == 0 {
            self.columns_half_way = self.names.len();
        }
        self.labels
            .extend(query.labels[..size].iter().map(|&label| real(label)));
        self.sizes.push(size);
        self.ids.push(&id);
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

// Turning rows into compressed columns.
//
// `dataset::transpose` does the same for files. It wants ascending indices and values as floats,
// while features come in any order here and values are small integers: 50,000 rows of 1,077,536
// columns took 640 MiB and 10% more processor time by it, and take 460 MiB by this.

/// Sparse rows of ten-thousandths, in the order they came.
#[derive(Default)]
pub(super) struct Rows<'t> {
    /// Takes rows that end, which are not kept then.
    take: Option<Take<'t>>,
    /// Entries that were taken.
    taken: usize,
    /// Whether no more rows are wanted.
    stopped: bool,
    /// One past the last entry of each row.
    ends: Vec<usize>,
    features: Vec<u32>,
    units: Vec<i32>,
}

/// Compressed columns: bounds, rows and values.
pub(super) struct Compressed {
    pub(super) indptr: Vec<usize>,
    pub(super) rows: Vec<u32>,
    pub(super) values: Vec<f64>,
}

impl Rows<'_> {
    /// Adds an entry to the row that is being filled.
    pub(super) fn push(&mut self, feature: u32, units: i32) {
        self.features.push(feature);
        self.units.push(units);
    }

    /// Ends the row of the query `id`.
    pub(super) fn end_row(&mut self, id: &str, label: f64) {
        let Some(take) = self.take.as_mut().filter(|_| !self.stopped) else {
            self.ends.push(self.features.len());
            return;
        };
        let units = self.units.drain(..).map(real);
        let mut entries: Vec<(u32, f64)> = self.features.drain(..).zip(units).collect();
        entries.sort_unstable_by_key(|&(column, _)| column);
        self.taken += entries.len();
        self.ends.push(0);
        let row = Row {
            query: id,
            label,
            entries: &entries,
        };
        self.stopped = take(row).is_break();
    }

    /// How many rows have ended.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// How many entries there are.
    pub(super) fn nonzeros(&self) -> usize {
        self.taken + self.features.len()
    }

    /// The same matrix by columns, of which there are `width`: a counting sort. Takes 8 bytes
    /// an entry of the rows and 12 of the columns while it lasts.
    pub(super) fn into_columns(self, width: usize) -> Compressed {
        let mut indptr = vec![0usize; width + 1];
        for &feature in &self.features {
            indptr[feature as usize + 1] += 1;
        }
        for column in 0..width {
            indptr[column + 1] += indptr[column];
        }
        let mut next = indptr.clone();
        let mut rows = vec![0; self.features.len()];
        let mut values = vec![0.0; self.features.len()];
        let mut start = 0;
        // Rows that were taken have no entries here.
        for (row, &end) in (0u32..).zip(&self.ends) {
            for entry in start..end {
                let place = &mut next[self.features[entry] as usize];
                rows[*place] = row;
                values[*place] = real(self.units[entry]);
                *place += 1;
            }
            start = end;
        }
        Compressed {
            indptr,
            rows,
            values,
        }
    }
}

// Finding a vocabulary that gives enough columns.

/// Fewer rows are generated in full at once.
const FEWEST_PILOT_ROWS: usize = 250;

/// A pilot has this power of two fewer rows than the corpus.
const HALVINGS: u32 = 3;

/// The vocabulary to begin with: `options.vocabulary` doubled until a pilot of an eighth of
/// the rows promises `columns`.
pub(super) fn promising(options: &CorpusOptions, columns: usize) -> Result<usize, CorpusError> {
    let mut vocabulary = options.vocabulary;
    // An even number, for corpora of two rows a query.
    let rows = options.rows >> HALVINGS & !1;
    if rows < FEWEST_PILOT_ROWS {
        return Ok(vocabulary);
    }
    while vocabulary < MAX_VOCABULARY {
        let lexicon = Lexicon::new(options.seed, vocabulary, options.attraction);
        let mut pilot = Assembly::default();
        pilot.fill(options, &lexicon, rows, &|_| ())?;
        if extrapolated(pilot.growth()) >= columns as u128 {
            break;
        }
        vocabulary = larger(vocabulary);
    }
    Ok(vocabulary)
}

/// The next vocabulary to try.
pub(super) fn larger(vocabulary: usize) -> usize {
    (2 * vocabulary).min(MAX_VOCABULARY)
}

/// Columns to be expected at [`HALVINGS`] times twice the rows, if every doubling multiplies
/// them as the last one did, from half the rows to all.
fn extrapolated((half, all): (usize, usize)) -> u128 {
    let (half, all) = (half.max(1) as u128, all as u128);
    all * all.pow(HALVINGS) / half.pow(HALVINGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_become_columns() {
        let mut rows = Rows::default();
        rows.push(2, 10_000);
        rows.push(0, -2500);
        rows.end_row("1", 0.0);
        rows.end_row("1", 0.0);
        rows.push(0, 20_000);
        rows.end_row("1", 0.0);
        let columns = rows.into_columns(3);
        assert_eq!(columns.indptr, [0, 2, 2, 3]);
        assert_eq!(columns.rows, [0, 2, 0]);
        assert_eq!(columns.values, [-0.25, 2.0, 1.0]);
    }

    #[test]
    fn columns_grow_by_the_same_factor_with_every_doubling() {
        assert_eq!(extrapolated((100, 200)), 1600);
        assert_eq!(extrapolated((200, 300)), 1012);
        assert_eq!(extrapolated((500, 500)), 500);
    }

    #[test]
    fn vocabularies_double_up_to_the_largest() {
        assert_eq!(larger(1000), 2000);
        assert_eq!(larger(MAX_VOCABULARY - 1), MAX_VOCABULARY);
    }
}
