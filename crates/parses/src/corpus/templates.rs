//! Feature templates of real parses.
//!
//! [`TABLE`] has every template: its name, examples, and the function that describes a parse.
//! `docs/parse-features.md` says what each template counts. A feature is called `template:part~part`; [`part`]
//! writes a part.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use super::names::part;
use super::parse::{Parse, ParsedLink};
use crate::bag::Bag;

/// The feature of a parse's score, which every template keeps.
pub(super) const SCORE: &str = "num:score";

/// A way to describe a parse.
#[derive(Debug, Clone, Copy)]
pub struct Template {
    /// The name that `--templates` takes.
    pub name: &'static str,
    /// Examples of its features.
    pub examples: &'static str,
    describe: fn(&Described<'_>, &mut Bag),
}

/// All templates.
pub const TABLE: &[Template] = &[
    Template {
        name: "words",
        examples: "word:pizza",
        describe: words,
    },
    Template {
        name: "bigrams",
        examples: "bigram:eat~pizza bigram:^~they",
        describe: bigrams,
    },
    Template {
        name: "tags",
        examples: "tag:saw~v-d tags:n~v-d",
        describe: tags,
    },
    Template {
        name: "pairs",
        examples: "head~mod:eat~pizza head~tag:eat~n tag~mod:v~pizza",
        describe: head_modifier,
    },
    Template {
        name: "labelled",
        examples: "arc:eat~Os~pizza",
        describe: labelled,
    },
    Template {
        name: "labels",
        examples: "label:Os head~label:eat~Os label~mod:Os~pizza",
        describe: labels,
    },
    Template {
        name: "tag-arcs",
        examples: "arc~tag:eat~Os~n tag~arc:v~Os~pizza tags~arc:v~Os~n",
        describe: tag_arcs,
    },
    Template {
        name: "lengths",
        examples: "length:O~+2 length:D~-1 length:MV~+5-6 head~length:eat~O~+2 length~mod:O~+2~pizza",
        describe: lengths,
    },
    Template {
        name: "connectors",
        examples: "disjunct:eat~S-&O+ connectors:S-&O+",
        describe: connectors,
    },
    Template {
        name: "connector-pairs",
        examples: "next-connectors:D+~Ds-&Os- head-connectors:S-&O+~Ds-&Os-",
        describe: connector_pairs,
    },
    Template {
        name: "label-pairs",
        examples: "labels:<S~>O word~labels:eat~<S~>O",
        describe: label_pairs,
    },
    Template {
        name: "trigrams",
        examples: "chain:saw~with~eye chain-labels:MVp~Js chain-arcs:saw~MVp~with~Js~eye siblings:saw~man~with sibling-labels:saw~Os~MVp",
        describe: trigrams,
    },
    Template {
        name: "fourgrams",
        examples: "fourgram:they~eat~with~fork fourgram-arcs:they~S~eat~MVp~with~Js~fork fourgram-labels:S~MVp~Js",
        describe: fourgrams,
    },
    Template {
        name: "costs",
        examples: "num:length num:cost num:unused",
        describe: costs,
    },
];

/// Some of the [templates](TABLE), in the order of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Templates(Vec<&'static str>);

impl Default for Templates {
    fn default() -> Self {
        Self(TABLE.iter().map(|template| template.name).collect())
    }
}

impl FromStr for Templates {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text == "all" {
            return Ok(Self::default());
        }
        let asked: Vec<&str> = text.split(',').map(str::trim).collect();
        let unknown = |name: &&&str| !TABLE.iter().any(|template| template.name == **name);
        if let Some(found) = asked.iter().find(unknown) {
            let known = Self::default().0.join(", ");
            return Err(format!(
                "expected all, or names of templates with commas between them ({known}), found {found:?}"
            ));
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
    /// Adds the templates' features of a parse, and its score, as one row.
    pub(super) fn describe(&self, parse: &Parse, bag: &mut Bag) {
        let described = Described::new(parse);
        for template in TABLE
            .iter()
            .filter(|template| self.0.contains(&template.name))
        {
            (template.describe)(&described, bag);
        }
        // Only this feature shows a model the order of the list, so no choice of templates drops it.
        if let Some(score) = parse.costs.score {
            bag.add(format_args!("{SCORE}"), score);
        }
        bag.end_row();
    }
}

/// A parse whose words and labels are written as in names.
struct Described<'a> {
    parse: &'a Parse,
    forms: Vec<String>,
    tags: Vec<String>,
    /// The connectors of each word.
    connectors: Vec<String>,
    /// The label of each link.
    labels: Vec<String>,
}

impl<'a> Described<'a> {
    fn new(parse: &'a Parse) -> Self {
        let tag = |tag: &Option<String>| part(tag.as_deref().unwrap_or("_"));
        let connectors = |connectors: &[String]| {
            let parts: Vec<String> = connectors.iter().map(|connector| part(connector)).collect();
            parts.join("&")
        };
        let words = parse.words.iter();
        Self {
            parse,
            connectors: words.map(|word| connectors(&word.connectors)).collect(),
            forms: parse.words.iter().map(|word| part(&word.form)).collect(),
            tags: parse.words.iter().map(|word| tag(&word.tag)).collect(),
            labels: parse.links.iter().map(|link| part(&link.label)).collect(),
        }
    }

