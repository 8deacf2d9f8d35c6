//! The folder of a corpus, which appears at once.
//!
//! A run writes the folder `NAME.part` beside it. When all files are there and on the disk, that takes the
//! name; an older corpus is exchanged for it. So there is the old corpus or the new one at any moment. What a
//! run leaves that was killed the next one takes away, but for the answers of a parser, on which it goes on.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use rankrls_files::error::Fault;

use super::manifest::SCHEMA;
use crate::Error;

pub(super) const TRAIN: &str = "train.svm.zst";
pub(super) const TEST: &str = "test.svm.zst";
pub(super) const NAMES: &str = "names.txt.zst";
pub(super) const TEXTS: &str = "texts.txt.zst";
pub(super) const TEST_TEXTS: &str = "test-texts.txt.zst";
pub(super) const MANIFEST: &str = "manifest.json";

/// All files of a corpus.
pub const FILES: [&str; 6] = [TRAIN, TEST, NAMES, TEXTS, TEST_TEXTS, MANIFEST];

/// The answers of a parser, in the folder of an unfinished run.
const PARSES: &str = "parses";

/// Level of zstd, which is named as files are compared byte by byte.
const ZSTD_LEVEL: i32 = 3;

/// A corpus that is being written, by this process alone.
#[derive(Debug)]
pub(super) struct Part {
    target: PathBuf,
    path: PathBuf,
    /// Has the lock of the folder.
    _folder: Option<File>,
}

impl Part {
    /// Begins the corpus `target`; an older one stays until this one [appears](Self::appear).
    pub(super) fn begin(target: &Path) -> Result<Self, Error> {
        // A link stays, and what it leads to is replaced.
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.components().collect());
        let (path, set_aside) = (beside(&target, ".part"), beside(&target, ".part.old"));
        match fs::create_dir(&path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(Error::write(&path)(error));
            }
            _ => {}
        }
        check(&path, &[&FILES[..], &[PARSES]].concat())?;
        let part = Self {
            _folder: lock(&path)?,
            target,
            path,
        };
        // A run was killed between two names.
        if set_aside.exists() {
            check_corpus(&set_aside)?;
            let ended = if part.target.exists() {
                fs::remove_dir_all(&set_aside)
            } else {
                fs::rename(&set_aside, &part.target)
            };
            ended.map_err(Error::write(&set_aside))?;
        }
        if fs::symlink_metadata(&part.target).is_ok() {
            check_corpus(&part.target)?;
        }
        part.clear().map_err(Error::write(&part.path))?;
        Ok(part)
    }

    /// Where the answers of a parser are kept.
    pub(super) fn parses(&self) -> PathBuf {
        self.path.join(PARSES)
    }

    /// Begins one of the files that are compressed.
    pub(super) fn create(&self, name: &'static str) -> Result<PartFile, Error> {
        let path = self.path.join(name);
        let encoder = || {
            let hashed = Hashed {
                file: BufWriter::new(File::create(&path)?),
                hasher: blake3::Hasher::new(),
            };
            let mut encoder = zstd::stream::write::Encoder::new(hashed, ZSTD_LEVEL)?;
            encoder.include_checksum(true)?;
            Ok(encoder)
        };
        Ok(PartFile {
            name,
            encoder: encoder().map_err(Error::write(&path))?,
            path,
        })
    }

    /// Writes the manifest.
    pub(super) fn write_manifest(&self, text: &[u8]) -> Result<(), Error> {
        let path = self.path.join(MANIFEST);
        let write = || {
            let mut file = File::create(&path)?;
            file.write_all(text)?;
            file.sync_all()
        };
        write().map_err(Error::write(&path))
    }

    /// Takes away what an earlier run has written.
    fn clear(&self) -> io::Result<()> {
        FILES.iter().try_for_each(|name| {
            let removed = fs::remove_file(self.path.join(name));
            removed.or_else(|error| match error.kind() {
                io::ErrorKind::NotFound => Ok(()),
                _ => Err(error),
            })
        })
    }

    /// Gives the folder its name, now that all its files are complete.
    pub(super) fn appear(self) -> Result<(), Error> {
        let appeared = || {
            sync(&self.path)?;
            if !self.target.exists() {
                fs::rename(&self.path, &self.target)?;
            } else if exchange(&self.path, &self.target).is_ok() {
                fs::remove_dir_all(&self.path)?;
            } else {
                let set_aside = beside(&self.target, ".part.old");
                fs::rename(&self.target, &set_aside)?;
                fs::rename(&self.path, &self.target).inspect_err(|_| {
                    // The next run tries again, where this fails.
                    let _ = fs::rename(&set_aside, &self.target);
                })?;
                fs::remove_dir_all(&set_aside)?;
            }
            sync(self.target.parent().unwrap_or(Path::new(".")))
        };
        appeared().map_err(Error::write(&self.target))
    }
}

