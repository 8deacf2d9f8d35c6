//! Tables for people.

use comfy_table::{CellAlignment, ColumnConstraint, ContentArrangement, Table, presets};

/// A table without lines, numbers to the right. Columns of names and lists hold text, and
/// are wrapped where a terminal is too narrow.
pub(crate) fn table(header: &[String]) -> Table {
    let mut table = Table::new();
    table.load_preset(presets::NOTHING);
    table.set_header(header);
    for (column, title) in table.column_iter_mut().zip(header) {
        column.set_padding((0, 2));
        if !is_text(title) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

/// Whether the text of a column may be long. Words such as strategies stay whole.
fn wraps(title: &str) -> bool {
    is_text(title) && !matches!(title, "strategy" | "measure" | "role")
}

fn is_text(title: &str) -> bool {
    matches!(
        title,
        "name"
            | "query"
            | "strategy"
            | "measure"
            | "fold"
            | "features"
            | "role"
            | "file"
            | "verdict"
    )
}

/// The lines of a table, wrapped to the width of the terminal if standard output is one.
pub(crate) fn lines(table: Table) -> String {
    let width = table.width();
    lines_within(table, width)
}

fn lines_within(mut table: Table, width: Option<u16>) -> String {
    if let Some(width) = width {
        table.set_content_arrangement(ContentArrangement::Dynamic);
        table.set_width(width);
        let header: Vec<String> = table
            .header()
            .map(|header| header.cell_iter().map(comfy_table::Cell::content).collect())
            .unwrap_or_default();
        for (column, title) in table.column_iter_mut().zip(&header) {
            if !wraps(title) {
                column.set_constraint(ColumnConstraint::ContentWidth);
            }
        }
    } else {
        table.set_content_arrangement(ContentArrangement::Disabled);
    }
    table.trim_fmt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names() -> Table {
        let mut table = table(&["step", "name", "weight"].map(str::to_owned));
        table.add_row(["1", "a", "0.5"]);
        table.add_row(["10", &"long ".repeat(30), "-0.25"]);
        table
    }

    #[test]
    fn names_are_wrapped_on_terminals_only() {
        let wrapped = lines_within(names(), Some(80));
        assert!(wrapped.lines().count() > 3);
        assert!(wrapped.lines().all(|line| line.len() <= 80), "{wrapped}");
        let whole = lines_within(names(), None);
        assert_eq!(whole.lines().count(), 3, "{whole}");
    }
}
