//! Who is told how far a corpus is.

/// Told how far a corpus is.
pub trait BuildObserver: Sync {
    /// So many sentences of so many are parsed.
    fn parsed(&self, _done: usize, _of: usize) {}

    /// So many sentences of so many are written.
    fn written(&self, _done: usize, _of: usize) {}
}

impl BuildObserver for () {}
