//! Training with every ridge parameter and kernel of a grid, and the choice among them by hold-outs.

use std::borrow::Cow;

use rankrls_files::Parameter;

use super::comparisons::Preferences;
use super::holdout::Holdout;
use super::kernel::{Kernel, KernelKind, ReducedSet};
use super::options::{RankRls, no_choice};
use super::problem::RidgeProblem;
use super::shape::TrainShape;
use super::solvers::{HOLDOUT_TOLERANCE, Solution, Solver, TOLERANCE};
use super::system::too_large;
use crate::columns::ColumnClasses;
use crate::data::{Dataset, Feature, Groups, HoldOut, Queries, one_query};
use crate::error::{Error, Result, ensure};
use crate::lambda::{Lambda, LambdaSearch};
use crate::linalg::factor::Square;
use crate::memory::Memory;
use crate::metrics::{Measure, Metric, check_labels};
use crate::names::Objective;

/// Rows up to which leave-pair-out is the default.
const LPO_ROWS: usize = 5_000;

/// Bytes of a pair of rows and its predictions.
const PAIR: u64 = size_of::<([u32; 2], [f64; 2])>() as u64;

/// Queries up to which leave-query-out is the default, whatever the solver.
const FEW_QUERIES: usize = 5;

/// A ridge parameter with a kernel, and how well its model predicts unseen rows.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    /// The kernel.
    pub kernel: Kernel,
    /// The ridge parameter.
    pub lambda: Lambda,
    /// A bound on the growth of rounding errors, from 1 on: `1 + trace(K) / ridge`, at least the condition number
    /// of the system. `ridge` is `lambda`, and `lambda / m` under the global objective.
    pub condition: f64,
    /// The hold-out predictions.
    pub holdout: Option<Holdout>,
    /// The measure to choose by, if it has a value; `None` also if the squared error chooses.
    pub measure: Option<f64>,
    /// The iterations of conjugate gradients on all the data, which only the best model needs.
    pub iterations: Option<usize>,
    /// The norm of the remaining residual, as a share of the norm of the labels: no training prediction is off by
    /// more than this share. 1e-10 is asked for. At 1 nothing was learnt: all weights are 0.
    pub residual: Option<f64>,
}

/// A trained model, as numbers: it scores rows by their columns, or by their kernel values.
#[derive(Debug, Clone, PartialEq)]
pub enum Fit {
    /// Features that vary within some query, 0-based and ascending, each with its weight, in units of the labels
    /// over those of the column. All other weights are 0.
    Linear(Vec<(Feature, f64)>),
    /// Rows of the training data, 0-based and ascending, all `m` or the `b` of the basis. Each has its coefficient
    /// under the kernel, in units of the labels over those of the kernel.
    Kernel(Vec<(usize, f64)>),
}

/// All cells, and the best model.
#[derive(Debug, Clone, PartialEq)]
pub struct Training {
    /// Every kernel with every ridge parameter, in the order of the lists; lambdas chosen by
    /// [`Lambdas::Auto`](crate::Lambdas::Auto) ascend.
    pub cells: Vec<Cell>,
    /// The position of the best among `cells`; the first of equal ones.
    pub best: usize,
    /// The best model. The others are dropped, as models may take much memory.
    pub fit: Fit,
    /// The solver.
    pub solver: Solver,
    /// The unit of the ridge parameters of the best kernel, in squared units of the values: the mean squared norm
    /// of a centred, weighted row, [`ColumnClasses::unit`] for linear models.
    pub unit: f64,
    /// The hold-out that was made; `None` for no hold-out.
    pub held_out: Option<HoldOut>,
}

impl Training {
    /// The best of the models tried.
    pub fn best(&self) -> &Cell {
        &self.cells[self.best]
    }

    /// Bytes held: the weights, and the hold-out predictions of all cells.
    pub(crate) fn memory(&self) -> u64 {
        let weights = match &self.fit {
            Fit::Linear(weights) => size_of_val(&weights[..]),
            Fit::Kernel(coefficients) => size_of_val(&coefficients[..]),
        };
        let held_out = self.cells.iter().filter_map(|cell| cell.holdout.as_ref());
        let predictions = held_out
            .map(|holdout| size_of_val(&holdout.predictions[..]) + size_of_val(&holdout.pairs[..]));
        (weights + predictions.sum::<usize>()) as u64
    }

    /// Appends this training to the cells `before`, whose best stays unless this one is `better`.
    fn after(mut self, mut before: Self, better: bool) -> Self {
        let tried = before.cells.len();
        before.cells.append(&mut self.cells);
        if !better {
            return before;
        }
        Self {
            cells: before.cells,
            best: tried + self.best,
            ..self
        }
    }
}

