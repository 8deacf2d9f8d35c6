//! The options of a selection.

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

#[cfg(feature = "clap")]
use super::args;
use super::checks::{Idle, no_effect};
use super::target::{WEIGHT_LAMBDA, filter, usual_blend};
use super::{Sampler, StrategyKind, WeightTarget};
use crate::columns::{ColumnClasses, QueryWeight, Scale, none_compares, none_varies};
use crate::data::{ColumnName, Dataset, LabelScale, Queries, one_query};
use crate::error::{Error, Result, ensure};
use crate::lambda::{Lambda, Lambdas, Ridge};
use crate::memory::Memory;
use crate::metrics::{Convention, Judge, Measure, Metric, check_labels, prediction_tolerance};

/// What to select, and how.
///
/// The comment of a setting is its help. The arguments of `select` and `tune`, models, reports and Python's
/// parameters come from here. `k` and `lambda` are arguments of each command, which take one or several.
///
/// ```
/// use rankrls::data::sample;
/// use rankrls::{Lambda, GreedyRankRls, StrategyKind};
///
/// let options = GreedyRankRls {
///     strategy: StrategyKind::Bounded,
///     ..GreedyRankRls::new(10, Lambda::new(16.0)?)
/// };
/// let model = options.fit(&sample::train())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_help_heading = "Selection"))]
pub struct GreedyRankRls {
    /// Strategy; auto: with a number for lambda the fastest exact one that fits into memory, else that or distil,
    /// which folds choose
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "NAME", default_value = "auto")
    )]
    #[cfg_attr(feature = "clap", arg(value_parser = args::strategy()))]
    pub strategy: StrategyKind,
    /// Ridge parameter. If it is `None`, [`tune::choose`](crate::tune::choose) chooses it by folds, and every other
    /// open setting: scale, label scale and strategy.
    // Commands take one, or several.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub lambda: Option<Ridge>,
    /// Number of features to select.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub k: usize,
    /// What each step improves most
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "NAME", default_value = "squared")
    )]
    #[cfg_attr(feature = "clap", arg(help = args::criterion_help()))]
    pub criterion: Measure,
    /// Weight of a query of n examples: uniform 1, pairs n, size 1/n. Uniform counts examples alike, pairs
    /// counts pairs alike, size counts queries alike
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "NAME", default_value = "uniform")
    )]
    #[cfg_attr(feature = "clap", arg(value_parser = args::one_of(QueryWeight::ALL, QueryWeight::name)))]
    pub query_weight: QueryWeight,
    /// Divide each column, centred within queries: sd by its root mean square, max by its largest absolute
    /// value. Weights stay in the units of the data [default: none with a number for lambda, else chosen by folds]
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "NAME"))]
    #[cfg_attr(feature = "clap", arg(value_parser = args::one_of(Scale::ALL, Scale::name)))]
    pub scale: Option<Scale>,
    /// Columns that come first, in this order, and count among the K: names or numbers, separated by commas. A
    /// number is as in the data file, also where a column is called so. Put a name with commas into quotes, as in a
    /// table, or give its number
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "COLUMNS"))]
    #[cfg_attr(feature = "clap", arg(value_parser = ColumnName::list))]
    pub include: Option<std::vec::Vec<ColumnName>>,
    /// Judge only N candidates in a step, drawn at random [default: all; 59 with the strategy sampled]
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "clap", arg(value_parser = args::at_least_one))]
    pub sample: Option<usize>,
    /// Seed of the random draws: equal seeds give equal features, on every platform and at any number of
    /// threads
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "clap", arg(long, default_value = "1"))]
    pub seed: Option<u64>,
    /// Scale of the training labels within each query: sqrt-sd divides by the root of their standard
    /// deviation, unit by the deviation. Errors are in its units [default: with a number for lambda raw, and
    /// sqrt-sd with the strategy distil; else chosen by folds]
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "SCALE", help_heading = TEACHING))]
    #[cfg_attr(feature = "clap", arg(value_parser = args::one_of(LabelScale::ALL, LabelScale::name)))]
    pub label_scale: Option<LabelScale>,
    /// Measure by which folds choose what is not given [default: that of the criterion, else cindex]
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "clap", arg(long, value_name = "MEASURE"))]
    pub choose_by: Option<Measure>,
    /// What to fit the weights to: labels, or cross-fitted, three quarters of what a teacher predicts and a
    /// quarter of the labels [default: labels; cross-fitted with the strategy distil]
    #[serde(rename = "refit", skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "clap", arg(id = "refit", long = "refit", value_name = "TARGET", help_heading = TEACHING))]
    #[cfg_attr(feature = "clap", arg(hide_possible_values = true))]
    #[cfg_attr(feature = "clap", arg(value_parser = args::one_of(WeightTarget::ALL, WeightTarget::name)))]
    pub weight_target: Option<WeightTarget>,
    /// Ridge parameter of cross-fitted weights, by default 1/64u. `docs/evidence.md` has the results of others. No
    /// front end offers it, the share of the labels, or the teacher's ridge parameters.
    #[serde(rename = "refit_lambda", skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub weight_lambda: Option<Ridge>,
    /// Share of the labels in the target of the strategy `distil`, from 0 to 1. The teacher has the rest. By
    /// default 0.2, and 0.4 from 500 queries on.
    #[serde(skip_serializing_if = "is_default", deserialize_with = "share")]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub blend: Option<f64>,
    /// Ridge parameters of the teacher, RankRLS on all columns. It takes the one of least hold-out error. By
    /// default 1/64u..4u:2, and further past an edge while the best is there.
    #[serde(skip_serializing_if = "is_default")]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub teacher_lambda: Option<Lambdas>,
    /// Bytes that data, candidates and strategy may take together, and the bytes held already.
    #[serde(rename = "max_memory", skip_serializing)]
    #[cfg_attr(feature = "clap", arg(skip))]
    pub memory: Memory,
}

