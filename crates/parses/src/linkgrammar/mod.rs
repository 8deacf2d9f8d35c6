//! The Link Grammar parser: the program `link-parser`, and its output.
//!
//! Debian has it in the packages `link-grammar` and `link-grammar-dictionaries-en`. This module follows versions
//! 5.12.
//!
//! A [`Linkage`] is a parse. Its words begin and end with walls (`LEFT-WALL`, `RIGHT-WALL`), and its links have
//! labels. Links have no direction; [`Link::right_is_head`] guesses one. Words appear as in the dictionary: with
//! subscripts (`dog.n`), with marks on guesses (`foo[?].n`, `Foo[!]`), and in brackets without links (`[foo]`).
//! [`Linkage::places`] finds them in the sentence.
//!
//! The same versions of program and dictionary, and the same number of linkages, give a sentence the same linkages
//! on every machine. Time is the exception: a slow machine may lose sentences that a fast one parses.

mod group;
mod linkage;
mod output;
mod process;

pub use group::end_all;
pub use linkage::{Link, Linkage, LinkedWord};
pub(crate) use output::Answer;
pub use output::linkages;
pub(crate) use process::{LinkParser, Options, Version, no_thread};
