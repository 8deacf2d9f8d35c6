//! What is not given of a selection is chosen here, for the command, for Rust and for Python.
//!
//! [`choose`] tries the scales of columns, then the scales of labels, then the strategies, and keeps what was best so
//! far. Each is tried with several ridge parameters, in shares of the unit, so that they carry over from one scale
//! to the next, and from a draw of the queries to all of them.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;

use super::Tune;
use super::trials::{ChoiceEvent, EachTrial, FOLDS, Trial, Trials};
use crate::candidates::Candidates;
use crate::columns::Scale;
use crate::data::{Dataset, Groups, LabelScale};
use crate::error::{Error, Kind, Result};
use crate::greedy::{Choice, GreedyRankRls, Own, StrategyKind, Tried, plan_with};
use crate::lambda::{Lambda, Lambdas, Ridge};
use crate::metrics::{Measure, Score, check_labels};

/// Most features of a model that is judged.
const MOST_FEATURES: usize = 50;

/// Most rows that take part.
const MOST_ROWS: usize = 5_000;

/// The ridge parameter where nothing can be chosen.
const USUAL: Ridge = Ridge::fraction((1, 16));

/// The shares of the unit to begin with.
const MIDDLE: [Ridge; 3] = [Ridge::fraction((1, 64)), USUAL, Ridge::fraction((1, 4))];

/// The shares that settings are compared within. What is best beyond has columns that hardly count.
const ENDS: [Ridge; 2] = [Ridge::fraction((1, 256)), Ridge::fraction((1, 1))];

/// Most shares of a setting.
const MOST_SHARES: usize = 8;

/// The options of a selection of `dataset` with all that is not given in `options` chosen, and how it was chosen. With a
/// ridge parameter nothing is chosen.
///
/// Without one, three folds of the queries choose it, and what is not given of these, one after the other: the scale
/// of columns (`none`, `sd`, `max`), the scale of labels (`raw`, `sqrt-sd`), and the strategy (the fastest exact one,
/// `distil`). Models of `k` features, at most 50, are judged by [`GreedyRankRls::judged_by`], and ties go to the
/// first; scales of columns tie within a standard error. Squared errors on several scales do not compare: they choose the ridge parameter alone. Of large data,
/// queries of at most 5,000 rows take part. A setting that cannot be computed, or takes too much memory, is left out.
/// Where fewer than three queries have rows of different labels, nothing is chosen, and lambda is 1/16 of the unit.
///
/// A strategy of the caller's `own` takes the place of that in the options. `each` sees what is tried.
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

/// Values of what is not given, to choose among; where a list is empty, [`choose`] has its own.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Axes {
    /// Scales of columns.
    pub scale: Vec<Scale>,
    /// Scales of labels.
    pub label_scale: Vec<LabelScale>,
    /// Strategies.
    pub strategy: Vec<StrategyKind>,
    /// Ridge parameters, each of which is tried with every setting.
    pub lambda: Lambdas,
}

/// Chooses as [`choose`], and among the values of `axes`. With ridge parameters there only what has several values is
/// chosen.
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
    let mut search = Search {
        trials,
        choice,
        given,
        first: Some(first),
        best: None,
        refusal: None,
    };
    search.run(&values)?;
    Ok(search.chosen(options))
}

