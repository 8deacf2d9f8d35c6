//! `rankrls info`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rankrls::data::DataHash;
use rankrls::greedy::GreedyRankRls;
use rankrls::greedy::job::{Estimate, estimates, plan};
use rankrls::greedy::strategy::State;
use rankrls::memory::Bytes;
use rankrls::{
    ColumnClasses, Dataset, Kind, Lambda, QueryWeight, Ridge, Scale, StrategyKind, Warning,
};
use rankrls_files::memory;
use serde::Serialize;
use serde_json::Value;

use crate::args::at_least_one;
use crate::data::{DataArgs, read_named};
use crate::description::{Description, Spread};
use crate::numbers::{counted, exact, number, ridge};
use crate::session::Session;
use crate::sheet::Sheet;
use crate::sizes::{Sizes, lines};

/// Describe data: sizes, labels, columns, and the memory that each strategy would take
///
/// The table has the memory of each strategy for select with --lambda. Takes: the strategy alone. With data: plus the
/// data, which --max-memory limits. Process: the peak of the whole program, which holds the non-zeros of the data
/// here, too.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls info @sentences
  rankrls info train.svm -k 100 --lambda 16 --json")]
pub(crate) struct InfoArgs {
    /// Data to describe; - is standard input, and @sentences comes with the program
    #[arg(value_name = "DATA")]
    path: PathBuf,
    /// Features to select, for the memory that this takes
    #[arg(short, value_name = "K", value_parser = at_least_one, default_value_t = 50)]
    k: usize,
    /// Ridge parameter, for the same
    #[arg(long, default_value = "1/16u")]
    lambda: Ridge,
    #[command(flatten)]
    data: DataArgs,
    /// Names of the columns, one a line
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// The JSON document of the schema `rankrls.info/1`.
#[derive(Debug, Serialize)]
struct InfoReport<'a> {
    schema: &'static str,
    data: Sizes,
    hash: DataHash,
    #[serde(flatten)]
    description: Description,
    /// Column classes with entries in a single query.
    single_query_classes: usize,
    longest_columns: Vec<LongColumn<'a>>,
    memory: Memory,
}

/// A column with many entries, numbered as in the data.
#[derive(Debug, Serialize)]
struct LongColumn<'a> {
    feature: u64,
    name: Option<&'a str>,
    nonzeros: usize,
}

impl<'a> LongColumn<'a> {
    fn all(description: &Description, dataset: &'a Dataset<'_>) -> Vec<Self> {
        let columns = description.longest_columns.iter();
        let column = |&(feature, nonzeros): &(u32, usize)| Self {
            feature: dataset.index_base().file_index(feature),
            name: dataset.name_of(feature),
            nonzeros,
        };
        columns.map(column).collect()
    }
}

/// Memory that `select` with a lambda takes for the data, and would take for each strategy.
#[derive(Debug, Serialize)]
struct Memory {
    k: usize,
    lambda: f64,
    data_bytes: u64,
    /// The entries, which a selection also holds while folds choose lambda.
    entries_bytes: u64,
    /// The most that the data took while they were read.
    reading_bytes: u64,
    candidate_bytes: u64,
    limit_bytes: Option<u64>,
    /// The strategy that `auto` takes, if one fits.
    auto: Option<StrategyKind>,
    strategies: Vec<Row>,
    /// The additional bytes of one factor a query: only a run tells whether it needs them.
    factors_bytes: u64,
    #[serde(skip)]
    idle: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    #[serde(flatten)]
    estimate: Estimate,
    /// The peak of the whole process, if the system tells: the peak of reading, or the present memory and the
    /// strategy's.
    peak_bytes: Option<u64>,
}

pub(crate) fn run(args: &InfoArgs, session: &Session<'_>) -> Result<ExitCode> {
    args.data.check([&args.path])?;
    args.data
        .name_files(&session.files, [("DATA", &args.path)])?;
    session.files.reads("--names", &args.names)?;
    let results = session.files.results(args.json)?;
    let dataset = read_named(&args.data, args.names.as_ref(), &args.path, session.console)?;
    let (report, units) = InfoReport::new(&dataset, args)?;
    session.console.warn_all(units);
    session.end(&results, &report, || report.text(), Ok(()))
}

