//! Warnings of the library, for Python to give.

use rankrls::warning::Warning;

use crate::errors::in_python;

/// Warnings in the words of Python.
pub(crate) fn told(warnings: impl IntoIterator<Item = Warning>) -> Vec<String> {
    let warnings = warnings.into_iter();
    warnings
        .map(|warning| in_python(&warning.to_string()))
        .collect()
}
