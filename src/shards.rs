//! Data in parts: a folder with the rows, and the columns in files that can be read one by one.
//!
//! ```text
//! manifest.json      rankrls.shards/1: sizes and hashes of the data and of every part
//! rows.svm           labels and queries, a row a line
//! names.txt          names of all columns, if they have any
//! part-1.svm         the first of the parts, and so on: all rows, with the entries of some columns
//! ```
//!
//! Columns of one class are in one part ([`Partition`]), so that selecting from each part, and from
//! what each part has found, is selecting from all. The matrix of a part has the entries of its columns
//! alone, so that the sum of all parts is the matrix of the data.
//!
//! Sharding reads the data once. Rows stay in memory, packed by columns, or on disk from some bytes on;
//! columns are put together from there, part by part. Memory: labels and identifiers of queries, the part of the
//! limit that rows may take until they are written, 200 KiB a part, the largest column, and 28 bytes an
//! entry of the largest part.
//!
//! ```
//! use rankrls::data::read::ReadOptions;
//! use rankrls::shards::{Sharding, Shards};
//!
//! let text = "2 qid:a 1:0.5 7:1\n0 qid:a 2:1\n1 qid:b 2:3\n";
//! let folder = tempfile::tempdir()?;
//! let sharding = Sharding::begin(&folder.path().join("parts"), 2.try_into()?, None)?;
//! let options = sharding.options(ReadOptions::new());
//! let shards = sharding.finish(&options.read_from(text.as_bytes(), "text")?.dataset)?;
//! let columns = |part| Ok::<_, rankrls::shards::ShardError>(shards.read(part)?.stored_columns());
//! assert_eq!(columns(0)? + columns(1)?, 3);
//! assert_eq!(Shards::open(shards.folder())?.parts(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs::{self, File};
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankrls_files::{Remedy, read_regular};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::candidates::{Candidates, Partition};
use crate::columns::{ColumnClasses, QueryWeight, Scale};
use crate::data::hash::Content;
use crate::data::merge::columns_of;
use crate::data::read::{ReadError, ReadOptions, TableOptions, read_names};
use crate::data::runs::{Packer, Run, nameless_file};
use crate::data::spill::{Spill, each_columns};
use crate::data::{
    Columns, CompleteOutput, DataHash, Dataset, FeatureNames, IndexBase, Output, write_names,
    write_svmlight,
};
use crate::memory::Memory;

/// The schema of manifests.
const SCHEMA: &str = "rankrls.shards/1";

/// The file that makes a folder one of shards.
pub const MANIFEST: &str = "manifest.json";

const ROWS: &str = "rows.svm";
const NAMES: &str = "names.txt";

/// Most bytes that are taken for a manifest.
const LARGEST: u64 = 1 << 28;

/// Bytes of rows in memory where nobody sets a limit.
const ROOM: u64 = 2 << 30;

/// Bytes of the buffers of a part while it is written.
const PART: u64 = 200 << 10;

/// Parts whose buffers take next to nothing beside the program.
const FEW: u64 = 64;

/// Bytes of an entry of a part while it is written, and while its classes are found.
const ENTRY: u64 = 28;

/// Data that cannot be put into parts, or parts that cannot be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ShardError {
    /// A file cannot be read or written.
    #[error("{path}: {error}", path = path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// A file of rows, names or a part that is none.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Columns that are none of these rows.
    #[error(transparent)]
    Data(#[from] crate::error::Error),
    /// The folder has files.
    #[error("{path} has files: expected a folder that is not there, or empty", path = path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// More parts than columns, or than memory is there for.
    #[error("expected at most {most} parts, {reason}, found {parts}")]
    Parts {
        /// Parts asked for.
        parts: usize,
        /// How many there can be.
        most: usize,
        /// Why there cannot be more.
        reason: &'static str,
    },
    /// A part that is not among those there are.
    #[error("there is no part {part}: the data are in {parts} parts")]
    Absent {
        /// The part, from 1.
        part: usize,
        /// How many there are.
        parts: usize,
    },
    /// Parts that are larger than the memory that is left for them.
    #[error(
        "the largest part takes {needed} bytes to read, {room} are left for it; shard the data into more parts, or {}",
        Remedy::MoreMemory
    )]
    Memory {
        /// Bytes for the largest part.
        needed: u64,
        /// Bytes that are left.
        room: u64,
    },
    /// The folder or file is something else, or was cut off or changed.
    #[error("{path}: expected {expected}, found {found}; shard the data again", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The expected value.
        expected: String,
        /// The value found.
        found: String,
    },
}

