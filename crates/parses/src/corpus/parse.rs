//! A candidate parse, whatever parser it comes from.

use std::fmt;
use std::ops::Range;

use super::names::part;
use crate::bag::ONE;
use crate::linkgrammar::Linkage;
use crate::treebank::Sentence;

/// A word of a parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParsedWord {
    pub(super) form: String,
    /// Part of speech, or the subscript that Link Grammar tells senses apart by.
    pub(super) tag: Option<String>,
    /// Connectors that the word was used with, left ones first.
    pub(super) connectors: Vec<String>,
    /// Where it stands among the letters of the sentence.
    pub(super) letters: Range<usize>,
}

/// A word under another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParsedLink {
    /// Position of the governing word; none for a link to the wall, and for a root.
    pub(super) head: Option<usize>,
    /// Position of the other word.
    pub(super) modifier: usize,
    pub(super) label: String,
}

/// Numbers of a parser about a parse as a whole, in ten-thousandths where it is no count.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Costs {
    pub(super) length: u32,
    pub(super) unused: Option<u32>,
    pub(super) disjuncts: Option<i32>,
    pub(super) score: Option<i32>,
}

/// A candidate parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Parse {
    pub(super) words: Vec<ParsedWord>,
    pub(super) links: Vec<ParsedLink>,
    pub(super) costs: Costs,
    /// Whether heads are the parser's: those of Link Grammar are not.
    pub(super) directed: bool,
}

impl Parse {
    /// A linkage of a sentence with these letters, unless its words are others.
    pub(super) fn of_linkage(linkage: &Linkage, letters: &str) -> Option<Self> {
        let places = linkage.places(letters)?;
        let mut positions = vec![None; linkage.words.len()];
        let mut words = Vec::with_capacity(places.len());
        for (number, word) in linkage.words.iter().enumerate() {
            if word.is_wall() {
                continue;
            }
            positions[number] = Some(words.len());
            let connectors = word.connectors.as_deref().unwrap_or_default();
            words.push(ParsedWord {
                form: word.form().to_owned(),
                tag: word.subscript().map(str::to_owned),
                connectors: connectors.split_whitespace().map(str::to_owned).collect(),
                letters: places[words.len()].clone(),
            });
        }
        let links = linkage.links.iter().filter_map(|link| {
            // Links to the right wall say nothing: they join the walls or the full stop.
            let (left, right) = (positions[link.left], positions[link.right]?);
            let (head, modifier) = match left {
                Some(left) if link.right_is_head() => (Some(right), left),
                left => (left, right),
            };
            Some(ParsedLink {
                head,
                modifier,
                label: link.label.clone(),
            })
        });
        Some(Self {
            links: links.collect(),
            words,
            costs: Costs {
                length: linkage.length,
                unused: Some(linkage.unused),
                disjuncts: Some(linkage.cost.saturating_mul(ONE / 100)),
                score: None,
            },
            directed: false,
        })
    }

    /// A parse from a file.
    pub(super) fn of_sentence(sentence: &Sentence) -> Self {
        let words = sentence.words().iter().map(|word| ParsedWord {
            form: word.form.clone(),
            tag: word.tag.clone(),
            connectors: Vec::new(),
            letters: word.letters.clone(),
        });
        let mut parse = Self {
            words: words.collect(),
            links: Vec::new(),
            costs: Costs {
                score: sentence.score().map(ten_thousandths),
                ..Costs::default()
            },
            directed: true,
        };
        for (modifier, word) in sentence.words().iter().enumerate() {
            let head = (word.head as usize).checked_sub(1);
            parse.costs.length += head.map_or(0, |head| distance(head, modifier));
            parse.links.push(ParsedLink {
                head,
                modifier,
                label: word.label.clone(),
            });
        }
        parse.connect();
        parse
    }

    /// Gives words the labels of their links for connectors: to the left, then to the right.
    fn connect(&mut self) {
        let mut ends: Vec<(usize, usize, String)> = Vec::new();
        for link in &self.links {
            let Some(head) = link.head else { continue };
            let (left, right) = (head.min(link.modifier), head.max(link.modifier));
            ends.push((left, right, format!("{}+", link.label)));
            ends.push((right, left, format!("{}-", link.label)));
        }
        ends.sort();
        for (word, _, connector) in ends {
            self.words[word].connectors.push(connector);
        }
    }
}

