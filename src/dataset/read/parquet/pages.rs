//! What the headers of pages and the end of a file claim, before anything is allocated for it.
//!
//! A page of a column begins with a header, a struct `PageHeader` in the compact protocol of Thrift:
//! its field 2 is the size of the page once decompressed, 3 the bytes that follow the header.
//! <https://parquet.apache.org/docs/file-format/data-pages/>,
//! <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>

use std::io::{self, BufRead, ErrorKind, Read, Seek, SeekFrom};
use std::ops::RangeInclusive;

/// Deepest nesting of structs and lists that is followed.
const DEEPEST: u32 = 16;

/// Types of the compact protocol.
const STOP: u8 = 0;
const INTEGER_32: u8 = 5;
const INTEGER_64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// What a header says.
#[derive(Debug, Default, PartialEq, Eq)]
struct Claims {
    decompressed: i64,
    bytes: i64,
}

/// The largest size that a page of a column claims to have once decompressed. The column is in
/// `bytes` bytes from `start` on. Takes time in proportion to the headers.
///
/// # Errors
/// Those of `file`; [`ErrorKind::InvalidData`] for what is no header.
pub(super) fn largest_claim(
    file: &mut (impl BufRead + Seek),
    start: u64,
    bytes: u64,
) -> io::Result<u64> {
    let (mut place, end) = (start, start.saturating_add(bytes));
    let mut largest = 0;
    while place < end {
        file.seek(SeekFrom::Start(place))?;
        let claims = Thrift(file.by_ref().take(end - place)).header()?;
        let (Ok(size), Ok(length)) = (
            u64::try_from(claims.decompressed),
            u64::try_from(claims.bytes),
        ) else {
            return Err(no_header());
        };
        largest = largest.max(size);
        place = file.stream_position()?.saturating_add(length);
    }
    Ok(largest)
}

/// Sees that the metadata at the end of a file of `length` bytes have as many of everything as they
/// claim. `FileMetaData` is a struct whose field 2 is the list of the schema's elements, the field
/// 5 of which is their number of children.
///
/// # Errors
/// Those of `file`; [`ErrorKind::InvalidData`] and [`ErrorKind::UnexpectedEof`] for claims that do
/// not hold.
pub(super) fn check_metadata(file: &mut (impl BufRead + Seek), length: u64) -> io::Result<()> {
    let end = length.checked_sub(8).ok_or(ErrorKind::UnexpectedEof)?;
    file.seek(SeekFrom::Start(end))?;
    let mut bytes = [0; 4];
    file.read_exact(&mut bytes)?;
    let size = u64::from(u32::from_le_bytes(bytes));
    let start = end.checked_sub(size).ok_or(ErrorKind::UnexpectedEof)?;
    file.seek(SeekFrom::Start(start))?;
    Thrift(file.take(size)).metadata()
}

fn no_header() -> io::Error {
    io::Error::new(ErrorKind::InvalidData, "claims that contradict each other")
}

/// Reads the compact protocol.
struct Thrift<R>(R);

impl<R: BufRead> Thrift<R> {
    fn header(&mut self) -> io::Result<Claims> {
        let mut claims = Claims::default();
        let mut last = 0;
        while let Some((field, kind)) = self.field(&mut last)? {
            match (field, kind) {
                (2, INTEGER_32) => claims.decompressed = self.integer()?,
                (3, INTEGER_32) => claims.bytes = self.integer()?,
                (5, STRUCT) => self.part(1..=4)?,
                (7, STRUCT) => self.part(1..=2)?,
                (8, STRUCT) => self.part(1..=6)?,
                (1..=8, _) if kind != if field < 5 { INTEGER_32 } else { STRUCT } => {
                    return Err(no_header());
                }
                _ => self.skip(kind, DEEPEST)?,
            }
        }
        Ok(claims)
    }

    /// A struct whose `integers` are such: the crate takes their types for granted.
    fn part(&mut self, integers: RangeInclusive<i64>) -> io::Result<()> {
        let mut last = 0;
        while let Some((field, kind)) = self.field(&mut last)? {
            if integers.contains(&field) && kind != INTEGER_32 {
                return Err(no_header());
            }
            self.skip(kind, DEEPEST)?;
        }
        Ok(())
    }

    fn metadata(&mut self) -> io::Result<()> {
        let mut last = 0;
        while let Some((field, kind)) = self.field(&mut last)? {
            match (field, kind) {
                (2, LIST) => self.schema()?,
                // What the crate takes for granted: others would have it read other bytes.
                (1, INTEGER_32) | (3, INTEGER_64) | (4 | 5 | 7, LIST) | (6, BINARY) => {
                    self.skip(kind, DEEPEST)?;
                }
                (1..=7, _) => return Err(no_header()),
                _ => self.skip(kind, DEEPEST)?,
            }
        }
        Ok(())
    }

