//! The driver of a selection: takes its steps one by one, those of an earlier run first.

use serde::{Deserialize, Serialize};

use super::{
    Addition, Contest, Plan, RankingCriterion, Round, Sampler, SelectError, SelectionOptions,
    State, Strategy, Work, lqo_cindex,
};
use crate::Lambda;
use crate::columns::ColumnClasses;
use crate::data::Column;

/// A selection in single steps. [`select`](super::select()) does the whole job.
///
/// Where columns are partitioned over processes, each process [`propose`](Self::propose)s among
/// its own columns, the [`Contest`]s are merged, and the winner's [`Addition`] is sent to
/// everyone to [`adopt`](Self::adopt).
pub struct Greedy<'a> {
    candidates: &'a ColumnClasses,
    labels: &'a [f64],
    state: State,
    strategy: Box<dyn Strategy>,
    sampler: Option<Sampler>,
    ranking: Option<RankingCriterion>,
    retired: Vec<bool>,
    /// Steps to take again before there is anything to search for.
    recorded: &'a [Step],
    features: Vec<u32>,
}

/// One step of a selection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// 0-based feature that was added.
    pub feature: u32,
    /// Leave-query-out error after the step: sum over queries of the squared centred residuals.
    pub lqo_error: f64,
    /// Concordance index of the leave-query-out predictions; `None` when no query has
    /// examples of different labels.
    pub lqo_cindex: Option<f64>,
    /// The ranking measure that candidates were judged by, of the leave-query-out predictions
    /// after the step; `None` where they were judged by the squared error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criterion: Option<f64>,
    /// Other columns that centre to the same column up to sign.
    pub identical_columns: usize,
    /// Candidates that were evaluated exactly.
    pub evaluated: usize,
    /// For `bounded`, candidates that could still win after each level of bounds
    /// ([`Work::alive`](Work::alive)); empty for others.
    pub alive: Vec<usize>,
}

/// A step that was just taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Advance {
    /// The step.
    pub step: Step,
    /// Whether an earlier run had found it.
    pub replayed: bool,
}

impl<'a> Greedy<'a> {
    /// Before the first step of the selection that `plan` has made of `options`. Takes the
    /// `recorded` steps of an earlier run again, without a search, and then goes on.
    ///
    /// # Errors
    /// [`SelectError`] where labels, values or `lambda` cannot be computed with, or the criterion
    /// is undefined.
    pub fn new(
        candidates: &'a ColumnClasses,
        labels: &'a [f64],
        plan: &Plan,
        options: &SelectionOptions,
        recorded: &'a [Step],
    ) -> Result<Self, SelectError> {
        let ranking = options.ranking(labels, candidates.queries())?;
        let (queries, weight) = (candidates.queries(), candidates.query_weight());
        let state = State::weighted(labels, queries, weight, options.lambda, plan.steps);
        check_labels(&state)?;
        check_values(candidates, options.lambda)?;
        Ok(Self {
            strategy: plan.strategy.build(candidates, &state),
            candidates,
            labels,
            state,
            sampler: options.sampler(plan.strategy),
            ranking,
            retired: vec![false; candidates.len()],
            recorded,
            features: Vec::with_capacity(plan.steps),
        })
    }

    /// The same with a strategy of your own in place of the planned one.
    #[must_use]
    pub fn with_strategy(mut self, strategy: Box<dyn Strategy>) -> Self {
        self.strategy = strategy;
        self
    }

    /// The state after the steps taken.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// 0-based features selected so far, in order of selection.
    pub fn features(&self) -> &[u32] {
        &self.features
    }

    /// Takes the next step: that of the earlier run if there is one, else the best there is.
    /// `None` when all planned steps are taken, or no candidate is left.
    ///
    /// # Errors
    /// [`SelectError::Replay`] when a recorded step is not to be had here;
    /// [`SelectError::NotFinite`] when the error or a weight is no finite number.
    pub fn advance(&mut self) -> Result<Option<Advance>, SelectError> {
        let taken = self.state.steps();
        if taken == self.state.capacity() {
            return Ok(None);
        }
        let recorded = self.recorded.get(taken);
        let step = match recorded {
            Some(step) => Some(self.replay(taken + 1, step)?),
            None => self.search(),
        };
        let Some(step) = step else {
            return Ok(None);
        };
        let finite = |weight: &f64| weight.is_finite();
        if !step.lqo_error.is_finite() || !self.state.weights().iter().all(finite) {
            return Err(SelectError::NotFinite { number: taken + 1 });
        }
        Ok(Some(Advance {
            step,
            replayed: recorded.is_some(),
        }))
    }

    /// Judges the candidates for the next step, and says what that took. The contest is empty when
    /// none is left.
    pub fn propose(&mut self) -> (Contest, Work) {
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
        Some(Addition {
            feature,
            column: self.candidates.column(candidate),
            sign: self.candidates.sign(candidate),
        })
    }

