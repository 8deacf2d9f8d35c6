//! Hold-outs: schemes by name, and the queries, or rows, that they hold out together.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::str::FromStr;

use rand::SeedableRng;
use rand::seq::index;
use rand_chacha::ChaCha8Rng;

use crate::data::{Dataset, Queries};
use crate::error::Error;
use crate::ridge::comparisons::Preferences;
use crate::ridge::error::TrainError;
use crate::ridge::shape::TrainShape;
use crate::ridge::solvers::Solver;

/// Folds in place of leave-query-out.
const FOLDS: usize = 5;

/// The rows to hold out, by name: `lqo`, every query on its own; `lpo`, every pair of examples of a
/// query; `folds:5`, groups of queries drawn at random, or of rows where all are of one query; `auto`,
/// the one of these that takes seconds; `none` (`docs/rankrls.md`, "Held-out queries").
///
/// ```
/// use rankrls::ridge::Scheme;
///
/// let scheme: Scheme = "folds:5".parse()?;
/// assert_eq!(scheme.seed(7).to_string(), "folds:5");
/// assert!("folds".parse::<Scheme>().is_err());
/// # Ok::<(), rankrls::TrainError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Scheme {
    /// For the objective `query`: every query, or five folds where conjugate gradients would take more than
    /// 20 seconds; nothing of data of one query. For other objectives: every pair where the solver factors and
    /// there are at most 5,000 rows, else five folds.
    #[default]
    Auto,
    /// Every query, or every pair under another objective, where that comes from the factors of the
    /// solver; else nothing.
    Factored,
    /// Nothing.
    Nothing,
    /// Every query on its own.
    Queries,
    /// Every pair of examples of a query, with all other pairs that they are in.
    Pairs,
    /// Groups drawn at random.
    Folds {
        /// How many.
        count: usize,
        /// The seed of the draw.
        seed: u64,
    },
    /// Groups of one's own.
    Given {
        /// Their name for people.
        name: String,
        /// The groups.
        groups: Groups,
    },
}

impl Scheme {
    /// The names of the schemes that hold something out, as a list for people.
    pub const NAMES: &str = "lqo, lpo, folds:N";

    /// Five folds.
    pub(crate) const FIVE_FOLDS: Self = Self::Folds {
        count: FOLDS,
        seed: 1,
    };

    /// The seed of random draws, 1 by default.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        match self {
            Self::Folds { count, .. } => Self::Folds { count, seed },
            other => other,
        }
    }

    /// The groups of these `queries` that are held out, or of the rows of the only query; `None` for pairs,
    /// which are no partition, for nothing, and for [`Auto`](Self::Auto) and [`Factored`](Self::Factored), which
    /// depend on the solver.
    pub fn groups(&self, queries: &Queries) -> Result<Option<Groups>, TrainError> {
        Ok(Some(match self {
            Self::Queries if queries.len() == 1 => return Err(TrainError::OneQuery),
            Self::Queries => Groups::queries(queries.len()),
            Self::Folds { count, seed } if queries.len() == 1 => {
                Groups::folds_of("rows", queries.rows(), *count, *seed)?
            }
            Self::Folds { count, seed } => Groups::folds(queries.len(), *count, *seed)?,
            Self::Given { groups, .. } => groups.clone(),
            Self::Auto | Self::Factored | Self::Nothing | Self::Pairs => return Ok(None),
        }))
    }

    /// The seed of random draws, where the scheme makes any.
    pub fn drawn_by(&self) -> Option<u64> {
        match self {
            Self::Folds { seed, .. } => Some(*seed),
            _ => None,
        }
    }

    /// Leave-query-out where it is a matter of seconds, as it is for solvers that factor; else five
    /// folds.
    pub(crate) fn affordable(solver: Solver, shape: &TrainShape) -> Self {
        // A hundred iterations for each group and ridge parameter, in lanes.
        let seconds = 1e-7 * shape.nonzeros as f64 * (shape.lambdas * shape.queries) as f64;
        let few = shape.queries <= FOLDS || seconds <= Solver::PATIENCE;
        if few || solver.factors() {
            return Self::Queries;
        }
        Self::FIVE_FOLDS
    }
}

