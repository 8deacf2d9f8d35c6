//! A selection: from data that was read to what is printed.

use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Context, Result};
use rankrls::columns::Summary;
use rankrls::greedy::{Ending, Selection, resume_among};
use rankrls::plot::{self, Figure, LinePlot, Series};
use rankrls::{ColumnClasses, Model, TestPath, memory};

use super::console::Console;
use super::digits::{Condition, warn_of_lost_digits};
use super::input::Input;
use super::interrupt::Interrupt;
use super::numbers::given;
use super::output::{OutputFile, print, print_json};
use super::plot::PlotFile;
use super::report::Report;
use super::resume::Earlier;
use super::select::{Extended, SelectArgs};
use super::sizes::{Sizes, TestSizes};
use super::watch::Watch;

/// A selection about to be made.
pub(crate) struct Job<'a> {
    pub(super) args: &'a SelectArgs,
    pub(super) console: Console,
    pub(super) input: &'a Input,
    pub(super) interrupt: &'a Interrupt,
    /// The model to go on from.
    pub(super) extended: Option<&'a Extended>,
}

impl Job<'_> {
    /// Selects, writes the model and the diagram and prints the report, also when interrupted on
    /// the way.
    pub(super) fn run(
        &self,
        output: Option<OutputFile>,
        plot: Option<PlotFile>,
    ) -> Result<ExitCode> {
        let begin = Instant::now();
        let earlier = Earlier::find(self)?;
        let weight = earlier.options.query_weight;
        let candidates = ColumnClasses::weighted(&self.input.train, weight);
        let mut watch = Watch::new(self.console, self.interrupt, self.test_path());
        watch.checkpointer = earlier.checkpointer(&self.args.checkpoint)?;
        let selection = self.select(&candidates, &earlier, &mut watch)?;
        let select_seconds = begin.elapsed().as_secs_f64();
        let summary = candidates.summary();
        let saved = output.map_or(Ok(()), |output| self.save(&selection, &summary, output));
        let drawn = plot.map_or(Ok(()), |plot| plot.write(&figure(&selection, &watch)));
        self.warn(&selection, summary.column_classes);
        self.print(&Report {
            selection: &selection,
            dataset: &self.input.train,
            sizes: Sizes::new(&self.input.train, &summary),
            test: self.test_sizes().zip(watch.test.as_ref()),
            load_seconds: self.input.seconds,
            select_seconds,
            test_seconds: watch.test.as_ref().map(|_| watch.test_seconds),
            peak_rss_bytes: memory::peak(),
        })?;
        // What was found is printed even if it could not be saved.
        saved?;
        drawn?;
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

    fn select(
        &self,
        candidates: &ColumnClasses,
        earlier: &Earlier,
        watch: &mut Watch<'_>,
    ) -> Result<Selection> {
        let (labels, held) = (self.input.train.labels(), self.input.memory());
        let (steps, options) = (&earlier.steps, &earlier.options);
        let selection = resume_among(candidates, labels, held, options, steps, watch);
        watch.clear();
        match watch.test.as_ref().and_then(TestPath::error) {
            None => Ok(selection?),
            Some(error) => Err(error.clone()).context("cannot measure the test data"),
        }
    }

    fn warn(&self, selection: &Selection, classes: usize) {
        warn_of_lost_digits(selection.condition, Condition::Estimate, self.console);
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
        let labels = self.input.train.labels();
        let mut queries = self.input.train.queries().ranges();
        if queries.all(|range| {
            labels[range.clone()]
                .windows(2)
                .all(|pair| pair[0] == pair[1])
        }) {
            self.console.warn(
                "the labels are constant within every query: there is nothing to learn, and every \
                 weight is 0",
            );
        }
        if self.args.selection.seed != 1 && selection.sampler.is_none() {
            let strategy = selection.strategy;
            self.console.warn(format_args!(
                "--seed has no effect: {strategy} draws nothing at random without --candidates"
            ));
        }
    }
}

/// The path of a selection: leave-query-out measures, and those of the test data if there are.
fn figure(selection: &Selection, watch: &Watch<'_>) -> Figure {
    let (strategy, lambda) = (selection.strategy, given(selection.lambda.value()));
    let title = format!("Selection by {strategy} at lambda {lambda}");
    let path = plot::Path::new("", &selection.steps);
    let figure = plot::paths(title, &[path], None, None);
    let Some(test) = &watch.test else {
        return figure;
    };
    let label = format!("test data, convention {}", test.convention());
    let mut panel = LinePlot::new("features", label);
    for (metric, index) in test.metrics().iter().zip(0_usize..) {
        let values = (1..).zip(test.steps());
        let points = values.map(|(features, values)| (f64::from(features), values[index]));
        panel = panel.series(Series::new(metric.to_string(), points));
    }
    figure.lines(panel)
}
