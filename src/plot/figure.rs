//! Lines and bars to be drawn, panels of them under a title, and the ways to write them.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::svg::{self, Canvas, Tint, WIDTH};
use super::text::number;
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
    /// Width and height of SVG, PNG and PDF; `None`: as large as the panels need.
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

    /// How many panels are side by side in SVG and PNG, 1 by default.
    #[must_use]
    pub fn columns(mut self, columns: usize) -> Self {
        self.columns = columns;
        self
    }

    /// The width and height of SVG, PNG and PDF: pixels, of which 96 are an inch on paper. Panels
    /// are put side by side so that they are as large as fits.
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

    /// One SVG document with all panels.
    pub fn to_svg(&self) -> String {
        let panels = self.panels.iter().map(Panel::description);
        let described: Vec<String> = [self.title.clone()].into_iter().chain(panels).collect();
        let title = described.join(". ");
        self.document().finish(&title, Some(Tint::PAPER))
    }

    /// Pixels of the SVG document in its light version: twice as many as it has units, or as many
    /// as [`size`](Self::size) says.
    ///
    /// # Errors
    /// [`PlotError::TooLarge`] and [`PlotError::Png`].
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        #[cfg(feature = "png")]
        return super::png::draw(&self.to_svg(), if self.size.is_some() { 1.0 } else { 2.0 });
        #[cfg(not(feature = "png"))]
        Err(PlotError::without_png())
    }

    /// A page with the vectors of the SVG document in its light version, text as outlines.
    ///
    /// # Errors
    /// [`PlotError::Png`].
    pub fn to_pdf(&self) -> Result<Vec<u8>, PlotError> {
        #[cfg(feature = "png")]
        return super::pdf::draw(&self.to_svg());
        #[cfg(not(feature = "png"))]
        Err(PlotError::without_png())
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
    /// As [`to_png`](Self::to_png) and [`to_pdf`](Self::to_pdf); the other formats have none.
    pub fn to_bytes(&self, format: PlotFormat) -> Result<Vec<u8>, PlotError> {
        match format {
            PlotFormat::Svg => Ok(self.to_svg().into_bytes()),
            PlotFormat::Png => self.to_png(),
            PlotFormat::Pdf => self.to_pdf(),
            PlotFormat::Html => Ok(self.to_html().into_bytes()),
        }
    }

    /// Writes the file at `path`, in the format that its extension says.
    ///
    /// # Errors
    /// [`PlotError`], as [`PlotFormat::of`] and [`to_bytes`](Self::to_bytes), and when the file
    /// cannot be written; an earlier file stays then.
    pub fn write(&self, path: &Path) -> Result<(), PlotError> {
        let bytes = self.to_bytes(PlotFormat::of(path)?)?;
        save(path, &bytes).map_err(|source| PlotError::Write {
            path: path.to_owned(),
            source,
        })
    }

    fn document(&self) -> Canvas {
        let Some((width, height)) = self.size else {
            return self.arranged(self.columns);
        };
        let size = (f64::from(width), f64::from(height));
        let scale = |page: &Canvas| (size.0 / page.width).min(size.1 / page.height);
        let pages = (1..=self.panels.len().max(1)).map(|columns| self.arranged(columns));
        let largest = pages.max_by(|page, other| scale(page).total_cmp(&scale(other)));
        largest.unwrap_or_else(|| self.arranged(1)).fitted(size)
    }

    /// The panels in rows of `columns`.
    fn arranged(&self, columns: usize) -> Canvas {
        let columns = columns.clamp(1, self.panels.len().max(1));
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

    /// The panel in words, for readers who cannot see it.
    pub(super) fn description(&self) -> String {
        let (title, text) = match self {
            Self::Lines(plot) => (&plot.title, plot.description()),
            Self::Bars(plot) => (&plot.title, plot.description()),
        };
        if title.is_empty() {
            return text;
        }
        format!("{title}: {text}")
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
    /// Marked points.
    pub marks: Vec<Mark>,
    /// Marked values: lines across the panel.
    pub levels: Vec<Level>,
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
    /// The spread around it: at each `x`, from where to where. Empty for none.
    pub band: Vec<(f64, f64, f64)>,
}

/// A marked point.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Mark {
    /// Where on the horizontal axis.
    pub x: f64,
    /// Where on the vertical axis.
    pub y: f64,
    /// Text beside it.
    pub label: String,
}

/// A marked value.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Level {
    /// Where on the vertical axis.
    pub y: f64,
    /// Text at the line.
    pub label: String,
}

