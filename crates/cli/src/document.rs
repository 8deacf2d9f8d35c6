//! Reports of lines and tables, as text for terminals and as a page.

use rankrls_plot::{Figure, escaped, html_page};

use super::numbers::printable_lines;
use super::sheet::{Sheet, Table};

/// Lines and tables, one below the other.
#[derive(Debug, Default)]
pub(crate) struct Document(Vec<Block>);

#[derive(Debug)]
enum Block {
    Lines(String),
    Table(Table),
    /// A table that keeps to the width of a terminal.
    Narrow(Table),
}

impl Document {
    /// Adds text with its line breaks.
    pub(crate) fn lines(&mut self, text: impl Into<String>) {
        self.0.push(Block::Lines(text.into()));
    }

    /// Adds a table, and a line break.
    pub(crate) fn table<R>(&mut self, sheet: Sheet<'_, R>) {
        self.0.push(Block::Table(sheet.table()));
    }

    /// Adds a table that is no wider than the terminal, or than terminals usually are, and a line
    /// break.
    pub(crate) fn narrow(&mut self, table: Table) {
        self.0.push(Block::Narrow(table));
    }

    /// The text for people.
    pub(crate) fn text(&self) -> String {
        let blocks = self.0.iter().map(|block| match block {
            Block::Lines(text) => text.clone(),
            Block::Table(table) => table.text() + "\n",
            Block::Narrow(table) => table.narrow_text() + "\n",
        });
        blocks.collect()
    }

    /// A page that needs nothing but a browser: the panels of a figure, as many side by side as fit,
    /// and the report below them.
    pub(crate) fn page(&self, title: &str, figure: &Figure) -> String {
        let paragraph = |text: &str| match text.trim() {
            "" => String::new(),
            text => format!("<p>{}</p>\n", escaped(&printable_lines(text))),
        };
        let drawings = figure.to_svgs().into_iter();
        let drawings = drawings.map(|svg| format!("<div>\n{svg}</div>\n"));
        let drawings = drawings.collect::<Vec<_>>().concat();
        let blocks = self.0.iter().map(|block| match block {
            Block::Lines(text) => text.split("\n\n").map(paragraph).collect(),
            Block::Table(table) | Block::Narrow(table) => {
                format!(
                    "<div class=\"table\" tabindex=\"0\">\n{}</div>\n",
                    table.html()
                )
            }
        });
        let body = format!(
            "<main>\n<h1>{}</h1>\n<div class=\"figure\">\n{drawings}</div>\n{}{}{}</main>\n",
            escaped(&figure.title),
            paragraph(&figure.note),
            blocks.collect::<String>(),
            paragraph(&format!("rankrls {}", env!("CARGO_PKG_VERSION"))),
        );
        html_page(title, STYLE, &body)
    }
}

/// Colours are those of the drawings.
const STYLE: &str = "\
:root{color-scheme:light dark}
body{margin:0 auto;padding:1rem 1.5rem;max-width:100rem;font:15px/1.5 system-ui,sans-serif;\
background:#fff;color:#1f2328}
h1{font-size:1.3rem;overflow-wrap:anywhere}
p{white-space:pre-line;overflow-wrap:anywhere;max-width:60rem}
.figure{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,25rem),1fr));gap:1rem}
.figure svg{display:block;width:100%;max-width:36rem}
.table{overflow-x:auto;margin:1rem 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
th,td{padding:.15rem .9rem .15rem 0;text-align:right;vertical-align:top;white-space:nowrap}
th{font-weight:600;border-bottom:1px solid #8b949e}
.words{text-align:left}
td.words{white-space:normal;overflow-wrap:anywhere;min-width:9rem}
@media (prefers-color-scheme:dark){body{background:#0d1117;color:#e6edf3}}
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_text_and_a_page() {
        let mut document = Document::default();
        document.lines("<data>: 3 rows\n\n");
        document.table(Sheet::of(&[1_u64, 2]).number("step", |&step| step));
        document.lines("\nthe end\n");
        assert_eq!(
            document.text(),
            "<data>: 3 rows\n\nstep\n   1\n   2\n\nthe end\n"
        );
        let page = document.page("a report", &Figure::new("Paths & points"));
        for part in [
            "<h1>Paths &amp; points</h1>",
            "<p>&lt;data&gt;: 3 rows</p>",
            "<th>step</th>",
            "<p>the end</p>",
        ] {
            assert!(page.contains(part), "{part} in {page}");
        }
        assert!(!page.contains("<pre"));
    }
}
