//! Training with every ridge parameter and kernel of a grid, and the choice among them by hold-outs.

use std::borrow::Cow;

use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use super::comparisons::Preferences;
use super::error::TrainError;
use super::holdout::{Groups, Holdout, Scheme};
use super::kernel::{Kernel, KernelKind, ReducedSet};
use super::options::TrainOptions;
use super::problem::RidgeProblem;
use super::shape::TrainShape;
use super::solvers::{Convergence, HOLDOUT_TOLERANCE, Shortfall, Solver, TOLERANCE};
use super::trained::{Trained, Weights};
use crate::columns::{ColumnClasses, QueryWeight};
use crate::data::{Dataset, Queries};
use crate::lambda::{Lambda, LambdaSearch, Lambdas};
use crate::metrics::{Metric, Rules, check_labels};
use crate::objective::Objective;

/// The kernels and ridge parameters to train with, and how the best of them is chosen: by its predictions of
/// rows that are held out.
#[derive(Debug, Clone)]
pub struct TrainGrid {
    /// Ridge parameters, as shares of the unit of each kernel or as numbers.
    pub lambdas: Lambdas,
    /// Kernels; [`Kernel::LINEAR`] alone for weights of the columns.
    pub kernels: Vec<Kernel>,
    /// Rows that the model is over; `None`: all rows.
    pub basis: Option<Basis>,
    /// The rows that are held out.
    pub holdout: Scheme,
    /// Whether leave-pair-out keeps its predictions.
    pub keep_pairs: bool,
    /// The measure of the hold-out predictions that is largest for the best model; `None`: it has the least
    /// [`Holdout::error`].
    pub measure: Option<(Metric, Rules)>,
    /// The preferences, under [`Objective::Pairs`].
    pub preferences: Option<Preferences>,
    /// Solver, objective, weights, scales and memory.
    pub options: TrainOptions,
}

/// A model of the grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The kernel.
    pub kernel: Kernel,
    /// The ridge parameter.
    pub lambda: Lambda,
    /// A bound on how much rounding errors grow, from 1 on ([`RidgeProblem::condition`]).
    pub condition: f64,
    /// The hold-out predictions.
    pub holdout: Option<Holdout>,
    /// The measure to choose by, where it has a value; `None` also where the squared error chooses.
    pub measure: Option<f64>,
    /// How conjugate gradients ended with all the data. They train the best model alone on these.
    pub convergence: Option<Convergence>,
    /// The model. The best alone has one, as models may take much memory.
    pub fit: Option<Fit>,
}

/// A trained model, as numbers: it scores rows by their columns, or by their kernel values.
#[derive(Debug, Clone, PartialEq)]
pub enum Fit {
    /// Weights of features.
    Linear(Weights),
    /// Coefficients of rows of the training data, under the kernel.
    Kernel {
        /// The rows, 0-based, ascending: all `m`, or the `b` of the basis.
        rows: Vec<usize>,
        /// A coefficient for each, in units of the labels over those of the kernel.
        coefficients: Vec<f64>,
    },
}

/// The models of a grid, and the best of them.
#[derive(Debug, Clone, PartialEq)]
pub struct GridOutcome {
    /// Every kernel with every ridge parameter, in the order of the lists; lambdas ascend where
    /// [`Lambdas::Auto`] chose them.
    pub cells: Vec<Cell>,
    /// The position of the best among `cells`; of the first of equal ones.
    pub best: usize,
    /// The solver.
    pub solver: Solver,
    /// The unit of the ridge parameters of the best kernel ([`RidgeProblem::unit`]).
    pub unit: f64,
    /// The scheme by which rows were held out; `None` where none were.
    pub scheme: Option<Scheme>,
}

impl Cell {
    /// The solutions by conjugate gradients whose residual is above its tolerance: with all data
    /// ([`TOLERANCE`]), and in hold-outs ([`HOLDOUT_TOLERANCE`]). Weights, or predictions, are off by about the
    /// residual as a share of the labels: whoever shows the model says so.
    pub fn shortfalls(&self) -> impl Iterator<Item = Shortfall> {
        let holdout = self.holdout.as_ref();
        let of_holdout = holdout.and_then(|holdout| holdout.convergence);
        let parts = [
            (false, self.convergence, TOLERANCE),
            (true, of_holdout, HOLDOUT_TOLERANCE),
        ];
        let lambda = self.lambda;
        let short = move |(held_out, ended, tolerance): (bool, Option<Convergence>, f64)| {
            let above = |reached: &Convergence| !reached.is_within(tolerance);
            ended.filter(above).map(|convergence| Shortfall {
                lambda,
                held_out,
                convergence,
                tolerance,
            })
        };
        parts.into_iter().filter_map(short)
    }
}

