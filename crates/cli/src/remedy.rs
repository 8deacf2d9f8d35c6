//! Remedies as options of the command.

use std::borrow::Cow;

use rankrls::{Parameter, Remedy};

/// The option that a remedy asks for.
pub(crate) fn option(remedy: &Remedy) -> Option<Cow<'static, str>> {
    Some(Cow::Borrowed(match remedy {
        Remedy::GiveQueries => {
            "give the queries by --rows-per-query N or --query-file FILE, for tables by --query COLUMN, or \
             write them into the data: query_id= of scikit-learn's dump_svmlight_file"
        }
        Remedy::NameQueries => {
            "name it by --query COLUMN, or give the queries by --rows-per-query N or --query-file FILE"
        }
        Remedy::NameLabels => "give --label COLUMN, and --query COLUMN for the queries",
        Remedy::ReadMissing => {
            "to read missing values as 0, pass --missing 0; as the mean of their query, --missing mean"
        }
        Remedy::CountFromZero => "if the file counts its columns from 0, pass --zero-based",
        Remedy::Regroup => "sort the rows by query, or merge them with --regroup",
        Remedy::Ignore(name) => {
            return Some(
                format!("leave it out by --ignore {name:?}, or rename it if it is a feature")
                    .into(),
            );
        }
        Remedy::IgnoreColumn => "to leave a column out, pass --ignore COLUMN",
        Remedy::GiveLambda => "give one with --lambda",
        Remedy::RaiseLambda => "raise --lambda",
        Remedy::FillGaps => "read missing values with --missing",
        Remedy::MoreMemory => "raise --max-memory",
        Remedy::MoreMemoryOrLessData => "raise --max-memory, or select from fewer rows or columns",
        Remedy::GiveTeacher => {
            "as --teacher FILE, which rankrls train --holdout-scores FILE writes"
        }
        Remedy::SameColumns => {
            "are the data of another corpus? They need the columns of the training data; a corpus of parses \
             gets them by rankrls build --columns FILE, with the names of these"
        }
        Remedy::WriteModel => "write models with `rankrls select -o` or `train -o`",
        Remedy::Resume => "go on with it (--resume)",
        Remedy::LeaveOut(Some(name)) => {
            return Some(format!("leave it out, of a table by --ignore {name:?}").into());
        }
        Remedy::LeaveOut(None) => "leave it out of the data",
        Remedy::Name(parameter) => flag(*parameter)?,
        Remedy::Set(Parameter::ZeroBased, _) => "--zero-based",
        Remedy::Set(parameter, value) => {
            return Some(format!("{} {value}", flag(*parameter)?).into());
        }
        _ => return None,
    }))
}

/// The option of a parameter.
fn flag(parameter: Parameter) -> Option<&'static str> {
    Some(match parameter {
        Parameter::Strategy => "--strategy",
        Parameter::Candidates => "--candidates",
        Parameter::Seed => "--seed",
        Parameter::Refit => "--refit",
        Parameter::RefitLambda => "--refit-lambda",
        Parameter::Blend => "--blend",
        // A word of sentences.
        Parameter::Lambda => "lambda",
        Parameter::Teacher => "--teacher",
        Parameter::TeacherLambda => "--teacher-lambda",
        Parameter::Validation => "--validation",
        Parameter::Scale => "--scale",
        Parameter::Format => "--format",
        Parameter::Objective => "--objective",
        Parameter::Preferences => "--pairs FILE",
        Parameter::QueryWeight => "--query-weight",
        Parameter::Labels => "--labels",
        Parameter::Kernel => "--kernel",
        Parameter::Basis => "--basis",
        Parameter::Holdout => "--holdout",
        Parameter::ZeroBased => "--zero-based",
        Parameter::Label => "--label",
        Parameter::Query => "--query",
        Parameter::Ignore => "--ignore",
        Parameter::Convention => "--convention",
        Parameter::Gain => "--gain",
        Parameter::RelevantFrom => "--relevant-from",
        Parameter::MaxGrade => "--max-grade",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};

    use super::*;
    use crate::Cli;

    /// Whether a command, or one within it, has the option.
    fn has(command: &Command, long: &str) -> bool {
        let own = command
            .get_arguments()
            .any(|argument| argument.get_long() == Some(long));
        own || command.get_subcommands().any(|within| has(within, long))
    }

    #[test]
    fn every_remedy_names_options_that_there_are() {
        let command = Cli::command();
        let mut named = 0;
        for remedy in Remedy::examples() {
            let Some(words) = option(&remedy) else {
                assert!(
                    matches!(remedy, Remedy::Words(_)),
                    "{remedy:?} has no words"
                );
                continue;
            };
            assert!(!words.contains("::"), "{words:?} is of the library");
            for word in words.split(|char: char| !(char.is_ascii_lowercase() || char == '-')) {
                if let Some(long) = word.strip_prefix("--") {
                    assert!(has(&command, long), "{remedy:?}: there is no --{long}");
                    named += 1;
                }
            }
        }
        assert!(named > 50, "{named}");
    }
}
