//! Data as files: the formats, a file each with all there is to know of it, and a line in the list
//! below. The other files here are what several of them need.

use std::fmt;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use super::runs::{Packer, Run};
use super::sidecar::{NAMES, find, prefix, with_ending};
use super::{CompleteOutput, Dataset, FeatureNames, IndexBase, Output};
use crate::memory::Memory;
use crate::setters::setters;

mod dense;
mod effects;
mod lines;
mod missing;
mod npy;
mod npz;
mod piece;
mod query_lines;
mod records;
mod rlscore;
#[cfg(test)]
mod round_trip;
mod rows;
mod svmlight;
mod table;
mod text;
mod token;
mod words;

pub use lines::{
    PreferenceLine, read_folds, read_names, read_preferences, read_rows, read_scores, read_texts,
    write_names,
};
pub use missing::Missing;
pub(crate) use missing::fill as fill_missing;
pub use npz::MatrixLayout;
use rankrls_files::Remedy;
pub use rankrls_files::{Place, ReadError, ReadErrorKind};
use rankrls_files::{error, input};
pub use svmlight::write_svmlight;
pub use table::TableOptions;

use error::Fault;
use input::{Source, is_stdin};
use lines::write_first_names;
use piece::{Grammar, Lines};
use query_lines::QueryLines;
use rows::refused;
use text::Text;

/// Makes the enum of all formats from their files.
macro_rules! formats {
    ($($format:ident => $file:ident :: $facts:ident),* $(,)?) => {
        /// The formats of data files, by the names that users give.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub enum Format {
            /// The format that the ending of the path stands for, perhaps with `.gz` or `.zst`
            /// after it; svmlight without a known ending. A path that is no file, but becomes one
            /// with the ending of a format, is read in that format.
            #[default]
            Auto,
            $(
                /// [`title`](Self::title) and [`files`](Self::files) describe it.
                $format,
            )*
        }

        impl Format {
            /// All formats but [`Auto`](Self::Auto).
            pub const ALL: [Self; [$(Self::$format),*].len()] = [$(Self::$format),*];

            fn facts(self) -> &'static Facts {
                match self {
                    Self::Auto => &svmlight::FACTS,
                    $(Self::$format => &$file::$facts,)*
                }
            }
        }
    };
}

formats! {
    Svmlight => svmlight::FACTS,
    Rlscore => rlscore::FACTS,
    Npz => npz::FACTS,
    Npy => dense::FACTS,
    Csv => table::CSV,
    Tsv => table::TSV,
}

/// All there is to know of a format.
struct Facts {
    name: &'static str,
    /// The words by which people call data in it.
    title: &'static str,
    /// The names of its files. The first tells its ending.
    files: &'static str,
    /// Whether a path ends as files of this format do.
    ending: fn(&Path) -> bool,
    reader: Reader,
    /// Parts in files of their own, and the endings of these. Entries have the path that was given
    /// unless they stand here.
    parts: &'static [(FilePart, &'static str)],
    /// The text before the endings of the parts, and the suffix of compression after them.
    prefix: fn(&Path) -> (PathBuf, &'static str),
    /// Whether parts may be compressed.
    compressed: bool,
    /// Whether names are taken from `NAME.names.txt` unless other names are given.
    names_beside: bool,
    /// Writes a part other than names; `None` for a format that is only read.
    write: Option<WritePart>,
}

type WritePart = fn(FilePart, &Dataset<'_>, &DataFiles, &mut dyn Write) -> io::Result<()>;

impl Facts {
    fn ending_of(&self, part: FilePart) -> Option<&'static str> {
        let found = self.parts.iter().find(|(other, _)| *other == part);
        found.map(|(_, ending)| *ending)
    }
}

/// How a format is read.
enum Reader {
    /// From one stream, which may be compressed.
    Stream(fn(Source<'_>, &ReadOptions) -> Result<Loaded, ReadError>),
    /// From several files.
    Files {
        read: fn(&Path, &ReadOptions) -> Result<Loaded, ReadError>,
        /// The files, for the message that refuses one stream.
        expected: &'static str,
        remedy: &'static str,
    },
}

impl Format {
    /// The name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            format => format.facts().name,
        }
    }

