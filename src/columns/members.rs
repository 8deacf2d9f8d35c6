//! The features that each class of equal columns stands for, and how its column comes from theirs.

/// The sign by which the column of a class differs from that of its feature.
pub(super) type Sign = i8;

/// The features of each class.
#[derive(Debug, Clone, Default)]
pub(super) struct Members {
    /// 0-based, ascending in each class: those of class `c` are `features[ends[c - 1]..ends[c]]`.
    features: Vec<u32>,
    ends: Vec<u32>,
    /// Those whose column is a mirror image of the first of their class, ascending.
    mirrored: Vec<u32>,
}

impl Members {
    /// So many classes, each with a member, of these pairs of a class and a feature, features ascending. Also
    /// ascending are those that are mirror images of the first of their class.
    pub(super) fn new(classes: usize, members: &[(u32, u32)], mut mirrored: Vec<u32>) -> Self {
        // Columns count in 32 bits, so their number does.
        let mut ends = vec![0; classes];
        for &(class, _) in members {
            ends[class as usize] += 1;
        }
        // Where each begins, which becomes where it ends as its features come.
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

    /// The sign by which the column of a feature differs from that of the first of its class.
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
