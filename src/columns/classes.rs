//! Classes of columns whose query-centred forms agree up to sign, found by a canonical form.
//!
//! Two columns have the same canonical form exactly if their centred forms agree up to sign. Centring maps `x` to
//! `x - mean_Q(x)` in every query, so two columns agree if they differ by a constant in every query. Comparing
//! centred floating-point values would compare roundings. Instead, a *reference value* is subtracted, which moves
//! along with any such constant:
//!
//! * the value that more than half of the query's rows share, if there is one. For most columns of sparse data it
//!   is zero, and there is nothing to do;
//! * else the value at the query's first row. At least half of the rows then have an entry, so the form is at most
//!   twice as long as the column.
//!
//! The difference of two doubles is kept exactly, as the rounded difference and its rounding error (Knuth's
//! `TwoSum`). Such a pair determines the real number, and the reverse. The sign is the sign of the first entry.

use std::ops::Range;

use rayon::prelude::*;

use super::PIECE;
use super::form_hash::form_hash;
use super::members::Sign;
use super::query_rows::{QueryRows, QueryStarts};
use crate::data::{Column, Columns, Queries, task_ranges};
use crate::stop;

/// Number of parts that the highest bits of hashes sort columns into. Hashes have 60 bits.
const SHARDS: usize = 1 << 8;
const SHARD: u32 = 60 - SHARDS.ilog2();

/// A stored column and its class.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Digest {
    /// The hash of the form.
    pub(super) hash: u64,
    /// The first column of its class.
    pub(super) class: u32,
    pub(super) column: u32,
}

/// The result of classification.
#[derive(Debug, Default)]
pub(super) struct Classified {
    /// The columns that vary within some query, by hash.
    pub(super) digests: Vec<Digest>,
    /// The columns that mirror the first column of their class.
    pub(super) mirrored: Vec<u32>,
    /// Number of columns with an entry other than 0.
    pub(super) occupied: usize,
}

/// Groups the stored `columns` that vary within some query into classes (`docs/derivation.md`, section 8).
///
/// Hashes every column, sorts, and compares the columns of equal hash entry by entry. O(nnz + n log n) time, O(n)
/// memory.
pub(super) fn classify<'q>(
    columns: &Columns<'_>,
    starts: &QueryStarts,
    scratch: impl Fn() -> Canonicaliser<'q> + Send + Sync,
) -> Classified {
    let tasks = task_ranges(columns.lengths(), PIECE).into_par_iter();
    let found = tasks.map(|piece| digests_of(columns, starts, piece));
    let found: Vec<(Vec<Digest>, usize)> = found.collect();
    let occupied = found.iter().map(|(_, occupied)| occupied).sum();
    let mut digests = vec![Digest::default(); found.iter().map(|(some, _)| some.len()).sum()];
    let shards = shards(&found, &mut digests);
    drop(found);
    let named = shards
        .into_par_iter()
        .map_init(scratch, |canonicaliser, shard| {
            shard.sort_unstable_by_key(|digest| (digest.hash, digest.column));
            let buckets = shard.chunk_by_mut(|a, b| a.hash == b.hash);
            let mirrored = buckets.flat_map(|bucket| name_classes(columns, canonicaliser, bucket));
            mirrored.collect::<Vec<u32>>()
        });
    let mirrored = named.flatten_iter().collect();
    Classified {
        digests,
        mirrored,
        occupied,
    }
}

/// The digests of some columns, each its own class, and the number of columns with an entry other than 0.
fn digests_of(
    columns: &Columns<'_>,
    starts: &QueryStarts,
    piece: Range<usize>,
) -> (Vec<Digest>, usize) {
    // Columns count in 32 bits.
    let length = if stop::requested() { 0 } else { piece.len() };
    let (mut digests, mut occupied) = (Vec::new(), 0);
    for column in (0..).skip(piece.start).take(length) {
        let own = columns.column(column as usize);
        let hash = form_hash(starts, own);
        digests.extend(hash.map(|hash| Digest {
            hash,
            class: column,
            column,
        }));
        let is_occupied = hash.is_some() || own.values.iter().any(|&value| value != 0.0);
        occupied += usize::from(is_occupied);
    }
    (digests, occupied)
}

