//! Columns spread over ranks make the same selection, and so does any number of threads.

use crate::oracle::Problem;
use rankrls::columns::Partition;
use rankrls::greedy::{select, select_among};
use rankrls::peers::on_threads;
use rankrls::{ColumnClasses, Dataset, Lambda, Queries, SelectionOptions, StrategyKind};

/// A deterministic corpus: words in queries of five examples, every third word seen in one
/// query only, some columns copies of others.
fn problem() -> Problem {
    let (queries, size, columns) = (12, 5, 40);
    let mut x = vec![vec![0.0; queries * size]; columns];
    let mut noise = 12345u64;
    let mut next = |below: u64| {
        noise = noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963);
        (noise >> 33) % below
    };
    for (number, column) in x.iter_mut().enumerate() {
        for (row, value) in column.iter_mut().enumerate() {
            let here = number % 3 != 0 || row / size == number % queries;
            if here && next(4) == 0 {
                *value = 1.0 + next(3) as f64;
            }
        }
    }
    let copied = x[4].clone();
    x[17] = copied;
    x[30] = x[5].iter().map(|value| 1.0 - value).collect();
    let labels = (0..queries * size)
        .map(|_| next(100) as f64 / 100.0)
        .collect();
    Problem {
        x,
        labels,
        sizes: vec![size; queries],
    }
}

#[test]
fn partitioned_columns_make_the_same_selection() {
    let data = problem().dataset();
    let (lambda, k) = (Lambda::new(0.5).unwrap(), 12);
    for strategy in StrategyKind::ALL
        .into_iter()
        // Ranks train no teacher.
        .filter(|kind| !kind.distils() && !kind.needs_grades())
    {
        let options = SelectionOptions {
            strategy: Some(strategy),
            ..SelectionOptions::new(k, lambda)
        };
        let whole = select(&data, &options, &mut ()).unwrap();
        let found = on_threads(3, |peers| {
            let part = Partition::share(&data, peers.count(), peers.rank());
            let candidates = ColumnClasses::new(&part).among(peers);
            select_among(&candidates, &part, 0, &options, &mut ()).unwrap()
        });
        for selection in found {
            assert_eq!(selection.features(), whole.features(), "{strategy}");
            assert_eq!(selection.errors(), whole.errors(), "{strategy}");
            assert_eq!(selection.weights, whole.weights, "{strategy}");
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let data = problem().dataset();
    for strategy in StrategyKind::ALL
        .into_iter()
        .filter(|kind| !kind.needs_grades())
    {
        let options = SelectionOptions {
            strategy: Some(strategy),
            ..SelectionOptions::new(15, Lambda::new(0.5).unwrap())
        };
        let run = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| select(&data, &options, &mut ()).unwrap())
        };
        let alone = run(1);
        for threads in [2, 3, 8] {
            assert_eq!(run(threads), alone, "{strategy} on {threads} threads");
        }
    }
}

#[test]
fn borrowed_and_owned_columns_select_alike() {
    let problem = problem();
    let owned = problem.dataset();
    let (mut indptr, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
    for position in 0..owned.stored_columns() {
        rows.extend_from_slice(owned.column(position).rows);
        values.extend_from_slice(owned.column(position).values);
        indptr.push(rows.len());
    }
    let queries = Queries::from_sizes(&problem.sizes).unwrap();
    let borrowed = Dataset::from_csc(
        &indptr[..],
        &rows[..],
        &values[..],
        &problem.labels[..],
        queries,
    )
    .unwrap();
    let options = SelectionOptions::new(6, Lambda::new(2.0).unwrap());
    assert_eq!(
        select(&borrowed, &options, &mut ()).unwrap(),
        select(&owned, &options, &mut ()).unwrap()
    );
}
