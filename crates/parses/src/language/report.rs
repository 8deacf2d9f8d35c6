//! What became of the sentences.

use serde::Serialize;

/// Counts over one corpus.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Sentences drawn, used or not.
    pub drawn: u64,
    /// Of these, sentences shorter than `min_length` or longer than `max_length`.
    pub wrong_length: u64,
    /// Of these, sentences with a single parse.
    pub unambiguous: u64,
    /// Of these, sentences whose candidates all have the same label.
    pub tied: u64,
    /// Of these, sentences that would have left room for a single row.
    pub unfitting: u64,
    /// Of these, sentences of a held-out corpus that training has too.
    pub repeated: u64,
    /// Sentences used: queries of the data set.
    pub queries: usize,
    /// Candidate parses: rows of the data set.
    pub rows: usize,
    /// Queries whose candidates include the tree that was drawn.
    pub with_own_tree: usize,
    /// Columns of the data set.
    pub columns: usize,
    /// Entries of the data set.
    pub nonzeros: usize,
    /// Words in the open classes of the lexicon.
    pub vocabulary: usize,
    /// Distinct features of a held-out corpus that training does not have, and which were left out.
    pub unseen_features: usize,
    /// Entries that were left out with them.
    pub unseen_entries: usize,
}
