//! Files in and out. Text may be compressed, is read within a limit, and is refused with its place. Files appear
//! whole or not at all. Long runs keep their finished work. The crate also finds the free memory, and knows no
//! file's contents.

pub mod error;
pub mod input;
mod json;
mod lines;
mod location;
pub mod memory;
mod number;
mod output;
mod part;
mod query;
mod remedy;
mod signature;
mod strings;
pub mod text;
mod unfinished;

pub use error::{Place, ReadError, ReadErrorKind, escaped, escaped_lines, quote};
pub use input::{read_regular, read_whole};
pub use json::write_json;
pub use lines::{LinePlace, Lines};
pub use location::FilePlace;
pub use number::{counted, exact, push_integer, push_number, short};
pub use output::{CompleteOutput, Compression, Output};
pub use part::Part;
pub use query::{escaped_id, unescaped_id};
pub use remedy::{Parameter, Remedy};
pub use strings::Strings;
pub use unfinished::{UnfinishedFolder, naming, take_away};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
