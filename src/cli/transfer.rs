//! Scores of other rankers and rows of another corpus, for `train`, `select`, `predict` and `evaluate`.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use rankrls::data::read::read_scores_from;
use rankrls::data::{Joined, LabelScale, OtherRanker};
use rankrls::shards::Shards;
use rankrls::{Dataset, Model};
use rankrls_files::read_whole;
use serde::Serialize;

use super::args::usage;
use super::console::Console;
use super::data::{TrainingData, in_row_order};
use super::output::counted;

/// Most bytes of a file of scores, or of a model.
const LARGEST: u64 = 256 << 20;

/// Help from another corpus.
#[derive(Debug, Default, Args)]
pub(crate) struct TransferArgs {
    /// Fit what another ranker leaves of the labels: a linear model, whose features are found by name,
    /// or scores of the rows, one a line, by any ranker that had not seen their labels. Given again,
    /// the scores of --test
    #[arg(long, value_name = "MODEL|SCORES", conflicts_with_all = ["score_feature", "source"])]
    pub(crate) offset: Vec<PathBuf>,
    /// Take the scores of another ranker as a feature, which select takes first and does not count:
    /// files as for --offset
    #[arg(long, value_name = "MODEL|SCORES", conflicts_with = "source")]
    pub(crate) score_feature: Vec<PathBuf>,
    /// Train on the rows of this other corpus, too, and never hold them out: its columns are found by
    /// the names of the features, or by number without names
    #[arg(long, value_name = "DATA")]
    pub(crate) source: Option<PathBuf>,
    /// Names of the features of --source
    #[arg(long, value_name = "FILE", requires = "source")]
    source_names: Option<PathBuf>,
    /// What a query of --source counts, above 0; queries of DATA count 1
    #[arg(long, value_name = "G", requires = "source", default_value_t = 1.0)]
    #[arg(value_parser = super::args::finite, allow_negative_numbers = true)]
    source_weight: f64,
}

/// Another ranker as a file has it.
enum RankerFile {
    Model(Box<Model>),
    Scores(Vec<f64>),
}

impl RankerFile {
    /// Reads a model, or scores.
    fn read(path: &Path, budget: Option<u64>) -> Result<Self> {
        let text = read_whole(path, LARGEST)?;
        let first = text.iter().find(|byte| !byte.is_ascii_whitespace());
        if first == Some(&b'{') {
            return Ok(Self::Model(Box::new(Model::parse(&text, path)?)));
        }
        let scores = read_scores_from(&text[..], &path.to_string_lossy(), budget)?;
        Ok(Self::Scores(scores))
    }
}

/// The name of a file without its folders.
fn file_name(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str());
    name.to_string_lossy().into_owned()
}

/// Scores of the rows of `data`, called `what` in messages, by the ranker of the file at `path`.
pub(crate) fn ranked(
    data: &Dataset<'_>,
    what: &str,
    path: &Path,
    budget: Option<u64>,
) -> Result<(Vec<f64>, OtherRanker, Option<Joined>)> {
    let name = file_name(path);
    match RankerFile::read(path, budget)? {
        RankerFile::Model(model) => {
            let found = model.ranker_of(data, &name);
            let (ranker, joined) = found.with_context(|| path.display().to_string())?;
            let scores = ranker.scores(data).unwrap_or_default();
            Ok((scores, ranker, Some(joined)))
        }
        RankerFile::Scores(scores) => {
            let scores = in_row_order(data, what, path, scores)?;
            Ok((scores, OtherRanker::of_scores(name), None))
        }
    }
}

/// What came from another corpus.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct TransferReport {
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<RankerReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    score_feature: Option<RankerReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<SourceReport>,
}

#[derive(Debug, Clone, Serialize)]
struct RankerReport {
    name: String,
    /// Of a model.
    #[serde(flatten)]
    columns: Option<ColumnsReport>,
}

#[derive(Debug, Clone, Serialize)]
struct SourceReport {
    name: String,
    rows: usize,
    queries: usize,
    weight: f64,
    #[serde(flatten)]
    columns: ColumnsReport,
}

/// How columns were found.
#[derive(Debug, Clone, Copy, Serialize)]
struct ColumnsReport {
    by_names: bool,
    shared_columns: usize,
    dropped_columns: usize,
}

impl From<Joined> for ColumnsReport {
    fn from(joined: Joined) -> Self {
        Self {
            by_names: joined.by_names,
            shared_columns: joined.shared,
            dropped_columns: joined.dropped_columns,
        }
    }
}

