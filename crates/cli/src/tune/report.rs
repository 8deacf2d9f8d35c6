//! The report of `tune` on the models: a JSON document, tables for people, and a table file.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rankrls::data::LabelScale;
use rankrls::greedy::Choice;
use rankrls::greedy::job::Named;
use rankrls::metrics::Score;
use rankrls::tune::{Outcome, PathEnding, Point, Rule, Stability, Tune, Tuned, Tuning};
use rankrls::{HoldOut, StrategyKind};
use rankrls_files::write_json;
use serde::Serialize;

use crate::choosing;
use crate::files::is_stdout;
use crate::numbers::{counted, four, measure, ridge, short};
use crate::report::SelectionReport;
use crate::sheet::Sheet;
use crate::sizes::heading;

/// A tuned selection, in the schema `rankrls.tuning/1`.
#[derive(Debug, Serialize)]
pub(super) struct Report<'a> {
    schema: &'static str,
    /// The options of the chosen path, with every choice made.
    options: Tune,
    better: &'static str,
    /// Whether the judging predictions also chose the features.
    optimistic: bool,
    /// The reason for these hold-outs, if nobody asked for them.
    holdout_reason: Option<String>,
    interrupted: bool,
    /// The choice of the settings that nobody gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) choice: Option<&'a Choice>,
    chosen: Option<Row<'a>>,
    /// The chosen model by folds, if its value is optimistic.
    chosen_by_folds: Option<ByFolds>,
    /// Stability of the chosen features over folds, whether these choose or only judge.
    stability: Option<Stability>,
    paths: Vec<PathEntry<'a>>,
    /// All models.
    table: Vec<Row<'a>>,
    /// The report of `select` with the chosen lambda and k.
    selection: SelectionReport<'a>,
    load_seconds: f64,
    tune_seconds: f64,
    peak_rss_bytes: Option<u64>,
    #[serde(skip)]
    tuned: &'a Tuned,
}

/// The judgement of folds on the chosen model.
#[derive(Debug, Serialize)]
struct ByFolds {
    #[serde(flatten)]
    score: Score,
    metrics: Named<Option<f64>>,
    count: usize,
    seed: u64,
}

/// The outcome of a lambda.
#[derive(Debug, Serialize)]
struct PathEntry<'a> {
    lambda: f64,
    strategy: Option<StrategyKind>,
    /// The scale, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<LabelScale>,
    steps: usize,
    ending: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    best: Option<Row<'a>>,
    one_se: Option<Row<'a>>,
}

/// A model of the grid.
#[derive(Debug, Serialize)]
struct Row<'a> {
    lambda: f64,
    /// The strategy, if there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    strategy: Option<StrategyKind>,
    #[serde(skip_serializing_if = "Option::is_none")]
    labels: Option<LabelScale>,
    k: usize,
    /// The added feature, in the numbering of the data file.
    feature: u64,
    name: Option<&'a str>,
    lqo_error: f64,
    lqo_cindex: Option<f64>,
    /// Mean of the measure over `queries`.
    value: Option<f64>,
    standard_error: Option<f64>,
    queries: usize,
    metrics: Named<Option<f64>>,
    /// Folds without candidates left.
    short_folds: usize,
}

/// The strategy of a path, if there are several.
fn strategy(options: &Tune, outcome: &Outcome) -> Option<StrategyKind> {
    let several = options.strategies.len() > 1;
    taken(outcome).filter(|_| several)
}

/// The strategy of a path; `None` if no selection started.
fn taken(outcome: &Outcome) -> Option<StrategyKind> {
    Some(outcome.options.strategy).filter(|strategy| *strategy != StrategyKind::Auto)
}

/// The scale of the labels of a path, if there are several.
fn labels(options: &Tune, outcome: &Outcome) -> Option<LabelScale> {
    (!options.labels.is_empty()).then(|| outcome.labels())
}

/// Strategy and scale of labels, each if there are several.
pub(super) fn name(options: &Tune, outcome: &Outcome) -> String {
    let strategy = strategy(options, outcome).map(|kind| kind.to_string());
    let labels = labels(options, outcome).map(|scale| format!("labels {scale}"));
    let parts: Vec<String> = strategy.into_iter().chain(labels).collect();
    parts.join(", ")
}

