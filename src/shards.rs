//! Data in parts: a folder with the rows, and the columns in files that can be read one by one.
//!
//! ```text
//! manifest.json      rankrls.shards/1: sizes and hashes of the data and of every part
//! rows.svm           labels and queries, a row a line
//! names.txt          names of all columns, if they have any
//! part-1.npz         the first of the parts, and so on: a matrix of SciPy of all rows and columns
//! ```
//!
//! Columns of one class are in one part ([`Partition`]), so that selecting from each part, and from
//! what each part has found, is selecting from all. The matrix of a part has the entries of its columns
//! alone, so that the sum of all parts is the matrix of the data.
//!
//! Sharding reads the data once. Rows stay on disk from some bytes on, packed by columns; columns are
//! put together from there, part by part. Memory: labels and identifiers of queries, the part of the
//! limit that rows may take until they are written, 100 KiB a part, the largest column, and 28 bytes an
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

use std::fs;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankrls_files::read_whole;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::columns::{ColumnClasses, Partition, QueryWeight, Scale};
use crate::data::hash::Content;
use crate::data::read::{ReadError, ReadOptions, read_names};
use crate::data::spill::{ColumnFile, Merged, Spill};
use crate::data::transpose::{Occupied, columns_of, move_entries, places_in};
use crate::data::{
    Column, CompleteOutput, DataHash, MatrixLayout, Output, read_rows_of_npz, write_names,
    write_npz, write_svmlight,
};
use crate::{Dataset, DatasetError, FeatureNames, IndexBase};

/// The schema of manifests.
const SCHEMA: &str = "rankrls.shards/1";

/// The file that makes a folder one of shards.
pub const MANIFEST: &str = "manifest.json";

const ROWS: &str = "rows.svm";
const NAMES: &str = "names.txt";

/// Most bytes that are taken for a manifest.
const LARGEST: u64 = 1 << 28;

/// Entries that are hashed, and sorted into parts, at a time.
const BATCH: usize = 1 << 17;

/// Bytes of rows in memory where nobody sets a limit.
const ROOM: u64 = 2 << 30;

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
    Data(#[from] DatasetError),
    /// The folder has files.
    #[error("{path} has files: expected a folder that is not there, or empty", path = path.display())]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// More parts than columns.
    #[error("expected at most {columns} parts, one for each column, found {parts}")]
    Parts {
        /// Parts asked for.
        parts: usize,
        /// Columns of the data.
        columns: usize,
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
        "the largest part takes {needed} bytes to read, {room} are left for it; shard the data into more parts, or raise --max-memory"
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
        /// What it should be.
        expected: String,
        /// What it is.
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

    fn damaged(path: &Path, expected: impl Into<String>, found: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_owned(),
            expected: expected.into(),
            found: found.into(),
        }
    }
}

/// What `manifest.json` says.
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
    /// Whether the columns have names.
    named: bool,
    /// Hash of the whole data.
    data: DataHash,
    parts: Vec<PartSize>,
}

/// What a part has.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PartSize {
    /// Columns with an entry.
    columns: usize,
    nonzeros: usize,
    /// Hash of the rows with these columns.
    hash: DataHash,
}

impl PartSize {
    fn of(part: &Dataset<'_>) -> Self {
        Self {
            columns: part.stored_columns(),
            nonzeros: part.nonzeros(),
            hash: DataHash::of(part),
        }
    }
}

/// The file of a part, which counts from 0.
fn part_name(part: usize) -> String {
    format!("part-{}.npz", part + 1)
}

/// Data in parts.
#[derive(Debug, Clone)]
pub struct Shards {
    folder: PathBuf,
    manifest: Manifest,
}

impl Shards {
    /// Whether there are data in parts at `path`, or what is left of them.
    pub fn are_at(path: &Path) -> bool {
        path.join(MANIFEST).is_file()
    }

    /// The parts in `folder`. Every file must be there; what it holds is checked when it is read.
    ///
    /// # Errors
    /// [`ShardError`] for a folder without a manifest, for one whose sizes do not add up, and for a
    /// file that is missing.
    pub fn open(folder: &Path) -> Result<Self, ShardError> {
        let path = folder.join(MANIFEST);
        let bytes = read_whole(&path, LARGEST)?;
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
        let others = [Some(ROWS), manifest.named.then_some(NAMES)];
        let others = others.into_iter().flatten().map(str::to_owned);
        for file in others.chain(parts) {
            let path = folder.join(file);
            // A device or a pipe may have no end.
            if !fs::metadata(&path)
                .map_err(ShardError::io(&path))?
                .is_file()
            {
                return Err(ShardError::damaged(&path, "a regular file", "another kind"));
            }
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
    ///
    /// # Errors
    /// [`ShardError`] for files that cannot be read or are others than the manifest says.
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
        if manifest.named {
            let path = self.folder.join(NAMES);
            let names = read_names(&path, None)?;
            if names.len() != manifest.columns {
                let expected = format!("{} names", manifest.columns);
                return Err(ShardError::damaged(
                    &path,
                    expected,
                    names.len().to_string(),
                ));
            }
            rows = rows.with_names(names)?;
        }
        Ok(rows.with_entries_elsewhere(manifest.nonzeros, manifest.data))
    }

    /// A part, from 0, as data of all rows: its columns have the features, and the names, of the whole
    /// data. Takes 24 bytes an entry for a moment, and 12 that stay.
    ///
    /// # Errors
    /// [`ShardError`] for files that cannot be read or are others than the manifest says.
    pub fn read(&self, part: usize) -> Result<Dataset<'static>, ShardError> {
        self.read_with(&self.rows()?, part)
    }

