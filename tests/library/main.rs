//! The library against its definition, against figures of other programs, and at the ends of its range.

mod distil;
mod explain;
mod family;
mod filters;
mod golden;
mod include;
#[path = "../support/long.rs"]
mod long;
mod memory;
mod metrics;
mod numerics;
mod oracle;
mod parses;
mod ranks;
mod resume;
mod ridge;
mod strategies;
mod tune;
mod units;
