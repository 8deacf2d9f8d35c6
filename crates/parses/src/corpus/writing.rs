//! Rows as text, hashed on the way to their file.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use super::error::BuildError;
use super::report::{FileHash, Part, file_name};
use crate::bag::real;
use rankrls_files::Output;
use rankrls_files::{push_integer, push_number};

/// A file that is hashed while it is written.
#[derive(Debug)]
pub(super) struct HashedFile {
    path: PathBuf,
    output: Output,
    hasher: blake3::Hasher,
}

impl HashedFile {
    pub(super) fn create(path: &Path) -> Result<Self, BuildError> {
        Ok(Self {
            path: path.to_owned(),
            output: Output::create(path).map_err(BuildError::write(path))?,
            hasher: blake3::Hasher::new(),
        })
    }

    pub(super) fn write(&mut self, text: &[u8]) -> Result<(), BuildError> {
        self.hasher.update(text);
        self.output
            .write_all(text)
            .map_err(BuildError::write(&self.path))
    }

    /// Completes the file.
    pub(super) fn finish(self) -> Result<FileHash, BuildError> {
        let finished: io::Result<()> = self.output.finish();
        finished.map_err(BuildError::write(&self.path))?;
        Ok(FileHash {
            file: file_name(&self.path),
            blake3: self.hasher.finalize().to_hex().to_string(),
        })
    }
}

/// A data set that is being written.
#[derive(Debug)]
pub(super) struct Rows {
    file: HashedFile,
    text: Vec<u8>,
    entries: Vec<(u32, i32)>,
    part: Part,
    /// Sums over rows and over queries, in ten-thousandths.
    labels: Sums,
}

#[derive(Debug, Default)]
struct Sums {
    least: Option<i32>,
    largest: i32,
    sum: i64,
    ranges: i64,
    firsts: i64,
    bests: i64,
}

impl Rows {
    /// Begins a file with a comment.
    pub(super) fn create(path: &Path, heading: &str) -> Result<Self, BuildError> {
        let mut file = HashedFile::create(path)?;
        file.write(format!("# {heading}\n").as_bytes())?;
        Ok(Self {
            file,
            text: Vec::new(),
            entries: Vec::new(),
            part: Part::default(),
            labels: Sums::default(),
        })
    }

    /// Writes a query: a label a row, and entries by the number of the row and of the feature,
    /// whose column is in `columns`. A comment tells the place among the candidates, from 1.
    pub(super) fn query<'b>(
        &mut self,
        id: &str,
        labels: &[i32],
        rows: impl Iterator<Item = &'b [(u32, i32)]>,
        columns: &[Option<u32>],
    ) -> Result<(), BuildError> {
        self.text.clear();
        for (number, (&label, row)) in (1_u64..).zip(labels.iter().zip(rows)) {
            push_number(&mut self.text, real(label));
            self.text.extend_from_slice(b" qid:");
            self.text.extend_from_slice(id.as_bytes());
            self.push_row(row, columns);
            self.text.extend_from_slice(b" # ");
            push_integer(&mut self.text, number);
            self.text.push(b'\n');
        }
        self.labels.add(labels);
        self.part.queries += 1;
        self.part.rows += labels.len();
        self.file.write(&self.text)
    }

    fn push_row(&mut self, row: &[(u32, i32)], columns: &[Option<u32>]) {
        self.entries.clear();
        for &(feature, units) in row {
            match columns[feature as usize] {
                Some(column) => self.entries.push((column, units)),
                None => self.part.unseen_entries += 1,
            }
        }
        self.part.nonzeros += self.entries.len() as u64;
        self.entries.sort_unstable_by_key(|&(column, _)| column);
        for &(column, units) in &self.entries {
            self.text.push(b' ');
            push_integer(&mut self.text, u64::from(column) + 1);
            self.text.push(b':');
            push_number(&mut self.text, real(units));
        }
    }

    /// Completes the file.
    pub(super) fn finish(
        self,
        columns: usize,
        unseen: usize,
    ) -> Result<(FileHash, Part), BuildError> {
        let Self {
            file,
            mut part,
            labels,
            ..
        } = self;
        part.columns = columns;
        part.unseen_features = unseen;
        part.labels = labels.spread(part.rows, part.queries);
        Ok((file.finish()?, part))
    }
}

impl Sums {
    fn add(&mut self, labels: &[i32]) {
        let (Some(&least), Some(&best)) = (labels.iter().min(), labels.iter().max()) else {
            return;
        };
        self.least = Some(self.least.map_or(least, |before| before.min(least)));
        self.largest = self.largest.max(best);
        self.sum += labels.iter().map(|&label| i64::from(label)).sum::<i64>();
        self.ranges += i64::from(best - least);
        self.firsts += i64::from(labels[0]);
        self.bests += i64::from(best);
    }

    fn spread(&self, rows: usize, queries: usize) -> super::report::Spread {
        let mean = |sum: i64, count: usize| {
            let mean = sum as f64 / 10_000.0 / count.max(1) as f64;
            (mean * 1e6).round() / 1e6
        };
        super::report::Spread {
            least: real(self.least.unwrap_or(0)),
            mean: mean(self.sum, rows),
            largest: real(self.largest),
            mean_range: mean(self.ranges, queries),
            mean_first: mean(self.firsts, queries),
            mean_best: mean(self.bests, queries),
        }
    }
}
