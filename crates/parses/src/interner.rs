//! Numbers for strings.

use std::hash::BuildHasher;

use foldhash::fast::FixedState;

use rankrls_files::Strings;

const FREE: u32 = u32::MAX;

/// Numbers distinct strings by first occurrence.
///
/// The strings lie in one buffer and the table holds their numbers alone: a million names cost
/// their bytes and some 20 more each.
#[derive(Debug, Clone, Default)]
pub(super) struct Interner {
    strings: Strings,
    /// Open addressing with linear probing; a power of two of slots, at most half of them taken.
    slots: Vec<u32>,
}

impl Interner {
    /// How many distinct strings there are.
    pub(super) fn len(&self) -> usize {
        self.strings.len()
    }

    /// The string numbered `number`.
    ///
    /// # Panics
    /// When there is no such string.
    pub(super) fn name(&self, number: u32) -> &str {
        self.strings.get(number as usize).expect("a known number")
    }

    /// The number of `name`, a new one if it was not there.
    ///
    /// # Panics
    /// At 2^32 - 1 strings.
    pub(super) fn number(&mut self, name: &str) -> u32 {
        if 2 * (self.len() + 1) > self.slots.len() {
            self.grow();
        }
        let slot = self.slot(name);
        if self.slots[slot] == FREE {
            self.slots[slot] = u32::try_from(self.len()).expect("fewer than 2^32 names");
            self.strings.push(name);
        }
        self.slots[slot]
    }

    /// The number of `name`, if it has one.
    pub(super) fn find(&self, name: &str) -> Option<u32> {
        if self.slots.is_empty() {
            return None;
        }
        Some(self.slots[self.slot(name)]).filter(|&number| number != FREE)
    }

    /// The strings in the order of their numbers.
    pub(super) fn strings(&self) -> &Strings {
        &self.strings
    }

    /// Where `name` is or would go.
    fn slot(&self, name: &str) -> usize {
        let mask = self.slots.len() - 1;
        let mut slot = hash(name) & mask;
        while self.slots[slot] != FREE && self.name(self.slots[slot]) != name {
            slot = (slot + 1) & mask;
        }
        slot
    }

    fn grow(&mut self) {
        let slots = (4 * self.len()).next_power_of_two().max(16);
        self.slots = vec![FREE; slots];
        for (number, name) in (0u32..).zip(self.strings.iter()) {
            let mut slot = hash(name) & (slots - 1);
            while self.slots[slot] != FREE {
                slot = (slot + 1) & (slots - 1);
            }
            self.slots[slot] = number;
        }
    }
}

/// The hash decides where a string is looked for and nothing else, so it need not be the same
/// on every platform.
#[expect(
    clippy::cast_possible_truncation,
    reason = "any bits of the hash will do"
)]
fn hash(name: &str) -> usize {
    FixedState::default().hash_one(name) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_follow_first_occurrence() {
        let mut interner = Interner::default();
        assert_eq!(interner.find("a"), None);
        for number in 0..1000 {
            assert_eq!(interner.number(&format!("name{number}")), number);
        }
        assert_eq!(interner.number("name7"), 7);
        assert_eq!(interner.find("name999"), Some(999));
        assert_eq!(interner.find("name1000"), None);
        assert_eq!(interner.name(3), "name3");
        assert_eq!(interner.strings().len(), 1000);
    }
}
