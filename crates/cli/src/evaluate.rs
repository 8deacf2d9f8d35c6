//! `rankrls evaluate`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgGroup, Args};
use rankrls::Queries;
use rankrls::data::read::{Loaded, Missing, TableOptions};
use rankrls::greedy::job::Named;
use rankrls::metrics::{self, Metric, Paired, PairedOptions, Score, paired, parse_list};
use rankrls::warning::Warning;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::args::{self, ConventionArgs, usage};
use super::data::{self, ColumnNames, DataArgs, Wanted};
use super::numbers::printable;
use super::output::Destination;
use super::session::Session;
use super::sheet::Sheet;
use super::sizes::RulesReport;

/// Measure how models or files of scores rank data, and compare them
///
/// Measures are means over queries, with their standard errors. Convention standard leaves out
/// queries where a measure is undefined and averages over the orders of tied scores; letor is the
/// arithmetic of the LETOR 4.0 evaluation script. Several rankings are compared in pairs, query by
/// query: bootstrap intervals of the differences, and the randomisation test, which is exact where
/// up to 20 queries differ.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("rankings").args(["model", "scores", "file_order"]).required(true).multiple(true)))]
#[command(after_help = "\
Examples:
  rankrls evaluate test.svm --model model.json
  rankrls evaluate test.svm --scores scores.txt --metrics map,ndcg@10 --convention letor
  rankrls evaluate test.svm --model a.json --model b.json --scores bm25.txt
  rankrls evaluate test.svm --model model.json --file-order --metrics label@1
  rankrls evaluate test.svm --model model.json --metrics err:4,ndcg@10:linear
  rankrls evaluate test.svm --model model.json --csv queries.csv --json")]
pub(crate) struct EvaluateArgs {
    /// Labelled data; - is standard input, and @sentences-test comes with the program
    #[arg(value_name = "DATA")]
    path: PathBuf,
    #[arg(hide = true, value_name = "FILE", value_parser = misplaced)]
    misplaced: Option<PathBuf>,
    /// Rank by this model, or by each of several; see `rankrls predict --help` for how columns are
    /// matched
    #[arg(help_heading = "Rankings", long, value_name = "MODEL")]
    model: Vec<PathBuf>,
    /// Rank by these scores, one a line in the order of the rows in DATA, or by each of several
    /// files
    #[arg(help_heading = "Rankings", long, value_name = "FILE")]
    scores: Vec<PathBuf>,
    /// Rank by the order of the rows in DATA, the first row of a query before the second
    #[arg(help_heading = "Rankings", long)]
    file_order: bool,
    #[arg(long, value_name = "LIST", default_value = args::DEFAULT_MEASURES, help = args::measures_help())]
    #[arg(help_heading = "Measures", value_parser = parse_list)]
    metrics: std::vec::Vec<Metric>,
    #[command(flatten)]
    convention: ConventionArgs,
    /// Seed of the draws for intervals and tests
    #[arg(help_heading = "Comparison", long, value_name = "SEED", default_value_t = PairedOptions::default().seed)]
    seed: u64,
    /// Write the values of every query to this file
    #[arg(help_heading = "Output", long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    names: ColumnNames,
    #[command(flatten)]
    data: DataArgs,
    /// Print one JSON document
    #[arg(help_heading = "Output", long)]
    json: bool,
}

/// Refuses a second file without an option for it.
fn misplaced(path: &str) -> Result<PathBuf, String> {
    Err(format!(
        "give a model by --model {path}, scores by --scores {path}"
    ))
}

pub(crate) fn run(args: &EvaluateArgs, session: &Session<'_>) -> Result<ExitCode> {
    args.data.check([&args.path])?;
    let console = session.console;
    let files = &session.files;
    args.data.name_files(files, [("DATA", &args.path)])?;
    files.reads("--model", &args.model)?;
    files.reads("--scores", &args.scores)?;
    args.names.name_file(files)?;
    let csv = Destination::create(files, "--csv", args.csv.as_ref())?;
    let results = files.results(args.json)?;
    let (loaded, rankings) = args.rankings(session)?;
    args.check_lines(&loaded, rankings.len())?;
    let labels = loaded.dataset.labels();
    console.warn_all(Warning::of_grades(&args.metrics, labels));
    if rankings.len() == 1 && session.is_given("seed") {
        console.warn("--seed has no effect: there is nothing to compare with");
    }
    let report = Report::new(args, &loaded, &rankings)?;
    let written = csv.write(|writer| {
        let sheet = Sheet::of(&report.lines).words("ranking", |(ranking, _)| &*ranking.name);
        report.of_queries(sheet).csv(writer)
    });
    session.end(&results, &report, || report.text(), written)
}

