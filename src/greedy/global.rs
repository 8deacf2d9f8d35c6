//! Selection by the order of all examples, whatever their queries
//! ([`Objective::Global`]): models are judged by leaving out pairs of
//! examples, or folds of them (`docs/derivation.md`, section 11).
//!
//! With all `m` examples in one group, the loss over all pairs is `m` times the sum of squared
//! centred residuals, so a model of `n` examples is the centred ridge regression with
//! `rho = lambda / n`. The trained model is a [`State`] of one query with `lambda / m`; here are the
//! models without some examples, which have ridge parameters of their own.

use std::fmt;
use std::str::FromStr;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::addition::{Addition, centre};
use super::condition::{Condition, solve};
use super::{
    Contest, Criterion, Entrant, Refit, Round, SelectError, SelectionOptions, Shape, State,
    Strategy, StrategyKind, Work,
};
use crate::columns::ColumnClasses;
use crate::data::{Column, Queries};
use crate::interrupt::heed;
use crate::kernels::{self, LANES, Lanes};
use crate::metrics::{mean_concordance, prediction_tolerance, tie_predictions};
use crate::ridge::Groups;
use crate::{Lambda, Objective, QueryWeight};

/// Examples up to which every pair is left out where nothing else is asked for: a step that judges
/// five thousand candidates takes about a second.
const PAIRS_UP_TO: usize = 1000;

/// Folds where there are more examples.
const FOLDS: usize = 10;

/// Loss of digits, as a factor of rounding, from which on [`Pairs`] give way to [`Sets`].
const DELICATE: f64 = 1e8;

/// Bytes that [`Sets`] of all pairs may take. Where they would take more, [`Pairs`] stay and the
/// selection reports the loss as its condition number.
const MOST_FOR_PAIRS: u64 = 1 << 29;

/// What a selection by the global objective leaves out to judge a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GlobalHoldout {
    /// Every pair of examples: `lpo`. The error is the sum over the pairs of
    /// `((y_i - y_j) - (f_i - f_j))^2`, by `m`.
    Lpo,
    /// Folds of examples: `folds:N`. The error is the sum over the folds of the squared residuals,
    /// centred in the fold.
    Folds {
        /// How many. Their sizes differ by one at most.
        count: usize,
        /// Seed of the partition.
        seed: u64,
    },
}

impl fmt::Display for GlobalHoldout {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lpo => formatter.pad("lpo"),
            Self::Folds { count, .. } => write!(formatter, "folds:{count}"),
        }
    }
}

impl FromStr for GlobalHoldout {
    type Err = String;

    /// `lpo`, or `folds:N` with seed 1.
    fn from_str(text: &str) -> Result<Self, String> {
        let count = text.strip_prefix("folds:").and_then(|n| n.parse().ok());
        match count {
            Some(count) if count > 1 => Ok(Self::Folds { count, seed: 1 }),
            None if text == "lpo" => Ok(Self::Lpo),
            _ => Err("expected lpo, or folds:N with 2 folds or more".to_owned()),
        }
    }
}

impl GlobalHoldout {
    /// The same with another seed, where it draws.
    #[must_use]
    pub fn with_seed(self, seed: u64) -> Self {
        match self {
            Self::Lpo => self,
            Self::Folds { count, .. } => Self::Folds { count, seed },
        }
    }

    /// The seed, where it draws.
    pub fn seed(self) -> Option<u64> {
        match self {
            Self::Lpo => None,
            Self::Folds { seed, .. } => Some(seed),
        }
    }

    /// Refuses to leave out so much of so few `rows` that nothing is left, or nothing to compare.
    fn check(self, rows: usize) -> Result<(), SelectError> {
        let legal = match self {
            Self::Lpo => rows > 2,
            Self::Folds { count, .. } => (2..=rows / 2).contains(&count),
        };
        let holdout = self;
        legal
            .then_some(())
            .ok_or(SelectError::Holdout { holdout, rows })
    }

