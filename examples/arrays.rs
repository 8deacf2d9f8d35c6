//! Data from arrays in memory: a dense matrix of `ndarray`, and a sparse one of `sprs`.
//!
//! ```text
//! cargo run --release --example arrays
//! ```

use std::error::Error;

use ndarray::array;
use rankrls::{Dataset, GreedyRankRls, RankRls};
use sprs::CsMatI;

fn main() -> Result<(), Box<dyn Error>> {
    // Seven documents of two queries, with three features each.
    let dense = array![
        [1.0, 0.0, 0.2],
        [0.0, 2.0, 0.1],
        [0.5, 0.0, 0.0],
        [0.0, 1.0, 0.4],
        [2.0, 0.0, 0.3],
        [0.0, 0.5, 0.0],
        [1.5, 1.0, 0.1],
    ];
    let labels = array![2.0, 0.0, 1.0, 0.0, 2.0, 0.0, 1.0];
    let queries = ["pigs", "pigs", "pigs", "owls", "owls", "owls", "owls"];
    let data = Dataset::new(&dense, &labels, &queries)?;

    let model = GreedyRankRls::new(2).lambda(0.5).fit(&data)?;
    println!("selected {:?}", model.features());
    println!("weights {:.3}", model.weights());

    let all = RankRls::new().lambda(0.5).fit(&data)?;
    println!("weights of all features {:.3}", all.weights());
    if let Some(held_out) = all.holdout() {
        println!("predictions without the query {:.3?}", held_out.predictions);
    }

    // Compressed columns with indices of 32 bits are borrowed, others are copied.
    let sparse: CsMatI<f64, u32> = CsMatI::csc_from_dense(dense.view(), 0.0);
    let borrowed = Dataset::new(&sparse, &labels, &queries)?;
    assert_eq!(borrowed.nonzeros(), data.nonzeros());

    // Scores take any matrix, too.
    println!("scores {:.3}", model.predict(&data)?);
    assert_eq!(model.predict(&dense)?, model.predict(&sparse)?);
    Ok(())
}