impl ColumnsReport {
    fn text(self) -> String {
        let all = self.shared_columns + self.dropped_columns;
        let by = if self.by_names {
            "name"
        } else {
            "number, as one of both has no names"
        };
        format!(
            ", {} of its {} found by {by}",
            self.shared_columns,
            counted(all, "column")
        )
    }
}

impl TransferReport {
    /// A line for each, after a line break.
    pub(crate) fn text(&self) -> String {
        let mut text = String::new();
        let rankers = [
            ("offset", &self.offset),
            ("score feature", &self.score_feature),
        ];
        for (what, ranker) in rankers {
            if let Some(RankerReport { name, columns }) = ranker {
                let columns = columns.map_or_else(String::new, ColumnsReport::text);
                let _ = write!(text, "\n{what}: {name}{columns}");
            }
        }
        if let Some(source) = &self.source {
            let SourceReport {
                name,
                rows,
                queries,
                weight,
                columns,
            } = source;
            let (rows, queries) = (counted(*rows, "row"), counted(*queries, "query"));
            let _ = write!(
                text,
                "\nsource: {name}, {rows} in {queries}, weight {weight}{}",
                columns.text()
            );
        }
        text
    }

    /// Queries among those of the data that are of the source.
    pub(crate) fn source_queries(&self) -> usize {
        self.source.as_ref().map_or(0, |source| source.queries)
    }
}

/// Training data with what came from another corpus, and test data likewise.
pub(crate) struct Transferred {
    pub(crate) train: Dataset<'static>,
    pub(crate) test: Option<Dataset<'static>>,
    pub(crate) report: TransferReport,
}

impl TransferArgs {
    /// The option that is given, if one is.
    pub(crate) fn given(&self) -> Option<&'static str> {
        match () {
            () if !self.offset.is_empty() => Some("--offset"),
            () if !self.score_feature.is_empty() => Some("--score-feature"),
            () if self.source.is_some() => Some("--source"),
            () => None,
        }
    }

    /// The files that are read.
    pub(crate) fn inputs(&self) -> impl Iterator<Item = Option<&PathBuf>> {
        let rankers = self.offset.iter().chain(&self.score_feature).map(Some);
        rankers.chain([self.source.as_ref(), self.source_names.as_ref()])
    }

    /// Refuses more files than there are data.
    pub(crate) fn check(&self, data: usize) -> Result<()> {
        for (option, files) in [
            ("--offset", &self.offset),
            ("--score-feature", &self.score_feature),
        ] {
            if files.len() > data {
                let found = files.len();
                return Err(usage(format_args!(
                    "{option}: expected at most {data}, one for each data to read, found {found}"
                )));
            }
        }
        Ok(())
    }

    /// Refuses data in parts.
    pub(crate) fn check_parts(&self, data: &TrainingData) -> Result<()> {
        if let Some(option) = self.given().filter(|_| Shards::are_at(&data.path)) {
            let path = data.path.display();
            bail!("{path}: {option} takes all columns together: expected a file, found parts");
        }
        Ok(())
    }

    /// Adds what is asked for to the training data, whose labels are learnt on this scale, and to test
    /// data.
    pub(crate) fn apply(
        &self,
        train: Dataset<'static>,
        test: Option<Dataset<'static>>,
        data: &TrainingData,
        labels: LabelScale,
        console: Console,
    ) -> Result<Transferred> {
        let mut report = TransferReport::default();
        if let Some(path) = &self.source {
            let (train, found) = self.with_source(&train, path, data, labels, console)?;
            report.source = Some(found);
            return Ok(Transferred {
                train,
                test,
                report,
            });
        }
        let is_offset = !self.offset.is_empty();
        let files = if is_offset {
            &self.offset
        } else {
            &self.score_feature
        };
        let Some(path) = files.first() else {
            return Ok(Transferred {
                train,
                test,
                report,
            });
        };
        let budget = data.read.budget();
        let (scores, ranker, joined) = ranked(&train, "the data", path, budget)?;
        let entry = Some(RankerReport {
            name: ranker.name.clone(),
            columns: joined.map(ColumnsReport::from),
        });
        if let Some(joined) = joined.filter(|joined| !joined.by_names) {
            tell_of_numbers(path, joined, console);
        }
        if is_offset {
            report.offset = entry;
        } else {
            report.score_feature = entry;
        }
        let test = test.map(|test| {
            let own = match (ranker.scores(&test), files.get(1)) {
                (Some(scores), None) => scores,
                (_, Some(path)) => ranked(&test, "the test data", path, budget)?.0,
                (None, None) => {
                    let option = if is_offset {
                        "--offset"
                    } else {
                        "--score-feature"
                    };
                    bail!("{option}: expected the scores of --test as a second {option}")
                }
            };
            let name = files.last().unwrap_or(path).display().to_string();
            let with = if is_offset {
                test.with_offset(own, ranker.clone())
            } else {
                test.with_scores_to_predict(&own, ranker.clone())
            };
            with.with_context(|| name)
        });
        let test = test.transpose()?;
        let with = if is_offset {
            train.with_offset(scores, ranker)
        } else {
            train.with_score_feature(&scores, ranker)
        };
        let train = with.with_context(|| path.display().to_string())?;
        Ok(Transferred {
            train,
            test,
            report,
        })
    }

    /// The training data followed by the source.
    fn with_source(
        &self,
        train: &Dataset<'_>,
        path: &Path,
        data: &TrainingData,
        labels: LabelScale,
        console: Console,
    ) -> Result<(Dataset<'static>, SourceReport)> {
        let source = data.source(path, self.source_names.as_ref(), train, console)?;
        let in_file = || path.display().to_string();
        if !matches!(labels, LabelScale::Unit | LabelScale::Rank) {
            train.check_label_scale(&source).with_context(in_file)?;
        }
        let (both, joined) = train
            .with_source(&source, self.source_weight)
            .with_context(in_file)?;
        if !joined.by_names {
            tell_of_numbers(path, joined, console);
        }
        let report = SourceReport {
            name: file_name(path),
            rows: source.rows(),
            queries: source.queries().len(),
            weight: self.source_weight,
            columns: joined.into(),
        };
        Ok((both, report))
    }
}

