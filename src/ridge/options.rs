//! How to train: the solvers by name, what they need and what they cost, and the choice of one.

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::kernel::{KernelError, KernelKind};
use crate::columns::{ColumnClasses, QueryWeight, Scale, none_varies};
use crate::data::{Dataset, GIVE_QUERIES, LabelScale, Queries};
use crate::kernels::LANES;
use crate::memory::Bytes;
use crate::names::names;
use crate::objective::Objective;
use crate::setters::setters;

/// The ways to solve for the weights, by the names that users give.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Solver {
    /// A system of one unknown for each example.
    Dual,
    /// A system of one unknown for each column class.
    Primal,
    /// No system at all: products with the sparse columns.
    ConjugateGradients,
}

names!(Solver, "solver", Dual => "dual", Primal => "primal", ConjugateGradients => "cg");

/// The size of a problem, as far as memory and time depend on it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Examples `m`.
    pub rows: usize,
    /// Queries.
    pub queries: usize,
    /// Examples of the largest query.
    pub largest_query: usize,
    /// Examples of the largest group that is held out at once: no fewer than those.
    pub largest_group: usize,
    /// Whether every pair of examples of a query is held out.
    pub pairs: bool,
    /// Column classes.
    pub classes: usize,
    /// Entries of the column classes.
    pub nonzeros: usize,
    /// Sum over the column classes of their squared numbers of entries.
    pub squares: f64,
    /// Ridge parameters that are going to be asked for.
    pub lambdas: usize,
    /// Threads at work.
    pub threads: usize,
}

impl Shape {
    /// The shape of training on `candidates` with `lambdas` ridge parameters, on this thread pool.
    pub fn new(candidates: &ColumnClasses, lambdas: usize) -> Self {
        let entries = |class: usize| candidates.entries_of(class);
        let squares = (0..candidates.len()).map(|c| entries(c) * entries(c));
        Self {
            rows: candidates.queries().rows(),
            queries: candidates.queries().len(),
            largest_query: candidates.queries().largest(),
            largest_group: candidates.queries().largest(),
            pairs: false,
            classes: candidates.summary().column_classes,
            nonzeros: candidates.summary().nonzeros,
            squares: squares.sum::<usize>() as f64,
            lambdas,
            threads: candidates.threads(),
        }
    }

    /// The shape of training on the rows of `queries` under a kernel that is known.
    pub fn of_rows(queries: &Queries, lambdas: usize) -> Self {
        Self {
            rows: queries.rows(),
            queries: queries.len(),
            largest_query: queries.largest(),
            largest_group: queries.largest(),
            pairs: false,
            classes: 0,
            nonzeros: 0,
            squares: 0.0,
            lambdas,
            threads: rayon::current_num_threads(),
        }
    }

    /// The same columns, with so many preferences in place of the rows.
    pub(super) fn of_preferences(self, preferences: usize) -> Self {
        let rows_each = preferences as f64 / self.rows as f64;
        Self {
            rows: preferences,
            queries: preferences,
            largest_query: 1,
            largest_group: 1,
            // A column of the kernel meets the columns of two rows.
            squares: 2.0 * rows_each * self.squares,
            ..self
        }
    }
}

/// Largest query whose block [`Solver::ConjugateGradients`] factors.
pub(super) const LARGEST_BLOCK: usize = 256;

impl Solver {
    /// Seconds by [`cost`](Self::cost) from which on `auto` takes conjugate gradients rather than
    /// a solver that factors.
    pub const PATIENCE: f64 = 20.0;

    /// Whether hold-out predictions come from one factorisation. Conjugate gradients train again
    /// for every group.
    pub fn has_holdout(self) -> bool {
        self != Self::ConjugateGradients
    }

