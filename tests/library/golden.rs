//! Real and small data against numbers from elsewhere. The corpora are other people's and live
//! outside the repository: `RANKRLS_CORPORA` names their folder, and without it the tests that
//! need them say so and pass.

#![allow(
    clippy::unreadable_literal,
    reason = "numbers as they stand in the sources"
)]

use std::path::PathBuf;

use rankrls::data::read::{Format, ReadOptions};
use rankrls::metrics::{Context, Convention, Metric, evaluate};
use rankrls::ridge::{Groups, RidgeProblem, Solver, TrainOptions};
use rankrls::{
    ColumnClasses, Dataset, Kernel, Lambda, Objective, Queries, RankRls, Selection,
    SelectionOptions, StrategyKind, select,
};

fn corpus(path: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os("RANKRLS_CORPORA") else {
        eprintln!("NOT TESTED: set RANKRLS_CORPORA to the folder of corpora to test {path}");
        return None;
    };
    Some(PathBuf::from(folder).join(path))
}

fn load(path: &str, options: &ReadOptions) -> Option<Dataset<'static>> {
    let path = corpus(path)?;
    Some(
        options
            .read(&path)
            .unwrap_or_else(|error| panic!("{error}"))
            .dataset,
    )
}

const EXACT: [StrategyKind; 3] = [
    StrategyKind::Dense,
    StrategyKind::LowMem,
    StrategyKind::Bounded,
];

fn run(data: &Dataset<'_>, strategy: StrategyKind, k: usize, lambda: f64) -> Selection {
    let options = SelectionOptions {
        strategy: Some(strategy),
        ..SelectionOptions::new(k, Lambda::new(lambda).unwrap())
    };
    select(data, &options, &mut ()).unwrap()
}

fn features(selection: &Selection) -> Vec<u32> {
    selection.steps.iter().map(|step| step.feature).collect()
}

fn assert_close(found: f64, expected: f64, relative: f64) {
    assert!(
        (found - expected).abs() <= relative * expected.abs(),
        "{found} for {expected}"
    );
}

/// One run of the authors' implementation.
struct Golden {
    lambda: f64,
    features: [u32; 10],
    errors: [f64; 10],
    weights: [f64; 10],
}

/// RLScore's `GreedyNFoldRLS` (the paper's authors' implementation, leave-query-out, bias 0)
/// on the query-centred column-class representatives of `rlscore-parse/train`; agrees with an
/// independent Algorithm 1 to 1e-9. Columns count from 0, as in `train.features`.
const RLSCORE: [Golden; 3] = [
    Golden {
        lambda: 1.0,
        features: [
            115242, 48016, 53488, 155777, 142236, 34062, 89970, 5969, 156947, 94953,
        ],
        errors: [
            0.3394777829262262,
            0.2890519589717291,
            0.246058604264023,
            0.2152464304437572,
            0.19563414534937948,
            0.17720887601275878,
            0.1593198242820109,
            0.14574562959832715,
            0.13446244142251496,
            0.12473083460998426,
        ],
        weights: [
            0.05129981695725074,
            -0.0739471085441109,
            0.04109870210436527,
            -0.053856459979075,
            0.04776280085476394,
            0.056904799307777296,
            -0.07252032319758775,
            0.05514752403271224,
            0.0642526011230726,
            -0.051569626864268525,
        ],
    },
    Golden {
        lambda: 16.0,
        features: [
            115242, 53488, 89970, 142236, 23271, 139230, 59383, 88317, 24638, 48016,
        ],
        errors: [
            0.3560530519178302,
            0.31078220207771695,
            0.2928252538349207,
            0.27717370341829084,
            0.26815821122323685,
            0.259928848947966,
            0.2551790140250345,
            0.24915533973441187,
            0.24498574953274785,
            0.24117211802012162,
        ],
        weights: [
            0.03688864305367727,
            0.023119908151059222,
            -0.02111974856651276,
            0.022408286283625352,
            0.02123729046599262,
            0.014419112587992325,
            -0.0152130838059052,
            0.013875204866448427,
            0.013914481948486289,
            -0.015874909089674604,
        ],
    },
    Golden {
        lambda: 128.0,
        features: [
            26379, 115242, 142236, 89970, 10500, 69694, 139230, 23271, 56956, 53488,
        ],
        errors: [
            0.4115873432263306,
            0.3766128581210276,
            0.37333125297482317,
            0.3701906957313811,
            0.3678041163246608,
            0.3655263961851851,
            0.36348593177708854,
            0.36147725416961635,
            0.3595168426618867,
            0.3579181695706895,
        ],
        weights: [
            0.009000986844606228,
            0.011776965377375692,
            0.004501467693394096,
            -0.004021151057683935,
            0.004050691241995891,
            0.003428417100186156,
            0.003678854499508613,
            0.004540324051757442,
            0.0032699262513352025,
            0.003265599135497818,
        ],
    },
];

