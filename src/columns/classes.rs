//! Columns whose query-centred forms agree up to sign: the canonical form that tells, and the
//! classes.
//!
//! The canonical form is equal for two columns exactly when their centred forms agree up to sign.
//! Centring maps `x` to `x - mean_Q(x)` in every query, so two columns centre
//! to the same thing when they differ by a constant in every query. Comparing
//! centred floating-point values would compare roundings; instead a *reference
//! value* that moves along with any such constant is subtracted:
//!
//! * the value that more than half of the query's rows share, if there is one
//!   (zero, for most columns of sparse data: nothing has to be done then);
//! * else the value at the query's first row. At least half of the rows have an
//!   entry in that case, so the form is at most twice as long as the column.
//!
//! The difference of two doubles is kept exactly, as the rounded difference
//! and its rounding error (Knuth's `TwoSum`); a pair determines the real
//! number and the other way round. The sign is that of the first entry.

use rayon::prelude::*;

use crate::data::{Column, Columns, Queries};
use crate::interrupt::check_interrupt;

/// Columns per task, which allocates its scratch once: few, because the first columns hold most entries.
const CHUNK: usize = 4096;

/// A stored column, its class and the length of its canonical form.
#[derive(Debug, Clone, Copy)]
pub(super) struct Digest {
    /// The hash of the form.
    pub(super) hash: u64,
    /// The first column of its class.
    pub(super) class: u32,
    pub(super) column: u32,
    pub(super) length: u32,
}

/// Groups the stored `columns` that are not constant within every query into classes (`docs/derivation.md`,
/// section 8): in the order of the first column of each class, and in each class ascending.
///
/// Hashes every canonical form, sorts, and compares the forms of equal hash
/// entry by entry. O(nnz + n log n) time, O(n) memory.
pub(super) fn classify(
    columns: &Columns<'_>,
    queries: &Queries,
    query_of_row: &[u32],
) -> Vec<Digest> {
    let scratch = || Canonicaliser::new(queries, query_of_row);
    let mut digests = digest_columns(columns, scratch);
    digests.par_sort_unstable_by_key(|digest| (digest.hash, digest.column));
    let buckets = digests.par_chunk_by_mut(|a, b| a.hash == b.hash);
    buckets.for_each_init(scratch, |canonicaliser, bucket| {
        name_classes(columns, canonicaliser, bucket);
    });
    digests.par_sort_unstable_by_key(|digest| (digest.class, digest.column));
    digests
}

fn digest_columns<'q>(
    columns: &Columns<'_>,
    scratch: impl Fn() -> Canonicaliser<'q> + Send + Sync,
) -> Vec<Digest> {
    // Columns count in 32 bits.
    let all = 0..u32::try_from(columns.len()).unwrap_or(u32::MAX);
    let tasks = all.into_par_iter().with_min_len(CHUNK).with_max_len(CHUNK);
    let digests = tasks.map_init(scratch, |canonicaliser, column| {
        check_interrupt();
        let mut form = FormHash::default();
        canonicaliser.visit(columns.column(column as usize), |entry| form.add(entry));
        (form.length > 0).then(|| Digest {
            hash: scattered(form.state),
            class: column,
            column,
            length: form.length,
        })
    });
    digests.flatten_iter().collect()
}

/// Makes the lowest column of each class the name of the class, among columns whose forms hash
/// alike. There is one class unless two forms collide.
fn name_classes(
    columns: &Columns<'_>,
    canonicaliser: &mut Canonicaliser<'_>,
    bucket: &mut [Digest],
) {
    if bucket.len() == 1 {
        return;
    }
    // The first column of each class, and its canonical form.
    let mut found: Vec<(u32, Vec<Entry>)> = Vec::new();
    for digest in bucket {
        let column = columns.column(digest.column as usize);
        // Most members are the first over again.
        let repeats = |(first, _): &&(u32, Vec<Entry>)| {
            let known = columns.column(*first as usize);
            known.rows == column.rows && known.values == column.values
        };
        let known = found.iter().find(repeats).or_else(|| {
            canonicaliser.canonicalise(column);
            found.iter().find(|(_, form)| *form == canonicaliser.form)
        });
        digest.class = known.map_or(digest.column, |&(first, _)| first);
        if known.is_none() {
            found.push((digest.column, canonicaliser.form.clone()));
        }
    }
}

/// One entry of a canonical column: `value + rounding` is the exact difference
/// from the reference value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Entry {
    pub(crate) row: u32,
    pub(crate) value: f64,
    pub(crate) rounding: f64,
}

impl Entry {
    /// The entry of the same column times -1.
    fn mirrored(self) -> Self {
        Self {
            value: -self.value,
            rounding: -self.rounding,
            ..self
        }
    }
}

