//! Queries, or rows, that are held out together.

use std::collections::HashMap;
use std::hash::Hash;

use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use super::options::TrainError;
use crate::data::Queries;

/// A partition of queries, or of rows, into groups: each group is predicted by a model that was
/// trained on the others. Groups of rows may cut queries.
///
/// ```
/// use rankrls::ridge::Groups;
///
/// let groups = Groups::folds(10, 3, 1)?;
/// let sizes: Vec<usize> = groups.iter().map(<[usize]>::len).collect();
/// assert_eq!(sizes, [4, 3, 3]);
/// assert!(Groups::new(vec![vec![0, 1], vec![1]], 2).is_err());
/// # Ok::<(), rankrls::ridge::TrainError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// Positions of queries or rows, ascending in each group.
    members: Vec<Vec<usize>>,
    /// How many there are.
    count: usize,
    of_rows: bool,
}

impl Groups {
    /// Each of `queries` on its own: the groups of leave-query-out.
    pub fn queries(queries: usize) -> Self {
        Self {
            members: (0..queries).map(|query| vec![query]).collect(),
            count: queries,
            of_rows: false,
        }
    }

    /// The same groups, as groups of the rows of `queries`. Groups of rows stay as they are.
    #[must_use]
    pub fn rows(self, queries: &Queries) -> Self {
        if self.of_rows {
            return self;
        }
        let rows = |group: &[usize]| {
            group
                .iter()
                .flat_map(|&query| queries.range(query))
                .collect()
        };
        Self {
            members: self.iter().map(rows).collect(),
            count: queries.rows(),
            of_rows: true,
        }
    }

    /// Groups of rows from the group of each row: numbers, or names.
    ///
    /// ```
    /// use rankrls::ridge::Groups;
    ///
    /// let groups = Groups::of_rows(["a", "b", "a"])?;
    /// let groups: Vec<&[usize]> = groups.iter().collect();
    /// assert_eq!(groups, [&[0, 2][..], &[1]]);
    /// assert!(Groups::of_rows([1, 1, 1]).is_err());
    /// # Ok::<(), rankrls::ridge::TrainError>(())
    /// ```
    ///
    /// # Errors
    /// [`TrainError::OneGroup`] unless there are two groups at least.
    pub fn of_rows<T: Hash + Eq>(
        group_of_row: impl IntoIterator<Item = T>,
    ) -> Result<Self, TrainError> {
        let mut places = HashMap::new();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let mut count = 0;
        for (row, name) in group_of_row.into_iter().enumerate() {
            let place = *places.entry(name).or_insert(groups.len());
            if place == groups.len() {
                groups.push(Vec::new());
            }
            groups[place].push(row);
            count += 1;
        }
        if groups.len() < 2 {
            return Err(TrainError::OneGroup);
        }
        Ok(Self {
            members: groups,
            count,
            of_rows: true,
        })
    }

    /// `folds` groups of `queries` drawn at random, of sizes that differ by one at most. Equal
    /// seeds give equal groups on every platform.
    ///
    /// # Errors
    /// [`TrainError::Folds`] for less than two folds or more than queries.
    pub fn folds(queries: usize, folds: usize, seed: u64) -> Result<Self, TrainError> {
        Self::folds_of("queries", queries, folds, seed)
    }

    /// The same of things that messages call `what`.
    pub(super) fn folds_of(
        what: &'static str,
        queries: usize,
        folds: usize,
        seed: u64,
    ) -> Result<Self, TrainError> {
        if folds < 2 || folds > queries {
            let count = queries;
            return Err(TrainError::Folds { folds, what, count });
        }
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let order = index::sample(&mut generator, queries, queries).into_vec();
        let mut groups = vec![Vec::new(); folds];
        for (place, query) in order.into_iter().enumerate() {
            groups[place % folds].push(query);
        }
        for group in &mut groups {
            group.sort_unstable();
        }
        Ok(Self {
            members: groups,
            count: queries,
            of_rows: false,
        })
    }

    /// Examples of the largest group.
    pub fn largest(&self, queries: &Queries) -> usize {
        let size = |group: &[usize]| self.rows_of(group, queries).len();
        self.iter().map(size).max().unwrap_or(0)
    }

