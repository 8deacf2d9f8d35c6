//! The design matrix of the rows that the loss compares, never formed: `X^ = B X`, where `L = B' B` is
//! the row Laplacian of the loss.
//!
//! A row of `B` takes the mean of its query off a row and weighs it, or takes a row off another one
//! that is preferred to it.
//!
//! One column for each class of equal ones: a class of `k` members acts like one column times
//! `sqrt(k)`, and every member gets the weight of the class, up to sign. Columns are in the
//! canonical form of [`ColumnClasses`], which differs from the data by a constant in each query: few
//! entries, and no common offset that would cost digits. Centring is implicit throughout:
//! products with vectors that are centred need none, and results are centred after.

use std::borrow::Cow;
use std::ops::Range;

use faer::Mat;
use rayon::prelude::*;

use super::factor::Square;
use crate::columns::ColumnClasses;
use crate::columns::QueryWeight;
use crate::data::{DatasetError, Queries};
use crate::interrupt::heed;
use crate::kernels::sparse_dot;

/// Columns whose products one task computes.
const COLUMNS: usize = 1024;

/// Rows whose products one task computes.
const ROWS: usize = 256;

/// `X^ = B X diag(sqrt(k))`, rows x classes. `B = D C`, where `C` centres every query or takes
/// differences of two rows, and `D` scales what it makes.
#[derive(Debug)]
pub(super) struct Design<'a> {
    /// Rows of `X^` that belong together: queries, or preferences, each of them alone.
    queries: Queries,
    /// The diagonal of `D`, unless it is all 1.
    scales: Option<Vec<f64>>,
    /// Of preferences, the rows of the data that each compares: the preferred one first.
    ends: Option<Vec<[u32; 2]>>,
    /// Rows of the data.
    rows: usize,
    features: Features<'a>,
}

/// Where `X X'` comes from.
#[derive(Debug)]
enum Features<'a> {
    Columns(Box<Columns<'a>>),
    /// `X X'` itself, of features that nobody knows: a kernel of the rows, both triangles.
    Kernel(Square),
}

/// The columns, and what they count.
#[derive(Debug)]
pub(super) struct Columns<'a> {
    candidates: Cow<'a, ColumnClasses>,
    /// `k`: members of every class.
    counts: Vec<f64>,
    rows: Rows,
}

/// The same entries by row.
#[derive(Debug)]
struct Rows {
    /// `m + 1` positions.
    starts: Vec<usize>,
    classes: Vec<u32>,
    values: Vec<f64>,
}

impl Rows {
    fn new(candidates: &ColumnClasses) -> Self {
        let by_row = candidates.matrix().to_other_storage();
        let (starts, classes, values) = by_row.into_raw_storage();
        Self {
            starts,
            classes,
            values,
        }
    }

    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[row]..self.starts[row + 1];
        let classes = &self.classes[range.clone()];
        classes
            .iter()
            .zip(&self.values[range])
            .map(|(&class, &value)| (class as usize, value))
    }
}

/// Means of the canonical columns over the rows of one query, kept while the query stays.
#[derive(Debug)]
pub(super) struct Means {
    query: Option<usize>,
    means: Vec<f64>,
}

impl<'a> Columns<'a> {
    fn new(candidates: Cow<'a, ColumnClasses>) -> Self {
        let members = |class: usize| candidates.class(class).len() as f64;
        Self {
            counts: (0..candidates.len()).map(members).collect(),
            rows: Rows::new(&candidates),
            candidates,
        }
    }

    /// Adds the products of a row of these `entries` with the rows from `first` on, as many as
    /// `column` is long.
    fn add_products(
        &self,
        entries: impl Iterator<Item = (usize, f64)>,
        column: &mut [f64],
        first: usize,
    ) {
        let end = first + column.len();
        for (class, value) in entries {
            let factor = value * self.counts[class];
            let other = self.candidates.column(class);
            let start = other.rows.partition_point(|&row| (row as usize) < first);
            let entries = other.rows[start..].iter().zip(&other.values[start..]);
            for (&row, value) in entries.take_while(|(row, _)| (**row as usize) < end) {
                column[row as usize - first] += factor * value;
            }
        }
    }

