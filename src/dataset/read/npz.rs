//! Sparse matrices as SciPy writes them, with labels and queries beside.

use std::fs::File;
use std::io::{BufReader, Read, Seek};
use std::path::Path;

use zip::ZipArchive;
use zip::result::ZipError;

use crate::dataset::IndexBase;
use crate::dataset::beside::{has_extension, prefix, with_ending};
use crate::dataset::transpose::RowBlock;

use super::error::{Fault, ReadError, ReadErrorKind, quote};
use super::groups::Groups;
use super::input::is_stdin;
use super::matrix::{Budget, by_row, settle};
use super::npy::{Array, room};
use super::text::Text;
use super::{Loaded, ReadOptions};

/// Bytes of an entry while it is read, and once more in columns.
const ENTRY: u64 = 2 * 12;

/// Bytes of a row besides its label: its bound, and a copy of its label if it is moved.
const ROW: u64 = 2 * 8;

/// Bytes of a query in the table of all, besides its identifier.
const QUERY: u64 = 64;

pub(super) fn recognises(path: &Path) -> bool {
    has_extension(path, "npz")
}

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Loaded, ReadError> {
    if is_stdin(path) {
        return Err(one_stream("<stdin>"));
    }
    let mut budget = Budget::new(options.max_memory);
    let mut text = read_matrix(path, options, &mut budget)?;
    let prefix = prefix(path);
    let rows = Rows {
        count: text.rows,
        matrix: text.name.clone(),
    };
    text.labels = rows.labels(&with_ending(&prefix, ".labels.npy", ""), &mut budget)?;
    let path = with_ending(&prefix, ".qids.npy", "");
    if path.exists() {
        text.groups = rows.queries(&path, options.regroup, &mut budget)?;
    }
    text.memory = budget.spent;
    options.build_beside(text, IndexBase::Zero, &prefix)
}

pub(super) fn one_stream(name: &str) -> ReadError {
    let expected = "SciPy's file .npz and .labels.npy beside it";
    Fault::new(ReadErrorKind::OneStream, expected, "one stream".to_owned())
        .remedy("give the path of the .npz file")
        .of(name)
}

fn read_matrix(path: &Path, options: &ReadOptions, budget: &mut Budget) -> Result<Text, ReadError> {
    let name = path.display().to_string();
    let file = File::open(path).map_err(|error| ReadError::io(&name, &error))?;
    let read = || {
        let archive = ZipArchive::new(BufReader::new(file)).map_err(|error| no_archive(&error))?;
        Archive { archive }.matrix(options.width, budget)
    };
    let (block, width, dropped) = read().map_err(|fault| fault.of(&name))?;
    let mut text = Text::of_arrays(name, block, width, budget.spent);
    text.dropped_entries = dropped.entries;
    text.dropped_columns = dropped.columns;
    Ok(text)
}

type Matrix = (RowBlock, usize, super::matrix::Dropped);

/// The arrays of an `.npz` file.
struct Archive<R> {
    archive: ZipArchive<R>,
}

/// What compressed matrices are called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    Rows,
    Columns,
}

impl<R: Read + Seek> Archive<R> {
    fn matrix(&mut self, asked: Option<usize>, budget: &mut Budget) -> Result<Matrix, Fault> {
        let layout = self.layout()?;
        let [rows, columns] = self.shape()?;
        let (major, minor) = match layout {
            Layout::Rows => (rows, columns),
            Layout::Columns => (columns, rows),
        };
        budget.take(u64::from(rows) * ROW)?;
        let mut bounds = self.bounds(major, budget)?;
        let entries = bounds.last().copied().unwrap_or(0);
        budget.take((entries as u64).saturating_mul(ENTRY))?;
        let indices = self.indices(entries, minor)?;
        let values = self.values(entries)?;
        let mut block = match layout {
            Layout::Columns => by_row(&indices, columns_of(&bounds), &values, rows as usize),
            Layout::Rows => {
                bounds.remove(0);
                RowBlock {
                    ends: bounds,
                    indices,
                    values,
                }
            }
        };
        let dropped = settle(&mut block, asked)?;
        Ok((block, columns as usize, dropped))
    }

