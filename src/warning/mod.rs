//! Warnings: values that say which data and results deserve a second look. Each front end words them.
//!
//! Nothing is wrong for certain, so that nothing is refused; on sound data there are none.
//!
//! ```
//! use rankrls::GreedyRankRls;
//! use rankrls::data::sample;
//!
//! let data = sample::train();
//! assert_eq!(data.warnings(), []);
//! let model = GreedyRankRls::new(5).lambda(16.0).fit(&data)?;
//! for warning in model.warnings() {
//!     eprintln!("{warning}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod numbering;

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use rankrls_files::{Parameter, Remedy, counted, short};

use crate::data::read::TableOptions;
use crate::data::{Dataset, FeatureNames, Groups, IndexBase, Queries, one_query};
use crate::greedy::{Criterion, Ending, Selection, StrategyKind};
use crate::lambda::Lambda;
use crate::metrics::{Gain, LabelUse, Metric, Rules};
use crate::ridge::{TOLERANCE, Training};
use crate::tune::{self, Tuned};

use numbering::{Numbering, Numberings};

/// A fact that deserves a second look. [`Display`](fmt::Display) words it for users.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Warning {
    /// There are more names than columns.
    Names {
        /// Names of columns.
        names: usize,
        /// Columns of the data.
        columns: usize,
        /// How the source counts columns.
        base: IndexBase,
    },
    /// All names in the header of a table are numbers.
    NumericHeader {
        /// The first name of a feature.
        first: String,
    },
    /// A column counts the rows.
    RowNumbers(SuspectColumn),
    /// A column has another whole number in each row.
    Identifiers(SuspectColumn),
    /// A column counts the rows of each query, which are in the order of their labels.
    Places(SuspectColumn),
    /// Ids of queries that are the numbers of their rows.
    SizesAsQueries {
        /// The id of the first query.
        first: String,
    },
    /// Hold-outs of few queries say little.
    FewQueries {
        /// Queries of the data.
        queries: usize,
    },
    /// The labels are constant within every query.
    ConstantLabels,
    /// Labels so large that gains of 2 to their power leave nothing of others.
    LargeGrades {
        /// The measure.
        metric: Metric,
        /// The largest label, or grade.
        largest: f64,
        /// Whether another gain may be asked for.
        choice: bool,
    },
    /// A parameter that nothing heeds.
    NoEffect {
        /// The parameter.
        parameter: Parameter,
        /// Why.
        reason: Idle,
    },
    /// A chosen number is the least or the largest of those tried.
    Edge {
        /// The number, as in "the chosen lambda".
        what: Cow<'static, str>,
        /// Its value.
        chosen: f64,
        /// Whether it is the largest.
        largest: bool,
    },
    /// The ridge parameter of the teacher is the least or the largest of those tried.
    TeacherEdge {
        /// The ridge parameter.
        lambda: Lambda,
    },
    /// Rounding is amplified.
    LostDigits {
        /// The factor.
        condition: f64,
        /// Whether this is a bound, mostly far above the loss, and no estimate.
        bound: bool,
    },
    /// The chosen model has as many features as there were to be at most.
    AllFeatures {
        /// Its features.
        k: usize,
    },
    /// There were not as many features to select.
    Exhausted {
        /// Features selected.
        taken: usize,
        /// Features asked for.
        asked: usize,
    },
    /// Conjugate gradients ended early.
    Residual {
        /// The ridge parameter.
        lambda: Lambda,
        /// The models that were solved for.
        solved: Solved,
        /// Norm of the residual, as a share of that of the labels.
        residual: f64,
        /// The norm to reach.
        tolerance: f64,
    },
    /// Nothing was held out, of data of one query.
    NoHoldOut,
    /// Folds that cut queries.
    CutQueries {
        /// How many are cut.
        queries: usize,
        /// The id of the first of them, or its number from 1 on.
        first: String,
    },
    /// Columns that were read but not known.
    Dropped {
        /// Non-zeros in them.
        entries: u64,
        /// Columns.
        columns: u64,
        /// Who does not know them, such as "the model".
        unknown_to: String,
    },
}

/// The models that conjugate gradients solve for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Solved {
    /// A model of all examples.
    Model,
    /// Models that hold something out.
    HoldOuts,
    /// The same, of a teacher.
    Teacher,
}

