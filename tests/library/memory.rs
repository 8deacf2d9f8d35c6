//! Held memory counts towards every limit.

use rankrls::data::sample;
use rankrls::greedy::job::{plan, select, unwatched};
use rankrls::memory::Memory;
use rankrls::model::FeatureChoice;
use rankrls::ridge::{Basis, Kernel, Preference, Preferences, RankRls};
use rankrls::tune::{self, Tune, Tuning, choose, unwatched_trials};
use rankrls::{
    ColumnClasses, Dataset, GreedyRankRls, HoldOut, Kind, Lambda, Model, Objective, Queries,
    Result, Solver, StrategyKind,
};

const HELD: u64 = 12_345;

/// The bytes that a refused selection needs.
fn bytes_needed(error: &rankrls::Error) -> u64 {
    let text = error.to_string();
    let (_, behind) = text.split_once(" need").expect("what it needs");
    let (bytes, _) = behind.split_once(" bytes").expect("a size");
    let bytes = bytes.trim_start_matches('s').trim_start();
    bytes.parse().expect("a number of bytes")
}

fn lambda() -> Lambda {
    Lambda::new(1.0).unwrap()
}

/// The least limit under which `run` gets its memory.
fn least(run: &dyn Fn(Memory) -> Result<()>) -> u64 {
    let mut limit = 1;
    loop {
        match run(Memory::limit(limit)) {
            Ok(()) => return limit,
            Err(error) => {
                assert_eq!(error.kind(), Kind::Memory, "{error}");
                let needed = bytes_needed(&error);
                assert!(needed > limit, "{needed} of {limit}");
                limit = needed;
            }
        }
    }
}

/// The least limit without `HELD` bytes. Checks that holding them raises it by just as much.
fn counts_what_is_held(name: &str, run: &dyn Fn(Memory) -> Result<()>) -> u64 {
    let limit = least(run);
    let refused = run(Memory::limit(limit).holding(1)).unwrap_err();
    let text = refused.to_string();
    assert!(text.contains("are allowed"), "{name}: {text}");
    assert_eq!(
        least(&|memory| run(memory.holding(HELD))),
        limit + HELD,
        "{name}"
    );
    limit
}

/// The least limits with known classes and without, if `grid` on `data` uses them, and the classes.
fn trained(name: &str, grid: &RankRls, data: &Dataset<'_>) -> (u64, u64, ColumnClasses) {
    let classes = grid.column_classes(data).unwrap();
    let by = |known: Option<&ColumnClasses>| {
        counts_what_is_held(name, &|memory| {
            limited(grid, memory).train(data, known).map(drop)
        })
    };
    (by(None), by(Some(&classes)), classes)
}

fn limited(params: &RankRls, memory: Memory) -> RankRls {
    RankRls {
        memory,
        ..params.clone()
    }
}

fn grid(objective: Objective) -> RankRls {
    RankRls {
        lambdas: lambda().into(),
        holdout: HoldOut::Nothing,
        objective,
        solver: Some(Solver::Dual),
        ..RankRls::default()
    }
}

fn preferences(data: &Dataset<'_>) -> Preferences {
    let first = |other| Preference {
        preferred: 0,
        other,
        magnitude: 1.0,
        weight: 1.0,
    };
    Preferences::new((1..20).map(first).collect(), data).unwrap()
}

#[test]
fn models_of_columns_count_it_under_every_objective() {
    let data = sample::train();
    for objective in Objective::ALL {
        let mut grid = grid(objective);
        grid.preferences = (objective == Objective::Pairs).then(|| preferences(&data));
        let (found, given, classes) = trained(objective.name(), &grid, &data);
        // Known classes are used, and not found again.
        assert_eq!(found, given, "{objective}");
        assert!(found > data.memory() + classes.memory(), "{objective}");
    }
}

#[test]
fn folds_of_preferences_count() {
    let data = sample::train();
    let least_of = |holdout: &str| {
        let grid = RankRls {
            preferences: Some(preferences(&data)),
            holdout: holdout.parse().unwrap(),
            ..grid(Objective::Pairs)
        };
        trained(holdout, &grid, &data).0
    };
    assert!(least_of("folds:2") > least_of("lpo"));
}

