//! Every bound against the exact gain, for every candidate of random problems, and the tightness of the bounds.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::bounds::{of_products, read};
use super::known::by_all_queries;
use super::step::spread;
use super::*;
use crate::data::{Dataset, Queries};
use crate::greedy::strategy::{first_tied, least};
use crate::greedy::{Addition, State};
use crate::lambda::Lambda;
use crate::peers::{Alone, Peers, to_words};

/// The bounds in [`Checked`], in their order.
const NAMES: [&str; 7] = [
    "kept from an earlier step",
    "queries",
    "level 0 without |z|^2",
    "level 0",
    "level 1",
    "level 1 with what is kept",
    "level 2",
];

/// A random problem.
struct Problem {
    dataset: Dataset<'static>,
    lambda: f64,
    random: ChaCha8Rng,
}

/// The distribution of columns.
#[derive(Clone, Copy)]
struct Drawing {
    columns: usize,
    /// Share of nonzero entries, in the densest columns.
    density: f64,
    /// Added to all labels.
    offset: f64,
    /// The factor of every other column, applied after labels were made.
    scale: f64,
}

impl Problem {
    fn draw(seed: u64, sizes: &[usize], drawing: Drawing) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let queries = Queries::from_sizes(sizes).unwrap();
        let mut columns: Vec<Vec<f64>> = Vec::new();
        for _ in 0..drawing.columns {
            let column = draw_column(&mut random, &queries, drawing.density, &columns);
            columns.push(column);
        }
        let mut labels = draw_labels(&mut random, &queries, &columns);
        for column in columns.iter_mut().step_by(2) {
            for value in column {
                *value *= drawing.scale;
            }
        }
        for label in &mut labels {
            *label += drawing.offset;
        }
        let (mut indptr, mut rows, mut values) = (vec![0], Vec::new(), Vec::new());
        for column in &columns {
            for (row, &value) in (0u32..).zip(column).filter(|pair| *pair.1 != 0.0) {
                rows.push(row);
                values.push(value);
            }
            indptr.push(rows.len());
        }
        Self {
            dataset: Dataset::from_csc(indptr, rows, values, labels, queries).unwrap(),
            lambda: 10f64.powi(random.random_range(-3..=3)),
            random,
        }
    }
}

/// Binary, real or large values; dense, sparse or in one query; or nearly a column before.
fn draw_column(
    random: &mut ChaCha8Rng,
    queries: &Queries,
    density: f64,
    before: &[Vec<f64>],
) -> Vec<f64> {
    let mut column = vec![0.0; queries.rows()];
    let share = density * [1.0, 0.5, 0.1][random.random_range(0..3)];
    let scale = [1.0, 1.0, 0.01, 30.0][random.random_range(0..4)];
    let binary = random.random_bool(0.5);
    let only = random
        .random_bool(0.25)
        .then(|| queries.range(random.random_range(0..queries.len())));
    for row in only.unwrap_or(0..queries.rows()) {
        if random.random_bool(share) {
            let value = random.random_range(-1.0..1.0);
            column[row] = scale * if binary { 1.0 } else { value };
        }
    }
    if !before.is_empty() && random.random_bool(0.15) {
        let other = &before[random.random_range(0..before.len())];
        for (value, other) in column.iter_mut().zip(other) {
            *value = other + 1e-3 * *value;
        }
    }
    column
}

/// Noise, columns with noise, or labels of a few queries only.
fn draw_labels(random: &mut ChaCha8Rng, queries: &Queries, columns: &[Vec<f64>]) -> Vec<f64> {
    let noise = [1.0, 0.1, 1e-4][random.random_range(0..3)];
    let mut labels: Vec<f64> = (0..queries.rows())
        .map(|_| noise * random.random_range(-1.0..1.0))
        .collect();
    for _ in 0..random.random_range(0..3) {
        let weight = random.random_range(-1.0..1.0);
        let column = &columns[random.random_range(0..columns.len())];
        for (label, value) in labels.iter_mut().zip(column) {
            *label += weight * value;
        }
    }
    if random.random_bool(0.2) {
        for range in queries.ranges().skip(2) {
            labels[range].fill(0.0);
        }
    }
    labels
}

/// A candidate's gain and its bound at each level; infinite without a bound.
struct Checked {
    gain: f64,
    bounds: [f64; NAMES.len()],
}

