//! The parser's output for a sentence.
//!
//! ```text
//! Found 188 linkages (188 had no P.P. violations)
//!     Linkage 1, cost vector = (UNUSED=0 DIS=-0.83 LEN=34)
//!             LEFT-WALL     0.000  hWd+ hWV+ Xp+
//!                   the     0.000  D+
//!                 dog.n     0.000  Ds**c- Wd- Ss*s+
//!                   ...
//!
//! [(LEFT-WALL)(the)(dog.n)(ran.v-d)(.)(RIGHT-WALL)]
//! [[0 4 0 (Xp)][0 3 0 (WV)][0 2 0 (Wd)][2 3 1 (Ss*s)][1 2 2 (Ds**c)][4 5 3 (RW)]]
//! [0]
//! ```
//!
//! A parse without links has `[]` for them. Words and links come from the Postscript, whose lines break between
//! items. The connectors come from the table, which omits unlinked words.

use rankrls_files::quote;
use serde::{Deserialize, Serialize};

use super::linkage::{LEFT_WALL, Link, Linkage, LinkedWord};

/// The outcome of a sentence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Answer {
    /// The parser printed [`linkages`], cheapest first; at least one.
    Printed(String),
    /// The parser found no linkage, for this reason.
    Failed(String),
    /// The parser ended with this status.
    Ended(String),
    /// The parser ran out of time.
    TimedOut,
    /// The parser printed text that no known version prints. Says what was expected and found.
    Unreadable(String),
}

impl Answer {
    /// The answer in the parser's output for a sentence.
    pub(crate) fn of(printed: String) -> Self {
        if printed.lines().any(|line| line == "Timer is expired!") {
            return Self::TimedOut;
        }
        match linkages(&printed) {
            Ok(linkages) if linkages.is_empty() => Self::Failed("no linkages".to_owned()),
            Ok(_) => Self::Printed(printed),
            Err(unreadable) => Self::Unreadable(unreadable),
        }
    }
}

/// Reads the linkages in the parser's output for a sentence. An error says what was expected and found.
pub fn linkages(printed: &str) -> Result<Vec<Linkage>, String> {
    let lines: Vec<&str> = printed.lines().collect();
    let is_costs = |line: &str| line.contains("cost vector = (");
    let parts = lines.chunk_by(|_, next| !is_costs(next));
    let parsed = parts.filter(|part| is_costs(part[0])).map(linkage);
    let linkages: Result<_, Unknown> = parsed.collect();
    linkages.map_err(|(expected, found)| {
        let found = quote(found.as_bytes());
        format!("expected {expected}, found {found}")
    })
}

/// The expected text, and the line that was found.
type Unknown = (&'static str, String);

/// The text for an empty list of links.
const NO_LINKS: &str = "[]";

fn linkage(lines: &[&str]) -> Result<Linkage, Unknown> {
    let unknown = |expected, line: &str| (expected, line.to_owned());
    let (unused, cost, length) =
        costs(lines[0]).ok_or_else(|| unknown("the costs of a linkage", lines[0]))?;
    let last = lines[lines.len() - 1];
    let rest = &lines[1..];
    let wall_at = rest
        .iter()
        .position(|line| line.starts_with("[(LEFT-WALL)"));
    let table_end = wall_at.ok_or_else(|| unknown("the words of a linkage", last))?;
    let (table, below_table) = rest.split_at(table_end);
    let is_links = |line: &&str| line.starts_with("[[") || *line == NO_LINKS;
    let links_at = below_table.iter().position(is_links);
    let (words_lines, below) =
        below_table.split_at(links_at.ok_or_else(|| unknown("links", last))?);
    let shown = words(&words_lines.concat())?;
    let last_at = below
        .iter()
        .position(|line| line.ends_with("]]") || *line == NO_LINKS);
    let end = last_at.ok_or_else(|| unknown("the end of the links, ]]", below[0]))?;
    let links = links(&below[..=end].concat(), shown.len())?;
    let words = with_connectors(shown, table);
    if !links.is_empty() && words.iter().all(|word| word.connectors.is_none()) {
        return Err(unknown(
            "the connectors of the words, as -disjuncts=1 prints them",
            below_table[0],
        ));
    }
    Ok(Linkage {
        words,
        links,
        unused,
        cost,
        length,
    })
}

fn costs(line: &str) -> Option<(u32, i32, u32)> {
    let costs = line.split_once("(UNUSED=")?.1.strip_suffix(')')?;
    let (unused, costs) = costs.split_once(" DIS=")?;
    let (disjuncts, length) = costs.split_once(" LEN=")?;
    Some((
        unused.parse().ok()?,
        hundredths(disjuncts.trim())?,
        length.parse().ok()?,
    ))
}

/// A number with two decimals, such as `-0.83`.
fn hundredths(text: &str) -> Option<i32> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (whole, parts) = digits.split_once('.')?;
    let digits = [whole, parts].concat();
    let all_digits = digits.bytes().all(|byte| byte.is_ascii_digit());
    let sound = all_digits && !whole.is_empty() && parts.len() == 2;
    let number: Option<i32> = digits.parse().ok().filter(|_| sound);
    Some(sign * number?)
}

