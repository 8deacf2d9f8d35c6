//! The frozen interface for users: help, three tables, the keys of JSON documents, parts of error texts, and the
//! model file. Any change of it changes a snapshot or `refused.txt`.
//!
//! `INSTA_UPDATE=always cargo test --test freeze` writes the snapshots anew. Look at the difference before you
//! commit it.

#![cfg(unix)]

mod errors;
mod folder;
mod models;
mod runs;
mod steady;
#[path = "../support/folder.rs"]
mod support;
