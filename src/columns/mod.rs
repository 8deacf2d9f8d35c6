//! Column classes: one column for every distinct centred form, as selection and training see the data
//! (`docs/derivation.md`, section 8).
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
mod scale;
mod share;
mod shares;
mod summary;

use sprs::CsMatViewI;

use crate::data::{Column, Columns, Feature, IndexBase, Queries};
use crate::linalg::centring::sparse_moments;
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

/// Entries per task, about, of columns that differ in length.
const PIECE: usize = 1 << 15;

/// A deviation: the root mean square of the entries of a canonical column, centred within queries, and the feature
/// that represents it.
pub(crate) type Deviation = (f64, Feature);

/// The distinct centred columns of a data set, with the columns each stands for.
///
/// Memory: 12 bytes an entry of the representatives, 29 a candidate (37 if they are scaled), 4 a column and 4 more
/// if it is a mirror image, 4 a row.
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
    summary: Summary,
}

impl ColumnClasses {
    /// The unit `u` of ridge parameters: the mean squared norm of a row of all columns, centred
    /// within queries, divided by what the scale says and times the roots of the queries' weights;
    /// in squared units of the values. It is the trace of the kernel matrix over its rows. Times 4 to the
    /// bit where values are times 2.
    pub fn unit(&self) -> f64 {
        self.summary.unit
    }

    /// Number of candidates.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether no column of the data can tell two examples of a query apart.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How the columns fall into classes.
    pub fn summary(&self) -> Summary {
        self.summary
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
    pub(crate) fn query_weight(&self) -> QueryWeight {
        self.weight
    }

    /// The divisor of the columns.
    pub(crate) fn scale(&self) -> Scale {
        self.scale
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

    /// Takes the entries of the first query off a column that has some.
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

    /// The largest `|v|^2` of all candidates, those that are elsewhere included; 0 when there are none.
    pub(crate) fn largest_squared_norm(&self) -> f64 {
        self.geometry.largest
    }

    /// The least root mean square of the entries of a canonical column, centred within queries, and the largest, each
    /// with the feature that represents it. Columns that are constant but for rounding do not count.
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

    /// The sign of the canonical column over what it was divided by: the column is this times that of the
    /// feature that represents it, up to constants and the weights of queries.
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

    /// The number by which the scale divided the column of `candidate`.
    pub(crate) fn divisor(&self, candidate: usize) -> f64 {
        self.factors.divisor(candidate)
    }

    /// Whether weights of `candidate` are numbers in units of its feature: a divisor below 1e-308 has no reciprocal.
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

    /// 0-based features whose centred columns equal that of `candidate` up to sign,
    /// ascending, its representative first.
    ///
    /// # Panics
    /// When `candidate >= self.len()`.
    pub fn class(&self, candidate: usize) -> &[Feature] {
        self.members.of(candidate)
    }

    /// The sign, 1 or -1, by which the column of a member of `class` differs from that of the class.
    pub(crate) fn sign(&self, class: usize, member: Feature) -> i8 {
        self.factors.signs[class] * self.members.sign(member)
    }

    /// Bytes held.
    pub fn memory(&self) -> u64 {
        let classes = self.members.memory() + self.factors.memory() + self.geometry.memory();
        (self.columns.memory() + classes + 4 * self.query_of_row.capacity()) as u64
    }

    /// The candidate that `feature` represents, if it represents one.
    pub(crate) fn represented_by(&self, feature: Feature) -> Option<usize> {
        self.columns.position(feature)
    }

    /// The candidate whose class has `feature`, if one has. O(columns) time where the feature does not represent it.
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
