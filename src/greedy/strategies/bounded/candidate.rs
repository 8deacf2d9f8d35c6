//! A candidate under suspicion: what is known of it, and what its `z` tells.

use super::bounds::{self, QueryPart, Whole};
use super::forms::Forms;
use super::terms::StepTerms;
use crate::greedy::lanes::{LANES, Lanes};
use crate::kernels;

/// A candidate with an upper bound on its gain.
#[derive(Debug, Clone, Copy)]
pub(super) struct BoundedCandidate {
    pub(super) candidate: u32,
    /// No less than its gain.
    pub(super) bound: f64,
    /// The bound without [`bounds::remainder`].
    pub(super) first_order: f64,
    pub(super) whole: Whole,
    pub(super) beta_0: f64,
    /// For a candidate of several queries whose pieces are up to date: which of them it is, and
    /// the last component of its `z`.
    pub(super) kept: Option<(u32, f64)>,
}

impl BoundedCandidate {
    /// Level 0: `first_order` is the bound but for what untouched queries add to it.
    #[inline(always)]
    pub(super) fn new(candidate: u32, first_order: f64, whole: Whole, step: &StepTerms) -> Self {
        let beta_0 = whole.rho / whole.pivot(step.lambda);
        let bound = first_order + bounds::remainder(&whole, step, beta_0);
        Self {
            candidate,
            bound,
            first_order,
            whole,
            beta_0,
            kept: None,
        }
    }

    /// Level 0 again, once the forms are known.
    pub(super) fn bound_by_spectrum(&self, step: &StepTerms, forms: &Forms) -> f64 {
        let rest = bounds::remainder_by_spectrum(&self.whole, step, forms, self.beta_0);
        self.bound.min(self.first_order + rest)
    }
}

/// Scratch for one task.
#[derive(Debug)]
pub(super) struct Scratch {
    pub(super) z: Vec<f64>,
    /// `z_Q` of every touched query.
    pub(super) parts: Vec<f64>,
    pub(super) touches: Vec<QueryPart>,
    /// `z` of suspects that passed, one after the other.
    pub(super) kept_z: Vec<f64>,
    pub(super) z_lanes: Vec<Lanes>,
}

impl Scratch {
    pub(super) fn new(steps: usize) -> Self {
        Self {
            z: vec![0.0; steps],
            parts: Vec::new(),
            touches: Vec::new(),
            kept_z: Vec::new(),
            z_lanes: vec![[0.0; LANES]; steps],
        }
    }

    /// Puts `count` kept `z` from `first` on side by side.
    pub(super) fn load_kept(&mut self, first: usize, count: usize) {
        self.z_lanes.fill([0.0; LANES]);
        let steps = self.z.len();
        for lane in 0..count {
            let z = &self.kept_z[(first + lane) * steps..][..steps];
            for (lanes, &z) in self.z_lanes.iter_mut().zip(z) {
                lanes[lane] = z;
            }
        }
    }
}

/// What a candidate's `z` tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Projected {
    pub(super) whole: Whole,
    /// Bound on what is gained in touched queries.
    pub(super) touched: f64,
    /// `- 2 beta_0 z . G`, touched queries left out.
    pub(super) linear: f64,
    pub(super) beta_0: f64,
    /// `sum (z . f_Q) (z . g_Q)` over touched queries.
    pub(super) touched_form: f64,
}

impl Projected {
    /// Level 1.
    pub(super) fn bound(&self, step: &StepTerms, forms: Option<&Forms>) -> f64 {
        let rest = bounds::remainder(&self.whole, step, self.beta_0);
        let rest = forms.map_or(rest, |forms| {
            rest.min(bounds::remainder_by_spectrum(
                &self.whole,
                step,
                forms,
                self.beta_0,
            ))
        });
        self.touched + self.linear + rest
    }

    /// Level 2, from `z' M z`, `z' C z` and `z' D z`.
    pub(super) fn bound_by_forms(&self, step: &StepTerms, forms: [f64; 3]) -> f64 {
        let touched = self.touched_form;
        let rest = bounds::remainder_by_forms(&self.whole, step, forms, touched, self.beta_0);
        self.touched + self.linear + rest
    }
}

/// Level 1 from `z` and its parts.
#[multiversion::multiversion(targets = "simd")]
pub(super) fn combine(
    step: &StepTerms,
    whole: &Whole,
    alone: bool,
    room: &mut Scratch,
) -> Projected {
    let Scratch { z, touches, .. } = room;
    let (mut touched, mut touched_form) = (0.0, 0.0);
    let mut along_g = kernels::dot(z, &step.g);
    for touch in touches.iter() {
        let (f, g) = (step.f(touch.query), step.g(touch.query));
        let (zf, zg) = (kernels::dot(z, f), kernels::dot(z, g));
        along_g -= zg;
        touched_form += zf * zg;
        if alone {
            // Without its only query the feature has no weight.
            continue;
        }
        let n = touch.n(whole) + zf;
        let c = touch.c() - zg;
        let terms = &step.queries[touch.query];
        touched += bounds::touched_by_projection(whole, touch, terms, (n, c), step.lambda);
    }
    let beta_0 = whole.rho / whole.pivot(step.lambda);
    Projected {
        whole: *whole,
        touched,
        linear: -2.0 * beta_0 * along_g,
        beta_0,
        touched_form,
    }
}

/// `|z - z_Q|^2`
#[inline(always)]
pub(super) fn without(z: &[f64], own: &[f64]) -> f64 {
    z.iter()
        .zip(own)
        .map(|(z, own)| (z - own) * (z - own))
        .sum()
}