    /// What the first of two rows has more than the other: classes, ascending, and by how much.
    fn difference(&self, [first, other]: [u32; 2]) -> Vec<(usize, f64)> {
        let less = self.rows.row(other as usize);
        let less = less.map(|(class, value)| (class, -value));
        let mut entries: Vec<(usize, f64)> = self.rows.row(first as usize).chain(less).collect();
        entries.sort_by_key(|&(class, _)| class);
        let classes = entries.chunk_by(|a, b| a.0 == b.0);
        classes
            .map(|entries| (entries[0].0, entries.iter().map(|entry| entry.1).sum()))
            .collect()
    }
}

impl<'a> Design<'a> {
    pub(super) fn new(candidates: Cow<'a, ColumnClasses>, weight: QueryWeight) -> Self {
        Self {
            queries: candidates.queries().clone(),
            scales: weight.row_scales(candidates.queries()),
            ends: None,
            rows: candidates.queries().rows(),
            features: Features::Columns(Box::new(Columns::new(candidates))),
        }
    }

    /// Of the rows of `queries`, whose products `kernel` has in both triangles.
    pub(super) fn of_kernel(kernel: Square, queries: &Queries, weight: QueryWeight) -> Self {
        Self {
            queries: queries.clone(),
            scales: weight.row_scales(queries),
            ends: None,
            rows: queries.rows(),
            features: Features::Kernel(kernel),
        }
    }

    /// The same features, with a row for each of `ends`: the difference of these rows of the data,
    /// times its scale.
    ///
    /// # Errors
    /// [`DatasetError`] for more differences than data may have rows.
    pub(super) fn of_differences(
        self,
        ends: Vec<[u32; 2]>,
        scales: Vec<f64>,
    ) -> Result<Self, DatasetError> {
        Ok(Self {
            queries: Queries::from_sizes(&vec![1; ends.len()])?,
            scales: Some(scales),
            ends: Some(ends),
            ..self
        })
    }

    /// The rows of the data that each row compares; `None` where rows are centred.
    pub(super) fn ends(&self) -> Option<&[[u32; 2]]> {
        self.ends.as_deref()
    }

    /// The column classes, unless only their products are known.
    pub(super) fn candidates(&self) -> Option<&ColumnClasses> {
        match &self.features {
            Features::Columns(columns) => Some(&columns.candidates),
            Features::Kernel(_) => None,
        }
    }

