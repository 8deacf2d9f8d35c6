//! The LETOR protocol: the experiment by which Greedy RankRLS is compared with RankRLS.
//!
//! A fold has training, validation and test data. For every ridge parameter of a grid, features
//! are selected on the training data up to the last one, and the model after each step ranks the
//! validation data. [`choose`] takes the parameter and the number of features together, by mean
//! average precision; RankRLS on all features is given its parameter in the same way. Only then are
//! both models measured on the test data. All measures follow [`Convention::Letor`], which is that
//! of the published figures; the validation and test data take their width from the training data.
//!
//! ```no_run
//! use rankrls::data::read::ReadOptions;
//! use rankrls::letor::{self, Options};
//!
//! for files in letor::find("MQ2008".as_ref())? {
//!     let fold = files.read(&ReadOptions::new())?;
//!     let outcome = letor::run(&fold, &Options::new(), &())?;
//!     println!("{}: {:?}", outcome.fold, outcome.greedy.test[0]);
//! }
//! # Ok::<(), rankrls::letor::LetorError>(())
//! ```

mod all_features;
mod choice;
mod error;
#[cfg(feature = "plot")]
mod figure;
mod files;
mod greedy;
mod observer;
mod options;
mod outcome;
#[cfg(test)]
mod tests;

use std::num::NonZeroUsize;

pub use choice::{Choice, choose};
pub use error::LetorError;
#[cfg(feature = "plot")]
pub use figure::{Curves, curves, figure};
pub use files::{Fold, FoldFiles, PARTS, find};
pub use observer::Observer;
pub use options::Options;
pub use outcome::{AllFeatures, Curve, GreedyModel, Outcome, mean};

use crate::columns::ColumnClasses;
use crate::data::Dataset;
use crate::metrics::{Convention, Metric, MetricsError, evaluate};
use greedy::Grid;

const TEN: NonZeroUsize = NonZeroUsize::new(10).unwrap();

/// What models are measured by, in the order of [`Measures`].
pub const MEASURES: [Metric; 4] = [
    Metric::AveragePrecision,
    Metric::Precision(TEN),
    Metric::MeanNdcg,
    Metric::Ndcg(TEN),
];

/// Values of [`MEASURES`]: means over queries.
pub type Measures = [Option<f64>; 4];

/// Runs the protocol on a fold.
///
/// Ridge parameters are worked on side by side on the threads of the current rayon pool, as many
/// as memory allows. The outcome does not depend on how many.
///
/// # Errors
/// [`LetorError`] when nothing can be selected, or no model measured, or the observer ended it.
pub fn run(fold: &Fold, options: &Options, observer: &dyn Observer) -> Result<Outcome, LetorError> {
    options.check()?;
    let candidates = ColumnClasses::weighted(&fold.train, options.weight());
    let grid = Grid {
        fold,
        candidates: &candidates,
        options,
        held: fold.memory(),
        observer,
    };
    let curves = grid.curves()?;
    Ok(Outcome {
        fold: fold.name.clone(),
        summary: candidates.summary(),
        greedy: grid.chosen(&curves)?,
        all_features: grid.all_features()?,
        curves,
    })
}

/// Measures `scores` of the rows of `dataset`.
fn measure(dataset: &Dataset<'_>, scores: &[f64]) -> Result<Measures, MetricsError> {
    let (labels, queries) = (dataset.labels(), dataset.queries());
    let evaluation = evaluate(&MEASURES, labels, scores, queries, Convention::Letor)?;
    let mean = |metric| evaluation.get(metric).and_then(|values| values.mean);
    Ok(MEASURES.map(mean))
}
