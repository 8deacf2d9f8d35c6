//! The partition of examples into queries.

use std::hash::BuildHasher;
use std::ops::Range;

use foldhash::HashMap;
use foldhash::fast::RandomState;

use super::check;
use crate::error::{Error, Result, ensure};
use crate::linalg::centring::centre_twice;
use rankrls_files::Strings;

/// A partition of the rows `0..m` into queries, each a contiguous run of rows.
///
/// Identifiers are opaque tokens. A data set without any is one nameless query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queries {
    /// `q + 1` ascending row numbers; query `i` is `offsets[i]..offsets[i + 1]`.
    offsets: Vec<u32>,
    ids: Option<Strings>,
}

impl Queries {
    /// One nameless query that holds all `rows`.
    pub fn single(rows: usize) -> Result<Self> {
        Self::from_sizes(&[rows])
    }

    /// Nameless queries with these numbers of rows.
    pub fn from_sizes(sizes: &[usize]) -> Result<Self> {
        let mut offsets = Vec::with_capacity(sizes.len() + 1);
        offsets.push(0);
        let mut rows = 0usize;
        for (query, &size) in sizes.iter().enumerate() {
            if size == 0 && sizes.len() > 1 {
                return Err(Error::data(format!(
                    "query {query} has no rows: every query needs at least one"
                )));
            }
            rows = rows.saturating_add(size);
            offsets.push(check::rows(rows)?);
        }
        ensure!(
            rows > 0,
            data,
            "the data has no rows: expected at least one example"
        );
        Ok(Self { offsets, ids: None })
    }

    /// Queries from the identifier of every row, in row order. Identifiers are integers, text, or any values that
    /// can be compared and written.
    pub fn from_row_ids<T: PartialEq + ToString>(row_ids: &[T]) -> Result<Self> {
        let groups = group(row_ids);
        if let Some((query, row)) = groups.returned {
            let (id, first) = (
                groups.ids.get(query as usize),
                groups.places[query as usize],
            );
            return Err(Error::data(format!(
                "query {:?} begins at row {first} and comes back at row {row}: rows of a query must be contiguous",
                id.unwrap_or_default()
            )));
        }
        let (queries, _) = groups.finish(row_ids.len())?;
        Ok(queries)
    }

    /// This partition with one identifier a query.
    pub(crate) fn with_ids(mut self, mut ids: Strings) -> Result<Self> {
        check::length("query identifiers", self.len(), ids.len())?;
        ids.shrink_to_fit();
        self.ids = Some(ids);
        Ok(self)
    }

    /// The `taken` queries, renumbered and with their identifiers.
    pub(crate) fn subset(&self, taken: &[bool]) -> Result<Self> {
        let taken = |query: &usize| taken[*query];
        let kept = || (0..self.len()).filter(taken);
        let sizes: Vec<usize> = kept().map(|query| self.range(query).len()).collect();
        let mut queries = Self::from_sizes(&sizes)?;
        if let Some(ids) = &self.ids {
            queries = queries.with_ids(kept().filter_map(|query| ids.get(query)).collect())?;
        }
        Ok(queries)
    }

    /// Number of queries `q`, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a partition is never empty")]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of rows `m`, at least 1.
    pub fn rows(&self) -> usize {
        self.offsets[self.len()] as usize
    }

    /// The rows of query `query`.
    ///
    /// # Panics
    /// When `query >= self.len()`.
    pub fn range(&self, query: usize) -> Range<usize> {
        self.offsets[query] as usize..self.offsets[query + 1] as usize
    }

    /// The rows of a range of queries.
    pub(crate) fn rows_of(&self, queries: &Range<usize>) -> Range<usize> {
        self.offsets[queries.start] as usize..self.offsets[queries.end] as usize
    }

    /// The rows of each query, in order.
    pub fn ranges(&self) -> impl ExactSizeIterator<Item = Range<usize>> + Clone {
        self.offsets
            .windows(2)
            .map(|pair| pair[0] as usize..pair[1] as usize)
    }

