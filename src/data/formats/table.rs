//! Tables with a header: values separated by commas or tabs, quoted where they must be.
//!
//! A row is a line, or several lines if a quoted cell has line breaks. A quote that is never closed is refused, and
//! so is a quote that swallows rows. [`TableOptions`](super::TableOptions) name the columns of labels and queries,
//! and the columns to leave out. The others are features, named by their titles. Data for a model, or besides
//! training data, are matched by name in any order. Columns of other names are left out.

use std::borrow::Cow;
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use rankrls_files::error::{Fault, ReadError, quote};
use rankrls_files::input::Source;
use rankrls_files::text::each_line;

use super::build::build;
use super::cells::{Cell, Records, cells, named_separator, placed, takes_rows};
use super::header::{Cells, Header};
use super::number::{self, BadNumber};
use super::options::{Loaded, ReadOptions};
use super::stray::{SeveralRows, check, plain};
use super::text::Text;
use super::token::{cell_id, no_decimal, no_number};
use crate::data::missing::Missing;
use crate::data::names::{FeatureNames, IndexBase};
use crate::data::packed::RowPacker;
use crate::data::queries::Queries;

/// Bytes of an entry while it is read, and again in columns.
const ENTRY: u64 = 2 * 12;

/// Bytes of a row besides its entries, with a new query.
const ROW: u64 = 4 * 8 + 64;

/// Bytes of a doubt besides its identifier.
const DOUBT: u64 = 320;

/// A record, perhaps of several lines, the first of which has the number `began`.
struct Row<'r> {
    bytes: &'r [u8],
    delimiter: u8,
    cells: &'r [Cell<'r>],
    began: u64,
}

/// The rows so far.
struct TableRows<'o> {
    options: &'o ReadOptions,
    packer: RowPacker,
    text: Text,
    /// Identifiers that rows may have but for a stray quote, and what to say where there is such a query: the first.
    doubts: HashMap<String, (u64, Fault)>,
}

