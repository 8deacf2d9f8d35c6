//! The partition of examples into queries.

use std::ops::Range;

use super::{DatasetError, Strings};

/// A partition of the rows `0..m` into queries, each a contiguous run of rows.
///
/// Identifiers are opaque tokens; a data set that came without any is one
/// nameless query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Queries {
    /// `q + 1` ascending row numbers; query `i` is `offsets[i]..offsets[i + 1]`.
    offsets: Vec<u32>,
    ids: Option<Strings>,
}

impl Queries {
    /// One nameless query that holds all `rows`.
    ///
    /// # Errors
    /// [`DatasetError::NoRows`] when `rows` is 0, [`DatasetError::TooManyRows`] past 2^32 - 1.
    pub fn single(rows: usize) -> Result<Self, DatasetError> {
        Self::from_sizes(&[rows])
    }

    /// Nameless queries of the given numbers of rows.
    ///
    /// # Errors
    /// [`DatasetError::NoRows`] without rows, [`DatasetError::EmptyQuery`] for a size of 0,
    /// [`DatasetError::TooManyRows`] past 2^32 - 1 rows.
    pub fn from_sizes(sizes: &[usize]) -> Result<Self, DatasetError> {
        let mut offsets = Vec::with_capacity(sizes.len() + 1);
        offsets.push(0);
        let mut rows = 0usize;
        for (query, &size) in sizes.iter().enumerate() {
            if size == 0 && sizes.len() > 1 {
                return Err(DatasetError::EmptyQuery { query });
            }
            rows = rows.saturating_add(size);
            offsets.push(u32::try_from(rows).map_err(|_| DatasetError::TooManyRows { rows })?);
        }
        if rows == 0 {
            return Err(DatasetError::NoRows);
        }
        Ok(Self { offsets, ids: None })
    }

    /// Queries from the identifier of every row, in row order.
    ///
    /// # Errors
    /// [`DatasetError::SplitQuery`] when an identifier comes back after another one,
    /// [`DatasetError::NoRows`] without rows.
    pub fn from_row_ids<S: AsRef<str>>(row_ids: &[S]) -> Result<Self, DatasetError> {
        let mut ids = Strings::default();
        let mut sizes: Vec<usize> = Vec::new();
        let mut first_rows = std::collections::HashMap::new();
        for (row, id) in row_ids.iter().enumerate() {
            let id = id.as_ref();
            if row > 0
                && row_ids[row - 1].as_ref() == id
                && let Some(size) = sizes.last_mut()
            {
                *size += 1;
                continue;
            }
            if let Some(first) = first_rows.insert(id, row) {
                return Err(DatasetError::SplitQuery {
                    id: id.to_owned(),
                    first,
                    again: row,
                });
            }
            ids.push(id);
            sizes.push(1);
        }
        Self::from_sizes(&sizes)?.with_ids(ids)
    }

    /// The same partition with one identifier a query.
    ///
    /// # Errors
    /// [`DatasetError::Lengths`] unless there are as many identifiers as queries.
    pub fn with_ids(mut self, ids: Strings) -> Result<Self, DatasetError> {
        if ids.len() != self.len() {
            return Err(DatasetError::Lengths {
                what: "query identifiers",
                expected: self.len(),
                found: ids.len(),
            });
        }
        self.ids = Some(ids);
        Ok(self)
    }

    /// The queries that are `taken`, renumbered and with their identifiers.
    pub(super) fn subset(&self, taken: &[bool]) -> Result<Self, DatasetError> {
        let taken = |query: &usize| taken[*query];
        let kept = || (0..self.len()).filter(taken);
        let sizes: Vec<usize> = kept().map(|query| self.range(query).len()).collect();
        let queries = Self::from_sizes(&sizes)?;
        match &self.ids {
            Some(ids) => queries.with_ids(kept().filter_map(|query| ids.get(query)).collect()),
            None => Ok(queries),
        }
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

    /// A vector of one number (or other `T`) a row, cut into the parts of the queries.
    ///
    /// # Panics
    /// The iterator panics when `values` is shorter than [`rows`](Self::rows).
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
    /// # Ok::<(), rankrls::DatasetError>(())
    /// ```
    pub fn split_mut<'v, T>(
        &self,
        values: &'v mut [T],
    ) -> impl ExactSizeIterator<Item = &'v mut [T]> + use<'_, 'v, T> {
        self.split_rows_mut(values, 1)
    }

    /// A row-major matrix of `stride` columns, cut into the rows of the queries.
    ///
    /// # Panics
    /// The iterator panics when `values` is shorter than [`rows`](Self::rows) times `stride`.
    pub fn split_rows_mut<'v, T>(
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

    /// Rows of the largest query.
    pub fn largest(&self) -> usize {
        self.ranges().map(|range| range.len()).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_equal_ids_are_queries() {
        let queries = Queries::from_row_ids(&["10", "1001", "1001", "7"]).unwrap();
        assert_eq!(queries.ranges().collect::<Vec<_>>(), [0..1, 1..3, 3..4]);
        assert_eq!(queries.id(1), Some("1001"));
        assert_eq!(queries.of_rows(), [0, 1, 1, 2]);
        assert_eq!(queries.largest(), 2);
    }

    #[test]
    fn a_query_that_comes_back_is_refused() {
        let error = Queries::from_row_ids(&["a", "b", "a"]).unwrap_err();
        assert!(matches!(
            error,
            DatasetError::SplitQuery {
                first: 0,
                again: 2,
                ..
            }
        ));
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
        assert!(matches!(Queries::single(0), Err(DatasetError::NoRows)));
        assert!(matches!(
            Queries::from_sizes(&[]),
            Err(DatasetError::NoRows)
        ));
        assert!(matches!(
            Queries::from_sizes(&[2, 0]),
            Err(DatasetError::EmptyQuery { query: 1 })
        ));
    }
}
