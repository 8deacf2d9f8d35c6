//! Panels of lines: axes, lines with their names, and what is marked.

use super::axis::Axis;
use super::labels::{Label, Rectangle, near, spread};
use super::paint::{GRID, INK, Paint, SOFT};
use super::panels::{END, Keys, MIDDLE, SMALL};
use super::svg::{BOLD, Canvas, MARGIN, Point, WIDE};
use super::text::{cut, number, width, wrapped};
use super::{Figure, LinePlot, Mark, Series, Tone};

/// Height of the area of the data, unless names of lines need more.
const DEPTH: f64 = 215.0;
const WIDE_DEPTH: f64 = 165.0;

/// Height of a line of a label.
const LINE: f64 = 15.0;

/// Between the area of the data and the names of lines.
const GAP: f64 = 9.0;

/// The widest text of a mark.
const WORDS: f64 = 185.0;

/// Lines are many from here on.
const MANY: usize = 8;

/// Points that are drawn one by one, with their values as tooltips.
const DOTTED: usize = 400;

/// What the areas of all panels of lines have in common.
pub(super) struct Frame {
    /// Of a panel.
    width: f64,
    /// Where the areas begin and end.
    left: f64,
    right: f64,
    depth: f64,
    /// The widest line of a name.
    most: f64,
}

impl Frame {
    /// The frame of the panels of `figure`, each of this `width`.
    pub(super) fn of(figure: &Figure, width: f64) -> Self {
        let wide = width >= WIDE;
        let most = if wide { 170.0 } else { 118.0 };
        let ticks = figure.line_plots().filter_map(|plot| {
            let axis = vertical(plot, (1.0, 0.0));
            axis.ticks()
                .map(|(_, label)| text_width(&label))
                .max_by(f64::total_cmp)
        });
        let left = MARGIN + ticks.fold(0.0, f64::max) + 6.0;
        let names = |plot: &LinePlot, spare: bool| {
            let series = plot
                .series
                .iter()
                .filter(|series| spare || !is_spare(series));
            let lines = series.map(|series| folded(&series.name, most).len() as f64);
            lines.sum::<f64>() * LINE
        };
        let heights = |spare: bool| {
            let heights = figure.line_plots().map(|plot| names(plot, spare));
            heights.fold(0.0, f64::max)
        };
        let depth = if wide { WIDE_DEPTH } else { DEPTH };
        let series = figure.line_plots().flat_map(|plot| &plot.series);
        let lines = series.flat_map(|series| folded(&series.name, most));
        let names = lines.map(|line| text_width(&line)).fold(0.0, f64::max);
        let beside = if names > 0.0 { names + GAP } else { 0.0 };
        Self {
            width,
            left,
            right: width - MARGIN - beside,
            depth: depth
                .max(heights(false))
                .max(heights(true).min(1.4 * depth)),
            most,
        }
    }
}

fn text_width(text: &str) -> f64 {
    width(text, SMALL)
}

/// Whether the name of a line may be left out.
fn is_spare(series: &Series) -> bool {
    matches!(series.tone, Tone::Faint(_))
}

/// The lines of a name, at most five, none wider than `most`.
fn folded(name: &str, most: f64) -> Vec<String> {
    let mut lines = wrapped(name, SMALL, most);
    if lines.len() > 5 {
        let rest = lines.split_off(4).join(" ");
        lines.push(rest);
    }
    lines.iter().map(|line| cut(line, SMALL, most)).collect()
}

/// The vertical axis of a panel from the place `from` to the place `to`.
fn vertical(plot: &LinePlot, places: Point) -> Axis {
    let lines = plot.series.iter().flat_map(|series| {
        let points = series.points.iter().filter_map(|&(_, y)| y);
        let bands = series.band.iter();
        points.chain(bands.flat_map(|&(_, low, high)| [low, high]))
    });
    let marks = plot.marks.iter().map(|mark| mark.y);
    let values: Vec<f64> = lines.chain(marks).collect();
    // Texts of marks have room beyond the data.
    let texts = plot.marks.iter().any(|mark| mark.x.is_some());
    let room = if texts { 0.14 } else { 0.05 };
    Axis::new(plot.y_scale, &values, room, places)
}

