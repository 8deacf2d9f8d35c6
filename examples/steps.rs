//! Measures validation queries after every step of a selection, and stops once they have not
//! improved for five steps. Test data choose nothing: they are measured once, at the end.
//!
//! ```text
//! cargo run --release --example steps
//! ```

use std::error::Error;

use rankrls::data::sample;
use rankrls::metrics::evaluate;
use rankrls::ridge::Groups;
use rankrls::{Convention, Dataset, GreedyRankRls, Metric};

/// Mean concordance index of `scores`.
fn concordance(data: &Dataset<'_>, scores: &[f64]) -> Result<f64, Box<dyn Error>> {
    let (metrics, convention) = ([Metric::Concordance], Convention::Standard);
    let found = evaluate(&metrics, data.labels(), scores, data.queries(), convention)?;
    Ok(found.metrics[0]
        .mean
        .ok_or("no query has a pair to order")?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (train, test) = (sample::train(), sample::test());
    // A quarter of the training queries.
    let folds = Groups::folds(train.queries().len(), 4, 1)?;
    let folds: Vec<&[usize]> = folds.iter().collect();
    let validation = train.queries_subset(folds[0])?;
    let fitting = train.queries_subset(&folds[1..].concat())?;

    let params = |k| GreedyRankRls::new(k).lambda(16.0);
    let (mut best, mut best_step) = (0.0, 0);
    let mut steps = params(30).steps(&fitting)?;
    while let Some(step) = steps.next().transpose()? {
        let number = steps.features().len();
        let cindex = concordance(&validation, &steps.predict(&validation).to_vec())?;
        println!("feature {:6}: concordance index {cindex:.4}", step.feature);
        if cindex > best {
            (best, best_step) = (cindex, number);
        }
        if number >= best_step + 5 {
            break;
        }
    }
    println!("{best_step} features are best");

    let model = params(best_step).fit(&train)?;
    let cindex = concordance(&test, &model.predict(&test).to_vec())?;
    println!("concordance index on test data, after all training queries: {cindex:.4}");
    Ok(())
}
