//! Decimal numbers, and words in place of a number.
//!
//! Most numbers in data are short: up to 15 digits and perhaps a point. Then both the digits as an integer (below
//! 10^15 < 2^53) and the power of ten (at most 10^15 < 10^22) are exact floats. One division gives the correctly
//! rounded value (Clinger, "How to read floating point numbers accurately", 1990). `fast_float2` reads everything
//! else.

/// Digits that an exact division can take.
const DIGITS: usize = 15;

const POWERS: [f64; DIGITS + 1] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
];

/// Why a token cannot be read as a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadNumber {
    /// It is not a number.
    Syntax,
    /// It is nan, infinite, or overflows to infinity.
    NotFinite,
    /// It is a number that marks a missing value.
    Marker,
    /// Its square overflows.
    TooLarge,
}

impl BadNumber {
    /// Whether the `word` marks a missing value.
    pub(super) fn is_missing(self, word: &[u8]) -> bool {
        self == Self::Marker || is_missing(word)
    }
}

/// The largest value whose square is finite.
const LARGEST: f64 = 1.340_780_792_994_259_6e154;

/// Values from 0 to below this one never mark missing values.
pub(super) const LEAST_MARKER: f64 = 2_147_483_647.0;

/// The largest and least whole numbers of 32 bits.
const LIMITS: [f64; 3] = [LEAST_MARKER, -2_147_483_648.0, 4_294_967_295.0];

/// The value of a feature, unless it is too large to compute with or marks a missing value.
#[inline]
pub(super) fn checked(value: f64) -> Result<f64, BadNumber> {
    let size = value.abs();
    if size < LEAST_MARKER {
        return Ok(value);
    }
    if LIMITS.contains(&value) {
        return Err(BadNumber::Marker);
    }
    let markers = [
        // Limits of 64 bits, with and without a sign: floats hold no more of their digits.
        9.223_372e18..9.223_373e18,
        1.844_674_407e19..1.844_674_408e19,
        9.9692e36..9.9693e36,
        3.4028e38..3.4029e38,
        1e300..f64::INFINITY,
    ];
    if markers.iter().any(|marker| marker.contains(&size)) {
        return Err(BadNumber::Marker);
    }
    if size > LARGEST {
        return Err(BadNumber::TooLarge);
    }
    Ok(value)
}

/// The value of a feature in the whole of `token`. Digits beyond all floats mark a missing value, as the largest
/// float does.
pub(super) fn value(token: &[u8]) -> Result<f64, BadNumber> {
    match number(token) {
        Err(BadNumber::NotFinite) if token.iter().any(u8::is_ascii_digit) => Err(BadNumber::Marker),
        read => read.and_then(checked),
    }
}

/// The unsigned number at the start of `text` and its length, if it has at most 15 digits and perhaps a point.
/// Ignores the rest of the text.
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