    /// Bytes the solver will take on top of the data and the column classes.
    pub fn memory(self, shape: &Shape) -> u64 {
        let [rows, classes, nonzeros, query, group, threads] = [
            shape.rows,
            shape.classes,
            shape.nonzeros,
            shape.largest_query,
            shape.largest_group,
            shape.threads,
        ]
        .map(|size| size as u64);
        let mut by_row = 12 * nonzeros + 8 * (rows + classes);
        if shape.pairs && self.has_holdout() {
            // Of the largest query, what every example has with every other one.
            by_row += 8 * query * query;
        }
        by_row
            + match self {
                Self::Dual => 8 * rows * (2 * rows + threads * (group + BATCH as u64)),
                Self::Primal => {
                    let examples = group + BATCH as u64 + 1;
                    8 * classes * (2 * classes + 2 * threads * examples)
                }
                Self::ConjugateGradients => {
                    let block = query.min(LARGEST_BLOCK as u64);
                    // A block being decomposed for each thread; vectors of all lanes.
                    let blocks = rows * block + 3 * threads * block * block;
                    8 * (blocks + LANES as u64 * (6 * rows + classes) + 2 * rows)
                }
            }
    }

    /// Rough seconds on two of today's cores, leave-query-out predictions included where the
    /// solver has them: to compare solvers, not to tell time. `docs/rankrls.md` has the figures.
    pub fn cost(self, shape: &Shape) -> f64 {
        let (rows, classes) = (shape.rows as f64, shape.classes as f64);
        let lambdas = shape.lambdas as f64;
        let factors = |size: f64| lambdas * 0.005e-9 * (size * size * size);
        match self {
            Self::Dual => 0.5e-9 * shape.squares + factors(rows),
            Self::Primal => 0.05e-9 * rows * classes * classes + factors(classes),
            Self::ConjugateGradients => lambdas * 1e-6 * shape.nonzeros as f64,
        }
    }
}

impl Solver {
    /// Rough seconds, likewise, that the hold-out predictions of so many groups of queries take
    /// besides [`cost`](Self::cost), which has them for solvers that factor.
    pub fn holdout_cost(self, shape: &Shape, groups: usize) -> f64 {
        if self.has_holdout() {
            return 0.0;
        }
        // A hundred iterations for each group and ridge parameter, in lanes.
        1e-7 * shape.nonzeros as f64 * (shape.lambdas * groups) as f64
    }
}

/// Examples whose hold-out predictions are computed at once, at least.
pub(super) const BATCH: usize = 128;

/// How to train: for the library, and the arguments and reports of commands. What is going to be asked
/// for and held out is no part of its JSON.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrainOptions {
    #[serde(skip_serializing_if = "Objective::is_query")]
    pub(crate) objective: Objective,
    pub(crate) solver: Option<Solver>,
    pub(crate) query_weight: QueryWeight,
    #[serde(skip_serializing_if = "LabelScale::is_raw")]
    pub(crate) labels: LabelScale,
    #[serde(skip_serializing_if = "Scale::is_none")]
    pub(crate) scale: Scale,
    /// 0 counts as 1.
    #[serde(skip)]
    pub(super) lambdas: usize,
    #[serde(skip)]
    pub(super) largest_group: usize,
    #[serde(skip)]
    pub(super) pairs: bool,
    #[serde(skip_serializing)]
    pub(crate) max_memory: Option<u64>,
}

impl TrainOptions {
    /// Training by the fastest solver that fits into memory, with one ridge parameter, all
    /// queries weighted alike.
    pub fn new() -> Self {
        Self::default()
    }

    setters! {
        /// The solver. By default the cheaper of `dual` and `primal` if it takes no longer than
        /// [`Solver::PATIENCE`] and fits into memory, else conjugate gradients.
        solver: impl Into<Option<Solver>> => solver;

        /// Which pairs are to be ordered. The default is [`Objective::Query`].
        objective: Objective => objective;

        /// What a query counts. The default is [`QueryWeight::Uniform`].
        query_weight: QueryWeight => query_weight;

        /// The scale of the labels. The default is [`LabelScale::Raw`].
        labels: LabelScale => labels;

        /// What columns are divided by. The default is [`Scale::None`]. Column classes that were found
        /// before have a scale of their own.
        scale: Scale => scale;

        /// How many ridge parameters are going to be asked for, 1 by default: time is counted for
        /// them. Any number may be asked for whatever this says.
        lambdas: usize => lambdas;

        /// Examples of the largest group that is going to be held out, where groups are larger than
        /// queries: memory is counted for it. Any groups may be held out whatever this says.
        largest_group: usize => largest_group;

        /// Whether every pair of examples of a query is going to be held out, likewise.
        pairs: bool => pairs;

        /// Bytes that data, column classes and solver may take together. No limit by default.
        max_memory: impl Into<Option<u64>> => max_memory;
    }

