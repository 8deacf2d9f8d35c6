//! Data sets from matrices and vectors of `sprs`, `ndarray` and the standard library.

use std::borrow::Cow;
use std::ops::Deref;

use ndarray::{Array1, ArrayBase, ArrayView1, Data, Ix1, Ix2};
use sprs::{CsMatBase, CsMatViewI, SpIndex};

use super::merge::columns_of;
use super::queries::group;
use super::runs::runs_of_rows;
use super::{Columns, Dataset, DatasetError, Queries};
use crate::interrupt::check_interrupt;

/// Integers that the indices and bounds of a sparse matrix may be: indices of `u32` and bounds of
/// `usize` can be borrowed, others are copied.
pub trait Index: SpIndex + 'static {
    /// Row or column numbers in 32 bits.
    ///
    /// # Errors
    /// [`DatasetError::Structure`] for a number that does not fit.
    fn narrow(indices: Cow<'_, [Self]>) -> Result<Cow<'_, [u32]>, DatasetError>;

    /// Positions of entries.
    fn widen(bounds: Cow<'_, [Self]>) -> Cow<'_, [usize]>;
}

impl Index for u32 {
    fn narrow(indices: Cow<'_, [Self]>) -> Result<Cow<'_, [u32]>, DatasetError> {
        Ok(indices)
    }

    fn widen(bounds: Cow<'_, [Self]>) -> Cow<'_, [usize]> {
        bounds.iter().map(|&bound| bound as usize).collect()
    }
}

impl Index for usize {
    fn narrow(indices: Cow<'_, [Self]>) -> Result<Cow<'_, [u32]>, DatasetError> {
        let narrow = |&index: &usize| {
            let message = || format!("expected indices of 32 bits, found {index}");
            u32::try_from(index).map_err(|_| DatasetError::Structure(message()))
        };
        indices.iter().map(narrow).collect()
    }

    fn widen(bounds: Cow<'_, [Self]>) -> Cow<'_, [usize]> {
        bounds
    }
}

/// A matrix of examples (rows) by features (columns): a matrix of `sprs` in compressed rows or columns,
/// or a two-dimensional array of `ndarray`, in any layout; owned, a view or a reference. Values are
/// `f64`; `to_other_types` of `sprs` and `mapv` of `ndarray` make them of others.
///
/// Compressed columns with indices of `u32` (a `CsMatViewI<f64, u32, usize>`) are borrowed, or taken
/// over, without a copy; of indices of `usize` the indices are copied. Others are copied: 12 bytes an
/// entry. Entries of zero in an `ndarray` are not stored.
pub trait IntoColumns<'a> {
    /// The numbers as compressed columns.
    ///
    /// # Errors
    /// [`DatasetError`] when rows or columns are too many for 32 bits.
    fn into_columns(self) -> Result<Columns<'a>, DatasetError>;
}

impl<'a, I, P, Bounds, Indices, Values> IntoColumns<'a>
    for CsMatBase<f64, I, Bounds, Indices, Values, P>
where
    I: Index,
    P: Index,
    Bounds: Deref<Target = [P]> + Into<Cow<'a, [P]>>,
    Indices: Deref<Target = [I]> + Into<Cow<'a, [I]>>,
    Values: Deref<Target = [f64]> + Into<Cow<'a, [f64]>>,
{
    fn into_columns(self) -> Result<Columns<'a>, DatasetError> {
        let (by_column, shape) = (self.is_csc(), self.shape());
        let (bounds, indices, values) = self.into_raw_storage();
        let (mut bounds, indices) = (P::widen(bounds.into()), I::narrow(indices.into())?);
        // The bounds of a view of some rows or columns begin with those of the whole.
        if let Some(&first) = bounds.first().filter(|&&first| first > 0) {
            bounds.to_mut().iter_mut().for_each(|bound| *bound -= first);
        }
        if by_column {
            return Columns::new(shape, bounds, indices, values.into());
        }
        columns_of_rows(shape, &bounds, &indices, &values)
    }
}

/// The columns of a checked matrix in compressed rows.
pub(super) fn columns_of_rows(
    (rows, width): (usize, usize),
    bounds: &[usize],
    indices: &[u32],
    values: &[f64],
) -> Result<Columns<'static>, DatasetError> {
    DatasetError::check_rows(rows)?;
    let columns = columns_of(&runs_of_rows(bounds, indices, values), width);
    Ok(columns.expect("runs in memory"))
}

impl<'a, I, P, Bounds, Indices, Values> IntoColumns<'a>
    for &'a CsMatBase<f64, I, Bounds, Indices, Values, P>
where
    I: Index,
    P: Index,
    Bounds: Deref<Target = [P]>,
    Indices: Deref<Target = [I]>,
    Values: Deref<Target = [f64]>,
{
    fn into_columns(self) -> Result<Columns<'a>, DatasetError> {
        self.view().into_columns()
    }
}

impl<'a, S: Data<Elem = f64>> IntoColumns<'a> for ArrayBase<S, Ix2> {
    fn into_columns(self) -> Result<Columns<'a>, DatasetError> {
        (&self).into_columns()
    }
}