/// A kernel with its problem, and the groups that are held out.
struct Prepared<'p> {
    kernel: Kernel,
    reduced: Option<&'p ReducedSet>,
    problem: &'p RidgeProblem<'p>,
    groups: Option<Groups>,
    /// Whether every pair is held out.
    pairs: bool,
}

impl Prepared<'_> {
    /// The hold-outs of all `lambdas`, where one after the other takes longer: unless they come from
    /// factors.
    fn together(&self, lambdas: &[Lambda]) -> Result<Vec<Holdout>, TrainError> {
        match &self.groups {
            Some(groups) if !self.problem.solver().factors() => {
                self.problem.leave_out(lambdas, groups, HOLDOUT_TOLERANCE)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// The model of columns, of rows of a reduced set, or of all rows.
    fn fit(&self, trained: &Trained<'_>) -> Fit {
        if let Some(reduced) = self.reduced {
            return Fit::Kernel {
                rows: reduced.rows().to_vec(),
                coefficients: reduced.coefficients(&trained.weights()),
            };
        }
        if self.kernel.kind() == KernelKind::Linear {
            return Fit::Linear(trained.weights());
        }
        let coefficients = trained.coefficients().unwrap_or_default();
        Fit::Kernel {
            rows: (0..coefficients.len()).collect(),
            coefficients,
        }
    }
}

impl GridOutcome {
    /// The best of the models, and the only one with its [`Cell::fit`].
    pub fn best(&self) -> &Cell {
        &self.cells[self.best]
    }

    /// [`Cell::shortfalls`] of all models, in their order.
    pub fn shortfalls(&self) -> impl Iterator<Item = Shortfall> {
        self.cells.iter().flat_map(Cell::shortfalls)
    }
}

impl TrainGrid {
    /// Linear models with each of `lambdas`, judged by the squared error under [`Scheme::Auto`].
    pub fn new(lambdas: impl Into<Lambdas>, options: TrainOptions) -> Self {
        Self {
            lambdas: lambdas.into(),
            kernels: vec![Kernel::LINEAR],
            basis: None,
            holdout: Scheme::default(),
            keep_pairs: false,
            measure: None,
            preferences: None,
            options,
        }
    }

    /// Refuses settings that contradict each other, whatever the data. A front end asks before it reads them:
    /// `reduced` and `preferred` say whether there will be a basis and preferences, which are rows of the data.
    /// [`train`](Self::train) asks again.
    pub fn check(&self, reduced: bool, preferred: bool) -> Result<(), TrainError> {
        let options = &self.options;
        let pairs = options.objective == Objective::Pairs;
        let weighs = options.query_weight != QueryWeight::Uniform;
        let linear = self.kernels.iter().all(Kernel::is_linear);
        let other = options
            .solver
            .is_some_and(|solver| solver != Solver::OF_KERNELS);
        let mistakes = [
            (
                self.holdout == Scheme::Nothing && self.models() > 1,
                TrainError::NoChoice,
            ),
            (pairs != preferred, TrainError::PairsApart),
            (
                weighs && !options.objective.is_query(),
                TrainError::NoQueries,
            ),
            (pairs && !options.labels.is_raw(), TrainError::NoLabels),
            (
                !options.scale.is_none() && (reduced || !linear),
                TrainError::NoScale,
            ),
            (other && !linear && !reduced, TrainError::DualOnly),
        ];
        let found = mistakes.into_iter().find(|(made, _)| *made);
        found.map_or(Ok(()), |(_, mistake)| Err(mistake))
    }

    /// Trains on `data`, `m` rows of `n` columns, with every kernel and every ridge parameter, and keeps the fit
    /// of the best model. `classes` are those that [`TrainOptions::column_classes`] finds in the data, where
    /// they are known: linear models of the columns use them.
    ///
    /// One kernel is in memory at a time. `dual` and `primal` factor once for each ridge parameter
    /// ([`Solver::cost`]); `cg` trains for each, and for each group that is held out.
    pub fn train(
        &self,
        data: &Dataset<'_>,
        classes: Option<&ColumnClasses>,
    ) -> Result<GridOutcome, TrainError> {
        self.check(self.basis.is_some(), self.preferences.is_some())?;
        self.check_measure(data)?;
        let mut joined = None::<GridOutcome>;
        for &kernel in &self.kernels {
            let own = self.with_kernel(kernel, data, classes);
            let found = own.map_err(|error| error.in_input(data))?;
            joined = Some(match joined {
                None => found,
                Some(before) => self.joined(before, found),
            });
        }
        let outcome = joined.ok_or(TrainError::NoChoice)?;
        if outcome.cells.len() > 1 && self.loss(outcome.best()) == f64::INFINITY {
            return Err(self.undefined(data.queries()));
        }
        Ok(outcome)
    }

    /// The models of kernels `before`, and those of the `next`: the best of both stays.
    fn joined(&self, mut before: GridOutcome, mut next: GridOutcome) -> GridOutcome {
        let better = self.loss(next.best()) < self.loss(before.best());
        let worse = if better { &mut before } else { &mut next };
        worse.cells[worse.best].fit = None;
        next.best += before.cells.len();
        before.cells.append(&mut next.cells);
        if better {
            next.cells = before.cells;
            return next;
        }
        before
    }

    /// No model of several is better than another, as none can be judged.
    fn undefined(&self, queries: &Queries) -> TrainError {
        match self.measure {
            Some((metric, _)) => TrainError::Undefined {
                metric,
                cause: metric.lacking(queries),
            },
            None => TrainError::NotFinite,
        }
    }

    pub(crate) fn models(&self) -> usize {
        self.lambdas.count() * self.kernels.len()
    }

    /// The models of a kernel, the best of them the first of equal ones.
    fn with_kernel(
        &self,
        kernel: Kernel,
        given: &Dataset<'_>,
        classes: Option<&ColumnClasses>,
    ) -> Result<GridOutcome, TrainError> {
        let one;
        let data = if self.options.compares_queries() {
            given
        } else {
            one = given.as_one_query();
            &one
        };
        let units = self.held_out_units(given)?;
        let asked = self.groups(&self.holdout, &units)?;
        let mut options = self.options.lambdas(self.lambdas.count());
        options = options.largest_group(asked.as_ref().map_or(0, Groups::largest));
        let basis = self.basis_for(kernel, data)?;
        if kernel.kind() != KernelKind::Linear || basis.is_some() {
            // The model does not use them, but the caller has them.
            options = options.holding(classes.map_or(0, ColumnClasses::memory));
        }
        options.check_kernel(data, kernel.kind(), basis.as_deref())?;
        let mapped = |rows: Vec<usize>| ReducedSet::new(data, &kernel, &rows);
        let reduced = basis.map(mapped).transpose()?;
        let problem = self.problem(kernel, reduced.as_ref(), data, classes, &options)?;
        let scheme = self.scheme(&problem, given)?;
        if scheme.is_none() && self.models() > 1 {
            return Err(TrainError::OneQuery);
        }
        let prepared = Prepared {
            kernel,
            reduced: reduced.as_ref(),
            groups: match (asked, &scheme) {
                // The solver decided what is held out.
                (None, Some(chosen)) => self.groups(chosen, &units)?,
                (known, _) => known,
            },
            pairs: scheme == Some(Scheme::Pairs),
            problem: &problem,
        };
        let (cells, best) = self.cells(&prepared)?;
        Ok(GridOutcome {
            cells,
            best,
            solver: problem.solver(),
            unit: problem.unit(),
            scheme,
        })
    }

    /// The models of every ridge parameter, and the place of the best.
    fn cells(&self, prepared: &Prepared<'_>) -> Result<(Vec<Cell>, usize), TrainError> {
        let problem = prepared.problem;
        let mut next = self.lambdas.lambdas(problem.unit());
        let mut search = LambdaSearch::new(&next, self.lambdas.is_open());
        let (mut cells, mut best) = (Vec::<Cell>::new(), 0);
        while !next.is_empty() {
            let mut together = prepared.together(&next)?.into_iter();
            for lambda in next {
                let (mut cell, trained) = self.cell(prepared, lambda, together.next())?;
                let loss = self.loss(&cell);
                let before = cells.get_mut(best);
                if before.as_ref().is_none_or(|known| loss < self.loss(known)) {
                    cell.fit = trained.map(|model| prepared.fit(&model));
                    if let Some(beaten) = before {
                        beaten.fit = None;
                        best = cells.len();
                    }
                }
                cells.push(cell);
            }
            next = search.go_on(cells[best].lambda).into_iter().collect();
        }
        let chosen = cells.get_mut(best).ok_or(TrainError::NoChoice)?;
        let lambda = chosen.lambda;
        if chosen.fit.is_none() {
            // Its hold-outs were trained without it.
            let trained = problem.train(lambda)?;
            chosen.convergence = trained.convergence();
            chosen.fit = Some(prepared.fit(&trained));
        }
        if self.lambdas.is_open() {
            cells.sort_by(|a, b| a.lambda.total_cmp(b.lambda));
            best = cells.partition_point(|cell| cell.lambda.value() < lambda.value());
        }
        Ok((cells, best))
    }

    /// A model without its fit, and what that comes from, unless the `holdout` was made without it.
    fn cell<'p>(
        &self,
        prepared: &Prepared<'p>,
        lambda: Lambda,
        mut holdout: Option<Holdout>,
    ) -> Result<(Cell, Option<Trained<'p>>), TrainError> {
        let (problem, groups) = (prepared.problem, prepared.groups.as_ref());
        let mut trained = None;
        if holdout.is_none() {
            let own = problem.train(lambda)?;
            holdout = match groups {
                Some(known) => Some(own.leave_out(known)?),
                None if prepared.pairs => Some(own.leave_pair_out(self.keep_pairs)?),
                None => None,
            };
            trained = Some(own);
        }
        let measure = |found: &Holdout| self.measure(problem, found, groups);
        let cell = Cell {
            kernel: prepared.kernel,
            lambda,
            condition: problem.condition(lambda),
            measure: holdout.as_ref().and_then(measure),
            holdout,
            convergence: trained.as_ref().and_then(Trained::convergence),
            fit: None,
        };
        Ok((cell, trained))
    }

    /// The measure to choose by.
    fn measure(
        &self,
        problem: &RidgeProblem<'_>,
        holdout: &Holdout,
        groups: Option<&Groups>,
    ) -> Option<f64> {
        let (metric, rules) = self.measure.as_ref()?;
        match groups {
            Some(known) if *metric != Metric::Concordance => {
                problem.measure(holdout, known, *metric, *rules)
            }
            _ => holdout.cindex,
        }
    }

    /// What is less for a better model; infinity where there is nothing to judge it by.
    fn loss(&self, cell: &Cell) -> f64 {
        let loss = match (&self.measure, &cell.holdout) {
            (Some(_), _) => cell.measure.map(|measure| -measure),
            (None, Some(holdout)) => Some(holdout.error),
            (None, None) => Some(0.0),
        };
        loss.filter(|loss| !loss.is_nan()).unwrap_or(f64::INFINITY)
    }

    /// Refuses a measure that the labels or the hold-outs do not have.
    fn check_measure(&self, data: &Dataset<'_>) -> Result<(), TrainError> {
        let measure = self.measure.as_ref();
        let Some((metric, rules)) = measure.filter(|(metric, _)| *metric != Metric::Concordance)
        else {
            return Ok(());
        };
        if self.holdout == Scheme::Pairs || self.options.objective != Objective::Query {
            return Err(TrainError::unexpected(
                format!("{metric} ranks queries, and pairs are compared"),
                "squared or cindex",
            ));
        }
        Ok(check_labels(
            &[*metric],
            data.labels(),
            data.queries(),
            rules,
            None,
        )?)
    }

    /// The rows of the basis: those asked for, or all of them where they are fewer than the preferences,
    /// which would be the unknowns of a kernel.
    fn basis_for(
        &self,
        kernel: Kernel,
        data: &Dataset<'_>,
    ) -> Result<Option<Vec<usize>>, TrainError> {
        if let Some(basis) = &self.basis {
            return basis.rows(data).map(Some);
        }
        let preferences = self.preferences.as_ref().map_or(0, Preferences::len);
        let many = kernel.kind() != KernelKind::Linear && preferences > data.rows();
        Ok(many.then(|| (0..data.rows()).collect()))
    }

    /// The queries of `data`, or preferences, each a query of its own: groups are made of them.
    fn held_out_units<'d>(&self, data: &'d Dataset<'_>) -> Result<Cow<'d, Queries>, TrainError> {
        let preferences = self.preferences.as_ref().map_or(0, Preferences::len);
        Ok(match self.options.objective {
            Objective::Pairs if preferences > 0 => {
                Cow::Owned(Queries::from_sizes(&vec![1; preferences])?)
            }
            _ => Cow::Borrowed(data.queries()),
        })
    }

    /// The scheme asked for, or one that is a matter of seconds.
    fn scheme(
        &self,
        problem: &RidgeProblem<'_>,
        data: &Dataset<'_>,
    ) -> Result<Option<Scheme>, TrainError> {
        let factors = problem.solver().factors();
        let within = self.options.compares_queries();
        Ok(match &self.holdout {
            Scheme::Nothing => None,
            Scheme::Factored if !factors => None,
            Scheme::Auto | Scheme::Factored if within && data.queries().len() < 2 => None,
            Scheme::Factored if within => Some(Scheme::Queries),
            Scheme::Factored => Some(Scheme::Pairs),
            Scheme::Auto if within => Some(match problem.system.design.features.columns() {
                Some(columns) => {
                    let shape = TrainShape::new(&columns.classes, self.lambdas.count());
                    Scheme::affordable(problem.solver(), &shape)
                }
                None => Scheme::Queries,
            }),
            Scheme::Auto if factors && data.rows() <= LPO_ROWS => Some(Scheme::Pairs),
            Scheme::Auto => Some(Scheme::FIVE_FOLDS),
            Scheme::Queries if self.options.objective == Objective::Pairs => {
                return Err(TrainError::unexpected(
                    "objective pairs has no hold-outs by lqo",
                    "lpo, every preference on its own, or folds of preferences",
                ));
            }
            scheme => Some(scheme.clone()),
        })
    }

    /// The groups of rows, or of preferences, each of which is one of the `units` then, that the scheme holds
    /// out; `None` where it holds out pairs, or nothing, or the solver decides.
    fn groups(&self, scheme: &Scheme, units: &Queries) -> Result<Option<Groups>, TrainError> {
        let preferences = self.options.objective == Objective::Pairs;
        let groups = match scheme {
            Scheme::Pairs if preferences => Some(Groups::queries(units.len())),
            Scheme::Folds { count, seed } if preferences => {
                let count_of = units.len();
                Some(Groups::folds_of("preferences", count_of, *count, *seed)?)
            }
            _ => scheme.groups(units)?,
        };
        // Rows, as those of one query may stand for all.
        groups.map(|whole| whole.rows(units)).transpose()
    }

    fn problem<'p>(
        &'p self,
        kernel: Kernel,
        reduced: Option<&'p ReducedSet>,
        data: &'p Dataset<'_>,
        classes: Option<&'p ColumnClasses>,
        options: &TrainOptions,
    ) -> Result<RidgeProblem<'p>, TrainError> {
        let preferences = match options.objective {
            Objective::Pairs => Some(self.preferences.as_ref().ok_or(TrainError::NoPreferences)?),
            _ => None,
        };
        let found = |rows| ColumnClasses::scaled(rows, QueryWeight::Uniform, options.scale);
        if let Some(known) = reduced {
            let (held, mapped) = (options.holding(data.memory()), known.mapped());
            let of_mapped = Cow::Owned(found(mapped));
            return RidgeProblem::of_columns(mapped, of_mapped, preferences, &held);
        }
        if kernel.kind() == KernelKind::Linear {
            let of_data = classes.map_or_else(|| Cow::Owned(found(data)), Cow::Borrowed);
            return RidgeProblem::of_columns(data, of_data, preferences, options);
        }
        let values = kernel.matrix(data)?;
        // A grid may go on to gammas with which no two rows are alike, as others are better
        // then; its least gamma may not.
        let mut gammas = self.kernels.iter().map(Kernel::gamma);
        if gammas.all(|gamma| gamma >= kernel.gamma()) {
            kernel.check_alike(&values)?;
        }
        RidgeProblem::of_kernel(data, values, preferences, options)
    }
}

