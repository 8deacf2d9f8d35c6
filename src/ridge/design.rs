//! The design matrix of the rows that the loss compares, never formed: `X^ = B X`, where `L = B' B` is
//! the row Laplacian of the loss.
//!
//! A row of `B` takes the mean of its query off a row and weighs it, or takes a row off another one
//! that is preferred to it ([`Comparisons`]).
//!
//! One column for each class of equal ones: a class of `k` members acts like one column times
//! `sqrt(k)`, and every member gets the weight of the class, up to sign. A *total* is `k` times that
//! weight. Columns are in the canonical form of [`ColumnClasses`], which differs from the data by a
//! constant in each query: few entries, and no common offset that would cost digits. Centring is
//! implicit throughout: products with vectors that are centred need none, and results are centred
//! after.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;
use sprs::CsMatI;

use super::error::TrainError;
use super::factor::{Panel, Square};
use super::preferences::Preferences;
use crate::columns::{ColumnClasses, QueryWeight};
use crate::data::Queries;
use crate::interrupt::check_interrupt;
use crate::linalg::centring::{centre_offset, centre_rows};
use crate::linalg::kernels::add_scaled;

/// Columns whose products one task computes.
const COLUMNS: usize = 1024;

/// Rows whose products one task computes.
const ROWS: usize = 256;

/// `B = D C`, where `C` centres every query or takes differences of two rows, and `D` scales what it
/// makes.
#[derive(Debug)]
pub(super) struct Comparisons {
    /// Rows of `B` that belong together: queries, or preferences, each of them alone.
    pub(super) queries: Queries,
    /// The diagonal of `D`, unless it is all 1.
    scales: Option<Vec<f64>>,
    /// The rows of the data that each preference compares: the preferred one first.
    pub(super) ends: Option<Vec<[u32; 2]>>,
    /// Rows of the data.
    rows: usize,
}

impl Comparisons {
    /// Compares the rows of each query.
    pub(super) fn of_queries(queries: &Queries, weight: QueryWeight) -> Self {
        Self {
            queries: queries.clone(),
            scales: weight.row_scales(queries),
            ends: None,
            rows: queries.rows(),
        }
    }

    /// # Errors
    /// [`TrainError::Data`] for more preferences than data may have rows.
    pub(super) fn of_preferences(preferences: &Preferences) -> Result<Self, TrainError> {
        let ends = preferences.iter().map(|one| [one.preferred, one.other]);
        let scales = preferences.iter().map(|one| one.weight.sqrt());
        Ok(Self {
            queries: Queries::from_sizes(&vec![1; preferences.len()])?,
            scales: Some(scales.collect()),
            ends: Some(ends.collect()),
            rows: preferences.rows(),
        })
    }

    /// The scale of a row.
    pub(super) fn scale(&self, row: usize) -> f64 {
        self.scales.as_ref().map_or(1.0, |scales| scales[row])
    }

    /// Takes the mean of its query off every value, where rows are centred.
    pub(super) fn centre(&self, values: &mut [f64]) {
        if self.ends.is_none() {
            self.centre_from(0, values);
        }
    }

    /// Centres labels, which may have a large offset in common.
    pub(super) fn centre_labels(&self, labels: &mut [f64]) {
        if self.ends.is_none() {
            self.queries.split_mut(labels).for_each(centre_offset);
        }
    }

    /// Centres values of the rows from the first of `query` on, up to the end of another.
    fn centre_from(&self, query: usize, values: &mut [f64]) {
        let mut rest = values;
        for range in self.queries.ranges().skip(query) {
            let Some(own) = rest.split_off_mut(..range.len()) else {
                return;
            };
            centre_rows(own.as_chunks_mut::<1>().0);
        }
    }

    /// Multiplies by `D`.
    pub(super) fn weigh(&self, values: &mut [f64]) {
        self.weigh_lanes(values.as_chunks_mut::<1>().0);
    }

    fn weigh_lanes<const L: usize>(&self, rows: &mut [[f64; L]]) {
        for (row, scale) in rows.iter_mut().zip(self.scales.iter().flatten()) {
            for value in row {
                *value *= scale;
            }
        }
    }