/// The bounds of a candidate before anything else of it is read, and then without its `|z|^2`.
fn unread(dismissing: &Bounded, candidate: u32, round: &Round<'_>) -> [f64; 3] {
    let (candidate, step) = (candidate as usize, &dismissing.step);
    let kept = dismissing.kept_bounds[candidate] * step.growth.now;
    let mut last = dismissing.reaches[candidate];
    if dismissing.followed + 1 != step.at.number {
        last = Reach::ANY;
    }
    let pieces = dismissing.layout.pieces(candidate);
    let squared_norm = round.candidates.squared_norm(candidate);
    let by_queries = by_all_queries(last, pieces, squared_norm, step);
    let products = read(round.candidates.column(candidate), pieces, step);
    let reach = last.read(&products, squared_norm, step);
    let whole = reach.whole(squared_norm, products.rho, step);
    let level_0 = of_products(&whole, &products, step);
    [kept, by_queries, level_0]
}

/// Bounds of every candidate that may be chosen: unread by `dismissing`, which dismisses many, and at level 0 by
/// `bare`, which keeps nothing.
fn check(
    [bounded, bare, dismissing]: [&mut Bounded; 3],
    round: &Round<'_>,
    step: &StepTerms,
    eligible: &[u32],
) -> Vec<Checked> {
    let layout = Arc::clone(&dismissing.layout);
    let mut search = PruningSearch::new(round, step, &layout, eligible);
    let contenders = bare.by_norms(&search).contenders;
    let kept = bounded.by_norms(&search).contenders;
    search.residuals = &bounded.residuals;
    assert_eq!(contenders.len(), eligible.len(), "nothing to fail at");
    let candidates: Vec<u32> = contenders
        .iter()
        .map(|contender| contender.candidate)
        .collect();
    let errors = lowmem::errors(round, &candidates);
    let mut checked = Vec::new();
    for ((contender, kept), error) in contenders.into_iter().zip(kept).zip(errors) {
        assert_eq!(contender.candidate, kept.candidate);
        let mut bounds = [f64::INFINITY; NAMES.len()];
        bounds[..3].copy_from_slice(&unread(dismissing, contender.candidate, round));
        bounds[3] = contender.bound;
        let fresh = BoundedCandidate::new(contender.candidate, f64::INFINITY);
        let mut risen = search.level_1(&[(fresh, false)]);
        bounds[4] = risen.contenders[0].bounded.bound;
        bounds[5] = bounds[4];
        if let Some(projected) = &kept.projected {
            bounds[5] = projected.bound(step);
            risen = search.at_level_2(&[kept]);
        }
        risen.contenders[0].bounded.bound = f64::INFINITY;
        bounds[6] = search.level_2(vec![risen]).left[0].bound;
        checked.push(Checked {
            gain: step.error - error,
            bounds,
        });
    }
    checked
}

/// The tightness of the bounds after some problems.
#[derive(Default)]
struct Record {
    /// Sums of bound less gain as a share of the error, over all candidates.
    excess: [f64; NAMES.len()],
    /// The number of bounds kept from an earlier step.
    kept: usize,
}

impl Record {
    fn add(&mut self, checked: &Checked, step: &StepTerms, what: &str) {
        for (level, &bound) in checked.bounds.iter().enumerate() {
            assert!(!bound.is_nan(), "{what}, {}: not a number", NAMES[level]);
            assert!(
                checked.gain <= bound + step.slop(bound),
                "{what}, {}: gain {} above bound {bound}, slop {}",
                NAMES[level],
                checked.gain,
                step.slop(bound)
            );
        }
        self.kept += usize::from(checked.bounds[0].is_finite());
        if step.error > 0.0 {
            for (excess, bound) in self.excess.iter_mut().zip(checked.bounds) {
                *excess += ((bound - checked.gain) / step.error).min(1e3);
            }
        }
    }

    /// Each level is tighter than the previous one, on average.
    fn check_order(&self) {
        for pair in [[0, 1], [1, 3], [3, 4], [4, 6]] {
            let [loose, tight] = pair.map(|level| self.excess[level]);
            assert!(
                tight <= loose,
                "{}: {loose}, {}: {tight}",
                NAMES[pair[0]],
                NAMES[pair[1]]
            );
        }
        assert!(self.excess[6] >= 0.0);
        assert!(self.kept > 0);
    }
}

