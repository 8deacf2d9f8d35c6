//! The search among settings: one option after the other, each with ridge parameters in shares of the unit.

use serde::Deserialize;

use super::trials::{ChoiceEvent, Trial, Trials};
use crate::columns::Scale;
use crate::data::LabelScale;
use crate::error::{Error, Result};
use crate::greedy::{Choice, GreedyRankRls, StrategyKind, Tried};
use crate::lambda::{Lambda, Lambdas, Ridge};
use crate::metrics::{Measure, Score};

/// The ridge parameter without a choice.
const USUAL: Ridge = Ridge::fraction((1, 16));

/// The shares of the unit to begin with.
const MIDDLE: [Ridge; 3] = [Ridge::fraction((1, 64)), USUAL, Ridge::fraction((1, 4))];

/// The shares that compare settings. With a best share beyond, columns hardly count.
const ENDS: [Ridge; 2] = [Ridge::fraction((1, 256)), Ridge::fraction((1, 1))];

/// Most shares of a setting.
const MOST_SHARES: usize = 8;

/// Values of open settings to choose among; [`choose`](super::choose) replaces an empty list.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Axes {
    /// Scales of columns.
    pub scale: Vec<Scale>,
    /// Scales of labels.
    pub label_scale: Vec<LabelScale>,
    /// Strategies.
    pub strategy: Vec<StrategyKind>,
    /// Ridge parameters, each tried with every setting.
    pub lambda: Lambdas,
}

/// The options without a choice.
pub(super) fn usual(options: &GreedyRankRls) -> GreedyRankRls {
    GreedyRankRls {
        lambda: Some(USUAL),
        ..options.clone()
    }
}

/// The values to try of each option; one if it was given.
pub(super) struct Values {
    pub(super) scales: Vec<Option<Scale>>,
    pub(super) label_scales: Vec<Option<LabelScale>>,
    pub(super) strategies: Vec<StrategyKind>,
}

impl Values {
    /// With `given` ridge parameters, it tries only named values.
    pub(super) fn of(options: &GreedyRankRls, axes: &Axes, given: &[Ridge], own: bool) -> Self {
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
            // They select the same features as the fastest, which chooses for them.
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

    /// The number of settings.
    pub(super) fn count(&self) -> usize {
        self.scales.len() * self.label_scales.len() * self.strategies.len()
    }
}

/// A setting, and the ridge parameters tried with it, in this order.
struct Setting {
    trial: Trial,
    tried: Vec<(Ridge, Result<Score>)>,
}

/// The search at work.
pub(super) struct Search<'a, 'e> {
    trials: Trials<'a, 'e>,
    choice: Choice,
    /// The ridge parameters to try; empty for a search among shares of the unit.
    given: Vec<Ridge>,
    /// The setting to begin with, until its trial.
    first: Option<GreedyRankRls>,
    /// The best setting so far, with the trial that compared it.
    best: Option<(Setting, Tried)>,
    /// The reason of the first left-out setting.
    refusal: Option<String>,
}

impl<'a, 'e> Search<'a, 'e> {
    /// The search before the first trial of a `choice`, which begins with the setting `first`. It tries all `given`
    /// ridge parameters, and no others.
    pub(super) fn new(
        trials: Trials<'a, 'e>,
        choice: Choice,
        given: Vec<Ridge>,
        first: GreedyRankRls,
    ) -> Self {
        Self {
            trials,
            choice,
            given,
            first: Some(first),
            best: None,
            refusal: None,
        }
    }

    pub(super) fn run(&mut self, values: &Values) -> Result<()> {
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

    /// Tries the `values` of an option, each with the best of all other options so far, which has the first of
    /// them. With several values, the `list` of the choice gets the results.
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

    /// Tries a setting, and keeps it if it is the best so far. The first begins with the middle of the grid and
    /// climbs from there. Any other begins with one share, and climbs if it may be the best. Leaves out a setting
    /// that fails, or takes too much memory.
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

    /// Whether this setting replaces the best so far by its `score`. Another scale of columns must win by more than
    /// a standard error: columns of one unit rank alike on each scale, and chance would choose.
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

    /// Whether another ridge parameter may make this setting the best. The effect of ridge on one scale of columns
    /// says little of another, so one parameter compares these.
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

    /// Tries a setting with a fourth of the best share and with four times as much, as long as one of them is
    /// better and the share is `legal`. Given ridge parameters stay as they are.
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

    /// The `asked` options with the choices made, and the record of the choice.
    pub(super) fn chosen(mut self, asked: &GreedyRankRls) -> (GreedyRankRls, Option<Choice>) {
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

/// The share to try a setting with: the best so far, or the nearest in the middle of the grid.
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

/// The lead of one score over another, query by query.
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

/// The share of the unit as a number; a plain number stays the same.
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

    /// The reason that no share has a score.
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
    /// A trial with a ridge parameter and its score; without a name.
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
pub(super) fn exact_or_name(kind: StrategyKind) -> &'static str {
    match kind {
        StrategyKind::Auto => "exact",
        kind => kind.name(),
    }
}
