//! Which selector ranks unseen queries best: `docs/quality.md`.
//!
//! Training sets are drawn by queries and judged on other queries by the concordance index. Five folds
//! of the training queries choose the ridge parameter of each selector, for each scale of the labels
//! and number of features; `distil` takes its defaults. Selectors of others choose features, which
//! RankRLS weighs with a ridge parameter found likewise. The protocol is in docs/evidence.md.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rankrls::data::read::ReadOptions;
use rankrls::data::{LabelScale, write_svmlight};
use rankrls::greedy::{SelectionOptions, TargetOptions};
use rankrls::metrics::{Convention, Score, evaluate};
use rankrls::ridge::{Groups, HOLDOUT_TOLERANCE, RidgeProblem, TrainOptions, Weights};
use rankrls::tune::{Evidence, Measure, Point, TuneOptions, Tuning};
use rankrls::{ColumnClasses, Dataset, Lambdas, Metric, StrategyKind};
use rankrls_plot::Scale;
use serde_json::Value;

use crate::commands::{corpora, output, script, target};
use crate::page::row;
use crate::study::{Cells, Line, Panel, Study, distinct};

pub(crate) const STUDY: Study = Study {
    name: "quality",
    page: "docs/quality.md",
    // Means over draws. `ahead` is by how much a selector is better than the first of its group on the
    // same labels, then the standard error of that over queries, and its deviation over draws.
    columns: "group,labels,selector,k,cindex,ahead,standard_error,spread",
    parts: || GROUPS.iter().map(|group| group.selectors.len()).sum(),
    measure: |part| {
        let all = GROUPS
            .iter()
            .flat_map(|group| group.selectors.iter().map(move |name| (group, name)));
        let (group, selector) = all.into_iter().nth(part).context("no such part")?;
        group.measure(selector)
    },
    title: "Concordance index on unseen queries, less that of exact selection",
    note: Some(
        "Each at its best scale of labels. Bands: two standard errors of the difference. Only the table \
         has selectors that fall more than .1 behind.",
    ),
    across: 2,
    panels: || GROUPS.iter().map(Group::panel).collect(),
    tables: |lines| {
        let shown = SHOWN.map(|(group, labels)| {
            let own = |line: &&Line| {
                line.text("group") == GROUPS[group].name && line.text("labels") == labels
            };
            lines.iter().filter(own).collect::<Vec<&Line>>()
        });
        let tables = shown.iter().enumerate();
        let tables = tables.map(|(number, own)| (format!("quality {}", number + 1), table(own)));
        let kept = ("quality kept".to_owned(), shares(&shown[0]));
        tables.chain([kept]).collect()
    },
};

/// Tables of the page: a group, and labels. The other scales of labels are in the CSV file.
const SHOWN: [(usize, &str); 3] = [(0, "sqrt-sd"), (1, "sqrt-sd"), (2, BEST)];

/// Labels of the scale that does best over the folds.
const BEST: &str = "best";

const SCALES: [LabelScale; 2] = [LabelScale::Raw, LabelScale::SqrtSd];

/// Draws whose results are averaged.
struct Group {
    name: &'static str,
    steps: &'static [usize],
    /// By names that `found` knows; the first is the one that others are compared with.
    selectors: &'static [&'static str],
    data: fn(&Path) -> Result<Data>,
}

static GROUPS: [Group; 3] = [
    Group {
        name: "four times 112 queries of GUM",
        steps: &STEPS,
        selectors: &SELECTORS,
        data: |_| gum(112, 4),
    },
    Group {
        name: "all queries of GUM",
        steps: &STEPS,
        selectors: &SPARSE,
        data: |_| gum(usize::MAX, 1),
    },
    Group {
        name: "MQ2008, fold 3",
        steps: &[5, 10, 20],
        selectors: SELECTORS.split_at(11).0,
        data: |folder| {
            let letor = folder.join("letor-mq2008-fold3");
            let train = read(&letor.join("train.txt.zst"))?;
            let test = read(&letor.join("test.txt.zst"))?;
            Ok(Data {
                draws: vec![train],
                test: vec![test],
            })
        },
    },
];

/// Numbers of features of GUM.
static STEPS: [usize; 5] = [10, 20, 50, 100, 200];

/// Selectors that take minutes and the memory of sparse data.
static SPARSE: [&str; 6] = [
    "exact",
    "distil",
    "residual",
    "univariate",
    "all columns",
    "parser",
];

static SELECTORS: [&str; 12] = [
    "exact",
    "distil",
    "residual",
    "backfit",
    "univariate",
    "lasso",
    "elastic net",
    "abess",
    "lightgbm",
    "mutual information",
    "all columns",
    "parser",
];

