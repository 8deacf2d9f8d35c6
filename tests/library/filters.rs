//! FS-ED against densities and divergences of SciPy (`gaussian_kde`, `jensenshannon`) and NDCG of
//! `rankrls evaluate`, by a reference implementation in NumPy.

#![allow(
    clippy::unreadable_literal,
    reason = "numbers as they stand in the sources"
)]

use std::path::PathBuf;

use rankrls::data::DataHash;
use rankrls::data::read::ReadOptions;
use rankrls::greedy::{ExpectedDivergence, plan, resume_among};
use rankrls::tune::{Evidence, TuneOptions, Tuning};
use rankrls::{
    ColumnClasses, Dataset, Lambda, Queries, SelectError, SelectionOptions, StrategyKind, select,
};

const CLOSE: f64 = 1e-10;

fn assert_close(found: f64, expected: f64) {
    assert!((found - expected).abs() <= CLOSE, "{found} for {expected}");
}

/// Feature from 1, `s`, divergences of the grades 0-1, 0-2 and 1-2, bandwidth of grade 0, `psi`: of
/// `letor-mq2008-fold3`, training rows with validation rows.
#[rustfmt::skip]
const LETOR: [(u32, f64, [f64; 3], f64, f64); 40] = [
    (1, 0.551575337319797, [0.03140292850685822, 0.04656695445637509, 0.0023786577309006258], 0.015176267722801182, 0.6784908324703061),
    (2, 0.5713094040688267, [0.007339471939312329, 0.022825747927285287, 0.0061506869612301725], 0.004634997590021316, 0.6304510588239398),
    (3, 0.5548285527294666, [0.005691588386371838, 0.020488395199896724, 0.006178039306746286], 0.03823494485435001, 0.6076749708223782),
    (4, 0.49787920592255647, [0.0009522134896722398, 0.0032409652484823204, 0.0009934632599899428], 0.0458104058212171, 0.5063068131691832),
    (5, 0.554382142874489, [0.03234558945956787, 0.048481723136719515, 0.002824364001536289], 0.015291431491866257, 0.6865155426090321),
    (11, 0.5752040256396475, [0.014061605745897912, 0.024657942446810698, 0.0019609816793311934], 0.05140980671795446, 0.6405424979584979),
    (12, 0.5719900322107483, [0.009945900826641088, 0.02805507974218466, 0.006802503359270729], 0.004581373026238527, 0.6448485958810294),
    (13, 0.5592877628821444, [0.008967580095341694, 0.02546535247374555, 0.005563381880367379], 0.03695690230960596, 0.6247494298053446),
    (14, 0.5007396174183166, [0.0007236549038224945, 0.002939385167935531, 0.001218322327747018], 0.04329362055592573, 0.5085603649857572),
    (15, 0.5768154908677868, [0.015203061388014999, 0.027292679039995424, 0.0023201055429492926], 0.05138607474521381, 0.6489240158787419),
    (16, 0.5129312781802535, [0.016073239669279205, 0.021180251920999593, 0.0007031759501136543], 0.013919961765943421, 0.5720681976416455),
    (17, 0.5164566487838566, [0.004206837775246998, 0.010756751026159153, 0.0019094777375728857], 0.031037782812529398, 0.5440864663489947),
    (18, 0.4780672049893342, [0.002288222281768489, 0.008125955650370912, 0.00300689149331748], 0.04537669269683435, 0.499614230065162),
    (19, 0.49196273085912795, [0.0011870697472205996, 0.0021420784785766995, 0.0008583892088997374], 0.040966069696421074, 0.4982923467724017),
    (20, 0.5126117880054234, [0.01623260934703799, 0.02123800110283139, 0.0006937441501755877], 0.013927302882696573, 0.5720141437082997),
    (21, 0.6706464099128571, [0.0764148324205534, 0.12324144232960987, 0.013195095892462826], 0.04730719171952978, 1.006739222885093),
    (22, 0.6761667548614478, [0.06209783606028621, 0.09861031929062966, 0.013044064428294755], 0.04538655051299024, 0.9485292939312882),
    (23, 0.7016381384794521, [0.08040839271574635, 0.12543214196186941, 0.01399014709199337], 0.04606010096879717, 1.0469009622109307),
    (24, 0.6728377506290896, [0.06140759873235703, 0.09371970300338277, 0.008062705959746862], 0.04579755793990349, 0.929747461327959),
    (25, 0.5694644722134712, [0.013984903622889682, 0.02450161378710003, 0.002630673737835572], 0.011886013605523257, 0.6350832771483965),
    (26, 0.5581966491278648, [0.0036838378460966447, 0.009515353267789114, 0.0016319202399415374], 0.042105875770139155, 0.5825431137494812),
    (27, 0.5590810402434472, [0.0025644348421744786, 0.007098624432414211, 0.001348195760234074], 0.040717019089200626, 0.5771909197106841),
    (28, 0.566090675891473, [0.0025592754928448584, 0.010234417233639308, 0.0029197851317211082], 0.04055945869048812, 0.5920385709833176),
    (29, 0.5499958335957793, [0.009019441167069946, 0.02540176275778989, 0.005583896552657496], 0.0383138618594464, 0.6154026968310865),
    (30, 0.5606351767246153, [0.014092968199252279, 0.0284595758944448, 0.004628229777479767], 0.01257418594865662, 0.6362755264902369),
    (31, 0.5585831263908091, [0.024014004371450952, 0.036986936565669384, 0.004427546982771752], 0.0013483566786453315, 0.6609985508763706),
    (32, 0.5600734734099682, [0.013817320344495761, 0.030661796408582957, 0.006001065011339414], 0.009484894902496228, 0.6412154515829692),
    (33, 0.5062485410408475, [0.0007789919742048841, 0.002879031033329367, 0.0010125334451729175], 0.043329407937506205, 0.513798128526884),
    (34, 0.5037737160959179, [0.0006789338417188633, 0.002523636048432149, 0.0008194335392434258], 0.03414470799824484, 0.5103193555737445),
    (35, 0.5023526956354923, [0.00033231589676139183, 0.0016949007574194978, 0.000718573954543729], 0.035569653198069776, 0.5067933870016365),
    (36, 0.5036199888115509, [0.000985621483070665, 0.002833244924662085, 0.0007677503088232784], 0.03387827384223245, 0.511039850452769),
    (37, 0.6662442607444473, [0.07588903578323877, 0.12328180012435733, 0.012505321810462865], 0.04722298236426514, 1.0012022185868636),
    (38, 0.6806715037990662, [0.06398944754936162, 0.10239804360294247, 0.012783572183324442], 0.04537639528685589, 0.9622406107376371),
    (39, 0.707233088060299, [0.08118581074380543, 0.12777841148773972, 0.014829659527022046], 0.045878199324750096, 1.0588053813066058),
    (40, 0.6759550669539982, [0.0628170862736063, 0.09904274242555267, 0.009823707869667945], 0.04587781371933441, 0.9466813459483778),
    (41, 0.47562522766559523, [0.0037947389550880392, 0.004406740565469073, 0.0004379808113090009], 0.04506408558208205, 0.4886714285629304),
    (42, 0.4798291630441137, [0.00112351014153474, 0.0012362711889855067, 0.00041127078816974544], 0.038927648042979456, 0.4838364863517892),
    (44, 0.49063481221073557, [0.00832990762491194, 0.03156988654632052, 0.011482345535139316], 0.00501174599589206, 0.5735868384634278),
    (45, 0.4980642358318615, [0.0031687142832847806, 0.017412148188850687, 0.007361276307643623], 0.00991796343845756, 0.5434185228004913),
    (46, 0.46978733913572396, [0.001903032638904245, 0.015421974140842601, 0.007576929753147226], 0.022491117042570764, 0.5101112498094607),
];

