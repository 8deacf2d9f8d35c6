//! The findings of a comparison, in sentences.

use std::fmt::Write as _;

use rankrls::compare::{
    Agreement, Comparison, Contestant, Entry, Findings, Loss, Spread, duration,
};

use rankrls::memory::Bytes;

use crate::cli::output::or_dash;

/// The first lines to read: questions and answers.
pub(super) fn answers(comparison: &Comparison) -> [(&'static str, String); 3] {
    let findings = comparison.findings();
    [
        ("Exact", exact(&findings, comparison)),
        ("Fastest", fastest(&findings, comparison)),
        ("Lost", lost(&findings, comparison)),
    ]
}

fn exact(findings: &Findings, comparison: &Comparison) -> String {
    let names = listed(&findings.exact);
    match (&findings.exact[..], findings.agreement) {
        ([], _) => "none of the strategies that ran is exact, so there is no overlap with an \
                    exact selection and no telling what was lost."
            .to_owned(),
        ([_], _) => format!("{names}, which takes the best of all candidates in every step."),
        (_, Agreement::From(step)) => format!(
            "{names} are exact, but do not select the same from step {step} on; the others are \
             held against {}.",
            findings.exact[0]
        ),
        _ => {
            let features =
                entry(comparison, findings.exact[0]).map_or(0, |exact| exact.steps.len());
            format!("{names}; they selected the same {features} features in the same order.")
        }
    }
}

fn fastest(findings: &Findings, comparison: &Comparison) -> String {
    let timed = |contestant: Option<Contestant>| {
        let contestant = contestant?;
        let entry = entry(comparison, contestant)?;
        let (total, each) = (entry.select_seconds?, entry.seconds_per_feature?);
        let (total, each) = (duration(total.mean), duration(each.mean));
        Some((contestant, format!("{total} ({each} a feature)")))
    };
    let mut text = String::new();
    if let Some((exact, time)) = timed(findings.fastest_exact) {
        let _ = write!(text, "{exact} is the fastest exact strategy with {time}");
        if let Some((slowest, times)) = findings.slowest_exact {
            let _ = write!(text, ", {} times as fast as {slowest}", ratio(times));
        }
        text += if findings.fastest == findings.fastest_exact {
            ", and the fastest of all."
        } else {
            "; "
        };
    }
    if findings.fastest != findings.fastest_exact
        && let Some((fastest, time)) = timed(findings.fastest)
    {
        let _ = write!(text, "{fastest} is the fastest of all with {time}.");
    }
    text
}

fn lost(findings: &Findings, comparison: &Comparison) -> String {
    let Some(reference) = findings.reference else {
        return "unknown without an exact strategy.".to_owned();
    };
    let (Some(least), Some(most)) = (findings.losses.first(), findings.losses.last()) else {
        return "nothing: all strategies that ran are exact.".to_owned();
    };
    let steps = entry(comparison, reference).map_or(0, |exact| exact.steps.len());
    let metric = comparison.task.metrics.first();
    let metric = metric.map_or("", String::as_str);
    let mut text = format!(
        "of the others, {} has the least LQO error after {steps} features, {}",
        least.strategy,
        against(least, metric)
    );
    if least.strategy != most.strategy {
        let _ = write!(
            text,
            "; {} has the largest, {}",
            most.strategy,
            against(most, metric)
        );
    }
    text + "."
}

/// `3.1% above the exact one (test cindex lower by 0.012)`.
fn against(loss: &Loss, metric: &str) -> String {
    let error = if loss.error == 0.0 {
        "the same as the exact one".to_owned()
    } else {
        let side = if loss.error > 0.0 { "above" } else { "below" };
        format!("{} {side} the exact one", percent(loss.error.abs()))
    };
    let Some(test) = loss.test else {
        return error;
    };
    let side = if test < 0.0 { "lower" } else { "higher" };
    if test == 0.0 {
        format!("{error} (test {metric} the same)")
    } else {
        format!("{error} (test {metric} {side} by {:.4})", test.abs())
    }
}

/// Why a strategy did not run.
pub(super) fn failure(entry: &Entry) -> String {
    let error = entry.error.as_deref().unwrap_or_default();
    let contestant = entry.contestant;
    match (entry.needs_bytes, entry.limit_bytes) {
        (Some(needs), Some(limit)) => format!(
            "{contestant} does not fit into memory: it needs {} with the data, {} may be taken",
            Bytes(needs),
            Bytes(limit)
        ),
        _ => format!("{contestant} did not run: {error}"),
    }
}

fn entry(comparison: &Comparison, contestant: Contestant) -> Option<&Entry> {
    comparison
        .ran()
        .find(|entry| entry.contestant == contestant)
}

/// `a, b and c`.
fn listed(contestants: &[Contestant]) -> String {
    let names: Vec<String> = contestants.iter().map(ToString::to_string).collect();
    match &names[..] {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    }
}

fn ratio(times: f64) -> String {
    if times < 9.95 {
        format!("{times:.1}")
    } else {
        format!("{times:.0}")
    }
}

pub(super) fn percent(share: f64) -> String {
    let percent = share * 100.0;
    if percent < 9.95 {
        format!("{percent:.1}%")
    } else {
        format!("{percent:.0}%")
    }
}

/// The mean, and the deviation where there are several runs.
pub(super) fn spread(spread: Option<Spread>, runs: usize) -> String {
    or_dash(spread, |spread| match runs {
        0 | 1 => format!("{:.4}", spread.mean),
        _ => format!("{:.4} ±{:.4}", spread.mean, spread.deviation),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short() {
        assert_eq!([0.0123, 0.5].map(percent), ["1.2%", "50%"]);
        assert_eq!([2.34, 12.3].map(ratio), ["2.3", "12"]);
    }
}
