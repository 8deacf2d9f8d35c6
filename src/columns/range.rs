//! Numbers out of range, whose squares and products overflow or vanish. They are refused before selection and
//! training.

use super::ColumnClasses;
use crate::data::Feature;
use crate::error::{Error, Result, ensure};
use crate::lambda::Lambda;
use crate::linalg::kernels::largest;
use rankrls_files::Remedy;

/// Least sum of squares of labels, or of the largest column, whose parts keep their digits: errors and gains are
/// small shares of it.
pub(crate) const LEAST_SQUARES: f64 = 1e-280;

/// Largest sum of squares of a column, also in units of lambda. Products of four values, and their sums, then stay
/// finite.
const LARGEST_SQUARES: f64 = 1e100;

/// Refuses labels whose squares overflow or underflow: every candidate and model would look alike.
///
/// `labels` are centred and weighted. Labels that are all 0 have nothing to lose.
pub(crate) fn check_labels(labels: &[f64]) -> Result<()> {
    let largest = largest(labels);
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
    /// Refuses columns with sums of squares outside [`LEAST_SQUARES`] to [`LARGEST_SQUARES`], and columns too small
    /// to scale, on any rank.
    pub(crate) fn check_range(&self) -> Result<()> {
        let own = self.first_out_of_range();
        let all = self.peers.all(&own).into_iter().flatten();
        if let Some((feature, squares)) = all.min_by_key(|&(feature, _)| feature) {
            let column = self.file_index(feature);
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

    /// The first column whose sum of squares is too large, or whose divisor has no reciprocal, and the sum.
    fn first_out_of_range(&self) -> Option<(Feature, f64)> {
        let mut candidates = 0..self.len();
        let first = candidates.find(|&candidate| {
            // Overflow may have made it nan.
            let fits = self.squared_norm(candidate) <= LARGEST_SQUARES;
            !fits || !self.can_be_divided(candidate)
        });
        first.map(|candidate| (self.feature(candidate), self.squared_norm(candidate)))
    }
}
