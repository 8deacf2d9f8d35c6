//! The sentences behind the rows of a corpus, and their parses, as far as files lie beside its
//! manifest.

use std::ffi::OsStr;
use std::ops::Range;
use std::path::{Path, PathBuf};

use rankrls_files::{ReadError, hash_text, read_whole};
use serde::Deserialize;
use thiserror::Error;

use super::manifest::{FileHash, Listing, ManifestError, is_plain};
use super::options::{BuildError, Malformed};
use super::parse::Parse;
use super::source::{FileCandidates, Found, Treebank};

/// Most bytes that are taken of a manifest and of a file of arcs.
const LARGEST: u64 = 1 << 32;

/// The sentences and parses behind the rows of a corpus.
#[derive(Debug)]
pub struct Behind {
    files: Vec<(&'static str, String)>,
    treebank: Option<Treebank>,
    candidates: Option<FileCandidates>,
    /// Candidates of a sentence that became rows, at most.
    limit: usize,
    /// The parse of every row.
    arcs: Option<Vec<String>>,
}

/// What is known of the sentence of a query.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct QuerySentence {
    /// The sentence.
    pub text: Option<String>,
    /// Its dependencies in the treebank, as [arcs](Behind::query).
    pub dependencies: Option<String>,
    /// The parse of each row; empty where they are not known.
    pub parses: Vec<String>,
}

/// Sentences that cannot be had.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BehindError {
    /// The manifest.
    #[error(transparent)]
    Manifest(#[from] ManifestError),
    /// A file that cannot be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The treebank, or the file of candidates.
    #[error(transparent)]
    Source(#[from] BuildError),
    /// A file that is not that of the manifest any more.
    #[error(
        "{path}: expected the text that the corpus was built of, with BLAKE3 {expected}, found {found}; take the file away to do without it",
        path = path.display()
    )]
    Changed {
        /// The file.
        path: PathBuf,
        /// Its hash in the manifest.
        expected: String,
        /// Its hash.
        found: String,
    },
}

/// What is read of a manifest besides its files.
#[derive(Deserialize)]
struct Document {
    sources: Origins,
    options: Limits,
}

#[derive(Deserialize)]
struct Origins {
    treebank: FileHash,
    candidates: Option<FileHash>,
}

#[derive(Deserialize)]
struct Limits {
    candidates: usize,
}

impl Behind {
    /// The manifest beside a data file of a corpus, if there is one: `c-manifest.json` for `c.svm`,
    /// `c-test.svm` and their like.
    pub fn manifest_of(data: &Path) -> Option<PathBuf> {
        let name = data.file_name()?.to_str()?;
        let stem = name.split('.').next()?;
        let stems = [Some(stem), stem.strip_suffix("-test")];
        let manifests = stems.into_iter().flatten();
        let mut manifests =
            manifests.map(|stem| data.with_file_name(format!("{stem}-manifest.json")));
        manifests.find(|manifest| manifest.is_file())
    }

    /// Reads the files that lie beside the `manifest`: the treebank, the file of candidates, arcs.
    /// Files that are not there are left out.
    ///
    /// # Errors
    /// [`BehindError`] for a file that is no manifest, and for files that have changed.
    pub fn read(manifest: &Path) -> Result<Self, BehindError> {
        let text = read_whole(manifest, LARGEST)?;
        let listing = Listing::parse(&text, manifest)?;
        let document: Document = serde_json::from_slice(&text).map_err(|error| {
            BehindError::Manifest(ManifestError::Json {
                path: manifest.to_owned(),
                line: error.line(),
                column: error.column(),
                message: error.to_string(),
            })
        })?;
        let files = listing.files();
        let files: Vec<_> = files
            .map(|(role, file)| (role, file.file.clone()))
            .collect();
        let treebank = beside(manifest, &document.sources.treebank)?;
        let treebank = treebank.map(|path| Treebank::read(&path, Malformed::Skip, true));
        let treebank = treebank.transpose()?;
        let candidates = match (&treebank, &document.sources.candidates) {
            (Some(treebank), Some(origin)) => {
                let path = beside(manifest, origin)?;
                let read = |path: PathBuf| FileCandidates::read(&path, treebank, Malformed::Skip);
                path.map(read).transpose()?
            }
            _ => None,
        };
        let arcs = listing.files().find(|(role, _)| *role == "arcs");
        let arcs = arcs
            .map(|(_, file)| beside(manifest, file))
            .transpose()?
            .flatten();
        let arcs = arcs.map(|path| read_whole(&path, LARGEST)).transpose()?;
        let lines = |text: Vec<u8>| {
            let text = String::from_utf8_lossy(&text);
            text.lines().map(str::to_owned).collect()
        };
        Ok(Self {
            files,
            treebank,
            candidates,
            limit: document.options.candidates,
            arcs: arcs.map(lines),
        })
    }

    /// Whether a data file is of this corpus, by its name.
    pub fn lists(&self, data: &Path) -> bool {
        let name = data.file_name().and_then(OsStr::to_str);
        let mut files = self.files.iter();
        files.any(|(role, file)| matches!(*role, "train" | "test") && Some(file.as_str()) == name)
    }

    /// The sentence of the query with an identifier, whose `rows` are these in the data file:
    /// dependencies as `head -label-> modifier` with semicolons between, in the order of the
    /// modifiers, with `*` for root and wall.
    pub fn query(&self, id: &str, rows: Range<usize>) -> QuerySentence {
        let arcs = self.arcs.as_ref().and_then(|arcs| arcs.get(rows.clone()));
        let mut found = QuerySentence {
            parses: arcs.map_or_else(Vec::new, <[String]>::to_vec),
            ..QuerySentence::default()
        };
        let Some(treebank) = &self.treebank else {
            return found;
        };
        let Some(number) = treebank.ids.iter().position(|own| own == id) else {
            return found;
        };
        let sentence = &treebank.sentences[number];
        found.text = Some(sentence.text().to_owned());
        let tree = sentence.has_tree().then(|| Parse::of_sentence(sentence));
        found.dependencies = tree.map(|tree| tree.to_string());
        if let Some(candidates) = &self.candidates
            && found.parses.is_empty()
            && let Found::Parses(parses) = candidates.of(number, sentence, self.limit)
            && parses.len() == rows.len()
        {
            found.parses = parses.iter().map(Parse::to_string).collect();
        }
        found
    }
}

/// The path of a file beside the manifest, if it is there with the text that it had.
fn beside(manifest: &Path, file: &FileHash) -> Result<Option<PathBuf>, BehindError> {
    let path = manifest.with_file_name(&file.file);
    if !is_plain(&file.file) || !path.is_file() {
        return Ok(None);
    }
    let found = hash_text(&path)?;
    if !found.eq_ignore_ascii_case(&file.blake3) {
        let expected = file.blake3.clone();
        return Err(BehindError::Changed {
            path,
            expected,
            found,
        });
    }
    Ok(Some(path))
}
