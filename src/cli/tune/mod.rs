//! `rankrls tune`.

mod args;
mod report;
mod rows;
mod table_file;
mod watch;

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use rankrls::checkpoint::{Record, Tuning, TuningSettings};
use rankrls::data::DataHash;
use rankrls::data::read::Loaded;
use rankrls::greedy::Selection;
use rankrls::tune::{Ending, Evidence, Options, TuneError, Tuned, figure, resume_among};
use rankrls::{ColumnClasses, Dataset, Model, TestPath, memory};

pub(crate) use args::TuneArgs;

use super::console::Console;
use super::console::Interrupt;
use super::console::{Condition, warn_of_lost_digits};
use super::data::{Sizes, TestSizes};
use super::output::PlotFile;
use super::output::format_exact;
use super::output::{OutputFile, print, print_json};
use report::Report;
use table_file::TableFile;
use watch::Watch;

/// Files that were found writable before the work began.
struct Outputs {
    model: Option<OutputFile>,
    table: Option<TableFile>,
    plot: Option<PlotFile>,
}

/// The data that were read.
struct Input {
    train: Dataset<'static>,
    validation: Option<Loaded>,
    test: Option<Loaded>,
    /// Time that reading the training data took.
    seconds: f64,
}

pub(crate) fn run(args: &TuneArgs, console: Console) -> Result<ExitCode> {
    args.check()?;
    args.checkpoint.check()?;
    let outputs = Outputs {
        model: args.output.as_deref().map(OutputFile::create).transpose()?,
        table: args.table.as_deref().map(TableFile::create).transpose()?,
        plot: args.plot.create()?,
    };
    let interrupt = Interrupt::install()?;
    let input = Input::read(args, console)?;
    let job = Job {
        args,
        console,
        input: &input,
        interrupt: &interrupt,
    };
    job.run(outputs)
}

impl Input {
    fn read(args: &TuneArgs, console: Console) -> Result<Self> {
        let (train, seconds) = args.data.train(console)?;
        let mut held = train.memory();
        let mut other = |path: &std::path::PathBuf| -> Result<Loaded> {
            let loaded = args.data.other(path, &train, held, console)?;
            held += loaded.dataset.memory();
            Ok(loaded)
        };
        Ok(Self {
            validation: args.validation().map(&mut other).transpose()?,
            test: args.test.as_ref().map(&mut other).transpose()?,
            train,
            seconds,
        })
    }

    /// Bytes held.
    fn memory(&self) -> u64 {
        let others = [&self.validation, &self.test].into_iter().flatten();
        let others = others.map(|loaded| loaded.dataset.memory());
        self.train.memory() + others.sum::<u64>()
    }
}

/// A grid about to be followed.
struct Job<'a> {
    args: &'a TuneArgs,
    console: Console,
    input: &'a Input,
    interrupt: &'a Interrupt,
}