    /// The same with the [`rows`](Self::rows) that were read before.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_with(
        &self,
        rows: &Dataset<'_>,
        part: usize,
    ) -> Result<Dataset<'static>, ShardError> {
        self.read_parts(rows, [part])
    }

    /// Some parts, each once, as one.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn read_parts(
        &self,
        rows: &Dataset<'_>,
        parts: impl IntoIterator<Item = usize>,
    ) -> Result<Dataset<'static>, ShardError> {
        let parts = parts.into_iter().map(|part| self.part(rows, part));
        let mut parts = parts.collect::<Result<Vec<_>, ShardError>>()?;
        let data = match parts.len() {
            1 => parts.swap_remove(0),
            _ => rows.with_columns(self.merged(&parts)?, rows.width())?,
        };
        match rows.names() {
            Some(names) => Ok(data.with_names(names.clone())?),
            None => Ok(data),
        }
    }

    /// A part without names: the one that the manifest means.
    fn part(&self, rows: &Dataset<'_>, part: usize) -> Result<Dataset<'static>, ShardError> {
        let absent = || ShardError::Absent {
            part: part + 1,
            parts: self.parts(),
        };
        let size = self.manifest.parts.get(part).ok_or_else(absent)?;
        let path = self.folder.join(part_name(part));
        let (block, width) = read_rows_of_npz(&path, rows.rows(), size.nonzeros)?;
        let runs = block.rows().packed();
        // The rows are not needed while the columns are made.
        drop(block);
        let data = rows.with_columns(columns_of(&runs, None), width)?;
        let found = PartSize::of(&data);
        if found == *size {
            return Ok(data);
        }
        let text = |size: &PartSize| {
            let (columns, nonzeros, hash) = (size.columns, size.nonzeros, size.hash);
            format!("{nonzeros} entries in {columns} columns, with {ROWS} of the hash {hash}")
        };
        Err(ShardError::damaged(&path, text(size), text(&found)))
    }

    /// The columns of all `parts`.
    fn merged(&self, parts: &[Dataset<'_>]) -> Result<Occupied, ShardError> {
        let mut order: Vec<(u32, usize, usize)> = Vec::new();
        for (number, part) in parts.iter().enumerate() {
            order.extend((0..part.stored_columns()).map(|at| (part.feature(at), number, at)));
        }
        order.sort_unstable();
        if let Some(pair) = order.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            let found = format!("column {} of all in two", pair[0].0);
            return Err(ShardError::damaged(
                &self.folder,
                "each column in one part",
                found,
            ));
        }
        let mut all = Occupied::default();
        for (feature, number, at) in order {
            let Column { rows, values } = parts[number].column(at);
            all.push(feature, rows.iter().copied().zip(values.iter().copied()));
        }
        Ok(all)
    }

    /// What the columns offer to select from, weighted and scaled: in memory where the entries of the
    /// classes take at most a third of `room` bytes, else in temporary files, of which a selection reads
    /// a part at a time. Each part is read once.
    ///
    /// # Errors
    /// As [`read`](Self::read), and [`ShardError::Memory`] for parts that are too large for `room`.
    pub fn candidates(
        &self,
        rows: &Dataset<'_>,
        weight: QueryWeight,
        scale: Scale,
        room: u64,
    ) -> Result<ColumnClasses, ShardError> {
        let largest = (0..self.parts()).map(|part| self.sizes(part).1).max();
        let needed = ENTRY.saturating_mul(largest.unwrap_or(0) as u64);
        if needed > room {
            return Err(ShardError::Memory { needed, room });
        }
        let classes = |part: usize| {
            let part = self.read_with(rows, part)?;
            Ok(ColumnClasses::scaled(&part, weight, scale))
        };
        ColumnClasses::of_parts((0..self.parts()).map(classes), &self.folder, room / 3)
    }
}

/// Data on their way into parts.
#[derive(Debug)]
pub struct Sharding {
    folder: PathBuf,
    parts: usize,
    spill: Arc<Spill>,
}

