//! Rows less the mean of their query, or of all rows.
//!
//! `sum_{i<j} (r_i - r_j)^2 = n |P r|^2` over the `n` rows of a query, where `P` centres: squared errors of
//! centred rows are those of all pairs (Pahikkala et al., 2009). Under [`Objective::Global`] all
//! rows are one query, and a ridge parameter for the sum over pairs is `m` times that of the rows.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;

use super::{Comparisons, Labelled, Loss, Parts, check_one_query, constant_kernel, pick, weigh};
use crate::columns::QueryWeight;
use crate::data::{Dataset, LabelScale, Queries, one_group};
use crate::error::Result;
use crate::lambda::Lambda;
use crate::linalg::centring::{centre_offset, centre_rows};
use crate::linalg::eigen::Eigen;
use crate::linalg::factor::Square;
use crate::linalg::kernels::add_scaled;
use crate::metrics::{Convention, Judge, Metric, prediction_tolerance};
use crate::names::Objective;
use crate::ridge::blocks::{LARGEST_BLOCK, QueryBlock};
use crate::ridge::features::{ByRow, ColumnFeatures, Features, Mean};
use crate::stop;

/// The rows of each query, centred and scaled by the root of its weight.
#[derive(Debug)]
pub(crate) struct Centred {
    queries: Queries,
    scales: Option<Vec<f64>>,
    /// Whether the loss is a sum over pairs, whose number depends on the rows left.
    all_pairs: bool,
}

impl Centred {
    pub(crate) fn new(queries: &Queries, weight: QueryWeight) -> Self {
        Self {
            queries: queries.clone(),
            scales: weight.row_scales(queries),
            all_pairs: false,
        }
    }

    /// The rows of `dataset` by query, or in one query if the `objective` orders all pairs.
    pub(crate) fn labelled<'a>(
        dataset: &'a Dataset<'_>,
        objective: Objective,
        weight: QueryWeight,
        scale: LabelScale,
    ) -> Result<Labelled<'a>> {
        let queries = dataset.queries();
        let all_pairs = objective == Objective::Global;
        if all_pairs {
            check_one_query(queries)?;
        }
        let rows = Self {
            all_pairs,
            ..Self::new(queries, weight)
        };
        let mut labels = scale.apply(dataset.labels(), queries).into_owned();
        queries.split_mut(&mut labels).for_each(centre_offset);
        weigh::<1>(rows.scales(), labels.as_chunks_mut().0);
        Ok(Labelled {
            rows: Comparisons::Queries(rows),
            as_given: dataset.labels().into(),
            labels,
        })
    }

    /// Centres values of the rows from the first of `query` on, up to the end of any query.
    fn centre_from(&self, query: usize, values: &mut [f64]) {
        let mut rest = values;
        for range in self.queries.ranges().skip(query) {
            let Some(own) = rest.split_off_mut(..range.len()) else {
                return;
            };
            centre_rows(own.as_chunks_mut::<1>().0);
        }
    }

    fn weight_root(&self, row: usize) -> f64 {
        self.scales.as_ref().map_or(1.0, |scales| scales[row])
    }

    /// The weight of a query.
    fn weight(&self, query: usize) -> f64 {
        self.weight_root(self.queries.range(query).start).powi(2)
    }

    /// Fills `columns`, one for each row of `query`, with the kernel between these rows and the rows of the
    /// `window` from the query on. A window consists of whole queries.
    fn fill_kernel(
        &self,
        features: &Features<'_>,
        query: usize,
        columns: &mut [f64],
        window: &Range<usize>,
        shift: f64,
    ) {
        let own = self.queries.range(query);
        let height = window.len();
        let offset = own.start - window.start;
        let given = columns.par_chunks_mut(height).zip(own.clone());
        given.for_each(|(column, row)| {
            if stop::requested() {
                return;
            }
            features.add_products(row, 1.0, &mut column[offset..], own.start);
        });
        let mut mean = vec![0.0; height];
        for column in columns.chunks(height) {
            add_scaled(&mut mean, 1.0, column);
        }
        for sum in &mut mean {
            *sum /= own.len() as f64;
        }
        let centred = columns.par_chunks_mut(height).zip(own.clone());
        centred.for_each(|(column, row)| {
            let below = &mut column[offset..];
            add_scaled(below, -1.0, &mean[offset..]);
            self.centre_from(query, below);
            let root = self.weight_root(row);
            for (value, other) in below.iter_mut().zip(own.start..) {
                *value *= root * self.weight_root(other);
            }
            for value in &mut below[..own.len()] {
                *value += shift / own.len() as f64;
            }
        });
    }

    /// The diagonal of the block of a query in `X^ X^'`.
    fn diagonal(&self, columns: &ColumnFeatures<'_>, query: usize) -> Vec<f64> {
        let range = self.queries.range(query);
        let means = columns.mean(range.clone());
        let counted = means.iter().zip(&columns.counts);
        let of_means: f64 = counted.map(|(mean, count)| count * mean * mean).sum();
        let diagonal = |row: usize| {
            let change = |(class, value): (usize, f64)| {
                columns.counts[class] * value * (value - 2.0 * means[class])
            };
            // The sum is below 0 only by rounding.
            let square = (of_means + columns.row(row).map(change).sum::<f64>()).max(0.0);
            self.weight_root(row).powi(2) * square
        };
        range.map(diagonal).collect()
    }
}

