//! The size of a problem.

use crate::columns::ColumnClasses;
use crate::data::Queries;

/// The size of a problem, as far as memory and time depend on it: counts, without units. [`Solver::memory`] and
/// [`Solver::cost`] are functions of it.
///
/// [`Solver::memory`]: super::Solver::memory
/// [`Solver::cost`]: super::Solver::cost
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct TrainShape {
    /// Examples `m`.
    pub(crate) rows: usize,
    /// Queries.
    pub(crate) queries: usize,
    /// Examples of the largest query.
    pub(crate) largest_query: usize,
    /// Examples of the largest group that is held out at once, at least the largest query.
    pub(crate) largest_group: usize,
    /// Column classes.
    pub(crate) classes: usize,
    /// Columns in all classes.
    pub(crate) columns: usize,
    /// Entries of the column classes.
    pub(crate) nonzeros: usize,
    /// Sum over the column classes of their squared numbers of entries.
    pub(crate) squares: f64,
    /// The number of ridge parameters to come.
    pub(crate) lambdas: usize,
    /// Threads at work.
    pub(crate) threads: usize,
}

impl TrainShape {
    /// The shape of training on `candidates` with `lambdas` ridge parameters, on this thread pool.
    pub(crate) fn new(candidates: &ColumnClasses, lambdas: usize) -> Self {
        let entries = |class: usize| candidates.entries_of(class) as u128;
        let squares = (0..candidates.len()).map(|c| entries(c) * entries(c));
        let summary = candidates.summary();
        Self {
            classes: summary.column_classes,
            columns: summary.columns - summary.constant_columns,
            nonzeros: summary.class_nonzeros,
            squares: squares.sum::<u128>() as f64,
            ..Self::of_rows(candidates.queries(), lambdas)
        }
    }

    /// The shape of training on the rows of `queries` under a known kernel.
    pub(super) fn of_rows(queries: &Queries, lambdas: usize) -> Self {
        Self {
            rows: queries.rows(),
            queries: queries.len(),
            largest_query: queries.largest(),
            largest_group: queries.largest(),
            classes: 0,
            columns: 0,
            nonzeros: 0,
            squares: 0.0,
            lambdas,
            threads: rayon::current_num_threads(),
        }
    }

    /// The shape for hold-outs of groups of up to so many rows.
    pub(super) fn with_groups(self, largest: usize) -> Self {
        let largest_group = self.largest_group.max(largest);
        Self {
            largest_group,
            ..self
        }
    }

    /// The shape of so many preferences among the rows.
    pub(crate) fn of_preferences(self, preferences: usize) -> Self {
        let rows_each = preferences as f64 / self.rows as f64;
        Self {
            rows: preferences,
            queries: preferences,
            largest_query: 1,
            largest_group: 1,
            // A column of the kernel meets the columns of two rows.
            squares: 2.0 * rows_each * self.squares,
            ..self
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::TrainShape;

    pub(in crate::ridge) fn shape(rows: usize, classes: usize, nonzeros: usize) -> TrainShape {
        TrainShape {
            rows,
            queries: rows / 10,
            largest_query: 20,
            largest_group: 20,
            classes,
            columns: classes,
            nonzeros,
            squares: nonzeros as f64 * 40.0,
            lambdas: 1,
            threads: 2,
        }
    }
}