    /// Bytes that judging by it takes besides the state, at most.
    pub(super) fn memory(self, shape: &Shape) -> u64 {
        let [rows, k, threads] = [shape.rows, shape.k, shape.threads].map(|size| size as u64);
        let scratch =
            |sets: u64| 8 * threads * (rows * (LANES as u64 + 2) + 2 * (sets + 1) * (k + 3));
        match self {
            Self::Lpo => {
                let pairs = rows * rows.saturating_sub(1) / 2;
                // Where columns are not long beside the ridge parameter, numbers stay fine.
                let delicate = shape.stiffness * shape.rows as f64 > DELICATE.sqrt();
                let sets = Sets::memory_of_pairs(rows, k).filter(|_| delicate);
                let sets = sets.map_or(scratch(0), |bytes| bytes + scratch(rows));
                State::memory(shape.rows, shape.k) + 40 * pairs + sets
            }
            Self::Folds { count, .. } => {
                Sets::memory(count as u64, rows, rows, k) + scratch(count as u64)
            }
        }
    }
}

impl SelectionOptions {
    /// What a selection from so many `rows` leaves out to judge a model; `None` unless the
    /// objective is the global one.
    pub fn global_holdout(&self, rows: usize) -> Option<GlobalHoldout> {
        let seed = self.seed;
        let default = if rows <= PAIRS_UP_TO {
            GlobalHoldout::Lpo
        } else {
            GlobalHoldout::Folds { count: FOLDS, seed }
        };
        (self.objective == Objective::Global).then(|| self.holdout.unwrap_or(default))
    }

    /// Refuses objectives that nothing is selected by, and choices that are about queries.
    pub(super) fn check_objective(&self) -> Result<(), SelectError> {
        let objective = self.objective;
        if objective == Objective::Pairs {
            return Err(SelectError::Objective {
                what: "selection",
                objective,
                instead: "query or global",
            });
        }
        let refuse = |what: String, instead: &str| {
            let instead = instead.to_owned();
            Err(SelectError::NotGlobal { what, instead })
        };
        let target = &self.target;
        match self.strategy {
            _ if objective == Objective::Query => Ok(()),
            Some(strategy) if !strategy.is_global() => {
                let others = StrategyKind::names_of(StrategyKind::is_global);
                refuse(format!("strategy {strategy}"), &format!("use {others}"))
            }
            _ if self.criterion != Criterion::Squared => refuse(
                format!("criterion {}", self.criterion),
                "steps improve the squared error of its hold-out",
            ),
            _ if self.query_weight != QueryWeight::Uniform => {
                let weight = self.query_weight;
                refuse(format!("query weight {weight}"), "all pairs count alike")
            }
            _ if target.refit == Some(Refit::CrossFitted)
                || target.blend.is_some()
                || target.teacher_lambda.is_some() =>
            {
                refuse("a teacher".to_owned(), "a teacher predicts whole queries")
            }
            _ => Ok(()),
        }
    }

    /// Refuses candidates of several queries, and too few rows to leave some out.
    pub(super) fn check_holdout(&self, queries: &Queries) -> Result<(), SelectError> {
        match self.global_holdout(queries.rows()) {
            Some(_) if queries.len() > 1 => Err(SelectError::NotGlobal {
                what: "a column class within queries".to_owned(),
                instead: "SelectionOptions::candidates finds those of all examples".to_owned(),
            }),
            Some(holdout) => holdout.check(queries.rows()),
            None => Ok(()),
        }
    }

    /// The ridge parameter of the centred problem of so many rows.
    pub(super) fn ridge(&self, rows: usize) -> Lambda {
        match self.objective {
            Objective::Global => ridge(self.lambda.value(), rows),
            _ => self.lambda,
        }
    }
}

/// The ridge parameter of the centred problem of so many rows for the loss over all their pairs.
fn ridge(lambda: f64, rows: usize) -> Lambda {
    // The smallest number, where the quotient is none.
    let rho = (lambda / rows as f64).max(f64::from_bits(1));
    Lambda::new(rho).unwrap_or(Lambda::ONE)
}