/// A panel of lines. `names` are those of the values of its horizontal axis.
pub(super) fn draw_lines(
    plot: &LinePlot,
    keys: &Keys<'_>,
    frame: &Frame,
    names: &[String],
) -> Canvas {
    let mut canvas = Canvas::new(frame.width);
    canvas.paragraph(&plot.title, 15.0, &INK, BOLD);
    canvas.height += 3.0;
    canvas.paragraph(&plot.y_label, SMALL, &SOFT, "");
    groups(plot, keys, &mut canvas);
    let area = Area::of(plot, keys, frame, canvas.height + 10.0);
    area.grid(&mut canvas, names);
    // What stands out is drawn over all others.
    let mut lines: Vec<&Series> = plot.series.iter().collect();
    lines.sort_by(|a, b| order(a.tone).total_cmp(&order(b.tone)));
    for series in &lines {
        area.band(&mut canvas, series);
    }
    for series in &lines {
        area.line(&mut canvas, series);
    }
    area.names(&mut canvas);
    area.marks(&mut canvas);
    canvas.height += 8.0;
    canvas
}

/// Lines are drawn from the least to the largest.
fn order(tone: Tone) -> f64 {
    match tone {
        Tone::Faint(share) => share,
        Tone::Plain => 2.0,
        Tone::Strong => 3.0,
    }
}

/// The groups of lines, in their colours, where there are several.
fn groups(plot: &LinePlot, keys: &Keys<'_>, canvas: &mut Canvas) {
    let mut entries: Vec<(&str, Paint, &str)> = Vec::new();
    for series in &plot.series {
        let named = entries.iter().any(|(group, ..)| *group == series.group);
        if !series.group.is_empty() && !named {
            let (_, dash) = keys.line(series);
            entries.push((&series.group, keys.stroke(series).hue.paint(), dash));
        }
    }
    if entries.len() > 1 {
        list(canvas, &entries);
    }
}

/// Names in rows, each behind a piece of its line.
fn list(canvas: &mut Canvas, entries: &[(&str, Paint, &str)]) {
    let right = canvas.width - MARGIN;
    let mut x = MARGIN;
    canvas.height += 20.0;
    for (name, paint, dash) in entries {
        let most = right - MARGIN - 24.0;
        let extent = 24.0 + text_width(name).min(most);
        if x > MARGIN && x + extent > right {
            x = MARGIN;
            canvas.height += 19.0;
        }
        let y = canvas.height;
        let more = format!("stroke-width=\"2.5\" {dash}");
        canvas.line((x, y - 4.5), (x + 18.0, y - 4.5), paint, &more);
        canvas.text((x + 24.0, y), SMALL, &INK, "", name, most);
        x += extent + 14.0;
    }
}

/// A panel of lines, its axes placed.
struct Area<'a> {
    plot: &'a LinePlot,
    keys: &'a Keys<'a>,
    frame: &'a Frame,
    x: Axis,
    y: Axis,
}

impl<'a> Area<'a> {
    fn of(plot: &'a LinePlot, keys: &'a Keys<'a>, frame: &'a Frame, top: f64) -> Self {
        let series = plot.series.iter();
        let points = series.clone().flat_map(|series| &series.points);
        let points = points.filter_map(|&(x, y)| y.map(|_| x));
        let bands = series.flat_map(|series| &series.band).map(|&(x, ..)| x);
        let marks = plot.marks.iter().filter_map(|mark| mark.x);
        let across: Vec<f64> = points.chain(bands).chain(marks).collect();
        Self {
            plot,
            keys,
            frame,
            x: Axis::new(plot.x_scale, &across, 0.04, (frame.left, frame.right)),
            y: vertical(plot, (top + frame.depth, top)),
        }
    }

    /// The place of a point that has one.
    fn at(&self, (x, y): Point) -> Option<Point> {
        Some((self.x.place(x)?, self.y.place(y)?))
    }

