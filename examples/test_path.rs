//! Measures validation queries after every step of a selection, and stops once they have not
//! improved for five steps. Test data choose nothing: they are measured once, at the end.
//!
//! ```text
//! cargo run --release --example test_path
//! ```

use std::error::Error;
use std::ops::ControlFlow;

use rankrls::data::sample;
use rankrls::greedy::{Event, Observer, TestPath};
use rankrls::metrics::evaluate;
use rankrls::ridge::Groups;
use rankrls::{Convention, GreedyRankRls, Metric};

/// Watches a selection and the measures of the validation queries.
struct Patience<'a> {
    path: TestPath<'a>,
    best: f64,
    best_step: usize,
}

impl Observer for Patience<'_> {
    fn event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        self.path.event(event)?;
        let number = self.path.steps().len();
        let Some(cindex) = self.path.steps().last().and_then(|values| values[0]) else {
            return ControlFlow::Continue(());
        };
        println!("{number:2} features: concordance index {cindex:.4}");
        if cindex > self.best {
            (self.best, self.best_step) = (cindex, number);
        }
        if number >= self.best_step + 5 {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (train, test) = (sample::train(), sample::test());
    // A quarter of the training queries.
    let folds = Groups::folds(train.queries().len(), 4, 1)?;
    let folds: Vec<&[usize]> = folds.iter().collect();
    let validation = train.queries_subset(folds[0])?;
    let fitting = train.queries_subset(&folds[1..].concat())?;

    let measures = [Metric::Concordance];
    let mut watch = Patience {
        path: TestPath::new(&validation, &measures, Convention::Standard),
        best: 0.0,
        best_step: 0,
    };
    let params = GreedyRankRls::params(30).lambda(16.0)?;
    let steps = params.fit_with(&fitting, &mut watch)?.path().len();
    println!(
        "stopped after {steps} features; {} are best",
        watch.best_step
    );

    let model = GreedyRankRls::params(watch.best_step).lambda(16.0)?;
    let scores = model.fit(&train)?.predict(&test)?.to_vec();
    let found = evaluate(
        &measures,
        test.labels(),
        &scores,
        test.queries(),
        Convention::Standard,
    )?;
    let cindex = found.metrics[0]
        .mean
        .ok_or("no query has a pair to order")?;
    println!("concordance index on test data, after all training queries: {cindex:.4}");
    Ok(())
}
