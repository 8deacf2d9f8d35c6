//! Figures in pages.

use std::fmt::Write as _;

use super::Figure;
use super::canvas::{Tint, escaped};

/// Panels beside each other where each has room; none is wider than its page.
const GRID: &str = "display:grid;gap:1rem 1.5rem;align-items:start;\
                    grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr))";

pub(super) fn fragment(figure: &Figure) -> String {
    let mut html = "<figure class=\"rk-figure\" style=\"margin:0;max-width:100%\">\n".to_owned();
    if !figure.title.is_empty() {
        let title = escaped(&figure.title);
        let _ = writeln!(
            html,
            "<figcaption style=\"font-weight:600;overflow-wrap:anywhere\">{title}</figcaption>"
        );
    }
    let _ = writeln!(html, "<div style=\"{GRID}\">");
    for panel in &figure.panels {
        let titles = [figure.title.as_str(), panel.title()];
        let titles: Vec<&str> = titles
            .into_iter()
            .filter(|title| !title.is_empty())
            .collect();
        let svg = panel.draw().finish(&titles.join(": "), None);
        html += "<div style=\"min-width:0;max-width:38rem\">";
        html += &svg
            .replacen("<svg ", "<svg preserveAspectRatio=\"xMinYMin\" ", 1)
            .replacen(
                "style=\"max-width:100%;height:auto\"",
                "style=\"display:block;width:100%;height:auto\"",
                1,
            );
        html += "</div>\n";
    }
    html += "</div>\n";
    if !figure.note.is_empty() {
        let note = escaped(&figure.note);
        let _ = writeln!(
            html,
            "<p class=\"rk-note\" style=\"font-size:.9rem;overflow-wrap:anywhere\">{note}</p>"
        );
    }
    html += "</figure>\n";
    html
}

pub(super) fn page(figure: &Figure) -> String {
    let title = escaped(&figure.title);
    let (paper, ink) = (Tint::Paper, Tint::Ink);
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n\
         :root{{color-scheme:light dark}}\n\
         body{{margin:1rem auto;padding:0 1rem;max-width:80rem;\
         font-family:system-ui,-apple-system,'Segoe UI',Roboto,Arial,sans-serif;\
         background:{};color:{}}}\n\
         @media (prefers-color-scheme:dark){{body{{background:{};color:{}}}}}\n\
         </style>\n</head>\n<body>\n{}</body>\n</html>\n",
        paper.light(),
        ink.light(),
        paper.dark(),
        ink.dark(),
        fragment(figure)
    )
}
