//! What differs from run to run, taken out of texts and documents: times, the memory of the
//! process, versions, and hashes of files with a version in them. Selections are the same bits
//! everywhere; training may round otherwise on another processor, so its figures are shortened.

use std::fmt::Write as _;

/// Keys of documents whose values are taken out, whatever they are.
const KEYS: &[&str] = &[
    "iterations",
    "memory_bytes",
    "peak_bytes",
    "peak_rss_bytes",
    "residual",
    "seconds",
    "version",
];

pub(crate) fn steady(text: &str) -> String {
    let text = text.replace(
        concat!("rankrls ", env!("CARGO_PKG_VERSION")),
        "rankrls [version]",
    );
    let text = if text.starts_with("{\n") {
        document(&text)
    } else {
        table(&text)
    };
    if text.contains("corpus/2") {
        return hashes(&text);
    }
    text
}

/// A document, pretty as the program prints it. Its order of keys stays.
fn document(text: &str) -> String {
    let mut kept = String::new();
    let trained = text.contains("rankrls.training/1");
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        let indent = line.len() - line.trim_start().len();
        let Some((key, value)) = line.trim_start().split_once("\": ") else {
            kept += line;
            kept.push('\n');
            continue;
        };
        let name = key.trim_start_matches('"');
        let lasts = !KEYS.contains(&name) && !name.ends_with("_seconds");
        if lasts
            && trained
            && let Some(short) = shortened(value)
        {
            writeln!(kept, "{}{key}\": {short}", &line[..indent]).unwrap();
            continue;
        }
        if lasts || value.starts_with("null") {
            kept += line;
            kept.push('\n');
            continue;
        }
        let mut last = value;
        if let "{" | "[" = value {
            last = lines
                .by_ref()
                .find(|line| line.len() - line.trim_start().len() == indent)
                .unwrap();
        }
        let comma = if last.ends_with(',') { "," } else { "" };
        writeln!(kept, "{}{key}\": \"[{name}]\"{comma}", &line[..indent]).unwrap();
    }
    kept
}

/// A number of more than twelve digits with twelve, and what follows it.
fn shortened(value: &str) -> Option<String> {
    let (number, comma) = match value.strip_suffix(',') {
        Some(number) => (number, ","),
        None => (value, ""),
    };
    let long = number.bytes().filter(u8::is_ascii_digit).count() > 12;
    let number: f64 = number.parse().ok().filter(|_| long)?;
    let number: f64 = format!("{number:.11e}").parse().unwrap();
    Some(format!("{number}{comma}"))
}

/// Files of corpora have the version in their first line.
fn hashes(text: &str) -> String {
    let line = |line: &str| match line.split_once("\": ") {
        Some((key, hash)) if key.ends_with("\"blake3") || key.contains(".zst") => {
            let comma = if hash.ends_with(',') { "," } else { "" };
            format!("{key}\": \"[hash]\"{comma}\n")
        }
        _ => format!("{line}\n"),
    };
    text.lines().map(line).collect()
}

fn table(text: &str) -> String {
    let mut kept = String::new();
    // Where the columns begin and end that are taken out of the lines of a table.
    let mut cut: Option<(usize, usize)> = None;
    for line in text.lines() {
        let end = |title: &str| line.find(title).map(|at| at + title.len());
        if line.starts_with("strategy ") {
            let process = end(" with data").zip(end(" process"));
            cut = process.or_else(|| line.find("  seconds").zip(end(" memory")));
        } else if let Some(begin) = line.find("  iterations") {
            // The last two columns.
            writeln!(kept, "{}  iterations  residual", &line[..begin]).unwrap();
            cut = Some((begin, usize::MAX));
            continue;
        } else if line.is_empty() {
            cut = None;
        }
        if let Some((begin, end)) = cut {
            writeln!(
                kept,
                "{}  [..]{}",
                &line[..begin],
                line.get(end..).unwrap_or("")
            )
            .unwrap();
        } else {
            kept += &sentence(line);
            kept.push('\n');
        }
    }
    if !text.ends_with('\n') {
        kept.pop();
    }
    kept
}

fn sentence(line: &str) -> String {
    let line = between(line, "read in ", " s,", "[time]");
    let line = between(&line, "selected in ", " s,", "[time]");
    let line = between(&line, "trained in ", " s,", "[time]");
    let line = between(&line, "tuned in ", " s,", "[time]");
    match line.split_once(", peak memory ") {
        Some((begin, _)) => format!("{begin}, peak memory [size]"),
        None => line,
    }
}

/// With `new` in place of a number between two texts.
fn between(line: &str, before: &str, after: &str, new: &str) -> String {
    let Some((head, tail)) = line.split_once(before) else {
        return line.to_owned();
    };
    match tail.split_once(after) {
        Some((number, rest)) if number.parse::<f64>().is_ok() => {
            format!("{head}{before}{new}{after}{rest}")
        }
        _ => line.to_owned(),
    }
}
