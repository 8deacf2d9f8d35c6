//! The command `rankrls`: one file a command. It parses arguments, calls the library and prints.

mod args;
mod build;
mod choosing;
mod compare;
mod console;
mod convert;
mod data;
mod description;
mod evaluate;
mod explain;
mod figures;
mod files;
mod info;
mod inspect;
mod kernels;
mod numbers;
mod output;
mod predict;
mod report;
mod select;
mod session;
mod settings;
mod sheet;
mod sizes;
mod train;
mod tune;
mod unfinished;
mod watch;

use std::io::{self, Write as _};
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use anyhow::{Context, Result};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;

use args::{UsageError, usage};
use console::{Console, Interrupt};
use files::Files;
use numbers::counted;
use session::Session;

/// Greedy RankRLS: exact leave-query-out selection of sparse features for learning to rank.
#[derive(Debug, Parser)]
#[command(name = "rankrls", version, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  rankrls select @sentences -k 10
  rankrls select train.svm -k 50 --lambda 16 -o model.json
  rankrls tune train.svm -k 50 --rule one-se -o model.json
  rankrls evaluate test.svm --model model.json

Results go to standard output; progress, warnings and logs to standard error.
An output named - goes to standard output, in place of the results.
Exit codes: 0 done, 1 failure, 2 usage, 130 interrupted.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

