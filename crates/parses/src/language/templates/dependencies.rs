//! Head-modifier pairs, chains of three words and pairs of modifiers.

use super::{Candidate, Dependency, bucket};
use crate::bag::Bag;
use crate::language::grammar::Grammar;

pub(super) fn describe(candidate: &Candidate<'_>, dependencies: &[Dependency<'_>], bag: &mut Bag) {
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
