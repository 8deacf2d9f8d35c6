//! The end of Python, when daemon threads may still be at work.
//!
//! Python ends a thread that waits for it then, in the middle of whatever the thread is doing. Here that would
//! abort the process. So such threads do not go back to Python once its end has begun, and its end waits for those
//! that are on their way.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// How long the end waits for a callback.
const PATIENCE: Duration = Duration::from_secs(2);

struct State {
    /// The thread that ends Python.
    ended_by: Option<ThreadId>,
    /// Threads that are in Python, or on their way.
    back: usize,
}

static STATE: Mutex<State> = Mutex::new(State {
    ended_by: None,
    back: 0,
});

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A thread of work that goes back to Python for a while, or for good.
pub(crate) struct Back(());

impl Back {
    /// Never comes back where Python ends: the process does so soon.
    pub(crate) fn new() -> Self {
        let mut known = state();
        let ends = known
            .ended_by
            .is_some_and(|by| by != thread::current().id());
        if !ends {
            known.back += 1;
            return Self(());
        }
        drop(known);
        loop {
            thread::park();
        }
    }
}

impl Drop for Back {
    fn drop(&mut self) {
        state().back -= 1;
    }
}

/// Says that Python ends, and waits for threads that are on their way to it.
#[pyfunction]
pub(crate) fn end(py: Python<'_>) {
    state().ended_by = Some(thread::current().id());
    let begun = Instant::now();
    py.detach(|| {
        while state().back > 0 && begun.elapsed() < PATIENCE {
            thread::sleep(Duration::from_millis(1));
        }
    });
}
