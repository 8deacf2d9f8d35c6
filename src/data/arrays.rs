//! Data sets from arrays in memory: compressed columns and rows, arrays of `ndarray`, matrices of `sprs`.

use std::borrow::Cow;
use std::convert::Infallible;

use ndarray::ArrayView2;
use sprs::{CsMatViewI, SpIndex};

use super::check;
use super::columns::{Columns, no_matrix};
use super::dataset::Dataset;
use super::packed::{Packed, runs_of_rows};
use super::queries::{Queries, group};
use crate::error::Result;

/// Four functions make data sets from arrays. Each takes a matrix of examples (rows) by features (columns), a label
/// for each row, and the [`Queries`], whose rows are next to each other. Labels in a slice are borrowed.
///
/// | function | matrix | memory |
/// |---|---|---|
/// | [`from_csc`](Self::from_csc) | bounds, rows and values of compressed columns | borrowed, or taken over |
/// | [`from_csr`](Self::from_csr) | bounds, columns and values of compressed rows | 12 bytes an entry |
/// | [`from_dense`](Self::from_dense) | a view of an array of `ndarray`, in any layout | 12 bytes an entry |
/// | [`from_sprs`](Self::from_sprs) | a view of a matrix of `sprs`, by rows or columns | 12 bytes an entry |
///
/// Stored zeros are dropped; [`from_csc`](Self::from_csc) then copies its arrays. All functions refuse numbers of
/// rows that disagree, and values or labels that are not finite, with an [`Error`](crate::Error). The labels of
/// rows to score do not matter, and their queries may be [`Queries::single`].
///
/// ```
/// use ndarray::array;
/// use rankrls::{Dataset, Queries};
/// use sprs::CsMat;
///
/// // Three examples of two features; the second query has the last two.
/// let dense = array![[0.5, 0.0], [0.0, 2.0], [1.0, 0.0]];
/// let (labels, queries) = ([2.0, 0.0, 1.0], Queries::from_row_ids(&["a", "b", "b"])?);
/// let data = Dataset::from_dense(dense.view(), &labels, queries.clone())?;
/// assert_eq!((data.rows(), data.width(), data.nonzeros()), (3, 2, 3));
/// assert_eq!(data.queries().id(1), Some("b"));
///
/// let sparse: CsMat<f64> = CsMat::csr_from_dense(dense.view(), 0.0);
/// let same = Dataset::from_sprs(sparse.view(), &labels, queries.clone())?;
/// assert_eq!(same.x(), data.x());
///
/// // Compressed columns are borrowed.
/// let (bounds, rows, values) = ([0, 2, 3], [0, 2, 1], [0.5, 1.0, 2.0]);
/// let borrowed = Dataset::from_csc(&bounds, &rows, &values, &labels, queries)?;
/// assert_eq!(borrowed.x().data().as_ptr(), values.as_ptr());
///
/// // A query that comes back is an error; `Dataset::regrouped` moves its rows together.
/// let error = Queries::from_row_ids(&["a", "b", "a"]).unwrap_err();
/// assert!(error.to_string().starts_with("query \"a\" begins at row 0 and comes back at row 2"));
/// let single = Dataset::from_dense(dense.view(), &labels, Queries::single(3)?)?;
/// let moved = single.regrouped(&["a", "b", "a"])?;
/// assert_eq!(moved.labels(), [2.0, 1.0, 0.0]);
/// assert_eq!(moved.input_rows(), Some(&[0, 2, 1][..]));
/// # Ok::<(), rankrls::Error>(())
/// ```
impl<'a> Dataset<'a> {
    /// A data set over borrowed or owned compressed-column arrays, without copying them. `indptr` has `n + 1`
    /// entries, and `rows` and `values` have one for each non-zero. Column `j` has the rows
    /// `rows[indptr[j]..indptr[j + 1]]`, strictly ascending, and the values at the same places.
    pub fn from_csc(
        indptr: impl Into<Cow<'a, [usize]>>,
        rows: impl Into<Cow<'a, [u32]>>,
        values: impl Into<Cow<'a, [f64]>>,
        labels: impl Into<Cow<'a, [f64]>>,
        queries: Queries,
    ) -> Result<Self> {
        let indptr = indptr.into();
        let shape = (queries.rows(), indptr.len().saturating_sub(1));
        let columns = Columns::new(shape, indptr, rows.into(), values.into())?;
        Self::assemble(columns, labels.into(), queries)
    }

