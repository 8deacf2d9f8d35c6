//! The table of docs/promises.md lists every warning, and no other.

use std::fs;
use std::path::Path;

use crate::layers::sources;

const PAGE: &str = include_str!("../../docs/promises.md");

/// The words in each row of the table that identify its warning.
fn rows() -> Vec<&'static str> {
    let (_, section) = PAGE.split_once("\n## Warnings\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let rows = section.lines().filter(|line| line.starts_with("| `"));
    rows.flat_map(|row| {
        let cell = row.split('|').nth(1).unwrap();
        cell.split('`').skip(1).step_by(2)
    })
    .collect()
}

/// The code of the files in some folders without their tests, as one line.
fn code() -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [
        "src",
        "crates/cli/src",
        "crates/parses/src",
        "python/src",
        "python/rankrls",
    ];
    let files = folders
        .into_iter()
        .flat_map(|folder| sources(&root.join(folder)));
    let files = files.filter(|path| {
        let is = |ending: &str| path.extension().is_some_and(|found| found == ending);
        is("rs") || is("py")
    });
    let code = files.map(|path| {
        let text = fs::read_to_string(path).unwrap();
        text.split("#[cfg(test)]\nmod tests")
            .next()
            .unwrap()
            .to_owned()
    });
    let code = code.collect::<Vec<_>>().join("\n").replace("\\\n", "\n");
    // Adjacent strings are one string in Python.
    let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
    code.replace("\" \"", "").replace("\" f\"", "")
}

/// The first string of each call of `function`, or the beginning of a call without one.
fn told<'c>(code: &'c str, function: &'c str) -> impl Iterator<Item = Result<&'c str, &'c str>> {
    code.split(function).skip(1).map(|call| {
        let mut depth = 1;
        let end = call.find(|char| {
            depth += match char {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        });
        let call = &call[..end.unwrap_or(call.len())];
        let (_, text) = call.split_once('"').ok_or(call)?;
        Ok(text)
    })
}

#[test]
fn the_table_has_all_warnings() {
    let (rows, code) = (rows(), code());
    for words in &rows {
        assert!(
            code.contains(words),
            "nothing is told in the words {words:?}"
        );
    }
    // The macro itself, functions of that name, and calls that pass on the words of others.
    let passed_on = [
        "text {with} values",
        "format!($($text)+)",
        "&selection, ",
        "args, &train, ",
        "warning",
        "skipped",
        "text",
        "{name}: {seen}",
        "{name} {warning}",
        "{}: {warning}",
        "message, UserWarning",
    ];
    let (mut said, mut others) = (0, Vec::new());
    for function in ["warning!(", "Warning::from(", ".warn(", "warnings.warn("] {
        for text in told(&code, function) {
            match text {
                Ok(text) if rows.iter().any(|words| text.contains(words)) => said += 1,
                Ok(text) | Err(text) => others.push(text),
            }
        }
    }
    others.retain(|text| !passed_on.iter().any(|known| text.starts_with(known)));
    assert_eq!(others, [""; 0], "docs/promises.md has no row for them");
    assert!(said >= rows.len() - 8, "{said} of {}", rows.len());
}
