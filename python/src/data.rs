//! Matrices of SciPy and NumPy, and the data sets that borrow them.

use std::borrow::Cow;
use std::convert::Infallible;
use std::mem;

use numpy::ndarray::ArrayView2;
use numpy::{Element, IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use rankrls::data::read::Missing;
use rankrls::{Dataset, GreedyRankRls, Queries, StrategyKind};
use rayon::prelude::*;
use sprs::CsMatBase;

use crate::errors::{Result, value};

/// A matrix as Python has it: compressed columns or rows of SciPy, or an array.
#[derive(FromPyObject)]
pub(crate) enum Matrix<'py> {
    Sparse(Sparse<'py>),
    Dense(PyReadonlyArray2<'py, f64>),
}

/// The attributes of SciPy's compressed matrices and arrays.
#[derive(FromPyObject)]
pub(crate) struct Sparse<'py> {
    format: String,
    shape: (usize, usize),
    indptr: Indices<'py>,
    indices: Indices<'py>,
    data: PyReadonlyArray1<'py, f64>,
}

/// SciPy takes the narrower type that fits.
#[derive(FromPyObject)]
enum Indices<'py> {
    Narrow(PyReadonlyArray1<'py, i32>),
    Wide(PyReadonlyArray1<'py, i64>),
}

/// A matrix without Python, to be used while Python does something else.
pub(crate) enum View<'a> {
    Sparse(Compressed<'a>),
    Dense(ArrayView2<'a, f64>),
}

type Compressed<'a> = CsMatBase<f64, u32, Cow<'a, [usize]>, Cow<'a, [u32]>, Cow<'a, [f64]>, usize>;

impl Matrix<'_> {
    pub(crate) fn view(&self) -> Result<View<'_>> {
        let sparse = match self {
            Matrix::Dense(array) => return Ok(View::Dense(array.as_array())),
            Matrix::Sparse(sparse) => sparse,
        };
        let bounds = sparse.indptr.bounds()?.into();
        let (indices, values) = (sparse.indices.narrowed()?, sparse.data.as_slice()?.into());
        let matrix = if sparse.format == "csc" {
            CsMatBase::try_new_csc(sparse.shape, bounds, indices, values)
        } else {
            CsMatBase::try_new(sparse.shape, bounds, indices, values)
        };
        matrix
            .map(View::Sparse)
            .map_err(|(.., error)| value(format_args!("not a compressed sparse matrix: {error}")))
    }
}

impl Indices<'_> {
    fn bounds(&self) -> Result<Vec<usize>> {
        let bounds: Result<Vec<usize>, _> = match self {
            Self::Narrow(array) => array.as_slice()?.iter().map(|&b| b.try_into()).collect(),
            Self::Wide(array) => array.as_slice()?.iter().map(|&b| b.try_into()).collect(),
        };
        bounds.map_err(|_| value("not a compressed sparse matrix: a bound is negative"))
    }

    /// Borrowed where they have 32 bits: negative ones become too large, and are refused as such.
    fn narrowed(&self) -> Result<Cow<'_, [u32]>> {
        match self {
            Self::Narrow(array) => Ok(bytemuck::cast_slice(array.as_slice()?).into()),
            Self::Wide(array) => {
                let narrow = |&index: &i64| {
                    let error = || {
                        value(format_args!(
                            "not a compressed sparse matrix: expected indices of 32 bits, found {index}"
                        ))
                    };
                    u32::try_from(index).map_err(|_| error())
                };
                array.as_slice()?.iter().map(narrow).collect()
            }
        }
    }
}

impl View<'_> {
    /// The rows as one query.
    fn labelled<'a>(&'a self, labels: Cow<'a, [f64]>) -> Result<Dataset<'a>> {
        let queries = Queries::single(self.rows())?;
        let matrix = match self {
            Self::Dense(array) => return Ok(Dataset::from_dense(*array, labels, queries)?),
            Self::Sparse(matrix) => matrix,
        };
        let bounds = matrix.indptr().into_raw_storage();
        let (indices, values) = (matrix.indices(), matrix.data());
        Ok(if matrix.is_csc() {
            Dataset::from_csc(bounds, indices, values, labels, queries)?
        } else {
            Dataset::from_csr(bounds, indices, values, matrix.cols(), labels, queries)?
        })
    }

    /// Rows whose labels and queries nobody knows.
    pub(crate) fn unlabelled(&self) -> Result<Dataset<'_>> {
        self.labelled(vec![0.0; self.rows()].into())
    }

    fn rows(&self) -> usize {
        match self {
            Self::Sparse(matrix) => matrix.rows(),
            Self::Dense(array) => array.nrows(),
        }
    }
}

