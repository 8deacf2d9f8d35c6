//! Sparse data like texts, drawn for benchmarks, studies and tests.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};
use rankrls::{Dataset, Queries};

/// Data whose columns follow Zipf's law: the column of rank `r` occurs in proportion to `1 / (r + 10)`, so most are
/// rare.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Zipf {
    pub(crate) rows: usize,
    /// Their sizes differ by one at most.
    pub(crate) queries: usize,
    pub(crate) columns: u32,
    /// At most a few tenths of rows times columns: rows are filled by trial.
    pub(crate) nonzeros: usize,
    /// Percentage of a row's entries that all rows of its query share, as parses of a sentence share its words.
    pub(crate) shared: usize,
    pub(crate) seed: u64,
}

impl Zipf {
    /// Hands every row to `take`: label, query, and entries by ascending column. Values are counts. A label is a
    /// grade from 0: half the values in every fiftieth column, plus noise of query and row.
    pub(crate) fn draw(&self, mut take: impl FnMut(f64, usize, &[(u32, f64)])) {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let mut row = 0;
        for query in 0..self.queries {
            let noise: f64 = random.random();
            let mut common = Vec::new();
            let count = self.nonzeros / self.rows * self.shared / 100;
            self.fill(&mut common, count, &mut random);
            while row < (query + 1) * self.rows / self.queries {
                let start = row * self.nonzeros / self.rows;
                row += 1;
                let count = row * self.nonzeros / self.rows - start;
                let mut entries = common.clone();
                self.fill(&mut entries, count, &mut random);
                let telling = entries.iter().filter(|(column, _)| column % 50 == 7);
                let sum: f64 = telling.map(|(_, value)| value).sum();
                let label = 0.5 * sum + noise + random.random_range(0.0..2.0);
                take(label.floor(), query, &entries);
            }
        }
    }

    /// Adds columns until there are `count`.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "columns have 32 bits"
    )]
    fn fill(&self, entries: &mut Vec<(u32, f64)>, count: usize, random: &mut ChaCha8Rng) {
        while entries.len() < count {
            for _ in entries.len()..count {
                let power = (1.0 + f64::from(self.columns) / 10.0).powf(random.random());
                let column = ((10.0 * power - 10.0) as u32).min(self.columns - 1);
                entries.push((column, if random.random_bool(0.2) { 2.0 } else { 1.0 }));
            }
            // Earlier entries stay.
            entries.sort_by_key(|&(column, _)| column);
            entries.dedup_by_key(|&mut (column, _)| column);
        }
    }

    /// The same as a data set.
    pub(crate) fn dataset(&self) -> Dataset<'static> {
        let (mut starts, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let (mut labels, mut sizes) = (Vec::new(), vec![0; self.queries]);
        self.draw(|label, query, entries| {
            columns.extend(entries.iter().map(|&(column, _)| column));
            values.extend(entries.iter().map(|&(_, value)| value));
            starts.push(columns.len());
            labels.push(label);
            sizes[query] += 1;
        });
        let queries = Queries::from_sizes(&sizes).expect("queries with rows");
        let width = self.columns as usize;
        let data = Dataset::from_csr(&starts, &columns, &values, width, labels, queries);
        data.expect("rows with ascending columns")
    }
}
