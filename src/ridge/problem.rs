//! A problem, prepared once for any number of ridge parameters.

use std::borrow::Cow;

use super::comparisons::{Centred, Comparisons, Differences, Labelled, no_preferences};
use super::features::Features;
use super::options::{RankRls, choose};
use super::shape::TrainShape;
use super::solvers::{Solution, Solve, Solver, singular};
use super::system::{System, too_large};
use crate::columns::{ColumnClasses, QueryWeight, none_compares, none_varies};
use crate::data::Dataset;
use crate::error::{Error, Result, ensure};
use crate::lambda::Lambda;
use crate::linalg::factor::Square;
use crate::memory::Memory;
use crate::names::Objective;
use crate::stop;

/// RankRLS on a data set, ready for ridge parameters: `min_w |y^ - X^ w|^2 + lambda |w|^2` for the centred,
/// weighted `X^` and `y^` of `docs/derivation.md`, section 12 (Pahikkala et al., 2009).
///
/// Columns that are constant within every query have weight 0 whatever the labels, so they are left out. Columns
/// equal up to a constant in each query and up to sign are one unknown.
#[derive(Debug)]
pub(crate) struct RidgeProblem<'a> {
    pub(super) system: System<'a>,
    /// The unit of ridge parameters, in squared units of the values: the mean diagonal of `K`, the centred,
    /// weighted kernel matrix. Without weights it is [`ColumnClasses::unit`] for known columns. Under preferences
    /// it is the unit of centred rows times the mean degree of a row: the total weight of its preferences.
    pub(super) unit: f64,
    pub(super) solver: Solver,
    pub(super) solve: Box<dyn Solve>,
}

/// Refuses data without any two rows to compare.
fn check_rows(dataset: &Dataset<'_>) -> Result<()> {
    let queries = dataset.queries();
    if queries.largest() < 2 {
        let cause = none_compares(queries.len());
        return Err(Error::data(format!("nothing to train on: {cause}")));
    }
    Ok(())
}

/// The comparisons of rows within queries, or of preferences among all rows, with their labels.
fn labelled<'a>(dataset: &'a Dataset<'_>, options: &RankRls) -> Result<Labelled<'a>> {
    match (&options.preferences, options.objective) {
        (Some(preferences), _) => Differences::labelled(preferences, dataset),
        (None, Objective::Pairs) => Err(no_preferences()),
        (None, objective) => Centred::labelled(
            dataset,
            objective,
            options.query_weight,
            options.scale_of_labels(),
        ),
    }
}

impl<'a> RidgeProblem<'a> {
    /// Prepares `dataset`, `m` rows of `n` columns: finds the `c` column classes, unless they are `known` with a
    /// scale of their own, and chooses the solver. With `p` [`RankRls::preferences`], labels are unused, and the
    /// system has a row for each preference, so `dual` forms `p` x `p` numbers (Pahikkala et al., 2009;
    /// `docs/derivation.md`, section 15). Hold-outs will leave out up to `largest` rows at once. The `memory`
    /// replaces the options' own.
    ///
    /// Classes take `O(nnz + n log n)` time. `dual` then forms `K = X^ X^'`, `m` x `m`, and `primal` forms
    /// `C = X^' X^`, `c` x `c`; [`Solver::memory`] has the bytes and [`Solver::cost`] the seconds.
    pub(crate) fn of_columns(
        dataset: &'a Dataset<'a>,
        known: Option<&'a ColumnClasses>,
        options: &RankRls,
        memory: Memory,
        largest: usize,
    ) -> Result<Self> {
        let uniform = QueryWeight::Uniform;
        let find = || ColumnClasses::within(dataset, uniform, options.column_scale(), memory);
        let classes = match known {
            Some(classes) => Cow::Borrowed(classes),
            None => Cow::Owned(find()?),
        };
        let weight = classes.query_weight();
        ensure!(
            weight == QueryWeight::Uniform,
            options,
            "the column classes have queries weighted by {weight}: expected those of RankRls::column_classes, as \
             training weights queries itself"
        );
        ensure!(
            classes.peers().count() == 1,
            options,
            "the column classes are those of one of several ranks: expected all, as ranks do not train"
        );
        // Preferences compare rows of one query.
        check_rows(dataset)?;
        if classes.is_empty() {
            let cause = none_varies(dataset.width());
            return Err(Error::data(format!("nothing to train on: {cause}")));
        }
        let held = dataset.memory().saturating_add(classes.memory());
        let comparisons = labelled(dataset, options)?;
        let shape = TrainShape::new(&classes, options.lambdas.count());
        let shape = comparisons.rows.shape(shape).with_groups(largest);
        let solver = choose(options.solver, &shape, memory.holding(held))?;
        let features = Features::of_classes(classes);
        Self::prepare(comparisons, features, solver)
    }

