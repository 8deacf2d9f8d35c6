//! Sentences with dependencies: treebanks, and parses of any parser.
//!
//! [`conllu`] reads CoNLL-U, with multiword tokens and empty nodes, one parse a sentence or several. Malformed text
//! is an error with file, line and column. It concerns one sentence: the reader continues with the next one if the
//! caller asks.
//!
//! ```
//! use rankrls_parses::treebank::conllu;
//!
//! let text = "1\tBirds\tbird\tNOUN\t_\t_\t2\tnsubj\t_\t_\n\
//!             2\tsing\tsing\tVERB\t_\t_\t0\troot\t_\tSpaceAfter=No\n\
//!             3\t.\t.\tPUNCT\t_\t_\t2\tpunct\t_\t_\n";
//! let sentence = conllu::sentences(text.as_bytes(), "text").next().expect("one sentence")?;
//! assert_eq!(sentence.text(), "Birds sing.");
//! assert_eq!(sentence.words()[0].head, 2);
//! # Ok::<(), rankrls_files::ReadError>(())
//! ```

use std::path::Path;

use rankrls_files::{ReadError, read_whole};

pub mod conllu;
mod heads;
pub(crate) mod hidden;
mod lines;
mod sentence;

pub use sentence::{NBest, Sentence, Word};

/// Most bytes of text in a file.
const LARGEST: u64 = 4 << 30;

/// The whole text of a file of sentences, which may be compressed; `-` is standard input. Refuses a file whose
/// comment names an order of columns other than CoNLL-U's.
pub fn read(path: &Path) -> Result<Vec<u8>, ReadError> {
    let text = read_whole(path, LARGEST)?;
    conllu::check_columns(&text, &path.display().to_string())?;
    Ok(text)
}
