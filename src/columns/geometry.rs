//! The sizes and places of centred columns, and the unit of ridge parameters, which follows from the sizes.
//!
//! The unit is a sum over all columns, which ranks and parts add in different orders. To have the same bits
//! everywhere, each term is first rounded to a multiple of one number:
//!
//! ```text
//! grain = 2^(exponent of the largest |v|^2 - 80)
//! sum   = the sum over all columns of round(|v|^2 / grain), an integer: exact in any order
//! unit  = sum * grain / m
//! ```
//!
//! 80 binary digits are 27 more than a double has, so columns of 1e-8 of the largest keep their digits.

use super::members::Members;

/// Binary digits of the largest squared norm that the sum keeps.
const FINEST: i32 = 80;

/// The binary exponent of `x >= 0`, at least -900, so that `2^(80 - exponent)` is finite.
fn exponent(x: f64) -> i32 {
    ((x.to_bits() >> 52) as i32 - 1023).max(-900)
}

/// The measures of one centred column.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extent {
    pub(super) squared_norm: f64,
    /// Number of queries with an entry.
    pub(super) queries: usize,
    pub(super) first: u32,
}

/// The sizes of centred columns, and their queries.
#[derive(Debug, Clone, Default)]
pub(super) struct Geometry {
    squared_norms: Vec<f64>,
    /// The query that holds every entry, or `u32::MAX`.
    sole_queries: Vec<u32>,
    /// The largest `|v|^2` of all columns, here and elsewhere; 0 without columns.
    pub(super) largest: f64,
    /// Pairs of a column and a query that it touches, of columns that touch several.
    pub(super) pieces: usize,
}

impl Geometry {
    /// The geometry of columns with these measures.
    pub(super) fn of(measures: &[Extent]) -> Self {
        let sole = |measure: &Extent| match measure.queries {
            1 => measure.first,
            _ => u32::MAX,
        };
        let touched = measures.iter().map(|measure| measure.queries);
        let mut geometry = Self {
            squared_norms: measures
                .iter()
                .map(|measure| measure.squared_norm)
                .collect(),
            sole_queries: measures.iter().map(sole).collect(),
            largest: 0.0,
            pieces: touched.filter(|&touched| touched > 1).sum(),
        };
        geometry.largest = geometry.squared_norms.iter().copied().fold(0.0, f64::max);
        geometry
    }

    /// `|v|^2` of a column.
    pub(super) fn squared_norm(&self, class: usize) -> f64 {
        self.squared_norms[class]
    }

    /// The query that holds all entries of a column, if one does.
    pub(super) fn sole_query(&self, class: usize) -> Option<u32> {
        Some(self.sole_queries[class]).filter(|&query| query != u32::MAX)
    }

    /// The sum of `|v|^2` over all `members` of the classes, as a multiple of the grain. Each term is rounded to
    /// such a multiple.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 0 to 2^81"
    )]
    pub(super) fn rounded_norms(&self, members: &Members) -> u128 {
        let scale = 2_f64.powi(FINEST - exponent(self.largest));
        let norms = self.squared_norms.iter().zip(0..);
        let rounded = |(norm, class): (&f64, usize)| {
            let multiple = (norm * scale).round().min(2_f64.powi(FINEST + 1));
            multiple as u128 * members.of(class).len() as u128
        };
        norms.map(rounded).sum()
    }

    /// The mean over `rows` rows of a sum of [`rounded_norms`](Self::rounded_norms).
    pub(super) fn mean(&self, sum: u128, rows: usize) -> f64 {
        if !self.largest.is_finite() {
            return f64::INFINITY;
        }
        let scale = 2_f64.powi(exponent(self.largest) - FINEST);
        sum as f64 * scale / rows as f64
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        self.squared_norms.len() * (8 + 4)
    }
}
