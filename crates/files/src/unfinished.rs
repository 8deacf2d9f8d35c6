//! Files and folders on their way to a name.
//!
//! Until it is complete, each is `.rankrls-` and six drawn letters, in the folder of its name. It goes if it is
//! dropped, and if a signal [ends](take_away) the process. A kill, or a second signal, may leave it. Nothing reads it then, and no later
//! run takes it away: it may be somebody else's.

use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tempfile::{Builder, TempDir, TempPath};

/// The name of all that is unfinished begins so.
const PREFIX: &str = ".rankrls-";

/// What this process has begun, and neither completed nor given up.
static BEGUN: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn begun() -> MutexGuard<'static, Vec<PathBuf>> {
    BEGUN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Held while names are taken.
static NAMING: Mutex<()> = Mutex::new(());

/// Keeps a signal waiting that would [take away](take_away) what is unfinished: files that belong together take their
/// names meanwhile, in place of older ones.
pub fn naming() -> MutexGuard<'static, ()> {
    NAMING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Takes away all that is unfinished. The process has to end then: its files and folders are gone, and threads that
/// begin others, or give them names, wait for the end.
pub fn take_away() {
    mem::forget(naming());
    let mut begun = begun();
    for path in begun.drain(..) {
        if fs::remove_file(&path).is_err() {
            remove_folder(&path);
        }
    }
    mem::forget(begun);
}

/// Removes a folder in which another thread may still rename a file.
fn remove_folder(path: &Path) {
    const TRIES: usize = 100;
    let is_gone = || match fs::remove_dir_all(path) {
        Ok(()) => true,
        Err(error) => error.kind() == ErrorKind::NotFound && !path.exists(),
    };
    let _gone = (0..TRIES).any(|_| is_gone());
}

/// Something begun, until it is dropped.
#[derive(Debug)]
struct Begun(PathBuf);

impl Begun {
    /// Begins what `create` makes, which is at `path`.
    fn new<T>(
        create: impl FnOnce() -> io::Result<T>,
        path: impl FnOnce(&T) -> PathBuf,
    ) -> io::Result<(T, Self)> {
        let mut begun = begun();
        let created = create()?;
        let path = path(&created);
        begun.push(path.clone());
        Ok((created, Self(path)))
    }
}

impl Drop for Begun {
    fn drop(&mut self) {
        begun().retain(|path| *path != self.0);
    }
}

/// A file that takes a name once it is complete. It replaces the file of that name.
#[derive(Debug)]
pub(crate) struct Unfinished {
    file: File,
    /// Its own name, until it has another.
    standby: Option<(TempPath, Begun)>,
    path: PathBuf,
}

impl Unfinished {
    /// Begins the file for `path`, which leads to it without links.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let replaced = match fs::symlink_metadata(path) {
            Ok(found) => Some(found).filter(Metadata::is_file),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        let mut builder = Builder::new();
        builder.prefix(PREFIX);
        let begin = |name: &Path| Begun::new(|| options.open(name), |_| name.to_owned());
        let ((file, begun), standby) = builder.make_in(folder(path), begin)?.into_parts();
        if let Some(replaced) = replaced {
            take_rights(&file, &replaced)?;
        }
        Ok(Self {
            file,
            standby: Some((standby, begun)),
            path: path.to_owned(),
        })
    }

    /// Where its content goes.
    pub(crate) fn content(&mut self) -> &mut File {
        &mut self.file
    }

    /// Has the disk keep the content.
    pub(crate) fn complete(&self) -> io::Result<()> {
        self.file.sync_all()
    }

    /// Deletes the file that has the name.
    pub(crate) fn make_room(&self) -> io::Result<()> {
        fs::remove_file(&self.path).or_else(|error| match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })
    }

    /// Takes the name.
    pub(crate) fn appear(&mut self) -> io::Result<()> {
        match self.standby.take() {
            Some((standby, _begun)) => Ok(standby.persist(&self.path)?),
            None => Ok(()),
        }
    }

    /// Takes the name, if nothing has it.
    pub(crate) fn appear_first(&mut self) -> io::Result<()> {
        match self.standby.take() {
            Some((standby, _begun)) => Ok(standby.persist_noclobber(&self.path)?),
            None => Ok(()),
        }
    }

    /// Has the disk keep the name, where it can.
    pub(crate) fn sync_name(&self) -> io::Result<()> {
        sync_folder(folder(&self.path))
    }

    /// Takes the file away, which a folder may refuse.
    pub(crate) fn give_up(self) -> io::Result<()> {
        let closed = self.standby.map(|(standby, _begun)| standby.close());
        closed.unwrap_or(Ok(()))
    }

    /// The file itself, once it has its name.
    pub(crate) fn into_file(self) -> File {
        self.file
    }
}

