//! Text in the place of a number: words for a missing value, and numbers written for people.

use rankrls_files::error::Fault;

use super::token::number;

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

/// The `fault` of something `written` where a number should be, with what is wrong with it.
pub(super) fn with_cause(fault: Fault, written: &[u8]) -> Fault {
    match cause(written) {
        Some(remedy) => fault.remedy(remedy),
        None => fault,
    }
}

/// Why a number, or what stands for one, is not written as a number.
pub(super) fn cause(written: &[u8]) -> Option<&'static str> {
    const ERRORS: [&[u8]; 9] = [
        b"#NULL!",
        b"#DIV/0!",
        b"#VALUE!",
        b"#REF!",
        b"#NUM!",
        b"#NAME?",
        b"#SPILL!",
        b"#CALC!",
        b"#GETTING_DATA",
    ];
    const ABSENT: [&[u8]; 9] = [
        b"-", b"--", b"---", b"n.a.", b"n.d.", b"nil", b"unknown", b"void", b"empty",
    ];
    let is = |words: &[&[u8]]| words.iter().any(|word| written.eq_ignore_ascii_case(word));
    if is(&ERRORS) {
        return Some("an error of a spreadsheet: mend its formula");
    }
    if is(&ABSENT) || written == "\u{2013}".as_bytes() || written == "\u{2014}".as_bytes() {
        return Some("if it stands for a missing value, write NA");
    }
    let text = std::str::from_utf8(written).ok()?;
    if let Some(rest) = text.strip_prefix('\u{2212}') {
        return numeric(rest).then_some("write the sign as a hyphen, -");
    }
    if let Some(rest) = text.strip_suffix('%') {
        return numeric(rest.trim_end()).then_some("write the number without a percent sign");
    }
    let currency = |char: char| matches!(char, '$' | '\u{a2}'..='\u{a5}' | '\u{20a0}'..='\u{20cf}');
    let trimmed = text.trim_matches(|char: char| currency(char) || char.is_whitespace());
    let amount = trimmed
        .strip_prefix('-')
        .map_or(trimmed, |rest| rest.trim_start_matches(currency));
    if text.contains(currency) && numeric(amount) {
        return Some("write the number without a currency sign");
    }
    if let Some(rest) = text
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'))
    {
        return numeric(rest).then_some("write a number below 0 with a minus sign");
    }
    if is_date(text) {
        return Some("a date or time: write it as a number, such as days since a fixed day");
    }
    separators(text)
}

/// Whether these are digits, perhaps with a sign and separators of decimals or thousands.
fn numeric(text: &str) -> bool {
    number(text.as_bytes()).is_ok() || separators(text).is_some()
}

/// The fault of digits between which there are separators.
fn separators(text: &str) -> Option<&'static str> {
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let group = |char: char| matches!(char, '\'' | '_' | '\u{2019}') || char.is_whitespace();
    let known = |char: char| char.is_ascii_digit() || matches!(char, ',' | '.') || group(char);
    if !digits.starts_with(|char: char| char.is_ascii_digit() || char == ',')
        || !digits.ends_with(|char: char| char.is_ascii_digit() || char == ',')
    {
        return None;
    }
    if !digits.chars().all(known) {
        let (mantissa, exponent) = digits.split_once(['d', 'D'])?;
        let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        let fortran = number(mantissa.as_bytes()).is_ok()
            && !exponent.is_empty()
            && exponent.bytes().all(|byte| byte.is_ascii_digit());
        return fortran.then_some("write the exponent with e, not d");
    }
    let in_threes = |groups: &[&str]| {
        !groups[0].starts_with('0')
            && (1..=3).contains(&groups[0].len())
            && groups[1..].iter().all(|group| group.len() == 3)
    };
    let thousands = |separator: char| in_threes(&digits.split(separator).collect::<Vec<_>>());
    if digits.contains(group) {
        let whole = digits
            .rfind(['.', ','])
            .map_or(digits, |point| &digits[..point]);
        let groups: Vec<&str> = whole.split(group).collect();
        return in_threes(&groups).then_some("write the number without separators of thousands");
    }
    match (digits.matches(',').count(), digits.matches('.').count()) {
        (0, 0 | 1) => None,
        (1, 0) if thousands(',') => {
            Some("write the number without separators of thousands, and with a decimal point")
        }
        (1, 0) => Some("write a decimal point, not a comma"),
        (1, _) if digits.rfind(',') > digits.rfind('.') => Some(
            "write the number without separators of thousands, and with a decimal point, not a comma",
        ),
        (0, _) if !thousands('.') => None,
        _ => Some("write the number without separators of thousands"),
    }
}

