//! Concordance index of the leave-query-out predictions.

use rayon::prelude::*;

use crate::dataset::Queries;
use crate::metrics;
use crate::strategy::State;

/// Predictions of one query closer than this share of the largest centred label are tied
/// for the concordance index: equal predictions differ in their last bits once they have
/// been computed in different ways.
const PREDICTION_TIE: f64 = 1e-12;

/// Queries whose concordance one task computes.
const QUERIES: usize = 16;

/// Concordance index of the leave-query-out predictions, averaged over the queries that
/// have a pair of different labels; `None` when none has. Labels as given, not centred.
pub fn lqo_cindex(state: &State, labels: &[f64]) -> Option<f64> {
    cindex(
        &state.predictions(),
        labels,
        state.labels(),
        state.queries(),
    )
}

/// Concordance index of `predictions` for `labels`; `centred` labels tell what is close.
pub(crate) fn cindex(
    predictions: &[f64],
    labels: &[f64],
    centred: &[f64],
    queries: &Queries,
) -> Option<f64> {
    let scale = centred
        .iter()
        .fold(0.0_f64, |scale, label| scale.max(label.abs()));
    let indices: Vec<Option<f64>> = (0..queries.len())
        .into_par_iter()
        .with_min_len(QUERIES)
        .map(|query| {
            let range = queries.range(query);
            let mut scores = predictions[range.clone()].to_vec();
            tie(&mut scores, scale * PREDICTION_TIE);
            metrics::concordance(&labels[range], &scores)
        })
        .collect();
    let defined: Vec<f64> = indices.into_iter().flatten().collect();
    (!defined.is_empty()).then(|| defined.iter().sum::<f64>() / defined.len() as f64)
}

/// Makes scores equal that are no further apart than `tolerance` from the next one.
fn tie(scores: &mut [f64], tolerance: f64) {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    for pair in 1..order.len() {
        let (before, here) = (order[pair - 1], order[pair]);
        if scores[here] - scores[before] <= tolerance {
            scores[here] = scores[before];
        }
    }
}
