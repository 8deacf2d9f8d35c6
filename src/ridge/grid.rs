//! Training with every ridge parameter and kernel of a grid, and the choice among them by hold-outs.

use std::borrow::Cow;

use super::conjugate::{Convergence, HOLDOUT_TOLERANCE};
use super::groups::Groups;
use super::holdout::{HoldOut, Holdout};
use super::kernel::{Kernel, KernelError, KernelKind, KernelMatrix, ReducedSet};
use super::options::{Solver, TrainError, TrainOptions};
use super::preferences::Preferences;
use super::trained::{RidgeProblem, Trained, Weights};
use crate::columns::ColumnClasses;
use crate::data::{Dataset, Queries};
use crate::lambda::{at_edge, beyond};
use crate::metrics::{Metric, Rules, check_labels};
use crate::{Lambda, Lambdas, Objective};

/// What to train with, and how to choose.
#[derive(Debug, Clone)]
pub struct TrainGrid {
    /// Ridge parameters, as shares of the unit of each kernel or as numbers.
    pub lambdas: Lambdas,
    /// Kernels; [`Kernel::LINEAR`] alone for weights of the columns.
    pub kernels: Vec<Kernel>,
    /// Rows of the basis, 0-based; `None`: all rows.
    pub basis: Option<Vec<usize>>,
    /// What is held out.
    pub holdout: Holding,
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

/// What is held out.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Holding {
    /// Every query, or as many as can be in a matter of seconds; nothing of data of one query, unless
    /// the objective is another one: then every pair where the solver has that, else five folds.
    #[default]
    Affordable,
    /// Every query, or every pair under another objective, where that comes from the factors of the
    /// solver; else nothing.
    Factored,
    /// Nothing.
    Nothing,
    /// This.
    Given(HoldOut),
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
    /// The model of the best.
    pub fit: Fit,
    /// The solver.
    pub solver: Solver,
    /// The unit of its ridge parameters: the mean diagonal of the centred kernel matrix.
    pub unit: f64,
    /// What was held out.
    pub scheme: Option<HoldOut>,
}

impl GridOutcome {
    /// Whether the best lambda is the least or the largest of several with its kernel, so that
    /// another may do better.
    pub fn is_at_edge(&self) -> bool {
        let best = &self.cells[self.best];
        let own = self.cells.iter().filter(|cell| cell.kernel == best.kernel);
        at_edge(
            &own.map(|cell| cell.lambda).collect::<Vec<_>>(),
            best.lambda,
        )
    }
}

/// The best model so far.
struct Best {
    /// Its place among the cells, and how far it is from the best there could be.
    place: usize,
    loss: f64,
    /// `None` where hold-outs were trained without it.
    fit: Option<Fit>,
}

impl TrainGrid {
    /// A single linear model.
    pub fn new(lambda: Lambda, options: TrainOptions) -> Self {
        Self {
            lambdas: Lambdas::of(&[lambda]),
            kernels: vec![Kernel::LINEAR],
            basis: None,
            holdout: Holding::default(),
            keep_pairs: false,
            measure: None,
            preferences: None,
            options,
        }
    }

    /// Trains on `data`, of which `held` bytes are in use. `classes` are those of its columns, where
    /// they are known: linear models within queries use them.
    ///
    /// # Errors
    /// [`TrainError`] for what the data, the objective or the solver do not allow, for a choice
    /// without hold-outs, and where memory or numbers fail.
    pub fn train(
        &self,
        data: &Dataset<'_>,
        held: u64,
        classes: Option<&ColumnClasses>,
    ) -> Result<GridOutcome, TrainError> {
        self.check_measure(data)?;
        let one;
        let (trained_on, classes) = if self.options.objective.is_query() {
            (data, classes)
        } else {
            one = data.as_one_query();
            (&one, None)
        };
        let models = self.lambdas.count() * self.kernels.len();
        if models > 1 && self.holdout == Holding::Nothing {
            return Err(TrainError::NoChoice);
        }
        let mut cells: Vec<Cell> = Vec::with_capacity(models);
        let mut found = None::<(f64, GridOutcome)>;
        for &kernel in &self.kernels {
            let options = self.options.lambdas(self.lambdas.count());
            let options = self.held_out(options, data)?;
            let basis = self.basis_for(kernel, trained_on);
            let basis = basis.as_deref();
            options.check_kernel(trained_on, kernel.kind(), basis, held)?;
            let source = Source::new(trained_on, kernel, basis)?;
            let problem = self.problem(&source, trained_on, (held, classes), &options)?;
            let scheme = self.scheme(&problem, data)?;
            if scheme.is_none() && models > 1 {
                return Err(TrainError::OneQuery);
            }
            let out = Out::new(scheme.as_ref(), self, data)?;
            let (mut own, best) = self.models(kernel, &problem, &source, &out)?;
            let first = cells.len();
            if found
                .as_ref()
                .is_none_or(|(loss, _)| best.loss.total_cmp(loss).is_lt())
            {
                let cell = &mut own[best.place];
                let fit = if let Some(fit) = best.fit {
                    fit
                } else {
                    let trained = problem.train(cell.lambda)?;
                    cell.convergence = trained.convergence();
                    source.fit(&trained)
                };
                let outcome = GridOutcome {
                    cells: Vec::new(),
                    best: first + best.place,
                    fit,
                    solver: problem.solver(),
                    unit: problem.unit(),
                    scheme,
                };
                found = Some((best.loss, outcome));
            }
            cells.append(&mut own);
        }
        let (_, outcome) = found.ok_or(TrainError::NoChoice)?;
        Ok(GridOutcome { cells, ..outcome })
    }

