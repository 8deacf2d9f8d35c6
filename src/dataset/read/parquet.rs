//! Tables from Parquet files: entries in one, labels and queries of the rows in another.

mod guard;
mod pages;

use std::fs::File;
use std::io::BufReader;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData};
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
use guard::{SoundPages, StrictFile};

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
    let limit = options.max_memory;
    let table = Table::open(&with_ending(&prefix, ".rows.parquet", ""), limit)?;
    let of_rows = |fault: Fault| fault.of(&table.name);
    let labels = labels(&table, &mut budget).map_err(of_rows)?;
    let groups = queries(&table, options.regroup, &mut budget).map_err(of_rows)?;
    let table = Table::open(path, limit)?;
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
    let columns = table.indices("column", u64::from(table.width()?.unwrap_or(u32::MAX)))?;
    let mut values = room(table.rows)?;
    table.column("value", |at, cell| {
        values.push(at.float(&cell, "value")?);
        Ok(())
    })?;
    let beyond = || columns.iter().max().map_or(0, |&last| last as usize + 1);
    let width = table.width()?.map_or_else(beyond, |width| width as usize);
    let columns = columns.into_iter();
    Ok((by_row(&of_entries, columns, &values, rows), width))
}

/// An open file.
struct Table {
    name: String,
    reader: SerializedFileReader<StrictFile>,
    rows: u64,
    /// The file once more, to look at headers of pages.
    headers: File,
    /// Bytes that a page may take.
    limit: Option<u64>,
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
            Cell::Text(bytes) => {
                let text = std::str::from_utf8(bytes.data()).map_err(|_| {
                    let (kind, found) = (ReadErrorKind::QueryIdEncoding, quote(bytes.data()));
                    self.fault(kind, "a query identifier in UTF-8", found)
                })?;
                Ok(text.to_owned())
            }
            Cell::Float(value) => {
                let (kind, found) = (ReadErrorKind::Array, value.to_string());
                Err(self.fault(kind, "text or integers", found))
            }
        }
    }
}

impl Table {
    fn open(path: &Path, limit: Option<u64>) -> Result<Self, ReadError> {
        let name = path.display().to_string();
        let open = || File::open(path).map_err(|error| ReadError::io(&name, &error));
        let (file, headers) = (open()?, open()?);
        let length = file
            .metadata()
            .map_err(|error| ReadError::io(&name, &error))?;
        let mut end = BufReader::with_capacity(4096, &headers);
        pages::check_metadata(&mut end, length.len()).map_err(|error| {
            let (expected, found) = ("an intact Parquet file", error.to_string());
            Fault::new(ReadErrorKind::Corrupt, expected, found).of(&name)
        })?;
        let reader = guarded(|| SerializedFileReader::new(StrictFile(file)))
            .map_err(|fault| fault.of(&name))?;
        check_places(reader.metadata(), length.len()).map_err(|fault| fault.of(&name))?;
        let rows = reader.metadata().row_groups().iter();
        let rows = rows.map(|group| u64::try_from(group.num_rows()).unwrap_or(0));
        Ok(Self {
            rows: rows.fold(0, u64::saturating_add),
            name,
            reader,
            headers,
            limit,
        })
    }

    /// Sees that no page of a column claims more memory than there may be: the crate allocates
    /// what a page claims, up to 2 GiB, before it looks at what there is.
    fn check_pages(&self, group: usize, column: usize) -> Result<(), Fault> {
        let limit = self.limit.unwrap_or(u64::MAX);
        let column = self.reader.metadata().row_group(group).column(column);
        let start = column
            .dictionary_page_offset()
            .unwrap_or(column.data_page_offset());
        // `check_places` saw that they are not negative.
        let [start, bytes] =
            [start, column.compressed_size()].map(|place| u64::try_from(place).unwrap_or(0));
        let mut headers = BufReader::with_capacity(512, &self.headers);
        let claim = pages::largest_claim(&mut headers, start, bytes);
        match claim {
            Ok(claim) if claim > limit => {
                Err(Fault::too_large(limit, &format!("a page of {claim}")))
            }
            Ok(_) => Ok(()),
            Err(error) => {
                let expected = "an intact Parquet file";
                let fault = Fault::new(ReadErrorKind::Corrupt, expected, error.to_string());
                Err(fault.in_array(&column.column_path().string(), None))
            }
        }
    }

