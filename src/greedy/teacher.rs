//! Predictions for every query by RankRLS on all columns that has not seen the query.
//!
//! Few examples get leave-query-out predictions, exact and from one factorisation a ridge parameter;
//! many get predictions of query folds by conjugate gradients ([`crate::ridge`]). Classes of equal
//! columns count by their members here, though not in the selection.

use serde::{Deserialize, Serialize};

use super::error::{check_labels, check_values};
use super::state::centred_and_scaled;
use super::target::{Target, teacher_search};
use super::{Plan, SelectError, SelectionOptions};
use crate::candidates::Candidates;
use crate::columns::ColumnClasses;
use crate::data::Queries;
use crate::error::Error;
use crate::lambda::{Lambda, LambdaSearch, Lambdas};
use crate::linalg::kernels;
use crate::metrics::mean_concordance;
use crate::ridge::{self, Groups, Holdout, RidgeProblem, Solver};

/// Folds of queries where leaving out each on its own takes too long.
const FOLDS: usize = 5;

/// Queries from which on two folds do: half of them teach as well as all.
const MANY_QUERIES: usize = 20_000;

/// Norm of the residual that conjugate gradients have to reach, as a share of the labels'.
const TOLERANCE: f64 = 1e-4;

/// Fewest queries to teach from.
const FEWEST_QUERIES: usize = 10;

/// Seconds by [`Solver::cost`] from which on folds take the place of leaving out each query.
const PATIENCE: f64 = 2.0;

/// Most entries of columns with which all ridge parameters are tried side by side, for conjugate
/// gradients: lanes that stand idle then cost more than a parameter that was not needed.
const SMALL: usize = 50_000_000;

/// How a teacher predicts: its solver, and what that takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TeacherPlan {
    /// `dual` and `primal` leave out each query, `cg` a fold of queries.
    pub solver: Solver,
    /// Bytes that it takes besides data and candidates, before the selection starts.
    pub memory: u64,
}

impl TeacherPlan {
    /// The plan for so many `lambdas` where `available` bytes may be taken; one that takes more if
    /// none fits.
    pub(super) fn new(candidates: &Candidates, lambdas: usize, available: u64) -> Self {
        if candidates.peers().count() > 1 {
            // Its scores are given.
            let (solver, memory) = (Solver::ConjugateGradients, 0);
            return Self { solver, memory };
        }
        let shape = ridge::TrainShape::new(candidates.classes(), lambdas);
        let plan = |solver: Solver| Self {
            solver,
            memory: solver.memory(&shape),
        };
        let factoring = Solver::ALL.into_iter().filter(|solver| solver.factors());
        let quick = factoring.filter(|solver| solver.cost(&shape) <= PATIENCE);
        let cheaper = |a: &Solver, b: &Solver| a.cost(&shape).total_cmp(&b.cost(&shape));
        let quick = quick.map(plan).filter(|plan| plan.memory <= available);
        quick
            .min_by(|a, b| cheaper(&a.solver, &b.solver))
            .unwrap_or_else(|| plan(Solver::ConjugateGradients))
    }
}

/// The teacher of a selection.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Teacher {
    /// The solver; `None` for scores that were given.
    pub solver: Option<Solver>,
    /// The ridge parameter of least hold-out error; `None` for scores that were given.
    pub lambda: Option<Lambda>,
    /// Concordance index of the predictions with the labels, averaged over queries.
    pub cindex: Option<f64>,
    /// Whether `lambda` is the least or the largest of several that were tried: another may do
    /// better.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_edge: bool,
    /// The residual of conjugate gradients as a share of the labels, where it is more than the 1e-4
    /// that were to be reached: predictions are off by as much.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<f64>,
}

/// Predictions of a teacher: a plain value, which may be stored and read back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TeacherPredictions {
    pub(super) teacher: Teacher,
    /// The ridge parameters that were tried; `None` for scores that were given.
    pub(super) tried: Option<Lambdas>,
    /// A prediction for each example, centred and weighted as labels are, `m`.
    predictions: Vec<f64>,
}

/// The labels that `plan` learns from, centred and weighted as the candidates are, `m`.
pub(super) fn weighted_labels(candidates: &ColumnClasses, labels: &[f64], plan: &Plan) -> Vec<f64> {
    let scale = plan.target.label_scale(plan.strategy.kind());
    let scaled = scale.apply(labels, candidates.queries());
    weighted(candidates, &scaled)
}

/// `values` of examples, centred and weighted as the candidates are, `m`.
fn weighted(candidates: &ColumnClasses, values: &[f64]) -> Vec<f64> {
    let queries = candidates.queries();
    let scales = candidates.query_weight().row_scales(queries);
    centred_and_scaled(values, queries, scales.as_deref())
}

