//! Parameters to models, in one call.

use super::{FeatureChoice, Model};
use crate::data::{Dataset, HoldOut};
use crate::error::Result;
use crate::ridge::{Chosen, RankRls};

impl RankRls {
    /// The model of `data`: the best of several, or a single one without hold-outs. [`train`](Self::train) also
    /// returns the hold-outs. [`choose`](Self::choose) chooses open scales of columns and labels.
    pub fn fit(&self, data: &Dataset<'_>) -> Result<Model> {
        let mut params = self.clone();
        if params.holdout == HoldOut::Auto && params.models() == 1 {
            params.holdout = HoldOut::Nothing;
        }
        let classes = params.column_classes(data)?;
        let Chosen {
            options: params,
            training,
            ..
        } = params.choose(data, &classes)?;
        let (choice, summary) = (FeatureChoice::All, classes.summary());
        drop(classes);
        Model::from_training(&training, choice, data, &summary, &params)
    }
}

#[cfg(test)]
mod tests {
    use ndarray::arr2;

    use super::*;
    use crate::data::{Groups, LabelScale, Queries, sample};
    use crate::lambda::Lambda;
    use crate::names::Objective;
    use crate::ridge::{Fit, Solver};

    fn params(lambda: f64) -> RankRls {
        RankRls {
            lambdas: Lambda::new(lambda).unwrap().into(),
            ..RankRls::default()
        }
    }

    #[test]
    fn a_training_holds_out_what_was_asked_for() {
        let (data, plain) = (sample::train(), params(4.0));
        let held_out = |holdout: HoldOut, solver| {
            let options = RankRls {
                holdout,
                solver,
                ..params(4.0)
            };
            let training = options.train(&data, None).unwrap();
            training.best().holdout.clone()
        };
        let free = held_out(HoldOut::Factored, None);
        assert_eq!(free, held_out(HoldOut::Queries, None));
        let folds = HoldOut::Given {
            name: "folds".to_owned(),
            groups: Groups::folds(data.queries(), 3, 1).unwrap(),
        };
        let expected = held_out(folds, None);
        assert!(expected.is_some() && expected != free);
        assert_eq!(held_out("folds:3".parse().unwrap(), None), expected);
        let iterated = Some(Solver::ConjugateGradients);
        assert_eq!(held_out(HoldOut::Factored, iterated), None);
        let Fit::Linear(weights) = plain.train(&data, None).unwrap().fit else {
            panic!("a kernel");
        };
        let values = plain.fit(&data).unwrap().features.into_iter();
        assert!(values.map(|own| (own.feature, own.weight)).eq(weights));
    }

    #[test]
    fn labels_on_a_scale_are_labels_that_were_divided() {
        let data = sample::train();
        let options = RankRls {
            label_scale: Some(LabelScale::Unit),
            ..params(4.0)
        };
        let scaled = options.fit(&data).unwrap();
        let units = LabelScale::Unit.apply(data.labels(), data.queries());
        let before = Dataset::from_sprs(data.x(), units, data.queries().clone()).unwrap();
        let divided = params(4.0).fit(&before).unwrap();
        assert_eq!(scaled.scores(&data), divided.scores(&data));
        assert_eq!(scaled.settings.label_scale, Some(LabelScale::Unit));
    }

    #[test]
    fn a_column_that_tells_queries_apart_orders_all_pairs() {
        let x = arr2(&[[0.0, 1.0], [0.0, 2.0], [1.0, 1.0], [1.0, 3.0]]);
        let queries = Queries::from_sizes(&[2, 2]).unwrap();
        let data = Dataset::from_dense(x.view(), &[0.0, 1.0, 2.0, 4.0], queries).unwrap();
        let global = RankRls {
            objective: Objective::Global,
            ..RankRls::default()
        };
        let model = global.fit(&data).unwrap();
        assert_eq!(model.features.len(), 2);
        let mut text = Vec::new();
        model.write_to(&mut text).unwrap();
        let read = Model::parse(&text, std::path::Path::new("model.json"));
        assert_eq!(read.unwrap(), model);
    }

    #[test]
    fn a_hold_out_out_of_range_is_refused_with_the_range() {
        let folds = RankRls {
            holdout: "folds:1".parse().unwrap(),
            ..params(1.0)
        };
        let error = folds.fit(&sample::train()).unwrap_err().to_string();
        assert!(error.contains("expected from 2"), "{error}");
    }
}
