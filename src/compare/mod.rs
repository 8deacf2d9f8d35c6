//! Strategies beside each other on the same data: time, memory and loss.
//!
//! Every [`Contestant`] is run on its own, so that time and peak memory are its own, and writes a
//! document of the schema `rankrls.selection/1`, which is read as a [`Selected`]. A
//! [`Comparison`] is made of the runs: an [`Entry`] a contestant, with means over seeds where it
//! draws at random, and the overlap with the selection of the exact strategies.
//!
//! ```
//! use rankrls::compare::{Comparison, Contestant, Outcome, Selected, Task};
//!
//! let selected = |strategy: &str, feature: u64, error: f64| -> Selected {
//!     serde_json::from_value(serde_json::json!({
//!         "strategy": strategy, "lambda": 16.0, "candidates": null, "seed": null,
//!         "data": {"rows": 4, "queries": 2, "columns": 9, "nonzeros": 12,
//!                  "constant_columns": 0, "column_classes": 9},
//!         "steps": [{"feature": feature, "name": null, "lqo_error": error,
//!                    "lqo_cindex": 0.5, "evaluated": 9}],
//!         "load_seconds": 0.1, "select_seconds": 0.2, "peak_rss_bytes": 1000
//!     }))
//!     .unwrap()
//! };
//! let run = |strategy: &str, feature, error| {
//!     let contestant: Contestant = strategy.parse().unwrap();
//!     (contestant, Outcome::Selected(vec![selected(strategy, feature, error)]))
//! };
//! let runs = vec![run("bounded", 3, 2.0), run("backfit", 4, 2.5)];
//! let comparison = Comparison::new(Task::default(), runs);
//! let findings = comparison.findings();
//! assert_eq!(findings.reference.unwrap().to_string(), "bounded");
//! assert_eq!(findings.losses[0].error, 0.25);
//! ```

mod contestant;
mod entry;
#[cfg(feature = "plot")]
mod figure;
mod findings;
mod selected;
#[cfg(test)]
mod tests;

use serde::Serialize;

pub use contestant::{Contestant, ContestantError, contestants};
pub use entry::{Entry, Outcome, RunEntry, StepEntry};
#[cfg(feature = "plot")]
pub use figure::{diagrams, named};
pub use findings::{Agreement, Findings, Loss};
pub use selected::{
    AllColumns, DataSizes, Overlap, Selected, SelectedStep, Spread, TestData, duration,
};

/// The task of all contestants.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Task {
    /// Name of the training data.
    pub file: String,
    /// Name of the test data, if there are any.
    pub test_file: Option<String>,
    /// Ridge parameter.
    pub lambda: f64,
    /// Features to select.
    pub k: usize,
    /// Seeds of contestants that draw at random.
    pub seeds: u64,
    /// Names of the measures of the test data, in the order in which they are shown.
    pub metrics: Vec<String>,
}

/// Contestants beside each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// The task.
    #[serde(flatten)]
    pub task: Task,
    /// Sizes of the training data; `None` if nothing was selected.
    pub data: Option<DataSizes>,
    /// The test data that were measured along the paths, if any.
    pub test: Option<TestData>,
    /// The contestants, in the order in which they were named.
    pub strategies: Vec<Entry>,
    /// `RankRLS` on all columns with the same lambda, if it was trained.
    pub all_columns: Option<AllColumns>,
}

impl Comparison {
    /// Compares the selections of contestants. The reference of the overlaps is the first exact
    /// contestant that selected; without one there are none.
    pub fn new(task: Task, runs: Vec<(Contestant, Outcome)>) -> Self {
        let selected = || runs.iter().filter_map(|(_, outcome)| outcome.selected());
        let first = selected().find_map(<[Selected]>::first);
        let data = first.map(|selected| selected.data);
        let test = first.and_then(|selected| selected.test.clone());
        let reference = runs.iter().find_map(|(contestant, outcome)| {
            let selected = outcome.selected()?;
            let exact = contestant.is_exact(selected);
            selected.first().filter(|_| exact).map(Selected::features)
        });
        let entry = |(contestant, outcome)| {
            Entry::new(contestant, outcome, &task.metrics, reference.as_deref())
        };
        let strategies = runs.into_iter().map(entry).collect();
        Self {
            task,
            data,
            test,
            strategies,
            all_columns: None,
        }
    }

    /// The contestants that selected.
    pub fn ran(&self) -> impl Iterator<Item = &Entry> {
        self.strategies.iter().filter(|entry| entry.ran())
    }

    /// The findings.
    pub fn findings(&self) -> Findings {
        Findings::new(self)
    }
}
