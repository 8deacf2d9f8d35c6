//! Selects ten features of a data file and names them. Without a file, it uses the corpus that comes with the
//! crate:
//!
//! ```text
//! cargo run --release --example select -- [FILE]
//! ```

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use rankrls::data::read::ReadOptions;
use rankrls::data::sample;
use rankrls::{GreedyRankRls, Lambda};
use rankrls_files::memory;

fn main() -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let data = match std::env::args_os().nth(1) {
        Some(path) => ReadOptions::new().read(Path::new(&path))?.dataset,
        None => sample::train(),
    };
    println!(
        "{} rows, {} queries, {} columns, {} non-zeros, read in {:.3} s",
        data.rows(),
        data.queries().len(),
        data.width(),
        data.nonzeros(),
        start.elapsed().as_secs_f64(),
    );
    if let Some(bytes) = memory::peak() {
        println!("peak memory {bytes} bytes");
    }

    let model = GreedyRankRls::new(10, Lambda::new(16.0)?).fit(&data)?;
    println!("\nstep    weight  LQO error  feature");
    for (number, feature) in (1..).zip(&model.features) {
        let (error, weight) = (feature.lqo_error.unwrap_or_default(), feature.weight);
        let name = feature.name.clone();
        let name = name.unwrap_or_else(|| feature.feature.to_string());
        println!("{number:4} {weight:9.5} {error:10.5}  {name}");
    }
    let scores = model.scores(&data);
    println!("\nscore of the first row: {}", scores[0]);
    Ok(())
}
