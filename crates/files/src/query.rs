//! Query identifiers that svmlight text needs escaped: with blanks or `#`, or with an end like a pair's.
//!
//! `\u{3a}` stands for the character of this hexadecimal number, here `:`.

use std::borrow::Cow;

const BEGIN: &str = "\\u{";

/// The identifier as one token of letters, digits and marks. [`unescaped_id`] reads it back.
pub fn escaped_id(id: &str) -> String {
    let mut token = String::with_capacity(2 * id.len());
    for char in id.chars() {
        let mark = char.is_ascii_punctuation() && !matches!(char, '#' | ':' | '\\');
        if char.is_alphanumeric() || mark {
            token.push(char);
        } else {
            token.extend(char.escape_unicode());
        }
    }
    if token != id {
        return token;
    }
    // A word with another meaning, such as NA.
    let mut chars = id.chars();
    let first = chars.next().into_iter().flat_map(char::escape_unicode);
    first.chain(chars).collect()
}

/// The identifier that a token stands for.
pub fn unescaped_id(token: &str) -> Cow<'_, str> {
    let Some(begin) = token.find(BEGIN) else {
        return Cow::Borrowed(token);
    };
    let mut id = token[..begin].to_owned();
    let mut parts = token[begin + BEGIN.len()..].split(BEGIN);
    for part in &mut parts {
        let written = part.split_once('}').and_then(|(number, rest)| {
            let number = u32::from_str_radix(number, 16).ok()?;
            Some((char::from_u32(number)?, rest))
        });
        match written {
            Some((char, rest)) => {
                id.push(char);
                id.push_str(rest);
            }
            // `escaped_id` never writes this.
            None => id.extend([BEGIN, part]),
        }
    }
    Cow::Owned(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_come_back() {
        for (id, token) in [
            ("Story_Tale_1936:0", "Story_Tale_1936\\u{3a}0"),
            ("red shoes", "red\\u{20}shoes"),
            ("東京\u{3000}天気", "東京\\u{3000}天気"),
            ("c#", "c\\u{23}"),
            ("NA", "\\u{4e}A"),
            ("?", "\\u{3f}"),
            ("a\nb", "a\\u{a}b"),
            ("\\u{3a}", "\\u{5c}u{3a}"),
            ("a\\u{20}b \\", "a\\u{5c}u{20}b\\u{20}\\u{5c}"),
        ] {
            assert_eq!(escaped_id(id), token);
            assert_eq!(unescaped_id(token), id);
        }
        for other in [
            "",
            "q1",
            "a\\b",
            "\\u{",
            "\\u{}",
            "\\u{d800}",
            "\\u{zz}x\\u{1",
        ] {
            assert_eq!(unescaped_id(other), other);
        }
    }
}
