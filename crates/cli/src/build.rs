//! `rankrls build`.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use clap::Args;
use indicatif::ProgressBar;
use rankrls_files::Part;
use rankrls_parses::Error;
use rankrls_parses::corpus::{
    self, BuildObserver, BuildOptions, Candidates, Manifest, Reason, Skipped, Templates,
    WrittenData,
};

use crate::args::usage;
use crate::console::Console;
use crate::files::{Files, is_stdout};
use crate::numbers::{counted, printable, sizes};
use crate::session::Session;

/// Sentences that warnings name; the manifest names all.
const NAMED: usize = 10;

/// Build a corpus of parses from a treebank
///
/// A query is a sentence of the treebank, its rows are candidate parses, from the Link Grammar parser
/// or from a file, their labels are how well their arcs match the treebank's (F1, from 0 to 1, without
/// punctuation: UAS where words are the same, and LAS with --relations). Features are words, links,
/// connectors and the like of the candidate, by name. Writes a folder, which appears at once:
/// train.svm.zst to train on, test.svm.zst of held-out documents or sentences over the same columns, the parse of each
/// row as a line of texts.txt.zst and test-texts.txt.zst, names.txt.zst and manifest.json. Other commands
/// find names and texts beside the data.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  rankrls build treebank.conllu --link-grammar -o ewt
  rankrls build treebank.conllu --link-grammar --time-limit 30 --resume -o ewt
  rankrls build treebank.conllu --candidates nbest.conllu --relations -o ewt
  rankrls build ud-treebank.conllu --link-grammar --heads function -o ewt
  rankrls build new.conllu --link-grammar --columns ewt/names.txt.zst -o new

link-parser is in the Debian packages link-grammar and link-grammar-dictionaries-en. Results are \
the same on every machine unless sentences run out of time; these are counted. Parses that it \
printed are candidates, too: a sentence a line, from standard input, by
  link-parser en -echo=1 -graphics=0 -postscript=1 -ps-header=0 -walls=1
    -disjuncts=1 -spell=0 -null=1 -rand=1 -limit=1000 -timeout=10
    -test=auto-next-linkage:20")]
pub(crate) struct BuildArgs {
    /// Sentences with gold dependencies, in CoNLL-U; - is standard input
    #[arg(value_name = "TREEBANK")]
    treebank: PathBuf,
    #[command(flatten)]
    source: SourceArgs,
    /// Most linkages of a sentence, the cheapest ones, from 2 to 1000
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        conflicts_with = "parses"
    )]
    #[arg(help_heading = "Candidates", value_parser = clap::value_parser!(u16).range(2..=1000))]
    linkages: u16,
    /// Seconds of the processor that the parser has for a sentence; it is ended after twice as many by the
    /// clock, and two more
    #[arg(
        long,
        value_name = "S",
        default_value_t = 10,
        conflicts_with = "parses"
    )]
    #[arg(help_heading = "Candidates", value_parser = clap::value_parser!(u64).range(1..=3600))]
    time_limit: u64,
    /// Folder to write; a corpus that is there is replaced
    #[arg(short, long, value_name = "FOLDER", help_heading = "Output")]
    output: PathBuf,
    /// Go on from FOLDER.part, which a run left that did not end
    #[arg(help_heading = "Output", long, conflicts_with = "parses")]
    resume: bool,
    #[command(flatten)]
    options: BuildOptions,
    /// Write the rows of all sentences over these columns, those of another corpus, for a model of
    /// it; sentences may be without heads (_), and have labels of 0 then
    #[arg(help_heading = "Features and labels", long, value_name = "NAMES", conflicts_with_all = ["test_share", "split", "seed", "min_count"])]
    columns: Option<PathBuf>,
    /// Print the manifest
    #[arg(help_heading = "Output", long)]
    json: bool,
}

