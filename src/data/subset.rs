//! Data sets of some of the queries or some of the features.

use std::iter::repeat_n;

use super::columns::Columns;
use super::dataset::Dataset;
use super::names::Feature;
use super::queries::Queries;
use crate::error::{Error, Result};

impl Dataset<'_> {
    /// The rows of the queries at these positions, as their own data set, to train without the others. Queries and
    /// rows keep the order of the data, whatever the order of the positions. Features keep their numbers and names.
    /// Columns without an entry are no longer stored, and [`input_rows`](Self::input_rows) count the remaining
    /// rows.
    ///
    /// Takes time linear in the entries of the data, and copies the remaining entries.
    pub fn queries_subset(&self, queries: &[usize]) -> Result<Dataset<'static>> {
        let taken = marks("query", queries, self.queries().len())?;
        let of_rows = self.queries().ranges().zip(&taken);
        let of_rows = of_rows.flat_map(|(range, &taken)| repeat_n(taken, range.len()));
        self.subset(of_rows, self.queries().subset(&taken)?)
    }

    /// The given rows, each as its own query, likewise.
    pub(crate) fn rows_subset(&self, rows: &[usize]) -> Result<Dataset<'static>> {
        let taken = marks("row", rows, self.rows())?;
        let queries = Queries::from_sizes(&vec![1; rows.len()])?;
        self.subset(taken.into_iter(), queries)
    }

    /// The `taken` rows, in these queries.
    fn subset(
        &self,
        taken: impl Iterator<Item = bool>,
        queries: Queries,
    ) -> Result<Dataset<'static>> {
        let taken = (0..).zip(taken);
        let rows: Vec<u32> = taken
            .filter_map(|(row, taken)| taken.then_some(row))
            .collect();
        let mut places = vec![None; self.rows()];
        for (place, &row) in (0..).zip(&rows) {
            places[row as usize] = Some(place);
        }
        let mut columns = Columns::none(rows.len(), self.width());
        let kept = self.columns.rows.iter();
        let kept = kept.filter(|&&row| places[row as usize].is_some()).count();
        columns.reserve(self.stored_columns().min(kept), kept);
        for position in 0..self.stored_columns() {
            let entries = self.column(position).iter();
            let kept = entries.filter_map(|(row, value)| Some((places[row]?, value)));
            columns.push(self.feature(position), kept);
        }
        let dataset = Dataset {
            columns,
            examples: self.examples.pick(&rows, queries),
            names: self.names.clone(),
            index_base: self.index_base,
        };
        dataset.checked()
    }

    /// The rows with only the given 0-based features, which keep their numbers and names. The width of the data
    /// stays. The order of `features` does not matter, and a feature without entries stays empty.
    ///
    /// Takes time linear in the copied entries.
    pub fn features_subset(&self, features: &[Feature]) -> Result<Dataset<'static>> {
        let mut features = features.to_vec();
        features.sort_unstable();
        if let Some(pair) = features.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(repeated("feature", pair[0] as usize));
        }
        let same = features.iter().map(|&feature| (feature, feature));
        self.gather(same, self.width())
    }

    /// The data set of only the 0-based `features`, which become columns 0, 1 and so on in the given order, with
    /// their names. The validation rows change likewise. Rows, labels and queries stay. Copies 12 bytes an entry.
    pub fn project(&self, features: &[Feature]) -> Result<Dataset<'static>> {
        let numbered = (0..).zip(features.iter().copied());
        let mut projected = self.gather(numbered, features.len())?;
        if let Some(validation) = self.validation() {
            projected = projected.with_validation(validation.project(features)?);
        }
        projected.names = self.names.as_ref().map(|names| {
            let own = features.iter();
            own.map(|&feature| names.of(feature).unwrap_or_default())
                .collect()
        });
        Ok(projected)
    }

    /// The rows with some columns among `width`. Each column has its new and its present number.
    fn gather(
        &self,
        features: impl Iterator<Item = (u32, u32)>,
        width: usize,
    ) -> Result<Dataset<'static>> {
        let mut gathered = Columns::none(self.rows(), width);
        for (number, feature) in features {
            if feature as usize >= self.width() {
                return Err(absent("feature", feature as usize, self.width()));
            }
            if let Some(position) = self.position(feature) {
                gathered.push(number, self.column(position).entries());
            }
        }
        self.with_columns(gathered)
    }
}

/// Marks the named ones of `count` things. Refuses a repetition.
fn marks(what: &'static str, positions: &[usize], count: usize) -> Result<Vec<bool>> {
    let mut marks = vec![false; count];
    for &position in positions {
        match marks.get_mut(position) {
            Some(mark) if !*mark => *mark = true,
            Some(_) => return Err(repeated(what, position)),
            None => return Err(absent(what, position, count)),
        }
    }
    Ok(marks)
}

fn repeated(what: &str, position: usize) -> Error {
    Error::data(format!("{what} {position} is named twice"))
}