/// The features by falling `psi`.
const RANKING: [u32; 40] = [
    39, 23, 21, 37, 38, 22, 40, 24, 5, 1, 31, 15, 12, 32, 11, 30, 25, 2, 13, 29, 3, 28, 26, 27, 44,
    16, 20, 17, 45, 33, 36, 34, 46, 14, 35, 4, 18, 19, 41, 42,
];

fn letor() -> Option<(Dataset<'static>, Dataset<'static>)> {
    let Some(folder) = std::env::var_os("RANKRLS_CORPORA") else {
        eprintln!(
            "NOT TESTED: set RANKRLS_CORPORA to the folder of corpora to test fs-ed on LETOR"
        );
        return None;
    };
    let read = |name: &str| {
        let path = PathBuf::from(&folder).join("letor-mq2008-fold3").join(name);
        let loaded = ReadOptions::new().width(46).read(&path);
        loaded.unwrap_or_else(|error| panic!("{error}")).dataset
    };
    Some((read("train.txt.zst"), read("vali.txt.zst")))
}

#[test]
fn features_of_letor_are_judged_as_by_scipy() {
    let Some((train, validation)) = letor() else {
        return;
    };
    let train = train.with_validation(validation);
    let filter = ExpectedDivergence::new(&train).unwrap();
    let mut rest: Vec<u32> = (1..=46).collect();
    for (feature, s, pairs, bandwidth, psi) in LETOR {
        let feature = feature - 1;
        let [descending, ascending] = filter.ndcg(feature);
        assert_close(descending.max(ascending), s);
        let divergences = filter.divergences(feature).unwrap();
        assert_eq!(divergences.len(), pairs.len());
        for (found, expected) in divergences.into_iter().zip(pairs) {
            assert_close(found, expected);
        }
        let bandwidths = filter.bandwidths(feature).unwrap();
        assert_close(bandwidths[0].unwrap(), bandwidth);
        assert_close(filter.psi(feature).unwrap(), psi);
        rest.retain(|&other| other != feature + 1);
    }
    assert!(rest.iter().all(|feature| filter.psi(feature - 1).is_none()));
    let options = SelectionOptions {
        strategy: Some(StrategyKind::FsEd),
        ..SelectionOptions::new(46, Lambda::new(8.0).unwrap())
    };
    let selected = select(&train, &options, &mut ()).unwrap().features();
    assert_eq!(selected, RANKING.map(|feature| feature - 1));
}

