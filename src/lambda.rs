//! The ridge parameter: a number, or a share of the size of the data.
//!
//! A number suits data of one size only: values ten times as large need a lambda a hundred times as large. So
//! defaults ([`choose`](crate::tune::choose)) are shares of the *unit* `u`. It is the mean squared norm of a
//! centred row ([`ColumnClasses::unit`](crate::ColumnClasses::unit)), the trace of the kernel matrix over its rows.
//! Under a share, values in other units give the same features. Values times a power of two give the same bits, and
//! weights that are exact multiples.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use rankrls_files::exact;
use serde::{Deserialize, Serialize, Serializer};

use crate::error::{Error, Result, ensure};

/// Ridge parameter `lambda` of regularised least squares: finite and above 0.
///
/// ```
/// use rankrls::Lambda;
///
/// assert_eq!(Lambda::new(16.0)?.value(), 16.0);
/// assert!(Lambda::new(0.0).is_err());
/// # Ok::<(), rankrls::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64")]
pub struct Lambda(f64);

impl Lambda {
    /// Checks `value`.
    pub fn new(value: f64) -> Result<Self, Error> {
        ensure!(
            value.is_finite() && value > 0.0,
            options,
            "lambda is {}: expected a finite number above 0",
            exact(value)
        );
        Ok(Self(value))
    }

    /// Each of `lambdas` once, ascending, as a grid.
    pub(crate) fn grid(lambdas: &[Self]) -> Vec<Self> {
        let mut grid = lambdas.to_vec();
        grid.sort_by(|&a, &b| a.total_cmp(b));
        grid.dedup();
        grid
    }

    /// The number.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Orders by size.
    pub(crate) fn total_cmp(self, other: Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl TryFrom<f64> for Lambda {
    type Error = Error;

    fn try_from(value: f64) -> Result<Self, Error> {
        Self::new(value)
    }
}

impl FromStr for Lambda {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let refused = |_| Error::options(format!("expected a number above 0, found {text:?}"));
        text.parse().map_err(refused).and_then(Self::new)
    }
}

impl fmt::Display for Lambda {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Without hundreds of zeros.
        formatter.pad(&rankrls_files::exact(self.0))
    }
}

/// Whether results of neighbouring ridge parameters differ by at most 0.01%.
pub(crate) fn is_flat(result: f64, next: f64) -> bool {
    (result - next).abs() <= 1e-4 * result.abs()
}

/// A ridge parameter, as a user gives it.
///
/// ```
/// use rankrls::Ridge;
///
/// let eighth: Ridge = "1/8u".parse()?;
/// assert_eq!(eighth.lambda(230.0).value(), 28.75);
/// assert_eq!("16".parse::<Ridge>()?.lambda(230.0).value(), 16.0);
/// # Ok::<(), rankrls::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "Json")]
pub enum Ridge {
    /// Lambda itself.
    Number(Lambda),
    /// This share, above 0, of the unit.
    Share(Lambda),
}

/// The JSON of one or several: 16.0, `"0.125u"`, `"auto"`, a list.
#[derive(Deserialize)]
#[serde(untagged)]
enum Json {
    Number(Lambda),
    Text(String),
    List(Vec<Ridge>),
}

impl Ridge {
    /// The share `above / below` of the unit. Both are at least 1.
    pub(crate) const fn fraction((above, below): (u32, u32)) -> Self {
        Self::Share(Lambda(above as f64 / below as f64))
    }

    /// The number, for data with this `unit`. A unit that is 0 or not finite counts as 1.
    pub fn lambda(self, unit: f64) -> Lambda {
        match self {
            Self::Number(lambda) => lambda,
            Self::Share(Lambda(share)) => {
                let usable = unit.is_finite() && unit > 0.0;
                let lambda = share * if usable { unit } else { 1.0 };
                Lambda(lambda.clamp(f64::MIN_POSITIVE, f64::MAX))
            }
        }
    }
}