    fn columns(&self) -> &Columns<'_> {
        match &self.features {
            Features::Columns(columns) => columns,
            Features::Kernel(_) => unreachable!("a kernel has the dual solver alone"),
        }
    }

    pub(super) fn queries(&self) -> &Queries {
        &self.queries
    }

    /// `sqrt(omega_Q)` for the query of `row`.
    pub(super) fn scale(&self, row: usize) -> f64 {
        self.scales.as_ref().map_or(1.0, |scales| scales[row])
    }

    /// Takes the mean of its query off every value, where rows are centred.
    pub(super) fn centre(&self, values: &mut [f64]) {
        if self.ends.is_none() {
            self.centre_from(0, values);
        }
    }

    /// Multiplies by `D`.
    pub(super) fn weigh(&self, values: &mut [f64]) {
        if let Some(scales) = &self.scales {
            for (value, scale) in values.iter_mut().zip(scales) {
                *value *= scale;
            }
        }
    }

    /// `B' a`: coefficients of the rows of the data, from dual ones, which are centred.
    pub(super) fn of_data(&self, coefficients: &[f64]) -> Vec<f64> {
        let mut weighed = coefficients.to_vec();
        self.weigh(&mut weighed);
        let Some(ends) = &self.ends else {
            return weighed;
        };
        let weighed: Vec<[f64; 1]> = weighed.into_iter().map(|value| [value]).collect();
        sums(ends, &weighed, self.rows).concat()
    }

    /// `B v`, for a value of each row of the data.
    fn compared(&self, mut values: Vec<f64>) -> Vec<f64> {
        if let Some(ends) = &self.ends {
            let value = |row: u32| values[row as usize];
            let differences = ends
                .iter()
                .map(|&[first, other]| value(first) - value(other));
            values = differences.collect();
        }
        self.centre(&mut values);
        self.weigh(&mut values);
        values
    }

    /// Weights of the classes from dual coefficients that are centred: `x . B' a` for each
    /// canonical column `x`; none if the columns are not known.
    pub(super) fn class_weights(&self, coefficients: &[f64]) -> Vec<f64> {
        let Some(candidates) = self.candidates() else {
            return Vec::new();
        };
        let weighed = self.of_data(coefficients);
        let classes = (0..candidates.len()).into_par_iter();
        classes
            .with_min_len(COLUMNS)
            .map(|class| {
                let column = candidates.column(class);
                sparse_dot(column.rows, column.values, &weighed)
            })
            .collect()
    }

    /// `X^' y` for labels that are compared like the rows.
    pub(super) fn moments(&self, labels: &[f64]) -> Vec<f64> {
        let mut moments = self.class_weights(labels);
        for (moment, count) in moments.iter_mut().zip(&self.columns().counts) {
            *moment *= count.sqrt();
        }
        moments
    }

    /// Weights of the classes from the unknowns of the primal.
    pub(super) fn unscaled(&self, unknowns: &[f64]) -> Vec<f64> {
        let pairs = unknowns.iter().zip(&self.columns().counts);
        pairs
            .map(|(unknown, count)| unknown / count.sqrt())
            .collect()
    }

    /// What a model with these weights of the classes predicts of the rows of `X^`.
    pub(super) fn predictions(&self, class_weights: &[f64]) -> Vec<f64> {
        let columns = self.columns();
        let weights = class_weights.iter().zip(&columns.counts);
        let weights: Vec<f64> = weights.map(|(weight, count)| weight * count).collect();
        let mut predictions = vec![0.0; self.rows];
        predictions
            .par_chunks_mut(ROWS)
            .enumerate()
            .for_each(|(chunk, predictions)| {
                for (row, prediction) in (chunk * ROWS..).zip(predictions) {
                    let entries = columns.rows.row(row);
                    *prediction = entries.map(|(class, value)| value * weights[class]).sum();
                }
            });
        self.compared(predictions)
    }

    /// `X^ X^' v` for several `v` that are centred, a lane each. `weights` has a row for each class
    /// and is overwritten.
    ///
    /// `O(nnz L)` time.
    pub(super) fn kernel<const L: usize>(
        &self,
        v: &[[f64; L]],
        weights: &mut [[f64; L]],
        product: &mut [[f64; L]],
    ) {
        let mut weighed = Cow::Borrowed(v);
        if let Some(scales) = &self.scales {
            scale_rows(weighed.to_mut(), scales);
        }
        let mut predictions = Vec::new();
        if let Some(ends) = &self.ends {
            weighed = Cow::Owned(sums(ends, &weighed, self.rows));
            predictions = vec![[0.0; L]; self.rows];
        }
        let columns = self.columns();
        let tasks = weights.par_chunks_mut(COLUMNS).enumerate();
        tasks.for_each(|(task, weights)| {
            heed();
            weigh(columns, task * COLUMNS, &weighed, weights);
        });
        let slots = match self.ends {
            Some(_) => &mut predictions[..],
            None => &mut *product,
        };
        let tasks = slots.par_chunks_mut(ROWS).enumerate();
        tasks.for_each(|(task, slots)| {
            heed();
            predict(columns, task * ROWS, weights, slots);
        });
        if let Some(ends) = &self.ends {
            for (product, ends) in product.iter_mut().zip(ends) {
                let [first, other] = ends.map(|row| &predictions[row as usize]);
                *product = std::array::from_fn(|lane| first[lane] - other[lane]);
            }
        } else {
            for range in self.queries.ranges() {
                centre_rows(&mut product[range]);
            }
        }
        if let Some(scales) = &self.scales {
            scale_rows(product, scales);
        }
    }

    /// Mean of the diagonal of `X^ X^'`.
    pub(super) fn mean_diagonal(&self) -> f64 {
        let queries = self.queries();
        if let Some(ends) = &self.ends {
            let norms = ends.iter().enumerate();
            let norms = norms.map(|(row, &ends)| self.squared_difference(row, ends));
            return norms.sum::<f64>() / ends.len() as f64;
        }
        let scale = |query: usize| self.scale(queries.range(query).start);
        let trace: f64 = match &self.features {
            Features::Columns(columns) => {
                let norm = |(class, count): (usize, &f64)| {
                    let segments = columns.candidates.segments(class);
                    let norms = segments.map(|part| scale(part.query).powi(2) * part.squared_norm);
                    count * norms.sum::<f64>()
                };
                columns.counts.iter().enumerate().map(norm).sum()
            }
            Features::Kernel(kernel) => {
                let value = |row: usize, column: usize| kernel.value(row, column);
                let trace = |range: Range<usize>| -> f64 {
                    let diagonal: f64 = range.clone().map(|row| value(row, row)).sum();
                    let column = |at: usize| range.clone().map(|row| value(row, at)).sum::<f64>();
                    let all: f64 = range.clone().map(column).sum();
                    (diagonal - all / range.len() as f64).max(0.0)
                };
                let ranges = queries.ranges().enumerate();
                ranges
                    .map(|(query, range)| scale(query).powi(2) * trace(range))
                    .sum()
            }
        };
        trace / queries.rows() as f64
    }

    /// The squared norm of `row`, of the difference of these rows of the data.
    fn squared_difference(&self, row: usize, ends: [u32; 2]) -> f64 {
        let [first, other] = ends.map(|row| row as usize);
        let squares = match &self.features {
            Features::Columns(columns) => {
                let square = |(class, value): (usize, f64)| columns.counts[class] * value * value;
                columns.difference(ends).into_iter().map(square).sum()
            }
            Features::Kernel(kernel) => {
                let own = kernel.value(first, first) + kernel.value(other, other);
                // No less than 0 but for rounding.
                (own - 2.0 * kernel.value(first, other)).max(0.0)
            }
        };
        self.scale(row).powi(2) * squares
    }

    /// `X^ X^'` of differences, lower triangle.
    fn kernel_of_differences(&self, ends: &[[u32; 2]]) -> Square {
        let mut square = Square::zeros(ends.len());
        let columns = square.values_mut().par_chunks_mut(ends.len());
        columns.enumerate().for_each_init(
            || vec![0.0; self.rows],
            |products, (number, column)| {
                heed();
                products.fill(0.0);
                match &self.features {
                    Features::Columns(columns) => {
                        let own = columns.difference(ends[number]).into_iter();
                        columns.add_products(own, products, 0);
                    }
                    Features::Kernel(kernel) => {
                        let [first, other] = ends[number].map(|row| kernel.column(row as usize));
                        let pairs = first.iter().zip(other);
                        let products = products.iter_mut().zip(pairs);
                        products.for_each(|(product, (first, other))| *product = first - other);
                    }
                }
                let slots = column.iter_mut().enumerate().skip(number);
                for (row, slot) in slots {
                    let [first, other] = ends[row].map(|row| products[row as usize]);
                    *slot = self.scale(number) * self.scale(row) * (first - other);
                }
            },
        );
        square
    }

    /// `X^ X^' + shift J`, lower triangle, where `J` averages over every query; of differences, where
    /// nothing is centred, without it.
    pub(super) fn kernel_matrix(&self, shift: f64) -> Square {
        if let Some(ends) = &self.ends {
            return self.kernel_of_differences(ends);
        }
        let rows = self.queries().rows();
        let mut square = Square::zeros(rows);
        let parts = self.queries().split_rows_mut(square.values_mut(), rows);
        let parts: Vec<_> = parts.enumerate().collect();
        parts.into_par_iter().for_each(|(query, columns)| {
            self.fill_kernel(query, columns, &(0..rows), shift);
        });
        square
    }

    /// The block of `X^ X^' + shift J` in which `query` meets itself.
    pub(super) fn query_kernel(&self, query: usize, shift: f64) -> Square {
        let range = self.queries().range(query);
        let mut square = Square::zeros(range.len());
        self.fill_kernel(query, square.values_mut(), &range, shift);
        square
    }

    /// The diagonal of that block, without the shift.
    pub(super) fn query_diagonal(&self, query: usize) -> Vec<f64> {
        if let Some(ends) = &self.ends {
            return vec![self.squared_difference(query, ends[query])];
        }
        let columns = self.columns();
        let mut means = self.means();
        self.move_to(query, &mut means);
        let means = means.means;
        let all = means.iter().zip(&columns.counts);
        let all: f64 = all.map(|(mean, count)| count * mean * mean).sum();
        let diagonal = |row: usize| {
            let entries = columns.rows.row(row);
            let change = |(class, value): (usize, f64)| {
                columns.counts[class] * value * (value - 2.0 * means[class])
            };
            // The sum is no less than 0 but for rounding.
            self.scale(row).powi(2) * (all + entries.map(change).sum::<f64>()).max(0.0)
        };
        self.queries().range(query).map(diagonal).collect()
    }

    /// Fills `columns`, one for each row of `query`, with the kernel between these rows and
    /// those of the `window`, as far as they do not come before the query. A window consists of
    /// whole queries.
    fn fill_kernel(&self, query: usize, columns: &mut [f64], window: &Range<usize>, shift: f64) {
        let own = self.queries().range(query);
        let height = window.len();
        let offset = own.start - window.start;
        columns
            .par_chunks_mut(height)
            .zip(own.clone())
            .for_each(|(column, row)| {
                heed();
                let column = &mut column[offset..];
                match &self.features {
                    Features::Kernel(kernel) => {
                        let products = kernel.column(row).iter().skip(own.start).zip(column);
                        products.for_each(|(product, value)| *value += product);
                    }
                    Features::Columns(columns) => {
                        columns.add_products(columns.rows.row(row), column, own.start);
                    }
                }
            });
        let means = mean_column(columns, height);
        columns
            .par_chunks_mut(height)
            .zip(own.clone())
            .for_each(|(column, row)| {
                let column = &mut column[offset..];
                for (value, mean) in column.iter_mut().zip(&means[offset..]) {
                    *value -= mean;
                }
                self.centre_from(query, column);
                let scale = self.scale(row);
                for (value, other) in column.iter_mut().zip(own.start..) {
                    *value *= scale * self.scale(other);
                }
                for value in &mut column[..own.len()] {
                    *value += shift / own.len() as f64;
                }
            });
    }

    /// Centres values of the rows from the first of `query` on, up to the end of another.
    fn centre_from(&self, query: usize, values: &mut [f64]) {
        let mut rest = values;
        for range in self.queries().ranges().skip(query) {
            let Some(own) = rest.split_off_mut(..range.len()) else {
                return;
            };
            let mean = own.iter().sum::<f64>() / own.len() as f64;
            for value in own {
                *value -= mean;
            }
        }
    }

    /// `X^' X^`, lower triangle.
    pub(super) fn covariance(&self) -> Square {
        const EXAMPLES: usize = 512;
        let mut square = Square::zeros(self.columns().candidates.len());
        let mut means = self.means();
        let examples: Vec<usize> = (0..self.queries().rows()).collect();
        for chunk in examples.chunks(EXAMPLES) {
            square.add_products(self.examples(chunk, &mut means).as_ref(), 1.0);
        }
        square
    }

    pub(super) fn means(&self) -> Means {
        Means {
            query: None,
            means: vec![0.0; self.columns().candidates.len()],
        }
    }

    /// Rows of `X^` as the columns of a dense matrix, classes x examples.
    pub(super) fn examples(&self, examples: &[usize], means: &mut Means) -> Mat<f64> {
        let columns = self.columns();
        let roots: Vec<f64> = columns.counts.iter().map(|count| count.sqrt()).collect();
        let mut matrix = Mat::zeros(columns.candidates.len(), examples.len());
        for (&row, mut column) in examples.iter().zip(matrix.col_iter_mut()) {
            if let Some(ends) = &self.ends {
                for (class, value) in columns.difference(ends[row]) {
                    column[class] = value;
                }
            } else {
                self.move_to(self.queries().of_row(row), means);
                for (slot, mean) in column.as_mut().iter_mut().zip(&means.means) {
                    *slot = -mean;
                }
                for (class, value) in columns.rows.row(row) {
                    column[class] += value;
                }
            }
            let scale = self.scale(row);
            for (slot, root) in column.iter_mut().zip(&roots) {
                *slot *= scale * root;
            }
        }
        matrix
    }

    fn move_to(&self, query: usize, means: &mut Means) {
        if means.query == Some(query) {
            return;
        }
        means.means.fill(0.0);
        let range = self.queries().range(query);
        for row in range.clone() {
            for (class, value) in self.columns().rows.row(row) {
                means.means[class] += value;
            }
        }
        for mean in &mut means.means {
            *mean /= range.len() as f64;
        }
        means.query = Some(query);
    }
}

