//! The LETOR protocol: the experiment by which Greedy RankRLS is compared with RankRLS.
//!
//! A fold has training, validation and test data, in a folder. Greedy RankRLS is
//! [`Tuning`] with the validation data as evidence: features are selected on the training data up to
//! the last one with every ridge parameter, and lambda and the number of features are chosen
//! together by mean average precision. RankRLS on all features is given its parameter by the same
//! rule. Only then are both models measured on the test data. All measures follow
//! [`Convention::Letor`], which is that of the published figures; the validation and test data take
//! their width from the training data.
//!
//! ```no_run
//! use rankrls::data::read::ReadOptions;
//! use rankrls::letor;
//!
//! let options = letor::options();
//! for files in letor::find("MQ2008".as_ref())? {
//!     let fold = files.read(&ReadOptions::new())?;
//!     let outcome = letor::run(&fold, &options, &letor::lambdas(), &mut ())?;
//!     println!("{}: {:?}", fold.name, outcome.test[0]);
//! }
//! # Ok::<(), letor::LetorError>(())
//! ```

use std::num::NonZeroUsize;
use std::ops::Index;
use std::path::{Path, PathBuf};
use std::{fs, io};

use serde::{Serialize, Serializer};
use thiserror::Error;

use crate::columns::Summary;
use crate::data::Dataset;
use crate::data::read::{Loaded, ReadError, ReadOptions};
use crate::greedy::{SelectionOptions, StrategyKind};
use crate::metrics::{Convention, Metric, MetricsError, evaluate};
use crate::ridge::{RidgeProblem, Solver, TrainError, TrainOptions, Weights};
use crate::tune::{
    Curve, Ending, Evidence, Measure, Observer, Point, Rule, TuneError, TuneOptions, Tuned, Tuning,
};
use crate::{Lambda, Lambdas};

/// Names of the files of a fold, without their endings: training, validation and test data.
const PARTS: [&str; 3] = ["train", "vali", "test"];

/// Endings of the files, in the order in which they are looked for.
const ENDINGS: [&str; 3] = ["txt", "txt.gz", "txt.zst"];

const TEN: NonZeroUsize = NonZeroUsize::new(10).unwrap();

/// The measures of models, in the order of [`Measures`]. Models are chosen by the first.
pub const MEASURES: [Metric; 4] = [
    Metric::AveragePrecision,
    Metric::Precision(TEN),
    Metric::MeanNdcg,
    Metric::Ndcg(TEN),
];

/// Values of [`MEASURES`], which are means over queries; in JSON an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Measures(pub [Option<f64>; 4]);

impl Measures {
    /// The means over folds; `None` where one of them has no value, or there are none.
    pub fn mean(folds: &[Self]) -> Self {
        Self(std::array::from_fn(|index| {
            mean(folds.iter().map(|fold| fold[index]))
        }))
    }
}

impl Index<usize> for Measures {
    type Output = Option<f64>;

    fn index(&self, index: usize) -> &Option<f64> {
        &self.0[index]
    }
}

impl Serialize for Measures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = MEASURES.iter().map(Metric::to_string);
        serializer.collect_map(names.zip(&self.0))
    }
}

/// Why the protocol cannot be run.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LetorError {
    /// Folder without folds.
    #[error(
        "{}: expected train.txt, vali.txt and test.txt (each plain, .gz or .zst) or folders Fold1, Fold2 and so on, found neither",
        .directory.display()
    )]
    NoFolds {
        /// Where they were looked for.
        directory: PathBuf,
    },
    /// A fold that is not complete.
    #[error(
        "{}: expected {part}.txt, {part}.txt.gz or {part}.txt.zst, found none of them",
        .directory.display()
    )]
    Missing {
        /// The folder of the fold.
        directory: PathBuf,
        /// `train`, `vali` or `test`.
        part: &'static str,
    },
    /// A folder that cannot be listed.
    #[error("{}: cannot list the folder: {source}", .directory.display())]
    Directory {
        /// The folder.
        directory: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// A file that cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// No model can be chosen.
    #[error(transparent)]
    Tune(#[from] TuneError),
    /// A selection that is refused.
    #[error("{reason}")]
    Refused {
        /// Its ridge parameter.
        lambda: Lambda,
        /// Why.
        reason: String,
    },
    /// RankRLS on all features cannot be trained.
    #[error(transparent)]
    Train(#[from] TrainError),
    /// No model of RankRLS on all features has a mean average precision on the validation data.
    #[error(
        "no model of any lambda ranks the validation data by finite scores; use larger lambdas, or scale the data"
    )]
    NoRanking,
    /// The scores of the chosen model are no numbers.
    #[error("cannot measure the test data: {0}")]
    Test(#[from] MetricsError),
}

/// The files of a fold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldFiles {
    /// The name of its folder.
    pub name: String,
    /// Training data.
    pub train: PathBuf,
    /// Validation data.
    pub validation: PathBuf,
    /// Test data.
    pub test: PathBuf,
}

