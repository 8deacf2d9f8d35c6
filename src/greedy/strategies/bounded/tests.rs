//! Every bound against the exact gain, for every candidate of random problems,
//! and how tight the bounds are.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::step::{LEADING, OWN_F, P, Rest};
use super::*;
use crate::Lambda;
use crate::data::{Dataset, Queries};
use crate::greedy::strategy::{first_tied, least};
use crate::greedy::{Addition, State};
use crate::kernels::LANES;

/// The bounds in [`Checked`], in their order.
const NAMES: [&str; 6] = [
    "O(1) for a query",
    "level 0",
    "level 1",
    "level 1 with what is kept",
    "level 2",
    "level 3",
];

/// A random problem.
struct Problem {
    dataset: Dataset<'static>,
    lambda: f64,
    random: ChaCha8Rng,
}

/// How columns are drawn.
#[derive(Clone, Copy)]
struct Drawing {
    columns: usize,
    /// Share of entries that are not zero, in the densest columns.
    density: f64,
    /// Added to all labels.
    offset: f64,
    /// Every other column is multiplied with this, after labels were made.
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

/// Noise, what columns say with noise, or labels of a few queries only.
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

/// A candidate's gain and what the levels say of it; infinite where a level has no bound.
struct Checked {
    gain: f64,
    bounds: [f64; NAMES.len()],
}

/// Bounds of every candidate that may be chosen, those of level 0 by `bare`, which keeps nothing.
fn check(
    (bounded, bare): (&mut Bounded, &mut Bounded),
    round: &Round<'_>,
    step: &StepTerms,
    eligible: &[u32],
) -> Vec<Checked> {
    let mut search = PruningSearch::new(round, step, eligible);
    let contenders = bare.by_norms(&search).contenders;
    let kept = bounded.by_norms(&search).contenders;
    search.residuals = &bounded.residuals;
    assert_eq!(contenders.len(), eligible.len(), "nothing to fail at");
    let candidates: Vec<u32> = contenders
        .iter()
        .map(|contender| contender.candidate)
        .collect();
    let errors = lowmem::errors(round, &candidates);
    let mut scratch = Scratch::new(step.steps);
    let mut lanes = vec![[0.0; LANES]; step.steps];
    let mut checked = Vec::new();
    for ((contender, mut kept), error) in contenders.into_iter().zip(kept).zip(errors) {
        assert_eq!(contender.candidate, kept.candidate);
        let mut bounds = [f64::INFINITY; NAMES.len()];
        if let Some(query) = round.candidates.sole_query(contender.candidate as usize) {
            let norm = round.candidates.squared_norm(contender.candidate as usize);
            bounds[0] = bounds::single_by_norms(norm, &step.queries[query as usize], step);
        }
        bounds[1] = contender.bound;
        let (projected, _) = search.project(contender.candidate, false, &mut scratch);
        bounds[2] = projected.bound(step);
        bounds[3] = kept
            .projected
            .as_ref()
            .map_or(bounds[2], |kept| kept.bound(step));
        kept.projected.get_or_insert(Box::new(projected));
        kept.bound = f64::INFINITY;
        let [(some, few), (more, fewer)] = [0, 1].map(|turn| (LEADING[turn], step.rests[turn]));
        let by_leading = search.climb_chunk(&[kept], 0, &[(some, few), (more, fewer)], &mut lanes);
        bounds[4] = by_leading[0].bound;
        let all = [(usize::MAX, Rest::default())];
        bounds[5] = search.climb_chunk(&by_leading, more, &all, &mut lanes)[0].bound;
        checked.push(Checked {
            gain: step.error - error,
            bounds,
        });
    }
    checked
}

/// What is known of the bounds after some problems.
#[derive(Default)]
struct Record {
    /// Sums of bound less gain as a share of the error, over candidates that have every bound
    /// of levels 0 to 3.
    excess: [f64; NAMES.len()],
    count: usize,
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
        assert!(
            checked.bounds[0] * (1.0 + 1e-12) + step.slop(checked.bounds[1]) >= checked.bounds[1],
            "{what}: {} holds for none longer, {} for this one",
            checked.bounds[0],
            checked.bounds[1]
        );
        if checked.bounds[1..].iter().all(|bound| bound.is_finite()) && step.error > 0.0 {
            for (excess, bound) in self.excess.iter_mut().zip(checked.bounds) {
                *excess += ((bound - checked.gain) / step.error).min(1e3);
            }
            self.count += 1;
        }
    }

