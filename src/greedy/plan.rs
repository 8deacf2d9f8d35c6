//! The strategy, its memory, and whether it fits.

use serde::Serialize;

use super::checks::{Idle, no_effect};
use super::target::teacher_search;
use super::{GreedyRankRls, Own, Shape, StrategyKind, own_name};
use crate::columns::ColumnClasses;
use crate::data::{Dataset, Feature};
use crate::error::Result;
use crate::lambda::Lambdas;
use crate::ridge::{Solver, TrainShape, cheapest};

/// Seconds, by [`Solver::cost`], above which folds replace leaving out each query.
const PATIENCE: f64 = 2.0;

/// The solver of a teacher for `lambdas` lambdas within `available` bytes, and its bytes besides data and
/// candidates. If none fits, one that takes more. `dual` and `primal` leave out each query, `cg` a fold of queries.
fn teacher(candidates: &ColumnClasses, lambdas: usize, available: u64) -> (Solver, u64) {
    let shape = TrainShape::new(candidates, lambdas);
    let fits = |solver: &Solver| !solver.factors() || solver.memory(&shape) <= available;
    let found = cheapest(Solver::ALL.into_iter().filter(fits), &shape, PATIENCE);
    let solver = found.unwrap_or(Solver::ConjugateGradients);
    (solver, solver.memory(&shape))
}

/// The plan of a selection.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The options with every choice made about strategy, labels and teacher. A caller's own strategy leaves
    /// `auto`. The memory counts data and candidates as held.
    pub options: GreedyRankRls,
    /// Steps to take: `k`, or the number of candidates if there are fewer.
    pub steps: usize,
    /// The included columns, 0-based, in this order.
    pub included: Vec<Feature>,
    /// The solver that trains the teacher. `None` without a teacher, or if the data have its scores.
    pub teacher: Option<Solver>,
    /// Bytes that strategy or teacher will take besides data and candidates, whichever is more: the teacher is done
    /// when the selection starts.
    pub memory: u64,
    /// Bytes allowed besides these, for one factor a query if the data turn out to need it.
    pub spare: u64,
}

impl Plan {
    /// The name of the strategy.
    pub(crate) fn strategy_name(&self) -> &'static str {
        own_name(self.options.strategy)
    }
}

/// The memory that a strategy would take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// The strategy.
    pub strategy: StrategyKind,
    /// Bytes that it would allocate on top of data and candidates.
    #[serde(rename = "bytes")]
    pub memory: u64,
    /// Bytes with the data and the candidates.
    #[serde(rename = "total_bytes")]
    pub total: u64,
    /// Whether every step would take the candidate with the least leave-query-out error of all.
    pub exact: bool,
    /// Whether `total` is within the memory allowed.
    pub fits: bool,
    /// Whether it can do the requested selection: not every strategy samples or judges by a ranking measure.
    pub able: bool,
}

/// The memory that each strategy would take for the selection in `options`, whatever strategy they name.
pub fn estimates(
    candidates: &ColumnClasses,
    data: &Dataset<'_>,
    options: &GreedyRankRls,
) -> Vec<Estimate> {
    let shape = Shape::new(candidates, options.k, options.sample);
    let options = holding(candidates, data, options);
    estimates_of(&shape, candidates, data, &options)
}

/// The options with data and candidates as held memory, as all ranks agree.
fn holding(
    candidates: &ColumnClasses,
    data: &Dataset<'_>,
    options: &GreedyRankRls,
) -> GreedyRankRls {
    let memory = options.memory.holding(data.memory());
    let memory = memory.holding(candidates.memory());
    GreedyRankRls {
        memory: candidates.peers().agreed(memory),
        ..options.clone()
    }
}

/// The options under `strategy`, with its labels and teacher, and the teacher's solver with its bytes. Nothing is
/// trained if `data` have the scores of a teacher. Ranks train none.
fn settled(
    strategy: StrategyKind,
    candidates: &ColumnClasses,
    data: &Dataset<'_>,
    options: &GreedyRankRls,
) -> (GreedyRankRls, Option<(Solver, u64)>) {
    let options = GreedyRankRls {
        strategy,
        ..options.clone()
    };
    let options = options.settled(candidates);
    let available = options.memory.left().unwrap_or(u64::MAX);
    let taught = |lambdas: &Lambdas| {
        let count = teacher_search(lambdas, candidates.unit()).tried().len();
        teacher(candidates, count, available)
    };
    let trains = data.teacher().is_none() && candidates.peers().count() == 1;
    let lambdas = options.teacher_lambda.as_ref().filter(|_| trains);
    let taught = lambdas.map(taught);
    (options, taught)
}

