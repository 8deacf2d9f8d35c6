//! Sparse matrices as SciPy writes them, with labels and queries beside.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::Path;

use zip::result::ZipError;
use zip::write::{SimpleFileOptions, StreamWriter};
use zip::{CompressionMethod, ZipArchive, ZipWriter};

use super::error::{Fault, ReadError, ReadErrorKind, quote};
use super::npy::{self, Array};
use super::query_lines::QUERY;
use super::text::{Text, returning};
use super::token;
use super::{DataFiles, Facts, FilePart, Loaded, Missing, ReadOptions, Reader};
use crate::data::columns::sort;
use crate::data::merge::columns_of;
use crate::data::queries::Groups;
use crate::data::runs::runs_of_rows;
use crate::data::sidecar::{has_extension, prefix, with_ending};
use crate::data::{Columns, Dataset, IndexBase};
use crate::names::names;

pub(super) const FACTS: Facts = Facts {
    name: "npz",
    title: "a matrix of SciPy",
    files: "NAME.npz, with NAME.labels.npy and NAME.qids.npy",
    ending: |path| has_extension(path, "npz"),
    reader: Reader::Files {
        read: |path, options| {
            let mut archive = Archive::open(path)?;
            read_matrix(path, options, |rows, missing, budget| {
                archive.matrix(rows, missing, budget)
            })
        },
        expected: "SciPy's file .npz and .labels.npy beside it",
        remedy: "give the path of the .npz file",
    },
    parts: &[(FilePart::Labels, LABELS), (FilePart::Queries, QUERIES)],
    prefix: |path| (prefix(path), ""),
    compressed: false,
    names_beside: true,
    write: Some(write),
};

const LABELS: &str = ".labels.npy";
const QUERIES: &str = ".qids.npy";

/// Bytes of an entry while it is read, and once more in columns.
pub(super) const ENTRY: u64 = 2 * 12;

/// Bytes of a row besides its label: its bound, and a copy of its label if it is moved.
const ROW: u64 = 2 * 8;

/// Reads what stands beside the matrix at `path`, and the matrix itself by `matrix`: of so many rows, with
/// this in the place of missing values, and of entries other than 0. Without a limit, what the files claim
/// is held to the free memory of the machine.
pub(super) fn read_matrix(
    path: &Path,
    options: &ReadOptions,
    matrix: impl FnOnce(usize, Option<f64>, &mut Budget) -> Result<Columns<'static>, Fault>,
) -> Result<Loaded, ReadError> {
    let name = path.display().to_string();
    let mut budget = Budget {
        limit: options.memory.left().or_else(rankrls_files::memory::budget),
        spent: 0,
    };
    let prefix = prefix(path);
    let labels = labels(&with_ending(&prefix, LABELS, ""), &mut budget)?;
    // The labels say how many rows there may be: a shape alone could claim any number.
    let missing = options.table.missing.map(Missing::in_place);
    let read = matrix(labels.len(), missing, &mut budget);
    let mut columns = read.map_err(|fault| fault.of(&name))?;
    let mut text = Text::new(name, Groups::default());
    (text.rows, text.width, text.labels) = (labels.len(), columns.width, labels);
    if let Some(width) = options.width {
        (text.dropped_entries, text.dropped_columns) = columns.narrow(width);
    }
    text.columns = Some(columns);
    let path = with_ending(&prefix, QUERIES, "");
    if path.exists() {
        text.groups = queries(&path, text.rows, options.regroup, &mut budget)?;
    }
    text.memory = budget.spent;
    options.build(text, IndexBase::Zero)
}

/// Refuses another number of rows than of labels.
pub(super) fn check_rows(rows: u64, labels: usize) -> Result<(), Fault> {
    if rows == labels as u64 {
        return Ok(());
    }
    let expected = format!("as many rows as there are labels, {labels}");
    let fault = Fault::mismatch(expected, rows.to_string());
    Err(fault.in_array("shape", Some(0)))
}

/// The arrays of an `.npz` file.
struct Archive(ZipArchive<BufReader<File>>);

