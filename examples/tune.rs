//! Chooses lambda and the number of features together, from leave-query-out predictions, and
//! writes the model to a file:
//!
//! ```text
//! cargo run --release --example tune -- [MODEL]
//! ```

use std::error::Error;
use std::path::Path;

use rankrls::data::sample;
use rankrls::tune::{Rule, TuneOptions, Tuning};
use rankrls::{ColumnClasses, Lambda, Model, SelectionOptions};

fn main() -> Result<(), Box<dyn Error>> {
    let data = sample::train();
    let lambdas = [1.0, 4.0, 16.0, 64.0].map(Lambda::new);
    let lambdas = lambdas.into_iter().collect::<Result<Vec<_>, _>>()?;

    // The smallest model within one standard error of the best.
    let options = TuneOptions {
        rule: Rule::OneSe,
        ..TuneOptions::new(SelectionOptions::new(15, None), &lambdas)
    };
    let tuned = Tuning::new(&data, &options).run(&mut ())?;
    let chosen = tuned.selection();
    println!("lambda {}, {} features", chosen.lambda, chosen.steps.len());

    let classes = ColumnClasses::new(&data).summary();
    let model = Model::from_selection(&chosen, &data, &classes);
    for feature in model.features() {
        let name = feature.name.as_deref().unwrap_or_default();
        println!("{:9.5}  {name}", feature.weight);
    }
    if let Some(path) = std::env::args_os().nth(1) {
        model.write(Path::new(&path))?;
    }
    Ok(())
}
