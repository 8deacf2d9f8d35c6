//! The LETOR protocol: the experiment by which Greedy RankRLS is compared with RankRLS.
//!
//! A fold has training, validation and test data, in a folder. Greedy RankRLS is [`Tuning`] with the
//! validation data as evidence: features are selected on the training data up to the last one with
//! every ridge parameter, and lambda and the number of features are chosen together by mean average
//! precision. RankRLS on all features is given its parameter by the same rule. Only then are both
//! models measured on the test data. All measures follow [`Convention::Letor`], which is that of the
//! published figures; the validation and test data take their width from the training data.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::{array, fs};

use anyhow::{Result, anyhow, bail};
use rankrls::columns::Summary;
use rankrls::data::Dataset;
use rankrls::data::read::{Loaded, ReadError, ReadOptions};
use rankrls::greedy::{Selection, SelectionOptions, StrategyKind};
use rankrls::metrics::{Convention, Metric, MetricsError, evaluate};
use rankrls::ridge::{Convergence, RankRls, RidgeProblem, Solver, TOLERANCE, Weights};
use rankrls::tune::{
    Curve, Evidence, Measure, Outcome, Point, Rule, TuneError, TuneObserver, TuneOptions, Tuning,
};
use rankrls::warning::{Solved, Warning};
use rankrls::{Error, Kind, Lambda, Lambdas};
use rankrls_files::error::Fault;
use serde::{Serialize, Serializer};

/// The ridge parameters of the published figures.
pub(super) const LAMBDAS: &str = "2^-10..2^10";

/// Names of the files of a fold, without their endings: training, validation and test data.
pub(super) const PARTS: [&str; 3] = ["train", "vali", "test"];

const TEN: NonZeroUsize = NonZeroUsize::new(10).unwrap();

/// The measures of models, in the order of [`Measures`]. Models are chosen by the first.
pub(super) const MEASURES: [Metric; 4] = [
    Metric::AveragePrecision,
    Metric::Precision(TEN),
    Metric::MeanNdcg,
    Metric::Ndcg(TEN),
];

/// Values of [`MEASURES`], which are means over queries; in JSON an object.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Measures(pub(super) [Option<f64>; 4]);

impl Measures {
    /// Measures the `scores` of the rows of `dataset`.
    pub(super) fn of(dataset: &Dataset<'_>, scores: &[f64]) -> rankrls::Result<Self> {
        let (labels, queries) = (dataset.labels(), dataset.queries());
        let evaluation = evaluate(&MEASURES, labels, scores, queries, Convention::Letor)?;
        let mean = |metric| evaluation.get(metric).and_then(|values| values.mean);
        Ok(Self(MEASURES.map(mean)))
    }

    /// The means over folds; `None` where one of them has no value, or there are none.
    pub(super) fn mean(folds: &[Self]) -> Self {
        Self(array::from_fn(|index| {
            let values: Option<Vec<f64>> = folds.iter().map(|fold| fold.0[index]).collect();
            let values = values.filter(|values| !values.is_empty())?;
            Some(values.iter().sum::<f64>() / values.len() as f64)
        }))
    }
}

impl Serialize for Measures {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = MEASURES.iter().map(Metric::to_string);
        serializer.collect_map(names.zip(&self.0))
    }
}

/// The folders of the folds in `directory`: the one that it is, or its folders `Fold1`, `Fold2` and
/// so on, by number.
pub(super) fn find(directory: &Path) -> Result<Vec<PathBuf>> {
    let unlisted = |error| anyhow!("{}: cannot list the folder: {error}", directory.display());
    let mut numbered = Vec::new();
    for entry in fs::read_dir(directory).map_err(unlisted)? {
        let path = entry.map_err(unlisted)?.path();
        let name = name(&path).to_ascii_lowercase();
        let number = name.strip_prefix("fold").map(str::parse::<u32>);
        if let Some(Ok(number)) = number
            && path.is_dir()
        {
            numbered.push((number, path));
        }
    }
    numbered.sort();
    let mut folders: Vec<PathBuf> = numbered.into_iter().map(|(_, path)| path).collect();
    if PARTS.iter().any(|part| file(directory, part).is_ok()) {
        folders = vec![directory.to_owned()];
    }
    if folders.is_empty() {
        let expected = "train.txt, vali.txt and test.txt (each plain, .gz or .zst) or folders Fold1, \
                        Fold2 and so on";
        let fault = Fault::mismatch(expected, "neither");
        return Err(fault.of(&directory.display().to_string()).into());
    }
    for folder in &folders {
        for part in PARTS {
            file(folder, part)?;
        }
    }
    Ok(folders)
}

