//! Data written in any format read back the same.

use std::fs;
use std::path::Path;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::data::merge::columns_of;
use crate::data::read::{Format, ReadOptions};
use crate::data::{Dataset, FeatureNames, IndexBase, Queries, Strings};

/// Endings of the files of each format.
const ENDINGS: &[&str] = &[".svm", ".svm.zst", ".features", ".features.gz", ".npz"];

/// All that a data set holds but how its file counts.
#[derive(Debug, PartialEq)]
struct Content {
    entries: Vec<(u32, usize, u64)>,
    labels: Vec<u64>,
    queries: Queries,
    width: usize,
    names: Option<FeatureNames>,
}

impl Content {
    fn of(data: &Dataset<'_>) -> Self {
        let column = |position| {
            let entries = data.column(position).iter();
            entries.map(move |(row, value)| (data.feature(position), row, value.to_bits()))
        };
        Self {
            entries: (0..data.stored_columns()).flat_map(column).collect(),
            labels: data.labels().iter().map(|label| label.to_bits()).collect(),
            queries: data.queries().clone(),
            width: data.width(),
            names: data.names().cloned(),
        }
    }
}

/// Reads what [`DataFiles`] wrote at `path`, in memory and by way of a file.
fn read(path: &Path, base: IndexBase, data: &Dataset<'_>) -> Dataset<'static> {
    let names = DataFiles::new(path, Format::Auto).path(FilePart::Names);
    let options = ReadOptions::new().zero_based(base == IndexBase::Zero);
    let options = options.names(data.names().map(|_| names));
    let found = options.clone().read(path).unwrap().dataset;
    let runs = Arc::default();
    let rows = options.packed(Arc::clone(&runs)).read(path).unwrap();
    let columns = columns_of(&runs.lock().unwrap(), found.width());
    let packed = rows.dataset.with_columns(columns).unwrap();
    assert_eq!(Content::of(&packed), Content::of(&found));
    found
}

fn check(data: &Dataset<'_>, endings: &[&str]) {
    for ending in endings {
        let layouts = [MatrixLayout::Rows, MatrixLayout::Columns];
        for (layout, base) in layouts.into_iter().zip([IndexBase::One, IndexBase::Zero]) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(format!("data{ending}"));
            let files = DataFiles::new(&path, Format::Auto);
            files.layout(layout).index_base(base).write(data).unwrap();
            let found = read(&path, base, data);
            assert_eq!(Content::of(&found), Content::of(data), "{ending}");
        }
    }
}

fn ids() -> impl Strategy<Value = Vec<String>> {
    let id = prop_oneof![
        "[1-9][0-9]{0,18}",
        "-?[0-9]{1,3}",
        "[a-zA-Z0-9:._é語-]{1,8}",
    ];
    vec(id, 1..5)
}

type RawRow = (f64, std::collections::BTreeMap<u32, f64>, usize);

fn rows() -> impl Strategy<Value = Vec<RawRow>> {
    let label = prop::num::f64::NORMAL | prop::num::f64::ZERO;
    let value = prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL;
    // Others are refused.
    let value = value.prop_map(|value| super::token::checked(value).unwrap_or(value.sqrt().sqrt()));
    let value = value.prop_map(|value| if value.is_nan() { -1.5 } else { value });
    let column = prop_oneof![0..50u32, 0..5000u32];
    vec((label, btree_map(column, value, 0..6), 0..5usize), 1..12)
}

fn dataset(rows: &[RawRow], ids: Option<&[String]>, empty: usize, named: bool) -> Dataset<'static> {
    let mut rows = rows.to_vec();
    let queries = if let Some(ids) = ids {
        let mut ids = ids.to_vec();
        ids.sort();
        ids.dedup();
        rows.sort_by_key(|row| row.2 % ids.len());
        let of_rows: Vec<&str> = rows.iter().map(|row| &*ids[row.2 % ids.len()]).collect();
        Queries::from_row_ids(&of_rows).unwrap()
    } else {
        Queries::single(rows.len()).unwrap()
    };
    let mut bounds = vec![0];
    let (mut columns, mut values) = (Vec::new(), Vec::new());
    for (_, row, _) in &rows {
        columns.extend(row.keys());
        values.extend(row.values());
        bounds.push(columns.len());
    }
    let width = columns.iter().max().map_or(0, |&last| last as usize + 1) + empty;
    let labels: Vec<f64> = rows.iter().map(|row| row.0).collect();
    let data = Dataset::from_csr(&bounds, &columns, &values, width, labels, queries).unwrap();
    if !named {
        return data;
    }
    let name = |n: usize| match n {
        0 => String::new(),
        n => format!("ñ {n}\t#."),
    };
    data.with_names((0..width).map(name).collect()).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_data_set_reads_back_from_any_format(
        rows in rows(),
        ids in proptest::option::of(ids()),
        empty in 0..3usize,
        named: bool,
    ) {
        check(&dataset(&rows, ids.as_deref(), empty, named), ENDINGS);
    }

    #[test]
    fn canonical_text_comes_back_from_any_format(rows in rows(), ids in ids()) {
        let data = dataset(&rows, Some(&ids), 0, false);
        let mut text = Vec::new();
        write_svmlight(&data, &mut text).unwrap();
        for ending in ENDINGS {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(format!("data{ending}"));
            let data = ReadOptions::new().read_from(&text[..], "f").unwrap().dataset;
            DataFiles::new(&path, Format::Auto).write(&data).unwrap();
            let mut again = Vec::new();
            let data = read(&path, IndexBase::One, &data);
            let files = DataFiles::new(Path::new("f.svm"), Format::Auto);
            files.write_part(FilePart::Entries, &data, &mut again).unwrap();
            prop_assert_eq!(&again, &text);
        }
    }
}

