//! Warnings: texts that say which data and results deserve a second look.
//!
//! Nothing is certainly wrong, so nothing is refused. Sound data have no warnings.
//!
//! ```
//! use rankrls::data::sample;
//! use rankrls::greedy::job::{select, unwatched};
//! use rankrls::{Lambda, GreedyRankRls};
//!
//! let data = sample::train();
//! assert_eq!(data.warnings(), []);
//! let selection = select(&data, &GreedyRankRls::new(5, Lambda::new(16.0)?), &mut unwatched)?;
//! for warning in selection.warnings() {
//!     eprintln!("{warning}");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod columns;
mod input;
mod numbering;
mod seen;

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};

use rankrls_files::{Parameter, counted, short};
use rayon::prelude::*;

use crate::columns::{ColumnClasses, Scale};
use crate::data::read::Loaded;
use crate::data::{
    Dataset, Feature, FeatureNames, Groups, IndexBase, Queries, Strings, is_rounded,
};
use crate::greedy::{Ending, Selection, Teacher};
use crate::lambda::{Lambda, is_flat};
use crate::metrics::{LabelUse, Metric};
use crate::ridge::{Cell, HOLDOUT_TOLERANCE, TOLERANCE, Training};
use crate::tune::Tuned;

pub use columns::OddColumns;

/// A fact that deserves a second look. [`Display`](fmt::Display) gives the text for users.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// The column that it is about: its number from 0 on, and its name in the data.
    pub column: Option<(Feature, String)>,
    /// The finding, and what to do about it. For a column, it follows the column's name.
    pub text: String,
}

impl From<String> for Warning {
    fn from(text: String) -> Self {
        let column = None;
        Self { column, text }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some((_, called)) = &self.column {
            write!(formatter, "{called} ")?;
        }
        formatter.write_str(&self.text)
    }
}

/// `warning!("text {with} values")` is a [`Warning`] with this text.
macro_rules! warning {
    ($($text:tt)+) => { Warning::from(format!($($text)+)) };
}

/// The largest label with a plausible gain.
const LARGEST_GRADE: f64 = 31.0;

impl Warning {
    /// Warns of one name more than columns, as in a file that counts from 0, or of a name of two columns. Rows of a
    /// corpus may lack its last columns.
    pub fn of_names(data: &Dataset<'_>) -> Option<Self> {
        if let Some(repeated) = repeated_name(data) {
            return Some(repeated);
        }
        let names = data.names().map_or(0, FeatureNames::len);
        let (columns, base) = (data.width(), data.index_base());
        (names == columns + 1 && base == IndexBase::One).then(|| {
            let (names, columns) = (counted(names, "name"), counted(columns, "column"));
            warning!(
                "there are {names} for {columns}: if the file counts its columns from 0, names are shifted by one; pass {}",
                Parameter::ZeroBased
            )
        })
    }

    /// Warns of scattered queries, and of identifiers that may stand for several queries.
    pub fn of_loaded(loaded: &Loaded) -> Vec<Self> {
        let returned = loaded.returned.as_ref().map(|(id, line)| {
            warning!(
                "query {id:?} comes back on line {line}, after other queries: the rows of each query are brought \
                 together"
            )
        });
        let cut = loaded.rounded.as_ref();
        let cut = cut.map(|(id, line)| rounded(id, &format!(" on line {line}")));
        returned.into_iter().chain(cut).collect()
    }

    /// Warns of identifiers that may stand for several queries.
    pub fn of_identifiers(queries: &Queries) -> Option<Self> {
        let mut ids = queries.ids().into_iter().flat_map(Strings::iter);
        ids.find(|id| is_rounded(id)).map(|id| rounded(id, ""))
    }

    /// Warns of names, columns and labels that suggest a misread file.
    pub fn of_columns(data: &Dataset<'_>) -> Vec<Self> {
        let mut warnings: Vec<Self> = Self::of_names(data).into_iter().collect();
        let mut odd = OddColumns::default();
        odd.look(data);
        warnings.extend(odd.warnings(data));
        warnings.extend(sizes_as_queries(data.queries()));
        warnings.extend(not_judged(data.labels()));
        warnings
    }

    /// Warns of columns of `data` with very different units, if no scale removes them. The `classes` know the
    /// deviations, so no column is read again.
    pub fn of_units(classes: &ColumnClasses, data: &Dataset<'_>) -> Option<Self> {
        columns::units(classes, data)
    }