/// Compressed columns with nan among their values.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Filling<'py> {
    indptr: Indices<'py>,
    indices: Indices<'py>,
    data: PyReadonlyArray1<'py, f64>,
}

/// The parts of compressed columns.
pub(crate) struct Parts<'a> {
    bounds: Vec<usize>,
    rows: Cow<'a, [u32]>,
    values: &'a [f64],
}

impl Filling<'_> {
    pub(crate) fn parts(&self) -> Result<Parts<'_>> {
        Ok(Parts {
            bounds: self.indptr.bounds()?,
            rows: self.indices.narrowed()?,
            values: self.data.as_slice()?,
        })
    }
}

impl Parts<'_> {
    /// The values, with numbers for nan. Rows of a column ascend, and are rows of the queries.
    pub(crate) fn filled(&self, missing: Missing, queries: &Queries) -> Vec<f64> {
        let mut filled = self.values.to_vec();
        let (mut rest, mut columns) = (&mut filled[..], Vec::new());
        for bounds in self.bounds.windows(2) {
            let (column, others) = mem::take(&mut rest).split_at_mut(bounds[1] - bounds[0]);
            columns.push((&self.rows[bounds[0]..bounds[1]], column));
            rest = others;
        }
        let columns = columns.into_par_iter();
        columns.for_each(|(rows, values)| missing.fill(rows, values, queries));
        filled
    }
}

/// Numbers that Python gets as an array.
pub(crate) struct Array<T>(pub(crate) Vec<T>);

impl<'py, T: Element> IntoPyObject<'py> for Array<T> {
    type Target = PyArray1<T>;
    type Output = Bound<'py, PyArray1<T>>;
    type Error = Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Infallible> {
        Ok(self.0.into_pyarray(py))
    }
}

/// Rows in queries as Python has them: the queries are `codes`, positions among `ids`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Data<'py> {
    x: Matrix<'py>,
    y: PyReadonlyArray1<'py, f64>,
    codes: PyReadonlyArray1<'py, i64>,
    ids: Vec<String>,
    teacher: Option<PyReadonlyArray1<'py, f64>>,
    validation: Option<Matrix<'py>>,
}

/// Data to be used while Python does something else.
pub(crate) struct DataView<'a> {
    x: View<'a>,
    y: &'a [f64],
    codes: &'a [i64],
    ids: &'a [String],
    teacher: Option<&'a [f64]>,
    validation: Option<View<'a>>,
}

impl Data<'_> {
    /// Refuses parameters of a selection, and what comes with the data, that none of the `strategies` heeds.
    pub(crate) fn check_effects(
        &self,
        options: &GreedyRankRls,
        strategies: &[StrategyKind],
    ) -> Result<()> {
        let (teacher, validation) = (self.teacher.is_some(), self.validation.is_some());
        Ok(options.check_effects(strategies, teacher, validation)?)
    }

    pub(crate) fn view(&self) -> Result<DataView<'_>> {
        let teacher = self.teacher.as_ref().map(PyReadonlyArray1::as_slice);
        Ok(DataView {
            x: self.x.view()?,
            y: self.y.as_slice()?,
            codes: self.codes.as_slice()?,
            ids: &self.ids,
            teacher: teacher.transpose()?,
            validation: self.validation.as_ref().map(Matrix::view).transpose()?,
        })
    }
}

impl DataView<'_> {
    /// The data set. Rows whose queries are not in one piece are moved together. Columns count from 1 in
    /// models, as in files.
    pub(crate) fn dataset(&self) -> Result<Dataset<'_>> {
        let id = |&code: &i64| {
            let position = usize::try_from(code).unwrap_or(usize::MAX);
            self.ids.get(position).map_or("", String::as_str)
        };
        let row_ids: Vec<&str> = self.codes.iter().map(id).collect();
        let mut data = self.x.labelled(self.y.into())?.regrouped(&row_ids)?;
        if let Some(scores) = self.teacher {
            let scores = data.in_row_order(scores)?;
            data = data.with_teacher(scores)?;
        }
        if let Some(validation) = &self.validation {
            // A copy of its only query.
            data = data.with_validation(validation.unlabelled()?.queries_subset(&[0])?);
        }
        Ok(data)
    }
}