impl<'a> Row<'a> {
    /// The model of `k` features, if the path of `outcome` has it.
    fn new(tuning: &Tuning<'a>, outcome: &Outcome, k: usize) -> Option<Self> {
        let point = outcome.points.get(k.checked_sub(1)?)?;
        let (step, score, options) = (&point.step, &point.score, tuning.options);
        Some(Self {
            lambda: outcome.lambda.value(),
            strategy: strategy(options, outcome),
            labels: labels(options, outcome),
            k,
            feature: tuning.dataset.index_base().file_index(step.feature),
            name: tuning.dataset.name_of(step.feature),
            lqo_error: step.lqo_error,
            lqo_cindex: step.lqo_cindex,
            value: score.mean,
            standard_error: score.standard_error,
            queries: score.queries,
            metrics: metrics(options, point),
            short_folds: point.short_folds,
        })
    }
}

fn metrics(options: &Tune, point: &Point) -> Named<Option<f64>> {
    Named::new(
        &options.metrics,
        point.metrics.iter().map(|score| score.mean),
    )
}

impl<'a> PathEntry<'a> {
    fn new(tuning: &Tuning<'a>, outcome: &Outcome) -> Self {
        let by = |rule: Rule| {
            let (_, k) = rule.choose(tuning.options.measure, &[outcome.scores()])?;
            Row::new(tuning, outcome, k)
        };
        Self {
            lambda: outcome.lambda.value(),
            strategy: taken(outcome),
            labels: labels(tuning.options, outcome),
            steps: outcome.points.len(),
            ending: ending(&outcome.ending),
            reason: trouble(&outcome.ending),
            best: by(Rule::Best),
            one_se: by(Rule::OneSe),
        }
    }
}

impl<'a> Report<'a> {
    /// The report on the `tuned` grid, with the chosen path judged by folds, the reason for folds if nobody asked
    /// for them, and the chosen model as in `select`.
    pub(super) fn new(
        tuning: &Tuning<'a>,
        tuned: &'a Tuned,
        cross_validated: Option<&Outcome>,
        reason: Option<String>,
        mut selection: SelectionReport<'a>,
    ) -> Self {
        let (options, chosen, k) = (tuning.options, tuned.chosen(), tuned.k);
        let folds = cross_validated.unwrap_or(chosen);
        let mut stability = folds.stability(k, selection.data.column_classes);
        if let Some(stability) = &mut stability {
            for found in &mut stability.frequencies {
                found.feature += u64::from(tuning.dataset.index_base().first());
            }
            selection.count_folds(stability);
        }
        let by_folds = |outcome: &Outcome| {
            let point = outcome.points.get(k - 1)?;
            Some(ByFolds {
                score: point.score.clone(),
                metrics: metrics(options, point),
                count: outcome.folds.len(),
                seed: options.selection.seed(),
            })
        };
        let models = tuned.outcomes.iter().flat_map(|outcome| {
            let models = 1..=outcome.points.len();
            models.filter_map(move |k| Row::new(tuning, outcome, k))
        });
        let paths = tuned.outcomes.iter();
        Self {
            schema: "rankrls.tuning/1",
            options: Tune {
                selection: chosen.options.clone(),
                ..options.clone()
            },
            better: if options.measure.lower_is_better() {
                "lower"
            } else {
                "higher"
            },
            optimistic: options.is_optimistic(),
            holdout_reason: reason,
            interrupted: tuned.interrupted,
            choice: None,
            chosen: Row::new(tuning, chosen, k),
            chosen_by_folds: cross_validated.and_then(by_folds),
            stability,
            paths: paths.map(|path| PathEntry::new(tuning, path)).collect(),
            table: models.collect(),
            load_seconds: selection.load_seconds,
            tune_seconds: selection.select_seconds,
            peak_rss_bytes: selection.peak_rss_bytes,
            selection,
            tuned,
        }
    }

