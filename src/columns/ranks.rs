//! Column classes of one rank beside those of others.
//!
//! ```
//! use rankrls::ColumnClasses;
//! use rankrls::columns::share;
//! use rankrls::data::sample;
//! use rankrls::peers::on_threads;
//!
//! let data = sample::train();
//! let alone = ColumnClasses::new(&data);
//! let all = on_threads(3, |peers| {
//!     let own = share(&data, peers.count(), peers.rank());
//!     ColumnClasses::new(&own).among(peers)
//! });
//! for own in all {
//!     assert!(own.len() < alone.len());
//!     assert_eq!(own.summary(), alone.summary());
//! }
//! ```

use std::sync::Arc;

use super::{ColumnClasses, Summary};
use crate::data::Feature;
use crate::peers::Peers;

impl ColumnClasses {
    /// These classes as those of one of `peers`, of columns with the same rows that [`share`](super::share()) parts.
    /// The classes, their positions and their number stay. Afterwards the summary and the unit describe all ranks.
    /// Every rank must call this, and every function that selects among candidates.
    #[must_use]
    pub fn among(mut self, peers: Arc<dyn Peers>) -> Self {
        let ranks = peers.all(&self.summary);
        self.geometry.largest = -peers.least(-self.geometry.largest);
        let sums = peers.all(&self.rounded_norms());
        self.summary = Summary {
            unit: self.unit_of(sums.into_iter().sum()),
            ..Summary::joined(&ranks)
        };
        self.peers = peers;
        self
    }

    /// The ranks that have the others.
    pub fn peers(&self) -> &dyn Peers {
        &*self.peers
    }

    /// The sum of `|v|^2` over all columns of this rank, members of classes one by one, rounded so that sums of
    /// several ranks add up in any order.
    fn rounded_norms(&self) -> u128 {
        self.geometry.rounded_norms(&self.members)
    }

    /// The unit where columns have this sum of [`rounded_norms`](Self::rounded_norms).
    fn unit_of(&self, sum: u128) -> f64 {
        self.geometry.mean(sum, self.queries.rows())
    }

    /// The unit of the columns of this rank.
    pub(super) fn own_unit(&self) -> f64 {
        self.unit_of(self.rounded_norms())
    }

    /// The candidates of this rank that `features` represent.
    pub(crate) fn positions(&self, features: impl Iterator<Item = Feature>) -> Vec<u32> {
        let positions = features.filter_map(|feature| self.represented_by(feature));
        // Candidates count in 32 bits.
        positions
            .filter_map(|position| u32::try_from(position).ok())
            .collect()
    }

    /// 0-based features that represent the candidates of all ranks, ascending.
    pub(crate) fn all_features(&self) -> Vec<Feature> {
        let own = (0..self.len()).map(|candidate| self.feature(candidate));
        let mut all = self.peers.all(&own.collect::<Vec<Feature>>()).concat();
        all.sort_unstable();
        all
    }

    /// The features that represent these features, whichever rank has them; `None` for one that is constant within
    /// every query.
    pub(crate) fn representing(&self, features: &[Feature]) -> Vec<Option<Feature>> {
        let of_class = |&feature: &Feature| Some(self.feature(self.candidate_of(feature)?));
        let own: Vec<Option<Feature>> = features.iter().map(of_class).collect();
        let ranks = self.peers.all(&own);
        let found = |place: usize| ranks.iter().find_map(|rank| rank[place]);
        (0..features.len()).map(found).collect()
    }

    /// Those of the `features` that a selection among these candidates can take, the first of each class. A column
    /// of all data may be constant in every query of some of them, or equal to another one there.
    pub(crate) fn of_these(&self, features: &[Feature]) -> Vec<Feature> {
        let representing = self.representing(features);
        let first = |&(place, _): &(usize, &Feature)| {
            let own = representing[place];
            own.is_some() && !representing[..place].contains(&own)
        };
        let taken = features.iter().enumerate().filter(first);
        taken.map(|(_, &feature)| feature).collect()
    }
}
