//! Where results go, standard output and files, and how they look there: JSON, tables and numbers.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, Width, presets};
use rankrls::Metric;
use rankrls::data::{CompleteOutput, Output};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::args::usage;

/// Writes to standard output. A closed pipe, such as that of `head`, is not an error.
pub(crate) fn print(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let mut output = BufWriter::new(io::stdout().lock());
    let written = write(&mut output).and_then(|()| output.flush());
    match written {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
            // The rest of the buffer would fail once more.
            let _ = output.into_parts();
            Ok(())
        }
        written => written.context("cannot write to standard output"),
    }
}

/// A file that was found writable before the work began.
#[derive(Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    /// A pipe or device, which is opened once. For others the temporary file that tells whether
    /// they can be written is not kept: a process that is killed would leave it behind.
    opened: Option<Output>,
}

impl OutputFile {
    pub(crate) fn create(path: &Path) -> Result<Self> {
        if path.as_os_str() == "-" {
            return Err(usage("an output takes the name of a file, not -"));
        }
        let output = Output::create(path).with_context(|| refusal(path))?;
        let special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        Ok(Self {
            path: path.to_owned(),
            opened: special.then_some(output),
        })
    }

    /// Writes the file, which appears when all is written.
    pub(crate) fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        self.complete(write)?.commit()
    }

    /// Writes the file, which appears when it is committed.
    pub(crate) fn complete(
        self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<CompleteFile> {
        let Self { path, opened } = self;
        let write = || {
            let mut output = opened.map_or_else(|| Output::create(&path), Ok)?;
            write(&mut output)?;
            output.complete()
        };
        match write() {
            Ok(output) => Ok(CompleteFile { path, output }),
            Err(error) => Err(error).with_context(|| refusal(&path)),
        }
    }
}

/// A file that has all its content, but not yet its name.
#[derive(Debug)]
pub(crate) struct CompleteFile {
    path: PathBuf,
    output: CompleteOutput,
}

impl CompleteFile {
    /// Gives the file its name.
    pub(crate) fn commit(self) -> Result<()> {
        let Self { path, output } = self;
        output.commit().with_context(|| refusal(&path))
    }
}

fn refusal(path: &Path) -> String {
    format!("cannot write to {}", path.display())
}

/// Pairs that become a JSON object, in their order.
#[derive(Debug)]
pub(crate) struct Object<V>(pub(crate) Vec<(String, V)>);

impl<V: Serialize> Serialize for Object<V> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (key, value) in &self.0 {
            map.serialize_entry(key, value)?;
        }
        map.end()
    }
}

/// Values of measures by their names.
pub(crate) fn by_name<V: Copy>(metrics: &[Metric], values: &[V]) -> Object<V> {
    let names = metrics.iter().map(Metric::to_string);
    Object(names.zip(values.iter().copied()).collect())
}

/// A table without lines, numbers to the right. Where standard output is a terminal, it keeps to its
/// width without breaking a word that fits: columns of names and lists are wrapped between words, and
/// columns that find no room come below, beside the first one again.
#[derive(Debug)]
pub(crate) struct TextTable {
    header: Vec<String>,
    rows: Vec<Vec<String>>,
    width: Option<u16>,
}

pub(crate) fn table<S: ToString>(header: &[S]) -> TextTable {
    TextTable {
        header: header.iter().map(S::to_string).collect(),
        rows: Vec::new(),
        // Ranks under `mpirun` have terminals without a width.
        width: Table::new().width().filter(|&width| width > 0),
    }
}

/// Blanks between columns.
const GAP: u16 = 2;

impl TextTable {
    pub(crate) fn add_row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The text, without blanks at the ends of lines.
    pub(crate) fn trim_fmt(&self) -> String {
        let least = self.least_widths();
        let blocks = self.blocks(&least).into_iter();
        let blocks = blocks.map(|columns| self.block(&columns, &least));
        blocks.collect::<Vec<_>>().join("\n\n")
    }

    /// The columns that stand beside each other: as many as fit.
    fn blocks(&self, least: &[u16]) -> Vec<Vec<usize>> {
        let all = (0..self.header.len()).collect();
        let Some(width) = self.width else {
            return vec![all];
        };
        let mut blocks = vec![Vec::new()];
        let mut used = 0;
        for column in all {
            let block = blocks.len() - 1;
            if blocks[block].len() > 1 && used + least[column] > width {
                blocks.push(vec![0, column]);
                used = least[0] + GAP;
            } else {
                blocks[block].push(column);
            }
            used += least[column] + GAP;
        }
        blocks
    }

