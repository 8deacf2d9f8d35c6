//! The work before and in a step of `bounded`, on data of three densities that follow Zipf's law. Times reading,
//! the column classes of data and of packed rows, and one step that skips nearly all candidates.

use std::hint::black_box;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rankrls::data::read::ReadOptions;
use rankrls::data::write_svmlight;
use rankrls::greedy::Step;
use rankrls::greedy::job::Selecting;
use rankrls::memory::Memory;
use rankrls::{ColumnClasses, Dataset, GreedyRankRls, Lambda, QueryWeight, Scale, StrategyKind};
use zipf::Zipf;

mod zipf;

/// Non-zeros a row.
const DENSITIES: [usize; 3] = [30, 100, 300];

/// Steps before the timed one.
const BEFORE: usize = 5;

fn drawn(density: usize) -> Dataset<'static> {
    const ROWS: usize = 8000;
    let zipf = Zipf {
        rows: ROWS,
        queries: ROWS / 6,
        columns: 200_000,
        nonzeros: density * ROWS,
        shared: 80,
        seed: 1,
    };
    zipf.dataset()
}

/// The time of one step.
fn step(data: &Dataset<'_>) -> Duration {
    let options = GreedyRankRls {
        strategy: StrategyKind::Bounded,
        ..GreedyRankRls::new(BEFORE + 1, Lambda::new(16.0).expect("a number"))
    };
    let mut ends = Vec::new();
    let mut watch = |_: &Step, _: &Selecting<'_>| {
        ends.push(Instant::now());
        ControlFlow::Continue(())
    };
    let model = options.fit_with(data, None, &mut watch);
    black_box(model).expect("a model");
    ends[BEFORE] - ends[BEFORE - 1]
}

/// The column classes of text, without a matrix of all columns.
fn packed_classes(text: &[u8]) -> ColumnClasses {
    let read = ReadOptions::new().packed(true).read_from(text, "drawn");
    let read = read.expect("legal text");
    let (weight, memory) = (QueryWeight::Uniform, Memory::default());
    let (packed, rows) = (read.packed, &read.dataset);
    let classes =
        ColumnClasses::of_packed(packed, rows, weight, Scale::None, memory, (1, 0), |_| ());
    classes.expect("columns").0
}

fn densities(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("densities");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(2));
    for density in DENSITIES {
        let data = drawn(density);
        let mut text = Vec::new();
        write_svmlight(&data, &mut text).expect("room");
        group.throughput(Throughput::Elements(data.nonzeros() as u64));
        let name = |what: &str| BenchmarkId::new(what, format!("{density} non-zeros a row"));
        group.bench_function(name("reading"), |bench| {
            bench.iter(|| ReadOptions::new().read_from(black_box(&text[..]), "drawn"));
        });
        group.bench_function(name("classes"), |bench| {
            bench.iter(|| ColumnClasses::new(black_box(&data)));
        });
        group.bench_function(name("reading packed, and classes"), |bench| {
            bench.iter(|| packed_classes(black_box(&text)));
        });
        group.bench_function(name("step"), |bench| {
            bench.iter_custom(|times| (0..times).map(|_| step(&data)).sum());
        });
    }
    group.finish();
}

criterion_group!(benches, densities);
criterion_main!(benches);
