//! Remedies: how a user mends a fault. The library, the command and Python share one text, which names options as
//! the command does: `--max-memory` is the field `max_memory` of the library and the argument `max_memory` of
//! Python.

use std::borrow::Cow;
use std::fmt;

macro_rules! parameters {
    ($($(#[$doc:meta])* $parameter:ident => $name:literal,)*) => {
        /// A parameter that messages name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Parameter {
            $($(#[$doc])* $parameter,)*
        }

        impl Parameter {
            /// All parameters.
            pub const ALL: [Self; [$(Self::$parameter),*].len()] = [$(Self::$parameter),*];
        }

        impl fmt::Display for Parameter {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(match self {
                    $(Self::$parameter => $name,)*
                })
            }
        }
    };
}

parameters! {
    /// How features are selected.
    Strategy => "--strategy",
    /// Number of candidates to draw in each step.
    Sample => "--sample",
    /// Columns to select first.
    Include => "--include",
    /// Seed of random draws.
    Seed => "--seed",
    /// The labels that weights are refitted to.
    Refit => "--refit",
    /// Scores of a teacher.
    Teacher => "--teacher",
    /// Rows whose densities are compared.
    Validation => "--validation",
    /// The divisor of columns.
    Scale => "--scale",
    /// The pairs of rows to order.
    Objective => "--objective",
    /// Preferences among rows.
    Preferences => "--pairs",
    /// The weight of a query.
    QueryWeight => "--query-weight",
    /// The scale of the labels.
    LabelScale => "--label-scale",
    /// The measure by which folds choose.
    ChooseBy => "--choose-by",
    /// The kernel.
    Kernel => "--kernel",
    /// The basis rows of a kernel model.
    Basis => "--basis",
    /// The hold-outs.
    Holdout => "--holdout",
    /// The format of data.
    Format => "--format",
    /// A file of names of columns.
    Names => "--names",
    /// Whether a file counts its columns from 0.
    ZeroBased => "--zero-based",
    /// The label column of a table.
    Label => "--label",
    /// The query column of a table.
    Query => "--query",
    /// Columns of a table to leave out.
    Ignore => "--ignore",
}

macro_rules! remedies {
    ($($(#[$doc:meta])* $remedy:ident => $words:literal,)*) => {
        /// A way to mend a fault or to answer a warning, in words for the user.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Remedy {
            $($(#[$doc])* $remedy,)*
            /// Words for one place.
            Words(Cow<'static, str>),
            /// Leave the column of this name out.
            Ignore(String),
            /// Leave out a column that is not a feature, named if it has a name.
            LeaveOut(Option<String>),
            /// A parameter with a value.
            Set(Parameter, &'static str),
        }

        impl Remedy {
            /// All remedies without a value of their own.
            pub const PLAIN: [Self; [$(Self::$remedy),*].len()] = [$(Self::$remedy),*];
        }

        impl fmt::Display for Remedy {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                match self {
                    $(Self::$remedy => formatter.write_str($words),)*
                    Self::Words(words) => formatter.write_str(words),
                    Self::Ignore(name) => write!(
                        formatter,
                        "leave it out by --ignore={name:?}, or rename it if it is a feature"
                    ),
                    Self::LeaveOut(None) => formatter.write_str("leave it out of the data"),
                    Self::LeaveOut(Some(name)) => {
                        write!(formatter, "leave it out, of a table by --ignore={name:?}")
                    }
                    Self::Set(parameter, value) => write!(formatter, "{parameter}={value}"),
                }
            }
        }
    };
}

remedies! {
    /// Say which rows are one query.
    GiveQueries => "give the query of each row: for tables by --query, else by --query-file or --rows-per-query, or in the data, as \
                    query_id= of scikit-learn's dump_svmlight_file writes it",
    /// Name the label column of a table.
    NameLabels => "name that column by --label",
    /// Say how to read missing values.
    ReadMissing => "to read missing values as 0, pass --missing=0; as the mean of their query, --missing=mean",
    /// Say that the file counts its columns from 0.
    CountFromZero => "if the file counts its columns from 0, pass --zero-based",
    /// Give a ridge parameter.
    GiveLambda => "give one with --lambda",
    /// Take a larger ridge parameter.
    RaiseLambda => "raise --lambda",
    /// Fill in missing values.
    FillGaps => "fill gaps first: as --missing does when it reads a file, or by SimpleImputer of scikit-learn",
    /// Allow more memory, or take less data.
    MoreMemoryOrLessData => "raise --max-memory, or take fewer rows or columns",
    /// Pass the scores of a teacher.
    GiveTeacher => "as --teacher, for example hold-out scores of RankRLS on all columns",
    /// Resume the unfinished run.
    Resume => "go on with --resume, or delete it",
    /// Write a model first.
    WriteModel => "models are written by `rankrls select -o` and `train -o`, in Python by to_json",
}

impl<W: Into<Cow<'static, str>>> From<W> for Remedy {
    fn from(words: W) -> Self {
        Self::Words(words.into())
    }
}
