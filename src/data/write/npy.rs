//! Arrays as NumPy reads them: version 1 of its format, little ends first.

use std::io::{self, Write};

use super::ids::tokens;
use crate::data::{Dataset, Queries};

/// Bytes to a multiple of which headers are filled up.
const ALIGNMENT: usize = 64;

/// Bytes gathered before they are written.
const BUFFER: usize = 1 << 16;

/// Writes the labels as an array of 64-bit floats.
///
/// # Errors
/// Those of `writer`.
pub fn write_npy_labels(dataset: &Dataset<'_>, mut writer: impl Write) -> io::Result<()> {
    let labels = dataset.labels();
    header("<f8", &format!("({},)", labels.len()), &mut writer)?;
    elements(labels.iter().map(|label| label.to_le_bytes()), &mut writer)?;
    writer.flush()
}

/// Writes the identifier of the query of every row: 64-bit integers if all of them are such in
/// plain decimal, else text of as many characters as the longest has. Nameless queries are
/// numbered from 1.
///
/// # Errors
/// Those of `writer`; [`io::ErrorKind::InvalidInput`] when an identifier comes twice, is empty,
/// or ends with the character of code 0, which NumPy takes off.
pub fn write_npy_query_ids(dataset: &Dataset<'_>, mut writer: impl Write) -> io::Result<()> {
    let queries = dataset.queries();
    let ids = tokens(queries, &['\0'])?;
    let rows = dataset.rows();
    let integers: Option<Vec<i64>> = ids.iter().map(|id| integer(id)).collect();
    if let Some(integers) = integers {
        header("<i8", &format!("({rows},)"), &mut writer)?;
        let integers = integers.iter().map(|integer| integer.to_le_bytes());
        elements(repeated(queries, integers), &mut writer)?;
        return writer.flush();
    }
    let longest = ids.iter().map(|id| id.chars().count()).max().unwrap_or(1);
    header(&format!("<U{longest}"), &format!("({rows},)"), &mut writer)?;
    let texts = ids.iter().map(|id| characters(id, longest));
    elements(repeated(queries, texts), &mut writer)?;
    writer.flush()
}

/// The integer that is written `id`.
fn integer(id: &str) -> Option<i64> {
    let integer: i64 = id.parse().ok()?;
    (integer.to_string() == id).then_some(integer)
}

/// Every element as often as its query has rows.
fn repeated<T: Clone>(
    queries: &Queries,
    elements: impl Iterator<Item = T>,
) -> impl Iterator<Item = T> {
    let sizes = queries.ranges().map(|rows| rows.len());
    sizes
        .zip(elements)
        .flat_map(|(size, element)| std::iter::repeat_n(element, size))
}

/// Characters of four bytes, filled up with zeros.
fn characters(text: &str, length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = text
        .chars()
        .flat_map(|char| u32::from(char).to_le_bytes())
        .collect();
    bytes.resize(4 * length, 0);
    bytes
}

/// Writes what stands before elements of the type `descr` in an array of `shape`.
pub(super) fn header(descr: &str, shape: &str, writer: &mut impl Write) -> io::Result<()> {
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}").into_bytes();
    // Magic number, version and length are ten bytes, the line end is one.
    let length = (10 + text.len() + 1).next_multiple_of(ALIGNMENT) - 10;
    text.resize(length - 1, b' ');
    text.push(b'\n');
    writer.write_all(b"\x93NUMPY\x01\x00")?;
    let length = u16::try_from(length).map_err(io::Error::other)?;
    writer.write_all(&length.to_le_bytes())?;
    writer.write_all(&text)
}

/// Writes elements of any number of bytes.
pub(super) fn elements<B: AsRef<[u8]>>(
    elements: impl Iterator<Item = B>,
    writer: &mut impl Write,
) -> io::Result<()> {
    let mut block = Vec::with_capacity(BUFFER);
    for element in elements {
        block.extend_from_slice(element.as_ref());
        if block.len() >= BUFFER {
            writer.write_all(&block)?;
            block.clear();
        }
    }
    writer.write_all(&block)
}
