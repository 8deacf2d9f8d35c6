//! Queries from runs of rows with the same identifier.

use std::hash::BuildHasher;

use foldhash::HashMap;
use foldhash::fast::RandomState;

use crate::data::{DatasetError, Queries, Strings};

use super::error::{Fault, ReadErrorKind, quote};

/// The queries of a file, in order of appearance.
#[derive(Debug, Default)]
pub(super) struct Groups {
    ids: Strings,
    /// The line on which each query began, or its position in an array.
    lines: Vec<u64>,
    /// Whether the identifiers come from an array, not from lines.
    array: bool,
    /// Queries by the hash of their identifier, or the next number that is free. Identifiers
    /// are not stored twice: a file may have millions.
    positions: HashMap<u64, u32>,
    hasher: RandomState,
    runs: Vec<Run>,
    /// Whether a query that comes back goes on.
    regroup: bool,
    /// Whether one did.
    returned: bool,
}

#[derive(Debug, Clone, Copy)]
struct Run {
    query: u32,
    rows: usize,
}

impl Groups {
    pub(super) fn new(regroup: bool) -> Self {
        Self {
            regroup,
            ..Self::default()
        }
    }

    /// Queries whose identifiers come from an array: positions take the place of lines.
    pub(super) fn of_array(regroup: bool) -> Self {
        Self {
            array: true,
            ..Self::new(regroup)
        }
    }

    /// The line of the first row with an identifier.
    pub(super) fn first_line(&self) -> Option<u64> {
        self.lines.first().copied()
    }

    /// Whether the last row belongs to the query `id`.
    pub(super) fn ends_with(&self, id: &str) -> bool {
        let last = self.runs.last();
        last.is_some_and(|run| self.ids.get(run.query as usize) == Some(id))
    }

    /// Adds `rows` rows of the query `id`, which stands after `at` bytes of line `line`.
    pub(super) fn add(&mut self, id: &str, rows: usize, line: u64, at: usize) -> Result<(), Fault> {
        if let Some(run) = self.runs.last_mut()
            && self.ids.get(run.query as usize) == Some(id)
        {
            run.rows += rows;
            return Ok(());
        }
        let query = match self.find(id) {
            Ok(query) if self.regroup => {
                self.returned = true;
                query
            }
            Ok(query) => return Err(self.returning(query, at)),
            Err(key) => self.begin(id, key, line),
        };
        self.runs.push(Run { query, rows });
        Ok(())
    }

    /// The query `id`, or the key that it is to have in `positions`.
    fn find(&self, id: &str) -> Result<u32, u64> {
        let mut key = self.hasher.hash_one(id);
        while let Some(&query) = self.positions.get(&key) {
            if self.ids.get(query as usize) == Some(id) {
                return Ok(query);
            }
            key = key.wrapping_add(1);
        }
        Err(key)
    }

    fn begin(&mut self, id: &str, key: u64, line: u64) -> u32 {
        // More queries than 32 bits count have more rows than that, and are refused as such.
        let query = u32::try_from(self.ids.len()).unwrap_or(u32::MAX);
        self.ids.push(id);
        self.lines.push(line);
        self.positions.insert(key, query);
        query
    }

    fn returning(&self, query: u32, at: usize) -> Fault {
        let id = self.ids.get(query as usize).unwrap_or_default();
        let began = self.lines[query as usize];
        let place = if self.array { "at position" } else { "on line" };
        let found = format!(
            "query {} again, which began {place} {began}",
            quote(id.as_bytes())
        );
        let expected = "the rows of a query next to each other";
        Fault::new(ReadErrorKind::ReturningQuery, expected, found)
            .at_column(at + 1)
            .remedy("sort the rows by query, or merge them with --regroup")
    }

    /// The queries of `rows` rows, and the position in the file of every row if rows must move
    /// to make them contiguous. Without a single identifier all rows are one query.
    pub(super) fn finish(self, rows: usize) -> Result<(Queries, Option<Vec<u32>>), DatasetError> {
        if self.runs.is_empty() {
            return Ok((Queries::single(rows)?, None));
        }
        let mut sizes = vec![0; self.ids.len()];
        for run in &self.runs {
            sizes[run.query as usize] += run.rows;
        }
        let queries = Queries::from_sizes(&sizes)?.with_ids(self.ids)?;
        let order = self.returned.then(|| order(&queries, &self.runs));
        Ok((queries, order))
    }
}

/// The position in the file of every row of `queries`.
fn order(queries: &Queries, runs: &[Run]) -> Vec<u32> {
    let mut free: Vec<usize> = queries.ranges().map(|range| range.start).collect();
    let mut order = vec![0; queries.rows()];
    let mut positions = 0..;
    for run in runs {
        let start = free[run.query as usize];
        free[run.query as usize] += run.rows;
        for (place, position) in order[start..start + run.rows]
            .iter_mut()
            .zip(&mut positions)
        {
            *place = position;
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add_all(groups: &mut Groups, ids: &str) -> Result<(), Fault> {
        ids.chars()
            .zip(1..)
            .try_for_each(|(id, line)| groups.add(&id.to_string(), 1, line, 2))
    }

    #[test]
    fn a_returning_query_is_refused_or_merged() {
        let fault = add_all(&mut Groups::new(false), "aabba").unwrap_err();
        assert_eq!(fault.kind, ReadErrorKind::ReturningQuery);
        let mut groups = Groups::new(true);
        add_all(&mut groups, "aabcbab").unwrap();
        let (queries, order) = groups.finish(7).unwrap();
        assert_eq!(queries.offsets(), [0, 3, 6, 7]);
        assert_eq!(queries.ids().unwrap().iter().collect::<String>(), "abc");
        assert_eq!(order.unwrap(), [0, 1, 5, 2, 4, 6, 3]);
    }

    #[test]
    fn contiguous_rows_stay_where_they_are() {
        let mut groups = Groups::new(true);
        add_all(&mut groups, "ba").unwrap();
        assert_eq!(groups.finish(2).unwrap().1, None);
        let (queries, order) = Groups::new(true).finish(3).unwrap();
        assert_eq!((queries.len(), order), (1, None));
    }
}
