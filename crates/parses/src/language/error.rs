//! What can go wrong when a corpus is generated.

use thiserror::Error;

/// Why there is no corpus.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CorpusError {
    /// An option outside its range.
    #[error("{option} is {found}: expected {expected}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// What it may be.
        expected: String,
        /// What it is.
        found: usize,
    },
    /// No vocabulary gives so many columns on so few rows.
    #[error(
        "{asked} columns are out of reach: {reached} occur with the largest vocabulary, of {vocabulary} words; ask for more rows, longer sentences or fewer columns"
    )]
    Columns {
        /// Columns asked for.
        asked: usize,
        /// Columns that occur at the largest vocabulary.
        reached: usize,
        /// The largest vocabulary.
        vocabulary: usize,
    },
    /// The lengths asked for are too rare.
    #[error(
        "none of {sentences} sentences in a row can be used; widen the range from min_length to max_length"
    )]
    Exhausted {
        /// Sentences drawn in vain.
        sentences: u64,
    },
}
