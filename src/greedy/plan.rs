//! Which strategy, and whether it fits.

use super::{MemoryError, SelectError, SelectionOptions};
use crate::columns::{ColumnClasses, Summary};
use crate::greedy::{Shape, StrategyKind};

/// What a selection is about to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// The strategy.
    pub strategy: StrategyKind,
    /// Steps to take: `k`, or the number of candidates if that is less.
    pub steps: usize,
    /// How the columns fall into classes.
    pub summary: Summary,
    /// Bytes the strategy will take besides data and candidates.
    pub memory: u64,
}

/// Chooses the strategy and checks that it can do what is asked in the memory allowed.
///
/// # Errors
/// As [`select`](super::select()).
pub fn plan(
    candidates: &ColumnClasses,
    held: u64,
    options: &SelectionOptions,
) -> Result<Plan, SelectError> {
    options.check(candidates)?;
    let shape = Shape::new(candidates, options.k, options.lambda, options.sample);
    let base = held + candidates.memory();
    let strategy = match options.strategy {
        Some(strategy) => strategy,
        None => fastest_exact(&shape, base, options)?,
    };
    let memory = strategy.memory(&shape);
    let limit = options.max_memory.unwrap_or(u64::MAX);
    if base.saturating_add(memory) > limit {
        let fits = |kind: &StrategyKind| base.saturating_add(kind.memory(&shape)) <= limit;
        return Err(SelectError::Memory(MemoryError {
            strategy: Some(strategy),
            needed: base.saturating_add(memory),
            limit,
            fitting: remedies(fits),
        }));
    }
    Ok(Plan {
        strategy,
        steps: shape.k,
        summary: candidates.summary(),
        memory,
    })
}

fn fastest_exact(
    shape: &Shape,
    base: u64,
    options: &SelectionOptions,
) -> Result<StrategyKind, MemoryError> {
    let limit = options.max_memory.unwrap_or(u64::MAX);
    let suits = |kind: &StrategyKind| kind.is_exact() && options.suits(*kind);
    let fits = |kind: &StrategyKind| base.saturating_add(kind.memory(shape)) <= limit;
    let exact = || StrategyKind::ALL.into_iter().filter(suits);
    let by_cost = |a: &StrategyKind, b: &StrategyKind| a.cost(shape).total_cmp(&b.cost(shape));
    exact()
        .filter(fits)
        .min_by(by_cost)
        .ok_or_else(|| MemoryError {
            strategy: None,
            needed: base + exact().map(|kind| kind.memory(shape)).min().unwrap_or(0),
            limit,
            fitting: remedies(fits),
        })
}

/// Strategies to take instead: those that fit, baselines aside.
fn remedies(fits: impl Fn(&StrategyKind) -> bool) -> Vec<StrategyKind> {
    let serious = StrategyKind::ALL.into_iter();
    let serious = serious.filter(|kind| !kind.is_baseline());
    serious.filter(|kind| fits(kind)).collect()
}
