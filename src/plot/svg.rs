//! A drawing as SVG elements, its colours on light pages and on dark ones, and pages around it.

use std::collections::BTreeMap;
use std::fmt::{self, Display, Write as _};

use super::Figure;

/// Width of a panel, in the units of the drawing: narrow enough for text of 13 units to be read
/// on a phone.
pub(super) const WIDTH: f64 = 440.0;

const FONTS: &str = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, \
                     'DejaVu Sans', sans-serif";

/// Colours of all that is not data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tint {
    /// The class in style sheets.
    class: &'static str,
    light: &'static str,
    dark: &'static str,
}

impl Tint {
    /// The page.
    pub(super) const PAPER: Self = Self::new("rk-paper", "#ffffff", "#14161a");
    /// Text.
    pub(super) const INK: Self = Self::new("rk-ink", "#1b1f24", "#e8eaed");
    /// Text that steps back.
    pub(super) const SOFT: Self = Self::new("rk-soft", "#57606a", "#a4acb6");
    /// Lines of the grid.
    const GRID: Self = Self::new("rk-grid", "#e3e6ea", "#2e333a");

    const fn new(class: &'static str, light: &'static str, dark: &'static str) -> Self {
        Self { class, light, dark }
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
    /// How much larger than its units the document is shown.
    scale: f64,
}

type Point = (f64, f64);

impl Canvas {
    pub(super) fn new(width: f64) -> Self {
        Self {
            width,
            height: 0.0,
            body: String::new(),
            colours: BTreeMap::new(),
            scale: 1.0,
        }
    }

    /// All of it in the middle of a page of `width` by `height`, as large as fits.
    pub(super) fn fitted(self, (width, height): Point) -> Self {
        let scale = (width / self.width).min(height / self.height);
        let mut page = Self::new(width / scale);
        let (x, y) = (page.width - self.width, height / scale - self.height);
        page.place(self, x / 2.0, y / 2.0);
        page.height = height / scale;
        page.scale = scale;
        page
    }

    /// Puts `other` with its upper left corner at `x`, `y`.
    pub(super) fn place(&mut self, other: Self, x: f64, y: f64) {
        self.height = self.height.max(y + other.height);
        let (x, y) = (Units(x), Units(y));
        let _ = writeln!(self.body, "<g transform=\"translate({x} {y})\">");
        self.body += &other.body;
        self.body += "</g>\n";
        self.colours.extend(other.colours);
    }

    /// A whole document. `paper` fills it first.
    pub(super) fn finish(self, title: &str, paper: Option<Tint>) -> String {
        let (width, height) = (Units(self.width), Units(self.height));
        let shown = [self.width, self.height].map(|units| Units(units * self.scale));
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{}\" height=\"{}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\" \
             font-family=\"{FONTS}\" style=\"max-width:100%;height:auto\">\n",
            shown[0],
            shown[1],
            escaped(title)
        );
        svg += &self.style();
        if let Some(Tint { class, light, .. }) = paper {
            let _ = writeln!(
                svg,
                "<rect class=\"{class}\" fill=\"{light}\" width=\"{width}\" height=\"{height}\"/>"
            );
        }
        svg + &self.body + "</svg>\n"
    }

    fn style(&self) -> String {
        let mut style = "<style>.rk-series:hover polyline{stroke-width:4}\n\
                         @media (prefers-color-scheme:dark){"
            .to_owned();
        for tint in [Tint::PAPER, Tint::INK, Tint::SOFT, Tint::GRID] {
            let property = if tint == Tint::GRID { "stroke" } else { "fill" };
            let _ = write!(style, ".{}{{{property}:{}}}", tint.class, tint.dark);
        }
        let (paper, ink) = (Tint::PAPER.dark, Tint::INK.dark);
        let _ = write!(style, ".rk-halo{{stroke:{paper}}}.rk-ring{{stroke:{ink}}}");
        let _ = write!(style, ".rk-level{{stroke:{}}}", Tint::SOFT.dark);
        for (class, dark) in &self.colours {
            let _ = write!(style, ".{class}{{fill:{dark}}}.{class}-s{{stroke:{dark}}}");
        }
        style + "}</style>\n"
    }

