//! `--plot` and `--html`: where figures go, and the panels of several commands.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use clap::builder::{PathBufValueParser, TypedValueParser};
use rankrls::Step;
use rankrls::greedy::job::TestPath;
use rankrls_plot::{Figure, LinePlot, escaped, html_page};

use super::files::OutPath;
use super::output::Destination;
use super::session::Session;

/// Where to draw.
#[derive(Debug, Args)]
#[command(next_help_heading = "Output")]
pub(crate) struct PlotArgs {
    /// Draw it too, as FILE.svg
    #[arg(long, value_name = "FILE", value_parser = PathBufValueParser::new().try_map(svg))]
    plot: Option<OutPath>,
    /// Size of the drawing, such as 1600x900; 96 are an inch
    #[arg(long = "plot-size", value_name = "WxH", requires = "plot", value_parser = size)]
    size: Option<(u32, u32)>,
}

/// Refuses the name of a file that does not end in .svg, in any case.
fn svg(path: PathBuf) -> Result<OutPath, String> {
    let found = match path.extension() {
        Some(ending) if ending.eq_ignore_ascii_case("svg") => return Ok(path.into()),
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
    /// The file, found writable before the work begins, for the rank that writes.
    pub(crate) fn create(&self, session: &Session<'_>) -> Result<PlotFile> {
        Ok(PlotFile {
            size: self.size,
            output: session.create(self.plot.as_ref())?,
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

/// A page that needs nothing but a browser: a figure, and the text of a report below it.
pub(crate) fn page(title: &str, figure: Figure, text: &str) -> String {
    let style = ":root{color-scheme:light dark}\n\
         body{margin:0 auto;padding:1rem;max-width:72rem;font-family:system-ui,sans-serif}\n\
         pre{overflow-x:auto}\n";
    let body = format!(
        "<main>\n{}<pre tabindex=\"0\">\n{}</pre>\n<p>rankrls {}</p>\n</main>\n",
        figure.columns(1).to_svg(),
        escaped(text),
        env!("CARGO_PKG_VERSION"),
    );
    html_page(title, style, &body)
}

/// The panels of error and concordance index, both leave-query-out, after each step, with one line for
/// each of `curves`, names with steps. `parameter` and `chosen` as in [`plot::panel`].
pub(crate) fn lqo_panels<'a>(
    curves: &[(String, Vec<&'a Step>)],
    parameter: Option<&str>,
    chosen: Option<(usize, usize)>,
) -> [LinePlot; 2] {
    let panel = |label: &str, value: fn(&&'a Step) -> Option<f64>| {
        let curve =
            |(name, steps): &(String, Vec<_>)| (name.clone(), steps.iter().map(value).collect());
        let curves = curves.iter().map(curve).collect();
        rankrls_plot::panel(label, curves, parameter, chosen)
    };
    [
        panel("leave-query-out error", |step| Some(step.lqo_error)),
        panel("leave-query-out concordance index", |step| step.lqo_cindex),
    ]
}

/// Adds a panel for each measure of test data along a path, two panels a row where there are many.
pub(crate) fn test_panels(figure: Figure, test: &TestPath<'_>) -> Figure {
    let panels = test.metrics().iter().zip(0_usize..).map(|(metric, index)| {
        let label = format!(
            "{metric} of the test data, convention {}",
            test.convention()
        );
        let values = test.steps().iter().map(|values| values[index]);
        rankrls_plot::panel(label, vec![(String::new(), values.collect())], None, None)
    });
    let figure = panels.fold(figure, Figure::lines);
    let columns = if figure.panels.len() > 4 { 2 } else { 1 };
    figure.columns(columns)
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
}