impl fmt::Display for Scheme {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto | Self::Factored => formatter.pad("auto"),
            Self::Nothing => formatter.pad("none"),
            Self::Queries => formatter.pad("lqo"),
            Self::Pairs => formatter.pad("lpo"),
            Self::Folds { count, .. } => formatter.pad(&format!("folds:{count}")),
            Self::Given { name, .. } => formatter.pad(name),
        }
    }
}

impl FromStr for Scheme {
    type Err = TrainError;

    fn from_str(text: &str) -> Result<Self, TrainError> {
        let folds = text
            .strip_prefix("folds:")
            .and_then(|number| number.parse().ok());
        match (text, folds) {
            ("auto", _) => Ok(Self::Auto),
            ("none", _) => Ok(Self::Nothing),
            ("lqo", _) => Ok(Self::Queries),
            ("lpo", _) => Ok(Self::Pairs),
            (_, Some(count)) => Ok(Self::Folds { count, seed: 1 }),
            _ => Err(TrainError::unexpected(
                format!("no hold-out scheme is called {text:?}"),
                format!("one of {}", Self::NAMES),
            )),
        }
    }
}

/// A partition of queries, or of rows, into groups: each group is predicted by a model that was
/// trained on the others. Groups of rows may cut queries. Positions are 0-based.
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
    /// How many there are: as many as queries or as rows, which says of which they are.
    count: usize,
}

impl Groups {
    /// Each of so many `queries` on its own: the groups of leave-query-out.
    pub fn queries(queries: usize) -> Self {
        Self {
            members: (0..queries).map(|query| vec![query]).collect(),
            count: queries,
        }
    }

    /// Whether they are groups of the rows of `queries`, and not of the queries.
    pub(crate) fn are_of_rows(&self, queries: &Queries) -> bool {
        self.count == queries.rows() && self.count != queries.len()
    }

    /// These groups as groups of the rows of `queries`: `O(m)` time for `m` rows. Groups of rows stay as they
    /// are.
    pub fn rows(mut self, queries: &Queries) -> Result<Self, TrainError> {
        if self.count == queries.len() {
            let rows = |group: &Vec<usize>| {
                let ranges = group.iter().map(|&query| queries.range(query));
                ranges.flatten().collect()
            };
            self.members = self.members.iter().map(rows).collect();
        } else if self.count != queries.rows() {
            return Err(TrainError::unexpected(
                format!("the groups are of {} rows or queries", self.count),
                format!(
                    "{} rows or {} queries, those of the data",
                    queries.rows(),
                    queries.len()
                ),
            ));
        }
        self.count = queries.rows();
        Ok(self)
    }

    /// Groups of rows from the group of each row, `m` numbers or names, in the order in which they first come.
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
    pub fn of_rows<T: Hash + Eq>(
        group_of_row: impl IntoIterator<Item = T>,
    ) -> Result<Self, TrainError> {
        let mut places = HashMap::new();
        let mut members: Vec<Vec<usize>> = Vec::new();
        let mut count = 0;
        for (row, name) in group_of_row.into_iter().enumerate() {
            let place = *places.entry(name).or_insert(members.len());
            if place == members.len() {
                members.push(Vec::new());
            }
            members[place].push(row);
            count += 1;
        }
        if members.len() < 2 {
            return Err(TrainError::OneGroup);
        }
        Ok(Self { members, count })
    }

    /// Groups from the fold of each row of the input of `data`, `m` numbers or names; with `preferences`, from
    /// the fold of each of them, in the order in which they were given.
    pub fn of_folds<T: Copy + Hash + Eq>(
        folds: &[T],
        data: &Dataset<'_>,
        preferences: Option<&Preferences>,
    ) -> Result<Self, TrainError> {
        let (what, expected) = match preferences {
            Some(list) => ("folds, one for each preference", list.len()),
            None => ("folds, one for each row", data.rows()),
        };
        let found = folds.len();
        if found != expected {
            let text = format!("{what}: expected {expected}, found {found}");
            return Err(Error::data(text).into());
        }
        match preferences {
            Some(_) => Self::of_rows(folds),
            None => Self::of_rows(data.in_row_order(folds)?),
        }
    }

