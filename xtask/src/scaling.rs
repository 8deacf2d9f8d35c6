//! How the cost of `bounded` grows: data drawn with a fixed seed, and `ewt-parse`.
//!
//! Data are drawn, and files read, before anything is timed. `classes_seconds` is for
//! finding the column classes, `select_seconds` for all `k` steps after that, `pass_seconds`
//! for one sparse dot product of every stored column with a dense vector, on as many threads:
//! the least that looking at all data once could take. `peak_bytes` is the most memory that the
//! process had while it selected, with the data, and `planned_bytes` is the amount that
//! `--dry-run` says. Every data set has a process of its own, so that it finds no memory that
//! others left behind.

use std::env;
use std::fs::{self, File};
use std::hint::black_box;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, anyhow, ensure};
use rankrls::data::read::ReadOptions;
use rankrls::greedy::{Plan, SelectError, SelectionOptions, plan, select_among};
use rankrls::plot::{Figure, LinePlot, Scale, Series};
use rankrls::{ColumnClasses, Dataset, Lambda, StrategyKind, memory};
use rayon::prelude::*;
use serde::Deserialize;

use crate::commands::{self, corpora, printed_in_release, root, run};
use crate::measure::{Selections, median, seconds_of, selections};
use crate::page::{fill, grouped, row};
use crate::zipf::Zipf;

const K: usize = 20;
const LAMBDA: f64 = 16.0;

/// Runs of each of two programs that are compared.
const TURNS: usize = 3;

/// Most rows at which `dense`, too, is a matter of seconds.
const DENSE_ROWS: usize = 4000;

/// Columns of a task of the pass over the non-zeros.
const COLUMNS: usize = 4096;

const CSV: &str = "docs/scaling/scaling.csv";
const PAGE: &str = "docs/scaling.md";

const HEADER: &str = "study,data,rows,queries,columns,nonzeros,classes,class_nonzeros,strategy,k,lambda,\
                      classes_seconds,select_seconds,pass_seconds,planned_bytes,peak_bytes,evaluated,lqo_error";

/// A data set and the selections to measure on it.
struct Job {
    study: &'static str,
    source: Source,
    trials: Vec<Trial>,
}

