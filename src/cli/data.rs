//! Data files on the command line.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use rankrls::data::read::{Format, Loaded, ReadOptions};
use rankrls::data::sample;
use rankrls::{Dataset, FeatureNames, IndexBase, Model, memory};

use super::console::Console;
use super::numbers::counted;
use super::usage;
use rankrls::memory::Bytes;

/// How data is to be read.
#[derive(Debug, Args)]
pub(crate) struct DataArgs {
    /// Format of the data: auto takes NAME.features for RLScore's triplets, NAME.npz for a matrix of
    /// SciPy, all else for svmlight
    #[arg(long, value_enum, default_value_t = FormatName::Auto)]
    format: FormatName,
    /// Bring together the rows of a query that comes back, instead of refusing it
    #[arg(long)]
    regroup: bool,
    /// Memory that may be taken, such as 8GiB [default: what is free less a twentieth, at least
    /// 256 MiB]
    #[arg(long, value_name = "SIZE")]
    max_memory: Option<Bytes>,
}

/// A format by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatName {
    Auto,
    Svmlight,
    Rlscore,
    Npz,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Self {
        match name {
            FormatName::Auto => Self::Auto,
            FormatName::Svmlight => Self::Svmlight,
            FormatName::Rlscore => Self::Rlscore,
            FormatName::Npz => Self::Npz,
        }
    }
}

/// What the columns of training data are called.
#[derive(Debug, Args)]
pub(crate) struct ColumnArgs {
    /// Indices of svmlight files count from 0, not 1
    #[arg(long)]
    pub(crate) zero_based: bool,
    /// Names of the features: the first line names the first column
    #[arg(long, value_name = "FILE")]
    pub(crate) names: Option<PathBuf>,
}

impl DataArgs {
    /// Bytes that may be taken, where the machine says what it has.
    pub(crate) fn budget(&self) -> Option<u64> {
        let asked = self.max_memory.map(|Bytes(bytes)| bytes);
        asked.or_else(memory::budget)
    }

    /// The same as arguments.
    pub(crate) fn arguments(&self) -> Vec<String> {
        let format = self.format.to_possible_value();
        let mut arguments: Vec<String> = format
            .map(|format| format!("--format={}", format.get_name()))
            .into_iter()
            .collect();
        if self.regroup {
            arguments.push("--regroup".to_owned());
        }
        if let Some(Bytes(bytes)) = self.max_memory {
            arguments.push(format!("--max-memory={bytes}"));
        }
        arguments
    }

    /// How to read, with `held` bytes taken already.
    pub(crate) fn options(&self, held: u64) -> ReadOptions {
        ReadOptions::new()
            .format(self.format.into())
            .regroup(self.regroup)
            .max_memory(self.budget().map(|bytes| bytes.saturating_sub(held)))
    }

    /// Reads data for `model`, which says how many columns there are and how svmlight files
    /// count them.
    pub(crate) fn read_for(&self, model: &Model, path: &Path, console: Console) -> Result<Loaded> {
        let options = self
            .options(0)
            .width(model.data().columns)
            .zero_based(model.index_base() == IndexBase::Zero);
        let loaded = read(&options, path, console)?;
        warn_dropped(&loaded, "the model", console);
        Ok(loaded)
    }
}

/// The training data that comes with the program.
const TRAIN: &str = "@parses";

/// The test data to it.
const TEST: &str = "@parses-test";

fn embedded(path: &Path) -> Option<&'static [u8]> {
    match path.to_str() {
        Some(TRAIN) => Some(sample::TRAIN),
        Some(TEST) => Some(sample::TEST),
        _ => None,
    }
}

/// The names of the columns of `path`, where they come with the program.
pub(crate) fn embedded_names(path: &Path) -> Option<FeatureNames> {
    embedded(path).map(|_| sample::names())
}

/// Reads a file, or what comes with the program, under a spinner.
pub(crate) fn read(options: &ReadOptions, path: &Path, console: Console) -> Result<Loaded> {
    let spinner = console.spinner(format!("reading {}", path.display()));
    tracing::info!(file = %path.display(), "reading");
    let loaded = match embedded(path) {
        Some(bytes) => options.read_from(bytes, &path.to_string_lossy()),
        None => options.read(path),
    };
    spinner.finish_and_clear();
    let loaded = loaded?;
    let (data, file) = (&loaded.dataset, path.display());
    let (rows, queries, columns) = (data.rows(), data.queries().len(), data.width());
    tracing::info!(%file, rows, queries, columns, nonzeros = data.nonzeros(), "read");
    Ok(loaded)
}

/// Says what of the data is unknown to what it is read for.
pub(crate) fn warn_dropped(loaded: &Loaded, to: &str, console: Console) {
    if loaded.dropped_columns > 0 {
        let entries = counted(loaded.dropped_entries, "non-zero");
        let columns = counted(loaded.dropped_columns, "column");
        console.warn(format_args!(
            "dropped {entries} in {columns} unknown to {to}"
        ));
    }
}

/// Standard input can be read once.
pub(crate) fn check_one_stdin(paths: &[Option<&PathBuf>]) -> Result<()> {
    let stdin = |path: &&&PathBuf| path.as_os_str() == "-";
    if paths.iter().flatten().filter(stdin).count() > 1 {
        return Err(usage("only one input can be -, standard input"));
    }
    Ok(())
}

/// Values of rows in the order of the data set, in the order of its file.
pub(crate) fn in_input_order(dataset: &Dataset<'_>, values: Vec<f64>) -> Vec<f64> {
    let Some(input_rows) = dataset.input_rows() else {
        return values;
    };
    let mut ordered = vec![0.0; values.len()];
    for (&row, value) in input_rows.iter().zip(values) {
        ordered[row as usize] = value;
    }
    ordered
}

/// The way back: values in the order of the file, in the order of the data set.
pub(crate) fn in_row_order(dataset: &Dataset<'_>, values: Vec<f64>) -> Vec<f64> {
    let Some(input_rows) = dataset.input_rows() else {
        return values;
    };
    input_rows.iter().map(|&row| values[row as usize]).collect()
}
