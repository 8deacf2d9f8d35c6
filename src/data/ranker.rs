//! Data for the rankers of other packages: whole grades, and queries in the package's form.

use std::io::{self, Write};

use super::dataset::Dataset;
use super::names::IndexBase;
use super::queries::Queries;
use crate::error::Result;
use crate::names::names;

/// A package whose rankers read svmlight text with whole grades.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranker {
    /// Rows without query identifiers. A file beside them has the sizes of the queries.
    LightGbm,
    /// Rows with query numbers, ascending from 1.
    XgBoost,
}

names!(Ranker, "ranker", LightGbm => "lightgbm", XgBoost => "xgboost");

/// The largest grade. By default LightGBM has gains up to it, and XGBoost up to one more.
const MOST: usize = 30;

impl Dataset<'_> {
    /// Whole numbers from 0 to 30, one a row, which order the rows of each query as the labels do. Labels that are
    /// such numbers stay. Otherwise a label becomes its rank among the different labels of its query, from 0. If
    /// these are more than 31, neighbours share a grade.
    fn grades(&self) -> Vec<f64> {
        let whole = |label: &f64| label.fract() == 0.0 && (0.0..=MOST as f64).contains(label);
        if self.labels().iter().all(whole) {
            return self.labels().to_vec();
        }
        let mut grades = Vec::with_capacity(self.rows());
        for range in self.queries().ranges() {
            let labels = &self.labels()[range];
            let mut levels = labels.to_vec();
            levels.sort_unstable_by(f64::total_cmp);
            // Negative zero equals zero.
            levels.dedup_by(|a, b| a == b);
            let grade = |label: &f64| {
                let place = levels.partition_point(|level| level < label);
                let shared = place * (MOST + 1) / levels.len();
                (if levels.len() > MOST + 1 {
                    shared
                } else {
                    place
                }) as f64
            };
            grades.extend(labels.iter().map(grade));
        }
        grades
    }

    /// These rows for `ranker`. Labels become whole grades from 0 to 30, and columns count from 0. Queries are
    /// numbers, or absent for LightGBM. [`write_query_sizes`] of the data before this call writes their sizes.
    pub fn for_ranker(mut self, ranker: Ranker) -> Result<Self> {
        self.examples.labels = self.grades().into();
        self.index_base = IndexBase::Zero;
        self.examples.queries = match ranker {
            Ranker::LightGbm => Queries::single(self.rows())?,
            Ranker::XgBoost => {
                let sizes: Vec<usize> = self.queries().ranges().map(|range| range.len()).collect();
                Queries::from_sizes(&sizes)?
            }
        };
        Ok(self)
    }
}

/// Writes the number of rows of each query, one a line: LightGBM's file `NAME.query`.
pub fn write_query_sizes(queries: &Queries, mut writer: impl Write) -> io::Result<()> {
    let mut ranges = queries.ranges();
    ranges.try_for_each(|range| writeln!(writer, "{}", range.len()))?;
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::{parsed as data, write_svmlight};

    #[test]
    fn grades_are_places_among_the_labels_of_a_query() {
        let real = data("0.5 qid:a\n-1 qid:a\n0.5 qid:a\n0.7 qid:a\n-0.0 qid:b\n0 qid:b\n");
        assert_eq!(real.grades(), [1.0, 0.0, 1.0, 2.0, 0.0, 0.0]);
        let whole = data("2 qid:a\n4 qid:a\n30 qid:b\n");
        assert_eq!(whole.grades(), [2.0, 4.0, 30.0]);
        let many: Vec<String> = (0..93).map(|label| format!("{label}\n")).collect();
        let grades = data(&many.concat()).grades();
        assert_eq!(grades[..4], [0.0, 0.0, 0.0, 1.0]);
        assert_eq!(grades[92], 30.0);
    }

    #[test]
    fn each_ranker_gets_its_queries() {
        let text = "0.5 qid:b 1:1 3:2\n0 qid:b 2:1\n7.5 qid:a 1:3\n";
        let write = |ranker| {
            let mut text_of = Vec::new();
            let data = data(text).for_ranker(ranker).unwrap();
            write_svmlight(&data, &mut text_of).unwrap();
            String::from_utf8(text_of).unwrap()
        };
        let xgboost = "1 qid:1 0:1 2:2\n0 qid:1 1:1\n0 qid:2 0:3\n";
        assert_eq!(write(Ranker::XgBoost), xgboost);
        let lightgbm = "1 0:1 2:2\n0 1:1\n0 0:3\n";
        assert_eq!(write(Ranker::LightGbm), lightgbm);
        let mut sizes = Vec::new();
        write_query_sizes(data(text).queries(), &mut sizes).unwrap();
        assert_eq!(sizes, b"2\n1\n");
    }
}