    /// The words by which people call data in this format.
    pub fn title(self) -> &'static str {
        self.facts().title
    }

    /// The names of its files.
    pub fn files(self) -> &'static str {
        self.facts().files
    }

    /// Whether data are written in this format. Tables are only read.
    pub fn is_written(self) -> bool {
        self.facts().write.is_some()
    }

    /// Whether data at `path` are read as a table, whose columns are found by their names.
    pub fn is_table(self, path: &Path) -> bool {
        matches!(self.read(path), Self::Csv | Self::Tsv)
    }

    /// The files of the data set at `path`: that path, and the labels, queries and names that are
    /// found beside it.
    pub fn files_at(self, path: &Path) -> Vec<PathBuf> {
        let facts = self.read(path).facts();
        let (prefix, suffix) = (facts.prefix)(path);
        let parts = facts.parts.iter();
        let parts = parts.filter_map(|(_, ending)| find(&prefix, ending, suffix));
        let parts = parts.chain(self.names_at(path));
        [path.to_owned()].into_iter().chain(parts).collect()
    }

    /// The file of names that is found beside the data at `path`.
    pub fn names_at(self, path: &Path) -> Option<PathBuf> {
        let beside = self.read(path).facts().names_beside;
        beside.then(|| find(&prefix(path), NAMES, "")).flatten()
    }

    /// The format in which data are written to `path`.
    fn written(self, path: &Path) -> Self {
        let ends = |format: &Self| (format.facts().ending)(path);
        match self {
            Self::Auto => Self::ALL.into_iter().find(ends).unwrap_or(Self::Svmlight),
            format => format,
        }
    }

    /// The format in which data at `path` are read: a path that is no file may be the beginning of
    /// the path of the entries.
    fn read(self, path: &Path) -> Self {
        let format = self.written(path);
        if self != Self::Auto || format != Self::Svmlight || is_stdin(path) || path.is_file() {
            return format;
        }
        let there = |format: &Self| {
            let ending = format.facts().ending_of(FilePart::Entries);
            ending.is_some_and(|ending| find(path, ending, "").is_some())
        };
        Self::ALL.into_iter().find(there).unwrap_or(format)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// Data as it was read.
#[derive(Debug)]
pub struct Loaded {
    /// The rows, in the order of the file unless [`ReadOptions::regroup`] moved them.
    pub dataset: Dataset<'static>,
    /// Entries other than zero that were dropped, being in columns at or beyond
    /// [`ReadOptions::width`].
    pub dropped_entries: u64,
    /// In how many different columns they were.
    pub dropped_columns: u64,
}

impl Dataset<'static> {
    /// Reads the file at `path`, its format known by its name, as [`ReadOptions`] do by default.
    pub fn read(path: impl AsRef<Path>) -> Result<Self, ReadError> {
        let loaded = ReadOptions::new().read(path.as_ref())?;
        Ok(loaded.dataset)
    }
}

/// The queries of rows that come without any.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RowQueries {
    /// A file with the identifier of the query of each row, one a line; or with the numbers of rows of
    /// the queries, which are counted from 1. Whole numbers that add up to the rows, and are not as
    /// many, are such sizes.
    File(PathBuf),
    /// Every so many rows are a query; identifiers count them from 1.
    Size(usize),
}

/// How to read data.
#[derive(Debug, Clone, Default)]
pub struct ReadOptions {
    format: Format,
    zero_based: bool,
    regroup: bool,
    row_queries: Option<RowQueries>,
    table: TableOptions,
    columns: Option<FeatureNames>,
    unlabelled: bool,
    width: Option<usize>,
    names: Option<PathBuf>,
    memory: Memory,
    /// Bytes of text that a thread parses at a time.
    chunk: Option<usize>,
    /// Where entries go instead of into the data set.
    packed: Option<Arc<Mutex<Vec<Run>>>>,
}

impl ReadOptions {
    /// All at their defaults.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The format of the file. Default: [`Format::Auto`].
        format: Format => format;