    /// The same in at most so many bytes, unless they say how many.
    #[must_use]
    pub fn within(self, bytes: Option<u64>) -> Self {
        self.max_memory(self.max_memory.or(bytes))
    }

    /// The classes of the columns of `data` that the objective tells apart.
    pub fn column_classes(&self, data: &Dataset<'_>) -> ColumnClasses {
        let weight = QueryWeight::Uniform;
        if self.objective.is_query() {
            return ColumnClasses::scaled(data, weight, self.scale);
        }
        ColumnClasses::scaled(&data.as_one_query(), weight, self.scale)
    }

    /// The same shape, with the groups that are going to be held out.
    pub(super) fn grown(&self, shape: Shape) -> Shape {
        Shape {
            largest_group: shape.largest_group.max(self.largest_group),
            pairs: self.pairs,
            ..shape
        }
    }

    /// Refuses kernel values that would not fit, before they take the memory.
    pub(super) fn check_kernel(
        &self,
        data: &Dataset<'_>,
        kind: KernelKind,
        basis: Option<&[usize]>,
        held: u64,
    ) -> Result<(), TrainError> {
        let rows = data.rows() as u64;
        let taken = match basis {
            None if kind == KernelKind::Linear => return Ok(()),
            None => {
                let shape = self.grown(Shape::of_rows(data.queries(), self.lambdas.max(1)));
                8 * rows * rows + Solver::Dual.memory(&shape)
            }
            // The values, their products with the map and the columns that they become.
            Some(basis) => 28 * rows * basis.len() as u64,
        };
        let needed = held.saturating_add(taken);
        if needed <= self.max_memory.unwrap_or(u64::MAX) {
            return Ok(());
        }
        Err(self.refuse_kernel(rows, held, needed))
    }

    /// The memory limit is too low for the kernel, of which `needed` bytes with those held are known.
    pub(super) fn refuse_kernel(&self, rows: u64, held: u64, needed: u64) -> TrainError {
        let limit = self.max_memory.unwrap_or(u64::MAX);
        // Values and columns of a basis, as the primal solver has them, and its systems.
        let taken = |size: u64| held.saturating_add(size * (40 * rows + 24 * size));
        let most = (1..=rows).rev().find(|&size| taken(size) <= limit);
        TrainError::KernelMemory {
            needed,
            limit,
            basis: most.map_or(0, |most| usize::try_from(most).unwrap_or(usize::MAX)),
        }
    }

    /// Refuses data that the objective does not take.
    pub(super) fn check_queries(&self, queries: &Queries) -> Result<(), TrainError> {
        match (self.objective, queries.len()) {
            (Objective::Global, 2..) => Err(TrainError::Queries {
                queries: queries.len(),
            }),
            _ => Ok(()),
        }
    }

