//! How much tests do of what takes long: kills, and drawn problems.

/// So many, or `RANKRLS_LONG` times as many.
pub(crate) fn long(count: usize) -> usize {
    let times = std::env::var("RANKRLS_LONG").ok();
    count
        * times.map_or(1, |text| {
            text.parse().expect("a whole number in RANKRLS_LONG")
        })
}
