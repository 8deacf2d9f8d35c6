//! `rankrls train`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use rankrls::data::LabelScale;
use rankrls::model::{FeatureChoice, read_features};
use rankrls::ridge::{
    Convergence, HOLDOUT_TOLERANCE, Holdout, HoldoutScheme, RidgeProblem, TOLERANCE, TrainError,
    TrainOptions, Trained,
};
use rankrls::{ColumnClasses, Dataset, Lambda, Model, QueryWeight, Scale, Solver, memory};
use serde::Serialize;

use super::args::{Lambdas, WeightArgs, auto_or, usage};
use super::console::{Condition, Console, Interrupt, warn_of_edge, warn_of_lost_digits};
use super::data::{Sizes, TrainingData, check_one_stdin, warn_of_few_queries};
use super::output::{
    OutputFile, format_exact, measure, number, or_blank, or_dash, print_report, table,
};

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
  rankrls train @parses --lambda 16
  rankrls train train.svm --lambda 1 -o model.json.zst
  rankrls train train.svm --lambda 0.25,1,4,16 --json
  rankrls train train.svm --lambda 2^-4..2^10:2
  rankrls train train.svm --lambda 1 --features model.json -o given.json
  rankrls train train.svm --lambda 1 --holdout folds:3 --seed 7")]
pub(crate) struct TrainArgs {
    /// Ridge parameters above 0, separated by commas: numbers such as 0.25, powers such as 2^-3,
    /// and ranges of powers such as 2^-4..2^10 or 2^-4..2^10:2. Of several, the model is that of
    /// the least hold-out error
    #[arg(long, value_name = "LIST", allow_hyphen_values = true, default_value = GRID)]
    lambda: Vec<Lambdas>,
    /// Train on these features only: a model, or a list with an index a line
    #[arg(long, value_name = "FILE")]
    features: Option<PathBuf>,
    /// Solver
    #[arg(long, value_name = "NAME", default_value = "auto")]
    #[arg(value_parser = auto_or::<Solver>(Solver::ALL.map(Solver::name)))]
    solver: std::option::Option<Solver>,
    #[command(flatten)]
    weight: WeightArgs,
    /// Scale of the training labels within each query, as for select; errors are in its units
    #[arg(long, value_name = "SCALE", value_enum, default_value = "raw")]
    labels: LabelScale,
    /// Queries to predict by models that have not seen them: lqo, every query; folds:N, N groups of
    /// queries drawn at random; none [default: lqo, or folds:5 where solver cg would take long]
    #[arg(long, value_name = "SCHEME")]
    holdout: Option<HoldoutChoice>,
    /// Seed of the random draw
    #[arg(long, value_name = "SEED", default_value_t = 1)]
    seed: u64,
    #[command(flatten)]
    data: TrainingData,
    /// Write the model to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// Ridge parameters where none are given.
const GRID: &str = "2^-2..2^10:2";

/// A hold-out scheme, or none.
#[derive(Debug, Clone)]
struct HoldoutChoice(Option<HoldoutScheme>);

impl FromStr for HoldoutChoice {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "none" {
            return Ok(Self(None));
        }
        let scheme = text.parse().map(|scheme| Self(Some(scheme)));
        scheme.map_err(|_| format!("expected one of {}, none", HoldoutScheme::names()))
    }
}

pub(crate) fn run(args: &TrainArgs, console: Console) -> Result<ExitCode> {
    args.check()?;
    let output = args.output.as_deref().map(OutputFile::create).transpose()?;
    let _interrupt = Interrupt::install(console)?;
    let (train, load_seconds) = args.data.train(console)?;
    let begin = Instant::now();
    let spinner = console.spinner("training".to_owned());
    let candidates = args.classes(&train);
    let trained = args.train(&train, &candidates, output.is_some());
    spinner.finish_and_clear();
    let (best, entries) = trained?;
    let train_seconds = begin.elapsed().as_secs_f64();
    let saved = match (output, &best.model) {
        (Some(output), Some(model)) => output.write(|writer| model.write_to(writer)),
        _ => Ok(()),
    };
    let report = Report {
        schema: "rankrls.training/1",
        lambda: best.entry.lambda,
        solver: best.solver,
        query_weight: args.weight.query_weight,
        labels: args.labels,
        scale: args.weight.scale,
        features: args.choice(),
        weights: best.weights,
        data: Sizes::new(&train, &candidates.summary()),
        lqo_error: best.entry.lqo_error,
        lqo_cindex: best.entry.lqo_cindex,
        holdout: best.entry.holdout,
        lambdas: entries,
        load_seconds,
        train_seconds,
        peak_rss_bytes: memory::peak(),
    };
    report.warn(console);
    print_report(args.json, &report, || report.text())?;
    // Results are printed even if they could not be saved.
    saved?;
    Ok(ExitCode::SUCCESS)
}

