//! Test data that a model has been trained on.

use super::Warning;
use crate::data::{DataHash, Dataset, Queries};

/// The warning of test data that are the training data.
fn seen() -> Warning {
    let text = "the test data are the training data: measures of rows that a model has learnt from promise too much; \
                measure rows that it has not seen";
    Warning::from(text.to_owned())
}

impl Warning {
    /// Warns of test `data` that a model was trained on, by the model's `trained` hash. A hash only finds rows and
    /// queries in the same order.
    pub fn of_training_data(trained: DataHash, data: &Dataset<'_>) -> Option<Self> {
        (DataHash::of(data) == trained).then(seen)
    }

    /// Warns of `test` data that are the training data `train`, which have these `nonzeros` and this `hash`. Either
    /// they have equal numbers of entries, and queries of the same names with the same labels, in any order. Or they
    /// have no names and are equal. Test data that share only some queries cause no warning.
    pub fn of_test(
        train: &Dataset<'_>,
        nonzeros: usize,
        hash: impl FnOnce() -> DataHash,
        test: &Dataset<'_>,
    ) -> Option<Self> {
        let sizes = |data: &Dataset<'_>| (data.rows(), data.queries().len());
        if sizes(train) != sizes(test) || nonzeros != test.nonzeros() {
            return None;
        }
        let known = labels_by_name(train).zip(labels_by_name(test));
        match known {
            Some((train, test)) => (train == test).then(seen),
            None => Self::of_training_data(hash(), test),
        }
    }
}

/// The ascending labels of each query, by its name. `None` if queries have no names.
fn labels_by_name<'d>(data: &'d Dataset<'_>) -> Option<Vec<(&'d str, Vec<f64>)>> {
    let queries: &Queries = data.queries();
    let labels = queries.ranges().map(|range| {
        let mut labels = data.labels()[range].to_vec();
        labels.sort_unstable_by(f64::total_cmp);
        labels
    });
    let mut all: Vec<_> = queries.ids()?.iter().zip(labels).collect();
    all.sort_unstable_by_key(|(name, _)| *name);
    Some(all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::parsed;
    use crate::data::sample;

    /// As data in memory are compared.
    fn of_test(train: &Dataset<'_>, test: &Dataset<'_>) -> Option<Warning> {
        Warning::of_test(train, train.nonzeros(), || DataHash::of(train), test)
    }

    const TRAIN: &str = "2 qid:a 1:1 3:2\n0 qid:a 2:1\n1 qid:b 1:3\n0 qid:b 3:1\n";

    #[test]
    fn training_data_are_known_in_any_order() {
        let train = parsed(TRAIN);
        let same = |text: &str| of_test(&train, &parsed(text)).is_some();
        assert!(same(TRAIN));
        assert!(same(&TRAIN.replace(" 1:3", " 1:3.0 # a comment")));
        let mut rows: Vec<&str> = TRAIN.lines().collect();
        rows.swap(0, 1);
        assert!(same(&rows.join("\n")));
        rows.rotate_left(2);
        assert!(same(&rows.join("\n")));
        // A teacher of the training data, and entries elsewhere, change nothing.
        let taught = train
            .clone()
            .with_teacher(vec![1.0, 0.0, 1.0, 0.0])
            .unwrap();
        assert!(of_test(&taught, &train).is_some());
        let rows = train.project(&[]).unwrap();
        let found = Warning::of_test(&rows, train.nonzeros(), || DataHash::of(&train), &train);
        assert!(found.is_some());
        // Without names, they must be equal.
        let nameless = TRAIN.replace(" qid:a", "").replace(" qid:b", "");
        let nameless = parsed(&nameless);
        assert!(of_test(&nameless, &nameless).is_some());
        assert!(of_test(&nameless, &train).is_none());
    }

    #[test]
    fn other_data_are_no_training_data() {
        let train = parsed(TRAIN);
        for other in [
            TRAIN.replace("qid:b", "qid:c"),
            TRAIN.replace("2 qid:a", "1 qid:a"),
            TRAIN.replace(" 3:2", ""),
            // One of two queries, and one more.
            "2 qid:a 1:1 3:2\n0 qid:a 2:1\n".to_owned(),
            format!("{TRAIN}1 qid:c 1:1\n"),
        ] {
            assert_eq!(of_test(&train, &parsed(&other)), None, "{other}");
        }
        let (train, test) = (sample::train(), sample::test());
        assert_eq!(of_test(&train, &test), None);
        let trained = DataHash::of(&train);
        assert_eq!(Warning::of_training_data(trained, &test), None);
        assert!(Warning::of_training_data(trained, &train).is_some());
    }
}
