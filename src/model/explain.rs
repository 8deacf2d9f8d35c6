//! Explains the order of the rows of a query: the contribution of each feature to their scores.

use std::ops::Range;

use rankrls_files::counted;
use serde::Serialize;

use super::Model;
use crate::data::{Column, Dataset};
use crate::error::{Error, Result, ensure};

/// The rows of a query as a model ranks them: the document of `rankrls explain`. Rows are counted from 1, as in the
/// file of the data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation<'a> {
    /// The identifier of the query, or its number from 1 if queries have no identifiers.
    pub query: String,
    /// Rows of the query.
    pub rows_of_query: usize,
    /// The score for comparison: of `versus`, or the mean of the query. In units of the scores, as all differences
    /// and contributions.
    pub reference: f64,
    /// The row for comparison; `None` for the mean.
    pub versus: Option<ExplainedRow<'a>>,
    /// The rows, the highest score first; equal scores in the order of the file.
    pub rows: Vec<ExplainedRow<'a>>,
}

/// A row, with the reasons for its score.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ExplainedRow<'a> {
    /// Its place in the order, from 1.
    pub rank: usize,
    /// Other rows with the same score.
    pub tied: usize,
    /// Its number in the file, from 1.
    pub row: usize,
    /// Its label.
    pub label: f64,
    /// Its score.
    pub score: f64,
    /// Score less reference: the sum of the contributions, up to rounding.
    pub difference: f64,
    /// A text to show beside it, set by a caller.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Contributions that are not 0, the largest in magnitude first.
    pub contributions: Vec<Contribution<'a>>,
}

/// The part of a feature in a difference of scores.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Contribution<'a> {
    /// The position of the feature among the [`features`](Model::features) of the model.
    #[serde(skip)]
    pub position: usize,
    /// The feature, as the training data counts columns.
    pub feature: u64,
    /// Its name.
    pub name: Option<&'a str>,
    /// Its weight.
    pub weight: f64,
    /// Its value in the row.
    pub value: f64,
    /// The value for comparison: of `versus`, or the mean of the query.
    pub reference: f64,
    /// Weight times the difference of the values.
    pub contribution: f64,
}

/// The rows of a query to explain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown {
    /// All rows.
    All,
    /// So many rows with the highest scores, without the row for comparison.
    First(usize),
    /// The row of this number in the file, from 1.
    Row(usize),
}

/// The rows of a query: their numbers in the file, from 1, and their scores.
struct Scored<'d> {
    query: String,
    own: Range<usize>,
    inputs: Option<&'d [u32]>,
    scores: Vec<f64>,
}

impl Scored<'_> {
    /// The number in the file of the row at `place` of the query.
    fn number(&self, place: usize) -> usize {
        let row = self.own.start + place;
        1 + self.inputs.map_or(row, |known| known[row] as usize)
    }

    /// The place of the row `number`, which must belong to the query.
    fn place(&self, number: usize) -> Result<usize> {
        let count = self.own.len();
        if let Some(place) = (0..count).find(|&place| self.number(place) == number) {
            return Ok(place);
        }
        let mut numbers: Vec<usize> = (0..count).map(|place| self.number(place)).collect();
        numbers.sort_unstable();
        let (query, first, last) = (&self.query, numbers[0], numbers[count - 1]);
        let has = if last - first + 1 == count {
            format!("{first} to {last}")
        } else {
            let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
            numbers.join(", ")
        };
        Err(Error::options(format!(
            "row {number} is not of query {query}, which has {has}"
        )))
    }

    /// Places, ranks from 1, and numbers of other rows with the same score: the highest score first.
    fn ranking(&self) -> Vec<(usize, usize, usize)> {
        let mut order: Vec<(usize, usize, usize)> =
            (0..self.scores.len()).map(|place| (place, 0, 0)).collect();
        // Adding 0 makes the two zeros one.
        let score = |place: usize| self.scores[place] + 0.0;
        order.sort_by(|a, b| score(b.0).total_cmp(&score(a.0)));
        let mut rank = 0;
        for tied in order.chunk_by_mut(|a, b| self.scores[a.0] == self.scores[b.0]) {
            let others = tied.len() - 1;
            for row in tied {
                rank += 1;
                (row.1, row.2) = (rank, others);
            }
        }
        order
    }
}