/// Judges every candidate by the models without some examples, and keeps nothing for it.
pub(super) struct Global {
    /// As given, `m`.
    labels: Vec<f64>,
    /// The ridge parameter of the loss over pairs.
    lambda: f64,
    models: Models,
}

/// The models without some examples.
enum Models {
    Pairs(Box<Pairs>),
    Sets(Box<Sets>),
}

/// What a thread judges with.
#[derive(Default)]
struct Scratch {
    /// Residuals of the candidates, one to a lane, `m`.
    residuals: Vec<Lanes>,
    /// A centred column, `m`.
    v: Vec<f64>,
    z: Vec<f64>,
    /// What is left of it in a set.
    u: Vec<f64>,
    /// Products of parts of the rows, and sums of them.
    parts: Vec<f64>,
    after: Vec<f64>,
}

impl Global {
    /// Before the first step of `state`, whose labels are centred, for `labels` as given.
    pub(super) fn new(
        state: &State,
        labels: &[f64],
        lambda: Lambda,
        holdout: GlobalHoldout,
    ) -> Result<Self, SelectError> {
        let (lambda, rows) = (lambda.value(), labels.len());
        let models = match holdout {
            GlobalHoldout::Lpo => Models::Pairs(Box::new(Pairs::new(state, lambda))),
            GlobalHoldout::Folds { count, seed } => {
                let groups = Groups::folds(rows, count, seed);
                let groups = groups.map_err(|_| SelectError::Holdout { holdout, rows })?;
                let sets = groups.iter().map(<[usize]>::to_vec).collect();
                Models::Sets(Box::new(Sets::new(state, lambda, sets, false)))
            }
        };
        Ok(Self {
            labels: labels.to_vec(),
            lambda,
            models,
        })
    }

    /// The error with each of at most [`LANES`] candidates added.
    fn judge(&self, candidates: &ColumnClasses, chunk: &[u32], scratch: &mut Scratch) -> Lanes {
        let mut errors = [0.0; LANES];
        let columns = chunk.iter().map(|&one| candidates.column(one as usize));
        match &self.models {
            Models::Pairs(pairs) => pairs.judge(columns, scratch, &mut errors),
            Models::Sets(sets) => {
                for (error, column) in errors.iter_mut().zip(columns) {
                    *error = sets.judge(column, scratch);
                }
            }
        }
        errors
    }
}

impl Strategy for Global {
    fn propose(&mut self, round: &Round<'_>) -> (Contest, Work) {
        let eligible = round.eligible_candidates();
        let judge = |scratch: &mut Scratch, chunk: &[u32]| {
            heed();
            let mut contest = Contest::default();
            let errors = self.judge(round.candidates, chunk, scratch);
            for (&candidate, error) in chunk.iter().zip(errors) {
                let feature = round.candidates.feature(candidate as usize);
                contest.enter(Entrant { error, feature });
            }
            contest
        };
        let chunks = eligible.par_chunks(LANES);
        let contests = chunks.map_init(Scratch::default, judge);
        let contest = contests.reduce(Contest::default, Contest::merge);
        (contest, Work::evaluated(eligible.len()))
    }

    fn adopt(&mut self, _: &ColumnClasses, state: &State) {
        let steps = state.selected();
        let Some((rows, values)) = steps.last() else {
            return;
        };
        let column = Column { rows, values };
        match &mut self.models {
            Models::Sets(sets) => sets.add(column),
            Models::Pairs(pairs) => {
                pairs.add(column);
                let rows = self.labels.len();
                let memory = Sets::memory_of_pairs(rows as u64, state.capacity() as u64);
                if pairs.loss() > DELICATE && memory.is_some() {
                    let all = (0..rows).flat_map(|i| (i + 1..rows).map(move |j| vec![i, j]));
                    let mut sets = Sets::new(state, self.lambda, all.collect(), true);
                    for (rows, values) in steps {
                        sets.add(Column { rows, values });
                    }
                    self.models = Models::Sets(Box::new(sets));
                }
            }
        }
    }

