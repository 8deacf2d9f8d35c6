//! CoNLL-U: ten columns separated by tabs, one word a line, a blank line after each sentence.
//!
//! ```text
//! # sent_id = s1
//! 1-2   don't   _   _    _  _  _  _     _  _
//! 1     do      do  AUX  _  _  3  aux   _  _
//! 2     n't     not PART _  _  3  advmod _ _
//! 3     go      go  VERB _  _  0  root  _  SpaceAfter=No
//! 4     .       .   PUNCT _ _  3  punct _  _
//! ```
//!
//! The reader uses the columns 1 (number), 2 (form), 4 (part of speech; `_` for none), 7 (head), 8 (relation), and
//! `SpaceAfter=No` in 10. Of the comments it uses `# sent_id = …`, `# newdoc id = …`, and `# score = …` of parses. A
//! comment `# global.columns = …` must name this order. A range such as `1-2` gives the text of its words. Empty nodes
//! such as `5.1` are skipped. A sentence may have several roots, but no cycles.

use std::borrow::Cow;
use std::collections::HashMap;

use rankrls_files::ReadError;
use rankrls_files::error::Fault;

use super::lines::{Line, blocks};
use super::sentence::{Token, letters_of};
use super::{NBest, Sentence, Word};

const COLUMNS: usize = 10;

/// The sentences of a text that messages call `name`. A malformed sentence is an error in its place.
pub fn sentences<'t>(
    text: &'t [u8],
    name: &'t str,
) -> impl Iterator<Item = Result<Sentence, ReadError>> + 't {
    read(text, name, false)
}

/// The sentences of a text. With `treeless`, a sentence may have `_` for all its heads. It then has no tree, as
/// [`Sentence::has_tree`] tells.
pub fn read<'t>(
    text: &'t [u8],
    name: &'t str,
    treeless: bool,
) -> impl Iterator<Item = Result<Sentence, ReadError>> + 't {
    drafts(text, name, treeless, false)
}

fn drafts<'t>(
    text: &'t [u8],
    name: &'t str,
    treeless: bool,
    scored: bool,
) -> impl Iterator<Item = Result<Sentence, ReadError>> + 't {
    let draft = move || Draft {
        treeless: (treeless, false),
        scored,
        ..Draft::default()
    };
    let (mut numbers, mut documents) = (1.., Documents::default());
    blocks(text, name).filter_map(move |lines| {
        // Also of a malformed sentence, and above comments that no words follow.
        for line in &lines {
            documents.see(line.bytes);
        }
        let read = draft().read(&lines).transpose()?;
        let number = numbers.next()?;
        Some(read.map(|mut sentence| {
            (sentence.number, sentence.document) = (number, documents.current);
            sentence
        }))
    })
}

/// The documents of a text so far.
#[derive(Debug, Default)]
struct Documents {
    /// Documents without an identifier, and different identifiers.
    count: usize,
    numbers: HashMap<Vec<u8>, usize>,
    /// The one that is being read.
    current: Option<usize>,
}

impl Documents {
    /// Begins a document at a line `# newdoc` or `# newdoc id = …`.
    fn see(&mut self, line: &[u8]) {
        let comment = line.strip_prefix(b"#").map(<[u8]>::trim_ascii);
        let Some(rest) = comment.and_then(|comment| comment.strip_prefix(b"newdoc")) else {
            return;
        };
        let is_end = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'=';
        if !rest.first().is_none_or(is_end) {
            return;
        }
        let sign = rest.iter().position(|byte| *byte == b'=');
        let id = sign.map_or(&[][..], |sign| rest[sign + 1..].trim_ascii());
        let next = self.count + 1;
        let number = match id {
            [] => next,
            id => *self.numbers.entry(id.to_vec()).or_insert(next),
        };
        self.count = self.count.max(number);
        self.current = Some(number);
    }
}