/// The data of a fold.
#[derive(Debug)]
pub struct Fold {
    /// The name of its folder.
    pub name: String,
    /// Training data.
    pub train: Dataset<'static>,
    /// Validation data, as wide as the training data.
    pub validation: Loaded,
    /// Test data, as wide as the training data.
    pub test: Loaded,
}

/// The folds in `directory`: the one that it is, or those in its folders `Fold1`, `Fold2` and so
/// on, by number.
///
/// # Errors
/// [`LetorError::NoFolds`], [`LetorError::Missing`] for a fold without one of its files, and
/// [`LetorError::Directory`].
pub fn find(directory: &Path) -> Result<Vec<FoldFiles>, LetorError> {
    let folders = folders(directory)?;
    if PARTS.iter().any(|part| file(directory, part).is_ok()) {
        return Ok(vec![FoldFiles::of(directory)?]);
    }
    if folders.is_empty() {
        return Err(LetorError::NoFolds {
            directory: directory.to_owned(),
        });
    }
    folders.iter().map(|folder| FoldFiles::of(folder)).collect()
}

/// The folders of folds in `directory`, by number.
fn folders(directory: &Path) -> Result<Vec<PathBuf>, LetorError> {
    let unlisted = |source| LetorError::Directory {
        directory: directory.to_owned(),
        source,
    };
    let mut folders = Vec::new();
    for entry in fs::read_dir(directory).map_err(unlisted)? {
        let path = entry.map_err(unlisted)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(number) = name.and_then(number).filter(|_| path.is_dir()) {
            folders.push((number, path));
        }
    }
    folders.sort();
    Ok(folders.into_iter().map(|(_, path)| path).collect())
}

/// `3` of `Fold3`.
fn number(name: &str) -> Option<u32> {
    let (word, number) = name.split_at_checked(4)?;
    if word.eq_ignore_ascii_case("fold") {
        number.parse().ok()
    } else {
        None
    }
}

fn file(directory: &Path, part: &'static str) -> Result<PathBuf, LetorError> {
    let files = ENDINGS.map(|ending| directory.join(format!("{part}.{ending}")));
    let mut files = files.into_iter();
    files
        .find(|file| file.exists())
        .ok_or_else(|| LetorError::Missing {
            directory: directory.to_owned(),
            part,
        })
}

impl FoldFiles {
    fn of(directory: &Path) -> Result<Self, LetorError> {
        let [train, validation, test] = PARTS;
        let named = directory.file_name().map(ToOwned::to_owned);
        // What ends in . or .. has its name elsewhere.
        let named = named.or_else(|| {
            fs::canonicalize(directory)
                .ok()?
                .file_name()
                .map(Into::into)
        });
        let name = named.unwrap_or_else(|| directory.as_os_str().to_owned());
        Ok(Self {
            name: name.to_string_lossy().into_owned(),
            train: file(directory, train)?,
            validation: file(directory, validation)?,
            test: file(directory, test)?,
        })
    }

    /// Reads the fold. The width in `options` is that of the training data.
    ///
    /// # Errors
    /// [`LetorError::Read`] names the place in the file and the mistake.
    pub fn read(&self, options: &ReadOptions) -> Result<Fold, LetorError> {
        let train = options.read(&self.train)?.dataset;
        let options = options.clone().width(train.width());
        Ok(Fold {
            name: self.name.clone(),
            validation: options.read(&self.validation)?,
            test: options.read(&self.test)?,
            train,
        })
    }
}

/// The paper's selections: all features by the fastest exact strategy, queries weighted alike.
pub fn options() -> SelectionOptions {
    SelectionOptions::new(usize::MAX, Lambda::ONE)
}

