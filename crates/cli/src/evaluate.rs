//! `rankrls evaluate`.

use std::borrow::Cow;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Result;
use clap::{ArgGroup, Args};
use rankrls::data::read::{Loaded, Missing, TableOptions};
use rankrls::metrics::{self, MetricValues, Paired, PairedOptions, paired};
use rankrls::{IndexBase, Model};
use serde::Serialize;

use super::args::{self, Measures, RulesArgs, usage};
use super::console::Console;
use super::data::{self, DataArgs, RulesReport, Wanted};
use super::numbers::printable;
use super::output::{Object, by_name};
use super::session::Session;
use super::sheet::Sheet;

/// Measure how models or files of scores rank data, and compare them
///
/// Measures are means over queries, with their standard errors. Convention standard leaves out
/// queries where a measure is undefined and averages over the orders of tied scores; letor is the
/// arithmetic of the LETOR 4.0 evaluation script. Several rankings are compared in pairs, query by
/// query: bootstrap intervals of the differences, and the randomisation test, which is exact where
/// up to 20 queries differ.
#[derive(Debug, Args)]
#[command(group(ArgGroup::new("rankings").args(["model", "scores"]).required(true).multiple(true)))]
#[command(after_help = "\
Examples:
  rankrls evaluate test.svm --model model.json
  rankrls evaluate test.svm --scores scores.txt --metrics map,ndcg@10 --convention letor
  rankrls evaluate test.svm --model a.json --model b.json --scores bm25.txt
  rankrls evaluate test.svm --model model.json --metrics err,ndcg@10 --max-grade 4
  rankrls evaluate test.svm --model model.json --csv queries.csv --json")]
pub(crate) struct EvaluateArgs {
    /// Labelled data; - is standard input, and @parses-test comes with the program
    #[arg(value_name = "DATA")]
    path: PathBuf,
    /// Rank by this model, or by each of several; see `rankrls predict --help` for how columns are
    /// matched
    #[arg(long, value_name = "MODEL")]
    model: Vec<PathBuf>,
    /// Rank by these scores, one a line in the order of the rows in DATA, or by each of several
    /// files
    #[arg(long, value_name = "FILE")]
    scores: Vec<PathBuf>,
    #[arg(long, value_name = "LIST", default_value = args::DEFAULT_MEASURES, help = args::measures_help())]
    metrics: Measures,
    #[command(flatten)]
    rules: RulesArgs,
    /// Draws for each interval and test of a comparison [default: 10000]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000_000))]
    resamples: Option<u32>,
    /// Seed of these draws [default: 1]
    #[arg(long, value_name = "SEED")]
    seed: Option<u64>,
    /// Print the values of every query, too
    #[arg(long)]
    per_query: bool,
    /// Write the values of every query to this file
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    #[command(flatten)]
    data: DataArgs,
    /// Print one JSON document
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &EvaluateArgs, session: &Session<'_>) -> Result<ExitCode> {
    args.data.check(1)?;
    let console = session.console;
    let csv = session.create(args.csv.as_deref())?;
    let (loaded, scored) = args.scored(console)?;
    if !scored.iter().any(|scored| scored.one_query) {
        data::check_queries(&loaded, &args.path)?;
    }
    data::check_labels(&args.metrics.0, &loaded, &args.path, &args.rules.rules())?;
    args.rules.warn(&args.metrics.0, console);
    if scored.len() == 1 && (args.seed.is_some() || args.resamples.is_some()) {
        console.warn("--seed and --resamples have no effect: there is nothing to compare with");
    }
    let rankings = scored
        .into_iter()
        .map(|scored| scored.measured(args, &loaded));
    let rankings: Vec<Ranking> = rankings.collect::<Result<_>>()?;
    let report = Report::new(args, &loaded, &rankings)?;
    let written = csv.map_or(Ok(()), |file| {
        file.write(|writer| report.write_queries(writer))
    });
    session.end(args.json, &report, || report.text(), written)
}

/// What models that share the data agree on: how many columns there are, how they are counted, and
/// what is taken for missing values.
type Reading = (usize, IndexBase, Option<Missing>);

/// Scores of the rows.
struct Scored {
    name: String,
    scores: Vec<f64>,
    /// Entries and columns that the model does not know.
    dropped: [u64; 2],
    /// Whether they are of a model that was trained on one query.
    one_query: bool,
}

