//! Rows as text, hashed on the way to their file.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};

use rankrls_files::error::Fault;
use rankrls_files::text::read_strings;
use rankrls_files::{Output, push_integer, push_number};

use super::BuildObserver;
use super::building::{Building, Judged};
use super::columns::Columns;
use super::manifest::{
    FileHash, Files, Manifest, Reason, SCHEMA, Sentences, Skipped, Sources, Spread, WrittenData,
};
use super::options::{BuildError, Compression};
use super::source::Pool;
use crate::bag::real;

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
        let finished = self.output.finish();
        finished.map_err(BuildError::write(&self.path))?;
        Ok(FileHash::hashed(&self.path, &self.hasher))
    }
}

/// A data set that is being written.
#[derive(Debug)]
pub(super) struct RowWriter {
    file: HashedFile,
    text: Vec<u8>,
    entries: Vec<(u32, i32)>,
    /// Entries of all rows of a query.
    of_query: Vec<(u32, i32)>,
    /// Whether rows of a query differ, by column.
    varies: Vec<bool>,
    part: WrittenData,
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

impl RowWriter {
    /// Begins a file with a comment.
    pub(super) fn create(path: &Path, heading: &str) -> Result<Self, BuildError> {
        let mut file = HashedFile::create(path)?;
        file.write(format!("# {heading}\n").as_bytes())?;
        Ok(Self {
            file,
            text: Vec::new(),
            entries: Vec::new(),
            of_query: Vec::new(),
            varies: Vec::new(),
            part: WrittenData::default(),
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
        self.mark_varying(labels.len());
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
        self.of_query.extend_from_slice(&self.entries);
        self.entries.sort_unstable_by_key(|&(column, _)| column);
        for &(column, units) in &self.entries {
            self.text.push(b' ');
            push_integer(&mut self.text, u64::from(column) + 1);
            self.text.push(b':');
            push_number(&mut self.text, real(units));
        }
    }

    /// Marks the columns in which the rows of the last query differ.
    fn mark_varying(&mut self, rows: usize) {
        self.of_query.sort_unstable();
        for column in self.of_query.chunk_by(|a, b| a.0 == b.0) {
            let (first, last) = (column[0], column[column.len() - 1]);
            if column.len() == rows && first == last {
                continue;
            }
            let place = first.0 as usize;
            if self.varies.len() <= place {
                self.varies.resize(place + 1, false);
            }
            self.varies[place] = true;
        }
        self.of_query.clear();
    }

    /// Completes the file.
    pub(super) fn finish(
        self,
        columns: usize,
        unseen: usize,
    ) -> Result<(FileHash, WrittenData), BuildError> {
        let Self {
            file,
            mut part,
            labels,
            varies,
            ..
        } = self;
        part.columns = columns;
        part.varying_columns = varies.into_iter().filter(|&varies| varies).count();
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

    fn spread(&self, rows: usize, queries: usize) -> Spread {
        let mean = |sum: i64, count: usize| {
            let mean = sum as f64 / 10_000.0 / count.max(1) as f64;
            (mean * 1e6).round() / 1e6
        };
        Spread {
            least: real(self.least.unwrap_or(0)),
            mean: mean(self.sum, rows),
            largest: real(self.largest),
            mean_range: mean(self.ranges, queries),
            mean_first: mean(self.firsts, queries),
            mean_best: mean(self.bests, queries),
        }
    }
}

// The files of a corpus.

/// Bytes of text that a file of names may have.
const LARGEST: u64 = 4 << 30;

/// The files while they are written.
struct Writing<'b> {
    pub(super) building: &'b Building<'b>,
    pub(super) names: &'b FileNames,
    pub(super) observer: &'b dyn BuildObserver,
    /// Sentences to write.
    pub(super) of: usize,
}

/// The files, what to train on, and what is held out.
pub(super) type Written = (Files, Option<WrittenData>, Option<WrittenData>);

impl Writing<'_> {
    /// A corpus to train on and one that is held out.
    pub(super) fn split(&self, train: &[usize], test: &[usize]) -> Result<Written, BuildError> {
        let mut columns = self.building.columns(train)?;
        let what = ("sentences", 0);
        let ((train_hash, texts), train_part) =
            self.part(train, &self.names.train, what, &mut columns)?;
        columns.close();
        let held_out = if test.is_empty() {
            None
        } else {
            let what = ("other sentences", train.len());
            Some(self.part(test, &self.names.test, what, &mut columns)?)
        };
        let (test_hashes, test_part) = held_out.unzip();
        let (test_hash, test_texts) = test_hashes.unzip();
        let files = Files {
            train: Some(train_hash),
            test: test_hash,
            texts: Some(texts),
            test_texts,
            names: Some(write_names(&self.names.names, &columns)?),
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
        let mut names = read_strings(path, Some(LARGEST), 0, "a feature name in UTF-8")?;
        while names.last() == Some("") {
            names.truncate(names.len() - 1);
        }
        let mut columns = Columns::fixed(names.iter()).map_err(|name| {
            let fault = Fault::new("different names", format!("{name:?} twice"));
            fault.of(&path.display().to_string())
        })?;
        let mut hasher = blake3::Hasher::new();
        for name in names.iter() {
            hasher.update(name.as_bytes());
            hasher.update(b"\n");
        }
        sources.columns = Some(FileHash::hashed(path, &hasher));
        let what = ("new sentences", 0);
        let ((hash, texts), part) = self.part(numbers, &self.names.train, what, &mut columns)?;
        let files = Files {
            train: None,
            test: Some(hash),
            texts: None,
            test_texts: Some(texts),
            names: None,
        };
        Ok((files, None, Some(part)))
    }

    /// Writes rows and their texts; `what` they are, and how many sentences were written before.
    fn part(
        &self,
        numbers: &[usize],
        names: &PartNames,
        what: (&str, usize),
        columns: &mut Columns,
    ) -> Result<((FileHash, FileHash), WrittenData), BuildError> {
        let (what, mut done) = what;
        let version = env!("CARGO_PKG_VERSION");
        let heading = format!("{what} of rankrls {version} build");
        let mut rows = RowWriter::create(&names.rows, &heading)?;
        let mut lines = HashedFile::create(&names.texts)?;
        self.building.describe(numbers, |number, bag, texts| {
            let Judged::Used { labels, .. } = &self.building.judged[number] else {
                return Ok(());
            };
            let numbered = columns.of(bag);
            let entries = (0..labels.len()).map(|row| bag.row(row));
            let id = &self.building.gold.ids[number];
            rows.query(id, labels, entries, &numbered)?;
            lines.write(texts.as_bytes())?;
            done += 1;
            self.observer.written(done, self.of);
            Ok(())
        })?;
        let (hash, part) = rows.finish(columns.len(), columns.unseen())?;
        Ok(((hash, lines.finish()?), part))
    }
}

// The files of a corpus.

/// The files of a corpus.
#[derive(Debug)]
pub(super) struct FileNames {
    train: PartNames,
    test: PartNames,
    pub(super) names: PathBuf,
    pub(super) manifest: PathBuf,
    pub(super) journal: PathBuf,
}

/// Rows, and a line of text for each of them.
#[derive(Debug)]
struct PartNames {
    rows: PathBuf,
    texts: PathBuf,
}

impl FileNames {
    pub(super) fn new(prefix: &Path, compression: Compression) -> Self {
        let compressed = match compression {
            Compression::Zstd => ".zst",
            Compression::None => "",
        };
        let with = |ending: &str, compressed: &str| {
            let mut name: OsString = prefix.as_os_str().to_owned();
            name.push(ending);
            name.push(compressed);
            PathBuf::from(name)
        };
        Self {
            train: PartNames {
                rows: with(".svm", compressed),
                texts: with("-texts.txt", compressed),
            },
            test: PartNames {
                rows: with("-test.svm", compressed),
                texts: with("-test-texts.txt", compressed),
            },
            names: with("-names.txt", compressed),
            manifest: with("-manifest.json", ""),
            journal: with(".journal", ""),
        }
    }
}

impl FileNames {
    /// All of them: with a journal if sentences are `parsed`, without files of the held-out rows and
    /// of names `over` the columns of another corpus.
    pub(super) fn all(self, parsed: bool, over: bool) -> Vec<PathBuf> {
        let own = [self.test.rows, self.test.texts, self.names];
        let files = [self.train.rows, self.train.texts, self.manifest];
        let journal = Some(self.journal).filter(|_| parsed);
        let own = own.into_iter().filter(|_| !over);
        files.into_iter().chain(own).chain(journal).collect()
    }
}

/// Writes the names of the columns, one a line.
pub(super) fn write_names(path: &Path, columns: &Columns) -> Result<FileHash, BuildError> {
    let mut file = HashedFile::create(path)?;
    for name in columns.names().iter() {
        file.write(name.as_bytes())?;
        file.write(b"\n")?;
    }
    file.finish()
}

/// Writes the manifest.
fn write_manifest(path: &Path, manifest: &Manifest) -> Result<(), BuildError> {
    let text = serde_json::to_vec_pretty(manifest);
    let mut text = text
        .map_err(std::io::Error::other)
        .map_err(BuildError::write(path))?;
    text.push(b'\n');
    let mut file = HashedFile::create(path)?;
    file.write(&text)?;
    file.finish().map(drop)
}

impl Building<'_> {
    /// Writes all files of the corpus, the manifest last.
    pub(super) fn write(
        &self,
        names: &FileNames,
        mut sources: Sources,
        observer: &dyn BuildObserver,
    ) -> Result<Manifest, BuildError> {
        let (train, test) = (self.side(false), self.side(true));
        let (sentences, skipped) = self.outcome(&train, &test);
        if train.is_empty() {
            return Err(BuildError::Nothing(unused_text(&sentences, &skipped)));
        }
        let writing = Writing {
            building: self,
            names,
            observer,
            of: train.len() + test.len(),
        };
        let (files, train_part, test_part) = match &self.options.columns {
            None => writing.split(&train, &test)?,
            Some(path) => writing.over(&train, path, &mut sources)?,
        };
        let manifest = Manifest {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            command: "build",
            options: self.options.clone(),
            sources,
            sentences,
            adpositions: self.gold.adpositions,
            train: train_part,
            test: test_part,
            files,
            skipped,
        };
        write_manifest(&names.manifest, &manifest)?;
        Ok(manifest)
    }

    fn outcome(&self, train: &[usize], test: &[usize]) -> (Sentences, Vec<Skipped>) {
        let malformed = self.gold.skipped.len();
        let read = self.gold.sentences.len() + malformed;
        // All that is used is written for another corpus to rank.
        let used = match self.options.columns {
            Some(_) => [0, train.len()],
            None => [train.len(), test.len()],
        };
        let mut sentences = Sentences::new(read, used);
        sentences.count(Reason::Malformed, malformed);
        let mut skipped = self.gold.skipped.clone();
        if let Pool::File(file) = &self.pool {
            skipped.extend_from_slice(&file.skipped);
        }
        for judged in &self.judged {
            let Judged::Unused(unused) = judged else {
                continue;
            };
            sentences.count(unused.reason, 1);
            if !matches!(unused.reason, Reason::Single | Reason::Tied) {
                skipped.push(unused.clone());
            }
        }
        (sentences, skipped)
    }
}

/// Why no sentence is left: how many are left out for which reason, and of each reason the first.
fn unused_text(sentences: &Sentences, skipped: &[Skipped]) -> String {
    if sentences.read == 0 {
        return "the treebank has none".to_owned();
    }
    let counts: Vec<_> = sentences
        .left_out()
        .map(|(count, reason)| format!("{count} {}", reason.text()))
        .collect();
    let mut text = format!("of {} sentences, {}", sentences.read, counts.join(", "));
    let mut told = Vec::new();
    for skipped in skipped {
        if !told.contains(&(skipped.reason, &skipped.file)) {
            told.push((skipped.reason, &skipped.file));
            let separator = if told.len() == 1 {
                "; such as "
            } else {
                ", and "
            };
            text += separator;
            text += &skipped.to_string();
        }
    }
    text
}
