//! A drawing as SVG elements, and the rules for its colours on dark pages.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::colour::Colour;

/// Width of a panel, in the units of the drawing: narrow enough for text of 13 units to be read
/// on a phone.
pub(super) const WIDTH: f64 = 440.0;

const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, \
                     'DejaVu Sans', sans-serif";

/// Colours of all that is not data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Tint {
    /// The page.
    Paper,
    /// Text.
    Ink,
    /// Text that steps back.
    Soft,
    /// Lines of the grid.
    Grid,
}

impl Tint {
    const ALL: [Self; 4] = [Self::Paper, Self::Ink, Self::Soft, Self::Grid];

    fn class(self) -> &'static str {
        match self {
            Self::Paper => "rk-paper",
            Self::Ink => "rk-ink",
            Self::Soft => "rk-soft",
            Self::Grid => "rk-grid",
        }
    }

    pub(super) fn light(self) -> &'static str {
        match self {
            Self::Paper => "#ffffff",
            Self::Ink => "#1b1f24",
            Self::Soft => "#57606a",
            Self::Grid => "#e3e6ea",
        }
    }

    pub(super) fn dark(self) -> &'static str {
        match self {
            Self::Paper => "#14161a",
            Self::Ink => "#e8eaed",
            Self::Soft => "#a4acb6",
            Self::Grid => "#2e333a",
        }
    }
}

/// Elements, how far they reach down, and the colours they use.
#[derive(Debug, Clone)]
pub(super) struct Canvas {
    pub(super) width: f64,
    pub(super) height: f64,
    body: String,
    /// Dark versions by class.
    colours: BTreeMap<String, String>,
}

impl Canvas {
    pub(super) fn new(width: f64) -> Self {
        Self {
            width,
            height: 0.0,
            body: String::new(),
            colours: BTreeMap::new(),
        }
    }

    /// Puts `other` with its upper left corner at `x`, `y`.
    pub(super) fn place(&mut self, other: Self, x: f64, y: f64) {
        self.height = self.height.max(y + other.height);
        let (x, y) = (units(x), units(y));
        let _ = writeln!(self.body, "<g transform=\"translate({x} {y})\">");
        self.body += &other.body;
        self.body += "</g>\n";
        self.colours.extend(other.colours);
    }

