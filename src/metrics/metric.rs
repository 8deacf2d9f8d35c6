//! The measures by name, each with a row of a table.

use std::fmt;
use std::mem::discriminant;
use std::num::NonZeroUsize;
use std::str::FromStr;

use rankrls_files::exact;
use serde::{Deserialize, Serialize};

use super::concordance;
use super::measures::{
    average_precision, expected_reciprocal_rank, first_label, mean_ndcg, ndcg, precision,
    reciprocal_rank,
};
use super::ranking::Ranking;
use super::rules::{Convention, Gain, Rules};
use crate::data::Queries;
use crate::error::{Error, Result, ensure};

/// A ranking measure with its rules. Larger is better for all. [`Display`](fmt::Display) writes its full name,
/// [`FromStr`] reads it, and JSON uses it as a key: `NAME[:RULE][(CONVENTION)]`.
///
/// | measure | its rule | such as |
/// |---|---|---|
/// | `map`, `p@K`, `mrr` | the least label of a relevant document | `map:2`, `p@5:2` |
/// | `ndcg@K`, `mean-ndcg` | the gain of a grade `y`: `exponential`, `2^y - 1` (the default), or `linear`, `y` | `ndcg@10:linear` |
/// | `err` | the largest grade of the scale, above 0 | `err:4` |
/// | `cindex`, `label@1` | none | |
///
/// The convention is `standard` or `letor`. A measure that names none follows the evaluation. `cindex` has no
/// convention.
///
/// ```
/// use rankrls::metrics::{Convention, Metric, MetricKind};
///
/// let metric: Metric = "map:2(letor)".parse()?;
/// assert_eq!(metric.kind(), MetricKind::AveragePrecision);
/// assert_eq!(metric.under(Convention::Standard), metric);
/// let ndcg: Metric = "ndcg@10:linear".parse()?;
/// assert_eq!(ndcg.under(Convention::Letor).to_string(), "ndcg@10:linear(letor)");
/// # Ok::<(), rankrls::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Metric {
    kind: MetricKind,
    /// A rule of the kind, if it is not the default.
    rule: Option<Rule>,
    convention: Option<Convention>,
}

/// A ranking measure without its rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MetricKind {
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

/// A measure's rule of reading labels, which follows a colon in its name.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Rule {
    /// The least label of a relevant document.
    RelevantFrom(f64),
    /// The gain of a grade is linear.
    LinearGain,
    /// The largest grade of the scale.
    MaxGrade(f64),
}

/// The meaning of labels for a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LabelUse {
    /// Their order.
    Order,
    /// Their values.
    Value,
    /// Whether documents are relevant.
    Relevance,
    /// Grades from 0 on, which have gains.
    Gains,
    /// Grades from 0 to the largest of the scale.
    Scale,
}

/// A row of the table of measures.
enum Row {
    /// A measure of the whole ranking: its name, kind, labels and value.
    Whole(
        &'static str,
        MetricKind,
        LabelUse,
        fn(&Ranking) -> Option<f64>,
    ),
    /// A measure of the first `K` documents, named with `@K`.
    First(
        &'static str,
        fn(NonZeroUsize) -> MetricKind,
        LabelUse,
        fn(&Ranking, NonZeroUsize) -> Option<f64>,
    ),
}

/// All measures. A new measure takes a variant of [`MetricKind`], a row here and a function.
const ROWS: [Row; 8] = [
    Row::Whole(
        "map",
        MetricKind::AveragePrecision,
        LabelUse::Relevance,
        average_precision,
    ),
    Row::First(
        "p",
        MetricKind::Precision,
        LabelUse::Relevance,
        |query, k| Some(precision(query, k)),
    ),
    Row::First("ndcg", MetricKind::Ndcg, LabelUse::Gains, ndcg),
    Row::Whole(
        "mean-ndcg",
        MetricKind::MeanNdcg,
        LabelUse::Gains,
        mean_ndcg,
    ),
    Row::Whole(
        "err",
        MetricKind::ExpectedReciprocalRank,
        LabelUse::Scale,
        |query| Some(expected_reciprocal_rank(query)),
    ),
    Row::Whole(
        "mrr",
        MetricKind::ReciprocalRank,
        LabelUse::Relevance,
        reciprocal_rank,
    ),
    Row::Whole(
        "cindex",
        MetricKind::Concordance,
        LabelUse::Order,
        concordance::of_ranking,
    ),
    Row::Whole(
        "label@1",
        MetricKind::FirstLabel,
        LabelUse::Value,
        |query| Some(first_label(query)),
    ),
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
    /// Whether labels must be grades, from 0 on.
    pub fn are_grades(self) -> bool {
        matches!(self, Self::Gains | Self::Scale)
    }
}

