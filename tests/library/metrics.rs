//! The measures against their definitions, and against other programs.

use proptest::prelude::*;
use rankrls::data::Queries;
use rankrls::metrics::{
    Convention, Judge, Metric, MetricKind, PairedOptions, evaluate, paired, parse_list,
};

const NAMES: &str = "map,p@1,p@3,p@9,ndcg@1,ndcg@3,ndcg@9,mean-ndcg,err,mrr,cindex,label@1";

/// The textbook definitions, of labels in ranked order.
mod definition {
    use super::{Convention, Metric, MetricKind};

    /// `None` where the measure is undefined.
    pub(super) fn of(
        metric: Metric,
        ranked: &[f64],
        max: f64,
        convention: Convention,
    ) -> Option<f64> {
        match metric.kind() {
            MetricKind::AveragePrecision => average_precision(ranked),
            MetricKind::Precision(k) => Some(precision(ranked, k.get())),
            MetricKind::Ndcg(k) => ndcg(ranked, k.get(), convention),
            MetricKind::MeanNdcg => {
                let n = ranked.len();
                let sum: Option<f64> = (1..=n).map(|k| ndcg(ranked, k, convention)).sum();
                Some(sum? / n as f64)
            }
            MetricKind::ExpectedReciprocalRank => Some(err(ranked, max)),
            MetricKind::ReciprocalRank => {
                let first = ranked.iter().position(|&label| label > 0.0)?;
                Some(1.0 / (first + 1) as f64)
            }
            MetricKind::FirstLabel => Some(ranked[0]),
            MetricKind::Concordance => unreachable!("defined on scores"),
        }
    }

    fn relevant(ranked: &[f64]) -> f64 {
        ranked.iter().filter(|&&label| label > 0.0).count() as f64
    }

    fn precision(ranked: &[f64], k: usize) -> f64 {
        relevant(&ranked[..k.min(ranked.len())]) / k as f64
    }

    fn average_precision(ranked: &[f64]) -> Option<f64> {
        let sum: f64 = (1..=ranked.len())
            .filter(|&rank| ranked[rank - 1] > 0.0)
            .map(|rank| precision(ranked, rank))
            .sum();
        (relevant(ranked) > 0.0).then(|| sum / relevant(ranked))
    }

    fn dcg(ranked: &[f64], k: usize, convention: Convention) -> f64 {
        let discount = |rank: f64| match convention {
            Convention::Letor if rank < 1.5 => 1.0,
            Convention::Letor => 1.0 / rank.log2(),
            Convention::Standard => 1.0 / (rank + 1.0).log2(),
        };
        let gains = ranked.iter().map(|label| 2.0_f64.powf(*label) - 1.0);
        let ranks = (1..=k).map(|rank| discount(rank as f64));
        gains
            .zip(ranks)
            .map(|(gain, discount)| gain * discount)
            .sum()
    }

    fn ndcg(ranked: &[f64], k: usize, convention: Convention) -> Option<f64> {
        if convention == Convention::Letor && ranked.len() < k {
            return Some(0.0);
        }
        let mut ideal = ranked.to_vec();
        ideal.sort_by(|a, b| b.total_cmp(a));
        let ideal = dcg(&ideal, k, convention);
        (ideal > 0.0).then(|| dcg(ranked, k, convention) / ideal)
    }

    fn err(ranked: &[f64], max: f64) -> f64 {
        let (mut reached, mut sum) = (1.0, 0.0);
        for (rank, &label) in (1..).zip(ranked) {
            let stop = (2.0_f64.powf(label.max(0.0)) - 1.0) / 2.0_f64.powf(max);
            sum += reached * stop / f64::from(rank);
            reached *= 1.0 - stop;
        }
        sum
    }

    pub(super) fn concordance(labels: &[f64], scores: &[f64]) -> Option<f64> {
        let (mut pairs, mut halves) = (0, 0);
        for i in 0..labels.len() {
            for j in 0..labels.len() {
                if labels[i] > labels[j] {
                    pairs += 1;
                    halves += i32::from(scores[i] >= scores[j]) + i32::from(scores[i] > scores[j]);
                }
            }
        }
        (pairs > 0).then(|| f64::from(halves) / f64::from(2 * pairs))
    }
}