    /// Groups of positions of `queries`, each in one group. Empty groups are left out.
    ///
    /// # Errors
    /// [`TrainError`] unless that is a partition.
    pub fn new(mut groups: Vec<Vec<usize>>, queries: usize) -> Result<Self, TrainError> {
        let refuse = |query, problem| Err(TrainError::Partition { query, problem });
        let mut seen = vec![false; queries];
        for &query in groups.iter().flatten() {
            match seen.get_mut(query) {
                Some(seen) if !*seen => *seen = true,
                Some(_) => return refuse(query, "is in two groups, or twice in one"),
                None => return refuse(query, "does not exist"),
            }
        }
        if let Some(query) = seen.iter().position(|seen| !seen) {
            return refuse(query, "is in no group");
        }
        groups.retain(|group| !group.is_empty());
        for group in &mut groups {
            group.sort_unstable();
        }
        Ok(Self {
            members: groups,
            count: queries,
            of_rows: false,
        })
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there is no group, of no queries.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The groups: positions of queries, ascending.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[usize]> + Clone {
        self.members.iter().map(Vec::as_slice)
    }

    /// The rows of a group of these groups, ascending.
    pub(super) fn rows_of(&self, group: &[usize], queries: &Queries) -> Vec<usize> {
        if self.of_rows {
            return group.to_vec();
        }
        group
            .iter()
            .flat_map(|&query| queries.range(query))
            .collect()
    }

    /// Refuses groups of other data than those with these `queries`.
    pub(super) fn check(&self, queries: &Queries) -> Result<(), TrainError> {
        let (what, expected) = if self.of_rows {
            ("rows", queries.rows())
        } else {
            ("queries", queries.len())
        };
        self.check_count(what, expected)
    }

    /// Refuses groups of another number of these things than `expected`.
    pub(super) fn check_count(
        &self,
        what: &'static str,
        expected: usize,
    ) -> Result<(), TrainError> {
        if self.count == expected {
            return Ok(());
        }
        Err(TrainError::OtherQueries {
            what,
            expected,
            found: self.count,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_partitions_that_depend_on_the_seed() {
        let groups = Groups::folds(20, 6, 3).unwrap();
        let again: Vec<Vec<usize>> = groups.iter().map(<[usize]>::to_vec).collect();
        assert_eq!(Groups::new(again, 20).unwrap(), groups);
        assert_eq!(groups, Groups::folds(20, 6, 3).unwrap());
        assert_ne!(groups, Groups::folds(20, 6, 4).unwrap());
        assert_eq!(Groups::folds(5, 5, 1).unwrap().len(), 5);
        // The same from release to release.
        let groups = Groups::folds(6, 3, 1).unwrap();
        assert_eq!(groups.members, [[0, 4], [1, 5], [2, 3]]);
    }

    #[test]
    fn what_is_no_partition_is_refused() {
        for (folds, queries) in [(0, 5), (1, 5), (6, 5)] {
            let error = Groups::folds(queries, folds, 1).unwrap_err();
            let (what, count) = ("queries", queries);
            assert_eq!(error, TrainError::Folds { folds, what, count });
        }
        for (groups, message) in [
            (vec![vec![0], vec![3]], "query 3 does not exist"),
            (vec![vec![0, 1, 0]], "query 0 is in two groups"),
            (vec![vec![0], vec![2]], "query 1 is in no group"),
        ] {
            let error = Groups::new(groups, 3).unwrap_err().to_string();
            assert!(error.starts_with(message), "{error}");
        }
        let groups = Groups::new(vec![vec![2, 0], vec![], vec![1]], 3).unwrap();
        assert_eq!(groups.len(), 2);
        let queries = Queries::from_sizes(&[2, 1, 3]).unwrap();
        let rows = groups.rows(&queries);
        let rows: Vec<&[usize]> = rows.iter().collect();
        assert_eq!(rows, [&[0, 1, 3, 4, 5][..], &[2]]);
        let four = Queries::from_sizes(&[1, 1, 1, 1]).unwrap();
        assert!(Groups::queries(3).check(&four).is_err());
        let error = Groups::of_rows([1, 2, 1])
            .unwrap()
            .check(&four)
            .unwrap_err();
        assert!(
            error.to_string().starts_with("the groups are of 3 rows"),
            "{error}"
        );
    }
}