impl TableRows<'_> {
    /// Adds a row.
    fn add(&mut self, header: &Header, row: &Row<'_>) -> Result<(), Fault> {
        let width = header.titles.len();
        if row.cells.len() != width {
            let expected = format!("{width} cells, as in the header");
            return Err(Fault::mismatch(expected, row.cells.len().to_string()));
        }
        let (mut label, mut entries) = (0.0, 0);
        for (place, (title, cell)) in header.titles.iter().zip(row.cells).enumerate() {
            let (trimmed, column) = (cell.text.trim_ascii(), cell.column);
            match header.cells(place) {
                Cells::Others => {}
                Cells::Query => {
                    self.query(trimmed, column - 1, row.began)?;
                    self.plain_query(cell, row);
                }
                Cells::Label => {
                    // A missing label must not be invented.
                    let missing = self.options.unlabelled.then_some(0.0);
                    let found = number_in(trimmed, title, missing, false);
                    label = found.map_err(|fault| fault.at_column(column))?;
                }
                Cells::Values(feature) => {
                    let missing = self.options.table.missing.map(Missing::in_place);
                    let found = number_in(trimmed, title, missing, true);
                    let value = found.map_err(|fault| fault.at_column(column))?;
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
        self.text.check_memory(0, self.options.memory.left())
    }

    /// Refuses a row that may be more than one, or doubts it.
    fn one_row(&mut self, row: &Row<'_>, header: Option<&Header>) -> Result<(), Fault> {
        let broken = row.cells.iter().find(|cell| cell.text.contains(&b'\n'));
        let Some(broken) = broken else {
            return Ok(());
        };
        let may_miss = self.options.unlabelled || self.options.table.missing.is_some();
        let fault = || takes_rows(row.bytes, broken.column);
        let ids = check(row.bytes, row.delimiter, row.cells, header, may_miss);
        for id in ids.map_err(|SeveralRows| fault())? {
            self.doubt(id, row, fault);
        }
        Ok(())
    }

    /// Doubts that a row has its own query where there is one of the identifier `id`.
    fn doubt(&mut self, id: String, row: &Row<'_>, fault: impl FnOnce() -> Fault) {
        if let Entry::Vacant(first) = self.doubts.entry(id) {
            self.text.memory += DOUBT + first.key().len() as u64;
            first.insert(placed(fault(), row.began, row.bytes));
        }
    }

    /// Doubts an identifier with quotes in a cell that begins with none: programs that write commas quote it.
    fn plain_query(&mut self, cell: &Cell<'_>, row: &Row<'_>) {
        // What has quotes in a quoted cell is a copy without half of them.
        if let Cow::Borrowed(id) = cell.text
            && row.delimiter != b'\t'
            && memchr::memchr(b'"', id).is_some()
        {
            let plain = plain(id);
            let plain = String::from_utf8_lossy(&plain).into();
            self.doubt(plain, row, || stray_in_query(id).at_column(cell.column));
        }
    }

    /// Adds a row of the query `id`, which begins after `before` bytes.
    fn query(&mut self, id: &[u8], before: usize, line: u64) -> Result<(), Fault> {
        let text = cell_id(id, before, "an empty cell")?;
        self.text.memory += 2 * text.len() as u64;
        self.text.groups.add(text, 1, line);
        Ok(())
    }
}

/// The fault of an identifier beside that of another query without its quotes.
fn stray_in_query(id: &[u8]) -> Fault {
    let expected = "no quotes in a query identifier that is another query without them";
    let remedy = "take them out if they are stray, else quote the cell and double the quotes in it";
    Fault::new(expected, quote(id)).remedy(remedy)
}

/// The number in a cell of the column `title`, which is a value or a label, or `missing`.
fn number_in(cell: &[u8], title: &str, missing: Option<f64>, is_value: bool) -> Result<f64, Fault> {
    let parsed = if is_value {
        number::value(cell)
    } else {
        number::number(cell)
    };
    let bad = match (parsed, cell) {
        (Ok(value), _) => return Ok(value),
        (Err(_), b"True" | b"true" | b"TRUE") => return Ok(1.0),
        (Err(_), b"False" | b"false" | b"FALSE") => return Ok(0.0),
        (Err(bad), _) => bad,
    };
    if let Some(value) = missing.filter(|_| bad.is_missing(cell)) {
        return Ok(value);
    }
    let found = if cell.is_empty() {
        "an empty cell".to_owned()
    } else {
        quote(cell)
    };
    let what = format!("number in the column {}", quote(title.as_bytes()));
    Err(match bad {
        _ if is_value => no_number(bad, cell, found, &format!("a decimal {what}"), &what),
        BadNumber::NotFinite => Fault::new(format!("a finite {what}"), found),
        _ => no_decimal(Fault::new(format!("a decimal {what}"), found), cell),
    })
}

pub(super) fn read(
    source: Source<'_>,
    options: &ReadOptions,
    delimiter: u8,
) -> Result<Loaded, ReadError> {
    let name = source.name.clone();
    let mut header = None;
    let mut rows = TableRows {
        options,
        packer: RowPacker::default(),
        text: Text::new(name.clone()),
        doubts: HashMap::new(),
    };
    let mut records = Records::new(delimiter);
    each_line(source, options.memory.left(), |number, line| {
        let first = header.is_none() && records.at_start();
        // Other programs write a line before the byte order mark.
        let mark = line.strip_prefix("\u{feff}".as_bytes());
        let line = mark.filter(|_| first).unwrap_or(line);
        if let Some(separator) = named_separator(line).filter(|_| first) {
            records.delimiter = separator;
            return Ok(0);
        }
        let held = rows.text.memory + records.held();
        // In a table of one column, it is a row with an empty cell.
        let is_row = header
            .as_ref()
            .is_some_and(|header: &Header| header.titles.len() == 1);
        if records.at_start() && line.is_empty() && !is_row {
            return Ok(held);
        }
        let Some((began, record)) = records.next(number, line) else {
            return Ok(held);
        };
        let mut take = || {
            let delimiter = records.delimiter;
            let row = Row {
                bytes: &record,
                delimiter,
                cells: &cells(&record, delimiter)?,
                began,
            };
            rows.one_row(&row, header.as_ref())?;
            match &header {
                None => {
                    let found = Header::new(row.cells, options)?;
                    rows.text.memory = found.memory();
                    header = Some(found);
                }
                Some(header) => rows.add(header, &row)?,
            }
            Ok(rows.text.memory)
        };
        take().map_err(|fault| placed(fault, began, &record))
    })?;
    if let Some((line, fault)) = records.unclosed() {
        return Err(fault.at(&name, line));
    }
    let header = header.ok_or_else(|| Fault::no_rows().of(&name))?;
    loaded(rows, header, &name)
}

/// The first doubt about a row whose query exists.
fn doubted(doubts: HashMap<String, (u64, Fault)>, queries: &Queries) -> Option<(u64, Fault)> {
    if doubts.is_empty() {
        return None;
    }
    let ids: HashSet<&str> = queries.ids()?.iter().collect();
    let real = doubts.into_iter().filter(|(id, _)| ids.contains(&**id));
    real.map(|(_, fault)| fault).min_by_key(|(line, _)| *line)
}

/// The data set of all rows.
fn loaded(rows: TableRows<'_>, header: Header, name: &str) -> Result<Loaded, ReadError> {
    let (options, mut text) = (rows.options, rows.text);
    text.packed = rows.packer.finish().into();
    text.width = header.names.len();
    let mut loaded = build(text, IndexBase::One, options)?;
    if let Some((line, fault)) = doubted(rows.doubts, loaded.dataset.queries()) {
        return Err(fault.at(name, line));
    }
    if options.columns.is_none() {
        let named = loaded.dataset.with_names(FeatureNames::new(header.names));
        loaded.dataset = named.map_err(|error| Fault::data(&error).of(name))?;
    }
    Ok(loaded)
}

#[cfg(test)]
mod tests {
    use super::super::format::Format;
    use super::super::options::{RowQueries, TableOptions};
    use super::*;
    use crate::data::Dataset;
    use rankrls_files::{ReadErrorKind, Remedy};

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
        options().width(names.len()).columns(names)
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
    fn a_cell_a_header_and_ids_of_any_size_are_held_to_the_limit() {
        let long = "x".repeat(1 << 20);
        let many: Vec<String> = (0..1 << 14).map(|n| n.to_string()).collect();
        for text in [
            format!("grade,query,x\n1,a,\"{long}"),
            format!("grade,query,{long}\n1,a,1\n"),
            format!("grade,query,x\n1,{long},1\n"),
            format!("grade,query,{}\n", many.join(",")),
        ] {
            let limited = options().memory(1 << 19);
            let error = limited.read_from(text.as_bytes(), "f").unwrap_err();
            assert_eq!(error.kind(), ReadErrorKind::TooLarge);
        }
    }

    #[test]
    fn other_data_are_matched_by_name() {
        let options = knowing(&["last", "first"]);
        let data = read(&options, TABLE);
        assert_eq!((data.width(), data.names()), (2, None));
        assert_eq!(columns(&data)[0], (0, &[0, 1][..], &[-1.0, 100.0][..]));
        assert_eq!(columns(&data)[1].0, 1);
        // Columns that nobody asks for may hold anything.
        let bare = options.table(TableOptions::default()).unlabelled(true);
        let data = read(&bare, "first,note,last\n1,words,2\n");
        assert_eq!((data.labels(), data.nonzeros()), (&[0.0][..], 2));
    }

    #[test]
    fn missing_cells_are_what_was_said() {
        let text = "grade,query,x,y\n1,a,,2\n0,a,NULL,1\n";
        let data = read(&filling(Missing::Value(-1.0)), text);
        assert_eq!(columns(&data)[0], (0, &[0, 1][..], &[-1.0, -1.0][..]));
        let words = ",NA,N/A,nan,NaN,null,NULL,None,<NA>,#N/A,n/a,-nan, NA ,\"\",.,?,\\N,-1.#IND,1.797e308,\
            -1.7976931348623157e308,3.4028235e38,\
            1.79769313486232e308,9223372036854775807,-2147483648,-nan(ind)";
        for word in words.split(',') {
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
        let data = read(&filling(Missing::Mean), text);
        assert_eq!(data.input_rows(), Some(&[0, 2, 1, 3, 4][..]));
        let rows = &[0, 1, 2, 3, 4][..];
        // Query a has no y, so it takes the mean of all.
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
    fn a_quoted_cell_may_have_line_breaks() {
        let text = "query,note,grade,\"x\n(cm)\"\na,\"red,\r\nor \"\"blue\"\"\n\n\",1,2\nb,\"\rq\",0,\"3\"\n\
            c,\"1,2,\n5\",1,4\n";
        let data = read(&ignoring(&["note"]), text);
        assert_eq!(data.names().unwrap().iter().collect::<Vec<_>>(), ["x (cm)"]);
        assert_eq!(columns(&data), [(0, &[0, 1, 2][..], &[2.0, 3.0, 4.0][..])]);
        // Faults elsewhere are still reported.
        let error = ignoring(&["note"])
            .read_from(text.replace(",4", ",z").as_bytes(), "f")
            .unwrap_err();
        assert_eq!(error.place().unwrap().line, 9);
    }

    /// One or two surplus quotes never lose a row in silence, among any other quotes and lines.
    #[test]
    fn no_quote_takes_rows_into_its_cell() {
        for (header, rows) in [
            (
                "query,text,grade,x\n",
                "a,p,1,2\na,q,0,1\nb,r,1,2\nb,s,0,5\n",
            ),
            (
                "query,text,grade,x\n",
                "a,\"p\",1,2\na,\"q, r\",0,1\nb,\"r\n\",1,2\nb,\"\",0,5\n",
            ),
            (
                "query,text,grade,x\n",
                "a,5\" pipe,1,2\na,7\",0,1\nb,\"8\"\"\",1,2\nb,9\" x,0,5\n",
            ),
            (
                "text,query,grade,x\n",
                "p,a,1,2\nq,a,0,1\nr,b,1,2\ns,b,0,5\n",
            ),
            (
                "text,query,grade,x\n",
                "\"p\nq\",a,1,2\n\"r\n\",a,0,1\n\"\",b,1,2\ns,b,0,5\n",
            ),
            (
                "query,x,grade,text\n",
                "a,2,1,\"p\nq\"\na,1,0,\"\nr, s\"\nb,2,1,\"t\"\nb,5,0,\"\"\n",
            ),
            (
                "query,x,grade,text\n",
                "a,2,1,p\na,1,0,q\nb,2,1,r\nb,5,0,s\n",
            ),
        ] {
            let expected = read(&ignoring(&["text"]), &format!("{header}{rows}"));
            for (after, other) in [
                (1, ""),
                (1, "\n"),
                (2, "\n\n"),
                (1, header),
                (2, "total,,\n"),
                (1, "a,p,1\n"),
            ] {
                let mut lines: Vec<&str> = rows.split_inclusive('\n').collect();
                lines.insert(after, other);
                let whole = format!("{header}{}", lines.concat());
                for first in 0..=whole.len() {
                    for second in first..=whole.len() {
                        let mut text = whole.clone();
                        text.insert(second, '"');
                        if second > first {
                            text.insert(first, '"');
                        }
                        let found = ignoring(&["text"]).read_from(text.as_bytes(), "f");
                        let Ok(loaded) = found else { continue };
                        let data = loaded.dataset;
                        assert_eq!(data.labels(), expected.labels(), "{text}");
                        assert_eq!(columns(&data), columns(&expected), "{text}");
                    }
                }
            }
        }
    }

    /// Programs that write commas quote them, and tabs need no quotes.
    #[test]
    fn quotes_in_queries_are_read_where_no_other_query_lacks_them() {
        let both = ["tv 55", "tv 55\""];
        for (format, text, expected) in [
            (
                Format::Csv,
                "grade,query,x\n1,tv 55,1\n0,\"tv 55\"\"\",2\n",
                &both[..],
            ),
            (
                Format::Tsv,
                "grade\tquery\tx\n1\ttv 55\t1\n0\ttv 55\"\t2\n",
                &both,
            ),
            (
                Format::Csv,
                "grade,query,x\n1,tv 55\",1\n0,tv 65\",2\n",
                &["tv 55\"", "tv 65\""],
            ),
        ] {
            let data = read(&options().format(format), text);
            let ids: Vec<&str> = data.queries().ids().unwrap().iter().collect();
            assert_eq!(ids, expected);
        }
    }

    /// Text of several lines is read if none of its quotes can be stray. Commas and quotes do not matter.
    #[test]
    fn text_of_several_lines_is_read() {
        let reviews = [
            "Great.\n\nWould buy again, and again.",
            "He said \"\"no\"\", and left,\nas I did",
            "\"\"Fine\"\", she wrote,\n\"\"but late\"\"\n",
            "\n- light\n- cheap, sturdy\n\n5 stars, 4 of them earned",
        ];
        for titles in [
            "text,query,grade,x",
            "query,text,grade,x",
            "x,grade,query,text",
        ] {
            let mut text = format!("{titles}\n");
            for (row, review) in reviews.iter().enumerate() {
                let number = (row % 3).to_string();
                let cells = titles.split(',').map(|title| match title {
                    "text" => format!("\"{review}\""),
                    "query" => format!("q{}", row / 2),
                    _ => number.clone(),
                });
                text += &(cells.collect::<Vec<_>>().join(",") + "\n");
            }
            let data = read(&ignoring(&["text"]), &text);
            assert_eq!(data.labels(), [0.0, 1.0, 2.0, 0.0], "{text}");
            assert_eq!(data.queries().offsets(), [0, 2, 4]);
        }
        // The last line may be a row of another query. It is one if the table has that query.
        let text = |query: &str| {
            format!("query,text,grade,x\na,\"p, q\n{query}, r\",1,2\nb,s,0,1\nb,s,1,2\n")
        };
        assert_eq!(read(&ignoring(&["text"]), &text("c")).rows(), 3);
        let error = ignoring(&["text"]).read_from(text("b").as_bytes(), "f");
        let place = error.unwrap_err().place();
        assert_eq!(place, Some(rankrls_files::Place { line: 2, column: 3 }));
    }

    #[test]
    fn tables_of_other_programs_are_read() {
        let expected = read(
            &ignoring(&["text"]),
            "grade,query,x,text\n1,a,0.5,p\n0,a,2,q\n2,b,-1,r\n",
        );
        for text in [
            "sep=,\r\ngrade,query,x,text\r\n1,a,0.5,p\r\n0,a,2,q\r\n2,b,-1,r\r\n",
            "\u{feff}SEP=;\r\r\ngrade;query;x;text\r\r\n1;a;0.5;p\r\r\n0;a;2;q\r\r\n2;b;-1;r\r\r\n",
            "sep=;\n\u{feff}grade;query;x;text\n1;a;0.5;p\n0;a;2;q\n2;b;-1;r\n",
            "\u{feff}\u{feff}grade,query,x,text\n1,a,0.5,p\n0,a,2,q\n2,b,-1,r\n",
            "\u{feff}\n\u{feff}sep=;\r\n\u{feff}grade;query;x;text\n1;a;0.5;p\n0;a;2;q\n2;b;-1;r\n",
            "sep=\t\ngrade\tquery\tx\ttext\n1\ta\t0.5\tp\n0\ta\t2\tq\n2\tb\t-1\tr\n",
            "\n grade , query\t,x ,text\r\r\n\r\r\n1,a,0.5,p\n0,a,2,q\n2,b,-1,r\r\r\n\n\n",
            "\"grade\",\"query\",\"x\",\"text\"\n1,\"a\",0.5,\"p\"\n0,\"a\",2,\"q\"\n2,\"b\",-1,\"r\"\n",
        ] {
            let found = read(&ignoring(&["text"]), text);
            assert_eq!(columns(&found), columns(&expected), "{text}");
            assert_eq!(found.labels(), expected.labels());
            assert_eq!(found.names(), expected.names());
            assert_eq!(found.queries(), expected.queries());
        }
    }

    #[test]
    fn truth_is_a_number() {
        let text = "grade,query,x\nTrue,a,true\nFALSE,a,False\n0,a,TRUE\n";
        let data = read(&options(), text);
        assert_eq!(data.labels(), [1.0, 0.0, 0.0]);
        assert_eq!(columns(&data), [(0, &[0, 2][..], &[1.0, 1.0][..])]);
    }

    #[test]
    fn identifiers_of_queries_are_any_text() {
        let ids = [
            "東京\u{3000}天気",
            "a\u{a0}",
            "a",
            "\u{200f}b",
            "b\u{202f}c#1:2",
            "x\ny",
        ];
        let row = |id: &&str| format!("1,\"{id}\",2\n0,\"{id}\",3\n");
        let text: String = ids.iter().map(row).collect();
        let data = read(&options(), &format!("grade,query,x\n{text}"));
        let found: Vec<&str> = data.queries().ids().unwrap().iter().collect();
        assert_eq!(found, ids);
    }

    #[test]
    fn an_empty_line_is_a_row_of_a_table_of_one_column() {
        let bare = with(TableOptions {
            missing: Some(Missing::Value(-1.0)),
            ..TableOptions::default()
        });
        let bare = bare.unlabelled(true);
        let data = read(&bare, "\nx\n7.5\n\n3\r\n\r\n");
        assert_eq!(
            columns(&data),
            [(0, &[0, 1, 2, 3][..], &[7.5, -1.0, 3.0, -1.0][..])]
        );
        let error = with(TableOptions::default()).unlabelled(true);
        let error = error.read_from(&b"x\n7.5\n\n3\n"[..], "f").unwrap_err();
        assert_eq!(error.place().unwrap().line, 3);
        assert_eq!(error.remedy(), Some(&Remedy::ReadMissing));
    }

    #[test]
    fn columns_without_names_are_left_out_together() {
        let text = ",grade,query,x, \n1,2,a,3,\n2,0,a,4,\n";
        let data = read(&ignoring(&[""]), text);
        assert_eq!(columns(&data), [(0, &[0, 1][..], &[3.0, 4.0][..])]);
        let data = read(&knowing(&["x"]), text);
        assert_eq!(columns(&data), [(0, &[0, 1][..], &[3.0, 4.0][..])]);
    }

    #[test]
    fn columns_are_left_out() {
        let text = "query,note,grade,x,Unnamed: 0\na,\"red, blue\",1,2,0\na,green,0,3,1\n";
        let data = read(&ignoring(&["note", "Unnamed: 0"]), text);
        assert_eq!(data.names().unwrap().iter().collect::<Vec<_>>(), ["x"]);
        assert_eq!(columns(&data), [(0, &[0, 1][..], &[2.0, 3.0][..])]);
        let data = read(&options(), "query,grade,x2,1st\na,1,2,3\n");
        assert_eq!(
            data.names().unwrap().iter().collect::<Vec<_>>(),
            ["x2", "1st"]
        );
    }

    #[test]
    #[rustfmt::skip]
    fn everything_else_is_refused_with_its_place() {
        let header = "grade,query,x\n";
        let note = "query,note,grade,x\na,\"red, blue\",1,2\n";
        for (options, text, message) in [
            (options(), "", "f.csv: expected at least one row, found none"),
            (options(), header, "f.csv: expected at least one row, found none"),
            (options(), "grade,query,x,x\n", "f.csv:1:15: expected a header with each name once, found \"x\" again"),
            (options(), ",query,grade\n", "f.csv:1:1: expected columns of features, found one without a name (leave it out by --ignore=\"\""),
            (options(), "query,grade,x,\" \"\n", "f.csv:1:15: expected columns of features, found one without a name"),
            (options(), "Unnamed: 0,grade,query,x\n", "found \"Unnamed: 0\", an index (leave it out by --ignore=\"Unnamed: 0\""),
            (options(), "grade;query;x\n", "f.csv:1:1: expected a column \"grade\" of labels, found a header of \"grade;query;x\""),
            (options(), "1,2,0.5\n0,1,0.25\n", "f.csv:1:1: expected names of columns, found \"1\" (write a header before the first row, or give the column another name)"),
            (options(), "a,1e-3,grade,query\n", "f.csv:1:3: expected names of columns, found \"1e-3\""),
            (options(), "sep=;\ngrade;query;\"-0,5\"\n", "f.csv:2:13: expected names of columns, found \"-0,5\""),
            (filling(Missing::Mean), "grade,query,x\n1,a,#DIV/0!\n", "f.csv:2:5: expected a decimal number in the column \"x\", found \"#DIV/0!\""),
            (options(), "grade,x\n", "f.csv:1:1: expected a column \"query\" of queries, found a header of \"grade x\""),
            (options(), "query,x\n", "f.csv:1:1: expected a column \"grade\" of labels"),
            (with(TableOptions::default()), "a,b\n", "name that column by --label"),
            (with(TableOptions { query: Some("grade".to_owned()), ..named() }), TABLE, "found \"grade\" for both"),
            (knowing(&["last", "absent"]), TABLE, "expected a column \"absent\" for the feature of that name"),
            (knowing(&["", ""]), TABLE, "expected names of all features, by which the columns of a table are found, found a feature without one"),
            (knowing(&["last", "", "first"]), TABLE, "expected names of all features"),
            (knowing(&["last", "first", "last"]), TABLE, "found \"last\" for two features"),
            (knowing(&["last", "grade"]), TABLE, "found \"grade\" for a feature and for labels or queries"),
            (knowing(&["query"]).unlabelled(true), TABLE, "found \"query\" for a feature and for labels or queries"),
            (filling(Missing::Mean), "grade,x\n1,\n", "expected a column \"query\" of queries, whose means stand for missing values"),
            (ignoring(&["nate"]), note, "expected a column \"nate\" to leave out"),
            (knowing(&["X"]), note, "f.csv:1:1: expected a column \"X\" for the feature of that name, found a header of \"query note grade x\""),
            (options(), "Query,grade,x\n", "of queries, found a header of \"Query grade x\""),
            (options(), "query,relevance,x\n", "found a header of \"query relevance x\""),
            (ignoring(&["grade"]), note, "that are not needed, found \"grade\""),
            (ignoring(&["query"]), note, "that are not needed, found \"query\""),
            (knowing(&["x"]).table(TableOptions { ignore: vec!["x".to_owned()], ..named() }), note, "that are not needed, found \"x\""),
            (options(), note, "f.csv:2:3: expected a decimal number in the column \"note\", found \"red, blue\""),
            (options(), "grade,query,x\n1,a,nan\n", "f.csv:2:5: expected a finite number in the column \"x\", found \"nan\""),
            (options(), "grade,query,x\n,a,1\n", "f.csv:2:1: expected a decimal number in the column \"grade\", found an empty cell"),
            (options(), "grade,query,x\n1,,1\n", "f.csv:2:3: expected a query identifier, found an empty cell"),
            (options(), "grade,query,x\n1,NULL,1\n", "f.csv:2:3: expected a query identifier, found \"NULL\", a missing value"),
            (options(), "grade,query,x\n1,a\n", "f.csv:2:1: expected 3 cells, as in the header, found 2"),
            (options(), "grade,query,x\n1,a,1,\n", "f.csv:2:1: expected 3 cells, as in the header, found 4"),
            (options(), "grade,query,x\n1,a,\"2\n1,a,3\n", "f.csv:2:5: expected a closing quote, found \"\\\"2\\n1,a,3\""),
            (options(), "grade,query,x\n1,\"a,2\n1,a,3\n1,\"b\",3\n", "f.csv:2:3: expected a closing quote, found \"\\\"a,2\\n1,a,3\\n1,\\\"b"),
            (ignoring(&["n"]), "grade,query,x,n\n1,a,2,\"p\n1,a,3,q\"\n1,b,3,s\n", "f.csv:2:7: expected a closing quote, found \"\\\"p\\n1,a,3,q\\\"\" (the quote may take rows into its cell"),
            (options(), "grade,query,x\n1,a,2\n0,a\",3\n", "f.csv:3:3: expected no quotes in a query identifier that is another query without them, found \"a\\\"\" (take them out if they are stray"),
            (options(), "grade,query,x\n1, \"a\",2\n0,a,3\n", "f.csv:2:3: expected no quotes in a query"),
            (ignoring(&["n"]), "n,grade,query,x\n\"p\nq\",1,\"a\",2\n\"p\nq\",1,a\"b,2\nr,0,ab,3\n", "f.csv:5:6: expected no quotes in a query"),
            (options(), "grade,query,\"x\n1,a,3\n", "f.csv:1:13: expected a closing quote"),
            (options(), "grade,query,x\r1,a,3\r0,a,2\r", "f.csv:1:14: expected lines that end in LF or CR LF, found CR alone"),
            (options(), "grade,query,x\n1,a,3\0\n", "f.csv:2:6: expected text, found a NUL byte"),
            (options(), "grade,query,x\n1,a,\"3\0\"\n", "f.csv:2:7: expected text, found a NUL byte"),
            (options(), "grade,query,x\n1,a,1.797e308\n", "f.csv:2:5: expected a number in the column \"x\", found \"1.797e308\", which stands for a missing value (to read missing values"),
            (options(), "grade,query,x\n1,a,1e200\n", "f.csv:2:5: expected a number in the column \"x\" whose square is finite, found \"1e200\""),
            (options(), "grade,query,x\n1,a,\"1,234\"\n", "found \"1,234\""),
            (options(), "grade,query,x\n\"0,5\",a,1\n", "column \"grade\", found \"0,5\" (write a decimal point, and no separators of thousands)"),
            (options(), "grade,query,x\n0,a,\"0,5\"\n", "column \"x\", found \"0,5\" (write a decimal point"),
            (filling(Missing::Mean), "grade,query,x\nNA,a,1\n", "f.csv:2:1: expected a decimal number in the column \"grade\", found \"NA\""),
            (options(), "grade,query,x\n\"1\",1,a,0.5\n", "f.csv:2:1: expected 3 cells, as in the header, found 4"),
            (options(), "Unnamed: 0.1,grade,query,x\n", "found \"Unnamed: 0.1\", an index (leave it out by --ignore=\"Unnamed: 0.1\""),
            (options(), "grade,query,x,Unnamed: 3\n", "found \"Unnamed: 3\", an index"),
            (options(), "grade,query,Unnamed: 0_level_0\n", "an index"),
            (options(), "grade,query,x\n1,a,\"5\"1\n", "f.csv:2:8: expected nothing between a closing quote and the end of its cell, found \"1\" (a cell that begins with a quote ends with one"),
        ] {
            let error = options.read_from(text.as_bytes(), "f.csv").unwrap_err().to_string();
            let expected = if message.starts_with("f.csv") { error.starts_with(message) } else { error.contains(message) };
            assert!(expected, "{error}\n{message}");
        }
    }
}