    /// The rows of the basis: those asked for, or all of them where they are fewer than the preferences,
    /// which would be the unknowns of a kernel.
    fn basis_for(&self, kernel: Kernel, data: &Dataset<'_>) -> Option<Cow<'_, [usize]>> {
        let preferences = self.preferences.as_ref().map_or(0, Preferences::len);
        let many = kernel.kind() != KernelKind::Linear && preferences > data.rows();
        let all = many.then(|| (0..data.rows()).collect());
        self.basis
            .as_deref()
            .map(Cow::Borrowed)
            .or(all.map(Cow::Owned))
    }

    /// The models of a kernel, and the best of them; the first of equal ones.
    fn models(
        &self,
        kernel: Kernel,
        problem: &RidgeProblem<'_>,
        source: &Source,
        out: &Out<'_>,
    ) -> Result<(Vec<Cell>, Best), TrainError> {
        let mut tried = self.lambdas.lambdas(problem.unit());
        let (first, mut next) = (tried.len(), tried.clone());
        let (mut cells, mut best) = (Vec::<Cell>::new(), None::<Best>);
        while !next.is_empty() {
            let side_by_side = out.side_by_side(problem, &next)?;
            let mut side_by_side = side_by_side.map(Vec::into_iter);
            for lambda in next {
                let (trained, holdout) = if let Some(held_out) = &mut side_by_side {
                    (None, held_out.next())
                } else {
                    let trained = problem.train(lambda)?;
                    let holdout = out.of(&trained)?;
                    (Some(trained), holdout)
                };
                let measure = holdout.as_ref();
                let measure = measure.and_then(|holdout| out.measure(problem, holdout));
                let loss = self.loss(holdout.as_ref(), measure);
                if best
                    .as_ref()
                    .is_none_or(|best| loss.total_cmp(&best.loss).is_lt())
                {
                    best = Some(Best {
                        place: cells.len(),
                        loss,
                        fit: trained.as_ref().map(|trained| source.fit(trained)),
                    });
                }
                cells.push(Cell {
                    kernel,
                    lambda,
                    condition: problem.condition(lambda),
                    convergence: trained.as_ref().and_then(Trained::convergence),
                    measure,
                    holdout,
                });
            }
            let edge = best.as_ref().filter(|_| self.lambdas == Lambdas::Auto);
            let past = edge.and_then(|best| beyond(&tried, first, cells[best.place].lambda));
            tried.extend(past);
            next = past.into_iter().collect();
        }
        let mut best = best.ok_or(TrainError::NoChoice)?;
        if self.lambdas == Lambdas::Auto {
            let chosen = cells[best.place].lambda;
            cells.sort_by(|a, b| a.lambda.total_cmp(b.lambda));
            best.place = cells.partition_point(|cell| cell.lambda < chosen);
        }
        Ok((cells, best))
    }

    /// Refuses a measure that the labels or the hold-outs do not have.
    ///
    /// # Errors
    /// [`TrainError::Measure`].
    pub fn check_measure(&self, data: &Dataset<'_>) -> Result<(), TrainError> {
        let Some((metric, rules)) = &self.measure else {
            return Ok(());
        };
        if *metric == Metric::Concordance {
            return Ok(());
        }
        let pairs = self.holdout == Holding::Given(HoldOut::Pairs);
        if pairs || self.options.objective != Objective::Query {
            return Err(TrainError::Measure(format!(
                "{metric} ranks queries, and pairs are compared: expected squared or cindex"
            )));
        }
        check_labels(&[*metric], data.labels(), data.queries(), rules)
            .map_err(|error| TrainError::Measure(error.to_string()))
    }

    /// What is less for a better model.
    fn loss(&self, holdout: Option<&Holdout>, measure: Option<f64>) -> f64 {
        match (&self.measure, holdout) {
            (Some(_), _) => -measure.unwrap_or(f64::NEG_INFINITY),
            (None, Some(holdout)) => holdout.error,
            (None, None) => 0.0,
        }
    }

    /// `options` that allow for what is known to be held out.
    fn held_out(
        &self,
        options: TrainOptions,
        data: &Dataset<'_>,
    ) -> Result<TrainOptions, TrainError> {
        let Holding::Given(scheme) = &self.holdout else {
            return Ok(options);
        };
        let options = options.pairs(*scheme == HoldOut::Pairs);
        if self.options.objective == Objective::Pairs {
            return Ok(options);
        }
        let groups = scheme.groups(data.queries())?;
        let largest = groups.map_or(0, |groups| groups.largest(data.queries()));
        Ok(options.largest_group(largest))
    }

    /// The scheme asked for, or one that is a matter of seconds.
    fn scheme(
        &self,
        problem: &RidgeProblem<'_>,
        data: &Dataset<'_>,
    ) -> Result<Option<HoldOut>, TrainError> {
        let scheme = match (&self.holdout, self.options.objective) {
            (Holding::Nothing, _) => None,
            (Holding::Factored, _) if !problem.solver().has_holdout() => None,
            (Holding::Factored | Holding::Affordable, Objective::Query)
                if data.queries().len() < 2 =>
            {
                None
            }
            (Holding::Factored, Objective::Query) => Some(HoldOut::Queries),
            (Holding::Factored, _) => Some(HoldOut::Pairs),
            (Holding::Given(HoldOut::Queries), Objective::Pairs) => {
                return Err(TrainError::NoHoldout {
                    what: "objective pairs",
                    scheme: HoldOut::Queries.to_string(),
                    expected: "lpo, every preference on its own, or folds of preferences",
                });
            }
            (Holding::Given(scheme), _) => Some(scheme.clone()),
            (Holding::Affordable, Objective::Query) => {
                Some(problem.affordable_holdout(self.lambdas.count()))
            }
            (Holding::Affordable, _)
                if problem.solver().has_holdout() && data.rows() <= LPO_ROWS =>
            {
                Some(HoldOut::Pairs)
            }
            (Holding::Affordable, _) => Some(HoldOut::Folds { count: 5, seed: 1 }),
        };
        Ok(scheme)
    }

    /// The values of `kernel`. A grid may go on to gammas with which no two rows are alike, as others
    /// are better then; its least gamma may not.
    fn matrix(&self, kernel: &Kernel, data: &Dataset<'_>) -> Result<KernelMatrix, KernelError> {
        let matrix = kernel.matrix(data)?;
        let kernels = self.kernels.iter();
        if kernels
            .map(Kernel::gamma)
            .all(|gamma| gamma >= kernel.gamma())
        {
            kernel.check_alike(&matrix)?;
        }
        Ok(matrix)
    }

    fn problem<'p>(
        &'p self,
        source: &'p Source,
        data: &'p Dataset<'_>,
        (held, classes): (u64, Option<&'p ColumnClasses>),
        options: &TrainOptions,
    ) -> Result<RidgeProblem<'p>, TrainError> {
        if options.objective == Objective::Pairs {
            let preferences = self.preferences.as_ref().ok_or(TrainError::NoPreferences)?;
            return match source {
                Source::Columns => RidgeProblem::of_preferences(data, preferences, options),
                Source::Reduced(reduced) => {
                    RidgeProblem::of_preferences(reduced.mapped(), preferences, options)
                }
                Source::Kernel(kernel) => {
                    let values = self.matrix(kernel, data)?;
                    RidgeProblem::of_kernel_and_preferences(data, values, preferences, options)
                }
            };
        }
        match (source, classes) {
            (Source::Columns, Some(classes)) => RidgeProblem::among(data, classes, held, options),
            (Source::Columns, None) => RidgeProblem::new(data, options),
            (Source::Reduced(reduced), _) => RidgeProblem::new(reduced.mapped(), options),
            (Source::Kernel(kernel), _) => {
                RidgeProblem::of_kernel(data, self.matrix(kernel, data)?, options)
            }
        }
    }
}

