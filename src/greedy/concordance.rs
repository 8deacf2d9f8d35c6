//! Concordance index of the leave-query-out predictions.

use rayon::prelude::*;

use crate::data::Queries;
use crate::greedy::{PREDICTION_TIE, State, tie};
use crate::metrics;

/// Queries whose concordance one task computes.
const QUERIES: usize = 16;

/// Concordance index of the leave-query-out predictions, averaged over the queries that
/// have a pair of different labels; `None` when none has. Labels as given, not centred.
pub fn lqo_cindex(state: &State, labels: &[f64]) -> Option<f64> {
    let centred = state.centred_labels();
    cindex(state.predictions(), labels, &centred, state.queries())
}

/// Concordance index of `predictions` for `labels`; `centred` labels tell what is close.
pub(crate) fn cindex(
    predictions: Vec<f64>,
    labels: &[f64],
    centred: &[f64],
    queries: &Queries,
) -> Option<f64> {
    let predictions = tied(predictions, centred, queries);
    let indices: Vec<Option<f64>> = (0..queries.len())
        .into_par_iter()
        .with_min_len(QUERIES)
        .map(|query| {
            let range = queries.range(query);
            metrics::concordance(&labels[range.clone()], &predictions[range])
        })
        .collect();
    let defined: Vec<f64> = indices.into_iter().flatten().collect();
    (!defined.is_empty()).then(|| defined.iter().sum::<f64>() / defined.len() as f64)
}

/// Leave-query-out predictions, those of a query that differ by rounding made equal.
pub(crate) fn tied_predictions(state: &State) -> Vec<f64> {
    tied(
        state.predictions(),
        &state.centred_labels(),
        state.queries(),
    )
}

/// Predictions, those of a query that differ by rounding made equal: `centred` labels tell what
/// is close.
fn tied(mut predictions: Vec<f64>, centred: &[f64], queries: &Queries) -> Vec<f64> {
    let largest = |most: f64, label: &f64| most.max(label.abs());
    let tolerance = centred.iter().fold(0.0, largest) * PREDICTION_TIE;
    let parts: Vec<_> = queries.split_mut(&mut predictions).collect();
    parts
        .into_par_iter()
        .with_min_len(QUERIES)
        .for_each(|part| tie(part, tolerance));
    predictions
}
