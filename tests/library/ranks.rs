//! Ranks that share the columns select the same as one rank with all columns, to the last bit. So does any number
//! of threads.

use crate::oracle::problems::{lambdas, problems};
use crate::oracle::{Problem, by, drawn_problems, on, outcome};
use proptest::prelude::*;
use rankrls::columns::share;
use rankrls::data::sample;
use rankrls::greedy::job::{Plan, plan, select, select_among, unwatched};
use rankrls::greedy::{Step, WeightTarget};
use rankrls::memory::Memory;
use rankrls::metrics::Measure;
use rankrls::peers::on_threads;
use rankrls::{
    Dataset, GreedyRankRls, Kind, Lambda, QueryWeight, Result, Scale, Selection, StrategyKind,
};

const RANKS: [usize; 5] = [1, 2, 3, 4, 7];

/// The selections of `count` ranks that resume after `steps`.
fn on_ranks(
    data: &Dataset<'_>,
    options: &GreedyRankRls,
    steps: &[Step],
    count: usize,
) -> Vec<Result<Selection>> {
    on_threads(count, |peers| {
        let own = share(data, peers.count(), peers.rank());
        let candidates = options.candidates(&own).unwrap().among(peers);
        select_among(&candidates, &own, options, steps, &mut unwatched)
    })
}

fn check(data: &Dataset<'_>, options: &GreedyRankRls) {
    let alone = select(data, options, &mut unwatched).map(outcome);
    for count in RANKS {
        for found in on_ranks(data, options, &[], count) {
            assert_eq!(found.map(outcome), alone, "{count} ranks");
        }
    }
}

/// Options of a strategy, with everything that it supports.
fn options(strategy: StrategyKind) -> impl Strategy<Value = GreedyRankRls> {
    let measure: Measure = "ndcg@3".parse().unwrap();
    (
        lambdas(),
        0usize..4,
        0..QueryWeight::ALL.len(),
        0..Scale::ALL.len(),
        1u64..9,
    )
        .prop_map(move |(lambda, variant, weight, scale, seed)| {
            let mut options = GreedyRankRls {
                strategy,
                query_weight: QueryWeight::ALL[weight],
                scale: Some(Scale::ALL[scale]),
                seed: Some(seed),
                ..GreedyRankRls::new(6, Lambda::new(lambda).unwrap())
            };
            match variant {
                1 if strategy.can_sample() => options.sample = Some(3),
                2 if strategy.can_rank() => {
                    options.criterion = measure;
                }
                _ => {}
            }
            options
        })
}

