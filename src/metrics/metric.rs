//! The measures by name: one row of a table each.

use std::fmt;
use std::mem::discriminant;
use std::num::NonZeroUsize;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::concordance;
use super::measures::{
    average_precision, expected_reciprocal_rank, first_label, mean_ndcg, ndcg, precision,
    reciprocal_rank,
};
use super::ranking::Ranking;
use super::rules::Rules;
use crate::data::Queries;
use crate::error::{Error, Result, ensure};

/// A ranking measure; all are better when larger. Its name, which
/// [`Display`](fmt::Display) writes and [`FromStr`] reads, is its JSON key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Metric {
    /// `map`: average precision.
    AveragePrecision,
    /// `p@K`: relevant documents among the first `K`, divided by `K`.
    Precision(NonZeroUsize),
    /// `ndcg@K`: discounted gain of the first `K`, divided by the best possible.
    Ndcg(NonZeroUsize),
    /// `mean-ndcg`: NDCG@1, ..., NDCG@n averaged within a query of `n` documents.
    MeanNdcg,
    /// `err`: expected reciprocal rank.
    ExpectedReciprocalRank,
    /// `mrr`: 1 over the rank of the first relevant document.
    ReciprocalRank,
    /// `cindex`: share of correctly ordered pairs.
    Concordance,
    /// `label@1`: the label of the first document.
    FirstLabel,
}

/// The meaning of labels for a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelUse {
    /// Their order.
    Order,
    /// Their values.
    Value,
    /// To tell documents that are relevant from the others.
    Relevance,
    /// Grades from 0 on, which have gains.
    Gains,
    /// Grades from 0 to the largest of the scale.
    Scale,
}

/// A row of the table of measures.
enum Row {
    /// A measure of the whole ranking: its name, itself, its labels and its value.
    Whole(&'static str, Metric, LabelUse, fn(&Ranking) -> Option<f64>),
    /// A measure of the first `K` documents, named with `@K`.
    First(
        &'static str,
        fn(NonZeroUsize) -> Metric,
        LabelUse,
        fn(&Ranking, NonZeroUsize) -> Option<f64>,
    ),
}

/// All measures. A new one is a variant of [`Metric`], a row here and a function.
const ROWS: [Row; 8] = [
    Row::Whole(
        "map",
        Metric::AveragePrecision,
        LabelUse::Relevance,
        average_precision,
    ),
    Row::First("p", Metric::Precision, LabelUse::Relevance, |query, k| {
        Some(precision(query, k))
    }),
    Row::First("ndcg", Metric::Ndcg, LabelUse::Gains, ndcg),
    Row::Whole("mean-ndcg", Metric::MeanNdcg, LabelUse::Gains, mean_ndcg),
    Row::Whole(
        "err",
        Metric::ExpectedReciprocalRank,
        LabelUse::Scale,
        |query| Some(expected_reciprocal_rank(query)),
    ),
    Row::Whole(
        "mrr",
        Metric::ReciprocalRank,
        LabelUse::Relevance,
        reciprocal_rank,
    ),
    Row::Whole(
        "cindex",
        Metric::Concordance,
        LabelUse::Order,
        concordance::of_ranking,
    ),
    Row::Whole("label@1", Metric::FirstLabel, LabelUse::Value, |query| {
        Some(first_label(query))
    }),
];

impl Row {
    /// The name, with `K` for a cut-off.
    fn name(&self) -> String {
        match self {
            Self::Whole(name, ..) => (*name).to_owned(),
            Self::First(name, ..) => format!("{name}@K"),
        }
    }

    fn labels(&self) -> LabelUse {
        let (Self::Whole(_, _, labels, _) | Self::First(_, _, labels, _)) = self;
        *labels
    }
}

impl LabelUse {
    /// Whether labels have to be grades, from 0 on.
    pub fn are_grades(self) -> bool {
        matches!(self, Self::Gains | Self::Scale)
    }
}

impl Metric {
    /// The names of all measures, separated by commas; `K` stands for a cut-off.
    pub fn names() -> String {
        ROWS.each_ref().map(Row::name).join(", ")
    }

    /// The names of the measures that take any labels, separated by commas.
    pub(crate) fn names_for_any_label() -> String {
        let rows = ROWS.iter().filter(|row| !row.labels().are_grades());
        rows.map(Row::name).collect::<Vec<_>>().join(", ")
    }

    /// The meaning of labels for the measure.
    pub fn labels(self) -> LabelUse {
        self.row().labels()
    }

    /// Why the measure has no value for any of `queries`, where it has none whatever the ranking.
    pub(crate) fn lacking(self, queries: &Queries) -> &'static str {
        match self.labels() {
            LabelUse::Order if queries.largest() < 2 => {
                "every query has a single row, and only examples of a query are compared"
            }
            LabelUse::Order => "its labels do not tell examples apart",
            LabelUse::Value => "it has no examples",
            LabelUse::Relevance => "no example is relevant",
            LabelUse::Gains | LabelUse::Scale => "no label is above 0, so no example has a gain",
        }
    }

    /// The value for one query, in input order: a label and a score a document.
    ///
    /// `context` comes from the labels of the whole data set. `None` where the
    /// measure is undefined, see the [module](super), and where it needs grades
    /// and a label is below 0. Sorts anew at every call:
    /// [`evaluate`](super::evaluate()) shares one sort among measures.
    ///
    /// # Panics
    /// Unless there are as many labels as scores.
    pub fn query(self, labels: &[f64], scores: &[f64], rules: Rules) -> Option<f64> {
        self.of(&Ranking::new(labels, scores, rules)?)
    }