/// `[(a)(b)]`, where a word may hold brackets of its own.
fn words(text: &str) -> Result<Vec<String>, Unknown> {
    let unknown = || ("words in brackets from LEFT-WALL on", text.to_owned());
    let inner = text
        .strip_prefix("[(")
        .and_then(|text| text.strip_suffix(")]"));
    let words: Vec<String> = inner
        .ok_or_else(unknown)?
        .split(")(")
        .map(str::to_owned)
        .collect();
    match words.first() {
        Some(first) if first == LEFT_WALL => Ok(words),
        _ => Err(unknown()),
    }
}

/// `[[0 4 0 (Xp)][0 3 0 (WV)]]`.
fn links(text: &str, words: usize) -> Result<Vec<Link>, Unknown> {
    let link = |text: &str| {
        let mut parts = text.split(' ');
        let left: usize = parts.next()?.parse().ok()?;
        let right: usize = parts.next()?.parse().ok()?;
        let label = parts
            .nth(1)?
            .strip_prefix('(')?
            .strip_suffix(')')?
            .to_owned();
        (left < right && right < words).then_some(Link { left, right, label })
    };
    if text == NO_LINKS {
        return Ok(Vec::new());
    }
    let inner = text
        .strip_prefix("[[")
        .and_then(|text| text.strip_suffix("]]"));
    inner
        .and_then(|inner| inner.split("][").map(link).collect())
        .ok_or_else(|| ("links between words", text.to_owned()))
}

/// Adds connectors to the words. The rows of the table are in the order of the words.
fn with_connectors(shown: Vec<String>, table: &[&str]) -> Vec<LinkedWord> {
    let mut rows = table.iter().filter_map(|line| row(line)).peekable();
    let with = |shown: String| {
        let row = rows.next_if(|(word, _)| *word == shown);
        LinkedWord {
            connectors: row.map(|(_, connectors)| connectors),
            shown,
        }
    };
    shown.into_iter().map(with).collect()
}