    /// The solver for a problem of this shape, with `held` bytes taken already.
    ///
    /// # Errors
    /// [`TrainError::Memory`] if the solver asked for, or every solver, takes more than is
    /// allowed.
    pub fn choose(&self, shape: &Shape, held: u64) -> Result<Solver, TrainError> {
        let limit = self.max_memory.unwrap_or(u64::MAX);
        let needed = |solver: Solver| held.saturating_add(solver.memory(shape));
        let fits = |solver: &Solver| needed(*solver) <= limit;
        let refusal = |solver: Option<Solver>, needed: u64| TrainError::Memory {
            solver,
            needed,
            limit,
            fitting: Solver::ALL.into_iter().filter(fits).collect(),
        };
        if let Some(solver) = self.solver {
            return if fits(&solver) {
                Ok(solver)
            } else {
                Err(refusal(Some(solver), needed(solver)))
            };
        }
        let cost = |solver: &Solver| solver.cost(shape);
        let factoring = [Solver::Dual, Solver::Primal].into_iter();
        let factoring = factoring.filter(|s| fits(s) && cost(s) <= Solver::PATIENCE);
        let iterative = Some(Solver::ConjugateGradients).filter(fits);
        factoring
            .min_by(|a, b| cost(a).total_cmp(&cost(b)))
            .or(iterative)
            .or_else(|| Solver::ALL.into_iter().find(fits))
            .ok_or_else(|| {
                let least = Solver::ALL.into_iter().map(needed).min();
                refusal(None, least.unwrap_or(0))
            })
    }
}

/// Why a model could not be trained or tested.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum TrainError {
    /// No column is of any use.
    #[error("nothing to train on: {}", none_varies(*columns))]
    NoColumns {
        /// Columns of the data.
        columns: usize,
    },
    /// There is no other query to train on when the only one is left out.
    #[error(
        "leave-query-out is undefined: the data are one query, and without it nothing is left to train on; {GIVE_QUERIES}"
    )]
    OneQuery,
    /// The memory limit is too low. Sizes in bytes.
    #[error(
        "{what} needs {needed} with the data, {limit} are allowed; {remedy}",
        what = match solver { Some(solver) => format!("solver {solver}"), None => "every solver".to_owned() },
        needed = Bytes(*needed).exact(),
        limit = Bytes(*limit).exact(),
        remedy = remedy(fitting)
    )]
    Memory {
        /// The solver asked for; `None`: none fits.
        solver: Option<Solver>,
        /// What it would take in all.
        needed: u64,
        /// What is allowed.
        limit: u64,
        /// Solvers that fit.
        fitting: Vec<Solver>,
    },
    /// The memory limit is too low for the values of the kernel. Sizes in bytes.
    #[error(
        "the kernel needs {needed} with the data, {limit} are allowed; {remedy}",
        needed = Bytes(*needed).exact(),
        limit = Bytes(*limit).exact(),
        remedy = match basis {
            0 => "allow more memory".to_owned(),
            most => format!("a reduced set fits, with a basis of {most} at most"),
        }
    )]
    KernelMemory {
        /// What it would take in all.
        needed: u64,
        /// What is allowed.
        limit: u64,
        /// Rows of the largest basis that fits.
        basis: usize,
    },
    /// The system has no solution in double precision.
    #[error(
        "lambda {lambda:e} is too small for these values: with it the system is singular to working precision; raise lambda or scale the data"
    )]
    Singular {
        /// The ridge parameter.
        lambda: f64,
    },
    /// Values so large that products are no finite numbers.
    #[error(
        "the values or labels are too large: their products are no finite numbers; scale the data"
    )]
    NotFinite,
    /// A name that no hold-out scheme has.
    #[error("no hold-out scheme is called {found:?}: expected one of {expected}")]
    UnknownScheme {
        /// The name.
        found: String,
        /// The schemes there are.
        expected: String,
    },
    /// As many folds cannot be made.
    #[error("{folds} folds of {count} {what}: expected from 2 to as many folds as {what}")]
    Folds {
        /// Folds asked for.
        folds: usize,
        /// Queries, rows or preferences.
        what: &'static str,
        /// How many there are.
        count: usize,
    },
    /// Groups that are no partition of the queries.
    #[error("query {query} {problem}: expected every query of the data in one group")]
    Partition {
        /// Position of the query.
        query: usize,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// Groups of other data.
    #[error("the groups are of {found} {what}: expected {expected}, those of the data")]
    OtherQueries {
        /// Queries or rows.
        what: &'static str,
        /// Those of the data.
        expected: usize,
        /// Those in the groups.
        found: usize,
    },
    /// A group of everything.
    #[error(
        "all examples are in one group: without it nothing is left to train on; expected two groups or more"
    )]
    OneGroup,
    /// Groups in which nothing can be compared.
    #[error(
        "no group holds out two examples of a query: no two predictions of a model can be compared; expected larger groups"
    )]
    NothingToCompare,
    /// A hold-out that a solver or an objective does not have.
    #[error("{what} has no hold-outs by {scheme}: expected {expected}")]
    NoHoldout {
        /// The solver or the objective.
        what: &'static str,
        /// The scheme.
        scheme: String,
        /// What it has.
        expected: &'static str,
    },
    /// A preference that is none.
    #[error("preference {number}: expected {expected}, found {found}")]
    Preference {
        /// Its number, from 1.
        number: usize,
        /// What would be legal.
        expected: String,
        /// What there is.
        found: String,
    },
    /// Preferences that compare nothing.
    #[error("no preference compares two rows: expected one at least")]
    NoPreferences,
    /// Several models, and nothing to choose by.
    #[error(
        "without hold-outs it is not known which of several models is best: expected a single one, or a hold-out scheme"
    )]
    NoChoice,
    /// A measure to choose by that the labels or the hold-outs do not have.
    #[error("{0}")]
    Measure(String),
    /// Values of a kernel that are none.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// All pairs are to be ordered, of data with queries.
    #[error(
        "the global objective has one query, the data have {queries}: expected data of one query (Dataset::as_one_query)"
    )]
    Queries {
        /// Queries of the data.
        queries: usize,
    },
}

