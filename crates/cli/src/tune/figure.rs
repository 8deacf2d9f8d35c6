//! The figure of `tune`: the strategy, the lambda, the number of features.

use rankrls::greedy::job::TestPath;
use rankrls::metrics::{Measure, Metric};
use rankrls::tune::{Point, Rule, Tune, Tuned};
use rankrls::{HoldOut, Step};
use rankrls_plot::{Hue, Line, Lines, Panel, number};

use super::report;
use crate::figures::{lambda_name, note, panel, test_panels};
use crate::numbers::{counted, exact};

/// Panels of values against the number of features, a line a path, the chosen model marked. They show the measure
/// that judged models, other comparable leave-query-out figures, and the measures of the test data along the chosen
/// path.
pub(super) fn figure(tuned: &Tuned, options: &Tune, test: Option<&TestPath<'_>>) -> Lines {
    let judged = paths(judged_by(options), tuned, options, |point| point.score.mean);
    let judged = with_choice(
        with_standard_errors(judged, tuned, options.measure),
        tuned,
        options,
    );
    let panels = [judged].into_iter().chain(lqo_panels(tuned, options));
    Lines {
        title: title(tuned, options),
        panels: panels
            .chain(test.into_iter().flat_map(test_panels))
            .collect(),
        names: Vec::new(),
        note: note(test),
    }
}

/// The choice, in the words of a title.
fn title(tuned: &Tuned, options: &Tune) -> String {
    let chosen = tuned.chosen();
    let lambda = lambda_name(chosen.lambda.value(), chosen.unit);
    let features = counted(tuned.k, "feature");
    let strategy = chosen.options.strategy.to_string();
    let several = !options.labels.is_empty();
    let labels = several.then(|| format!("labels {}", chosen.labels()));
    let named = [strategy].into_iter().chain(labels);
    let parts = named.chain([format!("lambda {lambda}"), features]);
    format!("Chosen: {}", parts.collect::<Vec<_>>().join(", "))
}

/// Panels of leave-query-out figures that the first panel lacks.
fn lqo_panels(tuned: &Tuned, options: &Tune) -> Vec<Panel> {
    let judges =
        |metric: Option<Metric>| options.is_optimistic() && options.measure.metric() == metric;
    let panel = |label: &str, value: fn(&Step) -> Option<f64>| {
        paths(label.to_owned(), tuned, options, |point| value(&point.step))
    };
    let mut panels = Vec::new();
    if !are_comparable(tuned) {
        return panels;
    }
    if !judges(None) {
        panels.push(panel("leave-query-out error", |step| Some(step.lqo_error)));
    }
    if !judges(Some(Metric::CONCORDANCE)) {
        let label = "leave-query-out concordance index";
        panels.push(panel(label, |step| step.lqo_cindex));
    }
    panels
}

/// Whether leave-query-out figures of all paths compare: they have the same labels, which no teacher has seen.
fn are_comparable(tuned: &Tuned) -> bool {
    let mut paths = tuned.outcomes.iter();
    let scale = tuned.chosen().labels();
    paths.all(|path| {
        let distils = path.options.strategy.distils();
        path.labels() == scale && !distils
    })
}

/// A line a path through the `value` of its models, the chosen path last. Other paths are grey if they differ in
/// lambda alone.
fn paths(
    label: String,
    tuned: &Tuned,
    options: &Tune,
    value: impl Fn(&Point) -> Option<f64>,
) -> Panel {
    let chosen = tuned.position;
    let own = report::name(options, tuned.chosen());
    let mut others: Vec<String> = Vec::new();
    let mut lines: Vec<Line> = Vec::new();
    for (position, path) in tuned.outcomes.iter().enumerate() {
        let group = report::name(options, path);
        let is_other = group != own && !others.contains(&group);
        others.extend(is_other.then(|| group.clone()));
        let place = others.iter().position(|other| *other == group);
        let (name, hue) = if position == chosen {
            ("the chosen path".to_owned(), Hue::Blue)
        } else if place.is_some() {
            (group, Hue::Orange)
        } else {
            ("other lambdas".to_owned(), Hue::Grey)
        };
        lines.push(Line {
            detail: format!("lambda {}", lambda_name(path.lambda.value(), path.unit)),
            dashes: place.unwrap_or(0),
            bold: position == chosen,
            ..Line::path(name, path.points.iter().map(&value), hue)
        });
    }
    let last = lines.remove(chosen);
    lines.push(last);
    panel(label, lines)
}

/// The measure that judges models, and its predictions.
fn judged_by(options: &Tune) -> String {
    let measure = match options.measure {
        Measure::Squared => "squared error a query".to_owned(),
        measure @ Measure::Of(..) => measure.to_string(),
    };
    match options.holdout {
        HoldOut::Data { .. } => format!("{measure}, validation data"),
        HoldOut::Folds { count, .. } => format!("{measure}, {count} folds"),
        _ => format!("leave-query-out {measure}"),
    }
}

/// Marks the chosen model by a line up to it, and names the rule.
fn with_choice(mut panel: Panel, tuned: &Tuned, options: &Tune) -> Panel {
    let k = tuned.k;
    let because = match options.rule {
        Rule::Best => "the best".to_owned(),
        Rule::OneSe => "within one standard error of the best".to_owned(),
        Rule::MinImprovement { least, .. } => format!("the last that improves by {}", exact(least)),
    };
    let points = panel.lines.iter().flat_map(|line| &line.points);
    let lowest = points.filter_map(|&(_, y)| y).reduce(f64::min);
    let ends = [lowest, tuned.point().score.mean].map(|y| (k as f64, y));
    panel.lines.push(Line {
        dashes: 2,
        ..Line::new(
            format!("{}: {because}", counted(k, "feature")),
            ends,
            Hue::Ink,
        )
    });
    panel
}

/// The panel of `measure` with the standard error of the chosen path, and the value one standard
/// error from the best.
fn with_standard_errors(mut panel: Panel, tuned: &Tuned, measure: Measure) -> Panel {
    let spread = |point: &Point| Some((point.score.mean?, point.score.standard_error?));
    if let Some(line) = panel.lines.last_mut() {
        let points = (1..).zip(&tuned.chosen().points);
        let band = points.filter_map(|(features, point)| {
            let (mean, error) = spread(point)?;
            Some((f64::from(features), mean - error, mean + error))
        });
        line.band = band.collect();
    }
    let points = tuned.outcomes.iter().flat_map(|outcome| &outcome.points);
    let best = points.filter_map(spread).reduce(|best, other| {
        if measure.better(other.0, best.0) {
            other
        } else {
            best
        }
    });
    let Some((mean, error)) = best else {
        return panel;
    };
    let limit = measure.worsened(mean, error);
    let longest = tuned.outcomes.iter().map(|path| path.points.len()).max();
    let ends = [1, longest.unwrap_or(1)].map(|k| (k as f64, Some(limit)));
    let name = format!("one standard error from the best: {}", number(limit, 4));
    panel.lines.push(Line {
        dashes: 1,
        ..Line::new(name, ends, Hue::Grey)
    });
    panel
}