    fn assess(&self) -> Option<(f64, Option<f64>)> {
        Some(match &self.models {
            Models::Pairs(pairs) => of_pairs(&self.labels, pairs.state.labels(), || {
                let models = pairs.models.iter();
                models.map(|&[_, _, _, p_i, p_j]| p_i - p_j)
            }),
            Models::Sets(sets) if sets.pairs => of_pairs(&self.labels, &sets.labels, || {
                let sets = sets.models.iter();
                sets.map(|set| set.residual[0] - set.residual[1])
            }),
            Models::Sets(sets) => sets.assess(&self.labels),
        })
    }

    fn condition(&self) -> f64 {
        match &self.models {
            Models::Pairs(pairs) if pairs.loss() > DELICATE => pairs.loss(),
            Models::Pairs(pairs) => pairs.state.condition(),
            Models::Sets(sets) => {
                let conditions = sets.models.iter().map(|set| set.condition.value());
                conditions.fold(1.0, f64::max)
            }
        }
    }
}

/// Error and concordance of pairs with these differences of held-out residuals, `(0, 1)` first.
/// `labels` are as given, `centred` are of the residuals.
fn of_pairs<D: Iterator<Item = f64>>(
    labels: &[f64],
    centred: &[f64],
    differences: impl Fn() -> D,
) -> (f64, Option<f64>) {
    let rows = labels.len();
    let squares: f64 = differences()
        .map(|difference| difference * difference)
        .sum();
    let tolerance = prediction_tolerance(centred);
    let pairs = (0..rows).flat_map(|i| (i + 1..rows).map(move |j| (i, j)));
    let (mut halves, mut count) = (0_u64, 0_u64);
    for ((i, j), difference) in pairs.zip(differences()) {
        if labels[i] != labels[j] {
            let predicted = centred[i] - centred[j] - difference;
            let right = (predicted > 0.0) == (labels[i] > labels[j]);
            count += 1;
            halves += if predicted.abs() <= tolerance {
                1
            } else {
                2 * u64::from(right)
            };
        }
    }
    let cindex = (count > 0).then(|| halves as f64 / (2 * count) as f64);
    (squares / rows as f64, cindex)
}

/// The models without each pair of examples, by a formula of O(1) for a pair and candidate.
///
/// For a pair `F` with the block `H_FF` of the hat matrix of all examples at `rho`, let
/// `T = (M^-1 - H_FF)^-1`, `M = I + 11' / (m - 2)`, and `p = T r_F` for the residual `r` of all
/// examples. The difference of the held-out residuals is `p_i - p_j`. A candidate that leaves the
/// residual `u`, with `s = rho + v . u` and `eta = v . r`, changes them by
///
/// ```text
/// beta = (eta - u_F . p) / (s - u_F . T u_F)      (its coefficient without the pair)
/// p   <- p - beta T u_F
/// T   <- T + (T u_F) (T u_F)' / (s - u_F . T u_F)
/// ```
///
/// `s - u_F . T u_F >= rho` always. 40 bytes a pair.
struct Pairs {
    /// All examples at `rho = lambda / (m - 2)`.
    state: State,
    /// `T_ii, T_ij, T_jj, p_i, p_j` of each pair, `(0, 1)` first.
    models: Vec<[f64; 5]>,
    /// Largest `|v|^2 / s` of an added column, at least 1.
    inflation: f64,
}

impl Pairs {
    fn new(state: &State, lambda: f64) -> Self {
        let labels = state.labels();
        let others = labels.len() - 2;
        let (rho, share) = (ridge(lambda, others), 1.0 / others as f64);
        let pair = |(i, j): (usize, usize)| {
            let both = share * (labels[i] + labels[j]);
            [
                1.0 + share,
                share,
                1.0 + share,
                labels[i] + both,
                labels[j] + both,
            ]
        };
        let pairs = (0..labels.len()).flat_map(|i| (i + 1..labels.len()).map(move |j| (i, j)));
        Self {
            models: pairs.map(pair).collect(),
            state: State::of_target(
                labels.to_vec(),
                state.queries(),
                None,
                None,
                rho,
                state.capacity(),
            ),
            inflation: 1.0,
        }
    }

