//! A measured page: figures go to a CSV file, from which a diagram is drawn and tables are filled in.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Instant;
use std::{fs, io};

use anyhow::{Context, Result};
use rankrls_plot::{Figure, LinePlot, Scale, Series};

use crate::commands::{printed_in_release, root};
use crate::page::fill;

/// What a page measures and shows.
pub(crate) struct Study {
    /// On the command line; in `docs` of the folder with its CSV file and figure, and of these.
    pub(crate) name: &'static str,
    /// The page with its tables.
    pub(crate) page: &'static str,
    /// Columns of the CSV file.
    pub(crate) columns: &'static str,
    /// How many parts there are to measure. Each has a process of its own, in the release profile, so
    /// that it finds no memory that others left behind.
    pub(crate) parts: fn() -> usize,
    /// Lines of the CSV file, from a part.
    pub(crate) measure: fn(usize) -> Result<Vec<Cells>>,
    /// Title of the figure.
    pub(crate) title: &'static str,
    /// What stands below the title, if anything does.
    pub(crate) note: Option<&'static str>,
    /// Diagrams side by side.
    pub(crate) across: usize,
    /// Diagrams of the figure.
    pub(crate) panels: fn() -> Vec<Panel>,
    pub(crate) tables: fn(&[Line]) -> Vec<Table>,
}

/// The marker of a table in the page, and its lines.
pub(crate) type Table = (String, Vec<String>);

/// Cells of a line of the CSV file.
pub(crate) type Cells = Vec<String>;

impl Study {
    /// Measures all parts, and keeps the lines.
    pub(crate) fn measure_again(&self) -> Result<()> {
        let mut text = format!("{}\n", self.columns);
        for part in 0..(self.parts)() {
            text += &printed_in_release(&["measure", self.name, &part.to_string()])?;
        }
        fs::create_dir_all(root().join("docs").join(self.name))?;
        let file = self.file("csv");
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
    }

    /// Measures one part, and prints its lines.
    pub(crate) fn measure(&self, part: usize) -> Result<()> {
        let mut writer = csv::Writer::from_writer(io::stdout());
        for cells in (self.measure)(part)? {
            writer.write_record(cells)?;
        }
        Ok(writer.flush()?)
    }

    /// Draws the figure and fills in the tables.
    pub(crate) fn draw(&self) -> Result<()> {
        let file = self.file("csv");
        let lines = csv::Reader::from_path(&file).and_then(|reader| {
            let lines = reader.into_deserialize().map(|line| line.map(Line));
            lines.collect::<csv::Result<Vec<_>>>()
        });
        let lines = lines.with_context(|| format!("cannot read {}", file.display()))?;
        let plots = (self.panels)().into_iter().map(|panel| panel.plot(&lines));
        let figure = Figure::new(self.title).columns(self.across);
        let figure = self.note.into_iter().fold(figure, Figure::note);
        let figure = plots.fold(figure, Figure::lines);
        fs::write(self.file("svg"), figure.to_svg())?;
        for (marker, table) in (self.tables)(&lines) {
            fill(self.page, &marker, |_| Ok(table))?;
        }
        Ok(())
    }

    fn file(&self, ending: &str) -> PathBuf {
        root().join(format!("docs/{0}/{0}.{ending}", self.name))
    }
}

/// A line of a CSV file: cells by the names of their columns.
pub(crate) struct Line(BTreeMap<String, String>);

impl Line {
    pub(crate) fn text(&self, column: &str) -> &str {
        let cell = self.0.get(column);
        cell.unwrap_or_else(|| panic!("expected the column {column}"))
    }

    pub(crate) fn number(&self, column: &str) -> Option<f64> {
        self.text(column).parse().ok()
    }
}

/// The texts of a column, each once.
pub(crate) fn distinct<'a>(
    lines: impl IntoIterator<Item = &'a Line>,
    column: &str,
) -> Vec<&'a str> {
    let mut all = Vec::new();
    for line in lines {
        let text = line.text(column);
        if !all.contains(&text) {
            all.push(text);
        }
    }
    all
}

/// A diagram.
pub(crate) struct Panel {
    pub(crate) title: String,
    /// Columns, and what stands there in the lines that are drawn.
    pub(crate) only: Vec<(&'static str, &'static str)>,
    /// The column that names the series.
    pub(crate) series: &'static str,
    /// Label and column.
    pub(crate) x: (&'static str, &'static str),
    /// Label and column.
    pub(crate) y: (&'static str, &'static str),
    /// Of y; that of x is logarithmic.
    pub(crate) scale: Scale,
    /// The column of standard errors, of which two are drawn as a band.
    pub(crate) error: Option<&'static str>,
    /// Series that fall below are not drawn: others could not be told apart beside them.
    pub(crate) least: f64,
}

impl Panel {
    /// A series for each strategy; both scales are logarithmic.
    pub(crate) fn new(
        title: impl Into<String>,
        only: Vec<(&'static str, &'static str)>,
        x: (&'static str, &'static str),
        y: (&'static str, &'static str),
    ) -> Self {
        Self {
            title: title.into(),
            only,
            series: "strategy",
            x,
            y,
            scale: Scale::Log,
            error: None,
            least: f64::NEG_INFINITY,
        }
    }

    fn plot(&self, lines: &[Line]) -> LinePlot {
        let plot = LinePlot::new(self.x.0, self.y.0).title(self.title.as_str());
        let plot = plot.scales(Scale::Log, self.scale);
        self.names(lines).into_iter().fold(plot, |plot, name| {
            let points = self.points(lines, name, self.y.1);
            let mut series = Series::new(name, points.iter().map(|&(x, y)| (x, Some(y))));
            if let Some(error) = self.error {
                let errors = self.points(lines, name, error);
                let both = points.iter().zip(errors);
                series = series.band(both.map(|(&(x, y), (_, e))| (x, y - 2.0 * e, y + 2.0 * e)));
            }
            plot.series(series)
        })
    }

    /// Names of the series.
    fn names<'a>(&self, lines: &'a [Line]) -> Vec<&'a str> {
        let mut names = distinct(lines.iter().filter(|line| self.has(line)), self.series);
        names.retain(|name| {
            let points = self.points(lines, name, self.y.1);
            points.iter().all(|&(_, y)| y >= self.least)
        });
        names
    }

    /// Points of a series by ascending x, without lines that have no y.
    fn points(&self, lines: &[Line], name: &str, y: &str) -> Vec<(f64, f64)> {
        let own = |line: &&Line| self.has(line) && line.text(self.series) == name;
        let own = lines.iter().filter(own);
        let points = own.filter_map(|line| Some((line.number(self.x.1)?, line.number(y)?)));
        let mut points: Vec<_> = points.collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }

    fn has(&self, line: &Line) -> bool {
        self.only
            .iter()
            .all(|&(column, text)| line.text(column) == text)
    }
}

/// Work is done again until it has taken this many seconds, or `RUNS` times.
const ENOUGH: f64 = 1.5;
const RUNS: usize = 5;

/// Median seconds of some runs, and what the last of them made.
pub(crate) fn seconds_of<T>(mut work: impl FnMut() -> T) -> (f64, T) {
    let mut seconds = Vec::new();
    loop {
        let start = Instant::now();
        let made = work();
        seconds.push(start.elapsed().as_secs_f64());
        if seconds.len() == RUNS || seconds.iter().sum::<f64>() > ENOUGH {
            return (median(seconds), made);
        }
    }
}

/// The middle one, the larger of two.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
