//! The command line, run as users run it.

mod build;
mod checkpoint;
mod common;
mod compare;
mod convert;
mod corpora;
mod corpus;
mod distil;
mod embedded;
mod evaluate;
mod hostile;
mod info;
mod inspect;
mod kills;
mod letor;
mod memory;
mod plot;
mod predict;
mod project;
mod queries;
mod scale;
mod select;
mod signals;
mod support;
mod train;
mod tune;