impl Drop for Part {
    /// Takes away what a run has written that failed; the folder stays as long as there are answers.
    fn drop(&mut self) {
        if fs::remove_dir(&self.path).is_err() && self.clear().is_ok() {
            let _ = fs::remove_dir(&self.path);
        }
    }
}

/// A path with an ending more.
fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut longer = path.as_os_str().to_owned();
    longer.push(ending);
    longer.into()
}

/// Refuses a folder with other files than `known`.
fn check(folder: &Path, known: &[&str]) -> Result<(), Error> {
    let refused = |found: String| {
        let fault = Fault::new("a folder with nothing but a corpus of rankrls build", found);
        let remedy = "give another name, or move it away";
        Error::from(fault.remedy(remedy).of(&folder.display().to_string()))
    };
    let entries = fs::read_dir(folder).map_err(|error| refused(error.to_string()))?;
    for entry in entries {
        let name = entry.map_err(Error::write(folder))?.file_name();
        if !known.iter().any(|known| name == *known) {
            return Err(refused(format!("{:?} in it", name.to_string_lossy())));
        }
    }
    Ok(())
}

/// Refuses a folder that is no corpus, or has more in it: it would be lost.
fn check_corpus(folder: &Path) -> Result<(), Error> {
    check(folder, &FILES)?;
    let manifest = rankrls_files::read_regular(&folder.join(MANIFEST), 1 << 28);
    let schema = format!("\"schema\": \"{SCHEMA}\"");
    let begins = manifest.is_ok_and(|text| {
        let begin = String::from_utf8_lossy(&text[..text.len().min(100)]).into_owned();
        begin.contains(&schema)
    });
    if begins {
        return Ok(());
    }
    let fault = Fault::new("a corpus of rankrls build", "no manifest of one");
    let remedy = "give another name, or move it away";
    Err(fault
        .remedy(remedy)
        .of(&folder.display().to_string())
        .into())
}

/// Has the lock of a folder until the file is closed, where folders have locks.
fn lock(folder: &Path) -> Result<Option<File>, Error> {
    if !cfg!(unix) {
        return Ok(None);
    }
    let file = File::open(folder).map_err(Error::write(folder))?;
    if let Err(TryLockError::WouldBlock) = file.try_lock() {
        let found = "another process at work on it";
        let fault = Fault::new("a folder that no other process writes", found);
        let fault = fault.remedy("wait until it ends");
        return Err(fault.of(&folder.display().to_string()).into());
    }
    Ok(Some(file))
}

/// Has the disk keep the names in a folder.
fn sync(folder: &Path) -> io::Result<()> {
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// Exchanges two folders at once, where the system can.
#[cfg(target_os = "linux")]
fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};

    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

#[cfg(not(target_os = "linux"))]
fn exchange(_: &Path, _: &Path) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// A file that is compressed, and hashed as it is on the disk.
pub(super) struct PartFile {
    name: &'static str,
    path: PathBuf,
    encoder: zstd::stream::write::Encoder<'static, Hashed>,
}

struct Hashed {
    file: BufWriter<File>,
    hasher: blake3::Hasher,
}

