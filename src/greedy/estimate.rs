//! What every strategy would take, before one starts.

use crate::columns::ColumnClasses;
use crate::greedy::SelectionOptions;
use crate::greedy::{Shape, StrategyKind};

/// What a strategy would take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Estimate {
    /// The strategy.
    pub strategy: StrategyKind,
    /// Bytes it would allocate on top of data and candidates.
    pub memory: u64,
    /// Bytes with the data and the candidates.
    pub total: u64,
    /// Whether every step would take the candidate with the least leave-query-out error of all.
    pub exact: bool,
    /// Whether `total` is within the memory allowed.
    pub fits: bool,
    /// Whether it can do what is asked: not every strategy works on a random subset, or judges
    /// by a ranking measure.
    pub able: bool,
}

/// What each strategy would take for the selection that `options` describe, whatever strategy
/// they ask for. `held` bytes are in use besides the candidates.
pub fn estimates(
    candidates: &ColumnClasses,
    held: u64,
    options: &SelectionOptions,
) -> Vec<Estimate> {
    let sample = options.sample_size();
    let shape = Shape::new(candidates, options.features(), options.ridge(), sample);
    let base = held + candidates.memory();
    let limit = options.memory_limit().unwrap_or(u64::MAX);
    let estimate = |strategy: StrategyKind| {
        let memory = strategy.memory(&shape);
        let total = base.saturating_add(memory);
        Estimate {
            strategy,
            memory,
            total,
            exact: strategy.is_exact() && sample.is_none(),
            fits: total <= limit,
            able: options.suits(strategy),
        }
    };
    StrategyKind::ALL.into_iter().map(estimate).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::read::ReadOptions;
    use crate::greedy::plan;
    use crate::{Dataset, Lambda};

    fn data() -> Dataset<'static> {
        let text = "1 qid:1 1:1 2:3\n0 qid:1 2:1\n2 qid:2 3:1\n0 qid:2 1:4\n";
        let loaded = ReadOptions::new().read_from(text.as_bytes(), "f");
        loaded.unwrap().dataset
    }

    #[test]
    fn estimates_are_what_plans_say() {
        let data = data();
        let candidates = ColumnClasses::new(&data);
        let options = SelectionOptions::new(2, Lambda::new(1.0).unwrap());
        let held = data.memory();
        for estimate in estimates(&candidates, held, &options) {
            let asked = options.strategy(estimate.strategy);
            assert!(estimate.fits && estimate.able);
            let plan = plan(&candidates, held, &asked).unwrap();
            assert_eq!(plan.memory, estimate.memory);
            assert!(plan_fits(&candidates, held, &asked, estimate.total));
            assert!(!plan_fits(&candidates, held, &asked, estimate.total - 1));
        }
    }

    fn plan_fits(
        candidates: &ColumnClasses,
        held: u64,
        options: &SelectionOptions,
        limit: u64,
    ) -> bool {
        plan(candidates, held, &options.max_memory(limit)).is_ok()
    }

    #[test]
    fn a_random_subset_is_not_exact_and_not_for_all() {
        let data = data();
        let candidates = ColumnClasses::new(&data);
        let options = SelectionOptions::new(2, Lambda::new(1.0).unwrap()).sample(1);
        let found = estimates(&candidates, 0, &options);
        assert!(found.iter().all(|estimate| !estimate.exact));
        let dense = found.iter().find(|e| e.strategy == StrategyKind::Dense);
        assert!(!dense.unwrap().able);
    }
}