impl<'a, S: Data<Elem = f64>> IntoColumns<'a> for &ArrayBase<S, Ix2> {
    fn into_columns(self) -> Result<Columns<'a>, DatasetError> {
        DatasetError::check_rows(self.nrows())?;
        let mut starts = vec![0];
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        for column in self.columns() {
            check_interrupt();
            for (row, &value) in (0u32..).zip(column).filter(|(_, value)| **value != 0.0) {
                rows.push(row);
                values.push(value);
            }
            starts.push(rows.len());
        }
        Columns::new(self.dim(), starts.into(), rows.into(), values.into())
    }
}

/// Its columns are borrowed.
impl<'a> IntoColumns<'a> for &'a Dataset<'_> {
    fn into_columns(self) -> Result<Columns<'a>, DatasetError> {
        Ok(self.columns.view())
    }
}

/// A vector with a number or text for each row: a slice, `Vec`, array, or one-dimensional array of
/// `ndarray`; owned, a view or a reference. What lies in one piece is borrowed.
pub trait IntoVector<'a> {
    /// The value of a row.
    type Element: Clone + 'a;

    /// The elements in one piece.
    fn into_vector(self) -> Cow<'a, [Self::Element]>;
}

/// Implements [`IntoVector`] for types of vectors with elements `T`.
macro_rules! vectors {
    ($($vector:ty, [$($generics:tt)*], $this:ident => $pieces:expr;)*) => {$(
        impl<'a, T: Clone + 'a, $($generics)*> IntoVector<'a> for $vector {
            type Element = T;

            fn into_vector(self) -> Cow<'a, [T]> {
                let $this = self;
                $pieces
            }
        }
    )*};
}

vectors! {
    Cow<'a, [T]>, [], this => this;
    &'a [T], [], this => this.into();
    &'a [T; N], [const N: usize], this => this[..].into();
    Vec<T>, [], this => this.into();
    &'a Vec<T>, [], this => this.into();
    ArrayView1<'a, T>, [], this => match this.to_slice() {
        Some(slice) => slice.into(),
        None => this.to_vec().into(),
    };
    Array1<T>, [], this => this.to_vec().into();
    &'a ArrayBase<S, Ix1>, [S: Data<Elem = T>], this => this.view().into_vector();
}

/// The query of each row: [`Queries`], or a vector of identifiers (see [`IntoVector`]), which may be
/// integers, text, or anything else that can be compared and written. Equal identifiers in a row are
/// a query.
pub trait IntoQueries {
    /// The queries. Where rows have to move to make them contiguous, which is an error unless
    /// `regroup` is set: the present position of every row, in the new order.
    ///
    /// # Errors
    /// [`DatasetError::SplitQuery`] when a query comes back, [`DatasetError::NoRows`] without rows,
    /// [`DatasetError::TooManyRows`] past 2^32 - 1.
    fn into_queries(self, regroup: bool) -> Result<(Queries, Option<Vec<u32>>), DatasetError>;
}

impl IntoQueries for Queries {
    fn into_queries(self, _: bool) -> Result<(Queries, Option<Vec<u32>>), DatasetError> {
        Ok((self, None))
    }
}

impl<'a, V> IntoQueries for V
where
    V: IntoVector<'a>,
    V::Element: PartialEq + ToString,
{
    fn into_queries(self, regroup: bool) -> Result<(Queries, Option<Vec<u32>>), DatasetError> {
        group(&self.into_vector(), regroup)
    }
}