    /// A whole document. `paper` fills it first.
    pub(super) fn finish(self, title: &str, paper: Option<Tint>) -> String {
        let (width, height) = (units(self.width), units(self.height));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\" \
             font-family=\"{FONTS}\" style=\"max-width:100%;height:auto\">\n",
            escaped(title)
        );
        svg += &self.style();
        if let Some(paper) = paper {
            let (class, colour) = (paper.class(), paper.light());
            let _ = writeln!(
                svg,
                "<rect class=\"{class}\" fill=\"{colour}\" width=\"{width}\" height=\"{height}\"/>"
            );
        }
        svg += &self.body;
        svg += "</svg>\n";
        svg
    }

    fn style(&self) -> String {
        let mut style = "<style>.rk-series:hover polyline{stroke-width:4}\n\
                         @media (prefers-color-scheme:dark){"
            .to_owned();
        for tint in Tint::ALL {
            let (class, colour) = (tint.class(), tint.dark());
            let property = if tint == Tint::Grid { "stroke" } else { "fill" };
            let _ = write!(style, ".{class}{{{property}:{colour}}}");
        }
        let (paper, ink) = (Tint::Paper.dark(), Tint::Ink.dark());
        let _ = write!(style, ".rk-halo{{stroke:{paper}}}.rk-ring{{stroke:{ink}}}");
        for (class, dark) in &self.colours {
            let _ = write!(style, ".{class}{{fill:{dark}}}.{class}-s{{stroke:{dark}}}");
        }
        style += "}</style>\n";
        style
    }

    /// Text; `anchor` is `start`, `middle` or `end`.
    pub(super) fn text(&mut self, x: f64, y: f64, size: f64, anchor: &str, tint: Tint, text: &str) {
        let (x, y, size) = (units(x), units(y), units(size));
        let (class, colour, text) = (tint.class(), tint.light(), escaped(text));
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" fill=\"{colour}\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\" \
             text-anchor=\"{anchor}\">{text}</text>"
        );
    }

    /// A line of a title.
    pub(super) fn heading(&mut self, x: f64, y: f64, size: f64, text: &str) {
        let (x, y, size) = (units(x), units(y), units(size));
        let (class, colour) = (Tint::Ink.class(), Tint::Ink.light());
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" fill=\"{colour}\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\" \
             font-weight=\"600\">{}</text>",
            escaped(text)
        );
    }

    /// Text over data, readable on top of it.
    pub(super) fn text_over(&mut self, x: f64, y: f64, size: f64, anchor: &str, text: &str) {
        let (x, y, size) = (units(x), units(y), units(size));
        let _ = writeln!(
            self.body,
            "<text class=\"{} rk-halo\" fill=\"{}\" stroke=\"{}\" stroke-width=\"4\" \
             stroke-linejoin=\"round\" paint-order=\"stroke\" x=\"{x}\" y=\"{y}\" \
             font-size=\"{size}\" text-anchor=\"{anchor}\">{}</text>",
            Tint::Ink.class(),
            Tint::Ink.light(),
            Tint::Paper.light(),
            escaped(text)
        );
    }

    /// Text in the colour of the data it names, with the whole name as a tooltip.
    pub(super) fn label(&mut self, x: f64, y: f64, size: f64, colour: &Colour, text: &Titled<'_>) {
        self.note(colour);
        let (x, y, size) = (units(x), units(y), units(size));
        let _ = writeln!(
            self.body,
            "<text class=\"{}\" fill=\"{}\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\">{}\
             <title>{}</title></text>",
            colour.class,
            colour.light,
            escaped(text.shown),
            escaped(text.whole)
        );
    }

    /// A line of the grid or of an axis.
    pub(super) fn rule(&mut self, from: (f64, f64), to: (f64, f64)) {
        let (class, colour) = (Tint::Grid.class(), Tint::Grid.light());
        let _ = writeln!(
            self.body,
            "<line class=\"{class}\" stroke=\"{colour}\" x1=\"{}\" y1=\"{}\" x2=\"{}\" \
             y2=\"{}\"/>",
            units(from.0),
            units(from.1),
            units(to.0),
            units(to.1)
        );
    }

    /// Begins what belongs to one piece of data.
    pub(super) fn begin(&mut self, class: &str, title: &str) {
        let _ = write!(self.body, "<g class=\"{class}\">");
        if !title.is_empty() {
            let _ = write!(self.body, "<title>{}</title>", escaped(title));
        }
        self.body.push('\n');
    }

    pub(super) fn end(&mut self) {
        self.body += "</g>\n";
    }

    pub(super) fn polyline(
        &mut self,
        points: &[(f64, f64)],
        width: f64,
        dash: &str,
        colour: &Colour,
    ) {
        self.note(colour);
        let _ = write!(
            self.body,
            "<polyline class=\"{}-s\" fill=\"none\" stroke=\"{}\" stroke-width=\"{}\" \
             stroke-linejoin=\"round\" stroke-linecap=\"round\"",
            colour.class,
            colour.light,
            units(width)
        );
        if !dash.is_empty() {
            let _ = write!(self.body, " stroke-dasharray=\"{dash}\"");
        }
        self.body += " points=\"";
        for (index, (x, y)) in points.iter().enumerate() {
            let blank = if index == 0 { "" } else { " " };
            let _ = write!(self.body, "{blank}{},{}", units(*x), units(*y));
        }
        self.body += "\"/>\n";
    }

    /// A piece of a line, for a legend.
    pub(super) fn sample(&mut self, from: (f64, f64), to: (f64, f64), dash: &str, colour: &Colour) {
        self.note(colour);
        let _ = writeln!(
            self.body,
            "<line class=\"{}-s\" stroke=\"{}\" stroke-width=\"2.5\" stroke-dasharray=\"{dash}\" \
             x1=\"{}\" y1=\"{}\" x2=\"{}\" y2=\"{}\"/>",
            colour.class,
            colour.light,
            units(from.0),
            units(from.1),
            units(to.0),
            units(to.1)
        );
    }

    pub(super) fn dot(&mut self, (x, y): (f64, f64), radius: f64, colour: &Colour, title: &str) {
        self.note(colour);
        let _ = writeln!(
            self.body,
            "<circle class=\"{}\" fill=\"{}\" cx=\"{}\" cy=\"{}\" r=\"{}\"><title>{}</title>\
             </circle>",
            colour.class,
            colour.light,
            units(x),
            units(y),
            units(radius),
            escaped(title)
        );
    }

    /// A ring around a point.
    pub(super) fn ring(&mut self, (x, y): (f64, f64), title: &str) {
        let _ = writeln!(
            self.body,
            "<circle class=\"rk-ring\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" cx=\"{}\" \
             cy=\"{}\" r=\"6\"><title>{}</title></circle>",
            Tint::Ink.light(),
            units(x),
            units(y),
            escaped(title)
        );
    }

    pub(super) fn bar(&mut self, (x, y): (f64, f64), (width, height): (f64, f64), colour: &Colour) {
        self.note(colour);
        let _ = writeln!(
            self.body,
            "<rect class=\"{}\" fill=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"/>",
            colour.class,
            colour.light,
            units(x),
            units(y),
            units(width),
            units(height)
        );
    }

    fn note(&mut self, colour: &Colour) {
        self.colours
            .entry(colour.class.clone())
            .or_insert_with(|| colour.dark.clone());
    }
}

/// Text that may have been cut, and all of it.
pub(super) struct Titled<'a> {
    pub(super) shown: &'a str,
    pub(super) whole: &'a str,
}

/// A length, to a hundredth.
fn units(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = super::text::trimmed(&text);
    if text == "-0" { "0" } else { text }.to_owned()
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
        let lengths = [1.0, 0.126, -0.001, 100.5].map(units);
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
