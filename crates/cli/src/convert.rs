//! `rankrls convert`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use rankrls::data::read::{Format, names_beside};
use rankrls::data::{
    Ranker, names_file, write_names, write_query_sizes, write_svmlight_as_wide, writing_memory,
};
use rankrls::{Dataset, IndexBase};

use crate::args::{one_of, usage};
use crate::data::{ColumnNames, DataArgs, Wanted, read_named};
use crate::numbers::printable;
use crate::output::{OutputFile, appear};
use crate::session::Session;
use rankrls_files::{Compression, FilePlace};
use rankrls_parses::corpus;

/// Convert data to svmlight text, or reduce them to the columns of a model
///
/// Names of columns go to NAME.names.txt. What is written reads back the same to the last bit: labels,
/// queries, values, and columns that nothing uses. A name that ends in .gz or .zst is compressed.
#[derive(Debug, Args)]
#[command(
    next_help_heading = "Output",
    after_help = "\
Examples:
  rankrls convert grades.csv --label grade --query query -o grades.svm.zst
  rankrls convert @documents -o documents.svm
  rankrls convert train.svm.zst -o - | head
  rankrls convert train.svm --model model.json -o selected.svm
  rankrls convert train.svm --model model.json -o boost.svm --to lightgbm"
)]
pub(crate) struct ConvertArgs {
    /// Data to read; - is standard input, and @sentences comes with the program
    #[arg(value_name = "DATA", help_heading = None::<&str>)]
    input: PathBuf,
    #[command(flatten)]
    data: DataArgs,
    /// Names of the columns, one a line
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    names: Option<PathBuf>,
    /// Write the features of this model alone: they become columns 1 to k, in the order of selection.
    /// Columns are matched as rankrls predict does
    #[arg(long, value_name = "MODEL", conflicts_with = "names")]
    model: Option<PathBuf>,
    /// Write the data to this file; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    /// Write what this ranker reads: whole grades from 0, columns from 0, and for xgboost queries by
    /// number, for lightgbm their sizes in FILE.query
    #[arg(long = "to", value_name = "RANKER")]
    #[arg(value_parser = one_of(Ranker::ALL, Ranker::name))]
    ranker: Option<Ranker>,
}

pub(crate) fn run(args: &ConvertArgs, session: &Session<'_>) -> Result<ExitCode> {
    // Fails before the work if the target is not writable.
    let target = args.target(session)?;
    let dataset = args.read(session)?;
    let memory = args.data.memory().holding(dataset.memory());
    let what = "the text of the rows needs";
    memory.require(what, writing_memory(&dataset), "allow more memory")?;
    target.write(dataset, args.ranker)?;
    Ok(session.code())
}

impl ConvertArgs {
    /// The data to write.
    fn read(&self, session: &Session<'_>) -> Result<Dataset<'static>> {
        let Some(path) = &self.model else {
            self.data.check([&self.input])?;
            let names = self.names.as_ref();
            return read_named(&self.data, names, &self.input, session.console);
        };
        let model = session.read_model(path, self.data.memory())?;
        if model.expansion.is_some() {
            let path = printable(&path.display().to_string());
            bail!("{path}: the model has no features to keep: its kernel compares rows");
        }
        let (names, wanted) = (ColumnNames::default(), Wanted::Labels);
        let loaded = self
            .data
            .read_for(&model, &self.input, &names, wanted, session.console)?;
        Ok(model.project(&loaded.dataset)?)
    }

    /// The files to write. None may be an input. A names file may be rewritten unchanged.
    fn target(&self, session: &Session<'_>) -> Result<Target> {
        if Format::Auto.is_table(&self.output) {
            return Err(usage(format_args!(
                "cannot write {}: tables are only read; name a file of svmlight text",
                printable(&self.output.display().to_string())
            )));
        }
        let files = &session.files;
        self.data.name_files(files, [("DATA", &self.input)])?;
        files.reads("--names", &self.names)?;
        files.reads("--model", &self.model)?;
        let create = |path: &Path| OutputFile::create(files, "--output", path);
        let data = create(&self.output)?;
        let to_file = !data.is_printed();
        let compressed = Compression::of(&self.output).is_some();
        if self.ranker.is_some() && (!to_file || compressed) {
            return Err(usage("--to writes a file without .gz or .zst"));
        }
        if !to_file {
            return Ok(Target {
                data,
                sizes: None,
                names: None,
                others: None,
            });
        }
        let names = names_file(&self.output);
        // The same names are not written again.
        let beside = || self.data.names_beside(&self.input);
        let known = self
            .names
            .clone()
            .or_else(beside)
            .filter(|_| self.model.is_none());
        let place = FilePlace::of(&names);
        let same = place.is_some() && known.as_deref().map(FilePlace::of) == Some(place);
        let sizes = (self.ranker == Some(Ranker::LightGbm)).then(|| {
            let mut path = self.output.as_os_str().to_owned();
            path.push(".query");
            create(path.as_ref())
        });
        // Test data may have the names of training data.
        let own = names.as_os_str().as_encoded_bytes();
        let is_own = |found: &PathBuf| {
            let of_name = found.as_os_str().as_encoded_bytes().starts_with(own);
            of_name || corpus::FILES.iter().any(|name| found.ends_with(name))
        };
        Ok(Target {
            data,
            sizes: sizes.transpose()?,
            others: names_beside(&self.output).filter(|found| !same && is_own(found)),
            names: (!same).then(|| create(&names)).transpose()?,
        })
    }
}

/// The targets of data: files found writable that are no inputs, or standard output.
#[derive(Debug)]
struct Target {
    data: OutputFile,
    /// The file for the sizes of queries.
    sizes: Option<OutputFile>,
    /// The file for names, unless it has them already.
    names: Option<OutputFile>,
    /// Older names beside the output, which would name the new data wrongly.
    others: Option<PathBuf>,
}

impl Target {
    /// Writes `dataset` for a `ranker`, and its names and sizes: the files appear together, when all are written.
    fn write(self, dataset: Dataset<'_>, ranker: Option<Ranker>) -> Result<()> {
        let queries = dataset.queries().clone();
        let (dataset, base) = match ranker {
            Some(ranker) => (dataset.for_ranker(ranker)?, IndexBase::Zero),
            None => (dataset, IndexBase::One),
        };
        let named = dataset.names();
        if let Some(path) = self.others.filter(|_| named.is_none()) {
            let path = printable(&path.display().to_string());
            bail!(
                "{path}: expected no file, as the data have no names, found names of other data (give another \
                 output, or delete the file; if they are names of these data, pass --names {path})"
            );
        }
        let data = self
            .data
            .complete(|writer| write_svmlight_as_wide(&dataset, base, writer))?;
        let mut complete = vec![data];
        if let Some((known, file)) = named.zip(self.names) {
            // Names beyond the last column are rare.
            let few;
            let mut names = known;
            if known.len() > dataset.width() {
                few = known.iter().take(dataset.width()).collect();
                names = &few;
            }
            complete.push(file.complete(|writer| write_names(names, writer))?);
        }
        if let Some(file) = self.sizes {
            complete.push(file.complete(|writer| write_query_sizes(&queries, writer))?);
        }
        appear(complete.into_iter().map(Ok))
    }
}
