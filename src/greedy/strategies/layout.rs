//! The queries that candidates touch, with the number of entries in each: bounds are sums over them.

use rayon::prelude::*;

use crate::columns::{ColumnClasses, Segment};

/// Candidates that one task lays out and bounds.
pub(super) const CHUNK: usize = 1024;

/// A candidate's entries in one query.
#[derive(Debug, Clone, Copy)]
pub(super) struct Piece {
    pub(super) query: u32,
    /// The number of entries.
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

/// The pieces of all candidates, in parts of [`CHUNK`] candidates.
#[derive(Debug)]
pub(super) struct Layout(Vec<Part>);

/// Pieces of candidate `i` of a part are `pieces[ends[i - 1]..ends[i]]`.
#[derive(Debug, Default)]
struct Part {
    ends: Vec<usize>,
    pieces: Vec<Piece>,
}

impl Layout {
    pub(super) fn new(candidates: &ColumnClasses) -> Self {
        let firsts: Vec<usize> = (0..candidates.len()).step_by(CHUNK).collect();
        let part = |first: usize| {
            let mut part = Part::default();
            for candidate in first..candidates.len().min(first + CHUNK) {
                let segments = candidates.segments(candidate);
                part.pieces
                    .extend(segments.map(|segment| Piece::new(&segment)));
                part.ends.push(part.pieces.len());
            }
            part
        };
        Self(firsts.into_par_iter().with_max_len(1).map(part).collect())
    }

    /// The pieces of a candidate, by its number.
    pub(super) fn pieces(&self, candidate: usize) -> &[Piece] {
        let part = &self.0[candidate / CHUNK];
        let number = candidate % CHUNK;
        let start = number.checked_sub(1).map_or(0, |before| part.ends[before]);
        &part.pieces[start..part.ends[number]]
    }
}

/// Whether a candidate with these pieces touches a query.
pub(super) fn touches(pieces: &[Piece], query: usize) -> bool {
    let place = pieces.binary_search_by_key(&query, |piece| piece.query as usize);
    place.is_ok()
}
