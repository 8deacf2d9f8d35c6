//! The driver of a selection: takes its steps one by one, those of an earlier run first.

use serde::{Deserialize, Serialize};

use super::error::{check_labels, check_values};
use super::strategy::{first_tied, least};
use super::target::REFIT_BLEND;
use super::teacher::weighted_labels;
use super::{
    Addition, PathId, Plan, Prepared, RankingCriterion, Round, Sampler, SelectError,
    SelectionOptions, State, Strategy, TargetOptions, Teacher, Work,
};
use crate::candidates::Candidates;
use crate::data::Column;
use crate::linalg::grown::Grown;
use crate::stop;

/// The driver: single steps. `Selecting` keeps what they find.
///
/// Where ranks share the columns ([`Candidates::among`]), each has the errors of its own; ranks tell
/// each other the least and the lowest feature that ties with it, and the owner of this feature sends
/// its column.
pub(crate) struct Greedy<'a> {
    candidates: &'a Candidates,
    path: PathId,
    /// Tells how the leave-query-out predictions rank; `None` where all labels of a query are equal.
    concordance: Option<RankingCriterion>,
    teacher: Option<Teacher>,
    target: TargetOptions,
    /// Centred, weighted labels where the state has another target, `m`.
    own: Option<Vec<f64>>,
    state: State,
    strategy: Box<dyn Strategy>,
    /// Whether the strategy has not adopted the last feature: it does when the next step needs it.
    behind: bool,
    sampler: Option<Sampler>,
    ranking: Option<RankingCriterion>,
    retired: Vec<bool>,
    /// Where candidates are drawn, the features that represent those of all ranks that are left,
    /// ascending.
    left: Vec<u32>,
    /// Steps to take again before there is anything to search for.
    recorded: &'a [Step],
    features: Vec<u32>,
    /// The features of the class of each.
    classes: Vec<Vec<u32>>,
}

/// One step of a selection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// 0-based feature that was added.
    pub feature: u32,
    /// Leave-query-out error after the step: sum over queries of the squared centred residuals.
    /// The error of `distil` is biased, as is its index: its teacher has seen the query's labels.
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
    /// The path that it is on.
    pub path: PathId,
    /// The step.
    pub step: Step,
    /// Whether an earlier run had found it.
    pub replayed: bool,
}

impl<'a> Greedy<'a> {
    /// Before the first step of the selection that `plan` has made of `options`. Takes the `recorded` steps of
    /// an earlier run again, without a search, and then goes on.
    pub(crate) fn begin(
        candidates: &'a Candidates,
        labels: &'a [f64],
        prepared: Prepared,
        plan: &Plan,
        options: &SelectionOptions,
        recorded: &'a [Step],
    ) -> Result<Self, SelectError> {
        let Prepared { teacher, scores } = prepared;
        let queries = candidates.queries();
        let scales = candidates.classes().query_weight().row_scales(queries);
        let unscaled = options.ranking(labels, queries)?;
        let kind = plan.strategy.kind();
        let scale = plan.target.label_scale(kind);
        let ranking = unscaled.map(|ranking| ranking.on_scale(scale));
        let known = options.known_lambda(kind, candidates);
        let lambda = known.ok_or(SelectError::NoLambda)?;
        let weighted = weighted_labels(candidates.classes(), labels, plan);
        let blended = |share: f64| {
            teacher
                .as_ref()
                .map(|predictions| predictions.blended(&weighted, share))
        };
        // Only cross-fitted weights have it.
        let refit = plan.target.refit_lambda.and_then(|ridge| {
            let of_refit = ridge.lambda(candidates.unit());
            Some((blended(REFIT_BLEND)?, Grown::new(of_refit.value())))
        });
        let (targets, own) = match plan.target.blend.and_then(blended) {
            Some(target) => (target, Some(weighted)),
            None => (weighted, None),
        };
        let state = State::of_target(targets, queries, scales, refit, lambda, plan.steps)
            .with_room(plan.room);
        check_labels(state.labels())?;
        check_values(candidates, lambda)?;
        let strategy = plan.strategy.build(candidates, &state, scores);
        let sampler = options.sampler(kind);
        let left = sampler.map_or_else(Vec::new, |_| candidates.features());
        let retired = vec![false; candidates.classes().len()];
        Ok(Self {
            strategy,
            candidates,
            path: PathId {
                lambda,
                strategy: kind,
                labels: scale,
            },
            concordance: RankingCriterion::concordance(&state, labels),
            target: TargetOptions {
                teacher_lambda: teacher
                    .as_ref()
                    .and_then(|predictions| predictions.tried.clone()),
                ..plan.target
            },
            teacher: teacher.map(|predictions| predictions.teacher),
            own,
            state,
            behind: false,
            sampler,
            ranking,
            retired,
            left,
            recorded,
            features: Vec::with_capacity(plan.steps),
            classes: Vec::with_capacity(plan.steps),
        })
    }

