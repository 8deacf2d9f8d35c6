//! Ctrl-C and polite requests to end.

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use anyhow::{Context, Result};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Signals ask to finish the step and save what there is; the second one ends the process. So
/// does the first as long as there is nothing to save.
#[derive(Debug)]
pub(crate) struct Interrupt {
    /// Whether the next signal ends the process.
    armed: Arc<AtomicBool>,
    /// Exit code for the signal that came, or 0.
    code: Arc<AtomicUsize>,
}

impl Interrupt {
    pub(crate) fn install() -> Result<Self> {
        let armed = Arc::new(AtomicBool::new(true));
        let code = Arc::new(AtomicUsize::new(0));
        for (signal, exit) in [(SIGINT, 130_u8), (SIGTERM, 143)] {
            // In this order: the signal that arms does not yet end the process.
            flag::register_conditional_shutdown(signal, exit.into(), Arc::clone(&armed))
                .and_then(|_| flag::register(signal, Arc::clone(&armed)))
                .and_then(|_| flag::register_usize(signal, Arc::clone(&code), exit.into()))
                .context("cannot handle signals")?;
        }
        Ok(Self { armed, code })
    }

    /// From now on there is something to save.
    pub(crate) fn disarm(&self) {
        self.armed.store(false, Ordering::SeqCst);
    }

    /// The exit code, if a signal came.
    pub(crate) fn code(&self) -> Option<ExitCode> {
        let code = u8::try_from(self.code.load(Ordering::SeqCst)).ok()?;
        (code > 0).then(|| ExitCode::from(code))
    }
}
