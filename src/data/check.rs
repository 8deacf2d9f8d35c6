//! Checks of data in memory. In messages, rows, queries and columns count from 0.

use crate::error::{Error, Result, ensure};

/// Refuses a number of things other than `expected`.
pub(super) fn length(what: &str, expected: usize, found: usize) -> Result<()> {
    ensure!(
        found == expected,
        data,
        "{what}: expected {expected}, found {found}"
    );
    Ok(())
}

/// The number of rows in 32 bits. Refuses more rows than that.
pub(super) fn rows(rows: usize) -> Result<u32> {
    let most = u32::MAX;
    u32::try_from(rows)
        .map_err(|_| Error::data(format!("{rows} rows: at most {most} can be indexed")))
}

/// Refuses more columns than 32 bits count.
pub(super) fn columns(columns: usize) -> Result<()> {
    let most = u32::MAX;
    ensure!(
        columns <= most as usize,
        data,
        "{columns} columns: at most {most} can be indexed"
    );
    Ok(())
}