    /// The candidates.
    pub(crate) fn candidates(&self) -> &Candidates {
        self.candidates
    }

    /// The state after the steps taken.
    pub(crate) fn state(&self) -> &State {
        &self.state
    }

    /// The labels and the teacher, with every choice made and the ridge parameters that were tried.
    pub(crate) fn target(&self) -> TargetOptions {
        self.target.clone()
    }

    /// The teacher, if there is one.
    pub(crate) fn teacher(&self) -> Option<Teacher> {
        self.teacher
    }

    /// 0-based features selected so far, in order of selection.
    pub(crate) fn features(&self) -> &[u32] {
        &self.features
    }

    /// 0-based features of the class of each, ascending.
    pub(crate) fn classes(&self) -> &[Vec<u32>] {
        &self.classes
    }

    /// Takes the next step: that of the earlier run if there is one, else the best there is.
    /// `None` when all planned steps are taken, or no candidate is left.
    pub(crate) fn advance(&mut self) -> Result<Option<Advance>, SelectError> {
        let taken = self.state.steps();
        if taken == self.state.capacity() {
            return Ok(None);
        }
        let recorded = self.recorded.get(taken);
        let step = match recorded {
            Some(step) => Some(self.replay(taken + 1, step)?),
            None => self.search()?,
        };
        let Some(step) = step else {
            return Ok(None);
        };
        if let Some((bytes, room)) = self.state.missing_room() {
            return Err(SelectError::Factors {
                number: taken + 1,
                bytes,
                room,
            });
        }
        let finite = |weight: &f64| weight.is_finite();
        if !step.lqo_error.is_finite() || !self.state.weights().iter().all(finite) {
            return Err(SelectError::NotFinite { number: taken + 1 });
        }
        Ok(Some(Advance {
            path: self.path,
            step,
            replayed: recorded.is_some(),
        }))
    }

    /// Adds the feature that represents a candidate, whichever rank has it; says whether one that is
    /// left is represented by it.
    fn take(&mut self, feature: u32) -> bool {
        self.follow();
        let candidates = self.candidates;
        let classes = candidates.classes();
        let represented = classes.represented_by(feature);
        let own = match represented.filter(|&candidate| !self.retired[candidate]) {
            Some(candidate) => {
                self.retired[candidate] = true;
                let Column { rows, values } = classes.column(candidate);
                let column = (rows.to_vec(), values.to_vec());
                let class = classes.class(candidate).to_vec();
                Some((classes.factor(candidate), class, column))
            }
            None => None,
        };
        let mut all = candidates.peers().all(&own).into_iter().flatten();
        let Some((factor, class, (rows, values))) = all.next() else {
            return false;
        };
        if let Ok(place) = self.left.binary_search(&feature) {
            self.left.remove(place);
        }
        self.features.push(feature);
        self.classes.push(class);
        self.state.add(Addition {
            feature,
            column: Column {
                rows: &rows,
                values: &values,
            },
            factor,
        });
        self.behind = true;
        true
    }

    /// Lets the strategy adopt the feature that was added last.
    fn follow(&mut self) {
        if self.behind {
            self.strategy.adopt(self.candidates.classes(), &self.state);
            self.behind = false;
        }
    }

    /// Takes a step again: its feature has to be left, and the error after it what it was, to
    /// the last bit.
    fn replay(&mut self, number: usize, step: &Step) -> Result<Step, SelectError> {
        let refuse = |found: String| SelectError::Replay { number, found };
        if !self.take(step.feature) {
            let column = self.candidates.written(step.feature);
            return Err(refuse(format!("column {column} is not to be selected")));
        }
        let (error, was) = (self.error(), step.lqo_error);
        if error.to_bits() != was.to_bits() {
            return Err(refuse(format!(
                "the held-out error is {error} where it was {was}"
            )));
        }
        Ok(Step {
            criterion: self.criterion(),
            ..step.clone()
        })
    }