/// The memory that each strategy would take for a selection of this `shape`, with data and candidates as held
/// memory.
fn estimates_of(
    shape: &Shape,
    candidates: &ColumnClasses,
    data: &Dataset<'_>,
    options: &GreedyRankRls,
) -> Vec<Estimate> {
    let estimate = |strategy: StrategyKind| {
        let (_, teacher) = settled(strategy, candidates, data, options);
        let bytes = strategy.memory(shape);
        let bytes = teacher.map_or(bytes, |(_, memory)| memory.max(bytes));
        Estimate {
            strategy,
            memory: bytes,
            total: options.memory.holding(bytes).held,
            exact: strategy.is_exact() && options.sample.is_none(),
            fits: options.memory.allows(bytes),
            able: options.suits(strategy),
        }
    };
    StrategyKind::ALL.into_iter().map(estimate).collect()
}

/// The requested strategy, or the fastest exact one, if it fits.
fn choose(estimates: &[Estimate], shape: &Shape, options: &GreedyRankRls) -> Result<Estimate> {
    // Acceptable strategies: the requested one, or any exact one.
    let asked = estimates.iter().filter(|found| match options.strategy {
        StrategyKind::Auto => found.able && found.strategy.is_exact(),
        strategy => found.strategy == strategy,
    });
    let cost = |found: &&Estimate| found.strategy.cost(shape);
    let fitting = asked.clone().filter(|found| found.fits);
    let fastest = fitting.min_by(|a, b| cost(a).total_cmp(&cost(b)));
    fastest.copied().ok_or_else(|| {
        // Strategies to suggest instead, without baselines.
        let others = estimates.iter().filter(|found| found.fits && found.able);
        let others = others.map(|found| found.strategy);
        let others = others.filter(|kind| !kind.is_baseline());
        let names: Vec<&str> = others.map(StrategyKind::name).collect();
        let remedy = match &names[..] {
            [] => "no strategy fits: allow more memory".to_owned(),
            names => format!("these fit: {}", names.join(", ")),
        };
        let what = match options.strategy {
            StrategyKind::Auto => "every exact strategy".to_owned(),
            strategy => format!("strategy {strategy}"),
        };
        let least = asked.map(|found| found.memory).min().unwrap_or(0);
        let what = format_args!("{what} needs");
        options.memory.refusal(what, least, remedy)
    })
}

/// Chooses the strategy, and checks that it can do the selection in the allowed memory.
pub fn plan(
    candidates: &ColumnClasses,
    data: &Dataset<'_>,
    options: &GreedyRankRls,
) -> Result<Plan> {
    plan_with(candidates, data, options, None)
}

