//! Columns that come some at a time, and the classes that they fall into.
//!
//! Features ascend from one batch to the next, so that the column that comes first represents its class. A
//! class keeps its canonical column; all else of a batch may be dropped when the next one comes.

use std::collections::HashMap;

use rayon::prelude::*;

use super::classes::{Canonicaliser, Digest, Entry, classify};
use super::geometry::Geometry;
use super::members::{Factors, Members, Sign};
use super::{CLASSES, ColumnClasses, QueryWeight, Scale, Summary};
use crate::data::{Columns, Dataset, IndexBase, Queries, cut};
use crate::interrupt::check_interrupt;

/// The classes of the columns so far.
#[derive(Debug)]
pub(crate) struct Gathering {
    queries: Queries,
    query_of_row: Vec<u32>,
    base: IndexBase,
    /// The canonical column of each class, under the feature that came first.
    columns: Columns<'static>,
    signs: Vec<Sign>,
    /// The roundings of the canonical columns that have some, which tell them apart as values do.
    roundings: HashMap<u32, Vec<f64>>,
    /// The hash of the form of each class, and the class.
    hashes: Vec<(u64, u32)>,
    /// The class and the feature of each column that varies in a query.
    members: Vec<(u32, u32)>,
    /// Columns with an entry that is not 0.
    occupied: usize,
}

/// A class that is new, made of a column.
struct Form {
    sign: Sign,
    roundings: Option<Vec<f64>>,
}

impl Gathering {
    /// No column of `data` yet.
    pub(crate) fn new(data: &Dataset<'_>) -> Self {
        let queries = data.queries().clone();
        Self {
            query_of_row: queries.of_rows(),
            queries,
            base: data.index_base(),
            columns: Columns::none(data.rows(), data.width()),
            signs: Vec::new(),
            roundings: HashMap::new(),
            hashes: Vec::new(),
            members: Vec::new(),
            occupied: 0,
        }
    }

    /// Adds columns, whose features are above all those before.
    pub(crate) fn add(&mut self, columns: &Columns<'_>) {
        let occupied = |&column: &usize| columns.column(column).values.iter().any(|&v| v != 0.0);
        self.occupied += (0..columns.len()).into_par_iter().filter(occupied).count();
        let digests = classify(columns, &self.queries, &self.query_of_row);
        let classes: Vec<&[Digest]> = digests.chunk_by(|a, b| a.class == b.class).collect();
        let mut known = self.find(columns, &classes);
        let mut new: Vec<Digest> = Vec::new();
        for (class, found) in classes.iter().zip(&mut known) {
            // Classes are at most as many as columns, which count in 32 bits.
            let next = || u32::try_from(self.signs.len() + new.len()).unwrap_or(u32::MAX);
            let number = found.unwrap_or_else(next);
            if found.is_none() {
                new.push(class[0]);
                self.hashes.push((class[0].hash, number));
            }
            let features = class
                .iter()
                .map(|digest| columns.feature(digest.column as usize));
            self.members
                .extend(features.map(|feature| (number, feature)));
        }
        self.adopt(columns, &new);
    }

    /// The class that each of these classes of `columns` belongs to, if it is known.
    fn find(&mut self, columns: &Columns<'_>, classes: &[&[Digest]]) -> Vec<Option<u32>> {
        let mut known = vec![None; classes.len()];
        if self.hashes.is_empty() {
            return known;
        }
        self.hashes.par_sort_unstable();
        let mut sought: Vec<(Digest, &mut Option<u32>)> = classes
            .iter()
            .map(|class| class[0])
            .zip(&mut known)
            .collect();
        sought.par_sort_unstable_by_key(|(digest, _)| digest.hash);
        let scratch = || Canonicaliser::new(&self.queries, &self.query_of_row);
        let tasks = sought.par_chunks_mut(CLASSES);
        tasks.for_each_init(scratch, |canonicaliser, task| {
            check_interrupt();
            let first = task[0].0.hash;
            let mut hashes = &self.hashes[self.hashes.partition_point(|&(hash, _)| hash < first)..];
            for (digest, slot) in task {
                let lower = hashes.iter().take_while(|&&(hash, _)| hash < digest.hash);
                hashes = &hashes[lower.count()..];
                let equal = hashes.iter().take_while(|&&(hash, _)| hash == digest.hash);
                let mut alike = equal.peekable();
                if alike.peek().is_some() {
                    canonicaliser.canonicalise(columns.column(digest.column as usize));
                    let same =
                        |&&(_, class): &&(u64, u32)| self.is_form(class, &canonicaliser.form);
                    **slot = alike.find(same).map(|&(_, class)| class);
                }
            }
        });
        known
    }