    fn grid(&self, canvas: &mut Canvas, names: &[String]) {
        let (top, bottom) = (self.y.to, self.y.from);
        for (y, label) in self.y.ticks() {
            canvas.line((self.x.from, y), (self.x.to, y), &GRID, "");
            let at = (self.x.from - 6.0, y + 4.5);
            canvas.text(at, SMALL, &SOFT, END, &label, canvas.width);
        }
        let mut points = self.plot.series.iter().flat_map(|series| &series.points);
        let empty = !points.any(|&(x, y)| y.is_some_and(|y| self.at((x, y)).is_some()));
        if names.is_empty() {
            draw_axis(canvas, &self.x, (top, bottom), &self.plot.x_label, empty);
        } else {
            named_axis(canvas, &self.x, (top, bottom), names);
        }
    }

    fn band(&self, canvas: &mut Canvas, series: &Series) {
        let paint = self.keys.stroke(series).hue.paint();
        let below = series.band.iter().map(|&(x, low, _)| (x, low));
        let above = series.band.iter().rev().map(|&(x, _, high)| (x, high));
        let points = below.chain(above).filter_map(|point| self.at(point));
        let points: Vec<Point> = points.collect();
        match points[..] {
            // The spread of a single point.
            [low, high] => canvas.line(low, high, &paint, "stroke-width=\"6\" opacity=\"0.3\""),
            [_, _, _, _, ..] => canvas.band(&points, &paint),
            _ => {}
        }
    }

