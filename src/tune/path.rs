//! One path of the grid: a selection, the models on its way, and how they are judged.

use super::folds::{FoldPath, Part, PathEnd};
use super::meter::{Values, summarise};
use super::run::{Job, LabelsOfParts, Run};
use super::{Evidence, Finished, Outcome, PathEnding, Point, TuneEvent};
use crate::error::{Error, Kind, Result};
use crate::greedy::{GreedyRankRls, Plan, Selecting, Step, tied_predictions};
use crate::stop::unless_stopped;

/// The values that a model is judged by, and the folds that had no step for it.
#[derive(Default)]
struct Judgement {
    values: Values,
    short_folds: usize,
}

impl Judgement {
    /// The model after the last `step`.
    fn point(&self, work: &Selecting<'_>, step: Step) -> Point {
        let (score, metrics) = summarise(&self.values);
        Point {
            step,
            weights: work.state().weights(),
            condition: work.state().condition(),
            score,
            metrics,
            short_folds: self.short_folds,
        }
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
            _ if run.is_stopped() => Err(PathEnd::Stopped),
            true => self.one_by_one(&mut outcome),
            false => self.side_by_side(&mut outcome),
        });
        let ended = followed.unwrap_or_else(|| {
            run.stop();
            Err(PathEnd::Stopped)
        });
        outcome.ending = match ended {
            Err(PathEnd::Stopped) => {
                if one_by_one {
                    // Not judged by all folds.
                    outcome.points.clear();
                }
                PathEnding::Interrupted
            }
            Err(PathEnd::Overflow) => PathEnding::Overflow,
            // Steps of an earlier run.
            Err(PathEnd::Select(error)) if error.kind() == Kind::File => {
                run.stop();
                return Err(error.within(format_args!("lambda {}: ", job.lambda)));
            }
            Err(PathEnd::Select(error)) => PathEnding::Refused {
                reason: error.to_string(),
            },
            Ok(()) if outcome.points.len() < job.plan.steps => PathEnding::Settled,
            Ok(()) if job.plan.steps < run.options.selection.k => PathEnding::Exhausted,
            Ok(()) => PathEnding::Complete,
        };
        run.tell(TuneEvent::Finished(&outcome));
        Ok(outcome)
    }

    /// The values of a model by predictions that need no other selection.
    fn values(&self, work: &Selecting<'_>) -> Option<Values> {
        let (meter, state) = (&self.run.meters[0], work.state());
        if let Evidence::Validation { .. } = self.run.options.evidence {
            let scores = meter.data.scores(&work.features(), &state.weights());
            return meter.values(&scores, &scores);
        }
        meter.values(&state.predictions(), &tied_predictions(state))
    }

    /// The selection and those without a fold, if there are folds, step by step together.
    fn side_by_side(&self, outcome: &mut Outcome) -> Result<(), PathEnd> {
        let begun = (0..self.run.folds.len()).map(|fold| self.fold_path(fold));
        let mut folds: Vec<FoldPath<'_>> = begun.collect::<Result<_, _>>()?;
        let ended = self.follow(outcome, |work| {
            let mut judgement = self.unjudged();
            if folds.is_empty() {
                judgement.values = self.values(work).ok_or(PathEnd::Overflow)?;
            }
            for (fold, without) in folds.iter_mut().enumerate() {
                self.judge(without, fold, work.steps().len(), &mut judgement)?;
            }
            Ok(judgement)
        });
        outcome.folds = folds.iter().map(FoldPath::features).collect();
        if ended.is_ok() {
            for (fold, without) in folds.iter().enumerate() {
                self.finished(Some(fold), without.steps());
            }
        }
        ended
    }

    /// The selection, then those without a fold one after the other.
    fn one_by_one(&self, outcome: &mut Outcome) -> Result<(), PathEnd> {
        let mut ended = self.follow(outcome, |_| Ok(Judgement::default()));
        let points = &mut outcome.points;
        let mut judgements: Vec<Judgement> = points.iter().map(|_| self.unjudged()).collect();
        // The models before an overflow can be judged, but not those before an interruption.
        for fold in 0..self.run.folds.len() {
            if matches!(ended, Err(PathEnd::Stopped)) {
                return ended;
            }
            match self.judge_all(fold, &mut judgements) {
                Ok(features) => outcome.folds.push(features),
                Err(end) => ended = Err(end),
            }
        }
        points.truncate(judgements.len());
        for (point, judgement) in points.iter_mut().zip(judgements) {
            (point.score, point.metrics) = summarise(&judgement.values);
            point.short_folds = judgement.short_folds;
        }
        ended
    }

    /// Adds the judgement of a fold to each model, and returns its features; cuts off the models
    /// that it cannot judge.
    fn judge_all(&self, fold: usize, judgements: &mut Vec<Judgement>) -> Result<Vec<u32>, PathEnd> {
        let begun = self.fold_path(fold);
        let mut without = begun.inspect_err(|_| judgements.clear())?;
        for place in 0..judgements.len() {
            if self.run.is_stopped() {
                return Err(PathEnd::Stopped);
            }
            let judged = self.judge(&mut without, fold, place + 1, &mut judgements[place]);
            judged.inspect_err(|_| judgements.truncate(place))?;
        }
        self.finished(Some(fold), without.steps());
        Ok(without.features())
    }

    /// Tells of a selection that needs no more steps, unless it was given.
    fn finished(&self, fold: Option<usize>, steps: &[Step]) {
        let path = self.job.path();
        if self.run.given(path, fold).len() < steps.len() {
            let steps = steps.to_vec();
            self.run
                .tell(TuneEvent::Selected(&Finished { path, fold, steps }));
        }
    }

    /// Takes a step of the selection without a fold, and adds how the fold judges it.
    fn judge(
        &self,
        without: &mut FoldPath<'_>,
        fold: usize,
        number: usize,
        judgement: &mut Judgement,
    ) -> Result<(), PathEnd> {
        match without.advance()? {
            Some(step) => self.run.stepped(self.job, Some(fold), number, &step),
            None => judgement.short_folds += 1,
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

    fn fold_path(&self, fold: usize) -> Result<FoldPath<'a>, PathEnd> {
        let plan = self.job.folds[fold].as_ref();
        let work = plan.map(|plan| self.begin(Some(fold), plan)).transpose()?;
        FoldPath::new(&self.run.folds[fold], &self.run.meters[fold], work)
    }

    /// The selection without `fold`, or from all data, before its first step.
    fn begin(&self, fold: Option<usize>, plan: &'a Plan) -> Result<Selecting<'a>> {
        let Part { candidates, data } = self.run.part(fold);
        let given = self.run.given(self.job.path(), fold);
        let labels = &self.labels[fold.map_or(0, |fold| 1 + fold)];
        let labels = labels.as_ref().map_err(Error::clone)?;
        Selecting::begin(candidates, data.labels(), labels, plan, self.run.own, given)
    }

    /// Takes the steps of the selection from all data, each judged by `judge`, until the rule
    /// has seen enough.
    fn follow(
        &self,
        outcome: &mut Outcome,
        mut judge: impl FnMut(&Selecting<'a>) -> Result<Judgement, PathEnd>,
    ) -> Result<(), PathEnd> {
        let &Self { run, job, .. } = self;
        let failed = &mut outcome.error;
        let mut keep = |error: Error| {
            *failed = Some(error.clone());
            PathEnd::from(error)
        };
        let mut work = self.begin(None, &job.plan).map_err(&mut keep)?;
        let labels = work.labels();
        (outcome.teacher, outcome.options.teacher_lambda) = (labels.teacher, labels.tried.clone());
        let points = &mut outcome.points;
        let mut early_stop = run.options.rule.early_stop(run.options.measure);
        loop {
            if run.is_stopped() && points.len() < job.plan.steps {
                return Err(PathEnd::Stopped);
            }
            let Some(step) = work.advance().map_err(&mut keep)?.cloned() else {
                self.finished(None, work.steps());
                return Ok(());
            };
            let point = judge(&work)?.point(&work, step.clone());
            let (lambda, value) = (job.lambda.value(), point.score.mean);
            let (number, lqo_error) = (points.len() + 1, point.step.lqo_error);
            let feature = run.candidates().written(point.step.feature);
            tracing::info!(lambda, step = number, feature, lqo_error, value, "selected");
            let rule = early_stop.as_mut();
            let settled = rule.is_some_and(|path| path.push(&point.score));
            points.push(point);
            run.stepped(job, None, number, &step);
            if settled {
                self.finished(None, work.steps());
                return Ok(());
            }
        }
    }
}