        /// Whether the indices of an svmlight file count from 0. Default: no, from 1. RLScore's
        /// always count from 0.
        zero_based: bool => zero_based;

        /// Whether the rows of a query that comes back are moved to its others, instead of being
        /// refused. Default: no. Queries stay in the order of their first rows and rows in the
        /// order of the file; [`Dataset::input_rows`] has the way back.
        regroup: bool => regroup;

        /// The queries of data that have none of their own. Default: none; data without queries are one
        /// query. Data that have query identifiers are refused then.
        row_queries: impl Into<Option<RowQueries>> => row_queries;

        /// The kinds of the columns of a table, and what to take for missing values: in text the usual words
        /// and the numbers that mark them, in tables also empty cells, in arrays nan and these numbers.
        /// Default: nothing said.
        table: TableOptions => table;

        /// Names of the features, by which the columns of a table are found in any order; a feature
        /// with an empty name is not looked for. Goes with [`width`](Self::width), for data for a model
        /// or besides training data: other formats have columns of the same numbers. Default: none, the
        /// columns of a table are the features, in its order and with its names.
        columns: impl Into<Option<FeatureNames>> => columns;

        /// Whether a table may lack labels, a cell or the whole column: a missing label is 0. Default: no.
        unlabelled: bool => unlabelled;

        /// The number of columns: entries in columns at or beyond it are dropped and counted.
        /// Default: none, one more than the last column that the file mentions. Data for a model
        /// takes its width from the model.
        width: impl Into<Option<usize>> => width;

        /// A file with the names of the columns, see [`read_names`]. Default: none.
        names: impl Into<Option<PathBuf>> => names;

        /// Bytes that may be taken while reading, in rows and in the columns made of them. Default: no
        /// limit, but what the headers of arrays claim is held to the free memory. Text on its way, at most
        /// an eighth of what is left or three lines that are longer, is gone before the columns are made.
        memory: impl Into<Memory> => memory;
    }

    /// Bytes of text that a thread parses at a time.
    #[cfg(test)]
    fn chunk(mut self, bytes: usize) -> Self {
        self.chunk = Some(bytes);
        self
    }

    /// Sends the entries elsewhere: the data set that is read has none.
    pub(crate) fn packed(mut self, runs: Arc<Mutex<Vec<Run>>>) -> Self {
        self.packed = Some(runs);
        self
    }

    /// Reads the file at `path`, or standard input for `-`.
    ///
    /// Uses the threads of the current rayon pool. Peak memory is about one and a half times that of
    /// the data set.
    pub fn read(&self, path: &Path) -> Result<Loaded, ReadError> {
        let facts = self.format.read(path).facts();
        match facts.reader {
            Reader::Stream(read) => read(Source::open(path, self.memory.left())?, self),
            Reader::Files { .. } if is_stdin(path) => self.read_from(io::empty(), "<stdin>"),
            // Data that takes its width from elsewhere has no use for names.
            Reader::Files { read, .. } if self.names.is_none() && self.width.is_none() => {
                read(path, &self.clone().names(self.format.names_at(path)))
            }
            Reader::Files { read, .. } => read(path, self),
        }
    }

    /// Reads a stream, perhaps compressed, that messages call `name`: svmlight text unless
    /// [`Self::format`] says otherwise.
    pub fn read_from(&self, reader: impl Read + Send, name: &str) -> Result<Loaded, ReadError> {
        match self.format.facts().reader {
            Reader::Stream(read) => read(Source::new(reader, name, self.memory.left())?, self),
            Reader::Files {
                expected, remedy, ..
            } => Err(Fault::mismatch(expected, "one stream")
                .remedy(remedy)
                .of(name)),
        }
    }

    fn grammar(&self, lines: Lines, base: IndexBase) -> Grammar {
        Grammar {
            lines,
            first: base.first(),
            width: self.width,
            missing: self.table.missing.map(Missing::in_place),
        }
    }

    /// Gives the rows of `text` the queries that they came without.
    fn give_queries(&self, text: &mut Text, queries: &RowQueries) -> Result<(), ReadError> {
        if text.groups.first_place().is_some() {
            let expected = "data without query identifiers, as their queries are given besides";
            return Err(Fault::mismatch(expected, "some").of(&text.name));
        }
        match queries {
            RowQueries::File(path) => {
                let source = Source::open(path, self.memory.left())?;
                query_lines::give(text, source, QueryLines::IdsOrSizes, self)?;
            }
            RowQueries::Size(size) => {
                let rest = text.rows.checked_rem(*size).unwrap_or(text.rows);
                if rest != 0 {
                    let expected = format!("queries of {size} rows each");
                    let found = format!("{} rows, the last {rest} no full query", text.rows);
                    return Err(Fault::mismatch(expected, found).of(&text.name));
                }
                for query in 1..=text.rows / size {
                    // Every number is another query.
                    let _ = text.groups.add(&query.to_string(), *size, query as u64);
                }
            }
        }
        Ok(())
    }

    /// The data set of the rows of `text`, whose labels and queries may have come from others.
    fn build(&self, mut text: Text, base: IndexBase) -> Result<Loaded, ReadError> {
        if text.rows == 0 {
            return Err(Fault::no_rows().of(&text.name));
        }
        if let Some(queries) = &self.row_queries {
            self.give_queries(&mut text, queries)?;
        }
        if let Some(packed) = &self.packed {
            if let Some(columns) = text.columns.take() {
                let mut packer = Packer::default();
                packer.extend(&columns);
                text.runs.push(packer.finish(text.rows));
            }
            let mut runs = packed.lock().unwrap_or_else(PoisonError::into_inner);
            runs.append(&mut text.runs);
        }
        let width = self.width.unwrap_or(text.width);
        let dropped_entries = text.dropped_entries;
        let dropped_columns = text.dropped_columns.len() as u64;
        let memory = self.memory.holding(text.memory);
        let averaged = self.table.missing == Some(Missing::Mean);
        let nameless = text.into_dataset(width, averaged)?.with_index_base(base);
        let dataset = match &self.names {
            None => nameless,
            Some(path) => lines::attach(nameless, path, memory)?,
        };
        Ok(Loaded {
            dataset,
            dropped_entries,
            dropped_columns,
        })
    }
}

