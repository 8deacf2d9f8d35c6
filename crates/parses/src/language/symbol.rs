//! Constituent labels and parts of speech.

use std::fmt;

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
