//! Figures as values: panels of lines and bars under a title.

use super::{AxisScale, Hue};

/// Panels under a title.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figure {
    /// Above all; empty for none.
    pub title: String,
    /// Below all, smaller; empty for none.
    pub note: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// Panels side by side; 0 counts as 1.
    pub columns: usize,
    /// Width and height; `None`: as large as the panels need.
    pub size: Option<(u32, u32)>,
    /// What 1, 2 and so on are on the horizontal axes of lines: written below the last row of panels,
    /// as many as have room.
    pub names: Vec<String>,
}

/// A panel of a figure.
#[derive(Debug, Clone, PartialEq)]
pub enum Panel {
    /// Lines.
    Lines(LinePlot),
    /// Horizontal bars.
    Bars(BarPlot),
}

impl Figure {
    /// A figure without panels.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            columns: 1,
            ..Self::default()
        }
    }

    /// The note below the panels.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// How many panels are side by side, 1 by default. Panels of a single column are wide.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns;
        self
    }

    /// The width and height: pixels, of which 96 are an inch on paper. Panels are put
    /// side by side so that they are as large as fits.
    #[must_use]
    pub fn size(mut self, size: impl Into<Option<(u32, u32)>>) -> Self {
        self.size = size.into();
        self
    }

    /// What 1, 2 and so on are on the horizontal axes of lines.
    #[must_use]
    pub fn names(mut self, names: impl IntoIterator<Item = String>) -> Self {
        self.names = names.into_iter().collect();
        self
    }

    /// Adds a panel of lines.
    #[must_use]
    pub fn lines(mut self, plot: LinePlot) -> Self {
        self.panels.push(Panel::Lines(plot));
        self
    }

    /// Adds a panel of bars.
    #[must_use]
    pub fn bars(mut self, plot: BarPlot) -> Self {
        self.panels.push(Panel::Bars(plot));
        self
    }

    /// The panels of lines.
    pub(super) fn line_plots(&self) -> impl Iterator<Item = &LinePlot> {
        self.panels.iter().filter_map(|panel| match panel {
            Panel::Lines(plot) => Some(plot),
            Panel::Bars(_) => None,
        })
    }
}

impl Panel {
    /// The drawing in words, for readers who cannot see it.
    pub(super) fn description(&self) -> String {
        match self {
            Self::Lines(plot) => {
                let axes = format!("{} {} against {}", plot.title, plot.y_label, plot.x_label);
                axes.trim().to_owned()
            }
            Self::Bars(plot) => format!("bars of {}", plot.x_label),
        }
    }
}

/// Lines over a common pair of axes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LinePlot {
    /// Above the panel, where a figure has several; empty for none.
    pub title: String,
    /// Quantity of the horizontal axis.
    pub x_label: String,
    /// Quantity of the vertical axis.
    pub y_label: String,
    /// Scale of the horizontal axis, linear by default.
    pub x_scale: AxisScale,
    /// Scale of the vertical axis, linear by default.
    pub y_scale: AxisScale,
    /// The lines.
    pub series: Vec<Series>,
    /// Marked points and values.
    pub marks: Vec<Mark>,
}

/// A line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// Its name, which stands at its end; none if empty. Series of one name are drawn alike in all
    /// panels of a figure.
    pub name: String,
    /// What it belongs to; none if empty. Groups are named above the panel where there are several.
    pub group: String,
    /// Its points, in the order in which they are joined. `None` breaks it.
    pub points: Vec<(f64, Option<f64>)>,
    /// How to draw it; `None`: unlike the series of other names.
    pub stroke: Option<Stroke>,
    /// How much it stands out.
    pub tone: Tone,
    /// The spread around it: at each `x`, from where to where. Empty for none.
    pub band: Vec<(f64, f64, f64)>,
}

/// Colour and dashes of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stroke {
    /// The colour.
    pub hue: Hue,
    /// 0: solid; from 1 on other dashes.
    pub dashes: usize,
}

impl From<Hue> for Stroke {
    fn from(hue: Hue) -> Self {
        Self { hue, dashes: 0 }
    }
}

/// How much a line stands out.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub enum Tone {
    /// As others.
    #[default]
    Plain,
    /// Thicker, over the others, its name bold.
    Strong,
    /// Thin and in a lighter shade of its colour, from 0, the faintest, to 1. Where names have no room,
    /// those of such lines are left out.
    Faint(f64),
}

