//! What users see and keep, frozen: help, tables, JSON documents, error texts, and the model
//! file. A change of any of it shows up as a change of a snapshot.
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
