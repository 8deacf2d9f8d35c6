//! From rows to columns.
//!
//! Text comes row by row, a [`Dataset`] stores columns. The entries are counted
//! by column, the counts are summed into column bounds, and every entry is
//! written to the next free place of its column: two passes over the rows, no
//! sorting of entries. To do it on several threads, the columns are cut into
//! spans of about equal numbers of entries (quantiles of a sample), each with
//! its own piece of the output; the indices of a row ascend, so that bisection
//! finds the part of each span. Walking rows in order leaves the rows of every
//! column ascending, whatever the spans: the result does not depend on the
//! number of threads.
//!
//! Memory above rows and result: at most a byte an entry for the bounds of those
//! parts, and a counter for each column of the spans at work while these are few
//! for their entries, otherwise the indices of those spans to sort, or all of
//! their entries if most columns have only a few. An index of four thousand
//! million costs what any other costs.

use std::ops::Range;

use rayon::prelude::*;

use super::{Dataset, DatasetError, Queries};

/// Consecutive rows of a sparse matrix: indices ascend within a row.
#[derive(Debug, Default)]
pub(crate) struct RowBlock {
    /// Where in `indices` each row ends.
    pub(crate) ends: Vec<usize>,
    pub(crate) indices: Vec<u32>,
    pub(crate) values: Vec<f64>,
}

impl RowBlock {
    pub(crate) fn rows(&self) -> Rows<'_> {
        Rows {
            ends: &self.ends,
            indices: &self.indices,
            values: &self.values,
        }
    }
}

/// A borrowed [`RowBlock`].
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rows<'a> {
    pub(crate) ends: &'a [usize],
    pub(crate) indices: &'a [u32],
    pub(crate) values: &'a [f64],
}

impl<'a> Rows<'a> {
    /// Row `row` of the block.
    pub(crate) fn row(&self, row: usize) -> Row<'a> {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        let range = start..self.ends[row];
        Row {
            indices: &self.indices[range.clone()],
            values: &self.values[range],
        }
    }
}

/// The entries of a row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    indices: &'a [u32],
    values: &'a [f64],
}

impl<'a> Row<'a> {
    /// Entries by their positions in the row.
    fn slice(self, range: Range<usize>) -> Row<'a> {
        Row {
            indices: &self.indices[range.clone()],
            values: &self.values[range],
        }
    }

    /// Pairs of index and value.
    pub(crate) fn iter(self) -> impl Iterator<Item = (u32, f64)> + 'a {
        self.indices
            .iter()
            .copied()
            .zip(self.values.iter().copied())
    }
}

/// Rows of a matrix in blocks, to be walked in order or in another `order`:
/// the position in the blocks of every row.
struct RowMajor<'a> {
    blocks: &'a [Rows<'a>],
    /// The first row of every block.
    starts: Vec<usize>,
    order: Option<&'a [u32]>,
}

impl<'a> RowMajor<'a> {
    fn new(blocks: &'a [Rows<'a>], order: Option<&'a [u32]>) -> Self {
        let starts = blocks
            .iter()
            .scan(0, |rows, block| {
                let start = *rows;
                *rows += block.ends.len();
                Some(start)
            })
            .collect();
        Self {
            blocks,
            starts,
            order,
        }
    }

    fn entries(&self) -> usize {
        self.blocks.iter().map(|block| block.indices.len()).sum()
    }

    fn rows(&self) -> usize {
        self.blocks.iter().map(|block| block.ends.len()).sum()
    }

    /// Calls `each` with the number of every row, its block and its place there, in order.
    fn visit(&self, mut each: impl FnMut(u32, usize, usize)) {
        if let Some(order) = self.order {
            for (&position, number) in order.iter().zip(0..) {
                let (block, row) = self.find(position as usize);
                each(number, block, row);
            }
            return;
        }
        let blocks = self.blocks.iter().enumerate();
        let rows = blocks.flat_map(|(at, block)| (0..block.ends.len()).map(move |row| (at, row)));
        for ((block, row), number) in rows.zip(0..) {
            each(number, block, row);
        }
    }

    fn find(&self, position: usize) -> (usize, usize) {
        let block = self.starts.partition_point(|&start| start <= position) - 1;
        (block, position - self.starts[block])
    }
}

/// A matrix whose rows are cut where its spans of columns begin.
struct Cut<'a> {
    matrix: &'a RowMajor<'a>,
    spans: Vec<Span>,
    /// For each block, and there for each row and each span but the first, how many entries
    /// come before it.
    cuts: Vec<Vec<u32>>,
}

