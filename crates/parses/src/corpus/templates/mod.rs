//! Feature templates of real parses.
//!
//! [`TABLE`] is all there is: names, examples and the functions that describe a parse. A feature
//! is called `template:part~part`, its parts separated by `~`; [`names`] says how parts are written.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::parse::{Parse, ParsedLink};
use crate::bag::Bag;

mod connectors;
mod costs;
mod fourgrams;
mod links;
mod names;
mod trigrams;
mod words;

pub(super) use names::part;

/// What features of dense costs begin with; their values are not counts.
pub(super) const COST: &str = "num:";

/// One way to describe a parse.
#[derive(Debug, Clone, Copy)]
pub struct Template {
    /// The name that `--templates` takes.
    pub name: &'static str,
    /// What it counts.
    pub what: &'static str,
    /// Features it gives, by example.
    pub examples: &'static str,
    describe: fn(&Described<'_>, &mut Bag),
}

/// All templates.
pub const TABLE: &[Template] = &[
    Template {
        name: "words",
        what: "words",
        examples: "word:pizza",
        describe: words::words,
    },
    Template {
        name: "bigrams",
        what: "words that follow each other; ^ and $ are the edges of the sentence",
        examples: "bigram:eat~pizza bigram:^~they",
        describe: words::bigrams,
    },
    Template {
        name: "tags",
        what: "words with their part of speech or subscript, and two such that follow each other",
        examples: "tag:saw~v-d tags:n~v-d",
        describe: words::tags,
    },
    Template {
        name: "pairs",
        what: "head and modifier, and either with the other's part of speech or subscript",
        examples: "head~mod:eat~pizza head~tag:eat~n tag~mod:v~pizza",
        describe: links::pairs,
    },
    Template {
        name: "labelled",
        what: "head and modifier with the label between them",
        examples: "arc:eat~Os~pizza",
        describe: links::labelled,
    },
    Template {
        name: "labels",
        what: "labels, with the head, and with the modifier",
        examples: "label:Os head~label:eat~Os label~mod:Os~pizza",
        describe: links::labels,
    },
    Template {
        name: "tag-arcs",
        what: "head and modifier with the label between them, either or both by part of speech or subscript",
        examples: "arc~tag:eat~Os~n tag~arc:v~Os~pizza tags~arc:v~Os~n",
        describe: links::by_tag,
    },
    Template {
        name: "lengths",
        what: "label without subscript, with direction and length (+ for a modifier to the right), also with the head and with the modifier",
        examples: "length:O~+2 length:D~-1 length:MV~+5-6 head~length:eat~O~+2 length~mod:O~+2~pizza",
        describe: links::lengths,
    },
    Template {
        name: "connectors",
        what: "connectors of a word (its disjunct, or the labels of its links), with and without the word",
        examples: "disjunct:eat~S-&O+ connectors:S-&O+",
        describe: connectors::sets,
    },
    Template {
        name: "connector-pairs",
        what: "connectors of two words that follow each other, and of head and modifier",
        examples: "next-connectors:D+~Ds-&Os- head-connectors:S-&O+~Ds-&Os-",
        describe: connectors::of_two,
    },
    Template {
        name: "label-pairs",
        what: "every two labels at a word, with and without it: < to the left, > to the right",
        examples: "labels:<S~>O word~labels:eat~<S~>O",
        describe: connectors::pairs,
    },
    Template {
        name: "trigrams",
        what: "a word, its head and the head of that; two modifiers of one head that follow each other; words, labels, and both",
        examples: "chain:saw~with~eye chain-labels:MVp~Js chain-arcs:saw~MVp~with~Js~eye siblings:saw~man~with sibling-labels:saw~Os~MVp",
        describe: trigrams::describe,
    },
    Template {
        name: "fourgrams",
        what: "four words in a row of links, whatever their direction, and the same with labels, from left to right as the first and last word stand",
        examples: "fourgram:they~eat~with~fork fourgram-arcs:they~S~eat~MVp~with~Js~fork fourgram-labels:S~MVp~Js",
        describe: fourgrams::describe,
    },
    Template {
        name: "costs",
        what: "length of all links, and what the parser says: cost of the disjuncts, words without links, score",
        examples: "num:length num:cost num:unused num:score",
        describe: costs::describe,
    },
];

/// Some of the [templates](TABLE), in the order of the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Templates(Vec<&'static str>);

/// Text that names no templates.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("expected all, or names of templates with commas between them ({known}), found {found:?}")]
pub struct UnknownTemplate {
    /// The name that is none.
    found: String,
    /// Those that there are.
    known: String,
}

impl Default for Templates {
    fn default() -> Self {
        Self(TABLE.iter().map(|template| template.name).collect())
    }
}

impl FromStr for Templates {
    type Err = UnknownTemplate;

