//! Rows on disk, packed by columns, where memory does not hold them.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::packed::{Columns, Packer, Page, Run};
use super::transpose::{Occupied, columns_of};

/// Bytes gathered before they are read or written.
const BUFFER: usize = 1 << 16;

/// Runs of rows in files without names, which are gone when this is.
#[derive(Debug)]
pub(crate) struct Spill {
    folder: PathBuf,
    room: u64,
    written: Mutex<Written>,
}

#[derive(Debug, Default)]
struct Written {
    files: Vec<File>,
    /// Why one could not be written.
    failure: Option<io::Error>,
}

impl Spill {
    /// Files in `folder`, of rows that take `room` bytes before they are written.
    pub(crate) fn new(folder: &Path, room: u64) -> Self {
        Self {
            folder: folder.to_owned(),
            room,
            written: Mutex::default(),
        }
    }

    /// Bytes from which on rows are to be written.
    pub(crate) fn room(&self) -> u64 {
        self.room
    }

    fn written(&self) -> MutexGuard<'_, Written> {
        self.written.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why rows could not be written, if that was so.
    pub(crate) fn failure(&self) -> Option<io::Error> {
        self.written().failure.take()
    }

    /// Writes rows of which the first is row `first` of all, and says whether that was possible.
    pub(crate) fn take(&self, runs: Vec<Run>, first: usize) -> bool {
        let file = self.write(runs, first);
        let mut written = self.written();
        match file {
            Ok(file) => written.files.push(file),
            Err(error) => written.failure = Some(error),
        }
        written.failure.is_none()
    }

    fn write(&self, runs: Vec<Run>, first: usize) -> io::Result<File> {
        let columns = columns_of(&runs, None);
        drop(runs);
        // Rows count in 32 bits, or the data are refused.
        let first = u32::try_from(first).map_err(io::Error::other)?;
        let mut file = ColumnFile::create(&self.folder)?;
        for (&feature, bounds) in columns.features.iter().zip(columns.indptr.windows(2)) {
            let (rows, values) = (
                &columns.rows[bounds[0]..bounds[1]],
                &columns.values[bounds[0]..bounds[1]],
            );
            let rows = rows.iter().map(|row| row.saturating_add(first));
            file.push(feature, rows.zip(values.iter().copied()))?;
        }
        file.finish()
    }

    /// The columns of all rows.
    pub(crate) fn merged(&self) -> io::Result<Merged> {
        let files = std::mem::take(&mut self.written().files);
        let readers = files.into_iter().map(PageReader::new);
        Ok(Merged(readers.collect::<io::Result<_>>()?))
    }
}

/// A file of packed columns that has no name, and is gone when it is closed.
#[derive(Debug)]
pub(crate) struct ColumnFile {
    packer: Packer,
    writer: BufWriter<File>,
}

impl ColumnFile {
    /// A file in `folder`, or where temporary files are if that takes none.
    pub(crate) fn create(folder: &Path) -> io::Result<Self> {
        let file = tempfile::tempfile_in(folder).or_else(|_| tempfile::tempfile())?;
        Ok(Self {
            packer: Packer::default(),
            writer: BufWriter::with_capacity(BUFFER, file),
        })
    }

    /// Adds a column after those of lower features.
    pub(crate) fn push(
        &mut self,
        feature: u32,
        entries: impl ExactSizeIterator<Item = (u32, f64)> + Clone,
    ) -> io::Result<()> {
        match self.packer.push(feature, entries) {
            Some(page) => page.write(&mut self.writer),
            None => Ok(()),
        }
    }

    /// The file, to be read from its beginning.
    pub(crate) fn finish(mut self) -> io::Result<File> {
        let rest = self.packer.take();
        if rest.columns > 0 {
            rest.write(&mut self.writer)?;
        }
        // The end of the file.
        Page::default().write(&mut self.writer)?;
        let file = self.writer.into_inner();
        let mut file = file.map_err(io::IntoInnerError::into_error)?;
        file.rewind()?;
        Ok(file)
    }

    /// All columns.
    pub(crate) fn into_columns(self) -> io::Result<Occupied> {
        read_columns(&self.finish()?)
    }
}

/// All columns of a finished file.
pub(crate) fn read_columns(mut file: &File) -> io::Result<Occupied> {
    file.rewind()?;
    let mut reader = BufReader::with_capacity(BUFFER, file);
    let pages = Page::read_all(&mut reader)?;
    let run = Run {
        rows: 0,
        entries: 0,
        pages,
    };
    Ok(columns_of(&[run], None))
}

/// Columns by feature, from files of rows that follow each other.
pub(crate) struct Merged(Vec<PageReader>);

impl Merged {
    /// Appends the entries of the next column, and returns its feature.
    pub(crate) fn next(
        &mut self,
        rows: &mut Vec<u32>,
        values: &mut Vec<f64>,
    ) -> io::Result<Option<u32>> {
        let heads = self.0.iter().filter_map(PageReader::feature);
        let Some(feature) = heads.min() else {
            return Ok(None);
        };
        for reader in &mut self.0 {
            if reader.feature() == Some(feature) {
                reader.take(rows, values)?;
            }
        }
        Ok(Some(feature))
    }
}

/// Reads a file of pages, a page at a time.
struct PageReader {
    file: BufReader<File>,
    /// Features of the page, and where the entries of each end.
    features: Vec<u32>,
    ends: Vec<usize>,
    rows: Vec<u32>,
    values: Vec<f64>,
    /// The column at hand.
    at: usize,
}