impl Sharding {
    /// Begins to write `parts` parts to `folder`, which is made if it is not there. About half of
    /// `max_memory` bytes are for rows on their way.
    ///
    /// # Errors
    /// [`ShardError`] for a folder that has files or cannot be made.
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
        Ok(Self {
            folder: folder.to_owned(),
            parts: parts.get(),
            spill: Arc::new(Spill::new(folder, room)),
        })
    }

    /// Options by which data are read for [`finish`](Self::finish), once.
    pub fn options(&self, options: ReadOptions) -> ReadOptions {
        options.spilling(Arc::clone(&self.spill))
    }

    /// Why the rows could not be written, where reading has failed for that.
    pub fn failure(&self) -> Option<ShardError> {
        self.spill.failure().map(ShardError::io(&self.folder))
    }

    /// Writes the parts of the data that were read, of which `rows` is all but the entries. The files
    /// get their names when all of them have been written.
    ///
    /// # Errors
    /// [`ShardError`] for more parts than columns, and for files that cannot be written.
    pub fn finish(self, rows: &Dataset<'_>) -> Result<Shards, ShardError> {
        let columns = rows.width();
        if self.parts > columns {
            let parts = self.parts;
            return Err(ShardError::Parts { parts, columns });
        }
        let folder = &self.folder;
        let (data, files) = self.columns(rows)?;
        let mut complete: Vec<CompleteOutput> = Vec::new();
        let mut write = |name: &str, write: &dyn Fn(&mut Output) -> io::Result<()>| {
            let path = folder.join(name);
            let written = Output::create(&path).and_then(|mut output| {
                write(&mut output)?;
                output.complete()
            });
            complete.push(written.map_err(ShardError::io(&path))?);
            Ok::<_, ShardError>(())
        };
        let mut parts = Vec::new();
        for (number, file) in files.into_iter().enumerate() {
            let occupied = file.into_columns().map_err(ShardError::io(folder))?;
            let part = rows.with_columns(occupied, columns)?;
            parts.push(PartSize::of(&part));
            write(&part_name(number), &|output| {
                write_npz(&part, MatrixLayout::Rows, output)
            })?;
        }
        write(ROWS, &|output| write_svmlight(rows, output))?;
        if let Some(names) = rows.names() {
            let names: FeatureNames = names.iter().take(columns).collect();
            write(NAMES, &|output| write_names(&names, output))?;
        }
        let manifest = Manifest {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rows: rows.rows(),
            queries: rows.queries().len(),
            columns,
            nonzeros: parts.iter().map(|part| part.nonzeros).sum(),
            first_index: rows.index_base().first(),
            named: rows.names().is_some(),
            data,
            parts,
        };
        write(MANIFEST, &|output| {
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

    /// Writes the columns to a temporary file for each part, and hashes the data.
    fn columns(&self, rows: &Dataset<'_>) -> Result<(DataHash, Vec<ColumnFile>), ShardError> {
        let failed = |error| ShardError::io(&self.folder)(error);
        let files = (0..self.parts).map(|_| ColumnFile::create(&self.folder));
        let mut files: Vec<ColumnFile> = files.collect::<io::Result<_>>().map_err(failed)?;
        let mut merged = self.spill.merged().map_err(failed)?;
        let mut content = Content::new(rows);
        let query_of_row = rows.queries().of_rows();
        let places = rows.input_rows().map(places_in);
        loop {
            let batch = Batch::gather(&mut merged, places.as_deref()).map_err(failed)?;
            if batch.features.is_empty() {
                return Ok((content.finish(), files));
            }
            let columns: Vec<usize> = (0..batch.features.len()).collect();
            let parts = || -> Vec<usize> {
                let chunks = columns.par_chunks(columns.len().div_ceil(16));
                let parts = chunks.flat_map_iter(|columns| {
                    let mut partition = Partition::new(rows.queries(), &query_of_row, self.parts);
                    let batch = &batch;
                    columns
                        .iter()
                        .map(move |&at| partition.part(batch.column(at)))
                });
                parts.collect()
            };
            let hash = || {
                for &at in &columns {
                    content.column(batch.features[at], batch.column(at));
                }
            };
            let (parts, ()) = rayon::join(parts, hash);
            for (&at, part) in columns.iter().zip(parts) {
                let Column { rows, values } = batch.column(at);
                let entries = rows.iter().copied().zip(values.iter().copied());
                let written = files[part].push(batch.features[at], entries);
                written.map_err(failed)?;
            }
        }
    }
}

/// Some columns one after the other.
#[derive(Default)]
struct Batch {
    features: Vec<u32>,
    ends: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
}

impl Batch {
    fn gather(merged: &mut Merged, places: Option<&[u32]>) -> io::Result<Self> {
        let mut batch = Self::default();
        while batch.rows.len() < BATCH {
            let start = batch.rows.len();
            let Some(feature) = merged.next(&mut batch.rows, &mut batch.values)? else {
                break;
            };
            if let Some(places) = places {
                let (rows, values) = (&mut batch.rows[start..], &mut batch.values[start..]);
                move_entries(rows, values, places);
            }
            batch.features.push(feature);
            batch.ends.push(batch.rows.len());
        }
        Ok(batch)
    }

    fn column(&self, at: usize) -> Column<'_> {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = start..self.ends[at];
        Column {
            rows: &self.rows[range.clone()],
            values: &self.values[range],
        }
    }
}
