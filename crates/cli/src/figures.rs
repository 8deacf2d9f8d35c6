//! `--plot`: where figures go, and what those of several commands have in common.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use rankrls::greedy::job::TestPath;
use rankrls::{Metric, Ridge, Step, StrategyKind};
use rankrls_plot::{Figure, Hue, LinePlot, Series, Tone, power};

use super::files::Files;
use super::output::Destination;

/// Where to draw.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PlotArgs {
    /// Draw it too, as FILE.svg
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(svg))]
    plot: Option<PathBuf>,
    /// Size of the drawing, such as 1600x900; 96 are an inch
    #[arg(long = "plot-size", value_name = "WxH", requires = "plot", value_parser = size)]
    size: Option<(u32, u32)>,
}

/// Refuses the name of a file that does not end in .svg, in any case.
fn svg(path: PathBuf) -> Result<PathBuf, String> {
    let found = match path.extension() {
        Some(ending) if ending.eq_ignore_ascii_case("svg") => return Ok(path),
        Some(ending) => format!(".{}", ending.display()),
        None => "none".to_owned(),
    };
    Err(format!(
        "expected a name that ends in .svg, found {found}; rsvg-convert makes PNG and PDF of SVG"
    ))
}

/// Parses a width and a height.
fn size(text: &str) -> Result<(u32, u32), String> {
    let number = |text: &str| {
        text.parse()
            .ok()
            .filter(|size| (100..=20_000).contains(size))
    };
    let sides = text
        .split_once('x')
        .map(|(width, height)| (number(width), number(height)));
    match sides {
        Some((Some(width), Some(height))) => Ok((width, height)),
        _ => Err("expected two numbers from 100 to 20000, such as 1600x900".to_owned()),
    }
}

impl PlotArgs {
    /// The file, found writable before the work begins.
    pub(crate) fn create(&self, files: &Files) -> Result<PlotFile> {
        Ok(PlotFile {
            size: self.size,
            output: Destination::create(files, "--plot", self.plot.as_ref())?,
        })
    }
}

/// A diagram to be written where one was asked for.
#[derive(Debug)]
pub(crate) struct PlotFile {
    size: Option<(u32, u32)>,
    output: Destination,
}

impl PlotFile {
    /// Draws the `figure`.
    pub(crate) fn write(self, figure: impl FnOnce() -> Figure) -> Result<()> {
        let svg = || figure().size(self.size).to_svg();
        self.output
            .write(|writer| writer.write_all(svg().as_bytes()))
    }
}

/// The colour of a strategy, the same in every figure; `studies/style.py` has those of the pages.
pub(crate) fn hue(strategy: StrategyKind) -> Hue {
    match strategy {
        StrategyKind::Dense => Hue::Orange,
        StrategyKind::LowMem => Hue::Purple,
        StrategyKind::Sampled => Hue::Pink,
        StrategyKind::Backfit => Hue::Olive,
        StrategyKind::Distil => Hue::Green,
        StrategyKind::Residual => Hue::Teal,
        StrategyKind::Univariate => Hue::Brown,
        StrategyKind::FsEd => Hue::Red,
        StrategyKind::Random => Hue::Grey,
        // The default of the program, and strategies that it does not have.
        _ => Hue::Blue,
    }
}

/// A ridge parameter for a figure: a share of the unit where it is a power of two of it, as the shares of
/// grids are, else a number.
pub(crate) fn lambda_name(lambda: f64, unit: f64) -> String {
    let share = lambda / unit;
    let nearest = share.log2().round().exp2();
    let is_power = (share / nearest - 1.0).abs() < 1e-9;
    let exact = nearest.is_finite() && nearest > 0.0 && lambda.log2().fract() != 0.0;
    match format!("{nearest}u").parse::<Ridge>() {
        Ok(ridge) if is_power && exact => ridge.to_string(),
        _ => power(lambda),
    }
}

