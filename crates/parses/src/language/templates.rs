//! Feature templates: what a candidate parse is described by.
//!
//! Names are `template:parts`, in printable ASCII without spaces or `#`, so that they fit a file
//! of one name a line and a comment of svmlight alike.

use super::grammar::Grammar;
use super::grammar::Symbol;
use super::lexicon::Lexicon;
use super::tree::{Node, Tree};
use crate::bag::{Bag, ONE};

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
        words(self, bag);
        productions(self, bag);
        projections(self, bag);
        spans(self, bag);
        pairs(self, &dependencies, bag);
        attachments(self, &dependencies, bag);
        coordinations(self, bag);
        numbers(self, &dependencies, bag);
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

/// Words and word bigrams: the same for every parse of a sentence, so that a ranking cannot use
/// them, and yet part of every such corpus.
fn words(candidate: &Candidate<'_>, bag: &mut Bag) {
    let mut before = None;
    for leaf in candidate.tree.leaves() {
        let word = candidate.form(leaf.start);
        bag.count(format_args!("word:{word}"));
        bag.count(format_args!(
            "bigram:{}_{word}",
            candidate.form_or_edge(before)
        ));
        before = Some(leaf.start);
    }
    bag.count(format_args!("bigram:{}_$", candidate.form_or_edge(before)));
}

/// Productions: plain, under the phrase above, and with head words.
fn productions(candidate: &Candidate<'_>, bag: &mut Bag) {
    let grammar = Grammar::shared();
    for (phrase, production) in candidate.tree.phrases() {
        let name = grammar.name(production);
        let above = candidate.tree.node(phrase.parent);
        let head = candidate.form(phrase.head);
        bag.count(format_args!("prod:{name}"));
        bag.count(format_args!("gprod:{}^{name}", above.symbol));
        bag.count(format_args!("lexprod:{name}:{head}"));
        bag.count(format_args!(
            "glexprod:{}:{}^{name}:{head}",
            above.symbol,
            candidate.form(above.head)
        ));
    }
}

/// A word and the phrases above it: those it heads, and its nearest three.
fn projections(candidate: &Candidate<'_>, bag: &mut Bag) {
    let tree = candidate.tree;
    let mut path = String::new();
    for leaf in tree.leaves() {
        let word = candidate.form(leaf.start);
        let [one, two, three] = nearest(candidate, leaf.parent);
        bag.count(format_args!("anc:{word}:{one}^{two}"));
        bag.count(format_args!("anc:{word}:{one}^{two}^{three}"));
        path.clear();
        let mut above = leaf.parent;
        while tree.node(above).head == leaf.head {
            path.push('^');
            path.push_str(tree.node(above).symbol.name());
            if above == tree.node(above).parent {
                break;
            }
            above = tree.node(above).parent;
        }
        bag.count(format_args!("proj:{word}{path}"));
    }
}

/// The symbols of a node and of the two above it; the root stays the root.
fn nearest(candidate: &Candidate<'_>, node: u16) -> [&'static str; 3] {
    let mut at = node;
    [(); 3].map(|()| {
        let here = candidate.tree.node(at);
        at = here.parent;
        here.symbol.name()
    })
}

/// Phrases by their length and by the words at their edges.
fn spans(candidate: &Candidate<'_>, bag: &mut Bag) {
    for (phrase, _) in candidate.tree.phrases() {
        let symbol = phrase.symbol;
        let before = candidate.form_or_edge(phrase.start.checked_sub(1));
        let after = candidate.form_or_edge(Some(phrase.end));
        let (first, last) = (candidate.form(phrase.start), candidate.form(phrase.end - 1));
        bag.count(format_args!("span:{symbol}:{}", bucket(phrase.width())));
        bag.count(format_args!("edges:{symbol}:{first}..{last}"));
        bag.count(format_args!("before:{symbol}:{before}|{first}"));
        bag.count(format_args!("after:{symbol}:{last}|{after}"));
    }
}

/// Head-modifier pairs, chains of three words and pairs of modifiers.
fn pairs(candidate: &Candidate<'_>, dependencies: &[Dependency<'_>], bag: &mut Bag) {
    for dependency in dependencies {
        pair(candidate, dependency, bag);
    }
    let mut governors = vec![None; candidate.words.len()];
    for dependency in dependencies {
        governors[usize::from(dependency.modifier)] = Some(dependency.head);
    }
    for dependency in dependencies {
        if let Some(above) = governors[usize::from(dependency.head)] {
            bag.count(format_args!(
                "chain:{}~{}~{}",
                candidate.form(above),
                candidate.form(dependency.head),
                candidate.form(dependency.modifier)
            ));
        }
    }
    siblings(candidate, &governors, bag);
}

fn pair(candidate: &Candidate<'_>, dependency: &Dependency<'_>, bag: &mut Bag) {
    let Dependency { head, modifier, .. } = *dependency;
    let relation = Grammar::shared().name(dependency.production);
    let (head_form, form) = (candidate.form(head), candidate.form(modifier));
    let (head_tag, tag) = (candidate.tag(head), candidate.tag(modifier));
    let side = if modifier > head { '+' } else { '-' };
    bag.count(format_args!("head~mod:{head_form}~{form}"));
    bag.count(format_args!("arc:{relation}:{head_form}~{form}"));
    let (head_ending, ending) = (candidate.ending(head), candidate.ending(modifier));
    bag.count(format_args!("ends:{relation}:{head_ending}~{ending}"));
    bag.count(format_args!("head~tag:{head_form}~{tag}"));
    bag.count(format_args!("tag~mod:{head_tag}~{form}"));
    bag.count(format_args!(
        "dist:{head_tag}~{tag}:{side}{}",
        bucket(head.abs_diff(modifier))
    ));
}