/// All orders of `0..n`.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    if n == 0 {
        return vec![vec![]];
    }
    let mut all = Vec::new();
    for shorter in permutations(n - 1) {
        for place in 0..n {
            let mut longer = shorter.clone();
            longer.insert(place, n - 1);
            all.push(longer);
        }
    }
    all
}

/// The mean of the definition over all rankings by falling score.
fn expectation(metric: Metric, labels: &[f64], scores: &[f64], max: f64) -> Option<f64> {
    let (mut sum, mut count) = (0.0, 0);
    for order in permutations(labels.len()) {
        if order
            .windows(2)
            .all(|pair| scores[pair[0]] >= scores[pair[1]])
        {
            let ranked: Vec<f64> = order.iter().map(|&row| labels[row]).collect();
            sum += definition::of(metric, &ranked, max, Convention::Standard)?;
            count += 1;
        }
    }
    Some(sum / f64::from(count))
}

/// A measure of a data set of one query.
fn one(metric: Metric, labels: &[f64], scores: &[f64], convention: Convention) -> Option<f64> {
    let queries = Queries::single(labels.len()).ok()?;
    let judge = Judge::new(metric, convention, labels, &queries);
    judge.of_query(0, &mut scores.to_vec())
}

/// All measures of a data set of one query.
fn all(labels: &[f64], scores: &[f64], convention: Convention) -> Vec<Option<f64>> {
    let metrics = parse_list(NAMES).unwrap().into_iter();
    metrics
        .map(|metric| one(metric, labels, scores, convention))
        .collect()
}

fn largest(labels: &[f64]) -> f64 {
    labels.iter().copied().fold(0.0, f64::max)
}

fn close(found: Option<f64>, expected: Option<f64>) -> bool {
    match (found, expected) {
        (Some(found), Some(expected)) => (found - expected).abs() <= 1e-12,
        (None, None) => true,
        _ => false,
    }
}

/// Labels and scores with many ties. `sizes` are numbers of documents.
fn query(sizes: std::ops::Range<usize>) -> impl Strategy<Value = (Vec<f64>, Vec<f64>)> {
    let label = prop_oneof![4 => (0..4i32).prop_map(f64::from), 1 => -2.0..3.0];
    let score = (0..4i32).prop_map(|score| f64::from(score) / 3.0);
    prop::collection::vec((label, score), sizes).prop_map(|pairs| pairs.into_iter().unzip())
}

/// A query and an order of its documents.
fn permuted() -> impl Strategy<Value = (Vec<f64>, Vec<f64>, Vec<usize>)> {
    query(1..30).prop_flat_map(|(labels, scores)| {
        let rows: Vec<usize> = (0..labels.len()).collect();
        (Just(labels), Just(scores), Just(rows).prop_shuffle())
    })
}

