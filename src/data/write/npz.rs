//! Sparse matrices as SciPy reads them, and arrays as NumPy does: version 1 of its format, little
//! ends first.

use std::io::{self, Write};

use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipWriter};

use super::tokens;
use crate::data::{Dataset, Queries};

/// Level of compression, named as files are compared byte by byte.
const LEVEL: i64 = 6;

/// Which of SciPy's compressed matrices to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MatrixLayout {
    /// By row, `csr`.
    #[default]
    Rows,
    /// By column, `csc`.
    Columns,
}

impl MatrixLayout {
    /// What SciPy calls it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rows => "csr",
            Self::Columns => "csc",
        }
    }
}

/// Writes the matrix of `dataset` as `scipy.sparse.load_npz` reads it: arrays `format`, `shape`,
/// `indptr`, `indices` and `data` in a compressed zip archive. Values are 64-bit floats, indices
/// 32-bit integers where they and the number of entries fit, as SciPy has it, else 64-bit ones.
///
/// By row, 12 bytes an entry and 8 a row are allocated; by column, a position is written for
/// every column, used or not.
///
/// # Errors
/// Those of `writer`.
pub fn write_npz(
    dataset: &Dataset<'_>,
    layout: MatrixLayout,
    writer: impl Write,
) -> io::Result<()> {
    let sizes = [dataset.rows(), dataset.width(), dataset.nonzeros()];
    let fits = sizes.iter().all(|&size| i32::try_from(size).is_ok());
    let mut archive = Archive {
        zip: ZipWriter::new_stream(writer),
        index_bytes: if fits { 4 } else { 8 },
    };
    match layout {
        MatrixLayout::Rows => archive.rows(dataset)?,
        MatrixLayout::Columns => archive.columns(dataset)?,
    }
    archive.begin("format", "|S3", "()", 3)?;
    archive.zip.write_all(layout.name().as_bytes())?;
    archive.begin("shape", "<i8", "(2,)", 16)?;
    let shape = [dataset.rows() as u64, dataset.width() as u64];
    elements(
        shape.iter().map(|length| length.to_le_bytes()),
        &mut archive.zip,
    )?;
    archive.zip.finish()?.into_inner().flush()
}

/// An archive of arrays.
struct Archive<W: Write> {
    zip: ZipWriter<StreamWriter<W>>,
    /// Bytes of an index, 4 or 8.
    index_bytes: usize,
}

impl<W: Write> Archive<W> {
    fn rows(&mut self, dataset: &Dataset<'_>) -> io::Result<()> {
        let by_row = dataset.x().to_other_storage();
        let positions = by_row.indices().iter();
        let features = positions.map(|&position| dataset.feature(position as usize));
        self.indices("indices", by_row.nnz(), features)?;
        let bounds = by_row.proper_indptr();
        self.positions(dataset.rows(), bounds[1..].iter().map(|&end| end as u64))?;
        self.values(by_row.nnz(), by_row.data().iter().copied())
    }

    fn columns(&mut self, dataset: &Dataset<'_>) -> io::Result<()> {
        let entries = dataset.nonzeros();
        let stored = || (0..dataset.stored_columns()).map(|position| dataset.column(position));
        let rows = stored().flat_map(|column| column.rows.iter().copied());
        self.indices("indices", entries, rows)?;
        let mut end = 0;
        let mut next = 0;
        // `Dataset` refuses widths past 32 bits.
        let ends = (0..dataset.width()).map(|feature| {
            let stored = next < dataset.stored_columns();
            if stored && dataset.feature(next) as usize == feature {
                end += dataset.column(next).rows.len() as u64;
                next += 1;
            }
            end
        });
        self.positions(dataset.width(), ends)?;
        self.values(
            entries,
            stored().flat_map(|column| column.values.iter().copied()),
        )
    }

    fn indices(
        &mut self,
        name: &str,
        count: usize,
        indices: impl Iterator<Item = u32>,
    ) -> io::Result<()> {
        self.integers(name, count, indices.map(u64::from))
    }

    /// `indptr`: 0 and the ends of rows or columns.
    fn positions(&mut self, count: usize, ends: impl Iterator<Item = u64>) -> io::Result<()> {
        self.integers("indptr", count + 1, std::iter::once(0).chain(ends))
    }

    fn integers(
        &mut self,
        name: &str,
        count: usize,
        integers: impl Iterator<Item = u64>,
    ) -> io::Result<()> {
        let bytes = self.index_bytes;
        self.begin(
            name,
            &format!("<i{bytes}"),
            &format!("({count},)"),
            count * bytes,
        )?;
        if bytes == 8 {
            return elements(integers.map(u64::to_le_bytes), &mut self.zip);
        }
        // They fit, or they would have eight bytes.
        let low = integers.map(|integer| {
            let [a, b, c, d, ..] = integer.to_le_bytes();
            [a, b, c, d]
        });
        elements(low, &mut self.zip)
    }

    fn values(&mut self, count: usize, values: impl Iterator<Item = f64>) -> io::Result<()> {
        self.begin("data", "<f8", &format!("({count},)"), count * 8)?;
        elements(values.map(f64::to_le_bytes), &mut self.zip)
    }

    /// Begins the array `name` of so many bytes.
    fn begin(&mut self, name: &str, descr: &str, shape: &str, bytes: usize) -> io::Result<()> {
        // With its header, and with what deflate may add to data that it cannot compress.
        let large = bytes as u64 + bytes as u64 / 1024 + 4096 > u64::from(u32::MAX);
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(LEVEL))
            .large_file(large);
        self.zip.start_file(format!("{name}.npy"), options)?;
        header(descr, shape, &mut self.zip)
    }
}

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
fn header(descr: &str, shape: &str, writer: &mut impl Write) -> io::Result<()> {
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
fn elements<B: AsRef<[u8]>>(
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