/// Reads sentences whose parses follow each other with the same `sent_id`. A parse without `sent_id` is malformed.
/// So is one that has a score where the first parse has none, or the reverse. A malformed parse ends no sentence:
/// its error comes before the sentence that it stands in.
pub fn n_best<'t>(
    text: &'t [u8],
    name: &'t str,
) -> impl Iterator<Item = Result<NBest, ReadError>> + 't {
    let mut parses = drafts(text, name, false, true).map(|sentence| {
        let parse = sentence?;
        let id = parse.id.clone().ok_or_else(|| {
            let expected = "a comment \"# sent_id = …\" before the words of every parse";
            let remedy = "it tells which sentence of the treebank is parsed";
            let fault = Fault::new(expected, "none").remedy(remedy);
            fault.at(name, parse.line)
        })?;
        Ok((id, parse))
    });
    let mut best: Option<NBest> = None;
    std::iter::from_fn(move || {
        for found in parses.by_ref() {
            let (id, parse) = match found {
                Ok(named) => named,
                Err(error) => return Some(Err(error)),
            };
            if let Some(best) = best.as_mut().filter(|best| best.id == id) {
                match unlike(&best.parses[0], &parse) {
                    Some(fault) => return Some(Err(fault.at(name, parse.line))),
                    None => best.parses.push(parse),
                }
                continue;
            }
            let before = best.replace(NBest {
                line: parse.line,
                id,
                parses: vec![parse],
            });
            if let Some(before) = before {
                return Some(Ok(before));
            }
        }
        best.take().map(Ok)
    })
}

/// The fault of a parse whose first sibling differs in having a score: no number could stand for a missing score.
fn unlike(first: &Sentence, parse: &Sentence) -> Option<Fault> {
    let found = match (first.score, parse.score) {
        (Some(_), None) => "none",
        (None, Some(_)) => "one",
        _ => return None,
    };
    let (line, id) = (first.line, first.id().unwrap_or_default());
    let expected = format!(
        "a comment \"# score = …\" with all parses of {id:?} or none, the first on line {line}"
    );
    Some(Fault::new(expected, found))
}

/// An unfinished sentence.
#[derive(Debug, Default)]
struct Draft<'t> {
    id: Option<String>,
    score: Option<f64>,
    tokens: Vec<Token>,
    /// Line of every word, for errors of the whole sentence.
    lines: Vec<Line<'t>>,
    words: u32,
    /// Whether the sentence may have no tree, and whether its first word has no head.
    treeless: (bool, bool),
    /// Whether it is a parse, which may have a score.
    scored: bool,
    /// Last word of the unfinished multiword token, and its line.
    range: Option<(u32, Line<'t>)>,
}