impl<'a> InfoReport<'a> {
    /// The report, and a warning of differing units.
    fn new(dataset: &'a Dataset<'_>, args: &InfoArgs) -> Result<(Self, Option<Warning>)> {
        let (memory, weight) = (args.data.memory(), QueryWeight::Uniform);
        // The description frees its memory before the classes are made.
        memory.holding(dataset.memory()).require(
            "the description needs",
            Description::memory(dataset),
            "allow more memory",
        )?;
        let description = Description::of(dataset);
        let candidates = ColumnClasses::within(dataset, weight, Scale::None, memory)?;
        let units = Warning::of_units(&candidates, dataset);
        let summary = candidates.summary();
        let lambda = args.lambda.lambda(candidates.unit());
        let report = Self {
            schema: "rankrls.info/1",
            data: Sizes::new(dataset, &summary),
            hash: DataHash::of(dataset),
            longest_columns: LongColumn::all(&description, dataset),
            description,
            single_query_classes: summary.single_query_classes,
            memory: Memory::new(dataset, &candidates, args, lambda)?,
        };
        Ok((report, units))
    }

    /// The report for people.
    fn text(&self) -> String {
        let mut text = lines(&self.data);
        let Self {
            data,
            hash,
            description,
            single_query_classes,
            memory,
            ..
        } = self;
        let _ = writeln!(
            text,
            "      {}, {} and {} in one query only\ndensity {}\nBLAKE3 {hash}\n",
            counted(data.empty_columns, "empty column"),
            counted(description.single_query_columns, "column"),
            counted(*single_query_classes, "column class"),
            number(description.density),
        );
        let _ = writeln!(text, "{}\n", self.spreads());
        let labels = &description.labels;
        let _ = writeln!(
            text,
            "labels {} to {}, mean {}, {} distinct; {} of {} queries have one label only\n",
            number(labels.least),
            number(labels.largest),
            number(labels.mean),
            labels.distinct,
            labels.constant_queries,
            data.queries,
        );
        if !self.longest_columns.is_empty() {
            let _ = writeln!(text, "{}\n", self.longest());
        }
        let _ = writeln!(
            text,
            "to select {} features with lambda {}:",
            memory.k,
            ridge(memory.lambda, data.unit)
        );
        text + &memory.text()
    }

    fn spreads(&self) -> String {
        let Description {
            query_sizes,
            row_nonzeros,
            column_nonzeros,
            labels,
            ..
        } = &self.description;
        let spread = &labels.range_in_query;
        let range = [spread.least, spread.median, spread.mean, spread.largest];
        let mut rows = vec![
            ("rows of a query", counts(query_sizes)),
            ("labels of a query", counts(&labels.distinct_in_query)),
            ("range of its labels", range.map(Value::from)),
            ("non-zeros of a row", counts(row_nonzeros)),
        ];
        let columns = column_nonzeros.as_ref();
        rows.extend(columns.map(|spread| ("non-zeros of a column", counts(spread))));
        Sheet::of(&rows)
            .words("measure", |(what, _)| *what)
            .number("least", |(_, [least, ..])| least.clone())
            .number("median", |(_, [_, median, ..])| median.clone())
            .number("mean", |(_, [.., mean, _])| mean.clone())
            .number("largest", |(_, [.., largest])| largest.clone())
            .text()
    }

    fn longest(&self) -> String {
        Sheet::of(&self.longest_columns)
            .number("longest column", |column| column.feature)
            .number("non-zeros", |column| column.nonzeros)
            .words("name", |column| column.name)
            .text()
    }
}