enum Source {
    Drawn(Sizes),
    EwtParse(&'static str),
}

#[derive(Debug, Clone, Copy)]
struct Trial {
    strategy: StrategyKind,
    k: usize,
    lambda: Lambda,
}

impl Trial {
    fn new(strategy: StrategyKind, k: usize, lambda: f64) -> Self {
        let lambda = Lambda::new(lambda).expect("lambdas above 0");
        Self {
            strategy,
            k,
            lambda,
        }
    }
}

fn bounded(settings: &[(usize, f64)]) -> Vec<Trial> {
    let trial = |&(k, lambda): &(usize, f64)| Trial::new(StrategyKind::Bounded, k, lambda);
    settings.iter().map(trial).collect()
}

/// Rows, queries, columns and non-zeros.
type Sizes = [usize; 4];

/// The data of each study: those of corpora of parses that grow in one thing.
const SIZES: [(&str, &[Sizes]); 4] = [
    (
        "rows",
        &[
            [1000, 155, 33_706, 336_720],
            [4000, 633, 108_641, 1_351_948],
            [16_000, 2396, 310_822, 5_446_598],
            [64_000, 9636, 876_661, 21_686_035],
            [250_000, 38_000, 2_400_000, 84_500_000],
            [1_000_000, 153_433, 6_325_792, 337_127_600],
        ],
    ),
    (
        "columns",
        &[
            [4000, 623, 64_466, 1_324_055],
            [4000, 612, 95_508, 1_358_552],
            [4000, 579, 112_713, 1_377_308],
            [4000, 610, 125_436, 1_363_113],
            [4000, 628, 134_772, 1_373_954],
        ],
    ),
    (
        "non-zeros",
        &[
            [4000, 649, 113_661, 1_190_907],
            [4000, 266, 83_443, 1_706_331],
            [4000, 207, 87_414, 2_322_966],
            [4000, 200, 106_868, 3_204_136],
            [4000, 200, 130_601, 4_193_706],
        ],
    ),
    (
        "queries",
        &[
            [4000, 1010, 238_650, 2_069_911],
            [4000, 416, 133_112, 2_075_993],
            [4000, 185, 74_446, 2_089_165],
            [4000, 78, 37_245, 2_093_829],
            [4000, 44, 22_638, 2_102_527],
        ],
    ),
];

/// Data of these sizes. Rows of a query share most entries, as parses of a sentence do.
fn drawn([rows, queries, columns, nonzeros]: Sizes) -> Zipf {
    Zipf {
        rows,
        queries,
        columns: u32::try_from(columns).expect("fewer than 2^32 columns"),
        nonzeros,
        shared: 85,
        seed: 1,
    }
}

/// Draws data of these sizes, and writes them as svmlight text, row by row.
pub(crate) fn draw_zipf(sizes: &[&str], file: &Path) -> Result<()> {
    let sizes = sizes.iter().map(|size| size.parse());
    let sizes: Vec<usize> = sizes.collect::<Result<_, _>>()?;
    let sizes = Sizes::try_from(sizes);
    let sizes = sizes.map_err(|_| anyhow!("expected rows, queries, columns and non-zeros"))?;
    let mut text = BufWriter::new(File::create(file)?);
    let mut written = Ok(());
    drawn(sizes).draw(|label, query, entries| {
        let mut write = || {
            write!(text, "{label} qid:{query}")?;
            for (column, value) in entries {
                write!(text, " {}:{value}", column + 1)?;
            }
            writeln!(text)
        };
        if written.is_ok() {
            written = write();
        }
    });
    written?;
    Ok(text.flush()?)
}

/// Everything there is to measure, in order.
fn jobs() -> Vec<Job> {
    let drawn = |study, sizes, trials| Job {
        study,
        source: Source::Drawn(sizes),
        trials,
    };
    let mut jobs = Vec::new();
    for (study, all) in SIZES {
        for &sizes in all {
            let mut trials = bounded(&[(K, LAMBDA)]);
            if sizes[0] <= DENSE_ROWS {
                trials.push(Trial::new(StrategyKind::Dense, K, LAMBDA));
            }
            jobs.push(drawn(study, sizes, trials));
        }
    }
    let steps = [5, 10, 20, 40, 80, 160].map(|k| (k, LAMBDA));
    let lambdas =
        [1024.0, 256.0, 64.0, 16.0, 4.0, 1.0, 0.25, 0.01, 0.0001].map(|lambda| (2 * K, lambda));
    let sizes = [8000, 1228, 185_385, 2_722_886];
    jobs.push(drawn("k", sizes, bounded(&steps)));
    jobs.push(drawn("lambda", sizes, bounded(&lambdas)));
    let real = |file, trials| Job {
        study: "real",
        source: Source::EwtParse(file),
        trials,
    };
    let mut small = bounded(&[(K, LAMBDA)]);
    small.push(Trial::new(StrategyKind::Dense, K, LAMBDA));
    let steps = [10, 20, 50, 100, 200, 500, 1000].map(|k| (k, LAMBDA));
    let lambdas = [64.0, 4.0, 1.0, 0.25].map(|lambda| (50, lambda));
    jobs.push(real("train_2000.svm.zst", small));
    jobs.push(real(
        "train_20000.svm.zst",
        bounded(&[&steps[..], &lambdas].concat()),
    ));
    // As much as goes into some gigabytes: two million columns, fifty million non-zeros.
    jobs.push(drawn(
        "largest",
        [200_000, 38_501, 2_093_452, 59_313_930],
        bounded(&[(K, LAMBDA), (50, LAMBDA), (50, 1.0)]),
    ));
    jobs
}

/// Measures all jobs in processes of their own, and prints the file of figures.
pub(crate) fn measure() -> Result<()> {
    println!("{HEADER}");
    for number in 0..jobs().len() {
        run(Command::new(env::current_exe()?)
            .arg("measure-job")
            .arg(number.to_string()))?;
    }
    Ok(())
}

/// Measures one job.
pub(crate) fn measure_job(number: usize) -> Result<()> {
    let jobs = jobs();
    let job = jobs.get(number).context("no such job")?;
    match &job.source {
        Source::Drawn(sizes) => {
            let data = drawn(*sizes).dataset();
            measure_trials(job.study, "drawn", &data, &job.trials)
        }
        Source::EwtParse(name) => {
            let Some(folder) = corpora() else {
                eprintln!("NOT MEASURED on {name}: RANKRLS_CORPORA names no folder of corpora");
                return Ok(());
            };
            of_file(job.study, &folder.join("ewt-parse").join(name), &job.trials)
        }
    }
}

/// Measures a data file, and prints its figures.
pub(crate) fn measure_file(file: &Path, k: &str, lambda: &str, strategies: &[&str]) -> Result<()> {
    ensure!(!strategies.is_empty(), "expected the name of a strategy");
    let k = k.parse()?;
    let lambda = lambda.parse().map_err(anyhow::Error::msg)?;
    let trial = |strategy: &&str| {
        Ok(Trial {
            strategy: strategy.parse()?,
            k,
            lambda,
        })
    };
    let trials = strategies.iter().map(trial).collect::<Result<Vec<_>>>()?;
    println!("{HEADER}");
    of_file("file", file, &trials)
}

/// Times `bounded` of another program beside that of this source, in turns on the same data, and
/// checks that both take the same steps: features and errors to the bit.
pub(crate) fn against(other: &Path, file: &str, lambda: &str, ks: &[&str]) -> Result<()> {
    let here = commands::released()?;
    println!(
        "| k | the other, s | here, s | the other, MB | here, MB |\n|---:|---:|---:|---:|---:|"
    );
    for k in ks {
        let run = |program: &Path| {
            let fixed = "select --strategy bounded --json --quiet";
            let mut command = commands::command(program, fixed);
            command.args([file, "--lambda", lambda, "-k", k]);
            selections(&mut command, 1)?.map_err(anyhow::Error::msg)
        };
        let mut runs = Vec::new();
        for _ in 0..TURNS {
            runs.push((run(other)?, run(&here)?));
        }
        let path = |run: &Selections| -> Vec<(u64, u64)> {
            let steps = run.last.steps.iter();
            steps
                .map(|step| (step.feature, step.lqo_error.to_bits()))
                .collect()
        };
        let same = runs.iter().all(|(other, here)| path(other) == path(here));
        ensure!(same, "the programs take other steps at k {k}");
        let middle = |of: fn(&Selections) -> f64| {
            let (other, here) = runs.iter().map(|(a, b)| (of(a), of(b))).unzip();
            (median(other), median(here))
        };
        let seconds = middle(|run| run.select_seconds);
        let bytes = middle(|run| run.peak_bytes);
        println!(
            "| {k} | {:.2} | {:.2} | {:.0} | {:.0} |",
            seconds.0,
            seconds.1,
            bytes.0 / 1e6,
            bytes.1 / 1e6
        );
    }
    Ok(())
}

fn of_file(study: &str, file: &Path, trials: &[Trial]) -> Result<()> {
    let data = ReadOptions::new().read(file)?.dataset;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split('.').next().unwrap_or_default();
    measure_trials(study, name, &data, trials)
}

/// Prints a line for each trial that fits into memory.
fn measure_trials(study: &str, name: &str, data: &Dataset<'_>, trials: &[Trial]) -> Result<()> {
    let (classes_seconds, candidates) = seconds_of(|| ColumnClasses::new(data));
    let pass_seconds = pass_seconds(data);
    let held = data.memory() + candidates.memory();
    for trial in trials {
        let mut options = SelectionOptions {
            strategy: Some(trial.strategy),
            ..SelectionOptions::new(trial.k, trial.lambda)
        };
        if let Some(budget) = memory::budget() {
            // The data are in memory already, and not counted as free.
            options.max_memory = Some(budget + held);
        }
        let plan: Plan = match plan(&candidates, data.memory(), &options) {
            Ok(plan) => plan,
            Err(SelectError::Memory { needed, .. }) => {
                eprintln!(
                    "{name}, {}: left out, {needed} bytes needed",
                    trial.strategy
                );
                continue;
            }
            Err(error) => return Err(error.into()),
        };
        start_peak();
        let select = || select_among(&candidates, data.labels(), data.memory(), &options, &mut ());
        let (seconds, selection) = seconds_of(select);
        let (selection, peak) = (selection?, memory::peak());
        let summary = candidates.summary();
        let evaluated: usize = selection.steps.iter().map(|step| step.evaluated).sum();
        let last = selection.steps.last().map(|step| step.lqo_error);
        println!(
            "{study},{name},{},{},{},{},{},{},{},{},{},{classes_seconds:.6},{seconds:.6},{pass_seconds:.6},\
             {},{},{evaluated},{}",
            data.rows(),
            data.queries().len(),
            data.width(),
            data.nonzeros(),
            summary.column_classes,
            summary.nonzeros,
            trial.strategy,
            selection.steps.len(),
            trial.lambda.value(),
            held + plan.memory,
            peak.map_or_else(String::new, |bytes| bytes.to_string()),
            last.map_or_else(String::new, |error| error.to_string()),
        );
    }
    Ok(())
}

/// Seconds of a sparse dot product of every stored column with a dense vector.
fn pass_seconds(data: &Dataset<'_>) -> f64 {
    let dense: Vec<f64> = (0..data.rows()).map(|row| 1.0 / (row + 1) as f64).collect();
    let columns: Vec<usize> = (0..data.stored_columns()).collect();
    let dot = |&column: &usize| -> f64 {
        let entries = data.column(column).iter();
        entries.map(|(row, value)| value * dense[row]).sum()
    };
    let largest = |chunk: &[usize]| chunk.iter().map(dot).fold(0.0, f64::max);
    seconds_of(|| {
        black_box(
            columns
                .par_chunks(COLUMNS)
                .map(largest)
                .max_by(f64::total_cmp),
        )
    })
    .0
}

/// Makes the peak start from the memory of now. Where the system has no such thing the peak is
/// that of reading or drawing, and says so by not changing.
fn start_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

/// Measures, and keeps the figures.
pub(crate) fn measure_again() -> Result<()> {
    let measured = printed_in_release("measure-scaling")?;
    fs::write(root().join(CSV), measured).with_context(|| format!("cannot write {CSV}"))
}

/// A line of the file of figures.
#[derive(Debug, Clone, Deserialize)]
struct Line {
    study: String,
    data: String,
    rows: f64,
    queries: f64,
    columns: f64,
    nonzeros: f64,
    strategy: String,
    k: f64,
    lambda: f64,
    select_seconds: f64,
    peak_bytes: Option<f64>,
}

type Field = fn(&Line) -> Option<f64>;

const SECONDS: Field = |line| Some(line.select_seconds);
const BYTES: Field = |line| line.peak_bytes;

/// A diagram: what one of the studies says about time or memory.
struct Panel {
    title: &'static str,
    study: &'static str,
    against: &'static str,
    x: Field,
    label: &'static str,
    y: Field,
}

fn panels() -> [Panel; 9] {
    let time = |title, study, against, x| Panel {
        title,
        study,
        against,
        x,
        label: "seconds",
        y: SECONDS,
    };
    let nonzeros: Field = |line| Some(line.nonzeros);
    let k: Field = |line| Some(line.k);
    let lambda: Field = |line| Some(line.lambda);
    [
        time("more rows", "rows", "rows", |line| Some(line.rows)),
        time("more columns", "columns", "columns", |line| {
            Some(line.columns)
        }),
        time("more non-zeros", "non-zeros", "non-zeros", nonzeros),
        time("more queries", "queries", "queries", |line| {
            Some(line.queries)
        }),
        time("more features", "k", "k", k),
        time("less regularisation", "lambda", "lambda", lambda),
        Panel {
            label: "bytes",
            y: BYTES,
            ..time("memory of the process", "rows", "non-zeros", nonzeros)
        },
        time("more features, train_20000", "real-k", "k", k),
        time(
            "less regularisation, train_20000",
            "real-lambda",
            "lambda",
            lambda,
        ),
    ]
}

const STRATEGIES: [&str; 2] = ["bounded", "dense"];

/// All lines, and again those of the largest real data as two series: in k, and in lambda.
fn lines() -> Result<Vec<Line>> {
    let mut reader =
        csv::Reader::from_path(root().join(CSV)).with_context(|| format!("cannot read {CSV}"))?;
    let mut lines: Vec<Line> = reader
        .deserialize()
        .collect::<Result<_, _>>()
        .with_context(|| format!("cannot read {CSV}"))?;
    let real = lines
        .iter()
        .filter(|line| line.data == "train_20000" && line.strategy == "bounded");
    let real: Vec<Line> = real.cloned().collect();
    let of = |study: &str, line: &Line| Line {
        study: study.to_owned(),
        ..line.clone()
    };
    lines.extend(
        real.iter()
            .filter(|line| line.lambda == LAMBDA)
            .map(|line| of("real-k", line)),
    );
    lines.extend(
        real.iter()
            .filter(|line| line.k == 50.0)
            .map(|line| of("real-lambda", line)),
    );
    Ok(lines)
}

/// Draws the studies, and fills in the tables.
pub(crate) fn draw() -> Result<()> {
    let lines = lines()?;
    let figure = Figure::new("How time and memory grow").columns(3);
    let figure = panels().iter().fold(figure, |figure, panel| {
        let plot = LinePlot::new(panel.against, panel.label).title(panel.title);
        let plot = plot.scales(Scale::Log, Scale::Log);
        figure.lines(STRATEGIES.into_iter().fold(plot, |plot, strategy| {
            let points = points(&lines, panel, strategy, panel.y);
            if points.is_empty() {
                return plot;
            }
            plot.series(Series::new(
                strategy,
                points.into_iter().map(|(x, y)| (x, Some(y))),
            ))
        }))
    });
    fs::write(root().join("docs/scaling/scaling.svg"), figure.to_svg())?;
    fill(
        PAGE,
        "<!-- begin fits -->",
        "<!-- end fits -->",
        &fits(&lines),
    )
}

fn points(lines: &[Line], panel: &Panel, strategy: &str, y: Field) -> Vec<(f64, f64)> {
    let own = lines
        .iter()
        .filter(|line| line.study == panel.study && line.strategy == strategy);
    let mut points: Vec<_> = own
        .filter_map(|line| Some(((panel.x)(line)?, y(line)?)))
        .collect();
    points.retain(|&(x, y)| x > 0.0 && y > 0.0);
    points.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)));
    points
}

