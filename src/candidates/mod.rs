//! The candidates of a selection: column classes of this rank, and what there is to know of other ranks.
//!
//! [`ColumnClasses`] are those of a data set in memory, and all that is computed of a candidate comes from them.
//! [`Candidates`] have the classes of this rank and know about the others: who has them
//! ([`peers`](Candidates::peers)), how many there are of all, and where entries are that memory does not hold.
//!
//! ```
//! use rankrls::candidates::{Candidates, share};
//! use rankrls::data::sample;
//! use rankrls::peers::on_threads;
//! use rankrls::ColumnClasses;
//!
//! let data = sample::train();
//! let alone = ColumnClasses::new(&data);
//! let all = on_threads(3, |peers| {
//!     let own = share(&data, peers.count(), peers.rank());
//!     Candidates::from(ColumnClasses::new(&own)).among(peers)
//! });
//! for candidates in all {
//!     assert!(candidates.classes().len() < alone.len());
//!     assert_eq!(candidates.summary(), alone.summary());
//! }
//! ```

use std::sync::Arc;

pub use crate::columns::share;
use crate::columns::{ColumnClasses, Summary};
use crate::data::{Feature, Queries};
use crate::peers::{Alone, Peers};

/// The candidates of a selection: the column classes of this rank, and what there is to know about all others.
#[derive(Debug, Clone)]
pub struct Candidates {
    /// Those of this rank.
    classes: ColumnClasses,
    /// The classes of all ranks.
    summary: Summary,
    /// The ranks that have the others.
    peers: Arc<dyn Peers>,
}

impl From<ColumnClasses> for Candidates {
    /// These classes are all there are.
    fn from(classes: ColumnClasses) -> Self {
        Self {
            summary: classes.summary(),
            peers: Arc::new(Alone),
            classes,
        }
    }
}

impl Candidates {
    /// These candidates as those of one of `peers`, of columns with the same rows that [`share`] parts. The
    /// classes, their positions and their number stay. Afterwards the summary and the unit describe all ranks.
    /// Every rank must call this, and every function that selects among candidates.
    #[must_use]
    pub fn among(mut self, peers: Arc<dyn Peers>) -> Self {
        let ranks = peers.all(&self.classes.summary());
        let longest = -peers.least(-self.classes.largest_squared_norm());
        self.classes = self.classes.beside(longest);
        let sums = peers.all(&self.classes.rounded_norms());
        self.summary = Summary {
            unit: self.classes.unit_of(sums.into_iter().sum()),
            ..Summary::joined(&ranks)
        };
        self.peers = peers;
        self
    }

    /// The column classes of this rank.
    pub fn classes(&self) -> &ColumnClasses {
        &self.classes
    }

    /// The ranks that have the others.
    pub fn peers(&self) -> &dyn Peers {
        &*self.peers
    }

    /// How the columns of all ranks fall into classes.
    pub fn summary(&self) -> Summary {
        self.summary
    }

    /// The unit `u` of ridge parameters, as of [`ColumnClasses::unit`] if one rank had all columns. The same
    /// bits on every rank.
    pub fn unit(&self) -> f64 {
        self.summary.unit
    }

    /// The partition of the rows.
    pub fn queries(&self) -> &Queries {
        self.classes.queries()
    }

    /// Whether no column of the data can tell two examples of a query apart.
    pub fn is_empty(&self) -> bool {
        self.summary.column_classes == 0
    }

    /// A feature as the file of the data counts.
    pub(crate) fn written(&self, feature: u32) -> u64 {
        self.classes.written(feature)
    }

    /// The features that represent these features, whichever rank has them; `None` for one that is constant within
    /// every query.
    pub(crate) fn representing(&self, features: &[Feature]) -> Vec<Option<Feature>> {
        let of_class = |&feature: &Feature| {
            let candidate = self.classes.candidate_of(feature)?;
            Some(self.classes.feature(candidate))
        };
        let own: Vec<Option<Feature>> = features.iter().map(of_class).collect();
        let ranks = self.peers.all(&own);
        let found = |place: usize| ranks.iter().find_map(|rank| rank[place]);
        (0..features.len()).map(found).collect()
    }

    /// Bytes held.
    pub fn memory(&self) -> u64 {
        self.classes.memory()
    }

    /// 0-based features that represent the candidates of all ranks, ascending.
    pub(crate) fn features(&self) -> Vec<u32> {
        let own = (0..self.classes.len()).map(|candidate| self.classes.feature(candidate));
        let mut all = self.peers.all(&own.collect::<Vec<u32>>()).concat();
        all.sort_unstable();
        all
    }
}
