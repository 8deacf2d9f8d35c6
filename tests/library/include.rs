//! Included columns come first under every strategy. All later steps are the same as after them.

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::Index;
use rankrls::columns::share;
use rankrls::data::{ColumnName, DataHash, LabelScale};
use rankrls::greedy::job::{select, select_among, unwatched};
use rankrls::greedy::{Step, WeightTarget};
use rankrls::metrics::Measure;
use rankrls::peers::on_threads;
use rankrls::tune::{Rule, Tune};
use rankrls::{
    Dataset, FeatureNames, GreedyRankRls, HoldOut, Lambda, Model, QueryWeight, Scale, Selection,
    StrategyKind,
};

use crate::oracle::problems::{lambdas, problems};
use crate::oracle::{EXACT, Problem, by, drawn_problems, on, outcome};
use crate::strategies::{check_path, drawn};

/// Up to three columns of different classes, which need not be the lowest of their class.
fn of_different_classes(problem: &Problem, drawn: &[Index]) -> Vec<usize> {
    let representing = problem.representing();
    let mut taken: Vec<usize> = Vec::new();
    for index in drawn {
        let feature = index.index(problem.x.len());
        let class = representing[feature];
        if class.is_some() && taken.iter().all(|&other| representing[other] != class) {
            taken.push(feature);
        }
    }
    taken
}

/// With included columns of data that count from 1.
fn including(options: GreedyRankRls, features: &[usize]) -> GreedyRankRls {
    let number = |&feature: &usize| ColumnName::Number(1 + feature as u64);
    GreedyRankRls {
        include: Some(features.iter().map(number).collect()),
        ..options
    }
}

fn features(steps: &[Step]) -> Vec<usize> {
    steps.iter().map(|step| step.feature as usize).collect()
}

/// Settings of a strategy that affect its steps.
fn variants(strategy: StrategyKind, lambda: f64) -> Vec<GreedyRankRls> {
    let plain = by(strategy, 6, lambda);
    let mut all = vec![
        GreedyRankRls {
            query_weight: QueryWeight::Pairs,
            scale: Some(Scale::Sd),
            ..plain.clone()
        },
        GreedyRankRls {
            weight_target: Some(WeightTarget::CrossFitted),
            label_scale: Some(LabelScale::SqrtSd),
            ..plain.clone()
        },
    ];
    if strategy.can_sample() {
        let sample = Some(2);
        all.push(GreedyRankRls {
            sample,
            ..plain.clone()
        });
    }
    if strategy.can_rank() {
        let criterion = "ndcg@3".parse().unwrap();
        all.push(GreedyRankRls {
            criterion,
            ..plain.clone()
        });
    }
    all.push(plain);
    all
}

/// Compares a selection with included columns to one resumed from its first steps, to its own resumptions, and to
/// threads and ranks.
fn check(data: &Dataset<'_>, options: &GreedyRankRls, included: &[usize]) {
    let candidates = options.candidates(data).unwrap();
    let asked = including(options.clone(), included);
    let whole = select_among(&candidates, data, &asked, &[], &mut unwatched).unwrap();
    assert_eq!(features(&whole.steps[..included.len()]), included);
    let own = included
        .iter()
        .map(|&feature| ColumnName::Number(1 + feature as u64));
    let own: Vec<ColumnName> = own.collect();
    assert_eq!(
        whole.options.include,
        Some(own).filter(|own| !own.is_empty())
    );
    let ranked = options.criterion != Measure::Squared;
    assert!(
        whole
            .steps
            .iter()
            .all(|step| step.criterion.is_some() == ranked)
    );
    let whole = outcome(whole);
    // Given steps change no later step.
    let mut given = select_among(
        &candidates,
        data,
        options,
        &whole.steps[..included.len()],
        &mut unwatched,
    );
    let given_options = &mut given.as_mut().unwrap().options;
    given_options.include.clone_from(&whole.options.include);
    assert_eq!(given.map(outcome).as_ref(), Ok(&whole));
    for taken in 0..=whole.steps.len() {
        let given = &whole.steps[..taken];
        let resumed = select_among(&candidates, data, &asked, given, &mut unwatched);
        assert_eq!(resumed.map(outcome).as_ref(), Ok(&whole), "after {taken}");
    }
    let threads = on(2, || select(data, &asked, &mut unwatched));
    assert_eq!(threads.map(outcome).as_ref(), Ok(&whole));
    for count in [2, 3] {
        for found in on_threads(count, |peers| {
            let own = share(data, peers.count(), peers.rank());
            let candidates = asked.candidates(&own).unwrap().among(peers);
            select_among(&candidates, &own, &asked, &[], &mut unwatched)
        }) {
            assert_eq!(found.map(outcome).as_ref(), Ok(&whole), "{count} ranks");
        }
    }
}

