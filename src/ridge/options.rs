//! How to train: the parameters of RankRLS, and the choice of a solver.

use std::num::Saturating;

use rankrls_files::{Parameter, Remedy};
use serde::{Deserialize, Serialize};

use super::comparisons::Preferences;
use super::kernel::{Basis, Kernel, KernelKind};
use super::shape::TrainShape;
use super::solvers::Solver;
use crate::columns::{ColumnClasses, QueryWeight, Scale};
use crate::data::{Dataset, HoldOut, IndexBase, LabelScale};
use crate::error::{Error, Result, ensure};
use crate::lambda::Lambdas;
use crate::memory::Memory;
use crate::metrics::Measure;
use crate::names::Objective;

/// RankRLS: a linear model over all features that vary within a query, or a kernel model over rows. Of several
/// lambdas and kernels it keeps the one with the best predictions of held-out rows.
///
/// Its JSON has the settings that reports show: objective, solver, weights and scales. The memory is read, but not
/// written.
///
/// ```
/// use rankrls::data::sample;
/// use rankrls::ridge::{Kernel, Preference, Preferences};
/// use rankrls::{Lambda, Objective, RankRls};
///
/// let data = sample::train();
/// let params = RankRls { lambdas: Lambda::new(16.0)?.into(), ..RankRls::default() };
/// let model = params.fit(&data)?;
/// assert_eq!(model.scores(&data).len(), data.rows());
/// let held_out = params.train(&data, None)?.best().holdout.clone().expect("lqo");
/// assert_eq!(held_out.predictions.len(), data.rows());
/// assert!(held_out.cindex > Some(0.5));
///
/// let gaussian = RankRls {
///     kernels: vec![Kernel::gaussian(0.01)?],
///     holdout: "lpo".parse()?,
///     ..RankRls::default()
/// };
/// assert_eq!(gaussian.fit(&data)?.scores(&data).len(), data.rows());
///
/// // All pairs of examples, whatever their queries, and given pairs.
/// let global = RankRls { objective: Objective::Global, ..params.clone() };
/// assert!(global.train(&data, None)?.best().holdout.as_ref().unwrap().cindex > Some(0.5));
/// let first = |other| Preference { preferred: 0, other, magnitude: 1.0, weight: 1.0 };
/// let preferences = Preferences::new((1..5).map(first).collect(), &data)?;
/// let pairs = RankRls {
///     objective: Objective::Pairs,
///     preferences: Some(preferences),
///     ..RankRls::default()
/// };
/// let scores = pairs.fit(&data)?.scores(&data);
/// assert!((1..5).all(|other| scores[0] > scores[other]));
/// # Ok::<(), rankrls::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RankRls {
    /// Ridge parameters, as shares of the unit of each kernel or as numbers. Their number counts in the choice of a
    /// solver by time.
    #[serde(skip)]
    pub lambdas: Lambdas,
    /// Kernels; [`Kernel::LINEAR`] alone for weights of the columns.
    #[serde(skip)]
    pub kernels: Vec<Kernel>,
    /// The rows of a reduced set, over which the model is; `None`: all rows.
    #[serde(skip)]
    pub basis: Option<Basis>,
    /// The hold-out.
    #[serde(skip)]
    pub holdout: HoldOut,
    /// Seed of the folds that [`HoldOut::Auto`] draws; [`HoldOut::Folds`] has its own.
    #[serde(skip)]
    pub seed: u64,
    /// Whether leave-pair-out keeps its predictions.
    #[serde(skip)]
    pub keep_pairs: bool,
    /// The measure by which hold-out predictions choose the best model.
    #[serde(skip)]
    pub measure: Measure,
    /// The pairs of examples to order, under [`Objective::Pairs`]: labels are unused.
    #[serde(skip)]
    pub preferences: Option<Preferences>,
    /// The pairs to order.
    #[serde(skip_serializing_if = "Objective::is_query")]
    pub objective: Objective,
    /// The solver; `None`: the cheaper of `dual` and `primal` if it takes no longer than 20 seconds and fits into
    /// memory, else conjugate gradients.
    pub solver: Option<Solver>,
    /// The weight of a query.
    pub query_weight: QueryWeight,
    /// The scale of the labels; `None`: raw, unless [`choose`](Self::choose) chooses it.
    #[serde(skip_serializing_if = "is_usual")]
    pub label_scale: Option<LabelScale>,
    /// The divisors of columns; `None`: none, unless [`choose`](Self::choose) chooses them. Given column classes
    /// have a scale of their own.
    #[serde(skip_serializing_if = "is_usual")]
    pub scale: Option<Scale>,
    /// The number of the first row in messages: 1 in files, 0 in arrays.
    #[serde(skip)]
    pub rows_from: IndexBase,
    /// Bytes that data, column classes and solver may take together, and the bytes in use by others.
    #[serde(rename = "max_memory", skip_serializing)]
    pub memory: Memory,
}

