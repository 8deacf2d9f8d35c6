//! Tokens of a line, separated by spaces and tabs, and their faults.

use rankrls_files::Remedy;
use rankrls_files::error::{Fault, escaped, quote};

use super::number::{BadNumber, LEAST_MARKER, is_missing, number, remedy, short, value};

/// The largest index that can be written: 0-based features fit in 32 bits, and so does their number.
pub(in crate::data) const LARGEST_INDEX: u64 = u32::MAX as u64 - 1;

pub(super) fn is_space(byte: u8) -> bool {
    byte == b' ' || byte == b'\t'
}

/// The position of the next token in `line` at or after `at`; the end of the line without one.
#[inline]
pub(super) fn start(line: &[u8], mut at: usize) -> usize {
    while line.get(at).is_some_and(|&byte| is_space(byte)) {
        at += 1;
    }
    at
}

/// The end of the token that starts at `at`.
pub(super) fn end(line: &[u8], at: usize) -> usize {
    let length = line[at..].iter().position(|&byte| is_space(byte));
    length.map_or(line.len(), |length| at + length)
}

#[inline]
fn ends(line: &[u8], at: usize) -> bool {
    line.get(at).is_none_or(|&byte| is_space(byte))
}

pub(super) fn trim_end(line: &[u8]) -> &[u8] {
    let mut line = line;
    while let [rest @ .., b' ' | b'\t'] = line {
        line = rest;
    }
    line
}

/// The decimal number that starts at `at`, and its end. Messages call it `what`.
pub(super) fn decimal(line: &[u8], at: usize, what: &str) -> Result<(f64, usize), Fault> {
    let end = end(line, at);
    let token = &line[at..end];
    let bad = |bad| {
        let fault = |expected| Fault::token(expected, at, token);
        match bad {
            BadNumber::NotFinite => fault(format!("a finite {what}")),
            // A token with a comma may be a list.
            _ => fault(format!("a {what}, a decimal number")),
        }
    };
    number(token).map(|number| (number, end)).map_err(bad)
}

/// The label that starts at `at`, and its end. If a query follows, a comma does not make a list.
pub(super) fn label(line: &[u8], at: usize) -> Result<(f64, usize), Fault> {
    decimal(line, at, "label").map_err(|fault| {
        let end = end(line, at);
        if line[start(line, end)..].starts_with(b"qid:") {
            no_decimal(fault, &line[at..end])
        } else {
            fault
        }
    })
}

/// The decimal number that fills a line. Messages call it `what`.
pub(super) fn only_decimal(line: &[u8], what: &str) -> Result<f64, Fault> {
    let line = trim_end(line);
    let (number, end) = decimal(line, start(line, 0), what)?;
    nothing_after(line, end, what)?;
    Ok(number)
}

/// Refuses text from `end` on, in a line of one `item`.
pub(super) fn nothing_after(line: &[u8], end: usize, item: &str) -> Result<(), Fault> {
    let at = start(line, end);
    match &line[at..] {
        [] => Ok(()),
        more => Err(Fault::token(format!("one {item} a line"), at, more)),
    }
}

/// The query identifier in a cell or token that begins at `at` of its line. For an empty one, messages say that
/// `none` was found. Words for a missing value are refused.
pub(super) fn cell_id<'t>(id: &'t [u8], at: usize, none: &str) -> Result<&'t str, Fault> {
    let refused = |expected, found| Fault::new(expected, found).at_column(at + 1);
    if id.is_empty() {
        return Err(refused("a query identifier", none.to_owned()));
    }
    if is_missing(id) {
        let found = format!("{}, a missing value", quote(id));
        return Err(refused("a query identifier", found));
    }
    std::str::from_utf8(id).map_err(|_| refused("a query identifier in UTF-8", quote(id)))
}

/// The query identifier in text by people, like [`cell_id`]. Refuses invisible characters, which would split a
/// query.
pub(super) fn query_id<'t>(id: &'t [u8], at: usize, none: &str) -> Result<&'t str, Fault> {
    let text = cell_id(id, at, none)?;
    if text.chars().any(is_hidden) || escaped(text) != text {
        let expected = "a query identifier of characters that can be seen";
        return Err(Fault::new(expected, quote(id)).at_column(at + 1));
    }
    Ok(text)
}

