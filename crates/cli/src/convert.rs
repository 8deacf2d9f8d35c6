//! `rankrls convert`.

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::Args;
use clap::builder::TypedValueParser;
use rankrls::data::read::Format;
use rankrls::data::{DataFiles, FilePart, MatrixLayout, Ranker, write_query_sizes};
use rankrls::{Dataset, IndexBase, Model};

use crate::args::{one_of, usage};
use crate::data::{ColumnNames, DataArgs, Wanted, read_named};
use crate::files::{DataPath, InPath, OutPath};
use crate::numbers::printable;
use crate::output::{CompleteFile, OutputFile, print};
use crate::session::Session;

/// Convert data to another format, or reduce them to the columns of a model
#[derive(Debug, Args)]
#[command(next_help_heading = "Output", long_about = long_about(), after_help = "\
Examples:
  rankrls convert train.svm -o train.npz --names names.txt
  rankrls convert train.npz -o train.features
  rankrls convert @parses -o parses.npz --layout csc
  rankrls convert train.npz -o - | head
  rankrls convert train.svm --model model.json -o selected.svm
  rankrls convert train.svm --model model.json -o boost.svm --for lightgbm")]
pub(crate) struct ConvertArgs {
    /// Data to read; - is standard input, and @parses comes with the program
    #[arg(value_name = "DATA", help_heading = None::<&str>)]
    input: DataPath,
    #[command(flatten)]
    data: DataArgs,
    /// Names of the columns, one a line [default: NAME.names.txt beside .npz]
    #[arg(long, value_name = "FILE", help_heading = "Data")]
    names: Option<InPath>,
    /// Write the features of this model alone: they become columns 1 to k, in the order of selection.
    /// Columns are matched as rankrls predict does
    #[arg(long, value_name = "MODEL", conflicts_with = "names")]
    model: Option<InPath>,
    /// Write the data to this file; - is standard output
    #[arg(short, long, value_name = "FILE")]
    output: OutPath,
    /// Write what this ranker reads: whole grades from 0, columns from 0, and for xgboost queries by
    /// number, for lightgbm their sizes in FILE.query
    #[arg(long = "for", value_name = "RANKER")]
    #[arg(value_parser = one_of(Ranker::ALL, Ranker::name))]
    ranker: Option<Ranker>,
    /// Format to write: auto goes by the ending, as in reading
    #[arg(long, value_name = "FORMAT", value_parser = written_name(), default_value_t)]
    to: Format,
    /// Compressed rows or columns, in a file .npz
    #[arg(long, default_value_t, value_parser = one_of(MatrixLayout::ALL, MatrixLayout::name))]
    layout: MatrixLayout,
}

fn long_about() -> String {
    let formats = written().map(|format| format!("{} ({})", format.title(), format.files()));
    let formats = list(formats);
    format!(
        "Convert data to another format, or reduce them to the columns of a model\n\nFormats are {formats}. Names of columns go to \
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
    let target = args.target(session)?;
    // Found writable before the work.
    let sizes = if args.ranker == Some(Ranker::LightGbm) {
        let mut path = args.output.as_os_str().to_owned();
        path.push(".query");
        let file = session.files.part("--output", path.into(), None)?;
        Some(OutputFile::create(&file)?)
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

/// Where data is to be written.
#[derive(Debug)]
struct Target {
    files: DataFiles,
    /// The files of the other parts, none of them an input.
    parts: Vec<(FilePart, OutPath)>,
    /// The file of the entries, known to be writable; none for standard output.
    entries: Option<OutputFile>,
}

impl ConvertArgs {
    /// The data to write.
    fn read(&self, session: &Session<'_>) -> Result<Dataset<'static>> {
        let Some(path) = &self.model else {
            self.data.check([&self.input])?;
            let (options, names) = (self.data.options(0), self.names.as_ref());
            return read_named(options, names, &self.input, session.console);
        };
        let model = Model::read(path)?;
        if model.expansion().is_some() {
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
        let base = match self.ranker {
            Some(_) => IndexBase::Zero,
            None => IndexBase::One,
        };
        let files = DataFiles::new(&self.output, self.to);
        let files = files.layout(self.layout).index_base(base);
        let (path, format) = (
            printable(&self.output.display().to_string()),
            files.format(),
        );
        if !format.is_written() {
            return Err(usage(format_args!(
                "cannot write {path}: {} is only read; the formats that are written are {}",
                format.title(),
                list(written().map(|format| format!("{format} ({})", format.files())))
            )));
        }
        let to_file = self.output.as_os_str() != "-";
        let compressed = [".gz", ".zst"].iter().any(|ending| path.ends_with(ending));
        let plain = format == Format::Svmlight && to_file && !compressed;
        if self.ranker.is_some() && !plain {
            return Err(usage(
                "--for writes svmlight: name a file without .npz, .features, .gz or .zst",
            ));
        }
        if !to_file && format != Format::Svmlight {
            return Err(usage("only svmlight goes to standard output: name a file"));
        }
        let (mut parts, mut entries) = (Vec::new(), None);
        if to_file {
            let names = self.data.names_at(&self.input, self.names.as_ref());
            let names = names.filter(|_| self.model.is_none());
            let part = |(part, path)| {
                let same = names.as_deref().filter(|_| part == FilePart::Names);
                Ok((part, session.files.part("--output", path, same)?))
            };
            parts = files.all().map(part).collect::<Result<Vec<_>>>()?;
            let (_, file) = parts.remove(0);
            entries = Some(OutputFile::create(&file)?);
        }
        Ok(Target {
            files,
            parts,
            entries,
        })
    }
}

impl Target {
    /// Writes all parts of `dataset`: they appear together, when all have been written.
    fn write(self, dataset: &Dataset<'_>) -> Result<()> {
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
