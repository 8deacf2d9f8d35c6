//! The candidates as `bounded` walks them: those seen in several queries with
//! their segments, those seen in one query by that query.

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

/// Candidates sorted out by where they occur.
#[derive(Debug)]
pub(super) struct Layout {
    /// Pieces of candidate `i` are `pieces[ends[i - 1]..ends[i]]`: none of a candidate of one query.
    ends: Vec<usize>,
    pieces: Vec<Piece>,
    /// Candidates of one query, by query, the longest columns first.
    single: Vec<u32>,
    /// Candidates of query `q` are `single[starts[q]..starts[q + 1]]`.
    starts: Vec<usize>,
}

impl Layout {
    pub(super) fn new(candidates: &ColumnClasses) -> Self {
        let (mut ends, mut pieces) = (Vec::new(), Vec::new());
        let mut single: Vec<(u32, u32)> = Vec::new();
        for candidate in (0u32..).take(candidates.len()) {
            if let Some(query) = candidates.sole_query(candidate as usize) {
                single.push((query, candidate));
            } else {
                let segments = candidates.segments(candidate as usize);
                pieces.extend(segments.map(|segment| Piece::new(&segment)));
            }
            ends.push(pieces.len());
        }
        let norm = |candidate: u32| candidates.squared_norm(candidate as usize);
        single.sort_unstable_by(|a, b| {
            a.0.cmp(&b.0)
                .then(norm(b.1).total_cmp(&norm(a.1)))
                .then(a.1.cmp(&b.1))
        });
        let starts = (0..=candidates.queries().len())
            .map(|query| single.partition_point(|&(of, _)| (of as usize) < query))
            .collect();
        let single = single.into_iter().map(|(_, candidate)| candidate).collect();
        Self {
            ends,
            pieces,
            single,
            starts,
        }
    }

    /// The pieces of `a candidate`.
    pub(super) fn pieces(&self, candidate: usize) -> &[Piece] {
        let start = candidate
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        &self.pieces[start..self.ends[candidate]]
    }

    /// Candidates seen in `query` alone, the longest columns first.
    pub(super) fn only_in(&self, query: usize) -> &[u32] {
        &self.single[self.starts[query]..self.starts[query + 1]]
    }
}