proptest! {
    #![proptest_config(drawn_problems(1500))]

    #[test]
    fn exact_strategies_follow_the_definition_after_them(
        problem in drawn(), drawn in prop::collection::vec(any::<Index>(), 0..4), lambda in lambdas(),
    ) {
        let (k, representing) = (problem.x.len(), problem.representing());
        let included = of_different_classes(&problem, &drawn);
        let eligible = |number: usize, selected: &[usize]| {
            if let Some(&feature) = included.get(number) {
                return vec![feature];
            }
            let is_left = |class: &usize| {
                selected.iter().all(|&taken| representing[taken] != Some(*class))
            };
            problem.representatives().into_iter().filter(is_left).collect()
        };
        for strategy in EXACT {
            let options = including(by(strategy, k, lambda), &included);
            let Ok(selection) = select(&problem.dataset(), &options, &mut unwatched) else {
                continue;
            };
            prop_assert_eq!(selection.steps.len(), problem.representatives().len());
            check_path(&problem, &selection, lambda, eligible, |selected, candidate| {
                problem.error(&[selected, &[candidate]].concat(), lambda)
            })?;
            for step in &selection.steps {
                let class = representing[step.feature as usize];
                let alike = (0..).zip(&representing).filter(|(_, other)| **other == class);
                let others = alike.map(|(other, _)| other).filter(|&other| other != step.feature);
                prop_assert_eq!(&step.identical, &others.collect::<Vec<u32>>());
            }
        }
    }
}

proptest! {
    #![proptest_config(drawn_problems(12))]

    #[test]
    fn every_strategy_goes_on_after_them(
        mut problem in problems(prop::collection::vec(1usize..6, 10..14), 4..12),
        drawn in prop::collection::vec(any::<Index>(), 1..4),
        lambda in lambdas(),
    ) {
        problem.labels.iter_mut().for_each(|label| *label = (label.abs() * 2.0).floor());
        let data = problem.dataset();
        let scores = problem.labels.iter().enumerate();
        let scores = scores.map(|(row, label)| label + (row * 7 % 5) as f64 / 8.0).collect();
        let Ok(data) = data.with_teacher(scores) else { return Ok(()) };
        let included = of_different_classes(&problem, &drawn);
        for strategy in StrategyKind::ALL {
            for options in variants(strategy, lambda) {
                if select(&data, &options, &mut unwatched).is_ok() {
                    check(&data, &options, &included);
                }
            }
        }
    }
}

/// Six queries of three rows. Column 1 varies in the first query alone. Column 2 equals column 0 except in the
/// second query.
fn with_columns_of_one_query() -> Problem {
    let mut next = crate::oracle::draws(7);
    let mut column = || (0..18).map(|_| next(9) as f64).collect::<Vec<f64>>();
    let mut x = vec![column(), column(), column(), column(), column()];
    x[1][3..].fill(1.0);
    x[1][..3].copy_from_slice(&[0.0, 1.0, 3.0]);
    let first = x[0].clone();
    x[2][..3].copy_from_slice(&first[..3]);
    x[2][6..].copy_from_slice(&first[6..]);
    x[2][3..6].copy_from_slice(&[5.0, 0.0, 1.0]);
    Problem {
        labels: column(),
        x,
        sizes: vec![3; 6],
    }
}

