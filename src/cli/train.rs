//! `rankrls train`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use anyhow::{Result, bail};
use clap::Args;
use rankrls::data::LabelScale;
use rankrls::model::{FeatureChoice, read_features};
use rankrls::ridge::{Groups, Holdout, RidgeProblem, TOLERANCE, TrainOptions, Trained};
use rankrls::{ColumnClasses, Dataset, Lambda, Model, QueryWeight, Solver, memory};
use serde::Serialize;

use super::args::{self, Lambdas, auto_or, usage};
use super::console::{Condition, Console, Interrupt, warn_of_lost_digits};
use super::data::{Sizes, TrainingData, check_one_stdin};
use super::output::{OutputFile, format_exact, measure, number, print_report, table};

/// Train RankRLS on all features, or on given ones, without selection
///
/// Prints the leave-query-out error and concordance index: every query is predicted by a model
/// that has not seen it, exactly, from one factorisation. Columns that are constant within every
/// query cannot help and are left out.
///
/// The solvers find the same weights. dual takes memory with the square of the rows, primal with
/// the square of the column classes; cg, conjugate gradients, with neither, but it leaves queries
/// out only by training again. auto takes the faster of the first two if that is a matter of
/// seconds and fits into memory, else cg.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls train @parses --lambda 16
  rankrls train train.svm --lambda 1 -o model.json.zst
  rankrls train train.svm --lambda 0.25,1,4,16 --json
  rankrls train train.svm --lambda 2^-4..2^10:2
  rankrls train train.svm --lambda 1 --features model.json -o given.json
  rankrls train train.svm --lambda 1 --folds 3 --seed 7")]
pub(crate) struct TrainArgs {
    /// Ridge parameters above 0, separated by commas: numbers such as 0.25, powers such as 2^-3,
    /// and ranges of powers such as 2^-4..2^10 or 2^-4..2^10:2. Of several, the model is that of
    /// the least leave-query-out error (of the least error over --folds, where no query is left
    /// out)
    #[arg(long, value_name = "LIST", required = true, allow_hyphen_values = true)]
    lambda: Vec<Lambdas>,
    /// Train on these features only: those of a model, or a list with an index a line
    #[arg(long, value_name = "FILE")]
    features: Option<PathBuf>,
    /// Solver
    #[arg(long, value_name = "NAME", default_value = "auto")]
    #[arg(value_parser = auto_or::<Solver>(Solver::ALL.map(Solver::name)))]
    solver: std::option::Option<Solver>,
    #[arg(long, value_name = "NAME", default_value = "uniform")]
    #[arg(value_parser = args::query_weight(), help = args::QUERY_WEIGHT_HELP)]
    query_weight: QueryWeight,
    /// Scale of the training labels within each query, as for select; errors are in its units
    #[arg(long, value_name = "SCALE", value_enum, default_value = "raw")]
    labels: LabelScale,
    /// Predict N groups of queries, drawn at random, each by a model trained on the others
    #[arg(long, value_name = "N")]
    folds: Option<usize>,
    /// Seed of the random draw [default: 1]
    #[arg(long, value_name = "SEED", requires = "folds")]
    seed: Option<u64>,
    /// Leave queries out with cg, too, which trains once for every query
    #[arg(long)]
    lqo: bool,
    #[command(flatten)]
    data: TrainingData,
    /// Write the model to this file
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &TrainArgs, console: Console) -> Result<ExitCode> {
    args.check()?;
    let output = args.output.as_deref().map(OutputFile::create).transpose()?;
    let _interrupt = Interrupt::install()?;
    let (train, load_seconds) = args.data.train(console)?;
    let begin = Instant::now();
    let spinner = console.spinner("training".to_owned());
    let candidates = ColumnClasses::new(&train);
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
        query_weight: args.query_weight,
        labels: args.labels,
        features: args.choice(),
        weights: best.weights,
        data: Sizes::new(&train, &candidates.summary()),
        lqo_error: best.entry.lqo_error,
        lqo_cindex: best.entry.lqo_cindex,
        folds: args.fold_report(&best.entry),
        lambdas: entries,
        load_seconds,
        train_seconds,
        peak_rss_bytes: memory::peak(),
    };
    report.warn(args.lqo, console);
    print_report(args.json, &report, || report.text())?;
    // Results are printed even if they could not be saved.
    saved?;
    Ok(ExitCode::SUCCESS)
}

