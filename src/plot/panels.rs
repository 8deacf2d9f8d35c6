//! Panels of lines, and panels of bars.

use super::axis::{Axis, Range, Scale};
use super::svg::{self, Canvas, Colour, Tint, WIDTH, distinct};
use super::text::{cut, number, spread, width, wrapped};
use super::{Bar, BarPlot, LinePlot, Series};

/// Size of text at the axes.
const SMALL: f64 = 13.0;

/// Size of a panel's title.
const TITLE: f64 = 15.0;

/// Height of the area of the data.
const DEPTH: f64 = 215.0;

/// Space at the sides.
const MARGIN: f64 = 14.0;

/// Lines that are named where they end, if they have no order.
const NAMED: usize = 10;

/// The same, if a strip of colours could explain them.
const NAMED_IN_ORDER: usize = 4;

/// Points that are drawn one by one, with their values as tooltips.
const DOTTED: usize = 400;

/// How the lines are told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Legend {
    None,
    AtTheEnds,
    Strip,
    Below,
}

pub(super) fn draw_lines(plot: &LinePlot) -> Canvas {
    let mut canvas = Canvas::new(WIDTH);
    let legend = Legend::of(plot);
    heading(&mut canvas, &plot.title);
    if legend == Legend::Strip {
        strip(&mut canvas, plot);
    }
    let label = cut(&plot.y_label, SMALL, WIDTH - 2.0 * MARGIN);
    canvas.height += 21.0;
    canvas.text((MARGIN, canvas.height), SMALL, "start", Tint::SOFT, &label);
    let area = Area::of(plot, legend, canvas.height + 12.0);
    area.grid(&mut canvas, plot);
    let lines: Vec<Line<'_>> = (0..plot.series.len())
        .map(|index| Line::of(plot, index, &area))
        .collect();
    for line in &lines {
        line.band(&mut canvas, plot, &area);
    }
    area.levels(&mut canvas, plot);
    for line in lines.iter().filter(|line| !line.series.emphasis) {
        line.draw(&mut canvas, plot);
    }
    for line in lines.iter().filter(|line| line.series.emphasis) {
        line.draw(&mut canvas, plot);
    }
    match legend {
        Legend::AtTheEnds => name_ends(&mut canvas, &area, &lines),
        Legend::Below => list(&mut canvas, &lines),
        Legend::None | Legend::Strip => {}
    }
    area.name_levels(&mut canvas, plot, &lines);
    area.marks(&mut canvas, plot, &lines);
    canvas.height += 8.0;
    canvas
}

fn heading(canvas: &mut Canvas, title: &str) {
    for line in wrapped(title, TITLE, WIDTH - 2.0 * MARGIN) {
        canvas.height += 22.0;
        canvas.heading((MARGIN, canvas.height), TITLE, &line);
    }
}

impl Legend {
    fn of(plot: &LinePlot) -> Self {
        let named = plot.series.iter().filter(|series| !series.name.is_empty());
        match (named.count(), &plot.parameter) {
            (0, _) => Self::None,
            (count, Some(_)) if count > NAMED_IN_ORDER => Self::Strip,
            (count, None) if count > NAMED => Self::Below,
            _ => Self::AtTheEnds,
        }
    }
}

/// The colour of series `index`.
fn colour_of(plot: &LinePlot, index: usize) -> Colour {
    if plot.parameter.is_some() {
        svg::ordered(index, plot.series.len())
    } else {
        distinct(index)
    }
}

/// The axes, placed.
struct Area {
    x: Axis,
    y: Axis,
}