#[test]
fn agrees_with_the_authors_implementation() {
    let options = ReadOptions::new().format(Format::Rlscore);
    let Some(data) = load("rlscore-parse/train.features", &options) else {
        return;
    };
    let summary = ColumnClasses::new(&data).summary();
    assert_eq!(
        (data.rows(), data.queries().len(), data.width()),
        (100, 22, 195_095)
    );
    assert_eq!(data.stored_columns(), 9_312);
    assert_eq!(summary.column_classes, 1_083);
    for golden in &RLSCORE {
        for strategy in EXACT {
            let selection = run(&data, strategy, 10, golden.lambda);
            assert_eq!(features(&selection), golden.features, "{strategy}");
            for (step, expected) in selection.steps.iter().zip(golden.errors) {
                assert_close(step.lqo_error, expected, 1e-8);
            }
            for (&weight, expected) in selection.weights.iter().zip(golden.weights) {
                assert_close(weight, expected, 1e-8);
            }
        }
    }
}

/// One model of the authors' implementation on all features.
struct Trained {
    lambda: f64,
    lqo_cindex: f64,
    test_cindex: f64,
    /// Of the first five rows, centred within their queries.
    predictions: [f64; 5],
}

/// RLScore's `QueryRankRLS` (regparam = `lambda`) with `holdout()` for every query, trained on
/// `rlscore-parse/train` and tested on `rlscore-parse/test`; concordance indices are RLScore's,
/// averaged over queries whose labels differ.
const TRAINED: [Trained; 8] = [
    Trained {
        lambda: 0.03125,
        lqo_cindex: 0.8047420634920635,
        test_cindex: 0.6697619047619048,
        predictions: [
            0.0,
            0.026253095007727434,
            0.009820896171423565,
            -0.014331790381309162,
            -0.02820312721959234,
        ],
    },
    Trained {
        lambda: 0.125,
        lqo_cindex: 0.8047420634920635,
        test_cindex: 0.6697619047619048,
        predictions: [
            0.0,
            0.026140529673753354,
            0.009805307823514131,
            -0.014294168142815644,
            -0.02807379420207179,
        ],
    },
    Trained {
        lambda: 0.5,
        lqo_cindex: 0.8102976190476191,
        test_cindex: 0.6647619047619048,
        predictions: [
            0.0,
            0.025764338876899162,
            0.009713605052716956,
            -0.01411531456814269,
            -0.027620534705607436,
        ],
    },
    Trained {
        lambda: 2.0,
        lqo_cindex: 0.7904563492063492,
        test_cindex: 0.6760119047619048,
        predictions: [
            0.0,
            0.024901363233951146,
            0.009140106355266242,
            -0.013200211849652477,
            -0.02641325505423625,
        ],
    },
    Trained {
        lambda: 8.0,
        lqo_cindex: 0.7766468253968254,
        test_cindex: 0.7214087301587302,
        predictions: [
            0.0,
            0.023991793010268214,
            0.006709859831363574,
            -0.009721063990315415,
            -0.02432122517367502,
        ],
    },
    Trained {
        lambda: 32.0,
        lqo_cindex: 0.7756150793650793,
        test_cindex: 0.7312698412698413,
        predictions: [
            0.0,
            0.022164216779549384,
            0.0020029128114137373,
            -0.0033405876304120063,
            -0.02026377609180363,
        ],
    },
    Trained {
        lambda: 128.0,
        lqo_cindex: 0.7573611111111112,
        test_cindex: 0.7328571428571429,
        predictions: [
            0.0,
            0.015869789631923314,
            -0.001355718563145203,
            0.001112718084331693,
            -0.012614825711178668,
        ],
    },
    Trained {
        lambda: 512.0,
        lqo_cindex: 0.734107142857143,
        test_cindex: 0.6966071428571429,
        predictions: [
            0.0,
            0.007612684850184834,
            -0.0014406004968828545,
            0.001411716204275354,
            -0.005333731334867031,
        ],
    },
];