    /// Adds a feature, from here or from another process, and retires the candidate that
    /// equals it.
    ///
    /// # Panics
    /// When all planned steps have been taken.
    pub fn adopt(&mut self, addition: Addition<'_>) {
        if let Some(candidate) = self.equal_to(&addition) {
            self.retired[candidate] = true;
        }
        self.features.push(addition.feature);
        self.state.add(addition);
        self.strategy.adopt(self.candidates, &self.state);
    }

    /// The candidate that is the column of `addition`: the one its feature represents, or,
    /// when the feature is none of these columns, one with the same canonical form.
    fn equal_to(&self, addition: &Addition<'_>) -> Option<usize> {
        let candidates = self.candidates;
        let Column { rows, values } = addition.column;
        candidates.represented_by(addition.feature).or_else(|| {
            (0..candidates.len()).find(|&candidate| {
                let own = candidates.column(candidate);
                own.rows == rows && own.values == values
            })
        })
    }

    /// Takes a step again: its feature has to be left, and the error after it what it was, to
    /// the last bit.
    fn replay(&mut self, number: usize, step: &Step) -> Result<Step, SelectError> {
        let refuse = |found: String| SelectError::Replay { number, found };
        let position = self.candidates.represented_by(step.feature);
        let open = position.filter(|&position| !self.retired[position]);
        let Some(addition) = open.and_then(|_| self.addition(step.feature)) else {
            let column = step.feature;
            return Err(refuse(format!(
                "column {column}, counted from 0, is not to be selected"
            )));
        };
        self.adopt(addition);
        let (error, was) = (self.state.error(), step.lqo_error);
        if error.to_bits() != was.to_bits() {
            return Err(refuse(format!(
                "the leave-query-out error is {error} where it was {was}"
            )));
        }
        Ok(Step {
            criterion: self.criterion(),
            ..step.clone()
        })
    }

    /// Takes the best step; `None` when no candidate is left.
    fn search(&mut self) -> Option<Step> {
        let (contest, Work { evaluated, alive }) = self.propose();
        let winner = contest.winner()?;
        self.adopt(self.addition(winner.feature)?);
        let class = self.candidates.represented_by(winner.feature);
        Some(Step {
            feature: winner.feature,
            lqo_error: self.state.error(),
            lqo_cindex: lqo_cindex(&self.state, self.labels),
            criterion: self.criterion(),
            identical_columns: class.map_or(0, |class| self.candidates.class(class).len() - 1),
            evaluated,
            alive,
        })
    }

    /// The ranking measure that candidates are judged by, of the state's predictions.
    fn criterion(&self) -> Option<f64> {
        self.ranking.as_ref()?.mean(&self.state.predictions())
    }
}

impl Step {
    pub(crate) fn log(&self, number: usize) {
        let Self {
            feature: column,
            lqo_error,
            evaluated,
            alive,
            ..
        } = self;
        if alive.is_empty() {
            tracing::info!(step = number, column, lqo_error, evaluated, "selected");
        } else {
            tracing::info!(
                step = number,
                column,
                lqo_error,
                ?alive,
                evaluated,
                "selected"
            );
        }
    }
}

/// Least sum of squared labels that leaves its parts their digits: errors are a small share of it.
const LEAST_SQUARES: f64 = 1e-280;

/// Refuses labels whose squares overflow or lose their digits to underflow: every candidate
/// would look alike.
fn check_labels(state: &State) -> Result<(), SelectError> {
    let labels = state.labels().iter();
    let largest = labels.fold(0.0_f64, |largest, label| largest.max(label.abs()));
    let squares = state.error();
    if largest == 0.0 || (LEAST_SQUARES..f64::INFINITY).contains(&squares) {
        return Ok(());
    }
    Err(SelectError::Labels { largest })
}

/// Largest sum of squares of a column, also in units of lambda: products of four values, and sums
/// of them, stay finite.
const LARGEST_SQUARES: f64 = 1e100;

/// Refuses columns whose products overflow, and a lambda that vanishes beside them.
fn check_values(candidates: &ColumnClasses, lambda: Lambda) -> Result<(), SelectError> {
    // Overflow may have made it no number.
    let fits = |squares: f64| squares <= LARGEST_SQUARES;
    let too_large = |&candidate: &usize| !fits(candidates.squared_norm(candidate));
    if let Some(candidate) = (0..candidates.len()).find(too_large) {
        return Err(SelectError::Values {
            feature: candidates.feature(candidate),
            squares: candidates.squared_norm(candidate),
        });
    }
    let (squares, lambda) = (candidates.largest_squared_norm(), lambda.value());
    if squares / LARGEST_SQUARES > lambda {
        return Err(SelectError::Lambda { lambda, squares });
    }
    Ok(())
}