impl Archive {
    fn open(path: &Path) -> Result<Self, ReadError> {
        let file = File::open(path).map_err(|error| Fault::io(&error));
        let archive = file.and_then(|file| {
            ZipArchive::new(BufReader::new(file)).map_err(|error| no_archive(&error))
        });
        let archive = archive.map_err(|fault| fault.of(&path.display().to_string()));
        archive.map(Self)
    }

    /// The matrix, which is to have so many rows, without the zeros that it stores.
    fn matrix(
        &mut self,
        rows: usize,
        missing: Option<f64>,
        budget: &mut Budget,
    ) -> Result<Columns<'static>, Fault> {
        let layout = self.layout()?;
        let [height, width] = self.shape()?;
        check_rows(height.into(), rows)?;
        let (major, minor) = match layout {
            MatrixLayout::Rows => (height, width),
            MatrixLayout::Columns => (width, height),
        };
        budget.take(u64::from(height) * ROW)?;
        let bounds = self.bounds(major, budget)?;
        let entries = bounds.last().copied().unwrap_or(0);
        budget.take((entries as u64).saturating_mul(ENTRY))?;
        let mut indices = self.indices(entries, minor)?;
        let mut values = self.array_of("data", entries as u64)?.values(missing)?;
        // The first row, and the first column in it.
        let mut repeated = None;
        for (number, ends) in (0..).zip(bounds.windows(2)) {
            let range = ends[0]..ends[1];
            let (own, own_values) = (&mut indices[range.clone()], &mut values[range]);
            if !own.is_sorted() {
                sort(own, own_values);
            }
            if let Some(pair) = own.windows(2).find(|pair| pair[0] == pair[1]) {
                let place = match layout {
                    MatrixLayout::Rows => (number, pair[0]),
                    MatrixLayout::Columns => (pair[0], number),
                };
                repeated = Some(repeated.map_or(place, |first| place.min(first)));
            }
        }
        if let Some((row, column)) = repeated {
            let fault = Fault::new(
                "each column once in a row",
                format!("column {column} twice"),
            );
            let remedy = "in SciPy, call sum_duplicates before saving";
            return Err(fault.in_array("row", Some(row.into())).remedy(remedy));
        }
        let width = width as usize;
        let mut columns = match layout {
            MatrixLayout::Rows => {
                let runs = runs_of_rows(&bounds, &indices, &values);
                drop((indices, values));
                Ok(columns_of(&runs, width))
            }
            MatrixLayout::Columns => {
                let shape = (rows, width);
                Columns::new(shape, bounds.into(), indices.into(), values.into())
                    .map_err(|error| Fault::data(&error))
            }
        }?;
        columns.drop_zeros();
        Ok(columns)
    }

    fn array(&mut self, name: &str) -> Result<Array<impl Read + '_>, Fault> {
        let found = self.0.by_name(&format!("{name}.npy"));
        let entry = found.map_err(|error| match error {
            ZipError::FileNotFound => {
                let expected = "a sparse matrix saved by SciPy, with arrays format, shape, indptr, \
                                indices and data";
                Fault::new(expected, "no such array")
            }
            error => no_archive(&error),
        });
        Array::new(entry.map_err(|fault| fault.in_array(name, None))?, name)
    }

    fn layout(&mut self) -> Result<MatrixLayout, Fault> {
        let mut found = String::new();
        self.array("format")?.texts(|_, text| {
            text.clone_into(&mut found);
            Ok(())
        })?;
        found.parse().map_err(|_| {
            let expected = "compressed rows \"csr\" or columns \"csc\"";
            Fault::new(expected, quote(found.as_bytes()))
                .in_array("format", None)
                .remedy("in SciPy, call tocsr before saving")
        })
    }

    /// Rows and columns.
    fn shape(&mut self) -> Result<[u32; 2], Fault> {
        let array = self.array("shape")?;
        if array.length()? != 2 {
            let found = format!("{} lengths", array.length()?);
            return Err(array.unsuitable("the numbers of rows and columns", found));
        }
        let shape = array.integers(|_, length| {
            let expected = || format!("a length of at most {}", u32::MAX);
            u32::try_from(length).map_err(|_| expected())
        })?;
        Ok([shape[0], shape[1]])
    }

    /// `count + 1` positions that ascend from 0.
    fn bounds(&mut self, count: u32, budget: &mut Budget) -> Result<Vec<usize>, Fault> {
        let array = self.array_of("indptr", u64::from(count) + 1)?;
        budget.take((u64::from(count) + 1) * 8)?;
        let mut last = 0;
        array.integers(|position, bound| {
            let positive = usize::try_from(bound).ok();
            let legal = positive.filter(|&bound| bound >= last && (position > 0 || bound == 0));
            let expected = || match position {
                0 => "0".to_owned(),
                _ => format!("at least {last}, the bound before it"),
            };
            last = legal.ok_or_else(expected)?;
            Ok(last)
        })
    }

    fn indices(&mut self, entries: usize, below: u32) -> Result<Vec<u32>, Fault> {
        let array = self.array_of("indices", entries as u64)?;
        array.integers(|_, index| {
            let legal = u32::try_from(index).ok().filter(|&index| index < below);
            legal.ok_or_else(|| match below {
                0 => "no index, as the matrix is empty".to_owned(),
                _ => format!("an index from 0 to {}", below - 1),
            })
        })
    }

    /// The array `name`, which is to have so many elements.
    fn array_of(&mut self, name: &str, expected: u64) -> Result<Array<impl Read + '_>, Fault> {
        let array = self.array(name)?;
        let found = array.length()?;
        if found == expected {
            return Ok(array);
        }
        let expected = format!("{expected} elements, to go with shape and indptr");
        Err(array.unsuitable(expected, found.to_string()))
    }
}

