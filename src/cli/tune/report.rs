//! What `tune` prints.

use std::fmt::Write as _;

use rankrls::greedy::Selection;
use rankrls::metrics::{Convention, Metric};
use rankrls::tune::{Choice, Curve, Evidence, Measure, Outcome, Rule, Tuned};
use rankrls::{Dataset, TestPath};
use serde::Serialize;

use super::rows::{Row, ending, trouble};
use crate::cli::data::{Sizes, TestSizes};
use crate::cli::output::{format_exact, number};
use crate::cli::output::{lines, table};
use crate::cli::report::SelectionReport;
use rankrls::memory::Bytes;

/// A tuned selection to be printed.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) tuned: &'a Tuned,
    pub(super) selection: &'a Selection,
    pub(super) dataset: &'a Dataset<'a>,
    pub(super) sizes: Sizes,
    pub(super) k: usize,
    pub(super) evidence: Evidence<'a>,
    pub(super) measure: Measure,
    pub(super) metrics: &'a [Metric],
    pub(super) convention: Convention,
    pub(super) rule: Rule,
    pub(super) test: Option<(TestSizes, &'a TestPath<'a>)>,
    pub(super) load_seconds: f64,
    pub(super) tune_seconds: f64,
    pub(super) peak_rss_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    k: usize,
    measure: Measure,
    better: &'static str,
    convention: Convention,
    evidence: EvidenceEntry,
    rule: Rule,
    interrupted: bool,
    chosen: Option<Row<'a>>,
    paths: Vec<PathEntry<'a>>,
    table: Vec<Row<'a>>,
    /// What `select` with the chosen lambda and k prints.
    selection: SelectionReport<'a>,
    load_seconds: f64,
    tune_seconds: f64,
    peak_rss_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum EvidenceEntry {
    Lqo,
    Validation { rows: usize, queries: usize },
    Folds { count: usize, seed: u64 },
}

/// What became of a lambda.
#[derive(Debug, Serialize)]
struct PathEntry<'a> {
    lambda: f64,
    strategy: Option<&'static str>,
    steps: usize,
    ending: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    best: Option<Row<'a>>,
    one_se: Option<Row<'a>>,
}

impl<'a> Report<'a> {
    /// The JSON document of the schema `rankrls.tuning/1`, around that of what was selected.
    pub(super) fn document(&self) -> impl Serialize {
        let Choice { k, .. } = self.tuned.choice;
        Document {
            schema: "rankrls.tuning/1",
            k: self.k,
            measure: self.measure,
            better: self.better(),
            convention: self.convention,
            evidence: match self.evidence {
                Evidence::Lqo => EvidenceEntry::Lqo,
                Evidence::Validation(dataset) => EvidenceEntry::Validation {
                    rows: dataset.rows(),
                    queries: dataset.queries().len(),
                },
                Evidence::Folds { count, seed } => EvidenceEntry::Folds { count, seed },
            },
            rule: self.rule,
            interrupted: self.tuned.interrupted,
            chosen: Row::new(self, self.tuned.chosen(), k),
            paths: self.paths(),
            table: self.table(),
            selection: self.selected(),
            load_seconds: self.load_seconds,
            tune_seconds: self.tune_seconds,
            peak_rss_bytes: self.peak_rss_bytes,
        }
    }

