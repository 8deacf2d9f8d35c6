//! Arrays of NumPy.
//!
//! A `.npy` file is a magic number, a header that is a Python dictionary of `descr`,
//! `fortran_order` and `shape`, and the elements: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>.
//! Arrays of one dimension, and scalars, of integers, floats, booleans and text are read; their
//! headers are checked before anything is allocated for their elements.

use std::fs::File;
use std::io::{self, BufReader, ErrorKind, Read, Write};
use std::path::Path;

use serde::Deserialize;

use super::error::{Fault, ReadError, ReadErrorKind, quote};
use super::rows::tokens;
use super::token::{self, BadNumber};
use crate::data::{Dataset, Queries};

/// Bytes read or written at a time.
const BLOCK: usize = 1 << 16;

/// Most bytes of a header; NumPy itself takes 10 000 characters unless told otherwise.
const LARGEST_HEADER: u32 = 1 << 16;

/// Most bytes of one element: text in an array takes the room of the longest.
const LARGEST_ELEMENT: usize = 1 << 20;

/// An array whose header was read.
pub(super) struct Array<R> {
    reader: R,
    /// The name in messages.
    name: String,
    header: Header,
}

impl Array<BufReader<File>> {
    /// Opens the `.npy` file at `path`, whose array messages call `name`.
    pub(super) fn open(path: &Path, name: &str) -> Result<Self, ReadError> {
        let file = path.display().to_string();
        let reader = File::open(path).map_err(|error| Fault::io(&error).of(&file))?;
        Self::new(BufReader::with_capacity(BLOCK, reader), name).map_err(|fault| fault.of(&file))
    }
}

impl<R: Read> Array<R> {
    /// Reads the header of the array that messages call `name`.
    pub(super) fn new(mut reader: R, name: &str) -> Result<Self, Fault> {
        let header = header_text(&mut reader).and_then(|text| Header::parse(&text));
        let header = header.map_err(|fault| fault.in_array(name, None))?;
        Ok(Self {
            reader,
            name: name.to_owned(),
            header,
        })
    }

    /// Elements of an array of one dimension.
    pub(super) fn length(&self) -> Result<u64, Fault> {
        let [length] = self.shape("an array of one dimension")?;
        Ok(length)
    }

    /// Rows, columns, and whether elements come by column, of an array of two dimensions.
    pub(super) fn matrix(&self) -> Result<(u64, u64, bool), Fault> {
        let [rows, columns] = self.shape("an array of two dimensions, a row for each label")?;
        Ok((rows, columns, self.header.by_column))
    }

    fn shape<const N: usize>(&self, expected: &'static str) -> Result<[u64; N], Fault> {
        let shape = &self.header.shape;
        let found = || self.unsuitable(expected, format!("{} dimensions", shape.len()));
        shape[..].try_into().map_err(|_| found())
    }

