//! How to build a corpus.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, io};

use rankrls_files::{ReadError, escaped};
use serde::Serialize;
use thiserror::Error;

use super::templates::Templates;
use crate::linkgrammar::LinkGrammarError;

/// What the label of a candidate compares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum LabelKind {
    /// Arcs.
    #[default]
    Unlabelled,
    /// Arcs with their relations: only for candidates with the relations of the treebank.
    Labelled,
}

/// Which words are heads, where relations are those of Universal Dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Heads {
    /// Content words, as the files have it.
    #[default]
    Content,
    /// Function words, in trees and candidates alike: `case`, `mark`, `aux` and `cop` are turned by
    /// the rules of SUD (K. Gerdes, B. Guillaume, S. Kahane and G. Perrier, UDW 2018), which
    /// `docs/formats.md` has. Parses of Link Grammar stay, as they have such heads.
    Function,
}

/// Whether arcs at punctuation count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Punctuation {
    /// They do not.
    #[default]
    Drop,
    /// They do.
    Keep,
}

/// What the value of a feature is. Dense costs keep theirs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Values {
    /// How often the parse has it.
    #[default]
    Count,
    /// 1 if the parse has it.
    Binary,
    /// How often the parse has it, divided by its number of words; to four decimals.
    Share,
}

/// How files are compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Compression {
    /// By zstd, with `.zst` at the end of their names.
    #[default]
    Zstd,
    /// Not at all.
    None,
}

/// What happens at a sentence of the treebank that is malformed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Malformed {
    /// The treebank is refused.
    #[default]
    Refuse,
    /// The sentence is left out and reported.
    Skip,
}

/// How to build a corpus from sentences and candidate parses: for the library, and the arguments of
/// a command. A manifest has those that the files depend on.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "clap", derive(clap::Args))]
#[cfg_attr(feature = "clap", command(next_help_heading = "Features and labels"))]
pub struct BuildOptions {
    /// Features to write
    #[cfg_attr(
        feature = "clap",
        arg(long, value_name = "LIST", default_value = "all")
    )]
    #[cfg_attr(feature = "clap", arg(help = args::templates_help()))]
    pub templates: Templates,
    /// Leave out features that fewer training sentences have
    #[cfg_attr(feature = "clap", arg(long, value_name = "N"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().min_count))]
    pub min_count: u32,
    /// What values are: how often a parse has a feature, whether it has it, or how often divided
    /// by its number of words
    #[cfg_attr(feature = "clap", arg(long, default_value = "count"))]
    #[cfg_attr(feature = "clap", arg(value_parser = variant::<Values>()))]
    pub values: Values,
    /// What labels compare: arcs, or arcs with their relations
    #[cfg_attr(
        feature = "clap",
        arg(id = "label", long, default_value = "unlabelled")
    )]
    #[cfg_attr(feature = "clap", arg(value_parser = variant::<LabelKind>(), value_name = "LABEL"))]
    #[serde(rename = "label")]
    pub labels: LabelKind,
    /// Heads in trees and candidates of Universal Dependencies: content words, as the files have it,
    /// or function words, which are adpositions, auxiliaries, copulas and conjunctions of clauses
    #[cfg_attr(feature = "clap", arg(long, default_value = "content"))]
    #[cfg_attr(feature = "clap", arg(value_parser = variant::<Heads>()))]
    pub heads: Heads,
    /// Whether arcs at punctuation count
    #[cfg_attr(feature = "clap", arg(long, default_value = "drop"))]
    #[cfg_attr(feature = "clap", arg(value_parser = variant::<Punctuation>()))]
    pub punctuation: Punctuation,
    /// Share of the sentences to hold out, from 0 to 0.999
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().test_share))]
    pub test_share: Share,
    /// A file of names: the rows of all sentences are written over these columns, those of another
    /// corpus, for a model of it; sentences may be without heads (_), and have labels of 0 then.
    // No sentence is left out then because it has one candidate or equal labels.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[serde(skip)]
    pub columns: Option<PathBuf>,
    /// Seed of the choice of held-out sentences
    #[cfg_attr(feature = "clap", arg(long, value_name = "SEED"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().seed))]
    pub seed: u64,
    /// Most candidates of a sentence, the best by the parser, from 2 to 1000
    #[cfg_attr(
        feature = "clap",
        arg(id = "linkages", long, help_heading = "Candidates")
    )]
    #[cfg_attr(feature = "clap", arg(value_name = "N"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().candidates))]
    pub candidates: usize,
    /// Leave malformed sentences out and report them, instead of refusing the file
    #[cfg_attr(
        feature = "clap",
        arg(long = "skip-malformed", help_heading = "Candidates")
    )]
    #[cfg_attr(feature = "clap", arg(value_parser = args::skip()))]
    #[cfg_attr(feature = "clap", arg(action = clap::ArgAction::SetTrue))]
    pub malformed: Malformed,
    /// How rows, texts and names are compressed
    #[cfg_attr(
        feature = "clap",
        arg(long, default_value = "zstd", help_heading = "Output")
    )]
    #[cfg_attr(feature = "clap", arg(value_parser = variant::<Compression>()))]
    #[serde(skip)]
    pub compression: Compression,
}

