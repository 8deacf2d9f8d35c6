//! Diagrams of a comparison.

use super::{Comparison, Entry, Spread, StepEntry, duration};
use crate::plot::{Bar, BarPlot, Figure, LinePlot, Scale, Series};

/// Leave-query-out error and concordance index against the number of features.
pub fn errors(comparison: &Comparison) -> Figure {
    let error = lines(comparison, "leave-query-out error", &|step| {
        Some(step.lqo_error)
    });
    let cindex = lines(comparison, "leave-query-out concordance index", &|step| {
        step.lqo_cindex
    });
    let all = |plot: LinePlot, value: Option<f64>| match value {
        Some(value) => plot.level(value, "RankRLS on all columns"),
        None => plot,
    };
    let columns = comparison.all_columns.as_ref();
    Figure::new("")
        .lines(all(error, columns.and_then(|all| all.lqo_error)))
        .lines(all(cindex, columns.and_then(|all| all.lqo_cindex)))
}

/// Measures of the test data against the number of features; `None` without test data.
pub fn tests(comparison: &Comparison) -> Option<Figure> {
    comparison.test.as_ref()?;
    let mut figure = Figure::new("");
    for metric in &comparison.task.metrics {
        let label = format!("{metric} of the test data");
        figure = figure.lines(lines(comparison, &label, &|step| step.measure(metric)));
    }
    Some(figure)
}

/// Overlap with the exact selection against the number of features; `None` if no exact strategy
/// ran.
pub fn overlaps(comparison: &Comparison) -> Option<Figure> {
    comparison.ran().find(|entry| entry.exact)?;
    let label = "share of the exact features";
    Some(Figure::new("").lines(lines(comparison, label, &|step| step.overlap)))
}

/// Time and memory, both on logarithmic scales.
pub fn costs(comparison: &Comparison) -> Figure {
    let time = bars(comparison, "time of selecting, seconds", &|entry| {
        let seconds = entry.select_seconds?.mean;
        Some((seconds, duration(seconds)))
    });
    let memory = bars(comparison, "peak memory of the process, MiB", &|entry| {
        let mebibytes = entry.peak_rss_bytes?.mean / f64::from(1 << 20);
        Some((mebibytes, format!("{mebibytes:.1} MiB")))
    });
    Figure::new("").bars(time).bars(memory)
}

fn lines(
    comparison: &Comparison,
    label: &str,
    value: &dyn Fn(&StepEntry) -> Option<Spread>,
) -> LinePlot {
    let mut plot = LinePlot::new("features", label);
    for (name, entry) in named(comparison) {
        let steps = entry.steps.iter();
        let values: Vec<_> = steps.map(|step| (step.step as f64, value(step))).collect();
        let points = values
            .iter()
            .map(|(step, spread)| (*step, spread.map(|spread| spread.mean)));
        // Of several seeds, from the least value to the largest.
        let band = values.iter().filter_map(|(step, spread)| {
            let spread = spread.filter(|_| entry.runs.len() > 1)?;
            Some((*step, spread.least, spread.largest))
        });
        let series = Series::new(name, points).band(band);
        plot = plot.series(if entry.exact {
            series.emphasised()
        } else {
            series
        });
    }
    plot
}

/// The contestants that ran, by name. Exact ones that select the same are one line, not several
/// that hide each other.
pub fn named(comparison: &Comparison) -> Vec<(String, &Entry)> {
    let mut same = Vec::new();
    let mut named = Vec::new();
    for entry in comparison.ran() {
        if entry.exact && entry.first_difference().is_none() {
            same.push(entry);
        } else {
            named.push((entry.contestant.to_string(), entry));
        }
    }
    match same[..] {
        [] => {}
        [one] => named.insert(0, (one.contestant.to_string(), one)),
        [first, ..] => named.insert(0, ("exact".to_owned(), first)),
    }
    named
}

/// Lengths of bars, and what stands beside them.
fn bars(
    comparison: &Comparison,
    label: &str,
    value: &dyn Fn(&Entry) -> Option<(f64, String)>,
) -> BarPlot {
    let mut plot = BarPlot::new(label).scale(Scale::Log);
    for entry in &comparison.strategies {
        let contestant = entry.contestant;
        let name = if entry.exact {
            format!("{contestant} (exact)")
        } else {
            contestant.to_string()
        };
        let (length, note) = value(entry).unzip();
        let note = match (&entry.error, entry.needs_bytes) {
            (None, _) => note.unwrap_or_else(|| "unknown".to_owned()),
            (Some(_), Some(_)) => "does not fit".to_owned(),
            (Some(_), None) => "did not run".to_owned(),
        };
        plot = plot.bar(Bar::new(name, length).note(note));
    }
    plot
}
