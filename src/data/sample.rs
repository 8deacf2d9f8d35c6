//! The corpus in the folder `corpora/`, which is part of the crate: to try things without files.
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

/// `corpora/parses.svm.zst`: rows to train on, svmlight text compressed by zstd.
pub const TRAIN: &[u8] = include_bytes!("../../corpora/parses.svm.zst");

/// `corpora/parses-test.svm.zst`: rows of other sentences, over the same columns.
pub const TEST: &[u8] = include_bytes!("../../corpora/parses-test.svm.zst");

/// `corpora/parses.names.txt.zst`: the names of the columns, one a line.
pub const NAMES: &[u8] = include_bytes!("../../corpora/parses.names.txt.zst");

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
