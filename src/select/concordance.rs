//! Concordance index of the leave-query-out predictions.

use rayon::prelude::*;

use crate::metrics;
use crate::strategy::{PREDICTION_TIE, State, tie};

/// Queries whose concordance one task computes.
const QUERIES: usize = 16;

/// Concordance index of the leave-query-out predictions, averaged over the queries that
/// have a pair of different labels; `None` when none has. Labels as given, not centred.
pub fn lqo_cindex(state: &State, labels: &[f64]) -> Option<f64> {
    let predictions = tied_predictions(state);
    let queries = state.queries();
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
    let mut predictions = state.predictions();
    let scale = state
        .centred_labels()
        .iter()
        .fold(0.0_f64, |scale, label| scale.max(label.abs()));
    let mut queries = Vec::with_capacity(state.queries().len());
    let mut rest = &mut predictions[..];
    for range in state.queries().ranges() {
        let (query, later) = rest.split_at_mut(range.len());
        queries.push(query);
        rest = later;
    }
    queries
        .into_par_iter()
        .with_min_len(QUERIES)
        .for_each(|query| tie(query, scale * PREDICTION_TIE));
    predictions
}
