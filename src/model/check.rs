//! What the parts of a model file must agree on.

use std::fmt::Display;

use super::document::{DataEntry, Document, FeatureEntry};
use crate::data::IndexBase;

/// Most rows or columns that can be indexed.
const MOST: u64 = u32::MAX as u64;

/// A value that is out of its range or contradicts another.
#[derive(Debug)]
pub(super) struct Invalid {
    pub(super) field: String,
    pub(super) expected: String,
    pub(super) found: String,
}

impl Invalid {
    pub(super) fn new(
        field: impl Into<String>,
        expected: impl Into<String>,
        found: impl Display,
    ) -> Self {
        Self {
            field: field.into(),
            expected: expected.into(),
            found: found.to_string(),
        }
    }
}

/// Refuses a value unless it is `legal`.
fn require(
    legal: bool,
    field: &str,
    expected: impl Into<String>,
    found: impl Display,
) -> Result<(), Invalid> {
    if legal {
        return Ok(());
    }
    Err(Invalid::new(field, expected, found))
}

/// Checks everything that the types do not say, and returns how indices count.
pub(super) fn check(document: &Document) -> Result<IndexBase, Invalid> {
    let base = match document.index_base {
        0 => IndexBase::Zero,
        1 => IndexBase::One,
        other => return Err(Invalid::new("index_base", "0 or 1", other)),
    };
    sampling(document)?;
    data(&document.data)?;
    let features = &document.features;
    count(document)?;
    if let Some(number) = features
        .iter()
        .position(|feature| !feature.weight.is_finite())
    {
        let (field, weight) = (
            format!("features[{number}].weight"),
            features[number].weight,
        );
        require(false, &field, "a finite number", weight)?;
    }
    indices(features, base, document.data.columns)?;
    path(document)?;
    Ok(base)
}

fn count(document: &Document) -> Result<(), Invalid> {
    let data = &document.data;
    let (most, what) = if document.strategy.is_selection() {
        (data.column_classes, "one a column class")
    } else {
        // No more constant columns than columns: that was checked.
        (data.columns - data.constant_columns, "those that vary")
    };
    let count = document.features.len() as u64;
    let expected = format!("from 1 to {most} features, {what}");
    require((1..=most).contains(&count), "features", expected, count)
}

fn sampling(document: &Document) -> Result<(), Invalid> {
    let (candidates, seed) = (document.candidates, document.seed);
    require(
        candidates.is_some() == seed.is_some(),
        "seed",
        "a seed together with a number of candidates, or neither",
        "one of them",
    )?;
    require(candidates != Some(0), "candidates", "1 or more", 0)
}

fn data(data: &DataEntry) -> Result<(), Invalid> {
    let within = |field: &str, found: u64, least: u64, most: u64| {
        let expected = format!("a number from {least} to {most}");
        require((least..=most).contains(&found), field, expected, found)
    };
    within("data.rows", data.rows, 1, MOST)?;
    within("data.queries", data.queries, 1, data.rows)?;
    within("data.columns", data.columns, 1, MOST)?;
    // Both are below 2^32.
    let cells = data.rows * data.columns;
    within("data.nonzeros", data.nonzeros, 0, cells)?;
    let varying = data.columns.checked_sub(data.constant_columns);
    let columns = data.columns;
    let varying = varying.ok_or_else(|| {
        let expected = format!("at most {columns}, the columns");
        Invalid::new("data.constant_columns", expected, data.constant_columns)
    })?;
    within("data.column_classes", data.column_classes, 1, varying)
}

/// Every column may stand in one place only, as a feature or as one that equals it.
fn indices(features: &[FeatureEntry], base: IndexBase, columns: u64) -> Result<(), Invalid> {
    let first = u64::from(base.first());
    let all = |feature: &FeatureEntry| feature.identical.len() + 1;
    let mut indices: Vec<u64> = Vec::with_capacity(features.iter().map(all).sum());
    let range = first..first + columns;
    for (number, feature) in features.iter().enumerate() {
        for &index in [feature.index].iter().chain(&feature.identical) {
            if !range.contains(&index) {
                let field = format!("features[{number}]");
                let expected = format!("indices from {} to {}", range.start, range.end - 1);
                return Err(Invalid::new(field, expected, index));
            }
            indices.push(index);
        }
    }
    indices.sort_unstable();
    match indices.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(Invalid::new(
            "features",
            "every index once",
            format!("{} twice", pair[0]),
        )),
    }
}

fn path(document: &Document) -> Result<(), Invalid> {
    let (path, features) = (&document.path, &document.features);
    if !document.strategy.is_selection() {
        let expected = format!("no steps, with strategy {}", document.strategy);
        require(document.seed.is_none(), "seed", "null", "a seed")?;
        return require(path.is_empty(), "path", expected, path.len());
    }
    let expected = format!("{} steps, one a feature", features.len());
    require(path.len() == features.len(), "path", expected, path.len())?;
    for (number, (entry, feature)) in path.iter().zip(features).enumerate() {
        let field = |name: &str| format!("path[{number}].{name}");
        let step = number + 1;
        require(
            entry.step == step,
            &field("step"),
            step.to_string(),
            entry.step,
        )?;
        let same = entry.feature == feature.index;
        let expected = format!("{}, the feature in its place", feature.index);
        require(same, &field("feature"), expected, entry.feature)?;
        let error = entry.lqo_error;
        let expected = "a finite number from 0 on";
        require(
            error.is_finite() && error >= 0.0,
            &field("lqo_error"),
            expected,
            error,
        )?;
        if let Some(index) = entry.lqo_cindex {
            let legal = (0.0..=1.0).contains(&index);
            require(legal, &field("lqo_cindex"), "a number from 0 to 1", index)?;
        }
    }
    Ok(())
}
