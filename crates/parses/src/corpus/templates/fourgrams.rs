//! Four words in a row of three links.

use super::Described;
use crate::bag::Bag;

pub(super) fn describe(parse: &Described<'_>, bag: &mut Bag) {
    let mut neighbours: Vec<Vec<(usize, &str)>> = vec![Vec::new(); parse.forms.len()];
    let arcs: Vec<_> = parse.arcs().collect();
    for &(head, label, modifier) in &arcs {
        neighbours[head].push((modifier, label));
        neighbours[modifier].push((head, label));
    }
    for &(b, middle, c) in &arcs {
        for &(a, first) in neighbours[b].iter().filter(|next| next.0 != c) {
            let others = neighbours[c]
                .iter()
                .filter(|next| next.0 != b && next.0 != a);
            for &(d, last) in others {
                if a < d {
                    row(parse, [a, b, c, d], [first, middle, last], bag);
                } else {
                    row(parse, [d, c, b, a], [last, middle, first], bag);
                }
            }
        }
    }
}

fn row(parse: &Described<'_>, words: [usize; 4], labels: [&str; 3], bag: &mut Bag) {
    let [a, b, c, d] = words.map(|word| &parse.forms[word]);
    let [x, y, z] = labels;
    bag.count(format_args!("fourgram:{a}~{b}~{c}~{d}"));
    bag.count(format_args!("fourgram-labels:{x}~{y}~{z}"));
    bag.count(format_args!("fourgram-arcs:{a}~{x}~{b}~{y}~{c}~{z}~{d}"));
}
