//! Selection in single steps.

use super::{SelectError, Step, lqo_cindex};
use crate::columns::ColumnClasses;
use crate::greedy::Sampler;
use crate::greedy::{
    Addition, Contest, RankingCriterion, Round, State, Strategy, StrategyKind, Work,
};

/// Greedy selection in single steps.
pub struct Greedy<'a> {
    candidates: &'a ColumnClasses,
    state: State,
    strategy: Box<dyn Strategy>,
    sampler: Option<Sampler>,
    ranking: Option<RankingCriterion>,
    retired: Vec<bool>,
}

impl<'a> Greedy<'a> {
    /// Starts from `state`, usually one without features.
    pub fn new(
        candidates: &'a ColumnClasses,
        state: State,
        strategy: StrategyKind,
        sampler: Option<Sampler>,
    ) -> Self {
        let strategy = strategy.build(candidates, &state);
        Self::with_strategy(candidates, state, strategy, sampler)
    }

    /// The same with a strategy of your own.
    pub fn with_strategy(
        candidates: &'a ColumnClasses,
        state: State,
        strategy: Box<dyn Strategy>,
        sampler: Option<Sampler>,
    ) -> Self {
        Self {
            candidates,
            state,
            strategy,
            sampler,
            ranking: None,
            retired: vec![false; candidates.len()],
        }
    }

    /// Judges candidates by a ranking measure instead of the squared error. For strategies
    /// that can ([`StrategyKind::can_rank`]).
    #[must_use]
    pub fn by_ranking(mut self, ranking: Option<RankingCriterion>) -> Self {
        self.ranking = ranking;
        self
    }

    /// The state after the steps taken.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What the last proposal took.
    pub fn work(&self) -> Work {
        self.strategy.work()
    }

    /// Judges the candidates for the next step. The contest is empty when none is left.
    pub fn propose(&mut self) -> Contest {
        let round = Round {
            candidates: self.candidates,
            state: &self.state,
            retired: &self.retired,
            sample: None,
            ranking: self.ranking.as_ref(),
        };
        let Some(sampler) = self.sampler else {
            return self.strategy.propose(&round);
        };
        let sample = sampler.draw(self.state.steps(), &round.eligible_candidates());
        self.strategy.propose(&Round {
            sample: Some(&sample),
            ..round
        })
    }

    /// The column of a candidate by the feature that represents it, ready to be added here
    /// or in another process.
    pub fn addition(&self, feature: u32) -> Option<Addition<'a>> {
        let candidate = self.candidates.represented_by(feature)?;
        let column = self.candidates.column(candidate);
        Some(Addition {
            feature,
            column,
            sign: self.candidates.sign(candidate),
        })
    }

    /// Adds a feature, from here or from another process, and retires the candidate that
    /// equals it.
    ///
    /// # Panics
    /// When the state has no room for another step.
    pub fn adopt(&mut self, addition: Addition<'_>) {
        if let Some(candidate) = self.candidates.equal_to(&addition) {
            self.retired[candidate] = true;
        }
        self.state.add(addition);
        self.strategy.adopt(self.candidates, &self.state);
    }

    /// Takes a step again that an earlier run has found, and tells it again.
    ///
    /// # Errors
    /// [`SelectError::Replay`] when its feature is none of the candidates left, or the error
    /// after it is not what it was, to the last bit.
    pub fn replay(&mut self, number: usize, step: &Step) -> Result<Step, SelectError> {
        let refuse = |found: String| SelectError::Replay { number, found };
        let position = self.candidates.represented_by(step.feature);
        let open = position.filter(|&position| !self.retired[position]);
        let addition = open.and_then(|_| self.addition(step.feature));
        let Some(addition) = addition else {
            let column = step.feature;
            return Err(refuse(format!(
                "column {column}, counted from 0, is not to be selected"
            )));
        };
        self.adopt(addition);
        let error = self.state.error();
        if error.to_bits() == step.lqo_error.to_bits() {
            return Ok(Step {
                criterion: self.criterion(),
                ..step.clone()
            });
        }
        let was = step.lqo_error;
        Err(refuse(format!(
            "the leave-query-out error is {error} where it was {was}"
        )))
    }

    /// The ranking measure that candidates are judged by, of the state's predictions.
    fn criterion(&self) -> Option<f64> {
        self.ranking.as_ref()?.mean(&self.state.predictions())
    }

    /// Takes a step; `None` when no candidate is left.
    pub fn step(&mut self, labels: &[f64]) -> Option<Step> {
        let winner = self.propose().winner()?;
        let Work { evaluated, alive } = self.work();
        let addition = self.addition(winner.feature)?;
        self.adopt(addition);
        let class = self.candidates.represented_by(winner.feature);
        Some(Step {
            feature: winner.feature,
            lqo_error: self.state.error(),
            lqo_cindex: lqo_cindex(&self.state, labels),
            criterion: self.criterion(),
            identical_columns: class.map_or(0, |class| self.candidates.class(class).len() - 1),
            evaluated,
            alive,
        })
    }
}