/// Whether a character is a blank other than space, or has no width.
fn is_hidden(char: char) -> bool {
    let blank = char.is_whitespace() && char != ' ';
    let narrow = '\u{2060}'..='\u{2064}';
    blank
        || narrow.contains(&char)
        || matches!(char, '\u{ad}' | '\u{180e}' | '\u{200b}' | '\u{feff}')
}

/// The query identifier of a token, or after `qid:`, as it is written.
pub(super) fn query_token(id: &[u8], at: usize) -> Result<&str, Fault> {
    let text = query_id(id, at, "none")?;
    let expected = match text {
        _ if text.contains(' ') => "a query identifier without blanks",
        _ if text.contains('#') => {
            "a query identifier without #, which begins a comment after a blank"
        }
        _ if ends_in_pair(text) => {
            "a query identifier that does not end in INDEX:VALUE, as a pair without a blank before it does"
        }
        _ => return Ok(text),
    };
    Err(Fault::new(expected, quote(id)).at_column(at + 1))
}

/// Whether text ends in `index:value` after a character that is neither letter nor digit: `1;3:0.5`.
fn ends_in_pair(text: &str) -> bool {
    let Some((before, written)) = text.rsplit_once(':') else {
        return false;
    };
    let id = before.trim_end_matches(|char: char| char.is_ascii_digit());
    let apart = id
        .chars()
        .last()
        .is_some_and(|last| !last.is_alphanumeric());
    apart && id.len() < before.len() && number(written.as_bytes()).is_ok()
}

/// An `index:value` pair as it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Pair {
    pub(super) index: u64,
    pub(super) value: f64,
    pub(super) end: usize,
}

/// The pair that starts at `at`, with `missing` for a missing value. An index beyond 64 bits becomes `u64::MAX`.
#[inline]
pub(super) fn pair(line: &[u8], at: usize, missing: Option<f64>) -> Result<Pair, Fault> {
    let Some((index, colon)) = index(line, at) else {
        return Err(no_pair(line, at));
    };
    // Most values are small counts.
    if let [digit @ b'0'..=b'9', b' ' | b'\t', ..] = line[colon + 1..] {
        let (value, end) = (f64::from(digit - b'0'), colon + 2);
        return Ok(Pair { index, value, end });
    }
    if let Some((value, length)) = short(&line[colon + 1..]) {
        let end = colon + 1 + length;
        if value < LEAST_MARKER && ends(line, end) {
            return Ok(Pair { index, value, end });
        }
    }
    long_pair(line, at, (index, colon), missing)
}

/// The number at `at` and the position of the colon after it.
#[inline]
fn index(line: &[u8], at: usize) -> Option<(u64, usize)> {
    if let Some(word) = line[at..].first_chunk()
        && let Some((index, length)) = up_to_seven_digits(u64::from_le_bytes(*word))
        && line[at + length] == b':'
    {
        return Some((index, at + length));
    }
    let mut index = 0u64;
    let mut end = at;
    while let Some(digit) = line.get(end).map(|byte| byte.wrapping_sub(b'0'))
        && digit < 10
    {
        index = index.saturating_mul(10).saturating_add(u64::from(digit));
        end += 1;
    }
    (end > at && line.get(end) == Some(&b':')).then_some((index, end))
}

/// The number at the beginning of eight bytes of text, the first byte lowest, and its length, unless it has none or
/// eight digits. It uses no branches on digits, which are slow.
#[inline]
fn up_to_seven_digits(text: u64) -> Option<(u64, usize)> {
    const EACH: u64 = 0x0101_0101_0101_0101;
    // Digits are now 0 to 9. The highest bit of the first byte that is not a digit becomes 1.
    let digits = text ^ (EACH * 0x30);
    let others = (digits.wrapping_add(EACH * 0x76) | digits) & (EACH * 0x80);
    let length = others.trailing_zeros() / 8;
    if !(1..8).contains(&length) {
        return None;
    }
    // Zeros come first. Then pairs, fours and all eight digits become one number each.
    let ones = digits << (64 - 8 * length);
    let pairs = ones.wrapping_mul(1 + (10 << 8)) >> 8 & 0x00ff_00ff_00ff_00ff;
    let fours = pairs.wrapping_mul(1 + (100 << 16)) >> 16 & 0x0000_ffff_0000_ffff;
    let index = fours.wrapping_mul(1 + (10_000 << 32)) >> 32;
    Some((index, length as usize))
}

