//! How to train.

use super::{Shape, Solver, TrainError};
use crate::columns::QueryWeight;

/// How to train.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrainOptions {
    solver: Option<Solver>,
    pub(super) weight: QueryWeight,
    pub(super) lambdas: usize,
    max_memory: Option<u64>,
}

impl Default for TrainOptions {
    fn default() -> Self {
        Self {
            solver: None,
            weight: QueryWeight::default(),
            lambdas: 1,
            max_memory: None,
        }
    }
}

impl TrainOptions {
    /// Training by the fastest solver that fits into memory, with one ridge parameter, all
    /// queries weighted alike.
    pub fn new() -> Self {
        Self::default()
    }

    /// The solver. By default the cheaper of `dual` and `primal` if it takes no longer than
    /// [`Solver::PATIENCE`] and fits into memory, else conjugate gradients.
    #[must_use]
    pub fn solver(mut self, solver: Solver) -> Self {
        self.solver = Some(solver);
        self
    }

    /// What a query counts. The default is [`QueryWeight::Uniform`].
    #[must_use]
    pub fn weight(mut self, weight: QueryWeight) -> Self {
        self.weight = weight;
        self
    }

    /// How many ridge parameters are going to be asked for, 1 by default: for many, the system
    /// is decomposed once. Any number may be asked for whatever this says.
    #[must_use]
    pub fn lambdas(mut self, count: usize) -> Self {
        self.lambdas = count;
        self
    }

    /// Bytes that data, column classes and solver may take together. No limit by default.
    #[must_use]
    pub fn max_memory(mut self, bytes: u64) -> Self {
        self.max_memory = Some(bytes);
        self
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

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(rows: usize, classes: usize, nonzeros: usize) -> Shape {
        Shape {
            rows,
            largest_query: 20,
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
    fn many_lambdas_are_worth_a_decomposition() {
        let parses = shape(2_000, 15_000, 300_000);
        assert!(!parses.decomposes());
        let many = Shape {
            lambdas: 100,
            ..parses
        };
        assert!(many.decomposes());
        assert!(Solver::Dual.memory(&many) > Solver::Dual.memory(&parses));
        let one_by_one = 100.0 * Solver::Dual.cost(&parses);
        assert!(Solver::Dual.cost(&many) < one_by_one);
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
