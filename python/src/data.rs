//! Matrices of SciPy and NumPy, and data sets of their copies.
//!
//! Python waits while its arrays are copied. They are never borrowed for longer: during the work, a callback or
//! another thread may change, resize or free them. So everything in a call, even the hash of its data, has one
//! content.

use std::convert::Infallible;
use std::mem;

use numpy::ndarray::Array2;
use numpy::{Element, IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use rankrls::data::read::Missing;
use rankrls::memory::Bytes;
use rankrls::{Dataset, FeatureNames, GreedyRankRls, IndexBase, Queries, StrategyKind};
use rayon::prelude::*;
use sprs::CsMatI;

use crate::errors::{Result, memory, value};

/// A matrix of Python: compressed columns or rows of SciPy, or an array.
pub(crate) enum Matrix<'py> {
    Sparse(Sparse<'py>),
    Dense(Bound<'py, PyArray2<f64>>),
}

// Written by hand, like the one of `Indices`. A derived one raises an exception for each type that does not fit. Other
// threads could then run before anything is copied.
impl<'py> FromPyObject<'_, 'py> for Matrix<'py> {
    type Error = PyErr;

    fn extract(matrix: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match matrix.cast::<PyArray2<f64>>() {
            Ok(array) => Ok(Self::Dense(array.to_owned())),
            Err(_) => matrix.extract().map(Self::Sparse),
        }
    }
}

/// The attributes of SciPy's compressed matrices and arrays.
#[derive(FromPyObject)]
pub(crate) struct Sparse<'py> {
    format: String,
    shape: (usize, usize),
    indptr: Indices<'py>,
    indices: Indices<'py>,
    data: Bound<'py, PyArray1<f64>>,
}

/// SciPy uses the narrower type that fits.
enum Indices<'py> {
    Narrow(Bound<'py, PyArray1<i32>>),
    Wide(Bound<'py, PyArray1<i64>>),
}

impl<'py> FromPyObject<'_, 'py> for Indices<'py> {
    type Error = PyErr;

    fn extract(indices: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        match indices.cast::<PyArray1<i32>>() {
            Ok(narrow) => Ok(Self::Narrow(narrow.to_owned())),
            Err(_) => Ok(Self::Wide(indices.cast::<PyArray1<i64>>()?.to_owned())),
        }
    }
}

/// A copy of a matrix, for work beside Python.
pub(crate) enum Copied {
    Sparse(Compressed),
    Dense(Array2<f64>),
}

/// The copied parts of a compressed matrix.
pub(crate) struct Compressed {
    by_columns: bool,
    shape: (usize, usize),
    bounds: Vec<usize>,
    indices: Vec<u32>,
    values: Vec<f64>,
}

impl Matrix<'_> {
    pub(crate) fn copied(&self) -> Result<Copied> {
        let sparse = match self {
            Matrix::Dense(array) => return Ok(Copied::Dense(copied_rows(array)?)),
            Matrix::Sparse(sparse) => sparse,
        };
        Ok(Copied::Sparse(Compressed {
            by_columns: sparse.format == "csc",
            shape: sparse.shape,
            bounds: sparse.indptr.bounds()?,
            indices: sparse.indices.narrowed()?,
            values: copied(&sparse.data)?,
        }))
    }
}

impl Indices<'_> {
    fn bounds(&self) -> Result<Vec<usize>> {
        let bounds: Result<Vec<usize>, _> = match self {
            Self::Narrow(array) => copied(array)?.into_iter().map(usize::try_from).collect(),
            Self::Wide(array) => copied(array)?.into_iter().map(usize::try_from).collect(),
        };
        bounds.map_err(|_| value("not a compressed sparse matrix: a bound is negative"))
    }

    /// Indices of 32 bits unchanged: negative ones become too large, and are refused as such.
    fn narrowed(&self) -> Result<Vec<u32>> {
        match self {
            Self::Narrow(array) => Ok(copied(array)?.into_iter().map(i32::cast_unsigned).collect()),
            Self::Wide(array) => {
                let narrow = |index: i64| {
                    let error = || {
                        value(format_args!(
                            "not a compressed sparse matrix: expected indices of 32 bits, found {index}"
                        ))
                    };
                    u32::try_from(index).map_err(|_| error())
                };
                copied(array)?.into_iter().map(narrow).collect()
            }
        }
    }
}

/// Room for `count` numbers.
fn room<T>(count: usize) -> Result<Vec<T>> {
    let mut room = Vec::new();
    room.try_reserve_exact(count).map_err(|_| {
        let bytes = Bytes((count * size_of::<T>()) as u64);
        memory(format_args!(
            "an array of {bytes} needs as much again for its copy"
        ))
    })?;
    Ok(room)
}

/// The numbers of an array.
pub(crate) fn copied<T: Element + Copy>(array: &Bound<'_, PyArray1<T>>) -> Result<Vec<T>> {
    let mut copy = room(array.len())?;
    copy.extend_from_slice(array.try_readonly()?.as_slice()?);
    Ok(copy)
}

/// The numbers of an array of two dimensions, in their old memory order.
fn copied_rows(array: &Bound<'_, PyArray2<f64>>) -> Result<Array2<f64>> {
    let mut copy = room(array.len())?;
    let borrowed = array.try_readonly()?;
    let rows = borrowed.as_array();
    let by_columns = rows.t().is_standard_layout();
    let lines = if by_columns { rows.t() } else { rows };
    copy.extend(lines.iter().copied());
    let copy = Array2::from_shape_vec(lines.raw_dim(), copy).map_err(value)?;
    Ok(if by_columns {
        copy.reversed_axes()
    } else {
        copy
    })
}

