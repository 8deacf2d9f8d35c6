//! Drawn data as svmlight text, for studies and docs/large-data.md.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::{Context, Result};

use crate::zipf::Zipf;

/// Draws data of these sizes, and writes them row by row: rows, queries, columns and non-zeros, then
/// the percentage of a row's entries that its query has in common.
pub(crate) fn write(sizes: [&str; 5], file: &Path) -> Result<()> {
    let number = |place: usize| {
        let number = sizes[place].parse::<usize>();
        number.with_context(|| format!("expected a number, found {:?}", sizes[place]))
    };
    let drawn = Zipf {
        rows: number(0)?,
        queries: number(1)?,
        columns: u32::try_from(number(2)?)?,
        nonzeros: number(3)?,
        shared: number(4)?,
        seed: 1,
    };
    let mut text = BufWriter::new(File::create(file)?);
    let mut written = Ok(());
    drawn.draw(|label, query, entries| {
        let mut write = || {
            write!(text, "{label} qid:{query}")?;
            for (column, value) in entries {
                write!(text, " {}:{value}", column + 1)?;
            }
            writeln!(text)
        };
        if written.is_ok() {
            written = write();
        }
    });
    written?;
    Ok(text.flush()?)
}
