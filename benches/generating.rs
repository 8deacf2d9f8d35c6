//! Generating corpora: 2,000 rows as by default, and 50,000 rows with a million columns, at
//! seed 1 and on all threads; and 2,000 rows as text, all at once and row by row.

use std::hint::black_box;
use std::io::sink;
use std::ops::ControlFlow;
use std::time::Duration;

use criterion::{Criterion, criterion_group, criterion_main};
use rankrls::data::{SvmlightRows, write_svmlight};
use rankrls::{Dataset, Queries};
use rankrls_parses::language::{CorpusOptions, Row, generate, generate_rows};

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

fn writing(criterion: &mut Criterion) {
    let options = CorpusOptions::default();
    let mut group = criterion.benchmark_group("generated text");
    group.sample_size(10);
    group.bench_function("all at once", |bencher| {
        bencher.iter(|| {
            let corpus = generate(black_box(&options), &|_| ()).expect("valid options");
            let queries = Queries::from_sizes(&corpus.sizes).expect("queries");
            let (indptr, rows, values) = (&*corpus.indptr, &*corpus.rows, &*corpus.values);
            let data = Dataset::from_csc(indptr, rows, values, &*corpus.labels, queries);
            write_svmlight(&data.expect("a data set"), sink()).expect("text");
        });
    });
    group.bench_function("row by row", |bencher| {
        bencher.iter(|| {
            let mut rows = SvmlightRows::new(sink());
            let mut take = |row: Row<'_>| {
                rows.row(row.label, row.query, row.entries).expect("text");
                ControlFlow::Continue(())
            };
            generate_rows(black_box(&options), None, &|_| (), &mut take).expect("valid options");
        });
    });
    group.finish();
}

criterion_group!(benches, generating, writing);
criterion_main!(benches);
