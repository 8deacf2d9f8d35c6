//! Work that ends on request, for programs that cannot wait for the end of a step.
//!
//! Long loops check for a request and skip their rest, so their results mean nothing. The function that started
//! them checks again at their end, and then fails with [`Error::stopped`].
//!
//! ```
//! use rankrls::data::sample;
//! use rankrls::stop::Stop;
//! use rankrls::GreedyRankRls;
//!
//! let (stop, data) = (Stop::new(), sample::train());
//! let fit = || GreedyRankRls::new(5, None).fit(&data);
//! assert!(stop.run(2, fit)?.is_some());
//! // From another thread, as a rule.
//! stop.request();
//! assert!(stop.run(2, fit)?.is_none());
//! # Ok::<(), std::io::Error>(())
//! ```

use std::cell::RefCell;
use std::io;
use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use rayon::ThreadPool;

use crate::error::{Error, Result};

/// A request to end, shared by clones. It cannot be withdrawn.
#[derive(Debug, Clone, Default)]
pub struct Stop {
    requested: Arc<AtomicBool>,
    /// Number of present calls of [`run`](Self::run).
    runs: Arc<AtomicUsize>,
}

thread_local! {
    /// The request that the threads of a pool obey.
    static HEEDED: RefCell<Option<Stop>> = const { RefCell::new(None) };
}

impl Stop {
    /// No request yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks present and later work to end.
    pub fn request(&self) {
        self.requested.store(true, Ordering::Relaxed);
    }

    /// Whether the work was asked to end.
    pub fn is_requested(&self) -> bool {
        self.requested.load(Ordering::Relaxed)
    }

    /// A pool of `threads` threads (0: one a core), or of fewer if the system has no more. It serves a whole
    /// program: in it, [`run`](Self::run) starts no other pool.
    pub fn pool(&self, threads: usize) -> io::Result<ThreadPool> {
        let mut threads = threads;
        loop {
            let heeded = self.clone();
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .start_handler(move |_| HEEDED.set(Some(heeded.clone())))
                .build();
            match pool {
                Ok(pool) => return Ok(pool),
                Err(error) if threads == 1 => return Err(io::Error::other(error)),
                Err(_) if threads == 0 => {
                    threads = thread::available_parallelism().map_or(1, NonZero::get);
                }
                Err(_) => threads /= 2,
            }
        }
    }

    /// Does `work` on a [`pool`](Self::pool) of `threads` threads. `None` if it was asked to end before it had a
    /// result, even if it returned an error. A selection with steps ends with these steps, and a grid with its
    /// models so far, as if an observer had ended them. Passes of a selection, training, the search for column
    /// classes and the reading of text obey within milliseconds.
    ///
    /// Not for ranks that share columns: a rank that ends leaves the others waiting.
    pub fn run<T: Send, E: Send>(
        &self,
        threads: usize,
        work: impl FnOnce() -> Result<T, E> + Send,
    ) -> io::Result<Option<Result<T, E>>> {
        let at_work = || {
            self.runs.fetch_add(1, Ordering::Relaxed);
            let result = unless_stopped(work());
            self.runs.fetch_sub(1, Ordering::Relaxed);
            result
        };
        let is_own = |heeded: &Self| Arc::ptr_eq(&heeded.requested, &self.requested);
        if HEEDED.with_borrow(|heeded| heeded.as_ref().is_some_and(is_own)) {
            return Ok(at_work());
        }
        Ok(self.pool(threads)?.install(at_work))
    }

    /// Whether running work was asked to end.
    fn ends_work(&self) -> bool {
        self.is_requested() && self.runs.load(Ordering::Relaxed) > 0
    }
}

/// Whether the work of this thread's pool was asked to end. Loops check once a block of work, which takes at most
/// some milliseconds.
pub(crate) fn requested() -> bool {
    #[cfg(test)]
    tests::look();
    HEEDED.with_borrow(|heeded| heeded.as_ref().is_some_and(Stop::ends_work))
}

/// Fails if the work was asked to end: the results of its loops then mean nothing.
pub(crate) fn check() -> Result<()> {
    if requested() {
        return Err(Error::stopped());
    }
    Ok(())
}

