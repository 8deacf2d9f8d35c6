//! Generating corpora: 2,000 rows as by default, and 50,000 rows with a million columns, at
//! seed 1 and on all threads.

use std::hint::black_box;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use rankrls_parses::language::{CorpusOptions, generate};

fn generating(criterion: &mut Criterion) {
    let sizes = [
        ("2000 rows, 60000 columns", 2000, None),
        ("50000 rows, 1000000 columns", 50_000, Some(1_000_000)),
    ];
    let mut group = criterion.benchmark_group("generating");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(5));
    for (name, rows, columns) in sizes {
        let options = CorpusOptions {
            rows,
            columns,
            ..CorpusOptions::default()
        };
        group.bench_function(name, |bencher| {
            bencher.iter(|| generate(black_box(&options), &|_| ()).expect("valid options"));
        });
    }
    group.finish();
}

criterion_group!(benches, generating);
criterion_main!(benches);
