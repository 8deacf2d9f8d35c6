//! RankRLS on 2,000 rows: hold-outs of every pair and of every query, beside the training that they follow from.
//! The data have 50 columns, or a Gaussian kernel.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rankrls::ridge::{Kernel, RankRls};
use rankrls::{Dataset, HoldOut, Lambda, Lambdas, Objective, Queries};

const ROWS: usize = 2000;
const COLUMNS: usize = 50;
const SEED: u64 = 1;

fn data() -> Dataset<'static> {
    let mut generator = ChaCha8Rng::seed_from_u64(SEED);
    let values: Vec<f64> = (0..ROWS * COLUMNS)
        .map(|_| generator.random_range(-1.0..1.0))
        .collect();
    let labels = (0..ROWS).map(|row| values[row] + values[ROWS + row] * values[2 * ROWS + row]);
    let labels: Vec<f64> = labels.collect();
    let indptr: Vec<usize> = (0..=COLUMNS).map(|column| column * ROWS).collect();
    let rows: Vec<u32> = (0..COLUMNS).flat_map(|_| (0..).take(ROWS)).collect();
    let queries = Queries::from_sizes(&[10; ROWS / 10]).expect("queries");
    Dataset::from_csc(indptr, rows, values, labels, queries).expect("a data set")
}

fn family(criterion: &mut Criterion) {
    let data = data();
    let gaussian = Kernel::gaussian(0.1).expect("a kernel");
    let mut group = criterion.benchmark_group("family");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(5));
    let powers = |powers: std::ops::Range<i32>| {
        let lambdas = powers.map(|power| Lambda::new(f64::from(power).exp2()));
        lambdas.collect::<Result<Vec<_>, _>>().expect("lambdas")
    };
    for (name, objective, kernel, lambdas, holdout) in [
        (
            "50 columns, all pairs: train",
            Objective::Global,
            Kernel::LINEAR,
            0..1,
            None,
        ),
        (
            "50 columns, all pairs: and leave-pair-out",
            Objective::Global,
            Kernel::LINEAR,
            0..1,
            Some(HoldOut::Pairs),
        ),
        (
            "gaussian, all pairs: train",
            Objective::Global,
            gaussian,
            0..1,
            None,
        ),
        (
            "gaussian, all pairs: and leave-pair-out",
            Objective::Global,
            gaussian,
            0..1,
            Some(HoldOut::Pairs),
        ),
        (
            "gaussian, queries: 16 lambdas by leave-query-out",
            Objective::Query,
            gaussian,
            -5..11,
            Some(HoldOut::Queries),
        ),
    ] {
        let params = RankRls {
            objective,
            lambdas: Lambdas::of(&powers(lambdas)),
            kernels: vec![kernel],
            holdout: holdout.unwrap_or(HoldOut::Nothing),
            ..RankRls::default()
        };
        group.bench_function(name, |bencher| {
            bencher.iter(|| params.train(black_box(&data), None).expect("a model"));
        });
    }
    group.finish();
}

criterion_group!(benches, family);
criterion_main!(benches);
