//! Measures validation queries after every step of a selection, and stops once they have not
//! improved for five steps. Test data choose nothing: they are measured once, at the end.
//!
//! ```text
//! cargo run --release --example steps
//! ```

use std::error::Error;
use std::ops::ControlFlow;

use rankrls::data::sample;
use rankrls::greedy::job::Selecting;
use rankrls::metrics::evaluate;
use rankrls::ridge::Groups;
use rankrls::{Convention, Dataset, GreedyRankRls, Lambda, Metric, Step};

/// Mean concordance index of `scores`.
fn concordance(data: &Dataset<'_>, scores: &[f64]) -> Result<f64, Box<dyn Error>> {
    let (metrics, convention) = ([Metric::CONCORDANCE], Convention::Standard);
    let found = evaluate(&metrics, data.labels(), scores, data.queries(), convention)?;
    let (_, cindex) = &found[0];
    Ok(cindex.mean.ok_or("no query has a pair to order")?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let (train, test) = (sample::train(), sample::test());
    // A quarter of the training queries.
    let folds = Groups::folds(train.queries(), 4, 1)?;
    let folds: Vec<&[usize]> = folds.iter().collect();
    let validation = train.queries_subset(folds[0])?;
    let fitting = train.queries_subset(&folds[1..].concat())?;

    let lambda = Lambda::new(16.0)?;
    let (mut features, mut measured) = (Vec::new(), Ok(0.0));
    let (mut best, mut best_step) = (0.0, 0);
    let mut watch = |step: &Step, work: &Selecting<'_>| {
        features.push(step.feature);
        let scores = validation.scores(&features, &work.state().weights());
        measured = concordance(&validation, &scores).map_err(|error| error.to_string());
        let Ok(cindex) = measured else {
            return ControlFlow::Break(());
        };
        println!("feature {:6}: concordance index {cindex:.4}", step.feature);
        if cindex > best {
            (best, best_step) = (cindex, features.len());
        }
        if features.len() >= best_step + 5 {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    };
    GreedyRankRls::new(30, lambda).fit_with(&fitting, None, &mut watch)?;
    measured?;
    println!("{best_step} features are best");

    let model = GreedyRankRls::new(best_step, lambda).fit(&train)?;
    let cindex = concordance(&test, &model.scores(&test))?;
    println!("concordance index on test data, after all training queries: {cindex:.4}");
    Ok(())
}