    /// A word, or the mark of an edge of the sentence.
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

    /// Links between two words: head, label and modifier.
    fn arcs(&self) -> impl Iterator<Item = (usize, &str, usize)> {
        self.links()
            .filter_map(|(link, label)| Some((link.head?, label, link.modifier)))
    }
}

// Words and parts of speech. Words are the same in every parse, unless the parser cuts the sentence in several
// ways.

fn words(parse: &Described<'_>, bag: &mut Bag) {
    for form in &parse.forms {
        bag.count(format_args!("word:{form}"));
    }
}

fn bigrams(parse: &Described<'_>, bag: &mut Bag) {
    for right in 0..=parse.forms.len() {
        let left = parse.form_or_edge(right.checked_sub(1));
        let right = parse.form_or_edge(Some(right));
        bag.count(format_args!("bigram:{left}~{right}"));
    }
}

fn tags(parse: &Described<'_>, bag: &mut Bag) {
    for (form, tag) in parse.forms.iter().zip(&parse.tags) {
        bag.count(format_args!("tag:{form}~{tag}"));
    }
    for pair in parse.tags.windows(2) {
        bag.count(format_args!("tags:{}~{}", pair[0], pair[1]));
    }
}

// Links: their words, and their length.

fn head_modifier(parse: &Described<'_>, bag: &mut Bag) {
    for (head, _, modifier) in parse.arcs() {
        let (above, below) = (&parse.forms[head], &parse.forms[modifier]);
        bag.count(format_args!("head~mod:{above}~{below}"));
        bag.count(format_args!("head~tag:{above}~{}", parse.tags[modifier]));
        bag.count(format_args!("tag~mod:{}~{below}", parse.tags[head]));
    }
}

fn labelled(parse: &Described<'_>, bag: &mut Bag) {
    for (head, label, modifier) in parse.arcs() {
        let (above, below) = (&parse.forms[head], &parse.forms[modifier]);
        bag.count(format_args!("arc:{above}~{label}~{below}"));
    }
}

fn tag_arcs(parse: &Described<'_>, bag: &mut Bag) {
    for (head, label, modifier) in parse.arcs() {
        let (above, below) = (&parse.forms[head], &parse.forms[modifier]);
        let (tag_above, tag_below) = (&parse.tags[head], &parse.tags[modifier]);
        bag.count(format_args!("arc~tag:{above}~{label}~{tag_below}"));
        bag.count(format_args!("tag~arc:{tag_above}~{label}~{below}"));
        bag.count(format_args!("tags~arc:{tag_above}~{label}~{tag_below}"));
    }
}

/// A link to the wall, or a root, has only a modifier.
fn labels(parse: &Described<'_>, bag: &mut Bag) {
    for (link, label) in parse.links() {
        bag.count(format_args!("label:{label}"));
        bag.count(format_args!(
            "label~mod:{label}~{}",
            parse.forms[link.modifier]
        ));
        if let Some(head) = link.head {
            bag.count(format_args!("head~label:{}~{label}", parse.forms[head]));
        }
    }
}

fn lengths(parse: &Described<'_>, bag: &mut Bag) {
    for (head, label, modifier) in parse.arcs() {
        let direction = if modifier > head { '+' } else { '-' };
        let length = bucket(head.abs_diff(modifier));
        let label = base(label);
        let (above, below) = (&parse.forms[head], &parse.forms[modifier]);
        bag.count(format_args!("length:{label}~{direction}{length}"));
        bag.count(format_args!(
            "head~length:{above}~{label}~{direction}{length}"
        ));
        bag.count(format_args!(
            "length~mod:{label}~{direction}{length}~{below}"
        ));
    }
}

/// A label without its subtypes: `Ss*s` is `S`, `nsubj:pass` is `nsubj`.
fn base(label: &str) -> &str {
    let capitals = label.find(|char: char| !char.is_ascii_uppercase() && char != '_');
    match capitals.unwrap_or(label.len()) {
        0 => label.split(':').next().unwrap_or(label),
        end => &label[..end],
    }
}

/// A length as features distinguish it.
fn bucket(length: usize) -> &'static str {
    match length {
        0..=4 => ["0", "1", "2", "3", "4"][length],
        5..=6 => "5-6",
        7..=9 => "7-9",
        10..=14 => "10-14",
        _ => "15+",
    }
}

