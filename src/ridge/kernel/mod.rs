//! Kernels: similarities of rows in place of columns (Schölkopf and Smola, *Learning with Kernels*, 2002).
//!
//! A kernel is a function of the product of two rows and of their squared norms. [`KernelKind::facts`] has all
//! facts of each. Only given kernels are asked for by name elsewhere.

mod given;
mod reduced;
mod values;

use serde::{Deserialize, Serialize};

use crate::data::{Dataset, IndexBase};
use crate::error::{Error, Result};
use crate::names::names;

pub use reduced::Basis;
pub(crate) use reduced::ReducedSet;

/// The kernels, by the names that users give: functions of rows `x` and `z` (Schölkopf and Smola, *Learning with
/// Kernels*, 2002).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum KernelKind {
    /// `x . z`.
    #[default]
    Linear,
    /// `exp(-gamma |x - z|^2)`.
    Gaussian,
    /// `(gamma x . z + coef0)^degree`.
    Polynomial,
    /// The columns of the data are the kernel: column `j` has the values with row `j` of the training data, in the
    /// order before rows of a query were moved together.
    Precomputed,
}

names!(
    KernelKind,
    "kernel",
    Linear => "linear",
    Gaussian => "gaussian",
    Polynomial => "polynomial",
    Precomputed => "precomputed",
);

/// The facts about a kernel.
struct KernelFacts {
    /// The formula, for help.
    formula: &'static str,
    /// The parameters in the order that users name them: `gamma`, which may be a list, last.
    parameters: &'static [&'static str],
    /// Whether scores are linear in the columns of the data.
    linear: bool,
    /// Whether the value of rows vanishes with their distance.
    local: bool,
    /// Turns the products of a row with others into values.
    values: fn(&Kernel, &mut Products<'_>),
}

impl KernelKind {
    fn facts(self) -> KernelFacts {
        match self {
            Self::Linear => KernelFacts {
                formula: "x.z",
                parameters: &[],
                linear: true,
                local: false,
                values: |_, _| {},
            },
            Self::Gaussian => KernelFacts {
                formula: "exp(-gamma |x-z|^2)",
                parameters: &["gamma"],
                linear: false,
                local: true,
                values: gaussian,
            },
            Self::Polynomial => KernelFacts {
                formula: "(gamma x.z + coef0)^degree",
                parameters: &["degree", "coef0", "gamma"],
                linear: false,
                local: false,
                values: polynomial,
            },
            Self::Precomputed => KernelFacts {
                formula: "where column j of DATA has the values with row j of the training data",
                parameters: &[],
                linear: true,
                local: false,
                values: |_, _| {},
            },
        }
    }

    /// A line about the values: usually a formula of the rows `x` and `z`.
    pub fn formula(self) -> &'static str {
        self.facts().formula
    }

    /// The parameters in the order that users name them: `degree`, a whole number above 0, `coef0`, a number from 0
    /// on, and `gamma`, a number above 0, which may be a list.
    pub fn parameters(self) -> &'static [&'static str] {
        self.facts().parameters
    }
}

fn gaussian(kernel: &Kernel, products: &mut Products<'_>) {
    products.by_distance(|distance| {
        let exponent = kernel.gamma * distance;
        // NaN is refused later. A 0 would make a kernel that knows equal rows alone.
        if exponent.is_finite() {
            (-exponent).exp()
        } else {
            f64::NAN
        }
    });
}

fn polynomial(kernel: &Kernel, products: &mut Products<'_>) {
    let degree = i32::try_from(kernel.degree).unwrap_or(i32::MAX);
    for value in &mut *products.values {
        *value = (kernel.gamma * *value + kernel.coef0).powi(degree);
    }
}

/// The products of a row with others, which become the values of a kernel.
struct Products<'a> {
    /// `x . z` for each of the other rows `z`.
    values: &'a mut [f64],
    /// `|x|^2`.
    norm: f64,
    /// `|z|^2` of each of the other rows.
    norms: &'a [f64],
    /// `|x - z|^2` of one of the other rows, from the differences of values.
    distance: &'a dyn Fn(usize) -> f64,
}

/// The share of `|x|^2 + |z|^2` below which differences give `|x - z|^2`: for rows so near, products lose the
/// common digits of the values. Above it, `exp(-gamma |x - z|^2)` is off by twice `f64::EPSILON` at most, whatever
/// gamma.
const NEAR: f64 = 0.25;

impl Products<'_> {
    /// Sets each value by `|x - z|^2`, which is not below 0.
    #[inline(always)]
    fn by_distance(&mut self, value: impl Fn(f64) -> f64) {
        for (other, (slot, norm)) in self.values.iter_mut().zip(self.norms).enumerate() {
            let squares = norm + self.norm;
            let mut distance = squares - 2.0 * *slot;
            // The distance is NaN if squares overflow.
            if distance.is_nan() || distance < NEAR * squares {
                distance = (self.distance)(other);
            }
            *slot = value(distance);
        }
    }
}

/// A kernel with its parameters: a positive semidefinite function of two rows `x` and `z`, in place of `x . z` of
/// linear RankRLS (`docs/derivation.md`, section 16).
///
/// ```
/// use rankrls::ridge::Kernel;
///
/// assert!(Kernel::gaussian(0.5).is_ok());
/// assert!(Kernel::gaussian(0.0).unwrap_err().to_string().contains("gamma"));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// The function, without its parameters.
    pub kind: KernelKind,
    gamma: f64,
    coef0: f64,
    degree: u32,
}