/// Whether a text begins with a date or a time.
fn is_date(text: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let first = text.split(['T', ' ']).next().unwrap_or_default();
    let day = |separator: char| {
        let parts: Vec<&str> = first.split(separator).collect();
        let [begin, middle, end] = parts[..] else {
            return false;
        };
        parts.iter().all(|part| digits(part))
            && middle.len() <= 2
            && matches!((begin.len(), end.len()), (4, 1 | 2) | (1 | 2, 2 | 4))
    };
    let clock = || {
        let mut parts = first.split(':');
        let hours = parts
            .next()
            .is_some_and(|part| digits(part) && part.len() <= 2);
        let mut rest = parts.map(|part| part.split_once('.').map_or(part, |(whole, _)| whole));
        let minutes = rest
            .next()
            .is_some_and(|part| digits(part) && part.len() == 2);
        hours && minutes && rest.all(|part| digits(part) && part.len() == 2)
    };
    let named = |separator: char| {
        const MONTHS: [&str; 12] = [
            "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
        ];
        let is_month = |part: &str| {
            let begin = part.get(..3).unwrap_or_default().to_ascii_lowercase();
            MONTHS.contains(&&*begin) && part.chars().all(char::is_alphabetic)
        };
        let parts: Vec<&str> = text.split(separator).collect();
        let months = parts.iter().filter(|part| is_month(part)).count();
        let numbers = parts
            .iter()
            .filter(|part| digits(part.trim_end_matches(',')));
        matches!(parts.len(), 2 | 3) && months == 1 && numbers.count() + 1 == parts.len()
    };
    ['-', '/', '.'].into_iter().any(day) || clock() || ['-', ' '].into_iter().any(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_for_a_missing_value_are_those_of_other_programs() {
        for word in [
            "", "NA", "na", "N/A", "n/a", "#N/A", "#N/A N/A", "#NA", "<NA>", "nan", "NaN", "-nan",
            "-NaN", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "NULL", "null", "None", "none",
            "NaT", "missing", "\\N", ".", "?",
        ] {
            assert!(is_missing(word.as_bytes()), "{word}");
        }
        for word in [
            "-",
            "0",
            "inf",
            "#DIV/0!",
            "#NULL!",
            "N",
            "..",
            "unknown",
            "x",
            "nananananana",
        ] {
            assert!(!is_missing(word.as_bytes()), "{word}");
        }
    }

    #[test]
    fn numbers_written_for_people_have_their_cause() {
        for (texts, words) in [
            (
                &["1,5", "-0,25", "0,377", "12,3456", ",5"][..],
                "write a decimal point, not a comma",
            ),
            (
                &["1,234", "12,345", "-999,999"],
                "separators of thousands, and with a decimal point",
            ),
            (
                &[
                    "1,234,567",
                    "1,234.5",
                    "1.234.567",
                    "1 234",
                    "1\u{a0}234,5",
                    "1\u{202f}234",
                    "1'234",
                    "1_000",
                ],
                "without separators of thousands",
            ),
            (
                &["1.234,5", "1.234.567,89"],
                "and with a decimal point, not a comma",
            ),
            (&["12%", "1,5 %", "-3.5%"], "percent"),
            (
                &["$5", "5 \u{20ac}", "\u{a3}1,200.50", "-$5", "$-5", "$ 5"],
                "currency",
            ),
            (&["(5)", "(1,234)"], "below 0"),
            (&["\u{2212}5"], "hyphen"),
            (&["1d5", "1.5D+03"], "exponent"),
            (
                &[
                    "2024-01-31",
                    "1/31/2024",
                    "31.1.24",
                    "31.12.2024",
                    "2024-01-31T10:00:00Z",
                    "2024-01-31 10:00",
                    "12:30",
                    "12:30:05.5",
                    "31-Jan-2024",
                    "Jan 31, 2024",
                    "1 May 2024",
                ],
                "a date or time",
            ),
            (
                &[
                    "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#NULL!", "#div/0!",
                ],
                "spreadsheet",
            ),
            (&["-", "--", "n.a.", "unknown", "\u{2014}"], "write NA"),
        ] {
            for text in texts {
                let found = cause(text.as_bytes()).unwrap_or_default();
                assert!(found.contains(words), "{text}: {found}");
                assert!(number(text.as_bytes()).is_err());
            }
        }
        for text in [
            "",
            "x",
            "red, blue",
            "1.2.3",
            "0x10",
            "a,b",
            "1:2",
            "v1.2",
            "%",
            "$",
            "()",
            "1,2,3x",
            "e5",
            "1-2",
            "x 5",
            "1-2-3",
            "10.1.1",
            "1_0",
            "1 2",
        ] {
            assert_eq!(cause(text.as_bytes()), None, "{text}");
        }
    }
}
