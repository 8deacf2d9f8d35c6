//! Explanations of an order add up to it.

use ndarray::Array2;
use proptest::prelude::*;
use rankrls::model::Shown;
use rankrls::ridge::Kernel;
use rankrls::{Dataset, GreedyRankRls, Lambda, Model, Queries, RankRls, Scale};

use crate::oracle::drawn_problems;
use crate::oracle::problems::problems;

fn check(model: &Model, data: &Dataset<'_>, query: usize, versus: Option<usize>) {
    let scores = model.scores(data);
    let rows = data.queries().range(query);
    let explained = model
        .explain(data, query, versus.map(|row| row + 1), Shown::All)
        .unwrap();
    let expected = match versus {
        None => scores[rows.clone()].iter().sum::<f64>() / rows.len() as f64,
        Some(row) => scores[row],
    };
    assert_eq!(explained.reference, expected);
    let mut listed: Vec<usize> = explained.rows.iter().map(|row| row.row - 1).collect();
    listed.sort_unstable();
    assert_eq!(listed, rows.collect::<Vec<_>>());
    for pair in explained.rows.windows(2) {
        let (a, b) = (&pair[0], &pair[1]);
        assert!(a.score > b.score || (a.score == b.score && a.row < b.row));
    }
    let x = data.x().to_dense();
    for row in &explained.rows {
        assert_eq!(row.score.to_bits(), scores[row.row - 1].to_bits());
        assert_eq!(row.label, data.labels()[row.row - 1]);
        let parts = row.contributions.iter();
        let sum: f64 = parts.clone().map(|part| part.contribution).sum();
        // All terms of the scores have rounding, even terms that are equal and contribute nothing.
        let terms = |row: usize| {
            let features = model.features.iter();
            let terms = features.map(|one| one.weight * x[[row, one.feature as usize]]);
            terms.map(f64::abs).sum::<f64>()
        };
        let size = explained
            .rows
            .iter()
            .map(|one| terms(one.row - 1))
            .fold(0.0, f64::max);
        assert!(
            (sum - row.difference).abs() <= 1e-13 * size,
            "{sum} {}",
            row.difference
        );
        for part in parts {
            let weight = model.features[part.position].weight;
            assert_eq!(part.weight, weight);
            assert_eq!(part.contribution, weight * (part.value - part.reference));
        }
        let magnitudes: Vec<f64> = row
            .contributions
            .iter()
            .map(|part| part.contribution.abs())
            .collect();
        assert!(
            magnitudes
                .windows(2)
                .all(|pair| pair[0] >= pair[1] && pair[1] > 0.0)
        );
    }
    for most in [0, 1, 2] {
        let shown = Shown::First(most);
        let first = model.explain(data, query, versus.map(|row| row + 1), shown);
        let others = explained
            .rows
            .iter()
            .filter(|row| versus != Some(row.row - 1));
        let others: Vec<_> = others.take(most).cloned().collect();
        assert_eq!(first.unwrap().rows, others);
    }
    let last = explained.rows.last().unwrap();
    let alone = model
        .explain(data, query, None, Shown::Row(last.row))
        .unwrap();
    assert_eq!((alone.rows.len(), alone.rows[0].rank), (1, last.rank));
    if let Some(row) = versus {
        let own = explained.versus.unwrap();
        assert_eq!(own.row, row + 1);
        assert!(own.contributions.is_empty() && own.difference == 0.0);
    }
}

proptest! {
    #![proptest_config(drawn_problems(300))]

    #[test]
    fn contributions_add_up_to_differences_of_scores(
        problem in problems(prop::collection::vec(1..6_usize, 2..6), 1..9), exponent in -4i32..5,
    ) {
        let (data, lambda) = (problem.dataset(), 2f64.powi(exponent));
        let options = GreedyRankRls { scale: Some(Scale::Sd), ..GreedyRankRls::new(4, Lambda::new(lambda).unwrap()) };
        let params = RankRls { lambdas: Lambda::new(lambda).unwrap().into(), ..RankRls::default() };
        let models = [options.fit(&data).ok(), params.fit(&data).ok()];
        for model in models.iter().flatten() {
            for query in 0..data.queries().len() {
                check(model, &data, query, None);
                for row in data.queries().range(query) {
                    check(model, &data, query, Some(row));
                }
            }
        }
    }
}

fn of_two_queries(x: &Array2<f64>) -> Dataset<'static> {
    let queries = Queries::from_row_ids(&["a", "a", "b", "b"]).unwrap();
    Dataset::from_dense(x.view(), vec![1.0, 0.0, 2.0, 0.0], queries).unwrap()
}

#[test]
fn orders_that_cannot_be_explained_are_refused() {
    let x = ndarray::arr2(&[
        [1.0, 0.0, 0.0],
        [0.0, 1.0, 0.0],
        [2.0, 0.0, 0.0],
        [0.0, 3.0, 0.0],
    ]);
    let data = of_two_queries(&x);
    let params = RankRls {
        kernels: vec![Kernel::gaussian(0.1).unwrap()],
        ..RankRls::default()
    };
    let kernel = params.fit(&data).unwrap();
    let error = kernel.explain(&data, 0, None, Shown::All).unwrap_err();
    let message = "a kernel model has no features to explain an order by: ";
    assert!(error.to_string().starts_with(message), "{error}");
    let options = GreedyRankRls::new(1, Lambda::new(1.0).unwrap());
    let model = options.fit(&data).unwrap();
    let error = model.explain(&data, 2, None, Shown::All).unwrap_err();
    assert_eq!(error.to_string(), "there is no query 2 among 2");
    let error = model.explain(&data, 1, Some(1), Shown::All).unwrap_err();
    assert_eq!(
        error.to_string(),
        "row 1 is not of query b, which has 3 to 4"
    );
    let elsewhere = ndarray::arr2(&[
        [0.0, 0.0, 1.0],
        [0.0, 0.0, 2.0],
        [0.0, 0.0, 1.0],
        [0.0, 0.0, 3.0],
    ]);
    let others = of_two_queries(&elsewhere);
    let error = model.explain(&others, 0, None, Shown::All).unwrap_err();
    let message = "no row of the data has an entry in any of the 1 feature of the model: ";
    assert!(error.to_string().starts_with(message), "{error}");
}
