//! A data set in figures.

use rankrls::Dataset;
use serde::Serialize;

/// The number of longest columns in the list.
const LONGEST: usize = 10;

/// Sizes, labels and entries of a data set. Entries with the value zero do not count.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Description {
    /// Entries as a share of rows times columns; `None` without columns.
    pub(crate) density: Option<f64>,
    /// Rows of a query.
    pub(crate) query_sizes: Spread<usize>,
    /// Entries of a row.
    pub(crate) row_nonzeros: Spread<usize>,
    /// Entries of a column with any; `None` if every column is empty.
    pub(crate) column_nonzeros: Option<Spread<usize>>,
    /// The labels.
    pub(crate) labels: Labels,
    /// Columns with entries, all of them in one query.
    pub(crate) single_query_columns: usize,
    /// The columns with most entries, longest first, at most ten: their numbers from 0 on, and their entries.
    /// Reports write the numbers in the base of the data, so they are not serialised here.
    #[serde(skip)]
    pub(crate) longest_columns: Vec<(u32, usize)>,
}

/// The spread of labels, in all and in each query.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Labels {
    /// The least label.
    pub(crate) least: f64,
    /// The mean of all labels.
    pub(crate) mean: f64,
    /// The largest label.
    pub(crate) largest: f64,
    /// Different labels.
    pub(crate) distinct: usize,
    /// Queries whose rows all have the same label, which leaves nothing to rank.
    pub(crate) constant_queries: usize,
    /// Different labels of a query.
    pub(crate) distinct_in_query: Spread<usize>,
    /// Largest label of a query less its least.
    pub(crate) range_in_query: Spread<f64>,
}

/// The spread of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Spread<T> {
    /// The least.
    pub(crate) least: T,
    /// The middle value, or the mean of the two middle values.
    pub(crate) median: f64,
    /// The mean.
    pub(crate) mean: f64,
    /// The largest.
    pub(crate) largest: T,
}

impl Description {
    /// Bytes needed to describe `dataset`.
    pub(crate) fn memory(dataset: &Dataset<'_>) -> u64 {
        let (rows, queries) = (dataset.rows(), dataset.queries().len());
        (8 * dataset.stored_columns() + 40 * rows + 100 * queries) as u64
    }

    /// Describes `dataset`, in time linear in its entries.
    pub(crate) fn of(dataset: &Dataset<'_>) -> Self {
        let sizes = dataset.queries().ranges().map(|rows| rows.len());
        let query_of_row = dataset.queries().of_rows();
        let mut row_nonzeros = vec![0; dataset.rows()];
        let mut lengths = Vec::with_capacity(dataset.stored_columns());
        let (mut longest, mut single_query_columns) = (Vec::new(), 0);
        for position in 0..dataset.stored_columns() {
            let entries = dataset.column(position).iter();
            let rows = entries
                .filter(|&(_, value)| value != 0.0)
                .map(|(row, _)| row);
            let (Some(first), Some(last)) = (rows.clone().next(), rows.clone().last()) else {
                continue;
            };
            for row in rows.clone() {
                row_nonzeros[row] += 1;
            }
            single_query_columns += usize::from(query_of_row[first] == query_of_row[last]);
            let nonzeros = rows.count();
            lengths.push(nonzeros);
            // The first of equally long columns comes first.
            let place = longest.partition_point(|&(_, others)| others >= nonzeros);
            longest.insert(place, (dataset.feature(position), nonzeros));
            longest.truncate(LONGEST);
        }
        let places = dataset.rows() as f64 * dataset.width() as f64;
        Self {
            density: (places > 0.0).then(|| lengths.iter().sum::<usize>() as f64 / places),
            query_sizes: of_counts(sizes.collect()),
            row_nonzeros: of_counts(row_nonzeros),
            column_nonzeros: (!lengths.is_empty()).then(|| of_counts(lengths)),
            labels: Labels::of(dataset),
            single_query_columns,
            longest_columns: longest,
        }
    }
}

