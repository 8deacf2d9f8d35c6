//! The candidates as `bounded` walks them.

use crate::columns::{ColumnClasses, Segment};

/// A candidate's entries in one query.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) query: u32,
    /// How many entries.
    pub(super) length: u32,
}

impl Piece {
    pub(super) fn new(segment: &Segment<'_>) -> Self {
        // Queries and rows count in 32 bits.
        let short = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Self {
            query: short(segment.query),
            length: short(segment.column.rows.len()),
        }
    }
}

/// The pieces of all candidates.
#[derive(Debug)]
pub(super) struct Layout {
    /// Pieces of candidate `i` are `pieces[ends[i - 1]..ends[i]]`.
    ends: Vec<usize>,
    pieces: Vec<Piece>,
}

impl Layout {
    pub(super) fn new(candidates: &ColumnClasses) -> Self {
        let (mut ends, mut pieces) = (Vec::new(), Vec::new());
        for candidate in 0..candidates.len() {
            let segments = candidates.segments(candidate);
            pieces.extend(segments.map(|segment| Piece::new(&segment)));
            ends.push(pieces.len());
        }
        Self { ends, pieces }
    }

    /// The pieces of `a candidate`.
    pub(super) fn pieces(&self, candidate: usize) -> &[Piece] {
        let start = candidate
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        &self.pieces[start..self.ends[candidate]]
    }
}
