//! How long things take: work within this process, and other processes.

use std::collections::BTreeMap;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

/// Work is done again until it has taken this many seconds, or `RUNS` times.
const ENOUGH: f64 = 1.5;
const RUNS: usize = 5;

/// Median seconds of some runs, and what the last of them made.
pub(crate) fn seconds_of<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let mut seconds = Vec::new();
    loop {
        let start = Instant::now();
        let made = work();
        seconds.push(start.elapsed().as_secs_f64());
        if seconds.len() == RUNS || seconds.iter().sum::<f64>() > ENOUGH {
            return (median(seconds), made);
        }
    }
}

/// The middle one, the larger of two.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// What `rankrls select --json` prints, as far as it is measured.
#[derive(Deserialize)]
pub(crate) struct Selected {
    pub(crate) steps: Vec<SelectedStep>,
    select_seconds: f64,
    peak_rss_bytes: Option<u64>,
}

#[derive(Deserialize)]
pub(crate) struct SelectedStep {
    pub(crate) feature: u64,
    pub(crate) lqo_error: f64,
    /// Measures of the test data by name.
    #[serde(default)]
    pub(crate) test: BTreeMap<String, Option<f64>>,
}

/// Medians over runs of `rankrls select --json`.
pub(crate) struct Selections {
    /// Seconds from data that were read to the last feature.
    pub(crate) select_seconds: f64,
    /// Seconds from start to exit.
    pub(crate) whole_seconds: f64,
    /// Most memory of the process.
    pub(crate) peak_bytes: f64,
    /// The last of the runs.
    pub(crate) last: Selected,
}

/// Runs a selection several times in processes of their own. The error is what it said.
///
/// # Errors
/// If the process cannot be started, or its output not be read.
pub(crate) fn selections(
    command: &mut Command,
    runs: usize,
) -> Result<std::result::Result<Selections, String>> {
    ensure!(runs > 0, "expected at least one run");
    let (mut whole, mut select, mut peak) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        let start = Instant::now();
        let output = command
            .output()
            .with_context(|| format!("cannot start {command:?}"))?;
        whole.push(start.elapsed().as_secs_f64());
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Ok(Err(said.lines().next().unwrap_or_default().to_owned()));
        }
        let last: Selected = serde_json::from_slice(&output.stdout)
            .with_context(|| format!("cannot read what {command:?} printed"))?;
        select.push(last.select_seconds);
        peak.push(last.peak_rss_bytes.unwrap_or(0) as f64);
        if whole.len() == runs {
            return Ok(Ok(Selections {
                select_seconds: median(select),
                whole_seconds: median(whole),
                peak_bytes: median(peak),
                last,
            }));
        }
    }
}
