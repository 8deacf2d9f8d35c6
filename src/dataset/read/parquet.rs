//! Tables from Parquet files: entries in one, labels and queries of the rows in another.

use std::fs::File;
use std::path::Path;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::dataset::IndexBase;
use crate::dataset::beside::{has_extension, prefix, with_ending};
use crate::dataset::transpose::RowBlock;

use super::error::{Fault, ReadError, ReadErrorKind, quote};
use super::groups::Groups;
use super::input::is_stdin;
use super::matrix::{Budget, by_row, settle};
use super::npy::room;
use super::text::Text;
use super::{Loaded, ReadOptions, WIDTH_KEY};

/// Values read at a time.
const BATCH: usize = 1 << 14;

/// Bytes of an entry: as it is in the table, by row, and in columns.
const ENTRY: u64 = 16 + 2 * 12;

/// Bytes of a row: its label twice, its bound.
const ROW: u64 = 3 * 8;

/// Bytes of a query in the table of all, besides its identifier.
const QUERY: u64 = 64;

pub(super) fn recognises(path: &Path) -> bool {
    has_extension(path, "parquet")
}

pub(super) fn one_stream(name: &str) -> ReadError {
    let expected = "a file .parquet and .rows.parquet beside it";
    Fault::new(ReadErrorKind::OneStream, expected, "one stream".to_owned())
        .remedy("give the path of the .parquet file")
        .of(name)
}

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Loaded, ReadError> {
    if is_stdin(path) {
        return Err(one_stream("<stdin>"));
    }
    let mut budget = Budget::new(options.max_memory);
    let prefix = prefix(path);
    let table = Table::open(&with_ending(&prefix, ".rows.parquet", ""))?;
    let of_rows = |fault: Fault| fault.of(&table.name);
    let labels = labels(&table, &mut budget).map_err(of_rows)?;
    let groups = queries(&table, options.regroup, &mut budget).map_err(of_rows)?;
    let table = Table::open(path)?;
    let read = entries(&table, labels.len(), &mut budget);
    let (mut block, width) = read.map_err(|fault| fault.of(&table.name))?;
    let dropped = settle(&mut block, options.width).map_err(|fault| fault.of(&table.name))?;
    let mut text = Text::of_arrays(table.name, block, width, budget.spent);
    text.labels = labels;
    text.groups = groups;
    text.dropped_entries = dropped.entries;
    text.dropped_columns = dropped.columns;
    options.build_beside(text, IndexBase::Zero, &prefix)
}

fn labels(table: &Table, budget: &mut Budget) -> Result<Vec<f64>, Fault> {
    budget.take(table.rows.saturating_mul(ROW))?;
    let mut labels = room(table.rows)?;
    table.column("label", |at, cell| {
        labels.push(at.float(&cell, "label")?);
        Ok(())
    })?;
    Ok(labels)
}

fn queries(table: &Table, regroup: bool, budget: &mut Budget) -> Result<Groups, Fault> {
    let mut groups = Groups::of_array(regroup);
    if !table.has("qid") {
        return Ok(groups);
    }
    table.column("qid", |at, cell| {
        let id = at.text(&cell)?;
        if id.is_empty() {
            return Err(at.fault(
                ReadErrorKind::QueryId,
                "a query identifier",
                "none".to_owned(),
            ));
        }
        if !groups.ends_with(&id) {
            let bytes = QUERY + 2 * id.len() as u64;
            budget.take(bytes).map_err(|fault| at.place(fault))?;
        }
        let added = groups.add(&id, 1, at.position, 0);
        added.map_err(|fault| at.place(fault))
    })?;
    Ok(groups)
}

