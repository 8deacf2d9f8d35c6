//! Ranking measures, in two conventions that are told apart by name.
//!
//! A query has `n` documents with labels `y` and scores; documents are ranked
//! by falling score. Every measure is at its best when it is largest.
//!
//! A measure is a row of the table in `metric.rs`, a variant of [`MetricKind`] and a function of a
//! sorted query, in `measures.rs`. A [`Judge`] takes it of predictions; [`paired()`] compares two rankings.
//!
//! # Symbols
//!
//! * A document is *relevant* when its label is above 0, or from 2 on by `map:2`.
//! * Its *gain* is `2^y - 1`, or `y` by `ndcg@10:linear`.
//! * Its *stop probability* (ERR only) is `R = (2^y - 1) / 2^Y` with `Y` the
//!   largest grade: 4 by `err:4`, and the largest label of the data set by `err`. Values of two data
//!   sets can be compared only if `Y` is the same.
//!
//! The rules of a measure stand in its name, which [`Metric`] explains.
//!
//! Gains and stop probabilities are of grades, labels from 0 on: [`evaluate()`] refuses labels
//! below 0 for NDCG and ERR. The other measures take any label.
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
//! `letor` is the arithmetic of `Eval-Score-4.0.pl` (Xu and Liu, 2009), which
//! made the published LETOR 4.0 figures. `standard` takes the expectation of a
//! measure over uniformly random orders within each group of equal scores, in
//! closed form (F. McSherry and M. Najork, *Computing information retrieval
//! performance measures efficiently in the presence of tied scores*, ECIR
//! 2008), so that the order of documents in a file changes nothing, not even
//! the last bit. In both, P@K divides by `K` however short the query, and the
//! concordance index counts tied scores one half and leaves out queries whose
//! labels are all equal.
//!
//! # When there is no value
//!
//! A value is `None`, never nan, where the measure is undefined in its
//! convention, where a label or score is not finite, and where a query is empty.
//!
//! Gains `2^y - 1` of labels that are counts are finite however large they are: NDCG is a ratio, so
//! gains are taken in units of the largest one. But from some 31 on only the documents of the
//! largest label count.
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
