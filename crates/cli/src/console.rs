//! Standard error and signals: warnings, errors, logs, progress, and requests to end.

use std::fmt::{Display, Write};
use std::fs;
use std::io::{self, IsTerminal, Write as _};
use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::numbers::{counted, printable, printable_lines};
use anyhow::{Context, Result, bail};
use clap::builder::StyledStr;
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use rankrls::Warning;
use rankrls::memory::Bytes;
use rankrls::stop::Stop;
use rankrls_files::{memory, take_away};
use rankrls_parses::linkgrammar;
use rayon::ThreadPool;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use signal_hook::{flag, low_level};

/// The time between turns of a spinner.
const TICK: Duration = Duration::from_millis(120);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Console {
    quiet: bool,
    /// Whether bars are drawn: on a terminal.
    bars: bool,
    colour: bool,
    /// All warnings, for documents. A console lasts as long as its process.
    warnings: &'static Mutex<Vec<String>>,
}

impl Console {
    pub(crate) fn new(quiet: bool) -> Self {
        let terminal = io::stderr().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        Self {
            quiet,
            bars: terminal && !quiet,
            colour: terminal && !plain,
            warnings: Box::leak(Box::default()),
        }
    }

    /// The console of a run. It has no bars if its results are rows `printed` to the same terminal.
    pub(crate) fn beside(self, printed: bool) -> Self {
        let bars = self.bars && !(printed && io::stdout().is_terminal());
        Self { bars, ..self }
    }

    /// Reports the work of a command without results to print.
    pub(crate) fn tell(self, text: impl Display) {
        if !self.quiet {
            let text = printable_lines(&text.to_string());
            let _ = write!(io::stderr(), "{text}");
        }
    }

    pub(crate) fn warn(self, message: impl Display) {
        let message = message.to_string();
        if self.told().contains(&message) {
            return;
        }
        if !self.quiet {
            let line = self.line("warning", "33", &message);
            // Nobody can be told if standard error is closed.
            let _ = writeln!(io::stderr(), "{line}");
        }
        self.told().push(message);
    }

    pub(crate) fn warn_all(self, warnings: impl IntoIterator<Item = Warning>) {
        warnings.into_iter().for_each(|warning| self.warn(warning));
    }

    /// The warnings so far.
    pub(crate) fn told(self) -> MutexGuard<'static, Vec<String>> {
        self.warnings.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The error and its causes, a line each, without causes that only repeat.
    pub(crate) fn error(self, error: &anyhow::Error) -> String {
        let mut last = error.to_string();
        let mut lines = self.line("error", "31", &last);
        for cause in error.chain().skip(1) {
            let text = cause.to_string();
            if !last.contains(&text) {
                let _ = write!(lines, "\n  because: {}", printable_lines(&text));
                last = text;
            }
        }
        lines
    }

    fn line(self, label: &str, colour: &str, message: impl Display) -> String {
        let message = printable_lines(&message.to_string());
        if self.colour {
            format!("\x1b[1;{colour}m{label}:\x1b[0m {message}")
        } else {
            format!("{label}: {message}")
        }
    }

    /// Text of clap, without a line end; in one colour if some of it must be escaped.
    pub(crate) fn styled(self, text: &StyledStr) -> String {
        let plain = text.to_string();
        let printable = printable_lines(&plain);
        let text = if self.colour && plain == printable {
            text.ansi().to_string()
        } else {
            printable
        };
        text.trim_end().to_owned()
    }

    /// Draws a spinner until it is cleared.
    pub(crate) fn spinner(self, message: &str) -> ProgressBar {
        let style = "{spinner} {msg} {elapsed}";
        self.draw(ProgressBar::no_length(), style)
            .with_message(printable(message))
    }

    pub(crate) fn bar(self, steps: usize, style: &str) -> ProgressBar {
        self.draw(ProgressBar::new(steps as u64), style)
    }

    fn draw(self, bar: ProgressBar, style: &str) -> ProgressBar {
        if !self.bars {
            bar.set_draw_target(ProgressDrawTarget::hidden());
            return bar;
        }
        // An unreadable style leaves the default one.
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style.with_key("left", time_left));
        }
        // The tick starts a thread, and panics if it cannot.
        if thread::Builder::new().spawn(|| ()).is_ok() {
            bar.enable_steady_tick(TICK);
        }
        bar
    }
}

/// The time left, in styles `{left}`; nothing before the first step has ended.
fn time_left(state: &ProgressState, text: &mut dyn Write) {
    if state.pos() > 0 {
        let _ = write!(text, ", {:#} left", HumanDuration(state.eta()));
    }
}

/// The state that a signal leaves before there is anything to save.
pub(crate) const NOTHING: &str = "nothing was saved";

/// The longest time for busy steps to end.
const GRACE: Duration = Duration::from_millis(300);

/// Bytes of addresses that any work needs.
const LEAST_ROOM: u64 = 16 << 20;

/// Bytes of addresses of a thread: its stack, and 64 MiB that the allocator of glibc sets aside.
const A_THREAD: u64 = 72 << 20;

/// Signals ask to end: busy steps get a moment to finish and then stop, and the results so far are saved. The
/// second signal ends the process. So does the first before there is anything to save.
#[derive(Debug, Clone)]
pub(crate) struct Interrupt {
    /// Exit code for the received signal, or 0.
    code: Arc<AtomicUsize>,
    answer: Arc<Mutex<Answer>>,
    /// Ends the busy steps.
    work: Stop,
}

