//! Tables with a header: values separated by commas or tabs, quoted where they must be.
//!
//! A row is a line: a quote that is not closed in its line is refused, or it would take the lines after
//! it for a cell. [`ReadOptions::label`] and [`ReadOptions::query`] name the columns with labels and queries; all
//! others are features, and their names those of the features. Data for a model, or besides training
//! data, are matched by name, in any order; columns of other names are left out.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use super::error::{Fault, ReadError, ReadErrorKind, quote};
use super::input::Source;
use super::lines::each_line;
use super::text::{Text, returning};
use super::token::{self, BadNumber};
use super::{Loaded, ReadOptions};
use crate::data::queries::Groups;
use crate::data::transpose::RowBlock;
use crate::data::{FeatureNames, IndexBase, Strings};

/// Values separated by commas.
pub(super) mod csv {
    use super::super::{Facts, Reader};
    use crate::data::sidecar::{has_extension, plain, prefix};

    pub(in crate::data::formats) const FACTS: Facts = Facts {
        name: "csv",
        title: "a table of comma-separated values",
        files: "NAME.csv",
        ending: |path| has_extension(&plain(path), "csv"),
        reader: Reader::Stream(|source, options| super::read(source, options, b',')),
        parts: &[],
        prefix: |path| (prefix(path), ""),
        compressed: true,
        names_beside: false,
        write: None,
    };
}

/// Values separated by tabs.
pub(super) mod tsv {
    use super::super::{Facts, Reader};
    use crate::data::sidecar::{has_extension, plain};

    pub(in crate::data::formats) const FACTS: Facts = Facts {
        name: "tsv",
        title: "a table of tab-separated values",
        files: "NAME.tsv",
        ending: |path| has_extension(&plain(path), "tsv"),
        reader: Reader::Stream(|source, options| super::read(source, options, b'\t')),
        ..super::csv::FACTS
    };
}

/// Bytes of an entry while it is read, and once more in columns.
const ENTRY: u64 = 2 * 12;

/// Bytes of a row besides its entries, its query counted as a new one.
const ROW: u64 = 4 * 8 + 64;

/// Bytes of a column of the header besides its name, once and as a key.
const COLUMN: u64 = 128;

/// A cell of a line.
struct Cell<'l> {
    /// Where it begins, from 1 on.
    column: usize,
    text: Cow<'l, [u8]>,
}

/// The cells of a `line`.
fn cells(line: &[u8], delimiter: u8) -> Result<Vec<Cell<'_>>, Fault> {
    let (mut cells, mut at) = (Vec::new(), 0);
    loop {
        let (rest, column) = (&line[at..], at + 1);
        let (text, length) = if rest.first() == Some(&b'"') {
            quoted(rest).map_err(|fault| fault.at_column(column))?
        } else {
            let end = memchr::memchr(delimiter, rest).unwrap_or(rest.len());
            (Cow::Borrowed(&rest[..end]), end)
        };
        cells.push(Cell { column, text });
        at += length;
        match line.get(at) {
            None => return Ok(cells),
            Some(&byte) if byte == delimiter => at += 1,
            Some(_) => {
                let expected = "nothing between a closing quote and the end of its cell";
                let fault = Fault::new(ReadErrorKind::Value, expected, quote(&line[at..]));
                return Err(fault.at_column(at + 1));
            }
        }
    }
}

/// The text of the cell that begins with a quote, and its length with both quotes.
fn quoted(rest: &[u8]) -> Result<(Cow<'_, [u8]>, usize), Fault> {
    let mut text = Cow::Borrowed(&rest[..0]);
    let mut at = 1;
    loop {
        let Some(length) = memchr::memchr(b'"', &rest[at..]) else {
            let expected = "a closing quote in the same line";
            return Err(Fault::new(ReadErrorKind::Value, expected, quote(rest)));
        };
        let (part, end) = (&rest[at..at + length], at + length + 1);
        if text.is_empty() {
            text = Cow::Borrowed(part);
        } else {
            text.to_mut().extend_from_slice(part);
        }
        if rest.get(end) != Some(&b'"') {
            return Ok((text, end));
        }
        // Two quotes are one.
        text.to_mut().push(b'"');
        at = end + 1;
    }
}

/// What the cells of a column are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cells {
    Label,
    Query,
    /// Values of the feature.
    Values(u32),
    /// Nothing that is asked for.
    Others,
}