    /// `B v` for the values `v` of the rows of the data, which `fill` writes.
    fn compare<const L: usize>(
        &self,
        product: &mut [[f64; L]],
        fill: impl FnOnce(&mut [[f64; L]]),
    ) {
        if let Some(ends) = &self.ends {
            let mut values = vec![[0.0; L]; self.rows];
            fill(&mut values);
            for (product, ends) in product.iter_mut().zip(ends) {
                let [first, other] = ends.map(|row| &values[row as usize]);
                *product = std::array::from_fn(|lane| first[lane] - other[lane]);
            }
        } else {
            fill(product);
            self.queries.split_mut(product).for_each(centre_rows);
        }
        self.weigh_lanes(product);
    }

    /// `B' v` for a `v` that is centred. What is preferred gets a value, the other row loses it.
    fn spread<'v, const L: usize>(&self, v: &'v [[f64; L]]) -> Cow<'v, [[f64; L]]> {
        let mut weighed = Cow::Borrowed(v);
        if self.scales.is_some() {
            self.weigh_lanes(weighed.to_mut());
        }
        let Some(ends) = &self.ends else {
            return weighed;
        };
        let mut sums = vec![[0.0; L]; self.rows];
        let differences = ends.iter().zip(weighed.iter());
        for (ends, value) in differences.filter(|([first, other], _)| first != other) {
            let [first, other] = ends.map(|row| row as usize);
            for lane in 0..L {
                sums[first][lane] += value[lane];
                sums[other][lane] -= value[lane];
            }
        }
        Cow::Owned(sums)
    }
}

/// Least squared norm of the largest column that leaves products their digits.
pub(super) const LEAST_SQUARES: f64 = 1e-280;

/// Where `X X'` comes from.
#[derive(Debug)]
pub(super) enum Features<'a> {
    Columns(Box<Columns<'a>>),
    /// `X X'` itself, of features that nobody knows: a kernel of the rows, both triangles.
    Kernel(Square),
}

/// The columns, and what they count.
#[derive(Debug)]
pub(super) struct Columns<'a> {
    pub(super) classes: Cow<'a, ColumnClasses>,
    /// `k`: members of every class.
    counts: Vec<f64>,
    /// The entries of the classes by row.
    rows: CsMatI<f64, u32, usize>,
}

/// The mean over the rows of a query, kept while the query stays.
type Mean = Option<(usize, Vec<f64>)>;

impl<'a> Columns<'a> {
    fn new(classes: Cow<'a, ColumnClasses>) -> Self {
        let members = |class: usize| classes.class(class).len() as f64;
        Self {
            counts: (0..classes.len()).map(members).collect(),
            rows: classes.matrix().to_other_storage(),
            classes,
        }
    }

    /// The entries of a row: classes, ascending, and values.
    fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> {
        let (classes, values) = entries_of(&self.rows, row);
        let classes = classes.iter().map(|&class| class as usize);
        classes.zip(values.iter().copied())
    }

    /// Adds `factor` times the products of `row` with the rows from `first` on, as many as `column` is
    /// long.
    fn add_products(&self, row: usize, factor: f64, column: &mut [f64], first: usize) {
        let end = first + column.len();
        for (class, value) in self.row(row) {
            let factor = factor * value * self.counts[class];
            let other = self.classes.column(class);
            let start = other.rows.partition_point(|&row| (row as usize) < first);
            let entries = other.rows[start..].iter().zip(&other.values[start..]);
            for (&row, value) in entries.take_while(|(row, _)| (**row as usize) < end) {
                column[row as usize - first] += factor * value;
            }
        }
    }