    /// Writes a line of the document.
    fn write(&mut self, element: fmt::Arguments<'_>) {
        let _ = writeln!(self.body, "{element}");
    }

    /// Writes text of a class and colour; `more` are further attributes, `content` is XML.
    fn words(
        &mut self,
        (x, y): Point,
        size: f64,
        (class, fill): (&str, &str),
        more: &str,
        content: &str,
    ) {
        let (x, y, size) = (Units(x), Units(y), Units(size));
        self.write(format_args!(
            "<text class=\"{class}\" fill=\"{fill}\" x=\"{x}\" y=\"{y}\" font-size=\"{size}\" \
             {more}>{content}</text>"
        ));
    }

    /// Text; `anchor` is `start`, `middle` or `end`.
    pub(super) fn text(&mut self, at: Point, size: f64, anchor: &str, tint: Tint, text: &str) {
        let more = format!("text-anchor=\"{anchor}\"");
        self.words(at, size, (tint.class, tint.light), &more, &escaped(text));
    }

    /// A line of a title.
    pub(super) fn heading(&mut self, at: Point, size: f64, text: &str) {
        let ink = (Tint::INK.class, Tint::INK.light);
        self.words(at, size, ink, "font-weight=\"600\"", &escaped(text));
    }

    /// Text over data, readable on top of it.
    pub(super) fn text_over(&mut self, at: Point, size: f64, anchor: &str, text: &str) {
        let class = format!("{} rk-halo", Tint::INK.class);
        let more = format!(
            "text-anchor=\"{anchor}\" stroke=\"{}\" stroke-width=\"4\" stroke-linejoin=\"round\" \
             paint-order=\"stroke\"",
            Tint::PAPER.light
        );
        self.words(at, size, (&class, Tint::INK.light), &more, &escaped(text));
    }

    /// Text in the colour of the data it names, `shown` as it may have been cut, `whole` as a
    /// tooltip.
    pub(super) fn label(
        &mut self,
        at: Point,
        size: f64,
        colour: &Colour,
        shown: &str,
        whole: &str,
    ) {
        self.note(colour);
        let content = format!("{}{}", escaped(shown), tooltip(whole));
        self.words(at, size, (&colour.class, &colour.light), "", &content);
    }

    /// A straight line of a class and colour; `more` are further attributes.
    fn straight(&mut self, from: Point, to: Point, (class, stroke): (&str, &str), more: &str) {
        let [x1, y1, x2, y2] = [from.0, from.1, to.0, to.1].map(Units);
        self.write(format_args!(
            "<line class=\"{class}\" stroke=\"{stroke}\" {more} x1=\"{x1}\" y1=\"{y1}\" x2=\"{x2}\" \
             y2=\"{y2}\"/>"
        ));
    }

    /// A line of the grid or of an axis.
    pub(super) fn rule(&mut self, from: Point, to: Point) {
        self.straight(from, to, (Tint::GRID.class, Tint::GRID.light), "");
    }

    /// A dashed line across the data.
    pub(super) fn level(&mut self, from: Point, to: Point) {
        let more = "stroke-width=\"1.2\" stroke-dasharray=\"5 4\"";
        self.straight(from, to, ("rk-level", Tint::SOFT.light), more);
    }

    /// A piece of a line, for a legend.
    pub(super) fn sample(&mut self, from: Point, to: Point, dash: &str, colour: &Colour) {
        self.note(colour);
        let class = format!("{}-s", colour.class);
        let more = format!("stroke-width=\"2.5\" stroke-dasharray=\"{dash}\"");
        self.straight(from, to, (&class, &colour.light), &more);
    }

    /// Begins the elements of one piece of data.
    pub(super) fn begin(&mut self, class: &str, title: &str) {
        let title = Some(title).filter(|title| !title.is_empty());
        let title = title.map_or_else(String::new, tooltip);
        self.write(format_args!("<g class=\"{class}\">{title}"));
    }

