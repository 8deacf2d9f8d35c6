//! Figures drawn: panels under a title, the names of lines, lines and bars.

use super::axis::{Axis, AxisScale};
use super::svg::{BOLD, Canvas, DISTINCT, GRID, INK, MARGIN, PAPER, Paint, Point, SOFT, WIDTH};
use super::text::{number, width};
use super::{BarPlot, Figure, LinePlot, Mark, Panel, Series};

/// Size of text at the axes.
const SMALL: f64 = 13.0;

/// Height of the area of the data.
const DEPTH: f64 = 215.0;

/// Points that are drawn one by one, with their values as tooltips.
const DOTTED: usize = 400;

/// Strokes of lines: the next where the colours come round again.
const DASHES: [&str; 3] = ["", "stroke-dasharray=\"7 5\"", "stroke-dasharray=\"2 5\""];

const MIDDLE: &str = "text-anchor=\"middle\"";
const END: &str = "text-anchor=\"end\"";

impl Figure {
    /// One SVG document with all panels. In a page of HTML it is never wider than the page.
    pub fn to_svg(&self) -> String {
        let size = self.size;
        let size = size.map(|(width, height)| (f64::from(width), f64::from(height)));
        let panels = match size {
            Some(size) => self.fitted(size),
            None => self.arranged(self.columns),
        };
        let size = size.unwrap_or((panels.width, panels.height));
        let scale = scale_to(&panels, size);
        let (width, height) = (size.0 / scale, size.1 / scale);
        let mut paper = Canvas::new(width);
        paper.rectangle((0.0, 0.0), (width, height), &PAPER);
        let middle = |room: f64, taken: f64| (room - taken) / 2.0;
        let at = (middle(width, panels.width), middle(height, panels.height));
        paper.place(panels, at);
        paper.height = height;
        let described = self.panels.iter().map(Panel::description);
        let described: Vec<String> = [self.title.clone()].into_iter().chain(described).collect();
        paper.finish(&described.join(". "), size)
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
        let keys = Keys::of(self);
        let columns = columns.clamp(1, self.panels.len().max(1));
        let mut page = Canvas::new(WIDTH * columns as f64);
        page.paragraph(&self.title, 17.0, &INK, BOLD);
        keys.legend(&mut page);
        page.height += 4.0;
        for row in self.panels.chunks(columns) {
            let top = page.height;
            for (panel, left) in row.iter().zip(0..) {
                let drawn = match panel {
                    Panel::Lines(plot) => draw_lines(plot, &keys),
                    Panel::Bars(plot) => draw_bars(plot),
                };
                page.place(drawn, (f64::from(left) * WIDTH, top));
            }
        }
        page.paragraph(&self.note, 12.5, &SOFT, "");
        page.height += 10.0;
        page
    }
}

/// How much larger `page` may be drawn within a width and a height.
fn scale_to(page: &Canvas, (width, height): Point) -> f64 {
    (width / page.width).min(height / page.height)
}

/// The names of all lines of a figure, in the order in which they come: lines of one name are drawn
/// alike in all its panels.
struct Keys<'a> {
    names: Vec<&'a str>,
    /// The parameter that the names are values of, if they are.
    parameter: Option<&'a str>,
}

impl<'a> Keys<'a> {
    fn of(figure: &'a Figure) -> Self {
        let mut plots = figure.panels.iter().filter_map(|panel| match panel {
            Panel::Lines(plot) => Some(plot),
            Panel::Bars(_) => None,
        });
        let mut names: Vec<&str> = Vec::new();
        for series in plots.clone().flat_map(|plot| &plot.series) {
            if !series.name.is_empty() && !names.contains(&&*series.name) {
                names.push(&series.name);
            }
        }
        let parameter = plots.find_map(|plot| plot.parameter.as_deref());
        Self { names, parameter }
    }

