//! `rankrls train`.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;

use anyhow::{Context as _, Result, anyhow, bail};
use clap::Args;
use rankrls::columns::Summary;
use rankrls::data::read::{read_folds, read_preferences};
use rankrls::data::{Groups, HoldOut, LabelScale, Preference, one_query};
use rankrls::metrics::{Measure, Metric};
use rankrls::model::{FeatureChoice, SelectedFeature, read_features};
use rankrls::ridge::{
    Cell, Chosen, Fit, HOLDOUT_TOLERANCE, Holdout, Kernel, KernelKind, Preferences, RankRls,
    Training, Tried,
};
use rankrls::warning::Warning;
use rankrls::{ColumnClasses, Dataset, Lambdas, Model, Objective, Queries, QueryWeight, Solver};
use rankrls_files::memory;
use serde::Serialize;
use serde_json::{Value, json};

use super::args::{auto_or, one_of, usage};
use super::console::Console;
use super::data::TrainingData;
use super::files::Files;
use super::kernels::KernelArgs;
use super::numbers::{exact, ridge, short};
use super::output::{Destination, appear};
use super::session::Session;
use super::settings::{LAMBDAS_HELP, WeightArgs};
use super::sheet::Sheet;
use super::sizes::{Sizes, heading};

/// Train RankRLS on all features, or on given ones, without selection
///
/// Prints error and concordance index of hold-out predictions: every query is predicted by a model
/// that has not seen it. Columns that are constant within every query cannot help and are left out.
///
/// The solvers find the same weights. dual takes memory with the square of the rows, primal with
/// the square of the column classes, and both leave every query out, exactly, from one
/// factorisation; cg, conjugate gradients, takes little memory and trains again for what it holds
/// out. auto takes the faster of the first two if that is a matter of seconds and fits into memory,
/// else cg.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls train @sentences --lambda 16
  rankrls train train.svm --lambda 1 -o model.json.zst
  rankrls train train.svm --lambda 0.25,1,4,16 --json
  rankrls train train.svm --lambda 2^-4..2^10:2
  rankrls train train.svm --lambda 1 --features model.json -o given.json
  rankrls train train.svm --lambda 1 --holdout folds:3 --seed 7
  rankrls train train.svm --kernel gaussian:2^-9..2^-1:2
  rankrls train train.svm --objective global --holdout lpo --choose-by cindex
  rankrls train train.svm --objective pairs --pairs preferences.txt -o preferred.json")]
pub(crate) struct TrainArgs {
    #[arg(
        help_heading = "Training",
        long,
        value_name = "LIST",
        allow_hyphen_values = true,
        default_value = "auto"
    )]
    #[arg(help = format!("{}. Of several, the model is that of the least hold-out error", LAMBDAS_HELP))]
    lambda: Lambdas,
    /// Train on these features only: a model, or a list with an index a line
    #[arg(help_heading = "Training", long, value_name = "FILE")]
    features: Option<PathBuf>,
    /// Solver
    #[arg(long, value_name = "NAME", default_value = "auto")]
    #[arg(help_heading = "Training", value_parser = auto_or(Solver::ALL, Solver::name))]
    solver: std::option::Option<Solver>,
    #[command(flatten)]
    weight: WeightArgs,
    /// Scale of the training labels within each query, as for select; errors are in its units
    /// [default: raw with numbers for lambda, else chosen by hold-outs]
    #[arg(long, value_name = "SCALE")]
    #[arg(help_heading = "Training", value_parser = one_of(LabelScale::ALL, LabelScale::name))]
    label_scale: Option<LabelScale>,
    #[command(flatten)]
    objective: ObjectiveArgs,
    #[command(flatten)]
    kernel: KernelArgs,
    /// Rows to predict by models that have not seen them: lqo, every query; lpo, every pair of rows of
    /// a query, or every preference; folds:N, N groups of queries, of the rows of a single query, or of
    /// preferences, drawn at random; FILE, with a fold a line for each row or preference; none
    /// [default: lqo, or folds:5 where solver cg would take long; lpo with other objectives, or folds:5
    /// where that would take long]
    #[arg(help_heading = "Hold-out", long, value_name = "SCHEME")]
    holdout: Option<HoldoutChoice>,
    /// Write the hold-out predictions of the model to this file: one a row of DATA, or one a
    /// preference; for lpo, two row numbers and two predictions a line
    #[arg(help_heading = "Hold-out", long, value_name = "FILE")]
    holdout_scores: Option<PathBuf>,
    /// What the best of several models is chosen by: squared, the hold-out error, or a measure of the
    /// hold-out predictions
    #[arg(long = "choose-by", value_name = "NAME", default_value = "squared")]
    #[arg(help_heading = "Hold-out")]
    measure: Measure,
    /// Seed of random draws
    #[arg(
        help_heading = "Training",
        long,
        value_name = "SEED",
        default_value_t = 1
    )]
    seed: u64,
    #[command(flatten)]
    data: TrainingData,
    /// Write the model to this file
    #[arg(help_heading = "Output", short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print one JSON document
    #[arg(help_heading = "Output", long)]
    json: bool,
}