    /// Warns of queries and labels with little or no information.
    pub fn of_queries(data: &Dataset<'_>) -> Vec<Self> {
        let (queries, labels) = (data.queries(), data.labels());
        let mut warnings = Vec::new();
        if (2..5).contains(&queries.len()) {
            warnings.push(warning!(
                "there are only {} queries: predictions for one by a model of the others say little",
                queries.len()
            ));
        }
        let constant = queries.ranges().all(|range| {
            let mut pairs = labels[range].windows(2);
            pairs.all(|pair| pair[0] == pair[1])
        });
        if constant {
            warnings.push(warning!(
                "the labels are constant within every query: there is nothing to learn, and every weight is 0"
            ));
        }
        warnings
    }

    /// Warns of measures that turn these large `labels` into gains.
    pub fn of_grades(metrics: &[Metric], labels: &[f64]) -> Option<Self> {
        let largest = labels.iter().copied().fold(0.0, f64::max);
        let large = |metric: Metric, largest: f64, remedy: String| {
            (largest > LARGEST_GRADE).then(|| {
                warning!(
                    "labels go up to {}, and their gain in {metric} is 2^label - 1: beside the largest, other \
                     labels hardly count; if they are counts, {remedy}",
                    short(largest)
                )
            })
        };
        let of_gains = metrics.iter().find_map(|metric| {
            let linear = metric.with_linear_gains()?;
            large(*metric, largest, format!("take {linear}"))
        });
        let of_scale = || {
            let scale = |metric: &&Metric| metric.labels() == LabelUse::Scale;
            let metric = metrics.iter().find(scale)?;
            let measures = Metric::names_for_any_label();
            let remedy = format!("judge by {measures}, or make grades of them");
            large(*metric, metric.max_grade().unwrap_or(largest), remedy)
        };
        // The second warning would say the same.
        of_gains.or_else(of_scale)
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
        Some(warning!(
            "the folds cut {}, the first of them {:?}: a model that has seen rows of a query predicts the others \
             too well; give all rows of a query one fold",
            counted(cut.len(), "query"),
            queries.id(first).map_or_else(number, str::to_owned)
        ))
    }

    /// Warns of a number `chosen`, called `what`, at an edge of the numbers `tried`, which have these results: a
    /// number beyond may be better. Names the columns of `data` that leave the others no lambda of a grid, if there
    /// are any. Otherwise does not warn if results are flat, or if [`of_units`](Self::of_units) warns of the
    /// columns' units.
    pub fn of_edge(
        what: impl fmt::Display,
        chosen: f64,
        tried: impl IntoIterator<Item = (f64, Option<f64>)>,
        data: Option<&Dataset<'_>>,
    ) -> Option<Self> {
        let mut tried: Vec<(f64, Option<f64>)> = tried.into_iter().collect();
        tried.sort_by(|a, b| a.0.total_cmp(&b.0));
        tried.dedup_by_key(|one| one.0);
        let (which, other, [edge, beside]) = match &tried[..] {
            [.., beside, edge] if edge.0 == chosen => ("largest", "larger", [edge, beside]),
            [edge, beside, ..] if edge.0 == chosen => ("smallest", "smaller", [edge, beside]),
            _ => return None,
        };
        let (chosen, results) = (short(chosen), edge.1.zip(beside.1));
        let is_flat = results.is_some_and(|(edge, beside)| is_flat(edge, beside));
        let hint = if is_flat {
            String::new()
        } else {
            format!(": a {other} one may do better")
        };
        let cause = match data.and_then(columns::cause) {
            Some(columns::Cause::Units) => return None,
            Some(columns::Cause::Dominated(cause)) => format!("; {cause}"),
            None if is_flat => return None,
            None => String::new(),
        };
        Some(warning!(
            "{what} {chosen} is the {which} of the grid{hint}{cause}"
        ))
    }

    /// Warns of a selection of `taken` features, if more were `asked` for.
    fn of_exhausted(taken: usize, asked: usize) -> Self {
        warning!(
            "selected {taken} features, not {asked}: the data has {} to select from",
            counted(taken, "column class")
        )
    }

    /// Warns of conjugate gradients that ended early, at this `residual`. `part` names the models that were solved
    /// for, such as "hold-outs by ".
    pub(crate) fn of_residual(part: &str, lambda: Lambda, residual: f64, tolerance: f64) -> Self {
        warning!(
            "with lambda {} {part}conjugate gradients came to a residual of {residual:.1e}, not {tolerance:.0e}",
            short(lambda.value())
        )
    }

