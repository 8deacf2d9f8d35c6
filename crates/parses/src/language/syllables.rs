//! Word forms that can be pronounced.

use super::symbol::Symbol;
use crate::interner::Interner;
use crate::random::Draws;

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