    pub(super) fn end(&mut self) {
        self.body += "</g>\n";
    }

    /// An area behind a line.
    pub(super) fn band(&mut self, points: &[Point], colour: &Colour) {
        self.note(colour);
        let (points, Colour { class, light, .. }) = (listed(points), colour);
        self.write(format_args!(
            "<polygon class=\"{class}\" fill=\"{light}\" fill-opacity=\"0.18\" points=\"{points}\"/>"
        ));
    }

    pub(super) fn polyline(&mut self, points: &[Point], width: f64, dash: &str, colour: &Colour) {
        self.note(colour);
        let (points, width) = (listed(points), Units(width));
        let Colour { class, light, .. } = colour;
        let dash = match dash {
            "" => String::new(),
            dash => format!(" stroke-dasharray=\"{dash}\""),
        };
        self.write(format_args!(
            "<polyline class=\"{class}-s\" fill=\"none\" stroke=\"{light}\" stroke-width=\"{width}\" \
             stroke-linejoin=\"round\" stroke-linecap=\"round\"{dash} points=\"{points}\"/>"
        ));
    }

    pub(super) fn dot(&mut self, (x, y): Point, radius: f64, colour: &Colour, title: &str) {
        self.note(colour);
        let Colour { class, light, .. } = colour;
        let ([x, y, radius], title) = ([x, y, radius].map(Units), tooltip(title));
        self.write(format_args!(
            "<circle class=\"{class}\" fill=\"{light}\" cx=\"{x}\" cy=\"{y}\" r=\"{radius}\">{title}\
             </circle>"
        ));
    }

    /// A ring around a point.
    pub(super) fn ring(&mut self, (x, y): Point, title: &str) {
        let (x, y, ink, title) = (Units(x), Units(y), Tint::INK.light, tooltip(title));
        self.write(format_args!(
            "<circle class=\"rk-ring\" fill=\"none\" stroke=\"{ink}\" stroke-width=\"2\" cx=\"{x}\" \
             cy=\"{y}\" r=\"6\">{title}</circle>"
        ));
    }

    pub(super) fn bar(&mut self, (x, y): Point, (width, height): Point, colour: &Colour) {
        self.note(colour);
        let Colour { class, light, .. } = colour;
        let [x, y, width, height] = [x, y, width, height].map(Units);
        self.write(format_args!(
            "<rect class=\"{class}\" fill=\"{light}\" x=\"{x}\" y=\"{y}\" width=\"{width}\" \
             height=\"{height}\"/>"
        ));
    }

    fn note(&mut self, colour: &Colour) {
        self.colours
            .entry(colour.class.clone())
            .or_insert_with(|| colour.dark.clone());
    }
}

fn listed(points: &[Point]) -> String {
    let points = points
        .iter()
        .map(|&(x, y)| format!("{},{}", Units(x), Units(y)));
    points.collect::<Vec<_>>().join(" ")
}

fn tooltip(text: &str) -> String {
    format!("<title>{}</title>", escaped(text))
}

/// A length, to a hundredth.
struct Units(f64);

impl Display for Units {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = format!("{:.2}", self.0);
        let text = super::text::trimmed(&text);
        formatter.write_str(if text == "-0" { "0" } else { text })
    }
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

/// A colour in both versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Colour {
    /// The class in style sheets. Equal classes are equal colours in all figures, as figures
    /// share a page.
    pub(super) class: String,
    pub(super) light: String,
    pub(super) dark: String,
}

impl Colour {
    fn new(class: String, light: &str, dark: &str) -> Self {
        Self {
            class,
            light: light.to_owned(),
            dark: dark.to_owned(),
        }
    }
}

