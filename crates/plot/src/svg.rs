//! Elements and documents of SVG and HTML.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::paint::{PAPER, Paint};
use super::text::{cut, wrapped};

/// Width of a panel, in the units of the drawing: narrow enough for text of 13 units to be read
/// on a phone.
pub(super) const WIDTH: f64 = 440.0;

/// Width of a panel with names below it.
pub(super) const WIDE: f64 = 760.0;

/// Space at the sides.
pub(super) const MARGIN: f64 = 14.0;

/// The text attributes of titles.
pub(super) const BOLD: &str = "font-weight=\"600\"";

const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, \
                     'DejaVu Sans', sans-serif";

/// Elements, how far they reach down, and their colours.
#[derive(Debug, Clone, Default)]
pub(super) struct Canvas {
    pub(super) width: f64,
    pub(super) height: f64,
    body: String,
    paints: BTreeSet<Paint>,
}

pub(super) type Point = (f64, f64);

impl Canvas {
    pub(super) fn new(width: f64) -> Self {
        Self {
            width,
            ..Self::default()
        }
    }

    /// Puts `other` with its upper left corner at `x`, `y`.
    pub(super) fn place(&mut self, other: Self, (x, y): Point) {
        self.height = self.height.max(y + other.height);
        let (x, y) = (units(x), units(y));
        let _ = writeln!(self.body, "<g transform=\"translate({x} {y})\">");
        self.body += &other.body;
        self.body += "</g>\n";
        self.paints.extend(other.paints);
    }

    /// A document of this `size`, described by `label`.
    pub(super) fn finish(self, label: &str, size: Point) -> String {
        let [width, height] = [self.width, self.height].map(units);
        let [wide, high] = [size.0, size.1].map(units);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{wide}\" height=\"{high}\" \
             style=\"max-width:100%;height:auto\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"{}\" font-family=\"{FONTS}\">\n\
             <style>.rk-series:hover polyline{{stroke-width:4}}\n\
             @media (prefers-color-scheme:dark){{",
            escaped(label)
        );
        for Paint { class, dark, .. } in &self.paints {
            let _ = write!(svg, ".{class}{{fill:{dark}}}.{class}-s{{stroke:{dark}}}");
        }
        svg + "}</style>\n" + &self.body + "</svg>\n"
    }

    /// Attributes that fill an element.
    pub(super) fn fill(&mut self, paint: &Paint) -> String {
        self.paints.insert(paint.clone());
        format!("class=\"{}\" fill=\"{}\"", paint.class, paint.light)
    }

    /// Attributes that draw the outline of an element.
    pub(super) fn stroke(&mut self, paint: &Paint) -> String {
        self.paints.insert(paint.clone());
        let Paint { class, light, .. } = paint;
        format!("class=\"{class}-s\" stroke=\"{light}\" fill=\"none\"")
    }

    /// Begins a group of elements with `attributes`.
    pub(super) fn begin(&mut self, attributes: &str, title: &str) {
        let _ = writeln!(self.body, "<g {attributes}>{}", tooltip(title));
    }

    pub(super) fn end(&mut self) {
        self.body += "</g>\n";
    }

    /// Text with further attributes, cut where it is wider than `most`: a tooltip has the whole of it
    /// then.
    pub(super) fn text(
        &mut self,
        at: Point,
        size: f64,
        paint: &Paint,
        more: &str,
        text: &str,
        most: f64,
    ) {
        let shown = cut(text, size, most);
        let fill = self.fill(paint);
        let [x, y, size] = [at.0, at.1, size].map(units);
        let title = if shown == text { "" } else { text };
        let _ = writeln!(
            self.body,
            "<text {fill} x=\"{x}\" y=\"{y}\" font-size=\"{size}\" {more}>{}{}</text>",
            escaped(&shown),
            tooltip(title)
        );
    }

    /// Text below all that there is, in as many lines as it takes.
    pub(super) fn paragraph(&mut self, text: &str, size: f64, paint: &Paint, more: &str) {
        let most = self.width - 2.0 * MARGIN;
        for line in wrapped(text, size, most) {
            self.height += (size * 1.4).round();
            self.text((MARGIN, self.height), size, paint, more, &line, most);
        }
    }

    /// Begins text that is readable over data.
    pub(super) fn begin_halo(&mut self) {
        let stroke = self.stroke(&PAPER);
        let more = "stroke-width=\"4\" stroke-linejoin=\"round\" paint-order=\"stroke\"";
        self.begin(&format!("{stroke} {more}"), "");
    }

    /// A straight line with further attributes.
    pub(super) fn line(&mut self, from: Point, to: Point, paint: &Paint, more: &str) {
        let stroke = self.stroke(paint);
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(units);
        let _ = writeln!(
            self.body,
            "<line {stroke} {more} x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" y2=\"{y2}\"/>"
        );
    }

    pub(super) fn polyline(&mut self, points: &[Point], width: f64, dash: &str, paint: &Paint) {
        let (stroke, points, width) = (self.stroke(paint), listed(points), units(width));
        let _ = writeln!(
            self.body,
            "<polyline {stroke} stroke-width=\"{width}\" stroke-linejoin=\"round\" \
             stroke-linecap=\"round\" {dash} points=\"{points}\"/>"
        );
    }

    /// An area behind a line.
    pub(super) fn band(&mut self, points: &[Point], paint: &Paint) {
        let (fill, points) = (self.fill(paint), listed(points));
        let _ = writeln!(
            self.body,
            "<polygon {fill} fill-opacity=\"0.18\" points=\"{points}\"/>"
        );
    }

    /// A circle with further attributes, and a tooltip.
    pub(super) fn circle(&mut self, (x, y): Point, radius: f64, more: &str, title: &str) {
        let ([x, y, radius], title) = ([x, y, radius].map(units), tooltip(title));
        let _ = writeln!(
            self.body,
            "<circle {more} cx=\"{x}\" cy=\"{y}\" r=\"{radius}\">{title}</circle>"
        );
    }

    pub(super) fn rectangle(&mut self, (x, y): Point, (width, height): Point, paint: &Paint) {
        let fill = self.fill(paint);
        let [x, y, width, height] = [x, y, width, height].map(units);
        let _ = writeln!(
            self.body,
            "<rect {fill} x=\"{x}\" y=\"{y}\" width=\"{width}\" height=\"{height}\"/>"
        );
    }
}

