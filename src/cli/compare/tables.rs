//! The figures of all strategies: as tables for people, and all steps of all runs as CSV.

use std::fmt::Write as _;
use std::io::{self, Write};

use rankrls::compare::{Comparison, Entry, RunEntry, SelectedStep, Spread, duration};
use rankrls::memory::Bytes;

use super::summary::{answers, failure, percent, spread};
use crate::cli::output::{format_exact, measure, printable, table};

/// Tables, and what they come to.
pub(super) fn text(comparison: &Comparison) -> String {
    let mut text = heading(comparison);
    let _ = writeln!(text, "\n{}", grid(costs(comparison)));
    let _ = writeln!(text, "\n{}", grid(findings(comparison)));
    if let Some(measures) = measures(comparison) {
        let _ = writeln!(text, "\n{}", grid(measures));
    }
    text.push('\n');
    for entry in comparison.strategies.iter().filter(|entry| !entry.ran()) {
        let _ = writeln!(text, "{}", printable(&failure(entry)));
    }
    for (question, answer) in answers(comparison) {
        let _ = writeln!(text, "{question}: {answer}");
    }
    text
}

fn heading(comparison: &Comparison) -> String {
    let task = &comparison.task;
    let (k, lambda) = (task.k, format_exact(task.lambda));
    let mut text = format!("{}: {k} features, lambda {lambda}\n", printable(&task.file));
    if let Some(data) = comparison.data {
        let _ = writeln!(
            text,
            "data: {} rows, {} queries, {} columns, {} non-zeros, {} column classes",
            data.rows, data.queries, data.columns, data.nonzeros, data.column_classes
        );
    }
    if let (Some(file), Some(test)) = (&task.test_file, &comparison.test) {
        let _ = writeln!(
            text,
            "test data: {}, {} rows, {} queries, convention {}",
            printable(file),
            test.rows,
            test.queries,
            test.convention
        );
    }
    if comparison
        .strategies
        .iter()
        .any(|entry| entry.runs.len() > 1)
    {
        text += "means of several runs, ± their standard deviation\n";
    }
    text
}

fn grid(rows: Rows) -> String {
    let mut table = table(&rows.titles);
    for row in rows.rows {
        table.add_row(row);
    }
    table.trim_fmt()
}

/// Rows under titles.
pub(super) struct Rows {
    pub(super) titles: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

/// What each strategy took.
pub(super) fn costs(comparison: &Comparison) -> Rows {
    let titles = [
        "strategy",
        "exact",
        "runs",
        "time",
        "a feature",
        "memory",
        "evaluated",
    ];
    let entries = comparison.strategies.iter();
    Rows {
        titles: titles.map(str::to_owned).to_vec(),
        rows: entries.map(cost).collect(),
    }
}

fn cost(entry: &Entry) -> Vec<String> {
    let missing = || "-".to_owned();
    let time = |spread: Option<Spread>| spread.map_or_else(missing, |spread| duration(spread.mean));
    let memory = match (entry.peak_rss_bytes, entry.needs_bytes) {
        (Some(peak), _) => Bytes(whole(peak.mean)).to_string(),
        (None, Some(_)) => "does not fit".to_owned(),
        (None, None) if entry.ran() => missing(),
        (None, None) => "did not run".to_owned(),
    };
    let evaluated = entry
        .evaluated
        .map_or_else(missing, |spread| format!("{:.0}", spread.mean));
    vec![
        entry.contestant.to_string(),
        if entry.exact { "yes" } else { "no" }.to_owned(),
        entry.runs.len().to_string(),
        time(entry.select_seconds),
        time(entry.seconds_per_feature),
        memory,
        evaluated,
    ]
}

/// Measures of the test data; none without them.
pub(super) fn measures(comparison: &Comparison) -> Option<Rows> {
    let metrics = &comparison.task.metrics;
    let mut titles = vec!["strategy".to_owned()];
    titles.extend(metrics.iter().map(|metric| format!("test {metric}")));
    let row = |entry: &Entry| {
        let mut cells = vec![entry.contestant.to_string()];
        for metric in metrics {
            let measured = entry.last().and_then(|last| last.measure(metric));
            cells.push(spread(measured, entry.runs.len()));
        }
        cells
    };
    let rows = comparison.strategies.iter().map(row).collect();
    (!metrics.is_empty()).then_some(Rows { titles, rows })
}

/// What each strategy found.
pub(super) fn findings(comparison: &Comparison) -> Rows {
    let titles = [
        "strategy",
        "LQO error",
        "above exact",
        "LQO cindex",
        "overlap",
        "differs at",
        "stability",
    ];
    let losses = comparison.findings().losses;
    let above = |entry: &Entry| {
        let mut losses = losses.iter();
        losses
            .find(|loss| loss.strategy == entry.contestant)
            .map(|loss| loss.error)
    };
    let entries = comparison.strategies.iter();
    Rows {
        titles: titles.map(str::to_owned).to_vec(),
        rows: entries.map(|entry| found(entry, above(entry))).collect(),
    }
}

fn found(entry: &Entry, above: Option<f64>) -> Vec<String> {
    let runs = entry.runs.len();
    let last = entry.last();
    let above = above.map_or_else(
        || "-".to_owned(),
        |share| {
            let sign = if share < 0.0 { "-" } else { "+" };
            format!("{sign}{}", percent(share.abs()))
        },
    );
    let mut cells = vec![
        entry.contestant.to_string(),
        spread(last.map(|last| last.lqo_error), runs),
        above,
        spread(last.and_then(|last| last.lqo_cindex), runs),
    ];
    let overlap = last.and_then(|last| last.overlap);
    cells.push(overlap.map_or_else(
        || "-".to_owned(),
        |share| format!("{:.0}%", 100.0 * share.mean),
    ));
    let differs = entry.first_difference();
    cells.push(differs.map_or_else(|| "-".to_owned(), |step| step.to_string()));
    let stability = entry.stability.as_ref();
    cells.push(measure(stability.and_then(|stability| stability.index)));
    cells
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bytes of memory"
)]
fn whole(bytes: f64) -> u64 {
    bytes as u64
}

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
pub(super) fn write_paths(comparison: &Comparison, writer: &mut dyn Write) -> io::Result<()> {
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
