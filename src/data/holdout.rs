//! Hold-outs: the rows that models predict without having seen them, by name and as groups.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::str::FromStr;

use rand::SeedableRng;
use rand::rngs::ChaCha8Rng;
use rand::seq::index;
use rankrls_files::Remedy;
use serde::{Deserialize, Serialize};

use super::{DataHash, Dataset, Queries};
use crate::error::{Error, Result, ensure};

/// The rows to hold out, by name. `lqo` is every query on its own. `lpo` is every pair of examples of a query.
/// `folds:5` is groups of queries drawn at random ([`Groups::folds`]), or of rows if all are one query. `auto` is
/// the one of these that takes seconds. `none` holds nothing out (`docs/derivation.md`, section 13).
///
/// ```
/// use rankrls::HoldOut;
///
/// let folds: HoldOut = "folds:5".parse()?;
/// assert_eq!(folds.seed(7).to_string(), "folds:5");
/// assert!("folds".parse::<HoldOut>().is_err());
/// # Ok::<(), rankrls::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum HoldOut {
    /// For the objective `query`: every query, or five folds if conjugate gradients would take more than 20
    /// seconds. Data of one query have no hold-outs. For other objectives: every pair if the solver factors and
    /// there are at most 5,000 rows, otherwise five folds.
    #[default]
    Auto,
    /// Every query, or every pair under another objective, if the solver's factors give it. Otherwise nothing.
    #[serde(skip)]
    Factored,
    /// Nothing.
    #[serde(rename = "none")]
    Nothing,
    /// Every query on its own.
    #[serde(rename = "lqo")]
    Queries,
    /// Every pair of examples of a query, together with all other pairs of these examples.
    #[serde(rename = "lpo")]
    Pairs,
    /// Groups drawn at random.
    Folds {
        /// Number of groups.
        count: usize,
        /// The seed of the draw.
        seed: u64,
    },
    /// Given groups.
    #[serde(skip)]
    Given {
        /// Their name for people.
        name: String,
        /// The groups.
        groups: Groups,
    },
    /// Other data with the same columns.
    #[serde(rename = "validation")]
    Data {
        /// Their rows.
        rows: usize,
        /// Their queries.
        queries: usize,
        /// Their hash.
        data: DataHash,
    },
}

impl HoldOut {
    /// The names that can be read, as a list for people.
    pub const NAMES: &str = "lqo, lpo, folds:N, auto, none";

    /// Default number of folds.
    pub const FOLDS: usize = 5;

    /// The default folds of `queries`, or of the rows of a single query: five, or one for each of fewer.
    pub fn folds(queries: &Queries) -> Self {
        let most = match queries.len() {
            1 => queries.rows(),
            several => several,
        };
        let count = Self::FOLDS.min(most);
        Self::Folds { count, seed: 1 }
    }

    /// The seed of random draws, 1 by default.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        match self {
            Self::Folds { count, .. } => Self::Folds { count, seed },
            other => other,
        }
    }

    /// The groups of these `queries`, or of the rows of a single query. `None` for pairs, which are not a
    /// partition, for nothing, and for other data. Also `None` for [`Auto`](Self::Auto) and
    /// [`Factored`](Self::Factored), which depend on the solver.
    pub fn groups(&self, queries: &Queries) -> Result<Option<Groups>> {
        Ok(Some(match self {
            Self::Queries if queries.len() == 1 => return Err(one_query(queries)),
            Self::Queries => Groups::queries(queries.len()),
            Self::Folds { count, seed } if queries.len() == 1 => {
                Groups::folds_of("rows", queries.rows(), *count, *seed)?
            }
            Self::Folds { count, seed } => Groups::folds(queries, *count, *seed)?,
            Self::Given { groups, .. } => groups.clone(),
            _ => return Ok(None),
        }))
    }

    /// The seed of random draws, if there are any.
    pub fn drawn_by(&self) -> Option<u64> {
        match self {
            Self::Folds { seed, .. } => Some(*seed),
            _ => None,
        }
    }
}

