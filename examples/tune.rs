//! Chooses lambda and the number of features together, from leave-query-out predictions, and
//! writes the model to a file:
//!
//! ```text
//! cargo run --release --example tune -- [MODEL]
//! ```

use std::error::Error;

use rankrls::data::sample;
use rankrls::tune::{Rule, Tune};
use rankrls::{GreedyRankRls, Lambdas};

fn main() -> Result<(), Box<dyn Error>> {
    let lambdas: Lambdas = "1,4,16,64".parse()?;
    // The smallest model within one standard error of the best.
    let tune = Tune::lqo().lambdas(lambdas).rule(Rule::OneSe);
    let model = GreedyRankRls::new(15).tuned(tune).fit(&sample::train())?;
    let lambda = model.selection().lambda;
    println!("lambda {lambda}, {} features", model.features().len());
    for feature in &model.model().features {
        let name = feature.name.as_deref().unwrap_or_default();
        println!("{:9.5}  {name}", feature.weight);
    }
    if let Some(path) = std::env::args_os().nth(1) {
        model.write(path)?;
    }
    Ok(())
}