    /// A data set from compressed rows. Row `i` has the columns `columns[indptr[i]..indptr[i + 1]]`, strictly
    /// ascending and below `width`, and the values at the same places. Only columns with an entry other than zero
    /// are stored.
    ///
    /// The rows are only read. The result takes 12 bytes an entry and 12 an occupied column.
    pub fn from_csr(
        indptr: &[usize],
        columns: &[u32],
        values: &[f64],
        width: usize,
        labels: impl Into<Cow<'a, [f64]>>,
        queries: Queries,
    ) -> Result<Self> {
        CsMatViewI::try_new((queries.rows(), width), indptr, columns, values)
            .map_err(|(.., error)| no_matrix(error))?;
        Columns::check_starts(indptr)?;
        let packed = Packed::from(runs_of_rows(indptr, columns, values));
        let Ok(columns) = packed.columns::<Infallible>(width, |_| Ok(()));
        Self::assemble(columns, labels.into(), queries)
    }

    /// A data set from a dense array of `m` rows by `n` columns. Stores the entries other than zero, in 12 bytes
    /// each. `mapv` of `ndarray` converts other values to `f64`.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "a view, as from_sprs takes one"
    )]
    pub fn from_dense(
        x: ArrayView2<'_, f64>,
        labels: impl Into<Cow<'a, [f64]>>,
        queries: Queries,
    ) -> Result<Self> {
        check::length("rows", queries.rows(), x.nrows())?;
        Self::assemble(columns_of_dense(&x)?, labels.into(), queries)
    }

    /// A data set from a matrix of `sprs` with `m` rows and `n` columns, compressed by rows or columns, with
    /// indices of any type. It is copied. [`from_csc`](Self::from_csc) borrows the arrays of a matrix by columns
    /// with `u32` indices and `usize` bounds. `to_other_types` of `sprs` converts other values to `f64`.
    pub fn from_sprs<I: SpIndex, P: SpIndex>(
        x: CsMatViewI<'_, f64, I, P>,
        labels: impl Into<Cow<'a, [f64]>>,
        queries: Queries,
    ) -> Result<Self> {
        check::length("rows", queries.rows(), x.rows())?;
        check::columns(x.cols())?;
        // A view of some rows or columns keeps the bounds of the whole matrix.
        let proper = x.proper_indptr();
        let bounds: Vec<usize> = proper.iter().map(|bound| bound.index()).collect();
        // Both sides of the matrix have 32 bits.
        let narrow = |index: &I| u32::try_from(index.index()).unwrap_or(u32::MAX);
        let indices: Vec<u32> = x.indices().iter().map(narrow).collect();
        if x.is_csr() {
            return Self::from_csr(&bounds, &indices, x.data(), x.cols(), labels, queries);
        }
        Self::from_csc(bounds, indices, x.data().to_vec(), labels, queries)
    }

    /// The rows in the queries of `row_ids`, one identifier a row. It may be an integer, text, or any value that
    /// can be compared and written. Scattered rows of a query are moved together. Queries stand in the order of
    /// their first rows, and the rows of a query keep their order. [`input_rows`](Self::input_rows) has the way
    /// back. Borrowed arrays are copied if rows move. A teacher is dropped, since its scores belong to the old
    /// queries.
    pub fn regrouped<T: PartialEq + ToString>(mut self, row_ids: &[T]) -> Result<Self> {
        check::length("identifiers of queries", self.rows(), row_ids.len())?;
        let (queries, order) = group(row_ids).finish(row_ids.len())?;
        self.examples.teacher = None;
        let Some(order) = order else {
            self.examples.queries = queries;
            return Ok(self);
        };
        self.columns.move_rows(&order);
        self.examples = self.examples.pick(&order, queries);
        self.examples.input_rows.get_or_insert(order);
        Ok(self)
    }

    /// The stored columns as a matrix of [`rows`](Self::rows) by
    /// [`stored_columns`](Self::stored_columns); [`feature`](Self::feature) has the feature of each.
    pub fn x(&self) -> CsMatViewI<'_, f64, u32, usize> {
        self.columns.matrix()
    }
}