    /// The report for people.
    pub(super) fn text(&self) -> String {
        let (lambda, sizes) = (self.tuned.lambda().value(), &self.selection.data);
        let choice = self
            .choice
            .map(|choice| choosing::text(choice, lambda, sizes.rows, sizes.unit));
        let choice = choice.unwrap_or_default();
        let mut text = format!("{choice}{}\n{}\n", self.heading(), self.path_table().text());
        for path in &self.paths {
            if let Some(reason) = &path.reason {
                let _ = writeln!(text, "lambda {}: {reason}", short(path.lambda));
            }
        }
        text + &format!("\n{}", self.chosen()) + &self.selection.body()
    }

    fn heading(&self) -> String {
        let holdout = match self.options.holdout {
            HoldOut::Data { rows, queries, .. } => {
                format!("validation data of {rows} rows in {queries} queries")
            }
            HoldOut::Folds { count, seed } => format!("{count} folds, seed {seed}"),
            _ => "leave-query-out predictions, optimistic: features were chosen by them".to_owned(),
        };
        let reason = self.holdout_reason.as_ref();
        let reason = reason.map_or_else(String::new, |reason| format!("\n          ({reason})"));
        let (load, tune) = (self.load_seconds, self.tune_seconds);
        let data = &self.selection.data;
        let sizes = heading(data, load, "tuned", tune, self.peak_rss_bytes);
        format!(
            "measure {}, {} is better; rule {}\njudged by {holdout}{reason}\n{sizes}",
            self.options.measure,
            self.better,
            self.options.rule.name(),
        )
    }

    /// A line a lambda.
    fn path_table(&self) -> Sheet<'_, PathEntry<'a>> {
        let value = if self.optimistic {
            "optimistic"
        } else {
            "value"
        };
        Sheet::of(&self.paths)
            .number("lambda", |path| short(path.lambda))
            .words("strategy", |path| path.strategy.map(StrategyKind::name))
            .words("labels", |path| path.labels.map(LabelScale::name))
            .number("steps", |path| path.steps)
            .number("best k", |path| Some(path.best.as_ref()?.k))
            .number(value, |path| path.best.as_ref()?.value.map(four))
            .number("s.e.", |path| path.best.as_ref()?.standard_error.map(four))
            .number("one-se k", |path| Some(path.one_se.as_ref()?.k))
            .number("ends", |path| path.ending)
    }

    fn chosen(&self) -> String {
        let point = self.tuned.point();
        let (measure_name, k) = (self.options.measure, self.tuned.k);
        let error = |score: &Score| {
            let error = score.standard_error.map(four);
            error.map_or_else(String::new, |error| format!(", standard error {error}"))
        };
        let path = match name(&self.options, self.tuned.chosen()) {
            name if name.is_empty() => name,
            name => name + ", ",
        };
        let features = counted(k, "feature");
        let mut text = format!(
            "chosen: {path}lambda {}, {features}\n        {measure_name} {}{}, {} queries",
            ridge(self.tuned.lambda().value(), self.selection.data.unit),
            point.score.mean.map_or_else(String::new, four),
            error(&point.score),
            point.score.queries,
        );
        if self.optimistic {
            text.push_str(" (optimistic)");
        }
        text.push('\n');
        if let Some(folds) = &self.chosen_by_folds {
            let (count, seed) = (folds.count, folds.seed);
            let (mean, error) = (four(folds.score.mean), error(&folds.score));
            let _ = writeln!(
                text,
                "        by {count} folds, seed {seed}: {measure_name} {mean}{error}"
            );
        }
        for (metric, score) in self.options.metrics.iter().zip(&point.metrics) {
            if Some(*metric) != measure_name.metric() {
                let (mean, queries) = (four(score.mean), score.queries);
                let error = error(score);
                let _ = writeln!(text, "        {metric} {mean}{error}, {queries} queries");
            }
        }
        if let Some(stability) = &self.stability {
            let _ = write!(
                text,
                "stability of the features over {} folds: {}",
                stability.selections,
                measure(stability.index)
            );
            if let Some([low, high]) = stability.interval {
                let _ = write!(text, " (95% from {} to {})", four(low), four(high));
            }
            text.push('\n');
        }
        text
    }