impl fmt::Display for HoldOut {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto | Self::Factored => formatter.pad("auto"),
            Self::Nothing => formatter.pad("none"),
            Self::Queries => formatter.pad("lqo"),
            Self::Pairs => formatter.pad("lpo"),
            Self::Folds { count, .. } => formatter.pad(&format!("folds:{count}")),
            Self::Given { name, .. } => formatter.pad(name),
            Self::Data { .. } => formatter.pad("validation"),
        }
    }
}

impl FromStr for HoldOut {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let folds = text
            .strip_prefix("folds:")
            .and_then(|number| number.parse().ok());
        match (text, folds) {
            ("auto", _) => Ok(Self::Auto),
            ("none", _) => Ok(Self::Nothing),
            ("lqo", _) => Ok(Self::Queries),
            ("lpo", _) => Ok(Self::Pairs),
            (_, Some(count)) => Ok(Self::Folds { count, seed: 1 }),
            _ => Err(Error::options(format!(
                "no hold-out scheme is called {text:?}: expected one of {}",
                Self::NAMES
            ))),
        }
    }
}

/// The error of leaving out the only query: no query is left to train on. If the data name that query, no other
/// queries can be given.
pub fn one_query(queries: &Queries) -> Error {
    let give = queries
        .ids()
        .is_none()
        .then(|| format!("; {}", Remedy::GiveQueries));
    let give = give.unwrap_or_default();
    Error::data(format!(
        "leave-query-out is undefined: the data are one query, and without it nothing is left to train on{give}"
    ))
}

/// The error of one group with everything.
pub(crate) fn one_group() -> Error {
    Error::options(
        "all examples are in one group: without it nothing is left to train on; expected two groups or more",
    )
}

/// A partition of queries or rows into groups. A model trained on the other groups predicts each group. Groups of
/// rows may cut queries. Positions are 0-based.
///
/// ```
/// use rankrls::Queries;
/// use rankrls::data::Groups;
///
/// let groups = Groups::folds(&Queries::from_sizes(&[2; 10])?, 3, 1)?;
/// let sizes: Vec<usize> = groups.iter().map(<[usize]>::len).collect();
/// assert_eq!(sizes, [4, 3, 3]);
/// assert!(Groups::new(vec![vec![0, 1], vec![1]], 2).is_err());
/// # Ok::<(), rankrls::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Groups {
    /// Positions of queries or rows, ascending in each group.
    members: Vec<Vec<usize>>,
    /// Number of positions: the queries or the rows, which tells the two kinds apart.
    count: usize,
}

impl Groups {
    /// One group for each of `queries` queries: the groups of leave-query-out.
    pub fn queries(queries: usize) -> Self {
        Self {
            members: (0..queries).map(|query| vec![query]).collect(),
            count: queries,
        }
    }

    /// Whether these are groups of the rows of `queries`, not of the queries.
    pub(crate) fn are_of_rows(&self, queries: &Queries) -> bool {
        self.count == queries.rows() && self.count != queries.len()
    }

    /// These groups as groups of the rows of `queries`, in `O(m)` time for `m` rows. Groups of rows stay unchanged.
    pub fn rows(mut self, queries: &Queries) -> Result<Self> {
        if self.count == queries.len() {
            let rows = |group: &Vec<usize>| {
                let ranges = group.iter().map(|&query| queries.range(query));
                ranges.flatten().collect()
            };
            self.members = self.members.iter().map(rows).collect();
        } else if self.count != queries.rows() {
            let (count, rows, queries) = (self.count, queries.rows(), queries.len());
            return Err(Error::options(format!(
                "the groups are of {count} rows or queries: expected {rows} rows or {queries} queries, those of the data"
            )));
        }
        self.count = queries.rows();
        Ok(self)
    }

    /// These groups of rows as groups of whole `queries`. Refuses groups that cut a query.
    pub fn of_queries(&self, queries: &Queries) -> Result<Self> {
        let mut group_of_row = vec![None; queries.rows()];
        for (number, rows) in self.members.iter().enumerate() {
            for &row in rows {
                if let Some(place) = group_of_row.get_mut(row) {
                    *place = Some(number);
                }
            }
        }
        let mut groups = vec![Vec::new(); self.members.len()];
        for (query, range) in queries.ranges().enumerate() {
            let of_query = &group_of_row[range];
            match of_query[0].filter(|_| of_query.windows(2).all(|pair| pair[0] == pair[1])) {
                Some(number) => groups[number].push(query),
                None => {
                    return Err(Error::data(format!(
                        "query {query} is in several folds: expected all rows of a query in one"
                    )));
                }
            }
        }
        Self::new(groups, queries.len())
    }