    fn mean(&self, rows: Range<usize>) -> Vec<f64> {
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
    pub(super) fn of_classes(classes: Cow<'a, ColumnClasses>) -> Self {
        Self::Columns(Box::new(Columns::new(classes)))
    }

    /// Adds `factor` times the products of `row` with the rows from `first` on, as many as `column` is
    /// long.
    fn add_products(&self, row: usize, factor: f64, column: &mut [f64], first: usize) {
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
    fn squared_difference(&self, [first, other]: [usize; 2]) -> f64 {
        match self {
            Self::Columns(columns) => {
                let rows = [first, other].map(|row| columns.rows.outer_view(row));
                let [Some(first), Some(other)] = rows else {
                    return 0.0;
                };
                let difference = &first - &other;
                let squares = difference.iter();
                squares.map(|(at, v)| columns.counts[at] * v * v).sum()
            }
            Self::Kernel(kernel) => {
                let own = kernel.value(first, first) + kernel.value(other, other);
                // No less than 0 but for rounding.
                (own - 2.0 * kernel.value(first, other)).max(0.0)
            }
        }
    }

    /// The sum over the rows of each query of the squared norms of what is centred, each times what
    /// the query counts.
    fn trace(&self, queries: &Queries, weight: impl Fn(usize) -> f64) -> f64 {
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

/// `X^ = B X diag(sqrt(k))`, rows x classes.
#[derive(Debug)]
pub(super) struct Design<'a> {
    pub(super) rows: Comparisons,
    pub(super) features: Features<'a>,
}

impl Design<'_> {
    /// The columns, unless only their products are known.
    pub(super) fn columns(&self) -> Option<&Columns<'_>> {
        match &self.features {
            Features::Columns(columns) => Some(columns),
            Features::Kernel(_) => None,
        }
    }

    fn known(&self) -> &Columns<'_> {
        let columns = self.columns();
        columns.expect("a kernel has the dual solver alone")
    }

    pub(super) fn queries(&self) -> &Queries {
        &self.rows.queries
    }

    /// Column classes, as far as they are known.
    pub(super) fn classes(&self) -> usize {
        self.columns().map_or(0, |columns| columns.counts.len())
    }

    /// `B' a`: coefficients of the rows of the data, from dual ones, which are centred.
    pub(super) fn of_data(&self, coefficients: &[f64]) -> Vec<f64> {
        let spread = self.rows.spread::<1>(coefficients.as_chunks().0);
        spread.as_flattened().to_vec()
    }

    /// The totals of the model with these dual coefficients, which are centred: `k x . B' a` for each
    /// canonical column `x`; none if the columns are not known.
    pub(super) fn totals(&self, coefficients: &[f64]) -> Vec<f64> {
        let mut totals = vec![[0.0]; self.classes()];
        if let Some(columns) = self.columns() {
            let spread = self.rows.spread(coefficients.as_chunks().0);
            columns.add_up::<1>(&spread, &mut totals);
        }
        totals.concat()
    }

    /// `X^' y` for labels that are compared like the rows.
    pub(super) fn moments(&self, labels: &[f64]) -> Vec<f64> {
        let totals = self.totals(labels);
        let pairs = totals.iter().zip(&self.known().counts);
        pairs.map(|(total, count)| total / count.sqrt()).collect()
    }

    /// The totals from the unknowns of the primal.
    pub(super) fn totals_of(&self, unknowns: &[f64]) -> Vec<f64> {
        let pairs = unknowns.iter().zip(&self.known().counts);
        pairs
            .map(|(unknown, count)| unknown * count.sqrt())
            .collect()
    }

    /// The predictions of a model with these totals for the rows of `X^`.
    pub(super) fn predictions(&self, totals: &[f64]) -> Vec<f64> {
        let mut predictions = vec![[0.0]; self.queries().rows()];
        self.rows.compare(&mut predictions, |rows| {
            self.known().predict::<1>(totals.as_chunks().0, rows);
        });
        predictions.concat()
    }

    /// `X^ X^' v` for several `v` that are centred, a lane each. `totals` has a row for each class
    /// and is overwritten.
    ///
    /// `O(nnz L)` time.
    pub(super) fn kernel<const L: usize>(
        &self,
        v: &[[f64; L]],
        totals: &mut [[f64; L]],
        product: &mut [[f64; L]],
    ) {
        self.known().add_up(&self.rows.spread(v), totals);
        let predict = |rows: &mut [[f64; L]]| self.known().predict(totals, rows);
        self.rows.compare(product, predict);
    }