fn long_pair(
    line: &[u8],
    at: usize,
    (index, colon): (u64, usize),
    missing: Option<f64>,
) -> Result<Pair, Fault> {
    const EXPECTED: &str = "a value, a decimal number, after the colon";
    let end = end(line, at);
    let written = &line[colon + 1..end];
    match (value(written), missing) {
        (Ok(value), _) => Ok(Pair { index, value, end }),
        // An empty value is not a word for a missing one.
        (Err(_), _) if written.is_empty() => Err(Fault::token(EXPECTED, at, &line[at..end])),
        (Err(bad), Some(value)) if bad.is_missing(written) => Ok(Pair { index, value, end }),
        (Err(bad), _) => {
            let fault = no_number(bad, written, quote(&line[at..end]), EXPECTED, "value");
            Err(fault.at_column(at + 1))
        }
    }
}

#[cold]
fn no_pair(line: &[u8], at: usize) -> Fault {
    let token = &line[at..end(line, at)];
    if token.starts_with(b"qid:") {
        let expected = "the query identifier once, right after the label";
        return Fault::token(expected, at, token);
    }
    let before = trim_end(&line[..at]);
    let last = before.iter().rposition(|&byte| is_space(byte));
    let after_id = before[last.map_or(0, |at| at + 1)..].starts_with(b"qid:");
    let expected = if after_id {
        "a pair index:value after the query identifier, which has no blanks"
    } else {
        "a pair index:value"
    };
    Fault::token(expected, at, token)
}

/// Why `index` cannot come next in a row. Indices start at `first`, and exceed the index `before`.
#[cold]
pub(super) fn bad_index(pair: &[u8], at: usize, index: u64, before: Option<u64>) -> Fault {
    let fault = |expected: String| Fault::token(expected, at, pair);
    match before {
        _ if index > LARGEST_INDEX => fault(format!("an index of at most {LARGEST_INDEX}")),
        Some(before) if index == before => fault(format!(
            "each index once in a row, and {before} was there already"
        )),
        Some(before) => fault(format!("an index above {before}, the one before it")),
        None => fault("indices that count from 1".to_owned()).remedy(Remedy::CountFromZero),
    }
}

/// The fault of `written`, which messages call `found`, where a number of the kind `what` was `expected`.
pub(super) fn no_number(
    bad: BadNumber,
    written: &[u8],
    found: String,
    expected: &str,
    what: &str,
) -> Fault {
    match bad {
        BadNumber::Marker => {
            let found = format!("{found}, which stands for a missing value");
            Fault::new(format!("a {what}"), found).remedy(Remedy::ReadMissing)
        }
        BadNumber::TooLarge => Fault::new(format!("a {what} whose square is finite"), found),
        _ if is_missing(written) => {
            let finite = match bad {
                BadNumber::NotFinite => format!("a finite {what}"),
                _ => expected.to_owned(),
            };
            Fault::new(finite, found).remedy(Remedy::ReadMissing)
        }
        BadNumber::NotFinite => Fault::new(format!("a finite {what}"), found),
        BadNumber::Syntax => no_decimal(Fault::new(expected.to_owned(), found), written),
    }
}

/// The fault of `written` in place of a decimal number. A number with a comma gets a remedy.
pub(super) fn no_decimal(fault: Fault, written: &[u8]) -> Fault {
    match remedy(written) {
        Some(remedy) => fault.remedy(remedy),
        None => fault,
    }
}

#[cfg(test)]
mod tests {
    use rankrls_files::text::without_comment;

    use super::*;