/// Why a parameter has no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Idle {
    /// None of the measures depends on it.
    Measures,
    /// There is nothing to draw.
    NothingDrawn,
    /// This strategy draws nothing unless it is told how many candidates to judge.
    Strategy(StrategyKind),
}

/// A column that may be no feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SuspectColumn {
    /// 0-based.
    pub feature: u32,
    /// The index as the data write it.
    pub index: u64,
    /// Its name, if it has one.
    pub name: Option<String>,
}

impl fmt::Display for SuspectColumn {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(formatter, "column {name:?}"),
            None => write!(formatter, "column {}", self.index),
        }
    }
}

const COUNTS_ROWS: &str =
    "counts the rows, as an index of pandas or R does, and says nothing of other rows";

const IDENTIFIES_ROWS: &str = "has another whole number in each row, as identifiers are, which say nothing of \
    other rows";

const PLACES_ROWS: &str = "counts the rows of each query, and these are in the order of their labels: it tells \
    the labels, and says nothing of rows in another order";

fn tell_column(f: &mut fmt::Formatter<'_>, column: &SuspectColumn, fault: &str) -> fmt::Result {
    let remedy = Remedy::LeaveOut(column.name.clone());
    write!(f, "{column} {fault}; {remedy}")
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Names {
                names,
                columns,
                base,
            } => f.write_str(&more_names(*names, *columns, *base)),
            Self::NumericHeader { first } => write!(
                f,
                "the header has numbers alone, such as {first:?}: is it the first row of the data? Then \
                 write a header before it"
            ),
            Self::RowNumbers(column) => tell_column(f, column, COUNTS_ROWS),
            Self::Identifiers(column) => tell_column(f, column, IDENTIFIES_ROWS),
            Self::Places(column) => tell_column(f, column, PLACES_ROWS),
            Self::SizesAsQueries { first } => write!(
                f,
                "the queries have as many rows as their ids say, such as {first:?}: are these the sizes of \
                 queries? Queries of one size are one query then; give each an id of its own"
            ),
            Self::FewQueries { queries } => write!(
                f,
                "there are only {queries} queries: predictions for one by a model of the others say little"
            ),
            Self::ConstantLabels => f.write_str(
                "the labels are constant within every query: there is nothing to learn, and every \
                 weight is 0",
            ),
            Self::LargeGrades {
                metric,
                largest,
                choice,
            } => f.write_str(&large_grades(*metric, *largest, *choice)),
            Self::NoEffect { parameter, reason } => {
                write!(f, "{parameter} has no effect{reason}")
            }
            Self::Edge {
                what,
                chosen,
                largest,
            } => f.write_str(&edge(what, *chosen, *largest)),
            Self::TeacherEdge { lambda } => write!(
                f,
                "the teacher's lambda {} is at the edge of those tried: {} takes others",
                short(lambda.value()),
                Parameter::TeacherLambda
            ),
            Self::LostDigits { condition, bound } => f.write_str(&lost_digits(*condition, *bound)),
            Self::AllFeatures { k } => write!(
                f,
                "the chosen model has all {k} features: more may do better"
            ),
            Self::Exhausted { taken, asked } => write!(
                f,
                "selected {taken} features, not {asked}: the data has {} to select from",
                counted(*taken, "column class")
            ),
            Self::Residual {
                lambda,
                solved,
                residual,
                tolerance,
            } => {
                let part = match solved {
                    Solved::Model => "",
                    Solved::HoldOuts => "hold-outs by ",
                    Solved::Teacher => "the teacher's hold-outs by ",
                };
                write!(
                    f,
                    "with lambda {} {part}conjugate gradients came to a residual of {residual:.1e}, not \
                     {tolerance:.0e}",
                    short(lambda.value())
                )
            }
            Self::NoHoldOut => write!(f, "no hold-out: {}", one_query()),
            Self::CutQueries { queries, first } => write!(
                f,
                "the folds cut {}, the first of them {first:?}: a model that has seen rows of a query \
                 predicts the others too well; give all rows of a query one fold",
                counted(*queries, "query")
            ),
            Self::Dropped {
                entries,
                columns,
                unknown_to,
            } => write!(
                f,
                "dropped {} in {} unknown to {unknown_to}",
                counted(*entries, "non-zero"),
                counted(*columns, "column")
            ),
        }
    }
}