/// Results, in the schema `rankrls.training/1`.
#[derive(Debug, Serialize)]
struct Report {
    schema: &'static str,
    lambda: f64,
    solver: Solver,
    query_weight: QueryWeight,
    /// Their scale; the units of the errors.
    #[serde(skip_serializing_if = "LabelScale::is_raw")]
    labels: LabelScale,
    #[serde(skip_serializing_if = "Scale::is_none")]
    scale: Scale,
    features: FeatureChoice,
    /// Features with a weight.
    weights: usize,
    data: Sizes,
    lqo_error: Option<f64>,
    lqo_cindex: Option<f64>,
    holdout: Option<HoldoutReport>,
    /// Every ridge parameter, in the order of the list.
    lambdas: Vec<Entry>,
    load_seconds: f64,
    train_seconds: f64,
    peak_rss_bytes: Option<u64>,
}

/// The predictions of held-out queries.
#[derive(Debug, Clone, Serialize)]
struct HoldoutReport {
    scheme: String,
    /// Seed of the draw, if there was one.
    seed: Option<u64>,
    cindex: Option<f64>,
    squared: f64,
    /// The largest residual of the models, if conjugate gradients found them.
    residual: Option<f64>,
}

/// One ridge parameter.
#[derive(Debug, Clone, Serialize)]
struct Entry {
    lambda: f64,
    /// No less than the condition number; null if it is beyond all numbers.
    condition: f64,
    lqo_error: Option<f64>,
    lqo_cindex: Option<f64>,
    holdout: Option<HoldoutReport>,
    /// How conjugate gradients ended with all queries, which they only see for the best.
    iterations: Option<usize>,
    residual: Option<f64>,
}

/// The best model so far.
struct Best {
    solver: Solver,
    entry: Entry,
    model: Option<Model>,
    /// Features with a weight.
    weights: usize,
}

impl TrainArgs {
    /// Refuses mistakes that the parser cannot see.
    fn check(&self) -> Result<()> {
        check_one_stdin(&[
            Some(&self.data.path),
            self.data.names.as_ref(),
            self.features.as_ref(),
        ])?;
        self.data.read.check(1)?;
        let none = matches!(self.holdout, Some(HoldoutChoice(None)));
        if none && self.lambdas().count() > 1 {
            return Err(usage(
                "--holdout none cannot tell which lambda is best: expected a single --lambda",
            ));
        }
        Ok(())
    }

    /// The ridge parameters, as given.
    fn lambdas(&self) -> impl Iterator<Item = Lambda> {
        self.lambda.iter().flat_map(|list| list.0.iter().copied())
    }

    /// How to train.
    fn options(&self) -> TrainOptions {
        let mut options = TrainOptions::new()
            .query_weight(self.weight.query_weight)
            .labels(self.labels)
            .scale(self.weight.scale)
            .lambdas(self.lambdas().count());
        if let Some(solver) = self.solver {
            options = options.solver(solver);
        }
        if let Some(bytes) = self.data.read.budget() {
            options = options.max_memory(bytes);
        }
        options
    }

    fn classes(&self, data: &Dataset<'_>) -> ColumnClasses {
        ColumnClasses::scaled(data, QueryWeight::Uniform, self.weight.scale)
    }

    fn choice(&self) -> FeatureChoice {
        match self.features {
            Some(_) => FeatureChoice::Given,
            None => FeatureChoice::All,
        }
    }