impl From<Lambda> for Ridge {
    fn from(lambda: Lambda) -> Self {
        Self::Number(lambda)
    }
}

impl From<Lambda> for Option<Ridge> {
    fn from(lambda: Lambda) -> Self {
        Some(Ridge::Number(lambda))
    }
}

impl Serialize for Ridge {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(lambda) => lambda.serialize(serializer),
            Self::Share(_) => serializer.collect_str(self),
        }
    }
}

impl TryFrom<Json> for Ridge {
    type Error = Error;

    fn try_from(json: Json) -> Result<Self> {
        match json {
            Json::Number(lambda) => Ok(Self::Number(lambda)),
            Json::Text(text) => text.parse(),
            Json::List(_) => Err(Error::options("expected a lambda, found a list")),
        }
    }
}

impl fmt::Display for Ridge {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(lambda) => lambda.fmt(formatter),
            Self::Share(Lambda(share)) if *share < 1.0 && (1.0 / share).fract() == 0.0 => {
                formatter.pad(&format!("1/{}u", exact(1.0 / share)))
            }
            Self::Share(Lambda(share)) => formatter.pad(&format!("{}u", exact(*share))),
        }
    }
}

impl FromStr for Ridge {
    type Err = Error;

    /// Reads a number such as 0.25, a power such as 2^-3, or either with a `u`, as a share. A share may be a
    /// fraction such as 1/64u.
    fn from_str(text: &str) -> Result<Self> {
        let share = text.trim().strip_suffix('u');
        match (share, share.and_then(|share| share.split_once('/'))) {
            (None, _) => single(text.trim()).map(Self::Number),
            (Some(share), None) => single(share).map(Self::Share),
            (_, Some((above, below))) => {
                let share = single(above)?.0 / single(below)?.0;
                Lambda::new(share).map(Self::Share)
            }
        }
    }
}

/// Ridge parameters to try.
#[derive(Debug, Clone, PartialEq, Default, Deserialize)]
#[serde(try_from = "Json")]
pub enum Lambdas {
    /// 1/256, 1/64, 1/16, 1/4 and 1 of the unit. While the best lambda is at an edge, up to three more follow, each
    /// four times as large or small.
    #[default]
    Auto,
    /// This list.
    Given(Vec<Ridge>),
}

/// Most lambdas in a list.
const MOST: usize = 1000;

/// Largest exponent of 2, either way.
const EXPONENT: f64 = 1000.0;

/// Divisors of the unit in [`Lambdas::Auto`].
const AUTO: [u32; 5] = [256, 64, 16, 4, 1];

/// Most lambdas of a search beyond its edge.
const MOST_BEYOND: usize = 3;

impl Lambdas {
    /// A list of these numbers.
    pub fn of(lambdas: &[Lambda]) -> Self {
        Self::Given(lambdas.iter().copied().map(Ridge::Number).collect())
    }

    /// The numbers of a list without shares.
    pub fn numbers(&self) -> Option<Vec<Lambda>> {
        let number = |ridge: &Ridge| match ridge {
            Ridge::Number(lambda) => Some(*lambda),
            Ridge::Share(_) => None,
        };
        match self {
            Self::Given(list) => list.iter().map(number).collect(),
            Self::Auto => None,
        }
    }

    /// Whether the search may go on beyond an edge.
    pub(crate) fn is_open(&self) -> bool {
        *self == Self::Auto
    }

    /// Number of lambdas at the beginning.
    pub fn count(&self) -> usize {
        match self {
            Self::Auto => AUTO.len(),
            Self::Given(list) => list.len(),
        }
    }

    /// The numbers, for data with this `unit`, in the order of the list.
    pub(crate) fn lambdas(&self, unit: f64) -> Vec<Lambda> {
        match self {
            Self::Auto => AUTO
                .map(|below| Ridge::fraction((1, below)).lambda(unit))
                .into(),
            Self::Given(list) => list.iter().map(|ridge| ridge.lambda(unit)).collect(),
        }
    }
}

