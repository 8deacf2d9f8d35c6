//! The weights of a model.

use super::{Bar, BarPlot, Figure};
use crate::Model;

/// Bars of the weights of `model` by name or number: in order of selection, or the largest
/// first if nothing was selected; only the `most` largest in magnitude, if there are more.
pub fn weights(model: &Model, most: usize) -> Figure {
    let features = model.features();
    let selected = model.strategy().is_selection();
    let mut kept: Vec<usize> = (0..features.len()).collect();
    kept.sort_by(|&a, &b| {
        let magnitude = |index: usize| features[index].weight.abs();
        magnitude(b).total_cmp(&magnitude(a)).then(a.cmp(&b))
    });
    kept.truncate(most);
    if selected {
        kept.sort_unstable();
    }
    let mut plot = BarPlot::new("weight");
    for &index in &kept {
        let feature = &features[index];
        let number = model.index_base().written(feature.feature);
        let name = match &feature.name {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("feature {number}"),
        };
        plot.bars.push(Bar::new(name, Some(feature.weight)));
    }
    let part = if kept.len() < features.len() {
        format!("The {} largest of {} weights", kept.len(), features.len())
    } else {
        "All weights".to_owned()
    };
    let (title, order) = if selected {
        let strategy = model.strategy();
        (format!(", selected by {strategy}"), "in order of selection")
    } else {
        (
            ", trained without selection".to_owned(),
            "the largest first",
        )
    };
    Figure::new(format!("Weights at lambda {}{title}", model.lambda()))
        .note(format!("{part}, {order}."))
        .bars(plot)
}
