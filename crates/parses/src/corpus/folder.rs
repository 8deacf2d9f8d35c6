//! The folder of a corpus. It appears at once: at any moment there is the old corpus or the new one.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use rankrls_files::error::Fault;
use rankrls_files::{Output, UnfinishedFolder};

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

/// An unfinished corpus.
#[derive(Debug)]
pub(super) struct CorpusFolder {
    target: PathBuf,
    folder: UnfinishedFolder,
}

impl CorpusFolder {
    /// Begins the corpus `target`. An older one stays until this one [appears](Self::appear).
    pub(super) fn begin(target: &Path) -> Result<Self, Error> {
        // A link stays, and its target is replaced.
        let target = fs::canonicalize(target).unwrap_or_else(|_| target.components().collect());
        check_corpus(&target)?;
        let folder = UnfinishedFolder::create(&target).map_err(Error::write(&target))?;
        Ok(Self { target, folder })
    }

    /// Begins one of the files.
    pub(super) fn create(&self, name: &'static str) -> Result<CorpusFile, Error> {
        let path = self.folder.path().join(name);
        let shown = self.target.join(name);
        let output = Output::create(&path).map_err(Error::write(&shown))?;
        Ok(CorpusFile {
            name,
            path,
            shown,
            output,
        })
    }

    /// Writes the manifest.
    pub(super) fn write_manifest(&self, text: &[u8]) -> Result<(), Error> {
        let mut file = self.create(MANIFEST)?;
        file.write(text)?;
        file.finish().map(drop)
    }

    /// Gives the folder its name, once all its files are complete.
    pub(super) fn appear(self) -> Result<(), Error> {
        // Somebody may have added files to the older one since.
        check_corpus(&self.target)?;
        self.folder.appear().map_err(Error::write(&self.target))
    }
}

/// Refuses a folder that is not a corpus or has other files in it, which would be lost.
fn check_corpus(folder: &Path) -> Result<(), Error> {
    if fs::symlink_metadata(folder).is_err() {
        return Ok(());
    }
    let refused = |expected: &'static str, found: String| {
        let fault = Fault::new(expected, found).remedy("give another name, or move it away");
        Error::from(fault.of(&folder.display().to_string()))
    };
    let expected = "a folder with nothing but a corpus of rankrls build";
    let entries = fs::read_dir(folder).map_err(|error| refused(expected, error.to_string()))?;
    for entry in entries {
        let name = entry.map_err(Error::write(folder))?.file_name();
        if !FILES.iter().any(|known| name == *known) {
            return Err(refused(
                expected,
                format!("{:?} in it", name.to_string_lossy()),
            ));
        }
    }
    let manifest = rankrls_files::read_regular(&folder.join(MANIFEST), 1 << 28);
    let schema = format!("\"schema\": \"{SCHEMA}\"");
    let begins = manifest.is_ok_and(|text| {
        let begin = String::from_utf8_lossy(&text[..text.len().min(100)]).into_owned();
        begin.contains(&schema)
    });
    if begins {
        return Ok(());
    }
    Err(refused(
        "a corpus of rankrls build",
        "no manifest of one".to_owned(),
    ))
}

/// A file of a corpus, compressed by its ending.
pub(super) struct CorpusFile {
    name: &'static str,
    path: PathBuf,
    /// Its final path, for messages.
    shown: PathBuf,
    output: Output,
}

impl CorpusFile {
    pub(super) fn write(&mut self, text: &[u8]) -> Result<(), Error> {
        let written = self.output.write_all(text);
        written.map_err(Error::write(&self.shown))
    }

    /// Completes the file. Returns its name, and the hash of its bytes on disk.
    pub(super) fn finish(self) -> Result<(&'static str, String), Error> {
        let finished = || {
            self.output.finish()?;
            let mut hasher = blake3::Hasher::new();
            hasher.update_reader(File::open(&self.path)?)?;
            Ok(hasher.finalize().to_hex().to_string())
        };
        let hash = finished().map_err(Error::write(&self.shown))?;
        Ok((self.name, hash))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(part: &CorpusFolder, text: &str) {
        let mut file = part.create(NAMES).unwrap();
        file.write(text.as_bytes()).unwrap();
        let (name, hash) = file.finish().unwrap();
        let bytes = fs::read(part.folder.path().join(name)).unwrap();
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
            let part = CorpusFolder::begin(&target).unwrap();
            write(&part, text);
            let found = fs::read_to_string(target.join(MANIFEST)).unwrap_or_default();
            assert!(!found.ends_with(text));
            part.appear().unwrap();
            let found = fs::read_to_string(target.join(MANIFEST)).unwrap();
            assert!(found.ends_with(text), "{found}");
            assert_eq!(names(&target), [MANIFEST, NAMES]);
            assert_eq!(names(folder.path()), ["c"]);
        }
        // A failed run leaves nothing.
        let part = CorpusFolder::begin(&target).unwrap();
        write(&part, "third");
        drop(part);
        assert_eq!(names(folder.path()), ["c"]);
    }

    #[test]
    fn folders_of_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("c");
        let refusal = || CorpusFolder::begin(&target).unwrap_err().to_string();
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
        let part = CorpusFolder::begin(&target).unwrap();
        write(&part, "corpus");
        // The folder came in the meantime.
        fs::create_dir(&target).unwrap();
        fs::write(target.join("model.json"), "").unwrap();
        assert!(part.appear().is_err());
        assert_eq!(names(folder.path()), ["c"]);
        assert_eq!(names(&target), ["model.json"]);
    }
}