/// Turns columns into their canonical forms, with room it reuses.
#[derive(Debug)]
pub(crate) struct Canonicaliser<'q> {
    queries: &'q Queries,
    query_of_row: &'q [u32],
    segment: Vec<f64>,
    /// The last canonical form.
    pub(crate) form: Vec<Entry>,
}

impl<'q> Canonicaliser<'q> {
    pub(crate) fn new(queries: &'q Queries, query_of_row: &'q [u32]) -> Self {
        Self {
            queries,
            query_of_row,
            segment: Vec::new(),
            form: Vec::new(),
        }
    }

    /// Puts the canonical form of `column` into [`form`](Self::form); it is empty when the
    /// column is constant within every query.
    ///
    /// Returns the sign: the form is `sign` times the column, up to constants.
    /// O(non-zeros) time; allocates only while the form and the scratch grow.
    pub(crate) fn canonicalise(&mut self, column: Column<'_>) -> i8 {
        let mut form = std::mem::take(&mut self.form);
        form.clear();
        self.visit(column, |entry| form.push(entry));
        self.form = form;
        if self.form.first().is_none_or(|first| first.value > 0.0) {
            return 1;
        }
        for entry in &mut self.form {
            *entry = entry.mirrored();
        }
        -1
    }

    /// Calls `each` with the entries of the canonical form, or with those of its mirror image: the first
    /// entry tells.
    fn visit(&mut self, column: Column<'_>, mut each: impl FnMut(Entry)) {
        let mut rest = column;
        while let Some(&row) = rest.rows.first() {
            let query = self.query_of_row[row as usize] as usize;
            let segment = rest.take_rows_below(self.queries.range(query).end);
            self.visit_query(query, segment, &mut each);
        }
    }

    fn visit_query(&mut self, query: usize, column: Column<'_>, each: &mut impl FnMut(Entry)) {
        let range = self.queries.range(query);
        let [first, rest @ ..] = column.values else {
            return;
        };
        if column.rows.len() == range.len() && rest.iter().all(|value| value == first) {
            return;
        }
        let entries = column.values.iter().filter(|&&value| value != 0.0).count();
        if 2 * entries < range.len() {
            let stored = column.rows.iter().zip(column.values);
            for (&row, &value) in stored.filter(|&(_, &value)| value != 0.0) {
                let rounding = 0.0;
                each(Entry {
                    row,
                    value,
                    rounding,
                });
            }
            return;
        }
        self.segment.clear();
        self.segment.resize(range.len(), 0.0);
        for (row, value) in column.iter() {
            self.segment[row - range.start] = value;
        }
        let reference = majority(&self.segment).unwrap_or(self.segment[0]);
        for (row, &value) in (self.queries.offsets()[query]..).zip(&self.segment) {
            if value != reference {
                let (value, rounding) = exact_difference(value, reference);
                each(Entry {
                    row,
                    value,
                    rounding,
                });
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

/// `a - b` as the nearest double and what rounding took away (Knuth, TAOCP
/// volume 2, theorem B of section 4.2.2). Exact unless the difference overflows.
fn exact_difference(a: f64, b: f64) -> (f64, f64) {
    let difference = a - b;
    let b_part = a - difference;
    let a_part = difference + b_part;
    (difference, (a - a_part) + (b_part - b))
}

/// A hash of a canonical form, entry by entry: equal forms, and mirror images, hash alike.
#[derive(Debug, Default)]
struct FormHash {
    state: u64,
    /// Entries so far: at most m, and rows count in 32 bits.
    length: u32,
    mirrored: bool,
}

impl FormHash {
    #[inline(always)]
    fn add(&mut self, entry: Entry) {
        if self.length == 0 {
            self.mirrored = entry.value <= 0.0;
        }
        let entry = if self.mirrored {
            entry.mirrored()
        } else {
            entry
        };
        // Adding zero makes -0.0 and 0.0 hash alike, as they compare alike.
        let [value, rounding] = [entry.value, entry.rounding].map(|part| (part + 0.0).to_bits());
        let row = u64::from(entry.row).wrapping_mul(0xff51_afd7_ed55_8ccd);
        self.state = mix(self.state, row ^ value ^ rounding.rotate_left(32));
        self.length += 1;
    }
}

/// `hash` with another word.
pub(crate) fn mix(hash: u64, word: u64) -> u64 {
    (hash.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// A hash whose highest bits depend on all bits of `hash` (the finaliser of `SplitMix64`).
pub(crate) fn scattered(hash: u64) -> u64 {
    let hash = (hash ^ hash >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let hash = (hash ^ hash >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    hash ^ hash >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(sizes: &[usize], dense: &[f64]) -> Vec<Entry> {
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
        canonicaliser.form
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
}
