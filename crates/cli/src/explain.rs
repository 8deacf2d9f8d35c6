//! `rankrls explain`.

use std::fmt::Write as _;
use std::iter;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use rankrls::data::Strings;
use rankrls::data::read::read_texts;
use rankrls::model::{Contribution, ExplainedRow, Explanation};
use rankrls::{Dataset, Model};
use serde::Serialize;

use super::args::{at_least_one, usage};
use super::data::{DataArgs, Wanted};
use super::numbers::{counted, exact, number, printable};
use super::session::Session;
use super::sheet::Sheet;

/// Features shown of a row where all rows are shown.
const SHOWN: usize = 5;

/// Show why a model ranks the rows of a query as it does
///
/// Lists the rows of a query in the order of the model, with the contribution of each feature to
/// the difference between the score of the row and the mean score of the query, or the score of
/// another row. Rows are counted from 1, as the lines of `rankrls predict`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls explain model.json test.svm y
  rankrls explain model.json test.svm y --versus 4
  rankrls explain model.json test.svm y --row 3 --versus 4 --texts texts.txt
  rankrls explain model.json test.svm y --json")]
pub(crate) struct ExplainArgs {
    /// Model that `select -o` or `train -o` wrote
    model: PathBuf,
    /// Rows with the columns of the model; - is standard input, and @parses-test comes with the
    /// program
    #[arg(value_name = "DATA")]
    path: PathBuf,
    /// The query, by its identifier; queries without identifiers are counted from 1. Without it,
    /// --query names the query, not a column
    #[arg(value_name = "QUERY", required_unless_present = "query")]
    id: Option<String>,
    /// Explain this row alone [default with --versus: the first of all others]
    #[arg(long, value_name = "ROW", value_parser = at_least_one)]
    row: Option<usize>,
    /// Hold the score against that of this row, not against the mean of the query
    #[arg(long, value_name = "ROW", value_parser = at_least_one)]
    versus: Option<usize>,
    /// Show the N largest contributions of a row [default: 5, and all with --row or --versus]
    #[arg(long, value_name = "N", value_parser = at_least_one, conflicts_with = "json")]
    top: Option<usize>,
    /// Show beside each row its line of this file, such as PREFIX-texts.txt.zst of `corpus build`
    #[arg(long, value_name = "FILE")]
    texts: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &ExplainArgs, session: &Session<'_>) -> Result<ExitCode> {
    if args.row.is_some() && args.row == args.versus {
        return Err(usage("--row and --versus name the same row: expected two"));
    }
    let model = Model::read(&args.model)?;
    let mut reading = args.data.clone();
    let id = args.id.clone().or_else(|| reading.take_query());
    let loaded = reading.read_for(&model, &args.path, Wanted::Queries, session.console)?;
    let data = &loaded.dataset;
    let query = query(data, &id.unwrap_or_default(), &args.path)?;
    let number = |row: &Option<usize>| row.map(|row| row_of(data, query, row)).transpose();
    let (row, versus) = (number(&args.row)?, number(&args.versus)?);
    let explained = model.explain(data, query, versus);
    let explained = explained.with_context(|| args.path.display().to_string())?;
    let finite = |row: &&ExplainedRow| {
        let mut parts = row.contributions.iter().map(|part| part.contribution);
        row.score.is_finite() && row.difference.is_finite() && parts.all(f64::is_finite)
    };
    if let Some(row) = explained.rows.iter().find(|row| !finite(row)) {
        let row = number_of(data, row.row);
        bail!(
            "the score of row {row} is no finite number, or a contribution to it: its values or the weights are too large"
        );
    }
    let texts = args.texts.as_deref().map(|path| texts(args, path, data));
    let texts = texts.transpose()?.unwrap_or_default();
    let report = Report::new(&model, data, &args.path, &explained, row, &texts);
    let alone = args.row.is_some() || args.versus.is_some();
    let top = args.top.unwrap_or(if alone { usize::MAX } else { SHOWN });
    session.end(args.json, &report, || report.text(top), Ok(()))
}

