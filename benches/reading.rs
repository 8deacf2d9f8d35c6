//! How fast svmlight text becomes a data set: generated text of 2,000 rows in
//! 100 queries, 50,000 columns and 200 entries a row, and the largest parse
//! corpus when `RANKRLS_CORPORA` names the folder of corpora.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rand::seq::index::sample;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rankrls::data::read::ReadOptions;
use rankrls::data::write_svmlight;

const ROWS: usize = 2_000;
const ROWS_A_QUERY: usize = 20;
const COLUMNS: usize = 50_000;
const ENTRIES_A_ROW: usize = 200;

/// Text whose values are small counts, or have 17 digits.
fn generate(long: bool) -> String {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut text = String::new();
    for row in 0..ROWS {
        let query = row / ROWS_A_QUERY;
        // Writing to a string cannot fail.
        let _ = write!(text, "{} qid:{query}", random.random_range(0..5));
        let mut columns = sample(&mut random, COLUMNS, ENTRIES_A_ROW).into_vec();
        columns.sort_unstable();
        for column in columns {
            let value = if long {
                random.random::<f64>()
            } else {
                f64::from(random.random_range(1..4))
            };
            let _ = write!(text, " {}:{value}", column + 1);
        }
        text.push('\n');
    }
    text
}

fn read(bytes: &[u8]) -> usize {
    let loaded = ReadOptions::new().read_from(bytes, "generated");
    loaded.expect("legal text").dataset.nonzeros()
}

fn generated(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reading");
    for (name, long) in [("counts", false), ("17 digits", true)] {
        let text = generate(long);
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bench| {
            bench.iter(|| read(black_box(text.as_bytes())));
        });
        let compressed = zstd::encode_all(text.as_bytes(), 3).expect("compressed text");
        group.bench_function(format!("{name}, zstd"), |bench| {
            bench.iter(|| read(black_box(&compressed)));
        });
    }
    group.finish();
}

fn writing(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("writing");
    for (name, long) in [("counts", false), ("17 digits", true)] {
        let text = generate(long);
        let data = ReadOptions::new().read_from(text.as_bytes(), name);
        let data = data.expect("legal text").dataset;
        group.throughput(Throughput::Bytes(text.len() as u64));
        group.bench_function(name, |bench| {
            bench.iter(|| write_svmlight(black_box(&data), std::io::sink()));
        });
    }
    group.finish();
}

fn corpus(criterion: &mut Criterion) {
    let Some(folder) = std::env::var_os("RANKRLS_CORPORA") else {
        eprintln!("NOT MEASURED on corpora: RANKRLS_CORPORA does not name their folder");
        return;
    };
    let path = Path::new(&folder).join("ewt-parse/train_20000.svm.zst");
    let mut group = criterion.benchmark_group("reading");
    group.sample_size(10);
    group.bench_function("ewt-parse/train_20000", |bench| {
        bench.iter(|| ReadOptions::new().read(&path).map(|loaded| loaded.dataset));
    });
    group.finish();
}

criterion_group!(benches, generated, writing, corpus);
criterion_main!(benches);
