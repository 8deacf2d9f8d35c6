//! What grows while the rest stays: generated corpora at fixed seeds, and `ewt-parse`.

use std::path::Path;

use rankrls::{Dataset, Lambda, Queries, StrategyKind};
use rankrls_parses::language::{CorpusOptions, generate};

use crate::Outcome;
use crate::measure::{Measurer, Trial, of_file};

const K: usize = 20;
const LAMBDA: f64 = 16.0;

/// Most rows at which `dense`, too, is a matter of seconds.
const DENSE_ROWS: usize = 4000;

/// A data set and what to select from it.
pub(crate) struct Job {
    study: &'static str,
    source: Source,
    trials: Vec<Trial>,
}

enum Source {
    Generated(CorpusOptions),
    EwtParse(&'static str),
}

impl Job {
    pub(crate) fn run(&self) -> Outcome {
        match &self.source {
            Source::Generated(options) => {
                let corpus = generate(options, &|_| ())?;
                let queries = Queries::from_sizes(&corpus.sizes)?;
                let (indptr, rows, values) = (corpus.indptr, corpus.rows, corpus.values);
                let data = Dataset::from_csc(indptr, rows, values, corpus.labels, queries)?;
                Measurer::new(self.study, "generated", &data).run(&self.trials)
            }
            Source::EwtParse(name) => {
                let Some(folder) = std::env::var_os("RANKRLS_CORPORA") else {
                    eprintln!("NOT MEASURED on {name}: RANKRLS_CORPORA names no folder of corpora");
                    return Ok(());
                };
                let file = Path::new(&folder).join("ewt-parse").join(name);
                of_file(self.study, &file, &self.trials)
            }
        }
    }
}

/// Everything there is to measure, in order.
pub(crate) fn jobs() -> Vec<Job> {
    let studies = [
        rows(),
        columns(),
        nonzeros(),
        queries(),
        steps_and_lambda(),
        real(),
        largest(),
    ];
    studies.into_iter().flatten().collect()
}

fn trial(strategy: StrategyKind, k: usize, lambda: f64) -> Trial {
    let lambda = Lambda::new(lambda).expect("lambdas above 0");
    Trial {
        strategy,
        k,
        lambda,
    }
}

fn bounded(settings: &[(usize, f64)]) -> Vec<Trial> {
    let settings = settings.iter();
    settings
        .map(|&(k, lambda)| trial(StrategyKind::Bounded, k, lambda))
        .collect()
}

/// `bounded` on a generated corpus, and `dense` beside it where it is small.
fn beside_dense(study: &'static str, options: CorpusOptions) -> Job {
    let mut trials = bounded(&[(K, LAMBDA)]);
    if options.rows <= DENSE_ROWS {
        trials.push(trial(StrategyKind::Dense, K, LAMBDA));
    }
    Job {
        study,
        source: Source::Generated(options),
        trials,
    }
}

fn at(rows: usize) -> CorpusOptions {
    CorpusOptions {
        rows,
        ..CorpusOptions::default()
    }
}

/// More sentences of one language: columns and non-zeros grow along.
fn rows() -> Vec<Job> {
    let sizes = [1000, 2000, 4000, 8000, 16_000, 32_000, 64_000];
    sizes
        .map(|rows| beside_dense("rows", at(rows)))
        .into_iter()
        .collect()
}

/// A larger vocabulary: more columns, and fewer entries in each.
fn columns() -> Vec<Job> {
    let job = |vocabulary| {
        let options = CorpusOptions {
            vocabulary,
            ..at(4000)
        };
        beside_dense("columns", options)
    };
    [250, 1000, 4000, 16_000, 64_000].map(job).into()
}

/// Longer sentences: more non-zeros a row.
fn nonzeros() -> Vec<Job> {
    let job = |length| {
        let options = CorpusOptions {
            min_length: length - 2,
            max_length: length,
            ..at(4000)
        };
        beside_dense("non-zeros", options)
    };
    [16, 23, 32, 45, 60].map(job).into()
}

/// More parses of every sentence: fewer and larger queries.
fn queries() -> Vec<Job> {
    let job = |max_parses| {
        let options = CorpusOptions {
            max_parses,
            min_length: 24,
            max_length: 32,
            ..at(4000)
        };
        beside_dense("queries", options)
    };
    [4, 10, 25, 100, 400].map(job).into()
}

/// More features, and less regularisation.
fn steps_and_lambda() -> Vec<Job> {
    let job = |study, settings: &[(usize, f64)]| Job {
        study,
        source: Source::Generated(at(8000)),
        trials: bounded(settings),
    };
    let steps = [5, 10, 20, 40, 80, 160].map(|k| (k, LAMBDA));
    let lambdas = [1024.0, 256.0, 64.0, 16.0, 4.0, 1.0, 0.25, 0.01, 0.0001].map(|l| (2 * K, l));
    vec![job("k", &steps), job("lambda", &lambdas)]
}

fn real() -> Vec<Job> {
    let dense = trial(StrategyKind::Dense, K, LAMBDA);
    let mut small = bounded(&[(K, LAMBDA)]);
    small.push(dense);
    let large = [10, 20, 50, 100, 200].map(|k| (k, LAMBDA));
    let large = large
        .into_iter()
        .chain([64.0, 4.0, 1.0, 0.25].map(|l| (50, l)));
    let large: Vec<_> = large.collect();
    let job = |file, trials| Job {
        study: "real",
        source: Source::EwtParse(file),
        trials,
    };
    vec![
        job("train_2000.svm.zst", small),
        job("train_20000.svm.zst", bounded(&large)),
    ]
}

/// As much as goes into some gigabytes: two million columns, fifty million non-zeros.
fn largest() -> Vec<Job> {
    let options = CorpusOptions {
        columns: Some(2_000_000),
        min_length: 6,
        max_length: 20,
        ..at(200_000)
    };
    vec![Job {
        study: "largest",
        source: Source::Generated(options),
        trials: bounded(&[(K, LAMBDA), (50, LAMBDA), (50, 1.0)]),
    }]
}