    /// The colour and the dashes of lines of a name.
    fn stroke(&self, name: &str) -> (Paint, &'static str) {
        let index = self.names.iter().position(|own| *own == name);
        match (index, self.parameter) {
            (None, _) => (DISTINCT[0].clone(), DASHES[0]),
            (Some(index), Some(_)) => (Paint::ordered(index, self.names.len()), DASHES[0]),
            (Some(index), None) => {
                let round = (index / DISTINCT.len()).min(DASHES.len() - 1);
                (DISTINCT[index % DISTINCT.len()].clone(), DASHES[round])
            }
        }
    }

    /// The parameter, and the names behind their lines.
    fn legend(&self, canvas: &mut Canvas) {
        if self.names.is_empty() {
            return;
        }
        let names = self.names.iter();
        let names = names.map(|&name| (Some(self.stroke(name)), name));
        let parameter = self.parameter.map(|parameter| (None, parameter));
        let entries: Vec<_> = parameter.into_iter().chain(names).collect();
        list(canvas, &entries);
    }
}

/// Names in rows, those of lines behind a piece of their lines.
fn list(canvas: &mut Canvas, entries: &[(Option<(Paint, &str)>, &str)]) {
    let right = canvas.width - MARGIN;
    let mut x = MARGIN;
    canvas.height += 20.0;
    for (stroke, name) in entries {
        let sample = if stroke.is_some() { 24.0 } else { 0.0 };
        let most = right - MARGIN - 24.0;
        let extent = sample + width(name, SMALL).min(most);
        if x > MARGIN && x + extent > right {
            x = MARGIN;
            canvas.height += 19.0;
        }
        let y = canvas.height;
        if let Some((paint, dash)) = stroke {
            let more = format!("stroke-width=\"2.5\" {dash}");
            canvas.line((x, y - 4.5), (x + 18.0, y - 4.5), paint, &more);
        }
        canvas.text((x + sample, y), SMALL, &INK, "", name, most);
        x += extent + 14.0;
    }
}

fn draw_lines(plot: &LinePlot, keys: &Keys<'_>) -> Canvas {
    let mut canvas = Canvas::new(WIDTH);
    canvas.paragraph(&plot.title, 15.0, &INK, BOLD);
    canvas.height += 3.0;
    canvas.paragraph(&plot.y_label, SMALL, &SOFT, "");
    let area = Area::of(plot, keys, canvas.height + 12.0);
    area.grid(&mut canvas);
    // Emphasis is drawn over all others.
    let mut lines: Vec<&Series> = plot.series.iter().collect();
    lines.sort_by_key(|series| series.emphasis);
    for series in &lines {
        area.band(&mut canvas, series);
    }
    for series in &lines {
        area.line(&mut canvas, series);
    }
    for mark in &plot.marks {
        match mark.x {
            Some(x) => area.ring(&mut canvas, (x, mark.y), &mark.label),
            None => area.level(&mut canvas, mark),
        }
    }
    canvas.height += 8.0;
    canvas
}

/// A panel of lines, its axes placed.
struct Area<'a> {
    plot: &'a LinePlot,
    keys: &'a Keys<'a>,
    x: Axis,
    y: Axis,
}

impl<'a> Area<'a> {
    fn of(plot: &'a LinePlot, keys: &'a Keys<'a>, top: f64) -> Self {
        let (mut across, mut heights) = (Vec::new(), Vec::new());
        for series in &plot.series {
            let points = series.points.iter().filter_map(|&(x, y)| Some((x, y?)));
            let bands = series.band.iter();
            let bands = bands.flat_map(|&(x, low, high)| [(x, low), (x, high)]);
            for (x, y) in points.chain(bands) {
                across.push(x);
                heights.push(y);
            }
        }
        across.extend(plot.marks.iter().filter_map(|mark| mark.x));
        heights.extend(plot.marks.iter().map(|mark| mark.y));
        // Labels of marks stand beyond the data.
        let room = if plot.marks.is_empty() { 0.04 } else { 0.13 };
        let y = Axis::new(plot.y_scale, &heights, room, (top + DEPTH, top));
        let widest = y.ticks().map(|(_, label)| width(&label, SMALL));
        let left = MARGIN + widest.fold(0.0, f64::max) + 6.0;
        let x = Axis::new(plot.x_scale, &across, 0.04, (left, WIDTH - MARGIN));
        Self { plot, keys, x, y }
    }

