//! The arguments of `tune`.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use rankrls::greedy::SelectionOptions;
use rankrls::metrics::{Convention, parse_list};
use rankrls::tune::{Evidence, Measure, Options, Rule};
use rankrls::{Dataset, Metric};

use super::table_file;
use crate::cli::args::{self, Lambdas, Measures, at_least_one, usage};
use crate::cli::checkpoint::CheckpointArgs;
use crate::cli::data::{self, TrainingData};
use crate::cli::output::PlotArgs;

/// Folds where none are asked for.
const FOLDS: usize = 5;

/// Least improvement and patience where none are asked for.
const LEAST: f64 = 0.001;
const PATIENCE: usize = 5;

/// Choose lambda and the number of features together
///
/// Selects features with every lambda of a grid. The model after each step is judged by its
/// leave-query-out predictions, which cost nothing more, by its predictions for validation data,
/// or by cross-validation over queries; a rule chooses one of all models.
#[derive(Debug, Args)]
#[command(mut_arg("seed", |seed| seed.help("Seed of the random draws, of candidates and of folds")))]
#[command(after_help = "\
Examples:
  rankrls tune @parses -k 20
  rankrls tune train.svm -k 50 --lambdas 2^-2..2^8:2 --rule one-se -o model.json
  rankrls tune train.svm -k 50 --validation test.svm --measure ndcg@10 --metrics map,cindex
  rankrls tune train.svm -k 20 --lambdas 0.5,4,32 --folds 3 --table models.csv
  rankrls tune train.svm -k 50 --rule one-se --plot paths.svg
  rankrls tune train.svm -k 200 --folds 3 --checkpoint tune.checkpoint --resume
  rankrls tune train.svm -k 50 --min-improvement 0.01 --patience 3 --json")]
