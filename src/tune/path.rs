//! One path of the grid: a selection, the models on its way, and their judgement.

use super::folds::{FoldPath, Part};
use super::meter::Values;
use super::outcome::values;
use super::run::{Job, LabelsOfParts, Run};
use super::{Outcome, PathEnding, PathSteps, Point, TuneEvent};
use crate::data::HoldOut;
use crate::error::{Error, Kind, Result};
use crate::greedy::{GreedyRankRls, Plan, Selecting};
use crate::metrics::{Score, prediction_tolerance};
use crate::stop::unless_stopped;

/// The values that judge a model, and the folds without a step for it.
#[derive(Default)]
struct Judgement {
    values: Values,
    short_folds: usize,
}

impl Judgement {
    /// The score by the measure, the scores by the metrics, and the short folds.
    fn scores(&self) -> (Score, Vec<Score>, usize) {
        let mut scores = self.values.iter().map(|values| Score {
            per_query: Vec::new(),
            ..Score::of(values.clone())
        });
        let measure = scores.next().unwrap_or_else(|| Score::of(Vec::new()));
        (measure, scores.collect(), self.short_folds)
    }
}

/// A path at work.
pub(super) struct Path<'a, 'r> {
    run: &'a Run<'r>,
    job: &'a Job,
    labels: &'a LabelsOfParts,
}

impl<'a, 'r> Path<'a, 'r> {
    pub(super) fn new(run: &'a Run<'r>, job: &'a Job, labels: &'a LabelsOfParts) -> Self {
        Self { run, job, labels }
    }

    /// Follows the path.
    pub(super) fn outcome(&self) -> Result<Outcome> {
        let &Self { run, job, .. } = self;
        let sampler = job.plan.options.sampler();
        let options = GreedyRankRls {
            sample: sampler.map(|sampler| sampler.size),
            memory: run.options.selection.memory,
            ..job.plan.options.clone()
        };
        let unit = run.candidates().unit();
        let mut outcome = Outcome::without_points(&options, job.lambda, unit, PathEnding::Complete);
        let one_by_one = run.one_by_one();
        let followed = unless_stopped(match one_by_one {
            _ if run.is_stopped() => Err(Error::stopped()),
            true => self.one_by_one(&mut outcome),
            false => self.side_by_side(&mut outcome),
        });
        let ended = followed.unwrap_or_else(|| {
            run.stop();
            Err(Error::stopped())
        });
        let taken = outcome.points.len();
        outcome.ending = match ended.map_err(|error| (error.kind(), error)) {
            Err((Kind::Stopped, _)) => {
                if one_by_one {
                    // Not all folds have judged it.
                    outcome.points.clear();
                }
                PathEnding::Interrupted
            }
            // The steps of an earlier run do not fit.
            Err((Kind::File, error)) => {
                run.stop();
                return Err(error.within(format_args!("lambda {}: ", job.lambda)));
            }
            Err((_, error)) => {
                let reason = error.to_string();
                outcome.error = Some(error);
                PathEnding::Refused { reason }
            }
            Ok(()) if taken < job.plan.steps => PathEnding::Settled,
            Ok(()) if job.plan.steps < run.options.selection.k => PathEnding::Exhausted,
            Ok(()) => PathEnding::Complete,
        };
        run.tell(TuneEvent::Finished(&outcome));
        Ok(outcome)
    }

    /// The values of a model by predictions that need no other selection.
    fn values(&self, work: &Selecting<'_>) -> Result<Values> {
        let (meter, state) = (&self.run.meters[0], work.state());
        if let HoldOut::Data { .. } = self.run.options.holdout {
            let scores = meter.data.scores(&work.features(), &state.weights());
            return meter.values(&scores, 0.0);
        }
        let tolerance = prediction_tolerance(&state.centred_labels());
        meter.values(&state.predictions(), tolerance)
    }

    /// The selection and, if there are folds, the selections without them, step by step together.
    fn side_by_side(&self, outcome: &mut Outcome) -> Result<()> {
        let begun = (0..self.run.folds.len()).map(|fold| self.fold_path(fold));
        let mut folds: Vec<FoldPath<'_>> = begun.collect::<Result<_>>()?;
        let ended = self.follow(outcome, |work| {
            let mut judgement = self.unjudged();
            if folds.is_empty() {
                judgement.values = self.values(work)?;
            }
            for without in &mut folds {
                self.judge(without, &mut judgement)?;
            }
            Ok(judgement)
        });
        outcome.folds = folds.iter().map(FoldPath::features).collect();
        if ended.is_ok() {
            for without in &folds {
                self.finished(&without.path);
            }
        }
        ended
    }

