//! Which strategy, what it takes, and whether it fits.

use rankrls_files::Parameter;
use serde::Serialize;

use super::checks::no_effect;
use super::target::teacher_search;
use super::{GreedyRankRls, OwnStrategy, Planned, Shape, StrategyKind, Target};
use crate::candidates::Candidates;
use crate::columns::Summary;
use crate::error::{Error, Result, ensure};
use crate::lambda::Lambdas;
use crate::memory::{Bytes, Memory};
use crate::ridge::{Solver, TrainShape};

/// Seconds by [`Solver::cost`] from which on folds take the place of leaving out each query.
const PATIENCE: f64 = 2.0;

/// How a teacher predicts: its solver, and what that takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TeacherPlan {
    /// `dual` and `primal` leave out each query, `cg` a fold of queries.
    pub solver: Solver,
    /// Bytes that it takes besides data and candidates, before the selection starts.
    pub memory: u64,
}

impl TeacherPlan {
    /// The plan for so many `lambdas` where `available` bytes may be taken; one that takes more if
    /// none fits.
    pub(super) fn new(candidates: &Candidates, lambdas: usize, available: u64) -> Self {
        if candidates.peers().count() > 1 {
            // Its scores are given.
            let (solver, memory) = (Solver::ConjugateGradients, 0);
            return Self { solver, memory };
        }
        let shape = TrainShape::new(candidates.classes(), lambdas);
        let plan = |solver: Solver| Self {
            solver,
            memory: solver.memory(&shape),
        };
        let factoring = Solver::ALL.into_iter().filter(|solver| solver.factors());
        let quick = factoring.filter(|solver| solver.cost(&shape) <= PATIENCE);
        let cheaper = |a: &Solver, b: &Solver| a.cost(&shape).total_cmp(&b.cost(&shape));
        let quick = quick.map(plan).filter(|plan| plan.memory <= available);
        quick
            .min_by(|a, b| cheaper(&a.solver, &b.solver))
            .unwrap_or_else(|| plan(Solver::ConjugateGradients))
    }
}

/// The plan of a selection.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// The strategy.
    pub strategy: Planned,
    /// Steps to take: `k`, or the number of candidates if that is less.
    pub steps: usize,
    /// How the columns fall into classes.
    pub summary: Summary,
    /// The options, with the strategy and every choice about labels and teacher made.
    pub options: GreedyRankRls,
    /// The teacher, if there is to be one.
    pub teacher: Option<TeacherPlan>,
    /// Bytes that strategy or teacher will take besides data and candidates, whichever is more:
    /// the teacher is done when the selection starts.
    pub memory: u64,
    /// Bytes that are allowed besides these: for one factor a query, if the data turn out to need it.
    pub room: u64,
}

impl Plan {
    pub(crate) fn log(&self) {
        let (strategy, steps, bytes) = (&self.strategy, self.steps, self.memory);
        tracing::info!(%strategy, steps, bytes, "selecting");
    }
}

/// The memory that a strategy would take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Estimate {
    /// The strategy.
    pub strategy: StrategyKind,
    /// Bytes it would allocate on top of data and candidates.
    #[serde(rename = "bytes")]
    pub memory: u64,
    /// Bytes with the data and the candidates.
    #[serde(rename = "total_bytes")]
    pub total: u64,
    /// Whether every step would take the candidate with the least leave-query-out error of all.
    pub exact: bool,
    /// Whether `total` is within the memory allowed.
    pub fits: bool,
    /// Whether it can do what is asked: not every strategy works on a random subset or judges by a
    /// ranking measure.
    pub able: bool,
}

/// The memory that each strategy would take for the selection that `options` describe, whatever strategy
/// they ask for.
pub fn estimates<'a>(
    candidates: &Candidates,
    target: impl Into<Target<'a>>,
    options: &GreedyRankRls,
) -> Vec<Estimate> {
    let shape = Shape::new(candidates, options.k, options.sample);
    let target = target.into();
    let memory = agreed_memory(candidates, &target, options);
    estimates_of(&shape, candidates, memory, options)
}

/// The memory with the data and the candidates in use, as all ranks agree.
fn agreed_memory(candidates: &Candidates, target: &Target<'_>, options: &GreedyRankRls) -> Memory {
    let memory = options.memory.holding(target.memory);
    let memory = memory.holding(candidates.memory());
    candidates.peers().agreed(memory)
}

/// The options with `strategy` and all that this makes of labels and teacher, and the teacher that it takes.
fn settled(
    strategy: Option<StrategyKind>,
    candidates: &Candidates,
    memory: Memory,
    options: &GreedyRankRls,
) -> (GreedyRankRls, Option<TeacherPlan>) {
    let options = GreedyRankRls {
        strategy,
        ..options.clone()
    };
    let options = options.settled(candidates);
    let available = memory.left().unwrap_or(u64::MAX);
    let teacher = |lambdas: &Lambdas| {
        let count = teacher_search(lambdas, candidates.unit()).tried().len();
        TeacherPlan::new(candidates, count, available)
    };
    let plan = options.teacher_lambda.as_ref().map(teacher);
    (options, plan)
}

/// The memory that each strategy would take for a selection of this `shape`, with data and candidates in use.
fn estimates_of(
    shape: &Shape,
    candidates: &Candidates,
    memory: Memory,
    options: &GreedyRankRls,
) -> Vec<Estimate> {
    let estimate = |strategy: StrategyKind| {
        let teacher = settled(Some(strategy), candidates, memory, options).1;
        let bytes = strategy.memory(shape);
        let bytes = teacher.map_or(bytes, |teacher| teacher.memory.max(bytes));
        Estimate {
            strategy,
            memory: bytes,
            total: memory.holding(bytes).held,
            exact: strategy.is_exact() && options.sample.is_none(),
            fits: memory.allows(bytes),
            able: options.suits(strategy),
        }
    };
    StrategyKind::ALL.into_iter().map(estimate).collect()
}