/// Two rows with these query identifiers, and a column that is not used.
fn two(ids: Option<[&str; 2]>) -> Dataset<'static> {
    let queries = match ids {
        None => Queries::single(2).unwrap(),
        Some(ids) => {
            let ids: Strings = ids.into_iter().collect();
            Queries::from_sizes(&[1, 1]).unwrap().with_ids(ids).unwrap()
        }
    };
    Dataset::from_csr(&[0, 1, 1], &[0], &[2.0], 2, vec![1.0, -0.0], queries).unwrap()
}

#[test]
fn identifiers_keep_their_spelling() {
    for ids in [
        ["1", "01"],
        ["+1", "2"],
        ["9223372036854775807", "-9223372036854775808"],
    ] {
        check(&two(Some(ids)), ENDINGS);
    }
    check(&two(Some(["9223372036854775808", "-0"])), ENDINGS);
    // No token of a text, but nothing special elsewhere.
    check(&two(Some(["a b", "\n"])), &[".npz"]);
    check(&two(Some(["a#", "b"])), &[".npz", ".features"]);
}

#[test]
fn what_would_not_come_back_is_refused() {
    let names: FeatureNames = ["a\nb", "c"].into_iter().collect();
    let named = two(None).with_names(names).unwrap();
    let of_ids = |ids| two(Some(ids));
    let mut refused = vec![
        (of_ids(["a\0", "b"]), ".npz"),
        (of_ids(["a b", "c"]), ".features"),
    ];
    for id in ["a b", "a#", "a\n", "a\r"] {
        refused.push((of_ids([id, "b"]), ".svm"));
    }
    for &ending in ENDINGS {
        refused.push((of_ids(["", "b"]), ending));
        refused.push((of_ids(["a", "a"]), ending));
        refused.push((named.clone(), ending));
    }
    for (data, ending) in refused {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(format!("data{ending}"));
        let error = DataFiles::new(&path, Format::Auto)
            .write(&data)
            .unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{error}");
    }
}

#[test]
fn what_numpy_reads_has_its_form() {
    let mut array = Vec::new();
    npy::write_query_ids(&two(Some(["7", "-12"])), &mut array).unwrap();
    assert_eq!(array.len(), 128 + 16);
    assert!(array.starts_with(b"\x93NUMPY\x01\x00\x76\x00{'descr': '<i8', "));
    assert_eq!(array[127], b'\n');
    assert_eq!(array[136..], (-12_i64).to_le_bytes());
    let mut array = Vec::new();
    npy::write_query_ids(&two(Some(["é", "abc"])), &mut array).unwrap();
    assert!(array[10..].starts_with(b"{'descr': '<U3', "));
    assert_eq!(array[128..140], [0xe9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn the_width_is_told_by_a_zero() {
    for (path, expected) in [("f.svm", "1 1:2 2:0\n-0\n"), ("f.features", "0:2 1:0\n\n")] {
        let files = DataFiles::new(Path::new(path), Format::Auto);
        let mut text = Vec::new();
        files
            .write_part(FilePart::Entries, &two(None), &mut text)
            .unwrap();
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }
}

#[test]
fn files_of_other_data_are_in_the_way() {
    for (ending, other) in [
        (".npz", "data.qids.npy"),
        (".npz", "data.names.txt"),
        (".features", "data.qids.gz"),
    ] {
        let folder: TempDir = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(other), "x").unwrap();
        let path = folder.path().join(format!("data{ending}"));
        let written = DataFiles::new(&path, Format::Auto).write(&two(None));
        let error = written.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert!(error.to_string().contains(other), "{error}");
        assert!(!path.exists());
    }
}

#[test]
fn each_part_has_its_file() {
    for (path, parts) in [
        ("a/x.svm.zst", &["a/x.names.txt", "a/x.svm.zst"][..]),
        (
            "x.features.gz",
            &["x.labels.gz", "x.qids.gz", "x.names.txt", "x.features.gz"],
        ),
        (
            "x.y.npz",
            &["x.y.labels.npy", "x.y.qids.npy", "x.y.names.txt", "x.y.npz"],
        ),
    ] {
        let data = two(Some(["a", "b"])).with_names(["c", "d"].into_iter().collect());
        let files = DataFiles::new(Path::new(path), Format::Auto);
        let found = files.parts(&data.unwrap());
        let paths = found.into_iter().map(|part| files.path(part));
        assert!(paths.eq(parts.iter().map(Path::new)), "{path}");
    }
}