#[test]
fn a_fold_goes_on_without_a_column_that_tells_nothing_there() {
    let data = with_columns_of_one_query().dataset();
    let options = Tune {
        holdout: HoldOut::Folds { count: 6, seed: 1 },
        ..Tune::new(
            including(GreedyRankRls::new(4, None), &[1, 0, 2]),
            Lambda::new(1.0).unwrap(),
        )
    };
    for rule in [Rule::Best, Rule::OneSe, Rule::MIN_IMPROVEMENT] {
        let options = Tune {
            rule,
            ..options.clone()
        };
        let (model, tuned) = options.fit(&data).unwrap();
        assert_eq!(model.columns()[..3], [1, 0, 2]);
        let mut begins: Vec<&[u32]> = tuned.chosen().folds.iter().map(|fold| &fold[..2]).collect();
        begins.sort_unstable();
        // One fold holds out the only query in which column 1 varies. Another holds out the query that
        // distinguishes columns 0 and 2.
        assert_eq!(begins[0], [0, 2], "{rule:?}");
        assert!(begins[1..].iter().all(|fold| *fold == [1, 0]), "{rule:?}");
        let folds = tuned.chosen().folds.iter();
        let thirds = folds.filter(|fold| fold.contains(&0) && fold.contains(&2));
        assert_eq!(thirds.count(), 5, "{rule:?}");
    }
}

/// Rows whose labels the first column gives, and 30 columns of noise.
fn noisy() -> Dataset<'static> {
    let mut next = crate::oracle::draws(3);
    let labels: Vec<f64> = (0..80).map(|_| next(5) as f64).collect();
    let noise = (0..30).map(|_| (0..80).map(|_| next(7) as f64).collect());
    let problem = Problem {
        x: std::iter::once(labels.clone()).chain(noise).collect(),
        labels,
        sizes: vec![4; 20],
    };
    problem.dataset()
}

#[test]
fn a_model_without_them_is_not_chosen() {
    let data = noisy();
    let noise: Vec<usize> = (5..9).collect();
    for holdout in [HoldOut::Queries, HoldOut::Folds { count: 4, seed: 1 }] {
        for rule in ["best", "one-se", "min-improvement:0.5:1"] {
            let options = Tune {
                holdout: holdout.clone(),
                rule: rule.parse().unwrap(),
                ..Tune::new(
                    including(GreedyRankRls::new(8, None), &noise),
                    Lambda::new(1.0).unwrap(),
                )
            };
            let (model, tuned) = options.fit(&data).unwrap();
            assert_eq!(model.columns()[..4], [5, 6, 7, 8], "{rule}");
            // Models on the way have values, but none of them is chosen.
            assert!(tuned.chosen().points[0].score.mean.is_some());
        }
    }
    // If folds choose lambda, models may need more than 20 features.
    let many: Vec<usize> = (1..24).collect();
    let model = including(GreedyRankRls::new(24, None), &many).fit(&data);
    let model = model.unwrap();
    assert_eq!(model.columns()[23], 0);
    assert!(model.columns()[..23].iter().copied().eq(1..24));
}

/// Column `a`, minus `a` plus a constant in each query, a constant column, and two columns of one name.
fn named() -> Dataset<'static> {
    let columns = [
        [1.0, 0.0, 2.0, 0.0, 1.0, 5.0],
        [2.0, 3.0, 1.0, 4.0, 3.0, -1.0],
        [7.0, 7.0, 7.0, 1.0, 1.0, 1.0],
        [0.0, 2.0, 1.0, 0.0, 0.0, 3.0],
        [1.0, 1.0, 0.0, 2.0, 0.0, 0.0],
    ];
    let problem = Problem {
        x: columns.map(|column| column.repeat(2)).to_vec(),
        labels: [1.0, 0.0, 2.0, 0.0, 1.0, 2.0].repeat(2),
        sizes: vec![3; 4],
    };
    let names = ["length", "minus, it", "year", "twin", "twin"];
    let names: FeatureNames = names.into_iter().collect();
    problem.dataset().with_names(names).unwrap()
}

fn asked(k: usize, include: &str) -> GreedyRankRls {
    GreedyRankRls {
        include: Some(ColumnName::list(include).unwrap()),
        ..GreedyRankRls::new(k, Lambda::new(1.0).unwrap())
    }
}

