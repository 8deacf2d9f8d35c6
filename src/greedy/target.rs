//! The target of a selection: labels on some scale, mixed with predictions of a teacher.
//!
//! A teacher predicts every query without having seen its labels: RankRLS on all columns by its
//! hold-out predictions `z`, or scores from elsewhere. `distil` selects towards
//! `t = (1 - blend) z + blend y`, and `cross-fitted` weights are those of [`WEIGHT_BLEND`], after
//! the features have been selected by whatever strategy. `docs/evidence.md` has what it
//! is worth.

use super::strategies::ExpectedDivergence;
use crate::columns::ColumnClasses;
use crate::data::Dataset;
use crate::error::{Result, ensure};
use crate::lambda::{LambdaSearch, Lambdas, Ridge};
use crate::names::names;

/// Share of the labels in the target of cross-fitted weights; the teacher has the rest.
pub(super) const WEIGHT_BLEND: f64 = 0.25;

/// The ridge parameter of cross-fitted weights.
pub(super) const WEIGHT_LAMBDA: Ridge = Ridge::fraction((1, 64));

/// Queries from which on labels count more: [`usual_blend`].
const MANY_QUERIES: usize = 500;

/// The filter of the strategy `fs-ed` by `data`, which have the columns of `candidates`.
pub(super) fn filter<'a>(
    data: &'a Dataset<'_>,
    candidates: &ColumnClasses,
) -> Result<ExpectedDivergence<'a>> {
    ensure!(
        candidates.is_empty() || data.position(candidates.feature(0)).is_some(),
        options,
        "strategy fs-ed judges columns as the data have them: expected a data set with the columns of the \
         candidates, found labels without them"
    );
    ExpectedDivergence::new(data).map_err(|error| error.within("strategy fs-ed: "))
}

/// The target of the weights of the selected features.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WeightTarget {
    /// The target of the selection: the labels, or the target of `distil`.
    Labels,
    /// Three quarters of the teacher's hold-out predictions and a quarter of the labels.
    CrossFitted,
}

names!(WeightTarget, "target of weights", Labels => "labels", CrossFitted => "cross-fitted");

/// The default share of the labels in the target of `distil` with so many queries.
pub(super) fn usual_blend(queries: usize) -> f64 {
    if queries < MANY_QUERIES { 0.2 } else { 0.4 }
}

/// Default ridge parameters of a teacher, in shares of the unit.
const TEACHER: [(u32, u32); 5] = [(1, 64), (1, 16), (1, 4), (1, 1), (4, 1)];

/// The search for the ridge parameter of a teacher, among `lambdas` of this `unit`.
pub(super) fn teacher_search(lambdas: &Lambdas, unit: f64) -> LambdaSearch {
    let shares = || TEACHER.map(|share| Ridge::fraction(share).lambda(unit));
    match lambdas {
        Lambdas::Auto => LambdaSearch::new(&shares(), true),
        given @ Lambdas::Given(_) => LambdaSearch::new(&given.lambdas(unit), false),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lambda::Lambda;

    fn lambda(value: f64) -> Lambda {
        Lambda::new(value).unwrap()
    }

    #[test]
    fn a_teacher_has_a_list_of_its_own() {
        let auto = teacher_search(&Lambdas::Auto, 16.0);
        assert_eq!(auto.tried(), [0.25, 1.0, 4.0, 16.0, 64.0].map(lambda));
        assert_eq!(auto.most(), 8);
        let given = teacher_search(&"64, 1/4u,4".parse().unwrap(), 16.0);
        assert_eq!(given.tried(), [4.0, 64.0].map(lambda));
        assert_eq!(given.most(), 2);
    }
}