/// A search for the best of a list of lambdas. It may go on beyond its edge while the best is there.
#[derive(Debug)]
pub(crate) struct LambdaSearch {
    /// Each once, ascending.
    tried: Vec<Lambda>,
    /// Most lambdas in the end.
    most: usize,
}

impl LambdaSearch {
    /// Tries all of `lambdas`, and up to three more if the list is `open`.
    pub(crate) fn new(lambdas: &[Lambda], open: bool) -> Self {
        let tried = Lambda::grid(lambdas);
        let beyond = if open { MOST_BEYOND } else { 0 };
        let most = tried.len() + beyond;
        Self { tried, most }
    }

    /// Each once, ascending.
    pub(crate) fn tried(&self) -> &[Lambda] {
        &self.tried
    }

    /// Most lambdas in the end.
    pub(crate) fn most(&self) -> usize {
        self.most
    }

    /// Leaves out lambdas that are not worth a try.
    pub(crate) fn skip(&mut self, lambdas: &[Lambda]) {
        self.tried.retain(|lambda| !lambdas.contains(lambda));
        self.most -= lambdas.len();
    }

    /// Another lambda to try if `best` is at an edge: four times as large, or a fourth.
    fn go_on(&mut self, best: Lambda) -> Option<Lambda> {
        let (factor, place) = match &self.tried[..] {
            all if all.len() >= self.most => return None,
            [.., last] if *last == best => (4.0, self.tried.len()),
            [least, ..] if *least == best => (0.25, 0),
            _ => return None,
        };
        let lambda = Lambda::new(best.0 * factor).ok()?;
        self.tried.insert(place, lambda);
        Some(lambda)
    }

    /// Has `judge` judge `lambdas`, a list or a part of it, and then single lambdas beyond the edge while the best
    /// is there. `judge` gets the best so far, if there is one, and may [skip](Self::skip) lambdas. Returns the
    /// best.
    pub(crate) fn run<B: Into<Option<Lambda>>, E>(
        &mut self,
        lambdas: Vec<Lambda>,
        mut judge: impl FnMut(&mut Self, &[Lambda]) -> Result<B, E>,
    ) -> Result<Option<Lambda>, E> {
        let (mut next, mut best) = (lambdas, None);
        while !next.is_empty() {
            best = judge(self, &next)?.into();
            let past = best.and_then(|best| self.go_on(best));
            next = past.into_iter().collect();
        }
        Ok(best)
    }

    /// Whether `chosen` is at an end of several lambdas, so that another may be better.
    pub(crate) fn ends_at(&self, chosen: Lambda) -> bool {
        let ends = [self.tried.first(), self.tried.last()];
        self.tried.len() > 1 && ends.contains(&Some(&chosen))
    }
}

impl From<Lambda> for Lambdas {
    fn from(lambda: Lambda) -> Self {
        Self::of(&[lambda])
    }
}

impl<T: AsRef<[Lambda]> + ?Sized> From<&T> for Lambdas {
    fn from(lambdas: &T) -> Self {
        Self::of(lambdas.as_ref())
    }
}

impl Serialize for Lambdas {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Auto => serializer.collect_str(self),
            Self::Given(list) => list.serialize(serializer),
        }
    }
}

impl TryFrom<Json> for Lambdas {
    type Error = Error;

    fn try_from(json: Json) -> Result<Self> {
        match json {
            Json::Text(text) => text.parse(),
            Json::List(list) if !list.is_empty() => Ok(Self::Given(list)),
            Json::List(_) => Err(Error::options("expected lambdas, found none")),
            Json::Number(lambda) => Err(Error::options(format!(
                "expected a list of lambdas, found {lambda}"
            ))),
        }
    }
}

impl fmt::Display for Lambdas {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self::Given(list) = self else {
            return formatter.pad("auto");
        };
        let list: Vec<String> = list.iter().map(Ridge::to_string).collect();
        formatter.pad(&list.join(","))
    }
}

