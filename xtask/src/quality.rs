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
use rankrls::plot::{Figure, LinePlot, Scale, Series};
use rankrls::ridge::{Groups, HOLDOUT_TOLERANCE, RidgeProblem, TrainOptions, Weights};
use rankrls::tune::{Evidence, Measure, TuneOptions, Tuning};
use rankrls::{ColumnClasses, Dataset, Lambda, Metric, Ridge, StrategyKind, select};
use serde::{Deserialize, Serialize};

use crate::commands::{command, corpora, environment, output, printed_in_release, root};
use crate::page::{fill, row};

const CSV: &str = "docs/quality/quality.csv";
const LAMBDAS: [f64; 3] = [4.0, 16.0, 64.0];
const FOLDS: Evidence<'_> = Evidence::Folds { count: 5, seed: 1 };
const PEERS: [&str; 3] = ["lasso", "abess", "lightgbm"];

/// A training set and what it is judged on.
struct Trial {
    train: Dataset<'static>,
    test: Dataset<'static>,
}

/// Trials whose results are averaged.
struct Group {
    name: &'static str,
    steps: &'static [usize],
    trials: Vec<Trial>,
    /// Whether all selectors are run. Else folds of those that take long are not, and neither are
    /// those of others, which hold the columns densely.
    all: bool,
}

/// For each number of features, the index of every test query.
type Values = Vec<Vec<Option<f64>>>;

/// A line of the file of results: means over the trials of a group.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    group: String,
    selector: String,
    k: usize,
    cindex: f64,
    /// By how much `distil` is better, and the standard error over queries of that.
    behind: f64,
    standard_error: f64,
}

