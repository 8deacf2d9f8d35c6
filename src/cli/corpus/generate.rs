//! `rankrls corpus generate`.

use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use rankrls::data::{DatasetError, SvmlightRows, write_svmlight};
use rankrls::{Dataset, Queries};
use rankrls_parses::language::{self, Corpus, CorpusError, CorpusOptions, Report, Row};
use serde::Serialize;

use crate::cli::args::usage;
use crate::cli::console::Console;
use crate::cli::output::{OutputFile, print, print_json, sizes};

const STYLE: &str = "{bar:24} {pos}/{len} rows{left}";

/// Generate a synthetic corpus of parse reranking
///
/// A query is a sentence drawn from a random grammar, its rows are parses of the sentence, their
/// labels are how well they match the tree that was drawn (F1, from 0 to 1). Features are words,
/// productions, attachments and the like: many, most of them rare. The same options give the same
/// bytes, on every machine and at any number of threads. Files are compressed by their endings,
/// .gz or .zst.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls corpus generate --rows 500 -o corpus.svm.zst --names names.txt.zst
  rankrls corpus generate --rows 500 --columns 15000 --seed 7 -o corpus.svm --json
  rankrls corpus generate --rows 500 -o corpus.svm --test-rows 200 --test-output held-out.svm
  rankrls corpus generate --rows 100 --sentences trees.txt")]
pub(crate) struct GenerateArgs {
    /// Write the corpus to this file; without it, or with -, to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Write the names of the columns to this file, one a line
    #[arg(long, value_name = "FILE")]
    names: Option<PathBuf>,
    /// Write other sentences of the same language, over the same columns, to this file
    #[arg(long, value_name = "FILE", requires = "test_rows")]
    test_output: Option<PathBuf>,
    /// Rows of the file of other sentences
    #[arg(long, value_name = "N", requires = "test_output")]
    test_rows: Option<usize>,
    /// Write the trees of the sentences to this file, one a line in the order of the queries
    #[arg(long, value_name = "FILE")]
    sentences: Option<PathBuf>,
    #[command(flatten)]
    options: CorpusOptions,
    /// Print a report as one JSON document; the corpus goes to the file of -o
    #[arg(long, requires = "output")]
    json: bool,
}

pub(crate) fn run(args: &GenerateArgs, console: Console) -> Result<()> {
    let options = &args.options;
    options.validate().map_err(refused)?;
    if let Some(rows) = args.test_rows {
        let checked = options.validate_rows("test_rows", rows);
        checked.map_err(refused)?;
    }
    let files = Files::create(args)?;
    let Some((train, test)) = files.write(options, args.test_rows, console)? else {
        return Ok(());
    };
    let document = Document::new(options, &train, test.as_ref());
    if args.json {
        print_json(&document)
    } else {
        console.tell(document.text());
        Ok(())
    }
}

/// A corpus without its entries, and the one held out.
type Generated = Result<(Corpus, Option<Corpus>), CorpusError>;

/// Writes the rows of a corpus as they are drawn.
fn generate(
    options: &CorpusOptions,
    test_rows: Option<usize>,
    console: Console,
    output: &mut dyn Write,
) -> io::Result<Generated> {
    writeln!(output, "{}", heading(options, "sentences"))?;
    let bar = console.bar(options.rows + test_rows.unwrap_or(0), STYLE);
    let progress = |rows: usize| bar.set_position(rows as u64);
    let mut rows = SvmlightRows::new(output);
    let mut written = Ok(());
    let mut take = |row: Row<'_>| {
        written = rows.row(row.label, row.query, row.entries);
        if written.is_ok() {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    };
    let corpora = language::generate_rows(options, test_rows, &progress, &mut take);
    bar.finish_and_clear();
    written?;
    rows.finish()?;
    Ok(corpora)
}