impl Default for RankRls {
    /// Linear models of all rows with lambdas of [`Lambdas::Auto`], judged by the squared error, all queries
    /// weighted alike, without a memory limit.
    fn default() -> Self {
        Self {
            lambdas: Lambdas::Auto,
            kernels: vec![Kernel::LINEAR],
            basis: None,
            holdout: HoldOut::Auto,
            seed: 1,
            keep_pairs: false,
            measure: Measure::Squared,
            preferences: None,
            objective: Objective::Query,
            solver: None,
            query_weight: QueryWeight::Uniform,
            label_scale: None,
            scale: None,
            rows_from: IndexBase::One,
            memory: Memory::default(),
        }
    }
}

/// Whether a setting has its default, which reports leave out.
#[expect(clippy::ref_option, reason = "serde asks so")]
fn is_usual<T: Default + PartialEq>(setting: &Option<T>) -> bool {
    setting.as_ref().is_none_or(|own| *own == T::default())
}

/// The error for several models without anything to choose by.
pub(super) fn no_choice() -> Error {
    Error::options(format!(
        "{} cannot tell which of several models is best: expected a single one, or a hold-out scheme",
        Remedy::Set(Parameter::Holdout, "none")
    ))
}

impl RankRls {
    /// Refuses settings that contradict each other, whatever the data. A front end asks before it reads the data.
    /// `reduced` and `preferred` say whether a basis and preferences, which are rows of the data, will follow.
    /// [`train`](Self::train) asks again.
    pub fn check(&self, reduced: bool, preferred: bool) -> Result<()> {
        let pairs = self.objective == Objective::Pairs;
        let linear = self.kernels.iter().all(Kernel::is_linear);
        let others = self.solver.is_some_and(|own| own != Solver::OF_KERNELS);
        if self.holdout == HoldOut::Nothing && self.models() > 1 {
            return Err(no_choice());
        }
        ensure!(
            pairs == preferred,
            options,
            "{} and {} go together",
            Remedy::Set(Parameter::Objective, "pairs"),
            Parameter::Preferences
        );
        ensure!(
            self.query_weight == QueryWeight::Uniform || self.objective.is_query(),
            options,
            "{} goes with {}",
            Parameter::QueryWeight,
            Remedy::Set(Parameter::Objective, "query")
        );
        ensure!(
            !pairs || self.scale_of_labels().is_raw(),
            options,
            "{} has nothing to scale: the pairs are learnt from",
            Parameter::LabelScale
        );
        ensure!(
            self.column_scale().is_none() || (linear && !reduced),
            options,
            "{} goes with {}, without {}",
            Parameter::Scale,
            Remedy::Set(Parameter::Kernel, "linear"),
            Parameter::Basis
        );
        ensure!(
            !others || linear || reduced,
            options,
            "a kernel has the solver dual; with {} it has the others, too",
            Parameter::Basis
        );
        Ok(())
    }

    /// The divisor of columns.
    pub fn column_scale(&self) -> Scale {
        self.scale.unwrap_or_default()
    }

    /// Whether somebody wants columns of a linear model in their own units: the scale `none`, or no scale with
    /// given ridge parameters.
    pub fn keeps_units(&self) -> bool {
        let is_linear = self.kernels.iter().all(Kernel::is_linear);
        let kept = self
            .scale
            .map_or(!self.lambdas.is_open(), |scale| scale.is_none());
        is_linear && kept
    }

    /// The scale of the labels.
    pub fn scale_of_labels(&self) -> LabelScale {
        self.label_scale.unwrap_or_default()
    }

    /// The number of models to choose from at first.
    pub(crate) fn models(&self) -> usize {
        self.lambdas.count() * self.kernels.len()
    }

