//! Whether another corpus helps: `docs/transfer.md`.
//!
//! The six recipes of P. Geurts and G. Louppe, *Learning to rank with extremely randomized trees*
//! (JMLR W&CP 14, 2011, section 4), for RankRLS: parses of sentences of the English Web Treebank help
//! to rank the parses of `corpora/`. Training queries are drawn from those of `link-parses.svm.zst`,
//! and all models are judged on `link-parses-test.svm.zst` by the concordance index.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rankrls::data::OtherRanker;
use rankrls::data::read::ReadOptions;
use rankrls::metrics::{Convention, Paired, PairedOptions, evaluate, mix, paired};
use rankrls::plot::{Figure, LinePlot, Scale, Series};
use rankrls::ridge::{Fit, GridOutcome, Groups, HoldOut, Holding, TrainGrid, TrainOptions};
use rankrls::{Dataset, Lambda, Metric, Solver};
use serde::{Deserialize, Serialize};

use crate::commands::{command, corpora, printed_in_release, released, root, run};
use crate::page::{fill, row};

const CSV: &str = "docs/transfer/transfer.csv";
const PAGE: &str = "docs/transfer.md";
const LAMBDAS: [f64; 5] = [4.0, 16.0, 64.0, 256.0, 1024.0];
/// What a query of the source counts in the union, and its ridge parameters.
const SOURCE_WEIGHTS: [f64; 2] = [0.03, 0.3];
const UNION_LAMBDAS: [f64; 2] = [64.0, 256.0];
const SIZES: [usize; 4] = [10, 20, 50, 124];
/// Draws of training queries, where not all are taken.
const DRAWS: u64 = 4;
/// Words of the sentences that are taken from the treebank, and of these every so many.
const WORDS: std::ops::RangeInclusive<usize> = 6..=25;
const EVERY: usize = 5;

const RECIPES: [&str; 6] = [
    "target alone",
    "source alone",
    "union",
    "score as a feature",
    "offset",
    "mix",
];

/// A line of the file of results.
#[derive(Debug, Serialize, Deserialize)]
struct Line {
    queries: usize,
    recipe: String,
    cindex: f64,
    /// By how much it is better than the target alone.
    gain: f64,
    /// Standard error over test queries of that.
    standard_error: f64,
    /// Bootstrap interval of it, 95%.
    low: f64,
    high: f64,
    /// Of the randomisation test, corrected by Holm for the recipes of these queries.
    p: f64,
}

fn read(path: &Path, names: &Path) -> Result<Dataset<'static>> {
    let loaded = ReadOptions::new().names(names.to_owned()).read(path);
    Ok(loaded.with_context(|| path.display().to_string())?.dataset)
}

/// The sentences that are taken from the treebank.
fn sentences(text: &str) -> String {
    let words = |sentence: &&str| {
        let is_word = |line: &&str| {
            let id = line.split('\t').next().unwrap_or_default();
            !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())
        };
        WORDS.contains(&sentence.lines().filter(is_word).count())
    };
    let taken = text.split("\n\n").filter(words).step_by(EVERY);
    taken.flat_map(|sentence| [sentence, "\n\n"]).collect()
}

/// Parses of sentences of the English Web Treebank with the features of `corpora/`, made once.
fn source_files() -> Result<[PathBuf; 2]> {
    let folder = root().join("target/transfer");
    let files = ["ewt.svm.zst", "ewt-names.txt.zst"].map(|name| folder.join(name));
    if files.iter().all(|file| file.exists()) {
        return Ok(files);
    }
    let corpora = corpora().context("RANKRLS_CORPORA: expected the folder of corpora")?;
    let treebank = corpora.join("ud-ewt/en_ewt-ud-train.conllu.zst");
    fs::create_dir_all(&folder)?;
    let (part, prefix) = (folder.join("ewt.conllu"), folder.join("ewt"));
    let unpacked = std::process::Command::new("zstdcat")
        .arg(&treebank)
        .output()?;
    if !unpacked.status.success() {
        bail!("cannot read {}", treebank.display());
    }
    fs::write(&part, sentences(&String::from_utf8(unpacked.stdout)?))?;
    let (part, prefix) = (part.to_string_lossy(), prefix.to_string_lossy());
    let options = "--link-grammar --linkages 18 --time-limit 5 --test-share 0.05 --skip-malformed";
    let mut arguments = vec!["corpus", "build", &part, "-o", &prefix];
    arguments.extend(options.split(' '));
    run(&mut command(&released()?, &arguments))?;
    Ok(files)
}

