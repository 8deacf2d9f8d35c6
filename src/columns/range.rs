//! Numbers that nothing can be computed with: refused before selection and training, which form their squares
//! and products.

use super::ColumnClasses;
use crate::data::Feature;
use crate::error::{Error, Result, ensure};
use crate::lambda::Lambda;
use rankrls_files::Remedy;

/// Least sum of squares, of labels or of the largest column, that leaves its parts their digits: errors and gains
/// are a small share of it.
pub(crate) const LEAST_SQUARES: f64 = 1e-280;

/// Largest sum of squares of a column, also in units of lambda: products of four values, and sums of them, stay finite.
const LARGEST_SQUARES: f64 = 1e100;

/// Refuses labels whose squares overflow or lose their digits to underflow: every candidate, and every model, would
/// look alike.
///
/// `labels` are centred and weighted. Where all are 0 there is nothing to lose.
pub(crate) fn check_labels(labels: &[f64]) -> Result<()> {
    let sizes = labels.iter().map(|label| label.abs());
    let largest = sizes.fold(0.0, f64::max);
    let squares: f64 = labels.iter().map(|label| label * label).sum();
    let size = if largest > 1.0 { "large" } else { "small" };
    ensure!(
        largest == 0.0 || (LEAST_SQUARES..f64::INFINITY).contains(&squares),
        data,
        "the labels are too {size}: centred, the largest is {largest:e}, and its square is out of the range of \
         numbers; scale the labels"
    );
    Ok(())
}

/// Refuses a `lambda` that vanishes beside the `largest` sum of squares of a column.
pub(crate) fn check_lambda(lambda: Lambda, largest: f64) -> Result<()> {
    let lambda = lambda.value();
    ensure!(
        largest / LARGEST_SQUARES <= lambda,
        options,
        "lambda {lambda:e} is too small for these values: the largest sum of squares of a column is {largest:e}, more \
         than {LARGEST_SQUARES:e} times as much; {}",
        Remedy::RaiseLambda
    );
    Ok(())
}

impl ColumnClasses {
    /// Refuses columns whose sums of squares are not from [`LEAST_SQUARES`] up to [`LARGEST_SQUARES`], and columns that
    /// are too small to scale, on whichever rank they are.
    pub(crate) fn check_range(&self) -> Result<()> {
        let own = self.first_out_of_range();
        let all = self.peers.all(&own).into_iter().flatten();
        if let Some((feature, squares)) = all.min_by_key(|&(feature, _)| feature) {
            let column = self.written(feature);
            return Err(Error::data(if squares <= LARGEST_SQUARES {
                format!(
                    "column {column} has values too small to scale: expected deviations within queries above 1e-308"
                )
            } else {
                format!(
                    "column {column} has values too large: centred, the sum of their squares is {squares:e}, and at \
                     most {LARGEST_SQUARES:e} can be computed with"
                )
            }));
        }
        let squares = self.largest_squared_norm();
        ensure!(
            squares >= LEAST_SQUARES,
            data,
            "the columns have values too small: centred, the largest sum of squares of a column is {squares:e}, and \
             at least {LEAST_SQUARES:e} can be computed with"
        );
        Ok(())
    }

    /// The first column with too large a sum of squares, or with a divisor that has no reciprocal, and the sum.
    fn first_out_of_range(&self) -> Option<(Feature, f64)> {
        let mut candidates = 0..self.len();
        let first = candidates.find(|&candidate| {
            // Overflow may have made it no number.
            let fits = self.squared_norm(candidate) <= LARGEST_SQUARES;
            !fits || !self.can_be_divided(candidate)
        });
        first.map(|candidate| (self.feature(candidate), self.squared_norm(candidate)))
    }
}
