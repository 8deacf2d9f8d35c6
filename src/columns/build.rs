//! How column classes are made of a data set.

use rayon::prelude::*;

use super::classes::{Canonicaliser, Classes, classify};
use super::geometry::{Geometry, Measure};
use super::members::{Factors, Sign};
use super::{CLASSES, ColumnClasses, QueryWeight, Scale, Summary};
use crate::data::{Columns, Dataset, cut};
use crate::interrupt::check_interrupt;

impl ColumnClasses {
    /// Finds the distinct centred columns of `dataset`, in O(nnz + n log n) time.
    pub fn new(dataset: &Dataset<'_>) -> Self {
        Self::scaled(dataset, QueryWeight::Uniform, Scale::None)
    }

    /// Finds the distinct centred columns of `dataset` where queries count by `weight`, so that a
    /// query's part of every column is scaled by the root of its weight, and with columns that are
    /// divided by what `scale` says. Classes depend on neither.
    pub fn scaled(dataset: &Dataset<'_>, weight: QueryWeight, scale: Scale) -> Self {
        let queries = dataset.queries().clone();
        let query_of_row = queries.of_rows();
        let classes = classify(dataset, &query_of_row);
        let (columns, signs) = canonical_columns(dataset, &query_of_row, &classes);
        let absent = dataset.width() - dataset.stored_columns();
        let mut candidates = Self {
            columns,
            members: classes.members,
            factors: Factors::of(signs),
            geometry: Geometry::default(),
            queries,
            query_of_row,
            weight,
            scale,
            base: dataset.index_base(),
            summary: Summary {
                columns: dataset.width(),
                constant_columns: classes.constant + absent,
                empty_columns: dataset.width() - occupied(dataset),
                column_classes: classes.representatives.len(),
                ..Summary::default()
            },
        };
        candidates.divide();
        candidates.weigh();
        candidates.describe();
        candidates
    }

    /// Divides every column by what the scale says.
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

    /// Fills in what follows from the columns.
    fn describe(&mut self) {
        let candidates = (0..self.len()).into_par_iter().with_max_len(CLASSES);
        let measures: Vec<Measure> = candidates.map(|class| self.measure(class)).collect();
        let touched = measures.iter().map(|measure| measure.queries);
        self.summary.pieces = touched.clone().filter(|&touched| touched > 1).sum();
        self.summary.single_query_classes = touched.filter(|&touched| touched == 1).count();
        self.summary.nonzeros = self.columns.rows.len();
        self.geometry = Geometry::of(&measures);
        self.summary.unit = self.unit_of(self.rounded_norms());
    }

    /// The size of the centred column, and the queries that it touches.
    fn measure(&self, class: usize) -> Measure {
        let mut measure = Measure {
            // A candidate has entries, or it would be constant.
            first: self.query_of_row[self.column(class).rows[0] as usize],
            ..Measure::default()
        };
        for segment in self.segments(class) {
            measure.squared_norm += segment.squared_norm;
            measure.queries += 1;
        }
        measure
    }
}

/// Stored columns with a non-zero entry.
fn occupied(dataset: &Dataset<'_>) -> usize {
    let has_entry = |column: usize| dataset.column(column).values.iter().any(|&v| v != 0.0);
    (0..dataset.stored_columns())
        .filter(|&column| has_entry(column))
        .count()
}

/// The canonical columns of the representatives, and the sign of each.
fn canonical_columns(
    dataset: &Dataset<'_>,
    query_of_row: &[u32],
    classes: &Classes,
) -> (Columns<'static>, Vec<Sign>) {
    let mut starts = vec![0];
    let lengths = classes.lengths.iter().map(|&length| length as usize);
    starts.extend(lengths.clone().scan(0, |end, length| {
        *end += length;
        Some(*end)
    }));
    let entries = lengths.clone().sum();
    let (mut rows, mut values) = (vec![0; entries], vec![0.0; entries]);
    let slots = cut(&mut rows, &mut values, lengths);
    let pairs = classes.representatives.par_iter().zip(slots);
    let scratch = || Canonicaliser::new(dataset.queries(), query_of_row);
    let tasks = pairs.with_min_len(CLASSES).with_max_len(CLASSES);
    let filled = tasks.map_init(scratch, |canonicaliser, (&column, slots_of_column)| {
        check_interrupt();
        let sign = canonicaliser.canonicalise(dataset.column(column as usize));
        let (row_slots, value_slots) = slots_of_column;
        let places = row_slots.iter_mut().zip(value_slots);
        for ((row, value), entry) in places.zip(&canonicaliser.form) {
            (*row, *value) = (entry.row, entry.value);
        }
        sign
    });
    let signs = filled.collect();
    let feature = |&position: &u32| dataset.feature(position as usize);
    let features = classes.representatives.iter().map(feature);
    let columns = Columns {
        height: dataset.rows(),
        width: dataset.width(),
        starts: starts.into(),
        rows: rows.into(),
        values: values.into(),
        features: Some(features.collect()),
    };
    (columns, signs)
}
