//! Small corpora for trials without files. The feature `sample`, which is off by default, has them.
//!
//! ```
//! use rankrls::data::sample::{self, SENTENCES};
//!
//! let [train, test] = SENTENCES.map(sample::read);
//! assert_eq!(train.width(), test.width());
//! assert_eq!(train.names().map(|names| names.len()), Some(train.width()));
//! ```

use std::io::Read as _;

use crate::data::read::ReadOptions;
use crate::data::{Dataset, FeatureNames};

pub use rankrls_corpora::{CORPORA, DOCUMENTS, PARSES, SENTENCES, Sample};

/// The rows with the names of their columns. Training and test rows share columns.
///
/// # Panics
/// Never: the tests read the same files.
pub fn read(sample: Sample) -> Dataset<'static> {
    let names = names(sample);
    let options = ReadOptions::new().width(names.len());
    let loaded = options.read_from(sample.rows, sample.name);
    let data = loaded.expect("rows of svmlight text").dataset;
    data.with_names(names)
        .expect("as many names as there are columns")
}

/// The training rows of [`PARSES`].
///
/// # Panics
/// Never: the tests read the same files.
pub fn train() -> Dataset<'static> {
    read(PARSES[0])
}

/// The test rows of [`PARSES`].
///
/// # Panics
/// Never: the tests read the same files.
pub fn test() -> Dataset<'static> {
    read(PARSES[1])
}

/// The names of the columns.
///
/// # Panics
/// Never: the tests read the same files.
pub fn names(sample: Sample) -> FeatureNames {
    text(sample.names).lines().collect()
}

/// The text of a corpus file.
///
/// # Panics
/// Never with the files of a corpus, which the tests read.
pub fn text(compressed: &[u8]) -> String {
    let mut text = String::new();
    zstd::Decoder::new(compressed)
        .and_then(|mut decoder| decoder.read_to_string(&mut text))
        .expect("text compressed by zstd");
    text
}