impl FromStr for Lambdas {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if text.trim() == "auto" {
            return Ok(Self::Auto);
        }
        let mut list = Vec::new();
        for item in text.split(',').map(str::trim) {
            match item.split_once("..") {
                Some((from, to)) => list.extend(range(item, from, to)?),
                None => list.push(item.parse()?),
            }
            let legal = list.len() <= MOST;
            ensure!(legal, options, "expected at most {MOST} values, found more");
        }
        Ok(Self::Given(list))
    }
}

/// A number, or a power of 2.
fn single(item: &str) -> Result<Lambda> {
    ensure!(
        !item.is_empty(),
        options,
        "expected values separated by single commas, found an empty one"
    );
    if item.contains('^') {
        return Lambda::new(exponent(item, item)?.exp2());
    }
    item.parse()
}

/// `2^a..2^b` or shares `a..b`, with an optional `:step` of the exponent of 2.
fn range(item: &str, from: &str, to: &str) -> Result<Vec<Ridge>> {
    let (to, step) = match to.split_once(':') {
        Some((to, step)) => (to, number(item, step)?),
        None => (to, 1.0),
    };
    let shares = from.ends_with('u') && to.ends_with('u');
    let end = |text: &str| match shares.then(|| text.parse()).transpose()? {
        Some(Ridge::Share(share)) => Ok(share.0.log2()),
        _ => exponent(item, text),
    };
    let (from, to) = (end(from)?, end(to)?);
    ensure!(
        step > 0.0,
        options,
        "{item:?}: expected a step above 0, found {step}"
    );
    ensure!(
        from <= to,
        options,
        "{item:?}: expected the smaller power first, found 2^{from} before 2^{to}"
    );
    // Rounding may shorten a step, but must not cost the last value.
    let last = (to - from) / step + 1e-9;
    let places = (0..=MOST).map(|place| place as f64);
    let places = places.take_while(|&place| place <= last);
    let ridge = if shares { Ridge::Share } else { Ridge::Number };
    places
        .map(|place| Lambda::new((from + place * step).exp2()).map(ridge))
        .collect()
}

fn exponent(item: &str, text: &str) -> Result<f64> {
    let digits = text.trim().strip_prefix("2^");
    let refused = || Error::options(format!("{item:?}: expected powers such as 2^-3"));
    let digits = digits.ok_or_else(refused)?;
    let exponent = number(item, digits)?;
    ensure!(
        exponent.abs() <= EXPONENT,
        options,
        "{item:?}: expected exponents from -{EXPONENT} to {EXPONENT}, found {exponent}"
    );
    Ok(exponent)
}

