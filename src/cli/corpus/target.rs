//! Data sets as outputs.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use rankrls::data::read::Format;
use rankrls::data::{DataFiles, MatrixLayout, Part};
use rankrls::{Dataset, IndexBase};

use crate::cli::args::usage;
use crate::cli::data::FormatName;
use crate::cli::output::{CompleteFile, OutputFile, print};

/// How data is to be written.
#[derive(Debug, Args)]
pub(super) struct TargetArgs {
    /// Format to write: auto goes by the ending, as in reading
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = FormatName::Auto)]
    to: FormatName,
    /// Compressed rows or columns, in a file .npz
    #[arg(long, value_enum, default_value_t = LayoutName::Csr)]
    layout: LayoutName,
    /// Write indices of svmlight files from 0, not 1
    #[arg(long)]
    zero_based_output: bool,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
enum LayoutName {
    Csr,
    Csc,
}

/// Where data is to be written.
#[derive(Debug)]
pub(super) struct Target {
    files: DataFiles,
    /// The file of the entries, known to be writable; none for standard output.
    entries: Option<OutputFile>,
}

impl TargetArgs {
    /// The files of a data set at `path`; `-` is standard output.
    pub(super) fn create(&self, path: &Path) -> Result<Target> {
        let layout = match self.layout {
            LayoutName::Csr => MatrixLayout::Rows,
            LayoutName::Csc => MatrixLayout::Columns,
        };
        let base = if self.zero_based_output {
            IndexBase::Zero
        } else {
            IndexBase::One
        };
        let files = DataFiles::new(path, self.to.into());
        let files = files.layout(layout).index_base(base);
        if path.as_os_str() != "-" {
            let entries = OutputFile::create(&files.path(Part::Entries))?;
            let entries = Some(entries);
            return Ok(Target { files, entries });
        }
        if files.format() != Format::Svmlight {
            return Err(usage("only svmlight goes to standard output: name a file"));
        }
        Ok(Target {
            files,
            entries: None,
        })
    }
}

impl Target {
    /// Writes all parts of `dataset`: they appear together, when all have been written.
    pub(super) fn write(self, dataset: &Dataset<'_>) -> Result<()> {
        let Self { files, entries } = self;
        let Some(entries) = entries else {
            return print(|output| files.write_part(Part::Entries, dataset, output));
        };
        if let Some(stranger) = files.stranger(dataset) {
            bail!(
                "{} would be read as part of the data, but is of other data: remove it, or write \
                 under another name",
                stranger.display()
            );
        }
        let mut outputs = beside(&files, dataset)?;
        outputs.push((Part::Entries, entries));
        let mut complete = Vec::new();
        for (part, output) in outputs {
            let write = |writer: &mut dyn Write| files.write_part(part, dataset, writer);
            complete.push(output.complete(write)?);
        }
        complete.into_iter().try_for_each(CompleteFile::commit)
    }
}

/// The parts other than the entries, all of them known to be writable.
fn beside(files: &DataFiles, dataset: &Dataset<'_>) -> Result<Vec<(Part, OutputFile)>> {
    let parts = files.parts(dataset).into_iter();
    parts
        .filter(|&part| part != Part::Entries)
        .map(|part| Ok((part, OutputFile::create(&files.path(part))?)))
        .collect()
}