/// An option out of its range is a mistake in the arguments.
pub(super) fn refused(error: CorpusError) -> anyhow::Error {
    match error {
        CorpusError::Option {
            option,
            expected,
            found,
        } => usage(format_args!(
            "--{} {found}: expected {expected}",
            option.replace('_', "-")
        )),
        error => error.into(),
    }
}

/// The files to write, all of them known to be writable.
#[derive(Debug)]
struct Files {
    /// None for standard output.
    data: Option<OutputFile>,
    names: Option<OutputFile>,
    test: Option<OutputFile>,
    sentences: Option<OutputFile>,
}

impl Files {
    fn create(args: &GenerateArgs) -> Result<Self> {
        let data = args.output.as_deref();
        let data = data.filter(|path| path.as_os_str() != "-");
        if args.json && data.is_none() {
            return Err(usage("--json needs the name of a file after -o, not -"));
        }
        let test = args.test_output.as_deref();
        let (names, sentences) = (args.names.as_deref(), args.sentences.as_deref());
        let paths: Vec<&Path> = [data, names, test, sentences]
            .into_iter()
            .flatten()
            .collect();
        let mut seen = HashSet::new();
        if let Some(path) = paths.iter().find(|path| !seen.insert(**path)) {
            let path = path.display();
            return Err(usage(format_args!("{path} is asked for twice")));
        }
        let create = |path: Option<&Path>| path.map(OutputFile::create).transpose();
        Ok(Self {
            data: create(data)?,
            names: create(names)?,
            test: create(test)?,
            sentences: create(sentences)?,
        })
    }

    /// Writes all files; none of a corpus whose reader went away.
    fn write(
        self,
        options: &CorpusOptions,
        test_rows: Option<usize>,
        console: Console,
    ) -> Result<Option<(Corpus, Option<Corpus>)>> {
        let (mut generated, mut failure) = (None, None);
        let write = |output: &mut dyn Write| match generate(options, test_rows, console, output)? {
            Ok(corpora) => {
                generated = Some(corpora);
                Ok(())
            }
            Err(error) => {
                failure = Some(error);
                // The file is not to appear.
                Err(io::ErrorKind::InvalidInput.into())
            }
        };
        let written = match self.data {
            Some(file) => file.write(write),
            None => print(write),
        };
        if let Some(failure) = failure {
            return Err(refused(failure));
        }
        written?;
        let Some((train, test)) = generated else {
            return Ok(None);
        };
        if let Some(file) = self.names {
            file.write(|output| write_lines(train.names.iter(), output))?;
        }
        if let Some(file) = self.sentences {
            let trees = train
                .sentences
                .iter()
                .map(|sentence| sentence.tree.as_str());
            file.write(|output| write_lines(trees, output))?;
        }
        if let Some((file, test)) = self.test.zip(test.as_ref()) {
            file.write(|output| write_rows(options, "other sentences", test, output))?;
        }
        Ok(Some((train, test)))
    }
}

/// The rows under a line that tells how they came about.
fn write_rows(
    options: &CorpusOptions,
    what: &str,
    corpus: &Corpus,
    output: &mut dyn Write,
) -> io::Result<()> {
    writeln!(output, "{}", heading(options, what))?;
    write_svmlight(&dataset(corpus).map_err(io::Error::other)?, output)
}

/// The rows of a corpus with the identifiers of their queries, without copying them.
fn dataset(corpus: &Corpus) -> Result<Dataset<'_>, DatasetError> {
    let queries = Queries::from_sizes(&corpus.sizes)?.with_ids(corpus.ids.clone())?;
    let (indptr, rows, values) = (&*corpus.indptr, &*corpus.rows, &*corpus.values);
    Dataset::from_csc(indptr, rows, values, &*corpus.labels, queries)
}

