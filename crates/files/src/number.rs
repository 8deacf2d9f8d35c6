//! Numbers as text.

use std::io::Write as _;

/// A whole number in decimal digits.
pub fn push_integer(text: &mut Vec<u8>, mut number: u64) {
    let start = text.len();
    loop {
        text.push(b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text[start..].reverse();
}

/// The shortest decimal that reads back as `number`.
pub fn push_number(text: &mut Vec<u8>, number: f64) {
    let magnitude = number.abs();
    if magnitude < 1e15 && magnitude.fract() == 0.0 {
        if number.is_sign_negative() {
            text.push(b'-');
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        push_integer(text, magnitude as u64);
        return;
    }
    // Writing to a vector cannot fail.
    let _ = if (1e-5..1e16).contains(&magnitude) {
        write!(text, "{number}")
    } else {
        write!(text, "{number:e}")
    };
}

/// The shortest decimal that reads back as `number`, as a text.
pub fn exact(number: f64) -> String {
    let mut text = Vec::new();
    push_number(&mut text, number);
    text.into_iter().map(char::from).collect()
}

/// A number in full if that is short, otherwise six digits of it.
pub fn short(value: f64) -> String {
    let full = exact(value);
    if full.len() <= 10 {
        return full;
    }
    let digits = format!("{value:.5e}").parse();
    digits.map_or(full, exact)
}

/// `1 column`, `2 columns`, `2 queries`, `2 classes`.
pub fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = count.try_into().unwrap_or(u64::MAX);
    match (count, noun.strip_suffix('y')) {
        (1, _) => format!("1 {noun}"),
        (_, Some(stem)) => format!("{count} {stem}ies"),
        (_, None) if noun.ends_with('s') => format!("{count} {noun}es"),
        (_, None) => format!("{count} {noun}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_as_short_as_they_can_be() {
        for (number, text) in [
            (0.0, "0"),
            (-0.0, "-0"),
            (1.0, "1"),
            (-20.0, "-20"),
            (0.1, "0.1"),
            (-2.5, "-2.5"),
            (1e14, "100000000000000"),
            (1e300, "1e300"),
            (1.5e-7, "1.5e-7"),
            (f64::MIN_POSITIVE, "2.2250738585072014e-308"),
        ] {
            assert_eq!(exact(number), text);
        }
    }
}
