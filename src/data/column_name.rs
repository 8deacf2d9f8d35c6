//! Columns as users name them: by name, or by number as the source of the data counts.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::dataset::Dataset;
use super::formats::cells;
use super::names::{Feature, FeatureNames, IndexBase};
use crate::error::{Error, Result, ensure};

/// A column as a user names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum ColumnName {
    /// Its number, counted like the source: [`IndexBase::file_index`].
    Number(u64),
    /// Its name.
    Name(String),
}

impl fmt::Display for ColumnName {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(formatter),
            Self::Name(name) => fmt::Debug::fmt(name, formatter),
        }
    }
}

impl From<&str> for ColumnName {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl ColumnName {
    /// Reads a list such as `bm25,17,"a name, with a comma"`. Quotes work as in a table. Digits alone are a number,
    /// even if a column has that name.
    pub fn list(text: &str) -> Result<Vec<Self>> {
        let items = titles(text)?.into_iter();
        items.map(|item| Self::read(item.trim())).collect()
    }

    fn read(text: &str) -> Result<Self> {
        if text.is_empty() {
            return Err(Error::options(
                "expected names or numbers of columns, separated by commas, found an empty one",
            ));
        }
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let number = text.parse().ok().filter(|_| digits);
        Ok(number.map_or_else(|| text.into(), Self::Number))
    }

    /// Finds these columns among `width` columns with these `names`, counted by `base`. Refuses an unknown or
    /// repeated column, and a name that several columns have. O(names) time for each.
    pub fn find_all(
        all: &[Self],
        names: Option<&FeatureNames>,
        width: usize,
        base: IndexBase,
    ) -> Result<Vec<Feature>> {
        let mut features = Vec::with_capacity(all.len());
        for column in all {
            let feature = column.find(names, width, base)?;
            ensure!(
                !features.contains(&feature),
                options,
                "column {} is there twice: expected each column once",
                shown(base.file_index(feature), names, feature)
            );
            features.push(feature);
        }
        Ok(features)
    }

    fn find(&self, names: Option<&FeatureNames>, width: usize, base: IndexBase) -> Result<Feature> {
        match self {
            Self::Number(number) => numbered(*number, width, base),
            Self::Name(name) => named(name, names, width, base),
        }
    }
}

/// The names in a list with commas. A name with commas stands in quotes, as in the header of a table.
pub fn titles(text: &str) -> Result<Vec<String>> {
    let cells = cells(text.as_bytes(), b',').map_err(|fault| {
        let error = fault.of("");
        let (expected, found) = (error.expected(), error.found());
        Error::options(format!("expected {expected}, found {found}"))
    })?;
    let texts = cells.iter().map(|cell| String::from_utf8_lossy(&cell.text));
    Ok(texts.map(Cow::into_owned).collect())
}

impl Dataset<'_> {
    /// The features that a user names: see [`ColumnName::find_all`].
    pub fn features_called(&self, columns: &[ColumnName]) -> Result<Vec<Feature>> {
        ColumnName::find_all(columns, self.names(), self.width(), self.index_base())
    }
}

/// A feature in a message: its `number`, and its name if it has one.
pub(crate) fn shown(number: u64, names: Option<&FeatureNames>, feature: Feature) -> String {
    let name = names.and_then(|names| names.of(feature));
    match name.filter(|name| !name.is_empty()) {
        Some(name) => format!("{number} ({name:?})"),
        None => number.to_string(),
    }
}

/// The first and the last number of `width` columns.
fn range(width: usize, base: IndexBase) -> String {
    let first = u64::from(base.first());
    let last = (first + width as u64).saturating_sub(1);
    format!("from {first} to {last}")
}

fn numbered(number: u64, width: usize, base: IndexBase) -> Result<Feature> {
    let feature = number.checked_sub(base.first().into());
    let feature = feature.filter(|&feature| feature < width as u64);
    let feature = feature.and_then(|feature| Feature::try_from(feature).ok());
    feature.ok_or_else(|| {
        Error::options(format!(
            "there is no column {number}: expected numbers {}",
            range(width, base)
        ))
    })
}

