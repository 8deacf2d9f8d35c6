//! Chooses the settings of a selection that nobody gave, for the command, for Rust and for Python.
//!
//! [`choose`] tries the scales of columns, then the scales of labels, then the strategies, and keeps the best so
//! far. It tries each with several ridge parameters, in shares of the unit. Shares carry over from one scale to the
//! next, and from a draw of the queries to all of them.

use std::borrow::Cow;
use std::ops::Range;

use super::Tune;
use super::search::{Axes, Search, Values, exact_or_name, usual};
use super::trials::{EachTrial, FOLDS, Trials};
use crate::columns::ColumnClasses;
use crate::data::{Dataset, Groups};
use crate::error::{Kind, Result};
use crate::greedy::{Choice, GreedyRankRls, Own, StrategyKind, Tried, plan_with};
use crate::lambda::{Lambdas, Ridge};
use crate::metrics::{Measure, check_labels};

/// Most features of a judged model.
const MOST_FEATURES: usize = 50;

/// Most rows that take part.
const MOST_ROWS: usize = 5_000;

/// The options of a selection of `dataset` with every open setting of `options` chosen, and the record of the
/// choice. With a ridge parameter nothing is chosen.
///
/// Without one, three folds of the queries choose it and every open setting of these, one after the other: the
/// scale of columns (`none`, `sd`, `max`), the scale of labels (`raw`, `sqrt-sd`), and the strategy (the fastest
/// exact one, `distil`). Models of `k` features, at most 50, are judged by [`GreedyRankRls::judged_by`], and ties
/// go to the first; scales of columns tie within a standard error. Squared errors on several scales do not compare:
/// they choose the ridge parameter alone. Of large data, queries of at most 5,000 rows take part. A setting that
/// fails, or takes too much memory, is left out. If fewer than three queries have rows of different labels, nothing
/// is chosen, and lambda is 1/16 of the unit.
///
/// A strategy of the caller's `own` replaces the strategy of the options. `each` sees the trials.
///
/// ```
/// use rankrls::data::sample;
/// use rankrls::tune::{choose, unwatched_trials};
/// use rankrls::GreedyRankRls;
///
/// let data = sample::train();
/// let (options, choice) = choose(&GreedyRankRls::new(5, None), None, &data, &mut unwatched_trials)?;
/// let best = choice.expect("nothing was given").lambda;
/// assert!(best.iter().any(|tried| tried.lambda == options.lambda));
/// # Ok::<(), rankrls::Error>(())
/// ```
pub fn choose(
    options: &GreedyRankRls,
    own: Option<&Own<'_>>,
    dataset: &Dataset<'_>,
    each: &mut EachTrial<'_>,
) -> Result<(GreedyRankRls, Option<Choice>)> {
    choose_among(&Axes::default(), options, own, dataset, each)
}

/// Chooses as [`choose`], and among the values of `axes`. With ridge parameters there, it chooses only settings
/// with several values.
pub fn choose_among(
    axes: &Axes,
    options: &GreedyRankRls,
    own: Option<&Own<'_>>,
    dataset: &Dataset<'_>,
    each: &mut EachTrial<'_>,
) -> Result<(GreedyRankRls, Option<Choice>)> {
    let given: Vec<Ridge> = match (options.lambda, &axes.lambda) {
        (Some(lambda), _) => vec![lambda],
        (None, Lambdas::Given(list)) => list.clone(),
        (None, Lambdas::Auto) => Vec::new(),
    };
    let values = Values::of(options, axes, &given, own.is_some());
    let first = GreedyRankRls {
        k: options.k.min(options.included().len().max(MOST_FEATURES)),
        scale: values.scales[0],
        label_scale: values.label_scales[0],
        strategy: values.strategies[0],
        ..options.clone()
    };
    if given.len() == 1 && values.count() == 1 {
        let options = GreedyRankRls {
            k: options.k,
            lambda: Some(given[0]),
            ..first
        };
        return Ok((options, None));
    }
    options.check()?;
    let paired = paired(dataset);
    if paired.iter().filter(|paired| **paired).count() < FOLDS {
        let reason = "fewer than three queries have rows of different labels".to_owned();
        return Ok(nothing_chosen(options, dataset, reason));
    }
    if let Some(metric) = options.judged_by().metric() {
        let (labels, queries) = (dataset.labels(), dataset.queries());
        check_labels(&[metric], labels, queries, None)
            .map_err(|error| error.within("cannot judge models: "))?;
    }
    let begun = drawn(dataset, &paired, options).and_then(|data| {
        let choice = unmade(&first, &data);
        let trials = Trials::new(dataset, &data, &first, values.scales.len() > 1, own, each)?;
        Ok((choice, trials))
    });
    let (choice, trials) = match begun {
        Err(error) if error.kind() == Kind::Memory => {
            return Ok(nothing_chosen(options, dataset, error.to_string()));
        }
        begun => begun?,
    };
    let mut search = Search::new(trials, choice, given, first);
    search.run(&values)?;
    Ok(search.chosen(options))
}

/// The `options` that folds chose by `choice`, for a selection among the `candidates` of all the data. If the
/// memory does not allow `distil`, they get the exact strategy, and the choice says so.
pub fn affordable(
    options: GreedyRankRls,
    choice: Option<&mut Choice>,
    candidates: &ColumnClasses,
    dataset: &Dataset<'_>,
) -> GreedyRankRls {
    let tried = choice.map(|choice| &mut choice.strategy[..]);
    // If somebody gave the list, no strategy replaces another.
    let names = [StrategyKind::Auto, StrategyKind::Distil].map(exact_or_name);
    let is_own = |tried: &&mut [Tried]| tried.iter().map(|one| one.name.as_str()).eq(names);
    let Some([exact, distil]) = tried.filter(is_own) else {
        return options;
    };
    let planned = plan_with(candidates, dataset, &options, None);
    let Some(error) = planned.err().filter(|_| options.strategy.distils()) else {
        return options;
    };
    if error.kind() != Kind::Memory {
        return options;
    }
    distil.reason = Some(error.to_string());
    (exact.chosen, distil.chosen) = (true, false);
    GreedyRankRls {
        strategy: StrategyKind::Auto,
        lambda: exact.lambda.or(options.lambda),
        teacher_lambda: None,
        ..options
    }
}

