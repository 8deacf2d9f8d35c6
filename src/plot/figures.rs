//! Figures of selections and models, from names and numbers.

use super::{BarPlot, Figure, LinePlot, Series};

/// The measures of a selection after each of its steps, under a name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Path {
    /// Its name, such as the value of lambda; empty for none.
    pub name: String,
    /// Leave-query-out error after each step.
    pub lqo_error: Vec<f64>,
    /// Concordance index of the leave-query-out predictions after each step.
    pub lqo_cindex: Vec<Option<f64>>,
}

impl Path {
    /// Error and concordance index after each step.
    pub fn new(
        name: impl Into<String>,
        steps: impl IntoIterator<Item = (f64, Option<f64>)>,
    ) -> Self {
        let (lqo_error, lqo_cindex) = steps.into_iter().unzip();
        Self {
            name: name.into(),
            lqo_error,
            lqo_cindex,
        }
    }
}

/// A figure of two panels: error and concordance index, both leave-query-out, against the number
/// of features, one line a path. `parameter` is what the paths are values of, in order, if they
/// are. `chosen` is the 0-based path and the number of features that were chosen, if they were;
/// that path is emphasised and the point marked.
pub fn paths(
    title: impl Into<String>,
    paths: &[Path],
    parameter: Option<&str>,
    chosen: Option<(usize, usize)>,
) -> Figure {
    let curves = |values: &dyn Fn(&Path) -> Vec<Option<f64>>| {
        let curve = |path: &Path| (path.name.clone(), values(path));
        paths.iter().map(curve).collect::<Vec<_>>()
    };
    let errors = |path: &Path| path.lqo_error.iter().copied().map(Some).collect();
    let cindices = |path: &Path| path.lqo_cindex.clone();
    let panel = |label: &str, curves| panel(label, curves, parameter, chosen);
    Figure::new(title)
        .lines(panel("leave-query-out error", curves(&errors)))
        .lines(panel(
            "leave-query-out concordance index",
            curves(&cindices),
        ))
}

/// A panel of values against the number of features, from one on: one line for each of `curves`,
/// names with values. `parameter` and `chosen` as in [`paths`].
pub fn panel(
    label: impl Into<String>,
    curves: Vec<(String, Vec<Option<f64>>)>,
    parameter: Option<&str>,
    chosen: Option<(usize, usize)>,
) -> LinePlot {
    let mut plot = LinePlot::new("features", label);
    plot.parameter = parameter.map(str::to_owned);
    for (index, (name, values)) in curves.into_iter().enumerate() {
        let points = values.into_iter().zip(1..);
        let points = points.map(|(value, features)| (f64::from(features), value));
        let mut series = Series::new(name, points);
        series.emphasis = chosen.is_some_and(|(chosen, _)| chosen == index);
        plot.series.push(series);
    }
    let Some((index, features)) = chosen else {
        return plot;
    };
    let series = plot.series.get(index).and_then(|series| {
        let point = series.points.get(features.checked_sub(1)?)?;
        Some((point.0, point.1?, series.name.clone()))
    });
    match (series, parameter) {
        (Some((x, y, name)), Some(parameter)) => {
            plot.mark(x, y, format!("{features} at {parameter} {name}"))
        }
        (Some((x, y, _)), None) => plot.mark(x, y, features.to_string()),
        (None, _) => plot,
    }
}

/// Bars of weights by name: in the order in which they come, or the largest first; only the
/// `most` largest in magnitude, if there are more. `origin` stands after `Weights` in the title.
pub fn weights(origin: &str, weights: Vec<(String, f64)>, in_order: bool, most: usize) -> Figure {
    let count = weights.len();
    let mut kept: Vec<_> = weights.into_iter().enumerate().collect();
    kept.sort_by(|(_, a), (_, b)| b.1.abs().total_cmp(&a.1.abs()));
    kept.truncate(most);
    let order = if in_order {
        kept.sort_unstable_by_key(|(index, _)| *index);
        "in order of selection"
    } else {
        "the largest first"
    };
    let part = if kept.len() < count {
        format!("The {} largest of {count} weights", kept.len())
    } else {
        "All weights".to_owned()
    };
    let plot = BarPlot {
        x_label: "weight".to_owned(),
        bars: kept.into_iter().map(|(_, bar)| bar).collect(),
    };
    Figure::new(format!("Weights {origin}"))
        .note(format!("{part}, {order}."))
        .bars(plot)
}

/// A ridge parameter: powers of two as such, others with six digits.
#[expect(clippy::cast_possible_truncation, reason = "exponents of floats")]
pub fn power(lambda: f64) -> String {
    let exponent = lambda.log2();
    if exponent.fract() != 0.0 || exponent == 0.0 {
        let digits = format!("{lambda:.5e}").parse();
        return digits.unwrap_or(lambda).to_string();
    }
    let digit = |char: char| match char {
        '-' => '⁻',
        '1' => '¹',
        '2' => '²',
        '3' => '³',
        '0' | '4'..='9' => char::from_u32(0x2070 + (char as u32 - '0' as u32)).unwrap_or(char),
        char => char,
    };
    let exponent = (exponent as i32).to_string();
    format!("2{}", exponent.chars().map(digit).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_named_as_such() {
        for (value, text) in [
            (1.0, "1"),
            (0.000_976_562_5, "2⁻¹⁰"),
            (8.0, "2³"),
            (2_f64.powi(45), "2⁴⁵"),
            (3.0, "3"),
        ] {
            assert_eq!(power(value), text);
        }
    }
}
