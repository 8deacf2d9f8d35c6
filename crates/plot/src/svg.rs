//! Elements and documents of SVG, and their colours.

use std::fmt::Write as _;

use super::text::wrapped;

/// Space at the sides.
pub(super) const MARGIN: f64 = 16.0;

/// Size of text.
pub(super) const SMALL: f64 = 13.0;

pub(super) const BOLD: &str = "font-weight=\"600\"";
pub(super) const MIDDLE: &str = "text-anchor=\"middle\"";
pub(super) const END: &str = "text-anchor=\"end\"";

const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, \
                     'DejaVu Sans', sans-serif";

/// A colour on light and dark pages. Text and lines have a contrast of at least 4.5:1 with their page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hue {
    /// Text.
    Ink,
    /// Secondary text and lines.
    Grey,
    /// Lines of the grid.
    Grid,
    /// The page.
    Paper,
    /// The chosen or first thing.
    Blue,
    /// The thing compared with it.
    Orange,
}

impl Hue {
    const ALL: [Self; 6] = [
        Self::Ink,
        Self::Grey,
        Self::Grid,
        Self::Paper,
        Self::Blue,
        Self::Orange,
    ];

    /// Its class, and its values on light and dark pages.
    fn facts(self) -> (&'static str, [&'static str; 2]) {
        match self {
            Self::Ink => ("rk-ink", ["#1f2328", "#e6edf3"]),
            Self::Grey => ("rk-grey", ["#59636e", "#9198a1"]),
            Self::Grid => ("rk-grid", ["#e4e8ec", "#272d35"]),
            Self::Paper => ("rk-paper", ["#ffffff", "#0d1117"]),
            Self::Blue => ("rk-blue", ["#0969da", "#58a6ff"]),
            Self::Orange => ("rk-orange", ["#bc4c00", "#f0883e"]),
        }
    }

    /// The style rules of all colours, on a light page (0) or a dark one (1).
    fn rules(page: usize) -> String {
        let rule = |hue: Self| {
            let (class, colours) = hue.facts();
            let colour = colours[page];
            format!(".{class}{{fill:{colour}}}.{class}-s{{stroke:{colour};fill:none}}")
        };
        Self::ALL.map(rule).concat()
    }
}

/// Elements, and their height.
#[derive(Debug, Clone, Default)]
pub(super) struct Canvas {
    pub(super) width: f64,
    pub(super) height: f64,
    body: String,
}

pub(super) type Point = (f64, f64);

impl Canvas {
    pub(super) fn new(width: f64) -> Self {
        Self {
            width,
            ..Self::default()
        }
    }

    /// Places `other` with its upper left corner at `x`, `y`.
    pub(super) fn place(&mut self, other: &Self, (x, y): Point) {
        self.height = self.height.max(y + other.height);
        let (x, y) = (units(x), units(y));
        let body = &other.body;
        let _ = writeln!(
            self.body,
            "<g transform=\"translate({x} {y})\">\n{body}</g>"
        );
    }

