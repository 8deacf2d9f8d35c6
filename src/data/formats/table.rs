//! Tables with a header: values separated by commas or tabs, quoted where they must be.
//!
//! A row is a line: a quote that is not closed in its line is refused, or it would take the lines after
//! it for a cell. [`TableOptions`] name the columns with labels and queries, and those to leave out; all
//! others are features, and their names those of the features. Data for a model, or besides training
//! data, are matched by name, in any order; columns of other names are left out.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::error::{Fault, ReadError, quote};
use super::input::Source;
use super::lines::each_line;
use super::missing::Missing;
use super::text::{Text, returning};
use super::token::{self, BadNumber};
use super::{Loaded, ReadOptions};
use crate::data::queries::Groups;
use crate::data::runs::RowPacker;
use crate::data::{FeatureNames, IndexBase, Strings};

/// What the columns of a table are, and its missing values. Only [`missing`](Self::missing) counts in
/// other formats. A model keeps them ([`Model::table`](crate::Model::table)), to read other data alike.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableOptions {
    /// The column that has the labels. Data with labels are refused without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The column that has the queries; without it all rows are one query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// What to take for missing values, which are refused without it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Missing>,
    /// Columns to leave out, whatever their cells hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ignore: Vec<String>,
}

impl TableOptions {
    /// Whether nothing was said.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

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
                let fault = Fault::new(expected, quote(&line[at..]));
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
            return Err(Fault::new(expected, quote(rest)));
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
        let table = &options.table;
        let known = options.columns.as_ref().map(places);
        if known.as_ref().is_some_and(HashMap::is_empty) {
            let expected = "names of features, by which the columns of a table are found";
            return Err(Fault::new(
                expected,
                "none in the model or the training data",
            ));
        }
        let mut header = Self {
            cells: Vec::with_capacity(record.len()),
            titles: Vec::with_capacity(record.len()),
            names: Strings::default(),
        };
        let mut seen = HashSet::new();
        for (place, title) in record.iter().map(|cell| &*cell.text).enumerate() {
            let title = std::str::from_utf8(title);
            let title =
                title.map_err(|_| Fault::new("a name in UTF-8", quote(&record[place].text)))?;
            if title.is_empty() {
                let found = format!("none for column {}", place + 1);
                let fault = Fault::new("a header with a name for each column", found);
                return Err(fault.remedy(if place == 0 { INDEX } else { "" }));
            }
            if !seen.insert(title) {
                let found = format!("{} again", quote(title.as_bytes()));
                return Err(Fault::new("a header with each name once", found));
            }
            let cells = match &known {
                _ if table.label.as_deref() == Some(title) => Cells::Label,
                _ if table.query.as_deref() == Some(title) => Cells::Query,
                _ if table.ignore.iter().any(|name| name == title) => Cells::Others,
                Some(known) => known
                    .get(title)
                    .map_or(Cells::Others, |&j| Cells::Values(j)),
                None if title == PANDAS_INDEX => {
                    let found = format!("{}, an index", quote(title.as_bytes()));
                    return Err(Fault::new("columns of features", found).remedy(
                        "leave it out by --ignore \"Unnamed: 0\", or rename it if it is a feature",
                    ));
                }
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
            Fault::new(expected, found)
        };
        let titles: HashSet<&str> = self.titles.iter().map(String::as_str).collect();
        let has = |title: &str| titles.contains(title);
        let TableOptions {
            label,
            query,
            ignore,
            ..
        } = &options.table;
        if let (Some(label), Some(query)) = (label, query)
            && label == query
        {
            let expected = "queries in another column than labels";
            let found = format!("{} for both", quote(label.as_bytes()));
            return Err(Fault::new(expected, found));
        }
        match label {
            Some(label) if !options.unlabelled && !has(label) => {
                return Err(absent(label, "of labels"));
            }
            None if !options.unlabelled => {
                let expected = "the name of the column with the labels";
                let fault = Fault::new(expected, "none");
                return Err(fault.remedy("give --label COLUMN, and --query COLUMN for the queries"));
            }
            _ => {}
        }
        if let Some(query) = query.as_ref().filter(|query| !has(query)) {
            return Err(absent(query, "of queries").remedy(
                "name it by --query COLUMN, or give the queries by --query-size N or --queries FILE",
            ));
        }
        for name in ignore {
            if !has(name) {
                return Err(absent(name, "to leave out"));
            }
            let rows = [label, query].into_iter().flatten().map(String::as_str);
            let features = options.columns.iter().flat_map(FeatureNames::iter);
            if rows.chain(features).any(|needed| needed == name) {
                let expected = "columns to leave out that are not needed";
                let found = quote(name.as_bytes());
                return Err(Fault::new(expected, found));
            }
        }
        let mut features = options.columns.iter().flat_map(FeatureNames::iter);
        let missing = features.find(|name| !name.is_empty() && !has(name));
        missing.map_or(Ok(()), |name| {
            Err(absent(name, "for the feature of that name"))
        })
    }
}

