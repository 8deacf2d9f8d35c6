//! Trees in Penn brackets, several a sentence.
//!
//! ```text
//! # sent_id = s1
//! -12.5
//! (S1 (S (NP (NNS Birds)) (VP (VBP sing)) (. .)))
//! -14.25
//! (S1 (NP (NNS Birds) (NN sing)) (. .))
//!
//! 2 s2
//! -9.0
//! ...
//! ```
//!
//! The trees of a sentence stand together, best first, and a blank line follows. Before a tree
//! there may be its score, a number on a line of its own; before the first one the sentence's
//! identifier, in a comment `# sent_id = …` or, as the parser of Charniak and Johnson writes it,
//! after the number of trees. Groups without identifiers are those of the treebank's sentences, in
//! its order. A tree may go over several lines. Words are read with `-LRB-` and its like undone,
//! and with the quotes ` `` ` and `''` as `"`; traces (`-NONE-`) are left out.
//!
//! # Head rules
//!
//! Every phrase has a head among its children, by the table of Collins (1999) for the Penn
//! Treebank; functional tags (`NP-SBJ`) do not count. The word at the head of a phrase governs
//! the words at the heads of its other children; the relation is called by phrase and child, such
//! as `VP/NP`.

use Side::{Left, Right};

use super::lines::{Blocks, Fault, Line, TreebankError};
use super::{NBest, Sentence, Token, Word};

/// Deepest nesting that is read.
const DEEPEST: usize = 500;

/// The sentences of a text that messages call `name`; a malformed one is an error in its place.
pub fn n_best<'t>(
    text: &'t [u8],
    name: &'t str,
) -> impl Iterator<Item = Result<NBest, TreebankError>> + 't {
    Blocks::new(text).filter_map(move |block| {
        let group = group(&block).map_err(|fault| fault.of(name));
        group.transpose()
    })
}

