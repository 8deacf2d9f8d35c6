//! Enumerating parses.
//!
//! A chart holds for every symbol and span the number of derivations and the `n` cheapest ones,
//! each of which points to derivations of its parts by their ranks. With the order
//! (cost, production, boundaries, ranks of the parts) the list of a span is exactly the first
//! `n` of all its derivations: a derivation that uses rank `i` of one part and `j` of another
//! comes after the `(i + 1)(j + 1) - 1` that use earlier ranks. This is the first algorithm of
//! Huang & Chiang, *Better k-best Parsing* (IWPT 2005). For a sentence of `l` words it takes
//! `O(l^3 n log n)` time for binary productions and `O(l^2 n)` memory.

use std::ops::Range;

use super::grammar::Symbol;
use super::grammar::{Grammar, Production};
use super::tree::Tree;

/// One way to make a constituent; the order is that of the fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Derivation {
    cost: u32,
    production: u8,
    /// Where the first two children end.
    ends: [u16; 2],
    /// Which derivation each child has.
    ranks: [u16; 3],
}

/// Derivations of one symbol over one span.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    first: usize,
    len: u16,
    /// How many there would be without a limit.
    count: u64,
}

/// The parses of one sentence.
#[derive(Debug)]
pub(super) struct Chart {
    tags: Vec<Symbol>,
    cells: Vec<Cell>,
    derivations: Vec<Derivation>,
    limit: usize,
}

impl Chart {
    /// Parses a sentence given by its parts of speech, keeping the `limit` cheapest parses,
    /// which is at most 65535.
    pub(super) fn new(tags: Vec<Symbol>, limit: usize) -> Self {
        let positions = tags.len() + 1;
        let mut chart = Self {
            cells: vec![Cell::default(); Symbol::COUNT * positions * positions],
            derivations: Vec::new(),
            limit,
            tags,
        };
        chart.add_words();
        let mut found = Vec::new();
        for width in 1..positions {
            for start in 0..positions - width {
                chart.fill(start, start + width, &mut found);
            }
        }
        chart
    }

    /// How many parses there are as sentences, with or without the limit; `u64::MAX` stands
    /// for that many or more.
    pub(super) fn count(&self) -> u64 {
        self.cell(Symbol::Sentence, 0, self.tags.len()).count
    }

    /// The cheapest parses with their costs in sixteenths of bits, in order.
    pub(super) fn parses(&self) -> impl Iterator<Item = (Tree, u32)> {
        let cell = self.cell(Symbol::Sentence, 0, self.tags.len());
        (0..cell.len).map(move |rank| {
            let mut tree = Tree::default();
            self.build(&mut tree, Symbol::Sentence, (0, self.tags.len()), rank);
            (tree, self.derivations[cell.first + usize::from(rank)].cost)
        })
    }

    fn index(&self, symbol: Symbol, start: usize, end: usize) -> usize {
        let positions = self.tags.len() + 1;
        (start * positions + end) * Symbol::COUNT + symbol.index()
    }

    fn cell(&self, symbol: Symbol, start: usize, end: usize) -> Cell {
        self.cells[self.index(symbol, start, end)]
    }

    fn add_words(&mut self) {
        for position in 0..self.tags.len() {
            let index = self.index(self.tags[position], position, position + 1);
            self.cells[index] = Cell {
                first: self.derivations.len(),
                len: 1,
                count: 1,
            };
            self.derivations.push(Derivation {
                cost: 0,
                production: 0,
                ends: [0; 2],
                ranks: [0; 3],
            });
        }
    }

    /// Finds the phrases over one span; those over its parts are there already.
    fn fill(&mut self, start: usize, end: usize, found: &mut Vec<Derivation>) {
        let mut productions = (0u8..).zip(Grammar::shared().productions()).peekable();
        while let Some(&(_, Production { left, .. })) = productions.peek() {
            found.clear();
            let mut count = 0u64;
            while let Some((number, production)) = productions.next_if(|(_, p)| p.left == *left) {
                let mut split = Split::new(number, production);
                count = count.saturating_add(self.splits(&mut split, start, end, found));
            }
            found.sort_unstable();
            found.truncate(self.limit);
            let index = self.index(*left, start, end);
            self.cells[index] = Cell {
                first: self.derivations.len(),
                len: u16::try_from(found.len()).expect("a limit of 16 bits"),
                count,
            };
            self.derivations.extend_from_slice(found);
        }
    }

    /// Goes through the boundaries between the children that are left, and returns how many
    /// derivations they make.
    fn splits(
        &self,
        split: &mut Split<'_>,
        start: usize,
        end: usize,
        found: &mut Vec<Derivation>,
    ) -> u64 {
        let placed = split.placed;
        let last = placed + 1 == split.production.arity();
        let (symbol, _) = split.production.children[placed];
        let mut count = 0u64;
        for middle in split.ends_of_next(start, end) {
            let cell = self.cell(symbol, start, middle);
            if cell.len == 0 {
                continue;
            }
            split.place(placed, cell, middle);
            let more = if last {
                self.combine(split, found);
                split.count()
            } else {
                self.splits(split, middle, end, found)
            };
            count = count.saturating_add(more);
        }
        split.placed = placed;
        count
    }

