//! Three words that links join.

use super::Described;
use crate::bag::Bag;

pub(super) fn describe(parse: &Described<'_>, bag: &mut Bag) {
    let mut arcs: Vec<(usize, usize, &str)> = parse
        .arcs()
        .map(|(head, label, modifier)| (head, modifier, label))
        .collect();
    arcs.sort_unstable();
    chains(parse, &arcs, bag);
    for siblings in arcs.chunk_by(|a, b| a.0 == b.0) {
        let head = &parse.forms[siblings[0].0];
        for pair in siblings.windows(2) {
            let (left, right) = (pair[0], pair[1]);
            let forms = (&parse.forms[left.1], &parse.forms[right.1]);
            bag.count(format_args!("siblings:{head}~{}~{}", forms.0, forms.1));
            bag.count(format_args!("sibling-labels:{head}~{}~{}", left.2, right.2));
        }
    }
}

/// A word, its head and the head of that; `arcs` ascend by head.
fn chains(parse: &Described<'_>, arcs: &[(usize, usize, &str)], bag: &mut Bag) {
    for &(top, middle, upper) in arcs {
        let start = arcs.partition_point(|arc| arc.0 < middle);
        for &(_, bottom, lower) in arcs[start..].iter().take_while(|arc| arc.0 == middle) {
            let [a, b, c] = [top, middle, bottom].map(|word| &parse.forms[word]);
            bag.count(format_args!("chain:{a}~{b}~{c}"));
            bag.count(format_args!("chain-labels:{upper}~{lower}"));
            bag.count(format_args!("chain-arcs:{a}~{upper}~{b}~{lower}~{c}"));
        }
    }
}