    /// Each level is tighter than the one before, on average.
    fn check_order(&self) {
        for pair in [[1, 2], [2, 4], [4, 5]] {
            let [loose, tight] = pair.map(|level| self.excess[level]);
            assert!(
                tight <= loose,
                "{}: {loose}, {}: {tight}",
                NAMES[pair[0]],
                NAMES[pair[1]]
            );
        }
        assert!(self.excess[5] >= 0.0);
    }
}

/// The place of the winner, and its error.
fn first_of_least(errors: &[f64]) -> (usize, f64) {
    let place = first_tied(errors, least(errors)).unwrap();
    (place, errors[place])
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
    while state.steps() < steps && state.folds().is_none() {
        let round = Round {
            candidates: &candidates,
            state: &state,
            sampled: false,
            ranking: None,
            room: [0, 1 << 10, 1 << 20][problem.random.random_range(0..3)],
        };
        let mut step = StepTerms::default();
        step.renew(&state, bounded.longest);
        for checked in check((&mut bounded, &mut bare), &round, &step, &eligible) {
            let what = format!("{what}, lambda {lambda}, {} steps", state.steps());
            record.add(&checked, &step, &what);
        }
        // Leaves what the next step builds upon, and must agree with the reference.
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
fn bounds_hold_with_more_queries_than_are_told_apart() {
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

/// Vectors and numbers as a step could have them, and some that none could: what the bounds
/// on untouched queries say of them is algebra.
fn draw_step(random: &mut ChaCha8Rng) -> StepTerms {
    let (steps, queries) = (random.random_range(1..4), random.random_range(1..5));
    let small = [1.0, 1e-4][random.random_range(0..2)];
    let apart = [1e-3, 2.0][random.random_range(0..2)];
    let mut vectors = Vec::new();
    for _ in 0..queries {
        let f: Vec<f64> = (0..steps)
            .map(|_| small * random.random_range(-1.0..1.0))
            .collect();
        let g: Vec<f64> = f
            .iter()
            .map(|f| f + small * apart * random.random_range(-1.0..1.0))
            .collect();
        vectors.extend(f);
        vectors.extend(g);
    }
    let h: Vec<f64> = (0..queries)
        .map(|_| 10f64.powf(random.random_range(-3.0..2.0)))
        .collect();
    let pairs = || {
        vectors
            .chunks_exact(2 * steps)
            .map(|pair| pair.split_at(steps))
    };
    let length = |g: &[f64]| g.iter().map(|g| g * g).sum::<f64>().sqrt();
    let terms = pairs().zip(&h).map(|((f, g), &h)| step::QueryTerms {
        f: length(f),
        g: length(g),
        kappa: step::kappa(f, g),
        h,
        ..step::QueryTerms::default()
    });
    let queries = terms.collect();
    let mut step = StepTerms {
        steps,
        lambda: 1.0,
        error: 1.0,
        vectors,
        queries,
        ..StepTerms::default()
    };
    step.combine();
    step
}

#[test]
fn orders_beyond_the_first_bound_any_untouched_queries() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    for case in 0..20_000 {
        let step = draw_step(&mut random);
        let z: Vec<f64> = (0..step.steps)
            .map(|_| random.random_range(-1.0..1.0))
            .collect();
        let along = |vector: &[f64]| z.iter().zip(vector).map(|(z, x)| z * x).sum::<f64>();
        let z_squared = along(&z);
        let whole = Whole {
            squared_norm: z_squared * random.random_range(1.0..4.0),
            z_squared,
            rho: random.random_range(-9.0..9.0) * [1.0, 1e-3][random.random_range(0..2)],
        };
        let s = whole.pivot(step.lambda);
        // Shares of |z|^2 that the queries have, with a sum of 1 at most.
        let mut shares: Vec<f64> = step.queries.iter().map(|_| random.random()).collect();
        let sum: f64 = shares.iter().sum();
        for share in &mut shares {
            *share /= sum;
        }
        let (mut gained, mut second, mut largest) = (0.0, 0.0, 0.0_f64);
        for ((query, terms), share) in step.queries.iter().enumerate().zip(shares) {
            let (w, x) = (along(step.f(query)), along(step.g(query)));
            let most = (1.0 + terms.h) * share.min(terms.h / (1.0 + terms.h)) * z_squared;
            let b = most.min(s - step.lambda);
            let beta = (whole.rho + w) / (s - b);
            // d_Q is no less than b_Q.
            gained += -2.0 * x * beta - beta * beta * b + 2.0 * x * whole.rho / s;
            second += -2.0 * x * w / s;
            largest = largest.max((1.0 + terms.h) * x * x);
            assert!(-x * w <= terms.kappa * z_squared, "case {case}");
        }
        let seconds = [bounds::second_order(&whole, &step, step.kappa), second];
        let fourths = [
            bounds::fourth_order(&whole, &step, z_squared * step.spread),
            bounds::fourth_order(&whole, &step, largest),
        ];
        for second in seconds {
            for fourth in fourths {
                let bound = second + fourth;
                assert!(
                    gained <= bound + 1e-12 * (1.0 + bound.abs()),
                    "case {case}: {gained}, {bound}"
                );
            }
        }
    }
}

#[test]
fn kappa_is_attained() {
    let mut random = ChaCha8Rng::seed_from_u64(4);
    for steps in [1, 2, 7, 40] {
        let mut draw = || -> Vec<f64> {
            let numbers = (0..steps).map(|_| random.random_range(-1.0..1.0));
            numbers.collect()
        };
        let (f, g) = (draw(), draw());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (f_norm, g_norm) = (dot(&f, &f).sqrt(), dot(&g, &g).sqrt());
        let worst = f.iter().zip(&g).map(|(f, g)| f / f_norm - g / g_norm);
        let worst: Vec<f64> = worst.collect();
        let value = -dot(&worst, &f) * dot(&worst, &g);
        let bound = step::kappa(&f, &g) * dot(&worst, &worst);
        assert!(
            value <= bound && bound <= value + 1e-12,
            "{steps}: {value}, {bound}"
        );
    }
}

#[test]
fn a_touched_query_is_bounded_whatever_its_projection() {
    let mut random = ChaCha8Rng::seed_from_u64(2);
    let mut step = draw_step(&mut random);
    for case in 0..100_000 {
        let mut any = |most: f64| most * random.random_range(-1.0..1.0);
        let terms = step::QueryTerms {
            f: any(1.0).abs(),
            g: any(1.0).abs(),
            h: any(2.0).abs(),
            held: any(1.0).abs(),
            ..step::QueryTerms::default()
        };
        let z_squared = any(1.0).abs();
        let mut sums = [0.0; LANES];
        for term in [P, R, OWN_G, OWN_F] {
            sums[term] = any(1.0);
        }
        let (squared_norm, z_without) = (any(1.0).abs(), any(1.0).abs());
        let part = QueryPart {
            query: 0,
            squared_norm,
            z_without,
            sums,
        };
        let whole = Whole {
            squared_norm: part.squared_norm + any(2.0).abs(),
            z_squared,
            rho: any(2.0),
        };
        let (z, beta_0, lambda) = (z_squared.sqrt(), any(2.0), 0.1);
        let (zf, x) = (z * terms.f * any(1.0), z * terms.g * any(1.0).signum());
        let folded = (1.0 + terms.h * any(1.0).abs()) * part.z_without;
        let pivot = lambda + (whole.squared_norm - part.squared_norm - folded).max(0.0);
        let length = part.squared_norm.sqrt() - terms.held * part.z_without.sqrt();
        let beta = (whole.rho - sums[R] - sums[OWN_F] + zf) / pivot;
        let c = sums[P] + sums[OWN_G] - x;
        // A part of the form is taken back, with the pivot of all queries.
        (step.queries, step.lambda) = (vec![terms], lambda);
        let taken_back = 2.0 * beta_0 * x + 2.0 * x * zf / whole.pivot(lambda);
        let gained = beta * (2.0 * c - beta * length.max(0.0).powi(2)) + taken_back;
        let bound = bounds::touched_by_norms(&whole, &[part], &step, (z, beta_0));
        assert!(
            gained <= bound + 1e-12 * (1.0 + beta * beta),
            "case {case}: {gained}, {bound}"
        );
    }
}
