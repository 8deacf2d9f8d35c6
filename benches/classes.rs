//! Time to find the column classes: `ColumnClasses::new` on drawn data, with variants of more non-zeros a row and
//! of more rows. Also on `ewt-parse/train_2000`, if `RANKRLS_CORPORA` names the folder of corpora.

use std::hint::black_box;
use std::path::Path;
use std::time::Duration;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use rankrls::data::read::ReadOptions;
use rankrls::{ColumnClasses, Dataset};
use zipf::Zipf;

mod zipf;

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

fn drawn(criterion: &mut Criterion) {
    for (rows, columns, nonzeros) in [
        (2000, 60_000, 680_000),
        (2000, 80_000, 1_200_000),
        (20_000, 370_000, 6_800_000),
    ] {
        let zipf = Zipf {
            rows,
            queries: rows / 6,
            columns,
            nonzeros,
            shared: 80,
            seed: 1,
        };
        measure(criterion, "drawn", &zipf.dataset());
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

criterion_group!(benches, drawn, real);
criterion_main!(benches);