impl<'a> Dataset<'a> {
    /// Checks and takes a matrix of examples (rows) by features (columns), a label for each row, and
    /// the query of each row; the rows of a query are next to each other.
    ///
    /// `x` is any matrix of `sprs` or two-dimensional array of `ndarray` ([`IntoColumns`]), `y` a
    /// vector of `f64` ([`IntoVector`]), and `qid` a vector of integers or text, or
    /// [`Queries`] ([`IntoQueries`]). Nothing is copied that has the layout of a data set.
    ///
    /// ```
    /// use ndarray::array;
    /// use rankrls::{Dataset, DatasetError, Queries};
    /// use sprs::CsMatI;
    ///
    /// // Three examples of two features; the second query has the last two.
    /// let dense = array![[0.5, 0.0], [0.0, 2.0], [1.0, 0.0]];
    /// let labels = array![2.0, 0.0, 1.0];
    /// let data = Dataset::new(&dense, &labels, &["a", "b", "b"])?;
    /// assert_eq!((data.rows(), data.width(), data.nonzeros()), (3, 2, 3));
    /// assert_eq!(data.queries().id(1), Some("b"));
    ///
    /// // The same in compressed columns, which are borrowed, and with integers for the queries.
    /// let sparse: CsMatI<f64, u32, usize> =
    ///     CsMatI::new_csc((3, 2), vec![0, 2, 3], vec![0, 2, 1], vec![0.5, 1.0, 2.0]);
    /// let data = Dataset::new(&sparse, &labels, &[7, 8, 8])?;
    /// assert_eq!(data.x().data().as_ptr(), sparse.data().as_ptr());
    ///
    /// // All examples in one query.
    /// let data = Dataset::new(&sparse, &labels, Queries::single(3)?)?;
    /// assert_eq!(data.queries().len(), 1);
    ///
    /// // A query that comes back is an error; `Dataset::regrouped` moves its rows together.
    /// let error = Dataset::new(&sparse, &labels, &["a", "b", "a"]).unwrap_err();
    /// assert!(matches!(error, DatasetError::SplitQuery { first: 0, again: 2, .. }));
    /// let data = Dataset::regrouped(&sparse, &labels, &["a", "b", "a"])?;
    /// assert_eq!(data.labels(), [2.0, 1.0, 0.0]);
    /// assert_eq!(data.input_rows(), Some(&[0, 2, 1][..]));
    /// # Ok::<(), DatasetError>(())
    /// ```
    ///
    /// # Errors
    /// [`DatasetError`] when the numbers of rows disagree, a query comes back, or a value or label
    /// is not finite.
    pub fn new(
        x: impl IntoColumns<'a>,
        y: impl IntoVector<'a, Element = f64>,
        qid: impl IntoQueries,
    ) -> Result<Self, DatasetError> {
        let (queries, _) = qid.into_queries(false)?;
        Self::assemble(x.into_columns()?, y.into_vector(), queries)
    }

    /// Makes a data set as [`Dataset::new`] does, but moves the rows of a query that comes back to its
    /// others. Queries stay in the order of their first rows, and the rows of a query in theirs;
    /// [`Dataset::input_rows`] has the way back. Copies the matrix if rows have to move.
    ///
    /// # Errors
    /// [`DatasetError`] when the numbers of rows disagree, or a value or label is not finite.
    pub fn regrouped(
        x: impl IntoColumns<'a>,
        y: impl IntoVector<'a, Element = f64>,
        qid: impl IntoQueries,
    ) -> Result<Self, DatasetError> {
        let (queries, order) = qid.into_queries(true)?;
        let (mut columns, labels) = (x.into_columns()?, y.into_vector());
        let Some(order) = order else {
            return Self::assemble(columns, labels, queries);
        };
        DatasetError::check_length("labels", queries.rows(), labels.len())?;
        DatasetError::check_length("rows", queries.rows(), columns.height)?;
        columns.move_rows(&order);
        let moved = order.iter().map(|&row| labels[row as usize]).collect();
        Self::assemble(columns, moved, queries)?.with_input_rows(order)
    }

    /// Examples whose labels and queries nobody knows, to be scored: labels of 0, in one query.
    ///
    /// # Errors
    /// [`DatasetError`] for a matrix without rows, or with values that are not finite.
    pub fn unlabelled(x: impl IntoColumns<'a>) -> Result<Self, DatasetError> {
        let columns = x.into_columns()?;
        let rows = columns.height;
        Self::assemble(columns, vec![0.0; rows].into(), Queries::single(rows)?)
    }

