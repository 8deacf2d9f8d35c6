//! The candidates of a greedy step: one column for every distinct centred
//! form (`docs/derivation.md`, section 8).
//!
//! Adding a feature changes the leave-query-out error through its query-centred
//! column only, and not through that column's sign. So a column that is constant
//! within every query can never help, and columns that centre to the same thing
//! up to sign are one candidate, named by the lowest of them. On parse data this
//! leaves an eighth of the columns.
//!
//! Candidates are stored in canonical form, which differs from the original by a
//! constant in each query and possibly in sign; no formula of the selection can tell.
//! It has fewer entries where a feature is nearly constant, and no large common
//! offset that would cost digits.

mod classes;
mod partition;
mod parts;
mod query_weight;
mod scale;

use std::sync::Arc;

use rankrls_files::Remedy;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sprs::CsMatViewI;

use crate::data::{Column, Columns, Dataset, IndexBase, Queries, cut};
use crate::interrupt::check_interrupt;
use crate::peers::{Alone, Peers};
use classes::{Canonicaliser, Classes, classify};
pub use partition::Partition;
pub use query_weight::QueryWeight;
pub use scale::Scale;

/// The sign by which a candidate's stored column differs from its feature's.
type Sign = i8;

/// Classes that a task works on. Not the half of all: the first are the longest.
const CLASSES: usize = 1024;

/// The distinct centred columns of a data set, with the columns each stands for.
///
/// Memory: 12 bytes an entry of the representatives, 29 a candidate (37 if they are scaled), 4 a column,
/// 4 a row.
#[derive(Debug, Clone)]
pub struct ColumnClasses {
    /// The canonical columns, under the features that represent them.
    columns: Columns<'static>,
    signs: Vec<Sign>,
    squared_norms: Vec<f64>,
    /// The query that holds every entry, or `u32::MAX`.
    sole_queries: Vec<u32>,
    /// 0-based features: members of class `c` are `members[ends[c - 1]..ends[c]]`.
    members: Vec<u32>,
    ends: Vec<u32>,
    queries: Queries,
    query_of_row: Vec<u32>,
    weight: QueryWeight,
    base: IndexBase,
    scale: Scale,
    /// A divisor for each candidate; empty if the scale is none.
    divisors: Vec<f64>,
    summary: Summary,
    /// The most of any rank, field by field.
    share: Summary,
    /// The largest `|v|^2` of all candidates.
    largest_squared_norm: f64,
    /// The ranks that have the other candidates.
    peers: Arc<dyn Peers>,
    /// The most threads of any rank; `None`: those of the current pool.
    threads: Option<usize>,
    /// Where the entries are, if not here.
    parts: Option<Arc<parts::Parts>>,
}

/// Binary digits of the largest squared norm that a sum of all counts.
const FINEST: i32 = 80;

/// The exponent of 2 of a number from 0 on; -900 for less, whose multiples would overflow.
fn exponent(x: f64) -> i32 {
    ((x.to_bits() >> 52) as i32 - 1023).max(-900)
}

/// Says of so many columns that none of them is a candidate.
pub(crate) fn none_varies(columns: usize) -> String {
    let columns = match columns {
        1 => "the only column is".to_owned(),
        columns => format!("all {columns} columns are"),
    };
    format!(
        "{columns} constant within every query, so no feature can tell the examples of a query \
         apart"
    )
}

/// Says of so many queries that none of them has two rows.
pub(crate) fn none_compares(queries: usize) -> String {
    let rows = match queries {
        1 => "the data have a single row".to_owned(),
        queries => format!("each of the {queries} queries has a single row"),
    };
    format!(
        "{rows}, and only examples of a query are compared; {}",
        Remedy::GiveQueries
    )
}