#[test]
fn kernels_and_reduced_sets_count_it() {
    let data = sample::train();
    for objective in Objective::ALL {
        let mut grid = grid(objective);
        grid.preferences = (objective == Objective::Pairs).then(|| preferences(&data));
        grid.kernels = vec![Kernel::gaussian(0.01).unwrap()];
        grid.solver = None;
        let (without, with, classes) = trained("kernel", &grid, &data);
        assert_eq!(with, without + classes.memory(), "{objective}");
        let beside = without - data.memory();
        let values = 8 * (data.rows() as u64).pow(2);
        // The system of a few preferences is small for any number of rows.
        let few = objective == Objective::Pairs;
        assert_eq!(beside < values + values / 10, few, "{objective}: {beside}");
    }
    let kernel = Kernel::gaussian(0.01).unwrap();
    let basis: Vec<usize> = (0..data.rows()).step_by(50).collect();
    let grid = RankRls {
        kernels: vec![kernel],
        basis: Some(Basis::Given(basis)),
        ..grid(Objective::Query)
    };
    let (without, with, classes) = trained("basis", &grid, &data);
    assert_eq!(with, without + classes.memory());
    // The mapped data are in use.
    assert!(without > data.memory());
}

/// A given kernel is checked as a whole, for any basis.
#[test]
fn a_basis_of_a_given_kernel_counts_all_its_values() {
    const ROWS: usize = 120;
    let near = |(row, other): (usize, usize)| 0.5_f64.powi(row.abs_diff(other).try_into().unwrap());
    let values = ndarray::Array2::from_shape_fn((ROWS, ROWS), near);
    let labels: Vec<f64> = (0..ROWS).map(|row| (row % 7) as f64).collect();
    let queries = Queries::from_sizes(&[6; ROWS / 6]).unwrap();
    let data = Dataset::from_dense(values.view(), labels, queries).unwrap();
    let least_of = |kernel| {
        let grid = RankRls {
            kernels: vec![kernel],
            basis: Some(Basis::Given((0..ROWS).step_by(6).collect())),
            solver: None,
            ..grid(Objective::Query)
        };
        trained("basis", &grid, &data).0
    };
    let more = least_of(Kernel::PRECOMPUTED) - least_of(Kernel::gaussian(0.01).unwrap());
    assert!(more >= 8 * (ROWS * ROWS) as u64, "{more}");
}

#[test]
fn selections_and_their_plans_count_it() {
    let data = sample::train();
    let options = |memory| GreedyRankRls {
        strategy: StrategyKind::Bounded,
        memory,
        ..GreedyRankRls::new(3, lambda())
    };
    let candidates = options(Memory::default()).candidates(&data).unwrap();
    let needed = |memory: Memory| match plan(&candidates, &data, &options(memory)) {
        Err(error) => bytes_needed(&error),
        other => panic!("{other:?}"),
    };
    let limit = needed(Memory::limit(1));
    assert_eq!(needed(Memory::limit(1).holding(HELD)), limit + HELD);
    let rows = data.project(&[]).unwrap();
    let planned = plan(&candidates, &rows, &options(Memory::limit(limit))).unwrap();
    assert_eq!(planned.spare, data.memory() - rows.memory());
    let run = |memory| select(&data, &options(memory), &mut unwatched);
    assert!(run(Memory::limit(limit)).is_ok());
    assert!(run(Memory::limit(limit + HELD).holding(HELD)).is_ok());
    let refused = run(Memory::limit(limit).holding(1)).unwrap_err();
    assert_eq!(refused.kind(), Kind::Memory, "{refused}");
}

#[test]
fn grids_count_it_with_data_and_validation() {
    let (data, test) = (sample::train(), sample::test());
    let tunes = |memory, validation: Option<&Dataset<'_>>| {
        let selection = GreedyRankRls {
            strategy: StrategyKind::Bounded,
            memory,
            ..GreedyRankRls::new(2, None)
        };
        let options = Tune::new(selection, lambda());
        let tuning = Tuning {
            validation,
            ..Tuning::new(&data, &options)
        };
        match tuning.run(&mut tune::unwatched_events) {
            Ok(_) => true,
            Err(error) if error.to_string().contains("are allowed") => false,
            Err(error) => panic!("{error}"),
        }
    };
    let fits = |limit: u64| tunes(Memory::limit(limit), None);
    // Find the least limit by bisection.
    let (mut below, mut limit) = (0, 64 << 20);
    while limit - below > 1 {
        let middle = below + (limit - below) / 2;
        if fits(middle) {
            limit = middle;
        } else {
            below = middle;
        }
    }
    assert!(!tunes(Memory::limit(limit).holding(1), None));
    assert!(tunes(Memory::limit(limit + HELD).holding(HELD), None));
    let more = limit + test.memory();
    assert!(tunes(Memory::limit(more), Some(&test)));
    assert!(!tunes(Memory::limit(more - 1), Some(&test)));
}

