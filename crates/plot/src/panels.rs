//! Figures drawn: panels under a title, with what all of them have in common.

use super::lines::{Frame, draw_lines};
use super::paint::{Hue, INK, PAPER, Paint, SOFT};
use super::rows::draw_bars;
use super::svg::{BOLD, Canvas, Point, WIDE, WIDTH};
use super::{Figure, Panel, Series, Stroke, Tone};

/// Size of text at the axes.
pub(super) const SMALL: f64 = 13.0;

pub(super) const MIDDLE: &str = "text-anchor=\"middle\"";
pub(super) const END: &str = "text-anchor=\"end\"";

/// Strokes of lines: the next where the colours come round again.
const DASHES: [&str; 3] = ["", "stroke-dasharray=\"7 5\"", "stroke-dasharray=\"2 5\""];

impl Figure {
    /// One SVG document with all panels. In a page of HTML it is never wider than the page.
    pub fn to_svg(&self) -> String {
        let size = self.size;
        let size = size.map(|(width, height)| (f64::from(width), f64::from(height)));
        let panels = match size {
            Some(size) => self.fitted(size),
            None => self.arranged(self.columns),
        };
        let described = self.panels.iter().map(Panel::description);
        let described: Vec<String> = [self.title.clone()].into_iter().chain(described).collect();
        document(panels, size, &described.join(". "))
    }

    /// The panels side by side so that they are as large as fits.
    fn fitted(&self, size: Point) -> Canvas {
        let pages = (2..=self.panels.len()).map(|columns| self.arranged(columns));
        pages.fold(self.arranged(1), |best, page| {
            if scale_to(&page, size) > scale_to(&best, size) {
                page
            } else {
                best
            }
        })
    }

    /// The panels in rows of `columns`.
    fn arranged(&self, columns: usize) -> Canvas {
        let columns = columns.clamp(1, self.panels.len().max(1));
        let width = if columns == 1 { self.alone() } else { WIDTH };
        let (keys, frame) = (Keys::of(self), Frame::of(self, width));
        let mut page = Canvas::new(width * columns as f64);
        page.paragraph(&self.title, 16.0, &INK, BOLD);
        page.height += 4.0;
        let rows = self.panels.chunks(columns);
        let last = rows.len().saturating_sub(1);
        for (place, row) in rows.enumerate() {
            let top = page.height;
            for (panel, left) in row.iter().zip(0..) {
                let drawn = self.drawn(panel, &keys, &frame, place == last);
                page.place(drawn, (f64::from(left) * width, top));
            }
        }
        page.paragraph(&self.note, 12.5, &SOFT, "");
        page.height += 10.0;
        page
    }

    /// The width of panels one below the other: names need room.
    fn alone(&self) -> f64 {
        if self.names.is_empty() { WIDTH } else { WIDE }
    }

    /// A panel, with the names of its values where it is in the `last` row.
    fn drawn(&self, panel: &Panel, keys: &Keys<'_>, frame: &Frame, last: bool) -> Canvas {
        match panel {
            Panel::Lines(plot) => {
                let names: &[String] = if last { &self.names } else { &[] };
                draw_lines(plot, keys, frame, names)
            }
            Panel::Bars(plot) => draw_bars(plot),
        }
    }
}

/// `drawing` in the middle of a page of this `size`, or one as large as it is.
fn document(drawing: Canvas, size: Option<Point>, description: &str) -> String {
    let size = size.unwrap_or((drawing.width, drawing.height));
    let scale = scale_to(&drawing, size);
    let (width, height) = (size.0 / scale, size.1 / scale);
    let mut paper = Canvas::new(width);
    paper.rectangle((0.0, 0.0), (width, height), &PAPER);
    let middle = |room: f64, taken: f64| (room - taken) / 2.0;
    let at = (middle(width, drawing.width), middle(height, drawing.height));
    paper.place(drawing, at);
    paper.height = height;
    paper.finish(description, size)
}

/// How much larger `page` may be drawn within a width and a height.
fn scale_to(page: &Canvas, (width, height): Point) -> f64 {
    (width / page.width).min(height / page.height)
}

/// The names of all lines of a figure that do not say how to draw them, in the order in which they
/// come: lines of one name are drawn alike in all its panels.
pub(super) struct Keys<'a> {
    names: Vec<&'a str>,
}

impl<'a> Keys<'a> {
    fn of(figure: &'a Figure) -> Self {
        let mut names: Vec<&str> = Vec::new();
        let series = figure.line_plots().flat_map(|plot| &plot.series);
        for series in series.filter(|series| series.stroke.is_none()) {
            if !series.name.is_empty() && !names.contains(&&*series.name) {
                names.push(&series.name);
            }
        }
        Self { names }
    }

    pub(super) fn stroke(&self, series: &Series) -> Stroke {
        series.stroke.unwrap_or_else(|| {
            let index = self.names.iter().position(|own| *own == series.name);
            let index = index.unwrap_or(0);
            Stroke {
                hue: Hue::ALL[index % Hue::ALL.len()],
                dashes: index / Hue::ALL.len(),
            }
        })
    }

    /// The colour and the dashes of a line.
    pub(super) fn line(&self, series: &Series) -> (Paint, &'static str) {
        let Stroke { hue, dashes } = self.stroke(series);
        let paint = match series.tone {
            Tone::Faint(share) => hue.faint(share),
            Tone::Plain | Tone::Strong => hue.paint(),
        };
        (paint, DASHES[dashes.min(DASHES.len() - 1)])
    }
}
