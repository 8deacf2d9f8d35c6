//! What selections have in common.

use std::collections::HashSet;

use serde::Serialize;

/// What a selection has in common with the reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overlap {
    /// After each step, the share of the features selected so far that are among as many of the
    /// reference, 0 to 1. It ends with the shorter of the two.
    pub shares: Vec<f64>,
    /// The first step, from 1, in which another feature was selected, or only one of the two
    /// selected any; `None` if there is none.
    pub first_difference: Option<usize>,
}

impl Overlap {
    /// Of `features` with those of the reference, both in order of selection.
    pub fn new(features: &[u64], reference: &[u64]) -> Self {
        let (mut ours, mut theirs) = (HashSet::new(), HashSet::new());
        let mut common = 0;
        let steps = features.iter().zip(reference);
        let shares = steps.map(|(&our, &their)| {
            ours.insert(our);
            theirs.insert(their);
            common += usize::from(theirs.contains(&our));
            common += usize::from(our != their && ours.contains(&their));
            common as f64 / ours.len() as f64
        });
        let shares = shares.collect();
        let differs = features.iter().zip(reference).position(|(a, b)| a != b);
        let shorter = features.len().min(reference.len());
        let lengths = (features.len() != reference.len()).then_some(shorter);
        Self {
            shares,
            first_difference: differs.or(lengths).map(|step| step + 1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_and_first_differences() {
        let same = Overlap::new(&[5, 2, 9], &[5, 2, 9]);
        assert_eq!((same.shares, same.first_difference), (vec![1.0; 3], None));
        let swapped = Overlap::new(&[5, 9, 2, 4], &[5, 2, 9, 1]);
        assert_eq!(swapped.shares, [1.0, 0.5, 1.0, 0.75]);
        assert_eq!(swapped.first_difference, Some(2));
        let other = Overlap::new(&[1, 2], &[3, 4]);
        assert_eq!(
            (other.shares, other.first_difference),
            (vec![0.0; 2], Some(1))
        );
        let shorter = Overlap::new(&[5], &[5, 2]);
        assert_eq!(
            (shorter.shares, shorter.first_difference),
            (vec![1.0], Some(2))
        );
    }
}