/// The heading of labels and teacher in help.
#[cfg(feature = "clap")]
const TEACHING: &str = "Labels and teacher";

/// Reads a share, or nothing.
fn share<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    let share = Option::<f64>::deserialize(deserializer)?;
    match share.filter(|share| !(0.0..=1.0).contains(share)) {
        None => Ok(share),
        Some(found) => Err(D::Error::custom(format!(
            "expected a number from 0 to 1, found {found}"
        ))),
    }
}

/// Whether a setting has its default value, which is not written.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// Refuses a single query: leaving it out leaves nothing to train on.
pub(crate) fn check_several(queries: &Queries) -> Result<()> {
    match queries.len() {
        1 => Err(one_query(queries)),
        _ => Ok(()),
    }
}

/// The default seed of random draws.
const SEED: u64 = 1;

impl GreedyRankRls {
    /// Selection of `k` features with ridge parameter `lambda`. Columns and labels stay unchanged, and the strategy
    /// is the fastest exact one that fits into memory, without a limit. Every step takes the least squared error of
    /// all candidates. Queries weigh alike, and the seed is 1. If lambda is `None`, folds choose it, the scales of
    /// columns and labels, and the strategy.
    pub fn new(k: usize, lambda: impl Into<Option<Ridge>>) -> Self {
        Self {
            k,
            lambda: lambda.into(),
            ..Self::default()
        }
    }