    /// A fault of the array as a whole.
    pub(super) fn unsuitable(
        &self,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Fault {
        Fault::new(expected.into(), found).in_array(&self.name, None)
    }

    /// An empty vector with room for all elements, which are `expected`, if they are of some `kinds` and
    /// the machine has room.
    fn room<T>(&self, kinds: &[Kind], expected: String) -> Result<Vec<T>, Fault> {
        if !kinds.contains(&self.header.kind) {
            return Err(self.unsuitable(expected, &*self.header.descr));
        }
        let mut elements = Vec::new();
        let count = usize::try_from(self.header.count()).unwrap_or(usize::MAX);
        elements.try_reserve_exact(count).map_err(|_| {
            let found = format!("{count} elements");
            let fault = self.unsuitable("an array that fits into memory", found);
            fault.kind(ReadErrorKind::TooLarge)
        })?;
        Ok(elements)
    }

    /// All elements as finite floats that are exactly what the array has; `missing` in the places of
    /// nan and of numbers that stand for a missing value, which are refused without it.
    pub(super) fn values(self, missing: Option<f64>) -> Result<Vec<f64>, Fault> {
        self.floats("value", |value| {
            let bad = if value.is_finite() {
                token::checked(value).err()
            } else {
                Some(BadNumber::NotFinite)
            };
            match (bad, missing) {
                (None, _) => Ok(value),
                (Some(bad), Some(missing)) if value.is_nan() || bad == BadNumber::Marker => {
                    Ok(missing)
                }
                (Some(bad), _) => {
                    let text = value.to_string();
                    Err(bad.fault(text.as_bytes(), text.clone(), "a value", "value"))
                }
            }
        })
    }

    /// All elements as finite floats that are exactly what the array has.
    pub(super) fn labels(self) -> Result<Vec<f64>, Fault> {
        self.floats("label", |label| {
            let fault = || Fault::new("a finite label", label.to_string());
            label.is_finite().then_some(label).ok_or_else(fault)
        })
    }

    fn floats(
        self,
        what: &'static str,
        take: impl Fn(f64) -> Result<f64, Fault>,
    ) -> Result<Vec<f64>, Fault> {
        use Kind::{Boolean, Float, Signed, Unsigned};
        let numbers = [Boolean, Signed, Unsigned, Float];
        let mut floats = self.room(&numbers, format!("numbers for {what}s"))?;
        self.each(|header, _, bytes| {
            floats.push(take(header.float(bytes, what)?)?);
            Ok(())
        })?;
        Ok(floats)
    }

    /// All elements of an array of integers, as `take` has them of their position and number, or says
    /// what it expects.
    pub(super) fn integers<T>(
        self,
        mut take: impl FnMut(u64, i128) -> Result<T, String>,
    ) -> Result<Vec<T>, Fault> {
        let integers = [Kind::Signed, Kind::Unsigned];
        let mut taken = self.room(&integers, "integers".to_owned())?;
        self.each(|header, position, bytes| {
            let integer = header.integer(bytes);
            let element = take(position, integer);
            taken.push(element.map_err(|expected| Fault::new(expected, integer.to_string()))?);
            Ok(())
        })?;
        Ok(taken)
    }

    /// Calls `each` with the position of every element and its text: without the zeros that fill it up,
    /// or of an integer in decimal.
    pub(super) fn texts(
        self,
        mut each: impl FnMut(u64, &str) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        if self.header.kind == Kind::Boolean {
            return Err(self.unsuitable("text or integers", &*self.header.descr));
        }
        self.each(|header, position, bytes| each(position, &header.text(bytes)?))
    }

    /// Calls `each` with the position and bytes of every element, and sees that nothing follows.
    fn each(
        mut self,
        mut each: impl FnMut(&Header, u64, &[u8]) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        let (header, name) = (&self.header, &self.name);
        let at_once = (BLOCK / header.size).max(1);
        let count = header.count();
        let mut block = vec![0; at_once * header.size];
        let mut position = 0;
        while position < count {
            let left = usize::try_from(count - position).unwrap_or(usize::MAX);
            let bytes = &mut block[..left.min(at_once) * header.size];
            let read = self.reader.read_exact(bytes);
            read.map_err(|error| failed(&error).in_array(name, None))?;
            for element in bytes.chunks_exact(header.size) {
                let taken = each(header, position, element);
                taken.map_err(|fault| fault.in_array(name, Some(position)))?;
                position += 1;
            }
        }
        // Reading to the end is also what has a zip archive check its sum.
        match self.reader.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.unsuitable("the end of the array", "more bytes")),
            Err(error) => Err(failed(&error).in_array(name, None)),
        }
    }
}

/// The text of the header.
fn header_text(reader: &mut impl Read) -> Result<Vec<u8>, Fault> {
    let mut read = |bytes: &mut [u8]| reader.read_exact(bytes).map_err(|error| failed(&error));
    let mut head = [0; 8];
    read(&mut head)?;
    let [magic @ .., major, _] = head;
    if magic != *b"\x93NUMPY" {
        return Err(Fault::new("an array in NumPy's format", quote(&magic)));
    }
    let mut length_bytes = [0; 4];
    let bytes = match major {
        1 => 2,
        2 | 3 => 4,
        _ => {
            return Err(Fault::new(
                "version 1, 2 or 3 of the format",
                major.to_string(),
            ));
        }
    };
    read(&mut length_bytes[..bytes])?;
    let length = u32::from_le_bytes(length_bytes);
    if length > LARGEST_HEADER {
        return Err(Fault::new(
            "a header of at most 65536 bytes",
            length.to_string(),
        ));
    }
    // At most LARGEST_HEADER.
    let mut text = vec![0; length as usize];
    read(&mut text)?;
    Ok(text)
}

