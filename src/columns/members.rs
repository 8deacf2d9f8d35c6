//! The features of each class of equal columns, and the relation of their columns to the class's.

/// The sign of a class's column against its feature's column.
pub(super) type Sign = i8;

/// The features of each class.
#[derive(Debug, Clone, Default)]
pub(super) struct Members {
    /// 0-based features, ascending in each class: class `c` has `features[ends[c - 1]..ends[c]]`.
    features: Vec<u32>,
    ends: Vec<u32>,
    /// Features whose column mirrors the first of their class, ascending.
    mirrored: Vec<u32>,
}

impl Members {
    /// `classes` classes with at least one member each, from pairs of class and feature. Features ascend in
    /// `members`, and in `mirrored`, which lists mirror images of the first column of a class.
    pub(super) fn new(classes: usize, members: &[(u32, u32)], mut mirrored: Vec<u32>) -> Self {
        // Columns fit in 32 bits, and so does their number.
        let mut ends = vec![0; classes];
        for &(class, _) in members {
            ends[class as usize] += 1;
        }
        // The start of each class, which moves to its end as features are added.
        let mut end = 0;
        for start in &mut ends {
            end += std::mem::replace(start, end);
        }
        let mut features = vec![0; members.len()];
        for &(class, feature) in members {
            let place = &mut ends[class as usize];
            features[*place as usize] = feature;
            *place += 1;
        }
        mirrored.shrink_to_fit();
        Self {
            features,
            ends,
            mirrored,
        }
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

    /// The class of a feature, if it has one. O(features) time.
    pub(super) fn class_of(&self, feature: u32) -> Option<usize> {
        let place = self.features.iter().position(|&own| own == feature)?;
        Some(self.ends.partition_point(|&end| end as usize <= place))
    }

    /// The sign of a feature's column against the first column of its class.
    pub(super) fn sign(&self, feature: u32) -> Sign {
        match self.mirrored.binary_search(&feature) {
            Ok(_) => -1,
            Err(_) => 1,
        }
    }

    /// Bytes held.
    pub(super) fn memory(&self) -> usize {
        4 * (self.features.capacity() + self.ends.len() + self.mirrored.len())
    }
}

/// The factor between the column of each class and its feature's: a sign over a divisor.
#[derive(Debug, Clone, Default)]
pub(super) struct Factors {
    pub(super) signs: Vec<Sign>,
    /// Empty if all are 1.
    pub(super) divisors: Vec<f64>,
}

impl Factors {
    /// These signs over 1.
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
