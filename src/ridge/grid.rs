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

/// What to train with, and how to choose.
#[derive(Debug, Clone)]
pub struct TrainGrid {
    /// Ridge parameters, as shares of the unit of each kernel or as numbers.
    pub lambdas: Lambdas,
    /// Kernels; [`Kernel::LINEAR`] alone for weights of the columns.
    pub kernels: Vec<Kernel>,
    /// Rows that the model is over; `None`: all rows.
    pub basis: Option<Basis>,
    /// What is held out.
    pub holdout: Scheme,
    /// Whether leave-pair-out keeps its predictions.
    pub keep_pairs: bool,
    /// The measure of the hold-out predictions that the best model has the most of; `None`: it has the
    /// least squared error.
    pub measure: Option<(Metric, Rules)>,
    /// The preferences, under [`Objective::Pairs`].
    pub preferences: Option<Preferences>,
    /// All else.
    pub options: TrainOptions,
}

/// A model of the grid.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The kernel.
    pub kernel: Kernel,
    /// The ridge parameter.
    pub lambda: Lambda,
    /// At most so much is rounding amplified ([`RidgeProblem::condition`]).
    pub condition: f64,
    /// The hold-out predictions.
    pub holdout: Option<Holdout>,
    /// The measure to choose by, where it has a value.
    pub measure: Option<f64>,
    /// How conjugate gradients ended with all the data, which they see for the best model alone.
    pub convergence: Option<Convergence>,
    /// The model. The best alone has one, as models may take much memory.
    pub fit: Option<Fit>,
}

/// A trained model.
#[derive(Debug, Clone, PartialEq)]
pub enum Fit {
    /// Weights of features.
    Linear(Weights),
    /// Coefficients of rows of the training data, under the kernel.
    Kernel {
        /// The rows, 0-based, ascending.
        rows: Vec<usize>,
        /// A coefficient for each.
        coefficients: Vec<f64>,
    },
}

/// What came of a grid.
#[derive(Debug, Clone, PartialEq)]
pub struct GridOutcome {
    /// Every kernel with every ridge parameter, in the order of the lists; ascending where
    /// [`Lambdas::Auto`] chose them.
    pub cells: Vec<Cell>,
    /// The best of them; the first of equal ones.
    pub best: usize,
    /// The solver.
    pub solver: Solver,
    /// The unit of the ridge parameters of the best kernel ([`RidgeProblem::unit`]).
    pub unit: f64,
    /// What was held out.
    pub scheme: Option<Scheme>,
}

