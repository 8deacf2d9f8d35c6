//! The figure of `tune`: which strategy, which lambda, which number of features.

use rankrls::greedy::job::TestPath;
use rankrls::metrics::Metric;
use rankrls::tune::{Evidence, Measure, Point, Rule, TuneOptions, Tuned};
use rankrls::{Step, StrategyKind};
use rankrls_plot::{Figure, LinePlot, Series, Stroke, Tone};

use super::report;
use crate::figures::{hue, lambda_name, note, test_panels};
use crate::numbers::counted;

/// Panels of values against the number of features, a line a path, the chosen model marked: the measure
/// that models were judged by, leave-query-out figures where they are others and comparable, and the
/// measures of the test data along the chosen path.
pub(super) fn figure(tuned: &Tuned, options: &TuneOptions, test: Option<&TestPath<'_>>) -> Figure {
    let (chosen, k) = (tuned.chosen(), tuned.choice.k);
    let lambda = lambda_name(chosen.lambda.value(), chosen.unit);
    let strategy = chosen.options.strategy.map(|kind| kind.to_string());
    let several = !options.labels.is_empty();
    let labels = several.then(|| format!("labels {}", chosen.labels()));
    let numbers = [format!("lambda {lambda}"), counted(k, "feature")];
    let parts: Vec<String> = strategy.into_iter().chain(labels).chain(numbers).collect();
    let title = format!("Chosen: {}", parts.join(", "));
    let judged = panel(judged_by(options), tuned, options, |point| point.score.mean);
    let judged = with_choice(
        with_standard_errors(judged, tuned, options.measure),
        tuned,
        options,
    );
    let mut figure = Figure::new(title).lines(judged);
    let mut lqo = |label: &str, value: fn(&Step) -> Option<f64>| {
        let panel = panel(label.to_owned(), tuned, options, |point| value(&point.step));
        figure.panels.push(rankrls_plot::Panel::Lines(panel));
    };
    let judges = |measure: Measure| options.evidence.is_optimistic() && options.measure == measure;
    let comparable = are_comparable(tuned);
    if comparable && !judges(Measure::SquaredError) {
        lqo("leave-query-out error", |step| Some(step.lqo_error));
    }
    if comparable && !judges(Measure::Metric(Metric::Concordance)) {
        lqo("leave-query-out concordance index", |step| step.lqo_cindex);
    }
    let tested = test.into_iter();
    let tested = tested.flat_map(|test| test_panels(test, hue(chosen.options.strategy)));
    let figure = tested.fold(figure, Figure::lines);
    figure
        .columns(2)
        .note(format!("Thick line: the chosen path. {}", note(test)))
}

/// Whether leave-query-out figures of all paths may be compared: they are of the same labels, and no
/// teacher has seen these.
fn are_comparable(tuned: &Tuned) -> bool {
    let mut paths = tuned.outcomes.iter();
    let scale = tuned.chosen().labels();
    paths.all(|path| {
        let distils = path.options.strategy.is_some_and(StrategyKind::distils);
        path.labels() == scale && !distils
    })
}

/// A line a path of what `value` says of its models: lambdas are shades of the colour of the strategy.
fn panel(
    label: String,
    tuned: &Tuned,
    options: &TuneOptions,
    value: impl Fn(&Point) -> Option<f64>,
) -> LinePlot {
    let mut lambdas: Vec<f64> = tuned
        .outcomes
        .iter()
        .map(|path| path.lambda.value())
        .collect();
    lambdas.sort_by(f64::total_cmp);
    lambdas.dedup();
    let paths = tuned.outcomes.iter().enumerate();
    let lines = paths.map(|(position, path)| {
        let lambda = path.lambda.value();
        let place = lambdas.partition_point(|other| *other < lambda);
        let tone = if position == tuned.choice.position {
            Tone::Strong
        } else {
            Tone::Faint(place as f64 / (lambdas.len() - 1).max(1) as f64)
        };
        let scales = options.labels.iter();
        let dashes = scales.take_while(|scale| **scale != path.labels()).count();
        let dashes = if options.labels.is_empty() { 0 } else { dashes };
        Series::path(
            lambda_name(lambda, path.unit),
            path.points.iter().map(&value),
        )
        .group(report::name(options, path))
        .tone(tone)
        .stroke(Stroke {
            hue: hue(path.options.strategy),
            dashes,
        })
    });
    lines.fold(LinePlot::new("features", label), LinePlot::series)
}

/// The measure that models are judged by, and on which predictions.
fn judged_by(options: &TuneOptions) -> String {
    let measure = match options.measure {
        Measure::SquaredError => "squared error a query".to_owned(),
        Measure::Metric(metric) => metric.to_string(),
    };
    match options.evidence {
        Evidence::Lqo => format!("leave-query-out {measure}"),
        Evidence::Validation { .. } => format!("{measure}, validation data"),
        Evidence::Folds { count, .. } => format!("{measure}, {count} folds"),
    }
}

/// Marks the chosen model, and says by which rule.
fn with_choice(panel: LinePlot, tuned: &Tuned, options: &TuneOptions) -> LinePlot {
    let k = tuned.choice.k;
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
    if let Some(series) = panel.series.get_mut(tuned.choice.position) {
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
