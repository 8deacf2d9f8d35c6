//! Numbers kept of a candidate from step to step, and what they and its queries tell of its gain
//! (`docs/derivation.md`, section 11, "Before level 0").

use super::bounds::{self, Products, Whole};
use super::search::PruningSearch;
use super::step::{CHANGE, EXPLAINED, GROWTH, M, OWN, OWN_CHANGE, SPREAD, StepTerms, TouchedTerms};
use crate::greedy::strategies::layout::Piece;

/// Queries that are summed before their bound is tried.
const BLOCK: usize = 128;

/// The numbers kept of a candidate.
#[derive(Debug, Clone, Copy)]
pub(super) enum Known {
    /// A bound on its gain in the step that had it, over the [`growth`](StepTerms::growth) of that step. The
    /// entries have not been read since.
    Dismissed(f64),
    /// The reach that the last step found.
    Read(Reach),
}

/// How much of the residuals a candidate may have, and how much of it is explained.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reach {
    /// `|v . m|`, or no less.
    half: f64,
    /// The root of `sum_Q (v_Q . k_Q)^2`, or no less.
    own: f64,
    /// `|z|^2`, or no less.
    z_squared: f64,
    /// `|z|^2` without the entries that are missing.
    z_least: f64,
    /// The entries of `z` that are not missing: the first so many.
    through: u32,
}

/// Sums of [`TouchedTerms`] over queries.
type Sums = [f64; size_of::<TouchedTerms>() / size_of::<f32>()];

impl Reach {
    /// The value of a candidate that nothing is known of.
    const ANY: Self = Self {
        half: f64::INFINITY,
        own: f64::INFINITY,
        z_squared: f64::INFINITY,
        z_least: 0.0,
        through: 0,
    };

    /// Takes these sums over all queries that the candidate touches, a step later. Some of them give
    /// no more.
    #[inline(always)]
    fn follow(self, sums: &Sums, squared_norm: f64, step: &StepTerms) -> Self {
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
    fn bound(&self, sums: &Sums, squared_norm: f64, step: &StepTerms) -> f64 {
        let whole = self.whole(squared_norm, 0.0, step);
        bounds::of_half(&whole, self.half, [self.own.powi(2), sums[SPREAD]], step)
    }

    /// The candidate, whose `v . r` is `rho`.
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

    /// `|z|^2` without the entries that are missing.
    pub(super) fn z_least(&self) -> f64 {
        self.z_least
    }

    /// How many entries of `z`, the newest, are missing from `|z|^2`.
    #[inline(always)]
    pub(super) fn missing(&self, step: &StepTerms) -> usize {
        step.at.steps - self.through as usize
    }

    /// The reach once `|z|^2` is known.
    pub(super) fn explained(self, z_squared: f64, step: &StepTerms) -> Self {
        Self {
            z_squared,
            z_least: z_squared,
            // Steps count in 32 bits, as features do.
            through: u32::try_from(step.at.steps).unwrap_or(u32::MAX),
            ..self
        }
    }
}

impl Known {
    /// The value of a candidate that nothing is known of.
    pub(super) const NOTHING: Self = Self::Dismissed(f64::INFINITY);

    /// Forgets what holds for the last step only.
    pub(super) fn forget(&mut self) {
        if let Self::Read(_) = self {
            *self = Self::NOTHING;
        }
    }

    /// The bound of an earlier step, with all that it may have grown by.
    #[inline(always)]
    pub(super) fn kept(&self, step: &StepTerms) -> f64 {
        match self {
            Self::Dismissed(bound) => bound * step.growth.now,
            Self::Read(_) => f64::INFINITY,
        }
    }

    /// Adds some queries to the sums, and says what the candidate then reaches, with a bound; that of
    /// all its queries together is one on its gain.
    #[inline(always)]
    pub(super) fn sum(
        &self,
        sums: &mut Sums,
        pieces: &[Piece],
        squared_norm: f64,
        step: &StepTerms,
    ) -> (Reach, f64) {
        for piece in pieces {
            for (sum, &term) in sums.iter_mut().zip(&step.touched[piece.query as usize]) {
                *sum += f64::from(term);
            }
        }
        let last = match *self {
            Self::Dismissed(_) => Reach::ANY,
            Self::Read(reach) => reach,
        };
        let reach = last.follow(sums, squared_norm, step);
        (reach, reach.bound(sums, squared_norm, step))
    }

    /// The bound that the entries tell.
    #[inline(always)]
    pub(super) fn read(&self, products: &Products, squared_norm: f64, step: &StepTerms) -> Reach {
        let half = 0.5 * (products.rho + products.c).abs();
        let most = squared_norm * products.explained.min(1.0);
        let (last, tau) = match (*self, step.at.added) {
            (Self::Read(last), Some(0)) => (last, &[][..]),
            (Self::Read(last), Some(1)) => (last, &[products.tau * products.tau][..]),
            _ => (Reach::ANY, &[][..]),
        };
        let own = products.k_squared.sqrt();
        let last = Reach { half, own, ..last };
        let newest: f64 = tau.iter().sum();
        if last.missing(step) == tau.len() {
            return last.explained(last.z_least + newest, step);
        }
        let z_squared = last.z_squared + newest;
        Reach {
            z_squared: z_squared.min(most),
            ..last
        }
    }
}

/// Whether the queries that a candidate touches tell that it can not win. If they do, what is known
/// follows the step; if not, the entries have to be read.
#[multiversion::multiversion(targets = "simd")]
pub(super) fn dismissed(
    known: &mut Known,
    search: &PruningSearch<'_>,
    pieces: &[Piece],
    squared_norm: f64,
) -> bool {
    let step = search.step;
    let (mut sums, mut reach) = (Sums::default(), Reach::ANY);
    for block in pieces.chunks(BLOCK) {
        let bound;
        (reach, bound) = known.sum(&mut sums, block, squared_norm, step);
        if search.may_win(bound) {
            return false;
        }
    }
    let surcharges = step.growth.surcharge * pieces.len() as f64;
    let bound = 2.0 * squared_norm / step.lambda * (sums[M] + surcharges);
    *known = if search.may_win(bound) {
        Known::Read(reach)
    } else {
        Known::Dismissed(bound / step.growth.now)
    };
    true
}