    /// The squared norms of the columns of `X^`, before they are centred.
    pub(super) fn squared_sizes(&self) -> Vec<f64> {
        let columns = self.known();
        let size = |(class, count): (usize, &f64)| {
            let values = columns.classes.column(class).values;
            count * values.iter().map(|value| value * value).sum::<f64>()
        };
        columns.counts.iter().enumerate().map(size).collect()
    }

    /// `H' v` for some columns `H` of `X^` and several `v` that are centred, a lane each.
    pub(super) fn products<const L: usize>(
        &self,
        classes: &[usize],
        v: &[[f64; L]],
    ) -> Vec<[f64; L]> {
        let (columns, spread) = (self.known(), self.rows.spread(v));
        let product = |&class: &usize| {
            let mut total = [[0.0; L]];
            add_up(columns, class, &spread, &mut total);
            total[0].map(|total| total / columns.counts[class].sqrt())
        };
        classes.par_iter().with_max_len(1).map(product).collect()
    }

    /// `H c` for some columns `H` of `X^`. `totals` has a row for each class and is overwritten.
    pub(super) fn combination<const L: usize>(
        &self,
        classes: &[usize],
        coefficients: &[[f64; L]],
        totals: &mut [[f64; L]],
        combination: &mut [[f64; L]],
    ) {
        let columns = self.known();
        totals.fill([0.0; L]);
        for (&class, coefficient) in classes.iter().zip(coefficients) {
            let root = columns.counts[class].sqrt();
            totals[class] = coefficient.map(|value| root * value);
        }
        let predict = |rows: &mut [[f64; L]]| columns.predict(totals, rows);
        self.rows.compare(combination, predict);
    }

    /// Rows of `X^`, those of `query`, side by side: of the classes that have a place below `width`.
    pub(super) fn fill_examples(
        &self,
        query: usize,
        places: &[u32],
        width: usize,
        slots: &mut [f64],
    ) {
        let columns = self.known();
        let mut mean = vec![0.0; width];
        let range = self.queries().range(query);
        let share = 1.0 / range.len() as f64;
        for (row, slots) in range.clone().zip(slots.chunks_mut(width)) {
            let ends = self.rows.ends.as_ref().map(|ends| ends[row]);
            let (first, other) = match ends {
                Some([first, other]) => (first as usize, Some(other as usize)),
                None => (row, None),
            };
            let mut add = |row: usize, sign: f64| {
                let placed = columns
                    .row(row)
                    .filter(|(class, _)| places[*class] != u32::MAX);
                for (class, value) in placed {
                    slots[places[class] as usize] += sign * columns.counts[class].sqrt() * value;
                }
            };
            add(first, 1.0);
            if let Some(other) = other {
                add(other, -1.0);
            } else {
                add_scaled(&mut mean, share, slots);
            }
        }
        for (row, slots) in range.zip(slots.chunks_mut(width)) {
            let scale = self.rows.scale(row);
            for (slot, mean) in slots.iter_mut().zip(&mean) {
                *slot = scale * (*slot - mean);
            }
        }
    }

    /// Mean of the diagonal of `X^ X^'`.
    pub(super) fn mean_diagonal(&self) -> f64 {
        let rows = self.queries().rows();
        let trace: f64 = if self.rows.ends.is_some() {
            (0..rows).map(|row| self.squared_norm(row)).sum()
        } else {
            let first = |query: usize| self.queries().range(query).start;
            let weight = |query: usize| self.rows.scale(first(query)).powi(2);
            self.features.trace(self.queries(), weight)
        };
        trace / rows as f64
    }

    /// Refuses columns whose products vanish, and a kernel by which rows that are compared differ in
    /// rounding alone, for the mean diagonal that the centred kernel has.
    pub(super) fn check_size(&self, mean_diagonal: f64) -> Result<(), TrainError> {
        match &self.features {
            Features::Columns(columns) => {
                let squares = columns.classes.largest_squared_norm();
                if squares < LEAST_SQUARES {
                    return Err(TrainError::SmallValues { squares });
                }
            }
            Features::Kernel(kernel) if self.rows.ends.is_none() => {
                let rows = 0..kernel.size();
                let largest = rows.map(|row| kernel.value(row, row)).fold(0.0, f64::max);
                let rounding = self.queries().largest() as f64 * f64::EPSILON * largest;
                let weight = |query: usize| self.rows.scale(self.queries().range(query).start);
                let weights = (0..self.queries().len()).map(weight);
                let heaviest = weights.fold(0.0, f64::max).powi(2);
                if mean_diagonal <= rounding * heaviest {
                    return Err(TrainError::ConstantKernel);
                }
            }
            Features::Kernel(_) => {}
        }
        Ok(())
    }

