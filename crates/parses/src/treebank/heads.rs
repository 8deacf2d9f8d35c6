//! Function words as heads.
//!
//! In Universal Dependencies adpositions, conjunctions of clauses, auxiliaries and copulas depend
//! on a content word, by the relations `case`, `mark`, `aux` and `cop`. Surface-Syntactic Universal
//! Dependencies (SUD) turn these relations (K. Gerdes, B. Guillaume, S. Kahane and G. Perrier, *SUD
//! or Surface-Syntactic Universal Dependencies: An annotation scheme near-isomorphic to UD*, UDW
//! 2018). This module has the rules of SUD that need no lexicon:
//!
//! * A content word and its function words become a chain, each the head of the next. First come
//!   the function words left of the content word, from left to right; then those right of it, from
//!   right to left; then the content word: `that -> will -> be -> in -> Paris`. A function word
//!   with function words of its own has them above it in the chain.
//! * The first word of the chain takes the head and the relation of the content word. Each further
//!   word takes the relation of the word above it: `in -case-> Paris`.
//! * Other dependents stay with their word, with three exceptions. Subjects and dependents of the
//!   whole clause ([`OUTER`]) climb the chain up to a `mark`. A conjunct climbs over function words
//!   of the kinds that it has itself. A dependent on the far side of a function word climbs over it
//!   (`not in Paris`), unless it is an argument ([`ARGUMENTS`]).
//!
//! Relations keep their names, and coordinations their form. The result is a tree with as many roots
//! and the same relations. Each chain can be read back: the relations `case`, `mark`, `aux` and `cop`
//! lead down from function words, and the content word is at its end.

use super::{Sentence, Word};

/// Relations of dependents that climb over all function words except a `mark`.
const OUTER: [&str; 8] = [
    "nsubj",
    "csubj",
    "expl",
    "dislocated",
    "vocative",
    "parataxis",
    "discourse",
    "orphan",
];

/// Relations of dependents that never climb, such as `what` in `what will he eat`.
const ARGUMENTS: [&str; 4] = ["obj", "iobj", "ccomp", "xcomp"];

/// The kind of a function word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Adposition,
    /// An auxiliary or a copula.
    Verb,
    Subordinator,
}

/// A relation without its subtype.
fn base(label: &str) -> &str {
    label.split(':').next().unwrap_or(label)
}

/// The kind of a word that depends on its content word.
fn kind(word: &Word) -> Option<Kind> {
    match base(&word.label) {
        _ if word.head == 0 => None,
        "case" => Some(Kind::Adposition),
        "aux" | "cop" => Some(Kind::Verb),
        "mark" => Some(Kind::Subordinator),
        _ => None,
    }
}

impl Sentence {
    /// Number of adpositions that depend on their nouns by `case`. This relation identifies Universal Dependencies;
    /// SUD also has `mark`.
    pub(crate) fn dependent_adpositions(&self) -> usize {
        let adposition = |word: &&Word| kind(word) == Some(Kind::Adposition);
        self.words.iter().filter(adposition).count()
    }

    /// Makes function words heads.
    pub(crate) fn turn_heads(&mut self) {
        let chains = Chains::of(&self.words);
        let label = |word: usize| self.words[word].label.clone();
        let mut turned: Vec<(Option<usize>, String)> = (chains.above.iter())
            .map(|above| (*above, above.map_or_else(String::new, label)))
            .collect();
        for word in 0..self.words.len() {
            if chains.kinds[word].is_none() {
                turned[chains.first[word]] = (chains.head_of(word, &self.words), label(word));
            }
        }
        for (word, (head, label)) in self.words.iter_mut().zip(turned) {
            word.head = head.map_or(0, number);
            word.label = label;
        }
    }
}

/// The number of the word at a position.
#[expect(
    clippy::cast_possible_truncation,
    reason = "words have numbers of 32 bits"
)]
fn number(position: usize) -> u32 {
    position as u32 + 1
}

