//! One model of RankRLS, and its predictions for new rows.

use rankrls::data::Groups;
use rankrls::ridge::{Fit, Holdout, Training};
use rankrls::{Dataset, HoldOut, Lambda, RankRls, Result, Solver};

use super::Problem;

/// Trains with one `lambda`, and returns its hold-outs.
pub fn train(
    data: &Dataset<'_>,
    options: &RankRls,
    lambda: f64,
    holdout: HoldOut,
) -> Result<Training> {
    let one = RankRls {
        lambdas: Lambda::new(lambda).unwrap().into(),
        keep_pairs: holdout == HoldOut::Pairs,
        holdout,
        ..options.clone()
    };
    one.train(data, None)
}

/// The same, or `None` if nothing varies in the data.
pub fn drawn_training(
    data: &Dataset<'_>,
    options: &RankRls,
    lambda: f64,
    holdout: HoldOut,
) -> Option<Training> {
    match train(data, options, lambda, holdout) {
        Err(error) if error.to_string().starts_with("nothing to train on") => None,
        found => Some(found.unwrap()),
    }
}

/// These groups as hold-outs.
pub fn given(groups: &Groups) -> HoldOut {
    HoldOut::Given {
        name: "groups".to_owned(),
        groups: groups.clone(),
    }
}

/// The hold-outs that judged the best model.
pub fn held_out(training: &Training) -> &Holdout {
    training.best().holdout.as_ref().unwrap()
}

/// Weights by feature.
pub fn weights(training: &Training) -> &[(u32, f64)] {
    match &training.fit {
        Fit::Linear(weights) => weights,
        fit @ Fit::Kernel(_) => panic!("{fit:?}"),
    }
}

/// Scores of the rows of `data`.
pub fn scores(training: &Training, data: &Dataset<'_>) -> Vec<f64> {
    let (features, values): (Vec<u32>, Vec<f64>) = weights(training).iter().copied().unzip();
    data.scores(&features, &values)
}

/// Bound on the error in predictions of other rows, if conjugate gradients end at a residual of 1e-6 of the labels.
pub fn noise_of_iterations(problem: &Problem, lambda: f64) -> f64 {
    let squares = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
    let trace: f64 = problem.x.iter().map(|column| squares(column)).sum();
    1e-5 * (1.0 + squares(&problem.labels).sqrt()) * (1.0 + (trace / lambda).sqrt())
}

/// The precision of predictions on small data.
pub fn precision(solver: Solver) -> f64 {
    match solver {
        Solver::ConjugateGradients => 1e-4,
        Solver::Dual | Solver::Primal => 1e-8,
    }
}
