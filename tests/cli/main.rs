//! The command line, run as users run it.

mod build;
mod common;
mod corpora;
mod corpus;
mod embedded;
mod evaluate;
mod inspect;
mod plan;
mod predict;
mod select;
mod selection_json;
mod signals;
mod support;
