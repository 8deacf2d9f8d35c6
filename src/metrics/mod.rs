//! Ranking measures, in two conventions with different names.
//!
//! A query has `n` documents with labels `y` and scores. Documents are ranked by falling score. Larger is better
//! for every measure.
//!
//! A measure has a row of the table in `metric.rs`, a variant of [`MetricKind`], and a function of a sorted query
//! in `measures.rs`. A [`Judge`] applies it to predictions. [`paired()`] compares two rankings.
//!
//! # Symbols
//!
//! * A document is *relevant* when its label is above 0, or from 2 on by `map:2`.
//! * Its *gain* is `2^y - 1`, or `y` by `ndcg@10:linear`.
//! * Its *stop probability* (ERR only) is `R = (2^y - 1) / 2^Y` with `Y` the largest grade. `err:4` has 4, and
//!   `err` the largest label of the data set. Values of two data sets can be compared only if `Y` is the same.
//!
//! [`Metric`] explains the rules in the name of a measure.
//!
//! Gains and stop probabilities need grades, labels from 0 on. [`evaluate()`] refuses negative labels for NDCG and
//! ERR. The other measures take any label.
//!
//! # Conventions
//!
//! | | [`Convention::Letor`] | [`Convention::Standard`] |
//! |---|---|---|
//! | discount of rank `i` | 1 for `i = 1`, then `1 / log2 i` | `1 / log2(i + 1)` |
//! | NDCG@K with `n < K` | 0 | the whole query counts |
//! | ideal DCG not above 0 | NDCG is 0 | left out |
//! | no relevant document | MAP and MRR are 0 | left out |
//! | equal scores | keep input order | expectation over all orders of the tied |
//!
//! `letor` is the arithmetic of `Eval-Score-4.0.pl` (Xu and Liu, 2009), which made the published LETOR 4.0 figures.
//! `standard` takes the expectation of a measure over uniformly random orders within each group of equal scores. It
//! uses closed forms (F. McSherry and M. Najork, *Computing information retrieval performance measures efficiently
//! in the presence of tied scores*, ECIR 2008). So the order of documents in a file changes nothing, not even the
//! last bit. In both, P@K divides by `K` for short queries, too. The concordance index counts tied scores one half,
//! and leaves out queries whose labels are all equal.
//!
//! # When there is no value
//!
//! A value is `None`, never nan, if the measure is undefined in its convention, if a label or score is not finite,
//! or if a query is empty.
//!
//! Gains `2^y - 1` of counts as labels are finite at any size: NDCG is a ratio, so gains are in units of the
//! largest one. But from about 31 on, only the documents of the largest label matter.
//!
//! ```
//! use rankrls::data::Queries;
//! use rankrls::metrics::{Convention, Metric, evaluate, parse_list};
//!
//! let queries = Queries::from_sizes(&[3, 2])?;
//! let labels = [2.0, 0.0, 1.0, 0.0, 0.0];
//! let scores = [0.9, 0.1, 0.5, 0.3, 0.3];
//! let metrics = parse_list("ndcg@10,cindex")?;
//! let found = evaluate(&metrics, &labels, &scores, &queries, Convention::Standard)?;
//! let (_, ndcg) = &found[0];
//! assert_eq!((ndcg.mean, ndcg.queries, ndcg.left_out()), (Some(1.0), 1, 1));
//! assert_eq!(ndcg.per_query, [Some(1.0), None]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod concordance;
mod evaluate;
mod judge;
mod measure;
mod measures;
mod metric;
mod paired;
mod ranking;
mod rules;
mod score;

pub use evaluate::{check_labels, evaluate};
pub use judge::Judge;
pub(crate) use judge::{PAIR_TIE, prediction_tolerance};
pub use measure::Measure;
pub(crate) use metric::distinct;
pub use metric::{LabelUse, Metric, MetricKind, parse_list};
pub use paired::{Paired, PairedOptions, paired};
pub use rules::Convention;
pub use score::Score;
