//! The runs of the strategies that are compared, and their means.

use std::io::{self, Write};

use anyhow::Result;
use rankrls::Lambda;
use rankrls::greedy::{SelectError, SelectionOptions};
use rankrls::memory::Bytes;
use serde::Serialize;

use super::{CompareArgs, Contestant, Trial};
use crate::data::{Input, Sizes, TestSizes};
use crate::output::{Object, by_name};
use crate::session::Session;
use crate::sheet::Sheet;

/// Strategies beside each other, in the schema `rankrls.comparison/1`.
#[derive(Serialize)]
pub(super) struct Comparison<'a> {
    schema: &'static str,
    version: &'static str,
    pub(super) interrupted: bool,
    pub(super) file: String,
    pub(super) test_file: Option<String>,
    pub(super) lambda: f64,
    pub(super) k: usize,
    seeds: u64,
    pub(super) metrics: Vec<String>,
    pub(super) data: Sizes,
    pub(super) test: Option<TestSizes>,
    load_seconds: f64,
    /// The exact strategy that the others are compared with: the first that ran.
    reference: Option<&'a str>,
    pub(super) strategies: Vec<StrategyReport<'a>>,
}

/// A strategy: means over its runs, or why there are none.
#[derive(Serialize)]
pub(super) struct StrategyReport<'a> {
    #[serde(flatten)]
    pub(super) one: &'a Contestant,
    pub(super) error: Option<String>,
    /// Bytes that it would take with the data, and those that it may, if it does not fit.
    pub(super) needs_bytes: Option<u64>,
    limit_bytes: Option<u64>,
    /// Bytes that it takes besides data and column classes, as planned.
    pub(super) memory_bytes: Option<u64>,
    pub(super) select_seconds: Option<Spread>,
    /// Candidates evaluated exactly, over all steps.
    pub(super) evaluated: Option<Spread>,
    /// Share of its features that the reference has too.
    pub(super) overlap: Option<Spread>,
    /// After each step that all runs took.
    pub(super) steps: Vec<Means>,
    pub(super) runs: Vec<Trial<'a>>,
}

#[derive(Serialize)]
pub(super) struct Means {
    pub(super) step: usize,
    lqo_error: Option<Spread>,
    lqo_cindex: Option<Spread>,
    evaluated: Option<Spread>,
    pub(super) test: Object<Option<Spread>>,
}

impl Means {
    /// Means of a figure of merit: LQO error, LQO cindex, then the measures of the test data.
    pub(super) fn merit(&self, number: usize) -> Option<Spread> {
        match number {
            0 => self.lqo_error,
            1 => self.lqo_cindex,
            _ => self.test.0[number - 2].1,
        }
    }
}

impl<'a> Comparison<'a> {
    /// Selects by all, until somebody interrupts.
    pub(super) fn new(
        args: &'a CompareArgs,
        (options, lambda): (&SelectionOptions, Lambda),
        input: &'a Input,
        data: Sizes,
        session: &Session<'_>,
    ) -> Self {
        let test = input.test.as_ref();
        let measured = test.iter().flat_map(|_| &args.metrics);
        let metrics: Vec<String> = measured.map(ToString::to_string).collect();
        let entry = |one: &'a Contestant| {
            let seeds = if one.random { args.seeds } else { 1 };
            let options = |seed| SelectionOptions {
                strategy: Some(one.kind),
                sample: one.sample,
                seed: Some(seed),
                ..options.clone()
            };
            let run = |seed| Trial::new(one, &options(seed), args, input, session).transpose();
            StrategyReport::new(one, (1..=seeds).map_while(run).collect(), &metrics)
        };
        let mut strategies: Vec<StrategyReport<'a>> = args.strategies.iter().map(entry).collect();
        let exact = strategies
            .iter()
            .find(|entry| entry.one.exact && entry.error.is_none());
        let features = exact.map(|entry| entry.runs[0].features.clone());
        let reference = exact.map(|entry| &*entry.one.name);
        if let Some(features) = features {
            for entry in &mut strategies {
                let overlap = |run: &Trial<'_>| {
                    let own = run.features.iter();
                    let both = own.filter(|feature| features.contains(feature)).count();
                    Some(both as f64 / run.features.len() as f64)
                };
                entry.overlap = Spread::of(entry.runs.iter().map(overlap));
            }
        }
        Self {
            schema: "rankrls.comparison/1",
            version: env!("CARGO_PKG_VERSION"),
            interrupted: session.interrupt.code().is_some(),
            file: args.data.path.to_string_lossy().into(),
            test_file: args.test.as_ref().map(|path| path.to_string_lossy().into()),
            lambda: lambda.value(),
            k: args.k,
            seeds: args.seeds,
            metrics,
            data,
            test: test.map(|test| TestSizes::new(test, &args.metrics, &args.rules.rules())),
            load_seconds: input.seconds,
            reference,
            strategies,
        }
    }

    /// The strategies that selected.
    pub(super) fn ran(&self) -> impl Iterator<Item = &StrategyReport<'a>> {
        self.strategies.iter().filter(|entry| entry.error.is_none())
    }

    /// The reasons of the strategies that did not run.
    pub(super) fn failures(&self) -> impl Iterator<Item = String> {
        self.strategies.iter().filter_map(StrategyReport::failure)
    }

    /// A line a step as CSV; one with an error and no step for a strategy that did not run.
    pub(super) fn write(&self, input: &Input, writer: &mut dyn Write) -> io::Result<()> {
        let mut lines = Vec::new();
        for entry in &self.strategies {
            if entry.error.is_some() {
                lines.push((entry, None));
            }
            for run in &entry.runs {
                let steps = run.steps.iter().enumerate();
                lines.extend(steps.map(|(place, step)| (entry, Some((run, place, step)))));
            }
        }
        let tests = self.metrics.iter().map(|metric| format!("test {metric}"));
        Sheet::of(&lines)
            .words("strategy", |(entry, _)| &*entry.one.name)
            .words("exact", |(entry, _)| entry.one.exact)
            .words("error", |(entry, _)| entry.error.as_deref())
            .number("seed", |&(_, run)| run?.0.seed)
            .number("select seconds", |&(_, run)| Some(run?.0.select_seconds))
            .number("memory bytes", |&(_, run)| Some(run?.0.memory))
            .number("step", |&(_, run)| Some(run?.1 + 1))
            .number("feature", |&(_, run)| {
                run.map(|(run, place, _)| run.features[place])
            })
            .words("name", |&(_, run)| input.train.name_of(run?.2.feature))
            .number("LQO error", |&(_, run)| Some(run?.2.lqo_error))
            .measure("LQO cindex", |&(_, run)| run?.2.lqo_cindex)
            .number("evaluated", |&(_, run)| Some(run?.2.evaluated))
            .measures(tests, |&(_, run), metric| run?.0.tested(run?.1, metric))
            .csv(writer)
    }
}

