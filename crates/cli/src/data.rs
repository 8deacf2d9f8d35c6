//! The data that users name: reading them, and their size.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result, bail};
use clap::Args;
use rankrls::data::read::{
    Format, Loaded, Missing, ReadError, ReadErrorKind, ReadOptions, RowQueries, TableOptions,
    names_beside, read_names, read_scores, titles,
};
use rankrls::data::sample::{self, Sample};
use rankrls::data::{DataHash, Packed};
use rankrls::greedy::GreedyRankRls;
use rankrls::greedy::job::TestPath;
use rankrls::metrics::{self, Convention, Metric};
use rankrls::warning::OddColumns;
use rankrls::{ColumnClasses, Dataset, FeatureNames, IndexBase, Model, Remedy, Warning};

use super::args::{at_least_one, one_of, usage};
use super::console::Console;
use super::files::{Files, sizes_beside};
use super::numbers::counted;
use super::session::Session;
use super::settings::TeacherArgs;
use rankrls::memory::{Bytes, Memory};
use rankrls_files::memory;
use rankrls_parses::corpus;

/// How data is to be read.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Data")]
pub(crate) struct DataArgs {
    /// Format of the data: auto takes NAME.csv and NAME.tsv for tables, all else for svmlight
    #[arg(long, value_parser = one_of(Format::ALL, Format::name), default_value_t)]
    format: Format,
    /// Indices of svmlight files count from 0, not 1, in all data of the command
    #[arg(long)]
    zero_based: bool,
    /// Queries of data that have none: the query of each row of DATA, one a line, or the sizes of the
    /// queries; given again, the queries of --validation, then of --test
    #[arg(
        long = "query-file",
        value_name = "FILE",
        conflicts_with = "query_size"
    )]
    queries: Vec<PathBuf>,
    /// Queries of data that have none: every N rows are one
    #[arg(id = "query_size", long = "rows-per-query", value_name = "N", value_parser = at_least_one)]
    query_size: Option<usize>,
    /// Column of a table that has the labels
    #[arg(long, value_name = "COLUMN")]
    label: Option<String>,
    /// Column of a table that has the queries
    #[arg(long, value_name = "COLUMN")]
    query: Option<String>,
    /// Columns of a table to leave out, separated by commas; quote a name with commas as in the table
    // Of this type, as clap takes a plain `Vec` for an argument of several values.
    #[arg(long, value_name = "COLUMNS", value_parser = titles)]
    ignore: Option<std::vec::Vec<String>>,
    /// Read missing values as this number, or as the mean of their query: empty cells, NA, NaN, NULL
    /// and the other words of docs/formats.md
    #[arg(long, value_name = "X|mean", allow_negative_numbers = true)]
    missing: Option<Missing>,
    /// Memory that may be taken, such as 8GiB [default: 95% of the free memory, at least 256 MiB]
    #[arg(long, value_name = "SIZE", help_heading = "Running")]
    max_memory: Option<Bytes>,
}

/// The needs of a command for data besides the features of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// Nothing more.
    Features,
    /// Queries, and labels if there are any.
    Queries,
    /// Queries and labels.
    Labels,
}

impl DataArgs {
    /// The memory limit, if the machine tells its memory.
    pub(crate) fn memory(&self) -> Memory {
        let asked = self.max_memory.map(|Bytes(bytes)| bytes);
        Memory::limit(asked.or_else(memory::budget))
    }

    /// Refuses unknown names with `@`, files of queries for data that the command does not read, queries from standard
    /// input, and options that none of the `data` use.
    pub(crate) fn check<'a, P: AsRef<Path> + ?Sized + 'a>(
        &self,
        data: impl IntoIterator<Item = &'a P>,
    ) -> Result<()> {
        let data: Vec<&Path> = data.into_iter().map(AsRef::as_ref).collect();
        if self.queries.len() > data.len() {
            let (most, found) = (data.len(), self.queries.len());
            return Err(usage(format_args!(
                "--query-file: expected at most {most}, one for each data to read, found {found}"
            )));
        }
        if self.queries.iter().any(|path| path.as_os_str() == "-") {
            return Err(usage("--query-file: expected a file, found standard input"));
        }
        data.iter().try_for_each(|path| check_name(path))?;
        let checked = self.options(0).check_effects(data);
        checked.map_err(|error| match error.kind() {
            ReadErrorKind::Mismatch => usage(error),
            _ => error.into(),
        })
    }