/// Sorts digests by the highest bits of their hashes, and cuts them into parts that fit the cache.
fn shards<'d>(found: &[(Vec<Digest>, usize)], sorted: &'d mut [Digest]) -> Vec<&'d mut [Digest]> {
    let all = || found.iter().flat_map(|(some, _)| some);
    // The result is below the number of shards.
    let shard = |digest: &Digest| (digest.hash >> SHARD) as usize;
    let mut places = vec![0; SHARDS];
    for digest in all() {
        places[shard(digest)] += 1;
    }
    let sizes = places.clone();
    let mut end = 0;
    for place in &mut places {
        end += std::mem::replace(place, end);
    }
    for digest in all() {
        let place = &mut places[shard(digest)];
        sorted[*place] = *digest;
        *place += 1;
    }
    let mut rest = sorted;
    let cut = |size| rest.split_off_mut(..size).unwrap_or_default();
    sizes.into_iter().map(cut).collect()
}

/// Names each class by its lowest column, among columns of the same hash, and returns the columns that mirror it.
/// There is one class unless two hashes collide.
fn name_classes(
    columns: &Columns<'_>,
    canonicaliser: &mut Canonicaliser<'_>,
    bucket: &mut [Digest],
) -> Vec<u32> {
    let mut mirrored = Vec::new();
    // The first columns of classes, and their forms and signs once somebody needs them.
    let mut firsts: Vec<(u32, Option<(Form, Sign)>)> = Vec::new();
    for digest in bucket {
        let column = columns.column(digest.column as usize);
        let mut alike = |(first, form): &mut (u32, Option<(Form, Sign)>)| {
            let known = columns.column(*first as usize);
            // Most members equal the first column.
            if known == column {
                return Some((*first, 1));
            }
            let (form, sign) = form.get_or_insert_with(|| canonicaliser.form_of(known));
            let other = canonicaliser.canonicalise(column);
            (*form == canonicaliser.form).then_some((*first, *sign * other))
        };
        match firsts.iter_mut().find_map(&mut alike) {
            Some((first, sign)) => {
                digest.class = first;
                mirrored.extend((sign < 0).then_some(digest.column));
            }
            None => firsts.push((digest.column, None)),
        }
    }
    mirrored
}

/// One entry of a canonical column: `value + rounding` is the exact difference
/// from the reference value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Entry {
    pub(crate) row: u32,
    pub(crate) value: f64,
    pub(crate) rounding: f64,
}

/// The entries of a canonical column.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Form {
    rows: Vec<u32>,
    values: Vec<f64>,
    /// Empty if all are 0.
    roundings: Vec<f64>,
}

impl Form {
    /// Whether the column is constant within every query.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The entries without their roundings.
    pub(super) fn column(&self) -> Column<'_> {
        Column {
            rows: &self.rows,
            values: &self.values,
        }
    }

    /// The roundings of all entries, or none if all are 0.
    pub(super) fn roundings(&self) -> &[f64] {
        &self.roundings
    }

    /// The entries, in order.
    pub(crate) fn entries(&self) -> impl Iterator<Item = Entry> {
        let roundings = self.roundings.iter().copied();
        let roundings = roundings.chain(std::iter::repeat(0.0));
        let entries = self.column().entries().zip(roundings);
        entries.map(|((row, value), rounding)| Entry {
            row,
            value,
            rounding,
        })
    }

    fn clear(&mut self) {
        self.rows.clear();
        self.values.clear();
        self.roundings.clear();
    }

    fn push(&mut self, row: u32, value: f64, rounding: f64) {
        if rounding != 0.0 || !self.roundings.is_empty() {
            self.roundings.resize(self.rows.len(), 0.0);
            self.roundings.push(rounding);
        }
        self.rows.push(row);
        self.values.push(value);
    }

    /// Makes the first entry positive. Returns the sign by which all were multiplied.
    fn turn(&mut self) -> Sign {
        if self.values.first().is_none_or(|&first| first > 0.0) {
            return 1;
        }
        for part in self.values.iter_mut().chain(&mut self.roundings) {
            *part = -*part;
        }
        -1
    }
}