impl fmt::Display for Idle {
    /// The words after "has no effect".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Measures => f.write_str(" on these measures"),
            Self::NothingDrawn => f.write_str(": nothing is drawn at random"),
            Self::Strategy(strategy) => write!(
                f,
                ": {strategy} draws nothing at random without {}",
                Parameter::Candidates
            ),
        }
    }
}

fn more_names(names: usize, columns: usize, base: IndexBase) -> String {
    let (names, columns) = (counted(names, "name"), counted(columns, "column"));
    let text = format!("there are {names} for {columns}: names after the last column are ignored");
    match base {
        IndexBase::Zero => text,
        IndexBase::One => format!(
            "{text}; is the file zero-based? Then its names are shifted by one: pass {}",
            Remedy::Set(Parameter::ZeroBased, "true")
        ),
    }
}

fn large_grades(metric: Metric, largest: f64, choice: bool) -> String {
    let remedy = if choice {
        let linear = Remedy::Set(Parameter::Gain, Gain::Linear.name());
        format!("take {linear}")
    } else {
        let measures = Metric::names_for_any_label();
        format!("judge by {measures}, or make grades of them")
    };
    format!(
        "labels go up to {}, and their gain in {metric} is 2^label - 1: beside the largest, other labels \
         hardly count; if they are counts, {remedy}",
        short(largest)
    )
}

fn edge(what: &str, chosen: f64, largest: bool) -> String {
    let (which, other) = if largest {
        ("largest", "larger")
    } else {
        ("smallest", "smaller")
    };
    let chosen = short(chosen);
    format!("{what} {chosen} is the {which} of the grid: a {other} one may do better")
}

fn lost_digits(condition: f64, bound: bool) -> String {
    let (about, most) = if bound {
        ("up to", " at most")
    } else {
        ("about", "")
    };
    let lost = if condition < 1e15 {
        let digits = condition.log10();
        format!("{about} {digits:.0} of 16 digits of errors and weights are lost")
    } else {
        "errors and weights may have no digit that is right".to_owned()
    };
    format!(
        "{lost}: the condition number is {condition:.0e}{most}, as lambda is small beside the values or columns \
         are nearly the same; {}, or scale the columns: {}",
        Remedy::RaiseLambda,
        Remedy::Set(Parameter::Scale, "sd")
    )
}

/// The largest label whose gain is a number that people have in mind.
const LARGEST_GRADE: f64 = 31.0;

/// Columns that look as if the data were read wrongly, found among columns that come some at a time.
#[derive(Debug, Default)]
pub struct Suspects(Numberings);

impl Suspects {
    /// Looks at the columns of `data`, some of all.
    pub fn look(&mut self, data: &Dataset<'_>) {
        self.0.look(data);
    }

    /// Warns of those found, as `data` name and count the columns.
    pub fn warnings(self, data: &Dataset<'_>) -> Vec<Warning> {
        let warning = |(feature, numbering)| {
            let column = SuspectColumn {
                feature,
                index: data.index_base().written(feature),
                name: data.name_of(feature).map(str::to_owned),
            };
            match numbering {
                Numbering::Rows => Warning::RowNumbers(column),
                Numbering::Identifiers => Warning::Identifiers(column),
                Numbering::Places => Warning::Places(column),
            }
        };
        self.0.found().into_iter().map(warning).collect()
    }
}

impl Warning {
    /// The column that it is about.
    pub fn column(&self) -> Option<&SuspectColumn> {
        match self {
            Self::RowNumbers(column) | Self::Identifiers(column) | Self::Places(column) => {
                Some(column)
            }
            _ => None,
        }
    }

    /// Warns of more names than columns.
    pub fn of_names(data: &Dataset<'_>) -> Option<Self> {
        let names = data.names().map_or(0, FeatureNames::len);
        let (columns, base) = (data.width(), data.index_base());
        (names > columns).then_some(Self::Names {
            names,
            columns,
            base,
        })
    }

    /// Warns of names, columns and query identifiers that look as if the data were read wrongly.
    pub fn of_columns(data: &Dataset<'_>) -> Vec<Self> {
        let mut warnings: Vec<Self> = Self::of_names(data).into_iter().collect();
        let mut suspects = Suspects::default();
        suspects.look(data);
        warnings.extend(suspects.warnings(data));
        warnings.extend(sizes_as_queries(data.queries()));
        warnings
    }