    /// A line, broken where a point has no place.
    fn line(&self, canvas: &mut Canvas, series: &Series) {
        let plot = self.plot;
        let name = series.full_name();
        let (paint, dash) = self.keys.line(series);
        let (width, radius) = match series.tone {
            Tone::Faint(_) => (1.4, 1.6),
            Tone::Plain => (1.8, 2.6),
            Tone::Strong => (2.8, 3.6),
        };
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
                canvas.circle(place, radius, &fill, title.trim());
            }
        }
        canvas.end();
    }

    /// The names of the lines beside their ends, joined to those that are not near.
    fn names(&self, canvas: &mut Canvas) {
        let end = |series: &Series| {
            let placed = |&(x, y): &(f64, Option<f64>)| self.at((x, y?));
            series.points.iter().rev().find_map(placed)
        };
        let named = self.plot.series.iter();
        let named = named.filter(|series| !series.name.is_empty());
        let named = named.filter_map(|series| Some((series, end(series)?)));
        let mut named: Vec<(&Series, Point)> = named.collect();
        // Names of lines that end early would be far from them.
        let many = named.len() > MANY;
        named.retain(|(series, end)| !(many && is_spare(series) && self.ends_early(*end)));
        let label = |(series, (_, wanted)): &(&Series, Point)| Label {
            wanted: *wanted,
            height: LINE * folded(&series.name, self.frame.most).len() as f64,
            spare: is_spare(series),
        };
        let labels: Vec<Label> = named.iter().map(label).collect();
        let places = spread(&labels, (self.y.to - 4.0, self.y.from + 4.0));
        for ((series, end), place) in named.into_iter().zip(places) {
            if let Some(middle) = place {
                self.name(canvas, series, end, middle);
            }
        }
    }

    fn ends_early(&self, end: Point) -> bool {
        end.0 < self.x.to - 30.0
    }

    /// The name of a line with this `end`, about the height `middle`.
    fn name(&self, canvas: &mut Canvas, series: &Series, end: Point, middle: f64) {
        let hue = self.keys.stroke(series).hue;
        let left = self.x.to + GAP;
        if (end.1 - middle).abs() > 8.0 || self.ends_early(end) {
            let from = (end.0 + 5.0, end.1);
            canvas.line(
                from,
                (left - 2.0, middle),
                &hue.faint(0.0),
                "stroke-width=\"0.8\"",
            );
        }
        let weight = match series.tone {
            Tone::Strong => BOLD,
            Tone::Plain | Tone::Faint(_) => "",
        };
        let lines = folded(&series.name, self.frame.most);
        let top = middle - LINE * lines.len() as f64 / 2.0;
        let whole = (lines.concat() != series.name.replace(' ', "")).then_some(&*series.name);
        canvas.begin("", whole.unwrap_or(""));
        for (line, text) in lines.iter().zip(0..) {
            let at = (left, top + LINE * f64::from(text) + 11.5);
            canvas.text(at, SMALL, &hue.paint(), weight, line, f64::INFINITY);
        }
        canvas.end();
    }

    /// Points along all lines, at most a few units apart.
    fn taken(&self) -> Vec<Point> {
        let mut taken = Vec::new();
        for series in &self.plot.series {
            let places = series.points.iter().map(|&(x, y)| self.at((x, y?)));
            let places: Vec<Option<Point>> = places.collect();
            taken.extend(places.iter().flatten());
            for pair in places.windows(2) {
                if let [Some(from), Some(to)] = pair {
                    let (across, down) = (to.0 - from.0, to.1 - from.1);
                    let pieces = (across.hypot(down) / 5.0).ceil().min(200.0);
                    let shares = (1..).map(|piece| f64::from(piece) / pieces);
                    let within = shares.take_while(|share| *share < 1.0);
                    taken.extend(
                        within.map(|share| (from.0 + share * across, from.1 + share * down)),
                    );
                }
            }
        }
        taken
    }

    fn marks(&self, canvas: &mut Canvas) {
        let mut taken = self.taken();
        for mark in &self.plot.marks {
            match mark.x {
                Some(x) => self.ring(canvas, (x, mark.y), &mark.label, &mut taken),
                None => self.level(canvas, mark),
            }
        }
    }

    /// A ring around a point, and a text near it where there is least of the data.
    fn ring(&self, canvas: &mut Canvas, point: Point, text: &str, taken: &mut Vec<Point>) {
        let Some((x, y)) = self.at(point) else {
            return;
        };
        let stroke = canvas.stroke(&INK) + " stroke-width=\"2\"";
        canvas.circle((x, y), 6.5, &stroke, text);
        let lines = wrapped(text, SMALL, WORDS);
        let lines: Vec<String> = lines.iter().map(|line| cut(line, SMALL, WORDS)).collect();
        let widest = lines
            .iter()
            .map(|line| text_width(line))
            .fold(0.0, f64::max);
        let area = Rectangle {
            at: (self.x.from + 2.0, self.y.to + 1.0),
            size: (self.x.to - self.x.from - 4.0, self.y.from - self.y.to - 2.0),
        };
        let place = near((x, y), (widest, LINE * lines.len() as f64), area, taken);
        let (left, top) = place.at;
        let (right, bottom) = (left + place.size.0, top + place.size.1);
        let nearest = (x.clamp(left, right), y.clamp(top, bottom));
        let far = (nearest.0 - x).hypot(nearest.1 - y);
        if far > 22.0 {
            let share = 7.0 / far;
            let edge = (x + share * (nearest.0 - x), y + share * (nearest.1 - y));
            canvas.line(edge, nearest, &SOFT, "stroke-width=\"0.8\"");
        }
        canvas.begin_halo();
        for (line, index) in lines.iter().zip(0..) {
            let at = (
                left + place.size.0 / 2.0,
                top + LINE * f64::from(index) + 11.5,
            );
            canvas.text(at, SMALL, &INK, MIDDLE, line, WORDS);
        }
        canvas.end();
        let steps = [0.0, 0.25, 0.5, 0.75, 1.0];
        let corners = steps.map(|share| (left + share * place.size.0, f64::midpoint(top, bottom)));
        taken.extend(corners);
    }

    /// A dashed line across the panel, explained below it.
    fn level(&self, canvas: &mut Canvas, mark: &Mark) {
        if let Some(y) = self.y.place(mark.y) {
            let dash = "stroke-dasharray=\"5 4\"";
            let more = format!("stroke-width=\"1.2\" {dash}");
            canvas.line((self.x.from, y), (self.x.to, y), &SOFT, &more);
            let label = format!("{}: {}", mark.label, number(mark.y, 4));
            list(canvas, &[(&label, SOFT, dash)]);
        }
    }
}

