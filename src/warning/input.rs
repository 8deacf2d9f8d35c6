//! Preferences and models from files that may mean something else.

use rankrls_files::counted;

use super::Warning;
use crate::data::{Dataset, Preference};
use crate::model::Unfinished;

impl Warning {
    /// Warns of a model called `name` that an unfinished run wrote.
    pub fn of_unfinished(name: &str, progress: Option<Unfinished>) -> Option<Self> {
        let progress = progress?;
        Some(Self::from(format!(
            "{name} is the model of an unfinished run: it has {progress} features"
        )))
    }

    /// Warns of preferences among rows of the input of `data`, each from its `line`. They deserve a warning if they
    /// join rows of two queries, or if most prefer the smaller label.
    pub fn of_preferences(
        data: &Dataset<'_>,
        preferences: &[Preference],
        lines: &[u64],
    ) -> Vec<Self> {
        let (rows, queries, labels) = (
            data.rows_of_input(),
            data.queries().of_rows(),
            data.labels(),
        );
        let rows =
            |one: &Preference| [one.preferred, one.other].map(|row| rows[row as usize] as usize);
        let found = |odd: &dyn Fn([usize; 2]) -> bool| {
            let pairs = preferences.iter().zip(lines);
            let mut lines = pairs
                .filter(|(one, _)| odd(rows(one)))
                .map(|(_, line)| *line);
            let first = lines.next();
            (
                lines.count() + usize::from(first.is_some()),
                first.unwrap_or_default(),
            )
        };
        let count = counted(preferences.len(), "preference");
        let mut warnings = Vec::new();
        let (joined, line) = found(&|[a, b]| queries[a] != queries[b]);
        if joined > 0 {
            warnings.push(Warning::from(format!(
                "{joined} of {count} join rows of two queries, the first on line {line}: rows count from 1"
            )));
        }
        let (smaller, line) = found(&|[a, b]| labels[a] < labels[b]);
        let (larger, _) = found(&|[a, b]| labels[a] > labels[b]);
        if smaller > larger {
            warnings.push(Warning::from(format!(
                "{smaller} of {count} prefer the row with the smaller label, the first on line {line}: the preferred \
                 row comes first, and rows count from 1"
            )));
        }
        warnings
    }
}
