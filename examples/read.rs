//! Reads a data file and tells its size and what reading it took:
//! `cargo run --release --example read -- FILE`.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use rankrls::data::read::ReadOptions;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args_os().nth(1).ok_or("usage: read FILE")?;
    let before = peak();
    let start = Instant::now();
    let loaded = ReadOptions::new().read(Path::new(&path))?;
    let seconds = start.elapsed().as_secs_f64();
    let data = &loaded.dataset;
    println!(
        "{} rows, {} queries, {} columns ({} stored), {} non-zeros",
        data.rows(),
        data.queries().len(),
        data.width(),
        data.stored_columns(),
        data.nonzeros(),
    );
    println!("read in {seconds:.3} s");
    let matrix = 12.0 * (data.nonzeros() + data.stored_columns()) as f64;
    if let (Some(before), Some(after)) = (before, peak()) {
        let added = after.saturating_sub(before) as f64;
        let ratio = added / matrix;
        println!("peak memory {added:.0} bytes above the start, {ratio:.2} times the matrix");
    }
    Ok(())
}

/// Peak resident bytes of this process, where the system tells.
fn peak() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kilobytes: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes * 1024)
}
