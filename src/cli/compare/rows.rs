//! The figures of all strategies, as rows of text.

use rankrls::compare::{Comparison, Entry, Spread, duration};

use super::summary::{percent, spread};
use rankrls::memory::Bytes;

/// Rows under titles.
pub(super) struct Rows {
    pub(super) titles: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

/// What each strategy took.
pub(super) fn costs(comparison: &Comparison) -> Rows {
    let titles = [
        "strategy",
        "exact",
        "runs",
        "time",
        "a feature",
        "memory",
        "evaluated",
    ];
    let entries = comparison.strategies.iter();
    Rows {
        titles: titles.map(str::to_owned).to_vec(),
        rows: entries.map(cost).collect(),
    }
}

fn cost(entry: &Entry) -> Vec<String> {
    let missing = || "-".to_owned();
    let time = |spread: Option<Spread>| spread.map_or_else(missing, |spread| duration(spread.mean));
    let memory = match (entry.peak_rss_bytes, entry.needs_bytes) {
        (Some(peak), _) => Bytes(whole(peak.mean)).to_string(),
        (None, Some(_)) => "does not fit".to_owned(),
        (None, None) if entry.ran() => missing(),
        (None, None) => "did not run".to_owned(),
    };
    let evaluated = entry
        .evaluated
        .map_or_else(missing, |spread| format!("{:.0}", spread.mean));
    vec![
        entry.contestant.to_string(),
        if entry.exact { "yes" } else { "no" }.to_owned(),
        entry.runs.len().to_string(),
        time(entry.select_seconds),
        time(entry.seconds_per_feature),
        memory,
        evaluated,
    ]
}

/// Measures of the test data; none without them.
pub(super) fn measures(comparison: &Comparison) -> Option<Rows> {
    let metrics = &comparison.task.metrics;
    let mut titles = vec!["strategy".to_owned()];
    titles.extend(metrics.iter().map(|metric| format!("test {metric}")));
    let row = |entry: &Entry| {
        let mut cells = vec![entry.contestant.to_string()];
        for metric in metrics {
            let measured = entry.last().and_then(|last| last.measure(metric));
            cells.push(spread(measured, entry.runs.len()));
        }
        cells
    };
    let rows = comparison.strategies.iter().map(row).collect();
    (!metrics.is_empty()).then_some(Rows { titles, rows })
}

/// What each strategy found.
pub(super) fn findings(comparison: &Comparison) -> Rows {
    let titles = [
        "strategy",
        "LQO error",
        "above exact",
        "LQO cindex",
        "overlap",
        "differs at",
    ];
    let losses = comparison.findings().losses;
    let above = |entry: &Entry| {
        let mut losses = losses.iter();
        losses
            .find(|loss| loss.strategy == entry.contestant)
            .map(|loss| loss.error)
    };
    let entries = comparison.strategies.iter();
    Rows {
        titles: titles.map(str::to_owned).to_vec(),
        rows: entries.map(|entry| found(entry, above(entry))).collect(),
    }
}

fn found(entry: &Entry, above: Option<f64>) -> Vec<String> {
    let runs = entry.runs.len();
    let last = entry.last();
    let above = above.map_or_else(
        || "-".to_owned(),
        |share| {
            let sign = if share < 0.0 { "-" } else { "+" };
            format!("{sign}{}", percent(share.abs()))
        },
    );
    let mut cells = vec![
        entry.contestant.to_string(),
        spread(last.map(|last| last.lqo_error), runs),
        above,
        spread(last.and_then(|last| last.lqo_cindex), runs),
    ];
    let overlap = last.and_then(|last| last.overlap);
    cells.push(overlap.map_or_else(
        || "-".to_owned(),
        |share| format!("{:.0}%", 100.0 * share.mean),
    ));
    let differs = entry.first_difference();
    cells.push(differs.map_or_else(|| "-".to_owned(), |step| step.to_string()));
    cells
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "bytes of memory"
)]
fn whole(bytes: f64) -> u64 {
    bytes as u64
}
