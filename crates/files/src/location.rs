//! Where paths lead. Two paths may name one file, and a descriptor is a file without a path.

use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// A file or a pipe, by any path or descriptor, or the place of a file that does not exist yet.
#[derive(Debug, PartialEq, Eq)]
pub struct FilePlace {
    /// The file itself, or the folder of a new file.
    at: Identity,
    /// The name of the new file.
    name: Option<OsString>,
    is_file: bool,
}

impl FilePlace {
    /// The place where `path` leads, after all links. `None` for a folder, a device, or a new file in a missing
    /// folder.
    pub fn of(path: &Path) -> Option<Self> {
        if let Ok(found) = fs::metadata(path) {
            return Self::there(path, &found);
        }
        let end = end(path).ok()?;
        let folder = end.parent()?;
        Some(Self {
            at: identity(folder, &fs::metadata(folder).ok()?)?,
            name: end.file_name().map(OsStr::to_owned),
            is_file: true,
        })
    }

    /// The file that has the name `path` itself; `None` for a link.
    pub fn of_name(path: &Path) -> Option<Self> {
        Self::there(path, &fs::symlink_metadata(path).ok()?)
    }

    /// The file or pipe behind standard input.
    pub fn stdin() -> Option<Self> {
        Self::there(Path::new(""), &found(io::stdin()).ok()?)
    }

    /// The file or pipe behind standard output.
    pub fn stdout() -> Option<Self> {
        Self::there(Path::new(""), &found(io::stdout()).ok()?)
    }

    /// Whether `path` is a descriptor of standard output, such as `/dev/stdout`.
    pub fn is_stdout(path: &Path) -> bool {
        let place = |found: io::Result<Metadata>| identity(path, &found.ok()?);
        let is_own = |own| Some(own) == place(found(io::stdout()));
        end(path).is_ok_and(|end| is_descriptor(&end))
            && place(fs::metadata(path)).is_some_and(is_own)
    }

    /// Whether it is a file. A pipe may be read and written at once.
    pub fn is_file(&self) -> bool {
        self.is_file
    }

    fn there(path: &Path, found: &Metadata) -> Option<Self> {
        let is_file = found.is_file();
        Some(Self {
            at: identity(path, found).filter(|_| is_file || is_pipe(found))?,
            name: None,
            is_file,
        })
    }
}

/// The device and the number of a file.
#[cfg(unix)]
type Identity = (u64, u64);

/// The path of a file without links.
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

/// Whether `file` still has the name by which it was opened.
#[cfg(unix)]
pub(crate) fn is_at(file: &fs::File, path: &Path) -> bool {
    let place = |found: io::Result<Metadata>| identity(path, &found.ok()?);
    let found = place(file.metadata());
    found.is_some() && found == place(fs::metadata(path))
}

#[cfg(not(unix))]
pub(crate) fn is_at(_: &fs::File, _: &Path) -> bool {
    true
}

#[cfg(unix)]
fn is_pipe(metadata: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;

    let kind = metadata.file_type();
    kind.is_fifo() || kind.is_socket()
}

#[cfg(not(unix))]
fn is_pipe(_: &Metadata) -> bool {
    false
}

#[cfg(unix)]
fn found(descriptor: impl std::os::fd::AsFd) -> io::Result<Metadata> {
    let copy = descriptor.as_fd().try_clone_to_owned()?;
    fs::File::from(copy).metadata()
}

/// Standard input and output have no identity here.
#[cfg(not(unix))]
fn found<D>(_: D) -> io::Result<Metadata> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Links followed before they count as a circle.
const MOST_LINKS: usize = 40;

/// The path at which `path` ends. Follows links, even to a file that is not there yet. Stops at `/proc/*/fd/N`.
pub(crate) fn end(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MOST_LINKS {
        check_ending(&path)?;
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

/// Refuses a name that only a folder can have. The parts of a path do not show a slash at its end.
fn check_ending(path: &Path) -> io::Result<()> {
    let mut bytes = path.as_os_str().as_encoded_bytes();
    while let [rest @ .., b'.'] = bytes
        && rest.last().copied().is_some_and(is_separator)
    {
        bytes = rest;
    }
    if bytes.last().copied().is_some_and(is_separator) {
        let text = "a name with a slash at its end names a folder";
        return Err(io::Error::new(io::ErrorKind::IsADirectory, text));
    }
    Ok(())
}

fn is_separator(byte: u8) -> bool {
    std::path::is_separator(char::from(byte))
}

/// Whether a path without links names a descriptor: `/proc/42/fd/1`, `/dev/fd/1`.
pub(crate) fn is_descriptor(path: &Path) -> bool {
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
        symlink("new/", at("slash")).unwrap();
        let place = |name: &str| FilePlace::of(&at(name)).unwrap();
        for name in [
            "./file",
            "sub/../file",
            "link",
            "sub/second",
            "here/link",
            "hard",
        ] {
            assert_eq!(place("file"), place(name), "{name}");
        }
        for name in ["other", "sub/file", "new"] {
            assert_ne!(place("file"), place(name), "{name}");
        }
        assert_eq!(place("dangling"), place("here/sub/new"));
        // A dot at the end belongs to the name.
        assert_ne!(place("new."), place("new"));
        for path in [
            at("sub"),
            at("around"),
            at("absent/file"),
            at("new/"),
            at("file/"),
            at("new//"),
            at("new/."),
            at("new/././"),
            at("slash"),
            "/dev/null".into(),
        ] {
            assert_eq!(FilePlace::of(&path), None, "{}", path.display());
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_descriptor_is_the_file_that_it_was_opened_by() {
        use std::os::fd::AsRawFd;

        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let file = fs::File::create(&path).unwrap();
        for of in ["/dev/fd", "/proc/self/fd", "/proc/thread-self/fd"] {
            let name = Path::new(of).join(file.as_raw_fd().to_string());
            assert_eq!(FilePlace::of(&name), FilePlace::of(&path));
            assert!(is_descriptor(&end(&name).unwrap()));
        }
    }
}
