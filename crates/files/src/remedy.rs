//! Remedies: values that say how a user mends a fault. Each front end words them.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

/// A way to mend a fault, or to answer a warning.
///
/// The command words a remedy as an option, the Python package as an argument, and the library as a
/// method: a user is told what there is to write. A front end calls [`word_by`](Self::word_by) once;
/// until then the words are those of the library.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// The same words for everybody.
    Words(Cow<'static, str>),
    /// Say which rows are one query.
    GiveQueries,
    /// Name the column of a table that has the queries.
    NameQueries,
    /// Name the column of a table that has the labels.
    NameLabels,
    /// Say what to read for missing values.
    ReadMissing,
    /// Say that the file counts its columns from 0.
    CountFromZero,
    /// Move the rows of a query that comes back to its others.
    Regroup,
    /// Leave the column of this name out.
    Ignore(String),
    /// Name the first column of a table, perhaps an index, and leave it out.
    NameIndex,
    /// Leave a column out.
    IgnoreColumn,
    /// Read the data in the format of this name.
    ReadAs(&'static str),
    /// Give the ridge parameter, and do not leave it open.
    GiveLambda,
    /// Allow more memory.
    MoreMemory,
    /// Allow more memory, or take less data.
    MoreMemoryOrLessData,
    /// Hand over the scores of a teacher.
    GiveTeacher,
    /// Go on with the run that did not end.
    Resume,
    /// Leave out a column that is no feature, of this name if it has one.
    LeaveOut(Option<String>),
    /// The name of a parameter.
    Name(Parameter),
    /// A parameter with a value.
    Set(Parameter, &'static str),
    /// Make data with the columns of the training data.
    SameColumns,
    /// Write a model, as what was given is none.
    WriteModel,
}

/// A parameter that messages name, as each front end writes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Parameter {
    /// How features are selected.
    Strategy,
    /// Candidates to draw in each step.
    Candidates,
    /// Seed of random draws.
    Seed,
    /// What weights are fitted to.
    Refit,
    /// Ridge parameter of cross-fitted weights.
    RefitLambda,
    /// Share of the labels in what is learnt from.
    Blend,
    /// Scores of a teacher.
    Teacher,
    /// Ridge parameters of a teacher.
    TeacherLambda,
    /// Rows at whose values densities are compared.
    Validation,
    /// What columns are divided by.
    Scale,
    /// Which pairs of rows are to be ordered.
    Objective,
    /// Preferences among rows.
    Preferences,
    /// What a query counts.
    QueryWeight,
    /// The scale of the labels.
    Labels,
    /// The kernel.
    Kernel,
    /// Rows that a kernel model is over.
    Basis,
    /// What is held out.
    Holdout,
    /// Whether a file counts its columns from 0.
    ZeroBased,
    /// Conventions of measures.
    Convention,
    /// Gain of a grade.
    Gain,
    /// The least label of a relevant document.
    RelevantFrom,
    /// The largest grade.
    MaxGrade,
}

impl Parameter {
    /// Its name in the library.
    fn field(self) -> &'static str {
        match self {
            Self::Strategy => "SelectionOptions::strategy",
            Self::Candidates => "SelectionOptions::sample",
            Self::Seed => "SelectionOptions::seed",
            Self::Refit => "TargetOptions::refit",
            Self::RefitLambda => "TargetOptions::refit_lambda",
            Self::Blend => "TargetOptions::blend",
            Self::Teacher => "Dataset::with_teacher",
            Self::TeacherLambda => "TargetOptions::teacher_lambda",
            Self::Validation => "Dataset::with_validation",
            Self::Scale => "SelectionOptions::scale",
            Self::Objective => "TrainOptions::objective",
            Self::Preferences => "TrainGrid::preferences",
            Self::QueryWeight => "TrainOptions::query_weight",
            Self::Labels => "TrainOptions::labels",
            Self::Kernel => "TrainGrid::kernels",
            Self::Basis => "TrainGrid::basis",
            Self::Holdout => "TrainGrid::holdout",
            Self::ZeroBased => "ReadOptions::zero_based",
            Self::Convention => "Rules::convention",
            Self::Gain => "Rules::gain",
            Self::RelevantFrom => "Rules::relevant_from",
            Self::MaxGrade => "Rules::max_grade",
        }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Remedy::Name(*self).fmt(formatter)
    }
}

/// Words for a remedy, or `None` for those of the library.
pub type Wording = fn(&Remedy) -> Option<Cow<'static, str>>;

static WORDING: OnceLock<Wording> = OnceLock::new();

impl Remedy {
    /// From here on, remedies of this process have the words of `wording`. The first call counts.
    pub fn word_by(wording: Wording) {
        // A second front end in one process has nothing to say.
        let _ = WORDING.set(wording);
    }

    /// The words of the library, whoever else words remedies.
    pub fn method(&self) -> Cow<'static, str> {
        match self {
            Self::Words(words) => words.clone(),
            Self::GiveQueries => "give the queries by ReadOptions::row_queries, for tables by \
                TableOptions::query, for arrays as Queries, or write them into the data"
                .into(),
            Self::NameQueries => "name it by TableOptions::query, or give the queries by \
                ReadOptions::row_queries"
                .into(),
            Self::NameLabels => {
                "give TableOptions::label, and TableOptions::query for the queries".into()
            }
            Self::ReadMissing => {
                "to read missing values as a number, or as the mean of their query, \
                set TableOptions::missing"
                    .into()
            }
            Self::CountFromZero => {
                "if the file counts its columns from 0, set ReadOptions::zero_based".into()
            }
            Self::Regroup => "sort the rows by query, or merge them by ReadOptions::regroup".into(),
            Self::Ignore(name) => {
                format!("leave it out: put {name:?} into TableOptions::ignore").into()
            }
            Self::NameIndex => {
                "is it an index of pandas? Write the table by to_csv(index=False), or \
                name the column and put it into TableOptions::ignore; in R, \
                write.csv(row.names = FALSE)"
                    .into()
            }
            Self::IgnoreColumn => {
                "to leave a column out, put its name into TableOptions::ignore".into()
            }
            Self::ReadAs(format) => format!("read it as {format}: set ReadOptions::format").into(),
            Self::GiveLambda => "give a lambda".into(),
            Self::MoreMemory => "raise max_memory".into(),
            Self::MoreMemoryOrLessData => {
                "raise max_memory, or select from fewer rows or columns".into()
            }
            Self::GiveTeacher => "by Dataset::with_teacher".into(),
            Self::Resume => "resume it".into(),
            Self::LeaveOut(Some(name)) => {
                format!("leave it out, of a table by putting {name:?} into TableOptions::ignore")
                    .into()
            }
            Self::LeaveOut(None) => "leave it out of the data".into(),
            Self::Name(parameter) => parameter.field().into(),
            Self::Set(parameter, value) => format!("{} = {value}", parameter.field()).into(),
            Self::SameColumns => {
                "are the data of another corpus? Make them with the columns of the training data"
                    .into()
            }
            Self::WriteModel => "Model::write writes models".into(),
        }
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let worded = WORDING.get().and_then(|wording| wording(self));
        formatter.write_str(&worded.unwrap_or_else(|| self.method()))
    }
}

impl From<&'static str> for Remedy {
    fn from(words: &'static str) -> Self {
        Self::Words(words.into())
    }
}

impl From<String> for Remedy {
    fn from(words: String) -> Self {
        Self::Words(words.into())
    }
}
