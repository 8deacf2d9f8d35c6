//! Constituent trees.

use super::grammar::Grammar;
use super::lexicon::Lexicon;
use super::symbol::Symbol;

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