/// How time and memory grow along each study.
fn fits(lines: &[Line]) -> Vec<String> {
    let mut rows = vec![
        "| study | against | strategy | range | time ~ | time, last three ~ | memory ~ |"
            .to_owned(),
        "|---|---|---|---:|---:|---:|---:|".to_owned(),
    ];
    for panel in panels() {
        // Of the panel of memory, time against non-zeros.
        let title = if panel.label == "seconds" {
            panel.title
        } else {
            "more rows"
        };
        for strategy in STRATEGIES {
            let times = points(lines, &panel, strategy, SECONDS);
            let [.., third, _, _] = &times[..] else {
                continue;
            };
            let last = times.iter().position(|point| point == third).unwrap_or(0);
            let memory = points(lines, &panel, strategy, BYTES);
            let ends = [times[0].0, times[times.len() - 1].0].map(|x| grouped(x, 10));
            let power = |points: &[(f64, f64)]| power(panel.against, points);
            rows.push(row(&[
                title.to_owned(),
                panel.against.to_owned(),
                strategy.to_owned(),
                ends.join(" to "),
                power(&times),
                power(&times[last..]),
                power(&memory),
            ]));
        }
    }
    rows
}

/// The exponent, if the points are far enough apart to tell one.
fn power(unit: &str, points: &[(f64, f64)]) -> String {
    match points {
        [first, _, .., last] if last.0 >= 3.0 * first.0 => format!("{unit}^{:.2}", slope(points)),
        _ => "-".to_owned(),
    }
}

/// Least-squares exponent b of y = a x^b.
fn slope(points: &[(f64, f64)]) -> f64 {
    let logs: Vec<_> = points.iter().map(|(x, y)| (x.ln(), y.ln())).collect();
    let count = logs.len() as f64;
    let mean_x = logs.iter().map(|(x, _)| x).sum::<f64>() / count;
    let mean_y = logs.iter().map(|(_, y)| y).sum::<f64>() / count;
    let products: f64 = logs.iter().map(|(x, y)| (x - mean_x) * (y - mean_y)).sum();
    products / logs.iter().map(|(x, _)| (x - mean_x).powi(2)).sum::<f64>()
}
