//! Data as files: svmlight text and tables.

use std::io::Read;
use std::path::Path;

use rankrls_files::input::Source;

use super::Dataset;

mod build;
mod cells;
mod format;
mod header;
mod lists;
mod number;
mod options;
mod parsed;
mod query_lines;
mod stray;
mod svmlight;
mod table;
mod text;
mod token;
mod write;

pub(super) use cells::cells;
pub use format::Format;
pub use lists::{
    Preference, read_folds, read_names, read_preferences, read_rows, read_scores, read_texts,
    write_names,
};
pub use options::{Loaded, ReadOptions, RowQueries, TableOptions};
pub use rankrls_files::{Place, ReadError, ReadErrorKind};
pub use write::{write_svmlight, write_svmlight_as_wide, writing_memory};

impl Dataset<'static> {
    /// Reads the file at `path`, its format known by its name, with the names that stand beside it. Otherwise reads as
    /// [`ReadOptions`] do by default.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let options = ReadOptions::new().names_beside(true);
        Ok(options.read(path.as_ref())?.dataset)
    }
}

impl ReadOptions {
    /// Reads the file at `path`, or standard input for `-`.
    ///
    /// Uses the threads of the current rayon pool. Peak memory is about one and a half times the data set's.
    pub fn read(&self, path: &Path) -> Result<Loaded, ReadError> {
        let source = Source::open(path, self.memory.left())?;
        let names = self.names_of(path);
        let options = Self {
            names,
            ..self.clone()
        };
        options.read_source(source, self.format.at(path))
    }

    /// Reads a stream that messages call `name`. It may be compressed, and is svmlight text unless [`Self::format`]
    /// differs.
    pub fn read_from(&self, reader: impl Read + Send, name: &str) -> Result<Loaded, ReadError> {
        let source = Source::new(reader, name, self.memory.left())?;
        self.read_source(source, self.format)
    }

    fn read_source(&self, source: Source<'_>, format: Format) -> Result<Loaded, ReadError> {
        match format {
            Format::Csv => table::read(source, self, b','),
            Format::Tsv => table::read(source, self, b'\t'),
            Format::Auto | Format::Svmlight => svmlight::read(source, self),
        }
    }
}

/// Bytes that tests compress.
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
    use std::path::PathBuf;

    use super::*;
    use crate::data::{FeatureNames, sample};

    /// A file of the corpora that are not shipped. Prints a line and returns `None` if there is none.
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
    fn corpora_are_read() {
        for (file, names, expected, (query, id)) in [
            (
                "ewt-parse/train_2000.svm.zst",
                Some("ewt-parse/features_2000.txt.zst"),
                [2_000, 108, 118_971, 118_971, 1_308_985],
                (0, "1"),
            ),
            (
                "letor-mq2008-fold3/train.txt.zst",
                None,
                [8_643, 470, 46, 40, 210_419],
                (0, "14037"),
            ),
        ] {
            let Some(path) = corpus(file) else { continue };
            let options = ReadOptions::new().names(names.and_then(corpus));
            let data = options.read(&path).unwrap().dataset;
            assert_eq!(size(&data), expected, "{file}");
            assert_eq!(data.queries().id(query), Some(id), "{file}");
            let named = data.names().map(FeatureNames::len);
            assert_eq!(named, names.map(|_| data.width()), "{file}");
        }
        let data = sample::train();
        assert_eq!(size(&data), [1_000, 355, 19_424, 19_424, 204_801]);
        assert_eq!(data.queries().id(0), Some("11"));
        assert_eq!(data.names().map(FeatureNames::len), Some(19_424));
    }

    #[test]
    fn names_beside_the_data_are_found() {
        let folder = tempfile::tempdir().unwrap();
        let at = |file: &str| folder.path().join(file);
        let write = |file: &str, text: &str| std::fs::write(at(file), text).unwrap();
        for data in ["a.svm", "a-test.svm", "b.svm"] {
            write(data, "1 qid:1 1:2\n0 qid:1 2:3\n");
        }
        write("a.names.txt", "x\ny\nz\n");
        write("c.csv", "grade,p\n1,2\n0,3\n");
        write("c.names.txt", "other\n");
        let names = |data: &Dataset<'_>| -> Vec<String> {
            let names = data.names().into_iter().flat_map(FeatureNames::iter);
            names.map(str::to_owned).collect()
        };
        for data in ["a.svm", "a-test.svm"] {
            let data = Dataset::read(at(data)).unwrap();
            assert_eq!(names(&data), ["x", "y", "z"]);
        }
        assert!(names(&Dataset::read(at("b.svm")).unwrap()).is_empty());
        let options = ReadOptions::new();
        let read = |options: &ReadOptions, file| names(&options.read(&at(file)).unwrap().dataset);
        assert!(read(&options, "a.svm").is_empty());
        let beside = options.names_beside(true).table(TableOptions {
            label: Some("grade".to_owned()),
            ..TableOptions::default()
        });
        assert_eq!(read(&beside, "c.csv"), ["p"]);
        write("own.txt", "p\nq\n");
        assert_eq!(read(&beside.names(at("own.txt")), "a.svm"), ["p", "q"]);
        write("a.names.txt", "x\n");
        let error = Dataset::read(at("a.svm")).unwrap_err();
        let told = "a.names.txt: expected at least 2 names, one a column, found 1";
        assert!(error.to_string().ends_with(told), "{error:?}");
    }

    /// Feature, row and value of every entry, by a simple reader.
    fn naive(text: &str) -> Vec<(u32, usize, f64)> {
        let mut entries = Vec::new();
        let rows = text.lines().filter(|line| !line.starts_with('#'));
        for (row, line) in rows.enumerate() {
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
        let shipped = sample::CORPORA.as_flattened().iter();
        let mut files: Vec<Vec<u8>> = shipped.map(|sample| sample.rows.to_vec()).collect();
        let others = [
            "ewt-parse/test_2000.svm.zst",
            "letor-mq2008-fold3/vali.txt.zst",
        ];
        let others = others.into_iter().filter_map(corpus);
        files.extend(others.map(|path| std::fs::read(path).unwrap()));
        for file in files {
            let text = zstd::decode_all(&file[..]).unwrap();
            let data = ReadOptions::new()
                .read_from(&file[..], "rows")
                .unwrap()
                .dataset;
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
}
