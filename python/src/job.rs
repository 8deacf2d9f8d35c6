//! Work beside Python: other Python threads go on, Ctrl-C is answered, callbacks are called.

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

/// How long a signal may wait.
const PATIENCE: Duration = Duration::from_millis(50);

/// How long the step at work may take once the work is to end.
const GRACE: Duration = Duration::from_millis(200);

/// Arguments of one call of the callback, made where Python is at hand.
type Arguments = Box<dyn FnOnce(Python<'_>) -> PyResult<Bound<'_, PyTuple>> + Send>;

/// What the work knows of Python: whether to end, and whom to tell.
pub(crate) struct Watch<'a> {
    stop: &'a AtomicBool,
    told: Option<(SyncSender<Arguments>, Receiver<()>)>,
    /// Keeps the other end waiting for signals as long as there is work.
    _working: SyncSender<Arguments>,
}

impl Watch<'_> {
    /// Breaks where Python wants the work to end.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        if self.stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }

    /// Calls the callback with the arguments that `arguments` makes, and waits for its answer.
    pub(crate) fn tell(
        &mut self,
        arguments: impl FnOnce(Python<'_>) -> PyResult<Bound<'_, PyTuple>> + Send + 'static,
    ) -> ControlFlow<()> {
        if let Some((sender, answers)) = &self.told {
            // Nobody answers any more once the work has ended.
            let _ = sender.send(Box::new(arguments)).map(|()| answers.recv());
        }
        self.flow()
    }
}

/// Does `work` on `threads` threads of its own without holding up Python. Returns with the result
/// the exception that ended the work early: that of a signal, or of `callback`, which may also
/// return true to end it. There is no result where it ended before there was one.
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
            // The watch ends with the work, and with it the wait for messages.
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

/// As [`run`], for work that nobody is told of: its result, or the exception that ended it.
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

/// A fault of the program, which has no other way to end.
fn failed(panic: &(dyn Any + Send)) -> PyErr {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref().copied());
    PyRuntimeError::new_err(format!(
        "the work failed: {}; please report this",
        text.unwrap_or("no reason is known"),
    ))
}

/// Lets Python answer signals, and calls the callback if there is something to tell.
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
