//! Where paths lead: two paths may name one file, and a descriptor is a file without a path.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// The identity of a file or folder, by whatever path it is reached.
#[cfg(unix)]
type Identity = (u64, u64);

/// The identity of a file or folder: its path without links.
#[cfg(not(unix))]
type Identity = PathBuf;

#[cfg(unix)]
#[expect(
    clippy::unnecessary_wraps,
    reason = "other systems may not know the path"
)]
fn identity(_: &Path, metadata: &Metadata) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;

    Some((metadata.dev(), metadata.ino()))
}

#[cfg(not(unix))]
fn identity(path: &Path, _: &Metadata) -> Option<Identity> {
    fs::canonicalize(path).ok()
}

/// The identity of what is at `path`, links followed.
fn identity_at(path: &Path) -> Option<Identity> {
    identity(path, &fs::metadata(path).ok()?)
}

/// Where a path leads that names a regular file, or one that is not there yet.
#[derive(Debug, Clone)]
pub struct Location {
    /// The path without links; none for a descriptor of a file that has lost its name.
    path: Option<PathBuf>,
    /// The folder and the name in it: a hard link has others.
    entry: Option<(Identity, OsString)>,
    /// The file, if it is there.
    file: Option<Identity>,
    /// Whether it is a descriptor: what is written goes into this file, whatever its names are.
    descriptor: bool,
}

impl Location {
    /// Where `path` leads; `None` for a folder, a pipe and a device, and where there is no such
    /// folder.
    pub fn of(path: &Path) -> Option<Self> {
        let end = end(path).ok()?;
        let metadata = fs::metadata(&end).ok();
        if metadata.as_ref().is_some_and(|found| !found.is_file()) {
            return None;
        }
        let file = metadata.and_then(|found| identity(&end, &found));
        let descriptor = is_descriptor(&end);
        let path = match fs::canonicalize(&end) {
            Ok(path) => Some(path).filter(|path| !is_descriptor(path)),
            Err(_) => (!descriptor).then_some(end),
        };
        Some(Self::new(path, file, descriptor))
    }

    fn new(path: Option<PathBuf>, file: Option<Identity>, descriptor: bool) -> Self {
        let entry = |path: &PathBuf| {
            let folder = identity_at(path.parent()?)?;
            Some((folder, path.file_name()?.to_owned()))
        };
        Self {
            entry: path.as_ref().and_then(entry),
            path,
            file,
            descriptor,
        }
    }

    /// The regular file that standard input comes from, if it does.
    pub fn stdin() -> Option<Self> {
        standard::location(io::stdin(), "/dev/fd/0")
    }

    /// The regular file that standard output goes to, if it does.
    pub fn stdout() -> Option<Self> {
        standard::location(io::stdout(), "/dev/fd/1")
    }

    /// Whether this file would be lost if `output` were written: it has this name, or it is written
    /// to directly. Another name of the file, a hard link, is replaced alone.
    pub fn is_lost_by(&self, output: &Self) -> bool {
        let name = self.entry.is_some() && self.entry == output.entry;
        let file = self.file.is_some() && self.file == output.file;
        name || file && (output.descriptor || self.entry.is_none())
    }

    /// Whether it is in `folder`, or in a folder of that.
    pub fn is_within(&self, folder: &Path) -> bool {
        let (Some(path), Some(folder)) = (&self.path, identity_at(folder)) else {
            return false;
        };
        let mut above = path.ancestors().skip(1).filter_map(identity_at);
        above.any(|above| above == folder)
    }
}

/// Whether `path` is the descriptor of standard output, or another way to the same file or pipe.
pub fn is_stdout(path: &Path) -> bool {
    standard::is_stdout(path)
}

/// Links that are followed before they count as a circle.
const MOST_LINKS: usize = 40;

/// The path at which `path` ends, links followed: also to a file that is not there yet, but not from
/// a descriptor to what it was opened by.
pub(crate) fn end(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        let Some(name) = path.file_name() else {
            return fs::canonicalize(path);
        };
        let parent = path.parent().filter(|path| !path.as_os_str().is_empty());
        let folder = fs::canonicalize(parent.unwrap_or(Path::new(".")))?;
        let here = folder.join(name);
        if is_descriptor(&here) {
            return Ok(here);
        }
        match fs::read_link(&here) {
            Ok(target) => path = folder.join(target),
            Err(_) => return Ok(here),
        }
    }
    Err(io::Error::other("too many links, one to the next"))
}

/// Whether a path without links is that of a descriptor: `/proc/42/fd/1`, `/dev/fd/1`.
fn is_descriptor(path: &Path) -> bool {
    let is_number = |name: &OsStr| {
        let name = name.as_encoded_bytes();
        !name.is_empty() && name.iter().all(u8::is_ascii_digit)
    };
    let (Some(name), Some(folder)) = (path.file_name(), path.parent()) else {
        return false;
    };
    let of_process = folder.starts_with("/proc") && folder.ends_with("fd");
    cfg!(unix) && is_number(name) && (of_process || folder == Path::new("/dev/fd"))
}

/// Opens what `path`, without links, is a descriptor of; `None` if it is of none. What was written
/// before stays: writing goes on at the end.
pub(crate) fn open_descriptor(path: &Path) -> io::Result<Option<File>> {
    if !is_descriptor(path) {
        return Ok(None);
    }
    match standard::opened(path) {
        Some(file) => file.map(Some),
        // A descriptor that is opened by its name would begin at the start of the file.
        None => File::options().append(true).open(path).map(Some),
    }
}

/// Standard input and output.
#[cfg(unix)]
mod standard {
    use std::os::fd::AsFd;

