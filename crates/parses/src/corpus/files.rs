//! The files of a corpus.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::columns::Columns;
use super::error::BuildError;
use super::options::Compression;
use super::report::{FileHash, Manifest};
use super::writing::HashedFile;

/// The files of a corpus.
#[derive(Debug)]
pub(super) struct FileNames {
    pub(super) train: PathBuf,
    pub(super) test: PathBuf,
    pub(super) names: PathBuf,
    pub(super) arcs: PathBuf,
    pub(super) manifest: PathBuf,
    pub(super) journal: PathBuf,
}

impl FileNames {
    pub(super) fn new(prefix: &Path, compression: Compression) -> Self {
        let compressed = match compression {
            Compression::Zstd => ".zst",
            Compression::None => "",
        };
        let with = |ending: &str, compressed: &str| {
            let mut name: OsString = prefix.as_os_str().to_owned();
            name.push(ending);
            name.push(compressed);
            PathBuf::from(name)
        };
        Self {
            train: with(".svm", compressed),
            test: with("-test.svm", compressed),
            names: with("-names.txt", compressed),
            arcs: with("-arcs.txt", compressed),
            manifest: with("-manifest.json", ""),
            journal: with(".journal", ""),
        }
    }
}

/// Writes the names of the columns, one a line.
pub(super) fn write_names(path: &Path, columns: &Columns) -> Result<FileHash, BuildError> {
    let mut file = HashedFile::create(path)?;
    let mut text = Vec::new();
    for name in columns.names().iter() {
        text.extend_from_slice(name.as_bytes());
        text.push(b'\n');
        if text.len() > 1 << 16 {
            file.write(&text)?;
            text.clear();
        }
    }
    file.write(&text)?;
    file.finish()
}

/// Writes the manifest.
pub(super) fn write_manifest(path: &Path, manifest: &Manifest) -> Result<(), BuildError> {
    let text = serde_json::to_vec_pretty(manifest);
    let mut text = text
        .map_err(std::io::Error::other)
        .map_err(BuildError::write(path))?;
    text.push(b'\n');
    let mut file = HashedFile::create(path)?;
    file.write(&text)?;
    file.finish().map(drop)
}
