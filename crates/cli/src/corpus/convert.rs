//! `rankrls corpus convert`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rankrls::data::read::Format;
use rankrls::data::{names_file, write_names, write_svmlight_as_wide};
use rankrls::{Dataset, IndexBase};

use crate::args::usage;
use crate::data::{DataArgs, read_named};
use crate::files::{DataPath, InPath, OutPath};
use crate::numbers::printable;
use crate::output::{CompleteFile, OutputFile, print};
use crate::session::Session;

/// Convert data to svmlight text
///
/// Names of columns go to NAME.names.txt. What is written reads back the same to the last bit: labels,
/// queries, values, and columns that nothing uses. A name that ends in .gz or .zst is compressed.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls corpus convert grades.csv --label grade --query query grades.svm.zst
  rankrls corpus convert @parses parses.svm
  rankrls corpus convert train.svm.zst - | head")]
pub(crate) struct ConvertArgs {
    /// Data to read; - is standard input, and @parses comes with the program
    #[arg(value_name = "IN")]
    input: DataPath,
    /// Data to write; - is standard output
    #[arg(value_name = "OUT")]
    output: OutPath,
    #[command(flatten)]
    data: DataArgs,
    /// Names of the columns, one a line
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    names: Option<InPath>,
    #[command(flatten)]
    target: TargetArgs,
}

pub(crate) fn run(args: &ConvertArgs, session: &Session<'_>) -> Result<ExitCode> {
    // The same names are written again.
    let names = args.names.as_deref();
    let target = args.target.create("OUT", &args.output, names, session)?;
    args.data.check([&args.input])?;
    let options = args.data.options(0);
    let dataset = read_named(options, args.names.as_ref(), &args.input, session.console)?;
    target.write(&dataset)?;
    Ok(session.code())
}

/// How data is to be written.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(super) struct TargetArgs {
    /// Write indices from 0, not 1
    #[arg(long)]
    zero_based_output: bool,
}

/// Where data is to be written.
#[derive(Debug)]
pub(super) struct Target {
    base: IndexBase,
    /// The data, known to be writable, and their names, no input; none for standard output.
    files: Option<(OutputFile, OutPath)>,
    compressed: bool,
}

impl TargetArgs {
    /// The files of a data set at `path`, the value of the argument `name`; `-` is standard output.
    /// Names of columns that are read from `names` are written again.
    pub(super) fn create(
        &self,
        name: &str,
        path: &OutPath,
        names: Option<&Path>,
        session: &Session<'_>,
    ) -> Result<Target> {
        let base = if self.zero_based_output {
            IndexBase::Zero
        } else {
            IndexBase::One
        };
        if Format::Auto.is_table(path) {
            return Err(usage(format_args!(
                "cannot write {}: tables are only read; name a file of svmlight text",
                printable(&path.display().to_string())
            )));
        }
        let files = if path.as_os_str() == "-" {
            None
        } else {
            let names = session.files.part(name, names_file(path), names)?;
            Some((OutputFile::create(path)?, names))
        };
        let ending = path.extension();
        Ok(Target {
            base,
            files,
            compressed: ending.is_some_and(|ending| ending == "gz" || ending == "zst"),
        })
    }
}

impl Target {
    /// Whether it is a file that is not compressed.
    pub(super) fn is_plain_file(&self) -> bool {
        self.files.is_some() && !self.compressed
    }

    /// This target with columns that count from 0.
    pub(super) fn zero_based(self) -> Self {
        let base = IndexBase::Zero;
        Self { base, ..self }
    }

    /// Writes `dataset` and its names: they appear together, when both have been written.
    pub(super) fn write(self, dataset: &Dataset<'_>) -> Result<()> {
        let base = self.base;
        let Some((data, names)) = self.files else {
            return print(|output| write_svmlight_as_wide(dataset, base, output));
        };
        let mut complete = Vec::new();
        if let Some(known) = dataset.names() {
            let known = known.iter().take(dataset.width()).collect();
            let file = OutputFile::create(&names)?;
            complete.push(file.complete(|writer| write_names(&known, writer))?);
        }
        complete.push(data.complete(|writer| write_svmlight_as_wide(dataset, base, writer))?);
        complete.into_iter().try_for_each(CompleteFile::commit)
    }
}