/// The value of `--holdout`.
#[derive(Debug, Clone)]
pub(crate) enum HoldoutChoice {
    Named(HoldOut),
    /// A file with the fold of every row.
    File(PathBuf),
}

impl FromStr for HoldoutChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Ok(named) = text.parse() {
            return Ok(Self::Named(named));
        }
        let after = text.strip_prefix("folds:");
        let named = after.filter(|path| !path.is_empty() && path.parse::<f64>().is_err());
        let path = named.or(Some(text).filter(|path| Path::new(path).exists()));
        let file = path.map(|path| Self::File(PathBuf::from(path)));
        file.ok_or_else(|| {
            let schemes = HoldOut::NAMES;
            format!("expected one of {schemes}, or a file with the folds")
        })
    }
}

/// The pairs to order.
#[derive(Debug, Args)]
#[command(next_help_heading = "Training")]
struct ObjectiveArgs {
    /// Pairs of rows to order: query, those of the same query; global, all; pairs, those of --pairs
    #[arg(long, value_name = "NAME", default_value = "query")]
    #[arg(value_parser = one_of(Objective::ALL, Objective::name))]
    objective: Objective,
    // Not a comment of documentation, which takes brackets for links.
    #[arg(
        long,
        value_name = "FILE",
        help = "Preferences, PREFERRED OTHER [MAGNITUDE [WEIGHT]] a line: rows of DATA from 1 on"
    )]
    pairs: Option<PathBuf>,
}

pub(crate) fn run(args: &TrainArgs, session: &Session<'_>) -> Result<ExitCode> {
    let params = args.params()?;
    let console = session.console;
    let files = &session.files;
    args.name_inputs(files)?;
    let scores = Destination::create(files, "--holdout-scores", args.holdout_scores.as_ref())?;
    let output = Destination::create(files, "--output", args.output.as_ref())?;
    let results = files.results(args.json)?;
    let (train, load_seconds) = args.data.train(console)?;
    let spinner = console.spinner("training");
    let trained = args.train(&train, params, load_seconds, console);
    spinner.finish_and_clear();
    let (model, report) = trained?;
    session.interrupt.finishing("the files", &spinner);
    let written = match &model {
        Some(model) => output.complete(|writer| model.write_to(writer)),
        None => Ok(None),
    };
    let of_rows = args.objective.objective != Objective::Pairs;
    let held_out = match &report.outcome.best().holdout {
        Some(holdout) => scores.complete(|writer| write_holdout(&train, of_rows, holdout, writer)),
        None => Ok(None),
    };
    report.warn(args, &train, session);
    let saved = appear([written, held_out]);
    session.end(&results, &report, || report.text(args), saved)
}

/// Predictions for each row in input order, or for each preference. For pairs, the rows of each from 1 on and a
/// prediction for each.
fn write_holdout(
    data: &Dataset<'_>,
    of_rows: bool,
    holdout: &Holdout,
    writer: &mut dyn Write,
) -> io::Result<()> {
    if holdout.pairs.is_empty() {
        let in_order = if of_rows {
            data.in_input_order(holdout.predictions.clone())
        } else {
            holdout.predictions.clone()
        };
        return in_order
            .iter()
            .try_for_each(|score| writeln!(writer, "{score:.16e}"));
    }
    let input = |row: u32| data.input_rows().map_or(row, |rows| rows[row as usize]) + 1;
    holdout.pairs.iter().try_for_each(|&(rows, [a, b])| {
        let [first, second] = rows.map(input);
        writeln!(writer, "{first} {second} {a:.16e} {b:.16e}")
    })
}

