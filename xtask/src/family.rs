//! The listings of RLScore's tutorial on ranking in docs/rankrls.md, each with our command and
//! RLScore's figures: runs the commands, and fills in ours.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, from_str, json};

use crate::commands::{built, command, corpora, output, run, script};
use crate::page::{fill, row};

const PAGE: &str = "docs/rankrls.md";

/// Where figures of the page are in `{"train": ..., "test": ...}`. `*` stands for all entries of an
/// array, and each ridge parameter has its figure then.
const PLACES: [(&str, &str); 8] = [
    ("training rows", "/train/data/rows"),
    ("columns", "/train/data/columns"),
    ("test rows", "/test/rows"),
    ("test concordance", "/test/metrics/cindex"),
    ("hold-out concordance", "/train/holdout/cindex"),
    (
        "hold-out concordance, each lambda",
        "/train/lambdas/*/holdout/cindex",
    ),
    ("chosen lambda", "/train/lambda"),
    ("chosen gamma", "/train/kernel/gamma"),
];

/// Runs every listing, those of the tutorial on `housing`, and fills in the page. A figure that differs
/// from RLScore's in a digit of the page is an error.
pub(crate) fn compare(housing: &Path) -> Result<()> {
    let housing = housing.canonicalize().context("cannot read the data")?;
    let (program, temporary) = (built("release")?, tempfile::tempdir()?);
    let folder = temporary.path();
    let mut drawing = script("benches/peers/housing.py")?;
    run(drawing.arg(housing).arg(folder))?;
    let model = folder.join("model.json");
    for (marker, data) in [("tutorial", folder), ("parses", &corpora()?)] {
        let report = |arguments: &str| -> Result<Value> {
            let mut rankrls = command(&program, arguments);
            Ok(from_str(&output(rankrls.arg(&model).current_dir(data))?)?)
        };
        fill(PAGE, marker, |part| filled(part, report))?;
    }
    Ok(())
}

/// A part of the page with our figures. `report` runs a command, to which it adds the model.
fn filled(part: &str, report: impl Fn(&str) -> Result<Value>) -> Result<Vec<String>> {
    let commands = part.lines().filter_map(|line| line.strip_suffix('`'));
    let mut commands = commands.filter_map(|line| line.split_once("`rankrls train "));
    let (mut found, mut lines) = (Value::Null, Vec::new());
    for line in part.lines() {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let place = PLACES.iter().find(|place| cells.get(1) == Some(&place.0));
        let (&[listing, name, printed, _], Some((_, place))) = (&cells[..], place) else {
            lines.push(line.to_owned());
            continue;
        };
        if !listing.is_empty() {
            let (_, train) = commands.next().context("a listing without a command")?;
            let test = train.split(' ').next().unwrap_or_default();
            let test = test.replace("train.", "test.");
            found = json!({
                "train": report(&format!("train {train} --json -q -o"))?,
                "test": report(&format!("evaluate {test} --json -q --metrics cindex --model"))?,
            });
        }
        let own = own(&found, place, printed).with_context(|| line.to_owned())?;
        lines.push(row(&[listing, name, printed, &own]));
    }
    Ok(lines)
}

/// Our figures beside those that RLScore printed, if they are the same in all of its digits.
fn own(found: &Value, place: &str, printed: &str) -> Result<String> {
    let figures = values(found, place)?;
    let rounded = figures.iter().zip(printed.split(' '));
    let rounded = rounded.map(|(figure, digits)| {
        let (_, decimals) = digits.split_once('.').unwrap_or_default();
        format!("{figure:.*}", decimals.len())
    });
    let rounded = rounded.collect::<Vec<_>>().join(" ");
    let same = rounded == printed && figures.len() == printed.split(' ').count();
    ensure!(same, "expected RLScore's figures, found {figures:?}");
    Ok(match figures[..] {
        [figure] => figure.to_string(),
        _ => format!("the same {} figures", figures.len()),
    })
}

/// The numbers at a place of a document.
fn values(document: &Value, place: &str) -> Result<Vec<f64>> {
    let (array, rest) = place.split_once("/*").unwrap_or(("", place));
    let numbers = match document.pointer(array).and_then(Value::as_array) {
        Some(entries) => entries.iter().map(|entry| entry.pointer(rest)).collect(),
        None => vec![document.pointer(rest)],
    };
    let numbers = numbers
        .into_iter()
        .map(|value| value.and_then(Value::as_f64));
    let numbers: Option<Vec<f64>> = numbers.collect();
    numbers.with_context(|| format!("{place}: expected a number"))
}