/// How pandas calls a column without a name, which was its index when the table was written.
const PANDAS_INDEX: &str = "Unnamed: 0";

/// What to do about a first column without a name.
const INDEX: &str = "is it an index of pandas? Write the table by to_csv(index=False), or name the \
    column and leave it out by --ignore COLUMN";

/// Refuses a header that is not separated by `delimiter`, but by another character.
fn check_separator(header: &[u8], delimiter: u8) -> Result<(), Fault> {
    let others = [
        (b';', "semicolons", "separate the cells by commas"),
        (b'\t', "tabs", "pass --format tsv"),
        (b',', "commas", "pass --format csv"),
    ];
    let found = others.iter().find(|(other, ..)| header.contains(other));
    let Some((_, found, remedy)) = found.filter(|_| !header.contains(&delimiter)) else {
        return Ok(());
    };
    let expected = match delimiter {
        b'\t' => "columns separated by tabs",
        _ => "columns separated by commas",
    };
    Err(Fault::new(expected, *found).remedy(remedy))
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
    packer: RowPacker,
    labels: Vec<f64>,
    groups: Groups,
    memory: u64,
}

impl Rows<'_> {
    /// Adds the row of `record`, which is on `line`.
    fn add(&mut self, header: &Header, record: &[Cell<'_>], line: u64) -> Result<(), Fault> {
        if record.len() != header.cells.len() {
            let expected = format!("{} cells, as in the header", header.cells.len());
            return Err(Fault::mismatch(expected, record.len().to_string()));
        }
        let (mut label, mut entries) = (0.0, 0);
        for ((&cells, title), cell) in header.cells.iter().zip(&header.titles).zip(record) {
            let (trimmed, column) = (cell.text.trim_ascii(), cell.column);
            match cells {
                Cells::Others => {}
                Cells::Query => self.query(trimmed, line).map_err(|f| f.at_column(column))?,
                Cells::Label => {
                    // A label that is missing is not to be made up.
                    let found = number(trimmed, title, self.options.unlabelled.then_some(0.0));
                    label = found.map_err(|fault| fault.at_column(column))?;
                }
                Cells::Values(feature) => {
                    let missing = self.options.table.missing.map(Missing::in_place);
                    let value = number(trimmed, title, missing);
                    let value = value
                        .map_err(|fault| fault.remedy(self.remedy(trimmed)).at_column(column))?;
                    if value != 0.0 {
                        self.packer.push(feature, value);
                        entries += 1;
                    }
                }
            }
        }
        self.packer.end_row();
        self.labels.push(label);
        self.memory += ENTRY * entries + ROW;
        match self.options.max_memory {
            Some(limit) if self.memory > limit => {
                Err(Fault::too_large(limit, &format!("{} or more", self.memory)))
            }
            _ => Ok(()),
        }
    }

    /// What to do about a cell that is no number.
    fn remedy(&self, cell: &[u8]) -> &'static str {
        match self.options.columns {
            _ if is_missing(cell) => token::SAY_MISSING,
            Some(_) => "",
            None => "to leave a column out, pass --ignore COLUMN",
        }
    }

    fn query(&mut self, id: &[u8], line: u64) -> Result<(), Fault> {
        if !id.is_empty() && is_missing(id) {
            let expected = "a query identifier";
            let found = format!("{}, a missing value", quote(id));
            return Err(Fault::new(expected, found));
        }
        let text = token::query_id(id, "an empty cell")?;
        self.memory += 2 * text.len() as u64;
        let added = self.groups.add(text, 1, line);
        added.map_err(|began| returning(text, &format!("on line {began}")))
    }
}

/// Whether the value of a cell is missing, as programs write that.
fn is_missing(cell: &[u8]) -> bool {
    const MISSING: [&[u8]; 9] = [
        b"", b"NA", b"N/A", b"nan", b"NaN", b"null", b"NULL", b"None", b"<NA>",
    ];
    MISSING.contains(&cell)
}

