//! Greedy forward selection: the driver.
//!
//! [`select`] does the whole job. [`Greedy`] is the same in single steps, cut
//! where a run whose columns are partitioned over processes communicates: each
//! process [`propose`](Greedy::propose)s among its own columns, the
//! [`Contest`](crate::strategy::Contest)s are merged, and the winner's [`Addition`](crate::strategy::Addition) is sent to everyone to
//! [`adopt`](Greedy::adopt).

mod concordance;
mod error;
mod greedy;
mod observer;
mod options;
mod plan;
mod selection;

pub(crate) use concordance::cindex;
pub use concordance::lqo_cindex;
pub(crate) use error::Bytes;
pub use error::{MemoryError, SelectError};
pub use greedy::Greedy;
pub use observer::Observer;
pub use options::Options;
pub use plan::{Plan, plan};
pub use selection::{Ending, Selection, Step};

use crate::candidates::Candidates;
use crate::dataset::Dataset;
use crate::strategy::State;

/// Selects features of `dataset`.
///
/// # Errors
/// [`SelectError`] when there is nothing to select, or not the memory to do it.
pub fn select(
    dataset: &Dataset<'_>,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Selection, SelectError> {
    let candidates = Candidates::new(dataset);
    let data = dataset.memory();
    select_among(&candidates, dataset.labels(), data, options, observer)
}

/// Selects among candidates that have been found before. `held` bytes are in use besides
/// the candidates and count towards the limit.
///
/// # Errors
/// As [`select`].
pub fn select_among(
    candidates: &Candidates,
    labels: &[f64],
    held: u64,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Selection, SelectError> {
    let plan = plan(candidates, held, options)?;
    tracing::info!(strategy = %plan.strategy, steps = plan.steps, bytes = plan.memory, "selecting");
    observer.started(&plan);
    // On a thread of the pool: a step has many short parallel parts, and each would otherwise
    // wake another thread to start and this one when it ends.
    Ok(rayon::scope(|_| {
        take_steps(candidates, labels, &plan, options, observer)
    }))
}

fn take_steps(
    candidates: &Candidates,
    labels: &[f64],
    plan: &Plan,
    options: &Options,
    observer: &mut dyn Observer,
) -> Selection {
    let state = State::new(labels, candidates.queries(), options.lambda, plan.steps);
    let sampler = options.sampler(plan.strategy);
    let mut greedy = Greedy::new(candidates, state, plan.strategy, sampler);
    let mut steps = Vec::with_capacity(plan.steps);
    let mut ending = if plan.steps < options.k {
        Ending::Exhausted
    } else {
        Ending::Complete
    };
    while steps.len() < plan.steps {
        let Some(step) = greedy.step(labels) else {
            ending = Ending::Exhausted;
            break;
        };
        let number = steps.len() + 1;
        step.log(number);
        let flow = observer.stepped(number, &step, greedy.state());
        steps.push(step);
        if flow.is_break() && steps.len() < plan.steps {
            ending = Ending::Interrupted;
            break;
        }
    }
    let class = |step: &Step| {
        let position = candidates.represented_by(step.feature);
        position.map_or_else(Vec::new, |position| candidates.class(position).to_vec())
    };
    Selection {
        strategy: plan.strategy,
        lambda: options.lambda,
        sampler,
        classes: steps.iter().map(class).collect(),
        steps,
        weights: greedy.state().weights(),
        ending,
    }
}
