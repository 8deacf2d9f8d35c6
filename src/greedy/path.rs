//! A selection, step by step. Given steps and included columns come first, without a search.

use std::ops::ControlFlow;

use rankrls_files::{Remedy, exact};

use super::checks::check_values;
use super::strategies::Filter;
use super::strategy::{first_tied, least};
use super::teacher::Labels;
use super::{
    Addition, Ending, GreedyRankRls, Own, Plan, Round, Sampler, Selection, State, Step, Strategy,
    Work, plan_with,
};
use crate::columns::{ColumnClasses, check_labels};
use crate::data::{Column, Dataset, Feature};
use crate::error::{Error, Kind, Result, ensure};
use crate::linalg::grown::Grown;
use crate::memory::Bytes;
use crate::metrics::{Convention, Judge, Metric, prediction_tolerance};
use crate::stop;

/// Sees every step of a selection, and the selection after it. Breaking ends the selection with the steps so far.
pub type Each<'e> = dyn FnMut(&Step, &Selecting<'_>) -> ControlFlow<()> + Send + 'e;

/// An [`Each`] that sees nothing and takes all steps.
pub fn unwatched(_: &Step, _: &Selecting<'_>) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

/// Selects features of `dataset`.
pub fn select(
    dataset: &Dataset<'_>,
    options: &GreedyRankRls,
    each: &mut Each<'_>,
) -> Result<Selection> {
    let candidates = options.candidates(dataset)?;
    select_among(&candidates, dataset, options, &[], each)
}

/// Selects among candidates of `data` found before. They decide the weights of queries and the scale of columns,
/// not the options.
///
/// Replays the `given` steps of an earlier run without a search, and selects the rest. Features, errors and weights
/// equal an uninterrupted selection's to the last bit.
pub fn select_among(
    candidates: &ColumnClasses,
    data: &Dataset<'_>,
    options: &GreedyRankRls,
    given: &[Step],
    each: &mut Each<'_>,
) -> Result<Selection> {
    select_with(candidates, data, options, None, given, each)
}

/// Selects like [`select_among`], by the caller's `own` strategy if there is one.
pub(crate) fn select_with(
    candidates: &ColumnClasses,
    data: &Dataset<'_>,
    options: &GreedyRankRls,
    own: Option<&Own<'_>>,
    given: &[Step],
    each: &mut Each<'_>,
) -> Result<Selection> {
    let plan = plan_with(candidates, data, options, own)?;
    plan.options.lambda_of(candidates)?;
    // A step has many short parallel parts. Without this scope, each would wake another thread at its start, and
    // this thread at its end.
    rayon::scope(|_| {
        let labels = Labels::new(candidates, data, &plan)?;
        let raw = data.labels();
        let mut work = Selecting::begin(candidates, raw, &labels, &plan, own, given)?;
        work.run(each)?;
        Ok(work.selection())
    })
}

/// A running selection.
///
/// Where ranks share the columns ([`ColumnClasses::among`]), each has the errors of its own; ranks tell
/// each other the least and the lowest feature that ties with it, and the owner of this feature sends
/// its column.
pub struct Selecting<'a> {
    candidates: &'a ColumnClasses,
    /// The options with the strategy and every choice about labels and teacher made.
    options: &'a GreedyRankRls,
    labels: &'a Labels,
    /// Judges the ranking by leave-query-out predictions.
    concordance: Judge<'a>,
    state: State,
    strategy: Box<dyn Strategy>,
    /// Whether the strategy has yet to adopt the last feature. It does so when the next step needs it.
    behind: bool,
    ranking: Option<Judge<'a>>,
    retired: Vec<bool>,
    /// If candidates are drawn, the representing features of all ranks' remaining candidates, ascending.
    left: Vec<u32>,
    /// Steps to replay before the first search.
    given: &'a [Step],
    /// Features of the first steps.
    included: &'a [Feature],
    steps: Vec<Step>,
}

