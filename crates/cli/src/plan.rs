//! `select --dry-run`: the memory that every strategy would take.

use std::fmt::Write as _;

use anyhow::Result;
use rankrls::greedy::job::{Estimate, estimates, plan};
use rankrls::greedy::strategy::State;
use rankrls::greedy::{Criterion, SelectError, SelectionOptions};
use rankrls::{Candidates, Dataset, StrategyKind};
use rankrls_files::memory;
use serde::Serialize;
use serde_json::Value;

use super::data::Sizes;
use super::sheet::Sheet;
use rankrls::memory::Bytes;

#[derive(Debug, Serialize)]
pub(crate) struct PlanReport {
    schema: &'static str,
    k: usize,
    /// Candidates to draw each step, if not all are judged.
    candidates: Option<usize>,
    data: Sizes,
    #[serde(flatten)]
    costs: Costs,
}

/// Memory that is taken by the data, and would be taken by each strategy.
#[derive(Debug, Serialize)]
pub(crate) struct Costs {
    data_bytes: u64,
    /// The most that the data took while they were read.
    reading_bytes: u64,
    candidate_bytes: u64,
    limit_bytes: Option<u64>,
    /// The strategy that `auto` takes, if one fits.
    auto: Option<StrategyKind>,
    strategies: Vec<Row>,
    /// The bytes that one factor a query takes, besides these: only a run tells whether it is needed.
    factors_bytes: u64,
    /// Whether there is nothing to select from.
    #[serde(skip)]
    idle: bool,
    /// Whether a random subset is to be judged.
    #[serde(skip)]
    sampling: bool,
    /// Whether a ranking measure judges.
    #[serde(skip)]
    ranking: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    estimate: Estimate,
    /// The most that the whole process will have taken, where the system tells: the peak of
    /// reading, or the memory of now and that of the strategy.
    peak_bytes: Option<u64>,
}

impl Row {
    /// `matrix`: bytes of the columns where the data are here without them. A strategy that judges columns as
    /// the data have them reads them.
    fn new(mut estimate: Estimate, matrix: u64, limit: Option<u64>) -> Self {
        let matrix = if estimate.strategy.needs_grades() {
            matrix
        } else {
            0
        };
        estimate.total = estimate.total.saturating_add(matrix);
        estimate.fits &= limit.is_none_or(|limit| estimate.total <= limit);
        let process = memory::peak().zip(memory::current());
        let taken = estimate.memory.saturating_add(matrix);
        Self {
            estimate,
            peak_bytes: process.map(|(peak, now)| peak.max(now.saturating_add(taken))),
        }
    }
}

impl PlanReport {
    /// Plans with `options` that leave the strategy open.
    pub(crate) fn new(
        train: &Dataset<'_>,
        candidates: &Candidates,
        options: &SelectionOptions,
    ) -> Result<Self> {
        let (queries, columns) = (candidates.queries(), candidates.summary().columns);
        if queries.largest() < 2 {
            let queries = queries.len();
            return Err(SelectError::SingleRows { queries }.into());
        }
        if candidates.is_empty() {
            return Err(SelectError::NoCandidates { columns }.into());
        }
        Ok(Self {
            schema: "rankrls.plan/1",
            k: options.k,
            candidates: options.sample,
            data: Sizes::new(train, &candidates.summary()),
            costs: Costs::new(train, candidates, options)?,
        })
    }

    /// The report for people.
    pub(crate) fn text(&self) -> String {
        self.data.lines() + &self.costs.text()
    }
}

impl Costs {
    /// Takes `options` that leave the strategy open.
    pub(crate) fn new(
        train: &Dataset<'_>,
        candidates: &Candidates,
        options: &SelectionOptions,
    ) -> Result<Self> {
        let auto = match plan(candidates, train, options) {
            Ok(plan) => plan.strategy.kind(),
            Err(
                SelectError::Memory { .. }
                | SelectError::NoCandidates { .. }
                | SelectError::SingleRows { .. }
                | SelectError::OneQuery,
            ) => None,
            Err(error) => return Err(error.into()),
        };
        let queries = train.queries();
        let matrix = match train.stored_columns() {
            0 => 12 * train.nonzeros() as u64,
            _ => 0,
        };
        let row = |estimate| Row::new(estimate, matrix, options.memory.limit);
        let steps = options.k.min(candidates.summary().column_classes);
        Ok(Self {
            data_bytes: options.memory.holding(train.memory()).held,
            reading_bytes: train.reading_memory(),
            candidate_bytes: candidates.memory(),
            limit_bytes: options.memory.limit,
            auto,
            strategies: estimates(candidates, train, options)
                .into_iter()
                .map(row)
                .collect(),
            factors_bytes: State::folds_memory(queries.rows(), queries.len(), steps),
            idle: candidates.is_empty(),
            sampling: options.sample.is_some(),
            ranking: options.criterion != Criterion::Squared,
        })
    }

    /// The report for people.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let (data, candidates) = (Bytes(self.data_bytes), Bytes(self.candidate_bytes));
        let reading = Bytes(self.reading_bytes);
        let _ = write!(
            text,
            "data take {data}, {reading} while read, column classes {candidates}"
        );
        if let Some(limit) = self.limit_bytes {
            let _ = write!(text, "\n{} may be taken", Bytes(limit));
        }
        let _ = writeln!(text, "\n\n{}\n", self.table());
        if !self.idle {
            let factors = Bytes(self.factors_bytes);
            let _ = writeln!(
                text,
                "one factor a query, if lambda is too small without, takes {factors} more"
            );
        }
        let _ = match self.auto {
            Some(strategy) => writeln!(text, "auto takes {strategy}"),
            None if self.idle => writeln!(text, "nothing to select: no column varies in a query"),
            None => writeln!(text, "auto takes none: no exact strategy fits"),
        };
        text
    }

    /// Whether a strategy could judge, but its teacher needs columns that are in parts.
    fn untaught(&self, row: &Row) -> bool {
        !self.ranking && row.estimate.strategy.distils()
    }

    fn table(&self) -> String {
        let bytes = |bytes| Bytes(bytes).to_string();
        Sheet::of(&self.strategies)
            .words("strategy", |row| row.estimate.strategy.name())
            .number("takes", |row| bytes(row.estimate.memory))
            .number("with data", |row| bytes(row.estimate.total))
            .number("process", |row| row.peak_bytes.map(bytes))
            .number("exact", |row| row.estimate.exact)
            .number("fits", |row| match row.estimate.able {
                true => Value::from(row.estimate.fits),
                false if self.sampling => "cannot sample".into(),
                false if self.untaught(row) => "no teacher".into(),
                false => "cannot rank".into(),
            })
            .text()
    }
}