#[test]
fn the_column_that_was_named_has_the_weight() {
    let data = named();
    let one =
        |include: &str| -> Selection { select(&data, &asked(2, include), &mut unwatched).unwrap() };
    let (first, second) = (one("length"), one("\"minus, it\""));
    assert_eq!((first.steps[0].feature, second.steps[0].feature), (0, 1));
    assert_eq!(
        (
            &first.steps[0].identical[..],
            &second.steps[0].identical[..]
        ),
        (&[1][..], &[0][..])
    );
    assert_eq!(first.weights[0], -second.weights[0]);
    assert_eq!(first.weights[1], second.weights[1]);
    assert_eq!(first.steps[1], second.steps[1]);
    assert_eq!(one("2"), second);
}

#[test]
fn what_cannot_be_included_is_refused_with_the_reason() {
    let data = named();
    let refused =
        |data: &Dataset<'_>, options: &GreedyRankRls| options.fit(data).unwrap_err().to_string();
    for (include, text) in [
        (
            "lenght",
            "--include: no column is called \"lenght\"; is it \"length\"?",
        ),
        (
            "x",
            "--include: no column is called \"x\" among the 5 that have names",
        ),
        (
            "0",
            "--include: there is no column 0: expected numbers from 1 to 5",
        ),
        (
            "length,4,1",
            "--include: column 1 (\"length\") is there twice: expected each column once",
        ),
        (
            "year",
            "--include: column 3 (\"year\") is constant within every query, so that it cannot help: \
             leave it out",
        ),
        (
            "4,2,1",
            "--include: column 1 (\"length\") equals column 2 (\"minus, it\") but for a constant in \
             each query and its sign: include one of them",
        ),
        (
            "twin",
            "--include: 2 columns are called \"twin\", such as 4 and 5: give the number of the one \
             that you mean",
        ),
        (
            "1,4,5,3",
            "--include: expected at most k columns, as they count among the features; found 4, and k \
             is 3",
        ),
    ] {
        assert_eq!(refused(&data, &asked(3, include)), text);
        // Folds that would choose lambda report it, too.
        let auto = GreedyRankRls {
            lambda: None,
            ..asked(3, include)
        };
        assert_eq!(refused(&data, &auto), text);
    }
    let text = refused(&noisy(), &asked(1, "length"));
    let expected = "no column is called \"length\", as the columns have no names: give their numbers, from 1 to 31";
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn a_model_knows_what_it_had_to_have() {
    let data = noisy();
    let options = including(GreedyRankRls::new(5, Lambda::new(1.0).unwrap()), &[7, 3]);
    let model = options.fit(&data).unwrap();
    let mut text = Vec::new();
    model.write_to(&mut text).unwrap();
    let parse = |text: &str| Model::parse(text.as_bytes(), Path::new("model.json"));
    let text = String::from_utf8(text).unwrap();
    assert_eq!(parse(&text).unwrap(), model);
    let candidates = options.candidates(&data).unwrap();
    let hash = DataHash::of(&data);
    let (again, given) = model.go_on(&options, &candidates, hash).unwrap();
    let resumed = select_among(&candidates, &data, &again, &given, &mut unwatched).unwrap();
    assert_eq!(
        Model::from_selection(&resumed, &data, &candidates.summary(), hash),
        model
    );
    for (other, differs) in [
        (
            including(options.clone(), &[7, 4]),
            "include was [8,4] and is [8,5] now",
        ),
        (
            GreedyRankRls {
                include: None,
                ..options.clone()
            },
            "include was [8,4] and is not given now",
        ),
    ] {
        let error = model
            .go_on(&other, &candidates, hash)
            .unwrap_err()
            .to_string();
        assert!(error.contains(differs), "{error}");
    }
    let list = "\"include\": [\n      8,\n      4\n    ]";
    assert!(text.contains(list), "{text}");
    for (other, told) in [
        (
            "[8, 99]",
            "settings.include[1]: expected an index from 1 to 31, found 99",
        ),
        (
            "[8, \"x\"]",
            "settings.include[1]: expected an index from 1 to 31, found \"x\"",
        ),
        (
            "[8, 8]",
            "settings.include[1]: expected the feature 4 of its step, found 8",
        ),
    ] {
        let text = text.replace(list, &format!("\"include\": {other}"));
        let error = parse(&text).unwrap_err().to_string();
        assert!(error.contains(told), "{error}");
    }
}
