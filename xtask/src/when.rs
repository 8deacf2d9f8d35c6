//! Which strategy when: selections on drawn data that differ from one base in one thing at a time.
//!
//! Data are drawn, and their column classes found, before anything is timed.

use std::fs;

use anyhow::{Context, Result};
use rankrls::greedy::{SelectionOptions, select_among};
use rankrls::plot::{Figure, LinePlot, Scale, Series};
use rankrls::{ColumnClasses, Dataset, Lambda, StrategyKind};
use serde::{Deserialize, Serialize};

use crate::commands::{printed_in_release, root};
use crate::measure::seconds_of;
use crate::page::significant;
use crate::zipf::Zipf;

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
    columns: u32,
    /// Entries of a row.
    entries: usize,
    /// Rows of a query.
    size: usize,
    k: usize,
    /// Candidates that `sampled` draws.
    kappa: usize,
}

const BASE: Setting = Setting {
    rows: 1000,
    columns: 10_000,
    entries: 50,
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
    // As many entries in a row, whatever the number of columns.
    let columns = [(100, 30), (1000, 50), (10_000, 50), (50_000, 50)];
    let columns = columns.map(|(columns, entries)| {
        let setting = Setting {
            columns,
            entries,
            ..BASE
        };
        (f64::from(columns), setting)
    });
    let densities = [(0.001, 2), (0.005, 10), (0.05, 100), (0.3, 600)];
    let densities = densities.map(|(density, entries)| {
        let setting = Setting {
            columns: 2000,
            entries,
            ..BASE
        };
        (density, setting)
    });
    [
        Group {
            name: "columns",
            settings: columns.into(),
        },
        group("rows", &[200, 1000, 4000], &|rows| Setting { rows, ..BASE }),
        Group {
            name: "density",
            settings: densities.into(),
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

fn draw_data(setting: &Setting) -> Dataset<'static> {
    let zipf = Zipf {
        rows: setting.rows,
        queries: setting.rows / setting.size,
        columns: setting.columns,
        nonzeros: setting.rows * setting.entries,
        shared: 0,
        seed: 1,
    };
    zipf.dataset()
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

/// Draws the times.
pub(crate) fn draw() -> Result<()> {
    let cannot = || format!("cannot read {CSV}");
    let mut reader = csv::Reader::from_path(root().join(CSV)).with_context(cannot)?;
    let times: csv::Result<Vec<Time>> = reader.deserialize().collect();
    let times = times.with_context(cannot)?;
    let mut figure = Figure::new("Time of a selection").columns(3);
    for group in groups() {
        let plot = LinePlot::new(group.name, "seconds").title(format!("by {}", group.name));
        let mut plot = plot.scales(Scale::Log, Scale::Log);
        for strategy in STRATEGIES.map(StrategyKind::name) {
            let own = |time: &&Time| time.group == group.name && time.strategy == strategy;
            let points = times.iter().filter(own);
            let points = points.map(|time| (time.value, Some(time.seconds)));
            plot = plot.series(Series::new(strategy, points));
        }
        figure = figure.lines(plot);
    }
    fs::write(root().join("docs/when/when.svg"), figure.to_svg())?;
    Ok(())
}
