//! The scales of columns and labels that nobody gave, chosen by the hold-outs of whole models.

use std::borrow::Cow;

use serde::Serialize;

use super::grid::Training;
use super::kernel::Kernel;
use super::options::RankRls;
use crate::columns::{ColumnClasses, QueryWeight, Scale};
use crate::data::{Dataset, HoldOut, LabelScale};
use crate::error::{Error, Result};
use crate::lambda::Lambda;
use crate::memory::Memory;
use crate::metrics::{Measure, Metric};

/// A setting and the value of its best model.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Tried {
    /// The scale of the columns.
    pub scale: Scale,
    /// The scale of the labels.
    pub label_scale: LabelScale,
    /// The best ridge parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lambda: Option<Lambda>,
    /// The mean of the measure over queries that were held out.
    pub value: Option<f64>,
    /// The reason to leave it out, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// A training, and the setting that hold-outs chose for it.
#[derive(Debug, Clone, PartialEq)]
pub struct Chosen {
    /// The options, with the scales of columns and labels.
    pub options: RankRls,
    /// The measure that compared settings.
    pub measure: Metric,
    /// The settings in the order tried; empty if every scale was given.
    pub tried: Vec<Tried>,
    /// The training with these options.
    pub training: Training,
}

impl RankRls {
    /// Trains as [`train`](Self::train), and chooses the scales of columns and labels that nobody gave by the
    /// hold-outs of the models. It tries columns as they are and divided by `sd`, and labels `raw` and `sqrt-sd`,
    /// in this order. The best ridge parameter of each has the least error. The [`measure`](Self::measure) compares
    /// settings, or the concordance index, as errors on several scales do not compare. Ties go to the first.
    ///
    /// Given ridge parameters, hold-outs `none`, a kernel, a basis or another objective leave nothing to choose.
    ///
    /// # Errors
    /// As [`train`](Self::train), of the first setting. Other settings that cannot be trained are left out.
    ///
    /// ```
    /// use rankrls::data::sample;
    /// use rankrls::RankRls;
    ///
    /// let data = sample::train();
    /// let params = RankRls::default();
    /// let chosen = params.choose(&data, &params.column_classes(&data)?)?;
    /// assert_eq!(chosen.tried.len(), 4);
    /// assert!(chosen.tried.iter().any(|tried| Some(tried.scale) == chosen.options.scale));
    /// # Ok::<(), rankrls::Error>(())
    /// ```
    pub fn choose(&self, data: &Dataset<'_>, classes: &ColumnClasses) -> Result<Chosen> {
        let (scales, label_scales) = self.scales();
        let first = self.with(scales[0], label_scales[0]);
        let mut chosen = Chosen {
            training: first.train(data, Some(classes))?,
            measure: self.measure.metric().unwrap_or(Metric::CONCORDANCE),
            options: first,
            tried: Vec::new(),
        };
        if scales.len() * label_scales.len() == 1 {
            chosen.options = self.clone();
            return Ok(chosen);
        }
        chosen
            .tried
            .push(self.tried(&chosen.options, &chosen.training));
        for (place, &scale) in scales.iter().enumerate() {
            let tried = usize::from(place == 0);
            let memory = chosen.held(self.memory);
            let scaled = match place {
                0 => Ok(Cow::Borrowed(classes)),
                _ => rescaled(data, classes, scale, memory).map(Cow::Owned),
            };
            for &label_scale in &label_scales[tried..] {
                let options = Self {
                    memory: match &scaled {
                        Ok(Cow::Owned(_)) => chosen.held(self.memory).holding(classes.memory()),
                        _ => chosen.held(self.memory),
                    },
                    ..self.with(scale, label_scale)
                };
                let scaled = scaled.as_ref().map_err(Error::clone);
                let trained = scaled.and_then(|scaled| options.train(data, Some(scaled)));
                self.add(&mut chosen, options, trained)?;
            }
        }
        chosen.options.memory = self.memory;
        Ok(chosen)
    }

    /// These options with scales.
    fn with(&self, scale: Scale, label_scale: LabelScale) -> Self {
        Self {
            scale: Some(scale),
            label_scale: Some(label_scale),
            ..self.clone()
        }
    }

    /// The scales to try: one where it was given.
    fn scales(&self) -> (Vec<Scale>, Vec<LabelScale>) {
        let is_free = self.lambdas.is_open()
            && self.holdout != HoldOut::Nothing
            && self.objective.is_query()
            && self.basis.is_none()
            && self.kernels.iter().all(Kernel::is_linear);
        let scales = match self.scale {
            None if is_free => vec![Scale::None, Scale::Sd],
            given => vec![given.unwrap_or_default()],
        };
        let label_scales = match self.label_scale {
            None if is_free => vec![LabelScale::Raw, LabelScale::SqrtSd],
            given => vec![given.unwrap_or_default()],
        };
        (scales, label_scales)
    }

    /// Adds a tried setting to `chosen`, and keeps its training if it is better.
    fn add(&self, chosen: &mut Chosen, options: Self, trained: Result<Training>) -> Result<()> {
        let training = match trained {
            Err(error) if error.is_of_setting() => {
                chosen.tried.push(Tried {
                    scale: options.column_scale(),
                    label_scale: options.scale_of_labels(),
                    lambda: None,
                    value: None,
                    reason: Some(error.to_string()),
                });
                return Ok(());
            }
            trained => trained?,
        };
        let found = self.tried(&options, &training);
        let value = found.value;
        chosen.tried.push(found);
        let is_better = match (self.worth(&chosen.training), value) {
            (None, found) => found.is_some(),
            (_, None) => false,
            (Some(known), Some(value)) => Measure::from(chosen.measure).better(value, known),
        };
        if is_better {
            chosen.options = options;
            chosen.training = training;
        }
        Ok(())
    }

    fn tried(&self, options: &Self, training: &Training) -> Tried {
        Tried {
            scale: options.column_scale(),
            label_scale: options.scale_of_labels(),
            lambda: Some(training.best().lambda),
            value: self.worth(training),
            reason: None,
        }
    }

    /// The value that compares settings.
    fn worth(&self, training: &Training) -> Option<f64> {
        let best = training.best();
        match self.measure {
            Measure::Squared => best.holdout.as_ref()?.cindex,
            Measure::Of(_) => best.measure,
        }
    }
}

impl Chosen {
    /// The memory with the best training in use.
    fn held(&self, memory: Memory) -> Memory {
        memory.holding(self.training.memory())
    }
}

/// The `classes` of `data` on another scale, made beside the old ones.
fn rescaled(
    data: &Dataset<'_>,
    classes: &ColumnClasses,
    scale: Scale,
    memory: Memory,
) -> Result<ColumnClasses> {
    let (bytes, memory) = (classes.memory(), memory.holding(data.memory()));
    let what = "the columns on another scale need";
    let held = memory.holding(bytes);
    held.require(what, bytes, "allow more memory")?;
    Ok(classes.on_scale(QueryWeight::Uniform, scale))
}