/// A ranking that was measured.
struct Ranking {
    name: String,
    metrics: Vec<MetricValues>,
    dropped: [u64; 2],
}

impl Scored {
    fn measured(self, args: &EvaluateArgs, loaded: &Loaded) -> Result<Ranking> {
        let (data, rules) = (&loaded.dataset, args.rules.rules());
        let (labels, queries) = (data.labels(), data.queries());
        let found = metrics::evaluate(&args.metrics.0, labels, &self.scores, queries, rules)?;
        Ok(Ranking {
            name: self.name,
            metrics: found.metrics,
            dropped: self.dropped,
        })
    }
}

impl EvaluateArgs {
    /// The data, and the scores of all rankings: models first.
    fn scored(&self, console: Console) -> Result<(Loaded, Vec<Scored>)> {
        let mut scored = Vec::new();
        // Models of the same columns share the data; each finds its own columns of a table.
        let mut read: Option<(Reading, Loaded)> = None;
        let by_name = self.data.by_name(&self.path);
        let of_rows = |table: &TableOptions| (table.label.clone(), table.query.clone());
        let mut named = None;
        for path in &self.model {
            let model = Model::read(path)?;
            let table = self.data.table_for(&model, Wanted::Labels)?;
            if by_name && named.get_or_insert_with(|| of_rows(&table)) != &of_rows(&table) {
                return Err(usage(
                    "the models were trained on labels or queries in different columns: name those \
                     of these data by --label and --query",
                ));
            }
            let columns = (model.data().columns, model.index_base(), table.missing);
            let loaded = match read.take_if(|(known, _)| *known == columns && !by_name) {
                Some((_, loaded)) => loaded,
                None if read.is_some() && self.path == Path::new("-") => {
                    return Err(usage(
                        "these models count columns or take missing values differently, so that \
                         the data are read again: they have to be in a file, not on standard input",
                    ));
                }
                None => {
                    drop(read.take());
                    self.data
                        .read_for(&model, &self.path, Wanted::Labels, console)?
                }
            };
            scored.push(Scored {
                name: path.display().to_string(),
                scores: model.scores(&loaded.dataset),
                dropped: [loaded.dropped_entries, loaded.dropped_columns],
                one_query: model.data().queries == 1,
            });
            read = Some((columns, loaded));
        }
        let loaded = if let Some((_, loaded)) = read {
            loaded
        } else {
            let options = self.data.options(0);
            data::read(&options, &self.path, console)?
        };
        for path in &self.scores {
            let (data, budget) = (self.path.display(), self.data.budget());
            scored.push(Scored {
                name: path.display().to_string(),
                scores: data::scores_of(&loaded.dataset, data, path, budget)?,
                dropped: [0, 0],
                one_query: false,
            });
        }
        Ok((loaded, scored))
    }

    fn paired_options(&self) -> PairedOptions {
        let usual = PairedOptions::default();
        PairedOptions {
            resamples: self
                .resamples
                .map_or(usual.resamples, |draws| draws as usize),
            seed: self.seed.unwrap_or(usual.seed),
            ..usual
        }
    }
}

/// Evaluations, in the schema `rankrls.evaluation/1`: the figures of one ranking, or those of
/// several with their comparisons.
#[derive(Serialize)]
struct Report<'a> {
    schema: &'static str,
    #[serde(flatten)]
    rules: RulesReport,
    rows: usize,
    queries: usize,
    #[serde(flatten)]
    only: Option<Figures<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rankings: Vec<Figures<'a>>,
    #[serde(flatten)]
    comparisons: Option<Comparisons<'a>>,
    #[serde(skip)]
    all: &'a [Ranking],
    #[serde(skip)]
    loaded: &'a Loaded,
}

/// Results of a ranking.
#[derive(Serialize)]
struct Figures<'a> {
    /// The file of the model or of the scores, where there are several.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    metrics: Object<Option<f64>>,
    standard_errors: Object<Option<f64>>,
    /// Queries without a value, by measure.
    left_out: Object<usize>,
    dropped_entries: u64,
    dropped_columns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    per_query: Option<Vec<QueryRow<'a>>>,
}

