//! What `select` prints.

use std::fmt::Write as _;

use rankrls::candidates::Summary;
use rankrls::dataset::read::Loaded;
use rankrls::metrics::Convention;
use rankrls::select::{Ending, Selection};
use rankrls::{Dataset, TestPath};
use serde::Serialize;

use super::bytes::Bytes;
use super::measures::{Object, by_name};
use super::numbers::{measure, number, printable};
use super::table::{lines, table};

/// Sizes of the data.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Sizes {
    pub(crate) rows: usize,
    pub(crate) queries: usize,
    pub(crate) columns: usize,
    pub(crate) nonzeros: usize,
    pub(crate) empty_columns: usize,
    pub(crate) constant_columns: usize,
    pub(crate) column_classes: usize,
}

impl Sizes {
    pub(crate) fn new(dataset: &Dataset<'_>, summary: &Summary) -> Self {
        Self {
            rows: dataset.rows(),
            queries: dataset.queries().len(),
            columns: dataset.width(),
            nonzeros: dataset.nonzeros(),
            empty_columns: summary.empty_columns,
            constant_columns: summary.constant_columns,
            column_classes: summary.column_classes,
        }
    }

    /// Two lines that fit a narrow terminal.
    pub(crate) fn lines(&self) -> String {
        let Self {
            rows,
            queries,
            columns,
            nonzeros,
            constant_columns,
            column_classes,
            ..
        } = self;
        format!(
            "data: {rows} rows, {queries} queries, {columns} columns, {nonzeros} non-zeros\n      \
             {constant_columns} columns constant in every query, {column_classes} column classes\n"
        )
    }
}

/// Test data along the path.
#[derive(Debug, Serialize)]
pub(crate) struct TestSizes {
    pub(crate) convention: Convention,
    pub(crate) rows: usize,
    pub(crate) queries: usize,
    pub(crate) dropped_entries: u64,
    pub(crate) dropped_columns: u64,
}

impl TestSizes {
    pub(crate) fn new(loaded: &Loaded, convention: Convention) -> Self {
        Self {
            convention,
            rows: loaded.dataset.rows(),
            queries: loaded.dataset.queries().len(),
            dropped_entries: loaded.dropped_entries,
            dropped_columns: loaded.dropped_columns,
        }
    }
}

/// A selection to be printed.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) selection: &'a Selection,
    pub(crate) dataset: &'a Dataset<'a>,
    pub(crate) sizes: Sizes,
    pub(crate) test: Option<(TestSizes, &'a TestPath<'a>)>,
    pub(crate) load_seconds: f64,
    pub(crate) select_seconds: f64,
    pub(crate) peak_rss_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    strategy: &'static str,
    lambda: f64,
    candidates: Option<usize>,
    seed: Option<u64>,
    data: Sizes,
    steps: Vec<StepEntry<'a>>,
    weights: &'a [f64],
    ending: Ending,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<&'a TestSizes>,
    load_seconds: f64,
    select_seconds: f64,
    peak_rss_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct StepEntry<'a> {
    step: usize,
    feature: u64,
    name: Option<&'a str>,
    lqo_error: f64,
    lqo_cindex: Option<f64>,
    identical_columns: usize,
    evaluated: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<Object<Option<f64>>>,
}

impl<'a> Report<'a> {
    /// The JSON document of the schema `rankrls.selection/1`.
    pub(crate) fn document(&self) -> impl Serialize {
        let selection = self.selection;
        Document {
            schema: "rankrls.selection/1",
            strategy: selection.strategy.name(),
            lambda: selection.lambda.value(),
            candidates: selection.sampler.map(|sampler| sampler.size),
            seed: selection.sampler.map(|sampler| sampler.seed),
            data: self.sizes,
            steps: (0..selection.steps.len())
                .map(|step| self.entry(step))
                .collect(),
            weights: &selection.weights,
            ending: selection.ending,
            test: self.test.as_ref().map(|(sizes, _)| sizes),
            load_seconds: self.load_seconds,
            select_seconds: self.select_seconds,
            peak_rss_bytes: self.peak_rss_bytes,
        }
    }

