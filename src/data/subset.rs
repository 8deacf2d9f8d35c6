//! Data sets of some of the queries or some of the features.

use std::iter::repeat_n;

use super::{Columns, Dataset, DatasetError, Queries};

impl Dataset<'_> {
    /// The rows of the queries at the given positions, as a data set of its own: for training
    /// without the others. The order of the positions does not count: queries and rows keep the
    /// order of the data. Features keep their numbers and names; columns without an entry are
    /// no longer stored, and [`input_rows`](Self::input_rows) count the rows that are left.
    ///
    /// Takes time linear in the entries of the data and copies the entries that stay.
    ///
    /// # Errors
    /// [`DatasetError::NoRows`] for no queries, [`DatasetError::Absent`] for a position past the
    /// last query, [`DatasetError::Repeated`] for one that comes twice.
    pub fn queries_subset(&self, queries: &[usize]) -> Result<Dataset<'static>, DatasetError> {
        let taken = marks("query", queries, self.queries().len())?;
        let of_rows = self.queries().ranges().zip(&taken);
        let of_rows = of_rows.flat_map(|(range, &taken)| repeat_n(taken, range.len()));
        self.subset(of_rows, self.queries().subset(&taken)?)
    }

    /// The given rows, each as a query of its own, likewise.
    ///
    /// # Errors
    /// As [`queries_subset`](Self::queries_subset), of rows.
    pub fn rows_subset(&self, rows: &[usize]) -> Result<Dataset<'static>, DatasetError> {
        let taken = marks("row", rows, self.rows())?;
        let queries = Queries::from_sizes(&vec![1; rows.len()])?;
        self.subset(taken.into_iter(), queries)
    }

    /// The rows that are `taken`, in these queries.
    fn subset(
        &self,
        taken: impl Iterator<Item = bool>,
        queries: Queries,
    ) -> Result<Dataset<'static>, DatasetError> {
        let taken = (0..).zip(taken);
        let rows: Vec<u32> = taken
            .filter_map(|(row, taken)| taken.then_some(row))
            .collect();
        let mut places = vec![None; self.rows()];
        for (place, &row) in (0..).zip(&rows) {
            places[row as usize] = Some(place);
        }
        let mut columns = Columns::none(rows.len(), self.width());
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
            whole: None,
        };
        dataset.checked()
    }

    /// The rows with only the given 0-based features, which keep their numbers and names: the
    /// width of the data stays. The order of the features does not count, and features without an
    /// entry have none here either.
    ///
    /// Takes time linear in what it copies.
    ///
    /// # Errors
    /// [`DatasetError::Absent`] for a feature past the last column,
    /// [`DatasetError::Repeated`] for one that comes twice.
    pub fn features_subset(&self, features: &[u32]) -> Result<Dataset<'static>, DatasetError> {
        let mut features = features.to_vec();
        features.sort_unstable();
        if let Some(pair) = features.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(DatasetError::Repeated {
                what: "feature",
                position: pair[0] as usize,
            });
        }
        self.keep(&features)
    }

    /// As [`features_subset`](Self::features_subset), but a feature may come twice.
    ///
    /// # Errors
    /// [`DatasetError::Absent`] for a feature past the last column.
    pub fn keep(&self, features: &[u32]) -> Result<Dataset<'static>, DatasetError> {
        let mut features = features.to_vec();
        features.sort_unstable();
        features.dedup();
        let same = features.iter().map(|&feature| (feature, feature));
        self.gather(same, self.width())
    }

    /// The data set of the 0-based `features` alone, which become columns 0, 1 and so on in the
    /// order given, with their names. Rows, labels and queries stay as they are. Copies 12 bytes
    /// an entry.
    ///
    /// # Errors
    /// [`DatasetError::Absent`] for a feature past the last column.
    pub fn project(&self, features: &[u32]) -> Result<Dataset<'static>, DatasetError> {
        let numbered = (0..).zip(features.iter().copied());
        let mut projected = self.gather(numbered, features.len())?;
        let Some(names) = &self.names else {
            return Ok(projected);
        };
        let own = features.iter();
        let own = own.map(|&feature| names.of(feature).unwrap_or_default());
        projected.names = Some(own.collect());
        Ok(projected)
    }

    /// The rows with some columns among `width`, given by their new and their present numbers.
    fn gather(
        &self,
        features: impl Iterator<Item = (u32, u32)>,
        width: usize,
    ) -> Result<Dataset<'static>, DatasetError> {
        let mut gathered = Columns::none(self.rows(), width);
        for (number, feature) in features {
            if feature as usize >= self.width() {
                return Err(DatasetError::Absent {
                    what: "feature",
                    position: feature as usize,
                    count: self.width(),
                });
            }
            if let Some(position) = self.position(feature) {
                gathered.push(number, self.column(position).entries());
            }
        }
        self.with_columns(gathered)
    }
}