/// The columns, as the header names them.
struct Header {
    cells: Vec<Cells>,
    titles: Vec<String>,
    /// Names of the features, where others have not been given.
    names: Strings,
}

impl Header {
    fn new(record: &[Cell<'_>], options: &ReadOptions) -> Result<Self, Fault> {
        let fault =
            |expected: String, found: String| Fault::new(ReadErrorKind::Array, expected, found);
        let known = options.columns.as_ref().map(places);
        if known.as_ref().is_some_and(HashMap::is_empty) {
            let expected =
                "names of features, by which the columns of a table are found".to_owned();
            return Err(fault(
                expected,
                "none in the model or the training data".to_owned(),
            ));
        }
        let mut header = Self {
            cells: Vec::with_capacity(record.len()),
            titles: Vec::with_capacity(record.len()),
            names: Strings::default(),
        };
        let mut seen = HashSet::new();
        for (place, title) in record.iter().map(|cell| &*cell.text).enumerate() {
            let title = std::str::from_utf8(title).map_err(|_| {
                let expected = "a name in UTF-8";
                Fault::new(ReadErrorKind::NameEncoding, expected, quote(title))
            })?;
            if title.is_empty() {
                let expected = "a header with a name for each column".to_owned();
                return Err(fault(expected, format!("none for column {}", place + 1)));
            }
            if !seen.insert(title) {
                let expected = "a header with each name once".to_owned();
                return Err(fault(
                    expected,
                    format!("{} again", quote(title.as_bytes())),
                ));
            }
            let cells = match &known {
                _ if options.label.as_deref() == Some(title) => Cells::Label,
                _ if options.query.as_deref() == Some(title) => Cells::Query,
                Some(known) => known
                    .get(title)
                    .map_or(Cells::Others, |&j| Cells::Values(j)),
                None => {
                    header.names.push(title);
                    // No file in memory has a header of as many columns as 32 bits count.
                    Cells::Values(u32::try_from(header.names.len() - 1).unwrap_or(u32::MAX))
                }
            };
            header.cells.push(cells);
            header.titles.push(title.to_owned());
        }
        header.check(options)?;
        Ok(header)
    }

    /// Bytes that it takes, and the names with it.
    fn memory(&self) -> u64 {
        let names = self.titles.iter().map(|title| 4 * title.len() as u64);
        names.map(|name| name + COLUMN).sum()
    }

    /// Refuses a header without a column that is needed.
    fn check(&self, options: &ReadOptions) -> Result<(), Fault> {
        let absent = |title: &str, what: &str| {
            let expected = format!("a column {} {what}", quote(title.as_bytes()));
            let found: Vec<&str> = self.titles.iter().map(String::as_str).collect();
            let found = format!("a header of {}", quote(found.join(" ").as_bytes()));
            Fault::new(ReadErrorKind::Array, expected, found)
        };
        let titles: HashSet<&str> = self.titles.iter().map(String::as_str).collect();
        let has = |title: &str| titles.contains(title);
        if let (Some(label), Some(query)) = (&options.label, &options.query)
            && label == query
        {
            let expected = "queries in another column than labels";
            let found = format!("{} for both", quote(label.as_bytes()));
            return Err(Fault::new(ReadErrorKind::Array, expected, found));
        }
        if !options.unlabelled {
            let Some(label) = &options.label else {
                let expected = "the name of the column with the labels";
                let fault = Fault::new(ReadErrorKind::Array, expected, "none".to_owned());
                return Err(fault.remedy("give --label COLUMN, and --query COLUMN for the queries"));
            };
            for (title, what) in [
                (Some(label), "of labels"),
                (options.query.as_ref(), "of queries"),
            ] {
                if let Some(title) = title.filter(|title| !has(title)) {
                    return Err(absent(title, what));
                }
            }
        }
        let mut features = options.columns.iter().flat_map(FeatureNames::iter);
        let missing = features.find(|name| !name.is_empty() && !has(name));
        missing.map_or(Ok(()), |name| {
            Err(absent(name, "for the feature of that name"))
        })
    }
}

/// The feature of each name; the first of equal ones.
fn places(names: &FeatureNames) -> HashMap<&str, u32> {
    let mut places = HashMap::new();
    for (feature, name) in (0..).zip(names.iter()).filter(|(_, name)| !name.is_empty()) {
        places.entry(name).or_insert(feature);
    }
    places
}

/// The rows so far.
struct Rows<'o> {
    options: &'o ReadOptions,
    block: RowBlock,
    labels: Vec<f64>,
    groups: Groups,
    memory: u64,
}

