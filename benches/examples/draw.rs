//! Draws data of these sizes as svmlight text, for studies and docs/large-data.md. Rows of a query share a
//! percentage of their entries, 85 by default:
//!
//!     cargo run --release -p rankrls-benches --example draw ROWS QUERIES COLUMNS NONZEROS [SHARED] FILE

#[path = "../zipf.rs"]
#[expect(dead_code, reason = "data are written as text here")]
mod zipf;

use std::env;
use std::error::Error;
use std::fs::File;
use std::io::{BufWriter, Write as _};

use zipf::Zipf;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let (file, sizes) = arguments.split_last().ok_or("expected sizes and a file")?;
    let sizes: Result<Vec<usize>, _> = sizes.iter().map(|size| size.parse()).collect();
    let sizes = sizes?;
    let [rows, queries, columns, nonzeros, ref shared @ ..] = sizes[..] else {
        return Err("expected rows, queries, columns and non-zeros".into());
    };
    let drawn = Zipf {
        rows,
        queries,
        columns: u32::try_from(columns)?,
        nonzeros,
        shared: shared.first().copied().unwrap_or(85),
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
    text.flush()?;
    Ok(())
}
