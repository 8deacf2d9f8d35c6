//! Sentences in, features and labels out: corpora of parses to rerank.
//!
//! - [`treebank`]: sentences with dependencies, in CoNLL-U.
//! - [`linkgrammar`]: parses by the Link Grammar parser.
//! - [`corpus`]: corpora of real parses, written as files.
//!
//! Nothing here knows how to rank.

mod bag;
pub mod corpus;
pub mod linkgrammar;
pub mod treebank;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