/// The number in a cell of the column `title`, or `missing`.
fn number(cell: &[u8], title: &str, missing: Option<f64>) -> Result<f64, Fault> {
    if let Some(value) = missing.filter(|_| is_missing(cell)) {
        return Ok(value);
    }
    match cell {
        b"True" | b"true" | b"TRUE" => return Ok(1.0),
        b"False" | b"false" | b"FALSE" => return Ok(0.0),
        _ => {}
    }
    let found = if cell.is_empty() {
        "an empty cell".to_owned()
    } else {
        quote(cell)
    };
    let title = quote(title.as_bytes());
    token::number(cell).map_err(|bad| match bad {
        BadNumber::NotFinite => Fault::new(format!("a finite number in the column {title}"), found),
        BadNumber::Syntax => Fault::new(format!("a decimal number in the column {title}"), found),
    })
}

fn read(source: Source<'_>, options: &ReadOptions, delimiter: u8) -> Result<Loaded, ReadError> {
    let name = source.name.clone();
    let mut header = None;
    let mut rows = Rows {
        options,
        packer: RowPacker::default(),
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
        if header.is_none() {
            check_separator(line, delimiter)?;
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
    let text = Text {
        rows: rows.labels.len(),
        runs: rows.packer.finish(),
        labels: rows.labels,
        width: header.names.len(),
        memory: rows.memory,
        ..Text::new(name.clone(), rows.groups)
    };
    let mut loaded = options.build(text, IndexBase::One)?;
    if options.names.is_none() && options.columns.is_none() {
        let named = loaded.dataset.with_names(FeatureNames::new(header.names));
        loaded.dataset = named.map_err(|error| ReadError::data(&name, &error))?;
    }
    Ok(loaded)
}

#[cfg(test)]
mod tests {
    use super::super::{Format, ReadErrorKind, RowQueries};
    use super::*;
    use crate::data::Dataset;

    const TABLE: &str = "query,first,grade,\"a, b\",last\n\
        q1,0.5,2,0,-1\nq1,0,0, 3 ,\"1e2\"\nq2,1,1,0,0\n";

    fn named() -> TableOptions {
        TableOptions {
            label: Some("grade".to_owned()),
            query: Some("query".to_owned()),
            ..TableOptions::default()
        }
    }

    fn options() -> ReadOptions {
        with(named())
    }

    fn with(table: TableOptions) -> ReadOptions {
        ReadOptions::new().format(Format::Csv).table(table)
    }

    fn ignoring(names: &[&str]) -> ReadOptions {
        with(TableOptions {
            ignore: names.iter().map(ToString::to_string).collect(),
            ..named()
        })
    }

    fn filling(missing: Missing) -> ReadOptions {
        with(TableOptions {
            missing: Some(missing),
            ..named()
        })
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
        let bare = options.clone().table(TableOptions::default());
        let unlabelled = bare.unlabelled(true);
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
        let data = filling(Missing::Value(-1.0)).read_from(text.as_bytes(), "f");
        let data = data.unwrap().dataset;
        assert_eq!(columns(&data)[0], (0, &[0, 1][..], &[-1.0, -1.0][..]));
        for word in [
            "", "NA", "N/A", "nan", "NaN", "null", "NULL", "None", "<NA>",
        ] {
            let text = format!("grade,query,x,y\n1,a,{word},2\n0,a,4,1\n");
            let data = filling(Missing::Mean).read_from(text.as_bytes(), "f");
            let data = data.unwrap().dataset;
            assert_eq!(columns(&data)[0], (0, &[0, 1][..], &[4.0, 4.0][..]));
            let error = read(&text).unwrap_err().to_string();
            let expected = "(to read missing values as 0, pass --missing 0; as the mean of their \
                query, --missing mean)";
            assert!(error.starts_with("f.csv:2:5: expected a "), "{error}");
            assert!(error.ends_with(expected), "{error}");
        }
    }

    #[test]
    fn a_mean_is_of_the_query_wherever_its_rows_stand() {
        let text = "grade,query,x,y\n1,a,2,\n0,b,,5\n0,a,,\n2,b,6,\n1,b,8,7\n";
        let options = filling(Missing::Mean).regroup(true);
        let data = options.read_from(text.as_bytes(), "f").unwrap().dataset;
        assert_eq!(data.input_rows(), Some(&[0, 2, 1, 3, 4][..]));
        let rows = &[0, 1, 2, 3, 4][..];
        // Query a has no y: it takes the mean of all.
        let expected = [
            (0, rows, &[2.0, 2.0, 7.0, 6.0, 8.0][..]),
            (1, rows, &[6.0, 6.0, 5.0, 6.0, 7.0][..]),
        ];
        assert_eq!(columns(&data), expected);
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("queries.txt");
        std::fs::write(&path, "a\nb\nb\n").unwrap();
        let text = "grade,x\n1,\n2,\n0,3\n";
        let options = filling(Missing::Mean).row_queries(RowQueries::File(path));
        let options = options.table(TableOptions {
            query: None,
            missing: Some(Missing::Mean),
            ..named()
        });
        let data = options.read_from(text.as_bytes(), "f").unwrap().dataset;
        assert_eq!(columns(&data), [(0, &[0, 1, 2][..], &[3.0; 3][..])]);
    }

    #[test]
    fn truth_is_a_number() {
        let text = "grade,query,x\nTrue,a,true\nFALSE,a,False\n0,a,TRUE\n";
        let data = read(text).unwrap().dataset;
        assert_eq!(data.labels(), [1.0, 0.0, 0.0]);
        assert_eq!(columns(&data), [(0, &[0, 2][..], &[1.0, 1.0][..])]);
    }

    #[test]
    fn columns_are_left_out() {
        let text = "query,note,grade,x,Unnamed: 0\na,\"red, blue\",1,2,0\na,green,0,3,1\n";
        let options = ignoring(&["note", "Unnamed: 0"]);
        let data = options.read_from(text.as_bytes(), "f").unwrap().dataset;
        assert_eq!(data.names().unwrap().iter().collect::<Vec<_>>(), ["x"]);
        assert_eq!(columns(&data), [(0, &[0, 1][..], &[2.0, 3.0][..])]);
        let error = ignoring(&["Unnamed: 0"]).read_from(text.as_bytes(), "f.csv");
        assert_eq!(
            error.unwrap_err().to_string(),
            "f.csv:2:3: expected a decimal number in the column \"note\", found \"red, blue\" (to \
             leave a column out, pass --ignore COLUMN)"
        );
        let text = "query,note,grade,x\na,1,2,0\n";
        let names: FeatureNames = ["x"].into_iter().collect();
        let known = ignoring(&["x"]).columns(names).width(1);
        for (options, message) in [
            (
                ignoring(&["nate"]),
                "expected a column \"nate\" to leave out",
            ),
            (ignoring(&["grade"]), "that are not needed, found \"grade\""),
            (ignoring(&["query"]), "that are not needed, found \"query\""),
            (known, "that are not needed, found \"x\""),
        ] {
            let error = options.read_from(text.as_bytes(), "f").unwrap_err();
            assert!(error.to_string().contains(message), "{error}");
        }
    }

    #[test]
    fn tables_of_other_programs_are_recognised() {
        for (text, message) in [
            (
                "grade;query;x\n1;a;1\n",
                "f.csv:1:1: expected columns separated by commas, found semicolons (separate the cells by commas)",
            ),
            (
                "\"grade\";\"x\"\n1;1\n",
                "f.csv:1:1: expected columns separated by commas, found semicolons",
            ),
            ("grade\tx\n1\t1\n", "found tabs (pass --format tsv)"),
            (
                ",grade,query,x\n0,1,a,1\n",
                "(is it an index of pandas? Write the table by to_csv(index=False), or name the \
                 column and leave it out by --ignore COLUMN)",
            ),
            (
                "Unnamed: 0,grade,query,x\n0,1,a,1\n",
                "found \"Unnamed: 0\", an index (leave it out by --ignore \"Unnamed: 0\"",
            ),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        let tsv = options()
            .format(Format::Tsv)
            .read_from(TABLE.as_bytes(), "f.tsv");
        let error = tsv.unwrap_err().to_string();
        assert!(
            error.contains("found commas (pass --format csv)"),
            "{error}"
        );
    }

    #[test]
    fn labels_that_nobody_needs_may_be_missing() {
        let text = "query,grade,x\na,,1\na,2,3\n";
        let error = read(text).unwrap_err().to_string();
        assert_eq!(
            error,
            "f.csv:2:3: expected a decimal number in the column \"grade\", found an empty cell"
        );
        let data = options().unlabelled(true).read_from(text.as_bytes(), "f");
        assert_eq!(data.unwrap().dataset.labels(), [0.0, 2.0]);
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
        let same = with(TableOptions {
            query: Some("grade".to_owned()),
            ..named()
        });
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