impl From<io::Error> for ShardError {
    fn from(error: io::Error) -> Self {
        let path = PathBuf::from("a temporary file");
        Self::Io { path, error }
    }
}

impl ShardError {
    fn io(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |error| Self::Io { path, error }
    }

    fn check_parts(parts: usize, most: usize, reason: &'static str) -> Result<(), Self> {
        if parts <= most {
            return Ok(());
        }
        Err(Self::Parts {
            parts,
            most,
            reason,
        })
    }

    fn damaged(path: &Path, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            expected: expected.into(),
            found: found.into(),
        }
    }
}

/// The content of `manifest.json`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    schema: String,
    /// The version that wrote it.
    version: String,
    rows: usize,
    queries: usize,
    /// Columns, empty ones included.
    columns: usize,
    nonzeros: usize,
    /// The index of the first column in the data, 0 or 1.
    first_index: u32,
    /// Hash of the names of the columns, if they have any.
    names: Option<DataHash>,
    /// How the table was read, if the data were one.
    #[serde(default, skip_serializing_if = "TableOptions::is_default")]
    table: TableOptions,
    /// Hash of the whole data.
    data: DataHash,
    /// Hash of all that belongs together.
    check: DataHash,
    parts: Vec<PartSize>,
}

/// The size of a part.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartSize {
    /// Columns with an entry.
    columns: usize,
    nonzeros: usize,
    /// Hash of the columns.
    hash: DataHash,
}

impl PartSize {
    fn of(part: &Dataset<'_>) -> Self {
        Self {
            columns: part.stored_columns(),
            nonzeros: part.nonzeros(),
            hash: DataHash::of_columns(part),
        }
    }
}

/// Hash of rows and the index of their first column, the columns of all parts, their names, and what
/// the whole data hash to.
fn check(
    rows: &Dataset<'_>,
    data: DataHash,
    names: Option<DataHash>,
    parts: &[PartSize],
) -> DataHash {
    let hashes = parts.iter().map(|part| part.hash);
    let columns = hashes.fold(DataHash::NOTHING, DataHash::plus);
    let names = names.unwrap_or(DataHash::NOTHING);
    DataHash::of_rows(rows, [columns, data, names])
}

/// Refuses a file of another kind than `look` finds: a device or a pipe may have no end.
fn check_regular(
    path: &Path,
    look: fn(PathBuf) -> io::Result<fs::Metadata>,
) -> Result<(), ShardError> {
    let found = look(path.to_owned()).map_err(ShardError::io(path))?;
    if found.is_file() {
        return Ok(());
    }
    let kind = if found.is_symlink() {
        "a link"
    } else {
        "another kind"
    };
    Err(ShardError::damaged(path, "a regular file", kind))
}

/// The file of a part, which counts from 0.
fn part_name(part: usize) -> String {
    format!("part-{}.svm", part + 1)
}

/// Data in parts.
#[derive(Debug, Clone)]
pub struct Shards {
    folder: PathBuf,
    manifest: Manifest,
}