fn grid(lambdas: &[f64], holdout: Holding) -> TrainGrid {
    let lambda = |value: &f64| Lambda::new(*value).expect("above 0");
    TrainGrid {
        lambdas: lambdas.iter().map(lambda).collect(),
        holdout,
        ..TrainGrid::new(Lambda::ONE, TrainOptions::new())
    }
}

fn folds() -> Holding {
    Holding::Given(HoldOut::Folds { count: 4, seed: 1 })
}

/// The best linear model of the grid.
fn train(data: &Dataset<'_>, grid: &TrainGrid) -> Result<(OtherRanker, GridOutcome)> {
    let outcome = grid.train(data, data.memory(), None)?;
    let Fit::Linear(weights) = &outcome.fit else {
        bail!("expected weights");
    };
    let ranker = OtherRanker {
        name: "model".to_owned(),
        weights: Some((weights.features.clone(), weights.values.clone())),
    };
    Ok((ranker, outcome))
}

fn scores(ranker: &OtherRanker, data: &Dataset<'_>) -> Vec<f64> {
    ranker.scores(data).unwrap_or_default()
}

/// Concordance index of every query.
fn judge(data: &Dataset<'_>, scores: &[f64]) -> Result<Vec<Option<f64>>> {
    let (labels, queries) = (data.labels(), data.queries());
    let metrics = [Metric::Concordance];
    let found = evaluate(&metrics, labels, scores, queries, Convention::Standard)?;
    Ok(found.metrics[0].per_query.clone())
}

/// The root of the mean squared deviation of scores from the means of their queries.
fn deviation(data: &Dataset<'_>, scores: &[f64]) -> f64 {
    let squares = data.queries().ranges().map(|range| {
        let scores = &scores[range];
        let mean = scores.iter().sum::<f64>() / scores.len() as f64;
        scores
            .iter()
            .map(|score| (score - mean).powi(2))
            .sum::<f64>()
    });
    (squares.sum::<f64>() / scores.len() as f64).sqrt()
}

/// What all recipes start from.
struct Corpora {
    test: Dataset<'static>,
    /// In the columns of the target.
    source: Dataset<'static>,
    /// RankRLS on the source.
    ranker: OtherRanker,
}