/// The source of candidates.
#[derive(Debug, Args)]
#[command(next_help_heading = "Candidates")]
#[group(required = true, multiple = false)]
struct SourceArgs {
    /// Parse the sentences with the Link Grammar parser
    #[arg(long)]
    link_grammar: bool,
    /// Take all candidates of this file, in CoNLL-U, several parses a sentence, or as link-parser prints
    /// them; - is standard input
    #[arg(id = "parses", long = "candidates", value_name = "FILE")]
    candidates: Option<PathBuf>,
}

impl BuildArgs {
    fn candidates(&self) -> Candidates {
        match &self.source.candidates {
            Some(path) => Candidates::File(path.clone()),
            None => Candidates::LinkGrammar {
                linkages: self.linkages.into(),
                time_limit: self.time_limit,
                resume: self.resume,
            },
        }
    }

    fn options(&self) -> BuildOptions {
        BuildOptions {
            columns: self.columns.clone(),
            ..self.options.clone()
        }
    }
}

pub(crate) fn run(args: &BuildArgs, session: &Session<'_>) -> Result<ExitCode> {
    let console = session.console;
    if is_stdout(&args.output) {
        return Err(usage("--output: expected a folder, found standard output"));
    }
    let (candidates, options) = (args.candidates(), args.options());
    let files = &session.files;
    files.reads("TREEBANK", [&args.treebank])?;
    files.reads("--candidates", &args.source.candidates)?;
    files.reads("--columns", &args.columns)?;
    Files::check_name("--output", &args.output, "a folder")?;
    for file in corpus::FILES {
        files.writes("--output", &args.output.join(file))?;
    }
    let part = Part::path_of(&args.output);
    files.writes("--output", &part)?;
    let stdout = args.json.then(|| files.prints()).transpose()?;
    let part = printable(&part.display().to_string());
    let folder = printable(&args.output.display().to_string());
    let folder = folder.trim_end_matches('/');
    let progress = Progress {
        session,
        left: format!("{part} has the sentences so far, and --resume goes on"),
        bar: Mutex::default(),
    };
    let built = corpus::build(
        &args.treebank,
        &candidates,
        &args.output,
        &options,
        &progress,
    );
    drop(progress);
    let manifest = built.map_err(refused)?;
    warn_skipped(&manifest, console);
    warn_poor(&manifest, console);
    if manifest.one_document {
        console.warn(
            "all sentences that can be used are of one document: those held out are, too, and judge a model too well",
        );
    }
    if manifest.test.is_none() && manifest.documents.is_some() {
        console
            .warn("no sentence is held out: the training data have the texts of all that would be");
    }
    if manifest.scores_tie {
        console.warn("the scores of the candidates are equal in each sentence, and cannot rank");
    }
    if !session.is_given("heads") {
        warn_heads(&manifest, console);
    }
    match stdout {
        // It prints the file itself, which names the left-out sentences.
        Some(stdout) => stdout.print_json(&manifest)?,
        None => console.tell(summary(&manifest, folder)),
    }
    Ok(session.code())
}

/// Options out of range, or at odds, are mistakes in the arguments.
fn refused(error: Error) -> anyhow::Error {
    match error {
        Error::Options(text) => usage(text),
        error => error.into(),
    }
}

/// Warns of left-out sentences. Missing candidates take one line in all, and so do candidates of other sentences:
/// somebody may build half a treebank on purpose.
fn warn_skipped(manifest: &Manifest, console: Console) {
    let mut named: Vec<&Skipped> = manifest.skipped.iter().collect();
    for reason in [Reason::Missing, Reason::Unknown] {
        let (same, others): (Vec<&Skipped>, _) = named.iter().partition(|one| one.reason == reason);
        if same.len() > 1 {
            let (first, more) = (same[0], same.len() - 1);
            console.warn(format_args!(
                "{first}; so are {more} more, which the manifest names"
            ));
            named = others;
        }
    }
    for skipped in named.iter().take(NAMED) {
        console.warn(skipped);
    }
    if named.len() > NAMED {
        let more = named.len() - NAMED;
        console.warn(format_args!("{more} more are named in the manifest"));
    }
}

