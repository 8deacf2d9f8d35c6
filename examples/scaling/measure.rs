//! One data set measured.

use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use rankrls::data::read::ReadOptions;
use rankrls::greedy::{Plan, SelectError, SelectionOptions, plan, select_among};
use rankrls::{ColumnClasses, Dataset, Lambda, Selection, StrategyKind, memory};
use rayon::prelude::*;

use crate::Outcome;

/// Names of the values of a line.
pub(crate) const HEADER: &str = "study,data,rows,queries,columns,nonzeros,classes,class_nonzeros,\
    strategy,k,lambda,classes_seconds,select_seconds,pass_seconds,planned_bytes,\
    peak_bytes,evaluated,lqo_error";

/// Something is run again until this many seconds have gone, or it has run `RUNS` times.
const ENOUGH: f64 = 1.5;
const RUNS: usize = 5;

/// Columns of a task of the pass over the non-zeros.
const COLUMNS: usize = 4096;

/// A selection to measure.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Trial {
    pub(crate) strategy: StrategyKind,
    pub(crate) k: usize,
    pub(crate) lambda: Lambda,
}

/// A data set with its column classes.
pub(crate) struct Measurer<'a> {
    study: &'a str,
    name: &'a str,
    data: &'a Dataset<'a>,
    candidates: ColumnClasses,
    classes_seconds: f64,
    pass_seconds: f64,
}

impl<'a> Measurer<'a> {
    pub(crate) fn new(study: &'a str, name: &'a str, data: &'a Dataset<'a>) -> Self {
        let (classes_seconds, candidates) = median_time(|| ColumnClasses::new(data));
        Self {
            study,
            name,
            data,
            candidates,
            classes_seconds,
            pass_seconds: pass_seconds(data),
        }
    }

    /// Prints a line for each trial that fits into memory.
    pub(crate) fn run(&self, trials: &[Trial]) -> Outcome {
        for trial in trials {
            let mut options = SelectionOptions {
                strategy: Some(trial.strategy),
                ..SelectionOptions::new(trial.k, trial.lambda)
            };
            if let Some(budget) = memory::budget() {
                // What is free is free of the data already.
                let held = self.data.memory() + self.candidates.memory();
                options.max_memory = Some(budget + held);
            }
            match plan(&self.candidates, self.data.memory(), &options) {
                Ok(plan) => self.line(trial, &options, &plan),
                Err(SelectError::Memory { needed, .. }) => eprintln!(
                    "{}, {}: left out, {needed} bytes needed",
                    self.name, trial.strategy
                ),
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn line(&self, trial: &Trial, options: &SelectionOptions, plan: &Plan) {
        start_peak();
        let (seconds, selection) = median_time(|| self.select(options));
        let peak = memory::peak();
        let held = self.data.memory() + self.candidates.memory();
        let summary = self.candidates.summary();
        let evaluated: usize = selection.steps.iter().map(|step| step.evaluated).sum();
        let values = [
            self.study.to_owned(),
            self.name.to_owned(),
            self.data.rows().to_string(),
            self.data.queries().len().to_string(),
            self.data.width().to_string(),
            self.data.nonzeros().to_string(),
            summary.column_classes.to_string(),
            summary.nonzeros.to_string(),
            trial.strategy.to_string(),
            selection.steps.len().to_string(),
            trial.lambda.value().to_string(),
            format!("{:.6}", self.classes_seconds),
            format!("{seconds:.6}"),
            format!("{:.6}", self.pass_seconds),
            (held + plan.memory).to_string(),
            peak.map_or_else(String::new, |bytes| bytes.to_string()),
            evaluated.to_string(),
            selection
                .steps
                .last()
                .map_or_else(String::new, |step| step.lqo_error.to_string()),
        ];
        println!("{}", values.join(","));
    }

    fn select(&self, options: &SelectionOptions) -> Selection {
        let (labels, held) = (self.data.labels(), self.data.memory());
        select_among(&self.candidates, labels, held, options, &mut ()).expect("it was planned")
    }
}

/// Measures `trials` on a data file.
pub(crate) fn of_file(study: &str, file: &Path, trials: &[Trial]) -> Outcome {
    let data = ReadOptions::new().read(file)?.dataset;
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split('.').next().unwrap_or_default();
    Measurer::new(study, name, &data).run(trials)
}

/// Median seconds of some runs, and what the last of them made.
fn median_time<T>(mut run: impl FnMut() -> T) -> (f64, T) {
    let mut seconds = Vec::new();
    loop {
        let start = Instant::now();
        let made = run();
        seconds.push(start.elapsed().as_secs_f64());
        if seconds.len() == RUNS || seconds.iter().sum::<f64>() > ENOUGH {
            seconds.sort_by(f64::total_cmp);
            return (seconds[seconds.len() / 2], made);
        }
    }
}

/// Seconds of a sparse dot product of every stored column with a dense vector.
fn pass_seconds(data: &Dataset<'_>) -> f64 {
    let dense: Vec<f64> = (0..data.rows()).map(|row| 1.0 / (row + 1) as f64).collect();
    let columns: Vec<usize> = (0..data.stored_columns()).collect();
    let dot = |&column: &usize| -> f64 {
        let entries = data.column(column).iter();
        entries.map(|(row, value)| value * dense[row]).sum()
    };
    let largest = |chunk: &[usize]| chunk.iter().map(dot).fold(0.0, f64::max);
    let pass = || {
        black_box(
            columns
                .par_chunks(COLUMNS)
                .map(largest)
                .max_by(f64::total_cmp),
        )
    };
    median_time(pass).0
}

/// Makes the peak start from what is in memory now. Where the system has no such thing the
/// peak is that of reading or generating, and says so by not changing.
fn start_peak() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
