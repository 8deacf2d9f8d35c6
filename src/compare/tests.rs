use serde_json::json;

use super::*;

/// A run with these features; its error is halved in every step.
fn run(name: &str, seed: Option<u64>, features: &[u64], error: f64, seconds: f64) -> Selected {
    let steps: Vec<_> = (1_i32..)
        .zip(features)
        .map(|(step, feature)| {
            json!({
                "feature": feature, "name": null, "lqo_error": error * 0.5_f64.powi(step - 1),
                "lqo_cindex": if step == 1 { None } else { Some(0.5) },
                "evaluated": 10,
                "test": {"map": 1.0 / error, "err": null},
            })
        })
        .collect();
    serde_json::from_value(json!({
        "strategy": name, "lambda": 16.0, "candidates": seed.map(|_| 59), "seed": seed,
        "data": {"rows": 8, "queries": 2, "columns": 99, "nonzeros": 50,
                 "constant_columns": 1, "column_classes": 90},
        "steps": steps,
        "test": {"convention": "standard", "rows": 4, "queries": 2,
                 "dropped_entries": 0, "dropped_columns": 0},
        "load_seconds": 0.5, "select_seconds": seconds + 0.25, "test_seconds": 0.25,
        "peak_rss_bytes": 4096,
    }))
    .unwrap()
}

fn selected(name: &str, features: &[u64], error: f64, seconds: f64) -> (Contestant, Outcome) {
    let runs = vec![run(name, None, features, error, seconds)];
    (name.parse().unwrap(), Outcome::Selected(runs))
}

fn task() -> Task {
    Task {
        metrics: vec!["map".to_owned(), "err".to_owned()],
        k: 3,
        ..Task::default()
    }
}

#[test]
fn seeds_become_means() {
    let runs = vec![
        run("sampled", Some(1), &[1, 2, 3], 4.0, 1.0),
        run("sampled", Some(2), &[7, 1, 2], 8.0, 2.0),
    ];
    let exact = selected("bounded", &[1, 2, 9], 2.0, 4.0);
    let sampled = ("sampled".parse().unwrap(), Outcome::Selected(runs));
    let comparison = Comparison::new(task(), vec![sampled, exact]);
    let entry = &comparison.strategies[0];
    assert!(entry.random && !entry.exact && entry.ran());
    let last = entry.last().unwrap();
    assert_eq!((last.step, last.lqo_error.mean), (3, 1.5));
    assert_eq!(last.overlap.unwrap().mean, 2.0 / 3.0);
    assert_eq!(entry.first_difference(), Some(1));
    assert_eq!(entry.select_seconds.unwrap().mean, 1.5);
    assert_eq!(entry.seconds_per_feature.unwrap().mean, 0.5);
    assert_eq!(entry.evaluated.unwrap().mean, 30.0);
    assert_eq!(last.measure("map").unwrap().mean, 0.1875);
    assert_eq!(last.measure("err"), None);
    assert_eq!(entry.steps[0].lqo_cindex, None);
    let seeds: Vec<_> = entry.runs.iter().map(|run| run.seed).collect();
    assert_eq!(seeds, [Some(1), Some(2)]);
}

#[test]
fn the_findings_are_computed() {
    let needs = Outcome::DoesNotFit {
        needs: 9000,
        limit: Some(5000),
    };
    let runs = vec![
        ("dense".parse().unwrap(), needs),
        selected("lowmem", &[1, 2, 3], 2.0, 4.0),
        selected("backfit", &[1, 3, 2], 3.0, 2.0),
        selected("univariate", &[4, 5, 6], 6.0, 0.5),
        selected("bounded", &[1, 2, 3], 2.0, 1.0),
    ];
    let comparison = Comparison::new(task(), runs);
    let findings = comparison.findings();
    let name = |contestant: Option<Contestant>| contestant.map(|named| named.to_string());
    assert_eq!(name(findings.reference).as_deref(), Some("lowmem"));
    assert_eq!(name(findings.fastest_exact).as_deref(), Some("bounded"));
    assert_eq!(name(findings.fastest).as_deref(), Some("univariate"));
    assert_eq!(findings.agreement, Agreement::Same);
    let (slowest, times) = findings.slowest_exact.unwrap();
    assert_eq!((slowest.to_string().as_str(), times), ("lowmem", 4.0));
    let losses: Vec<_> = findings.losses.iter().map(|loss| loss.error).collect();
    assert_eq!(losses, [0.5, 2.0]);
    assert_eq!(findings.losses[0].overlap, Some(1.0));
    assert!(findings.losses[1].test.unwrap() < 0.0);
    let dense = &comparison.strategies[0];
    assert!(!dense.ran() && dense.needs_bytes == Some(9000));
    assert_eq!(comparison.data.unwrap().column_classes, 90);
}

#[test]
fn exact_strategies_that_part_are_told() {
    let runs = vec![
        selected("dense", &[1, 2, 3], 2.0, 4.0),
        selected("bounded", &[1, 4, 3], 2.0, 1.0),
    ];
    let findings = Comparison::new(task(), runs).findings();
    assert_eq!(findings.agreement, Agreement::From(2));
}

#[test]
fn without_an_exact_one_there_is_no_overlap() {
    let runs = vec![
        selected("backfit", &[1, 2, 3], 2.0, 4.0),
        ("random".parse().unwrap(), Outcome::Failed("no".to_owned())),
    ];
    let comparison = Comparison::new(task(), runs);
    assert!(comparison.strategies[0].overlaps.is_empty());
    assert_eq!(comparison.strategies[0].last().unwrap().overlap, None);
    assert_eq!(comparison.strategies[1].error.as_deref(), Some("no"));
    let findings = comparison.findings();
    assert_eq!(findings.reference, None);
    assert_eq!(findings.agreement, Agreement::Untested);
    assert!(findings.losses.is_empty());
}

/// `lowmem:59` of 90 classes is a draw, of 20 it would not be.
#[test]
fn a_strategy_on_a_subset_is_not_exact() {
    let drawn = vec![run("lowmem", Some(1), &[1, 2], 2.0, 1.0)];
    let mut all = drawn.clone();
    all[0].data.column_classes = 20;
    for (runs, exact) in [(drawn, false), (all, true)] {
        let contestant = "lowmem:59".parse().unwrap();
        let comparison = Comparison::new(task(), vec![(contestant, Outcome::Selected(runs))]);
        assert_eq!(comparison.strategies[0].exact, exact);
    }
}