/// Arcs as `head -label-> modifier` with semicolons between, in the order of the modifiers. Words are
/// written as in the names of features, `*` stands for wall and root.
impl fmt::Display for Parse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut links: Vec<_> = self.links.iter().collect();
        links.sort_by_key(|link| (link.modifier, link.head));
        for (number, link) in links.into_iter().enumerate() {
            let form = |word: usize| part(&self.words[word].form);
            let head = link.head.map_or_else(|| "*".to_owned(), form);
            let (label, modifier) = (part(&link.label), form(link.modifier));
            let separator = if number == 0 { "" } else { "; " };
            write!(f, "{separator}{head} -{label}-> {modifier}")?;
        }
        Ok(())
    }
}

/// Words between two positions, and one.
fn distance(a: usize, b: usize) -> u32 {
    u32::try_from(a.abs_diff(b)).unwrap_or(u32::MAX)
}

/// A score as values are: sums of logarithms do not come near the ends of the range.
#[expect(
    clippy::cast_possible_truncation,
    reason = "a cast of floats keeps to the range"
)]
fn ten_thousandths(score: f64) -> i32 {
    (score * f64::from(ONE)).round() as i32
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linkgrammar::{Link, LinkedWord};

    fn linkage(words: &[(&str, &str)], links: &[(usize, usize, &str)]) -> Linkage {
        let word = |&(shown, connectors): &(&str, &str)| LinkedWord {
            shown: shown.to_owned(),
            connectors: Some(connectors.to_owned()).filter(|text| !text.is_empty()),
        };
        let link = |&(left, right, label): &(usize, usize, &str)| Link {
            left,
            right,
            label: label.to_owned(),
        };
        Linkage {
            words: words.iter().map(word).collect(),
            links: links.iter().map(link).collect(),
            unused: 0,
            cost: -83,
            length: 7,
        }
    }

    #[test]
    fn heads_are_told_by_labels() {
        let words = [
            ("LEFT-WALL", "hWd+ hWV+"),
            ("the", "D+"),
            ("dog.n", "Ds- Ss+"),
            ("saw.v-d", "S- O+"),
            ("it", "O-"),
            ("RIGHT-WALL", ""),
        ];
        let links = [
            (0, 5, "RW"),
            (0, 3, "WV"),
            (0, 2, "Wd"),
            (1, 2, "Ds"),
            (2, 3, "Ss"),
            (3, 4, "O"),
        ];
        let parse = Parse::of_linkage(&linkage(&words, &links), "Thedogsawit").unwrap();
        let found: Vec<_> = (parse.links.iter())
            .map(|link| (link.head, link.modifier, link.label.as_str()))
            .collect();
        let expected = [
            (None, 2, "WV"),
            (None, 1, "Wd"),
            (Some(1), 0, "Ds"),
            (Some(2), 1, "Ss"),
            (Some(2), 3, "O"),
        ];
        assert_eq!(found, expected);
        let written = "dog -Ds-> the; * -Wd-> dog; saw -Ss-> dog; * -WV-> saw; saw -O-> it";
        assert_eq!(parse.to_string(), written);
        assert_eq!(parse.words[2].tag.as_deref(), Some("v-d"));
        assert_eq!(parse.words[1].connectors, ["Ds-", "Ss+"]);
        assert_eq!(parse.costs.disjuncts, Some(-8300));
        assert!(Parse::of_linkage(&linkage(&words, &links), "Thedogsaw").is_none());
    }

    #[test]
    fn trees_keep_their_heads_and_get_connectors() {
        let text = "# score = -1.25\n1\ta\t_\tX\t_\t_\t2\tsubj\t_\t_\n\
            2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n3\tc\t_\t_\t_\t_\t2\tobj\t_\t_\n";
        let sentence = crate::treebank::conllu::sentences(text.as_bytes(), "f").next();
        let parse = Parse::of_sentence(&sentence.unwrap().unwrap());
        assert_eq!(parse.words[1].connectors, ["subj-", "obj+"]);
        assert_eq!((parse.costs.length, parse.costs.score), (2, Some(-12_500)));
        assert_eq!(parse.links[1].head, None);
    }
}
