//! Data in parts: a folder with the rows, and the columns in files that can be read one by one.
//!
//! ```text
//! manifest.json      rankrls.shards/1: sizes, the hash of the data, and every file with its hash
//! rows.svm           labels and queries, a row a line
//! names.txt          names of all columns, if they have any
//! part-1.columns     the columns of the first of the parts, and so on
//! ```
//!
//! Columns of one class are in one part ([`Partition`]), so that selecting from each part, and from
//! what each part has found, is selecting from all. A file of columns has a line, pages of packed
//! columns with ascending features, an empty page, and a line with the hash of the data.
//!
//! Sharding reads the data once. Rows stay on disk from some bytes on, packed by columns; columns are
//! put together from there. Memory: labels and identifiers of queries, the part of the limit that rows
//! may take until they are written, 100 KiB a part, and the largest column.
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
use std::io::{self, BufReader, Read, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rankrls_files::read_whole;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::columns::{ColumnClasses, Partition, QueryWeight, Scale};
use crate::data::hash::Content;
use crate::data::packed::{Columns, Packer, Page, Run};
use crate::data::read::{ReadError, ReadOptions, read_names};
use crate::data::spill::{Merged, Spill};
use crate::data::transpose::{columns_of, move_entries, places_in};
use crate::data::{Column, CompleteOutput, DataHash, Output, write_names, write_svmlight};
use crate::{Dataset, DatasetError, FeatureNames, IndexBase};

/// The schema of manifests.
const SCHEMA: &str = "rankrls.shards/1";

/// The file that makes a folder one of shards.
pub const MANIFEST: &str = "manifest.json";

const ROWS: &str = "rows.svm";
const NAMES: &str = "names.txt";

/// The first line of a file of columns.
const HEADER: &[u8] = b"rankrls.columns/1\n";

/// Most bytes that are taken for a manifest.
const LARGEST: u64 = 1 << 28;

/// Entries that are hashed, and sorted into parts, at a time.
const BATCH: usize = 1 << 17;

/// Bytes of rows in memory where nobody sets a limit.
const ROOM: u64 = 2 << 30;

/// Bytes of an entry of a part while its classes are found.
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
    /// A file of rows or names that is none.
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
    /// Hash of the whole data.
    data: DataHash,
    rows_file: Listed,
    names_file: Option<Listed>,
    parts: Vec<Listed>,
}

