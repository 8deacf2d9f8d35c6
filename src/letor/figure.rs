//! Curves of validation measures against the number of features.

use super::Outcome;
use crate::plot::{Figure, LinePlot, Series, power};

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
        let mut series = Series::new(power(curve.lambda), points);
        series.emphasis = curve.lambda == chosen.lambda;
        plot.series.push(series);
    }
    let Some(value) = outcome.greedy.validation[measure.index()] else {
        return plot;
    };
    let (features, lambda) = (chosen.steps.len(), power(chosen.lambda));
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