/// How the columns of a data set fall into classes, and their size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Summary {
    /// All feature columns of the data, `constant_columns` and class members.
    pub columns: usize,
    /// Columns constant within every query, empty ones included.
    pub constant_columns: usize,
    /// Columns without any entry.
    pub empty_columns: usize,
    /// Distinct centred forms up to sign: the candidates.
    pub column_classes: usize,
    /// Candidates whose entries all lie in one query.
    pub single_query_classes: usize,
    /// Entries of the candidates.
    pub nonzeros: usize,
    /// Pairs of a candidate and a query it touches, of candidates that touch several.
    pub pieces: usize,
    /// The unit `u` of ridge parameters, see [`ColumnClasses::unit`].
    #[serde(skip)]
    pub unit: f64,
}

impl Summary {
    /// The classes of columns that are in these shards, each in one and empty in the others; without a unit.
    fn of_shards(shards: &[Self]) -> Self {
        let sum = |field: fn(&Self) -> usize| shards.iter().map(field).sum::<usize>();
        let columns = shards.first().map_or(0, |shard| shard.columns);
        let elsewhere = sum(|shard| shard.columns) - columns;
        Self {
            columns,
            constant_columns: sum(|shard| shard.constant_columns) - elsewhere,
            empty_columns: sum(|shard| shard.empty_columns) - elsewhere,
            column_classes: sum(|shard| shard.column_classes),
            single_query_classes: sum(|shard| shard.single_query_classes),
            nonzeros: sum(|shard| shard.nonzeros),
            pieces: sum(|shard| shard.pieces),
            unit: 0.0,
        }
    }
}

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
            signs,
            squared_norms: Vec::new(),
            sole_queries: Vec::new(),
            members: classes.members,
            ends: classes.ends,
            queries,
            query_of_row,
            weight,
            base: dataset.index_base(),
            scale,
            divisors: Vec::new(),
            summary: Summary {
                columns: dataset.width(),
                constant_columns: classes.constant + absent,
                empty_columns: dataset.width() - occupied(dataset),
                column_classes: classes.representatives.len(),
                ..Summary::default()
            },
            share: Summary::default(),
            largest_squared_norm: 0.0,
            peers: Arc::new(Alone),
            threads: None,
            parts: None,
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
        let divisor = |class: usize| {
            let mut values = Vec::new();
            for part in self.segments(class) {
                let absent = self.queries.range(part.query).len() - part.column.values.len();
                let entries = part.column.values.iter();
                values.extend(entries.map(|value| (1, value - part.mean)));
                values.extend((absent > 0).then_some((absent, -part.mean)));
            }
            self.scale.divisor(&values, self.queries.rows())
        };
        let classes = (0..self.len()).into_par_iter().with_max_len(CLASSES);
        self.divisors = classes.map(divisor).collect();
        let values = self.columns.values.to_mut();
        for (bounds, divisor) in self.columns.starts.windows(2).zip(&self.divisors) {
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
        let measures = candidates.map(|candidate| self.measure(candidate));
        let measures: Vec<(f64, usize, u32)> = measures.collect();
        let touched = measures.iter().map(|measure| measure.1);
        self.summary.pieces = touched.clone().filter(|&touched| touched > 1).sum();
        self.summary.single_query_classes = touched.filter(|&touched| touched == 1).count();
        self.summary.nonzeros = self.columns.rows.len();
        self.squared_norms = measures.iter().map(|measure| measure.0).collect();
        self.sole_queries = measures.iter().map(|measure| measure.2).collect();
        self.size_up();
        self.share = self.summary;
    }

    /// Fills in what follows from the norms of the columns.
    fn size_up(&mut self) {
        self.largest_squared_norm = self.squared_norms.iter().copied().fold(0.0, f64::max);
        self.summary.unit = self.mean_row(self.rounded_norms());
    }

    /// The sum over all columns, members of classes one by one, of `|v|^2` as multiples of
    /// `2^-80` of the power of two below the largest, rounded to that: a sum that does not depend on
    /// the order.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to 2^81"
    )]
    fn rounded_norms(&self) -> u128 {
        let scale = 2_f64.powi(FINEST - exponent(self.largest_squared_norm));
        let norms = self.squared_norms.iter().zip(0..);
        let rounded = |(norm, class): (&f64, usize)| {
            let multiple = (norm * scale).round().min(2_f64.powi(FINEST + 1));
            multiple as u128 * self.class(class).len() as u128
        };
        norms.map(rounded).sum()
    }

    /// The unit where columns have this sum of [`rounded_norms`](Self::rounded_norms).
    fn mean_row(&self, sum: u128) -> f64 {
        if !self.largest_squared_norm.is_finite() {
            return f64::INFINITY;
        }
        let scale = 2_f64.powi(exponent(self.largest_squared_norm) - FINEST);
        sum as f64 * scale / self.queries.rows() as f64
    }

    /// These classes as a share of the candidates of all `peers`, of columns with the same rows that
    /// [`Partition`] parts. The candidates, their positions and their number stay; what is said of
    /// all of them is said of those of all ranks. Every rank calls this, as all that selects among
    /// candidates.
    #[must_use]
    pub fn among(mut self, peers: Arc<dyn Peers>) -> Self {
        let all = peers.all(&(self.summary, rayon::current_num_threads()));
        let (ranks, threads): (Vec<Summary>, Vec<usize>) = all.into_iter().unzip();
        self.summary = Summary::of_shards(&ranks);
        self.threads = threads.into_iter().max();
        self.largest_squared_norm = -peers.least(-self.largest_squared_norm);
        let sums = peers.all(&self.rounded_norms());
        self.summary.unit = self.mean_row(sums.into_iter().sum());
        let most = |field: fn(&Summary) -> usize| ranks.iter().map(field).max().unwrap_or(0);
        self.share = Summary {
            column_classes: most(|rank| rank.column_classes),
            single_query_classes: most(|rank| rank.single_query_classes),
            nonzeros: most(|rank| rank.nonzeros),
            pieces: most(|rank| rank.pieces),
            ..self.summary
        };
        self.peers = peers;
        self
    }

    /// The unit `u` of ridge parameters: the mean squared norm of a row of all columns, centred
    /// within queries, divided by what the scale says and times the roots of the queries' weights;
    /// in squared units of the values. It is the trace of the kernel matrix over its rows. The same
    /// bits on every rank, and times 4 to the bit where values are times 2.
    pub fn unit(&self) -> f64 {
        self.summary.unit
    }

    /// The ranks that have the other candidates.
    pub fn peers(&self) -> &dyn Peers {
        &*self.peers
    }

    /// The ranks that have the other candidates, to share.
    pub(crate) fn shared_peers(&self) -> Arc<dyn Peers> {
        Arc::clone(&self.peers)
    }

    /// The most threads that any rank works on.
    pub(crate) fn threads(&self) -> usize {
        self.threads.unwrap_or_else(rayon::current_num_threads)
    }

    /// 0-based features that represent the candidates of all ranks, ascending.
    pub(crate) fn features_of_all(&self) -> Vec<u32> {
        let own = (0..self.len()).map(|candidate| self.feature(candidate));
        let mut all = self.peers.all(&own.collect::<Vec<u32>>()).concat();
        all.sort_unstable();
        all
    }

    /// The rows alone, without a class.
    fn emptied(&self) -> Self {
        Self {
            columns: Columns::none(self.columns.height, self.columns.width),
            signs: Vec::new(),
            squared_norms: Vec::new(),
            sole_queries: Vec::new(),
            members: Vec::new(),
            ends: Vec::new(),
            queries: self.queries.clone(),
            query_of_row: self.query_of_row.clone(),
            divisors: Vec::new(),
            share: self.summary,
            peers: Arc::new(Alone),
            parts: None,
            ..*self
        }
    }

    /// Adds a class of others that have the same rows, but for its column.
    fn push_class(&mut self, others: &Self, class: usize) {
        self.signs.push(others.signs[class]);
        self.squared_norms.push(others.squared_norms[class]);
        self.sole_queries.push(others.sole_queries[class]);
        self.divisors.extend(others.divisors.get(class));
        self.members.extend_from_slice(others.class(class));
        // Columns count in 32 bits, so their number does.
        let end = u32::try_from(self.members.len()).unwrap_or(u32::MAX);
        self.ends.push(end);
    }

    /// Squared norm of the centred column, how many queries it touches, and the query if it is
    /// one.
    fn measure(&self, candidate: usize) -> (f64, usize, u32) {
        // Queries count in 32 bits, and a candidate has entries, or it would be constant.
        let first = self.query_of_row[self.column(candidate).rows[0] as usize];
        let segments = self.segments(candidate);
        let (norm, touched) = segments.fold((0.0, 0), |(sum, count), segment| {
            (sum + segment.squared_norm, count + 1)
        });
        (norm, touched, if touched == 1 { first } else { u32::MAX })
    }

    /// Number of candidates, of this rank.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether no column of the data can tell two examples of a query apart.
    pub fn is_empty(&self) -> bool {
        self.summary.column_classes == 0
    }

    /// How the columns of all ranks fall into classes.
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// The summary of the rank that has most, field by field: what memory depends on.
    pub(crate) fn share(&self) -> Summary {
        self.share
    }

    /// A feature as the file of the data counts.
    pub(crate) fn written(&self, feature: u32) -> u64 {
        self.base.written(feature)
    }

    /// The partition of the rows.
    pub fn queries(&self) -> &Queries {
        &self.queries
    }

    /// The weight of queries: their parts of the columns are scaled by its root.
    pub fn query_weight(&self) -> QueryWeight {
        self.weight
    }

    /// The divisor of the columns.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The query of every row.
    pub fn query_of_row(&self) -> &[u32] {
        &self.query_of_row
    }

    /// The column of `candidate` in canonical form, divided by what the scale says, times the roots
    /// of the queries' weights. Not centred; meant for vectors that are.
    ///
    /// # Panics
    /// When `candidate >= self.len()`.
    pub fn column(&self, candidate: usize) -> Column<'_> {
        self.columns.column(candidate)
    }

    /// How many entries the column of `candidate` has.
    pub(crate) fn entries_of(&self, candidate: usize) -> usize {
        self.columns.starts[candidate + 1] - self.columns.starts[candidate]
    }

    /// The columns of all candidates, `m` x candidates.
    pub(crate) fn matrix(&self) -> CsMatViewI<'_, f64, u32, usize> {
        self.columns.matrix()
    }

    /// The queries in which `candidate` has entries, in order.
    ///
    /// # Panics
    /// When `candidate >= self.len()`.
    pub fn segments(&self, candidate: usize) -> impl Iterator<Item = Segment<'_>> {
        Segments {
            rest: self.column(candidate),
            candidates: self,
        }
    }

    /// Takes the entries of the first query off a column that has some.
    pub(crate) fn take_segment<'a>(&self, rest: &mut Column<'a>) -> Segment<'a> {
        let query = self.query_of_row[rest.rows[0] as usize] as usize;
        let range = self.queries.range(query);
        let column = rest.take_rows_below(range.end);
        let mean = column.values.iter().sum::<f64>() / range.len() as f64;
        let squared_norm = column.centred_squared_norm(range.len());
        Segment {
            query,
            column,
            mean,
            squared_norm,
        }
    }

    /// `|v|^2` of the centred column `v` of `candidate`.
    ///
    /// # Panics
    /// When `candidate >= self.len()`.
    pub fn squared_norm(&self, candidate: usize) -> f64 {
        self.squared_norms[candidate]
    }

    /// The largest `|v|^2` of all candidates; 0 when there are none.
    pub fn largest_squared_norm(&self) -> f64 {
        self.largest_squared_norm
    }

    /// The query that holds all entries of `candidate`, if one does.
    ///
    /// # Panics
    /// When `candidate >= self.len()`.
    pub fn sole_query(&self, candidate: usize) -> Option<u32> {
        Some(self.sole_queries[candidate]).filter(|&query| query != u32::MAX)
    }

    /// The sign of the canonical column over what it was divided by: the column is this times the
    /// feature's own, up to constants and the weights of queries.
    ///
    /// # Panics
    /// When `candidate >= self.len()`.
    pub fn factor(&self, candidate: usize) -> f64 {
        f64::from(self.signs[candidate]) / self.divisor(candidate)
    }

    /// The number by which the scale divided the column of `candidate`.
    pub(crate) fn divisor(&self, candidate: usize) -> f64 {
        self.divisors.get(candidate).copied().unwrap_or(1.0)
    }

    /// 0-based feature that represents `candidate`: the lowest of its class.
    ///
    /// # Panics
    /// When `candidate >= self.len()`.
    pub fn feature(&self, candidate: usize) -> u32 {
        self.columns.feature(candidate)
    }

    /// 0-based features whose centred columns equal that of `candidate` up to sign,
    /// ascending, its representative first.
    ///
    /// # Panics
    /// When `candidate >= self.len()`.
    pub fn class(&self, candidate: usize) -> &[u32] {
        let start = candidate
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        &self.members[start as usize..self.ends[candidate] as usize]
    }

    /// The sign, 1 or -1, by which the column of each member of each class differs from that of the
    /// class, in the order of the classes. `dataset` is the data set of the candidates.
    pub(crate) fn member_signs(&self, dataset: &Dataset<'_>) -> Vec<i8> {
        let classes = (0..self.len())
            .into_par_iter()
            .with_min_len(CLASSES)
            .with_max_len(CLASSES);
        let scratch = || Canonicaliser::new(&self.queries, &self.query_of_row);
        let signs = classes.map_init(scratch, |canonicaliser, class| {
            let others = self.class(class)[1..].iter().map(|&feature| {
                // A member has a stored column.
                let position = dataset.position(feature);
                position.map_or(1, |at| canonicaliser.canonicalise(dataset.column(at)))
            });
            std::iter::once(self.signs[class])
                .chain(others)
                .collect::<Vec<i8>>()
        });
        signs.flatten_iter().collect()
    }

    /// Bytes held.
    pub fn memory(&self) -> u64 {
        let per_candidate = self.len() * (1 + 8 + 4 + 4) + self.divisors.capacity() * 8;
        let rest = 4 * (self.members.capacity() + self.query_of_row.capacity());
        (self.columns.memory() + per_candidate + rest) as u64 + self.memory_of_parts()
    }

    /// The candidates of this rank that `features` represent.
    pub(crate) fn positions(&self, features: impl Iterator<Item = u32>) -> Vec<u32> {
        let positions = features.filter_map(|feature| self.represented_by(feature));
        // Candidates count in 32 bits.
        positions
            .filter_map(|position| u32::try_from(position).ok())
            .collect()
    }

    /// The candidate of this rank that `feature` represents, if it represents one.
    pub fn represented_by(&self, feature: u32) -> Option<usize> {
        self.columns.position(feature)
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
    let columns = cut(&mut rows, &mut values, lengths);
    let columns = classes.representatives.par_iter().zip(columns);
    let scratch = || Canonicaliser::new(dataset.queries(), query_of_row);
    let columns = columns.with_min_len(CLASSES).with_max_len(CLASSES);
    let signs = columns.map_init(scratch, |canonicaliser, (&column, (rows, values))| {
        check_interrupt();
        let sign = canonicaliser.canonicalise(dataset.column(column as usize));
        let places = rows.iter_mut().zip(values);
        for ((row, value), entry) in places.zip(&canonicaliser.form) {
            (*row, *value) = (entry.row, entry.value);
        }
        sign
    });
    let signs = signs.collect();
    let features = classes.representatives.iter();
    let features = features.map(|&position| dataset.feature(position as usize));
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

/// The entries of a candidate in one query.
#[derive(Debug, Clone, Copy)]
pub struct Segment<'a> {
    /// The query.
    pub query: usize,
    /// The entries there.
    pub column: Column<'a>,
    /// Mean of the canonical column over all rows of the query.
    pub mean: f64,
    /// `|v_Q|^2`: squared norm of the centred column in this query.
    pub squared_norm: f64,
}

struct Segments<'a> {
    rest: Column<'a>,
    candidates: &'a ColumnClasses,
}

impl<'a> Iterator for Segments<'a> {
    type Item = Segment<'a>;

    fn next(&mut self) -> Option<Segment<'a>> {
        (!self.rest.rows.is_empty()).then(|| self.candidates.take_segment(&mut self.rest))
    }
}