impl Corpora {
    /// The index of every test query by each recipe, trained on `target`.
    fn judge(&self, target: &Dataset<'static>) -> Result<Vec<Vec<Option<f64>>>> {
        let (test, other) = (&self.test, &self.ranker);
        let (own, outcome) = train(target, &grid(&LAMBDAS, Holding::Affordable))?;
        let (alone, elsewhere) = (scores(&own, test), scores(other, test));
        let holdout = outcome.cells[outcome.best].holdout.as_ref();
        let held_out = &holdout
            .context("models of a grid are held out")?
            .predictions;
        let here = scores(other, target);

        let mut best: Option<(f64, OtherRanker)> = None;
        for weight in SOURCE_WEIGHTS {
            let (both, _) = target.with_source(&self.source, weight)?;
            let mut grid = grid(&UNION_LAMBDAS, folds());
            grid.options = grid.options.solver(Solver::ConjugateGradients);
            let (ranker, outcome) = train(&both, &grid)?;
            let holdout = outcome.cells[outcome.best].holdout.as_ref();
            let error = holdout.context("models of a grid are held out")?.error;
            if best.as_ref().is_none_or(|(least, _)| error < *least) {
                best = Some((error, ranker));
            }
        }
        let (_, union) = best.context("there are weights")?;

        // As a column of deviation 1, so that the ridge parameter does not count it away.
        let scale = 1.0 / deviation(target, &here).max(f64::MIN_POSITIVE);
        let column: Vec<f64> = here.iter().map(|score| score * scale).collect();
        let with = target.clone().with_score_feature(&column, other.clone())?;
        let (stacked, _) = train(&with, &grid(&LAMBDAS, Holding::Affordable))?;
        let column: Vec<f64> = elsewhere.iter().map(|score| score * scale).collect();
        let with = test
            .clone()
            .with_scores_to_predict(&column, other.clone())?;
        let stacked = scores(&stacked, &with);

        let left = target.clone().with_offset(here.clone(), other.clone())?;
        let (rest, _) = train(&left, &grid(&LAMBDAS, Holding::Affordable))?;
        let sum = scores(&rest, test);
        let offset: Vec<f64> = sum.iter().zip(&elsewhere).map(|(a, b)| a + b).collect();

        let (labels, queries) = (target.labels(), target.queries());
        let parts = Groups::queries(queries.len());
        let parts: Vec<&[usize]> = parts.iter().collect();
        let metric = Metric::Concordance;
        let rankings = [&held_out[..], &here];
        let found = mix(
            rankings,
            labels,
            queries,
            &parts,
            metric,
            Convention::Standard,
        )?;
        let sizes = [deviation(target, held_out), deviation(target, &here)];
        let pairs = alone.iter().zip(&elsewhere);
        let share = found.share;
        let mixed: Vec<f64> = pairs
            .map(|(a, b)| (1.0 - share) * a / sizes[0] + share * b / sizes[1])
            .collect();
        [
            alone,
            elsewhere,
            scores(&union, test),
            stacked,
            offset,
            mixed,
        ]
        .iter()
        .map(|scores| judge(test, scores))
        .collect()
    }
}

/// Holm's correction of p-values for as many tests.
fn corrected(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let (mut found, mut least) = (vec![1.0; values.len()], 0.0_f64);
    for (rank, &place) in order.iter().enumerate() {
        least = least.max(values[place] * (values.len() - rank) as f64);
        found[place] = least.min(1.0);
    }
    found
}

/// Runs everything and prints the file of results.
pub(crate) fn measure() -> Result<()> {
    let file = |name: &str| root().join("corpora").join(name);
    let names = file("link-parses-names.txt.zst");
    let pool = read(&file("link-parses.svm.zst"), &names)?;
    let test = ReadOptions::new().width(pool.width());
    let test = test.read(&file("link-parses-test.svm.zst"))?.dataset;
    let [rows, names] = source_files()?;
    let source = read(&rows, &names)?;
    pool.check_label_scale(&source)?;
    let (both, joined) = pool.with_source(&source, 1.0)?;
    eprintln!(
        "{} of {} columns of the source are among the {} of the target",
        joined.shared,
        source.width(),
        pool.width()
    );
    let of_source: Vec<usize> = (pool.queries().len()..both.queries().len()).collect();
    let source = both.queries_subset(&of_source)?;
    let (ranker, outcome) = train(&source, &grid(&LAMBDAS, folds()))?;
    eprintln!("source: lambda {}", outcome.cells[outcome.best].lambda);
    let corpora = Corpora {
        test,
        source,
        ranker,
    };
    let mut writer = csv::Writer::from_writer(std::io::stdout());
    for size in SIZES {
        let all = pool.queries().len();
        let draws = if size < all { DRAWS } else { 1 };
        // By recipe, the index of each test query summed over draws.
        let mut sums = vec![Vec::<f64>::new(); RECIPES.len()];
        for draw in 0..draws {
            let mut queries: Vec<usize> = (0..all).collect();
            queries.shuffle(&mut ChaCha8Rng::seed_from_u64(draw));
            queries.truncate(size);
            let target = pool.queries_subset(&queries)?;
            for (sum, values) in sums.iter_mut().zip(corpora.judge(&target)?) {
                // Test queries without a pair of different labels have no value in any draw.
                let values: Vec<f64> = values.into_iter().flatten().collect();
                sum.resize(values.len(), 0.0);
                sum.iter_mut()
                    .zip(values)
                    .for_each(|(sum, value)| *sum += value / draws as f64);
            }
            eprintln!("{size} queries, draw {}", draw + 1);
        }
        let defined = |values: &Vec<f64>| values.iter().copied().map(Some).collect::<Vec<_>>();
        let first = defined(&sums[0]);
        let compare = |values| paired(&defined(values), &first, &PairedOptions::default());
        let found: Vec<Paired> = sums.iter().map(compare).collect::<Result<_, _>>()?;
        let p: Vec<f64> = found
            .iter()
            .skip(1)
            .map(|found| found.p.unwrap_or(1.0))
            .collect();
        // The first recipe is what the others are compared with.
        let p = [vec![1.0], corrected(&p)].concat();
        for (((recipe, values), found), p) in RECIPES.iter().zip(&sums).zip(&found).zip(p) {
            let rounded = |value: f64| (value * 1e5).round() / 1e5;
            let [low, high] = found.interval.unwrap_or_default();
            writer.serialize(Line {
                queries: size,
                recipe: (*recipe).to_owned(),
                cindex: rounded(values.iter().sum::<f64>() / values.len() as f64),
                gain: rounded(found.difference.unwrap_or_default()),
                standard_error: rounded(found.standard_error.unwrap_or_default()),
                low: rounded(low),
                high: rounded(high),
                p: rounded(p),
            })?;
        }
        writer.flush()?;
    }
    Ok(())
}