impl MetricKind {
    /// The `K` of a measure of the first `K` documents, or 1 for others.
    fn cut_off(self) -> NonZeroUsize {
        match self {
            Self::Precision(k) | Self::Ndcg(k) => k,
            _ => NonZeroUsize::MIN,
        }
    }

    fn row(self) -> &'static Row {
        let own = |row: &&Row| {
            let kind = match row {
                Row::Whole(_, kind, ..) => *kind,
                Row::First(_, kind, ..) => kind(NonZeroUsize::MIN),
            };
            discriminant(&kind) == discriminant(&self)
        };
        const { &ROWS }
            .iter()
            .find(own)
            .expect("every measure has a row")
    }

    /// Reads a name without rules.
    fn read(text: &str) -> Result<Self> {
        let (name, written) = text.split_once('@').unwrap_or((text, ""));
        for row in &ROWS {
            match row {
                Row::Whole(own, kind, ..) if *own == text => return Ok(*kind),
                Row::First(own, kind, ..) if *own == name => {
                    // Only digits without sign and leading zeros.
                    let k: Option<NonZeroUsize> = written.parse().ok();
                    return k
                        .filter(|k| k.to_string() == written)
                        .map(kind)
                        .ok_or_else(|| {
                            Error::options(format!(
                                "metric {text:?} has no valid cut-off: expected a whole number from 1 on after the @"
                            ))
                        });
                }
                _ => {}
            }
        }
        let names = Metric::names();
        Err(Error::options(format!(
            "unknown metric {text:?}: expected one of {names}, with K a number from 1 on such as ndcg@10"
        )))
    }

    /// Reads the rule after the colon. `None` for the default.
    fn rule(self, text: &str) -> Result<Option<Rule>> {
        let refused = |expected: &str| {
            let name = Metric::from(self);
            Error::options(format!(
                "metric {name}: expected {expected}, found {text:?} after the colon"
            ))
        };
        let number = text.parse().ok().filter(|number: &f64| number.is_finite());
        match self.row().labels() {
            LabelUse::Relevance => match number {
                Some(least) => Ok(Some(Rule::RelevantFrom(least))),
                None => Err(refused(
                    "the least label of a relevant row, a number such as map:2",
                )),
            },
            LabelUse::Gains => match text {
                "exponential" => Ok(None),
                "linear" => Ok(Some(Rule::LinearGain)),
                _ => Err(refused("a gain, exponential or linear")),
            },
            LabelUse::Scale => match number.filter(|grade| *grade > 0.0) {
                Some(grade) => Ok(Some(Rule::MaxGrade(grade))),
                None => Err(refused("the largest grade, a number above 0 such as err:4")),
            },
            LabelUse::Order | LabelUse::Value => Err(refused("the name alone, as it has no rule")),
        }
    }
}

impl Metric {
    /// The concordance index, which has no rules.
    pub const CONCORDANCE: Self = Self {
        kind: MetricKind::Concordance,
        rule: None,
        convention: None,
    };

    /// The names of all measures, separated by commas; `K` stands for a cut-off.
    pub fn names() -> String {
        ROWS.each_ref().map(Row::name).join(", ")
    }

    /// The names of the measures for any labels, separated by commas.
    pub(crate) fn names_for_any_label() -> String {
        let rows = ROWS.iter().filter(|row| !row.labels().are_grades());
        rows.map(Row::name).collect::<Vec<_>>().join(", ")
    }

