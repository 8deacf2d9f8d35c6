//! Readers of ranking data: svmlight / LETOR text, RLScore's triplets and SciPy's matrices.
//!
//! # svmlight / LETOR
//!
//! One row a line, `<label> qid:<id> <index>:<value> … # comment`:
//!
//! - the label is any finite decimal number;
//! - `qid` stands right after it, on all rows or on none (all rows are one query then); the
//!   identifier is an opaque token, and the rows of a query are next to each other;
//! - indices count from 1 and ascend strictly in a row; a value of zero is legal and not stored;
//! - tokens are separated by blanks and tabs; comments, blank lines, CRLF, a row without pairs
//!   and a last line without line end are legal.
//!
//! # RLScore's triplets
//!
//! `X.features` has one row a line, `index:value` with indices that count from 0, where an empty
//! line is a row without entries; `X.labels` a label a line; `X.qids` the query of the row on
//! each line, and without that file all rows are one query. There are no comments.
//!
//! Each file may be compressed by gzip or zstd, which is known by its first bytes.
//!
//! # SciPy's matrices
//!
//! `X.npz` is a matrix in compressed rows or columns, as `scipy.sparse.save_npz` writes it, with
//! `X.labels.npy`, perhaps `X.qids.npy` (integers or text), and perhaps names in `X.names.txt`.
//! Entries of a row may be in any order, but not twice in a column; zeros are not stored.
//!
//! What is not understood is refused: see [`ReadErrorKind`].
//!
//! ```
//! use rankrls::data::read::{ReadErrorKind, ReadOptions};
//!
//! let text = "2 qid:a 1:0.5 7:1 # relevant\n0 qid:a 2:1\n1 qid:b\n";
//! let data = ReadOptions::new().read_from(text.as_bytes(), "text")?.dataset;
//! assert_eq!((data.rows(), data.queries().len(), data.width()), (3, 2, 7));
//!
//! let error = ReadOptions::new().read_from(&b"1 0:0.5\n"[..], "text").unwrap_err();
//! assert_eq!(error.kind(), ReadErrorKind::ZeroIndex);
//! assert!(error.to_string().starts_with("text:1:3: expected indices that count from 1"));
//! # Ok::<(), rankrls::data::read::ReadError>(())
//! ```

mod names;
mod npy;
mod npz;
mod options;
mod piece;
mod rlscore;
mod scores;
mod svmlight;
mod text;
mod token;

pub use names::{read_names, read_names_from};
pub use options::{Format, Loaded, ReadOptions};
pub use rankrls_files::{Place, ReadError, ReadErrorKind};
use rankrls_files::{error, input};
pub(super) use rlscore::split as split_features;
pub use scores::{read_scores, read_scores_from};
pub(super) use token::LARGEST_INDEX;

/// What tests compress.
#[cfg(test)]
mod compressed {
    use std::io::Write;

    use flate2::write::GzEncoder;

    pub(super) fn gz(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    pub(super) fn zst(text: &[u8]) -> Vec<u8> {
        zstd::encode_all(text, 3).unwrap()
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;
    use crate::Dataset;

    /// A file of the corpora, or none and a word about it.
    fn corpus(file: &str) -> Option<PathBuf> {
        let folder = std::env::var_os("RANKRLS_CORPORA");
        if folder.is_none() {
            eprintln!("NOT TESTED on {file}: RANKRLS_CORPORA does not name the folder of corpora");
        }
        folder.map(|folder| Path::new(&folder).join(file))
    }

    /// Rows, queries, columns, stored columns and non-zeros.
    fn size(data: &Dataset<'_>) -> [usize; 5] {
        let queries = data.queries().len();
        let columns = [data.width(), data.stored_columns(), data.nonzeros()];
        [data.rows(), queries, columns[0], columns[1], columns[2]]
    }

    #[test]
    fn rlscore_corpus_is_read() {
        let Some(path) = corpus("rlscore-parse/train.features") else {
            return;
        };
        let data = ReadOptions::new().read(&path).unwrap().dataset;
        assert_eq!(size(&data), [100, 22, 195_095, 9_312, 51_855]);
        assert_eq!(data.queries().id(1), Some("1001"));
        let width = data.width();
        let path = path.with_file_name("test");
        let test = ReadOptions::new().width(width).read(&path).unwrap();
        assert_eq!(test.dataset.width(), width);
        assert_eq!(
            (test.dataset.rows(), test.dataset.queries().len()),
            (100, 20)
        );
        assert!(test.dropped_columns > 0);
    }

    #[test]
    fn parse_corpus_is_read_with_its_names() {
        let Some(path) = corpus("ewt-parse/train_2000.svm.zst") else {
            return;
        };
        let options = ReadOptions::new().names(path.with_file_name("features_2000.txt.zst"));
        let data = options.read(&path).unwrap().dataset;
        assert_eq!(size(&data), [2_000, 108, 118_971, 118_971, 1_308_985]);
        assert_eq!(data.names().unwrap().len(), 118_971);
    }

    /// Feature, row and value of every entry, by the simplest of readers.
    fn naive(text: &str) -> Vec<(u32, usize, f64)> {
        let mut entries = Vec::new();
        for (row, line) in text.lines().enumerate() {
            let tokens = line.split('#').next().unwrap_or_default().split(' ');
            for (index, value) in tokens.skip(2).filter_map(|token| token.split_once(':')) {
                let (index, value): (u32, f64) = (index.parse().unwrap(), value.parse().unwrap());
                entries.push((index - 1, row, value));
            }
        }
        entries.retain(|(_, _, value)| *value != 0.0);
        entries.sort_by_key(|&(feature, row, _)| (feature, row));
        entries
    }

    #[test]
    fn corpora_hold_what_a_naive_reader_finds() {
        for file in [
            "ewt-parse/test_2000.svm.zst",
            "letor-mq2008-fold3/vali.txt.zst",
        ] {
            let Some(path) = corpus(file) else { return };
            let text = zstd::decode_all(std::fs::File::open(&path).unwrap()).unwrap();
            let data = ReadOptions::new().read(&path).unwrap().dataset;
            let column = |position| {
                let entries = data.column(position).iter();
                entries.map(move |(row, value)| (position, row, value))
            };
            let entries = (0..data.stored_columns()).flat_map(column);
            let entries =
                entries.map(|(position, row, value)| (data.feature(position), row, value));
            assert!(entries.eq(naive(std::str::from_utf8(&text).unwrap())));
        }
    }

    #[test]
    fn letor_corpus_is_read() {
        let Some(path) = corpus("letor-mq2008-fold3/train.txt.zst") else {
            return;
        };
        let data = ReadOptions::new().read(&path).unwrap().dataset;
        assert_eq!(size(&data)[..3], [8_643, 470, 46]);
        assert_eq!(data.queries().id(0), Some("14037"));
    }
}