/// The position of a word's head.
fn head(word: &Word) -> Option<usize> {
    (word.head as usize).checked_sub(1)
}

/// The chains of a sentence, by word position.
struct Chains {
    /// The kind of each function word.
    kinds: Vec<Option<Kind>>,
    /// The function words of each content word.
    functions: Vec<Vec<usize>>,
    /// The next word up in each word's chain.
    above: Vec<Option<usize>>,
    /// The first word of the chain that ends with each word.
    first: Vec<usize>,
}

impl Chains {
    fn of(words: &[Word]) -> Self {
        let mut chains = Self {
            kinds: words.iter().map(kind).collect(),
            functions: vec![Vec::new(); words.len()],
            above: vec![None; words.len()],
            first: (0..words.len()).collect(),
        };
        for (position, word) in words.iter().enumerate() {
            if let (Some(_), Some(head)) = (chains.kinds[position], head(word)) {
                chains.functions[head].push(position);
            }
        }
        // An inner chain is complete before it joins an outer one.
        for word in upwards(words) {
            chains.link(word);
        }
        chains
    }

    /// Puts a word's function words, with their own chains, above it.
    fn link(&mut self, word: usize) {
        let functions = &self.functions[word];
        let (left, right) = functions.split_at(functions.partition_point(|&at| at < word));
        let mut above = None;
        for &function in left.iter().chain(right.iter().rev()) {
            if above.is_none() {
                self.first[word] = self.first[function];
            }
            self.above[self.first[function]] = above;
            above = Some(function);
        }
        self.above[word] = above;
    }

    /// The head of a content word's chain: its old head, or a word above that head.
    fn head_of(&self, content: usize, words: &[Word]) -> Option<usize> {
        let old = head(&words[content])?;
        let mut head = old;
        while head != self.first[old]
            && let Some(above) = self.above[head]
            && self.climbs(content, words, above, head)
        {
            head = above;
        }
        Some(head)
    }

    /// Whether the chain of a content word climbs over the function word `above` from the word `below` it.
    fn climbs(&self, content: usize, words: &[Word], above: usize, below: usize) -> bool {
        let (relation, kind) = (base(&words[content].label), self.kinds[above]);
        let first = self.first[content];
        let beyond = (first < above) == (above < below);
        if OUTER.contains(&relation) {
            return beyond || kind != Some(Kind::Subordinator);
        }
        if relation == "conj" {
            let mut own = self.functions[content].iter();
            return own.any(|&function| self.kinds[function] == kind);
        }
        beyond && !ARGUMENTS.contains(&relation)
    }
}