/// Horizontal bars, one below the other.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BarPlot {
    /// Above the panel, where a figure has several; empty for none.
    pub title: String,
    /// Quantity of the bars.
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
    /// Text beside it in place of the value.
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

    /// Marks the point at `x`, `y`.
    #[must_use]
    pub fn mark(mut self, x: f64, y: f64, label: impl Into<String>) -> Self {
        let label = label.into();
        self.marks.push(Mark { x, y, label });
        self
    }

    /// Marks the value `y` by a line across the panel.
    #[must_use]
    pub fn level(mut self, y: f64, label: impl Into<String>) -> Self {
        let label = label.into();
        self.levels.push(Level { y, label });
        self
    }

    /// The ends of the lines, marks and levels.
    fn description(&self) -> String {
        let (x, y) = (&self.x_label, &self.y_label);
        let values = |series: &Series| {
            let mut points = series.points.iter().rev();
            let (x, y) = points.find_map(|&(x, y)| Some((x, y?)))?;
            Some((number(x, 4), number(y, 4)))
        };
        let end = |series: &Series| {
            let name = match &self.parameter {
                Some(parameter) => format!("{parameter} {}", series.name),
                None => series.name.clone(),
            };
            let (at, value) = values(series)?;
            Some(format!("{name} {value} at {at}").trim().to_owned())
        };
        let mut text = format!("{y} against {x}");
        let ends = some_of(self.series.iter().filter_map(end));
        if !ends.is_empty() {
            let _ = write!(text, "; lines end: {ends}");
        }
        for Mark { label, y, .. } in &self.marks {
            let _ = write!(text, "; marked: {label}, {}", number(*y, 4));
        }
        for Level { label, y } in &self.levels {
            let _ = write!(text, "; line across: {label}, {}", number(*y, 4));
        }
        text
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
            band: Vec::new(),
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
    /// No bars yet, on a linear scale.
    pub fn new(x_label: impl Into<String>) -> Self {
        Self {
            x_label: x_label.into(),
            ..Self::default()
        }
    }

    /// Adds a bar below the others.
    #[must_use]
    pub fn bar(mut self, bar: Bar) -> Self {
        self.bars.push(bar);
        self
    }

    /// All bars with their values.
    fn description(&self) -> String {
        let bar = |bar: &Bar| {
            let value = bar.value.map_or_else(String::new, |value| number(value, 4));
            format!("{} {}", bar.name, bar.note.as_ref().unwrap_or(&value))
        };
        let bars = some_of(self.bars.iter().map(bar));
        format!("{}; bars: {bars}", self.x_label)
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
}

/// A kind of file that a figure can be written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PlotFormat {
    /// Vectors, with tooltips, light and dark.
    Svg,
    /// Pixels, light.
    Png,
    /// Vectors on a page, light.
    Pdf,
    /// A page of its own with the vectors in it, which fits phones and desktops.
    Html,
}

impl PlotFormat {
    /// By the extension of `path`, in any case.
    ///
    /// # Errors
    /// [`PlotError::Extension`] unless it is `.svg`, `.png`, `.pdf` or `.html`.
    pub fn of(path: &Path) -> Result<Self, PlotError> {
        let extension = path.extension().and_then(|extension| extension.to_str());
        match extension.map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => Ok(Self::Svg),
            Some("png") => Ok(Self::Png),
            Some("pdf") => Ok(Self::Pdf),
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
        "{}: expected a name that ends in .svg, .png, .pdf or .html, found {}",
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
    /// The diagram could not be drawn as PNG or PDF.
    #[error("cannot draw the diagram: {0}")]
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

impl PlotError {
    #[cfg(not(feature = "png"))]
    fn without_png() -> Self {
        Self::Png("this program was built without the feature `png`".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_decides() {
        for (path, format) in [
            ("a.svg", PlotFormat::Svg),
            ("b/a.b.PNG", PlotFormat::Png),
            ("a.pdf", PlotFormat::Pdf),
            ("a.html", PlotFormat::Html),
        ] {
            assert_eq!(PlotFormat::of(Path::new(path)).unwrap(), format);
        }
        for (path, found) in [("a.gif", ".gif"), ("svg", "none"), ("a.svg.gz", ".gz")] {
            let error = PlotFormat::of(Path::new(path)).unwrap_err().to_string();
            assert!(error.contains(".svg, .png, .pdf or .html"), "{error}");
            assert!(error.contains(&format!("found {found}")), "{error}");
        }
    }
}
