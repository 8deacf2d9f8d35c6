//! How to build a corpus.

use std::path::PathBuf;

use serde::Serialize;

use super::templates::Templates;
use crate::Error;

/// The words that are heads, in trees with the relations of Universal Dependencies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Heads {
    /// Content words, as in the files.
    #[default]
    Content,
    /// Function words, in trees and candidates alike. The rules of SUD (K. Gerdes, B. Guillaume, S. Kahane and G.
    /// Perrier, UDW 2018) turn `case`, `mark`, `aux` and `cop`; `docs/parse-features.md` lists them. Parses of Link
    /// Grammar stay: function words are their heads already.
    Function,
}

/// What is held out whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Split {
    /// Documents, which comments `# newdoc` of the treebank begin.
    Documents,
    /// Sentences, those with the same text together.
    Sentences,
}

/// Options of a corpus of sentences and candidate parses, for the library and as arguments of a command. A manifest
/// lists those that its files depend on.
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
    /// Labels count arcs with the right relation only, as in LAS: for candidates with the relations of the treebank
    #[cfg_attr(feature = "clap", arg(long))]
    pub relations: bool,
    /// Heads in trees and candidates of Universal Dependencies: content words, as the files have it,
    /// or function words, which are adpositions, auxiliaries, copulas and conjunctions of clauses
    #[cfg_attr(feature = "clap", arg(long, default_value = "content"))]
    #[cfg_attr(feature = "clap", arg(value_parser = args::variant::<Heads>()))]
    pub heads: Heads,
    /// Share of the sentences to hold out, from 0 to 0.999
    #[cfg_attr(feature = "clap", arg(long, value_name = "SHARE"))]
    #[cfg_attr(feature = "clap", arg(default_value = "0.5", value_parser = args::share))]
    pub test_share: f64,
    /// Hold out whole documents, which comments # newdoc begin, or sentences [default: documents if the treebank has
    /// several]
    // A manifest has it if documents are held out, or if sentences were asked for.
    #[cfg_attr(feature = "clap", arg(long))]
    #[cfg_attr(feature = "clap", arg(value_parser = args::variant::<Split>()))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// A file of names of another corpus's columns, over which the rows of all sentences are written for a model of
    /// that corpus. Sentences may then lack heads (`_`), which gives them labels of 0.
    // Over these columns, a sentence with one candidate or equal labels is not left out.
    #[cfg_attr(feature = "clap", arg(skip))]
    #[serde(skip)]
    pub columns: Option<PathBuf>,
    /// Seed of the choice of what is held out
    #[cfg_attr(feature = "clap", arg(long, value_name = "SEED"))]
    #[cfg_attr(feature = "clap", arg(default_value_t = Self::default().seed))]
    pub seed: u64,
    /// Leave malformed sentences out and report them, instead of refusing the file
    #[cfg_attr(feature = "clap", arg(long, help_heading = "Candidates"))]
    pub skip_malformed: bool,
}

/// Parsers and texts of the options on the command line.
#[cfg(feature = "clap")]
mod args {
    use clap::ValueEnum;
    use clap::builder::{PossibleValuesParser, TypedValueParser};

    use crate::corpus::options::thousandths;
    use crate::corpus::templates::TABLE;

    pub(super) fn templates_help() -> String {
        let names: Vec<&str> = TABLE.iter().map(|template| template.name).collect();
        format!(
            "Features to write: all, or templates with commas between them: {}; scores of the \
             candidates are always written",
            names.join(", ")
        )
    }

    /// Parses one of the names of an enum, whose documentation stays out of the help.
    pub(super) fn variant<T: ValueEnum + Clone + Send + Sync + 'static>()
    -> impl TypedValueParser<Value = T> {
        let values = T::value_variants().iter();
        let values = values.filter_map(ValueEnum::to_possible_value);
        PossibleValuesParser::new(values.map(|value| value.help(None)))
            .try_map(|name| T::from_str(&name, false))
    }

    /// A share below 1, in whole thousandths.
    pub(super) fn share(text: &str) -> Result<f64, String> {
        let number = text.parse().unwrap_or(f64::NAN);
        thousandths(number).map(|_| number).ok_or_else(|| {
            format!("expected a share from 0 to 0.999 with at most three decimals, found {text:?}")
        })
    }
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            templates: Templates::default(),
            min_count: 1,
            relations: false,
            heads: Heads::default(),
            test_share: 0.5,
            split: None,
            seed: 1,
            skip_malformed: false,
            columns: None,
        }
    }
}

impl BuildOptions {
    /// Whether a part is held out: none over the columns of another corpus.
    pub(super) fn holds_out(&self) -> bool {
        self.columns.is_none() && self.test_share > 0.0
    }

    /// Refuses options outside their ranges.
    pub(super) fn check(&self) -> Result<(), Error> {
        let refused = |text: &str| Err(Error::Options(text.to_owned()));
        if self.min_count == 0 {
            return refused("--min-count: expected at least 1");
        }
        if self.min_count > 1 && self.columns.is_some() {
            return refused("--min-count: expected 1 with columns of another corpus");
        }
        if thousandths(self.test_share).is_none() {
            return refused("--test-share: expected a share from 0 to 0.999");
        }
        Ok(())
    }
}

/// A share below 1 with at most three decimals, in thousandths.
fn thousandths(share: f64) -> Option<usize> {
    let nearest = (share * 1000.0).round();
    let whole = (share * 1000.0 - nearest).abs() < 1e-9;
    let at = (0..1000_u16).find(|&at| f64::from(at) == nearest);
    at.filter(|_| whole).map(usize::from)
}

/// That share of `count`, rounded to the nearest.
pub(super) fn part_of(share: f64, count: usize) -> usize {
    (count * thousandths(share).unwrap_or(0) + 500) / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_below_one() {
        assert_eq!(part_of(0.5, 241), 121);
        assert_eq!(part_of(0.0, 10), 0);
        assert_eq!(part_of(0.125, 8), 1);
        for share in [1.0, -0.1, 0.9999, f64::NAN, f64::INFINITY] {
            assert_eq!(thousandths(share), None, "{share}");
        }
    }
}