/// Weights of the classes from `first` on, each times the members of its class.
#[multiversion::multiversion(targets = "simd")]
fn weigh<const L: usize>(
    columns: &Columns<'_>,
    first: usize,
    v: &[[f64; L]],
    weights: &mut [[f64; L]],
) {
    for (weights, class) in weights.iter_mut().zip(first..) {
        let column = columns.candidates.column(class);
        let count = columns.counts[class];
        *weights = gather(column.rows, column.values, v).map(|sum| count * sum);
    }
}

/// Predictions for the rows from `first` on, not centred.
#[multiversion::multiversion(targets = "simd")]
fn predict<const L: usize>(
    columns: &Columns<'_>,
    first: usize,
    weights: &[[f64; L]],
    predictions: &mut [[f64; L]],
) {
    for (prediction, row) in predictions.iter_mut().zip(first..) {
        let range = columns.rows.starts[row]..columns.rows.starts[row + 1];
        let values = &columns.rows.values[range.clone()];
        *prediction = gather(&columns.rows.classes[range], values, weights);
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

/// `C' v` of differences between so many `rows`: what is preferred gets a value, the other one loses it.
fn sums<const L: usize>(ends: &[[u32; 2]], v: &[[f64; L]], rows: usize) -> Vec<[f64; L]> {
    let mut sums = vec![[0.0; L]; rows];
    for (ends, value) in ends
        .iter()
        .zip(v)
        .filter(|([first, other], _)| first != other)
    {
        let [first, other] = ends.map(|row| row as usize);
        for lane in 0..L {
            sums[first][lane] += value[lane];
            sums[other][lane] -= value[lane];
        }
    }
    sums
}

fn scale_rows<const L: usize>(rows: &mut [[f64; L]], scales: &[f64]) {
    for (row, scale) in rows.iter_mut().zip(scales) {
        for value in row {
            *value *= scale;
        }
    }
}

/// Takes the mean of each lane off the rows of a query.
#[inline(always)]
pub(super) fn centre_rows<const L: usize>(rows: &mut [[f64; L]]) {
    let mut means = [0.0; L];
    for row in rows.iter() {
        for lane in 0..L {
            means[lane] += row[lane];
        }
    }
    for mean in &mut means {
        *mean /= rows.len() as f64;
    }
    for row in rows {
        for lane in 0..L {
            row[lane] -= means[lane];
        }
    }
}

/// The mean of columns of this height.
fn mean_column(columns: &[f64], height: usize) -> Vec<f64> {
    let mut means = vec![0.0; height];
    for column in columns.chunks(height) {
        for (mean, value) in means.iter_mut().zip(column) {
            *mean += value;
        }
    }
    let count = (columns.len() / height) as f64;
    for mean in &mut means {
        *mean /= count;
    }
    means
}