    /// Warns of the header of a table that was read into `data`.
    pub fn of_header(data: &Dataset<'_>, table: &TableOptions) -> Option<Self> {
        let features = data.names().into_iter().flat_map(FeatureNames::iter);
        let others = table.label.iter().chain(&table.query).chain(&table.ignore);
        let titles: Vec<&str> = features.chain(others.map(String::as_str)).collect();
        let numeric = |title: &&str| title.trim().parse::<f64>().is_ok();
        if table.label.is_none() || !titles.iter().all(numeric) {
            return None;
        }
        // Columns without names have these in pandas.
        let places: HashSet<String> = (0..titles.len()).map(|place| place.to_string()).collect();
        let counted = titles.iter().all(|&title| places.contains(title));
        let first = titles.first().filter(|_| !counted)?;
        Some(Self::NumericHeader {
            first: (*first).to_owned(),
        })
    }

    /// Warns of queries and labels that teach little or nothing.
    pub fn of_queries(data: &Dataset<'_>) -> Vec<Self> {
        let (queries, labels) = (data.queries(), data.labels());
        let mut warnings = Vec::new();
        if (2..5).contains(&queries.len()) {
            warnings.push(Self::FewQueries {
                queries: queries.len(),
            });
        }
        let constant = queries.ranges().all(|range| {
            let mut pairs = labels[range].windows(2);
            pairs.all(|pair| pair[0] == pair[1])
        });
        if constant {
            warnings.push(Self::ConstantLabels);
        }
        warnings
    }

    /// Warns of measures that make gains of these large `labels`. `choice` says whether a user may ask for
    /// another gain.
    pub fn of_grades(metrics: &[Metric], labels: &[f64], rules: &Rules, choice: bool) -> Vec<Self> {
        let largest = labels.iter().copied().fold(0.0, f64::max);
        let grade = rules.max_grade.unwrap_or(largest);
        let first = |kind: LabelUse| {
            let mut metrics = metrics.iter().copied();
            metrics.find(|metric| metric.labels() == kind)
        };
        let gains = first(LabelUse::Gains).filter(|_| rules.gain == Gain::Exponential);
        let scale = first(LabelUse::Scale);
        let limits = [(gains, largest, choice), (scale, grade, false)];
        let mut warnings = limits.into_iter().filter_map(|(metric, largest, choice)| {
            (largest > LARGEST_GRADE).then_some(Self::LargeGrades {
                metric: metric?,
                largest,
                choice,
            })
        });
        // The second would say the same.
        warnings.next().into_iter().collect()
    }

    /// Warns of a criterion that makes gains of these large `labels`.
    pub fn of_criterion(criterion: Criterion, labels: &[f64]) -> Vec<Self> {
        match criterion {
            Criterion::Squared => Vec::new(),
            Criterion::Ranking { metric, convention } => {
                Self::of_grades(&[metric], labels, &convention.into(), false)
            }
        }
    }

    /// Warns of `rules` that none of `metrics` heeds.
    pub fn of_rules(metrics: &[Metric], rules: &Rules) -> Vec<Self> {
        let given = [
            (
                Parameter::RelevantFrom,
                LabelUse::Relevance,
                rules.relevant_from.is_some(),
            ),
            (
                Parameter::Gain,
                LabelUse::Gains,
                rules.gain != Gain::default(),
            ),
            (
                Parameter::MaxGrade,
                LabelUse::Scale,
                rules.max_grade.is_some(),
            ),
        ];
        let idle = given.into_iter().filter(|&(_, labels, given)| {
            given && !metrics.iter().any(|metric| metric.labels() == labels)
        });
        let warnings = idle.map(|(parameter, ..)| Self::NoEffect {
            parameter,
            reason: Idle::Measures,
        });
        warnings.collect()
    }

    /// Warns of folds of rows that cut `queries`.
    pub fn of_folds(groups: &Groups, queries: &Queries) -> Option<Self> {
        if queries.len() < 2 || !groups.are_of_rows(queries) {
            return None;
        }
        let mut fold = vec![0; queries.rows()];
        for (number, rows) in groups.iter().enumerate() {
            for &row in rows {
                fold[row] = number;
            }
        }
        let is_cut = |&query: &usize| {
            let mut pairs = fold[queries.range(query)].windows(2);
            pairs.any(|pair| pair[0] != pair[1])
        };
        let cut: Vec<usize> = (0..queries.len()).filter(is_cut).collect();
        let &first = cut.first()?;
        let number = || (first + 1).to_string();
        Some(Self::CutQueries {
            queries: cut.len(),
            first: queries.id(first).map_or_else(number, str::to_owned),
        })
    }