/// The `options` that folds came to by `choice`, for a selection among the `candidates` of all the data: with the exact
/// strategy where the memory does not allow `distil`, which the choice then names as left out.
pub fn affordable(
    options: GreedyRankRls,
    choice: Option<&mut Choice>,
    candidates: &Candidates,
    dataset: &Dataset<'_>,
) -> GreedyRankRls {
    let tried = choice.map(|choice| &mut choice.strategy[..]);
    let Some([exact, distil]) = tried else {
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

/// Before anything is tried on `data`.
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

/// The options where folds cannot choose for a `reason`, and a choice that says so.
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

/// The options where nothing can be chosen.
fn usual(options: &GreedyRankRls) -> GreedyRankRls {
    GreedyRankRls {
        lambda: Some(USUAL),
        ..options.clone()
    }
}

/// Which queries have rows of different labels.
fn paired(data: &Dataset<'_>) -> Vec<bool> {
    let labels = data.labels();
    let differ = |rows: Range<usize>| {
        labels[rows.clone()]
            .iter()
            .any(|label| *label != labels[rows.start])
    };
    data.queries().ranges().map(differ).collect()
}

/// The data, or where these have many rows, whole queries of these that are `paired`: about [`MOST_ROWS`], and not more
/// unless three queries have.
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

/// The values to try of each option; one where it was given.
struct Values {
    scales: Vec<Option<Scale>>,
    label_scales: Vec<Option<LabelScale>>,
    strategies: Vec<StrategyKind>,
}

impl Values {
    /// With ridge parameters that are `given`, nothing is tried that nobody named.
    fn of(options: &GreedyRankRls, axes: &Axes, given: &[Ridge], own: bool) -> Self {
        let compares = options.judged_by() != Measure::Squared && given.is_empty();
        let scales = match options.scale {
            _ if !axes.scale.is_empty() => axes.scale.iter().copied().map(Some).collect(),
            None if compares => [Scale::None, Scale::Sd, Scale::Max].map(Some).into(),
            None if given.is_empty() => vec![Some(Scale::None)],
            given => vec![given],
        };
        let label_scales = match options.label_scale {
            _ if !axes.label_scale.is_empty() => {
                axes.label_scale.iter().copied().map(Some).collect()
            }
            None if compares => vec![Some(LabelScale::Raw), Some(LabelScale::SqrtSd)],
            given => vec![given],
        };
        let distil = StrategyKind::Distil;
        let strategies = match options.strategy {
            _ if !axes.strategy.is_empty() => axes.strategy.clone(),
            given_one if !given.is_empty() => vec![given_one],
            // They select the same features as the fastest, which chooses in their place.
            StrategyKind::Dense | StrategyKind::LowMem => vec![StrategyKind::Auto],
            StrategyKind::Auto if compares && !own && options.suits(distil) => {
                vec![StrategyKind::Auto, distil]
            }
            given => vec![given],
        };
        Self {
            scales,
            label_scales,
            strategies,
        }
    }

    /// How many settings there are.
    fn count(&self) -> usize {
        self.scales.len() * self.label_scales.len() * self.strategies.len()
    }
}

/// A setting, and the ridge parameters that it was tried with, in this order.
struct Setting {
    trial: Trial,
    tried: Vec<(Ridge, Result<Score>)>,
}

/// The search, at work.
struct Search<'a, 'e> {
    trials: Trials<'a, 'e>,
    choice: Choice,
    /// The ridge parameters to try; empty where shares of the unit are searched.
    given: Vec<Ridge>,
    /// The setting to begin with, until it was tried.
    first: Option<GreedyRankRls>,
    /// The best so far, as it was compared.
    best: Option<(Setting, Tried)>,
    /// Why the first of the settings that were left out was.
    refusal: Option<String>,
}

impl Search<'_, '_> {
    fn run(&mut self, values: &Values) -> Result<()> {
        let name = |scale: Option<Scale>| scale.unwrap_or_default().name();
        let scale = |options: &mut GreedyRankRls, scale| options.scale = scale;
        self.axis(&values.scales, name, scale, |choice| &mut choice.scale)?;
        if let Some((best, _)) = &self.best {
            self.trials.keep_scale(&best.trial.options)?;
        }
        let name = |scale: Option<LabelScale>| scale.unwrap_or_default().name();
        let scale = |options: &mut GreedyRankRls, scale| options.label_scale = scale;
        self.axis(&values.label_scales, name, scale, |choice| {
            &mut choice.label_scale
        })?;
        let strategy = |options: &mut GreedyRankRls, kind| options.strategy = kind;
        self.axis(&values.strategies, exact_or_name, strategy, |choice| {
            &mut choice.strategy
        })?;
        if let Some((mut best, tried)) = self.best.take() {
            self.climb(&mut best, |_| true)?;
            self.choice.lambda = best.shares();
            self.best = Some((best, tried));
        }
        Ok(())
    }

    /// Tries the `values` of an option, each with the best of all other options so far, which has the first of them.
    /// What was found is in the `list` of the choice, where there are several.
    fn axis<T: Copy>(
        &mut self,
        values: &[T],
        name: impl Fn(T) -> &'static str,
        set: impl Fn(&mut GreedyRankRls, T),
        list: fn(&mut Choice) -> &mut Vec<Tried>,
    ) -> Result<()> {
        for (place, &value) in values.iter().enumerate() {
            let found = match (self.first.take(), &self.best) {
                (Some(first), _) => self.setting(first)?,
                (None, Some((_, known))) if place == 0 => known.clone(),
                (None, Some((best, _))) => {
                    let mut options = best.trial.options.clone();
                    set(&mut options, value);
                    self.setting(options)?
                }
                // All were left out so far.
                (None, None) => break,
            };
            let name = name(value).to_owned();
            if values.len() > 1 {
                let list = list(&mut self.choice);
                for other in list.iter_mut() {
                    other.chosen &= !found.chosen;
                }
                list.push(Tried { name, ..found });
            }
            self.trials.tell(ChoiceEvent::Judged(&self.choice));
        }
        Ok(())
    }

    /// Tries a setting, and keeps it if it is the best so far: the first with the middle of the grid and on from there,
    /// any other with one share, and on from there if it may be the best. Leaves out one that cannot be computed, or
    /// takes too much memory.
    fn setting(&mut self, options: GreedyRankRls) -> Result<Tried> {
        let ridges = match &self.best {
            _ if !self.given.is_empty() => self.given.clone(),
            None => MIDDLE.to_vec(),
            Some((_, known)) => vec![middle(known)],
        };
        let mut setting = Setting {
            trial: Trial::new(options),
            tried: Vec::new(),
        };
        self.judge(&mut setting, &ridges)?;
        if self.may_win(&setting) {
            let [least, largest] = ENDS.map(share_of);
            self.climb(&mut setting, |share| (least..=largest).contains(share))?;
        }
        let measure = self.choice.measure;
        let Some((share, score)) = setting.best(measure) else {
            return self.left_out(setting.error(measure));
        };
        let mut found = Tried::of(share, score);
        found.chosen = self.wins(&setting, score);
        if found.chosen {
            self.choice.lambda = setting.shares();
            self.best = Some((setting, found.clone()));
        }
        Ok(found)
    }

    /// Whether this setting takes the place of the best so far by its `score`. Another scale of columns does by more than
    /// a standard error alone: columns of one unit rank alike on each scale, and chance would choose.
    fn wins(&self, setting: &Setting, score: &Score) -> bool {
        let measure = self.choice.measure;
        let known = self.best.as_ref();
        let Some((best, known)) = known.and_then(|(best, _)| Some((best, best.best(measure)?.1)))
        else {
            return score.mean.is_some();
        };
        let Gap { mean, error } = Gap::between(score, known, measure);
        let is_of_scale = best.trial.options.scale == setting.trial.options.scale;
        mean > if is_of_scale { 0.0 } else { error }
    }

    /// Whether another ridge parameter may make this setting the best. How far ridge shrinks columns on one scale says
    /// little of another, so that these are compared by one.
    fn may_win(&self, setting: &Setting) -> bool {
        let measure = self.choice.measure;
        let Some((best, _)) = &self.best else {
            return true;
        };
        let scores = best.best(measure).zip(setting.best(measure));
        let Some(((_, known), (_, found))) = scores else {
            return false;
        };
        let is_of_scale = best.trial.options.scale == setting.trial.options.scale;
        let Gap { mean, error } = Gap::between(found, known, measure);
        is_of_scale && mean + error >= 0.0
    }

    fn judge(&mut self, setting: &mut Setting, ridges: &[Ridge]) -> Result<()> {
        let judged = self.trials.judge(&mut setting.trial, ridges)?;
        setting.tried.extend(judged);
        Ok(())
    }

    /// Tries a setting with a fourth of the best share and with four times as much, as long as one of them is better and
    /// the share is `legal`. Ridge parameters that were given stay as they are.
    fn climb(&mut self, setting: &mut Setting, legal: impl Fn(&Lambda) -> bool) -> Result<()> {
        while self.given.is_empty() && setting.tried.len() < MOST_SHARES {
            let Some((best, _)) = setting.best(self.choice.measure) else {
                break;
            };
            let best = share_of(best).value();
            let around = [0.25, 4.0].map(|factor| Lambda::new(factor * best).ok());
            let around = around.into_iter().flatten().filter(&legal);
            let around = around.map(Ridge::Share);
            let known = |share: &Ridge| setting.tried.iter().any(|(other, _)| other == share);
            let shares: Vec<Ridge> = around.filter(|share| !known(share)).collect();
            if shares.is_empty() {
                break;
            }
            self.judge(setting, &shares)?;
        }
        Ok(())
    }

    fn left_out(&mut self, error: Error) -> Result<Tried> {
        if !error.is_of_setting() {
            return Err(error);
        }
        let reason = error.to_string();
        tracing::info!(reason, "left out");
        self.refusal.get_or_insert_with(|| reason.clone());
        Ok(Tried {
            name: String::new(),
            lambda: None,
            value: None,
            standard_error: None,
            chosen: false,
            reason: Some(reason),
        })
    }

    /// The options `asked` for with what was chosen, and how.
    fn chosen(mut self, asked: &GreedyRankRls) -> (GreedyRankRls, Option<Choice>) {
        let measure = self.choice.measure;
        let best = self.best.as_ref();
        let Some((setting, ridge)) = best.and_then(|(best, _)| Some((best, best.best(measure)?.0)))
        else {
            self.choice.reason = self.refusal;
            return (usual(asked), Some(self.choice));
        };
        let found = &setting.trial.options;
        let strategy = asked.strategy.or(found.strategy);
        let options = GreedyRankRls {
            scale: found.scale,
            label_scale: found.label_scale,
            strategy,
            lambda: Some(ridge),
            teacher_lambda: asked.teacher_lambda.clone().or_else(|| {
                let share = setting.trial.teacher?;
                Some(Lambdas::Given(vec![share]))
            }),
            ..asked.clone()
        };
        (options, Some(self.choice))
    }
}

/// The share to try a setting with: the best so far, or what is nearest in the middle of the grid.
fn middle(known: &Tried) -> Ridge {
    let best = known.lambda.unwrap_or(USUAL);
    let [least, _, largest] = MIDDLE;
    if share_of(best) < share_of(least) {
        least
    } else if share_of(best) > share_of(largest) {
        largest
    } else {
        best
    }
}

/// By how much one score is better than another, query by query.
struct Gap {
    mean: f64,
    /// Its standard error.
    error: f64,
}

impl Gap {
    fn between(found: &Score, known: &Score, measure: Measure) -> Self {
        let sign = if measure.better(1.0, 0.0) { 1.0 } else { -1.0 };
        let pairs = found.per_query.iter().zip(&known.per_query);
        let differences = pairs.map(|(found, known)| Some(sign * ((*found)? - (*known)?)));
        let gap = Score::of(differences.collect());
        Self {
            mean: gap.mean.unwrap_or_default(),
            error: gap.standard_error.unwrap_or_default(),
        }
    }
}

/// A share of the unit as a number; a number, as it is.
fn share_of(ridge: Ridge) -> Lambda {
    ridge.lambda(1.0)
}

impl Setting {
    /// The ridge parameter with the best score; the first of several.
    fn best(&self, measure: Measure) -> Option<(Ridge, &Score)> {
        let mut best: Option<(Ridge, &Score)> = None;
        for (ridge, score) in &self.tried {
            let Ok(score) = score else { continue };
            let known = best.and_then(|(_, score)| score.mean);
            let better = |value| known.is_none_or(|known| measure.better(value, known));
            if score.mean.is_some_and(better) {
                best = Some((*ridge, score));
            }
        }
        best
    }

    /// Why no share has a score.
    fn error(&self, measure: Measure) -> Error {
        let mut errors = self
            .tried
            .iter()
            .filter_map(|(_, score)| score.as_ref().err());
        let undefined = || Error::data(format!("{measure} is undefined in every query"));
        errors.next().cloned().unwrap_or_else(undefined)
    }

    fn shares(&self) -> Vec<Tried> {
        let of = |(ridge, score): &(Ridge, Result<Score>)| {
            let name = ridge.to_string();
            match score {
                Ok(score) => Tried {
                    name,
                    ..Tried::of(*ridge, score)
                },
                Err(error) => Tried {
                    name,
                    lambda: Some(*ridge),
                    value: None,
                    standard_error: None,
                    chosen: false,
                    reason: Some(error.to_string()),
                },
            }
        };
        let mut tried: Vec<&(Ridge, Result<Score>)> = self.tried.iter().collect();
        tried.sort_by(|a, b| share_of(a.0).total_cmp(share_of(b.0)));
        tried.into_iter().map(of).collect()
    }
}

impl Tried {
    /// With a ridge parameter that has this score; without a name.
    fn of(ridge: Ridge, score: &Score) -> Self {
        Self {
            name: String::new(),
            lambda: Some(ridge),
            value: score.mean,
            standard_error: score.standard_error,
            chosen: false,
            reason: None,
        }
    }
}

/// The name of a strategy to try.
fn exact_or_name(kind: StrategyKind) -> &'static str {
    match kind {
        StrategyKind::Auto => "exact",
        kind => kind.name(),
    }
}

impl Tune {
    /// These options with the scale of columns, the scale of labels and the strategy of the selection chosen by folds of
    /// `dataset`, as far as they are not given, and how: see [`choose`]. The whole grid of lambda is then for the
    /// chosen setting. Where lambdas are given, the scale of columns is chosen if there are several, by the best of the
    /// lambdas: the grid has all strategies and scales of labels. Where leave-query-out predictions judge, the strategy
    /// is the fastest exact one, as they are biased for the other.
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
                // It selects what the fastest exact one does, which chooses in its place.
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
