//! Tables with a header: values separated by commas or tabs, quoted where they must be.
//!
//! A row is a line: a quote that is not closed in its line is refused, or it would take the lines after
//! it for a cell. [`TableOptions`] name the columns with labels and queries, and those to leave out; all
//! others are features, and their names those of the features. Data for a model, or besides training
//! data, are matched by name, in any order; columns of other names are left out.

use std::borrow::Cow;
use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::error::{Fault, ReadError, quote};
use super::input::Source;
use super::lines::each_line;
use super::missing::Missing;
use super::text::{Text, returning};
use super::token::{self, BadNumber};
use super::{Facts, Loaded, ReadOptions, Reader, Remedy};
use crate::data::queries::Groups;
use crate::data::runs::RowPacker;
use crate::data::sidecar::{has_extension, plain, prefix};
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
pub(super) const CSV: Facts = Facts {
    name: "csv",
    title: "a table of comma-separated values",
    files: "NAME.csv",
    ending: |path| has_extension(&plain(path), "csv"),
    reader: Reader::Stream(|source, options| read(source, options, b',')),
    parts: &[],
    prefix: |path| (prefix(path), ""),
    compressed: true,
    names_beside: false,
    write: None,
};

/// Values separated by tabs.
pub(super) const TSV: Facts = Facts {
    name: "tsv",
    title: "a table of tab-separated values",
    files: "NAME.tsv",
    ending: |path| has_extension(&plain(path), "tsv"),
    reader: Reader::Stream(|source, options| read(source, options, b'\t')),
    ..CSV
};

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
        let TableOptions {
            label,
            query,
            ignore,
            ..
        } = &options.table;
        let known = options.columns.as_ref();
        let features = || {
            let names = known.into_iter().flatten();
            names.map(|(feature, name)| (*feature, name.as_str()))
        };
        if known.is_some() && features().next().is_none() {
            let expected = "names of features, by which the columns of a table are found";
            let found = "none in the model or the training data";
            return Err(Fault::new(expected, found));
        }
        let (titles, places) = titles(record)?;
        let place = |title: &str, what: &str| {
            let place = places.get(title).copied();
            place.ok_or_else(|| {
                let expected = format!("a column {} {what}", quote(title.as_bytes()));
                let found = format!("a header of {}", quote(titles.join(" ").as_bytes()));
                Fault::new(expected, found)
            })
        };
        let mut cells = vec![None; titles.len()];
        match (label, query) {
            (Some(label), Some(query)) if label == query => {
                let found = format!("{} for both", quote(label.as_bytes()));
                return Err(Fault::new("queries in another column than labels", found));
            }
            (None, _) if !options.unlabelled => {
                let fault = Fault::new("the name of the column with the labels", "none");
                return Err(fault.remedy(Remedy::NameLabels));
            }
            _ => {}
        }
        if let Some(label) = label {
            match place(label, "of labels") {
                Ok(place) => cells[place] = Some(Cells::Label),
                Err(_) if options.unlabelled => {}
                Err(fault) => return Err(fault),
            }
        }
        if let Some(query) = query {
            let place = place(query, "of queries");
            let place = place.map_err(|fault| fault.remedy(Remedy::NameQueries))?;
            cells[place] = Some(Cells::Query);
        }
        for name in ignore {
            let place = place(name, "to leave out")?;
            let is_row = matches!(cells[place], Some(Cells::Label | Cells::Query));
            if is_row || features().any(|(_, needed)| needed == name) {
                let expected = "columns to leave out that are not needed";
                return Err(Fault::new(expected, quote(name.as_bytes())));
            }
            cells[place] = Some(Cells::Others);
        }
        for (feature, name) in features() {
            // The first of equal names has the column.
            let place = place(name, "for the feature of that name")?;
            cells[place].get_or_insert(Cells::Values(feature));
        }
        let mut names = Strings::default();
        for (title, cells) in titles.iter().zip(&mut cells) {
            if known.is_some() || cells.is_some() {
                continue;
            }
            if *title == PANDAS_INDEX {
                let found = format!("{}, an index", quote(title.as_bytes()));
                let fault = Fault::new("columns of features", found);
                return Err(fault.remedy(Remedy::Ignore((*title).to_owned())));
            }
            // No file in memory has a header of as many columns as 32 bits count.
            *cells = Some(Cells::Values(
                u32::try_from(names.len()).unwrap_or(u32::MAX),
            ));
            names.push(title);
        }
        let cells = cells
            .into_iter()
            .map(|cells| cells.unwrap_or(Cells::Others));
        Ok(Self {
            cells: cells.collect(),
            titles: titles.into_iter().map(str::to_owned).collect(),
            names,
        })
    }

    /// Bytes that it takes, and the names with it.
    fn memory(&self) -> u64 {
        let names = self.titles.iter().map(|title| 4 * title.len() as u64);
        names.map(|name| name + COLUMN).sum()
    }
}

