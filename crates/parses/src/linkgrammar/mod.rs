//! The Link Grammar parser: the program `link-parser`, and what it prints.
//!
//! Debian has it in the packages `link-grammar` and `link-grammar-dictionaries-en`. What is known of it is
//! that of versions 5.12.
//!
//! A [`Linkage`] is a parse: words, of which the first and the last are walls (`LEFT-WALL`,
//! `RIGHT-WALL`), and links with labels between them. Links have no direction;
//! [`Link::right_is_head`] guesses one. Words are shown as
//! the dictionary has them, with subscripts (`dog.n`), marks where they were guessed (`foo[?].n`,
//! `Foo[!]`), and in brackets where nothing links them (`[foo]`); [`Linkage::places`] finds them in
//! the sentence again.
//!
//! With the same version of program and dictionary, and as many linkages, a sentence has the same ones on
//! every machine, unless it runs out of time: a slow machine may lose sentences that a fast one parses.

mod group;
mod linkage;
mod output;
mod process;

pub use group::end_all;
pub use linkage::{Link, Linkage, LinkedWord};
pub(crate) use output::Answer;
pub use output::linkages;
pub(crate) use process::{LinkParser, Options, Version, no_thread};
