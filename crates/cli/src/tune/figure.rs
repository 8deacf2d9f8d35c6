//! The figure of `tune`: which strategy, which lambda, which number of features.

use rankrls::greedy::job::TestPath;
use rankrls::metrics::{Measure, Metric};
use rankrls::tune::{Point, Rule, Tune, Tuned};
use rankrls::{HoldOut, Step};
use rankrls_plot::{Figure, LinePlot, Series, Stroke, Tone};

use super::report;
use crate::figures::{hue, lambda_name, note, test_panels};
use crate::numbers::counted;

/// Panels of values against the number of features, a line a path, the chosen model marked: the measure
/// that models were judged by, leave-query-out figures where they are others and comparable, and the
/// measures of the test data along the chosen path.
pub(super) fn figure(tuned: &Tuned, options: &Tune, test: Option<&TestPath<'_>>) -> Figure {
    let judged = panel(judged_by(options), tuned, options, |point| point.score.mean);
    let judged = with_standard_errors(judged, tuned, options.measure);
    let judged = with_choice(judged, tuned, options);
    let strategy = tuned.chosen().options.strategy;
    let tested = test.into_iter();
    let tested = tested.flat_map(|test| test_panels(test, hue(strategy)));
    let others = lqo_panels(tuned, options).into_iter().chain(tested);
    let figure = Figure::new(title(tuned, options)).lines(judged).columns(2);
    others
        .fold(figure, Figure::lines)
        .note(format!("Thick line: the chosen path. {}", note(test)))
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

/// Panels of leave-query-out figures that are not those of the first panel.
fn lqo_panels(tuned: &Tuned, options: &Tune) -> Vec<LinePlot> {
    let judges =
        |metric: Option<Metric>| options.is_optimistic() && options.measure.metric() == metric;
    let panel = |label: &str, value: fn(&Step) -> Option<f64>| {
        panel(label.to_owned(), tuned, options, |point| value(&point.step))
    };
    let mut panels = Vec::new();
    if !are_comparable(tuned) {
        return panels;
    }
    if !judges(None) {
        panels.push(panel("leave-query-out error", |step| Some(step.lqo_error)));
    }
    if !judges(Some(Metric::Concordance)) {
        let label = "leave-query-out concordance index";
        panels.push(panel(label, |step| step.lqo_cindex));
    }
    panels
}

/// Whether leave-query-out figures of all paths may be compared: they are of the same labels, and no
/// teacher has seen these.
fn are_comparable(tuned: &Tuned) -> bool {
    let mut paths = tuned.outcomes.iter();
    let scale = tuned.chosen().labels();
    paths.all(|path| {
        let distils = path.options.strategy.distils();
        path.labels() == scale && !distils
    })
}

/// A line a path of what `value` says of its models: lambdas are shades of the colour of the strategy.
fn panel(
    label: String,
    tuned: &Tuned,
    options: &Tune,
    value: impl Fn(&Point) -> Option<f64>,
) -> LinePlot {
    let lambdas = tuned.outcomes.iter().map(|path| path.lambda.value());
    let mut lambdas: Vec<f64> = lambdas.collect();
    lambdas.sort_by(f64::total_cmp);
    lambdas.dedup();
    let paths = tuned.outcomes.iter().enumerate();
    let lines = paths.map(|(position, path)| {
        let lambda = path.lambda.value();
        let place = lambdas.partition_point(|other| *other < lambda);
        let tone = if position == tuned.position {
            Tone::Strong
        } else {
            Tone::Faint(place as f64 / (lambdas.len() - 1).max(1) as f64)
        };
        let scales = options.labels.iter();
        let dashes = scales.take_while(|scale| **scale != path.labels()).count();
        let dashes = if options.labels.is_empty() { 0 } else { dashes };
        // The title names a single path.
        let name = (tuned.outcomes.len() > 1).then(|| lambda_name(lambda, path.unit));
        let line = Series::path(name.unwrap_or_default(), path.points.iter().map(&value));
        line.group(report::name(options, path))
            .tone(tone)
            .stroke(Stroke {
                hue: hue(path.options.strategy),
                dashes,
            })
    });
    lines.fold(LinePlot::new("features", label), LinePlot::series)
}

/// The measure that models are judged by, and on which predictions.
fn judged_by(options: &Tune) -> String {
    let measure = match options.measure {
        Measure::Squared => "squared error a query".to_owned(),
        measure => measure.to_string(),
    };
    match options.evidence {
        HoldOut::Data { .. } => format!("{measure}, validation data"),
        HoldOut::Folds { count, .. } => format!("{measure}, {count} folds"),
        _ => format!("leave-query-out {measure}"),
    }
}

/// Marks the chosen model, and says by which rule.
fn with_choice(panel: LinePlot, tuned: &Tuned, options: &Tune) -> LinePlot {
    let k = tuned.k;
    let because = match options.rule {
        Rule::Best => "the best".to_owned(),
        Rule::OneSe => "within one standard error of the best".to_owned(),
        Rule::MinImprovement { least, .. } => format!("the last that improves by {least}"),
    };
    match tuned.point().score.mean {
        Some(value) => panel.mark(
            k as f64,
            value,
            format!("{}: {because}", counted(k, "feature")),
        ),
        None => panel,
    }
}

/// The panel of `measure` with the standard error of the chosen path, and the value one standard
/// error from the best.
fn with_standard_errors(mut panel: LinePlot, tuned: &Tuned, measure: Measure) -> LinePlot {
    let spread = |point: &Point| Some((point.score.mean?, point.score.standard_error?));
    if let Some(series) = panel.series.get_mut(tuned.position) {
        let points = (1..).zip(&tuned.chosen().points);
        let band = points.filter_map(|(features, point)| {
            let (mean, error) = spread(point)?;
            Some((f64::from(features), mean - error, mean + error))
        });
        series.band = band.collect();
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
    panel.level(limit, "one standard error from the best")
}