    /// Whether the canonical column of a class has this form.
    fn is_form(&self, class: u32, form: &[Entry]) -> bool {
        let column = self.columns.column(class as usize);
        let rounding = |place: usize| {
            let roundings = self.roundings.get(&class);
            roundings.map_or(0.0, |roundings| roundings[place])
        };
        let same = |(place, entry): (usize, &Entry)| {
            let own = (column.rows[place], column.values[place], rounding(place));
            own == (entry.row, entry.value, entry.rounding)
        };
        column.rows.len() == form.len() && form.iter().enumerate().all(same)
    }

    /// Adds the canonical columns of `new` classes.
    fn adopt(&mut self, columns: &Columns<'_>, new: &[Digest]) {
        let lengths = new.iter().map(|digest| digest.length as usize);
        let starts = self.columns.starts.to_mut();
        let before = starts[starts.len() - 1];
        starts.extend(lengths.clone().scan(before, |end, length| {
            *end += length;
            Some(*end)
        }));
        let entries = starts[starts.len() - 1];
        let feature = |digest: &Digest| columns.feature(digest.column as usize);
        self.columns.features_mut().extend(new.iter().map(feature));
        let (rows, values) = (self.columns.rows.to_mut(), self.columns.values.to_mut());
        rows.resize(entries, 0);
        values.resize(entries, 0.0);
        let places = cut(&mut rows[before..], &mut values[before..], lengths);
        let pairs = new.par_iter().zip(places);
        let tasks = pairs.with_min_len(CLASSES).with_max_len(CLASSES);
        let scratch = || Canonicaliser::new(&self.queries, &self.query_of_row);
        let made = tasks.map_init(scratch, |canonicaliser, (digest, place)| {
            check_interrupt();
            let sign = canonicaliser.canonicalise(columns.column(digest.column as usize));
            let (form, (row_slots, value_slots)) = (&canonicaliser.form, place);
            for ((row, value), entry) in row_slots.iter_mut().zip(value_slots).zip(form) {
                (*row, *value) = (entry.row, entry.value);
            }
            let rounded = form.iter().any(|entry| entry.rounding != 0.0);
            let roundings = || form.iter().map(|entry| entry.rounding).collect();
            Form {
                sign,
                roundings: rounded.then(roundings),
            }
        });
        let forms: Vec<Form> = made.collect();
        for (form, number) in forms.into_iter().zip(self.signs.len()..) {
            self.signs.push(form.sign);
            let class = u32::try_from(number).unwrap_or(u32::MAX);
            self.roundings
                .extend(form.roundings.map(|roundings| (class, roundings)));
        }
    }

    /// The classes, where queries count by `weight`, with columns that are divided by what `scale` says.
    pub(crate) fn finish(mut self, weight: QueryWeight, scale: Scale) -> ColumnClasses {
        self.members.par_sort_unstable();
        let mut members = Members::default();
        for class in self.members.chunk_by(|a, b| a.0 == b.0) {
            members.push(class.iter().map(|&(_, feature)| feature));
        }
        members.shrink();
        self.columns.shrink();
        let width = self.columns.width;
        let summary = Summary {
            columns: width,
            constant_columns: width - self.members.len(),
            empty_columns: width - self.occupied,
            column_classes: members.len(),
            ..Summary::default()
        };
        drop((self.hashes, self.roundings, self.members));
        let classes = ColumnClasses {
            columns: self.columns,
            members,
            factors: Factors::of(self.signs),
            geometry: Geometry::default(),
            queries: self.queries,
            query_of_row: self.query_of_row,
            weight,
            scale,
            base: self.base,
            summary,
        };
        classes.completed()
    }
}
