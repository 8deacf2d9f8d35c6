//! A file on its way to a name.
//!
//! Linux has files without names, which are gone however the process ends. Where there are none, and for the moment
//! before it takes its name, the file is `.NAME.rankrls-0` in the same folder, or a hash in place of a long name. A
//! killed run may leave that; the next one that writes NAME takes it away, as nobody has its lock.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use crate::location::is_at;

/// A file that takes a name once it is complete, in place of what has it; it is gone if it is dropped.
#[derive(Debug)]
pub(crate) struct Unfinished {
    file: File,
    path: PathBuf,
    /// The name that it has until then, if it has one.
    standby: Option<PathBuf>,
}

impl Unfinished {
    /// Begins the file for `path`, which leads to it without links.
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let replaced = match fs::symlink_metadata(path) {
            Ok(found) => Some(found),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let (standby, file) = if let Ok(file) = unnamed(path) {
            (None, file)
        } else {
            let (name, file) = beside(path, named)?;
            (Some(name), file)
        };
        let (path, found) = (path.to_owned(), file.metadata());
        let unfinished = Self {
            file,
            path,
            standby,
        };
        if let Some(replaced) = replaced {
            check_replaceable(&unfinished.path, &replaced, &found?)?;
            unfinished.take_rights(&replaced)?;
        }
        Ok(unfinished)
    }

    /// Where its content goes.
    pub(crate) fn content(&mut self) -> &mut File {
        &mut self.file
    }

    /// Gives the file, if it has none, the name that it has until it is complete.
    pub(crate) fn stand_by(&mut self) -> io::Result<()> {
        if self.standby.is_none() {
            let (name, ()) = beside(&self.path, |name| link(&self.file, name))?;
            self.standby = Some(name);
        }
        Ok(())
    }

    /// Has the disk keep the content.
    pub(crate) fn complete(&mut self) -> io::Result<()> {
        self.file.sync_all()?;
        if self.standby.is_none() {
            self.stand_by()?;
            // Some file systems keep nothing that has no name.
            self.file.sync_data()?;
        }
        Ok(())
    }

    /// Takes away what has the name.
    pub(crate) fn make_room(&self) -> io::Result<()> {
        fs::remove_file(&self.path).or_else(|error| match error.kind() {
            ErrorKind::NotFound => Ok(()),
            _ => Err(error),
        })
    }

    /// Takes the name.
    pub(crate) fn appear(&mut self) -> io::Result<()> {
        if let Some(name) = &self.standby {
            fs::rename(name, &self.path)?;
            self.standby = None;
        }
        Ok(())
    }

    /// Has the disk keep the name, where it can.
    pub(crate) fn sync_name(&self) -> io::Result<()> {
        if !cfg!(unix) {
            return Ok(());
        }
        let Ok(folder) = File::open(folder(&self.path)) else {
            return Ok(());
        };
        folder.sync_all().or_else(|error| match error.kind() {
            ErrorKind::InvalidInput | ErrorKind::Unsupported => Ok(()),
            _ => Err(error),
        })
    }

    /// Takes the file away, which a folder may refuse.
    pub(crate) fn give_up(&mut self) -> io::Result<()> {
        self.standby.take().map_or(Ok(()), fs::remove_file)
    }

    /// Takes the owner, where this process may, and the rights of the file that it replaces.
    fn take_rights(&self, replaced: &Metadata) -> io::Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};

            // Nobody but root gives files away.
            let _ = fchown(&self.file, Some(replaced.uid()), Some(replaced.gid()));
        }
        self.file.set_permissions(replaced.permissions())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = self.give_up();
    }
}

fn folder(path: &Path) -> &Path {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    folder.unwrap_or(Path::new("."))
}

