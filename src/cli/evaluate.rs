//! `rankrls evaluate`.

use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use clap::Args;
use rankrls::data::read::{Loaded, read_scores};
use rankrls::metrics::{self, Convention};
use rankrls::{Dataset, Model};

use super::console::Console;
use super::data::{self, DataArgs, check_one_stdin, in_row_order};
use super::evaluation::EvaluationReport;
use super::measures::{self, Measures};
use super::output::{print, print_json};

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
    #[arg(long, value_name = "LIST", default_value = measures::DEFAULT, help = measures::HELP)]
    metrics: Measures,
    /// Convention of the measures
    #[arg(long, value_name = "NAME", default_value = "standard")]
    #[arg(value_parser = measures::convention())]
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
    let report = EvaluationReport {
        evaluation: &evaluation,
        loaded: &loaded,
        per_query: args.per_query,
    };
    if args.json {
        print_json(&report.document())
    } else {
        print(|output| output.write_all(report.text().as_bytes()))
    }
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
        self.check_count(path, &loaded.dataset, &scores)?;
        let scores = in_row_order(&loaded.dataset, scores);
        Ok((loaded, scores))
    }

    fn check_count(&self, path: &Path, dataset: &Dataset<'_>, scores: &[f64]) -> Result<()> {
        let (rows, found) = (dataset.rows(), scores.len());
        if rows != found {
            let (scores, data) = (path.display(), self.path.display());
            bail!("{scores}: expected {rows} scores, one for each row of {data}, found {found}");
        }
        Ok(())
    }
}