/// The entries by row, and the number of columns.
fn entries(table: &Table, rows: usize, budget: &mut Budget) -> Result<(RowBlock, usize), Fault> {
    budget.take(table.rows.saturating_mul(ENTRY))?;
    let row_below = u64::try_from(rows).unwrap_or(u64::MAX);
    let of_entries = table.indices("row", row_below)?;
    let columns = table.indices("column", table.width()?.unwrap_or(u64::from(u32::MAX)))?;
    let mut values = room(table.rows)?;
    table.column("value", |at, cell| {
        values.push(at.float(&cell, "value")?);
        Ok(())
    })?;
    let width = match table.width()? {
        // At most 2^32 - 1.
        Some(width) => usize::try_from(width).unwrap_or(usize::MAX),
        None => columns.iter().max().map_or(0, |&last| last as usize + 1),
    };
    let columns = columns.into_iter();
    Ok((by_row(&of_entries, columns, &values, rows), width))
}

/// An open file.
struct Table {
    name: String,
    reader: SerializedFileReader<File>,
    rows: u64,
}

/// A value of a table.
enum Cell<'a> {
    Integer(i64),
    Float(f64),
    Text(&'a ByteArray),
}

/// Where a value is.
struct At<'a> {
    column: &'a str,
    position: u64,
}

impl At<'_> {
    fn place(&self, fault: Fault) -> Fault {
        fault.in_array(self.column, Some(self.position))
    }

    fn fault(&self, kind: ReadErrorKind, expected: impl Into<String>, found: String) -> Fault {
        self.place(Fault::new(kind, expected.into(), found))
    }

    /// A finite float that is exactly what the table has.
    fn float(&self, cell: &Cell<'_>, what: &str) -> Result<f64, Fault> {
        let value = match cell {
            Cell::Float(value) => *value,
            Cell::Integer(integer) => {
                let value = *integer as f64;
                // The cast is exact or found out by the cast back.
                #[expect(clippy::cast_possible_truncation)]
                if value as i128 != i128::from(*integer) {
                    let expected = format!("a {what} that a 64-bit float holds exactly");
                    let found = integer.to_string();
                    return Err(self.fault(ReadErrorKind::Value, expected, found));
                }
                value
            }
            Cell::Text(_) => {
                let expected = format!("numbers for {what}s");
                return Err(self.fault(ReadErrorKind::Array, expected, "text".to_owned()));
            }
        };
        if value.is_finite() {
            return Ok(value);
        }
        let expected = format!("a finite {what}");
        Err(self.fault(ReadErrorKind::NotFinite, expected, value.to_string()))
    }

    fn text(&self, cell: &Cell<'_>) -> Result<String, Fault> {
        match cell {
            Cell::Integer(integer) => Ok(integer.to_string()),
            Cell::Text(bytes) => match std::str::from_utf8(bytes.data()) {
                Ok(text) => Ok(text.to_owned()),
                Err(_) => {
                    let (kind, found) = (ReadErrorKind::QueryIdEncoding, quote(bytes.data()));
                    Err(self.fault(kind, "a query identifier in UTF-8", found))
                }
            },
            Cell::Float(value) => {
                let (kind, found) = (ReadErrorKind::Array, value.to_string());
                Err(self.fault(kind, "text or integers", found))
            }
        }
    }
}

impl Table {
    fn open(path: &Path) -> Result<Self, ReadError> {
        let name = path.display().to_string();
        let file = File::open(path).map_err(|error| ReadError::io(&name, &error))?;
        let reader = SerializedFileReader::new(file).map_err(|error| bad(&error).of(&name))?;
        let rows = reader.metadata().row_groups().iter();
        let rows = rows.map(|group| u64::try_from(group.num_rows()).unwrap_or(0));
        Ok(Self {
            rows: rows.fold(0, u64::saturating_add),
            name,
            reader,
        })
    }

    /// The number of columns that the metadata tells.
    fn width(&self) -> Result<Option<u64>, Fault> {
        let pairs = self.reader.metadata().file_metadata().key_value_metadata();
        let pair = pairs.and_then(|pairs| pairs.iter().find(|pair| pair.key == WIDTH_KEY));
        let Some(text) = pair.map(|pair| pair.value.as_deref().unwrap_or_default()) else {
            return Ok(None);
        };
        let width = text
            .parse()
            .ok()
            .filter(|&width| width <= u64::from(u32::MAX));
        width.map(Some).ok_or_else(|| {
            let expected = format!("a number of columns of at most {}", u32::MAX);
            Fault::new(ReadErrorKind::Array, expected, quote(text.as_bytes()))
                .in_array(WIDTH_KEY, None)
        })
    }

