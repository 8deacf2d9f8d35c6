//! The strategies: one file each, which has all there is to know of it, and a line in the list
//! below.

mod backfit;
mod bounded;
mod clock;
mod dense;
mod distil;
mod filter;
mod fs_ed;
mod layout;
mod lowmem;
mod random;
mod recent;
mod residual;
mod sampled;
mod univariate;

use std::fmt;
use std::sync::Arc;

use super::State;
use super::strategy::{Facts, Property, Shape, Strategy};
use crate::candidates::Candidates;
use crate::columns::ColumnClasses;
use crate::names::named;

pub(super) use filter::Filter;
pub use fs_ed::ExpectedDivergence;
pub use sampled::Sampler;

/// Makes the enum of all strategies from their files.
macro_rules! strategies {
    ($($kind:ident => $file:ident),* $(,)?) => {
        /// The strategies, by the names that users give.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum StrategyKind {
            $(
                #[doc = concat!("`", stringify!($file), "`: [`summary`](Self::summary) says what it does.")]
                $kind,
            )*
        }

        impl StrategyKind {
            /// All strategies: exact ones, others, and baselines.
            pub const ALL: [Self; [$(Self::$kind),*].len()] = [$(Self::$kind),*];

            fn facts(self) -> &'static Facts {
                match self {
                    $(Self::$kind => &$file::FACTS,)*
                }
            }
        }
    };
}

strategies! {
    Dense => dense,
    LowMem => lowmem,
    Bounded => bounded,
    Sampled => sampled,
    Backfit => backfit,
    Distil => distil,
    Univariate => univariate,
    FsEd => fs_ed,
    Residual => residual,
    Random => random,
}

impl StrategyKind {
    /// Candidates that `sampled` draws when nothing else is asked for.
    pub const DEFAULT_SAMPLE: usize = sampled::DEFAULT_SAMPLE;

    /// The name.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// A line about what it does.
    pub fn summary(self) -> &'static str {
        self.facts().summary
    }

    fn has(self, property: Property) -> bool {
        self.facts().properties.contains(&property)
    }

    /// Whether every step takes the candidate with the least leave-query-out error of all.
    pub fn is_exact(self) -> bool {
        self.has(Property::Exact)
    }

    /// Whether the strategy can judge a random subset of the candidates.
    pub fn can_sample(self) -> bool {
        self.has(Property::Samples)
    }

    /// Whether the strategy has every candidate's leave-query-out predictions, and so can judge
    /// by a ranking measure of them.
    pub fn can_rank(self) -> bool {
        self.has(Property::Ranks)
    }

    /// Whether the strategy is there to be compared with, because it does without what the
    /// others are for: leave-query-out errors of sets of features.
    pub fn is_baseline(self) -> bool {
        self.has(Property::Baseline)
    }

    /// Whether the strategy selects towards what a teacher predicts, not towards the labels: its
    /// leave-query-out errors are biased, as the teacher has seen all labels.
    pub fn distils(self) -> bool {
        self.has(Property::Distils)
    }

    /// Whether the strategy compares grades, and takes no other labels: at most 16 different ones, from
    /// 0 on. It judges columns as the data have them, so that its [`Target`](super::job::Target) is a data set.
    pub fn needs_grades(self) -> bool {
        self.has(Property::NeedsGrades)
    }

    /// Candidates drawn each step when nothing else is asked for; `None`: all are judged.
    pub fn default_sample(self) -> Option<usize> {
        self.facts().sample
    }

    /// Bytes the strategy will take on top of the data and the candidates, without one factor a query
    /// ([`State::folds_memory`]).
    pub fn memory(self, shape: &Shape) -> u64 {
        let sample = shape.sample.or(self.default_sample());
        let shape = Shape { sample, ..*shape };
        let own = (self.facts().memory)(&shape);
        shape.base_memory().saturating_add(own)
    }

    /// Rough seconds for all `k` steps on two of today's cores: to compare strategies, not to
    /// tell time.
    pub fn cost(self, shape: &Shape) -> f64 {
        let (k, rows) = (shape.k as f64, shape.rows as f64);
        k * ((self.facts().cost)(shape) + 2e-9 * rows * k)
    }

    /// A strategy ready for the first step. Without the data, [`FsEd`](Self::FsEd) has no errors.
    pub fn build(self, candidates: &ColumnClasses, state: &State) -> Box<dyn Strategy> {
        (self.facts().build)(candidates, state)
    }

    /// Names of the strategies with a property, baselines aside: advice.
    pub fn names_of(property: impl Fn(Self) -> bool) -> String {
        let kinds = Self::ALL.into_iter();
        let names = kinds.filter(|&kind| !kind.is_baseline() && property(kind));
        let names: Vec<&str> = names.map(Self::name).collect();
        match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => names.concat(),
        }
    }
}