    /// Names the files of `data` and of their queries, each with its argument.
    pub(crate) fn name_files<'a>(
        &self,
        files: &Files,
        data: impl IntoIterator<Item = (&'static str, &'a PathBuf)>,
    ) -> Result<()> {
        let data = data.into_iter();
        for (name, path) in data.filter(|(_, path)| embedded(path).is_none()) {
            files.reads(name, [path])?;
            files.reads(name, &self.names_beside(path))?;
            files.reads(name, &corpus_around(path))?;
        }
        files.reads("--query-file", &self.queries)
    }

    /// Whether the columns of the data at `path` are found by their names.
    pub(crate) fn by_name(&self, path: &Path) -> bool {
        self.format.is_table(path)
    }

    /// The file beside the data at `path` that has the names of their columns, if there is one. A table has its own.
    pub(crate) fn names_beside(&self, path: &Path) -> Option<PathBuf> {
        self.format.names_beside(path)
    }

    /// The options about columns of tables and missing values.
    pub(crate) fn table(&self) -> TableOptions {
        TableOptions {
            label: self.label.clone(),
            query: self.query.clone(),
            missing: self.missing,
            ignore: self.ignore.clone().unwrap_or_default(),
        }
    }

    /// The way to read tables for `model`: unset options are as in its training.
    pub(crate) fn table_for(&self, model: &Model, wanted: Wanted) -> Result<TableOptions> {
        let (mut table, trained) = (self.table(), &model.table);
        if let (Some(given), Some(expected)) = (table.missing, trained.missing)
            && given != expected
        {
            return Err(usage(format_args!(
                "--missing {given}: the model was trained with --missing {expected}, which it keeps: \
                 leave the option out, or train a model with --missing {given}"
            )));
        }
        table.missing = table.missing.or(trained.missing);
        let given = !self.queries.is_empty() || self.query_size.is_some();
        let means = table.missing == Some(Missing::Mean);
        if table.query.is_none() && !given && (wanted != Wanted::Features || means) {
            table.query.clone_from(&trained.query);
        }
        if table.label.is_none() && wanted != Wanted::Features {
            table.label.clone_from(&trained.label);
        }
        Ok(table)
    }

    /// The options to read DATA, with `held` bytes in use.
    pub(crate) fn options(&self, held: u64) -> ReadOptions {
        self.options_of(0, held).table(self.table())
    }

    /// The options to read the `number`th data, counted from 0.
    fn options_of(&self, number: usize, held: u64) -> ReadOptions {
        let path = self.queries.get(number);
        let file = path.map(|path| RowQueries::File(path.clone()));
        ReadOptions::new()
            .format(self.format)
            .zero_based(self.zero_based)
            .row_queries(file.or(self.query_size.map(RowQueries::Size)))
            // Nothing looks for columns that the training data left out.
            .table(TableOptions {
                ignore: Vec::new(),
                ..self.table()
            })
            .memory(self.memory().holding(held))
    }

    /// Refuses names for a table, which names its own columns.
    fn refuse_names(&self, names: Option<&PathBuf>, path: &Path) -> Result<()> {
        if names.is_none() || !self.by_name(path) {
            return Ok(());
        }
        let path = path.display();
        Err(usage(format_args!(
            "--names: expected svmlight text, whose columns have no names, found the table {path}, which names its own"
        )))
    }

    /// Refuses data at `path` with other column names than in `model`.
    pub(crate) fn check_names(
        &self,
        model: &Model,
        path: &Path,
        names: &ColumnNames,
    ) -> Result<()> {
        self.refuse_names(names.names.as_ref(), path)?;
        // Columns of tables are found by their names.
        if self.by_name(path) {
            return Ok(());
        }
        let memory = self.memory().holding(model.memory());
        names.check(path, memory, |names, file| model.check_names(names, file))
    }

    /// Reads data for `model`, which has the number of columns, and the unset options of tables. The base of
    /// svmlight text is independent of it. Refuses data whose columns have other names than in the model, by the
    /// file `names` or one beside the data.
    pub(crate) fn read_for(
        &self,
        model: &Model,
        path: &Path,
        names: &ColumnNames,
        wanted: Wanted,
        console: Console,
    ) -> Result<Loaded> {
        self.check([path])?;
        self.check_names(model, path, names)?;
        let of_model = || model.feature_names();
        let options = self
            .options(model.memory())
            .table(self.table_for(model, wanted)?)
            .width(model.data.columns)
            .columns(self.by_name(path).then(of_model))
            .unlabelled(wanted != Wanted::Labels);
        let loaded = read(&options, path, console)?;
        let from_zero = model.index_base == IndexBase::Zero && !self.zero_based;
        if from_zero && !self.by_name(path) && ends_one_early(&loaded.dataset) {
            let path = path.display();
            console.warn(format_args!(
                "{path}: columns are counted from 1, and were counted from 0 in the data of the model: if they are here, \
                 too, pass --zero-based"
            ));
        }
        if model.expansion.is_some() && loaded.dropped_entries > 0 {
            return Err(model.other_columns()).with_context(|| path.display().to_string());
        }
        console.warn_all(dropped(&loaded, "the model"));
        Ok(loaded)
    }
}

