//! Panels of lines.

use super::axis::Axis;
use super::svg::{BOLD, Canvas, END, Hue, MARGIN, MIDDLE, Point, SMALL};
use super::text::{width, wrapped};

/// Width of a panel in the units of the drawing: on a phone, text of 13 units stays readable.
const WIDTH: f64 = 440.0;

/// Height of the data area.
const DEPTH: f64 = 200.0;

/// Height of a line of text.
const LINE: f64 = 18.0;

/// Gap between columns of text.
const GAP: f64 = 20.0;

/// Strokes of lines.
const DASHES: [&str; 3] = ["", "stroke-dasharray=\"7 5\"", "stroke-dasharray=\"2 5\""];

/// Panels of lines under a title, two side by side.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Lines {
    /// Title of all panels. Empty for none.
    pub title: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// The names of 1, 2 and so on of the horizontal axes, listed below the panels.
    pub names: Vec<String>,
    /// Smaller text below all. Empty for none.
    pub note: String,
}

/// Lines over a common pair of axes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Panel {
    /// Quantity of the horizontal axis.
    pub x_label: String,
    /// Quantity of the vertical axis.
    pub y_label: String,
    /// The lines, the last above all others.
    pub lines: Vec<Line>,
}

/// A line.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Its name in the legend, which lists each name once. Empty for none.
    pub name: String,
    /// Text of its tooltip behind the name.
    pub detail: String,
    /// Its points, in the order of the line. `None` breaks the line.
    pub points: Vec<(f64, Option<f64>)>,
    /// The spread around it: `x`, and the band from low to high there. Empty for none.
    pub band: Vec<(f64, f64, f64)>,
    /// Its colour.
    pub hue: Hue,
    /// 0: solid; 1 and 2: dashes.
    pub dashes: usize,
    /// Whether it is thick.
    pub bold: bool,
}

impl Line {
    /// A line through `points`.
    pub fn new(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, Option<f64>)>,
        hue: Hue,
    ) -> Self {
        Self {
            name: name.into(),
            detail: String::new(),
            points: points.into_iter().collect(),
            band: Vec::new(),
            hue,
            dashes: 0,
            bold: false,
        }
    }

    /// A line through values at 1, 2 and so on.
    pub fn path(
        name: impl Into<String>,
        values: impl IntoIterator<Item = Option<f64>>,
        hue: Hue,
    ) -> Self {
        let places = (1..).map(f64::from);
        Self::new(name, places.zip(values), hue)
    }

    /// Attributes of its stroke, and its thickness.
    fn stroke(&self) -> (&'static str, f64) {
        let dashes = DASHES[self.dashes.min(DASHES.len() - 1)];
        (dashes, if self.bold { 2.8 } else { 1.5 })
    }
}

impl Lines {
    /// One SVG document.
    pub fn to_svg(&self) -> String {
        let columns = self.panels.len().clamp(1, 2);
        let mut page = Canvas::new(WIDTH * columns as f64);
        page.paragraph(&self.title, 16.0, Hue::Ink, BOLD);
        page.height += 4.0;
        self.legend(&mut page);
        let left = self.panels.iter().map(Panel::left).fold(0.0, f64::max);
        for row in self.panels.chunks(columns) {
            let top = page.height + 4.0;
            for (panel, place) in row.iter().zip(0..) {
                page.place(&panel.drawn(left), (f64::from(place) * WIDTH, top));
            }
        }
        self.list(&mut page);
        page.height += 4.0;
        page.paragraph(&self.note, 12.5, Hue::Grey, "");
        let described = self
            .panels
            .iter()
            .map(|panel| format!("{} against {}", panel.y_label, panel.x_label));
        let described: Vec<String> = [self.title.clone()].into_iter().chain(described).collect();
        page.finish(&described.join(". "))
    }

