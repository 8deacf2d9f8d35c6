//! Differences of rows, one for each preference (`PPRankRLS` of RLScore).
//!
//! `sum_e c_e (g_e - (f_i - f_j))^2 + lambda |w|^2` for preferences `e` of row `i` to row `j`. A preference is a
//! row `sqrt(c_e) (x_i - x_j)` with the label `sqrt(c_e) g_e`, which nothing centres. The graph Laplacian `B' B` of
//! the preferences, degrees less adjacency, gives this loss (Pahikkala et al., 2009). Hold-outs leave preferences
//! out like rows.

use std::borrow::Cow;

use rayon::prelude::*;

use super::{Comparisons, Labelled, Loss, Parts, check_one_query, weigh};
use crate::data::{Dataset, Preference, Queries};
use crate::error::{Error, Result};
use crate::linalg::factor::Square;
use crate::linalg::kernels::largest;
use crate::metrics::PAIR_TIE;
use crate::ridge::blocks::QueryBlock;
use crate::ridge::features::{ByRow, ColumnFeatures, Features, Mean};
use crate::ridge::shape::TrainShape;
use crate::stop;

/// Preferences among the rows of a data set. A repeated preference counts twice, opposite ones pull against each
/// other, and cycles are allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct Preferences {
    pub(in crate::ridge) list: Vec<Preference>,
    rows: usize,
}

impl Preferences {
    /// Checks preferences among the rows of the input of `data`, 0-based, and finds these rows in
    /// `data`: `O(p)` time for `p` preferences.
    pub fn new(mut list: Vec<Preference>, data: &Dataset<'_>) -> Result<Self> {
        let (places, rows) = (data.rows_of_input(), data.rows());
        for (number, one) in list.iter_mut().enumerate() {
            let refuse = |expected: &str, found: String| {
                let place = number + 1;
                let text = format!("preference {place}: expected {expected}, found {found}");
                Err(Error::data(text))
            };
            for row in [&mut one.preferred, &mut one.other] {
                let Some(place) = places.get(*row as usize) else {
                    let found = (u64::from(*row) + 1).to_string();
                    return refuse(&format!("rows from 1 to {rows}"), found);
                };
                *row = *place;
            }
            if one.preferred == one.other {
                let rows = data.input_rows();
                let row = rows.map_or(one.other, |rows| rows[one.other as usize]) + 1;
                return refuse("two rows", format!("row {row} twice"));
            }
            if !one.magnitude.is_finite() {
                return refuse("a finite magnitude", one.magnitude.to_string());
            }
            if !(one.weight.is_finite() && one.weight > 0.0) {
                return refuse("a finite weight above 0", one.weight.to_string());
            }
        }
        if list.is_empty() {
            return Err(no_preferences());
        }
        Ok(Self { list, rows })
    }

    /// The number of preferences, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "there is one at least")]
    pub fn len(&self) -> usize {
        self.list.len()
    }
}

/// The error for preferences that compare nothing.
pub(crate) fn no_preferences() -> Error {
    Error::data("no preference compares two rows: expected one at least")
}

/// The mean weight of the preferences in `list` that a row is in, of so many `rows`.
fn mean_degree(list: &[Preference], rows: usize) -> f64 {
    2.0 * list.iter().map(|one| one.weight).sum::<f64>() / rows as f64
}

/// A weighted difference of two rows for each preference.
#[derive(Debug)]
pub(crate) struct Differences {
    /// Every preference alone.
    alone: Queries,
    scales: Vec<f64>,
    /// The rows of the data that each preference compares: the preferred one first.
    ends: Vec<[u32; 2]>,
    /// All rows of the data, by query.
    all: Queries,
    /// The mean weight of the preferences that a row is in.
    degree: f64,
}

impl Differences {
    /// The rows of `dataset`; `preferences` are among these rows.
    pub(crate) fn labelled(
        preferences: &Preferences,
        dataset: &Dataset<'_>,
    ) -> Result<Labelled<'static>> {
        let all = dataset.queries();
        check_one_query(all)?;
        if preferences.rows != all.rows() {
            return Err(Error::data(format!(
                "the preferences are among {} rows: expected {}, those of the data",
                preferences.rows,
                all.rows()
            )));
        }
        Self::of(&preferences.list, all)
    }

    /// The differences of `list`, of rows of these queries.
    pub(super) fn of(list: &[Preference], queries: &Queries) -> Result<Labelled<'static>> {
        let rows = Self {
            alone: Queries::from_sizes(&vec![1; list.len()])?,
            scales: list.iter().map(|one| one.weight.sqrt()).collect(),
            ends: list.iter().map(|one| [one.preferred, one.other]).collect(),
            all: queries.clone(),
            degree: mean_degree(list, queries.rows()),
        };
        let magnitudes: Vec<f64> = list.iter().map(|one| one.magnitude).collect();
        let mut labels = magnitudes.clone();
        weigh::<1>(rows.scales(), labels.as_chunks_mut().0);
        Ok(Labelled {
            rows: Comparisons::Preferences(rows),
            as_given: magnitudes.into(),
            labels,
        })
    }

    fn ends(&self, preference: usize) -> [usize; 2] {
        self.ends[preference].map(|row| row as usize)
    }

    fn squared_norm(&self, features: &Features<'_>, preference: usize) -> f64 {
        let square = features.squared_difference(self.ends(preference));
        self.scales[preference].powi(2) * square
    }
}