const FOLDS: Evidence = Evidence::Folds { count: 5, seed: 1 };

/// Training sets, and what they are judged on.
struct Data {
    draws: Vec<Dataset<'static>>,
    test: Vec<Dataset<'static>>,
}

/// What became of a number of features: the index over the folds, and that of each test query.
type Found = (f64, Vec<Option<f64>>);

/// By scale, draw and number of features.
type AllFound = Vec<Vec<Vec<Found>>>;

fn read(path: &Path) -> Result<Dataset<'static>> {
    let loaded = ReadOptions::new().read(path);
    Ok(loaded.with_context(|| path.display().to_string())?.dataset)
}

/// Disjoint sets of so many queries, or all, of the training part of GUM, judged on its other parts, as
/// the page builds them.
fn gum(size: usize, draws: usize) -> Result<Data> {
    let file = |part: &str| target().join(format!("gum/{part}.svm.zst"));
    let pool = read(&file("train"))?;
    let mut queries: Vec<usize> = (0..pool.queries().len()).collect();
    queries.shuffle(&mut ChaCha8Rng::seed_from_u64(1));
    let draws = queries.chunks_exact(size.min(queries.len())).take(draws);
    let draws = draws.map(|queries| Ok(pool.queries_subset(queries)?));
    let test = ["dev", "test"].map(|part| {
        let width = ReadOptions::new().width(pool.width());
        Ok(width.read(&file(part))?.dataset)
    });
    Ok(Data {
        draws: draws.collect::<Result<_>>()?,
        test: test.into_iter().collect::<Result<_>>()?,
    })
}

impl Group {
    /// Lines of a selector: each scale of labels, the better one of each draw, and each number of
    /// features.
    fn measure(&self, selector: &str) -> Result<Vec<Cells>> {
        let (own, first) = (self.kept(selector)?, self.kept(self.selectors[0])?);
        let mut lines = Vec::new();
        for (place, labels) in ["raw", "sqrt-sd", BEST].into_iter().enumerate() {
            for (step, k) in self.steps.iter().enumerate() {
                let [own, first] = [&own, &first].map(|all| of_labels(all, place, step));
                let means: Vec<f64> = own.iter().filter_map(|draw| Score::of(draw).mean).collect();
                let ahead = own.iter().zip(&first).map(|(own, first)| {
                    let pairs = own.iter().zip(*first);
                    pairs.map(|(a, b)| Some((*a)? - (*b)?)).collect()
                });
                let ahead: Vec<Vec<Option<f64>>> = ahead.collect();
                let spread: Vec<_> = ahead.iter().map(|draw| Score::of(draw).mean).collect();
                let spread = Score::of(&spread);
                let deviation =
                    spread.standard_error.unwrap_or(0.0) * (spread.queries as f64).sqrt();
                let ahead = Score::of(&means_of_queries(&ahead));
                let index = means.iter().sum::<f64>() / means.len() as f64;
                let mut cells = [self.name, labels, selector].map(str::to_owned).to_vec();
                cells.push(k.to_string());
                let figures = [
                    index,
                    ahead.mean.unwrap_or(f64::NAN),
                    ahead.standard_error.unwrap_or(f64::NAN),
                    deviation,
                ];
                cells.extend(figures.map(|figure| format!("{figure:.5}")));
                lines.push(cells);
            }
        }
        Ok(lines)
    }

    /// What a selector does, which is kept in the folder of builds: a measurement of hours goes on
    /// where it was ended.
    fn kept(&self, selector: &str) -> Result<AllFound> {
        let name = format!("quality/{}, {selector}.json", self.name);
        let file = target().join(name);
        if let Ok(text) = fs::read(&file) {
            return Ok(serde_json::from_slice(&text)?);
        }
        eprintln!("{}: {selector}", self.name);
        let data = (self.data)(&corpora()?)?;
        let of_scale = |&scale: &LabelScale| {
            let draws = data.draws.iter();
            let found = draws.map(|draw| found(selector, draw, &data.test, scale, self.steps));
            found.collect::<Result<_>>()
        };
        let all: AllFound = SCALES.iter().map(of_scale).collect::<Result<_>>()?;
        fs::create_dir_all(target().join("quality"))?;
        fs::write(&file, serde_json::to_vec(&all)?)?;
        Ok(all)
    }

    /// By how much selectors are better than the first, with bands of two standard errors of that.
    fn panel(&self) -> Panel {
        let (x, y) = (("features", "k"), ("difference", "ahead"));
        Panel {
            series: "selector",
            scale: Scale::Linear,
            error: Some("standard_error"),
            least: -0.1,
            ..Panel::new(
                self.name,
                vec![("group", self.name), ("labels", BEST)],
                x,
                y,
            )
        }
    }
}