impl<'a> Cut<'a> {
    fn new(matrix: &'a RowMajor<'a>, spans: Vec<Span>) -> Self {
        let later = spans.get(1..).unwrap_or_default();
        let cuts = matrix.blocks.par_iter().map(|block| {
            let rows = (0..block.ends.len()).map(|row| block.row(row));
            rows.flat_map(|row| cut_row(row, later)).collect()
        });
        let cuts = cuts.collect();
        Self {
            matrix,
            spans,
            cuts,
        }
    }

    /// Calls `each` with the number of every row and its entries in the span at `at`, in order.
    fn visit(&self, at: usize, mut each: impl FnMut(u32, Row<'a>)) {
        let later = self.spans.len() - 1;
        self.matrix.visit(|number, block, row| {
            let cuts = &self.cuts[block][row * later..(row + 1) * later];
            let row = self.matrix.blocks[block].row(row);
            let start = at.checked_sub(1).map_or(0, |at| cuts[at] as usize);
            let end = cuts.get(at).map_or(row.indices.len(), |&end| end as usize);
            each(number, row.slice(start..end));
        });
    }
}

/// How many entries of `row` come before each of the spans.
fn cut_row(row: Row<'_>, spans: &[Span]) -> impl Iterator<Item = u32> {
    let mut before = 0;
    spans.iter().map(move |span| {
        before += row.indices[before..].partition_point(|&index| index < span.first);
        // Strictly ascending 32-bit indices are fewer than 2^32, unless every one is there.
        u32::try_from(before).expect("entries before an index")
    })
}

/// Columns `first..=last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Span {
    first: u32,
    last: u32,
}

impl Span {
    fn columns(self) -> usize {
        self.last as usize - self.first as usize + 1
    }
}

/// The occupied columns of a span.
struct Part {
    /// Position of the span.
    at: usize,
    features: Vec<u32>,
    /// Entries of each.
    counts: Vec<u32>,
    /// Whether columns are few enough for an array over all of the span.
    direct: bool,
}

impl Part {
    fn entries(&self) -> usize {
        self.counts.iter().map(|&count| count as usize).sum()
    }
}

/// Compressed columns of which each has an entry.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Occupied {
    /// The 0-based feature of every column, ascending.
    pub(crate) features: Vec<u32>,
    pub(crate) indptr: Vec<usize>,
    pub(crate) rows: Vec<u32>,
    pub(crate) values: Vec<f64>,
}

impl Occupied {
    /// The data set of these columns among `width`.
    pub(crate) fn into_dataset(
        self,
        width: usize,
        labels: Vec<f64>,
        queries: Queries,
    ) -> Result<Dataset<'static>, DatasetError> {
        let all = self.features.len() == width;
        let dataset = Dataset::from_csc(self.indptr, self.rows, self.values, labels, queries)?;
        if all {
            return Ok(dataset);
        }
        dataset.with_features(self.features, width)
    }
}

/// The occupied columns of at most 2^32 - 1 rows, taken in `order` if there is one.
pub(crate) fn transpose(blocks: &[Rows<'_>], order: Option<&[u32]>) -> Occupied {
    transpose_in(
        &RowMajor::new(blocks, order),
        4 * rayon::current_num_threads(),
    )
}

fn transpose_in(matrix: &RowMajor<'_>, most_spans: usize) -> Occupied {
    let cut = Cut::new(matrix, spans(matrix, most_spans));
    let spans = (0..cut.spans.len()).into_par_iter();
    let parts: Vec<Part> = spans.map(|at| count(&cut, at)).collect();
    let mut rows = vec![0; matrix.entries()];
    let mut values = vec![0.0; matrix.entries()];
    let (mut rows_left, mut values_left) = (rows.as_mut_slice(), values.as_mut_slice());
    let mut tasks = Vec::with_capacity(parts.len());
    for part in &parts {
        let rows = rows_left.split_off_mut(..part.entries());
        let values = values_left.split_off_mut(..part.entries());
        tasks.extend(rows.zip(values).map(|(rows, values)| (part, rows, values)));
    }
    tasks
        .into_par_iter()
        .for_each(|(part, rows, values)| fill(&cut, part, rows, values));
    let (features, indptr) = bounds(&parts);
    Occupied {
        features,
        indptr,
        rows,
        values,
    }
}

fn bounds(parts: &[Part]) -> (Vec<u32>, Vec<usize>) {
    let columns = parts.iter().map(|part| part.features.len()).sum();
    let mut features = Vec::with_capacity(columns);
    let mut indptr = Vec::with_capacity(columns + 1);
    indptr.push(0);
    let mut end = 0;
    for part in parts {
        features.extend_from_slice(&part.features);
        indptr.extend(part.counts.iter().map(|&count| {
            end += count as usize;
            end
        }));
    }
    (features, indptr)
}

/// At most `most` spans that cover the columns, each with about as many entries.
fn spans(matrix: &RowMajor<'_>, most: usize) -> Vec<Span> {
    // Cutting a row costs like walking some entries: short rows make few spans.
    const SLICE: usize = 4;
    const SAMPLE: usize = 4096;
    let entries = matrix.entries();
    let Some(last) = last_index(matrix) else {
        return Vec::new();
    };
    let worth_it = entries / (SLICE * matrix.rows().max(SAMPLE / SLICE));
    let spans = worth_it.clamp(1, most.max(1));
    let stride = entries.div_ceil(SAMPLE);
    let mut sample: Vec<u32> = matrix
        .blocks
        .iter()
        .flat_map(|block| block.indices.iter().step_by(stride).copied())
        .collect();
    sample.sort_unstable();
    let mut firsts: Vec<u32> = (1..spans)
        .map(|span| sample[span * sample.len() / spans])
        .filter(|&first| first > 0)
        .collect();
    firsts.insert(0, 0);
    firsts.dedup();
    let lasts = firsts[1..].iter().map(|&next| next - 1).chain([last]);
    let spans = firsts.iter().zip(lasts);
    spans.map(|(&first, last)| Span { first, last }).collect()
}

fn last_index(matrix: &RowMajor<'_>) -> Option<u32> {
    let last_of = |block: &Rows<'_>| {
        (0..block.ends.len())
            .filter_map(|row| block.row(row).indices.last().copied())
            .max()
    };
    matrix.blocks.iter().filter_map(last_of).max()
}

