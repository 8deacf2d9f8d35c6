//! Files in and out: text that may be compressed, read within a limit and refused with its place,
//! and files that appear whole or not at all. It knows nothing of what is in them.

pub mod error;
pub mod input;
mod number;
mod output;
mod remedy;
mod strings;

pub use error::{Place, ReadError, ReadErrorKind, quote};
pub use input::{hash_text, read_whole};
pub use number::{counted, exact, push_integer, push_number, short};
pub use output::{CompleteOutput, Output};
pub use remedy::{Parameter, Remedy, Wording};
pub use strings::Strings;
