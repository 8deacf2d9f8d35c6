//! The table of selected features.

use rankrls::Metric;

use super::numbers::{measure, number, printable};
use super::table::{lines, table};

/// A row of the table of a selection or a model.
pub(crate) struct PathRow<'a> {
    pub(crate) feature: u64,
    pub(crate) name: Option<&'a str>,
    pub(crate) weight: f64,
    pub(crate) lqo_error: f64,
    pub(crate) lqo_cindex: Option<f64>,
    /// The measure that was the criterion, unless that is the concordance index.
    pub(crate) criterion: Option<(Metric, f64)>,
    pub(crate) identical: usize,
}

/// Selected features, one a line, with a column of names if there are any.
pub(crate) fn path_table<'a>(rows: impl Iterator<Item = PathRow<'a>> + Clone) -> String {
    let named = rows.clone().any(|row| row.name.is_some());
    let criterion = rows.clone().find_map(|row| row.criterion);
    let criterion = criterion.map(|(metric, _)| format!("LQO {metric}"));
    let mut header = vec![
        "step",
        "feature",
        "name",
        "weight",
        "LQO error",
        "LQO cindex",
        criterion.as_deref().unwrap_or_default(),
        "identical",
    ];
    header.retain(|title| !title.is_empty());
    header.retain(|title| named || *title != "name");
    let header: Vec<String> = header.into_iter().map(str::to_owned).collect();
    let mut table = table(&header);
    for (step, row) in (1_usize..).zip(rows) {
        let mut cells = vec![step.to_string(), row.feature.to_string()];
        if named {
            cells.push(printable(row.name.unwrap_or_default()));
        }
        cells.extend([
            number(row.weight),
            number(row.lqo_error),
            measure(row.lqo_cindex),
        ]);
        if criterion.is_some() {
            cells.push(measure(row.criterion.map(|(_, value)| value)));
        }
        cells.push(row.identical.to_string());
        table.add_row(cells);
    }
    lines(table)
}