/// Bytes of a value of a query in a written table.
const WRITTEN: u64 = 96;

/// The name of the order of the rows in DATA.
const FILE_ORDER: &str = "order of the file";

/// The facts that models must share to share the data: the number of columns, and the reading of missing values.
type Reading = (usize, Option<Missing>);

/// A ranking of the data, and its measures.
struct Ranking {
    /// The file of the model or of the scores, or the order of the data.
    name: String,
    metrics: Vec<(Metric, Score)>,
    /// Dropped entries and columns.
    dropped: [u64; 2],
}

impl Serialize for Ranking {
    /// Means, standard errors and queries without a value, by measure.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let of_metrics = &self.metrics;
        map.serialize_entry("metrics", &by_metric(of_metrics, |values| values.mean))?;
        let errors = by_metric(of_metrics, |values| values.standard_error);
        map.serialize_entry("standard_errors", &errors)?;
        map.serialize_entry("left_out", &by_metric(of_metrics, Score::left_out))?;
        map.serialize_entry("dropped_entries", &self.dropped[0])?;
        map.serialize_entry("dropped_columns", &self.dropped[1])?;
        map.end()
    }
}

impl EvaluateArgs {
    /// Adds the rankings of the models. The data, if there are models, and whether one of these was trained on a single
    /// query.
    fn add_models(
        &self,
        rankings: &mut Vec<Ranking>,
        session: &Session<'_>,
    ) -> Result<(Option<Loaded>, bool)> {
        let console = session.console;
        let mut one_query = false;
        // Models of the same columns share the data; each finds its own columns of a table.
        let mut read: Option<(Reading, Loaded)> = None;
        let by_name = self.data.by_name(&self.path);
        let of_rows = |table: &TableOptions| (table.label.clone(), table.query.clone());
        let mut named = None;
        for path in &self.model {
            let model = session.read_model(path, self.data.memory())?;
            let table = self.data.table_for(&model, Wanted::Labels)?;
            if by_name && named.get_or_insert_with(|| of_rows(&table)) != &of_rows(&table) {
                return Err(usage(
                    "the models were trained on labels or queries in different columns: name those \
                     of these data by --label and --query",
                ));
            }
            let columns = (model.data.columns, table.missing);
            let loaded = match read.take_if(|(known, _)| *known == columns && !by_name) {
                Some((_, loaded)) => {
                    let names = &self.names;
                    self.data.check_names(&model, &self.path, names)?;
                    loaded
                }
                None if read.is_some() && &*self.path == Path::new("-") => {
                    return Err(usage(
                        "these models have other columns or missing values, so that the data are read \
                         again: they have to be in a file, not on standard input",
                    ));
                }
                None => {
                    drop(read.take());
                    self.data
                        .read_for(&model, &self.path, &self.names, Wanted::Labels, console)?
                }
            };
            let dropped = [loaded.dropped_entries, loaded.dropped_columns];
            let scores = model.scores(&loaded.dataset);
            let name = path.display().to_string();
            if let Some(seen) = Warning::of_training_data(model.data.hash, &loaded.dataset) {
                console.warn(format_args!("{name}: {seen}"));
            }
            rankings.push(self.ranking(name, &loaded, &scores, dropped)?);
            one_query |= model.data.queries == 1;
            read = Some((columns, loaded));
        }
        Ok((read.map(|(_, loaded)| loaded), one_query))
    }

    /// The data, and all rankings: first the models', last the order of the data.
    fn rankings(&self, session: &Session<'_>) -> Result<(Loaded, Vec<Ranking>)> {
        let mut rankings = Vec::new();
        let (read, one_query) = self.add_models(&mut rankings, session)?;
        let loaded = match read {
            Some(loaded) => loaded,
            None => data::read(&self.data.options(0), &self.path, session.console)?,
        };
        for path in &self.scores {
            let (data, memory) = (self.path.display(), self.data.memory());
            let scores = data::scores_of(&loaded.dataset, data, path, memory)?;
            let name = path.display().to_string();
            rankings.push(self.ranking(name, &loaded, &scores, [0, 0])?);
        }
        if self.file_order {
            let falling: Vec<f64> = (0..loaded.dataset.rows())
                .map(|row| -(row as f64))
                .collect();
            let scores = loaded.dataset.in_row_order(&falling)?;
            rankings.push(self.ranking(FILE_ORDER.to_owned(), &loaded, &scores, [0, 0])?);
        }
        if !one_query {
            data::check_queries(&loaded, &self.path)?;
        }
        Ok((loaded, rankings))
    }

