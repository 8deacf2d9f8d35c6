//! Ranking data: sparse examples with labels, in queries.
//!
//! A [`Dataset`] is checked once, when it is built, and trusted after. Its indices are in range and ascending, its
//! numbers are finite, and every query is a contiguous run of rows. It stores only columns, since every strategy
//! walks columns, and only columns with an entry: a feature index of four billion costs nothing.

mod arrays;
mod check;
mod column_name;
mod columns;
pub(crate) mod content;
mod dataset;
mod formats;
mod hash;
mod holdout;
mod label_scale;
mod missing;
mod names;
mod packed;
mod queries;
mod ranker;
#[cfg(feature = "sample")]
pub mod sample;
mod sidecar;
mod subset;

pub use column_name::ColumnName;
pub(crate) use column_name::shown;
pub use columns::Column;
pub(crate) use columns::{Columns, task_ranges};
pub use dataset::Dataset;
pub use formats::{
    Preference, write_names, write_svmlight, write_svmlight_as_wide, writing_memory,
};
pub use hash::DataHash;
pub(crate) use holdout::one_group;
pub use holdout::{Groups, HoldOut, one_query};
pub use label_scale::LabelScale;
pub use names::{Feature, FeatureNames, IndexBase};
pub use packed::Packed;
pub use queries::Queries;
pub(crate) use queries::is_rounded;
pub use ranker::{Ranker, write_query_sizes};
pub use rankrls_files::{CompleteOutput, Output, Strings};
pub use sidecar::names_file;

pub mod read {
    //! Readers of ranking data; each [`Format`] is described in `docs/formats.md`.
    //!
    //! A row of svmlight / LETOR text is a line, `<label> qid:<id> <index>:<value> … # comment`. `qid` is an opaque
    //! token, on all rows or on none; without it all rows are one query. The rows of a query are next to each
    //! other, and indices count from 1 and ascend. Tables name their columns in a header ([`TableOptions`]). Text
    //! may be compressed by gzip or zstd, which its first bytes show. Zeros are not stored.
    //!
    //! Malformed text is refused: see [`ReadErrorKind`].
    //!
    //! ```
    //! use rankrls::data::read::{ReadErrorKind, ReadOptions};
    //!
    //! let text = "2 qid:a 1:0.5 7:1 # relevant\n0 qid:a 2:1\n1 qid:b\n";
    //! let data = ReadOptions::new().read_from(text.as_bytes(), "text")?.dataset;
    //! assert_eq!((data.rows(), data.queries().len(), data.width()), (3, 2, 7));
    //!
    //! let error = ReadOptions::new().read_from(&b"1 0:0.5\n"[..], "text").unwrap_err();
    //! assert_eq!(error.kind(), ReadErrorKind::Malformed);
    //! assert!(error.to_string().starts_with("text:1:3: expected indices that count from 1"));
    //! # Ok::<(), rankrls::data::read::ReadError>(())
    //! ```

    pub use super::column_name::titles;
    pub use super::formats::{
        Format, Loaded, Place, ReadError, ReadErrorKind, ReadOptions, RowQueries, TableOptions,
        read_folds, read_names, read_preferences, read_rows, read_scores, read_texts,
    };
    pub use super::missing::Missing;
    pub use super::sidecar::{names_beside, texts_beside};
}

/// The data set of svmlight text in a test.
#[cfg(test)]
pub(crate) fn parsed(text: &str) -> Dataset<'static> {
    let loaded = read::ReadOptions::new().read_from(text.as_bytes(), "f");
    loaded.unwrap().dataset
}