    /// Groups of rows from the group of each row, `m` numbers or names, in the order of first occurrence.
    ///
    /// ```
    /// use rankrls::data::Groups;
    ///
    /// let groups = Groups::of_rows(["a", "b", "a"])?;
    /// let groups: Vec<&[usize]> = groups.iter().collect();
    /// assert_eq!(groups, [&[0, 2][..], &[1]]);
    /// assert!(Groups::of_rows([1, 1, 1]).is_err());
    /// # Ok::<(), rankrls::Error>(())
    /// ```
    pub fn of_rows<T: Hash + Eq>(group_of_row: impl IntoIterator<Item = T>) -> Result<Self> {
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
            return Err(one_group());
        }
        Ok(Self { members, count })
    }

    /// Groups from the fold of each row of the input of `data`, `m` numbers or names. With `preferences`, from the
    /// fold of each preference, in their given order.
    pub fn of_folds<T: Copy + Hash + Eq>(
        folds: &[T],
        data: &Dataset<'_>,
        preferences: Option<usize>,
    ) -> Result<Self> {
        let (what, expected) = match preferences {
            Some(count) => ("folds, one for each preference", count),
            None => ("folds, one for each row", data.rows()),
        };
        let found = folds.len();
        ensure!(
            found == expected,
            data,
            "{what}: expected {expected}, found {found}"
        );
        if preferences.is_some() {
            return Self::of_rows(folds);
        }
        Self::of_rows(data.in_row_order(folds)?)
    }

    /// `folds` groups of `queries` drawn at random by `ChaCha8`, whose sizes differ by at most one. Equal seeds
    /// give equal groups on every platform and in every order of the queries. The draw is over their identifiers,
    /// by length and then by bytes, so whole numbers ascend. Queries without identifiers are drawn by place.
    ///
    /// ```
    /// use rankrls::Queries;
    /// use rankrls::data::Groups;
    ///
    /// let folds = |ids: [&'static str; 4]| {
    ///     let groups = Groups::folds(&Queries::from_row_ids(&ids)?, 2, 1)?;
    ///     let mut named: Vec<Vec<&str>> = groups
    ///         .iter()
    ///         .map(|group| group.iter().map(|&query| ids[query]).collect())
    ///         .collect();
    ///     named.iter_mut().for_each(|group| group.sort());
    ///     Ok::<_, rankrls::Error>(named)
    /// };
    /// assert_eq!(folds(["a", "b", "c", "d"])?, folds(["c", "a", "d", "b"])?);
    /// # Ok::<(), rankrls::Error>(())
    /// ```
    pub fn folds(queries: &Queries, folds: usize, seed: u64) -> Result<Self> {
        let drawn = Self::folds_of("queries", queries.len(), folds, seed)?;
        let Some(ids) = queries.ids() else {
            return Ok(drawn);
        };
        let ids: Vec<&str> = ids.iter().collect();
        let mut order: Vec<usize> = (0..ids.len()).collect();
        order.sort_unstable_by_key(|&query| (ids[query].len(), ids[query]));
        let named = |group: &[usize]| group.iter().map(|&place| order[place]).collect();
        Self::new(drawn.iter().map(named).collect(), queries.len())
    }

    /// Draws folds of things that messages call `what`, by their places.
    pub(crate) fn folds_of(what: &str, count: usize, folds: usize, seed: u64) -> Result<Self> {
        ensure!(
            (2..=count).contains(&folds),
            options,
            "{folds} folds of {count} {what}: expected from 2 to as many folds as {what}"
        );
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
    pub fn new(mut groups: Vec<Vec<usize>>, queries: usize) -> Result<Self> {
        let refuse = |query: usize, problem: &str| {
            Err(Error::options(format!(
                "query {query} {problem}: expected every query of the data in one group"
            )))
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

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Size of the largest group, or 0 without groups.
    pub(crate) fn largest(&self) -> usize {
        self.members.iter().map(Vec::len).max().unwrap_or(0)
    }

    /// Whether there are no groups.
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
        let queries = |count| Queries::from_sizes(&vec![2; count]).unwrap();
        let twenty = queries(20);
        let groups = Groups::folds(&twenty, 6, 3).unwrap();
        let again: Vec<Vec<usize>> = groups.iter().map(<[usize]>::to_vec).collect();
        assert_eq!(Groups::new(again, 20).unwrap(), groups);
        assert_eq!(groups, Groups::folds(&twenty, 6, 3).unwrap());
        assert_ne!(groups, Groups::folds(&twenty, 6, 4).unwrap());
        assert_eq!(Groups::folds(&queries(5), 5, 1).unwrap().len(), 5);
        // The draw must never change.
        let groups = Groups::folds(&queries(6), 3, 1).unwrap();
        assert_eq!(groups.members, [[0, 4], [1, 5], [2, 3]]);
    }

    #[test]
    fn groups_of_rows_are_groups_of_queries_where_they_cut_none() {
        let queries = Queries::from_sizes(&[2, 1, 3]).unwrap();
        let whole = Groups::of_rows(["a", "a", "b", "a", "a", "a"]).unwrap();
        let expected = Groups::new(vec![vec![0, 2], vec![1]], 3).unwrap();
        assert_eq!(whole.of_queries(&queries), Ok(expected));
        let cut = Groups::of_rows([1, 1, 2, 2, 2, 1]).unwrap();
        let error = cut.of_queries(&queries).unwrap_err().to_string();
        assert!(error.starts_with("query 2 is in several folds"), "{error}");
    }

    #[test]
    fn folds_go_by_identifiers_and_not_by_the_order_of_queries() {
        // The folds of six places are [0, 4], [1, 5] and [2, 3].
        let sorted = ["2", "9", "10", "é", "abc", "abd"];
        let expected = [["2", "abc"], ["9", "abd"], ["10", "é"]];
        for order in [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [2, 5, 0, 4, 1, 3]] {
            let ids = order.map(|place| sorted[place]);
            let queries = Queries::from_row_ids(&ids).unwrap();
            let groups = Groups::folds(&queries, 3, 1).unwrap();
            for (group, expected) in groups.iter().zip(&expected) {
                assert!(group.is_sorted());
                let found = group.iter().map(|&query| ids[query]);
                assert!(found.clone().all(|id| expected.contains(&id)), "{ids:?}");
                assert_eq!(found.count(), 2);
            }
        }
        // Whole numbers as identifiers are drawn like places.
        let numbers: Vec<u32> = (1..=12).collect();
        let named = Queries::from_row_ids(&numbers).unwrap();
        let nameless = Queries::from_sizes(&[1; 12]).unwrap();
        let folds = |queries| Groups::folds(queries, 4, 7).unwrap();
        assert_eq!(folds(&named), folds(&nameless));
    }

    #[test]
    fn what_is_no_partition_is_refused() {
        for (folds, queries) in [(0, 5), (1, 5), (6, 5)] {
            let queries = Queries::from_sizes(&vec![1; queries]).unwrap();
            let error = Groups::folds(&queries, folds, 1).unwrap_err().to_string();
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
    fn json_has_the_kind_and_how_it_is_drawn() {
        let folds = HoldOut::Folds { count: 5, seed: 2 };
        for (holdout, json) in [
            (HoldOut::Queries, r#"{"kind":"lqo"}"#),
            (folds, r#"{"kind":"folds","count":5,"seed":2}"#),
        ] {
            assert_eq!(serde_json::to_string(&holdout).unwrap(), json);
            assert_eq!(serde_json::from_str::<HoldOut>(json).unwrap(), holdout);
        }
    }

    #[test]
    fn hold_outs_have_names() {
        for name in ["auto", "none", "lqo", "lpo", "folds:3"] {
            let scheme: HoldOut = name.parse().unwrap();
            assert_eq!(scheme.to_string(), name);
        }
        for name in ["", "lqo:1", "folds", "folds:", "folds:x", "folds:-1"] {
            let error = name.parse::<HoldOut>().unwrap_err().to_string();
            assert!(error.ends_with("expected one of lqo, lpo, folds:N, auto, none"));
        }
    }
}