    /// The best model, which is kept on demand, and all ridge parameters.
    fn train(
        &self,
        train: &Dataset<'_>,
        candidates: &ColumnClasses,
        keep: bool,
    ) -> Result<(Best, Vec<Entry>)> {
        let mut options = self.options();
        let (held, queries) = (train.memory(), train.queries().len());
        if let Some(HoldoutChoice(Some(scheme))) = &self.holdout {
            let groups = scheme.seed(self.seed).groups(queries)?;
            options = options.largest_group(groups.largest(train.queries()));
        }
        let (restricted, own);
        let problem = match &self.features {
            None => RidgeProblem::among(train, candidates, held, &options)?,
            Some(path) => {
                let features = read_features(path, train.index_base(), train.width())?;
                restricted = train.features_subset(&features)?;
                own = self.classes(&restricted);
                if own.is_empty() {
                    let given = match features.len() {
                        1 => "the given feature is".to_owned(),
                        count => format!("all {count} given features are"),
                    };
                    bail!(
                        "nothing to train on: {given} constant within every query, and cannot tell \
                         the examples of a query apart"
                    );
                }
                let held = held + restricted.memory() + candidates.memory();
                RidgeProblem::among(&restricted, &own, held, &options)?
            }
        };
        let summary = candidates.summary();
        self.best(&problem, queries, |trained| {
            let (weights, lambda) = (trained.weights(), trained.lambda());
            let model = keep.then(|| {
                let choice = self.choice();
                Model::from_weights(&weights, choice, lambda, train, &summary, &options)
            });
            (model, weights.features.len())
        })
    }

    /// The scheme asked for, or one that is a matter of seconds; `None` where there is nothing to
    /// train on without a query.
    fn scheme(&self, problem: &RidgeProblem<'_>, queries: usize) -> Option<HoldoutScheme> {
        let scheme = match &self.holdout {
            Some(HoldoutChoice(scheme)) => *scheme,
            None if queries < 2 => None,
            None => Some(problem.affordable_holdout(self.lambdas().count())),
        };
        scheme.map(|scheme| scheme.seed(self.seed))
    }

    fn best(
        &self,
        problem: &RidgeProblem<'_>,
        queries: usize,
        model: impl Fn(&Trained<'_>) -> (Option<Model>, usize),
    ) -> Result<(Best, Vec<Entry>)> {
        let lambdas: Vec<Lambda> = self.lambdas().collect();
        let scheme = self.scheme(problem, queries);
        let groups = scheme.map(|scheme| scheme.groups(queries)).transpose()?;
        if lambdas.len() > 1 && queries < 2 {
            bail!(
                "which lambda is best is not known, as {}",
                TrainError::OneQuery
            );
        }
        let entry = |lambda: Lambda, holdout: Option<Holdout>| {
            Entry::new(problem, lambda, scheme.zip(holdout))
        };
        let best = |entries: &[Entry]| {
            let error = |place: &usize| entries[*place].error();
            (0..entries.len()).min_by(|a, b| error(a).total_cmp(&error(b)))
        };
        let mut entries = Vec::with_capacity(lambdas.len());
        let (mut found, mut kept) = (None, None);
        if problem.solver().has_holdout() {
            for (place, &lambda) in lambdas.iter().enumerate() {
                let trained = problem.train(lambda)?;
                let holdout = groups.as_ref().map(|groups| trained.holdout(groups));
                entries.push(entry(lambda, holdout.transpose()?));
                if best(&entries) == Some(place) {
                    (found, kept) = (Some(place), Some(model(&trained)));
                }
            }
        } else {
            // All of them side by side, and all queries for the best alone.
            match &groups {
                None => entries.extend(lambdas.iter().map(|&lambda| entry(lambda, None))),
                Some(groups) => {
                    let held_out = problem.holdouts(&lambdas, groups, HOLDOUT_TOLERANCE)?;
                    let pairs = lambdas.iter().zip(held_out);
                    entries.extend(pairs.map(|(&lambda, holdout)| entry(lambda, Some(holdout))));
                }
            }
            found = best(&entries);
            if let Some(place) = found {
                let trained = problem.train(lambdas[place])?;
                entries[place].converged(trained.convergence());
                kept = Some(model(&trained));
            }
        }
        let (Some(place), Some((model, weights))) = (found, kept) else {
            bail!("no lambda");
        };
        let best = Best {
            solver: problem.solver(),
            entry: entries[place].clone(),
            model,
            weights,
        };
        Ok((best, entries))
    }
}

impl Entry {
    fn new(
        problem: &RidgeProblem<'_>,
        lambda: Lambda,
        holdout: Option<(HoldoutScheme, Holdout)>,
    ) -> Self {
        let holdout = holdout.map(|(scheme, holdout)| HoldoutReport {
            scheme: scheme.to_string(),
            seed: scheme.drawn_by(),
            cindex: holdout.cindex,
            squared: holdout.error,
            residual: holdout.convergence.map(|convergence| convergence.residual),
        });
        let lqo = holdout.as_ref().filter(|holdout| holdout.scheme == "lqo");
        Self {
            lambda: lambda.value(),
            condition: problem.condition(lambda),
            lqo_error: lqo.map(|holdout| holdout.squared),
            lqo_cindex: lqo.and_then(|holdout| holdout.cindex),
            holdout,
            iterations: None,
            residual: None,
        }
    }