/// `data` with the scores of a teacher, which are near the labels.
fn with_teacher(data: Dataset<'static>) -> Dataset<'static> {
    let labels = data.labels().iter().enumerate();
    let scores = labels.map(|(row, label)| label + (row * 7 % 5) as f64 / 8.0);
    let scores = scores.collect();
    data.with_teacher(scores).unwrap()
}

proptest! {
    #![proptest_config(drawn_problems(48))]

    #[test]
    fn every_strategy_selects_alike_on_any_number_of_ranks(
        (mut problem, options, validated) in (
            problems(prop::collection::vec(1usize..6, 10..14), 1..12),
            prop::sample::select(&StrategyKind::ALL[..]).prop_flat_map(options),
            any::<bool>(),
        ),
    ) {
        if options.strategy == StrategyKind::FsEd {
            problem.labels.iter_mut().for_each(|label| *label = (label.abs() * 2.0).floor());
        }
        let mut data = problem.dataset();
        if options.strategy == StrategyKind::Distil {
            data = with_teacher(data);
        }
        if validated {
            data = data.clone().with_validation(data);
        }
        check(&data, &options);
    }
}

/// The embedded corpus: thousands of classes, equal columns, columns of one query.
#[test]
fn every_strategy_selects_alike_from_real_parses() {
    let data = with_teacher(sample::train());
    for strategy in StrategyKind::ALL {
        let options = by(strategy, 6, 16.0);
        check(&data, &options);
        let alone = on(1, || select(&data, &options, &mut unwatched));
        for threads in [2, 8] {
            let found = on(threads, || select(&data, &options, &mut unwatched));
            assert_eq!(found, alone, "{strategy} on {threads} threads");
        }
    }
}

#[test]
fn borrowed_and_owned_columns_select_alike() {
    let owned = sample::train();
    let (mut indptr, mut rows, mut values) = (vec![0; owned.width() + 1], Vec::new(), Vec::new());
    for position in 0..owned.stored_columns() {
        rows.extend_from_slice(owned.column(position).rows);
        values.extend_from_slice(owned.column(position).values);
        indptr[owned.feature(position) as usize + 1] = rows.len();
    }
    for column in 0..owned.width() {
        indptr[column + 1] = indptr[column + 1].max(indptr[column]);
    }
    let queries = owned.queries().clone();
    let labels = owned.labels();
    let borrowed = Dataset::from_csc(&indptr[..], &rows[..], &values[..], labels, queries).unwrap();
    let options = GreedyRankRls::new(6, Lambda::new(2.0).unwrap());
    assert_eq!(
        select(&borrowed, &options, &mut unwatched).unwrap(),
        select(&owned, &options, &mut unwatched).unwrap()
    );
}

/// A teacher learns from all columns, but each rank has only a share.
#[test]
fn ranks_take_the_scores_of_a_teacher_as_given() {
    let data = sample::train();
    let distil = by(StrategyKind::Distil, 3, 1.0);
    let mut refit = GreedyRankRls::new(3, Lambda::new(1.0).unwrap());
    refit.weight_target = Some(WeightTarget::CrossFitted);
    for options in [distil, refit] {
        for found in on_ranks(&data, &options, &[], 2) {
            let error = found.unwrap_err().to_string();
            assert!(error.starts_with("ranks do not train a teacher"), "{error}");
        }
        check(&with_teacher(data.clone()), &options);
    }
}

#[test]
fn plans_are_those_of_the_rank_that_has_most() {
    let data = sample::train();
    let limit = 64 << 20;
    let options = GreedyRankRls {
        memory: Memory::limit(limit),
        ..GreedyRankRls::new(5, None)
    };
    let whole = options.candidates(&data).unwrap();
    let alone = plan(&whole, &data, &options).unwrap();
    let plans = on_threads(3, |peers| {
        let own = share(&data, 3, peers.rank());
        let options = GreedyRankRls {
            memory: Memory::limit(limit - peers.rank() as u64),
            ..options.clone()
        };
        let candidates = options.candidates(&own).unwrap().among(peers);
        assert!(candidates.len() < candidates.summary().column_classes / 2);
        let little = GreedyRankRls {
            memory: Memory::limit(u64::from(candidates.peers().rank() == 1)),
            ..options.clone()
        };
        let refused = plan(&candidates, &own, &little).unwrap_err();
        (plan(&candidates, &own, &options).unwrap(), refused)
    });
    for found in &plans {
        assert_eq!(found, &plans[0]);
        let chosen = |plan: &Plan| (plan.options.strategy, plan.steps);
        assert_eq!(chosen(&found.0), chosen(&alone));
        assert!(found.0.memory < alone.memory);
    }
}

#[test]
fn another_number_of_ranks_goes_on() {
    let data = sample::train();
    let options = by(StrategyKind::Sampled, 9, 1.0);
    let whole = select(&data, &options, &mut unwatched).unwrap();
    for (taken, count) in [(3, 2), (5, 7), (9, 3)] {
        for found in on_ranks(&data, &options, &whole.steps[..taken], count) {
            assert_eq!(found.map(outcome), Ok(outcome(whole.clone())));
        }
    }
    let mut steps = whole.steps.clone();
    steps[1].lqo_error += 1.0;
    let mut twice = whole.steps[..3].to_vec();
    twice[2].feature = twice[0].feature;
    for edited in [&steps, &twice] {
        for found in on_ranks(&data, &options, edited, 3) {
            assert_eq!(found.unwrap_err().kind(), Kind::File);
        }
    }
}

#[test]
fn all_ranks_refuse_what_one_has() {
    let mut problem = Problem {
        x: (0..9)
            .map(|column| vec![0.0, f64::from(column), 1.0, 0.5])
            .collect(),
        labels: vec![1.0, 0.0, 1.0, 3.0],
        sizes: vec![2, 2],
    };
    problem.x[4][0] = 1e200;
    problem.x[7][0] = -1e180;
    let options = GreedyRankRls::new(2, Lambda::new(1.0).unwrap());
    let alone = select(&problem.dataset(), &options, &mut unwatched).unwrap_err();
    assert!(
        alone.to_string().contains(" has values too large"),
        "{alone}"
    );
    for found in on_ranks(&problem.dataset(), &options, &[], 4) {
        assert_eq!(found.unwrap_err(), alone);
    }
}
