//! Words and what they prefer.

use super::grammar::Affinity;
use super::grammar::Symbol;
use crate::bag::Interner;
use crate::random::Draws;
use crate::random::Weighted;

/// Latent kinds of words: a verb takes subjects of one kind of noun and objects of another. Each
/// kind has a rime that its words' stems end in.
const RIMES: [&str; 12] = [
    "an", "el", "ir", "os", "um", "ath", "ek", "ol", "in", "ard", "eb", "ust",
];

const KINDS: u8 = 12;

/// In this many of a hundred draws that follow a preference, a governor takes its favourite
/// preposition and not just one that leans towards governors like it.
const FAVOURITE: u32 = 50;

/// How much likelier a preposition is with the governors it leans towards.
const LEAN: u64 = 30;

/// How many of a hundred words like to govern a preposition.
const GOVERNORS: u32 = 40;

const PREPOSITIONS: &[&str] = &[
    "of", "in", "with", "for", "on", "from", "by", "at", "under", "near", "over", "after",
    "behind", "through", "against", "beside", "among", "above", "across", "beyond", "towards",
    "within", "without", "around",
];
const DETERMINERS: &[&str] = &["the", "a", "this", "every", "some", "no"];
const CONJUNCTIONS: &[&str] = &["and", "or", "but"];
const RELATIVISERS: &[&str] = &["that", "which", "who"];
const COMPLEMENTISERS: &[&str] = &["how", "whether"];

#[derive(Debug, Clone, Copy)]
struct Word {
    part_of_speech: Symbol,
    kind: u8,
    /// The preposition that this word attracts.
    favourite: u32,
    /// Whether it likes to govern a preposition at all.
    governs: bool,
}

/// Words of one part of speech.
#[derive(Debug, Clone, Default)]
struct Pool {
    all: Weighted,
    kinds: [Weighted; KINDS as usize],
}

/// What is known of a word before it is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Preference {
    /// Nothing.
    Any,
    /// Its kind.
    Kind(u8),
    /// It is a preposition that this word governs.
    Governor(u32),
}

/// The words of a language, all drawn from one seed.
#[derive(Debug)]
pub(super) struct Lexicon {
    /// Forms, numbered as the words are.
    forms: Interner,
    words: Vec<Word>,
    /// Words of each part of speech.
    pools: Vec<Pool>,
    /// Prepositions by how they lean: towards nouns, towards verbs.
    leaning: [Weighted; 2],
    /// Kind of the subjects that each kind of verb prefers.
    subjects: Vec<u8>,
    /// Kind of the objects that each kind of verb or preposition prefers.
    objects: Vec<u8>,
    /// How many of a hundred draws follow a preference.
    strength: u32,
}

impl Lexicon {
    /// A lexicon with `vocabulary` words in the open classes, for a seed. Word forms are
    /// English where the class is closed and made up where it is open.
    pub(super) fn new(seed: u64, vocabulary: usize, strength: u32) -> Self {
        let draws = &mut Draws::new(seed, 0);
        let mut lexicon = Self::closed(CONJUNCTIONS, strength, draws);
        for (part_of_speech, share) in Symbol::OPEN {
            for _ in 0..(vocabulary * share / 100).max(1) {
                let kind = draws.small(KINDS);
                let rime = RIMES[usize::from(kind)];
                coin(part_of_speech, rime, &mut lexicon.forms, draws);
                lexicon.add(part_of_speech, kind, draws);
            }
        }
        lexicon
    }

    /// A lexicon of the given words in the open classes, with blanks between and the likeliest of
    /// each class first; they
    /// are all different, and others than those of the closed classes.
    pub(super) fn of_words(
        seed: u64,
        open: &[(Symbol, &str)],
        conjunctions: &[&str],
        strength: u32,
    ) -> Self {
        let draws = &mut Draws::new(seed, 0);
        let mut lexicon = Self::closed(conjunctions, strength, draws);
        for &(part_of_speech, forms) in open {
            for form in forms.split_whitespace() {
                lexicon.forms.number(form);
                lexicon.add(part_of_speech, draws.small(KINDS), draws);
            }
        }
        lexicon
    }