/// A word, its cost, and its connectors.
fn row(line: &str) -> Option<(&str, String)> {
    let mut parts = line.split_whitespace();
    let word = parts.next()?;
    parts.next()?.parse::<f64>().ok()?;
    Some((word, parts.collect::<Vec<_>>().join(" ")))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const OUTPUT: &str = "\
No complete linkages found.
Found 18 linkages (18 had no P.P. violations) at null count 3
\tLinkage 1, cost vector = (UNUSED=1 DIS=-1.04 LEN=20)
            LEFT-WALL     0.000  hWa+ Xp+
              dog.n     1.000  Wa- O+
                (()[!]     0.000  Xp-

[(LEFT-WALL)(dog.n)([can't])
(()((()[!])(RIGHT-WALL)]
[[0 3 0 (Xp)]
[0 1 1 (Wa)]]
[0]

\tUnique linkage, cost vector = (UNUSED=0 DIS= 0.00 LEN=1)
            LEFT-WALL     0.000  hWa+ RW+
                  x.n     0.000  Wa-
           RIGHT-WALL     0.000  RW-

[(LEFT-WALL)(x.n)(RIGHT-WALL)]
[[0 2 0 (RW)][0 1 1 (Wa)]]
[0]
";

    #[test]
    fn linkages_are_read() {
        let linkages = linkages(OUTPUT).unwrap();
        assert_eq!(linkages.len(), 2);
        let first = &linkages[0];
        assert_eq!((first.unused, first.cost, first.length), (1, -104, 20));
        let shown: Vec<&str> = first.words.iter().map(|word| word.shown.as_str()).collect();
        assert_eq!(
            shown,
            ["LEFT-WALL", "dog.n", "[can't]", "(", "(()[!]", "RIGHT-WALL"]
        );
        let connectors = |word: usize| first.words[word].connectors.as_deref();
        assert_eq!((connectors(1), connectors(2)), (Some("Wa- O+"), None));
        assert_eq!(connectors(4), Some("Xp-"));
        assert_eq!(first.links.len(), 2);
        assert_eq!(
            (first.links[0].right, first.links[0].label.as_str()),
            (3, "Xp")
        );
        assert_eq!(linkages[1].links.len(), 2);
    }

    #[test]
    fn a_linkage_may_have_no_links() {
        let text = "Found 1 linkage (1 had no P.P. violations) at null count 3\n\
            \tUnique linkage, cost vector = (UNUSED=4 DIS= 0.00 LEN=0)\n\n\
            [(LEFT-WALL)([Ah.])(RIGHT-WALL)]\n[]\n[0]\n";
        let found = linkages(text).unwrap();
        assert!(found[0].links.is_empty() && found[0].words.len() == 3);
        assert!(linkages(&text.replace("[]", "[x]")).is_err());
        assert!(linkages(&text.replace("[]\n", "")).is_err());
    }

    /// No word of a sentence has a blank, but another program may print one.
    #[test]
    fn costs_and_words_are_on_lines_of_their_own() {
        let text = "[(LEFT-WALL)(cost vector = (UNUSED=0 DIS= 0.00 LEN=0)\n)]\n[]\n";
        let unknown = linkages(text).unwrap_err();
        assert!(unknown.contains("the words of a linkage"), "{unknown}");
    }

    #[test]
    fn no_linkages_and_no_time_are_told_apart() {
        let none = "No complete linkages found.\nNo linkages found.\n";
        let answer = |printed: &str| Answer::of(printed.to_owned());
        assert!(matches!(answer(none), Answer::Failed(_)));
        assert!(matches!(answer(""), Answer::Failed(_)));
        let late = format!("Timer is expired!\n{OUTPUT}");
        assert_eq!(answer(&late), Answer::TimedOut);
        assert_eq!(answer(OUTPUT), Answer::Printed(OUTPUT.to_owned()));
    }

    #[test]
    fn other_output_is_unknown() {
        for (from, to) in [
            (
                "            LEFT-WALL     0.000  hWa+ Xp+\n              dog.n     1.000  Wa- O+\n                (()[!]     0.000  Xp-\n",
                "",
            ),
            ("UNUSED=1", "UNUSED=x"),
            ("DIS=-1.04", "DIS=-1.0"),
            ("DIS=-1.04", "DIS=-.04"),
            ("DIS=-1.04", "DIS=-1.-4"),
            ("DIS=-1.04", "DIS=--21474836.48"),
            ("DIS=-1.04", "DIS=--21474836.-48"),
            ("[(LEFT-WALL)(d", "[(MIDDLE)(d"),
            ("[[0 3 0 (Xp)]", "[[0 9 0 (Xp)]"),
            ("[[0 3 0 (Xp)]", "[[3 0 0 (Xp)]"),
            ("(Wa)]]\n[0]\n\n\tU", "(Wa)\n[0]\n\n\tU"),
        ] {
            assert!(OUTPUT.contains(from), "{from}");
            let other = Answer::of(OUTPUT.replacen(from, to, 1));
            assert!(matches!(other, Answer::Unreadable(_)), "{to}: {other:?}");
        }
    }

    proptest! {
        #[test]
        fn no_output_makes_it_panic(text in "(Linkage 1, cost vector = \\(UNUSED=0 DIS= 0.00 LEN=1\\)\n|\\[\\(LEFT-WALL\\)|\\[\\[0 1 0 \\(A\\)|\\]|\\)|\\(|\n|x 0.1 A+){0,20}") {
            let _ = linkages(&text);
        }
    }
}