    /// The measure without its rules.
    pub fn kind(self) -> MetricKind {
        self.kind
    }

    /// The meaning of labels for the measure.
    pub fn labels(self) -> LabelUse {
        self.kind.row().labels()
    }

    /// This measure under `convention`, if its name has none. The standard convention is not added, since it is the
    /// default.
    #[must_use]
    pub fn under(self, convention: Convention) -> Self {
        let other = convention != Convention::default() && self.has_convention();
        Self {
            convention: self.convention.or(other.then_some(convention)),
            ..self
        }
    }

    fn has_convention(self) -> bool {
        self.labels() != LabelUse::Order
    }

    /// The largest grade of a scale that the measure leaves to the data: their largest label, at least 0. `None` if
    /// the measure has no scale, or names its grade.
    pub fn grade_of(self, labels: &[f64]) -> Option<f64> {
        let left = self.rule.is_none() && self.labels() == LabelUse::Scale;
        left.then(|| labels.iter().copied().fold(0.0, f64::max))
    }

    /// This measure with the [grade of these labels](Self::grade_of), for use on a part of them.
    #[must_use]
    pub(crate) fn graded_by(self, labels: &[f64]) -> Self {
        let rule = self.grade_of(labels).map(Rule::MaxGrade);
        Self {
            rule: self.rule.or(rule),
            ..self
        }
    }

    /// The largest grade, if the measure names it.
    pub(crate) fn max_grade(self) -> Option<f64> {
        match self.rule {
            Some(Rule::MaxGrade(grade)) => Some(grade),
            _ => None,
        }
    }

    /// This measure with linear gains, if it has exponential ones.
    pub(crate) fn with_linear_gains(self) -> Option<Self> {
        let exponential = self.rule.is_none() && self.labels() == LabelUse::Gains;
        exponential.then_some(Self {
            rule: Some(Rule::LinearGain),
            ..self
        })
    }

    /// Its rules, under `convention` unless it names its own.
    pub(super) fn rules(self, convention: Convention) -> Rules {
        let mut rules = Rules::from(self.convention.unwrap_or(convention));
        match self.rule {
            Some(Rule::RelevantFrom(least)) => rules.relevant_from = Some(least),
            Some(Rule::LinearGain) => rules.gain = Gain::Linear,
            Some(Rule::MaxGrade(grade)) => rules.max_grade = Some(grade),
            None => {}
        }
        rules
    }

    /// Why the measure has no value for any of `queries`, under any ranking.
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

    /// The value for one query: a label and a score for each document, in input order.
    ///
    /// `rules` are its own, for the labels of the whole data set. `None` if the measure is undefined, see the
    /// [module](super), or if it needs grades and a label is negative.
    ///
    /// # Panics
    /// Unless there are as many labels as scores.
    pub(super) fn query(self, labels: &[f64], scores: &[f64], rules: Rules) -> Option<f64> {
        let ranking = Ranking::new(labels, scores, rules)?;
        if self.labels().are_grades() && ranking.ideal().last().is_some_and(|label| *label < 0.0) {
            return None;
        }
        match self.kind.row() {
            Row::Whole(.., value) => value(&ranking),
            Row::First(.., value) => value(&ranking, self.kind.cut_off()),
        }
    }
}

impl From<MetricKind> for Metric {
    fn from(kind: MetricKind) -> Self {
        Self {
            kind,
            rule: None,
            convention: None,
        }
    }
}

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self.kind.row() {
            Row::Whole(name, ..) => (*name).to_owned(),
            Row::First(name, ..) => format!("{name}@{}", self.kind.cut_off()),
        };
        let rule = match self.rule {
            Some(Rule::RelevantFrom(number) | Rule::MaxGrade(number)) => exact(number),
            Some(Rule::LinearGain) => "linear".to_owned(),
            None => String::new(),
        };
        let colon = if rule.is_empty() { "" } else { ":" };
        let convention = self.convention.map(|convention| format!("({convention})"));
        f.pad(&format!(
            "{name}{colon}{rule}{}",
            convention.unwrap_or_default()
        ))
    }
}