/// Parses one of the names of an enum, whose documentation stays out of the help.
#[cfg(feature = "clap")]
pub fn variant<T: clap::ValueEnum + Clone + Send + Sync + 'static>()
-> impl clap::builder::TypedValueParser<Value = T> {
    use clap::builder::{PossibleValuesParser, TypedValueParser};

    let values = T::value_variants().iter();
    let values = values.filter_map(clap::ValueEnum::to_possible_value);
    PossibleValuesParser::new(values.map(|value| value.help(None)))
        .try_map(|name| T::from_str(&name, false))
}

/// Parsers and texts of the options on the command line.
#[cfg(feature = "clap")]
mod args {
    use clap::builder::{BoolValueParser, TypedValueParser};

    use super::Malformed;
    use crate::corpus::TABLE;

    pub(super) fn templates_help() -> String {
        let names: Vec<&str> = TABLE.iter().map(|template| template.name).collect();
        format!(
            "Features to write: all, or templates with commas between them: {}; scores of the \
             candidates are always written",
            names.join(", ")
        )
    }

    pub(super) fn skip() -> impl TypedValueParser<Value = Malformed> {
        let malformed = |skip| {
            if skip {
                Malformed::Skip
            } else {
                Malformed::Refuse
            }
        };
        BoolValueParser::new().map(malformed)
    }
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            templates: Templates::default(),
            min_count: 1,
            values: Values::default(),
            labels: LabelKind::default(),
            heads: Heads::default(),
            punctuation: Punctuation::default(),
            test_share: Share(500),
            seed: 1,
            candidates: 20,
            malformed: Malformed::default(),
            compression: Compression::default(),
            columns: None,
        }
    }
}

impl BuildOptions {
    /// Refuses options outside their ranges.
    pub(super) fn validate(&self) -> Result<(), BuildError> {
        let refused = |option, expected: &str| {
            Err(BuildError::Option {
                option,
                expected: expected.to_owned(),
            })
        };
        if self.min_count == 0 {
            return refused("min_count", "at least 1");
        }
        if self.min_count > 1 && self.columns.is_some() {
            return refused("min_count", "1 with columns of another corpus");
        }
        if !(2..=1000).contains(&self.candidates) {
            return refused("candidates", "from 2 to 1000");
        }
        Ok(())
    }
}

/// A share below 1, in whole thousandths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share(u16);

/// Text that is no [`Share`].
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("expected a share from 0 to 0.999 with at most three decimals, found {0:?}")]
pub struct InvalidShare(String);

impl Share {
    /// That share of `count`, rounded to the nearest.
    pub fn of(self, count: usize) -> usize {
        (count * usize::from(self.0) + 500) / 1000
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", f64::from(self.0) / 1000.0)
    }
}

impl Serialize for Share {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(f64::from(self.0) / 1000.0)
    }
}

impl FromStr for Share {
    type Err = InvalidShare;

    fn from_str(text: &str) -> Result<Self, InvalidShare> {
        let refused = || InvalidShare(text.to_owned());
        let number: f64 = text.parse().map_err(|_| refused())?;
        let thousandths = (number * 1000.0).round();
        let whole = (number * 1000.0 - thousandths).abs() < 1e-9;
        if !whole || !(0.0..1000.0).contains(&thousandths) {
            return Err(refused());
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number from 0 to 999"
        )]
        Ok(Self(thousandths as u16))
    }
}

/// Why there is no corpus.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BuildError {
    /// An option outside its range.
    #[error("{option}: expected {expected}")]
    Option {
        /// Name of the option.
        option: &'static str,
        /// The values that it may have.
        expected: String,
    },
    /// A file that cannot be read, a sentence that is malformed, candidates that cannot be told
    /// apart, or lines of another run.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// Relations of two kinds cannot be compared.
    #[error(
        "labelled arcs need candidates with the relations of the treebank: those of Link Grammar are others; compare unlabelled arcs"
    )]
    Relations,
    /// The parser does not work.
    #[error(transparent)]
    LinkGrammar(#[from] LinkGrammarError),
    /// The parser fails at a large share of the sentences: something is wrong with it as a whole.
    #[error(
        "the parser failed at {failed} of the {tried} sentences tried, more than a third; at the last of them: {last}"
    )]
    Parser {
        /// Sentences at which it ended, or with an answer that cannot be understood.
        failed: usize,
        /// Sentences that it was given.
        tried: usize,
        /// The fault of the last of them.
        last: String,
    },
    /// A file that cannot be written or read back.
    #[error("cannot write {}", shown(path))]
    Write {
        /// The file.
        path: PathBuf,
        /// Why not.
        #[source]
        source: io::Error,
    },
    /// Nothing is left to rank.
    #[error("no sentence can be used to train on: {0}")]
    Nothing(String),
}

fn shown(path: &Path) -> String {
    escaped(&path.display().to_string())
}

impl BuildError {
    /// A failure at `path`.
    pub(super) fn write(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::Write {
            path: path.to_owned(),
            source,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_below_one() {
        let share = |text: &str| text.parse::<Share>();
        assert_eq!(share("0.5").unwrap().of(241), 121);
        assert_eq!(share("0").unwrap().of(10), 0);
        assert_eq!(share("0.125").unwrap().to_string(), "0.125");
        for text in ["1", "-0.1", "0.9999", "x", "nan", "inf", ""] {
            assert!(share(text).is_err(), "{text}");
        }
    }
}
