//! What data take from another corpus: the scores of a ranker that was trained on it, or its rows.

use std::collections::{BTreeMap, HashMap};

use super::transpose::Occupied;
use super::{Column, Dataset, DatasetError, FeatureNames, Queries, Strings};

/// A ranker that was trained elsewhere, whose scores the data have.
#[derive(Debug, Clone, PartialEq)]
pub struct OtherRanker {
    /// What people call it.
    pub name: String,
    /// 0-based features of the data with their weights, where it is a linear model; `None`: nothing
    /// is known but its scores.
    pub weights: Option<(Vec<u32>, Vec<f64>)>,
}

impl OtherRanker {
    /// A ranker of which nothing is known but scores.
    pub fn of_scores(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            weights: None,
        }
    }

    /// Scores of the rows of `dataset`, where it is a linear model.
    pub fn scores(&self, dataset: &Dataset<'_>) -> Option<Vec<f64>> {
        let (features, weights) = self.weights.as_ref()?;
        Some(dataset.scores(features, weights))
    }
}

/// How the columns of another corpus were found in the data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Joined {
    /// By the names of the features; else by their numbers, as one of both has no names.
    pub by_names: bool,
    /// Columns of the other corpus that the data have, too.
    pub shared: usize,
    /// Columns that they do not have, which were dropped.
    pub dropped_columns: usize,
    /// Entries of these.
    pub dropped_entries: u64,
}

/// 0-based features by their names; the first of equal ones, and none without a name.
pub fn name_map(names: &FeatureNames) -> HashMap<&str, u32> {
    let mut places = HashMap::with_capacity(names.len());
    for (feature, name) in (0..).zip(names.iter()).filter(|(_, name)| !name.is_empty()) {
        places.entry(name).or_insert(feature);
    }
    places
}

