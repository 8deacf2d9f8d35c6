//! Headers of NumPy's arrays: a dictionary as Python writes it.

/// What the elements of an array are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Boolean,
    Signed,
    Unsigned,
    Float,
    /// Bytes filled up with zeros.
    Bytes,
    /// Characters of four bytes, filled up with zeros.
    Text,
}

/// What a header says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Header {
    pub(super) kind: Kind,
    /// Bytes of an element, at least 1.
    pub(super) size: usize,
    pub(super) big_endian: bool,
    pub(super) shape: Vec<u64>,
    /// The type as it is written.
    pub(super) descr: String,
}

impl Header {
    /// Elements of all dimensions; a scalar has one.
    pub(super) fn count(&self) -> u64 {
        let product = |count: u64, &length: &u64| count.saturating_mul(length);
        self.shape.iter().fold(1, product)
    }
}

/// What was expected and what was found.
type Bad = (&'static str, String);

const HEADER: &str = "a header with descr, fortran_order and shape";
const TYPES: &str =
    "booleans, integers of 1 to 8 bytes, floats of 4 or 8 bytes, or text (convert with astype)";

/// Reads the text of a header.
pub(super) fn parse(text: &[u8]) -> Result<Header, Bad> {
    let mut parser = Parser(text);
    let (mut descr, mut shape) = (None, None);
    let outcome = (|| {
        parser.token(b'{')?;
        while !parser.skip(b'}') {
            let key = parser.string()?;
            parser.token(b':')?;
            match key {
                "descr" => descr = Some(parser.string()?),
                "fortran_order" => parser.boolean()?,
                "shape" => shape = Some(parser.tuple()?),
                _ => return None,
            }
            if !parser.skip(b',') {
                parser.token(b'}')?;
                break;
            }
        }
        Some(())
    })();
    let whole = || (HEADER, super::error::quote(text));
    outcome.ok_or_else(whole)?;
    let (Some(descr), Some(shape)) = (descr, shape) else {
        return Err(whole());
    };
    let (big_endian, kind, size) =
        element(descr).ok_or_else(|| (TYPES, super::error::quote(descr.as_bytes())))?;
    Ok(Header {
        kind,
        size,
        big_endian,
        shape,
        descr: super::error::quote(descr.as_bytes()),
    })
}

/// Whether the type has big ends, its kind, and its bytes.
fn element(descr: &str) -> Option<(bool, Kind, usize)> {
    let (order, rest) = match descr.as_bytes().first()? {
        b'<' | b'=' | b'|' => (false, &descr[1..]),
        b'>' => (true, &descr[1..]),
        _ => (false, descr),
    };
    let kind = match rest.as_bytes().first()? {
        b'b' => Kind::Boolean,
        b'i' => Kind::Signed,
        b'u' => Kind::Unsigned,
        b'f' => Kind::Float,
        b'S' => Kind::Bytes,
        b'U' => Kind::Text,
        _ => return None,
    };
    let size: usize = rest[1..].parse().ok()?;
    let size = match kind {
        Kind::Text => size.checked_mul(4)?,
        _ => size,
    };
    let legal = match kind {
        Kind::Boolean => size == 1,
        Kind::Signed | Kind::Unsigned => matches!(size, 1 | 2 | 4 | 8),
        Kind::Float => matches!(size, 4 | 8),
        Kind::Bytes | Kind::Text => size > 0,
    };
    legal.then_some((order, kind, size))
}

/// What is left to read.
struct Parser<'a>(&'a [u8]);

impl<'a> Parser<'a> {
    fn trim(&mut self) {
        self.0 = self.0.trim_ascii_start();
    }

    fn skip(&mut self, byte: u8) -> bool {
        self.trim();
        match self.0.strip_prefix(&[byte]) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn token(&mut self, byte: u8) -> Option<()> {
        self.skip(byte).then_some(())
    }

    fn string(&mut self) -> Option<&'a str> {
        self.trim();
        let (&quote, rest) = self.0.split_first()?;
        if quote != b'\'' && quote != b'"' {
            return None;
        }
        let end = rest.iter().position(|&byte| byte == quote)?;
        self.0 = &rest[end + 1..];
        std::str::from_utf8(&rest[..end]).ok()
    }

    /// The order of the elements makes no difference in one dimension.
    fn boolean(&mut self) -> Option<()> {
        self.trim();
        let rest = self.0.strip_prefix(b"True");
        self.0 = rest.or_else(|| self.0.strip_prefix(b"False"))?;
        Some(())
    }

    fn tuple(&mut self) -> Option<Vec<u64>> {
        self.token(b'(')?;
        let mut numbers = Vec::new();
        while !self.skip(b')') {
            numbers.push(self.number()?);
            if !self.skip(b',') {
                self.token(b')')?;
                break;
            }
        }
        Some(numbers)
    }

    fn number(&mut self) -> Option<u64> {
        self.trim();
        let end = self.0.iter().take_while(|byte| byte.is_ascii_digit());
        let (digits, rest) = self.0.split_at(end.count());
        self.0 = rest;
        std::str::from_utf8(digits).ok()?.parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(Kind, usize, bool, Vec<u64>)> {
        let header = parse(text.as_bytes()).ok()?;
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
            with("'<f8'", &"(".repeat(60_000)),
        ] {
            assert!(parse(text.as_bytes()).is_err(), "{text}");
        }
        let header = parse(with("'<f8'", "(4294967296, 4294967296, 2)").as_bytes()).unwrap();
        assert_eq!(header.count(), u64::MAX);
    }
}
