//! What is shown on standard error: warnings, errors, logs and progress.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use tracing::Level;

/// How often a spinner turns.
const TICK: Duration = Duration::from_millis(120);

#[derive(Debug, Clone, Copy)]
pub(crate) struct Console {
    quiet: bool,
    /// Whether bars are drawn: on a terminal, and where no logs would run into them.
    bars: bool,
    colour: bool,
}

impl Console {
    pub(crate) fn new(quiet: bool, verbose: bool) -> Self {
        let terminal = io::stderr().is_terminal();
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let console = Self {
            quiet,
            bars: terminal && !quiet && !verbose,
            colour: terminal && !plain,
        };
        if verbose {
            console.log();
        }
        console
    }

    fn log(self) {
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(Level::DEBUG)
            .with_writer(io::stderr)
            .with_ansi(self.colour)
            .with_target(false)
            .without_time()
            .finish();
        // It is the first and only one.
        let _ = tracing::subscriber::set_global_default(subscriber);
    }

    /// Says what was done, where no results are.
    pub(crate) fn tell(self, text: impl Display) {
        if !self.quiet {
            let _ = write!(io::stderr(), "{text}");
        }
    }

    pub(crate) fn warn(self, message: impl Display) {
        if !self.quiet {
            self.line("warning", "33", message);
        }
    }

    /// The error and what caused it, a line each; a cause that only repeats is left out.
    pub(crate) fn error(self, error: &anyhow::Error) {
        let mut last = error.to_string();
        self.line("error", "31", &last);
        for cause in error.chain().skip(1) {
            let text = cause.to_string();
            if !last.contains(&text) {
                let _ = writeln!(io::stderr(), "  because: {text}");
                last = text;
            }
        }
    }

    /// Nobody can be told when standard error is closed.
    fn line(self, label: &str, colour: &str, message: impl Display) {
        let _ = if self.colour {
            writeln!(io::stderr(), "\x1b[1;{colour}m{label}:\x1b[0m {message}")
        } else {
            writeln!(io::stderr(), "{label}: {message}")
        };
    }

    /// Shown until it is cleared.
    pub(crate) fn spinner(self, message: String) -> ProgressBar {
        let style = "{spinner} {msg} {elapsed}";
        self.draw(ProgressBar::no_length(), style)
            .with_message(message)
    }

    pub(crate) fn bar(self, steps: usize, style: &str) -> ProgressBar {
        self.draw(ProgressBar::new(steps as u64), style)
    }

    fn draw(self, bar: ProgressBar, style: &str) -> ProgressBar {
        if !self.bars {
            bar.set_draw_target(ProgressDrawTarget::hidden());
            return bar;
        }
        // A style that cannot be parsed leaves the default one.
        if let Ok(style) = ProgressStyle::with_template(style) {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        bar
    }
}