/// A file, and for a file of columns how many it has.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Listed {
    file: String,
    bytes: u64,
    /// BLAKE3 hash.
    digest: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    columns: Option<usize>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nonzeros: Option<usize>,
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

    /// The parts in `folder`. Every file must be there with all its bytes; what they are is checked
    /// when they are read.
    ///
    /// # Errors
    /// [`ShardError`] for a folder without a manifest, and for a file that is missing or cut off.
    pub fn open(folder: &Path) -> Result<Self, ShardError> {
        let path = folder.join(MANIFEST);
        let bytes = read_whole(&path, LARGEST)?;
        let manifest: Manifest = serde_json::from_slice(&bytes).map_err(|error| {
            ShardError::damaged(&path, format!("a manifest {SCHEMA}"), error.to_string())
        })?;
        if manifest.schema != SCHEMA {
            return Err(ShardError::damaged(&path, SCHEMA, manifest.schema));
        }
        let others = [Some(&manifest.rows_file), manifest.names_file.as_ref()];
        for listed in others.into_iter().flatten().chain(&manifest.parts) {
            let path = folder.join(&listed.file);
            let found = fs::metadata(&path).map_err(ShardError::io(&path))?.len();
            if found != listed.bytes {
                let expected = format!("{} bytes", listed.bytes);
                return Err(ShardError::damaged(&path, expected, found.to_string()));
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
        let listed = &self.manifest.parts[part];
        (listed.columns.unwrap_or(0), listed.nonzeros.unwrap_or(0))
    }

    /// The rows without columns: labels, queries, and names of the features. It has the sizes and the
    /// hash of the whole data.
    ///
    /// # Errors
    /// [`ShardError`] for files that cannot be read or are others than the manifest says.
    pub fn rows(&self) -> Result<Dataset<'static>, ShardError> {
        let manifest = &self.manifest;
        let path = self.verified(&manifest.rows_file)?;
        let loaded = ReadOptions::new().width(manifest.columns).read(&path)?;
        let base = match manifest.first_index {
            0 => IndexBase::Zero,
            _ => IndexBase::One,
        };
        let mut rows = loaded.dataset.with_index_base(base);
        let sizes = |rows: usize, queries: usize| format!("{rows} rows in {queries} queries");
        let found = (rows.rows(), rows.queries().len());
        if found != (manifest.rows, manifest.queries) {
            let expected = sizes(manifest.rows, manifest.queries);
            return Err(ShardError::damaged(
                &path,
                expected,
                sizes(found.0, found.1),
            ));
        }
        if let Some(listed) = &manifest.names_file {
            rows = rows.with_names(read_names(&self.verified(listed)?, None)?)?;
        }
        Ok(rows.with_entries_elsewhere(manifest.nonzeros, manifest.data))
    }

    /// A part, from 0, as data of all rows: its columns have the features, and the names, of the whole
    /// data. Takes 16 bytes an entry for a moment, and 12 that stay.
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
        let run = |part: usize| {
            let parts = self.parts();
            let absent = || ShardError::Absent {
                part: part + 1,
                parts,
            };
            let listed = self.manifest.parts.get(part).ok_or_else(absent)?;
            let path = self.folder.join(&listed.file);
            let run = self.pages(listed, &path, rows.rows())?;
            // The rows of all parts are the same.
            Ok(Run { rows: 0, ..run })
        };
        let runs: Result<Vec<Run>, ShardError> = parts.into_iter().map(run).collect();
        let occupied = columns_of(&runs?, None);
        let part = rows.with_columns(occupied, rows.width())?;
        match rows.names() {
            Some(names) => Ok(part.with_names(names.clone())?),
            None => Ok(part),
        }
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
        let needed = ENTRY * largest.unwrap_or(0) as u64;
        if needed > room {
            return Err(ShardError::Memory { needed, room });
        }
        let classes = |part: usize| {
            let part = self.read_with(rows, part)?;
            Ok(ColumnClasses::scaled(&part, weight, scale))
        };
        ColumnClasses::of_parts((0..self.parts()).map(classes), &self.folder, room / 3)
    }

    /// The pages of a file of columns: those that the manifest means, with all entries in `rows` rows.
    fn pages(&self, listed: &Listed, path: &Path, rows: usize) -> Result<Run, ShardError> {
        let file = File::open(path).map_err(ShardError::io(path))?;
        let mut reader = Hashed::new(BufReader::new(file));
        let read = |reader: &mut Hashed<BufReader<File>>| -> io::Result<(Vec<Page>, Vec<u8>)> {
            let mut header = [0; HEADER.len()];
            reader.read_exact(&mut header)?;
            let mut pages = Vec::new();
            if header == HEADER {
                pages = Page::read_all(reader)?;
            }
            let mut trailer = Vec::new();
            reader.read_to_end(&mut trailer)?;
            Ok((pages, trailer))
        };
        let expected = || format!("columns with the hash {}", listed.digest);
        let (pages, trailer) = match read(&mut reader) {
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                return Err(ShardError::damaged(
                    path,
                    expected(),
                    "an end in the middle",
                ));
            }
            Err(error) => return Err(ShardError::io(path)(error)),
        };
        if reader.digest() != listed.digest {
            let own = trailer == self.manifest.trailer();
            let found = match std::str::from_utf8(&trailer) {
                Ok(line) if line.starts_with("data ") && !own => {
                    format!("columns of other data, those of {}", line[5..].trim_end())
                }
                _ => format!("the hash {}", reader.digest()),
            };
            return Err(ShardError::damaged(path, expected(), found));
        }
        let entries = pages.par_iter().map(|page| entries_within(page, rows));
        let ascending = pages.windows(2).all(|pair| pair[0].first < pair[1].first);
        match entries.sum::<Option<usize>>() {
            Some(entries) if ascending && Some(entries) == listed.nonzeros => Ok(Run {
                rows,
                entries,
                pages,
            }),
            _ => Err(ShardError::damaged(path, "columns of these rows", "others")),
        }
    }

    /// The path of a file that has the hash it should have.
    fn verified(&self, listed: &Listed) -> Result<PathBuf, ShardError> {
        let path = self.folder.join(&listed.file);
        let mut hashed = Hashed::new(File::open(&path).map_err(ShardError::io(&path))?);
        io::copy(&mut hashed, &mut io::sink()).map_err(ShardError::io(&path))?;
        let (expected, found) = (&listed.digest, hashed.digest());
        if *expected != found {
            let hash = |hash: &str| format!("the hash {hash}");
            return Err(ShardError::damaged(&path, hash(expected), hash(&found)));
        }
        Ok(path)
    }
}

impl Manifest {
    /// The last line of files of columns.
    fn trailer(&self) -> Vec<u8> {
        trailer(self.data)
    }
}

fn trailer(data: DataHash) -> Vec<u8> {
    format!("data {data}\n").into_bytes()
}

