//! What the crate that reads Parquet is given, so that damaged files do it no harm.

use std::fs::File;
use std::io::{self, Read};

use bytes::Bytes;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::errors::ParquetError;
use parquet::file::reader::{ChunkReader, Length};

/// A file whose end is an error: the crate passes over what a header claims without a look at
/// whether it is there, and would do so for hours.
pub(super) struct StrictFile(pub(super) File);

/// A stream whose end is an error.
pub(super) struct StrictRead<R>(R);

impl<R: Read> Read for StrictRead<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 if !buffer.is_empty() => Err(io::ErrorKind::UnexpectedEof.into()),
            read => Ok(read),
        }
    }
}

impl Length for StrictFile {
    fn len(&self) -> u64 {
        self.0.len()
    }
}

impl ChunkReader for StrictFile {
    type T = StrictRead<<File as ChunkReader>::T>;

    fn get_read(&self, start: u64) -> parquet::errors::Result<Self::T> {
        self.0.get_read(start).map(StrictRead)
    }

    fn get_bytes(&self, start: u64, length: usize) -> parquet::errors::Result<Bytes> {
        self.0.get_bytes(start, length)
    }
}

/// Pages that do not make the crate allocate for more values than they can hold.
pub(super) struct SoundPages(pub(super) Box<dyn PageReader>);

impl Iterator for SoundPages {
    type Item = parquet::errors::Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

impl PageReader for SoundPages {
    fn get_next_page(&mut self) -> parquet::errors::Result<Option<Page>> {
        let page = self.0.get_next_page()?;
        if let Some(Page::DictionaryPage {
            buf, num_values, ..
        }) = &page
            && *num_values as usize > buf.len()
        {
            let bytes = buf.len();
            let message = format!("a dictionary of {num_values} values in {bytes} bytes");
            return Err(ParquetError::General(message));
        }
        Ok(page)
    }

    fn peek_next_page(&mut self) -> parquet::errors::Result<Option<PageMetadata>> {
        self.0.peek_next_page()
    }

    fn skip_next_page(&mut self) -> parquet::errors::Result<()> {
        self.0.skip_next_page()
    }
}