fn no_archive(error: &ZipError) -> Fault {
    match error {
        ZipError::Io(error) if error.kind() != io::ErrorKind::UnexpectedEof => Fault::io(error),
        error => {
            let expected = "a zip archive, as SciPy's save_npz writes";
            Fault::new(expected, error.to_string()).kind(ReadErrorKind::Corrupt)
        }
    }
}

fn labels(path: &Path, budget: &mut Budget) -> Result<Vec<f64>, ReadError> {
    let array = Array::open(path, "labels")?;
    let mut read = |array: Array<_>| {
        budget.take(array.length()?.saturating_mul(8))?;
        array.labels()
    };
    read(array).map_err(|fault: Fault| fault.of(&path.display().to_string()))
}

/// The queries of `rows` rows.
fn queries(
    path: &Path,
    rows: usize,
    regroup: bool,
    budget: &mut Budget,
) -> Result<Groups, ReadError> {
    let array = Array::open(path, "qids")?;
    let mut groups = Groups::new(regroup);
    let mut read = |array: Array<_>| {
        let found = array.length()?;
        if found != rows as u64 {
            let expected = format!("{rows} identifiers, one for each row");
            return Err(Fault::mismatch(expected, found.to_string()).in_array("qids", None));
        }
        array.texts(|position, id| {
            token::query_id(id.as_bytes(), 0, "none")?;
            if !groups.ends_with(id) {
                budget.take(QUERY + 2 * id.len() as u64)?;
            }
            let added = groups.add(id, 1, position);
            added.map_err(|began| returning(id, &format!("at position {began}")))
        })
    };
    read(array).map_err(|fault| fault.of(&path.display().to_string()))?;
    Ok(groups)
}

/// Bytes that may be held, and bytes that are held.
pub(super) struct Budget {
    limit: Option<u64>,
    spent: u64,
}

impl Budget {
    /// Takes `bytes`, before they are allocated.
    pub(super) fn take(&mut self, bytes: u64) -> Result<(), Fault> {
        self.spent = self.spent.saturating_add(bytes);
        match self.limit.filter(|&limit| self.spent > limit) {
            None => Ok(()),
            Some(limit) => Err(Fault::too_large(limit, &self.spent.to_string())),
        }
    }
}

/// Level of compression, named as files are compared byte by byte.
const LEVEL: i64 = 6;

/// Which of SciPy's compressed matrices to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MatrixLayout {
    /// Rows, `csr`.
    #[default]
    Rows,
    /// Columns, `csc`.
    Columns,
}

names!(MatrixLayout, "layout", Rows => "csr", Columns => "csc");