    /// `folds` groups of `queries` queries drawn at random by `ChaCha8`, of sizes that differ by one at most.
    /// Equal seeds give equal groups on every platform.
    pub fn folds(queries: usize, folds: usize, seed: u64) -> Result<Self, TrainError> {
        Self::folds_of("queries", queries, folds, seed)
    }

    /// Draws folds of things that messages call `what`.
    pub(crate) fn folds_of(
        what: &str,
        count: usize,
        folds: usize,
        seed: u64,
    ) -> Result<Self, TrainError> {
        if folds < 2 || folds > count {
            return Err(TrainError::unexpected(
                format!("{folds} folds of {count} {what}"),
                format!("from 2 to as many folds as {what}"),
            ));
        }
        let mut generator = ChaCha8Rng::seed_from_u64(seed);
        let order = index::sample(&mut generator, count, count).into_vec();
        let mut members = vec![Vec::new(); folds];
        for (place, query) in order.into_iter().enumerate() {
            members[place % folds].push(query);
        }
        for group in &mut members {
            group.sort_unstable();
        }
        Ok(Self { members, count })
    }

    /// Groups of positions from 0 to `queries - 1`, each in one group. Empty groups are left out.
    pub fn new(mut groups: Vec<Vec<usize>>, queries: usize) -> Result<Self, TrainError> {
        let refuse = |query: usize, problem: &str| {
            let what = format!("query {query} {problem}");
            Err(TrainError::unexpected(
                what,
                "every query of the data in one group",
            ))
        };
        let mut seen = vec![false; queries];
        for &query in groups.iter().flatten() {
            match seen.get_mut(query) {
                Some(known) if !*known => *known = true,
                Some(_) => return refuse(query, "is in two groups, or twice in one"),
                None => return refuse(query, "does not exist"),
            }
        }
        if let Some(query) = seen.iter().position(|known| !known) {
            return refuse(query, "is in no group");
        }
        groups.retain(|group| !group.is_empty());
        for group in &mut groups {
            group.sort_unstable();
        }
        Ok(Self {
            members: groups,
            count: queries,
        })
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Members of the largest group; 0 without a group.
    pub(crate) fn largest(&self) -> usize {
        self.members.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Whether there is no group, of no queries.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// The groups: positions of queries or of rows, 0-based, ascending in each.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &[usize]> + Clone {
        self.members.iter().map(Vec::as_slice)
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
            let error = Groups::folds(queries, folds, 1).unwrap_err().to_string();
            assert!(error.contains("expected from 2 to as many folds as queries"));
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
        let rows = groups.rows(&queries).unwrap();
        let found: Vec<&[usize]> = rows.iter().collect();
        assert_eq!(found, [&[0, 1, 3, 4, 5][..], &[2]]);
        assert_eq!(rows.clone().rows(&queries), Ok(rows));
        let four = Queries::from_sizes(&[1, 1, 1, 1]).unwrap();
        assert!(Groups::queries(3).rows(&four).is_err());
        let of_three = Groups::of_rows([1, 2, 1]).unwrap();
        let error = of_three.rows(&four).unwrap_err().to_string();
        assert!(error.starts_with("the groups are of 3 rows"), "{error}");
    }

    #[test]
    fn what_would_take_long_is_held_out_in_folds() {
        let shape = TrainShape {
            nonzeros: 3_100_000,
            queries: 1_120,
            ..TrainShape::of_rows(&Queries::single(20_000).unwrap(), 3)
        };
        let scheme = |solver| Scheme::affordable(solver, &shape);
        assert_eq!(scheme(Solver::ConjugateGradients), Scheme::FIVE_FOLDS);
        assert_eq!(scheme(Solver::Dual), Scheme::Queries);
    }

    #[test]
    fn schemes_have_names() {
        for name in ["auto", "none", "lqo", "lpo", "folds:3"] {
            let scheme: Scheme = name.parse().unwrap();
            assert_eq!(scheme.to_string(), name);
        }
        for name in ["", "lqo:1", "folds", "folds:", "folds:x", "folds:-1"] {
            let error = name.parse::<Scheme>().unwrap_err().to_string();
            assert!(error.ends_with("expected one of lqo, lpo, folds:N"));
        }
    }
}
