//! Ranking measures, in two conventions that are told apart by name.
//!
//! A query has `n` documents with labels `y` and scores; documents are ranked
//! by falling score. Every measure is at its best when it is largest.
//!
//! | name | measure | file |
//! |---|---|---|
//! | `map` | average precision, averaged over queries | `average_precision` |
//! | `p@K` | precision at `K` | `precision` |
//! | `ndcg@K`, `mean-ndcg` | normalised discounted cumulative gain | `ndcg` |
//! | `err` | expected reciprocal rank | `expected_reciprocal_rank` |
//! | `mrr` | reciprocal rank of the first relevant document | `reciprocal_rank` |
//! | `cindex` | concordance index | [`concordance()`] |
//!
//! # Symbols
//!
//! * A document is *relevant* when its label is above 0.
//! * Its *gain* is `2^y - 1`, taken as it is for negative labels (then it lies in
//!   (-1, 0)).
//! * Its *stop probability* (ERR only) is `R = (2^y - 1) / 2^Y` with `Y` the
//!   largest label of the data set, at least 0; `R = 0` for labels below 0.
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
//! convention, where a label or score is not finite, where a query is empty,
//! and where gains overflow (labels from 1024 on).
//!
//! ```
//! use rankrls::data::Queries;
//! use rankrls::metrics::{Convention, Metric, evaluate, parse_list};
//!
//! let queries = Queries::from_sizes(&[3, 2])?;
//! let labels = [2.0, 0.0, 1.0, 0.0, 0.0];
//! let scores = [0.9, 0.1, 0.5, 0.3, 0.3];
//! let metrics = parse_list("ndcg@10,cindex")?;
//! let evaluation = evaluate(&metrics, &labels, &scores, &queries, Convention::Standard)?;
//! let ndcg = evaluation.get("ndcg@10".parse()?).expect("asked for");
//! assert_eq!((ndcg.mean, ndcg.queries, ndcg.left_out), (Some(1.0), 1, 1));
//! assert_eq!(ndcg.per_query, [Some(1.0), None]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod average_precision;
mod concordance;
mod context;
mod convention;
mod error;
mod evaluate;
mod expected_reciprocal_rank;
mod metric;
mod ndcg;
mod precision;
mod ranking;
mod reciprocal_rank;

pub use concordance::concordance;
pub use context::Context;
pub use convention::Convention;
pub use error::{EvaluationError, MetricNameError};
pub(crate) use evaluate::per_query;
pub use evaluate::{Evaluation, MetricValues, evaluate};
pub use metric::{Metric, parse_list};