/// Whether the process was started with this signal ignored, if the system tells.
fn ignores(signal: i32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mut lines = status.lines();
    let ignored = lines.find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    ignored.is_some_and(|ignored| ignored >> (signal - 1) & 1 == 1)
}

/// The exit code after a signal, as in shells.
fn exit_code(signal: i32) -> i32 {
    128 + signal
}

/// The answer to the first signal.
#[derive(Debug)]
enum Answer {
    /// The process ends, and reports the state that it leaves.
    End(String),
    /// The work has something to save: the present task, and its bar.
    Finish(String, ProgressBar),
}

impl Interrupt {
    /// The state before a signal.
    pub(crate) fn new() -> Self {
        Self {
            code: Arc::default(),
            answer: Arc::new(Mutex::new(Answer::End(NOTHING.to_owned()))),
            work: Stop::new(),
        }
    }

    /// Hears signals from now on.
    pub(crate) fn install(&self, console: Console) -> Result<()> {
        let second = Arc::new(AtomicBool::new(false));
        let signals = [SIGINT, SIGTERM, SIGHUP].into_iter();
        // nohup starts processes with SIGHUP ignored.
        let signals = signals.filter(|&signal| signal != SIGHUP || !ignores(signal));
        let signals: Vec<_> = signals.collect();
        for &signal in &signals {
            let exit = exit_code(signal);
            let code = usize::try_from(exit)?;
            // In this order, so the first signal does not yet end the process.
            flag::register_conditional_shutdown(signal, exit, Arc::clone(&second))
                .and_then(|_| flag::register(signal, Arc::clone(&second)))
                .and_then(|_| flag::register_usize(signal, Arc::clone(&self.code), code))
                .context("cannot handle signals")?;
        }
        let mut signals = Signals::new(signals).context("cannot handle signals")?;
        let interrupt = self.clone();
        let heard = thread::Builder::new().spawn(move || {
            if let Some(signal) = signals.forever().next() {
                interrupt.end(exit_code(signal), console);
            }
        });
        heard.context("cannot start threads")?;
        Ok(())
    }

    /// Answers the first signal.
    fn end(&self, code: i32, console: Console) {
        // The lock keeps new work with results to save from beginning.
        let answer = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        match &*answer {
            Answer::End(left) => {
                if console.bars {
                    // After a bar.
                    let _ = writeln!(io::stderr());
                }
                // No destructor runs then: parsers and their children would go on, and half files would stay.
                let _ended = linkgrammar::end_all();
                take_away();
                console.warn(format_args!("interrupted: {left}"));
                low_level::exit(code);
            }
            Answer::Finish(what, bar) => bar.suspend(|| {
                console.tell(format_args!(
                    "finishing {what}, Ctrl-C again to stop at once\n"
                ));
            }),
        }
        drop(answer);
        thread::sleep(GRACE);
        self.work.request();
    }

    fn answers(&self, with: Answer) {
        *self.answer.lock().unwrap_or_else(PoisonError::into_inner) = with;
    }

    /// Sets the report of the state that a signal leaves when it ends the process.
    pub(crate) fn leaves(&self, what: String) {
        self.answers(Answer::End(what));
    }

    /// From now on there is something to save, and the first signal lets `what` finish.
    pub(crate) fn finishing(&self, what: impl Into<String>, bar: &ProgressBar) {
        self.answers(Answer::Finish(what.into(), bar.clone()));
    }

    /// Starts the threads that do all work: so many, or with a warning fewer if the system or memory has no more.
    pub(crate) fn pool(&self, threads: usize, console: Console) -> Result<ThreadPool> {
        let room = memory::room().unwrap_or(u64::MAX);
        let Some(spare) = room.checked_sub(LEAST_ROOM) else {
            let (least, room) = (Bytes(LEAST_ROOM), Bytes(room));
            bail!(
                "the limit of the process (ulimit -v): expected {least} or more to be left, found {room}"
            );
        };
        let most = usize::try_from(spare / A_THREAD).unwrap_or(usize::MAX);
        let pool = self.work.pool(threads.min(most.max(1)));
        let pool = pool.context("cannot start threads")?;
        let found = pool.current_num_threads();
        if found < threads {
            let wanted = counted(threads, "thread");
            console.warn(format_args!(
                "the system has no more than {found} of {wanted}"
            ));
        }
        Ok(pool)
    }

    /// Does `work`, which a signal ends a moment later at any point; `None` if it had no result yet.
    pub(crate) fn run<T: Send, E: Send>(
        &self,
        work: impl FnOnce() -> Result<T, E> + Send,
    ) -> Result<Option<Result<T, E>>> {
        let done = self.work.run(rayon::current_num_threads(), work);
        done.context("cannot start threads")
    }

    /// Whether to continue: until a signal comes.
    pub(crate) fn flow(&self) -> ControlFlow<()> {
        match self.code() {
            None => ControlFlow::Continue(()),
            Some(_) => ControlFlow::Break(()),
        }
    }

    /// The exit code, if a signal came.
    pub(crate) fn code(&self) -> Option<ExitCode> {
        let code = u8::try_from(self.code.load(Ordering::SeqCst)).ok()?;
        (code > 0).then(|| ExitCode::from(code))
    }
}