/// The panels of error and concordance index, both leave-query-out, after each of `steps`.
pub(crate) fn lqo_panels(steps: &[Step], hue: Hue) -> [LinePlot; 2] {
    let panel = |label: &str, value: fn(&Step) -> Option<f64>| {
        let path = Series::path("", steps.iter().map(value));
        LinePlot::new("features", label).series(path.stroke(hue).tone(Tone::Strong))
    };
    [
        panel("leave-query-out error", |step| Some(step.lqo_error)),
        panel("leave-query-out concordance index", |step| step.lqo_cindex),
    ]
}

/// Whether a measure of test data has different values along a path of several steps.
fn varies(test: &TestPath<'_>, index: usize) -> bool {
    let values = || test.steps().iter().map(|values| values[index]);
    test.steps().len() < 2 || values().any(|value| Some(value) != values().next())
}

/// A panel for each measure of test data that varies along a path, with a band of one standard error.
pub(crate) fn test_panels<'a>(
    test: &'a TestPath<'_>,
    hue: Hue,
) -> impl Iterator<Item = LinePlot> + 'a {
    let panel = move |(index, metric): (usize, &Metric)| {
        let values = test.steps().iter().map(move |values| values[index]);
        let errors = test.standard_errors().iter();
        let errors = errors.map(move |errors| errors[index]);
        let spread = (1..).zip(values.clone().zip(errors));
        let band = spread.filter_map(|(step, (value, error))| {
            let (value, error) = (value?, error?);
            Some((f64::from(step), value - error, value + error))
        });
        let path = Series::path("", values).band(band);
        let path = path.stroke(hue).tone(Tone::Strong);
        LinePlot::new("features", format!("test {metric}")).series(path)
    };
    let measures = test.metrics().iter().enumerate();
    measures
        .filter(|(index, _)| varies(test, *index))
        .map(panel)
}

/// Explains the bands, and names the convention of test measures and the measures that are not drawn.
pub(crate) fn note(test: Option<&TestPath<'_>>) -> String {
    let mut note = "Bands: one standard error over queries.".to_owned();
    let Some(test) = test else {
        return note;
    };
    let _ = write!(note, " Test data: convention {}.", test.convention());
    let measures = test.metrics().iter().enumerate();
    let constant = measures.filter(|(index, _)| !varies(test, *index));
    let constant = constant.map(|(index, metric)| {
        let value = test.steps()[0][index].map(power);
        format!(
            "{metric} {}",
            value.unwrap_or_else(|| "undefined".to_owned())
        )
    });
    let constant: Vec<String> = constant.collect();
    if !constant.is_empty() {
        let _ = write!(note, " Constant after all steps: {}.", constant.join(", "));
    }
    note
}

/// Panels side by side: one below the other while there are few.
pub(crate) fn columns(panels: usize) -> usize {
    if panels > 4 { 2 } else { 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_two_sides() {
        assert_eq!(size("1600x900"), Ok((1600, 900)));
        for text in "1600 1600x x900 0x900 1e3x900 1600x99999 -1x900".split(' ') {
            assert!(size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn shares_of_the_unit_are_named_as_such() {
        let unit = 230.123_456;
        for (lambda, name) in [
            (unit / 64.0, "1/64u"),
            (unit, "1u"),
            (4.0 * unit, "4u"),
            (16.0, "16"),
            (1.234_567, "1.23"),
            (2_f64.powi(-10), "2⁻¹⁰"),
        ] {
            assert_eq!(lambda_name(lambda, unit), name);
        }
        // Numbers are what users type; units may be none.
        assert_eq!(lambda_name(16.0, 64.0), "16");
        for unit in [0.0, f64::INFINITY, f64::NAN] {
            assert_eq!(lambda_name(3.0, unit), "3");
        }
    }

    #[test]
    fn strategies_have_colours_of_their_own() {
        assert_eq!(hue(StrategyKind::Bounded), hue(StrategyKind::Auto));
        let hues = StrategyKind::ALL.iter().map(|&kind| hue(kind));
        let own: Vec<Hue> = hues.filter(|own| *own != hue(StrategyKind::Auto)).collect();
        let different: std::collections::BTreeSet<Hue> = own.iter().copied().collect();
        assert_eq!(different.len(), own.len());
    }
}