    /// The value for a sorted query.
    pub(super) fn of(self, ranking: &Ranking) -> Option<f64> {
        if self.labels().are_grades() && ranking.ideal().last().is_some_and(|label| *label < 0.0) {
            return None;
        }
        match self.row() {
            Row::Whole(.., value) => value(ranking),
            Row::First(.., value) => value(ranking, self.cut_off()),
        }
    }

    /// The `K` of a measure of the first `K` documents; 1 for others.
    fn cut_off(self) -> NonZeroUsize {
        match self {
            Self::Precision(k) | Self::Ndcg(k) => k,
            _ => NonZeroUsize::MIN,
        }
    }

    fn row(self) -> &'static Row {
        let own = |row: &&Row| {
            let metric = match row {
                Row::Whole(_, metric, ..) => *metric,
                Row::First(_, metric, ..) => metric(NonZeroUsize::MIN),
            };
            discriminant(&metric) == discriminant(&self)
        };
        const { &ROWS }
            .iter()
            .find(own)
            .expect("every measure has a row")
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row() {
            Row::Whole(name, ..) => f.pad(name),
            Row::First(name, ..) => f.pad(&format!("{name}@{}", self.cut_off())),
        }
    }
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let (name, written) = text.split_once('@').unwrap_or((text, ""));
        for row in &ROWS {
            match row {
                Row::Whole(own, metric, ..) if *own == text => return Ok(*metric),
                Row::First(own, metric, ..) if *own == name => {
                    // Digits as they are written: digits without sign or leading zeros.
                    let k: Option<NonZeroUsize> = written.parse().ok();
                    return k
                        .filter(|k| k.to_string() == written)
                        .map(metric)
                        .ok_or_else(|| {
                            Error::options(format!(
                                "metric {text:?} has no valid cut-off: expected a whole number from 1 on after the @"
                            ))
                        });
                }
                _ => {}
            }
        }
        let names = Self::names();
        Err(Error::options(format!(
            "unknown metric {text:?}: expected one of {names}, with K a number from 1 on such as ndcg@10"
        )))
    }
}

impl TryFrom<String> for Metric {
    type Error = Error;

    fn try_from(name: String) -> Result<Self> {
        name.parse()
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> Self {
        metric.to_string()
    }
}

/// The measures of a comma-separated list such as `map, ndcg@10`, each once, in
/// the order first named. Blanks around names are ignored.
pub fn parse_list(list: &str) -> Result<Vec<Metric>> {
    let mut metrics = Vec::new();
    for name in list.split(',').map(str::trim) {
        ensure!(
            !name.is_empty(),
            options,
            "empty name in the list of metrics {list:?}: expected names separated by single commas, such as map,ndcg@10"
        );
        metrics.push(name.parse()?);
    }
    Ok(distinct(&metrics))
}

/// Each measure once, in the order first named.
pub(crate) fn distinct(metrics: &[Metric]) -> Vec<Metric> {
    let mut distinct = Vec::with_capacity(metrics.len());
    for metric in metrics {
        if !distinct.contains(metric) {
            distinct.push(*metric);
        }
    }
    distinct
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip() {
        for name in "map p@1 p@10 ndcg@5 mean-ndcg err mrr cindex label@1".split(' ') {
            let metric: Metric = name.parse().unwrap();
            assert_eq!(metric.to_string(), name);
            let json = serde_json::to_string(&metric).unwrap();
            assert_eq!(json, format!("{name:?}"));
            assert_eq!(serde_json::from_str::<Metric>(&json).unwrap(), metric);
        }
    }

    #[test]
    fn unknown_names_list_the_valid_ones() {
        for name in [
            "", "MAP", "ndcg5", "map@3", "cindex ", "@3", "label", "label@", "label@2", "label@01",
        ] {
            let error = name.parse::<Metric>().unwrap_err();
            let begin = format!("unknown metric {name:?}: expected one of map, p@K, ndcg@K, ");
            let message = begin + "mean-ndcg, err, mrr, cindex, label@1, with K";
            assert!(error.to_string().starts_with(&message), "{error}");
        }
        assert!(serde_json::from_str::<Metric>("\"nope\"").is_err());
    }

    #[test]
    fn a_cut_off_is_a_plain_positive_number() {
        for name in ["p@0", "p@", "ndcg@-1", "ndcg@+1", "p@01", "p@1.5", "ndcg"] {
            let error = name.parse::<Metric>().unwrap_err();
            let message = format!("metric {name:?} has no valid cut-off");
            assert!(error.to_string().starts_with(&message), "{error}");
        }
    }

    #[test]
    fn measures_that_take_any_label_are_listed() {
        assert_eq!(
            Metric::names_for_any_label(),
            "map, p@K, mrr, cindex, label@1"
        );
        let err: Metric = "err".parse().unwrap();
        assert_eq!(err.labels(), LabelUse::Scale);
    }

    #[test]
    fn lists_keep_order_and_drop_repeats() {
        let names = |list| -> Result<Vec<String>> {
            Ok(parse_list(list)?.iter().map(Metric::to_string).collect())
        };
        assert_eq!(names("mrr, map,mrr ,p@3").unwrap(), ["mrr", "map", "p@3"]);
        for list in ["", "map,", "map,,mrr", " "] {
            let message = format!("empty name in the list of metrics {list:?}");
            let error = names(list).unwrap_err().to_string();
            assert!(error.starts_with(&message), "{error}");
        }
    }
}
