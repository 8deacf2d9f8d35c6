//! A selection: from data that was read to what is printed.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result, bail};
use rankrls::candidates::Summary;
use rankrls::checkpoint::{Checkpointer, Progress, Settings};
use rankrls::dataset::DataHash;
use rankrls::select::{Ending, Options, Selection, Step, resume_among};
use rankrls::{Candidates, Model, TestPath, memory};

use super::console::Console;
use super::input::Input;
use super::interrupt::Interrupt;
use super::numbers::given;
use super::output::{OutputFile, print, print_json};
use super::report::Report;
use super::select::SelectArgs;
use super::sizes::{Sizes, TestSizes};
use super::watch::Watch;

/// A selection about to be made.
pub(crate) struct Job<'a> {
    pub(super) args: &'a SelectArgs,
    pub(super) console: Console,
    pub(super) input: &'a Input,
    pub(super) interrupt: &'a Interrupt,
}

/// What was found before the process started.
struct Earlier {
    steps: Vec<Step>,
    options: Options,
    /// Where checkpoints go on from, if they are written.
    progress: Option<Progress>,
}

impl Earlier {
    fn none(options: Options) -> Self {
        Self {
            steps: Vec::new(),
            options,
            progress: None,
        }
    }
}

impl Job<'_> {
    /// Selects, writes the model and prints the report, also when interrupted on the way.
    pub(super) fn run(&self, output: Option<OutputFile>) -> Result<ExitCode> {
        let begin = Instant::now();
        let candidates = Candidates::weighted(&self.input.train, self.args.query_weight);
        let mut watch = Watch::new(self.console, self.interrupt, self.test_path());
        let earlier = self.earlier()?;
        watch.checkpointer = self.checkpointer(&earlier)?;
        let selection = self.select(&candidates, &earlier, &mut watch)?;
        let select_seconds = begin.elapsed().as_secs_f64();
        let summary = candidates.summary();
        let saved = output.map_or(Ok(()), |output| self.save(&selection, &summary, output));
        self.warn(&selection, summary.column_classes);
        self.print(&Report {
            selection: &selection,
            dataset: &self.input.train,
            sizes: Sizes::new(&self.input.train, &summary),
            test: self.test_sizes().zip(watch.test.as_ref()),
            load_seconds: self.input.seconds,
            select_seconds,
            peak_rss_bytes: memory::peak(),
        })?;
        // What was found is printed even if it could not be saved.
        saved?;
        Ok(self.interrupt.code().unwrap_or(ExitCode::SUCCESS))
    }

    fn test_path(&self) -> Option<TestPath<'_>> {
        let test = &self.input.test.as_ref()?.dataset;
        Some(TestPath::new(
            test,
            &self.args.metrics.0,
            self.args.convention(),
        ))
    }

    fn test_sizes(&self) -> Option<TestSizes> {
        let test = self.input.test.as_ref()?;
        Some(TestSizes::new(test, self.args.convention()))
    }

    fn save(&self, selection: &Selection, summary: &Summary, output: OutputFile) -> Result<()> {
        let model = Model::from_selection(selection, &self.input.train, summary);
        output.write(|writer| model.write_to(writer))
    }

    fn print(&self, report: &Report<'_>) -> Result<()> {
        if self.args.json {
            print_json(&report.document())
        } else {
            print(|output| output.write_all(report.text().as_bytes()))
        }
    }

    /// What an earlier run has found.
    fn earlier(&self) -> Result<Earlier> {
        let options = self.args.all_options();
        let Some(path) = self.args.checkpoint.path() else {
            return Ok(Earlier::none(options));
        };
        let (data, settings) = (DataHash::of(&self.input.train), Settings::from(&options));
        let Some(from) = self.args.checkpoint.resumed() else {
            return Ok(Earlier {
                progress: Some(Progress::new(data, settings)),
                ..Earlier::none(options)
            });
        };
        let progress = Progress::load(from, data, &settings)?;
        let (taken, strategy) = (progress.steps.len(), progress.strategy);
        tracing::info!(file = %path.display(), steps = taken, "going on");
        self.console.tell(format_args!(
            "going on after {taken} of {} features\n",
            settings.k
        ));
        Ok(Earlier {
            steps: progress.steps.clone(),
            // What auto took then, whatever it would take now.
            options: strategy.map_or(options, |strategy| options.strategy(strategy)),
            progress: Some(progress),
        })
    }

    fn checkpointer(&self, earlier: &Earlier) -> Result<Option<Checkpointer>> {
        let (Some(path), Some(progress)) = (self.args.checkpoint.path(), &earlier.progress) else {
            return Ok(None);
        };
        let every = self.args.checkpoint.every();
        let checkpointer = Checkpointer::new(path, every, progress.clone());
        let refusal = || format!("cannot write the checkpoint {}", path.display());
        checkpointer.map(Some).with_context(refusal)
    }

    fn select(
        &self,
        candidates: &Candidates,
        earlier: &Earlier,
        watch: &mut Watch<'_>,
    ) -> Result<Selection> {
        let (labels, held) = (self.input.train.labels(), self.input.memory());
        let (steps, options) = (&earlier.steps, &earlier.options);
        let selection = resume_among(candidates, labels, held, options, steps, watch);
        watch.clear();
        if let Some(step) = watch.broken {
            let lambda = given(self.args.lambda.value());
            bail!(
                "in step {step} the errors are no finite numbers any more: lambda {lambda} is too \
                 small for these values; raise it, scale the data, or select fewer features"
            );
        }
        match watch.test.as_ref().and_then(TestPath::error) {
            None => Ok(selection?),
            Some(error) => Err(error.clone()).context("cannot measure the test data"),
        }
    }

    fn warn(&self, selection: &Selection, classes: usize) {
        let (taken, asked) = (selection.steps.len(), self.args.k);
        match selection.ending {
            Ending::Complete => {}
            Ending::Exhausted => self.console.warn(format_args!(
                "selected {taken} features, not {asked}: the data has {classes} column classes \
                 to select from"
            )),
            Ending::Interrupted => self.console.warn(format_args!(
                "interrupted after {taken} of {asked} features"
            )),
        }
        if self.args.seed.is_some() && selection.sampler.is_none() {
            let strategy = selection.strategy;
            self.console.warn(format_args!(
                "--seed has no effect: {strategy} draws nothing at random without --candidates"
            ));
        }
    }
}