/// Results, in the schema `rankrls.training/1`.
#[derive(Debug, Serialize)]
struct Report {
    schema: &'static str,
    #[serde(skip)]
    outcome: Training,
    /// A warning of differing units.
    #[serde(skip)]
    units: Option<Warning>,
    /// Null for the columns themselves.
    #[serde(skip_serializing_if = "Option::is_none")]
    kernel: Option<Kernel>,
    /// Rows in the basis of the kernel model.
    #[serde(skip_serializing_if = "Option::is_none")]
    basis: Option<usize>,
    /// The measure that chose the best model.
    #[serde(skip_serializing_if = "Option::is_none")]
    measure: Option<Metric>,
    /// The options, with the chosen solver. Errors are in units of its labels.
    #[serde(flatten)]
    options: RankRls,
    features: FeatureChoice,
    /// The choice of scales that nobody gave.
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<ScaleChoice>,
    /// Features with a weight.
    weights: usize,
    data: Sizes,
    #[serde(flatten)]
    best: Value,
    /// Every ridge parameter, in the order of the list, with each gamma.
    lambdas: Vec<Value>,
    load_seconds: f64,
    train_seconds: f64,
    peak_rss_bytes: Option<u64>,
}

/// The tried scales of columns and labels.
#[derive(Debug, Serialize)]
struct ScaleChoice {
    measure: Metric,
    tried: Vec<Tried>,
}

impl ScaleChoice {
    /// The trials, if there was a choice.
    fn of(chosen: &Chosen) -> Option<Self> {
        let tried = chosen.tried.clone();
        let measure = chosen.measure;
        (!tried.is_empty()).then_some(Self { measure, tried })
    }

    fn text(&self) -> String {
        let measure = match self.measure {
            Metric::CONCORDANCE => "concordance index".to_owned(),
            metric => metric.to_string(),
        };
        let mut text = format!("\nscales chosen by the hold-outs ({measure}):");
        for tried in &self.tried {
            let (scale, label_scale) = (tried.scale, tried.label_scale);
            let value = match (&tried.reason, tried.value) {
                (Some(reason), _) => format!("was left out: {reason}"),
                (None, Some(value)) => format!("{value:.3}"),
                (None, None) => "-".to_owned(),
            };
            let _ = write!(
                text,
                "\n  columns {scale:<4} labels {label_scale:<7} {value}"
            );
        }
        text
    }
}

/// A ridge parameter and its hold-out predictions.
fn judged(cell: &Cell, scheme: Option<&HoldOut>) -> Value {
    let held_out = cell.holdout.as_ref().zip(scheme);
    let lqo = held_out.filter(|(_, scheme)| **scheme == HoldOut::Queries);
    let holdout = held_out.map(|(holdout, scheme)| {
        let mut holdout = json!({
            "scheme": scheme.to_string(),
            // The seed of the draw, if there was one.
            "seed": scheme.drawn_by(),
            "cindex": holdout.cindex,
            "squared": holdout.error,
            // The largest of the models, if conjugate gradients found them.
            "residual": holdout.residual,
        });
        if let Some(measure) = cell.measure {
            holdout["measure"] = measure.into();
        }
        holdout
    });
    json!({
        "lambda": cell.lambda.value(),
        "lqo_error": lqo.map(|(holdout, _)| holdout.error),
        "lqo_cindex": lqo.and_then(|(holdout, _)| holdout.cindex),
        "holdout": holdout,
    })
}

/// The entry with the condition number, and with the end of conjugate gradients on all queries, which run for the
/// best alone.
fn entry(cell: &Cell, scheme: Option<&HoldOut>) -> Value {
    let mut entry = judged(cell, scheme);
    // At least the condition number; null if it overflows.
    entry["condition"] = cell.condition.into();
    entry["iterations"] = cell.iterations.into();
    entry["residual"] = cell.residual.into();
    if let Some(gamma) = cell.kernel.gamma() {
        entry["gamma"] = gamma.into();
    }
    entry
}

impl TrainArgs {
    /// Names the files to read.
    fn name_inputs(&self, files: &Files) -> Result<()> {
        self.data.name_files(files, [])?;
        let folds = match &self.holdout {
            Some(HoldoutChoice::File(path)) => Some(path),
            _ => None,
        };
        let inputs = [
            ("--features", self.features.as_ref()),
            ("--pairs", self.objective.pairs.as_ref()),
            ("--holdout", folds),
            ("--basis", self.kernel.basis_file()),
        ];
        let mut inputs = inputs.into_iter();
        inputs.try_for_each(|(name, path)| files.reads(name, path))
    }

