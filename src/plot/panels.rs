//! Panels of lines, panels of bars, and the names of lines.

use super::axis::{Axis, Scale};
use super::svg::{BOLD, Canvas, DISTINCT, GRID, INK, MARGIN, Paint, Point, SOFT, WIDTH};
use super::text::{cut, cut_apart, number, width};
use super::{BarPlot, Figure, LinePlot, Mark, Panel, Series};

/// Size of text at the axes.
const SMALL: f64 = 13.0;

/// Size of a panel's title.
const TITLE: f64 = 15.0;

/// Height of the area of the data.
const DEPTH: f64 = 215.0;

/// Most that a name takes at the end of a line.
const NAME: f64 = 110.0;

/// Points that are drawn one by one, with their values as tooltips.
const DOTTED: usize = 400;

/// Most values of a parameter that a legend lists.
const LISTED: usize = 32;

/// Strokes of lines: the next where the colours come round again.
const DASHES: [&str; 3] = ["", "stroke-dasharray=\"7 5\"", "stroke-dasharray=\"2 5\""];

pub(super) fn draw(panel: &Panel, keys: &Keys<'_>) -> Canvas {
    match panel {
        Panel::Lines(plot) => draw_lines(plot, keys),
        Panel::Bars(plot) => draw_bars(plot),
    }
}

/// The names of all lines of a figure: lines of one name are drawn alike in all its panels.
pub(super) struct Keys<'a> {
    /// Names by the parameter that they are values of.
    groups: Vec<(Option<&'a str>, Vec<&'a str>)>,
    /// Whether lines are named where they end, as there is room for all names. Else by a legend.
    at_ends: bool,
}

impl<'a> Keys<'a> {
    pub(super) fn of(figure: &'a Figure) -> Self {
        let mut groups: Vec<(Option<&str>, Vec<&str>)> = Vec::new();
        for panel in &figure.panels {
            let Panel::Lines(plot) = panel else {
                continue;
            };
            let parameter = plot.parameter.as_deref();
            let place = groups.iter().position(|group| group.0 == parameter);
            let place = place.unwrap_or_else(|| {
                groups.push((parameter, Vec::new()));
                groups.len() - 1
            });
            for series in &plot.series {
                if !groups[place].1.contains(&&*series.name) {
                    groups[place].1.push(&series.name);
                }
            }
        }
        let at_ends = groups.iter().all(|(parameter, names)| {
            let fit = names.iter().all(|name| width(name, SMALL) <= NAME);
            parameter.is_none() && names.len() <= DISTINCT.len() && fit
        });
        Self { groups, at_ends }
    }

    /// The colour and the dashes of lines of a name.
    fn stroke(&self, parameter: Option<&str>, name: &str) -> (Paint, &'static str) {
        let mut groups = self.groups.iter();
        let names = groups.find(|group| group.0 == parameter);
        let names = names.map_or(&[][..], |(_, names)| names);
        let index = names.iter().position(|own| *own == name).unwrap_or(0);
        if parameter.is_some() {
            return (Paint::ordered(index, names.len()), DASHES[0]);
        }
        let round = (index / DISTINCT.len()).min(DASHES.len() - 1);
        (DISTINCT[index % DISTINCT.len()].clone(), DASHES[round])
    }

    /// The lines and their names, unless they are named where they end. Of many values of a
    /// parameter, some at even distances.
    pub(super) fn legend(&self, canvas: &mut Canvas) {
        if self.at_ends {
            return;
        }
        let mut entries = Vec::new();
        for (parameter, names) in &self.groups {
            entries.extend(parameter.map(|parameter| (None, parameter)));
            let stride = match parameter {
                Some(_) => names.len().div_ceil(LISTED).max(1),
                None => 1,
            };
            let named = names.iter().filter(|name| !name.is_empty());
            let strokes = named.map(|name| (Some(self.stroke(*parameter, name)), *name));
            entries.extend(strokes.step_by(stride));
        }
        list(canvas, &entries);
    }
}

