//! Feature templates: what a candidate parse is described by.
//!
//! Names are `template:parts`, in printable ASCII without spaces or `#`, so that they fit a file
//! of one name a line and a comment of svmlight alike.

use super::grammar::Grammar;
use super::lexicon::Lexicon;
use super::tree::{Node, Tree};
use crate::bag::Bag;

mod attachments;
mod coordinations;
mod dependencies;
mod numbers;
mod productions;
mod projections;
mod spans;
mod words;

/// One parse of a sentence.
pub(super) struct Candidate<'a> {
    pub(super) lexicon: &'a Lexicon,
    pub(super) words: &'a [u32],
    pub(super) tree: &'a Tree,
    /// In sixteenths of bits.
    pub(super) cost: u32,
}

/// A word under the word that governs it.
struct Dependency<'a> {
    /// The phrase that brings the two together.
    phrase: &'a Node,
    production: u8,
    /// Position of the governing word.
    head: u16,
    /// Position of the modifying word.
    modifier: u16,
}

impl Candidate<'_> {
    /// Adds all features as one row.
    pub(super) fn describe(&self, bag: &mut Bag) {
        let dependencies = self.dependencies();
        words::describe(self, bag);
        productions::describe(self, bag);
        projections::describe(self, bag);
        spans::describe(self, bag);
        dependencies::describe(self, &dependencies, bag);
        attachments::describe(self, &dependencies, bag);
        coordinations::describe(self, bag);
        numbers::describe(self, &dependencies, bag);
        bag.end_row();
    }

    /// The form of the word at a position.
    fn form(&self, position: u16) -> &str {
        self.lexicon.form(self.words[usize::from(position)])
    }

    /// How the stem of the word at a position ends.
    fn ending(&self, position: u16) -> &str {
        self.lexicon.ending(self.words[usize::from(position)])
    }

    /// The form of the word at a position, or what stands for the edges of the sentence.
    fn form_or_edge(&self, position: Option<u16>) -> &str {
        match position {
            None => "^",
            Some(position) if usize::from(position) >= self.words.len() => "$",
            Some(position) => self.form(position),
        }
    }

    /// The part of speech of the word at a position.
    fn tag(&self, position: u16) -> &'static str {
        self.tree.tag(position).name()
    }

    /// Every word under its governor, in the order of the phrases; the root has none.
    fn dependencies(&self) -> Vec<Dependency<'_>> {
        let grammar = Grammar::shared();
        let mut found = Vec::with_capacity(self.words.len());
        for (phrase, production) in self.tree.phrases() {
            let head = grammar.production(production).head();
            for (place, &child) in phrase.children().iter().enumerate() {
                if place != head {
                    found.push(Dependency {
                        phrase,
                        production,
                        head: phrase.head,
                        modifier: self.tree.node(child).head,
                    });
                }
            }
        }
        found
    }
}

/// A length or distance as features tell it apart.
fn bucket(length: u16) -> &'static str {
    match length {
        0..=4 => ["0", "1", "2", "3", "4"][usize::from(length)],
        5..=6 => "5-6",
        7..=9 => "7-9",
        _ => "10+",
    }
}
