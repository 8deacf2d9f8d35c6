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

    /// One SVG document with all panels.
    pub fn to_svg(&self) -> String {
        let panels = self.panels.iter().map(Panel::description);
        let described: Vec<String> = [self.title.clone()].into_iter().chain(panels).collect();
        let title = described.join(". ");
        self.document().finish(&title, Some(Tint::PAPER))
    }

    /// An HTML `<figure>`, to be put into the body of a page: one SVG a panel, beside each other
    /// where there is room, never wider than the page. It needs nothing from elsewhere.
    pub fn to_html_fragment(&self) -> String {
        svg::fragment(self)
    }

    /// Writes the SVG document to the file at `path`.
    ///
    /// # Errors
    /// [`PlotError`], as [`check_ending`], and when the file cannot be written; an earlier file
    /// stays then.
    pub fn write(&self, path: &Path) -> Result<(), PlotError> {
        check_ending(path)?;
        save(path, self.to_svg().as_bytes()).map_err(|source| PlotError::Write {
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
    /// The bars, from the top.
    pub bars: Vec<Bar>,
}

/// A bar.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bar {
    /// Its name.
    pub name: String,
    /// Its length; no bar where it is not finite.
    pub value: f64,
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
    /// No bars yet.
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
        let bar = |bar: &Bar| format!("{} {}", bar.name, number(bar.value, 4));
        let bars = some_of(self.bars.iter().map(bar));
        format!("{}; bars: {bars}", self.x_label)
    }
}

impl Bar {
    /// A bar of length `value`.
    pub fn new(name: impl Into<String>, value: f64) -> Self {
        let name = name.into();
        Self { name, value }
    }
}

/// Refuses the name of a file that does not end in `.svg`, in any case.
///
/// # Errors
/// [`PlotError::Ending`].
pub fn check_ending(path: &Path) -> Result<(), PlotError> {
    match path.extension() {
        Some(extension) if extension.eq_ignore_ascii_case("svg") => Ok(()),
        _ => Err(PlotError::Ending {
            path: path.to_owned(),
        }),
    }
}

/// A diagram that cannot be written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum PlotError {
    /// The name of the file does not end in `.svg`.
    #[error(
        "{}: expected a name that ends in .svg, found {}; rsvg-convert makes PNG and PDF of SVG",
        .path.display(),
        .path.extension().map_or_else(|| "none".to_owned(), |end| format!(".{}", end.display())),
    )]
    Ending {
        /// The file.
        path: PathBuf,
    },
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
