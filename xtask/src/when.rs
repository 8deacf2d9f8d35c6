//! Which strategy when: selections on drawn data that differ from one base in one thing at a time.
//!
//! Columns are binary, and the share of rows that a column occurs in falls with its rank as in
//! text, so that most are rare; labels are noise and a few of the frequent columns. Data are made,
//! and their column classes found, before anything is timed.

use std::fs;

use anyhow::{Context, Result};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rankrls::greedy::{SelectionOptions, select_among};
use rankrls::plot::{Figure, LinePlot, Scale, Series};
use rankrls::{ColumnClasses, Dataset, Lambda, Queries, StrategyKind};
use serde::{Deserialize, Serialize};

use crate::commands::{printed_in_release, root};
use crate::measure::seconds_of;
use crate::page::{fill, grouped, row, significant};

const LAMBDA: f64 = 16.0;
const CSV: &str = "docs/when/when.csv";

/// The strategies that are compared. Baselines would only show how quick a strategy is that does
/// less.
const STRATEGIES: [StrategyKind; 5] = [
    StrategyKind::Dense,
    StrategyKind::LowMem,
    StrategyKind::Bounded,
    StrategyKind::Sampled,
    StrategyKind::Backfit,
];

/// Data to draw, and a selection from them.
#[derive(Debug, Clone, Copy)]
struct Setting {
    rows: usize,
    columns: usize,
    /// Mean share of the columns that occur in a row.
    density: f64,
    /// Rows of a query.
    size: usize,
    k: usize,
    /// Candidates that `sampled` draws.
    kappa: usize,
}

const BASE: Setting = Setting {
    rows: 1000,
    columns: 10_000,
    density: 0.005,
    size: 10,
    k: 10,
    kappa: StrategyKind::DEFAULT_SAMPLE,
};

/// A thing that is varied, and its values.
struct Group {
    name: &'static str,
    settings: Vec<(f64, Setting)>,
}

fn groups() -> [Group; 6] {
    let group = |name, values: &[usize], setting: &dyn Fn(usize) -> Setting| Group {
        name,
        settings: values
            .iter()
            .map(|&value| (value as f64, setting(value)))
            .collect(),
    };
    let columns = |columns: usize| {
        // As many columns to a row, whatever their number.
        let density = (BASE.density * BASE.columns as f64 / columns as f64).min(0.3);
        Setting {
            columns,
            density,
            ..BASE
        }
    };
    let densities = [0.001, 0.005, 0.05, 0.3];
    let density = |density| {
        (
            density,
            Setting {
                columns: 2000,
                density,
                ..BASE
            },
        )
    };
    [
        group("columns", &[100, 1000, 10_000, 50_000], &columns),
        group("rows", &[200, 1000, 4000], &|rows| Setting { rows, ..BASE }),
        Group {
            name: "density",
            settings: densities.map(density).into(),
        },
        group("query size", &[2, 10, 100, 1000], &|size| Setting {
            size,
            ..BASE
        }),
        group("k", &[1, 10, 40, 100], &|k| Setting {
            columns: 4000,
            k,
            ..BASE
        }),
        group("kappa", &[10, 59, 500, 4000], &|kappa| Setting {
            kappa,
            ..BASE
        }),
    ]
}

/// Share of the rows that the column of a rank occurs in: `c / (rank + 10)`, at most 0.9, with
/// the mean over all columns that is asked for.
fn shares(setting: &Setting) -> impl Iterator<Item = f64> {
    let weight = |rank: usize| 1.0 / (rank + 10) as f64;
    let sum: f64 = (0..setting.columns).map(weight).sum();
    let factor = setting.density * setting.columns as f64 / sum;
    (0..setting.columns).map(move |rank| (factor * weight(rank)).min(0.9))
}

fn draw_data(setting: &Setting) -> Dataset<'static> {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut labels: Vec<f64> = (0..setting.rows).map(|_| random.random()).collect();
    let (mut starts, mut rows) = (vec![0], Vec::new());
    for (rank, share) in shares(setting).enumerate() {
        for (row, label) in (0u32..).zip(&mut labels) {
            if random.random::<f64>() < share {
                rows.push(row);
                if rank % 50 == 7 {
                    *label += 0.5;
                }
            }
        }
        starts.push(rows.len());
    }
    let sizes = vec![setting.size; setting.rows / setting.size];
    let queries = Queries::from_sizes(&sizes).expect("queries with rows");
    let values = vec![1.0; rows.len()];
    Dataset::from_csc(starts, rows, values, labels, queries).expect("valid columns")
}