    /// Warns of a number `chosen`, called `what`, that is the least or the largest of those `tried`: a
    /// number beyond them may do better.
    pub fn of_edge(
        what: impl Into<Cow<'static, str>>,
        chosen: f64,
        tried: impl IntoIterator<Item = f64>,
    ) -> Option<Self> {
        let (mut least, mut most) = (f64::INFINITY, f64::NEG_INFINITY);
        for one in tried {
            (least, most) = (least.min(one), most.max(one));
        }
        let at_edge = least < most && (chosen == least || chosen == most);
        at_edge.then(|| Self::Edge {
            what: what.into(),
            chosen,
            largest: chosen == most,
        })
    }

    /// Warns of a large condition number.
    fn of_condition(condition: f64, bound: bool) -> Option<Self> {
        // Nothing is said where half of the digits are left, or three quarters lost at most.
        let silent = if bound { 1e12 } else { 1e8 };
        let lost = condition > silent || condition.is_nan();
        lost.then_some(Self::LostDigits { condition, bound })
    }
}

/// Queries whose rows are as many as their ids say, or for several queries of one size a multiple. Half of
/// them are to have exactly as many: ids from 1 on divide many numbers of rows.
fn sizes_as_queries(queries: &Queries) -> Option<Warning> {
    let ids = queries.ids().filter(|ids| ids.len() > 2)?;
    let mut same = 0;
    for (id, rows) in ids.iter().zip(queries.ranges()) {
        let size: usize = id.parse().ok().filter(|&size| size > 0)?;
        if rows.len() % size != 0 {
            return None;
        }
        same += usize::from(rows.len() == size);
    }
    let sizes = 2 * same >= ids.len();
    sizes.then(|| Warning::SizesAsQueries {
        first: ids.iter().next().unwrap_or_default().to_owned(),
    })
}

impl Dataset<'_> {
    /// Warnings about the data, before anything is learnt. O(nnz) time at most.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Warning::of_columns(self);
        warnings.extend(Warning::of_queries(self));
        warnings
    }
}

impl Selection {
    /// Warnings about the result.
    pub fn warnings(&self) -> Vec<Warning> {
        let (taken, asked) = (self.steps.len(), self.options.k);
        let none_left = self.ending == Ending::Exhausted;
        let exhausted = none_left.then_some(Warning::Exhausted { taken, asked });
        let at_edge = self.teacher.filter(|teacher| teacher.at_edge);
        let edge = at_edge.and_then(|teacher| {
            let lambda = teacher.lambda?;
            Some(Warning::TeacherEdge { lambda })
        });
        let residual = self.teacher.and_then(|teacher| {
            Some(Warning::Residual {
                lambda: teacher.lambda?,
                solved: Solved::Teacher,
                residual: teacher.residual?,
                tolerance: TOLERANCE,
            })
        });
        let digits = Warning::of_condition(self.condition, false);
        let all = digits.into_iter().chain(edge).chain(residual);
        all.chain(exhausted).collect()
    }
}

impl Tuned {
    /// Where the chosen ridge parameter is at an edge of those tried.
    ///
    /// # Panics
    /// As [`chosen`](Self::chosen).
    pub fn edge(&self) -> Option<Warning> {
        let tried = self.outcomes.iter();
        let tried = tried.map(|outcome| outcome.lambda.value());
        Warning::of_edge("the chosen lambda", self.lambda().value(), tried)
    }

    /// Warnings about the result.
    ///
    /// # Panics
    /// As [`chosen`](Self::chosen).
    pub fn warnings(&self) -> Vec<Warning> {
        let (path, k) = (self.chosen(), self.choice.k);
        let all = path.ending == tune::PathEnding::Complete && k == path.points.len() && k > 1;
        let all = all.then_some(Warning::AllFeatures { k });
        let mut warnings: Vec<Warning> = self.edge().into_iter().collect();
        warnings.extend(self.selection().warnings());
        warnings.extend(all);
        warnings
    }
}

