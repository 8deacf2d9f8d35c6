//! The table of all models as a file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Result;
use rankrls::tune::{Ending, Outcome};

use super::report::Report;
use super::rows::{Row, ending, trouble};
use crate::cli::output::OutputFile;

/// The formats of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    Csv,
    Json,
}

/// A file that a table will be written to.
#[derive(Debug)]
pub(super) struct TableFile {
    file: OutputFile,
    format: Format,
}

/// Checks the name of a table, which says the format; `.gz` or `.zst` may follow.
pub(super) fn name(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match format(&path) {
        Some(_) => Ok(path),
        None => Err("expected a name that ends in .csv or .json".to_owned()),
    }
}

fn format(path: &Path) -> Option<Format> {
    let extension = |path: &Path| Some(path.extension()?.to_str()?.to_ascii_lowercase());
    match extension(path)?.as_str() {
        "csv" => Some(Format::Csv),
        "json" => Some(Format::Json),
        "gz" | "zst" => format(&path.with_extension("")),
        _ => None,
    }
}

impl TableFile {
    /// Finds out whether the file can be written.
    pub(super) fn create(path: &Path) -> Result<Self> {
        Ok(Self {
            file: OutputFile::create(path)?,
            format: format(path).unwrap_or(Format::Json),
        })
    }

    pub(super) fn write(self, report: &Report<'_>) -> Result<()> {
        let format = self.format;
        self.file.write(|writer| match format {
            Format::Csv => csv(report, writer),
            Format::Json => json(report, writer),
        })
    }
}

/// A line a model. How a path ended stands in the last of its lines, which is the only one and
/// has no `k` where there is no model.
fn csv(report: &Report<'_>, writer: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(writer);
    let titles = Row::titles(report.metrics);
    writer.write_record(&titles)?;
    for outcome in &report.tuned.outcomes {
        if outcome.points.is_empty() {
            let mut cells = vec![String::new(); titles.len()];
            cells[0] = outcome.lambda.to_string();
            cells[titles.len() - 1] = note(outcome);
            writer.write_record(cells)?;
        }
        for row in Row::all(report, outcome) {
            let last = row.k == outcome.points.len();
            let note = if last { note(outcome) } else { String::new() };
            writer.write_record(row.cells(&note))?;
        }
    }
    writer.flush()
}

fn note(outcome: &Outcome) -> String {
    match (&outcome.ending, trouble(&outcome.ending)) {
        (Ending::Complete, _) => String::new(),
        (kind, Some(trouble)) => format!("{}: {trouble}", ending(kind)),
        (kind, None) => ending(kind).to_owned(),
    }
}

fn json(report: &Report<'_>, writer: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *writer, &report.table())?;
    writeln!(writer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_format() {
        for name in ["a.csv", "a.CSV", "a.csv.gz", "b/a.json", "a.json.zst"] {
            assert_eq!(super::name(name), Ok(PathBuf::from(name)));
        }
        for name in ["a", "a.txt", "csv", "a.gz", "a.csv.txt", ""] {
            assert!(super::name(name).is_err(), "{name}");
        }
    }
}
