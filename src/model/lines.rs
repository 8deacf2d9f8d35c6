//! JSON with one feature a line.

use std::io::{self, Write};

use serde_json::ser::Formatter;

/// Breaks lines after the members of a document and of what they hold, not further inside.
#[derive(Debug, Default)]
pub(super) struct Lines {
    depth: usize,
}

/// How deep lines are broken.
const DEPTH: usize = 2;

impl Lines {
    fn open<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth += 1;
        writer.write_all(bracket)
    }

    fn close<W: ?Sized + Write>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.depth -= 1;
        if self.depth < DEPTH {
            writer.write_all(b"\n")?;
        }
        writer.write_all(bracket)
    }

    fn separate<W: ?Sized + Write>(&self, writer: &mut W, first: bool) -> io::Result<()> {
        if !first {
            writer.write_all(b",")?;
        }
        if self.depth <= DEPTH {
            writer.write_all(b"\n")?;
        }
        Ok(())
    }
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.separate(writer, first)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.separate(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        writer.write_all(b": ")
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize;
    use serde_json::json;

    use super::*;

    #[test]
    fn lines_are_broken_on_the_surface_only() {
        let value = json!({"a": [{"b": [1, 2]}, {"b": []}], "c": {"d": {"e": 1}}});
        let mut text = Vec::new();
        let mut serializer = serde_json::Serializer::with_formatter(&mut text, Lines::default());
        value.serialize(&mut serializer).unwrap();
        let text = String::from_utf8(text).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.contains(&"{\"b\": [1,2]},"), "{text}");
        assert!(lines.contains(&"\"d\": {\"e\": 1}"), "{text}");
        assert_eq!(
            serde_json::from_str::<serde_json::Value>(&text).unwrap(),
            value
        );
    }
}
