//! Diagrams of a comparison.

use super::{Comparison, Entry, Spread, StepEntry, duration};
use crate::plot::{Bar, BarPlot, Figure, LinePlot, Scale, Series};

/// The diagrams that there are, each under a title.
pub fn diagrams(comparison: &Comparison) -> Vec<(&'static str, Figure)> {
    let curves =
        |label: &str, value: &dyn Fn(&StepEntry) -> Option<Spread>| lines(comparison, label, value);
    let mut all = vec![
        ("Time and memory", costs(comparison)),
        ("Error against the number of features", errors(comparison)),
    ];
    if comparison.test.is_some() {
        let metrics = comparison.task.metrics.iter();
        let panels = metrics.map(|metric| {
            let label = format!("{metric} of the test data");
            curves(&label, &|step| step.measure(metric))
        });
        let figure = panels.fold(Figure::new(""), Figure::lines);
        all.push(("Measures of the test data", figure));
    }
    if comparison.ran().any(|entry| entry.exact) {
        let overlap = curves("share of the exact features", &|step| step.overlap);
        let figure = Figure::new("").lines(overlap);
        all.push(("Overlap with the exact selection", figure));
    }
    all
}

/// Leave-query-out error and concordance index, with lines for RankRLS on all columns.
fn errors(comparison: &Comparison) -> Figure {
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

/// Time and memory, both on logarithmic scales.
fn costs(comparison: &Comparison) -> Figure {
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

/// Means of `value` against the number of features.
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
        let mut series = Series::new(name, points).band(band);
        series.emphasis = entry.exact;
        plot = plot.series(series);
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

/// Bars of all contestants with notes beside them.
fn bars(
    comparison: &Comparison,
    label: &str,
    value: &dyn Fn(&Entry) -> Option<(f64, String)>,
) -> BarPlot {
    let mut plot = BarPlot::new(label);
    plot.scale = Scale::Log;
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
        plot.bars.push(Bar {
            note: Some(note),
            ..Bar::new(name, length)
        });
    }
    plot
}