    /// The squared norm of the difference in `row`.
    fn squared_norm(&self, row: usize) -> f64 {
        let ends = self.rows.ends.as_ref().map_or([0, 0], |ends| ends[row]);
        let square = self
            .features
            .squared_difference(ends.map(|row| row as usize));
        self.rows.scale(row).powi(2) * square
    }

    /// `X^ X^' + shift J`, lower triangle, where `J` averages over every query; of differences, where
    /// nothing is centred, without it.
    pub(super) fn kernel_matrix(&self, shift: f64) -> Square {
        let rows = self.queries().rows();
        let mut square = Square::zeros(rows);
        let parts = self.queries().split_rows_mut(square.values_mut(), rows);
        let parts: Vec<_> = parts.enumerate().collect();
        parts
            .into_par_iter()
            .for_each(|(query, columns)| match &self.rows.ends {
                Some(ends) => self.fill_differences(ends, query, columns),
                None => self.fill_kernel(query, columns, &(0..rows), shift),
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
        if self.rows.ends.is_some() {
            return vec![self.squared_norm(query)];
        }
        let (columns, range) = (self.known(), self.queries().range(query));
        let mean = columns.mean(range.clone());
        let all = mean.iter().zip(&columns.counts);
        let all: f64 = all.map(|(mean, count)| count * mean * mean).sum();
        let diagonal = |row: usize| {
            let change = |(class, value): (usize, f64)| {
                columns.counts[class] * value * (value - 2.0 * mean[class])
            };
            // The sum is no less than 0 but for rounding.
            let square = (all + columns.row(row).map(change).sum::<f64>()).max(0.0);
            self.rows.scale(row).powi(2) * square
        };
        range.map(diagonal).collect()
    }

    /// Fills the `column` of a difference with its products with itself and the later ones.
    fn fill_differences(&self, ends: &[[u32; 2]], number: usize, column: &mut [f64]) {
        check_interrupt();
        let mut products = vec![0.0; self.rows.rows];
        for (row, sign) in ends[number].into_iter().zip([1.0, -1.0]) {
            let products = &mut products;
            self.features.add_products(row as usize, sign, products, 0);
        }
        let scale = self.rows.scale(number);
        for (row, slot) in column.iter_mut().enumerate().skip(number) {
            let [first, other] = ends[row].map(|row| products[row as usize]);
            *slot = scale * self.rows.scale(row) * (first - other);
        }
    }

    /// Fills `columns`, one for each row of `query`, with the kernel between these rows and
    /// those of the `window`, as far as they do not come before the query. A window consists of
    /// whole queries.
    fn fill_kernel(&self, query: usize, columns: &mut [f64], window: &Range<usize>, shift: f64) {
        let own = self.queries().range(query);
        let height = window.len();
        let offset = own.start - window.start;
        let with_row = columns.par_chunks_mut(height).zip(own.clone());
        with_row.for_each(|(column, row)| {
            check_interrupt();
            let column = &mut column[offset..];
            self.features.add_products(row, 1.0, column, own.start);
        });
        let mut mean = vec![0.0; height];
        for column in columns.chunks(height) {
            add_scaled(&mut mean, 1.0, column);
        }
        for sum in &mut mean {
            *sum /= own.len() as f64;
        }
        let with_row = columns.par_chunks_mut(height).zip(own.clone());
        with_row.for_each(|(column, row)| {
            let column = &mut column[offset..];
            for (value, mean) in column.iter_mut().zip(&mean[offset..]) {
                *value -= mean;
            }
            self.rows.centre_from(query, column);
            let scale = self.rows.scale(row);
            for (value, other) in column.iter_mut().zip(own.start..) {
                *value *= scale * self.rows.scale(other);
            }
            for value in &mut column[..own.len()] {
                *value += shift / own.len() as f64;
            }
        });
    }

    /// `X^' X^`, lower triangle.
    pub(super) fn covariance(&self) -> Square {
        const EXAMPLES: usize = 512;
        let mut square = Square::zeros(self.classes());
        let mut mean = None;
        let examples: Vec<usize> = (0..self.queries().rows()).collect();
        for chunk in examples.chunks(EXAMPLES) {
            square.add_products(self.some_examples(chunk, &mut mean).matrix(), 1.0);
        }
        square
    }

    /// Rows of `X^` as the columns of a dense matrix, classes x examples.
    pub(super) fn examples(&self, examples: &[usize]) -> Panel {
        self.some_examples(examples, &mut None)
    }

    fn some_examples(&self, examples: &[usize], mean: &mut Mean) -> Panel {
        let columns = self.known();
        let roots: Vec<f64> = columns.counts.iter().map(|count| count.sqrt()).collect();
        let mut panel = Panel::zeros(roots.len(), examples.len());
        for (&row, slots) in examples.iter().zip(panel.columns_mut()) {
            let ends = self.rows.ends.as_ref().map(|ends| ends[row]);
            let [first, other] = ends.map_or([row, row], |ends| ends.map(|row| row as usize));
            for (class, value) in columns.row(first) {
                slots[class] = value;
            }
            if ends.is_some() {
                for (class, value) in columns.row(other) {
                    slots[class] -= value;
                }
            } else {
                let query = self.queries().of_row(row);
                let kept = mean.take().filter(|(kept, _)| *kept == query);
                let found = || (query, columns.mean(self.queries().range(query)));
                let (_, mean) = mean.insert(kept.unwrap_or_else(found));
                for (slot, mean) in slots.iter_mut().zip(mean) {
                    *slot -= *mean;
                }
            }
            let scale = self.rows.scale(row);
            for (slot, root) in slots.iter_mut().zip(&roots) {
                *slot *= scale * root;
            }
        }
        panel
    }
}

impl Columns<'_> {
    /// The totals `k x . v` of the classes, of values `v` for each row of the data.
    fn add_up<const L: usize>(&self, v: &[[f64; L]], totals: &mut [[f64; L]]) {
        // The first columns are the longest: a task for each chunk.
        let tasks = totals.par_chunks_mut(COLUMNS).with_max_len(1).enumerate();
        tasks.for_each(|(task, totals)| {
            check_interrupt();
            add_up(self, task * COLUMNS, v, totals);
        });
    }

    /// Predictions for the rows of the data, not centred.
    fn predict<const L: usize>(&self, totals: &[[f64; L]], rows: &mut [[f64; L]]) {
        let tasks = rows.par_chunks_mut(ROWS).enumerate();
        tasks.for_each(|(task, rows)| {
            check_interrupt();
            predict(self, task * ROWS, totals, rows);
        });
    }
}

#[multiversion::multiversion(targets = "simd")]
fn add_up<const L: usize>(
    columns: &Columns<'_>,
    first: usize,
    v: &[[f64; L]],
    totals: &mut [[f64; L]],
) {
    for (totals, class) in totals.iter_mut().zip(first..) {
        let column = columns.classes.column(class);
        let count = columns.counts[class];
        *totals = gather(column.rows, column.values, v).map(|sum| count * sum);
    }
}

#[multiversion::multiversion(targets = "simd")]
fn predict<const L: usize>(
    columns: &Columns<'_>,
    first: usize,
    totals: &[[f64; L]],
    predictions: &mut [[f64; L]],
) {
    for (prediction, row) in predictions.iter_mut().zip(first..) {
        let (classes, values) = entries_of(&columns.rows, row);
        *prediction = gather(classes, values, totals);
    }
}

/// Places and values in a row.
pub(super) fn entries_of(rows: &CsMatI<f64, u32, usize>, row: usize) -> (&[u32], &[f64]) {
    let range = rows.indptr().outer_inds_sz(row);
    (&rows.indices()[range.clone()], &rows.data()[range])
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
