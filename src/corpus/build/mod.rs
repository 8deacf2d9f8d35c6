//! Corpora of real parses: sentences with gold dependencies and candidate parses become queries
//! and rows.
//!
//! A sentence is a query, a candidate parse a row; the label is the [F1](label) of its arcs
//! against the gold tree. Features come from the candidate alone, by [templates](TABLE). Candidates
//! come from the [Link Grammar parser](crate::linkgrammar) or from [files](CandidateFormat).
//!
//! **What is written.** `PREFIX.svm.zst` to train on, `PREFIX-test.svm.zst` held out, over the
//! columns of training, `PREFIX-names.txt.zst`, and `PREFIX-manifest.json` ([`Manifest`]); each
//! file appears whole or not at all, the manifest last. The same sources, options and parser give
//! the same bytes at any number of threads, as long as no sentence runs out of time.
//!
//! **Unfinished runs.** What the parser finds goes to `PREFIX.journal` at once, sentence by sentence.
//! A run that was ended goes on from there; what it ends with is what a whole run would have.
//!
//! **New sentences.** With [`BuildOptions::columns`] the rows of a treebank, with or without trees,
//! are written over the columns of another corpus, for a model of that to rank: `PREFIX.svm.zst`,
//! the manifest, and on request `PREFIX-arcs.txt.zst` with the arcs of each row.
//!
//! Sentences that cannot be used are left out, counted, and, but for those with one candidate or
//! equal labels, named with file and line in [`Manifest::skipped`].

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rayon::prelude::*;

use super::bag::Bag;
use crate::dataset::read::read_names;
use crate::linkgrammar::{self, LinkParser};

mod columns;
mod error;
mod journal;
pub mod label;
mod options;
mod parse;
mod parsing;
mod report;
mod source;
mod split;
mod templates;
mod writing;

use columns::{Columns, Counts};
use journal::{Journal, Key};
use source::{FileCandidates, Found, Pool, Treebank};
use writing::{HashedFile, Rows};

pub use error::BuildError;
pub use options::{
    BuildOptions, Compression, InvalidShare, Labels, Malformed, Punctuation, Share, Values,
};
pub use report::{
    CandidateFile, FileHash, Files, Manifest, Options as ManifestOptions, Parser, Part, Reason,
    Sentences, Skipped, Sources, Spread,
};
pub use source::CandidateFormat;
pub use templates::{TABLE, Template, Templates, UnknownTemplate};

/// Sentences described at a time; nothing depends on it.
const BATCH: usize = 64;

/// Where candidates come from.
#[derive(Debug, Clone)]
pub enum Candidates {
    /// The Link Grammar parser. [`BuildOptions::candidates`] goes before its number of linkages.
    LinkGrammar {
        /// How to parse.
        options: linkgrammar::Options,
        /// Whether to go on with the journal of a run that was ended.
        resume: bool,
        /// Whether to keep the journal, so that other features can be had without parsing again.
        keep_journal: bool,
    },
    /// A file.
    File {
        /// The file.
        path: PathBuf,
        /// How it is written.
        format: CandidateFormat,
    },
}

/// Told how far a corpus is.
pub trait BuildObserver: Sync {
    /// So many sentences of so many are parsed.
    fn parsed(&self, _done: usize, _of: usize) {}

    /// So many sentences of so many are written.
    fn written(&self, _done: usize, _of: usize) {}

    /// Whether to end: asked after every sentence that was parsed.
    fn interrupted(&self) -> bool {
        false
    }
}

impl BuildObserver for () {}

/// Builds a corpus of the sentences in the CoNLL-U file `treebank`; the files' names begin with
/// `prefix`. Time is the parser's for the most part: it runs once a thread of the current rayon
/// pool. Memory is that of the treebank, of the file of candidates and of the names of the columns.
///
/// # Errors
/// [`BuildError`]: options out of range, files that cannot be read or written, malformed
/// sentences unless they are skipped, a parser that does not work, or nothing to train on.
pub fn build(
    treebank: &Path,
    candidates: &Candidates,
    prefix: &Path,
    options: &BuildOptions,
    observer: &dyn BuildObserver,
) -> Result<Manifest, BuildError> {
    options.validate()?;
    check_relations(candidates, options)?;
    let gold = Treebank::read(treebank, options.malformed, options.columns.is_some())?;
    let names = FileNames::new(prefix, options.compression);
    let (pool, sources, keep) = pool(treebank, &gold, candidates, &names, options, observer)?;
    let mut building = Building::judge(gold, pool, options)?;
    building.split();
    let manifest = building.write(&names, sources, observer)?;
    if let Pool::Journal(journal) = building.pool
        && !keep
    {
        journal.remove()?;
    }
    Ok(manifest)
}