/// The paper's grid: powers of two from `2^-10` to `2^10`.
pub fn lambdas() -> Vec<Lambda> {
    let powers = (-10..=10).map(|exponent| 2_f64.powi(exponent));
    powers.filter_map(|power| Lambda::new(power).ok()).collect()
}

/// The results of the protocol on a fold.
#[derive(Debug, Clone, PartialEq)]
pub struct FoldOutcome {
    /// How the columns of the training data fall into classes.
    pub summary: Summary,
    /// The paths of Greedy RankRLS and its model; metrics are [`MEASURES`] of the validation data.
    pub tuned: Tuned,
    /// Measures of that model on the test data.
    pub test: Measures,
    /// The model of RankRLS on all features.
    pub all_features: AllFeatures,
}

/// The chosen model of RankRLS on all features.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AllFeatures {
    /// The solver of the weights.
    pub solver: Solver,
    /// The ridge parameter.
    pub lambda: Lambda,
    /// Features with a weight, which are the features that vary within some query.
    pub features: usize,
    /// Measures on the validation data, by which it was chosen.
    pub validation: Measures,
    /// Measures on the test data.
    pub test: Measures,
    /// What there was to choose from, by ascending ridge parameter.
    pub grid: Vec<Judged>,
}

/// RankRLS on all features with a ridge parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// The ridge parameter.
    pub lambda: Lambda,
    /// Measures on the validation data; `None` where the ridge parameter is too small.
    pub validation: Option<Measures>,
}

/// Runs the protocol on a fold: selections by `options` with each of `lambdas`, of all features if
/// there are fewer than it asks for. Queries have the weights of `options` in both models.
///
/// # Errors
/// [`LetorError`] when nothing can be selected, or no model measured; [`TuneError::Interrupted`] in
/// it when the observer ended the selections.
pub fn run(
    fold: &Fold,
    options: &SelectionOptions,
    lambdas: impl Into<Lambdas>,
    observer: &mut dyn Observer,
) -> Result<FoldOutcome, LetorError> {
    let (train, validation) = (&fold.train, &fold.validation.dataset);
    let options = TuneOptions {
        evidence: Evidence::of(validation),
        measure: Measure::Metric(MEASURES[0]),
        metrics: MEASURES.to_vec(),
        rules: Convention::Letor.into(),
        ..TuneOptions::new(*options, lambdas)
    };
    let candidates = if options.selection.strategy == Some(StrategyKind::FsEd) {
        options.candidates(&train.clone().with_validation(validation.clone()))
    } else {
        options.candidates(train)
    };
    let tuning = Tuning::new(train, &options).validated(validation);
    let held = tuning.held + fold.test.dataset.memory();
    let tuning = Tuning {
        candidates: Some(&candidates),
        held,
        ..tuning
    };
    let tuned = tuning.run(observer)?;
    if tuned.interrupted {
        return Err(TuneError::Interrupted.into());
    }
    for path in &tuned.outcomes {
        if let Ending::Refused { reason } = &path.ending {
            let (lambda, reason) = (path.options.lambda, reason.clone());
            return Err(LetorError::Refused { lambda, reason });
        }
    }
    let summary = candidates.summary();
    drop(candidates);
    let (selection, test) = (tuned.selection(), &fold.test.dataset);
    let scores = test.scores(&selection.features(), &selection.weights);
    let lambdas = tuned.outcomes.iter().map(|path| path.options.lambda);
    Ok(FoldOutcome {
        summary,
        test: measure(test, &scores)?,
        all_features: AllFeatures::new(fold, held, &options, &lambdas.collect::<Vec<_>>())?,
        tuned,
    })
}

