//! The features of rows: the columns of the data, or a kernel in their place.
//!
//! Each class of equal columns is one column here: a class of `k` members acts like one column times `sqrt(k)`, and
//! every member gets the weight of the class, up to sign. A *total* is `k` times that weight. Columns are in the
//! canonical form of [`ColumnClasses`], which differs from the data by a constant in each query. So entries are
//! few, and no common offset costs digits.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;
use sprs::CsMatI;

use crate::columns::ColumnClasses;
use crate::data::Queries;
use crate::linalg::factor::Square;

/// Columns whose products one task computes.
const COLUMNS: usize = 1024;

/// Rows whose products one task computes.
const ROWS: usize = 256;

/// The source of `X X'`.
#[derive(Debug)]
pub(crate) enum Features<'a> {
    Columns(Box<ColumnFeatures<'a>>),
    /// `X X'` itself, a kernel of the rows whose features nobody knows: both triangles.
    Kernel(Square),
}

/// The columns and their multiplicities.
#[derive(Debug)]
pub(crate) struct ColumnFeatures<'a> {
    pub(crate) classes: Cow<'a, ColumnClasses>,
    /// `k`: members of every class.
    pub(crate) counts: Vec<f64>,
    rows: ByRow,
}

/// The entries of columns by row.
#[derive(Debug)]
pub(crate) struct ByRow {
    entries: CsMatI<f64, u32, usize>,
    /// The root of `k` of every column.
    roots: Vec<f64>,
}

/// The mean over the rows of a query, kept while the query stays the same.
pub(crate) type Mean = Option<(usize, Vec<f64>)>;

impl<'a> ColumnFeatures<'a> {
    fn new(classes: Cow<'a, ColumnClasses>) -> Self {
        let members = |class: usize| classes.class(class).len() as f64;
        let counts: Vec<f64> = (0..classes.len()).map(members).collect();
        let rows = ByRow {
            entries: classes.matrix().to_other_storage(),
            roots: counts.iter().map(|count| count.sqrt()).collect(),
        };
        Self {
            classes,
            counts,
            rows,
        }
    }

    /// Some of the classes by row. Columns are numbered in the order of `some`.
    pub(crate) fn by_row(&self, some: &[usize]) -> ByRow {
        let (mut ends, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for &class in some {
            let column = self.classes.column(class);
            rows.extend_from_slice(column.rows);
            values.extend_from_slice(column.values);
            ends.push(rows.len());
        }
        let shape = (self.classes.matrix().rows(), some.len());
        ByRow {
            entries: CsMatI::new_csc(shape, ends, rows, values).to_csr(),
            roots: some.iter().map(|&class| self.rows.roots[class]).collect(),
        }
    }

    /// The entries of a row: classes, ascending, and values.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        self.rows.row(row)
    }

    /// Adds `factor` times the products of `row` with the rows from `first` on, up to the length of `column`.
    fn add_products(&self, row: usize, factor: f64, column: &mut [f64], first: usize) {
        let end = first + column.len();
        for (class, value) in self.row(row) {
            let multiple = factor * value * self.counts[class];
            let others = self.classes.column(class);
            let start = others.rows.partition_point(|&at| (at as usize) < first);
            let entries = others.rows[start..].iter().zip(&others.values[start..]);
            for (&at, other) in entries.take_while(|(at, _)| (**at as usize) < end) {
                column[at as usize - first] += multiple * other;
            }
        }
    }

    pub(crate) fn mean(&self, rows: Range<usize>) -> Vec<f64> {
        let (mut mean, count) = (vec![0.0; self.counts.len()], rows.len() as f64);
        for (class, value) in rows.flat_map(|row| self.row(row)) {
            mean[class] += value;
        }
        for sum in &mut mean {
            *sum /= count;
        }
        mean
    }
}

impl<'a> Features<'a> {
    pub(crate) fn of_classes(classes: Cow<'a, ColumnClasses>) -> Self {
        Self::Columns(Box::new(ColumnFeatures::new(classes)))
    }

