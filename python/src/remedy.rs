//! Remedies as arguments of the Python package.

use std::borrow::Cow;

use rankrls::{Parameter, Remedy};

/// What to pass to a function or an estimator.
pub(crate) fn argument(remedy: &Remedy) -> Option<Cow<'static, str>> {
    Some(Cow::Borrowed(match remedy {
        Remedy::GiveQueries => "pass the query of each row as qid=",
        Remedy::NameQueries => "pass the name of that column as query=",
        Remedy::NameLabels => {
            "pass the name of that column as label=, and of the queries as query="
        }
        Remedy::ReadMissing => {
            "to read missing values as 0, pass missing=0; as the mean of their query, missing='mean'"
        }
        Remedy::CountFromZero => "if the file counts its columns from 0, pass zero_based=True",
        Remedy::Regroup => "sort the rows by query, or merge them with regroup=True",
        Remedy::Ignore(name) => return Some(format!("leave it out by ignore=[{name:?}]").into()),
        Remedy::IgnoreColumn => "to leave a column out, pass its name in ignore=[...]",
        Remedy::GiveLambda => "give a number as alpha",
        Remedy::RaiseLambda => "raise alpha",
        Remedy::FillGaps => "fill gaps in first, for example with sklearn.impute.SimpleImputer",
        Remedy::MoreMemory => "raise max_memory",
        Remedy::MoreMemoryOrLessData => "raise max_memory, or take fewer rows or columns",
        Remedy::SameColumns => {
            "are the data of another corpus? Build them with the columns of the training data"
        }
        Remedy::WriteModel => "to_json writes models, and so does the command",
        Remedy::GiveTeacher => "as teacher=",
        Remedy::LeaveOut(Some(name)) => {
            return Some(format!("leave it out, of a file by ignore=[{name:?}]").into());
        }
        Remedy::LeaveOut(None) => "leave it out of X",
        Remedy::Name(parameter) => name(*parameter)?,
        Remedy::Set(Parameter::ZeroBased, _) => "zero_based=True",
        Remedy::Set(parameter, value) => {
            return Some(format!("{}='{value}'", name(*parameter)?).into());
        }
        _ => return None,
    }))
}

/// The name of a parameter.
fn name(parameter: Parameter) -> Option<&'static str> {
    Some(match parameter {
        Parameter::Strategy => "strategy",
        Parameter::Candidates => "n_candidates",
        Parameter::Seed => "random_state",
        Parameter::Refit => "refit",
        Parameter::RefitLambda => "refit_alpha",
        Parameter::Blend => "blend",
        Parameter::Lambda => "alpha",
        Parameter::Teacher => "teacher",
        Parameter::TeacherLambda => "teacher_alpha",
        Parameter::Validation => "X_validation",
        Parameter::Scale => "scale",
        Parameter::Format => "format",
        Parameter::Objective => "objective",
        Parameter::Preferences => "pairs",
        Parameter::QueryWeight => "query_weight",
        Parameter::Labels => "labels",
        Parameter::Kernel => "kernel",
        Parameter::Basis => "basis",
        Parameter::Holdout => "holdout",
        Parameter::ZeroBased => "zero_based",
        Parameter::Label => "label",
        Parameter::Query => "query",
        Parameter::Ignore => "ignore",
        Parameter::Convention => "convention",
        Parameter::Gain => "gain",
        Parameter::RelevantFrom => "relevant_from",
        Parameter::MaxGrade => "max_grade",
        _ => return None,
    })
}