impl Dataset<'_> {
    /// Adds scores that are fitted to already, one a row: models learn what they leave of the
    /// labels, `y - offset`, and their predictions have the offset added. Exact under hold-outs as
    /// long as no row's score has seen the labels of the row's query.
    ///
    /// # Errors
    /// [`DatasetError`] for another number of scores than rows, for scores that are not finite, and
    /// for data with a source.
    pub fn with_offset(
        mut self,
        scores: Vec<f64>,
        ranker: OtherRanker,
    ) -> Result<Self, DatasetError> {
        self.check_scores("offset", &scores)?;
        if self.queries.source_weight().is_some() {
            return Err(DatasetError::NotWithSource { what: "an offset" });
        }
        self.offset = Some((scores, ranker));
        Ok(self)
    }

    /// The scores that are fitted to already, one a row, if there are any.
    pub fn offset(&self) -> Option<&[f64]> {
        self.offset.as_ref().map(|(scores, _)| &scores[..])
    }

    /// Whose scores they are.
    pub fn offset_ranker(&self) -> Option<&OtherRanker> {
        self.offset.as_ref().map(|(_, ranker)| ranker)
    }

    /// The labels less the offset, if there is one.
    pub(crate) fn labels_left(&self) -> Vec<f64> {
        let mut labels = self.labels.to_vec();
        for (label, score) in labels.iter_mut().zip(self.offset().unwrap_or_default()) {
            *label -= score;
        }
        labels
    }

    /// Adds a column after the last one, of scores: a selection takes it first, whatever it is
    /// worth, and it does not count among the features to select.
    ///
    /// # Errors
    /// [`DatasetError`] for another number of scores than rows, for scores that are not finite, for
    /// scores that are constant in every query, and for data with a source.
    pub fn with_score_feature(
        self,
        scores: &[f64],
        ranker: OtherRanker,
    ) -> Result<Dataset<'static>, DatasetError> {
        let with = self.with_scores_to_predict(scores, ranker)?;
        let constant =
            |range: std::ops::Range<usize>| scores[range].windows(2).all(|pair| pair[0] == pair[1]);
        if with.queries.ranges().all(constant) {
            return Err(DatasetError::ConstantScoreFeature);
        }
        Ok(with)
    }

    /// The same for data that a model is to score: they may be constant.
    ///
    /// # Errors
    /// As [`with_score_feature`](Self::with_score_feature).
    pub fn with_scores_to_predict(
        self,
        scores: &[f64],
        ranker: OtherRanker,
    ) -> Result<Dataset<'static>, DatasetError> {
        self.check_scores("score feature", scores)?;
        if self.queries.source_weight().is_some() {
            let what = "a score feature";
            return Err(DatasetError::NotWithSource { what });
        }
        DatasetError::check_columns(self.width + 1)?;
        let mut gathered = Occupied::default();
        for position in 0..self.stored_columns() {
            let Column { rows, values } = self.column(position);
            let entries = rows.iter().copied().zip(values.iter().copied());
            gathered.push(self.feature(position), entries);
        }
        // The width has been checked to count in 32 bits.
        let last = u32::try_from(self.width).unwrap_or(u32::MAX);
        gathered.push(last, (0..).zip(scores.iter().copied()));
        let columns = gathered.into_columns(self.rows(), self.width + 1)?;
        let labels = self.labels.to_vec().into();
        let mut dataset = Dataset::assemble(columns, labels, self.queries.clone())?;
        dataset.names = self.names;
        dataset.index_base = self.index_base;
        dataset.input_rows = self.input_rows;
        dataset.teacher = self.teacher;
        dataset.offset = self.offset;
        dataset.score_feature = Some(ranker);
        Ok(dataset)
    }

    /// The 0-based column of scores, if there is one.
    pub fn score_feature(&self) -> Option<u32> {
        let last = u32::try_from(self.width).unwrap_or(u32::MAX);
        self.score_feature.as_ref().map(|_| last - 1)
    }

    /// Whose scores it has.
    pub fn score_feature_ranker(&self) -> Option<&OtherRanker> {
        self.score_feature.as_ref()
    }

    /// The name of a 0-based feature, if it has one.
    pub fn name_of(&self, feature: u32) -> Option<&str> {
        if self.score_feature() == Some(feature) {
            return self.score_feature.as_ref().map(|ranker| &ranker.name[..]);
        }
        self.names.as_ref()?.of(feature)
    }

    /// Refuses scores of another number than rows, and scores that are not finite.
    fn check_scores(&self, what: &'static str, scores: &[f64]) -> Result<(), DatasetError> {
        DatasetError::check_length(what, self.rows(), scores.len())?;
        match scores.iter().position(|score| !score.is_finite()) {
            Some(row) => Err(DatasetError::OtherScore {
                what,
                row,
                value: scores[row],
            }),
            None => Ok(()),
        }
    }

    /// These rows, the targets, followed by those of `source`, another corpus, whose queries count
    /// `weight`: models are trained on both, and only targets are held out. Columns of the source are
    /// found by the names of the features, or by their numbers if one of both has no names; the
    /// others are dropped. The columns, names and numbers are those of the targets.
    ///
    /// # Errors
    /// [`DatasetError`] for a source without common columns, a weight that is not finite and above 0,
    /// and for data that have a source, an offset, a score feature or a teacher.
    pub fn with_source(
        &self,
        source: &Dataset<'_>,
        weight: f64,
    ) -> Result<(Dataset<'static>, Joined), DatasetError> {
        for (what, found) in [
            ("a source", self.queries.source_weight().is_some()),
            ("an offset", self.offset.is_some()),
            ("a score feature", self.score_feature.is_some()),
            ("a teacher", self.teacher.is_some()),
        ] {
            if found {
                return Err(DatasetError::NotWithSource { what });
            }
        }
        let (found, joined) = self.columns_of(source)?;
        let rows = self.rows();
        DatasetError::check_rows(rows + source.rows())?;
        let mut places: BTreeMap<u32, [Option<usize>; 2]> = BTreeMap::new();
        for position in 0..self.stored_columns() {
            places.entry(self.feature(position)).or_default()[0] = Some(position);
        }
        for (feature, position) in found {
            places.entry(feature).or_default()[1] = Some(position);
        }
        let mut gathered = Occupied::default();
        for (feature, [own, other]) in places {
            let own = own.map(|position| self.column(position).iter());
            let other = other.map(|position| source.column(position).iter());
            let other = other.into_iter().flatten();
            let moved = other.map(|(row, value)| (row + rows, value));
            let entries = own.into_iter().flatten().chain(moved);
            // Rows have been checked to count in 32 bits.
            let counted =
                entries.map(|(row, value)| (u32::try_from(row).unwrap_or(u32::MAX), value));
            gathered.push(feature, counted);
        }
        let columns = gathered.into_columns(rows + source.rows(), self.width)?;
        let labels = [self.labels(), source.labels()].concat();
        let queries = self.queries.followed_by(&source.queries, weight)?;
        let mut dataset = Dataset::assemble(columns, labels.into(), queries)?;
        dataset.names.clone_from(&self.names);
        dataset.index_base = self.index_base;
        dataset.input_rows = self.input_rows.as_ref().map(|own| {
            let others = u32::try_from(rows).unwrap_or(u32::MAX)..;
            own.iter()
                .copied()
                .chain(others.take(source.rows()))
                .collect()
        });
        Ok((dataset, joined))
    }

    /// The stored columns of `source` that these data have: the feature here, and the position there.
    fn columns_of(
        &self,
        source: &Dataset<'_>,
    ) -> Result<(BTreeMap<u32, usize>, Joined), DatasetError> {
        let names = self.names.as_ref().zip(source.names.as_ref());
        let places = names.map(|(own, other)| (name_map(own), other));
        let mut found = BTreeMap::new();
        let mut joined = Joined {
            by_names: places.is_some(),
            shared: 0,
            dropped_columns: 0,
            dropped_entries: 0,
        };
        for position in 0..source.stored_columns() {
            let other = source.feature(position);
            let own = match &places {
                Some((places, names)) => names.of(other).and_then(|name| places.get(name).copied()),
                None => Some(other),
            };
            let own = own.filter(|&own| (own as usize) < self.width);
            if let Some(own) = own.filter(|own| !found.contains_key(own)) {
                found.insert(own, position);
                joined.shared += 1;
            } else {
                joined.dropped_columns += 1;
                joined.dropped_entries += source.column(position).rows.len() as u64;
            }
        }
        if found.is_empty() {
            let by_names = joined.by_names;
            return Err(DatasetError::NoCommonColumns { by_names });
        }
        Ok((found, joined))
    }

    /// Refuses labels of a source on another scale: grades with a range of twice these, or half
    /// these, and other labels with a range of four times these, or a quarter.
    ///
    /// # Errors
    /// [`DatasetError::LabelScales`].
    pub fn check_label_scale(&self, source: &Dataset<'_>) -> Result<(), DatasetError> {
        let ends = |labels: &[f64]| {
            labels.iter().fold(
                [f64::INFINITY, f64::NEG_INFINITY],
                |[least, most], &label| [least.min(label), most.max(label)],
            )
        };
        let grades = |labels: &[f64]| labels.iter().all(|label| label.fract() == 0.0);
        let all = grades(self.labels()) && grades(source.labels());
        let (target, other) = (ends(self.labels()), ends(source.labels()));
        let [a, b] = [target, other].map(|[least, most]| most - least);
        let factor = if all { 2.0 } else { 4.0 };
        if a.max(b) >= factor * a.min(b) {
            return Err(DatasetError::LabelScales { target, other });
        }
        Ok(())
    }
}

