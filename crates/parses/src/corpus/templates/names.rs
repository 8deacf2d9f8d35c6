//! How words and labels are written in the names of features.
//!
//! Any UTF-8 stays as it is but for what would end a part, a name or a comment: `%`, `~`, `#`,
//! white space and control characters become `%` and two hexadecimal digits for each of their
//! bytes, as in addresses of the web; so do words that are `^` or `$`, which stand for the edges
//! of a sentence. Different words have different names.

use std::fmt::Write as _;

pub(in crate::corpus) fn part(text: &str) -> String {
    let mut written = String::with_capacity(text.len());
    let edge = text == "^" || text == "$";
    for char in text.chars() {
        let plain = !edge && !matches!(char, '%' | '~' | '#');
        if plain && !char.is_whitespace() && !char.is_control() {
            written.push(char);
            continue;
        }
        for byte in char.encode_utf8(&mut [0; 4]).bytes() {
            // Writing to a string cannot fail.
            let _ = write!(written, "%{byte:02X}");
        }
    }
    written
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn back(part: &str) -> String {
        let mut bytes = Vec::new();
        let mut rest = part.bytes();
        while let Some(byte) = rest.next() {
            if byte == b'%' {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                let digits = std::str::from_utf8(&digits).unwrap().to_owned();
                bytes.push(u8::from_str_radix(&digits, 16).unwrap());
            } else {
                bytes.push(byte);
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn what_separates_is_escaped() {
        assert_eq!(part("a~b 50% #1"), "a%7Eb%2050%25%20%231");
        assert_eq!(part("naïve:日本"), "naïve:日本");
        assert_eq!((part("$").as_str(), part("$5").as_str()), ("%24", "$5"));
        assert_eq!(part("\u{a0}\u{85}"), "%C2%A0%C2%85");
    }

    proptest! {
        #[test]
        fn parts_read_back(text in ".*") {
            let part = part(&text);
            prop_assert_eq!(back(&part), text);
            prop_assert!(!part.contains(|c: char| c.is_whitespace() || c.is_control() || c == '~'));
        }
    }
}