    use super::{File, Location, Path, end, fs, identity, identity_at, io, is_descriptor};

    fn duplicate(descriptor: impl AsFd) -> io::Result<File> {
        descriptor.as_fd().try_clone_to_owned().map(File::from)
    }

    /// The regular file behind a descriptor of this process that is called `name`, too.
    pub(super) fn location(descriptor: impl AsFd, name: &str) -> Option<Location> {
        let name = Path::new(name);
        let metadata = duplicate(descriptor).ok()?.metadata().ok()?;
        let file = identity(name, &metadata).filter(|_| metadata.is_file())?;
        // The name may have gone to another file since.
        let path = fs::canonicalize(name).ok();
        let path = path.filter(|path| !is_descriptor(path) && identity_at(path) == Some(file));
        Some(Location::new(path, Some(file), true))
    }

    /// The number of a descriptor of this process; `path` is without links.
    fn own(path: &Path) -> Option<u32> {
        let process = fs::canonicalize("/proc/self").ok();
        let own = process.is_some_and(|process| path.starts_with(process));
        let own = is_descriptor(path) && (own || path.starts_with("/dev/fd"));
        path.file_name()?.to_str()?.parse().ok().filter(|_| own)
    }

    /// Another descriptor for standard input, output or error, if `path` is one of them.
    pub(super) fn opened(path: &Path) -> Option<io::Result<File>> {
        match own(path)? {
            0 => Some(duplicate(io::stdin())),
            1 => Some(duplicate(io::stdout())),
            2 => Some(duplicate(io::stderr())),
            _ => None,
        }
    }

    pub(super) fn is_stdout(path: &Path) -> bool {
        use std::os::unix::fs::FileTypeExt;

        let named = end(path).is_ok_and(|path| own(&path) == Some(1));
        let Some(stdout) = duplicate(io::stdout())
            .and_then(|file| file.metadata())
            .ok()
        else {
            return named;
        };
        // A terminal, or what takes all and keeps nothing, may have any role.
        let kept = !stdout.file_type().is_char_device();
        named || kept && identity_at(path).is_some_and(|at| identity(path, &stdout) == Some(at))
    }
}

/// Standard input and output have no names here.
#[cfg(not(unix))]
mod standard {
    use super::{File, Location, Path, io};

    pub(super) fn location<D>(_: D, _: &str) -> Option<Location> {
        None
    }

    pub(super) fn opened(_: &Path) -> Option<io::Result<File>> {
        None
    }

    pub(super) fn is_stdout(_: &Path) -> bool {
        false
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_known_by_whatever_path() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("sub")).unwrap();
        fs::write(at("file"), "").unwrap();
        fs::write(at("other"), "").unwrap();
        fs::hard_link(at("file"), at("hard")).unwrap();
        symlink(at("file"), at("link")).unwrap();
        symlink("../link", at("sub/second")).unwrap();
        symlink(".", at("here")).unwrap();
        symlink("sub/new", at("dangling")).unwrap();
        symlink("around", at("around")).unwrap();
        let file = Location::of(&at("file")).unwrap();
        for name in [
            "file",
            "./file",
            "sub/../file",
            "link",
            "sub/second",
            "here/link",
        ] {
            let same = Location::of(&at(name)).unwrap();
            assert!(file.is_lost_by(&same), "{name}");
            assert!(same.is_lost_by(&file), "{name}");
            assert!(!same.is_within(&at("sub")), "{name}");
            assert!(same.is_within(&at("here")), "{name}");
        }
        // The other name of a hard link stays.
        for name in ["hard", "other", "sub/file", "new"] {
            let other = Location::of(&at(name)).unwrap();
            assert!(!file.is_lost_by(&other), "{name}");
        }
        let new = Location::of(&at("sub/new")).unwrap();
        assert!(Location::of(&at("dangling")).unwrap().is_lost_by(&new));
        assert!(new.is_within(&at("sub")));
        for path in [
            at("sub"),
            at("around"),
            at("absent/file"),
            "/dev/null".into(),
        ] {
            assert!(Location::of(&path).is_none(), "{}", path.display());
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_descriptor_is_the_file_that_it_was_opened_by() {
        use std::io::{Read as _, Write as _};
        use std::os::fd::AsRawFd;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old\n").unwrap();
        let hard = folder.path().join("hard");
        fs::hard_link(&path, &hard).unwrap();
        let file = File::options().read(true).append(true).open(&path).unwrap();
        for of in ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"] {
            let name = Path::new(of).join(file.as_raw_fd().to_string());
            let descriptor = Location::of(&name).unwrap();
            let named = Location::of(&path).unwrap();
            assert!(named.is_lost_by(&descriptor) && descriptor.is_lost_by(&named));
            // Written to, it changes the file under all its names.
            let other = Location::of(&hard).unwrap();
            assert!(other.is_lost_by(&descriptor) && !descriptor.is_lost_by(&other));
            let mut opened = open_descriptor(&end(&name).unwrap()).unwrap().unwrap();
            opened.write_all(b"new\n").unwrap();
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), "old\nnew\nnew\nnew\n");
        let name = Path::new("/dev/fd").join(file.as_raw_fd().to_string());
        fs::remove_file(&path).unwrap();
        let nameless = Location::of(&name).unwrap();
        assert!(nameless.is_lost_by(&Location::of(&hard).unwrap()));
        let mut text = String::new();
        (&file).read_to_string(&mut text).unwrap();
        assert_eq!(text.lines().count(), 4);
        assert!(open_descriptor(&hard).unwrap().is_none());
    }
}
