//! Column classes: one column for every distinct centred form. Selection and training use these
//! (`docs/derivation.md`, section 8).
//!
//! A feature changes the leave-query-out error only through its query-centred column, whose sign does not matter.
//! So a column that is constant within every query can never help. Columns with the same centred form up to sign
//! are one candidate, named by the lowest of them. On parse data this leaves an eighth of the columns.
//!
//! Candidates are stored in canonical form. It differs from the original by a constant in each query and perhaps in
//! sign, which no formula of the selection sees. A nearly constant feature has fewer entries in it. It has no large
//! common offset, which would cost digits.

mod build;
mod classes;
mod deviations;
mod form_hash;
mod gather;
mod geometry;
mod members;
mod packed;
mod query_rows;
mod query_weight;
mod range;
mod ranks;
mod scale;
mod share;
mod summary;

use std::sync::Arc;

use sprs::CsMatViewI;

use crate::data::{Column, Columns, Feature, IndexBase, Queries};
use crate::linalg::centring::sparse_moments;
use crate::peers::Peers;
pub(crate) use classes::Canonicaliser;
pub(crate) use deviations::{ROUNDING, UNITS, dominating};
pub(crate) use form_hash::{mix, scattered};
pub(crate) use gather::Gathering;
use geometry::Geometry;
use members::{Factors, Members};
pub use query_weight::QueryWeight;
pub(crate) use range::{LEAST_SQUARES, check_labels, check_lambda};
pub use scale::Scale;
pub use share::share;
pub use summary::Summary;
pub(crate) use summary::{none_compares, none_varies};

/// Classes per task: few, because the first columns hold most entries.
const CLASSES: usize = 1024;

/// Approximate entries per task, for columns of different lengths.
const PIECE: usize = 1 << 15;

/// A deviation, and the feature that represents the column. The deviation is the root mean square of a canonical
/// column's entries, centred within queries.
pub(crate) type Deviation = (f64, Feature);

/// The distinct centred columns of a data set, each with the columns that it stands for.
///
/// Memory: 12 bytes an entry of the representatives, 29 a candidate (37 if they are scaled), and 4 a row. A column
/// takes 4, and 4 more if it mirrors another.
#[derive(Debug, Clone)]
pub struct ColumnClasses {
    /// The canonical columns, under the features that represent them.
    columns: Columns<'static>,
    members: Members,
    factors: Factors,
    geometry: Geometry,
    /// The least deviation and the largest.
    deviations: Option<[Deviation; 2]>,
    queries: Queries,
    query_of_row: Vec<u32>,
    weight: QueryWeight,
    scale: Scale,
    base: IndexBase,
    /// The classes of all ranks.
    summary: Summary,
    /// The ranks that have the others.
    peers: Arc<dyn Peers>,
}

impl ColumnClasses {
    /// The unit `u` of ridge parameters: the mean squared norm of a row, in squared units of the values. The row
    /// has all columns, centred within queries, scaled, and weighted by the root of its query's weight. The unit is
    /// the trace of the kernel matrix over its rows. Doubled values make it exactly 4 times as large.
    pub fn unit(&self) -> f64 {
        self.summary.unit
    }

    /// Number of candidates of this rank.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether no column of this rank varies within a query.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The numbers of columns and classes of all ranks.
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// The number of a feature in the data's file.
    pub(crate) fn file_index(&self, feature: u32) -> u64 {
        self.base.file_index(feature)
    }

    /// The partition of the rows into queries.
    pub fn queries(&self) -> &Queries {
        &self.queries
    }

    /// The weight of queries. Its root scales their parts of the columns.
    pub(crate) fn query_weight(&self) -> QueryWeight {
        self.weight
    }

    /// The divisor of the columns.
    pub(crate) fn scale(&self) -> Scale {
        self.scale
    }

