//! Diagrams that commands write.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use rankrls::plot::{Figure, PlotFormat};

use super::output::OutputFile;
use super::usage;

/// Where to draw.
#[derive(Debug, Args)]
pub(crate) struct PlotArgs {
    /// Draw it too: FILE.svg, FILE.png or FILE.html
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl PlotArgs {
    /// Refuses a name that says no format, and the name of another output.
    pub(crate) fn check(&self, output: Option<&Path>) -> Result<()> {
        let Some(path) = &self.plot else {
            return Ok(());
        };
        PlotFormat::of(path).map_err(usage)?;
        if output == Some(path) {
            return Err(usage("--plot and --output name the same file"));
        }
        Ok(())
    }

    /// The file, found writable before the work begins.
    pub(crate) fn create(&self) -> Result<Option<PlotFile>> {
        self.plot.as_deref().map(PlotFile::create).transpose()
    }
}

/// A diagram to be written.
#[derive(Debug)]
pub(crate) struct PlotFile {
    format: PlotFormat,
    output: OutputFile,
}

impl PlotFile {
    /// Refuses a name that says no format, and a file that cannot be written.
    pub(crate) fn create(path: &Path) -> Result<Self> {
        let format = PlotFormat::of(path).map_err(usage)?;
        let output = OutputFile::create(path)?;
        Ok(Self { format, output })
    }

    /// Draws `figure`.
    pub(crate) fn write(self, figure: &Figure) -> Result<()> {
        let bytes = figure.to_bytes(self.format)?;
        self.output.write(|writer| writer.write_all(&bytes))
    }
}