/// The result of work. `None` for an error if the work was asked to end, which may be its cause.
pub(crate) fn unless_stopped<T, E>(result: Result<T, E>) -> Option<Result<T, E>> {
    match result {
        Err(_) if requested() => None,
        result => Some(result),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::ops::ControlFlow;

    use super::*;
    use crate::data::read::ReadOptions;
    use crate::data::{DataHash, HoldOut, sample};
    use crate::greedy::job::{Selecting, select, select_among, unwatched};
    use crate::greedy::{Ending, GreedyRankRls, Step, StrategyKind};
    use crate::lambda::Lambda;
    use crate::metrics::Metric;
    use crate::ridge::{Kernel, RankRls, Solver};
    use crate::tune::{self, Tune, TuneEvent, Tuning};

    thread_local! {
        /// Number of checks before a request is made.
        static LOOKS: Cell<Option<usize>> = const { Cell::new(None) };
    }

    /// Counts a check of this thread, and makes the request after the last.
    pub(super) fn look() {
        let Some(left) = LOOKS.get() else {
            return;
        };
        if left == 0 {
            HEEDED.with_borrow(|heeded| heeded.iter().for_each(Stop::request));
        }
        LOOKS.set(left.checked_sub(1));
    }

    #[test]
    fn every_strategy_ends_with_the_steps_before_a_request() {
        let data = sample::train();
        for strategy in without_grades() {
            let options = |k| by(strategy, k);
            let two = select(&data, &options(2), &mut unwatched).unwrap();
            let (stop, mut steps) = (Stop::new(), 0);
            let mut each = |_: &Step, _: &Selecting<'_>| {
                steps += 1;
                if steps == 2 {
                    stop.request();
                }
                ControlFlow::Continue(())
            };
            let work = || select(&data, &options(9), &mut each);
            let ended = stop.run(2, work).unwrap().unwrap().unwrap();
            assert_eq!(ended.ending, Ending::Interrupted, "{strategy}");
            assert_eq!(ended.steps, two.steps, "{strategy}");
            assert_eq!(ended.weights, two.weights, "{strategy}");
        }
    }

    fn one() -> Lambda {
        Lambda::new(1.0).unwrap()
    }

    fn without_grades() -> impl Iterator<Item = StrategyKind> {
        let all = StrategyKind::ALL.into_iter();
        all.filter(|kind| !kind.needs_grades())
    }

    fn by(strategy: StrategyKind, k: usize) -> GreedyRankRls {
        GreedyRankRls {
            strategy,
            ..GreedyRankRls::new(k, one())
        }
    }

    #[test]
    fn a_selection_without_a_step_has_no_result() {
        let (stop, data) = (Stop::new(), sample::train());
        stop.request();
        let candidates = GreedyRankRls::new(3, None).candidates(&data).unwrap();
        let select = || {
            let options = GreedyRankRls::new(3, one());
            select_among(&candidates, &data, &options, &[], &mut unwatched)
        };
        assert!(stop.run(2, select).unwrap().is_none());
    }

    #[test]
    fn a_grid_of_strategies_ends_with_the_models_before_a_request() {
        let data = sample::train();
        let options = Tune {
            strategies: vec![StrategyKind::Dense, StrategyKind::Distil],
            holdout: HoldOut::Folds { count: 2, seed: 1 },
            measure: Metric::CONCORDANCE.into(),
            ..Tune::new(GreedyRankRls::new(3, None), one())
        };
        let tuning = Tuning::new(&data, &options);
        // A selection has three steps. In the second fold of the first strategy there is no model yet, and in its
        // last step all models exist.
        for (left, models) in [(1, None), (8, None), (9, Some(3)), (11, Some(3))] {
            let stop = Stop::new();
            let (mut steps, mut begun) = (0, 0);
            let mut observer = |event: TuneEvent<'_>| {
                match event {
                    TuneEvent::Started { .. } => begun += 1,
                    TuneEvent::Stepped { .. } => steps += 1,
                    _ => {}
                }
                if steps == left {
                    stop.request();
                }
                ControlFlow::Continue(())
            };
            let work = || tuning.run(&mut observer);
            match (stop.run(2, work).unwrap(), models) {
                (None, None) => {}
                (Some(Ok(tuned)), Some(models)) => {
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
    fn training_ends() {
        let (stop, data) = (Stop::new(), sample::train());
        stop.request();
        assert!(stop.is_requested());
        assert!(
            stop.run(2, || RankRls::default().fit(&data))
                .unwrap()
                .is_none()
        );
    }

    #[test]
    fn a_program_starts_its_threads_once() {
        let (stop, other) = (Stop::new(), Stop::new());
        let pool = stop.pool(3).unwrap();
        pool.install(|| {
            let threads = || Ok::<_, Error>(rayon::current_num_threads());
            assert_eq!(stop.run(1, threads).unwrap().unwrap().unwrap(), 3);
            assert_eq!(other.run(1, threads).unwrap().unwrap().unwrap(), 1);
            stop.request();
            // Only running work ends.
            assert!(check().is_ok());
            assert!(stop.run(1, check).unwrap().is_none());
            assert!(other.run(1, check).unwrap().is_some());
            assert!(check().is_ok());
        });
    }

    #[test]
    fn a_panic_goes_on() {
        let run = || Stop::new().run(1, || -> Result<()> { panic!("of another kind") });
        assert!(std::panic::catch_unwind(run).is_err());
    }

    /// Runs work on `threads` threads again and again. The request comes before the first check, then before later
    /// ones, until no run has as many checks. `check` sees each result. On two threads the scheduler decides the
    /// order.
    fn at_every_look<T: Send>(
        threads: usize,
        work: impl Fn() -> Result<T> + Sync,
        check: impl Fn(Option<Result<T>>),
    ) {
        for looks in (0..64).scan(0, |looks, _| {
            let now = *looks;
            *looks += 1 + threads * now / 4;
            Some(now)
        }) {
            let stop = Stop::new();
            let counted = || {
                rayon::broadcast(|_| LOOKS.set(Some(looks)));
                work()
            };
            check(stop.run(threads, counted).unwrap());
            if !stop.is_requested() {
                return;
            }
        }
    }

    /// A request leaves the beginning of the whole `work`, at any moment. `check` compares the two.
    fn at_any_moment<T: Send + Sync>(work: impl Fn() -> Result<T> + Sync, check: impl Fn(&T, T)) {
        let whole = work().unwrap();
        for threads in [1, 2] {
            at_every_look(threads, &work, |result| match result {
                None => {}
                Some(part) => check(&whole, part.unwrap()),
            });
        }
    }

    #[test]
    fn a_selection_asked_to_end_has_the_first_steps_of_the_whole() {
        let data = sample::train();
        for strategy in without_grades() {
            let options = |k| by(strategy, k);
            let weights: Vec<Vec<f64>> = (1..=5)
                .map(|k| select(&data, &options(k), &mut unwatched).unwrap().weights)
                .collect();
            let work = || select(&data, &options(5), &mut unwatched);
            at_any_moment(work, |whole, part| {
                let taken = part.steps.len();
                assert_eq!(part.steps, whole.steps[..taken], "{strategy}");
                assert_eq!(part.weights, weights[taken - 1], "{strategy}");
                assert_eq!(part.ending == Ending::Complete, taken == 5, "{strategy}");
            });
        }
    }

    #[test]
    fn training_asked_to_end_has_the_whole_model_or_none() {
        let some: Vec<usize> = (0..20).collect();
        let data = sample::train().queries_subset(&some).unwrap();
        let kernel = Kernel::gaussian(0.1).unwrap();
        for (solver, kernel) in [
            (Solver::Dual, Kernel::LINEAR),
            (Solver::Primal, Kernel::LINEAR),
            (Solver::ConjugateGradients, Kernel::LINEAR),
            (Solver::Dual, kernel),
        ] {
            let options = RankRls {
                solver: Some(solver),
                kernels: vec![kernel],
                lambdas: one().into(),
                ..RankRls::default()
            };
            let work = || options.train(&data, None);
            at_any_moment(work, |whole, part| assert_eq!(*whole, part, "{solver}"));
        }
    }

    #[test]
    fn a_choice_asked_to_end_has_models_of_the_whole() {
        let data = sample::train();
        let options = Tune {
            strategies: vec![StrategyKind::Dense, StrategyKind::Bounded],
            holdout: HoldOut::Folds { count: 2, seed: 1 },
            measure: Metric::CONCORDANCE.into(),
            ..Tune::new(GreedyRankRls::new(2, None), one())
        };
        let tuning = Tuning::new(&data, &options);
        let work = || tuning.run(&mut tune::unwatched_events);
        at_any_moment(work, |whole, part| {
            for (whole, part) in whole.outcomes.iter().zip(&part.outcomes) {
                assert_eq!(part.points, whole.points[..part.points.len()]);
            }
        });
    }

    #[test]
    fn a_text_is_read_whole_or_not() {
        let text = b"1 qid:1 1:1 2:1\n0 qid:1 2:1\n".repeat(1000);
        let work = || {
            let read = ReadOptions::new().read_from(&text[..], "x")?;
            Ok(DataHash::of(&read.dataset))
        };
        at_any_moment(work, |whole, part| assert_eq!(*whole, part));
    }
}