    /// Lists the derivations that combine ranks whose product is within the limit.
    fn combine(&self, split: &Split<'_>, found: &mut Vec<Derivation>) {
        let cost = |child: usize, rank: u16| {
            self.derivations[split.cells[child].first + usize::from(rank)].cost
        };
        let ranks = |child: usize, used: usize| {
            let len = if child < split.placed {
                usize::from(split.cells[child].len)
            } else {
                1
            };
            0..u16::try_from(len.min(self.limit / used)).expect("a limit of 16 bits")
        };
        for a in ranks(0, 1) {
            let used = usize::from(a) + 1;
            for b in ranks(1, used) {
                let used = used * (usize::from(b) + 1);
                for c in ranks(2, used) {
                    let ranks = [a, b, c];
                    let below: u32 = (0..split.placed).map(|i| cost(i, ranks[i])).sum();
                    found.push(Derivation {
                        cost: split.production.cost + below,
                        production: split.number,
                        ends: split.ends,
                        ranks,
                    });
                }
            }
        }
    }

    fn build(
        &self,
        tree: &mut Tree,
        symbol: Symbol,
        (start, end): (usize, usize),
        rank: u16,
    ) -> u16 {
        if symbol.is_part_of_speech() {
            return tree.leaf(symbol);
        }
        let cell = self.cell(symbol, start, end);
        let derivation = self.derivations[cell.first + usize::from(rank)];
        let production = Grammar::shared().production(derivation.production);
        let mut children = Vec::with_capacity(production.arity());
        let mut from = start;
        for (place, &(child, _)) in production.children.iter().enumerate() {
            let last = place + 1 == production.arity();
            let to = if last {
                end
            } else {
                usize::from(derivation.ends[place])
            };
            children.push(self.build(tree, child, (from, to), derivation.ranks[place]));
            from = to;
        }
        tree.phrase(derivation.production, &children)
    }
}

/// A production whose children are being given spans.
struct Split<'a> {
    number: u8,
    production: &'a Production,
    cells: [Cell; 3],
    ends: [u16; 2],
    placed: usize,
}

impl<'a> Split<'a> {
    fn new(number: u8, production: &'a Production) -> Self {
        Self {
            number,
            production,
            cells: [Cell::default(); 3],
            ends: [0; 2],
            placed: 0,
        }
    }

    /// Where the next child may end if it starts at `start`, so that the last ends at `end`.
    fn ends_of_next(&self, start: usize, end: usize) -> Range<usize> {
        let after = self.production.arity() - self.placed - 1;
        let (symbol, _) = self.production.children[self.placed];
        let latest = (end + 1).saturating_sub(after);
        match (after, symbol.is_part_of_speech()) {
            (0, _) => end..end + 1,
            (_, true) => start + 1..latest.min(start + 2),
            (_, false) => start + 1..latest,
        }
    }

    fn place(&mut self, child: usize, cell: Cell, end: usize) {
        self.cells[child] = cell;
        if child + 1 < self.production.arity() {
            self.ends[child] = u16::try_from(end).expect("sentences are short");
        }
        self.placed = child + 1;
    }

    fn count(&self) -> u64 {
        self.cells[..self.placed]
            .iter()
            .fold(1, |product: u64, cell| product.saturating_mul(cell.count))
    }
}

#[cfg(test)]
mod tests {
    use super::Symbol::{
        Adjective as ADJ, Conjunction as CONJ, Determiner as DET, Intransitive as VI, Noun as N,
        Preposition as P, ProperNoun as PN, Relativiser as REL, Transitive as VT,
    };
    use super::*;

    fn count(tags: &[Symbol]) -> u64 {
        let chart = Chart::new(tags.to_vec(), 1000);
        assert_eq!(chart.parses().count() as u64, chart.count());
        chart.count()
    }

    #[test]
    fn prepositional_phrases_attach_in_catalan_numbers() {
        // The sites are the verb, its object and every noun phrase behind a preposition, and
        // attachments may not cross.
        let mut tags = vec![PN, VT, PN];
        for catalan in [1, 2, 5, 14, 42] {
            assert_eq!(count(&tags), catalan);
            tags.extend([P, PN]);
        }
    }

    #[test]
    fn coordination_brackets_in_catalan_numbers() {
        let mut tags = vec![PN, VT, PN];
        for catalan in [1, 1, 2, 5] {
            assert_eq!(count(&tags), catalan);
            tags.extend([CONJ, PN]);
        }
    }

    #[test]
    fn small_ambiguities_worked_out_by_hand() {
        // [old [men and women]], [[old men] and women]
        assert_eq!(count(&[DET, ADJ, N, CONJ, N, VI]), 2);
        // Kim and [Sandy in Rome], [Kim and Sandy] in Rome
        assert_eq!(count(&[PN, CONJ, PN, P, PN, VI]), 2);
        // The same two for the object, and the phrase on the verb.
        assert_eq!(count(&[PN, VT, PN, CONJ, PN, P, PN]), 3);
        // The clause modifies the first or the second noun phrase.
        assert_eq!(count(&[PN, P, PN, REL, VI, VI]), 2);
        // The phrase is with the verb of the clause, or with the noun phrase that ends with it.
        assert_eq!(count(&[PN, REL, VI, P, PN, VI]), 2);
        assert_eq!(count(&[PN, VT]), 0);
    }

    #[test]
    fn the_cheapest_come_first_and_a_lower_limit_keeps_the_same_ones() {
        let tags = vec![PN, VT, DET, ADJ, N, CONJ, N, P, PN, P, PN, CONJ, PN];
        let all: Vec<_> = Chart::new(tags.clone(), 10_000).parses().collect();
        assert!(all.windows(2).all(|pair| pair[0].1 <= pair[1].1));
        let brackets = |tree: &Tree| super::super::tree::Brackets::of(tree);
        for limit in [1, 2, 7, 20] {
            let best: Vec<_> = Chart::new(tags.clone(), limit).parses().collect();
            assert_eq!(best.len(), limit.min(all.len()));
            for (kept, full) in best.iter().zip(&all) {
                assert_eq!(kept.1, full.1);
                assert_eq!(brackets(&kept.0), brackets(&full.0));
            }
        }
    }
}
