//! Files with one item a line: names of features, texts of rows, scores, and others.

use std::io::{self, Write};
use std::path::Path;

use rankrls_files::error::{Fault, ReadError};
use rankrls_files::input::Source;
use rankrls_files::text::{each_item, read_strings, trimmed, utf8, without_comment};

use crate::data::dataset::Dataset;
use crate::data::names::FeatureNames;
use crate::memory::Memory;
use rankrls_files::Strings;

use super::token;
use super::write::refused;

/// Reads names of features, one a line: the first line names the first column. The file may be compressed and have
/// CRLF line ends. Blanks around a name do not count, and an empty line is an empty name.
pub fn read_names(path: &Path, memory: Memory) -> Result<FeatureNames, ReadError> {
    let mut names = read_strings(path, memory.limit, memory.held, "a feature name in UTF-8")?;
    names.shrink_to_fit();
    Ok(FeatureNames::new(names))
}

/// Names the columns of `dataset`, which `memory` counts as held.
pub(super) fn attach(
    dataset: Dataset<'static>,
    path: &Path,
    memory: Memory,
) -> Result<Dataset<'static>, ReadError> {
    let names = read_names(path, memory)?;
    let name = path.display().to_string();
    if names.len() < dataset.width() {
        let expected = format!("at least {} names, one a column", dataset.width());
        let found = names.len().to_string();
        return Err(Fault::mismatch(expected, found).of(&name));
    }
    if let Some(found) = names.are_no_names(dataset.width(), dataset.rows()) {
        let expected = format!("names of {} columns, each once", dataset.width());
        return Err(Fault::mismatch(expected, found).of(&name));
    }
    dataset
        .with_names(names)
        .map_err(|error| Fault::data(&error).of(&name))
}

/// Writes names one a line.
pub fn write_names(names: &FeatureNames, mut writer: impl Write) -> io::Result<()> {
    for name in names.iter() {
        if name.contains(['\n', '\r', '\0']) || trimmed(name) != name {
            let message = format!("the feature name {name:?} does not fit on a line");
            return Err(refused(message));
        }
        writer.write_all(name.as_bytes())?;
        writer.write_all(b"\n")?;
    }
    writer.flush()
}

/// Reads texts of rows, one a line in the order of the rows. The file may be compressed and have CRLF line ends.
/// `-` is standard input.
pub fn read_texts(path: &Path, memory: Memory) -> Result<Strings, ReadError> {
    read_strings(path, memory.limit, memory.held, "text in UTF-8")
}

/// Reads the folds of rows or preferences, one a line, as any text. Blank lines at the end do not count. Other
/// blank lines are empty folds.
pub fn read_folds(path: &Path, memory: Memory) -> Result<Strings, ReadError> {
    let mut folds = Strings::default();
    each_item(
        Source::open(path, memory.left())?,
        memory.limit,
        |_, line| {
            folds.push(utf8(line, 0, "a fold in UTF-8")?.trim_ascii());
            Ok(memory.holding(folds.memory() as u64).held)
        },
    )?;
    if folds.is_empty() {
        let found = "no line, or blank lines at the end, which do not count";
        let fault = Fault::mismatch("the fold of each row, one a line", found);
        return Err(fault.of(&path.display().to_string()));
    }
    Ok(folds)
}

/// Reads scores, one finite decimal number a line, in the order of the rows in the data's file. The file may be
/// compressed and have CRLF line ends. `-` is standard input.
pub fn read_scores(path: &Path, memory: Memory) -> Result<Vec<f64>, ReadError> {
    scores_of(Source::open(path, memory.left())?, memory)
}

fn scores_of(source: Source<'_>, memory: Memory) -> Result<Vec<f64>, ReadError> {
    items(source, memory, |_, line| {
        token::only_decimal(line, "score").map(Some)
    })
}

/// The results of `item` for the lines of a file, within the memory left.
fn items<T>(
    source: Source<'_>,
    memory: Memory,
    mut item: impl FnMut(u64, &[u8]) -> Result<Option<T>, Fault>,
) -> Result<Vec<T>, ReadError> {
    let mut items = Vec::new();
    each_item(source, memory.limit, |number, line| {
        items.extend(item(number, line)?);
        let bytes = items.capacity() * size_of::<T>();
        Ok(memory.holding(bytes as u64).held)
    })?;
    Ok(items)
}

/// One row before another: the edge `e` of `c_e (g_e - (f_i - f_j))^2` (`docs/derivation.md`, section 15).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Preference {
    /// The row `i` that is preferred, 0-based.
    pub preferred: u32,
    /// The other row `j`, 0-based.
    pub other: u32,
    /// `g_e`, the difference of scores to be learnt, in units of the scores; 1 as a rule.
    pub magnitude: f64,
    /// `c_e`, the weight of the preference, without a unit; 1 as a rule.
    pub weight: f64,
}

