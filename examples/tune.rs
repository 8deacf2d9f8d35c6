//! Chooses lambda and the number of features together, from leave-query-out predictions, and
//! writes the model to a file:
//!
//! ```text
//! cargo run --release --example tune -- [MODEL]
//! ```

use std::error::Error;

use rankrls::data::sample;
use rankrls::tune::Rule;
use rankrls::{GreedyRankRls, Lambdas, Tune};

fn main() -> Result<(), Box<dyn Error>> {
    let lambdas: Lambdas = "1,4,16,64".parse()?;
    let options = Tune {
        // The smallest model within one standard error of the best.
        rule: Rule::OneSe,
        ..Tune::new(GreedyRankRls::new(15, None), lambdas)
    };
    let (model, _) = options.fit(&sample::train())?;
    println!("lambda {}, {} features", model.lambda, model.features.len());
    for feature in &model.features {
        let name = feature.name.as_deref().unwrap_or_default();
        println!("{:9.5}  {name}", feature.weight);
    }
    if let Some(path) = std::env::args_os().nth(1) {
        model.write(path)?;
    }
    Ok(())
}