/// The number in the whole of `token`: an optional sign, digits with an optional point, an optional exponent.
pub(super) fn number(token: &[u8]) -> Result<f64, BadNumber> {
    let without_plus = token.strip_prefix(b"+").unwrap_or(token);
    let (negative, unsigned) = match without_plus.strip_prefix(b"-") {
        // "+-1" is not a number.
        Some(_) if token[0] == b'+' => return Err(BadNumber::Syntax),
        Some(rest) => (true, rest),
        None => (false, without_plus),
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

/// Whether a word marks a missing value: an empty cell, or a word of pandas, R, Julia, databases or statistics
/// programs, in any case.
pub(super) fn is_missing(word: &[u8]) -> bool {
    const WORDS: [&str; 12] = [
        "", "NA", "N/A", "<NA>", "#N/A", "#NA", "#N/A N/A", "NULL", "None", "NaT", "missing", "\\N",
    ];
    // The marks of SAS, Stata and Weka.
    let is = |other: &&str| word.eq_ignore_ascii_case(other.as_bytes());
    let known = word.len() <= 8 && WORDS.iter().any(is);
    known || matches!(word, b"." | b"?") || is_nan(word) || is_nan_of_windows(word)
}

/// Whether a word is a nan of a C library: `nan`, `-nan(ind)`, `nan(0x8000000000000)`, `NaNQ`.
fn is_nan(word: &[u8]) -> bool {
    let word = word
        .strip_prefix(b"-")
        .or(word.strip_prefix(b"+"))
        .unwrap_or(word);
    let Some((name, rest)) = word.split_first_chunk::<3>() else {
        return false;
    };
    let in_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    let ends = match rest {
        [] | [b'q' | b's' | b'Q' | b'S'] => true,
        [b'(', payload @ .., b')'] => payload.iter().all(in_name),
        _ => false,
    };
    ends && name.eq_ignore_ascii_case(b"nan")
}

/// Whether a word is a nan of old programs on Windows: `-1.#IND`, perhaps with more digits.
fn is_nan_of_windows(word: &[u8]) -> bool {
    let word = word.strip_prefix(b"-").unwrap_or(word);
    let rest = word.strip_prefix(b"1.#").and_then(|name| {
        let rest = |nan: &&[u8]| name.strip_prefix(*nan);
        [&b"IND"[..], b"QNAN", b"SNAN"].iter().find_map(rest)
    });
    let digit = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'e' | b'+');
    rest.is_some_and(|rest| rest.iter().all(digit))
}

/// What to do about a number with one comma, which is its point or separates thousands, or with several that do so;
/// points may do so, too.
pub(super) fn remedy(text: &[u8]) -> Option<&'static str> {
    let digits = |byte: &u8| !matches!(byte, b',' | b'.');
    let rest: Vec<u8> = text.iter().copied().filter(digits).collect();
    let commas = memchr::memchr_iter(b',', text).count();
    let whole = text.split(|&byte| byte == b'.').next().unwrap_or(text);
    let groups = whole.split(|&byte| byte == b',').skip(1);
    let thousands = groups.filter(|group| group.len() == 3).count();
    let separated = commas == 1 || commas > 1 && thousands == commas;
    let is_number = separated && number(&rest).is_ok();
    is_number.then_some("write a decimal point, and no separators of thousands")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn decimal_and_scientific_numbers_are_read() {
        let ok = "0 1 +1.5 -2.25 1. .5 -.5e1 1e3 1E+3 12e-1 007 0.594594594595 -0 \
            123456789012345678901234567890 1e-999 4.9e-324 1.7976931348623157e308";
        ok.split(' ').for_each(check);
        let faults = [
            (
                ". - + e5 1e 1e+ --1 +-1 -+1 ++1 0x10 1_0 1,5 1.2.3 abc 1f -. 1e5.5 nano infinit",
                BadNumber::Syntax,
            ),
            (
                "nan NaN -nan inf +Inf -infinity 1e999 -1e400",
                BadNumber::NotFinite,
            ),
        ];
        for (texts, fault) in faults {
            for text in texts.split(' ') {
                assert_eq!(number(text.as_bytes()), Err(fault), "{text:?}");
            }
        }
        for text in ["", "1 ", " 1"] {
            assert_eq!(number(text.as_bytes()), Err(BadNumber::Syntax), "{text:?}");
        }
    }

    #[test]
    fn short_numbers_stop_at_what_follows() {
        for (text, expected) in [
            ("12 3", Some((12.0, 2))),
            ("1.50e4", Some((1.5, 4))),
            ("1234567890123456", None),
            ("123456789012345.5", None),
            ("12345678901234.5", Some((12_345_678_901_234.5, 16))),
            (".", None),
            ("", None),
        ] {
            assert_eq!(short(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn numbers_that_stand_for_none_are_told_from_values() {
        let markers = "1.7976931348623157e308 -1.797e308 1.797e+308 1e300 3.4028235e38 \
            2147483647 -2147483648 4294967295 2147483647.0 9223372036854775807 -9223372036854775808 \
            9.223372036854776E18 9.223372e+18 18446744073709551615 1.8446744073709552e19 -3.4028234663852886e+38 3.40282347E38 -3.4028231e38 3.402823e38 9.96921e36 \
            9.969209968386869e+36 340282346638528859811704183484516925440";
        for text in markers.split(' ') {
            assert_eq!(value(text.as_bytes()), Err(BadNumber::Marker), "{text}");
            check(text);
        }
        // Digits that round to infinity. Labels must not have them.
        for text in ["1.79769313486232e+308", "-1.797693134862316e308", "1e999"] {
            assert_eq!(value(text.as_bytes()), Err(BadNumber::Marker), "{text}");
        }
        for text in ["inf", "-Infinity", "nan"] {
            assert_eq!(value(text.as_bytes()), Err(BadNumber::NotFinite), "{text}");
        }
        for text in ["1e155", "-9e299", "1.3407807929942598e154"] {
            assert_eq!(value(text.as_bytes()), Err(BadNumber::TooLarge), "{text}");
        }
        let sound = "2147483646 2147483648 -2147483647 4294967296 4294967294 -4294967295 9e18 9.2234e18 \
            1.8446e19 1.6e18 0 -999 1e20 1e36 1e37 3.4e38 3.41e38 1e100 2.2250738585072014e-308";
        for text in sound.split(' ').chain([&*LARGEST.to_string()]) {
            let sound: f64 = text.parse().unwrap();
            assert_eq!(checked(sound), Ok(sound));
            assert!((sound * sound).is_finite());
        }
    }

    #[test]
    fn words_for_a_missing_value_are_those_of_other_programs() {
        let missing = ",NA,na,N/A,n/a,#N/A,#N/A N/A,#NA,<NA>,nan,NaN,-nan,-NaN,1.#IND,-1.#IND,1.#QNAN,\
            -1.#QNAN,NULL,null,None,none,NaT,missing,\\N,.,?,+nan,\
            -nan(ind),nan(ind),nan(snan),-NaN(SNAN),nan(0x8000000000000),nan(),NaNQ,NaNS,-NANQ";
        let others = "nan(,nan),nan(a b),nanx,na n,-(nan),-nan-,nana,-,0,inf,#DIV/0!,#NULL!,N,..,unknown,x,nananananana";
        for (words, expected) in [(missing, true), (others, false)] {
            for word in words.split(',') {
                assert_eq!(is_missing(word.as_bytes()), expected, "{word}");
            }
        }
    }

    #[test]
    fn a_number_with_commas_is_told() {
        for text in
            "1,5;-0,25;+0,377;12,3456;,5;1,;1234,567;1,234;-999,999;1,5e3;1,23457E+11;1,234.5;1.234,5;1.234.567,8;1,234,567;-12,345,678.9".split(';')
        {
            assert!(remedy(text.as_bytes()).is_some(), "{text}");
        }
        for text in "1,2,3;1,234,56;1.2,345,678;a,b;,;-;1.2.3;1:234;192.168.1.1;1,5 kg;1'234;inf,"
            .split(';')
        {
            assert_eq!(remedy(text.as_bytes()), None, "{text}");
        }
    }

    /// Compares with the standard library to the last bit.
    fn check(text: &str) {
        let expected: f64 = text.parse().unwrap();
        assert_eq!(
            number(text.as_bytes()).map(f64::to_bits),
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