#[test]
fn trains_on_all_features_as_the_authors_implementation() {
    let options = ReadOptions::new().format(Format::Rlscore);
    let Some(train) = load("rlscore-parse/train.features", &options) else {
        return;
    };
    let options = options.width(train.width());
    let Some(test) = load("rlscore-parse/test.features", &options) else {
        return;
    };
    for solver in Solver::ALL {
        let options = TrainOptions::new().solver(solver);
        let rls = RidgeProblem::new(&train, &options).unwrap();
        for golden in &TRAINED {
            let trained = rls.train(Lambda::new(golden.lambda).unwrap()).unwrap();
            let lqo = trained.leave_query_out().unwrap();
            for (found, expected) in lqo.predictions.iter().zip(golden.predictions) {
                assert!(
                    (found - expected).abs() < 1e-8,
                    "{solver}: {found} for {expected}"
                );
            }
            assert!(
                (lqo.cindex.unwrap() - golden.lqo_cindex).abs() < 1e-12,
                "{solver}"
            );
            let scores = trained.weights().scores(&test);
            let metric = [Metric::Concordance];
            let (labels, queries) = (test.labels(), test.queries());
            let measured = evaluate(&metric, labels, &scores, queries, Convention::Standard);
            let mean = measured.unwrap().metrics[0].mean.unwrap();
            assert!(
                (mean - golden.test_cindex).abs() < 1e-12,
                "{solver}: {mean}"
            );
        }
    }
}

/// A stand-alone implementation of Algorithm 1 (dense, f64) on `ewt-parse/train_2000`:
/// columns as in the svmlight file, lowest of each class; `lambda` 16.
const EWT_FEATURES: [u32; 20] = [
    98144, 77881, 99368, 13505, 6, 92, 22318, 10485, 23286, 148, 10784, 4, 98965, 98034, 188,
    12374, 11956, 111_380, 21684, 93563,
];
const EWT_LAST_ERRORS: [f64; 3] = [6.487799246377643, 6.408247963173719, 6.320148511596452];

/// RLScore's `GlobalRankRLS` and `KfoldRankRLS` on `rlscore-parse/train`, its five folds of rows, and
/// what it does not have by training again: `lambda`, the concordance of folds of rows, of queries
/// as folds and of all pairs; within queries that of all pairs and of five folds of queries.
const FAMILY: [(f64, [f64; 3], [f64; 2]); 3] = [
    (
        0.0009765625,
        [0.9010406707686627, 0.7371230158730159, 0.9096091205211726],
        [0.8647420634920635, 0.785813492063492],
    ),
    (
        1.0,
        [0.9010406707686627, 0.7371230158730159, 0.9096091205211726],
        [0.869404761904762, 0.7842261904761905],
    ),
    (
        64.0,
        [0.8989298381315143, 0.7371230158730159, 0.9096091205211726],
        [0.852281746031746, 0.7686111111111111],
    ),
];

