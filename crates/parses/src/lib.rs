//! Sentences in, features and labels out: corpora of parses to rerank.
//!
//! - [`treebank`]: sentences with dependencies, in CoNLL-U.
//! - [`linkgrammar`]: parses by the Link Grammar parser.
//! - [`corpus`]: corpora of real parses, as folders of files.
//!
//! Nothing here knows how to rank.

mod bag;
pub mod corpus;
mod error;
pub mod linkgrammar;
pub mod treebank;

pub use error::Error;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
