//! Some rows of a large file, to tell what all of them will take.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use super::{Format, ReadOptions};
use crate::data::Dataset;

/// Bytes of a file from which on a sample is quicker than the whole.
const LARGE: u64 = 64 << 20;

/// Places in the file at which rows are read.
const PLACES: u64 = 16;

/// Bytes that are read at each.
const BYTES: u64 = 256 << 10;

/// Whole queries from all over a file.
#[derive(Debug)]
pub struct Sample {
    /// The rows.
    pub dataset: Dataset<'static>,
    /// How many times as much text there is in the file.
    pub factor: f64,
}

impl ReadOptions {
    /// Rows from all over a large file of plain svmlight text; none of other data, nor where queries
    /// are given besides, nor where something is wrong: reading tells.
    pub fn sample(&self, path: &Path) -> Option<Sample> {
        let plain = self.format.read(path) == Format::Svmlight && self.row_queries.is_none();
        let length = path
            .metadata()
            .ok()
            .filter(std::fs::Metadata::is_file)?
            .len();
        if !plain || length < LARGE {
            return None;
        }
        let mut file = File::open(path).ok()?;
        let mut text = Vec::new();
        for place in 0..PLACES {
            file.seek(SeekFrom::Start(length / PLACES * place)).ok()?;
            let mut piece = Vec::new();
            file.by_ref().take(BYTES).read_to_end(&mut piece).ok()?;
            text.extend_from_slice(whole_queries(&piece));
        }
        let factor = length as f64 / text.len() as f64;
        let options = Self {
            regroup: true,
            names: None,
            max_memory: None,
            spill: None,
            ..self.clone()
        };
        let loaded = options.read_from(&text[..], "a sample").ok()?;
        Some(Sample {
            dataset: loaded.dataset,
            factor,
        })
    }
}

/// The lines of a piece of text that is cut anywhere, but for the first and the last query.
fn whole_queries(text: &[u8]) -> &[u8] {
    let ends: Vec<usize> = memchr::memchr_iter(b'\n', text)
        .map(|end| end + 1)
        .collect();
    let query = |line: &[u8]| -> Option<Vec<u8>> {
        let start = memchr::memmem::find(line, b"qid:")?;
        let id = line[start..].split(u8::is_ascii_whitespace).next();
        id.map(<[u8]>::to_vec)
    };
    let ids: Vec<_> = ends
        .windows(2)
        .map(|line| query(&text[line[0]..line[1]]))
        .collect();
    let (Some(first), Some(last)) = (ids.first(), ids.last()) else {
        return &[];
    };
    let begin = ids.iter().position(|id| id.is_none() || id != first);
    let end = ids.iter().rposition(|id| id.is_none() || id != last);
    match begin.zip(end) {
        Some((begin, end)) if begin <= end => &text[ends[begin]..ends[end + 1]],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_cut_at_queries() {
        let text = b"4:1\n1 qid:a 1:1\n0 qid:a\n1 qid:b 2:1\n0 qid:b\n1 qid:c 1:1\n1 qid:c 2";
        assert_eq!(whole_queries(text), b"1 qid:b 2:1\n0 qid:b\n");
        assert_eq!(whole_queries(b"1\n1 1:1\n0 2:1\n3"), b"1 1:1\n0 2:1\n");
        for text in [
            &b"1 qid:a\n1 qid:a\n1 qid:a\n"[..],
            b"1 qid:a 1:1",
            b"\n",
            b"",
        ] {
            assert_eq!(whole_queries(text), b"");
        }
    }
}
