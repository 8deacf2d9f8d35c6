//! Figures of selections and models, from names and numbers.

use super::{BarPlot, Figure, LinePlot, Series};

/// The measures of a selection after each of its steps, under a name.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Path {
    /// Its name, such as the value of lambda; empty for none.
    pub name: String,
    /// Leave-query-out error and concordance index after each step.
    pub steps: Vec<(f64, Option<f64>)>,
}

impl Path {
    /// Error and concordance index after each step.
    pub fn new(
        name: impl Into<String>,
        steps: impl IntoIterator<Item = (f64, Option<f64>)>,
    ) -> Self {
        Self {
            name: name.into(),
            steps: steps.into_iter().collect(),
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
    let panel = |label: &str, value: fn(&(f64, Option<f64>)) -> Option<f64>| {
        let curve = |path: &Path| (path.name.clone(), path.steps.iter().map(value).collect());
        panel(label, paths.iter().map(curve).collect(), parameter, chosen)
    };
    Figure::new(title)
        .lines(panel("leave-query-out error", |step| Some(step.0)))
        .lines(panel("leave-query-out concordance index", |step| step.1))
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
    let marked = chosen.and_then(|(index, features)| {
        let series = plot.series.get(index)?;
        let (x, y) = *series.points.get(features.checked_sub(1)?)?;
        let label = match parameter {
            Some(parameter) => format!("{features} at {parameter} {}", series.name),
            None => features.to_string(),
        };
        Some((x, y?, label))
    });
    match marked {
        Some((x, y, label)) => plot.mark(x, y, label),
        None => plot,
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

const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

/// A ridge parameter: powers of two as such, others with six digits.
#[expect(clippy::cast_possible_truncation, reason = "exponents of floats")]
pub fn power(lambda: f64) -> String {
    let exponent = lambda.log2();
    if exponent.fract() != 0.0 || exponent == 0.0 {
        let digits = format!("{lambda:.5e}").parse();
        return digits.unwrap_or(lambda).to_string();
    }
    let digit = |char: char| match char.to_digit(10) {
        Some(digit) => DIGITS[digit as usize],
        None => '⁻',
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