#[derive(Serialize)]
struct QueryRow<'a> {
    #[serde(skip)]
    ranking: &'a str,
    /// The identifier, or the number from 1 if the queries have none.
    query: Cow<'a, str>,
    #[serde(flatten)]
    values: Object<Option<f64>>,
}

#[derive(Serialize)]
struct Comparisons<'a> {
    #[serde(rename = "comparisons")]
    pairs: Vec<Comparison<'a>>,
    confidence: f64,
    resamples: usize,
    seed: u64,
}

/// The first ranking less the second one.
#[derive(Serialize)]
struct Comparison<'a> {
    first: &'a str,
    second: &'a str,
    /// Their labels.
    #[serde(skip)]
    pair: String,
    metrics: Object<Paired>,
}

impl<'a> Report<'a> {
    fn new(args: &EvaluateArgs, loaded: &'a Loaded, all: &'a [Ranking]) -> Result<Self> {
        let (queries, rules) = (loaded.dataset.queries(), args.rules.rules());
        let context = rules.context(loaded.dataset.labels());
        let several = all.len() > 1;
        let figures = |ranking: &'a Ranking| {
            let (metrics, [dropped_entries, dropped_columns]) = (&ranking.metrics, ranking.dropped);
            Figures {
                name: several.then_some(ranking.name.as_str()),
                metrics: by_metric(metrics, |values| values.mean),
                standard_errors: by_metric(metrics, |values| values.standard_error),
                left_out: by_metric(metrics, |values| values.left_out),
                dropped_entries,
                dropped_columns,
                per_query: args.per_query.then(|| query_rows(ranking, loaded)),
            }
        };
        let mut rankings: Vec<Figures<'_>> = all.iter().map(figures).collect();
        let only = if several { None } else { rankings.pop() };
        Ok(Self {
            schema: "rankrls.evaluation/1",
            rules: RulesReport::new(&args.metrics.0, &rules, context),
            rows: loaded.dataset.rows(),
            queries: queries.len(),
            only,
            rankings,
            comparisons: several
                .then(|| Comparisons::new(all, args.paired_options()))
                .transpose()?,
            all,
            loaded,
        })
    }

    /// The report for people.
    fn text(&self) -> String {
        let (rows, queries, rules) = (self.rows, self.queries, self.rules.text());
        let titles = self.titles();
        let mut head = vec![format!("{rows} rows, {queries} queries, {rules}")];
        head.extend(titles.iter().cloned());
        let mut text = format!("{}\n\n{}\n", head.join("\n"), self.means());
        if let Some(comparisons) = &self.comparisons {
            text = format!("{text}\n{}", comparisons.text());
        }
        let figures = self.only.iter().chain(&self.rankings);
        for (place, figures) in figures.enumerate() {
            if let Some(rows) = &figures.per_query {
                let title = titles.get(place);
                let title = title.map_or_else(String::new, |title| format!("{title}\n\n"));
                let table = self.of_queries(Sheet::of(rows)).text();
                text = format!("{text}\n{title}{table}\n");
            }
        }
        text
    }

    /// Labels of several rankings, with their files.
    fn titles(&self) -> Vec<String> {
        let names = self.rankings.iter().filter_map(|figures| figures.name);
        let titles = (0..).zip(names);
        titles
            .map(|(place, name)| format!("{}: {}", label(place), printable(name)))
            .collect()
    }

    /// A line for each measure of each ranking.
    fn means(&self) -> String {
        let several = self.comparisons.is_some();
        let measures = self.all.first().map_or(0, |first| first.metrics.len());
        let of = |place: usize| {
            let rankings = self.all.iter().enumerate();
            rankings.map(move |(number, ranking)| (number, &ranking.metrics[place]))
        };
        let rows: Vec<(usize, &MetricValues)> = (0..measures).flat_map(of).collect();
        Sheet::of(&rows)
            .words("measure", |(_, values)| values.metric.to_string())
            .words("ranking", |(number, _)| several.then(|| label(*number)))
            .measure("mean", |(_, values)| values.mean)
            .measure("s.e.", |(_, values)| values.standard_error)
            .number("queries", |(_, values)| values.queries)
            .number("left out", |(_, values)| values.left_out)
            .text()
    }

    /// Adds the columns of queries: the query, and its measures.
    fn of_queries<'r>(&self, sheet: Sheet<'r, QueryRow<'r>>) -> Sheet<'r, QueryRow<'r>> {
        let metrics = self.all.first().map_or(&[][..], |first| &first.metrics);
        let metrics = metrics.iter().map(|values| values.metric);
        sheet
            .words("query", |row| &*row.query)
            .measures(metrics, |row, place| row.values.0[place].1)
    }

    /// A line for each query of each ranking, as CSV.
    fn write_queries(&self, writer: &mut dyn Write) -> io::Result<()> {
        let all = self.all.iter();
        let rows = all.flat_map(|ranking| query_rows(ranking, self.loaded));
        let rows: Vec<QueryRow<'_>> = rows.collect();
        let sheet = Sheet::of(&rows).words("ranking", |row| row.ranking);
        self.of_queries(sheet).csv(writer)
    }
}