/// Counts the entries of each occupied column of the span at `at`.
fn count(cut: &Cut<'_>, at: usize) -> Part {
    // All spans have about as many entries. Four counters for each, 16 bytes, are what one
    // span may take for a while.
    let share = cut.matrix.entries() / cut.spans.len();
    let direct = cut.spans[at].columns() / 4 <= share;
    let (features, counts) = if direct {
        count_directly(cut, at)
    } else {
        count_sorted(cut, at)
    };
    Part {
        at,
        features,
        counts,
        direct,
    }
}

fn count_directly(cut: &Cut<'_>, at: usize) -> (Vec<u32>, Vec<u32>) {
    let span = cut.spans[at];
    let mut counts = vec![0u32; span.columns()];
    cut.visit(at, |_, row| {
        for &index in row.indices {
            counts[(index - span.first) as usize] += 1;
        }
    });
    (span.first..=span.last)
        .zip(counts)
        .filter(|&(_, count)| count > 0)
        .unzip()
}

fn count_sorted(cut: &Cut<'_>, at: usize) -> (Vec<u32>, Vec<u32>) {
    let mut indices = Vec::new();
    cut.visit(at, |_, row| indices.extend_from_slice(row.indices));
    indices.par_sort_unstable();
    indices
        .chunk_by(|left, right| left == right)
        // A column has at most one entry a row, and rows are counted in 32 bits.
        .map(|run| (run[0], u32::try_from(run.len()).expect("a count of rows")))
        .unzip()
}

/// Writes the entries of the columns of `part`.
fn fill(cut: &Cut<'_>, part: &Part, rows: &mut [u32], values: &mut [f64]) {
    let mut free = Vec::with_capacity(part.features.len());
    let mut end = 0;
    for &count in &part.counts {
        free.push(end);
        end += count as usize;
    }
    if part.direct {
        return fill_directly(cut, part, &free, rows, values);
    }
    if part.features.len() > part.entries() / 4 {
        return fill_sorted(cut, part, rows, values);
    }
    cut.visit(part.at, |number, row| {
        let mut position = 0;
        for (index, value) in row.iter() {
            position += part.features[position..].partition_point(|&feature| feature < index);
            let place = &mut free[position];
            rows[*place] = number;
            values[*place] = value;
            *place += 1;
        }
    });
}

/// [`fill`] by an array over all columns of the span, where each one's entries begin at `free`.
fn fill_directly(cut: &Cut<'_>, part: &Part, free: &[usize], rows: &mut [u32], values: &mut [f64]) {
    let span = cut.spans[part.at];
    let first = span.first;
    let mut by_column = vec![0; span.columns()];
    for (&feature, &start) in part.features.iter().zip(free) {
        by_column[(feature - first) as usize] = start;
    }
    cut.visit(part.at, |number, row| {
        for (index, value) in row.iter() {
            let place = &mut by_column[(index - first) as usize];
            rows[*place] = number;
            values[*place] = value;
            *place += 1;
        }
    });
}