/// The test queries of each draw, by the labels of a place in `SCALES`, or beyond it of the scale that
/// does best over the folds of the draw.
fn of_labels(all: &AllFound, place: usize, step: usize) -> Vec<&[Option<f64>]> {
    let of_draw = |draw: usize| {
        let scales = all.iter().map(|scale| &scale[draw][step]);
        let best = scales.reduce(|a, b| if b.0 > a.0 { b } else { a });
        let own = all.get(place).map(|scale| &scale[draw][step]);
        &*own.or(best).expect("there are scales").1
    };
    (0..all[0].len()).map(of_draw).collect()
}

/// The mean of each query over the draws that tested it.
fn means_of_queries(draws: &[Vec<Option<f64>>]) -> Vec<Option<f64>> {
    let mean = |query: usize| {
        let values: Vec<_> = draws.iter().map(|draw| draw[query]).collect();
        Score::of(&values).mean
    };
    (0..draws[0].len()).map(mean).collect()
}

/// By selector and number of features, the share of the gain of all columns over the parser.
fn shares(lines: &[&Line]) -> Vec<String> {
    let steps = distinct(lines.iter().copied(), "k");
    let index = |selector: &str, k: &str| {
        let of = |line: &&&Line| line.text("selector") == selector && line.text("k") == k;
        let found = lines.iter().find(of);
        found
            .and_then(|line| line.number("cindex"))
            .unwrap_or(f64::NAN)
    };
    let mut table = vec![
        row(&[vec!["features"], steps.clone()].concat()),
        format!("|---|{}", "---:|".repeat(steps.len())),
    ];
    for selector in ["distil", "residual", "lasso", "exact"] {
        let share = |k: &&str| {
            let above = |selector| index(selector, k) - index("parser", k);
            format!("{:.0}%", 100.0 * above(selector) / above("all columns"))
        };
        let cells = steps.iter().map(share).collect();
        table.push(row(&[vec![selector.to_owned()], cells].concat()));
    }
    table
}

/// A row for each selector, a column for each number of features.
fn table(lines: &[&Line]) -> Vec<String> {
    let steps = distinct(lines.iter().copied(), "k");
    let titles = steps.iter().map(|k| format!("k = {k}"));
    let mut table = vec![
        row(&[vec!["selector".to_owned()], titles.collect()].concat()),
        format!("|---|{}", "---|".repeat(steps.len())),
    ];
    for (place, selector) in distinct(lines.iter().copied(), "selector")
        .into_iter()
        .enumerate()
    {
        let own = lines
            .iter()
            .filter(|line| line.text("selector") == selector);
        let cells = own.map(|line| {
            let number = |column| line.number(column).unwrap_or(f64::NAN);
            let index = format!("{:.3}", number("cindex"));
            let (ahead, error) = (number("ahead"), number("standard_error"));
            match place {
                0 => index,
                _ => format!("{index} ({ahead:+.3} ± {error:.3})"),
            }
        });
        table.push(row(&[vec![selector.to_owned()], cells.collect()].concat()));
    }
    table
}

