//! `rankrls convert`.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use rankrls::data::read::{Format, names_beside};
use rankrls::data::{Ranker, names_file, write_names, write_query_sizes, write_svmlight_as_wide};
use rankrls::{Dataset, IndexBase, Model};

use crate::args::{one_of, usage};
use crate::data::{ColumnNames, DataArgs, Wanted, read_named};
use crate::numbers::printable;
use crate::output::{CompleteFile, OutputFile, print};
use crate::session::Session;
use rankrls_files::FilePlace;

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
  rankrls convert train.svm --model model.json -o boost.svm --for lightgbm"
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
    #[arg(long = "for", value_name = "RANKER")]
    #[arg(value_parser = one_of(Ranker::ALL, Ranker::name))]
    ranker: Option<Ranker>,
}

pub(crate) fn run(args: &ConvertArgs, session: &Session<'_>) -> Result<ExitCode> {
    let target = args.target(session)?;
    // Found writable before the work.
    let sizes = if args.ranker == Some(Ranker::LightGbm) {
        let mut path = args.output.as_os_str().to_owned();
        path.push(".query");
        let file = OutputFile::create(&session.files, "--output", path.as_ref())?;
        Some(file)
    } else {
        None
    };
    let dataset = args.read(session)?;
    let Some(ranker) = args.ranker else {
        target.write(&dataset)?;
        return Ok(session.code());
    };
    let queries = dataset.queries().clone();
    target.write(&dataset.for_ranker(ranker)?)?;
    if let Some(file) = sizes {
        file.write(|writer| write_query_sizes(&queries, writer))?;
    }
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
        let model = Model::read(path)?;
        if model.expansion.is_some() {
            let path = printable(&path.display().to_string());
            bail!("{path}: the model has no features to keep: its kernel compares rows");
        }
        let (names, wanted) = (ColumnNames::default(), Wanted::Labels);
        let loaded = self
            .data
            .read_for(&model, &self.input, &names, wanted, session)?;
        Ok(model.project(&loaded.dataset)?)
    }

    /// The files of the data to write, none of them an input, but that the same names are written again.
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
        let to_file = self.output.as_os_str() != "-";
        let ending = self.output.extension();
        let compressed = ending.is_some_and(|ending| ending == "gz" || ending == "zst");
        if self.ranker.is_some() && (!to_file || compressed) {
            return Err(usage("--for writes a file without .gz or .zst"));
        }
        let files = if to_file {
            let names = names_file(&self.output);
            // The same names are not written again.
            let beside = || names_beside(&self.input);
            let known = self
                .names
                .clone()
                .or_else(beside)
                .filter(|_| self.model.is_none());
            let place = FilePlace::of(&names);
            let same = place.is_some() && known.as_deref().map(FilePlace::of) == Some(place);
            let data = OutputFile::create(files, "--output", &self.output)?;
            let names = (!same).then(|| OutputFile::create(files, "--output", &names));
            Some((data, names.transpose()?))
        } else {
            files.prints()?;
            None
        };
        let base = match self.ranker {
            Some(_) => IndexBase::Zero,
            None => IndexBase::One,
        };
        Ok(Target { base, files })
    }
}

/// Where data is to be written.
#[derive(Debug)]
struct Target {
    base: IndexBase,
    /// The data, known to be writable, and their names, no input; none for standard output.
    files: Option<(OutputFile, Option<OutputFile>)>,
}

impl Target {
    /// Writes `dataset` and its names: they appear together, when both have been written.
    fn write(self, dataset: &Dataset<'_>) -> Result<()> {
        let base = self.base;
        let Some((data, names)) = self.files else {
            return print(|output| write_svmlight_as_wide(dataset, base, output));
        };
        let mut complete = Vec::new();
        if let Some((known, file)) = dataset.names().zip(names) {
            let known = known.iter().take(dataset.width()).collect();
            complete.push(file.complete(|writer| write_names(&known, writer))?);
        }
        complete.push(data.complete(|writer| write_svmlight_as_wide(dataset, base, writer))?);
        complete.into_iter().try_for_each(CompleteFile::commit)
    }
}