/// A file of a data set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FilePart {
    /// Entries; in svmlight text labels and queries, too.
    Entries,
    /// Labels.
    Labels,
    /// The query of each row.
    Queries,
    /// Names of the columns.
    Names,
}

/// Where, and how, a data set is written: [`ReadOptions`] reads it back unchanged.
///
/// Names go to `NAME.names.txt`, where `NAME` is the path without `.gz` or `.zst` and without the
/// ending before it. Readers of `.npz` find them there; readers of other formats
/// have to be told.
#[derive(Debug, Clone)]
pub struct DataFiles {
    path: PathBuf,
    format: Format,
    layout: MatrixLayout,
    base: IndexBase,
}

impl DataFiles {
    /// The files of a data set at `path`. [`Format::Auto`] is known by the ending: `.npz`,
    /// `.features` (perhaps with `.gz` or `.zst`), all others are svmlight.
    pub fn new(path: &Path, format: Format) -> Self {
        Self {
            path: path.to_owned(),
            format: format.written(path),
            layout: MatrixLayout::default(),
            base: IndexBase::default(),
        }
    }

    setters! {
        /// The order of `.npz`: by row or by column. Default: by row.
        layout: MatrixLayout => layout;

        /// The index of the first column in svmlight text. Default: [`IndexBase::One`].
        index_base: IndexBase => base;
    }

    /// The format, never [`Format::Auto`].
    pub fn format(&self) -> Format {
        self.format
    }

    /// The parts that `dataset` has in this format. The entries are last: when they are there,
    /// all is there.
    pub fn parts(&self, dataset: &Dataset<'_>) -> Vec<FilePart> {
        let queries = dataset.queries();
        let in_queries = queries.ids().is_some() || queries.len() > 1;
        let parts = [FilePart::Labels, FilePart::Queries, FilePart::Names];
        let has = |part: &FilePart| match part {
            FilePart::Names => dataset.names().is_some(),
            FilePart::Queries if !in_queries => false,
            &part => self.ending(part).is_some(),
        };
        let written = parts.into_iter().filter(has);
        written.chain([FilePart::Entries]).collect()
    }