    /// A lexicon of the closed classes.
    fn closed(conjunctions: &[&str], strength: u32, draws: &mut Draws) -> Self {
        let mut lexicon = Self {
            forms: Interner::default(),
            words: Vec::new(),
            pools: vec![Pool::default(); Symbol::COUNT],
            leaning: Default::default(),
            subjects: draws.permutation(KINDS),
            objects: draws.permutation(KINDS),
            strength,
        };
        lexicon.add_closed_classes(conjunctions, draws);
        lexicon
    }

    fn add_closed_classes(&mut self, conjunctions: &[&str], draws: &mut Draws) {
        let classes = [
            (Symbol::Preposition, PREPOSITIONS),
            (Symbol::Determiner, DETERMINERS),
            (Symbol::Conjunction, conjunctions),
            (Symbol::Relativiser, RELATIVISERS),
            (Symbol::Complementiser, COMPLEMENTISERS),
        ];
        for (part_of_speech, forms) in classes {
            for form in forms {
                self.forms.number(form);
                let word = self.add(part_of_speech, draws.small(KINDS), draws);
                if part_of_speech == Symbol::Preposition {
                    self.lean(word, draws.chance(50));
                }
            }
        }
    }

    /// Gives the form last added its place among the words.
    fn add(&mut self, part_of_speech: Symbol, kind: u8, draws: &mut Draws) -> u32 {
        let word = u32::try_from(self.words.len()).expect("fewer than 2^32 words");
        self.words.push(Word {
            part_of_speech,
            kind,
            // Prepositions are the first words.
            favourite: u32::try_from(draws.below(PREPOSITIONS.len() as u64)).expect("few"),
            governs: draws.chance(GOVERNORS),
        });
        let pool = &mut self.pools[part_of_speech.index()];
        pool.kinds[usize::from(kind)].push_zipf(word);
        pool.all.push_zipf(word);
        word
    }

    fn lean(&mut self, preposition: u32, to_verbs: bool) {
        let weight = 1000 / (u64::from(preposition) + 3);
        let [nouns, verbs] = &mut self.leaning;
        nouns.push(preposition, if to_verbs { weight } else { LEAN * weight });
        verbs.push(preposition, if to_verbs { LEAN * weight } else { weight });
    }

    /// Whether a word is to go without the preposition that was about to be drawn for it.
    pub(super) fn declines(&self, head: u32, draws: &mut Draws) -> bool {
        !self.words[head as usize].governs && draws.chance(self.strength)
    }

    /// The form of a word.
    pub(super) fn form(&self, word: u32) -> &str {
        self.forms.name(word)
    }

    /// The rime of a word's kind, or the form of a word in a closed class.
    pub(super) fn ending(&self, word: u32) -> &str {
        let Word {
            part_of_speech,
            kind,
            ..
        } = self.words[word as usize];
        let open = Symbol::OPEN.iter().any(|&(open, _)| open == part_of_speech);
        if open {
            RIMES[usize::from(kind)]
        } else {
            self.form(word)
        }
    }

    /// What the head of a constituent has a child's head be.
    pub(super) fn preference(&self, affinity: Affinity, head: u32) -> Preference {
        let kind = self.words[head as usize].kind;
        match affinity {
            Affinity::Like => Preference::Kind(kind),
            Affinity::Subject => Preference::Kind(self.subjects[usize::from(kind)]),
            Affinity::Object => Preference::Kind(self.objects[usize::from(kind)]),
            Affinity::Governed => Preference::Governor(head),
            _ => Preference::Any,
        }
    }

    /// What becomes of a constituent's preference on the way to the child with its head.
    pub(super) fn handed_down(&self, affinity: Affinity, preference: Preference) -> Preference {
        let table = match affinity {
            Affinity::HeadLackingSubject => &self.subjects,
            Affinity::HeadLackingObject => &self.objects,
            _ => return preference,
        };
        let Preference::Kind(kind) = preference else {
            return Preference::Any;
        };
        let verbs = (0..KINDS).find(|&verb| table[usize::from(verb)] == kind);
        verbs.map_or(Preference::Any, Preference::Kind)
    }

    /// Draws a word.
    pub(super) fn draw(
        &self,
        part_of_speech: Symbol,
        preference: Preference,
        draws: &mut Draws,
    ) -> u32 {
        let Pool { all, kinds } = &self.pools[part_of_speech.index()];
        if preference == Preference::Any || !draws.chance(self.strength) {
            return all.draw(draws);
        }
        match preference {
            Preference::Kind(kind) if !kinds[usize::from(kind)].is_empty() => {
                kinds[usize::from(kind)].draw(draws)
            }
            Preference::Governor(word) => self.governed_by(word, draws),
            _ => all.draw(draws),
        }
    }