impl<'t> Draft<'t> {
    fn read(mut self, lines: &[Line<'t>]) -> Result<Option<Sentence>, ReadError> {
        for &line in lines {
            let text = line.text()?;
            match text.strip_prefix('#') {
                Some(comment) => self.comment(line, comment)?,
                None => self.row(line, text)?,
            }
        }
        self.check_range()?;
        if self.words == 0 {
            let expected = "the words of the parse below its score";
            return match self.score {
                Some(_) => Err(lines[0].refuse(Fault::new(expected, "none"))),
                None => Ok(None),
            };
        }
        self.check_heads()?;
        let mut sentence = Sentence::new(self.tokens);
        sentence.line = lines[0].number;
        (sentence.id, sentence.score) = (self.id, self.score);
        sentence.has_tree = !self.treeless.1;
        Ok(Some(sentence))
    }

    fn comment(&mut self, line: Line<'_>, comment: &str) -> Result<(), ReadError> {
        let (whole, comment) = (comment, comment.trim());
        let twice = |what| line.refuse_field(0, format!("one {what} of a sentence"), comment);
        if let Some(score) = self.scored.then(|| score(comment)).flatten() {
            let score = score.map_err(|expected| line.refuse_field(0, expected, comment))?;
            return match self.score.replace(score) {
                None => Ok(()),
                Some(_) => Err(twice("score")),
            };
        }
        match whole.split_once('=') {
            Some((key, value)) if key.trim() == "sent_id" && !value.trim().is_empty() => {
                // A blank that is no space may be part of an identifier.
                match self.id.replace(value.trim_ascii().to_owned()) {
                    None => Ok(()),
                    Some(_) => Err(twice("sent_id")),
                }
            }
            _ => Ok(()),
        }
    }

    fn row(&mut self, line: Line<'t>, text: &str) -> Result<(), ReadError> {
        let split: Vec<&str> = text.split('\t').collect();
        let fields: [&str; COLUMNS] = split.as_slice().try_into().map_err(|_| {
            let found = format!("{} in {}", split.len(), rankrls_files::quote(line.bytes));
            let expected = "ten columns separated by tabs, or a comment after #";
            line.refuse(Fault::new(expected, found))
        })?;
        let number = fields[0];
        if let Some((first, last)) = number.split_once('-') {
            return self.begin_range(line, &fields, first, last);
        }
        if number.contains('.') {
            return self.empty_node(line, number);
        }
        self.word(line, &fields)
    }

    fn empty_node(&self, line: Line<'_>, number: &str) -> Result<(), ReadError> {
        let word = number.split_once('.');
        let parts = word.and_then(|(a, b)| Some((a.parse::<u32>().ok()?, b.parse::<u32>().ok()?)));
        if parts.is_some_and(|(word, _)| word == self.words) {
            return Ok(());
        }
        let expected = format!("an empty node {}.1 or the next word", self.words);
        Err(line.refuse_field(0, expected, number))
    }

    fn begin_range(
        &mut self,
        line: Line<'t>,
        fields: &[&str; COLUMNS],
        first: &str,
        last: &str,
    ) -> Result<(), ReadError> {
        if let Some((before, _)) = self.range {
            let expected = format!("words up to {before} of the multiword token before");
            return Err(line.refuse(Fault::new(expected, "another one")));
        }
        let next = self.words + 1;
        let bounds = first.parse::<u32>().ok().zip(last.parse::<u32>().ok());
        let Some((_, end)) = bounds.filter(|&(begin, end)| begin == next && end >= begin) else {
            let expected = format!("a multiword token from word {next} on");
            return Err(line.refuse_field(0, expected, fields[0]));
        };
        check_form(line, fields)?;
        self.range = Some((end, line));
        self.tokens.push(Token {
            surface: fields[1].to_owned(),
            space_after: space_after(fields[9]),
            words: Vec::new(),
        });
        Ok(())
    }

    fn word(&mut self, line: Line<'t>, fields: &[&str; COLUMNS]) -> Result<(), ReadError> {
        let next = self.words + 1;
        if fields[0].parse() != Ok(next) {
            return Err(line.refuse_field(0, format!("word number {next}"), fields[0]));
        }
        check_form(line, fields)?;
        let head = self.head(fields[6]).ok_or_else(|| {
            let expected = "the number of the word's head, or 0";
            line.refuse_field(column(fields, 6), expected, fields[6])
        })?;
        if fields[7].is_empty() {
            return Err(line.refuse_field(column(fields, 7), "a relation", ""));
        }
        let word = Word {
            form: fields[1].to_owned(),
            tag: Some(fields[3].to_owned()).filter(|tag| tag != "_" && !tag.is_empty()),
            head,
            label: fields[7].to_owned(),
            letters: 0..0,
        };
        self.words = next;
        self.lines.push(line);
        self.place(word, space_after(fields[9]));
        Ok(())
    }

    /// The number in a head column. Without trees, either all words or none have a head.
    fn head(&mut self, field: &str) -> Option<u32> {
        let (treeless, first) = self.treeless;
        let none = treeless && field == "_";
        if self.words == 0 {
            self.treeless.1 = none;
        } else if none != first {
            return None;
        }
        if none { Some(0) } else { field.parse().ok() }
    }

    /// Adds a word to its multiword token, or makes it a token.
    fn place(&mut self, word: Word, space_after: bool) {
        if let (Some((last, _)), Some(token)) = (self.range, self.tokens.last_mut()) {
            token.words.push(word);
            if self.words == last {
                self.range = None;
            }
            return;
        }
        self.tokens.push(Token {
            surface: word.form.clone(),
            space_after,
            words: vec![word],
        });
    }

    fn check_range(&self) -> Result<(), ReadError> {
        let Some((last, line)) = self.range else {
            return Ok(());
        };
        let expected = format!("words up to {last} of the multiword token");
        let found = format!("a sentence of {} words", self.words);
        Err(line.refuse(Fault::new(expected, found)))
    }

    /// Checks that heads are words of the sentence, that a root exists, and that every word leads to one.
    fn check_heads(&self) -> Result<(), ReadError> {
        let heads: Vec<u32> = (self.tokens.iter())
            .flat_map(|token| token.words.iter().map(|word| word.head))
            .collect();
        for (&head, line) in heads.iter().zip(&self.lines) {
            if head > self.words {
                let expected = format!("a head from 0 to {}", self.words);
                return Err(line.refuse(bad_head(*line, expected, head)));
            }
        }
        // States of a word: 0 is unknown, 1 is on the present path, 2 leads to a root.
        let mut known = vec![0_u8; heads.len() + 1];
        known[0] = 2;
        for start in 1..=heads.len() {
            let mut way = Vec::new();
            let mut at = start;
            while known[at] == 0 {
                known[at] = 1;
                way.push(at);
                at = heads[at - 1] as usize;
            }
            if known[at] == 1 {
                let line = self.lines[at - 1];
                let fault = bad_head(line, "heads that lead to a root", heads[at - 1]);
                let remedy = "the word is its own head, or governs itself through others";
                return Err(line.refuse(fault.remedy(remedy)));
            }
            for word in way {
                known[word] = 2;
            }
        }
        Ok(())
    }
}

/// The score in a comment about one. An error says what is expected of it.
fn score(comment: &str) -> Option<Result<f64, &'static str>> {
    let word = comment.find(|char: char| char.is_whitespace() || "=:".contains(char));
    let (word, rest) = comment.split_at(word.unwrap_or(comment.len()));
    let rest = rest.trim_start();
    let numeric = |char: char| char.is_numeric() || "=:+-−–.".contains(char);
    if !word.eq_ignore_ascii_case("score") || !rest.starts_with(numeric) {
        return None;
    }
    let text = rest.strip_prefix('=').filter(|_| word == "score");
    let number = text.and_then(|text| text.trim().parse::<f64>().ok());
    // A number too small for `f64` would become 0.
    let mantissa = rest.split(['e', 'E']).next().unwrap_or_default();
    let is_nothing = |score| score == 0.0 && mantissa.contains(|char| matches!(char, '1'..='9'));
    let score = number.filter(|&score| score.is_finite() && !is_nothing(score));
    Some(score.ok_or("score = NUMBER, as in -12.5 or 3e-7"))
}