    /// The widths of the longest words, and of whole cells where they stay whole.
    fn least_widths(&self) -> Vec<u16> {
        let lines = |(title, cell): (&String, &String)| match kind(title) {
            Kind::Text => cell.replace(' ', "\n"),
            _ => cell.clone(),
        };
        let line = |cells: &Vec<String>| -> Vec<String> {
            self.header.iter().zip(cells).map(lines).collect()
        };
        let mut table = Table::new();
        table.set_header(line(&self.header));
        table.add_rows(self.rows.iter().map(line));
        table.column_max_content_widths()
    }

    fn block(&self, columns: &[usize], least: &[u16]) -> String {
        let line = |cells: &Vec<String>| -> Vec<String> {
            columns
                .iter()
                .map(|&column| cells[column].clone())
                .collect()
        };
        let mut table = Table::new();
        table.load_preset(presets::NOTHING);
        table.set_content_arrangement(ContentArrangement::Dynamic);
        match self.width {
            Some(width) => table.set_width(width),
            None => table.force_no_tty(),
        };
        table.set_header(line(&self.header));
        for row in &self.rows {
            table.add_row(line(row));
        }
        for (place, &number) in columns.iter().enumerate() {
            let Some(column) = table.column_mut(place) else {
                continue;
            };
            let gap = if place + 1 < columns.len() { GAP } else { 0 };
            column.set_padding((0, gap));
            let kind = kind(&self.header[number]);
            column.set_constraint(match kind {
                Kind::Text => ColumnConstraint::LowerBoundary(Width::Fixed(least[number] + gap)),
                _ => ColumnConstraint::ContentWidth,
            });
            if matches!(kind, Kind::Number) {
                column.set_cell_alignment(CellAlignment::Right);
            }
        }
        table.trim_fmt()
    }
}

/// What a column has.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Number,
    /// A word, such as a strategy.
    Word,
    /// What may be wrapped.
    Text,
}

fn kind(title: &str) -> Kind {
    match title {
        "strategy" | "measure" | "role" | "ranking" | "pair" => Kind::Word,
        "name" | "query" | "fold" | "features" | "file" | "verdict" => Kind::Text,
        _ => Kind::Number,
    }
}

/// Six significant digits: fixed where that is readable, else with an exponent.
pub(crate) fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e7).contains(&magnitude) {
        return format!("{value:.5e}");
    }
    let decimals = [1e5, 1e4, 1e3, 1e2, 1e1, 1e0, 1e-1, 1e-2, 1e-3];
    let decimals = decimals
        .iter()
        .take_while(|&&power| magnitude < power)
        .count();
    format!("{value:.decimals$}")
}

/// A number in full, as it was given, but not in hundreds of zeros.
pub(crate) fn format_exact(value: f64) -> String {
    if value == 0.0 || (1e-6..1e15).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// A number in full where that is short, else six digits of it: a share of the unit has many.
pub(crate) fn short(value: f64) -> String {
    let exact = format_exact(value);
    let digits = format!("{value:.5e}").parse();
    if exact.len() <= 10 {
        exact
    } else {
        digits.map_or(exact, format_exact)
    }
}

/// A ridge parameter, and what share of the unit it is.
pub(crate) fn ridge(lambda: f64, unit: f64) -> String {
    let (share, lambda) = (lambda / unit, short(lambda));
    if !(share.is_finite() && share > 0.0) {
        return lambda;
    }
    if !(1e-4..1e6).contains(&share) {
        return format!("{lambda} ({share:.2e} u)");
    }
    // Three digits.
    let powers = [1e2, 1e1, 1e0, 1e-1, 1e-2, 1e-3];
    let decimals = powers.iter().take_while(|&&power| share < power).count();
    format!("{lambda} ({share:.decimals$} u)")
}

/// A cell of a table for people: `-` where there is no value.
pub(crate) fn or_dash<T>(value: Option<T>, text: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| "-".to_owned(), text)
}

/// A cell of CSV: empty where there is no value.
pub(crate) fn or_blank(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}

/// A measure, or `-` where it is undefined.
pub(crate) fn measure(value: Option<f64>) -> String {
    or_dash(value, |value| format!("{value:.4}"))
}

/// `1 column`, `2 columns`, `2 queries`, `2 classes`.
pub(crate) fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) if noun.ends_with('s') => format!("{count} {noun}es"),
        (_, None) => format!("{count} {noun}s"),
    }
}