    /// Refuses a table of every query that exceeds the memory.
    fn check_lines(&self, loaded: &Loaded, rankings: usize) -> Result<()> {
        if self.csv.is_none() {
            return Ok(());
        }
        let cells = rankings * loaded.dataset.queries().len() * (2 + self.metrics.len());
        let memory = self.data.memory().holding(loaded.dataset.memory());
        let what = "the values of every query need";
        memory.require(what, WRITTEN * cells as u64, "allow more memory")?;
        Ok(())
    }

    /// The ranking of this name by these scores.
    fn ranking(
        &self,
        name: String,
        loaded: &Loaded,
        scores: &[f64],
        dropped: [u64; 2],
    ) -> Result<Ranking> {
        let (measures, convention) = (&self.metrics, self.convention.known());
        data::check_labels(measures, loaded, &self.path)?;
        let memory = self.data.memory().holding(loaded.dataset.memory());
        let rankings = self.model.len() + self.scores.len() + 1;
        let values = 16 * rankings * measures.len() * loaded.dataset.queries().len();
        // Scores and their ranks.
        let bytes = values + 40 * loaded.dataset.rows();
        memory.require("the measures need", bytes as u64, "allow more memory")?;
        let (labels, queries) = (loaded.dataset.labels(), loaded.dataset.queries());
        let metrics = metrics::evaluate(measures, labels, scores, queries, convention)?;
        Ok(Ranking {
            name,
            metrics,
            dropped,
        })
    }
}

/// Evaluations, in the schema `rankrls.evaluation/1`: the figures of one ranking, or of several with their
/// comparisons.
#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    #[serde(flatten)]
    rules: RulesReport,
    rows: usize,
    queries: usize,
    #[serde(flatten, serialize_with = "one_or_several")]
    rankings: &'a [Ranking],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comparisons: Vec<Comparison<'a>>,
    /// The options of the comparisons.
    #[serde(flatten)]
    options: Option<PairedOptions>,
    /// Every query of every ranking.
    #[serde(skip)]
    lines: Vec<(&'a Ranking, usize)>,
    #[serde(skip)]
    loaded: &'a Loaded,
}

/// The first ranking less the second one.
#[derive(Serialize)]
struct Comparison<'a> {
    first: &'a str,
    second: &'a str,
    /// Their labels.
    #[serde(skip)]
    pair: String,
    metrics: Named<Paired>,
}

impl<'a> Report<'a> {
    fn new(args: &EvaluateArgs, loaded: &'a Loaded, rankings: &'a [Ranking]) -> Result<Self> {
        let queries = loaded.dataset.queries().len();
        let options = PairedOptions {
            seed: args.seed,
            ..PairedOptions::default()
        };
        let mut comparisons = Vec::new();
        for (place, first) in rankings.iter().enumerate() {
            for (other, second) in rankings.iter().enumerate().skip(place + 1) {
                let pairs = first.metrics.iter().zip(&second.metrics);
                let found = pairs.map(|((metric, a), (_, b))| {
                    let values = paired(&a.per_query, &b.per_query, &options)?;
                    Ok((metric.to_string(), values))
                });
                comparisons.push(Comparison {
                    first: &first.name,
                    second: &second.name,
                    pair: format!("{}-{}", label(place), label(other)),
                    metrics: Named(found.collect::<Result<_>>()?),
                });
            }
        }
        let lines = |ranking| (0..queries).map(move |query| (ranking, query));
        Ok(Self {
            schema: "rankrls.evaluation/1",
            rules: RulesReport::new(
                &args.metrics,
                args.convention.known(),
                loaded.dataset.labels(),
            ),
            rows: loaded.dataset.rows(),
            queries,
            rankings,
            options: (rankings.len() > 1).then_some(options),
            comparisons,
            lines: rankings.iter().flat_map(lines).collect(),
            loaded,
        })
    }

    /// The report for people.
    fn text(&self) -> String {
        let (rows, queries, rules) = (self.rows, self.queries, self.rules.text());
        let mut titles = Vec::new();
        if let several @ [_, _, ..] = self.rankings {
            let title = |(place, ranking): (_, &Ranking)| {
                format!("{}: {}\n", label(place), printable(&ranking.name))
            };
            titles.extend(several.iter().enumerate().map(title));
        }
        let (head, means) = (titles.concat(), self.means());
        let mut text = format!("{rows} rows, {queries} queries, {rules}\n{head}\n{means}\n");
        if let Some(options) = &self.options {
            text = format!("{text}\n{}", self.compared(options));
        }
        text
    }