    /// Takes the best step; `None` when no candidate is left.
    fn search(&mut self) -> Result<Option<Step>, SelectError> {
        if stop::requested() {
            return Err(SelectError::Stopped);
        }
        self.follow();
        let eligible = self.eligible();
        let round = Round {
            candidates: self.candidates.classes(),
            peers: self.candidates.peers(),
            state: &self.state,
            sampled: self.sampler.is_some(),
            ranking: self.ranking.as_ref(),
            room: Round::room(self.state.labels().len(), self.state.capacity()),
        };
        let errors = self.strategy.errors(&round, &eligible);
        // The strategy may have skipped candidates then.
        if stop::requested() {
            return Err(SelectError::Stopped);
        }
        let (left, Work { evaluated, alive }) = self.judged(eligible.len(), errors.len())?;
        let Some(feature) = self.winner(&eligible, &errors) else {
            // No candidate that is left has an error that is a number.
            return match left {
                0 => Ok(None),
                _ => Err(SelectError::NotFinite {
                    number: self.state.steps() + 1,
                }),
            };
        };
        if !self.take(feature) {
            return Ok(None);
        }
        Ok(Some(Step {
            feature,
            lqo_error: self.error(),
            lqo_cindex: self.of_predictions(self.concordance.as_ref()),
            criterion: self.criterion(),
            identical_columns: self.classes.last().map_or(0, |class| class.len() - 1),
            evaluated,
            alive,
        }))
    }

    /// Positions of the candidates of this rank that the next step may take, ascending.
    fn eligible(&self) -> Vec<u32> {
        let Some(sampler) = self.sampler else {
            let all = (0u32..).zip(&self.retired);
            return all.filter_map(|(at, out)| (!out).then_some(at)).collect();
        };
        let drawn = sampler.draw(self.state.steps(), &self.left);
        self.candidates.classes().positions(drawn.into_iter())
    }

    /// The lowest feature of all ranks whose error ties with the least.
    fn winner(&self, eligible: &[u32], errors: &[f64]) -> Option<u32> {
        let (peers, classes) = (self.candidates.peers(), self.candidates.classes());
        let first = first_tied(errors, peers.least(least(errors)));
        let feature = first.map(|place| classes.feature(eligible[place] as usize));
        peers.all(&feature).into_iter().flatten().min()
    }

    /// How many candidates were `eligible`, and what their errors took, on all ranks together; refuses
    /// more or fewer errors than there are candidates.
    fn judged(&self, eligible: usize, errors: usize) -> Result<(usize, Work), SelectError> {
        let own = (self.strategy.work(eligible), eligible, errors);
        let (mut left, mut sum) = (0, Work::default());
        for (work, expected, found) in self.candidates.peers().all(&own) {
            if found != expected {
                return Err(SelectError::Errors {
                    number: self.state.steps() + 1,
                    expected,
                    found,
                });
            }
            left += expected;
            sum.add(&work);
        }
        Ok((left, sum))
    }

    /// Squared error of the leave-query-out predictions, against the labels.
    fn error(&self) -> f64 {
        let Some(own) = &self.own else {
            return self.state.error();
        };
        let targets = self.state.labels().iter().zip(self.state.holdout());
        let predictions = targets.map(|(target, residual)| target - residual);
        let residuals = own.iter().zip(predictions);
        residuals
            .map(|(label, prediction)| (label - prediction).powi(2))
            .sum()
    }

    /// The ranking measure that candidates are judged by, of the state's predictions.
    fn criterion(&self) -> Option<f64> {
        self.of_predictions(self.ranking.as_ref())
    }

    /// A measure of the state's predictions.
    fn of_predictions(&self, measure: Option<&RankingCriterion>) -> Option<f64> {
        measure?.mean(&self.state.predictions())
    }
}

impl Step {
    /// Logs the step, with its `feature` as the file of the data counts.
    pub(crate) fn log(&self, number: usize, feature: u64) {
        let Self {
            lqo_error,
            evaluated,
            alive,
            ..
        } = self;
        // For `bounded` only.
        let bounded = Some(alive).filter(|alive| !alive.is_empty());
        let counts = bounded.map(tracing::field::debug);
        tracing::info!(
            step = number,
            feature,
            lqo_error,
            alive = counts,
            evaluated,
            "selected"
        );
    }
}
