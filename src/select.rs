//! Greedy forward selection: the driver.
//!
//! [`select`] does the whole job. [`Greedy`] is the same in single steps, cut
//! where a run whose columns are partitioned over processes communicates: each
//! process [`propose`](Greedy::propose)s among its own columns, the
//! [`Contest`]s are merged, and the winner's [`Addition`] is sent to everyone to
//! [`adopt`](Greedy::adopt).

use std::fmt;
use std::ops::ControlFlow;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::Lambda;
use crate::candidates::{Candidates, Summary};
use crate::dataset::Dataset;
use crate::metrics;
use crate::sample::Sampler;
use crate::strategy::{Addition, Contest, Round, Shape, State, Strategy, StrategyKind, Work};

/// Predictions of one query closer than this share of the largest centred label are tied
/// for the concordance index: equal predictions differ in their last bits once they have
/// been computed in different ways.
const PREDICTION_TIE: f64 = 1e-12;

/// Queries whose concordance one task computes.
const QUERIES: usize = 16;

/// What to select, and how.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Options {
    strategy: Option<StrategyKind>,
    lambda: Lambda,
    k: usize,
    sample: Option<usize>,
    seed: u64,
    max_memory: Option<u64>,
}

impl Options {
    /// Selection of `k` features with ridge parameter `lambda`, by the fastest exact strategy
    /// that fits into memory.
    pub fn new(k: usize, lambda: Lambda) -> Self {
        Self {
            strategy: None,
            lambda,
            k,
            sample: None,
            seed: 1,
            max_memory: None,
        }
    }

    /// The strategy; the default is the fastest exact one that fits into memory.
    #[must_use]
    pub fn strategy(mut self, strategy: StrategyKind) -> Self {
        self.strategy = Some(strategy);
        self
    }

    /// Judges only `size` candidates a step, drawn at random. The default is all of them, and
    /// [`StrategyKind::DEFAULT_SAMPLE`] for `sampled`.
    #[must_use]
    pub fn sample(mut self, size: usize) -> Self {
        self.sample = Some(size);
        self
    }

    /// Seed of the random subsets, 1 by default. Equal seeds give equal features on every
    /// platform and at any number of threads.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Bytes that data, candidates and strategy may take together. No limit by default.
    #[must_use]
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.max_memory = Some(bytes);
        self
    }

    /// How many features to select.
    pub fn features(&self) -> usize {
        self.k
    }

    /// The ridge parameter.
    pub fn ridge(&self) -> Lambda {
        self.lambda
    }

    /// Candidates to draw each step, if that was set.
    pub fn sample_size(&self) -> Option<usize> {
        self.sample
    }

    /// Bytes allowed, if there is a limit.
    pub fn memory_limit(&self) -> Option<u64> {
        self.max_memory
    }
}

/// Why a selection could not start.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SelectError {
    /// No features were asked for.
    #[error("k is 0: expected at least one feature to select")]
    NothingAsked,
    /// An empty random subset was asked for.
    #[error("0 candidates a step: expected at least one")]
    NothingSampled,
    /// No column is of any use.
    #[error(
        "nothing to select from: all {columns} columns are constant within every query, so no feature can tell the examples of a query apart"
    )]
    NoCandidates {
        /// Columns of the data.
        columns: usize,
    },
    /// The strategy judges all candidates or none.
    #[error(
        "strategy {strategy} judges all candidates: it can not work on a random subset; use lowmem, sampled or backfit"
    )]
    CanNotSample {
        /// The strategy.
        strategy: StrategyKind,
    },
    /// The memory limit is too low.
    #[error("{0}")]
    Memory(#[from] MemoryError),
}

/// A strategy that does not fit into the memory allowed. All sizes in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error(
    "{what} needs {needed} with the data, {limit} are allowed; {remedy}",
    what = match strategy { Some(kind) => format!("strategy {kind}"), None => "every exact strategy".to_owned() },
    needed = Bytes(*needed),
    limit = Bytes(*limit),
    remedy = remedy(fitting)
)]
pub struct MemoryError {
    /// The strategy asked for; `None`: no exact one fits.
    pub strategy: Option<StrategyKind>,
    /// What it would take in all.
    pub needed: u64,
    /// What is allowed.
    pub limit: u64,
    /// Strategies that fit.
    pub fitting: Vec<StrategyKind>,
}

/// A number of bytes, and the same in a unit that can be read.
struct Bytes(u64);

