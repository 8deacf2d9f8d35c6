//! What is to be drawn.

use super::Scale;

/// Lines over a common pair of axes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LinePlot {
    /// Above the panel, where a figure has several; empty for none.
    pub title: String,
    /// What the horizontal axis shows.
    pub x_label: String,
    /// What the vertical axis shows.
    pub y_label: String,
    /// Scale of the horizontal axis, linear by default.
    pub x_scale: Scale,
    /// Scale of the vertical axis, linear by default.
    pub y_scale: Scale,
    /// The lines.
    pub series: Vec<Series>,
    /// What the series are values of, in order, if they are: they get colours from a scale.
    pub parameter: Option<String>,
    /// Points to be pointed out.
    pub marks: Vec<Mark>,
}

/// A line.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Series {
    /// Its name; none if empty.
    pub name: String,
    /// Its points, in the order in which they are joined. `None` breaks it.
    pub points: Vec<(f64, Option<f64>)>,
    /// Whether to draw it thicker, and over the others.
    pub emphasis: bool,
}

/// A point to be pointed out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mark {
    /// Where on the horizontal axis.
    pub x: f64,
    /// Where on the vertical axis.
    pub y: f64,
    /// What stands beside it.
    pub label: String,
}

/// Horizontal bars, one below the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BarPlot {
    /// Above the panel, where a figure has several; empty for none.
    pub title: String,
    /// What the length of the bars shows.
    pub x_label: String,
    /// Scale of the bars, linear by default. Linear bars start at 0, logarithmic ones at a power
    /// of ten below them all.
    pub scale: Scale,
    /// The bars, from the top.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Its length; `None` for no bar.
    pub value: Option<f64>,
    /// What stands beside it in place of the value.
    pub note: Option<String>,
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
    pub fn scales(mut self, x: Scale, y: Scale) -> Self {
        (self.x_scale, self.y_scale) = (x, y);
        self
    }

    /// Adds a line.
    #[must_use]
    pub fn series(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }

    /// Says that the lines are of values of `parameter`, in order.
    #[must_use]
    pub fn ordered(mut self, parameter: impl Into<String>) -> Self {
        self.parameter = Some(parameter.into());
        self
    }

    /// Points out the point at `x`, `y`.
    #[must_use]
    pub fn mark(mut self, x: f64, y: f64, label: impl Into<String>) -> Self {
        let label = label.into();
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
            emphasis: false,
        }
    }

    /// Draws the line thicker, and over the others.
    #[must_use]
    pub fn emphasised(mut self) -> Self {
        self.emphasis = true;
        self
    }
}

impl BarPlot {
    /// No bars yet, on a linear scale.
    pub fn new(x_label: impl Into<String>) -> Self {
        Self {
            x_label: x_label.into(),
            ..Self::default()
        }
    }

    /// The title of the panel.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// The scale of the bars.
    #[must_use]
    pub fn scale(mut self, scale: Scale) -> Self {
        self.scale = scale;
        self
    }

    /// Adds a bar below the others.
    #[must_use]
    pub fn bar(mut self, bar: Bar) -> Self {
        self.bars.push(bar);
        self
    }
}

impl Bar {
    /// A bar of length `value`.
    pub fn new(name: impl Into<String>, value: Option<f64>) -> Self {
        Self {
            name: name.into(),
            value,
            note: None,
        }
    }

    /// What stands beside the bar in place of the value.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into());
        self
    }
}