/// The file that `make` makes of a name beside `path` that nothing has. What a killed run has left is taken away.
fn beside<T>(path: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(PathBuf, T)> {
    let own = path.file_name().unwrap_or_default();
    let (mut own, mut number) = (OsString::from(own), 0);
    loop {
        let mut name = OsString::from(".");
        name.push(&own);
        name.push(format!(".rankrls-{number}"));
        let name = path.with_file_name(name);
        match make(&name) {
            Ok(made) => return Ok((name, made)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                // Another run may be at work on it.
                number += u64::from(!is_taken_away(&name));
            }
            Err(error) if error.kind() == ErrorKind::InvalidFilename && own.len() > HASH => {
                let hash = blake3::hash(own.as_encoded_bytes()).to_hex();
                own = OsString::from(&hash[..HASH]);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Letters of a hash that stands for a name.
const HASH: usize = 16;

/// Takes away what a killed run has left: no process has its lock.
fn is_taken_away(name: &Path) -> bool {
    let is_file = fs::symlink_metadata(name).is_ok_and(|found| found.is_file());
    let file = File::open(name).ok().filter(|_| is_file);
    file.is_some_and(|file| {
        file.try_lock().is_ok() && is_at(&file, name) && fs::remove_file(name).is_ok()
    })
}

/// A new file that this process has the lock of.
fn named(name: &Path) -> io::Result<File> {
    let file = File::create_new(name)?;
    // Without locks, nobody takes it away.
    let _ = file.try_lock();
    if is_at(&file, name) {
        return Ok(file);
    }
    // Another process took it for left.
    Err(ErrorKind::AlreadyExists.into())
}

/// A file without a name that can take one, in the folder of `path`.
#[cfg(target_os = "linux")]
fn unnamed(path: &Path) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags, open};

    let flags = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let file = File::from(open(folder(path), flags, Mode::from_raw_mode(0o666))?);
    let _ = file.try_lock();
    // Systems without /proc cannot give it a name.
    fs::symlink_metadata(descriptor(&file)).map(|_| file)
}

#[cfg(target_os = "linux")]
fn descriptor(file: &File) -> String {
    use std::os::fd::AsRawFd;

    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Gives a file without a name this one.
#[cfg(target_os = "linux")]
fn link(file: &File, name: &Path) -> io::Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};

    Ok(linkat(
        CWD,
        descriptor(file),
        CWD,
        name,
        AtFlags::SYMLINK_FOLLOW,
    )?)
}

/// Refuses a file of a name that no other file can take, where the system tells: `new` is of this process.
#[cfg(target_os = "linux")]
fn check_replaceable(path: &Path, old: &Metadata, new: &Metadata) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt;

    use rustix::fs::{AtFlags, CWD, StatxAttributes, StatxFlags, statx};

    let refused = |text| Err(io::Error::new(ErrorKind::PermissionDenied, text));
    let found = statx(CWD, path, AtFlags::SYMLINK_NOFOLLOW, StatxFlags::empty());
    let attributes = found.map_or(StatxAttributes::empty(), |found| found.stx_attributes);
    if attributes.contains(StatxAttributes::MOUNT_ROOT) {
        return refused("a file that is mounted is not replaced: mount its folder");
    }
    if attributes.intersects(StatxAttributes::IMMUTABLE | StatxAttributes::APPEND) {
        return refused("an attribute of the file keeps it from being replaced (lsattr, chattr)");
    }
    let folder = fs::metadata(folder(path))?;
    let (sticky, own) = (folder.mode() & 0o1000 != 0, new.uid());
    if sticky && own != 0 && own != old.uid() && own != folder.uid() {
        return refused("in this folder, only its owner replaces a file");
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn unnamed(_: &Path) -> io::Result<File> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn link(_: &File, _: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

#[cfg(not(target_os = "linux"))]
fn check_replaceable(_: &Path, _: &Metadata, _: &Metadata) -> io::Result<()> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort_unstable();
        names
    }

    /// As it is begun where there are no files without names.
    fn with_name(path: &Path) -> Unfinished {
        let (name, file) = beside(path, named).unwrap();
        Unfinished {
            file,
            path: path.to_owned(),
            standby: Some(name),
        }
    }

    #[test]
    fn names_of_any_length_are_taken() {
        let folder = tempfile::tempdir().unwrap();
        for length in [1, 15, 16, 17, 244, 245, 246, 247, 248, 249, 254, 255] {
            let path = folder.path().join("n".repeat(length));
            for mut file in [Unfinished::create(&path).unwrap(), with_name(&path)] {
                file.content().write_all(b"new").unwrap();
                file.complete().unwrap();
                file.appear().unwrap();
                file.sync_name().unwrap();
                assert_eq!(fs::read(&path).unwrap(), b"new", "{length}");
            }
        }
        assert_eq!(names(folder.path()).len(), 12);
        let long = folder.path().join("n".repeat(256));
        assert_eq!(
            Unfinished::create(&long).unwrap_err().kind(),
            ErrorKind::InvalidFilename
        );
    }

    #[test]
    fn what_a_kill_has_left_goes_and_files_at_work_stay() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        for begin in [
            |path: &Path| Unfinished::create(path).unwrap(),
            |path: &Path| with_name(path),
        ] {
            // A killed process gives its lock back, and leaves the file.
            let left = folder.path().join(".file.rankrls-0");
            fs::write(&left, "half").unwrap();
            let mut first = begin(&path);
            first.stand_by().unwrap();
            let mut second = begin(&path);
            second.stand_by().unwrap();
            assert_eq!(first.standby.as_ref(), Some(&left));
            assert_eq!(names(folder.path()), [".file.rankrls-0", ".file.rankrls-1"]);
            drop((first, second));
            assert!(names(folder.path()).is_empty());
        }
        // A folder of this name is nobody's file.
        fs::create_dir(folder.path().join(".file.rankrls-0")).unwrap();
        let mut file = Unfinished::create(&path).unwrap();
        file.complete().unwrap();
        file.appear().unwrap();
        assert_eq!(names(folder.path()), [".file.rankrls-0", "file"]);
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