impl PageReader {
    fn new(file: File) -> io::Result<Self> {
        let mut reader = Self {
            file: BufReader::with_capacity(BUFFER, file),
            features: Vec::new(),
            ends: Vec::new(),
            rows: Vec::new(),
            values: Vec::new(),
            at: 0,
        };
        reader.turn()?;
        Ok(reader)
    }

    fn feature(&self) -> Option<u32> {
        self.features.get(self.at).copied()
    }

    fn take(&mut self, rows: &mut Vec<u32>, values: &mut Vec<f64>) -> io::Result<()> {
        let start = self.at.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = start..self.ends[self.at];
        rows.extend_from_slice(&self.rows[range.clone()]);
        values.extend_from_slice(&self.values[range]);
        self.at += 1;
        if self.at == self.features.len() {
            self.turn()?;
        }
        Ok(())
    }

    /// Reads the next page.
    fn turn(&mut self) -> io::Result<()> {
        let page = Page::read(&mut self.file)?;
        self.at = 0;
        self.features.clear();
        self.ends.clear();
        let mut columns = Columns::new(&page);
        while let Some((feature, count)) = columns.head() {
            let end = self.ends.last().copied().unwrap_or(0) + count;
            self.features.push(feature);
            self.ends.push(end);
            self.rows.resize(end, 0);
            self.values.resize(end, 0.0);
            let places = (
                &mut self.rows[end - count..],
                &mut self.values[end - count..],
            );
            let whole = columns.entries(0, places.0, places.1);
            whole.ok_or(io::ErrorKind::InvalidData)?;
        }
        Ok(())
    }
}

impl Page {
    /// Writes the page; one without columns is the last of a file.
    fn write(&self, writer: &mut impl Write) -> io::Result<()> {
        writer.write_all(&self.first.to_le_bytes())?;
        writer.write_all(&self.columns.to_le_bytes())?;
        for number in [
            self.entries,
            self.heads.len() as u64,
            self.body.len() as u64,
        ] {
            writer.write_all(&number.to_le_bytes())?;
        }
        writer.write_all(&self.heads)?;
        writer.write_all(&self.body)
    }

    /// Reads all pages of a file.
    fn read_all(reader: &mut impl Read) -> io::Result<Vec<Self>> {
        let mut pages = Vec::new();
        loop {
            let page = Self::read(reader)?;
            if page.columns == 0 {
                return Ok(pages);
            }
            pages.push(page);
        }
    }

    /// Reads a page. Memory stays in proportion to the bytes there are.
    fn read(reader: &mut impl Read) -> io::Result<Self> {
        let mut short = || -> io::Result<u32> {
            let mut bytes = [0; 4];
            reader.read_exact(&mut bytes)?;
            Ok(u32::from_le_bytes(bytes))
        };
        let (first, columns) = (short()?, short()?);
        let mut long = || -> io::Result<u64> {
            let mut bytes = [0; 8];
            reader.read_exact(&mut bytes)?;
            Ok(u64::from_le_bytes(bytes))
        };
        let (entries, heads, body) = (long()?, long()?, long()?);
        let mut bytes = |count: u64| -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            reader.take(count).read_to_end(&mut bytes)?;
            if bytes.len() as u64 == count {
                Ok(bytes)
            } else {
                Err(io::ErrorKind::UnexpectedEof.into())
            }
        };
        Ok(Self {
            first,
            columns,
            entries,
            heads: bytes(heads)?,
            body: bytes(body)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::transpose::RowBlock;

    fn run(rows: &[&[u32]]) -> Run {
        let mut block = RowBlock::default();
        for row in rows {
            block.indices.extend_from_slice(row);
            block
                .values
                .extend(row.iter().map(|&index| f64::from(index) / 4.0));
            block.ends.push(block.indices.len());
        }
        block.rows().packed().swap_remove(0)
    }

    #[test]
    fn columns_are_merged_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let spill = Spill::new(folder.path(), 1);
        assert!(spill.take(vec![run(&[&[1, 7], &[0, 7]])], 0));
        assert!(spill.take(vec![run(&[&[3, 7]]), run(&[&[0]])], 2));
        let mut merged = spill.merged().unwrap();
        let mut found = Vec::new();
        let (mut rows, mut values) = (Vec::new(), Vec::new());
        while let Some(feature) = merged.next(&mut rows, &mut values).unwrap() {
            found.push((
                feature,
                std::mem::take(&mut rows),
                std::mem::take(&mut values),
            ));
        }
        assert_eq!(
            found,
            [
                (0, vec![1, 3], vec![0.0, 0.0]),
                (1, vec![0], vec![0.25]),
                (3, vec![2], vec![0.75]),
                (7, vec![0, 1, 2], vec![1.75; 3])
            ]
        );
    }

    #[test]
    fn a_page_that_is_cut_off_is_refused() {
        let run = run(&[&[1, 7], &[0, 7]]);
        let mut bytes = Vec::new();
        run.pages[0].write(&mut bytes).unwrap();
        assert_eq!(Page::read(&mut &bytes[..]).unwrap(), run.pages[0]);
        for end in 0..bytes.len() {
            assert!(Page::read(&mut &bytes[..end]).is_err());
        }
    }
}
