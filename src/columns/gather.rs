//! Classes of columns that come in batches.
//!
//! Features ascend from batch to batch, so the first column represents its class. A class keeps its canonical
//! column. The rest of a batch may be dropped before the next one.

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::classes::{Canonicaliser, Classified, Digest, classify};
use super::geometry::Geometry;
use super::members::{Factors, Members, Sign};
use super::query_rows::{QueryRows, QueryStarts};
use super::{CLASSES, ColumnClasses, PIECE, QueryWeight, Scale, Summary};
use crate::data::{Column, Columns, Dataset, IndexBase, Queries, task_ranges};
use crate::error::Result;
use crate::memory::Memory;
use crate::peers::Alone;
use crate::stop;

/// Tasks a thread, of new classes that briefly exist twice in memory.
const TASKS: usize = 4;

/// Entries of such classes if memory is short.
const LEAST: usize = 1 << 13;

/// Bytes that a column takes while its class is sought: digests, their groups, and the found classes.
pub(super) const SOUGHT: u64 = 96;

/// Bytes of a column in the growing list of members.
const MEMBER: u64 = 8;

/// Bytes of a class besides its column: the end of its list, its divisor and its measures. The lists of hashes and
/// columns are freed by then.
const MEASURED: u64 = 4 + 8 + 24 + 12 - 16;

/// Bytes of a new class's entry: its places in two columns, its rounding, and the same again in the form.
const ADOPTED: u64 = 2 * 12 + 8 + 20;

/// Marks no column.
const NONE: u32 = u32::MAX;

/// The classes of the columns so far.
#[derive(Debug)]
pub(crate) struct Gathering {
    queries: Queries,
    query_of_row: Vec<u32>,
    starts: QueryStarts,
    base: IndexBase,
    /// The canonical column of each class, under its first feature.
    columns: Columns<'static>,
    signs: Vec<Sign>,
    /// The largest absolute value of the first column of each class.
    largest: Vec<f64>,
    /// The roundings of canonical columns, if they have any. They distinguish columns as values do.
    roundings: HashMap<u32, Vec<f64>>,
    /// The form's hash and the class, for each class, by ascending hash.
    hashes: Vec<(u64, u32)>,
    /// The class and the feature of each column that varies in a query, by ascending feature.
    members: Vec<(u32, u32)>,
    /// The features whose column mirrors the first of their class.
    mirrored: Vec<u32>,
    /// Number of columns with an entry other than 0.
    occupied: usize,
    /// Stored entries of all columns.
    nonzeros: usize,
    /// The memory limit, which counts everything except this as held.
    memory: Memory,
}

/// New classes.
struct Forms {
    columns: Columns<'static>,
    signs: Vec<Sign>,
    largest: Vec<f64>,
    /// Roundings of classes that have any, counted from the first of these classes.
    roundings: Vec<(u32, Vec<f64>)>,
}

impl Gathering {
    /// No columns yet of `data`, which `memory` counts as held.
    pub(crate) fn new(data: &Dataset<'_>, memory: Memory) -> Self {
        let queries = data.queries().clone();
        Self {
            query_of_row: queries.of_rows(),
            starts: QueryStarts::new(&queries),
            queries,
            base: data.index_base(),
            columns: Columns::none(data.rows(), data.width()),
            signs: Vec::new(),
            largest: Vec::new(),
            roundings: HashMap::new(),
            hashes: Vec::new(),
            members: Vec::new(),
            mirrored: Vec::new(),
            occupied: 0,
            nonzeros: 0,
            memory,
        }
    }

    /// Bytes held.
    fn held(&self) -> u64 {
        let roundings =
            self.roundings.values().map(Vec::len).sum::<usize>() + 8 * self.roundings.len();
        let lists = 16 * self.hashes.len() + 8 * self.members.len() + 17 * self.signs.len();
        let lists = lists + 4 * self.mirrored.len();
        (self.columns.memory() + 8 * roundings + lists + 4 * self.query_of_row.len()) as u64
    }

    /// Refuses to take `bytes` more than the memory allows.
    fn check(&self, bytes: u64) -> Result<()> {
        let memory = self.memory.holding(self.held());
        let what = "the classes of columns need";
        memory.require(what, bytes, "allow more memory").map(drop)
    }

    /// Adds columns, with features above all earlier ones. Refuses columns beyond the memory.
    pub(crate) fn add(&mut self, columns: &Columns<'_>) -> Result<()> {
        self.check(SOUGHT * columns.len() as u64)?;
        // The memory of the search is freed before the new classes take any.
        let new = self.find_classes(columns);
        self.adopt(columns, &new)
    }

