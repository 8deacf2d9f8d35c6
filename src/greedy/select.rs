//! The whole job of a selection.

use super::{
    Advance, Ending, Greedy, Observer, Plan, SelectError, Selection, SelectionOptions, Step, plan,
};
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
    // On a thread of the pool: a step has many short parallel parts, and each would otherwise
    // wake another thread to start and this one when it ends.
    rayon::scope(|_| {
        let greedy = Greedy::new(candidates, labels, &plan, options, steps)?;
        observer.started(&plan);
        run(greedy, candidates, &plan, options, observer)
    })
}

fn run(
    mut greedy: Greedy<'_>,
    candidates: &ColumnClasses,
    plan: &Plan,
    options: &SelectionOptions,
    observer: &mut dyn Observer,
) -> Result<Selection, SelectError> {
    let mut steps = Vec::with_capacity(plan.steps);
    let mut interrupted = false;
    while let Some(Advance { step, replayed }) = greedy.advance()? {
        let number = steps.len() + 1;
        let flow = if replayed {
            observer.replayed(number, &step, greedy.state())
        } else {
            step.log(number);
            observer.stepped(number, &step, greedy.state())
        };
        steps.push(step);
        if flow.is_break() && steps.len() < plan.steps {
            interrupted = true;
            break;
        }
    }
    let ending = match steps.len() {
        _ if interrupted => Ending::Interrupted,
        taken if taken < options.k => Ending::Exhausted,
        _ => Ending::Complete,
    };
    let class = |step: &Step| {
        let position = candidates.represented_by(step.feature);
        position.map_or_else(Vec::new, |position| candidates.class(position).to_vec())
    };
    Ok(Selection {
        strategy: plan.strategy,
        lambda: options.lambda,
        sampler: options.sampler(plan.strategy),
        criterion: options.criterion,
        query_weight: candidates.query_weight(),
        classes: steps.iter().map(class).collect(),
        steps,
        weights: greedy.state().weights(),
        condition: greedy.state().condition(),
        ending,
    })
}