/// Which of `count` things are named, each once.
fn marks(what: &'static str, positions: &[usize], count: usize) -> Result<Vec<bool>, DatasetError> {
    let mut marks = vec![false; count];
    for &position in positions {
        match marks.get_mut(position) {
            Some(mark) if !*mark => *mark = true,
            Some(_) => return Err(DatasetError::Repeated { what, position }),
            None => {
                return Err(DatasetError::Absent {
                    what,
                    position,
                    count,
                });
            }
        }
    }
    Ok(marks)
}

#[cfg(test)]
mod tests {
    use super::super::read::ReadOptions;
    use super::super::{DataHash, IndexBase};
    use super::*;

    const TEXT: &str = "\
1 qid:a 0:1 4:2
0 qid:a 4:3
2 qid:b 1:1
0 qid:b 4:1
3 qid:c 0:2 1:2
";

    fn read(text: &str) -> Dataset<'static> {
        let options = ReadOptions::new().zero_based(true).width(6);
        let dataset = options.read_from(text.as_bytes(), "f").unwrap().dataset;
        let names = ["v", "w", "x", "y", "z", "last"].into_iter().collect();
        dataset.with_names(names).unwrap()
    }

    /// What `expected` says, in the same stored columns.
    fn assert_same(found: &Dataset<'_>, expected: &Dataset<'_>) {
        assert_eq!(DataHash::of(found), DataHash::of(expected));
        assert_eq!(found.stored_columns(), expected.stored_columns());
        assert_eq!(found.names(), expected.names());
        assert_eq!(found.index_base(), IndexBase::Zero);
    }

    #[test]
    fn some_queries_are_the_data_without_the_others() {
        let data = read(TEXT);
        let expected = read("1 qid:a 0:1 4:2\n0 qid:a 4:3\n3 qid:c 0:2 1:2\n");
        assert_same(&data.queries_subset(&[2, 0]).unwrap(), &expected);
        let expected = read("2 qid:b 1:1\n0 qid:b 4:1\n");
        assert_same(&data.queries_subset(&[1]).unwrap(), &expected);
        assert_same(&data.queries_subset(&[0, 1, 2]).unwrap(), &data);
    }

    #[test]
    fn some_features_are_the_data_without_the_others() {
        let data = read(TEXT);
        let expected = "1 qid:a 4:2\n0 qid:a 4:3\n2 qid:b\n0 qid:b 4:1\n3 qid:c\n";
        assert_same(&data.features_subset(&[4]).unwrap(), &read(expected));
        assert_same(&data.features_subset(&[5, 2, 4]).unwrap(), &read(expected));
        assert_same(&data.features_subset(&[4, 1, 0]).unwrap(), &data);
        assert_same(&data.keep(&[4, 1, 4, 0]).unwrap(), &data);
        assert_eq!(data.features_subset(&[]).unwrap().stored_columns(), 0);
    }

    #[test]
    fn columns_are_renumbered_in_the_order_given() {
        let data = read(TEXT);
        let projected = data.project(&[4, 2, 1]).unwrap();
        assert_eq!((projected.width(), projected.nonzeros()), (3, 5));
        assert_eq!(projected.column(0).values, [2.0, 3.0, 1.0]);
        assert_eq!(projected.position(1), None);
        assert_eq!(projected.column(1).rows, [2, 4]);
        let names: Vec<_> = projected.names().unwrap().iter().collect();
        assert_eq!(names, ["z", "x", "w"]);
        assert_eq!(projected.labels(), data.labels());
        assert_eq!(projected.queries(), data.queries());
        assert_eq!(data.project(&[]).unwrap().width(), 0);
    }

    #[test]
    fn moved_rows_are_remembered() {
        let data = read(TEXT).with_input_rows(vec![4, 3, 0, 1, 2]).unwrap();
        let features = data.features_subset(&[0]).unwrap();
        assert_eq!(features.input_rows(), data.input_rows());
        let queries = data.queries_subset(&[0, 2]).unwrap();
        assert_eq!(queries.input_rows(), Some(&[2, 1, 0][..]));
    }

    #[test]
    fn nothing_is_lost_on_the_way() {
        let data = read(TEXT).with_teacher(vec![1.0, 2.0, 3.0, 4.0, 5.0]);
        let data = data.unwrap().with_validation(read(TEXT));
        let data = data.with_input_rows(vec![4, 3, 0, 1, 2]).unwrap();
        let queries = |data: &Dataset<'_>| data.queries_subset(&[2, 0]).unwrap();
        let features = |data: &Dataset<'_>| data.features_subset(&[4, 0]).unwrap();
        let (one, other) = (queries(&features(&data)), features(&queries(&data)));
        assert_same(&one, &other);
        for subset in [one, other] {
            assert_eq!(subset.teacher(), Some(&[1.0, 2.0, 5.0][..]));
            assert!(subset.validation().is_some());
            assert_eq!(subset.input_rows(), Some(&[2, 1, 0][..]));
            assert_eq!(subset.project(&[0]).unwrap().teacher(), subset.teacher());
        }
    }

    #[test]
    fn some_rows_are_queries_of_their_own_and_keep_their_teacher() {
        let data = read(TEXT).with_teacher(vec![1.0, 2.0, 3.0, 4.0, 5.0]);
        let rows = data.unwrap().rows_subset(&[3, 0]).unwrap();
        assert_eq!(rows.labels(), [1.0, 0.0]);
        assert_eq!(rows.queries(), &Queries::from_sizes(&[1, 1]).unwrap());
        assert_eq!(rows.column(1).rows, [0, 1]);
        assert_eq!(rows.teacher(), Some(&[1.0, 4.0][..]));
    }

    #[test]
    fn nameless_queries_stay_nameless() {
        let queries = Queries::from_sizes(&[1, 2]).unwrap();
        let data = Dataset::from_csc(&[0, 1], &[2], &[5.0], vec![1.0, 2.0, 3.0], queries);
        let subset = data.unwrap().queries_subset(&[1]).unwrap();
        assert_eq!(subset.labels(), [2.0, 3.0]);
        assert_eq!(subset.column(0).rows, [1]);
        assert_eq!(subset.queries(), &Queries::single(2).unwrap());
    }

    #[test]
    fn what_is_not_there_is_refused() {
        let data = read(TEXT);
        let queries = |list: &[usize]| data.queries_subset(list).unwrap_err();
        assert_eq!(queries(&[]), DatasetError::NoRows);
        assert_eq!(queries(&[1, 3]).to_string(), "there is no query 3 among 3");
        assert_eq!(queries(&[1, 0, 1]).to_string(), "query 1 is named twice");
        let rows = data.rows_subset(&[5]).unwrap_err();
        assert_eq!(rows.to_string(), "there is no row 5 among 5");
        let features = |list: &[u32]| data.features_subset(list).unwrap_err();
        assert_eq!(features(&[6]).to_string(), "there is no feature 6 among 6");
        assert_eq!(features(&[3, 0, 3]).to_string(), "feature 3 is named twice");
        for error in [data.project(&[6]), data.keep(&[6])] {
            assert_eq!(
                error.unwrap_err().to_string(),
                "there is no feature 6 among 6"
            );
        }
    }
}