impl Copied {
    /// The rows with `labels`, as one query.
    fn labelled(self, labels: Vec<f64>) -> Result<Dataset<'static>> {
        let queries = Queries::single(self.rows())?;
        let parts = match self {
            Self::Dense(array) => return Ok(Dataset::from_dense(array.view(), labels, queries)?),
            Self::Sparse(parts) => parts,
        };
        let (bounds, indices, values) = (parts.bounds, parts.indices, parts.values);
        let matrix = if parts.by_columns {
            CsMatI::try_new_csc(parts.shape, bounds, indices, values)
        } else {
            CsMatI::try_new(parts.shape, bounds, indices, values)
        };
        let matrix = matrix.map_err(|(.., error)| {
            value(format_args!("not a compressed sparse matrix: {error}"))
        })?;
        let (bounds, indices, values) = matrix.into_raw_storage();
        Ok(if parts.by_columns {
            Dataset::from_csc(bounds, indices, values, labels, queries)?
        } else {
            let width = parts.shape.1;
            Dataset::from_csr(&bounds, &indices, &values, width, labels, queries)?
        })
    }

    /// Rows with unknown labels and queries.
    pub(crate) fn unlabelled(self) -> Result<Dataset<'static>> {
        let labels = vec![0.0; self.rows()];
        self.labelled(labels)
    }

    fn rows(&self) -> usize {
        match self {
            Self::Sparse(parts) => parts.shape.0,
            Self::Dense(array) => array.nrows(),
        }
    }
}

/// Compressed columns with nan among the values.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Filling<'py> {
    indptr: Indices<'py>,
    indices: Indices<'py>,
    data: Bound<'py, PyArray1<f64>>,
}

/// The copied parts of compressed columns.
pub(crate) struct Parts {
    bounds: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Filling<'_> {
    pub(crate) fn copied(&self) -> Result<Parts> {
        Ok(Parts {
            bounds: self.indptr.bounds()?,
            rows: self.indices.narrowed()?,
            values: copied(&self.data)?,
        })
    }
}

impl Parts {
    /// The values, with numbers for nan. The rows of a column must ascend, and must be rows of the queries.
    pub(crate) fn filled(self, missing: Missing, queries: &Queries) -> Vec<f64> {
        let mut filled = self.values;
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

/// Numbers that become an array of Python.
pub(crate) struct Array<T>(pub(crate) Vec<T>);

impl<'py, T: Element> IntoPyObject<'py> for Array<T> {
    type Target = PyArray1<T>;
    type Output = Bound<'py, PyArray1<T>>;
    type Error = Infallible;

    fn into_pyobject(self, py: Python<'py>) -> Result<Self::Output, Infallible> {
        Ok(self.0.into_pyarray(py))
    }
}

/// Rows and their queries. The queries are `codes`, positions among `ids`.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Data<'py> {
    x: Matrix<'py>,
    /// Names of the columns.
    names: Option<Vec<String>>,
    y: Bound<'py, PyArray1<f64>>,
    codes: Bound<'py, PyArray1<i64>>,
    ids: Vec<String>,
    teacher: Option<Bound<'py, PyArray1<f64>>>,
    validation: Option<Matrix<'py>>,
}

/// A copy of data, for work beside Python.
pub(crate) struct CopiedData {
    x: Copied,
    names: Option<FeatureNames>,
    y: Vec<f64>,
    codes: Vec<i64>,
    ids: Vec<String>,
    teacher: Option<Vec<f64>>,
    validation: Option<Copied>,
}

impl Data<'_> {
    /// Refuses parameters and data that none of the `strategies` uses.
    pub(crate) fn check_effects(
        &self,
        options: &GreedyRankRls,
        strategies: &[StrategyKind],
    ) -> Result<()> {
        let (teacher, validation) = (self.teacher.is_some(), self.validation.is_some());
        Ok(options.check_effects(strategies, teacher, validation)?)
    }

    pub(crate) fn copied(&self) -> Result<CopiedData> {
        Ok(CopiedData {
            x: self.x.copied()?,
            names: self.names.as_deref().map(|names| names.iter().collect()),
            y: copied(&self.y)?,
            codes: copied(&self.codes)?,
            ids: self.ids.clone(),
            teacher: self.teacher.as_ref().map(copied).transpose()?,
            validation: self.validation.as_ref().map(Matrix::copied).transpose()?,
        })
    }
}

impl CopiedData {
    /// The data set. Rows whose queries are not in one piece are moved together. Columns count from 0, as Python
    /// counts them.
    pub(crate) fn dataset(self) -> Result<Dataset<'static>> {
        let id = |&code: &i64| {
            let position = usize::try_from(code).unwrap_or(usize::MAX);
            self.ids.get(position).map_or("", String::as_str)
        };
        let row_ids: Vec<&str> = self.codes.iter().map(id).collect();
        let mut data = self.x.labelled(self.y)?.regrouped(&row_ids)?;
        data = data.with_index_base(IndexBase::Zero);
        if let Some(names) = self.names {
            data = data.with_names(names)?;
        }
        if let Some(scores) = self.teacher {
            let scores = data.in_row_order(&scores)?;
            data = data.with_teacher(scores)?;
        }
        if let Some(validation) = self.validation {
            // A copy of its only query.
            data = data.with_validation(validation.unlabelled()?.queries_subset(&[0])?);
        }
        Ok(data)
    }
}
