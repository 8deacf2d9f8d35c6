//! The report as a page that needs nothing but a browser.

use std::fmt::Write as _;

use rankrls::compare::{self, Comparison};
use rankrls::plot::{Figure, escaped, html_page};

use super::summary::{answers, failure};
use super::tables::{costs, findings, measures};
use crate::cli::output::format_exact;
use crate::cli::page::{Rows, STYLE, origin, table};

/// The whole page.
pub(super) fn page(comparison: &Comparison) -> String {
    let title = format!("Strategies on {}", comparison.task.file);
    let mut body = format!("<main>\n<h1>{}</h1>\n", escaped(&title));
    body += &what(comparison);
    body += &at_a_glance(comparison);
    for (title, figure) in compare::diagrams(comparison) {
        let fragment = figure.to_html_fragment();
        let _ = writeln!(body, "<section>\n<h2>{title}</h2>\n{fragment}</section>");
    }
    body += &features(comparison);
    body += &tables(comparison);
    let _ = writeln!(body, "{}</main>", origin());
    html_page(&title, STYLE, &body)
}

/// The features by name, in order of selection: of each contestant its first run.
fn features(comparison: &Comparison) -> String {
    let named = compare::named(comparison);
    let runs: Vec<_> = named
        .iter()
        .filter_map(|(name, entry)| Some((name, entry.runs.first()?)))
        .collect();
    let mut html = "<section>\n<h2>Selected features</h2>\n".to_owned();
    if runs.iter().any(|(_, run)| run.seed.is_some()) {
        html += "<p class=\"soft\">Of several seeds the first.</p>\n";
    }
    let most = runs.iter().map(|(_, run)| run.steps.len()).max();
    let row = |step: usize| {
        let names = runs.iter().map(|(_, run)| {
            let step = run.steps.get(step)?;
            let name = step.name.clone().filter(|name| !name.is_empty());
            Some(name.unwrap_or_else(|| step.feature.to_string()))
        });
        let number = Some((step + 1).to_string());
        let cells = std::iter::once(number).chain(names);
        cells.map(Option::unwrap_or_default).collect()
    };
    let names = runs.iter().map(|(name, _)| (*name).clone());
    let rows = Rows {
        titles: std::iter::once("step".to_owned()).chain(names).collect(),
        rows: (0..most.unwrap_or(0)).map(row).collect(),
    };
    html + &table(" class=\"names\"", &rows, |_| "<tr>") + "</section>\n"
}

/// The data and the task.
fn what(comparison: &Comparison) -> String {
    let task = &comparison.task;
    let mut html = String::new();
    if let Some(data) = comparison.data {
        let _ = writeln!(
            html,
            "<p class=\"soft\">{} rows, {} queries, {} columns in {} classes, {} non-zeros; \
             {} features, lambda {}.</p>",
            data.rows,
            data.queries,
            data.columns,
            data.column_classes,
            data.nonzeros,
            task.k,
            format_exact(task.lambda)
        );
    }
    if let (Some(file), Some(test)) = (&task.test_file, &comparison.test) {
        let _ = writeln!(
            html,
            "<p class=\"soft\">Test data {}: {} rows, {} queries; convention {}.</p>",
            escaped(file),
            test.rows,
            test.queries,
            escaped(&test.convention)
        );
    }
    html
}

fn at_a_glance(comparison: &Comparison) -> String {
    let mut html = "<dl class=\"answers\">\n".to_owned();
    for (question, answer) in answers(comparison) {
        let (question, answer) = (escaped(question), escaped(&answer));
        let _ = writeln!(html, "<div><dt>{question}</dt><dd>{answer}</dd></div>");
    }
    html += "</dl>\n";
    for entry in comparison.strategies.iter().filter(|entry| !entry.ran()) {
        let _ = writeln!(
            html,
            "<p class=\"failed\">{}.</p>",
            escaped(&failure(entry))
        );
    }
    html
}

/// The diagrams of the page in one.
pub(super) fn figure(comparison: &Comparison) -> Figure {
    let mut all = Figure::new(format!("Strategies on {}", comparison.task.file));
    for (_, figure) in compare::diagrams(comparison) {
        all.panels.extend(figure.panels);
    }
    all
}

fn tables(comparison: &Comparison) -> String {
    let mut html = "<section>\n<h2>All figures</h2>\n".to_owned();
    if comparison
        .strategies
        .iter()
        .any(|entry| entry.runs.len() > 1)
    {
        html += "<p class=\"soft\">Means of several runs, ± their standard deviation.</p>\n";
    }
    let tag = |row: usize| match &comparison.strategies[row] {
        entry if !entry.ran() => "<tr class=\"failed\">",
        entry if entry.exact => "<tr class=\"exact\">",
        _ => "<tr>",
    };
    let measures = measures(comparison);
    for rows in [costs(comparison), findings(comparison)]
        .into_iter()
        .chain(measures)
    {
        html += &table("", &rows, tag);
    }
    html + "</section>\n"
}