fn heading(options: &CorpusOptions, what: &str) -> String {
    let version = env!("CARGO_PKG_VERSION");
    let columns = options.columns;
    let columns = columns.map_or_else(String::new, |columns| format!(" --columns {columns}"));
    format!(
        "# {what} of rankrls {version} corpus generate --rows {}{columns} --seed {} --vocabulary \
         {} --max-parses {} --min-length {} --max-length {} --attraction {}",
        options.rows,
        options.seed,
        options.vocabulary,
        options.max_parses,
        options.min_length,
        options.max_length,
        options.attraction
    )
}

fn write_lines<'a>(
    mut lines: impl Iterator<Item = &'a str>,
    output: &mut dyn Write,
) -> io::Result<()> {
    lines.try_for_each(|line| writeln!(output, "{line}"))
}

/// The JSON document of the schema `rankrls.corpus/1`.
#[derive(Debug, Serialize)]
struct Document<'a> {
    schema: &'static str,
    version: &'static str,
    options: &'a CorpusOptions,
    train: Part<'a>,
    test: Option<Part<'a>>,
}

/// One of the data sets.
#[derive(Debug, Serialize)]
struct Part<'a> {
    #[serde(flatten)]
    report: &'a Report,
    labels: Labels,
}

/// How labels spread.
#[derive(Debug, Serialize)]
struct Labels {
    least: f64,
    mean: f64,
    largest: f64,
    /// Mean over queries of the largest label less the least.
    mean_range: f64,
}

impl Labels {
    fn of(corpus: &Corpus) -> Self {
        let labels = &corpus.labels;
        let ranges = corpus.ranges().map(|rows| {
            let (least, largest) = extremes(&labels[rows]);
            largest - least
        });
        let (least, largest) = extremes(labels);
        Self {
            least,
            mean: labels.iter().sum::<f64>() / labels.len() as f64,
            largest,
            mean_range: ranges.sum::<f64>() / corpus.sizes.len() as f64,
        }
    }
}

fn extremes(labels: &[f64]) -> (f64, f64) {
    let first = (f64::INFINITY, f64::NEG_INFINITY);
    let wider = |(least, largest): (f64, f64), &label| (least.min(label), largest.max(label));
    labels.iter().fold(first, wider)
}

impl<'a> Document<'a> {
    fn new(options: &'a CorpusOptions, train: &'a Corpus, test: Option<&'a Corpus>) -> Self {
        let part = |corpus: &'a Corpus| Part {
            report: &corpus.report,
            labels: Labels::of(corpus),
        };
        Self {
            schema: "rankrls.corpus/1",
            version: env!("CARGO_PKG_VERSION"),
            options,
            train: part(train),
            test: test.map(part),
        }
    }

    /// The same for people.
    fn text(&self) -> String {
        let mut text = self.train.text("corpus");
        let (vocabulary, seed) = (self.train.report.vocabulary, self.options.seed);
        let _ = writeln!(text, "vocabulary of {vocabulary} words, seed {seed}");
        if let Some(test) = &self.test {
            text += &test.text("held out");
            let Report {
                unseen_features,
                unseen_entries,
                ..
            } = test.report;
            let _ = writeln!(
                text,
                "left out {unseen_entries} non-zeros of {unseen_features} features that training \
                 does not have"
            );
        }
        text
    }
}

impl Part<'_> {
    fn text(&self, title: &str) -> String {
        let (report, labels) = (self.report, &self.labels);
        let mut text = format!(
            "{title}: {}\n",
            sizes(report.rows, report.queries, report.columns, report.nonzeros)
        );
        let _ = writeln!(
            text,
            "sentences drawn: {}; dropped: {} by length, {} with one parse, {} with equal labels, \
             {} to fit the rows, {} of training",
            report.drawn,
            report.wrong_length,
            report.unambiguous,
            report.tied,
            report.unfitting,
            report.repeated
        );
        let _ = writeln!(
            text,
            "labels: {:.4} to {:.4}, mean {:.4}, mean range within a query {:.4}; {} queries have their own \
             tree",
            labels.least, labels.largest, labels.mean, labels.mean_range, report.with_own_tree
        );
        text
    }
}
