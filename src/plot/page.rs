//! Panels arranged as a document, and as a part of an HTML page.

use std::fmt::Write as _;

use super::panels::{self, Keys};
use super::svg::{BOLD, Canvas, INK, PAPER, SOFT, Units, WIDTH, escaped};
use super::{Figure, Panel};

const SVG: &str = "xmlns=\"http://www.w3.org/2000/svg\"";

/// Panels beside each other where each has room; none is wider than its page.
const GRID: &str = "display:grid;gap:1rem 1.5rem;align-items:start;\
                    grid-template-columns:repeat(auto-fit,minmax(min(100%,22rem),1fr))";

impl Figure {
    /// One SVG document with all panels.
    pub fn to_svg(&self) -> String {
        let size = self.size;
        let size = size.map(|(width, height)| (f64::from(width), f64::from(height)));
        let page = match size {
            Some(size) => self.fitted(size),
            None => self.arranged(self.columns),
        };
        let (width, height) = size.unwrap_or((page.width, page.height));
        let size = format!("width=\"{}\" height=\"{}\"", Units(width), Units(height));
        let mut paper = Canvas::new(page.width);
        paper.rectangle((0.0, 0.0), (page.width, page.height), &PAPER);
        paper.place(page, (0.0, 0.0));
        let panels = self.panels.iter().map(Panel::description);
        let described: Vec<String> = [self.title.clone()].into_iter().chain(panels).collect();
        let attributes = format!("{SVG} {size} style=\"max-width:100%;height:auto\"");
        paper.finish(&described.join(". "), &attributes)
    }

    /// The panels side by side so that they are as large as fits, in the middle of a page of these
    /// proportions.
    fn fitted(&self, (width, height): (f64, f64)) -> Canvas {
        let scale = |page: &Canvas| (width / page.width).min(height / page.height);
        let pages = (1..=self.panels.len()).map(|columns| self.arranged(columns));
        let largest = pages.max_by(|page, other| scale(page).total_cmp(&scale(other)));
        let panels = largest.unwrap_or_else(|| self.arranged(1));
        let scale = scale(&panels);
        let mut page = Canvas::new(width / scale);
        let (x, y) = (page.width - panels.width, height / scale - panels.height);
        page.place(panels, (x / 2.0, y / 2.0));
        page.height = height / scale;
        page
    }

    /// The panels in rows of `columns`.
    fn arranged(&self, columns: usize) -> Canvas {
        let keys = Keys::of(self);
        let columns = columns.clamp(1, self.panels.len().max(1));
        let mut page = Canvas::new(WIDTH * columns as f64);
        page.paragraph(&self.title, 17.0, &INK, BOLD);
        keys.legend(&mut page);
        page.height += 4.0;
        for row in self.panels.chunks(columns) {
            let top = page.height;
            for (panel, left) in row.iter().zip(0..) {
                let at = (f64::from(left) * WIDTH, top);
                page.place(panels::draw(panel, &keys), at);
            }
        }
        page.paragraph(&self.note, 12.5, &SOFT, "");
        page.height += 10.0;
        page
    }

    /// An HTML `<figure>`, to be put into the body of a page: one SVG a panel, beside each other
    /// where there is room, never wider than the page. It needs nothing from elsewhere.
    pub fn to_html_fragment(&self) -> String {
        let keys = Keys::of(self);
        let svg = |canvas: Canvas, most: u8, label: &str| {
            let attributes =
                "preserveAspectRatio=\"xMinYMin\" style=\"display:block;width:100%;height:auto\"";
            let svg = canvas.finish(label, attributes);
            format!("<div style=\"min-width:0;max-width:{most}rem\">{svg}</div>\n")
        };
        let mut html =
            "<figure class=\"rk-figure\" style=\"margin:0;max-width:100%\">\n".to_owned();
        if !self.title.is_empty() {
            let style = "font-weight:600;overflow-wrap:anywhere";
            let title = escaped(&self.title);
            let _ = writeln!(html, "<figcaption style=\"{style}\">{title}</figcaption>");
        }
        let mut legend = Canvas::new(WIDTH);
        keys.legend(&mut legend);
        if legend.height > 0.0 {
            html += &svg(legend, 28, "the colours of the lines");
        }
        let _ = writeln!(html, "<div style=\"{GRID}\">");
        for panel in &self.panels {
            let label = match &*self.title {
                "" => panel.description(),
                title => format!("{title}: {}", panel.description()),
            };
            html += &svg(panels::draw(panel, &keys), 38, &label);
        }
        html += "</div>\n";
        if !self.note.is_empty() {
            let style = "font-size:.9rem;overflow-wrap:anywhere";
            let note = escaped(&self.note);
            let _ = writeln!(html, "<p class=\"rk-note\" style=\"{style}\">{note}</p>");
        }
        html + "</figure>\n"
    }
}

/// An HTML page with a title, a style sheet and a body.
pub fn html_page(title: &str, style: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escaped(title)
    )
}
