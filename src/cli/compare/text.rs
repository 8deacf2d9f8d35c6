//! What `compare` prints for people.

use std::fmt::Write as _;

use rankrls::compare::Comparison;

use super::rows::{Rows, costs, findings, measures};
use super::summary::{answers, failure};
use crate::cli::output::{format_exact, printable};
use crate::cli::output::{lines, table};

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
    lines(table)
}