    fn array(&mut self, name: &str) -> Result<Array<impl Read + '_>, Fault> {
        let entry = self.archive.by_name(&format!("{name}.npy"));
        let entry = entry.map_err(|error| match error {
            ZipError::FileNotFound => {
                let expected = "a sparse matrix saved by SciPy, with arrays format, shape, indptr, \
                                indices and data";
                Fault::new(ReadErrorKind::Array, expected, "no such array".to_owned())
            }
            error => no_archive(&error),
        });
        let entry = entry.map_err(|fault| fault.in_array(name, None))?;
        Array::new(entry, name)
    }

    fn layout(&mut self) -> Result<Layout, Fault> {
        let mut found = String::new();
        self.array("format")?.texts(|_, _, text| {
            text.clone_into(&mut found);
            Ok(())
        })?;
        match &found[..] {
            "csr" => Ok(Layout::Rows),
            "csc" => Ok(Layout::Columns),
            other => {
                let expected = "compressed rows \"csr\" or columns \"csc\"";
                let found = quote(other.as_bytes());
                Err(Fault::new(ReadErrorKind::Array, expected, found)
                    .in_array("format", None)
                    .remedy("in SciPy, call tocsr before saving"))
            }
        }
    }

    /// Rows and columns.
    fn shape(&mut self) -> Result<[u32; 2], Fault> {
        let array = self.array("shape")?;
        if array.length()? != 2 {
            let found = format!("{} lengths", array.length()?);
            return Err(array.unsuitable("the numbers of rows and columns", found));
        }
        let mut shape = [0; 2];
        array.integers(|array, position, length| {
            // There are two.
            shape[usize::from(position > 0)] = u32::try_from(length).map_err(|_| {
                let expected = format!("a length of at most {}", u32::MAX);
                array.fault(
                    position,
                    ReadErrorKind::IndexTooLarge,
                    expected,
                    length.to_string(),
                )
            })?;
            Ok(())
        })?;
        Ok(shape)
    }

    /// `count + 1` positions that ascend from 0.
    fn bounds(&mut self, count: u32, budget: &mut Budget) -> Result<Vec<usize>, Fault> {
        let array = self.array("indptr")?;
        expect_length(&array, u64::from(count) + 1)?;
        budget.take((u64::from(count) + 1) * 8)?;
        let mut bounds = room(u64::from(count) + 1)?;
        let mut last = 0;
        array.integers(|array, position, bound| {
            let legal = usize::try_from(bound).ok().filter(|&bound| {
                if position == 0 {
                    bound == 0
                } else {
                    bound >= last
                }
            });
            let bound = legal.ok_or_else(|| {
                let expected = match position {
                    0 => "0".to_owned(),
                    _ => format!("at least {last}, the bound before it"),
                };
                array.fault(position, ReadErrorKind::Bounds, expected, bound.to_string())
            })?;
            last = bound;
            bounds.push(bound);
            Ok(())
        })?;
        Ok(bounds)
    }

    fn indices(&mut self, entries: usize, below: u32) -> Result<Vec<u32>, Fault> {
        let array = self.array("indices")?;
        expect_length(&array, entries as u64)?;
        let mut indices = room(entries as u64)?;
        array.integers(|array, position, index| {
            let legal = u32::try_from(index).ok().filter(|&index| index < below);
            let index = legal.ok_or_else(|| {
                let (kind, expected) = (ReadErrorKind::IndexRange, range(below));
                array.fault(position, kind, expected, index.to_string())
            })?;
            indices.push(index);
            Ok(())
        })?;
        Ok(indices)
    }

    fn values(&mut self, entries: usize) -> Result<Vec<f64>, Fault> {
        let array = self.array("data")?;
        expect_length(&array, entries as u64)?;
        array.floats("value")
    }
}

/// The column of every entry.
fn columns_of(bounds: &[usize]) -> impl Iterator<Item = u32> {
    let counts = bounds.windows(2).map(|pair| pair[1] - pair[0]);
    (0..)
        .zip(counts)
        .flat_map(|(column, count)| std::iter::repeat_n(column, count))
}

/// What an index has to be.
fn range(below: u32) -> String {
    match below {
        0 => "no index, as the matrix is empty".to_owned(),
        _ => format!("an index from 0 to {}", below - 1),
    }
}

fn expect_length<R: Read>(array: &Array<R>, expected: u64) -> Result<(), Fault> {
    let found = array.length()?;
    if found == expected {
        return Ok(());
    }
    let expected = format!("{expected} elements, to go with shape and indptr");
    Err(array.unsuitable(expected, found.to_string()))
}

fn no_archive(error: &ZipError) -> Fault {
    match error {
        ZipError::Io(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => {
            Fault::io(error)
        }
        error => {
            let expected = "a zip archive, as SciPy's save_npz writes";
            Fault::new(ReadErrorKind::Corrupt, expected, error.to_string())
        }
    }
}

/// The rows that labels and queries belong to.
struct Rows {
    count: usize,
    matrix: String,
}

impl Rows {
    fn labels(&self, path: &Path, budget: &mut Budget) -> Result<Vec<f64>, ReadError> {
        let array = Array::open(path, "labels")?;
        let mut read = |array| {
            self.expect(&array)?;
            budget.take(8 * self.count as u64)?;
            array.floats("label")
        };
        read(array).map_err(|fault| fault.of(&path.display().to_string()))
    }

    fn queries(
        &self,
        path: &Path,
        regroup: bool,
        budget: &mut Budget,
    ) -> Result<Groups, ReadError> {
        let array = Array::open(path, "qids")?;
        let mut groups = Groups::of_array(regroup);
        let mut read = |array| {
            self.expect(&array)?;
            array.texts(|array, position, id| {
                let place = |fault: Fault| fault.in_array("qids", Some(position));
                if id.is_empty() {
                    let (kind, expected) = (ReadErrorKind::QueryId, "a query identifier");
                    return Err(array.fault(position, kind, expected, "none".to_owned()));
                }
                if !groups.ends_with(id) {
                    budget.take(QUERY + 2 * id.len() as u64).map_err(place)?;
                }
                groups.add(id, 1, position, 0).map_err(place)
            })
        };
        read(array).map_err(|fault| fault.of(&path.display().to_string()))?;
        Ok(groups)
    }

    fn expect<R: Read>(&self, array: &Array<R>) -> Result<(), Fault> {
        let found = array.length()?;
        if found == self.count as u64 {
            return Ok(());
        }
        let expected = format!(
            "{} elements, one for each row of {}",
            self.count, self.matrix
        );
        let fault = Fault::new(ReadErrorKind::Lengths, expected, found.to_string());
        Err(fault)
    }
}