#[test]
fn a_feature_of_eight_rows_is_judged_as_by_hand() {
    let x = ndarray::arr2(&[[0.1], [0.4], [0.35], [0.8], [0.9], [0.6], [0.2], [0.5]]);
    let labels = [0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 0.0, 1.0];
    let queries = || Queries::from_sizes(&[4, 4]).unwrap();
    let x_validation = ndarray::arr2(&[[0.15], [0.45], [0.7], [0.95]]);
    let validation = Dataset::new(&x_validation, &[0.0; 4], Queries::single(4).unwrap()).unwrap();
    let train = Dataset::new(&x, &labels, queries()).unwrap();
    let train = train.with_validation(validation.queries_subset(&[0]).unwrap());
    let filter = ExpectedDivergence::new(&train).unwrap();
    for (found, expected) in filter.divergences(0).unwrap().into_iter().zip([
        0.3594119662278672,
        0.5280006028101307,
        0.11211815862537075,
    ]) {
        assert!((found - expected).abs() <= 1e-14, "{found} for {expected}");
    }
    for (found, expected) in filter.bandwidths(0).unwrap().into_iter().zip([
        0.0939140540971457,
        0.08770472092908721,
        0.08770472092908707,
    ]) {
        assert!(
            (found.unwrap() - expected).abs() <= 1e-15,
            "{found:?} for {expected}"
        );
    }
    let [descending, ascending] = filter.ndcg(0);
    assert_close(descending, 1.0);
    assert_close(ascending, 0.5327027505845986);
    assert_close(filter.psi(0).unwrap(), 2.5275313304734994);
}

/// Noise in queries of five rows, three grades, some columns nearly all zeros.
fn graded() -> Dataset<'static> {
    let mut noise = 7u64;
    let mut next = |below: u64| {
        noise = noise
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (noise >> 33) % below
    };
    let (rows, columns) = (200, 30);
    let mut x = ndarray::Array2::zeros((rows, columns));
    for ((_, column), value) in x.indexed_iter_mut() {
        let rare = column % 3 == 0;
        if !rare || next(40) == 0 {
            *value = next(1000) as f64 / 100.0 - 3.0;
        }
    }
    let labels: Vec<f64> = (0..rows).map(|_| next(3) as f64).collect();
    let queries = Queries::from_sizes(&vec![5; rows / 5]).unwrap();
    Dataset::new(&x, &labels, queries)
        .unwrap()
        .queries_subset(&(0..40).collect::<Vec<_>>())
        .unwrap()
}

