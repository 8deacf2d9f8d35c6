//! Tables. A column is defined once, by its title, its kind and its cells. Text for people and CSV for scripts both
//! come from these columns.

use std::io::{self, Write};

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Width, presets};
use serde_json::Value;

use super::numbers::{exact, measure, number, printable};

/// Columns over `rows`. A cell is a number, a text, yes or no, or null for no value.
#[derive(Debug)]
pub(crate) struct Sheet<'a, R> {
    rows: &'a [R],
    columns: Vec<Column>,
}

/// The columns of a sheet.
#[derive(Debug)]
pub(crate) struct Table(Vec<Column>);

#[derive(Debug)]
struct Column {
    title: String,
    kind: Kind,
    cells: Vec<Value>,
}

/// The form of a column in text.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Number,
    Measure,
    Words,
}

impl<'a, R> Sheet<'a, R> {
    /// A sheet without columns.
    pub(crate) fn of(rows: &'a [R]) -> Self {
        Self {
            rows,
            columns: Vec::new(),
        }
    }

    fn column<V: Into<Value>>(
        mut self,
        kind: Kind,
        title: impl Into<String>,
        cell: impl Fn(&'a R) -> V,
    ) -> Self {
        self.columns.push(Column {
            title: title.into(),
            kind,
            cells: self.rows.iter().map(|row| cell(row).into()).collect(),
        });
        self
    }

    /// Adds a column of counts, of numbers with six digits, or of texts about numbers.
    pub(crate) fn number<V: Into<Value>>(
        self,
        title: impl Into<String>,
        cell: impl Fn(&'a R) -> V,
    ) -> Self {
        self.column(Kind::Number, title, cell)
    }

    /// Adds a column of numbers with four decimals.
    pub(crate) fn measure<V: Into<Value>>(
        self,
        title: impl Into<String>,
        cell: impl Fn(&'a R) -> V,
    ) -> Self {
        self.column(Kind::Measure, title, cell)
    }

    /// Adds a column for each title. `cell` takes a row and the place of the title.
    pub(crate) fn measures<V: Into<Value>>(
        self,
        titles: impl IntoIterator<Item = impl ToString>,
        cell: impl Fn(&'a R, usize) -> V,
    ) -> Self {
        let titles = titles.into_iter().enumerate();
        titles.fold(self, |sheet, (place, title)| {
            sheet.measure(title.to_string(), |row| cell(row, place))
        })
    }

    /// Adds a column of names or lists, which may wrap between words.
    pub(crate) fn words<V: Into<Value>>(
        self,
        title: impl Into<String>,
        cell: impl Fn(&'a R) -> V,
    ) -> Self {
        self.column(Kind::Words, title, cell)
    }

    /// The columns, without their rows.
    pub(crate) fn table(self) -> Table {
        Table(self.columns)
    }

    /// The text for people, without blanks and a line break at its end.
    pub(crate) fn text(self) -> String {
        self.table().text()
    }

    /// Writes all columns, and numbers in full. Writes titles in lower case, with `_` for blanks.
    pub(crate) fn csv(&self, writer: &mut dyn Write) -> io::Result<()> {
        let mut writer = csv::Writer::from_writer(writer);
        let titles = self.columns.iter().map(|column| &column.title);
        writer.write_record(titles.map(|title| title.to_lowercase().replace(' ', "_")))?;
        for row in 0..self.rows.len() {
            let cells = self.columns.iter().map(|column| &column.cells[row]);
            writer.write_record(cells.map(in_full))?;
        }
        writer.flush()
    }
}

impl Table {
    /// The text for people, without blanks and a line break at its end. A column whose rows all lack a value drops
    /// out.
    pub(crate) fn text(&self) -> String {
        self.text_within(terminal())
    }

    fn shown(&self) -> impl Iterator<Item = &Column> {
        let shown =
            |column: &&Column| column.cells.is_empty() || !column.cells.iter().all(Value::is_null);
        self.0.iter().filter(shown)
    }

    fn text_within(&self, width: Option<u16>) -> String {
        let columns: Vec<Printed> = self.shown().map(Printed::of).collect();
        let blocks = blocks(&columns, width).into_iter();
        let blocks = blocks.map(|columns| block(&columns, width));
        blocks.collect::<Vec<_>>().join("\n\n")
    }
}

/// The width of the terminal, if there is one. Ranks under `mpirun` have terminals without a width.
fn terminal() -> Option<u16> {
    comfy_table::Table::new().width().filter(|&width| width > 0)
}

/// A cell of CSV.
fn in_full(cell: &Value) -> String {
    match cell {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Number(value) if value.is_f64() => value.as_f64().map_or_else(String::new, exact),
        value => value.to_string(),
    }
}

/// Characters of the longest cell of a text: longer ones are cut. A table's widths have 16 bits.
const LONGEST: usize = 1000;

/// Text on one line, cut if it is too long for people.
fn cut(text: &str) -> String {
    match text.char_indices().nth(LONGEST) {
        None => printable(text),
        Some((end, _)) => format!("{}…", printable(&text[..end])),
    }
}

/// A cell of a text.
fn for_people(cell: &Value, kind: Kind) -> String {
    match cell {
        Value::Null => "-".to_owned(),
        Value::Bool(yes) => if *yes { "yes" } else { "no" }.to_owned(),
        Value::String(text) => cut(text),
        Value::Number(value) if value.is_f64() => match kind {
            Kind::Measure => measure(value.as_f64()),
            _ => number(value.as_f64()),
        },
        value => value.to_string(),
    }
}

/// A column as text.
struct Printed {
    kind: Kind,
    /// The title and the cells.
    lines: Vec<String>,
    /// The width of the longest word if the column may wrap, else of the longest cell.
    least: u16,
}

impl Printed {
    fn of(column: &Column) -> Self {
        let cells = column
            .cells
            .iter()
            .map(|cell| for_people(cell, column.kind));
        let lines: Vec<String> = [cut(&column.title)].into_iter().chain(cells).collect();
        let mut table = comfy_table::Table::new();
        table.add_rows(lines.iter().map(|line| match column.kind {
            Kind::Words => [line.replace(' ', "\n")],
            _ => [line.clone()],
        }));
        Self {
            kind: column.kind,
            lines,
            least: table.column_max_content_widths()[0],
        }
    }
}

/// Blanks between columns.
const GAP: u16 = 2;

/// The columns side by side: as many as fit. Others come below, beside the first one again.
fn blocks(columns: &[Printed], width: Option<u16>) -> Vec<Vec<&Printed>> {
    let mut blocks = vec![Vec::new()];
    let mut used = 0_u16;
    for column in columns {
        let block = blocks.len() - 1;
        let narrow = width.is_some_and(|width| used.saturating_add(column.least) > width);
        if blocks[block].len() > 1 && narrow {
            blocks.push(vec![&columns[0], column]);
            used = columns[0].least + GAP;
        } else {
            blocks[block].push(column);
        }
        used = used.saturating_add(column.least + GAP);
    }
    blocks
}

/// Columns side by side, without rules. On a terminal the table keeps to its width, but breaks no word.
fn block(columns: &[&Printed], width: Option<u16>) -> String {
    let mut table = comfy_table::Table::new();
    table.load_preset(presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = width {
        table.set_width(width);
    }
    for line in 0..columns.first().map_or(0, |first| first.lines.len()) {
        table.add_row(columns.iter().map(|column| &column.lines[line]));
    }
    let last = columns.len().saturating_sub(1);
    for (place, (set, column)) in table.column_iter_mut().zip(columns).enumerate() {
        let gap = if place < last { GAP } else { 0 };
        set.set_padding((0, gap));
        set.set_constraint(match column.kind {
            Kind::Words => ColumnConstraint::LowerBoundary(Width::Fixed(column.least + gap)),
            _ => ColumnConstraint::ContentWidth,
        });
        if column.kind != Kind::Words {
            set.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The lines of a table on a terminal of this width.
    fn lines(table: &Table, width: u16) -> Vec<String> {
        let text = table.text_within(Some(width));
        text.lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_column_is_text_and_csv() {
        let sum = 0.1 + 0.2;
        let rows = [("bounded", Some(sum), true), ("a, \x1b", None, false)];
        let sheet = Sheet::of(&rows)
            .words("strategy", |row| row.0)
            .number("LQO error", |row| row.1)
            .measure("LQO cindex", |row| row.1)
            .number("exact", |row| row.2)
            .number("seed", |_| None::<u64>);
        let mut bytes = Vec::new();
        sheet.csv(&mut bytes).unwrap();
        insta::assert_snapshot!(sheet.table().text_within(None), @r"
        strategy   LQO error  LQO cindex  exact
        bounded     0.300000      0.3000    yes
        a, \u{1b}          -           -     no
        ");
        let csv = String::from_utf8(bytes).unwrap();
        let expected = "strategy,lqo_error,lqo_cindex,exact,seed\n\
            bounded,0.30000000000000004,0.30000000000000004,true,\n\
            \"a, \x1b\",,,false,\n";
        assert_eq!(csv, expected);
        let empty = Sheet::of(&rows[..0]).number("k", |_| 0_u64);
        assert_eq!(empty.table().text_within(None), "k");
    }

    #[test]
    fn names_are_wrapped_on_terminals_only() {
        let rows = [
            ("1", "a".to_owned(), 0.5),
            ("10", "long ".repeat(30), -0.25),
        ];
        let sheet = Sheet::of(&rows)
            .number("step", |row| row.0)
            .words("name", |row| row.1.as_str())
            .number("weight", |row| row.2)
            .table();
        let whole = sheet.text_within(None);
        assert_eq!(whole.lines().count(), 3, "{whole}");
        let wrapped = lines(&sheet, 80);
        assert!(wrapped.len() > 3);
        assert!(wrapped.iter().all(|line| line.len() <= 80), "{wrapped:?}");
    }

    #[test]
    fn words_stay_whole() {
        let word = "w".repeat(50);
        let rows = [[format!("a {word} b"), "other ".repeat(20)]];
        let sheet = Sheet::of(&rows)
            .number("step", |_| 1_u64)
            .words("name", |row| row[0].as_str())
            .words("query", |row| row[1].as_str())
            .number("weight", |_| 0.5)
            .table();
        let narrow = lines(&sheet, 80);
        assert!(narrow.iter().all(|line| line.len() <= 80), "{narrow:?}");
        let words = || narrow.iter().flat_map(|line| line.split_whitespace());
        assert_eq!(words().filter(|&found| found == word).count(), 1);
        assert_eq!(words().filter(|&found| found == "other").count(), 20);
        // A word that does not fit stays whole, too.
        let narrow = lines(&sheet, 30);
        assert!(narrow.iter().any(|line| line.contains(&word)), "{narrow:?}");
    }

    /// A table's widths have 16 bits.
    #[test]
    fn long_cells_are_cut_for_people_alone() {
        let rows = [["a".repeat(70_000), "b ".repeat(70_000), "中".repeat(70_000)]];
        let sheet = Sheet::of(&rows)
            .words("x".repeat(70_000), |row| row[0].as_str())
            .words("words", |row| row[1].as_str())
            .words("wide", |row| row[2].as_str())
            .number("text", |row| row[0].as_str())
            .measure("measure", |row| row[1].as_str());
        let mut csv = Vec::new();
        sheet.csv(&mut csv).unwrap();
        assert!(csv.len() > 6 * 70_000);
        let table = sheet.table();
        for width in [None, Some(1), Some(80), Some(u16::MAX)] {
            let text = table.text_within(width);
            assert!(text.matches('…').count() >= 6, "{width:?}");
            assert!(text.chars().filter(|&char| char == 'a').count() <= 6 * LONGEST);
        }
        // The columns make a table of such a width.
        let wide = (0..9000).map(|place| place.to_string());
        let table = Sheet::of(&[()]).measures(wide, |(), _| 0.5).table();
        assert_eq!(table.text_within(None).lines().count(), 2);
        assert!(
            table
                .text_within(Some(80))
                .lines()
                .all(|line| line.len() <= 80)
        );
    }

    #[test]
    fn columns_without_room_come_below() {
        let sheet = Sheet::of(&[()])
            .number("step", |()| 1_u64)
            .number("LQO error", |()| 1.0)
            .measure("LQO cindex", |()| 0.5)
            .measure("test cindex", |()| 0.6)
            .table();
        insta::assert_snapshot!(lines(&sheet, 30).join("\n"), @r"
        step  LQO error  LQO cindex
           1    1.00000      0.5000

        step  test cindex
           1       0.6000
        ");
        assert_eq!(lines(&sheet, 40).len(), 2);
    }
}
