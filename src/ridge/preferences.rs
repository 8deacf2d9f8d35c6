//! Preferences: `sum_p c_p (g_p - (f_s - f_e))^2 + lambda |w|^2` (`PPRankRLS`).
//!
//! A preference is a row `sqrt(c_p) (x_s - x_e)` with the label `sqrt(c_p) g_p`, which nothing centres: the
//! loss is that of the graph Laplacian `L = B' B`, degrees less adjacency, with these differences for
//! the rows of `B`. Preferences are left out as rows are.

use super::error::TrainError;
use crate::data::Dataset;

/// One row before another.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preference {
    /// The row that is preferred, 0-based.
    pub preferred: u32,
    /// The other row.
    pub other: u32,
    /// The strength of the preference, in units of the labels; 1 as a rule.
    pub magnitude: f64,
    /// The weight of the preference; 1 as a rule.
    pub weight: f64,
}

/// Preferences among the rows of a data set. One that comes twice counts twice, opposite ones pull
/// against each other, cycles are allowed, and a row before itself counts nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Preferences {
    list: Vec<Preference>,
    rows: usize,
}

impl Preferences {
    /// Checks preferences among the rows of the input of `data`, from 0 on, and finds these rows in
    /// `data`.
    ///
    /// # Errors
    /// [`TrainError::Unexpected`] for a row that is not there, a magnitude that is not finite, or a
    /// weight that is not above 0; [`TrainError::NoPreferences`] if no two rows are compared.
    pub fn new(mut list: Vec<Preference>, data: &Dataset<'_>) -> Result<Self, TrainError> {
        let (places, rows) = (data.rows_of_input(), data.rows());
        for (number, one) in list.iter_mut().enumerate() {
            let refuse = |expected: &str, found: String| {
                let what = format!("preference {}", number + 1);
                Err(TrainError::unexpected(
                    what,
                    format!("{expected}, found {found}"),
                ))
            };
            for row in [&mut one.preferred, &mut one.other] {
                let Some(place) = places.get(*row as usize) else {
                    let found = (u64::from(*row) + 1).to_string();
                    return refuse(&format!("rows from 1 to {rows}"), found);
                };
                *row = *place;
            }
            if !one.magnitude.is_finite() {
                return refuse("a finite magnitude", one.magnitude.to_string());
            }
            if !(one.weight.is_finite() && one.weight > 0.0) {
                return refuse("a finite weight above 0", one.weight.to_string());
            }
        }
        if list.iter().all(|one| one.preferred == one.other) {
            return Err(TrainError::NoPreferences);
        }
        Ok(Self { list, rows })
    }

    /// The preferences in the order in which they were given, among the rows of the data.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Preference> {
        self.list.iter()
    }

    /// How many there are, at least 1.
    #[expect(clippy::len_without_is_empty, reason = "there is one at least")]
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// The rows that they are among.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// The mean weight of the preferences that a row is in.
    pub(super) fn mean_degree(&self) -> f64 {
        let compared = self.list.iter().filter(|one| one.preferred != one.other);
        2.0 * compared.map(|one| one.weight).sum::<f64>() / self.rows as f64
    }
}