/// What was found, in the schema `rankrls.training/1`.
#[derive(Debug, Serialize)]
struct Report {
    schema: &'static str,
    lambda: f64,
    solver: Solver,
    query_weight: QueryWeight,
    /// Their scale; the units of the errors.
    #[serde(skip_serializing_if = "LabelScale::is_raw")]
    labels: LabelScale,
    features: FeatureChoice,
    /// Features with a weight.
    weights: usize,
    data: Sizes,
    lqo_error: Option<f64>,
    lqo_cindex: Option<f64>,
    /// The folds, if any were asked for.
    folds: Option<FoldReport>,
    /// Every ridge parameter, in the order of the list.
    lambdas: Vec<Entry>,
    load_seconds: f64,
    train_seconds: f64,
    peak_rss_bytes: Option<u64>,
}

#[derive(Debug, Serialize)]
struct FoldReport {
    count: usize,
    seed: u64,
    error: f64,
    cindex: Option<f64>,
}

/// One ridge parameter.
#[derive(Debug, Clone, Serialize)]
struct Entry {
    lambda: f64,
    /// No less than the condition number; null if it is beyond all numbers.
    condition: f64,
    lqo_error: Option<f64>,
    lqo_cindex: Option<f64>,
    fold_error: Option<f64>,
    fold_cindex: Option<f64>,
    /// How conjugate gradients ended.
    iterations: Option<usize>,
    residual: Option<f64>,
    /// The largest residual of the models that were trained without a group.
    holdout_residual: Option<f64>,
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
        if self.folds.is_some_and(|folds| folds < 2) {
            return Err(usage("--folds takes a number from 2 on"));
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
            .query_weight(self.query_weight)
            .labels(self.labels)
            .lambdas(self.lambdas().count());
        if let Some(solver) = self.solver {
            options = options.solver(solver);
        }
        if let Some(bytes) = self.data.read.budget() {
            options = options.max_memory(bytes);
        }
        options
    }

    fn choice(&self) -> FeatureChoice {
        match self.features {
            Some(_) => FeatureChoice::Given,
            None => FeatureChoice::All,
        }
    }

    fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    fn fold_report(&self, best: &Entry) -> Option<FoldReport> {
        Some(FoldReport {
            count: self.folds?,
            seed: self.seed(),
            error: best.fold_error?,
            cindex: best.fold_cindex,
        })
    }

    /// The best model, which is kept on demand, and all ridge parameters.
    fn train(
        &self,
        train: &Dataset<'_>,
        candidates: &ColumnClasses,
        keep: bool,
    ) -> Result<(Best, Vec<Entry>)> {
        let options = self.options();
        let (held, queries) = (train.memory(), train.queries().len());
        let summary = candidates.summary();
        let model = |trained: &Trained<'_>| {
            let (weights, lambda) = (trained.weights(), trained.lambda());
            let model = keep.then(|| {
                Model::from_weights(&weights, self.choice(), lambda, train, &summary)
                    .with_query_weight(self.query_weight)
                    .with_labels(self.labels)
            });
            (model, weights.features.len())
        };
        let Some(path) = &self.features else {
            let problem = RidgeProblem::among(train, candidates, held, &options)?;
            return self.best(&problem, queries, keep, model);
        };
        let features = read_features(path, train.index_base(), train.width())?;
        let restricted = train.features_subset(&features)?;
        let own = ColumnClasses::new(&restricted);
        let held = held + restricted.memory() + candidates.memory();
        let problem = RidgeProblem::among(&restricted, &own, held, &options)?;
        self.best(&problem, queries, keep, model)
    }

    fn best(
        &self,
        problem: &RidgeProblem<'_>,
        queries: usize,
        keep: bool,
        model: impl Fn(&Trained<'_>) -> (Option<Model>, usize),
    ) -> Result<(Best, Vec<Entry>)> {
        let solver = problem.solver();
        let leaves_out = solver.has_holdout() || self.lqo;
        if keep && self.lambdas().count() > 1 && !leaves_out && self.folds.is_none() {
            bail!(
                "which lambda is best is not known, since solver {solver} leaves no query out by \
                 itself: give --lqo, --folds, or a single --lambda"
            );
        }
        let groups = self
            .folds
            .map(|count| Groups::folds(queries, count, self.seed()));
        let groups = groups.transpose()?;
        let mut entries = Vec::with_capacity(self.lambdas().count());
        let mut best: Option<Best> = None;
        for lambda in self.lambdas() {
            let trained = problem.train(lambda)?;
            let entry = Entry::new(&trained, leaves_out, groups.as_ref())?;
            entries.push(entry.clone());
            if best
                .as_ref()
                .is_none_or(|best| entry.is_better(&best.entry))
            {
                let (model, weights) = model(&trained);
                best = Some(Best {
                    solver,
                    entry,
                    model,
                    weights,
                });
            }
        }
        match best {
            Some(best) => Ok((best, entries)),
            None => bail!("no lambda"),
        }
    }
}

