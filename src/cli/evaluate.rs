//! `rankrls evaluate`.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use rankrls::Model;
use rankrls::data::read::{Loaded, read_scores};
use rankrls::metrics::{self, Convention, Evaluation, MetricValues};
use serde::Serialize;

use super::args::{self, Measures};
use super::console::Console;
use super::data::{self, DataArgs, check_one_stdin, in_row_order};
use super::output::{Object, measure, print_report, printable, table};

/// Measure how a model or a file of scores ranks data
///
/// Measures are means over queries. Convention standard leaves out queries where a measure is
/// undefined and averages over the orders of tied scores; letor is the arithmetic of the LETOR
/// 4.0 evaluation script.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls evaluate test.svm --model model.json
  rankrls evaluate test.svm --scores scores.txt --metrics map,ndcg@10 --convention letor
  rankrls evaluate test.svm --model model.json --per-query --json")]
pub(crate) struct EvaluateArgs {
    /// Labelled data; - is standard input, and @parses-test comes with the program
    #[arg(value_name = "DATA")]
    path: PathBuf,
    /// Rank by this model; see `rankrls predict --help` for how columns are matched
    #[arg(long, value_name = "MODEL", required_unless_present = "scores")]
    model: Option<PathBuf>,
    /// Rank by these scores, one a line in the order of the rows in DATA
    #[arg(long, value_name = "FILE", conflicts_with = "model")]
    scores: Option<PathBuf>,
    #[arg(long, value_name = "LIST", default_value = args::DEFAULT_MEASURES, help = args::measures_help())]
    metrics: Measures,
    /// Convention of the measures
    #[arg(long, value_name = "NAME", default_value = "standard")]
    #[arg(value_parser = args::convention())]
    convention: Convention,
    /// Print the values of every query, too
    #[arg(long)]
    per_query: bool,
    #[command(flatten)]
    data: DataArgs,
    /// Indices of svmlight files count from 0, not 1; a model knows
    #[arg(long, conflicts_with = "model")]
    zero_based: bool,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &EvaluateArgs, console: Console) -> Result<()> {
    check_one_stdin(&[Some(&args.path), args.model.as_ref(), args.scores.as_ref()])?;
    let (loaded, scores) = match (&args.model, &args.scores) {
        (Some(model), _) => args.by_model(model, console)?,
        (None, Some(scores)) => args.by_scores(scores, console)?,
        (None, None) => bail!("neither --model nor --scores"),
    };
    let data = &loaded.dataset;
    let (labels, queries) = (data.labels(), data.queries());
    let evaluation = metrics::evaluate(&args.metrics.0, labels, &scores, queries, args.convention)?;
    let report = Report::new(&evaluation, &loaded, args.per_query);
    print_report(args.json, &report, || report.text())
}

impl EvaluateArgs {
    fn by_model(&self, path: &Path, console: Console) -> Result<(Loaded, Vec<f64>)> {
        let model = Model::read(path)?;
        let loaded = self.data.read_for(&model, &self.path, console)?;
        let scores = model.scores(&loaded.dataset);
        Ok((loaded, scores))
    }

    fn by_scores(&self, path: &Path, console: Console) -> Result<(Loaded, Vec<f64>)> {
        let options = self.data.options(0).zero_based(self.zero_based);
        let loaded = data::read(&options, &self.path, console)?;
        let scores = read_scores(path, self.data.budget())?;
        let (rows, found) = (loaded.dataset.rows(), scores.len());
        if rows != found {
            let (scores, data) = (path.display(), self.path.display());
            bail!("{scores}: expected {rows} scores, one for each row of {data}, found {found}");
        }
        let scores = in_row_order(&loaded.dataset, scores);
        Ok((loaded, scores))
    }
}

/// An evaluation, in the schema `rankrls.evaluation/1`.
#[derive(Debug, Serialize)]
struct Report<'a> {
    schema: &'static str,
    convention: Convention,
    metrics: Object<Option<f64>>,
    rows: usize,
    queries: usize,
    /// Queries without a value, by measure.
    left_out: Object<usize>,
    dropped_entries: u64,
    dropped_columns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_query: Option<Vec<QueryRow<'a>>>,
    #[serde(skip)]
    evaluation: &'a Evaluation,
}

#[derive(Debug, Serialize)]
struct QueryRow<'a> {
    /// The identifier, or the number from 1 if the queries have none.
    query: Cow<'a, str>,
    #[serde(flatten)]
    values: Object<Option<f64>>,
}

impl<'a> Report<'a> {
    fn new(evaluation: &'a Evaluation, loaded: &'a Loaded, per_query: bool) -> Self {
        let (metrics, queries) = (&evaluation.metrics, loaded.dataset.queries());
        let row = |query: usize| QueryRow {
            query: match queries.id(query) {
                Some(id) => id.into(),
                None => (query + 1).to_string().into(),
            },
            values: by_metric(metrics, |values| values.per_query[query]),
        };
        Self {
            schema: "rankrls.evaluation/1",
            convention: evaluation.convention,
            metrics: by_metric(metrics, |values| values.mean),
            rows: loaded.dataset.rows(),
            queries: queries.len(),
            left_out: by_metric(metrics, |values| values.left_out),
            dropped_entries: loaded.dropped_entries,
            dropped_columns: loaded.dropped_columns,
            per_query: per_query.then(|| (0..queries.len()).map(row).collect()),
            evaluation,
        }
    }

    /// The same for people.
    fn text(&self) -> String {
        let (rows, queries, convention) = (self.rows, self.queries, self.convention);
        let mut means = table(&["measure", "mean", "queries", "left out"]);
        for values in &self.evaluation.metrics {
            means.add_row([
                values.metric.to_string(),
                measure(values.mean),
                values.queries.to_string(),
                values.left_out.to_string(),
            ]);
        }
        let means = means.trim_fmt();
        let mut text =
            format!("{rows} rows, {queries} queries, convention {convention}\n\n{means}\n");
        if let Some(rows) = &self.per_query {
            let mut header = vec!["query"];
            header.extend(self.metrics.0.iter().map(|(name, _)| name.as_str()));
            let mut table = table(&header);
            for row in rows {
                let values = row.values.0.iter().map(|&(_, value)| measure(value));
                table.add_row(std::iter::once(printable(&row.query)).chain(values));
            }
            text = format!("{text}\n{}\n", table.trim_fmt());
        }
        text
    }
}

fn by_metric<V>(metrics: &[MetricValues], value: impl Fn(&MetricValues) -> V) -> Object<V> {
    let named = metrics
        .iter()
        .map(|values| (values.metric.to_string(), value(values)));
    Object(named.collect())
}