impl Area {
    fn of(plot: &LinePlot, legend: Legend, top: f64) -> Self {
        let points = || {
            let points = plot.series.iter().flat_map(|series| &series.points);
            let marks = plot.marks.iter().map(|mark| (mark.x, Some(mark.y)));
            let bands = plot.series.iter().flat_map(|series| &series.band);
            let bands = bands.flat_map(|&(x, low, high)| [(x, Some(low)), (x, Some(high))]);
            let points = points.copied().chain(marks).chain(bands);
            points.filter_map(|point| placeable(plot, point))
        };
        let whole = points().all(|(x, _)| x.fract() == 0.0);
        let whole = whole && plot.x_scale == Scale::Linear;
        let x = Axis::around(plot.x_scale, Range::of(points().map(|(x, _)| x)), 6, whole);
        let levels = plot.levels.iter();
        let levels = levels.filter_map(|level| plot.y_scale.placeable(level.y));
        let heights = Range::of(points().map(|(_, y)| y).chain(levels));
        let y = Axis::around(plot.y_scale, heights, 5, false);
        let widest = y.ticks.iter().map(|tick| width(&tick.label, SMALL));
        let left = MARGIN + widest.fold(0.0, f64::max) + 6.0;
        let right = match legend {
            Legend::AtTheEnds => {
                let names = plot.series.iter().map(|series| width(&series.name, SMALL));
                names.fold(0.0, f64::max).min(NAME) + 20.0
            }
            _ => 0.0,
        };
        Self {
            x: x.placed(left, WIDTH - MARGIN - right),
            y: y.placed(top + DEPTH, top),
        }
    }

    fn grid(&self, canvas: &mut Canvas, plot: &LinePlot) {
        let (left, right) = (self.x.from, self.x.to);
        let (top, bottom) = (self.y.to, self.y.from);
        for tick in &self.y.ticks {
            let y = self.y.place(tick.value);
            canvas.rule((left, y), (right, y));
            let (x, y) = (left - 6.0, y + 4.5);
            canvas.text((x, y), SMALL, "end", Tint::SOFT, &tick.label);
        }
        upright(canvas, &self.x, (top, bottom), 18.0, 4.0, |x, _| x);
        let label = cut(&plot.x_label, SMALL, right - left);
        let middle = f64::midpoint(left, right);
        let y = bottom + 37.0;
        canvas.text((middle, y), SMALL, "middle", Tint::SOFT, &label);
        if plot
            .series
            .iter()
            .all(|series| runs(plot, series).is_empty())
        {
            let y = f64::midpoint(top, bottom);
            canvas.text((middle, y), SMALL, "middle", Tint::SOFT, "no values");
        }
        canvas.height = y + 4.0;
    }

    fn at(&self, (x, y): (f64, f64)) -> (f64, f64) {
        (self.x.place(x), self.y.place(y))
    }

    /// Dashed lines at the values to be pointed out.
    fn levels(&self, canvas: &mut Canvas, plot: &LinePlot) {
        for level in &plot.levels {
            let Some(value) = plot.y_scale.placeable(level.y) else {
                continue;
            };
            let y = self.y.place(value);
            canvas.level((self.x.from, y), (self.x.to, y));
        }
    }