    /// The stored columns as a matrix of [`rows`](Self::rows) by
    /// [`stored_columns`](Self::stored_columns); [`feature`](Self::feature) has the feature of each.
    pub fn x(&self) -> CsMatViewI<'_, f64, u32, usize> {
        self.columns.matrix()
    }
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, Axis, Slice, array};
    use sprs::{CsMat, CsMatI};

    use super::*;
    use crate::data::DataHash;

    const ROWS: usize = 4;

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

    fn labels() -> Vec<f64> {
        vec![1.0, 0.0, 2.0, 0.5]
    }

    fn hash<'a>(
        x: impl IntoColumns<'a>,
        y: impl IntoVector<'a, Element = f64>,
        qid: impl IntoQueries,
    ) -> DataHash {
        DataHash::of(&Dataset::new(x, y, qid).unwrap())
    }

    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "the values fit")]
    fn the_same_data_through_every_door_is_the_same_data_set() {
        let qid = ["3", "7", "7", "7"];
        let queries = Queries::from_row_ids(&qid).unwrap();
        let csr = (
            [0, 2, 3, 3, 6],
            [0, 3, 2, 0, 2, 3],
            [0.5, -1.0, 2.0, 4.0, 8.0, 16.0],
        );
        let expected = Dataset::from_csr(&csr.0, &csr.1, &csr.2, 4, labels(), queries.clone());
        let expected = DataHash::of(&expected.unwrap());
        let mut doors = Vec::new();
        let mut door = |hash: DataHash| doors.push(hash);

        let csc = sparse::<u32, usize>();
        door(hash(csc.view(), labels(), &qid));
        door(hash(&csc, &labels()[..], &qid[..]));
        door(hash(csc.to_csr(), labels(), qid.to_vec()));
        door(hash(csc.to_csr().view(), labels(), queries.clone()));
        door(hash(csc, labels(), queries.clone()));
        door(hash(sparse::<u32, u32>(), labels(), &qid.map(String::from)));
        door(hash(
            sparse::<usize, usize>().to_csr(),
            labels(),
            array![3, 7, 7, 7],
        ));
        let other: CsMatI<f32, i32, i64> = sparse::<i32, i64>()
            .to_other_types::<_, f64, i64>()
            .map(|&value| value as f32);
        let same: CsMatI<f64, u32, usize> = other.to_other_types();
        door(hash(same, labels(), vec![3_u64, 7, 7, 7]));

        let x = dense();
        let y = Array1::from(labels());
        door(hash(&x, &y, &qid));
        door(hash(x.view(), y.view(), array!["3", "7", "7", "7"].view()));
        let columns_first = x.t().as_standard_layout().to_owned();
        door(hash(columns_first.t(), y.clone(), &qid));
        let backwards = x.slice_axis(Axis(0), Slice::new(0, None, -1)).to_owned();
        let labels_backwards: Array1<f64> = y.iter().rev().copied().collect();
        let again = backwards.slice_axis(Axis(0), Slice::new(0, None, -1));
        let labels_again = labels_backwards.slice_axis(Axis(0), Slice::new(0, None, -1));
        door(hash(again, labels_again, &qid));

        let first = doors.iter().position(|&door| door != expected);
        assert_eq!(first, None);
    }

    #[test]
    fn compressed_columns_and_labels_are_borrowed() {
        let (x, y) = (sparse::<u32, usize>(), Array1::from(labels()));
        let data = Dataset::new(&x, &y, &[1, 1, 2, 2]).unwrap();
        let again = Dataset::new(data.x(), data.labels(), data.queries().clone()).unwrap();
        for data in [&data, &again] {
            assert_eq!(data.x().data().as_ptr(), x.data().as_ptr());
            assert_eq!(data.x().indices().as_ptr(), x.indices().as_ptr());
            let bounds = data.x().indptr().raw_storage().as_ptr();
            assert_eq!(bounds, x.indptr().raw_storage().as_ptr());
            assert_eq!(data.labels().as_ptr(), y.as_ptr());
        }
        assert_eq!(DataHash::of(&again), DataHash::of(&data));
    }

    #[test]
    fn parts_of_a_matrix_are_matrices() {
        let x = sparse::<u32, usize>();
        let part = Dataset::new(x.slice_outer(2..4), labels(), &[1; ROWS]).unwrap();
        let all = dense();
        let whole = all.slice_axis(Axis(1), Slice::from(2..));
        let whole = Dataset::new(whole, labels(), &[1; ROWS]).unwrap();
        assert_eq!(DataHash::of(&part), DataHash::of(&whole));
        let by_row = x.to_csr();
        let part = Dataset::new(by_row.slice_outer(1..4), &[0.0; 3], &[1; 3]).unwrap();
        let whole = all.slice_axis(Axis(0), Slice::from(1..));
        let whole = Dataset::new(whole, &[0.0; 3], &[1; 3]).unwrap();
        assert_eq!(DataHash::of(&part), DataHash::of(&whole));
    }

    #[test]
    fn queries_that_come_back_are_refused_or_regrouped() {
        let qid = ["a", "b", "a", "b"];
        let error = Dataset::new(dense(), labels(), &qid)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("begins at row 0 and comes back at row 2"),
            "{error}"
        );
        assert!(error.contains("Dataset::regrouped"), "{error}");
        let moved = dense().select(Axis(0), &[0, 2, 1, 3]);
        let expected = Dataset::new(moved, &[1.0, 2.0, 0.0, 0.5], &["a", "a", "b", "b"]).unwrap();
        let by_row = sparse::<u32, usize>().to_csr();
        for data in [
            Dataset::regrouped(sparse::<u32, usize>(), labels(), &qid).unwrap(),
            Dataset::regrouped(by_row, labels(), &qid).unwrap(),
            Dataset::regrouped(dense(), labels(), &qid).unwrap(),
        ] {
            assert_eq!(DataHash::of(&data), DataHash::of(&expected));
            assert_eq!(data.input_rows(), Some(&[0, 2, 1, 3][..]));
        }
        let still = Dataset::regrouped(dense(), labels(), &["a", "a", "b", "b"]).unwrap();
        assert_eq!(still.input_rows(), None);
    }

    #[test]
    fn faults_are_found_where_they_are() {
        let (x, y, qid) = (dense(), labels(), [1; ROWS]);
        let short = x.select(Axis(0), &[0, 1, 2]);
        let mut infinite = x.clone();
        infinite[[3, 2]] = f64::INFINITY;
        let none = "the data has no rows: expected at least one example";
        let value = "the value at row 3, column 2 is inf: values must be finite; fill gaps by Missing::fill";
        let label = "the label of row 1 is NaN: labels must be finite";
        for (x, y, qid, message) in [
            (&x, &y[1..], &qid[..], "labels: expected 4, found 3"),
            (&x, &y[..], &qid[..3], "labels: expected 3, found 4"),
            (&short, &y[..], &qid[..], "rows: expected 4, found 3"),
            (&x, &y[..], &qid[..0], none),
            (&infinite, &y[..], &qid[..], value),
            (&x, &[0.0, f64::NAN, 0.0, 0.0][..], &qid[..], label),
        ] {
            let by_row: CsMat<f64> = CsMat::csr_from_dense(x.view(), 0.0);
            for data in [
                Dataset::new(x, y, qid),
                Dataset::new(by_row, y, qid),
                Dataset::regrouped(x, y, qid),
            ] {
                assert_eq!(data.unwrap_err().to_string(), message);
            }
        }
    }

    #[test]
    fn a_far_column_costs_no_more_than_a_near_one() {
        let (indptr, columns, values) = ([0, 1, 2], [4_000_000_000, 3], [1.0, 2.0]);
        let x = CsMatViewI::<f64, u32, usize>::new((2, 4_000_000_001), &indptr, &columns, &values);
        let data = Dataset::new(x, &[1.0, 0.0], &["a", "a"]).unwrap();
        assert_eq!(data.width(), 4_000_000_001);
        assert_eq!(data.stored_columns(), 2);
        assert_eq!(data.feature(1), 4_000_000_000);
        assert_eq!(data.column(1).rows, [0]);
    }

    #[test]
    fn compressed_arrays_are_checked() {
        let by_row = |indptr: &[usize], columns: &[u32], values: &[f64]| {
            let queries = Queries::single(2).unwrap();
            Dataset::from_csr(indptr, columns, values, 5, vec![0.0, 1.0], queries)
        };
        let by_column = |indptr: Vec<usize>, rows: Vec<u32>, values: Vec<f64>| {
            let queries = Queries::single(5).unwrap();
            Dataset::from_csc(indptr, rows, values, vec![0.0; 5], queries)
        };
        let cases: [(&[usize], &[u32], &[f64]); 8] = [
            (&[0, 2, 2], &[3, 1], &[1.0, 1.0]),
            (&[0, 2, 2], &[3, 3], &[1.0, 1.0]),
            (&[0, 1, 2], &[3, 5], &[1.0, 1.0]),
            (&[0, 2, 1], &[3, 4], &[1.0, 1.0]),
            (&[1, 1, 3], &[3], &[1.0]),
            (&[0, 1, 3], &[3, 4], &[1.0, 1.0]),
            (&[], &[], &[]),
            (&[0, 1, 1], &[3], &[]),
        ];
        for (indptr, indices, values) in cases {
            let errors = [
                by_row(indptr, indices, values),
                by_column(indptr.to_vec(), indices.to_vec(), values.to_vec()),
            ];
            for error in errors.map(Result::unwrap_err) {
                assert!(matches!(error, DatasetError::Structure(_)), "{error}");
            }
        }
        assert!(by_row(&[0, 1], &[3], &[1.0]).is_err());
        assert!(by_column(vec![1, 1, 2], vec![3], vec![1.0]).is_err());
        assert!(by_row(&[0, 1, 2], &[3, 1], &[1.0, 0.0]).is_ok());
    }
}
