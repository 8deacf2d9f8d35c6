//! Constituent trees.

use std::cmp::Ordering;

use super::grammar::Grammar;
use super::grammar::Symbol;
use super::lexicon::Lexicon;

/// A phrase, or a part of speech over one word.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub(super) symbol: Symbol,
    /// Number of the production, unless the node is a part of speech.
    pub(super) production: Option<u8>,
    /// First word.
    pub(super) start: u16,
    /// One past the last word.
    pub(super) end: u16,
    /// The word that heads it.
    pub(super) head: u16,
    /// The node above; a root is its own parent.
    pub(super) parent: u16,
    children: [u16; 3],
    arity: u8,
}

impl Node {
    /// The nodes below, left to right.
    pub(super) fn children(&self) -> &[u16] {
        &self.children[..usize::from(self.arity)]
    }

    /// How many words it spans.
    pub(super) fn width(&self) -> u16 {
        self.end - self.start
    }
}

/// A tree over word positions; it is built from its leaves upwards, so the root comes last.
#[derive(Debug, Clone, Default)]
pub(super) struct Tree {
    nodes: Vec<Node>,
    /// Part of speech of every word.
    tags: Vec<Symbol>,
}

impl Tree {
    /// Adds the next word's part of speech.
    pub(super) fn leaf(&mut self, symbol: Symbol) -> u16 {
        let start = u16::try_from(self.tags.len()).expect("sentences are short");
        self.tags.push(symbol);
        self.push(Node {
            symbol,
            production: None,
            start,
            end: start + 1,
            head: start,
            parent: 0,
            children: [0; 3],
            arity: 0,
        })
    }

    /// Adds a phrase over nodes that are there already.
    pub(super) fn phrase(&mut self, production: u8, below: &[u16]) -> u16 {
        let rule = Grammar::shared().production(production);
        let mut children = [0; 3];
        children[..below.len()].copy_from_slice(below);
        let id = self.push(Node {
            symbol: rule.left,
            production: Some(production),
            start: self.node(below[0]).start,
            end: self.node(below[below.len() - 1]).end,
            head: self.node(below[rule.head()]).head,
            parent: 0,
            children,
            arity: u8::try_from(below.len()).expect("at most three children"),
        });
        for &child in below {
            self.nodes[usize::from(child)].parent = id;
        }
        id
    }

    fn push(&mut self, node: Node) -> u16 {
        let id = u16::try_from(self.nodes.len()).expect("sentences are short");
        self.nodes.push(Node { parent: id, ..node });
        id
    }

    /// The node numbered `id`.
    pub(super) fn node(&self, id: u16) -> &Node {
        &self.nodes[usize::from(id)]
    }

    /// All nodes, children before parents.
    pub(super) fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The phrases with their productions, children before parents.
    pub(super) fn phrases(&self) -> impl Iterator<Item = (&Node, u8)> {
        self.nodes
            .iter()
            .filter_map(|node| Some((node, node.production?)))
    }

    /// The part of speech of the word at a position.
    pub(super) fn tag(&self, position: u16) -> Symbol {
        self.tags[usize::from(position)]
    }

    /// The parts of speech of the sentence.
    pub(super) fn tags(&self) -> &[Symbol] {
        &self.tags
    }

    /// The nodes over the words, left to right.
    pub(super) fn leaves(&self) -> impl Iterator<Item = &Node> {
        self.nodes.iter().filter(|node| node.production.is_none())
    }

    /// The tree in brackets with the given words at its leaves.
    pub(super) fn bracketed(&self, words: &[u32], lexicon: &Lexicon) -> String {
        let mut text = String::new();
        let root = self.nodes.len().checked_sub(1);
        if let Some(root) = root.and_then(|root| u16::try_from(root).ok()) {
            self.write(root, words, lexicon, &mut text);
        }
        text
    }

    fn write(&self, id: u16, words: &[u32], lexicon: &Lexicon, text: &mut String) {
        let node = self.node(id);
        text.push('(');
        text.push_str(node.symbol.name());
        for &child in node.children() {
            text.push(' ');
            self.write(child, words, lexicon, text);
        }
        if node.production.is_none() {
            text.push(' ');
            text.push_str(lexicon.form(words[usize::from(node.start)]));
        }
        text.push(')');
    }
}

// Labelled bracket F1.

/// The labelled spans of a tree's phrases; parts of speech are none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Brackets(Vec<(Symbol, u16, u16)>);

impl Brackets {
    /// The brackets of a tree.
    pub(super) fn of(tree: &Tree) -> Self {
        let mut spans: Vec<_> = tree
            .phrases()
            .map(|(node, _)| (node.symbol, node.start, node.end))
            .collect();
        spans.sort_unstable();
        Self(spans)
    }

    /// Labelled bracket F1 between two trees over one sentence, in ten-thousandths rounded to
    /// the nearest: `2 |A and B| / (|A| + |B|)`, brackets that come twice counting twice.
    pub(super) fn f1(&self, other: &Self) -> i32 {
        let sum = self.0.len() + other.0.len();
        if sum == 0 {
            return 0;
        }
        let rounded = (20_000 * self.shared(other) + sum / 2) / sum;
        i32::try_from(rounded).expect("at most 10000")
    }

    fn shared(&self, other: &Self) -> usize {
        let (mut left, mut right) = (self.0.iter().peekable(), other.0.iter().peekable());
        let mut shared = 0;
        while let (Some(a), Some(b)) = (left.peek(), right.peek()) {
            let order = a.cmp(b);
            shared += usize::from(order == Ordering::Equal);
            if order != Ordering::Greater {
                left.next();
            }
            if order != Ordering::Less {
                right.next();
            }
        }
        shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brackets(spans: &[(Symbol, u16, u16)]) -> Brackets {
        let mut spans = spans.to_vec();
        spans.sort_unstable();
        Brackets(spans)
    }

    #[test]
    fn f1_of_small_trees() {
        use Symbol::{
            NounPhrase as NP, PrepositionalPhrase as PP, Sentence as S, VerbPhrase as VP,
        };
        // "Kim saw Sandy with Lee", the phrase on the noun and on the verb.
        let small = [
            (S, 0, 5),
            (NP, 0, 1),
            (VP, 1, 5),
            (NP, 2, 3),
            (PP, 3, 5),
            (NP, 4, 5),
        ];
        let noun = brackets(&[&small[..], &[(NP, 2, 5)]].concat());
        let verb = brackets(&[&small[..], &[(VP, 1, 3)]].concat());
        assert_eq!(noun.f1(&noun), 10_000);
        // 2 * 6 / (7 + 7) = 0.857142...
        assert_eq!(noun.f1(&verb), 8571);
        assert_eq!(verb.f1(&noun), 8571);
        assert_eq!(noun.f1(&brackets(&[(PP, 0, 5)])), 0);
    }

    #[test]
    fn brackets_that_come_twice_count_twice() {
        let once = brackets(&[(Symbol::NounPhrase, 0, 2)]);
        let twice = brackets(&[(Symbol::NounPhrase, 0, 2); 2]);
        // 2 * 1 / 3
        assert_eq!(once.f1(&twice), 6667);
    }
}
