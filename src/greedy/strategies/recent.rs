//! The newest rows of `Phi`, which the state does not keep: with them `|z|^2` of a candidate follows a few steps.

use rayon::prelude::*;

use crate::data::Column;
use crate::greedy::State;
use crate::linalg::kernels::{LANES, Lanes};

/// Rows that a task takes.
const CHUNK: usize = 1 << 13;

/// The rows of the last steps, by example.
#[derive(Debug, Default)]
pub(super) struct Recent {
    /// That of step `i` in lane `i % 8`.
    rows: Vec<Lanes>,
    /// How many there are.
    count: usize,
    /// `t`
    steps: usize,
}

impl Recent {
    /// Takes the newest row of a state, which had a step less the last time, or as many. Of others older rows are
    /// not known.
    pub(super) fn follow(&mut self, state: &State) {
        let Some(last) = state.last().filter(|_| state.steps() != self.steps) else {
            return;
        };
        let follows = self.steps + 1 == state.steps();
        self.count = if follows {
            LANES.min(self.count + 1)
        } else {
            1
        };
        self.steps = state.steps();
        self.rows.resize(last.phi.len(), [0.0; LANES]);
        let lane = (self.steps - 1) % LANES;
        let parts = self
            .rows
            .par_chunks_mut(CHUNK)
            .zip(last.phi.par_chunks(CHUNK));
        parts.for_each(|(rows, phi)| {
            for (row, &phi) in rows.iter_mut().zip(phi) {
                row[lane] = phi;
            }
        });
    }

    /// `|z|^2` of so many newest entries of `z`, if their rows are there.
    pub(super) fn explained(&self, column: Column<'_>, newest: usize) -> Option<f64> {
        if newest == 0 || newest > self.count {
            return (newest == 0).then_some(0.0);
        }
        let mut z = [0.0; LANES];
        for (row, value) in column.iter() {
            for (z, phi) in z.iter_mut().zip(&self.rows[row]) {
                *z += value * phi;
            }
        }
        let steps = self.steps - newest..self.steps;
        Some(steps.map(|step| z[step % LANES].powi(2)).sum())
    }
}
