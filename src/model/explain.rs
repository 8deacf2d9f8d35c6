//! Why the rows of a query are in their order: what each feature adds to their scores.

use std::ops::Range;

use rankrls_files::counted;
use serde::Serialize;

use super::Model;
use crate::data::Dataset;
use crate::error::{Error, Result, ensure};

/// The rows of a query as a model ranks them: the document of `rankrls explain`. Rows are counted from
/// 1, as in the file of the data.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation<'a> {
    /// The identifier of the query, or its number from 1 where queries have none.
    pub query: String,
    /// Rows of the query.
    pub rows_of_query: usize,
    /// The score that others are compared with: that of `versus`, or the mean of the query. In units of the
    /// scores, as all differences and contributions.
    pub reference: f64,
    /// The row that others are compared with; `None` for the mean.
    pub versus: Option<ExplainedRow<'a>>,
    /// The rows, the highest score first; equal scores in the order of the file.
    pub rows: Vec<ExplainedRow<'a>>,
}

/// A row, and why its score is higher or lower than another.
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
    /// A text to show beside it, which a caller may set.
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
    /// The value that it is compared with: of `versus`, or the mean of the query.
    pub reference: f64,
    /// Weight times the difference of the values.
    pub contribution: f64,
}

impl Explanation<'_> {
    /// Leaves out all rows but one.
    pub fn keep_row(&mut self, row: usize) -> Result<()> {
        self.check_row(row)?;
        self.rows.retain(|own| own.row == row);
        Ok(())
    }

    fn check_row(&self, row: usize) -> Result<()> {
        let mut rows: Vec<usize> = self.rows.iter().map(|own| own.row).collect();
        if rows.contains(&row) {
            return Ok(());
        }
        rows.sort_unstable();
        let (first, last) = (rows[0], rows[rows.len() - 1]);
        let numbers = rows.iter().map(usize::to_string);
        let (query, has) = (
            &self.query,
            if last - first + 1 == rows.len() {
                format!("{first} to {last}")
            } else {
                numbers.collect::<Vec<_>>().join(", ")
            },
        );
        Err(Error::options(format!(
            "row {row} is not of query {query}, which has {has}"
        )))
    }
}

impl Model {
    /// Why the model ranks the rows of a `query` of `dataset`, counted from 0, as it does: for each row
    /// the contribution of every feature to the difference of its score from the mean of the query, or
    /// from the score of the row `versus`, by its number in the file, from 1. Columns are matched as for
    /// [`scores`](Self::scores), which has the same scores to the last bit.
    ///
    /// ```
    /// use rankrls::data::sample;
    /// use rankrls::{Lambda, GreedyRankRls};
    ///
    /// let (train, test) = (sample::train(), sample::test());
    /// let model = GreedyRankRls::new(10, Lambda::new(16.0)?).fit(&train)?;
    /// let explained = model.explain(&test, 3, None)?;
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
    ) -> Result<Explanation<'_>> {
        self.check_explained(dataset, query)?;
        let (queries, inputs) = (dataset.queries(), dataset.input_rows());
        let own = queries.range(query);
        let count = own.len();
        let unranked = |row: usize| ExplainedRow {
            rank: 0,
            tied: 0,
            row: 1 + inputs.map_or(row, |known| known[row] as usize),
            label: dataset.labels()[row],
            score: 0.0,
            difference: 0.0,
            text: None,
            contributions: Vec::new(),
        };
        let mut explained = Explanation {
            query: match queries.id(query) {
                Some(id) => id.to_owned(),
                None => (query + 1).to_string(),
            },
            rows_of_query: count,
            reference: 0.0,
            versus: None,
            rows: own.clone().map(unranked).collect(),
        };
        if let Some(number) = versus {
            explained.check_row(number)?;
        }
        let rows = &mut explained.rows;
        let place = versus.and_then(|number| rows.iter().position(|row| row.row == number));
        let reference_of = |of_rows: &[f64]| match place {
            Some(at) => of_rows[at],
            None => of_rows.iter().sum::<f64>() / count as f64,
        };
        self.contribute(dataset, &own, rows, reference_of);
        let scores: Vec<f64> = rows.iter().map(|row| row.score).collect();
        explained.reference = reference_of(&scores);
        for row in rows.iter_mut() {
            row.difference = row.score - explained.reference;
            let parts = &mut row.contributions;
            let finite = parts.iter().all(|part| part.contribution.is_finite());
            ensure!(
                row.difference.is_finite() && finite,
                numbers,
                "the score of row {} is no finite number, or a contribution to it: its values or the weights are too \
                 large",
                row.row
            );
            parts.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()));
        }
        rank(rows);
        explained.versus = rows.iter().find(|row| Some(row.row) == versus).cloned();
        Ok(explained)
    }

    /// Adds to `rows`, those of a query in `own`, their scores and the contributions of the features.
    fn contribute<'a>(
        &'a self,
        dataset: &Dataset<'_>,
        own: &Range<usize>,
        rows: &mut [ExplainedRow<'a>],
        reference_of: impl Fn(&[f64]) -> f64,
    ) {
        let mut values = vec![0.0; own.len()];
        for (position, feature) in self.features.iter().enumerate() {
            let Some(stored) = dataset.position(feature.feature) else {
                continue;
            };
            let mut column = dataset.column(stored);
            column.take_rows_below(own.start);
            values.fill(0.0);
            for (at, value) in column.take_rows_below(own.end).iter() {
                values[at - own.start] = value;
                rows[at - own.start].score += feature.weight * value;
            }
            let reference = reference_of(&values);
            for (&value, row) in values.iter().zip(rows.iter_mut()) {
                let contribution = feature.weight * (value - reference);
                if contribution != 0.0 {
                    row.contributions.push(Contribution {
                        position,
                        feature: self.index_base.written(feature.feature),
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

    /// Refuses models without features, data without them, and queries that there are not.
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

/// Puts the highest score first and numbers the places.
fn rank(rows: &mut [ExplainedRow<'_>]) {
    // Adding 0 makes one zero of the two.
    rows.sort_by(|a, b| (b.score + 0.0).total_cmp(&(a.score + 0.0)));
    let mut rank = 0;
    for tied in rows.chunk_by_mut(|a, b| a.score == b.score) {
        let others = tied.len() - 1;
        for row in tied {
            rank += 1;
            (row.rank, row.tied) = (rank, others);
        }
    }
}