impl RankRls {
    /// Trains on `data`, `m` rows of `n` columns, with every kernel and every ridge parameter, and keeps the fit of
    /// the best model. Linear models of the columns use `classes` if they are given: the result of
    /// [`column_classes`](Self::column_classes) on the data.
    ///
    /// One kernel is in memory at a time. `dual` and `primal` factor once for each ridge parameter. `cg` trains for
    /// each, and for each held-out group.
    pub fn train(&self, data: &Dataset<'_>, classes: Option<&ColumnClasses>) -> Result<Training> {
        self.check(self.basis.is_some(), self.preferences.is_some())?;
        self.check_measure(data)?;
        let mut all = None::<Training>;
        for &kernel in &self.kernels {
            let mut next = self.with_kernel(kernel, data, classes)?;
            if let Some(before) = all {
                let better = self.loss(next.best()) < self.loss(before.best());
                next = next.after(before, better);
            }
            all = Some(next);
        }
        let training = all.ok_or_else(no_choice)?;
        if training.cells.len() > 1 && self.loss(training.best()) == f64::INFINITY {
            return Err(self.undefined(data.queries()));
        }
        Ok(training)
    }

    /// The error for several models without a value of the measure: none is better than another.
    fn undefined(&self, queries: &Queries) -> Error {
        let Some(metric) = self.measure.metric() else {
            return too_large();
        };
        let cause = metric.lacking(queries);
        Error::data(format!(
            "{metric} is undefined in every query that is held out, so there is nothing to choose by: {cause}; take \
             another measure, such as squared ({})",
            Parameter::ChooseBy
        ))
    }

    /// All lambdas with a kernel.
    fn with_kernel(
        &self,
        kernel: Kernel,
        given: &Dataset<'_>,
        classes: Option<&ColumnClasses>,
    ) -> Result<Training> {
        let one;
        let data = if self.objective.is_within_queries() {
            given
        } else {
            one = given.as_one_query();
            &one
        };
        let units = self.held_out_units(given)?;
        let asked = self.groups(&self.holdout, &units)?;
        let largest = asked.as_ref().map_or(0, Groups::largest);
        let basis = self.basis_for(kernel, data)?;
        let mut memory = self.memory;
        if kernel.kind != KernelKind::Linear || basis.is_some() {
            // The model does not use the classes, but the caller holds them.
            memory = memory.holding(classes.map_or(0, ColumnClasses::memory));
        }
        let memory = self.pairs_within(data.queries(), memory)?;
        self.check_kernel(data, kernel.kind, basis.as_deref(), memory, largest)?;
        let map = |rows: Vec<usize>| ReducedSet::new(data, &kernel, &rows, self.rows_from);
        let reduced = basis.map(map).transpose()?;
        let problem = if let Some(known) = &reduced {
            let memory = memory.holding(data.memory());
            RidgeProblem::of_columns(&known.mapped, None, self, memory, largest)?
        } else if kernel.kind == KernelKind::Linear {
            RidgeProblem::of_columns(data, classes, self, memory, largest)?
        } else {
            let values = self.values(kernel, data)?;
            RidgeProblem::of_kernel(data, values, self, memory, largest)?
        };
        let held_out = self.held_out(&problem, given, &units)?;
        if held_out.is_none() && self.models() > 1 {
            return Err(one_query(data.queries()));
        }
        let groups = match (asked, &held_out) {
            // The solver decided the hold-outs.
            (None, Some(chosen)) => self.groups(chosen, &units)?,
            (known, _) => known,
        };
        let search = Search {
            options: self,
            kernel,
            reduced: reduced.as_ref(),
            problem: &problem,
            groups,
            pairs: held_out == Some(HoldOut::Pairs),
        };
        search.train(held_out)
    }

    /// The memory with the predictions of all pairs of rows in use, if leave-pair-out keeps them.
    fn pairs_within(&self, queries: &Queries, memory: Memory) -> Result<Memory> {
        let pairs = match self.holdout {
            HoldOut::Pairs => true,
            HoldOut::Auto => !self.objective.is_within_queries() && queries.rows() <= LPO_ROWS,
            _ => false,
        };
        if !(pairs && self.keep_pairs) || self.objective == Objective::Pairs {
            return Ok(memory);
        }
        let sizes = queries.ranges().map(|rows| rows.len() as u64);
        let pairs = sizes.map(|rows| rows.saturating_mul(rows - 1) / 2);
        let count = pairs.fold(0, u64::saturating_add);
        // The pairs of a query are gathered before they join all others.
        let times = 1 + self.models() as u64;
        let bytes = count.saturating_mul(PAIR.saturating_mul(times));
        let what = "the predictions of all pairs need";
        memory.require(what, bytes, "allow more memory")
    }