/// The entries other than zero of a dense array.
fn columns_of_dense(x: &ArrayView2<'_, f64>) -> Result<Columns<'static>> {
    check::rows(x.nrows())?;
    let mut starts = vec![0];
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    for column in x.columns() {
        for (row, &value) in (0u32..).zip(column).filter(|(_, value)| **value != 0.0) {
            rows.push(row);
            values.push(value);
        }
        starts.push(rows.len());
    }
    Columns::new(x.dim(), starts.into(), rows.into(), values.into())
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Axis, Slice, array};
    use sprs::{CsMat, CsMatI};

    use super::*;
    use crate::data::DataHash;

    const IDS: [&str; 4] = ["3", "7", "7", "7"];
    const LABELS: [f64; 4] = [1.0, 0.0, 2.0, 0.5];

    fn dense() -> Array2<f64> {
        array![
            [0.5, 0.0, 0.0, -1.0],
            [0.0, 0.0, 2.0, 0.0],
            [0.0, 0.0, 0.0, 0.0],
            [4.0, 0.0, 8.0, 16.0],
        ]
    }

    fn sparse<I: SpIndex, P: SpIndex>() -> CsMatI<f64, I, P> {
        CsMatI::csc_from_dense(dense().view(), 0.0)
    }

    fn queries() -> Queries {
        Queries::from_row_ids(&IDS).unwrap()
    }

    fn of_dense(x: &ArrayView2<'_, f64>) -> DataHash {
        let queries = Queries::single(x.nrows()).unwrap();
        let labels = &LABELS[..x.nrows()];
        DataHash::of(&Dataset::from_dense(*x, labels, queries).unwrap())
    }

    fn of_sprs<I: SpIndex, P: SpIndex>(x: CsMatViewI<'_, f64, I, P>) -> DataHash {
        let queries = Queries::single(x.rows()).unwrap();
        let labels = &LABELS[..x.rows()];
        DataHash::of(&Dataset::from_sprs(x, labels, queries).unwrap())
    }

    #[test]
    fn the_same_data_through_every_door_is_the_same_data_set() {
        let x = dense();
        let expected = of_dense(&x.view());
        let single = || Queries::single(4).unwrap();
        let (columns, rows) = ([0, 3, 2, 0, 2, 3], [0, 3, 1, 3, 0, 3]);
        let by_row = [0.5, -1.0, 2.0, 4.0, 8.0, 16.0];
        let by_row = Dataset::from_csr(&[0, 2, 3, 3, 6], &columns, &by_row, 4, &LABELS, single());
        let by_column = [0.5, 4.0, 2.0, 8.0, -1.0, 16.0];
        let by_column = Dataset::from_csc(&[0, 2, 2, 4, 6], &rows, &by_column, &LABELS, single());
        let columns_first = x.t().as_standard_layout().to_owned();
        let backwards = x.slice_axis(Axis(0), Slice::new(0, None, -1)).to_owned();
        let again = backwards.slice_axis(Axis(0), Slice::new(0, None, -1));
        let same: CsMatI<f64, i32, i64> = sparse::<i32, i64>().to_other_types();
        for found in [
            DataHash::of(&by_row.unwrap()),
            DataHash::of(&by_column.unwrap()),
            of_sprs(sparse::<u32, usize>().view()),
            of_sprs(sparse::<u32, usize>().to_csr().view()),
            of_sprs(sparse::<u32, u32>().view()),
            of_sprs(sparse::<usize, usize>().to_csr().view()),
            of_sprs(same.view()),
            of_dense(&columns_first.t()),
            of_dense(&again),
        ] {
            assert_eq!(found, expected);
        }
        // Views of a matrix are matrices, too.
        let (x, all) = (sparse::<u32, usize>(), dense());
        let last_columns = all.slice_axis(Axis(1), Slice::from(2..));
        assert_eq!(of_sprs(x.slice_outer(2..4)), of_dense(&last_columns));
        let last_rows = all.slice_axis(Axis(0), Slice::from(1..));
        assert_eq!(of_sprs(x.to_csr().slice_outer(1..4)), of_dense(&last_rows));
    }

    #[test]
    fn stored_zeros_are_no_entries() {
        let plain = Dataset::from_sprs(sparse::<u32, usize>().view(), &LABELS, queries()).unwrap();
        let mut stored: CsMatI<f64, u32, usize> =
            CsMatI::csc_from_dense(dense().mapv(|x| x + 32.0).view(), 0.0);
        let signs = (0..).map(|place| if place % 2 == 0 { 0.0 } else { -0.0 });
        for (value, zero) in stored.data_mut().iter_mut().zip(signs) {
            *value = if *value == 32.0 { zero } else { *value - 32.0 };
        }
        assert_eq!(stored.nnz(), 16);
        let by_row = stored.to_csr();
        let starts = by_row.indptr();
        let starts = starts.raw_storage();
        for data in [
            Dataset::from_sprs(stored.view(), &LABELS, queries()),
            Dataset::from_sprs(by_row.view(), &LABELS, queries()),
            Dataset::from_csr(
                starts,
                by_row.indices(),
                by_row.data(),
                4,
                &LABELS,
                queries(),
            ),
        ] {
            let data = data.unwrap();
            assert_eq!((data.nonzeros(), data.width()), (6, 4));
            assert_eq!(DataHash::of(&data), DataHash::of(&plain));
            for feature in 0..4 {
                let entries = |data: &Dataset<'_>| {
                    let position = data.position(feature);
                    position.map_or(Vec::new(), |at| data.column(at).iter().collect())
                };
                assert_eq!(entries(&data), entries(&plain), "{feature}");
            }
            assert_eq!(data.position(1), None);
        }
    }

    #[test]
    fn compressed_columns_and_labels_are_borrowed() {
        let x = sparse::<u32, usize>();
        let indptr = x.indptr();
        let (bounds, rows, values) = (indptr.raw_storage(), x.indices(), x.data());
        let data = Dataset::from_csc(bounds, rows, values, &LABELS, queries()).unwrap();
        assert_eq!(data.x().data().as_ptr(), values.as_ptr());
        assert_eq!(data.x().indices().as_ptr(), rows.as_ptr());
        assert_eq!(data.x().indptr().raw_storage().as_ptr(), bounds.as_ptr());
        assert_eq!(data.labels().as_ptr(), LABELS.as_ptr());
        let still = data.regrouped(&IDS).unwrap();
        assert_eq!(still.x().data().as_ptr(), values.as_ptr());
        let again = Dataset::from_sprs(still.x(), still.labels(), queries()).unwrap();
        assert_eq!(DataHash::of(&again), DataHash::of(&still));
    }

    #[test]
    fn queries_that_come_back_are_refused_or_regrouped() {
        let ids = ["a", "b", "a", "b"];
        let error = Queries::from_row_ids(&ids).unwrap_err().to_string();
        assert!(error.contains("begins at row 0 and comes back at row 2"));
        assert!(
            error.contains("rows of a query must be contiguous"),
            "{error}"
        );
        let moved = dense().select(Axis(0), &[0, 2, 1, 3]);
        let together = Queries::from_row_ids(&["a", "a", "b", "b"]).unwrap();
        let expected = Dataset::from_dense(moved.view(), &[1.0, 2.0, 0.0, 0.5], together).unwrap();
        let by_row = sparse::<u32, usize>().to_csr();
        let single = || Queries::single(4).unwrap();
        for data in [
            Dataset::from_sprs(sparse::<u32, usize>().view(), &LABELS, single()).unwrap(),
            Dataset::from_sprs(by_row.view(), &LABELS, single()).unwrap(),
            Dataset::from_dense(dense().view(), &LABELS, single()).unwrap(),
        ] {
            let regrouped = data.regrouped(&ids).unwrap();
            assert_eq!(DataHash::of(&regrouped), DataHash::of(&expected));
            assert_eq!(regrouped.input_rows(), Some(&[0, 2, 1, 3][..]));
            // The way back leads to the first order, not the second.
            let twice = regrouped.regrouped(&[1, 2, 1, 2]).unwrap();
            assert_eq!(twice.input_rows(), Some(&[0, 1, 2, 3][..]));
        }
        let still = Dataset::from_dense(dense().view(), &LABELS, single()).unwrap();
        let error = still.clone().regrouped(&ids[..3]).unwrap_err().to_string();
        assert_eq!(error, "identifiers of queries: expected 4, found 3");
        let still = still.regrouped(&["a", "a", "b", "b"]).unwrap();
        assert_eq!(still.input_rows(), None);
    }

    #[test]
    fn faults_are_found_where_they_are() {
        let (x, y) = (dense(), LABELS);
        let short = x.select(Axis(0), &[0, 1, 2]);
        let mut infinite = x.clone();
        infinite[[3, 2]] = f64::INFINITY;
        let value = "the value at row 3, column 2 is inf: values must be finite";
        let label = "the label of row 1 is NaN: labels must be finite";
        for (x, y, rows, message) in [
            (&x, &y[1..], 4, "labels: expected 4, found 3"),
            (&x, &y[..], 3, "rows: expected 3, found 4"),
            (&short, &y[..], 4, "rows: expected 4, found 3"),
            (&infinite, &y[..], 4, value),
            (&x, &[0.0, f64::NAN, 0.0, 0.0][..], 4, label),
        ] {
            let by_row: CsMat<f64> = CsMat::csr_from_dense(x.view(), 0.0);
            let queries = Queries::single(rows).unwrap();
            for data in [
                Dataset::from_dense(x.view(), y, queries.clone()),
                Dataset::from_sprs(by_row.view(), y, queries.clone()),
                Dataset::from_sprs(by_row.to_csc().view(), y, queries),
            ] {
                assert_eq!(data.unwrap_err().to_string(), message);
            }
        }
    }

    #[test]
    fn compressed_arrays_are_checked() {
        let by_row = |indptr: &[usize], columns: &[u32], values: &[f64]| {
            let queries = Queries::single(2).unwrap();
            Dataset::from_csr(indptr, columns, values, 5, vec![0.0, 1.0], queries)
        };
        let by_column = |indptr: &[usize], rows: &[u32], values: &[f64]| {
            let queries = Queries::single(5).unwrap();
            let parts = (indptr.to_vec(), rows.to_vec(), values.to_vec());
            Dataset::from_csc(parts.0, parts.1, parts.2, vec![0.0; 5], queries)
        };
        let cases: [(&[usize], &[u32]); 8] = [
            (&[0, 2, 2], &[3, 1]),
            (&[0, 2, 2], &[3, 3]),
            (&[0, 1, 2], &[3, 5]),
            (&[0, 2, 1], &[3, 4]),
            (&[1, 1, 3], &[3]),
            (&[0, 1, 3], &[3, 4]),
            (&[], &[]),
            (&[0, 1, 1], &[3, 3]),
        ];
        for (indptr, indices) in cases {
            let values = vec![1.0; indices.len()];
            for found in [
                by_row(indptr, indices, &values),
                by_column(indptr, indices, &values),
            ] {
                let error = found.unwrap_err().to_string();
                assert!(error.starts_with("not a compressed sparse matrix"));
            }
        }
        assert!(by_row(&[0, 1, 1], &[3], &[]).is_err());
        assert!(by_column(&[0, 1, 1], &[3], &[]).is_err());
        assert!(by_row(&[0, 1], &[3], &[1.0]).is_err());
        assert!(by_column(&[1, 1, 2], &[3], &[1.0]).is_err());
        assert!(by_row(&[0, 1, 2], &[3, 1], &[1.0, 0.0]).is_ok());
    }
}
