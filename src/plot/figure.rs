//! Lines and bars to be drawn, panels of them under a title, and the ways to write them.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::svg::{self, Canvas, Tint, WIDTH};
use super::{Scale, panels, text};

/// Size of the title.
const TITLE: f64 = 17.0;

/// Size of the note.
const NOTE: f64 = 12.5;

/// Panels under a title.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Figure {
    /// Above all; empty for none.
    pub title: String,
    /// Below all, smaller; empty for none.
    pub note: String,
    /// The panels, row by row.
    pub panels: Vec<Panel>,
    /// Panels side by side in SVG and PNG; 0 counts as 1. In HTML as many as there is room for.
    pub columns: usize,
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

    /// What stands below the panels.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.note = note.into();
        self
    }

    /// How many panels are side by side in SVG and PNG, 1 by default.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns;
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

    /// One SVG document with all panels.
    pub fn to_svg(&self) -> String {
        self.document().finish(&self.title, Some(Tint::PAPER))
    }

    /// Pixels of the SVG document in its light version, twice as many as it has units.
    ///
    /// # Errors
    /// [`PlotError::TooLarge`] and [`PlotError::Png`].
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        #[cfg(feature = "png")]
        return super::png::draw(&self.to_svg());
        #[cfg(not(feature = "png"))]
        Err(PlotError::Png(
            "this program was built without the feature `png`".to_owned(),
        ))
    }

    /// An HTML `<figure>`, to be put into the body of a page: one SVG a panel, beside each other
    /// where there is room, never wider than the page. It needs nothing from elsewhere.
    pub fn to_html_fragment(&self) -> String {
        svg::fragment(self)
    }

    /// An HTML page with the figure and nothing else.
    pub fn to_html(&self) -> String {
        svg::page(self)
    }

    /// The bytes of a file of that format.
    ///
    /// # Errors
    /// As [`to_png`](Self::to_png); the other formats have none.
    pub fn to_bytes(&self, format: PlotFormat) -> Result<Vec<u8>, PlotError> {
        match format {
            PlotFormat::Svg => Ok(self.to_svg().into_bytes()),
            PlotFormat::Png => self.to_png(),
            PlotFormat::Html => Ok(self.to_html().into_bytes()),
        }
    }

    /// Writes the file at `path`, in the format that its extension says.
    ///
    /// # Errors
    /// [`PlotError`], as [`PlotFormat::of`] and [`to_bytes`](Self::to_bytes), and when the file
    /// cannot be written; what was there before stays then.
    pub fn write(&self, path: &Path) -> Result<(), PlotError> {
        let bytes = self.to_bytes(PlotFormat::of(path)?)?;
        save(path, &bytes).map_err(|source| PlotError::Write {
            path: path.to_owned(),
            source,
        })
    }

    fn document(&self) -> Canvas {
        let columns = self.columns.clamp(1, self.panels.len().max(1));
        let width = WIDTH * columns as f64;
        let mut page = Canvas::new(width);
        heading(&mut page, &self.title, width);
        for row in self.panels.chunks(columns) {
            let panels: Vec<Canvas> = row.iter().map(Panel::draw).collect();
            let top = page.height;
            for (panel, left) in panels.into_iter().zip(0..) {
                page.place(panel, f64::from(left) * WIDTH, top);
            }
        }
        footing(&mut page, &self.note, width);
        page
    }
}

fn heading(page: &mut Canvas, title: &str, width: f64) {
    for line in text::wrapped(title, TITLE, width - 28.0) {
        page.height += 24.0;
        page.heading((14.0, page.height), TITLE, &line);
    }
    page.height += 4.0;
}

fn footing(page: &mut Canvas, note: &str, width: f64) {
    for line in text::wrapped(note, NOTE, width - 28.0) {
        page.height += 17.0;
        page.text((14.0, page.height - 5.0), NOTE, "start", Tint::SOFT, &line);
    }
    page.height += 6.0;
}

impl Panel {
    /// The panel alone, [`WIDTH`] wide.
    pub(super) fn draw(&self) -> Canvas {
        match self {
            Self::Lines(plot) => panels::draw_lines(plot),
            Self::Bars(plot) => panels::draw_bars(plot),
        }
    }

    pub(super) fn title(&self) -> &str {
        match self {
            Self::Lines(plot) => &plot.title,
            Self::Bars(plot) => &plot.title,
        }
    }
}

/// Writes all of the file or nothing.
fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return fs::write(path, bytes);
    }
    let mut output = crate::data::Output::create(path)?;
    output.write_all(bytes)?;
    output.finish()
}

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

/// A kind of file that a figure can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlotFormat {
    /// Vectors, with tooltips, light and dark.
    Svg,
    /// Pixels, light.
    Png,
    /// A page of its own with the vectors in it, which fits phones and desktops.
    Html,
}

impl PlotFormat {
    /// By the extension of `path`, in any case.
    ///
    /// # Errors
    /// [`PlotError::Extension`] unless it is `.svg`, `.png` or `.html`.
    pub fn of(path: &Path) -> Result<Self, PlotError> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            Some("html") => Ok(Self::Html),
            _ => Err(PlotError::Extension {
                path: path.to_owned(),
            }),
        }
    }
}

/// A diagram that cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The name of the file does not say what to write.
    #[error(
        "{}: expected a name that ends in .svg, .png or .html, found {}",
        .path.display(),
        .path.extension().map_or_else(|| "none of them".to_owned(), |end| format!(".{}", end.display())),
    )]
    Extension {
        /// The file.
        path: PathBuf,
    },
    /// A picture that no program would open.
    #[error(
        "the diagram is {width} by {height} pixels, more than {most} in all: write it as .svg or \
         .html, or draw less"
    )]
    TooLarge {
        /// Pixels in a row.
        width: u32,
        /// Rows of pixels.
        height: u32,
        /// Pixels that a picture may have.
        most: u64,
    },
    /// The diagram could not be drawn as pixels.
    #[error("cannot draw the diagram as PNG: {0}")]
    Png(String),
    /// The file could not be written.
    #[error("{}: cannot write the diagram: {source}", .path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides() {
        for (path, format) in [
            ("a.svg", PlotFormat::Svg),
            ("b/a.b.PNG", PlotFormat::Png),
            ("a.html", PlotFormat::Html),
        ] {
            assert_eq!(PlotFormat::of(Path::new(path)).unwrap(), format);
        }
        for (path, found) in [("a.pdf", ".pdf"), ("svg", "none"), ("a.svg.gz", ".gz")] {
            let error = PlotFormat::of(Path::new(path)).unwrap_err().to_string();
            assert!(error.contains(".svg, .png or .html"), "{error}");
            assert!(error.contains(&format!("found {found}")), "{error}");
        }
    }
}