/// The fault that a failed read means.
fn failed(error: &io::Error) -> Fault {
    match error.kind() {
        ErrorKind::UnexpectedEof => Fault::new("more elements", "the end of the array")
            .kind(ReadErrorKind::Truncated)
            .remedy("the file was cut off: copy or write it again"),
        ErrorKind::InvalidData | ErrorKind::InvalidInput | ErrorKind::Other => {
            Fault::new("intact data", error.to_string()).kind(ReadErrorKind::Corrupt)
        }
        _ => Fault::io(error),
    }
}

/// The type of the elements of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Boolean,
    Signed,
    Unsigned,
    Float,
    /// Bytes filled up with zeros.
    Bytes,
    /// Characters of four bytes, filled up with zeros.
    Text,
}

/// The content of a header.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Header {
    kind: Kind,
    /// Bytes of an element, at least 1.
    size: usize,
    big_endian: bool,
    shape: Vec<u64>,
    /// Whether the first index runs fastest.
    by_column: bool,
    /// The type as it is written.
    descr: String,
}

impl Header {
    /// Reads the text of a header.
    fn parse(text: &[u8]) -> Result<Self, Fault> {
        let fields = json(text).and_then(|json| serde_json::from_str(&json).ok());
        let Fields {
            descr,
            fortran_order: by_column,
            shape,
        } = fields.ok_or_else(|| Fault::new(HEADER, quote(text)))?;
        let quoted = quote(descr.as_bytes());
        let element = element(&descr);
        let (big_endian, kind, size) = element.ok_or_else(|| Fault::new(TYPES, &*quoted))?;
        if size > LARGEST_ELEMENT {
            let expected = format!("elements of at most {LARGEST_ELEMENT} bytes");
            return Err(Fault::new(expected, format!("{size} bytes")));
        }
        Ok(Self {
            kind,
            size,
            big_endian,
            shape,
            by_column,
            descr: quoted,
        })
    }

    /// Elements of all dimensions; a scalar has one.
    fn count(&self) -> u64 {
        let product = |count: u64, &length: &u64| count.saturating_mul(length);
        self.shape.iter().fold(1, product)
    }

    /// A number as a float, which may be nan or infinite.
    fn float(&self, bytes: &[u8], what: &str) -> Result<f64, Fault> {
        if self.kind != Kind::Float {
            let integer = self.integer(bytes);
            // The cast is exact or found out by the cast back.
            #[expect(clippy::cast_possible_truncation)]
            if integer as f64 as i128 != integer {
                let expected = format!("a {what} that a 64-bit float holds exactly");
                return Err(Fault::new(expected, integer.to_string()));
            }
            return Ok(integer as f64);
        }
        let word = self.word(bytes);
        Ok(match u32::try_from(word) {
            Ok(word) if bytes.len() == 4 => f64::from(f32::from_bits(word)),
            _ => f64::from_bits(word),
        })
    }

    fn integer(&self, bytes: &[u8]) -> i128 {
        let word = self.word(bytes);
        if self.kind != Kind::Signed {
            return i128::from(word);
        }
        let unused = 64 - 8 * bytes.len();
        i128::from((word << unused).cast_signed() >> unused)
    }

    /// Text, or a whole number in decimal: pandas makes floats of integers where some were missing.
    fn text(&self, bytes: &[u8]) -> Result<String, Fault> {
        let decoded = match self.kind {
            Kind::Bytes => String::from_utf8(bytes.to_vec()).ok(),
            Kind::Text => {
                let words = bytes.chunks_exact(4).map(|bytes| self.word(bytes));
                let char = |word| char::from_u32(u32::try_from(word).ok()?);
                words.map(char).collect()
            }
            Kind::Float => {
                let float = self.float(bytes, "identifier")?;
                // Every whole number up to it is a float.
                if float.fract() != 0.0 || float.abs() > 9_007_199_254_740_992.0 {
                    return Err(Fault::new(
                        "whole numbers or text as identifiers",
                        float.to_string(),
                    ));
                }
                // A zero has no sign.
                Some((float + 0.0).to_string())
            }
            _ => Some(self.integer(bytes).to_string()),
        };
        let text = decoded.ok_or_else(|| Fault::new("text in UTF-8 or Unicode", quote(bytes)))?;
        Ok(text.trim_end_matches('\0').to_owned())
    }