    /// Warns of a large condition number, or of a large `bound` on it, which is usually far above the loss.
    fn of_condition(condition: f64, bound: bool) -> Option<Self> {
        // Silent if half of the digits remain, or at most three quarters are lost by a bound.
        let (silent, about, most) = if bound {
            (1e12, "up to", " at most")
        } else {
            (1e8, "about", "")
        };
        if condition <= silent {
            return None;
        }
        let lost = if condition < 1e15 {
            let digits = condition.log10();
            format!("{about} {digits:.0} of 16 digits of errors and weights are lost")
        } else {
            "errors and weights may have no digit that is right".to_owned()
        };
        Some(warning!(
            "{lost}: the condition number is {condition:.0e}{most}, as lambda is small beside the values or columns \
             are nearly the same"
        ))
    }
}

/// The first name of two columns. It can find only one of them.
fn repeated_name(data: &Dataset<'_>) -> Option<Warning> {
    let (names, hasher) = (data.names()?, RandomState::new());
    let named = names.named().filter(|(_, name)| !name.is_empty());
    // For millions of names, a table would take ten times the memory of 32-bit hashes with their columns.
    let hashed = |(feature, name)| hasher.hash_one::<&str>(name) << 32 | u64::from(feature);
    let mut hashes: Vec<u64> = Vec::with_capacity(names.len());
    hashes.extend(named.map(hashed));
    hashes.par_sort_unstable();
    let column = |hash: &u64| u32::try_from(hash & u64::from(u32::MAX)).unwrap_or(u32::MAX);
    let alike = hashes.chunk_by(|a, b| a >> 32 == b >> 32);
    let repeated = alike.filter(|alike| alike.len() > 1).filter_map(|alike| {
        let mut columns = alike.iter().map(column).enumerate();
        columns.find_map(|(place, second)| {
            let earlier = alike[..place].iter().map(column);
            let mut same = earlier.filter(|&first| names.of(first) == names.of(second));
            Some((second, same.next_back()?))
        })
    });
    let (second, first) = repeated.min()?;
    let (name, base) = (names.of(second)?, data.index_base());
    Some(warning!(
        "columns {} and {} are both called {name:?}: tables for a model of these data have only one of them",
        base.file_index(first),
        base.file_index(second)
    ))
}

/// Warns of a query identifier that may stand for several queries. `place` follows it.
fn rounded(id: &str, place: &str) -> Warning {
    warning!(
        "the query identifier {id:?}{place} is a number with fewer digits than it had, as spreadsheets and floats \
         write it, so that several may be one: write identifiers as whole numbers or as text"
    )
}

/// Labels -1 beside grades from 0 on. But -1, 0 and 1 are their own scale.
fn not_judged(labels: &[f64]) -> Option<Warning> {
    let is_grade = |label: &f64| label.fract() == 0.0 && (-1.0..=LARGEST_GRADE).contains(label);
    let rows = labels.iter().filter(|label| **label == -1.0).count();
    let beside = labels.contains(&0.0) && labels.iter().any(|label| *label > 1.0);
    (rows > 0 && beside && labels.iter().all(is_grade)).then(|| {
        warning!(
            "{} label -1, below the grades from 0 on: -1 often means not judged, and rows that are not are to be left out",
            if rows == 1 { "1 row has the".to_owned() } else { format!("{rows} rows have the") }
        )
    })
}

/// Queries whose numbers of rows equal their ids. For several queries of one size, a multiple also counts. Half of
/// them must be equal, since ids from 1 on divide many numbers of rows.
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
    sizes.then(|| {
        warning!(
            "the queries have as many rows as their ids say, such as {:?}: are these the sizes of queries? \
             Queries of one size are one query then; give each an id of its own",
            ids.iter().next().unwrap_or_default()
        )
    })
}

/// Warns of a teacher's `lambda` at the edge of the `tried` ones.
fn of_teacher(lambda: Lambda, tried: &[Lambda], dominated: bool) -> Warning {
    let value = lambda.value();
    let below = tried.iter().all(|other| other.value() >= value);
    let which = if below { "smallest" } else { "largest" };
    let value = short(value);
    if dominated {
        let scale = Parameter::Scale;
        return warning!(
            "the teacher's lambda {value} is the {which} of those tried: beside a few columns, whose values are far \
             larger, others hardly count; {scale} sd makes them alike"
        );
    }
    warning!("the teacher's lambda {value} is the {which} of those tried: another may teach better")
}

/// The least concordance index with the labels of a teacher that has seen them. Teachers that had not had at most .967
/// on the corpora of the project and of others, and in-sample ones .997 or more where they fit closely. A loose fit
/// cannot be told from a good teacher.
const SEEN: f64 = 0.99;