impl AllFeatures {
    /// The model whose ridge parameter does best on the validation data.
    fn new(
        fold: &Fold,
        held: u64,
        options: &TuneOptions,
        lambdas: &[Lambda],
    ) -> Result<Self, LetorError> {
        let selection = &options.selection;
        let training = TrainOptions::new()
            .query_weight(selection.query_weight)
            .labels(selection.target.labels.unwrap_or_default())
            .scale(selection.scale)
            .lambdas(lambdas.len())
            .max_memory(selection.max_memory);
        let classes = training.column_classes(&fold.train);
        let problem = RidgeProblem::among(&fold.train, &classes, held, &training)?;
        let models = lambdas
            .iter()
            .map(|&lambda| trained(&problem, lambda, fold));
        let mut models = models.collect::<Result<Vec<_>, _>>()?;
        let validation = |model: &Option<(Weights, Measures)>| Some(model.as_ref()?.1);
        let judged = lambdas.iter().zip(&models);
        let judged = judged.map(|(&lambda, model)| Judged {
            lambda,
            validation: validation(model),
        });
        let grid: Vec<Judged> = judged.collect();
        let curve = |judged: &Judged| {
            let map = judged.validation.and_then(|measures| measures[0]);
            Curve::of_means(judged.lambda, [map])
        };
        let curves: Vec<Curve> = grid.iter().map(curve).collect();
        let choice = Rule::Best.choose(options.measure, &curves);
        let position = choice.ok_or(LetorError::NoRanking)?.position;
        let model = models.swap_remove(position);
        let (weights, validation) = model.ok_or(LetorError::NoRanking)?;
        let test = &fold.test.dataset;
        Ok(Self {
            solver: problem.solver(),
            lambda: lambdas[position],
            features: weights.features.len(),
            validation,
            test: measure(test, &weights.scores(test))?,
            grid,
        })
    }
}

/// Weights for `lambda`, and how they rank the validation data; none where numbers fail.
fn trained(
    problem: &RidgeProblem<'_>,
    lambda: Lambda,
    fold: &Fold,
) -> Result<Option<(Weights, Measures)>, TrainError> {
    let weights = match problem.train(lambda) {
        Ok(trained) => trained.weights(),
        Err(TrainError::Singular { .. } | TrainError::NotFinite) => return Ok(None),
        Err(error) => return Err(error),
    };
    let validation = &fold.validation.dataset;
    let measures = measure(validation, &weights.scores(validation)).ok();
    Ok(measures.map(|measures| (weights, measures)))
}

/// The measures of the validation data for a model of [`FoldOutcome::tuned`].
pub fn validation(point: &Point) -> Measures {
    Measures(std::array::from_fn(|index| point.metrics[index].mean))
}

/// Measures `scores` of the rows of `dataset`.
///
/// # Errors
/// [`MetricsError`] for scores or labels that the measures cannot be taken of.
pub fn measure(dataset: &Dataset<'_>, scores: &[f64]) -> Result<Measures, MetricsError> {
    let (labels, queries) = (dataset.labels(), dataset.queries());
    let evaluation = evaluate(&MEASURES, labels, scores, queries, Convention::Letor)?;
    let mean = |metric| evaluation.get(metric).and_then(|values| values.mean);
    Ok(Measures(MEASURES.map(mean)))
}

/// The mean over folds; `None` where one of them has no value, or there are none.
pub fn mean(folds: impl IntoIterator<Item = Option<f64>>) -> Option<f64> {
    let values: Vec<f64> = folds.into_iter().collect::<Option<_>>()?;
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(directory: &Path, endings: [&str; 3]) {
        fs::create_dir_all(directory).unwrap();
        for (part, ending) in PARTS.iter().zip(endings) {
            fs::write(directory.join(format!("{part}.{ending}")), "1 1:1\n").unwrap();
        }
    }

    #[test]
    fn a_folder_is_a_fold_or_holds_folds() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for (name, endings) in [
            ("Fold10", ["txt"; 3]),
            ("fold2", ["txt.zst", "txt", "txt.gz"]),
            ("Fold1", ["txt"; 3]),
            ("Folder", ["txt"; 3]),
        ] {
            fold(&root.join(name), endings);
        }
        fs::write(root.join("Fold3"), "no folder").unwrap();
        let names = |found: Vec<FoldFiles>| -> Vec<String> {
            found.into_iter().map(|fold| fold.name).collect()
        };
        assert_eq!(names(find(root).unwrap()), ["Fold1", "fold2", "Fold10"]);
        let one = find(&root.join("Fold10").join(".")).unwrap();
        assert_eq!(one.len(), 1);
        assert_eq!(one[0].name, "Fold10");
        let mixed = find(&root.join("fold2")).unwrap();
        assert!(mixed[0].test.ends_with("test.txt.gz"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let error = |path: &Path| find(path).unwrap_err().to_string();
        assert!(error(root).contains("found neither"));
        assert!(error(&root.join("absent")).contains("cannot list"));
        fold(&root.join("Fold1"), ["txt"; 3]);
        fold(&root.join("Fold2"), ["txt", "dat", "txt"]);
        let found = error(root);
        assert!(
            found.contains("Fold2: expected vali.txt, vali.txt.gz"),
            "{found}"
        );
    }
}
