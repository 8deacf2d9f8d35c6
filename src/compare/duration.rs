//! Times as people read them.

/// Seconds or milliseconds with three digits: `1.16 ms`, `23.2 ms`, `2.50 s`.
pub fn duration(seconds: f64) -> String {
    let (value, unit) = if seconds < 1.0 {
        (seconds * 1e3, "ms")
    } else {
        (seconds, "s")
    };
    let decimals = match value {
        value if value >= 99.95 => 0,
        value if value >= 9.995 => 1,
        _ => 2,
    };
    format!("{value:.decimals$} {unit}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits() {
        assert_eq!(duration(0.001_234), "1.23 ms");
        assert_eq!(duration(0.0456), "45.6 ms");
        assert_eq!(duration(0.789), "789 ms");
        let times = [1.5, 12.34, 123.4].map(duration);
        assert_eq!(times, ["1.50 s", "12.3 s", "123 s"]);
    }
}