fn group(lines: &[Line<'_>]) -> Result<Option<NBest>, Fault> {
    let mut best = NBest {
        line: lines.first().map_or(0, |line| line.number),
        id: None,
        parses: Vec::new(),
    };
    let mut score = None;
    let mut tree: Option<Reading> = None;
    for &line in lines {
        let text = line.text()?;
        if tree.is_none() && !text.trim_start().starts_with('(') {
            heading(line, text, &mut best, &mut score)?;
            continue;
        }
        let mut reading = tree.take().unwrap_or_default();
        reading.line(line, text)?;
        if reading.open.is_empty() {
            let sentence = reading.finish(line)?;
            best.parses
                .push(sentence.at(line.number, best.id.clone(), score.take()));
        } else {
            tree = Some(reading);
        }
    }
    if tree.is_some() {
        let last = lines.last().map_or(0, |line| line.number);
        let found = "the end of the sentence".to_owned();
        return Err(Fault::new(last, 0, "the end of the tree, )", found));
    }
    Ok((!best.parses.is_empty()).then_some(best))
}

/// A comment, a score, or a number of trees with an identifier.
fn heading(
    line: Line<'_>,
    text: &str,
    best: &mut NBest,
    score: &mut Option<f64>,
) -> Result<(), Fault> {
    let text = text.trim();
    if let Some(comment) = text.strip_prefix('#') {
        if let Some((key, value)) = comment.split_once('=')
            && key.trim() == "sent_id"
        {
            best.id = Some(value.trim().to_owned());
        }
        return Ok(());
    }
    if let Some((count, id)) = text.split_once(char::is_whitespace)
        && count.parse::<usize>().is_ok()
    {
        best.id = Some(id.trim().to_owned());
        return Ok(());
    }
    *score = Some(super::score(text).ok_or_else(|| {
        let expected =
            "a tree in brackets, its score (from -200000 to 200000), or a comment after #";
        Fault::token(line.number, 0, expected, text.as_bytes())
    })?);
    Ok(())
}

/// A phrase whose end has not been read.
#[derive(Debug, Default)]
struct Phrase {
    label: Option<String>,
    /// The label of each child, functional tags left out, and the word at its head.
    children: Vec<(String, usize)>,
    /// A word, for a part of speech.
    word: Option<String>,
}

/// A tree that is being read.
#[derive(Debug, Default)]
struct Reading {
    open: Vec<Phrase>,
    words: Vec<Word>,
    done: bool,
}

impl Reading {
    fn line(&mut self, line: Line<'_>, text: &str) -> Result<(), Fault> {
        let mut at = 0;
        while let Some(skipped) = text[at..].find(|char: char| !char.is_ascii_whitespace()) {
            at += skipped;
            let fault = |expected: &str| {
                Err(Fault::token(
                    line.number,
                    at,
                    expected,
                    &text.as_bytes()[at..],
                ))
            };
            if self.done {
                return fault("the end of the line after the tree");
            }
            match text.as_bytes()[at] {
                b'(' if self.open.len() == DEEPEST => return fault("a tree of at most 500 levels"),
                b'(' if self.open.last().is_some_and(|phrase| phrase.word.is_some()) => {
                    return fault("the end of a part of speech, )");
                }
                b'(' => {
                    self.open.push(Phrase::default());
                    at += 1;
                }
                b')' => {
                    if !self.close() {
                        return fault("a phrase with something in it");
                    }
                    at += 1;
                }
                _ => {
                    let stop = |char: char| char.is_ascii_whitespace() || "()".contains(char);
                    let end = text[at..].find(stop).map_or(text.len(), |end| at + end);
                    if !self.atom(&text[at..end]) {
                        return fault("a bracket");
                    }
                    at = end;
                }
            }
        }
        Ok(())
    }

    /// Takes a label, or a word after one.
    fn atom(&mut self, atom: &str) -> bool {
        let Some(phrase) = self.open.last_mut() else {
            return false;
        };
        if phrase.label.is_none() && phrase.children.is_empty() {
            phrase.label = Some(atom.to_owned());
        } else if phrase.label.is_some() && phrase.children.is_empty() && phrase.word.is_none() {
            phrase.word = Some(atom.to_owned());
        } else {
            return false;
        }
        true
    }

    /// Ends a phrase; whether it was one.
    fn close(&mut self) -> bool {
        let Some(phrase) = self.open.pop() else {
            return false;
        };
        self.done = self.open.is_empty();
        let label = phrase.label.unwrap_or_default();
        let head = match phrase.word {
            Some(_) if label == "-NONE-" => return true,
            Some(word) => {
                self.words.push(leaf(&label, &word));
                self.words.len() - 1
            }
            // A phrase of traces alone, or the empty label around a tree.
            None if phrase.children.is_empty() => return !label.is_empty(),
            None => self.join(&label, &phrase.children),
        };
        if let Some(above) = self.open.last_mut() {
            above.children.push((bare(&label).to_owned(), head));
        }
        true
    }

    /// Puts the words at the heads of children under that of the phrase.
    fn join(&mut self, label: &str, children: &[(String, usize)]) -> usize {
        let labels: Vec<&str> = children.iter().map(|(label, _)| label.as_str()).collect();
        let head_child = head(bare(label), &labels);
        let head = children[head_child].1;
        for (place, (child, word)) in children.iter().enumerate() {
            if place != head_child {
                let word = &mut self.words[*word];
                word.head = u32::try_from(head + 1).unwrap_or(u32::MAX);
                word.label = format!("{}/{child}", bare(label));
            }
        }
        head
    }

    fn finish(self, line: Line<'_>) -> Result<Sentence, Fault> {
        if self.words.is_empty() {
            let found = "a tree without any".to_owned();
            return Err(Fault::new(line.number, 0, "words", found));
        }
        let tokens = self.words.into_iter().map(|word| Token {
            surface: word.form.clone(),
            space_after: true,
            words: vec![word],
        });
        Ok(Sentence::new(tokens.collect()))
    }
}

fn leaf(tag: &str, word: &str) -> Word {
    let punctuation = is_punctuation(tag);
    Word {
        form: unescaped(word),
        tag: Some(if punctuation { "PUNCT" } else { tag }.to_owned()),
        head: 0,
        label: "root".to_owned(),
        letters: 0..0,
    }
}

/// A label without functional tags and indices.
fn bare(label: &str) -> &str {
    if label.starts_with('-') {
        return label;
    }
    label.split(['-', '=', '|']).next().unwrap_or(label)
}

fn unescaped(word: &str) -> String {
    match word {
        "-LRB-" => "(".to_owned(),
        "-RRB-" => ")".to_owned(),
        "-LSB-" => "[".to_owned(),
        "-RSB-" => "]".to_owned(),
        "-LCB-" => "{".to_owned(),
        "-RCB-" => "}".to_owned(),
        "``" | "''" => "\"".to_owned(),
        _ => word.replace("\\/", "/").replace("\\*", "*"),
    }
}

// Which child of a phrase holds its head.
//
// The table of Collins (1999, *Head-driven statistical models for natural language parsing*,
// appendix A) for the labels of the Penn Treebank, with its rules for noun phrases. A label that is
// not in it takes its first child that is no punctuation; so do phrases without a listed child.

/// The end from which children are searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// Label of a phrase, where to begin, and the labels of children by priority.
const RULES: &[(&str, Side, &str)] = &[
    (
        "ADJP",
        Left,
        "NNS QP NN $ ADVP JJ VBN VBG ADJP JJR NP JJS DT FW RBR RBS SBAR RB",
    ),
    (
        "ADVP",
        Right,
        "RB RBR RBS FW ADVP TO CD JJR JJ IN NP JJS NN",
    ),
    ("CONJP", Right, "CC RB IN"),
    ("FRAG", Right, ""),
    ("INTJ", Left, ""),
    ("LST", Right, "LS :"),
    (
        "NAC",
        Left,
        "NN NNS NNP NNPS NP NAC EX $ CD QP PRP VBG JJ JJS JJR ADJP FW",
    ),
    ("PP", Right, "IN TO VBG VBN RP FW"),
    ("PRN", Left, ""),
    ("PRT", Right, "RP"),
    ("QP", Left, "$ IN NNS NN JJ RB DT CD NCD QP JJR JJS"),
    ("RRC", Right, "VP NP ADVP ADJP PP"),
    ("S", Left, "TO IN VP S SBAR ADJP UCP NP"),
    (
        "SBAR",
        Left,
        "WHNP WHPP WHADVP WHADJP IN DT S SQ SINV SBAR FRAG",
    ),
    ("SBARQ", Left, "SQ S SINV SBARQ FRAG"),
    ("SINV", Left, "VBZ VBD VBP VB MD VP S SINV ADJP NP"),
    ("SQ", Left, "VBZ VBD VBP VB MD VP SQ"),
    ("UCP", Right, ""),
    ("VP", Left, "TO VBD VBN MD VBZ VB VBG VBP VP ADJP NN NNS NP"),
    ("WHADJP", Left, "CC WRB JJ ADJP"),
    ("WHADVP", Right, "CC WRB"),
    ("WHNP", Left, "WDT WP WP$ WHADJP WHPP WHNP"),
    ("WHPP", Right, "IN TO FW"),
];

/// Position of the head among the labels of a phrase's children, of which there is one at least.
pub(super) fn head(phrase: &str, children: &[&str]) -> usize {
    let found = match phrase {
        "NP" | "NX" | "NML" => noun_head(children),
        _ => {
            let rule = RULES.iter().find(|rule| rule.0 == phrase);
            rule.and_then(|&(_, from, list)| by_priority(from, list, children))
        }
    };
    let from = RULES
        .iter()
        .find(|rule| rule.0 == phrase)
        .map_or(Left, |rule| rule.1);
    let other = || position(from, children, |child| !is_punctuation(child));
    found.or_else(other).unwrap_or(0)
}

fn noun_head(children: &[&str]) -> Option<usize> {
    if children.last() == Some(&"POS") {
        return Some(children.len() - 1);
    }
    let any =
        |from, list: &str| position(from, children, |child| list.split(' ').any(|l| l == child));
    any(Right, "NN NNP NNPS NNS NX NML POS JJR")
        .or_else(|| any(Left, "NP"))
        .or_else(|| any(Right, "$ ADJP PRN"))
        .or_else(|| any(Right, "CD"))
        .or_else(|| any(Right, "JJ JJS RB QP"))
        .or_else(|| position(Right, children, |child| !is_punctuation(child)))
}

fn by_priority(from: Side, list: &str, children: &[&str]) -> Option<usize> {
    list.split_whitespace()
        .find_map(|label| position(from, children, |child| child == label))
}

fn position(from: Side, children: &[&str], wanted: impl Fn(&str) -> bool) -> Option<usize> {
    match from {
        Left => children.iter().position(|child| wanted(child)),
        Right => children.iter().rposition(|child| wanted(child)),
    }
}

/// Whether a part of speech of the Penn Treebank is punctuation.
pub(super) fn is_punctuation(tag: &str) -> bool {
    matches!(
        tag,
        "," | "." | ":" | "``" | "''" | "-LRB-" | "-RRB-" | "HYPH" | "NFP"
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(text: &str) -> Vec<Result<NBest, String>> {
        n_best(text.as_bytes(), "f")
            .map(|group| group.map_err(|error| error.to_string()))
            .collect()
    }

    #[test]
    fn trees_become_dependencies() {
        let groups = all("# sent_id = a\n-1.5\n\
            (TOP (S (NP-SBJ (DT The) (NN dog)) (NP (-NONE- *)) (VP (VBD saw)\n\
              (NP (-LRB- -LRB-) (NN cat\\/s))) (. .)))\n\
            (S (X y))\n\n2 b c\n-3\n( (NP (NN z)) )\n");
        assert_eq!(groups.len(), 2);
        let group = groups[0].as_ref().unwrap();
        assert_eq!((group.id.as_deref(), group.parses.len()), (Some("a"), 2));
        let parse = &group.parses[0];
        assert_eq!((parse.score(), parse.line()), (Some(-1.5), 4));
        let words: Vec<_> = (parse.words().iter())
            .map(|w| (w.form.as_str(), w.head, w.label.as_str()))
            .collect();
        let expected = [
            ("The", 2, "NP/DT"),
            ("dog", 3, "S/NP"),
            ("saw", 0, "root"),
            ("(", 5, "NP/-LRB-"),
            ("cat/s", 3, "VP/NP"),
            (".", 3, "S/."),
        ];
        assert_eq!(words, expected);
        assert!(parse.words()[5].is_punctuation() && parse.words()[3].is_punctuation());
        assert_eq!(group.parses[1].score(), None);
        let other = groups[1].as_ref().unwrap();
        assert_eq!(other.id.as_deref(), Some("b c"));
        assert_eq!(other.parses[0].words()[0].form, "z");
    }

    #[test]
    fn what_is_malformed_has_a_place_and_leaves_the_others() {
        for (text, message) in [
            (
                "(S (NP x)",
                "f:1:1: expected the end of the tree, ), found the end of the sentence",
            ),
            (
                "(S (N x)) y",
                "f:1:11: expected the end of the line after the tree, found \"y\"",
            ),
            ("(S (N x y))", "f:1:9: expected a bracket, found \"y))\""),
            (
                "(S (N x (V y)))",
                "f:1:9: expected the end of a part of speech, ), found",
            ),
            ("(S ())", "f:1:5: expected a phrase with something in it"),
            (
                "(S (-NONE- *))",
                "f:1:1: expected words, found a tree without any",
            ),
            (
                "hello",
                "f:1:1: expected a tree in brackets, its score (from",
            ),
            ("nan\n(N x)", "f:1:1: expected a tree"),
        ] {
            let groups = all(&format!("{text}\n\n(N x)\n"));
            let error = groups[0].as_ref().unwrap_err();
            assert!(error.starts_with(message), "{error}");
            assert!(groups[1].is_ok(), "{text}");
        }
        let deep = format!("{}x{}", "(A ".repeat(600), ")".repeat(600));
        assert!(all(&deep)[0].as_ref().unwrap_err().contains("500 levels"));
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "([(]|[)]| |\n|[A-Z]{1,2}|x|-NONE-|1|#){0,40}") {
            prop_assert!(n_best(text.as_bytes(), "f").count() <= text.len());
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
            prop_assert!(n_best(&bytes, "f").count() <= bytes.len());
        }
    }

    #[test]
    fn heads_of_common_phrases() {
        for (phrase, children, expected) in [
            ("S", "NP VP .", 1),
            ("VP", "VBD NP PP", 0),
            ("VP", "MD VP", 0),
            ("NP", "DT JJ NN", 2),
            ("NP", "NP PP", 0),
            ("NP", "NP CC NP", 0),
            ("NP", "NNP POS", 1),
            ("PP", "IN NP", 0),
            ("SBAR", "WHNP S", 0),
            ("TOP", "S", 0),
            ("XX", ", A B", 1),
            ("FRAG", "NP .", 0),
            ("X", ".", 0),
        ] {
            let labels: Vec<&str> = children.split(' ').collect();
            assert_eq!(head(phrase, &labels), expected, "{phrase} {children}");
        }
    }
}
