//! The findings of a comparison.

use serde::Serialize;

use super::{Comparison, Contestant, Entry};

/// The exact contestants, the fastest, and the losses of the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Findings {
    /// The exact contestant that the others are held against; `None` if none ran.
    pub reference: Option<Contestant>,
    /// All exact contestants that ran.
    pub exact: Vec<Contestant>,
    /// Whether the exact ones selected the same.
    pub agreement: Agreement,
    /// The exact one that selected in the least time.
    pub fastest_exact: Option<Contestant>,
    /// How many times as long the slowest exact one took; `None` unless there are two.
    pub slowest_exact: Option<(Contestant, f64)>,
    /// The one that selected in the least time of all.
    pub fastest: Option<Contestant>,
    /// Losses of the contestants that are not exact, ascending by error.
    pub losses: Vec<Loss>,
}

/// Whether exact contestants selected the same features in the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Agreement {
    /// No two of them ran.
    Untested,
    /// They did.
    Same,
    /// They did not, from this step on. Equal candidates that rounding tells apart can do this.
    From(usize),
}

/// The loss of a contestant against the reference.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Loss {
    /// Who.
    pub strategy: Contestant,
    /// Leave-query-out error after the last common step above that of the reference, as a share
    /// of it; below 0 where the contestant came out better.
    pub error: f64,
    /// The first measure of the test data less that of the reference.
    pub test: Option<f64>,
    /// Share of the features of the reference that it selected.
    pub overlap: Option<f64>,
}

impl Findings {
    pub(super) fn new(comparison: &Comparison) -> Self {
        let exact: Vec<&Entry> = comparison.ran().filter(|entry| entry.exact).collect();
        let reference = exact.first().copied();
        let fastest_exact = fastest(exact.iter().copied());
        let slowest = exact.iter().copied().filter_map(timed);
        let slowest = slowest.max_by(|(a, _), (b, _)| a.total_cmp(b));
        let slowest_exact =
            slowest
                .zip(fastest_exact)
                .and_then(|((slow, entry), (fast, first))| {
                    let times = slow / fast;
                    let two = entry.contestant != first.contestant && times.is_finite();
                    two.then_some((entry.contestant, times))
                });
        let others = comparison.ran().filter(|entry| !entry.exact);
        let metric = comparison.task.metrics.first();
        let loss = |entry: &Entry| Loss::new(entry, reference?, metric);
        let mut losses: Vec<Loss> = others.filter_map(loss).collect();
        losses.sort_by(|a, b| a.error.total_cmp(&b.error));
        Self {
            reference: reference.map(|entry| entry.contestant),
            agreement: Agreement::of(&exact),
            exact: exact.iter().map(|entry| entry.contestant).collect(),
            fastest_exact: fastest_exact.map(|(_, entry)| entry.contestant),
            slowest_exact,
            fastest: fastest(comparison.ran()).map(|(_, entry)| entry.contestant),
            losses,
        }
    }
}

/// Seconds of selecting, and the contestant.
fn timed(entry: &Entry) -> Option<(f64, &Entry)> {
    Some((entry.select_seconds?.mean, entry))
}

fn fastest<'a>(entries: impl Iterator<Item = &'a Entry>) -> Option<(f64, &'a Entry)> {
    let timed = entries.filter_map(timed);
    timed.min_by(|(a, _), (b, _)| a.total_cmp(b))
}

impl Agreement {
    fn of(exact: &[&Entry]) -> Self {
        if exact.len() < 2 {
            return Self::Untested;
        }
        let differences = exact.iter().filter_map(|entry| entry.first_difference());
        differences.min().map_or(Self::Same, Self::From)
    }
}

impl Loss {
    /// `None` if either took no step.
    fn new(entry: &Entry, reference: &Entry, metric: Option<&String>) -> Option<Self> {
        let (ours, theirs) = entry.steps.iter().zip(&reference.steps).next_back()?;
        let excess = ours.lqo_error.mean - theirs.lqo_error.mean;
        let test = metric.and_then(|metric| {
            let (ours, theirs) = (ours.measure(metric)?, theirs.measure(metric)?);
            Some(ours.mean - theirs.mean)
        });
        let share = excess / theirs.lqo_error.mean;
        Some(Self {
            strategy: entry.contestant,
            error: if excess == 0.0 { 0.0 } else { share },
            test,
            overlap: ours.overlap.map(|overlap| overlap.mean),
        })
    }
}