/// Measures, and keeps the results.
pub(crate) fn measure_again() -> Result<()> {
    let measured = printed_in_release("measure-transfer")?;
    fs::create_dir_all(root().join("docs/transfer"))?;
    fs::write(root().join(CSV), measured).with_context(|| format!("cannot write {CSV}"))
}

/// Draws the learning curves, with bands of the bootstrap intervals of the differences to the target alone,
/// and fills in the table.
pub(crate) fn draw() -> Result<()> {
    let reader = csv::Reader::from_path(root().join(CSV));
    let mut reader = reader.with_context(|| format!("cannot read {CSV}"))?;
    let lines: Vec<Line> = reader.deserialize().collect::<Result<_, _>>()?;
    let plot = LinePlot::new("training queries of the target", "concordance index");
    let mut plot = plot.scales(Scale::Log, Scale::Linear);
    let mut titles = vec!["recipe".to_owned()];
    titles.extend(SIZES.map(|size| format!("{size} queries")));
    let mut table = vec![row(&titles), format!("|---|{}", "---|".repeat(SIZES.len()))];
    for recipe in RECIPES {
        let own: Vec<&Line> = lines.iter().filter(|line| line.recipe == recipe).collect();
        let points = own
            .iter()
            .map(|line| (line.queries as f64, Some(line.cindex)));
        let band = own.iter().map(|line| {
            let alone = line.cindex - line.gain;
            (line.queries as f64, alone + line.low, alone + line.high)
        });
        plot = plot.series(Series::new(recipe, points).band(band));
        let mut cells = vec![recipe.to_owned()];
        cells.extend(own.iter().map(|line| match recipe {
            "target alone" => format!("{:.3}", line.cindex),
            _ => format!(
                "{:.3} ({:+.3} ± {:.3}{})",
                line.cindex,
                line.gain,
                line.standard_error,
                if line.p <= 0.05 { ", *" } else { "" }
            ),
        }));
        table.push(row(&cells));
    }
    fill(PAGE, "<!-- transfer -->", "<!-- end -->", &table)?;
    let title = "Parses of the web help to rank parses of drawn sentences";
    let figure = Figure::new(title).lines(plot);
    figure.write(&root().join("docs/transfer/transfer.svg"))?;
    Ok(())
}