/// Plans a selection like [`plan`], by the caller's `own` strategy if there is one.
pub(crate) fn plan_with(
    candidates: &ColumnClasses,
    data: &Dataset<'_>,
    options: &GreedyRankRls,
    own: Option<&Own<'_>>,
) -> Result<Plan> {
    options.check_for(candidates, data)?;
    if own.is_some() && options.strategy != StrategyKind::Auto {
        return Err(no_effect(Idle::Strategy));
    }
    let options = &options.counted(data)?;
    let included = options.included_among(candidates, data)?;
    let shape = Shape::new(candidates, options.k, options.sample);
    let options = holding(candidates, data, options);
    let (strategy, bytes) = if let Some(own) = own {
        let bytes = own().memory(&shape);
        (
            StrategyKind::Auto,
            bytes.saturating_add(shape.base_memory()),
        )
    } else {
        let estimates = estimates_of(&shape, candidates, data, &options);
        let whole = shape.of_all(candidates.summary());
        let chosen = choose(&estimates, &whole, &options)?;
        (chosen.strategy, chosen.memory)
    };
    let (options, teacher) = settled(strategy, candidates, data, &options);
    let (teacher, taught) = teacher.unzip();
    let (own, taught) = (bytes, taught.unwrap_or(0));
    let bytes = own.max(taught);
    let (what, remedy) = if own < taught {
        ("the teacher needs", "allow more memory")
    } else {
        let remedy = "allow more memory or select fewer features";
        ("the strategy of your own needs", remedy)
    };
    let spare = options.memory.require(what, bytes, remedy)?.left();
    Ok(Plan {
        options,
        steps: shape.k,
        included,
        teacher,
        memory: bytes,
        spare: spare.unwrap_or(u64::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::parsed;
    use crate::error::Kind;
    use crate::greedy::WeightTarget;
    use crate::lambda::Lambda;
    use crate::memory::Memory;

    fn data() -> Dataset<'static> {
        let text = "1 qid:1 1:1 2:3\n0 qid:1 2:1\n2 qid:2 3:1\n0 qid:2 1:4\n";
        parsed(text)
    }

    #[test]
    fn estimates_are_what_plans_say() {
        let data = data();
        let candidates = GreedyRankRls::default().candidates(&data).unwrap();
        let options = GreedyRankRls::new(2, Lambda::new(1.0).unwrap());
        let estimates = estimates(&candidates, &data, &options).into_iter();
        for estimate in estimates.filter(|estimate| !estimate.strategy.needs_grades()) {
            let asked = GreedyRankRls {
                strategy: estimate.strategy,
                ..options.clone()
            };
            assert!(estimate.fits && estimate.able);
            let within = |limit: Option<u64>| {
                let options = GreedyRankRls {
                    memory: Memory::limit(limit),
                    ..asked.clone()
                };
                plan(&candidates, &data, &options)
            };
            let unlimited = within(None).unwrap();
            assert_eq!(unlimited.memory, estimate.memory);
            let tight = within(Some(estimate.total)).unwrap();
            assert_eq!((tight.spare, tight.memory), (0, unlimited.memory));
            assert_eq!(tight.teacher, unlimited.teacher);
            match (unlimited.teacher, within(Some(estimate.total - 1))) {
                (None, less) => assert_eq!(less.unwrap_err().kind(), Kind::Memory),
                // The teacher takes a solver that needs less memory.
                (Some(teacher), less) => {
                    let less = less.unwrap();
                    assert!(less.memory < unlimited.memory);
                    assert_ne!(less.teacher.unwrap(), teacher);
                }
            }
        }
    }

    #[test]
    fn given_scores_train_no_teacher() {
        let data = data().with_teacher(vec![1.0, 0.0, 2.0, 0.5]).unwrap();
        let candidates = GreedyRankRls::default().candidates(&data).unwrap();
        let options = GreedyRankRls {
            strategy: StrategyKind::Distil,
            ..GreedyRankRls::new(2, Lambda::new(1.0).unwrap())
        };
        let shape = Shape::new(&candidates, 2, None);
        let found = plan(&candidates, &data, &options).unwrap();
        assert_eq!(found.teacher, None);
        assert_eq!(found.memory, StrategyKind::Distil.memory(&shape));
        for estimate in estimates(&candidates, &data, &options) {
            assert_eq!(estimate.memory, estimate.strategy.memory(&shape));
        }
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let data = data();
        let candidates = GreedyRankRls::default().candidates(&data).unwrap();
        let own: &Own<'_> = &|| Box::new(());
        for (refit, what) in [
            (WeightTarget::Labels, "the strategy of your own needs"),
            (WeightTarget::CrossFitted, "the teacher needs"),
        ] {
            let options = |memory| GreedyRankRls {
                weight_target: Some(refit),
                memory,
                ..GreedyRankRls::new(1, Lambda::new(1.0).unwrap())
            };
            let plan = |memory| plan_with(&candidates, &data, &options(memory), Some(own));
            let planned = plan(Memory::default()).unwrap();
            let held = planned.options.memory.held;
            let error = plan(Memory::limit(held + 1)).unwrap_err();
            assert_eq!(error.kind(), Kind::Memory);
            assert!(error.to_string().starts_with(what), "{error}");
        }
    }

    #[test]
    fn a_random_subset_is_not_exact_and_not_for_all() {
        let data = data();
        let candidates = GreedyRankRls::default().candidates(&data).unwrap();
        let options = GreedyRankRls {
            sample: Some(1),
            ..GreedyRankRls::new(2, Lambda::new(1.0).unwrap())
        };
        let found = estimates(&candidates, &data, &options);
        assert!(found.iter().all(|estimate| !estimate.exact));
        let dense = found.iter().find(|e| e.strategy == StrategyKind::Dense);
        assert!(!dense.unwrap().able);
    }
}
