//! Predictions for every query by RankRLS on all columns without this query.
//!
//! Few examples get leave-query-out predictions, exact and from one factorisation a ridge parameter. Many examples
//! get predictions of query folds by conjugate gradients ([`crate::ridge`]). Classes of equal columns count by
//! their members here, though not in the selection.

use std::sync::Arc;

use rankrls_files::Remedy;
use serde::{Deserialize, Serialize};

use super::Plan;
use super::checks::check_values;
use super::state::centred_and_scaled;
use super::target::{WEIGHT_BLEND, filter, teacher_search};
use crate::columns::{ColumnClasses, check_labels};
use crate::data::{Dataset, HoldOut, Queries};
use crate::error::{Error, Result, ensure};
use crate::lambda::{Lambda, LambdaSearch, Lambdas, is_flat};
use crate::linalg::kernels;
use crate::metrics::{Convention, Judge, Metric};
use crate::ridge::{Groups, Holdout, RidgeProblem, Solver};

/// Queries from which on two folds suffice: half of them teach as well as all.
const MANY_QUERIES: usize = 20_000;

/// Norm of the residual at which conjugate gradients end, as a share of the labels'.
const TOLERANCE: f64 = 1e-4;

/// Fewest queries to teach from.
const FEWEST_QUERIES: usize = 10;

/// Most entries of columns for all ridge parameters side by side in conjugate gradients. Beyond it idle lanes cost
/// more than an unneeded parameter.
const SMALL: usize = 50_000_000;

/// The refusal of a teacher that cannot be trained.
fn untrained(error: Error) -> Error {
    error.within("the teacher, RankRLS on all columns, cannot be trained: ")
}

/// The teacher of a selection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Teacher {
    /// The solver; `None` for given scores.
    pub solver: Option<Solver>,
    /// The ridge parameter of least hold-out error; `None` for given scores.
    pub lambda: Option<Lambda>,
    /// Concordance index of the predictions with the labels, averaged over queries.
    pub cindex: Option<f64>,
    /// Whether `lambda` is the least or the largest of several that were tried, so another may do better. It is
    /// `false` if errors hardly depend on it, and if columns have other units, which has its own warning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_edge: bool,
    /// Whether a few columns, which nothing scales, are far larger than the others there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dominated: bool,
    /// The residual of conjugate gradients as a share of the labels, if it exceeds the required 1e-4: predictions
    /// are off by as much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
}

impl Teacher {
    /// Whether it was trained on drawn folds. Solvers that factor leave out each query.
    pub fn draws(&self) -> bool {
        self.solver.is_some_and(|solver| !solver.factors())
    }
}

/// The labels of a selection, made before it: centred and weighted as its candidates are, `m` each.
#[derive(Debug, Clone)]
pub(crate) struct Labels {
    /// The labels that select features.
    pub(super) select: Vec<f64>,
    /// The labels of the fit if others, with its ridge parameter.
    pub(super) fit: Option<(Vec<f64>, Lambda)>,
    /// The labels for reported errors, if others select features.
    pub(super) report: Option<Vec<f64>>,
    /// The teacher, if there was one.
    pub(crate) teacher: Option<Teacher>,
    /// The ridge parameters that the teacher tried, if it was trained.
    pub(crate) tried: Option<Lambdas>,
    /// An error of each candidate by the data themselves, if the strategy takes candidates in this order.
    pub(super) filter: Option<Arc<[f64]>>,
}

impl Labels {
    /// The labels of the selection of `plan`. No ridge parameter of a selection changes them.
    pub(crate) fn new(candidates: &ColumnClasses, data: &Dataset<'_>, plan: &Plan) -> Result<Self> {
        let options = &plan.options;
        let scaled = options.label_scale();
        let scaled = scaled.apply(data.labels(), candidates.queries());
        let own = weighted(candidates, &scaled);
        let taught = Taught::new(candidates, &own, data, plan)?;
        let filter = if options.needs_data() {
            Some(filter(data, candidates)?.errors(candidates))
        } else {
            None
        };
        let blended = |share: f64| Some(taught.as_ref()?.blended(&own, share));
        // Only cross-fitted weights have this parameter.
        let fit = options.weight_lambda;
        let fit =
            fit.and_then(|ridge| Some((blended(WEIGHT_BLEND)?, ridge.lambda(candidates.unit()))));
        let blend = options.blend.and_then(blended);
        let tried = taught.as_ref().and_then(|taught| taught.tried.clone());
        let (select, report) = match blend {
            Some(blend) => (blend, Some(own)),
            None => (own, None),
        };
        Ok(Self {
            select,
            fit,
            report,
            teacher: taught.map(|taught| taught.teacher),
            tried,
            filter,
        })
    }
}

/// A teacher and its predictions.
struct Taught {
    teacher: Teacher,
    /// The tried ridge parameters; `None` for given scores.
    tried: Option<Lambdas>,
    /// A prediction for each example, centred and weighted like labels, `m`.
    predictions: Vec<f64>,
}

