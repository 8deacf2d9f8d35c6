//! Columns spread over processes, here over drivers in one process: one merged
//! contest and one column sent round a step make the same selection; and so does
//! any number of threads.

use crate::oracle::Problem;
use rankrls::greedy::{Contest, Greedy, Plan, plan, select};
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

/// The columns of `problem` that `mine` picks, under their own numbers.
fn share(problem: &Problem, mine: impl Fn(usize) -> bool) -> Dataset<'static> {
    let features: Vec<u32> = (0u32..)
        .take(problem.x.len())
        .filter(|&f| mine(f as usize))
        .collect();
    let columns = features
        .iter()
        .map(|&feature| problem.x[feature as usize].clone())
        .collect();
    let part = Problem {
        x: columns,
        ..problem.clone()
    };
    part.dataset()
        .with_features(features, problem.x.len())
        .unwrap()
}

#[test]
fn partitioned_columns_make_the_same_selection() {
    let problem = problem();
    let lambda = Lambda::new(0.5).unwrap();
    let k = 12;
    for strategy in StrategyKind::ALL
        .into_iter()
        // A teacher of some of the columns is another teacher.
        .filter(|kind| !matches!(kind, StrategyKind::Sampled | StrategyKind::Random))
        .filter(|kind| !kind.distils() && !kind.needs_grades())
    {
        let options = SelectionOptions {
            strategy: Some(strategy),
            ..SelectionOptions::new(k, lambda)
        };
        let whole = select(&problem.dataset(), &options, &mut ()).unwrap();
        let parts: Vec<Dataset<'_>> = (0..3)
            .map(|part| share(&problem, |feature| feature % 3 == part))
            .collect();
        let candidates: Vec<ColumnClasses> = parts.iter().map(ColumnClasses::new).collect();
        let start = |candidates| {
            let plan = Plan {
                steps: k,
                ..plan(candidates, 0, &options).unwrap()
            };
            Greedy::new(candidates, &problem.labels, &plan, &options, &[]).unwrap()
        };
        let mut processes: Vec<Greedy<'_>> = candidates.iter().map(start).collect();
        for step in &whole.steps {
            let contests = processes.iter_mut().map(|process| process.propose().0);
            let winner = contests
                .fold(Contest::default(), Contest::merge)
                .winner()
                .unwrap();
            assert_eq!(winner.feature, step.feature, "{strategy}");
            let addition = processes
                .iter()
                .find_map(|process| process.addition(winner.feature))
                .unwrap();
            for process in &mut processes {
                process.adopt(addition);
                assert_eq!(process.state().error().to_bits(), step.lqo_error.to_bits());
            }
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