    /// At most eight bytes in the order of the array.
    fn word(&self, bytes: &[u8]) -> u64 {
        let mut word = [0; 8];
        if self.big_endian {
            word[8 - bytes.len()..].copy_from_slice(bytes);
            u64::from_be_bytes(word)
        } else {
            word[..bytes.len()].copy_from_slice(bytes);
            u64::from_le_bytes(word)
        }
    }
}

const HEADER: &str = "a header with descr, fortran_order and shape";
const TYPES: &str =
    "booleans, integers of 1 to 8 bytes, floats of 4 or 8 bytes, or text (convert with astype)";

/// The dictionary of a header.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    descr: String,
    /// The order of the elements makes no difference in one dimension.
    fortran_order: bool,
    shape: Vec<u64>,
}

/// A dictionary of Python with texts, booleans and tuples as JSON, which has double quotes, brackets
/// and no comma after the last.
fn json(python: &[u8]) -> Option<String> {
    let mut json = String::with_capacity(python.len());
    for char in std::str::from_utf8(python).ok()?.chars() {
        if let ')' | '}' = char {
            let items = json.trim_ascii_end();
            if let Some(items) = items.strip_suffix(',') {
                // A comma stands after something.
                if items.trim_ascii_end().ends_with(['[', '{', ',']) {
                    return None;
                }
                json.truncate(items.len());
            }
        }
        json.push(match char {
            '\'' => '"',
            '(' => '[',
            ')' => ']',
            '[' | ']' | '\\' => return None,
            other => other,
        });
    }
    Some(json.replace("True", "true").replace("False", "false"))
}

/// Whether the type has big ends, its kind, and its bytes.
fn element(descr: &str) -> Option<(bool, Kind, usize)> {
    let (order, rest) = match descr.as_bytes().first()? {
        b'<' | b'=' | b'|' => (false, &descr[1..]),
        b'>' => (true, &descr[1..]),
        _ => (false, descr),
    };
    let said: usize = rest.get(1..)?.parse().ok()?;
    let (kind, size) = match (rest.as_bytes()[0], said) {
        (b'b', 1) => (Kind::Boolean, 1),
        (b'i', 1 | 2 | 4 | 8) => (Kind::Signed, said),
        (b'u', 1 | 2 | 4 | 8) => (Kind::Unsigned, said),
        (b'f', 4 | 8) => (Kind::Float, said),
        (b'S', 1..) => (Kind::Bytes, said),
        (b'U', 1..) => (Kind::Text, said.checked_mul(4)?),
        _ => return None,
    };
    Some((order, kind, size))
}

/// Bytes to a multiple of which headers are filled up.
const ALIGNMENT: usize = 64;

/// Writes the labels as an array of 64-bit floats.
pub(super) fn write_labels(dataset: &Dataset<'_>, writer: &mut dyn Write) -> io::Result<()> {
    let labels = dataset.labels();
    let elements = labels.iter().map(|label| label.to_le_bytes());
    write_vector("<f8", labels.len(), elements, writer)?;
    writer.flush()
}

/// Writes the identifier of the query of every row: 64-bit integers if all of them are such in
/// plain decimal, else text of as many characters as the longest has. Nameless queries are
/// numbered from 1.
pub(super) fn write_query_ids(dataset: &Dataset<'_>, writer: &mut dyn Write) -> io::Result<()> {
    let queries = dataset.queries();
    let ids = tokens(queries, &['\0'])?;
    let rows = dataset.rows();
    let integers: Option<Vec<i64>> = ids.iter().map(|id| integer(id)).collect();
    if let Some(integers) = integers {
        let words = integers.iter().map(|integer| integer.to_le_bytes());
        write_vector("<i8", rows, repeated(queries, words), writer)?;
    } else {
        let longest = ids.iter().map(|id| id.chars().count()).max().unwrap_or(1);
        let texts = ids.iter().map(|id| characters(id, longest));
        let descr = format!("<U{longest}");
        write_vector(&descr, rows, repeated(queries, texts), writer)?;
    }
    writer.flush()
}

/// The integer that is written `id`.
fn integer(id: &str) -> Option<i64> {
    let integer: i64 = id.parse().ok()?;
    (integer.to_string() == id).then_some(integer)
}

/// Every element as often as its query has rows.
fn repeated<T: Clone>(
    queries: &Queries,
    elements: impl Iterator<Item = T>,
) -> impl Iterator<Item = T> {
    let sizes = queries.ranges().map(|rows| rows.len());
    sizes
        .zip(elements)
        .flat_map(|(size, element)| std::iter::repeat_n(element, size))
}

