//! The corpus `parses` as bytes, to try things without files. `README.md` says where it comes from.
//!
//! The library rankrls reads them by its feature `sample`, and the command as `@parses`.

/// Rows to train on: svmlight text compressed by zstd.
pub const TRAIN: &[u8] = include_bytes!("parses.svm.zst");

/// Rows of other sentences, over the same columns: svmlight text compressed by zstd.
pub const TEST: &[u8] = include_bytes!("parses-test.svm.zst");

/// The names of the columns, one a line, compressed by zstd.
pub const NAMES: &[u8] = include_bytes!("parses.names.txt.zst");