/// The ridge parameter of `search` with the least hold-out error, the hold-outs, and whether its neighbour leaves
/// as much. It tries `at_once` side by side or, from the largest down, which takes the fewest iterations, each
/// alone.
fn least_error(
    problem: &RidgeProblem<'_>,
    groups: &Groups,
    search: &mut LambdaSearch,
    at_once: usize,
) -> Result<(Lambda, Holdout, bool)> {
    let mut errors: Vec<(Lambda, f64)> = Vec::new();
    let mut best: Option<(Lambda, Holdout)> = None;
    search.run(search.tried().to_vec(), |search, lambdas| {
        let (mut many, mut rest) = (at_once, lambdas);
        loop {
            let (below, now) = rest.split_at(rest.len().saturating_sub(many));
            let holdouts = problem.leave_out(now, None, groups, TOLERANCE)?;
            errors.extend(
                now.iter()
                    .zip(&holdouts)
                    .map(|(&lambda, holdout)| (lambda, holdout.error)),
            );
            let all = best.take().into_iter();
            let all = all.chain(now.iter().copied().zip(holdouts));
            best = all.min_by(|a, b| a.1.error.total_cmp(&b.1.error).then(a.0.total_cmp(b.0)));
            let found = best.as_ref().expect("a list of lambdas is not empty").0;
            if below.is_empty() || found != now[0] {
                // The error only rises from here down.
                search.skip(below);
                return Ok::<_, Error>(found);
            }
            (rest, many) = (below, 1);
        }
    })?;
    let (lambda, holdout) = best.expect("a list of lambdas is not empty");
    errors.retain(|(other, _)| *other != lambda);
    let distance = |&(other, _): &(Lambda, f64)| (other.value() / lambda.value()).ln().abs();
    let beside = errors
        .iter()
        .min_by(|a, b| distance(a).total_cmp(&distance(b)));
    let flat = beside.is_some_and(|&(_, error)| is_flat(holdout.error, error));
    Ok((lambda, holdout, flat))
}

/// `values` of examples, centred and weighted like the candidates, `m`.
fn weighted(candidates: &ColumnClasses, values: &[f64]) -> Vec<f64> {
    let queries = candidates.queries();
    let scales = candidates.query_weight().row_scales(queries);
    centred_and_scaled(values, queries, scales.as_deref())
}

impl Taught {
    /// The teacher of `plan`, if it has one, with the scores in `data` or the predictions of RankRLS. `labels` are
    /// centred and weighted.
    fn new(
        candidates: &ColumnClasses,
        labels: &[f64],
        data: &Dataset<'_>,
        plan: &Plan,
    ) -> Result<Option<Self>> {
        let Some(lambdas) = &plan.options.teacher_lambda else {
            return Ok(None);
        };
        check_labels(labels)?;
        ensure!(
            labels.iter().any(|label| *label != 0.0),
            data,
            "the labels are constant within every query: there is nothing to teach"
        );
        if let Some(scores) = data.teacher() {
            let scores = weighted(candidates, scores);
            return Self::given(scores, labels, candidates.queries()).map(Some);
        }
        let Some(solver) = plan.teacher else {
            return Err(Error::options(format!(
                "ranks do not train a teacher: expected its scores for the rows {}",
                Remedy::GiveTeacher
            )));
        };
        let search = teacher_search(lambdas, candidates.unit());
        check_values(candidates, search.tried()[0])?;
        Self::train(candidates, labels, search, solver, plan.options.seed()).map(Some)
    }

    /// Teaches by RankRLS on all `candidates` with centred, weighted `labels`.
    fn train(
        candidates: &ColumnClasses,
        labels: &[f64],
        mut search: LambdaSearch,
        solver: Solver,
        seed: u64,
    ) -> Result<Self> {
        let queries = candidates.queries().len();
        ensure!(
            queries >= FEWEST_QUERIES,
            data,
            "{queries} queries: expected at least {FEWEST_QUERIES}, as a teacher predicts each query by \
             the others; use a strategy and weights that need no teacher"
        );
        let problem = RidgeProblem::of_classes(candidates, labels, solver).map_err(untrained)?;
        let groups = if solver.factors() {
            Groups::queries(queries)
        } else {
            let folds = if queries < MANY_QUERIES {
                HoldOut::FOLDS
            } else {
                2
            };
            Groups::folds(candidates.queries(), folds, seed).map_err(untrained)?
        };
        // Otherwise two together, as one never ends the search.
        let together = solver.factors() || candidates.summary().class_nonzeros <= SMALL;
        let at_once = if together { usize::MAX } else { 2 };
        let best = least_error(&problem, &groups, &mut search, at_once);
        let (lambda, holdout, flat) = best.map_err(untrained)?;
        let at_edge = search.ends_at(lambda) && !flat && !candidates.units_differ();
        Ok(Self {
            teacher: Teacher {
                solver: Some(solver),
                lambda: Some(lambda),
                cindex: holdout.cindex,
                at_edge,
                dominated: at_edge && candidates.are_dominated(),
                residual: holdout
                    .residual
                    .filter(|reached| reached.is_nan() || *reached > TOLERANCE),
            },
            tried: Some(Lambdas::of(search.tried())),
            predictions: holdout.predictions,
        })
    }

    /// Takes `scores` as the teacher's, in any units: it multiplies them by the number that brings them nearest to
    /// the labels. `scores` and `labels` are centred and weighted.
    fn given(mut scores: Vec<f64>, labels: &[f64], queries: &Queries) -> Result<Self> {
        let products = kernels::dot(&scores, labels);
        let squares = kernels::dot(&scores, &scores);
        let slope = products / squares;
        ensure!(
            slope > 0.0 && slope.is_finite(),
            data,
            "the teacher's scores do not rise with the labels: their product with the labels, both \
             centred within queries, is not above 0"
        );
        for score in &mut scores {
            *score *= slope;
        }
        let judge = Judge::new(Metric::CONCORDANCE, Convention::Standard, labels, queries);
        Ok(Self {
            teacher: Teacher {
                solver: None,
                lambda: None,
                cindex: judge.score(&scores).mean,
                at_edge: false,
                dominated: false,
                residual: None,
            },
            tried: None,
            predictions: scores,
        })
    }

    /// `(1 - share) z + share y`.
    fn blended(&self, labels: &[f64], share: f64) -> Vec<f64> {
        let pairs = self.predictions.iter().zip(labels);
        pairs.map(|(z, y)| (1.0 - share) * z + share * y).collect()
    }
}
