//! Finding the column classes: `ColumnClasses::new` on generated corpora, on one with longer
//! sentences, and on `ewt-parse/train_2000` when `RANKRLS_CORPORA` names the folder of corpora.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rankrls::data::read::ReadOptions;
use rankrls::{ColumnClasses, Dataset, Queries};
use rankrls_parses::language::{CorpusOptions, generate};

const SEED: u64 = 1;

fn measure(criterion: &mut Criterion, source: &str, data: &Dataset<'_>) {
    let name = format!(
        "{source}: {} rows, {} columns, {} non-zeros",
        data.rows(),
        data.width(),
        data.nonzeros()
    );
    let mut group = criterion.benchmark_group("classes");
    group
        .sample_size(10)
        .measurement_time(Duration::from_secs(3))
        .throughput(Throughput::Elements(data.nonzeros() as u64));
    group.bench_function(name, |bencher| {
        bencher.iter(|| ColumnClasses::new(black_box(data)));
    });
    group.finish();
}

fn generated(criterion: &mut Criterion) {
    for (rows, max_length) in [(2000, 24), (2000, 40), (20_000, 24)] {
        let options = CorpusOptions {
            rows,
            max_length,
            seed: SEED,
            ..CorpusOptions::default()
        };
        let corpus = generate(&options, &|_| ()).expect("valid options");
        let queries = Queries::from_sizes(&corpus.sizes).expect("sizes of queries");
        let (indptr, rows, values) = (corpus.indptr, corpus.rows, corpus.values);
        let data =
            Dataset::from_csc(indptr, rows, values, corpus.labels, queries).expect("a data set");
        measure(criterion, "generated", &data);
    }
}

fn real(criterion: &mut Criterion) {
    let Some(folder) = std::env::var_os("RANKRLS_CORPORA") else {
        eprintln!("NOT MEASURED on ewt-parse: RANKRLS_CORPORA does not name its folder");
        return;
    };
    let file = Path::new(&folder).join("ewt-parse/train_2000.svm.zst");
    let loaded = ReadOptions::new().read(&file).expect("readable data");
    measure(criterion, "train_2000", &loaded.dataset);
}

criterion_group!(benches, generated, real);
criterion_main!(benches);
