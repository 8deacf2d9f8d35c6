//! Data sets and names as files that the readers take back unchanged.

mod files;
mod ids;
mod npy;
mod npz;
mod svmlight;

use std::io::{self, Write};

pub use files::{DataFiles, Part};
pub use npy::{write_npy_labels, write_npy_query_ids};
pub use npz::{MatrixLayout, write_npz};
pub(crate) use svmlight::{push_integer, push_number};
pub use svmlight::{
    write_features, write_labels, write_query_ids, write_svmlight, write_whole_svmlight,
};

use super::FeatureNames;

/// Writes names one a line.
///
/// # Errors
/// Those of `writer`; [`io::ErrorKind::InvalidInput`] for a name with a line end in it.
pub fn write_names(names: &FeatureNames, mut writer: impl Write) -> io::Result<()> {
    for name in names.iter() {
        write_name(name, &mut writer)?;
    }
    writer.flush()
}

fn write_name(name: &str, writer: &mut impl Write) -> io::Result<()> {
    if name.contains('\n') || name.ends_with('\r') {
        return Err(refused(format!(
            "the feature name {name:?} does not fit on a line"
        )));
    }
    writer.write_all(name.as_bytes())?;
    writer.write_all(b"\n")
}

fn refused(message: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests;