/// Rows up to which all pairs of them are held out where nothing is asked for.
const LPO_ROWS: usize = 5_000;

/// Rows that a model is over: those of a reduced set ([`ReducedSet`]).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// Rows drawn without repetition. Equal seeds draw equal rows everywhere.
    Drawn {
        /// How many.
        count: usize,
        /// The seed of the draw.
        seed: u64,
    },
    /// Rows of the input, 0-based.
    Given(Vec<usize>),
}

impl Basis {
    /// Its rows in `data`.
    fn rows(&self, data: &Dataset<'_>) -> Result<Vec<usize>, TrainError> {
        let rows = data.rows();
        match self {
            Self::Drawn { count, seed } if (1..=rows).contains(count) => {
                let mut generator = ChaCha8Rng::seed_from_u64(*seed);
                let mut drawn = index::sample(&mut generator, rows, *count).into_vec();
                drawn.sort_unstable();
                Ok(drawn)
            }
            Self::Drawn { count, .. } => Err(TrainError::unexpected(
                format!("a basis of {count} rows"),
                format!("from 1 to {rows}, the rows of the data"),
            )),
            Self::Given(given) => {
                let places = data.rows_of_input();
                // A reduced set refuses rows that are not there.
                let place = |&row: &usize| places.get(row).map_or(row, |&place| place as usize);
                Ok(given.iter().map(place).collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::sample;
    use crate::ridge::Preference;

    #[test]
    fn rows_of_the_input_are_found_where_they_were_moved_to() {
        let sorted = sample::train();
        let rows = u32::try_from(sorted.rows()).unwrap();
        let data = sorted.with_input_rows((0..rows).rev().collect()).unwrap();
        let last = data.rows() - 1;
        let basis = Basis::Given(vec![0, 2]);
        assert_eq!(basis.rows(&data), Ok(vec![last, last - 2]));
        let grid = TrainGrid {
            basis: Some(Basis::Given(vec![last + 1])),
            ..TrainGrid::new(Lambdas::Auto, TrainOptions::new())
        };
        let error = grid.train(&data, None).unwrap_err().to_string();
        let expected = format!("rows from 1 to {rows}, found {}", rows + 1);
        assert!(error.ends_with(&expected), "{error}");
        let preference = Preference {
            preferred: 1,
            other: 0,
            magnitude: 1.0,
            weight: 1.0,
        };
        let preferences = Preferences::new(vec![preference], &data).unwrap();
        let placed = preferences.iter().map(|one| (one.preferred, one.other));
        assert!(placed.eq([(rows - 2, rows - 1)]));
        let folds: Vec<bool> = (0..rows).map(|row| row == 0).collect();
        let of_rows = Groups::of_folds(&folds, &data, None).unwrap();
        let alone = of_rows.iter().find(|group| group.len() == 1);
        assert_eq!(alone, Some(&[last][..]));
        // Preferences have no places.
        let refused = Groups::of_folds(&folds, &data, Some(&preferences)).unwrap_err();
        let message = format!("folds, one for each preference: expected 1, found {rows}");
        assert_eq!(refused.to_string(), message);
    }

    #[test]
    fn errors_name_rows_of_the_input() {
        // The rows come in turned round: column 3 is the third row of the input, the second here.
        let mut kernel = ndarray::Array2::<f64>::zeros((4, 4));
        for row in 0..4 {
            kernel[[row, 3 - row]] = 1.0;
        }
        kernel[[0, 2]] = 0.5;
        let queries = Queries::from_sizes(&[2, 2]).unwrap();
        let sorted = Dataset::from_dense(kernel.view(), &[1.0, 0.0, 0.0, 1.0], queries).unwrap();
        let data = sorted.with_input_rows((0..4).rev().collect()).unwrap();
        let grid = TrainGrid {
            kernels: vec![Kernel::PRECOMPUTED],
            ..TrainGrid::new(Lambdas::Auto, TrainOptions::new())
        };
        let error = grid.train(&data, None).unwrap_err().to_string();
        let place = "has 0.0 in row 3, column 4 and 0.5 in row 4, column 3";
        assert!(error.contains(place), "{error}");
    }
}
