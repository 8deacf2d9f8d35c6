//! The Link Grammar parser, run as the program `link-parser`.
//!
//! The program is started once and given one sentence after the other; it is started anew when it
//! ends or does not answer in time. Debian has it in the packages `link-grammar` and
//! `link-grammar-dictionaries-en`. What is known of it is that of versions 5.12.
//!
//! A [`Linkage`] is a parse: words, of which the first and the last are walls (`LEFT-WALL`,
//! `RIGHT-WALL`), and links with labels between them. Links have no direction;
//! [`Link::right_is_head`] guesses one. Words are shown as
//! the dictionary has them, with subscripts (`dog.n`), marks where they were guessed (`foo[?].n`,
//! `Foo[!]`), and in brackets where nothing links them (`[foo]`); [`Linkage::places`] finds them in
//! the sentence again.
//!
//! **What results depend on.** With the same version of program and dictionary, [`Options::linkages`]
//! and [`Options::limit`], a sentence has the same linkages on every machine, unless it runs out of
//! time: a slow processor may lose sentences that a fast one parses. A loaded machine loses none
//! where the system tells the processor time of a process ([`PROCESSOR_TIME`]); elsewhere the limit
//! is one of the clock. [`Answer::TimedOut`] tells.

use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

mod group;
mod linkage;
mod output;
mod process;

pub use group::{AllEnded, PROCESSOR_TIME, end_all};
pub use linkage::{Link, Linkage, LinkedWord};
pub use process::{LinkGrammarError, LinkParser};

/// How to parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The program. Default: `link-parser`, looked for where programs are.
    pub program: PathBuf,
    /// Most linkages of a sentence, the cheapest ones. Default 20; from 1 to 1,000.
    pub linkages: usize,
    /// Most linkages that the parser looks at, and sorts by cost; of more it draws these, always
    /// the same ones. Default 1,000; from `linkages` to 100,000.
    pub limit: usize,
    /// Processor time for a sentence, or time of the clock without [`PROCESSOR_TIME`]. Default 10
    /// seconds; at least 1. The program checks it now and then; when it goes on for two seconds and
    /// half as much again, it is ended. So it is after twenty times the limit by the clock, and when it
    /// takes none of the processor for 10 seconds. To start it has this time by the clock, and 30 seconds
    /// at least.
    pub time_limit: Duration,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            program: PathBuf::from("link-parser"),
            linkages: 20,
            limit: 1000,
            time_limit: Duration::from_secs(10),
        }
    }
}

/// Versions of what parses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    /// The version of the parser, such as `link-grammar-5.12.0`.
    pub parser: String,
    /// The version of the dictionary, such as `5.11.0`.
    pub dictionary: String,
}

/// The outcome of a sentence.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// Linkages, cheapest first; at least one.
    Linkages(Vec<Linkage>),
    /// The parser found none, for the reason given.
    Failed(String),
    /// Time ran out.
    TimedOut,
    /// The parser ended at this sentence: how.
    Ended(String),
    /// The parser said something that no known version says: what was expected, and what found.
    Unreadable(String),
}
