//! `rankrls explain`.

mod picture;
mod tree;

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use clap::Args;
use rankrls::data::read::{read_texts, texts_beside};
use rankrls::data::sample;
use rankrls::memory::Memory;
use rankrls::model::{Contribution, ExplainedRow, Explanation, Shown};
use rankrls::{Dataset, Model};
use rankrls_files::Strings;
use serde::Serialize;

use crate::args::{at_least_one, usage};
use crate::data::{ColumnNames, DataArgs, Wanted, embedded};
use crate::figures::PlotArgs;
use crate::numbers::{counted, exact, number, printable};
use crate::output::appear;
use crate::session::Session;
use crate::sheet::Sheet;

/// The number of features shown of each of several rows.
const SHOWN: usize = 5;

/// Show why a model ranks the rows of a query as it does
///
/// Lists the first rows of a query in the order of the model, with the contribution of each feature to
/// the difference between the score of the row and the mean score of the query, or the score of
/// another row. Rows are counted from 1, as the lines of `rankrls predict`. Of each of several rows the 5 largest
/// contributions are shown; --row, --versus and --json have all.
///
/// With --plot it draws the first of these rows and the row that it is held against: their parses as
/// arcs over the words, if --texts has parses, and the contributions as bars.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls explain model.json test.svm y --versus first --plot y.svg
  rankrls explain model.json test.svm y
  rankrls explain model.json test.svm y --row 3 --versus 4 --texts texts.txt
  rankrls explain model.json test.svm y --versus best --texts texts.txt --plot y.svg
  rankrls explain model.json test.svm y --json")]
pub(crate) struct ExplainArgs {
    /// Model that `select -o`, `tune -o` or `train -o` wrote
    model: PathBuf,
    /// Rows with the columns of the model; - is standard input, and @sentences-test comes with
    /// the program
    #[arg(value_name = "DATA")]
    path: PathBuf,
    /// The query, by its identifier; queries without identifiers are counted from 1
    #[arg(value_name = "QUERY")]
    id: String,
    /// Explain so many rows, the first in the order of the model
    #[arg(help_heading = "Output", long, value_name = "N", default_value_t = 10, value_parser = at_least_one,
        conflicts_with_all = ["row", "versus"])]
    rows: usize,
    /// Explain this row alone [default with --versus: the first of all others]
    #[arg(help_heading = "Output", long, value_name = "ROW", value_parser = at_least_one)]
    row: Option<usize>,
    /// Hold the score against that of this row, not against the mean of the query: a number; first, the
    /// query's first row in the file; or best, the first row of the largest label
    #[arg(help_heading = "Output", long, value_name = "ROW", value_parser = versus)]
    versus: Option<Versus>,
    /// Show beside each row its line of this file [default: that of the corpus, as `build` made it]
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    texts: Option<PathBuf>,
    #[command(flatten)]
    names: ColumnNames,
    #[command(flatten)]
    data: DataArgs,
    #[command(flatten)]
    plot: PlotArgs,
    /// Print one JSON document
    #[arg(help_heading = "Output", long)]
    json: bool,
}

/// The row for comparison.
#[derive(Debug, Clone, Copy)]
enum Versus {
    First,
    Best,
    Row(usize),
}

fn versus(text: &str) -> Result<Versus, String> {
    match text {
        "first" => Ok(Versus::First),
        "best" => Ok(Versus::Best),
        _ => at_least_one(text).map(Versus::Row),
    }
}

