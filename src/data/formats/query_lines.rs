//! The queries of rows in a file of their own: an identifier a line, or the sizes of the queries.

use rankrls_files::error::{Fault, ReadError};
use rankrls_files::input::Source;
use rankrls_files::text::each_item;

use super::options::ReadOptions;
use super::text::{Text, returning};
use super::token;
use crate::data::queries::Groups;

/// Bytes of a query in the table of all, besides its identifier.
const QUERY: u64 = 64;

/// Lines that may be the numbers of rows of the queries one after the other, as files for `LightGBM` and
/// `XGBoost` have them. They are such where they add up to the rows and are not as many.
struct Sizes {
    sizes: Vec<u32>,
    sum: u64,
}

impl Sizes {
    /// Takes one more, unless it is no whole number. Sizes that are too many in sum are not kept.
    fn with(mut self, id: &str, rows: usize) -> Option<Self> {
        let digits = id.bytes().all(|byte| byte.is_ascii_digit());
        let size: u64 = id.parse().ok().filter(|_| digits)?;
        self.sum = self.sum.saturating_add(size);
        match u32::try_from(size) {
            Ok(size) if self.sum <= rows as u64 => self.sizes.push(size),
            _ => self.sizes = Vec::new(),
        }
        Some(self)
    }
}

/// Gives the rows of `text` the queries that `source` has.
pub(super) fn give(
    text: &mut Text,
    source: Source<'_>,
    options: &ReadOptions,
) -> Result<(), ReadError> {
    let (name, rows, held) = (source.name.clone(), text.rows, text.memory);
    let mut groups = Groups::new(options.regroup);
    let (mut lines, mut bytes) = (0, 0);
    let mut sizes = Some(Sizes {
        sizes: Vec::new(),
        sum: 0,
    });
    // The fault of a line which is no identifier here, but may be a size.
    let mut refused: Option<(u64, Fault)> = None;
    each_item(source, options.memory.left(), |number, line| {
        lines += 1;
        let found = id(line);
        sizes = sizes
            .take()
            .and_then(|sizes| sizes.with(found.as_ref().ok()?.1, rows));
        if refused.is_none() {
            let added = found.and_then(|(at, id)| {
                if !groups.ends_with(id) {
                    bytes += QUERY + 2 * id.len() as u64;
                }
                let added = groups.add(id, 1, number);
                added.map_err(|began| returning(id, &format!("on line {began}")).at_column(at + 1))
            });
            match added {
                Err(fault) if sizes.is_none() => return Err(fault),
                added => refused = added.err().map(|fault| (number, fault)),
            }
        }
        let count = sizes.as_ref().map_or(0, |sizes| sizes.sizes.len() as u64);
        Ok(held + bytes + 4 * count)
    })?;
    match (refused, sizes) {
        (_, Some(Sizes { sizes, sum })) if lines != rows => {
            if sum != rows as u64 {
                let of = &text.name;
                let expected = format!(
                    "{rows} lines, one for each row of {of}, or sizes of queries that add up to {rows}"
                );
                let found = format!("{lines} lines, which add up to {sum}");
                return Err(Fault::mismatch(expected, found).of(&name));
            }
            groups = Groups::new(false);
            bytes = QUERY * sizes.len() as u64;
            for (query, &size) in (1..).zip(&sizes).filter(|(_, size)| **size > 0) {
                // Every number is another query.
                let _ = groups.add(&u64::to_string(&query), size as usize, query);
            }
        }
        (Some((line, fault)), _) => return Err(fault.at(&name, line)),
        (None, _) => check_lines(text, &name, lines)?,
    }
    text.groups = groups;
    text.memory += bytes;
    Ok(())
}

/// The identifier that a line is, and where it begins.
fn id(line: &[u8]) -> Result<(usize, &str), Fault> {
    let line = token::trim_end(line);
    let at = token::start(line, 0);
    let end = token::end(line, at);
    token::nothing_after(line, end, "query identifier")?;
    Ok((at, token::query_id(&line[at..end], at, "none")?))
}

