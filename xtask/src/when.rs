//! Which strategy when: selections on drawn data that differ from one base in one thing at a time.
//!
//! Data are drawn, and their column classes found, before anything is timed.

use anyhow::{Context, Result};
use rankrls::greedy::SelectionOptions;
use rankrls::greedy::job::select_among;
use rankrls::{ColumnClasses, Lambda, StrategyKind};

use crate::study::{Cells, Panel, Study, seconds_of};
use crate::zipf::Zipf;

pub(crate) const STUDY: Study = Study {
    name: "when",
    page: "docs/choosing.md",
    columns: "group,strategy,value,seconds",
    parts: || GROUPS.len(),
    measure: |part| GROUPS[part].measure(),
    title: "Time of a selection",
    note: None,
    across: 3,
    panels: || GROUPS.iter().map(Group::panel).collect(),
    tables: |_| Vec::new(),
};

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
struct Setting {
    rows: usize,
    columns: usize,
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

/// A thing that is varied, its values in parts of a unit, and the setting of each value.
struct Group {
    name: &'static str,
    values: &'static [usize],
    unit: f64,
    setting: fn(usize) -> Setting,
}

static GROUPS: [Group; 6] = [
    group("columns", &[100, 1000, 10_000, 50_000], |columns| Setting {
        columns,
        entries: if columns == 100 { 30 } else { 50 },
        ..BASE
    }),
    group("rows", &[200, 1000, 4000], |rows| Setting { rows, ..BASE }),
    Group {
        unit: 1000.0,
        ..group("density", &[1, 5, 50, 300], |thousandths| Setting {
            columns: 2000,
            entries: 2 * thousandths,
            ..BASE
        })
    },
    group("query size", &[2, 10, 100, 1000], |size| Setting {
        size,
        ..BASE
    }),
    group("k", &[1, 10, 40, 100], |k| Setting {
        columns: 4000,
        k,
        ..BASE
    }),
    group("kappa", &[10, 59, 500, 4000], |kappa| Setting {
        kappa,
        ..BASE
    }),
];

const fn group(
    name: &'static str,
    values: &'static [usize],
    setting: fn(usize) -> Setting,
) -> Group {
    Group {
        name,
        values,
        unit: 1.0,
        setting,
    }
}

impl Group {
    /// Times all strategies at all values.
    fn measure(&self) -> Result<Vec<Cells>> {
        let mut lines = Vec::new();
        for &value in self.values {
            let setting = (self.setting)(value);
            let zipf = Zipf {
                rows: setting.rows,
                queries: setting.rows / setting.size,
                columns: u32::try_from(setting.columns)?,
                nonzeros: setting.rows * setting.entries,
                shared: 0,
                seed: 1,
            };
            let data = zipf.dataset();
            let classes = ColumnClasses::new(&data);
            for strategy in STRATEGIES {
                let options = SelectionOptions {
                    strategy: Some(strategy),
                    sample: (strategy == StrategyKind::Sampled).then_some(setting.kappa),
                    ..SelectionOptions::new(setting.k, Lambda::new(16.0)?)
                };
                let select = || select_among(&classes, data.labels(), 0, &options, &mut ());
                let (seconds, found) = seconds_of(select);
                found.context("there are candidates")?;
                let value = value as f64 / self.unit;
                lines.push(vec![
                    self.name.to_owned(),
                    strategy.to_string(),
                    value.to_string(),
                    seconds.to_string(),
                ]);
            }
        }
        Ok(lines)
    }

    fn panel(&self) -> Panel {
        let title = format!("by {}", self.name);
        let (x, y) = ((self.name, "value"), ("seconds", "seconds"));
        Panel::new(title, vec![("group", self.name)], x, y)
    }
}
