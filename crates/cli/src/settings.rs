//! The settings of the library as arguments: a struct of arguments for each struct of options, field
//! by field.

use anyhow::Result;
use clap::builder::TypedValueParser;
use clap::{ArgAction, Args};
use rankrls::data::LabelScale;
use rankrls::greedy::{Criterion, Refit, SelectError, TargetOptions};
use rankrls::metrics::Metric;
use rankrls::peers::Peers;
use rankrls::{Lambdas, QueryWeight, Ridge, Scale, SelectionOptions, StrategyKind};

use super::args::{RulesArgs, at_least_one, auto_or, one_of, usage};
use super::files::InPath;

/// Parses the name of a strategy, or `auto`.
pub(crate) fn strategy() -> impl TypedValueParser<Value = Option<StrategyKind>> {
    auto_or(StrategyKind::ALL, StrategyKind::name)
}

/// What to select, and how: [`SelectionOptions`] but for lambda, the number of features and the memory.
#[derive(Debug, Clone, Args)]
pub(crate) struct SelectionArgs {
    /// Strategy: auto is the fastest exact one that fits into memory
    #[arg(long, value_name = "NAME", default_value = "auto", value_parser = strategy())]
    pub(crate) strategy: std::option::Option<StrategyKind>,
    #[arg(long, value_name = "NAME", default_value = "squared", help = criterion_help())]
    pub(crate) criterion: Criterion,
    #[command(flatten)]
    pub(crate) weight: WeightArgs,
    /// Judge only N candidates a step, drawn at random [default: all; 59 with --strategy sampled]
    #[arg(id = "sample", long = "candidates", value_name = "N", value_parser = at_least_one)]
    pub(crate) sample: Option<usize>,
    /// Seed of the random draws [default: 1]
    // Equal seeds give equal features on every platform and at any number of threads.
    #[arg(
        long,
        value_name = "SEED",
        default_value_t = 1,
        hide_default_value = true
    )]
    pub(crate) seed: u64,
    #[command(flatten)]
    pub(crate) target: TargetArgs,
}

impl SelectionArgs {
    /// Selection of `k` features, with a lambda of auto.
    pub(crate) fn options(&self, k: usize) -> SelectionOptions {
        SelectionOptions {
            strategy: self.strategy,
            criterion: self.criterion,
            query_weight: self.weight.query_weight,
            scale: self.weight.scale,
            sample: self.sample,
            seed: self.seed,
            target: self.target.options(),
            ..SelectionOptions::new(k, None)
        }
    }
}

fn criterion_help() -> String {
    format!(
        "What each step improves most: squared, the squared leave-query-out error, or a \
         measure of the leave-query-out predictions: {}; measures take {}",
        Metric::names(),
        StrategyKind::names_of(StrategyKind::can_rank)
    )
}

/// Help of the option that weighs queries.
pub(crate) const QUERY_WEIGHT_HELP: &str = "What a query of n examples counts: uniform 1, so that \
    examples count alike; pairs n, so that pairs do; size 1/n, so that queries do";

/// Weights of queries and the scale of columns.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct WeightArgs {
    #[arg(long, value_name = "NAME", default_value = "uniform", help = QUERY_WEIGHT_HELP)]
    #[arg(value_parser = one_of(QueryWeight::ALL, QueryWeight::name))]
    pub(crate) query_weight: QueryWeight,
    /// Divide each column, once centred within queries: sd by its root mean square, max by its largest
    /// absolute value. Weights stay in the units of the data
    #[arg(long, value_name = "NAME", default_value = "none")]
    #[arg(value_parser = one_of(Scale::ALL, Scale::name))]
    pub(crate) scale: Scale,
}

