//! The observer of a build's progress.

/// Learns how far a build is.
pub trait BuildObserver: Sync {
    /// `done` of `of` sentences are parsed.
    fn parsed(&self, _done: usize, _of: usize) {}

    /// `done` of `of` sentences are written.
    fn written(&self, _done: usize, _of: usize) {}
}

impl BuildObserver for () {}
