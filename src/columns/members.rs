//! The features that each class of equal columns stands for, and how its column comes from theirs.

/// The sign by which the column of a class differs from that of its feature.
pub(super) type Sign = i8;

/// The features of each class.
#[derive(Debug, Clone, Default)]
pub(super) struct Members {
    /// 0-based, ascending in each class: those of class `c` are `features[ends[c - 1]..ends[c]]`.
    features: Vec<u32>,
    ends: Vec<u32>,
}

impl Members {
    /// Adds a class.
    pub(super) fn push(&mut self, features: impl Iterator<Item = u32>) {
        self.features.extend(features);
        // Columns count in 32 bits, so their number does.
        let end = u32::try_from(self.features.len()).unwrap_or(u32::MAX);
        self.ends.push(end);
    }

    /// Gives back the memory for classes that do not come.
    pub(super) fn shrink(&mut self) {
        self.features.shrink_to_fit();
    }

    /// Number of classes.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The features of a class.
    pub(super) fn of(&self, class: usize) -> &[u32] {
        let start = class.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.features[start as usize..self.ends[class] as usize]
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        4 * (self.features.capacity() + self.ends.len())
    }
}

/// The numbers by which the column of each class is that of its feature: a sign, over a divisor.
#[derive(Debug, Clone, Default)]
pub(super) struct Factors {
    pub(super) signs: Vec<Sign>,
    /// Empty where all are 1.
    pub(super) divisors: Vec<f64>,
}

impl Factors {
    /// These signs, over 1.
    pub(super) fn of(signs: Vec<Sign>) -> Self {
        let divisors = Vec::new();
        Self { signs, divisors }
    }

    /// The divisor of a class.
    pub(super) fn divisor(&self, class: usize) -> f64 {
        self.divisors.get(class).copied().unwrap_or(1.0)
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        self.signs.len() + 8 * self.divisors.capacity()
    }
}
