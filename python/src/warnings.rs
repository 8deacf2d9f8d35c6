//! Warnings of the library, for Python to give.

use rankrls::warning::Warning;

use crate::errors::in_python;

/// The text of a warning, and the column that it is about, if there is one.
pub(crate) type Told = (String, Option<u32>);

/// Warnings in the words of Python, where columns count from 0.
pub(crate) fn told(warnings: impl IntoIterator<Item = Warning>) -> Vec<Told> {
    let told = |warning: Warning| {
        let text = in_python(&warning.text);
        match warning.column {
            Some((column, _)) => (format!("column {column} {text}"), Some(column)),
            None => (text, None),
        }
    };
    warnings.into_iter().map(told).collect()
}