    fn governed_by(&self, governor: u32, draws: &mut Draws) -> u32 {
        let governor = self.words[governor as usize];
        if draws.chance(FAVOURITE) {
            return governor.favourite;
        }
        self.leaning[usize::from(governor.part_of_speech.is_verbal())].draw(draws)
    }
}

// Word forms that can be pronounced.

const ONSETS: [&str; 28] = [
    "b", "d", "f", "g", "h", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "z", "bl", "br",
    "cl", "dr", "fl", "gr", "pl", "pr", "sk", "st", "tr", "sh",
];
const NUCLEI: [&str; 8] = ["a", "e", "i", "o", "u", "ai", "ea", "ou"];
const CODAS: [&str; 10] = ["", "", "", "", "n", "r", "l", "s", "m", "t"];

/// A new word for `part_of_speech`, distinct from all in `taken`, which takes it.
///
/// The rime ends the stem. Then verbs end in `-ed`, adverbs in `-ly`, adjectives in `-ish`;
/// proper nouns are capitalised. A form that is taken grows a syllable.
pub(super) fn coin(part_of_speech: Symbol, rime: &str, taken: &mut Interner, draws: &mut Draws) {
    let ending = match part_of_speech {
        Symbol::Adverb => "ly",
        Symbol::Adjective => "ish",
        _ if part_of_speech.is_verbal() => "ed",
        _ => "",
    };
    let mut stem = String::new();
    loop {
        stem.push_str(&syllable(draws));
        let mut form = format!("{stem}{}{rime}{ending}", draws.pick(&ONSETS));
        if part_of_speech == Symbol::ProperNoun {
            form[..1].make_ascii_uppercase();
        }
        if taken.find(&form).is_none() {
            taken.number(&form);
            return;
        }
    }
}

fn syllable(draws: &mut Draws) -> String {
    [&ONSETS[..], &NUCLEI, &CODAS]
        .map(|parts| *draws.pick(parts))
        .concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_distinct_and_as_many_as_asked() {
        let lexicon = Lexicon::new(1, 1000, 80);
        let closed = PREPOSITIONS.len() + 6 + 3 + 3 + 2;
        assert_eq!(lexicon.words.len(), closed + 1000);
        assert_eq!(lexicon.forms.len(), lexicon.words.len());
    }

    #[test]
    fn a_verb_has_its_favourite_preposition_more_often_than_any_other() {
        let lexicon = Lexicon::new(1, 1000, 80);
        let draws = &mut Draws::new(1, 1);
        let verb = lexicon.draw(Symbol::Transitive, Preference::Any, draws);
        let mut counts = [0; PREPOSITIONS.len()];
        for _ in 0..1000 {
            let preference = lexicon.preference(Affinity::Governed, verb);
            counts[lexicon.draw(Symbol::Preposition, preference, draws) as usize] += 1;
        }
        let favourite = lexicon.words[verb as usize].favourite as usize;
        assert!(counts[favourite] > 300, "{counts:?}");
    }

    #[test]
    fn a_relative_clause_fits_the_noun_as_a_main_clause_would() {
        let lexicon = Lexicon::new(5, 1000, 100);
        let draws = &mut Draws::new(1, 1);
        let noun = lexicon.draw(Symbol::Noun, Preference::Any, draws);
        let clause = lexicon.preference(Affinity::Like, noun);
        let verb = lexicon.draw(
            Symbol::Intransitive,
            lexicon.handed_down(Affinity::HeadLackingSubject, clause),
            draws,
        );
        let subject = lexicon.preference(Affinity::Subject, verb);
        assert_eq!(subject, Preference::Kind(lexicon.words[noun as usize].kind));
    }

    #[test]
    fn words_are_distinct_and_end_as_their_part_of_speech() {
        let mut taken = Interner::default();
        let mut draws = Draws::new(1, 0);
        for _ in 0..2000 {
            coin(Symbol::Adverb, "ol", &mut taken, &mut draws);
        }
        assert_eq!(taken.len(), 2000);
        for number in 0..2000 {
            let word = taken.name(number);
            assert!(word.ends_with("olly") && word.bytes().all(|b| b.is_ascii_lowercase()));
        }
    }
}