proptest! {
    #[test]
    fn standard_is_the_mean_over_the_orders_of_ties((labels, scores) in query(1..7)) {
        for metric in parse_list(NAMES).unwrap() {
            if metric == Metric::CONCORDANCE {
                continue;
            }
            let found = one(metric, &labels, &scores, Convention::Standard);
            let below_0 = labels.iter().any(|&label| label < 0.0);
            let expected = expectation(metric, &labels, &scores, largest(&labels));
            let expected = expected.filter(|_| !(below_0 && metric.labels().are_grades()));
            prop_assert!(close(found, expected), "{metric}: {found:?}, not {expected:?}");
        }
    }

    #[test]
    fn letor_is_the_definition_in_stable_order((labels, scores) in query(1..30)) {
        let mut rows: Vec<usize> = (0..labels.len()).collect();
        rows.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]));
        let ranked: Vec<f64> = rows.iter().map(|&row| labels[row]).collect();
        let below_0 = labels.iter().any(|&label| label < 0.0);
        for metric in parse_list(NAMES).unwrap() {
            if metric == Metric::CONCORDANCE {
                continue;
            }
            let found = one(metric, &labels, &scores, Convention::Letor);
            let expected = definition::of(metric, &ranked, largest(&labels), Convention::Letor);
            let value = Some(expected.unwrap_or(0.0));
            let expected = value.filter(|_| !(below_0 && metric.labels().are_grades()));
            prop_assert!(close(found, expected), "{metric}: {found:?}, not {expected:?}");
        }
    }

    #[test]
    fn concordance_is_the_count_over_all_pairs((labels, scores) in query(0..40)) {
        let expected = definition::concordance(&labels, &scores);
        for convention in [Convention::Letor, Convention::Standard] {
            let found = one(Metric::CONCORDANCE, &labels, &scores, convention);
            prop_assert_eq!(found, expected);
        }
    }

    #[test]
    fn the_order_of_documents_changes_nothing_under_standard((labels, scores, rows) in permuted()) {
        let of = |values: &[f64]| rows.iter().map(|&row| values[row]).collect::<Vec<_>>();
        prop_assert_eq!(
            all(&of(&labels), &of(&scores), Convention::Standard),
            all(&labels, &scores, Convention::Standard)
        );
    }

    #[test]
    fn a_monotone_transform_of_scores_changes_nothing((labels, scores) in query(1..30)) {
        let transformed: Vec<f64> = scores.iter().map(|score| (7.0 * score).exp() - 99.0).collect();
        for convention in [Convention::Letor, Convention::Standard] {
            prop_assert_eq!(
                all(&labels, &transformed, convention),
                all(&labels, &scores, convention)
            );
        }
    }

    #[test]
    fn no_value_is_nan(
        documents in prop::collection::vec((-1e4..1e4, prop::num::f64::NORMAL), 0..20),
        wild in prop::num::f64::ANY,
    ) {
        let (mut labels, scores): (Vec<f64>, Vec<f64>) = documents.into_iter().unzip();
        labels.first_mut().into_iter().for_each(|label| *label = wild);
        for convention in [Convention::Letor, Convention::Standard] {
            let values = all(&labels, &scores, convention);
            prop_assert!(values.iter().flatten().all(|value| value.is_finite()), "{values:?}");
        }
    }
}

/// Large groups of ties, where ERR uses a recursion.
#[test]
fn err_of_one_relevant_among_many_tied() {
    let n = 2000u32;
    let mut labels = vec![0.0; n as usize];
    labels[77] = 1.0;
    let found = standard("err", &labels, &vec![0.5; n as usize]);
    // R = 1/2 at a uniformly random rank.
    let harmonic: f64 = (1..=n).map(|rank| 1.0 / f64::from(rank)).sum();
    let expected = 0.5 * harmonic / f64::from(n);
    assert!(close(found, Some(expected)), "{found:?}, not {expected}");
}

const LABELS: [f64; 8] = [0.0, 2.0, 1.0, 0.0, 3.0, 1.0, 0.0, 2.0];
const TIED: [f64; 8] = [0.9, 0.8, 0.8, 0.5, 0.5, 0.5, 0.3, 0.1];
const UNTIED: [f64; 8] = [0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.1];

fn standard(name: &str, labels: &[f64], scores: &[f64]) -> Option<f64> {
    let metric: Metric = name.parse().unwrap();
    one(metric, labels, scores, Convention::Standard)
}

/// scikit-learn 1.9.1: `ndcg_score([2**LABELS - 1], [scores], k=K)`.
#[test]
fn ndcg_of_scikit_learn() {
    for (name, scores, expected) in [
        ("ndcg@1", TIED, 0.0),
        ("ndcg@3", TIED, 0.217_637_387_846_680_94),
        ("ndcg@5", TIED, 0.396_236_535_536_086_4),
        ("ndcg@8", TIED, 0.565_391_447_711_681_9),
        ("ndcg@99", TIED, 0.565_391_447_711_681_9),
        ("ndcg@3", UNTIED, 0.230_235_522_022_881_64),
        ("ndcg@5", UNTIED, 0.455_005_703_362_959_2),
        ("ndcg@8", UNTIED, 0.571_202_384_378_029),
        ("ndcg@8", [0.0; 8], 0.661_243_111_368_179_3),
    ] {
        let found = standard(name, &LABELS, &scores);
        assert!(close(found, Some(expected)), "{name}: {found:?}");
    }
}