    /// The values of a kernel. The larger gammas of a grid may make no two rows alike, as smaller ones are better
    /// then; the least gamma may not.
    fn values(&self, kernel: Kernel, data: &Dataset<'_>) -> Result<Square> {
        let values = kernel.matrix(data, self.rows_from)?;
        let mut gammas = self.kernels.iter().map(Kernel::gamma);
        if gammas.all(|gamma| gamma >= kernel.gamma()) {
            kernel.check_alike(&values)?;
        }
        Ok(values)
    }

    /// A number that is less for a better model; infinity if nothing judges it.
    fn loss(&self, cell: &Cell) -> f64 {
        let loss = match (self.measure, &cell.holdout) {
            (Measure::Of(..), _) => cell.measure.map(|measure| -measure),
            (Measure::Squared, Some(holdout)) => Some(holdout.error),
            (Measure::Squared, None) => Some(0.0),
        };
        loss.filter(|loss| !loss.is_nan()).unwrap_or(f64::INFINITY)
    }

    /// Refuses a measure that the labels or the hold-outs do not allow.
    fn check_measure(&self, data: &Dataset<'_>) -> Result<()> {
        let Measure::Of(metric) = self.measure else {
            return Ok(());
        };
        if metric == Metric::CONCORDANCE {
            return Ok(());
        }
        ensure!(
            self.holdout != HoldOut::Pairs && self.objective == Objective::Query,
            options,
            "{metric} ranks queries, and pairs are compared: expected squared or cindex"
        );
        check_labels(&[metric], data.labels(), data.queries(), None)
    }

    /// The rows of the basis as asked for. Under preferences, it is all rows if they are fewer than the
    /// preferences, which would be the unknowns of a kernel.
    fn basis_for(&self, kernel: Kernel, data: &Dataset<'_>) -> Result<Option<Vec<usize>>> {
        if let Some(basis) = &self.basis {
            return basis.rows(data).map(Some);
        }
        let preferences = self.preferences.as_ref().map_or(0, Preferences::len);
        let many = kernel.kind != KernelKind::Linear && preferences > data.rows();
        Ok(many.then(|| (0..data.rows()).collect()))
    }

    /// The queries of `data`, or a query for each preference: groups are made of them.
    fn held_out_units<'d>(&self, data: &'d Dataset<'_>) -> Result<Cow<'d, Queries>> {
        Ok(match &self.preferences {
            Some(list) => Cow::Owned(Queries::from_sizes(&vec![1; list.len()])?),
            None => Cow::Borrowed(data.queries()),
        })
    }

    /// The hold-outs as asked for, or as many as seconds allow.
    fn held_out(
        &self,
        problem: &RidgeProblem<'_>,
        data: &Dataset<'_>,
        units: &Queries,
    ) -> Result<Option<HoldOut>> {
        let factors = problem.solver.factors();
        let within = self.objective.is_within_queries();
        let folds = || HoldOut::folds(units).seed(self.seed);
        Ok(match &self.holdout {
            HoldOut::Nothing => None,
            HoldOut::Factored if !factors => None,
            HoldOut::Auto | HoldOut::Factored if within && data.queries().len() < 2 => None,
            HoldOut::Factored if within => Some(HoldOut::Queries),
            HoldOut::Factored => Some(HoldOut::Pairs),
            HoldOut::Auto if within => Some(match problem.system.features.columns() {
                Some(columns) => {
                    let shape = TrainShape::new(&columns.classes, self.lambdas.count());
                    if affordable(problem.solver, &shape) {
                        HoldOut::Queries
                    } else {
                        folds()
                    }
                }
                None => HoldOut::Queries,
            }),
            HoldOut::Auto if factors && data.rows() <= LPO_ROWS => Some(HoldOut::Pairs),
            HoldOut::Auto => Some(folds()),
            HoldOut::Queries if self.objective == Objective::Pairs => {
                return Err(Error::options(
                    "objective pairs has no hold-outs by lqo: expected lpo, every preference on its own, or folds of preferences",
                ));
            }
            HoldOut::Data { .. } => {
                return Err(Error::options(
                    "RankRLS is judged by rows of its own data: expected lqo, lpo, folds, auto or none",
                ));
            }
            asked => Some(asked.clone()),
        })
    }

