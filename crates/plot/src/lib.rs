//! Diagrams in SVG: lines against the number of features, and arcs over the words of a sentence.
//!
//! [`Lines`] has panels of lines with bands. [`Arcs`] has up to two parses of a sentence, above bars of the
//! deciding features.
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
//! * Missing and non-finite values break a line.
//! * Colour-blind readers can distinguish blue and orange. Colours follow the preference for dark or light pages
//!   (`prefers-color-scheme`).
//! * Names may be any text. They are escaped, and wrapped if they are long. Nothing is cut.
//! * Equal figures have equal bytes.
//!
//! # Why the SVG is written here
//!
//! `plotters` rounds places to whole pixels, and writes colours as numbers, which no style sheet can change. `kuva`
//! writes no `viewBox`, so its SVG cannot shrink to a phone, and draws black ticks on dark pages. Neither draws
//! arcs. The SVG here takes a few hundred lines. `rsvg-convert` makes PNG and PDF of it.

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