    /// RankRLS under a `kernel` with known values for all pairs of the `m` rows of `dataset`, `m` x `m`, by
    /// [`Solver::Dual`]. The rest is as for [`of_columns`](Self::of_columns).
    ///
    /// The values are centred, and scaled by the weights of queries, in `O(m^2)` time.
    pub(crate) fn of_kernel(
        dataset: &'a Dataset<'a>,
        kernel: Square,
        options: &RankRls,
        memory: Memory,
        largest: usize,
    ) -> Result<Self> {
        let queries = dataset.queries();
        check_rows(dataset)?;
        let values = size_of_val(kernel.values()) as u64;
        let held = dataset.memory().saturating_add(values);
        let comparisons = labelled(dataset, options)?;
        let shape = TrainShape::of_rows(queries, options.lambdas.count());
        let shape = comparisons.rows.shape(shape).with_groups(largest);
        let solver = choose(Some(Solver::OF_KERNELS), &shape, memory.holding(held))?;
        Self::prepare(comparisons, Features::Kernel(kernel), solver)
    }

    /// The problem of column classes, weighted as they are, and of `labels` that are centred and weighted alike.
    pub(crate) fn of_classes(
        candidates: &'a ColumnClasses,
        labels: &'a [f64],
        solver: Solver,
    ) -> Result<Self> {
        let rows = Centred::new(candidates.queries(), QueryWeight::Uniform);
        let comparisons = Labelled {
            rows: Comparisons::Queries(rows),
            as_given: labels.into(),
            labels: labels.to_vec(),
        };
        let features = Features::of_classes(Cow::Borrowed(candidates));
        Self::prepare(comparisons, features, solver)
    }

    fn prepare(comparisons: Labelled<'a>, features: Features<'a>, solver: Solver) -> Result<Self> {
        let system = System::new(comparisons, features)?;
        let solve = solver.build(&system);
        stop::check()?;
        Ok(Self {
            unit: system.rows.unit(&system.features, system.mean_diagonal),
            solver,
            solve,
            system,
        })
    }

    /// A bound on how much `lambda` lets rounding errors grow, from 1 on: `1 + trace(K) / ridge`, at least the
    /// condition number of the system. `ridge` is `lambda`, and `lambda / m` under the global objective.
    pub(super) fn condition(&self, lambda: Lambda) -> f64 {
        let System {
            labels,
            mean_diagonal,
            ..
        } = &self.system;
        let ridge = self.system.ridge(lambda, 0).unwrap_or(lambda.value());
        1.0 + mean_diagonal * labels.len() as f64 / ridge
    }

    /// The model with the ridge parameter of the system without `out` of the rows. This takes `m^3 / 3` operations
    /// for `dual`, `c^3 / 3` for `primal`, two for each entry in each iteration of `cg`.
    pub(super) fn train(&self, lambda: Lambda, out: usize) -> Result<Solution> {
        let ridge = self.system.ridge(lambda, out)?;
        let trained = self.solve.train(&self.system, ridge);
        stop::check()?;
        let solution = trained.ok_or_else(|| singular(lambda))?;
        if !solution.totals.iter().all(|total| total.is_finite()) {
            return Err(too_large());
        }
        Ok(solution)
    }

    /// Features, ascending, each with its weight, in units of the labels over those of the columns: the `w` that
    /// minimises `|y^ - X^ w|^2 + lambda |w|^2`. The weights of other features are 0. Features with columns equal
    /// up to a constant in each query and up to sign have the same weight up to sign, to the last bit. A kernel has
    /// no weights.
    ///
    /// `O(nnz)` time.
    pub(super) fn weights(&self, solution: &Solution) -> Vec<(u32, f64)> {
        let Some(columns) = self.system.features.columns() else {
            return Vec::new();
        };
        let classes = (0..).zip(&solution.totals);
        let members = classes.flat_map(|(class, total)| {
            let features = columns.classes.class(class);
            // A class has the sign of its canonical column.
            let weight = total / features.len() as f64 / columns.classes.divisor(class);
            let sign = move |feature| f64::from(columns.classes.sign(class, feature));
            features
                .iter()
                .map(move |&feature| (feature, sign(feature) * weight))
        });
        let summary = columns.classes.summary();
        let varying = summary.columns - summary.constant_columns;
        let mut weights: Vec<(u32, f64)> = Vec::with_capacity(varying);
        weights.extend(members);
        weights.sort_unstable_by_key(|&(feature, _)| feature);
        weights
    }
}