    /// The columns, unless only their products are known.
    pub(crate) fn columns(&self) -> Option<&ColumnFeatures<'a>> {
        match self {
            Self::Columns(columns) => Some(columns),
            Self::Kernel(_) => None,
        }
    }

    /// The columns, for solvers that no kernel has.
    pub(crate) fn known(&self) -> &ColumnFeatures<'a> {
        let columns = self.columns();
        columns.expect("a kernel has the dual solver alone")
    }

    /// Adds `factor` times the products of `row` with the rows from `first` on, up to the length of `column`.
    pub(crate) fn add_products(&self, row: usize, factor: f64, column: &mut [f64], first: usize) {
        match self {
            Self::Columns(columns) => columns.add_products(row, factor, column, first),
            Self::Kernel(kernel) => {
                for (slot, product) in column.iter_mut().zip(&kernel.column(row)[first..]) {
                    *slot += factor * product;
                }
            }
        }
    }

    /// The squared norm of a row less another one.
    pub(crate) fn squared_difference(&self, [first, other]: [usize; 2]) -> f64 {
        match self {
            Self::Columns(columns) => {
                let rows = [first, other].map(|row| columns.rows.entries.outer_view(row));
                let [Some(preferred), Some(beaten)] = rows else {
                    return 0.0;
                };
                let difference = &preferred - &beaten;
                let squares = difference.iter();
                squares.map(|(at, v)| columns.counts[at] * v * v).sum()
            }
            Self::Kernel(kernel) => {
                let own = kernel.value(first, first) + kernel.value(other, other);
                // Below 0 only by rounding.
                (own - 2.0 * kernel.value(first, other)).max(0.0)
            }
        }
    }

    /// The sum over all rows of the squared norm of the centred row, times the weight of its query.
    pub(crate) fn trace(&self, queries: &Queries, weight: impl Fn(usize) -> f64) -> f64 {
        match self {
            Self::Columns(columns) => {
                let norm = |(class, count): (usize, &f64)| {
                    let segments = columns.classes.segments(class);
                    let norms = segments.map(|part| weight(part.query) * part.squared_norm);
                    count * norms.sum::<f64>()
                };
                columns.counts.iter().enumerate().map(norm).sum()
            }
            Self::Kernel(kernel) => {
                let trace = |range: Range<usize>| -> f64 {
                    let diagonal: f64 = range.clone().map(|row| kernel.value(row, row)).sum();
                    let columns = range.clone().map(|row| &kernel.column(row)[range.clone()]);
                    let all: f64 = columns.map(|values| values.iter().sum::<f64>()).sum();
                    (diagonal - all / range.len() as f64).max(0.0)
                };
                let ranges = queries.ranges().enumerate();
                let traces = ranges.map(|(query, range)| weight(query) * trace(range));
                traces.sum()
            }
        }
    }
}

impl ColumnFeatures<'_> {
    /// The total of a class.
    pub(crate) fn total<const L: usize>(&self, class: usize, v: &[[f64; L]]) -> [f64; L] {
        let mut total = [[0.0; L]];
        add_up(self, class, v, &mut total);
        total[0]
    }

    /// The totals `k x . v` of the classes, for values `v` of each row of the data.
    pub(crate) fn add_up<const L: usize>(&self, v: &[[f64; L]], totals: &mut [[f64; L]]) {
        // The first columns are the longest: a task for each chunk.
        let tasks = totals.par_chunks_mut(COLUMNS).with_max_len(1).enumerate();
        tasks.for_each(|(task, own)| {
            add_up(self, task * COLUMNS, v, own);
        });
    }

    /// Predictions for the rows of the data, not centred.
    pub(crate) fn predict<const L: usize>(&self, totals: &[[f64; L]], rows: &mut [[f64; L]]) {
        self.rows.predict(totals, rows);
    }
}

impl ByRow {
    /// The number of columns.
    pub(crate) fn columns(&self) -> usize {
        self.roots.len()
    }

    /// The entries of a row: columns, ascending, and values.
    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let (columns, values) = self.entries_of(row);
        let columns = columns.iter().map(|&column| column as usize);
        columns.zip(values.iter().copied())
    }

    /// Columns and values in a row.
    fn entries_of(&self, row: usize) -> (&[u32], &[f64]) {
        let range = self.entries.indptr().outer_inds_sz(row);
        (
            &self.entries.indices()[range.clone()],
            &self.entries.data()[range],
        )
    }

    /// Adds `sign` times the entries of a row, times the roots of `k`, to the `slots` of the columns.
    pub(crate) fn add_row(&self, row: usize, sign: f64, slots: &mut [f64]) {
        for (column, value) in self.row(row) {
            slots[column] += sign * self.roots[column] * value;
        }
    }

    /// The columns, times the roots of `k` and these `coefficients`, added up: not centred.
    pub(crate) fn combine<const L: usize>(&self, coefficients: &[[f64; L]], rows: &mut [[f64; L]]) {
        let scaled = coefficients.iter().zip(&self.roots);
        let scaled: Vec<[f64; L]> = scaled
            .map(|(coefficient, root)| coefficient.map(|value| root * value))
            .collect();
        self.predict(&scaled, rows);
    }

    /// The columns times `totals`, added up.
    fn predict<const L: usize>(&self, totals: &[[f64; L]], rows: &mut [[f64; L]]) {
        let tasks = rows.par_chunks_mut(ROWS).enumerate();
        tasks.for_each(|(task, own)| {
            predict(self, task * ROWS, totals, own);
        });
    }
}

#[multiversion::multiversion(targets = "simd")]
fn add_up<const L: usize>(
    columns: &ColumnFeatures<'_>,
    first: usize,
    v: &[[f64; L]],
    totals: &mut [[f64; L]],
) {
    for (total, class) in totals.iter_mut().zip(first..) {
        let column = columns.classes.column(class);
        let count = columns.counts[class];
        *total = gather(column.rows, column.values, v).map(|sum| count * sum);
    }
}

#[multiversion::multiversion(targets = "simd")]
fn predict<const L: usize>(
    columns: &ByRow,
    first: usize,
    totals: &[[f64; L]],
    predictions: &mut [[f64; L]],
) {
    for (prediction, row) in predictions.iter_mut().zip(first..) {
        let (own, values) = columns.entries_of(row);
        *prediction = gather(own, values, totals);
    }
}

/// The sum of the rows with these numbers, each times its value.
#[inline(always)]
fn gather<const L: usize>(numbers: &[u32], values: &[f64], rows: &[[f64; L]]) -> [f64; L] {
    let mut sum = [0.0; L];
    for (&number, value) in numbers.iter().zip(values) {
        let row = &rows[number as usize];
        for lane in 0..L {
            sum[lane] += value * row[lane];
        }
    }
    sum
}