    /// Writes the table of all models, in the format of its file's name.
    pub(super) fn write_table(&self, path: &Path, writer: &mut dyn Write) -> io::Result<()> {
        if extension(path).as_deref() != Some("json") {
            return self.csv(writer);
        }
        write_json(writer, &self.table)
    }

    /// A line a model. The last line of a path has its ending; a path without a model has one line, without `k`.
    fn csv(&self, writer: &mut dyn Write) -> io::Result<()> {
        let mut lines: Vec<(&Outcome, Option<&Row<'_>>)> = Vec::new();
        let mut rows = self.table.iter();
        for path in &self.tuned.outcomes {
            match path.points.len() {
                0 => lines.push((path, None)),
                models => lines.extend(rows.by_ref().take(models).map(|row| (path, Some(row)))),
            }
        }
        let mut sheet = Sheet::of(&lines).number("lambda", |&(path, _)| path.lambda.value());
        if self.options.strategies.len() > 1 {
            sheet = sheet.words("strategy", |&(_, row)| Some(row?.strategy?.name()));
        }
        if !self.options.labels.is_empty() {
            sheet = sheet.words("labels", |&(_, row)| Some(row?.labels?.name()));
        }
        sheet
            .number("k", |&(_, row)| Some(row?.k))
            .number("feature", |&(_, row)| Some(row?.feature))
            .words("name", |&(_, row)| row?.name)
            .number("LQO error", |&(_, row)| Some(row?.lqo_error))
            .measure("LQO cindex", |&(_, row)| row?.lqo_cindex)
            .number("value", |&(_, row)| row?.value)
            .number("standard error", |&(_, row)| row?.standard_error)
            .number("queries", |&(_, row)| Some(row?.queries))
            .measures(&self.options.metrics, |&(_, row), place| {
                row?.metrics.0[place].1
            })
            .number("short folds", |&(_, row)| Some(row?.short_folds))
            .words("note", |&(path, row)| {
                let k = row.map_or(0, |row| row.k);
                (k == path.points.len()).then(|| note(path))
            })
            .csv(writer)
    }
}

/// The ending of a path, in a word.
fn ending(ending: &PathEnding) -> &'static str {
    match ending {
        PathEnding::Complete => "complete",
        PathEnding::Exhausted => "exhausted",
        PathEnding::Settled => "settled",
        PathEnding::Interrupted => "interrupted",
        PathEnding::Refused { .. } => "refused",
    }
}

/// The reason for a path that is shorter than by the options and the rule.
fn trouble(ending: &PathEnding) -> Option<String> {
    match ending {
        PathEnding::Refused { reason } => Some(reason.clone()),
        _ => None,
    }
}

fn note(path: &Outcome) -> String {
    let name = ending(&path.ending);
    match trouble(&path.ending) {
        Some(trouble) => format!("{name}: {trouble}"),
        None if path.ending == PathEnding::Complete => String::new(),
        None => name.to_owned(),
    }
}

/// Checks the name of a table, which tells the format; `.gz` or `.zst` may follow.
pub(super) fn table_name(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text);
    match extension(&path).as_deref() {
        Some("csv" | "json") => Ok(path),
        _ if is_stdout(&path) => Ok(path),
        _ => Err("expected a name that ends in .csv or .json".to_owned()),
    }
}

/// The extension before `.gz` and `.zst`, in lower case.
fn extension(path: &Path) -> Option<String> {
    let extension = path.extension()?.to_str()?.to_ascii_lowercase();
    match extension.as_str() {
        "gz" | "zst" => self::extension(&path.with_extension("")),
        _ => Some(extension),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_the_format() {
        for name in ["a.csv", "a.CSV", "a.csv.gz", "b/a.json", "a.json.zst"] {
            assert_eq!(table_name(name), Ok(PathBuf::from(name)));
        }
        for name in ["a", "a.txt", "csv", "a.gz", "a.csv.txt", ""] {
            assert!(table_name(name).is_err(), "{name}");
        }
    }
}