/// Sizes of data: rows, queries, columns and non-zeros.
pub(crate) fn sizes(
    rows: usize,
    queries: usize,
    columns: usize,
    nonzeros: impl TryInto<u64>,
) -> String {
    let sizes = [(rows, "row"), (queries, "query"), (columns, "column")];
    let [rows, queries, columns] = sizes.map(|(count, noun)| counted(count, noun));
    let nonzeros = counted(nonzeros, "non-zero");
    format!("{rows}, {queries}, {columns}, {nonzeros}")
}

/// A name on one line: control characters, which could move the cursor, are escaped.
pub(crate) fn printable(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for char in name.chars() {
        if char.is_control() {
            text.extend(char.escape_default());
        } else {
            text.push(char);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ridge_parameters_come_with_their_share() {
        for (lambda, unit, text) in [
            (16.0, 230.0, "16 (0.0696 u)"),
            (4.0, 2.0, "4 (2.00 u)"),
            (256.0, 0.87, "256 (294 u)"),
            (1e-9, 2.0, "1e-9 (5.00e-10 u)"),
            (2.0, 0.0, "2"),
            (2.0, f64::INFINITY, "2"),
        ] {
            assert_eq!(ridge(lambda, unit), text);
        }
    }

    #[test]
    fn numbers_have_six_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1.00000"),
            (-12.345_678_9, "-12.3457"),
            (123_456.7, "123457"),
            (1_234_567.8, "1234568"),
            (0.051_234_567, "0.0512346"),
            (0.000_123_456_7, "0.000123457"),
            (1.5e-7, "1.50000e-7"),
            (-2e30, "-2.00000e30"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn exact_numbers_are_short() {
        assert_eq!(
            [16.0, 0.5, 1e-300, 0.0].map(format_exact),
            ["16", "0.5", "1e-300", "0"]
        );
    }

    #[test]
    fn one_of_a_kind_is_singular() {
        assert_eq!(
            sizes(1, 1, 1, 1_usize),
            "1 row, 1 query, 1 column, 1 non-zero"
        );
        assert_eq!(
            sizes(0, 2, 3, 4_usize),
            "0 rows, 2 queries, 3 columns, 4 non-zeros"
        );
        assert_eq!(counted(2_usize, "column class"), "2 column classes");
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("a\x1b[31m\tü"), "a\\u{1b}[31m\\tü");
    }

    /// Lines of a table on a terminal of this width.
    fn lines(table: &mut TextTable, width: u16) -> Vec<String> {
        table.width = Some(width);
        table.trim_fmt().lines().map(str::to_owned).collect()
    }

    #[test]
    fn names_are_wrapped_on_terminals_only() {
        let mut table = table(&["step", "name", "weight"]);
        table.add_row(["1", "a", "0.5"]);
        table.add_row(["10", &"long ".repeat(30), "-0.25"]);
        table.width = None;
        let whole = table.trim_fmt();
        assert_eq!(whole.lines().count(), 3, "{whole}");
        let wrapped = lines(&mut table, 80);
        assert!(wrapped.len() > 3);
        assert!(wrapped.iter().all(|line| line.len() <= 80), "{wrapped:?}");
    }

    #[test]
    fn words_stay_whole() {
        let word = "w".repeat(50);
        let mut table = table(&["step", "name", "query", "weight"]);
        table.add_row(["1", &format!("a {word} b"), &"other ".repeat(20), "0.5"]);
        let narrow = lines(&mut table, 80);
        assert!(narrow.iter().all(|line| line.len() <= 80), "{narrow:?}");
        let words = || narrow.iter().flat_map(|line| line.split_whitespace());
        assert_eq!(words().filter(|&found| found == word).count(), 1);
        assert_eq!(words().filter(|&found| found == "other").count(), 20);
        // A word that does not fit is not broken either.
        let narrow = lines(&mut table, 30);
        assert!(narrow.iter().any(|line| line.contains(&word)), "{narrow:?}");
    }

    #[test]
    fn columns_without_room_come_below() {
        let mut table = table(&["step", "LQO error", "LQO cindex", "test cindex"]);
        table.add_row(["1", "1.00000", "0.5000", "0.6000"]);
        insta::assert_snapshot!(lines(&mut table, 30).join("\n"), @r"
        step  LQO error  LQO cindex
           1    1.00000      0.5000

        step  test cindex
           1       0.6000
        ");
        assert_eq!(lines(&mut table, 40).len(), 2);
    }
}