fn options(k: usize) -> SelectionOptions {
    SelectionOptions {
        strategy: Some(StrategyKind::FsEd),
        ..SelectionOptions::new(k, Lambda::new(1.0).unwrap())
    }
}

#[test]
fn features_come_by_falling_psi_and_the_steps_are_taken_again() {
    let data = graded();
    let filter = ExpectedDivergence::new(&data).unwrap();
    // With many zeros, and with few.
    let entries = |feature: usize| data.column(feature).rows.len();
    assert!(entries(0) < 10 && entries(1) > 10);
    let selection = select(&data, &options(30), &mut ()).unwrap();
    let psi: Vec<f64> = selection
        .features()
        .iter()
        .map(|&feature| filter.psi(feature).unwrap())
        .collect();
    assert_eq!(psi.len(), 30);
    assert!(psi.windows(2).all(|pair| pair[0] >= pair[1] - 1e-9));
    let evaluated: Vec<usize> = selection.steps.iter().map(|step| step.evaluated).collect();
    assert_eq!(evaluated[..2], [30, 0]);
    let candidates = options(30).candidates(&data);
    for taken in [1, 15, 30] {
        let steps = &selection.steps[..taken];
        let again = resume_among(&candidates, &data, 0, &options(30), steps, &mut ()).unwrap();
        assert_eq!(again, selection);
    }
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        let again = pool.install(|| select(&data, &options(30), &mut ()).unwrap());
        assert_eq!(again, selection);
    }
}

#[test]
fn a_column_is_judged_the_same_beside_others() {
    let data = graded();
    let all = select(&data, &options(30), &mut ()).unwrap().features();
    let part: Vec<u32> = (0..30).filter(|feature| feature % 4 == 1).collect();
    let alone = data.features_subset(&part).unwrap();
    let alone = select(&alone, &options(30), &mut ()).unwrap().features();
    let expected: Vec<u32> = all
        .into_iter()
        .filter(|feature| part.contains(feature))
        .collect();
    assert_eq!(alone, expected);
}

#[test]
fn validation_rows_decide_where_densities_are_compared() {
    let data = graded();
    let (train, rest) = (0..25).partition::<Vec<usize>, _>(|query| *query < 15);
    let validation = data.queries_subset(&rest).unwrap();
    let train = data.queries_subset(&train).unwrap();
    let psi = |data: &Dataset<'_>| ExpectedDivergence::new(data).unwrap().psi(1).unwrap();
    let (before, hash) = (psi(&train), DataHash::of(&train));
    let train = train.with_validation(validation);
    assert_ne!(psi(&train), before);
    assert_ne!(DataHash::of(&train), hash);
    let subset = train.queries_subset(&[0, 1, 2]).unwrap();
    assert_eq!(subset.validation().unwrap().rows(), 50);
}

#[test]
fn paths_of_several_strategies_have_the_filter() {
    let data = graded();
    let lambdas = [Lambda::ONE];
    let tuning = TuneOptions {
        evidence: Evidence::Folds { count: 3, seed: 1 },
        strategies: vec![StrategyKind::Bounded, StrategyKind::FsEd],
        ..TuneOptions::new(SelectionOptions::new(4, Lambda::ONE), &lambdas)
    };
    let tuned = Tuning::new(&data, &tuning).run(&mut ()).unwrap();
    let selected = tuned.outcomes[1].selection(4).unwrap();
    assert_eq!(selected, select(&data, &options(4), &mut ()).unwrap());
}

#[test]
fn candidates_without_scores_and_labels_that_are_no_grades_are_refused() {
    let data = graded();
    let candidates = ColumnClasses::new(&data);
    let error = plan(&candidates, 0, &options(3)).unwrap_err();
    assert_eq!(error, SelectError::NoFilter);
    let labels: Vec<f64> = (0..data.rows()).map(|row| row as f64 / 10.0).collect();
    let data = Dataset::new(data.x(), &labels, data.queries().clone()).unwrap();
    let error = select(&data, &options(3), &mut ()).unwrap_err();
    assert!(matches!(error, SelectError::Grades(_)), "{error}");
    assert!(
        error.to_string().contains("found 200 different labels"),
        "{error}"
    );
}