/// The file of a part of a fold: plain if there are several.
pub(super) fn file(folder: &Path, part: &str) -> Result<PathBuf, ReadError> {
    let files = ["txt", "txt.gz", "txt.zst"].map(|ending| folder.join(format!("{part}.{ending}")));
    let found = files.into_iter().find(|file| file.exists());
    found.ok_or_else(|| {
        let expected = format!("{part}.txt, {part}.txt.gz or {part}.txt.zst");
        Fault::mismatch(expected, "none of them").of(&folder.display().to_string())
    })
}

/// The name of a folder, also of one that is given as `.` or `..`.
pub(super) fn name(folder: &Path) -> String {
    let whole = fs::canonicalize(folder).unwrap_or_default();
    let name = folder.file_name().or(whole.file_name());
    name.unwrap_or(folder.as_os_str()).to_string_lossy().into()
}

/// The data of a fold.
#[derive(Debug)]
pub(super) struct Fold {
    /// The name of its folder.
    pub(super) name: String,
    /// Training data.
    pub(super) train: Dataset<'static>,
    /// Validation data, as wide as the training data.
    pub(super) validation: Loaded,
    /// Test data, as wide as the training data.
    pub(super) test: Loaded,
}

impl Fold {
    /// The files of the fold in `folder`: training, validation and test data.
    pub(super) fn files(folder: &Path) -> Result<[PathBuf; 3], ReadError> {
        let [train, validation, test] = PARTS.map(|part| file(folder, part));
        Ok([train?, validation?, test?])
    }

    /// Reads the fold in `folder`. The width in `options` is that of the training data.
    pub(super) fn read(folder: &Path, options: &ReadOptions) -> Result<Self, ReadError> {
        let train = options.read(&file(folder, PARTS[0])?)?.dataset;
        let options = options.clone().width(train.width());
        Ok(Self {
            name: name(folder),
            train,
            validation: options.read(&file(folder, PARTS[1])?)?,
            test: options.read(&file(folder, PARTS[2])?)?,
        })
    }
}

/// The results of the protocol on a fold.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct FoldOutcome {
    /// How the columns of the training data fall into classes.
    #[serde(skip)]
    pub(super) summary: Summary,
    /// The chosen selection.
    #[serde(skip)]
    pub(super) selection: Selection,
    /// The strategy of the selections.
    pub(super) strategy: Option<StrategyKind>,
    /// The solver of RankRLS on all features.
    pub(super) solver: Solver,
    /// How conjugate gradients ended for the chosen model on all features, if they were the solver.
    #[serde(skip)]
    pub(super) convergence: Option<Convergence>,
    /// The chosen model of Greedy RankRLS.
    pub(super) greedy: Chosen,
    /// The chosen model of RankRLS on the features that vary within some query.
    pub(super) all_features: Chosen,
    /// The models to choose from, by ascending ridge parameter.
    pub(super) paths: Vec<Judged>,
}

/// A model that the validation data chose.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Chosen {
    /// The ridge parameter.
    pub(super) lambda: Lambda,
    /// How many features it has.
    pub(super) k: usize,
    /// Features as the files write them, in order of selection.
    pub(super) features: Vec<u64>,
    /// A weight for each feature.
    pub(super) weights: Vec<f64>,
    /// Measures on the validation data.
    pub(super) validation: Measures,
    /// Measures on the test data.
    pub(super) test: Measures,
}

/// The models of a ridge parameter.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Judged {
    /// The ridge parameter.
    pub(super) lambda: Lambda,
    /// Features of Greedy RankRLS as the files write them, in order of selection.
    pub(super) features: Vec<u64>,
    /// Measures on the validation data after each of these features.
    pub(super) validation: Vec<Measures>,
    /// Those of RankRLS on all features; `None` where the ridge parameter is too small.
    pub(super) all_features: Option<Measures>,
}