    /// The errors with each of the columns added, one to a lane.
    fn judge<'c>(
        &self,
        columns: impl Iterator<Item = Column<'c>>,
        scratch: &mut Scratch,
        errors: &mut Lanes,
    ) {
        let rows = self.state.labels().len();
        let rho = self.state.lambda().value();
        let (mut s, mut eta) = ([1.0; LANES], [0.0; LANES]);
        scratch.residuals.clear();
        scratch.residuals.resize(rows, [0.0; LANES]);
        for (lane, column) in columns.enumerate() {
            spread(column, &mut scratch.v, rows);
            centre(&mut scratch.v);
            scratch.z.resize(self.state.steps(), 0.0);
            self.state.project(column, &mut scratch.z);
            let residuals = scratch.v.iter().zip(&mut scratch.residuals).enumerate();
            for (row, (v, residual)) in residuals {
                residual[lane] = v - kernels::dot(self.state.phi(row), &scratch.z);
            }
            let products = column
                .iter()
                .map(|(row, v)| v * scratch.residuals[row][lane]);
            // Not negative, but for rounding.
            s[lane] = rho + products.sum::<f64>().max(0.0);
            eta[lane] = kernels::sparse_dot(column.rows, column.values, self.state.residual());
        }
        judge_pairs(
            &self.models,
            &scratch.residuals,
            [rho; LANES],
            s,
            eta,
            errors,
        );
        for error in errors {
            *error /= rows as f64;
        }
    }

    fn add(&mut self, column: Column<'_>) {
        let (feature, factor) = (0, 1.0);
        self.state.add(Addition {
            feature,
            column,
            factor,
        });
        let Some(last) = self.state.last() else {
            return;
        };
        let rows = last.phi.len();
        let share = column.centred_squared_norm(rows) * last.least_slack;
        self.inflation = self.inflation.max(share / self.state.lambda().value());
        let mut models = self.models.iter_mut();
        for (i, u_i) in last.phi.iter().enumerate() {
            for (u_j, model) in last.phi[i + 1..].iter().zip(&mut models) {
                let [t_ii, t_ij, t_jj, p_i, p_j] = *model;
                let (x, y) = (t_ii * u_i + t_ij * u_j, t_ij * u_i + t_jj * u_j);
                let nu = 1.0 / (1.0 - (u_i * x + u_j * y)).max(last.least_slack);
                let beta = nu * (last.eta - (u_i * p_i + u_j * p_j));
                *model = [
                    t_ii + nu * x * x,
                    t_ij + nu * x * y,
                    t_jj + nu * y * y,
                    p_i - beta * x,
                    p_j - beta * y,
                ];
            }
        }
    }

    /// By how much rounding is amplified: it enters `u` by the root of the inflation, and each
    /// product with `T` multiplies it.
    fn loss(&self) -> f64 {
        let traces = self.models.iter().map(|model| model[0] + model[2]);
        traces.fold(0.0, f64::max).powi(2) * self.inflation.sqrt()
    }
}

/// Sums the squared differences of the held-out residuals of all pairs, for each candidate.
#[multiversion::multiversion(targets = "simd")]
fn judge_pairs(
    models: &[[f64; 5]],
    residuals: &[Lanes],
    rho: Lanes,
    s: Lanes,
    eta: Lanes,
    errors: &mut Lanes,
) {
    let mut models = models.iter();
    let mut sums = [0.0; LANES];
    for (i, u_i) in residuals.iter().enumerate() {
        for (u_j, &[t_ii, t_ij, t_jj, p_i, p_j]) in residuals[i + 1..].iter().zip(&mut models) {
            for lane in 0..LANES {
                let (a, b) = (u_i[lane], u_j[lane]);
                let (x, y) = (t_ii * a + t_ij * b, t_ij * a + t_jj * b);
                let slack = s[lane] - (a * x + b * y);
                let slack = if slack < rho[lane] { rho[lane] } else { slack };
                let beta = (eta[lane] - (a * p_i + b * p_j)) / slack;
                let difference = (p_i - p_j) - beta * (x - y);
                sums[lane] += difference * difference;
            }
        }
    }
    *errors = sums;
}

