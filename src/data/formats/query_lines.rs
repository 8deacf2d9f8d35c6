//! The queries of rows in their own file: an identifier a line, or the sizes of the queries.

use rankrls_files::error::{Fault, ReadError, quote};
use rankrls_files::input::Source;
use rankrls_files::text::{each_item, utf8};
use rankrls_files::{Strings, counted};

use super::number::number;
use super::options::ReadOptions;
use super::text::Text;
use super::token;
use crate::data::queries::Groups;

/// Bytes of a query in the table of all queries, besides its identifier.
pub(super) const QUERY: u64 = 128;

/// Gives the rows of `text` the queries in `source`. A line is the identifier of a row, or the size of a query, as
/// in files for `LightGBM` and `XGBoost`. Whole numbers that add up to the rows, but are fewer, are sizes.
pub(super) fn give(
    text: &mut Text,
    source: Source<'_>,
    options: &ReadOptions,
) -> Result<(), ReadError> {
    let (name, rows, held) = (source.name.clone(), text.rows, text.memory);
    let (mut lines, mut bytes) = (Strings::default(), 0);
    let read = each_item(source, options.memory.left(), |_, line| {
        let (_, id) = id(line)?;
        if lines.last().and_then(own) != Some(id) {
            bytes += QUERY + 2 * id.len() as u64;
        }
        lines.push(utf8(line, 0, "a query identifier in UTF-8")?);
        Ok(held + bytes + lines.memory() as u64)
    });
    if let (Ok(()), Some(sizes)) = (&read, sizes(&lines).filter(|_| lines.len() != rows)) {
        text.groups = of_sizes(&sizes, &lines, text, &name)?;
        text.memory += QUERY * sizes.len() as u64;
        return Ok(());
    }
    let mut groups = Groups::default();
    for (number, line) in (1..).zip(lines.iter()) {
        // The line has already been read as an identifier.
        groups.add(own(line).unwrap_or_default(), 1, number);
    }
    read?;
    if lines.len() != rows {
        let expected = format!("{rows} lines, one for each row of {}", text.name);
        let found = counted(lines.len(), "line");
        return Err(Fault::mismatch(expected, found).of(&name));
    }
    text.groups = groups;
    text.memory += bytes;
    Ok(())
}

/// The sizes in the lines, if all are whole numbers.
fn sizes(lines: &Strings) -> Option<Vec<u64>> {
    let size = |line| {
        let size = number(own(line)?.as_bytes()).ok()?;
        // NumPy writes 2 as 2.000000000000000000e+00. A size beyond 64 bits exceeds the rows anyway.
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        (size >= 0.0 && size.fract() == 0.0).then_some(size as u64)
    };
    lines.iter().map(size).collect()
}

/// Queries of these `sizes`, numbered from 1. The sizes stand in `lines`, and must add up to the rows of `text`.
fn of_sizes(sizes: &[u64], lines: &Strings, text: &Text, name: &str) -> Result<Groups, ReadError> {
    let (rows, of) = (text.rows, &text.name);
    let refused = |found: String| {
        let expected = format!(
            "{rows} lines, one for each row of {of}, or sizes of queries that add up to {rows}"
        );
        Err(Fault::mismatch(expected, found).of(name))
    };
    // A larger size may exceed 64 bits.
    if let Some(line) = sizes.iter().position(|&size| size > rows as u64) {
        let size = quote(lines.get(line).unwrap_or_default().as_bytes());
        return refused(format!("{size} on line {}", line + 1));
    }
    let sum: u64 = sizes.iter().sum();
    if sum != rows as u64 {
        let lines = counted(sizes.len(), "line");
        return refused(format!("{lines}, which add up to {sum}"));
    }
    let mut groups = Groups::default();
    for (query, &size) in (1..).zip(sizes).filter(|(_, size)| **size > 0) {
        // No size exceeds the rows.
        groups.add(
            &u64::to_string(&query),
            usize::try_from(size).unwrap_or(rows),
            query,
        );
    }
    Ok(groups)
}

/// The identifier that fills a line, and its first byte.
fn id(line: &[u8]) -> Result<(usize, &str), Fault> {
    let line = token::trim_end(line);
    let at = token::start(line, 0);
    let end = token::end(line, at);
    token::nothing_after(line, end, "query identifier")?;
    Ok((at, token::query_id(&line[at..end], at, "none")?))
}

/// The identifier of a line.
fn own(line: &str) -> Option<&str> {
    id(line.as_bytes()).ok().map(|(_, id)| id)
}

#[cfg(test)]
mod tests {
    use super::super::options::RowQueries;
    use super::*;

    /// Sizes of the queries that a file gives seven rows, and the first two identifiers.
    fn queries(lines: &str) -> Result<(Vec<usize>, String), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q");
        std::fs::write(&path, lines).unwrap();
        let options = ReadOptions::new().row_queries(RowQueries::File(path));
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
            ("3.0\n4.0\n", &[3, 4], "1 2"),
            (
                "3.000000000000000000e+00\n+4.000000000000000000e+00\n",
                &[3, 4],
                "1 2",
            ),
            ("\u{feff}2\n0\n5\n\n\n", &[2, 5], "1 3"),
            // As many lines as rows are identifiers, whatever their sum.
            ("1\n1\n1\n1\n1\n1\n1\n", &[7], "1 -"),
            ("0\n0\n0\n1\n1\n2\n3\n", &[3, 2, 1, 1], "0 1"),
            ("a\na\na\nb\nb\nc\nc\n\n", &[3, 2, 2], "a b"),
        ] {
            let expected = (sizes.to_vec(), ids.to_owned());
            assert_eq!(queries(lines).unwrap(), expected, "{lines:?}");
        }
        let merged = queries("1\n1\n2\n2\n1\n1\n1\n").unwrap();
        assert_eq!(merged, (vec![5, 2], "1 2".to_owned()));
    }

    #[test]
    fn other_files_are_refused_for_what_they_are() {
        let sizes =
            "expected 7 lines, one for each row of f, or sizes of queries that add up to 7, found ";
        let rows = "expected 7 lines, one for each row of f, found ";
        for (lines, [start, message]) in [
            ("3\n3\n", [sizes, "2 lines, which add up to 6"]),
            ("3\n4\n3\n4\n", [sizes, "4 lines, which add up to 14"]),
            ("", [sizes, "0 lines, which add up to 0"]),
            (
                "99999999999999999999999\n",
                [sizes, "\"99999999999999999999999\" on line 1"],
            ),
            (
                "3\n18446744073709551615\n6\n",
                [sizes, "\"18446744073709551615\" on line 2"],
            ),
            ("3.0\n3.0\n", [sizes, "2 lines, which add up to 6"]),
            ("3\n4.5\n", [rows, "2 lines"]),
            ("3\n-4\n", [rows, "2 lines"]),
            ("a\na\n", [rows, "2 lines"]),
            (
                "1\n2 3\n",
                ["2:3: ", "expected one query identifier a line, found \"3\""],
            ),
            (
                "1\n\n2\n",
                ["2:1: ", "expected a query identifier, found none"],
            ),
            (
                "3\r4\r",
                [
                    "1:2: ",
                    "expected lines that end in LF or CR LF, found CR alone",
                ],
            ),
        ] {
            let error = queries(lines).unwrap_err();
            let rest = error.strip_prefix(start).unwrap_or_default();
            assert!(rest.starts_with(message), "{lines:?}: {error}");
        }
    }
}
