//! The data that a selection works on.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use rankrls::data::read::{Loaded, ReadOptions};
use rankrls::{Dataset, FeatureNames};

use super::console::Console;
use super::data::{ColumnArgs, DataArgs, embedded_names, read, warn_dropped};
use super::select::SelectArgs;

/// The data that was read.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) train: Dataset<'static>,
    pub(crate) test: Option<Loaded>,
    /// Time that reading the training data took.
    pub(crate) seconds: f64,
}

impl Input {
    pub(crate) fn read(args: &SelectArgs, console: Console) -> Result<Self> {
        let source = Source {
            path: &args.path,
            data: &args.data,
            columns: &args.columns,
        };
        let (train, seconds) = source.train(console)?;
        let test = args.test.as_deref();
        let test = test.map(|path| source.other(path, &train, train.memory(), console));
        Ok(Self {
            test: test.transpose()?,
            train,
            seconds,
        })
    }

    /// Bytes held.
    pub(crate) fn memory(&self) -> u64 {
        let test = self.test.as_ref();
        self.train.memory() + test.map_or(0, |test| test.dataset.memory())
    }
}

/// Where training data come from, and how all data are read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    pub(crate) path: &'a Path,
    pub(crate) data: &'a DataArgs,
    pub(crate) columns: &'a ColumnArgs,
}

impl Source<'_> {
    /// The training data, and the seconds that reading them took.
    pub(crate) fn train(&self, console: Console) -> Result<(Dataset<'static>, f64)> {
        let begin = Instant::now();
        let options = self.data.options(0).zero_based(self.columns.zero_based);
        let train = read_named(options, self.columns.names.as_ref(), self.path, console)?;
        let seconds = begin.elapsed().as_secs_f64();
        Ok((train, seconds))
    }

    /// Other data with the columns of `train`; `held` bytes are taken already.
    pub(crate) fn other(
        &self,
        path: &Path,
        train: &Dataset<'_>,
        held: u64,
        console: Console,
    ) -> Result<Loaded> {
        let options = self.data.options(held);
        let options = options
            .zero_based(self.columns.zero_based)
            .width(train.width());
        let loaded = read(&options, path, console)?;
        warn_dropped(&loaded, "the training data", console);
        Ok(loaded)
    }
}

/// Reads data with names: those of the file `names`, or those that come with the data.
pub(crate) fn read_named(
    options: ReadOptions,
    names: Option<&PathBuf>,
    path: &Path,
    console: Console,
) -> Result<Dataset<'static>> {
    let mut dataset = read(&options.names(names.cloned()), path, console)?.dataset;
    if let (None, Some(names)) = (names, embedded_names(path)) {
        dataset = dataset.with_names(names)?;
    }
    warn_surplus(&dataset, console);
    Ok(dataset)
}

fn warn_surplus(train: &Dataset<'_>, console: Console) {
    let names = train.names().map_or(0, FeatureNames::len);
    let columns = train.width();
    if names > columns {
        console.warn(format_args!(
            "there are {names} names for {columns} columns: those after the last are ignored"
        ));
    }
}
