//! `rankrls corpus info`.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use rankrls::data::{self, DataHash, Description, Spread};
use rankrls::greedy::SelectionOptions;
use rankrls::{Candidates, ColumnClasses, Dataset, Ridge};
use serde::Serialize;
use serde_json::Value;

use crate::args::at_least_one;
use crate::data::{DataArgs, Sizes, read_named};
use crate::files::{DataPath, InPath};
use crate::numbers::{counted, exact, number, ridge};
use crate::plan::Costs;
use crate::session::Session;
use crate::sheet::Sheet;

/// Describe data: sizes, labels, columns, and the memory that each strategy would take
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls corpus info @parses
  rankrls corpus info train.svm -k 100 --lambda 16 --json")]
pub(crate) struct InfoArgs {
    /// Data to describe; - is standard input, and @parses comes with the program
    #[arg(value_name = "DATA")]
    path: DataPath,
    /// Features to select, for the memory that takes
    #[arg(short, value_name = "K", value_parser = at_least_one, default_value_t = 50)]
    k: usize,
    /// Ridge parameter, for the same
    #[arg(long, allow_negative_numbers = true, default_value = "1/16u")]
    lambda: Ridge,
    #[command(flatten)]
    data: DataArgs,
    /// Names of the columns, one a line
    #[arg(long, value_name = "FILE")]
    names: Option<InPath>,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

/// The JSON document of the schema `rankrls.corpus-info/1`.
#[derive(Debug, Serialize)]
struct InfoReport<'a> {
    schema: &'static str,
    data: Sizes,
    hash: DataHash,
    #[serde(flatten)]
    description: Description,
    /// Column classes with entries in one query alone.
    single_query_classes: usize,
    longest_columns: Vec<LongColumn<'a>>,
    memory: Memory,
}

/// A column with many entries, as the data has it.
#[derive(Debug, Serialize)]
struct LongColumn<'a> {
    feature: u64,
    name: Option<&'a str>,
    nonzeros: usize,
}

impl<'a> LongColumn<'a> {
    fn all(description: &Description, dataset: &'a Dataset<'_>) -> Vec<Self> {
        let columns = description.longest_columns.iter();
        let column = |column: &data::LongColumn| Self {
            feature: dataset.index_base().written(column.feature),
            name: dataset.name_of(column.feature),
            nonzeros: column.nonzeros,
        };
        columns.map(column).collect()
    }
}

#[derive(Debug, Serialize)]
struct Memory {
    k: usize,
    lambda: f64,
    #[serde(flatten)]
    costs: Costs,
}

pub(crate) fn run(args: &InfoArgs, session: &Session<'_>) -> Result<ExitCode> {
    args.data.check([&args.path])?;
    let options = args.data.options(0);
    let dataset = read_named(options, args.names.as_ref(), &args.path, session.console)?;
    let report = InfoReport::new(&dataset, args)?;
    session.end(args.json, &report, || report.text(), Ok(()))
}

impl<'a> InfoReport<'a> {
    fn new(dataset: &'a Dataset<'_>, args: &InfoArgs) -> Result<Self> {
        let candidates = Candidates::from(ColumnClasses::new(dataset));
        let summary = candidates.summary();
        let lambda = args.lambda.lambda(candidates.unit());
        let options = SelectionOptions {
            memory: args.data.memory(),
            ..SelectionOptions::new(args.k, lambda)
        };
        let description = Description::of(dataset);
        Ok(Self {
            schema: "rankrls.corpus-info/1",
            data: Sizes::new(dataset, &summary),
            hash: DataHash::of(dataset),
            longest_columns: LongColumn::all(&description, dataset),
            description,
            single_query_classes: summary.single_query_classes,
            memory: Memory {
                k: args.k,
                lambda: lambda.value(),
                costs: Costs::new(dataset, &candidates, &options)?,
            },
        })
    }

    /// The report for people.
    fn text(&self) -> String {
        let mut text = self.data.lines();
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
        text + &memory.costs.text()
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

fn counts(spread: &Spread<usize>) -> [Value; 4] {
    [
        spread.least.into(),
        exact(spread.median).into(),
        spread.mean.into(),
        spread.largest.into(),
    ]
}
