//! Preconditioned conjugate gradients (Hestenes and Stiefel, *Methods of conjugate gradients for solving linear
//! systems*, Journal of Research of the National Bureau of Standards 49, 1952), for several systems side by side.
//!
//! A system is `(K + ridge I) a = y^` for an [`Operator`] `K`, a ridge parameter and a right side `y^`, on the
//! subspace that the operator projects onto. Its preconditioner, module `preconditioner`, replaces the inverse. In
//! exact arithmetic:
//!
//! ```text
//! r = y^ - (K + ridge I) a;  z = (E + N N')^-1 r;  d = z
//! until |r| <= tolerance |y^|:
//!     step = r.z / d.(K + ridge I) d
//!     a = a + step d;  r = r - step (K + ridge I) d;  next = (E + N N')^-1 r
//!     d = next + (r.next / r.z before) d;  z = next
//! ```
//!
//! The carried residual drifts from the true one. So a lane begins and ends with a *check*, a round in which the
//! direction is the coefficients and `r` is the true residual. If it is too large, the iterations begin anew from
//! these coefficients, as long as that halves it.
//!
//! Systems run in `L` lanes: every vector has a number a lane for each row, so the operator reads its entries once
//! for all. Lanes never meet and sums have one order, so the bits of a system depend neither on threads nor on the
//! systems beside it.

use std::array;
use std::ops::Range;

use rayon::prelude::*;

/// Most iterations.
const ITERATIONS: usize = 5_000;

/// Growth of the residual, from its least, that only rounding explains. The error falls in each iteration, and the
/// residual exceeds it by at most the root of the condition number, of which a double has 1e16.
const DIVERGED: f64 = 1e8;

/// Rows that one task of a thread works on.
pub(super) const ROWS: usize = 256;

/// Symmetric positive semidefinite matrices `K`, one for each of `L` lanes, on a subspace for each.
pub(super) trait Operator<const L: usize>: Sync {
    /// The ridge parameter of each lane, which shifts the diagonal.
    fn shifts(&self) -> &[f64; L];

    /// `K v`, before its projection.
    fn apply(&mut self, v: &[[f64; L]], product: &mut [[f64; L]]);

    /// Projects values of the rows of a part onto the subspace of each lane.
    fn project(&self, part: usize, values: &mut [[f64; L]]);

    /// The wanted numbers of a solution in `lane`; `product` is `K` times `coefficients`.
    fn outcome(
        &self,
        lane: usize,
        coefficients: &[[f64; L]],
        product: &[[f64; L]],
        values: &mut Vec<f64>,
    );

    /// The first stage of an approximate inverse of each `K + ridge I`, which knows the rows of one part.
    fn precondition(&self, part: usize, residual: &[[f64; L]], scaled: &mut [[f64; L]]);

    /// The second stage, which knows all rows, given the outcome of the first.
    fn couple(&mut self, scaled: &mut [[f64; L]]);
}

/// The outcome of a system.
#[derive(Debug, Clone)]
pub(super) struct Solved {
    /// [`Operator::outcome`] of the best coefficients found.
    pub(super) values: Vec<f64>,
    /// Iterations taken.
    pub(super) iterations: usize,
    /// Norm of the residual `y^ - (K + ridge I) a`, as a share of the norm of `y^`: predictions for the training
    /// rows are off by no more than this share. At 1 nothing was learnt.
    pub(super) residual: f64,
}

/// `L` lanes at work. Vectors have a row for each unknown.
pub(super) struct Gradients<'a, const L: usize> {
    /// The right side `y^`, before its projection.
    y: &'a [f64],
    tolerance: f64,
    /// The rows of each part.
    parts: Vec<Range<usize>>,
    lanes: [Option<Lane>; L],
    coefficients: Vec<[f64; L]>,
    residual: Vec<[f64; L]>,
    /// The preconditioned residual.
    scaled: Vec<[f64; L]>,
    direction: Vec<[f64; L]>,
    /// `K` times the direction.
    product: Vec<[f64; L]>,
}

/// The progress of a system.
#[derive(Debug)]
struct Lane {
    /// Norm of the projected right side.
    norm: f64,
    /// Whether this round finds the true residual: the direction is the coefficients.
    checks: bool,
    /// Whether the coefficients are unchanged since the beginning, and not 0.
    fresh: bool,
    /// True residual of the previous check.
    before: f64,
    /// Residual times preconditioned residual.
    along: f64,
    /// The least norm of the residual since the last check.
    least: f64,
    iterations: usize,
    best: Solved,
}

