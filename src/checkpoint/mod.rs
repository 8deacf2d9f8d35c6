//! Checkpoint files: the steps of a long run, to go on from after the process has ended,
//! however it ended.
//!
//! A checkpoint is a line and a JSON document:
//!
//! ```text
//! rankrls.checkpoint/1 selection 5120 3f9a...e1
//! {"data": "...", ...}
//! ```
//!
//! The line has the schema, what kind of run it is, the bytes of the document and their BLAKE3
//! hash, so that a file that was cut off, changed or mixed up is told from a whole one. It is
//! written beside the old one and then takes its name ([`Output`]), so that there is a whole
//! checkpoint at any time, and floats are written so that they read back to the same bits.
//!
//! [`save`] and [`load`] are the file; [`Checkpointer`] writes one while a run goes on: the
//! [`Progress`] of a selection or a [`Tuning`].

mod record;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

use crate::data::Output;
use crate::data::read::ReadError;
use rankrls_files::read_whole;

pub use record::{Checkpointer, Progress, Record, Tuning};

/// The schema of checkpoint files.
pub const SCHEMA: &str = "rankrls.checkpoint/1";

/// Most bytes that are taken for a checkpoint.
const LARGEST: u64 = 1 << 30;

/// Most bytes of the first line.
const LONGEST_HEADER: usize = 256;

/// A checkpoint that no run can go on from.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The file cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The file is something else.
    #[error("{path} is no checkpoint of rankrls: its first line should be `rankrls.checkpoint/1 ...`", path = path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// A checkpoint of another kind or version.
    #[error("{path}: expected {expected}, found {found}", path = path.display())]
    Other {
        /// The file.
        path: PathBuf,
        /// The schema and kind to go on from.
        expected: String,
        /// The schema or kind of the file.
        found: String,
    },
    /// The file was cut off or changed.
    #[error("{path} is damaged: found {what}; remove it to start anew", path = path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The damage.
        what: String,
    },
    /// A checkpoint of other data or with other options.
    #[error("{path} is of another run: {differences}", path = path.display(), differences = differences.join("; "))]
    OtherRun {
        /// The file.
        path: PathBuf,
        /// The differences.
        differences: Vec<String>,
    },
}

/// Writes `content` as a checkpoint of a run of this `kind` (one word). An earlier file
/// stays until all is written and has reached the disk.
///
/// # Errors
/// When the file cannot be written.
pub fn save<T: Serialize>(path: &Path, kind: &str, content: &T) -> io::Result<()> {
    let document = serde_json::to_vec(content)?;
    let hash = blake3::hash(&document).to_hex();
    let mut output = Output::create(path)?;
    writeln!(output, "{SCHEMA} {kind} {} {hash}", document.len())?;
    output.write_all(&document)?;
    output.finish()
}

/// Reads the checkpoint of a run of this `kind`. Whatever the file holds, memory stays in
/// proportion to its size.
///
/// # Errors
/// [`CheckpointError`] for a file that cannot be read or is no whole checkpoint of this kind.
pub fn load<T: DeserializeOwned>(path: &Path, kind: &str) -> Result<T, CheckpointError> {
    parse(&read_whole(path, LARGEST)?, path, kind)
}

/// The same from the bytes of a file, which messages call `path`.
///
/// # Errors
/// As [`load`].
pub fn parse<T: DeserializeOwned>(
    bytes: &[u8],
    path: &Path,
    kind: &str,
) -> Result<T, CheckpointError> {
    let header = || {
        let end = memchr::memchr(b'\n', &bytes[..bytes.len().min(LONGEST_HEADER)])?;
        let line = std::str::from_utf8(&bytes[..end]).ok()?;
        let words: Vec<&str> = line.split(' ').collect();
        let [schema, kind, length, hash] = words[..] else {
            return None;
        };
        let length: usize = length.parse().ok()?;
        Some((schema, kind, length, hash, &bytes[end + 1..]))
    };
    let foreign = || CheckpointError::Foreign {
        path: path.to_owned(),
    };
    let (schema, found, length, hash, document) = header().ok_or_else(foreign)?;
    if (schema, found) != (SCHEMA, kind) {
        if !schema.starts_with("rankrls.checkpoint/") {
            return Err(foreign());
        }
        return Err(CheckpointError::Other {
            path: path.to_owned(),
            expected: format!("{SCHEMA} of the kind {kind}"),
            found: match schema {
                SCHEMA => format!("one of a run of the kind {found}"),
                _ => format!("{schema}, written by another version of rankrls"),
            },
        });
    }
    let damaged = |what: String| CheckpointError::Damaged {
        path: path.to_owned(),
        what,
    };
    if document.len() != length {
        let found = document.len();
        return Err(damaged(format!(
            "{found} bytes where {length} were written"
        )));
    }
    if blake3::hash(document).to_hex().as_str() != hash {
        return Err(damaged(
            "content that does not have the hash it was written with".to_owned(),
        ));
    }
    serde_json::from_slice(document).map_err(|error| damaged(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn saved() -> Vec<u8> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.checkpoint");
        save(&path, "test", &vec![0.1, 2.0]).unwrap();
        assert_eq!(load::<Vec<f64>>(&path, "test").unwrap(), [0.1, 2.0]);
        std::fs::read(path).unwrap()
    }

    fn read(bytes: &[u8], kind: &str) -> Result<Vec<f64>, CheckpointError> {
        parse(bytes, Path::new("run"), kind)
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_seen() {
        let whole = saved();
        assert!(read(&whole, "test").is_ok());
        for end in 0..whole.len() {
            assert!(read(&whole[..end], "test").is_err(), "cut at {end}");
        }
        for place in 0..whole.len() {
            let mut changed = whole.clone();
            changed[place] ^= 1;
            assert!(read(&changed, "test").is_err(), "changed at {place}");
        }
        let longer = [&whole[..], b" "].concat();
        assert!(matches!(
            read(&longer, "test"),
            Err(CheckpointError::Damaged { .. })
        ));
    }

    #[test]
    fn other_files_are_told_apart() {
        let whole = saved();
        let text = |result: Result<Vec<f64>, CheckpointError>| result.unwrap_err().to_string();
        assert!(text(read(&whole, "tuning")).contains("a run of the kind test"));
        assert!(text(read(b"{\"schema\": 1}\n", "test")).contains("no checkpoint"));
        let next = String::from_utf8(whole)
            .unwrap()
            .replace("checkpoint/1", "checkpoint/9");
        assert!(text(read(next.as_bytes(), "test")).contains("another version"));
    }
}
