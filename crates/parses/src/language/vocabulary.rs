//! Finding a vocabulary that gives enough columns.

use super::assembly::Assembly;
use super::lexicon::Lexicon;
use super::options::MAX_VOCABULARY;
use super::{CorpusError, CorpusOptions};

/// Fewer rows are generated in full at once.
const FEWEST_PILOT_ROWS: usize = 250;

/// A pilot has this power of two fewer rows than the corpus.
const HALVINGS: u32 = 3;

/// The vocabulary to begin with: `options.vocabulary` doubled until a pilot of an eighth of
/// the rows promises `columns`.
pub(super) fn promising(options: &CorpusOptions, columns: usize) -> Result<usize, CorpusError> {
    let mut vocabulary = options.vocabulary;
    // An even number, for corpora of two rows a query.
    let rows = options.rows >> HALVINGS & !1;
    if rows < FEWEST_PILOT_ROWS {
        return Ok(vocabulary);
    }
    while vocabulary < MAX_VOCABULARY {
        let lexicon = Lexicon::new(options.seed, vocabulary, options.attraction);
        let mut pilot = Assembly::default();
        pilot.fill(options, &lexicon, rows, &|_| ())?;
        if extrapolated(pilot.growth()) >= columns as u128 {
            break;
        }
        vocabulary = larger(vocabulary);
    }
    Ok(vocabulary)
}

/// The next vocabulary to try.
pub(super) fn larger(vocabulary: usize) -> usize {
    (2 * vocabulary).min(MAX_VOCABULARY)
}

/// Columns to be expected at [`HALVINGS`] times twice the rows, if every doubling multiplies
/// them as the last one did, from half the rows to all.
fn extrapolated((half, all): (usize, usize)) -> u128 {
    let (half, all) = (half.max(1) as u128, all as u128);
    all * all.pow(HALVINGS) / half.pow(HALVINGS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_grow_by_the_same_factor_with_every_doubling() {
        assert_eq!(extrapolated((100, 200)), 1600);
        assert_eq!(extrapolated((200, 300)), 1012);
        assert_eq!(extrapolated((500, 500)), 500);
    }

    #[test]
    fn vocabularies_double_up_to_the_largest() {
        assert_eq!(larger(1000), 2000);
        assert_eq!(larger(MAX_VOCABULARY - 1), MAX_VOCABULARY);
    }
}
