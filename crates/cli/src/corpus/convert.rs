//! `rankrls corpus convert`.

use std::path::Path;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::TypedValueParser;
use rankrls::data::read::Format;
use rankrls::data::{DataFiles, FilePart, MatrixLayout};
use rankrls::{Dataset, IndexBase};

use crate::args::one_of;
use crate::args::usage;
use crate::data::{DataArgs, read_named};
use crate::files::{DataPath, InPath, OutPath};
use crate::numbers::printable;
use crate::output::{CompleteFile, OutputFile, print};
use crate::session::Session;

/// Convert data to another format
#[derive(Debug, Args)]
#[command(long_about = long_about(), after_help = "\
Examples:
  rankrls corpus convert train.svm train.npz --names names.txt
  rankrls corpus convert train.npz train.features
  rankrls corpus convert @parses parses.npz --layout csc
  rankrls corpus convert train.npz - | head")]
pub(crate) struct ConvertArgs {
    /// Data to read; - is standard input, and @parses comes with the program
    #[arg(value_name = "IN")]
    input: DataPath,
    /// Data to write; - is standard output
    #[arg(value_name = "OUT")]
    output: OutPath,
    #[command(flatten)]
    data: DataArgs,
    /// Names of the columns, one a line [default: NAME.names.txt beside .npz]
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    names: Option<InPath>,
    #[command(flatten)]
    target: TargetArgs,
}

fn long_about() -> String {
    let formats = written().map(|format| format!("{} ({})", format.title(), format.files()));
    let formats = list(formats);
    format!(
        "Convert data to another format\n\nFormats are {formats}. Names of columns go to \
         NAME.names.txt. What is written reads back the same to the last bit: labels, queries, \
         values, and columns that nothing uses."
    )
}

/// The formats that data are written in.
fn written() -> impl Iterator<Item = Format> {
    Format::ALL.into_iter().filter(|format| format.is_written())
}

/// Parses the name of a format that data are written in.
fn written_name() -> impl TypedValueParser<Value = Format> {
    one_of([Format::Auto].into_iter().chain(written()), Format::name)
}

/// `a, b and c`.
fn list(items: impl Iterator<Item = String>) -> String {
    let items: Vec<String> = items.collect();
    match items.split_last() {
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}

pub(crate) fn run(args: &ConvertArgs, session: &Session<'_>) -> Result<ExitCode> {
    // The same names are written again.
    let names = args.data.names_at(&args.input, args.names.as_ref());
    let target = args
        .target
        .create("OUT", &args.output, names.as_deref(), session)?;
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
    /// Format to write: auto goes by the ending, as in reading
    #[arg(long, value_name = "FORMAT", value_parser = written_name(), default_value_t)]
    to: Format,
    /// Compressed rows or columns, in a file .npz
    #[arg(long, default_value_t, value_parser = one_of(MatrixLayout::ALL, MatrixLayout::name))]
    layout: MatrixLayout,
    /// Write indices of svmlight files from 0, not 1
    #[arg(long)]
    zero_based_output: bool,
}

/// Where data is to be written.
#[derive(Debug)]
pub(super) struct Target {
    files: DataFiles,
    /// The files of the other parts, none of them an input.
    parts: Vec<(FilePart, OutPath)>,
    /// The file of the entries, known to be writable; none for standard output.
    entries: Option<OutputFile>,
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
        let files = DataFiles::new(path, self.to);
        let files = files.layout(self.layout).index_base(base);
        if !files.format().is_written() {
            return Err(usage(format_args!(
                "cannot write {}: {} is only read; the formats that are written are {}",
                printable(&path.display().to_string()),
                files.format().title(),
                list(written().map(|format| format!("{format} ({})", format.files())))
            )));
        }
        if path.as_os_str() != "-" {
            let part = |(part, path)| {
                let same = names.filter(|_| part == FilePart::Names);
                Ok((part, session.files.part(name, path, same)?))
            };
            let mut parts = files.all().map(part).collect::<Result<Vec<_>>>()?;
            let (_, entries) = parts.remove(0);
            return Ok(Target {
                files,
                parts,
                entries: Some(OutputFile::create(&entries)?),
            });
        }
        if files.format() != Format::Svmlight {
            return Err(usage("only svmlight goes to standard output: name a file"));
        }
        Ok(Target {
            files,
            parts: Vec::new(),
            entries: None,
        })
    }
}

impl Target {
    /// Whether it is a file of svmlight that is not compressed.
    pub(super) fn is_plain_svmlight(&self) -> bool {
        let path = self.files.path(FilePart::Entries);
        let compressed = path
            .extension()
            .is_some_and(|end| end == "gz" || end == "zst");
        self.entries.is_some() && self.files.format() == Format::Svmlight && !compressed
    }

    /// This target with columns that count from 0.
    pub(super) fn zero_based(self) -> Self {
        Self {
            files: self.files.index_base(IndexBase::Zero),
            ..self
        }
    }

    /// Writes all parts of `dataset`: they appear together, when all have been written.
    pub(super) fn write(self, dataset: &Dataset<'_>) -> Result<()> {
        let Self {
            files,
            parts,
            entries,
        } = self;
        let Some(entries) = entries else {
            return print(|output| files.write_part(FilePart::Entries, dataset, output));
        };
        if let Some(stranger) = files.stranger(dataset) {
            bail!(
                "{} would be read as part of the data, but is of other data: remove it, or write \
                 under another name",
                printable(&stranger.display().to_string())
            );
        }
        let has = files.parts(dataset);
        let mut outputs = Vec::new();
        for (part, path) in parts.iter().filter(|(part, _)| has.contains(part)) {
            outputs.push((*part, OutputFile::create(path)?));
        }
        outputs.push((FilePart::Entries, entries));
        let mut complete = Vec::new();
        for (part, output) in outputs {
            complete.push(output.complete(|writer| files.write_part(part, dataset, writer))?);
        }
        complete.into_iter().try_for_each(CompleteFile::commit)
    }
}
