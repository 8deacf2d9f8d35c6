//! The unfinished work of a run, beside its output: `OUTPUT.part`.
//!
//! The work is a regular file, which appears whole or not at all. One process locks it before it has its name,
//! until it is deleted. Anything else of this name is reported, and neither opened nor deleted.

use std::fs::{self, File, Metadata, TryLockError};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::Remedy;
use crate::error::{Fault, ReadError};
use crate::location::is_at;
use crate::unfinished::Unfinished;

/// The remedy where something else has the name.
pub(crate) const OTHER: &str = "it is something else: move it away, or name another output";

/// The unfinished work beside an output, for this process alone.
#[derive(Debug)]
pub struct Part {
    path: PathBuf,
    /// The file, if there is one. This process holds its lock.
    file: Option<File>,
}

impl Part {
    /// Its path: the `output` with `.part` behind its name.
    pub fn path_of(output: &Path) -> PathBuf {
        // Drops a slash at the end, which folders may have.
        let output: PathBuf = output.components().collect();
        let mut path = output.into_os_string();
        path.push(".part");
        path.into()
    }

    /// Opens the work beside `output`, if there is any. Refuses work that another process holds, and anything but a
    /// regular file.
    pub fn open(output: &Path) -> Result<Self, ReadError> {
        let path = Self::path_of(output);
        let name = path.display().to_string();
        let file = match fs::symlink_metadata(&path) {
            Ok(found) if found.is_file() => {
                let opened = File::options().read(true).write(true).open(&path);
                let file = opened.map_err(|error| Fault::io(&error).of(&name))?;
                lock(&file, &path)?;
                Some(file)
            }
            Ok(found) => return Err(Self { path, file: None }.other(kind(&found))),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(Fault::io(&error).of(&name)),
        };
        Ok(Self { path, file })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file, if there is one.
    pub fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// The refusal of a run that must not go on with this work, which was `found`.
    pub fn refusal(&self, found: impl Into<String>) -> ReadError {
        let fault = Fault::new("no unfinished work", found).remedy(Remedy::Resume);
        fault.of(&self.path.display().to_string())
    }

    /// The refusal of something else under this name, which was `found`.
    pub fn other(&self, found: &str) -> ReadError {
        let fault = Fault::new("no unfinished work, or a file of it", found).remedy(OTHER);
        fault.of(&self.path.display().to_string())
    }

    /// Replaces the work by the text that `write` writes. Fails if another process has put a file there since.
    pub fn save(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let is_own = self
            .file
            .as_ref()
            .is_some_and(|file| is_at(file, &self.path));
        let mut next = Unfinished::create(&self.path)?;
        // Some file systems of clusters have no locks.
        let _ = next.content().try_lock();
        let mut buffer = io::BufWriter::new(next.content());
        write(&mut buffer)?;
        buffer.flush()?;
        drop(buffer);
        next.complete()?;
        if is_own {
            next.appear()?;
        } else {
            next.appear_first()?;
        }
        self.file = Some(next.into_file());
        Ok(())
    }

    /// Deletes the file, if it is still there: the work is done.
    pub fn remove(&mut self) -> io::Result<()> {
        let own = self.file.as_ref().filter(|file| is_at(file, &self.path));
        own.map_or(Ok(()), |_| fs::remove_file(&self.path))
    }
}

impl Drop for Part {
    /// Unlocks the file. Closing it is not enough: a child process that was just started may still have it open.
    fn drop(&mut self) {
        if let Some(file) = &self.file {
            let _ = file.unlock();
        }
    }
}

fn kind(found: &Metadata) -> &'static str {
    match found.file_type() {
        kind if kind.is_dir() => "a folder",
        kind if kind.is_symlink() => "a link",
        _ => "a pipe or a device",
    }
}

/// Locks the file until it is closed.
fn lock(file: &File, path: &Path) -> Result<(), ReadError> {
    let name = path.display().to_string();
    let in_use = || {
        let found = "another process at work on it";
        let fault = Fault::new("a file that no other process writes", found);
        fault.remedy("wait until it ends").of(&name)
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => return Err(in_use()),
        // Some file systems of clusters have no locks.
        Err(TryLockError::Error(error)) if error.kind() == ErrorKind::Unsupported => {}
        Err(TryLockError::Error(error)) => return Err(Fault::io(&error).of(&name)),
    }
    // The former holder of the lock may have deleted the file since it was opened.
    if is_at(file, path) {
        Ok(())
    } else {
        Err(in_use())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(text: &str) -> impl FnOnce(&mut dyn Write) -> io::Result<()> + '_ {
        |writer| writer.write_all(text.as_bytes())
    }

    #[test]
    fn one_process_has_the_work_until_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("model.json");
        let read = || fs::read_to_string(folder.path().join("model.json.part")).unwrap();
        let (mut first, mut second) = (Part::open(&output).unwrap(), Part::open(&output).unwrap());
        assert!(first.file().is_none());
        for text in ["one", "two"] {
            first.save(write(text)).unwrap();
            assert_eq!(read(), text);
            // The second run began before any file was there.
            let late = second.save(write("late")).unwrap_err();
            assert_eq!(late.kind(), ErrorKind::AlreadyExists);
            second.remove().unwrap();
            let error = Part::open(&output).unwrap_err().to_string();
            assert!(error.contains("another process at work"), "{error}");
            assert_eq!(read(), text);
        }
        drop(first);
        let mut next = Part::open(&output).unwrap();
        assert!(next.file().is_some());
        assert!(
            next.refusal("1 step")
                .to_string()
                .contains("found 1 step (")
        );
        next.save(write("three")).unwrap();
        assert_eq!(read(), "three");
        next.remove().unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    /// A file that somebody puts there during a run stays.
    #[test]
    fn files_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("model.json");
        let mut part = Part::open(&output).unwrap();
        part.save(write("own")).unwrap();
        fs::remove_file(part.path()).unwrap();
        fs::write(part.path(), "other").unwrap();
        assert!(part.save(write("more")).is_err());
        part.remove().unwrap();
        assert_eq!(fs::read(part.path()).unwrap(), b"other");
    }

    #[cfg(unix)]
    #[test]
    fn only_a_regular_file_is_opened() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let output = folder.path().join("m");
        let path = Part::path_of(&output);
        let refused = || {
            let error = Part::open(&output).unwrap_err().to_string();
            assert!(
                error.contains("m.part: expected no unfinished work"),
                "{error}"
            );
        };
        symlink("absent", &path).unwrap();
        refused();
        fs::remove_file(&path).unwrap();
        symlink("/dev/zero", &path).unwrap();
        refused();
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        refused();
        assert_eq!(Part::path_of(Path::new("a/c/")), Path::new("a/c.part"));
    }
}