impl Kernel {
    /// `x . z`, in squared units of the values.
    pub const LINEAR: Self = Self {
        kind: KernelKind::Linear,
        gamma: 1.0,
        coef0: 0.0,
        degree: 1,
    };

    /// Columns that are the kernel themselves, `m` x `m`: column `j` has the values with row `j`.
    pub const PRECOMPUTED: Self = Self {
        kind: KernelKind::Precomputed,
        ..Self::LINEAR
    };

    /// A kernel of any kind. Parameters that its formula lacks ([`KernelKind::parameters`]) have no effect.
    ///
    /// `gamma` is in units of one over the squared values, `coef0` in units of `gamma x . z`, which has none.
    pub fn new(kind: KernelKind, gamma: f64, coef0: f64, degree: u32) -> Result<Self> {
        let kernel = Self {
            kind,
            gamma,
            coef0,
            degree,
        };
        kernel.checked()
    }

    /// `exp(-gamma |x - z|^2)`, from 0 to 1. `gamma` is in units of one over the squared values: rows much further
    /// apart than `gamma^-1/2` have a value near 0.
    pub fn gaussian(gamma: f64) -> Result<Self> {
        Self::new(KernelKind::Gaussian, gamma, 0.0, 1)
    }

    /// This kernel, unless one of its parameters is out of range. Parameters that its formula lacks become those of
    /// [`LINEAR`](Self::LINEAR).
    pub(crate) fn checked(self) -> Result<Self> {
        let refuse = |name: &str, expected: &str, found: f64| {
            let text = format!("{name} of the kernel: expected {expected}, found {found:?}");
            Err(Error::options(text))
        };
        let mut kernel = Self {
            kind: self.kind,
            ..Self::LINEAR
        };
        if self.has("degree") {
            kernel.degree = self.degree;
        }
        if self.has("coef0") {
            kernel.coef0 = self.coef0;
        }
        if self.has("gamma") {
            kernel.gamma = self.gamma;
        }
        if !(kernel.coef0.is_finite() && kernel.coef0 >= 0.0) {
            return refuse("coef0", "a finite number from 0 on", kernel.coef0);
        }
        if kernel.degree == 0 {
            return refuse("degree", "a whole number above 0", 0.0);
        }
        if !(kernel.gamma.is_finite() && kernel.gamma > 0.0) {
            return refuse("gamma", "a finite number above 0", kernel.gamma);
        }
        Ok(kernel)
    }

    /// `gamma`, if it is a parameter of the kernel.
    pub fn gamma(&self) -> Option<f64> {
        self.has("gamma").then_some(self.gamma)
    }

    fn has(&self, parameter: &str) -> bool {
        self.kind.parameters().contains(&parameter)
    }

    /// Whether scores are linear in the columns of the data.
    pub fn is_linear(&self) -> bool {
        self.kind.facts().linear
    }

    /// Columns of `dataset`, ascending, each with its weight in the model of rows with these `coefficients`, under
    /// a linear kernel.
    pub(crate) fn weights(
        &self,
        dataset: &Dataset<'_>,
        coefficients: &[(usize, f64)],
    ) -> Vec<(u32, f64)> {
        let mut weights: Vec<(u32, f64)> = match self.kind {
            KernelKind::Precomputed => {
                let inputs = dataset.input_rows();
                let input = |row: usize| inputs.map_or(row_number(row), |known| known[row]);
                let rows = coefficients.iter();
                rows.map(|&(row, value)| (input(row), value)).collect()
            }
            KernelKind::Linear => {
                let mut of_row = vec![0.0; dataset.rows()];
                for &(row, value) in coefficients {
                    of_row[row] = value;
                }
                let weight = |position: usize| {
                    let entries = dataset.column(position).iter();
                    let weight = entries.map(|(row, value)| value * of_row[row]).sum();
                    (dataset.feature(position), weight)
                };
                (0..dataset.stored_columns()).map(weight).collect()
            }
            _ => Vec::new(),
        };
        weights.sort_unstable_by_key(|&(feature, _)| feature);
        weights
    }
}

/// The number of a row of `dataset` for people: its place in the input, counted from `base`.
fn named(dataset: &Dataset<'_>, base: IndexBase, row: usize) -> usize {
    let input = dataset.input_rows().map_or(row, |rows| rows[row] as usize);
    input + usize::from(base == IndexBase::One)
}

/// Refuses a value that is not finite. `values` are column by column, `height` rows each; `names` returns the
/// numbers of a row and a column.
fn check_finite(
    values: &[f64],
    height: usize,
    names: impl Fn(usize, usize) -> [usize; 2],
) -> Result<()> {
    let Some(place) = values.iter().position(|value| !value.is_finite()) else {
        return Ok(());
    };
    let [row, other] = names(place % height, place / height);
    Err(Error::numbers(format!(
        "the kernel of rows {row} and {other} is beyond all numbers: scale the data, or take a smaller gamma or degree"
    )))
}

/// A row as a 32-bit number, as data sets have them.
pub(crate) fn row_number(row: usize) -> u32 {
    u32::try_from(row).unwrap_or(u32::MAX)
}