/// Told apart by most eyes, at least 4.5:1 against their page.
const DISTINCT: [(&str, &str); 8] = [
    ("#1f6fb4", "#6db3f2"),
    ("#c8511b", "#ff9361"),
    ("#14784f", "#4fd19b"),
    ("#9a4fb0", "#cf9be6"),
    ("#8a7000", "#d9c04a"),
    ("#c23b6e", "#ff86b3"),
    ("#4b5d73", "#a9b8cc"),
    ("#0b7f8b", "#53d0dd"),
];

/// From what is near the page to what is far from it.
const LIGHT: [[f64; 3]; 5] = [
    [222.0, 160.0, 48.0],
    [222.0, 98.0, 60.0],
    [178.0, 50.0, 96.0],
    [104.0, 36.0, 124.0],
    [24.0, 20.0, 82.0],
];

const DARK: [[f64; 3]; 5] = [
    [126.0, 84.0, 196.0],
    [190.0, 84.0, 164.0],
    [240.0, 112.0, 96.0],
    [250.0, 172.0, 84.0],
    [252.0, 244.0, 176.0],
];

/// The colour of line `index` of several that have no order.
pub(super) fn distinct(index: usize) -> Colour {
    let index = index % DISTINCT.len();
    let (light, dark) = DISTINCT[index];
    Colour::new(format!("rk-c{index}"), light, dark)
}

/// How often [`distinct`] has been through its colours at line `index`.
pub(super) fn round(index: usize) -> usize {
    index / DISTINCT.len()
}

/// The colour of line `index` of `count` in order.
pub(super) fn ordered(index: usize, count: usize) -> Colour {
    let place = if count > 1 {
        index as f64 / (count - 1) as f64
    } else {
        1.0
    };
    let class = format!("rk-q{index}-{count}");
    Colour::new(class, &between(&LIGHT, place), &between(&DARK, place))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "from 0 to 4, and from 0 to 255"
)]
fn between(stops: &[[f64; 3]; 5], place: f64) -> String {
    let place = place * (stops.len() - 1) as f64;
    let first = (place as usize).min(stops.len() - 2);
    let share = place - first as f64;
    let mix = |channel: usize| {
        let (from, to) = (stops[first][channel], stops[first + 1][channel]);
        (from + share * (to - from)).round() as u8
    };
    format!("#{:02x}{:02x}{:02x}", mix(0), mix(1), mix(2))
}

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
        let described = [figure.title.as_str(), &panel.description()];
        let described: Vec<&str> = described
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect();
        let svg = panel.draw().finish(&described.join(": "), None);
        html += "<div style=\"min-width:0;max-width:38rem\">";
        // Within a page the name space goes without saying.
        html += &svg
            .replacen(" xmlns=\"http://www.w3.org/2000/svg\"", "", 1)
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

/// An HTML page with a title, a style sheet and a body.
pub fn html_page(title: &str, style: &str, body: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{}</title>\n<style>\n{style}</style>\n</head>\n<body>\n{body}</body>\n</html>\n",
        escaped(title)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_are_short() {
        let lengths = [1.0, 0.126, -0.001, 100.5].map(|length| Units(length).to_string());
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

    #[test]
    fn scales_run_from_end_to_end() {
        assert_eq!(ordered(0, 21).light, "#dea030");
        assert_eq!(ordered(20, 21).light, "#181452");
        assert_eq!(ordered(0, 1).dark, "#fcf4b0");
        let colours: std::collections::HashSet<String> =
            (0..21).map(|index| ordered(index, 21).light).collect();
        assert_eq!(colours.len(), 21);
    }

    /// Contrast of two colours by WCAG.
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
    fn lines_stand_out_on_their_page() {
        for index in 0..8 {
            let colour = distinct(index);
            assert!(contrast(&colour.light, "#ffffff") >= 4.5, "{colour:?}");
            assert!(contrast(&colour.dark, "#14161a") >= 4.5, "{colour:?}");
        }
        for index in 0..21 {
            let colour = ordered(index, 21);
            assert!(contrast(&colour.light, "#ffffff") >= 2.2, "{colour:?}");
            assert!(contrast(&colour.dark, "#14161a") >= 2.2, "{colour:?}");
        }
    }
}
