//! Measures test data after every step of a selection, and stops once they have not improved for
//! five steps:
//!
//! ```text
//! cargo run --release --example test_path
//! ```

use std::error::Error;
use std::ops::ControlFlow;

use rankrls::data::sample;
use rankrls::greedy::{Observer, State, Step, TestPath};
use rankrls::{Convention, GreedyRankRls, Metric};

/// Watches a selection and the measures of the test data.
struct Patience<'a> {
    path: TestPath<'a>,
    best: f64,
    best_step: usize,
}

impl Observer for Patience<'_> {
    fn stepped(&mut self, number: usize, step: &Step, state: &State) -> ControlFlow<()> {
        self.path.stepped(number, step, state)?;
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
    let mut watch = Patience {
        path: TestPath::new(&test, &[Metric::Concordance], Convention::Standard),
        best: 0.0,
        best_step: 0,
    };
    let params = GreedyRankRls::params(30).lambda(16.0)?;
    let model = params.fit_with(&train, &mut watch)?;
    let (best, steps) = (watch.best_step, model.path().len());
    println!("stopped after {steps} features; {best} are best");
    Ok(())
}