/// Writes the matrix of `dataset` as `scipy.sparse.load_npz` reads it: arrays `format`, `shape`,
/// `indptr`, `indices` and `data` in a compressed zip archive. Values are 64-bit floats, indices
/// 32-bit integers where they and the number of entries fit, as SciPy has it, else 64-bit ones.
///
/// The order by rows allocates 12 bytes an entry and 8 a row; the order by columns writes a position for
/// every column, used or not.
pub(crate) fn write_npz(
    dataset: &Dataset<'_>,
    layout: MatrixLayout,
    writer: impl Write,
) -> io::Result<()> {
    let (columns, width) = (&dataset.columns, dataset.width());
    let sizes = [dataset.rows(), width, columns.values.len()];
    let fits = sizes.iter().all(|&size| i32::try_from(size).is_ok());
    let mut archive = NewArchive {
        zip: ZipWriter::new_stream(writer),
        wide: !fits,
    };
    match layout {
        MatrixLayout::Rows => {
            let by_row = dataset.x().to_csr();
            let positions = by_row.indices().iter();
            let indices = positions.map(|&position| columns.feature(position as usize));
            let bounds = by_row.proper_indptr();
            let starts = bounds.iter().map(|&start| start as u64);
            archive.matrix(indices, (dataset.rows(), starts), by_row.data())?;
        }
        MatrixLayout::Columns => {
            let mut next = 0;
            let starts = (0..=width).map(|feature| {
                let start = columns.starts[next];
                if next < columns.len() && columns.feature(next) as usize == feature {
                    next += 1;
                }
                start as u64
            });
            archive.matrix(
                columns.rows.iter().copied(),
                (width, starts),
                &columns.values,
            )?;
        }
    }
    archive.begin("format", 3)?;
    npy::header("|S3", "()", &mut archive.zip)?;
    archive.zip.write_all(layout.name().as_bytes())?;
    let shape = [dataset.rows() as u64, width as u64];
    archive.array("shape", "<i8", 2, shape.map(u64::to_le_bytes).into_iter())?;
    archive.zip.finish()?.into_inner().flush()
}

/// An archive of arrays that is being written.
struct NewArchive<W: Write> {
    zip: ZipWriter<StreamWriter<W>>,
    /// Whether indices have 64 bits, not 32.
    wide: bool,
}

impl<W: Write> NewArchive<W> {
    /// Writes the indices, where so many rows or columns start and the last ends, and the values.
    fn matrix(
        &mut self,
        indices: impl Iterator<Item = u32>,
        (count, starts): (usize, impl Iterator<Item = u64>),
        values: &[f64],
    ) -> io::Result<()> {
        self.integers("indices", values.len(), indices.map(u64::from))?;
        self.integers("indptr", count + 1, starts)?;
        let values = values.iter().map(|value| value.to_le_bytes());
        self.array("data", "<f8", values.len(), values)
    }

    fn integers(
        &mut self,
        name: &str,
        count: usize,
        integers: impl Iterator<Item = u64>,
    ) -> io::Result<()> {
        if self.wide {
            return self.array(name, "<i8", count, integers.map(u64::to_le_bytes));
        }
        // They fit, or they would be wide.
        let low = integers.map(|integer| {
            let [a, b, c, d, ..] = integer.to_le_bytes();
            [a, b, c, d]
        });
        self.array(name, "<i4", count, low)
    }

    fn array<const N: usize>(
        &mut self,
        name: &str,
        descr: &str,
        count: usize,
        elements: impl Iterator<Item = [u8; N]>,
    ) -> io::Result<()> {
        self.begin(name, count * N)?;
        npy::write_vector(descr, count, elements, &mut self.zip)
    }

    /// Begins the array `name` of so many bytes.
    fn begin(&mut self, name: &str, bytes: usize) -> io::Result<()> {
        // The header counts, and so does what deflate may add to data that it cannot compress.
        let large = bytes as u64 + bytes as u64 / 1024 + 4096 > u64::from(u32::MAX);
        let options = SimpleFileOptions::default()
            .compression_method(CompressionMethod::Deflated)
            .compression_level(Some(LEVEL))
            .large_file(large);
        Ok(self.zip.start_file(format!("{name}.npy"), options)?)
    }
}