impl Shards {
    /// The parts in `folder`. Every file must be there; what it holds is checked when it is read.
    pub fn open(folder: &Path) -> Result<Self, ShardError> {
        let path = folder.join(MANIFEST);
        if !path.exists() {
            let (expected, found) = ("data in parts", format!("no {MANIFEST}"));
            return Err(ShardError::damaged(folder, expected, found));
        }
        let bytes = read_regular(&path, LARGEST)?;
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| {
            ShardError::damaged(&path, format!("a manifest {SCHEMA}"), error.to_string())
        })?;
        if manifest.schema != SCHEMA {
            return Err(ShardError::damaged(&path, SCHEMA, manifest.schema));
        }
        let sum = |field: fn(&PartSize) -> usize| {
            let fields = manifest.parts.iter().map(field);
            fields.fold(0, usize::saturating_add)
        };
        let (columns, nonzeros) = (sum(|part| part.columns), sum(|part| part.nonzeros));
        let sound = !manifest.parts.is_empty()
            && columns <= manifest.columns
            && nonzeros == manifest.nonzeros
            && manifest.first_index <= 1;
        if !sound {
            let expected = "parts whose sizes add up, and a first index of 0 or 1";
            return Err(ShardError::damaged(&path, expected, "others"));
        }
        let parts = (0..manifest.parts.len()).map(part_name);
        let names = manifest.names.and(Some(NAMES));
        for file in [Some(ROWS), names].into_iter().flatten() {
            // A link would show lines of other files in messages and models.
            check_regular(&folder.join(file), fs::symlink_metadata)?;
        }
        for file in parts {
            check_regular(&folder.join(file), fs::metadata)?;
        }
        Ok(Self {
            folder: folder.to_owned(),
            manifest,
        })
    }

    /// The folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// How many parts there are.
    pub fn parts(&self) -> usize {
        self.manifest.parts.len()
    }

    /// Columns of the whole data, empty ones included.
    pub fn width(&self) -> usize {
        self.manifest.columns
    }

    /// Entries of the whole data.
    pub fn nonzeros(&self) -> usize {
        self.manifest.nonzeros
    }

    /// How the table that the data were was read.
    pub fn table(&self) -> &TableOptions {
        &self.manifest.table
    }

    /// Hash of the whole data.
    pub fn hash(&self) -> DataHash {
        self.manifest.data
    }

    /// Columns and entries of a part, from 0.
    ///
    /// # Panics
    /// When there is no such part.
    pub fn sizes(&self, part: usize) -> (usize, usize) {
        let size = &self.manifest.parts[part];
        (size.columns, size.nonzeros)
    }

    /// The rows without columns: labels, queries, and names of the features. It has the sizes and the
    /// hash of the whole data.
    pub fn rows(&self) -> Result<Dataset<'static>, ShardError> {
        let manifest = &self.manifest;
        let path = self.folder.join(ROWS);
        let loaded = ReadOptions::new().width(manifest.columns).read(&path)?;
        let base = match manifest.first_index {
            0 => IndexBase::Zero,
            _ => IndexBase::One,
        };
        let mut rows = loaded.dataset.with_index_base(base);
        let sizes = |[rows, queries, entries]: [usize; 3]| {
            format!("{rows} rows in {queries} queries, {entries} entries")
        };
        let expected = [manifest.rows, manifest.queries, 0];
        let found = [rows.rows(), rows.queries().len(), rows.nonzeros()];
        if found != expected {
            return Err(ShardError::damaged(&path, sizes(expected), sizes(found)));
        }
        if let Some(expected) = manifest.names {
            let path = self.folder.join(NAMES);
            let names = read_names(&path, Memory::default())?;
            if names.len() != manifest.columns {
                let expected = format!("{} names", manifest.columns);
                return Err(ShardError::damaged(
                    &path,
                    expected,
                    names.len().to_string(),
                ));
            }
            let found = DataHash::of_names(names.iter());
            if found != expected {
                let hash = |hash: DataHash| format!("names of the hash {hash}");
                return Err(ShardError::damaged(&path, hash(expected), hash(found)));
            }
            rows = rows.with_names(names)?;
        }
        let found = check(&rows, manifest.data, manifest.names, &manifest.parts);
        if found != manifest.check {
            let hash = |hash: DataHash| format!("rows that make {hash} of the manifest");
            return Err(ShardError::damaged(
                &path,
                hash(manifest.check),
                hash(found),
            ));
        }
        Ok(rows.with_entries_elsewhere(manifest.nonzeros, manifest.data))
    }

    /// A part, from 0, as data of all rows: its columns have the features, and the names, of the whole
    /// data. Takes 24 bytes an entry for a moment, and 12 that stay.
    pub fn read(&self, part: usize) -> Result<Dataset<'static>, ShardError> {
        self.read_with(&self.rows()?, part)
    }

    /// Some parts, each once, as one.
    pub fn read_parts(
        &self,
        rows: &Dataset<'_>,
        parts: impl IntoIterator<Item = usize>,
    ) -> Result<Dataset<'static>, ShardError> {
        let parts = parts.into_iter().map(|part| self.read_with(rows, part));
        let mut parts = parts.collect::<Result<Vec<_>, ShardError>>()?;
        match parts.len() {
            1 => Ok(parts.swap_remove(0)),
            _ => Ok(rows.with_columns(self.merged(rows, &parts)?)?),
        }
    }

    /// A part as [`read`](Self::read) has it, with the [`rows`](Self::rows) that were read before.
    pub fn read_with(
        &self,
        rows: &Dataset<'_>,
        part: usize,
    ) -> Result<Dataset<'static>, ShardError> {
        let absent = || ShardError::Absent {
            part: part + 1,
            parts: self.parts(),
        };
        let size = self.manifest.parts.get(part).ok_or_else(absent)?;
        let path = self.folder.join(part_name(part));
        let options = ReadOptions::new()
            .zero_based(rows.index_base() == IndexBase::Zero)
            .width(self.width());
        let read = options.read(&path)?.dataset;
        if read.rows() != rows.rows() {
            let many = |rows| format!("{rows} rows");
            let (expected, found) = (many(rows.rows()), many(read.rows()));
            return Err(ShardError::damaged(&path, expected, found));
        }
        let data = rows.with_columns(read.columns().clone())?;
        let found = PartSize::of(&data);
        if found == *size {
            let query_of_row = data.queries().of_rows();
            let mut partition = Partition::new(data.queries(), &query_of_row, self.parts());
            let mut columns = 0..data.stored_columns();
            if columns.all(|position| partition.part(data.column(position)) == part) {
                return Ok(data);
            }
            let expected = "columns that belong to this part";
            return Err(ShardError::damaged(&path, expected, "others"));
        }
        let text = |size: &PartSize| {
            let (columns, nonzeros, hash) = (size.columns, size.nonzeros, size.hash);
            format!("{nonzeros} entries in {columns} columns of the hash {hash}")
        };
        Err(ShardError::damaged(&path, text(size), text(&found)))
    }

    /// The columns of all `parts`.
    fn merged(
        &self,
        rows: &Dataset<'_>,
        parts: &[Dataset<'_>],
    ) -> Result<Columns<'static>, ShardError> {
        let mut order: Vec<(u32, usize, usize)> = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            order.extend((0..part.stored_columns()).map(|at| (part.feature(at), number, at)));
        }
        order.sort_unstable();
        let features: Vec<u32> = order.iter().map(|&(feature, ..)| feature).collect();
        self.check_distinct(&features)?;
        let mut all = Columns::none(rows.rows(), rows.width());
        for (feature, number, at) in order {
            all.push(feature, parts[number].column(at).entries());
        }
        Ok(all)
    }

    /// Refuses sorted features of parts where one comes twice.
    fn check_distinct(&self, sorted: &[u32]) -> Result<(), ShardError> {
        let Some(pair) = sorted.windows(2).find(|pair| pair[0] == pair[1]) else {
            return Ok(());
        };
        let (expected, found) = (
            "each column in one part",
            format!("column {} in two", pair[0]),
        );
        Err(ShardError::damaged(&self.folder, expected, found))
    }

    /// The candidates among the columns, weighted and scaled: in memory where the entries of the
    /// classes take at most a third of `room` bytes, else in temporary files, of which a selection reads
    /// a part at a time. Each part is read once.
    pub fn candidates(
        &self,
        rows: &Dataset<'_>,
        weight: QueryWeight,
        scale: Scale,
        room: u64,
    ) -> Result<Candidates, ShardError> {
        let largest = (0..self.parts()).map(|part| self.sizes(part).1).max();
        let needed = ENTRY.saturating_mul(largest.unwrap_or(0) as u64);
        if needed > room {
            return Err(ShardError::Memory { needed, room });
        }
        let mut features = Vec::new();
        let classes = |part: usize| {
            let part = self.read_with(rows, part)?;
            features.extend((0..part.stored_columns()).map(|position| part.feature(position)));
            Ok::<_, ShardError>(ColumnClasses::scaled(&part, weight, scale))
        };
        let classes = (0..self.parts()).map(classes);
        let candidates = Candidates::of_shards(classes, &self.folder, room / 3)?;
        features.sort_unstable();
        self.check_distinct(&features)?;
        Ok(candidates)
    }
}