    /// `q + 1` ascending row numbers: query `i` is `offsets[i]..offsets[i + 1]`.
    pub fn offsets(&self) -> &[u32] {
        &self.offsets
    }

    /// The identifier of query `query` as it stood in the data, if there was one.
    pub fn id(&self, query: usize) -> Option<&str> {
        self.ids.as_ref()?.get(query)
    }

    /// All identifiers, if the data had any.
    pub fn ids(&self) -> Option<&Strings> {
        self.ids.as_ref()
    }

    /// The query of `row`, by bisection.
    ///
    /// # Panics
    /// When `row >= self.rows()`.
    pub fn of_row(&self, row: usize) -> usize {
        assert!(row < self.rows(), "row {row} of {}", self.rows());
        self.offsets
            .partition_point(|&offset| offset as usize <= row)
            - 1
    }

    /// The query of every row: `m` numbers.
    pub fn of_rows(&self) -> Vec<u32> {
        let mut of_rows = Vec::with_capacity(self.rows());
        for (query, range) in (0u32..).zip(self.ranges()) {
            of_rows.resize(range.end, query);
        }
        of_rows
    }

    /// A vector of one number (or other `T`) a row, cut into parts by query.
    ///
    /// # Panics
    /// The iterator panics if `values` is shorter than [`rows`](Self::rows).
    ///
    /// ```
    /// use rankrls::Queries;
    ///
    /// let queries = Queries::from_sizes(&[1, 2])?;
    /// let mut residuals = [0.0; 3];
    /// for (part, value) in queries.split_mut(&mut residuals).zip([4.0, 5.0]) {
    ///     part.fill(value);
    /// }
    /// assert_eq!(residuals, [4.0, 5.0, 5.0]);
    /// # Ok::<(), rankrls::Error>(())
    /// ```
    pub fn split_mut<'v, T>(
        &self,
        values: &'v mut [T],
    ) -> impl ExactSizeIterator<Item = &'v mut [T]> + use<'_, 'v, T> {
        self.split_rows_mut(values, 1)
    }

    /// Ranges of queries, one for each task: some thousand rows, or one larger query.
    pub(crate) fn tasks(&self) -> Vec<Range<usize>> {
        const ROWS: usize = 1024;
        let (mut tasks, mut begin) = (Vec::new(), 0);
        for (query, rows) in self.ranges().enumerate() {
            if rows.end - self.range(begin).start >= ROWS {
                tasks.push(begin..query + 1);
                begin = query + 1;
            }
        }
        tasks.extend((begin < self.len()).then_some(begin..self.len()));
        tasks
    }

    /// The `m` `values` of rows less the mean of their query, accurate under any common offset.
    pub(crate) fn centred(&self, values: &[f64]) -> Vec<f64> {
        let mut centred = values.to_vec();
        self.split_mut(&mut centred).for_each(centre_twice);
        centred
    }

    /// A row-major matrix of `stride` columns, cut into parts by query.
    ///
    /// # Panics
    /// The iterator panics if `values` is shorter than [`rows`](Self::rows) times `stride`.
    pub(crate) fn split_rows_mut<'v, T>(
        &self,
        values: &'v mut [T],
        stride: usize,
    ) -> impl ExactSizeIterator<Item = &'v mut [T]> + use<'_, 'v, T> {
        let mut rest = values;
        self.ranges().map(move |rows| {
            rest.split_off_mut(..rows.len() * stride)
                .expect("values for every row")
        })
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        size_of_val(&self.offsets[..]) + self.ids.as_ref().map_or(0, Strings::memory)
    }

    /// Rows of the largest query.
    pub(crate) fn largest(&self) -> usize {
        self.ranges().map(|range| range.len()).max().unwrap_or(0)
    }
}

/// Queries in order of appearance, from runs of rows with the same identifier.
#[derive(Debug, Default)]
pub(super) struct Groups {
    ids: Strings,
    /// The place where each query began: a line, row or position.
    places: Vec<u64>,
    /// Queries by the hash of their identifier, or by the next free number. Identifiers are not stored twice: a
    /// file may have millions.
    positions: HashMap<u64, u32>,
    hasher: RandomState,
    runs: Vec<Stretch>,
    /// The first scattered query, and the place where it came back.
    returned: Option<(u32, u64)>,
}

