//! Warnings of the library, for Python to give.

use rankrls::warning::Warning;

/// The words of a warning, and the column that it is about, if it is about one.
pub(crate) type Told = (String, Option<u32>);

/// Warnings in the words of Python: columns count from 0, and lambda is alpha.
pub(crate) fn told(warnings: impl IntoIterator<Item = Warning>) -> Vec<Told> {
    warnings.into_iter().map(worded).collect()
}

fn worded(mut warning: Warning) -> Told {
    let column = warning.column().map(|column| column.feature);
    if let Warning::RowNumbers(suspect) | Warning::Identifiers(suspect) | Warning::Places(suspect) =
        &mut warning
    {
        suspect.index = suspect.feature.into();
    }
    let text = warning.to_string();
    let text = match warning {
        Warning::Edge { .. }
        | Warning::TeacherEdge { .. }
        | Warning::LostDigits { .. }
        | Warning::Residual { .. } => text.replace("lambda", "alpha"),
        _ => text,
    };
    (text, column)
}
