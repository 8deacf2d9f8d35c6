//! A candidate parse by any parser.

use std::fmt;
use std::ops::Range;

use super::names::part;
use crate::linkgrammar::Linkage;
use crate::treebank::Sentence;

/// A word of a parse.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParsedWord {
    pub(super) form: String,
    /// Part of speech, or Link Grammar's subscript, which tells senses apart.
    pub(super) tag: Option<String>,
    /// Connectors that the word was used with, left ones first.
    pub(super) connectors: Vec<String>,
    /// Its place among the letters of the sentence.
    pub(super) letters: Range<usize>,
}

/// A word and its governing word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ParsedLink {
    /// Position of the governing word. `None` for a root, and for a link to the wall.
    pub(super) head: Option<usize>,
    /// Position of the governed word.
    pub(super) modifier: usize,
    pub(super) label: String,
}

/// The parser's numbers for a whole parse.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Costs {
    pub(super) length: u32,
    pub(super) unused: Option<u32>,
    pub(super) disjuncts: Option<f64>,
    pub(super) score: Option<f64>,
}

/// A candidate parse.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Parse {
    pub(super) words: Vec<ParsedWord>,
    pub(super) links: Vec<ParsedLink>,
    pub(super) costs: Costs,
    /// Whether the parser names heads. Link Grammar does not.
    pub(super) directed: bool,
}

impl Parse {
    /// A linkage of a sentence with these letters. `None` if its words are others.
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
            // A link to the right wall joins it to the left wall or the full stop, and says nothing.
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
                disjuncts: Some(f64::from(linkage.cost) / 100.0),
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
                score: sentence.score(),
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

    /// Makes the labels of a word's links its connectors: left ones, then right ones.
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

/// Arcs as `head -label-> modifier`, separated by semicolons, in the order of the modifiers. Words are written as
/// in the names of features, and `*` stands for wall and root. An ambiguous word is followed by its place among the
/// words with arcs, from 1: `that~4`.
impl fmt::Display for Parse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut links: Vec<_> = self.links.iter().collect();
        links.sort_by_key(|link| (link.modifier, link.head));
        let mut modifiers: Vec<usize> = links.iter().map(|link| link.modifier).collect();
        modifiers.dedup();
        let heads = links.iter().filter_map(|link| link.head);
        let mut linked: Vec<usize> = heads.chain(modifiers.iter().copied()).collect();
        linked.sort_unstable();
        linked.dedup();
        let same = |a: usize, b: usize| a != b && self.words[a].form == self.words[b].form;
        let form = |word: usize| {
            let written = part(&self.words[word].form);
            let governs = links.iter().any(|link| link.head == Some(word));
            let alike = |others: &[usize]| others.iter().any(|other| same(*other, word));
            let clear = modifiers.binary_search(&word).is_ok_and(|place| {
                let near = &modifiers[place.saturating_sub(1)..modifiers.len().min(place + 2)];
                written != "*" && !alike(near) && !(governs && alike(&linked))
            });
            let place = linked.partition_point(|other| *other <= word);
            if clear {
                written
            } else {
                format!("{written}~{place}")
            }
        };
        for (number, link) in links.iter().enumerate() {
            let head = link.head.map_or_else(|| "*".to_owned(), form);
            let (label, modifier) = (part(&link.label), form(link.modifier));
            let separator = if number == 0 { "" } else { "; " };
            write!(f, "{separator}{head} -{label}-> {modifier}")?;
        }
        Ok(())
    }
}

/// Distance of two words in words.
fn distance(a: usize, b: usize) -> u32 {
    u32::try_from(a.abs_diff(b)).unwrap_or(u32::MAX)
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
        assert_eq!(parse.costs.disjuncts, Some(-0.83));
        assert!(Parse::of_linkage(&linkage(&words, &links), "Thedogsaw").is_none());
    }

    #[test]
    fn trees_keep_their_heads_and_get_connectors() {
        let text = "# sent_id = s\n# score = -1.25e-7\n1\ta\t_\tX\t_\t_\t2\tsubj\t_\t_\n\
            2\tb\t_\t_\t_\t_\t0\troot\t_\t_\n3\tc\t_\t_\t_\t_\t2\tobj\t_\t_\n";
        let sentence = crate::treebank::conllu::n_best(text.as_bytes(), "f").next();
        let parse = Parse::of_sentence(&sentence.unwrap().unwrap().parses[0]);
        assert_eq!(parse.words[1].connectors, ["subj-", "obj+"]);
        assert_eq!((parse.costs.length, parse.costs.score), (2, Some(-1.25e-7)));
        assert_eq!(parse.links[1].head, None);
    }

    #[test]
    fn words_that_are_not_clear_have_their_places() {
        let words = ["a", "of", "b", "of", "of", "*", "lost"];
        let links = [
            (None, 0),
            (Some(0), 1),
            (Some(1), 2),
            (Some(6), 3),
            (Some(3), 4),
            (Some(4), 5),
        ];
        let mut parse = Parse::of_linkage(&linkage(&[("a", "")], &[]), "a").unwrap();
        let word = ParsedWord {
            form: String::new(),
            ..parse.words.remove(0)
        };
        let named = |form: &&str| ParsedWord {
            form: (*form).to_owned(),
            ..word.clone()
        };
        parse.words = words.iter().map(named).collect();
        let link = |&(head, modifier): &(Option<usize>, usize)| ParsedLink {
            head,
            modifier,
            label: "X".to_owned(),
        };
        parse.links = links.iter().map(link).collect();
        let written =
            "* -X-> a; a -X-> of~2; of~2 -X-> b; lost~7 -X-> of~4; of~4 -X-> of~5; of~5 -X-> *~6";
        assert_eq!(parse.to_string(), written);
    }
}