named!(StrategyKind, "strategy");

/// A strategy that the library does not have: each selection works with a clone of it.
#[derive(Clone)]
pub struct OwnStrategy(Arc<dyn Fn() -> Box<dyn Strategy> + Send + Sync>);

impl OwnStrategy {
    /// Clones of `strategy`, which has seen no data yet.
    pub fn new(strategy: impl Strategy + Clone + Sync + 'static) -> Self {
        Self(Arc::new(move || Box::new(strategy.clone())))
    }

    /// One before its first step.
    pub(in crate::greedy) fn begin(&self) -> Box<dyn Strategy> {
        (self.0)()
    }
}

impl fmt::Debug for OwnStrategy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("OwnStrategy")
    }
}

impl PartialEq for OwnStrategy {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The strategy that a [`Plan`](super::job::Plan) is for.
#[derive(Debug, Clone, PartialEq)]
pub enum Planned {
    /// One of the library.
    Known(StrategyKind),
    /// Another.
    Own(OwnStrategy),
}

impl Planned {
    /// Which of the library; `None`: another.
    pub fn kind(&self) -> Option<StrategyKind> {
        match self {
            Self::Known(kind) => Some(*kind),
            Self::Own(_) => None,
        }
    }

    /// The strategy, ready for the first step, which takes candidates in the order of `scores` if there are
    /// any.
    pub(in crate::greedy) fn build(
        &self,
        candidates: &Candidates,
        state: &State,
        scores: Option<Arc<[f64]>>,
    ) -> Box<dyn Strategy> {
        if let Some(scores) = scores {
            return Filter::given(scores);
        }
        let classes = candidates.classes();
        match self {
            Self::Known(kind) => kind.build(classes, state),
            Self::Own(own) => own.begin(),
        }
    }
}

impl fmt::Display for Planned {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.kind().map_or(OWN, StrategyKind::name))
    }
}

/// The name of all strategies that the library does not have.
pub(crate) const OWN: &str = "own";

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shape(sizes: [usize; 7], threads: usize) -> Shape {
        let [
            rows,
            queries,
            largest_query,
            candidates,
            pieces,
            nonzeros,
            k,
        ] = sizes;
        Shape {
            rows,
            queries,
            largest_query,
            candidates,
            pieces: pieces.saturating_mul(1 << 16),
            nonzeros: nonzeros.saturating_mul(1 << 20),
            longest: nonzeros.saturating_mul(1 << 10),
            sample: None,
            k,
            threads,
        }
    }

    proptest! {
        /// Up to the most rows and columns that data may have, more never takes less, and nothing wraps.
        #[test]
        fn memory_grows_with_every_size(
            sizes in prop::array::uniform7(0usize..=u32::MAX as usize),
            more in prop::array::uniform7(0usize..=u32::MAX as usize),
            threads in 1usize..1000,
        ) {
            let larger = std::array::from_fn(|at| sizes[at].max(more[at]));
            let (least, most) = (shape(sizes, threads), shape(larger, threads));
            let entries = (least.rows as u128 * least.k as u128).min(least.longest as u128);
            let state = (15 * entries + 40 * least.rows as u128).min(u128::from(u64::MAX));
            for kind in StrategyKind::ALL {
                let found = kind.memory(&least);
                prop_assert!(u128::from(found) >= state, "{kind}: {found} for {state}");
                prop_assert!(kind.memory(&most) >= found, "{kind}");
            }
            let folds = |shape: &Shape| State::folds_memory(shape.rows, shape.queries, shape.k);
            prop_assert!(folds(&most) >= folds(&least));
        }
    }
}
