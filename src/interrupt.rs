//! Work that ends when it is asked to, wherever it is: for programs that cannot wait for the end of
//! a step.
//!
//! ```
//! use rankrls::data::sample;
//! use rankrls::interrupt::Interrupt;
//! use rankrls::SelectionOptions;
//!
//! let (interrupt, data) = (Interrupt::new(), sample::train());
//! let fit = || SelectionOptions::new(5, None).fit(&data);
//! assert!(interrupt.run(2, fit)?.is_some());
//! // From another thread, as a rule.
//! interrupt.request();
//! assert!(interrupt.run(2, fit)?.is_none());
//! # Ok::<(), std::io::Error>(())
//! ```

use std::cell::RefCell;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to end, which clones share.
#[derive(Debug, Clone, Default)]
pub struct Interrupt(Arc<AtomicBool>);

/// The payload that unwinds the stack of work that ends. No panic: no hook sees it.
struct Interrupted;

thread_local! {
    /// The request that the threads of a pool heed.
    static HEEDED: RefCell<Option<Interrupt>> = const { RefCell::new(None) };
}

impl Interrupt {
    /// No request yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the work to end, now and from now on.
    pub fn request(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the work was asked to end.
    pub fn is_requested(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Does `work` on a pool of so many threads (0: one a core). `None` where it was asked to end
    /// before there was a result. A selection that has taken a step ends with its steps so far, and a
    /// grid with the models so far, as if an observer had ended them. Passes of a selection, training
    /// and the search for column classes heed the request after some milliseconds.
    ///
    /// Not for ranks that share columns: one that ends leaves the others waiting.
    pub fn run<T: Send>(
        &self,
        threads: usize,
        work: impl FnOnce() -> T + Send,
    ) -> io::Result<Option<T>> {
        let heeded = self.clone();
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .start_handler(move |_| HEEDED.set(Some(heeded.clone())))
            .build()
            .map_err(io::Error::other)?;
        Ok(unless_ended(|| pool.install(work)))
    }
}

/// Does `work`; `None` where a request ended it.
pub(crate) fn unless_ended<T>(work: impl FnOnce() -> T) -> Option<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => Some(result),
        Err(payload) if payload.is::<Interrupted>() => None,
        Err(panic) => resume_unwind(panic),
    }
}

/// Ends the work of this thread's pool, which has nothing to return.
pub(crate) fn end() -> ! {
    resume_unwind(Box::new(Interrupted))
}

/// Ends the work of this thread's pool if it was asked to end. Called once a block of work that
/// takes some milliseconds at most.
pub(crate) fn check_interrupt() {
    let requested =
        HEEDED.with_borrow(|heeded| heeded.as_ref().is_some_and(Interrupt::is_requested));
    if requested {
        end();
    }
}

/// The least part of so many tasks that a thread takes at once, where each of them checks for a request.
///
/// A part that ends leaves its threads idle, so that they take parts from each other and halve them:
/// without a limit a request ends every task by itself, and unwinding takes longer than the tasks.
pub(crate) fn least_part(tasks: usize) -> usize {
    /// Parts that unwind within some milliseconds.
    const PARTS: usize = 1 << 10;
    tasks.div_ceil(PARTS).max(1)
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::data::sample;
    use crate::error::Kind;
    use crate::greedy::job::{select, select_among, unwatched};
    use crate::greedy::{Ending, Selecting, SelectionOptions, Step, StrategyKind};
    use crate::lambda::Lambda;
    use crate::metrics::Metric;
    use crate::ridge::RankRls;
    use crate::tune::{Evidence, Measure, TuneEvent, TuneOptions, Tuning};

    #[test]
    fn every_strategy_ends_with_the_steps_before_a_request() {
        let data = sample::train();
        for strategy in StrategyKind::ALL
            .into_iter()
            .filter(|kind| !kind.needs_grades())
        {
            let options = |k| SelectionOptions {
                strategy: Some(strategy),
                ..SelectionOptions::new(k, one())
            };
            let two = select(&data, &options(2), &mut unwatched).unwrap();
            let (interrupt, mut steps) = (Interrupt::new(), 0);
            let mut each = |_: &Step, _: &Selecting<'_>| {
                steps += 1;
                if steps == 2 {
                    interrupt.request();
                }
                ControlFlow::Continue(())
            };
            let work = || select(&data, &options(9), &mut each);
            let ended = interrupt.run(2, work).unwrap().unwrap().unwrap();
            assert_eq!(ended.ending, Ending::Interrupted, "{strategy}");
            assert_eq!(ended.steps, two.steps, "{strategy}");
            assert_eq!(ended.weights, two.weights, "{strategy}");
        }
    }

    fn one() -> Lambda {
        Lambda::new(1.0).unwrap()
    }

    #[test]
    fn a_selection_without_a_step_has_no_result() {
        let (interrupt, data) = (Interrupt::new(), sample::train());
        interrupt.request();
        let candidates = SelectionOptions::new(3, None).candidates(&data);
        let select = || {
            let options = SelectionOptions::new(3, one());
            select_among(&candidates, &data, &options, &[], &mut unwatched)
        };
        assert!(interrupt.run(2, select).unwrap().is_none());
    }

    #[test]
    fn a_grid_of_strategies_ends_with_the_models_before_a_request() {
        let data = sample::train();
        let options = TuneOptions {
            strategies: vec![StrategyKind::Dense, StrategyKind::Distil],
            evidence: Evidence::Folds { count: 2, seed: 1 },
            measure: Measure::Metric(Metric::Concordance),
            ..TuneOptions::new(SelectionOptions::new(3, None), one())
        };
        let tuning = Tuning::new(&data, &options);
        // Three steps a selection: in the second fold of the first strategy there is no model yet,
        // and in its last step all of its models.
        for (left, models) in [(1, None), (8, None), (9, Some(3)), (11, Some(3))] {
            let interrupt = Interrupt::new();
            let (mut steps, mut begun) = (0, 0);
            let mut observer = |event: TuneEvent<'_>| {
                match event {
                    TuneEvent::Started { .. } => begun += 1,
                    TuneEvent::Stepped { .. } => steps += 1,
                    _ => {}
                }
                if steps == left {
                    interrupt.request();
                }
                ControlFlow::Continue(())
            };
            let work = || tuning.run(&mut observer);
            let tuned = interrupt.run(2, work).unwrap().unwrap();
            match (tuned, models) {
                (Err(error), None) if error.kind() == Kind::Stopped => {}
                (Ok(tuned), Some(models)) => {
                    assert!(tuned.interrupted);
                    assert_eq!(tuned.outcomes[0].points.len(), models);
                    assert!(
                        tuned.outcomes[1..]
                            .iter()
                            .all(|path| path.points.is_empty())
                    );
                }
                (tuned, _) => panic!("{left}: {tuned:?}"),
            }
            assert!(left >= 9 || begun == 1, "{left}");
        }
    }

    #[test]
    fn training_ends_and_panics_go_on() {
        let (interrupt, data) = (Interrupt::new(), sample::train());
        interrupt.request();
        assert!(interrupt.is_requested());
        assert!(
            interrupt
                .run(2, || RankRls::default().fit(&data))
                .unwrap()
                .is_none()
        );
        let panic = catch_unwind(|| Interrupt::new().run(1, || panic!("of another kind")));
        assert!(panic.is_err());
    }
}