impl TeacherPredictions {
    /// Those of the teacher of `plan`, if it has one: the scores in `target`, or the
    /// predictions of RankRLS.
    pub(crate) fn new(
        candidates: &Candidates,
        target: Target<'_>,
        plan: &Plan,
        options: &SelectionOptions,
    ) -> Result<Option<Self>, SelectError> {
        let (Some(teacher), Some(lambdas)) = (plan.teacher, &plan.target.teacher_lambda) else {
            return Ok(None);
        };
        let classes = candidates.classes();
        let labels = weighted_labels(classes, target.labels, plan);
        check_labels(&labels)?;
        if labels.iter().all(|label| *label == 0.0) {
            return Err(SelectError::ConstantLabels);
        }
        if let Some(scores) = target.teacher {
            let scores = weighted(classes, scores);
            return Self::given(scores, &labels, candidates.queries()).map(Some);
        }
        if candidates.peers().count() > 1 {
            return Err(SelectError::SharedTeacher);
        }
        let search = teacher_search(lambdas, candidates.unit());
        check_values(candidates, search.tried()[0])?;
        Self::train(classes, &labels, search, teacher.solver, options.seed()).map(Some)
    }

    /// Teaches by RankRLS on all `candidates` with centred, weighted `labels`.
    pub(super) fn train(
        candidates: &ColumnClasses,
        labels: &[f64],
        mut search: LambdaSearch,
        solver: Solver,
        seed: u64,
    ) -> Result<Self, SelectError> {
        let queries = candidates.queries().len();
        if queries < FEWEST_QUERIES {
            return Err(SelectError::FewQueries {
                queries,
                expected: FEWEST_QUERIES,
            });
        }
        let problem = RidgeProblem::of_classes(candidates, labels, solver)?;
        let groups = if solver.factors() {
            Groups::queries(queries)
        } else {
            let folds = if queries < MANY_QUERIES { FOLDS } else { 2 };
            Groups::folds(queries, folds, seed)?
        };
        // All side by side or, from the largest, which takes the fewest iterations, down: the first two
        // together, as one never ends it, then each alone.
        let together = solver.factors() || candidates.summary().nonzeros <= SMALL;
        let mut best: Option<(Lambda, Holdout)> = None;
        search.run(search.tried().to_vec(), |search, lambdas| {
            let mut many = if together { lambdas.len() } else { 2 };
            let mut rest = lambdas;
            loop {
                let (below, now) = rest.split_at(rest.len().saturating_sub(many));
                let holdouts = problem.leave_out(now, &groups, TOLERANCE)?;
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
        tracing::info!(%solver, %lambda, cindex = holdout.cindex, "taught");
        Ok(Self {
            teacher: Teacher {
                solver: Some(solver),
                lambda: Some(lambda),
                cindex: holdout.cindex,
                at_edge: search.ends_at(lambda),
                residual: holdout
                    .convergence
                    .filter(|ended| !ended.is_within(TOLERANCE))
                    .map(|ended| ended.residual),
            },
            tried: Some(Lambdas::of(search.tried())),
            predictions: holdout.predictions,
        })
    }

    /// Takes `scores` for the teacher's, in whatever units: multiplied by the number that brings
    /// them nearest to the labels. `scores` and `labels` are centred and weighted.
    pub(super) fn given(
        mut scores: Vec<f64>,
        labels: &[f64],
        queries: &Queries,
    ) -> Result<Self, SelectError> {
        let products = kernels::dot(&scores, labels);
        let squares = kernels::dot(&scores, &scores);
        let slope = products / squares;
        if !(slope > 0.0 && slope.is_finite()) {
            return Err(SelectError::TeacherScores);
        }
        for score in &mut scores {
            *score *= slope;
        }
        Ok(Self {
            teacher: Teacher {
                solver: None,
                lambda: None,
                cindex: mean_concordance(labels, &scores, queries),
                at_edge: false,
                residual: None,
            },
            tried: None,
            predictions: scores,
        })
    }

    /// Whether a selection from rows with these `labels` by `plan` may take it in place of a new one.
    pub(crate) fn fits(&self, labels: &[f64], plan: &Plan) -> bool {
        plan.teacher.is_some() && self.predictions.len() == labels.len()
    }

    /// Whether they were given.
    pub(crate) fn is_given(&self) -> bool {
        self.teacher.solver.is_none()
    }

    /// `(1 - share) z + share y`.
    pub(super) fn blended(&self, labels: &[f64], share: f64) -> Vec<f64> {
        let pairs = self.predictions.iter().zip(labels);
        pairs.map(|(z, y)| (1.0 - share) * z + share * y).collect()
    }
}
