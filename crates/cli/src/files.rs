//! The files of a run: what it reads stays, and what it writes has a name of its own.
//!
//! The type of an argument says what its path is for, and the check asks the arguments for their
//! values of these types. Output files open by an [`OutPath`] alone: none goes unchecked.

use std::any::Any;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::builder::{MapValueParser, PathBufValueParser, TypedValueParser, ValueParserFactory};
use clap::{Arg, ArgMatches, Command};
use rankrls_files::{Location, is_stdout};

use rankrls::data::read::names_beside;
use rankrls_parses::corpus;

use super::args::usage;
use super::data::is_embedded;
use super::kernels::BasisChoice;
use super::train::HoldoutChoice;
use super::tune::EvidenceChoice;

/// A file that the value of an argument names, and what for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Named<'a> {
    Read(&'a Path),
    Data(&'a Path),
    Written(&'a Path),
}

/// A value of an argument that may name a file.
pub(crate) trait Names: Any + Clone + Send + Sync {
    fn named(&self) -> Option<Named<'_>>;
}

/// A type for each use of a path.
macro_rules! paths {
    ($($(#[$doc:meta])* $name:ident $(=> $use:ident)?,)+) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub(crate) struct $name(PathBuf);

        impl From<PathBuf> for $name {
            fn from(path: PathBuf) -> Self {
                Self(path)
            }
        }

        impl Deref for $name {
            type Target = Path;

            fn deref(&self) -> &Path {
                &self.0
            }
        }

        impl AsRef<Path> for $name {
            fn as_ref(&self) -> &Path {
                &self.0
            }
        }

        impl ValueParserFactory for $name {
            type Parser = MapValueParser<PathBufValueParser, fn(PathBuf) -> Self>;

            fn value_parser() -> Self::Parser {
                PathBufValueParser::new().map(Self)
            }
        }

        $(impl Names for $name {
            fn named(&self) -> Option<Named<'_>> {
                Some(Named::$use(&self.0))
            }
        })?
    )+};
}

paths! {
    /// A file to read, or `-` for standard input.
    InPath => Read,
    /// Data to read: a file and the files that belong to it, `-` for standard input, or data that come
    /// with the program.
    DataPath => Data,
    /// A file or folder to write, or `-` for standard output where a command allows it.
    OutPath => Written,
    /// The beginning of the paths of several files to write, which are checked one by one.
    OutPrefix,
}

/// All types of values that may name a file.
const TYPES: [for<'a> fn(&'a ArgMatches, &str) -> Vec<Named<'a>>; 6] = [
    named::<InPath>,
    named::<DataPath>,
    named::<OutPath>,
    named::<EvidenceChoice>,
    named::<HoldoutChoice>,
    named::<BasisChoice>,
];

/// The files that an argument names, if its values are of the type `N`.
fn named<'a, N: Names>(matches: &'a ArgMatches, id: &str) -> Vec<Named<'a>> {
    let values = matches.try_get_many::<N>(id).ok().flatten();
    values.into_iter().flatten().filter_map(N::named).collect()
}

/// The files of a run, each with the argument that names it.
#[derive(Debug, Default)]
pub(crate) struct Files {
    inputs: Vec<(String, Input)>,
    outputs: Vec<(String, Location)>,
}

#[derive(Debug)]
enum Input {
    File(Location),
    /// A folder with all that is in it.
    Folder(PathBuf),
}

impl Input {
    /// Whether it would be lost if the `output` were written.
    fn is_lost_by(&self, output: &Location) -> bool {
        match self {
            Self::File(file) => file.is_lost_by(output),
            Self::Folder(folder) => output.is_within(folder),
        }
    }
}

/// The argument of the model that a run makes.
const RESULT: &str = "--output";