/// Runs the protocol on a fold: selections by `options` with each of `lambdas`, of all features if
/// there are fewer than it asks for. Queries have the weights of `options` in both models. `None`: the
/// observer ended the selections.
pub(super) fn run(
    fold: &Fold,
    options: &SelectionOptions,
    lambdas: impl Into<Lambdas>,
    observer: &mut dyn TuneObserver,
) -> Result<Option<FoldOutcome>> {
    let validation = &fold.validation.dataset;
    let mut options = TuneOptions {
        evidence: Evidence::of(validation),
        measure: Measure::Metric(MEASURES[0]),
        metrics: MEASURES.to_vec(),
        rules: Convention::Letor.into(),
        ..TuneOptions::new(options.clone(), lambdas)
    };
    let memory = &mut options.selection.memory;
    *memory = memory.holding(fold.test.dataset.memory());
    let filters = options.selection.strategy == Some(StrategyKind::FsEd);
    let validated = filters.then(|| fold.train.clone().with_validation(validation.clone()));
    let train = validated.as_ref().unwrap_or(&fold.train);
    let candidates = options.selection.candidates(train);
    let tuning = Tuning {
        candidates: Some(&candidates),
        ..Tuning::new(train, &options).validated(validation)
    };
    let tuned = match tuning.run(observer) {
        Err(TuneError::Interrupted) => return Ok(None),
        tuned => tuned?,
    };
    if tuned.interrupted {
        return Ok(None);
    }
    let summary = candidates.summary();
    drop(candidates);
    let lambdas: Vec<Lambda> = tuned.outcomes.iter().map(|path| path.lambda).collect();
    let training = RankRls {
        lambdas: Lambdas::of(&lambdas),
        query_weight: options.selection.query_weight,
        labels: options.selection.target.labels.unwrap_or_default(),
        scale: options.selection.scale,
        memory: options.selection.memory.holding(validation.memory()),
        ..RankRls::default()
    };
    let classes = training.column_classes(&fold.train);
    let problem = RidgeProblem::among(&fold.train, &classes, &training)?;
    let trained = tuned.outcomes.iter().map(|path| {
        let weights = match problem.train(path.lambda) {
            Ok(trained) => Some((trained.weights(), trained.convergence())),
            Err(error) if error.kind() == Kind::Numbers => None,
            Err(error) => return Err(error),
        };
        let judged = fold.judged(path, weights.as_ref().map(|(weights, _)| weights));
        Ok((judged, weights))
    });
    let (paths, mut models): (Vec<Judged>, Vec<_>) = trained
        .collect::<Result<Vec<_>, Error>>()?
        .into_iter()
        .unzip();
    let all = |path: &Judged| path.all_features.and_then(|measures| measures.0[0]);
    let curves = paths
        .iter()
        .map(|path| Curve::of_means(path.lambda, [all(path)]));
    let chosen = Rule::Best.choose(options.measure, &curves.collect::<Vec<_>>());
    let best = chosen.map(|choice| {
        (
            paths[choice.position].lambda,
            models.swap_remove(choice.position),
        )
    });
    let Some((lambda, Some((weights, convergence)))) = best else {
        bail!(
            "no model of any lambda ranks the validation data by finite scores; use larger lambdas, or scale the data"
        );
    };
    let selection = tuned.selection();
    Ok(Some(FoldOutcome {
        greedy: fold.chosen(tuned.lambda(), &selection.features(), &selection.weights)?,
        all_features: fold.chosen(lambda, &weights.features, &weights.values)?,
        strategy: selection.strategy,
        solver: problem.solver(),
        convergence,
        summary,
        selection,
        paths,
    }))
}

impl Fold {
    fn chosen(&self, lambda: Lambda, features: &[u32], weights: &[f64]) -> Result<Chosen> {
        let measured = |loaded: &Loaded| {
            let dataset = &loaded.dataset;
            Measures::of(dataset, &dataset.scores(features, weights))
                .map_err(|error| anyhow!("cannot measure the test data: {error}"))
        };
        let written = |&feature: &u32| self.train.index_base().written(feature);
        Ok(Chosen {
            lambda,
            k: features.len(),
            features: features.iter().map(written).collect(),
            weights: weights.to_vec(),
            validation: measured(&self.validation)?,
            test: measured(&self.test)?,
        })
    }

    fn judged(&self, path: &Outcome, all_features: Option<&Weights>) -> Judged {
        let validation = &self.validation.dataset;
        let written = |point: &Point| self.train.index_base().written(point.step.feature);
        let measures = |point: &Point| Measures(array::from_fn(|place| point.metrics[place].mean));
        let measured =
            |weights: &Weights| Measures::of(validation, &weights.scores(validation)).ok();
        Judged {
            lambda: path.lambda,
            features: path.points.iter().map(written).collect(),
            validation: path.points.iter().map(measures).collect(),
            all_features: all_features.and_then(measured),
        }
    }
}

impl FoldOutcome {
    /// Warnings about the models of the fold, which messages call `name`.
    pub(super) fn warnings(&self, name: &str) -> Vec<Warning> {
        let lambdas = || self.paths.iter().map(|path| path.lambda.value());
        let edge = |of: &str, chosen: &Chosen| {
            let what = format!("{name}: the lambda of {of}");
            Warning::of_edge(what, chosen.lambda.value(), lambdas())
        };
        let edges = [
            edge("features", &self.greedy),
            edge("all columns", &self.all_features),
        ];
        let ended = self.convergence.filter(|ended| !ended.is_within(TOLERANCE));
        let residual = ended.map(|ended| Warning::Residual {
            lambda: self.all_features.lambda,
            solved: Solved::Model,
            residual: ended.residual,
            tolerance: TOLERANCE,
        });
        let mut warnings: Vec<Warning> = edges.into_iter().flatten().collect();
        warnings.extend(residual);
        warnings.extend(self.selection.warnings());
        warnings
    }
}