/// Takes the owner, where this process may, and the rights of the file that is replaced.
fn take_rights(file: &File, replaced: &Metadata) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::{MetadataExt, fchown};

        // Nobody but root gives files away.
        let _ = fchown(file, Some(replaced.uid()), Some(replaced.gid()));
    }
    file.set_permissions(replaced.permissions())
}

fn folder(path: &Path) -> &Path {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// Has the disk keep the names in a folder, where it can.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    let Ok(folder) = File::open(folder) else {
        return Ok(());
    };
    folder.sync_all().or_else(|error| match error.kind() {
        ErrorKind::InvalidInput | ErrorKind::Unsupported => Ok(()),
        _ => Err(error),
    })
}

/// A folder that takes a name once all its files are complete, in place of the folder that has it.
#[derive(Debug)]
pub struct UnfinishedFolder {
    folder: TempDir,
    _begun: Begun,
    path: PathBuf,
}

impl UnfinishedFolder {
    /// Begins the folder for `path`, which leads to it without links.
    pub fn create(path: &Path) -> io::Result<Self> {
        let mut builder = Builder::new();
        builder.prefix(PREFIX);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;

            builder.permissions(fs::Permissions::from_mode(0o777));
        }
        let create = || builder.tempdir_in(folder(path));
        let (folder, begun) = Begun::new(create, |folder| folder.path().to_owned())?;
        Ok(Self {
            _begun: begun,
            folder,
            path: path.to_owned(),
        })
    }

    /// The folder, until it has its name.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Takes the name. An older folder goes.
    pub fn appear(self) -> io::Result<()> {
        sync_folder(self.folder.path())?;
        let _naming = naming();
        if self.path.exists() && exchange(self.folder.path(), &self.path).is_ok() {
            // The older one has the other name now.
            self.folder.close()?;
        } else if self.path.exists() {
            // The older one is set aside, and is there again where this fails.
            let aside = Self::create(&self.path)?;
            let older = aside.path().join("older");
            fs::rename(&self.path, &older)?;
            fs::rename(self.folder.path(), &self.path)
                .inspect_err(|_| drop(fs::rename(&older, &self.path)))?;
            aside.folder.close()?;
        } else {
            fs::rename(self.folder.path(), &self.path)?;
        }
        sync_folder(folder(&self.path))
    }
}

/// Exchanges two folders at once, where the system can.
#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn names_of_any_length_are_taken() {
        let folder = tempfile::tempdir().unwrap();
        for length in [1, 16, 244, 250, 254, 255] {
            let path = folder.path().join("n".repeat(length));
            let mut file = Unfinished::create(&path).unwrap();
            file.content().write_all(b"new").unwrap();
            file.complete().unwrap();
            file.appear().unwrap();
            file.sync_name().unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"new", "{length}");
        }
        assert_eq!(names(folder.path()).len(), 6);
        let long = folder.path().join("n".repeat(256));
        assert_eq!(
            Unfinished::create(&long).unwrap_err().kind(),
            ErrorKind::InvalidFilename
        );
    }

    /// Whatever has a name like those of unfinished files stays; files at work have names of their own.
    #[test]
    fn unfinished_files_go_and_take_nothing_away() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let kept = [".file.rankrls-0", ".rankrls-0"];
        for name in kept {
            fs::write(folder.path().join(name), "data").unwrap();
        }
        let (first, second) = (Unfinished::create(&path), Unfinished::create(&path));
        assert_eq!(names(folder.path()).len(), 4);
        drop(first);
        second.unwrap().give_up().unwrap();
        assert_eq!(names(folder.path()), kept);
        let mut late = Unfinished::create(&path).unwrap();
        fs::write(&path, "of another process").unwrap();
        let refused = late.appear_first().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::AlreadyExists);
        assert_eq!(fs::read(&path).unwrap(), b"of another process");
        assert_eq!(names(folder.path()).len(), 3);
    }

    #[test]
    fn a_folder_takes_the_place_of_an_older_one() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c");
        for text in ["first", "second"] {
            let part = UnfinishedFolder::create(&path).unwrap();
            fs::write(part.path().join("file"), text).unwrap();
            let before = fs::read(path.join("file")).unwrap_or_default();
            assert_ne!(before, text.as_bytes());
            part.appear().unwrap();
            assert_eq!(fs::read(path.join("file")).unwrap(), text.as_bytes());
            assert_eq!(names(folder.path()), ["c"]);
        }
    }

    #[cfg(unix)]
    #[test]
    fn rights_are_those_of_the_old_file() {
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for mode in [0o600, 0o444, 0o664] {
            fs::write(&path, "old").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            let mut file = Unfinished::create(&path).unwrap();
            file.complete().unwrap();
            file.appear().unwrap();
            let found = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(found & 0o777, mode);
            fs::remove_file(&path).unwrap();
        }
    }
}