impl Labels {
    fn of(dataset: &Dataset<'_>) -> Self {
        let labels = dataset.labels();
        let queries = dataset.queries().ranges();
        let sorted: Vec<Vec<f64>> = queries.map(|rows| sorted(&labels[rows])).collect();
        let distinct_in_query: Vec<usize> = sorted.iter().map(|labels| distinct(labels)).collect();
        let range = |labels: &Vec<f64>| labels[labels.len() - 1] - labels[0];
        let ranges = self::sorted(&sorted.iter().map(range).collect::<Vec<f64>>());
        let all = self::sorted(labels);
        let constant = distinct_in_query.iter().filter(|&&count| count == 1);
        Self {
            least: all[0],
            mean: mean(labels.iter().copied()),
            largest: all[all.len() - 1],
            distinct: distinct(&all),
            constant_queries: constant.count(),
            range_in_query: Spread::of(&ranges, mean(ranges.iter().copied()), |range| range),
            distinct_in_query: of_counts(distinct_in_query),
        }
    }
}

/// Ascending, with the two zeros as one.
fn sorted(labels: &[f64]) -> Vec<f64> {
    let mut labels: Vec<f64> = labels.iter().map(|label| label + 0.0).collect();
    labels.sort_unstable_by(f64::total_cmp);
    labels
}

/// Different numbers among ascending ones.
fn distinct(numbers: &[f64]) -> usize {
    numbers.chunk_by(|left, right| left == right).count()
}

fn mean(numbers: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = numbers.len() as f64;
    // Division comes before the sum, so huge numbers have a mean, too.
    numbers.map(|number| number / count).sum()
}

impl<T: Copy> Spread<T> {
    /// The spread of ascending numbers, at least one, with this mean.
    fn of(sorted: &[T], mean: f64, float: impl Fn(T) -> f64) -> Self {
        let (low, high) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        Self {
            least: sorted[0],
            median: f64::midpoint(float(low), float(high)),
            mean,
            largest: sorted[sorted.len() - 1],
        }
    }
}

/// The spread of at least one count.
fn of_counts(mut counts: Vec<usize>) -> Spread<usize> {
    counts.sort_unstable();
    let sum: usize = counts.iter().sum();
    Spread::of(&counts, sum as f64 / counts.len() as f64, |count| {
        count as f64
    })
}

#[cfg(test)]
mod tests {
    use rankrls::Queries;
    use rankrls::data::read::ReadOptions;

    use super::*;

    #[test]
    fn figures_are_those_of_the_data() {
        let text = "2 qid:a 1:1 2:3 9:1\n0 qid:a 1:1\n-0 qid:a\n1 qid:b 2:2 5:1\n1 qid:b 5:4\n";
        let data = ReadOptions::new().read_from(text.as_bytes(), "f").unwrap();
        let found = Description::of(&data.dataset);
        assert_eq!(found.density, Some(7.0 / 45.0));
        let sizes = found.query_sizes;
        assert_eq!((sizes.least, sizes.median, sizes.largest), (2, 2.5, 3));
        assert_eq!(found.row_nonzeros.median, 1.0);
        assert_eq!(found.column_nonzeros.unwrap().mean, 7.0 / 4.0);
        assert_eq!(found.single_query_columns, 3);
        let longest: Vec<u32> = found.longest_columns.iter().map(|c| c.0).collect();
        assert_eq!(longest, [0, 1, 4, 8]);
        let labels = found.labels;
        assert_eq!((labels.least, labels.largest), (0.0, 2.0));
        assert_eq!((labels.mean, labels.distinct), (0.8, 3));
        assert_eq!(labels.constant_queries, 1);
        assert_eq!(labels.distinct_in_query.largest, 2);
        assert_eq!(labels.range_in_query.mean, 1.0);
    }

    #[test]
    fn a_matrix_without_entries_has_figures() {
        let queries = Queries::single(1).unwrap();
        let none = Dataset::from_csc(vec![0], vec![], vec![], vec![1e308], queries).unwrap();
        let found = Description::of(&none);
        assert_eq!((found.density, found.column_nonzeros), (None, None));
        assert_eq!(found.labels.mean, 1e308);
        let queries = Queries::single(1).unwrap();
        let zero = Dataset::from_csc(vec![0, 1], vec![0], vec![0.0], vec![1.0], queries).unwrap();
        assert_eq!(Description::of(&zero).density, Some(0.0));
    }
}