/// The query with an identifier, or with a number from 1 where queries have none.
fn query(data: &Dataset<'_>, id: &str, path: &Path) -> Result<usize> {
    let queries = data.queries();
    let count = queries.len();
    let Some(ids) = queries.ids() else {
        let position = id
            .parse()
            .ok()
            .and_then(|number: usize| number.checked_sub(1));
        return position.filter(|position| *position < count).with_context(|| {
            let path = path.display();
            format!("{path}: queries have no identifiers: expected a number from 1 to {count} as the query, found {id:?}")
        });
    };
    ids.iter().position(|own| own == id).with_context(|| {
        let first: Vec<String> = ids.iter().take(3).map(printable).collect();
        let (path, count) = (path.display(), counted(count, "query"));
        format!(
            "{path}: none of the {count} is called {id:?}; the first are {}",
            first.join(", ")
        )
    })
}

/// The row of the data set that is the `number`th of the file, from 1: one of the query.
fn row_of(data: &Dataset<'_>, query: usize, number: usize) -> Result<usize> {
    let position = match data.input_rows() {
        Some(inputs) => inputs
            .iter()
            .position(|&input| input as usize + 1 == number),
        None => (number <= data.rows()).then(|| number - 1),
    };
    let queries = data.queries();
    let rows = queries.range(query);
    if let Some(position) = position.filter(|position| rows.contains(position)) {
        return Ok(position);
    }
    let numbers: Vec<usize> = rows.map(|row| number_of(data, row)).collect();
    let (first, last) = (numbers[0], numbers[numbers.len() - 1]);
    let numbers = if first + numbers.len() == last + 1 {
        format!("{first} to {last}")
    } else {
        let numbers: Vec<String> = numbers.iter().map(usize::to_string).collect();
        numbers.join(", ")
    };
    let name = name_of(data, query);
    let found = match position {
        Some(position) => format!("is of query {}", name_of(data, queries.of_row(position))),
        None => format!("is none of the {} rows", data.rows()),
    };
    bail!("row {number} {found}: expected a row of query {name}, which has {numbers}");
}

/// The number of a row in the file, from 1.
fn number_of(data: &Dataset<'_>, row: usize) -> usize {
    1 + data.input_rows().map_or(row, |inputs| inputs[row] as usize)
}

/// The identifier of a query, or its number from 1.
fn name_of(data: &Dataset<'_>, query: usize) -> String {
    let id = data.queries().id(query);
    id.map_or_else(|| (query + 1).to_string(), str::to_owned)
}

/// The lines of a file, one for each row of `data` in the order of its file.
fn texts(args: &ExplainArgs, path: &Path, data: &Dataset<'_>) -> Result<Strings> {
    let texts = read_texts(path, args.data.budget())?;
    let (rows, found) = (data.rows(), texts.len());
    if rows != found {
        let (path, data) = (path.display(), args.path.display());
        bail!(
            "{path}: expected {rows} lines, one for each row of {data}, found {found}: name the texts of these data"
        );
    }
    Ok(texts)
}

/// The order of a query, in the schema `rankrls.explanation/1`.
#[derive(Debug, Serialize)]
struct Report {
    schema: &'static str,
    query: String,
    rows_of_query: usize,
    /// The score that scores are held against.
    reference: f64,
    /// The row that scores are held against; null: the mean.
    versus: Option<Ranked>,
    rows: Vec<Ranked>,
    #[serde(skip)]
    file: String,
}

#[derive(Debug, Serialize)]
struct Ranked {
    rank: usize,
    /// Other rows with the same score.
    tied: usize,
    row: usize,
    label: f64,
    score: f64,
    difference: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    contributions: Vec<Part>,
}

#[derive(Debug, Serialize)]
struct Part {
    feature: u64,
    name: Option<String>,
    weight: f64,
    value: f64,
    reference: f64,
    contribution: f64,
}

