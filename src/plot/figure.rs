//! Figures as values: lines and bars, and panels of them under a title.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::Scale;
use super::text::number;

/// Panels under a title.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figure {
    /// Above all; empty for none.
    pub title: String,
    /// Below all, smaller; empty for none.
    pub note: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// Panels side by side in SVG; 0 counts as 1. In HTML as many as there is room for.
    pub columns: usize,
    /// Width and height of the SVG; `None`: as large as the panels need.
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

    /// How many panels are side by side in SVG, 1 by default.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns;
        self
    }

    /// The width and height of the SVG: pixels, of which 96 are an inch on paper. Panels are put
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
    /// The panel in words, for readers who cannot see it.
    pub(super) fn description(&self) -> String {
        match self {
            Self::Lines(plot) => plot.description(),
            Self::Bars(plot) => plot.description(),
        }
    }
}

/// The first of `items`, and how many more there are.
fn some_of(items: impl Iterator<Item = String>) -> String {
    const MOST: usize = 10;
    let mut items: Vec<String> = items.collect();
    if items.len() > MOST {
        let more = items.len() - MOST;
        items.truncate(MOST);
        items.push(format!("and {more} more"));
    }
    items.join(", ")
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
    pub x_scale: Scale,
    /// Scale of the vertical axis, linear by default.
    pub y_scale: Scale,
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

    /// The ends of the lines, marks and levels.
    fn description(&self) -> String {
        let end = |series: &Series| {
            let mut points = series.points.iter().rev();
            let (x, y) = points.find_map(|&(x, y)| Some((x, y?)))?;
            let (name, x, y) = (self.name_of(series), number(x, 4), number(y, 4));
            Some(format!("{name} {y} at {x}").trim().to_owned())
        };
        let axes = format!("{} against {}", self.y_label, self.x_label);
        let mut parts = vec![match &*self.title {
            "" => axes,
            title => format!("{title}: {axes}"),
        }];
        let ends = some_of(self.series.iter().filter_map(end));
        if !ends.is_empty() {
            parts.push(format!("lines end: {ends}"));
        }
        parts.extend(self.marks.iter().map(|Mark { x, y, label }| {
            let kind = x.map_or("line across", |_| "marked");
            format!("{kind}: {label}, {}", number(*y, 4))
        }));
        parts.join("; ")
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

impl BarPlot {
    /// The bars with their values.
    fn description(&self) -> String {
        let bars = self.bars.iter();
        let bars = some_of(bars.map(|(name, value)| format!("{name} {}", number(*value, 4))));
        format!("{}; bars: {bars}", self.x_label)
    }
}

/// A name of a file for a diagram that does not end in `.svg`.
#[derive(Debug, Error)]
#[error(
    "{}: expected a name that ends in .svg, found {}; rsvg-convert makes PNG and PDF of SVG",
    .0.display(),
    .0.extension().map_or_else(|| "none".to_owned(), |end| format!(".{}", end.display())),
)]
pub struct NotSvg(PathBuf);

/// Refuses the name of a file that does not end in `.svg`, in any case.
///
/// # Errors
/// [`NotSvg`].
pub fn check_ending(path: &Path) -> Result<(), NotSvg> {
    match path.extension() {
        Some(extension) if extension.eq_ignore_ascii_case("svg") => Ok(()),
        _ => Err(NotSvg(path.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_svg() {
        for path in ["a.svg", "b/a.b.SVG"] {
            check_ending(Path::new(path)).unwrap();
        }
        for (path, found) in [("a.png", ".png"), ("svg", "none"), ("a.svg.gz", ".gz")] {
            let error = check_ending(Path::new(path)).unwrap_err().to_string();
            assert!(error.contains(&format!("found {found};")), "{error}");
        }
    }
}
