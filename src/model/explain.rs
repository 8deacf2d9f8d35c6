//! Why the rows of a query are in their order: what each feature adds to their scores.

use thiserror::Error;

use super::Model;
use crate::data::Dataset;

/// The rows of a query as a model ranks them.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The query, 0-based as the data set has it.
    pub query: usize,
    /// The row that scores are held against, 0-based as the data set has it; `None` for the mean of the
    /// query.
    pub versus: Option<usize>,
    /// The score of that row, or the mean.
    pub reference: f64,
    /// The rows, the highest score first; equal scores in the order of the data set.
    pub rows: Vec<ExplainedRow>,
}

/// A row, and why its score is higher or lower than another.
#[derive(Debug, Clone, PartialEq)]
pub struct ExplainedRow {
    /// The row, 0-based as the data set has it.
    pub row: usize,
    /// Its label.
    pub label: f64,
    /// Its score.
    pub score: f64,
    /// Score less reference: but for rounding the sum of the contributions.
    pub difference: f64,
    /// Contributions that are not 0, the largest in magnitude first.
    pub contributions: Vec<Contribution>,
}

/// What a feature adds to a difference of scores.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contribution {
    /// The position of the feature among [`Model::features`].
    pub position: usize,
    /// Its value in the row.
    pub value: f64,
    /// The value that it is held against.
    pub reference: f64,
    /// Weight times the difference of the values.
    pub contribution: f64,
}

/// An order that cannot be explained. Queries and rows are counted from 0.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ExplainError {
    /// Features have no weights of their own.
    #[error(
        "a kernel model has no features to explain an order by: its scores are sums over rows of the training data; train with the linear kernel, or select features"
    )]
    Kernel,
    /// Data of other columns.
    #[error(
        "no row of the data has an entry in any of the {features} of the model: are the data others, or do they count columns otherwise?",
        features = if *features == 1 { "1 feature".to_owned() } else { format!("{features} features") }
    )]
    NoFeature {
        /// Features of the model.
        features: usize,
    },
    /// A query that the data do not have.
    #[error("there is no query {query} among {queries}")]
    Query {
        /// The query.
        query: usize,
        /// How many there are.
        queries: usize,
    },
    /// A row of another query, or of none.
    #[error("row {row} is not of query {query}, which has rows {first} to {last}")]
    Row {
        /// The row.
        row: usize,
        /// The query.
        query: usize,
        /// Its first row.
        first: usize,
        /// Its last row.
        last: usize,
    },
}

impl Model {
    /// Why the model ranks the rows of a `query` of `dataset` as it does: for each row the
    /// contribution of every feature to the difference of its score from the mean of the query, or
    /// from the score of the row `versus`. Columns are matched as for [`scores`](Self::scores), which has the
    /// same scores to the last bit.
    ///
    /// ```
    /// use rankrls::data::sample;
    /// use rankrls::GreedyRankRls;
    ///
    /// let (train, test) = (sample::train(), sample::test());
    /// let fitted = GreedyRankRls::params(10).lambda(16.0)?.fit(&train)?;
    /// let explained = fitted.model().explain(&test, 3, None)?;
    /// let first = &explained.rows[0];
    /// let sum: f64 = first.contributions.iter().map(|part| part.contribution).sum();
    /// assert!((sum - first.difference).abs() < 1e-12);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`ExplainError`].
    pub fn explain(
        &self,
        dataset: &Dataset<'_>,
        query: usize,
        versus: Option<usize>,
    ) -> Result<Explanation, ExplainError> {
        let queries = dataset.queries();
        self.check_explained(dataset, query)?;
        let rows = queries.range(query);
        if let Some(row) = versus.filter(|row| !rows.contains(row)) {
            let (first, last) = (rows.start, rows.end - 1);
            return Err(ExplainError::Row {
                row,
                query,
                first,
                last,
            });
        }
        let count = rows.len();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / count as f64;
        let reference_of =
            |values: &[f64]| versus.map_or_else(|| mean(values), |row| values[row - rows.start]);
        let mut scores = vec![0.0; count];
        let mut contributions = vec![Vec::new(); count];
        let mut values = vec![0.0; count];
        for (position, feature) in self.features.iter().enumerate() {
            let Some(column) = dataset.position(feature.feature) else {
                continue;
            };
            let mut column = dataset.column(column);
            column.take_rows_below(rows.start);
            values.fill(0.0);
            for (row, value) in column.take_rows_below(rows.end).iter() {
                values[row - rows.start] = value;
                scores[row - rows.start] += feature.weight * value;
            }
            let reference = reference_of(&values);
            for (&value, parts) in values.iter().zip(&mut contributions) {
                let contribution = feature.weight * (value - reference);
                if contribution != 0.0 {
                    parts.push(Contribution {
                        position,
                        value,
                        reference,
                        contribution,
                    });
                }
            }
        }
        let reference = reference_of(&scores);
        let explained = contributions.into_iter().zip(&scores).zip(rows.clone());
        let explained = explained.map(|((mut contributions, &score), row)| {
            contributions.sort_by(|a, b| b.contribution.abs().total_cmp(&a.contribution.abs()));
            ExplainedRow {
                row,
                label: dataset.labels()[row],
                score,
                difference: score - reference,
                contributions,
            }
        });
        let mut rows: Vec<ExplainedRow> = explained.collect();
        // Adding 0 makes one zero of the two.
        rows.sort_by(|a, b| (b.score + 0.0).total_cmp(&(a.score + 0.0)));
        Ok(Explanation {
            query,
            versus,
            reference,
            rows,
        })
    }

    /// Refuses models without features, data without them, and queries that there are not.
    fn check_explained(&self, dataset: &Dataset<'_>, query: usize) -> Result<(), ExplainError> {
        if self.expansion.is_some() {
            return Err(ExplainError::Kernel);
        }
        let queries = dataset.queries().len();
        if query >= queries {
            return Err(ExplainError::Query { query, queries });
        }
        let has_entry = |feature: u32| {
            let position = dataset.position(feature);
            position
                .is_some_and(|position| dataset.column(position).values.iter().any(|v| *v != 0.0))
        };
        let features = self.features.len();
        if features > 0 && !self.features.iter().any(|known| has_entry(known.feature)) {
            return Err(ExplainError::NoFeature { features });
        }
        Ok(())
    }
}
