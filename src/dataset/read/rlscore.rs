//! RLScore's triplets of files.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::dataset::IndexBase;

use super::error::{Fault, ReadError, ReadErrorKind};
use super::input::{Source, is_stdin};
use super::piece::Lines;
use super::text::Text;
use super::{Loaded, ReadOptions};

const SUFFIXES: [&str; 3] = ["", ".gz", ".zst"];

/// Whether `path` is that of a file of features, or what stands before `.features`.
pub(super) fn recognises(path: &Path) -> bool {
    !is_stdin(path)
        && (split(path).is_some() || (!path.is_file() && find(path, ".features", "").is_some()))
}

pub(super) fn read(path: &Path, options: &ReadOptions) -> Result<Loaded, ReadError> {
    if is_stdin(path) {
        return Err(one_stream("<stdin>"));
    }
    let (prefix, suffix) = split(path).unwrap_or((path.to_owned(), ""));
    let mut text = read_part(&prefix, ".features", suffix, options, 0)?;
    let labels = read_part(&prefix, ".labels", suffix, options, text.memory)?;
    same_length(&text, &labels)?;
    text.labels = labels.labels;
    text.memory += labels.memory;
    if find(&prefix, ".qids", suffix).is_some() {
        let queries = read_part(&prefix, ".qids", suffix, options, text.memory)?;
        same_length(&text, &queries)?;
        text.groups = queries.groups;
        text.memory += queries.memory;
    }
    options.build(text, IndexBase::Zero)
}

pub(super) fn one_stream(name: &str) -> ReadError {
    let expected = "RLScore's files .features, .labels and .qids";
    Fault::new(ReadErrorKind::OneStream, expected, "one stream".to_owned())
        .remedy("give the path of the .features file")
        .of(name)
}

/// What stands before `.features` and the suffix of compression after it.
fn split(path: &Path) -> Option<(PathBuf, &'static str)> {
    let suffix_of = |name: &str| SUFFIXES.into_iter().rev().find(|s| name.ends_with(s));
    let extension = path.extension()?.to_str()?;
    let suffix = suffix_of(&format!(".{extension}"))?;
    let plain = if suffix.is_empty() {
        path.to_owned()
    } else {
        path.with_extension("")
    };
    (plain.extension()? == "features").then(|| (plain.with_extension(""), suffix))
}

fn with_ending(prefix: &Path, ending: &str, suffix: &str) -> PathBuf {
    let mut path = OsString::from(prefix);
    path.push(ending);
    path.push(suffix);
    path.into()
}

/// The file with this ending, compressed like `suffix` if there is a choice.
fn find(prefix: &Path, ending: &str, suffix: &str) -> Option<PathBuf> {
    [suffix]
        .into_iter()
        .chain(SUFFIXES)
        .map(|suffix| with_ending(prefix, ending, suffix))
        .find(|path| path.exists())
}

fn read_part(
    prefix: &Path,
    ending: &str,
    suffix: &str,
    options: &ReadOptions,
    spent: u64,
) -> Result<Text, ReadError> {
    let path = find(prefix, ending, suffix).unwrap_or_else(|| with_ending(prefix, ending, suffix));
    let lines = match ending {
        ".labels" => Lines::Label,
        ".qids" => Lines::QueryId,
        _ => Lines::Pairs,
    };
    let source = Source::open(&path, options.max_memory)?;
    Text::read(source, options.plan(lines, IndexBase::Zero, spent))
}

fn same_length(features: &Text, other: &Text) -> Result<(), ReadError> {
    if features.rows == other.rows {
        return Ok(());
    }
    let expected = format!(
        "{} lines, one for each row of {}",
        features.rows, features.name
    );
    let found = format!("{} lines", other.rows);
    Err(Fault::new(ReadErrorKind::Lengths, expected, found).of(&other.name))
}
