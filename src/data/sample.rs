//! A small corpus of parses, to try things without files: with the feature `sample`, which is off by
//! default.
//!
//! ```
//! use rankrls::data::sample;
//!
//! let (train, test) = (sample::train(), sample::test());
//! assert_eq!(train.width(), test.width());
//! assert_eq!(train.names().map(|names| names.len()), Some(train.width()));
//! ```

use std::io::Read as _;

use crate::data::read::ReadOptions;
use crate::data::{Dataset, FeatureNames};

pub use rankrls_corpora::{NAMES, TEST, TRAIN};

/// The rows to train on, with the names of their columns.
///
/// # Panics
/// Never: the tests read the same files.
pub fn train() -> Dataset<'static> {
    let data = read(TRAIN, &ReadOptions::new());
    data.with_names(names())
        .expect("as many names as there are columns")
}

/// The rows to test on, as wide as those of [`train`].
///
/// # Panics
/// Never: the tests read the same files.
pub fn test() -> Dataset<'static> {
    read(TEST, &ReadOptions::new().width(names().len()))
}

/// The names of the columns.
///
/// # Panics
/// Never: the tests read the same files.
pub fn names() -> FeatureNames {
    let mut text = String::new();
    zstd::Decoder::new(NAMES)
        .and_then(|mut decoder| decoder.read_to_string(&mut text))
        .expect("text compressed by zstd");
    text.lines().collect()
}

fn read(bytes: &[u8], options: &ReadOptions) -> Dataset<'static> {
    let loaded = options.read_from(bytes, "corpora/parses");
    loaded.expect("rows of svmlight text").dataset
}
