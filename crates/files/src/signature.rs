//! Files that are no text for a reader, told by their first bytes.

use std::fmt;

use crate::error::{Fault, ReadErrorKind};

/// Bytes that are looked at.
pub(crate) const HEAD: usize = 512;

/// Why bytes cannot be read as text.
#[derive(Debug)]
pub(crate) struct Unreadable {
    kind: ReadErrorKind,
    expected: &'static str,
    found: String,
    /// Empty where nothing is to be done.
    remedy: &'static str,
}

impl Unreadable {
    /// Bytes after compressed data that belong to no member of it.
    pub(crate) fn trailing(bytes: u64, compression: &str) -> Self {
        let part = if compression == "zstd" {
            "frame"
        } else {
            "member"
        };
        Self {
            kind: ReadErrorKind::Corrupt,
            expected: "nothing but zeros after compressed data",
            found: format!(
                "{bytes} bytes that are no {compression} {part} after the end of the {compression} data"
            ),
            remedy: "decompress the file and compress it again, without these bytes",
        }
    }

    pub(crate) fn fault(&self) -> Fault {
        let fault = Fault::new(self.expected, &*self.found).kind(self.kind);
        match self.remedy {
            "" => fault,
            remedy => fault.remedy(remedy),
        }
    }
}

impl fmt::Display for Unreadable {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.found)
    }
}

impl std::error::Error for Unreadable {}

const BY_PROGRAM: &str = "decompress it first";
const TABLE: &str = "write the data as a table, .csv, or as svmlight text";
const SHEET: &str = "save the sheet as CSV UTF-8";
const SAVE: &str = "save the file as UTF-8";
const NUMPY: &str =
    "read it in Python, by numpy.load or scipy.sparse.load_npz, and write it by rankrls.write";