    #[test]
    fn digits_at_once_are_the_number_that_they_write() {
        for number in (0..12_000u64).chain([99_999, 1_234_567, 9_999_999]) {
            for end in [':', ' ', '/', ';', 'é', '\0', '\u{7f}', '-'] {
                let written = number.to_string();
                let text = format!("{written}{end}9876543210");
                let word = *text.as_bytes().first_chunk().unwrap();
                let found = up_to_seven_digits(u64::from_le_bytes(word));
                assert_eq!(found, Some((number, written.len())), "{text}");
                let line = format!("0{written}{end}1 2:3");
                let colon = (end == ':').then_some((number, written.len() + 1));
                assert_eq!(index(line.as_bytes(), 0), colon, "{line}");
            }
        }
        for none in [*b":1234567", *b"12345678", *b"\xff1234567", *b"a:123456"] {
            assert_eq!(up_to_seven_digits(u64::from_le_bytes(none)), None);
        }
    }

    #[test]
    fn lines_end_before_comments_and_blanks() {
        assert_eq!(without_comment(b"1 2:3 # x # y"), b"1 2:3");
        assert_eq!(without_comment(b"1 2:3\t#x"), b"1 2:3");
        // Within a token, `#` begins no comment.
        assert_eq!(without_comment(b"1 qid:c# 2:3#x #"), b"1 qid:c# 2:3#x");
        assert_eq!(without_comment(b"1 2:3 \t"), b"1 2:3");
        assert_eq!(without_comment(b" # only"), b"");
        // A nan of old programs on Windows is not a comment.
        assert_eq!(
            without_comment(b"1 2:-1.#IND00 3:4 # x"),
            b"1 2:-1.#IND00 3:4"
        );
    }

    #[test]
    fn query_identifiers_can_be_seen_and_end_before_pairs() {
        for id in [
            "1",
            "09",
            "-1.5x:",
            "ü",
            "a:b",
            "T10:30",
            "q1:x",
            "1:2",
            "a,b",
            "nana",
            "a-b:c",
            "می\u{200c}خواهم",
            "👩\u{200d}🔬",
        ] {
            assert_eq!(query_token(id.as_bytes(), 0).unwrap(), id);
        }
        let blanks = "\u{a0} \u{2003} \u{3000} \u{2028} \u{85} \u{b} \u{c} \u{200b} \u{feff} \u{2060} \u{ad} \u{1} \u{1f} \u{7f} \u{202e}";
        for blank in blanks.split(' ') {
            for id in [
                format!("1{blank}"),
                format!("{blank}1"),
                format!("1{blank}1:0.5"),
            ] {
                for read in [
                    query_token(id.as_bytes(), 6),
                    query_id(id.as_bytes(), 6, "none"),
                ] {
                    let error = read.unwrap_err().at("f", 1).to_string();
                    let start = "f:1:7: expected a query identifier of characters that can be seen";
                    assert!(error.starts_with(start), "{error}");
                }
            }
        }
        for (id, expected) in [
            ("c#", "a query identifier without #"),
            ("#1", "a query identifier without #"),
            ("red shoes", "a query identifier without blanks"),
            ("1,1:0.5", "a query identifier that does not end"),
            ("q-2|31:-1e3", "a query identifier that does not end"),
            ("tv_16:9", "a query identifier that does not end"),
            ("first:2:1", "a query identifier that does not end"),
            ("a;1:1;2:0", "a query identifier that does not end"),
            ("NA", "a query identifier, found \"NA\", a missing value"),
            (
                "-nan",
                "a query identifier, found \"-nan\", a missing value",
            ),
            (
                "None",
                "a query identifier, found \"None\", a missing value",
            ),
            ("", "a query identifier, found none"),
        ] {
            let error = query_token(id.as_bytes(), 0)
                .unwrap_err()
                .at("f", 1)
                .to_string();
            assert!(
                error.starts_with(&format!("f:1:1: expected {expected}")),
                "{error}"
            );
        }
    }

    #[test]
    fn pairs_end_at_blanks() {
        let pair = |line: &[u8]| pair(line, 0, None);
        let whole = |index, value, end| Pair { index, value, end };
        assert_eq!(pair(b"3:0.5 4:1").unwrap(), whole(3, 0.5, 5));
        assert_eq!(pair(b"3:-1e-2\t").unwrap(), whole(3, -0.01, 7));
        assert_eq!(pair(b"003:+1").unwrap(), whole(3, 1.0, 6));
        assert_eq!(
            pair(b"18446744073709551616:1").unwrap(),
            whole(u64::MAX, 1.0, 22)
        );
    }
}
