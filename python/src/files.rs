//! Files of ranking data.

use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use numpy::ToPyArray;
use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rankrls::data::read::{Format, ReadOptions, TableOptions};
use rankrls::data::{Dataset, Output};
use rankrls::memory::{Bytes, Memory};
use rankrls::{IndexBase, Warning};
use rankrls_files::memory::budget;

use crate::data::{Array, Data};
use crate::errors::{Error, Result, memory, value};
use crate::job;
use crate::warnings::told;

/// How to read a file.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Reading {
    zero_based: bool,
    width: Option<usize>,
    names: Option<PathBuf>,
    format: String,
    label: Option<String>,
    query: Option<String>,
    ignore: Vec<String>,
    missing: Option<String>,
    max_memory: Option<u64>,
}

impl Reading {
    fn memory(&self) -> Memory {
        Memory::limit(self.max_memory.or_else(budget))
    }

    fn options(&self) -> Result<ReadOptions> {
        let mut formats = Format::ALL.into_iter();
        let format = formats.find(|format| format.name() == self.format);
        let format = format.ok_or_else(|| {
            let names = Format::ALL.map(Format::name).join(", ");
            let found = &self.format;
            value(format_args!(
                "format: expected one of {names}, found {found:?}"
            ))
        })?;
        let missing = self.missing.as_deref().map(str::parse).transpose();
        let missing = missing.map_err(|error| value(format_args!("missing: {error}")))?;
        Ok(ReadOptions::new()
            .format(format)
            .zero_based(self.zero_based)
            .width(self.width)
            .names(self.names.clone())
            .names_beside(true)
            .table(TableOptions {
                label: self.label.clone(),
                query: self.query.clone(),
                missing,
                ignore: self.ignore.clone(),
            })
            .memory(self.memory()))
    }
}

/// Reads svmlight text or a table.
#[pyfunction]
pub(crate) fn read(py: Python<'_>, path: PathBuf, reading: Reading) -> Result<Bound<'_, PyDict>> {
    let options = reading.options()?;
    let (data, mut warnings) = job::finish(py, 0, || {
        options.check_effects([&*path])?;
        let loaded = options.read(&path)?;
        let warnings = Warning::of_loaded(&loaded);
        Ok((loaded.dataset, warnings))
    })?;
    let matrix = Compressed::new(&data, &path, reading.max_memory)?;
    let queries = data.queries();
    let result = PyDict::new(py);
    match matrix.bounds {
        Bounds::Narrow(bounds) => result.set_item("indptr", Array(bounds))?,
        Bounds::Wide(bounds) => result.set_item("indptr", Array(bounds))?,
    }
    result.set_item("indices", Array(matrix.indices))?;
    result.set_item("data", data.x().data().to_pyarray(py))?;
    result.set_item("shape", (data.rows(), data.width()))?;
    result.set_item("y", data.labels().to_pyarray(py))?;
    result.set_item("offsets", queries.offsets().to_pyarray(py))?;
    let ids = queries.ids().map(|ids| ids.iter().collect::<Vec<_>>());
    result.set_item("ids", ids)?;
    let columns = data.width();
    let names = data.names();
    let names = names.map(|names| names.iter().take(columns).collect::<Vec<_>>());
    result.set_item("names", names)?;
    warnings.extend(Warning::of_names(&data));
    result.set_item("warnings", told(warnings))?;
    Ok(result)
}

/// The start of each column among the entries, empty columns included, and the rows of the entries, in SciPy's
/// types.
struct Compressed {
    bounds: Bounds,
    indices: Vec<i32>,
}

/// As narrow as the number of entries allows.
enum Bounds {
    Narrow(Vec<i32>),
    Wide(Vec<i64>),
}

impl Compressed {
    /// SciPy wants a number for each column, even for columns that the file at `path` only claims. Refuses columns
    /// whose numbers take more than the free memory, or more than `limit` leaves.
    fn new(data: &Dataset<'_>, path: &Path, limit: Option<u64>) -> Result<Self> {
        let (columns, entries) = (data.width(), data.nonzeros() as u64);
        let narrow = i32::try_from(entries).is_ok();
        let bytes = (columns as u64 + 1) * if narrow { 4 } else { 8 } + 12 * entries;
        let left = limit.map(|limit| limit.saturating_sub(data.memory()));
        let refused = |allowed: Option<u64>| {
            let (path, needed) = (path.display(), Bytes(bytes));
            let allowed =
                allowed.map_or_else(String::new, |bytes| format!(", of {}", Bytes(bytes)));
            memory(format_args!(
                "{path}: expected a matrix that fits into memory, found {columns} columns, for which \
                 SciPy takes {needed}{allowed} that are free (n_features= keeps the first columns alone)"
            ))
        };
        let allowed = left.or_else(budget);
        if allowed.is_some_and(|allowed| bytes > allowed) {
            return Err(refused(allowed));
        }
        let bounds = if narrow {
            bounds(data).map(Bounds::Narrow)
        } else {
            bounds(data).map(Bounds::Wide)
        };
        let mut indices = Vec::new();
        let room = indices.try_reserve_exact(data.nonzeros());
        let bounds = bounds
            .filter(|_| room.is_ok())
            .ok_or_else(|| refused(None))?;
        // Rows have 32 bits here, and a sign in SciPy.
        let x = data.x();
        let rows = x.indices().iter();
        indices.extend(rows.map(|&row| i32::try_from(row).unwrap_or(i32::MAX)));
        Ok(Self { bounds, indices })
    }
}

/// The bounds of all columns. `None` if memory is short.
fn bounds<T: Copy + Default + TryFrom<usize>>(data: &Dataset<'_>) -> Option<Vec<T>> {
    let mut bounds = Vec::new();
    bounds.try_reserve_exact(data.width() + 1).ok()?;
    let (mut entries, mut end) = (0, T::default());
    for position in 0..data.stored_columns() {
        bounds.resize(data.feature(position) as usize + 1, end);
        entries += data.column(position).rows.len();
        end = T::try_from(entries).ok()?;
    }
    bounds.resize(data.width() + 1, end);
    Some(bounds)
}

/// Writes svmlight text, compressed if the name ends in `.gz` or `.zst`. The file appears whole or not at all.
#[pyfunction]
pub(crate) fn write(py: Python<'_>, path: PathBuf, data: Data<'_>, zero_based: bool) -> Result<()> {
    if Format::Auto.is_table(&path) {
        return Err(value(format_args!(
            "path: {} ends as a table does, and svmlight is written: expected another name",
            path.display()
        )));
    }
    let copy = data.copied()?;
    let base = if zero_based {
        IndexBase::Zero
    } else {
        IndexBase::One
    };
    job::finish(py, 0, || {
        let data = copy.dataset()?.with_index_base(base);
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
