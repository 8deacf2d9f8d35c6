//! Whole selections by strategy, on drawn data that differ from a base in rows, columns, non-zeros or `k`. Also on
//! `ewt-parse`, if `RANKRLS_CORPORA` names the folder of corpora. Names give strategy, rows, columns, non-zeros, k
//! and lambda.
//!
//! Data are made, and their column classes found, before the clock starts. Beside criterion's output, a line gives
//! the median time of a selected feature, also as a multiple of one pass over the data. A pass is a sparse dot
//! product of every stored column with a dense vector, on as many threads.

use std::cell::RefCell;
use std::hint::black_box;
use std::path::Path;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rankrls::data::read::ReadOptions;
use rankrls::greedy::GreedyRankRls;
use rankrls::greedy::job::{select_among, unwatched};
use rankrls::{ColumnClasses, Dataset, Lambda, Selection, StrategyKind};
use rayon::prelude::*;
use zipf::Zipf;

mod zipf;

const LAMBDA: f64 = 16.0;

/// Data with everything that is not timed.
struct Subject<'a> {
    name: String,
    data: &'a Dataset<'a>,
    candidates: ColumnClasses,
    pass: Duration,
}

impl<'a> Subject<'a> {
    fn new(source: &str, data: &'a Dataset<'a>) -> Self {
        let name = format!(
            "{source}, {} rows, {} columns, {} non-zeros",
            data.rows(),
            data.width(),
            data.nonzeros()
        );
        let candidates = ColumnClasses::new(data);
        let pass = pass(data);
        let classes = candidates.len();
        println!("{name}: {classes} column classes, a pass over the non-zeros takes {pass:.1?}");
        Self {
            name,
            data,
            candidates,
            pass,
        }
    }

    fn select(&self, options: &GreedyRankRls) -> Selection {
        let selection = select_among(&self.candidates, self.data, options, &[], &mut unwatched);
        selection.expect("there are candidates and no limit")
    }

    fn measure(&self, criterion: &mut Criterion, strategy: StrategyKind, k: usize, lambda: f64) {
        let ridge = Lambda::new(lambda).expect("lambdas above 0");
        let options = GreedyRankRls {
            strategy,
            ..GreedyRankRls::new(k, ridge)
        };
        let times = RefCell::new(Vec::new());
        let timed = || {
            let start = Instant::now();
            black_box(self.select(&options));
            let time = start.elapsed();
            times.borrow_mut().push(time);
            time
        };
        let parameters = format!("{}, k {k}, lambda {lambda}", self.name);
        let mut group = criterion.benchmark_group("select");
        group
            .sample_size(10)
            .warm_up_time(Duration::from_millis(100))
            .measurement_time(Duration::from_secs(1));
        group.bench_function(BenchmarkId::new(strategy.name(), parameters), |bencher| {
            bencher.iter_custom(|iterations| (0..iterations).map(|_| timed()).sum());
        });
        group.finish();
        self.compare_with_pass(&mut times.into_inner(), k);
    }

    /// `times` are empty if criterion was asked for other benchmarks.
    fn compare_with_pass(&self, times: &mut [Duration], k: usize) {
        if times.is_empty() {
            return;
        }
        let each = median(times).as_secs_f64() / k as f64;
        let multiple = each / self.pass.as_secs_f64();
        let milliseconds = 1e3 * each;
        println!("    {milliseconds:.3} ms a feature, {multiple:.1} passes over the non-zeros");
    }
}

fn median(times: &mut [Duration]) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Time of one pass over the non-zeros.
fn pass(data: &Dataset<'_>) -> Duration {
    const PASSES: usize = 25;
    /// Columns of a task.
    const COLUMNS: usize = 4096;
    let dense: Vec<f64> = (0..data.rows()).map(|row| 1.0 / (row + 1) as f64).collect();
    let columns: Vec<usize> = (0..data.stored_columns()).collect();
    let dot = |&column: &usize| -> f64 {
        let entries = data.column(column).iter();
        entries.map(|(row, value)| value * dense[row]).sum()
    };
    let largest = |chunk: &[usize]| chunk.iter().map(dot).fold(0.0, f64::max);
    let mut times: Vec<Duration> = (0..PASSES)
        .map(|_| {
            let start = Instant::now();
            let chunks = black_box(&columns).par_chunks(COLUMNS);
            black_box(chunks.map(largest).max_by(f64::total_cmp));
            start.elapsed()
        })
        .collect();
    median(&mut times)
}

/// The base of the data.
const BASE: Zipf = Zipf {
    rows: 1000,
    queries: 155,
    columns: 34_000,
    nonzeros: 340_000,
    shared: 80,
    seed: 1,
};

fn drawn(criterion: &mut Criterion) {
    const K: usize = 10;
    let four_times = Zipf {
        rows: 4 * BASE.rows,
        queries: 4 * BASE.queries,
        nonzeros: 4 * BASE.nonzeros,
        ..BASE
    };
    let wide = Zipf {
        columns: 4 * BASE.columns,
        ..BASE
    };
    let dense = Zipf {
        nonzeros: 2 * BASE.nonzeros,
        ..BASE
    };
    for (zipf, steps) in [
        (BASE, &[K, 5 * K][..]),
        (four_times, &[K]),
        (wide, &[K]),
        (dense, &[K]),
    ] {
        let data = zipf.dataset();
        let subject = Subject::new("drawn", &data);
        for &k in steps {
            for strategy in StrategyKind::ALL
                .into_iter()
                .filter(|kind| !kind.needs_grades())
            {
                subject.measure(criterion, strategy, k, LAMBDA);
            }
        }
    }
}

/// Hundreds of thousands of rare columns, nearly all of which a step of `bounded` skips.
fn rare(criterion: &mut Criterion) {
    let data = Zipf {
        rows: 16 * BASE.rows,
        queries: 16 * BASE.queries,
        columns: 16 * BASE.columns,
        nonzeros: 16 * BASE.nonzeros,
        ..BASE
    };
    let data = data.dataset();
    let subject = Subject::new("rare", &data);
    for k in [2, 12] {
        subject.measure(criterion, StrategyKind::Bounded, k, LAMBDA);
    }
}

fn real(criterion: &mut Criterion) {
    let Some(folder) = std::env::var_os("RANKRLS_CORPORA") else {
        eprintln!("NOT MEASURED on ewt-parse: RANKRLS_CORPORA does not name its folder");
        return;
    };
    let read = |name: &str| {
        let file = Path::new(&folder).join("ewt-parse").join(name);
        ReadOptions::new()
            .read(&file)
            .expect("readable data")
            .dataset
    };
    let small = read("train_2000.svm.zst");
    let subject = Subject::new("train_2000", &small);
    for strategy in StrategyKind::ALL
        .into_iter()
        .filter(|kind| !kind.needs_grades())
    {
        subject.measure(criterion, strategy, 20, LAMBDA);
    }
    let large = read("train_20000.svm.zst");
    let subject = Subject::new("train_20000", &large);
    for lambda in [LAMBDA, 1.0] {
        subject.measure(criterion, StrategyKind::Bounded, 50, lambda);
    }
}

criterion_group!(benches, drawn, rare, real);
criterion_main!(benches);