impl Model {
    /// Explains the order of the rows of a `query` of `dataset`, counted from 0. For each row it returns the
    /// contribution of every feature to the difference of its score from the mean of the query, or from the score
    /// of the row `versus`, by its number in the file, from 1. Only `shown` rows take memory for contributions.
    /// Columns are matched as for [`scores`](Self::scores), which has the same scores to the last bit.
    ///
    /// ```
    /// use rankrls::data::sample;
    /// use rankrls::model::Shown;
    /// use rankrls::{Lambda, GreedyRankRls};
    ///
    /// let (train, test) = (sample::train(), sample::test());
    /// let model = GreedyRankRls::new(10, Lambda::new(16.0)?).fit(&train)?;
    /// let explained = model.explain(&test, 3, None, Shown::First(10))?;
    /// let first = &explained.rows[0];
    /// let sum: f64 = first.contributions.iter().map(|part| part.contribution).sum();
    /// assert!((sum - first.difference).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// `O(entries of the features + n t)` time for `n` rows of the query and `t` features.
    pub fn explain(
        &self,
        dataset: &Dataset<'_>,
        query: usize,
        versus: Option<usize>,
        shown: Shown,
    ) -> Result<Explanation<'_>> {
        self.check_explained(dataset, query)?;
        let scored = self.scored(dataset, query);
        let versus = versus.map(|number| scored.place(number)).transpose()?;
        let alone = match shown {
            Shown::Row(number) => Some(scored.place(number)?),
            _ => None,
        };
        let count = scored.own.len();
        let reference_of = |of_rows: &[f64]| match versus {
            Some(place) => of_rows[place],
            None => of_rows.iter().sum::<f64>() / count as f64,
        };
        let reference = reference_of(&scored.scores);
        let ranking = scored.ranking();
        let is_shown = |row: &&(usize, usize, usize)| match shown {
            Shown::All => true,
            Shown::First(_) => Some(row.0) != versus,
            Shown::Row(_) => Some(row.0) == alone,
        };
        let most = match shown {
            Shown::First(most) => most,
            _ => usize::MAX,
        };
        let first = ranking.iter().filter(is_shown).take(most);
        // The row for comparison comes last, and leaves again.
        let other = ranking.iter().filter(|row| Some(row.0) == versus);
        let places: Vec<_> = first.chain(other).copied().collect();
        drop(ranking);
        let explain = |&(place, rank, tied): &(usize, usize, usize)| ExplainedRow {
            rank,
            tied,
            row: scored.number(place),
            label: dataset.labels()[scored.own.start + place],
            score: scored.scores[place],
            difference: scored.scores[place] - reference,
            text: None,
            contributions: Vec::new(),
        };
        let mut rows: Vec<ExplainedRow<'_>> = places.iter().map(explain).collect();
        let numbers = places.iter().map(|row| row.0).collect::<Vec<_>>();
        self.contribute(dataset, &scored.own, (&numbers, &mut rows), reference_of);
        rows.iter_mut().try_for_each(sort_contributions)?;
        Ok(Explanation {
            versus: versus.and_then(|_| rows.pop()),
            query: scored.query,
            rows_of_query: count,
            reference,
            rows,
        })
    }

    /// The rows of a `query` with their scores.
    fn scored<'d>(&self, dataset: &'d Dataset<'_>, query: usize) -> Scored<'d> {
        let queries = dataset.queries();
        let own = queries.range(query);
        let mut scores = vec![0.0; own.len()];
        for feature in &self.features {
            for (place, value) in entries(dataset, feature.feature, &own) {
                scores[place] += feature.weight * value;
            }
        }
        Scored {
            query: match queries.id(query) {
                Some(id) => id.to_owned(),
                None => (query + 1).to_string(),
            },
            own,
            inputs: dataset.input_rows(),
            scores,
        }
    }

    /// Adds the contributions of the features to rows of the query in `own`, at these places.
    fn contribute<'a>(
        &'a self,
        dataset: &Dataset<'_>,
        own: &Range<usize>,
        (places, rows): (&[usize], &mut [ExplainedRow<'a>]),
        reference_of: impl Fn(&[f64]) -> f64,
    ) {
        let mut values = vec![0.0; own.len()];
        for (position, feature) in self.features.iter().enumerate() {
            values.fill(0.0);
            for (place, value) in entries(dataset, feature.feature, own) {
                values[place] = value;
            }
            let reference = reference_of(&values);
            for (&place, row) in places.iter().zip(rows.iter_mut()) {
                let value = values[place];
                let contribution = feature.weight * (value - reference);
                if contribution != 0.0 {
                    row.contributions.push(Contribution {
                        position,
                        feature: self.index_base.file_index(feature.feature),
                        name: feature.name.as_deref().filter(|name| !name.is_empty()),
                        weight: feature.weight,
                        value,
                        reference,
                        contribution,
                    });
                }
            }
        }
    }

    /// Refuses models without features, data without them, and queries that do not exist.
    fn check_explained(&self, dataset: &Dataset<'_>, query: usize) -> Result<()> {
        ensure!(
            self.expansion.is_none(),
            options,
            "a kernel model has no features to explain an order by: its scores are sums over rows of the \
             training data; train with the linear kernel, or select features"
        );
        let queries = dataset.queries().len();
        ensure!(
            query < queries,
            options,
            "there is no query {query} among {queries}"
        );
        let has_entry = |feature: u32| {
            let position = dataset.position(feature);
            position.is_some_and(|at| dataset.column(at).values.iter().any(|v| *v != 0.0))
        };
        let mut features = self.features.iter();
        ensure!(
            self.features.is_empty() || features.any(|known| has_entry(known.feature)),
            data,
            "no row of the data has an entry in any of the {} of the model: are the data others, or do they \
             count columns otherwise?",
            counted(self.features.len(), "feature")
        );
        Ok(())
    }
}

/// The entries of a feature in the rows of a query, by their places in it.
fn entries(
    dataset: &Dataset<'_>,
    feature: u32,
    own: &Range<usize>,
) -> impl Iterator<Item = (usize, f64)> {
    let stored = dataset.position(feature);
    let begin = own.start;
    let column = stored.map(|stored| {
        let mut column = dataset.column(stored);
        column.take_rows_below(own.start);
        column.take_rows_below(own.end)
    });
    let entries = column.into_iter().flat_map(Column::iter);
    entries.map(move |(row, value)| (row - begin, value))
}

/// Puts the largest contributions to a row first. Refuses contributions that are not finite.
fn sort_contributions(row: &mut ExplainedRow<'_>) -> Result<()> {
    let parts = &mut row.contributions;
    let finite = parts.iter().all(|part| part.contribution.is_finite());
    ensure!(
        row.difference.is_finite() && finite,
        numbers,
        "the score of row {} is no finite number, or a contribution to it: its values or the weights are too large",
        row.row
    );
    parts.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()));
    Ok(())
}
