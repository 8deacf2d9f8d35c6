//! Selects ten features of a data file and names them; without a file, of the corpus that comes
//! with the crate:
//!
//! ```text
//! cargo run --release --example select -- [FILE]
//! ```

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use rankrls::GreedyRankRls;
use rankrls::data::read::ReadOptions;
use rankrls::data::sample;
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

    let model = GreedyRankRls::new(10).lambda(16.0).fit(&data)?;
    println!("\nstep    weight  LQO error  feature");
    let steps = model.path().iter().zip(model.weights());
    for (number, (step, weight)) in (1..).zip(steps) {
        let name = data.names().and_then(|names| names.of(step.feature));
        let name = name.map_or_else(|| step.feature.to_string(), str::to_owned);
        println!("{number:4} {weight:9.5} {:10.5}  {name}", step.lqo_error);
    }
    let scores = model.predict(&data);
    println!("\nscore of the first row: {}", scores[0]);
    Ok(())
}
