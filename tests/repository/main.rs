//! Checks of the repository: imports, the recipes of CONTRIBUTING.md, the paper, and the table of warnings.

mod circles;
mod layers;
mod paper;
mod recipes;
mod warnings;