pub(crate) struct TuneArgs {
    /// Most features to select
    #[arg(short, value_name = "K", value_parser = at_least_one)]
    pub(super) k: usize,
    #[arg(long, value_name = "LIST", allow_hyphen_values = true)]
    #[arg(default_value = "2^-4..2^10", help = args::LAMBDAS_HELP)]
    lambdas: Lambdas,
    #[command(flatten)]
    pub(super) selection: SelectionOptions,
    /// Predictions to judge by: lqo, for the training data by models that leave out the query;
    /// validation, for the data of --validation; folds, for the queries of each fold by features
    /// selected without them [default: lqo, or what --validation or --folds ask for]
    #[arg(long, value_enum, value_name = "NAME")]
    evidence: Option<EvidenceName>,
    /// Validation data
    #[arg(long, value_name = "DATA")]
    validation: Option<PathBuf>,
    /// Number of folds, from 2 to the number of queries [default: 5]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    folds: Option<usize>,
    /// What models are judged by: squared, the mean over queries of the squared centred error, or
    /// a measure
    #[arg(long, value_name = "NAME", default_value = "squared")]
    measure: Measure,
    /// Measures to print besides, separated by commas; those of --test are all where none are
    /// named
    #[arg(long, value_name = "LIST")]
    metrics: Option<Measures>,
    /// Convention of all measures
    #[arg(long, value_name = "NAME", default_value = "standard")]
    #[arg(value_parser = args::convention())]
    pub(super) convention: Convention,
    /// best: the best value; one-se: the fewest features within one standard error of it;
    /// min-improvement: the best of paths that end where they improve no more [default: best]
    #[arg(long, value_enum, value_name = "NAME")]
    rule: Option<RuleName>,
    /// The improvement that a path has to make, as a share of the squared error or a difference
    /// of a measure [default: 0.001]
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    min_improvement: Option<f64>,
    /// The steps in which it has to make it [default: 5]
    #[arg(long, value_name = "P", value_parser = at_least_one)]
    patience: Option<usize>,
    #[command(flatten)]
    pub(super) data: TrainingData,
    /// Measure the chosen path on this data; has no part in the choice
    #[arg(long, value_name = "DATA")]
    pub(super) test: Option<PathBuf>,
    /// Write what was found of all models to this file, as .csv or .json
    #[arg(long, value_name = "FILE", value_parser = table_file::name)]
    pub(super) table: Option<PathBuf>,
    /// Write the chosen model to this file
    #[arg(short, long, value_name = "FILE")]
    pub(super) output: Option<PathBuf>,
    #[command(flatten)]
    pub(super) plot: PlotArgs,
    #[command(flatten)]
    pub(super) checkpoint: CheckpointArgs,
    /// Print one JSON document
    #[arg(long)]
    pub(super) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum EvidenceName {
    Lqo,
    Validation,
    Folds,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum RuleName {
    Best,
    OneSe,
    MinImprovement,
}

impl TuneArgs {
    /// Refuses what the parser cannot see.
    pub(super) fn check(&self) -> Result<()> {
        let inputs = [
            Some(&self.data.path),
            self.data.names.as_ref(),
            self.validation.as_ref(),
            self.test.as_ref(),
        ];
        data::check_one_stdin(&inputs)?;
        self.plot.check(self.output.as_deref())?;
        self.check_evidence()?;
        self.rule()?;
        self.selection.check_strategy().map_err(usage)
    }

    fn check_evidence(&self) -> Result<()> {
        let (validation, folds) = (self.validation.is_some(), self.folds.is_some());
        let message = match self.evidence() {
            _ if validation && folds => "--validation and --folds are two kinds of evidence",
            EvidenceName::Validation if !validation => {
                "--evidence validation takes its data from --validation"
            }
            EvidenceName::Lqo | EvidenceName::Folds if validation => {
                "--validation goes with --evidence validation"
            }
            EvidenceName::Lqo | EvidenceName::Validation if folds => {
                "--folds goes with --evidence folds"
            }
            EvidenceName::Folds if self.folds == Some(1) => {
                "--folds: expected at least 2, one to predict and one to select from"
            }
            _ => return Ok(()),
        };
        Err(usage(message))
    }

    fn evidence(&self) -> EvidenceName {
        match self.evidence {
            Some(name) => name,
            None if self.validation.is_some() => EvidenceName::Validation,
            None if self.folds.is_some() => EvidenceName::Folds,
            None => EvidenceName::Lqo,
        }
    }

    fn rule(&self) -> Result<Rule> {
        let asked = self.min_improvement.is_some() || self.patience.is_some();
        match self.rule {
            None | Some(RuleName::MinImprovement) if asked => self.min_improvement(),
            Some(RuleName::MinImprovement) => self.min_improvement(),
            _ if asked => Err(usage(
                "--min-improvement and --patience go with --rule min-improvement",
            )),
            Some(RuleName::OneSe) => Ok(Rule::OneSe),
            None | Some(RuleName::Best) => Ok(Rule::Best),
        }
    }

    fn min_improvement(&self) -> Result<Rule> {
        let least = self.min_improvement.unwrap_or(LEAST);
        if !(least.is_finite() && least >= 0.0) {
            return Err(usage(format_args!(
                "--min-improvement: expected a number from 0 on, found {least}"
            )));
        }
        Ok(Rule::MinImprovement {
            least,
            patience: self.patience.unwrap_or(PATIENCE),
        })
    }

    /// The validation data, if they are the evidence.
    pub(super) fn validation(&self) -> Option<&PathBuf> {
        self.validation.as_ref()
    }

    /// Measures of test data.
    pub(super) fn test_metrics(&self) -> Result<Vec<Metric>> {
        match &self.metrics {
            Some(Measures(metrics)) => Ok(metrics.clone()),
            None => Ok(parse_list(args::DEFAULT_MEASURES)?),
        }
    }

    /// What to try, with the validation data if they are the evidence.
    pub(super) fn options<'a>(&self, validation: Option<&'a Dataset<'a>>) -> Result<Options<'a>> {
        let evidence = match (self.evidence(), validation) {
            (EvidenceName::Folds, _) => Evidence::Folds {
                count: self.folds.unwrap_or(FOLDS),
                seed: self.selection.seed,
            },
            (EvidenceName::Validation, Some(dataset)) => Evidence::Validation(dataset),
            _ => Evidence::Lqo,
        };
        let mut options = Options::new(self.k, &self.lambdas.0)
            .query_weight(self.selection.query_weight)
            .criterion(self.selection.criterion.under(self.convention))
            .seed(self.selection.seed)
            .evidence(evidence)
            .measure(self.measure)
            .convention(self.convention)
            .rule(self.rule()?);
        if let Some(Measures(metrics)) = &self.metrics {
            options = options.metrics(metrics);
        }
        if let Some(strategy) = self.selection.strategy {
            options = options.strategy(strategy);
        }
        if let Some(size) = self.selection.sample {
            options = options.sample(size);
        }
        if let Some(bytes) = self.data.read.budget() {
            options = options.max_memory(bytes);
        }
        Ok(options)
    }
}
