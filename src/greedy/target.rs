//! The target of a selection: labels on some scale, mixed with what a teacher says.
//!
//! A teacher predicts every query without having seen its labels: RankRLS on all columns by its
//! hold-out predictions `z`, or scores from elsewhere. `distil` selects towards
//! `t = (1 - blend) z + blend y`, and `cross-fitted` weights are those of [`REFIT_BLEND`], after
//! the features have been selected by whatever strategy. `docs/quality.md` has why, and what it
//! is worth.

use super::GreedyRankRls;
use super::strategies::ExpectedDivergence;
use crate::candidates::Candidates;
use crate::columns::ColumnClasses;
use crate::data::{Dataset, LabelScale};
use crate::error::{Result, ensure};
use crate::lambda::{Lambda, LambdaSearch, Lambdas, Ridge};
use crate::names::names;

/// Share of the labels in the target of cross-fitted weights; the rest is the teacher's.
pub(super) const REFIT_BLEND: f64 = 0.25;

/// The ridge parameter of cross-fitted weights.
const REFIT: Ridge = Ridge::fraction((1, 64));

/// Queries from which on labels count more: [`GreedyRankRls::blend`].
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

/// What the weights of the selected features are fitted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Refit {
    /// What the features were selected by: the labels, or the target of `distil`.
    Labels,
    /// Three quarters of the teacher's hold-out predictions and a quarter of the labels.
    CrossFitted,
}

names!(Refit, "target of weights", Labels => "labels", CrossFitted => "cross-fitted");

impl GreedyRankRls {
    /// The ridge parameter for `distil` on so many queries, where nobody asks for another: 1/16 of
    /// the unit, and 1/64 from 500 queries on.
    pub(crate) fn distil_lambda(queries: usize) -> Ridge {
        Ridge::fraction((1, if queries < MANY_QUERIES { 16 } else { 64 }))
    }

    /// The scale of the labels for the strategy.
    pub(crate) fn label_scale(&self) -> LabelScale {
        let distils = self.strategy.distils();
        let usual = if distils {
            LabelScale::SqrtSd
        } else {
            LabelScale::Raw
        };
        self.labels.unwrap_or(usual)
    }

    /// These options with every choice about labels and teacher made that counts for the strategy among
    /// `candidates`, ridge parameters as numbers, and without the other choices about them.
    pub(crate) fn settled(&self, candidates: &Candidates) -> Self {
        let (queries, unit) = (candidates.queries().len(), candidates.unit());
        let distils = self.strategy.distils();
        let default = if distils {
            Refit::CrossFitted
        } else {
            Refit::Labels
        };
        let refit = self.refit.unwrap_or(default);
        let fitted = refit == Refit::CrossFitted;
        let has_teacher = distils || fitted;
        let blend = if queries < MANY_QUERIES { 0.2 } else { 0.4 };
        let labels = self.label_scale();
        let number = |ridge: Ridge| Ridge::Number(ridge.lambda(unit));
        Self {
            labels: (has_teacher || !labels.is_raw()).then_some(labels),
            refit: has_teacher.then_some(refit),
            refit_lambda: fitted.then(|| number(self.refit_lambda.unwrap_or(REFIT))),
            blend: distils.then(|| self.blend.unwrap_or(blend)),
            teacher_lambda: has_teacher.then(|| match &self.teacher_lambda {
                None | Some(Lambdas::Auto) => Lambdas::Auto,
                Some(given) => Lambdas::of(&Lambda::grid(&given.lambdas(unit))),
            }),
            ..self.clone()
        }
    }
}

/// Ridge parameters of a teacher that nobody gives, in shares of the unit.
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
    use crate::data::parsed;
    use crate::greedy::StrategyKind;

    /// So many queries of two rows; the unit is 16.
    fn candidates(queries: usize) -> Candidates {
        let rows = (1..=queries).map(|query| format!("1 qid:{query} 1:8\n0 qid:{query}\n"));
        ColumnClasses::new(&parsed(&rows.collect::<String>())).into()
    }

    #[test]
    fn defaults_depend_on_strategy_queries_and_unit() {
        let (few, many) = (candidates(112), candidates(560));
        assert_eq!(few.unit(), 16.0);
        let by = |kind: StrategyKind| GreedyRankRls {
            strategy: kind,
            ..GreedyRankRls::default()
        };
        let bounded = by(StrategyKind::Bounded);
        assert_eq!(bounded.settled(&many), bounded);
        let distil = by(StrategyKind::Distil).settled(&few);
        assert_eq!(
            (distil.labels, distil.blend, distil.refit),
            (
                Some(LabelScale::SqrtSd),
                Some(0.2),
                Some(Refit::CrossFitted)
            )
        );
        assert_eq!(distil.refit_lambda.unwrap().to_string(), "0.25");
        assert_eq!(distil.teacher_lambda, Some(Lambdas::Auto));
        assert_eq!(by(StrategyKind::Distil).settled(&many).blend, Some(0.4));
        let given = GreedyRankRls {
            labels: Some(LabelScale::Raw),
            refit: Some(Refit::CrossFitted),
            refit_lambda: Some(Ridge::Number(lambda(3.0))),
            blend: Some(0.3),
            teacher_lambda: Some("1u,2".parse().unwrap()),
            ..by(StrategyKind::Dense)
        };
        let refit = given.settled(&few);
        assert_eq!(
            (refit.blend, refit.refit_lambda),
            (None, given.refit_lambda)
        );
        let lambdas = [2.0, 16.0].map(lambda);
        assert_eq!(refit.teacher_lambda, Some(Lambdas::of(&lambdas)));
        assert_eq!(refit, refit.settled(&many));
    }

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
