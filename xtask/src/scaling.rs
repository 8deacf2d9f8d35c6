//! How the cost of `bounded` grows: data drawn with a fixed seed, and `ewt-parse`.
//!
//! Data are drawn, and files read, before anything is timed. `classes_seconds` is for finding the
//! column classes, `select_seconds` for all `k` steps after that. `peak_bytes` is the most memory
//! that the process had while it selected, with the data.

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::Path;

use anyhow::{Result, anyhow};
use rankrls::data::read::ReadOptions;
use rankrls::greedy::job::select_among;
use rankrls::greedy::{SelectError, SelectionOptions};
use rankrls::{ColumnClasses, Dataset, Lambda, StrategyKind, memory};

use crate::commands::corpora;
use crate::study::{Cells, Panel, Study, seconds_of};
use crate::zipf::Zipf;

pub(crate) const STUDY: Study = Study {
    name: "scaling",
    page: "docs/large-data.md",
    columns: "study,data,rows,queries,columns,nonzeros,classes,class_nonzeros,strategy,k,lambda,\
              classes_seconds,select_seconds,peak_bytes,evaluated,lqo_error",
    parts: || jobs().len(),
    measure: |part| jobs().swap_remove(part)(),
    title: "How time and memory grow",
    note: None,
    across: 3,
    panels,
    tables: |_| Vec::new(),
};

const K: usize = 20;
const LAMBDA: f64 = 16.0;

/// Most rows at which `dense`, too, is a matter of seconds.
const DENSE_ROWS: usize = 4000;

/// A strategy, `k` and lambda.
type Trial = (StrategyKind, usize, f64);

/// Trials of `bounded` at each `k`, with each lambda.
fn bounded(ks: &[usize], lambdas: &[f64]) -> Vec<Trial> {
    let trial = |&k| {
        lambdas
            .iter()
            .map(move |&lambda| (StrategyKind::Bounded, k, lambda))
    };
    ks.iter().flat_map(trial).collect()
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

const MIDDLE: Sizes = [8000, 1228, 185_385, 2_722_886];
/// As much as goes into some gigabytes: two million columns, fifty million non-zeros.
const LARGEST: Sizes = [200_000, 38_501, 2_093_452, 59_313_930];

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

/// Draws or reads data, and measures on them.
type Job = Box<dyn FnOnce() -> Result<Vec<Cells>>>;

fn jobs() -> Vec<Job> {
    let drawn = |study: &'static str, sizes, trials: Vec<Trial>| -> Job {
        Box::new(move || measure(study, "drawn", &drawn(sizes).dataset(), &trials))
    };
    let real = |name: &'static str, trials: Vec<Trial>| -> Job {
        Box::new(move || {
            let file = corpora()?.join(format!("ewt-parse/{name}.svm.zst"));
            let data = ReadOptions::new().read(&file)?.dataset;
            measure("real", name, &data, &trials)
        })
    };
    let usual = bounded(&[K], &[LAMBDA]);
    let both = [&usual[..], &[(StrategyKind::Dense, K, LAMBDA)]].concat();
    let steps = bounded(&[5, 10, 20, 40, 80, 160], &[LAMBDA]);
    let shrinking = [1024.0, 256.0, 64.0, 16.0, 4.0, 1.0, 0.25, 0.01, 0.0001];
    let many = bounded(&[10, 20, 50, 100, 200, 500, 1000], &[LAMBDA]);
    let few = bounded(&[50], &[64.0, 4.0, 1.0, 0.25]);
    let largest = bounded(&[50], &[LAMBDA, 1.0]);
    // First those that fail without the folder of corpora.
    let mut jobs = vec![
        real("train_2000", both.clone()),
        real("train_20000", [many, few].concat()),
        drawn("k", MIDDLE, steps),
        drawn("lambda", MIDDLE, bounded(&[2 * K], &shrinking)),
        drawn("largest", LARGEST, [&usual[..], &largest].concat()),
    ];
    for (study, all) in SIZES {
        for &sizes in all {
            let trials = if sizes[0] <= DENSE_ROWS {
                &both
            } else {
                &usual
            };
            jobs.push(drawn(study, sizes, trials.clone()));
        }
    }
    jobs
}

/// A line for each trial that fits into memory.
fn measure(study: &str, name: &str, data: &Dataset<'_>, trials: &[Trial]) -> Result<Vec<Cells>> {
    let (classes_seconds, candidates) = seconds_of(|| ColumnClasses::new(data));
    let held = data.memory() + candidates.memory();
    let mut lines = Vec::new();
    for &(strategy, k, lambda) in trials {
        let options = SelectionOptions {
            strategy: Some(strategy),
            // The data are in memory already, and not counted as free.
            max_memory: memory::budget().map(|budget| budget + held),
            ..SelectionOptions::new(k, Lambda::new(lambda)?)
        };
        start_peak();
        let select = || select_among(&candidates, data.labels(), data.memory(), &options, &mut ());
        let (seconds, selection) = seconds_of(select);
        let peak = memory::peak();
        let selection = match selection {
            Err(error @ SelectError::Memory { .. }) => {
                eprintln!("{name}, {strategy} is left out: {error}");
                continue;
            }
            selection => selection?,
        };
        let summary = candidates.summary();
        let evaluated: usize = selection.steps.iter().map(|step| step.evaluated).sum();
        let last = selection.steps.last().map(|step| step.lqo_error);
        lines.push(vec![
            study.to_owned(),
            name.to_owned(),
            data.rows().to_string(),
            data.queries().len().to_string(),
            data.width().to_string(),
            data.nonzeros().to_string(),
            summary.column_classes.to_string(),
            summary.nonzeros.to_string(),
            strategy.to_string(),
            selection.steps.len().to_string(),
            lambda.to_string(),
            format!("{classes_seconds:.6}"),
            format!("{seconds:.6}"),
            peak.map_or_else(String::new, |bytes| bytes.to_string()),
            evaluated.to_string(),
            last.map_or_else(String::new, |error| error.to_string()),
        ]);
    }
    Ok(lines)
}

/// Makes the peak start from the memory of now. Where the system has no such thing the peak is
/// that of reading or drawing, and says so by not changing.
fn start_peak() {
    let _ = fs::write("/proc/self/clear_refs", "5");
}

fn panels() -> Vec<Panel> {
    let panel = |title: &str, study, x, y| Panel::new(title, vec![("study", study)], x, y);
    let (k, lambda) = (("k", "k"), ("lambda", "lambda"));
    let (rows, nonzeros) = (("rows", "rows"), ("non-zeros", "nonzeros"));
    let (columns, queries) = (("columns", "columns"), ("queries", "queries"));
    let real = |title: &str, fixed, x| {
        let only = vec![("data", "train_20000"), ("strategy", "bounded"), fixed];
        Panel::new(title, only, x, SECONDS)
    };
    vec![
        panel("more rows", "rows", rows, SECONDS),
        panel("more columns", "columns", columns, SECONDS),
        panel("more non-zeros", "non-zeros", nonzeros, SECONDS),
        panel("more queries", "queries", queries, SECONDS),
        panel("more features", "k", k, SECONDS),
        panel("less regularisation", "lambda", lambda, SECONDS),
        panel("memory of the process", "rows", nonzeros, BYTES),
        real("more features, train_20000", ("lambda", "16"), k),
        real("less regularisation, train_20000", ("k", "50"), lambda),
    ]
}

const SECONDS: (&str, &str) = ("seconds", "select_seconds");
const BYTES: (&str, &str) = ("bytes", "peak_bytes");