/// Names in rows, those of lines behind a piece of their lines.
fn list(canvas: &mut Canvas, entries: &[(Option<(Paint, &str)>, &str)]) {
    if entries.is_empty() {
        return;
    }
    let names: Vec<&str> = entries.iter().map(|(_, name)| *name).collect();
    let right = canvas.width - MARGIN;
    let cuts = cut_apart(&names, SMALL, right - MARGIN - 24.0);
    let mut x = MARGIN;
    canvas.height += 20.0;
    for ((stroke, name), shown) in entries.iter().zip(cuts) {
        let sample = if stroke.is_some() { 24.0 } else { 0.0 };
        let extent = sample + width(&shown, SMALL);
        if x > MARGIN && x + extent > right {
            x = MARGIN;
            canvas.height += 19.0;
        }
        let y = canvas.height;
        if let Some((paint, dash)) = stroke {
            let more = format!("stroke-width=\"2.5\" {dash}");
            canvas.line((x, y - 4.5), (x + 18.0, y - 4.5), paint, &more);
        }
        canvas.text((x + sample, y), SMALL, &INK, "", &shown, name);
        x += extent + 14.0;
    }
}

fn draw_lines(plot: &LinePlot, keys: &Keys<'_>) -> Canvas {
    let mut canvas = Canvas::new(WIDTH);
    canvas.paragraph(&plot.title, TITLE, &INK, BOLD);
    let label = cut(&plot.y_label, SMALL, WIDTH - 2.0 * MARGIN);
    canvas.height += 21.0;
    let at = (MARGIN, canvas.height);
    canvas.text(at, SMALL, &SOFT, "", &label, &plot.y_label);
    let area = Area::of(plot, keys, canvas.height + 12.0);
    let lines = plot.series.iter().map(|series| area.line(series, keys));
    let mut lines: Vec<Line<'_>> = lines.collect();
    // Emphasis is drawn over all others.
    lines.sort_by_key(|line| line.series.emphasis);
    area.grid(&mut canvas, lines.iter().all(|line| line.runs.is_empty()));
    for line in &lines {
        area.band(&mut canvas, line);
    }
    for line in &lines {
        area.draw(&mut canvas, line);
    }
    if keys.at_ends {
        area.name_ends(&mut canvas, &lines);
    }
    area.marks(&mut canvas);
    canvas.height += 8.0;
    canvas
}

/// A panel of lines, its axes placed.
struct Area<'a> {
    plot: &'a LinePlot,
    x: Axis,
    y: Axis,
}

/// A line, placed.
struct Line<'a> {
    series: &'a Series,
    paint: Paint,
    dash: &'static str,
    /// Values and places of points between breaks.
    runs: Vec<Vec<(Point, Point)>>,
}

impl Line<'_> {
    fn end(&self) -> Option<Point> {
        Some(self.runs.last()?.last()?.1)
    }
}

impl<'a> Area<'a> {
    fn of(plot: &'a LinePlot, keys: &Keys<'_>, top: f64) -> Self {
        let points = plot.series.iter().flat_map(|series| &series.points);
        let points = points.filter_map(|&(x, y)| Some((Some(x), y?)));
        let bands = plot.series.iter().flat_map(|series| &series.band);
        let bands = bands.flat_map(|&(x, low, high)| [(Some(x), low), (Some(x), high)]);
        let marks = plot.marks.iter().map(|mark| (mark.x, mark.y));
        let (across, heights): (Vec<_>, Vec<f64>) = points.chain(bands).chain(marks).unzip();
        let across = || across.iter().copied().flatten();
        let whole = plot.x_scale == Scale::Linear && across().all(|x| x.fract() == 0.0);
        let x = Axis::around(plot.x_scale, across(), 0.04, 6, whole);
        // Labels of marks stand beyond the data.
        let room = if plot.marks.is_empty() { 0.04 } else { 0.13 };
        let y = Axis::around(plot.y_scale, heights.into_iter(), room, 6, false);
        let widest = y.ticks.iter().map(|tick| width(&tick.label, SMALL));
        let left = MARGIN + widest.fold(0.0, f64::max) + 6.0;
        let names = plot.series.iter().map(|series| width(&series.name, SMALL));
        let names = names.fold(0.0, f64::max);
        let right = if keys.at_ends && names > 0.0 {
            names + 20.0
        } else {
            0.0
        };
        Self {
            plot,
            x: x.placed(left, WIDTH - MARGIN - right),
            y: y.placed(top + DEPTH, top),
        }
    }