/// Options of every command.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of all commands")]
struct Common {
    /// Show no progress and no warnings
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Threads to use [default: one a core]
    #[arg(long, global = true, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

/// The commands, each with its arguments, and the function that runs it.
macro_rules! commands {
    ($($command:ident($args:ty) => $run:path,)+) => {
        #[derive(Debug, Subcommand)]
        enum Command {
            $($command(Box<$args>),)+
        }

        impl Command {
            fn run(&self, session: &Session<'_>) -> Result<ExitCode> {
                match self {
                    $(Self::$command(args) => $run(args, session),)+
                }
            }
        }
    };
}

commands! {
    Select(select::SelectArgs) => select::run,
    Train(train::TrainArgs) => train::run,
    Tune(tune::TuneArgs) => tune::run,
    Compare(compare::CompareArgs) => compare::run,
    Predict(predict::PredictArgs) => predict::run,
    Evaluate(evaluate::EvaluateArgs) => evaluate::run,
    Explain(explain::ExplainArgs) => explain::run,
    Inspect(inspect::InspectArgs) => inspect::run,
    Info(info::InfoArgs) => info::run,
    Convert(convert::ConvertArgs) => convert::run,
    Build(build::BuildArgs) => build::run,
    Completions(CompletionsArgs) => completions,
}

/// Print completions for a shell
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  rankrls completions bash > ~/.local/share/bash-completion/completions/rankrls")]
struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Parses, runs, and prints errors.
pub fn main() -> ExitCode {
    let parsed = parse().map_err(|error| {
        if error.use_stderr() {
            misused(&error)
        } else {
            error.exit()
        }
    });
    let ran = parsed.and_then(run);
    ran.unwrap_or_else(|Failure { code, text }| {
        // Nobody can be told if standard error is closed.
        let _ = writeln!(io::stderr(), "{text}");
        ExitCode::from(code)
    })
}

/// An error for people, and the exit code.
#[derive(Debug)]
struct Failure {
    code: u8,
    /// The text has no line end.
    text: String,
}

type Parsed = (Cli, ArgMatches);

/// `-h` shows these options, which most users need; `--help` shows all.
const BASIC: [&str; 30] = [
    "k",
    "lambda",
    "strategy",
    "labels",
    "rule",
    "choose_by",
    "objective",
    "holdout",
    "kernel",
    "pairs",
    "test",
    "metrics",
    "model",
    "scores",
    "versus",
    "texts",
    "label",
    "query",
    "names",
    "output",
    "resume",
    "plot",
    "json",
    "ranker",
    "link_grammar",
    "parses",
    "linkages",
    "help",
    "quiet",
    "threads",
];

/// Examples that `-h` shows.
const FEW: usize = 3;

/// Lets the value of an option begin with a minus: -inf is then a bad number, not an unknown option. Names of files
/// and columns are no numbers.
fn with_minus(arg: clap::Arg) -> clap::Arg {
    let mut words = "FILE FOLDER DATA MODEL COLUMN COLUMNS NAMES".split(' ');
    let names = arg.get_value_names().unwrap_or_default();
    let is_name = words.any(|word| names.iter().any(|name| name == word));
    if arg.is_positional() || !arg.get_action().takes_values() || is_name {
        return arg;
    }
    arg.allow_hyphen_values(true)
}

/// The command line, with a short `-h`.
fn command() -> clap::Command {
    fn brief(command: clap::Command) -> clap::Command {
        let examples = command.get_after_help().map(ToString::to_string);
        let examples = examples.unwrap_or_default();
        let few: Vec<&str> = examples.lines().take(1 + FEW).collect();
        command
            .mut_args(|arg| {
                let is_basic = arg.is_positional() || BASIC.contains(&arg.get_id().as_str());
                with_minus(arg).hide_short_help(!is_basic)
            })
            .after_help(few.join("\n"))
            .after_long_help(examples)
    }
    let command = Cli::command().mut_args(with_minus);
    command.mut_subcommands(brief)
}

fn parse() -> Result<Parsed, clap::Error> {
    let matches = command().try_get_matches().map_err(with_usage)?;
    Ok((Cli::from_arg_matches(&matches)?, matches))
}

/// The failure of arguments that the parser of the command line refuses.
fn misused(error: &clap::Error) -> Failure {
    Failure {
        code: u8::try_from(error.exit_code()).unwrap_or(2),
        text: Console::new(false).styled(&error.render()),
    }
}

/// A mistake with the usage of the present command, unless it has one.
fn with_usage(mut error: clap::Error) -> clap::Error {
    if error.kind() == ErrorKind::UnknownArgument {
        suggest_short(&mut error);
    }
    if !error.use_stderr() || error.get(ContextKind::Usage).is_some() {
        return error;
    }
    let usage = ContextValue::StyledStr(asked().render_usage());
    error.insert(ContextKind::Usage, usage);
    error
}

/// Suggests `-k` for `--k`. Drops clap's hint about values.
fn suggest_short(error: &mut clap::Error) {
    error.remove(ContextKind::Suggested);
    let Some(ContextValue::String(given)) = error.get(ContextKind::InvalidArg) else {
        return;
    };
    let letter = given.strip_prefix("--").filter(|name| name.len() == 1);
    let letter = letter.and_then(|name| name.chars().next());
    let known = |letter: &char| {
        let command = asked();
        let mut all = command.get_arguments();
        all.any(|argument| argument.get_short() == Some(*letter))
    };
    if let Some(letter) = letter.filter(known) {
        let short = ContextValue::String(format!("-{letter}"));
        error.insert(ContextKind::SuggestedArg, short);
    }
}

/// The present command. Names of commands come before all words that look like one.
fn asked() -> clap::Command {
    let mut command = command();
    command.build();
    for argument in std::env::args_os().skip(1) {
        if let Some(inner) = command.find_subcommand(&argument) {
            command = inner.clone();
        }
    }
    command
}

/// Runs the command.
fn run((cli, matches): Parsed) -> Result<ExitCode, Failure> {
    let console = Console::new(cli.common.quiet);
    start(&cli, &matches, console).map_err(|error| match error.downcast_ref::<UsageError>() {
        Some(mistake) => {
            let shown = asked().error(ErrorKind::ArgumentConflict, mistake);
            Failure {
                code: 2,
                text: console.styled(&shown.render()),
            }
        }
        None => Failure {
            code: 1,
            text: console.error(&error),
        },
    })
}

fn start(cli: &Cli, matches: &ArgMatches, console: Console) -> Result<ExitCode> {
    // Beyond the limit of a file's size, writing fails. Without a handler the signal would end the process
    // silently.
    let handled = flag::register(SIGXFSZ, Arc::default());
    handled.context("cannot handle signals")?;
    let threads = threads(cli.common.threads)?;
    let (_, given) = matches.subcommand().expect("there is a command");
    let interrupt = Interrupt::new();
    interrupt.install(console)?;
    let pool = interrupt.pool(threads, console)?;
    let session = Session {
        console,
        interrupt: &interrupt,
        files: Files::default(),
        given,
    };
    pool.install(|| cli.command.run(&session))
}

/// Most threads a core: more of them only wait for each other.
const THREADS_A_CORE: usize = 8;

/// The requested number of threads, and the place of the request.
fn asked_threads(option: Option<u16>) -> Option<(&'static str, usize)> {
    let variable = |name| {
        let number = std::env::var(name).ok()?.parse().ok()?;
        (number > 0).then_some((name, number))
    };
    let option = option.map(|number| ("--threads", usize::from(number)));
    option
        .or_else(|| variable("RAYON_NUM_THREADS"))
        .or_else(|| variable("RAYON_RS_NUM_CPUS"))
}

/// Threads that share the work: the requested number, or one a core.
fn threads(option: Option<u16>) -> Result<usize> {
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let most = (THREADS_A_CORE * cores).max(16);
    match asked_threads(option) {
        Some((place, number)) if number > most => Err(usage(format_args!(
            "{place} is {number}: expected at most {most} on {}",
            counted(cores, "core")
        ))),
        asked => Ok(asked.map_or(cores, |(_, number)| number)),
    }
}

fn completions(args: &CompletionsArgs, session: &Session<'_>) -> Result<ExitCode> {
    let stdout = session.files.prints()?;
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rankrls", &mut script);
    stdout.print(|output| output.write_all(&script))?;
    Ok(session.code())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a command, or one within it, has the option.
    fn has(command: &clap::Command, long: &str) -> bool {
        let mut own = command.get_arguments();
        own.any(|argument| argument.get_long() == Some(long))
            || command.get_subcommands().any(|within| has(within, long))
    }

    #[test]
    fn every_parameter_of_a_message_is_an_option() {
        let command = Cli::command();
        for parameter in rankrls::Parameter::ALL {
            let name = parameter.to_string();
            assert!(has(&command, name.trim_start_matches('-')), "{name}");
        }
    }

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