    /// Names the levels where the least data is, above or below the line.
    fn name_levels(&self, canvas: &mut Canvas, plot: &LinePlot, lines: &[Line<'_>]) {
        let data: Vec<(f64, f64)> = lines.iter().flat_map(Line::trace).collect();
        for level in &plot.levels {
            let Some(value) = plot.y_scale.placeable(level.y) else {
                continue;
            };
            let y = self.y.place(value);
            let label = cut(&level.label, SMALL, (self.x.to - self.x.from) * 0.9);
            let half = width(&label, SMALL) / 2.0;
            let (left, right) = (self.x.from + half + 4.0, self.x.to - half - 4.0);
            let middles = [left, right, f64::midpoint(left, right)];
            let places = [-5.0, 15.0].map(|below| middles.map(|middle| (middle, y + below)));
            let inside = |place: &(f64, f64)| (self.y.to + 10.0..self.y.from).contains(&place.1);
            let places = places.into_iter().flatten().filter(inside);
            let best = places.min_by_key(|place| covered(&data, *place, half));
            if let Some(place) = best {
                canvas.text_over(place, SMALL, "middle", &label);
            }
        }
    }

    /// Rings around the points to be pointed out, labelled where the least data is.
    fn marks(&self, canvas: &mut Canvas, plot: &LinePlot, lines: &[Line<'_>]) {
        for mark in &plot.marks {
            let Some(point) = placeable(plot, (mark.x, Some(mark.y))) else {
                continue;
            };
            let (x, y) = self.at(point);
            canvas.ring((x, y), &mark.label);
            let label = cut(&mark.label, SMALL, (self.x.to - self.x.from) * 0.9);
            let (x, y) = self.room((x, y), width(&label, SMALL) / 2.0, lines);
            canvas.text_over((x, y), SMALL, "middle", &label);
        }
    }

    /// The middle and the foot of a label of half width `half` near a point, above or below it,
    /// where it covers least.
    fn room(&self, (x, y): (f64, f64), half: f64, lines: &[Line<'_>]) -> (f64, f64) {
        let data: Vec<(f64, f64)> = lines.iter().flat_map(Line::trace).collect();
        let places = [4.5, -15.0, 25.0, -40.0, 50.0]
            .into_iter()
            .flat_map(|below| {
                [half + 15.0, -half - 15.0, 0.0].map(|beside| (x + beside, y + below))
            });
        let places = places.filter(|place| *place != (x, y + 4.5));
        let inside = |&(middle, foot): &(f64, f64)| {
            (self.x.from + half..=self.x.to - half).contains(&middle)
                && (self.y.to + 6.0..=self.y.from - 4.0).contains(&foot)
        };
        let middle = x.min(self.x.to - half).max(self.x.from + half);
        let default = (
            middle,
            if y - self.y.to > 30.0 {
                y - 15.0
            } else {
                y + 25.0
            },
        );
        let places = std::iter::once(default).chain(places.filter(inside));
        places
            .min_by_key(|place| covered(&data, *place, half))
            .unwrap_or(default)
    }
}

/// Upright lines at the ticks of `axis` from `top` to `bottom`, and their labels `below`, at least
/// `apart`; `middle` of a label is a function of the tick and half its width.
fn upright(
    canvas: &mut Canvas,
    axis: &Axis,
    (top, bottom): (f64, f64),
    below: f64,
    apart: f64,
    middle: impl Fn(f64, f64) -> f64,
) {
    let mut free = f64::NEG_INFINITY;
    for tick in &axis.ticks {
        let x = axis.place(tick.value);
        canvas.rule((x, top), (x, bottom));
        let half = width(&tick.label, SMALL) / 2.0;
        let middle = middle(x, half);
        if middle - half >= free {
            let at = (middle, bottom + below);
            canvas.text(at, SMALL, "middle", Tint::SOFT, &tick.label);
            free = middle + half + apart;
        }
    }
}

/// Places of the data that a label of half width `half` covers.
fn covered(data: &[(f64, f64)], (middle, foot): (f64, f64), half: f64) -> usize {
    let within = |&&(x, y): &&(f64, f64)| {
        (x - middle).abs() < half + 4.0 && (foot - 16.0..foot + 6.0).contains(&y)
    };
    data.iter().filter(within).count()
}

/// Most that a name takes at the end of a line.
const NAME: f64 = 110.0;

/// A series, placed.
struct Line<'a> {
    series: &'a Series,
    index: usize,
    colour: Colour,
    runs: Vec<Vec<Placed>>,
}

/// A point: its place and its value.
#[derive(Debug, Clone, Copy)]
struct Placed {
    at: (f64, f64),
    value: (f64, f64),
}

fn placeable(plot: &LinePlot, (x, y): (f64, Option<f64>)) -> Option<(f64, f64)> {
    Some((plot.x_scale.placeable(x)?, plot.y_scale.placeable(y?)?))
}

/// Where the colours come round again, lines are dashed.
fn dash(index: usize) -> &'static str {
    match svg::round(index) {
        0 => "",
        1 => "7 5",
        _ => "2 5",
    }
}

/// Points between breaks.
fn runs(plot: &LinePlot, series: &Series) -> Vec<Vec<(f64, f64)>> {
    let points: Vec<_> = series
        .points
        .iter()
        .map(|&point| placeable(plot, point))
        .collect();
    let runs = points.split(Option::is_none);
    runs.map(|run| run.iter().flatten().copied().collect())
        .filter(|run: &Vec<_>| !run.is_empty())
        .collect()
}

impl<'a> Line<'a> {
    fn of(plot: &'a LinePlot, index: usize, area: &Area) -> Self {
        let series = &plot.series[index];
        let place = |value: (f64, f64)| Placed {
            at: area.at(value),
            value,
        };
        let runs = runs(plot, series).into_iter();
        Self {
            series,
            index,
            colour: colour_of(plot, index),
            runs: runs
                .map(|run| run.into_iter().map(place).collect())
                .collect(),
        }
    }

