//! All steps of all runs as CSV.

use std::io::{self, Write};

use rankrls::compare::{Comparison, Entry, RunEntry, SelectedStep};

const TITLES: [&str; 15] = [
    "strategy",
    "exact",
    "seed",
    "step",
    "feature",
    "name",
    "lqo_error",
    "lqo_cindex",
    "evaluated",
    "overlap",
    "load_seconds",
    "select_seconds",
    "seconds_per_feature",
    "peak_rss_bytes",
    "error",
];

/// A line a step; one with an error and no step for a strategy that did not run. What belongs to
/// a run as a whole is the same in all its lines.
pub(super) fn write(comparison: &Comparison, writer: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(writer);
    let metrics = &comparison.task.metrics;
    let titles = TITLES.into_iter().map(str::to_owned);
    let measures = metrics.iter().map(|metric| format!("test_{metric}"));
    writer.write_record(titles.chain(measures))?;
    for entry in &comparison.strategies {
        if let Some(error) = &entry.error {
            let mut cells = vec![String::new(); TITLES.len() + metrics.len()];
            cells[0] = entry.contestant.to_string();
            cells[1] = entry.exact.to_string();
            cells[TITLES.len() - 1].clone_from(error);
            writer.write_record(cells)?;
        }
        for (index, run) in entry.runs.iter().enumerate() {
            for (number, step) in run.steps.iter().enumerate() {
                let overlap = entry.overlaps.get(index);
                let overlap = overlap.and_then(|overlap| overlap.shares.get(number));
                let mut cells = cells(entry, run, step, number + 1, overlap.copied());
                let measured = metrics.iter().map(|metric| {
                    let value = step.test.get(metric).copied().flatten();
                    optional(value)
                });
                cells.extend(measured);
                writer.write_record(cells)?;
            }
        }
    }
    writer.flush()
}

fn cells(
    entry: &Entry,
    run: &RunEntry,
    step: &SelectedStep,
    number: usize,
    overlap: Option<f64>,
) -> Vec<String> {
    let each = run.select_seconds / run.steps.len() as f64;
    vec![
        entry.contestant.to_string(),
        entry.exact.to_string(),
        optional(run.seed),
        number.to_string(),
        step.feature.to_string(),
        step.name.clone().unwrap_or_default(),
        step.lqo_error.to_string(),
        optional(step.lqo_cindex),
        step.evaluated.to_string(),
        optional(overlap),
        run.load_seconds.to_string(),
        run.select_seconds.to_string(),
        each.to_string(),
        optional(run.peak_rss_bytes),
        String::new(),
    ]
}

fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