/// Whether the last column but one is the last with entries, as for a wrong index base.
fn ends_one_early(data: &Dataset<'_>) -> bool {
    let stored = data.stored_columns().checked_sub(1);
    stored.is_some_and(|last| data.feature(last) as usize + 2 == data.width())
}

/// The files of the corpus around the file at `path`; empty if there is no corpus.
fn corpus_around(path: &Path) -> Vec<PathBuf> {
    let files = corpus::FILES.map(|file| path.with_file_name(file));
    let is_corpus = path.with_file_name("manifest.json").is_file();
    if is_corpus && files.iter().any(|file| file == path) {
        files.into()
    } else {
        Vec::new()
    }
}

/// Names by which data find the columns of a model.
#[derive(Debug, Default, Args)]
pub(crate) struct ColumnNames {
    /// Names of the columns of DATA: a model that has other names for them is refused. A table has
    /// its own [default: NAME.names.txt or names.txt.zst beside DATA]
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    names: Option<PathBuf>,
}

impl ColumnNames {
    /// Names the file, if the user gives it.
    pub(crate) fn name_file(&self, files: &Files) -> Result<()> {
        files.reads("--names", &self.names)
    }

    /// Lets `same` judge the names of the data at `path`, and their file, if there are any.
    fn check(
        &self,
        path: &Path,
        memory: Memory,
        same: impl FnOnce(&FeatureNames, &Path) -> Result<(), ReadError>,
    ) -> Result<()> {
        if let Some(file) = self.names.clone().or_else(|| names_beside(path)) {
            return Ok(same(&read_names(&file, memory)?, &file)?);
        }
        if let Some(sample) = embedded(path) {
            same(&sample::names(sample), path)?;
        }
        Ok(())
    }
}

/// Training data, and the reading of all data of the command.
#[derive(Debug, Args)]
pub(crate) struct TrainingData {
    /// Training data, plain or compressed by gzip or zstd; - is standard input, and
    /// @sentences and @documents are small corpora that come with the program
    #[arg(value_name = "DATA", help_heading = None::<&str>)]
    pub(crate) path: PathBuf,
    #[command(flatten)]
    pub(crate) read: DataArgs,
    /// Names of the features: the first line names the first column
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    pub(crate) names: Option<PathBuf>,
}

