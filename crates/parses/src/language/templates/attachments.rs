//! Prepositional phrases with what governs them: head, preposition and object.

use super::{Candidate, Dependency};
use crate::bag::Bag;
use crate::language::symbol::Symbol;

pub(super) fn describe(candidate: &Candidate<'_>, dependencies: &[Dependency<'_>], bag: &mut Bag) {
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