    /// A legend of all lines, each name behind a piece of its line.
    fn legend(&self, page: &mut Canvas) {
        let mut lines: Vec<&Line> = Vec::new();
        for line in self.panels.iter().flat_map(|panel| &panel.lines) {
            if !line.name.is_empty() && lines.iter().all(|other| other.name != line.name) {
                lines.push(line);
            }
        }
        let (right, mut x) = (page.width - MARGIN, MARGIN);
        let most = right - MARGIN - 26.0;
        for (place, line) in lines.iter().enumerate() {
            let extent = 26.0 + width(&line.name, SMALL).min(most);
            if place == 0 || x + extent > right {
                x = MARGIN;
                page.height += LINE + 2.0;
            }
            let (dashes, thick) = line.stroke();
            let y = page.height - 4.5;
            page.line((x, y), (x + 20.0, y), thick, line.hue, dashes);
            for (part, place) in wrapped(&line.name, SMALL, most).iter().zip(0..) {
                page.height += if place > 0 { LINE } else { 0.0 };
                page.text((x + 26.0, page.height), SMALL, Hue::Ink, "", part);
            }
            x += extent + GAP;
        }
    }

    /// The list of the names of 1, 2 and so on, in columns.
    fn list(&self, page: &mut Canvas) {
        let names = self.names.iter().zip(1..);
        let names: Vec<String> = names
            .map(|(name, place)| format!("{place} {name}"))
            .collect();
        let widest = names
            .iter()
            .map(|name| width(name, SMALL))
            .fold(0.0, f64::max);
        let room = page.width - 2.0 * MARGIN;
        let fits = |&columns: &usize| widest + GAP <= room / columns as f64;
        let columns = [4, 3, 2].into_iter().find(fits).unwrap_or(1);
        let (top, cell) = (page.height, room / columns as f64);
        let many = names.len().div_ceil(columns).max(1);
        for (column, place) in names.chunks(many).zip(0..) {
            let (x, mut y) = (MARGIN + f64::from(place) * cell, top);
            for line in column.iter().flat_map(|name| wrapped(name, SMALL, cell)) {
                y += LINE;
                page.text((x, y), SMALL, Hue::Ink, "", &line);
            }
            page.height = page.height.max(y);
        }
    }
}

impl Panel {
    /// The vertical axis of all values, from the place `from` to the place `to`.
    fn vertical(&self, places: Point) -> Axis {
        let points = |line: &Line| {
            line.points
                .iter()
                .filter_map(|&(_, y)| y)
                .collect::<Vec<_>>()
        };
        let bands = self.lines.iter().flat_map(|line| &line.band);
        let bands = bands.flat_map(|&(_, low, high)| [low, high]);
        let values: Vec<f64> = self.lines.iter().flat_map(points).chain(bands).collect();
        Axis::new(&values, 0.05, places)
    }

    /// The left end of its area, which leaves room for tick labels.
    fn left(&self) -> f64 {
        let axis = self.vertical((1.0, 0.0));
        let widths = axis.ticks().map(|(_, label)| width(&label, SMALL));
        MARGIN + widths.fold(0.0, f64::max) + 6.0
    }

    /// The panel, with its area at `left`.
    fn drawn(&self, left: f64) -> Canvas {
        let mut canvas = Canvas::new(WIDTH);
        canvas.paragraph(&self.y_label, SMALL, Hue::Grey, "");
        let top = canvas.height + 10.0;
        let bands = self
            .lines
            .iter()
            .flat_map(|line| &line.band)
            .map(|&(x, ..)| x);
        let points = self.lines.iter().flat_map(|line| &line.points);
        let points = points.filter_map(|&(x, y)| y.map(|_| x));
        let across: Vec<f64> = points.chain(bands).collect();
        let area = Area {
            x: Axis::new(&across, 0.03, (left, WIDTH - MARGIN)),
            y: self.vertical((top + DEPTH, top)),
        };
        area.grid(&mut canvas, &self.x_label);
        for line in &self.lines {
            area.band(&mut canvas, line);
        }
        let drawn = self.lines.iter().map(|line| area.line(&mut canvas, line));
        if drawn.sum::<usize>() == 0 {
            let middle = (f64::midpoint(left, WIDTH - MARGIN), top + DEPTH / 2.0);
            canvas.text(middle, SMALL, Hue::Grey, MIDDLE, "no values");
        }
        canvas
    }
}

