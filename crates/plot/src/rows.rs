//! Panels of bars.

use super::BarPlot;
use super::axis::{Axis, AxisScale};
use super::lines::draw_axis;
use super::paint::{Hue, INK};
use super::panels::{END, SMALL};
use super::svg::{Canvas, MARGIN, WIDTH};
use super::text::number;

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
