//! The tables of docs/strategies.md: whole runs of `rankrls select`, one strategy after the other.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::commands::{command, corpora, released};
use crate::measure::selections;
use crate::page::{fill, row};

const PAGE: &str = "docs/strategies.md";

/// A table: the same data, `k` and lambda for all strategies.
struct Table {
    name: &'static str,
    data: &'static str,
    test: Option<&'static str>,
    k: usize,
    lambda: &'static str,
    runs: usize,
    /// Names, some with the candidates that may be drawn: `sampled:500`.
    strategies: &'static [&'static str],
}

const SMALL: Table = Table {
    name: "small",
    data: "ewt-parse/train_2000.svm.zst",
    test: Some("ewt-parse/test_2000.svm.zst"),
    k: 20,
    lambda: "16",
    runs: 3,
    strategies: &[
        "dense",
        "lowmem",
        "bounded",
        "sampled",
        "sampled:1000",
        "backfit",
    ],
};

const TABLES: [Table; 3] = [
    SMALL,
    Table {
        name: "large",
        data: "ewt-parse/train_20000.svm.zst",
        test: None,
        k: 50,
        strategies: &["dense", "bounded", "sampled", "backfit"],
        ..SMALL
    },
    Table {
        name: "letor",
        data: "letor-mq2008-fold3/train.txt.zst",
        test: Some("letor-mq2008-fold3/test.txt.zst"),
        strategies: &["dense", "lowmem", "bounded", "backfit"],
        ..SMALL
    },
];

/// Measures the tables of these names, all if there are none.
pub(crate) fn measure_again(names: &[&str]) -> Result<()> {
    if let Some(name) = names
        .iter()
        .find(|name| TABLES.iter().all(|table| table.name != **name))
    {
        let known = TABLES.map(|table| table.name).join(", ");
        bail!("expected one of {known}, found {name:?}");
    }
    let program = released()?;
    for table in &TABLES {
        if names.is_empty() || names.contains(&table.name) {
            let (begin, end) = (
                format!("<!-- begin {} -->", table.name),
                format!("<!-- end {} -->", table.name),
            );
            fill(PAGE, &begin, &end, &table.measure(&program)?)?;
        }
    }
    Ok(())
}

impl Table {
    fn measure(&self, program: &Path) -> Result<Vec<String>> {
        let cores = std::thread::available_parallelism()?;
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().unwrap_or("unknown");
        let file = self.data.rsplit('/').next().unwrap_or_default();
        let mut lines = vec![
            format!(
                "{file}, k {}, lambda {}, {} runs, {cores} cores, load {load}",
                self.k, self.lambda, self.runs
            ),
            String::new(),
            "| strategy | selection, s | ms a feature | whole run, s | peak memory, MB | LQO error | test \
             concordance |"
                .to_owned(),
            "|---|---:|---:|---:|---:|---:|---:|".to_owned(),
        ];
        for strategy in self.strategies {
            lines.push(row(&self.row(program, strategy)?));
        }
        Ok(lines)
    }

    fn row(&self, program: &Path, strategy: &str) -> Result<[String; 7]> {
        let measured = match selections(&mut self.command(program, strategy)?, self.runs)? {
            Ok(measured) => measured,
            Err(error) => {
                let mut cells = [const { String::new() }; 7];
                (cells[0], cells[1]) = (strategy.to_owned(), error);
                return Ok(cells);
            }
        };
        let error = measured
            .last
            .steps
            .last()
            .map_or(f64::NAN, |step| step.lqo_error);
        let seconds = measured.select_seconds;
        Ok([
            strategy.to_owned(),
            format!("{seconds:.3}"),
            format!("{:.1}", 1e3 * seconds / self.k as f64),
            format!("{:.2}", measured.whole_seconds),
            format!("{:.0}", measured.peak_bytes / 1e6),
            format!("{error:.4}"),
            self.concordance(program, strategy)?,
        ])
    }

    fn command(&self, program: &Path, strategy: &str) -> Result<Command> {
        let (name, candidates) = strategy.split_once(':').unwrap_or((strategy, ""));
        let (k, lambda) = (self.k, self.lambda);
        let arguments = format!("select -k {k} --lambda {lambda} --strategy {name} --json --quiet");
        let mut command = command(program, &arguments);
        command.arg(folder()?.join(self.data));
        if !candidates.is_empty() {
            command.args(["--candidates", candidates]);
        }
        Ok(command)
    }

    /// Concordance index of the test data after the last step, by a run that is not timed.
    fn concordance(&self, program: &Path, strategy: &str) -> Result<String> {
        let Some(test) = self.test else {
            return Ok("-".to_owned());
        };
        let mut command = self.command(program, strategy)?;
        command
            .arg("--test")
            .arg(folder()?.join(test))
            .args(["--metrics", "cindex"]);
        let measured = selections(&mut command, 1)?.map_err(anyhow::Error::msg)?;
        let last = measured.last.steps.last().context("expected a step")?;
        let index = last.test.get("cindex").copied().flatten();
        Ok(index.map_or_else(|| "-".to_owned(), |index| format!("{index:.4}")))
    }
}

/// The folder of corpora.
fn folder() -> Result<std::path::PathBuf> {
    corpora().context("RANKRLS_CORPORA has to name the folder of corpora")
}
