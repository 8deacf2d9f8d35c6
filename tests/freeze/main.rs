//! What users see and keep, frozen: help, tables, JSON documents, error texts, and the files of
//! earlier builds. A change of any of it shows up as a change of a snapshot.
//!
//! `INSTA_UPDATE=always cargo test --test freeze` writes the snapshots anew; look at the
//! difference before it is committed.

#![cfg(unix)]

mod documents;
mod errors;
mod folder;
mod help;
mod kept;
mod steady;
mod tables;