impl<'a> Selecting<'a> {
    /// The selection of `plan` before its first step, from the data's labels `raw` and the learnt labels, by the
    /// caller's `own` strategy if there is one. It replays the `given` steps without a search, and then goes on.
    pub(crate) fn begin(
        candidates: &'a ColumnClasses,
        raw: &'a [f64],
        labels: &'a Labels,
        plan: &'a Plan,
        own: Option<&Own<'_>>,
        given: &'a [Step],
    ) -> Result<Self> {
        let (queries, options) = (candidates.queries(), &plan.options);
        let ranking = options.ranking(raw, queries)?;
        let lambda = options.lambda_of(candidates)?;
        let scales = candidates.query_weight().row_scales(queries);
        let fit = labels.fit.clone();
        let fit = fit.map(|(labels, lambda)| (labels, Grown::new(lambda.value())));
        let select = labels.select.clone();
        let state = State::of_target(select, queries, scales, fit, lambda, plan.steps)
            .with_spare(plan.spare);
        check_labels(state.labels())?;
        check_values(candidates, lambda)?;
        let concordance = Judge::new(Metric::CONCORDANCE, Convention::Standard, raw, queries)
            .within(prediction_tolerance(&state.centred_labels()));
        let sampler = options.sampler();
        let strategy = match (&labels.filter, own) {
            (Some(scores), _) => Filter::given(scores.clone()),
            (None, Some(own)) => own(),
            (None, None) => options.strategy.build(candidates, &state),
        };
        Ok(Self {
            strategy,
            candidates,
            options,
            labels,
            concordance,
            state,
            behind: false,
            ranking,
            retired: vec![false; candidates.len()],
            left: sampler.map_or_else(Vec::new, |_| candidates.all_features()),
            given,
            included: &plan.included,
            steps: Vec::with_capacity(plan.steps),
        })
    }