/// Turns columns into their canonical forms, in reused memory.
#[derive(Debug)]
pub(crate) struct Canonicaliser<'q> {
    rows: QueryRows<'q>,
    segment: Vec<f64>,
    /// The last canonical form.
    pub(crate) form: Form,
}

impl<'q> Canonicaliser<'q> {
    pub(crate) fn new(queries: &'q Queries, query_of_row: &'q [u32]) -> Self {
        Self::over(QueryRows::new(queries, query_of_row))
    }

    pub(super) fn over(rows: QueryRows<'q>) -> Self {
        Self {
            rows,
            segment: Vec::new(),
            form: Form::default(),
        }
    }

    /// Puts the canonical form of `column` into [`form`](Self::form). It is empty if the column is constant within
    /// every query.
    ///
    /// Returns the sign: the form is `sign` times the column, up to constants. O(non-zeros) time. Allocates only
    /// while the form and the scratch grow.
    pub(crate) fn canonicalise(&mut self, column: Column<'_>) -> Sign {
        self.form.clear();
        if self.is_sparse(column) {
            self.form.rows.extend_from_slice(column.rows);
            self.form.values.extend_from_slice(column.values);
            return self.form.turn();
        }
        let mut rest = column;
        while let Some(&row) = rest.rows.first() {
            let range = self.rows.around(row as usize);
            let segment = rest.take_rows_below(range.end);
            self.add_query(range, segment);
        }
        self.form.turn()
    }

    /// Whether a column equals its canonical form.
    pub(super) fn is_canonical(&self, column: Column<'_>) -> bool {
        column.values.first().is_some_and(|&first| first > 0.0) && self.is_sparse(column)
    }

    /// Whether a column has entries other than 0 in less than half of the rows of each query. The form then is the
    /// column or its mirror image.
    fn is_sparse(&self, column: Column<'_>) -> bool {
        let mut rest = column;
        while let Some(&row) = rest.rows.first() {
            let range = self.rows.around(row as usize);
            let entries = rest.take_rows_below(range.end).rows.len();
            if 2 * entries >= range.len() {
                return false;
            }
        }
        column.values.iter().all(|&value| value != 0.0)
    }

    /// An owned canonical form of a column, and its sign.
    fn form_of(&mut self, column: Column<'_>) -> (Form, Sign) {
        let sign = self.canonicalise(column);
        (self.form.clone(), sign)
    }

    /// Adds the form's part in the query with the rows of `range`.
    fn add_query(&mut self, range: Range<usize>, column: Column<'_>) {
        let [first, rest @ ..] = column.values else {
            return;
        };
        if column.rows.len() == range.len() && rest.iter().all(|value| value == first) {
            return;
        }
        let entries = column.values.iter().filter(|&&value| value != 0.0).count();
        if 2 * entries < range.len() {
            for (row, value) in column.entries().filter(|entry| entry.1 != 0.0) {
                self.form.push(row, value, 0.0);
            }
            return;
        }
        self.segment.clear();
        self.segment.resize(range.len(), 0.0);
        for (row, value) in column.iter() {
            self.segment[row - range.start] = value;
        }
        let reference = majority(&self.segment).unwrap_or(self.segment[0]);
        // Rows count in 32 bits.
        for (row, &value) in (0..).skip(range.start).zip(&self.segment) {
            if value != reference {
                let (value, rounding) = exact_difference(value, reference);
                self.form.push(row, value, rounding);
            }
        }
    }
}

/// The value that more than half of `values` share (Boyer and Moore's vote).
fn majority(values: &[f64]) -> Option<f64> {
    let mut favourite = values[0];
    let mut votes = 0usize;
    for &value in values {
        if votes == 0 {
            favourite = value;
        }
        if value == favourite {
            votes += 1;
        } else {
            votes -= 1;
        }
    }
    let count = values.iter().filter(|&&value| value == favourite).count();
    (2 * count > values.len()).then_some(favourite)
}

