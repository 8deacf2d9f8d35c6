//! Files of ranking data.

use std::io::{self, ErrorKind};
use std::path::PathBuf;

use numpy::ToPyArray;
use pyo3::exceptions::{PyFileNotFoundError, PyOSError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankrls::data::read::ReadOptions;
use rankrls::data::{Dataset, Output};
use rankrls::{IndexBase, Warning};

use crate::data::Data;
use crate::errors::{Error, Result, value};
use crate::job;
use crate::warnings::told;

/// Reads a file in any format of the command.
#[pyfunction]
#[pyo3(signature = (path, zero_based, regroup, width, names))]
pub(crate) fn read(
    py: Python<'_>,
    path: PathBuf,
    zero_based: bool,
    regroup: bool,
    width: Option<usize>,
    names: Option<PathBuf>,
) -> Result<Bound<'_, PyDict>> {
    let options = ReadOptions::new()
        .zero_based(zero_based)
        .regroup(regroup)
        .width(width)
        .names(names)
        .max_memory(rankrls::memory::budget());
    if !path.exists() {
        let message = format!("{}: there is no such file", path.display());
        return Err(PyFileNotFoundError::new_err(message).into());
    }
    let loaded = py.detach(|| options.read(&path))?;
    let (data, x) = (&loaded.dataset, loaded.dataset.x());
    let (queries, names) = (data.queries(), data.names());
    let result = PyDict::new(py);
    result.set_item("indptr", bounds(data).to_pyarray(py))?;
    result.set_item("indices", x.indices().to_pyarray(py))?;
    result.set_item("data", x.data().to_pyarray(py))?;
    result.set_item("shape", (data.rows(), data.width()))?;
    result.set_item("y", data.labels().to_pyarray(py))?;
    result.set_item("offsets", queries.offsets().to_pyarray(py))?;
    let ids = queries.ids().map(|ids| ids.iter().collect::<Vec<_>>());
    result.set_item("ids", ids)?;
    let names = names.map(|names| names.iter().collect::<Vec<_>>());
    result.set_item("names", names)?;
    result.set_item("warnings", told(Warning::of_names(data)))?;
    Ok(result)
}

/// Where each column begins among the entries, also those that are not stored.
fn bounds(data: &Dataset<'_>) -> Vec<i64> {
    let mut bounds = Vec::with_capacity(data.width() + 1);
    let mut end = 0;
    for position in 0..data.stored_columns() {
        bounds.resize(data.feature(position) as usize + 1, end);
        end += i64::try_from(data.column(position).rows.len()).unwrap_or(i64::MAX);
    }
    bounds.resize(data.width() + 1, end);
    bounds
}

/// Writes svmlight text, compressed if the name ends in `.gz` or `.zst`; the file appears whole or
/// not at all.
#[pyfunction]
pub(crate) fn write_svmlight(
    py: Python<'_>,
    path: PathBuf,
    data: Data<'_>,
    zero_based: bool,
) -> Result<()> {
    let view = data.view()?;
    let base = if zero_based {
        IndexBase::Zero
    } else {
        IndexBase::One
    };
    job::finish(py, 0, || {
        let data = view.dataset()?.with_index_base(base);
        let place = path.display();
        let failed = |error: io::Error| -> Error {
            let message = format!("{place}: {error}");
            match error.kind() {
                ErrorKind::InvalidInput => value(message),
                _ => PyOSError::new_err(message).into(),
            }
        };
        let mut output = Output::create(&path).map_err(failed)?;
        rankrls::data::write_svmlight(&data, &mut output).map_err(failed)?;
        output.finish().map_err(failed)
    })
}
