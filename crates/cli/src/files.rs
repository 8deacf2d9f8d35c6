//! The files of a run. It never replaces an input, each output has a name of its own, and standard output takes one
//! thing only.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use anyhow::{Result, bail};
use rankrls_files::FilePlace;

use super::args::usage;

/// The files that a run has named so far. Each command names all of them before it begins to work.
#[derive(Debug, Default)]
pub(crate) struct Files {
    named: NamedFiles,
    /// Whether standard input is an input.
    stdin: AtomicBool,
    /// The argument whose output is printed in place of the results.
    printed: OnceLock<String>,
}

/// The files that a run reads and writes; its outputs share them until they have their names.
#[derive(Debug, Default, Clone)]
pub(crate) struct NamedFiles(Arc<Mutex<Vec<Named>>>);

impl NamedFiles {
    /// Refuses to replace the file at `path` if the run reads it. Somebody may have moved it there since the run
    /// began.
    pub(crate) fn check_replaced(&self, path: &Path) -> Result<()> {
        let Some(there) = FilePlace::of_name(path) else {
            return Ok(());
        };
        let named = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let read = named
            .iter()
            .find(|named| !named.written && named.place == there);
        match read {
            Some(read) => bail!(
                "the file of {} has this name by now: what a run reads it does not replace",
                read.name
            ),
            None => Ok(()),
        }
    }
}

#[derive(Debug)]
struct Named {
    /// The argument that names the file.
    name: String,
    place: FilePlace,
    written: bool,
}

/// The name of standard output in messages.
const PRINTED: &str = "standard output";

/// Standard output of a run whose files know that it prints: nothing prints without it.
#[derive(Debug)]
pub(crate) struct Stdout(io::Stdout);

impl Stdout {
    pub(crate) fn lock(&self) -> io::StdoutLock<'static> {
        self.0.lock()
    }
}

/// The form in which a run prints its results.
#[derive(Debug)]
pub(crate) enum Results {
    /// The run prints text for people.
    Text(Stdout),
    /// The run prints one JSON document.
    Json(Stdout),
    /// The run prints an output in place of the results.
    Replaced,
}

/// Whether an output at `path` is standard output.
pub(crate) fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-" || FilePlace::is_stdout(path)
}

impl Files {
    /// Notes that the argument `name` has files to read, or `-` for standard input. Refuses an output, and standard
    /// input for the second time.
    pub(crate) fn reads<'a>(
        &self,
        name: &str,
        paths: impl IntoIterator<Item = &'a PathBuf>,
    ) -> Result<()> {
        for path in paths {
            if path.as_os_str() != "-" {
                self.add(name, FilePlace::of(path), false)?;
            } else if self.stdin.swap(true, Ordering::Relaxed) {
                return Err(usage("only one input can be -, standard input"));
            } else {
                self.add(name, FilePlace::stdin(), false)?;
            }
        }
        Ok(())
    }

    /// Refuses a name of `what` is to be written that is one of data that come with the program.
    pub(crate) fn check_name(name: &str, path: &Path, what: &str) -> Result<()> {
        if !path.as_os_str().as_encoded_bytes().starts_with(b"@") {
            return Ok(());
        }
        let path = path.display();
        Err(usage(format_args!(
            "{name} {path}: names with @ are those of data that come with the program; write ./{path} for {what}"
        )))
    }

    /// Notes that the argument `name` is a file to write; returns standard output for an output to print. Refuses
    /// an input and another output, by any path.
    pub(crate) fn writes(&self, name: &str, path: &Path) -> Result<Option<Stdout>> {
        Self::check_name(name, path, "a file")?;
        if !is_stdout(path) {
            return self.add(name, FilePlace::of(path), true).map(|()| None);
        }
        if self.printed.set(name.to_owned()).is_err() {
            let other = self.printed.get().map_or(PRINTED, |other| other);
            return Err(usage(format_args!(
                "{other} and {name} both go to {PRINTED}"
            )));
        }
        self.prints().map(Some)
    }

    /// Notes, after all files to write, that there are results, as one JSON document or as text.
    pub(crate) fn results(&self, json: bool) -> Result<Results> {
        match self.printed.get() {
            Some(name) if json => Err(usage(format_args!(
                "{name} and --json both go to {PRINTED}: name a file for {name}"
            ))),
            Some(_) => Ok(Results::Replaced),
            None if json => self.prints().map(Results::Json),
            None => self.prints().map(Results::Text),
        }
    }

    /// Notes that the run prints something, whatever else there is.
    pub(crate) fn prints(&self) -> Result<Stdout> {
        self.add(PRINTED, FilePlace::stdout(), true)?;
        Ok(Stdout(io::stdout()))
    }

    /// The files so far and all later ones.
    pub(crate) fn named(&self) -> NamedFiles {
        self.named.clone()
    }

    fn add(&self, name: &str, place: Option<FilePlace>, written: bool) -> Result<()> {
        // A terminal or a null device may have any role.
        let Some(place) = place else {
            return Ok(());
        };
        let mut named = self.named.0.lock().unwrap_or_else(PoisonError::into_inner);
        for other in named.iter().filter(|other| other.place == place) {
            let taken = &*other.name;
            return Err(match (other.written, written) {
                // Several inputs may be one file, and a pipe may be read and written.
                (false, false) => continue,
                (true, false) | (false, true) if !place.is_file() => continue,
                (true, false) => lost(taken, name),
                (false, true) => lost(name, taken),
                (true, true) => usage(format_args!("{taken} and {name} name the same file")),
            });
        }
        named.push(Named {
            name: name.to_owned(),
            place,
            written,
        });
        Ok(())
    }
}

/// Words about a file beside data at `path` that may have their queries, as LightGBM and XGBoost name it.
pub(crate) fn sizes_beside(path: &Path) -> Option<String> {
    let beside = |ending| {
        let mut name = path.as_os_str().to_owned();
        name.push(ending);
        let file = PathBuf::from(name);
        file.is_file().then_some(file)
    };
    let found = [".query", ".group"].into_iter().find_map(beside)?;
    let file = found.display();
    Some(format!(
        "if {file} has the sizes of queries, pass --query-file {file}"
    ))
}

fn lost(output: &str, input: &str) -> anyhow::Error {
    usage(format_args!(
        "{output} and {input} name the same file: what a run reads it does not replace"
    ))
}