/// The titles in a header, and where each stands.
fn titles<'r>(record: &'r [Cell<'_>]) -> Result<(Vec<&'r str>, HashMap<&'r str, usize>), Fault> {
    let (mut titles, mut places) = (Vec::with_capacity(record.len()), HashMap::new());
    for (place, cell) in record.iter().enumerate() {
        let title = std::str::from_utf8(&cell.text);
        let title = title.map_err(|_| Fault::new("a name in UTF-8", quote(&cell.text)))?;
        if title.is_empty() {
            let found = format!("none for column {}", place + 1);
            let fault = Fault::new("a header with a name for each column", found);
            return Err(if place == 0 {
                fault.remedy(Remedy::NameIndex)
            } else {
                fault
            });
        }
        if places.insert(title, place).is_some() {
            let found = format!("{} again", quote(title.as_bytes()));
            return Err(Fault::new("a header with each name once", found));
        }
        titles.push(title);
    }
    Ok((titles, places))
}

/// How pandas calls a column without a name, which was its index when the table was written.
const PANDAS_INDEX: &str = "Unnamed: 0";

/// Refuses a header that is not separated by `delimiter`, but by another character.
fn check_separator(header: &[u8], delimiter: u8) -> Result<(), Fault> {
    let others = [
        (
            b';',
            "semicolons",
            Remedy::from("separate the cells by commas"),
        ),
        (b'\t', "tabs", Remedy::ReadAs("tsv")),
        (b',', "commas", Remedy::ReadAs("csv")),
    ];
    let found = others
        .into_iter()
        .find(|(other, ..)| header.contains(other));
    let Some((_, found, remedy)) = found.filter(|_| !header.contains(&delimiter)) else {
        return Ok(());
    };
    let expected = match delimiter {
        b'\t' => "columns separated by tabs",
        _ => "columns separated by commas",
    };
    Err(Fault::new(expected, found).remedy(remedy))
}

