//! The tables of docs/evidence.md: whole runs of `rankrls select`, one strategy after the other.

use std::path::Path;
use std::time::Instant;

use anyhow::Result;
use serde_json::Value;

use crate::commands::{built, command, corpora, output};
use crate::page::row;
use crate::study::{Cells, Line, Study, median};

pub(crate) const STUDY: Study = Study {
    name: "strategies",
    page: "docs/evidence.md",
    columns: "table,data,k,lambda,runs,cores,load,strategy,select_seconds,feature_ms,whole_seconds,\
              peak_mb,lqo_error,test_cindex,error",
    parts: || TABLES.len(),
    measure: |part| TABLES[part].measure(&corpora()?),
    title: "",
    note: None,
    across: 0,
    panels: Vec::new,
    tables: |lines| {
        let tables = TABLES.iter();
        let tables = tables.map(|table| (format!("begin {}", table.name), table.show(lines)));
        tables.collect()
    },
};

const LAMBDA: &str = "16";
const RUNS: usize = 3;

/// A table: the same data and `k` for all strategies.
struct Table {
    name: &'static str,
    folder: &'static str,
    data: &'static str,
    test: Option<&'static str>,
    k: usize,
    /// Names, some with the candidates that may be drawn: `sampled:500`.
    strategies: &'static [&'static str],
}

static TABLES: [Table; 2] = [
    Table {
        name: "small",
        folder: "ewt-parse",
        data: "train_2000.svm.zst",
        test: Some("test_2000.svm.zst"),
        k: 20,
        strategies: &[
            "dense",
            "lowmem",
            "bounded",
            "sampled",
            "sampled:1000",
            "backfit",
        ],
    },
    Table {
        name: "large",
        folder: "ewt-parse",
        data: "train_20000.svm.zst",
        test: None,
        k: 50,
        strategies: &["dense", "bounded", "sampled", "backfit"],
    },
];

impl Table {
    fn measure(&self, folder: &Path) -> Result<Vec<Cells>> {
        let (program, folder) = (built("release")?, folder.join(self.folder));
        let cores = std::thread::available_parallelism()?;
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let load = load.split(' ').next().unwrap_or("unknown");
        let line = |strategy: &&str| {
            let mut cells: Vec<String> = [self.name, self.data].map(str::to_owned).into();
            cells.extend([self.k.to_string(), LAMBDA.to_owned(), RUNS.to_string()]);
            cells.extend([cores.to_string(), load.to_owned(), (*strategy).to_owned()]);
            cells.extend(self.figures(&program, &folder, strategy)?);
            Ok(cells)
        };
        self.strategies.iter().map(line).collect()
    }

    /// Medians over runs, and at the end what a run said that failed.
    fn figures(&self, program: &Path, folder: &Path, strategy: &str) -> Result<[String; 7]> {
        let mut figures = [const { String::new() }; 7];
        let (name, candidates) = strategy.split_once(':').unwrap_or((strategy, ""));
        let arguments = format!("select --strategy {name} -k {} --lambda {LAMBDA}", self.k);
        let mut select = command(program, &arguments);
        select
            .args(["--json", "--quiet"])
            .arg(folder.join(self.data));
        if !candidates.is_empty() {
            select.args(["--candidates", candidates]);
        }
        let (mut whole, mut seconds, mut peak) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..RUNS {
            let start = Instant::now();
            let output = select.output()?;
            whole.push(start.elapsed().as_secs_f64());
            if !output.status.success() {
                let said = String::from_utf8_lossy(&output.stderr);
                figures[6] += said.lines().next().unwrap_or_default();
                return Ok(figures);
            }
            let found: Value = serde_json::from_slice(&output.stdout)?;
            seconds.push(number(&found, "/select_seconds"));
            peak.push(number(&found, "/peak_rss_bytes"));
            figures[4] = format!("{:.4}", number(&found, &self.last("lqo_error")));
        }
        let seconds = median(seconds);
        figures[0] = format!("{seconds:.3}");
        figures[1] = format!("{:.1}", 1e3 * seconds / self.k as f64);
        figures[2] = format!("{:.2}", median(whole));
        figures[3] = format!("{:.0}", median(peak) / 1e6);
        figures[5] = match self.test {
            None => "-".to_owned(),
            Some(test) => {
                // Reading the test data is not timed.
                select.arg("--test").arg(folder.join(test));
                let found = output(select.args(["--metrics", "cindex"]))?;
                let found = serde_json::from_str(&found)?;
                format!("{:.4}", number(&found, &self.last("test/cindex")))
            }
        };
        Ok(figures)
    }

    /// A place in the last step.
    fn last(&self, name: &str) -> String {
        format!("/steps/{}/{name}", self.k - 1)
    }

    /// The table in the page.
    fn show(&self, lines: &[Line]) -> Vec<String> {
        let own = lines.iter().filter(|line| line.text("table") == self.name);
        let (mut setting, mut rows) = (String::new(), Vec::new());
        for line in own {
            let [data, k, lambda] = ["data", "k", "lambda"].map(|column| line.text(column));
            let [runs, cores, load] = ["runs", "cores", "load"].map(|column| line.text(column));
            setting =
                format!("{data}, k {k}, lambda {lambda}, {runs} runs, {cores} cores, load {load}");
            rows.push(match line.text("error") {
                "" => row(&SHOWN.map(|(_, column)| line.text(column))),
                error => format!("| {} | {error} | | | | | |", line.text("strategy")),
            });
        }
        let titles = SHOWN.map(|(title, _)| title);
        let alignment = "|---|---:|---:|---:|---:|---:|---:|";
        let mut table = vec![setting, String::new(), row(&titles), alignment.to_owned()];
        table.extend(rows);
        table
    }
}

/// Titles and columns of a table in the page.
const SHOWN: [(&str, &str); 7] = [
    ("strategy", "strategy"),
    ("selection, s", "select_seconds"),
    ("ms a feature", "feature_ms"),
    ("whole run, s", "whole_seconds"),
    ("peak memory, MB", "peak_mb"),
    ("LQO error", "lqo_error"),
    ("test concordance", "test_cindex"),
];

fn number(report: &Value, place: &str) -> f64 {
    let found = report.pointer(place).and_then(Value::as_f64);
    found.unwrap_or(f64::NAN)
}
