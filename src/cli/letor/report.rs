//! What `letor` prints.

use std::fmt::Write as _;
use std::path::Path;

use rankrls::letor::{Curve, Fold, MEASURES, Measures, Options, Outcome, mean};
use rankrls::{Dataset, IndexBase, Lambda, QueryWeight};
use serde::Serialize;

use crate::cli::output::{Object, by_name};
use crate::cli::output::{counted, format_exact, measure, printable};
use crate::cli::output::{lines, table};

/// Names of [`MEASURES`] in the tables.
const TITLES: [&str; 4] = ["MAP", "P@10", "mean NDCG", "NDCG@10"];

/// All folds.
#[derive(Debug)]
pub(super) struct Report<'a> {
    pub(super) directory: &'a Path,
    pub(super) options: &'a Options,
    pub(super) k: Option<usize>,
    pub(super) query_weight: QueryWeight,
    pub(super) folds: &'a [FoldReport],
}

/// A fold that is done with.
#[derive(Debug)]
pub(super) struct FoldReport {
    pub(super) outcome: Outcome,
    base: IndexBase,
    train: Size,
    validation: Size,
    test: Size,
    seconds: f64,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Size {
    rows: usize,
    queries: usize,
    columns: usize,
    nonzeros: usize,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    directory: String,
    query_weight: QueryWeight,
    k: Option<usize>,
    lambdas: &'a [Lambda],
    folds: Vec<FoldEntry>,
    mean: Both<Means>,
}

#[derive(Debug, Serialize)]
struct FoldEntry {
    fold: String,
    train: Size,
    validation: Size,
    test: Size,
    constant_columns: usize,
    column_classes: usize,
    greedy: GreedyEntry,
    all_features: AllEntry,
    curves: Vec<CurveEntry>,
    seconds: f64,
}

type Values = Object<Option<f64>>;

#[derive(Debug, Serialize)]
struct GreedyEntry {
    strategy: &'static str,
    lambda: Lambda,
    k: usize,
    features: Vec<u64>,
    weights: Vec<f64>,
    validation: Values,
    test: Values,
}

#[derive(Debug, Serialize)]
struct AllEntry {
    solver: &'static str,
    lambda: Lambda,
    features: usize,
    validation: Values,
    test: Values,
    grid: Vec<GridEntry>,
}

#[derive(Debug, Serialize)]
struct GridEntry {
    lambda: Lambda,
    validation: Option<Values>,
}

#[derive(Debug, Serialize)]
struct CurveEntry {
    lambda: Lambda,
    features: Vec<u64>,
    validation: Object<Vec<Option<f64>>>,
}

#[derive(Debug, Serialize)]
struct Both<T> {
    greedy: T,
    all_features: T,
}

#[derive(Debug, Serialize)]
struct Means {
    test: Values,
}

fn values(measures: &Measures) -> Values {
    by_name(&MEASURES, measures)
}

impl Size {
    fn of(dataset: &Dataset<'_>) -> Self {
        Self {
            rows: dataset.rows(),
            queries: dataset.queries().len(),
            columns: dataset.width(),
            nonzeros: dataset.nonzeros(),
        }
    }
}

impl FoldReport {
    pub(super) fn new(fold: &Fold, outcome: Outcome, seconds: f64) -> Self {
        Self {
            outcome,
            base: fold.train.index_base(),
            train: Size::of(&fold.train),
            validation: Size::of(&fold.validation.dataset),
            test: Size::of(&fold.test.dataset),
            seconds,
        }
    }

    /// The features of the chosen model as the files write them.
    fn features(&self) -> Vec<u64> {
        let steps = self.outcome.greedy.selection.steps.iter();
        steps.map(|step| self.base.written(step.feature)).collect()
    }

    fn entry(&self) -> FoldEntry {
        let Outcome {
            fold,
            summary,
            curves,
            greedy,
            all_features,
        } = &self.outcome;
        let selection = &greedy.selection;
        let lambdas = curves.iter().map(|curve| curve.lambda);
        let grid = lambdas.zip(&all_features.grid);
        FoldEntry {
            fold: fold.clone(),
            train: self.train,
            validation: self.validation,
            test: self.test,
            constant_columns: summary.constant_columns,
            column_classes: summary.column_classes,
            greedy: GreedyEntry {
                strategy: selection.strategy.name(),
                lambda: selection.lambda,
                k: selection.steps.len(),
                features: self.features(),
                weights: selection.weights.clone(),
                validation: values(&greedy.validation),
                test: values(&greedy.test),
            },
            all_features: AllEntry {
                solver: all_features.solver.name(),
                lambda: all_features.lambda,
                features: all_features.features,
                validation: values(&all_features.validation),
                test: values(&all_features.test),
                grid: grid
                    .map(|(lambda, measures)| GridEntry {
                        lambda,
                        validation: measures.as_ref().map(values),
                    })
                    .collect(),
            },
            curves: curves.iter().map(|curve| self.curve(curve)).collect(),
            seconds: self.seconds,
        }
    }