    fn entry(&self, number: usize) -> StepEntry<'a> {
        let step = &self.selection.steps[number];
        let measured = self.test.as_ref().and_then(|(_, path)| {
            let values = path.steps().get(number)?;
            Some(by_name(path.metrics(), values))
        });
        StepEntry {
            step: number + 1,
            feature: self.dataset.index_base().written(step.feature),
            name: self
                .dataset
                .names()
                .and_then(|names| names.of(step.feature)),
            lqo_error: step.lqo_error,
            lqo_cindex: step.lqo_cindex,
            identical_columns: step.identical_columns,
            evaluated: step.evaluated,
            test: measured,
        }
    }

    /// The same for people.
    pub(crate) fn text(&self) -> String {
        let mut text = self.heading();
        let _ = writeln!(text, "\n{}", self.steps());
        if let Some((sizes, path)) = &self.test {
            let _ = writeln!(
                text,
                "\ntest data: {} rows, {} queries, convention {}\n\n{}",
                sizes.rows,
                sizes.queries,
                sizes.convention,
                test_steps(path)
            );
        }
        text
    }

    fn heading(&self) -> String {
        let selection = self.selection;
        let mut text = format!(
            "strategy {}, lambda {}",
            selection.strategy, selection.lambda
        );
        if let Some(sampler) = selection.sampler {
            let _ = write!(
                text,
                ", {} candidates a step, seed {}",
                sampler.size, sampler.seed
            );
        }
        let _ = write!(
            text,
            "\n{}read in {:.2} s, selected in {:.2} s",
            self.sizes.lines(),
            self.load_seconds,
            self.select_seconds
        );
        if let Some(peak) = self.peak_rss_bytes {
            let _ = write!(text, ", peak memory {}", Bytes(peak));
        }
        text.push('\n');
        text
    }

    fn steps(&self) -> String {
        let rows = self.selection.steps.iter().zip(&self.selection.weights);
        let rows = rows.map(|(step, &weight)| PathRow {
            feature: self.dataset.index_base().written(step.feature),
            name: self
                .dataset
                .names()
                .map(|names| names.of(step.feature).unwrap_or_default()),
            weight,
            lqo_error: step.lqo_error,
            lqo_cindex: step.lqo_cindex,
            identical: step.identical_columns,
        });
        path_table(rows)
    }
}

/// A row of the table of a selection or a model.
pub(crate) struct PathRow<'a> {
    pub(crate) feature: u64,
    pub(crate) name: Option<&'a str>,
    pub(crate) weight: f64,
    pub(crate) lqo_error: f64,
    pub(crate) lqo_cindex: Option<f64>,
    pub(crate) identical: usize,
}

/// Selected features, one a line, with a column of names if there are any.
pub(crate) fn path_table<'a>(rows: impl Iterator<Item = PathRow<'a>> + Clone) -> String {
    let named = rows.clone().any(|row| row.name.is_some());
    let mut header = vec![
        "step",
        "feature",
        "name",
        "weight",
        "LQO error",
        "LQO cindex",
        "identical",
    ];
    header.retain(|title| named || *title != "name");
    let header: Vec<String> = header.into_iter().map(str::to_owned).collect();
    let mut table = table(&header);
    for (step, row) in (1_usize..).zip(rows) {
        let mut cells = vec![step.to_string(), row.feature.to_string()];
        if named {
            cells.push(printable(row.name.unwrap_or_default()));
        }
        cells.extend([
            number(row.weight),
            number(row.lqo_error),
            measure(row.lqo_cindex),
            row.identical.to_string(),
        ]);
        table.add_row(cells);
    }
    lines(table)
}

fn test_steps(path: &TestPath<'_>) -> String {
    let names = path.metrics().iter().map(ToString::to_string);
    let header: Vec<String> = std::iter::once("step".to_owned()).chain(names).collect();
    let mut table = table(&header);
    for (number, values) in path.steps().iter().enumerate() {
        let values = values.iter().map(|&value| measure(value));
        table.add_row(std::iter::once((number + 1).to_string()).chain(values));
    }
    lines(table)
}
