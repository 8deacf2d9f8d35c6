//! The probabilistic grammar.
//!
//! Attachment is what it leaves open: a prepositional phrase or a relative clause joins any
//! noun phrase that ends before it, a prepositional phrase or an adverb any verb phrase, a
//! conjunction any two like phrases, and an adjective one noun or the whole coordination.
//! Unary productions lead to parts of speech only, so every sentence has finitely many parses.

use std::fmt;
use std::sync::LazyLock;

use Affinity::{
    Free, Governed, Head, HeadLackingObject, HeadLackingSubject, Like, Object, Subject,
};
use Symbol::{
    Adjective, Adverb, Complement, Complementiser, Conjunction, Determiner, Ditransitive,
    Intransitive, Noun, NounBar, NounPhrase, Preposition, PrepositionalPhrase, ProperNoun,
    RelativeClause, Relativiser, Reporting, Sentence, Transitive, VerbPhrase,
};

/// How the word at the head of a constituent bears on the choice of one child's head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Affinity {
    /// The child that holds the head of the constituent.
    Head,
    /// The head, in a clause whose missing subject is the noun that the clause modifies.
    HeadLackingSubject,
    /// The head, in a clause whose missing object is the noun that the clause modifies.
    HeadLackingObject,
    /// None.
    Free,
    /// A word of the same latent kind.
    Like,
    /// A noun of the kind that the verb takes for its subject.
    Subject,
    /// A noun of the kind that the verb or preposition takes for its object.
    Object,
    /// A preposition that the governing noun or verb attracts.
    Governed,
}

impl Affinity {
    /// Whether the child holds the head.
    pub(super) fn is_head(self) -> bool {
        matches!(
            self,
            Self::Head | Self::HeadLackingSubject | Self::HeadLackingObject
        )
    }
}

/// Left side, weight among the productions with that left side, and children.
type Rule<'a> = (Symbol, u32, &'a [(Symbol, Affinity)]);

/// The grammar that corpora are drawn from. A weight is the share of draws that the production is
/// proposed in; those that add a prepositional phrase come about less often, because heads may
/// decline it.
const RULES: &[Rule<'_>] = &[
    (Sentence, 1, &[(NounPhrase, Subject), (VerbPhrase, Head)]),
    (NounPhrase, 54, &[(Determiner, Free), (NounBar, Head)]),
    (NounPhrase, 17, &[(ProperNoun, Head)]),
    (
        NounPhrase,
        16,
        &[(NounPhrase, Head), (PrepositionalPhrase, Governed)],
    ),
    (
        NounPhrase,
        7,
        &[(NounPhrase, Head), (Conjunction, Free), (NounPhrase, Like)],
    ),
    (NounPhrase, 6, &[(NounPhrase, Head), (RelativeClause, Like)]),
    (NounBar, 70, &[(Noun, Head)]),
    (NounBar, 22, &[(Adjective, Like), (NounBar, Head)]),
    (
        NounBar,
        8,
        &[(NounBar, Head), (Conjunction, Free), (NounBar, Like)],
    ),
    (VerbPhrase, 12, &[(Intransitive, Head)]),
    (VerbPhrase, 38, &[(Transitive, Head), (NounPhrase, Object)]),
    (
        VerbPhrase,
        5,
        &[
            (Ditransitive, Head),
            (NounPhrase, Subject),
            (NounPhrase, Object),
        ],
    ),
    (VerbPhrase, 6, &[(Reporting, Head), (Complement, Free)]),
    (
        VerbPhrase,
        24,
        &[(VerbPhrase, Head), (PrepositionalPhrase, Governed)],
    ),
    (VerbPhrase, 9, &[(VerbPhrase, Head), (Adverb, Like)]),
    (
        VerbPhrase,
        6,
        &[(VerbPhrase, Head), (Conjunction, Free), (VerbPhrase, Like)],
    ),
    (
        PrepositionalPhrase,
        1,
        &[(Preposition, Head), (NounPhrase, Object)],
    ),
    (
        RelativeClause,
        65,
        &[(Relativiser, Free), (VerbPhrase, HeadLackingSubject)],
    ),
    (
        RelativeClause,
        35,
        &[
            (Relativiser, Free),
            (NounPhrase, Subject),
            (Transitive, HeadLackingObject),
        ],
    ),
    (Complement, 1, &[(Complementiser, Free), (Sentence, Head)]),
];

