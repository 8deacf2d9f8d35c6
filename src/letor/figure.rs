//! Curves of validation measures against the number of features.

use super::Outcome;
use crate::Lambda;
use crate::plot::{Figure, LinePlot, Series};

/// A measure that there are curves of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curves {
    /// Mean average precision.
    Map,
    /// Mean NDCG.
    MeanNdcg,
}

impl Curves {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Map, Self::MeanNdcg];

    /// The name of the measure.
    pub fn name(self) -> &'static str {
        match self {
            Self::Map => "map",
            Self::MeanNdcg => "mean-ndcg",
        }
    }

    /// The place in [`MEASURES`](super::MEASURES).
    fn index(self) -> usize {
        match self {
            Self::Map => 0,
            Self::MeanNdcg => 2,
        }
    }

    fn label(self) -> &'static str {
        match self {
            Self::Map => "validation MAP",
            Self::MeanNdcg => "validation mean NDCG",
        }
    }
}

/// The curves of a measure on a fold, one line a ridge parameter, the chosen model marked.
pub fn curves(outcome: &Outcome, measure: Curves) -> LinePlot {
    let mut plot = LinePlot::new("features", measure.label())
        .title(&outcome.fold)
        .ordered("lambda");
    let chosen = &outcome.greedy.selection;
    for curve in &outcome.curves {
        let points = (1..).zip(curve.of(measure.index()));
        let points = points.map(|(features, value)| (f64::from(features), value));
        let mut series = Series::new(name(curve.lambda), points);
        series.emphasis = curve.lambda == chosen.lambda;
        plot.series.push(series);
    }
    let Some(value) = outcome.greedy.validation[measure.index()] else {
        return plot;
    };
    let (features, lambda) = (chosen.steps.len(), name(chosen.lambda));
    plot.mark(features as f64, value, format!("{features} at {lambda}"))
}

/// The curves of both measures side by side, a row a fold.
pub fn figure(outcomes: &[&Outcome]) -> Figure {
    let figure = Figure::new("Validation measures of Greedy RankRLS")
        .columns(2)
        .note("Thick line and ring: chosen by validation MAP.");
    outcomes.iter().fold(figure, |figure, outcome| {
        let panels = Curves::ALL.map(|measure| curves(outcome, measure));
        panels.into_iter().fold(figure, Figure::lines)
    })
}

/// A ridge parameter: powers of two as such.
#[allow(clippy::cast_possible_truncation, reason = "exponents of floats")]
fn name(lambda: Lambda) -> String {
    let exponent = lambda.value().log2();
    if exponent.fract() != 0.0 || exponent == 0.0 {
        return lambda.to_string();
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
            assert_eq!(name(Lambda::new(value).unwrap()), text);
        }
    }
}
