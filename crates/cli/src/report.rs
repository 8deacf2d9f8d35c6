//! The report of `select`: one document, in JSON or as tables. `tune` reports its choice by it, and
//! `inspect` shows models by the same table.

use std::fmt::Write as _;

use rankrls::greedy::job::{StepReport, TestPath};
use rankrls::greedy::{Choice, GreedyRankRls, Selection, Teacher};
use rankrls::tune::Stability;
use rankrls::{Dataset, StrategyKind};
use serde::Serialize;
use serde_json::Value;

use super::choosing;
use super::numbers::{measure, ridge, short};
use super::sheet::Sheet;
use super::sizes::{Sizes, TestSizes, heading};

/// A selection, in the schema `rankrls.selection/1`.
#[derive(Debug, Serialize)]
pub(crate) struct SelectionReport<'a> {
    schema: &'static str,
    #[serde(flatten)]
    selection: &'a Selection,
    /// The choice of the settings that nobody gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) choice: Option<&'a Choice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    densities_at: Option<DensitiesAt>,
    pub(crate) data: Sizes,
    steps: Vec<StepReport<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    test: Option<TestSizes>,
    pub(crate) load_seconds: f64,
    pub(crate) select_seconds: f64,
    /// The part of these seconds for measuring test data.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) test_seconds: Option<f64>,
    pub(crate) peak_rss_bytes: Option<u64>,
}

/// The rows whose values are the points of `fs-ed` densities.
#[derive(Debug, Clone, Copy, Serialize)]
struct DensitiesAt {
    /// Whether they are the training rows, as there are no others.
    training: bool,
    rows: usize,
}

impl<'a> SelectionReport<'a> {
    pub(crate) fn new(
        selection: &'a Selection,
        dataset: &'a Dataset<'_>,
        data: Sizes,
        test: Option<(TestSizes, &TestPath<'_>)>,
        load_seconds: f64,
        select_seconds: f64,
    ) -> Self {
        let (test, path) = test.unzip();
        let validation = dataset.validation();
        Self {
            schema: "rankrls.selection/1",
            selection,
            choice: None,
            densities_at: (selection.options.strategy == StrategyKind::FsEd).then(|| DensitiesAt {
                training: validation.is_none(),
                rows: validation.unwrap_or(dataset).rows(),
            }),
            data,
            steps: StepReport::all(selection, dataset, path),
            test,
            load_seconds,
            select_seconds,
            test_seconds: None,
            peak_rss_bytes: None,
        }
    }

    /// Counts the folds that select each feature.
    pub(crate) fn count_folds(&mut self, stability: &Stability) {
        for row in &mut self.steps {
            let mut frequencies = stability.frequencies.iter();
            let found = frequencies.find(|found| found.feature == row.feature);
            row.folds = Some(found.map_or(0, |found| found.selections));
        }
    }

    /// The report for people.
    pub(crate) fn text(&self) -> String {
        let (options, unit) = (&self.selection.options, self.data.unit);
        let lambda = ridge(self.selection.lambda.value(), unit);
        let strategy = self.selection.strategy_name();
        let mut text = format!("strategy {strategy}, lambda {lambda}");
        text += &settings(options);
        if let Some(teacher) = &self.selection.teacher {
            let _ = write!(text, "\nteacher: {}", taught_by(teacher, unit));
        }
        if let Some(DensitiesAt { training, rows }) = self.densities_at {
            let values = if training {
                format!("the {rows} training rows; --validation names other data")
            } else {
                format!("{rows} validation rows")
            };
            let _ = write!(text, "\ndensities at the values of {values}");
        }
        if let Some(choice) = self.choice {
            let (lambda, rows) = (self.selection.lambda.value(), self.data.rows);
            let _ = write!(
                text,
                "\n{}",
                choosing::text(choice, lambda, rows, unit).trim_end()
            );
        }
        let (load, select) = (self.load_seconds, self.select_seconds);
        let heading = heading(&self.data, load, "selected", select, self.peak_rss_bytes);
        format!("{text}\n{heading}{}", self.body())
    }

    /// The steps, and the measures of test data.
    pub(crate) fn body(&self) -> String {
        let criterion = self.selection.options.criterion.to_string();
        let mut text = format!("\n{}\n", path_table(&self.steps, &criterion).text());
        if self.selection.options.strategy.distils() {
            text += BIASED;
        }
        if let Some(sizes) = &self.test {
            let (rows, queries, rules) = (sizes.rows, sizes.queries, sizes.rules.text());
            let table = self.test_table();
            let _ = write!(
                text,
                "\ntest data: {rows} rows, {queries} queries, {rules}\n\n{table}\n\n\
                 s.e. is the standard error over queries at the last step\n"
            );
        }
        text
    }

    /// A line a step, and one with the standard errors of the last.
    fn test_table(&self) -> String {
        let steps = self.steps.iter();
        let mut of_steps = steps.clone().filter_map(|row| row.standard_errors.as_ref());
        let errors = of_steps.next_back();
        let means = steps.filter_map(|row| Some((row.step.to_string(), row.test.as_ref()?)));
        let last = errors.map(|errors| ("s.e.".to_owned(), errors));
        let lines: Vec<_> = means.chain(last).collect();
        let measures = errors.iter().flat_map(|errors| &errors.0);
        let names = measures.map(|(name, _)| name);
        Sheet::of(&lines)
            .number("step", |(step, _)| step.as_str())
            .measures(names, |(_, values), place| values.0[place].1)
            .text()
    }
}

/// A note below tables with rows of `distil`.
pub(crate) const BIASED: &str = "\nthe LQO columns of distil are biased: its teacher has seen all labels. --test or\n\
     tune --holdout folds judge fairly\n";

/// The settings that differ from the defaults.
pub(crate) fn settings(options: &GreedyRankRls) -> String {
    let mut text = String::new();
    for (name, value) in options.given() {
        let _ = write!(text, ", {} {}", name.replace('_', " "), setting(&value));
    }
    if options.label_scale.is_some_and(|labels| !labels.is_raw()) {
        text.push_str(", errors in units of the scaled labels");
    }
    text
}

fn setting(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(setting).collect::<Vec<_>>().join(","),
        Value::Number(number) if number.is_f64() => number.as_f64().map_or_else(String::new, short),
        // A seed has many digits.
        value => value.to_string(),
    }
}

fn taught_by(teacher: &Teacher, unit: f64) -> String {
    let by = match (teacher.solver, teacher.lambda) {
        (Some(solver), Some(lambda)) => {
            let lambda = ridge(lambda.value(), unit);
            format!("RankRLS on all columns by {solver}, lambda {lambda}")
        }
        _ => "scores that were given".to_owned(),
    };
    format!("{by}, hold-out cindex {}", measure(teacher.cindex))
}

/// Selected features, one a line.
pub(crate) fn path_table<'a>(
    rows: &'a [StepReport<'a>],
    criterion: &str,
) -> Sheet<'a, StepReport<'a>> {
    // The concordance index always has its own column.
    let ranked = criterion != "cindex";
    let criterion = format!("LQO {criterion}");
    Sheet::of(rows)
        .number("step", |row| row.step)
        .number("feature", |row| row.feature)
        .words("name", |row| row.name)
        .number("weight", |row| row.weight)
        .number("LQO error", |row| row.lqo_error)
        .measure("LQO cindex", |row| row.lqo_cindex)
        .measure(criterion, |row| row.criterion.filter(|_| ranked))
        .number("identical", |row| row.identical_columns)
        .number("folds", |row| row.folds)
}
