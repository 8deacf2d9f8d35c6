//! Remedies: values that say how a user mends a fault. Each front end words them.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

/// A way to mend a fault, or to answer a warning.
///
/// The command words a remedy as an option, the Python package as an argument, and the library as a
/// method or a field: a user is told what there is to write. A front end calls [`word_by`](Self::word_by) once;
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
    /// Leave a column out.
    IgnoreColumn,
    /// Give the ridge parameter, and do not leave it open.
    GiveLambda,
    /// Take a larger ridge parameter.
    RaiseLambda,
    /// Put numbers in the place of values that are missing.
    FillGaps,
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

macro_rules! parameters {
    ($($(#[$doc:meta])* $parameter:ident => $field:literal,)*) => {
        /// A parameter that messages name, as each front end writes it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Parameter {
            $($(#[$doc])* $parameter,)*
        }

        impl Parameter {
            /// All of them.
            pub const ALL: [Self; [$(Self::$parameter),*].len()] = [$(Self::$parameter),*];

            /// Its name in the library.
            fn field(self) -> &'static str {
                match self {
                    $(Self::$parameter => $field,)*
                }
            }
        }
    };
}

parameters! {
    /// How features are selected.
    Strategy => "GreedyRankRls::strategy",
    /// Candidates to draw in each step.
    Candidates => "GreedyRankRls::sample",
    /// Seed of random draws.
    Seed => "GreedyRankRls::seed",
    /// The target of weights.
    Refit => "GreedyRankRls::refit",
    /// Ridge parameter of cross-fitted weights.
    RefitLambda => "GreedyRankRls::refit_lambda",
    /// Share of the labels in what is learnt from.
    Blend => "GreedyRankRls::blend",
    /// The ridge parameter.
    Lambda => "lambda",
    /// Scores of a teacher.
    Teacher => "Dataset::with_teacher",
    /// Ridge parameters of a teacher.
    TeacherLambda => "GreedyRankRls::teacher_lambda",
    /// Rows at whose values densities are compared.
    Validation => "Dataset::with_validation",
    /// The divisor of columns.
    Scale => "GreedyRankRls::scale",
    /// Which pairs of rows are to be ordered.
    Objective => "RankRls::objective",
    /// Preferences among rows.
    Preferences => "RankRls::preferences",
    /// The weight of a query.
    QueryWeight => "RankRls::query_weight",
    /// The scale of the labels.
    Labels => "RankRls::labels",
    /// The kernel.
    Kernel => "RankRls::kernels",
    /// Rows that a kernel model is over.
    Basis => "RankRls::basis",
    /// The hold-outs.
    Holdout => "RankRls::holdout",
    /// The format of data.
    Format => "ReadOptions::format",
    /// Whether a file counts its columns from 0.
    ZeroBased => "ReadOptions::zero_based",
    /// The column of a table that has the labels.
    Label => "TableOptions::label",
    /// The column of a table that has the queries.
    Query => "TableOptions::query",
    /// Columns of a table to leave out.
    Ignore => "TableOptions::ignore",
    /// Conventions of measures.
    Convention => "Rules::convention",
    /// Gain of a grade.
    Gain => "Rules::gain",
    /// The least label of a relevant document.
    RelevantFrom => "Rules::relevant_from",
    /// The largest grade.
    MaxGrade => "Rules::max_grade",
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

    /// One remedy of each kind, and each parameter by its name and with a value, for tests of the words
    /// of front ends.
    #[doc(hidden)]
    pub fn examples() -> Vec<Self> {
        let mut examples = Vec::new();
        let mut next = Some(Self::Words("words".into()));
        while let Some(remedy) = next {
            next = remedy.after();
            examples.push(remedy);
        }
        let parameters = || Parameter::ALL.into_iter();
        examples.extend(parameters().map(Self::Name));
        examples.extend(parameters().map(|parameter| Self::Set(parameter, "value")));
        examples
    }

    /// An example of the kind that comes next. A kind that is added is missing here.
    fn after(&self) -> Option<Self> {
        Some(match self {
            Self::Words(_) => Self::GiveQueries,
            Self::GiveQueries => Self::NameQueries,
            Self::NameQueries => Self::NameLabels,
            Self::NameLabels => Self::ReadMissing,
            Self::ReadMissing => Self::CountFromZero,
            Self::CountFromZero => Self::Regroup,
            Self::Regroup => Self::Ignore("name".to_owned()),
            Self::Ignore(_) => Self::IgnoreColumn,
            Self::IgnoreColumn => Self::GiveLambda,
            Self::GiveLambda => Self::RaiseLambda,
            Self::RaiseLambda => Self::FillGaps,
            Self::FillGaps => Self::MoreMemory,
            Self::MoreMemory => Self::MoreMemoryOrLessData,
            Self::MoreMemoryOrLessData => Self::GiveTeacher,
            Self::GiveTeacher => Self::Resume,
            Self::Resume => Self::LeaveOut(None),
            Self::LeaveOut(None) => Self::LeaveOut(Some("name".to_owned())),
            Self::LeaveOut(Some(_)) => Self::SameColumns,
            Self::SameColumns => Self::WriteModel,
            Self::WriteModel | Self::Name(_) | Self::Set(..) => return None,
        })
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
                set TableOptions::missing and give it to ReadOptions::table"
                    .into()
            }
            Self::CountFromZero => {
                "if the file counts its columns from 0, set ReadOptions::zero_based".into()
            }
            Self::Regroup => "sort the rows by query, or merge them by ReadOptions::regroup".into(),
            Self::Ignore(name) => {
                format!("leave it out: put {name:?} into TableOptions::ignore").into()
            }
            Self::IgnoreColumn => {
                "to leave a column out, put its name into TableOptions::ignore".into()
            }
            Self::GiveLambda => "give a lambda".into(),
            Self::RaiseLambda => "raise lambda".into(),
            Self::FillGaps => "fill gaps by Missing::fill".into(),
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
