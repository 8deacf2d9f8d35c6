//! The command line, run as users run it.

mod common;
mod corpora;
mod corpus;
mod embedded;
mod evaluate;
mod inspect;
mod letor;
mod plan;
mod plot;
mod predict;
mod select;
mod selection_json;
mod signals;
mod support;
mod train;
