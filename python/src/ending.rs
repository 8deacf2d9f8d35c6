//! The end of Python, while daemon threads may still work.
//!
//! At its end, Python stops any thread that waits for it, wherever the thread is. Here that would abort the
//! process. So a working thread does not return to Python once the end has begun, and the end waits for threads
//! that are returning.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use pyo3::prelude::*;

/// Longest time that the end waits for a callback.
const PATIENCE: Duration = Duration::from_secs(2);

struct State {
    /// The thread that ends Python.
    ended_by: Option<ThreadId>,
    /// Number of threads that are in Python, or are returning to it.
    back: usize,
}

static STATE: Mutex<State> = Mutex::new(State {
    ended_by: None,
    back: 0,
});

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A working thread that returns to Python for a while, or for good.
pub(crate) struct Back(());

impl Back {
    /// Does not return once Python ends: the process ends soon.
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

/// Says that Python ends, and waits for threads that are returning to it.
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