fn remedy(fitting: &[Solver]) -> String {
    if fitting.is_empty() {
        return "no solver fits: allow more memory".to_owned();
    }
    let names: Vec<&str> = fitting.iter().map(|solver| solver.name()).collect();
    format!("these fit: {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(rows: usize, classes: usize, nonzeros: usize) -> Shape {
        Shape {
            rows,
            queries: rows / 10,
            largest_query: 20,
            largest_group: 20,
            pairs: false,
            classes,
            nonzeros,
            squares: nonzeros as f64 * 40.0,
            lambdas: 1,
            threads: 2,
        }
    }

    fn chosen(options: TrainOptions, shape: &Shape) -> Solver {
        options.choose(shape, 1000).unwrap()
    }

    #[test]
    fn the_smaller_side_is_factored_if_it_is_small_enough() {
        let options = TrainOptions::new();
        let letor = shape(9_000, 46, 400_000);
        assert_eq!(chosen(options, &letor), Solver::Primal);
        let parses = shape(2_000, 15_000, 300_000);
        assert_eq!(chosen(options, &parses), Solver::Dual);
        let many = shape(20_000, 150_000, 3_000_000);
        assert_eq!(chosen(options, &many), Solver::ConjugateGradients);
        let little = options.max_memory(16 << 20);
        assert_eq!(chosen(little, &parses), Solver::ConjugateGradients);
    }

    #[test]
    fn larger_groups_take_more_memory() {
        let queries = shape(2_000, 15_000, 300_000);
        let halves = Shape {
            largest_group: 1_000,
            ..queries
        };
        let more = |solver: Solver| solver.memory(&halves) - solver.memory(&queries);
        assert_eq!(more(Solver::Dual), 8 * 2_000 * 2 * 980);
        assert_eq!(more(Solver::Primal), 8 * 15_000 * 2 * 2 * 980);
        assert_eq!(more(Solver::ConjugateGradients), 0);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_does() {
        let parses = shape(2_000, 15_000, 300_000);
        let options = TrainOptions::new()
            .solver(Solver::Dual)
            .max_memory(16 << 20);
        let error = options.choose(&parses, 0).unwrap_err().to_string();
        assert!(error.starts_with("solver dual needs "), "{error}");
        assert!(error.ends_with("these fit: cg"), "{error}");
        let options = TrainOptions::new().max_memory(1000);
        let error = options.choose(&parses, 0).unwrap_err().to_string();
        assert!(error.starts_with("every solver needs "), "{error}");
        assert!(error.contains("no solver fits"), "{error}");
    }
}
