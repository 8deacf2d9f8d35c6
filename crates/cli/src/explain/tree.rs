//! Parses in the texts of rows: arcs as `head -label-> modifier` with semicolons between, in the order of the
//! modifiers. `*` stands for root and wall. A word that is ambiguous by its letters has its place behind it:
//! `that~4` is the fourth word.

use rankrls_plot::Arc;

/// A word, and its place from 1 if the text has it.
type Word<'a> = (&'a str, Option<usize>);

/// An arc of a text.
#[derive(Debug)]
pub(super) struct Link<'a> {
    head: Option<Word<'a>>,
    label: &'a str,
    modifier: Word<'a>,
}

/// The arcs of a text; `None` for a text of another kind.
pub(super) fn links(text: &str) -> Option<Vec<Link<'_>>> {
    let parts: Vec<&str> = text.split(' ').collect();
    let count = parts.len() / 3;
    if !parts.len().is_multiple_of(3) {
        return None;
    }
    let links = parts.chunks(3).zip(1..).map(|(parts, place)| {
        let modifier = parts[2];
        let modifier = if place < count {
            modifier.strip_suffix(';')?
        } else {
            modifier
        };
        Some(Link {
            head: (parts[0] != "*").then(|| word(parts[0])),
            label: parts[1].strip_prefix('-')?.strip_suffix("->")?,
            modifier: word(modifier),
        })
    });
    links.collect()
}

fn word(text: &str) -> Word<'_> {
    let numbered = text.rsplit_once('~');
    let numbered = numbered.and_then(|(form, place)| Some((form, Some(place.parse().ok()?))));
    numbered.unwrap_or((text, None))
}

/// The words of a sentence and its arcs, or the first word whose place is unclear.
pub(super) fn tree<'a>(links: &[Link<'a>]) -> Result<(Vec<String>, Vec<Arc>), &'a str> {
    let words = words(links)?;
    let of_wall = words.iter().any(|(word, _)| *word == ("*", None));
    if of_wall {
        return Err("*");
    }
    let own = words.iter().enumerate();
    let own = own.flat_map(|(place, (_, own))| own.iter().map(move |link| (place, *link)));
    let mut open: Vec<(usize, &Link<'a>)> = own.collect();
    let mut arcs = Vec::new();
    open.retain(|&(modifier, link)| {
        let known = link.head.is_none();
        arcs.extend(known.then(|| arc(None, modifier, link)));
        !known
    });
    // First words that occur once; then words of which one alone can be the head without crossing arcs.
    for crossing in [true, false] {
        loop {
            let before = open.len();
            open.retain(|&(modifier, link)| {
                let free =
                    |&head: &usize| crossing || arcs.iter().all(|arc| apart(arc, (head, modifier)));
                let heads = (0..words.len())
                    .filter(|&head| head != modifier && link.head == Some(words[head].0));
                let heads: Vec<usize> = heads.filter(free).collect();
                if let [head] = heads[..] {
                    arcs.push(arc(Some(head), modifier, link));
                }
                heads.len() != 1
            });
            if open.len() == before {
                break;
            }
        }
    }
    match open.first().and_then(|(_, link)| link.head) {
        Some((form, _)) => Err(form),
        None => Ok((
            words.iter().map(|((form, _), _)| plain(form)).collect(),
            arcs,
        )),
    }
}

fn arc(head: Option<usize>, modifier: usize, link: &Link<'_>) -> Arc {
    Arc {
        head,
        modifier,
        label: plain(link.label),
        differs: false,
    }
}

/// Whether an arc differs from the one between two other words and does not cross it.
fn apart(arc: &Arc, (a, b): (usize, usize)) -> bool {
    let Some(head) = arc.head else {
        return true;
    };
    let (low, high) = (a.min(b), a.max(b));
    let (left, right) = (head.min(arc.modifier), head.max(arc.modifier));
    let crosses =
        left < low && low < right && right < high || low < left && left < high && high < right;
    !crosses && (left, right) != (low, high)
}

