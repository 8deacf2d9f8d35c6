//! The label of a candidate: its agreement with the gold tree.
//!
//! # Units
//!
//! Parsers cut sentences differently. *Units* are the stretches of text between places where the treebank and every
//! candidate have a word boundary. An arc between words of two units joins the units. An arc within a unit does not
//! count. Where all have the same words, the words are the units.
//!
//! # Arcs
//!
//! The pairs of head and modifier among units, each once. The root is not an arc. With relations, an arc is a pair
//! with its relation. Links of Link Grammar have no direction, so they are compared with the gold arcs as unordered
//! pairs. Arcs at punctuation do not count. A unit is punctuation if all its words are, in the treebank.
//!
//! # F1
//!
//! `2 |C and G| / (|C| + |G|)` for the arcs `C` of the candidate and `G` of the treebank, in ten-thousandths,
//! rounded to the nearest. This is the harmonic mean of precision and recall. Where all have the same words and one
//! root, it is the attachment score without punctuation and roots: UAS, or LAS with relations.

use std::collections::BTreeSet;

use super::parse::Parse;
use crate::treebank::Sentence;

/// Head and modifier, and the relation if it counts.
type Arcs<'a> = BTreeSet<(usize, usize, &'a str)>;

/// The stretches of a sentence between common word boundaries.
#[derive(Debug, PartialEq, Eq)]
enum Units {
    /// The words themselves.
    Words,
    /// Ends of the units among the letters, ascending.
    Ends(Vec<usize>),
}

impl Units {
    fn common(gold: &Sentence, parses: &[Parse]) -> Self {
        if parses.iter().all(|parse| same_words(gold, parse)) {
            return Self::Words;
        }
        let mut ends: BTreeSet<usize> = gold.words().iter().map(|word| word.letters.end).collect();
        for parse in parses {
            let others: BTreeSet<usize> = parse.words.iter().map(|w| w.letters.end).collect();
            ends = &ends & &others;
        }
        Self::Ends(ends.into_iter().collect())
    }

    /// The unit of the word `position`, which begins at `start`.
    fn of(&self, position: usize, start: usize) -> usize {
        match self {
            Self::Words => position,
            Self::Ends(ends) => ends.partition_point(|&end| end <= start),
        }
    }
}

fn same_words(gold: &Sentence, parse: &Parse) -> bool {
    let forms = parse.words.iter().map(|word| word.form.as_str());
    gold.words().iter().map(|word| word.form.as_str()).eq(forms)
}

/// The number of these ten-thousandths.
pub(super) fn real(ten_thousandths: i32) -> f64 {
    f64::from(ten_thousandths) / 10_000.0
}

/// F1 of every parse in ten-thousandths, and the number of parses whose arcs equal an earlier parse's.
pub(super) fn f1(gold: &Sentence, parses: &[Parse], relations: bool) -> (Vec<i32>, usize) {
    let units = Units::common(gold, parses);
    let comparison = Comparison {
        counted: counted(gold, &units),
        directed: parses.iter().all(|parse| parse.directed),
        relations,
    };
    let unit = |position: usize| units.of(position, gold.words()[position].letters.start);
    let gold_arcs: Arcs<'_> = (gold.words().iter().enumerate())
        .filter_map(|(position, word)| {
            let head = (word.head as usize).checked_sub(1)?;
            comparison.arc(unit(head), unit(position), &word.label)
        })
        .collect();
    let arcs_of = |parse| comparison.arcs(parse, &units);
    let mut all: Vec<Arcs<'_>> = parses.iter().map(arcs_of).collect();
    let f1 = |arcs: &Arcs<'_>| {
        ratio(
            2 * arcs.intersection(&gold_arcs).count(),
            arcs.len() + gold_arcs.len(),
        )
    };
    let labels = all.iter().map(f1).collect();
    all.sort_unstable();
    all.dedup();
    (labels, parses.len() - all.len())
}

/// The rules that tell which arcs count and which are equal.
struct Comparison {
    /// Whether each unit counts.
    counted: Vec<bool>,
    directed: bool,
    /// Whether equal arcs need equal relations.
    relations: bool,
}

