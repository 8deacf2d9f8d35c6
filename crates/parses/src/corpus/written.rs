//! What is written of a corpus.

use std::path::Path;

use super::building::{Building, Judged};
use super::columns::Columns;
use super::error::BuildError;
use super::files::{FileNames, write_names};
use super::report::{FileHash, Files, Part, Sources};
use super::source::Found;
use super::writing::{HashedFile, Rows};
use super::{BuildObserver, report};
use rankrls_files::{ReadError, ReadErrorKind, Strings, error::Fault, read_whole};

/// Bytes of text that a file of names may have.
const LARGEST: u64 = 4 << 30;

/// The files while they are written.
pub(super) struct Writing<'b> {
    pub(super) building: &'b Building<'b>,
    pub(super) names: &'b FileNames,
    pub(super) observer: &'b dyn BuildObserver,
    /// Sentences to write.
    pub(super) of: usize,
}

/// The files, what to train on, and what is held out.
pub(super) type Written = (Files, Option<Part>, Option<Part>);

impl Writing<'_> {
    /// A corpus to train on and one that is held out.
    pub(super) fn split(&self, train: &[usize], test: &[usize]) -> Result<Written, BuildError> {
        let mut columns = self.building.columns(train)?;
        let (train_hash, train_part) =
            self.part(train, &self.names.train, ("sentences", 0), &mut columns)?;
        columns.close();
        let held_out = if test.is_empty() {
            None
        } else {
            let what = ("other sentences", train.len());
            Some(self.part(test, &self.names.test, what, &mut columns)?)
        };
        let (test_hash, test_part) = held_out.unzip();
        let files = Files {
            train: Some(train_hash),
            test: test_hash,
            names: Some(write_names(&self.names.names, &columns)?),
            arcs: None,
        };
        Ok((files, Some(train_part), test_part))
    }

    /// Rows over the columns of another corpus.
    pub(super) fn over(
        &self,
        numbers: &[usize],
        path: &Path,
        sources: &mut Sources,
    ) -> Result<Written, BuildError> {
        let names = read_names(path)?;
        let mut columns = Columns::fixed(names.iter()).map_err(|name| {
            let file = path.display().to_string();
            BuildError::RepeatedName { file, name }
        })?;
        let mut hasher = blake3::Hasher::new();
        for name in names.iter() {
            hasher.update(name.as_bytes());
            hasher.update(b"\n");
        }
        sources.columns = Some(FileHash {
            file: report::file_name(path),
            blake3: hasher.finalize().to_hex().to_string(),
        });
        let what = ("new sentences", 0);
        let (hash, part) = self.part(numbers, &self.names.train, what, &mut columns)?;
        let files = Files {
            train: None,
            test: Some(hash),
            names: None,
            arcs: self.arcs(numbers)?,
        };
        Ok((files, None, Some(part)))
    }

    /// Writes rows; `what` they are, and how many sentences were written before.
    fn part(
        &self,
        numbers: &[usize],
        path: &Path,
        what: (&str, usize),
        columns: &mut Columns,
    ) -> Result<(FileHash, Part), BuildError> {
        let (what, mut done) = what;
        let version = env!("CARGO_PKG_VERSION");
        let heading = format!("{what} of rankrls {version} corpus build");
        let mut rows = Rows::create(path, &heading)?;
        self.building.describe(numbers, |number, bag| {
            let Judged::Used { labels, .. } = &self.building.judged[number] else {
                return Ok(());
            };
            let numbered = columns.of(bag);
            let entries = (0..labels.len()).map(|row| bag.row(row));
            let id = &self.building.gold.ids[number];
            rows.query(id, labels, entries, &numbered)?;
            done += 1;
            self.observer.written(done, self.of);
            if self.observer.interrupted() {
                return Err(BuildError::Interrupted);
            }
            Ok(())
        })?;
        rows.finish(columns.len(), columns.unseen())
    }

    /// Writes the arcs of every candidate on a line, if they are asked for.
    fn arcs(&self, numbers: &[usize]) -> Result<Option<FileHash>, BuildError> {
        if !self.building.options.arcs {
            return Ok(None);
        }
        let mut file = HashedFile::create(&self.names.arcs)?;
        for &number in numbers {
            let Found::Parses(parses) = self.building.found(number)? else {
                continue;
            };
            for parse in &parses {
                file.write(format!("{parse}\n").as_bytes())?;
            }
        }
        file.finish().map(Some)
    }
}

/// Names of columns, one a line.
fn read_names(path: &Path) -> Result<Strings, ReadError> {
    let text = read_whole(path, LARGEST)?;
    let mut names = Strings::default();
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let name = std::str::from_utf8(line).map_err(|error| {
            let (at, expected) = (error.valid_up_to(), "a feature name in UTF-8");
            Fault::token(ReadErrorKind::NameEncoding, expected, at, &line[at..])
                .at(&path.display().to_string(), names.len() as u64 + 1)
        })?;
        names.push(name);
    }
    Ok(names)
}