/// Models without sets of examples, each with a factor of its own, which never saw them: for folds,
/// and for pairs where [`Pairs`] would lose too many digits.
///
/// ```text
/// L_{-F} L_{-F}' = X_{S,-F} X_{S,-F}' + rho I      (centred over the examples that are left)
/// P_F            = L_{-F}^-1 X_{S,F}               (centred in F)
/// ```
///
/// Products over the examples that are left are sums over them, with the mean taken off. O(k (m + k
/// sets)) for a candidate in folds, O(m^2 k^2) in pairs.
struct Sets {
    /// Centred, `m`.
    labels: Vec<f64>,
    /// Selected columns by example: `m` rows of `capacity`.
    columns: Vec<f64>,
    capacity: usize,
    steps: usize,
    /// The set of each example; of pairs, the example itself.
    part: Vec<usize>,
    parts: usize,
    /// Whether the sets are all pairs.
    pairs: bool,
    models: Vec<Set>,
}

/// The model without a set of `h` examples.
struct Set {
    rows: Vec<usize>,
    /// `lambda` by the number of examples that are left.
    rho: f64,
    others: f64,
    /// Sum of the labels of the others, and of each selected column.
    label_sum: f64,
    sums: Vec<f64>,
    /// Rows of `L_{-F}` one after the other.
    factor: Vec<f64>,
    condition: Condition,
    eta: Vec<f64>,
    /// Rows of `P`, each of `h`.
    projected: Vec<f64>,
    /// Held-out residuals, centred in the set, `h`.
    residual: Vec<f64>,
}

impl Sets {
    fn new(state: &State, lambda: f64, sets: Vec<Vec<usize>>, pairs: bool) -> Self {
        let (labels, capacity) = (state.labels().to_vec(), state.capacity());
        let rows = labels.len();
        let mut part: Vec<usize> = (0..rows).collect();
        for (number, set) in sets.iter().enumerate().filter(|_| !pairs) {
            for &row in set {
                part[row] = number;
            }
        }
        let set = |set: Vec<usize>| {
            let others = rows - set.len();
            let mut residual: Vec<f64> = set.iter().map(|&row| labels[row]).collect();
            let label_sum = -residual.iter().sum::<f64>();
            centre(&mut residual);
            Set {
                rho: ridge(lambda, others).value(),
                others: others as f64,
                label_sum,
                sums: Vec::with_capacity(capacity),
                factor: Vec::with_capacity(capacity * (capacity + 1) / 2),
                condition: Condition::default(),
                eta: Vec::with_capacity(capacity),
                projected: Vec::with_capacity(set.len() * capacity),
                residual,
                rows: set,
            }
        };
        Self {
            columns: vec![0.0; rows * capacity],
            capacity,
            steps: 0,
            part,
            parts: if pairs { rows } else { sets.len() },
            pairs,
            models: sets.into_iter().map(set).collect(),
            labels,
        }
    }

    /// Bytes for all pairs of so many `rows`, unless they are too many.
    fn memory_of_pairs(rows: u64, k: u64) -> Option<u64> {
        let pairs = rows * rows.saturating_sub(1) / 2;
        Some(Self::memory(pairs, 2 * pairs, rows, k)).filter(|&bytes| bytes <= MOST_FOR_PAIRS)
    }

    /// Bytes for so many sets with `held` examples in all, of `rows`, and `k` steps.
    fn memory(sets: u64, held: u64, rows: u64, k: u64) -> u64 {
        let cells = (k + 9) * k / 2 + 55;
        let by_set = sets.saturating_mul(cells);
        let by_example = held.saturating_mul(k + 2).saturating_add(rows * (k + 2));
        by_set.saturating_add(by_example).saturating_mul(8)
    }