impl fmt::Display for Bytes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let units = [("GiB", 1u64 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
        write!(formatter, "{} bytes", self.0)?;
        match units.into_iter().find(|&(_, size)| self.0 >= size) {
            Some((unit, size)) => write!(formatter, " ({:.1} {unit})", self.0 as f64 / size as f64),
            None => Ok(()),
        }
    }
}

fn remedy(fitting: &[StrategyKind]) -> String {
    if fitting.is_empty() {
        return "no strategy fits: allow more memory or select fewer features".to_owned();
    }
    let names: Vec<&str> = fitting.iter().map(|kind| kind.name()).collect();
    format!("these fit: {}", names.join(", "))
}

/// One step of a selection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// 0-based feature that was added.
    pub feature: u32,
    /// Leave-query-out error after the step: sum over queries of the squared centred residuals.
    pub lqo_error: f64,
    /// Concordance index of the leave-query-out predictions; `None` when no query has
    /// examples of different labels.
    pub lqo_cindex: Option<f64>,
    /// Other columns that centre to the same column up to sign.
    pub identical_columns: usize,
    /// Candidates that were evaluated exactly.
    pub evaluated: usize,
    /// For `bounded`, candidates that could still win after each level of bounds
    /// ([`Work::alive`]); empty for others.
    pub alive: Vec<usize>,
}

/// How a selection ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ending {
    /// With as many features as asked for.
    Complete,
    /// With all the candidates there are.
    Exhausted,
    /// The observer stopped it.
    Interrupted,
}

/// A finished selection.
#[derive(Debug, Clone, PartialEq)]
pub struct Selection {
    /// The strategy used.
    pub strategy: StrategyKind,
    /// The ridge parameter.
    pub lambda: Lambda,
    /// Candidates drawn each step, if not all were judged, and the seed.
    pub sampler: Option<Sampler>,
    /// What happened, step by step.
    pub steps: Vec<Step>,
    /// Weights of the selected features in order of selection.
    pub weights: Vec<f64>,
    /// 0-based features of each selected class, ascending; its first is the step's feature.
    pub classes: Vec<Vec<u32>>,
    /// How it ended.
    pub ending: Ending,
}

/// Watches a selection. Everything defaults to doing nothing.
pub trait Observer: Send {
    /// The strategy has been chosen and is about to start.
    fn started(&mut self, plan: &Plan) {
        let _ = plan;
    }

    /// A step is done; breaking ends the selection with what there is.
    fn stepped(&mut self, number: usize, step: &Step, state: &State) -> ControlFlow<()> {
        let _ = (number, step, state);
        ControlFlow::Continue(())
    }
}

/// Watches nothing.
impl Observer for () {}

/// What a selection is about to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The strategy.
    pub strategy: StrategyKind,
    /// Steps to take: `k`, or the number of candidates if that is less.
    pub steps: usize,
    /// How the columns fall into classes.
    pub summary: Summary,
    /// Bytes the strategy will take besides data and candidates.
    pub memory: u64,
}

/// Selects features of `dataset`.
///
/// # Errors
/// [`SelectError`] when there is nothing to select, or not the memory to do it.
pub fn select(
    dataset: &Dataset<'_>,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Selection, SelectError> {
    let candidates = Candidates::new(dataset);
    let data = dataset.memory();
    select_among(&candidates, dataset.labels(), data, options, observer)
}

/// Selects among candidates that have been found before. `held` bytes are in use besides
/// the candidates and count towards the limit.
///
/// # Errors
/// As [`select`].
pub fn select_among(
    candidates: &Candidates,
    labels: &[f64],
    held: u64,
    options: &Options,
    observer: &mut dyn Observer,
) -> Result<Selection, SelectError> {
    let plan = plan(candidates, held, options)?;
    tracing::info!(strategy = %plan.strategy, steps = plan.steps, bytes = plan.memory, "selecting");
    observer.started(&plan);
    // On a thread of the pool: a step has many short parallel parts, and each would otherwise
    // wake another thread to start and this one when it ends.
    Ok(rayon::scope(|_| {
        take_steps(candidates, labels, &plan, options, observer)
    }))
}