    /// The held-out groups of rows or, under preferences, of `units`. `None` for pairs, for nothing, and if the
    /// solver decides.
    fn groups(&self, holdout: &HoldOut, units: &Queries) -> Result<Option<Groups>> {
        let preferences = self.objective == Objective::Pairs;
        let groups = match holdout {
            HoldOut::Pairs if preferences => Some(Groups::queries(units.len())),
            HoldOut::Folds { count, seed } if preferences => {
                let count_of = units.len();
                Some(Groups::folds_of("preferences", count_of, *count, *seed)?)
            }
            _ => holdout.groups(units)?,
        };
        // Groups of rows, as the rows of one query may stand for all.
        groups.map(|whole| whole.rows(units)).transpose()
    }
}

/// Whether leave-query-out takes seconds, as with solvers that factor.
fn affordable(solver: Solver, shape: &TrainShape) -> bool {
    // A hundred iterations for each group and ridge parameter, in lanes.
    let seconds = 1e-7 * shape.nonzeros as f64 * (shape.lambdas * shape.queries) as f64;
    let few = shape.queries <= FEW_QUERIES || seconds <= Solver::PATIENCE;
    few || solver.factors()
}

/// All lambdas with a kernel whose problem is prepared.
struct Search<'p> {
    options: &'p RankRls,
    kernel: Kernel,
    reduced: Option<&'p ReducedSet>,
    problem: &'p RidgeProblem<'p>,
    /// The held-out groups.
    groups: Option<Groups>,
    /// Whether every pair is held out.
    pairs: bool,
}

