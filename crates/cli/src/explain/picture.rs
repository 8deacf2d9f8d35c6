//! The picture of an explanation: two parses as arcs, and the features that decide between them.

use std::collections::{BTreeMap, BTreeSet};

use rankrls::model::{Contribution, ExplainedRow, Explanation};
use rankrls_plot::{Arcs, Bar, Hue, Tree, number};

use super::tree::{links, tree};
use super::{NO_DIFFERENCE, others};
use crate::console::Console;
use crate::numbers::{counted, printable};

/// The first of the explained rows and the row for comparison: their parses if their texts have them, and the `top`
/// largest contributions. Warns if a tree cannot be drawn.
pub(super) fn picture(explained: &Explanation<'_>, top: usize, console: Console) -> Arcs {
    let Some(row) = explained.rows.first() else {
        return Arcs::default();
    };
    let many = row.contributions.len();
    let heading = match many {
        0 => NO_DIFFERENCE.to_owned(),
        many => format!(
            "{}: {} in sum",
            counted(many, "feature"),
            signed(row.difference)
        ),
    };
    Arcs {
        title: title(explained, row),
        trees: trees(explained, row, console),
        heading,
        remark: remark(explained, row),
        bars: bars(&row.contributions, top),
    }
}

fn title(explained: &Explanation<'_>, row: &ExplainedRow<'_>) -> String {
    let query = printable(&explained.query);
    let leads = match row.difference {
        more if more > 0.0 => "before",
        less if less < 0.0 => "behind",
        _ => "beside",
    };
    let other = explained.versus.as_ref();
    let other = other.map_or("the mean".to_owned(), |row| format!("row {}", row.row));
    format!("Query {query}: why row {} is {leads} {other}", row.row)
}

/// The line that explains values and bars.
fn remark(explained: &Explanation<'_>, row: &ExplainedRow<'_>) -> String {
    let other = explained.versus.as_ref();
    let other = other.map_or("mean".to_owned(), |row| format!("row {}", row.row));
    let own = row.row;
    format!("Values: {other} → row {own}. Bars: weight times the difference of the values")
}

/// Numbers of figures with their sign.
fn signed(value: f64) -> String {
    let sign = if value > 0.0 { "+" } else { "" };
    format!("{sign}{}", number(value, 3))
}

fn bars(parts: &[Contribution<'_>], top: usize) -> Vec<Bar> {
    let (shown, others_of) = parts.split_at(top.min(parts.len()));
    let bar = |part: &Contribution<'_>| Bar {
        name: match part.name {
            Some(name) => name.to_owned(),
            None => format!("feature {}", part.feature),
        },
        change: format!("{} → {}", number(part.reference, 4), number(part.value, 4)),
        value: part.contribution,
    };
    let rest = others(others_of).map(|(value, name)| Bar {
        name,
        change: String::new(),
        value,
    });
    shown.iter().map(bar).chain(rest).collect()
}

/// The row for comparison, and the `row`.
fn trees(explained: &Explanation<'_>, row: &ExplainedRow<'_>, console: Console) -> Vec<Tree> {
    let rows = || {
        explained
            .versus
            .iter()
            .map(|row| (row, Hue::Orange))
            .chain([(row, Hue::Blue)])
    };
    let graded = rows().any(|(own, _)| own.label != 0.0);
    let bare = |(own, hue): (&ExplainedRow<'_>, Hue)| {
        let (number_of, rank, all) = (own.row, own.rank, explained.rows_of_query);
        let label = if graded {
            format!(", label {}", number(own.label, 4))
        } else {
            String::new()
        };
        let score = number(own.score, 4);
        Tree {
            heading: format!("Row {number_of}: number {rank} of {all}, score {score}{label}"),
            hue,
            words: Vec::new(),
            arcs: Vec::new(),
        }
    };
    let mut trees: Vec<Tree> = rows().map(bare).collect();
    let texts: Option<Vec<&str>> = rows().map(|(own, _)| own.text.as_deref()).collect();
    let Some(texts) = texts else {
        return trees;
    };
    let Some(parses) = texts
        .iter()
        .map(|text| links(text))
        .collect::<Option<Vec<_>>>()
    else {
        for (own, text) in trees.iter_mut().zip(texts) {
            own.words = vec![text.to_owned()];
        }
        return trees;
    };
    let mut read = Vec::new();
    for (links, (own, _)) in parses.iter().zip(rows()) {
        match tree(links) {
            Ok(parse) => read.push(parse),
            Err(word) => {
                let (row, word) = (own.row, printable(word));
                console.warn(format_args!(
                    "the picture has no trees: the text of row {row} does not say where its word {word} is"
                ));
                return trees;
            }
        }
    }
    for (own, (words, arcs)) in trees.iter_mut().zip(read) {
        (own.words, own.arcs) = (words, arcs);
    }
    if let [first, second] = &mut trees[..] {
        mark(first, second);
    }
    trees
}

/// Marks all arcs to a word that has different arcs in the other tree.
fn mark(first: &mut Tree, second: &mut Tree) {
    let same = first.words == second.words;
    let word = |tree: &Tree, place: usize| {
        if same {
            place.to_string()
        } else {
            tree.words[place].clone()
        }
    };
    let heads = |tree: &Tree| {
        let mut heads: BTreeMap<String, BTreeSet<(Option<String>, String)>> = BTreeMap::new();
        for arc in &tree.arcs {
            let head = arc.head.map(|head| word(tree, head));
            let own = heads.entry(word(tree, arc.modifier)).or_default();
            own.insert((head, arc.label.clone()));
        }
        heads
    };
    let both = [heads(first), heads(second)];
    for tree in [first, second] {
        for place in 0..tree.arcs.len() {
            let own = word(tree, tree.arcs[place].modifier);
            tree.arcs[place].differs = both[0].get(&own) != both[1].get(&own);
        }
    }
}