/// The place of the winner, and its error.
fn first_of_least(errors: &[f64]) -> (usize, f64) {
    let place = first_tied(errors, least(errors)).unwrap();
    (place, errors[place])
}

/// Another rank with this error.
#[derive(Debug)]
struct Found(f64);

impl Peers for Found {
    fn rank(&self) -> usize {
        0
    }

    fn count(&self) -> usize {
        2
    }

    fn gather(&self, own: Vec<u64>) -> Vec<Vec<u64>> {
        vec![own, to_words(&self.0)]
    }
}

/// A step that leaves many candidates, or all, unread; or no step at all.
fn dismiss_many(
    dismissing: &mut Bounded,
    random: &mut ChaCha8Rng,
    round: &Round<'_>,
    eligible: &[u32],
) {
    let error = round.state.error();
    let found = Found(match random.random_range(0..6) {
        0 => return,
        1 => f64::INFINITY,
        2 => random.random_range(0.0..=error),
        _ => 0.9 * error,
    });
    let step = std::mem::take(&mut dismissing.step);
    let round = Round {
        peers: &found,
        ..*round
    };
    dismissing.judge(&round, &step, eligible);
    dismissing.step = step;
}

/// Takes up to `steps` steps, some by the greedy choice and some at random, and checks all
/// bounds before each.
fn check_problem(mut problem: Problem, steps: usize, record: &mut Record, what: &str) {
    let candidates = ColumnClasses::new(&problem.dataset);
    if candidates.is_empty() {
        return;
    }
    let steps = steps.min(candidates.len());
    let lambda = Lambda::new(problem.lambda).unwrap();
    let labels = problem.dataset.labels();
    let mut state = State::new(labels, candidates.queries(), lambda, steps);
    let mut eligible: Vec<u32> = (0u32..).take(candidates.len()).collect();
    let mut bounded = Bounded::new(&candidates);
    let mut bare = Bounded::new(&candidates);
    let mut dismissing = Bounded::new(&candidates);
    while state.steps() < steps && state.query_factors().is_none() {
        let round = Round {
            candidates: &candidates,
            peers: &Alone,
            state: &state,
            sampled: false,
            ranking: None,
            cache_bytes: [0, 1 << 10, 1 << 20][problem.random.random_range(0..3)],
        };
        let mut step = std::mem::take(&mut bounded.step);
        step.renew(&state, bounded.longest);
        dismissing.step.renew(&state, bounded.longest);
        let all = [&mut bounded, &mut bare, &mut dismissing];
        for checked in check(all, &round, &step, &eligible) {
            let what = format!("{what}, lambda {lambda}, {} steps", state.steps());
            record.add(&checked, &step, &what);
        }
        bounded.step = step;
        dismiss_many(&mut dismissing, &mut problem.random, &round, &eligible);
        // It prepares the next step, and must agree with the reference.
        let winner = first_of_least(&bounded.errors(&round, &eligible));
        let reference = lowmem::errors(&round, &eligible);
        assert_eq!(winner, first_of_least(&reference), "{what}");
        let position = match problem.random.random_range(0..3) {
            0 => problem.random.random_range(0..candidates.len()),
            _ => eligible[winner.0] as usize,
        };
        let Some(place) = eligible.iter().position(|&at| at as usize == position) else {
            continue;
        };
        eligible.remove(place);
        state.add(Addition {
            feature: candidates.feature(position),
            column: candidates.column(position),
            factor: candidates.factor(position),
        });
    }
}

fn small_sizes(random: &mut ChaCha8Rng) -> Vec<usize> {
    match random.random_range(0..5) {
        0 => vec![2; random.random_range(4..20)],
        1 => vec![random.random_range(5..25), 1, random.random_range(1..4)],
        _ => (0..random.random_range(2..9))
            .map(|_| random.random_range(1..7))
            .collect(),
    }
}

#[test]
fn bounds_hold_on_small_problems() {
    let mut record = Record::default();
    for seed in 0..600 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let sizes = small_sizes(&mut random);
        let drawing = Drawing {
            columns: random.random_range(2..24),
            density: [1.0, 0.6, 0.2][random.random_range(0..3)],
            offset: 0.0,
            scale: 1.0,
        };
        let problem = Problem::draw(seed, &sizes, drawing);
        check_problem(problem, 8, &mut record, &format!("problem {seed}"));
    }
    record.check_order();
}