    /// The ending of the file of a part, if the format gives it one.
    fn ending(&self, part: FilePart) -> Option<&'static str> {
        self.format.facts().ending_of(part)
    }

    /// The file of a part.
    pub fn path(&self, part: FilePart) -> PathBuf {
        let (prefix, suffix) = (self.format.facts().prefix)(&self.path);
        match (part, self.ending(part)) {
            (FilePart::Names, _) => with_ending(&prefix, NAMES, ""),
            (_, Some(ending)) => with_ending(&prefix, ending, suffix),
            (_, None) => self.path.clone(),
        }
    }

    /// All files that may be written, each with its part.
    pub fn all(&self) -> impl Iterator<Item = (FilePart, PathBuf)> {
        let parts = [
            FilePart::Entries,
            FilePart::Labels,
            FilePart::Queries,
            FilePart::Names,
        ];
        let own = move |part: &FilePart| {
            matches!(part, FilePart::Entries | FilePart::Names) || self.ending(*part).is_some()
        };
        parts
            .into_iter()
            .filter(own)
            .map(|part| (part, self.path(part)))
    }

    /// A file that is there and would be read as a part of `dataset`, which has no such part: it
    /// is of other data, and must go before these are written.
    pub fn stranger(&self, dataset: &Dataset<'_>) -> Option<PathBuf> {
        let (facts, parts) = (self.format.facts(), self.parts(dataset));
        let (prefix, _) = (facts.prefix)(&self.path);
        let queries = || match self.ending(FilePart::Queries)? {
            ending if facts.compressed => find(&prefix, ending, ""),
            _ => Some(self.path(FilePart::Queries)).filter(|path| path.exists()),
        };
        let names = || find(&prefix, NAMES, "").filter(|_| facts.names_beside);
        let absent = |part| !parts.contains(&part);
        absent(FilePart::Queries)
            .then(queries)
            .flatten()
            .or_else(|| absent(FilePart::Names).then(names).flatten())
    }

    /// Writes one part.
    pub fn write_part(
        &self,
        part: FilePart,
        dataset: &Dataset<'_>,
        mut writer: impl Write,
    ) -> io::Result<()> {
        match (part, dataset.names()) {
            (FilePart::Names, None) => writer.flush(),
            (FilePart::Names, Some(names)) => write_first_names(names, dataset.width(), writer),
            _ => match self.format.facts().write {
                Some(write) => write(part, dataset, self, &mut writer),
                None => Err(refused(format!("{} is only read", self.format.title()))),
            },
        }
    }

    /// Writes all parts; they appear when all have been written, each of them whole.
    pub fn write(&self, dataset: &Dataset<'_>) -> io::Result<()> {
        if let Some(stranger) = self.stranger(dataset) {
            let message = format!("{} belongs to other data", stranger.display());
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, message));
        }
        let mut complete = Vec::new();
        for part in self.parts(dataset) {
            let mut output = Output::create(&self.path(part))?;
            self.write_part(part, dataset, &mut output)?;
            complete.push(output.complete()?);
        }
        complete.into_iter().try_for_each(CompleteOutput::commit)
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
    use super::*;

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
    fn corpora_are_read() {
        let names = "ewt-parse/features_2000.txt.zst";
        for (file, names, expected, (query, id)) in [
            (
                "rlscore-parse/train.features",
                None,
                [100, 22, 195_095, 9_312, 51_855],
                (1, "1001"),
            ),
            (
                "ewt-parse/train_2000.svm.zst",
                Some(names),
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
            let Some(path) = corpus(file) else { return };
            let options = ReadOptions::new().names(names.and_then(corpus));
            let data = options.read(&path).unwrap().dataset;
            assert_eq!(size(&data), expected, "{file}");
            assert_eq!(data.queries().id(query), Some(id), "{file}");
            let named = data.names().map(FeatureNames::len);
            assert_eq!(named, names.map(|_| data.width()), "{file}");
        }
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
}