/// Rows up to which all pairs of them are held out where nothing is asked for.
const LPO_ROWS: usize = 5_000;

/// What a model is made of.
enum Source {
    Columns,
    Reduced(Box<ReducedSet>),
    Kernel(Kernel),
}

impl Source {
    fn new(
        data: &Dataset<'_>,
        kernel: Kernel,
        basis: Option<&[usize]>,
    ) -> Result<Self, TrainError> {
        Ok(match (kernel.kind(), basis) {
            (_, Some(rows)) => Self::Reduced(Box::new(ReducedSet::new(data, &kernel, rows)?)),
            (KernelKind::Linear, None) => Self::Columns,
            (_, None) => Self::Kernel(kernel),
        })
    }

    fn fit(&self, trained: &Trained<'_>) -> Fit {
        match self {
            Self::Columns => Fit::Linear(trained.weights()),
            Self::Reduced(reduced) => Fit::Kernel {
                rows: reduced.rows().to_vec(),
                coefficients: reduced.coefficients(&trained.weights()),
            },
            Self::Kernel(_) => {
                let coefficients = trained.coefficients().unwrap_or_default();
                Fit::Kernel {
                    rows: (0..coefficients.len()).collect(),
                    coefficients,
                }
            }
        }
    }
}

/// What is held out of the models of a grid.
struct Out<'a> {
    /// `None`: every pair, or nothing.
    groups: Option<Groups>,
    pairs: bool,
    grid: &'a TrainGrid,
}