fn take_steps(
    candidates: &Candidates,
    labels: &[f64],
    plan: &Plan,
    options: &Options,
    observer: &mut dyn Observer,
) -> Selection {
    let state = State::new(labels, candidates.queries(), options.lambda, plan.steps);
    let sampler = options.sampler(plan.strategy);
    let mut greedy = Greedy::new(candidates, state, plan.strategy, sampler);
    let mut steps = Vec::with_capacity(plan.steps);
    let mut ending = if plan.steps < options.k {
        Ending::Exhausted
    } else {
        Ending::Complete
    };
    while steps.len() < plan.steps {
        let Some(step) = greedy.step(labels) else {
            ending = Ending::Exhausted;
            break;
        };
        let number = steps.len() + 1;
        step.log(number);
        let flow = observer.stepped(number, &step, &greedy.state);
        steps.push(step);
        if flow.is_break() && steps.len() < plan.steps {
            ending = Ending::Interrupted;
            break;
        }
    }
    let class = |step: &Step| {
        let position = candidates.represented_by(step.feature);
        position.map_or_else(Vec::new, |position| candidates.class(position).to_vec())
    };
    Selection {
        strategy: plan.strategy,
        lambda: options.lambda,
        sampler,
        classes: steps.iter().map(class).collect(),
        steps,
        weights: greedy.state.weights(),
        ending,
    }
}

impl Step {
    fn log(&self, number: usize) {
        let Self {
            feature: column,
            lqo_error,
            evaluated,
            alive,
            ..
        } = self;
        if alive.is_empty() {
            tracing::info!(step = number, column, lqo_error, evaluated, "selected");
        } else {
            tracing::info!(
                step = number,
                column,
                lqo_error,
                ?alive,
                evaluated,
                "selected"
            );
        }
    }
}

/// Chooses the strategy and checks that it can do what is asked in the memory allowed.
///
/// # Errors
/// As [`select`].
pub fn plan(candidates: &Candidates, held: u64, options: &Options) -> Result<Plan, SelectError> {
    options.check(candidates)?;
    let shape = Shape::new(candidates, options.k, options.lambda, options.sample);
    let base = held + candidates.memory();
    let strategy = match options.strategy {
        Some(strategy) => strategy,
        None => fastest_exact(&shape, base, options)?,
    };
    let memory = strategy.memory(&shape);
    let limit = options.max_memory.unwrap_or(u64::MAX);
    if base.saturating_add(memory) > limit {
        let fits = |kind: &StrategyKind| base.saturating_add(kind.memory(&shape)) <= limit;
        return Err(SelectError::Memory(MemoryError {
            strategy: Some(strategy),
            needed: base.saturating_add(memory),
            limit,
            fitting: StrategyKind::ALL.into_iter().filter(fits).collect(),
        }));
    }
    Ok(Plan {
        strategy,
        steps: shape.k,
        summary: candidates.summary(),
        memory,
    })
}

fn fastest_exact(shape: &Shape, base: u64, options: &Options) -> Result<StrategyKind, MemoryError> {
    let limit = options.max_memory.unwrap_or(u64::MAX);
    let suits =
        |kind: &StrategyKind| kind.is_exact() && (options.sample.is_none() || kind.can_sample());
    let fits = |kind: &StrategyKind| base.saturating_add(kind.memory(shape)) <= limit;
    let exact = || StrategyKind::ALL.into_iter().filter(suits);
    let by_cost = |a: &StrategyKind, b: &StrategyKind| a.cost(shape).total_cmp(&b.cost(shape));
    exact()
        .filter(fits)
        .min_by(by_cost)
        .ok_or_else(|| MemoryError {
            strategy: None,
            needed: base + exact().map(|kind| kind.memory(shape)).min().unwrap_or(0),
            limit,
            fitting: StrategyKind::ALL.into_iter().filter(fits).collect(),
        })
}

impl Options {
    fn check(&self, candidates: &Candidates) -> Result<(), SelectError> {
        if self.k == 0 {
            return Err(SelectError::NothingAsked);
        }
        if self.sample == Some(0) {
            return Err(SelectError::NothingSampled);
        }
        if candidates.is_empty() {
            return Err(SelectError::NoCandidates {
                columns: candidates.summary().columns,
            });
        }
        match self.strategy {
            Some(strategy) if self.sample.is_some() && !strategy.can_sample() => {
                Err(SelectError::CanNotSample { strategy })
            }
            _ => Ok(()),
        }
    }

    fn sampler(&self, strategy: StrategyKind) -> Option<Sampler> {
        let default = (strategy == StrategyKind::Sampled).then_some(StrategyKind::DEFAULT_SAMPLE);
        self.sample.or(default).map(|size| Sampler {
            size,
            seed: self.seed,
        })
    }
}