impl TrainingData {
    /// Names the files of the training data and of `others`, each with its argument.
    pub(crate) fn name_files<'a>(
        &'a self,
        files: &Files,
        others: impl IntoIterator<Item = (&'static str, Option<&'a PathBuf>)>,
    ) -> Result<()> {
        let others = others.into_iter();
        let others = others.filter_map(|(name, path)| Some((name, path?)));
        self.read
            .name_files(files, std::iter::once(("DATA", &self.path)).chain(others))?;
        files.reads("--names", &self.names)
    }

    /// The data, and the seconds of reading them.
    pub(crate) fn train(&self, console: Console) -> Result<(Dataset<'static>, f64)> {
        let (loaded, seconds) = self.load(false, console)?;
        Ok((loaded.dataset, seconds))
    }

    /// The data, whose entries stay `packed` or not, and the seconds of reading them.
    fn load(&self, packed: bool, console: Console) -> Result<(Loaded, f64)> {
        let begin = Instant::now();
        let options = self.read.options(0).packed(packed);
        let loaded = load_named(
            &self.read,
            options,
            self.names.as_ref(),
            &self.path,
            console,
        )?;
        let train = &loaded.dataset;
        if train.queries().len() == 1
            && train.queries().ids().is_none()
            && let Some(words) = sizes_beside(&self.path)
        {
            console.warn(format_args!("the data are one query: {words}"));
        }
        Ok((loaded, begin.elapsed().as_secs_f64()))
    }

    /// The `number`th data, counted from 0, with the columns of `train`; `held` bytes are in use.
    pub(crate) fn other(
        &self,
        number: usize,
        path: &Path,
        train: &Dataset<'_>,
        held: u64,
        session: &Session<'_>,
    ) -> Result<Loaded> {
        let console = session.console;
        let of_train = || train.names().cloned().unwrap_or_default();
        let names = self.read.by_name(path).then(of_train);
        if let Some(known) = train.names().filter(|_| names.is_none()) {
            let base = train.index_base();
            let memory = self.read.memory().holding(held);
            ColumnNames::default().check(path, memory, |names, file| {
                names.check_same((0..).zip(known.iter()), base, "the training data", file)
            })?;
        }
        let options = self.read.options_of(number, held).columns(names);
        let loaded = read(&options.width(train.width()), path, console)?;
        console.warn_all(dropped(&loaded, "the training data"));
        Ok(loaded)
    }
}

/// Scores from a file for the rows of `dataset`, in its order, read within `memory`; messages call the data `name`.
pub(crate) fn scores_of(
    dataset: &Dataset<'_>,
    name: impl Display,
    path: &Path,
    memory: Memory,
) -> Result<Vec<f64>> {
    let scores = read_scores(path, memory.holding(dataset.memory()))?;
    let (rows, found) = (dataset.rows(), scores.len());
    if rows != found {
        let path = path.display();
        bail!("{path}: expected {rows} scores, one for each row of {name}, found {found}");
    }
    Ok(dataset.in_row_order(&scores)?)
}

/// The data of a selection.
pub(crate) struct Input {
    /// Without entries if these are packed.
    pub(crate) train: Dataset<'static>,
    /// Its hash, where the entries were packed.
    hash: Option<DataHash>,
    /// The table options of the training data, which their model keeps.
    pub(crate) table: TableOptions,
    pub(crate) validation: Option<Loaded>,
    pub(crate) test: Option<Loaded>,
    /// Seconds of reading the training data.
    pub(crate) seconds: f64,
}

