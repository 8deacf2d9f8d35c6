//! Words and labels in the names of features.
//!
//! Most UTF-8 stays as it is. `%`, `~`, `#`, white space and control characters would end a part, a name or a
//! comment. They become `%` and two hexadecimal digits for each byte, as in web addresses. So do the words `^` and
//! `$`, which stand for the edges of a sentence. Different words have different names.

use std::fmt::Write as _;

/// `text` as a part of a name.
pub(super) fn part(text: &str) -> String {
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