/// All words, each after the words that it governs.
fn upwards(words: &[Word]) -> Vec<usize> {
    let mut governed = vec![Vec::new(); words.len()];
    let mut order = Vec::with_capacity(words.len());
    for (position, word) in words.iter().enumerate() {
        match head(word) {
            Some(head) => governed[head].push(position),
            None => order.push(position),
        }
    }
    let mut next = 0;
    while let Some(&word) = order.get(next) {
        order.append(&mut governed[word]);
        next += 1;
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::treebank::conllu;

    /// A sentence of words such as `in/4/case`.
    fn sentence(words: &str) -> Sentence {
        let row = |(number, word): (usize, &str)| {
            let parts: Vec<&str> = word.split('/').collect();
            let [form, head, label] = parts[..] else {
                panic!("{word}");
            };
            format!("{number}\t{form}\t_\t_\t_\t_\t{head}\t{label}\t_\t_\n")
        };
        let rows: String = (1..).zip(words.split(' ')).map(row).collect();
        let sentence = conllu::sentences(rows.as_bytes(), "f").next();
        sentence.unwrap().unwrap()
    }

    fn turned(words: &str) -> String {
        let mut sentence = sentence(words);
        sentence.turn_heads();
        let write = |word: &Word| format!("{}/{}/{}", word.form, word.head, word.label);
        let words: Vec<String> = sentence.words().iter().map(write).collect();
        words.join(" ")
    }

    #[test]
    fn function_words_become_heads() {
        for (content, function) in [
            // A preposition takes the place of its noun.
            (
                "He/2/nsubj lives/0/root in/4/case Paris/2/obl ./2/punct",
                "He/2/nsubj lives/0/root in/2/obl Paris/3/case ./2/punct",
            ),
            // The outermost function word is the head. Subjects climb over all except a mark.
            (
                "that/6/mark he/6/nsubj will/6/aux be/6/cop in/6/case Paris/0/root",
                "that/0/root he/3/nsubj will/1/mark be/3/aux in/4/cop Paris/5/case",
            ),
            // Function words on the right are below the left ones.
            (
                "dass/5/mark er/5/nsubj hat/5/aux heute/5/advmod schlafen/0/root wollen/5/aux",
                "dass/0/root er/3/nsubj hat/1/mark heute/5/advmod schlafen/6/aux wollen/3/aux",
            ),
            (
                "Taroo/4/obl ga/1/case ni/1/case iku/0/root",
                "Taroo/2/case ga/3/case ni/4/obl iku/0/root",
            ),
            // Subtypes change nothing. An adverb before all function words climbs, and one between them stays.
            (
                "never/4/advmod was/4/aux:pass really/4/advmod seen/0/root",
                "never/2/advmod was/0/root really/4/advmod seen/2/aux:pass",
            ),
            // An argument in front stays with its verb.
            (
                "What/4/obj will/4/aux he/4/nsubj eat/0/root",
                "What/4/obj will/0/root he/2/nsubj eat/2/aux",
            ),
            // A subject outside a clause climbs over its mark.
            (
                "What/4/nsubj to/4/mark be/4/cop done/0/root",
                "What/2/nsubj to/0/root be/2/mark done/3/cop",
            ),
            // Conjuncts have their own prepositions, or share one.
            (
                "in/2/case Rome/0/root and/5/cc in/5/case Bonn/2/conj",
                "in/0/root Rome/1/case and/4/cc in/1/conj Bonn/4/case",
            ),
            (
                "in/2/case Rome/0/root and/4/cc Bonn/2/conj",
                "in/0/root Rome/1/case and/4/cc Bonn/2/conj",
            ),
            (
                "to/3/mark be/3/cop tall/0/root or/6/cc have/6/aux slept/3/conj",
                "to/0/root be/1/mark tall/2/cop or/5/cc have/2/conj slept/5/aux",
            ),
        ] {
            assert_eq!(turned(content), function, "{content}");
        }
    }

    #[test]
    fn function_words_may_have_their_own() {
        let content = "b/2/case a/3/case c/4/mark d/0/root e/2/advmod";
        assert_eq!(
            turned(content),
            "b/0/root a/1/case c/2/case d/3/mark e/2/advmod"
        );
        // A root is not a function word, whatever its relation.
        assert_eq!(turned("is/0/cop it/1/nsubj"), "is/0/cop it/1/nsubj");
        let nested = "a/2/case b/3/case c/0/root";
        assert_eq!(turned(nested), "a/0/root b/1/case c/2/case");
    }

    #[test]
    fn trees_without_such_relations_stay() {
        let sud = "He/2/subj lives/0/root in/2/mod Paris/3/comp:obj will/2/comp:aux";
        assert_eq!(turned(sud), sud);
        assert_eq!(turned("_x/0/_"), "_x/0/_");
    }

    #[test]
    fn texts_and_places_stay() {
        let rows = "1-2 don't _ _ _ _ _ _ _ _|1 do _ AUX _ _ 3 aux _ _|2 n't _ PART _ _ 3 advmod _ _|\
            2.1 you _ _ _ _ _ _ 3:nsubj _|3 go _ VERB _ _ 0 root _ SpaceAfter=No|4 . _ PUNCT _ _ 3 punct _ _|";
        let rows = rows.replace(' ', "\t").replace('|', "\n");
        let before = conllu::sentences(rows.as_bytes(), "f")
            .next()
            .unwrap()
            .unwrap();
        let mut after = before.clone();
        after.turn_heads();
        let heads: Vec<u32> = after.words().iter().map(|word| word.head).collect();
        assert_eq!(heads, [0, 3, 1, 3]);
        assert_eq!((after.text(), after.line()), ("don't go.", 1));
        assert!(after.same_words(&before));
        let places = |sentence: &Sentence| {
            let words = sentence.words().iter();
            words.map(|word| word.letters.clone()).collect::<Vec<_>>()
        };
        assert_eq!(places(&after), places(&before));
    }

    /// A chain of a hundred thousand function words does not overflow the stack.
    #[test]
    fn deep_trees_are_turned() {
        let row = |n: u32| format!("{n}\ta\t_\t_\t_\t_\t{}\tcase\t_\t_\n", n - 1);
        let rows: Vec<String> = (1..=100_000).map(row).collect();
        let mut deep = conllu::sentences(rows.concat().as_bytes(), "f")
            .next()
            .unwrap()
            .unwrap();
        deep.turn_heads();
        assert_eq!(deep.words()[99_999].head, 0);
        assert_eq!(deep.words()[0].head, 2);
    }

    /// The number of roots, if every word leads to one.
    fn roots(sentence: &Sentence) -> Option<usize> {
        let words = sentence.words();
        for start in words {
            let mut at = start;
            let mut steps = 0;
            while let Some(above) = head(at) {
                at = &words[above];
                steps += 1;
                if steps > words.len() {
                    return None;
                }
            }
        }
        Some(words.iter().filter(|word| word.head == 0).count())
    }

    const RELATIONS: &str = "case mark aux cop aux:pass nsubj conj obj advmod punct cc discourse";

    /// Words with random heads and relations. Heads come earlier in a random order.
    fn tree() -> impl Strategy<Value = String> {
        let relations: Vec<&str> = RELATIONS.split(' ').collect();
        let word = (
            any::<prop::sample::Index>(),
            prop::sample::select(relations),
        );
        let words = prop::collection::vec(word, 1..25);
        let with_order = words.prop_flat_map(|words| {
            let order: Vec<usize> = (0..words.len()).collect();
            (Just(words), Just(order).prop_shuffle())
        });
        with_order.prop_map(|(words, order)| {
            let mut text = vec![String::new(); words.len()];
            for (place, &word) in order.iter().enumerate() {
                let (head, relation) = &words[word];
                // The head is an earlier word of the order, or the word is a root.
                let earlier = head.index(place + 1);
                let head = earlier.checked_sub(1).map_or(0, |at| order[at] + 1);
                text[word] = format!("w{word}/{head}/{relation}");
            }
            text.join(" ")
        })
    }

    proptest! {
        #[test]
        fn trees_stay_trees_and_keep_their_relations(words in tree()) {
            let before = sentence(&words);
            let mut after = before.clone();
            after.turn_heads();
            prop_assert_eq!(roots(&before), roots(&after));
            let relations = |sentence: &Sentence| {
                let labels = sentence.words().iter().map(|word| word.label.clone());
                let mut labels: Vec<String> = labels.collect();
                labels.sort_unstable();
                labels
            };
            prop_assert_eq!(relations(&before), relations(&after));
        }

        /// No function word stays below the content word that it depended on.
        #[test]
        fn function_words_are_above_their_words(words in tree()) {
            let before = sentence(&words);
            let mut after = before.clone();
            after.turn_heads();
            for (position, word) in before.words().iter().enumerate() {
                let (Some(_), Some(content)) = (kind(word), head(word)) else {
                    continue;
                };
                let mut at = content;
                while at != position {
                    let above = head(&after.words()[at]);
                    prop_assert!(above.is_some(), "{position} is not above {content}");
                    at = above.unwrap();
                }
            }
        }
    }
}