fn absent(what: &str, position: usize, count: usize) -> Error {
    Error::data(format!("there is no {what} {position} among {count}"))
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::super::read::ReadOptions;
    use super::super::{FeatureNames, IndexBase};
    use super::*;

    const TEXT: &str = "\
1 qid:a 0:1 4:2
0 qid:a 4:3
2 qid:b 1:1
0 qid:b 4:1
3 qid:c 0:2 1:2
";
    const IDS: [&str; 5] = ["a", "a", "b", "b", "c"];
    const LABELS: [f64; 5] = [1.0, 0.0, 2.0, 0.0, 3.0];
    const PLACES: [u32; 5] = [4, 3, 0, 1, 2];
    const SCORES: [f64; 5] = [1.0, 2.0, 3.0, 4.0, 5.0];
    const NAMES: [&str; 6] = ["v", "w", "x", "y", "z", "last"];
    /// Row, feature and value.
    const ENTRIES: [(usize, usize, f64); 7] = [
        (0, 0, 1.0),
        (0, 4, 2.0),
        (1, 4, 3.0),
        (2, 1, 1.0),
        (3, 4, 1.0),
        (4, 0, 2.0),
        (4, 1, 2.0),
    ];

    fn read() -> Dataset<'static> {
        let options = ReadOptions::new().zero_based(true).width(6);
        let dataset = options.read_from(TEXT.as_bytes(), "f").unwrap().dataset;
        dataset.with_names(NAMES.into_iter().collect()).unwrap()
    }

    /// The entries of the text's column `feature` in these rows.
    fn entries(rows: &[usize], feature: usize) -> Vec<(usize, f64)> {
        let own = ENTRIES.into_iter().filter(|entry| entry.1 == feature);
        own.filter_map(|(row, _, value)| {
            let place = rows.iter().position(|&other| other == row)?;
            Some((place, value))
        })
        .collect()
    }

    /// The entries of a column of `data`. An empty column is not stored.
    fn found(data: &Dataset<'_>, feature: usize) -> Vec<(usize, f64)> {
        let position = data.position(u32::try_from(feature).unwrap());
        let entries = position.map(|position| data.column(position).iter().collect::<Vec<_>>());
        assert_ne!(entries, Some(Vec::new()));
        entries.unwrap_or_default()
    }

    /// The numbers below `count` whose bit is set.
    fn picked(count: usize, bits: u8) -> Vec<usize> {
        (0..count).filter(|at| bits >> at & 1 == 1).collect()
    }

    proptest! {
        #[test]
        fn nothing_is_lost_by_any_chain(steps in vec((0..4, any::<u8>()), 0..5)) {
            let data = read().with_input_rows(PLACES.to_vec()).unwrap();
            let data = data.with_teacher(SCORES.to_vec()).unwrap();
            let mut data = data.with_validation(read());
            // The rows of each query, and for each column its column of the text and whether it has entries.
            let (mut queries, mut named) = (vec![vec![0, 1], vec![2, 3], vec![4]], true);
            let mut columns: Vec<(usize, bool)> = (0..NAMES.len()).map(|j| (j, true)).collect();
            for (step, bits) in steps {
                let reversed = picked(columns.len(), bits).into_iter().rev();
                let features: Vec<u32> = reversed.map(|j| u32::try_from(j).unwrap()).collect();
                data = match step {
                    0 => {
                        let taken = picked(queries.len(), bits | 1);
                        queries = taken.iter().map(|&query| queries[query].clone()).collect();
                        data.queries_subset(&taken).unwrap()
                    }
                    1 => {
                        let taken = picked(data.rows(), bits | 1);
                        let rows = queries.concat();
                        (queries, named) = (taken.iter().map(|&at| vec![rows[at]]).collect(), false);
                        data.rows_subset(&taken).unwrap()
                    }
                    2 => {
                        for (j, (_, here)) in (0..).zip(&mut columns) {
                            *here &= features.contains(&j);
                        }
                        data.features_subset(&features).unwrap()
                    }
                    _ => {
                        columns = features.iter().map(|&j| columns[j as usize]).collect();
                        data.project(&features).unwrap()
                    }
                };
            }
            let rows = queries.concat();
            let of_rows = |values: &[f64]| rows.iter().map(|&row| values[row]).collect::<Vec<_>>();
            prop_assert_eq!(data.labels(), of_rows(&LABELS));
            prop_assert_eq!(data.teacher(), Some(&of_rows(&SCORES)[..]));
            let before = |row: usize| rows.iter().filter(|&&other| PLACES[other] < PLACES[row]).count();
            let places = rows.iter().map(|&row| u32::try_from(before(row)).unwrap());
            prop_assert_eq!(data.input_rows(), Some(&places.collect::<Vec<_>>()[..]));
            let sizes: Vec<usize> = queries.iter().map(Vec::len).collect();
            let mut expected = Queries::from_sizes(&sizes).unwrap();
            if named {
                let ids = queries.iter().map(|rows| IDS[rows[0]]).collect();
                expected = expected.with_ids(ids).unwrap();
            }
            prop_assert_eq!(data.queries(), &expected);
            let names: FeatureNames = columns.iter().map(|&(j, _)| NAMES[j]).collect();
            prop_assert_eq!(data.names(), Some(&names));
            prop_assert_eq!((data.width(), data.index_base()), (columns.len(), IndexBase::Zero));
            let validation = data.validation().unwrap();
            prop_assert_eq!((validation.width(), validation.names()), (columns.len(), Some(&names)));
            for (at, &(j, here)) in columns.iter().enumerate() {
                let expected = if here { entries(&rows, j) } else { Vec::new() };
                prop_assert_eq!(found(&data, at), expected);
                prop_assert_eq!(found(validation, at), entries(&[0, 1, 2, 3, 4], j));
            }
        }
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let data = read();
        let none = "the data has no rows: expected at least one example";
        let feature = "there is no feature 6 among 6";
        let twice = data.features_subset(&[3, 0, 3]);
        for (found, message) in [
            (data.queries_subset(&[]), none),
            (data.queries_subset(&[1, 3]), "there is no query 3 among 3"),
            (data.queries_subset(&[1, 0, 1]), "query 1 is named twice"),
            (data.rows_subset(&[5]), "there is no row 5 among 5"),
            (twice, "feature 3 is named twice"),
            (data.features_subset(&[6]), feature),
            (data.project(&[6]), feature),
        ] {
            assert_eq!(found.unwrap_err().to_string(), message);
        }
    }
}