impl Write for Hashed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file.write(bytes)?;
        self.hasher.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl PartFile {
    pub(super) fn write(&mut self, text: &[u8]) -> Result<(), Error> {
        let written = self.encoder.write_all(text);
        written.map_err(Error::write(&self.path))
    }

    /// Completes the file: its name and hash.
    pub(super) fn finish(self) -> Result<(&'static str, String), Error> {
        let finished = || {
            let mut hashed = self.encoder.finish()?;
            hashed.flush()?;
            hashed.file.get_ref().sync_all()?;
            Ok(hashed.hasher.finalize().to_hex().to_string())
        };
        let hash = finished().map_err(Error::write(&self.path))?;
        Ok((self.name, hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(part: &Part, text: &str) {
        let mut file = part.create(NAMES).unwrap();
        file.write(text.as_bytes()).unwrap();
        let (name, hash) = file.finish().unwrap();
        let bytes = fs::read(part.path.join(name)).unwrap();
        assert_eq!(blake3::hash(&bytes).to_hex().to_string(), hash);
        let manifest = format!("{{\n  \"schema\": \"{SCHEMA}\"}} {text}");
        part.write_manifest(manifest.as_bytes()).unwrap();
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let name = |entry: fs::DirEntry| entry.file_name().into_string().unwrap();
        let mut names: Vec<String> = entries.map(|entry| name(entry.unwrap())).collect();
        names.sort_unstable();
        names
    }

    #[test]
    fn a_corpus_appears_at_once_and_an_older_one_goes() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("c");
        for text in ["first", "second"] {
            let part = Part::begin(&target).unwrap();
            write(&part, text);
            let found = fs::read_to_string(target.join(MANIFEST)).unwrap_or_default();
            assert!(!found.ends_with(text));
            part.appear().unwrap();
            let found = fs::read_to_string(target.join(MANIFEST)).unwrap();
            assert!(found.ends_with(text), "{found}");
            assert_eq!(names(folder.path()), ["c"]);
        }
        // A run that fails leaves nothing but what a parser has answered.
        let part = Part::begin(&target).unwrap();
        write(&part, "third");
        fs::write(part.parses(), "").unwrap();
        drop(part);
        assert_eq!(names(folder.path()), ["c", "c.part"]);
        assert_eq!(names(&folder.path().join("c.part")), [PARSES]);
    }

    #[test]
    fn what_a_kill_leaves_is_put_right() {
        let folder = tempfile::tempdir().unwrap();
        let [target, part, old] =
            ["c", "c.part", "c.part.old"].map(|name| folder.path().join(name));
        let begun = Part::begin(&target).unwrap();
        write(&begun, "first");
        begun.appear().unwrap();
        // Between the two names, without an exchange.
        fs::rename(&target, &old).unwrap();
        fs::create_dir(&part).unwrap();
        fs::write(part.join(TRAIN), "half").unwrap();
        drop(Part::begin(&target).unwrap());
        assert_eq!(names(folder.path()), ["c"]);
        // Before the old one is gone.
        fs::create_dir(&old).unwrap();
        fs::copy(target.join(MANIFEST), old.join(MANIFEST)).unwrap();
        fs::create_dir(&part).unwrap();
        drop(Part::begin(&target).unwrap());
        assert_eq!(names(folder.path()), ["c"]);
    }

    #[test]
    fn folders_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("c");
        let refusal = || Part::begin(&target).unwrap_err().to_string();
        fs::create_dir(&target).unwrap();
        assert!(refusal().contains("found no manifest of one"));
        fs::write(target.join(MANIFEST), "{\"name\": \"a page\"}").unwrap();
        assert!(refusal().contains("found no manifest of one"));
        fs::write(target.join("model.json"), "").unwrap();
        assert!(refusal().contains("found \"model.json\" in it"));
        assert_eq!(names(&target), [MANIFEST, "model.json"]);
        fs::remove_dir_all(&target).unwrap();
        fs::write(&target, "a file").unwrap();
        assert!(refusal().contains("a folder with nothing but a corpus"));
        fs::remove_file(&target).unwrap();
        let _part = Part::begin(&target).unwrap();
        if cfg!(unix) {
            assert!(refusal().contains("another process at work on it"));
        }
    }
}
