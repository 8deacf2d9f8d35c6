//! Grouping of columns whose centred forms agree up to sign.

use rayon::prelude::*;

use super::canonical::{Canonicaliser, Entry, hash};
use crate::data::{Column, Dataset};

/// Columns hashed by one task; a task allocates its scratch once.
const CHUNK: usize = 4096;

/// The columns of a data set, sorted out: which ones are candidates, and which
/// other columns each of them stands for.
#[derive(Debug, Clone, Default)]
pub(super) struct Classes {
    /// Stored column that represents each class, its lowest; ascending.
    pub(super) representatives: Vec<u32>,
    /// Entries of each representative's canonical form.
    pub(super) lengths: Vec<u32>,
    /// Members of class `c` are `members[ends[c - 1]..ends[c]]`: stored columns, ascending.
    pub(super) ends: Vec<u32>,
    pub(super) members: Vec<u32>,
    /// Stored columns that are constant within every query.
    pub(super) constant: usize,
}

/// Hash and length of a stored column's canonical form.
#[derive(Debug, Clone, Copy)]
struct Digest {
    hash: u64,
    column: u32,
    length: u32,
}

/// Groups the stored columns of `dataset` into classes (algorithms, section 6).
///
/// Hashes every canonical form, sorts, and compares the forms of equal hash
/// entry by entry. O(nnz + n log n) time, O(n) memory.
pub(super) fn classify(dataset: &Dataset<'_>, query_of_row: &[u32]) -> Classes {
    let mut digests = digest_columns(dataset, query_of_row);
    let constant = dataset.stored_columns() - digests.len();
    digests.par_sort_unstable_by_key(|digest| (digest.hash, digest.column));
    let mut groups: Vec<Group> = split_at_hashes(&digests, CHUNK)
        .into_par_iter()
        .flat_map_iter(|run| group_run(dataset, query_of_row, run))
        .collect();
    groups.par_sort_unstable_by_key(|group| group.first.column);
    let mut classes = Classes {
        constant,
        ..Classes::default()
    };
    for group in &groups {
        classes.representatives.push(group.first.column);
        classes.lengths.push(group.first.length);
        classes.members.push(group.first.column);
        classes.members.extend_from_slice(&group.others);
        // Columns count in 32 bits, so their number does.
        classes
            .ends
            .push(u32::try_from(classes.members.len()).unwrap_or(u32::MAX));
    }
    classes
}

fn digest_columns(dataset: &Dataset<'_>, query_of_row: &[u32]) -> Vec<Digest> {
    let hasher = &foldhash::quality::FixedState::default();
    let columns = 0..u32::try_from(dataset.stored_columns()).unwrap_or(u32::MAX);
    let columns: Vec<u32> = columns.collect();
    columns
        .par_chunks(CHUNK)
        .flat_map_iter(|chunk| {
            let mut canonicaliser = Canonicaliser::new(dataset.queries(), query_of_row);
            let mut form = Vec::new();
            chunk.iter().filter_map(move |&column| {
                canonicaliser.canonicalise(dataset.column(column as usize), &mut form);
                // At most m entries, and rows count in 32 bits.
                let length = u32::try_from(form.len()).unwrap_or(u32::MAX);
                (length > 0).then(|| Digest {
                    hash: hash(&form, hasher),
                    column,
                    length,
                })
            })
        })
        .collect()
}

/// Cuts sorted digests into runs of about `size` that share no hash.
fn split_at_hashes(digests: &[Digest], size: usize) -> Vec<&[Digest]> {
    let mut runs = Vec::new();
    let mut rest = digests;
    while !rest.is_empty() {
        let mut end = size.min(rest.len());
        while end < rest.len() && rest[end].hash == rest[end - 1].hash {
            end += 1;
        }
        let (run, after) = rest.split_at(end);
        runs.push(run);
        rest = after;
    }
    runs
}

/// One class while it is being collected.
#[derive(Debug)]
struct Group {
    first: Digest,
    others: Vec<u32>,
}

impl Group {
    fn of(first: Digest) -> Self {
        Self {
            first,
            others: Vec::new(),
        }
    }
}

fn group_run(dataset: &Dataset<'_>, query_of_row: &[u32], run: &[Digest]) -> Vec<Group> {
    let mut canonicaliser = Canonicaliser::new(dataset.queries(), query_of_row);
    let mut groups = Vec::new();
    for bucket in run.chunk_by(|a, b| a.hash == b.hash) {
        if let [alone] = bucket {
            groups.push(Group::of(*alone));
        } else {
            group_bucket(dataset, &mut canonicaliser, bucket, &mut groups);
        }
    }
    groups
}

/// Groups columns of one hash by their canonical forms. There is one group
/// unless two forms collide.
fn group_bucket(
    dataset: &Dataset<'_>,
    canonicaliser: &mut Canonicaliser<'_>,
    bucket: &[Digest],
    groups: &mut Vec<Group>,
) {
    let mut found: Vec<Known> = Vec::new();
    let mut form = Vec::new();
    for &digest in bucket {
        let column = dataset.column(digest.column as usize);
        if let Some(known) = found
            .iter_mut()
            .find(|known| known.repeats(dataset, column))
        {
            known.group.others.push(digest.column);
            continue;
        }
        canonicaliser.canonicalise(column, &mut form);
        match found.iter_mut().find(|known| known.form == form) {
            Some(known) => known.group.others.push(digest.column),
            None => found.push(Known {
                form: form.clone(),
                group: Group::of(digest),
            }),
        }
    }
    groups.extend(found.into_iter().map(|known| known.group));
}

/// A class of the bucket at hand.
struct Known {
    form: Vec<Entry>,
    group: Group,
}

impl Known {
    /// Whether `column` is the first member over again, as most members are.
    fn repeats(&self, dataset: &Dataset<'_>, column: Column<'_>) -> bool {
        let first = dataset.column(self.group.first.column as usize);
        first.rows == column.rows && first.values == column.values
    }
}