impl Training {
    /// Warnings about the result.
    pub fn warnings(&self) -> Vec<Warning> {
        let best = self.best();
        let mut warnings: Vec<Warning> = Vec::new();
        warnings.extend(Warning::of_condition(best.condition, true));
        // Each kernel has a grid of its own.
        let grid = self.cells.iter().filter(|cell| cell.kernel == best.kernel);
        let lambdas = grid.map(|cell| cell.lambda.value());
        warnings.extend(Warning::of_edge(
            "the chosen lambda",
            best.lambda.value(),
            lambdas,
        ));
        if let Some(gamma) = best.kernel.gamma() {
            let gammas = self.cells.iter().filter_map(|cell| cell.kernel.gamma());
            warnings.extend(Warning::of_edge("the chosen gamma", gamma, gammas));
        }
        warnings.extend(self.shortfalls().map(|shortfall| Warning::Residual {
            lambda: shortfall.lambda,
            solved: if shortfall.held_out {
                Solved::HoldOuts
            } else {
                Solved::Model
            },
            residual: shortfall.convergence.residual,
            tolerance: shortfall.tolerance,
        }));
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::parsed;
    use crate::fitted::GreedyRankRls;
    use crate::greedy::SelectError;
    use crate::ridge::{RankRls, Solver};
    use crate::tune::TuneError;

    /// Queries of four rows with the `label` of each row, and two columns.
    fn data(rows: usize, label: impl Fn(usize) -> f64) -> Dataset<'static> {
        let rows = (0..rows).map(|row| {
            let (a, b) = (row * 7 % 5, row * 11 % 13);
            format!("{} qid:q{} 1:{a} 2:{b}.5\n", label(row), row / 4)
        });
        parsed(&rows.collect::<String>())
    }

    fn grades(row: usize) -> f64 {
        (row * 5 % 4) as f64
    }

    #[test]
    fn data_are_told_of() {
        assert_eq!(data(48, grades).warnings(), []);
        assert_eq!(data(48, |_| 1.0).warnings(), [Warning::ConstantLabels]);
        let few = data(16, grades).warnings();
        assert_eq!(few, [Warning::FewQueries { queries: 4 }]);
        let names = ["bias", "price", "age"].iter().collect();
        let named = data(48, grades).with_names(names).unwrap().warnings();
        assert!(matches!(
            named[..],
            [Warning::Names {
                names: 3,
                columns: 2,
                ..
            }]
        ));
        let remedy = "by one: pass ReadOptions::zero_based = true";
        assert!(named[0].to_string().ends_with(remedy), "{}", named[0]);
        let sizes = [3, 5, 4].map(|size| format!("1 qid:{size} 1:1\n").repeat(size));
        let warnings = parsed(&sizes.concat()).warnings();
        assert!(matches!(&warnings[0], Warning::SizesAsQueries { first } if first == "3"));
    }

    #[test]
    fn results_are_told_of() {
        let data = data(48, grades);
        let params = GreedyRankRls::new(5);
        let found = params.fit(&data).unwrap().selection().warnings();
        let exhausted = Warning::Exhausted { taken: 2, asked: 5 };
        assert_eq!(found, [exhausted]);
        let params = RankRls {
            lambdas: "0.5,1".parse().unwrap(),
            solver: Some(Solver::Dual),
            ..RankRls::default()
        };
        let outcome = params.train(&data, None).unwrap();
        let edge = |warning: &Warning| {
            matches!(warning, Warning::Edge { chosen, .. } if *chosen
            == outcome.best().lambda.value())
        };
        assert!(outcome.warnings().iter().any(edge));
    }

    #[test]
    fn no_more_digits_are_lost_than_there_are() {
        let said = |condition, bound| {
            Warning::of_condition(condition, bound).map(|warning| warning.to_string())
        };
        assert_eq!((said(1e8, false), said(1e12, true)), (None, None));
        let some = said(1e10, false).unwrap();
        assert!(some.starts_with("about 10 of 16 digits"), "{some}");
        for condition in [1e16, 1e76, f64::INFINITY, f64::NAN] {
            for bound in [false, true] {
                let all = said(condition, bound).unwrap();
                assert!(
                    all.starts_with("errors and weights may have no digit"),
                    "{all}"
                );
            }
        }
    }

    #[test]
    fn parameters_without_effect_are_refused() {
        let data = data(48, grades);
        let params = GreedyRankRls::new(1).blend(0.5);
        let error = params.fit(&data).unwrap_err();
        let parameter = Parameter::Blend;
        let TuneError::Select(error) = error else {
            panic!("{error}");
        };
        assert_eq!(error, SelectError::NoEffect { parameter });
        assert!(params.strategy(StrategyKind::Distil).fit(&data).is_ok());
    }
}
