//! Diagrams of a comparison.

use super::{Comparison, Entry, StepEntry, duration};
use crate::plot::{Bar, BarPlot, Figure, LinePlot, Scale, Series};

/// Leave-query-out error and concordance index against the number of features.
pub fn errors(comparison: &Comparison) -> Figure {
    let error = lines(comparison, "leave-query-out error", &|step| {
        Some(step.lqo_error.mean)
    });
    let cindex = lines(comparison, "leave-query-out concordance index", &|step| {
        step.lqo_cindex.map(|spread| spread.mean)
    });
    Figure::new("").lines(error).lines(cindex)
}

/// Measures of the test data against the number of features; `None` without test data.
pub fn tests(comparison: &Comparison) -> Option<Figure> {
    comparison.test.as_ref()?;
    let mut figure = Figure::new("");
    for metric in &comparison.task.metrics {
        let label = format!("{metric} of the test data");
        figure = figure.lines(lines(comparison, &label, &|step| {
            step.measure(metric).map(|spread| spread.mean)
        }));
    }
    Some(figure)
}

/// Overlap with the exact selection against the number of features; `None` if no exact strategy
/// ran.
pub fn overlaps(comparison: &Comparison) -> Option<Figure> {
    comparison.ran().find(|entry| entry.exact)?;
    let label = "share of the exact features";
    Some(Figure::new("").lines(lines(comparison, label, &|step| {
        step.overlap.map(|spread| spread.mean)
    })))
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
    value: &dyn Fn(&StepEntry) -> Option<f64>,
) -> LinePlot {
    let mut plot = LinePlot::new("features", label);
    for (name, entry) in named(comparison) {
        let points = entry
            .steps
            .iter()
            .map(|step| (step.step as f64, value(step)));
        let series = Series::new(name, points);
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
fn named(comparison: &Comparison) -> Vec<(String, &Entry)> {
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