impl Versus {
    /// Its number in the file of `data`.
    fn row(self, data: &Dataset<'_>, query: usize) -> Result<usize> {
        let number = |row: usize| 1 + data.input_rows().map_or(row, |known| known[row] as usize);
        let rows = data.queries().range(query);
        let rows = rows.map(|row| (data.labels()[row], number(row)));
        let mut rows: Vec<(f64, usize)> = rows.collect();
        rows.sort_unstable_by_key(|&(_, number)| number);
        Ok(match self {
            Self::Row(row) => row,
            Self::First => rows[0].1,
            Self::Best => {
                let best = rows
                    .iter()
                    .copied()
                    .reduce(|best, own| if own.0 > best.0 { own } else { best });
                let best = best.filter(|best| rows.iter().any(|own| own.0 < best.0));
                best.context("--versus best: expected rows of different labels, found equal ones")?
                    .1
            }
        })
    }
}

pub(crate) fn run(args: &ExplainArgs, session: &Session<'_>) -> Result<ExitCode> {
    let same = || usage("--row and --versus name the same row: expected two");
    if let (Some(row), Some(Versus::Row(versus))) = (args.row, args.versus)
        && row == versus
    {
        return Err(same());
    }
    let files = &session.files;
    files.reads("MODEL", [&args.model])?;
    args.data.name_files(files, [("DATA", &args.path)])?;
    args.names.name_file(files)?;
    files.reads("--texts", &args.texts)?;
    let plot = args.plot.create(files)?;
    let results = files.results(args.json)?;
    let model = session.read_model(&args.model, args.data.memory())?;
    let wanted = Wanted::Queries;
    let loaded = (args.data).read_for(&model, &args.path, &args.names, wanted, session.console)?;
    let data = &loaded.dataset;
    let query = query(data, &args.id, &args.path)?;
    let file = || args.path.display().to_string();
    let versus = args.versus.map(|versus| versus.row(data, query));
    let versus = versus.transpose().with_context(file)?;
    let shown = match (args.row, versus) {
        (Some(row), Some(versus)) if row == versus => return Err(same()),
        (Some(row), _) => Shown::Row(row),
        (None, Some(_)) => Shown::First(1),
        (None, None) => Shown::First(args.rows),
    };
    let memory = args.data.memory().holding(model.memory());
    let rows = data.queries().range(query).len();
    require_rows(memory.holding(data.memory()), &model, shown, rows)?;
    let explained = model.explain(data, query, versus, shown);
    let mut explained = explained.with_context(file)?;
    if let Some(texts) = texts(args, data)? {
        for row in explained.rows.iter_mut().chain(&mut explained.versus) {
            row.text = texts.get(row.row - 1).map(str::to_owned);
        }
    }
    let alone = args.row.is_some() || args.versus.is_some();
    let top = if alone { usize::MAX } else { SHOWN };
    let document = Document {
        schema: "rankrls.explanation/1",
        explained: &explained,
    };
    let drawn = plot.complete(|| picture::picture(&explained, top, session.console).to_svg());
    let text = || text(&explained, &file(), top);
    session.end(&results, &document, text, appear([drawn]))
}

/// Bytes of a row that is shown, its heading among them.
const ROW: u64 = 512;

/// Bytes of a contribution.
const CONTRIBUTION: u64 = 72;

/// Bytes of the line of a contribution, and of its cells.
const LINE: u64 = 160;

/// Refuses to show more of the `rows` of a query than there is memory for.
fn require_rows(memory: Memory, model: &Model, shown: Shown, rows: usize) -> Result<()> {
    let rows = match shown {
        Shown::First(most) => most.min(rows),
        _ => 1,
    };
    let features = model.features.len();
    let lines = features.min(SHOWN) as u64 * LINE;
    let bytes = ROW + features as u64 * CONTRIBUTION + lines;
    let what = format!("the explanation of {} needs", counted(rows, "row"));
    memory.require(what, rows as u64 * bytes, "ask for fewer by --rows")?;
    Ok(())
}