/// One production with its weight among those of the same left side.
#[derive(Debug, Clone)]
pub(super) struct Production {
    pub(super) left: Symbol,
    pub(super) children: Vec<(Symbol, Affinity)>,
    pub(super) weight: u32,
    /// Minus the binary logarithm of its probability, in sixteenths, rounded down.
    pub(super) cost: u32,
}

impl Production {
    /// Position of the head among the children.
    pub(super) fn head(&self) -> usize {
        self.children
            .iter()
            .position(|(_, affinity)| affinity.is_head())
            .unwrap_or(0)
    }

    /// Whether it has the head govern a preposition.
    pub(super) fn governs(&self) -> bool {
        self.children
            .iter()
            .any(|&(_, affinity)| affinity == Affinity::Governed)
    }

    /// How many children it has: the fewest words it spans.
    pub(super) fn arity(&self) -> usize {
        self.children.len()
    }
}

impl fmt::Display for Production {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}>", self.left)?;
        for (position, (child, _)) in self.children.iter().enumerate() {
            let link = if position == 0 { "" } else { "_" };
            write!(f, "{link}{child}")?;
        }
        Ok(())
    }
}

/// The productions, those of a left side in one run.
#[derive(Debug)]
pub(super) struct Grammar {
    productions: Vec<Production>,
    /// How each production is written, such as `NP>NP_PP`.
    names: Vec<String>,
}

impl Grammar {
    /// The one grammar that corpora are drawn from.
    pub(super) fn shared() -> &'static Self {
        static SHARED: LazyLock<Grammar> = LazyLock::new(|| Grammar::from_rules(RULES));
        &SHARED
    }

    fn from_rules(rules: &[Rule<'_>]) -> Self {
        let mut totals = [0; Symbol::COUNT];
        for &(left, weight, _) in rules {
            totals[left.index()] += weight;
        }
        let productions: Vec<_> = rules
            .iter()
            .map(|&(left, weight, children)| Production {
                left,
                children: children.to_vec(),
                weight,
                cost: sixteenths_of_bits(totals[left.index()], weight),
            })
            .collect();
        let names = productions.iter().map(ToString::to_string).collect();
        Self { productions, names }
    }

    /// All productions, in a fixed order.
    pub(super) fn productions(&self) -> &[Production] {
        &self.productions
    }

    /// The production numbered `number`.
    pub(super) fn production(&self, number: u8) -> &Production {
        &self.productions[usize::from(number)]
    }

    /// How production `number` is written.
    pub(super) fn name(&self, number: u8) -> &str {
        &self.names[usize::from(number)]
    }

    /// The productions of one left side with their numbers.
    pub(super) fn of(&self, left: Symbol) -> impl Iterator<Item = (u8, &Production)> + Clone {
        (0u8..)
            .zip(&self.productions)
            .filter(move |(_, production)| production.left == left)
    }
}

/// `floor(16 * log2(total / weight))` for `weight <= total`, by repeated squaring of integers:
/// a library's logarithm may differ in its last bit between platforms.
fn sixteenths_of_bits(total: u32, weight: u32) -> u32 {
    const ONE: u64 = 1 << 30;
    let whole = (total / weight).ilog2();
    let mut ratio = u64::from(total) * ONE / (u64::from(weight) << whole);
    let mut bits = whole;
    for _ in 0..4 {
        ratio = ratio * ratio / ONE;
        bits = 2 * bits + u32::from(ratio >= 2 * ONE);
        if ratio >= 2 * ONE {
            ratio /= 2;
        }
    }
    bits
}