/// scikit-learn 1.9.1: `average_precision_score(labels > 0, scores)`.
#[test]
fn average_precision_of_scikit_learn() {
    let found = standard("map", &LABELS, &UNTIED);
    assert!(close(found, Some(0.611_666_666_666_666_6)), "{found:?}");
    let labels = [0.0, 0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let scores = [3.0, 1.0, 4.0, 1.5, 9.0, 2.6, 5.0, 3.5, 8.0, 7.0];
    let found = standard("map", &labels, &scores);
    assert!(close(found, Some(0.866_666_666_666_666_7)), "{found:?}");
}

/// The functions `MAP`, `PrecisionAtN` and `NDCG` of `Eval-Score-4.0.pl` under perl 5, at full precision. The four
/// queries have ties, no relevant documents, or few documents. Averages follow its `EvalQuery` and `OuputResults`.
#[test]
fn letor_of_the_perl_script() {
    let grades = [
        &[0, 2, 1, 0, 2, 1, 0, 2][..],
        &[0, 0, 1],
        &[0, 0],
        &[2, 0, 1, 1, 0, 0, 2, 0, 1, 0, 0, 1],
    ];
    let scores = [
        &TIED[..],
        &[1.0, 3.0, 2.0],
        &[1.0, 2.0],
        &[3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0],
    ];
    let queries = Queries::from_sizes(&grades.map(<[i32]>::len)).unwrap();
    let labels: Vec<f64> = grades.concat().into_iter().map(f64::from).collect();
    let of_script = [
        ("map", 0.395_773_809_523_809_47),
        ("mean-ndcg", 0.353_847_478_007_377_87),
        ("ndcg@1", 0.0),
        ("ndcg@5", 0.186_785_538_273_882_45),
        ("ndcg@10", 0.116_059_404_627_521_9),
        ("p@1", 0.0),
        ("p@5", 0.3),
        ("p@10", 0.275),
    ];
    for (name, expected) in of_script {
        let metric: Metric = name.parse().unwrap();
        let all = scores.concat();
        let measured = evaluate(&[metric], &labels, &all, &queries, Convention::Letor).unwrap();
        let found = &measured[0].1;
        assert!(close(found.mean, Some(expected)), "{name}: {found:?}");
        assert_eq!((found.queries, found.left_out()), (4, 0));
    }
}

/// `first` compared with zero by [`paired`].
fn differences(first: &[f64]) -> rankrls::metrics::Paired {
    let first: Vec<Option<f64>> = first.iter().copied().map(Some).collect();
    let second = vec![Some(0.0); first.len()];
    paired(&first, &second, &PairedOptions::default()).unwrap()
}

/// Within `tolerance` of each other.
fn near(found: Option<f64>, expected: f64, tolerance: f64) -> bool {
    found.is_some_and(|found| (found - expected).abs() <= tolerance)
}

/// SciPy 1.17.1 of the differences `d`: `permutation_test((d,), numpy.mean,
/// permutation_type="samples", n_resamples=inf)`, `sem(d)`, and `bootstrap((d,), numpy.mean,
/// method="percentile", n_resamples=10**6)`.
#[test]
fn few_paired_queries_of_scipy() {
    let found = differences(&[
        0.12, -0.05, 0.3, 0.0, 0.07, -0.11, 0.22, 0.01, 0.0, 0.18, -0.02, 0.09,
    ]);
    assert!(found.exact);
    assert_eq!((found.wins, found.ties, found.losses), (7, 2, 3));
    assert_eq!(found.p, Some(0.082_031_25));
    assert!(near(found.difference, 0.0675, 1e-15));
    assert!(near(found.standard_error, 0.034_665_610_415_144_08, 1e-15));
    let [low, high] = found.interval.unwrap();
    assert!(near(Some(low), 0.005, 0.003), "{low}");
    assert!(near(Some(high), 0.135, 0.003), "{high}");
}

/// The same for 60 differences, with 10^6 draws of signs (seed 0).
#[test]
fn many_paired_queries_of_scipy() {
    let all: Vec<f64> = (0..60_u32)
        .map(|i| f64::from(i * 37 % 101) / 101.0 - 0.42)
        .collect();
    let found = differences(&all);
    assert!(!found.exact);
    assert!(near(found.difference, 0.070_264_026_402_640_28, 1e-15));
    assert!(near(found.standard_error, 0.037_572_715_174_037_89, 1e-15));
    // Four standard errors of a share of 10,000 draws.
    assert!(near(found.p, 0.0667, 0.01), "{found:?}");
    let [low, high] = found.interval.unwrap();
    assert!(near(Some(low), -0.002_67, 0.004), "{low}");
    assert!(near(Some(high), 0.143_20, 0.004), "{high}");
}