    fn from_str(text: &str) -> Result<Self, UnknownTemplate> {
        if text == "all" {
            return Ok(Self::default());
        }
        let asked: Vec<&str> = text.split(',').map(str::trim).collect();
        let unknown = |name: &&&str| !TABLE.iter().any(|template| template.name == **name);
        if let Some(name) = asked.iter().find(unknown) {
            let known: Vec<_> = TABLE.iter().map(|template| template.name).collect();
            return Err(UnknownTemplate {
                found: (*name).to_owned(),
                known: known.join(", "),
            });
        }
        let chosen = TABLE
            .iter()
            .filter(|template| asked.contains(&template.name));
        Ok(Self(chosen.map(|template| template.name).collect()))
    }
}

impl fmt::Display for Templates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.join(","))
    }
}

impl Templates {
    /// The names, in the order of the table.
    pub fn names(&self) -> &[&'static str] {
        &self.0
    }

    /// Adds what the templates say of a parse as one row.
    pub(super) fn describe(&self, parse: &Parse, bag: &mut Bag) {
        let described = Described::new(parse);
        for template in TABLE
            .iter()
            .filter(|template| self.0.contains(&template.name))
        {
            (template.describe)(&described, bag);
        }
        bag.end_row();
    }
}

/// A parse with its words and labels as names have them.
struct Described<'a> {
    parse: &'a Parse,
    forms: Vec<String>,
    tags: Vec<String>,
    /// The connectors of each word.
    connectors: Vec<String>,
    /// One a link.
    labels: Vec<String>,
}

impl<'a> Described<'a> {
    fn new(parse: &'a Parse) -> Self {
        let tag = |tag: &Option<String>| names::part(tag.as_deref().unwrap_or("_"));
        let connectors = |connectors: &[String]| {
            let parts: Vec<String> = connectors.iter().map(|part| names::part(part)).collect();
            parts.join("&")
        };
        let words = parse.words.iter();
        Self {
            parse,
            connectors: words.map(|word| connectors(&word.connectors)).collect(),
            forms: parse
                .words
                .iter()
                .map(|word| names::part(&word.form))
                .collect(),
            tags: parse.words.iter().map(|word| tag(&word.tag)).collect(),
            labels: parse
                .links
                .iter()
                .map(|link| names::part(&link.label))
                .collect(),
        }
    }

    /// A word, or what stands for the edges of the sentence.
    fn form_or_edge(&self, position: Option<usize>) -> &str {
        match position {
            None => "^",
            Some(position) => self.forms.get(position).map_or("$", String::as_str),
        }
    }

    /// The links with their labels.
    fn links(&self) -> impl Iterator<Item = (&'a ParsedLink, &str)> {
        let labels = self.labels.iter().map(String::as_str);
        self.parse.links.iter().zip(labels)
    }

