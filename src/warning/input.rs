//! Tables, preferences and models that were read, and may mean something else.

use rankrls_files::{counted, short};

use super::Warning;
use crate::data::read::{Loaded, TableOptions};
use crate::data::{Dataset, Preference};
use crate::model::Unfinished;

impl Warning {
    /// Warns of a model called `name` that a run wrote on the way, or when it was interrupted.
    pub fn of_unfinished(name: &str, progress: Option<Unfinished>) -> Option<Self> {
        let progress = progress?;
        Some(Self::from(format!(
            "{name} is the model of an unfinished run: it has {progress} features"
        )))
    }

    /// Warns of the `titles` on a `line` of a table, which may be its first row, as columns of `table` have numbers
    /// for titles. Columns may count from 0 or 1, as those without names do in pandas, and others may be years.
    pub fn of_header((line, titles): &(u64, Vec<String>), table: &TableOptions) -> Option<Self> {
        let label = table.label.as_deref()?.trim();
        let is_value = |title: &str| {
            title.parse::<f64>().is_ok()
                || matches!(title.to_ascii_lowercase().as_str(), "true" | "false")
        };
        let numbers: Vec<&str> = titles
            .iter()
            .map(String::as_str)
            .filter(|title| is_value(title))
            .collect();
        let whole: Option<Vec<u64>> = numbers.iter().map(|title| title.parse().ok()).collect();
        let counts = |whole: Vec<u64>| {
            let first = whole.first().copied().unwrap_or_default();
            let mut pairs = whole.windows(2);
            let counted = pairs.all(|pair| pair[0].checked_add(1) == Some(pair[1]));
            !is_value(label) || counted && first < 2
        };
        let odd = !whole.is_some_and(counts);
        let first = numbers.first().filter(|_| odd)?;
        Some(Warning::from(format!(
            "line {line}, the header, has the title {first:?}: is it the first row of the data? Then write a header \
             before it"
        )))
    }

    /// Warns of points that were read as decimal points of a table, and look like separators of thousands.
    pub fn of_thousands(loaded: &Loaded) -> Option<Self> {
        let (title, (line, cell)) = loaded.thousands.first()?;
        let columns = counted(loaded.thousands.len(), "column");
        let value = cell.parse().map_or_else(|_| cell.clone(), short);
        Some(Warning::from(format!(
            "numbers in {columns}, such as {cell:?} on line {line} in the column {title:?}, were read with decimal \
             points, as {value}: beside whole numbers below 1000 the points look like separators of thousands; write numbers \
             without them"
        )))
    }

    /// Warns of preferences among rows of the input of `data`, each from its `line`, that join rows of two queries,
    /// or most of which prefer the smaller label.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_of_numbers_is_a_row_unless_they_count_columns() {
        let most = u64::MAX.to_string();
        for (titles, label, odd) in [
            (&["grade", "x"][..], "grade", false),
            (&["0", "1", "2"], "2", false),
            (&["grade", "1990", "2000"], "grade", false),
            (&["1", "3", "0.5"], "1", true),
            (&["5", "6"], "5", true),
            // No number comes after the largest of all.
            (&["grade", &most, "0"], "grade", false),
            (&[&most, "0"], "0", true),
        ] {
            let table = TableOptions {
                label: Some(label.to_owned()),
                ..TableOptions::default()
            };
            let header = (1, titles.iter().map(ToString::to_string).collect());
            let told = Warning::of_header(&header, &table);
            assert_eq!(told.is_some(), odd, "{titles:?}");
        }
    }
}
