//! Features that restrict a training: from another model, or a list.

use std::collections::HashMap;
use std::path::Path;

use super::file::{largest, refusal, short};
use super::{Model, Unfinished};
use crate::data::IndexBase;
use crate::error::Result;
use crate::memory::Memory;
use rankrls_files::error::Fault;
use rankrls_files::input::Source;
use rankrls_files::text::{checked, each_line, without_comment};

/// Features from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFeatures {
    /// The features, 0-based, in the order of the file.
    pub columns: Vec<u32>,
    /// The progress of the selection, if the file is a model of an unfinished one.
    pub unfinished: Option<Unfinished>,
}

/// Reads features of data with `width` columns, 0-based, in the order of the file at `path`. The file is a model,
/// or a list with an index a line, counted from `base` like the data. Blank lines of a list, and text after a `#`,
/// do not count. The file may be compressed; `-` is standard input.
pub fn read_features(
    path: &Path,
    base: IndexBase,
    width: usize,
    memory: Memory,
) -> Result<ListedFeatures> {
    let limit = largest(memory);
    let mut source = Source::open(path, Some(limit))?;
    if source.first_byte() == Some(b'{') {
        let model = Model::parse(&source.read_all(limit)?, path)?;
        let columns = of_model(&model, width);
        return Ok(ListedFeatures {
            columns: columns.map_err(|fault| fault.of(&path.display().to_string()))?,
            unfinished: model.unfinished,
        });
    }
    Ok(ListedFeatures {
        columns: of_list(source, base, width, limit)?,
        unfinished: None,
    })
}

fn of_model(model: &Model, width: usize) -> Result<Vec<u32>, Fault> {
    if model.expansion.is_some() {
        let found = "rows of a kernel in their place";
        return Err(refusal("features", "features", found));
    }
    let features: Vec<u32> = model.features.iter().map(|f| f.feature).collect();
    if let Some(&absent) = features.iter().find(|&&feature| feature as usize >= width) {
        let expected = format!("features of the data, which has {width} columns");
        let index = model.index_base.file_index(absent);
        let found = format!("index {index}");
        return Err(refusal("features", expected, found));
    }
    Ok(features)
}

fn of_list(source: Source<'_>, base: IndexBase, width: usize, limit: u64) -> Result<Vec<u32>> {
    let first = u64::from(base.first());
    let last = (width as u64 + first).saturating_sub(1);
    let range = format!("an index from {first} to {last}");
    let name = source.name.clone();
    let mut features = Vec::new();
    let mut places = HashMap::new();
    each_line(source, Some(limit), |number, bytes| {
        let legal = checked(bytes).map_err(|fault| (number, fault))?;
        let line = String::from_utf8_lossy(without_comment(legal));
        let item = line.trim();
        if item.is_empty() {
            return Ok(0);
        }
        let index: Option<u32> = item.parse().ok();
        let column = index.and_then(|number| number.checked_sub(base.first()));
        let Some(feature) = column.filter(|&column| (column as usize) < width) else {
            let found = format!("{:?}", short(item));
            return Err((number, Fault::new(range.clone(), found)));
        };
        if let Some(before) = places.insert(feature, number) {
            let found = format!("{item} again, after line {before}");
            return Err((number, Fault::new("every index once", found)));
        }
        features.push(feature);
        Ok(0)
    })?;
    if features.is_empty() {
        return Err(Fault::new("an index", "none in all lines")
            .at(&name, 1)
            .into());
    }
    Ok(features)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn read(text: &str, base: IndexBase) -> Result<Vec<u32>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("list.txt");
        fs::write(&path, text).unwrap();
        let listed = read_features(&path, base, 5, Memory::default());
        listed.map(|listed| listed.columns).map_err(|error| {
            let error = error.to_string();
            error.split_once("list.txt:").unwrap().1.to_owned()
        })
    }

    #[test]
    fn a_list_counts_as_the_data() {
        assert_eq!(
            read("3\n1\r\n\n# all\n5 # last", IndexBase::One),
            Ok(vec![2, 0, 4])
        );
        let marked = read("\u{feff}3\r\r\n1\r\r\n\n", IndexBase::One);
        assert_eq!(marked, Ok(vec![2, 0]));
        assert_eq!(read("3\n0\n", IndexBase::Zero), Ok(vec![3, 0]));
    }

    #[test]
    fn what_is_no_feature_has_a_line() {
        let (range, once) = ("an index from 1 to 5", "every index once");
        for (text, place, expected, found) in [
            ("1\nx\n", "2:1", range, "\"x\""),
            ("0\n", "1:1", range, "\"0\""),
            ("\n6\n", "2:1", range, "\"6\""),
            ("-1", "1:1", range, "\"-1\""),
            ("2\n3\n2\n", "3:1", once, "2 again, after line 1"),
            ("# none\n", "1:1", "an index", "none in all lines"),
            (
                "2\r\n1\r3\r",
                "2:2",
                "lines that end in LF or CR LF",
                "CR alone",
            ),
        ] {
            let message = format!("{place}: expected {expected}, found {found}");
            assert_eq!(read(text, IndexBase::One).unwrap_err(), message);
        }
    }
}
