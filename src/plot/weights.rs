//! The weights of a model.

use super::{Bar, BarPlot, Figure};
use crate::Model;

/// Bars of the weights of `model`, in order of selection, by name or number; only the `most`
/// largest in magnitude, if there are more.
pub fn weights(model: &Model, most: usize) -> Figure {
    let features = model.features();
    let mut kept: Vec<usize> = (0..features.len()).collect();
    kept.sort_by(|&a, &b| {
        let magnitude = |index: usize| features[index].weight.abs();
        magnitude(b).total_cmp(&magnitude(a)).then(a.cmp(&b))
    });
    kept.truncate(most);
    kept.sort_unstable();
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
    let order = if kept.len() < features.len() {
        format!(
            "The {} largest of {} weights, in order of selection.",
            kept.len(),
            features.len()
        )
    } else {
        "In order of selection.".to_owned()
    };
    let title = format!(
        "Weights at lambda {}, selected by {}",
        model.lambda(),
        model.strategy()
    );
    Figure::new(title).note(order).bars(plot)
}