// The company of words: connectors and pairs of labels.

fn connectors(parse: &Described<'_>, bag: &mut Bag) {
    for (connectors, form) in parse.connectors.iter().zip(&parse.forms) {
        bag.count(format_args!("disjunct:{form}~{connectors}"));
        bag.count(format_args!("connectors:{connectors}"));
    }
}

fn connector_pairs(parse: &Described<'_>, bag: &mut Bag) {
    for pair in parse.connectors.windows(2) {
        bag.count(format_args!("next-connectors:{}~{}", pair[0], pair[1]));
    }
    for (head, _, modifier) in parse.arcs() {
        let (above, below) = (&parse.connectors[head], &parse.connectors[modifier]);
        bag.count(format_args!("head-connectors:{above}~{below}"));
    }
}

/// A link to the wall, or a root, counts as a link to the left.
fn label_pairs(parse: &Described<'_>, bag: &mut Bag) {
    let mut ends: Vec<(usize, char, &str)> = Vec::with_capacity(2 * parse.labels.len());
    for (link, label) in parse.links() {
        let before = link.head.is_none_or(|head| head < link.modifier);
        ends.push((link.modifier, if before { '<' } else { '>' }, label));
        if let Some(head) = link.head {
            ends.push((head, if before { '>' } else { '<' }, label));
        }
    }
    ends.sort_unstable();
    for at_word in ends.chunk_by(|a, b| a.0 == b.0) {
        let form = &parse.forms[at_word[0].0];
        for (number, &(_, side, label)) in at_word.iter().enumerate() {
            for &(_, other_side, other) in &at_word[number + 1..] {
                bag.count(format_args!("labels:{side}{label}~{other_side}{other}"));
                bag.count(format_args!(
                    "word~labels:{form}~{side}{label}~{other_side}{other}"
                ));
            }
        }
    }
}

// Three linked words.

fn trigrams(parse: &Described<'_>, bag: &mut Bag) {
    let mut arcs: Vec<(usize, usize, &str)> = parse
        .arcs()
        .map(|(head, label, modifier)| (head, modifier, label))
        .collect();
    arcs.sort_unstable();
    chains(parse, &arcs, bag);
    for siblings in arcs.chunk_by(|a, b| a.0 == b.0) {
        let head = &parse.forms[siblings[0].0];
        for pair in siblings.windows(2) {
            let (left, right) = (pair[0], pair[1]);
            let forms = (&parse.forms[left.1], &parse.forms[right.1]);
            bag.count(format_args!("siblings:{head}~{}~{}", forms.0, forms.1));
            bag.count(format_args!("sibling-labels:{head}~{}~{}", left.2, right.2));
        }
    }
}

/// A word, its head, and that head's head. `arcs` ascend by head.
fn chains(parse: &Described<'_>, arcs: &[(usize, usize, &str)], bag: &mut Bag) {
    for &(top, middle, upper) in arcs {
        let start = arcs.partition_point(|arc| arc.0 < middle);
        for &(_, bottom, lower) in arcs[start..].iter().take_while(|arc| arc.0 == middle) {
            let [a, b, c] = [top, middle, bottom].map(|word| &parse.forms[word]);
            bag.count(format_args!("chain:{a}~{b}~{c}"));
            bag.count(format_args!("chain-labels:{upper}~{lower}"));
            bag.count(format_args!("chain-arcs:{a}~{upper}~{b}~{lower}~{c}"));
        }
    }
}

// Four words, joined by a row of three links.

fn fourgrams(parse: &Described<'_>, bag: &mut Bag) {
    let mut neighbours: Vec<Vec<(usize, &str)>> = vec![Vec::new(); parse.forms.len()];
    let arcs: Vec<_> = parse.arcs().collect();
    for &(head, label, modifier) in &arcs {
        neighbours[head].push((modifier, label));
        neighbours[modifier].push((head, label));
    }
    for &(b, middle, c) in &arcs {
        for &(a, first) in neighbours[b].iter().filter(|next| next.0 != c) {
            let others = neighbours[c]
                .iter()
                .filter(|next| next.0 != b && next.0 != a);
            for &(d, last) in others {
                if a < d {
                    row(parse, [a, b, c, d], [first, middle, last], bag);
                } else {
                    row(parse, [d, c, b, a], [last, middle, first], bag);
                }
            }
        }
    }
}

