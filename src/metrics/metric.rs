//! The measures by name.

use std::fmt;
use std::num::NonZeroUsize;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::ranking::Ranking;
use super::{
    Context, Convention, MetricNameError, average_precision, concordance, expected_reciprocal_rank,
    ndcg, precision, reciprocal_rank,
};

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
}

impl Metric {
    /// The value for one query, in input order: a label and a score a document.
    ///
    /// `context` comes from the labels of the whole data set. `None` where the
    /// measure is undefined, see the [module](super). Sorts anew at every call:
    /// [`evaluate`](super::evaluate()) shares one sort among measures.
    ///
    /// # Panics
    /// Unless there are as many labels as scores.
    pub fn query(
        self,
        labels: &[f64],
        scores: &[f64],
        convention: Convention,
        context: Context,
    ) -> Option<f64> {
        self.of(&Ranking::new(labels, scores, convention)?, context)
    }

    /// The value for a sorted query.
    pub(super) fn of(self, ranking: &Ranking, context: Context) -> Option<f64> {
        match self {
            Self::AveragePrecision => average_precision::average_precision(ranking),
            Self::Precision(k) => Some(precision::precision(ranking, k)),
            Self::Ndcg(k) => ndcg::ndcg(ranking, k),
            Self::MeanNdcg => ndcg::mean_ndcg(ranking),
            Self::ExpectedReciprocalRank => {
                Some(expected_reciprocal_rank::expected(ranking, context))
            }
            Self::ReciprocalRank => reciprocal_rank::reciprocal_rank(ranking),
            Self::Concordance => concordance::of_ranking(ranking),
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AveragePrecision => f.pad("map"),
            Self::Precision(k) => f.pad(&format!("p@{k}")),
            Self::Ndcg(k) => f.pad(&format!("ndcg@{k}")),
            Self::MeanNdcg => f.pad("mean-ndcg"),
            Self::ExpectedReciprocalRank => f.pad("err"),
            Self::ReciprocalRank => f.pad("mrr"),
            Self::Concordance => f.pad("cindex"),
        }
    }
}

impl FromStr for Metric {
    type Err = MetricNameError;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        match name.split_once('@') {
            Some(("p", k)) => cut_off(name, k).map(Self::Precision),
            Some(("ndcg", k)) => cut_off(name, k).map(Self::Ndcg),
            Some(_) => Err(MetricNameError::Metric(name.to_owned())),
            None => match name {
                "map" => Ok(Self::AveragePrecision),
                "mean-ndcg" => Ok(Self::MeanNdcg),
                "err" => Ok(Self::ExpectedReciprocalRank),
                "mrr" => Ok(Self::ReciprocalRank),
                "cindex" => Ok(Self::Concordance),
                "p" | "ndcg" => Err(MetricNameError::CutOff(name.to_owned())),
                _ => Err(MetricNameError::Metric(name.to_owned())),
            },
        }
    }
}

impl TryFrom<String> for Metric {
    type Error = MetricNameError;

    fn try_from(name: String) -> Result<Self, Self::Error> {
        name.parse()
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> Self {
        metric.to_string()
    }
}

/// `K` as [`Metric`] writes it: digits without sign or leading zeros.
fn cut_off(name: &str, digits: &str) -> Result<NonZeroUsize, MetricNameError> {
    digits
        .parse()
        .ok()
        .filter(|k: &NonZeroUsize| k.to_string() == digits)
        .ok_or_else(|| MetricNameError::CutOff(name.to_owned()))
}

/// The measures of a comma-separated list such as `map, ndcg@10`, each once, in
/// the order first named. Blanks around names are ignored.
///
/// # Errors
/// [`MetricNameError::EmptyItem`] for an empty list or item, and the errors of
/// [`Metric`]'s `FromStr`.
pub fn parse_list(list: &str) -> Result<Vec<Metric>, MetricNameError> {
    let mut metrics = Vec::new();
    for name in list.split(',').map(str::trim) {
        if name.is_empty() {
            return Err(MetricNameError::EmptyItem(list.to_owned()));
        }
        let metric = name.parse()?;
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    Ok(metrics)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 8] = [
        "map",
        "p@1",
        "p@10",
        "ndcg@5",
        "mean-ndcg",
        "err",
        "mrr",
        "cindex",
    ];

    #[test]
    fn names_round_trip() {
        for name in NAMES {
            let metric: Metric = name.parse().unwrap();
            assert_eq!(metric.to_string(), name);
            let json = serde_json::to_string(&metric).unwrap();
            assert_eq!(json, format!("{name:?}"));
            assert_eq!(serde_json::from_str::<Metric>(&json).unwrap(), metric);
        }
    }

    #[test]
    fn unknown_names_list_the_valid_ones() {
        for name in ["", "MAP", "ndcg5", "map@3", "cindex ", "@3"] {
            let error = name.parse::<Metric>().unwrap_err();
            assert_eq!(error, MetricNameError::Metric(name.to_owned()));
            assert!(error.to_string().contains("mean-ndcg, err, mrr, cindex"));
        }
        assert!(serde_json::from_str::<Metric>("\"nope\"").is_err());
    }

    #[test]
    fn a_cut_off_is_a_plain_positive_number() {
        for name in ["p@0", "p@", "ndcg@-1", "ndcg@+1", "p@01", "p@1.5", "ndcg"] {
            let error = name.parse::<Metric>().unwrap_err();
            assert_eq!(error, MetricNameError::CutOff(name.to_owned()));
        }
    }

    #[test]
    fn lists_keep_order_and_drop_repeats() {
        let names =
            |list| parse_list(list).map(|metrics| metrics.iter().map(Metric::to_string).collect());
        assert_eq!(
            names("mrr, map,mrr ,p@3"),
            Ok(vec!["mrr".to_owned(), "map".to_owned(), "p@3".to_owned()])
        );
        for list in ["", "map,", "map,,mrr", " "] {
            assert_eq!(
                parse_list(list),
                Err(MetricNameError::EmptyItem(list.to_owned()))
            );
        }
    }
}
