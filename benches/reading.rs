//! Speed of reading svmlight text: drawn text of 2,000 rows in 100 queries, 50,000 columns and 200 entries a row.
//! Also the largest parse corpus, if `RANKRLS_CORPORA` names the folder of corpora.

use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rankrls::data::read::ReadOptions;
use rankrls::data::write_svmlight;
use zipf::Zipf;

#[expect(dead_code, reason = "data are read from text here")]
mod zipf;

const ZIPF: Zipf = Zipf {
    rows: 2000,
    queries: 100,
    columns: 50_000,
    nonzeros: 400_000,
    shared: 0,
    seed: 1,
};

/// Text whose values are small counts, or have 17 digits.
fn drawn(long: bool) -> String {
    let mut text = String::new();
    ZIPF.draw(|label, query, entries| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{label} qid:{query}");
        for &(column, value) in entries {
            let value = if long {
                f64::from(column + 2).sqrt()
            } else {
                value
            };
            let _ = write!(text, " {}:{value}", column + 1);
        }
        text.push('\n');
    });
    text
}

fn read(bytes: &[u8]) -> usize {
    let loaded = ReadOptions::new().read_from(bytes, "drawn");
    loaded.expect("legal text").dataset.nonzeros()
}

fn text(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("reading");
    for (name, long) in [("counts", false), ("17 digits", true)] {
        let text = drawn(long);
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
        let text = drawn(long);
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

criterion_group!(benches, text, writing, corpus);
criterion_main!(benches);