impl FromStr for Metric {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let bracket = text.strip_suffix(')').and_then(|open| open.split_once('('));
        let (ruled, convention) = bracket.unzip();
        let ruled = ruled.unwrap_or(text);
        let (name, rule) = ruled.split_once(':').unzip();
        let kind = MetricKind::read(name.unwrap_or(ruled))?;
        let metric = Self {
            kind,
            rule: rule.map(|rule| kind.rule(rule)).transpose()?.flatten(),
            convention: convention.map(str::parse).transpose()?,
        };
        ensure!(
            metric.convention.is_none() || metric.has_convention(),
            options,
            "metric {ruled} is the same by every convention: expected the name alone, found {text:?}"
        );
        Ok(metric)
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

/// The measures of a comma-separated list such as `map, ndcg@10`, each once, in the order of first mention. Blanks
/// around names do not count.
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

/// Each measure once, in the order of first mention.
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
        let plain = "map p@1 p@10 ndcg@5 mean-ndcg err mrr cindex label@1".split(' ');
        let ruled = "map:2 p@5:-0.5 mrr:1e300 ndcg@5:linear mean-ndcg:linear(letor) err:4 err:0.5(standard) \
                     label@1(letor) ndcg@10(standard)";
        for name in plain.chain(ruled.split_whitespace()) {
            let metric: Metric = name.parse().unwrap();
            assert_eq!(metric.to_string(), name);
            let json = serde_json::to_string(&metric).unwrap();
            assert_eq!(json, format!("{name:?}"));
            assert_eq!(serde_json::from_str::<Metric>(&json).unwrap(), metric);
        }
    }

    #[test]
    fn a_rule_that_is_as_usual_is_not_written() {
        for (name, written) in [
            ("ndcg@10:exponential", "ndcg@10"),
            ("map:2.0", "map:2"),
            ("err:4e0(letor)", "err:4(letor)"),
        ] {
            assert_eq!(name.parse::<Metric>().unwrap().to_string(), written);
        }
    }

    #[test]
    fn other_rules_are_refused_with_those_that_there_are() {
        for (name, message) in [
            (
                "map:",
                "metric map: expected the least label of a relevant row, a number such as map:2, found \"\"",
            ),
            (
                "p@5:nan",
                "metric p@5: expected the least label of a relevant row, a number such as map:2, found",
            ),
            (
                "ndcg@10:2",
                "metric ndcg@10: expected a gain, exponential or linear, found \"2\" after the colon",
            ),
            (
                "mean-ndcg:Linear",
                "metric mean-ndcg: expected a gain, exponential or linear, found \"Linear\"",
            ),
            (
                "err:0",
                "metric err: expected the largest grade, a number above 0 such as err:4, found \"0\"",
            ),
            ("err:inf", "metric err: expected the largest grade"),
            (
                "cindex:2",
                "metric cindex: expected the name alone, as it has no rule, found \"2\"",
            ),
            (
                "label@1:2",
                "metric label@1: expected the name alone, as it has no rule, found \"2\"",
            ),
            ("map:2:3", "metric map: expected the least label"),
            (
                "cindex(letor)",
                "metric cindex is the same by every convention: expected the name alone, found",
            ),
            (
                "map(best)",
                "no convention is called \"best\": expected one of letor, standard",
            ),
            (
                "map(letor)(letor)",
                "no convention is called \"letor)(letor\"",
            ),
            ("map(letor):2", "unknown metric \"map(letor)\""),
            ("map (letor)", "unknown metric \"map \""),
            (":2", "unknown metric \"\""),
        ] {
            let error = name.parse::<Metric>().unwrap_err().to_string();
            assert!(error.starts_with(message), "{name}: {error}");
        }
    }

    #[test]
    fn a_convention_counts_where_a_name_has_none() {
        for (name, under) in [
            ("ndcg@10", "ndcg@10(letor)"),
            ("map:2", "map:2(letor)"),
            ("map(standard)", "map(standard)"),
            ("cindex", "cindex"),
        ] {
            let metric: Metric = name.parse().unwrap();
            assert_eq!(metric.under(Convention::Letor).to_string(), under);
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
