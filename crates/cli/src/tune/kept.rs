//! The finished selections of a grid, as lines beside the output: another run goes on with them.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Result;
use rankrls::data::DataHash;
use rankrls::tune::{PathSteps, Tune};
use rankrls_files::Lines;
use rankrls_files::error::Fault;
use serde::Serialize;
use serde_json::{Value, json};

/// The file of a run, which is there from the first finished selection on.
#[derive(Debug)]
pub(crate) struct Kept {
    path: PathBuf,
    /// The data and settings of the run.
    run: Value,
    lines: Option<Lines>,
    /// Bytes that may be taken.
    limit: Option<u64>,
}

/// The data and settings of a run, as the first line has them.
#[derive(Serialize)]
struct Run<'a> {
    schema: &'static str,
    data: DataHash,
    #[serde(flatten)]
    settings: &'a Tune,
}

/// The file beside an output that has the finished selections.
pub(super) fn beside(output: &Path) -> PathBuf {
    let mut path = output.as_os_str().to_owned();
    path.push(".part");
    path.into()
}

impl Kept {
    /// The file beside `output`, for a run by `options` on data with this hash, and the selections in it, which
    /// the run has to `resume`.
    pub(super) fn open(
        output: &Path,
        data: DataHash,
        options: &Tune,
        resume: bool,
    ) -> Result<(Self, Vec<PathSteps>)> {
        let path = beside(output);
        // Other metrics may be asked for when a run goes on.
        let settings = &Tune {
            metrics: Vec::new(),
            ..options.clone()
        };
        let schema = "rankrls.tuning/1";
        let run = json!(Run {
            schema,
            data,
            settings
        });
        let limit = options.selection.memory.left();
        let mut given = Vec::new();
        let take = |text: &[u8]| {
            let line = serde_json::from_slice(text);
            let fault = |error| Fault::new("a selection of this run", format!("{error}"));
            given.push(line.map_err(fault)?);
            Ok(())
        };
        let mut take = take;
        let lines = path
            .exists()
            .then(|| Lines::open(&path, &run, resume, limit, |_, text| take(text)));
        let lines = lines.transpose()?;
        let kept = Self {
            path,
            run,
            lines,
            limit,
        };
        Ok((kept, given))
    }

    /// Adds a selection, which outlives this process.
    pub(crate) fn push(&mut self, finished: &PathSteps) -> Result<()> {
        if self.lines.is_none() {
            let begun = Lines::open(&self.path, &self.run, false, self.limit, |_, _| Ok(()))?;
            self.lines = Some(begun);
        }
        if let Some(lines) = &mut self.lines {
            lines.push(finished)?;
            lines.sync()?;
        }
        Ok(())
    }

    /// The file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the file away: the run is done.
    pub(super) fn remove(self) -> io::Result<()> {
        self.lines.map_or(Ok(()), Lines::remove)
    }
}
