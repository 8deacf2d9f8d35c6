//! Tables as Parquet files.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::{Compression, ZstdLevel};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use super::ids::tokens;
use super::svmlight::by_row;
use crate::dataset::Dataset;
use crate::dataset::read::WIDTH_KEY;

/// Rows of a group, which is held in memory.
const GROUP: usize = 1 << 20;

const ENTRIES: &str = "message entries {
    REQUIRED INT64 row;
    REQUIRED INT64 column;
    REQUIRED DOUBLE value;
}";
const LABELS: &str = "message rows { REQUIRED DOUBLE label; }";
const ROWS: &str = "message rows { REQUIRED DOUBLE label; REQUIRED BYTE_ARRAY qid (STRING); }";

/// Writes the entries of `dataset` as a table of `row`, `column` (64-bit integers from 0) and
/// `value` (64-bit floats), by row and column; the number of columns is in the metadata of the
/// file, under `rankrls.columns`. Allocates 12 bytes an entry and 8 a row.
///
/// # Errors
/// Those of `writer`.
pub fn write_parquet_entries(dataset: &Dataset<'_>, writer: impl Write) -> io::Result<()> {
    let block = by_row(dataset);
    let rows = (0_i64..).zip(&block.ends).scan(0, |start, (row, &end)| {
        let count = end - std::mem::replace(start, end);
        Some(std::iter::repeat_n(row, count))
    });
    let mut rows = rows.flatten();
    let width = KeyValue::new(WIDTH_KEY.to_owned(), dataset.width().to_string());
    let mut table = Table::new(ENTRIES, Some(vec![width]), writer)?;
    let groups = block.indices.chunks(GROUP).zip(block.values.chunks(GROUP));
    for (indices, values) in groups {
        let rows: Vec<i64> = rows.by_ref().take(indices.len()).collect();
        let columns: Vec<i64> = indices.iter().copied().map(i64::from).collect();
        let mut group = table.group()?;
        group.column::<Int64Type>(&rows)?;
        group.column::<Int64Type>(&columns)?;
        group.column::<DoubleType>(values)?;
        group.finish()?;
    }
    table.finish()
}

/// Writes `label` (64-bit floats) and, unless all rows are one nameless query, `qid` (text) of
/// every row as a table.
///
/// # Errors
/// Those of `writer`; [`io::ErrorKind::InvalidInput`] when a query identifier is empty or comes
/// twice.
pub fn write_parquet_rows(dataset: &Dataset<'_>, writer: impl Write) -> io::Result<()> {
    let queries = dataset.queries();
    let named = queries.ids().is_some() || queries.len() > 1;
    let ids: Vec<ByteArray> = tokens(queries, &[])?
        .iter()
        .map(|id| ByteArray::from(&**id))
        .collect();
    let of_rows = queries.of_rows();
    let mut table = Table::new(if named { ROWS } else { LABELS }, None, writer)?;
    for (labels, queries) in dataset.labels().chunks(GROUP).zip(of_rows.chunks(GROUP)) {
        let mut group = table.group()?;
        group.column::<DoubleType>(labels)?;
        if named {
            let ids = queries.iter().map(|&query| ids[query as usize].clone());
            group.column::<ByteArrayType>(&ids.collect::<Vec<_>>())?;
        }
        group.finish()?;
    }
    table.finish()
}

/// What is written to a file between two groups. The crate asks for a writer that may move
/// between threads, which is more than ours do.
#[derive(Clone, Default)]
struct Buffer(Arc<Mutex<Vec<u8>>>);

impl Buffer {
    fn take(&self) -> Vec<u8> {
        std::mem::take(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Write for Buffer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut buffer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        buffer.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A file on its way.
struct Table<W> {
    file: SerializedFileWriter<Buffer>,
    buffer: Buffer,
    writer: W,
}

impl<W: Write> Table<W> {
    fn new(schema: &str, metadata: Option<Vec<KeyValue>>, writer: W) -> io::Result<Self> {
        let schema = parse_message_type(schema).map_err(failed)?;
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_key_value_metadata(metadata)
            .build();
        let buffer = Buffer::default();
        let file = SerializedFileWriter::new(buffer.clone(), schema.into(), properties.into());
        Ok(Self {
            file: file.map_err(failed)?,
            buffer,
            writer,
        })
    }

    fn group(&mut self) -> io::Result<Group<'_, W>> {
        Ok(Group {
            columns: self.file.next_row_group().map_err(failed)?,
            buffer: &self.buffer,
            writer: &mut self.writer,
        })
    }

    fn finish(mut self) -> io::Result<()> {
        self.file.close().map_err(failed)?;
        self.writer.write_all(&self.buffer.take())?;
        self.writer.flush()
    }
}

/// Some rows of all columns.
struct Group<'t, W> {
    columns: SerializedRowGroupWriter<'t, Buffer>,
    buffer: &'t Buffer,
    writer: &'t mut W,
}

impl<W: Write> Group<'_, W> {
    fn column<T: DataType>(&mut self, values: &[T::T]) -> io::Result<()> {
        let column = self.columns.next_column().map_err(failed)?;
        let mut column = column.ok_or_else(|| io::Error::other("too many columns"))?;
        let written = column.typed::<T>().write_batch(values, None, None);
        written.map_err(failed)?;
        column.close().map_err(failed)
    }

    fn finish(self) -> io::Result<()> {
        self.columns.close().map_err(failed)?;
        self.writer.write_all(&self.buffer.take())
    }
}

fn failed(error: ParquetError) -> io::Error {
    io::Error::other(error)
}
