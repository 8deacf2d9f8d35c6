//! Which rank has a column.

use crate::columns::{Canonicaliser, mix, scattered};
use crate::data::{Column, Columns, Dataset, Queries};
use crate::peers::Peers;

/// Parts that the columns of a data set fall into, so that columns of one class meet: columns that
/// differ by a constant in each query, or in sign. Parts are about equal in their numbers of classes.
///
/// The part of a column depends on the column, the queries and the number of parts alone, and stays
/// from release to release, as parts are stored in files.
#[derive(Debug)]
pub struct Partition<'q> {
    canonicaliser: Canonicaliser<'q>,
    parts: usize,
}

impl<'q> Partition<'q> {
    /// `parts` parts of columns over `queries`, which `query_of_row` names for every row.
    ///
    /// # Panics
    /// When `parts` is 0.
    pub fn new(queries: &'q Queries, query_of_row: &'q [u32], parts: usize) -> Self {
        assert!(parts > 0, "no parts");
        Self {
            canonicaliser: Canonicaliser::new(queries, query_of_row),
            parts,
        }
    }

    /// The part of a column, from 0. O(non-zeros) time.
    pub fn part(&mut self, column: Column<'_>) -> usize {
        self.canonicaliser.canonicalise(column);
        let (form, mut hash) = (&self.canonicaliser.form, 0);
        if form.is_empty() {
            // Constant in every query: no candidate, and of no class.
            for (row, value) in column.iter().filter(|&(_, value)| value != 0.0) {
                hash = mix(hash, row as u64);
                hash = mix(hash, value.to_bits());
            }
        }
        for entry in form.entries() {
            hash = mix(hash, u64::from(entry.row));
            for number in [entry.value, entry.rounding] {
                // One zero of the two.
                hash = mix(hash, (number + 0.0).to_bits());
            }
        }
        let share = (u128::from(scattered(hash)) * self.parts as u128) >> 64;
        // Less than the parts.
        usize::try_from(share).unwrap_or(0)
    }

    /// The columns of `dataset` in one of `parts`, with all its rows, under their own numbers.
    ///
    /// # Panics
    /// When `parts` is 0.
    pub fn share(dataset: &Dataset<'_>, parts: usize, part: usize) -> Dataset<'static> {
        let query_of_row = dataset.queries().of_rows();
        let mut partition = Partition::new(dataset.queries(), &query_of_row, parts);
        let positions = 0..dataset.stored_columns();
        let own = positions.filter(|&position| partition.part(dataset.column(position)) == part);
        let features: Vec<u32> = own.map(|position| dataset.feature(position)).collect();
        let share = dataset.features_subset(&features);
        let checked = share.expect("features of the data, each once");
        checked.with_whole_of(dataset)
    }

    /// The columns that [`share`](Self::share) gives this rank of data of which each rank has some columns in
    /// `own`, parted or not: every rank is sent what is its own.
    #[expect(
        clippy::missing_panics_doc,
        reason = "columns of data sets are columns"
    )]
    pub fn exchange(own: &Dataset<'_>, peers: &dyn Peers) -> Dataset<'static> {
        let query_of_row = own.queries().of_rows();
        let mut partition = Partition::new(own.queries(), &query_of_row, peers.count());
        let mut parts = vec![Vec::new(); peers.count()];
        for position in 0..own.stored_columns() {
            let column = own.column(position);
            let entries = (column.rows.to_vec(), column.values.to_vec());
            parts[partition.part(column)].push((own.feature(position), entries));
        }
        let mut found = peers.each(parts).concat();
        found.sort_unstable_by_key(|&(feature, _)| feature);
        let mut columns = Columns::none(own.rows(), own.width());
        for (feature, (rows, values)) in found {
            columns.push(feature, rows.into_iter().zip(values));
        }
        let share = own.with_columns(columns);
        let checked = share.expect("columns of the data, each once");
        checked.with_whole_of(own)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::ColumnClasses;
    use crate::data::{DataHash, sample};
    use crate::peers::on_threads;

    fn parts_of(data: &Dataset<'_>, parts: usize) -> Vec<usize> {
        let of_rows = data.queries().of_rows();
        let mut partition = Partition::new(data.queries(), &of_rows, parts);
        let positions = 0..data.stored_columns();
        positions
            .map(|position| partition.part(data.column(position)))
            .collect()
    }

    #[test]
    fn equal_columns_meet_and_parts_are_even() {
        let data = sample::train();
        let classes = ColumnClasses::new(&data);
        let parts = parts_of(&data, 5);
        let part = |feature: &u32| parts[data.position(*feature).unwrap()];
        let mut sizes = [0; 5];
        for class in 0..classes.len() {
            let members = classes.class(class);
            assert!(
                members
                    .iter()
                    .all(|member| part(member) == part(&members[0]))
            );
            sizes[part(&members[0])] += 1;
        }
        let mean = classes.len() / 5;
        assert!(
            sizes.iter().all(|&size| mean.abs_diff(size) < mean / 5),
            "{sizes:?}"
        );
        let shares = (0..5).map(|number| Partition::share(&data, 5, number));
        let stored: usize = shares.map(|share| share.stored_columns()).sum();
        assert_eq!(stored, data.stored_columns());
    }

    #[test]
    fn columns_of_ranks_meet() {
        let data = sample::train();
        let shares = on_threads(3, |peers| {
            // Columns in three runs.
            let features: Vec<u32> = (0u32..).take(data.width()).collect();
            let runs: Vec<&[u32]> = features.chunks(data.width().div_ceil(3)).collect();
            let own = data.features_subset(runs[peers.rank()]).unwrap();
            let found = Partition::exchange(&own, &*peers);
            let expected = Partition::share(&data, 3, peers.rank());
            (DataHash::of(&found), DataHash::of(&expected))
        });
        assert!(shares.iter().all(|(found, expected)| found == expected));
    }

    /// Parts are stored in files.
    #[test]
    fn parts_stay_from_release_to_release() {
        let parts = parts_of(&sample::train(), 64);
        assert_eq!(parts[..8], [35, 61, 42, 22, 39, 52, 45, 33]);
    }
}