/// Reads preferences among `rows` rows, `PREFERRED OTHER [MAGNITUDE [WEIGHT]]` a line. Rows count from 1, and
/// missing numbers are 1. Skips blank lines and comments after `#`. Each preference comes with its line number.
pub fn read_preferences(
    path: &Path,
    rows: usize,
    memory: Memory,
) -> Result<Vec<(u64, Preference)>, ReadError> {
    items(
        Source::open(path, memory.left())?,
        memory,
        |number, line| {
            let line = without_comment(line);
            let some = token::start(line, 0) < line.len();
            let found = some.then(|| preference(line, rows)).transpose()?;
            Ok(found.map(|found| (number, found)))
        },
    )
}

/// Reads row numbers up to `rows`, one a line, from 1 on. Returns them 0-based.
pub fn read_rows(path: &Path, rows: usize, memory: Memory) -> Result<Vec<usize>, ReadError> {
    items(Source::open(path, memory.left())?, memory, |_, line| {
        let line = token::trim_end(line);
        let (number, end) = row(line, token::start(line, 0), rows)?;
        token::nothing_after(line, end, "row")?;
        Ok(Some(number as usize))
    })
}

fn preference(line: &[u8], rows: usize) -> Result<Preference, Fault> {
    let (preferred, first_end) = row(line, token::start(line, 0), rows)?;
    let second = token::start(line, first_end);
    let (other, last_end) = row(line, second, rows)?;
    if preferred == other {
        let expected = format!("another row than {}", preferred + 1);
        return Err(Fault::token(expected, second, &line[second..last_end]));
    }
    let (mut numbers, mut at) = ([1.0; 2], token::start(line, last_end));
    for (number, what) in numbers.iter_mut().zip(["magnitude", "weight"]) {
        if at < line.len() {
            let (found, end) = token::decimal(line, at, what)?;
            if what == "weight" && found <= 0.0 {
                return Err(Fault::token("a weight above 0", at, &line[at..end]));
            }
            (*number, at) = (found, token::start(line, end));
        }
    }
    token::nothing_after(line, at, "preference")?;
    let [magnitude, weight] = numbers;
    Ok(Preference {
        preferred,
        other,
        magnitude,
        weight,
    })
}

/// The 0-based row whose number stands at `at`, and the end of the number.
fn row(line: &[u8], at: usize, rows: usize) -> Result<(u32, usize), Fault> {
    let end = token::end(line, at);
    let text = std::str::from_utf8(&line[at..end]).unwrap_or_default();
    let number = text.parse::<u32>().ok();
    let legal = number.filter(|&number| number > 0 && number as usize <= rows);
    legal
        .map(|number| (number - 1, end))
        .ok_or_else(|| Fault::token(format!("a row from 1 to {rows}"), at, &line[at..end]))
}

#[cfg(test)]
mod tests {
    use rankrls_files::ReadErrorKind;
    use rankrls_files::text::strings_of;

    use super::super::compressed::{gz, zst};
    use super::*;

    fn names(bytes: &[u8]) -> Result<Vec<String>, ReadError> {
        let source = Source::new(bytes, "f", None)?;
        let names = strings_of(source, Some(1 << 20), 0, "a feature name in UTF-8")?;
        Ok(names.iter().map(str::to_owned).collect())
    }

    fn scores(bytes: &[u8]) -> Result<Vec<f64>, ReadError> {
        scores_of(Source::new(bytes, "f", None)?, Memory::limit(1 << 16))
    }

    #[test]
    fn first_names_that_look_like_other_files_come_back() {
        for first in ["BZh\u{10}", "%PDF-1", "P*M\u{18}", "PAR1", "word:a"] {
            let own: FeatureNames = [first, "b"].into_iter().collect();
            let mut written = Vec::new();
            write_names(&own, &mut written).unwrap();
            assert_eq!(names(&written).unwrap(), [first, "b"]);
        }
    }

    #[test]
    fn an_item_a_line_plain_or_compressed() {
        for text in [&b"a b\r\n\n\xc3\xbc\n"[..], b"a b\n\n\xc3\xbc"] {
            for bytes in [text.to_vec(), gz(text), zst(text)] {
                assert_eq!(names(&bytes).unwrap(), ["a b", "", "ü"]);
            }
        }
        let text = b" 0.5\r\n-1e-3 \n2";
        for bytes in [text.to_vec(), gz(text), zst(text)] {
            assert_eq!(scores(&bytes).unwrap(), [0.5, -1e-3, 2.0]);
        }
        assert!(names(b"").unwrap().is_empty() && scores(b"").unwrap().is_empty());
    }

    #[test]
    fn bad_lines_have_a_place_and_long_files_a_limit() {
        let blank = "f:2:1: expected a score, a decimal number, found the end of the line";
        let beyond = "f:1:1: expected a finite score, found \"1e999\"";
        for (text, message) in [(&b"1\n\n2\n"[..], blank), (b"1e999\n", beyond)] {
            assert_eq!(scores(text).unwrap_err().to_string(), message);
        }
        let error = names(b"a\nb\xff\nc\n").unwrap_err().to_string();
        assert!(
            error.starts_with("f:2:2: expected a feature name in UTF-8"),
            "{error}"
        );
        let error = scores(&zst(&b"1\n".repeat(100_000))).unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::TooLarge);
        let error = names(&zst(&vec![b'\n'; 2_000_000])).unwrap_err();
        assert_eq!(error.kind(), ReadErrorKind::TooLarge);
    }
}