    /// The state after the steps so far.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// The labels of the selection.
    pub(crate) fn labels(&self) -> &'a Labels {
        self.labels
    }

    /// The steps so far.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// 0-based features selected so far, in order of selection.
    pub(crate) fn features(&self) -> Vec<u32> {
        self.steps.iter().map(|step| step.feature).collect()
    }

    /// The selection of the steps so far.
    pub fn selection(&self) -> Selection {
        let (taken, lambda) = (self.steps.len(), self.state.lambda());
        let ending = if taken == self.options.k {
            Ending::Complete
        } else if taken == self.state.capacity() {
            Ending::Exhausted
        } else {
            Ending::Interrupted
        };
        let options = GreedyRankRls {
            query_weight: self.candidates.query_weight(),
            scale: Some(self.candidates.scale()),
            teacher_lambda: self.labels.tried.clone(),
            ..self.options.clone()
        };
        Selection {
            options: options.resolved(lambda),
            lambda,
            unit: self.candidates.unit(),
            teacher: self.labels.teacher,
            steps: self.steps.clone(),
            weights: self.state.weights(),
            condition: self.state.condition(),
            ending,
        }
    }

    /// Takes all steps while `each` wants more. A request to end before the first step leaves no result.
    pub(crate) fn run(&mut self, each: &mut Each<'_>) -> Result<()> {
        loop {
            // A request only interrupts the search for a step, which leaves the state unchanged.
            let advanced = match self.advance().map(Option::<&Step>::cloned) {
                Err(error) if error.kind() == Kind::Stopped && !self.steps.is_empty() => {
                    return Ok(());
                }
                advanced => advanced?,
            };
            let Some(step) = advanced else {
                return Ok(());
            };
            let flow = each(&step, self);
            if self.steps.len() < self.state.capacity()
                && self.candidates.peers().any(flow.is_break())
            {
                return Ok(());
            }
        }
    }

    /// Takes the next step: the given one, the column to include, or the best one. `None` if all planned steps are
    /// taken, or no candidate is left.
    pub(crate) fn advance(&mut self) -> Result<Option<&Step>> {
        let taken = self.state.steps();
        if taken == self.state.capacity() {
            return Ok(None);
        }
        let step = match (self.given.get(taken), self.included.get(taken)) {
            (Some(step), _) => Some(self.again(taken + 1, step)?),
            (None, Some(&feature)) => self.add(feature, Work::default()),
            (None, None) => self.search()?,
        };
        let Some(step) = step else {
            return Ok(None);
        };
        if let Some((bytes, spare)) = self.state.missing_spare() {
            return Err(Error::memory(format!(
                "lambda is too small for the digits of a float from feature {} on without one factor a \
                 query, which takes {}, and {} are left; {}, select fewer features or allow more memory",
                taken + 1,
                Bytes(bytes).exact(),
                Bytes(spare).exact(),
                Remedy::RaiseLambda
            )));
        }
        let finite = |weight: &f64| weight.is_finite();
        if !step.lqo_error.is_finite() || !self.state.weights().iter().all(finite) {
            return Err(not_finite(taken + 1));
        }
        self.steps.push(step);
        Ok(self.steps.last())
    }

    /// Adds a feature that took this work to find. Returns the step, or `None` if no remaining candidate has the
    /// feature.
    fn add(&mut self, feature: Feature, work: Work) -> Option<Step> {
        let identical = self.take(feature)?;
        let Work { evaluated, alive } = work;
        Some(Step {
            feature,
            identical,
            lqo_error: self.error(),
            lqo_cindex: self.cindex(),
            criterion: self.criterion(),
            evaluated,
            alive,
        })
    }

    /// Adds a feature of a candidate of any rank, which need not represent its class. Returns the other columns of
    /// the class, or `None` if no remaining candidate has the feature.
    fn take(&mut self, feature: Feature) -> Option<Vec<Feature>> {
        self.follow();
        let classes = self.candidates;
        let found = classes.candidate_of(feature);
        let own = match found.filter(|&candidate| !self.retired[candidate]) {
            Some(candidate) => {
                self.retired[candidate] = true;
                let Column { rows, values } = classes.column(candidate);
                let column = (rows.to_vec(), values.to_vec());
                let class = classes.class(candidate).to_vec();
                Some((classes.factor_of(candidate, feature), class, column))
            }
            None => None,
        };
        let mut all = classes.peers().all(&own).into_iter().flatten();
        let (factor, mut class, (rows, values)) = all.next()?;
        if let Ok(place) = self.left.binary_search(&class[0]) {
            self.left.remove(place);
        }
        self.state.add(Addition {
            feature,
            column: Column {
                rows: &rows,
                values: &values,
            },
            factor,
        });
        self.behind = true;
        class.retain(|&column| column != feature);
        Some(class)
    }

    /// Lets the strategy adopt the last feature.
    fn follow(&mut self) {
        if self.behind {
            self.strategy.adopt(self.candidates, &self.state);
            self.behind = false;
        }
    }

    /// Replays a step. Its feature must remain, and the error after it must equal the earlier one to the last bit.
    fn again(&mut self, number: usize, step: &Step) -> Result<Step> {
        let refuse = |found: String| {
            Error::new(
                Kind::File,
                format!(
                    "step {number} of the earlier run cannot be taken again: {found}; was it run on \
                     other data, or by another build or machine?"
                ),
            )
        };
        let (evaluated, alive) = (step.evaluated, step.alive.clone());
        let Some(again) = self.add(step.feature, Work { evaluated, alive }) else {
            let column = self.candidates.file_index(step.feature);
            return Err(refuse(format!("column {column} is not to be selected")));
        };
        let (error, was) = (again.lqo_error, step.lqo_error);
        if error.to_bits() != was.to_bits() {
            return Err(refuse(format!(
                "the held-out error is {error} where it was {was}"
            )));
        }
        let cindex = again.lqo_cindex;
        if cindex.map(f64::to_bits) != step.lqo_cindex.map(f64::to_bits) {
            let shown = |cindex: Option<f64>| cindex.map_or("undefined".to_owned(), exact);
            let (cindex, was) = (shown(cindex), shown(step.lqo_cindex));
            return Err(refuse(format!(
                "the held-out concordance index is {cindex} where it was {was}"
            )));
        }
        Ok(again)
    }

    /// Takes the best step. `None` if no candidate is left.
    fn search(&mut self) -> Result<Option<Step>> {
        stop::check()?;
        self.follow();
        let sampler = self.options.sampler();
        let eligible = self.eligible(sampler);
        let round = Round {
            candidates: self.candidates,
            peers: self.candidates.peers(),
            state: &self.state,
            sampled: sampler.is_some(),
            ranking: self.ranking.as_ref(),
            cache_bytes: Round::cache_bytes(self.state.labels().len(), self.state.capacity()),
        };
        let errors = self.strategy.errors(&round, &eligible);
        // The strategy may have skipped candidates after a request.
        stop::check()?;
        let (left, work) = self.judged(eligible.len(), errors.len())?;
        let Some(feature) = self.winner(&eligible, &errors) else {
            // No remaining candidate has a finite error.
            return match left {
                0 => Ok(None),
                _ => Err(not_finite(self.state.steps() + 1)),
            };
        };
        Ok(self.add(feature, work))
    }

    /// Positions of this rank's candidates for the next step, ascending.
    fn eligible(&self, sampler: Option<Sampler>) -> Vec<u32> {
        let Some(sampler) = sampler else {
            let all = (0u32..).zip(&self.retired);
            return all.filter_map(|(at, out)| (!out).then_some(at)).collect();
        };
        let drawn = sampler.draw(self.state.steps(), &self.left);
        self.candidates.positions(drawn.into_iter())
    }

    /// The lowest feature of all ranks whose error ties with the least one.
    fn winner(&self, eligible: &[u32], errors: &[f64]) -> Option<u32> {
        let peers = self.candidates.peers();
        let first = first_tied(errors, peers.least(least(errors)));
        let feature = first.map(|place| self.candidates.feature(eligible[place] as usize));
        peers.all(&feature).into_iter().flatten().min()
    }

    /// The number of `eligible` candidates, and the work of their errors, on all ranks together. Refuses a number
    /// of errors other than the number of candidates.
    fn judged(&self, eligible: usize, errors: usize) -> Result<(usize, Work)> {
        let own = (self.strategy.work(eligible), eligible, errors);
        let (mut left, mut sum) = (0, Work::default());
        for (work, expected, found) in self.candidates.peers().all(&own) {
            ensure!(
                found == expected,
                options,
                "the strategy has {found} errors in step {}: expected {expected}, one for each of the \
                 eligible candidates, in their order",
                self.state.steps() + 1
            );
            left += expected;
            sum.add(&work);
        }
        Ok((left, sum))
    }

    /// Squared error of the leave-query-out predictions against the labels.
    fn error(&self) -> f64 {
        let Some(own) = &self.labels.report else {
            return self.state.error();
        };
        let targets = self.state.labels().iter().zip(self.state.holdout());
        let predictions = targets.map(|(target, residual)| target - residual);
        let residuals = own.iter().zip(predictions);
        residuals
            .map(|(label, prediction)| (label - prediction).powi(2))
            .sum()
    }

    /// The concordance index of the state's predictions. `None` if each query has equal labels.
    fn cindex(&self) -> Option<f64> {
        self.concordance.score(&self.state.predictions()).mean
    }

    /// The criterion's ranking measure of the state's predictions.
    fn criterion(&self) -> Option<f64> {
        let judge = self.ranking.as_ref()?;
        judge.score(&self.state.predictions()).mean
    }
}

fn not_finite(number: usize) -> Error {
    Error::numbers(format!(
        "step {number} leads to numbers that are not finite"
    ))
}
