//! Rows as text.

use std::collections::BTreeMap;
use std::path::Path;

use rankrls_files::error::Fault;
use rankrls_files::text::read_strings;
use rankrls_files::{counted, push_integer, push_number};
use serde_json::{Value, json};

use super::building::{Building, Used};
use super::candidates::Pool;
use super::columns::Columns;
use super::folder::{self, CorpusFile, CorpusFolder};
use super::label;
use super::manifest::{
    FileHash, Manifest, Reason, SCHEMA, Sentences, Skipped, Spread, WrittenData,
};
use super::observer::BuildObserver;
use super::options::BuildOptions;
use super::split::Sides;
use crate::Error;

/// An unfinished data set.
struct RowWriter {
    file: CorpusFile,
    text: Vec<u8>,
    entries: Vec<(u32, f64)>,
    /// Entries of all rows of the query.
    of_query: Vec<(u32, f64)>,
    /// Whether rows of a query differ, by column.
    varies: Vec<bool>,
    part: WrittenData,
}

impl RowWriter {
    /// Begins a file with a comment.
    fn create(mut file: CorpusFile, heading: &str) -> Result<Self, Error> {
        file.write(format!("# {heading}\n").as_bytes())?;
        Ok(Self {
            file,
            text: Vec::new(),
            entries: Vec::new(),
            of_query: Vec::new(),
            varies: Vec::new(),
            part: WrittenData::default(),
        })
    }

    /// Writes a query: the labels of its rows, and their entries by row and feature number. `columns` has the
    /// column of each feature. A comment tells the place among the candidates, from 1.
    fn query<'b>(
        &mut self,
        id: &str,
        labels: &[i32],
        rows: impl Iterator<Item = &'b [(u32, f64)]>,
        columns: &[Option<u32>],
    ) -> Result<(), Error> {
        self.text.clear();
        for (number, (&label, row)) in (1_u64..).zip(labels.iter().zip(rows)) {
            push_number(&mut self.text, label::real(label));
            self.text.extend_from_slice(b" qid:");
            self.text.extend_from_slice(id.as_bytes());
            self.push_row(row, columns);
            self.text.extend_from_slice(b" # ");
            push_integer(&mut self.text, number);
            self.text.push(b'\n');
        }
        self.mark_varying(labels.len());
        self.part.queries += 1;
        self.part.rows += labels.len();
        self.file.write(&self.text)
    }

    fn push_row(&mut self, row: &[(u32, f64)], columns: &[Option<u32>]) {
        self.entries.clear();
        for &(feature, value) in row {
            match columns[feature as usize] {
                Some(column) => self.entries.push((column, value)),
                None => self.part.unseen_entries += 1,
            }
        }
        self.part.nonzeros += self.entries.len() as u64;
        self.of_query.extend_from_slice(&self.entries);
        self.entries.sort_unstable_by_key(|&(column, _)| column);
        for &(column, value) in &self.entries {
            self.text.push(b' ');
            push_integer(&mut self.text, u64::from(column) + 1);
            self.text.push(b':');
            push_number(&mut self.text, value);
        }
    }

    /// Marks the columns in which the rows of the last query differ.
    fn mark_varying(&mut self, rows: usize) {
        self.of_query.sort_unstable_by_key(|&(column, _)| column);
        for column in self.of_query.chunk_by(|a, b| a.0 == b.0) {
            let same = column.windows(2).all(|pair| pair[0] == pair[1]);
            if column.len() == rows && same {
                continue;
            }
            let place = column[0].0 as usize;
            if self.varies.len() <= place {
                self.varies.resize(place + 1, false);
            }
            self.varies[place] = true;
        }
        self.of_query.clear();
    }

    /// Completes the file, with `columns` columns and the features without one.
    fn finish(
        self,
        columns: usize,
        unseen: usize,
    ) -> Result<((&'static str, String), WrittenData), Error> {
        let mut part = self.part;
        part.columns = columns;
        part.varying_columns = self.varies.into_iter().filter(|&varies| varies).count();
        part.unseen_features = unseen;
        Ok((self.file.finish()?, part))
    }
}

