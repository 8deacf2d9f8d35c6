//! Dense matrices as NumPy writes them, with labels and queries beside, as of `.npz`.

use std::io::Read;

use ndarray::{Array2, ShapeBuilder as _};

use super::error::Fault;
use super::npy::Array;
use super::npz::{self, Budget, ENTRY, check_rows, read_matrix};
use super::{Facts, Reader};
use crate::data::Columns;
use crate::data::arrays::columns_of_dense;
use crate::data::sidecar::has_extension;

pub(super) const FACTS: Facts = Facts {
    name: "npy",
    title: "a dense matrix of NumPy",
    files: "NAME.npy, with NAME.labels.npy and NAME.qids.npy",
    ending: |path| has_extension(path, "npy"),
    reader: Reader::Files {
        read: |path, options| {
            let array = Array::open(path, "matrix")?;
            read_matrix(path, options, |rows, missing, budget| {
                matrix(array, rows, missing, budget)
            })
        },
        expected: "NumPy's file .npy and .labels.npy beside it",
        remedy: "give the path of the .npy file",
    },
    write: None,
    ..npz::FACTS
};

/// The matrix, which is to have so many rows.
fn matrix<R: Read>(
    array: Array<R>,
    rows: usize,
    missing: Option<f64>,
    budget: &mut Budget,
) -> Result<Columns<'static>, Fault> {
    let (height, width, by_column) = array.matrix()?;
    check_rows(height, rows)?;
    let narrow = u32::try_from(width).map_err(|_| {
        array.unsuitable(format!("at most {} columns", u32::MAX), width.to_string())
    })?;
    budget.take(height.saturating_mul(width).saturating_mul(8 + ENTRY))?;
    let shape = (rows, narrow as usize).set_f(by_column);
    let x = Array2::from_shape_vec(shape, array.values(missing)?)
        .map_err(|error| Fault::data(&error))?;
    let mut columns = columns_of_dense(&x.view()).map_err(|error| Fault::data(&error))?;
    columns.drop_zeros();
    Ok(columns)
}
