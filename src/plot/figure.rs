//! Panels under a title, and the ways to write them.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use super::canvas::{Canvas, Tint, WIDTH};
use super::{BarPlot, LinePlot, PlotError, PlotFormat, bars, html, lines, png, text};

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
        self.document().finish(&self.title, Some(Tint::Paper))
    }

    /// Pixels of the SVG document in its light version, twice as many as it has units.
    ///
    /// # Errors
    /// [`PlotError::TooLarge`] and [`PlotError::Png`].
    pub fn to_png(&self) -> Result<Vec<u8>, PlotError> {
        png::draw(&self.to_svg())
    }

    /// An HTML `<figure>`, to be put into the body of a page: one SVG a panel, beside each other
    /// where there is room, never wider than the page. It needs nothing from elsewhere.
    pub fn to_html_fragment(&self) -> String {
        html::fragment(self)
    }

    /// An HTML page with the figure and nothing else.
    pub fn to_html(&self) -> String {
        html::page(self)
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
        page.heading(14.0, page.height, TITLE, &line);
    }
    page.height += 4.0;
}

fn footing(page: &mut Canvas, note: &str, width: f64) {
    for line in text::wrapped(note, NOTE, width - 28.0) {
        page.height += 17.0;
        page.text(14.0, page.height - 5.0, NOTE, "start", Tint::Soft, &line);
    }
    page.height += 6.0;
}

impl Panel {
    /// The panel alone, [`WIDTH`] wide.
    pub(super) fn draw(&self) -> Canvas {
        match self {
            Self::Lines(plot) => lines::draw(plot),
            Self::Bars(plot) => bars::draw(plot),
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