/// The columns of the format.
const NAMES: [&str; COLUMNS] = [
    "ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC",
];

/// Refuses a text with a comment that names another order of columns, which would change the meaning of every
/// sentence.
pub(super) fn check_columns(text: &[u8], name: &str) -> Result<(), ReadError> {
    for (number, line) in (1..).zip(text.split(|&byte| byte == b'\n')) {
        let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        let Some(comment) = line.strip_prefix(b"#") else {
            continue;
        };
        let comment = String::from_utf8_lossy(comment);
        let is_blank = |char: char| char.is_whitespace() || "=,;".contains(char);
        let mut words = comment
            .split(is_blank)
            .filter(|word| !matches!(*word, "" | ":"));
        let first = words.next().unwrap_or_default().trim_end_matches(':');
        let columns: Vec<&str> = words.collect();
        let is_list = comment.contains(['=', ':']) || columns.iter().any(|c| NAMES.contains(c));
        // The other columns are not read, and have other names in older versions.
        let same = |place: usize| {
            columns
                .get(place)
                .is_some_and(|name| name.eq_ignore_ascii_case(NAMES[place]))
        };
        if first.eq_ignore_ascii_case("global.columns")
            && is_list
            && (columns.len() != COLUMNS || ![0, 1, 6, 7].into_iter().all(same))
        {
            let expected = format!("the columns {}", NAMES.join(" "));
            return Err(Fault::new(expected, columns.join(" ")).at(name, number));
        }
    }
    Ok(())
}