/// A line of the file of times.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Time {
    group: String,
    strategy: String,
    value: f64,
    seconds: f64,
}

/// Times all strategies at all settings and prints the file of times.
pub(crate) fn measure() -> Result<()> {
    println!("group,strategy,value,seconds");
    let lambda = Lambda::new(LAMBDA)?;
    for group in groups() {
        let data: Vec<_> = group
            .settings
            .iter()
            .map(|(_, setting)| draw_data(setting))
            .collect();
        let classes: Vec<_> = data.iter().map(ColumnClasses::new).collect();
        for strategy in STRATEGIES {
            for (((value, setting), data), classes) in
                group.settings.iter().zip(&data).zip(&classes)
            {
                let options = SelectionOptions {
                    strategy: Some(strategy),
                    sample: (strategy == StrategyKind::Sampled).then_some(setting.kappa),
                    ..SelectionOptions::new(setting.k, lambda)
                };
                let select = || select_among(classes, data.labels(), 0, &options, &mut ());
                let (seconds, found) = seconds_of(select);
                found.context("there are candidates")?;
                let seconds = significant(seconds, 6);
                println!(
                    "{},{strategy},{},{seconds}",
                    group.name,
                    significant(*value, 6)
                );
            }
        }
    }
    Ok(())
}

/// Measures, and keeps the times.
pub(crate) fn measure_again() -> Result<()> {
    let measured = printed_in_release("measure-when")?;
    fs::write(root().join(CSV), measured).with_context(|| format!("cannot write {CSV}"))
}

fn times() -> Result<Vec<Time>> {
    let mut reader =
        csv::Reader::from_path(root().join(CSV)).with_context(|| format!("cannot read {CSV}"))?;
    reader
        .deserialize()
        .collect::<Result<_, _>>()
        .with_context(|| format!("cannot read {CSV}"))
}

/// Draws the times, and fills in the tables.
pub(crate) fn draw() -> Result<()> {
    let times = times()?;
    let groups = groups();
    let figure = groups.iter().fold(
        Figure::new("Time of a selection").columns(3),
        |figure, group| {
            let plot = LinePlot::new(group.name, "seconds").title(format!("by {}", group.name));
            let plot = plot.scales(Scale::Log, Scale::Log);
            figure.lines(STRATEGIES.into_iter().fold(plot, |plot, strategy| {
                let points =
                    of(&times, group, strategy).map(|time| (time.value, Some(time.seconds)));
                plot.series(Series::new(strategy.name(), points))
            }))
        },
    );
    figure.write(&root().join("docs/when/when.svg"))?;
    for group in &groups {
        fill(
            "docs/strategies.md",
            &format!("<!-- {} -->", group.name),
            "<!-- end -->",
            &table(&times, group),
        )?;
    }
    Ok(())
}

fn of<'a>(
    times: &'a [Time],
    group: &'a Group,
    strategy: StrategyKind,
) -> impl Iterator<Item = &'a Time> {
    let own = move |time: &&Time| time.group == group.name && time.strategy == strategy.name();
    times.iter().filter(own)
}

fn table(times: &[Time], group: &Group) -> Vec<String> {
    let mut titles = vec![group.name.to_owned()];
    titles.extend(group.settings.iter().map(|(value, _)| grouped(*value, 6)));
    let mut lines = vec![
        row(&titles),
        format!("|---|{}", "---:|".repeat(group.settings.len())),
    ];
    for strategy in STRATEGIES {
        let mut cells = vec![format!("`{strategy}`")];
        cells.extend(of(times, group, strategy).map(|time| duration(time.seconds)));
        lines.push(row(&cells));
    }
    lines
}

/// Seconds to three digits.
fn duration(seconds: f64) -> String {
    let (value, unit) = match seconds {
        1.0.. => (seconds, "s"),
        1e-3.. => (seconds * 1e3, "ms"),
        _ => (seconds * 1e6, "µs"),
    };
    format!("{} {unit}", significant(value, 3))
}
