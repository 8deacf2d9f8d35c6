//! A text in chunks of whole lines.

use std::io::Read;

use super::error::Fault;
use super::input::Source;

/// Bytes of a chunk, unless there is reason for another size.
pub(super) const CHUNK: usize = 1 << 20;

/// Where and why a text ended early: after all the lines of the chunks before.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) name: String,
    pub(super) fault: Fault,
}

/// Cuts a source into chunks of about `size` bytes that end at line ends, smaller ones where they
/// would be much of the `limit`: there are some on their way, and each is parsed before anybody
/// looks at what that takes. A longer line makes a chunk of its own, unless it takes more than
/// `limit` bytes.
pub(super) struct Chunks<'r> {
    source: Source<'r>,
    size: usize,
    limit: Option<u64>,
    /// The beginning of a line that has not ended yet.
    rest: Vec<u8>,
    failure: Option<Fault>,
    ended: bool,
}

impl<'r> Chunks<'r> {
    pub(super) fn new(source: Source<'r>, size: usize, limit: Option<u64>) -> Self {
        let share = limit.map_or(u64::MAX, |limit| limit / 32).max(1 << 12);
        Self {
            source,
            size: size.min(usize::try_from(share).unwrap_or(usize::MAX)),
            limit,
            rest: Vec::new(),
            failure: None,
            ended: false,
        }
    }

    /// The next chunk; none at the end of the text. What precedes a failure comes before it,
    /// except for the line in which it happened.
    pub(super) fn next(&mut self) -> Result<Option<Vec<u8>>, Failure> {
        let mut text = std::mem::take(&mut self.rest);
        let mut cut = None;
        while cut.is_none() && !self.ended {
            let before = text.len();
            self.fill(&mut text);
            cut = memchr::memrchr(b'\n', &text[before..]).map(|end| before + end + 1);
            self.check_length(&text, cut);
        }
        if !self.ended || self.failure.is_some() {
            // Without a line end all is rest, which may be too long to copy.
            match cut {
                None => self.rest = std::mem::take(&mut text),
                Some(cut) => {
                    self.rest.extend_from_slice(&text[cut..]);
                    text.truncate(cut);
                }
            }
        }
        if !text.is_empty() {
            return Ok(Some(text));
        }
        match self.failure.take() {
            None => Ok(None),
            Some(fault) => Err(self.failed(fault)),
        }
    }

    /// Whether the chunks so far were all, and nothing failed.
    pub(super) fn are_done(&self) -> bool {
        self.ended && self.failure.is_none() && self.rest.is_empty()
    }

    /// Appends about a chunk's worth of text.
    fn fill(&mut self, text: &mut Vec<u8>) {
        let wanted = self.size.saturating_sub(text.len()).max(self.size / 2 + 1);
        text.reserve(wanted);
        match self.source.by_ref().take(wanted as u64).read_to_end(text) {
            Ok(read) => self.ended = read < wanted,
            Err(error) => self.fail(self.source.fault(&error)),
        }
    }

    fn check_length(&mut self, text: &[u8], cut: Option<usize>) {
        let length = text.len() - cut.unwrap_or(0);
        if let Some(limit) = self.limit
            && length as u64 > limit
            && self.failure.is_none()
        {
            self.fail(Fault::too_large(
                limit,
                &format!("a line of more than {length} bytes"),
            ));
        }
    }

    fn fail(&mut self, fault: Fault) {
        self.failure = Some(fault);
        self.ended = true;
    }

    fn failed(&mut self, fault: Fault) -> Failure {
        Failure {
            name: self.source.name.clone(),
            fault: fault.at_column(self.rest.len() + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::error::ReadErrorKind;
    use super::super::input::tests::gz;
    use super::*;

    fn chunks(bytes: &[u8], size: usize, limit: Option<u64>) -> (Vec<Vec<u8>>, Option<Failure>) {
        let source = Source::new(bytes, "x", None).unwrap();
        let mut chunks = Chunks::new(source, size, limit);
        let mut texts = Vec::new();
        loop {
            match chunks.next() {
                Ok(Some(text)) => texts.push(text),
                Ok(None) => return (texts, None),
                Err(failure) => return (texts, Some(failure)),
            }
        }
    }

    #[test]
    fn chunks_end_where_lines_end() {
        let text = b"a\nbb\n\nccccccccccccccccccccccccc\nd\ne";
        for size in 1..40 {
            let (chunks, failure) = chunks(text, size, None);
            assert!(failure.is_none());
            assert_eq!(chunks.concat(), text);
            let (last, whole) = chunks.split_last().unwrap();
            assert!(whole.iter().all(|chunk| chunk.ends_with(b"\n")));
            assert!(last.ends_with(b"e"));
        }
    }

    #[test]
    fn a_failure_comes_after_the_lines_before_it() {
        let lines = (0..2000u32).map(|i| i.wrapping_mul(2_654_435_761).to_string());
        let noise = lines.collect::<Vec<_>>().join("\n");
        let whole = gz(noise.as_bytes());
        let mut seen = Vec::new();
        for size in [16, 1000, 1 << 20] {
            let (chunks, failure) = chunks(&whole[..whole.len() / 2], size, None);
            let failure = failure.unwrap();
            assert_eq!(failure.fault.kind, ReadErrorKind::Truncated);
            let text = chunks.concat();
            assert!(noise.as_bytes().starts_with(&text) && text.ends_with(b"\n"));
            seen.push((text.len(), failure.fault.column));
        }
        seen.dedup();
        assert_eq!(seen.len(), 1);
    }

    #[test]
    fn a_line_longer_than_the_limit_stops() {
        let text = [b"a\n", &[b'b'; 1000][..]].concat();
        let (chunks, failure) = chunks(&text, 16, Some(100));
        assert_eq!(chunks.concat(), b"a\n");
        assert_eq!(failure.unwrap().fault.kind, ReadErrorKind::TooLarge);
    }
}
