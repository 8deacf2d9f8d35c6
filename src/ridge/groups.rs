//! Queries that are held out together.

use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use super::options::TrainError;
use crate::data::Queries;

/// A partition of queries into groups: each group is predicted by a model that was trained on
/// the others.
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
    /// Positions of queries, ascending in each group.
    groups: Vec<Vec<usize>>,
    queries: usize,
}

impl Groups {
    /// Each of `queries` on its own: the groups of leave-query-out.
    pub fn queries(queries: usize) -> Self {
        Self {
            groups: (0..queries).map(|query| vec![query]).collect(),
            queries,
        }
    }

    /// `folds` groups of `queries` drawn at random, of sizes that differ by one at most. Equal
    /// seeds give equal groups on every platform.
    ///
    /// # Errors
    /// [`TrainError::Folds`] for less than two folds or more than queries.
    pub fn folds(queries: usize, folds: usize, seed: u64) -> Result<Self, TrainError> {
        if folds < 2 || folds > queries {
            return Err(TrainError::Folds { folds, queries });
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
        Ok(Self { groups, queries })
    }

    /// Examples of the largest group.
    pub fn largest(&self, queries: &Queries) -> usize {
        let size = |group: &Vec<usize>| -> usize {
            group.iter().map(|&query| queries.range(query).len()).sum()
        };
        self.groups.iter().map(size).max().unwrap_or(0)
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
        Ok(Self { groups, queries })
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.groups.len()
    }

    /// Whether there is no group, of no queries.
    pub fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// The groups: positions of queries, ascending.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[usize]> + Clone {
        self.groups.iter().map(Vec::as_slice)
    }

    /// Refuses groups of another number of queries.
    pub(super) fn check(&self, queries: usize) -> Result<(), TrainError> {
        if self.queries == queries {
            return Ok(());
        }
        Err(TrainError::OtherQueries {
            expected: queries,
            found: self.queries,
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
    }

    #[test]
    fn what_is_no_partition_is_refused() {
        for (folds, queries) in [(0, 5), (1, 5), (6, 5)] {
            let error = Groups::folds(queries, folds, 1).unwrap_err();
            assert_eq!(error, TrainError::Folds { folds, queries });
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
        assert!(Groups::queries(3).check(4).is_err());
    }
}
