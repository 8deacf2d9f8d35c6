//! What users see and keep, frozen: help, three tables, the keys of JSON documents, parts of error texts, and
//! the model file. A change of any of it shows up as a change of a snapshot or of `refused.txt`.
//!
//! `INSTA_UPDATE=always cargo test --test freeze` writes the snapshots anew; look at the
//! difference before it is committed.

#![cfg(unix)]

mod errors;
mod folder;
mod models;
mod runs;
mod steady;
#[path = "../support/folder.rs"]
mod support;
