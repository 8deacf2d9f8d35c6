//! Watching the protocol.

use super::Curve;

/// Watches the protocol on a fold, from any thread. Everything defaults to doing nothing.
pub trait Observer: Sync {
    /// The selection with one of the ridge parameters is done.
    fn followed(&self, curve: &Curve) {
        let _ = curve;
    }

    /// Whether to end without an outcome, asked after every step of a selection and before every
    /// ridge parameter. Once it is so it stays so.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Watches nothing.
impl Observer for () {}