    fn width(&self, plot: &LinePlot) -> f64 {
        match (self.series.emphasis, plot.series.len()) {
            (true, _) => 3.0,
            (false, ..=NAMED) => 2.0,
            (false, _) => 1.4,
        }
    }

    fn band(&self, canvas: &mut Canvas, plot: &LinePlot, area: &Area) {
        let edge = |end: fn(&(f64, f64, f64)) -> f64| {
            let points = self.series.band.iter();
            let points = points.filter_map(move |point| {
                placeable(plot, (point.0, Some(end(point)))).map(|point| area.at(point))
            });
            points.collect::<Vec<_>>()
        };
        let (mut points, mut back) = (edge(|point| point.1), edge(|point| point.2));
        back.reverse();
        points.append(&mut back);
        if points.len() > 3 {
            canvas.band(&points, &self.colour);
        }
    }

    fn draw(&self, canvas: &mut Canvas, plot: &LinePlot) {
        let name = match &plot.parameter {
            Some(parameter) => format!("{parameter} {}", self.series.name),
            None => self.series.name.clone(),
        };
        let points: usize = plot.series.iter().map(|series| series.points.len()).sum();
        let width = self.width(plot);
        let dash = if plot.parameter.is_some() {
            ""
        } else {
            dash(self.index)
        };
        canvas.begin("rk-series", &name);
        for run in &self.runs {
            let places: Vec<_> = run.iter().map(|point| point.at).collect();
            if places.len() > 1 {
                canvas.polyline(&places, width, dash, &self.colour);
            }
            if places.len() == 1 || points <= DOTTED {
                for point in run {
                    // The same number of digits as the ticks have, and two more.
                    let (x, y) = (number(point.value.0, 5), number(point.value.1, 5));
                    let values = format!("{}: {x}\n{}: {y}", plot.x_label, plot.y_label);
                    let title = format!("{name}\n{values}");
                    canvas.dot(point.at, width + 0.8, &self.colour, title.trim());
                }
            }
        }
        canvas.end();
    }

    /// Its places, close enough to each other for no label to fall between them.
    fn trace(&self) -> Vec<(f64, f64)> {
        const PIECES: u8 = 24;
        let pairs = self.runs.iter().flat_map(|run| run.windows(2));
        let traced = pairs.flat_map(|pair| {
            let (from, to) = (pair[0].at, pair[1].at);
            (0..PIECES).map(move |piece| {
                let share = f64::from(piece) / f64::from(PIECES);
                let between = |from: f64, to: f64| from + share * (to - from);
                (between(from.0, to.0), between(from.1, to.1))
            })
        });
        traced.chain(self.end()).collect()
    }

