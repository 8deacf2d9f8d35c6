//! The command line, run as users run it.

mod common;
mod convert;
mod corpora;
mod corpus;
mod embedded;
mod evaluate;
mod info;
mod inspect;
mod plan;
mod predict;
mod project;
mod select;
mod selection_json;
mod signals;
mod support;