impl<'a> Out<'a> {
    fn new(
        scheme: Option<&HoldOut>,
        grid: &'a TrainGrid,
        data: &Dataset<'_>,
    ) -> Result<Self, TrainError> {
        let (groups, pairs) = match (scheme, &grid.preferences) {
            (None, _) => (None, false),
            (Some(HoldOut::Pairs), Some(preferences)) => {
                (Some(Groups::queries(preferences.len())), false)
            }
            (Some(HoldOut::Folds { count, seed }), Some(preferences)) => (
                Some(Groups::folds_of(
                    "preferences",
                    preferences.len(),
                    *count,
                    *seed,
                )?),
                false,
            ),
            (Some(scheme), _) => {
                let groups = scheme.groups(data.queries())?;
                let pairs = groups.is_none();
                // Rows, as those of one query may stand for all.
                (groups.map(|groups| groups.rows(data.queries())), pairs)
            }
        };
        Ok(Self {
            groups,
            pairs,
            grid,
        })
    }

    /// The measure that the grid chooses by.
    fn measure(&self, problem: &RidgeProblem<'_>, holdout: &Holdout) -> Option<f64> {
        let (metric, rules) = self.grid.measure.as_ref()?;
        match (problem, &self.groups) {
            (problem, Some(groups)) if *metric != Metric::Concordance => {
                problem.measure(holdout, groups, *metric, *rules)
            }
            _ => holdout.cindex,
        }
    }

    /// Hold-outs of all ridge parameters, where that is faster than one after the other.
    fn side_by_side(
        &self,
        problem: &RidgeProblem<'_>,
        lambdas: &[Lambda],
    ) -> Result<Option<Vec<Holdout>>, TrainError> {
        match &self.groups {
            Some(groups) if !problem.solver().has_holdout() => problem
                .holdouts(lambdas, groups, HOLDOUT_TOLERANCE)
                .map(Some),
            _ => Ok(None),
        }
    }

    /// The hold-outs of a model.
    fn of(&self, trained: &Trained<'_>) -> Result<Option<Holdout>, TrainError> {
        match &self.groups {
            Some(groups) => trained.holdout(groups).map(Some),
            None if self.pairs => trained.leave_pair_out(self.grid.keep_pairs).map(Some),
            None => Ok(None),
        }
    }
}

/// Rows of a basis, drawn without repetition, ascending. Equal seeds give equal rows everywhere.
///
/// # Errors
/// [`super::KernelError::Basis`] for none, or more than there are.
pub fn draw_basis(count: usize, queries: &Queries, seed: u64) -> Result<Vec<usize>, TrainError> {
    use rand::SeedableRng;
    let rows = queries.rows();
    if count == 0 || count > rows {
        return Err(super::KernelError::Basis {
            found: count,
            expected: format!("from 1 to {rows}, the rows of the data"),
        }
        .into());
    }
    let mut generator = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let mut drawn = rand::seq::index::sample(&mut generator, rows, count).into_vec();
    drawn.sort_unstable();
    Ok(drawn)
}
