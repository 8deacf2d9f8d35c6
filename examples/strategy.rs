//! A strategy of your own: it takes the column that is most aligned with the residuals, and does
//! not look at leave-query-out predictions as the exact strategies do.
//!
//! ```text
//! cargo run --release --example strategy
//! ```

use std::error::Error;

use rankrls::data::sample;
use rankrls::greedy::{Greedy, Round, Strategy, plan};
use rankrls::{ColumnClasses, GreedyRankRls, Lambda, SelectionOptions};

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
    let data = sample::train();
    let exact = GreedyRankRls::params(10).lambda(16.0)?.fit(&data)?;

    let classes = ColumnClasses::new(&data);
    let options = SelectionOptions::new(10, Lambda::new(16.0)?);
    let plan = plan(&classes, &data, &options)?;
    let greedy = Greedy::new(&classes, data.labels(), &plan, &options, &[])?;
    let mut greedy = greedy.with_strategy(Box::new(Alignment));
    println!("LQO error of  exact  aligned");
    for best in exact.path() {
        let Some(next) = greedy.advance()? else {
            break;
        };
        println!("{:20.5} {:8.5}", best.lqo_error, next.step.lqo_error);
    }
    Ok(())
}