fn number(item: &str, text: &str) -> Result<f64> {
    let number = text.parse().ok().filter(|number: &f64| number.is_finite());
    let refused = || Error::options(format!("{item:?}: expected a number, found {text:?}"));
    number.ok_or_else(refused)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str, unit: f64) -> Vec<f64> {
        let lambdas: Lambdas = text.parse().unwrap();
        let lambdas = lambdas.lambdas(unit).into_iter();
        lambdas.map(Lambda::value).collect()
    }

    #[test]
    fn numbers_powers_ranges_and_shares_are_read() {
        for (text, unit, expected) in [
            ("0.25, 1,4", 7.0, &[0.25, 1.0, 4.0][..]),
            ("2^-2,3,2^10", 7.0, &[0.25, 3.0, 1024.0]),
            ("2^-1..2^2", 7.0, &[0.5, 1.0, 2.0, 4.0]),
            ("2^-2..2^3:2", 7.0, &[0.25, 1.0, 4.0]),
            ("2^0..2^1:0.5", 7.0, &[1.0, 2.0_f64.sqrt(), 2.0]),
            ("2^3..2^3", 7.0, &[8.0]),
            ("1/64u, 0.25u,2^1u,3", 224.0, &[3.5, 56.0, 448.0, 3.0]),
            ("1/64u..1u:2", 224.0, &[3.5, 14.0, 56.0, 224.0]),
            ("auto", 0.87, &values("1/256u..1u:2", 0.87)),
            ("1/4u", 0.0, &[0.25]),
            ("1/4u", f64::INFINITY, &[0.25]),
            ("1/4u", f64::NAN, &[0.25]),
            ("4u", f64::MAX, &[f64::MAX]),
            ("1/4u", f64::MIN_POSITIVE, &[f64::MIN_POSITIVE]),
        ] {
            assert_eq!(values(text, unit), expected, "{text}");
        }
        for (text, count) in [("2^0..2^1:0.1", 11), ("2^-10..2^10", 21)] {
            assert_eq!(values(text, 7.0).len(), count, "{text}");
        }
    }

    #[test]
    fn lists_are_written_as_they_are_read() {
        for text in ["auto", "1/64u,1u,0.3u,4,0.25"] {
            let lambdas: Lambdas = text.parse().unwrap();
            assert_eq!(lambdas.to_string(), text);
            let json = serde_json::to_string(&lambdas).unwrap();
            assert_eq!(serde_json::from_str::<Lambdas>(&json).unwrap(), lambdas);
        }
        for refused in ["[0.0]", "[]", "1.0", "[[1.0]]"] {
            assert!(serde_json::from_str::<Lambdas>(refused).is_err());
        }
    }

    #[test]
    fn other_text_is_refused() {
        for (text, message) in [
            ("", "empty"),
            ("1,,2", "empty"),
            ("0", "above 0"),
            ("1,-2", "above 0"),
            ("x", "above 0"),
            ("inf", "above 0"),
            ("3^2", "2^-3"),
            ("1..4", "2^-3"),
            ("1u..4", "2^-3"),
            ("2^x", "a number"),
            ("2^2..2^1", "smaller power first"),
            ("1u..1/4u", "smaller power first"),
            ("2^1..2^2:0", "above 0"),
            ("2^1..2^2:-1", "above 0"),
            ("2^1..2^2:nan", "a number"),
            ("2^0..2^5000", "from -1000 to 1000"),
            ("2^0..2^1000:0.001", "at most 1000"),
            ("u", "empty"),
            ("1/0u", "above 0"),
            ("0u", "above 0"),
            ("1/4", "above 0"),
        ] {
            let error = text.parse::<Lambdas>().unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }

    #[test]
    fn a_search_goes_on_past_the_edge_that_is_best() {
        let search = |open| LambdaSearch::new(&[16.0, 1.0, 4.0, 4.0].map(Lambda), open);
        let mut closed = search(false);
        assert_eq!(closed.tried(), [1.0, 4.0, 16.0].map(Lambda));
        assert_eq!((closed.go_on(Lambda(16.0)), closed.most()), (None, 3));
        assert!(closed.ends_at(Lambda(1.0)) && !closed.ends_at(Lambda(4.0)));
        let mut open = search(true);
        assert_eq!(open.go_on(Lambda(4.0)), None);
        assert_eq!(open.go_on(Lambda(1.0)), Some(Lambda(0.25)));
        assert_eq!(open.go_on(Lambda(16.0)), Some(Lambda(64.0)));
        assert_eq!(open.go_on(Lambda(64.0)), Some(Lambda(256.0)));
        assert_eq!((open.go_on(Lambda(256.0)), open.most()), (None, 6));
        let mut less = search(true);
        less.skip(&[1.0, 4.0].map(Lambda));
        assert!(!less.ends_at(Lambda(16.0)));
        assert_eq!(less.go_on(Lambda(16.0)), Some(Lambda(64.0)));
        assert_eq!((less.most(), less.tried().len()), (4, 2));
        let mut last = LambdaSearch::new(&[Lambda(f64::MAX)], true);
        assert_eq!(last.go_on(Lambda(f64::MAX)), None);
    }
}