    /// A document with the description `label`. A page of HTML can shrink it.
    pub(super) fn finish(self, label: &str) -> String {
        let [width, height] = [self.width, self.height + 10.0].map(units);
        let [light, dark] = [0, 1].map(Hue::rules);
        let (label, body) = (escaped(label), &self.body);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             style=\"max-width:100%;height:auto\" viewBox=\"0 0 {width} {height}\" role=\"img\" \
             aria-label=\"{label}\" font-family=\"{FONTS}\">\n<style>{light}\
             @media (prefers-color-scheme:dark){{{dark}}}\
             .rk-halo{{stroke-width:3px;stroke-linejoin:round;paint-order:stroke}}</style>\n\
             <rect class=\"rk-paper\" width=\"{width}\" height=\"{height}\"/>\n{body}</svg>\n"
        )
    }

    /// Begins a group of elements of a `class`, with a tooltip.
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

    /// Text with further attributes.
    pub(super) fn text(&mut self, at: Point, size: f64, hue: Hue, more: &str, text: &str) {
        let ([x, y, size], (class, _)) = ([at.0, at.1, size].map(units), hue.facts());
        let text = escaped(text);
        let _ = writeln!(
            self.body,
            "<text class=\"{class}\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\" {more}>{text}</text>"
        );
    }

    /// Text over lines, with a border in the page's colour.
    pub(super) fn halo(&mut self, at: Point, size: f64, hue: Hue, more: &str, text: &str) {
        let (paper, _) = Hue::Paper.facts();
        self.begin(&format!("rk-halo {paper}-s"), "");
        self.text(at, size, hue, more, text);
        self.end();
    }

    /// Wrapped text below all elements.
    pub(super) fn paragraph(&mut self, text: &str, size: f64, hue: Hue, more: &str) {
        for line in wrapped(text, size, self.width - 2.0 * MARGIN) {
            self.height += (size * 1.4).round();
            self.text((MARGIN, self.height), size, hue, more, &line);
        }
    }

    /// A path through `data`, with further attributes.
    pub(super) fn path(&mut self, data: &str, width: f64, hue: Hue, more: &str) {
        let ((class, _), width) = (hue.facts(), units(width));
        let _ = writeln!(
            self.body,
            "<path class=\"{class}-s\" stroke-width=\"{width}\" {more} d=\"{data}\"/>"
        );
    }

    /// A straight line with further attributes.
    pub(super) fn line(&mut self, from: Point, to: Point, width: f64, hue: Hue, more: &str) {
        let data = format!("M{} L{}", listed(&[from]), listed(&[to]));
        self.path(&data, width, hue, more);
    }

    pub(super) fn polyline(&mut self, points: &[Point], width: f64, hue: Hue, more: &str) {
        let ((class, _), points, width) = (hue.facts(), listed(points), units(width));
        let _ = writeln!(
            self.body,
            "<polyline class=\"{class}-s\" stroke-width=\"{width}\" stroke-linejoin=\"round\" \
             stroke-linecap=\"round\" {more} points=\"{points}\"/>"
        );
    }

    /// A filled area with further attributes.
    pub(super) fn polygon(&mut self, points: &[Point], hue: Hue, more: &str) {
        let ((class, _), points) = (hue.facts(), listed(points));
        let _ = writeln!(
            self.body,
            "<polygon class=\"{class}\" {more} points=\"{points}\"/>"
        );
    }

    pub(super) fn rectangle(&mut self, (x, y): Point, (width, height): Point, hue: Hue) {
        let corners = [
            (x, y),
            (x + width, y),
            (x + width, y + height),
            (x, y + height),
        ];
        self.polygon(&corners, hue, "");
    }
}

/// Points in the notation of paths and polygons.
pub(super) fn listed(points: &[Point]) -> String {
    let points = points
        .iter()
        .map(|&(x, y)| format!("{},{}", units(x), units(y)));
    points.collect::<Vec<_>>().join(" ")
}

/// A length rounded to a hundredth, never minus zero.
fn units(length: f64) -> f64 {
    (length * 100.0).round() / 100.0 + 0.0
}

/// `text` escaped for XML, as content or in quotes. Characters that XML lacks become U+FFFD.
fn escaped(text: &str) -> String {
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

    /// Contrast of two colours by the formula of WCAG.
    fn contrast(first: &str, second: &str) -> f64 {
        let luminance = |colour: &str| {
            let channel = |from: usize| {
                let value = u8::from_str_radix(&colour[from..from + 2], 16).unwrap();
                let value = f64::from(value) / 255.0;
                if value <= 0.04045 {
                    value / 12.92
                } else {
                    ((value + 0.055) / 1.055).powf(2.4)
                }
            };
            0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5) + 0.05
        };
        let (first, second) = (luminance(first), luminance(second));
        first.max(second) / first.min(second)
    }

    #[test]
    fn colours_stand_out_on_their_page() {
        let (_, pages) = Hue::Paper.facts();
        for hue in [Hue::Ink, Hue::Grey, Hue::Blue, Hue::Orange] {
            let (_, own) = hue.facts();
            for page in [0, 1] {
                assert!(contrast(own[page], pages[page]) >= 4.5, "{hue:?}");
            }
        }
    }
}