    /// Loads a column: into `v`, centred unless it is sparse, as no large common value is to cost
    /// digits, and what is 0 outside a set has to stay so; and into `parts` its products with the
    /// selected columns, with itself and with the labels, and its sum, for each part of the rows.
    fn load(&self, column: Column<'_>, v: &mut Vec<f64>, parts: &mut Vec<f64>) {
        let rows = self.labels.len();
        spread(column, v, rows);
        parts.clear();
        parts.resize(self.parts * (self.steps + 3), 0.0);
        if 2 * column.rows.len() > rows {
            centre(v);
            self.multiply(v.iter().copied().enumerate(), parts);
        } else {
            self.multiply(column.iter(), parts);
        }
    }

    fn multiply(&self, entries: impl Iterator<Item = (usize, f64)>, parts: &mut [f64]) {
        let (t, width) = (self.steps, self.steps + 3);
        for (row, value) in entries {
            let part = &mut parts[self.part[row] * width..][..width];
            let columns = &self.columns[row * self.capacity..][..t];
            kernels::add_scaled(&mut part[..t], value, columns);
            kernels::add_scaled(&mut part[t..], value, &[value, self.labels[row], 1.0]);
        }
    }

    /// Tells the sums of `parts` over the examples outside each set.
    fn sums(&self, parts: &mut [f64], after: &mut Vec<f64>, mut see: impl FnMut(usize, &[f64])) {
        let width = self.steps + 3;
        if !self.pairs {
            return sums_without(parts, width, 0, after, see);
        }
        let mut first = 0;
        for row in 0..self.parts - 1 {
            let here = row * width..(row + 1) * width;
            let left = parts[here.clone()].to_vec();
            parts[here.clone()].fill(0.0);
            sums_without(parts, width, row + 1, after, |other, sums| {
                see(first + other - (row + 1), sums);
            });
            parts[here].copy_from_slice(&left);
            first += self.parts - (row + 1);
        }
    }

    /// The error with the column added.
    fn judge(&self, column: Column<'_>, scratch: &mut Scratch) -> f64 {
        let Scratch {
            v,
            z,
            u,
            parts,
            after,
            ..
        } = scratch;
        self.load(column, v, parts);
        let mut error = 0.0;
        self.sums(parts, after, |set, sums| {
            let set = &self.models[set];
            let (pivot, along) = set.project(sums, z);
            set.leave(v, z, u);
            error += squares_left(&set.residual, along / pivot, u);
        });
        // Centred squares of two are half of that of their difference.
        let rows = self.labels.len() as f64;
        error * if self.pairs { 2.0 / rows } else { 1.0 }
    }

    fn add(&mut self, column: Column<'_>) {
        let mut scratch = Scratch::default();
        let Scratch {
            v,
            z,
            u,
            parts,
            after,
            ..
        } = &mut scratch;
        self.load(column, v, parts);
        let mut sets = std::mem::take(&mut self.models);
        self.sums(parts, after, |set, sums| {
            let set = &mut sets[set];
            let (pivot, along) = set.project(sums, z);
            set.leave(v, z, u);
            set.extend(pivot.sqrt(), along, z, u);
            set.sums.push(sums[self.steps + 2]);
        });
        self.models = sets;
        for (row, &value) in v.iter().enumerate() {
            self.columns[row * self.capacity + self.steps] = value;
        }
        self.steps += 1;
    }

    /// Error and mean concordance of folds, for `labels` as given.
    fn assess(&self, labels: &[f64]) -> (f64, Option<f64>) {
        let residuals = self.models.iter().flat_map(|set| &set.residual);
        let error = residuals.map(|residual| residual * residual).sum();
        let rows = || self.models.iter().flat_map(|set| set.rows.iter().copied());
        let sizes: Vec<usize> = self.models.iter().map(|set| set.rows.len()).collect();
        // Sets are not empty.
        let Ok(folds) = Queries::from_sizes(&sizes) else {
            return (error, None);
        };
        let mut predictions: Vec<f64> = rows().map(|row| self.labels[row]).collect();
        for (part, set) in folds.split_mut(&mut predictions).zip(&self.models) {
            centre(part);
            for (value, residual) in part.iter_mut().zip(&set.residual) {
                *value -= residual;
            }
        }
        tie_predictions(&mut predictions, &self.labels, &folds);
        let labels: Vec<f64> = rows().map(|row| labels[row]).collect();
        (error, mean_concordance(&labels, &predictions, &folds))
    }
}