impl Loss for Centred {
    fn queries(&self) -> &Queries {
        &self.queries
    }

    fn scales(&self) -> Option<&[f64]> {
        self.scales.as_deref()
    }

    fn ridge(&self, lambda: Lambda, out: usize) -> Result<f64> {
        match self.queries.rows() - out {
            _ if !self.all_pairs => Ok(lambda.value()),
            0 => Err(one_group()),
            left => Ok(lambda.value() / left as f64),
        }
    }

    fn centre(&self, values: &mut [f64]) {
        self.centre_from(0, values);
    }

    fn compare<const L: usize>(
        &self,
        product: &mut [[f64; L]],
        fill: impl FnOnce(&mut [[f64; L]]),
    ) {
        fill(product);
        self.queries.split_mut(product).for_each(centre_rows);
        weigh(self.scales(), product);
    }

    /// A centred `v` needs no centring.
    fn spread<'v, const L: usize>(&self, v: &'v [[f64; L]]) -> Cow<'v, [[f64; L]]> {
        let mut weighed = Cow::Borrowed(v);
        if self.scales.is_some() {
            weigh(self.scales(), weighed.to_mut());
        }
        weighed
    }

    fn mean_diagonal(&self, features: &Features<'_>) -> f64 {
        let trace = features.trace(&self.queries, |query| self.weight(query));
        trace / self.queries.rows() as f64
    }

    fn check_kernel(&self, kernel: &Square, mean_diagonal: f64) -> Result<()> {
        let values = (0..kernel.size()).map(|row| kernel.value(row, row));
        let largest = values.fold(0.0, f64::max);
        let rounding = self.queries.largest() as f64 * f64::EPSILON * largest;
        let weights = (0..self.queries.len()).map(|query| self.weight(query));
        if mean_diagonal <= rounding * weights.fold(0.0, f64::max) {
            return Err(constant_kernel());
        }
        Ok(())
    }

    fn kernel_matrix(&self, features: &Features<'_>, shift: f64) -> Square {
        let rows = self.queries.rows();
        let mut square = Square::zeros(rows);
        let parts = self.queries.split_rows_mut(square.values_mut(), rows);
        let parts: Vec<_> = parts.enumerate().collect();
        parts.into_par_iter().for_each(|(query, columns)| {
            self.fill_kernel(features, query, columns, &(0..rows), shift);
        });
        square
    }

    fn block(&self, features: &Features<'_>, query: usize, shift: f64) -> QueryBlock {
        let range = self.queries.range(query);
        let small = (2..=LARGEST_BLOCK).contains(&range.len());
        let decomposed = small.then(|| {
            let mut square = Square::zeros(range.len());
            self.fill_kernel(features, query, square.values_mut(), &range, shift);
            Eigen::new(&square)
        });
        decomposed.flatten().map_or_else(
            || QueryBlock::Diagonal(self.diagonal(features.known(), query)),
            QueryBlock::Decomposed,
        )
    }

    fn fill_row(
        &self,
        columns: &ColumnFeatures<'_>,
        row: usize,
        mean: &mut Mean,
        slots: &mut [f64],
    ) {
        for (class, value) in columns.row(row) {
            slots[class] = value;
        }
        let query = self.queries.of_row(row);
        let kept = mean.take().filter(|(known, _)| *known == query);
        let found = || (query, columns.mean(self.queries.range(query)));
        let (_, by_class) = mean.insert(kept.unwrap_or_else(found));
        for (slot, of_class) in slots.iter_mut().zip(by_class) {
            *slot -= *of_class;
        }
    }

    fn fill_query(&self, columns: &ByRow, query: usize, slots: &mut [f64]) {
        let range = self.queries.range(query);
        let width = columns.columns();
        let (mut mean, share) = (vec![0.0; width], 1.0 / range.len() as f64);
        for (row, of_row) in range.zip(slots.chunks_mut(width)) {
            columns.add_row(row, 1.0, of_row);
            add_scaled(&mut mean, share, of_row);
        }
        for of_row in slots.chunks_mut(width) {
            add_scaled(of_row, -1.0, &mean);
        }
    }

    /// The concordance index, averaged over the queries, or the parts of them, held out together.
    fn concordance(
        &self,
        as_given: &[f64],
        labels: &[f64],
        predictions: &[f64],
        parts: &Parts,
    ) -> Option<f64> {
        let (metric, as_given) = (Metric::CONCORDANCE, pick(as_given, &parts.order));
        let judge = Judge::new(metric, Convention::Standard, as_given, &parts.queries)
            .within(prediction_tolerance(labels));
        judge.score(&pick(predictions, &parts.order)).mean
    }
}