/// What is learnt from: [`TargetOptions`].
#[derive(Debug, Clone, Args)]
pub(crate) struct TargetArgs {
    /// Scale of the training labels within each query: raw, sqrt-sd divides by the root of their
    /// standard deviation, unit by the deviation; errors are in its units [default: raw; sqrt-sd
    /// with --strategy distil]
    // A list where `tune` takes several.
    #[arg(long, value_name = "SCALE", hide_possible_values = true, action = ArgAction::Set)]
    #[arg(value_parser = one_of(LabelScale::ALL, LabelScale::name))]
    pub(crate) labels: Vec<LabelScale>,
    /// Labels to fit the weights to: labels, or cross-fitted, three quarters of what a teacher
    /// predicts [default: labels; cross-fitted with --strategy distil]
    #[arg(long, value_name = "TARGET", hide_possible_values = true)]
    #[arg(value_parser = one_of(Refit::ALL, Refit::name))]
    pub(crate) refit: Option<Refit>,
    /// Ridge parameter of cross-fitted weights, a number or a share as of --lambda [default: 1/64u]
    #[arg(long, value_name = "LAMBDA", allow_negative_numbers = true)]
    pub(crate) refit_lambda: Option<Ridge>,
    /// Share of the labels in what distil selects by, from 0 to 1; the rest is the teacher's
    /// [default: 0.2; 0.4 from 500 queries on]
    #[arg(long, value_name = "SHARE", value_parser = share)]
    pub(crate) blend: Option<f64>,
    /// Ridge parameters of the teacher, RankRLS on all columns, at most eight; the one of least
    /// hold-out error is taken [default: 1/64u..4u:2, and on past an edge while that is best]
    #[arg(long, value_name = "LIST")]
    pub(crate) teacher_lambda: Option<Lambdas>,
}

impl TargetArgs {
    /// With the first of several scales of labels.
    pub(crate) fn options(&self) -> TargetOptions {
        TargetOptions {
            labels: self.labels.first().copied(),
            refit: self.refit,
            refit_lambda: self.refit_lambda,
            blend: self.blend,
            teacher_lambda: self.teacher_lambda.clone(),
        }
    }
}

/// Help of the options that take ridge parameters.
pub(crate) const LAMBDAS_HELP: &str = "Ridge parameters to try, separated by commas: numbers such as \
    0.25, powers such as 2^-3, ranges of powers such as 2^-4..2^10, or 2^-4..2^10:2 with steps of 2 in \
    the exponent; shares of the mean squared norm of a centred row, such as 1/64u or 1/64u..4u:2; auto: \
    1/256u..1u:2, and on past an edge while that is best";

/// Parses a share.
fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("expected a number from 0 to 1".to_owned()),
    }
}

/// A teacher from elsewhere.
#[derive(Debug, Default, Args)]
pub(crate) struct TeacherArgs {
    /// Scores of a teacher, one a row, by any ranker that had not seen the row's query: in place of
    /// RankRLS on all columns for --strategy distil and --refit cross-fitted
    #[arg(long, value_name = "FILE")]
    pub(crate) teacher: Option<InPath>,
}

impl TeacherArgs {
    /// Refuses options that `strategies` have no use for, and a teacher that `peers` would have to
    /// train on columns of which each has a share.
    pub(crate) fn check(
        &self,
        target: &TargetOptions,
        strategies: &[Option<StrategyKind>],
        peers: &dyn Peers,
    ) -> Result<()> {
        let given = self.teacher.is_some();
        let options = SelectionOptions {
            target: target.clone(),
            ..SelectionOptions::new(1, None)
        };
        let checked = options.check_effects(strategies, given, false);
        checked.map_err(usage)?;
        let distils = strategies.iter().flatten().any(|kind| kind.distils());
        let has_teacher = distils || target.refit == Some(Refit::CrossFitted);
        if has_teacher && !given && peers.count() > 1 {
            return Err(usage(SelectError::SharedTeacher));
        }
        Ok(())
    }
}

/// Refuses `options` that one of `strategies` cannot heed, and rules of nothing: whether anything
/// but the criterion is `measured`.
pub(crate) fn check_selection(
    options: &SelectionOptions,
    strategies: &[Option<StrategyKind>],
    rules: &RulesArgs,
    measured: bool,
) -> Result<()> {
    rules.check(measured, options.criterion != Criterion::Squared)?;
    strategies.iter().try_for_each(|&strategy| {
        let options = SelectionOptions {
            strategy,
            ..options.clone()
        };
        options.check_strategy().map_err(usage)
    })
}