impl Files {
    /// The files that the arguments of a command name. Refuses an output that is an input or another
    /// output, by whatever path, and two inputs that are standard input, before any work. Pipes and
    /// devices may have any role, but that results and a file do not share a stream.
    pub(super) fn of(command: &Command, matches: &ArgMatches) -> Result<Self> {
        let (name, matches) = matches.subcommand().expect("there is a command");
        let command = command.find_subcommand(name).unwrap_or(command);
        let (mut files, mut written, mut stdins) = (Self::default(), Vec::new(), 0);
        for argument in command.get_arguments() {
            let (name, id) = (title(argument), argument.get_id().as_str());
            for named in TYPES.iter().flat_map(|named| named(matches, id)) {
                match named {
                    Named::Read(path) | Named::Data(path) if path == Path::new("-") => {
                        stdins += 1;
                        let stdin = Location::stdin().map(Input::File);
                        files
                            .inputs
                            .extend(stdin.map(|stdin| (name.clone(), stdin)));
                    }
                    Named::Read(path) => files.read(&name, [path.to_owned()]),
                    Named::Data(path) => files.read_data(&name, path),
                    Named::Written(path) => written.push((name.clone(), path)),
                }
            }
        }
        if stdins > 1 {
            return Err(usage("only one input can be -, standard input"));
        }
        written.retain(|(_, path)| *path != Path::new("-"));
        // The model comes last, after what is drawn or told of it.
        written.sort_by_key(|(name, _)| name == RESULT);
        // Commands with results print them; others print only what goes to no file.
        let reports = command
            .get_arguments()
            .any(|argument| argument.get_id() == "json");
        if reports || written.is_empty() {
            files.write("standard output", Location::stdout())?;
        }
        for (name, path) in written {
            if reports && is_stdout(path) {
                return Err(usage(format_args!(
                    "{name} is standard output, where the results go: name a file"
                )));
            }
            files.write(&name, Location::of(path))?;
        }
        Ok(files)
    }

    fn read(&mut self, name: &str, paths: impl IntoIterator<Item = PathBuf>) {
        let places = paths.into_iter().filter_map(|path| Location::of(&path));
        let inputs = places.map(|place| (name.to_owned(), Input::File(place)));
        self.inputs.extend(inputs);
    }

    fn read_data(&mut self, name: &str, path: &Path) {
        if is_embedded(path) {
            return;
        }
        if path.is_dir() {
            self.inputs
                .push((name.to_owned(), Input::Folder(path.to_owned())));
            return;
        }
        self.read(name, [path.to_owned()]);
        self.read(name, names_beside(path));
        let files = corpus::FILES.map(|file| path.with_file_name(file));
        if files.iter().any(|file| file == path) && path.with_file_name("manifest.json").is_file() {
            self.read(name, files);
        }
    }

    fn write(&mut self, name: &str, output: Option<Location>) -> Result<()> {
        let Some(output) = output else {
            return Ok(());
        };
        self.check(name, &output, None)?;
        self.outputs.push((name.to_owned(), output));
        Ok(())
    }

    /// A file to write of the several that the argument `name` stands for, checked as if the argument
    /// named it. An input at `same` holds the same, and may be replaced.
    pub(crate) fn part(&self, name: &str, path: PathBuf, same: Option<&Path>) -> Result<OutPath> {
        if let Some(output) = Location::of(&path) {
            self.check(name, &output, same.and_then(Location::of).as_ref())?;
        }
        Ok(path.into())
    }

    fn check(&self, name: &str, output: &Location, same: Option<&Location>) -> Result<()> {
        let other = |(other, taken): &&(String, Location)| {
            other != name && (taken.is_lost_by(output) || output.is_lost_by(taken))
        };
        if let Some((other, _)) = self.outputs.iter().find(other) {
            return Err(usage(format_args!("{other} and {name} name the same file")));
        }
        let keeps = |input: &Input| match input {
            Input::File(input) => same.is_some_and(|same| input.is_lost_by(same)),
            Input::Folder(_) => false,
        };
        let read = |(_, input): &&(String, Input)| input.is_lost_by(output) && !keeps(input);
        match self.inputs.iter().find(read) {
            Some((input, Input::Folder(_))) => Err(usage(format_args!(
                "{name} is in the folder {input}: what a run reads it does not replace, nor add to"
            ))),
            Some((input, _)) => Err(lost(name, input)),
            None => Ok(()),
        }
    }
}

fn lost(output: &str, input: &str) -> anyhow::Error {
    usage(format_args!(
        "{output} and {input} name the same file: what a run reads it does not replace"
    ))
}

/// An argument as usage shows it.
fn title(argument: &Arg) -> String {
    match (argument.get_long(), argument.get_value_names()) {
        (Some(long), _) => format!("--{long}"),
        (None, Some([name, ..])) => name.to_string(),
        (None, _) => argument.get_id().to_string(),
    }
}
