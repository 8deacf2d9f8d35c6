//! The dense linear algebra of selection and training.
//!
//! # One order for every sum
//!
//! Floating-point sums depend on the order of their terms, and a product fused with its sum is rounded once, not
//! twice. The source fixes both. A sum has a fixed number of lanes, a fixed tree adds the lanes up, and products
//! are never fused. The results have the same bits on every machine and for every vector width. A compiler may put
//! lanes side by side into a vector register, since no lane depends on another. It may not reorder the terms of
//! one.
//!
//! # Instruction sets
//!
//! `multiversion` compiles a function for several instruction sets, and the processor chooses at run time. A choice
//! costs an indirect call, so it is made once a column, query or block, never once an element. Primitives are
//! `#[inline(always)]`: they use the instruction set of the calling function.

pub(crate) mod centring;
pub(crate) mod eigen;
pub(crate) mod factor;
pub(crate) mod grown;
pub(crate) mod kernels;
