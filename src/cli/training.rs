//! A training: from data that was read to what is printed.

use std::fmt::Write as _;
use std::time::Instant;

use anyhow::{Result, bail};
use rankrls::model::{FeatureChoice, read_features};
use rankrls::ridge::{Groups, Holdout, RidgeProblem, TOLERANCE, Trained};
use rankrls::{ColumnClasses, Dataset, Lambda, Model, Solver, memory};
use serde::Serialize;

use super::console::Console;
use super::digits::{Condition, warn_of_lost_digits};
use super::numbers::{given, measure, number};
use super::output::{OutputFile, print, print_json};
use super::sizes::Sizes;
use super::table::{lines, table};
use super::train::TrainArgs;
use rankrls::memory::Bytes;

/// A training about to be done.
pub(crate) struct Training<'a> {
    pub(super) args: &'a TrainArgs,
    pub(super) console: Console,
    pub(super) train: &'a Dataset<'a>,
    pub(super) load_seconds: f64,
}

/// What was found.
#[derive(Debug, Serialize)]
struct Document {
    schema: &'static str,
    lambda: f64,
    solver: &'static str,
    query_weight: &'static str,
    /// `all` or `given`.
    features: &'static str,
    /// Features with a weight.
    weights: usize,
    data: Sizes,
    lqo_error: Option<f64>,
    lqo_cindex: Option<f64>,
    /// The folds, if any were asked for.
    folds: Option<Folds>,
    /// Every ridge parameter, in the order of the list.
    lambdas: Vec<Entry>,
    load_seconds: f64,
    train_seconds: f64,
    peak_rss_bytes: Option<u64>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct Folds {
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

/// A model and how good it is.
struct Candidate {
    entry: Entry,
    model: Option<Model>,
    weights: usize,
}

impl Training<'_> {
    /// Trains, writes the model and prints the report.
    pub(super) fn run(&self, output: Option<OutputFile>) -> Result<()> {
        let begin = Instant::now();
        let spinner = self.console.spinner("training".to_owned());
        let candidates = ColumnClasses::new(self.train);
        let found = self.train(&candidates, output.is_some());
        spinner.finish_and_clear();
        let (solver, best, entries) = found?;
        let train_seconds = begin.elapsed().as_secs_f64();
        let saved = match (output, &best.model) {
            (Some(output), Some(model)) => output.write(|writer| model.write_to(writer)),
            _ => Ok(()),
        };
        let document = Document {
            schema: "rankrls.training/1",
            lambda: best.entry.lambda,
            solver: solver.name(),
            query_weight: self.args.query_weight.name(),
            features: self.choice().name(),
            weights: best.weights,
            data: Sizes::new(self.train, &candidates.summary()),
            lqo_error: best.entry.lqo_error,
            lqo_cindex: best.entry.lqo_cindex,
            folds: self.folds(&best.entry),
            lambdas: entries,
            load_seconds: self.load_seconds,
            train_seconds,
            peak_rss_bytes: memory::peak(),
        };
        self.warn(solver, &document);
        if self.args.json {
            print_json(&document)?;
        } else {
            print(|output| output.write_all(document.text().as_bytes()))?;
        }
        // What was found is printed even if it could not be saved.
        saved
    }

    fn choice(&self) -> FeatureChoice {
        match self.args.features {
            Some(_) => FeatureChoice::Given,
            None => FeatureChoice::All,
        }
    }

    fn seed(&self) -> u64 {
        self.args.seed.unwrap_or(1)
    }

    fn folds(&self, best: &Entry) -> Option<Folds> {
        Some(Folds {
            count: self.args.folds?,
            seed: self.seed(),
            error: best.fold_error?,
            cindex: best.fold_cindex,
        })
    }

    /// The solver, the best model, and all ridge parameters.
    fn train(
        &self,
        candidates: &ColumnClasses,
        keep: bool,
    ) -> Result<(Solver, Candidate, Vec<Entry>)> {
        let options = self.args.options();
        let held = self.train.memory();
        let Some(path) = &self.args.features else {
            let problem = RidgeProblem::among(self.train, candidates, held, &options)?;
            return self.best(&problem, candidates, keep);
        };
        let base = self.train.index_base();
        let features = read_features(path, base, self.train.width())?;
        let given = self.train.features_subset(&features)?;
        let own = ColumnClasses::new(&given);
        let held = held + given.memory() + candidates.memory();
        let problem = RidgeProblem::among(&given, &own, held, &options)?;
        self.best(&problem, candidates, keep)
    }

    fn best(
        &self,
        problem: &RidgeProblem<'_>,
        candidates: &ColumnClasses,
        keep: bool,
    ) -> Result<(Solver, Candidate, Vec<Entry>)> {
        let solver = problem.solver();
        let leaves_out = solver.has_holdout() || self.args.lqo;
        if keep && self.args.lambdas().count() > 1 && !leaves_out && self.args.folds.is_none() {
            bail!(
                "which lambda is best is not known, since solver {solver} leaves no query out by \
                 itself: give --lqo, --folds, or a single --lambda"
            );
        }
        let groups = self.groups()?;
        let mut entries = Vec::with_capacity(self.args.lambdas().count());
        let mut best: Option<Candidate> = None;
        for lambda in self.args.lambdas() {
            let trained = problem.train(lambda)?;
            let entry = entry(&trained, leaves_out, groups.as_ref())?;
            entries.push(entry.clone());
            if best
                .as_ref()
                .is_none_or(|best| entry.is_better(&best.entry))
            {
                let weights = trained.weights();
                let count = weights.features.len();
                let choice = self.choice();
                let summary = candidates.summary();
                let weighted = self.args.query_weight;
                let model = keep.then(|| {
                    Model::from_weights(&weights, choice, lambda, self.train, &summary)
                        .with_query_weight(weighted)
                });
                best = Some(Candidate {
                    entry,
                    model,
                    weights: count,
                });
            }
        }
        match best {
            Some(best) => Ok((solver, best, entries)),
            None => bail!("no lambda"),
        }
    }

    fn groups(&self) -> Result<Option<Groups>> {
        let queries = self.train.queries().len();
        let folds = |count| Groups::folds(queries, count, self.seed());
        Ok(self.args.folds.map(folds).transpose()?)
    }

    fn warn(&self, solver: Solver, document: &Document) {
        let chosen = document
            .lambdas
            .iter()
            .find(|entry| entry.lambda == document.lambda);
        if let Some(entry) = chosen {
            warn_of_lost_digits(entry.condition, Condition::Bound, self.console);
        }
        for entry in &document.lambdas {
            let residuals = [entry.residual, entry.holdout_residual];
            let residual = residuals.into_iter().flatten().fold(0.0, f64::max);
            if residual > TOLERANCE {
                let lambda = given(entry.lambda);
                self.console.warn(format_args!(
                    "with lambda {lambda} conjugate gradients came to a residual of \
                     {residual:.1e}, not {TOLERANCE:.0e}"
                ));
            }
        }
        if document.lqo_error.is_none() {
            let queries = document.data.queries;
            self.console.warn(format_args!(
                "no leave-query-out error: solver {solver} trains again for each of {queries} \
                 queries; --lqo does, --folds takes fewer groups, and --solver dual or primal \
                 with more memory needs neither"
            ));
        }
        if self.args.lqo && solver.has_holdout() {
            self.console.warn(format_args!(
                "--lqo has no effect: solver {solver} leaves queries out anyway"
            ));
        }
    }
}

fn entry(trained: &Trained<'_>, leaves_out: bool, groups: Option<&Groups>) -> Result<Entry> {
    let lqo = leaves_out.then(|| trained.leave_query_out()).transpose()?;
    let folds = groups.map(|groups| trained.holdout(groups)).transpose()?;
    let error = |holdout: &Option<Holdout>| holdout.as_ref().map(|holdout| holdout.error);
    let cindex = |holdout: &Option<Holdout>| holdout.as_ref().and_then(|holdout| holdout.cindex);
    let convergence = trained.convergence();
    let holdouts = [&lqo, &folds].into_iter().flatten();
    let residuals = holdouts.filter_map(|holdout| Some(holdout.convergence?.residual));
    Ok(Entry {
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

impl Entry {
    /// Whether the error is less; the first of equal ones stays.
    fn is_better(&self, other: &Self) -> bool {
        let error = |entry: &Self| entry.lqo_error.or(entry.fold_error);
        match (error(self), error(other)) {
            (Some(own), Some(other)) => own < other,
            _ => false,
        }
    }
}

impl Document {
    /// The same for people.
    fn text(&self) -> String {
        let (lambda, solver) = (given(self.lambda), self.solver);
        let (weights, features) = (self.weights, self.features);
        let mut text = format!("solver {solver}, lambda {lambda}");
        if self.query_weight != "uniform" {
            let _ = write!(text, ", query weight {}", self.query_weight);
        }
        let _ = write!(text, "\nweights of {weights} features");
        if features == FeatureChoice::Given.name() {
            text += " out of the given ones";
        }
        let (load, train) = (self.load_seconds, self.train_seconds);
        let sizes = self.data.lines();
        let _ = write!(
            text,
            "\n{sizes}read in {load:.2} s, trained in {train:.2} s"
        );
        if let Some(peak) = self.peak_rss_bytes {
            let _ = write!(text, ", peak memory {}", Bytes(peak));
        }
        let _ = writeln!(text, "\n\n{}", self.table());
        text
    }

    fn table(&self) -> String {
        let folded = self.folds.is_some();
        let iterated = self.lambdas.iter().any(|entry| entry.iterations.is_some());
        let mut header = vec!["lambda", "LQO error", "LQO cindex"];
        let folds = ["fold error", "fold cindex"];
        header.extend(folds.iter().filter(|_| folded));
        let iterations = ["iterations", "residual"];
        header.extend(iterations.iter().filter(|_| iterated));
        let header: Vec<String> = header.into_iter().map(str::to_owned).collect();
        let mut table = table(&header);
        let error = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), number);
        for entry in &self.lambdas {
            let mut cells = vec![
                given(entry.lambda),
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
        lines(table)
    }
}