/// Data on their way into parts.
#[derive(Debug)]
pub struct Sharding {
    folder: PathBuf,
    /// A file for the columns of each part on their way, and the file of the part.
    files: Vec<(File, Output)>,
    table: TableOptions,
    spill: Arc<Spill>,
}

impl Sharding {
    /// Begins to write `parts` parts to `folder`, which is made if it is not there. About half of
    /// `max_memory` bytes are for rows on their way.
    pub fn begin(
        folder: &Path,
        parts: NonZeroUsize,
        max_memory: Option<u64>,
    ) -> Result<Self, ShardError> {
        fs::create_dir_all(folder).map_err(ShardError::io(folder))?;
        let mut files = fs::read_dir(folder).map_err(ShardError::io(folder))?;
        if files.next().is_some() {
            let path = folder.to_owned();
            return Err(ShardError::NotEmpty { path });
        }
        let room = max_memory.map_or(ROOM, |limit| (limit / 2).min(ROOM));
        let most = usize::try_from(FEW + room / PART).unwrap_or(usize::MAX);
        ShardError::check_parts(parts.get(), most, "200 KiB of memory each")?;
        let open = |part| {
            let output = Output::create(&folder.join(part_name(part)))?;
            Ok((nameless_file(folder)?, output))
        };
        let files = (0..parts.get()).map(open).collect::<io::Result<_>>();
        let files = files.map_err(|error| {
            let error = io::Error::other(format!("two files for each of {parts} parts: {error}"));
            ShardError::io(folder)(error)
        })?;
        Ok(Self {
            folder: folder.to_owned(),
            files,
            table: TableOptions::default(),
            spill: Arc::new(Spill::new(folder, room)),
        })
    }

