//! The numbers kept of a candidate from step to step, and the bounds on its gain by them and its queries
//! (`docs/derivation.md`, section 11, "Before level 0").

use super::bounds::{self, Products, Whole};
use super::search::PruningSearch;
use super::step::{CHANGE, EXPLAINED, GROWTH, M, OWN, OWN_CHANGE, SPREAD, StepTerms, TouchedTerms};
use crate::greedy::strategies::layout::Piece;
use crate::linalg::kernels::{LANES, Lanes};

/// Queries summed before a trial of their bound.
const BLOCK: usize = 128;

/// Numbers that a query adds to a candidate's sums.
const TERMS: usize = size_of::<TouchedTerms>() / size_of::<f32>();

/// The numbers kept of some candidates, each in its place.
#[derive(Debug)]
pub(super) struct Known<'a> {
    /// A bound on the gain in the step that had it, over the [`growth`](StepTerms::growth) of that step. The entries have
    /// not been read since. Infinite where the reach tells more.
    pub(super) bounds: &'a mut [f64],
    /// The reach that the last step found, or [`Reach::ANY`].
    pub(super) reaches: &'a mut [Reach],
}

/// A candidate that may win as far as earlier steps tell.
#[derive(Debug)]
pub(super) struct Doubtful<'a> {
    pub(super) place: usize,
    pub(super) pieces: &'a [Piece],
    pub(super) squared_norm: f64,
}

/// The candidate's share of the residuals, and its explained part.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    /// At least `|v . m|`.
    half: f64,
    /// At least the root of `sum_Q (v_Q . k_Q)^2`.
    own: f64,
    /// At least `|z|^2`.
    z_squared: f64,
    /// `|z|^2` without the missing entries.
    z_least: f64,
    /// The number of entries of `z`, from the first, that are not missing.
    through: u32,
}

/// Sums of [`TouchedTerms`] over the queries of up to eight candidates.
type Sums = [Lanes; TERMS];

impl Reach {
    /// The value of an unknown candidate.
    pub(super) const ANY: Self = Self {
        half: f64::INFINITY,
        own: f64::INFINITY,
        z_squared: f64::INFINITY,
        z_least: 0.0,
        through: 0,
    };

    /// The reach a step later, with these sums over all queries that the candidate touches. Sums over some of them
    /// give at most as much.
    #[inline(always)]
    fn follow(self, sums: &[f64; TERMS], squared_norm: f64, step: &StepTerms) -> Self {
        let half = self.half + (squared_norm * sums[CHANGE]).sqrt();
        let changed = sums[OWN_CHANGE].min(step.sums.largest_change);
        let most = sums[OWN].min(step.sums.largest);
        let own = self.own + (squared_norm * changed).sqrt();
        let z_squared = self.z_squared + squared_norm * sums[GROWTH];
        Self {
            half: half.min((squared_norm * sums[M]).sqrt()),
            own: own.min((squared_norm * most).sqrt()),
            z_squared: z_squared.min(squared_norm * sums[EXPLAINED].min(1.0)),
            ..self
        }
    }

    /// A bound on the gain.
    #[inline(always)]
    fn bound(&self, sums: &[f64; TERMS], squared_norm: f64, step: &StepTerms) -> f64 {
        let whole = self.whole(squared_norm, 0.0, step);
        bounds::of_half(&whole, self.half, [self.own.powi(2), sums[SPREAD]], step)
    }

    /// The terms of the candidate, with `rho` for `v . r`.
    #[inline(always)]
    pub(super) fn whole(&self, squared_norm: f64, rho: f64, step: &StepTerms) -> Whole {
        Whole {
            squared_norm,
            z_squared: self.z_squared,
            z_least: self.z_least,
            rho,
            fourth: step.sums.fourth[0] * self.z_squared,
        }
    }

    /// `|z|^2` without the missing entries.
    pub(super) fn z_least(&self) -> f64 {
        self.z_least
    }

    /// The number of newest entries of `z` missing from `|z|^2`.
    #[inline(always)]
    pub(super) fn missing(&self, step: &StepTerms) -> usize {
        step.at.steps - self.through as usize
    }

    /// The reach with a known `|z|^2`.
    pub(super) fn explained(self, z_squared: f64, step: &StepTerms) -> Self {
        Self {
            z_squared,
            z_least: z_squared,
            // Steps, like features, count in 32 bits.
            through: u32::try_from(step.at.steps).unwrap_or(u32::MAX),
            ..self
        }
    }
    /// What the entries tell, a step later.
    #[inline(always)]
    pub(super) fn read(self, products: &Products, squared_norm: f64, step: &StepTerms) -> Self {
        let half = 0.5 * (products.rho + products.c).abs();
        let most = squared_norm * products.explained.min(1.0);
        let known = self.z_squared < f64::INFINITY;
        let (last, tau) = match step.at.added.filter(|_| known) {
            Some(0) => (self, &[][..]),
            Some(1) => (self, &[products.tau * products.tau][..]),
            _ => (Self::ANY, &[][..]),
        };
        let own = products.k_squared.sqrt();
        let last = Self { half, own, ..last };
        let newest: f64 = tau.iter().sum();
        if last.missing(step) == tau.len() {
            return last.explained(last.z_least + newest, step);
        }
        let z_squared = last.z_squared + newest;
        Self {
            z_squared: z_squared.min(most),
            ..last
        }
    }
}

/// Reaches of up to eight candidates, side by side.
#[derive(Debug, Default)]
struct Reaches {
    half: Lanes,
    own: Lanes,
    z_squared: Lanes,
    z_least: Lanes,
    squared_norms: Lanes,
}

