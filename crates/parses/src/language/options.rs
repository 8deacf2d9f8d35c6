//! What corpus to generate.

use serde::Serialize;
use thiserror::Error;

/// Largest vocabulary.
pub(super) const MAX_VOCABULARY: usize = 1 << 21;

/// What corpus to generate.
///
/// The default has 2,000 rows. Change what you need:
///
/// ```
/// use rankrls_parses::language::CorpusOptions;
///
/// let options = CorpusOptions {
///     rows: 500,
///     seed: 7,
///     ..CorpusOptions::default()
/// };
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
pub struct CorpusOptions {
    /// Rows (candidate parses), exactly this many; from 2
    // Even where `max_parses` is 2, since every sentence has two rows or more.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().rows))]
    pub rows: usize,
    /// Columns (features) at the least, for which the vocabulary is enlarged [default: as many as
    /// the vocabulary gives]
    // They are reached by doubling the vocabulary, so that there may be a good deal more of them.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    pub columns: Option<usize>,
    /// Seed of words and sentences
    #[cfg_attr(feature = "clap", arg(long, value_name = "SEED"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().seed))]
    pub seed: u64,
    /// Nouns, verbs, adjectives and adverbs in all, from 100 to 2097152
    // A few dozen function words join them. With `columns` it is where the doubling begins.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().vocabulary))]
    pub vocabulary: usize,
    /// Most parses of a sentence, from 2 to 1000
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().max_parses))]
    pub max_parses: usize,
    /// Fewest words of a sentence, from 1 to --max-length
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().min_length))]
    pub min_length: usize,
    /// Most words of a sentence, from 6 to 60
    // Time and non-zeros a row grow with it.
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().max_length))]
    pub max_length: usize,
    /// Percentage of words that follow the preferences of their governors, from 0 (words tell
    /// nothing of attachment) to 100
    #[cfg_attr(feature = "clap", arg(long, value_name = "PERCENT"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().attraction))]
    pub attraction: u32,
}

impl Default for CorpusOptions {
    fn default() -> Self {
        Self {
            rows: 2000,
            columns: None,
            seed: 1,
            vocabulary: 2000,
            max_parses: 20,
            min_length: 8,
            max_length: 24,
            attraction: 90,
        }
    }
}

impl CorpusOptions {
    /// Refuses options outside their ranges.
    ///
    /// # Errors
    /// [`CorpusError::Option`] with the name of the option.
    pub fn validate(&self) -> Result<(), CorpusError> {
        let rows_limit = u32::MAX as usize;
        within("vocabulary", self.vocabulary, 100, MAX_VOCABULARY)?;
        within("max_parses", self.max_parses, 2, 1000)?;
        within("max_length", self.max_length, 6, 60)?;
        within("min_length", self.min_length, 1, self.max_length)?;
        within("attraction", self.attraction as usize, 0, 100)?;
        within("columns", self.columns.unwrap_or(1), 1, rows_limit)?;
        self.validate_rows("rows", self.rows)
    }

    /// Refuses a number of rows, called `option`, that no corpus with these options has.
    ///
    /// # Errors
    /// [`CorpusError::Option`].
    pub fn validate_rows(&self, option: &'static str, rows: usize) -> Result<(), CorpusError> {
        within(option, rows, 2, u32::MAX as usize)?;
        if self.max_parses == 2 && rows % 2 == 1 {
            return Err(CorpusError::Option {
                option,
                expected: "an even number, as max_parses is 2".to_owned(),
                found: rows,
            });
        }
        Ok(())
    }
}

/// Refuses a value outside a range.
pub(super) fn within(
    option: &'static str,
    found: usize,
    least: usize,
    most: usize,
) -> Result<(), CorpusError> {
    if (least..=most).contains(&found) {
        return Ok(());
    }
    Err(CorpusError::Option {
        option,
        expected: format!("from {least} to {most}"),
        found,
    })
}

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
    /// Whoever took the rows wanted no more.
    #[error("stopped before all rows were drawn")]
    Stopped,
    /// The lengths asked for are too rare.
    #[error(
        "none of {sentences} sentences in a row can be used; widen the range from min_length to max_length"
    )]
    Exhausted {
        /// Sentences drawn in vain.
        sentences: u64,
    },
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_is_valid() {
        assert_eq!(CorpusOptions::default().validate(), Ok(()));
    }

    #[test]
    fn options_out_of_range_are_named() {
        type Change = fn(&mut CorpusOptions);
        let odd = CorpusOptions {
            rows: 101,
            max_parses: 2,
            ..CorpusOptions::default()
        };
        assert!(odd.validate().is_err());
        let changes: [(&str, Change); 7] = [
            ("rows", |options| options.rows = 1),
            ("columns", |options| options.columns = Some(0)),
            ("vocabulary", |options| options.vocabulary = 99),
            ("max_parses", |options| options.max_parses = 1),
            ("min_length", |options| options.min_length = 25),
            ("max_length", |options| options.max_length = 5),
            ("attraction", |options| options.attraction = 101),
        ];
        for (name, change) in changes {
            let mut options = CorpusOptions::default();
            change(&mut options);
            match options.validate() {
                Err(CorpusError::Option { option, .. }) => assert_eq!(option, name),
                other => panic!("{name}: {other:?}"),
            }
        }
    }
}