impl Rows<'_> {
    /// Adds the row of `record`, which is on `line`.
    fn add(&mut self, header: &Header, record: &[Cell<'_>], line: u64) -> Result<(), Fault> {
        if record.len() != header.cells.len() {
            let expected = format!("{} cells, as in the header", header.cells.len());
            return Err(Fault::new(
                ReadErrorKind::Lengths,
                expected,
                record.len().to_string(),
            ));
        }
        let start = self.block.indices.len();
        let (mut label, mut entries) = (0.0, Vec::new());
        for ((&cells, title), cell) in header.cells.iter().zip(&header.titles).zip(record) {
            let (trimmed, column) = (cell.text.trim_ascii(), cell.column);
            match cells {
                Cells::Others => {}
                Cells::Query => self.query(trimmed, line).map_err(|f| f.at_column(column))?,
                Cells::Label => {
                    // A label that is missing is not to be made up.
                    let found = number(trimmed, title, None);
                    label = found.map_err(|fault| fault.remedy("").at_column(column))?;
                }
                Cells::Values(feature) => {
                    let value = number(trimmed, title, self.options.missing);
                    let value = value.map_err(|fault| fault.at_column(column))?;
                    entries.extend((value != 0.0).then_some((feature, value)));
                }
            }
        }
        entries.sort_unstable_by_key(|&(feature, _)| feature);
        self.block
            .indices
            .extend(entries.iter().map(|entry| entry.0));
        self.block
            .values
            .extend(entries.iter().map(|entry| entry.1));
        self.block.ends.push(self.block.indices.len());
        self.labels.push(label);
        self.memory += ENTRY * (self.block.indices.len() - start) as u64 + ROW;
        match self.options.max_memory {
            Some(limit) if self.memory > limit => {
                Err(Fault::too_large(limit, &format!("{} or more", self.memory)))
            }
            _ => Ok(()),
        }
    }

    fn query(&mut self, id: &[u8], line: u64) -> Result<(), Fault> {
        if id == token::MISSING {
            let expected = "a query identifier";
            let found = format!("{}, a missing value", quote(id));
            return Err(Fault::new(ReadErrorKind::Value, expected, found));
        }
        let text = token::query_id(id, "an empty cell")?;
        self.memory += 2 * text.len() as u64;
        let added = self.groups.add(text, 1, line);
        added.map_err(|began| returning(text, &format!("on line {began}")))
    }
}

/// The number in a cell of the column `title`.
fn number(cell: &[u8], title: &str, missing: Option<f64>) -> Result<f64, Fault> {
    let absent = cell.is_empty() || cell == token::MISSING;
    if let Some(value) = missing.filter(|_| absent) {
        return Ok(value);
    }
    let found = if cell.is_empty() {
        "an empty cell".to_owned()
    } else {
        quote(cell)
    };
    let title = quote(title.as_bytes());
    token::number(cell).map_err(|bad| match bad {
        BadNumber::NotFinite => {
            let expected = format!("a finite number in the column {title}");
            Fault::new(ReadErrorKind::NotFinite, expected, found)
        }
        BadNumber::Syntax => {
            let expected = format!("a decimal number in the column {title}");
            let fault = Fault::new(ReadErrorKind::Value, expected, found);
            if absent {
                fault.remedy("to read missing values as 0, pass --missing 0")
            } else {
                fault
            }
        }
    })
}

fn read(source: Source<'_>, options: &ReadOptions, delimiter: u8) -> Result<Loaded, ReadError> {
    let name = source.name.clone();
    let mut header = None;
    let mut rows = Rows {
        options,
        block: RowBlock::default(),
        labels: Vec::new(),
        groups: Groups::new(options.regroup),
        memory: 0,
    };
    let mut number = 0;
    each_line(source, options.max_memory, |line| {
        number += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let marked = line.strip_prefix("\u{feff}".as_bytes());
        let line = marked.filter(|_| number == 1).unwrap_or(line);
        if line.is_empty() {
            return Ok(rows.memory);
        }
        let cells = cells(line, delimiter)?;
        match &header {
            None => {
                let found = Header::new(&cells, options)?;
                rows.memory = found.memory();
                header = Some(found);
            }
            Some(header) => rows.add(header, &cells, number)?,
        }
        Ok(rows.memory)
    })?;
    let Some(header) = header else {
        return Err(Fault::no_rows().of(&name));
    };
    let width = header.names.len();
    let mut text = Text::of_arrays(name.clone(), rows.block, width, rows.memory);
    (text.labels, text.groups) = (rows.labels, rows.groups);
    let mut loaded = options.build(text, IndexBase::One)?;
    if options.names.is_none() && options.columns.is_none() {
        let named = loaded.dataset.with_names(FeatureNames::new(header.names));
        loaded.dataset = named.map_err(|error| ReadError::data(&name, &error))?;
    }
    Ok(loaded)
}