impl Reaches {
    /// Takes the reach of a candidate with this `|v|^2`.
    #[inline(always)]
    fn set(&mut self, lane: usize, reach: Reach, squared_norm: f64) {
        (self.half[lane], self.own[lane]) = (reach.half, reach.own);
        (self.z_squared[lane], self.z_least[lane]) = (reach.z_squared, reach.z_least);
        self.squared_norms[lane] = squared_norm;
    }

    /// What candidates' queries tell of the `next` reaches, and bounds on gains: the sums of all queries together
    /// give one on the gain.
    #[inline(always)]
    fn follow(&self, sums: &Sums, step: &StepTerms, next: &mut Self) -> Lanes {
        let mut bounds = [0.0; LANES];
        for lane in 0..LANES {
            let sums = sums.each_ref().map(|sum| sum[lane]);
            let last = Reach {
                half: self.half[lane],
                own: self.own[lane],
                z_squared: self.z_squared[lane],
                z_least: self.z_least[lane],
                through: 0,
            };
            let reach = last.follow(&sums, self.squared_norms[lane], step);
            bounds[lane] = reach.bound(&sums, self.squared_norms[lane], step);
            (next.half[lane], next.own[lane]) = (reach.half, reach.own);
            next.z_squared[lane] = reach.z_squared;
        }
        bounds
    }
}

impl Known<'_> {
    /// Forgets facts about the last step alone.
    pub(super) fn forget(&mut self, place: usize) {
        self.reaches[place] = Reach::ANY;
    }

    /// The bound of an earlier step, with its largest possible growth.
    #[inline(always)]
    pub(super) fn kept(&self, place: usize, step: &StepTerms) -> f64 {
        self.bounds[place] * step.growth.now
    }

    /// Takes the reach of a candidate that was read.
    pub(super) fn set(&mut self, place: usize, reach: Reach) {
        (self.bounds[place], self.reaches[place]) = (f64::INFINITY, reach);
    }

    /// Whether the queries that up to eight candidates touch tell that they can not win. If they do, what is known
    /// follows the step; if not, the entries have to be read.
    pub(super) fn dismissed(
        &mut self,
        search: &PruningSearch<'_>,
        block: &[Doubtful<'_>],
    ) -> [bool; LANES] {
        let step = search.step;
        let mut last = Reaches::default();
        for (lane, doubtful) in block.iter().enumerate() {
            last.set(lane, self.reaches[doubtful.place], doubtful.squared_norm);
        }
        let (mut sums, mut next) = (Sums::default(), Reaches::default());
        let (mut pieces, mut dismissed) = ([&[][..]; LANES], [false; LANES]);
        dismissed[..block.len()].fill(true);
        let longest = block.iter().map(|doubtful| doubtful.pieces.len()).max();
        for start in (0..longest.unwrap_or(0)).step_by(BLOCK) {
            for (lane, doubtful) in block.iter().enumerate() {
                let rest = doubtful.pieces.get(start..).unwrap_or_default();
                // What is to be read needs no further sums.
                let most = if dismissed[lane] { BLOCK } else { 0 };
                pieces[lane] = &rest[..most.min(rest.len())];
            }
            let bounds = by_queries(&mut sums, &last, &pieces, step, &mut next);
            for (dismissed, bound) in dismissed.iter_mut().zip(bounds) {
                *dismissed &= !search.may_win(bound);
            }
            if !dismissed.contains(&true) {
                break;
            }
        }
        for (lane, doubtful) in block
            .iter()
            .enumerate()
            .filter(|(lane, _)| dismissed[*lane])
        {
            let surcharges = step.growth.surcharge * doubtful.pieces.len() as f64;
            let bound = 2.0 * doubtful.squared_norm / step.lambda * (sums[M][lane] + surcharges);
            let kept = &mut self.reaches[doubtful.place];
            if search.may_win(bound) {
                (kept.half, kept.own) = (next.half[lane], next.own[lane]);
                kept.z_squared = next.z_squared[lane];
                self.bounds[doubtful.place] = f64::INFINITY;
            } else {
                *kept = Reach::ANY;
                self.bounds[doubtful.place] = bound / step.growth.now;
            }
        }
        dismissed
    }
}

/// Adds some queries of eight candidates to their sums, and says what the candidates then reach, with bounds.
#[multiversion::multiversion(targets = "simd")]
fn by_queries(
    sums: &mut Sums,
    last: &Reaches,
    pieces: &[&[Piece]; LANES],
    step: &StepTerms,
    next: &mut Reaches,
) -> Lanes {
    for (lane, pieces) in pieces.iter().enumerate() {
        let mut own = sums.each_ref().map(|sum| sum[lane]);
        for piece in *pieces {
            for (sum, &term) in own.iter_mut().zip(&step.touched[piece.query as usize]) {
                *sum += f64::from(term);
            }
        }
        for (sum, own) in sums.iter_mut().zip(own) {
            sum[lane] = own;
        }
    }
    last.follow(sums, step, next)
}

/// The bound that all queries of a candidate tell.
#[cfg(test)]
pub(super) fn by_all_queries(
    reach: Reach,
    pieces: &[Piece],
    squared_norm: f64,
    step: &StepTerms,
) -> f64 {
    let (mut last, mut next) = (Reaches::default(), Reaches::default());
    last.set(0, reach, squared_norm);
    let mut all = [&[][..]; LANES];
    all[0] = pieces;
    by_queries(&mut Sums::default(), &last, &all, step, &mut next)[0]
}
