//! Files with curves.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use rankrls::letor::{self, Curves, FoldFiles, Outcome};
use rankrls::plot::{Figure, PlotFormat};

use super::report::FoldReport;
use crate::cli::output::PlotFile;

/// Where curves go, found writable before the work began.
#[derive(Debug)]
pub(super) enum CurveFiles {
    None,
    /// All in one.
    One(Box<PlotFile>),
    /// A file a fold and measure.
    Each(Vec<[PlotFile; 2]>),
}

impl CurveFiles {
    /// One file if the extension of `path` names a format, else a folder, which is made if need
    /// be.
    pub(super) fn create(path: Option<&Path>, folds: &[FoldFiles]) -> Result<Self> {
        let Some(path) = path else {
            return Ok(Self::None);
        };
        if PlotFormat::of(path).is_ok() && !path.is_dir() {
            return PlotFile::create(path).map(|file| Self::One(Box::new(file)));
        }
        fs::create_dir_all(path)
            .with_context(|| format!("cannot make the folder {}", path.display()))?;
        let file = |fold: &FoldFiles, measure: Curves| {
            let name = format!("{}-{}.svg", fold.name, measure.name());
            PlotFile::create(&path.join(name))
        };
        let files = folds.iter().map(|fold| {
            let [map, mean_ndcg] = Curves::ALL.map(|measure| file(fold, measure));
            Ok([map?, mean_ndcg?])
        });
        files.collect::<Result<_>>().map(Self::Each)
    }

    /// Draws.
    pub(super) fn write(self, folds: &[FoldReport]) -> Result<()> {
        match self {
            Self::None => Ok(()),
            Self::One(file) => {
                let outcomes: Vec<&Outcome> = folds.iter().map(|fold| &fold.outcome).collect();
                file.write(&letor::figure(&outcomes))
            }
            Self::Each(files) => {
                for (files, fold) in files.into_iter().zip(folds) {
                    for (file, measure) in files.into_iter().zip(Curves::ALL) {
                        let panel = letor::curves(&fold.outcome, measure);
                        file.write(&Figure::new("").lines(panel))?;
                    }
                }
                Ok(())
            }
        }
    }
}
