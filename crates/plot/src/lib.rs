//! Diagrams in SVG: lines against the number of features, bars of weights.
//!
//! A [`Figure`] is panels under a title: [`LinePlot`] and [`BarPlot`].
//!
//! ```
//! use rankrls_plot::{Figure, LinePlot, Series};
//!
//! let points = [0.31, 0.38, 0.41].into_iter().enumerate();
//! let series = Series::new("2^3", points.map(|(step, map)| (step as f64 + 1.0, Some(map))));
//! let plot = LinePlot::new("features", "validation MAP").series(series);
//! let svg = Figure::new("Fold 3").lines(plot).to_svg();
//! assert!(svg.starts_with("<svg ") && svg.contains("<polyline"));
//! ```
//!
//! # Conventions
//!
//! * Values that are none, not finite or, on a logarithmic axis, not above 0 break a line.
//! * Names stand at the ends of lines, a line apart. Lines of one name have one colour and stroke in
//!   all panels of a figure, unless they say which ([`Series::stroke`]). Colours are those of the
//!   figures in `docs/`.
//! * The axes of all panels of lines begin and end at the same distance from the edges.
//! * Colours follow the reader's preference for dark or light pages (`prefers-color-scheme`). They
//!   are attributes for light pages, which style sheets override for dark ones, so that programs
//!   without style sheets draw the light version.
//! * Names are any text: they are escaped, cut in the middle where they are too long, and whole in
//!   a tooltip.
//! * Equal figures are equal bytes.
//!
//! # Why the SVG is written here
//!
//! `plotters` places everything at whole pixels and takes colours as numbers, which no style
//! sheet can follow, and has no tooltips. `kuva` writes SVG without a `viewBox`, which cannot
//! shrink to a phone, `NaN` into paths where there is no value, and black ticks onto dark pages.
//! The SVG needed here takes a few hundred lines. `rsvg-convert` makes PNG and PDF of it.

mod axis;
mod figure;
mod labels;
mod lines;
mod paint;
mod panels;
mod rows;
mod svg;
#[cfg(test)]
mod tests;
mod text;

pub use axis::AxisScale;
pub use figure::{BarPlot, Figure, LinePlot, Mark, Panel, Series, Stroke, Tone, power};
pub use paint::Hue;
pub use svg::escaped;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
