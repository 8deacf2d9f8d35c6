//! The lasting parts of outputs: texts without times, memory and versions, and documents as keys and types.

use serde_json::Value;

pub(crate) fn steady(text: &str) -> String {
    let version = concat!("rankrls ", env!("CARGO_PKG_VERSION"));
    let text = text.replace(version, "rankrls [version]");
    let lines = text.lines().map(|line| {
        let line = ["read in ", "selected in ", "trained in ", "tuned in "]
            .iter()
            .fold(line.to_owned(), |line, before| without_time(&line, before));
        match line.split_once(", peak memory ") {
            Some((begin, _)) => format!("{begin}, peak memory [size]\n"),
            None => line + "\n",
        }
    });
    lines.collect()
}

/// The line with `[time]` in place of the seconds after `before`.
fn without_time(line: &str, before: &str) -> String {
    match line.split_once(before) {
        Some((head, tail)) if tail.contains(" s,") => {
            let (_, rest) = tail.split_once(" s,").unwrap_or_default();
            format!("{head}{before}[time] s,{rest}")
        }
        _ => line.to_owned(),
    }
}

/// Each key of a document with its type, indented. An array is shown by its first entry.
pub(crate) fn shape(value: &Value, depth: usize) -> String {
    let indent = "  ".repeat(depth);
    let Value::Object(entries) = value else {
        return String::new();
    };
    let line = |(key, value): (&String, &Value)| {
        let (mut kind, mut inner) = (String::new(), value);
        while let Value::Array(items) = inner {
            kind += "[]";
            inner = items.first().unwrap_or(&Value::Null);
        }
        let name = match inner {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "text",
            Value::Object(_) | Value::Array(_) => "object",
        };
        format!("{indent}{key}: {name}{kind}\n{}", shape(inner, depth + 1))
    };
    entries.iter().map(line).collect()
}
