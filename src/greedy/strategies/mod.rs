//! The strategies: one file each with all about it, and a line in the list below.

mod backfit;
mod bounded;
mod dense;
mod distil;
mod filter;
mod forms;
mod fs_ed;
mod growth;
mod layout;
mod lowmem;
mod pursuit;
mod random;
mod recent;
mod sampled;
mod univariate;

use super::State;
use super::strategy::{Facts, Shape, Strategy};
use crate::columns::ColumnClasses;
use crate::names::named;

pub(super) use filter::Filter;
pub use fs_ed::ExpectedDivergence;
pub use sampled::Sampler;

/// Makes the enum of all strategies from their files.
macro_rules! strategies {
    ($($kind:ident => $file:ident),* $(,)?) => {
        /// The strategies, by the names that users give.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub enum StrategyKind {
            /// `auto`: the fastest exact one that fits into memory. A finished selection has this strategy's own
            /// name; `auto` then means a strategy outside of the library.
            #[default]
            Auto,
            $(
                #[doc = concat!("`", stringify!($file), "`: `docs/paper.md` says what it does.")]
                $kind,
            )*
        }

        impl StrategyKind {
            /// All strategies except `auto`: exact ones, others, and baselines.
            pub const ALL: [Self; [$(Self::$kind),*].len()] = [$(Self::$kind),*];

            fn facts(self) -> &'static Facts {
                match self {
                    Self::Auto => &AUTO,
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
    Residual => pursuit,
    Random => random,
}

/// Built without a plan, it is the exact one of least memory.
const AUTO: Facts = Facts {
    name: "auto",
    ..lowmem::FACTS
};

impl StrategyKind {
    /// The name.
    pub fn name(self) -> &'static str {
        self.facts().name
    }

    /// This strategy, or `other` in place of `auto`.
    #[must_use]
    pub(crate) fn or(self, other: Self) -> Self {
        if self == Self::Auto { other } else { self }
    }

    /// Whether every step takes the candidate with the least leave-query-out error of all.
    pub fn is_exact(self) -> bool {
        self.facts().exact
    }

    /// Whether the strategy can judge a random subset of the candidates.
    pub fn can_sample(self) -> bool {
        self.facts().samples
    }

    /// Whether the strategy has every candidate's leave-query-out predictions, and so can judge by a ranking
    /// measure of them.
    pub fn can_rank(self) -> bool {
        self.facts().ranks
    }

    /// Whether the strategy only serves comparisons, as it does without leave-query-out errors of sets of features,
    /// the purpose of the others.
    pub(crate) fn is_baseline(self) -> bool {
        self.facts().baseline
    }

    /// Whether the strategy selects towards predictions of a teacher, not towards the labels. Its leave-query-out
    /// errors are biased, as the teacher has seen all labels.
    pub fn distils(self) -> bool {
        self.facts().distils
    }

    /// Whether the strategy compares grades: at most 16 different labels, from 0 on. It judges columns with the
    /// values of the data.
    pub fn needs_grades(self) -> bool {
        self.facts().needs_grades
    }

    /// The default number of candidates drawn each step; `None`: all are judged.
    pub(crate) fn default_sample(self) -> Option<usize> {
        self.facts().sample
    }

    /// Bytes the strategy will take beside the data and the candidates, without one factor a query
    /// ([`State::factors_memory`]).
    pub(crate) fn memory(self, shape: &Shape) -> u64 {
        let sample = shape.sample.or(self.default_sample());
        let shape = Shape { sample, ..*shape };
        let own = (self.facts().memory)(&shape);
        shape.base_memory().saturating_add(own)
    }

    /// Rough seconds for all `k` steps on two of today's cores, to compare strategies, not to tell time.
    pub(crate) fn cost(self, shape: &Shape) -> f64 {
        let (k, rows) = (shape.k as f64, shape.rows as f64);
        k * ((self.facts().cost)(shape) + 2e-9 * rows * k)
    }

    /// A strategy before the first step. Without the data, [`FsEd`](Self::FsEd) has no errors.
    pub fn build(self, candidates: &ColumnClasses, state: &State) -> Box<dyn Strategy> {
        (self.facts().build)(candidates, state)
    }

    /// Names of the strategies with a property, baselines aside: advice.
    pub(crate) fn names_of(property: impl Fn(Self) -> bool) -> String {
        let kinds = Self::ALL.into_iter();
        let names = kinds.filter(|&kind| !kind.is_baseline() && property(kind));
        let names: Vec<&str> = names.map(Self::name).collect();
        match names.split_last() {
            Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
            _ => names.concat(),
        }
    }
}

named!(StrategyKind, "strategy", Auto);

/// The name of all strategies outside of the library.
pub(crate) const OWN: &str = "own";

/// The name of the strategy of a selection, where `auto` means one outside of the library.
pub(crate) fn own_name(strategy: StrategyKind) -> &'static str {
    match strategy {
        StrategyKind::Auto => OWN,
        known => known.name(),
    }
}

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
            transforms: rows.saturating_mul(k.min(largest_query)),
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
        /// For any size up to the most rows and columns of data, more never takes less, and nothing wraps.
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
            let factors = |shape: &Shape| State::factors_memory(shape.rows, shape.queries, shape.k);
            prop_assert!(factors(&most) >= factors(&least));
        }
    }
}