/// The horizontal `axis` of an area from `top` to `bottom`: lines at its ticks, labels where they have
/// room, and its quantity. An `empty` area says so.
pub(super) fn draw_axis(
    canvas: &mut Canvas,
    axis: &Axis,
    (top, bottom): Point,
    quantity: &str,
    empty: bool,
) {
    let mut free = f64::NEG_INFINITY;
    for (x, label) in axis.ticks() {
        canvas.line((x, top), (x, bottom), &GRID, "");
        let half = text_width(&label) / 2.0;
        let middle = x.max(half + 2.0).min(canvas.width - half - 2.0);
        if middle - half >= free {
            let at = (middle, bottom + 18.0);
            canvas.text(at, SMALL, &SOFT, MIDDLE, &label, canvas.width);
            free = middle + half + 4.0;
        }
    }
    let middle = f64::midpoint(axis.from, axis.to);
    let most = axis.to - axis.from;
    canvas.height = bottom + 22.0;
    if !quantity.is_empty() {
        let at = (middle, bottom + 37.0);
        canvas.text(at, SMALL, &SOFT, MIDDLE, quantity, most);
        canvas.height = bottom + 41.0;
    }
    if empty {
        let at = (middle, f64::midpoint(top, bottom));
        canvas.text(at, SMALL, &SOFT, MIDDLE, "no values", most);
    }
}

/// Between names below an axis.
const ROOM: f64 = 17.0;

/// The widest name below an axis, and how steep it is: degrees, sine and cosine.
const BELOW: f64 = 215.0;
const STEEP: (f64, f64, f64) = (50.0, 0.766, 0.643);

/// The horizontal `axis` of an area from `top` to `bottom`, with the names of 1, 2 and so on below it
/// where they have room.
fn named_axis(canvas: &mut Canvas, axis: &Axis, (top, bottom): Point, names: &[String]) {
    let (degrees, sine, cosine) = STEEP;
    let (mut free, mut lowest) = (f64::NEG_INFINITY, 0.0);
    for (name, value) in names.iter().zip(1..) {
        let Some(x) = axis.place(f64::from(value)) else {
            continue;
        };
        if x < free {
            continue;
        }
        free = x + ROOM;
        canvas.line((x, top), (x, bottom), &GRID, "");
        let at = (x, bottom + 17.0);
        canvas.text(at, SMALL, &SOFT, MIDDLE, &value.to_string(), ROOM);
        // The name ends below its number, and begins within the page.
        let (x, y) = (x + 4.0, bottom + 32.0);
        let most = BELOW.min((x - 4.0) / cosine);
        let turned = format!("{END} transform=\"rotate(-{degrees} {x:.1} {y:.1})\"");
        canvas.text((x, y), SMALL, &INK, &turned, name, most);
        lowest = text_width(name).min(most).max(lowest);
    }
    canvas.height = bottom + 36.0 + sine * lowest;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_folded_into_few_lines() {
        let folds = |name: &str| folded(name, 118.0);
        assert_eq!(
            folds("dense, lowmem, bounded"),
            ["dense, lowmem,", "bounded"]
        );
        assert_eq!(folds("sampled"), ["sampled"]);
        assert!(folds("").is_empty());
        let many = "a name of so many words that nobody who is in his right mind would ever give it to one of all these";
        let lines = folds(many);
        assert!(lines.len() == 5 && lines[4].contains('…'), "{lines:?}");
        assert!(lines.iter().all(|line| text_width(line) <= 118.0));
    }

    #[test]
    fn axes_of_all_panels_begin_and_end_alike() {
        let plot = |values: [f64; 2]| {
            let values = values.map(Some);
            LinePlot::new("features", "error").series(Series::path("a name", values))
        };
        let figure = Figure::new("").lines(plot([1.0, 2.0]));
        let narrow = Frame::of(&figure, 440.0);
        let both = Frame::of(&figure.lines(plot([10_000.0, 20_000.5])), 440.0);
        assert!(both.left > narrow.left);
        assert!((both.right - narrow.right).abs() < 1e-9 && both.right < 440.0 - MARGIN);
        let strange = Figure::new("").lines(plot([f64::NAN, 1e300]));
        let frame = Frame::of(&strange, 440.0);
        assert!(frame.left < frame.right, "{} {}", frame.left, frame.right);
    }
}