impl Input {
    /// Reads the data; the entries of the training data may stay `packed`.
    pub(crate) fn read(
        data: &TrainingData,
        packed: bool,
        teacher: &TeacherArgs,
        [validation, test]: [Option<&PathBuf>; 2],
        session: &Session<'_>,
    ) -> Result<(Self, Option<Packed>)> {
        let (loaded, seconds) = data.load(packed, session.console)?;
        let (mut train, entries) = (loaded.dataset, loaded.packed);
        let memory = data.read.memory().holding(entries.memory());
        if let Some(path) = &teacher.teacher {
            let scores = scores_of(&train, "the data", path, memory)?;
            let with_scores = train.with_teacher(scores);
            train = with_scores.with_context(|| path.display().to_string())?;
        }
        let (mut number, mut held) = (0, train.memory() + entries.memory());
        let mut other = |path: &PathBuf| -> Result<Loaded> {
            number += 1;
            let loaded = data.other(number, path, &train, held, session)?;
            held += loaded.dataset.memory();
            Ok(loaded)
        };
        let input = Self {
            validation: validation.map(&mut other).transpose()?,
            test: test.map(&mut other).transpose()?,
            train,
            hash: None,
            table: data.read.table(),
            seconds,
        };
        Ok((input, packed.then_some(entries)))
    }

    /// The candidates among the columns of `packed` entries, which they replace. Warns of columns.
    pub(crate) fn unpacked(
        &mut self,
        packed: Packed,
        options: &GreedyRankRls,
        console: Console,
    ) -> Result<ColumnClasses> {
        let mut odd = OddColumns::default();
        let (weight, scale) = (options.query_weight, options.column_scale());
        let memory = options.memory.holding(self.train.memory());
        let look = |columns: &Dataset<'_>| odd.look(columns);
        let (classes, hash) =
            ColumnClasses::of_packed(packed, &self.train, weight, scale, memory, (1, 0), look)?;
        self.hash = Some(hash);
        console.warn_all(odd.warnings(&self.train));
        console.warn_all(Warning::of_units(&classes, &self.train));
        Ok(classes)
    }

    /// Refuses test data, read from `path`, that do not fit the measures, and warns of labels with huge gains.
    pub(crate) fn check_measures(
        &self,
        path: Option<&PathBuf>,
        metrics: &[Metric],
        console: Console,
    ) -> Result<()> {
        if let Some((test, path)) = self.test.as_ref().zip(path) {
            check_queries(test, path)?;
            check_labels(metrics, test, path)?;
            console.warn_all(Warning::of_grades(metrics, test.dataset.labels()));
        }
        Ok(())
    }

    /// The hash of the training data.
    pub(crate) fn hash(&self) -> DataHash {
        self.hash.unwrap_or_else(|| DataHash::of(&self.train))
    }

    /// Warns where the test data, or the validation data that `judge` models, are the training data, which have so
    /// many `nonzeros`. Packed entries have to be classes by then.
    pub(crate) fn warn_of_seen(&self, judge: bool, nonzeros: usize, console: Console) {
        let validation = self.validation.as_ref().filter(|_| judge);
        for other in [validation, self.test.as_ref()].into_iter().flatten() {
            console.warn_all(Warning::of_test(
                &self.train,
                nonzeros,
                || self.hash(),
                &other.dataset,
            ));
        }
    }

    /// Measures of the test data along a selection, if there are any.
    pub(crate) fn test_path(
        &self,
        metrics: &[Metric],
        convention: Convention,
    ) -> Option<TestPath<'_>> {
        let test = self.test.as_ref()?;
        Some(TestPath::new(&test.dataset, metrics, convention))
    }

    /// The memory for a selection, with all data except the training data counted as held.
    pub(crate) fn others_in(&self, memory: Memory) -> Memory {
        let others = [&self.validation, &self.test].into_iter().flatten();
        let others = others.map(|loaded| loaded.dataset.memory());
        others.fold(memory, Memory::holding)
    }
}

/// Data that come with the program.
const EMBEDDED: &[Sample] = sample::CORPORA.as_flattened();

pub(crate) fn embedded(path: &Path) -> Option<Sample> {
    let named = |sample: &&Sample| Path::new(sample.name) == path;
    EMBEDDED.iter().find(named).copied()
}