// Constituent labels and parts of speech.

/// A nonterminal of the grammar: a phrase, or a part of speech that stands over one word.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Symbol {
    Sentence,
    NounPhrase,
    /// A noun phrase without its determiner.
    NounBar,
    VerbPhrase,
    PrepositionalPhrase,
    RelativeClause,
    /// A clause behind a complementiser.
    Complement,
    Noun,
    ProperNoun,
    Intransitive,
    Transitive,
    Ditransitive,
    /// A verb of saying or thinking, whose complement is a clause.
    Reporting,
    Adjective,
    Adverb,
    Determiner,
    Preposition,
    Conjunction,
    Relativiser,
    Complementiser,
}

impl Symbol {
    /// How many symbols there are.
    pub(super) const COUNT: usize = 20;

    /// Parts of speech whose words are made up, with the share of the vocabulary (of 100)
    /// that each has.
    pub(super) const OPEN: [(Self, usize); 8] = [
        (Self::Noun, 44),
        (Self::ProperNoun, 14),
        (Self::Transitive, 14),
        (Self::Intransitive, 7),
        (Self::Ditransitive, 2),
        (Self::Reporting, 2),
        (Self::Adjective, 12),
        (Self::Adverb, 5),
    ];

    /// Position in tables over symbols.
    pub(super) fn index(self) -> usize {
        self as usize
    }

    /// Whether the symbol is a part of speech.
    pub(super) fn is_part_of_speech(self) -> bool {
        self >= Self::Noun
    }

    /// Whether the head of the symbol is a verb.
    pub(super) fn is_verbal(self) -> bool {
        matches!(
            self,
            Self::Sentence
                | Self::VerbPhrase
                | Self::Intransitive
                | Self::Transitive
                | Self::Ditransitive
                | Self::Reporting
        )
    }

    /// The name that trees and features are written with.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Sentence => "S",
            Self::NounPhrase => "NP",
            Self::NounBar => "NBAR",
            Self::VerbPhrase => "VP",
            Self::PrepositionalPhrase => "PP",
            Self::RelativeClause => "RC",
            Self::Complement => "SBAR",
            Self::Noun => "N",
            Self::ProperNoun => "PN",
            Self::Intransitive => "VI",
            Self::Transitive => "VT",
            Self::Ditransitive => "VD",
            Self::Reporting => "VS",
            Self::Adjective => "ADJ",
            Self::Adverb => "ADV",
            Self::Determiner => "DET",
            Self::Preposition => "P",
            Self::Conjunction => "CONJ",
            Self::Relativiser => "REL",
            Self::Complementiser => "COMP",
        }
    }
}

impl fmt::Display for Symbol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn costs_are_sixteenths_of_bits() {
        assert_eq!(sixteenths_of_bits(1, 1), 0);
        assert_eq!(sixteenths_of_bits(2, 1), 16);
        assert_eq!(sixteenths_of_bits(8, 1), 48);
        // 16 log2(3) = 25.36, 16 log2(100/54) = 14.22
        assert_eq!(sixteenths_of_bits(3, 1), 25);
        assert_eq!(sixteenths_of_bits(100, 54), 14);
    }

    #[test]
    fn productions_have_one_head_and_unary_ones_lead_to_words() {
        for production in Grammar::shared().productions() {
            let heads = production.children.iter().filter(|(_, a)| a.is_head());
            assert_eq!(heads.count(), 1, "{production}");
            let (first, _) = production.children[0];
            assert!(production.arity() > 1 || first.is_part_of_speech());
        }
    }

    #[test]
    fn productions_are_written_readably() {
        let grammar = Grammar::shared();
        assert!(grammar.names.iter().any(|name| name == "NP>NP_PP"));
    }
}
