//! A strategy of your own. It takes the column that is most aligned with the residuals, and unlike exact strategies
//! ignores leave-query-out predictions. Its model is saved and read like any other.
//!
//! ```text
//! cargo run --release --example strategy -- [MODEL]
//! ```

use std::error::Error;

use rankrls::data::sample;
use rankrls::greedy::job::unwatched;
use rankrls::greedy::strategy::{Round, Strategy};
use rankrls::{GreedyRankRls, Lambda, Model};

/// The gain of a column `v` in training error, without the other weights, is `(v . r)^2 / |v|^2`.
struct Alignment;

impl Strategy for Alignment {
    fn errors(&mut self, round: &Round<'_>, eligible: &[u32]) -> Vec<f64> {
        let residual = round.state.residual();
        let error: f64 = residual.iter().map(|r| r * r).sum();
        let judge = |&candidate: &u32| {
            let candidate = candidate as usize;
            let column = round.candidates.column(candidate).iter();
            let along: f64 = column.map(|(row, value)| value * residual[row]).sum();
            error - along * along / round.candidates.squared_norm(candidate)
        };
        eligible.iter().map(judge).collect()
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let (train, test) = (sample::train(), sample::test());
    let options = GreedyRankRls::new(10, Lambda::new(16.0)?);
    let exact = options.fit(&train)?;
    let aligned = options.fit_with(&train, Some(&|| Box::new(Alignment)), &mut unwatched)?;
    println!("LQO error of  exact  aligned");
    for (exact, aligned) in exact.features.iter().zip(&aligned.features) {
        let [exact, aligned] = [exact, aligned].map(|step| step.lqo_error.unwrap_or_default());
        println!("{exact:20.5} {aligned:8.5}");
    }
    if let Some(path) = std::env::args_os().nth(1) {
        aligned.write(&path)?;
        let read = Model::read(&path)?;
        assert_eq!(read.scores(&test), aligned.scores(&test));
        println!("the model of strategy {} is saved", read.strategy);
    }
    Ok(())
}
