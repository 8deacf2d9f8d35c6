//! Folds in folders.

use std::fs;
use std::path::{Path, PathBuf};

use crate::data::Dataset;
use crate::data::read::{Loaded, ReadOptions};
use crate::tune::TuneError;

/// Names of the files of a fold, without their endings: training, validation and test data.
pub const PARTS: [&str; 3] = ["train", "vali", "test"];

/// Endings of the files, in the order in which they are looked for.
const ENDINGS: [&str; 3] = ["txt", "txt.gz", "txt.zst"];

/// The files of a fold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoldFiles {
    /// The name of its folder.
    pub name: String,
    /// Training data.
    pub train: PathBuf,
    /// Validation data.
    pub validation: PathBuf,
    /// Test data.
    pub test: PathBuf,
}

/// The data of a fold.
#[derive(Debug)]
pub struct Fold {
    /// The name of its folder.
    pub name: String,
    /// Training data.
    pub train: Dataset<'static>,
    /// Validation data, as wide as the training data.
    pub validation: Loaded,
    /// Test data, as wide as the training data.
    pub test: Loaded,
}

/// The folds in `directory`: the one that it is, or those in its folders `Fold1`, `Fold2` and so
/// on, by number.
///
/// # Errors
/// [`TuneError::NoFolds`], [`TuneError::Missing`] for a fold without one of its files, and
/// [`TuneError::Directory`].
pub fn find(directory: &Path) -> Result<Vec<FoldFiles>, TuneError> {
    let folders = folders(directory)?;
    if PARTS.iter().any(|part| file(directory, part).is_ok()) {
        return Ok(vec![FoldFiles::of(directory)?]);
    }
    if folders.is_empty() {
        return Err(TuneError::NoFolds {
            directory: directory.to_owned(),
        });
    }
    folders.iter().map(|folder| FoldFiles::of(folder)).collect()
}

/// The folders of folds in `directory`, by number.
fn folders(directory: &Path) -> Result<Vec<PathBuf>, TuneError> {
    let unlisted = |source| TuneError::Directory {
        directory: directory.to_owned(),
        source,
    };
    let mut folders = Vec::new();
    for entry in fs::read_dir(directory).map_err(unlisted)? {
        let path = entry.map_err(unlisted)?.path();
        let name = path.file_name().and_then(|name| name.to_str());
        if let Some(number) = name.and_then(number).filter(|_| path.is_dir()) {
            folders.push((number, path));
        }
    }
    folders.sort();
    Ok(folders.into_iter().map(|(_, path)| path).collect())
}

/// `3` of `Fold3`.
fn number(name: &str) -> Option<u32> {
    let (word, number) = name.split_at_checked(4)?;
    if word.eq_ignore_ascii_case("fold") {
        number.parse().ok()
    } else {
        None
    }
}

fn file(directory: &Path, part: &'static str) -> Result<PathBuf, TuneError> {
    let files = ENDINGS.map(|ending| directory.join(format!("{part}.{ending}")));
    let mut files = files.into_iter();
    files
        .find(|file| file.exists())
        .ok_or_else(|| TuneError::Missing {
            directory: directory.to_owned(),
            part,
        })
}

impl FoldFiles {
    fn of(directory: &Path) -> Result<Self, TuneError> {
        let [train, validation, test] = PARTS;
        let named = directory.file_name().map(ToOwned::to_owned);
        // What ends in . or .. has its name elsewhere.
        let named = named.or_else(|| {
            fs::canonicalize(directory)
                .ok()?
                .file_name()
                .map(Into::into)
        });
        let name = named.unwrap_or_else(|| directory.as_os_str().to_owned());
        Ok(Self {
            name: name.to_string_lossy().into_owned(),
            train: file(directory, train)?,
            validation: file(directory, validation)?,
            test: file(directory, test)?,
        })
    }

    /// Reads the fold. The width in `options` is that of the training data.
    ///
    /// # Errors
    /// [`TuneError::Read`] names the place in the file and the mistake.
    pub fn read(&self, options: &ReadOptions) -> Result<Fold, TuneError> {
        let train = options.read(&self.train)?.dataset;
        let options = options.clone().width(train.width());
        Ok(Fold {
            name: self.name.clone(),
            validation: options.read(&self.validation)?,
            test: options.read(&self.test)?,
            train,
        })
    }
}

impl Fold {
    /// Bytes held.
    pub fn memory(&self) -> u64 {
        let others = [&self.validation, &self.test];
        let others = others.map(|loaded| loaded.dataset.memory());
        self.train.memory() + others.iter().sum::<u64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fold(directory: &Path, endings: [&str; 3]) {
        fs::create_dir_all(directory).unwrap();
        for (part, ending) in PARTS.iter().zip(endings) {
            fs::write(directory.join(format!("{part}.{ending}")), "1 1:1\n").unwrap();
        }
    }

    #[test]
    fn a_folder_is_a_fold_or_holds_folds() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        for (name, endings) in [
            ("Fold10", ["txt"; 3]),
            ("fold2", ["txt.zst", "txt", "txt.gz"]),
            ("Fold1", ["txt"; 3]),
            ("Folder", ["txt"; 3]),
        ] {
            fold(&root.join(name), endings);
        }
        fs::write(root.join("Fold3"), "no folder").unwrap();
        let names = |found: Vec<FoldFiles>| -> Vec<String> {
            found.into_iter().map(|fold| fold.name).collect()
        };
        assert_eq!(names(find(root).unwrap()), ["Fold1", "fold2", "Fold10"]);
        let one = find(&root.join("Fold10").join(".")).unwrap();
        assert_eq!(one.len(), 1);
        assert_eq!(one[0].name, "Fold10");
        let mixed = find(&root.join("fold2")).unwrap();
        assert!(mixed[0].test.ends_with("test.txt.gz"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let error = |path: &Path| find(path).unwrap_err().to_string();
        assert!(error(root).contains("found neither"));
        assert!(error(&root.join("absent")).contains("cannot list"));
        fold(&root.join("Fold1"), ["txt"; 3]);
        fold(&root.join("Fold2"), ["txt", "dat", "txt"]);
        let found = error(root);
        assert!(
            found.contains("Fold2: expected vali.txt, vali.txt.gz"),
            "{found}"
        );
    }
}