/// The rows of RLScore's first four folds; the others are the fifth.
const FOLDS: [[usize; 20]; 4] = [
    [
        79, 26, 71, 51, 59, 92, 94, 12, 35, 47, 36, 68, 78, 43, 6, 28, 80, 40, 81, 31,
    ],
    [
        83, 69, 84, 63, 72, 52, 45, 5, 58, 50, 27, 19, 67, 57, 14, 33, 93, 1, 15, 73,
    ],
    [
        29, 8, 70, 44, 46, 21, 98, 82, 38, 75, 23, 24, 66, 60, 7, 54, 89, 56, 77, 30,
    ],
    [
        49, 32, 85, 34, 91, 11, 53, 62, 3, 4, 88, 86, 13, 10, 99, 16, 0, 41, 65, 2,
    ],
];

/// Kernel, `lambda`, and concordance of leave-query-out by RLScore's `QueryRankRLS`.
const KERNELS: [(&str, f64, f64); 4] = [
    ("gaussian", 0.0009765625, 0.7483928571428572),
    ("gaussian", 1.0, 0.7972817460317461),
    ("polynomial", 0.0009765625, 0.7972023809523809),
    ("polynomial", 1.0, 0.790952380952381),
];

#[test]
fn the_family_agrees_with_rlscore_on_its_parses() {
    let options = ReadOptions::new().format(Format::Rlscore);
    let Some(train) = load("rlscore-parse/train.features", &options) else {
        return;
    };
    let one = train.as_one_query();
    let fold = |row: usize| FOLDS.iter().position(|rows| rows.contains(&row));
    let folds = Groups::of_rows((0..train.rows()).map(fold)).unwrap();
    let queries = Groups::queries(train.queries().len())
        .rows(train.queries())
        .unwrap();
    let fifths = Groups::of_rows((0..train.rows()).map(|row| train.queries().of_row(row) % 5));
    let fifths = fifths.unwrap();
    let near = |found: Option<f64>, expected: f64| {
        let found = found.unwrap();
        assert!((found - expected).abs() < 1e-12, "{found} for {expected}");
    };
    let options = TrainOptions::new().solver(Solver::Dual);
    let global = RidgeProblem::new(&one, &options.objective(Objective::Global)).unwrap();
    let within = RidgeProblem::new(&train, &options).unwrap();
    for (lambda, [of_rows, of_queries, of_pairs], [pairs, of_fifths]) in FAMILY {
        let lambda = Lambda::new(lambda).unwrap();
        let trained = global.train(lambda).unwrap();
        near(trained.holdout(&folds).unwrap().cindex, of_rows);
        near(trained.holdout(&queries).unwrap().cindex, of_queries);
        near(trained.leave_pair_out(false).unwrap().cindex, of_pairs);
        let trained = within.train(lambda).unwrap();
        near(trained.leave_pair_out(false).unwrap().cindex, pairs);
        near(trained.holdout(&fifths).unwrap().cindex, of_fifths);
    }
    for (kernel, lambda, expected) in KERNELS {
        let kernel = match kernel {
            "gaussian" => Kernel::gaussian(0.00390625).unwrap(),
            _ => Kernel::polynomial(0.015625, 1.0, 2).unwrap(),
        };
        let params = RankRls::params().lambda(lambda).unwrap().kernel(kernel);
        near(
            params.fit(&train).unwrap().holdout().unwrap().cindex,
            expected,
        );
    }
}