    /// The seed of the random draws.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(SEED)
    }

    /// The given settings, by name and as in JSON, without strategy, lambda and number of features.
    pub fn given(&self) -> Vec<(String, Value)> {
        let Ok(Value::Object(mut settings)) = serde_json::to_value(self) else {
            return Vec::new();
        };
        settings.retain(|name, _| !["strategy", "lambda", "k"].contains(&name.as_str()));
        settings.into_iter().collect()
    }

    /// Whether folds choose, because no ridge parameter was given.
    pub fn needs_folds(&self) -> bool {
        self.lambda.is_none()
    }

    /// The ridge parameter for `candidates`. Refuses an open one, which only folds could choose.
    pub fn lambda_of(&self, candidates: &ColumnClasses) -> Result<Lambda> {
        let given = self.lambda.map(|ridge| ridge.lambda(candidates.unit()));
        given.ok_or_else(|| {
            Error::options(
                "the ridge parameter is auto, which folds choose before a selection: give a number, a \
                 share of the unit, or have it chosen by tune::choose",
            )
        })
    }

    /// The measure by which folds choose.
    pub fn judged_by(&self) -> Measure {
        let ranking = Some(self.criterion).filter(|criterion| *criterion != Measure::Squared);
        let usual = ranking.unwrap_or(Metric::CONCORDANCE.into());
        self.choose_by.unwrap_or(usual)
    }

    /// Whether columns should keep their units: the scale is `none`, or it is open with a given ridge parameter.
    pub fn keeps_units(&self) -> bool {
        self.scale
            .map_or(self.lambda.is_some(), |scale| scale.is_none())
    }

    /// The divisor of columns.
    pub fn column_scale(&self) -> Scale {
        self.scale.unwrap_or_default()
    }

    /// The candidates among the features of `dataset`, weighted and scaled by these options. Refuses candidates
    /// beyond the memory left by the data.
    pub fn candidates(&self, dataset: &Dataset<'_>) -> Result<ColumnClasses> {
        let (weight, scale) = (self.query_weight, self.column_scale());
        ColumnClasses::within(dataset, weight, scale, self.memory)
    }

    /// Whether the selection needs only the candidates. Folds that choose need the data, and so does a strategy
    /// that judges original columns.
    pub fn needs_only_candidates(&self) -> bool {
        !self.needs_folds() && !self.needs_data()
    }

    /// Whether the strategy judges original columns.
    pub(crate) fn needs_data(&self) -> bool {
        self.strategy.needs_grades()
    }

    /// Refuses a strategy that cannot do the requested selection.
    pub fn check_strategy(&self) -> Result<()> {
        let strategy = self.strategy;
        ensure!(
            self.sample.is_none() || strategy.can_sample(),
            options,
            "strategy {strategy} can not judge a random subset of the candidates; use {}",
            StrategyKind::names_of(StrategyKind::can_sample)
        );
        ensure!(
            self.suits(strategy),
            options,
            "strategy {strategy} can not judge by {}: it does not compute every candidate's \
             leave-query-out predictions; use {}",
            self.criterion,
            StrategyKind::names_of(StrategyKind::can_rank)
        );
        Ok(())
    }

    /// Refuses parameters that none of the tried `strategies` uses. The caller says whether a `teacher` and
    /// `validation` rows were given: the data may have them for other selections.
    pub fn check_effects(
        &self,
        strategies: &[StrategyKind],
        teacher: bool,
        validation: bool,
    ) -> Result<()> {
        let any = |is: fn(StrategyKind) -> bool| strategies.iter().any(|&kind| is(kind));
        let distils = any(StrategyKind::distils);
        let has_teacher = distils || self.weight_target == Some(WeightTarget::CrossFitted);
        let refitted = has_teacher && self.weight_target != Some(WeightTarget::Labels);
        let taught = teacher || self.teacher_lambda.is_some();
        let idle = [
            (self.blend.is_some() && !distils, Idle::Blend),
            (
                self.weight_lambda.is_some() && !refitted,
                Idle::WeightLambda,
            ),
            (taught && !has_teacher, Idle::Teacher),
            (
                self.choose_by.is_some() && self.lambda.is_some(),
                Idle::ChooseBy,
            ),
            (
                validation && !any(StrategyKind::needs_grades),
                Idle::Validation,
            ),
        ];
        let idle = idle.into_iter().find(|(idle, _)| *idle);
        idle.map_or(Ok(()), |(_, parameter)| Err(no_effect(parameter)))
    }

    /// Refuses options out of range for any data.
    pub fn check(&self) -> Result<()> {
        ensure!(
            self.k > 0,
            options,
            "k is 0: expected at least one feature to select"
        );
        self.check_included()?;
        ensure!(
            self.sample != Some(0),
            options,
            "0 candidates a step: expected at least one"
        );
        let teacher = self.teacher_lambda.as_ref();
        ensure!(
            teacher.is_none_or(|lambdas| lambdas.count() > 0),
            options,
            "teacher_lambda: expected at least one, found none"
        );
        let blend = self.blend.unwrap_or_default();
        ensure!(
            (0.0..=1.0).contains(&blend),
            options,
            "blend is {blend}: expected a number from 0 to 1"
        );
        self.check_strategy()
    }

    /// Refuses options that these `candidates` of `data` do not allow.
    pub(super) fn check_for(&self, candidates: &ColumnClasses, data: &Dataset<'_>) -> Result<()> {
        self.check()?;
        let queries = candidates.queries();
        ensure!(
            queries.largest() > 1,
            data,
            "nothing to select from: {}",
            none_compares(queries.len())
        );
        ensure!(
            candidates.summary().column_classes > 0,
            data,
            "nothing to select from: {}",
            none_varies(candidates.summary().columns)
        );
        if self.needs_data() {
            filter(data, candidates)?;
        }
        check_several(queries)
    }

    /// Whether leave-query-out predictions are biased. A teacher has seen all labels, and weights may be fitted to
    /// something else.
    pub fn is_biased(&self) -> bool {
        self.strategy.distils() || self.weight_target == Some(WeightTarget::CrossFitted)
    }

    /// Whether `strategy` can do the requested selection.
    pub(crate) fn suits(&self, strategy: StrategyKind) -> bool {
        (self.sample.is_none() || strategy.can_sample())
            && (self.criterion == Measure::Squared || strategy.can_rank())
    }

    /// The measure that judges, for training data with `labels`.
    pub(crate) fn ranking<'a>(
        &self,
        labels: &'a [f64],
        queries: &'a Queries,
    ) -> Result<Option<Judge<'a>>> {
        let Measure::Of(metric) = self.criterion else {
            return Ok(None);
        };
        check_labels(&[metric], labels, queries, None)
            .map_err(|error| error.within("as the criterion, "))?;
        let judge = Judge::new(metric, Convention::Standard, labels, queries);
        ensure!(
            judge.score(&vec![0.0; labels.len()]).mean.is_some(),
            data,
            "the criterion {metric} is undefined for every query of the training data, whatever the \
             ranking: {}",
            metric.lacking(queries)
        );
        // Predictions have the size of the target, and so has their rounding.
        let learnt = queries.centred(&self.label_scale().apply(labels, queries));
        Ok(Some(judge.within(prediction_tolerance(&learnt))))
    }

    /// The scale of the labels that the strategy learns from. Errors of two selections are in the same units where
    /// this scale and the weights of the queries are the same.
    pub fn label_scale(&self) -> LabelScale {
        let distils = self.strategy.distils();
        let usual = if distils {
            LabelScale::SqrtSd
        } else {
            LabelScale::Raw
        };
        self.label_scale.unwrap_or(usual)
    }

    /// These options with every choice made about labels and teacher that the strategy uses on `candidates`. Ridge
    /// parameters become numbers, and unused choices are dropped.
    pub(crate) fn settled(&self, candidates: &ColumnClasses) -> Self {
        let (queries, unit) = (candidates.queries().len(), candidates.unit());
        let distils = self.strategy.distils();
        let default = if distils {
            WeightTarget::CrossFitted
        } else {
            WeightTarget::Labels
        };
        let target = self.weight_target.unwrap_or(default);
        let fitted = target == WeightTarget::CrossFitted;
        let has_teacher = distils || fitted;
        let labels = self.label_scale();
        let number = |ridge: Ridge| Ridge::Number(ridge.lambda(unit));
        Self {
            label_scale: (has_teacher || !labels.is_raw()).then_some(labels),
            weight_target: has_teacher.then_some(target),
            weight_lambda: fitted.then(|| number(self.weight_lambda.unwrap_or(WEIGHT_LAMBDA))),
            blend: distils.then(|| self.blend.unwrap_or(usual_blend(queries))),
            teacher_lambda: has_teacher.then(|| match &self.teacher_lambda {
                None | Some(Lambdas::Auto) => Lambdas::Auto,
                Some(given) => Lambdas::of(&Lambda::grid(&given.lambdas(unit))),
            }),
            ..self.clone()
        }
    }

    /// These options, whose labels and teacher are [settled](Self::settled), without settings that their strategy
    /// ignores: the options in reports and models.
    pub(crate) fn resolved(self, lambda: Lambda) -> Self {
        let sample = self.sampler().map(|sampler| sampler.size);
        Self {
            sample,
            seed: sample.map(|_| self.seed()),
            lambda: lambda.into(),
            scale: self.scale.filter(|scale| !scale.is_none()),
            choose_by: None,
            memory: Memory::default(),
            ..self
        }
    }

    /// The random subsets of the strategy, unless it judges all candidates.
    pub(crate) fn sampler(&self) -> Option<Sampler> {
        let usual = self.strategy.default_sample();
        let size = self.sample.or(usual)?;
        let seed = self.seed();
        Some(Sampler { size, seed })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::parsed;

    /// `queries` queries of two rows, with the unit 16.
    fn candidates(queries: usize) -> ColumnClasses {
        let rows = (1..=queries).map(|query| format!("1 qid:{query} 1:8\n0 qid:{query}\n"));
        ColumnClasses::new(&parsed(&rows.collect::<String>()))
    }

    #[test]
    fn defaults_depend_on_strategy_queries_and_unit() {
        let (few, many) = (candidates(112), candidates(560));
        assert_eq!(few.unit(), 16.0);
        let by = |kind: StrategyKind| GreedyRankRls {
            strategy: kind,
            ..GreedyRankRls::default()
        };
        let bounded = by(StrategyKind::Bounded);
        assert_eq!(bounded.settled(&many), bounded);
        let distil = by(StrategyKind::Distil).settled(&few);
        assert_eq!(
            (distil.label_scale, distil.blend, distil.weight_target),
            (
                Some(LabelScale::SqrtSd),
                Some(0.2),
                Some(WeightTarget::CrossFitted)
            )
        );
        assert_eq!(distil.weight_lambda.unwrap().to_string(), "0.25");
        assert_eq!(distil.teacher_lambda, Some(Lambdas::Auto));
        assert_eq!(by(StrategyKind::Distil).settled(&many).blend, Some(0.4));
        let given = GreedyRankRls {
            label_scale: Some(LabelScale::Raw),
            weight_target: Some(WeightTarget::CrossFitted),
            weight_lambda: Some(Ridge::Number(lambda(3.0))),
            blend: Some(0.3),
            teacher_lambda: Some("1u,2".parse().unwrap()),
            ..by(StrategyKind::Dense)
        };
        let refit = given.settled(&few);
        assert_eq!(
            (refit.blend, refit.weight_lambda),
            (None, given.weight_lambda)
        );
        let lambdas = [2.0, 16.0].map(lambda);
        assert_eq!(refit.teacher_lambda, Some(Lambdas::of(&lambdas)));
        assert_eq!(refit, refit.settled(&many));
    }

    fn lambda(value: f64) -> Lambda {
        Lambda::new(value).unwrap()
    }

    #[test]
    fn parameters_without_effect_are_refused() {
        let mut options = GreedyRankRls::new(1, None);
        options.blend = Some(0.5);
        let check = |strategy| options.check_effects(&[strategy], false, false);
        let refused = check(StrategyKind::Auto).unwrap_err().to_string();
        assert!(refused.starts_with("blend goes with"));
        assert_eq!(check(StrategyKind::Distil), Ok(()));
        let data = crate::data::sample::train();
        let first: Vec<usize> = (0..10).collect();
        let data = data.queries_subset(&first).unwrap();
        assert!(options.fit(&data).is_err());
        options.strategy = StrategyKind::Distil;
        assert!(options.fit(&data).is_ok());
    }
}