/// Warns of given scores that order the rows of a query nearly as the labels do.
fn of_given(teacher: &Teacher) -> Option<Warning> {
    let cindex = teacher.cindex.filter(|cindex| *cindex >= SEEN)?;
    let percent = (1000.0 * cindex).floor() / 10.0;
    Some(warning!(
        "the teacher's scores order {percent}% of the pairs of a query as the labels do, as scores do that have seen the \
         labels: such a teacher helps little; take predictions for queries that its model was trained without"
    ))
}

impl Dataset<'_> {
    /// Warnings about the data, before learning. O(nnz) time at most.
    pub fn warnings(&self) -> Vec<Warning> {
        let mut warnings = Warning::of_columns(self);
        warnings.extend(Warning::of_identifiers(self.queries()));
        warnings.extend(Warning::of_queries(self));
        warnings
    }
}

impl Selection {
    /// Warnings about the result.
    pub fn warnings(&self) -> Vec<Warning> {
        let (taken, asked) = (self.steps.len(), self.options.k);
        let mut warnings: Vec<Warning> = Vec::new();
        warnings.extend(Warning::of_condition(self.condition, false));
        let given = self.teacher.filter(|teacher| teacher.solver.is_none());
        warnings.extend(given.as_ref().and_then(of_given));
        if let Some((teacher, lambda)) = self.teacher.and_then(|known| Some((known, known.lambda?)))
        {
            let residual = |residual| {
                Warning::of_residual("the teacher's hold-outs by ", lambda, residual, TOLERANCE)
            };
            let tried = self.options.teacher_lambda.as_ref();
            let tried = tried.map_or_else(Vec::new, |tried| tried.lambdas(self.unit));
            warnings.extend(
                teacher
                    .at_edge
                    .then(|| of_teacher(lambda, &tried, teacher.dominated)),
            );
            warnings.extend(teacher.residual.map(residual));
        }
        if self.ending != Ending::Interrupted && taken < asked {
            warnings.push(Warning::of_exhausted(taken, asked));
        }
        warnings
    }
}

impl Tuned {
    /// A warning if the chosen ridge parameter is at an edge of the tried ones, on `train`.
    ///
    /// # Panics
    /// As [`chosen`](Self::chosen).
    pub fn edge(&self, train: &Dataset<'_>) -> Option<Warning> {
        let tried = self.outcomes.iter().map(|outcome| {
            let point = outcome.points.get(self.k - 1);
            (
                outcome.lambda.value(),
                point.and_then(|point| point.score.mean),
            )
        });
        let scale = self.chosen().options.scale;
        let train = Some(train).filter(|_| scale.is_none());
        Warning::of_edge("the chosen lambda", self.lambda().value(), tried, train)
    }

    /// Warnings about a choice on `train`.
    ///
    /// # Panics
    /// As [`chosen`](Self::chosen).
    pub fn warnings(&self, train: &Dataset<'_>) -> Vec<Warning> {
        let mut warnings: Vec<Warning> = self.edge(train).into_iter().collect();
        warnings.extend(self.selection().warnings());
        warnings
    }
}