impl Queries {
    /// These queries followed by those of a source that counts `weight`. Identifiers of the source
    /// begin with `source:`.
    fn followed_by(&self, source: &Self, weight: f64) -> Result<Self, DatasetError> {
        let sizes = self
            .ranges()
            .chain(source.ranges())
            .map(|range| range.len());
        let mut queries = Self::from_sizes(&sizes.collect::<Vec<_>>())?;
        if let Some(ids) = self.ids() {
            let mut all: Strings = ids.iter().collect();
            for query in 0..source.len() {
                let number = query + 1;
                match source.id(query) {
                    Some(id) => all.push(&format!("source:{id}")),
                    None => all.push(&format!("source:{number}")),
                }
            }
            queries = queries.with_ids(all)?;
        }
        queries.with_source(self.len(), weight)
    }
}

#[cfg(test)]
mod tests {
    use super::super::{DataHash, parsed};
    use super::*;

    fn named(text: &str, names: &[&str]) -> Dataset<'static> {
        parsed(text).with_names(names.iter().collect()).unwrap()
    }

    const TARGET: &str = "1 qid:a 1:1 3:2\n0 qid:a 3:3\n2 qid:b 2:1\n0 qid:b 3:1\n";

    #[test]
    fn columns_of_a_source_are_found_by_name() {
        let target = named(TARGET, &["u", "v", "w"]);
        let source = named("3 qid:x 1:5 2:6 3:7\n1 qid:x 2:8\n", &["z", "w", "u"]);
        let (both, joined) = target.with_source(&source, 0.5).unwrap();
        assert_eq!((joined.by_names, joined.shared), (true, 2));
        assert_eq!((joined.dropped_columns, joined.dropped_entries), (1, 1));
        let expected = format!("{TARGET}3 qid:source:x 1:7 3:6\n1 qid:source:x 3:8\n");
        let expected = parsed(&expected);
        let queries = expected.queries().clone().with_source(2, 0.5).unwrap();
        assert_eq!(both.queries(), &queries);
        let expected = expected.with_queries(queries).unwrap();
        assert_eq!(DataHash::of(&both), DataHash::of(&expected));
        assert_eq!(
            (both.queries().targets(), both.queries().target_rows()),
            (2, 4)
        );
        // Without names on both sides the numbers count.
        let (_, joined) = target
            .with_source(&parsed("1 qid:x 2:1 9:1\n"), 1.0)
            .unwrap();
        assert_eq!(
            (joined.by_names, joined.shared, joined.dropped_columns),
            (false, 1, 1)
        );
        // Subsets know which queries are of the source.
        let some = both.queries_subset(&[1, 2]).unwrap();
        assert_eq!(
            (some.queries().targets(), some.queries().source_weight()),
            (1, Some(0.5))
        );
        assert_eq!(
            both.queries_subset(&[0]).unwrap().queries().source_weight(),
            None
        );
    }

    #[test]
    fn sources_that_do_not_fit_are_refused() {
        let target = named(TARGET, &["u", "v", "w"]);
        let other = named("1 qid:x 1:1\n0 qid:x 2:1\n", &["x", "y"]);
        let error = target.with_source(&other, 1.0).unwrap_err();
        assert_eq!(error, DatasetError::NoCommonColumns { by_names: true });
        for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let error = target.with_source(&target, weight).unwrap_err();
            assert!(
                matches!(error, DatasetError::SourceWeight { .. }),
                "{error}"
            );
        }
        let grades = |largest: usize| parsed(&format!("{largest} qid:x 1:1\n0 qid:x 1:2\n"));
        assert!(target.check_label_scale(&grades(3)).is_ok());
        for largest in [1, 4] {
            let error = target.check_label_scale(&grades(largest)).unwrap_err();
            assert!(matches!(error, DatasetError::LabelScales { .. }), "{error}");
        }
        let ranker = || OtherRanker::of_scores("s");
        let offset = target.clone().with_offset(vec![1.0; 4], ranker()).unwrap();
        assert!(offset.with_source(&target, 1.0).is_err());
    }

    #[test]
    fn scores_of_other_rankers_are_checked() {
        let target = || named(TARGET, &["u", "v", "w"]);
        let ranker = || OtherRanker::of_scores("s");
        for scores in [vec![0.0; 3], vec![0.0, 0.0, 0.0, f64::NAN]] {
            assert!(target().with_offset(scores.clone(), ranker()).is_err());
            assert!(target().with_score_feature(&scores, ranker()).is_err());
        }
        let constant = target().with_score_feature(&[1.0, 1.0, 2.0, 2.0], ranker());
        assert_eq!(constant.unwrap_err(), DatasetError::ConstantScoreFeature);
        let with = target().with_score_feature(&[1.0, 0.0, 2.0, 2.0], ranker());
        let with = with.unwrap();
        assert_eq!((with.width(), with.score_feature()), (4, Some(3)));
        assert_eq!((with.name_of(3), with.name_of(1)), (Some("s"), Some("v")));
        assert_ne!(DataHash::of(&with), DataHash::of(&target()));
        let offset = target()
            .with_offset(vec![1.0, 0.0, 2.0, 0.5], ranker())
            .unwrap();
        assert_eq!(offset.labels_left(), [0.0, 0.0, 0.0, -0.5]);
        assert_eq!(
            offset.queries_subset(&[1]).unwrap().offset(),
            Some(&[2.0, 0.5][..])
        );
        assert_ne!(DataHash::of(&offset), DataHash::of(&target()));
    }
}