fn listed(points: &[Point]) -> String {
    let points = points
        .iter()
        .map(|&(x, y)| format!("{},{}", units(x), units(y)));
    points.collect::<Vec<_>>().join(" ")
}

fn tooltip(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    format!("<title>{}</title>", escaped(text))
}

/// A length to a hundredth, never minus zero.
fn units(length: f64) -> f64 {
    (length * 100.0).round() / 100.0 + 0.0
}

/// `text` for XML and HTML, as content or in quotes. Characters that XML cannot have become
/// U+FFFD.
pub fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for char in text.chars() {
        match char {
            '&' => escaped += "&amp;",
            '<' => escaped += "&lt;",
            '>' => escaped += "&gt;",
            '"' => escaped += "&quot;",
            '\'' => escaped += "&#39;",
            '\t' | '\n' => escaped.push(char),
            '\r' => escaped.push(' '),
            '\0'..='\x1f' | '\x7f'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
                escaped.push(char::REPLACEMENT_CHARACTER);
            }
            char => escaped.push(char),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short() {
        let lengths = [1.0, 0.126, -0.001, 100.5].map(|length| units(length).to_string());
        assert_eq!(lengths, ["1", "0.13", "0", "100.5"]);
    }

    #[test]
    fn any_text_is_xml() {
        let text: String = (0..0x3000).filter_map(char::from_u32).collect();
        let document = format!("<a b=\"{0}\">{0}\u{fffd}</a>", escaped(&text));
        let document = roxmltree::Document::parse(&document).unwrap();
        let root = document.root_element();
        assert!(root.attribute("b").unwrap().contains("<&>") || root.text().is_some());
        assert_eq!(escaped("a\x00<\u{ffff}"), "a\u{fffd}&lt;\u{fffd}");
    }
}
