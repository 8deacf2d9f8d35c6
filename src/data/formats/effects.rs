//! Options of reading that none of the data heed.

use std::path::Path;

use rankrls_files::error::{Fault, ReadError};
use rankrls_files::input::is_stdin;
use rankrls_files::{Parameter, Remedy};

use super::format::Format;
use super::options::{ReadOptions, RowQueries};

impl ReadOptions {
    /// Refuses options that were given for nothing: that none of the data at `paths`, which are read
    /// together, heed. Columns of tables have names, and svmlight text counts from 0 or 1. A folder is
    /// data in parts, which keep how they were read.
    pub fn check_effects<'a>(
        &self,
        paths: impl IntoIterator<Item = &'a Path>,
    ) -> Result<(), ReadError> {
        // Folders have no format.
        let format = |path: &Path| (!path.is_dir()).then(|| self.format.at(path));
        let data: Vec<_> = paths.into_iter().map(|path| (path, format(path))).collect();
        let heeds = |parameter| data.iter().any(|(_, format)| heeds(*format, parameter));
        let idle = self.given().find(|&parameter| !heeds(parameter));
        let (Some(parameter), Some((path, format))) = (idle, data.first()) else {
            return Ok(());
        };
        let expected = match parameter {
            Parameter::Label | Parameter::Query | Parameter::Ignore => {
                format!("a table, in which {parameter} names columns")
            }
            Parameter::ZeroBased => format!("svmlight, for {parameter}"),
            _ => format!("a file, for {parameter}"),
        };
        let found = format.map_or(
            "data in parts, which keep how they were read",
            Format::title,
        );
        let leave = format!("leave {parameter} out");
        let remedy = match (parameter, format) {
            (Parameter::Label | Parameter::Query | Parameter::Ignore, Some(Format::Svmlight)) => {
                format!("{leave}; if it is a table, {}", Remedy::ReadAs("csv"))
            }
            _ => leave,
        };
        let fault = Fault::mismatch(expected, found).remedy(remedy);
        let name = if is_stdin(path) {
            "<stdin>".into()
        } else {
            path.to_string_lossy()
        };
        Err(fault.of(&name))
    }

    /// The options that were given, of those that some data do not heed.
    fn given(&self) -> impl Iterator<Item = Parameter> {
        let (table, queries) = (&self.table, &self.row_queries);
        let options = [
            (Parameter::Label, table.label.is_some()),
            (Parameter::Query, table.query.is_some()),
            (Parameter::Ignore, !table.ignore.is_empty()),
            (Parameter::Missing, table.missing.is_some()),
            (Parameter::ZeroBased, self.zero_based),
            (Parameter::Regroup, self.regroup),
            (
                Parameter::Queries,
                matches!(queries, Some(RowQueries::File(_))),
            ),
            (
                Parameter::QuerySize,
                matches!(queries, Some(RowQueries::Size(_))),
            ),
            (Parameter::Format, self.format != Format::Auto),
        ];
        let given = options.into_iter().filter(|(_, given)| *given);
        given.map(|(parameter, _)| parameter)
    }
}

/// Whether data in a format, none of a folder, heed an option.
fn heeds(format: Option<Format>, parameter: Parameter) -> bool {
    match parameter {
        Parameter::Label | Parameter::Query | Parameter::Ignore => {
            matches!(format, Some(Format::Csv | Format::Tsv))
        }
        Parameter::ZeroBased => format == Some(Format::Svmlight),
        _ => format.is_some(),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::options::TableOptions;
    use super::*;
    use crate::data::missing::Missing;

    /// The refusal of options for data in a folder, or `None` where all is heeded.
    fn refusal(options: &ReadOptions, paths: &[&str]) -> Option<String> {
        let error = options.check_effects(paths.iter().map(Path::new)).err()?;
        Some(error.to_string())
    }

    #[test]
    fn each_option_is_heeded_by_its_formats() {
        let all = ["a.svm", "a.csv", "a.tsv"];
        let temporary = std::env::temp_dir();
        let folder = temporary.to_str().unwrap();
        let new = ReadOptions::new;
        let table = |table| new().table(table);
        let none = TableOptions::default;
        let name = || Some("x".to_owned());
        for (options, heeded) in [
            (new(), &all[..]),
            (
                table(TableOptions {
                    label: name(),
                    ..none()
                }),
                &all[1..],
            ),
            (
                table(TableOptions {
                    query: name(),
                    ..none()
                }),
                &all[1..],
            ),
            (
                table(TableOptions {
                    ignore: vec!["x".to_owned()],
                    ..none()
                }),
                &all[1..],
            ),
            (
                table(TableOptions {
                    missing: Some(Missing::Mean),
                    ..none()
                }),
                &all[..],
            ),
            (new().zero_based(true), &all[..1]),
            (new().regroup(true), &all[..]),
            (new().row_queries(RowQueries::Size(2)), &all[..]),
            (
                new().row_queries(RowQueries::File(PathBuf::from("q"))),
                &all[..],
            ),
        ] {
            for path in all {
                let refused = refusal(&options, &[path]);
                assert_eq!(
                    refused.is_none(),
                    heeded.contains(&path),
                    "{path}: {refused:?}"
                );
                assert_eq!(refusal(&options, &[path, heeded[0]]), None);
            }
            let given = options.given().next();
            assert_eq!(
                refusal(&options, &[folder]).is_some(),
                given.is_some(),
                "{given:?}"
            );
            assert_eq!(refusal(&options, &[folder, heeded[0]]), None);
        }
        let csv = new().format(Format::Csv);
        assert_eq!(refusal(&csv, &["a.svm"]), None);
        assert!(refusal(&csv, &[folder]).is_some());
    }

    #[test]
    fn the_message_names_the_option_and_what_to_do() {
        let table = TableOptions {
            label: Some("y".to_owned()),
            ..TableOptions::default()
        };
        let options = ReadOptions::new().table(table);
        let expected = "a.txt: expected a table, in which TableOptions::label names columns, found svmlight (leave TableOptions::label out; if it is a table, read it as csv: set ReadOptions::format)";
        assert_eq!(refusal(&options, &["a.txt"]).as_deref(), Some(expected));
        let options = ReadOptions::new().zero_based(true);
        let expected = "a.csv: expected svmlight, for ReadOptions::zero_based, found a table of comma-separated values (leave ReadOptions::zero_based out)";
        assert_eq!(refusal(&options, &["a.csv"]).as_deref(), Some(expected));
    }
}
