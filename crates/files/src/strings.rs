//! Many short strings in one allocation.

/// An append-only list of strings in one buffer. A million names take their bytes and eight more each, not an
/// allocation apiece.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Strings {
    text: String,
    ends: Vec<usize>,
}

impl Strings {
    /// Appends one string.
    pub fn push(&mut self, item: &str) {
        self.text.push_str(item);
        self.ends.push(self.text.len());
    }

    /// How many strings there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The string at `position`, counted from 0.
    pub fn get(&self, position: usize) -> Option<&str> {
        let end = *self.ends.get(position)?;
        let start = position
            .checked_sub(1)
            .map_or(0, |before| self.ends[before]);
        Some(&self.text[start..end])
    }

    /// The string pushed last.
    pub fn last(&self) -> Option<&str> {
        self.get(self.len().checked_sub(1)?)
    }

    /// The strings in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        (0..self.len()).filter_map(|position| self.get(position))
    }

    /// Keeps the first `count` strings.
    pub fn truncate(&mut self, count: usize) {
        self.ends.truncate(count);
        self.text.truncate(self.ends.last().copied().unwrap_or(0));
    }

    /// Frees the spare memory.
    pub fn shrink_to_fit(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    /// Bytes held.
    pub fn memory(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<usize>()
    }
}

impl<S: AsRef<str>> FromIterator<S> for Strings {
    fn from_iter<I: IntoIterator<Item = S>>(items: I) -> Self {
        let mut strings = Self::default();
        for item in items {
            strings.push(item.as_ref());
        }
        strings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_was_pushed() {
        let strings: Strings = ["a", "", "näh"].into_iter().collect();
        assert_eq!(strings.iter().collect::<Vec<_>>(), ["a", "", "näh"]);
        assert_eq!(strings.get(1), Some(""));
        assert_eq!(strings.get(3), None);
        let mut first = strings.clone();
        first.truncate(1);
        assert_eq!(first, ["a"].into_iter().collect());
        first.truncate(0);
        assert_eq!(first, Strings::default());
    }
}