    /// All settings that do not depend on the rows of the data. Refuses mistakes that the parser cannot see.
    fn params(&self) -> Result<RankRls> {
        self.data.read.check([&self.data.path])?;
        let holdout = match &self.holdout {
            Some(HoldoutChoice::Named(named)) => named.clone().seed(self.seed),
            None | Some(HoldoutChoice::File(_)) => HoldOut::Auto,
        };
        let params = RankRls {
            lambdas: self.lambda.clone(),
            kernels: self.kernel.kernels()?,
            holdout,
            seed: self.seed,
            keep_pairs: self.holdout_scores.is_some(),
            measure: self.measure,
            objective: self.objective.objective,
            query_weight: self.weight.query_weight,
            label_scale: self.label_scale,
            scale: self.weight.scale,
            solver: self.solver,
            memory: self.data.read.memory(),
            ..RankRls::default()
        };
        let (basis, pairs) = (&self.kernel.basis, &self.objective.pairs);
        params
            .check(basis.is_some(), pairs.is_some())
            .map_err(usage)?;
        if params.holdout == HoldOut::Nothing && self.holdout_scores.is_some() {
            let mistake = "--holdout none has no predictions for --holdout-scores";
            return Err(usage(mistake));
        }
        Ok(params)
    }

    /// Gives `params` the files' facts about rows of `data`: basis, preferences and folds.
    fn place(&self, params: &mut RankRls, data: &Dataset<'_>, console: Console) -> Result<()> {
        let memory = self.data.read.memory();
        params.basis = self.kernel.basis(data.rows(), self.seed, memory)?;
        if let Some(path) = &self.objective.pairs {
            let numbered = read_preferences(path, data.rows(), memory)?;
            let (lines, list): (Vec<u64>, Vec<Preference>) = numbered.into_iter().unzip();
            console.warn_all(Warning::of_preferences(data, &list, &lines));
            // Files of other programs have weights there.
            let unlike = |number: fn(&Preference) -> f64| list.iter().any(|one| number(one) != 1.0);
            if unlike(|one| one.magnitude) && !unlike(|one| one.weight) {
                let path = path.display();
                console.tell(format_args!(
                    "{path}: numbers in the third column are magnitudes, differences of scores to be learnt; \
                     weights are those in the fourth\n"
                ));
            }
            let preferences = Preferences::new(list, data);
            params.preferences = Some(preferences.with_context(|| path.display().to_string())?);
        }
        if let Some(HoldoutChoice::File(path)) = &self.holdout {
            let folds = read_folds(path, memory)?;
            let (names, path): (Vec<&str>, _) = (folds.iter().collect(), path.display());
            if let Some(line) = names.iter().position(|name| name.is_empty()) {
                let what = if params.preferences.is_some() {
                    "preference"
                } else {
                    "row"
                };
                let line = line + 1;
                bail!("{path}:{line}: expected the fold of a {what}, found nothing");
            }
            let preferences = params.preferences.as_ref().map(Preferences::len);
            let groups = Groups::of_folds(&names, data, preferences);
            params.holdout = HoldOut::Given {
                name: format!("folds:{path}"),
                groups: groups.with_context(|| path.to_string())?,
            };
        }
        Ok(())
    }

    /// The columns of `train` that the file at `path` lists, and their classes.
    fn restricted(
        &self,
        path: &Path,
        train: &Dataset<'_>,
        params: &RankRls,
        console: Console,
    ) -> Result<(Dataset<'static>, ColumnClasses)> {
        let listed = read_features(path, train.index_base(), train.width(), params.memory)?;
        let name = path.display().to_string();
        console.warn_all(Warning::of_unfinished(&name, listed.unfinished));
        let listed = listed.columns;
        let restricted = train.features_subset(&listed)?;
        let classes = params.column_classes(&restricted)?;
        if classes.is_empty() && self.kernel.is_linear() {
            let given = match listed.len() {
                1 => "the given feature is".to_owned(),
                count => format!("all {count} given features are"),
            };
            bail!(
                "nothing to train on: {given} constant within every query, and cannot tell \
                 the examples of a query apart"
            );
        }
        Ok((restricted, classes))
    }

    /// The error of a training with so many `models` to choose from.
    fn told(&self, error: rankrls::Error, queries: &Queries, models: usize) -> anyhow::Error {
        if error == one_query(queries) && models > 1 && self.holdout.is_none() {
            return anyhow!("which lambda is best is not known, as {error}");
        }
        error.into()
    }