/// Warns of templates that hardly tell the candidates of a sentence apart.
fn warn_poor(manifest: &Manifest, console: Console) {
    let Some(part) = manifest.train.as_ref().filter(|part| part.is_poor()) else {
        return;
    };
    let (columns, varying) = (part.columns, part.varying_columns);
    let all = manifest.options.templates == Templates::default();
    let remedy = if all {
        ""
    } else {
        "; --templates all has others"
    };
    console.warn(format_args!(
        "the candidates of a sentence differ in {varying} of {columns} columns, and no other column can rank: \
         words are the same in all parses of a sentence{remedy}"
    ));
}

/// Warns of prepositions that are heads only in the parses.
fn warn_heads(manifest: &Manifest, console: Console) {
    if manifest.adpositions == 0 {
        return;
    }
    let prepositions = counted(manifest.adpositions, "preposition");
    console.warn(format_args!(
        "{prepositions} of the treebank depend on nouns, as in Universal Dependencies, and head them in Link \
         Grammar, so that labels miss these links: --heads function turns the treebank, --heads content keeps it"
    ));
}

const PARSING: &str = "{bar:24} {pos}/{len} sentences parsed{left}";
const WRITING: &str = "{bar:24} {pos}/{len} sentences written{left}";

/// Draws bars. Once there is a journal to continue from, a signal leaves it.
struct Progress<'a> {
    session: &'a Session<'a>,
    /// The state that a signal leaves.
    left: String,
    bar: Mutex<Option<ProgressBar>>,
}

impl Progress<'_> {
    /// Shows a bar until the end.
    fn show(&self, style: &str, done: usize, of: usize) {
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        let shown = bar.get_or_insert_with(|| self.session.console.bar(of, style));
        shown.set_position(done as u64);
        if done == of {
            shown.finish_and_clear();
            *bar = None;
        }
    }
}

impl BuildObserver for Progress<'_> {
    fn parsed(&self, done: usize, of: usize) {
        self.session.interrupt.leaves(self.left.clone());
        self.show(PARSING, done, of);
    }

    fn written(&self, done: usize, of: usize) {
        self.show(WRITING, done, of);
    }
}

/// The manifest of a corpus in a `folder`, for people.
fn summary(manifest: &Manifest, folder: &str) -> String {
    let sentences = &manifest.sentences;
    let mut text = format!(
        "sentences: {} read, {} to train on, {} {}",
        sentences.read,
        sentences.train,
        sentences.test,
        if manifest.train.is_some() {
            "held out"
        } else {
            "to rank"
        }
    );
    for (count, reason) in sentences.left_out() {
        let _ = write!(text, ", {count} {}", reason.text());
    }
    text.push('\n');
    if let Some(documents) = manifest.documents {
        let (train, test) = (documents.train, documents.test);
        let _ = writeln!(
            text,
            "documents: {train} to train on, {test} held out; --split sentences does not keep them whole"
        );
    }
    for (file, rows) in [("train", &manifest.train), ("test", &manifest.test)] {
        if let Some(rows) = rows {
            part(&mut text, &format!("{folder}/{file}.svm.zst"), rows);
        }
    }
    text
}

fn part(text: &mut String, file: &str, part: &WrittenData) {
    let labels = &part.labels;
    let _ = writeln!(
        text,
        "{file}: {}",
        sizes(part.rows, part.queries, part.columns, part.nonzeros)
    );
    if part.unseen_features > 0 {
        let _ = writeln!(
            text,
            "  left out {} non-zeros of {} features without a column",
            part.unseen_entries, part.unseen_features
        );
    }
    let _ = writeln!(
        text,
        "  labels {:.4} to {:.4}, mean {:.4}; first candidates {:.4}, best {:.4}",
        labels.least, labels.largest, labels.mean, labels.mean_first, labels.mean_best
    );
}
