//! `--plot`: the targets of figures, and parts of figures that commands share.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use rankrls::greedy::job::TestPath;
use rankrls::{Metric, Ridge, Step};
use rankrls_plot::{Hue, Line, Panel, number};

use super::files::{Files, is_stdout};
use super::output::{CompleteFile, Destination};

/// Where to draw.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PlotArgs {
    /// Draw it too, as FILE.svg
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(svg))]
    plot: Option<PathBuf>,
}

/// Refuses the name of a file that does not end in .svg, in any case.
fn svg(path: PathBuf) -> Result<PathBuf, String> {
    let found = match path.extension() {
        _ if is_stdout(&path) => return Ok(path),
        Some(ending) if ending.eq_ignore_ascii_case("svg") => return Ok(path),
        Some(ending) => format!(".{}", ending.display()),
        None => "none".to_owned(),
    };
    Err(format!(
        "expected a name that ends in .svg, found {found}; rsvg-convert makes PNG and PDF of SVG"
    ))
}

impl PlotArgs {
    /// The file, found writable before the work begins.
    pub(crate) fn create(&self, files: &Files) -> Result<PlotFile> {
        Ok(PlotFile(Destination::create(
            files,
            "--plot",
            self.plot.as_ref(),
        )?))
    }
}

/// A diagram for a file, if one was asked for.
#[derive(Debug)]
pub(crate) struct PlotFile(Destination);

impl PlotFile {
    /// Writes what `svg` draws to a file that is to [`appear`](super::output::appear).
    pub(crate) fn complete(self, svg: impl FnOnce() -> String) -> Result<Option<CompleteFile>> {
        self.0.complete(|writer| writer.write_all(svg().as_bytes()))
    }
}

/// A ridge parameter in a figure: a share of the unit if it is the unit times a power of two, as in grids, else a
/// number.
pub(crate) fn lambda_name(lambda: f64, unit: f64) -> String {
    let share = lambda / unit;
    let nearest = share.log2().round().exp2();
    let is_power = (share / nearest - 1.0).abs() < 1e-9;
    let exact = nearest.is_finite() && nearest > 0.0 && lambda.log2().fract() != 0.0;
    match format!("{nearest}u").parse::<Ridge>() {
        Ok(ridge) if is_power && exact => ridge.to_string(),
        _ => number(lambda, 3),
    }
}

/// A panel of lines against the number of features.
pub(crate) fn panel(y_label: impl Into<String>, lines: Vec<Line>) -> Panel {
    Panel {
        x_label: "features".to_owned(),
        y_label: y_label.into(),
        lines,
    }
}

/// A thick blue line through values after 1, 2 and so on features.
pub(crate) fn path(values: impl IntoIterator<Item = Option<f64>>) -> Line {
    Line {
        bold: true,
        ..Line::path("", values, Hue::Blue)
    }
}

/// The panels of error and concordance index, both leave-query-out, after each of `steps`.
pub(crate) fn lqo_panels(steps: &[Step]) -> [Panel; 2] {
    let error = path(steps.iter().map(|step| Some(step.lqo_error)));
    let cindex = path(steps.iter().map(|step| step.lqo_cindex));
    [
        panel("leave-query-out error", vec![error]),
        panel("leave-query-out concordance index", vec![cindex]),
    ]
}

/// Whether a measure of test data has different values along a path of several steps.
fn varies(test: &TestPath<'_>, index: usize) -> bool {
    let values = || test.steps().iter().map(|scores| scores[index].mean);
    test.steps().len() < 2 || values().any(|value| Some(value) != values().next())
}

/// A panel for each measure of test data that varies along a path, with the value of the order of the file, and a
/// band of one standard error of the lead over it.
pub(crate) fn test_panels<'a>(test: &'a TestPath<'_>) -> impl Iterator<Item = Panel> + 'a {
    let drawn = move |(index, metric): (usize, &Metric)| {
        let values = test.steps().iter().map(move |scores| scores[index].mean);
        let errors = test.lead_errors().iter();
        let errors = errors.map(move |errors| errors[index]);
        let spread = (1..).zip(values.clone().zip(errors));
        let band = spread.filter_map(|(step, (value, error))| {
            let (value, error) = (value?, error?);
            Some((f64::from(step), value - error, value + error))
        });
        let band = band.collect();
        let line = Line {
            band,
            ..path(values)
        };
        let order = test.file_order()[index].mean;
        let ends = [1, test.steps().len()].map(|step| (step as f64, order));
        let order = Line {
            dashes: 1,
            ..Line::new("order of the file", ends, Hue::Grey)
        };
        panel(format!("test {metric}"), vec![order, line])
    };
    let measures = test.metrics().iter().enumerate();
    measures
        .filter(|(index, _)| varies(test, *index))
        .map(drawn)
}

/// The first measure of the last step and of the order of the file, as the end of a title.
pub(crate) fn lead(test: &TestPath<'_>) -> String {
    let own = test.steps().last().and_then(|last| last.first()?.mean);
    let order = test.file_order().first().and_then(|order| order.mean);
    match (own, order, test.metrics().first()) {
        (Some(own), Some(order), Some(metric)) => {
            let [own, order] = [own, order].map(|value| number(value, 3));
            format!(": {metric} {own}, order of the file {order}")
        }
        _ => String::new(),
    }
}

/// Explains the bands, and names the convention of test measures and the measures without panels.
pub(crate) fn note(test: Option<&TestPath<'_>>) -> String {
    let Some(test) = test else {
        return "Bands: one standard error over queries.".to_owned();
    };
    let convention = test.convention();
    let mut note = format!(
        "Bands of test measures: one standard error of the lead over the order of the file, over queries. \
         Test data: convention {convention}."
    );
    let measures = test.metrics().iter().enumerate();
    let constant = measures.filter(|(index, _)| !varies(test, *index));
    let constant = constant.map(|(index, metric)| {
        let value = test.steps()[0][index].mean.map(|value| number(value, 3));
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_of_the_unit_are_named_as_such() {
        let unit = 230.123_456;
        for (lambda, name) in [
            (unit / 64.0, "1/64u"),
            (unit, "1u"),
            (4.0 * unit, "4u"),
            (16.0, "16"),
            (1.234_567, "1.23"),
            (2_f64.powi(-10), "0.000977"),
        ] {
            assert_eq!(lambda_name(lambda, unit), name);
        }
        // Lambda is a plain number, as users type it, if there is no unit.
        assert_eq!(lambda_name(16.0, 64.0), "16");
        for unit in [0.0, f64::INFINITY, f64::NAN] {
            assert_eq!(lambda_name(3.0, unit), "3");
        }
    }
}