#[test]
fn agrees_with_a_stand_alone_algorithm_1_on_parses() {
    let Some(data) = load("ewt-parse/train_2000.svm.zst", &ReadOptions::new()) else {
        return;
    };
    let summary = ColumnClasses::new(&data).summary();
    assert_eq!(
        (data.rows(), data.queries().len(), data.width()),
        (2_000, 108, 118_971)
    );
    assert_eq!(summary.column_classes, 15_550);
    for strategy in EXACT {
        let selection = run(&data, strategy, 20, 16.0);
        let written: Vec<u32> = features(&selection)
            .iter()
            .map(|feature| feature + 1)
            .collect();
        assert_eq!(written, EWT_FEATURES, "{strategy}");
        for (step, expected) in selection.steps[17..].iter().zip(EWT_LAST_ERRORS) {
            assert_close(step.lqo_error, expected, 1e-8);
        }
    }
}

/// Greedy RankRLS paper, tables 2 and 7 to 10, fold 3 of MQ2008: `lambda` and `k` chosen by
/// validation MAP; measures in the LETOR convention.
const LETOR_FEATURES: [u32; 7] = [39, 29, 25, 23, 46, 37, 19];
const LETOR_MEASURES: [(&str, f64); 4] = [
    ("map", 0.4582),
    ("p@10", 0.2363),
    ("mean-ndcg", 0.4787),
    ("ndcg@10", 0.2558),
];

#[test]
fn reproduces_the_papers_fold_of_letor() {
    let options = ReadOptions::new();
    let Some(train) = load("letor-mq2008-fold3/train.txt.zst", &options) else {
        return;
    };
    let Some(test) = load(
        "letor-mq2008-fold3/test.txt.zst",
        &options.width(train.width()),
    ) else {
        return;
    };
    for strategy in EXACT {
        let selection = run(&train, strategy, 7, 8.0);
        let written: Vec<u32> = features(&selection)
            .iter()
            .map(|feature| feature + 1)
            .collect();
        assert_eq!(written, LETOR_FEATURES, "{strategy}");
        let scores = test.scores(&features(&selection), &selection.weights);
        for (name, expected) in LETOR_MEASURES {
            let metric: Metric = name.parse().unwrap();
            let result = evaluate(
                &[metric],
                test.labels(),
                &scores,
                test.queries(),
                Convention::Letor,
            );
            let mean = result.unwrap().get(metric).unwrap().mean.unwrap();
            assert!(
                (mean - expected).abs() <= 0.5e-4,
                "{name}: {mean} for {expected}"
            );
        }
    }
}

/// Ten rows of three columns, made up.
const ROWS: [[f64; 3]; 10] = [
    [1.49, -0.71, -1.8],
    [0.19, -0.45, -1.67],
    [1.11, -2.23, -1.17],
    [1.5, -0.42, 1.1],
    [0.49, -1.12, 1.22],
    [0.9, 1.26, 0.19],
    [-0.7, -0.44, 0.6],
    [-1.06, -0.28, -0.64],
    [-0.26, -1.11, -0.2],
    [-0.32, 0.34, 1.54],
];
const LABELS: [f64; 10] = [1.0, -0.3, 0.6, -0.5, 0.7, -1.5, -0.8, 0.6, 1.4, 0.7];

/// These rows in queries of the given sizes.
fn rows_in_queries(sizes: &[usize]) -> Dataset<'static> {
    let values = (0..3).flat_map(|column| ROWS.map(|row| row[column]));
    Dataset::from_csc(
        vec![0, 10, 20, 30],
        (0..3).flat_map(|_| 0..10).collect::<Vec<u32>>(),
        values.collect::<Vec<f64>>(),
        LABELS.to_vec(),
        Queries::from_sizes(sizes).unwrap(),
    )
    .unwrap()
}

/// Weights of RLScore's `GlobalRankRLS` with regparam `lambda`, equal to those of a QR
/// decomposition of all 45 pairs. Its objective sums over all pairs, so that it is RankRLS on one
/// query with the ridge parameter `lambda / 10`.
const GLOBAL: [(f64, [f64; 3]); 4] = [
    (
        0.03125,
        [
            -0.228747017239984,
            -0.617012362543298,
            -0.020634696215773744,
        ],
    ),
    (
        0.5,
        [
            -0.22682473112149998,
            -0.6126528247559233,
            -0.021380200286482402,
        ],
    ),
    (
        2.0,
        [
            -0.22086953083637575,
            -0.599127937925176,
            -0.02365300189524526,
        ],
    ),
    (
        32.0,
        [
            -0.14298140382632438,
            -0.4181981495173888,
            -0.046997566185248835,
        ],
    ),
];