#[test]
fn bounds_hold_for_labels_with_a_large_offset() {
    let mut record = Record::default();
    for seed in 0..20 {
        let drawing = Drawing {
            columns: 12,
            density: 0.6,
            offset: 1e7,
            scale: 1.0,
        };
        let problem = Problem::draw(seed, &[3, 5, 2, 7, 4], drawing);
        check_problem(problem, 5, &mut record, &format!("problem {seed}"));
    }
}

#[test]
fn bounds_hold_for_candidates_that_do_harm() {
    let mut record = Record::default();
    for seed in 0..400 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let sizes = small_sizes(&mut random);
        let drawing = Drawing {
            columns: 16,
            density: 0.6,
            offset: 0.0,
            scale: 100.0,
        };
        let mut problem = Problem::draw(seed, &sizes, drawing);
        problem.lambda = 1e-3;
        check_problem(problem, 6, &mut record, &format!("problem {seed}"));
    }
}

#[test]
fn bounds_hold_on_a_larger_problem() {
    let mut record = Record::default();
    for (seed, density) in [(1, 0.5), (2, 0.1), (3, 0.03)] {
        let sizes: Vec<usize> = (0..60).map(|query| 2 + query * 7 % 9).collect();
        let drawing = Drawing {
            columns: 400,
            density,
            offset: 0.0,
            scale: 1.0,
        };
        let problem = Problem::draw(seed, &sizes, drawing);
        check_problem(problem, 12, &mut record, &format!("density {density}"));
    }
    record.check_order();
}

#[test]
fn bounds_hold_with_more_queries_than_are_resolved() {
    let mut record = Record::default();
    for (seed, density) in [(1, 0.3), (2, 0.01)] {
        let sizes: Vec<usize> = (0..900).map(|query| 1 + query % 4).collect();
        let drawing = Drawing {
            columns: 60,
            density,
            offset: 0.0,
            scale: 1.0,
        };
        let problem = Problem::draw(seed, &sizes, drawing);
        check_problem(problem, 40, &mut record, &format!("density {density}"));
    }
}

/// The square completed for the term of a query, whatever the numbers are: `docs/derivation.md`, section 11, "The
/// gain to the second order".
#[test]
fn the_second_order_of_any_query_is_bounded() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for case in 0..100_000 {
        let mut any = |most: f64| most * random.random_range(-1.0..1.0);
        // T - I has an eigenvalue in each direction of the vectors.
        let grown = [any(1.0).abs(), any(100.0).abs()];
        let (u, p) = ([any(1.0), any(1.0)], [any(1.0), any(1.0)]);
        let tu = [0, 1].map(|i| (1.0 + grown[i]) * u[i]);
        let dot = |a: [f64; 2], b: [f64; 2]| a[0] * b[0] + a[1] * b[1];
        let (a, b, c, d) = (dot(u, p), dot(u, tu), dot(p, tu), dot(tu, tu));
        let lambda = any(1.0).abs() + 1e-3;
        let (s, rho) = (lambda + b + any(1.0).abs(), any(3.0));
        let (beta, beta_0) = ((rho - a) / (s - b), rho / s);
        let y = dot(u, [0, 1].map(|i| grown[i] * p[i]));
        let gained = beta * (2.0 * c - beta * d);
        let bound = beta_0 * (2.0 * c - beta_0 * b) + y * y / (s + lambda);
        assert!(
            gained <= bound + 1e-9 * (1.0 + bound.abs()),
            "case {case}: {gained}, {bound}"
        );
    }
}

#[test]
fn a_spread_is_no_less_than_any_that_is_allowed() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    for count in [1, 3, 20, 700_u32] {
        let mut draw = || (random.random::<f64>(), random.random_range(0.0..9.0));
        let terms: Vec<(f64, f64)> = (0..count).map(|_| draw()).collect();
        let most = spread(terms.clone());
        // Equal shares for all, then everything for the first ones.
        let alike = terms
            .iter()
            .map(|(most, k)| most.min(1.0 / f64::from(count)) * k);
        let alike: f64 = alike.sum();
        let mut left = 1.0_f64;
        let first = terms.iter().map(|(most, k)| {
            let share = left.min(*most);
            left -= share;
            share * k
        });
        let first: f64 = first.sum();
        assert!(most * (1.0 + 1e-12) >= alike.max(first), "{count} queries");
    }
}
