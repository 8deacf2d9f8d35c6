//! Files that are not text, told by their first bytes.

/// Number of first bytes examined.
pub(crate) const HEAD: usize = 512;

/// The byte order mark of UTF-8.
pub(crate) const MARK: &[u8] = b"\xef\xbb\xbf";

const SAVE: Option<&str> = Some("save the file as UTF-8");
const ONCE: Option<&str> = Some("decompress it once");

/// The kind of a file, and a remedy where one is certain.
pub(crate) type Kind = (&'static str, Option<&'static str>);

/// Offsets and bytes that no text has, and the kind of file that has them.
#[rustfmt::skip]
const BINARY: [(usize, &[u8], Kind); 11] = [
    (0, b"\xff\xfe", ("UTF-16 text", SAVE)),
    (0, b"\xfe\xff", ("UTF-16 text", SAVE)),
    (0, b"\x1f\x8b", ("gzip data", ONCE)),
    (0, b"\x28\xb5\x2f\xfd", ("zstd data", ONCE)),
    (0, b"BZh", ("bzip2 data", Some("decompress it first, for example by bzcat"))),
    (0, b"\xfd7zXZ\0", ("xz data", Some("decompress it first, for example by xzcat"))),
    (30, b"[Content_Types]", ("a document of Microsoft Office, .xlsx or .docx", None)),
    (0, b"PK\x03\x04", ("a zip archive", None)),
    (0, b"PAR1", ("Parquet data", None)),
    (0, b"\x89HDF\r\n\x1a\n", ("HDF5 data", None)),
    (0, b"\x80", ("a pickle of Python", None)),
];

/// Beginnings, in small letters, of texts that replace data.
const TEXT: [(&[u8], Kind); 3] = [
    (
        b"version https://git-lfs.github.com/spec/",
        (
            "a pointer of Git LFS in place of the file",
            Some("fetch the file by git lfs pull"),
        ),
    ),
    (b"<!doctype html", ("a web page, HTML", None)),
    (b"<html", ("a web page, HTML", None)),
];

/// The kind of a file that begins with `head`, if it cannot be read as text.
///
/// A names file that we wrote is never taken for binary. Blanks and marks before a text do not count.
pub(crate) fn kind_of(head: &[u8]) -> Option<Kind> {
    if is_binary(head) {
        let known = BINARY.iter().find(|(at, magic, _)| {
            let rest = head.get(*at..).unwrap_or_default();
            rest.starts_with(magic)
        });
        let wide = || is_wide(head).then_some(("UTF-16 text", SAVE));
        let other = || has_control(head).then_some(("binary data", None));
        return known.map(|&(.., kind)| kind).or_else(wide).or_else(other);
    }
    let mut text = head.trim_ascii_start();
    while let Some(rest) = text.strip_prefix(MARK) {
        text = rest.trim_ascii_start();
    }
    let begins = |begin: &[u8]| {
        let found = text.get(..begin.len());
        found.is_some_and(|found| found.eq_ignore_ascii_case(begin))
    };
    let known = TEXT.iter().find(|(begin, _)| begins(begin));
    known.map(|&(_, kind)| kind)
}

/// Whether there is a NUL or invalid UTF-8, which no text has. The last character may be cut.
fn is_binary(head: &[u8]) -> bool {
    let invalid = std::str::from_utf8(head).err();
    head.contains(&0) || invalid.is_some_and(|error| error.error_len().is_some())
}

/// Whether bytes that are not UTF-8 have too many control characters for text of an old encoding: several, and one
/// in 32.
fn has_control(head: &[u8]) -> bool {
    let is_odd = |byte: &&u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    let odd = head.iter().filter(is_odd).count();
    let text = std::str::from_utf8(head).map_or_else(|error| error.error_len().is_none(), |_| true);
    !text && odd > 1 && 32 * odd >= head.len()
}

/// Whether this is text of two bytes a character without a byte order mark: nearly every pair has one zero.
fn is_wide(head: &[u8]) -> bool {
    let narrow = |zero: usize| {
        let pairs = head.chunks_exact(2);
        let narrow = pairs.filter(|pair| pair[zero] == 0 && pair[1 - zero] != 0);
        4 * narrow.count() > 3 * (head.len() / 2)
    };
    head.len() > 3 && (narrow(0) || narrow(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(head: &[u8]) -> Option<&'static str> {
        kind_of(head).map(|(what, _)| what)
    }

    #[test]
    fn every_signature_is_known_and_no_text_has_one() {
        for (at, magic, (what, _)) in BINARY {
            let mut head = vec![1; at + magic.len() + 8];
            head[at..at + magic.len()].copy_from_slice(magic);
            head.push(0);
            assert_eq!(found(&head), Some(what));
        }
        for (begin, (what, _)) in TEXT {
            for before in ["", "\n ", "\u{feff}", " \u{feff}"] {
                let text = [before.as_bytes(), &begin.to_ascii_uppercase(), b"v1\n"].concat();
                assert_eq!(found(&text), Some(what));
            }
        }
        for text in [
            "",
            "1",
            "1 1:1\n",
            "BZh\u{10}\n",
            "PAR1\nORC\n",
            "PK\u{3}\u{4}\n",
            "<b>\n",
            "version 1\n",
            "\u{feff}grade,x\n1,2\n",
            "é\n",
            "\t\r\n",
            "\u{c}",
        ] {
            assert_eq!(found(text.as_bytes()), None, "{text:?}");
        }
        // Streams of zlib, LZ4 and NumPy, a pickle's protocol 0 and text of an old encoding.
        let zlib =
            b"x\x9c\x33\x54\x28\x2c\xcd\x4c\xb1\x32\x54\x30\xb4\x32\xe0\x02\x00\x17\x9f\x03\x0c";
        for head in [
            &zlib[..],
            b"\x04\x22M\x18\x60p\x73\xf2\x01",
            b"\x93NUMPY\x01\x00v\x00{'descr'",
        ] {
            assert_eq!(found(head), Some("binary data"), "{head:?}");
        }
        assert_eq!(found(b"1 1:1 # caf\xe9 \x07\n"), None);
        // A character may be cut where the head ends.
        assert_eq!(found(&"ORC é".as_bytes()[..5]), None);
    }

    #[test]
    fn wide_text_is_known_with_and_without_a_mark() {
        let words = || "grade,x\n1,\u{fc}\n".encode_utf16();
        for (mark, wide) in [
            (
                b"\xff\xfe",
                words().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
            ),
            (b"\xfe\xff", words().flat_map(u16::to_be_bytes).collect()),
        ] {
            assert_eq!(found(&wide), Some("UTF-16 text"));
            assert_eq!(found(&[&mark[..], &wide].concat()), Some("UTF-16 text"));
        }
    }
}
