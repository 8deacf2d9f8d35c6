//! Diagrams in SVG: lines against the number of features, and arcs over the words of a sentence.
//!
//! [`Lines`] is panels of lines with bands. [`Arcs`] is up to two parses of a sentence, and below them bars of
//! the features that decide.
//!
//! ```
//! use rankrls_plot::{Hue, Line, Lines, Panel};
//!
//! let points = [0.31, 0.38, 0.41].map(Some);
//! let lines = vec![Line::path("MAP", points, Hue::Blue)];
//! let panels = vec![Panel { x_label: "features".into(), y_label: "MAP".into(), lines }];
//! let svg = Lines { title: "Fold 3".into(), panels, ..Lines::default() }.to_svg();
//! assert!(svg.starts_with("<svg ") && svg.contains("<polyline"));
//! ```
//!
//! # Conventions
//!
//! * Values that are none or not finite break a line.
//! * Blue and orange are told apart by all eyes. Colours follow the reader's preference for dark or light pages
//!   (`prefers-color-scheme`).
//! * Names are any text. They are escaped, and folded where they are too long: nothing is cut.
//! * Equal figures are equal bytes.
//!
//! # Why the SVG is written here
//!
//! `plotters` places everything at whole pixels and takes colours as numbers, which no style
//! sheet can follow. `kuva` writes SVG without a `viewBox`, which cannot shrink to a phone, and black ticks onto dark
//! pages. Neither draws arcs. The SVG needed here takes a few hundred lines. `rsvg-convert` makes PNG and PDF of it.

mod arcs;
mod axis;
mod lines;
mod svg;
mod text;

pub use arcs::{Arc, Arcs, Bar, Tree};
pub use lines::{Line, Lines, Panel};
pub use svg::Hue;
pub use text::number;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