impl Search<'_> {
    fn train(self, held_out: Option<HoldOut>) -> Result<Training> {
        let (options, problem) = (self.options, self.problem);
        let first = options.lambdas.lambdas(problem.unit);
        let mut search = LambdaSearch::new(&first, options.lambdas.is_open());
        let (mut cells, mut best, mut fit) = (Vec::<Cell>::new(), 0, None);
        let chosen = search.run(first, |_, lambdas| {
            let mut together = self.together(lambdas)?.into_iter();
            for &lambda in lambdas {
                let (cell, solution) = self.cell(lambda, together.next())?;
                let known = cells.get(best).map(|known| options.loss(known));
                if known.is_none_or(|known| options.loss(&cell) < known) {
                    fit = solution.map(|known| self.fit(&known));
                    best = cells.len();
                }
                cells.push(cell);
            }
            Ok::<_, Error>(cells[best].lambda)
        })?;
        let lambda = chosen.ok_or_else(no_choice)?;
        let fit = if let Some(known) = fit {
            known
        } else {
            // The hold-outs did not need the model of all rows.
            let solution = problem.train(lambda, 0)?;
            (cells[best].iterations, cells[best].residual) = solution.ended.unzip();
            self.fit(&solution)
        };
        if options.lambdas.is_open() {
            cells.sort_by(|a, b| a.lambda.total_cmp(b.lambda));
            best = cells.partition_point(|cell| cell.lambda.value() < lambda.value());
        }
        Ok(Training {
            cells,
            best,
            fit,
            solver: problem.solver,
            unit: problem.unit,
            held_out,
        })
    }

    /// The hold-outs of all `lambdas` at once, which is faster; none from solvers that factor.
    fn together(&self, lambdas: &[Lambda]) -> Result<Vec<Holdout>> {
        let problem = self.problem;
        match &self.groups {
            Some(groups) if !problem.solver.factors() => {
                problem.leave_out(lambdas, None, groups, HOLDOUT_TOLERANCE)
            }
            _ => Ok(Vec::new()),
        }
    }

    /// A lambda and the model of all rows, unless the `holdout` needs none.
    fn cell(
        &self,
        lambda: Lambda,
        mut holdout: Option<Holdout>,
    ) -> Result<(Cell, Option<Solution>)> {
        let (problem, mut trained) = (self.problem, None);
        if holdout.is_none() {
            let own = problem.train(lambda, 0)?;
            holdout = match &self.groups {
                Some(known) => problem
                    .leave_out(&[lambda], Some(&own), known, TOLERANCE)?
                    .pop(),
                None if self.pairs => {
                    let keep = self.options.keep_pairs;
                    Some(problem.leave_pair_out(lambda, &own, keep)?)
                }
                None => None,
            };
            trained = Some(own);
        }
        let ended = trained.as_ref().and_then(|own| own.ended);
        let (iterations, residual) = ended.unzip();
        let cell = Cell {
            kernel: self.kernel,
            lambda,
            condition: problem.condition(lambda),
            measure: holdout.as_ref().and_then(|found| self.measure(found)),
            holdout,
            iterations,
            residual,
        };
        Ok((cell, trained))
    }

    /// The measure to choose by.
    fn measure(&self, holdout: &Holdout) -> Option<f64> {
        let Measure::Of(metric) = self.options.measure else {
            return None;
        };
        match &self.groups {
            Some(known) if metric != Metric::CONCORDANCE => {
                self.problem.measure(holdout, known, metric)
            }
            _ => holdout.cindex,
        }
    }

    /// The model of columns, of a reduced set, or of all rows.
    fn fit(&self, solution: &Solution) -> Fit {
        let problem = self.problem;
        match self.reduced {
            Some(reduced) => Fit::Kernel(reduced.coefficients(&problem.weights(solution))),
            None if self.kernel.kind == KernelKind::Linear => {
                Fit::Linear(problem.weights(solution))
            }
            None => {
                // The coefficients of a query, or of rows that preferences connect, sum to 0.
                let coefficients = problem.system.of_data(&solution.coefficients);
                Fit::Kernel(coefficients.into_iter().enumerate().collect())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{IndexBase, sample};
    use crate::ridge::{Basis, Preference};

    #[test]
    fn rows_of_the_input_are_found_where_they_were_moved_to() {
        let sorted = sample::train();
        let rows = u32::try_from(sorted.rows()).unwrap();
        let data = sorted.with_input_rows((0..rows).rev().collect()).unwrap();
        let last = data.rows() - 1;
        let basis = Basis::Given(vec![0, 2]);
        assert_eq!(basis.rows(&data), Ok(vec![last, last - 2]));
        let params = RankRls {
            basis: Some(Basis::Given(vec![last + 1])),
            ..RankRls::default()
        };
        let error = params.train(&data, None).unwrap_err().to_string();
        let expected = format!("rows from 1 to {rows}, found {}", rows + 1);
        assert!(error.ends_with(&expected), "{error}");
        let preference = Preference {
            preferred: 1,
            other: 0,
            magnitude: 1.0,
            weight: 1.0,
        };
        let preferences = Preferences::new(vec![preference], &data).unwrap();
        let placed = preferences
            .list
            .iter()
            .map(|one| (one.preferred, one.other));
        assert!(placed.eq([(rows - 2, rows - 1)]));
        let folds: Vec<bool> = (0..rows).map(|row| row == 0).collect();
        let of_rows = Groups::of_folds(&folds, &data, None).unwrap();
        let alone = of_rows.iter().find(|group| group.len() == 1);
        assert_eq!(alone, Some(&[last][..]));
        // Preferences have no places.
        let refused = Groups::of_folds(&folds, &data, Some(preferences.len())).unwrap_err();
        let message = format!("folds, one for each preference: expected 1, found {rows}");
        assert_eq!(refused.to_string(), message);
    }

    #[test]
    fn what_would_take_long_is_held_out_in_folds() {
        let shape = TrainShape {
            nonzeros: 3_100_000,
            queries: 1_120,
            ..TrainShape::of_rows(&Queries::single(20_000).unwrap(), 3)
        };
        assert!(!affordable(Solver::ConjugateGradients, &shape));
        assert!(affordable(Solver::Dual, &shape));
    }

    #[test]
    fn folds_that_nobody_asked_for_are_drawn_by_the_seed() {
        let some: Vec<usize> = (0..20).collect();
        let data = crate::data::sample::train();
        let data = data.queries_subset(&some).unwrap();
        for seed in [1, 7] {
            let params = RankRls {
                objective: Objective::Global,
                solver: Some(Solver::ConjugateGradients),
                lambdas: "1,4".parse().unwrap(),
                seed,
                ..RankRls::default()
            };
            let training = params.train(&data, None).unwrap();
            let folds = HoldOut::Folds { count: 5, seed };
            assert_eq!(training.held_out, Some(folds));
        }
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
        for (rows_from, [row, column]) in [(IndexBase::One, [3, 4]), (IndexBase::Zero, [2, 3])] {
            let params = RankRls {
                kernels: vec![Kernel::PRECOMPUTED],
                rows_from,
                ..RankRls::default()
            };
            let error = params.train(&data, None).unwrap_err().to_string();
            let place = format!(
                "has 0.0 in row {row}, column {column} and 0.5 in row {column}, column {row}"
            );
            assert!(error.contains(&place), "{error}");
        }
    }
}