/// The next action of a lane, decided after a round.
enum Turn {
    /// It continues, with this share of the previous direction.
    On(f64),
    /// It takes the coefficients as the direction, to check.
    Check,
    End,
}

impl<'a, const L: usize> Gradients<'a, L> {
    /// Idle lanes, for parts that hold all rows in order.
    pub(super) fn new(y: &'a [f64], tolerance: f64, parts: Vec<Range<usize>>) -> Self {
        let zeros = || vec![[0.0; L]; y.len()];
        Self {
            y,
            tolerance,
            parts,
            lanes: array::from_fn(|_| None),
            coefficients: zeros(),
            residual: zeros(),
            scaled: zeros(),
            direction: zeros(),
            product: zeros(),
        }
    }

    /// Begins a system in `lane`, whose projected right side has this `norm`, from projected coefficients, or from
    /// 0. `best` is the outcome of coefficients that are all 0.
    pub(super) fn begin(&mut self, lane: usize, norm: f64, start: Option<&[f64]>, best: Solved) {
        self.lanes[lane] = Some(Lane {
            norm,
            checks: true,
            fresh: start.is_some(),
            before: f64::INFINITY,
            along: 0.0,
            least: 0.0,
            iterations: 0,
            best,
        });
        self.set(lane, start);
    }

    /// Sets coefficients, and directions that check them.
    fn set(&mut self, lane: usize, start: Option<&[f64]>) {
        let rows = self.coefficients.iter_mut().zip(&mut self.direction);
        for (row, (coefficients, direction)) in rows.enumerate() {
            coefficients[lane] = start.map_or(0.0, |start| start[row]);
            direction[lane] = coefficients[lane];
        }
    }

    /// Takes a step, or a check, in every busy lane, and returns the outcomes of ending lanes.
    pub(super) fn round<S>(&mut self, system: &mut S) -> [Option<Solved>; L]
    where
        S: Operator<L>,
    {
        system.apply(&self.direction, &mut self.product);
        let shifts = system.shifts();
        let curvature = products(shifts, &self.direction, &self.product);
        let steps = array::from_fn(|lane| match &self.lanes[lane] {
            None => Some(0.0),
            Some(Lane { checks: true, .. }) => None,
            Some(Lane { along, .. }) => Some(along / curvature[lane]),
        });
        let squares = self.advance(system, &steps);
        system.couple(&mut self.scaled);
        let along = products(&[0.0; L], &self.residual, &self.scaled);
        let turns: [Turn; L] =
            array::from_fn(|lane| self.decide(system, lane, along[lane], squares[lane]));
        self.turn(turns.each_ref().map(|turn| match turn {
            Turn::On(share) => Some(*share),
            Turn::Check | Turn::End => None,
        }));
        let ended = |lane| match turns[lane] {
            Turn::End => {
                self.set(lane, None);
                self.lanes[lane].take().map(|ended| ended.best)
            }
            Turn::On(_) | Turn::Check => None,
        };
        array::from_fn(ended)
    }

    /// Moves all lanes by a step along their directions, or to the true residual, preconditions the
    /// new residual part by part, and returns its squares.
    fn advance<S>(&mut self, system: &S, steps: &[Option<f64>; L]) -> [f64; L]
    where
        S: Operator<L>,
    {
        let vectors = [&mut self.coefficients, &mut self.residual, &mut self.scaled];
        let mut rest = vectors.map(|vector| &mut vector[..]);
        let own = |rows: &Range<usize>| {
            let slices = rest.each_mut();
            slices.map(|slice| slice.split_off_mut(..rows.len()).unwrap_or_default())
        };
        let parts: Vec<[&mut [[f64; L]]; 3]> = self.parts.iter().map(own).collect();
        let tasks = parts.into_par_iter().zip(&self.parts).enumerate();
        let sums = tasks.map(|(part, ([coefficients, residual, scaled], rows))| {
            let along = [&self.direction[rows.clone()], &self.product[rows.clone()]];
            let y = &self.y[rows.clone()];
            step(system.shifts(), steps, y, along, coefficients, residual);
            system.project(part, residual);
            system.precondition(part, residual, scaled);
            squares(residual)
        });
        total(&sums.collect::<Vec<_>>())
    }

