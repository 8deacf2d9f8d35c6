//! Remedies: how a user mends a fault, in the words of the library, the command and the Python package.

use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;

/// Who words remedies: the library as methods and fields, the command as options, the Python package as
/// arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wording {
    /// Items of Rust.
    Library,
    /// Options of the command.
    Command,
    /// Arguments of Python.
    Python,
    /// Options of the program of ranks, and of the command where only that has them.
    Ranks,
}

static WORDING: OnceLock<Wording> = OnceLock::new();

macro_rules! parameters {
    ($($(#[$doc:meta])* $parameter:ident => [$library:literal, $command:literal, $python:literal],)*) => {
        /// A parameter that messages name.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Parameter {
            $($(#[$doc])* $parameter,)*
        }

        impl Parameter {
            const ALL: [Self; [$(Self::$parameter),*].len()] = [$(Self::$parameter),*];

            /// Its names in the library, the command and the Python package.
            fn names(self) -> [&'static str; 3] {
                match self {
                    $(Self::$parameter => [$library, $command, $python],)*
                }
            }
        }
    };
}

parameters! {
    /// How features are selected.
    Strategy => ["GreedyRankRls::strategy", "--strategy", "strategy"],
    /// Candidates to draw in each step.
    Candidates => ["GreedyRankRls::sample", "--candidates", "n_candidates"],
    /// Columns that come first.
    Include => ["GreedyRankRls::include", "--include", "include"],
    /// Seed of random draws.
    Seed => ["GreedyRankRls::seed", "--seed", "random_state"],
    /// The target of weights.
    Refit => ["GreedyRankRls::refit", "--refit", "refit"],
    /// Ridge parameter of cross-fitted weights.
    RefitLambda => ["GreedyRankRls::refit_lambda", "--refit-lambda", "refit_alpha"],
    /// Share of the labels in what is learnt from.
    Blend => ["GreedyRankRls::blend", "--blend", "blend"],
    /// The ridge parameter.
    Lambda => ["lambda", "lambda", "alpha"],
    /// Scores of a teacher.
    Teacher => ["Dataset::with_teacher", "--teacher", "teacher"],
    /// Ridge parameters of a teacher.
    TeacherLambda => ["GreedyRankRls::teacher_lambda", "--teacher-lambda", "teacher_alpha"],
    /// Rows at whose values densities are compared.
    Validation => ["Dataset::with_validation", "--validation", "X_validation"],
    /// The divisor of columns.
    Scale => ["GreedyRankRls::scale", "--scale", "scale"],
    /// Which pairs of rows are to be ordered.
    Objective => ["RankRls::objective", "--objective", "objective"],
    /// Preferences among rows.
    Preferences => ["RankRls::preferences", "--pairs FILE", "pairs"],
    /// The weight of a query.
    QueryWeight => ["RankRls::query_weight", "--query-weight", "query_weight"],
    /// The scale of the labels.
    LabelScale => ["RankRls::label_scale", "--label-scale", "label_scale"],
    /// The measure by which folds choose.
    ChooseBy => ["GreedyRankRls::choose_by", "--choose-by", "choose_by"],
    /// The kernel.
    Kernel => ["RankRls::kernels", "--kernel", "kernel"],
    /// Rows that a kernel model is over.
    Basis => ["RankRls::basis", "--basis", "basis"],
    /// The hold-outs.
    Holdout => ["RankRls::holdout", "--holdout", "holdout"],
    /// The format of data.
    Format => ["ReadOptions::format", "--format", "format"],
    /// A file of names of columns.
    Names => ["ReadOptions::names", "--names", "names"],
    /// Whether a file counts its columns from 0.
    ZeroBased => ["ReadOptions::zero_based", "--zero-based", "zero_based"],
    /// The column of a table that has the labels.
    Label => ["TableOptions::label", "--label", "label"],
    /// The column of a table that has the queries.
    Query => ["TableOptions::query", "--query", "query"],
    /// Columns of a table to leave out.
    Ignore => ["TableOptions::ignore", "--ignore", "ignore"],
}

impl Parameter {
    /// As [`Remedy::program`].
    fn program(self) -> Option<&'static str> {
        match self {
            Self::Format
            | Self::ZeroBased
            | Self::Names
            | Self::Label
            | Self::Query
            | Self::Ignore => Some("rankrls convert"),
            Self::Objective | Self::Preferences | Self::Kernel | Self::Basis | Self::Holdout => {
                Some("rankrls train")
            }
            Self::Validation => Some("rankrls select"),
            _ => None,
        }
    }
}

impl fmt::Display for Parameter {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        Remedy::Name(*self).fmt(formatter)
    }
}

macro_rules! remedies {
    ($($(#[$doc:meta])* $remedy:ident => [$library:literal, $command:literal, $python:literal $(,)?],)*) => {
        /// A way to mend a fault, or to answer a warning: it tells a user what there is to write.
        #[derive(Debug, Clone, PartialEq, Eq)]
        #[non_exhaustive]
        pub enum Remedy {
            $($(#[$doc])* $remedy,)*
            /// The same words for everybody.
            Words(Cow<'static, str>),
            /// Leave the column of this name out.
            Ignore(String),
            /// Leave out a column that is no feature, of this name if it has one.
            LeaveOut(Option<String>),
            /// The name of a parameter.
            Name(Parameter),
            /// A parameter with a value.
            Set(Parameter, &'static str),
        }

        impl Remedy {
            const PLAIN: [Self; [$(Self::$remedy),*].len()] = [$(Self::$remedy),*];

            /// The words of the library, the command and the Python package.
            fn words(&self) -> [Cow<'static, str>; 3] {
                match self {
                    $(Self::$remedy => [$library, $command, $python].map(Cow::Borrowed),)*
                    Self::Words(words) => [words.clone(), words.clone(), words.clone()],
                    Self::Name(parameter) => parameter.names().map(Cow::Borrowed),
                    Self::Ignore(name) => [
                        format!("leave it out: put {name:?} into TableOptions::ignore"),
                        format!("leave it out by --ignore {name:?}, or rename it if it is a feature"),
                        format!("leave it out by ignore=[{name:?}]"),
                    ]
                    .map(Cow::Owned),
                    Self::LeaveOut(None) => {
                        let data = "leave it out of the data";
                        [data, data, "leave it out of X"].map(Cow::Borrowed)
                    }
                    Self::LeaveOut(Some(name)) => [
                        format!("leave it out, of a table by putting {name:?} into TableOptions::ignore"),
                        format!("leave it out, of a table by --ignore {name:?}"),
                        format!("leave it out, of a file by ignore=[{name:?}]"),
                    ]
                    .map(Cow::Owned),
                    Self::Set(parameter, value) => {
                        let [library, command, python] = parameter.names();
                        let library = format!("{library} = {value}").into();
                        if *parameter == Parameter::ZeroBased {
                            return [library, command.into(), format!("{python}=True").into()];
                        }
                        let command = format!("{command} {value}").into();
                        [library, command, format!("{python}='{value}'").into()]
                    }
                }
            }
        }
    };
}

remedies! {
    /// Say which rows are one query.
    GiveQueries => [
        "give the queries by ReadOptions::row_queries, for tables by TableOptions::query, for arrays as Queries, or write them into the data",
        "give the queries by --rows-per-query N or --query-file FILE, for tables by --query COLUMN, or write them into the data: query_id= of scikit-learn's dump_svmlight_file",
        "pass the query of each row as qid=",
    ],
    /// Name the column of a table that has the labels.
    NameLabels => [
        "give TableOptions::label",
        "give --label COLUMN",
        "pass the name of that column as label=",
    ],
    /// Say what to read for missing values.
    ReadMissing => [
        "to read missing values as a number, or as the mean of their query, set TableOptions::missing and give it to ReadOptions::table",
        "to read missing values as 0, pass --missing 0; as the mean of their query, --missing mean",
        "to read missing values as 0, pass missing=0; as the mean of their query, missing='mean'",
    ],
    /// Say that the file counts its columns from 0.
    CountFromZero => [
        "if the file counts its columns from 0, set ReadOptions::zero_based",
        "if the file counts its columns from 0, pass --zero-based",
        "if the file counts its columns from 0, pass zero_based=True",
    ],
    /// Give the ridge parameter, and do not leave it open.
    GiveLambda => [
        "give a lambda",
        "give one with --lambda",
        "give a number as alpha",
    ],
    /// Take a larger ridge parameter.
    RaiseLambda => ["raise lambda", "raise --lambda", "raise alpha"],
    /// Put numbers in the place of values that are missing.
    FillGaps => [
        "fill gaps by Missing::fill",
        "read missing values with --missing",
        "fill gaps in first, for example with sklearn.impute.SimpleImputer",
    ],
    /// Allow more memory.
    MoreMemory => ["raise max_memory", "raise --max-memory", "raise max_memory"],
    /// Allow more memory, or take less data.
    MoreMemoryOrLessData => [
        "raise max_memory, or select from fewer rows or columns",
        "raise --max-memory, or select from fewer rows or columns",
        "raise max_memory, or take fewer rows or columns",
    ],
    /// Hand over the scores of a teacher.
    GiveTeacher => [
        "by Dataset::with_teacher",
        "as --teacher FILE, which rankrls train --holdout-scores FILE writes",
        "as teacher=",
    ],
    /// Go on with the run that did not end.
    Resume => [
        "resume it, or delete it",
        "go on with --resume, or delete it",
        "resume it, or delete it",
    ],
    /// Write a model, as what was given is none.
    WriteModel => [
        "Model::write writes models",
        "write models with `rankrls select -o` or `train -o`",
        "to_json writes models, and so does the command",
    ],
}

impl Remedy {
    /// From here on, messages of this process have these words. The first call counts; before it, they are
    /// those of the library.
    pub fn word_by(wording: Wording) {
        // A second front end in one process has nothing to say.
        let _ = WORDING.set(wording);
    }

    /// One remedy of each kind, and each parameter by its name and with a value, for tests of the words.
    #[doc(hidden)]
    pub fn examples() -> impl Iterator<Item = Self> {
        let name = "name".to_owned();
        let columns = [
            Self::Ignore(name.clone()),
            Self::LeaveOut(None),
            Self::LeaveOut(Some(name)),
        ];
        let parameters = Parameter::ALL.into_iter();
        let named = parameters.flat_map(|each| [Self::Name(each), Self::Set(each, "value")]);
        Self::PLAIN.into_iter().chain(columns).chain(named)
    }

    /// The words of one front end.
    #[doc(hidden)]
    pub fn worded(&self, wording: Wording) -> Cow<'static, str> {
        let [library, command, python] = self.words();
        match wording {
            Wording::Library => library,
            Wording::Command => command,
            Wording::Python => python,
            Wording::Ranks => match self.program() {
                Some(program) => format!("{command} (of {program})").into(),
                None => command,
            },
        }
    }

    /// The program that has the options of these words, where that of ranks lacks them. Ranks read svmlight text
    /// and tables as they are, and select: the command writes data that they can read.
    fn program(&self) -> Option<&'static str> {
        let parameter = match self {
            Self::Name(parameter) | Self::Set(parameter, _) => *parameter,
            Self::GiveQueries
            | Self::NameLabels
            | Self::ReadMissing
            | Self::CountFromZero
            | Self::FillGaps
            | Self::Ignore(_)
            | Self::LeaveOut(Some(_)) => return Some("rankrls convert"),
            Self::Resume => return Some("rankrls select"),
            _ => return None,
        };
        parameter.program()
    }
}

impl fmt::Display for Remedy {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let wording = WORDING.get().copied();
        formatter.write_str(&self.worded(wording.unwrap_or(Wording::Library)))
    }
}

impl<W: Into<Cow<'static, str>>> From<W> for Remedy {
    fn from(words: W) -> Self {
        Self::Words(words.into())
    }
}
