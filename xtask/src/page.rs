//! What stands between markers in pages of the documentation.

use std::fs;

use anyhow::{Context, Result};

use crate::commands::root;

/// Puts `content` between the line `<!-- marker -->` of a page and the next one that ends a part.
///
/// # Errors
/// If the page cannot be read or written, or has no such lines.
pub(crate) fn fill(page: &str, marker: &str, content: &[String]) -> Result<()> {
    let path = root().join(page);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {page}"))?;
    let filled = filled(&text, marker, content)
        .with_context(|| format!("{page}: expected <!-- {marker} --> and <!-- end -->"))?;
    fs::write(&path, filled).with_context(|| format!("cannot write {page}"))
}

fn filled(text: &str, marker: &str, content: &[String]) -> Option<String> {
    let begin = format!("<!-- {marker} -->\n");
    let (before, rest) = text.split_once(&begin)?;
    let after = &rest[rest.find("<!-- end")?..];
    Some(format!("{before}{begin}{}\n{after}", content.join("\n")))
}

/// A row of a table in Markdown.
pub(crate) fn row<T: AsRef<str>>(cells: &[T]) -> String {
    let cells: Vec<&str> = cells.iter().map(AsRef::as_ref).collect();
    format!("| {} |", cells.join(" | "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_between_the_markers_changes() {
        let content = ["x".to_owned(), "y".to_owned()];
        let page = "a\n<!-- b -->\nold\n<!-- end b -->\nc\n<!-- end -->\n";
        assert_eq!(
            filled(page, "b", &content).as_deref(),
            Some("a\n<!-- b -->\nx\ny\n<!-- end b -->\nc\n<!-- end -->\n")
        );
        assert_eq!(filled("a\n", "b", &content), None);
    }
}