/// Greedy selection in single steps.
pub struct Greedy<'a> {
    candidates: &'a Candidates,
    state: State,
    strategy: Box<dyn Strategy>,
    sampler: Option<Sampler>,
    retired: Vec<bool>,
}

impl<'a> Greedy<'a> {
    /// Starts from `state`, usually one without features.
    pub fn new(
        candidates: &'a Candidates,
        state: State,
        strategy: StrategyKind,
        sampler: Option<Sampler>,
    ) -> Self {
        let strategy = strategy.build(candidates, &state);
        Self::with_strategy(candidates, state, strategy, sampler)
    }

    /// The same with a strategy of your own.
    pub fn with_strategy(
        candidates: &'a Candidates,
        state: State,
        strategy: Box<dyn Strategy>,
        sampler: Option<Sampler>,
    ) -> Self {
        Self {
            candidates,
            state,
            strategy,
            sampler,
            retired: vec![false; candidates.len()],
        }
    }

    /// The state after the steps taken.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// What the last proposal took.
    pub fn work(&self) -> Work {
        self.strategy.work()
    }

    /// Judges the candidates for the next step. The contest is empty when none is left.
    pub fn propose(&mut self) -> Contest {
        let round = Round {
            candidates: self.candidates,
            state: &self.state,
            retired: &self.retired,
            sample: None,
        };
        let Some(sampler) = self.sampler else {
            return self.strategy.propose(&round);
        };
        let sample = sampler.draw(self.state.steps(), &round.eligible_candidates());
        self.strategy.propose(&Round {
            sample: Some(&sample),
            ..round
        })
    }

    /// The column of a candidate by the feature that represents it, ready to be added here
    /// or in another process.
    pub fn addition(&self, feature: u32) -> Option<Addition<'a>> {
        let candidate = self.candidates.represented_by(feature)?;
        let column = self.candidates.column(candidate);
        Some(Addition {
            feature,
            column,
            sign: self.candidates.sign(candidate),
        })
    }

    /// Adds a feature, from here or from another process, and retires the candidate that
    /// equals it.
    ///
    /// # Panics
    /// When the state has no room for another step.
    pub fn adopt(&mut self, addition: Addition<'_>) {
        if let Some(candidate) = self.candidates.equal_to(&addition) {
            self.retired[candidate] = true;
        }
        self.state.add(addition);
        self.strategy.adopt(self.candidates, &self.state);
    }

    /// Takes a step; `None` when no candidate is left.
    pub fn step(&mut self, labels: &[f64]) -> Option<Step> {
        let winner = self.propose().winner()?;
        let Work { evaluated, alive } = self.work();
        let addition = self.addition(winner.feature)?;
        self.adopt(addition);
        let class = self.candidates.represented_by(winner.feature);
        Some(Step {
            feature: winner.feature,
            lqo_error: self.state.error(),
            lqo_cindex: lqo_cindex(&self.state, labels),
            identical_columns: class.map_or(0, |class| self.candidates.class(class).len() - 1),
            evaluated,
            alive,
        })
    }
}

/// Concordance index of the leave-query-out predictions, averaged over the queries that
/// have a pair of different labels; `None` when none has. Labels as given, not centred.
pub fn lqo_cindex(state: &State, labels: &[f64]) -> Option<f64> {
    let predictions = state.predictions();
    let scale = state
        .labels()
        .iter()
        .fold(0.0_f64, |scale, label| scale.max(label.abs()));
    let queries = state.queries();
    let indices: Vec<Option<f64>> = (0..queries.len())
        .into_par_iter()
        .with_min_len(QUERIES)
        .map(|query| {
            let range = queries.range(query);
            let mut scores = predictions[range.clone()].to_vec();
            tie(&mut scores, scale * PREDICTION_TIE);
            metrics::concordance(&labels[range], &scores)
        })
        .collect();
    let defined: Vec<f64> = indices.into_iter().flatten().collect();
    (!defined.is_empty()).then(|| defined.iter().sum::<f64>() / defined.len() as f64)
}

/// Makes scores equal that are no further apart than `tolerance` from the next one.
fn tie(scores: &mut [f64], tolerance: f64) {
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_unstable_by(|&a, &b| scores[a].total_cmp(&scores[b]));
    for pair in 1..order.len() {
        let (before, here) = (order[pair - 1], order[pair]);
        if scores[here] - scores[before] <= tolerance {
            scores[here] = scores[before];
        }
    }
}