/// Refuses a name in the form of data that come with the program if there is no such data and no such file.
fn check_name(path: &Path) -> Result<()> {
    let Some(name) = path.to_str().filter(|name| name.starts_with('@')) else {
        return Ok(());
    };
    if embedded(path).is_some() || path.exists() {
        return Ok(());
    }
    let names: Vec<&str> = EMBEDDED.iter().map(|sample| sample.name).collect();
    let names = names.join(", ");
    bail!("there is no file {name}: the data that come with the program are {names}")
}

/// Reads a file, or data that come with the program, under a spinner.
pub(crate) fn read(options: &ReadOptions, path: &Path, console: Console) -> Result<Loaded> {
    let spinner = console.spinner(&format!("reading {}", path.display()));
    let read = match embedded(path) {
        Some(sample) => options.read_from(sample.rows, sample.name),
        None => options.read(path),
    };
    spinner.finish_and_clear();
    let loaded = read?;
    console.warn_all(Warning::of_loaded(&loaded));
    Ok(loaded)
}

/// Reads data with the names of the file `names`, of one beside the data, or of embedded data.
pub(crate) fn read_named(
    reading: &DataArgs,
    names: Option<&PathBuf>,
    path: &Path,
    console: Console,
) -> Result<Dataset<'static>> {
    Ok(load_named(reading, reading.options(0), names, path, console)?.dataset)
}

fn load_named(
    reading: &DataArgs,
    options: ReadOptions,
    names: Option<&PathBuf>,
    path: &Path,
    console: Console,
) -> Result<Loaded> {
    reading.refuse_names(names, path)?;
    let options = options.names(names.cloned()).names_beside(true);
    let mut loaded = read(&options, path, console)?;
    if let (None, Some(sample)) = (names, embedded(path)) {
        // The test data end with fewer columns.
        let (known, columns) = (sample::names(sample), loaded.dataset.width());
        let names = known.iter().take(columns).collect();
        loaded.dataset = loaded.dataset.with_names(names)?;
    }
    console.warn_all(Warning::of_columns(&loaded.dataset));
    Ok(loaded)
}

/// A warning of columns that were read but do not exist in `to`, such as a model.
pub(crate) fn dropped(loaded: &Loaded, to: &str) -> Option<Warning> {
    let entries = counted(loaded.dropped_entries, "non-zero");
    let columns = counted(loaded.dropped_columns, "column");
    let mut text = format!("dropped {entries} in {columns} unknown to {to}");
    let data = &loaded.dataset;
    let has_first = data.stored_columns() > 0 && data.feature(0) == 0;
    if data.index_base() == IndexBase::Zero && loaded.dropped_columns == 1 && !has_first {
        text += ", and no row has the index 0: --zero-based is of all data; if these count from 1, write the others by \
                 `rankrls convert --zero-based`, and leave it out";
    }
    (loaded.dropped_columns > 0).then_some(text.into())
}

/// Refuses rows without queries.
pub(crate) fn check_queries(loaded: &Loaded, path: &Path) -> Result<()> {
    let queries = loaded.dataset.queries();
    if queries.len() > 1 || queries.ids().is_some() {
        return Ok(());
    }
    let sizes = sizes_beside(path).map_or_else(String::new, |file| format!("{file}; "));
    let (path, rows) = (path.display(), queries.rows());
    bail!(
        "{path}: measures are means over queries, found none: {sizes}{}; if all rows are one \
         query, pass --rows-per-query {rows}",
        Remedy::GiveQueries
    );
}

/// Refuses labels that do not fit the measures, by their rows in the file.
pub(crate) fn check_labels(metrics: &[Metric], loaded: &Loaded, path: &Path) -> Result<()> {
    let data = &loaded.dataset;
    let (labels, queries, rows) = (data.labels(), data.queries(), data.input_rows());
    let Err(error) = metrics::check_labels(metrics, labels, queries, rows) else {
        return Ok(());
    };
    let below = labels.iter().any(|&label| label < 0.0);
    let remedy = if below && metrics.iter().any(|metric| metric.labels().are_grades()) {
        " (name them by --metrics)"
    } else {
        ""
    };
    bail!("{}: {error}{remedy}", path.display())
}
