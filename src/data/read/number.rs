//! Decimal numbers.
//!
//! Most numbers in data are short: up to 15 digits with a point somewhere. Both
//! the digits as an integer (below 10^15 < 2^53) and the power of ten (at most
//! 10^15 < 10^22) are floats without error then, so that one division gives the
//! correctly rounded value (Clinger, "How to read floating point numbers
//! accurately", 1990). Everything else goes through `fast_float2`.

/// Digits that an exact division can take.
const DIGITS: usize = 15;

const POWERS: [f64; DIGITS + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// Why a token is no finite number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadNumber {
    /// It is none.
    Syntax,
    /// It is nan, infinite, or overflows to infinity.
    NotFinite,
}

/// The unsigned number at the start of `text` and its length, if it has at most 15 digits and
/// perhaps a point; what comes after it is not looked at.
#[inline]
pub(super) fn short(text: &[u8]) -> Option<(f64, usize)> {
    let mut mantissa = 0;
    let whole = digits(text, &mut mantissa);
    if text.get(whole) != Some(&b'.') {
        return (1..=DIGITS)
            .contains(&whole)
            .then_some((mantissa as f64, whole));
    }
    let fraction = digits(&text[whole + 1..], &mut mantissa);
    (1..=DIGITS)
        .contains(&(whole + fraction))
        .then(|| (mantissa as f64 / POWERS[fraction], whole + 1 + fraction))
}

/// Appends the leading digits of `text` to `mantissa`, which wraps, and counts them.
#[inline]
fn digits(text: &[u8], mantissa: &mut u64) -> usize {
    let mut count = 0;
    while let Some(digit) = text.get(count).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        *mantissa = mantissa.wrapping_mul(10).wrapping_add(u64::from(digit));
        count += 1;
    }
    count
}

/// The number that the whole of `token` is: an optional sign, digits with an optional point,
/// an optional exponent.
pub(super) fn parse(token: &[u8]) -> Result<f64, BadNumber> {
    let unsigned = token.strip_prefix(b"+").unwrap_or(token);
    let (negative, unsigned) = match unsigned.strip_prefix(b"-") {
        // "+-1" is no number.
        Some(_) if token[0] == b'+' => return Err(BadNumber::Syntax),
        Some(rest) => (true, rest),
        None => (false, unsigned),
    };
    let magnitude = match short(unsigned) {
        Some((value, length)) if length == unsigned.len() => value,
        _ => long(unsigned)?,
    };
    Ok(if negative { -magnitude } else { magnitude })
}

fn long(unsigned: &[u8]) -> Result<f64, BadNumber> {
    let named = ["nan", "inf", "infinity"];
    if named
        .iter()
        .any(|name| unsigned.eq_ignore_ascii_case(name.as_bytes()))
    {
        return Err(BadNumber::NotFinite);
    }
    if !unsigned
        .first()
        .is_some_and(|&byte| byte == b'.' || byte.is_ascii_digit())
    {
        return Err(BadNumber::Syntax);
    }
    let value: f64 = fast_float2::parse(unsigned).map_err(|_| BadNumber::Syntax)?;
    if value.is_finite() {
        Ok(value)
    } else {
        Err(BadNumber::NotFinite)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimal_and_scientific_numbers_are_read() {
        for (text, value) in [
            ("0", 0.0),
            ("1", 1.0),
            ("+1.5", 1.5),
            ("-2.25", -2.25),
            ("1.", 1.0),
            (".5", 0.5),
            ("-.5e1", -5.0),
            ("1e3", 1000.0),
            ("1E+3", 1000.0),
            ("12e-1", 1.2),
            ("007", 7.0),
            ("0.594594594595", 0.594_594_594_595),
            (
                "123456789012345678901234567890",
                123_456_789_012_345_678_901_234_567_890.0,
            ),
            ("1e-999", 0.0),
            ("4.9e-324", 4.9e-324),
            ("1.7976931348623157e308", f64::MAX),
        ] {
            assert_eq!(parse(text.as_bytes()), Ok(value), "{text}");
        }
        assert!(parse(b"-0").unwrap().is_sign_negative());
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "", ".", "-", "+", "e5", "1e", "1e+", "--1", "+-1", "-+1", "++1", "0x10", "1_0", "1,5",
            "1.2.3", "1 ", " 1", "abc", "1f", "-.", "1e5.5", "nano", "infinit",
        ] {
            assert_eq!(parse(text.as_bytes()), Err(BadNumber::Syntax), "{text:?}");
        }
        for text in [
            "nan",
            "NaN",
            "-nan",
            "inf",
            "+Inf",
            "-infinity",
            "1e999",
            "-1e400",
        ] {
            assert_eq!(
                parse(text.as_bytes()),
                Err(BadNumber::NotFinite),
                "{text:?}"
            );
        }
    }

    #[test]
    fn short_numbers_stop_at_what_follows() {
        assert_eq!(short(b"12 3"), Some((12.0, 2)));
        assert_eq!(short(b"1.50e4"), Some((1.5, 4)));
        assert_eq!(short(b"1234567890123456"), None);
        assert_eq!(short(b"123456789012345.5"), None);
        assert_eq!(short(b"12345678901234.5"), Some((12_345_678_901_234.5, 16)));
        assert_eq!(short(b"."), None);
        assert_eq!(short(b""), None);
    }

    /// To the last bit as the standard library reads it.
    fn check(text: &str) {
        let expected: f64 = text.parse().unwrap();
        assert_eq!(
            parse(text.as_bytes()).map(f64::to_bits),
            Ok(expected.to_bits()),
            "{text}"
        );
    }

    proptest! {
        #[test]
        fn agrees_with_the_standard_library(text in r"[+-]?[0-9]{1,18}(\.[0-9]{0,18})?(e[+-]?[0-9]{1,2})?") {
            check(&text);
        }

        #[test]
        fn short_decimals_agree(text in r"[+-]?[0-9]{0,8}\.[0-9]{1,8}") {
            check(&text);
        }

        #[test]
        fn the_shortest_form_reads_back(value in proptest::num::f64::NORMAL | proptest::num::f64::SUBNORMAL) {
            check(&value.to_string());
            check(&format!("{value:e}"));
        }
    }
}