/// What a selector does with a training set.
fn found(
    selector: &str,
    train: &Dataset<'_>,
    test: &[Dataset<'_>],
    scale: LabelScale,
    steps: &[usize],
) -> Result<Vec<Found>> {
    let judged = |features: &[u32], weights: &[f64]| {
        let scores = test.iter().map(|test| test.scores(features, weights));
        judge(test, &scores.collect::<Vec<_>>())
    };
    match selector {
        "all columns" => {
            let (folds, weights) = trained(train, scale)?;
            let found = (folds, judged(&weights.features, &weights.values)?);
            Ok(vec![found; steps.len()])
        }
        "parser" => {
            // It lists its best parse first.
            let order = |test: &Dataset<'_>| (0..test.rows()).map(|row| -(row as f64)).collect();
            let scores: Vec<Vec<f64>> = test.iter().map(order).collect();
            Ok(vec![(0.0, judge(test, &scores)?); steps.len()])
        }
        _ => match selector.parse() {
            Ok(strategy) => tuned(train, steps, strategy, scale, judged),
            Err(_) if selector == "exact" => {
                tuned(train, steps, StrategyKind::Bounded, scale, judged)
            }
            Err(_) => peer(train, steps, selector, scale, judged),
        },
    }
}

/// A strategy with the ridge parameter that folds choose, for each number of features.
fn tuned(
    train: &Dataset<'_>,
    steps: &[usize],
    strategy: StrategyKind,
    scale: LabelScale,
    judged: impl Fn(&[u32], &[f64]) -> Result<Vec<Option<f64>>>,
) -> Result<Vec<Found>> {
    let lambdas = if strategy.distils() {
        Lambdas::Given(vec![TargetOptions::ridge(train.queries().len())])
    } else {
        lambdas()
    };
    let most = *steps.last().context("there are steps")?;
    let selection = SelectionOptions {
        strategy: Some(strategy),
        target: TargetOptions {
            labels: Some(scale),
            ..TargetOptions::default()
        },
        ..SelectionOptions::new(most, None)
    };
    let options = TuneOptions {
        evidence: FOLDS,
        measure: Measure::Metric(Metric::Concordance),
        ..TuneOptions::new(selection, lambdas)
    };
    let tuned = Tuning::new(train, &options).run(&mut ())?;
    let found = steps.iter().map(|&k| {
        let paths = tuned.outcomes.iter();
        let points = paths.filter_map(|outcome| outcome.points.get(..k));
        let value = |points: &[Point]| points[k - 1].score.mean.unwrap_or(f64::NEG_INFINITY);
        let best = points.max_by(|a, b| value(a).total_cmp(&value(b)));
        let best = best.context("fewer column classes than features")?;
        let features: Vec<u32> = best.iter().map(|point| point.step.feature).collect();
        Ok((value(best), judged(&features, &best[k - 1].weights)?))
    });
    found.collect()
}

/// Of all selectors but `distil`, and of the weights of features that others choose.
fn lambdas() -> Lambdas {
    "1/64u,1/16u,1/4u".parse().expect("shares of the unit")
}

/// The weights of RankRLS with the ridge parameter that folds choose, and their index over the folds.
fn trained(train: &Dataset<'_>, scale: LabelScale) -> Result<(f64, Weights)> {
    let options = TrainOptions::new().labels(scale).lambdas(3);
    let problem = RidgeProblem::new(train, &options)?;
    let lambdas = lambdas().lambdas(problem.unit());
    let folds = Groups::folds(train.queries().len(), 5, 1)?;
    let holdouts = problem.holdouts(&lambdas, &folds, HOLDOUT_TOLERANCE)?;
    let indices = holdouts
        .iter()
        .map(|holdout| holdout.cindex.unwrap_or(f64::NEG_INFINITY));
    let best = lambdas
        .iter()
        .zip(indices)
        .max_by(|a, b| a.1.total_cmp(&b.1));
    let (&lambda, index) = best.context("there are lambdas")?;
    Ok((index, problem.train(lambda)?.weights()))
}

/// RankRLS on the distinct columns that a selector of others chooses.
fn peer(
    train: &Dataset<'_>,
    steps: &[usize],
    name: &str,
    scale: LabelScale,
    judged: impl Fn(&[u32], &[f64]) -> Result<Vec<Option<f64>>>,
) -> Result<Vec<Found>> {
    let classes = ColumnClasses::new(train);
    let columns: Vec<u32> = (0..classes.len())
        .map(|class| classes.feature(class))
        .collect();
    let folder = tempfile::tempdir()?;
    let [file, scores] = ["train.svm", "scores.txt"].map(|name| folder.path().join(name));
    write_svmlight(&train.project(&columns)?, fs::File::create(&file)?)?;
    let ks: Vec<String> = steps.iter().map(usize::to_string).collect();
    let mut peer = script("benches/peers/peer.py")?;
    peer.args([name, "--labels", scale.name()])
        .args([&file, &file]);
    let printed = output(peer.args([&ks.join(","), "16"]).arg(&scores))?;
    let found = printed.lines().map(|line| {
        let mut found: Value = serde_json::from_str(line)?;
        // From 1 on.
        let chosen: Vec<usize> = serde_json::from_value(found["features"].take())?;
        let chosen: Vec<u32> = chosen.into_iter().map(|one| columns[one - 1]).collect();
        let (index, weights) = trained(&train.features_subset(&chosen)?, scale)?;
        Ok((index, judged(&weights.features, &weights.values)?))
    });
    found.collect()
}

/// The index of every test query by these scores.
fn judge(test: &[Dataset<'_>], scores: &[Vec<f64>]) -> Result<Vec<Option<f64>>> {
    let mut all = Vec::new();
    for (test, scores) in test.iter().zip(scores) {
        let (labels, queries) = (test.labels(), test.queries());
        let metrics = [Metric::Concordance];
        let found = evaluate(&metrics, labels, scores, queries, Convention::Standard)?;
        all.extend(found.metrics[0].per_query.iter().copied());
    }
    Ok(all)
}
