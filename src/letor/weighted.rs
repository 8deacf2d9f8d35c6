//! Queries that count differently.

use std::borrow::Cow;

use crate::dataset::{Dataset, DatasetError};
use crate::weight::QueryWeight;

/// `dataset` with the rows and labels of every query times the root of its weight.
///
/// The mean of a query is scaled with it, so that centred rows are scaled as
/// [`QueryWeight::scales`] wants them, and least squares on them is the weighted objective: weights
/// of features are the same as if queries were weighted after centring.
///
/// # Errors
/// [`DatasetError`] for values that are not finite any more.
pub(super) fn weighted<'a>(
    dataset: &'a Dataset<'static>,
    weight: QueryWeight,
) -> Result<Cow<'a, Dataset<'static>>, DatasetError> {
    let Some(scales) = weight.row_scales(dataset.queries()) else {
        return Ok(Cow::Borrowed(dataset));
    };
    let mut ends = vec![0];
    let (mut rows, mut values) = (Vec::new(), Vec::new());
    let mut features = Vec::with_capacity(dataset.stored_columns());
    for position in 0..dataset.stored_columns() {
        for (row, value) in dataset.column(position).iter() {
            values.push(value * scales[row]);
        }
        rows.extend_from_slice(dataset.column(position).rows);
        ends.push(rows.len());
        features.push(dataset.feature(position));
    }
    let labels = dataset.labels().iter().zip(&scales);
    let labels: Vec<f64> = labels.map(|(label, scale)| label * scale).collect();
    let queries = dataset.queries().clone();
    let scaled = Dataset::from_csc(ends, rows, values, labels, queries)?;
    let scaled = scaled.with_features(features, dataset.width())?;
    Ok(Cow::Owned(scaled.with_index_base(dataset.index_base())))
}