/// Says that columns of another corpus were taken for those of the same number.
fn tell_of_numbers(path: &Path, joined: Joined, console: Console) {
    let shared = counted(joined.shared, "column");
    console.warn(format_args!(
        "{}: {shared} found by number, not by name: it or the data have no names of features \
         (--names, --source-names)",
        path.display()
    ));
}

/// Scores that data have to bring for a model that was trained with such.
#[derive(Debug, Default, Args)]
pub(crate) struct ScoresArgs {
    /// Scores of the rows by the ranker whose scores were the --offset of the model, one a line
    #[arg(long, value_name = "SCORES")]
    pub(crate) offset: Option<PathBuf>,
    /// Scores of the rows by the ranker whose scores were the --score-feature of the model, one a line
    #[arg(long, value_name = "SCORES")]
    pub(crate) score_feature: Option<PathBuf>,
}

impl ScoresArgs {
    /// `data` with the scores that `model` needs.
    pub(crate) fn apply(
        &self,
        model: &Model,
        mut data: Dataset<'static>,
        budget: Option<u64>,
    ) -> Result<Dataset<'static>> {
        let needed = [
            ("--offset", &self.offset, model.offset()),
            (
                "--score-feature",
                &self.score_feature,
                model.score_feature(),
            ),
        ];
        for (option, path, ranker) in needed {
            let (Some(path), Some(ranker)) = (path, ranker) else {
                continue;
            };
            if ranker.weights.is_some() {
                return Err(usage(format_args!(
                    "{option}: the model has {} in itself, and needs no scores",
                    ranker.name
                )));
            }
            let (scores, given, _) = ranked(&data, "the data", path, budget)?;
            if given.weights.is_some() {
                bail!(
                    "{}: expected scores, one a line, found a model",
                    path.display()
                );
            }
            let with = if option == "--offset" {
                data.with_offset(scores, ranker.clone())
            } else {
                data.with_scores_to_predict(&scores, ranker.clone())
            };
            data = with.with_context(|| path.display().to_string())?;
        }
        model.check_columns(&data)?;
        Ok(data)
    }

    /// Refuses scores that none of the models needs.
    pub(crate) fn check(&self, models: &[Model]) -> Result<()> {
        let offset = models.iter().any(|model| model.offset().is_some());
        let feature = models.iter().any(|model| model.score_feature().is_some());
        for (option, given, known) in [
            ("--offset", self.offset.is_some(), offset),
            ("--score-feature", self.score_feature.is_some(), feature),
        ] {
            if given && !known {
                return Err(usage(format_args!(
                    "{option}: the model was trained without one"
                )));
            }
        }
        Ok(())
    }
}