/// The spread of the labels of `sentences`, of which there is at least one.
fn spread(sentences: &[&Used]) -> Spread {
    let queries = sentences.iter().map(|used| &used.labels[..]);
    let all = || queries.clone().flatten().copied();
    let best = |labels: &[i32]| labels.iter().copied().max().unwrap_or(0);
    let worst = |labels: &[i32]| labels.iter().copied().min().unwrap_or(0);
    let exact = |label: Option<i32>| 10_000 * i32::from(label == Some(10_000));
    let mean = |sum: i64, count: usize| {
        let mean = sum as f64 / 10_000.0 / count.max(1) as f64;
        (mean * 1e6).round() / 1e6
    };
    let of_queries = |value: &dyn Fn(&[i32]) -> i32| {
        let sum = queries.clone().map(|labels| i64::from(value(labels))).sum();
        mean(sum, sentences.len())
    };
    Spread {
        least: label::real(all().min().unwrap_or(0)),
        mean: mean(all().map(i64::from).sum(), all().count()),
        largest: label::real(all().max().unwrap_or(0)),
        mean_range: of_queries(&|labels| best(labels) - worst(labels)),
        mean_first: of_queries(&|labels| labels.first().copied().unwrap_or(0)),
        mean_best: of_queries(&best),
        exact_first: of_queries(&|labels| exact(labels.first().copied())),
        exact_best: of_queries(&|labels| exact(labels.iter().copied().max())),
    }
}

/// Most bytes of text in a file of names.
const LARGEST: u64 = 4 << 30;

/// The unfinished files of a corpus.
struct Writing<'b> {
    building: &'b Building<'b>,
    folder: &'b CorpusFolder,
    observer: &'b dyn BuildObserver,
    /// Number of sentences to write.
    of: usize,
    done: usize,
    /// The complete files, with their hashes.
    files: BTreeMap<&'static str, String>,
}

impl Writing<'_> {
    /// Writes training data and held-out data.
    fn split(
        &mut self,
        train: &[&Used],
        test: &[&Used],
    ) -> Result<(WrittenData, Option<WrittenData>), Error> {
        let mut columns = self.building.columns(train)?;
        let names = [folder::TRAIN, folder::TEXTS];
        let trained = self.rows("sentences", train, names, &mut columns)?;
        columns.close();
        let names = [folder::TEST, folder::TEST_TEXTS];
        let held_out = (!test.is_empty())
            .then(|| self.rows("other sentences", test, names, &mut columns))
            .transpose()?;
        self.names(&columns)?;
        Ok((trained, held_out))
    }

    /// Writes rows over the columns of another corpus.
    fn over(
        &mut self,
        sentences: &[&Used],
        path: &Path,
        sources: &mut Value,
    ) -> Result<WrittenData, Error> {
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
        sources["columns"] = json!(FileHash::hashed(path, &hasher));
        let names = [folder::TEST, folder::TEST_TEXTS];
        let written = self.rows("new sentences", sentences, names, &mut columns)?;
        if written.nonzeros == 0 {
            let found = format!(
                "names of other columns than all {} of these sentences",
                written.unseen_features
            );
            return Err(Fault::new("the names of a corpus of rankrls build", found)
                .of(&path.display().to_string())
                .into());
        }
        self.names(&columns)?;
        Ok(written)
    }

    /// Writes rows and their texts; `what` names the rows.
    fn rows(
        &mut self,
        what: &str,
        sentences: &[&Used],
        [rows, texts]: [&'static str; 2],
        columns: &mut Columns,
    ) -> Result<WrittenData, Error> {
        let version = env!("CARGO_PKG_VERSION");
        let heading = format!("{what} of rankrls {version} build");
        let mut rows = RowWriter::create(self.folder.create(rows)?, &heading)?;
        let mut lines = self.folder.create(texts)?;
        self.building.describe(sentences, |used, bag, texts| {
            let numbered = columns.of(bag);
            let entries = (0..used.labels.len()).map(|row| bag.row(row));
            let id = &self.building.gold.ids[used.number];
            rows.query(id, &used.labels, entries, &numbered)?;
            lines.write(texts.as_bytes())?;
            self.done += 1;
            self.observer.written(self.done, self.of);
            Ok(())
        })?;
        let (file, mut written) = rows.finish(columns.len(), columns.unseen())?;
        written.labels = spread(sentences);
        written.alike = sentences.iter().map(|used| used.alike).sum();
        self.files.extend([file, lines.finish()?]);
        Ok(written)
    }

    /// Writes the names of the columns, one a line.
    fn names(&mut self, columns: &Columns) -> Result<(), Error> {
        let mut file = self.folder.create(folder::NAMES)?;
        for name in columns.names().iter() {
            file.write(name.as_bytes())?;
            file.write(b"\n")?;
        }
        self.files.extend([file.finish()?]);
        Ok(())
    }
}