    /// The selection, then the selections without a fold, one after the other.
    fn one_by_one(&self, outcome: &mut Outcome) -> Result<()> {
        let mut ended = self.follow(outcome, |_| Ok(Judgement::default()));
        let points = &mut outcome.points;
        let mut judgements: Vec<Judgement> = points.iter().map(|_| self.unjudged()).collect();
        // Models before an error can be judged; models before an interruption cannot.
        for fold in 0..self.run.folds.len() {
            if ended
                .as_ref()
                .is_err_and(|error| error.kind() == Kind::Stopped)
            {
                return ended;
            }
            match self.judge_all(fold, &mut judgements) {
                Ok(features) => outcome.folds.push(features),
                // The error of the selection itself is the most useful.
                Err(error) if ended.is_ok() || error.kind() == Kind::Stopped => ended = Err(error),
                Err(_) => {}
            }
        }
        points.truncate(judgements.len());
        for (point, judgement) in points.iter_mut().zip(judgements) {
            (point.score, point.metrics, point.short_folds) = judgement.scores();
        }
        ended
    }

    /// Adds the judgement of a fold to each model, drops the models that it cannot judge, and returns its features.
    fn judge_all(&self, fold: usize, judgements: &mut Vec<Judgement>) -> Result<Vec<u32>> {
        let begun = self.fold_path(fold);
        let mut without = begun.inspect_err(|_| judgements.clear())?;
        for place in 0..judgements.len() {
            if self.run.is_stopped() {
                return Err(Error::stopped());
            }
            let judged = self.judge(&mut without, &mut judgements[place]);
            judged.inspect_err(|_| judgements.truncate(place))?;
        }
        self.finished(&without.path);
        Ok(without.features())
    }

    /// Reports a selection that needs no more steps, unless it was given.
    fn finished(&self, path: &PathSteps) {
        if self.run.given(path).len() < path.steps.len() {
            self.run.tell(TuneEvent::Selected(path));
        }
    }

    /// Takes a step of the selection without a fold, and adds the judgement by the fold.
    fn judge(&self, without: &mut FoldPath<'_>, judgement: &mut Judgement) -> Result<()> {
        if without.advance()? {
            self.run.stepped(&without.path);
        } else {
            judgement.short_folds += 1;
        }
        without.spread(&mut judgement.values);
        Ok(())
    }

    fn unjudged(&self) -> Judgement {
        let measures = 1 + self.run.options.metrics.len();
        Judgement {
            values: vec![vec![None; self.run.queries]; measures],
            short_folds: 0,
        }
    }

    fn fold_path(&self, fold: usize) -> Result<FoldPath<'a>> {
        let path = self.job.path(Some(fold));
        let plan = self.job.folds[fold].as_ref();
        let work = plan.map(|plan| self.begin(&path, plan)).transpose()?;
        FoldPath::new(&self.run.folds[fold], &self.run.meters[fold], work, path)
    }

    /// The selection of `path` before its first step.
    fn begin(&self, path: &PathSteps, plan: &'a Plan) -> Result<Selecting<'a>> {
        let Part { candidates, data } = self.run.part(path.fold);
        let labels = &self.labels[path.fold.map_or(0, |fold| 1 + fold)];
        let labels = labels.as_ref().map_err(Error::clone)?;
        let given = self.run.given(path);
        Selecting::begin(candidates, data.labels(), labels, plan, self.run.own, given)
    }

    /// Takes the steps of the selection from all data, each judged by `judge`, until the rule ends them.
    fn follow(
        &self,
        outcome: &mut Outcome,
        mut judge: impl FnMut(&Selecting<'a>) -> Result<Judgement>,
    ) -> Result<()> {
        let &Self { run, job, .. } = self;
        let (failed, points) = (&mut outcome.ends_selection, &mut outcome.points);
        let mut keep = |_: &Error| *failed = true;
        let mut path = job.path(None);
        let mut work = self.begin(&path, &job.plan).inspect_err(&mut keep)?;
        let labels = work.labels();
        (outcome.teacher, outcome.options.teacher_lambda) = (labels.teacher, labels.tried.clone());
        let (rule, measure, least) = (
            run.options.rule,
            run.options.measure,
            job.plan.included.len(),
        );
        while !rule.settles(measure, values(points, least)) {
            if run.is_stopped() && points.len() < job.plan.steps {
                return Err(Error::stopped());
            }
            let Some(step) = work.advance().inspect_err(&mut keep)?.cloned() else {
                break;
            };
            path.steps.push(step.clone());
            let (score, metrics, short_folds) = judge(&work)?.scores();
            points.push(Point {
                step,
                weights: work.state().weights(),
                condition: work.state().condition(),
                score,
                metrics,
                short_folds,
            });
            run.stepped(&path);
        }
        self.finished(&path);
        Ok(())
    }
}
