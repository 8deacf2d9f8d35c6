//! Numbers as tables show them.

/// Six significant digits: fixed where that is readable, else with an exponent.
pub(crate) fn number(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    if !(1e-4..1e7).contains(&magnitude) {
        return format!("{value:.5e}");
    }
    let decimals = [1e5, 1e4, 1e3, 1e2, 1e1, 1e0, 1e-1, 1e-2, 1e-3];
    let decimals = decimals
        .iter()
        .take_while(|&&power| magnitude < power)
        .count();
    format!("{value:.decimals$}")
}

/// A number that somebody gave, in full but not in hundreds of zeros.
pub(crate) fn given(value: f64) -> String {
    if (1e-6..1e15).contains(&value.abs()) {
        value.to_string()
    } else {
        format!("{value:e}")
    }
}

/// A measure, or `-` where it is undefined.
pub(crate) fn measure(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |value| format!("{value:.4}"))
}

/// `1 column`, `2 columns`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// A name on one line: control characters, which could move the cursor, are escaped.
pub(crate) fn printable(name: &str) -> String {
    let mut text = String::with_capacity(name.len());
    for char in name.chars() {
        if char.is_control() {
            text.extend(char.escape_default());
        } else {
            text.push(char);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_six_digits() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1.00000"),
            (-12.345_678_9, "-12.3457"),
            (123_456.7, "123457"),
            (1_234_567.8, "1234568"),
            (0.051_234_567, "0.0512346"),
            (0.000_123_456_7, "0.000123457"),
            (1.5e-7, "1.50000e-7"),
            (-2e30, "-2.00000e30"),
        ] {
            assert_eq!(number(value), text);
        }
    }

    #[test]
    fn given_numbers_are_short() {
        assert_eq!([16.0, 0.5, 1e-300].map(given), ["16", "0.5", "1e-300"]);
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(printable("a\x1b[31m\tü"), "a\\u{1b}[31m\\tü");
    }
}