impl Report {
    fn new(
        model: &Model,
        data: &Dataset<'_>,
        path: &Path,
        explained: &Explanation,
        only: Option<usize>,
        texts: &Strings,
    ) -> Self {
        let part = |part: &Contribution| {
            let feature = &model.features()[part.position];
            let name = feature.name.clone();
            Part {
                feature: model.index_base().written(feature.feature),
                name: name.filter(|name| !name.is_empty()),
                weight: feature.weight,
                value: part.value,
                reference: part.reference,
                contribution: part.contribution,
            }
        };
        let row = |((rank, tied), row): ((usize, usize), &ExplainedRow)| Ranked {
            rank,
            tied,
            row: number_of(data, row.row),
            label: row.label,
            score: row.score,
            difference: row.difference,
            text: texts.get(number_of(data, row.row) - 1).map(str::to_owned),
            contributions: row.contributions.iter().map(part).collect(),
        };
        let other = explained.versus.map(|row| number_of(data, row));
        let against = |row: &Ranked| other == Some(row.row);
        let ties = explained.rows.chunk_by(|a, b| a.score == b.score);
        let ties = ties.flat_map(|tied| iter::repeat_n(tied.len() - 1, tied.len()));
        let rows = (1..).zip(ties).zip(&explained.rows).map(row);
        let (versus, mut rows): (Vec<Ranked>, Vec<Ranked>) = rows.partition(against);
        let versus = versus.into_iter().next();
        match only {
            Some(only) => rows.retain(|row| row.row == number_of(data, only)),
            None if versus.is_some() => rows.truncate(1),
            None => {}
        }
        Self {
            schema: "rankrls.explanation/1",
            query: name_of(data, explained.query),
            rows_of_query: explained.rows.len(),
            reference: explained.reference,
            versus,
            rows,
            file: path.display().to_string(),
        }
    }

    /// What scores are held against.
    fn against(&self) -> String {
        let score = number(self.reference);
        match &self.versus {
            Some(row) => format!(
                "row {}, which is {} with score {score}",
                row.row,
                row.place()
            ),
            None => format!(
                "the mean score of its {}, {score}",
                counted(self.rows_of_query, "row")
            ),
        }
    }

    fn text(&self, top: usize) -> String {
        let (query, file) = (printable(&self.query), printable(&self.file));
        let mut text = format!("Query {query} of {file}, against {}\n", self.against());
        for row in self.versus.iter().filter(|row| row.text.is_some()) {
            let _ = write!(text, "\nagainst {}", row.heading());
        }
        for row in &self.rows {
            let _ = write!(
                text,
                "\n{}{}",
                row.heading(),
                row.table(top, self.versus.is_some())
            );
        }
        text
    }
}

/// A number with its sign.
fn signed(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", number(value))
}

impl Ranked {
    /// The place in the ranking.
    fn place(&self) -> String {
        let place = format!("number {}", self.rank);
        match self.tied {
            0 => place,
            tied => format!("{place}, tied with {}", counted(tied, "other")),
        }
    }

    fn heading(&self) -> String {
        let (label, score) = (exact(self.label), number(self.score));
        let mut text = format!(
            "{}: row {}, label {label}, score {score}, difference {}\n",
            self.place(),
            self.row,
            signed(self.difference)
        );
        if let Some(line) = &self.text {
            let _ = writeln!(text, "text: {}", printable(line));
        }
        text
    }

    /// The `top` largest contributions and the sum of all others.
    fn table(&self, top: usize, versus: bool) -> String {
        if self.contributions.is_empty() {
            return "no feature makes a difference\n".to_owned();
        }
        let (shown, others) = self
            .contributions
            .split_at(top.min(self.contributions.len()));
        let reference = if versus { "there" } else { "mean" };
        let table = Sheet::of(shown)
            .number("contribution", |part| signed(part.contribution))
            .number("value", |part| exact(part.value))
            .number(reference, |part| part.reference)
            .number("weight", |part| part.weight)
            .number("feature", |part| part.feature)
            .words("name", |part| part.name.as_deref());
        let mut text = table.text() + "\n";
        if !others.is_empty() {
            let sum: f64 = others.iter().map(|part| part.contribution).sum();
            let features = counted(others.len(), "feature");
            let _ = writeln!(text, "{} by {features} more", signed(sum));
        }
        text
    }
}