/// `a - b` as the nearest double, and its rounding error (Knuth, TAOCP volume 2, theorem B of section 4.2.2). Exact
/// unless the difference overflows.
pub(super) fn exact_difference(a: f64, b: f64) -> (f64, f64) {
    let difference = a - b;
    let b_part = a - difference;
    let a_part = difference + b_part;
    (difference, (a - a_part) + (b_part - b))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    fn form(sizes: &[usize], dense: &[f64]) -> Form {
        form_and_hash(sizes, dense).0
    }

    fn form_and_hash(sizes: &[usize], dense: &[f64]) -> (Form, Option<u64>) {
        let queries = Queries::from_sizes(sizes).unwrap();
        let of_rows = queries.of_rows();
        let (rows, values): (Vec<u32>, Vec<f64>) = (0u32..)
            .zip(dense.iter().copied())
            .filter(|pair| pair.1 != 0.0)
            .unzip();
        let column = Column {
            rows: &rows,
            values: &values,
        };
        let mut canonicaliser = Canonicaliser::new(&queries, &of_rows);
        canonicaliser.canonicalise(column);
        let hash = form_hash(&QueryStarts::new(&queries), column);
        (canonicaliser.form, hash)
    }

    #[test]
    fn constants_within_queries_vanish() {
        assert!(form(&[2, 3], &[1.0, 1.0, 7.0, 7.0, 7.0]).is_empty());
        assert!(form(&[1, 1], &[3.0, 4.0]).is_empty());
    }

    #[test]
    fn shifted_and_mirrored_columns_agree() {
        let plain = form(&[4, 3], &[0.0, 1.0, 0.0, 0.0, 2.0, 0.0, 5.0]);
        assert_eq!(plain, form(&[4, 3], &[3.0, 4.0, 3.0, 3.0, 2.0, 0.0, 5.0]));
        assert_eq!(plain, form(&[4, 3], &[0.0, -1.0, 0.0, 0.0, 3.0, 5.0, 0.0]));
        assert_ne!(plain, form(&[4, 3], &[0.0, -1.0, 0.0, 0.0, 5.0, 3.0, 0.0]));
    }

    #[test]
    fn half_and_half_agrees_with_its_complement() {
        assert_eq!(
            form(&[4], &[1.0, 0.0, 1.0, 0.0]),
            form(&[4], &[0.0, 1.0, 0.0, 1.0])
        );
    }

    #[test]
    fn rounding_does_not_make_columns_equal() {
        // 0.3 - 0.1 is not 0.2 in doubles, nor is the real difference of those doubles.
        assert_ne!(form(&[2], &[0.1, 0.3]), form(&[2], &[0.0, 0.2]));
        // 1e16 + 1 does not exist: both real differences round to 1e16.
        assert_ne!(form(&[3], &[1.0, 1e16, 1.5]), form(&[3], &[0.0, 1e16, 0.5]));
    }

    proptest! {
        #[test]
        fn hashes_are_equal_where_forms_are(
            queries in vec((vec((0..3i8, 0..3i8), 1..5), -2..3i8), 1..4),
            sign in prop_oneof![Just(1.0), Just(-1.0)],
        ) {
            let sizes: Vec<usize> = queries.iter().map(|(rows, _)| rows.len()).collect();
            // Columns of thirds and of whole numbers. The first is shifted and mirrored.
            let rows = queries.iter().flat_map(|(rows, shift)| rows.iter().map(move |row| (row, *shift)));
            let third = |value: i8| f64::from(value) / 3.0;
            let first: Vec<f64> = rows.clone().map(|(row, _)| third(row.0)).collect();
            let free: Vec<f64> = rows.clone().map(|(row, _)| third(row.1)).collect();
            let shifted: Vec<f64> = rows.map(|(row, shift)| sign * f64::from(row.0 + shift)).collect();
            let whole: Vec<f64> = first.iter().map(|value| (value * 3.0).round()).collect();
            for (a, b) in [(&first, &free), (&whole, &shifted), (&first, &whole)] {
                let ((a, hash_a), (b, hash_b)) = (form_and_hash(&sizes, a), form_and_hash(&sizes, b));
                prop_assert_eq!(a.is_empty(), hash_a.is_none());
                prop_assert_eq!(a == b, hash_a == hash_b);
            }
            prop_assert_eq!(form(&sizes, &whole), form(&sizes, &shifted));
        }
    }
}
