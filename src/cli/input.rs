//! The data that a selection works on.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Result;
use rankrls::dataset::read::{Loaded, ReadOptions};
use rankrls::{Dataset, FeatureNames};

use super::console::Console;
use super::data::{embedded_names, read, warn_dropped};
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
        let begin = Instant::now();
        let options = args.data.options(0).zero_based(args.zero_based);
        let train = read_named(options, args.names.as_ref(), &args.path, console)?;
        let seconds = begin.elapsed().as_secs_f64();
        let test = args.test.as_deref();
        let test = test.map(|path| read_test(args, path, &train, console));
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

fn read_test(
    args: &SelectArgs,
    path: &Path,
    train: &Dataset<'_>,
    console: Console,
) -> Result<Loaded> {
    let options = args.data.options(train.memory());
    let options = options.zero_based(args.zero_based).width(train.width());
    let loaded = read(&options, path, console)?;
    warn_dropped(&loaded, "the training data", console);
    Ok(loaded)
}
