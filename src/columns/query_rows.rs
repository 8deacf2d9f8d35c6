//! The rows of a query, found from any of its rows.
//!
//! Entries of sparse columns lie far apart. One number for every row does not stay in the nearest cache, but one
//! bit does. If the bits suffice, nothing else is read.

use std::borrow::Cow;
use std::ops::Range;

use crate::data::Queries;

/// The rows that begin a query, and the row past the last.
#[derive(Debug, Clone)]
pub(super) struct QueryStarts(Vec<u64>);

impl QueryStarts {
    pub(super) fn new(queries: &Queries) -> Self {
        let mut words = vec![0; queries.rows() / 64 + 1];
        for &start in queries.offsets() {
            words[start as usize / 64] |= 1 << (start % 64);
        }
        Self(words)
    }

    /// Whether a row begins a query, or is past the last.
    #[inline(always)]
    pub(super) fn has(&self, row: u32) -> bool {
        self.0[row as usize / 64] >> (row % 64) & 1 != 0
    }

    /// The rows of the query of `row`, unless they lie far apart.
    #[inline(always)]
    fn around(&self, row: usize) -> Option<Range<usize>> {
        let (word, place) = (row / 64, row % 64);
        let last = |word: usize, bits: u64| {
            let last = bits.checked_ilog2()?;
            Some(64 * word + last as usize)
        };
        let first = |word: usize, bits: u64| {
            let first = (bits != 0).then_some(bits.trailing_zeros())?;
            Some(64 * word + first as usize)
        };
        // The starts up to the row, and the starts after it.
        let up = self.0[word] & (u64::MAX >> (63 - place));
        let after = self.0[word] & (u64::MAX - 1) << place;
        let before = || last(word - 1, *self.0.get(word.checked_sub(1)?)?);
        let behind = || first(word + 1, *self.0.get(word + 1)?);
        let start = last(word, up).or_else(before)?;
        Some(start..first(word, after).or_else(behind)?)
    }
}

/// Queries whose rows are looked up.
#[derive(Debug, Clone)]
pub(super) struct QueryRows<'q> {
    queries: &'q Queries,
    query_of_row: &'q [u32],
    starts: Cow<'q, QueryStarts>,
}

impl<'q> QueryRows<'q> {
    pub(super) fn new(queries: &'q Queries, query_of_row: &'q [u32]) -> Self {
        let starts = Cow::Owned(QueryStarts::new(queries));
        Self {
            queries,
            query_of_row,
            starts,
        }
    }

    /// Rows of queries with known starts.
    pub(super) fn with(
        queries: &'q Queries,
        query_of_row: &'q [u32],
        starts: &'q QueryStarts,
    ) -> Self {
        Self {
            queries,
            query_of_row,
            starts: Cow::Borrowed(starts),
        }
    }

    /// The rows of the query of `row`.
    #[inline(always)]
    pub(super) fn around(&self, row: usize) -> Range<usize> {
        let of_query = || self.queries.range(self.query_of_row[row] as usize);
        self.starts.around(row).unwrap_or_else(of_query)
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn queries_are_found_by_their_rows(
            sizes in vec(prop_oneof![1..9usize, 50..70usize, 1..400usize], 1..40),
        ) {
            let queries = Queries::from_sizes(&sizes).unwrap();
            let (starts, of_rows) = (QueryStarts::new(&queries), queries.of_rows());
            let rows = QueryRows::new(&queries, &of_rows);
            for (range, row) in queries.ranges().flat_map(|range| range.clone().map(move |row| (range.clone(), row))) {
                prop_assert_eq!(rows.around(row), range.clone());
                let found = starts.around(row);
                prop_assert!(found == Some(range.clone()) || found.is_none() && range.len() > 64);
                prop_assert_eq!(starts.has(u32::try_from(row).unwrap()), row == range.start);
            }
            prop_assert!(starts.has(u32::try_from(queries.rows()).unwrap()));
        }
    }
}
