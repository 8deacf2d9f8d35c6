//! The settings of a selection as arguments: the fields of [`GreedyRankRls`], and the parts that some commands
//! take.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Arg, Args, Command};
use rankrls::data::LabelScale;
use rankrls::greedy::WeightTarget;
use rankrls::metrics::Measure;
use rankrls::{GreedyRankRls, QueryWeight, Scale, StrategyKind};

use super::args::{ConventionArgs, usage};
use super::files::Files;

/// The arguments of all settings.
fn all() -> Command {
    GreedyRankRls::augment_args(Command::new("settings"))
}

/// Replaces an argument by the library's setting of its name, under the argument's heading; other arguments stay.
pub(crate) fn setting(named: Arg) -> Arg {
    let all = all();
    let mut settings = all.get_arguments();
    match settings.find(|setting| setting.get_id() == named.get_id()) {
        Some(setting) => {
            let heading = named.get_help_heading().unwrap_or_default().to_owned();
            setting.clone().help_heading(heading)
        }
        None => named,
    }
}

/// Weights of queries and the scale of columns.
#[derive(Debug, Clone, Copy, Args)]
#[command(next_help_heading = "Weights", mut_args(setting))]
pub(crate) struct WeightArgs {
    #[arg(long)]
    pub(crate) query_weight: QueryWeight,
    #[arg(long)]
    pub(crate) scale: Option<Scale>,
}

/// Labels and teacher.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Labels and teacher", mut_args(setting))]
pub(crate) struct LabelArgs {
    #[arg(long)]
    label_scale: Option<LabelScale>,
    #[arg(long)]
    refit: Option<WeightTarget>,
}

impl LabelArgs {
    /// The options of a selection with these labels, and all others by default.
    pub(crate) fn options(&self) -> GreedyRankRls {
        GreedyRankRls {
            label_scale: self.label_scale,
            weight_target: self.refit,
            ..GreedyRankRls::default()
        }
    }
}

/// Help of the options that take ridge parameters.
pub(crate) const LAMBDAS_HELP: &str = "Ridge parameters to try, separated by commas: numbers such as \
    0.25, powers such as 2^-3, ranges of powers such as 2^-4..2^10, or 2^-4..2^10:2 with steps of 2 in \
    the exponent; shares of the mean squared norm of a centred row, such as 1/64u or 1/64u..4u:2; auto: \
    1/256u..1u:2, and on past an edge while that is best";

/// A teacher from elsewhere.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Labels and teacher")]
pub(crate) struct TeacherArgs {
    /// Scores of a teacher, one a row, by any ranker that had not seen the row's query: in place of
    /// RankRLS on all columns for --strategy distil and --refit cross-fitted
    #[arg(long, value_name = "FILE")]
    pub(crate) teacher: Option<PathBuf>,
}

impl TeacherArgs {
    /// Names the file.
    pub(crate) fn name_files(&self, files: &Files) -> Result<()> {
        files.reads("--teacher", &self.teacher)
    }

    /// Refuses options without an effect under `strategies`.
    pub(crate) fn check(&self, options: &GreedyRankRls, strategies: &[StrategyKind]) -> Result<()> {
        let checked = options.check_effects(strategies, self.teacher.is_some(), false);
        checked.map_err(usage)
    }
}

/// Refuses `options` without an effect under one of `strategies`, and a convention without measures. `measured`:
/// whether anything but the criterion is measured.
pub(crate) fn check_selection(
    options: &GreedyRankRls,
    strategies: &[StrategyKind],
    convention: ConventionArgs,
    measured: bool,
) -> Result<()> {
    convention.check(measured || options.criterion != Measure::Squared)?;
    options.check_included().map_err(usage)?;
    strategies.iter().try_for_each(|&strategy| {
        let options = GreedyRankRls {
            strategy,
            ..options.clone()
        };
        options.check_strategy().map_err(usage)
    })
}