/// The area of a panel, with its axes.
struct Area {
    x: Axis,
    y: Axis,
}

impl Area {
    /// The place of a point. `None` if the point has none.
    fn at(&self, (x, y): Point) -> Option<Point> {
        Some((self.x.place(x)?, self.y.place(y)?))
    }

    /// Draws the ticks, and the quantity of the horizontal axis.
    fn grid(&self, canvas: &mut Canvas, quantity: &str) {
        let (left, right, top, bottom) = (self.x.from, self.x.to, self.y.to, self.y.from);
        for (y, label) in self.y.ticks() {
            canvas.line((left, y), (right, y), 1.0, Hue::Grid, "");
            canvas.text((left - 6.0, y + 4.5), SMALL, Hue::Grey, END, &label);
        }
        let mut free = f64::NEG_INFINITY;
        for (x, label) in self.x.ticks() {
            canvas.line((x, top), (x, bottom), 1.0, Hue::Grid, "");
            let half = width(&label, SMALL) / 2.0;
            if x - half >= free {
                canvas.text((x, bottom + 18.0), SMALL, Hue::Grey, MIDDLE, &label);
                free = x + half + 4.0;
            }
        }
        let middle = (f64::midpoint(left, right), bottom + 36.0);
        canvas.text(middle, SMALL, Hue::Grey, MIDDLE, quantity);
        canvas.height = bottom + 44.0;
    }

    fn band(&self, canvas: &mut Canvas, line: &Line) {
        let below = line.band.iter().map(|&(x, low, _)| (x, low));
        let above = line.band.iter().rev().map(|&(x, _, high)| (x, high));
        let points = below.chain(above).filter_map(|point| self.at(point));
        let points: Vec<Point> = points.collect();
        match points[..] {
            // The band of a single point.
            [low, high] => canvas.line(low, high, 6.0, line.hue, "opacity=\"0.3\""),
            [_, _, _, _, ..] => canvas.polygon(&points, line.hue, "fill-opacity=\"0.18\""),
            _ => {}
        }
    }

    /// Draws a line, broken where a point has no place. Returns the number of pieces.
    fn line(&self, canvas: &mut Canvas, line: &Line) -> usize {
        let (dashes, thick) = line.stroke();
        canvas.begin("rk-line", format!("{} {}", line.name, line.detail).trim());
        let place = |&(x, y): &(f64, Option<f64>)| self.at((x, y?));
        let places: Vec<Option<Point>> = line.points.iter().map(place).collect();
        let runs = places.split(Option::is_none).filter(|run| !run.is_empty());
        let pieces = runs.map(
            |run| match run.iter().flatten().copied().collect::<Vec<_>>()[..] {
                // Round ends make a single point a dot.
                [point] => canvas.polyline(&[point, point], 2.5 * thick, line.hue, ""),
                ref points => canvas.polyline(points, thick, line.hue, dashes),
            },
        );
        let pieces = pieces.count();
        canvas.end();
        pieces
    }
}

#[cfg(test)]
mod tests {
    use roxmltree::{Document, Node};

    use super::*;

    const NASTY: &str = "<script>\"&' \u{1}\u{ffff} 漢字";