    /// Those between two words: head, label and modifier.
    fn arcs(&self) -> impl Iterator<Item = (usize, &str, usize)> {
        self.links()
            .filter_map(|(link, label)| Some((link.head?, label, link.modifier)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::treebank::conllu;

    fn features(rows: &str, templates: &str) -> Vec<String> {
        let rows: String = rows
            .split(' ')
            .collect::<Vec<_>>()
            .join("\t")
            .replace('|', "\n");
        let sentence = conllu::sentences(rows.as_bytes(), "f")
            .next()
            .unwrap()
            .unwrap();
        let parse = Parse::of_sentence(&sentence);
        let mut bag = Bag::default();
        templates
            .parse::<Templates>()
            .unwrap()
            .describe(&parse, &mut bag);
        let name = |&(feature, value): &(u32, i32)| {
            format!("{}={}", bag.name(feature), crate::bag::real(value))
        };
        bag.row(0).iter().map(name).collect()
    }

    const ROWS: &str = "1 They _ PRON _ _ 2 nsubj:x _ _|2 eat _ VERB _ _ 0 root _ _|\
        3 a~b _ NOUN _ _ 2 obj _ _|4 now _ _ _ _ 3 mod _ _|";

    #[test]
    fn every_template_says_what_its_examples_promise() {
        for template in TABLE {
            let found = features(ROWS, template.name);
            assert!(!found.is_empty(), "{}", template.name);
            let kind = |name: &str| name.split(':').next().unwrap().to_owned();
            let mut found: Vec<_> = found.iter().map(|name| kind(name)).collect();
            found.dedup();
            let mut examples: Vec<_> = template.examples.split(' ').map(kind).collect();
            examples.dedup();
            if template.name == "costs" {
                assert_eq!(found, ["num"]);
                continue;
            }
            for kind in &found {
                assert!(examples.contains(kind), "{}: {kind}", template.name);
            }
        }
    }

    #[test]
    fn features_are_named_readably() {
        let found = features(ROWS, "all").join(" ");
        for name in [
            "word:They=1",
            "bigram:^~They=1",
            "bigram:now~$=1",
            "tag:eat~VERB=1",
            "tags:NOUN~_=1",
            "head~mod:eat~a%7Eb=1",
            "head~tag:eat~NOUN=1",
            "tag~mod:VERB~They=1",
            "arc:eat~nsubj:x~They=1",
            "label:root=1",
            "head~label:eat~obj=1",
            "label~mod:obj~a%7Eb=1",
            "length:nsubj~-1=1",
            "length:obj~+1=1",
            "disjunct:eat~nsubj:x-&obj+=1",
            "connectors:obj-&mod+=1",
            "arc~tag:eat~obj~NOUN=1",
            "tag~arc:NOUN~mod~now=1",
            "tags~arc:VERB~nsubj:x~PRON=1",
            "head~length:eat~obj~+1=1",
            "length~mod:mod~+1~now=1",
            "next-connectors:nsubj:x+~nsubj:x-&obj+=1",
            "head-connectors:nsubj:x-&obj+~obj-&mod+=1",
            "fourgram:They~eat~a%7Eb~now=1",
            "fourgram-labels:nsubj:x~obj~mod=1",
            "fourgram-arcs:They~nsubj:x~eat~obj~a%7Eb~mod~now=1",
            "labels:<nsubj:x~>obj=1",
            "word~labels:eat~<nsubj:x~>obj=1",
            "chain:eat~a%7Eb~now=1",
            "chain-labels:obj~mod=1",
            "chain-arcs:eat~obj~a%7Eb~mod~now=1",
            "siblings:eat~They~a%7Eb=1",
            "sibling-labels:eat~nsubj:x~obj=1",
            "num:length=3",
        ] {
            assert!(
                found.split(' ').any(|feature| feature == name),
                "{name} in {found}"
            );
        }
    }

    #[test]
    fn templates_are_chosen_by_name() {
        let chosen: Templates = "costs, words".parse().unwrap();
        assert_eq!(chosen.to_string(), "words,costs");
        assert_eq!("all".parse(), Ok(Templates::default()));
        let error = "words,best".parse::<Templates>().unwrap_err().to_string();
        assert!(
            error.contains("label-pairs") && error.contains("\"best\""),
            "{error}"
        );
        assert!("".parse::<Templates>().is_err());
    }
}
