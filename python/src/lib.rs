//! The compiled part of the Python package `rankrls`: arrays in, arrays out. Users see only `rankrls/*.py`, which
//! checks what Python can check. Names and units are the library's.

#![expect(
    clippy::needless_pass_by_value,
    reason = "PyO3 hands arguments over by value"
)]

mod data;
mod ending;
mod errors;
mod files;
mod job;
mod measures;
mod model;
mod select;
mod train;
mod tune;
mod warnings;

use pyo3::prelude::*;

/// The compiled part of rankrls: use the functions and classes of the package.
#[pymodule]
mod _rankrls {
    #[pymodule_export]
    use super::ending::end;
    #[pymodule_export]
    use super::files::{read, write};
    #[pymodule_export]
    use super::measures::{evaluate, paired, under};
    #[pymodule_export]
    use super::model::{Model, fill};
    #[pymodule_export]
    use super::select::{free_memory, memory_size, select};
    #[pymodule_export]
    use super::train::train;
    #[pymodule_export]
    use super::tune::tune;

    #[pymodule_export]
    #[expect(non_upper_case_globals, reason = "the name that Python gives it")]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