/// [`fill`] by sorting the entries, for columns with so few that finding each one's place in
/// memory would take longer. Allocates 16 bytes an entry.
fn fill_sorted(cut: &Cut<'_>, part: &Part, rows: &mut [u32], values: &mut [f64]) {
    let mut entries = Vec::with_capacity(rows.len());
    cut.visit(part.at, |number, row| {
        entries.extend(row.iter().map(|(index, value)| ((index, number), value)));
    });
    entries.par_sort_unstable_by_key(|(place, _)| *place);
    let places = rows.iter_mut().zip(values);
    for (((_, number), value), (row_place, value_place)) in entries.into_iter().zip(places) {
        *row_place = number;
        *value_place = value;
    }
}

impl Dataset<'static> {
    /// A data set from compressed rows: row `i` has the columns
    /// `columns[indptr[i]..indptr[i + 1]]`, strictly ascending and below `width`, and the values
    /// at the same places. Only the columns with an entry are stored; a value of zero is an
    /// entry.
    ///
    /// The rows are only read; the result takes 12 bytes an entry and 12 an occupied column.
    ///
    /// # Errors
    /// [`DatasetError`] when the arrays are no sparse matrix of as many rows as `queries` has,
    /// `width` is over 2^32 - 1, or a value or label is not finite.
    pub fn from_csr(
        indptr: &[usize],
        columns: &[u32],
        values: &[f64],
        width: usize,
        labels: Vec<f64>,
        queries: Queries,
    ) -> Result<Self, DatasetError> {
        let rows = check_rows(indptr, columns, values, &queries)?;
        if u32::try_from(width).is_err() {
            return Err(DatasetError::TooManyColumns { columns: width });
        }
        (0..rows.ends.len()).try_for_each(|row| check_row(row, rows.row(row), width))?;
        transpose(&[rows], None).into_dataset(width, labels, queries)
    }
}

fn check_rows<'a>(
    indptr: &'a [usize],
    columns: &'a [u32],
    values: &'a [f64],
    queries: &Queries,
) -> Result<Rows<'a>, DatasetError> {
    let lengths = [
        ("row bounds", queries.rows() + 1, indptr.len()),
        ("values", columns.len(), values.len()),
    ];
    for (what, expected, found) in lengths {
        if expected != found {
            return Err(DatasetError::Lengths {
                what,
                expected,
                found,
            });
        }
    }
    let ascending = indptr.windows(2).all(|pair| pair[0] <= pair[1]);
    if !ascending || indptr.first() != Some(&0) || indptr.last() != Some(&columns.len()) {
        return Err(DatasetError::Structure(format!(
            "expected row bounds that ascend from 0 to {}",
            columns.len()
        )));
    }
    Ok(Rows {
        ends: &indptr[1..],
        indices: columns,
        values,
    })
}