/// A marked point, or a marked value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mark {
    /// Where on the horizontal axis; `None` for a line across the panel.
    pub x: Option<f64>,
    /// Where on the vertical axis.
    pub y: f64,
    /// Text beside the point, or below the panel.
    pub label: String,
}

/// Horizontal bars, one below the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BarPlot {
    /// Quantity of the bars.
    pub x_label: String,
    /// Names and lengths, from the top; no bar where the length is not finite.
    pub bars: Vec<(String, f64)>,
}

impl LinePlot {
    /// Linear axes without lines.
    pub fn new(x_label: impl Into<String>, y_label: impl Into<String>) -> Self {
        Self {
            x_label: x_label.into(),
            y_label: y_label.into(),
            ..Self::default()
        }
    }

    /// The title of the panel.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// The scales of the axes.
    #[must_use]
    pub fn scales(mut self, x: AxisScale, y: AxisScale) -> Self {
        (self.x_scale, self.y_scale) = (x, y);
        self
    }

    /// Adds a line.
    #[must_use]
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Marks the point at `x`, `y`.
    #[must_use]
    pub fn mark(mut self, x: f64, y: f64, label: impl Into<String>) -> Self {
        let (x, label) = (Some(x), label.into());
        self.marks.push(Mark { x, y, label });
        self
    }

    /// Marks the value `y` by a line across the panel.
    #[must_use]
    pub fn level(mut self, y: f64, label: impl Into<String>) -> Self {
        let (x, label) = (None, label.into());
        self.marks.push(Mark { x, y, label });
        self
    }
}

impl Series {
    /// A line through `points`.
    pub fn new(
        name: impl Into<String>,
        points: impl IntoIterator<Item = (f64, Option<f64>)>,
    ) -> Self {
        Self {
            name: name.into(),
            points: points.into_iter().collect(),
            ..Self::default()
        }
    }

    /// A line through values at 1, 2 and so on.
    pub fn path(name: impl Into<String>, values: impl IntoIterator<Item = Option<f64>>) -> Self {
        let places = (1..).map(f64::from);
        Self::new(name, places.zip(values))
    }

    /// What the line belongs to.
    #[must_use]
    pub fn group(mut self, group: impl Into<String>) -> Self {
        self.group = group.into();
        self
    }

    /// The colour and dashes.
    #[must_use]
    pub fn stroke(mut self, stroke: impl Into<Stroke>) -> Self {
        self.stroke = Some(stroke.into());
        self
    }

    /// How much the line stands out.
    #[must_use]
    pub fn tone(mut self, tone: Tone) -> Self {
        self.tone = tone;
        self
    }

    /// The spread around the line: at each `x`, from where to where.
    #[must_use]
    pub fn band(mut self, band: impl IntoIterator<Item = (f64, f64, f64)>) -> Self {
        self.band = band.into_iter().collect();
        self
    }

    /// The name behind its group.
    pub(super) fn full_name(&self) -> String {
        format!("{} {}", self.group, self.name).trim().to_owned()
    }
}

const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

/// A number for a figure: powers of two that are far from 1 as such, others with three digits.
#[expect(clippy::cast_possible_truncation, reason = "exponents of floats")]
pub fn power(number: f64) -> String {
    let exponent = number.log2();
    if exponent.fract() != 0.0 {
        let digits = format!("{number:.2e}").parse();
        return digits.unwrap_or(number).to_string();
    }
    if (-3.0..=10.0).contains(&exponent) {
        return number.to_string();
    }
    let digit = |char: char| match char.to_digit(10) {
        Some(digit) => DIGITS[digit as usize],
        None => '⁻',
    };
    let exponent = (exponent as i32).to_string();
    format!("2{}", exponent.chars().map(digit).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_two_are_named_as_such() {
        for (value, text) in [
            (1.0, "1"),
            (0.000_976_562_5, "2⁻¹⁰"),
            (8.0, "8"),
            (1024.0, "1024"),
            (0.125, "0.125"),
            (2_f64.powi(45), "2⁴⁵"),
            (3.0, "3"),
            (0.123_456, "0.123"),
        ] {
            assert_eq!(power(value), text);
        }
    }
}