fn check_relations(candidates: &Candidates, options: &BuildOptions) -> Result<(), BuildError> {
    if options.labels == Labels::Unlabelled {
        return Ok(());
    }
    match candidates {
        Candidates::LinkGrammar { .. } => Err(BuildError::Relations("Link Grammar")),
        Candidates::File { format, .. } if *format == CandidateFormat::Brackets => {
            Err(BuildError::Relations("phrases in brackets"))
        }
        Candidates::File { .. } => Ok(()),
    }
}

/// The files of a corpus.
#[derive(Debug)]
struct FileNames {
    train: PathBuf,
    test: PathBuf,
    names: PathBuf,
    arcs: PathBuf,
    manifest: PathBuf,
    journal: PathBuf,
}

impl FileNames {
    fn new(prefix: &Path, compression: Compression) -> Self {
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
            train: with(".svm", compressed),
            test: with("-test.svm", compressed),
            names: with("-names.txt", compressed),
            arcs: with("-arcs.txt", compressed),
            manifest: with("-manifest.json", ""),
            journal: with(".journal", ""),
        }
    }
}

/// Has the sentences parsed, or reads their parses; whether a journal is to be kept.
fn pool(
    treebank: &Path,
    gold: &Treebank,
    candidates: &Candidates,
    names: &FileNames,
    options: &BuildOptions,
    observer: &dyn BuildObserver,
) -> Result<(Pool, Sources, bool), BuildError> {
    let mut sources = Sources {
        treebank: FileHash {
            file: report::file_name(treebank),
            blake3: gold.hash.clone(),
        },
        candidates: None,
        parser: None,
        columns: None,
    };
    match candidates {
        Candidates::File { path, format } => {
            let file = FileCandidates::read(path, *format, gold, options.malformed)?;
            sources.candidates = Some(CandidateFile {
                hash: FileHash {
                    file: report::file_name(path),
                    blake3: file.hash.clone(),
                },
                format: format.name(),
            });
            Ok((Pool::File(file), sources, false))
        }
        Candidates::LinkGrammar {
            options: how,
            resume,
            keep_journal,
        } => {
            let how = linkgrammar::Options {
                linkages: options.candidates,
                limit: how.limit.max(options.candidates),
                ..how.clone()
            };
            let parser = LinkParser::start(&how)?;
            let key = key(gold, &how, &parser);
            sources.parser = Some(Parser {
                version: key.parser.clone(),
                dictionary: key.dictionary.clone(),
                limit: key.limit,
                time_limit: key.time_limit,
            });
            let mut journal = if *resume {
                Journal::resume(&names.journal, &key)?
            } else {
                Journal::create(&names.journal, &key)?
            };
            parsing::parse(&gold.sentences, parser, &how, &mut journal, observer)?;
            Ok((Pool::Journal(journal), sources, *keep_journal))
        }
    }
}

fn key(gold: &Treebank, how: &linkgrammar::Options, parser: &LinkParser) -> Key {
    Key {
        treebank: gold.hash.clone(),
        sentences: gold.sentences.len(),
        parser: parser.version().parser.clone(),
        dictionary: parser.version().dictionary.clone(),
        linkages: how.linkages,
        limit: how.limit,
        time_limit: how.time_limit.as_secs(),
    }
}

/// What is known of a sentence.
#[derive(Debug)]
enum Judged {
    Used { labels: Vec<i32>, test: bool },
    Unused(Skipped),
}

/// A corpus in the making.
struct Building<'o> {
    gold: Treebank,
    pool: Pool,
    judged: Vec<Judged>,
    options: &'o BuildOptions,
}