    fn schema(&mut self) -> io::Result<()> {
        let (length, kind) = self.list()?;
        if kind != STRUCT {
            return Err(no_header());
        }
        for _ in 0..length {
            let mut last = 0;
            while let Some((field, kind)) = self.field(&mut last)? {
                let expected = match field {
                    1..=3 | 5..=9 => INTEGER_32,
                    4 => BINARY,
                    10 => STRUCT,
                    _ => kind,
                };
                if kind != expected {
                    return Err(no_header());
                }
                if field != 5 {
                    self.skip(kind, DEEPEST)?;
                } else if u64::try_from(self.integer()?).map_or(true, |count| count > length) {
                    return Err(no_header());
                }
            }
        }
        Ok(())
    }

    /// Length of a list and the type of its elements.
    fn list(&mut self) -> io::Result<(u64, u8)> {
        let head = self.byte()?;
        let length = match head >> 4 {
            15 => self.variable()?,
            length => u64::from(length),
        };
        Ok((length, head & 0x0f))
    }

    /// The next field's number and type; none at the end of the struct.
    fn field(&mut self, last: &mut i64) -> io::Result<Option<(i64, u8)>> {
        let byte = self.byte()?;
        if byte == STOP {
            return Ok(None);
        }
        *last = match byte >> 4 {
            0 => self.integer()?,
            step => *last + i64::from(step),
        };
        // Numbers are of 16 bits: larger ones stand for others.
        if !(0..=i64::from(i16::MAX)).contains(last) {
            return Err(no_header());
        }
        Ok(Some((*last, byte & 0x0f)))
    }

    fn skip(&mut self, kind: u8, depth: u32) -> io::Result<()> {
        let depth = depth.checked_sub(1).ok_or_else(no_header)?;
        match kind {
            // A boolean is in the type.
            1 | 2 => {}
            3 => drop(self.byte()?),
            4..=6 => drop(self.variable()?),
            7 => self.pass(8)?,
            BINARY => {
                let length = self.variable()?;
                self.pass(length)?;
            }
            LIST | 10 => {
                let (length, kind) = self.list()?;
                for _ in 0..length {
                    self.element(kind, depth)?;
                }
            }
            11 => {
                let length = self.variable()?;
                let kinds = if length == 0 { 0 } else { self.byte()? };
                for _ in 0..length {
                    self.element(kinds >> 4, depth)?;
                    self.element(kinds & 0x0f, depth)?;
                }
            }
            STRUCT => {
                let mut last = 0;
                while let Some((_, kind)) = self.field(&mut last)? {
                    self.skip(kind, depth)?;
                }
            }
            _ => return Err(no_header()),
        }
        Ok(())
    }

    /// An element of a list. Booleans would take a byte, but the crate takes none for them, however
    /// many there are; no field of Parquet is a list of them.
    fn element(&mut self, kind: u8, depth: u32) -> io::Result<()> {
        match kind {
            1 | 2 => Err(no_header()),
            kind => self.skip(kind, depth),
        }
    }

    fn byte(&mut self) -> io::Result<u8> {
        let mut byte = [0];
        self.0.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    /// An integer of variable length.
    fn variable(&mut self) -> io::Result<u64> {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(value);
            }
        }
        Err(no_header())
    }

    /// The same with a sign, in zigzag.
    fn integer(&mut self) -> io::Result<i64> {
        let value = self.variable()?;
        Ok((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
    }

    fn pass(&mut self, bytes: u64) -> io::Result<()> {
        let passed = io::copy(&mut self.0.by_ref().take(bytes), &mut io::sink())?;
        if passed == bytes {
            Ok(())
        } else {
            Err(ErrorKind::UnexpectedEof.into())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    /// A header of a data page that claims 100 bytes of 3 values and has 4, and these.
    const PAGE: &[u8] = &[
        0x15, 0x00, // 1: DATA_PAGE
        0x15, 0xc8, 0x01, // 2: 100
        0x15, 0x08, // 3: 4
        0x2c, // 5: a struct
        0x15, 0x06, // 1: 3 values
        0x15, 0x00, 0x15, 0x06, 0x15, 0x06, 0x1c, // 2, 3, 4, and 5: statistics
        0x18, 0x02, 9, 9, // 1: two bytes
        0x00, 0x00, 0x00, // the end, three times
        1, 2, 3, 4,
    ];

    #[test]
    fn pages_are_found_one_after_the_other() {
        let mut larger = PAGE.to_vec();
        larger[4] = 0x7f;
        let file = [b"PAR1", PAGE, &larger, PAGE].concat();
        let bytes = (3 * PAGE.len()) as u64;
        let claim = |bytes| largest_claim(&mut Cursor::new(&file), 4, bytes);
        assert_eq!(claim(bytes).unwrap(), 8164);
        assert_eq!(claim(PAGE.len() as u64).unwrap(), 100);
        assert_eq!(claim(0).unwrap(), 0);
        assert!(claim(bytes - PAGE.len() as u64 + 1).is_err());
    }

    #[test]
    fn what_is_cut_off_or_endless_is_no_header() {
        for end in 1..PAGE.len() - 4 {
            assert!(largest_claim(&mut Cursor::new(&PAGE[..end]), 0, end as u64).is_err());
        }
        for bytes in [[0x1c; 400], [0x19; 400], [0xff; 400], [0x1f; 400]] {
            assert!(largest_claim(&mut Cursor::new(bytes), 0, 400).is_err());
        }
    }
}