    /// Chooses the open settings, and trains on `data` with these column `classes`.
    fn choose(
        &self,
        mut params: RankRls,
        data: &Dataset<'_>,
        classes: &ColumnClasses,
    ) -> Result<Chosen> {
        let memory = params.memory;
        if self.output.is_some() {
            // The allocator seldom frees the memory of the classes before the model is made. Each column of a class
            // has a weight.
            let summary = classes.summary();
            let columns = summary.columns - summary.constant_columns;
            let model = size_of::<SelectedFeature>() * columns;
            params.memory = memory.holding(model as u64);
        }
        let chosen = params.choose(data, classes);
        let models = params.lambdas.count() * params.kernels.len();
        let mut chosen = chosen.map_err(|error| self.told(error, data.queries(), models))?;
        chosen.options.memory = memory;
        Ok(chosen)
    }

    /// How the features were chosen.
    fn features(&self) -> FeatureChoice {
        match self.features {
            Some(_) => FeatureChoice::Given,
            None => FeatureChoice::All,
        }
    }

    /// The best model on `data`, if it is to be written or needed to know its features, and how many these are.
    fn model(
        &self,
        chosen: &Chosen,
        data: &Dataset<'_>,
        summary: &Summary,
    ) -> Result<(usize, Option<Model>)> {
        let (training, options) = (&chosen.training, &chosen.options);
        match &training.fit {
            Fit::Linear(weights) if self.output.is_none() => Ok((weights.len(), None)),
            _ => {
                let features = self.features();
                let mut model = Model::from_training(training, features, data, summary, options)?;
                model.table = self.data.read.table();
                Ok((model.features.len(), Some(model)))
            }
        }
    }

    /// The best model, if it is to be written, of data that took `load_seconds` to read.
    fn train(
        &self,
        train: &Dataset<'_>,
        mut params: RankRls,
        load_seconds: f64,
        console: Console,
    ) -> Result<(Option<Model>, Report)> {
        let begin = Instant::now();
        self.place(&mut params, train, console)?;
        let keeps_units = params.keeps_units();
        let candidates = params.column_classes(train)?;
        let restricted = match &self.features {
            None => None,
            Some(path) => Some(self.restricted(path, train, &params, console)?),
        };
        let (data, found) = match &restricted {
            None => (train, &candidates),
            Some((data, classes)) => {
                let held = train.memory() + candidates.memory();
                params.memory = params.memory.holding(held);
                (data, classes)
            }
        };
        let chosen = self.choose(params, data, found)?;
        let units = || Warning::of_units(&candidates, train);
        let units = keeps_units.then(units).flatten();
        let summary = candidates.summary();
        // The model reuses the memory of the classes.
        drop(candidates);
        // A basis has only the given features.
        let is_linear = chosen.training.best().kernel.is_linear();
        let source = if is_linear { train } else { data };
        let (weights, model) = self.model(&chosen, source, &summary)?;
        let report = Report {
            weights,
            units,
            load_seconds,
            train_seconds: begin.elapsed().as_secs_f64(),
            ..Report::new(self, chosen, Sizes::new(train, &summary))
        };
        Ok((model, report))
    }
}

impl Report {
    /// Reports the `chosen` model. Times and the number of weights come later.
    fn new(args: &TrainArgs, chosen: Chosen, data: Sizes) -> Self {
        let choice = ScaleChoice::of(&chosen);
        let (params, outcome) = (chosen.options, chosen.training);
        let (best, scheme) = (outcome.best(), outcome.held_out.as_ref());
        let cells = outcome.cells.iter();
        Self {
            schema: "rankrls.training/1",
            kernel: Some(best.kernel).filter(|kernel| kernel.kind != KernelKind::Linear),
            basis: match &outcome.fit {
                Fit::Kernel(coefficients) => Some(coefficients.len()),
                Fit::Linear(_) => None,
            },
            measure: args.measure.metric(),
            options: RankRls {
                solver: Some(outcome.solver),
                ..params
            },
            features: args.features(),
            weights: 0,
            data: Sizes {
                unit: outcome.unit,
                ..data
            },
            best: judged(best, scheme),
            lambdas: cells.map(|cell| entry(cell, scheme)).collect(),
            load_seconds: 0.0,
            train_seconds: 0.0,
            peak_rss_bytes: memory::peak(),
            outcome,
            units: None,
            choice,
        }
    }

