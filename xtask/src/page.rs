//! Pages of the documentation: what stands between markers, and numbers in tables.

use std::fs;

use anyhow::{Context, Result};

use crate::commands::root;

/// Puts `content` between the lines `begin` and `end` of a page.
///
/// # Errors
/// If the page cannot be read or written, or has no such lines.
pub(crate) fn fill(page: &str, begin: &str, end: &str, content: &[String]) -> Result<()> {
    let path = root().join(page);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {page}"))?;
    let filled = filled(&text, begin, end, content)
        .with_context(|| format!("{page}: expected the lines {begin:?} and {end:?}"))?;
    fs::write(&path, filled).with_context(|| format!("cannot write {page}"))
}

fn filled(text: &str, begin: &str, end: &str, content: &[String]) -> Option<String> {
    let (before, rest) = text.split_once(&format!("{begin}\n"))?;
    let place = rest.find(&format!("{end}\n"))?;
    let content = content.join("\n");
    Some(format!("{before}{begin}\n{content}\n{}", &rest[place..]))
}

/// A row of a table in Markdown.
pub(crate) fn row(cells: &[String]) -> String {
    format!("| {} |", cells.join(" | "))
}

/// At most `digits` significant digits, no zeros after the last.
pub(crate) fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let exponential = format!("{value:.*e}", usize::try_from(digits - 1).unwrap_or(0));
    let exponent = exponential
        .split_once('e')
        .and_then(|(_, exponent)| exponent.parse().ok());
    let exponent: i32 = exponent.unwrap_or(0);
    let decimals = usize::try_from(digits - 1 - exponent).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// The same with commas between thousands.
pub(crate) fn grouped(value: f64, digits: i32) -> String {
    let text = significant(value, digits);
    let whole = text.split('.').next().unwrap_or_default().len();
    let mut grouped = String::new();
    for (index, char) in text.chars().enumerate() {
        if index > 0 && index < whole && (whole - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(char);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_significant_digits() {
        for (value, digits, text) in [
            (643.485, 3, "643"),
            (5.471_38, 3, "5.47"),
            (1.8, 3, "1.8"),
            (0.0001, 6, "0.0001"),
            (0.0, 6, "0"),
        ] {
            assert_eq!(significant(value, digits), text);
        }
        assert_eq!(grouped(1_190_907.0, 10), "1,190,907");
        assert_eq!(grouped(1000.5, 6), "1,000.5");
        assert_eq!(grouped(400.0, 6), "400");
    }

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let content = ["x".to_owned(), "y".to_owned()];
        let page = filled(
            "a\n<!-- b -->\nold\n<!-- e -->\nc\n",
            "<!-- b -->",
            "<!-- e -->",
            &content,
        );
        assert_eq!(
            page.as_deref(),
            Some("a\n<!-- b -->\nx\ny\n<!-- e -->\nc\n")
        );
        assert_eq!(filled("a\n", "<!-- b -->", "<!-- e -->", &content), None);
    }
}