/// A text for each row of `data`: from the user's file, from the file beside the data, or from the program.
fn texts(args: &ExplainArgs, data: &Dataset<'_>) -> Result<Option<Strings>> {
    let Some(path) = args.texts.clone().or_else(|| texts_beside(&args.path)) else {
        let own = embedded(&args.path).and_then(|sample| sample.texts);
        return Ok(own.map(|own| sample::text(own).lines().collect()));
    };
    let texts = read_texts(&path, args.data.memory())?;
    let (rows, found) = (data.rows(), texts.len());
    if rows != found {
        let (path, of) = (path.display(), args.path.display());
        bail!(
            "{path}: expected {rows} lines, one for each row of {of}, found {found}: name the texts of these data"
        );
    }
    Ok(Some(texts))
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    explained: &'a Explanation<'a>,
}

/// The query with an identifier, or with a number from 1 if queries have none.
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
        let (path, all) = (path.display(), counted(count, "query"));
        format!(
            "{path}: none of the {all} is called {id:?}; the first are {}",
            first.join(", ")
        )
    })
}

fn text(explained: &Explanation<'_>, file: &str, top: usize) -> String {
    let (query, file) = (printable(&explained.query), printable(file));
    let score = number(explained.reference);
    let mut text = format!("Query {query} of {file}, against ");
    if let Some(row) = &explained.versus {
        let (row, place) = (row.row, place(row));
        let _ = writeln!(text, "row {row}, which is {place} with score {score}");
    } else {
        let rows = counted(explained.rows_of_query, "row");
        let _ = writeln!(text, "the mean score of its {rows}, {score}");
    }
    for row in explained.versus.iter().filter(|row| row.text.is_some()) {
        let _ = write!(text, "\nagainst {}", heading(row));
    }
    let title = explained.versus.as_ref().map_or("mean", |_| "there");
    for row in &explained.rows {
        let _ = write!(text, "\n{}{}", heading(row), table(row, top, title));
    }
    let rest = explained.rows_of_query - explained.rows.len();
    if rest > 0 && top == SHOWN {
        let rows = counted(rest, "more row");
        let _ = writeln!(text, "\n{rows}: --rows {} has all", explained.rows_of_query);
    }
    text
}

/// A number with its sign.
fn signed(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", number(value))
}

/// The place of a row in the ranking.
fn place(row: &ExplainedRow<'_>) -> String {
    let place = format!("number {}", row.rank);
    match row.tied {
        0 => place,
        tied => format!("{place}, tied with {}", counted(tied, "other")),
    }
}

fn heading(row: &ExplainedRow<'_>) -> String {
    let (place, difference) = (place(row), signed(row.difference));
    let (number, label, score) = (row.row, exact(row.label), number(row.score));
    let mut text =
        format!("{place}: row {number}, label {label}, score {score}, difference {difference}\n");
    if let Some(line) = &row.text {
        let _ = writeln!(text, "text: {}", printable(line));
    }
    text
}

/// The `top` largest contributions and the sum of all others; `reference` is the title of the values for
/// comparison.
fn table(row: &ExplainedRow<'_>, top: usize, reference: &str) -> String {
    let parts = &row.contributions;
    if parts.is_empty() {
        return format!("{NO_DIFFERENCE}\n");
    }
    let (shown, rest) = parts.split_at(top.min(parts.len()));
    let table = Sheet::of(shown)
        .number("contribution", |part| signed(part.contribution))
        .number("value", |part| exact(part.value))
        .number(reference, |part| part.reference)
        .number("weight", |part| part.weight)
        .number("feature", |part| part.feature)
        .words("name", |part| part.name);
    let mut text = table.text() + "\n";
    if let Some((sum, features)) = others(rest) {
        let _ = writeln!(text, "{} by {features}", signed(sum));
    }
    text
}

const NO_DIFFERENCE: &str = "no feature makes a difference";

/// The sum and the number of the contributions that are not shown, if there are any.
fn others(parts: &[Contribution<'_>]) -> Option<(f64, String)> {
    let sum = parts.iter().map(|part| part.contribution).sum();
    let count = counted(parts.len(), "feature");
    (!parts.is_empty()).then(|| (sum, format!("{count} more")))
}