impl<'o> Building<'o> {
    /// Labels the candidates.
    fn judge(gold: Treebank, pool: Pool, options: &'o BuildOptions) -> Result<Self, BuildError> {
        let mut building = Self {
            gold,
            pool,
            judged: Vec::new(),
            options,
        };
        let judged: Result<_, BuildError> = (0..building.gold.sentences.len())
            .into_par_iter()
            .map(|number| building.judge_one(number))
            .collect();
        building.judged = judged?;
        Ok(building)
    }

    fn found(&self, number: usize) -> Result<Found, BuildError> {
        let sentence = &self.gold.sentences[number];
        self.pool.of(number, sentence, self.options.candidates)
    }

    fn judge_one(&self, number: usize) -> Result<Judged, BuildError> {
        let sentence = &self.gold.sentences[number];
        let unused = |reason, place: Option<(String, u64)>, detail| {
            let (file, line) = place.unwrap_or_else(|| {
                let name = report::file_name(Path::new(&self.gold.name));
                (name, sentence.line())
            });
            Ok(Judged::Unused(Skipped {
                file,
                line,
                id: sentence.id().map(str::to_owned),
                reason,
                detail,
            }))
        };
        let parses = match self.found(number)? {
            Found::Parses(parses) => parses,
            Found::None(reason, place, detail) => return unused(reason, place, detail),
        };
        let (test, foreign) = (false, self.options.columns.is_some());
        if !sentence.has_tree() {
            let labels = vec![0; parses.len()];
            return Ok(Judged::Used { labels, test });
        }
        if parses.len() < 2 && !foreign {
            return unused(Reason::Single, None, String::new());
        }
        let labels = label::f1(
            sentence,
            &parses,
            self.options.labels,
            self.options.punctuation,
        );
        if super::candidates::all_same(&labels) && !foreign {
            return unused(Reason::Tied, None, String::new());
        }
        Ok(Judged::Used { labels, test })
    }

    /// Decides which of the sentences that can be used are held out.
    fn split(&mut self) {
        if self.options.columns.is_some() {
            return;
        }
        let sentences = self.gold.sentences.iter();
        let mut used: Vec<_> = (self.judged.iter_mut().zip(sentences))
            .filter_map(|(judged, sentence)| match judged {
                Judged::Used { test, .. } => Some((test, sentence.text())),
                Judged::Unused(_) => None,
            })
            .collect();
        let texts: Vec<&str> = used.iter().map(|(_, text)| *text).collect();
        let held_out = split::held_out(&texts, self.options.test_share, self.options.seed);
        for ((test, _), held_out) in used.iter_mut().zip(held_out) {
            **test = held_out;
        }
    }

    /// Numbers of the sentences on one side of the split.
    fn side(&self, side: bool) -> Vec<usize> {
        let wanted = |judged: &Judged| matches!(judged, Judged::Used { test, .. } if *test == side);
        let judged = self.judged.iter().enumerate();
        judged
            .filter(|(_, judged)| wanted(judged))
            .map(|(number, _)| number)
            .collect()
    }

    /// Describes sentences, in their order.
    fn describe(
        &self,
        numbers: &[usize],
        mut take: impl FnMut(usize, &Bag) -> Result<(), BuildError>,
    ) -> Result<(), BuildError> {
        for batch in numbers.chunks(BATCH) {
            let bags: Result<Vec<Bag>, BuildError> =
                batch.par_iter().map(|&number| self.bag(number)).collect();
            for (&number, bag) in batch.iter().zip(&bags?) {
                take(number, bag)?;
            }
        }
        Ok(())
    }

    fn bag(&self, number: usize) -> Result<Bag, BuildError> {
        let mut bag = Bag::default();
        if let Found::Parses(parses) = self.found(number)? {
            for parse in &parses {
                self.options.templates.describe(parse, &mut bag);
                let words = i32::try_from(parse.words.len()).unwrap_or(i32::MAX);
                bag.revalue_last_row(|name, units| self.value(name, units, words));
            }
        }
        Ok(bag)
    }

