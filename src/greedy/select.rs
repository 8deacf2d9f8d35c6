//! The whole job of a selection.

use super::{
    Ending, Greedy, Observer, Plan, RankingCriterion, SelectError, Selection, SelectionOptions,
    State, Step, plan,
};
use crate::Lambda;
use crate::columns::ColumnClasses;
use crate::data::Dataset;

/// Selects features of `dataset`.
///
/// # Errors
/// [`SelectError`] when there is nothing to select, or not the memory to do it.
pub fn select(
    dataset: &Dataset<'_>,
    options: &SelectionOptions,
    observer: &mut dyn Observer,
) -> Result<Selection, SelectError> {
    let candidates = ColumnClasses::weighted(dataset, options.query_weight);
    let data = dataset.memory();
    select_among(&candidates, dataset.labels(), data, options, observer)
}

/// Selects among candidates that have been found before. `held` bytes are in use besides
/// the candidates and count towards the limit. Queries weigh what they weigh in the candidates,
/// whatever the options say.
///
/// # Errors
/// As [`select`].
pub fn select_among(
    candidates: &ColumnClasses,
    labels: &[f64],
    held: u64,
    options: &SelectionOptions,
    observer: &mut dyn Observer,
) -> Result<Selection, SelectError> {
    resume_among(candidates, labels, held, options, &[], observer)
}

/// Goes on with a selection that has taken `steps` before: adds their features without
/// searching, and selects the rest. Ends with the features, errors and weights, to the last bit,
/// of a selection that was never interrupted.
///
/// # Errors
/// As [`select`]; [`SelectError::Replay`] when the steps do not lead here to the errors that
/// they led to.
pub fn resume_among(
    candidates: &ColumnClasses,
    labels: &[f64],
    held: u64,
    options: &SelectionOptions,
    steps: &[Step],
    observer: &mut dyn Observer,
) -> Result<Selection, SelectError> {
    let plan = plan(candidates, held, options)?;
    tracing::info!(strategy = %plan.strategy, steps = plan.steps, bytes = plan.memory, "selecting");
    let ranking = options.ranking(labels, candidates.queries())?;
    observer.started(&plan);
    // On a thread of the pool: a step has many short parallel parts, and each would otherwise
    // wake another thread to start and this one when it ends.
    rayon::scope(|_| {
        let job = Job {
            candidates,
            labels,
            plan: &plan,
            options,
        };
        job.run(ranking, steps, observer)
    })
}

/// A selection before its first step, as `plan` has it.
pub(crate) fn start<'a>(
    candidates: &'a ColumnClasses,
    labels: &'a [f64],
    plan: &'a Plan,
    options: &'a SelectionOptions,
) -> Result<Greedy<'a>, SelectError> {
    let ranking = options.ranking(labels, candidates.queries())?;
    let job = Job {
        candidates,
        labels,
        plan,
        options,
    };
    job.start(ranking)
}

/// A selection about to be made.
struct Job<'a> {
    candidates: &'a ColumnClasses,
    labels: &'a [f64],
    plan: &'a Plan,
    options: &'a SelectionOptions,
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

impl<'a> Job<'a> {
    fn run(
        &self,
        ranking: Option<RankingCriterion>,
        earlier: &[Step],
        observer: &mut dyn Observer,
    ) -> Result<Selection, SelectError> {
        let plan = self.plan;
        let mut greedy = self.start(ranking)?;
        let mut steps = Vec::with_capacity(plan.steps);
        let mut ending = if plan.steps < self.options.k {
            Ending::Exhausted
        } else {
            Ending::Complete
        };
        while steps.len() < plan.steps {
            let number = steps.len() + 1;
            let (step, flow) = if let Some(step) = earlier.get(number - 1) {
                let step = greedy.replay(number, step)?;
                let flow = observer.replayed(number, &step, greedy.state());
                (step, flow)
            } else if let Some(step) = greedy.step(self.labels) {
                step.log(number);
                let flow = observer.stepped(number, &step, greedy.state());
                if flow.is_continue() && !step.lqo_error.is_finite() {
                    return Err(SelectError::NotFinite { number });
                }
                (step, flow)
            } else {
                ending = Ending::Exhausted;
                break;
            };
            steps.push(step);
            if flow.is_break() && steps.len() < plan.steps {
                ending = Ending::Interrupted;
                break;
            }
        }
        let weights = greedy.state().weights();
        if ending != Ending::Interrupted && !weights.iter().all(|weight| weight.is_finite()) {
            let number = steps.len();
            return Err(SelectError::NotFinite { number });
        }
        let condition = greedy.state().condition();
        Ok(self.selection(steps, weights, condition, ending))
    }

    /// The driver before the first step.
    fn start(&self, ranking: Option<RankingCriterion>) -> Result<Greedy<'a>, SelectError> {
        let (candidates, lambda) = (self.candidates, self.options.lambda);
        let (queries, weight) = (candidates.queries(), candidates.query_weight());
        let state = State::weighted(self.labels, queries, weight, lambda, self.plan.steps);
        check_labels(&state)?;
        check_values(candidates, lambda)?;
        let sampler = self.options.sampler(self.plan.strategy);
        let greedy = Greedy::new(candidates, state, self.plan.strategy, sampler);
        Ok(greedy.by_ranking(ranking))
    }

    fn selection(
        &self,
        steps: Vec<Step>,
        weights: Vec<f64>,
        condition: f64,
        ending: Ending,
    ) -> Selection {
        let class = |step: &Step| {
            let position = self.candidates.represented_by(step.feature);
            position.map_or_else(Vec::new, |position| {
                self.candidates.class(position).to_vec()
            })
        };
        Selection {
            strategy: self.plan.strategy,
            lambda: self.options.lambda,
            sampler: self.options.sampler(self.plan.strategy),
            criterion: self.options.criterion,
            query_weight: self.candidates.query_weight(),
            classes: steps.iter().map(class).collect(),
            steps,
            weights,
            condition,
            ending,
        }
    }
}
