//! From the rows of a text to a data set.

use rankrls_files::error::{Fault, ReadError};
use rankrls_files::input::Source;

use super::lists;
use super::options::{Loaded, ReadOptions, RowQueries};
use super::query_lines::{self, QUERY};
use super::text::Text;
use crate::data::missing::Missing;
use crate::data::names::IndexBase;
use crate::data::packed::Packed;

/// The data set of the rows of `text`. A separate file may give their queries.
pub(super) fn build(
    mut text: Text,
    base: IndexBase,
    options: &ReadOptions,
) -> Result<Loaded, ReadError> {
    if text.rows == 0 {
        return Err(Fault::no_rows().of(&text.name));
    }
    if let Some(queries) = &options.row_queries {
        give_queries(&mut text, queries, options)?;
    }
    let packed = if options.packed {
        std::mem::take(&mut text.packed)
    } else {
        Packed::default()
    };
    let width = options.width.unwrap_or(text.width);
    let dropped_entries = text.dropped_entries;
    let dropped_columns = text.dropped_columns.len() as u64;
    let averaged = options.table.missing == Some(Missing::Mean);
    let owned = |found: Option<(&str, u64)>| found.map(|(id, line)| (id.to_owned(), line));
    let returned = owned(text.groups.returned());
    let rounded = owned(text.groups.rounded());
    let nameless = text.into_dataset(width, averaged, options.memory.left())?;
    let memory = options.memory.holding(nameless.memory() + packed.memory());
    let nameless = nameless.with_index_base(base);
    let dataset = match &options.names {
        None => nameless,
        Some(path) => lists::attach(nameless, path, memory)?,
    };
    Ok(Loaded {
        dataset,
        packed,
        dropped_entries,
        dropped_columns,
        returned,
        rounded,
    })
}

/// Gives the rows of `text` their queries from elsewhere.
fn give_queries(
    text: &mut Text,
    queries: &RowQueries,
    options: &ReadOptions,
) -> Result<(), ReadError> {
    if text.groups.first_place().is_some() {
        let expected = "data without query identifiers, as their queries are given besides";
        return Err(Fault::mismatch(expected, "some").of(&text.name));
    }
    match queries {
        RowQueries::File(path) => {
            let source = Source::open(path, options.memory.left())?;
            query_lines::give(text, source, options)?;
        }
        RowQueries::Size(size) => {
            let rest = text.rows.checked_rem(*size).unwrap_or(text.rows);
            if rest != 0 {
                let expected = format!("queries of {size} rows each");
                let found = format!("{} rows, the last {rest} no full query", text.rows);
                return Err(Fault::mismatch(expected, found).of(&text.name));
            }
            text.memory += QUERY * (text.rows / size) as u64;
            for query in 1..=text.rows / size {
                text.groups.add(&query.to_string(), *size, query as u64);
            }
        }
    }
    Ok(())
}