impl Cell {
    /// Where conjugate gradients did not come as near as they ought to, with all data and in
    /// hold-outs. Weights, or predictions, are off by about the share that the residual is of the
    /// labels: whoever shows the model says so.
    pub fn shortfalls(&self) -> impl Iterator<Item = Shortfall> {
        let held_out = self.holdout.as_ref();
        let held_out = held_out.and_then(|holdout| holdout.convergence);
        let parts = [
            (false, self.convergence, TOLERANCE),
            (true, held_out, HOLDOUT_TOLERANCE),
        ];
        let lambda = self.lambda;
        parts
            .into_iter()
            .filter_map(move |(held_out, ended, tolerance)| {
                let convergence = ended.filter(|ended| !ended.is_within(tolerance))?;
                Some(Shortfall {
                    lambda,
                    held_out,
                    convergence,
                    tolerance,
                })
            })
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
            Some(groups) if !self.problem.solver().has_holdout() => {
                self.problem.holdouts(lambdas, groups, HOLDOUT_TOLERANCE)
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

    /// Where conjugate gradients fell short, in the order of the models: see [`Cell::shortfalls`].
    pub fn shortfalls(&self) -> impl Iterator<Item = Shortfall> {
        self.cells.iter().flat_map(Cell::shortfalls)
    }
}

impl TrainGrid {
    /// Linear models with each of `lambdas`.
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

    /// Refuses what does not go together, whatever the data. A front end asks before it reads them: `reduced`
    /// and `preferred` say whether there will be a basis and preferences, which are rows of the data.
    /// [`train`](Self::train) asks again.
    ///
    /// # Errors
    /// [`TrainError::NoChoice`], [`PairsApart`](TrainError::PairsApart),
    /// [`NoQueries`](TrainError::NoQueries), [`NoLabels`](TrainError::NoLabels),
    /// [`NoScale`](TrainError::NoScale) and [`DualOnly`](TrainError::DualOnly).
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

    /// Trains on `data`. `classes` are those that [`TrainOptions::column_classes`] finds in them, where
    /// they are known: linear models of the columns use them.
    ///
    /// # Errors
    /// [`TrainError`] for what the data, the objective or the solver do not allow, for a choice
    /// without hold-outs, and where memory or numbers fail.
    pub fn train(
        &self,
        data: &Dataset<'_>,
        classes: Option<&ColumnClasses>,
    ) -> Result<GridOutcome, TrainError> {
        self.check(self.basis.is_some(), self.preferences.is_some())?;
        self.check_measure(data)?;
        let mut outcome = None::<GridOutcome>;
        for &kernel in &self.kernels {
            let own = self.with_kernel(kernel, data, classes);
            let own = own.map_err(|error| error.in_input(data))?;
            outcome = Some(match outcome {
                None => own,
                Some(before) => self.joined(before, own),
            });
        }
        let outcome = outcome.ok_or(TrainError::NoChoice)?;
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
        let data = if self.options.objective.is_query() {
            given
        } else {
            one = given.as_one_query();
            &one
        };
        let options = self.options.lambdas(self.lambdas.count());
        let mut options = options.largest_group(self.largest_group(given)?);
        let basis = self.basis_for(kernel, data)?;
        if kernel.kind() != KernelKind::Linear || basis.is_some() {
            // The model does not use them, but the caller has them.
            options = options.holding(classes.map_or(0, ColumnClasses::memory));
        }
        options.check_kernel(data, kernel.kind(), basis.as_deref())?;
        let reduced = basis.map(|rows| ReducedSet::new(data, &kernel, &rows));
        let reduced = reduced.transpose()?;
        let problem = self.problem(kernel, reduced.as_ref(), data, classes, &options)?;
        let scheme = self.scheme(&problem, given)?;
        if scheme.is_none() && self.models() > 1 {
            return Err(TrainError::OneQuery);
        }
        let queries = match self.options.objective {
            Objective::Pairs => problem.system.design.queries(),
            _ => given.queries(),
        };
        let prepared = Prepared {
            kernel,
            reduced: reduced.as_ref(),
            groups: self.groups(scheme.as_ref(), queries)?,
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
                let least = cells.get_mut(best);
                if least.as_ref().is_none_or(|least| loss < self.loss(least)) {
                    cell.fit = trained.map(|trained| prepared.fit(&trained));
                    if let Some(least) = least {
                        least.fit = None;
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
                Some(groups) => Some(own.holdout(groups)?),
                None if prepared.pairs => Some(own.leave_pair_out(self.keep_pairs)?),
                None => None,
            };
            trained = Some(own);
        }
        let measure = holdout.as_ref();
        let cell = Cell {
            kernel: prepared.kernel,
            lambda,
            condition: problem.condition(lambda),
            measure: measure.and_then(|holdout| self.measure(problem, holdout, groups)),
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
            Some(groups) if *metric != Metric::Concordance => {
                problem.measure(holdout, groups, *metric, *rules)
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
    ///
    /// # Errors
    /// [`TrainError::Measure`], or [`TrainError::Unexpected`] where pairs are compared.
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

    /// Rows of the largest group, as far as it is known what is held out.
    fn largest_group(&self, data: &Dataset<'_>) -> Result<usize, TrainError> {
        let preferences = self.preferences.as_ref().map_or(0, Preferences::len);
        let groups = match self.options.objective {
            Objective::Pairs if preferences > 0 => {
                let alone = Queries::from_sizes(&vec![1; preferences])?;
                self.groups(Some(&self.holdout), &alone)?
            }
            _ => self.groups(Some(&self.holdout), data.queries())?,
        };
        let sizes = groups
            .iter()
            .flat_map(|groups| groups.iter().map(<[usize]>::len));
        Ok(sizes.max().unwrap_or(0))
    }

    /// The scheme asked for, or one that is a matter of seconds.
    fn scheme(
        &self,
        problem: &RidgeProblem<'_>,
        data: &Dataset<'_>,
    ) -> Result<Option<Scheme>, TrainError> {
        let factors = problem.solver().has_holdout();
        let within = self.options.objective == Objective::Query;
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

    /// The groups of rows, or of preferences, each of which is one of `queries` then, that the scheme holds
    /// out; `None` where it holds out pairs, or nothing.
    fn groups(
        &self,
        scheme: Option<&Scheme>,
        queries: &Queries,
    ) -> Result<Option<Groups>, TrainError> {
        let preferences = self.options.objective == Objective::Pairs;
        let groups = match scheme {
            None => None,
            Some(Scheme::Pairs) if preferences => Some(Groups::queries(queries.len())),
            Some(Scheme::Folds { count, seed }) if preferences => {
                let count_of = queries.len();
                Some(Groups::folds_of("preferences", count_of, *count, *seed)?)
            }
            Some(scheme) => scheme.groups(queries)?,
        };
        // Rows, as those of one query may stand for all.
        groups.map(|groups| groups.rows(queries)).transpose()
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
        let found = |data| ColumnClasses::scaled(data, QueryWeight::Uniform, options.scale);
        if let Some(reduced) = reduced {
            let (options, mapped) = (options.holding(data.memory()), reduced.mapped());
            let classes = Cow::Owned(found(mapped));
            return RidgeProblem::of_columns(mapped, classes, preferences, &options);
        }
        if kernel.kind() == KernelKind::Linear {
            let classes = classes.map_or_else(|| Cow::Owned(found(data)), Cow::Borrowed);
            return RidgeProblem::of_columns(data, classes, preferences, options);
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

/// Rows that a kernel model is over: those of a reduced set.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Basis {
    /// Rows drawn without repetition. Equal seeds draw equal rows everywhere.
    Drawn {
        /// How many.
        count: usize,
        /// The seed of the draw.
        seed: u64,
    },
    /// Rows of the input, from 0 on.
    Given(Vec<usize>),
}

impl Basis {
    /// Its rows in `data`.
    ///
    /// # Errors
    /// [`TrainError::Unexpected`] for a draw of no row or of more than there are.
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
        let data = sample::train();
        let rows = u32::try_from(data.rows()).unwrap();
        let data = data.with_input_rows((0..rows).rev().collect()).unwrap();
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
        let error = Groups::of_folds(&folds, &data, Some(&preferences)).unwrap_err();
        let expected = format!("folds, one for each preference: expected 1, found {rows}");
        assert_eq!(error.to_string(), expected);
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
        let data = Dataset::from_dense(kernel.view(), &[1.0, 0.0, 0.0, 1.0], queries).unwrap();
        let data = data.with_input_rows((0..4).rev().collect()).unwrap();
        let grid = TrainGrid {
            kernels: vec![Kernel::PRECOMPUTED],
            ..TrainGrid::new(Lambdas::Auto, TrainOptions::new())
        };
        let error = grid.train(&data, None).unwrap_err().to_string();
        let place = "has 0.0 in row 3, column 4 and 0.5 in row 4, column 3";
        assert!(error.contains(place), "{error}");
    }
}
