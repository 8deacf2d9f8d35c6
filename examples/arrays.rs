//! Data from arrays in memory: a dense array of `ndarray`, a sparse matrix of `sprs`, and compressed columns.
//!
//! ```text
//! cargo run --release --example arrays
//! ```

use std::error::Error;

use ndarray::array;
use rankrls::ridge::Fit;
use rankrls::{Dataset, GreedyRankRls, Lambda, Queries, RankRls};
use sprs::CsMat;

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
    let labels = [2.0, 0.0, 1.0, 0.0, 2.0, 0.0, 1.0];
    let ids = ["pigs", "pigs", "pigs", "owls", "owls", "owls", "owls"];
    let queries = Queries::from_row_ids(&ids)?;
    let data = Dataset::from_dense(dense.view(), &labels, queries.clone())?;

    let model = GreedyRankRls::new(2, Lambda::new(0.5)?).fit(&data)?;
    println!("selected {:?}", model.columns());
    println!("weights {:.3?}", model.weights());

    let params = RankRls {
        lambdas: Lambda::new(0.5)?.into(),
        ..RankRls::default()
    };
    let all = params.train(&data, None)?;
    if let Fit::Linear(weights) = &all.fit {
        println!("weights of all features {weights:.3?}");
    }
    if let Some(held_out) = &all.best().holdout {
        println!("predictions without the query {:.3?}", held_out.predictions);
    }

    // Matrices of `sprs` are copied. Compressed columns are borrowed.
    let sparse: CsMat<f64> = CsMat::csr_from_dense(dense.view(), 0.0);
    let copied = Dataset::from_sprs(sparse.view(), &labels, queries)?;
    let (bounds, rows, values) = ([0, 1, 1, 2], [0, 1], [1.0, 0.5]);
    // The labels of rows to score do not matter.
    let new = Dataset::from_csc(&bounds, &rows, &values, &[0.0; 2], Queries::single(2)?)?;
    println!("scores {:.3?}", model.scores(&new));
    assert_eq!(model.scores(&data), model.scores(&copied));
    Ok(())
}
