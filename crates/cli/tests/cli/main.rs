//! The command line, run as users run it.

mod build;
mod common;
mod compare;
mod convert;
mod defaults;
mod distil;
mod embedded;
mod evaluate;
mod explain;
mod family;
#[cfg(unix)]
mod files;
mod filters;
#[path = "../support/folder.rs"]
mod folder;
mod hostile;
mod info;
mod inspect;
mod kills;
mod letor;
#[path = "../../../../tests/support/long.rs"]
mod long;
mod memory;
mod odd;
mod pages;
mod plot;
mod predict;
#[cfg(unix)]
mod printing;
mod queries;
mod remedies;
mod resume;
mod scale;
mod select;
mod signals;
mod support;
mod table;
mod train;
mod tune;
mod warnings;
#[path = "../../../../benches/zipf.rs"]
mod zipf;