fn row(parse: &Described<'_>, words: [usize; 4], labels: [&str; 3], bag: &mut Bag) {
    let [a, b, c, d] = words.map(|word| &parse.forms[word]);
    let [x, y, z] = labels;
    bag.count(format_args!("fourgram:{a}~{b}~{c}~{d}"));
    bag.count(format_args!("fourgram-labels:{x}~{y}~{z}"));
    bag.count(format_args!("fourgram-arcs:{a}~{x}~{b}~{y}~{c}~{z}~{d}"));
}

// Whole parses.

fn costs(parse: &Described<'_>, bag: &mut Bag) {
    let costs = &parse.parse.costs;
    bag.add(format_args!("num:length"), f64::from(costs.length));
    for (name, value) in [
        ("cost", costs.disjuncts),
        ("unused", costs.unused.map(f64::from)),
    ] {
        if let Some(value) = value {
            bag.add(format_args!("num:{name}"), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::treebank::conllu;

    fn features(rows: &str, templates: &str) -> Vec<String> {
        scored("", rows, templates)
    }

    /// The features of a parse with a comment before its rows.
    fn scored(comment: &str, rows: &str, templates: &str) -> Vec<String> {
        let rows = rows.replace(' ', "\t").replace('|', "\n");
        let rows = format!("{comment}{rows}");
        let rows = format!("# sent_id = s\n{rows}");
        let sentence = conllu::n_best(rows.as_bytes(), "f").next();
        let parse = Parse::of_sentence(&sentence.unwrap().unwrap().parses[0]);
        let mut bag = Bag::default();
        templates
            .parse::<Templates>()
            .unwrap()
            .describe(&parse, &mut bag);
        let names: Vec<&str> = bag.names().collect();
        let name = |&(feature, value): &(u32, f64)| format!("{}={value}", names[feature as usize]);
        bag.row(0).iter().map(name).collect()
    }

    const ROWS: &str = "1 They _ PRON _ _ 2 nsubj:x _ _|2 eat _ VERB _ _ 0 root _ _|\
        3 a~b _ NOUN _ _ 2 obj _ _|4 now _ _ _ _ 3 mod _ _|";

    #[test]
    fn every_template_says_what_its_examples_promise() {
        for template in TABLE {
            let features = features(ROWS, template.name);
            assert!(!features.is_empty(), "{}", template.name);
            let kind = |name: &str| name.split(':').next().unwrap().to_owned();
            let mut found: Vec<_> = features.iter().map(|name| kind(name)).collect();
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

    /// The score is always the last column.
    #[test]
    fn a_score_is_a_feature_of_every_template() {
        for template in TABLE.iter().map(|template| template.name).chain(["all"]) {
            let found = scored("# score = -1.25\n", ROWS, template);
            assert_eq!(found.last().unwrap(), "num:score=-1.25", "{template}");
            let none = features(ROWS, template);
            assert_eq!(none, found[..found.len() - 1], "{template}");
        }
    }

    #[test]
    fn templates_are_chosen_by_name() {
        let chosen: Templates = "costs, words".parse().unwrap();
        assert_eq!(chosen.to_string(), "words,costs");
        assert_eq!("all".parse(), Ok(Templates::default()));
        let error = "words,best".parse::<Templates>().unwrap_err();
        assert!(
            error.contains("label-pairs") && error.contains("\"best\""),
            "{error}"
        );
        assert!("".parse::<Templates>().is_err());
    }

    #[test]
    fn labels_have_a_base() {
        for (label, expected) in [
            ("Ss*s", "S"),
            ("MVp", "MV"),
            ("nsubj:pass", "nsubj"),
            ("obj", "obj"),
            ("VP/NP", "VP"),
            ("", ""),
        ] {
            assert_eq!(base(label), expected);
        }
    }

    fn back(part: &str) -> String {
        let mut bytes = Vec::new();
        let mut rest = part.bytes();
        while let Some(byte) = rest.next() {
            if byte == b'%' {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                let code = std::str::from_utf8(&digits).unwrap();
                bytes.push(u8::from_str_radix(code, 16).unwrap());
            } else {
                bytes.push(byte);
            }
        }
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn what_separates_is_escaped() {
        assert_eq!(part("a~b 50% #1"), "a%7Eb%2050%25%20%231");
        assert_eq!(part("naïve:日本"), "naïve:日本");
        assert_eq!((part("$").as_str(), part("$5").as_str()), ("%24", "$5"));
        assert_eq!(part("\u{a0}\u{85}"), "%C2%A0%C2%85");
    }

    proptest! {
        #[test]
        fn parts_read_back(text in ".*") {
            let part = part(&text);
            prop_assert_eq!(back(&part), text);
            prop_assert!(!part.contains(|c: char| c.is_whitespace() || c.is_control() || c == '~'));
        }
    }
}
