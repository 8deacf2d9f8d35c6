//! Dense linear algebra: what selection and training have in common.
//!
//! # One order for every sum
//!
//! Floating-point sums depend on the order of their terms, and a product fused with its sum is rounded
//! once, not twice. Both are fixed here, in the source: a sum is split into a fixed number of lanes,
//! the lanes are added up in a fixed tree, and products are never fused. The results are the same bits
//! on every machine and for every vector width. A compiler may put lanes side by side into a vector
//! register, as no lane depends on another; it may not reorder the terms of one.
//!
//! # Instruction sets
//!
//! `multiversion` compiles a function for several instruction sets, and the processor chooses one at run
//! time. A choice costs an indirect call, so that it is made once a column, query or block, never once
//! an element. Primitives are `#[inline(always)]`: they take on the instruction set of the multiversioned
//! function that calls them.

pub(crate) mod centring;
pub(crate) mod eigen;
pub(crate) mod factor;
pub(crate) mod grown;
pub(crate) mod kernels;
