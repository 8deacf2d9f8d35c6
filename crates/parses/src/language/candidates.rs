//! The candidate parses of one sentence, scored and described.

use super::CorpusOptions;
use super::brackets::Brackets;
use super::chart::Chart;
use super::drawing::{Drawn, draw};
use super::lexicon::Lexicon;
use super::templates::Candidate;
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