#[test]
fn one_query_is_the_global_ranking_of_the_authors_implementation() {
    let data = rows_in_queries(&[10]);
    for solver in Solver::ALL {
        let options = TrainOptions::new().solver(solver);
        let problem = RidgeProblem::new(&data, &options).unwrap();
        for (lambda, expected) in GLOBAL {
            let trained = problem.train(Lambda::new(lambda / 10.0).unwrap()).unwrap();
            for (&weight, expected) in trained.weights().values.iter().zip(expected) {
                assert_close(weight, expected, 1e-9);
            }
        }
    }
}

/// Scores by models of RLScore's `QueryRankRLS` (regparam = `lambda`) that were retrained without
/// the rows, in queries of 4, 3, 2 and 1 row; equal to retraining from explicit pairs by QR.
struct HeldOut {
    lambda: f64,
    /// Every query on its own.
    queries: [f64; 10],
    /// The first and the third query together, and the other two.
    folds: [f64; 10],
}

const HELD_OUT: [HeldOut; 3] = [
    HeldOut {
        lambda: 0.03125,
        queries: [
            -0.9384637223569497,
            -1.3154498572549842,
            0.3112589883190144,
            1.6877765259740394,
            0.06933592352440913,
            0.4842067478363335,
            -0.8513600906016222,
            -0.1589086635932537,
            0.7455543939127766,
            -0.7791634249845832,
        ],
        folds: [
            0.4257404206479858,
            -0.3876502417860381,
            1.7380391406082156,
            1.660998902273174,
            0.06933592352440913,
            0.4842067478363335,
            -0.8513600906016222,
            -0.6520867231359205,
            0.6356311262690917,
            -1.1193258247465971,
        ],
    },
    HeldOut {
        lambda: 1.0,
        queries: [
            0.14151743110970824,
            -0.24603827275839713,
            1.1394553317983147,
            0.9247168546537607,
            0.09468923537099275,
            0.051047666239050694,
            -0.409375076432598,
            -0.04321775657668307,
            0.6208493962255459,
            -0.5777130409780799,
        ],
        folds: [
            0.139281562941774,
            -0.24621070137077775,
            1.1361965361181992,
            0.9218468606386129,
            0.09468923537099275,
            0.051047666239050694,
            -0.409375076432598,
            -0.2754434665606336,
            0.5162349667563902,
            -0.7245230931789718,
        ],
    },
    HeldOut {
        lambda: 32.0,
        queries: [
            0.0005341813943880235,
            -0.02603534808335177,
            0.14001916583698099,
            0.08712667853915647,
            -0.0020868413407837297,
            -0.030478920338986724,
            -0.028955407183438264,
            0.0226887205525445,
            0.10266468663194343,
            -0.06535280238917365,
        ],
        folds: [
            -0.01045739550419392,
            -0.02397511379205369,
            0.11655667629576329,
            0.06538107380469721,
            -0.0020868413407837297,
            -0.030478920338986724,
            -0.028955407183438264,
            -0.001409534298799358,
            0.07088210137587173,
            -0.08907833318880465,
        ],
    },
];