/// Neighbouring modifiers of one head, from left to right.
fn siblings(candidate: &Candidate<'_>, governors: &[Option<u16>], bag: &mut Bag) {
    let mut last = vec![None; governors.len()];
    for (modifier, governor) in (0u16..).zip(governors) {
        let Some(head) = *governor else { continue };
        let left = last[usize::from(head)].replace(modifier);
        if let Some(left) = left {
            bag.count(format_args!(
                "sib:{}:{}~{}",
                candidate.form(head),
                candidate.form(left),
                candidate.form(modifier)
            ));
        }
    }
}

/// Prepositional phrases with what governs them: head, preposition and object.
fn attachments(candidate: &Candidate<'_>, dependencies: &[Dependency<'_>], bag: &mut Bag) {
    for governed in dependencies {
        if candidate.tree.tag(governed.modifier) != Symbol::Preposition {
            continue;
        }
        let object = dependencies.iter().find(|below| {
            below.head == governed.modifier && below.phrase.symbol == Symbol::PrepositionalPhrase
        });
        let Some(object) = object else { continue };
        let (head, tag) = (candidate.form(governed.head), candidate.tag(governed.head));
        let preposition = candidate.form(governed.modifier);
        let ends = [governed.head, object.modifier].map(|word| candidate.ending(word));
        let object = candidate.form(object.modifier);
        bag.count(format_args!("pp:{head}_{preposition}_{object}"));
        bag.count(format_args!("pp:{tag}_{preposition}_{object}"));
        bag.count(format_args!("pp:{head}_P_{object}"));
        bag.count(format_args!(
            "pp~ends:{tag}_{}_{preposition}_{}",
            ends[0], ends[1]
        ));
    }
}

/// What is joined by a conjunction: head words, parts of speech, shapes and lengths.
fn coordinations(candidate: &Candidate<'_>, bag: &mut Bag) {
    for (phrase, _) in candidate.tree.phrases() {
        if let &[left, conjunction, right] = phrase.children()
            && candidate.tree.node(conjunction).symbol == Symbol::Conjunction
        {
            let [left, conjunction, right] =
                [left, conjunction, right].map(|child| candidate.tree.node(child));
            joined(candidate, left, conjunction, right, bag);
        }
    }
}

fn joined(candidate: &Candidate<'_>, left: &Node, conjunction: &Node, right: &Node, bag: &mut Bag) {
    let (first, second) = (candidate.form(left.head), candidate.form(right.head));
    bag.count(format_args!("conj:{first}~{second}"));
    bag.count(format_args!(
        "conj:{first}~{}~{second}",
        candidate.form(conjunction.head)
    ));
    bag.count(format_args!(
        "conj~tags:{}~{}",
        candidate.tag(left.head),
        candidate.tag(right.head)
    ));
    bag.count(format_args!("conj~shape:{}={}", shape(left), shape(right)));
    let longer = if right.width() > left.width() {
        '+'
    } else {
        '-'
    };
    bag.count(format_args!(
        "conj~length:{}:{longer}{}",
        left.symbol,
        bucket(left.width().abs_diff(right.width()))
    ));
}

fn shape(node: &Node) -> &'static str {
    node.production
        .map_or("", |production| Grammar::shared().name(production))
}

/// The few features that every row has.
fn numbers(candidate: &Candidate<'_>, dependencies: &[Dependency<'_>], bag: &mut Bag) {
    // A sixteenth is 625 ten-thousandths.
    let cost = i32::try_from(candidate.cost).expect("few productions");
    bag.add(format_args!("num:log2prob"), -625 * cost);
    bag.add(
        format_args!("num:depth"),
        ONE * i32::from(depth(candidate.tree)),
    );
    let right = right_branch(candidate.tree);
    bag.add(format_args!("num:right-branch"), ONE * i32::from(right));
    bag.add(
        format_args!("num:mean-distance"),
        mean_distance(dependencies),
    );
}

/// Nodes on the longest way from the root to a word.
fn depth(tree: &Tree) -> u16 {
    let mut depths = vec![1u16; tree.nodes().len()];
    for (id, node) in tree.nodes().iter().enumerate() {
        for &child in node.children() {
            depths[id] = depths[id].max(1 + depths[usize::from(child)]);
        }
    }
    depths.last().copied().unwrap_or(0)
}

/// Nodes on the way from the root to the last word.
fn right_branch(tree: &Tree) -> u16 {
    let words = tree.nodes().last().map_or(0, |root| root.end);
    let last = tree.nodes().iter().filter(|node| node.end == words);
    u16::try_from(last.count()).expect("sentences are short")
}

/// Mean distance between head and modifier in words, in ten-thousandths.
fn mean_distance(dependencies: &[Dependency<'_>]) -> i32 {
    let count = i32::try_from(dependencies.len().max(1)).expect("sentences are short");
    let sum: i32 = dependencies
        .iter()
        .map(|dependency| i32::from(dependency.head.abs_diff(dependency.modifier)))
        .sum();
    (ONE * sum + count / 2) / count
}
