//! Chooses the options that nobody gave, shows the progress, and words the choice in reports.

use std::fmt::Write as _;

use anyhow::Result;
use rankrls::greedy::{Choice, Tried};
use rankrls::tune::{self, ChoiceEvent, EachTrial};
use rankrls::warning::Warning;
use rankrls::{ColumnClasses, Dataset, GreedyRankRls};

use crate::console::{Console, NOTHING};
use crate::numbers::{counted, short};
use crate::session::Session;
use crate::watch::Watch;

/// The `options` with every open setting chosen by folds of `train`, and the record of the choice; `None` if
/// interrupted.
pub(crate) fn choose(
    options: &GreedyRankRls,
    train: &Dataset<'_>,
    session: &Session<'_>,
) -> Result<Option<(GreedyRankRls, Option<Choice>)>> {
    watched(session, |each| tune::choose(options, None, train, each))
}

/// Warns of `candidates` of `train` in units that differ a lot, if somebody wants to keep these.
pub(crate) fn warn_of_units(
    keeps_units: bool,
    candidates: &ColumnClasses,
    train: &Dataset<'_>,
    console: Console,
) {
    let units = || Warning::of_units(candidates, train);
    console.warn_all(keeps_units.then(units).flatten());
}

/// Runs `choose` with a progress bar. After an interrupt it reports the values so far, and returns `None`.
pub(crate) fn watched<T: Send>(
    session: &Session<'_>,
    choose: impl FnOnce(&mut EachTrial<'_>) -> rankrls::Result<T> + Send,
) -> Result<Option<T>> {
    let mut watch = Watch::new(session);
    let interrupt = session.interrupt;
    let chosen = watch.choose(|watch| {
        let mut each = |event: ChoiceEvent<'_>| {
            if let ChoiceEvent::Judged(choice) = event {
                interrupt.leaves(format!("{NOTHING}; so far {}", so_far(choice)));
            }
            watch.trial(event)
        };
        choose(&mut each)
    })?;
    interrupt.leaves(NOTHING.to_owned());
    if chosen.is_none() {
        let text = format_args!("interrupted before the first step: {NOTHING}");
        session.console.warn(text);
    }
    Ok(chosen)
}

/// The options that folds choose, each with the tried values.
fn axes(choice: &Choice) -> [(&'static str, &[Tried]); 3] {
    [
        ("columns", &choice.scale),
        ("labels", &choice.label_scale),
        ("strategy", &choice.strategy),
    ]
}

fn value(tried: &Tried) -> String {
    tried
        .value
        .map_or_else(|| "-".to_owned(), |value| format!("{value:.3}"))
}

/// The values judged so far, in one line.
fn so_far(choice: &Choice) -> String {
    let known = axes(choice).into_iter().flat_map(|(axis, all)| {
        let judged = all.iter().filter(|tried| tried.value.is_some());
        judged.map(move |tried| format!("{axis} {} {}", tried.name, value(tried)))
    });
    let known: Vec<String> = known.collect();
    format!("{} of {}", choice.measure, known.join(", "))
}

/// The choice of the options and of the ridge parameter `lambda`, for data with so many `rows` and this `unit`, in
/// words.
pub(crate) fn text(choice: &Choice, lambda: f64, rows: usize, unit: f64) -> String {
    if let Some(reason) = &choice.reason {
        return format!("lambda is 1/16u, and nothing was chosen by folds: {reason}\n");
    }
    let (queries, features) = (
        counted(choice.queries, "query"),
        counted(choice.k, "feature"),
    );
    let drawn = if choice.rows < rows {
        let of = counted(rows, "row");
        format!(", {} of {of}, drawn by seed {}", choice.rows, choice.seed)
    } else {
        String::new()
    };
    let measure = match choice.measure.to_string() {
        name if name == "cindex" => "concordance index".to_owned(),
        name => name,
    };
    let folds = choice.folds;
    let mut text =
        format!("chosen by {folds} folds of {queries}{drawn} ({measure} at {features}):\n");
    for (axis, all) in axes(choice) {
        let mut judged: Vec<&Tried> = all.iter().filter(|tried| tried.value.is_some()).collect();
        judged.sort_by(|a, b| f64::total_cmp(&b.value.unwrap_or(0.0), &a.value.unwrap_or(0.0)));
        judged.sort_by_key(|tried| !tried.chosen);
        let line = |tried: &&Tried| format!("{} {}", tried.name, value(tried));
        let judged: Vec<String> = judged.iter().map(line).collect();
        if !judged.is_empty() {
            let _ = writeln!(text, "  {axis:<9} {}", judged.join("   "));
        }
        for tried in all {
            if let Some(reason) = &tried.reason {
                let _ = writeln!(text, "  {axis:<9} {} was left out: {reason}", tried.name);
            }
        }
    }
    let is_taken = |tried: &&Tried| {
        let share = tried.lambda.map(|share| share.lambda(unit).value());
        share == Some(lambda)
    };
    let share = choice.lambda.iter().find(is_taken);
    let share = share.map_or_else(String::new, |tried| format!(" = {}", tried.name));
    let _ = writeln!(text, "  {:<9} {}{share}", "lambda", short(lambda));
    text
}