    /// All models.
    pub(super) fn table(&self) -> Vec<Row<'a>> {
        let outcomes = self.tuned.outcomes.iter();
        outcomes
            .flat_map(|outcome| Row::all(self, outcome))
            .collect()
    }

    fn paths(&self) -> Vec<PathEntry<'a>> {
        let outcomes = self.tuned.outcomes.iter();
        let entry = |outcome: &'a Outcome| PathEntry {
            lambda: outcome.lambda.value(),
            strategy: outcome.strategy.map(rankrls::StrategyKind::name),
            steps: outcome.points.len(),
            ending: ending(&outcome.ending),
            reason: trouble(&outcome.ending),
            best: self.by(Rule::Best, outcome),
            one_se: self.by(Rule::OneSe, outcome),
        };
        outcomes.map(entry).collect()
    }

    /// The model that a rule chooses on one path.
    fn by(&self, rule: Rule, outcome: &'a Outcome) -> Option<Row<'a>> {
        let curves: [Curve; 1] = [outcome.curve()];
        let choice = rule.choose(self.measure, &curves)?;
        Row::new(self, outcome, choice.k)
    }

    fn better(&self) -> &'static str {
        if self.measure.lower_is_better() {
            "lower"
        } else {
            "higher"
        }
    }

    /// The chosen model as `select` reports it.
    fn selected(&self) -> SelectionReport<'a> {
        let (load, tune) = (self.load_seconds, self.tune_seconds);
        let (selection, test) = (self.selection, self.test.clone());
        let mut report =
            SelectionReport::new(selection, self.dataset, self.sizes, test, load, tune);
        report.peak_rss_bytes = self.peak_rss_bytes;
        report
    }

    /// The same for people.
    pub(super) fn text(&self) -> String {
        let mut text = self.heading();
        let _ = writeln!(text, "\n{}", self.path_table());
        for outcome in &self.tuned.outcomes {
            if let Some(trouble) = trouble(&outcome.ending) {
                let lambda = format_exact(outcome.lambda.value());
                let _ = writeln!(text, "lambda {lambda}: {trouble}");
            }
        }
        let _ = write!(text, "\n{}{}", self.chosen(), self.selected().body());
        text
    }

    fn heading(&self) -> String {
        let evidence = match self.evidence {
            Evidence::Lqo => "leave-query-out predictions".to_owned(),
            Evidence::Validation(dataset) => format!(
                "validation data of {} rows in {} queries",
                dataset.rows(),
                dataset.queries().len()
            ),
            Evidence::Folds { count, seed } => format!("{count} folds, seed {seed}"),
        };
        let mut text = format!(
            "measure {}, {} is better; rule {}\nevidence: {evidence}\n{}read in {:.2} s, tuned in {:.2} s",
            self.measure,
            self.better(),
            self.rule.name(),
            self.sizes.lines(),
            self.load_seconds,
            self.tune_seconds
        );
        if let Some(peak) = self.peak_rss_bytes {
            let _ = write!(text, ", peak memory {}", Bytes(peak));
        }
        text.push('\n');
        text
    }

    /// A line a lambda.
    fn path_table(&self) -> String {
        let header = [
            "lambda", "strategy", "steps", "best k", "value", "s.e.", "one-se k", "ends",
        ];
        let mut table = table(&header.map(str::to_owned));
        let dash = || "-".to_owned();
        for path in self.paths() {
            let best = path.best.as_ref();
            let value = best.and_then(|row| row.value);
            let standard_error = best.and_then(|row| row.standard_error);
            table.add_row([
                format_exact(path.lambda),
                path.strategy.map_or_else(dash, str::to_owned),
                path.steps.to_string(),
                best.map_or_else(dash, |row| row.k.to_string()),
                value.map_or_else(dash, number),
                standard_error.map_or_else(dash, number),
                path.one_se.map_or_else(dash, |row| row.k.to_string()),
                path.ending.to_owned(),
            ]);
        }
        lines(table)
    }

    fn chosen(&self) -> String {
        let point = self.tuned.point();
        let mut text = format!(
            "chosen: lambda {}, {} features\n        {} {}",
            format_exact(self.selection.lambda.value()),
            self.tuned.choice.k,
            self.measure,
            point.score.mean.map_or_else(String::new, number),
        );
        if let Some(error) = point.score.standard_error {
            let _ = write!(text, ", standard error {}", number(error));
        }
        let _ = writeln!(text, ", {} queries", point.score.queries);
        for (metric, score) in self.metrics.iter().zip(&point.metrics) {
            let mean = score.mean.map_or_else(|| "-".to_owned(), number);
            let _ = writeln!(text, "        {metric} {mean}, {} queries", score.queries);
        }
        text
    }
}