    /// Options by which data are read for [`finish`](Self::finish), once.
    pub fn options(&self, options: ReadOptions) -> ReadOptions {
        options.spilling(Arc::clone(&self.spill))
    }

    /// Keeps how a table is read, for models of these parts.
    #[must_use]
    pub fn with_table(mut self, table: TableOptions) -> Self {
        self.table = table;
        self
    }

    /// Why the rows could not be written, where reading has failed for that.
    pub fn failure(&self) -> Option<ShardError> {
        self.spill.failure().map(ShardError::io(&self.folder))
    }

    /// Writes the parts of the data that were read, of which `rows` is all but the entries. The files
    /// get their names when all of them have been written.
    pub fn finish(self, rows: &Dataset<'_>) -> Result<Shards, ShardError> {
        let columns = rows.width();
        ShardError::check_parts(self.files.len(), columns, "one for each column")?;
        let folder = &self.folder;
        let (files, outputs): (Vec<File>, Vec<Output>) = self.files.into_iter().unzip();
        let packed = pack(&self.spill, rows, files);
        let (data, packed) = packed.map_err(ShardError::io(folder))?;
        let mut complete: Vec<CompleteOutput> = Vec::new();
        let mut parts = Vec::new();
        for (number, (columns, output)) in packed.into_iter().zip(outputs).enumerate() {
            let columns = columns_of(&[columns], rows.width()).map_err(ShardError::io(folder))?;
            let part = rows.with_columns(columns)?;
            parts.push(PartSize::of(&part));
            let write = |output: &mut Output| write_svmlight(&part, output);
            complete.push(completed(
                &folder.join(part_name(number)),
                Ok(output),
                write,
            )?);
        }
        let mut add = |name, write: &dyn Fn(&mut Output) -> io::Result<()>| {
            let path = folder.join(name);
            complete.push(completed(&path, Output::create(&path), write)?);
            Ok::<_, ShardError>(())
        };
        add(ROWS, &|output| write_svmlight(rows, output))?;
        let names = rows.names();
        let names = names.map(|names| names.iter().take(columns).collect::<FeatureNames>());
        if let Some(names) = &names {
            add(NAMES, &|output| write_names(names, output))?;
        }
        let names = names.map(|names| DataHash::of_names(names.iter()));
        let manifest = Manifest {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rows: rows.rows(),
            queries: rows.queries().len(),
            columns,
            nonzeros: parts.iter().map(|part| part.nonzeros).sum(),
            first_index: rows.index_base().first(),
            names,
            table: self.table,
            data,
            check: check(rows, data, names, &parts),
            parts,
        };
        add(MANIFEST, &|output| {
            serde_json::to_writer_pretty(&mut *output, &manifest)?;
            output.write_all(b"\n")
        })?;
        let named = complete.into_iter().try_for_each(CompleteOutput::commit);
        named.map_err(ShardError::io(folder))?;
        Ok(Shards {
            folder: self.folder,
            manifest,
        })
    }
}