/// How many entries a page has; none if it is no page of columns with these rows.
fn entries_within(page: &Page, most_rows: usize) -> Option<usize> {
    let mut columns = Columns::new(page);
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    let mut entries = 0;
    while let Some((_, count)) = columns.head() {
        if count > page.body.len() {
            return None;
        }
        rows.resize(count, 0);
        values.resize(count, 0.0);
        columns.entries(0, &mut rows, &mut values)?;
        entries += count;
        if rows.last().is_none_or(|&last| last as usize >= most_rows) {
            return None;
        }
    }
    Some(entries)
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
        let mut manifest = Manifest {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rows: rows.rows(),
            queries: rows.queries().len(),
            columns,
            nonzeros: 0,
            first_index: rows.index_base().first(),
            data,
            rows_file: Listed::default(),
            names_file: None,
            parts: Vec::new(),
        };
        let mut complete: Vec<CompleteOutput> = Vec::new();
        for file in files {
            let (listed, output) = file.end(data).map_err(ShardError::io(folder))?;
            manifest.nonzeros += listed.nonzeros.unwrap_or(0);
            manifest.parts.push(listed);
            complete.push(output);
        }
        let write = |name: &str, write: &dyn Fn(&mut Hashed<Output>) -> io::Result<()>| {
            let path = folder.join(name);
            let written = Output::create(&path).and_then(|output| {
                let mut output = Hashed::new(output);
                write(&mut output)?;
                Listed::complete(name.to_owned(), output)
            });
            written.map_err(ShardError::io(&path))
        };
        let (listed, output) = write(ROWS, &|output| write_svmlight(rows, output))?;
        manifest.rows_file = listed;
        complete.push(output);
        if let Some(names) = rows.names() {
            let names: FeatureNames = names.iter().take(columns).collect();
            let (listed, output) = write(NAMES, &|output| write_names(&names, output))?;
            manifest.names_file = Some(listed);
            complete.push(output);
        }
        let document = serde_json::to_vec_pretty(&manifest);
        let document = document.map_err(|error| ShardError::io(folder)(error.into()))?;
        let (_, output) = write(MANIFEST, &|output| {
            output.write_all(&document)?;
            output.write_all(b"\n")
        })?;
        complete.push(output);
        let named = complete.into_iter().try_for_each(CompleteOutput::commit);
        named.map_err(ShardError::io(folder))?;
        Ok(Shards {
            folder: self.folder,
            manifest,
        })
    }

    /// Writes the columns to the files of their parts, and hashes the data.
    fn columns(&self, rows: &Dataset<'_>) -> Result<(DataHash, Vec<PartFile>), ShardError> {
        let numbers = 1..=self.parts;
        let files = numbers.map(|number| PartFile::create(&self.folder, number));
        let failed = |error| ShardError::io(&self.folder)(error);
        let mut files: Vec<PartFile> = files.collect::<io::Result<_>>().map_err(failed)?;
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
                let written = files[part].push(batch.features[at], batch.column(at));
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

/// A file of columns that is being written.
struct PartFile {
    name: String,
    output: Hashed<Output>,
    packer: Packer,
    columns: usize,
    nonzeros: usize,
}

impl PartFile {
    fn create(folder: &Path, number: usize) -> io::Result<Self> {
        let name = format!("part-{number}.columns");
        let mut output = Hashed::new(Output::create(&folder.join(&name))?);
        output.write_all(HEADER)?;
        Ok(Self {
            name,
            output,
            packer: Packer::default(),
            columns: 0,
            nonzeros: 0,
        })
    }

    fn push(&mut self, feature: u32, column: Column<'_>) -> io::Result<()> {
        self.columns += 1;
        self.nonzeros += column.rows.len();
        let entries = column
            .rows
            .iter()
            .copied()
            .zip(column.values.iter().copied());
        match self.packer.push(feature, entries) {
            Some(page) => page.write(&mut self.output),
            None => Ok(()),
        }
    }

    /// Completes the file.
    fn end(mut self, data: DataHash) -> io::Result<(Listed, CompleteOutput)> {
        self.packer.end(&mut self.output)?;
        self.output.write_all(&trailer(data))?;
        let (listed, output) = Listed::complete(self.name, self.output)?;
        let listed = Listed {
            columns: Some(self.columns),
            nonzeros: Some(self.nonzeros),
            ..listed
        };
        Ok((listed, output))
    }
}

impl Listed {
    fn complete(file: String, output: Hashed<Output>) -> io::Result<(Self, CompleteOutput)> {
        let listed = Self {
            file,
            bytes: output.bytes,
            digest: output.digest(),
            columns: None,
            nonzeros: None,
        };
        Ok((listed, output.inner.complete()?))
    }
}

/// Hashes the bytes that pass.
#[derive(Debug)]
struct Hashed<T> {
    inner: T,
    hasher: blake3::Hasher,
    bytes: u64,
}

impl<T> Hashed<T> {
    fn new(inner: T) -> Self {
        Self {
            inner,
            hasher: blake3::Hasher::new(),
            bytes: 0,
        }
    }

    fn digest(&self) -> String {
        self.hasher.finalize().to_hex().to_string()
    }

    fn saw(&mut self, bytes: &[u8]) -> usize {
        self.hasher.update(bytes);
        self.bytes += bytes.len() as u64;
        bytes.len()
    }
}

impl<R: Read> Read for Hashed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        Ok(self.saw(&buffer[..read]))
    }
}

impl<W: Write> Write for Hashed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.inner.write(bytes)?;
        Ok(self.saw(&bytes[..written]))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.inner.flush()
    }
}
