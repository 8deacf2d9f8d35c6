//! A run of the command: the shared terminal, signals and files, and the end of a run.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::ArgMatches;
use clap::parser::ValueSource;
use rankrls::memory::Memory;
use rankrls::{Model, Parameter, StrategyKind, Warning};
use serde::Serialize;

use super::console::{Console, Interrupt};
use super::files::{Files, Results};

/// The environment of a command beside its arguments.
pub(crate) struct Session<'a> {
    pub(crate) console: Console,
    pub(crate) interrupt: &'a Interrupt,
    /// The files that the command named so far.
    pub(crate) files: Files,
    /// The arguments of the command, with their sources.
    pub(crate) given: &'a ArgMatches,
}

/// A report, and its warnings.
#[derive(Serialize)]
struct Document<'a, R> {
    #[serde(flatten)]
    report: &'a R,
    warnings: &'a [String],
}

impl Session<'_> {
    /// Warns of a given seed if nothing is drawn, as by this `strategy`.
    pub(crate) fn warn_of_seed(&self, strategy: Option<StrategyKind>) {
        if !self.is_given("seed") {
            return;
        }
        let (seed, sample) = (Parameter::Seed, Parameter::Sample);
        let reason = match strategy {
            Some(strategy) => format!("{strategy} draws nothing at random without {sample}"),
            None => "nothing is drawn at random".to_owned(),
        };
        self.console
            .warn(format_args!("{seed} has no effect: {reason}"));
    }

    /// Reads a model to work with, and warns of an unfinished one.
    pub(crate) fn read_model(&self, path: &Path, memory: Memory) -> Result<Model> {
        let model = Model::read_within(path, memory)?;
        let name = path.display().to_string();
        let warning = Warning::of_unfinished(&name, model.unfinished);
        self.console.warn_all(warning);
        Ok(model)
    }

    /// Whether the user wrote an option.
    pub(crate) fn is_given(&self, id: &str) -> bool {
        self.given.value_source(id) == Some(ValueSource::CommandLine)
    }

    /// Prints the results, even if files could not be `saved`, and returns how the run ends.
    pub(crate) fn end(
        &self,
        results: &Results,
        document: &impl Serialize,
        text: impl FnOnce() -> String,
        saved: Result<()>,
    ) -> Result<ExitCode> {
        match results {
            Results::Text(stdout) => stdout.print_text(&text())?,
            Results::Json(stdout) => {
                let warnings = &**self.console.told();
                stdout.print_json(&Document {
                    report: document,
                    warnings,
                })?;
            }
            Results::Replaced => {}
        }
        saved?;
        Ok(self.code())
    }

    /// The exit code of a run that is done, or that a signal ended.
    pub(crate) fn code(&self) -> ExitCode {
        self.interrupt.code().unwrap_or(ExitCode::SUCCESS)
    }

    /// The exit code of a run without results.
    pub(crate) fn without_results(&self) -> ExitCode {
        self.interrupt.code().unwrap_or(ExitCode::FAILURE)
    }
}