fn lambdas() -> Vec<Lambda> {
    LAMBDAS
        .map(|lambda| Lambda::new(lambda).expect("above 0"))
        .to_vec()
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

fn groups() -> Result<Vec<Group>> {
    let folder = corpora().context("RANKRLS_CORPORA: expected the folder of corpora")?;
    let parses = read(&folder.join("ewt-parse/train_20000.svm.zst"))?;
    let half = parses.queries().len() / 2;
    let letor = folder.join("letor-mq2008-fold3");
    let trial = Trial {
        train: read(&letor.join("train.txt.zst"))?,
        test: read(&letor.join("test.txt.zst"))?,
    };
    Ok(vec![
        Group {
            name: "four times 112 queries of parses",
            steps: &[10, 20, 50, 100, 200],
            trials: draw(&parses, 112, 4)?,
            all: true,
        },
        Group {
            name: "half the queries of parses",
            steps: &[10, 20, 50, 100, 200],
            trials: draw(&parses, half, 1)?,
            all: false,
        },
        Group {
            name: "MQ2008, fold 3",
            steps: &[5, 10, 20],
            trials: vec![trial],
            all: true,
        },
    ])
}

/// The index of every test query by these weights of features.
fn judge(test: &Dataset<'_>, features: &[u32], weights: &[f64]) -> Result<Vec<Option<f64>>> {
    let scores = test.scores(features, weights);
    let (labels, queries) = (test.labels(), test.queries());
    let metrics = [Metric::Concordance];
    let found = evaluate(&metrics, labels, &scores, queries, Convention::Standard)?;
    Ok(found.metrics[0].per_query.clone())
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
            let value = |points: &[rankrls::tune::Point]| points[k - 1].score.mean;
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

/// What a selector of others chooses among the distinct columns, for each number of features.
fn peer(trial: &Trial, steps: &[usize], name: &str, folder: &Path) -> Result<Values> {
    let python = environment("peers", &root().join("benches/peers/requirements.txt"))?;
    let classes = ColumnClasses::new(&trial.train);
    let columns: Vec<u32> = (0..classes.len())
        .map(|class| classes.feature(class))
        .collect();
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (train, scores) = (file("train.svm"), file("scores.txt"));
    let projected = trial.train.project(&columns)?;
    write_svmlight(&projected, fs::File::create(&train)?)?;
    let choose = |k: usize| -> Result<Vec<u32>> {
        let mut peer = command(&python, "benches/peers/peer.py");
        peer.args([name, &train, &train, &k.to_string(), "16", &scores]);
        let printed = output(&mut peer)?;
        let last = printed.lines().last().context("expected a line of JSON")?;
        let found: Chosen = serde_json::from_str(last)?;
        Ok(found.features.iter().map(|&one| columns[one - 1]).collect())
    };
    // The gain orders all columns at once.
    let ordered = match (name, steps.last()) {
        ("lightgbm", Some(&most)) => Some(choose(most)?),
        _ => None,
    };
    let values = steps.iter().map(|&k| match &ordered {
        Some(all) => refitted(trial, Some(&all[..k.min(all.len())])),
        None => refitted(trial, Some(&choose(k)?)),
    });
    values.collect()
}

#[derive(Deserialize)]
struct Chosen {
    /// From 1 on.
    features: Vec<usize>,
}

/// All selectors on a trial: names and values.
fn all(trial: &Trial, group: &Group, folder: &Path) -> Result<Vec<(String, Values)>> {
    let most = *group.steps.last().context("there are steps")?;
    let options = |strategy, target, lambda| SelectionOptions {
        strategy: Some(strategy),
        target,
        ..SelectionOptions::new(most, Lambda::new(lambda).expect("above 0"))
    };
    // Numbers, as the table of docs/quality.md was measured.
    let labels = TargetOptions {
        labels: Some(LabelScale::Raw),
        refit_lambda: Some(Ridge::Number(Lambda::new(4.0)?)),
        teacher_lambda: TeacherLambdas::new(
            &[4.0, 16.0, 64.0].map(|lambda| Lambda::new(lambda).expect("above 0")),
        ),
        ..TargetOptions::default()
    };
    let refit = TargetOptions {
        refit: Some(Refit::CrossFitted),
        ..labels
    };
    let scaled = TargetOptions {
        labels: Some(LabelScale::SqrtSd),
        ..labels
    };
    let few = trial.train.queries().len() < 500;
    let lambda = if few { 16.0 } else { 4.0 };
    let mut found = Vec::new();
    for (name, strategy, target, lambda) in [
        ("distil", StrategyKind::Distil, labels, lambda),
        (
            "distil, labels sqrt-sd",
            StrategyKind::Distil,
            scaled,
            lambda,
        ),
        (
            "exact, lambda 64, labels sqrt-sd",
            StrategyKind::Bounded,
            scaled,
            64.0,
        ),
        (
            "exact, lambda 64, cross-fitted",
            StrategyKind::Bounded,
            refit,
            64.0,
        ),
    ] {
        let values = plain(trial, group.steps, &options(strategy, target, lambda))?;
        found.push((name.to_owned(), values));
    }
    if !group.all {
        let exact = options(StrategyKind::Bounded, labels, 64.0);
        found.push((
            "exact, lambda 64".to_owned(),
            plain(trial, group.steps, &exact)?,
        ));
    }
    for (name, strategy) in [
        ("exact", StrategyKind::Bounded),
        ("residual", StrategyKind::Residual),
        ("backfit", StrategyKind::Backfit),
        ("univariate", StrategyKind::Univariate),
    ] {
        let long = [StrategyKind::Bounded, StrategyKind::Backfit].contains(&strategy);
        if long && !group.all {
            continue;
        }
        eprintln!("{}: {name}", group.name);
        let values = tuned(trial, group.steps, &options(strategy, labels, 1.0))?;
        found.push((name.to_owned(), values));
    }
    for name in PEERS.into_iter().filter(|_| group.all) {
        eprintln!("{}: {name}", group.name);
        found.push((
            format!("{name} + RankRLS"),
            peer(trial, group.steps, name, folder)?,
        ));
    }
    let everything = refitted(trial, None)?;
    found.push((
        "all columns".to_owned(),
        vec![everything; group.steps.len()],
    ));
    Ok(found)
}

/// Mean and standard error over queries of `values`.
fn mean(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let values: Vec<f64> = values.collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0) / count).sqrt())
}

