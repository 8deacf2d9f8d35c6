//! What becomes of Parquet files where they cannot be read.

use std::path::Path;

use crate::dataset::beside::has_extension;

use super::error::{Fault, ReadError, ReadErrorKind};
use super::{Loaded, ReadOptions};

pub(super) fn recognises(path: &Path) -> bool {
    has_extension(path, "parquet")
}

pub(super) fn read(path: &Path, _: &ReadOptions) -> Result<Loaded, ReadError> {
    Err(one_stream(&path.display().to_string()))
}

pub(super) fn one_stream(name: &str) -> ReadError {
    let expected = "a format that was built in";
    Fault::new(ReadErrorKind::Unsupported, expected, "Parquet".to_owned())
        .remedy("build rankrls with the feature parquet, or convert the data to .npz")
        .of(name)
}