impl Building<'_> {
    /// Writes all files of the corpus, the manifest last.
    pub(super) fn write(
        &self,
        folder: &CorpusFolder,
        mut sources: Value,
        observer: &dyn BuildObserver,
    ) -> Result<Manifest, Error> {
        let sides = self.split()?;
        let (train, test) = (&sides.train, &sides.test);
        let (sentences, skipped) = self.outcome(&sides);
        if train.is_empty() {
            return Err(Error::Failed(format!(
                "no sentence can be used to train on: {}",
                unused_text(&sentences, &skipped, test.len())
            )));
        }
        let mut writing = Writing {
            building: self,
            folder,
            observer,
            of: train.len() + test.len(),
            done: 0,
            files: BTreeMap::new(),
        };
        let (train, test) = match &self.options.columns {
            None => {
                let (train, test) = writing.split(train, test)?;
                (Some(train), test)
            }
            Some(path) => (None, Some(writing.over(train, path, &mut sources)?)),
        };
        let manifest = Manifest {
            schema: SCHEMA,
            version: env!("CARGO_PKG_VERSION"),
            command: "build",
            options: BuildOptions {
                split: sides.split_of(self.options.split),
                ..self.options.clone()
            },
            sources,
            sentences,
            documents: sides.documents,
            one_document: sides.one_document,
            adpositions: if self.pool.is_link_grammar() {
                self.gold.adpositions
            } else {
                0
            },
            scores_tie: self.pool.scores_tie(),
            train,
            test,
            files: writing.files,
            skipped,
        };
        let mut text = serde_json::to_vec_pretty(&manifest).expect("a manifest is JSON");
        text.push(b'\n');
        folder.write_manifest(&text)?;
        Ok(manifest)
    }

    fn outcome(&self, sides: &Sides<'_>) -> (Sentences, Vec<Skipped>) {
        let (train, test) = (sides.train.len(), sides.test.len());
        let malformed = self.gold.skipped.len();
        let read = self.gold.sentences.len() + malformed;
        // Over the columns of another corpus, every used sentence is a test sentence.
        let used = match self.options.columns {
            Some(_) => [0, train],
            None => [train, test],
        };
        let mut sentences = Sentences::new(read, used);
        sentences.count(Reason::Malformed, malformed);
        if sides.repeated > 0 {
            sentences.count(Reason::Repeated, sides.repeated);
        }
        let mut skipped = self.gold.skipped.clone();
        if let Pool::Conllu(file) = &self.pool {
            skipped.extend_from_slice(&file.skipped);
        }
        for unused in &self.unused {
            sentences.count(unused.reason, 1);
            if !matches!(unused.reason, Reason::Single | Reason::Tied) {
                skipped.push(unused.clone());
            }
        }
        (sentences, skipped)
    }
}

/// Why no sentence is left: the counts of all reasons, and the first case of each. `test` sentences are held out.
fn unused_text(sentences: &Sentences, skipped: &[Skipped], test: usize) -> String {
    if sentences.read == 0 {
        return "the treebank has none".to_owned();
    }
    let left_out = sentences.left_out();
    let left_out = left_out.map(|(count, reason)| format!("{count} {}", reason.text()));
    let held_out = (test > 0).then(|| format!("{test} held out to test on, by the test share"));
    let counts: Vec<_> = left_out.chain(held_out).collect();
    let read = counted(sentences.read, "sentence");
    let mut text = format!("of {read}, {}", counts.join(", "));
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