impl Set {
    /// `L_{-F}^-1 X_{S,-F} v_{-F}` into `z`, from sums over the examples outside the set. Returns
    /// what is left of `v` there, squared, with `rho`, and along the labels.
    fn project(&self, sums: &[f64], z: &mut Vec<f64>) -> (f64, f64) {
        let t = self.eta.len();
        let mean = sums[t + 2] / self.others;
        z.clear();
        z.extend(
            sums[..t]
                .iter()
                .zip(&self.sums)
                .map(|(product, sum)| product - mean * sum),
        );
        solve(&self.factor, z);
        // Not negative, but for rounding.
        let squares = sums[t] - mean * sums[t + 2] - kernels::dot(z, z);
        let along = sums[t + 1] - mean * self.label_sum - kernels::dot(z, &self.eta);
        (self.rho + squares.max(0.0), along)
    }

    /// What the model without the set leaves of `v` in it, centred there, into `u`.
    fn leave(&self, v: &[f64], z: &[f64], u: &mut Vec<f64>) {
        u.clear();
        u.extend(self.rows.iter().map(|&row| v[row]));
        centre(u);
        subtract_rows(u, &self.projected, z);
    }

    /// Adds a column by its `leave` and `project`.
    fn extend(&mut self, root: f64, along: f64, z: &[f64], u: &[f64]) {
        let eta = along / root;
        for (residual, u) in self.residual.iter_mut().zip(u) {
            *residual -= eta * (u / root);
        }
        self.projected.extend(u.iter().map(|u| u / root));
        self.factor.extend_from_slice(z);
        self.factor.push(root);
        self.condition.extend(&self.factor);
        self.eta.push(eta);
    }
}

/// `u -= M' z` for the rows of `M`, as long as `u`.
#[multiversion::multiversion(targets = "simd")]
fn subtract_rows(u: &mut [f64], m: &[f64], z: &[f64]) {
    for (row, &z) in m.chunks_exact(u.len()).zip(z) {
        kernels::add_scaled(u, -z, row);
    }
}

/// `|p - beta u|^2`; leaves `u` changed.
#[multiversion::multiversion(targets = "simd")]
fn squares_left(p: &[f64], beta: f64, u: &mut [f64]) -> f64 {
    for (u, p) in u.iter_mut().zip(p) {
        *u = p - beta * *u;
    }
    kernels::dot(u, u)
}

/// Tells the sums over all rows of `parts` but one, for each from `from` on, without ever
/// subtracting.
fn sums_without(
    parts: &[f64],
    width: usize,
    from: usize,
    after: &mut Vec<f64>,
    mut see: impl FnMut(usize, &[f64]),
) {
    let count = parts.len() / width;
    let mut before = vec![0.0; width];
    for part in parts.chunks_exact(width).take(from) {
        kernels::add_scaled(&mut before, 1.0, part);
    }
    after.clear();
    after.extend_from_slice(parts);
    after.resize((count + 1) * width, 0.0);
    for part in (from..count).rev() {
        let (here, next) = after[part * width..].split_at_mut(width);
        kernels::add_scaled(here, 1.0, &next[..width]);
    }
    for part in from..count {
        let sums = &mut after[(part + 1) * width..][..width];
        kernels::add_scaled(sums, 1.0, &before);
        see(part, sums);
        kernels::add_scaled(&mut before, 1.0, &parts[part * width..][..width]);
    }
}

/// The column, not centred, as `rows` numbers.
fn spread(column: Column<'_>, v: &mut Vec<f64>, rows: usize) {
    v.clear();
    v.resize(rows, 0.0);
    for (row, value) in column.iter() {
        v[row] = value;
    }
}