impl<'a> StrategyReport<'a> {
    /// The runs of a strategy, not yet compared with others.
    fn new(one: &'a Contestant, outcome: Result<Vec<Trial<'a>>>, metrics: &[String]) -> Self {
        let mut too_large = None;
        let (runs, error) = match outcome {
            Ok(runs) if runs.is_empty() => (runs, Some("interrupted".to_owned())),
            Ok(runs) => (runs, None),
            Err(error) => {
                let mut text = format!("{error:#}");
                if let Some(SelectError::Memory { needed, limit, .. }) = error.downcast_ref() {
                    too_large = Some((*needed, *limit));
                    "does not fit into memory".clone_into(&mut text);
                }
                (Vec::new(), Some(text))
            }
        };
        let (needs_bytes, limit_bytes) = too_large.unzip();
        let of = |value: &dyn Fn(&Trial<'_>) -> Option<f64>| Spread::of(runs.iter().map(value));
        let evaluated = |run: &Trial<'_>| run.steps.iter().map(|step| step.evaluated as f64).sum();
        let means = |index: usize| Means {
            step: index + 1,
            lqo_error: of(&|run| Some(run.steps[index].lqo_error)),
            lqo_cindex: of(&|run| run.steps[index].lqo_cindex),
            evaluated: of(&|run| Some(run.steps[index].evaluated as f64)),
            test: by_name(
                metrics,
                (0..).map(|metric| of(&|run| run.tested(index, metric))),
            ),
        };
        let shortest = runs.iter().map(|run| run.steps.len()).min().unwrap_or(0);
        Self {
            one,
            error,
            needs_bytes,
            limit_bytes,
            memory_bytes: runs.iter().map(|run| run.memory).max(),
            select_seconds: of(&|run| Some(run.select_seconds)),
            evaluated: of(&|run| Some(evaluated(run))),
            overlap: None,
            steps: (0..shortest).map(means).collect(),
            runs,
        }
    }

    /// The reason why it did not run.
    fn failure(&self) -> Option<String> {
        let (name, error) = (&self.one.name, self.error.as_ref()?);
        Some(
            match (self.needs_bytes.map(Bytes), self.limit_bytes.map(Bytes)) {
                (Some(needs), Some(limit)) => {
                    format!("{name} {error}: it needs {needs} with the data, {limit} may be taken")
                }
                _ => format!("{name} did not run: {error}"),
            },
        )
    }
}

/// Mean and spread of some values.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Spread {
    pub(super) mean: f64,
    /// Standard deviation of the sample; 0 for one value.
    pub(super) deviation: f64,
    pub(super) least: f64,
    pub(super) largest: f64,
}

impl Spread {
    /// The values, all of which have to be there; `None` if there are none.
    fn of(values: impl IntoIterator<Item = Option<f64>>) -> Option<Self> {
        let values: Vec<f64> = values.into_iter().collect::<Option<_>>()?;
        let first = *values.first()?;
        let count = values.len() as f64;
        // Around the first, so that equal values have themselves for their mean.
        let mean = first + values.iter().map(|value| value - first).sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Some(Self {
            mean,
            deviation: (squares / (count - 1.0).max(1.0)).sqrt(),
            least: values.iter().copied().fold(first, f64::min),
            largest: values.iter().copied().fold(first, f64::max),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_deviations() {
        let of = |values: &[f64]| Spread::of(values.iter().copied().map(Some));
        let [mean, least, largest] = [3.0, 1.0, 6.0];
        let deviation = 7.0_f64.sqrt();
        let spread = Spread {
            mean,
            deviation,
            least,
            largest,
        };
        assert_eq!(of(&[1.0, 2.0, 6.0]), Some(spread));
        for equal in [&[0.1; 1][..], &[0.1; 7]] {
            let spread = of(equal).unwrap();
            assert_eq!((spread.mean, spread.deviation), (0.1, 0.0));
        }
        assert_eq!(of(&[]), None);
        assert_eq!(Spread::of([Some(1.0), None]), None);
    }
}