#[test]
fn a_choice_counts_it() {
    let data = sample::train();
    let chosen = |memory| {
        let options = GreedyRankRls {
            memory,
            ..GreedyRankRls::new(1, None)
        };
        choose(&options, None, &data, &mut unwatched_trials).unwrap()
    };
    let limit = 1 << 30;
    let (_, choice) = chosen(Memory::limit(limit));
    assert_eq!(choice.unwrap().reason, None);
    // Without memory for folds, nothing is chosen, and a selection that fits is not refused.
    let (options, choice) = chosen(Memory::limit(limit).holding(limit));
    assert_eq!(options.lambda, Some("1/16u".parse().unwrap()));
    let reason = choice.unwrap().reason.unwrap();
    assert!(reason.contains("are allowed"), "{reason}");
}

/// A teacher on all data may take more than the folds' teachers. Then the exact strategy takes its place.
#[test]
fn a_choice_that_does_not_fit_is_left_out() {
    // A teacher has numbers for each row, and the columns are few.
    let first: Vec<u32> = (0..300).collect();
    let data = sample::train().features_subset(&first).unwrap();
    let (found, choice) = choose(
        &GreedyRankRls::new(3, None),
        None,
        &data,
        &mut unwatched_trials,
    )
    .unwrap();
    let choice = choice.unwrap();
    let [exact, _] = &choice.strategy[..] else {
        panic!("{choice:?}")
    };
    let by = |strategy, memory| GreedyRankRls {
        strategy,
        memory,
        ..found.clone()
    };
    let candidates = found.candidates(&data).unwrap();
    let needed =
        |strategy| least(&|memory| plan(&candidates, &data, &by(strategy, memory)).map(drop));
    let distil = StrategyKind::Distil;
    let (most, less) = (needed(distil), needed(StrategyKind::Auto));
    assert!(most > less, "{most} {less}");
    let afforded = |limit| {
        let (mut choice, asked) = (choice.clone(), by(distil, Memory::limit(limit)));
        let options = tune::affordable(asked, Some(&mut choice), &candidates, &data);
        (options, choice)
    };
    assert_eq!(afforded(most).0.strategy, distil);
    let (options, told) = afforded(most - 1);
    assert_eq!(
        (options.strategy, options.lambda),
        (StrategyKind::Auto, exact.lambda)
    );
    let reason = told.strategy[1].reason.as_ref().unwrap();
    assert!(reason.contains("are allowed"), "{reason}");
    assert!(told.strategy[0].chosen && !told.strategy[1].chosen);
    assert!(plan(&candidates, &data, &options).is_ok());
    // In a given list, no strategy replaces another.
    let mut listed = choice.clone();
    listed.strategy.reverse();
    let asked = by(distil, Memory::limit(most - 1));
    let options = tune::affordable(asked, Some(&mut listed), &candidates, &data);
    assert_eq!(options.strategy, distil);
    assert!(listed.strategy.iter().all(|one| one.reason.is_none()));
}

/// Every way to ask for classes refuses them before they take memory.
#[test]
fn every_way_to_fit_looks_at_the_limit_before_classes_are_made() {
    let data = sample::train();
    let memory = Memory::limit(data.memory() + 1000);
    let selection = GreedyRankRls {
        memory,
        ..GreedyRankRls::new(3, lambda())
    };
    let tune = Tune::new(selection.clone(), lambda());
    let train = RankRls {
        memory,
        ..grid(Objective::Query)
    };
    let refusals = [
        selection.fit(&data).map(drop),
        select(&data, &selection, &mut unwatched).map(drop),
        tune.fit(&data).map(drop),
        Tuning::new(&data, &tune)
            .run(&mut tune::unwatched_events)
            .map(drop),
        train.fit(&data).map(drop),
        train.train(&data, None).map(drop),
    ];
    for refused in refusals {
        let error = refused.unwrap_err();
        assert_eq!(error.kind(), Kind::Memory, "{error}");
        let text = error.to_string();
        assert!(text.starts_with("the classes of columns need"), "{text}");
    }
}

/// A model of all columns takes more than its weights.
#[test]
fn a_trained_model_counts() {
    let data = sample::train();
    let params = grid(Objective::Query);
    let training = params.train(&data, None).unwrap();
    let summary = params.column_classes(&data).unwrap().summary();
    let within = |memory| {
        let params = limited(&params, memory);
        Model::from_training(&training, FeatureChoice::All, &data, &summary, &params)
    };
    let limit = counts_what_is_held("model", &|memory| within(memory).map(drop));
    let model = within(Memory::limit(limit)).unwrap();
    assert!(limit >= data.memory() + model.memory(), "{limit}");
}