impl<'a> Comparisons<'a> {
    /// Of all pairs.
    fn new(all: &'a [Ranking], options: PairedOptions) -> Result<Self> {
        let mut compared = Vec::new();
        for (place, first) in all.iter().enumerate() {
            for (other, second) in all.iter().enumerate().skip(place + 1) {
                let pairs = first.metrics.iter().zip(&second.metrics);
                let found = pairs.map(|(a, b)| {
                    let values = paired(&a.per_query, &b.per_query, &options)?;
                    Ok((a.metric.to_string(), values))
                });
                compared.push(Comparison {
                    first: &first.name,
                    second: &second.name,
                    pair: format!("{}-{}", label(place), label(other)),
                    metrics: Object(found.collect::<Result<_>>()?),
                });
            }
        }
        Ok(Self {
            pairs: compared,
            confidence: options.confidence,
            resamples: options.resamples,
            seed: options.seed,
        })
    }

    fn text(&self) -> String {
        let interval = format!("{:.0}% interval", 100.0 * self.confidence);
        let measures = self.pairs.first().map_or(0, |first| first.metrics.0.len());
        let of = |place: usize| {
            self.pairs.iter().map(move |compared| {
                let (name, found) = &compared.metrics.0[place];
                (name, &compared.pair, found)
            })
        };
        let rows: Vec<_> = (0..measures).flat_map(of).collect();
        let signed = |value: f64| format!("{value:+.4}");
        let ends = |ends: [f64; 2]| ends.map(signed).join(" to ");
        let table = Sheet::of(&rows)
            .words("measure", |(name, ..)| name.as_str())
            .words("pair", |(_, pair, _)| pair.as_str())
            .number("diff.", |(.., found)| found.difference.map(signed))
            .measure("s.e.", |(.., found)| found.standard_error)
            .number(interval, |(.., found)| found.interval.map(ends))
            .measure("p", |(.., found)| found.p)
            .number("wins", |(.., found)| found.wins)
            .number("ties", |(.., found)| found.ties)
            .number("losses", |(.., found)| found.losses);
        let (resamples, seed) = (self.resamples, self.seed);
        format!(
            "{}\n\nDifferences: the first of the pair less the second. Intervals: {resamples} \
             bootstrap\nsamples of the queries. p: randomisation test, exact where up to {} queries\n\
             differ, else by {resamples} draws; not corrected for the number of comparisons.\n\
             Seed {seed}. Wins, ties and losses are queries.\n",
            table.text(),
            metrics::paired::EXACT,
        )
    }
}

/// The label of a ranking: A to Z, then AA and so on.
fn label(place: usize) -> String {
    let letter = char::from(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ"[place % 26]);
    let before = (place / 26).checked_sub(1);
    before.map_or_else(String::new, label) + &letter.to_string()
}

/// The values of every query.
fn query_rows<'a>(ranking: &'a Ranking, loaded: &'a Loaded) -> Vec<QueryRow<'a>> {
    let queries = loaded.dataset.queries();
    let row = |query: usize| QueryRow {
        ranking: &ranking.name,
        query: match queries.id(query) {
            Some(id) => id.into(),
            None => (query + 1).to_string().into(),
        },
        values: by_metric(&ranking.metrics, |values| values.per_query[query]),
    };
    (0..queries.len()).map(row).collect()
}

fn by_metric<V>(metrics: &[MetricValues], value: impl Fn(&MetricValues) -> V) -> Object<V> {
    let names = metrics.iter().map(|values| values.metric);
    by_name(names, metrics.iter().map(value))
}