/// The choice before the first trial on `data`.
fn unmade(options: &GreedyRankRls, data: &Dataset<'_>) -> Choice {
    Choice {
        measure: options.judged_by(),
        folds: FOLDS,
        seed: options.seed(),
        k: options.k.min(options.included().len().max(MOST_FEATURES)),
        rows: data.rows(),
        queries: data.queries().len(),
        scale: Vec::new(),
        label_scale: Vec::new(),
        strategy: Vec::new(),
        lambda: Vec::new(),
        reason: None,
    }
}

/// The options for folds that cannot choose for a `reason`, and a choice with this reason.
fn nothing_chosen(
    options: &GreedyRankRls,
    data: &Dataset<'_>,
    reason: String,
) -> (GreedyRankRls, Option<Choice>) {
    let choice = Choice {
        reason: Some(reason),
        ..unmade(options, data)
    };
    (usual(options), Some(choice))
}

/// Marks the queries that have rows of different labels.
fn paired(data: &Dataset<'_>) -> Vec<bool> {
    let labels = data.labels();
    let differ = |rows: Range<usize>| {
        labels[rows.clone()]
            .iter()
            .any(|label| *label != labels[rows.start])
    };
    data.queries().ranges().map(differ).collect()
}

/// The data, or of many rows whole `paired` queries: about [`MOST_ROWS`], and more only to have three queries.
fn drawn<'a>(
    data: &'a Dataset<'_>,
    paired: &[bool],
    options: &GreedyRankRls,
) -> Result<Cow<'a, Dataset<'a>>> {
    if data.rows() <= MOST_ROWS {
        return Ok(Cow::Borrowed(data));
    }
    let queries = data.queries().subset(paired)?;
    let mut parts = queries.rows().div_ceil(MOST_ROWS);
    let places: Vec<usize> = loop {
        if parts < 2 {
            break (0..queries.len()).collect();
        }
        let groups = Groups::folds(&queries, parts.min(queries.len()), options.seed())?;
        let first = groups.iter().next().unwrap_or_default();
        let rows: usize = first.iter().map(|&query| queries.range(query).len()).sum();
        if rows <= MOST_ROWS && first.len() >= FOLDS {
            break first.to_vec();
        }
        if first.len() <= FOLDS {
            break groups.iter().flatten().take(FOLDS).copied().collect();
        }
        parts += 1;
    };
    let own: Vec<usize> = (0..paired.len()).filter(|&query| paired[query]).collect();
    let own: Vec<usize> = places.into_iter().map(|place| own[place]).collect();
    let rows: usize = own
        .iter()
        .map(|&query| data.queries().range(query).len())
        .sum();
    let bytes = data.memory() / data.rows() as u64 * rows as u64;
    let memory = options.memory.holding(data.memory());
    memory.require(
        "the queries that are drawn need",
        bytes,
        "allow more memory",
    )?;
    data.queries_subset(&own).map(Cow::Owned)
}

impl Tune {
    /// These options with the scale of columns, the scale of labels and the strategy of the selection chosen by
    /// folds of `dataset`, if they are open, and the record of the choice: see [`choose`]. The whole grid of lambda
    /// is then for the chosen setting. With given lambdas, the best of them chooses among several scales of
    /// columns: the grid has all strategies and scales of labels. Leave-query-out predictions are biased for
    /// `distil`, so with them the strategy is the fastest exact one.
    pub fn chosen(
        &self,
        own: Option<&Own<'_>>,
        dataset: &Dataset<'_>,
        each: &mut EachTrial<'_>,
    ) -> Result<(Self, Option<Choice>)> {
        self.check()?;
        let is_open = self.lambdas.is_open();
        let mut axes = Axes {
            scale: self.scales.clone(),
            ..Axes::default()
        };
        axes.lambda.clone_from(&self.lambdas);
        if is_open {
            axes.label_scale.clone_from(&self.labels);
            axes.strategy.clone_from(&self.strategies);
        }
        let lists = [
            axes.scale.len(),
            axes.label_scale.len(),
            axes.strategy.len(),
        ];
        let compares = is_open && self.measure != Measure::Squared;
        if !compares && lists.iter().all(|values| *values < 2) {
            return Ok((self.clone(), None));
        }
        let selections = self.selections();
        let first = selections.first().unwrap_or(&self.selection);
        let asked = GreedyRankRls {
            strategy: match first.strategy {
                // It selects the same features as the fastest exact one, which chooses for it.
                StrategyKind::Auto if self.is_optimistic() => StrategyKind::Dense,
                given => given,
            },
            choose_by: Some(self.measure),
            ..first.clone()
        };
        let (found, choice) = choose_among(&axes, &asked, own, dataset, each)?;
        let mut options = Self {
            scales: Vec::new(),
            ..self.clone()
        };
        options.selection.scale = found.scale;
        if is_open {
            options.selection.label_scale = found.label_scale;
            let is_auto = self.selection.strategy == StrategyKind::Auto && !self.is_optimistic();
            if is_auto || !self.strategies.is_empty() {
                options.selection.strategy = found.strategy;
            }
            (options.strategies, options.labels) = (Vec::new(), Vec::new());
        }
        Ok((options, choice))
    }
}
