//! Which strategy when: selections on drawn data that differ from one base in one thing at a
//! time, columns, rows, density, size of the queries, `k`, and the candidates that `sampled`
//! draws. A group a thing; `cargo bench --bench when -- columns` measures one group.
//!
//! Columns are binary, and the share of rows that a column occurs in falls with its rank as in
//! text, so that most are rare; labels are noise and a few of the frequent columns. Data are made,
//! and their column classes found, before anything is timed.

use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rankrls::greedy::{SelectionOptions, select_among};
use rankrls::{ColumnClasses, Dataset, Lambda, Queries, StrategyKind};

const LAMBDA: f64 = 16.0;

/// What is compared: baselines would only show how quick a strategy is that does less.
const STRATEGIES: [StrategyKind; 5] = [
    StrategyKind::Dense,
    StrategyKind::LowMem,
    StrategyKind::Bounded,
    StrategyKind::Sampled,
    StrategyKind::Backfit,
];

/// A selection that can be drawn.
#[derive(Debug, Clone, Copy)]
struct Setting {
    rows: usize,
    columns: usize,
    /// Mean share of the columns that occur in a row.
    density: f64,
    /// Rows of a query.
    size: usize,
    k: usize,
    /// ColumnClasses that `sampled` draws.
    kappa: usize,
}

const BASE: Setting = Setting {
    rows: 1000,
    columns: 10_000,
    density: 0.005,
    size: 10,
    k: 10,
    kappa: StrategyKind::DEFAULT_SAMPLE,
};

/// Share of the rows that the column of a rank occurs in: `c / (rank + 10)`, at most 0.9, with
/// the mean over all columns that is asked for.
fn shares(setting: &Setting) -> Vec<f64> {
    let weight = |rank: usize| 1.0 / (rank + 10) as f64;
    let sum: f64 = (0..setting.columns).map(weight).sum();
    let factor = setting.density * setting.columns as f64 / sum;
    let share = |rank: usize| (factor * weight(rank)).min(0.9);
    (0..setting.columns).map(share).collect()
}

fn draw(setting: &Setting) -> Dataset<'static> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut labels: Vec<f64> = (0..setting.rows).map(|_| random.random()).collect();
    let (mut starts, mut rows) = (vec![0], Vec::new());
    for (rank, share) in shares(setting).into_iter().enumerate() {
        for (row, label) in (0u32..).zip(&mut labels) {
            if random.random::<f64>() < share {
                rows.push(row);
                if rank % 50 == 7 {
                    *label += 0.5;
                }
            }
        }
        starts.push(rows.len());
    }
    let sizes = vec![setting.size; setting.rows / setting.size];
    let queries = Queries::from_sizes(&sizes).expect("queries with rows");
    let values = vec![1.0; rows.len()];
    Dataset::from_csc(starts, rows, values, labels, queries).expect("valid columns")
}

/// Times all strategies at one setting.
fn measure(criterion: &mut Criterion, group: &str, value: f64, setting: &Setting) {
    let data = draw(setting);
    let candidates = ColumnClasses::new(&data);
    let lambda = Lambda::new(LAMBDA).expect("above 0");
    let mut group = criterion.benchmark_group(group);
    group
        .sample_size(10)
        .warm_up_time(Duration::from_millis(50))
        .measurement_time(Duration::from_millis(500));
    for strategy in STRATEGIES {
        let options = SelectionOptions {
            strategy: Some(strategy),
            sample: (strategy == StrategyKind::Sampled).then_some(setting.kappa),
            ..SelectionOptions::new(setting.k, lambda)
        };
        let name = BenchmarkId::new(strategy.name(), value.to_string());
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let found = select_among(&candidates, data.labels(), 0, &options, &mut ());
                black_box(found.expect("there are candidates"))
            });
        });
    }
    group.finish();
}

fn by_columns(criterion: &mut Criterion) {
    for columns in [100, 1000, 10_000, 50_000] {
        // As many columns to a row, whatever their number.
        let density = (BASE.density * BASE.columns as f64 / columns as f64).min(0.3);
        let setting = Setting {
            columns,
            density,
            ..BASE
        };
        measure(criterion, "columns", columns as f64, &setting);
    }
}

fn by_rows(criterion: &mut Criterion) {
    for rows in [200, 1000, 4000] {
        measure(criterion, "rows", rows as f64, &Setting { rows, ..BASE });
    }
}

fn by_density(criterion: &mut Criterion) {
    for density in [0.001, 0.005, 0.05, 0.3] {
        let setting = Setting {
            columns: 2000,
            density,
            ..BASE
        };
        measure(criterion, "density", density, &setting);
    }
}

fn by_query_size(criterion: &mut Criterion) {
    for size in [2, 10, 100, 1000] {
        measure(
            criterion,
            "query size",
            size as f64,
            &Setting { size, ..BASE },
        );
    }
}

fn by_k(criterion: &mut Criterion) {
    for k in [1, 10, 40, 100] {
        let setting = Setting {
            columns: 4000,
            k,
            ..BASE
        };
        measure(criterion, "k", k as f64, &setting);
    }
}

fn by_kappa(criterion: &mut Criterion) {
    for kappa in [10, 59, 500, 4000] {
        measure(criterion, "kappa", kappa as f64, &Setting { kappa, ..BASE });
    }
}

criterion_group!(
    benches,
    by_columns,
    by_rows,
    by_density,
    by_query_size,
    by_k,
    by_kappa
);
criterion_main!(benches);
