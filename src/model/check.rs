//! What the parts of a model file must agree on.

use std::fmt::Display;

use super::document::{DataEntry, Document, FeatureEntry, PathEntry};
use crate::dataset::IndexBase;

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
    let (features, classes) = (&document.features, document.data.column_classes);
    let expected = format!("from 1 to {classes} features, one a column class");
    let count = features.len() as u64;
    require((1..=classes).contains(&count), "features", expected, count)?;
    for (number, feature) in features.iter().enumerate() {
        let finite = feature.weight.is_finite();
        let field = format!("features[{number}].weight");
        require(finite, &field, "a finite number", feature.weight)?;
    }
    indices(features, base, document.data.columns)?;
    path(&document.path, features)?;
    Ok(base)
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
    for (number, feature) in features.iter().enumerate() {
        let field = format!("features[{number}]");
        let range = first..first + columns;
        for &index in [feature.index].iter().chain(&feature.identical) {
            let expected = format!("indices from {} to {}", range.start, range.end - 1);
            require(range.contains(&index), &field, expected, index)?;
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

fn path(path: &[PathEntry], features: &[FeatureEntry]) -> Result<(), Invalid> {
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
