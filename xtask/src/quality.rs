//! Which selector ranks unseen queries best: `docs/quality.md`.
//!
//! Training sets are drawn by queries from one corpus and judged on all its other queries by the
//! concordance index. Strategies that are not `distil` take the ridge parameter, for each number of
//! features, that does best over five folds of the training queries; `distil` takes its defaults.
//! Selectors of others choose features, which RankRLS weighs with a ridge parameter found likewise.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rankrls::data::read::ReadOptions;
use rankrls::data::{LabelScale, write_svmlight};
use rankrls::greedy::{Refit, SelectionOptions, TargetOptions, TeacherLambdas, WeightsPath};
use rankrls::metrics::{Convention, evaluate};
use rankrls::plot::Scale;
use rankrls::ridge::{Groups, HOLDOUT_TOLERANCE, RidgeProblem, TrainOptions, Weights};
use rankrls::tune::{Evidence, Measure, Point, TuneOptions, Tuning};
use rankrls::{ColumnClasses, Dataset, Lambda, Metric, Ridge, StrategyKind, select};
use serde_json::Value;

use crate::commands::{corpora, output, script};
use crate::page::row;
use crate::study::{Cells, Line, Panel, Study, distinct};

pub(crate) const STUDY: Study = Study {
    name: "quality",
    page: "docs/quality.md",
    // Means over the trials of a group. `behind` is by how much `distil` is better, followed by the
    // standard error of that over queries.
    columns: "group,selector,k,cindex,behind,standard_error",
    parts: || GROUPS.len(),
    measure: |part| GROUPS[part].measure(&corpora()?),
    title: "Concordance index on unseen queries, less that of distil",
    note: Some("Bands: two standard errors of the difference."),
    across: 2,
    panels: || GROUPS.iter().map(Group::panel).collect(),
    tables: |lines| {
        let numbered = (1..).zip(&GROUPS);
        let table = |(number, group): (usize, &Group)| {
            let own = lines.iter().filter(|line| line.text("group") == group.name);
            (format!("quality {number}"), table(&own.collect::<Vec<_>>()))
        };
        numbered.map(table).collect()
    },
};

/// Trials whose results are averaged.
struct Group {
    name: &'static str,
    steps: &'static [usize],
    /// By names that `values` knows; the first is the one that others are compared with.
    selectors: &'static [&'static str],
    /// Draws them from the folder of corpora.
    trials: fn(&Path) -> Result<Vec<Trial>>,
}

static GROUPS: [Group; 3] = [
    Group {
        name: "four times 112 queries of parses",
        steps: &[10, 20, 50, 100, 200],
        selectors: &SELECTORS,
        trials: |folder| draw(&read(&folder.join(PARSES))?, 112, 4),
    },
    Group {
        name: "half the queries of parses",
        steps: &[10, 20, 50, 100, 200],
        selectors: &QUICK,
        trials: |folder| {
            let parses = read(&folder.join(PARSES))?;
            draw(&parses, parses.queries().len() / 2, 1)
        },
    },
    Group {
        name: "MQ2008, fold 3",
        steps: &[5, 10, 20],
        selectors: &SELECTORS,
        trials: |folder| {
            let letor = folder.join("letor-mq2008-fold3");
            Ok(vec![Trial {
                train: read(&letor.join("train.txt.zst"))?,
                test: read(&letor.join("test.txt.zst"))?,
            }])
        },
    },
];

const PARSES: &str = "ewt-parse/train_20000.svm.zst";

static SELECTORS: [&str; 12] = [
    "distil",
    "distil, labels sqrt-sd",
    "exact, lambda 64, labels sqrt-sd",
    "exact, lambda 64, cross-fitted",
    "exact",
    "residual",
    "backfit",
    "univariate",
    "lasso + RankRLS",
    "abess + RankRLS",
    "lightgbm + RankRLS",
    "all columns",
];

/// Without folds of those that take long, and without those of others, which hold the columns
/// densely.
static QUICK: [&str; 8] = [
    "distil",
    "distil, labels sqrt-sd",
    "exact, lambda 64, labels sqrt-sd",
    "exact, lambda 64, cross-fitted",
    "exact, lambda 64",
    "residual",
    "univariate",
    "all columns",
];

const FOLDS: Evidence = Evidence::Folds { count: 5, seed: 1 };

/// A training set and what it is judged on.
struct Trial {
    train: Dataset<'static>,
    test: Dataset<'static>,
}

/// For each number of features, the index of every test query.
type Values = Vec<Vec<Option<f64>>>;

fn lambda(value: f64) -> Lambda {
    Lambda::new(value).expect("above 0")
}

fn lambdas() -> [Lambda; 3] {
    [4.0, 16.0, 64.0].map(lambda)
}

fn read(path: &Path) -> Result<Dataset<'static>> {
    let loaded = ReadOptions::new().read(path);
    Ok(loaded.with_context(|| path.display().to_string())?.dataset)
}