    /// The place of a point that has one.
    fn at(&self, (x, y): (f64, f64)) -> Option<Point> {
        Some((self.x.place(x)?, self.y.place(y)?))
    }

    fn line(&self, series: &'a Series, keys: &Keys<'_>) -> Line<'a> {
        let place = |&(x, y): &(f64, Option<f64>)| Some(((x, y?), self.at((x, y?))?));
        let points: Vec<_> = series.points.iter().map(place).collect();
        let runs = points.split(Option::is_none);
        let runs = runs.map(|run| run.iter().flatten().copied().collect());
        let (paint, dash) = keys.stroke(self.plot.parameter.as_deref(), &series.name);
        Line {
            series,
            paint,
            dash,
            runs: runs.filter(|run: &Vec<_>| !run.is_empty()).collect(),
        }
    }

    fn grid(&self, canvas: &mut Canvas, empty: bool) {
        let (left, right) = (self.x.from, self.x.to);
        let (top, bottom) = (self.y.to, self.y.from);
        for (y, label) in self.y.marked() {
            canvas.line((left, y), (right, y), &GRID, "");
            canvas.text((left - 6.0, y + 4.5), SMALL, &SOFT, END, label, label);
        }
        ticks_below(canvas, &self.x, (top, bottom));
        axis_label(canvas, &self.x, bottom, &self.plot.x_label);
        if empty {
            no_values(canvas, &self.x, f64::midpoint(top, bottom));
        }
    }

    fn band(&self, canvas: &mut Canvas, line: &Line<'_>) {
        let band = &line.series.band;
        let below = band.iter().map(|&(x, low, _)| (x, low));
        let above = band.iter().rev().map(|&(x, _, high)| (x, high));
        let points: Vec<Point> = below
            .chain(above)
            .filter_map(|point| self.at(point))
            .collect();
        if points.len() > 3 {
            canvas.band(&points, &line.paint);
        }
    }

    fn draw(&self, canvas: &mut Canvas, line: &Line<'_>) {
        let plot = self.plot;
        let name = plot.name_of(line.series);
        let points: usize = plot.series.iter().map(|series| series.points.len()).sum();
        let width = if line.series.emphasis { 3.0 } else { 1.7 };
        canvas.begin("class=\"rk-series\"", &name);
        for run in &line.runs {
            let places: Vec<Point> = run.iter().map(|(_, place)| *place).collect();
            if places.len() > 1 {
                canvas.polyline(&places, width, line.dash, &line.paint);
            }
            if places.len() == 1 || points <= DOTTED {
                for &((x, y), place) in run {
                    // The same number of digits as the ticks have, and two more.
                    let (x, y) = (number(x, 5), number(y, 5));
                    let title = format!("{name}\n{}: {x}\n{}: {y}", plot.x_label, plot.y_label);
                    canvas.dot(place, width + 0.8, &line.paint, title.trim());
                }
            }
        }
        canvas.end();
    }

    /// Names the lines beside where they end.
    fn name_ends(&self, canvas: &mut Canvas, lines: &[Line<'_>]) {
        let named = lines.iter().filter(|line| !line.series.name.is_empty());
        let named = named.filter_map(|line| Some((line, line.end()?)));
        let mut named: Vec<(&Line<'_>, Point)> = named.collect();
        named.sort_by(|(_, a), (_, b)| a.1.total_cmp(&b.1));
        let heights: Vec<f64> = named.iter().map(|(_, (_, y))| *y).collect();
        let places = spread(&heights, 16.0, self.y.to + 4.0, self.y.from - 4.0);
        let start = self.x.to + 14.0;
        for ((line, (x, y)), place) in named.into_iter().zip(places) {
            if (place - y).abs() > 5.0 || start - x > 24.0 {
                canvas.line((x + 4.0, y), (start - 3.0, place), &GRID, "");
            }
            let name = &line.series.name;
            canvas.text((start, place + 4.5), SMALL, &line.paint, "", name, name);
        }
    }

    /// Marks points and values.
    fn marks(&self, canvas: &mut Canvas) {
        for Mark { x, y, label } in &self.plot.marks {
            match x {
                Some(x) => self.ring(canvas, (*x, *y), label),
                None => self.level(canvas, *y, label),
            }
        }
    }

    /// A ring around a point, its label towards the nearer end of the axis, where there is less
    /// data.
    fn ring(&self, canvas: &mut Canvas, point: Point, label: &str) {
        let Some((x, y)) = self.at(point) else {
            return;
        };
        canvas.ring((x, y), label);
        let shown = cut(label, SMALL, (self.x.to - self.x.from) * 0.9);
        let half = width(&shown, SMALL) / 2.0;
        let middle = x.min(self.x.to - half).max(self.x.from + half);
        let upper = y < f64::midpoint(self.y.to, self.y.from);
        let foot = if upper { y - 12.0 } else { y + 21.0 };
        canvas.begin_halo();
        canvas.text((middle, foot), SMALL, &INK, MIDDLE, &shown, label);
        canvas.end();
    }

    /// A dashed line across the panel, explained below it.
    fn level(&self, canvas: &mut Canvas, value: f64, label: &str) {
        if let Some(y) = self.y.place(value) {
            let dash = "stroke-dasharray=\"5 4\"";
            let more = format!("stroke-width=\"1.2\" {dash}");
            canvas.line((self.x.from, y), (self.x.to, y), &SOFT, &more);
            let label = format!("{label}: {}", number(value, 4));
            list(canvas, &[(Some((SOFT, dash)), &label)]);
        }
    }
}

const MIDDLE: &str = "text-anchor=\"middle\"";
const END: &str = "text-anchor=\"end\"";

/// Places for labels at `wanted`, which is sorted: at least `gap` apart, from `top` to `bottom`.
/// Where there is no room for all, the gaps are less.
fn spread(wanted: &[f64], gap: f64, top: f64, bottom: f64) -> Vec<f64> {
    let gap = gap.min((bottom - top) / (wanted.len().max(2) - 1) as f64);
    let pushed = |first: f64, last: f64, wanted: &mut dyn Iterator<Item = f64>| -> Vec<f64> {
        let mut free = first;
        let mut places: Vec<f64> = wanted
            .map(|place| {
                let place = place.max(free);
                free = place + gap;
                place
            })
            .collect();
        let mut free = last;
        for place in places.iter_mut().rev() {
            *place = place.min(free);
            free = *place - gap;
        }
        places
    };
    // Labels that crowd give way upwards as much as downwards.
    let down = pushed(top, bottom, &mut wanted.iter().copied());
    let up = pushed(-bottom, -top, &mut wanted.iter().rev().map(|place| -place));
    let pairs = down.into_iter().zip(up.into_iter().rev());
    pairs.map(|(down, up)| f64::midpoint(down, -up)).collect()
}

/// Upright lines at the ticks of `axis` from `top` to `bottom`, and labels where they have room.
fn ticks_below(canvas: &mut Canvas, axis: &Axis, (top, bottom): (f64, f64)) {
    let mut free = f64::NEG_INFINITY;
    for (x, label) in axis.marked() {
        canvas.line((x, top), (x, bottom), &GRID, "");
        let half = width(label, SMALL) / 2.0;
        let middle = x.max(half + 2.0).min(WIDTH - half - 2.0);
        if middle - half >= free {
            canvas.text((middle, bottom + 18.0), SMALL, &SOFT, MIDDLE, label, label);
            free = middle + half + 4.0;
        }
    }
}

/// The quantity of a horizontal axis.
fn axis_label(canvas: &mut Canvas, axis: &Axis, bottom: f64, text: &str) {
    let label = cut(text, SMALL, axis.to - axis.from);
    let at = (f64::midpoint(axis.from, axis.to), bottom + 37.0);
    canvas.text(at, SMALL, &SOFT, MIDDLE, &label, text);
    canvas.height = bottom + 41.0;
}

fn no_values(canvas: &mut Canvas, axis: &Axis, y: f64) {
    let at = (f64::midpoint(axis.from, axis.to), y);
    canvas.text(at, SMALL, &SOFT, MIDDLE, "no values", "no values");
}

/// From one bar to the next.
const PITCH: f64 = 36.0;

/// Bars, each under its name and value.
fn draw_bars(plot: &BarPlot) -> Canvas {
    let mut canvas = Canvas::new(WIDTH);
    let top = 10.0;
    let bottom = top + PITCH * plot.bars.len().max(1) as f64;
    let lengths = plot.bars.iter().map(|(_, length)| *length);
    let axis = Axis::of_bars(lengths, 5).placed(MARGIN, WIDTH - MARGIN);
    ticks_below(&mut canvas, &axis, (top, bottom));
    axis_label(&mut canvas, &axis, bottom, &plot.x_label);
    if plot.bars.is_empty() {
        no_values(&mut canvas, &axis, f64::midpoint(top, bottom) + 4.0);
    }
    let names: Vec<&str> = plot.bars.iter().map(|(name, _)| &**name).collect();
    let names = cut_apart(&names, SMALL, WIDTH - 2.0 * MARGIN - 90.0);
    for ((bar, shown), index) in plot.bars.iter().zip(names).zip(0..) {
        let top = top + PITCH * f64::from(index);
        draw_bar(&mut canvas, &axis, bar, &shown, top);
    }
    canvas.height += 8.0;
    canvas
}

/// A bar under its name, as it is `shown`, and its value.
fn draw_bar(canvas: &mut Canvas, axis: &Axis, bar: &(String, f64), shown: &str, top: f64) {
    let (name, length) = bar;
    let value = if length.is_finite() {
        number(*length, 4)
    } else {
        "\u{2013}".to_owned()
    };
    canvas.begin("class=\"rk-bar\"", &format!("{name}\n{value}"));
    canvas.begin_halo();
    let foot = top + 15.0;
    canvas.text((MARGIN, foot), SMALL, &INK, "", shown, name);
    canvas.text((WIDTH - MARGIN, foot), SMALL, &INK, END, &value, &value);
    canvas.end();
    if let (Some(origin), Some(end)) = (axis.place(0.0), axis.place(*length)) {
        let paint = &DISTINCT[usize::from(end < origin)];
        let extent = (end - origin).abs().max(1.0);
        canvas.rectangle((origin.min(end), top + 20.0), (extent, 12.0), paint);
    }
    canvas.end();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_with_room_stay() {
        assert_eq!(spread(&[10.0, 50.0], 15.0, 0.0, 100.0), [10.0, 50.0]);
        assert!(spread(&[], 15.0, 0.0, 100.0).is_empty());
    }

    #[test]
    fn labels_never_overlap() {
        let placed = spread(&[1.0, 2.0, 3.0, 50.0, 97.0, 98.0, 99.0], 12.0, 0.0, 100.0);
        assert!(placed.windows(2).all(|pair| pair[1] - pair[0] > 11.999));
        assert!(placed[0] >= 0.0 && placed[6] <= 100.0, "{placed:?}");
        let crowd = spread(&[50.0, 50.0, 50.0], 12.0, 0.0, 100.0);
        assert_eq!(crowd, [38.0, 50.0, 62.0]);
        let full = spread(&[5.0; 30], 12.0, 0.0, 100.0);
        let inside = |place: &f64| (-1e-9..=100.0 + 1e-9).contains(place);
        assert!(full.iter().all(inside));
    }
}
