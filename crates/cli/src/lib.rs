//! The command `rankrls`: one file a command. It parses arguments, calls the library and prints.

mod args;
mod build;
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
mod train;
mod tune;
mod watch;

use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use clap_complete::Shell;

use rankrls::{Remedy, Wording};
use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;

use args::{UsageError, usage};
use console::{Console, Interrupt};
use files::Files;
use output::print;
use session::Session;

/// Greedy RankRLS: exact leave-query-out selection of sparse features for learning to rank.
#[derive(Debug, Parser)]
#[command(name = "rankrls", version, arg_required_else_help = true)]
#[command(after_help = "\
Examples:
  rankrls select @parses -k 10 --lambda 16
  rankrls select train.svm -k 50 --lambda 16 -o model.json
  rankrls tune train.svm -k 50 --rule one-se -o model.json
  rankrls evaluate test.svm --model model.json

Results go to standard output; progress, warnings and logs to standard error.
Exit codes: 0 done, 1 failure, 2 usage, 130 interrupted.")]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    common: Common,
}

/// What every command takes.
#[derive(Debug, Args)]
#[command(next_help_heading = "Options of all commands")]
struct Common {
    /// Show no progress and no warnings
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Log what is done, in place of progress
    #[arg(
        short,
        long,
        global = true,
        conflicts_with = "quiet",
        overrides_with = "verbose"
    )]
    verbose: bool,
    /// Threads to use [default: one a core]
    #[arg(long, global = true, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=4096))]
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
        // Nobody can be told when standard error is closed.
        let _ = writeln!(io::stderr(), "{text}");
        ExitCode::from(code)
    })
}

/// An error for people, and the exit code.
#[derive(Debug)]
struct Failure {
    code: u8,
    /// Without a line end.
    text: String,
}

type Parsed = (Cli, ArgMatches);

fn parse() -> Result<Parsed, clap::Error> {
    Remedy::word_by(Wording::Command);
    let matches = Cli::command().try_get_matches().map_err(with_usage)?;
    Ok((Cli::from_arg_matches(&matches)?, matches))
}

/// The failure of arguments that the parser of the command line refuses.
fn misused(error: &clap::Error) -> Failure {
    Failure {
        code: u8::try_from(error.exit_code()).unwrap_or(2),
        text: Console::new(false, false).styled(&error.render()),
    }
}

/// A mistake with the usage of the command that was asked for, if it says none.
fn with_usage(mut error: clap::Error) -> clap::Error {
    if !error.use_stderr() || error.get(ContextKind::Usage).is_some() {
        return error;
    }
    let usage = ContextValue::StyledStr(asked().render_usage());
    error.insert(ContextKind::Usage, usage);
    error
}

/// The command that was asked for: names of commands come before all that could be mistaken for one.
fn asked() -> clap::Command {
    let mut command = Cli::command();
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
    let quiet = cli.common.quiet;
    let console = Console::new(quiet, cli.common.verbose && !quiet);
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
    check_environment(cli.common.threads)?;
    // At the limit of a file's size, writing fails; the signal would end the process without a word.
    let handled = flag::register(SIGXFSZ, Arc::default());
    handled.context("cannot handle signals")?;
    if let Some(threads) = cli.common.threads {
        rayon::ThreadPoolBuilder::new()
            .num_threads(usize::from(threads))
            .build_global()
            .with_context(|| format!("cannot start {threads} threads"))?;
    }
    let (_, given) = matches.subcommand().expect("there is a command");
    let interrupt = Interrupt::new();
    interrupt.install(console)?;
    let session = Session {
        console,
        interrupt: &interrupt,
        files: Files::default(),
        given,
    };
    // Commands with results print them; others do where there is no file for them.
    if given.try_contains_id("json").is_ok() {
        session.files.prints()?;
    }
    cli.command.run(&session)
}

/// Refuses a number of threads in the environment that `--threads` would refuse: no such number
/// would ever start.
fn check_environment(threads: Option<u16>) -> Result<()> {
    let asked = std::env::var("RAYON_NUM_THREADS").ok();
    let asked = asked.and_then(|number| number.parse().ok());
    match asked {
        Some(number @ 4097_u64..) if threads.is_none() => Err(usage(format_args!(
            "RAYON_NUM_THREADS is {number}: expected at most 4096"
        ))),
        _ => Ok(()),
    }
}

fn completions(args: &CompletionsArgs, session: &Session<'_>) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "rankrls", &mut script);
    print(|output| output.write_all(&script))?;
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
    fn every_remedy_names_options_that_there_are() {
        let command = Cli::command();
        let mut named = 0;
        for remedy in Remedy::examples() {
            let words = remedy.worded(Wording::Command);
            assert!(!words.contains("::"), "{words:?} is of the library");
            for word in words.split(|char: char| !(char.is_ascii_lowercase() || char == '-')) {
                if let Some(long) = word.strip_prefix("--") {
                    assert!(has(&command, long), "{remedy:?}: there is no --{long}");
                    named += 1;
                }
            }
        }
        assert!(named > 50, "{named}");
    }

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
