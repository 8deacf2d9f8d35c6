//! Work beside Python: other Python threads run, Ctrl-C is answered, and callbacks are called.

use std::any::Any;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::thread;
use std::time::{Duration, Instant};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use rankrls::stop::Stop;

use crate::ending::Back;
use crate::errors::{Result, value};

/// Longest delay of a signal.
const PATIENCE: Duration = Duration::from_millis(50);

/// Longest delay of the present step once the work has to end.
const GRACE: Duration = Duration::from_millis(200);

/// The arguments of a callback's call, made while Python is attached.
type Arguments = Box<dyn FnOnce(Python<'_>) -> PyResult<Bound<'_, PyTuple>> + Send>;

/// The work's link to Python: a request to end, and the callback.
pub(crate) struct Watch<'a> {
    stop: &'a AtomicBool,
    told: Option<(SyncSender<Arguments>, Receiver<()>)>,
    /// While this lives, the other end waits for signals.
    _working: SyncSender<Arguments>,
}

impl Watch<'_> {
    /// Breaks if Python wants the work to end.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        if self.stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Calls the callback with the result of `arguments`, and waits for its answer.
    pub(crate) fn tell(
        &mut self,
        arguments: impl FnOnce(Python<'_>) -> PyResult<Bound<'_, PyTuple>> + Send + 'static,
    ) -> ControlFlow<()> {
        if let Some((sender, answers)) = &self.told {
            // Once the work has ended, nobody answers.
            let _ = sender.send(Box::new(arguments)).map(|()| answers.recv());
        }
        self.flow()
    }
}

/// Does `work` on `threads` threads of its own while Python runs on. Returns the result, and the exception that
/// ended the work early: a signal's, or the callback's. A callback may also return true to end the work. Work that
/// ended too early has no result.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    threads: usize,
    callback: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut Watch<'_>) -> Result<Option<T>> + Send,
) -> Result<(Option<T>, Option<PyErr>)> {
    let (stop, interrupt) = (AtomicBool::new(false), Stop::new());
    let (sender, receiver) = mpsc::sync_channel::<Arguments>(0);
    let (answer, answers) = mpsc::sync_channel::<()>(1);
    let mut watch = Watch {
        stop: &stop,
        told: callback.map(|_| (sender.clone(), answers)),
        _working: sender,
    };
    let (result, ended, _back) = py.detach(|| {
        let (heeded, stop) = (&interrupt, &stop);
        // The receiver cannot be shared with the threads of the work.
        let receiver = receiver;
        thread::scope(|scope| {
            // The watch ends with the work, and then the wait for messages ends.
            let worker = scope.spawn(move || heeded.run(threads, || work(&mut watch)));
            let mut ended: Option<(PyErr, Instant)> = None;
            loop {
                let message = match receiver.recv_timeout(PATIENCE) {
                    Ok(arguments) => Some(arguments),
                    Err(RecvTimeoutError::Timeout) => None,
                    Err(RecvTimeoutError::Disconnected) => break,
                };
                let waits = message.is_some();
                match ask(callback, message) {
                    Ok(false) => {}
                    Ok(true) => stop.store(true, Ordering::Relaxed),
                    Err(error) => {
                        stop.store(true, Ordering::Relaxed);
                        ended.get_or_insert((error, Instant::now()));
                    }
                }
                if ended
                    .as_ref()
                    .is_some_and(|(_, since)| since.elapsed() > GRACE)
                {
                    heeded.request();
                }
                if waits {
                    let _ = answer.send(());
                }
            }
            (worker.join(), ended.map(|(error, _)| error), Back::new())
        })
    });
    match result {
        Ok(Ok(result)) => Ok((result.transpose()?.flatten(), ended)),
        Ok(Err(error)) => Err(value(format_args!("cannot start threads: {error}"))),
        Err(panic) => Err(failed(panic.as_ref()).into()),
    }
}

/// As [`run`], without a callback: the result, or the exception that ended the work.
pub(crate) fn finish<T: Send>(
    py: Python<'_>,
    threads: usize,
    work: impl FnOnce() -> Result<T> + Send,
) -> Result<T> {
    match run(py, threads, None, |_| work().map(Some))? {
        (_, Some(error)) => Err(error.into()),
        (Some(result), None) => Ok(result),
        (None, None) => unreachable!("work that nobody ended has a result"),
    }
}

/// A panic of the work as an exception.
fn failed(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref().copied());
    PyRuntimeError::new_err(format!(
        "the work failed: {}; please report this",
        text.unwrap_or("no reason is known"),
    ))
}

/// Lets Python answer signals, and calls the callback with `message`, if there is one.
fn ask(callback: Option<&Py<PyAny>>, message: Option<Arguments>) -> PyResult<bool> {
    let _back = Back::new();
    Python::attach(|py| {
        let end = match (callback, message) {
            (Some(callback), Some(arguments)) => {
                callback.bind(py).call1(arguments(py)?)?.is_truthy()?
            }
            _ => false,
        };
        py.check_signals()?;
        Ok(end)
    })
}