    /// The column of `candidate` in canonical form, scaled, and times the roots of the queries' weights. It is not
    /// centred, and meant for products with centred vectors.
    ///
    /// # Panics
    /// When `candidate >= self.len()`.
    pub fn column(&self, candidate: usize) -> Column<'_> {
        self.columns.column(candidate)
    }

    /// Number of entries of the column of `candidate`.
    pub(crate) fn entries_of(&self, candidate: usize) -> usize {
        self.columns.starts[candidate + 1] - self.columns.starts[candidate]
    }

    /// How many entries the columns of this rank have.
    pub(crate) fn entries(&self) -> usize {
        self.columns.rows.len()
    }

    /// Pairs of a candidate of this rank and a query it touches, of candidates that touch several.
    pub(crate) fn pieces(&self) -> usize {
        self.geometry.pieces
    }

    /// How many entries the so many longest columns have together.
    pub(crate) fn longest(&self, count: usize) -> usize {
        let mut entries: Vec<usize> = (0..self.len()).map(|own| self.entries_of(own)).collect();
        if count < entries.len() {
            entries.select_nth_unstable_by(count, |a, b| b.cmp(a));
            entries.truncate(count);
        }
        entries.iter().sum()
    }

    /// The columns of all candidates, `m` x candidates.
    pub(crate) fn matrix(&self) -> CsMatViewI<'_, f64, u32, usize> {
        self.columns.matrix()
    }

    /// The queries in which `candidate` has entries, in order.
    ///
    /// # Panics
    /// When `candidate >= self.len()`.
    pub(crate) fn segments(&self, candidate: usize) -> impl Iterator<Item = Segment<'_>> {
        Segments {
            rest: self.column(candidate),
            candidates: self,
        }
    }

    /// Removes the entries of the first query from a column, which must have entries.
    pub(crate) fn take_segment<'a>(&self, rest: &mut Column<'a>) -> Segment<'a> {
        let query = self.query_of_row[rest.rows[0] as usize] as usize;
        let range = self.queries.range(query);
        let column = rest.take_rows_below(range.end);
        let (mean, squared_norm) = sparse_moments(column.values, range.len());
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
        self.geometry.squared_norm(candidate)
    }

    /// The largest `|v|^2` of all candidates, here and elsewhere; 0 without candidates.
    pub(crate) fn largest_squared_norm(&self) -> f64 {
        self.geometry.largest
    }

    /// The least and the largest root mean square of a canonical column's entries, centred within queries, each
    /// with the feature that represents it. Columns that are constant up to rounding do not count.
    pub(crate) fn deviations(&self) -> Option<[Deviation; 2]> {
        self.deviations
    }

    /// The query that holds all entries of `candidate`, if one does.
    ///
    /// # Panics
    /// When `candidate >= self.len()`.
    pub(crate) fn sole_query(&self, candidate: usize) -> Option<u32> {
        self.geometry.sole_query(candidate)
    }

    /// The sign of the canonical column over its divisor. The column is this factor times its feature's column, up
    /// to constants and the weights of queries.
    ///
    /// # Panics
    /// When `candidate >= self.len()`.
    pub(crate) fn factor(&self, candidate: usize) -> f64 {
        self.factor_of(candidate, self.feature(candidate))
    }

    /// The same for any `member` of the class.
    pub(crate) fn factor_of(&self, candidate: usize, member: Feature) -> f64 {
        f64::from(self.sign(candidate, member)) / self.divisor(candidate)
    }

    /// The scale's divisor of the column of `candidate`.
    pub(crate) fn divisor(&self, candidate: usize) -> f64 {
        self.factors.divisor(candidate)
    }

    /// Whether weights of `candidate` are finite in units of its feature: a divisor below 1e-308 has no reciprocal.
    pub(crate) fn can_be_divided(&self, candidate: usize) -> bool {
        self.factor(candidate).is_finite()
    }

    /// 0-based feature that represents `candidate`: the lowest of its class.
    ///
    /// # Panics
    /// When `candidate >= self.len()`.
    pub fn feature(&self, candidate: usize) -> Feature {
        self.columns.feature(candidate)
    }

    /// 0-based features whose centred columns equal the candidate's up to sign, ascending. The representative comes
    /// first.
    ///
    /// # Panics
    /// When `candidate >= self.len()`.
    pub fn class(&self, candidate: usize) -> &[Feature] {
        self.members.of(candidate)
    }

    /// The sign, 1 or -1, of a member's column against the column of its `class`.
    pub(crate) fn sign(&self, class: usize, member: Feature) -> i8 {
        self.factors.signs[class] * self.members.sign(member)
    }

    /// Bytes held.
    pub fn memory(&self) -> u64 {
        let classes = self.members.memory() + self.factors.memory() + self.geometry.memory();
        (self.columns.memory() + classes + 4 * self.query_of_row.capacity()) as u64
    }

    /// The candidate that `feature` represents, if there is one.
    pub(crate) fn represented_by(&self, feature: Feature) -> Option<usize> {
        self.columns.position(feature)
    }

    /// The candidate whose class has `feature`, if there is one. O(columns) time if the feature does not represent
    /// it.
    pub(crate) fn candidate_of(&self, feature: Feature) -> Option<usize> {
        let represented = self.represented_by(feature);
        represented.or_else(|| self.members.class_of(feature))
    }
}

/// The entries of a candidate in one query.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Segment<'a> {
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