    /// The value of a feature that a parse of so many words has `units` of.
    fn value(&self, name: &str, units: i32, words: i32) -> i32 {
        use super::bag::ONE;
        if name.starts_with(templates::COST) {
            return units;
        }
        match self.options.values {
            Values::Count => units,
            Values::Binary => ONE,
            Values::Share => (units + words / 2) / words.max(1),
        }
    }

    fn write(
        &self,
        names: &FileNames,
        mut sources: Sources,
        observer: &dyn BuildObserver,
    ) -> Result<Manifest, BuildError> {
        let (train, test) = (self.side(false), self.side(true));
        let (sentences, skipped) = self.outcome(&train, &test);
        if train.is_empty() {
            return Err(BuildError::Nothing(unused_text(&sentences)));
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
            schema: "rankrls.corpus/1",
            version: env!("CARGO_PKG_VERSION"),
            command: "corpus build",
            options: ManifestOptions::of(self.options),
            sources,
            sentences,
            train: train_part,
            test: test_part,
            files,
            skipped,
        };
        write_manifest(&names.manifest, &manifest)?;
        Ok(manifest)
    }

    /// The columns that are there from the beginning: all, if rare features are left out.
    fn columns(&self, train: &[usize]) -> Result<Columns, BuildError> {
        if self.options.min_count == 1 {
            return Ok(Columns::open());
        }
        let mut counts = Counts::default();
        self.describe(train, |_, bag| {
            counts.add(bag);
            Ok(())
        })?;
        Ok(counts.columns(self.options.min_count))
    }

    fn outcome(&self, train: &[usize], test: &[usize]) -> (Sentences, Vec<Skipped>) {
        let malformed = self.gold.skipped.len();
        // All that is used is written for another corpus to rank.
        let foreign = self.options.columns.is_some();
        let mut sentences = Sentences {
            read: self.gold.sentences.len() + malformed,
            malformed,
            train: if foreign { 0 } else { train.len() },
            test: if foreign { train.len() } else { test.len() },
            ..Sentences::default()
        };
        let mut skipped = self.gold.skipped.clone();
        if let Pool::File(file) = &self.pool {
            skipped.extend_from_slice(&file.skipped);
        }
        for judged in &self.judged {
            let Judged::Unused(unused) = judged else {
                continue;
            };
            sentences.count(unused.reason);
            if !matches!(unused.reason, Reason::Single | Reason::Tied) {
                skipped.push(unused.clone());
            }
        }
        (sentences, skipped)
    }
}

/// The files while they are written.
struct Writing<'b> {
    building: &'b Building<'b>,
    names: &'b FileNames,
    observer: &'b dyn BuildObserver,
    /// Sentences to write.
    of: usize,
}

/// The files, what to train on, and what is held out.
type Written = (Files, Option<Part>, Option<Part>);

impl Writing<'_> {
    /// A corpus to train on and one that is held out.
    fn split(&self, train: &[usize], test: &[usize]) -> Result<Written, BuildError> {
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
    fn over(
        &self,
        numbers: &[usize],
        path: &Path,
        sources: &mut Sources,
    ) -> Result<Written, BuildError> {
        let names = read_names(path, None)?;
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

/// Why no sentence is left.
fn unused_text(sentences: &Sentences) -> String {
    let counts = [
        (sentences.malformed, Reason::Malformed),
        (sentences.failed, Reason::Failed),
        (sentences.timed_out, Reason::TimedOut),
        (sentences.misaligned, Reason::Misaligned),
        (sentences.missing, Reason::Missing),
        (sentences.single, Reason::Single),
        (sentences.tied, Reason::Tied),
    ];
    let counts = counts.iter().filter(|(count, _)| *count > 0);
    let counts: Vec<_> = counts
        .map(|(count, reason)| format!("{count} {}", reason.text()))
        .collect();
    format!("of {} sentences, {}", sentences.read, counts.join(", "))
}

fn write_names(path: &Path, columns: &Columns) -> Result<FileHash, BuildError> {
    let mut file = HashedFile::create(path)?;
    let mut text = Vec::new();
    for name in columns.names().iter() {
        text.extend_from_slice(name.as_bytes());
        text.push(b'\n');
        if text.len() > 1 << 16 {
            file.write(&text)?;
            text.clear();
        }
    }
    file.write(&text)?;
    file.finish()
}

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