/// The hash of the data, and the columns of each part, packed: in its file, unless all rows are in memory.
fn pack(
    spill: &Spill,
    rows: &Dataset<'_>,
    mut files: Vec<File>,
) -> io::Result<(DataHash, Vec<Run>)> {
    let runs = spill.runs();
    let here = runs.iter().all(Run::is_here);
    let mut content = Content::new(rows);
    let query_of_row = rows.queries().of_rows();
    let mut packers: Vec<Packer> = files.iter().map(|_| Packer::default()).collect();
    let count = packers.len();
    each_columns(&runs, rows, spill.batch(), |columns| {
        let positions: Vec<usize> = (0..columns.len()).collect();
        let parts = || -> Vec<usize> {
            let chunks = positions.par_chunks(positions.len().div_ceil(16).max(1));
            let parts = chunks.flat_map_iter(|positions| {
                let mut partition = Partition::new(rows.queries(), &query_of_row, count);
                let columns = &columns;
                let positions = positions.iter();
                positions.map(move |&at| partition.part(columns.column(at)))
            });
            parts.collect()
        };
        let hash = || {
            for &at in &positions {
                content.column(columns.feature(at), columns.column(at));
            }
        };
        let (parts, ()) = rayon::join(parts, hash);
        for (&at, part) in positions.iter().zip(parts) {
            packers[part].push(columns.feature(at), columns.column(at).entries());
        }
        if here {
            return Ok(());
        }
        let mut packers = packers.iter_mut().zip(&mut files);
        packers.try_for_each(|(packer, file)| packer.store(file))
    })?;
    let finish = |(packer, file): (Packer, File)| {
        if here {
            Ok(packer.finish(rows.rows()))
        } else {
            packer.finish_in(file, rows.rows())
        }
    };
    let packed = packers.into_iter().zip(files).map(finish);
    Ok((content.finish(), packed.collect::<io::Result<_>>()?))
}

/// A file with all that `write` writes.
fn completed(
    path: &Path,
    output: io::Result<Output>,
    write: impl FnOnce(&mut Output) -> io::Result<()>,
) -> Result<CompleteOutput, ShardError> {
    let complete = output.and_then(|mut output| {
        write(&mut output)?;
        output.complete()
    });
    complete.map_err(ShardError::io(path))
}