    fn end(&self) -> Option<(f64, f64)> {
        Some(self.runs.last()?.last()?.at)
    }
}

/// Names the lines beside where they end.
fn name_ends(canvas: &mut Canvas, area: &Area, lines: &[Line<'_>]) {
    let ended = |line: &&Line<'_>| line.end().is_some() && !line.series.name.is_empty();
    let named: Vec<&Line<'_>> = lines.iter().filter(ended).collect();
    let ends: Vec<(f64, f64)> = named.iter().filter_map(|line| line.end()).collect();
    let heights: Vec<f64> = ends.iter().map(|(_, y)| *y).collect();
    let places = spread(&heights, 16.0, area.y.to + 4.0, area.y.from - 4.0);
    for ((line, (x, y)), place) in named.into_iter().zip(ends).zip(places) {
        let start = area.x.to + 14.0;
        if (place - y).abs() > 5.0 || start - x > 24.0 {
            canvas.rule((x + 4.0, y), (start - 3.0, place));
        }
        let name = &line.series.name;
        let shown = cut(name, SMALL, NAME);
        canvas.label((start, place + 4.5), SMALL, &line.colour, &shown, name);
    }
}

/// A strip of all colours, named at even distances.
fn strip(canvas: &mut Canvas, plot: &LinePlot) {
    let parameter = plot.parameter.as_deref().unwrap_or_default();
    let parameter = cut(parameter, SMALL, 100.0);
    let top = canvas.height + 9.0;
    canvas.text((MARGIN, top + 9.5), SMALL, "start", Tint::SOFT, &parameter);
    let (left, right) = (MARGIN + width(&parameter, SMALL) + 10.0, WIDTH - MARGIN);
    let cell = (right - left) / plot.series.len() as f64;
    for (index, series) in plot.series.iter().enumerate() {
        let x = left + cell * index as f64;
        canvas.begin("rk-key", &format!("{parameter} {}", series.name));
        canvas.bar((x, top), (cell, 11.0), &colour_of(plot, index));
        canvas.end();
    }
    for key in keys(plot, left, right) {
        let y = top + 26.0;
        canvas.text((key.middle, y), SMALL, "middle", Tint::SOFT, &key.name);
    }
    canvas.height = top + 30.0;
}

/// A name below the strip.
struct Key {
    name: String,
    middle: f64,
    half: f64,
}

/// Some evenly spaced names that have room, the first and the last among them.
fn keys(plot: &LinePlot, left: f64, right: f64) -> Vec<Key> {
    let last = plot.series.len() - 1;
    let cell = (right - left) / plot.series.len() as f64;
    let key = |index: usize| {
        let name = cut(&plot.series[index].name, SMALL, 90.0);
        let half = width(&name, SMALL) / 2.0;
        let middle = left + cell * (index as f64 + 0.5);
        let middle = middle.min(right - half).max(left + half);
        Key { name, middle, half }
    };
    let apart = |pair: &[Key]| {
        let between = pair[1].middle - pair[0].middle;
        between >= pair[0].half + pair[1].half + 8.0
    };
    let spaced = |count: usize| -> Vec<Key> {
        let numbers = 0..count;
        numbers
            .map(|number| key(number * last / (count - 1)))
            .collect()
    };
    let even = [5, 4, 6, 3]
        .into_iter()
        .filter(|count| last.is_multiple_of(count - 1))
        .map(spaced);
    let mut fitting = even.filter(|keys| keys.windows(2).all(apart));
    fitting.next().unwrap_or_else(|| vec![key(0), key(last)])
}

/// Names and colours in rows.
fn list(canvas: &mut Canvas, lines: &[Line<'_>]) {
    let mut x = MARGIN;
    canvas.height += 20.0;
    for line in lines.iter().filter(|line| !line.series.name.is_empty()) {
        let name = &line.series.name;
        let shown = cut(name, SMALL, WIDTH - 2.0 * MARGIN - 24.0);
        let extent = 24.0 + width(&shown, SMALL);
        if x > MARGIN && x + extent > WIDTH - MARGIN {
            x = MARGIN;
            canvas.height += 19.0;
        }
        let y = canvas.height;
        let dash = dash(line.index);
        canvas.sample((x, y - 4.5), (x + 18.0, y - 4.5), dash, &line.colour);
        canvas.label((x + 24.0, y), SMALL, &line.colour, &shown, name);
        x += extent + 14.0;
    }
}

/// Widest name that has its place left of its bar; wider ones have it above.
const BESIDE: f64 = 130.0;

/// Where the bars are.
struct BarArea {
    x: Axis,
    /// From one bar to the next.
    pitch: f64,
    /// Whether names stand above their bars.
    above: bool,
}

pub(super) fn draw_bars(plot: &BarPlot) -> Canvas {
    let mut canvas = Canvas::new(WIDTH);
    heading(&mut canvas, &plot.title);
    let area = BarArea::of(plot);
    let top = canvas.height + 10.0;
    let bottom = top + area.pitch * plot.bars.len().max(1) as f64;
    area.grid(&mut canvas, plot, top, bottom);
    for (index, bar) in plot.bars.iter().enumerate() {
        area.bar(&mut canvas, bar, top + area.pitch * index as f64);
    }
    canvas.height += 8.0;
    canvas
}

fn lengths(plot: &BarPlot) -> impl Iterator<Item = f64> {
    let values = plot.bars.iter().map(|bar| bar.value);
    values.filter_map(|value| Scale::Linear.placeable(value))
}

/// The text beside a bar.
fn note_of(bar: &Bar) -> String {
    if bar.value.is_finite() {
        number(bar.value, 4)
    } else {
        "\u{2013}".to_owned()
    }
}

impl BarArea {
    fn of(plot: &BarPlot) -> Self {
        let widest = |widths: &mut dyn Iterator<Item = f64>| widths.fold(0.0, f64::max);
        let names = widest(&mut plot.bars.iter().map(|bar| width(&bar.name, SMALL)));
        let notes = widest(&mut plot.bars.iter().map(|bar| width(&note_of(bar), SMALL)));
        let above = names > BESIDE;
        let left = MARGIN + if above { 0.0 } else { names + 8.0 };
        let right = WIDTH - MARGIN - notes - 10.0;
        let x = Axis::of_bars(Range::of(lengths(plot)), 5);
        Self {
            x: x.placed(left, right),
            pitch: if above { 37.0 } else { 24.0 },
            above,
        }
    }

    fn grid(&self, canvas: &mut Canvas, plot: &BarPlot, top: f64, bottom: f64) {
        let within = |x: f64, half: f64| x.max(half + 2.0);
        upright(canvas, &self.x, (top, bottom), 17.0, 6.0, within);
        let label = cut(&plot.x_label, SMALL, WIDTH - 2.0 * MARGIN);
        let half = width(&label, SMALL) / 2.0;
        let middle = f64::midpoint(self.x.from, self.x.to);
        let middle = middle.max(MARGIN + half).min(WIDTH - MARGIN - half);
        canvas.text((middle, bottom + 36.0), SMALL, "middle", Tint::SOFT, &label);
        if plot.bars.is_empty() {
            let y = f64::midpoint(top, bottom) + 4.0;
            canvas.text((middle, y), SMALL, "middle", Tint::SOFT, "no values");
        }
        canvas.height = bottom + 40.0;
    }

    fn bar(&self, canvas: &mut Canvas, bar: &Bar, top: f64) {
        let note = note_of(bar);
        canvas.begin("rk-bar", &format!("{}\n{note}", bar.name));
        let top = if self.above {
            let name = cut(&bar.name, SMALL, WIDTH - 2.0 * MARGIN);
            canvas.text_over((MARGIN, top + 14.0), SMALL, "start", &name);
            top + 19.0
        } else {
            let (x, y) = (self.x.from - 8.0, top + 16.5);
            canvas.text((x, y), SMALL, "end", Tint::INK, &bar.name);
            top + 5.0
        };
        if let Some(value) = Scale::Linear.placeable(bar.value) {
            let (origin, end) = (self.x.place(0.0), self.x.place(value));
            let colour = distinct(usize::from(end < origin));
            let extent = (end - origin).abs().max(1.0);
            canvas.bar((origin.min(end), top), (extent, 14.0), &colour);
        }
        let (x, y) = (WIDTH - MARGIN, top + 11.5);
        canvas.text((x, y), SMALL, "end", Tint::INK, &note);
        canvas.end();
    }
}
