//! The figures of all strategies: as tables for people, and all steps of all runs as CSV.

use std::fmt::Write as _;
use std::io::{self, Write};

use rankrls::compare::{Comparison, Entry, RunEntry, SelectedStep, Spread, duration};
use rankrls::memory::Bytes;

use super::summary::{answers, failure, percent, spread};
use crate::cli::output::{format_exact, measure, or_blank, or_dash, printable, table};
use crate::cli::page::Rows;

/// Tables, then findings.
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

/// Time and memory of each strategy.
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
    let time = |spread: Option<Spread>| or_dash(spread, |spread| duration(spread.mean));
    let memory = match (entry.peak_rss_bytes, entry.needs_bytes) {
        (None, Some(_)) => "does not fit".to_owned(),
        (None, None) if !entry.ran() => "did not run".to_owned(),
        (peak, _) => or_dash(peak, |peak| Bytes(whole(peak.mean)).to_string()),
    };
    vec![
        entry.contestant.to_string(),
        if entry.exact { "yes" } else { "no" }.to_owned(),
        entry.runs.len().to_string(),
        time(entry.select_seconds),
        time(entry.seconds_per_feature),
        memory,
        or_dash(entry.evaluated, |spread| format!("{:.0}", spread.mean)),
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

/// Errors and features of each strategy.
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
    let found = |entry: &Entry| {
        let (runs, last) = (entry.runs.len(), entry.last());
        let mut losses = losses.iter();
        let above = losses.find(|loss| loss.strategy == entry.contestant);
        let above = or_dash(above, |loss| {
            let sign = if loss.error < 0.0 { "-" } else { "+" };
            format!("{sign}{}", percent(loss.error.abs()))
        });
        let overlap = last.and_then(|last| last.overlap);
        let stability = entry.stability.as_ref();
        vec![
            entry.contestant.to_string(),
            spread(last.map(|last| last.lqo_error), runs),
            above,
            spread(last.and_then(|last| last.lqo_cindex), runs),
            or_dash(overlap, |share| format!("{:.0}%", 100.0 * share.mean)),
            or_dash(entry.first_difference(), |step| step.to_string()),
            measure(stability.and_then(|stability| stability.index)),
        ]
    };
    Rows {
        titles: titles.map(str::to_owned).to_vec(),
        rows: comparison.strategies.iter().map(found).collect(),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bytes of memory"
)]
fn whole(bytes: f64) -> u64 {
    bytes as u64
}

/// A step of a run.
struct Line<'a> {
    entry: &'a Entry,
    run: &'a RunEntry,
    step: &'a SelectedStep,
    /// From 1.
    number: usize,
    overlap: Option<f64>,
}

type Cell = fn(&Line<'_>) -> String;

/// Titles and cells of the steps, before those of the measures.
const COLUMNS: [(&str, Cell); 15] = [
    ("strategy", |line| line.entry.contestant.to_string()),
    ("exact", |line| line.entry.exact.to_string()),
    ("seed", |line| or_blank(line.run.seed)),
    ("step", |line| line.number.to_string()),
    ("feature", |line| line.step.feature.to_string()),
    ("name", |line| or_blank(line.step.name.as_ref())),
    ("lqo_error", |line| line.step.lqo_error.to_string()),
    ("lqo_cindex", |line| or_blank(line.step.lqo_cindex)),
    ("evaluated", |line| line.step.evaluated.to_string()),
    ("overlap", |line| or_blank(line.overlap)),
    ("load_seconds", |line| line.run.load_seconds.to_string()),
    ("select_seconds", |line| line.run.select_seconds.to_string()),
    ("seconds_per_feature", |line| {
        (line.run.select_seconds / line.run.steps.len() as f64).to_string()
    }),
    ("peak_rss_bytes", |line| or_blank(line.run.peak_rss_bytes)),
    ("error", |_| String::new()),
];

/// A line a step; one with an error and no step for a strategy that did not run. What belongs to
/// a run as a whole is the same in all its lines.
pub(super) fn write_paths(comparison: &Comparison, writer: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::Writer::from_writer(writer);
    let metrics = &comparison.task.metrics;
    let titles = COLUMNS.iter().map(|(title, _)| (*title).to_owned());
    let measures = metrics.iter().map(|metric| format!("test_{metric}"));
    writer.write_record(titles.chain(measures))?;
    for entry in &comparison.strategies {
        if let Some(error) = &entry.error {
            let mut cells = vec![String::new(); COLUMNS.len() + metrics.len()];
            cells[0] = entry.contestant.to_string();
            cells[1] = entry.exact.to_string();
            cells[COLUMNS.len() - 1].clone_from(error);
            writer.write_record(cells)?;
        }
        for (index, run) in entry.runs.iter().enumerate() {
            for (step, number) in run.steps.iter().zip(1..) {
                let overlaps = entry.overlaps.get(index);
                let line = Line {
                    entry,
                    run,
                    step,
                    number,
                    overlap: overlaps.and_then(|overlap| overlap.shares.get(number - 1).copied()),
                };
                let cells = COLUMNS.iter().map(|(_, cell)| cell(&line));
                let value = |metric: &String| step.test.get(metric).copied().flatten();
                let measured = metrics.iter().map(|metric| or_blank(value(metric)));
                writer.write_record(cells.chain(measured))?;
            }
        }
    }
    writer.flush()
}
