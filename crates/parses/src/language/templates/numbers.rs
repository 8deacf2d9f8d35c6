//! The few features that every row has.

use super::{Candidate, Dependency};
use crate::bag::{Bag, ONE};
use crate::language::tree::Tree;

pub(super) fn describe(candidate: &Candidate<'_>, dependencies: &[Dependency<'_>], bag: &mut Bag) {
    // A sixteenth is 625 ten-thousandths.
    let cost = i32::try_from(candidate.cost).expect("few productions");
    bag.add(format_args!("num:log2prob"), -625 * cost);
    bag.add(
        format_args!("num:depth"),
        ONE * i32::from(depth(candidate.tree)),
    );
    let right = right_branch(candidate.tree);
    bag.add(format_args!("num:right-branch"), ONE * i32::from(right));
    bag.add(
        format_args!("num:mean-distance"),
        mean_distance(dependencies),
    );
}

/// Nodes on the longest way from the root to a word.
fn depth(tree: &Tree) -> u16 {
    let mut depths = vec![1u16; tree.nodes().len()];
    for (id, node) in tree.nodes().iter().enumerate() {
        for &child in node.children() {
            depths[id] = depths[id].max(1 + depths[usize::from(child)]);
        }
    }
    depths.last().copied().unwrap_or(0)
}

/// Nodes on the way from the root to the last word.
fn right_branch(tree: &Tree) -> u16 {
    let words = tree.nodes().last().map_or(0, |root| root.end);
    let last = tree.nodes().iter().filter(|node| node.end == words);
    u16::try_from(last.count()).expect("sentences are short")
}

/// Mean distance between head and modifier in words, in ten-thousandths.
fn mean_distance(dependencies: &[Dependency<'_>]) -> i32 {
    let count = i32::try_from(dependencies.len().max(1)).expect("sentences are short");
    let sum: i32 = dependencies
        .iter()
        .map(|dependency| i32::from(dependency.head.abs_diff(dependency.modifier)))
        .sum();
    (ONE * sum + count / 2) / count
}
