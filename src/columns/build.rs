//! From columns to column classes.

use rayon::prelude::*;

use super::gather::{Gathering, SOUGHT};
use super::geometry::{Extent, Geometry};
use super::query_rows::QueryRows;
use super::{CLASSES, ColumnClasses, PIECE, QueryWeight, Scale};
use crate::data::{Dataset, task_ranges};
use crate::error::Result;
use crate::linalg::centring::sparse_moments;
use crate::memory::Memory;

/// Fewest columns in a batch.
const LEAST: usize = if cfg!(test) { 1 << 4 } else { 1 << 15 };

impl ColumnClasses {
    /// Finds the distinct centred columns of `dataset`, in O(nnz + n log n) time. If the work is asked to end
    /// ([`Stop`](crate::stop::Stop)), there are no classes, and a selection on them is empty.
    pub fn new(dataset: &Dataset<'_>) -> Self {
        Self::scaled(dataset, QueryWeight::Uniform, Scale::None)
    }

    /// Finds the distinct centred columns of `dataset` if queries count by `weight`, and `scale` divides the
    /// columns. Each query's part of every column is scaled by the root of its weight. Classes depend on neither.
    pub fn scaled(dataset: &Dataset<'_>, weight: QueryWeight, scale: Scale) -> Self {
        let found = Self::within(dataset, weight, scale, Memory::default());
        found.unwrap_or_else(|_| unreachable!("there is no limit"))
    }

    /// The same as [`scaled`](Self::scaled), if `memory` allows it besides the data.
    pub fn within(
        dataset: &Dataset<'_>,
        weight: QueryWeight,
        scale: Scale,
        memory: Memory,
    ) -> Result<Self> {
        let memory = memory.holding(dataset.memory());
        let mut gathering = Gathering::new(dataset, memory);
        let (columns, left) = (dataset.columns(), memory.left());
        // If memory is short, columns come in batches.
        let most = left.map_or(u64::MAX, |left| left / (4 * SOUGHT));
        let most = usize::try_from(most).map_or(usize::MAX, |most| most.max(LEAST));
        if columns.len() <= most {
            gathering.add(columns)?;
        } else {
            for first in (0..columns.len()).step_by(most) {
                let end = columns.len().min(first + most);
                gathering.add(&columns.some(first..end))?;
            }
        }
        gathering.finish(weight, scale)
    }

    /// These classes, which are unscaled and have uniform weights, under another weight of queries and a scale. The
    /// result equals [`scaled`](Self::scaled), to the bit.
    pub(crate) fn on_scale(&self, weight: QueryWeight, scale: Scale) -> Self {
        debug_assert!(self.scale.is_none() && self.weight == QueryWeight::Uniform);
        let classes = Self {
            weight,
            scale,
            ..self.clone()
        };
        classes.completed()
    }

    /// Divides and weighs the columns, and measures them.
    pub(super) fn completed(mut self) -> Self {
        self.divide();
        self.weigh();
        self.describe();
        self
    }

    /// Divides every column by its divisor.
    fn divide(&mut self) {
        if self.scale.is_none() {
            return;
        }
        let divisor_of = |class: usize| {
            let mut counted = Vec::new();
            for part in self.segments(class) {
                let absent = self.queries.range(part.query).len() - part.column.values.len();
                let entries = part.column.values.iter();
                counted.extend(entries.map(|value| (1, value - part.mean)));
                counted.extend((absent > 0).then_some((absent, -part.mean)));
            }
            self.scale.divisor(&counted, self.queries.rows())
        };
        let classes = (0..self.len()).into_par_iter().with_max_len(CLASSES);
        self.factors.divisors = classes.map(divisor_of).collect();
        let values = self.columns.values.to_mut();
        for (bounds, divisor) in self.columns.starts.windows(2).zip(&self.factors.divisors) {
            for value in &mut values[bounds[0]..bounds[1]] {
                *value /= divisor;
            }
        }
    }

    /// Scales every entry by the root of its query's weight.
    fn weigh(&mut self) {
        if let Some(scales) = self.weight.scales(&self.queries) {
            let entries = self.columns.rows.par_iter();
            let entries = entries.zip(self.columns.values.to_mut());
            entries.for_each(|(&row, value)| {
                *value *= scales[self.query_of_row[row as usize] as usize];
            });
        }
    }

    /// Computes the facts that follow from the columns.
    fn describe(&mut self) {
        let rows = QueryRows::new(&self.queries, &self.query_of_row);
        let mut measures = vec![Extent::default(); self.len()];
        let mut rest = &mut measures[..];
        let places = task_ranges(self.columns.lengths(), PIECE).into_iter();
        let tasks = places.map(|piece| (piece.clone(), rest.split_off_mut(..piece.len())));
        let tasks: Vec<_> = tasks.collect();
        tasks.into_par_iter().for_each(|(piece, measures)| {
            let measures = measures.into_iter().flatten();
            piece
                .zip(measures)
                .for_each(|(class, measure)| *measure = self.measure(&rows, class));
        });
        let touched = measures.iter().map(|measure| measure.queries);
        self.summary.single_query_classes = touched.filter(|&touched| touched == 1).count();
        self.summary.class_nonzeros = self.entries();
        self.geometry = Geometry::of(&measures);
        self.summary.pieces = self.pieces();
        self.summary.unit = self.own_unit();
    }

    /// The size of the centred column, and its queries.
    fn measure(&self, rows: &QueryRows<'_>, class: usize) -> Extent {
        let mut rest = self.column(class);
        let mut measure = Extent {
            // A candidate has entries, since it is not constant.
            first: self.query_of_row[rest.rows[0] as usize],
            ..Extent::default()
        };
        while let Some(&row) = rest.rows.first() {
            let query = rows.around(row as usize);
            let own = rest.take_rows_below(query.end);
            measure.squared_norm += sparse_moments(own.values, query.len()).1;
            measure.queries += 1;
        }
        measure
    }
}