    fn tagged<'a>(svg: &'a Document<'_>, tag: &str) -> Vec<Node<'a, 'a>> {
        let nodes = svg.descendants();
        nodes.filter(|node| node.tag_name().name() == tag).collect()
    }

    fn count(svg: &str, tag: &str) -> usize {
        tagged(&Document::parse(svg).unwrap(), tag).len()
    }

    fn line(name: &str, values: &[f64]) -> Line {
        Line::path(name, values.iter().copied().map(Some), Hue::Blue)
    }

    fn panel(lines: impl IntoIterator<Item = Line>) -> Panel {
        Panel {
            x_label: "features".to_owned(),
            y_label: "error".to_owned(),
            lines: lines.into_iter().collect(),
        }
    }

    fn figure(panels: impl IntoIterator<Item = Panel>) -> Lines {
        Lines {
            title: "A figure".to_owned(),
            panels: panels.into_iter().collect(),
            ..Lines::default()
        }
    }

    #[test]
    fn every_line_is_one_polyline_that_gaps_break() {
        for number in [1, 3, 12] {
            let lines = (0..number).map(|index| line(&index.to_string(), &[1.0, 3.0, 2.0]));
            assert_eq!(count(&figure([panel(lines)]).to_svg(), "polyline"), number);
        }
        let broken = line("a", &[1.0, 2.0, f64::NAN, 2.0, f64::INFINITY, 3.0, 4.0]);
        assert_eq!(count(&figure([panel([broken])]).to_svg(), "polyline"), 3);
    }

    #[test]
    fn strange_figures_are_xml_without_strange_numbers() {
        let broken = [1.0, f64::NAN, 3.0, f64::INFINITY, 1e308, -1e308];
        let panels = [
            panel([]),
            panel([line(NASTY, &[])]),
            panel([line(NASTY, &[2.0])]),
            panel([line("a", &broken), line("b", &[5.0; 6])]),
        ];
        let mut figure = figure(panels);
        (figure.note, figure.names) = (NASTY.repeat(20), vec![NASTY.repeat(20); 3]);
        let text = figure.to_svg();
        assert_eq!(
            (text.matches(">no values<").count(), text.clone()),
            (2, figure.to_svg())
        );
        let svg = Document::parse(&text).unwrap();
        for node in svg.descendants() {
            let names = ["x", "y", "width", "height", "points"];
            let values = names.iter().filter_map(|name| node.attribute(*name));
            for number in values.flat_map(|value| value.split([' ', ','])) {
                let number: f64 = number.parse().unwrap();
                assert!(number.is_finite() && number.abs() < 1e4, "{number}");
            }
        }
        let mut titles = tagged(&svg, "title").into_iter();
        let legible = "<script>\"&' \u{fffd}\u{fffd} 漢字";
        assert!(titles.any(|title| title.text() == Some(legible)));
        for outside in ["href", "src=", "url(", "@import", "<script"] {
            assert!(!text.contains(outside), "{outside}");
        }
    }

    #[test]
    fn each_name_is_listed_once_and_whole() {
        let both = || panel([line("first", &[1.0, 2.0]), line("second", &[1.0, 2.0])]);
        let mut figure = figure([both(), both()]);
        figure.names = (0..50)
            .map(|place| format!("{place}name{}", "x".repeat(place)))
            .collect();
        let text = figure.to_svg();
        for name in ["first", "second"] {
            assert_eq!(text.matches(&format!(">{name}</text>")).count(), 1);
        }
        let svg = Document::parse(&text).unwrap();
        let texts = tagged(&svg, "text");
        let texts: String = texts.iter().filter_map(Node::text).collect();
        assert!(
            (figure.names.iter().zip(1..))
                .all(|(name, place)| { texts.contains(&format!("{place} {name}")) })
        );
    }

    #[test]
    fn bands_lie_about_their_lines() {
        let mut spread = line("seeds", &[1.0, 2.0, 3.0]);
        spread.band = vec![(1.0, 0.5, 1.5), (2.0, 1.0, 9.0), (3.0, 2.0, 4.0)];
        let text = figure([panel([spread])]).to_svg();
        let svg = Document::parse(&text).unwrap();
        let label = svg.root_element().attribute("aria-label");
        assert_eq!(label, Some("A figure. error against features"));
        let places = |tag: &str| {
            let points = tagged(&svg, tag)[0].attribute("points").unwrap();
            let numbers = points.split([' ', ',']).map(str::parse::<f64>);
            numbers.map(Result::unwrap).collect::<Vec<f64>>()
        };
        let (band, line) = (places("polygon"), places("polyline"));
        for point in 0..3 {
            let (below, above) = (2 * point, 2 * (5 - point));
            let near = |a: f64, b: f64| (a - b).abs() < 0.02;
            assert!(near(band[below], line[below]) && near(band[above], line[below]));
            assert!(band[below + 1] > line[below + 1] && line[below + 1] > band[above + 1]);
        }
    }
}