/// Refuses a file that has not a line for each row.
fn check_lines(features: &Text, name: &str, lines: usize) -> Result<(), ReadError> {
    let Text { rows, name: of, .. } = features;
    if *rows == lines {
        return Ok(());
    }
    let expected = format!("{rows} lines, one for each row of {of}");
    Err(Fault::mismatch(expected, format!("{lines} lines")).of(name))
}

#[cfg(test)]
mod tests {
    use super::super::options::RowQueries;
    use super::*;

    /// Sizes of the queries that a file gives to seven rows, and the first two identifiers.
    fn queries(lines: &str, regroup: bool) -> Result<(Vec<usize>, String), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q");
        std::fs::write(&path, lines).unwrap();
        let options = ReadOptions::new().regroup(regroup);
        let options = options.row_queries(RowQueries::File(path));
        let read = options.read_from(&b"1 1:1\n".repeat(7)[..], "f");
        let loaded = read.map_err(|error| {
            let text = error.to_string();
            text.rsplit_once("/q:").unwrap().1.trim().to_owned()
        });
        let data = loaded?.dataset;
        let ids = [0, 1].map(|query| data.queries().id(query).unwrap_or("-"));
        let sizes = data.queries().ranges().map(|rows| rows.len());
        Ok((sizes.collect(), ids.join(" ")))
    }

    #[test]
    fn whole_numbers_that_add_up_to_the_rows_are_sizes() {
        for (lines, sizes, ids) in [
            ("3\n4\n", &[3, 4][..], "1 2"),
            ("3\r\n1\r\n3\r\n\r\n", &[3, 1, 3], "1 2"),
            ("3\n1\n3", &[3, 1, 3], "1 2"),
            ("7\n", &[7], "1 -"),
            ("\u{feff}2\n0\n5\n\n\n", &[2, 5], "1 3"),
            // Lines as many as rows: identifiers, whatever they add up to.
            ("1\n1\n1\n1\n1\n1\n1\n", &[7], "1 -"),
            ("0\n0\n0\n1\n1\n2\n3\n", &[3, 2, 1, 1], "0 1"),
            ("a\na\na\nb\nb\nc\nc\n\n", &[3, 2, 2], "a b"),
        ] {
            let expected = (sizes.to_vec(), ids.to_owned());
            assert_eq!(queries(lines, false).unwrap(), expected, "{lines:?}");
        }
        let merged = queries("1\n1\n2\n2\n1\n1\n1\n", true).unwrap();
        assert_eq!(merged, (vec![5, 2], "1 2".to_owned()));
        assert_eq!(queries("3\n1\n3\n", true).unwrap().0, [3, 1, 3]);
    }

    #[test]
    fn other_files_are_refused_for_what_they_are() {
        let sum =
            "expected 7 lines, one for each row of f, or sizes of queries that add up to 7, found ";
        for (lines, message) in [
            ("3\n3\n", &*format!("{sum}2 lines, which add up to 6")),
            ("3\n4\n3\n4\n", &format!("{sum}4 lines, which add up to 14")),
            (
                "99999999999999999999999\n",
                "expected 7 lines, one for each row of f, found 1 lines",
            ),
            (
                "3\n+4\n",
                "expected 7 lines, one for each row of f, found 2 lines",
            ),
            (
                "3\n4.0\n",
                "expected 7 lines, one for each row of f, found 2 lines",
            ),
            ("", &format!("{sum}0 lines, which add up to 0")),
            (
                "a\na\n",
                "expected 7 lines, one for each row of f, found 2 lines",
            ),
            (
                "1\n2\n1\na\n",
                "3:1: expected the rows of a query next to each other, found query \"1\" again",
            ),
            (
                "1\n2\n1\n2\n1\n2\n1\n",
                "3:1: expected the rows of a query next to each other, found query \"1\" again",
            ),
            (
                "1\n2 3\n",
                "2:3: expected one query identifier a line, found \"3\"",
            ),
            ("1\n\n2\n", "2:1: expected a query identifier, found none"),
            (
                "3\r4\r",
                "1:2: expected lines that end in LF or CR LF, found CR alone",
            ),
        ] {
            let error = queries(lines, false).unwrap_err();
            assert!(error.starts_with(message), "{lines:?}: {error}");
        }
    }
}
