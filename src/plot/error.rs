//! What can go wrong with a diagram.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// A diagram that cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The name of the file does not say what to write.
    #[error(
        "{}: expected a name that ends in .svg, .png or .html, found {}",
        .path.display(),
        .path.extension().map_or_else(|| "none of them".to_owned(), |end| format!(".{}", end.display())),
    )]
    Extension {
        /// The file.
        path: PathBuf,
    },
    /// A picture that no program would open.
    #[error(
        "the diagram is {width} by {height} pixels, more than {most} in all: write it as .svg or \
         .html, or draw less"
    )]
    TooLarge {
        /// Pixels in a row.
        width: u32,
        /// Rows of pixels.
        height: u32,
        /// Pixels that a picture may have.
        most: u64,
    },
    /// The diagram could not be drawn as pixels.
    #[error("cannot draw the diagram as PNG: {0}")]
    Png(String),
    /// The file could not be written.
    #[error("{}: cannot write the diagram: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}
