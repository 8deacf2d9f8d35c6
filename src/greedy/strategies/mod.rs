//! The strategies, one file each.

mod backfit;
mod bounded;
mod dense;
pub(super) mod lowmem;
mod random;
mod residual;
mod univariate;

pub use backfit::Backfit;
pub use bounded::Bounded;
pub use dense::Dense;
pub use lowmem::LowMemory;
pub use random::Random;
pub use residual::Residual;
pub use univariate::Univariate;