impl Entry {
    fn new(trained: &Trained<'_>, leaves_out: bool, groups: Option<&Groups>) -> Result<Self> {
        let lqo = leaves_out.then(|| trained.leave_query_out()).transpose()?;
        let folds = groups.map(|groups| trained.holdout(groups)).transpose()?;
        let error = |holdout: &Option<Holdout>| holdout.as_ref().map(|holdout| holdout.error);
        let cindex =
            |holdout: &Option<Holdout>| holdout.as_ref().and_then(|holdout| holdout.cindex);
        let convergence = trained.convergence();
        let holdouts = [&lqo, &folds].into_iter().flatten();
        let residuals = holdouts.filter_map(|holdout| Some(holdout.convergence?.residual));
        Ok(Self {
            lambda: Lambda::value(trained.lambda()),
            condition: trained.condition(),
            lqo_error: error(&lqo),
            lqo_cindex: cindex(&lqo),
            fold_error: error(&folds),
            fold_cindex: cindex(&folds),
            iterations: convergence.map(|convergence| convergence.iterations),
            residual: convergence.map(|convergence| convergence.residual),
            holdout_residual: residuals.max_by(f64::total_cmp),
        })
    }

    /// Whether the error is less; the first of equal ones stays.
    fn is_better(&self, other: &Self) -> bool {
        let error = |entry: &Self| entry.lqo_error.or(entry.fold_error);
        match (error(self), error(other)) {
            (Some(own), Some(other)) => own < other,
            _ => false,
        }
    }
}

impl Report {
    fn warn(&self, lqo: bool, console: Console) {
        let entries = &self.lambdas;
        let chosen = entries.iter().find(|entry| entry.lambda == self.lambda);
        if let Some(entry) = chosen {
            warn_of_lost_digits(entry.condition, Condition::Bound, console);
        }
        for entry in entries {
            let residuals = [entry.residual, entry.holdout_residual];
            let residual = residuals.into_iter().flatten().fold(0.0, f64::max);
            if residual > TOLERANCE {
                let lambda = format_exact(entry.lambda);
                console.warn(format_args!(
                    "with lambda {lambda} conjugate gradients came to a residual of \
                     {residual:.1e}, not {TOLERANCE:.0e}"
                ));
            }
        }
        let (solver, queries) = (self.solver, self.data.queries);
        if self.lqo_error.is_none() {
            console.warn(format_args!(
                "no leave-query-out error: solver {solver} trains again for each of {queries} \
                 queries; --lqo does, --folds takes fewer groups, and --solver dual or primal \
                 with more memory needs neither"
            ));
        }
        if lqo && solver.has_holdout() {
            console.warn(format_args!(
                "--lqo has no effect: solver {solver} leaves queries out anyway"
            ));
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
        let restricted = match self.features {
            FeatureChoice::Given => " out of the given ones",
            _ => "",
        };
        let (weights, load, train) = (self.weights, self.load_seconds, self.train_seconds);
        let heading = self
            .data
            .heading(load, "trained", train, self.peak_rss_bytes);
        let table = self.table();
        text + &format!("\nweights of {weights} features{restricted}\n{heading}\n{table}\n")
    }

    fn table(&self) -> String {
        let folded = self.folds.is_some();
        let iterated = self.lambdas.iter().any(|entry| entry.iterations.is_some());
        let mut header = vec!["lambda", "LQO error", "LQO cindex"];
        let folds = ["fold error", "fold cindex"];
        header.extend(folds.iter().filter(|_| folded));
        let iterations = ["iterations", "residual"];
        header.extend(iterations.iter().filter(|_| iterated));
        let mut table = table(&header);
        let error = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
        for entry in &self.lambdas {
            let mut cells = vec![
                format_exact(entry.lambda),
                error(entry.lqo_error),
                measure(entry.lqo_cindex),
            ];
            if folded {
                cells.extend([error(entry.fold_error), measure(entry.fold_cindex)]);
            }
            if iterated {
                let iterations = entry.iterations.map(|count| count.to_string());
                cells.push(iterations.unwrap_or_default());
                cells.push(error(entry.residual));
            }
            table.add_row(cells);
        }
        table.trim_fmt()
    }
}