fn bad_head(line: Line<'_>, expected: impl Into<Cow<'static, str>>, head: u32) -> Fault {
    let tabs = line.bytes.iter().enumerate().filter(|&(_, &b)| b == b'\t');
    let column = tabs.map(|(at, _)| at + 1).nth(5).unwrap_or(0);
    Fault::token(expected, column, head.to_string().as_bytes())
}

fn check_form(line: Line<'_>, fields: &[&str; COLUMNS]) -> Result<(), ReadError> {
    if letters_of(fields[1]).next().is_some() {
        return Ok(());
    }
    Err(line.refuse_field(column(fields, 1), "the form of the word", ""))
}

/// Start of a field, in bytes from 0.
fn column(fields: &[&str; COLUMNS], field: usize) -> usize {
    fields[..field].iter().map(|before| before.len() + 1).sum()
}

fn space_after(misc: &str) -> bool {
    !misc.split('|').any(|pair| pair == "SpaceAfter=No")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Rows with tabs in place of blanks.
    fn tabbed(rows: &str) -> String {
        rows.lines()
            .map(|line| {
                let row = line.trim();
                let separated = if row.starts_with('#') {
                    row.to_owned()
                } else {
                    row.split_whitespace().collect::<Vec<_>>().join("\t")
                };
                separated + "\n"
            })
            .collect()
    }

    fn all(text: &str) -> Vec<Result<Sentence, String>> {
        let text = tabbed(text);
        sentences(text.as_bytes(), "f")
            .map(|sentence| sentence.map_err(|error| error.to_string()))
            .collect()
    }

    #[test]
    fn multiword_tokens_and_empty_nodes_are_read() {
        let sentences = all("# sent_id = s1
            # score = no number, as this is no parse
            1-2 don't _ _ _ _ _ _ _ _
            1 do do AUX _ _ 3 aux _ _
            2 n't not PART _ _ 3 advmod _ _
            2.1 you _ _ _ _ _ _ 3:nsubj _
            3 go go VERB _ _ 0 root _ SpaceAfter=No
            4 . . PUNCT _ _ 3 punct _ _

            # only a comment

            1 Go _ _ _ _ 0 root _ _");
        assert_eq!(sentences.len(), 2);
        let first = sentences[0].as_ref().unwrap();
        assert_eq!((first.id(), first.score()), (Some("s1"), None));
        assert_eq!(first.text(), "don't go.");
        let heads: Vec<u32> = first.words().iter().map(|word| word.head).collect();
        assert_eq!(heads, [3, 3, 0, 3]);
        let second = sentences[1].as_ref().unwrap();
        assert_eq!(
            (second.line(), second.words()[0].tag.as_deref()),
            (12, None)
        );
    }

    #[test]
    fn what_treebanks_of_many_languages_have_is_read() {
        // Empty nodes in front and within a token, a token of one word, a form with a blank, forms like comments
        // and numbers, no part of speech, several roots, and concatenated files.
        let row = |id: &str, form: &str, head: &str| {
            let (tag, label) = (if form == "#" { "_" } else { "X" }, "dep:x@y");
            format!("{id}\t{form}\t_\t{tag}\t_\tA[b]=C,D\t{head}\t{label}\t0:root|2.1:x\tA=b c|D")
        };
        let [pair, alone] = ["1-2", "4-4"].map(|id| row(id, "לבית", "_").replace("dep:x@y", "_"));
        let rows = [
            "\u{feff}# newdoc id = a:1".to_owned(),
            "#".to_owned(),
            "# text =לבית # 10 000 ذ".to_owned(),
            "# visual-style 2\tcolor:blue".to_owned(),
            row("0.1", "_", "_"),
            row("0.2", "_", "_"),
            pair,
            row("1", "ל", "2"),
            row("1.1", "ה", "_"),
            row("2", "בית", "0"),
            row("3", "#", "2"),
            alone,
            row("4", "10 000", "0"),
            row("5", "1.1", "4"),
            "\t ".to_owned(),
            "\u{feff}# sent_id = \u{3000}SSL_3:1:5\t".to_owned(),
            row("1", "ذ", "0"),
        ];
        for end in ["\n", "\r\n"] {
            let text = rows.join(end);
            let read: Result<Vec<_>, _> = sentences(text.as_bytes(), "f").collect();
            let read = read.unwrap();
            let forms: Vec<&str> = read[0].words().iter().map(|w| w.form.as_str()).collect();
            assert_eq!(forms, ["ל", "בית", "#", "10 000", "1.1"]);
            assert_eq!(read[0].text(), "לבית # לבית 1.1");
            assert_eq!(
                (read.len(), read[1].line(), read[1].id()),
                (2, 16, Some("\u{3000}SSL_3:1:5"))
            );
        }
    }

    #[test]
    fn what_is_malformed_has_a_place_and_leaves_the_others() {
        for (rows, message) in [
            (
                "1 a b",
                "f:1:1: expected ten columns separated by tabs, or a comment after #, found 3 in",
            ),
            (
                "2 a _ _ _ _ 0 root _ _",
                "f:1:1: expected word number 1, found \"2\"",
            ),
            (
                "1 a _ _ _ _ x root _ _",
                "f:1:13: expected the number of the word's head, or 0, found \"x\"",
            ),
            (
                "1 a _ _ _ _ _ _ _ _",
                "f:1:13: expected the number of the word's head",
            ),
            (
                "1 a _ _ _ _ 2 root _ _",
                "f:1:13: expected a head from 0 to 1, found \"2\"",
            ),
            (
                "1 a _ _ _ _ 1 root _ _",
                "f:1:13: expected heads that lead to a root, found \"1\"",
            ),
            (
                "1 a _ _ _ _ 2 x _ _\n2 b _ _ _ _ 1 y _ _",
                "expected heads that lead to a root",
            ),
            (
                "1-2 a _ _ _ _ _ _ _ _\n1 a _ _ _ _ 0 root _ _",
                "f:1:1: expected words up to 2 of the multiword token, found a sentence of 1 words",
            ),
            (
                "2-3 a _ _ _ _ _ _ _ _",
                "f:1:1: expected a multiword token from word 1",
            ),
            (
                "1-0 a _ _ _ _ _ _ _ _",
                "f:1:1: expected a multiword token from word 1",
            ),
            (
                "1-2 a _ _ _ _ _ _ _ _",
                "f:1:1: expected words up to 2 of the multiword token, found a sentence of 0 words",
            ),
            (
                "1-2 a _ _ _ _ _ _ _ _\n1-2 a _ _ _ _ _ _ _ _",
                "f:2:1: expected words up to 2",
            ),
            (
                "1.1 a _ _ _ _ _ _ _ _",
                "f:1:1: expected an empty node 0.1 or the next word",
            ),
            (
                "# sent_id = a\n# sent_id = b\n1 a _ _ _ _ 0 root _ _",
                "f:2:1: expected one sent_id of a sentence, found \"sent_id = b\"",
            ),
        ] {
            let sentences = all(&format!("{rows}\n\n1 b _ _ _ _ 0 root _ _"));
            let error = sentences[0].as_ref().unwrap_err();
            assert!(
                error.starts_with(message) || error.contains(message),
                "{error}"
            );
            assert!(sentences[1].is_ok());
        }
        let bad = b"1\t\xff\t_\t_\t_\t_\t0\troot\t_\t_\n";
        let error = sentences(bad, "f").next().unwrap().unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with("f:1:3: expected text in UTF-8")
        );
    }

    /// The score of a parse under these comments.
    fn scored(comments: &str) -> Result<Option<f64>, String> {
        let text = tabbed(&format!(
            "# sent_id = a\n{comments}\n1 x _ _ _ _ 0 root _ _"
        ));
        let parses = n_best(text.as_bytes(), "f").next().unwrap();
        let parses = parses.map_err(|error| error.to_string())?;
        Ok(parses.parses[0].score())
    }

    #[test]
    fn a_score_is_a_number_in_a_comment_about_it_alone() {
        for score in ["-12.5", "1e300", "-5e-324", "0.30000000000000004"] {
            assert_eq!(
                scored(&format!("# score = {score}")),
                Ok(score.parse().ok())
            );
        }
        for comment in [
            "# score = -12,5",
            "# score: -12.5",
            "# Score = -12.5",
            "#SCORE=-12.5",
            "# score -12.5",
            "# score\t12",
            "# score = ",
            "# score = -inf",
            "# score = nan",
            "# score = 1e400",
            "# score = 1e-400",
            "# score = −12.5",
            "# score == 1",
            "# score = 1 2",
        ] {
            let error = scored(comment).unwrap_err();
            let expected = "f:2:1: expected score = NUMBER, as in";
            assert!(error.starts_with(expected), "{comment}: {error}");
        }
        for comment in [
            "# score-type = viterbi",
            "# scores = good",
            "# Score of the match: 3",
            "# logprob = x",
        ] {
            assert_eq!(scored(comment), Ok(None), "{comment}");
        }
        let twice = scored("# score = -1\n# score = -2").unwrap_err();
        let expected = "f:3:1: expected one score of a sentence, found";
        assert!(twice.starts_with(expected), "{twice}");
        // A blank line separates it from its parse.
        for apart in ["# score = -1\n", "# score = -1\n\n# note"] {
            let error = scored(apart).unwrap_err();
            let expected = "f:1:1: expected the words of the parse below its score, found none";
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn a_comment_may_name_the_columns_in_their_order_alone() {
        let standard = NAMES.join(" ");
        let check = |heading: &str| check_columns(format!("# x\n{heading}\r\n").as_bytes(), "f");
        for heading in [
            "# global.columns = ID FORM LEMMA UPOS HEAD DEPREL XPOS FEATS DEPS MISC",
            "# global.columns = ID FORM HEAD DEPREL",
            "\u{feff}#global.columns=ID LEMMA FORM UPOS XPOS FEATS HEAD DEPREL DEPS MISC",
            "# Global.Columns: ID FORM LEMMA UPOS XPOS FEATS DEPREL HEAD DEPS MISC",
            "# global.columns =",
            "# global.columns ID LEMMA FORM UPOS XPOS FEATS HEAD DEPREL DEPS MISC",
            &format!("# global.columns = {standard} PARSEME:MWE"),
        ] {
            let error = check(heading).unwrap_err().to_string();
            let expected = format!("f:2:1: expected the columns {standard}, found");
            assert!(error.starts_with(&expected), "{error}");
        }
        for heading in [
            &format!("# global.columns = {standard}"),
            &format!("# GLOBAL.columns: {}", standard.to_lowercase()),
            "# global.columns = ID FORM LEMMA CPOSTAG POSTAG FEATS HEAD DEPREL PHEAD PDEPREL",
            "# global.columns are those of the format",
        ] {
            assert!(check(heading).is_ok(), "{heading}");
        }
    }

    #[test]
    fn trees_may_be_missing_where_that_is_allowed() {
        let read = |rows: &str| {
            let text = tabbed(rows);
            let sentence = super::read(text.as_bytes(), "f", true).next().unwrap();
            sentence.map(|sentence| sentence.has_tree())
        };
        assert!(!read("1 a _ _ _ _ _ _ _ _\n2 b _ _ _ _ _ _ _ _").unwrap());
        assert!(read("1 a _ _ _ _ 0 _ _ _").unwrap());
        assert!(read("1 a _ _ _ _ 0 _ _ _\n2 b _ _ _ _ _ _ _ _").is_err());
        assert!(read("1 a _ _ _ _ _ _ _ _\n2 b _ _ _ _ 0 _ _ _").is_err());
    }

    #[test]
    fn documents_are_told_apart_by_their_comments() {
        let word = "1 a _ _ _ _ 0 root _ _";
        let documents = |before: &[&str]| -> Vec<Option<usize>> {
            let blocks = before.iter().map(|lines| format!("{lines}{word}\n\n"));
            let read = all(&blocks.collect::<String>()).into_iter().flatten();
            read.map(|sentence| sentence.document()).collect()
        };
        assert_eq!(documents(&["", "# text = newdoc\n"]), [None, None]);
        // Those without an identifier are documents of their own; one identifier is one document.
        let marks = [
            "",
            "# newdoc\n",
            "",
            "#newdoc id = a\n",
            "# newdoc\n",
            "# newdoc id=a \n",
        ];
        let numbers = [None, Some(1), Some(1), Some(2), Some(3), Some(2)];
        assert_eq!(documents(&marks), numbers);
        let marks = [
            "# newdocument\n# newdoc_id = a\n",
            "# newdoc =\n",
            "# newdoc id\n",
        ];
        assert_eq!(documents(&marks), [None, Some(1), Some(2)]);
        // Above a malformed sentence, and with no words below.
        let marks = ["# newdoc\n2 b _\n\n", "# newdoc\n\n", ""];
        assert_eq!(documents(&marks), [Some(1), Some(2), Some(2)]);
    }

    #[test]
    fn parses_of_a_sentence_come_together() {
        // A malformed parse, and one without an identifier, are errors and end no sentence.
        let text = tabbed(
            "# sent_id = a
            1 x _ _ _ _ 0 root _ _

            # sent_id = a
            1 x _ _ _ _ 7 root _ _

            # sent_id = a
            1 x _ _ _ _ 0 top _ _

            1 y _ _ _ _ 0 root _ _

            # sent_id = a
            1 x _ _ _ _ 0 dep _ _

            # sent_id = b
            1 z _ _ _ _ 0 root _ _",
        );
        let mut groups = Vec::new();
        let mut errors = Vec::new();
        for group in n_best(text.as_bytes(), "f") {
            match group {
                Ok(group) => groups.push((group.id, group.line, group.parses.len())),
                Err(error) => errors.push(error.to_string()),
            }
        }
        assert_eq!(groups, [("a".to_owned(), 1, 3), ("b".to_owned(), 15, 1)]);
        let places = [
            "f:5:13: expected a head from 0 to 1",
            "f:10:1: expected a comment \"# sent_id",
        ];
        assert_eq!(errors.len(), places.len());
        for (error, place) in errors.iter().zip(places) {
            assert!(error.starts_with(place), "{error}");
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            prop_assert!(sentences(&bytes, "f").count() <= bytes.len());
        }

        #[test]
        fn no_rows_make_it_panic(text in "([0-9]{1,2}([-.][0-9])?\t[a-c_]\t_\t_\t_\t_\t[0-9_]\t[a_]\t_\t_\n|\n|#.*\n){0,12}") {
            prop_assert!(sentences(text.as_bytes(), "f").count() <= text.len());
            prop_assert!(n_best(text.as_bytes(), "f").count() <= text.len());
        }
    }
}