    /// The classes of the columns of `data` that the objective tells apart. Refuses them if they and the data
    /// exceed the memory.
    pub fn column_classes(&self, data: &Dataset<'_>) -> Result<ColumnClasses> {
        let weight = QueryWeight::Uniform;
        if self.objective.is_within_queries() {
            return ColumnClasses::within(data, weight, self.column_scale(), self.memory);
        }
        ColumnClasses::within(
            &data.as_one_query(),
            weight,
            self.column_scale(),
            self.memory,
        )
    }

    /// Refuses kernel values that do not fit, before they take the memory. Hold-outs will leave out up to `largest`
    /// rows at once.
    pub(super) fn check_kernel(
        &self,
        data: &Dataset<'_>,
        kind: KernelKind,
        basis: Option<&[usize]>,
        memory: Memory,
        largest: usize,
    ) -> Result<()> {
        let taken = match basis {
            None if kind == KernelKind::Linear => return Ok(()),
            None => {
                let rows = TrainShape::of_rows(data.queries(), self.lambdas.count());
                // The system has a row for each preference.
                let system = match &self.preferences {
                    Some(list) => rows.of_preferences(list.len()),
                    None => rows,
                };
                kernel_memory(data.rows(), &system.with_groups(largest))
            }
            Some(rows) => basis_memory(data.rows(), rows.len(), kind),
        };
        let memory = memory.holding(data.memory());
        let fits = |size: usize| memory.allows(basis_memory(data.rows(), size, kind));
        let remedy = match largest_of(data.rows(), fits) {
            0 => "allow more memory".to_owned(),
            most => format!("a reduced set fits, with a basis of {most} at most"),
        };
        memory.require("the kernel needs", taken, remedy).map(drop)
    }
}

/// The solver for a problem of this shape: the one `asked` for, or the cheapest by [`Solver::cost`] that fits into
/// the `memory`. Data and column classes are held already.
pub(super) fn choose(asked: Option<Solver>, shape: &TrainShape, memory: Memory) -> Result<Solver> {
    let legal = |solver: &Solver| asked.is_none_or(|named| named == *solver);
    let fits = |solver: &Solver| memory.allows(solver.memory(shape));
    let fitting = Solver::ALL.into_iter().filter(fits);
    let best = cheapest(fitting.clone().filter(legal), shape, Solver::PATIENCE);
    best.ok_or_else(|| {
        let least = Solver::ALL.into_iter().filter(legal);
        let least = least.map(|solver| solver.memory(shape)).min();
        let names: Vec<&str> = fitting.map(Solver::name).collect();
        let what = match asked {
            Some(solver) => format!("solver {solver} needs"),
            None => "every solver needs".to_owned(),
        };
        let remedy = match &names[..] {
            [] => "no solver fits: allow more memory".to_owned(),
            names => format!("these fit: {}", names.join(", ")),
        };
        memory.refusal(what, least.unwrap_or(0), remedy)
    })
}

/// The cheapest of `solvers` by [`Solver::cost`]. Conjugate gradients rank behind a solver that factors within so many
/// seconds of `patience`, and before one that takes longer.
pub(crate) fn cheapest(
    solvers: impl Iterator<Item = Solver>,
    shape: &TrainShape,
    patience: f64,
) -> Option<Solver> {
    let rank = |solver: &Solver| {
        if solver.factors() {
            solver.cost(shape)
        } else {
            patience
        }
    };
    solvers.min_by(|a, b| rank(a).total_cmp(&rank(b)))
}

/// Bytes of the values of a kernel for all pairs of so many `rows`, and of the solver of a `system`.
fn kernel_memory(rows: usize, system: &TrainShape) -> u64 {
    let rows = Saturating(rows as u64);
    (Saturating(8) * rows * rows + Saturating(Solver::OF_KERNELS.memory(system))).0
}

/// Bytes of the values and columns of a basis, as in the primal solver, and of its systems. The check of a given
/// kernel first needs all its values, and a copy to find their eigenvalues in.
fn basis_memory(rows: usize, basis: usize, kind: KernelKind) -> u64 {
    let (rows, basis) = (Saturating(rows as u64), Saturating(basis as u64));
    let given = match kind {
        KernelKind::Precomputed => Saturating(24) * rows * rows,
        _ => Saturating(0),
    };
    (given + basis * (Saturating(40) * rows + Saturating(24) * basis)).0
}