fn check_row(number: usize, row: Row<'_>, width: usize) -> Result<(), DatasetError> {
    let ascending = row.indices.windows(2).all(|pair| pair[0] < pair[1]);
    if !ascending || row.indices.last().is_some_and(|&i| i as usize >= width) {
        return Err(DatasetError::Structure(format!(
            "expected strictly ascending columns below {width} in row {number}"
        )));
    }
    match row.iter().find(|(_, value)| !value.is_finite()) {
        None => Ok(()),
        Some((column, value)) => Err(DatasetError::Value {
            row: number,
            column: column as usize,
            value,
        }),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::collection::{btree_set, vec};
    use proptest::prelude::*;

    use super::*;

    fn block(rows: &[Vec<u32>]) -> RowBlock {
        let mut block = RowBlock::default();
        for row in rows {
            for &index in row {
                block.values.push(f64::from(index) + row.len() as f64);
                block.indices.push(index);
            }
            block.ends.push(block.indices.len());
        }
        block
    }

    /// Columns by way of a map of maps.
    fn naive(rows: &[Vec<u32>]) -> Occupied {
        let mut columns: BTreeMap<u32, Vec<(u32, f64)>> = BTreeMap::new();
        for (row, number) in rows.iter().zip(0..) {
            for &index in row {
                let value = f64::from(index) + row.len() as f64;
                columns.entry(index).or_default().push((number, value));
            }
        }
        let mut result = Occupied {
            indptr: vec![0],
            ..Occupied::default()
        };
        for (feature, entries) in columns {
            result.features.push(feature);
            for (row, value) in entries {
                result.rows.push(row);
                result.values.push(value);
            }
            result.indptr.push(result.rows.len());
        }
        result
    }

    /// Rows whose indices lie near 0, far away, anywhere, or all of these.
    fn rows() -> impl Strategy<Value = Vec<Vec<u32>>> {
        let near = (any::<u32>(), 0..9u32).prop_map(|(far, near)| (far % 3) << 30 | near);
        let index = prop_oneof![3 => 0..40u32, 3 => near, 1 => any::<u32>(), 1 => Just(u32::MAX)];
        let row = btree_set(index, 0..60).prop_map(|row: BTreeSet<u32>| row.into_iter().collect());
        vec(row, 0..40)
    }

    proptest! {
        #[test]
        fn any_cut_gives_the_naive_columns(rows in rows(), spans in 1..40usize, at in 0..40usize) {
            let (front, back) = rows.split_at(at.min(rows.len()));
            let (front, back) = (block(front), block(back));
            let blocks = [front.rows(), back.rows()];
            prop_assert_eq!(transpose_in(&RowMajor::new(&blocks, None), spans), naive(&rows));
        }

        #[test]
        fn an_order_moves_rows(rows in rows(), seed in any::<u64>()) {
            let mut order: Vec<u32> = (0..).take(rows.len()).collect();
            order.sort_by_key(|&row| u64::from(row).wrapping_mul(seed | 1));
            let moved: Vec<_> = order.iter().map(|&row| rows[row as usize].clone()).collect();
            let block = block(&rows);
            let blocks = [block.rows()];
            prop_assert_eq!(transpose_in(&RowMajor::new(&blocks, Some(&order)), 3), naive(&moved));
        }
    }

    #[test]
    fn many_entries_make_several_spans_of_like_size() {
        let rows: Vec<Vec<u32>> = (0..300).map(|row| (row..row + 400).collect()).collect();
        let block = block(&rows);
        let blocks = [block.rows()];
        let matrix = RowMajor::new(&blocks, None);
        let cut = Cut::new(&matrix, spans(&matrix, 8));
        assert_eq!(cut.spans.len(), 8);
        assert_eq!(cut.spans[7].last, 698);
        for at in 0..8 {
            let entries = count(&cut, at).entries();
            assert!((13_000..17_000).contains(&entries), "{entries}");
        }
        assert_eq!(transpose_in(&matrix, 8), naive(&rows));
    }

    #[test]
    fn a_far_column_costs_no_more_than_a_near_one() {
        let dataset = Dataset::from_csr(
            &[0, 1, 2],
            &[4_000_000_000, 3],
            &[1.0, 2.0],
            4_000_000_001,
            vec![1.0, 0.0],
            Queries::single(2).unwrap(),
        )
        .unwrap();
        assert_eq!(dataset.width(), 4_000_000_001);
        assert_eq!(dataset.stored_columns(), 2);
        assert_eq!(dataset.feature(1), 4_000_000_000);
        assert_eq!(dataset.column(1).rows, [0]);
    }

    fn from_csr(
        indptr: &[usize],
        columns: &[u32],
        values: &[f64],
    ) -> Result<Dataset<'static>, DatasetError> {
        let queries = Queries::single(2).unwrap();
        Dataset::from_csr(indptr, columns, values, 5, vec![0.0, 1.0], queries)
    }

    #[test]
    fn compressed_rows_are_checked() {
        use DatasetError::{Lengths, Structure, Value};
        let checks: [(&[usize], &[u32], &[f64]); 5] = [
            (&[0, 2, 2], &[3, 1], &[1.0, 1.0]),
            (&[0, 2, 2], &[3, 3], &[1.0, 1.0]),
            (&[0, 1, 2], &[3, 5], &[1.0, 1.0]),
            (&[0, 2, 1], &[3, 4], &[1.0, 1.0]),
            (&[1, 1, 2], &[3, 4], &[1.0, 1.0]),
        ];
        for (indptr, columns, values) in checks {
            let error = from_csr(indptr, columns, values).unwrap_err();
            assert!(matches!(error, Structure(_)), "{error}");
        }
        let error = from_csr(&[0, 1], &[3], &[1.0]).unwrap_err();
        assert!(matches!(error, Lengths { expected: 3, .. }), "{error}");
        let error = from_csr(&[0, 1, 1], &[3], &[]).unwrap_err();
        assert!(matches!(error, Lengths { expected: 1, .. }), "{error}");
        let error = from_csr(&[0, 0, 1], &[3], &[f64::NAN]).unwrap_err();
        assert!(
            matches!(
                error,
                Value {
                    row: 1,
                    column: 3,
                    ..
                }
            ),
            "{error}"
        );
        assert!(from_csr(&[0, 1, 2], &[3, 1], &[1.0, 0.0]).is_ok());
    }
}