#[derive(Debug, Clone, Copy)]
struct Stretch {
    query: u32,
    rows: usize,
}

impl Groups {
    /// The place of the first row with an identifier.
    pub(super) fn first_place(&self) -> Option<u64> {
        self.places.first().copied()
    }

    /// Whether the last row belongs to the query `id`.
    pub(super) fn ends_with(&self, id: &str) -> bool {
        let last = self.runs.last();
        last.is_some_and(|run| self.ids.get(run.query as usize) == Some(id))
    }

    /// The first scattered query, and the place where it came back.
    pub(super) fn returned(&self) -> Option<(&str, u64)> {
        let (query, place) = self.returned?;
        Some((self.ids.get(query as usize)?, place))
    }

    /// The first identifier that may stand for several, as [`is_rounded`] says, and its place.
    pub(super) fn rounded(&self) -> Option<(&str, u64)> {
        let mut all = self.ids.iter().zip(self.places.iter().copied());
        all.find(|(id, _)| is_rounded(id))
    }

    /// Adds `rows` rows of the query `id`, the first of them at `place`.
    pub(super) fn add(&mut self, id: &str, rows: usize, place: u64) {
        if self.ends_with(id)
            && let Some(run) = self.runs.last_mut()
        {
            run.rows += rows;
            return;
        }
        let query = match self.find(id) {
            Ok(query) => {
                self.returned.get_or_insert((query, place));
                query
            }
            Err(key) => self.begin(id, key, place),
        };
        self.runs.push(Stretch { query, rows });
    }

    /// The query `id`, or its future key in `positions`.
    fn find(&self, id: &str) -> Result<u32, u64> {
        let mut key = self.hasher.hash_one(id);
        while let Some(&query) = self.positions.get(&key) {
            if self.ids.get(query as usize) == Some(id) {
                return Ok(query);
            }
            key = key.wrapping_add(1);
        }
        Err(key)
    }

    fn begin(&mut self, id: &str, key: u64, place: u64) -> u32 {
        // Queries beyond 32 bits have rows beyond 32 bits, which are refused.
        let query = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        self.ids.push(id);
        self.places.push(place);
        self.positions.insert(key, query);
        query
    }

    /// The queries of `rows` rows. Also the present position of every row, if rows must move to make queries
    /// contiguous. Without any identifier, all rows are one query.
    pub(super) fn finish(self, rows: usize) -> Result<(Queries, Option<Vec<u32>>)> {
        if self.runs.is_empty() {
            return Ok((Queries::single(rows)?, None));
        }
        let mut sizes = vec![0; self.ids.len()];
        for run in &self.runs {
            sizes[run.query as usize] += run.rows;
        }
        let queries = Queries::from_sizes(&sizes)?.with_ids(self.ids)?;
        let order = self.returned.map(|_| order(&queries, &self.runs));
        Ok((queries, order))
    }
}

/// The present position of every row of `queries`.
fn order(queries: &Queries, runs: &[Stretch]) -> Vec<u32> {
    let mut free: Vec<usize> = queries.ranges().map(|range| range.start).collect();
    let mut order = vec![0; queries.rows()];
    let mut positions = 0..;
    for run in runs {
        let start = free[run.query as usize];
        free[run.query as usize] += run.rows;
        for (place, position) in order[start..start + run.rows]
            .iter_mut()
            .zip(&mut positions)
        {
            *place = position;
        }
    }
    order
}

/// Queries from the identifier of every row.
pub(super) fn group<T: PartialEq + ToString>(row_ids: &[T]) -> Groups {
    let mut groups = Groups::default();
    let mut row = 0;
    for run in row_ids.chunk_by(PartialEq::eq) {
        groups.add(&run[0].to_string(), run.len(), row as u64);
        row += run.len();
    }
    groups
}

/// From here on, different whole numbers may be one float.
const EXACT: f64 = 9_007_199_254_740_992.0;

