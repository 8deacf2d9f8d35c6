//! Which sentences are trained on, and which are held out.

use std::collections::BTreeMap;

use super::options::Share;
use crate::random::Draws;

/// Which of the sentences with these texts are held out: their share, drawn by the seed. Sentences
/// with one text stay together, lest what is tested on be trained on.
pub(super) fn held_out(texts: &[&str], share: Share, seed: u64) -> Vec<bool> {
    let mut members: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (number, text) in texts.iter().enumerate() {
        members.entry(text).or_default().push(number);
    }
    // The order of the texts is that of their first sentences.
    let mut groups: Vec<Vec<usize>> = members.into_values().collect();
    groups.sort_unstable();
    let mut draws = Draws::new(seed, 0);
    for last in (1..groups.len()).rev() {
        let other = draws.below(last as u64 + 1);
        groups.swap(last, usize::try_from(other).expect("a position in memory"));
    }
    let mut left = share.of(texts.len());
    let mut held_out = vec![false; texts.len()];
    for group in groups {
        if group.len() <= left {
            left -= group.len();
            for member in group {
                held_out[member] = true;
            }
        }
    }
    held_out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_is_held_out_and_equal_texts_stay_together() {
        let texts: Vec<String> = (0..100).map(|n| format!("sentence {}", n / 2)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let half = held_out(&texts, "0.5".parse().unwrap(), 1);
        assert_eq!(half.iter().filter(|&&test| test).count(), 50);
        assert!(half.chunks(2).all(|pair| pair[0] == pair[1]));
        assert_eq!(half, held_out(&texts, "0.5".parse().unwrap(), 1));
        assert_ne!(half, held_out(&texts, "0.5".parse().unwrap(), 2));
        let none = held_out(&texts, "0".parse().unwrap(), 1);
        assert!(none.iter().all(|&test| !test));
    }
}
