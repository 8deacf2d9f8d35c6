//! The figure of `letor`: validation measures along the selections.

use rankrls::tune::{Curve, Measure, Rule};
use rankrls_plot::{Figure, LinePlot, Series, Tone};

use super::FoldReport;
use super::protocol::{Judged, MEASURES, Measures};
use crate::figures::{hue, lambda_name};
use crate::numbers::counted;

/// Validation measures of Greedy RankRLS against the number of features, a line a lambda: the
/// means over folds, which are the figures 3 and 4 of the paper, if there are several, and those of
/// each fold.
pub(super) fn figure(folds: &[FoldReport]) -> Figure {
    let note = "Thick line and ring: the best validation MAP of a fold, or the best of the means. Thin \
                lines: other lambdas, fainter where lambda is smaller.";
    let mut figure = Figure::new("Greedy RankRLS on validation data")
        .columns(2)
        .note(note);
    let measures = [(0, "MAP"), (2, "mean NDCG")];
    if folds.len() > 1 {
        let (means, first) = (means(folds), &folds[0]);
        for (index, label) in measures {
            let curves = means.iter().map(|path| {
                Curve::of_means(
                    path.lambda,
                    path.validation.iter().map(|means| means.0[index]),
                )
            });
            let measure = Measure::Metric(MEASURES[index]);
            let chosen = Rule::Best.choose(measure, &curves.collect::<Vec<_>>());
            let best = chosen.map(|choice| (choice.position, choice.k));
            let title = format!("Mean over {}", counted(folds.len(), "fold"));
            let words = format!("the best {label}");
            let panel = first.lines((index, label), &means, best, &words);
            figure = figure.lines(panel.title(title));
        }
    }
    for fold in folds {
        let (paths, greedy) = (&fold.outcome.paths, &fold.outcome.greedy);
        let position = paths.iter().position(|path| path.lambda == greedy.lambda);
        let chosen = position.map(|position| (position, greedy.features.len()));
        for (index, label) in measures {
            let panel = fold.lines((index, label), paths, chosen, "the best MAP");
            figure = figure.lines(panel.title(&fold.fold));
        }
    }
    figure
}

/// The means over folds by lambda and number of features, where all folds have them.
fn means(folds: &[FoldReport]) -> Vec<Judged> {
    let mean = |first: &Judged| {
        let own = |path: &&Judged| path.lambda == first.lambda;
        let found = folds.iter().map(|fold| fold.outcome.paths.iter().find(own));
        let paths: Option<Vec<&Judged>> = found.collect();
        let values = (0..).map_while(|step| {
            let of_folds = paths
                .as_ref()?
                .iter()
                .map(|path| path.validation.get(step).copied());
            Some(Measures::mean(&of_folds.collect::<Option<Vec<_>>>()?))
        });
        Judged {
            lambda: first.lambda,
            features: Vec::new(),
            validation: values.collect(),
            all_features: None,
        }
    };
    folds[0].outcome.paths.iter().map(mean).collect()
}

impl FoldReport {
    /// A line a lambda of the measure with this place and name. The path and the number of features that
    /// are `chosen` are marked: they are what `words` say.
    fn lines(
        &self,
        (index, name): (usize, &str),
        paths: &[Judged],
        chosen: Option<(usize, usize)>,
        words: &str,
    ) -> LinePlot {
        let hue = hue(self.outcome.strategy);
        let last = (paths.len() - 1).max(1) as f64;
        let value = |measures: &Measures| measures.0[index];
        let lines = paths.iter().enumerate().map(|(place, path)| {
            let lambda = lambda_name(path.lambda.value(), self.train.unit);
            let tone = match chosen {
                Some((position, _)) if position == place => Tone::Strong,
                _ => Tone::Faint(place as f64 / last),
            };
            let line = Series::path(lambda, path.validation.iter().map(value));
            line.stroke(hue).tone(tone)
        });
        let panel = LinePlot::new("features", format!("validation {name}"));
        let panel = lines.fold(panel, LinePlot::series);
        let marked = chosen.and_then(|(position, k)| {
            let measures = paths[position].validation.get(k.checked_sub(1)?)?;
            Some((k, value(measures)?))
        });
        match marked {
            Some((k, y)) => {
                let words = format!("{}: {words}", counted(k, "feature"));
                panel.mark(k as f64, y, words)
            }
            None => panel,
        }
    }
}
