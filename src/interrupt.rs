//! Work that ends when it is asked to, wherever it is: for programs that cannot wait for the end of
//! a step.
//!
//! ```
//! use rankrls::data::sample;
//! use rankrls::interrupt::Interrupt;
//! use rankrls::GreedyRankRls;
//!
//! let (interrupt, data) = (Interrupt::new(), sample::train());
//! let fit = || GreedyRankRls::params(5).fit(&data);
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

/// What unwinds the stack of work that ends. No panic: no hook sees it.
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
    /// before: nothing of it is left but what its observers have kept. Passes of a selection,
    /// training and the search for column classes heed the request after some milliseconds.
    ///
    /// # Errors
    /// Those of starting the threads.
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
        match catch_unwind(AssertUnwindSafe(|| pool.install(work))) {
            Ok(result) => Ok(Some(result)),
            Err(payload) if payload.is::<Interrupted>() => Ok(None),
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// Ends the work of this thread's pool if it was asked to end. Called once a block of work that
/// takes some milliseconds at most.
pub(crate) fn heed() {
    let requested =
        HEEDED.with_borrow(|heeded| heeded.as_ref().is_some_and(Interrupt::is_requested));
    if requested {
        resume_unwind(Box::new(Interrupted));
    }
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;

    use super::*;
    use crate::data::sample;
    use crate::greedy::{Observer, State, Step};
    use crate::{GreedyRankRls, RankRls, StrategyKind};

    /// Asks for the end after two steps.
    struct Impatient<'a>(&'a Interrupt, usize);

    impl Observer for Impatient<'_> {
        fn stepped(&mut self, number: usize, _: &Step, _: &State) -> ControlFlow<()> {
            self.1 = number;
            if number == 2 {
                self.0.request();
            }
            ControlFlow::Continue(())
        }
    }

    #[test]
    fn every_strategy_ends_in_the_step_after_a_request() {
        let data = sample::train();
        for strategy in StrategyKind::ALL
            .into_iter()
            .filter(|kind| !kind.needs_grades())
        {
            let (interrupt, params) = (Interrupt::new(), GreedyRankRls::params(9));
            let mut observer = Impatient(&interrupt, 0);
            let work = || params.strategy(strategy).fit_with(&data, &mut observer);
            let ended = interrupt.run(2, work).unwrap();
            assert!(ended.is_none(), "{strategy}");
            assert_eq!(observer.1, 2, "{strategy}");
        }
    }

    #[test]
    fn training_ends_and_panics_go_on() {
        let (interrupt, data) = (Interrupt::new(), sample::train());
        interrupt.request();
        assert!(interrupt.is_requested());
        assert!(
            interrupt
                .run(2, || RankRls::params().fit(&data))
                .unwrap()
                .is_none()
        );
        let panic = catch_unwind(|| Interrupt::new().run(1, || panic!("of another kind")));
        assert!(panic.is_err());
    }
}
