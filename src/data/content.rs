//! The hashed content of a data set.

use super::columns::Column;
use super::dataset::Dataset;
use super::hash::DataHash;

/// Bytes hashed at once.
const BUFFER: usize = 1 << 16;

/// Bytes of an entry.
const ENTRY: usize = 16;

impl DataHash {
    /// Hashes `dataset`, in time linear in its entries.
    pub fn of(dataset: &Dataset<'_>) -> Self {
        let mut content = Content::new(dataset);
        content.columns(dataset);
        content.others(dataset).finish()
    }
}

/// The hashed bytes. Every part of variable length has its length before it, so different contents have different
/// bytes.
pub(crate) struct Content {
    hasher: blake3::Hasher,
    gathered: Vec<u8>,
}

impl Content {
    /// `dataset` without its columns, which follow by feature.
    pub(crate) fn new(dataset: &Dataset<'_>) -> Self {
        let mut content = Self {
            hasher: blake3::Hasher::new(),
            gathered: Vec::with_capacity(2 * BUFFER),
        };
        content.text("rankrls.data/1");
        content.number(dataset.width() as u64);
        content.queries(dataset);
        for label in dataset.labels() {
            content.float(*label);
        }
        content
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.gathered.extend_from_slice(bytes);
        self.hash_full();
    }

    /// Hashes full buffers. BLAKE3 is fastest on pieces of one length, a power of 2.
    fn hash_full(&mut self) {
        let full = self.gathered.len() / BUFFER * BUFFER;
        if full > 0 {
            self.hasher.update(&self.gathered[..full]);
            self.gathered.drain(..full);
        }
    }

    fn number(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// Adding 0 makes -0 and 0 equal.
    fn float(&mut self, number: f64) {
        self.bytes(&(number + 0.0).to_bits().to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    fn queries(&mut self, dataset: &Dataset<'_>) {
        let queries = dataset.queries();
        self.number(queries.len() as u64);
        for &offset in queries.offsets() {
            self.number(u64::from(offset));
        }
        self.number(queries.ids().map_or(0, |ids| ids.len() as u64));
        for id in queries
            .ids()
            .into_iter()
            .flat_map(rankrls_files::Strings::iter)
        {
            self.text(id);
        }
    }

    fn column(&mut self, feature: u32, column: Column<'_>) {
        let count = column.values.iter().filter(|&&value| value != 0.0).count();
        if count == 0 {
            return;
        }
        self.number(u64::from(feature));
        self.number(count as u64);
        let mut rest = column;
        while !rest.rows.is_empty() {
            let some = rest.take_entries(rest.rows.len().min(BUFFER / ENTRY));
            self.entries(some);
        }
    }

    /// The entries other than 0 of a part of a column.
    fn entries(&mut self, part: Column<'_>) {
        let count = part.values.iter().filter(|&&value| value != 0.0).count();
        let before = self.gathered.len();
        self.gathered.resize(before + ENTRY * count, 0);
        let places = self.gathered[before..].as_chunks_mut::<ENTRY>().0;
        let write = |((row, value), place): ((u32, f64), &mut [u8; ENTRY])| {
            place[..8].copy_from_slice(&u64::from(row).to_le_bytes());
            place[8..].copy_from_slice(&value.to_bits().to_le_bytes());
        };
        if count == part.values.len() {
            part.entries().zip(places).for_each(write);
        } else {
            let entries = part.entries().filter(|&(_, value)| value != 0.0);
            entries.zip(places).for_each(write);
        }
        self.hash_full();
    }

    /// The columns of `dataset`.
    pub(crate) fn columns(&mut self, dataset: &Dataset<'_>) {
        for position in 0..dataset.stored_columns() {
            self.column(dataset.feature(position), dataset.column(position));
        }
    }

    /// The scores of a teacher and the validation rows.
    pub(crate) fn others(mut self, dataset: &Dataset<'_>) -> Self {
        if let Some(scores) = dataset.teacher() {
            self.text("teacher");
            for score in scores {
                self.float(*score);
            }
        }
        if let Some(validation) = dataset.validation() {
            self.text("validation");
            self.text(&DataHash::of(validation).to_string());
        }
        self
    }

    pub(crate) fn finish(mut self) -> DataHash {
        self.hasher.update(&self.gathered);
        DataHash(self.hasher.finalize())
    }
}

#[cfg(test)]
mod tests {
    use super::super::read::ReadOptions;
    use super::super::{IndexBase, Queries, parsed};
    use super::*;

    fn hash(text: &str) -> DataHash {
        DataHash::of(&parsed(text))
    }

    const TEXT: &str = "1 qid:a 1:0.5 3:2\n0 qid:a\n2 qid:b 2:1\n";

    #[test]
    fn formatting_does_not_count() {
        let same = "# x\n1.0 qid:a  1:5e-1 2:0 3:2 # y\r\n-0 qid:a\n\n2 qid:b 2:1.0";
        assert_eq!(hash(TEXT), hash(same));
        let text = TEXT.replace("3:", "2:").replace(" 2:1\n", " 1:1\n");
        let text = text.replace(" 1:0.5", " 0:0.5");
        let zero = ReadOptions::new().zero_based(true).width(3);
        let zero = zero.read_from(text.as_bytes(), "f").unwrap().dataset;
        assert_eq!(zero.index_base(), IndexBase::Zero);
        assert_eq!(DataHash::of(&zero), hash(TEXT));
    }

    #[test]
    fn all_content_counts() {
        let others = [
            TEXT.replace("1 qid:a", "1.5 qid:a"),
            TEXT.replace("qid:b", "qid:c"),
            TEXT.replace("0 qid:a\n2 qid:b", "0 qid:b\n2 qid:b"),
            TEXT.replace("qid:a", "").replace("qid:b", ""),
            TEXT.replace("3:2", "3:3"),
            TEXT.replace("3:2", "4:2"),
            TEXT.replace("0 qid:a", "0 qid:a 1:1"),
        ];
        for other in others {
            assert_ne!(hash(TEXT), hash(&other), "{other}");
        }
    }

    #[test]
    fn stored_zeros_do_not_count() {
        let with = |indptr: &[usize], rows: &[u32], values: &[f64]| {
            let queries = Queries::single(2).unwrap();
            let labels = vec![1.0, 0.0];
            let data = Dataset::from_csc(indptr, rows, values, labels, queries).unwrap();
            DataHash::of(&data)
        };
        let zeros = with(&[0, 2, 3], &[0, 1, 0], &[1.0, 0.0, 0.0]);
        assert_eq!(with(&[0, 1, 1], &[0], &[1.0]), zeros);
    }
}
