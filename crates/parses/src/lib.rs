//! Sentences in, features and labels out: corpora of parses to rerank.
//!
//! - [`treebank`]: sentences with dependencies, in CoNLL-U.
//! - [`linkgrammar`]: parses by the Link Grammar parser.
//! - [`corpus`]: corpora of real parses, written as files.
//! - [`language`]: corpora of a generated language, as arrays.
//!
//! Nothing here knows how to rank.

mod bag;
pub mod corpus;
pub mod language;
pub mod linkgrammar;
mod random;
pub mod treebank;
