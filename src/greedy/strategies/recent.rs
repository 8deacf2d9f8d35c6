//! The newest rows of `Phi`, which the state does not keep. With them `|z|^2` of a candidate follows a few steps.

use rayon::prelude::*;

use crate::data::Column;
use crate::greedy::State;
use crate::linalg::kernels::{LANES, Lanes};

/// Rows that a task takes.
const CHUNK: usize = 1 << 13;

/// Groups of eight rows that are kept once there are many.
const GROUPS: usize = 4;

/// Steps after which there are so many groups: then reading more rows costs less than solving for `z`.
const MANY: usize = 6 * GROUPS * LANES;

/// The rows of the last steps, by example.
#[derive(Debug, Default)]
pub(super) struct Recent {
    /// That of step `i` in lane `i % 8` of its [group](group_of).
    groups: [Vec<Lanes>; GROUPS],
    /// The number of rows.
    count: usize,
    /// `t`
    steps: usize,
}

impl Recent {
    /// Takes the newest row of a state with as many steps as the last time, or one more. After any other state,
    /// older rows are unknown.
    pub(super) fn follow(&mut self, state: &State) {
        let Some(last) = state.last().filter(|_| state.steps() != self.steps) else {
            return;
        };
        let follows = self.steps + 1 == state.steps();
        self.steps = state.steps();
        let step = self.steps - 1;
        self.count = if follows {
            most_rows(step).min(self.count + 1)
        } else {
            1
        };
        let rows = &mut self.groups[group_of(step)];
        rows.resize(last.phi.len(), [0.0; LANES]);
        let lane = step % LANES;
        let parts = rows.par_chunks_mut(CHUNK).zip(last.phi.par_chunks(CHUNK));
        parts.for_each(|(rows, phi)| {
            for (row, &phi) in rows.iter_mut().zip(phi) {
                row[lane] = phi;
            }
        });
    }

    /// `|z|^2` of the `newest` entries of `z`, if their rows are present.
    pub(super) fn explained(&self, column: Column<'_>, newest: usize) -> Option<f64> {
        if newest == 0 || newest > self.count {
            return (newest == 0).then_some(0.0);
        }
        let steps = self.steps - newest..self.steps;
        let mut z = [[0.0; LANES]; GROUPS];
        for (group, (z, rows)) in z.iter_mut().zip(&self.groups).enumerate() {
            if steps.clone().any(|step| group_of(step) == group) {
                *z = products(rows, column);
            }
        }
        Some(
            steps
                .map(|step| z[group_of(step)][step % LANES].powi(2))
                .sum(),
        )
    }

    /// Bytes of an example where there may be so many steps.
    pub(super) fn bytes_of_row(capacity: usize) -> usize {
        most_rows(capacity.saturating_sub(1)) * size_of::<f64>()
    }
}

/// How many rows there are at most after a step, whose number this is. When a second group begins, all of the first
/// are there still.
fn most_rows(step: usize) -> usize {
    if step < MANY + LANES {
        LANES
    } else {
        GROUPS * LANES
    }
}

/// The group of the row of a step: the first, until there are many.
fn group_of(step: usize) -> usize {
    if step < MANY {
        0
    } else {
        step / LANES % GROUPS
    }
}

/// The products of a column with eight rows.
#[inline(always)]
fn products(rows: &[Lanes], column: Column<'_>) -> Lanes {
    let mut products = [0.0; LANES];
    for (row, value) in column.iter() {
        for (product, phi) in products.iter_mut().zip(&rows[row]) {
            *product += value * phi;
        }
    }
    products
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_rows_have_places_of_their_own() {
        let mut count = 0;
        for step in 0..3 * MANY {
            count = most_rows(step).min(count + 1);
            let newest = step + 1 - count..step + 1;
            let mut places: Vec<(usize, usize)> = newest
                .clone()
                .map(|step| (group_of(step), step % LANES))
                .collect();
            places.sort_unstable();
            places.dedup();
            assert_eq!(places.len(), newest.len(), "{step}");
            let bytes = Recent::bytes_of_row(step + 1);
            assert!(
                places.iter().all(|&(group, _)| 64 * group < bytes),
                "{step}"
            );
        }
    }
}