/// The largest number up to `most` that `fits`, if all smaller ones do; 0 if none does.
fn largest_of(most: usize, fits: impl Fn(usize) -> bool) -> usize {
    let (mut least, mut beyond) = (0, most.saturating_add(1));
    while beyond - least > 1 {
        let middle = least + (beyond - least) / 2;
        if fits(middle) {
            least = middle;
        } else {
            beyond = middle;
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::shape::tests::shape;
    use super::*;

    /// Bytes that 64 bits cannot count.
    fn exact(solver: Solver, shape: &TrainShape) -> u128 {
        let size = |size: usize| size as u128;
        let (rows, classes) = (size(shape.rows), size(shape.classes));
        // Other solvers have vectors at least.
        let squares = [(Solver::Dual, rows), (Solver::Primal, classes)];
        let square = squares.into_iter().find(|(own, _)| *own == solver);
        let matrices = square.map_or(8 * rows, |(_, unknowns)| 16 * unknowns * unknowns);
        matrices + 12 * size(shape.nonzeros)
    }

    proptest! {
        /// For any size up to the most rows and columns of data, more never takes less, and nothing wraps.
        #[test]
        fn memory_grows_with_every_size(
            sizes in prop::array::uniform5(0usize..=u32::MAX as usize),
            more in prop::array::uniform5(0usize..=u32::MAX as usize),
            threads in 1usize..1000,
        ) {
            let of = |[rows, classes, nonzeros, largest_query, largest_group]: [usize; 5]| TrainShape {
                largest_query,
                largest_group,
                threads,
                ..shape(rows, classes, nonzeros.saturating_mul(1 << 20))
            };
            let larger = std::array::from_fn(|at| sizes[at].max(more[at]));
            for solver in Solver::ALL {
                let found = solver.memory(&of(sizes));
                let least = exact(solver, &of(sizes)).min(u128::from(u64::MAX / 10));
                prop_assert!(u128::from(found) >= least, "{solver}: {found} for {least}");
                prop_assert!(solver.memory(&of(larger)) >= found, "{solver}");
            }
            let [rows, basis, ..] = sizes;
            let kernel = kernel_memory(rows, &of(sizes));
            prop_assert!(kernel_memory(larger[0], &of(larger)) >= kernel);
            for kind in KernelKind::ALL {
                let found = basis_memory(rows, basis, kind);
                prop_assert!(basis_memory(larger[0], larger[1], kind) >= found);
                let cells = (28 * rows as u128 * basis as u128).min(u128::from(u64::MAX));
                prop_assert!(u128::from(found) >= cells);
            }
        }
    }

    #[test]
    fn the_largest_basis_that_fits_is_found() {
        for most in [0, 1, 2, 7, 100, u32::MAX as usize] {
            for fitting in [0, 1, 3, 99, 100, 1 << 31] {
                assert_eq!(largest_of(most, |size| size <= fitting), most.min(fitting));
            }
        }
    }

    fn chosen(memory: Memory, shape: &TrainShape) -> Solver {
        choose(None, shape, memory.holding(1000)).unwrap()
    }

    #[test]
    fn the_smaller_side_is_factored_if_it_is_small_enough() {
        let memory = Memory::default();
        let letor = shape(9_000, 46, 400_000);
        assert_eq!(chosen(memory, &letor), Solver::Primal);
        let parses = shape(2_000, 15_000, 300_000);
        assert_eq!(chosen(memory, &parses), Solver::Dual);
        let many = shape(20_000, 150_000, 3_000_000);
        assert_eq!(chosen(memory, &many), Solver::ConjugateGradients);
        let little = Memory::limit(16 << 20);
        assert_eq!(chosen(little, &parses), Solver::ConjugateGradients);
    }

    #[test]
    fn what_does_not_fit_is_refused_with_what_does() {
        let parses = shape(2_000, 15_000, 300_000);
        let error = choose(Some(Solver::Dual), &parses, Memory::limit(16 << 20));
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("solver dual needs "), "{error}");
        assert!(error.ends_with("these fit: cg"), "{error}");
        let error = choose(None, &parses, Memory::limit(1000));
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("every solver needs "), "{error}");
        assert!(error.contains("no solver fits"), "{error}");
    }
}
