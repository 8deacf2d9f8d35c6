//! The rank of each column.

use super::{Canonicaliser, mix, scattered};
use crate::data::{Column, Dataset};

/// One of `parts` parts of the columns of `dataset`, with all rows, under their own numbers. Columns of one class,
/// which differ by a constant in each query or in sign, are in the same part. Parts have about equal numbers of
/// classes. The part of a column depends only on the column, the queries and the number of parts.
///
/// # Panics
/// When `parts` is 0.
pub fn share(dataset: &Dataset<'_>, parts: usize, part: usize) -> Dataset<'static> {
    assert!(parts > 0, "no parts");
    let query_of_row = dataset.queries().of_rows();
    let mut canonicaliser = Canonicaliser::new(dataset.queries(), &query_of_row);
    let mut is_own =
        |&position: &usize| part_of(&mut canonicaliser, dataset.column(position), parts) == part;
    let own = (0..dataset.stored_columns()).filter(|position| is_own(position));
    let features: Vec<u32> = own.map(|position| dataset.feature(position)).collect();
    let share = dataset.features_subset(&features);
    share.expect("features of the data, each once")
}

/// The part of a column, from 0. O(non-zeros) time.
fn part_of(canonicaliser: &mut Canonicaliser<'_>, column: Column<'_>, parts: usize) -> usize {
    canonicaliser.canonicalise(column);
    let (form, mut hash) = (&canonicaliser.form, 0);
    if form.is_empty() {
        // A column that is constant in every query is not a candidate and has no class.
        for (row, value) in column.iter().filter(|&(_, value)| value != 0.0) {
            hash = mix(hash, row as u64);
            hash = mix(hash, value.to_bits());
        }
    }
    for entry in form.entries() {
        hash = mix(hash, u64::from(entry.row));
        for number in [entry.value, entry.rounding] {
            // Makes -0 and 0 equal.
            hash = mix(hash, (number + 0.0).to_bits());
        }
    }
    let share = (u128::from(scattered(hash)) * parts as u128) >> 64;
    // The result is below the number of parts.
    usize::try_from(share).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::columns::ColumnClasses;
    use crate::data::sample;

    #[test]
    fn equal_columns_meet_and_parts_are_even() {
        let data = sample::train();
        let classes = ColumnClasses::new(&data);
        let shares: Vec<Dataset<'_>> = (0..5).map(|part| share(&data, 5, part)).collect();
        let mut sizes = [0; 5];
        for class in 0..classes.len() {
            let members = classes.class(class);
            let has = |share: &Dataset<'_>| {
                let own = |&member: &u32| share.position(member).is_some();
                members.iter().filter(|member| own(member)).count()
            };
            let found: Vec<usize> = shares.iter().map(has).collect();
            let part = found.iter().position(|&count| count == members.len());
            sizes[part.unwrap()] += 1;
        }
        let mean = classes.len() / 5;
        assert!(
            sizes.iter().all(|&size| mean.abs_diff(size) < mean / 5),
            "{sizes:?}"
        );
        let stored: usize = shares.iter().map(Dataset::stored_columns).sum();
        assert_eq!(stored, data.stored_columns());
    }
}
