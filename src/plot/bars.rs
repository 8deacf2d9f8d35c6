//! A panel of horizontal bars.

use super::BarPlot;
use super::axis::{Axis, Range};
use super::canvas::{Canvas, Tint, WIDTH};
use super::colour::distinct;
use super::text::{cut, width, wrapped};

const SMALL: f64 = 13.0;
const TITLE: f64 = 15.0;
const MARGIN: f64 = 14.0;

/// Widest name that has its place left of its bar; wider ones have it above.
const BESIDE: f64 = 130.0;

/// Where the bars are.
struct Area {
    x: Axis,
    /// From one bar to the next.
    pitch: f64,
    /// Whether names stand above their bars.
    above: bool,
}

pub(super) fn draw(plot: &BarPlot) -> Canvas {
    let mut canvas = Canvas::new(WIDTH);
    for line in wrapped(&plot.title, TITLE, WIDTH - 2.0 * MARGIN) {
        canvas.height += 22.0;
        canvas.heading(MARGIN, canvas.height, TITLE, &line);
    }
    let area = Area::of(plot);
    let top = canvas.height + 10.0;
    let bottom = top + area.pitch * plot.bars.len().max(1) as f64;
    area.grid(&mut canvas, plot, top, bottom);
    for (index, _) in plot.bars.iter().enumerate() {
        area.bar(&mut canvas, plot, index, top + area.pitch * index as f64);
    }
    canvas.height += 8.0;
    canvas
}

fn values(plot: &BarPlot) -> impl Iterator<Item = f64> {
    let values = plot.bars.iter().filter_map(|bar| bar.value);
    values.filter_map(|value| plot.scale.placeable(value))
}

/// What stands beside bar `index`.
fn note(plot: &BarPlot, index: usize) -> String {
    let bar = &plot.bars[index];
    let value = bar.value.filter(|value| value.is_finite());
    let shown = || {
        value.map_or_else(
            || "\u{2013}".to_owned(),
            |value| super::text::number(value, 4),
        )
    };
    cut(&bar.note.clone().unwrap_or_else(shown), SMALL, 110.0)
}

impl Area {
    fn of(plot: &BarPlot) -> Self {
        let widest = |widths: &mut dyn Iterator<Item = f64>| widths.fold(0.0, f64::max);
        let names = widest(&mut plot.bars.iter().map(|bar| width(&bar.name, SMALL)));
        let notes = (0..plot.bars.len()).map(|index| width(&note(plot, index), SMALL));
        let notes = widest(&mut { notes });
        let above = names > BESIDE;
        let left = MARGIN + if above { 0.0 } else { names + 8.0 };
        let right = WIDTH - MARGIN - notes - 10.0;
        let x = Axis::of_bars(plot.scale, Range::of(values(plot)), 5);
        Self {
            x: x.placed(left, right),
            pitch: if above { 37.0 } else { 24.0 },
            above,
        }
    }

    fn grid(&self, canvas: &mut Canvas, plot: &BarPlot, top: f64, bottom: f64) {
        let mut free = f64::NEG_INFINITY;
        for tick in &self.x.ticks {
            let x = self.x.place(tick.value);
            canvas.rule((x, top), (x, bottom));
            let half = width(&tick.label, SMALL) / 2.0;
            let middle = x.max(half + 2.0);
            if middle - half >= free {
                let y = bottom + 17.0;
                canvas.text(middle, y, SMALL, "middle", Tint::Soft, &tick.label);
                free = middle + half + 6.0;
            }
        }
        let label = cut(&plot.x_label, SMALL, WIDTH - 2.0 * MARGIN);
        let half = width(&label, SMALL) / 2.0;
        let middle = f64::midpoint(self.x.from, self.x.to);
        let middle = middle.max(MARGIN + half).min(WIDTH - MARGIN - half);
        canvas.text(middle, bottom + 36.0, SMALL, "middle", Tint::Soft, &label);
        if plot.bars.is_empty() {
            let y = f64::midpoint(top, bottom) + 4.0;
            canvas.text(middle, y, SMALL, "middle", Tint::Soft, "no values");
        }
        canvas.height = bottom + 40.0;
    }

    fn bar(&self, canvas: &mut Canvas, plot: &BarPlot, index: usize, top: f64) {
        let bar = &plot.bars[index];
        let note = note(plot, index);
        canvas.begin("rk-bar", &format!("{}\n{note}", bar.name));
        let top = if self.above {
            let name = cut(&bar.name, SMALL, WIDTH - 2.0 * MARGIN);
            canvas.text_over(MARGIN, top + 14.0, SMALL, "start", &name);
            top + 19.0
        } else {
            let (x, y) = (self.x.from - 8.0, top + 16.5);
            canvas.text(x, y, SMALL, "end", Tint::Ink, &bar.name);
            top + 5.0
        };
        let value = bar.value.and_then(|value| plot.scale.placeable(value));
        if let Some(value) = value {
            let (origin, end) = (self.x.origin(), self.x.place(value));
            let colour = distinct(usize::from(end < origin));
            let extent = (end - origin).abs().max(1.0);
            canvas.bar((origin.min(end), top), (extent, 14.0), &colour);
        }
        let (x, y) = (WIDTH - MARGIN, top + 11.5);
        canvas.text(x, y, SMALL, "end", Tint::Ink, &note);
        canvas.end();
    }
}