/// A word with the links to its heads.
type Attached<'l, 'a> = (Word<'a>, Vec<&'l Link<'a>>);

/// The words in their order.
fn words<'l, 'a>(links: &'l [Link<'a>]) -> Result<Vec<Attached<'l, 'a>>, &'a str> {
    let mut words: Vec<Attached<'_, 'a>> = Vec::new();
    for link in links {
        match words.last_mut() {
            Some((word, own)) if *word == link.modifier && is_another(own, link) => own.push(link),
            _ => words.push((link.modifier, vec![link])),
        }
    }
    // Words without a head come at the places that they name.
    let mut others: Vec<Word<'a>> = links.iter().filter_map(|link| link.head).collect();
    others.retain(|head| words.iter().all(|(word, _)| word != head));
    others.sort_unstable_by_key(|&(form, place)| (place, form));
    others.dedup();
    for (form, place) in others {
        let place = place.filter(|place| (1..=words.len() + 1).contains(place));
        words.insert(place.ok_or(form)? - 1, ((form, place), Vec::new()));
    }
    let mut said = words.iter().zip(1..);
    match said.find(|(((_, said), _), place)| said.is_some_and(|said| said != *place)) {
        Some((((form, _), _), _)) => Err(form),
        None => Ok(words),
    }
}

/// Whether `link` is one more of a word that has its `own` links, and not the first of an equal word after it.
fn is_another(own: &[&Link<'_>], link: &Link<'_>) -> bool {
    let numbered = link.modifier.1.is_some();
    let after_wall = link.head.is_some() || own.iter().all(|own| own.head.is_none());
    let new_head = link.head.is_none() || own.iter().all(|own| own.head != link.head);
    numbered || after_wall && new_head && link.head != Some(link.modifier)
}

/// A word in plain text: `%` and two hexadecimal digits stand for a byte.
fn plain(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after
            .get(..2)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        let byte = byte.filter(|_| first == b'%');
        bytes.push(byte.unwrap_or(first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words with blanks between, and heads and modifiers from 1, 0 for the root.
    fn read(text: &str) -> Result<(String, String), &str> {
        let (words, mut arcs) = tree(&links(text).unwrap())?;
        arcs.sort_by_key(|arc| (arc.modifier, arc.head));
        let arcs = arcs.iter().map(|arc| {
            let head = arc.head.map_or(0, |head| head + 1);
            format!("{head}-{}", arc.modifier + 1)
        });
        Ok((words.join(" "), arcs.collect::<Vec<_>>().join(" ")))
    }

    fn reads(text: &str, words: &str, arcs: &str) {
        assert_eq!(
            read(text),
            Ok((words.to_owned(), arcs.to_owned())),
            "{text}"
        );
    }

    #[test]
    fn words_have_the_order_of_modifiers() {
        reads("* -root-> ha", "ha", "0-1");
        reads(
            "dog -Ds-> the; * -Wd-> dog; saw -Ss-> dog; * -WV-> saw; saw -O-> it",
            "the dog saw it",
            "2-1 0-2 3-2 0-3 3-4",
        );
        reads(
            "* -a-> 50%25; 50%25 -b-> ;; ; -c-> %7E",
            "50% ; ~",
            "0-1 1-2 2-3",
        );
        // Equal words side by side.
        reads(
            "good -m-> very; good -m-> very; * -r-> good",
            "very very good",
            "3-1 3-2 0-3",
        );
        reads("* -r-> ha; ha -f-> ha", "ha ha", "0-1 1-2");
        for other in ["", "some text", "a b c", "a -b-> c d", "x -y-> z; w"] {
            assert!(links(other).is_none(), "{other}");
        }
    }

    #[test]
    fn heads_are_told_by_what_does_not_cross_or_not_at_all() {
        // Without the arc of `is`, either `of` could govern the second noun.
        let text = "is -S-> cup; cup -M-> of; of -J-> tea; * -W-> is; is -O-> jug; jug -M-> of; of -J-> milk";
        reads(
            text,
            "cup of tea is jug of milk",
            "4-1 1-2 2-3 0-4 4-5 5-6 6-7",
        );
        let unsure = "cup -D-> the; * -W-> cup; cup -M-> of; lid -D-> the; of -J-> lid; lid -M-> of; of -J-> cup";
        assert_eq!(read(unsure), Err("cup"));
        assert_eq!(read("* -W-> few; would -S-> few"), Err("would"));
        assert_eq!(read("* -W-> a; * -X-> *"), Err("*"));
    }

    #[test]
    fn places_that_are_said_tell_words() {
        reads(
            "* -W-> few; would~2 -S-> few; would~2 -I-> go",
            "few would go",
            "0-1 2-1 2-3",
        );
        reads(
            "* -W-> cup; cup -M-> of~2; of~2 -J-> tea; tea -M-> of~4; of~4 -J-> milk",
            "cup of tea of milk",
            "0-1 1-2 2-3 3-4 4-5",
        );
        assert_eq!(read("* -W-> a; a -M-> b~3"), Err("b"));
    }
}