    fn warn(&self, args: &TrainArgs, train: &Dataset<'_>, session: &Session<'_>) {
        let (console, scheme) = (session.console, self.outcome.held_out.as_ref());
        let scale = self.options.column_scale();
        console.warn_all(self.outcome.warnings(train, scale));
        console.warn_all(self.units.clone());
        let drawn = args.kernel.draws() || scheme.and_then(HoldOut::drawn_by).is_some();
        if !drawn {
            session.warn_of_seed(None);
        }
        if !args.objective.objective.is_query() {
            return;
        }
        if let Some(HoldOut::Given { groups, .. }) = scheme {
            console.warn_all(Warning::of_folds(groups, train.queries()));
        }
        let measure = args.measure.metric();
        console.warn_all(Warning::of_grades(measure.as_slice(), train.labels()));
        console.warn_all(Warning::of_queries(train));
        if self.data.queries == 1 && scheme.is_none() {
            console.warn(format_args!("no hold-out: {}", one_query(train.queries())));
        }
    }

    /// The report for people.
    fn text(&self, args: &TrainArgs) -> String {
        let (objective, weight) = (args.objective.objective, args.weight);
        let (outcome, best) = (&self.outcome, self.outcome.best());
        let solver = outcome.solver;
        let lambda = ridge(best.lambda.value(), self.data.unit);
        let mut settings = vec![format!("solver {solver}, lambda {lambda}")];
        settings.extend((!objective.is_query()).then(|| format!("objective {objective}")));
        settings.extend(self.kernel.map(|kernel| match kernel.gamma() {
            None => format!("kernel {}", kernel.kind),
            Some(gamma) => format!("kernel {} with gamma {}", kernel.kind, exact(gamma)),
        }));
        if weight.query_weight != QueryWeight::Uniform {
            settings.push(format!("query weight {}", weight.query_weight));
        }
        let label_scale = self.options.scale_of_labels();
        if !label_scale.is_raw() {
            settings.push(format!("label scale {label_scale}, errors in its units"));
        }
        let scale = self.options.column_scale();
        settings.extend((!scale.is_none()).then(|| format!("scale {scale}")));
        let mut text = settings.join(", ");
        if let Some(choice) = &self.choice {
            text.push_str(&choice.text());
        }
        if let Some((holdout, scheme)) = best.holdout.as_ref().zip(outcome.held_out.as_ref()) {
            let _ = write!(text, "\nhold-outs: {scheme}");
            if let Some(seed) = scheme.drawn_by() {
                let _ = write!(text, ", seed {seed}");
            }
            if holdout.residual.is_some() {
                let _ = write!(text, " by {solver} to {HOLDOUT_TOLERANCE:.0e}");
            }
            let _ = match self.measure {
                _ if outcome.cells.len() == 1 => Ok(()),
                None => write!(text, "; lambda has the least error"),
                Some(metric) => write!(text, "; lambda has the best {metric}"),
            };
        }
        let restricted = match self.features {
            FeatureChoice::Given => " out of the given ones",
            _ => "",
        };
        let what = match self.basis.filter(|_| self.weights == 0) {
            Some(rows) => format!("coefficients of {rows} rows"),
            None => format!("weights of {} features{restricted}", self.weights),
        };
        let (load, train) = (self.load_seconds, self.train_seconds);
        let heading = heading(&self.data, load, "trained", train, self.peak_rss_bytes);
        format!("{text}\n{what}\n{heading}\n{}\n", self.table())
    }

    fn table(&self) -> String {
        let lqo = match self.outcome.held_out {
            Some(HoldOut::Queries) => "LQO",
            _ => "hold-out",
        };
        let measure = self.measure.filter(|metric| *metric != Metric::CONCORDANCE);
        Sheet::of(&self.outcome.cells)
            .number("gamma", |cell| cell.kernel.gamma().map(exact))
            .number("lambda", |cell| short(cell.lambda.value()))
            .number(format!("{lqo} error"), |cell| {
                Some(cell.holdout.as_ref()?.error)
            })
            .measure(format!("{lqo} cindex"), |cell| {
                cell.holdout.as_ref()?.cindex
            })
            .measures(measure, |cell, _| cell.measure)
            .number("iterations", |cell| cell.iterations)
            .number("residual", |cell| cell.residual)
            .text()
    }
}
