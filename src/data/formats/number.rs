//! Decimal numbers, and words in the place of one.
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

/// Why a token is no number that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BadNumber {
    /// It is none.
    Syntax,
    /// It is nan, infinite, or overflows to infinity.
    NotFinite,
    /// It is a number by which programs say that a value is missing.
    Marker,
    /// Its square is out of the range of numbers.
    TooLarge,
}

impl BadNumber {
    /// Whether the `word` means that a value is missing.
    pub(super) fn is_missing(self, word: &[u8]) -> bool {
        self == Self::Marker || is_missing(word)
    }
}

/// The largest value whose square is a number.
const LARGEST: f64 = 1.340_780_792_994_259_6e154;

/// The value of a feature, if it can be computed with and is none by which programs say that there is
/// none.
#[inline]
pub(super) fn checked(value: f64) -> Result<f64, BadNumber> {
    let size = value.abs();
    if size < 9.969e36 {
        return Ok(value);
    }
    let markers = [
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

/// The value of a feature that the whole of `token` is.
pub(super) fn value(token: &[u8]) -> Result<f64, BadNumber> {
    number(token).and_then(checked)
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
pub(super) fn number(token: &[u8]) -> Result<f64, BadNumber> {
    let without_plus = token.strip_prefix(b"+").unwrap_or(token);
    let (negative, unsigned) = match without_plus.strip_prefix(b"-") {
        // "+-1" is no number.
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

/// Whether a word means that a value is missing: an empty cell, and the words of pandas, R, Julia,
/// databases and statistics programs, in capitals or not.
pub(super) fn is_missing(word: &[u8]) -> bool {
    const WORDS: [&str; 15] = [
        "", "NA", "N/A", "<NA>", "#N/A", "#NA", "#N/A N/A", "NaN", "-NaN", "+NaN", "NULL", "None",
        "NaT", "missing", "\\N",
    ];
    // The marks of SAS and Stata, and of data for Weka.
    let is = |other: &&str| word.eq_ignore_ascii_case(other.as_bytes());
    let known = word.len() <= 8 && WORDS.iter().any(is);
    known || matches!(word, b"." | b"?") || is_nan_of_windows(word)
}

/// Whether a word is a nan as old programs on Windows write it: `-1.#IND`, perhaps with digits after it.
fn is_nan_of_windows(word: &[u8]) -> bool {
    let word = word.strip_prefix(b"-").unwrap_or(word);
    let rest = word.strip_prefix(b"1.#").and_then(|name| {
        let rest = |nan: &&[u8]| name.strip_prefix(*nan);
        [&b"IND"[..], b"QNAN", b"SNAN"].iter().find_map(rest)
    });
    let digit = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'e' | b'+');
    rest.is_some_and(|rest| rest.iter().all(digit))
}

/// What to do about a number with a comma for its point, or with separators of thousands. `1,234` may be either.
pub(super) fn remedy(text: &[u8]) -> Option<&'static str> {
    let text = std::str::from_utf8(text).ok()?;
    let digits = text.strip_prefix('-').unwrap_or(text);
    let parts: Vec<&str> = digits
        .split([',', '.', '\'', '’', ' ', '\u{a0}', '\u{202f}'])
        .collect();
    let is_number = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let [whole, groups @ .., last] = &parts[..] else {
        return None;
    };
    if !parts.iter().all(is_number) || last.is_empty() {
        return None;
    }
    let first = (1..=3).contains(&whole.len()) && !whole.starts_with('0');
    let rest = last.len() == 3 || !groups.is_empty();
    if first && rest && groups.iter().all(|group| group.len() == 3) {
        return Some("write a decimal point, and no separators of thousands");
    }
    let comma = groups.is_empty() && digits.contains(',');
    comma.then_some("write a decimal point, not a comma")
}

/// Whether points in the cells of a column separate thousands.
///
/// Programs write all fractions with three digits, or none with a zero at its end: `1.500` beside several whole
/// numbers below 1000 is of neither kind. One or two such numbers may stand for something else.
#[derive(Debug, Clone, Default)]
pub(super) struct Thousands {
    /// Whether points mean what they say, as there are cells of another kind.
    other: bool,
    /// A few different whole numbers from 1 to 999.
    whole: Vec<Vec<u8>>,
    /// Numbers such as `12.500`, those of them that end in a zero, and the first with its line.
    grouped: usize,
    zeros: usize,
    first: Option<(u64, String)>,
}

impl Thousands {
    /// Looks at a cell of a row on `line`.
    #[inline]
    pub(super) fn look(&mut self, cell: &[u8], line: u64) {
        if self.other {
            return;
        }
        let number = cell.strip_prefix(b"-").unwrap_or(cell);
        let parts: [&[u8]; 2] = match memchr::memchr(b'.', number) {
            Some(at) => [&number[..at], &number[at + 1..]],
            None => [number, b""],
        };
        let digits = parts.iter().all(|part| part.iter().all(u8::is_ascii_digit));
        let short = matches!(parts[0], [b'1'..=b'9', rest @ ..] if rest.len() < 3);
        match parts {
            [whole, b""] if digits && short && whole == number => {
                if self.whole.len() < 3 && !self.whole.iter().any(|other| other == whole) {
                    self.whole.push(whole.to_vec());
                }
            }
            [_, [_, _, last]] if digits && short => {
                self.grouped += 1;
                self.zeros += usize::from(*last == b'0');
                let text = || (line, String::from_utf8_lossy(cell).into_owned());
                self.first.get_or_insert_with(text);
            }
            _ => self.other = number != b"0" && !is_missing(cell),
        }
    }

    /// A cell with such points, and its line. One of 100 fractions ends in a zero by chance.
    pub(super) fn found(self) -> Option<(u64, String)> {
        let several = self.whole.len() == 3 && self.grouped > 2;
        let found = !self.other && several && (self.zeros > 0 || self.grouped > 99);
        self.first.filter(|_| found)
    }
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
            -3.4028234663852886e+38 3.40282347E38 -3.4028231e38 3.402823e38 9.96921e36 \
            9.969209968386869e+36 340282346638528859811704183484516925440";
        for text in markers.split(' ') {
            assert_eq!(value(text.as_bytes()), Err(BadNumber::Marker), "{text}");
            check(text);
        }
        for text in ["1e155", "-9e299", "1.3407807929942598e154"] {
            assert_eq!(value(text.as_bytes()), Err(BadNumber::TooLarge), "{text}");
        }
        let sound = "0 -999 1e20 1e36 1e37 3.4e38 3.41e38 1e100 2.2250738585072014e-308";
        for text in sound.split(' ').chain([&*LARGEST.to_string()]) {
            let sound: f64 = text.parse().unwrap();
            assert_eq!((checked(sound), checked(-sound)), (Ok(sound), Ok(-sound)));
            assert!((sound * sound).is_finite());
        }
    }

    #[test]
    fn words_for_a_missing_value_are_those_of_other_programs() {
        let missing = ",NA,na,N/A,n/a,#N/A,#N/A N/A,#NA,<NA>,nan,NaN,-nan,-NaN,1.#IND,-1.#IND,1.#QNAN,\
            -1.#QNAN,NULL,null,None,none,NaT,missing,\\N,.,?";
        let others = "-,0,inf,#DIV/0!,#NULL!,N,..,unknown,x,nananananana";
        for (words, expected) in [(missing, true), (others, false)] {
            for word in words.split(',') {
                assert_eq!(is_missing(word.as_bytes()), expected, "{word}");
            }
        }
    }

    #[test]
    fn a_decimal_comma_is_told_from_thousands() {
        let (commas, comma) = ("1,5;-0,25;0,377;12,3456;,5;1234,567", "not a comma");
        let thousands = "1,234;-999,999;1,234.5;1.234,50;1.234.567;12'500;1 234,5;1,234,567.89";
        let others = "1,2,3;a,b;,;1,;-;1.2.3;1:234;0.123.456;1234.567.890;192.168.1.1;12.03.2021";
        for (texts, expected) in [(commas, comma), (thousands, "thousands"), (others, "none")] {
            for text in texts.split(';') {
                let found = remedy(text.as_bytes()).unwrap_or("none");
                assert!(found.ends_with(expected), "{text}");
            }
        }
    }

    /// To the last bit as the standard library reads it.
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