/// Whether a program has rounded an identifier, so that it may stand for several: `1.23457E+11` of a spreadsheet,
/// or a float too large to distinguish whole numbers. Hexadecimal digits have neither point nor plus.
pub(crate) fn is_rounded(id: &str) -> bool {
    // Spreadsheets write the decimal sign of the country.
    let number = id.replacen(',', ".", 1);
    let Some(value) = number.parse::<f64>().ok().filter(|value| value.is_finite()) else {
        return false;
    };
    let Some((digits, exponent)) = number.split_once(['e', 'E']) else {
        return number.contains('.') && value.abs() >= EXACT;
    };
    !exponent.starts_with('-') && (exponent.starts_with('+') || digits.contains('.'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Kind;

    #[test]
    fn runs_of_equal_ids_are_queries() {
        let queries = Queries::from_row_ids(&["10", "1001", "1001", "7"]).unwrap();
        assert_eq!(queries.ranges().collect::<Vec<_>>(), [0..1, 1..3, 3..4]);
        assert_eq!(queries.id(1), Some("1001"));
        assert_eq!(queries.of_rows(), [0, 1, 1, 2]);
        assert_eq!(queries.largest(), 2);
    }

    fn groups(ids: &str) -> Groups {
        let mut groups = Groups::default();
        for (id, place) in ids.chars().zip(1..) {
            groups.add(&id.to_string(), 1, place);
        }
        groups
    }

    #[test]
    fn identifiers_with_too_few_digits_are_told_from_others() {
        for id in
            "1.23457E+11 1.23458e+11 1,23457E+11 1E+11 1.23457E11 -1.2E+20 9.007199254740993e15 \
            1234567890123456789.0 123.457E+09"
                .split(' ')
        {
            assert!(is_rounded(id), "{id}");
        }
        for id in "18601e91 1e5 3e12 9007199254740993 2.5 e20 1.2.3e4 10.1000/182 1e-5 1.5e-7 0x1e+5 inf 1.e 12e+".split(' ') {
            assert!(!is_rounded(id), "{id}");
        }
    }

    #[test]
    fn a_returning_query_is_merged_and_told() {
        assert_eq!(groups("aabba").returned(), Some(("a", 5)));
        assert_eq!(groups("aabb").returned(), None);
        let groups = groups("aabcbab");
        let (queries, order) = groups.finish(7).unwrap();
        assert_eq!(queries.offsets(), [0, 3, 6, 7]);
        assert_eq!(queries.ids().unwrap().iter().collect::<String>(), "abc");
        assert_eq!(order.unwrap(), [0, 1, 5, 2, 4, 6, 3]);
    }

    #[test]
    fn contiguous_rows_stay_where_they_are() {
        assert_eq!(groups("ba").finish(2).unwrap().1, None);
        let (queries, order) = Groups::default().finish(3).unwrap();
        assert_eq!((queries.len(), order), (1, None));
    }

    #[test]
    fn values_are_cut_where_queries_are() {
        let queries = Queries::from_sizes(&[2, 1, 3]).unwrap();
        let mut values: Vec<usize> = (0..12).collect();
        let parts: Vec<_> = queries.split_rows_mut(&mut values, 2).collect();
        assert_eq!(parts, [&[0, 1, 2, 3][..], &[4, 5], &[6, 7, 8, 9, 10, 11]]);
        let lengths = queries.split_mut(&mut values).map(|part| part.len());
        assert_eq!(lengths.collect::<Vec<_>>(), [2, 1, 3]);
        assert_eq!(queries.split_rows_mut(&mut values, 0).len(), 3);
    }

    #[test]
    fn no_rows_and_empty_queries_are_refused() {
        let no_rows = "the data has no rows: expected at least one example";
        let empty = "query 1 has no rows: every query needs at least one";
        for (sizes, message) in [(&[0][..], no_rows), (&[], no_rows), (&[2, 0], empty)] {
            let error = Queries::from_sizes(sizes).unwrap_err();
            assert_eq!((error.kind(), &*error.to_string()), (Kind::Data, message));
        }
    }
}
