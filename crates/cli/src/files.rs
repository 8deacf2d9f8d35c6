//! The files of a run: what it reads it does not replace, and each output has a name of its own.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use anyhow::Result;
use rankrls_files::FilePlace;

use super::args::usage;

/// The files that a run has named so far. Each command names all of them before it begins to work.
#[derive(Debug, Default)]
pub(crate) struct Files {
    named: Mutex<Vec<Named>>,
    /// Whether an input is standard input.
    stdin: AtomicBool,
}

#[derive(Debug)]
struct Named {
    /// The argument that names the file.
    name: String,
    place: FilePlace,
    written: bool,
}

/// The name of the results on standard output in messages.
const PRINTED: &str = "standard output";

impl Files {
    /// Says that the argument `name` has files to read, or `-` for standard input. Refuses an output, and
    /// standard input for the second time.
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

    /// Says that the argument `name` is a file to write. Refuses an input and another output, by whatever path.
    pub(crate) fn writes(&self, name: &str, path: &Path) -> Result<()> {
        self.add(name, FilePlace::of(path), true)
    }

    /// Says that results are printed.
    pub(crate) fn prints(&self) -> Result<()> {
        self.add(PRINTED, FilePlace::stdout(), true)
    }

    fn add(&self, name: &str, place: Option<FilePlace>, written: bool) -> Result<()> {
        // A terminal, and what takes all and keeps nothing, may have any role.
        let Some(place) = place else {
            return Ok(());
        };
        let mut named = self.named.lock().unwrap_or_else(PoisonError::into_inner);
        for other in named.iter().filter(|other| other.place == place) {
            let taken = &*other.name;
            return Err(match (other.written, written) {
                // Several inputs may be one file, and a pipe may be read and written.
                (false, false) => continue,
                (true, false) | (false, true) if !place.is_file() => continue,
                (true, false) => lost(taken, name),
                (false, true) => lost(name, taken),
                (true, true) if taken == PRINTED => usage(format_args!(
                    "{name} is standard output, where the results go: name a file"
                )),
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

/// Words about a file beside data at `path` that may have their queries, as LightGBM and XGBoost have it.
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