/// The rows so far.
struct Rows<'o> {
    options: &'o ReadOptions,
    packer: RowPacker,
    text: Text,
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
                        .map_err(|fault| self.with_remedy(fault, trimmed).at_column(column))?;
                    if value != 0.0 {
                        self.packer.push(feature, value);
                        entries += 1;
                    }
                }
            }
        }
        self.packer.end_row();
        self.text.labels.push(label);
        self.text.rows += 1;
        self.text.memory += ENTRY * entries + ROW;
        self.text.check_memory(self.options.max_memory)
    }

    /// The fault of a cell that is no number, with what to do about it.
    fn with_remedy(&self, fault: Fault, cell: &[u8]) -> Fault {
        match self.options.columns {
            _ if is_missing(cell) => fault.remedy(Remedy::ReadMissing),
            Some(_) => fault,
            None => fault.remedy(Remedy::IgnoreColumn),
        }
    }

    fn query(&mut self, id: &[u8], line: u64) -> Result<(), Fault> {
        if !id.is_empty() && is_missing(id) {
            let expected = "a query identifier";
            let found = format!("{}, a missing value", quote(id));
            return Err(Fault::new(expected, found));
        }
        let text = token::query_id(id, "an empty cell")?;
        self.text.memory += 2 * text.len() as u64;
        let added = self.text.groups.add(text, 1, line);
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
        text: Text::new(name.clone(), Groups::new(options.regroup)),
    };
    let mut number = 0;
    each_line(source, options.max_memory, |line| {
        number += 1;
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let marked = line.strip_prefix("\u{feff}".as_bytes());
        let line = marked.filter(|_| number == 1).unwrap_or(line);
        if line.is_empty() {
            return Ok(rows.text.memory);
        }
        if header.is_none() {
            check_separator(line, delimiter)?;
        }
        let cells = cells(line, delimiter)?;
        match &header {
            None => {
                let found = Header::new(&cells, options)?;
                rows.text.memory = found.memory();
                header = Some(found);
            }
            Some(header) => rows.add(header, &cells, number)?,
        }
        Ok(rows.text.memory)
    })?;
    let Some(header) = header else {
        return Err(Fault::no_rows().of(&name));
    };
    rows.text.runs = rows.packer.finish();
    rows.text.width = header.names.len();
    let mut loaded = options.build(rows.text, IndexBase::One)?;
    if options.names.is_none() && options.columns.is_none() {
        let named = loaded.dataset.with_names(FeatureNames::new(header.names));
        loaded.dataset = named.map_err(|error| Fault::data(&error).of(&name))?;
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

    fn with(table: TableOptions) -> ReadOptions {
        ReadOptions::new().format(Format::Csv).table(table)
    }

    fn options() -> ReadOptions {
        with(named())
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

    fn knowing(names: &[&str]) -> ReadOptions {
        let names: FeatureNames = names.iter().collect();
        options().width(names.len()).columns(names.columns())
    }

    fn read(options: &ReadOptions, text: &str) -> Dataset<'static> {
        options.read_from(text.as_bytes(), "f.csv").unwrap().dataset
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
        let crlf = format!("\u{feff}{}", TABLE.replace('\n', "\r\n"));
        for data in [
            read(&options(), TABLE),
            read(&options().format(Format::Tsv), &tabs),
            read(&options(), &crlf),
            read(&options(), TABLE.trim_end()),
        ] {
            assert_eq!(data.labels(), [2.0, 0.0, 1.0]);
            assert_eq!(data.queries().offsets(), [0, 2, 3]);
            assert_eq!(data.queries().id(1), Some("q2"));
            let names: Vec<&str> = data.names().unwrap().iter().collect();
            assert_eq!(names, ["first", "a, b", "last"]);
            let expected = [
                (0, &[0, 2][..], &[0.5, 1.0][..]),
                (1, &[1][..], &[3.0][..]),
                (2, &[0, 1][..], &[-1.0, 100.0][..]),
            ];
            assert_eq!(columns(&data), expected);
        }
    }

    #[test]
    fn quotes_are_read_as_they_are_written() {
        let line = br#"a,"b,c",,"d""e","""","",f"g,"#;
        let cells = cells(line, b',').unwrap().into_iter();
        let text = cells.map(|cell| String::from_utf8(cell.text.into_owned()).unwrap());
        let expected = ["a", "b,c", "", "d\"e", "\"", "", "f\"g", ""];
        assert_eq!(text.collect::<Vec<_>>(), expected);
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
            let limited = options().max_memory(1 << 19);
            let error = limited.read_from(text.as_bytes(), "f").unwrap_err();
            assert_eq!(error.kind(), ReadErrorKind::TooLarge);
        }
    }

    #[test]
    fn other_data_are_matched_by_name() {
        let options = knowing(&["last", "", "first"]);
        let data = read(&options, TABLE);
        assert_eq!((data.width(), data.names()), (3, None));
        assert_eq!(columns(&data)[0], (0, &[0, 1][..], &[-1.0, 100.0][..]));
        assert_eq!(columns(&data)[1].0, 2);
        // Of columns that are not asked for anything may stand in the cells.
        let bare = options.table(TableOptions::default()).unlabelled(true);
        let data = read(&bare, "first,note,last\n1,words,2\n");
        assert_eq!((data.labels(), data.nonzeros()), (&[0.0][..], 2));
    }

    #[test]
    fn missing_cells_are_what_was_said() {
        let text = "grade,query,x,y\n1,a,,2\n0,a,NULL,1\n";
        let data = read(&filling(Missing::Value(-1.0)), text);
        assert_eq!(columns(&data)[0], (0, &[0, 1][..], &[-1.0, -1.0][..]));
        for word in [
            "", "NA", "N/A", "nan", "NaN", "null", "NULL", "None", "<NA>",
        ] {
            let text = format!("grade,query,x,y\n1,a,{word},2\n0,a,4,1\n");
            let data = read(&filling(Missing::Mean), &text);
            assert_eq!(columns(&data)[0], (0, &[0, 1][..], &[4.0, 4.0][..]));
            let error = options().read_from(text.as_bytes(), "f.csv").unwrap_err();
            assert_eq!(error.remedy(), Some(&Remedy::ReadMissing));
        }
        // Labels that nobody needs may be missing.
        let data = read(&options().unlabelled(true), "query,grade,x\na,,1\na,2,3\n");
        assert_eq!(data.labels(), [0.0, 2.0]);
    }

    #[test]
    fn a_mean_is_of_the_query_wherever_its_rows_stand() {
        let text = "grade,query,x,y\n1,a,2,\n0,b,,5\n0,a,,\n2,b,6,\n1,b,8,7\n";
        let data = read(&filling(Missing::Mean).regroup(true), text);
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
        let table = TableOptions {
            query: None,
            missing: Some(Missing::Mean),
            ..named()
        };
        let options = with(table).row_queries(RowQueries::File(path));
        let data = read(&options, "grade,x\n1,\n2,\n0,3\n");
        assert_eq!(columns(&data), [(0, &[0, 1, 2][..], &[3.0; 3][..])]);
    }

    #[test]
    fn truth_is_a_number() {
        let text = "grade,query,x\nTrue,a,true\nFALSE,a,False\n0,a,TRUE\n";
        let data = read(&options(), text);
        assert_eq!(data.labels(), [1.0, 0.0, 0.0]);
        assert_eq!(columns(&data), [(0, &[0, 2][..], &[1.0, 1.0][..])]);
    }

    #[test]
    fn columns_are_left_out() {
        let text = "query,note,grade,x,Unnamed: 0\na,\"red, blue\",1,2,0\na,green,0,3,1\n";
        let data = read(&ignoring(&["note", "Unnamed: 0"]), text);
        assert_eq!(data.names().unwrap().iter().collect::<Vec<_>>(), ["x"]);
        assert_eq!(columns(&data), [(0, &[0, 1][..], &[2.0, 3.0][..])]);
    }

    #[test]
    #[rustfmt::skip]
    fn everything_else_is_refused_with_its_place() {
        let header = "grade,query,x\n";
        let note = "query,note,grade,x\na,\"red, blue\",1,2\n";
        for (options, text, message) in [
            (options(), "", "f.csv: expected at least one row, found none"),
            (options(), header, "f.csv: expected at least one row, found none"),
            (options(), "grade,query,x,x\n", "f.csv:1:1: expected a header with each name once, found \"x\" again"),
            (options(), ",query,grade\n", "f.csv:1:1: expected a header with a name for each column, found none for column 1"),
            (options(), ",grade,query,x\n", "(is it an index of pandas? Write the table by to_csv(index=False), or name the column and put it into TableOptions::ignore)"),
            (options(), "Unnamed: 0,grade,query,x\n", "found \"Unnamed: 0\", an index (leave it out: put \"Unnamed: 0\" into TableOptions::ignore"),
            (options(), "grade,x\n", "f.csv:1:1: expected a column \"query\" of queries, found a header of \"grade x\""),
            (options(), "query,x\n", "f.csv:1:1: expected a column \"grade\" of labels"),
            (options(), "grade;query;x\n", "f.csv:1:1: expected columns separated by commas, found semicolons (separate the cells by commas)"),
            (options(), "grade\tx\n", "found tabs (read it as tsv: set ReadOptions::format)"),
            (options().format(Format::Tsv), TABLE, "found commas (read it as csv: set ReadOptions::format)"),
            (with(TableOptions::default()), "a,b\n", "TableOptions::label"),
            (with(TableOptions { query: Some("grade".to_owned()), ..named() }), TABLE, "found \"grade\" for both"),
            (knowing(&["last", "absent"]), TABLE, "expected a column \"absent\" for the feature of that name"),
            (knowing(&["", ""]), TABLE, "expected names of features"),
            (ignoring(&["nate"]), note, "expected a column \"nate\" to leave out"),
            (ignoring(&["grade"]), note, "that are not needed, found \"grade\""),
            (ignoring(&["query"]), note, "that are not needed, found \"query\""),
            (knowing(&["x"]).table(TableOptions { ignore: vec!["x".to_owned()], ..named() }), note, "that are not needed, found \"x\""),
            (options(), note, "f.csv:2:3: expected a decimal number in the column \"note\", found \"red, blue\" (to leave a column out, put its name into TableOptions::ignore)"),
            (options(), "grade,query,x\n1,a,nan\n", "f.csv:2:5: expected a finite number in the column \"x\", found \"nan\""),
            (options(), "grade,query,x\n,a,1\n", "f.csv:2:1: expected a decimal number in the column \"grade\", found an empty cell"),
            (options(), "grade,query,x\n1,,1\n", "f.csv:2:3: expected a query identifier, found an empty cell"),
            (options(), "grade,query,x\n1,NULL,1\n", "f.csv:2:3: expected a query identifier, found \"NULL\", a missing value"),
            (options(), "grade,query,x\n1,a\n", "f.csv:2:1: expected 3 cells, as in the header, found 2"),
            (options(), "grade,query,x\n1,a,1,\n", "f.csv:2:1: expected 3 cells, as in the header, found 4"),
            (options(), "grade,query,x\n1,a,\"2\n1,a,3\n", "f.csv:2:5: expected a closing quote in the same line, found \"\\\"2\""),
            (options(), "grade,query,x\n1,a,\"5\"1\n", "f.csv:2:8: expected nothing between a closing quote and the end of its cell, found \"1\""),
            (options(), "grade,query,x\n1,a,1\n1,b,1\n1,a,1\n", "f.csv:4:3: expected the rows of a query next to each other, found query \"a\" again, which began on line 2"),
        ] {
            let error = options.read_from(text.as_bytes(), "f.csv").unwrap_err().to_string();
            let expected = if message.starts_with("f.csv") { error.starts_with(message) } else { error.contains(message) };
            assert!(expected, "{error}\n{message}");
        }
    }
}