/// Bytes at the beginning or further on, what they are the beginning of, and what to do about it.
type Row = (usize, &'static [u8], &'static str, &'static str);

/// Files that are no text.
#[rustfmt::skip]
const BINARY: &[Row] = &[
    (0, b"\xff\xfe\0\0", "UTF-32 text", SAVE),
    (0, b"\0\0\xfe\xff", "UTF-32 text", SAVE),
    (0, b"\xff\xfe", "UTF-16 text", SAVE),
    (0, b"\xfe\xff", "UTF-16 text", SAVE),
    (0, b"\x1f\x8b", "gzip data", "decompress it once"),
    (0, b"\x28\xb5\x2f\xfd", "zstd data", "decompress it once"),
    (0, b"BZh", "bzip2 data", "decompress it first, for example by bzcat"),
    (0, b"\xfd7zXZ\0", "xz data", "decompress it first, for example by xzcat"),
    (0, b"\x5d\0\0", "LZMA data", "decompress it first, for example by xzcat"),
    (0, b"LZIP", "lzip data", "decompress it first, for example by lzip -dc"),
    (0, b"\x04\x22\x4d\x18", "lz4 data", "decompress it first, for example by lz4cat"),
    (0, b"\x02\x21\x4c\x18", "lz4 data", "decompress it first, for example by lz4cat"),
    (0, b"\x1f\x9d", "data of compress, .Z", "decompress it first, for example by zcat"),
    (0, b"\x1f\xa0", "data of compress, .Z", "decompress it first, for example by zcat"),
    (0, b"\x1f\x1e", "data of pack, .z", "decompress it first, for example by zcat"),
    (0, b"\x89LZO\0\r\n\x1a\n", "lzop data", "decompress it first, for example by lzop -dc"),
    (0, b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first, for example by 7z x"),
    (0, b"Rar!\x1a\x07", "a RAR archive", "unpack it first"),
    (0, b"\xff\x06\0\0sNaPpY", "data of snappy", BY_PROGRAM),
    (257, b"ustar", "a tar archive", "unpack it first, for example by tar -xf"),
    (0, b"PAR1", "Parquet data", TABLE),
    (0, b"ARROW1", "Arrow data", TABLE),
    (0, b"FEA1", "Feather data", TABLE),
    (0, b"ORC", "ORC data", TABLE),
    (0, b"Obj\x01", "Avro data", TABLE),
    (0, b"\x89HDF\r\n\x1a\n", "HDF5 data", TABLE),
    (0, b"CDF\x01", "NetCDF data", TABLE),
    (0, b"CDF\x02", "NetCDF data", TABLE),
    (0, b"MATLAB 5.0 MAT-file", "a MAT file of MATLAB", TABLE),
    (0, b"\x80\x02", "a pickle of Python", TABLE),
    (0, b"\x80\x03", "a pickle of Python", TABLE),
    (0, b"\x80\x04", "a pickle of Python", TABLE),
    (0, b"\x80\x05", "a pickle of Python", TABLE),
    (0, b"SQLite format 3", "an SQLite database", TABLE),
    (0, b"RDX2\n", "data of R", "write a table by write.csv(row.names = FALSE)"),
    (0, b"RDX3\n", "data of R", "write a table by write.csv(row.names = FALSE)"),
    (0, b"X\n\0\0\0", "data of R", "write a table by write.csv(row.names = FALSE)"),
    (0, b"<stata_dta>", "data of Stata", TABLE),
    (0, b"$FL2@(#)", "data of SPSS", TABLE),
    (0, b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a document of Microsoft Office", SHEET),
    (0, b"\x93NUMPY", "an array of NumPy, .npy", NUMPY),
    (0, b"______LightGBM_Binary_File_Token______\n", "a binary file of LightGBM", "give the text that it was made of"),
    (0, b"\x89PNG\r\n\x1a\n", "an image", ""),
    (0, b"\xff\xd8\xff", "an image", ""),
    (0, b"\x7fELF", "a program", ""),
];

/// Texts that hold no data.
#[rustfmt::skip]
const TEXT: &[Row] = &[
    (0, b"version https://git-lfs.github.com/spec/", "a pointer of Git LFS in place of the file", "fetch the file by git lfs pull"),
    (0, b"/annex/objects/", "a pointer of git-annex in place of the file", "fetch the file by git annex get"),
    (0, b"%PDF-", "a PDF document", TABLE),
    (0, b"%%MatrixMarket ", "a file of Matrix Market", "read it by scipy.io.mmread and write it by rankrls.write"),
];

/// The first words of a web page, after white space and in small letters.
const PAGES: [&[u8]; 3] = [b"<!doctype html", b"<html", b"<head>"];

/// What `head`, the first [`HEAD`] bytes of a file, decompressed from data `within` which it was, is
/// where it cannot be read as text.
pub(crate) fn unreadable(head: &[u8], within: Option<&str>) -> Option<Unreadable> {
    let is = |&&(at, magic, ..): &&Row| head.get(at..).is_some_and(|rest| rest.starts_with(magic));
    let (what, remedy) = if let Some(found) = zip(head) {
        found
    } else if let Some(&(.., what, remedy)) = BINARY.iter().filter(|_| binary(head)).find(is) {
        (what, remedy)
    } else if let Some(&(.., what, remedy)) = TEXT.iter().find(is) {
        (what, remedy)
    } else if page(head) {
        let remedy = "a server sent it in place of the file: download the file again";
        ("a web page, HTML", remedy)
    } else if arff(head) {
        ("an ARFF file of Weka", TABLE)
    } else {
        (wide(head)?, SAVE)
    };
    Some(Unreadable {
        kind: ReadErrorKind::Malformed,
        expected: "text in UTF-8, plain or compressed by gzip or zstd",
        found: match within {
            None => what.to_owned(),
            Some(compression) => format!("{what} within {compression} data"),
        },
        remedy,
    })
}

/// Whether there are bytes that no text has. The last character may be cut.
fn binary(head: &[u8]) -> bool {
    let control = |byte: &u8| matches!(byte, 0..=8 | 14..=26 | 28..=31);
    let invalid = std::str::from_utf8(head).err();
    head.iter().any(control) || invalid.is_some_and(|error| error.error_len().is_some())
}

/// The content of a zip archive, by the name of its first file.
fn zip(head: &[u8]) -> Option<(&'static str, &'static str)> {
    if head.starts_with(b"PK\x05\x06") {
        return Some(("an empty zip archive", ""));
    }
    if !head.starts_with(b"PK\x03\x04") && !head.starts_with(b"PK\x07\x08") {
        return None;
    }
    let rest = head.get(30..).unwrap_or_default();
    let length = head.get(26..28).map_or(0, |bytes| {
        usize::from(u16::from_le_bytes([bytes[0], bytes[1]]))
    });
    let content = rest.get(length..).unwrap_or_default();
    let name = &rest[..length.min(rest.len())];
    let office: [&[u8]; 5] = [
        b"[Content_Types]",
        b"_rels/",
        b"docProps/",
        b"xl/",
        b"word/",
    ];
    Some(if office.iter().any(|begin| name.starts_with(begin)) {
        ("a document of Microsoft Office, .xlsx or .docx", SHEET)
    } else if name == b"mimetype" && find(content, b"opendocument") {
        ("a document of LibreOffice, .ods or .odt", SHEET)
    } else if name.ends_with(b".npy") {
        ("arrays of NumPy, .npz", NUMPY)
    } else {
        ("a zip archive", "unpack it first, for example by unzip -p")
    })
}

fn find(text: &[u8], word: &[u8]) -> bool {
    memchr::memmem::find(text, word).is_some()
}

/// Whether a line begins with the name of a relation, and another with an attribute, which comments may precede.
fn arff(head: &[u8]) -> bool {
    let head = head.to_ascii_lowercase();
    let mut lines = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let relation = lines.find(|line| !line.is_empty() && !line.starts_with(b"%"));
    relation.is_some_and(|line| line.starts_with(b"@relation"))
        && lines.any(|line| line.starts_with(b"@attribute"))
}

fn page(head: &[u8]) -> bool {
    let text = head.trim_ascii_start();
    let begins = |page: &&[u8]| {
        let begin = text.get(..page.len());
        begin.is_some_and(|begin| begin.eq_ignore_ascii_case(page))
    };
    PAGES.iter().any(begins)
}

/// Text of characters of two or four bytes without a byte order mark, if most of their bytes are 0.
fn wide(head: &[u8]) -> Option<&'static str> {
    let zeros = |width: usize, zero: &[usize]| {
        let characters = || head.chunks_exact(width);
        let wide = |bytes: &[u8]| (0..width).all(|at| (bytes[at] == 0) == zero.contains(&at));
        characters().len() > 1 && characters().all(wide)
    };
    if zeros(4, &[1, 2, 3]) || zeros(4, &[0, 1, 2]) {
        return Some("UTF-32 text");
    }
    // Some characters may be others than those of ASCII.
    let half = |zero: usize| {
        let pairs = head.chunks_exact(2);
        let (all, narrow) = (
            pairs.len(),
            pairs.filter(|pair| pair[zero] == 0 && pair[1 - zero] != 0),
        );
        all > 1 && 4 * narrow.count() > 3 * all
    };
    (half(0) || half(1)).then_some("UTF-16 text")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(head: &[u8]) -> Option<String> {
        unreadable(head, None).map(|unreadable| unreadable.found)
    }

    #[test]
    fn every_signature_is_known_and_no_text_has_one() {
        for &(at, magic, what, _) in BINARY {
            let mut head = vec![1; at + magic.len() + 8];
            head[at..at + magic.len()].copy_from_slice(magic);
            assert_eq!(found(&head).as_deref(), Some(what));
        }
        for &(_, magic, what, _) in TEXT {
            assert_eq!(found(&[magic, b"v1\n"].concat()).as_deref(), Some(what));
        }
        for text in [
            "",
            "1",
            "1 1:1\n",
            "BZh\n",
            "PAR1\nORC\n",
            "ORC,grade\n1,2\n",
            "LZIP\n",
            "FEA1 1:2\n",
            "<b>\n",
            "version 1\n",
            "\u{feff}grade,x\n1,2\n",
            "é\n",
            "PK\n",
            "X\n",
            "RDX\n",
            "MATLAB 5.0 MAT-file\n",
            "\t\r\n",
            "\u{c}",
        ] {
            assert_eq!(found(text.as_bytes()), None, "{text:?}");
        }
        // A character may be cut where the head ends.
        assert_eq!(found(&"ORC é".as_bytes()[..5]), None);
    }

    #[test]
    fn arff_is_known_behind_its_comments() {
        let text = b"% of trees\n\n@RELATION trees\n@Attribute x numeric\n@data\n1\n";
        assert_eq!(found(text).as_deref(), Some("an ARFF file of Weka"));
        for text in [
            "@relation\n",
            "% x\n@attribute\n",
            "word\n@relation\n@attribute\n",
        ] {
            assert_eq!(found(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn archives_are_told_apart() {
        let zip = |name: &str, content: &str| {
            let mut head = vec![0; 30];
            head[..4].copy_from_slice(b"PK\x03\x04");
            head[26] = u8::try_from(name.len()).unwrap();
            head.extend_from_slice(name.as_bytes());
            head.extend_from_slice(content.as_bytes());
            found(&head).unwrap()
        };
        for (name, content, what) in [
            (
                "[Content_Types].xml",
                "",
                "a document of Microsoft Office, .xlsx or .docx",
            ),
            (
                "_rels/.rels",
                "",
                "a document of Microsoft Office, .xlsx or .docx",
            ),
            (
                "mimetype",
                "application/vnd.oasis.opendocument.spreadsheet",
                "a document of LibreOffice, .ods or .odt",
            ),
            ("indices.npy", "", "arrays of NumPy, .npz"),
            ("train.csv", "", "a zip archive"),
        ] {
            assert_eq!(zip(name, content), what);
        }
        assert!(found(b"PK\x05\x06\0\0").is_some());
        assert!(found(b"PK\x03\x04").is_some());
    }

    #[test]
    fn wide_text_is_known_with_and_without_a_mark() {
        let text = "grade,x\n1,\u{fc}\n";
        let words: Vec<u16> = text.encode_utf16().collect();
        let two = |bytes: fn(u16) -> [u8; 2]| words.iter().flat_map(|&word| bytes(word)).collect();
        let four =
            |bytes: fn(u32) -> [u8; 4]| text.chars().flat_map(|char| bytes(char.into())).collect();
        let wide: [(Vec<u8>, &[u8], &str); 4] = [
            (two(u16::to_le_bytes), b"\xff\xfe", "UTF-16 text"),
            (two(u16::to_be_bytes), b"\xfe\xff", "UTF-16 text"),
            (four(u32::to_le_bytes), b"\xff\xfe\0\0", "UTF-32 text"),
            (four(u32::to_be_bytes), b"\0\0\xfe\xff", "UTF-32 text"),
        ];
        for (bytes, mark, what) in wide {
            assert_eq!(found(&bytes).as_deref(), Some(what));
            assert_eq!(found(&[mark, &bytes].concat()).as_deref(), Some(what));
        }
        for page in ["<!DOCTYPE html>", "\n <HTML lang=en>"] {
            assert_eq!(found(page.as_bytes()).as_deref(), Some("a web page, HTML"));
        }
    }
}