/// Disjoint training sets of `size` queries, as many as `count`, each judged on all others.
fn draw(data: &Dataset<'_>, size: usize, count: usize) -> Result<Vec<Trial>> {
    let mut queries: Vec<usize> = (0..data.queries().len()).collect();
    queries.shuffle(&mut ChaCha8Rng::seed_from_u64(1));
    let trial = |set: usize| {
        let (own, others): (Vec<_>, Vec<_>) =
            (0..queries.len()).partition(|place| (set * size..(set + 1) * size).contains(place));
        let subset = |places: Vec<usize>| {
            let queries: Vec<usize> = places.into_iter().map(|place| queries[place]).collect();
            data.queries_subset(&queries)
        };
        Ok(Trial {
            train: subset(own)?,
            test: subset(others)?,
        })
    };
    (0..count).map(trial).collect()
}

impl Group {
    /// Runs all selectors on all trials, and compares them with the first.
    fn measure(&self, folder: &Path) -> Result<Vec<Cells>> {
        let trials = (self.trials)(folder)?;
        let all = |selector: &&str| -> Result<Vec<Values>> {
            eprintln!("{}: {selector}", self.name);
            let own = trials
                .iter()
                .map(|trial| values(selector, trial, self.steps));
            own.collect()
        };
        let all: Vec<Vec<Values>> = self.selectors.iter().map(all).collect::<Result<_>>()?;
        let count = trials.len() as f64;
        let mut lines = Vec::new();
        for (selector, values) in self.selectors.iter().zip(&all) {
            for (step, k) in self.steps.iter().enumerate() {
                let (mut index, mut behind, mut variance) = (0.0, 0.0, 0.0);
                for (first, own) in all[0].iter().zip(values) {
                    let (first, own) = (&first[step], &own[step]);
                    index += mean(own.iter().flatten().copied()).0;
                    let pairs = first.iter().zip(own);
                    let differences = pairs.filter_map(|(a, b)| Some((*a)? - (*b)?));
                    let (difference, error) = mean(differences);
                    behind += difference;
                    variance += error * error;
                }
                lines.push(vec![
                    self.name.to_owned(),
                    (*selector).to_owned(),
                    k.to_string(),
                    format!("{:.5}", index / count),
                    format!("{:.5}", behind / count),
                    format!("{:.5}", variance.sqrt() / count),
                ]);
            }
        }
        Ok(lines)
    }

    /// By how much selectors are better than `distil`, with bands of two standard errors of that.
    fn panel(&self) -> Panel {
        let (x, y) = (("features", "k"), ("difference", "behind"));
        Panel {
            series: "selector",
            sign: -1.0,
            scale: Scale::Linear,
            error: Some("standard_error"),
            ..Panel::new(self.name, vec![("group", self.name)], x, y)
        }
    }
}

/// A row for each selector, a column for each number of features.
fn table(lines: &[&Line]) -> Vec<String> {
    let steps = distinct(lines.iter().copied(), "k");
    let titles = steps.iter().map(|k| format!("k = {k}"));
    let mut table = vec![
        row(&[vec!["selector".to_owned()], titles.collect()].concat()),
        format!("|---|{}", "---|".repeat(steps.len())),
    ];
    for selector in distinct(lines.iter().copied(), "selector") {
        let mut cells = vec![selector.to_owned()];
        for line in lines
            .iter()
            .filter(|line| line.text("selector") == selector)
        {
            let number = |column| line.number(column).unwrap_or(f64::NAN);
            let index = format!("{:.3}", number("cindex"));
            let (ahead, error) = (-number("behind"), number("standard_error"));
            cells.push(match selector {
                "distil" => index,
                _ => format!("{index} ({ahead:+.3} ± {error:.3})"),
            });
        }
        table.push(row(&cells));
    }
    table
}

/// What a selector does on a trial.
fn values(selector: &str, trial: &Trial, steps: &[usize]) -> Result<Values> {
    // Numbers, as the table of docs/quality.md was measured.
    let raw = TargetOptions {
        labels: Some(LabelScale::Raw),
        refit_lambda: Some(Ridge::Number(lambda(4.0))),
        teacher_lambda: TeacherLambdas::new(&lambdas()),
        ..TargetOptions::default()
    };
    let refit = TargetOptions {
        refit: Some(Refit::CrossFitted),
        ..raw
    };
    let scaled = TargetOptions {
        labels: Some(LabelScale::SqrtSd),
        ..raw
    };
    let most = *steps.last().context("there are steps")?;
    let options = |strategy, target, value| SelectionOptions {
        strategy: Some(strategy),
        target,
        ..SelectionOptions::new(most, lambda(value))
    };
    let plain = |strategy, target, value| plain(trial, steps, &options(strategy, target, value));
    let tuned = |strategy| tuned(trial, steps, &options(strategy, raw, 1.0));
    let few = trial.train.queries().len() < 500;
    let distil = if few { 16.0 } else { 4.0 };
    match selector {
        "distil" => plain(StrategyKind::Distil, raw, distil),
        "distil, labels sqrt-sd" => plain(StrategyKind::Distil, scaled, distil),
        "exact, lambda 64" => plain(StrategyKind::Bounded, raw, 64.0),
        "exact, lambda 64, labels sqrt-sd" => plain(StrategyKind::Bounded, scaled, 64.0),
        "exact, lambda 64, cross-fitted" => plain(StrategyKind::Bounded, refit, 64.0),
        "exact" => tuned(StrategyKind::Bounded),
        "all columns" => Ok(vec![refitted(trial, None)?; steps.len()]),
        _ => match selector.strip_suffix(" + RankRLS") {
            Some(name) => peer(trial, steps, name),
            None => tuned(selector.parse()?),
        },
    }
}