/// The strategy that was asked for, or the fastest of those that are exact, if it fits.
fn choose(
    estimates: &[Estimate],
    shape: &Shape,
    memory: Memory,
    options: &GreedyRankRls,
) -> Result<Estimate> {
    // Those that will do: the one asked for, or any exact one.
    let asked = estimates.iter().filter(|found| match options.strategy {
        Some(strategy) => found.strategy == strategy,
        None => found.able && found.strategy.is_exact(),
    });
    let cost = |found: &&Estimate| found.strategy.cost(shape);
    let fitting = asked.clone().filter(|found| found.fits);
    let fastest = fitting.min_by(|a, b| cost(a).total_cmp(&cost(b)));
    fastest.copied().ok_or_else(|| {
        // Strategies to take instead, baselines aside.
        let others = estimates.iter().filter(|found| found.fits && found.able);
        let others = others.map(|found| found.strategy);
        let others = others.filter(|kind| !kind.is_baseline());
        let names: Vec<&str> = others.map(StrategyKind::name).collect();
        let remedy = match &names[..] {
            [] => "no strategy fits: allow more memory or select fewer features".to_owned(),
            names => format!("these fit: {}", names.join(", ")),
        };
        let strategy = options.strategy.map(|kind| format!("strategy {kind}"));
        let what = strategy.unwrap_or_else(|| "every exact strategy".to_owned());
        let needed = Bytes(asked.map(|found| found.total).min().unwrap_or(0)).exact();
        let limit = Bytes(memory.limit.unwrap_or(u64::MAX)).exact();
        Error::memory(format!(
            "{what} needs {needed} with the data, {limit} are allowed; {remedy}"
        ))
    })
}

/// Chooses the strategy and checks that it can do what is asked in the memory allowed.
pub fn plan<'a>(
    candidates: &Candidates,
    target: impl Into<Target<'a>>,
    options: &GreedyRankRls,
) -> Result<Plan> {
    plan_with(candidates, target.into(), options, None)
}

/// Plans a selection as [`plan`], by a strategy of the caller's `own` where there is one.
pub(crate) fn plan_with(
    candidates: &Candidates,
    target: Target<'_>,
    options: &GreedyRankRls,
    own: Option<&OwnStrategy>,
) -> Result<Plan> {
    options.check_for(candidates, &target)?;
    if own.is_some() && options.strategy.is_some() {
        return Err(no_effect(Parameter::Strategy));
    }
    let shape = Shape::new(candidates, options.k, options.sample);
    let memory = agreed_memory(candidates, &target, options);
    let (strategy, bytes) = if let Some(own) = own {
        let bytes = own.begin().memory(&shape);
        let bytes = bytes.saturating_add(shape.base_memory());
        (Planned::Own(own.clone()), bytes)
    } else {
        let estimates = estimates_of(&shape, candidates, memory, options);
        let whole = shape.of_all(candidates.summary());
        let chosen = choose(&estimates, &whole, memory, options)?;
        (Planned::Known(chosen.strategy), chosen.memory)
    };
    let (options, teacher) = settled(strategy.kind(), candidates, memory, options);
    let bytes = teacher.map_or(bytes, |teacher| teacher.memory.max(bytes));
    ensure!(
        memory.allows(bytes),
        memory,
        "the strategy of your own needs {} with the data, {} are allowed; allow more memory or select \
         fewer features",
        Bytes(memory.holding(bytes).held).exact(),
        Bytes(memory.limit.unwrap_or(u64::MAX)).exact()
    );
    let room = memory.holding(bytes).left();
    Ok(Plan {
        strategy,
        steps: shape.k,
        options,
        teacher,
        summary: candidates.summary(),
        memory: bytes,
        room: room.unwrap_or(u64::MAX),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{Dataset, parsed};
    use crate::error::Kind;
    use crate::lambda::Lambda;

    fn data() -> Dataset<'static> {
        let text = "1 qid:1 1:1 2:3\n0 qid:1 2:1\n2 qid:2 3:1\n0 qid:2 1:4\n";
        parsed(text)
    }

    #[test]
    fn estimates_are_what_plans_say() {
        let data = data();
        let candidates = GreedyRankRls::default().candidates(&data);
        let options = GreedyRankRls::new(2, Lambda::new(1.0).unwrap());
        let estimates = estimates(&candidates, &data, &options).into_iter();
        for estimate in estimates.filter(|estimate| !estimate.strategy.needs_grades()) {
            let asked = GreedyRankRls {
                strategy: Some(estimate.strategy),
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
            assert_eq!((tight.room, tight.memory), (0, unlimited.memory));
            assert_eq!(tight.teacher, unlimited.teacher);
            match (unlimited.teacher, within(Some(estimate.total - 1))) {
                (None, less) => assert_eq!(less.unwrap_err().kind(), Kind::Memory),
                // The teacher takes a solver of less memory.
                (Some(teacher), less) => {
                    let less = less.unwrap();
                    assert!(less.memory < unlimited.memory);
                    assert_ne!(less.teacher.unwrap().solver, teacher.solver);
                }
            }
        }
    }

    #[test]
    fn a_random_subset_is_not_exact_and_not_for_all() {
        let data = data();
        let candidates = GreedyRankRls::default().candidates(&data);
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
