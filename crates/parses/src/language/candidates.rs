//! The candidate parses of one sentence, scored and described.

use super::CorpusOptions;
use super::chart::Chart;
use super::grammar::Symbol;
use super::grammar::{Grammar, Production};
use super::lexicon::{Lexicon, Preference};
use super::templates::Candidate;
use super::tree::Brackets;
use super::tree::Tree;
use crate::bag::{Bag, all_same};
use crate::random::Draws;

/// What came of drawing a sentence.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Too short or too long.
    WrongLength,
    /// There is one parse only.
    Unambiguous,
    /// All candidates have the same label.
    Tied,
    /// A query.
    Query(Box<Candidates>),
}

/// A sentence with the parses that a parser without lexical knowledge likes best.
#[derive(Debug)]
pub(super) struct Candidates {
    /// Number of the sentence.
    pub(super) number: u64,
    /// The words with spaces between.
    pub(super) text: String,
    /// The tree it was drawn with, in brackets.
    pub(super) tree: String,
    /// Parses under the grammar.
    pub(super) parses: u64,
    /// Labelled bracket F1 of each candidate in ten-thousandths.
    pub(super) labels: Vec<i32>,
    /// One row a candidate.
    pub(super) features: Bag,
}

impl Candidates {
    /// Draws sentence `number` of a seed and parses it.
    pub(super) fn draw(options: &CorpusOptions, lexicon: &Lexicon, number: u64) -> Outcome {
        let mut draws = Draws::new(options.seed, number);
        let Some(drawn) = draw(lexicon, options.max_length, &mut draws) else {
            return Outcome::WrongLength;
        };
        if drawn.words.len() < options.min_length {
            return Outcome::WrongLength;
        }
        let chart = Chart::new(drawn.tree.tags().to_vec(), options.max_parses);
        if chart.count() < 2 {
            return Outcome::Unambiguous;
        }
        let own = Brackets::of(&drawn.tree);
        let labels: Vec<_> = chart
            .parses()
            .map(|(tree, _)| own.f1(&Brackets::of(&tree)))
            .collect();
        if all_same(&labels) {
            return Outcome::Tied;
        }
        Outcome::Query(Box::new(Self {
            number,
            text: text(lexicon, &drawn.words),
            tree: drawn.tree.bracketed(&drawn.words, lexicon),
            parses: chart.count(),
            labels,
            features: features(lexicon, &drawn, &chart),
        }))
    }

    /// Position of the tree it was drawn with among the candidates.
    pub(super) fn own_rank(&self) -> Option<usize> {
        self.labels
            .iter()
            .position(|&label| label == crate::bag::ONE)
    }
}

fn text(lexicon: &Lexicon, words: &[u32]) -> String {
    let forms: Vec<_> = words.iter().map(|&word| lexicon.form(word)).collect();
    forms.join(" ")
}

fn features(lexicon: &Lexicon, drawn: &Drawn, chart: &Chart) -> Bag {
    let mut bag = Bag::default();
    for (tree, cost) in chart.parses() {
        let candidate = Candidate {
            lexicon,
            words: &drawn.words,
            tree: &tree,
            cost,
        };
        candidate.describe(&mut bag);
    }
    bag
}

// Drawing a sentence with its tree.

/// A sentence as it was drawn: its words and the tree over them.
#[derive(Debug)]
pub(super) struct Drawn {
    pub(super) words: Vec<u32>,
    pub(super) tree: Tree,
}

/// A constituent before its words have positions: the head is drawn first, for the other words
/// depend on it.
struct Constituent {
    symbol: Symbol,
    production: Option<u8>,
    head: u32,
    children: Vec<Constituent>,
}

/// Draws a sentence of at most `max_length` words; `None` when it would have been longer.
pub(super) fn draw(lexicon: &Lexicon, max_length: usize, draws: &mut Draws) -> Option<Drawn> {
    let mut drawing = Drawing {
        lexicon,
        draws,
        words_left: max_length,
    };
    let sentence = drawing.constituent(Symbol::Sentence, Preference::Any)?;
    let mut drawn = Drawn {
        words: Vec::new(),
        tree: Tree::default(),
    };
    lay_out(&sentence, &mut drawn);
    Some(drawn)
}

struct Drawing<'a> {
    lexicon: &'a Lexicon,
    draws: &'a mut Draws,
    words_left: usize,
}

impl Drawing<'_> {
    fn constituent(&mut self, symbol: Symbol, preference: Preference) -> Option<Constituent> {
        if symbol.is_part_of_speech() {
            return self.word(symbol, preference);
        }
        let (number, production, head_child) = self.with_head(symbol, preference)?;
        let head = head_child.head;
        let mut head_child = Some(head_child);
        let mut children = Vec::with_capacity(production.arity());
        for &(symbol, affinity) in &production.children {
            children.push(if affinity.is_head() {
                head_child.take()?
            } else {
                self.constituent(symbol, self.lexicon.preference(affinity, head))?
            });
        }
        Some(Constituent {
            symbol,
            production: Some(number),
            head,
            children,
        })
    }

    /// Draws a production and the child with the head, until the head agrees to what the
    /// production has it govern.
    fn with_head(
        &mut self,
        symbol: Symbol,
        preference: Preference,
    ) -> Option<(u8, &'static Production, Constituent)> {
        loop {
            let words_left = self.words_left;
            let (number, production) = self.production(symbol);
            let (head_symbol, affinity) = production.children[production.head()];
            let inherited = self.lexicon.handed_down(affinity, preference);
            let head_child = self.constituent(head_symbol, inherited)?;
            if !production.governs() || !self.lexicon.declines(head_child.head, self.draws) {
                return Some((number, production, head_child));
            }
            self.words_left = words_left;
        }
    }

    fn word(&mut self, symbol: Symbol, preference: Preference) -> Option<Constituent> {
        self.words_left = self.words_left.checked_sub(1)?;
        Some(Constituent {
            symbol,
            production: None,
            head: self.lexicon.draw(symbol, preference, self.draws),
            children: Vec::new(),
        })
    }

    fn production(&mut self, left: Symbol) -> (u8, &'static Production) {
        let mut choices = Grammar::shared().of(left);
        let total: u32 = choices.clone().map(|(_, choice)| choice.weight).sum();
        let mut mark = self.draws.below(u64::from(total));
        choices
            .find(|(_, choice)| {
                let found = mark < u64::from(choice.weight);
                mark = mark.saturating_sub(u64::from(choice.weight));
                found
            })
            .expect("every nonterminal has productions")
    }
}

fn lay_out(constituent: &Constituent, drawn: &mut Drawn) -> u16 {
    let Some(production) = constituent.production else {
        drawn.words.push(constituent.head);
        return drawn.tree.leaf(constituent.symbol);
    };
    let mut children = Vec::with_capacity(constituent.children.len());
    for child in &constituent.children {
        children.push(lay_out(child, drawn));
    }
    drawn.tree.phrase(production, &children)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_are_drawn_whole_and_keep_to_their_length() {
        let lexicon = Lexicon::new(1, 500, 80);
        let mut found = 0;
        for stream in 1..200 {
            let mut draws = Draws::new(1, stream);
            let Some(drawn) = draw(&lexicon, 20, &mut draws) else {
                continue;
            };
            let root = drawn.tree.nodes().last().unwrap();
            assert_eq!(root.symbol, Symbol::Sentence);
            assert_eq!(usize::from(root.width()), drawn.words.len());
            assert!(drawn.words.len() <= 20);
            found += 1;
        }
        assert!(found > 100, "{found}");
    }
}
