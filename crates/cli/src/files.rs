//! The files of a run: what it reads stays, and what it writes has a name of its own.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{ArgMatches, Command};

use super::args::usage;

/// The options that name a file to write. Every other option that takes a path names one to read.
const OUTPUTS: [&str; 6] = [
    "plot",
    "csv",
    "html",
    "holdout_scores",
    "checkpoint",
    "output",
];

/// Paths that a run may both read and write: a model goes on to a larger one of its own name.
const EITHER: [&str; 2] = ["extend", "link_parser"];

/// An option or argument, as usage shows it, and a path that it names.
type Named = (String, PathBuf);

/// Refuses an output that is an input or another output, by whatever path, and two inputs that are
/// standard input, before any work. Pipes and devices may have any role.
pub(super) fn check(command: &Command, matches: &ArgMatches) -> Result<()> {
    let (mut command, mut matches) = (command, matches);
    while let Some((name, inner)) = matches.subcommand() {
        matches = inner;
        command = command.find_subcommand(name).unwrap_or(command);
    }
    let named = |id: &str| named(command, matches, id);
    let ids = command
        .get_arguments()
        .map(|argument| argument.get_id().as_str());
    let inputs = ids.filter(|id| !OUTPUTS.contains(id) && !EITHER.contains(id));
    let inputs: Vec<Named> = inputs.flat_map(named).collect();
    if inputs
        .iter()
        .filter(|(_, path)| path.as_os_str() == "-")
        .count()
        > 1
    {
        return Err(usage("only one input can be -, standard input"));
    }
    let mut taken: Vec<Named> = Vec::new();
    for (option, path) in OUTPUTS.into_iter().flat_map(named) {
        let Some(place) = place(&path) else {
            continue;
        };
        if let Some((other, _)) = taken.iter().find(|(_, taken)| *taken == place) {
            return Err(usage(format_args!(
                "{other} and {option} name the same file"
            )));
        }
        let read = |(_, input): &&Named| self::place(input).as_ref() == Some(&place);
        if let Some((input, _)) = inputs.iter().find(read) {
            return Err(usage(format_args!(
                "{option} and {input} name the same file: what a run reads it does not replace"
            )));
        }
        taken.push((option, place));
    }
    Ok(())
}

/// The paths of an argument, if it takes some.
fn named(command: &Command, matches: &ArgMatches, id: &str) -> Vec<Named> {
    let argument = command
        .get_arguments()
        .find(|argument| argument.get_id() == id);
    let Some(argument) = argument else {
        return Vec::new();
    };
    let name = match (argument.get_long(), argument.get_value_names()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some([name, ..])) => name.to_string(),
        (None, _) => id.to_owned(),
    };
    let paths: Vec<PathBuf> = match matches.try_get_many::<PathBuf>(id) {
        Ok(paths) => paths.into_iter().flatten().cloned().collect(),
        // What takes a name, a number or a file.
        Err(_) if ["evidence", "holdout", "basis"].contains(&id) => {
            let raw = matches.get_raw(id).into_iter().flatten();
            let text = raw.filter_map(|text| text.to_str());
            text.map(|text| text.trim_start_matches("folds:").into())
                .collect()
        }
        Err(_) => Vec::new(),
    };
    paths.into_iter().map(|path| (name.clone(), path)).collect()
}

/// Where a path leads, links followed; `None` for standard input and output, a folder, and what is
/// no regular file.
fn place(path: &Path) -> Option<PathBuf> {
    let special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
    if special || path.as_os_str() == "-" {
        return None;
    }
    fs::canonicalize(path).ok().or_else(|| {
        let folder = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        Some(folder.join(path.file_name()?))
    })
}