/// A strategy with a ridge parameter that is given.
fn plain(trial: &Trial, steps: &[usize], options: &SelectionOptions) -> Result<Values> {
    let mut path = WeightsPath::default();
    let selection = select(&trial.train, options, &mut path)?;
    let (features, weights) = (selection.features(), path.weights());
    let values = steps.iter().map(|&k| {
        let weights: Vec<f64> = weights.row(k - 1).iter().take(k).copied().collect();
        judge(&trial.test, &features[..k], &weights)
    });
    values.collect()
}

/// A strategy with the ridge parameter that folds choose, for each number of features.
fn tuned(trial: &Trial, steps: &[usize], options: &SelectionOptions) -> Result<Values> {
    let options = TuneOptions {
        evidence: FOLDS,
        measure: Measure::Metric(Metric::Concordance),
        ..TuneOptions::new(*options, &lambdas())
    };
    let tuned = Tuning::new(&trial.train, &options).run(&mut ())?;
    let values = steps.iter().map(|&k| {
        let points = tuned
            .outcomes
            .iter()
            .filter_map(|outcome| outcome.points.get(..k));
        let best = points.max_by(|a, b| {
            let value = |points: &[Point]| points[k - 1].score.mean;
            value(a)
                .partial_cmp(&value(b))
                .expect("indices are numbers")
        });
        let points = best.context("fewer column classes than features")?;
        let features: Vec<u32> = points.iter().map(|point| point.step.feature).collect();
        judge(&trial.test, &features, &points[k - 1].weights)
    });
    values.collect()
}

/// RankRLS on `features`, or on all, with the ridge parameter that folds choose.
fn refitted(trial: &Trial, features: Option<&[u32]>) -> Result<Vec<Option<f64>>> {
    let kept = features.map(|features| trial.train.features_subset(features));
    let kept = kept.transpose()?;
    let train = kept.as_ref().unwrap_or(&trial.train);
    let lambdas = lambdas();
    let problem = RidgeProblem::new(train, &TrainOptions::new().lambdas(lambdas.len()))?;
    let folds = Groups::folds(train.queries().len(), 5, 1)?;
    let holdouts = problem.holdouts(&lambdas, &folds, HOLDOUT_TOLERANCE)?;
    let indices = holdouts.iter().map(|holdout| holdout.cindex);
    let best = lambdas
        .iter()
        .zip(indices)
        .max_by(|a, b| a.1.partial_cmp(&b.1).expect("indices are numbers"));
    let lambda = *best.context("there are lambdas")?.0;
    let Weights { features, values } = problem.train(lambda)?.weights();
    judge(&trial.test, &features, &values)
}

/// RankRLS on the distinct columns that a selector of others chooses.
fn peer(trial: &Trial, steps: &[usize], name: &str) -> Result<Values> {
    let classes = ColumnClasses::new(&trial.train);
    let columns = (0..classes.len()).map(|class| classes.feature(class));
    let columns: Vec<u32> = columns.collect();
    let folder = tempfile::tempdir()?;
    let [train, scores] = ["train.svm", "scores.txt"].map(|name| folder.path().join(name));
    let projected = trial.train.project(&columns)?;
    write_svmlight(&projected, fs::File::create(&train)?)?;
    let values = steps.iter().map(|k| {
        let mut peer = script("benches/peers/peer.py")?;
        peer.arg(name).args([&train, &train]);
        let printed = output(peer.args([&k.to_string(), "16"]).arg(&scores))?;
        let last = printed.lines().last().context("expected a line of JSON")?;
        let mut found: Value = serde_json::from_str(last)?;
        // From 1 on.
        let chosen: Vec<usize> = serde_json::from_value(found["features"].take())?;
        let features = chosen.into_iter().map(|one| columns[one - 1]);
        refitted(trial, Some(&features.collect::<Vec<u32>>()))
    });
    values.collect()
}

/// The index of every test query by these weights of features.
fn judge(test: &Dataset<'_>, features: &[u32], weights: &[f64]) -> Result<Vec<Option<f64>>> {
    let scores = test.scores(features, weights);
    let (labels, queries) = (test.labels(), test.queries());
    let metrics = [Metric::Concordance];
    let found = evaluate(&metrics, labels, &scores, queries, Convention::Standard)?;
    Ok(found.metrics[0].per_query.clone())
}

/// Mean and standard error over queries of `values`.
fn mean(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let values: Vec<f64> = values.collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}