    fn curve(&self, curve: &Curve) -> CurveEntry {
        let features = curve.features.iter();
        let names = MEASURES.iter().map(ToString::to_string);
        let values = (0..MEASURES.len()).map(|index| curve.of(index));
        CurveEntry {
            lambda: curve.lambda,
            features: features
                .map(|&feature| self.base.written(feature))
                .collect(),
            validation: Object(names.zip(values).collect()),
        }
    }
}

impl Report<'_> {
    /// The JSON document of the schema `rankrls.letor/1`.
    pub(super) fn document(&self) -> impl Serialize {
        let [greedy, all_features] = self.means();
        Document {
            schema: "rankrls.letor/1",
            directory: self.directory.to_string_lossy().into_owned(),
            query_weight: self.query_weight,
            k: self.k,
            lambdas: self.options.grid(),
            folds: self.folds.iter().map(FoldReport::entry).collect(),
            mean: Both {
                greedy: Means {
                    test: values(&greedy),
                },
                all_features: Means {
                    test: values(&all_features),
                },
            },
        }
    }

    /// Means of the test measures over the folds, of the greedy models and of those on all
    /// features.
    fn means(&self) -> [Measures; 2] {
        let outcomes = || self.folds.iter().map(|fold| &fold.outcome);
        [
            mean(outcomes().map(|outcome| &outcome.greedy.test)),
            mean(outcomes().map(|outcome| &outcome.all_features.test)),
        ]
    }

    /// The same for people, in the tables of the paper.
    pub(super) fn text(&self) -> String {
        let mut text = self.heading();
        let _ = writeln!(text, "\nchosen on validation data\n{}", self.choices());
        for (index, title) in TITLES.iter().enumerate() {
            let _ = writeln!(text, "\n{title} on test data\n{}", self.measured(index));
        }
        text
    }

    fn heading(&self) -> String {
        let folds = counted(self.folds.len() as u64, "fold");
        let directory = printable(&self.directory.to_string_lossy());
        let grid = self.options.grid();
        let ends = [grid.first(), grid.last()].into_iter().flatten();
        let ends: Vec<String> = ends.map(|lambda| format_exact(lambda.value())).collect();
        let mut text = format!(
            "{directory}: {folds}, query weight {}\n{} from {}\n",
            self.query_weight,
            counted(grid.len() as u64, "lambda"),
            ends.join(" to ")
        );
        for fold in self.folds {
            let FoldReport {
                train,
                validation,
                test,
                ..
            } = fold;
            let columns = train.columns;
            let _ = writeln!(
                text,
                "{}: {} rows in {} queries to train, {} in {} to validate, {} in {} to test, \
                 {columns} columns",
                printable(&fold.outcome.fold),
                train.rows,
                train.queries,
                validation.rows,
                validation.queries,
                test.rows,
                test.queries,
            );
        }
        text
    }

    fn choices(&self) -> String {
        let header = ["fold", "lambda", "k", "lambda, all", "features"];
        let mut table = table(&header.map(str::to_owned));
        for fold in self.folds {
            let selection = &fold.outcome.greedy.selection;
            let features = fold
                .features()
                .into_iter()
                .map(|feature| feature.to_string());
            table.add_row([
                printable(&fold.outcome.fold),
                format_exact(selection.lambda.value()),
                selection.steps.len().to_string(),
                format_exact(fold.outcome.all_features.lambda.value()),
                features.collect::<Vec<String>>().join(" "),
            ]);
        }
        lines(table)
    }

    fn measured(&self, index: usize) -> String {
        let mut table = table(&["fold", "greedy", "all features"].map(str::to_owned));
        for FoldReport { outcome, .. } in self.folds {
            let models = [&outcome.greedy.test, &outcome.all_features.test];
            let cells = models.map(|measures| measure(measures[index]));
            table.add_row(std::iter::once(printable(&outcome.fold)).chain(cells));
        }
        if self.folds.len() > 1 {
            let cells = self.means().map(|measures| measure(measures[index]));
            table.add_row(std::iter::once("average".to_owned()).chain(cells));
        }
        lines(table)
    }
}