fn write(
    part: FilePart,
    dataset: &Dataset<'_>,
    files: &DataFiles,
    writer: &mut dyn Write,
) -> io::Result<()> {
    match part {
        FilePart::Labels => npy::write_labels(dataset, writer),
        FilePart::Queries => npy::write_query_ids(dataset, writer),
        _ => write_npz(dataset, files.layout, writer),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use tempfile::TempDir;

    use super::*;

    /// An array of so many elements as the header says, and of these bytes.
    fn npy(descr: &str, shape: &str, bytes: &[u8]) -> Vec<u8> {
        let mut array = Vec::new();
        super::npy::header(descr, shape, &mut array).unwrap();
        array.extend(bytes);
        array
    }

    fn vector(descr: &str, values: impl ExactSizeIterator<Item = [u8; 8]>) -> Vec<u8> {
        let mut array = Vec::new();
        super::npy::write_vector(descr, values.len(), values, &mut array).unwrap();
        array
    }

    fn floats(values: &[f64]) -> Vec<u8> {
        vector("<f8", values.iter().map(|value| value.to_le_bytes()))
    }

    fn integers(values: &[i64]) -> Vec<u8> {
        vector("<i8", values.iter().map(|value| value.to_le_bytes()))
    }

    /// A matrix of two rows and three columns, by column.
    struct Files {
        folder: TempDir,
        arrays: Vec<(&'static str, Vec<u8>)>,
    }

    impl Files {
        fn new() -> Self {
            let files = Self {
                folder: tempfile::tempdir().unwrap(),
                arrays: vec![
                    ("format", npy("|S3", "()", b"csc")),
                    ("shape", integers(&[2, 3])),
                    ("indptr", integers(&[0, 2, 2, 3])),
                    ("indices", integers(&[1, 0, 1])),
                    ("data", floats(&[0.5, 1.5, -2.0])),
                ],
            };
            files.beside("labels", &floats(&[1.0, 0.0]));
            files
        }

        fn with(mut self, name: &str, bytes: Vec<u8>) -> Self {
            let array = self.arrays.iter_mut().find(|array| array.0 == name);
            array.unwrap().1 = bytes;
            self
        }

        fn beside(&self, name: &str, bytes: &[u8]) {
            fs::write(self.path(&format!("x.{name}.npy")), bytes).unwrap();
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn read(&self, options: &ReadOptions) -> Result<Loaded, ReadError> {
            let mut zip = ZipWriter::new(File::create(self.path("x.npz")).unwrap());
            for (name, bytes) in &self.arrays {
                let options = SimpleFileOptions::default();
                zip.start_file(format!("{name}.npy"), options).unwrap();
                zip.write_all(bytes).unwrap();
            }
            zip.finish().unwrap();
            options.read(&self.path("x.npz"))
        }

        fn error(&self) -> ReadError {
            self.read(&ReadOptions::new()).unwrap_err()
        }
    }

    #[test]
    fn rows_and_columns_are_sorted_and_rid_of_zeros() {
        let csr = |indptr: &[i64], indices: &[i64], data: &[f64]| {
            let files = Files::new().with("format", npy("|S3", "()", b"csr"));
            let files = files.with("indptr", integers(indptr));
            let files = files.with("shape", integers(&[2, 8]));
            files
                .with("indices", integers(indices))
                .with("data", floats(data))
        };
        let rows = csr(
            &[0, 4, 6],
            &[4, 0, 2, 7, 7, 1],
            &[1.0, 2.0, 0.0, 3.0, 4.0, -0.0],
        );
        let loaded = rows.read(&ReadOptions::new().width(5)).unwrap();
        assert_eq!((loaded.dropped_entries, loaded.dropped_columns), (2, 1));
        let data = loaded.dataset;
        assert_eq!(
            (data.feature(0), data.feature(1), data.nonzeros()),
            (0, 4, 2)
        );
        assert_eq!(
            (data.column(0).values, data.column(1).values),
            (&[2.0][..], &[1.0][..])
        );
        let error = csr(&[0, 0, 3], &[4, 0, 4], &[0.0; 3]).error().to_string();
        assert!(
            error.contains(
                "x.npz: row[1]: expected each column once in a row, found column 4 twice"
            )
        );
        // The first row of columns counts as well.
        let files = Files::new().with("indptr", integers(&[0, 2, 2, 4]));
        let files = files.with("indices", integers(&[1, 1, 0, 0]));
        let error = files.with("data", floats(&[0.0; 4])).error().to_string();
        assert!(error.contains("row[0]: expected each column once in a row, found column 2 twice"));
    }

    #[test]
    fn width_and_regrouping_apply() {
        let files = Files::new()
            .with("format", npy("<U3", "()", b"c\0\0\0s\0\0\0r\0\0\0"))
            .with("shape", integers(&[3, 3]))
            .with("data", floats(&[0.0, 1.5, -2.0]));
        files.beside("labels", &npy("|i1", "(3,)", &[1, 2, 0xff]));
        files.beside("qids", &integers(&[7, 8, 7]));
        let error = files.error();
        assert_eq!(error.kind(), ReadErrorKind::Mismatch);
        assert_eq!(error.element(), Some("qids[2]"));
        let message = error.to_string();
        assert!(message.contains("began at position 0"), "{message}");
        let regrouped = ReadOptions::new().regroup(true).width(1);
        let loaded = files.read(&regrouped).unwrap();
        assert_eq!(loaded.dataset.labels(), [1.0, -1.0, 2.0]);
        assert_eq!(loaded.dataset.input_rows(), Some(&[0, 2, 1][..]));
        assert_eq!((loaded.dropped_entries, loaded.dropped_columns), (1, 1));
        assert_eq!(loaded.dataset.width(), 1);
        // A zero is no entry.
        assert_eq!(loaded.dataset.nonzeros(), 1);
    }

    #[test]
    #[rustfmt::skip]
    fn each_fault_has_its_kind_and_place() {
        use ReadErrorKind::{Malformed, Mismatch, TooLarge, Truncated};
        let zeros = "1\0".repeat(8).into_bytes();
        let version = b"\x93NUMPY\x04\0\x10\0".to_vec();
        let huge = b"\x93NUMPY\x02\0\xff\xff\xff\xff".to_vec();
        let tall = |values: &[f64]| npy("<f8", "(2, 2)", floats(values)[128..].as_ref());
        for (name, bytes, kind, element) in [
            ("format", npy("|S3", "()", b"coo"), Malformed, "format"),
            ("format", integers(&[3]), Malformed, "format"),
            ("shape", integers(&[2]), Malformed, "shape"),
            ("shape", integers(&[3, 3]), Mismatch, "shape[0]"),
            ("shape", integers(&[2, 1 << 32]), Malformed, "shape[1]"),
            ("shape", integers(&[2, 4]), Malformed, "indptr"),
            // The sizes that a shape claims are not allocated.
            ("shape", integers(&[0xffff_fffe, 3]), Mismatch, "shape[0]"),
            ("indptr", integers(&[0, 2, 1, 3]), Malformed, "indptr[2]"),
            ("indptr", integers(&[1, 2, 2, 3]), Malformed, "indptr[0]"),
            ("indptr", integers(&[0, 2, 2, i64::MAX]), TooLarge, ""),
            ("indptr", floats(&[0.0, 2.0, 2.0, 3.0]), Malformed, "indptr"),
            ("indices", integers(&[1, 2, 1]), Malformed, "indices[1]"),
            ("indices", integers(&[1, -1, 1]), Malformed, "indices[1]"),
            ("indices", integers(&[1, 1, 1]), Malformed, "row[1]"),
            ("indices", integers(&[1, 0]), Malformed, "indices"),
            ("data", floats(&[0.5, f64::NAN, 1.0]), Malformed, "data[1]"),
            ("data", integers(&[1, 2, (1 << 53) + 1]), Malformed, "data[2]"),
            ("data", npy("<f8", "(3,)", &zeros), Truncated, "data"),
            ("data", npy("<f8", "(3,)", &[0; 25]), Malformed, "data"),
            ("data", npy("<f8", "(3, 1)", &[0; 24]), Malformed, "data"),
            ("data", npy("|O", "(3,)", &[0; 24]), Malformed, "data"),
            ("data", version, Malformed, "data"),
            ("data", huge, Malformed, "data"),
            ("data", b"NUMPY".to_vec(), Truncated, "data"),
            ("data", vec![b'x'; 100], Malformed, "data"),
            ("labels", floats(&[1.0, f64::INFINITY]), Malformed, "labels[1]"),
            ("labels", floats(&[1.0]), Mismatch, "shape[0]"),
            ("labels", npy("<f8", "(9999999999,)", &[]), TooLarge, ""),
            ("qids", integers(&[1]), Mismatch, "qids"),
            ("qids", floats(&[1.0, 1.5]), Malformed, "qids[1]"),
            ("qids", floats(&[1e17, 1.0]), Malformed, "qids[0]"),
            ("qids", floats(&[f64::NAN, 1.0]), Malformed, "qids[0]"),
            ("qids", npy("|b1", "(2,)", &[0, 1]), Malformed, "qids"),
            ("data", floats(&[1.0, 1.797e308, 1.0]), Malformed, "data[1]"),
            ("data", floats(&[1e200, 1.0, 1.0]), Malformed, "data[0]"),
            ("qids", npy("|S1", "(2,)", b"a\0"), Malformed, "qids[1]"),
            ("qids", npy("|S1", "(2,)", b"a\xff"), Malformed, "qids[1]"),
            ("qids", npy("<U1", "(2,)", &[0xff; 8]), Malformed, "qids[0]"),
            ("qids", npy("<U999999999", "(2,)", b""), Malformed, "qids"),
            ("dense", npy("<f8", "(3, 2)", &[0; 48]), Mismatch, "shape[0]"),
            ("dense", npy("<f8", "(2,)", &[0; 16]), Malformed, "matrix"),
            ("dense", npy("<f8", "(2, 3)", &[0; 40]), Truncated, "matrix"),
            ("dense", tall(&[0.0, 1.0, f64::NAN, 0.0]), Malformed, "matrix[2]"),
        ] {
            let files = Files::new();
            let limited = ReadOptions::new().memory(1 << 30);
            let read = match name {
                "dense" => {
                    fs::write(files.path("x.npy"), bytes).unwrap();
                    limited.read(&files.path("x.npy"))
                }
                "labels" | "qids" => {
                    files.beside(name, &bytes);
                    files.read(&limited)
                }
                _ => files.with(name, bytes).read(&limited),
            };
            let error = read.unwrap_err();
            assert_eq!(error.kind(), kind, "{error}");
            assert_eq!(error.element().unwrap_or_default(), element, "{error}");
        }
    }

    #[test]
    fn either_order_of_a_dense_matrix_is_read() {
        let files = Files::new();
        let read = |order: &str, values: &[f64]| {
            let header = format!("{{'descr': '<f8', 'fortran_order': {order}, 'shape': (2, 3)}}");
            let length = u16::try_from(header.len()).unwrap().to_le_bytes();
            let head = [b"\x93NUMPY\x01\0", &length[..], header.as_bytes()].concat();
            let values = values.iter().flat_map(|value| value.to_le_bytes());
            fs::write(
                files.path("x.npy"),
                head.into_iter().chain(values).collect::<Vec<_>>(),
            )
            .unwrap();
            ReadOptions::new()
                .read(&files.path("x.npy"))
                .unwrap()
                .dataset
        };
        let data = read("False", &[1.0, 0.0, 2.0, 0.0, 3.0, 4.0]);
        let other = read("True", &[1.0, 0.0, 0.0, 3.0, 2.0, 4.0]);
        assert_eq!((data.rows(), data.width(), data.nonzeros()), (2, 3, 4));
        assert_eq!(data.x(), other.x());
    }

    #[test]
    fn a_limit_stops_what_would_not_fit() {
        let rows = 2_000_000;
        let files = Files::new().with("format", npy("|S3", "()", b"csr"));
        let files = files.with("shape", integers(&[rows, 3]));
        let bounds = vec![0; usize::try_from(rows).unwrap() + 1];
        let files = files.with("indptr", integers(&bounds));
        let files = files.with("indices", integers(&[]));
        let files = files.with("data", floats(&[]));
        let labels = npy("|i1", &format!("({rows},)"), &vec![0; bounds.len() - 1]);
        files.beside("labels", &labels);
        let read = |limit| files.read(&ReadOptions::new().memory(limit));
        assert!(read(100_000_000).is_ok());
        for limit in [10_000_000, 20_000_000, 60_000_000] {
            assert_eq!(read(limit).unwrap_err().kind(), ReadErrorKind::TooLarge);
        }
    }
}