impl Comparison {
    fn arcs<'p>(&self, parse: &'p Parse, units: &Units) -> Arcs<'p> {
        let own = |position: usize| units.of(position, parse.words[position].letters.start);
        (parse.links.iter())
            .filter_map(|link| self.arc(own(link.head?), own(link.modifier), &link.label))
            .collect()
    }

    fn arc<'l>(
        &self,
        head: usize,
        modifier: usize,
        label: &'l str,
    ) -> Option<(usize, usize, &'l str)> {
        if head == modifier || !self.counted[head] || !self.counted[modifier] {
            return None;
        }
        let swapped = !self.directed && head > modifier;
        let (first, second) = if swapped {
            (modifier, head)
        } else {
            (head, modifier)
        };
        Some((first, second, if self.relations { label } else { "" }))
    }
}

/// Whether each unit counts.
fn counted(gold: &Sentence, units: &Units) -> Vec<bool> {
    let mut counted = vec![false; gold.words().len() + 1];
    for (position, word) in gold.words().iter().enumerate() {
        counted[units.of(position, word.letters.start)] |= !word.is_punctuation();
    }
    counted
}

fn ratio(part: usize, whole: usize) -> i32 {
    if whole == 0 {
        return 0;
    }
    let rounded = (10_000 * part + whole / 2) / whole;
    i32::try_from(rounded).expect("at most 10000")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::treebank::conllu;

    /// A sentence of words with heads and relations.
    fn sentence(words: &[(&str, u32, &str)]) -> Sentence {
        let row = |(number, (form, head, label)): (usize, &(&str, u32, &str))| {
            format!("{number}\t{form}\t_\t_\t_\t_\t{head}\t{label}\t_\t_\n")
        };
        let rows: Vec<String> = (1..).zip(words).map(row).collect();
        let rows = rows.concat();
        let sentence = conllu::sentences(rows.as_bytes(), "f").next();
        sentence.unwrap().unwrap()
    }

    fn f1_of(gold: &Sentence, parse: &Sentence, relations: bool) -> i32 {
        let parses = [Parse::of_sentence(parse)];
        f1(gold, &parses, relations).0[0]
    }

    #[test]
    fn arcs_are_compared() {
        let gold = sentence(&[
            ("a", 2, "x"),
            ("b", 0, "root"),
            ("c", 2, "y"),
            (".", 2, "p"),
        ]);
        let other = sentence(&[
            ("a", 2, "x"),
            ("b", 0, "root"),
            ("c", 2, "z"),
            (".", 3, "p"),
        ]);
        assert_eq!(f1_of(&gold, &other, false), 10_000);
        assert_eq!(f1_of(&gold, &other, true), 5000);
        let turned = sentence(&[
            ("a", 0, "x"),
            ("b", 1, "root"),
            ("c", 2, "y"),
            (".", 2, "p"),
        ]);
        assert_eq!(f1_of(&gold, &turned, false), 5000);
        let undirected = Parse {
            directed: false,
            ..Parse::of_sentence(&turned)
        };
        let twice = [undirected.clone(), Parse::of_sentence(&other), undirected];
        assert_eq!(f1(&gold, &twice, false), (vec![10_000; 3], 2));
    }

    /// Gold `ab | c | d` and candidate `a | b | cd` have the units `ab` and `cd`.
    #[test]
    fn words_that_are_cut_otherwise_are_compared_by_units() {
        let gold = sentence(&[("ab", 0, "root"), ("c", 1, "x"), ("d", 2, "y")]);
        let other = sentence(&[("a", 0, "root"), ("b", 1, "z"), ("cd", 1, "x")]);
        assert_eq!(f1_of(&gold, &other, true), 10_000);
        let units = Units::common(&gold, &[Parse::of_sentence(&other)]);
        assert_eq!(units, Units::Ends(vec![2, 4]));
    }

    #[test]
    fn a_word_alone_has_no_arcs() {
        let gold = sentence(&[("a", 0, "root")]);
        assert_eq!(f1_of(&gold, &gold.clone(), false), 0);
    }
}
