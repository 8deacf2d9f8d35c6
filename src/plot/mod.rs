//! Diagrams: lines against the number of features, bars of weights, as SVG, PNG and HTML.
//!
//! A [`Figure`] is panels under a title. [`paths()`] draws how leave-query-out measures went along
//! selections, [`weights()`] what a model weighs; other diagrams are put together from [`LinePlot`]
//! and [`BarPlot`].
//!
//! ```
//! use rankrls::plot::{Figure, LinePlot, Series};
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
//! * A few lines are named where they end; many of a parameter's values
//!   ([`LinePlot::ordered`]) have colours from a scale, with a strip that explains it.
//! * Colours follow the reader's preference for dark or light pages (`prefers-color-scheme`). They
//!   are attributes for light pages, which style sheets override for dark ones, so that programs
//!   without style sheets draw the light version.
//! * Names are any text: they are escaped, cut where they are too long, and whole in a tooltip.
//! * Equal figures are equal bytes.
//!
//! # Why the SVG is written here
//!
//! `plotters` places everything at whole pixels and takes colours as numbers, which no style
//! sheet can follow, and has no tooltips. `kuva` writes SVG without a `viewBox`, which cannot
//! shrink to a phone, `NaN` into paths where there is no value, and black ticks onto dark pages.
//! What is needed of either is a few hundred lines. The PNG is the same SVG, drawn by `resvg`
//! with `DejaVu` Sans from the crate `dejavu`, on machines without fonts too; characters that font
//! lacks (Chinese, Japanese and Korean, emoji) are boxes there.

mod axis;
mod bars;
mod canvas;
mod colour;
mod error;
mod figure;
mod format;
mod html;
mod labels;
mod lines;
mod path;
mod png;
mod power;
mod spec;
#[cfg(test)]
mod tests;
mod text;
mod weights;

pub use axis::Scale;
pub use canvas::escaped;
pub use error::PlotError;
pub use figure::{Figure, Panel};
pub use format::PlotFormat;
pub use path::{Path, panel, paths};
pub(crate) use power::power;
pub use spec::{Bar, BarPlot, LinePlot, Mark, Series};
pub use weights::weights;
