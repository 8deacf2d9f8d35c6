//! The targets of results: standard output and files, as text and JSON.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rankrls::data::{CompleteOutput, Output};
use rankrls_files::{naming, write_json};
use serde::Serialize;

use super::console::Console;
use super::files::{Files, NamedFiles, Stdout};
use super::numbers::{printable, printable_lines};

impl Stdout {
    /// Writes to standard output. A pipe that its reader closed, such as `head`, is not an error.
    pub(crate) fn print(&self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        let mut output = BufWriter::new(self.lock());
        let written = write(&mut output).and_then(|()| output.flush());
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                // The rest of the buffer would fail again.
                let _ = output.into_parts();
                Ok(())
            }
            written => written.context("cannot write to standard output"),
        }
    }

    /// Prints text for people, with characters from outside escaped.
    pub(crate) fn print_text(&self, text: &str) -> Result<()> {
        self.print(|output| output.write_all(printable_lines(text).as_bytes()))
    }

    /// Prints a document, over several lines.
    pub(crate) fn print_json(&self, document: &impl Serialize) -> Result<()> {
        self.print(|output| write_json(output, document))
    }
}

/// A file that was found writable before the work began, or standard output.
#[derive(Debug)]
pub(crate) struct OutputFile {
    path: PathBuf,
    target: Target,
    files: NamedFiles,
}

#[derive(Debug)]
enum Target {
    /// Standard output.
    Printed(Stdout),
    /// A pipe or device, opened once.
    Opened(Box<Output>),
    /// A file in the place of its path at the start, created when it is written.
    File(PathBuf),
}

impl OutputFile {
    /// The file of the argument `name`, distinct from all other `files`.
    pub(crate) fn create(files: &Files, name: &str, path: &Path) -> Result<Self> {
        let printed = files.writes(name, path)?.map(Target::Printed);
        Ok(Self {
            files: files.named(),
            path: path.to_path_buf(),
            target: printed.map_or_else(|| Target::open(path), Ok)?,
        })
    }

    /// Whether it is printed.
    pub(crate) fn is_printed(&self) -> bool {
        matches!(self.target, Target::Printed(_))
    }

    /// Writes the file, which appears when all is written.
    pub(crate) fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        appear([self.complete(write)])
    }

    /// Writes the file, which is to [`appear`]; `None` if it is printed.
    pub(crate) fn complete(
        self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Option<CompleteFile>> {
        let Self {
            path,
            target,
            files,
        } = self;
        let mut replaced = None;
        let output = match target {
            Target::Printed(stdout) => return stdout.print(write).map(|()| None),
            Target::Opened(output) => Ok(*output),
            Target::File(end) => {
                let output = Output::create_at(&path, &end);
                replaced = Some((end, files));
                output
            }
        };
        let written = output.and_then(|mut output| {
            write(&mut output)?;
            output.complete()
        });
        match written {
            Ok(output) => Ok(Some(CompleteFile {
                path,
                replaced,
                output,
            })),
            Err(error) => Err(error).with_context(|| refusal(&path)),
        }
    }
}

impl Target {
    /// A file, found writable, or a pipe or device.
    fn open(path: &Path) -> Result<Self> {
        let special = fs::metadata(path).is_ok_and(|metadata| !metadata.is_file());
        let opened = if special {
            Output::create(path).map(|output| Self::Opened(Box::new(output)))
        } else {
            Output::check(path).map(Self::File)
        };
        opened.with_context(|| refusal(path))
    }
}

/// A file to write, if one was asked for.
#[derive(Debug)]
pub(crate) struct Destination(Option<OutputFile>);

impl Destination {
    /// The file of an option, found writable before the work begins.
    pub(crate) fn create(files: &Files, name: &str, path: Option<&PathBuf>) -> Result<Self> {
        let file = path.map(|path| OutputFile::create(files, name, path));
        Ok(Self(file.transpose()?))
    }

    /// Writes the file, if there is one.
    pub(crate) fn write(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        appear([self.complete(write)])
    }

    /// Writes the file, if there is one, which is to [`appear`].
    pub(crate) fn complete(
        self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<Option<CompleteFile>> {
        self.0.map_or(Ok(None), |file| file.complete(write))
    }
}

/// A complete file, still without its name.
#[derive(Debug)]
pub(crate) struct CompleteFile {
    path: PathBuf,
    /// The name that it takes if it replaces a file, and the files that it must not replace.
    replaced: Option<(PathBuf, NamedFiles)>,
    output: CompleteOutput,
}

impl CompleteFile {
    /// Whether it would take the place of another file.
    fn has_older(&self) -> bool {
        let name = self.replaced.as_ref().map(|(name, _)| name);
        name.is_some_and(|name| fs::symlink_metadata(name).is_ok())
    }

    /// Refuses to replace a file that the run reads.
    fn check(&self) -> Result<()> {
        let replaced = self.replaced.as_ref();
        let checked = replaced.map_or(Ok(()), |(end, files)| files.check_replaced(end));
        checked.with_context(|| refusal(&self.path))
    }
}

/// Gives files their names when all are written. Deletes the other old files, then renames the new ones, so no old
/// file stands beside a new one. Failed files are errors, of which the first counts; the others still appear.
pub(crate) fn appear(files: impl IntoIterator<Item = Result<Option<CompleteFile>>>) -> Result<()> {
    let (mut complete, mut all) = (Vec::new(), Ok(()));
    for file in files {
        let checked = file.and_then(|file| match &file {
            Some(found) => found.check().map(|()| file),
            None => Ok(None),
        });
        match checked {
            Ok(file) => complete.extend(file),
            Err(error) => all = all.and(Err(error)),
        }
    }
    let naming = naming();
    for CompleteFile { path, output, .. } in complete.iter().skip(1) {
        all = all.and(output.make_room().with_context(|| refusal(path)));
    }
    for CompleteFile { path, output, .. } in &mut complete {
        all = all.and(output.appear().with_context(|| refusal(path)));
    }
    drop(naming);
    for CompleteFile { path, output, .. } in complete {
        all = all.and(output.sync().with_context(|| refusal(&path)));
    }
    all
}

/// Gives files their names. An `interrupted` run replaces no file, because a finished run may have written it.
pub(crate) fn appear_after<const N: usize>(
    interrupted: bool,
    files: [Result<Option<CompleteFile>>; N],
    console: Console,
) -> Result<()> {
    let mut complete = files.iter().flatten().flatten();
    let kept = complete.find(|file| interrupted && file.has_older());
    let Some(kept) = kept else {
        return appear(files);
    };
    let path = printable(&kept.path.display().to_string());
    console.warn(format_args!(
        "interrupted: {path} is there already and stays, and files beside it were not written"
    ));
    files.into_iter().try_for_each(|file| file.map(drop))
}

fn refusal(path: &Path) -> String {
    format!("cannot write to {}", path.display())
}
