//! The amount of slow testing: kills and drawn problems.

/// `count`, or `RANKRLS_LONG` times as many.
pub(crate) fn long(count: usize) -> usize {
    let times = std::env::var("RANKRLS_LONG").ok();
    count
        * times.map_or(1, |text| {
            text.parse().expect("a whole number in RANKRLS_LONG")
        })
}