/// Runs everything and prints the file of results.
pub(crate) fn measure() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut writer = csv::Writer::from_writer(std::io::stdout());
    for group in groups()? {
        let trials = group
            .trials
            .iter()
            .map(|trial| all(trial, &group, folder.path()));
        let trials: Vec<Vec<(String, Values)>> = trials.collect::<Result<_>>()?;
        for (place, (selector, _)) in trials[0].iter().enumerate() {
            for (step, &k) in group.steps.iter().enumerate() {
                let own = |trial: &[(String, Values)], place: usize| trial[place].1[step].clone();
                let (mut index, mut behind, mut variance) = (0.0, 0.0, 0.0);
                for trial in &trials {
                    let (first, own) = (own(trial, 0), own(trial, place));
                    index += mean(own.iter().flatten().copied()).0;
                    let pairs = first.iter().zip(&own);
                    let differences = pairs.filter_map(|(a, b)| Some((*a)? - (*b)?));
                    let (difference, error) = mean(differences);
                    behind += difference;
                    variance += error * error;
                }
                let count = trials.len() as f64;
                writer.serialize(Line {
                    group: group.name.to_owned(),
                    selector: selector.clone(),
                    k,
                    cindex: rounded(index / count),
                    behind: rounded(behind / count),
                    standard_error: rounded(variance.sqrt() / count),
                })?;
            }
        }
        writer.flush()?;
    }
    Ok(())
}

fn rounded(value: f64) -> f64 {
    (value * 1e5).round() / 1e5
}

/// Measures, and keeps the results.
pub(crate) fn measure_again() -> Result<()> {
    let measured = printed_in_release("measure-quality")?;
    fs::create_dir_all(root().join("docs/quality"))?;
    fs::write(root().join(CSV), measured).with_context(|| format!("cannot write {CSV}"))
}

/// Draws by how much selectors are better than `distil`, with bands of two standard errors of
/// that, and fills in the tables.
pub(crate) fn draw_results() -> Result<()> {
    let mut reader =
        csv::Reader::from_path(root().join(CSV)).with_context(|| format!("cannot read {CSV}"))?;
    let lines: Vec<Line> = reader.deserialize().collect::<Result<_, _>>()?;
    let mut figure = Figure::new("Concordance index on unseen queries, less that of distil")
        .note("Bands: two standard errors of the difference.")
        .columns(2);
    let groups = distinct(lines.iter().map(|line| line.group.as_str()));
    for (number, group) in groups.iter().enumerate() {
        let own = || lines.iter().filter(|line| line.group == **group);
        let selectors = distinct(own().map(|line| line.selector.as_str()));
        let plot = LinePlot::new("features", "difference").title(*group);
        let plot = plot.scales(Scale::Log, Scale::Linear);
        figure = figure.lines(selectors.iter().fold(plot, |plot, selector| {
            let lines: Vec<&Line> = own().filter(|line| line.selector == **selector).collect();
            let points = lines.iter().map(|line| (line.k as f64, Some(-line.behind)));
            let band = lines.iter().map(|line| {
                let wide = 2.0 * line.standard_error;
                (line.k as f64, -line.behind - wide, -line.behind + wide)
            });
            plot.series(Series::new(*selector, points).band(band))
        }));
        let steps: Vec<usize> = own()
            .filter(|line| line.selector == selectors[0])
            .map(|line| line.k)
            .collect();
        let mut titles = vec!["selector".to_owned()];
        titles.extend(steps.iter().map(|k| format!("k = {k}")));
        let mut table = vec![row(&titles), format!("|---|{}", "---|".repeat(steps.len()))];
        for selector in &selectors {
            let mut cells = vec![(*selector).to_owned()];
            cells.extend(
                own()
                    .filter(|line| line.selector == **selector)
                    .map(|line| {
                        let (index, behind, error) =
                            (line.cindex, line.behind, line.standard_error);
                        match *selector {
                            "distil" => format!("{index:.3}"),
                            _ => format!("{index:.3} ({:+.3} ± {error:.3})", -behind),
                        }
                    }),
            );
            table.push(row(&cells));
        }
        let begin = format!("<!-- quality {} -->", number + 1);
        fill("docs/quality.md", &begin, "<!-- end -->", &table)?;
    }
    fs::write(root().join("docs/quality/quality.svg"), figure.to_svg())?;
    Ok(())
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut all: Vec<&str> = Vec::new();
    for name in names {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    all
}
