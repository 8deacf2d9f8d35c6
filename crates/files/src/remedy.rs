//! What a user can do about a fault or a warning, as a value that each front end words.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

/// What to do about a fault or a warning.
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
    /// Allow more memory.
    MoreMemory,
    /// Allow more memory, or take less data.
    MoreMemoryOrLessData,
    /// Hand over the scores of a teacher.
    GiveTeacher,
    /// Go on with the run that did not end.
    Resume,
    /// Make data with the columns of the training data.
    SameColumns,
    /// Write a model, as what was given is none.
    WriteModel,
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
                name the column and put it into TableOptions::ignore"
                    .into()
            }
            Self::IgnoreColumn => {
                "to leave a column out, put its name into TableOptions::ignore".into()
            }
            Self::ReadAs(format) => format!("read it as {format}: set ReadOptions::format").into(),
            Self::MoreMemory => "raise max_memory".into(),
            Self::MoreMemoryOrLessData => {
                "raise max_memory, or select from fewer rows or columns".into()
            }
            Self::GiveTeacher => {
                "add the scores of a teacher to the data by Dataset::with_teacher".into()
            }
            Self::Resume => "resume it".into(),
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