    /// The measures of all rankings.
    fn metrics(&self) -> impl Iterator<Item = Metric> {
        let metrics = self
            .rankings
            .first()
            .map_or(&[][..], |first| &first.metrics);
        metrics.iter().map(|(metric, _)| *metric)
    }

    /// A line for each measure of each ranking.
    fn means(&self) -> String {
        let several = self.rankings.len() > 1;
        let of = |(place, _): (usize, Metric)| {
            let rankings = self.rankings.iter().enumerate();
            rankings.map(move |(number, ranking)| (number, &ranking.metrics[place]))
        };
        let rows: Vec<(usize, &(Metric, Score))> =
            self.metrics().enumerate().flat_map(of).collect();
        Sheet::of(&rows)
            .words("measure", |(_, (metric, _))| metric.to_string())
            .words("ranking", |(number, _)| several.then(|| label(*number)))
            .measure("mean", |(_, (_, score))| score.mean)
            .measure("s.e.", |(_, (_, score))| score.standard_error)
            .number("queries", |(_, (_, score))| score.queries)
            .number("left out", |(_, (_, score))| score.left_out())
            .text()
    }

    /// A line for each measure of each pair.
    fn compared(&self, options: &PairedOptions) -> String {
        let interval = format!("{:.0}% interval", 100.0 * options.confidence);
        let of = |(place, _): (usize, Metric)| {
            let pairs = self.comparisons.iter();
            pairs.map(move |compared| (&compared.pair, &compared.metrics.0[place]))
        };
        let rows: Vec<_> = self.metrics().enumerate().flat_map(of).collect();
        let signed = |value: f64| format!("{value:+.4}");
        let ends = |ends: [f64; 2]| ends.map(signed).join(" to ");
        let table = Sheet::of(&rows)
            .words("measure", |(_, (name, _))| name.as_str())
            .words("pair", |(pair, _)| pair.as_str())
            .number("diff.", |(_, (_, found))| found.difference.map(signed))
            .measure("s.e.", |(_, (_, found))| found.standard_error)
            .number(interval, |(_, (_, found))| found.interval.map(ends))
            .measure("p", |(_, (_, found))| found.p)
            .number("wins", |(_, (_, found))| found.wins)
            .number("ties", |(_, (_, found))| found.ties)
            .number("losses", |(_, (_, found))| found.losses);
        let (resamples, seed) = (options.resamples, options.seed);
        format!(
            "{}\n\nDifferences: the first of the pair less the second. Intervals: {resamples} \
             bootstrap\nsamples of the queries. p: randomisation test, exact where up to {} queries\n\
             differ, else by {resamples} draws; not corrected for the number of comparisons.\n\
             Seed {seed}. Wins, ties and losses are queries.\n",
            table.text(),
            PairedOptions::EXACT,
        )
    }

    /// Adds the columns of queries: the query, and its measures.
    fn of_queries<'r>(
        &self,
        sheet: Sheet<'r, (&'r Ranking, usize)>,
    ) -> Sheet<'r, (&'r Ranking, usize)> {
        let queries = self.loaded.dataset.queries();
        sheet
            .words("query", |(_, query)| query_name(queries, *query))
            .measures(self.metrics(), |(ranking, query), place| {
                ranking.metrics[place].1.per_query[*query]
            })
    }
}

/// The label of a ranking: A to Z, then AA and so on.
fn label(place: usize) -> String {
    let letter = char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[place % 26]);
    let before = (place / 26).checked_sub(1);
    before.map_or_else(String::new, label) + &letter.to_string()
}

/// The identifier of a query, or its number from 1 if the queries have none.
fn query_name(queries: &Queries, query: usize) -> String {
    let id = queries.id(query).map(str::to_owned);
    id.unwrap_or_else(|| (query + 1).to_string())
}

/// Writes a single ranking as it is, and several with their names.
fn one_or_several<S: Serializer>(rankings: &[Ranking], serializer: S) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Named<'a> {
        name: &'a str,
        #[serde(flatten)]
        ranking: &'a Ranking,
    }
    if let [only] = rankings {
        return only.serialize(serializer);
    }
    let named = rankings.iter().map(|ranking| Named {
        name: &ranking.name,
        ranking,
    });
    serializer.collect_map([("rankings", named.collect::<Vec<_>>())])
}

fn by_metric<V>(metrics: &[(Metric, Score)], value: impl Fn(&Score) -> V) -> Named<V> {
    let names = metrics.iter().map(|(metric, _)| metric);
    Named::new(names, metrics.iter().map(|(_, score)| value(score)))
}