/// Characters of four bytes, filled up with zeros.
fn characters(text: &str, length: usize) -> Vec<u8> {
    let mut bytes: Vec<u8> = text
        .chars()
        .flat_map(|char| u32::from(char).to_le_bytes())
        .collect();
    bytes.resize(4 * length, 0);
    bytes
}

/// Writes what stands before elements of the type `descr` in an array of `shape`.
pub(super) fn header(descr: &str, shape: &str, writer: &mut dyn Write) -> io::Result<()> {
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}").into_bytes();
    // Magic number, version and length are ten bytes, the line end is one.
    let length = (10 + text.len() + 1).next_multiple_of(ALIGNMENT) - 10;
    text.resize(length - 1, b' ');
    text.push(b'\n');
    writer.write_all(b"\x93NUMPY\x01\x00")?;
    let short = u16::try_from(length).map_err(io::Error::other)?;
    writer.write_all(&short.to_le_bytes())?;
    writer.write_all(&text)
}

/// Writes an array of `length` elements of the type `descr`.
pub(super) fn write_vector<B: AsRef<[u8]>>(
    descr: &str,
    length: usize,
    elements: impl Iterator<Item = B>,
    writer: &mut dyn Write,
) -> io::Result<()> {
    header(descr, &format!("({length},)"), writer)?;
    let mut block = Vec::with_capacity(BLOCK);
    for element in elements {
        block.extend_from_slice(element.as_ref());
        if block.len() >= BLOCK {
            writer.write_all(&block)?;
            block.clear();
        }
    }
    writer.write_all(&block)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(Kind, usize, bool, Vec<u64>)> {
        let header = Header::parse(text.as_bytes()).ok()?;
        Some((header.kind, header.size, header.big_endian, header.shape))
    }

    #[test]
    fn headers_of_numpy_are_read() {
        for (descr, shape, kind, size, big, lengths) in [
            ("<f8", "(3,)", Kind::Float, 8, false, &[3][..]),
            (">i4", "(3, 4)", Kind::Signed, 4, true, &[3, 4]),
            ("|b1", "()", Kind::Boolean, 1, false, &[]),
            ("|S3", "( 12 , )", Kind::Bytes, 3, false, &[12]),
            ("<U5", "(0,)", Kind::Text, 20, false, &[0]),
            ("|u1", "(1)", Kind::Unsigned, 1, false, &[1]),
        ] {
            let text =
                format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}   \n");
            let expected = (kind, size, big, lengths.to_vec());
            assert_eq!(parsed(&text), Some(expected), "{text}");
        }
        let other = "{\"shape\":(2,),\"fortran_order\":True,\"descr\":\"<f4\"}";
        assert_eq!(parsed(other), Some((Kind::Float, 4, false, vec![2])));
    }

    #[test]
    fn other_headers_are_refused() {
        let with = |descr: &str, shape: &str| {
            format!("{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}}}")
        };
        for text in [
            String::new(),
            "{}".to_owned(),
            "{,}".to_owned(),
            "{'descr': '<f8'}".to_owned(),
            with("'<f2'", "(1,)"),
            with("'<f16'", "(1,)"),
            with("'<c16'", "(1,)"),
            with("'|O'", "(1,)"),
            with("'|V8'", "(1,)"),
            with("'<U0'", "(1,)"),
            with("'<U99999999999999999999'", "(1,)"),
            with("'<i3'", "(1,)"),
            with("'é8'", "(1,)"),
            with("''", "(1,)"),
            with("[('a', '<f8')]", "(1,)"),
            with("'<f8'", "(-1,)"),
            with("'<f8'", "(99999999999999999999,)"),
            with("'<f8'", "[1]"),
            with("'<f8'", "(1,"),
            with("'<f8'", "(,)"),
            with("'<f8'", "(1,,)"),
            with("'<f8'", "(1]"),
            with("'<f8'", "1"),
            with("'<f8'", &"(".repeat(60_000)),
        ] {
            assert!(Header::parse(text.as_bytes()).is_err(), "{text}");
        }
        let header =
            Header::parse(with("'<f8'", "(4294967296, 4294967296, 2)").as_bytes()).unwrap();
        assert_eq!(header.count(), u64::MAX);
    }
}