    /// The place of a point that has one.
    fn at(&self, (x, y): Point) -> Option<Point> {
        Some((self.x.place(x)?, self.y.place(y)?))
    }

    fn grid(&self, canvas: &mut Canvas) {
        let (top, bottom) = (self.y.to, self.y.from);
        for (y, label) in self.y.ticks() {
            canvas.line((self.x.from, y), (self.x.to, y), &GRID, "");
            let at = (self.x.from - 6.0, y + 4.5);
            canvas.text(at, SMALL, &SOFT, END, &label, WIDTH);
        }
        let mut points = self.plot.series.iter().flat_map(|series| &series.points);
        let empty = !points.any(|&(x, y)| y.is_some_and(|y| self.at((x, y)).is_some()));
        draw_axis(canvas, &self.x, (top, bottom), &self.plot.x_label, empty);
    }

    fn band(&self, canvas: &mut Canvas, series: &Series) {
        let below = series.band.iter().map(|&(x, low, _)| (x, low));
        let above = series.band.iter().rev().map(|&(x, _, high)| (x, high));
        let points = below.chain(above).filter_map(|point| self.at(point));
        let points: Vec<Point> = points.collect();
        if points.len() > 3 {
            canvas.band(&points, &self.keys.stroke(&series.name).0);
        }
    }

    /// A line, broken where a point has no place.
    fn line(&self, canvas: &mut Canvas, series: &Series) {
        let plot = self.plot;
        let name = plot.name_of(series);
        let (paint, dash) = self.keys.stroke(&series.name);
        let width = if series.emphasis { 3.0 } else { 1.7 };
        let all: usize = plot.series.iter().map(|series| series.points.len()).sum();
        canvas.begin("class=\"rk-series\"", &name);
        let place = |&(x, y): &(f64, Option<f64>)| Some(((x, y?), self.at((x, y?))?));
        let points: Vec<_> = series.points.iter().map(place).collect();
        for run in points.split(Option::is_none) {
            let places: Vec<Point> = run.iter().flatten().map(|(_, place)| *place).collect();
            if places.len() > 1 {
                canvas.polyline(&places, width, dash, &paint);
            }
            if places.len() > 1 && all > DOTTED {
                continue;
            }
            for &((x, y), place) in run.iter().flatten() {
                // The digits are as many as tell neighbours apart.
                let (x, y) = (number(x, 5), number(y, 5));
                let title = format!("{name}\n{}: {x}\n{}: {y}", plot.x_label, plot.y_label);
                let fill = canvas.fill(&paint);
                canvas.circle(place, width + 0.8, &fill, title.trim());
            }
        }
        canvas.end();
    }

    /// A ring around a point, its label towards the nearer end of the axis, where there is less
    /// data.
    fn ring(&self, canvas: &mut Canvas, point: Point, label: &str) {
        let Some((x, y)) = self.at(point) else {
            return;
        };
        let stroke = canvas.stroke(&INK) + " stroke-width=\"2\"";
        canvas.circle((x, y), 6.0, &stroke, label);
        let most = (self.x.to - self.x.from) * 0.9;
        let half = width(label, SMALL).min(most) / 2.0;
        let middle = x.min(self.x.to - half).max(self.x.from + half);
        let upper = y < f64::midpoint(self.y.to, self.y.from);
        let foot = if upper { y - 12.0 } else { y + 21.0 };
        canvas.begin_halo();
        canvas.text((middle, foot), SMALL, &INK, MIDDLE, label, most);
        canvas.end();
    }

