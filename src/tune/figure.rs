//! The paths of all lambdas.

use super::{Evidence, Measure, Options, Outcome, Tuned};
use crate::plot::{self, Figure, LinePlot, Panel, Path, power};

/// Three panels of values against the number of features, one line a lambda, the chosen model
/// marked: the measure that models were judged by, and error and concordance index of the
/// leave-query-out predictions. `options` are those that it was tuned by.
pub fn figure(tuned: &Tuned, options: &Options<'_>) -> Figure {
    let chosen = Some((tuned.choice.position, tuned.choice.k));
    let name = |outcome: &Outcome| power(outcome.lambda);
    let path = |outcome: &Outcome| {
        let steps = outcome.points.iter().map(|point| point.step.clone());
        Path::new(name(outcome), &steps.collect::<Vec<_>>())
    };
    let means = |outcome: &Outcome| {
        let points = outcome.points.iter();
        (
            name(outcome),
            points.map(|point| point.score.mean).collect(),
        )
    };
    let curves = tuned.outcomes.iter().map(means).collect();
    let judged: LinePlot = plot::panel(label(options), curves, Some(PARAMETER), chosen);
    let paths: Vec<Path> = tuned.outcomes.iter().map(path).collect();
    let title = format!("Choice of lambda and k by the rule {}", options.rule.name());
    let mut figure = plot::paths(title, &paths, Some(PARAMETER), chosen);
    figure.panels.insert(0, Panel::Lines(judged));
    figure
}

const PARAMETER: &str = "lambda";

/// The measure and where its predictions come from.
fn label(options: &Options<'_>) -> String {
    let measure = match options.measure {
        Measure::SquaredError => "squared error a query".to_owned(),
        Measure::Metric(metric) => metric.to_string(),
    };
    match options.evidence {
        Evidence::Lqo => format!("leave-query-out {measure}"),
        Evidence::Validation(_) => format!("{measure}, validation data"),
        Evidence::Folds { count, .. } => format!("{measure}, {count} folds"),
    }
}