#[cfg(test)]
mod tests {
    use super::super::Format;
    use super::*;
    use crate::data::Dataset;

    const TABLE: &str = "query,first,grade,\"a, b\",last\n\
        q1,0.5,2,0,-1\nq1,0,0, 3 ,\"1e2\"\nq2,1,1,0,0\n";

    fn options() -> ReadOptions {
        let options = ReadOptions::new().format(Format::Csv);
        options.label("grade".to_owned()).query("query".to_owned())
    }

    fn read(text: &str) -> Result<Loaded, ReadError> {
        options().read_from(text.as_bytes(), "f.csv")
    }

    /// Rows, values and feature of every stored column.
    fn columns<'d>(data: &'d Dataset<'_>) -> Vec<(u32, &'d [u32], &'d [f64])> {
        let columns = (0..data.stored_columns()).map(|j| (data.feature(j), data.column(j)));
        columns
            .map(|(feature, column)| (feature, column.rows, column.values))
            .collect()
    }

    #[test]
    fn a_table_is_read_with_its_names() {
        let tabs = TABLE.replace("a, b", "A").replace(',', "\t");
        let tabs = tabs.replace('A', "a, b");
        let tsv = options()
            .format(Format::Tsv)
            .read_from(tabs.as_bytes(), "f.tsv");
        let crlf = format!("\u{feff}{}", TABLE.replace('\n', "\r\n"));
        for loaded in [read(TABLE), tsv, read(&crlf), read(TABLE.trim_end())] {
            let data = loaded.unwrap().dataset;
            assert_eq!(data.labels(), [2.0, 0.0, 1.0]);
            assert_eq!(data.queries().offsets(), [0, 2, 3]);
            assert_eq!(data.queries().id(1), Some("q2"));
            let names: Vec<&str> = data.names().unwrap().iter().collect();
            assert_eq!(names, ["first", "a, b", "last"]);
            assert_eq!(
                columns(&data),
                [
                    (0, &[0, 2][..], &[0.5, 1.0][..]),
                    (1, &[1][..], &[3.0][..]),
                    (2, &[0, 1][..], &[-1.0, 100.0][..])
                ]
            );
        }
    }

    #[test]
    fn quotes_are_read_as_they_are_written() {
        let read = |line: &str| {
            let cells = cells(line.as_bytes(), b',').unwrap().into_iter();
            let text = cells.map(|cell| String::from_utf8(cell.text.into_owned()).unwrap());
            text.collect::<Vec<_>>()
        };
        assert_eq!(
            read(r#"a,"b,c",,"d""e","""","",f"g,"#),
            ["a", "b,c", "", "d\"e", "\"", "", "f\"g", ""]
        );
    }

    #[test]
    fn a_cell_a_header_and_ids_of_any_size_are_held_to_the_limit() {
        let long = "x".repeat(1 << 20);
        let many: Vec<String> = (0..1 << 14).map(|n| n.to_string()).collect();
        for text in [
            format!("grade,query,x\n1,a,\"{long}"),
            format!("grade,query,{long}\n1,a,1\n"),
            format!("grade,query,x\n1,{long},1\n"),
            format!("grade,query,{}\n", many.join(",")),
        ] {
            let error = options()
                .max_memory(1 << 19)
                .read_from(text.as_bytes(), "f");
            assert_eq!(error.unwrap_err().kind(), ReadErrorKind::TooLarge);
        }
    }

    #[test]
    fn other_data_are_matched_by_name() {
        let names: FeatureNames = ["last", "", "first"].into_iter().collect();
        let options = options().width(3).columns(names.clone());
        let data = options.read_from(TABLE.as_bytes(), "f").unwrap().dataset;
        assert_eq!((data.width(), data.names()), (3, None));
        assert_eq!(columns(&data)[0], (0, &[0, 1][..], &[-1.0, 100.0][..]));
        assert_eq!(columns(&data)[1].0, 2);
        // Of columns that are not asked for anything may stand in the cells.
        let text = "first,note,last\n1,words,2\n";
        let unlabelled = options.clone().unlabelled(true);
        let data = unlabelled.read_from(text.as_bytes(), "f").unwrap().dataset;
        assert_eq!((data.labels(), data.nonzeros()), (&[0.0][..], 2));
        for (names, message) in [
            (
                vec!["last", "absent"],
                "expected a column \"absent\" for the feature of that name",
            ),
            (vec!["", ""], "expected names of features"),
        ] {
            let options = options
                .clone()
                .columns(names.into_iter().collect::<FeatureNames>());
            let error = options.read_from(TABLE.as_bytes(), "f").unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
    }

    #[test]
    fn missing_cells_are_what_was_said() {
        let text = "grade,query,x,y\n1,a,,2\n0,a,NULL,1\n";
        let data = options().missing(-1.0).read_from(text.as_bytes(), "f");
        let data = data.unwrap().dataset;
        assert_eq!(columns(&data)[0], (0, &[0, 1][..], &[-1.0, -1.0][..]));
        let error = read(text).unwrap_err().to_string();
        let expected = "f.csv:2:5: expected a decimal number in the column \"x\", found an empty \
            cell (to read missing values as 0, pass --missing 0)";
        assert_eq!(error, expected);
    }

    #[test]
    fn everything_else_is_refused_with_its_place() {
        for (text, message) in [
            ("", "f.csv: expected at least one row, found none"),
            (
                "grade,query,x\n",
                "f.csv: expected at least one row, found none",
            ),
            (
                "grade,query,x\n1,a,b\n",
                "f.csv:2:5: expected a decimal number in the column \"x\", found \"b\"",
            ),
            (
                "grade,query,x\n1,a,nan\n",
                "f.csv:2:5: expected a finite number in the column \"x\", found \"nan\"",
            ),
            (
                "grade,query,x\n,a,1\n",
                "f.csv:2:1: expected a decimal number in the column \"grade\", found an empty cell",
            ),
            (
                "grade,query,x\n1,,1\n",
                "f.csv:2:3: expected a query identifier, found an empty cell",
            ),
            (
                "grade,query,x\n1,a\n",
                "f.csv:2:1: expected 3 cells, as in the header, found 2",
            ),
            (
                "grade,query,x\n1,a,1,\n",
                "f.csv:2:1: expected 3 cells, as in the header, found 4",
            ),
            (
                "grade,query,x\n1,a,\"2\n1,a,3\n",
                "f.csv:2:5: expected a closing quote in the same line, found \"\\\"2\"",
            ),
            (
                "grade,query,x\n1,a,\"5\"1\n",
                "f.csv:2:8: expected nothing between a closing quote and the end of its cell, found \"1\"",
            ),
            (
                "grade,query,x\n1,NULL,1\n",
                "f.csv:2:3: expected a query identifier, found \"NULL\", a missing value",
            ),
            (
                "grade,query,x,x\n",
                "f.csv:1:1: expected a header with each name once, found \"x\" again",
            ),
            (
                ",query,grade\n",
                "f.csv:1:1: expected a header with a name for each column, found none for column 1",
            ),
            (
                "grade,x\n1,1\n",
                "f.csv:1:1: expected a column \"query\" of queries, found a header of \"grade x\"",
            ),
            (
                "query,x\n1,1\n",
                "f.csv:1:1: expected a column \"grade\" of labels",
            ),
            (
                "grade,query,x\n1,a,1\n1,b,1\n1,a,1\n",
                "f.csv:4:3: expected the rows of a query next to each other, found query \"a\" again, which began on line 2",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}\n{message}");
        }
        let error = ReadOptions::new().format(Format::Csv);
        let error = error.read_from(&b"a,b\n1,2\n"[..], "f").unwrap_err();
        assert!(error.to_string().contains("--label COLUMN"), "{error}");
        let same = options().query("grade".to_owned());
        let error = same.read_from(TABLE.as_bytes(), "f").unwrap_err();
        assert!(
            error.to_string().contains("found \"grade\" for both"),
            "{error}"
        );
        let error = options().max_memory(100).read_from(TABLE.as_bytes(), "f");
        assert_eq!(error.unwrap_err().kind(), ReadErrorKind::TooLarge);
        let regrouped = "grade,query,x\n1,a,1\n1,b,1\n0,a,1\n";
        let data = options().regroup(true).read_from(regrouped.as_bytes(), "f");
        assert_eq!(data.unwrap().dataset.labels(), [1.0, 0.0, 1.0]);
    }
}