impl Job<'_> {
    /// Tunes, writes files and prints the report, also when interrupted on the way.
    fn run(&self, outputs: Outputs) -> Result<ExitCode> {
        let begin = Instant::now();
        let validation = self.input.validation.as_ref();
        let options = self
            .args
            .options(validation.map(|loaded| &loaded.dataset))?;
        let candidates = options.candidates(&self.input.train);
        let earlier = self.earlier(&options)?;
        let tuned = match self.tune(&candidates, &options, earlier)? {
            Err(TuneError::Interrupted) => {
                self.console.warn(TuneError::Interrupted);
                return Ok(self.interrupt.code().unwrap_or(ExitCode::FAILURE));
            }
            tuned => tuned?,
        };
        let tune_seconds = begin.elapsed().as_secs_f64();
        let selection = tuned.selection();
        let test = self.test_path(&tuned)?;
        self.warn(&tuned, &selection, &options);
        let report = Report {
            tuned: &tuned,
            selection: &selection,
            dataset: &self.input.train,
            sizes: Sizes::new(&self.input.train, &candidates.summary()),
            k: self.args.k,
            evidence: options.source(),
            measure: options.judge(),
            metrics: options.columns(),
            convention: self.args.convention,
            rule: options.chooser(),
            test: self.test_sizes().zip(test.as_ref()),
            load_seconds: self.input.seconds,
            tune_seconds,
            peak_rss_bytes: memory::peak(),
        };
        let saved = self.save(outputs, &report, &options, &candidates);
        if self.args.json {
            print_json(&report.document())?;
        } else {
            print(|output| output.write_all(report.text().as_bytes()))?;
        }
        // What was found is printed even if it could not be saved.
        saved?;
        Ok(self.interrupt.code().unwrap_or(ExitCode::SUCCESS))
    }

    /// What was found before the process started, if checkpoints are written.
    fn earlier(&self, options: &Options<'_>) -> Result<Option<Tuning>> {
        let checkpoint = &self.args.checkpoint;
        if checkpoint.path().is_none() {
            return Ok(None);
        }
        let data = DataHash::of(&self.input.train);
        let settings = TuningSettings::from(options);
        let Some(path) = checkpoint.resumed() else {
            return Ok(Some(Tuning::new(data, settings)));
        };
        let tuning = Tuning::load(path, data, &settings)?;
        let steps = tuning.steps();
        if steps > 0 {
            tracing::info!(steps, "going on");
            self.console
                .tell(format_args!("going on after {steps} steps\n"));
        }
        Ok(Some(tuning))
    }

    fn tune(
        &self,
        candidates: &ColumnClasses,
        options: &Options<'_>,
        earlier: Option<Tuning>,
    ) -> Result<Result<Tuned, TuneError>> {
        let (train, held) = (&self.input.train, self.input.memory());
        let taken = earlier.as_ref().map(|earlier| earlier.taken.clone());
        let taken = taken.unwrap_or_default();
        let mut watch = Watch::new(self.console, self.interrupt);
        watch.checkpointer = self.args.checkpoint.checkpointer(earlier)?;
        let tuned = resume_among(candidates, train, held, options, &taken, &mut watch);
        watch.clear();
        Ok(tuned)
    }

    /// Measures the models on the path to the chosen one.
    fn test_path(&self, tuned: &Tuned) -> Result<Option<TestPath<'_>>> {
        let Some(test) = &self.input.test else {
            return Ok(None);
        };
        let metrics = self.args.test_metrics()?;
        let mut path = TestPath::new(&test.dataset, &metrics, self.args.convention);
        for point in &tuned.chosen().points[..tuned.choice.k] {
            path.push(point.step.feature, &point.weights)
                .context("cannot measure the test data")?;
        }
        Ok(Some(path))
    }

    fn test_sizes(&self) -> Option<TestSizes> {
        let test = self.input.test.as_ref()?;
        Some(TestSizes::new(test, self.args.convention))
    }

    fn save(
        &self,
        outputs: Outputs,
        report: &Report<'_>,
        options: &Options<'_>,
        candidates: &ColumnClasses,
    ) -> Result<()> {
        if let Some(file) = outputs.table {
            file.write(report)?;
        }
        if let Some(file) = outputs.plot {
            file.write(&figure(report.tuned, options))?;
        }
        let Some(file) = outputs.model else {
            return Ok(());
        };
        let summary = candidates.summary();
        let model = Model::from_selection(report.selection, &self.input.train, &summary);
        file.write(|writer| model.write_to(writer))
    }

    fn warn(&self, tuned: &Tuned, selection: &Selection, options: &Options<'_>) {
        if tuned.interrupted {
            let models = tuned.outcomes.iter().map(|outcome| outcome.points.len());
            self.console.warn(format_args!(
                "interrupted: the choice is among {} models",
                models.sum::<usize>()
            ));
        }
        let folds = matches!(options.source(), Evidence::Folds { .. });
        if self.args.selection.seed != 1 && selection.sampler.is_none() && !folds {
            let strategy = selection.strategy;
            self.console.warn(format_args!(
                "--seed has no effect: {strategy} draws nothing at random without --candidates"
            ));
        }
        warn_of_lost_digits(selection.condition, Condition::Estimate, self.console);
        self.warn_of_edges(tuned, options);
    }

    /// A choice at the edge of what was tried says little about what lies beyond.
    fn warn_of_edges(&self, tuned: &Tuned, options: &Options<'_>) {
        let position = tuned.choice.position;
        let lambda = format_exact(tuned.chosen().lambda.value());
        let last = options.lambdas().len() - 1;
        if last > 0 && (position == 0 || position == last) {
            let (which, other) = if position == 0 {
                ("smallest", "smaller")
            } else {
                ("largest", "larger")
            };
            self.console.warn(format_args!(
                "the chosen lambda {lambda} is the {which} of the grid: a {other} one may do better"
            ));
        }
        let complete = tuned.chosen().ending == Ending::Complete;
        if complete && tuned.choice.k == tuned.chosen().points.len() && tuned.choice.k > 1 {
            self.console.warn(format_args!(
                "the chosen model has all {} features: more may do better",
                tuned.choice.k
            ));
        }
    }
}
