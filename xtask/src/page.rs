//! What stands between markers in pages of the documentation.

use std::fs;

use anyhow::{Context, Result};

use crate::commands::root;

/// Puts lines between the line `<!-- marker -->` of a page and the next one that ends a part. `content`
/// makes them from what stands there.
pub(crate) fn fill(
    page: &str,
    marker: &str,
    content: impl FnOnce(&str) -> Result<Vec<String>>,
) -> Result<()> {
    let file = root().join(page);
    let text = fs::read_to_string(&file).with_context(|| format!("cannot read {page}"))?;
    let parts = split(&text, marker);
    let [before, part, after] = parts.with_context(|| format!("{page}: no part {marker}"))?;
    let filled = format!("{before}{}\n{after}", content(part)?.join("\n"));
    fs::write(file, filled).with_context(|| format!("cannot write {page}"))
}

/// A page before, in and after a part.
fn split<'a>(text: &'a str, marker: &str) -> Option<[&'a str; 3]> {
    let begin = format!("<!-- {marker} -->\n");
    let (before, rest) = text.split_at(text.find(&begin)? + begin.len());
    let (part, after) = rest.split_at(rest.find("<!-- end")?);
    Some([before, part, after])
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
    fn a_part_is_between_its_marker_and_the_next_end() {
        let page = "a\n<!-- b -->\nold\n<!-- end b -->\nc\n<!-- end -->\n";
        let parts = [
            "a\n<!-- b -->\n",
            "old\n",
            "<!-- end b -->\nc\n<!-- end -->\n",
        ];
        assert_eq!(split(page, "b"), Some(parts));
        assert_eq!(split("a\n", "b"), None);
    }
}
