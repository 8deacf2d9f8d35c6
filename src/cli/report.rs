//! What `select` prints.

use std::fmt::Write as _;

use rankrls::greedy::Criterion;
use rankrls::greedy::{Ending, Selection, Step};
use rankrls::metrics::{Convention, Metric};
use rankrls::{Dataset, QueryWeight, TestPath};
use serde::Serialize;

use super::measures::{Object, by_name};
use super::numbers::{given, measure};
use super::path_table::{PathRow, path_table};
use super::sizes::{Sizes, TestSizes};
use super::table::{lines, table};
use rankrls::memory::Bytes;

/// A selection to be printed.
#[derive(Debug)]
pub(crate) struct Report<'a> {
    pub(crate) selection: &'a Selection,
    pub(crate) dataset: &'a Dataset<'a>,
    pub(crate) sizes: Sizes,
    pub(crate) test: Option<(TestSizes, &'a TestPath<'a>)>,
    pub(crate) load_seconds: f64,
    pub(crate) select_seconds: f64,
    /// Of these, for measuring test data.
    pub(crate) test_seconds: Option<f64>,
    pub(crate) peak_rss_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    strategy: &'static str,
    lambda: f64,
    criterion: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    convention: Option<Convention>,
    query_weight: QueryWeight,
    candidates: Option<usize>,
    seed: Option<u64>,
    data: Sizes,
    steps: Vec<StepEntry<'a>>,
    weights: &'a [f64],
    /// Null if it is beyond all numbers.
    condition: f64,
    ending: Ending,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<&'a TestSizes>,
    load_seconds: f64,
    select_seconds: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    test_seconds: Option<f64>,
    peak_rss_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct StepEntry<'a> {
    step: usize,
    feature: u64,
    name: Option<&'a str>,
    lqo_error: f64,
    lqo_cindex: Option<f64>,
    /// The measure that was the criterion.
    #[serde(skip_serializing_if = "Option::is_none")]
    criterion: Option<f64>,
    identical_columns: usize,
    evaluated: usize,
    /// ColumnClasses that could still win after each level of `bounded`'s bounds.
    #[serde(skip_serializing_if = "<[usize]>::is_empty")]
    alive: &'a [usize],
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
            criterion: selection.criterion.to_string(),
            convention: match selection.criterion {
                Criterion::Squared => None,
                Criterion::Ranking { convention, .. } => Some(convention),
            },
            query_weight: selection.query_weight,
            candidates: selection.sampler.map(|sampler| sampler.size),
            seed: selection.sampler.map(|sampler| sampler.seed),
            data: self.sizes,
            steps: (0..selection.steps.len())
                .map(|step| self.entry(step))
                .collect(),
            weights: &selection.weights,
            condition: selection.condition,
            ending: selection.ending,
            test: self.test.as_ref().map(|(sizes, _)| sizes),
            load_seconds: self.load_seconds,
            select_seconds: self.select_seconds,
            test_seconds: self.test_seconds,
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
            criterion: step.criterion,
            identical_columns: step.identical_columns,
            evaluated: step.evaluated,
            alive: &step.alive,
            test: measured,
        }
    }

    /// The same for people.
    pub(crate) fn text(&self) -> String {
        self.heading() + &self.body()
    }

    /// The steps, and the measures of test data.
    pub(crate) fn body(&self) -> String {
        let mut text = format!("\n{}\n", self.steps());
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
            selection.strategy,
            given(selection.lambda.value())
        );
        if let Criterion::Ranking { metric, convention } = selection.criterion {
            let _ = write!(text, ", criterion {metric} ({convention})");
        }
        if selection.query_weight != QueryWeight::Uniform {
            let _ = write!(text, ", query weight {}", selection.query_weight);
        }
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

    /// The criterion after a step, unless the table has it anyhow.
    fn criterion(&self, step: &Step) -> Option<(Metric, f64)> {
        match self.selection.criterion {
            Criterion::Ranking { metric, .. } if metric != Metric::Concordance => {
                Some((metric, step.criterion?))
            }
            _ => None,
        }
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
            criterion: self.criterion(step),
            identical: step.identical_columns,
        });
        path_table(rows)
    }
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