    /// A dashed line across the panel, explained below it.
    fn level(&self, canvas: &mut Canvas, mark: &Mark) {
        if let Some(y) = self.y.place(mark.y) {
            let dash = "stroke-dasharray=\"5 4\"";
            let more = format!("stroke-width=\"1.2\" {dash}");
            canvas.line((self.x.from, y), (self.x.to, y), &SOFT, &more);
            let label = format!("{}: {}", mark.label, number(mark.y, 4));
            list(canvas, &[(Some((SOFT, dash)), &label)]);
        }
    }
}

/// The horizontal `axis` of an area from `top` to `bottom`: lines at its ticks, labels where they have
/// room, and its quantity. An `empty` area says so.
fn draw_axis(
    canvas: &mut Canvas,
    axis: &Axis,
    (top, bottom): (f64, f64),
    quantity: &str,
    empty: bool,
) {
    let mut free = f64::NEG_INFINITY;
    for (x, label) in axis.ticks() {
        canvas.line((x, top), (x, bottom), &GRID, "");
        let half = width(&label, SMALL) / 2.0;
        let middle = x.max(half + 2.0).min(WIDTH - half - 2.0);
        if middle - half >= free {
            let at = (middle, bottom + 18.0);
            canvas.text(at, SMALL, &SOFT, MIDDLE, &label, WIDTH);
            free = middle + half + 4.0;
        }
    }
    let middle = f64::midpoint(axis.from, axis.to);
    let most = axis.to - axis.from;
    let at = (middle, bottom + 37.0);
    canvas.text(at, SMALL, &SOFT, MIDDLE, quantity, most);
    canvas.height = bottom + 41.0;
    if empty {
        let at = (middle, f64::midpoint(top, bottom));
        canvas.text(at, SMALL, &SOFT, MIDDLE, "no values", most);
    }
}

/// From one bar to the next.
const PITCH: f64 = 36.0;

/// Bars, each under its name and value.
fn draw_bars(plot: &BarPlot) -> Canvas {
    let mut canvas = Canvas::new(WIDTH);
    let top = 10.0;
    let bottom = top + PITCH * plot.bars.len().max(1) as f64;
    let lengths = plot.bars.iter().map(|(_, length)| *length);
    let lengths: Vec<f64> = lengths.chain([0.0]).collect();
    let axis = Axis::new(AxisScale::Linear, &lengths, 0.0, (MARGIN, WIDTH - MARGIN));
    let empty = plot.bars.is_empty();
    draw_axis(&mut canvas, &axis, (top, bottom), &plot.x_label, empty);
    for (bar, index) in plot.bars.iter().zip(0..) {
        draw_bar(&mut canvas, &axis, bar, top + PITCH * f64::from(index));
    }
    canvas.height += 8.0;
    canvas
}

/// A bar under its name and its value.
fn draw_bar(canvas: &mut Canvas, axis: &Axis, (name, length): &(String, f64), top: f64) {
    let value = if length.is_finite() {
        number(*length, 4)
    } else {
        "\u{2013}".to_owned()
    };
    canvas.begin("class=\"rk-bar\"", &format!("{name}\n{value}"));
    canvas.begin_halo();
    let foot = top + 15.0;
    let room = WIDTH - 2.0 * MARGIN;
    canvas.text((MARGIN, foot), SMALL, &INK, "", name, room - 90.0);
    canvas.text((WIDTH - MARGIN, foot), SMALL, &INK, END, &value, 90.0);
    canvas.end();
    if let (Some(origin), Some(end)) = (axis.place(0.0), axis.place(*length)) {
        let paint = &DISTINCT[usize::from(end < origin)];
        let extent = (end - origin).abs().max(1.0);
        canvas.rectangle((origin.min(end), top + 20.0), (extent, 12.0), paint);
    }
    canvas.end();
}