    /// The hold-out error; the first of equal ones is the best.
    fn error(&self) -> f64 {
        let holdout = self.holdout.as_ref();
        holdout.map_or(0.0, |holdout| holdout.squared)
    }

    fn converged(&mut self, convergence: Option<Convergence>) {
        self.iterations = convergence.map(|convergence| convergence.iterations);
        self.residual = convergence.map(|convergence| convergence.residual);
    }
}

impl Report {
    fn warn(&self, console: Console) {
        let entries = &self.lambdas;
        let chosen = entries.iter().find(|entry| entry.lambda == self.lambda);
        if let Some(entry) = chosen {
            warn_of_lost_digits(entry.condition, Condition::Bound, console);
        }
        warn_of_edge(
            entries.iter().map(|entry| entry.lambda),
            self.lambda,
            console,
        );
        for entry in entries {
            let holdout = entry.holdout.as_ref();
            let held_out = holdout.and_then(|holdout| holdout.residual);
            let parts = [
                ("", entry.residual, TOLERANCE),
                ("hold-outs by ", held_out, HOLDOUT_TOLERANCE),
            ];
            for (part, residual, tolerance) in parts {
                if let Some(residual) = residual.filter(|&residual| residual > tolerance) {
                    let lambda = format_exact(entry.lambda);
                    console.warn(format_args!(
                        "with lambda {lambda} {part}conjugate gradients came to a residual of \
                         {residual:.1e}, not {tolerance:.0e}"
                    ));
                }
            }
        }
        warn_of_few_queries(self.data.queries, console);
        if self.data.queries == 1 {
            console.warn(format_args!("no hold-out: {}", TrainError::OneQuery));
        }
    }

    /// The same for people.
    fn text(&self) -> String {
        let (solver, lambda) = (self.solver, format_exact(self.lambda));
        let mut text = format!("solver {solver}, lambda {lambda}");
        if self.query_weight != QueryWeight::Uniform {
            let _ = write!(text, ", query weight {}", self.query_weight);
        }
        if !self.labels.is_raw() {
            let _ = write!(text, ", labels {}, errors in their units", self.labels);
        }
        if !self.scale.is_none() {
            let _ = write!(text, ", scale {}", self.scale);
        }
        let restricted = match self.features {
            FeatureChoice::Given => " out of the given ones",
            _ => "",
        };
        if let Some(holdout) = &self.holdout {
            let _ = write!(text, "\nhold-outs: {}", holdout.scheme);
            if let Some(seed) = holdout.seed {
                let _ = write!(text, ", seed {seed}");
            }
            if holdout.residual.is_some() {
                let _ = write!(text, " by {solver} to {HOLDOUT_TOLERANCE:.0e}");
            }
            if self.lambdas.len() > 1 {
                text.push_str("; lambda has the least error");
            }
        }
        let (weights, load, train) = (self.weights, self.load_seconds, self.train_seconds);
        let heading = self
            .data
            .heading(load, "trained", train, self.peak_rss_bytes);
        let table = self.table();
        text + &format!("\nweights of {weights} features{restricted}\n{heading}\n{table}\n")
    }

    fn table(&self) -> String {
        let iterated = self.lambdas.iter().any(|entry| entry.iterations.is_some());
        let lqo = self.lqo_error.is_some();
        let mut header = vec!["lambda"];
        header.extend(if lqo {
            ["LQO error", "LQO cindex"]
        } else {
            ["hold-out error", "hold-out cindex"]
        });
        let iterations = ["iterations", "residual"];
        header.extend(iterations.iter().filter(|_| iterated));
        let mut table = table(&header);
        for entry in &self.lambdas {
            let holdout = entry.holdout.as_ref();
            let mut cells = vec![
                format_exact(entry.lambda),
                or_dash(holdout.map(|holdout| holdout.squared), number),
                measure(holdout.and_then(|holdout| holdout.cindex)),
            ];
            if iterated {
                cells.push(or_blank(entry.iterations));
                cells.push(or_dash(entry.residual, number));
            }
            table.add_row(cells);
        }
        table.trim_fmt()
    }
}