impl Loss for Differences {
    fn queries(&self) -> &Queries {
        &self.alone
    }

    fn scales(&self) -> Option<&[f64]> {
        Some(&self.scales)
    }

    fn shape(&self, shape: TrainShape) -> TrainShape {
        shape.of_preferences(self.ends.len())
    }

    /// The unit of centred rows times the mean degree, so that lambdas have the same size as for labels.
    fn unit(&self, features: &Features<'_>, _: f64) -> f64 {
        let trace = features.trace(&self.all, |_| 1.0);
        trace / self.all.rows() as f64 * self.degree
    }

    fn centre(&self, _: &mut [f64]) {}

    fn compare<const L: usize>(
        &self,
        product: &mut [[f64; L]],
        fill: impl FnOnce(&mut [[f64; L]]),
    ) {
        let mut values = vec![[0.0; L]; self.all.rows()];
        fill(&mut values);
        for (difference, ends) in product.iter_mut().zip(&self.ends) {
            let [first, other] = ends.map(|row| &values[row as usize]);
            *difference = std::array::from_fn(|lane| first[lane] - other[lane]);
        }
        weigh(self.scales(), product);
    }

    /// The preferred row gets a value, the other one loses it.
    fn spread<'v, const L: usize>(&self, v: &'v [[f64; L]]) -> Cow<'v, [[f64; L]]> {
        let mut sums = vec![[0.0; L]; self.all.rows()];
        for (preference, (value, scale)) in v.iter().zip(&self.scales).enumerate() {
            let [first, other] = self.ends(preference);
            if first == other {
                continue;
            }
            for lane in 0..L {
                let weighed = value[lane] * scale;
                sums[first][lane] += weighed;
                sums[other][lane] -= weighed;
            }
        }
        Cow::Owned(sums)
    }

    fn mean_diagonal(&self, features: &Features<'_>) -> f64 {
        let preferences = 0..self.ends.len();
        let norms = preferences.map(|preference| self.squared_norm(features, preference));
        norms.sum::<f64>() / self.ends.len() as f64
    }

    /// Nothing is centred, so the shift has no place.
    fn kernel_matrix(&self, features: &Features<'_>, _: f64) -> Square {
        let size = self.ends.len();
        let mut square = Square::zeros(size);
        let columns = square.values_mut().par_chunks_mut(size).enumerate();
        columns.for_each(|(number, column)| {
            if stop::requested() {
                return;
            }
            let mut products = vec![0.0; self.all.rows()];
            for (row, sign) in self.ends(number).into_iter().zip([1.0, -1.0]) {
                features.add_products(row, sign, &mut products, 0);
            }
            for (later, slot) in column.iter_mut().enumerate().skip(number) {
                let [first, other] = self.ends(later).map(|row| products[row]);
                *slot = self.scales[number] * self.scales[later] * (first - other);
            }
        });
        square
    }

    fn block(&self, features: &Features<'_>, query: usize, _: f64) -> QueryBlock {
        QueryBlock::Alone(self.squared_norm(features, query))
    }

    fn fill_row(&self, columns: &ColumnFeatures<'_>, row: usize, _: &mut Mean, slots: &mut [f64]) {
        let [first, other] = self.ends(row);
        for (class, value) in columns.row(first) {
            slots[class] = value;
        }
        for (class, value) in columns.row(other) {
            slots[class] -= value;
        }
    }

    fn fill_query(&self, columns: &ByRow, query: usize, slots: &mut [f64]) {
        for (row, sign) in self.ends(query).into_iter().zip([1.0, -1.0]) {
            columns.add_row(row, sign, slots);
        }
    }

    /// The share of the preferences, by weight, that predictions order rightly. Preferences of magnitude 0 do not
    /// count.
    fn concordance(
        &self,
        magnitudes: &[f64],
        _: &[f64],
        predictions: &[f64],
        _: &Parts,
    ) -> Option<f64> {
        let tie = PAIR_TIE * largest(magnitudes);
        let (mut ordered, mut all) = (0.0, 0.0);
        for row in 0..self.ends.len() {
            let (magnitude, weight) = (magnitudes[row], self.scales[row].powi(2));
            if magnitude == 0.0 {
                continue;
            }
            all += weight;
            ordered += weight
                * match predictions[row] * magnitude.signum() {
                    near if near.abs() <= tie => 0.5,
                    right if right > 0.0 => 1.0,
                    _ => 0.0,
                };
        }
        (all > 0.0).then(|| ordered / all)
    }
}
