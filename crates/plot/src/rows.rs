//! Panels of rows: bars, and dots on a logarithmic axis.

use super::axis::{Axis, AxisScale};
use super::lines::draw_axis;
use super::paint::{GRID, Hue, INK, SOFT};
use super::panels::{END, SMALL};
use super::svg::{Canvas, MARGIN, WIDTH};
use super::text::{number, width};
use super::{BarPlot, Dot, DotPlot};

/// From one bar to the next.
const PITCH: f64 = 36.0;

/// Bars, each under its name and value.
pub(super) fn draw_bars(plot: &BarPlot) -> Canvas {
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
        let hue = if end < origin { Hue::Orange } else { Hue::Blue };
        let extent = (end - origin).abs().max(1.0);
        canvas.rectangle((origin.min(end), top + 20.0), (extent, 12.0), &hue.paint());
    }
    canvas.end();
}

/// From one dot to the next.
const STEP: f64 = 23.0;

/// The widest name of a dot, and the widest text beside one.
const NAME: f64 = 120.0;
const BESIDE: f64 = 96.0;

/// Dots, each on a line of its own between its name and its label.
pub(super) fn draw_dots(plot: &DotPlot) -> Canvas {
    let mut canvas = Canvas::new(WIDTH);
    canvas.height += 3.0;
    canvas.paragraph(&plot.x_label, SMALL, &SOFT, "");
    let names = plot.dots.iter().map(|dot| width(&dot.name, SMALL));
    let left = MARGIN + names.fold(0.0, f64::max).min(NAME) + 12.0;
    let top = canvas.height + 8.0;
    let bottom = top + STEP * plot.dots.len().max(1) as f64;
    let values: Vec<f64> = plot.dots.iter().filter_map(|dot| dot.value).collect();
    let axis = Axis::new(
        AxisScale::Log,
        &values,
        0.06,
        (left, WIDTH - MARGIN - BESIDE),
    );
    let placed = |dot: &Dot| dot.value.and_then(|value| axis.place(value)).is_some();
    let empty = !plot.dots.iter().any(placed);
    draw_axis(&mut canvas, &axis, (top, bottom), "", empty);
    for (dot, index) in plot.dots.iter().zip(0..) {
        draw_dot(
            &mut canvas,
            &axis,
            dot,
            top + STEP * (f64::from(index) + 0.5),
        );
    }
    canvas.height += 8.0;
    canvas
}

fn draw_dot(canvas: &mut Canvas, axis: &Axis, dot: &Dot, y: f64) {
    canvas.begin("class=\"rk-dot\"", &format!("{}\n{}", dot.name, dot.label));
    let foot = y + 4.5;
    canvas.text((axis.from - 8.0, foot), SMALL, &INK, END, &dot.name, NAME);
    canvas.line((axis.from, y), (axis.to, y), &GRID, "");
    let place = dot.value.and_then(|value| axis.place(value));
    if let Some(x) = place {
        let fill = canvas.fill(&dot.hue.paint());
        canvas.circle((x, y), 5.0, &fill, "");
    }
    let beside = place.unwrap_or(axis.from) + 11.0;
    canvas.begin_halo();
    canvas.text((beside, foot), SMALL, &SOFT, "", &dot.label, BESIDE);
    canvas.end();
    canvas.end();
}
