//! A reader of tables in few lines, which knows nothing of stray quotes, memory or places: what the
//! reader of the library makes of a table that it does not refuse must be what this one makes of it.

use rankrls::Dataset;

/// The cells of a table, row by row.
fn rows(text: &[u8], separator: u8) -> Vec<Vec<Vec<u8>>> {
    let mut rows = vec![vec![Vec::new()]];
    let (mut quoted, mut at) = (false, 0);
    while let Some(&byte) = text.get(at) {
        at += 1;
        let row = rows.last_mut().expect("there is a first row");
        let cell = row.last_mut().expect("a row has a cell");
        match byte {
            b'"' if quoted && text.get(at) == Some(&b'"') => {
                cell.push(b'"');
                at += 1;
            }
            b'"' if quoted || cell.is_empty() => quoted = !quoted,
            b'\n' if !quoted => rows.push(vec![Vec::new()]),
            _ if byte == separator && !quoted => row.push(Vec::new()),
            _ => cell.push(byte),
        }
    }
    if text.ends_with(b"\n") {
        rows.pop();
    }
    let blank = [Vec::<u8>::new()];
    let header = rows.iter().position(|row| **row != blank);
    rows.drain(..header.unwrap_or(0));
    // Blank lines are no rows, but in a table of one column.
    if rows[0].len() > 1 {
        rows.retain(|row| **row != blank);
    }
    rows
}

/// Text without the begin of a file of Unicode and ends of lines of Windows; none where these or
/// another separator are told of elsewhere.
fn usual(text: &[u8]) -> Option<Vec<u8>> {
    let mark = "\u{feff}".as_bytes();
    let text = text.strip_prefix(mark).unwrap_or(text);
    let mut usual = text.to_vec();
    for _ in 0..2 {
        let ends = |at: usize| at > 0 && usual[at - 1] == b'\r' && usual[at] == b'\n';
        let kept = (0..usual.len()).filter(|&at| at + 1 == usual.len() || !ends(at + 1));
        usual = kept.map(|at| usual[at]).collect();
    }
    let lower = usual.to_ascii_lowercase();
    let has = |what: &[u8]| lower.windows(what.len()).any(|part| part == what);
    (!has(b"sep=") && !has(mark)).then_some(usual)
}

fn number(cell: &[u8]) -> Option<f64> {
    match cell {
        b"True" | b"true" | b"TRUE" => Some(1.0),
        b"False" | b"false" | b"FALSE" => Some(0.0),
        _ => std::str::from_utf8(cell).ok()?.parse().ok(),
    }
}

fn cell(row: &[Vec<u8>], place: usize) -> &[u8] {
    row[place].trim_ascii()
}

/// Holds data to the table that they were read from: rows, queries, labels in the column `label`, and
/// values.
pub fn agrees(data: &Dataset<'_>, text: &[u8], separator: u8, label: Option<&str>) {
    let Some(text) = usual(text) else { return };
    let rows = rows(&text, separator);
    let (titles, mut rows) = rows.split_first().expect("a header");
    let place = |name: &str| {
        titles
            .iter()
            .position(|title| title.trim_ascii() == name.as_bytes())
    };
    let mut grouped = Vec::new();
    if let Some(ids) = data.queries().ids() {
        let query = place("query").expect("a column of queries");
        for id in ids.iter() {
            let of_query = rows.iter().filter(|row| cell(row, query) == id.as_bytes());
            grouped.extend(of_query.cloned());
        }
        let sizes = data.queries().ranges().map(|range| range.len());
        let counted = grouped.chunk_by(|a, b| cell(a, query) == cell(b, query));
        assert!(counted.map(<[_]>::len).eq(sizes), "other queries");
        rows = &grouped;
    }
    assert_eq!(data.rows(), rows.len(), "other rows");
    if let Some(label) = label.and_then(place) {
        for (row, found) in rows.iter().zip(data.labels()) {
            // Without labels, as where rows are scored, a missing one is read as 0.
            let expected = number(cell(row, label)).filter(|label| label.is_finite());
            assert!(expected.is_none_or(|expected| expected == *found));
        }
    }
    for position in 0..data.stored_columns() {
        let column = data.column(position);
        let title = data.name_of(data.feature(position)).expect("a name");
        let place = titles.iter().position(|own| {
            String::from_utf8_lossy(own)
                .trim_ascii()
                .replace(['\n', '\r'], " ")
                == title
        });
        let place = place.expect("a column of this name");
        for (number_of_row, row) in rows.iter().enumerate() {
            let found = column
                .rows
                .binary_search(&u32::try_from(number_of_row).expect("few rows"));
            let found = found.map_or(0.0, |at| column.values[at]);
            // Some numbers say that a value is missing.
            let expected = number(cell(row, place)).filter(|value| value.abs() < 2_147_483_647.0);
            assert!(expected.is_none_or(|expected| expected == found));
        }
    }
}