#[test]
fn queries_are_held_out_as_by_the_authors_implementation() {
    let data = rows_in_queries(&[4, 3, 2, 1]);
    let folds = Groups::new(vec![vec![0, 2], vec![1, 3]], 4).unwrap();
    for solver in Solver::ALL {
        let options = TrainOptions::new().solver(solver);
        let problem = RidgeProblem::new(&data, &options).unwrap();
        for golden in &HELD_OUT {
            let trained = problem.train(Lambda::new(golden.lambda).unwrap()).unwrap();
            for (groups, scores) in [
                (&Groups::queries(4), golden.queries),
                (&folds, golden.folds),
            ] {
                let found = trained.holdout(groups).unwrap();
                for range in data.queries().ranges() {
                    let own = &scores[range.clone()];
                    let mean = own.iter().sum::<f64>() / own.len() as f64;
                    for (found, score) in found.predictions[range].iter().zip(own) {
                        let expected = score - mean;
                        assert!(
                            (found - expected).abs() < 1e-8,
                            "{solver}: {found} for {expected}"
                        );
                    }
                }
            }
        }
    }
}

/// A query with grades up to 4, and its measures by brute force over all orders of tied scores.
struct Graded {
    grades: &'static [f64],
    scores: &'static [f64],
    err: f64,
    err_in_input_order: f64,
    ndcg_3: Option<f64>,
    ndcg_10: Option<f64>,
}

const GRADED: [Graded; 6] = [
    Graded {
        grades: &[4.0, 0.0, 3.0, 1.0, 2.0],
        scores: &[0.9, 0.8, 0.7, 0.6, 0.5],
        err: 0.9483998616536459,
        err_in_input_order: 0.9483998616536459,
        ndcg_3: Some(0.8844688490435825),
        ndcg_10: Some(0.9411655511901171),
    },
    Graded {
        grades: &[0.0, 1.0, 2.0],
        scores: &[0.9, 0.9, 0.1],
        err: 0.10546875,
        err_in_input_order: 0.08984375,
        ndcg_3: Some(0.6377057761880933),
        ndcg_10: Some(0.6377057761880933),
    },
    Graded {
        grades: &[0.0, 0.0],
        scores: &[1.0, 0.5],
        err: 0.0,
        err_in_input_order: 0.0,
        ndcg_3: None,
        ndcg_10: None,
    },
    Graded {
        grades: &[2.0, 0.0, 1.0],
        scores: &[0.9, 0.8, 0.7],
        err: 0.20442708333333334,
        err_in_input_order: 0.20442708333333334,
        ndcg_3: Some(0.9639404333166532),
        ndcg_10: Some(0.9639404333166532),
    },
    Graded {
        grades: &[0.0, 4.0],
        scores: &[1.0, 1.0],
        err: 0.703125,
        err_in_input_order: 0.46875,
        ndcg_3: Some(0.8154648767857288),
        ndcg_10: Some(0.8154648767857288),
    },
    Graded {
        grades: &[4.0, 4.0, 4.0, 3.0, 3.0, 2.0, 2.0, 1.0, 1.0, 0.0, 0.0, 0.0],
        scores: &[3.0, 12.0, 5.0, 5.0, 1.0, 9.0, 9.0, 9.0, 2.0, 4.0, 11.0, 5.0],
        err: 0.9496306361326554,
        err_in_input_order: 0.9506282535949802,
        ndcg_3: Some(0.5057781824911936),
        ndcg_10: Some(0.7376503041163129),
    },
];

#[test]
fn grades_up_to_4_are_measured_as_by_brute_force() {
    let context = Context::of(&[4.0]);
    for (number, query) in GRADED.iter().enumerate() {
        for (name, convention, expected) in [
            ("err", Convention::Standard, Some(query.err)),
            ("err", Convention::Letor, Some(query.err_in_input_order)),
            ("ndcg@3", Convention::Standard, query.ndcg_3),
            ("ndcg@10", Convention::Standard, query.ndcg_10),
        ] {
            let metric: Metric = name.parse().unwrap();
            let found = metric.query(query.grades, query.scores, convention, context);
            let close = match (found, expected) {
                (Some(found), Some(expected)) => (found - expected).abs() < 1e-14,
                (found, expected) => found == expected,
            };
            assert!(
                close,
                "query {number}: {name} is {found:?}, not {expected:?}"
            );
        }
    }
}
