//! Text: widths, wrapping and numbers.

use unicode_width::UnicodeWidthChar;

/// Width of a character in ems. `DejaVu` Sans is wider than most fonts, and its widths are rounded up, so that the
/// text fits in other fonts too.
fn em(char: char) -> f64 {
    match char {
        'i' | 'j' | 'l' | 'I' | '.' | ',' | ':' | ';' | '\'' | '|' | '!' | ' ' => 0.34,
        'f' | 'r' | 't' | '(' | ')' | '[' | ']' | '-' | '/' | '\\' => 0.42,
        'm' | 'w' | 'M' | 'W' | '@' | '%' => 1.0,
        '+' | '=' | '<' | '>' | '~' | '^' | '#' | '&' => 0.84,
        'A'..='Z' => 0.78,
        char if char.is_ascii() => 0.64,
        char => match char.width() {
            Some(0) => 0.0,
            Some(1) | None => 0.75,
            Some(_) => 1.05,
        },
    }
}

/// Width of `text` at `size`.
pub(super) fn width(text: &str, size: f64) -> f64 {
    text.chars().map(em).sum::<f64>() * size
}

/// The lines of `text`, broken at blanks. Breaks a word that is alone wider than `most`.
pub(super) fn wrapped(text: &str, size: f64, most: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if width(line, size) + width(word, size) + em(' ') * size <= most => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.extend(pieces(word, size, most)),
        }
    }
    lines
}

/// Splits a word into the longest pieces that are no wider than `most`. A piece has at least one character.
fn pieces(word: &str, size: f64, most: f64) -> Vec<String> {
    let (mut pieces, mut free) = (vec![String::new()], most);
    for char in word.chars() {
        let own = em(char) * size;
        if own > free && pieces.last().is_some_and(|piece| !piece.is_empty()) {
            pieces.push(String::new());
            free = most;
        }
        free -= own;
        pieces.last_mut().expect("there is one").push(char);
    }
    pieces
}

/// A number of `digits` significant digits, without zeros at its end.
pub fn number(value: f64, digits: u8) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    let exponential = format!("{value:.*e}", usize::from(digits.max(1) - 1));
    let (mantissa, exponent) = exponential.split_once('e').unwrap_or((&exponential, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..7).contains(&exponent) {
        return signed(&format!("{}e{exponent}", trimmed(mantissa)));
    }
    let decimals = usize::try_from(i32::from(digits) - 1 - exponent).unwrap_or(0);
    signed(trimmed(&format!("{value:.decimals$}")))
}

/// The number without trailing zeros behind the point.
fn trimmed(number: &str) -> &str {
    if number.contains('.') {
        number.trim_end_matches('0').trim_end_matches('.')
    } else {
        number
    }
}

/// Puts a minus sign in place of a hyphen.
fn signed(number: &str) -> String {
    number.replace('-', "\u{2212}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_blanks_and_nothing_is_lost() {
        let lines = wrapped("one two  three\nfour", 10.0, 50.0);
        assert_eq!(lines, ["one two", "three", "four"]);
        assert!(wrapped("", 10.0, 50.0).is_empty());
        let long = "Donaudampfschifffahrtsgesellschaft 漢字漢字漢字漢字 e\u{301}";
        for most in [0.0, 20.0, 60.0, 150.0] {
            let lines = wrapped(long, 13.0, most);
            assert_eq!(lines.concat().replace(' ', ""), long.replace(' ', ""));
            let fits = |line: &String| width(line, 13.0) <= most.max(14.0);
            assert!(lines.iter().all(fits), "{lines:?}");
        }
    }

    #[test]
    fn numbers_are_short() {
        for (value, text) in [
            (0.0, "0"),
            (0.25, "0.25"),
            (-1.5, "\u{2212}1.5"),
            (1024.0, "1024"),
            (123_456.0, "123456"),
            (0.000_976_562_5, "0.000977"),
            (1e-9, "1e\u{2212}9"),
            (2.5e12, "2.5e12"),
            (99_999_999.0, "1e8"),
        ] {
            assert_eq!(number(value, 3), text, "{value}");
        }
        assert_eq!(number(123_456.7, 3), "123457");
    }
}
