//! Data from arrays in memory: a dense matrix of `ndarray`, and a sparse one of `sprs`.
//!
//! ```text
//! cargo run --release --example arrays
//! ```

use std::error::Error;

use ndarray::{ArrayView2, array};
use rankrls::{Dataset, DatasetError, GreedyRankRls, Queries, RankRls};
use sprs::{CsMatI, TriMatI};

fn main() -> Result<(), Box<dyn Error>> {
    // Seven documents of two queries, with three features each.
    let x = array![
        [1.0, 0.0, 0.2],
        [0.0, 2.0, 0.1],
        [0.5, 0.0, 0.0],
        [0.0, 1.0, 0.4],
        [2.0, 0.0, 0.3],
        [0.0, 0.5, 0.0],
        [1.5, 1.0, 0.1],
    ];
    let labels = [2.0, 0.0, 1.0, 0.0, 2.0, 0.0, 1.0];
    let data = dataset(sparse(x.view()), &labels, &[3, 4])?;

    let model = GreedyRankRls::params(2).lambda(0.5)?.fit(&data)?;
    println!("selected {:?}", model.features());
    println!("weights {:.3}", model.weights());

    let all = RankRls::params().lambda(0.5)?.fit(&data)?;
    println!("weights of all features {:.3}", all.weights());
    if let Some(held_out) = all.holdout() {
        println!("predictions without the query {:.3?}", held_out.predictions);
    }
    println!("scores {:.3}", model.predict(&data));
    Ok(())
}

/// The entries of a dense matrix that are not 0, by column.
fn sparse(x: ArrayView2<'_, f64>) -> CsMatI<f64, u32, usize> {
    let mut triplets = TriMatI::<f64, u32>::new(x.dim());
    for ((row, column), &value) in x.indexed_iter().filter(|(_, value)| **value != 0.0) {
        triplets.add_triplet(row, column, value);
    }
    triplets.to_csc()
}

/// A data set with rows of `sizes` queries, one after the other.
fn dataset(
    x: CsMatI<f64, u32, usize>,
    labels: &[f64],
    sizes: &[usize],
) -> Result<Dataset<'static>, DatasetError> {
    let queries = Queries::from_sizes(sizes)?;
    let (indptr, rows, values) = x.into_raw_storage();
    Dataset::from_csc(indptr, rows, values, labels.to_vec(), queries)
}
