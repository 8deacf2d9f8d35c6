//! The repository as it stands: imports, the recipes of CONTRIBUTING.md, and the paper.

mod circles;
mod layers;
mod paper;
mod recipes;
