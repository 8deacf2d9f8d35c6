//! Dense matrices as NumPy writes them, with labels and queries beside, as of `.npz`.

use std::io::Read;

use super::error::Fault;
use super::npy::Array;
use super::npz::{Budget, ENTRY, LABELS, Lanes, QUERIES, check_rows, read_matrix};
use super::text::Text;
use super::{Facts, MatrixLayout, Part, Reader};
use crate::data::sidecar::{has_extension, prefix};

pub(super) const FACTS: Facts = Facts {
    name: "npy",
    title: "a dense matrix of NumPy",
    files: "NAME.npy, with NAME.labels.npy and NAME.qids.npy",
    ending: |path| has_extension(path, "npy"),
    reader: Reader::Files {
        read: |path, options| {
            let array = Array::open(path, "matrix")?;
            read_matrix(path, options, |labels, asked, budget| {
                matrix(array, labels, asked, budget)
            })
        },
        expected: "NumPy's file .npy and .labels.npy beside it",
        remedy: "give the path of the .npy file",
    },
    parts: &[(Part::Labels, LABELS), (Part::Queries, QUERIES)],
    prefix: |path| (prefix(path), ""),
    compressed: false,
    names_beside: true,
    write: None,
};

/// The rows, as many as there are `labels`, up to the columns `asked` for. Values of 0 are no
/// entries.
fn matrix<R: Read>(
    array: Array<R>,
    labels: usize,
    asked: Option<usize>,
    budget: &mut Budget,
) -> Result<Text, Fault> {
    let (rows, columns, by_column) = array.matrix()?;
    check_rows(rows, labels)?;
    let width = u32::try_from(columns).map_err(|_| {
        array.unsuitable(format!("at most {} columns", u32::MAX), columns.to_string())
    })?;
    budget.take(rows.saturating_mul(columns).saturating_mul(8 + ENTRY))?;
    let values = array.floats("value")?;
    let (layout, length) = if by_column {
        (MatrixLayout::Columns, labels)
    } else {
        (MatrixLayout::Rows, width as usize)
    };
    let mut lanes = Lanes::new(layout, width, asked);
    for (number, lane) in (0..).zip(values.chunks(length.max(1))) {
        lanes.push(number, (0..).zip(lane.iter().copied()));
    }
    Ok(lanes.finish(labels))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::ReadOptions;

    fn npy(shape: &str, by_column: &str, values: &[f64]) -> Vec<u8> {
        let text = format!("{{'descr': '<f8', 'fortran_order': {by_column}, 'shape': {shape}}}\n");
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
        bytes.extend(text.as_bytes());
        let values = values.iter().flat_map(|value| value.to_le_bytes());
        bytes.extend(values);
        bytes
    }

    #[test]
    fn either_order_of_elements_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.npy");
        let read = |bytes: Vec<u8>| {
            fs::write(&path, bytes).unwrap();
            ReadOptions::new().read(&path)
        };
        let error = read(npy("(2, 3)", "False", &[0.0; 6])).unwrap_err();
        assert!(error.to_string().contains("k.labels.npy"), "{error}");
        fs::write(
            folder.path().join("k.labels.npy"),
            npy("(2,)", "False", &[1.0, 2.0]),
        )
        .unwrap();
        let data = read(npy("(2, 3)", "False", &[1.0, 0.0, 2.0, 0.0, 3.0, 4.0]))
            .unwrap()
            .dataset;
        let other = read(npy("(2, 3)", "True", &[1.0, 0.0, 0.0, 3.0, 2.0, 4.0]))
            .unwrap()
            .dataset;
        assert_eq!((data.rows(), data.width(), data.nonzeros()), (2, 3, 4));
        assert_eq!(data.x(), other.x());
        for (bytes, message) in [
            (
                npy("(3, 3)", "False", &[0.0; 9]),
                "as many rows as there are labels, 2",
            ),
            (npy("(6,)", "False", &[0.0; 6]), "two dimensions"),
            (npy("(2, 3)", "False", &[0.0; 5]), "more elements"),
            (
                npy("(2, 2)", "False", &[0.0, 1.0, f64::NAN, 0.0]),
                "a finite value",
            ),
        ] {
            let error = read(bytes).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