    fn find(&self, name: &str) -> Option<usize> {
        let schema = self.reader.metadata().file_metadata().schema_descr();
        let mut columns = schema.columns().iter();
        columns.position(|column| column.path().string() == name)
    }

    fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }

    /// A column of integers from 0, each less than `below` and 2^32.
    fn indices(&self, name: &str, below: u64) -> Result<Vec<u32>, Fault> {
        let mut indices = room(self.rows)?;
        self.column(name, |at, cell| {
            let Cell::Integer(integer) = cell else {
                let found = "other values".to_owned();
                return Err(at.fault(ReadErrorKind::Array, "integers", found));
            };
            let index = u64::try_from(integer).ok().filter(|&index| index < below);
            let index = index.and_then(|index| u32::try_from(index).ok());
            indices.push(index.ok_or_else(|| {
                let expected = format!("an index from 0 and below {below}");
                at.fault(ReadErrorKind::IndexRange, expected, integer.to_string())
            })?);
            Ok(())
        })?;
        Ok(indices)
    }

    /// Calls `each` with every value of the column `name`, of which there must be one a row.
    fn column(
        &self,
        name: &str,
        mut each: impl FnMut(&At<'_>, Cell<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let column = self.find(name).ok_or_else(|| {
            let found = "no such column".to_owned();
            Fault::new(ReadErrorKind::Array, "a column of this name", found).in_array(name, None)
        })?;
        let mut at = At {
            column: name,
            position: 0,
        };
        for group in 0..self.reader.metadata().num_row_groups() {
            let group = self.reader.get_row_group(group).map_err(|e| bad(&e))?;
            let reader = group.get_column_reader(column).map_err(|e| bad(&e))?;
            read_column(reader, &mut at, &mut each)?;
        }
        if at.position == self.rows {
            return Ok(());
        }
        let expected = format!("{} values, one a row of the table", self.rows);
        let fault = Fault::new(ReadErrorKind::Lengths, expected, at.position.to_string());
        Err(fault.in_array(name, None))
    }
}

fn read_column(
    reader: ColumnReader,
    at: &mut At<'_>,
    each: &mut impl FnMut(&At<'_>, Cell<'_>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    match reader {
        ColumnReader::Int32ColumnReader(reader) => batches(reader, at, |at, &value| {
            each(at, Cell::Integer(i64::from(value)))
        }),
        ColumnReader::Int64ColumnReader(reader) => {
            batches(reader, at, |at, &value| each(at, Cell::Integer(value)))
        }
        ColumnReader::FloatColumnReader(reader) => batches(reader, at, |at, &value| {
            each(at, Cell::Float(f64::from(value)))
        }),
        ColumnReader::DoubleColumnReader(reader) => {
            batches(reader, at, |at, &value| each(at, Cell::Float(value)))
        }
        ColumnReader::ByteArrayColumnReader(reader) => {
            batches(reader, at, |at, value| each(at, Cell::Text(value)))
        }
        _ => {
            let found = "another type".to_owned();
            Err(at.fault(ReadErrorKind::Array, "integers, floats or text", found))
        }
    }
}

fn batches<T: DataType>(
    mut reader: ColumnReaderImpl<T>,
    at: &mut At<'_>,
    mut each: impl FnMut(&At<'_>, &T::T) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let (mut values, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        values.clear();
        defined.clear();
        repeated.clear();
        let read = reader.read_records(BATCH, Some(&mut defined), Some(&mut repeated), &mut values);
        let (records, found, _) = read.map_err(|error| at.place(bad(&error)))?;
        if records == 0 {
            return Ok(());
        }
        if found != records {
            let found = format!("{found} in {records} rows");
            return Err(at.fault(ReadErrorKind::Array, "a value in every row", found));
        }
        for value in &values {
            each(at, value)?;
            at.position += 1;
        }
    }
}

fn bad(error: &ParquetError) -> Fault {
    let expected = "an intact Parquet file";
    Fault::new(ReadErrorKind::Corrupt, expected, error.to_string())
}