    /// The number of columns that the metadata tells.
    fn width(&self) -> Result<Option<u32>, Fault> {
        let pairs = self.reader.metadata().file_metadata().key_value_metadata();
        let pair = pairs.and_then(|pairs| pairs.iter().find(|pair| pair.key == WIDTH_KEY));
        let Some(text) = pair.map(|pair| pair.value.as_deref().unwrap_or_default()) else {
            return Ok(None);
        };
        text.parse().map(Some).map_err(|_| {
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
            self.check_pages(group, column)?;
            let reader = guarded(|| {
                let group = self.reader.get_row_group(group)?;
                let description = group.metadata().column(column).column_descr_ptr();
                let pages = SoundPages(group.get_column_page_reader(column)?);
                Ok(get_column_reader(description, Box::new(pages)))
            })?;
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
        let read = guarded(|| {
            reader.read_records(BATCH, Some(&mut defined), Some(&mut repeated), &mut values)
        });
        let (records, found, _) = read.map_err(|fault| at.place(fault))?;
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

/// Sees that all columns are within a file of so many bytes: the crate takes it for granted that
/// no place is negative.
fn check_places(metadata: &ParquetMetaData, length: u64) -> Result<(), Fault> {
    let columns = metadata
        .row_groups()
        .iter()
        .flat_map(RowGroupMetaData::columns);
    for column in columns {
        let start = column.dictionary_page_offset();
        let places = [
            start.unwrap_or(column.data_page_offset()),
            column.data_page_offset(),
            column.compressed_size(),
            column.num_values(),
        ];
        let [start, _, bytes, _] = places;
        let end = start
            .checked_add(bytes)
            .and_then(|end| u64::try_from(end).ok());
        let inside = end.is_some_and(|end| end <= length);
        if !inside || places.iter().any(|&place| place < 0) {
            let found = format!("{bytes} bytes from byte {start} on");
            let expected = format!("a column within the {length} bytes of the file");
            let name = column.column_path().string();
            let fault = Fault::new(ReadErrorKind::Corrupt, expected, found);
            return Err(fault.in_array(&name, None));
        }
    }
    Ok(())
}

/// Calls the crate that reads Parquet, which fails on most damaged files and panics on some.
fn guarded<T>(read: impl FnOnce() -> Result<T, ParquetError>) -> Result<T, Fault> {
    let found = match catch_unwind(AssertUnwindSafe(read)) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(error)) => error.to_string(),
        Err(_) => "pages that contradict each other".to_owned(),
    };
    let expected = "an intact Parquet file";
    Err(Fault::new(ReadErrorKind::Corrupt, expected, found))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;
    use std::sync::Arc;

    use parquet::data_type::{ByteArrayType, DoubleType, FloatType, Int32Type, Int64Type};
    use parquet::file::writer::SerializedFileWriter;
    use parquet::schema::parser::parse_message_type;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use tempfile::TempDir;

    use super::*;
    use crate::dataset::read::Format;
    use crate::dataset::{DataFiles, Dataset, Queries};

    /// A column of a table.
    enum Values {
        Int(Vec<i32>),
        Long(Vec<i64>),
        Float(Vec<f32>),
        Double(Vec<f64>),
        Text(Vec<&'static str>),
    }

    use Values::{Double, Float, Int, Long, Text};

    impl Values {
        fn physical(&self) -> &'static str {
            match self {
                Int(_) => "INT32",
                Long(_) => "INT64",
                Float(_) => "FLOAT",
                Double(_) => "DOUBLE",
                Text(_) => "BYTE_ARRAY",
            }
        }
    }

    fn write(path: &Path, columns: &[(&str, Values)]) {
        let fields = columns.iter();
        let fields = fields.map(|(name, values)| format!("REQUIRED {} {name};", values.physical()));
        let schema = format!("message t {{ {} }}", fields.collect::<String>());
        let schema = parse_message_type(&schema).unwrap().into();
        let file = File::create(path).unwrap();
        let mut file = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
        let mut group = file.next_row_group().unwrap();
        for (_, values) in columns {
            let mut column = group.next_column().unwrap().unwrap();
            match values {
                Int(v) => column.typed::<Int32Type>().write_batch(v, None, None),
                Long(v) => column.typed::<Int64Type>().write_batch(v, None, None),
                Float(v) => column.typed::<FloatType>().write_batch(v, None, None),
                Double(v) => column.typed::<DoubleType>().write_batch(v, None, None),
                Text(v) => {
                    let bytes: Vec<ByteArray> = v.iter().map(|&text| text.into()).collect();
                    column
                        .typed::<ByteArrayType>()
                        .write_batch(&bytes, None, None)
                }
            }
            .unwrap();
            column.close().unwrap();
        }
        group.close().unwrap();
        file.close().unwrap();
    }

    /// Tables with these columns in place of those of two rows.
    fn tables(changes: Vec<(&'static str, Values)>) -> (TempDir, PathBuf) {
        let mut columns = [
            ("row", Long(vec![1, 0, 1])),
            ("column", Int(vec![4, 0, 0])),
            ("value", Double(vec![0.5, 2.0, -1.0])),
            ("label", Float(vec![1.0, 0.5])),
            ("qid", Text(vec!["a", "b"])),
        ];
        for (name, values) in changes {
            let column = columns.iter_mut().find(|column| column.0 == name);
            column.unwrap().1 = values;
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.parquet");
        write(&folder.path().join("x.rows.parquet"), &columns[3..]);
        write(&path, &columns[..3]);
        (folder, path)
    }

    #[test]
    fn tables_of_others_are_read() {
        let (_folder, path) = tables(Vec::new());
        let data = ReadOptions::new().read(&path).unwrap().dataset;
        assert_eq!((data.rows(), data.width(), data.nonzeros()), (2, 5, 3));
        assert_eq!(data.column(0).values, [2.0, -1.0]);
        assert_eq!(data.column(1).rows, [1]);
        assert_eq!(data.queries().id(1), Some("b"));
        assert_eq!(data.labels(), [1.0, 0.5]);
        let (_folder, path) = tables(vec![
            ("qid", Int(vec![7, 7])),
            ("value", Long(vec![0, 1, 2])),
        ]);
        let loaded = ReadOptions::new().width(3).read(&path).unwrap();
        assert_eq!(loaded.dataset.queries().id(0), Some("7"));
        // The zero is no entry, wherever it is.
        assert_eq!((loaded.dataset.nonzeros(), loaded.dropped_entries), (2, 0));
    }

    #[test]
    fn each_fault_has_its_kind_and_place() {
        use ReadErrorKind::{
            Array, IndexRange, NotFinite, QueryId, RepeatedIndex, ReturningQuery, Value,
        };
        for (name, values, kind, element) in [
            ("row", Long(vec![1, 0, 2]), IndexRange, "row[2]"),
            ("row", Long(vec![-1, 0, 1]), IndexRange, "row[0]"),
            ("row", Double(vec![1.0, 0.0, 1.0]), Array, "row[0]"),
            ("column", Long(vec![1 << 32, 0, 0]), IndexRange, "column[0]"),
            ("column", Int(vec![0, 0, 0]), RepeatedIndex, "row[1]"),
            (
                "value",
                Double(vec![1.0, f64::NAN, 1.0]),
                NotFinite,
                "value[1]",
            ),
            ("value", Long(vec![(1 << 53) + 1, 1, 1]), Value, "value[0]"),
            ("value", Text(vec!["1", "2", "3"]), Array, "value[0]"),
            (
                "label",
                Float(vec![1.0, f32::INFINITY]),
                NotFinite,
                "label[1]",
            ),
            ("qid", Text(vec!["a", ""]), QueryId, "qid[1]"),
            ("qid", Double(vec![1.0, 2.0]), Array, "qid[0]"),
        ] {
            let (_folder, path) = tables(vec![(name, values)]);
            let error = ReadOptions::new().read(&path).unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert_eq!(error.element(), Some(element), "{error}");
        }
        let (folder, path) = tables(vec![
            ("label", Float(vec![1.0; 3])),
            ("qid", Text(vec!["a", "b", "a"])),
        ]);
        let error = ReadOptions::new().read(&path).unwrap_err();
        assert_eq!(error.kind(), ReturningQuery);
        let loaded = ReadOptions::new().regroup(true).read(&path).unwrap();
        assert_eq!(loaded.dataset.input_rows(), Some(&[0, 2, 1][..]));
        let limited = ReadOptions::new().max_memory(100).read(&path);
        assert_eq!(limited.unwrap_err().kind(), ReadErrorKind::TooLarge);
        fs::copy(folder.path().join("x.rows.parquet"), &path).unwrap();
        let error = ReadOptions::new().regroup(true).read(&path).unwrap_err();
        assert_eq!((error.kind(), error.element()), (Array, Some("row")));
        fs::write(&path, "PAR1").unwrap();
        let error = ReadOptions::new().regroup(true).read(&path).unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::Corrupt);
    }

    proptest! {
        #[test]
        fn damaged_files_do_not_panic(changes in vec((any::<usize>(), any::<u8>()), 1..4)) {
            let folder = tempfile::tempdir().unwrap();
            let queries = Queries::from_row_ids(&["a", "b"]).unwrap();
            let data = Dataset::from_csr(
                &[0, 2, 3], &[0, 2, 1], &[1.0, 2.0, 0.5], 3, vec![1.0, 0.0], queries,
            );
            let path = folder.path().join("x.parquet");
            DataFiles::new(&path, Format::Parquet).write(&data.unwrap()).unwrap();
            let mut bytes = fs::read(&path).unwrap();
            for &(at, byte) in &changes {
                let at = at % bytes.len();
                bytes[at] = byte;
            }
            fs::write(&path, &bytes).unwrap();
            let _ = ReadOptions::new().max_memory(1 << 24).read(&path);
        }
    }
}