    /// Finds the classes of columns. Returns the first columns of new classes.
    fn find_classes(&mut self, columns: &Columns<'_>) -> Vec<u32> {
        let found = classify(columns, &self.starts, || self.canonicaliser());
        self.occupied += found.occupied;
        self.nonzeros += columns.values.len();
        let firsts = found.digests.iter();
        let firsts: Vec<Digest> = firsts
            .filter(|digest| digest.class == digest.column)
            .copied()
            .collect();
        let known = self.find(columns, &firsts);
        let unknown = firsts
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none());
        let unknown: Vec<Digest> = unknown.map(|(digest, _)| *digest).collect();
        let mut new: Vec<u32> = unknown.iter().map(|digest| digest.column).collect();
        new.sort_unstable();
        // For the first column of each class here, the class, and the sign against the first column of all.
        let mut classes: Vec<(u32, Sign)> = vec![(0, 1); columns.len()];
        for (digest, known) in firsts.iter().zip(known) {
            if let Some(class) = known {
                classes[digest.column as usize] = class;
            }
        }
        // Classes fit in 32 bits, like columns.
        let next = u32::try_from(self.signs.len()).unwrap_or(u32::MAX);
        for (&column, number) in new.iter().zip(next..) {
            classes[column as usize].0 = number;
        }
        let number = |digest: &Digest| (digest.hash, classes[digest.column as usize].0);
        let hashes: Vec<(u64, u32)> = unknown.iter().map(number).collect();
        merge(&mut self.hashes, &hashes);
        self.add_members(columns, found, &classes);
        new
    }

    /// Adds columns to their classes. `classes` has the numbers and signs for the first columns of classes.
    fn add_members(&mut self, columns: &Columns<'_>, found: Classified, classes: &[(u32, Sign)]) {
        let mut firsts = vec![(NONE, 1); columns.len()];
        for digest in found.digests {
            firsts[digest.column as usize].0 = digest.class;
        }
        for column in found.mirrored {
            firsts[column as usize].1 = -1;
        }
        for (position, (first, sign)) in firsts.into_iter().enumerate() {
            let Some(&(class, of_first)) = classes.get(first as usize) else {
                continue;
            };
            let feature = columns.feature(position);
            self.members.push((class, feature));
            self.mirrored.extend((sign != of_first).then_some(feature));
        }
    }

    fn canonicaliser(&self) -> Canonicaliser<'_> {
        let (queries, query_of_row) = (&self.queries, &self.query_of_row);
        Canonicaliser::over(QueryRows::with(queries, query_of_row, &self.starts))
    }

    /// The known class of each first column, which come by hash, and the sign against the first column of all.
    fn find(&self, columns: &Columns<'_>, firsts: &[Digest]) -> Vec<Option<(u32, Sign)>> {
        let scratch = || self.canonicaliser();
        let tasks = firsts.par_chunks(CLASSES);
        let found = tasks.map_init(scratch, |canonicaliser, task| {
            let least = task[0].hash;
            let above = self.hashes.partition_point(|&(hash, _)| hash < least);
            let mut hashes = &self.hashes[above..];
            let known = |digest: &Digest| {
                if stop::requested() {
                    return None;
                }
                let lower = hashes.iter().take_while(|&&(hash, _)| hash < digest.hash);
                hashes = &hashes[lower.count()..];
                let column = columns.column(digest.column as usize);
                let equal = hashes.iter().take_while(|&&(hash, _)| hash == digest.hash);
                let mut alike = equal.map(|&(_, class)| class);
                alike.find_map(|class| {
                    let sign = self.sign_in(class, column, canonicaliser)?;
                    Some((class, sign * self.signs[class as usize]))
                })
            };
            task.iter().map(known).collect::<Vec<_>>()
        });
        found.flatten_iter().collect()
    }

    /// The sign of a column against the column of a class, if it belongs to the class.
    fn sign_in(
        &self,
        class: u32,
        column: Column<'_>,
        canonicaliser: &mut Canonicaliser<'_>,
    ) -> Option<Sign> {
        let own = self.columns.column(class as usize);
        let roundings = self.roundings.get(&class).map_or(&[][..], Vec::as_slice);
        // Most columns are canonical, and most roundings are 0.
        if roundings.is_empty() && own == column {
            return Some(1);
        }
        let sign = canonicaliser.canonicalise(column);
        let form = &canonicaliser.form;
        (form.column() == own && form.roundings() == roundings).then_some(sign)
    }

    /// Adds the canonical columns of `new` classes, which begin with these columns. It adds some at a time, as they
    /// are in memory twice.
    fn adopt(&mut self, columns: &Columns<'_>, new: &[u32]) -> Result<()> {
        let length = |&column: &u32| columns.column(column as usize).rows.len();
        let left = self.memory.holding(self.held()).left().unwrap_or(u64::MAX);
        let fitting = usize::try_from(left / (2 * ADOPTED)).unwrap_or(usize::MAX);
        let at_once = (TASKS * PIECE * rayon::current_num_threads()).min(fitting.max(LEAST));
        for round in task_ranges(new.iter().map(length), at_once) {
            let new = &new[round];
            let entries: usize = new.iter().map(length).sum();
            self.check(ADOPTED * entries as u64)?;
            let tasks = task_ranges(new.iter().map(length), PIECE).into_par_iter();
            let made = tasks.map(|piece| self.forms(columns, &new[piece]));
            for forms in made.collect::<Vec<Forms>>() {
                // Classes count in 32 bits.
                let first = u32::try_from(self.signs.len()).unwrap_or(u32::MAX);
                let roundings = forms.roundings.into_iter();
                self.roundings
                    .extend(roundings.map(|(class, roundings)| (first + class, roundings)));
                self.signs.extend(forms.signs);
                self.largest.extend(forms.largest);
                self.columns.append(&forms.columns);
            }
        }
        Ok(())
    }

    /// The canonical columns of the classes that begin with these columns.
    fn forms(&self, columns: &Columns<'_>, new: &[u32]) -> Forms {
        let mut forms = Forms {
            columns: Columns::none(columns.height, columns.width),
            signs: Vec::new(),
            largest: Vec::new(),
            roundings: Vec::new(),
        };
        if stop::requested() {
            return forms;
        }
        let mut canonicaliser = self.canonicaliser();
        for (&position, class) in new.iter().zip(0..) {
            let (column, feature) = (
                columns.column(position as usize),
                columns.feature(position as usize),
            );
            let sizes = column.values.iter().map(|value| value.abs());
            forms.largest.push(sizes.fold(0.0, f64::max));
            if canonicaliser.is_canonical(column) {
                forms.signs.push(1);
                forms.columns.push_column(feature, column);
                continue;
            }
            let sign = canonicaliser.canonicalise(column);
            let (own, roundings) = (canonicaliser.form.column(), canonicaliser.form.roundings());
            forms.signs.push(sign);
            forms.columns.push_column(feature, own);
            if !roundings.is_empty() {
                forms.roundings.push((class, roundings.to_vec()));
            }
        }
        forms
    }

    /// The same under another memory limit, once other data are freed.
    pub(crate) fn beside(self, memory: Memory) -> Self {
        Self { memory, ..self }
    }

    /// The classes, if queries count by `weight` and `scale` divides the columns. There are none if the work was
    /// asked to end, since columns may have been skipped.
    pub(crate) fn finish(mut self, weight: QueryWeight, scale: Scale) -> Result<ColumnClasses> {
        self.check(MEMBER * self.members.len() as u64 + MEASURED * self.signs.len() as u64)?;
        if stop::requested() {
            self.columns = Columns::none(self.columns.height, self.columns.width);
            self.members.clear();
            self.mirrored.clear();
            self.signs.clear();
            self.largest.clear();
        }
        let members = Members::new(self.signs.len(), &self.members, self.mirrored);
        self.columns.shrink();
        let width = self.columns.width;
        let summary = Summary {
            columns: width,
            constant_columns: width - self.members.len(),
            empty_columns: width - self.occupied,
            column_classes: members.len(),
            nonzeros: self.nonzeros,
            ..Summary::default()
        };
        drop((self.starts, self.hashes, self.roundings, self.members));
        let classes = ColumnClasses {
            columns: self.columns,
            members,
            factors: Factors::of(self.signs),
            geometry: Geometry::default(),
            deviations: None,
            queries: self.queries,
            query_of_row: self.query_of_row,
            weight,
            scale,
            base: self.base,
            summary,
            peers: Arc::new(Alone),
        };
        let mut classes = classes.completed();
        classes.deviations = classes.extremes(&self.largest);
        Ok(classes)
    }
}

/// Inserts ascending hashes of new classes among the others, without a second copy.
fn merge(hashes: &mut Vec<(u64, u32)>, new: &[(u64, u32)]) {
    let (mut before, mut place) = (hashes.len(), hashes.len() + new.len());
    hashes.resize(place, (0, 0));
    for &one in new.iter().rev() {
        while before > 0 && hashes[before - 1].0 > one.0 {
            (before, place) = (before - 1, place - 1);
            hashes[place] = hashes[before];
        }
        place -= 1;
        hashes[place] = one;
    }
}