impl Memory {
    fn new(
        dataset: &Dataset<'_>,
        candidates: &ColumnClasses,
        args: &InfoArgs,
        lambda: Lambda,
    ) -> Result<Self> {
        let (queries, columns) = (dataset.queries(), candidates.summary().column_classes);
        let (memory, entries) = (args.data.memory(), entries_memory(dataset));
        let limit = memory.limit;
        // A selection drops the entries of the data, which count as held here.
        let options = GreedyRankRls {
            memory: rankrls::memory::Memory::limit(
                limit.map(|limit| limit.saturating_add(entries)),
            ),
            ..GreedyRankRls::new(args.k, lambda)
        };
        let auto = match plan(candidates, dataset, &options) {
            Ok(plan) => Some(plan.options.strategy),
            Err(error) if matches!(error.kind(), Kind::Memory | Kind::Data) => None,
            Err(error) => return Err(error.into()),
        };
        let row = |estimate| Row::new(estimate, entries, limit);
        let estimates = estimates(candidates, dataset, &options).into_iter();
        Ok(Self {
            k: args.k,
            lambda: lambda.value(),
            data_bytes: dataset.memory().saturating_sub(entries),
            entries_bytes: entries,
            reading_bytes: dataset.reading_memory(),
            candidate_bytes: candidates.memory(),
            limit_bytes: limit,
            auto,
            strategies: estimates.map(row).collect(),
            factors_bytes: State::factors_memory(
                queries.rows(),
                queries.len(),
                args.k.min(columns),
            ),
            idle: candidates.is_empty(),
        })
    }

    /// The report for people.
    fn text(&self) -> String {
        let bytes = |bytes| Bytes(bytes).to_string();
        let mut text = format!(
            "labels, queries and names take {}, the columns to select from {}\n\
             reading the file took {} at its peak\n",
            Bytes(self.data_bytes),
            Bytes(self.candidate_bytes),
            Bytes(self.reading_bytes)
        );
        if let Some(limit) = self.limit_bytes {
            let _ = writeln!(text, "a run may take {}", Bytes(limit));
        }
        let table = Sheet::of(&self.strategies)
            .words("strategy", |row| row.estimate.strategy.name())
            .number("takes", |row| bytes(row.estimate.memory))
            .number("with data", |row| bytes(row.estimate.total))
            .number("process", |row| row.peak_bytes.map(bytes))
            .number("exact", |row| row.estimate.exact)
            .number("fits", |row| row.estimate.fits);
        let _ = writeln!(text, "\n{}\n", table.text());
        if self.idle {
            return text + "nothing to select: no column varies in a query\n";
        }
        let (factors, entries) = (Bytes(self.factors_bytes), Bytes(self.entries_bytes));
        let _ = writeln!(
            text,
            "a very small lambda may take {factors} more\n\
             lambda auto takes {entries} more, for the non-zeros of its folds"
        );
        text += &self.auto.map_or_else(
            || "no exact strategy fits: strategy auto is refused\n".to_owned(),
            |strategy| format!("strategy auto is {strategy}\n"),
        );
        text
    }
}

/// Bytes of the columns of `dataset`: entries, the start of each column, and its number if some are empty.
fn entries_memory(dataset: &Dataset<'_>) -> u64 {
    let stored = dataset.stored_columns();
    let of_column = if stored < dataset.width() { 12 } else { 8 };
    (12 * dataset.nonzeros() + of_column * stored) as u64
}

impl Row {
    /// `entries`: bytes held for the entries of the data. A strategy that judges columns with the values of the
    /// data needs them.
    fn new(mut estimate: Estimate, entries: u64, limit: Option<u64>) -> Self {
        let spared = if estimate.strategy.needs_grades() {
            0
        } else {
            entries
        };
        estimate.total = estimate.total.saturating_sub(spared);
        estimate.fits = estimate.able && limit.is_none_or(|limit| estimate.total <= limit);
        let process = memory::peak().zip(memory::current());
        let needed = |now: u64| now.saturating_sub(spared).saturating_add(estimate.memory);
        Self {
            peak_bytes: process.map(|(peak, now)| peak.max(needed(now))),
            estimate,
        }
    }
}

fn counts(spread: &Spread<usize>) -> [Value; 4] {
    [
        spread.least.into(),
        exact(spread.median).into(),
        spread.mean.into(),
        spread.largest.into(),
    ]
}