impl Training {
    /// Warnings about a training on `train`, whose columns had this `scale`.
    pub fn warnings(&self, train: &Dataset<'_>, scale: Scale) -> Vec<Warning> {
        let best = self.best();
        let mut warnings: Vec<Warning> = Vec::new();
        warnings.extend(Warning::of_condition(best.condition, true));
        // Each kernel has its own grid.
        let grid = self.cells.iter().filter(|cell| cell.kernel == best.kernel);
        let result = |cell: &Cell| {
            cell.measure
                .or(cell.holdout.as_ref().map(|holdout| holdout.error))
        };
        let lambdas = grid.map(|cell| (cell.lambda.value(), result(cell)));
        let train = Some(train).filter(|_| scale.is_none() && best.kernel.is_linear());
        let edge = Warning::of_edge("the chosen lambda", best.lambda.value(), lambdas, train);
        warnings.extend(edge);
        if let Some(gamma) = best.kernel.gamma() {
            let gammas = self
                .cells
                .iter()
                .filter_map(|cell| Some((cell.kernel.gamma()?, None)));
            warnings.extend(Warning::of_edge("the chosen gamma", gamma, gammas, None));
        }
        for cell in &self.cells {
            let of_holdout = cell.holdout.as_ref().and_then(|holdout| holdout.residual);
            for (part, reached, tolerance) in [
                ("", cell.residual, TOLERANCE),
                ("hold-outs by ", of_holdout, HOLDOUT_TOLERANCE),
            ] {
                let above = reached.filter(|reached| reached.is_nan() || *reached > tolerance);
                let told = |reached| Warning::of_residual(part, cell.lambda, reached, tolerance);
                warnings.extend(above.map(told));
            }
        }
        warnings
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::parsed;
    use crate::greedy::job::select;
    use crate::greedy::{GreedyRankRls, StrategyKind, unwatched};
    use crate::lambda::Lambda;
    use crate::ridge::{RankRls, Solver};

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

    fn told(warnings: &[Warning]) -> Vec<String> {
        warnings.iter().map(Warning::to_string).collect()
    }

    #[test]
    fn data_are_told_of() {
        let names = ["bias", "price", "age"].iter().collect();
        let named = data(48, grades).with_names(names).unwrap();
        let sizes = [3, 5, 4].map(|size| format!("1 qid:{size} 1:1\n").repeat(size));
        for (data, begin) in [
            (data(48, |_| 1.0), "the labels are constant"),
            (data(16, grades), "there are only 4 queries"),
            (
                named,
                "there are 3 names for 2 columns: if the file counts its columns from 0, names are shifted by one",
            ),
            (
                parsed(&sizes.concat()),
                "the queries have as many rows as their ids say, such as \"3\"",
            ),
        ] {
            let found = told(&data.warnings());
            assert!(found[0].starts_with(begin), "{found:?}");
        }
        assert_eq!(data(48, grades).warnings(), []);
    }

    #[test]
    fn rows_that_nobody_judged_are_told_of() {
        for (labels, judged) in [
            ([-1.0, 0.0, 1.0, 2.0], false),
            ([-1.0, 0.0, 4.0, 0.0], false),
            // Labels on their own scale.
            ([-1.0, 0.0, 1.0, 0.0], true),
            ([-1.0, 1.0, -1.0, 1.0], true),
            ([-2.0, -1.0, 0.0, 1.0], true),
            ([0.0, 1.0, 2.0, 3.0], true),
            ([-1.0, 0.0, 90.0, 2.0], true),
        ] {
            let found = told(&data(48, |row| labels[row * 3 % 4]).warnings());
            let said = |text: &String| text.contains("-1 often means not judged");
            assert_eq!(found.iter().any(said), !judged, "{labels:?} {found:?}");
        }
    }

    #[test]
    fn counts_as_grades_are_told_of() {
        let labels = [2000.0, 5.0, 0.0];
        for (metric, remedy) in [
            ("ndcg@10", "take ndcg@10:linear"),
            ("err", "judge by map, p@K, mrr"),
        ] {
            let told = Warning::of_grades(&[metric.parse().unwrap()], &labels).unwrap();
            let gain = format!("gain in {metric} is 2^label - 1");
            assert!(
                told.text.contains(&gain) && told.text.contains(remedy),
                "{told}"
            );
        }
        for sound in ["ndcg@10:linear", "map", "cindex"] {
            assert_eq!(Warning::of_grades(&[sound.parse().unwrap()], &labels), None);
        }
    }

    #[test]
    fn a_teacher_that_has_seen_the_labels_is_told_of() {
        let data = data(48, grades);
        let taught = |strategy, scores: Vec<f64>| {
            let data = data.clone().with_teacher(scores).unwrap();
            let options = GreedyRankRls {
                strategy,
                ..GreedyRankRls::new(2, Lambda::new(1.0).unwrap())
            };
            told(&select(&data, &options, &mut unwatched).unwrap().warnings())
        };
        let labels = data.labels().to_vec();
        let said = "the teacher's scores order 100% of the pairs of a query as the labels do, as scores do";
        let seen = labels.iter().map(|label| label * label + 7.0);
        let found = taught(StrategyKind::Distil, seen.collect());
        assert!(found.len() == 1 && found[0].starts_with(said), "{found:?}");
        let mut honest = labels;
        honest.swap(0, 3);
        assert_eq!(taught(StrategyKind::Distil, honest), [""; 0]);
    }

    #[test]
    fn results_are_told_of() {
        let data = data(48, grades);
        let asked = GreedyRankRls::new(5, Lambda::new(1.0).unwrap());
        let found = told(&select(&data, &asked, &mut unwatched).unwrap().warnings());
        let exhausted = "selected 2 features, not 5: the data has 2 column classes to select from";
        assert_eq!(found, [exhausted]);
        let params = RankRls {
            lambdas: "0.5,1".parse().unwrap(),
            solver: Some(Solver::Dual),
            ..RankRls::default()
        };
        let found = told(
            &params
                .train(&data, None)
                .unwrap()
                .warnings(&data, Scale::None),
        );
        let edge =
            |text: &String| text.starts_with("the chosen lambda ") && text.contains(" of the grid");
        assert!(found.iter().any(edge), "{found:?}");
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
}
