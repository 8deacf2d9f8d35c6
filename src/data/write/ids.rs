//! Identifiers of queries that can be read back.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io;

use super::refused;
use crate::data::Queries;

/// The identifier of each query, all different, none empty and none with a `forbidden`
/// character; nameless queries are numbered from 1.
///
/// # Errors
/// [`io::ErrorKind::InvalidInput`] for others.
pub(super) fn tokens<'q>(
    queries: &'q Queries,
    forbidden: &[char],
) -> io::Result<Vec<Cow<'q, str>>> {
    let Some(ids) = queries.ids() else {
        let numbers = 1..=queries.len();
        return Ok(numbers.map(|number| number.to_string().into()).collect());
    };
    let mut seen = HashSet::new();
    ids.iter()
        .map(|id| {
            if id.is_empty() || id.contains(forbidden) {
                return Err(refused(format!("the query identifier {id:?} is no token")));
            }
            if !seen.insert(id) {
                return Err(refused(format!("two queries are called {id:?}")));
            }
            Ok(id.into())
        })
        .collect()
}
