//! How far a corpus is, and whether it is to go on.

use std::sync::OnceLock;

use indicatif::ProgressBar;
use rankrls_parses::corpus::BuildObserver;

use crate::cli::console::Console;
use crate::cli::console::Interrupt;

const PARSING: &str = "{bar:24} {pos}/{len} sentences parsed, {eta} left";
const WRITING: &str = "{bar:24} {pos}/{len} sentences written, {eta} left";

/// Draws bars; heeds signals from when there is a journal to go on from.
pub(super) struct Progress<'a> {
    console: Console,
    interrupt: &'a Interrupt,
    parsing: OnceLock<ProgressBar>,
    writing: OnceLock<ProgressBar>,
}

impl<'a> Progress<'a> {
    pub(super) fn new(console: Console, interrupt: &'a Interrupt) -> Self {
        Self {
            console,
            interrupt,
            parsing: OnceLock::new(),
            writing: OnceLock::new(),
        }
    }

    pub(super) fn clear(&self) {
        for bar in [&self.parsing, &self.writing]
            .into_iter()
            .filter_map(OnceLock::get)
        {
            bar.finish_and_clear();
        }
    }
}

impl BuildObserver for Progress<'_> {
    fn parsed(&self, done: usize, of: usize) {
        self.interrupt.disarm();
        let bar = self.parsing.get_or_init(|| self.console.bar(of, PARSING));
        bar.set_position(done as u64);
        if done == of {
            bar.finish_and_clear();
        }
    }

    fn written(&self, done: usize, of: usize) {
        let bar = self.writing.get_or_init(|| self.console.bar(of, WRITING));
        bar.set_position(done as u64);
    }

    fn interrupted(&self) -> bool {
        self.interrupt.code().is_some()
    }
}