fn named(
    name: &str,
    names: Option<&FeatureNames>,
    width: usize,
    base: IndexBase,
) -> Result<Feature> {
    let known = names.into_iter().flat_map(FeatureNames::named);
    let known: Vec<(Feature, &str)> = known.filter(|(_, name)| !name.is_empty()).collect();
    if known.is_empty() {
        return Err(Error::options(format!(
            "no column is called {name:?}, as the columns have no names: give their numbers, {}",
            range(width, base)
        )));
    }
    let called: Vec<Feature> = known
        .iter()
        .filter_map(|&(feature, other)| (other == name).then_some(feature))
        .collect();
    match called[..] {
        [feature] => Ok(feature),
        [] => Err(Error::options(match meant(name, &known) {
            Some(meant) => format!("no column is called {name:?}; is it {meant:?}?"),
            None => format!(
                "no column is called {name:?} among the {} that have names",
                known.len()
            ),
        })),
        [first, second, ..] => Err(Error::options(format!(
            "{} columns are called {name:?}, such as {} and {}: give the number of the one that you mean",
            called.len(),
            base.file_index(first),
            base.file_index(second)
        ))),
    }
}

/// The only `known` name that differs from `name` in upper and lower case, or else the only one that differs by one
/// letter. Names of fewer than four letters have no such match.
fn meant<'n>(name: &str, known: &[(Feature, &'n str)]) -> Option<&'n str> {
    let only = |alike: &dyn Fn(&str) -> bool| {
        let mut alike = known.iter().filter(|(_, other)| alike(other));
        let &(_, meant) = alike.next()?;
        alike.next().is_none().then_some(meant)
    };
    let long = name.chars().count() > 3;
    only(&|other| other.to_lowercase() == name.to_lowercase())
        .or_else(|| only(&|other| is_one_letter_off(name, other)).filter(|_| long))
}

/// Whether one letter was left out, inserted or replaced, or two were exchanged.
fn is_one_letter_off(a: &str, b: &str) -> bool {
    if a.len().abs_diff(b.len()) > 4 {
        return false;
    }
    let [a, b]: [Vec<char>; 2] = [a, b].map(|text| text.chars().collect());
    let before = a.iter().zip(&b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[before..], &b[before..]);
    let after = a.iter().rev().zip(b.iter().rev());
    let after = after.take_while(|(a, b)| a == b).count();
    match (&a[..a.len() - after], &b[..b.len() - after]) {
        ([_], [] | [_]) | ([], [_]) => true,
        ([a, b], [c, d]) => (a, b) == (d, c),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_have_names_and_numbers() {
        let list = |text: &str| ColumnName::list(text);
        let read = list(r#"bm25, 17 ,"a, ""b""",title:words,5x"#).unwrap();
        let names = ["bm25", "", "a, \"b\"", "title:words", "5x"];
        let mut expected = names.map(ColumnName::from);
        expected[1] = ColumnName::Number(17);
        assert_eq!(read, expected);
        for text in ["", "a,,b", "a,", "\"a"] {
            let error = list(text).unwrap_err().to_string();
            assert!(error.contains("expected"), "{text}: {error}");
        }
        let json = serde_json::to_string(&read[..2]).unwrap();
        assert_eq!(json, r#"["bm25",17]"#);
        assert_eq!(
            serde_json::from_str::<Vec<ColumnName>>(&json).unwrap(),
            read[..2]
        );
    }

    #[test]
    fn columns_are_found_or_refused_with_what_there_is() {
        let names = ["bm25", "title", "titles", "x", "", "x", "3"];
        let names: FeatureNames = names.into_iter().collect();
        let find = |column: ColumnName| column.find(Some(&names), 7, IndexBase::One);
        assert_eq!(find("titles".into()), Ok(2));
        assert_eq!(find(ColumnName::Number(7)), Ok(6));
        assert_eq!(find(ColumnName::Number(3)), Ok(2));
        let refused = |column: ColumnName| find(column).unwrap_err().to_string();
        for (name, text) in [
            ("BM25", "no column is called \"BM25\"; is it \"bm25\"?"),
            ("bm52", "no column is called \"bm52\"; is it \"bm25\"?"),
            ("bm255", "no column is called \"bm255\"; is it \"bm25\"?"),
            ("titel", "no column is called \"titel\"; is it \"title\"?"),
            ("y", "no column is called \"y\" among the 6 that have names"),
            ("", "no column is called \"\" among the 6 that have names"),
            (
                "url length",
                "no column is called \"url length\" among the 6 that have names",
            ),
            (
                "x",
                "2 columns are called \"x\", such as 4 and 6: give the number of the one that you mean",
            ),
        ] {
            assert_eq!(refused(name.into()), text);
        }
        for number in [0, 8, u64::MAX] {
            let text = format!("there is no column {number}: expected numbers from 1 to 7");
            assert_eq!(refused(ColumnName::Number(number)), text);
        }
        let nameless = ColumnName::from("bm25").find(None, 7, IndexBase::Zero);
        assert_eq!(
            nameless.unwrap_err().to_string(),
            "no column is called \"bm25\", as the columns have no names: give their numbers, from 0 to 6"
        );
    }
}
