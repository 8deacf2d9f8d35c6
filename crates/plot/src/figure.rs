//! Figures as values: panels of lines and bars under a title, and those of selections and models.

use super::AxisScale;

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

    /// How many panels are side by side, 1 by default.
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
    /// The parameter whose values the series are, in order: they get colours from a scale.
    pub parameter: Option<String>,
    /// Marked points and values.
    pub marks: Vec<Mark>,
}

/// A line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// Its name; none if empty. Series of one name are drawn alike in all panels of a figure.
    pub name: String,
    /// Its points, in the order in which they are joined. `None` breaks it.
    pub points: Vec<(f64, Option<f64>)>,
    /// Whether to draw it thicker, and over the others.
    pub emphasis: bool,
    /// The spread around it: at each `x`, from where to where. Empty for none.
    pub band: Vec<(f64, f64, f64)>,
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

    /// The name of a series, behind the parameter that it is a value of.
    pub(super) fn name_of(&self, series: &Series) -> String {
        match &self.parameter {
            Some(parameter) => format!("{parameter} {}", series.name),
            None => series.name.clone(),
        }
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

    /// The spread around the line: at each `x`, from where to where.
    #[must_use]
    pub fn band(mut self, band: impl IntoIterator<Item = (f64, f64, f64)>) -> Self {
        self.band = band.into_iter().collect();
        self
    }
}

/// A panel of values against the number of features, from one on: one line for each of `curves`,
/// names with values. `parameter` is what the names are values of, in order, if they are. `chosen` is
/// the 0-based curve and the number of features that were chosen, if they were; that curve is
/// emphasised and the point marked.
pub fn panel(
    label: impl Into<String>,
    curves: Vec<(String, Vec<Option<f64>>)>,
    parameter: Option<&str>,
    chosen: Option<(usize, usize)>,
) -> LinePlot {
    let mut plot = LinePlot::new("features", label);
    plot.parameter = parameter.map(str::to_owned);
    for (index, (name, values)) in curves.into_iter().enumerate() {
        let points = values.into_iter().zip(1..);
        let points = points.map(|(value, features)| (f64::from(features), value));
        let mut series = Series::new(name, points);
        series.emphasis = chosen.is_some_and(|(chosen, _)| chosen == index);
        plot.series.push(series);
    }
    let marked = chosen.and_then(|(index, features)| {
        let series = plot.series.get(index)?;
        let (x, y) = *series.points.get(features.checked_sub(1)?)?;
        let label = match parameter {
            Some(parameter) => format!("{features} at {parameter} {}", series.name),
            None => features.to_string(),
        };
        Some((x, y?, label))
    });
    match marked {
        Some((x, y, label)) => plot.mark(x, y, label),
        None => plot,
    }
}

const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

/// A ridge parameter: powers of two as such, others with six digits.
#[expect(clippy::cast_possible_truncation, reason = "exponents of floats")]
pub fn power(lambda: f64) -> String {
    let exponent = lambda.log2();
    if exponent.fract() != 0.0 || exponent == 0.0 {
        let digits = format!("{lambda:.5e}").parse();
        return digits.unwrap_or(lambda).to_string();
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
            (8.0, "2³"),
            (2_f64.powi(45), "2⁴⁵"),
            (3.0, "3"),
        ] {
            assert_eq!(power(value), text);
        }
    }
}