    /// Decides the next action of a lane, after `along` and `squares` of its residual.
    fn decide<S>(&mut self, system: &S, number: usize, along: f64, squares: f64) -> Turn
    where
        S: Operator<L>,
    {
        let Some(lane) = &mut self.lanes[number] else {
            return Turn::Check;
        };
        let now = squares.sqrt();
        if !lane.checks {
            lane.iterations += 1;
            lane.least = lane.least.min(now);
            // A NaN or a grown residual means that rounding has taken over.
            lane.checks = now <= self.tolerance * lane.norm
                || now.is_nan()
                || now > DIVERGED * lane.least
                || lane.iterations >= ITERATIONS;
            if lane.checks {
                return Turn::Check;
            }
            let before = std::mem::replace(&mut lane.along, along);
            return Turn::On(along / before);
        }
        let share = now / lane.norm;
        let closer = share < lane.best.residual;
        if std::mem::take(&mut lane.fresh) && !closer {
            // Nothing is a better start.
            self.set(number, None);
            return Turn::Check;
        }
        lane.best.iterations = lane.iterations;
        if closer {
            lane.best.residual = share;
            // Outcomes wait until rounding or the end asks for them.
            let values = &mut lane.best.values;
            values.clear();
            system.outcome(number, &self.coefficients, &self.product, values);
        }
        let halved = share < 0.5 * std::mem::replace(&mut lane.before, share);
        if share <= self.tolerance || !halved || lane.iterations >= ITERATIONS {
            return Turn::End;
        }
        lane.checks = false;
        lane.along = along;
        lane.least = now;
        Turn::On(0.0)
    }

    fn turn(&mut self, turns: [Option<f64>; L]) {
        let vectors = self
            .scaled
            .par_chunks(ROWS)
            .zip(self.coefficients.par_chunks(ROWS));
        self.direction.par_chunks_mut(ROWS).zip(vectors).for_each(
            |(direction, (scaled, coefficients))| {
                turn(&turns, direction, scaled, coefficients);
            },
        );
    }
}

/// `v . (w + shift v)` of each lane, in one order.
fn products<const L: usize>(shifts: &[f64; L], v: &[[f64; L]], w: &[[f64; L]]) -> [f64; L] {
    let chunks = v.par_chunks(ROWS).zip(w.par_chunks(ROWS));
    let sums = chunks.map(|(v, w)| product(shifts, v, w));
    total(&sums.collect::<Vec<_>>())
}

fn total<const L: usize>(sums: &[[f64; L]]) -> [f64; L] {
    let mut total = [0.0; L];
    for sum in sums {
        for lane in 0..L {
            total[lane] += sum[lane];
        }
    }
    total
}

#[multiversion::multiversion(targets = "simd")]
fn product<const L: usize>(shifts: &[f64; L], v: &[[f64; L]], w: &[[f64; L]]) -> [f64; L] {
    let mut sum = [0.0; L];
    for (left, right) in v.iter().zip(w) {
        for lane in 0..L {
            sum[lane] += left[lane] * (right[lane] + shifts[lane] * left[lane]);
        }
    }
    sum
}

#[multiversion::multiversion(targets = "simd")]
fn squares<const L: usize>(residual: &[[f64; L]]) -> [f64; L] {
    let mut squares = [0.0; L];
    for row in residual {
        for lane in 0..L {
            squares[lane] += row[lane] * row[lane];
        }
    }
    squares
}

#[multiversion::multiversion(targets = "simd")]
fn step<const L: usize>(
    shifts: &[f64; L],
    steps: &[Option<f64>; L],
    y: &[f64],
    [directions, products]: [&[[f64; L]]; 2],
    coefficients: &mut [[f64; L]],
    residual: &mut [[f64; L]],
) {
    let checks = steps.map(|step| step.is_none());
    let taken = steps.map(|step| step.unwrap_or(0.0));
    let lost = steps.map(|step| step.unwrap_or(1.0));
    let vectors = directions.iter().zip(products).zip(y);
    let own = coefficients.iter_mut().zip(residual);
    for ((along, left), ((direction, product), label)) in own.zip(vectors) {
        for lane in 0..L {
            let base = if checks[lane] { *label } else { left[lane] };
            left[lane] = base - lost[lane] * (product[lane] + shifts[lane] * direction[lane]);
            along[lane] += taken[lane] * direction[lane];
        }
    }
}

#[multiversion::multiversion(targets = "simd")]
fn turn<const L: usize>(
    turns: &[Option<f64>; L],
    direction: &mut [[f64; L]],
    scaled: &[[f64; L]],
    coefficients: &[[f64; L]],
) {
    let next = scaled.iter().zip(coefficients);
    for (slots, (steepest, checked)) in direction.iter_mut().zip(next) {
        for lane in 0..L {
            slots[lane] = match turns[lane] {
                Some(share) => steepest[lane] + share * slots[lane],
                None => checked[lane],
            };
        }
    }
}
